"""The decoder that settings ask for, and the model as they ask for it.

In: a model and a `DecodingConfig`.  Out: what decides its slots.

With `DecodingConfig("tagger", precision="bf16")` that is a `TagDecoder`, of the model in bf16.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from ..errors import ConfigError
from ..model import Model
from ..text.marks import DISFLUENT
from ..text.render import KEEP
from ..windows.votes import Vote
from .align import AlignConfig
from .generate import GeneratingDecoder
from .inputs import DecodingConfig, WindowInput
from .slots import SlotDecoder
from .tagging import TagDecoder


class Decoder(Protocol):
    """What decides the slots of windows."""

    def votes(self, windows: Sequence[WindowInput], n_slots: Sequence[int] | None = None) -> list[tuple[Vote, ...]]:
        """Return votes for each window, in order, one a slot; with `n_slots`, at least for its first so many slots."""


def make_decoder(model: Model, config: DecodingConfig, align_config: AlignConfig) -> Decoder:
    """Make the decoder of slots that runs; `align_config` says which generated windows are trusted."""
    name = config.decoder_for(model)
    if name == "generate":
        return GeneratingDecoder(model, config, align_config)
    return TagDecoder(model, config) if name == "tagger" else SlotDecoder(model, config)


def allow_disfluency_label(config: DecodingConfig, model: Model, disfluencies: str) -> DecodingConfig:
    """Return a config whose slots may hold the sign of disfluent words; the same config if such words are just kept.

    Raises ConfigError for a model that does not know them, for a decoder that cannot say which they are, and for a sign
    that is named where none is asked for.
    """
    if disfluencies == KEEP:
        if DISFLUENT in {*(config.marks or ""), *(config.mark_odds or {})}:
            raise ConfigError(
                f"{DISFLUENT!r}, the sign of disfluent words, among marks or their odds",
                expected="it with --disfluencies mark or remove",
                fix="add that, or leave it out",
            )
        return config
    if not model.task.disfluencies:
        raise ConfigError(
            f"disfluencies {disfluencies!r} with {model.name}, which does not know them",
            expected="a model that was trained for them",
            fix="use --model base, train one (data.disfluencies.marked), or drop --disfluencies",
        )
    if config.decoder == "generate":
        raise ConfigError(
            f"disfluencies {disfluencies!r} with the decoder generate", expected="slots or tagger", fix="drop --decoder"
        )
    marks = model.task.marks if config.marks is None else config.marks
    return replace(config, marks=marks.replace(DISFLUENT, "") + DISFLUENT)
