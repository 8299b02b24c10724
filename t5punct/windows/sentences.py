"""Where sentences begin, and which words get capitals there: one rule for whole texts and for streams.

In: a vote on a word, and whether a sentence begins with it.  Out: the vote, corrected accordingly.

A word that begins a sentence gets a capital.  Any other word loses a capital that only a sentence start would explain;
`I.e.` has one there only.  An opening quote may begin a sentence: `he said, "Go"`.  Behind `Inc.` and the like the next
word's case is all that shows whether a sentence ends.
A dash or an emoji does not begin a sentence: the word after it gets the capital, and it gets no second full stop.

>>> dash, hello = Word("-"), Word("hello")
>>> begins_next(True, dash, ""), begins_next(True, hello, ""), begins_next(False, hello, "?!")
(True, False, True)
"""

from __future__ import annotations

from dataclasses import replace

from ..text.marks import NO_LABEL, Alphabet, Case, case_of, ends_sentence
from ..text.spelling import is_lower_abbreviation, is_spoken, takes_capital
from ..text.words import Word
from .votes import Vote, normalise

_LONGEST_ACRONYM = 6  # letters
_QUOTES = ('"', "“", "„", "«", "‘")


def apply_sentence_position(vote: Vote, word: Word, begins: bool | None) -> Vote:
    """Return the vote, given whether a sentence begins with the word.

    None: that is not known, as at the start of a fragment and behind `Inc.`; then the vote stays as it is, as it does
    inside a sentence behind a quote.
    """
    if begins is None or (not begins and word.text.startswith(_QUOTES)):
        return vote
    core = word.core
    if not begins:
        if is_lower_abbreviation(core):
            return replace(vote, cases={Case.LOWER.value: 1.0})
        return vote if vote.inside is None else replace(vote, cases=vote.inside)
    if not is_spoken(word.text):
        left = {label: p for label, p in vote.labels.items() if p > 0.0 and not ends_sentence(label)}
        return replace(vote, labels=normalise(left) if left else {NO_LABEL: 1.0})
    if not takes_capital(core) or case_of(core) is Case.VERBATIM:
        return vote
    # lower case becomes capitalised; all capitals keep their probability, if it may be an acronym (NASA, UNESCO)
    is_short = len(core) <= _LONGEST_ACRONYM and not any(mark in core for mark in "'’")
    may_be_upper = is_short and not is_lower_abbreviation(core)
    upper = vote.cases.get(Case.UPPER.value, 0.0) if may_be_upper else 0.0
    return replace(vote, cases=normalise({Case.CAPITALISED.value: 1.0 - upper, Case.UPPER.value: upper}))


def begins_next(begins: bool | None, word: Word, label: str, alphabet: Alphabet | None = None) -> bool | None:
    """Return whether a sentence begins with the next word, given this word and its label; None: that is not known."""
    ends = word.ends_sentence(label, alphabet)
    return begins if ends is False and not is_spoken(word.text) else ends
