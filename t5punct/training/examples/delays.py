"""Which delay a batch is trained with, so that one model serves every delay and the whole context (Chen 2020).

In: the list of a config, and a batch's place in the run.  Out: a `Delay`, or None for the whole context.

>>> draw_delay(DelayConfig([2]), 1, 0, 0)
Delay(words=2, left_words=32, layers=())
>>> draw_delay(DelayConfig([None]), 1, 0, 0) is draw_delay(DelayConfig(), 1, 0, 0) is None
True

The paper appends truncated texts, so that a model does not expect a sentence to end where its input ends.  Here every
window of a data set begins and ends anywhere (`data/chunks.py`), and with a delay every slot stands L words before the
end of what its state depends on.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from ...errors import ConfigError
from ...t5.delay import LEFT_WORDS, Delay


@dataclass(frozen=True)
class DelayConfig:
    """The delays of a run; the last two settings are saved with the model, which must be used as it was trained."""

    # one is drawn for each batch (null: the whole context); what stands here twice comes twice as often
    words: list[int | None] = field(default_factory=list)
    left_words: int = LEFT_WORDS  # what each layer sees to the left
    layers: list[int] = field(default_factory=list)  # those that look ahead, in turn, from 0; empty: all, evenly

    def __post_init__(self) -> None:
        for words in self.words:
            self.delay(0 if words is None else words)  # raises ConfigError if they are wrong

    @property
    def any(self) -> bool:
        """Whether some batches have a delay."""
        return any(words is not None for words in self.words)

    def delay(self, words: int) -> Delay:
        return Delay(words, self.left_words, tuple(self.layers))


def draw_delay(config: DelayConfig, *place: int) -> Delay | None:
    """Draw the delay of one batch; the same place in the run gives the same delay, so that a resumed run agrees."""
    if not config.any:
        return None
    words = random.Random(" ".join(map(str, ("delay", *place)))).choice(config.words)
    return None if words is None else config.delay(words)


def check_layers(config: DelayConfig, n_layers: int) -> None:
    """Raise ConfigError for layers that an encoder does not have."""
    if config.any and not all(0 <= layer < n_layers for layer in config.layers):
        raise ConfigError(
            f"look-ahead in layers {config.layers} of an encoder with {n_layers}",
            expected=f"some of 0 to {n_layers - 1}",
            fix="check data.delays.layers",
        )
