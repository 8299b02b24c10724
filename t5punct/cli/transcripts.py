"""The options of `t5punct punctuate` that say how transcripts are read and written.

In: values of the command line.  Out: the configs of readers and writers, checked before a model is loaded.

`--to vtt --resegment` is `WriterConfig("vtt", resegment=ResegmentConfig())`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import Disfluencies, Json, KeepMarks, NoCase, StrategyOptions, expert

if TYPE_CHECKING:
    from ..text.render import RenderConfig
    from ..transcripts.terms import Terms
    from ..transcripts.writers import WriterConfig

_REVIEW_ALTERNATIVES = 3


@dataclass(frozen=True)
class TranscriptOptions(StrategyOptions):
    """The model, the windows, and what is read and written."""

    format: Annotated[
        str | None,
        typer.Option(show_default="by its name", help="What INPUT is: text, lines, srt, vtt, ass, json, ctm or tsv."),
    ] = None
    to: Annotated[
        str | None,
        typer.Option(
            show_default="that of the input",
            help="Write as text, srt, vtt, ass, json (words with confidence, times and places), ctm, tsv or html (a "
            "page for review).",
        ),
    ] = None
    as_json: Json = False
    lines: Annotated[bool, typer.Option("--lines", help="Each line is a text of its own, as in a chat.")] = False
    keep_marks: KeepMarks = False
    no_case: NoCase = False
    disfluencies: Disfluencies = "keep"
    keep_case: Annotated[bool, typer.Option("--keep-case", help="Keep the capitals that INPUT has.")] = False
    terms: Annotated[
        Path | None,
        typer.Option(
            show_default="none", help="A file of your own spellings, one a line: pytorch=PyTorch, ASR, gonna=going to."
        ),
    ] = None
    paragraphs: Annotated[
        int | None,
        typer.Option(
            min=1, show_default="none", help="Text and pages for review: begin a paragraph after so many sentences."
        ),
    ] = None
    paragraph_pause_ms: Annotated[
        int | None,
        typer.Option(
            min=1,
            show_default="none",
            help="The same where so long a silence follows a sentence, if INPUT has times.",
        ),
    ] = None
    alternatives: Annotated[
        int | None,
        typer.Option(
            min=0,
            show_default=f"0; of pages for review {_REVIEW_ALTERNATIVES}",
            help="With --json and pages for review: name so many other marks of each place, the most probable first.",
        ),
    ] = None
    resegment: Annotated[
        bool, typer.Option("--resegment", help="With --to srt, vtt or ass: new cues, which hold sentences.")
    ] = False
    max_chars: Annotated[int, expert(min=1, help="With --resegment: characters of a cue.")] = 84
    max_lines: Annotated[int, expert(min=1, help="With --resegment: lines of a cue.")] = 2
    max_duration_ms: Annotated[int, expert(min=1, help="With --resegment: how long a cue is shown.")] = 7000

    @property
    def reads(self) -> tuple[str, ...]:
        """What the options of the model name, and the file of terms."""
        return super().reads if self.terms is None else (*super().reads, str(self.terms))

    @property
    def input_format(self) -> str | None:
        """The format of all inputs; None: their names tell.  Raises ConfigError for two of them."""
        from ..errors import ConfigError

        if self.lines and self.format not in (None, "text", "lines"):
            raise ConfigError(f"--lines and --format {self.format}", expected="one of them", fix="drop one")
        return "lines" if self.lines else self.format

    def writer(self) -> WriterConfig:
        """Return the writer's settings.  Raises ConfigError for an unknown format, and options that do not agree."""
        from ..errors import ConfigError
        from ..transcripts.paragraphs import ParagraphConfig
        from ..transcripts.resegment import ResegmentConfig
        from ..transcripts.writers import WriterConfig

        if self.as_json and self.to not in (None, "json"):
            raise ConfigError(f"--json and --to {self.to}", expected="one of them", fix="drop one")
        is_parted = self.paragraphs is not None or self.paragraph_pause_ms is not None
        return WriterConfig(
            "json" if self.as_json else self.to,
            ParagraphConfig(self.paragraphs, self.paragraph_pause_ms) if is_parted else None,
            ResegmentConfig(self.max_chars, self.max_lines, self.max_duration_ms) if self.resegment else None,
        )

    def spellings(self) -> Terms | None:
        """Return the user's terms.  Raises InputError for a file that is none."""
        from ..transcripts.terms import Terms

        return None if self.terms is None else Terms.from_file(self.terms)

    def render(self, *, for_review: bool = False) -> RenderConfig:
        """Return how words are written; `for_review`: for a page for review, which shows alternatives."""
        from ..text.render import RenderConfig

        alternatives = self.alternatives
        if alternatives is None:
            alternatives = _REVIEW_ALTERNATIVES if for_review or self.to == "html" else 0
        return RenderConfig(not self.no_case, self.keep_case, self.keep_marks, alternatives, self.disfluencies)
