"""The options that all commands with a model share, and the punctuator that they ask for.

In: a command that takes `ModelOptions` or `StrategyOptions` first.  Out: one that takes them one by one, for typer.

`@with_model_options` on `def stream(options: ModelOptions, lookahead: int = 4)` gives the command `--model`, `--style`
and the rest beside `--lookahead`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self, get_type_hints

import typer

from ..errors import ConfigError
from ..text.io.outputs import named_place
from ..text.render import RenderConfig
from ..windows.plan import WindowConfig
from ..windows.presets import DEFAULT_PRESET, PRESET_SUFFIXES, Preset, load_preset
from .command import EXPERT
from .process import keep_freed_memory, keep_objects, use_threads, wait_asleep

if TYPE_CHECKING:
    from ..punctuator import Punctuator, PunctuatorConfig

_PRESETS = "the preset's"
_MOST_THREADS = 1024
expert = functools.partial(typer.Option, rich_help_panel=EXPERT)
place = functools.partial(typer.Option, parser=named_place, metavar="PATH")  # where to write

Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
Config = Annotated[
    Path | None, typer.Option(show_default="none", help="A YAML file of settings, which KEY=VALUE changes.")
]
Overrides = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="KEY=VALUE",
        help="Settings, as docs/settings.md lists those of prepare and train; an unknown name is told the nearest.",
        show_default=False,
    ),
]
KeepMarks = Annotated[bool, typer.Option("--keep-marks", help="Keep the marks the input has, and add others.")]
Disfluencies = Annotated[
    str,
    typer.Option(
        help="Fillers, words said twice and words taken back: keep, mark (by ~ behind them; in json by a field) or "
        "remove, the only way in which words go.  For models that were trained for it."
    ),
]
NoCase = Annotated[bool, typer.Option("--no-case", help="Leave every letter as it is.")]
Fragment = Annotated[bool, typer.Option("--fragment", help="The text may begin and end in the middle of a sentence.")]


@dataclass(frozen=True)
class ModelOptions:
    """Which model, and how it decodes."""

    model: Annotated[
        str | None,
        typer.Option(
            show_default="large", help="A model that ships (large, base, small, multi), a folder or a hub id."
        ),
    ] = None
    language: Annotated[
        str | None,
        typer.Option(
            show_default="not needed",
            help="The language of the text: en, de, fr, es, it, pt, nl, pl or hu.  Chooses the model that knows it.",
        ),
    ] = None
    style: Annotated[
        str | None,
        typer.Option(
            show_default="the model's own; large: meeting",
            help="The kind of text: talk, meeting, prose or chat, which are punctuated differently; a model of your "
            "own may have others.",
        ),
    ] = None
    decoder: Annotated[
        str,
        typer.Option(
            help="Which part of the model chooses the marks: tagger (a layer on the encoder; fastest, at most one mark "
            "after a word), slots (the T5's decoder; several marks, as in `?!`) or generate (the T5 writes the text "
            "anew, and its marks are put into yours); auto: what is best for the style, large: the tagger in talk and "
            "meeting, slots in prose and chat."
        ),
    ] = "auto"
    marks: Annotated[
        str | None,
        typer.Option(
            show_default="all of the model's", help='Write only these marks, such as ",.?"; "": none, only capitals.'
        ),
    ] = None
    precision: Annotated[
        str,
        typer.Option(
            help="What numbers the model computes with: fp32 (exact), int8 (two to three times as fast on a CPU), bf16 "
            "(fast on a GPU; a mark may change with the other texts of its batch); auto: int8 on a CPU, bf16 on a GPU "
            "that has it."
        ),
    ] = "auto"
    device: Annotated[str, typer.Option(help="cpu, cuda, ..; auto: a GPU if there is one.")] = "auto"
    fragment: Fragment = False
    revision: Annotated[
        str | None, expert(show_default="main", help="The branch, tag or commit where --model is a hub id.")
    ] = None
    beams: Annotated[int, expert(min=1, help="Decoder generate: how many texts its search keeps (beam search).")] = 1
    min_alignment: Annotated[
        float,
        expert(
            help="Decoder generate: where what the model wrote matches your words worse than this, from 0 to 1, use it "
            "only if no other window has these words."
        ),
    ] = 0.5
    max_marks: Annotated[
        int | None,
        expert(
            min=1,
            show_default="the style's; large: 1, in prose and chat 3",
            help="How many marks may follow a word, as in `?!`.",
        ),
    ] = None
    mark_odds: Annotated[
        str | None,
        expert(
            show_default="the model's own",
            help='Write marks more or less often (decoders slots and tagger).  ",=4 .=0.5": a comma counts four times '
            'what the model thinks of it, and a full stop half; "": each counts once.',
        ),
    ] = None
    batch_tokens: Annotated[
        int,
        expert(
            min=1,
            help="How many tokens (words and parts of words) are read at a time: more can be faster, and takes more "
            "memory.",
        ),
    ] = 1024
    threads: Annotated[
        int | None,
        expert(
            min=1, max=_MOST_THREADS, show_default="as many as this process may keep busy", help="Processor threads."
        ),
    ] = None

    @property
    def reads(self) -> tuple[str, ...]:
        """What the options name that is read: files and folders that no output may take the place of."""
        from ..model import bundled_root

        own = () if self.model is None else (str(Path(self.model).expanduser()),)
        return (str(bundled_root()), *(folder for folder in own if Path(folder).is_dir()))

    def for_language(self) -> Self:
        """Return options with the model that knows the language, where one is named.

        Raises ConfigError for a language that no bundled model knows, and for a model that does not know it.
        """
        from ..model import BUNDLED, MODEL_LANGUAGES, model_for

        if self.language is None:
            return self
        best, usual = model_for(self.language), type(self).model
        if self.model == usual:
            return replace(self, model=usual if best == BUNDLED else best)
        if self.model in MODEL_LANGUAGES and "multi" == best != self.model:
            raise ConfigError(
                f"--language {self.language} with --model {self.model}, which knows English alone",
                expected=f"--model {best}",
                fix="drop --model",
            )
        return self

    def strategy(self) -> Preset:
        """Return how a document is cut into windows: the default."""
        return load_preset(DEFAULT_PRESET)

    def config(self, render: RenderConfig | None = None) -> PunctuatorConfig:
        """Return what they ask for, and how words are written; every value is checked before a model is loaded."""
        from ..decoding.align import AlignConfig
        from ..decoding.inputs import DecodingConfig
        from ..punctuator import PunctuatorConfig

        chosen = self.strategy()
        odds = None if self.mark_odds is None else parse_mark_odds(self.mark_odds)
        render = replace(render or RenderConfig(), marks=self.marks != "")
        return PunctuatorConfig(
            chosen.windows,
            chosen.combine,
            DecodingConfig(**options_of(DecodingConfig, self) | {"mark_odds": odds, "marks": self.marks or None}),
            fragment=self.fragment,
            align=AlignConfig(self.min_alignment),
            render=render,
        )

    def punctuator(self, render: RenderConfig | None = None) -> Punctuator:
        """Return the punctuator that the options name."""
        config = self.config(render)
        from ..punctuator import Punctuator

        keep_freed_memory()
        use_threads(self.threads)
        punctuator = Punctuator.from_pretrained(self.model, config, revision=self.revision)
        keep_objects()
        return punctuator


@dataclass(frozen=True)
class StrategyOptions(ModelOptions):
    """The same, and how documents are cut into windows."""

    preset: Annotated[
        str,
        typer.Option(
            help="How a text is cut into overlapping windows: a name of `t5punct presets`, or a YAML file of one."
        ),
    ] = DEFAULT_PRESET
    window: Annotated[
        int | None, expert(min=1, show_default=_PRESETS, help="How many words the model reads at once.")
    ] = None
    stride: Annotated[
        int | None, expert(min=1, show_default=_PRESETS, help="How many words later the next window begins.")
    ] = None
    mask_left: Annotated[
        int | None,
        expert(min=0, show_default=_PRESETS, help="Do not use the marks at this many of a window's first words."),
    ] = None
    mask_right: Annotated[
        int | None,
        expert(min=0, show_default=_PRESETS, help="Do not use the marks at this many of a window's last words."),
    ] = None
    lead_in: Annotated[
        int | None, expert(min=0, show_default=_PRESETS, help="Begin the first window this many words before the text.")
    ] = None
    combine: Annotated[
        str | None,
        expert(
            show_default=_PRESETS,
            help="How a mark is chosen where windows overlap: by mean (the average of what they say), entropy (the "
            "surer a window, the more it counts), hamming (the nearer to its middle, the more) or vote (the majority).",
        ),
    ] = None

    delay_words: Annotated[
        int | None,
        expert(
            min=0,
            show_default="none: all count",
            help="Decoder tagger: choose each mark without looking further ahead than so many words, as a stream with "
            "--policy delay does.  For models that were trained for it.",
        ),
    ] = None

    @property
    def reads(self) -> tuple[str, ...]:
        """The same, and a preset's file."""
        return (*super().reads, *[self.preset] * self.preset.endswith(PRESET_SUFFIXES))

    def strategy(self) -> Preset:
        """Return the preset, with single values changed."""
        chosen = load_preset(self.preset)
        changes = {name: value for name, value in options_of(WindowConfig, self).items() if value is not None}
        combine = replace(chosen.combine, method=self.combine) if self.combine else chosen.combine
        return Preset(replace(chosen.windows, **changes), combine)


