"""Alignment: marks and case of a generated text, projected onto the words of the input.

In: the words of a window and the text that a model wrote for it.  Out: an `Alignment`, and votes.

>>> alignment = align(["we", "know", "that", "right"], "We know, right?")
>>> [(*vote.marks, *vote.cases, vote.weight) for vote in votes(alignment)]
[('', 'capitalised', 1.0), (',', 'lower', 1.0), ('', 'verbatim', 0.0), ('?', 'lower', 1.0)]
>>> alignment.n_dropped, alignment.quality
(1, 0.7333333333333334)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from itertools import product

from rapidfuzz.distance import Levenshtein

from ..config import check
from ..text.marks import NO_MARKS, Alphabet, Case, case_of
from ..text.spelling import is_first_person, precedes_name
from ..text.words import Word, split
from ..windows.votes import Vote

_DOUBTFUL = 0.5  # weight of a mark that stood after a re-spelled, merged, split or inserted word
_PIECES = range(2, 7)  # words that may be merged into one, or that one may be split into
_ALIKE = 0.8  # how similar the letters of merged or split words must be
_MAX_CELLS = 2_500  # of a stretch without a common word; a longer one is garbage, and is paired in order
# how many input and generated words a move takes: a pair, several merged, one split, one dropped, one inserted
_MOVES = ((1, 1), *((n, 1) for n in _PIECES), *((1, n) for n in _PIECES), (1, 0), (0, 1))
Cell = tuple[int, int]  # how many input and generated words are aligned so far


@dataclass(frozen=True)
class AlignConfig:
    """When a window is trusted."""

    min_quality: float = 0.5  # a window that aligns worse loses its vote, unless all windows of the slot do

    def __post_init__(self) -> None:
        is_share = 0.0 <= self.min_quality <= 1.0
        check(is_share, f"min_quality {self.min_quality}", expected="0 to 1", fix="check min_alignment")


@dataclass(frozen=True, slots=True)
class Link:
    """The counterpart of an input word in the generated text, if it has one."""

    case_index: int | None = None  # the generated word that begins it and shows its case
    marks_index: int | None = None  # the generated word that has its marks
    exact: bool = False  # both are the word itself


@dataclass(frozen=True, slots=True)
class Alignment:
    """How a generated text matches the input; it has a link for each input word, in order."""

    words: tuple[str, ...]
    generated: tuple[Word, ...]
    links: tuple[Link, ...]
    n_inserted: int  # generated words with no counterpart
    n_dropped: int  # input words with no counterpart
    n_changed: int  # counterparts spelled otherwise

    @property
    def quality(self) -> float:
        """How alike the letters of both are, spaces and marks left out: 1 for the same, 0 for nothing in common."""
        generated = "".join(word.normal for word in self.generated)
        return Levenshtein.normalized_similarity("".join(self.words), generated)


@dataclass(frozen=True, slots=True)
class Pair:
    """Words of the input and of the generated text, by their indices, which stand for each other; one at least."""

    words: range
    generated: range
    exact: bool = False  # both are the same word


@dataclass(frozen=True, slots=True)
class AlignmentCounts:
    """How free generation treated the input's words, summed over windows (a word counts in each of its windows)."""

    windows: int = 0
    distrusted: int = 0  # windows that aligned worse than `align.min_quality`
    words: int = 0
    inserted: int = 0
    dropped: int = 0
    changed: int = 0

    def __add__(self, more: AlignmentCounts) -> AlignmentCounts:
        return AlignmentCounts(*(count + added for count, added in zip(astuple(self), astuple(more), strict=True)))

    def __sub__(self, less: AlignmentCounts) -> AlignmentCounts:
        return AlignmentCounts(*(count - removed for count, removed in zip(astuple(self), astuple(less), strict=True)))

    @classmethod
    def of(cls, alignment: Alignment, config: AlignConfig) -> AlignmentCounts:
        distrusted = alignment.quality < config.min_quality
        n_edits = alignment.n_inserted, alignment.n_dropped, alignment.n_changed
        return cls(1, int(distrusted), len(alignment.words), *n_edits)


def align(words: Sequence[str], text: str, alphabet: Alphabet | None = None) -> Alignment:
    """Align by edit distance over words (Levenshtein 1966), and where words differ, over letters.

    Between the words that both have, words were dropped, inserted, re-spelled, merged (`can not`, `cannot`) or split,
    whichever changes the fewest letters.  Of a split word, the first piece shows the capital and the last the marks;
    of merged words, the first gets the capital and the last the marks.
    """
    generated = split(text, alphabet).words
    normals = [word.normal for word in generated]
    pairs = list[Pair]()
    word_index = generated_index = 0  # how far both are aligned
    # stretches that both have: `size` words, from word `a` of the input and word `b` of the generated text on; the last
    # one is empty, at the end of both
    for same in Levenshtein.opcodes(list(words), normals).as_matching_blocks():
        gap = range(word_index, same.a)
        generated_gap = range(generated_index, same.b)
        pairs += _find_gap_pairs(words, normals, gap, generated_gap)
        word_index = same.a + same.size
        generated_index = same.b + same.size
        pairs += _single_pairs(range(same.a, word_index), range(same.b, generated_index), exact=True)
    strays = _find_strays(pairs, generated)
    # from input words to generated words, by their indices
    case_indices = {pair.words[0]: pair.generated[0] for pair in pairs}
    marks_indices = {pair.words[-1]: pair.generated[-1] for pair in pairs} | strays
    exact = {pair.words[0] for pair in pairs if pair.exact}
    links = [
        Link(case_indices.get(index), marks_indices.get(index), exact=index in exact and index not in strays)
        for index in range(len(words))
    ]
    n_shared = sum(min(len(pair.words), len(pair.generated)) for pair in pairs)
    n_inserted = len(generated) - n_shared
    n_dropped = len(words) - n_shared
    return Alignment(tuple(words), generated, tuple(links), n_inserted, n_dropped, n_changed=n_shared - len(exact))


