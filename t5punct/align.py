"""Generated text x input words -> votes: marks and case of free generation, projected onto the input.

In: the words of a window and the text a model wrote for it.  Out: an `Alignment` (a value one can look at) and votes.
Words always come from the input; the model's are only used to find where its marks belong.

>>> alignment = align(["we", "know", "that", "right"], "We know, right?")
>>> [(vote.labels.best, vote.cases.best, vote.weight) for vote in votes(alignment)]
[('', 'capitalised', 1.0), (',', 'lower', 1.0), ('', 'lower', 0.0), ('?', 'lower', 1.0)]
>>> alignment.n_dropped, alignment.quality
(1, 0.75)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from .marks import NO_LABEL, Alphabet, Case, case_of
from .votes import Distribution, Vote
from .words import Word, split

_SUBSTITUTED = 0.5  # weight of a mark that stood after a re-spelled word


@dataclass(frozen=True, slots=True)
class Link:
    """Input word `input_index` and its counterpart in the generated text, if it has one."""

    input_index: int
    generated_index: int | None
    exact: bool


@dataclass(frozen=True, slots=True)
class Alignment:
    """How a generated text lies on the input words; one link for each input word, in order."""

    words: tuple[str, ...]
    generated: tuple[Word, ...]
    links: tuple[Link, ...]
    n_inserted: int  # generated words with no counterpart
    n_dropped: int  # input words with no counterpart
    n_changed: int  # counterparts spelled otherwise

    @property
    def quality(self) -> float:
        """The share of input words that were generated as they are; 1 for no words."""
        if not self.words:
            return 1.0
        return sum(link.exact for link in self.links) / len(self.words)


def align(words: Sequence[str], text: str, alphabet: Alphabet | None = None) -> Alignment:
    """Align by edit distance over normalised words (Levenshtein 1966).

    A word split in two by the model (`can not`) ends at the last of its pieces, so its mark is found there; of words
    it merged, the last one gets the mark.
    """
    generated = split(text, alphabet).words
    normals = [word.normal for word in generated]
    links: list[Link] = []
    n_inserted = n_dropped = n_changed = 0
    for code in Levenshtein.opcodes(list(words), normals):
        n_input, n_generated = code.src_end - code.src_start, code.dest_end - code.dest_start
        if code.tag == "equal":
            pairs = zip(range(code.src_start, code.src_end), range(code.dest_start, code.dest_end), strict=True)
            links += [Link(i, j, True) for i, j in pairs]
        elif code.tag == "insert":
            n_inserted += n_generated
            links = _extend(links, words, normals, code.dest_end)
        elif code.tag == "delete":
            n_dropped += n_input
            links += [Link(i, None, False) for i in range(code.src_start, code.src_end)]
        else:
            n_changed += min(n_input, n_generated)
            n_dropped += max(0, n_input - n_generated)
            n_inserted += max(0, n_generated - n_input)
            links += _replaced(code.src_start, code.src_end, code.dest_start, code.dest_end)
    return Alignment(tuple(words), generated, tuple(links), n_inserted, n_dropped, n_changed)


def votes(alignment: Alignment) -> tuple[Vote, ...]:
    """One vote a slot: certain of the label found, weighed by how well its word was found."""
    n_words = len(alignment.words)
    found = []
    for link in alignment.links:
        label, case, weight = NO_LABEL, Case.LOWER, 0.0
        if link.generated_index is not None:
            word = alignment.generated[link.generated_index]
            label, case = word.label, case_of(word.core)
            weight = 1.0 if link.exact else _SUBSTITUTED
        found.append(
            Vote(
                Distribution.certain(label),
                Distribution.certain(case.value),
                weight,
                left_words=link.input_index,
                right_words=n_words - link.input_index - 1,
            )
        )
    return tuple(found)


def _replaced(src_start: int, src_end: int, dest_start: int, dest_end: int) -> list[Link]:
    """Pair a run of words with a run that replaced it, from the left; the last words meet each other."""
    n_input, n_generated = src_end - src_start, dest_end - dest_start
    links = []
    for offset in range(n_input):
        last = offset == n_input - 1
        partner = n_generated - 1 if last else offset if offset < n_generated - 1 else None
        links.append(Link(src_start + offset, None if partner is None else dest_start + partner, False))
    return links


def _extend(links: list[Link], words: Sequence[str], normals: Sequence[str], dest_end: int) -> list[Link]:
    """If the word before an insertion was written in pieces that end here, let it end at the last of them."""
    if not links or links[-1].generated_index is None or links[-1].exact:
        return links
    before = links[-1]
    joined = "".join(normals[before.generated_index : dest_end])
    if joined == words[before.input_index]:
        return [*links[:-1], Link(before.input_index, dest_end - 1, False)]
    return links