@dataclass(frozen=True)
class StreamOptions(ModelOptions):
    """The same for a stream, which waits for every word: a lighter model, and windows too small to be shared out."""

    model: Annotated[
        str, typer.Option(help="A model that ships (large, base, small, multi), a folder or a hub id.")
    ] = "base"

    threads: Annotated[int, expert(min=1, max=_MOST_THREADS, help="Processor threads.")] = 1


def options_of(config: type[Any], options: ModelOptions) -> dict[str, Any]:
    """Return the options that have the names of a config's fields."""
    names = {field.name for field in fields(config)} & {option.name for option in fields(options)}
    return {name: getattr(options, name) for name in names}


def with_model_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose first parameter, some options, is replaced by their fields, behind its own."""
    hints = get_type_hints(command, include_extras=True)
    (first, *own) = inspect.signature(command).parameters.values()
    kind = hints[first.name]
    shared = get_type_hints(kind, include_extras=True)
    own = [parameter.replace(annotation=hints[parameter.name]) for parameter in own]
    added = [
        inspect.Parameter(
            option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=shared[option.name]
        )
        for option in fields(kind)
    ]

    @functools.wraps(command)
    def wrapped(*args: Any, **values: Any) -> None:
        wait_asleep()  # before anything loads torch
        options = kind(**{parameter.name: values.pop(parameter.name) for parameter in added})
        command(options.for_language(), *args, **values)

    wrapped.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
    wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *added)}
    del wrapped.__wrapped__  # type: ignore[attr-defined]  # inspect would follow it to the unchanged signature
    return wrapped


def parse_mark_odds(text: str) -> dict[str, float]:
    """Parse odds as a person writes them: `,=4 .=1.5`."""
    try:
        pieces = text.split()
        pairs = [(piece[0], float(piece[2:])) for piece in pieces]
        if len(pairs) > len(dict(pairs)) or any(piece[1] != "=" for piece in pieces):
            raise ValueError
    except ValueError as error:
        raise ConfigError(
            f"mark odds {text!r}", expected='a number for each mark, such as ",=4 .=1.5"', fix="check --mark-odds"
        ) from error
    return dict(pairs)


def silence_bars() -> None:
    """Show no progress bars while a model is loaded or saved."""
    from transformers.utils import logging

    logging.disable_progress_bar()
