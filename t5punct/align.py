"""Generated text x input words -> votes: marks and case of free generation, projected onto the input.

In: the words of a window and the text a model wrote for it.  Out: an `Alignment` (a value one can look at) and votes.
Words always come from the input; the model's are only used to find where its marks belong.

>>> alignment = align(["we", "know", "that", "right"], "We know, right?")
>>> [(vote.labels.best, vote.cases.best, vote.weight) for vote in votes(alignment)]
[('', 'capitalised', 1.0), (',', 'lower', 1.0), ('', 'verbatim', 0.0), ('?', 'lower', 1.0)]
>>> alignment.n_dropped, alignment.quality
(1, 0.75)
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from rapidfuzz.distance import Levenshtein

from .marks import NO_LABEL, Alphabet, Case, case_of
from .votes import Distribution, Vote
from .words import Word, split

_SUBSTITUTED = 0.5  # weight of a mark that stood after a re-spelled word


@dataclass(frozen=True, slots=True)
class Link:
    """Input word `input_index` and its counterpart in the generated text, if it has one."""

    input_index: int
    case_index: int | None = None  # the generated word that begins it and shows its case
    label_index: int | None = None  # the generated word that ends it and bears its marks
    exact: bool = False


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
    it merged, the last one gets the mark and the first one the capital.
    """
    generated = split(text, alphabet).words
    normals = [word.normal for word in generated]
    links = {index: Link(index) for index in range(len(words))}
    n_edits = dict.fromkeys(("insert", "delete", "replace"), 0)
    replaced: dict[int, int] = {}
    for code in Levenshtein.opcodes(list(words), normals):
        sources, targets = range(code.src_start, code.src_end), range(code.dest_start, code.dest_end)
        if code.tag == "equal":
            links |= {i: Link(i, j, j, exact=True) for i, j in zip(sources, targets, strict=True)}
            continue
        n_edits[code.tag] += max(len(sources), len(targets))
        if code.tag == "replace":
            replaced |= zip(sources, targets, strict=True)
    free_words = {i for i in links if not links[i].exact} - replaced.keys()
    free_generated = set(range(len(normals))) - {link.label_index for link in links.values()} - set(replaced.values())
    for i, j in replaced.items():
        pieces = _run(words[i], normals, j, free_generated)
        merged = _run(normals[j], words, i, free_words)
        links |= {k: Link(k) for k in merged}
        links[merged[0]] = replace(links[merged[0]], case_index=pieces[0])
        links[merged[-1]] = replace(links[merged[-1]], label_index=pieces[-1])
    return Alignment(
        tuple(words), generated, tuple(links.values()), n_edits["insert"], n_edits["delete"], n_edits["replace"]
    )


def votes(alignment: Alignment, alphabet: Alphabet | None = None) -> tuple[Vote, ...]:
    """One vote a slot: certain of the label found, weighed by how well its word was found.

    With an alphabet, marks outside it are left out.  A word that was not found keeps the case that the input has.
    """
    n_words = len(alignment.words)
    found = []
    for link in alignment.links:
        label, case, weight = NO_LABEL, Case.VERBATIM, 0.0
        if link.label_index is not None:
            label, weight = alignment.generated[link.label_index].label, _SUBSTITUTED
        if link.case_index is not None:
            case, weight = case_of(alignment.generated[link.case_index].core), _SUBSTITUTED
        found.append(
            Vote(
                Distribution.certain(alphabet.label(label) if alphabet else label),
                Distribution.certain(case.value),
                1.0 if link.exact else weight,
                left_words=link.input_index,
                right_words=n_words - link.input_index - 1,
            )
        )
    return tuple(found)


def _run(whole: str, pieces: Sequence[str], place: int, free: Set[int]) -> range:
    """The run of free pieces around `place` that together spell `whole`; `place` alone if there is none."""
    first, stop = place, place + 1
    while first - 1 in free and place - first < len(whole):
        first -= 1
    while stop in free and stop - place < len(whole):
        stop += 1
    for start in range(first, place + 1):
        for end in range(place + 1, stop + 1):
            if "".join(pieces[start:end]) == whole:
                return range(start, end)
    return range(place, place + 1)
