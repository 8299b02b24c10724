"""The votes of windows on slots, and how they change where a sentence begins or ends.

In: a `Vote` of a decoder or of the alignment, and whether a sentence begins with its word.  Out: a `Vote` that fits.

- A word that begins a sentence gets a capital.
- Any other word loses a capital that only the start of a sentence would explain; `I.e.` becomes `i.e.`.
- An opening quote may begin a sentence inside another: `he said, "Go"`.
- Behind `Inc.` and the like only the next word's case shows whether the sentence has ended.
- A dash, an emoji or the Dutch `'t` hands the capital on to the next word.  Where a sentence has just ended, a dash or
  an emoji gets no mark.

>>> dash, hello = Word("-"), Word("hello")
>>> begins_next(True, dash, ""), begins_next(True, hello, ""), begins_next(False, hello, "?!")
(True, False, True)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..text.marks import DISFLUENT, NO_MARKS, OTHER_SCRIPTS, Alphabet, Case, case_of, ends_sentence
from ..text.spelling import is_clitic, is_lower_abbreviation, is_spoken, takes_capital
from ..text.words import QUOTES, Word

Distribution = Mapping[str, float]  # outcome -> probability, in order of first mention; they sum to 1
_LONGEST_ACRONYM = 6  # letters
_OPEN_SPEECH = (*QUOTES, "‘")


@dataclass(frozen=True, slots=True)
class Vote:
    """One window's distributions over the marks of a slot and the case of the word before it."""

    marks: Distribution
    cases: Distribution  # outcomes are `Case` values
    weight: float = 1.0  # how much the vote counts; 0 where an alignment failed
    left_words: int = 0  # words of the window before this slot's word
    right_words: int = 0  # words of the window after it: the lookahead the vote was made with
    # where a sentence may begin with the word: its case if none does
    inside: Distribution | None = None
    openings: Distribution | None = None  # of the opening mark before the word; None: the model knows none


def normalise(weights: Mapping[str, float]) -> dict[str, float]:
    """Return non-negative weights as a distribution; all zero weights give equal shares."""
    total = sum(weights.values())
    if total <= 0.0:
        return dict.fromkeys(weights, 1.0 / len(weights))
    return {outcome: weight / total for outcome, weight in weights.items()}


def most_probable(distribution: Distribution) -> str:
    """Return the most probable outcome; of equals, the one mentioned first."""
    return max(distribution, key=distribution.__getitem__)


def entropy(distribution: Distribution) -> float:
    """Return Shannon's entropy in nats."""
    return -sum(p * math.log(p) for p in distribution.values() if p > 0.0) or 0.0  # no -0.0


def end_sentence(vote: Vote, marks: str) -> Vote:
    """Return the vote on a slot where a sentence must end: only marks that end it, or a full stop if there are none.

    marks: those that may be written.  If no full stop of any script is among them, the vote stays as it is: a statement
    does not end with `?`.
    """
    stop = next((mark for mark in marks if OTHER_SCRIPTS.get(mark, mark) == "."), None)
    if stop is None:
        return vote
    chances = dict(vote.marks)
    if DISFLUENT in chances:  # `um~` becomes `um~.`
        ended = DISFLUENT + stop
        chances[ended] = chances.get(ended, 0.0) + chances.pop(DISFLUENT)
        chances = normalise(chances)
    ends = [mark for mark in marks if ends_sentence(mark)]
    ending = {written: p for written, p in chances.items() if p > 0.0 and any(mark in written for mark in ends)}
    return replace(vote, marks=normalise(ending) if ending else {stop: 1.0})


def apply_sentence_position(vote: Vote, word: Word, begins: bool | None) -> Vote:
    """Return the vote on a word, given whether a sentence begins with it.

    None: that is not known; then the vote stays as it is.  So does that on a word with a quote before it.
    """
    if begins is None or (not begins and word.text.startswith(_OPEN_SPEECH)):
        return vote
    core = word.core
    if is_clitic(core) or (not begins and is_lower_abbreviation(core)):
        return replace(vote, cases={Case.LOWER.value: 1.0})
    if not begins:
        return vote if vote.inside is None else replace(vote, cases=vote.inside)
    if not is_spoken(word.text):  # a dash behind a sentence's end: the sentence begins with the word behind it
        return replace(vote, marks={NO_MARKS: 1.0})
    if not takes_capital(core) or case_of(core) is Case.VERBATIM:
        return vote
    # lower case becomes capitalised; all capitals keep their probability, if it may be an acronym (NASA, UNESCO)
    is_short = len(core) <= _LONGEST_ACRONYM and not any(mark in core for mark in "'’")
    may_be_upper = is_short and not is_lower_abbreviation(core)
    upper = vote.cases.get(Case.UPPER.value, 0.0) if may_be_upper else 0.0
    return replace(vote, cases=normalise({Case.CAPITALISED.value: 1.0 - upper, Case.UPPER.value: upper}))


def begins_next(begins: bool | None, word: Word, marks: str, alphabet: Alphabet | None = None) -> bool | None:
    """Return whether a sentence begins with the next word, given whether one begins with this word, and its marks."""
    ends = word.ends_sentence(marks, alphabet)
    if ends is False and (not is_spoken(word.text) or is_clitic(word.core)):  # it hands its capital on
        return begins
    return ends