def votes(
    alignment: Alignment,
    alphabet: Alphabet | None = None,
    config: AlignConfig | None = None,
    *,
    has_openings: bool = False,
) -> tuple[Vote, ...]:
    """Return one vote for each slot: certain of its marks, weighted by how well its word was aligned.

    With an alphabet, marks outside it are left out.  A word without a counterpart keeps the case of the input.  If the
    window's quality is below `min_quality`, all weights are 0.  has_openings: whether the model writes opening marks.
    """
    n_words = len(alignment.words)
    trusted = alignment.quality >= (config or AlignConfig()).min_quality
    slot_votes = []
    for index, link in enumerate(alignment.links):
        marks = NO_MARKS
        case = Case.VERBATIM
        weight = 0.0
        inside = None  # the case if no sentence begins with the word; None: none begins
        openings = None
        if link.marks_index is not None:
            marks = alignment.generated[link.marks_index].marks
            weight = _DOUBTFUL
        if link.case_index is not None:
            case = case_of(alignment.generated[link.case_index].core)
            weight = _DOUBTFUL
            before = alignment.generated[link.case_index - 1] if link.case_index else None
            # None: whether `Inc.` ends a sentence depends on the next word
            may_begin = before is not None and before.ends_sentence(before.marks) in (True, None)
            if before is not None and may_begin and not precedes_name(before.core):
                # `I` has its capital anywhere
                is_of_sentence = case is Case.CAPITALISED and not is_first_person(alignment.words[index])
                inside = {Case.LOWER.value: 1.0} if is_of_sentence else {case.value: 1.0}
            if has_openings:
                openings = {alignment.generated[link.case_index].opening: 1.0}
        slot_votes.append(
            Vote(
                {alphabet.marks_in(marks) if alphabet else marks: 1.0},
                {case.value: 1.0},
                (1.0 if link.exact else weight) * trusted,
                left_words=index,
                right_words=n_words - index - 1,
                inside=inside,
                openings=openings,
            )
        )
    return tuple(slot_votes)


def _find_strays(pairs: Sequence[Pair], generated: Sequence[Word]) -> dict[int, int]:
    """Return the inserted words whose marks belong to an input word: their indices, by the index of that word.

    In `know um, right` the comma goes to `know`, if that has no marks itself, and `um` does not repeat what follows.
    """
    strays = {}
    next_pairs = [*(pair.generated[0] for pair in pairs[1:]), len(generated)]  # where the next pair begins, or the end
    for pair, following in zip(pairs, next_pairs, strict=False):  # without pairs there is still the end
        if generated[pair.generated[-1]].marks:
            continue
        word_behind = generated[following].normal if following < len(generated) else None
        for index in range(pair.generated.stop, following):
            if generated[index].marks and generated[index].normal != word_behind:
                strays[pair.words[-1]] = index
    return strays


def _single_pairs(words: range, generated: range, *, exact: bool = False) -> list[Pair]:
    """Return pairs of one word each, in order, as far as both have words."""
    indices = zip(words, generated, strict=False)
    return [Pair(range(i, i + 1), range(j, j + 1), exact) for i, j in indices]


def _find_gap_pairs(words: Sequence[str], normals: Sequence[str], sources: range, targets: range) -> list[Pair]:
    """Return the cheapest pairs of input words `sources` and generated words `targets` (dynamic programming)."""
    if len(sources) * len(targets) > _MAX_CELLS:
        return _single_pairs(sources, targets)
    costs: dict[Cell, float] = {(sources.start, targets.start): 0.0}  # of the cheapest way to each cell
    origins: dict[Cell, Cell] = {}  # the cell before it on that way
    for i, j in product(range(sources.start, sources.stop + 1), range(targets.start, targets.stop + 1)):
        for n_words, n_generated in _MOVES:
            cell = i + n_words, j + n_generated
            if cell[0] > sources.stop or cell[1] > targets.stop:
                continue
            cost = costs[i, j] + _price(words[i : cell[0]], normals[j : cell[1]])
            if cell not in costs or cost < costs[cell]:
                costs[cell] = cost
                origins[cell] = (i, j)
    pairs = []
    cell = (sources.stop, targets.stop)
    while cell in origins:
        i, j = origins[cell]
        pair = Pair(range(i, cell[0]), range(j, cell[1]))
        if pair.words and pair.generated:  # else words were dropped or inserted
            pairs.append(pair)
        cell = (i, j)
    return pairs[::-1]


def _price(words: Sequence[str], generated: Sequence[str]) -> float:
    """Return a move's cost: pairing costs less than dropping and inserting, and less the more alike the words are."""
    if not words or not generated:  # one is inserted or dropped
        return 1.0
    is_joined = len(words) > 1 or len(generated) > 1  # several words merge, or one is split
    least = _ALIKE if is_joined else 0.0
    similarity = Levenshtein.normalized_similarity("".join(words), "".join(generated), score_cutoff=least)
    if is_joined and not similarity:  # it is below `least`
        return math.inf
    return (0.5 if is_joined else 0.4) + 1.5 * (1.0 - similarity)
