"""Windows over a document: which words the model sees at once, and which of their slots it may decide.

In: words and a `WindowConfig`.  Out: `View`s, windows with their words, in order.

Mask-combine decoding (Minixhofer 2021, section 3): a window of w words begins every s words.  The model sees all of
them, but the slots of the first m_l and the last m_r words are masked, except at the document's edges.

>>> views = views_of(range(20), WindowConfig(window=10, mask_left=2, mask_right=3))
>>> [(view.window.start, view.window.keep_start, view.window.keep_stop) for view in views]
[(0, 0, 7), (5, 7, 12), (10, 12, 20)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from ..config import check

T = TypeVar("T")
MOST_WORDS = 100_000  # of a window; no model that is known reads so many at once


@dataclass(frozen=True)
class WindowConfig:
    """How a document is cut into windows; all numbers are words, but `overlap`."""

    window: int = 64  # w
    stride: int | None = None  # s; None: floor((w - (m_l + m_r)) / overlap), as in the paper
    mask_left: int = 0  # m_l
    mask_right: int = 0  # m_r
    overlap: int = 1  # n, how many windows vote on a slot; without a stride
    lead_in: int = 0  # how far before the document the first window begins (Nagy 2021); 0: it has no left mask

    def __post_init__(self) -> None:
        check(
            self.window <= MOST_WORDS, f"a window of {self.window} words",
            expected=f"at most {MOST_WORDS}, far more than models read", fix="lower window",
        )  # fmt: skip
        free = self.window - (self.mask_left + self.mask_right)
        check(
            min(self.mask_left, self.mask_right) >= 0 and free >= 1,
            f"a window of {self.window} words with masks of {self.mask_left} and {self.mask_right}",
            expected="masks of 0 or more that leave at least one word of the window",
            fix="raise window or lower mask_left and mask_right",
        )
        check(
            self.stride is not None or 1 <= self.overlap <= free, f"{self.overlap} votes a slot",
            expected=f"1 to {free}, the unmasked words", fix="raise window, set stride or take another --preset",
        )  # fmt: skip
        check(
            1 <= self.stride_words <= free, f"a stride of {self.stride} words",
            expected=f"1 to {free}, so that no slot is left without a vote", fix="lower stride or the masks",
        )  # fmt: skip
        most = self.window - self.mask_right - 1
        check(
            self.lead_in == 0 or self.mask_left <= self.lead_in <= most, f"a lead-in of {self.lead_in} words",
            expected=f"0, or {max(1, self.mask_left)} to {most}, so that the first window decides the first slot",
            fix="change lead_in, the window or the masks",
        )  # fmt: skip

    @property
    def stride_words(self) -> int:
        """The stride in words, s."""
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


@dataclass(frozen=True, slots=True)
class View(Generic[T]):
    """A window and its words.

    is_last: whether the document ends with it.  n_settled: slots below this number have all their votes with it.
    """

    window: Window
    words: tuple[T, ...]
    is_last: bool
    n_settled: int


def views_of(words: Sequence[T], config: WindowConfig) -> list[View[T]]:
    """Return the windows over a document's words.

    The first window has no left mask, the last one (it ends the document) no right mask.  With a lead-in, windows begin
    before the document, so that all have a left mask.
    """
    views = list[View[T]]()
    start = -config.lead_in  # below 0 there are no words
    while words and not (views and views[-1].is_last):
        stop = min(start + config.window, len(words))
        next_start = start + config.stride_words
        is_first = start == 0 and config.lead_in == 0
        is_last = stop == len(words)
        keep_start = 0 if is_first else max(start + config.mask_left, 0)
        keep_stop = stop if is_last else stop - config.mask_right
        n_settled = stop if is_last else max(next_start + config.mask_left, 0)  # the next window decides from there on
        window = Window(max(start, 0), stop, keep_start, keep_stop)
        views.append(View(window, tuple(words[window.start : stop]), is_last, n_settled))
        start = next_start
    return views


def iter_pools(
    values: Iterable[T], n_words: int, count: Callable[[T], int], *, is_growing: bool = True
) -> Iterator[list[T]]:
    """Yield values (views, or files) in groups of at least `n_words` words, but for the last group; lazily.

    count: gives the words of a value, or its size in another unit.  is_growing: whether the first groups are smaller,
    so that the first words come soon: the first has a sixteenth of `n_words`, each other twice as many as the one
    before.
    """
    pool = list[T]()
    n_held = 0
    least = n_words / 16 if is_growing else n_words
    for value in values:
        pool.append(value)
        n_held += count(value)
        if n_held >= least:
            yield pool
            pool = []
            n_held = 0
            least = min(2 * least, n_words)
    if pool:
        yield pool
