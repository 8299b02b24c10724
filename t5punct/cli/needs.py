"""Options that do nothing without another one: whoever types one in vain is told.

In: the options that were typed, and the values of all.  Out: nothing, or a ConfigError that says what is missing.

`t5punct punctuate talk.txt --beams 4` is refused, since only `--decoder generate` has beams.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import ConfigError
from .help import GroupedCommand

Given = Mapping[str, Any]  # values by the names of a command's parameters


@dataclass(frozen=True)
class Need:
    """Options by their parameters, what they need in the words of the command line, and whether it is there."""

    options: tuple[str, ...]
    needed: str
    is_met: Callable[[Given], bool]


_WINDOWED = "--policy fixed, entropy or sentence"
NEEDS = (
    Need(("beams", "min_alignment"), "--decoder generate", lambda given: given["decoder"] == "generate"),
    Need(("tagger_share",), "--decoder slots", lambda given: given["decoder"] == "slots"),
    Need(("mark_odds",), "--decoder slots or tagger", lambda given: given["decoder"] != "generate"),
    # the tagger writes one mark after a word
    Need(("max_marks",), "--decoder slots or generate", lambda g: g["decoder"] != "tagger" or g["max_marks"] <= 1),
    Need(("max_marks",), _WINDOWED, lambda g: g.get("policy") != "delay" or g["max_marks"] <= 1),
    Need(
        ("alternatives",),
        "--json, --html or --to html",
        lambda given: given["as_json"] or given["html"] or given["to"] in ("json", "html"),
    ),
    Need(
        ("paragraphs", "paragraph_pause_ms"),
        "--to text, --to html or --html",
        lambda given: given["html"] or (not given["as_json"] and given["to"] in (None, "text", "html")),
    ),
    Need(("resegment",), "--to srt, vtt or ass", lambda given: given["to"] in ("srt", "vtt", "ass")),
    Need(("max_chars", "max_lines", "max_duration_ms"), "--resegment", lambda given: given["resegment"]),
    Need(("keep_case",), "capitals (no --no-case)", lambda given: not given["no_case"]),
    Need(("overwrite", "ray"), "--output-dir", lambda given: given["output_dir"]),
    Need(("ray_workers",), "--ray", lambda given: given["ray"]),
    Need(("lookahead",), "--policy fixed or delay", lambda given: given["policy"] in ("fixed", "delay")),
    Need(("l_min", "l_max", "threshold"), "--policy entropy", lambda given: given["policy"] == "entropy"),
    Need(("every", "after"), "--policy sentence", lambda given: given["policy"] == "sentence"),
    # with a delay no window is read, and the tagger decides
    Need(("window", "tagger_share"), _WINDOWED, lambda given: given.get("policy") != "delay"),
    Need(("decoder",), _WINDOWED, lambda given: given.get("policy") != "delay" or given["decoder"] != "slots"),
    Need(("tagger_share",), "--decide seq2seq", lambda given: given.get("decide") != "classify"),
    Need(("provisional",), "--json", lambda given: given["as_json"]),
    Need(("blend_share",), "--blend", lambda given: given["blend"]),
    Need(("private",), "--push-to-hub", lambda given: given["push_to_hub"]),
)


def check_needs(typed: Mapping[str, str], given: Given) -> None:
    """Raise ConfigError for an option that does nothing; `typed`: parameters, and how the command line spells them.

    Defaults and values of files are no reason: nobody expects something of them.
    """
    for need in NEEDS:
        for name in need.options:
            if name in typed and not need.is_met(given):
                raise ConfigError(
                    f"{typed[name]}, which does nothing here",
                    expected=f"{need.needed} with it",
                    fix=f"add that, or drop {typed[name]}",
                )


class CheckedCommand(GroupedCommand):
    """A command that refuses options which would do nothing."""

    def invoke(self, ctx: Any) -> Any:
        typed = [one for one in self.params if ctx.get_parameter_source(one.name).name == "COMMANDLINE"]
        check_needs({str(one.name): one.opts[-1] for one in typed}, ctx.params)
        return super().invoke(ctx)
