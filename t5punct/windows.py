"""Windows over a document: which words the model sees at once, and which of their slots it may decide.

In: the number of words and a `WindowConfig`.  Out: `Window`s, lazily, in order.

Mask-combine decoding (Minixhofer 2021, section 3): windows of w words every s words; the first m_l and the last m_r
words of a window are seen but their slots are masked, except at the document's edges.

>>> [(w.start, w.stop, w.keep_start, w.keep_stop) for w in plan(20, WindowConfig(window=10, mask_left=2, mask_right=3))]
[(0, 10, 0, 7), (5, 15, 7, 12), (10, 20, 12, 20)]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .errors import ConfigError


@dataclass(frozen=True)
class WindowConfig:
    """The shape of a plan, in words."""

    window: int = 64  # w
    stride: int | None = None  # s; None: what `overlap` gives
    mask_left: int = 0  # m_l
    mask_right: int = 0  # m_r
    overlap: int = 1  # n, votes a slot gets; s_n = floor((w - (m_l + m_r)) / n)

    def __post_init__(self) -> None:
        free = self.window - (self.mask_left + self.mask_right)
        if min(self.mask_left, self.mask_right) < 0 or free < 1:
            raise ConfigError(
                f"a window of {self.window} words with masks of {self.mask_left} and {self.mask_right}",
                expected="masks of 0 or more that leave at least one word of the window",
                fix="raise --window or lower --mask-left and --mask-right",
            )
        if not 1 <= self.overlap <= free:
            raise ConfigError(
                f"{self.overlap} votes a slot", expected=f"1 to {free}, the unmasked words", fix="lower overlap"
            )
        if not 1 <= self.stride_words <= free:
            raise ConfigError(
                f"a stride of {self.stride} words",
                expected=f"1 to {free}, so that no slot is left without a vote",
                fix="lower --stride or the masks",
            )

    @property
    def stride_words(self) -> int:
        """s: the given stride, or the paper's floor formula."""
        if self.stride is not None:
            return self.stride
        return (self.window - (self.mask_left + self.mask_right)) // self.overlap


@dataclass(frozen=True, slots=True)
class Window:
    """Words `start:stop` of the document are seen; slots `keep_start:keep_stop` are decided."""

    start: int
    stop: int
    keep_start: int
    keep_stop: int


def plan(n_words: int, config: WindowConfig) -> Iterator[Window]:
    """The windows of a document; the first keeps its left edge, the last (it ends the document) its right."""
    start, stop = 0, 0
    while stop < n_words:
        stop = min(start + config.window, n_words)
        keep_start = start + config.mask_left if start else 0
        keep_stop = stop - config.mask_right if stop < n_words else n_words
        yield Window(start, stop, keep_start, keep_stop)
        start += config.stride_words
