"""The options of `t5punct stream` that say how a stream is decided and written.

In: values of the command line.  Out: the configs of the stream and of its words, checked before a model is loaded.

`--policy delay --lookahead 2` is `StreamConfig("delay", lookahead=2)`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated

import typer

from .options import Disfluencies, KeepMarks, NoCase, StreamOptions, expert

if TYPE_CHECKING:
    from ..streaming import StreamConfig
    from ..text.render import RenderConfig

SERVICE_OPTIONS = ("model", "revision", "precision", "device", "threads", "batch_tokens")  # of all clients together


@dataclass(frozen=True)
class LiveOptions(StreamOptions):
    """The model, when slots are decided, and how words are written."""

    policy: Annotated[
        str,
        typer.Option(
            help="When a slot is decided: fixed (after --lookahead words), delay (the same, by a tagger that reads "
            "each word once, with models that were trained so), entropy (as soon as the model is sure) or sentence "
            "(once a sentence's end is followed by some words)."
        ),
    ] = "fixed"
    lookahead: Annotated[int, typer.Option(min=0, help="Policies fixed and delay: words that must follow a slot.")] = 4
    max_delay_ms: Annotated[
        int | None,
        typer.Option(min=1, show_default="none", help="A silence of this length commits everything that was heard."),
    ] = None
    decide: Annotated[
        str,
        expert(help="seq2seq (the window is written), or classify (a slot is asked about; for models trained so)."),
    ] = "seq2seq"
    window: Annotated[int, expert(min=1, help="Words the model sees at once; not with policy delay.")] = 32
    l_min: Annotated[int, expert(min=0, help="Policy entropy: the fewest words that must follow.")] = 1
    l_max: Annotated[int, expert(min=0, help="Policy entropy: the most that are waited for.")] = 6
    threshold: Annotated[
        str,
        expert(help="Policy entropy: decide at so many bits or fewer; or a number for each lookahead, 0.2,0.4,..."),
    ] = "0.5"
    every: Annotated[int, expert(min=1, help="Policy sentence: look once in so many words.")] = 4
    after: Annotated[int, expert(min=0, help="Policy sentence: words that must follow a sentence's end.")] = 4
    keep_marks: KeepMarks = False
    no_case: NoCase = False
    disfluencies: Disfluencies = "keep"

    def stream(self) -> StreamConfig:
        """Return when slots are decided.  Raises ConfigError for values that do not agree."""
        from ..streaming import StreamConfig

        own = ("policy", "decide", "window", "lookahead", "l_min", "l_max", "every", "after", "max_delay_ms")
        return StreamConfig(**{name: getattr(self, name) for name in own}, thresholds=_numbers(self.threshold))

    def render(self) -> RenderConfig:
        """Return how words are written."""
        from ..text.render import RenderConfig

        return RenderConfig(case=not self.no_case, keep_marks=self.keep_marks, disfluencies=self.disfluencies)

    def asked_of_a_service(self) -> dict[str, object]:
        """Return what differs from the defaults, as fields of a request.

        Raises ConfigError for what a service decides for all its clients.
        """
        from ..errors import ConfigError

        asked = {option.name: getattr(self, option.name) for option in fields(self)}
        asked = {option.name: asked[option.name] for option in fields(self) if asked[option.name] != option.default}
        for name in SERVICE_OPTIONS:
            if name in asked:
                raise ConfigError(
                    f"--{name} with --server", expected="the service's own", fix=f"give --{name} to t5punct serve"
                )
        return asked


def _numbers(text: str) -> list[float]:
    from ..errors import ConfigError

    try:
        return [float(number) for number in text.split(",")]
    except ValueError as error:
        raise ConfigError(f"threshold {text!r}", expected="a number, or several with commas", fix="use 0.5") from error
