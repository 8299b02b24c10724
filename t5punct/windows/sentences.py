"""Where sentences begin, and which words get capitals there: one rule for whole texts and for streams.

In: a vote on a word, and whether a sentence begins with it.  Out: the vote, corrected accordingly.

A word that begins a sentence gets a capital.  Any other word loses a capital that only a sentence start would explain;
`I.e.` has one there only.  An opening quote may begin a sentence: `he said, "Go"`.  Behind `Inc.` and the like the next
word's case is all that shows whether a sentence ends.
A dash or an emoji does not begin a sentence: the word after it gets the capital, and it gets no mark, as the one
before it has ended a sentence.

>>> dash, hello = Word("-"), Word("hello")
>>> begins_next(True, dash, ""), begins_next(True, hello, ""), begins_next(False, hello, "?!")
(True, False, True)
"""

from __future__ import annotations

from dataclasses import replace

from ..text.marks import NO_LABEL, Alphabet, Case, case_of
from ..text.spelling import can_be_acronym, is_lower_abbreviation, is_spoken, takes_capital
from ..text.words import Word
from .votes import Distribution, Vote, begin_sentence, continue_sentence

_QUOTES = ('"', "“", "„", "«", "‘")


def apply_sentence_position(vote: Vote, word: Word, begins: bool | None) -> Vote:
    """Return the vote, given whether a sentence begins with the word.

    None: that is not known, as at the start of a fragment and behind `Inc.`; then the vote stays as it is, as it does
    inside a sentence behind a quote.
    """
    if begins is None or (not begins and word.text.startswith(_QUOTES)):
        return vote
    if not begins:
        vote = continue_sentence(vote)
        is_lower = is_lower_abbreviation(word.core)
        return replace(vote, cases=Distribution.certain(Case.LOWER.value)) if is_lower else vote
    if not is_spoken(word.text):
        return replace(vote, labels=Distribution.certain(NO_LABEL))
    if not takes_capital(word.core) or case_of(word.core) is Case.VERBATIM:
        return vote
    return begin_sentence(vote, may_be_upper=can_be_acronym(word.core) and not is_lower_abbreviation(word.core))


def begins_next(begins: bool | None, word: Word, label: str, alphabet: Alphabet | None = None) -> bool | None:
    """Return whether a sentence begins with the next word, given this word and its label; None: that is not known."""
    ends = word.ends_sentence(label, alphabet)
    return begins if ends is False and not is_spoken(word.text) else ends
