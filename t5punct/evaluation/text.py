"""Reference and output texts -> counts, by aligning their words.

In: two punctuated texts.  Out: `Counts`; words that differ are counted, and their slots scored as if they did not.

>>> counts = compare("We know. Right?", "we know right?")
>>> counts.slots, counts.words_changed, counts.classes["PERIOD"].reference
(3, 0, 1)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rapidfuzz.distance import Levenshtein

from ..text.marks import Alphabet
from ..text.words import Word, split
from .counts import Counts, Slot, count


def compare(reference: str, output: str, *, case: bool = True, alphabet: Alphabet | None = None) -> Counts:
    """Score the output text of any system against a reference text."""
    return compare_words(split(reference, alphabet).words, split(output, alphabet).words, case=case)


def compare_words(reference: Sequence[Word], output: Sequence[Word], *, case: bool = True) -> Counts:
    """Score words with their labels.

    Words are compared in lower case; inserted, dropped and changed words are counted.  The slot of a changed word is
    scored, because it is still there; that of a dropped word counts as unmarked.
    """
    pairs: list[tuple[int, int | None]] = []
    inserted = dropped = changed = 0
    for code in Levenshtein.opcodes([word.normal for word in reference], [word.normal for word in output]):
        n_reference, n_output = code.src_end - code.src_start, code.dest_end - code.dest_start
        shared = min(n_reference, n_output)
        pairs += [(code.src_start + offset, code.dest_start + offset) for offset in range(shared)]
        pairs += [(index, None) for index in range(code.src_start + shared, code.src_end)]
        inserted += n_output - shared
        dropped += n_reference - shared
        changed += shared if code.tag == "replace" else 0
    wanted_slots = [_slot(reference[index], case) for index, _ in pairs]
    output_slots = [Slot("") if partner is None else _slot(output[partner], case) for _, partner in pairs]
    return replace(
        count(wanted_slots, output_slots),
        words=len(reference),
        words_changed=changed,
        words_inserted=inserted,
        words_dropped=dropped,
    )


def _slot(word: Word, case: bool) -> Slot:
    return Slot.of(word.label, word.core if case else None, word.opening)
