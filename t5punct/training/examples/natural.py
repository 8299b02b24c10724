"""Natural disfluencies: those that people said and transcribers left in, found by rules in punctuated text.

In: the words of a chunk, with their marks.  Out: the same; words that an editor would leave out have the sign.

Hearings and podcasts keep `um` and `I I`.  If these had no sign, a model would learn that only our own insertions have
one.  The rules are narrow, since a word that is removed wrongly is worse than one that stays:

- sounds that are no words (`um`, `uh`);
- `you know`, `I mean` and `like` where commas set them off: `it was, like, late`, but not `I like it`, `you know him`;
- function words said twice, or pairs that begin with one, but for those that are said so on purpose (`had had`).

>>> said = [Written("i", "I", ","), Written("i", "I", ""), Written("like", "like", ""), Written("it", "it", ".")]
>>> [word.form + word.label for word in label_natural_disfluencies(said)]
['I~,', 'I', 'like', 'it.']
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...text.marks import DISFLUENT, ends_sentence
from .disfluencies import FUNCTION_WORDS
from .noise import Written

SOUNDS = frozenset(("um", "uh", "er", "erm", "uhm", "umm", "uhh"))
MARKERS = (("you", "know"), ("i", "mean"), ("like",))
SAID_TWICE_ON_PURPOSE = frozenset(("that", "had", "is", "was", "so", "do", "did", "her", "in", "on", "over"))
_LINKS = frozenset(("and", "or", "by", "to"))  # on and on and on
_LONGEST_REPETITION = 2  # words


def label_natural_disfluencies(words: Sequence[Written]) -> list[Written]:
    """Return the words; the label of each word that is to be left out begins with `DISFLUENT`."""
    places = set[int]()
    for place, word in enumerate(words):
        if word.read in SOUNDS:
            places.add(place)
        for n_words in range(1, _LONGEST_REPETITION + 1):
            if _is_said_twice(words[place : place + 2 * n_words], n_words):
                places.update(range(place, place + n_words))
        places.update(range(place, place + _marker_words(words, place)))
    return [
        replace(word, label=DISFLUENT + word.label) if place in places else word for place, word in enumerate(words)
    ]


def _is_said_twice(words: Sequence[Written], n_words: int) -> bool:
    """Whether the first half of some words is a slip of the tongue, which the second half repeats."""
    first, second = ([word.read for word in half] for half in (words[:n_words], words[n_words:]))
    if first != second or any(ends_sentence(word.label) for word in words[:n_words]):
        return False
    is_on_purpose = first[0] in SAID_TWICE_ON_PURPOSE if n_words == 1 else not _LINKS.isdisjoint(first)
    return first[0] in FUNCTION_WORDS and not is_on_purpose


def _marker_words(words: Sequence[Written], place: int) -> int:
    """How many words from a place on are a marker that commas set off; 0 if they are none."""
    is_set_off = bool(words[place - 1].label) if place else words[0].form != words[0].read
    for marker in MARKERS:
        said = words[place : place + len(marker)]
        is_marker = tuple(word.read for word in said) == marker
        if is_set_off and is_marker and said[-1].label == "," and not any(word.label for word in said[:-1]):
            return len(marker)
    return 0
