"""Recognition errors and disfluencies that are put into training text, and the sign of disfluent words.

Errors (Alam 2020, section 3.3) are words replaced, deleted and inserted at random; marks and capitals are as a
transcriber would set them in the faulty text.

Disfluencies (the kinds of Passali 2022, LARD, without its lexicon) have no marks, or the sign `DISFLUENT`:

- filler: `we um left`;
- repeat, phrase: `we we left`, `in the in the end`;
- repair: a phrase with another last word, which is taken back: `on the car i mean on the bus`;
- restart: a filler, or the beginning of some other sentence, before a sentence: `did they we left`.

Transcripts of hearings keep `um` and `I I`.  These get the sign too, or a model would learn that only our insertions
have one.  The rules for them are narrow, since it is worse to remove a word wrongly than to leave one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from ...config import check, check_range
from ...text.marks import DISFLUENT, NO_MARKS, capitalise, ends_sentence
from ...text.spelling import is_first_person
from ..labels import WordLabel

KINDS_OF_NOISE = ("substitute", "delete", "insert")
FILLERS = (("um",), ("uh",), ("er",), ("like",), ("you", "know"), ("i", "mean"))
# frequent words that are nobody's name: how they are written inside a sentence is known
_LISTED = """
    a an the this that these those my your his her its our their i you he she it we they who what when where how if and
    but or so because as at by for from in into of on over to with about there is was are were be been am do did does
    have has had can could would should it's that's there's i'm i've i'll you're he's she's we're we've they're not
"""
FUNCTION_WORDS = frozenset(_LISTED.split())
# what people say when they take words back; in a repair it is nothing in three of ten cases
_TAKING_BACK = ((), (), (), ("uh",), ("um",), ("i", "mean"), ("no",), ("sorry",), ("uh", "i", "mean"), ("or", "rather"))
_LONGEST_PHRASE = 3  # words
_LONGEST_BEGINNING = 4  # words
KINDS = ("repeat", "filler", "phrase", "repair", "restart")


@dataclass(frozen=True)
class NoiseConfig:
    """Recognition errors that are put into examples."""

    share: float = 0.0  # of all examples, those that get errors; 0: none
    # how likely each kind is at a word of such an example
    rates: dict[str, float] = field(default_factory=lambda: {"substitute": 0.05, "delete": 0.03, "insert": 0.03})

    def __post_init__(self) -> None:
        check_range(self, "share", least=0, most=1, section="data.noise.")
        object.__setattr__(self, "rates", rates_of_all("data.noise.rates", self.rates, KINDS_OF_NOISE))


def rates_of_all(name: str, rates: Mapping[str, float], kinds: Sequence[str]) -> dict[str, float]:
    """Return the rate of each kind, 0 if `rates` has none.  Raises ConfigError for other kinds and impossible rates."""
    for kind, rate in rates.items():
        check(kind in kinds, f"{name}.{kind}", expected=f"one of {', '.join(kinds)}", fix=f"check {name}")
        check(0 <= rate <= 1, f"{name}.{kind} {rate}", expected="0 to 1", fix=f"set {name}.{kind}")
    return {kind: rates.get(kind, 0.0) for kind in kinds}


@dataclass(frozen=True, slots=True)
class ChunkWord:
    read: str  # as it is in the source
    form: str  # as it is in the target
    marks: str  # behind it
    pause: int = 0  # the silence behind it: 0 for none, else 1 + its index in `PAUSES`
    label: WordLabel | None = None  # a teacher's
    opening: str = ""  # the mark before it, `¿` or `¡`


def add_noise(
    words: Sequence[ChunkWord], config: NoiseConfig, rng: random.Random, draw: Callable[[], ChunkWord]
) -> list[ChunkWord]:
    """Return the words with errors; at least one word is left.  `draw` returns a word to put in.

    A deleted word leaves its pause to the word before it.  It leaves its marks too if that word has none, or if they
    end a sentence and those of that word do not.  It leaves its capital and opening mark to the next word.
    """
    heard: list[ChunkWord] = []
    substitute, delete, insert = (config.rates[kind] for kind in KINDS_OF_NOISE)
    # what deleted words have left to the next word of their sentence
    owes_capital = False
    owed_opening = ""
    for index, word in enumerate(words):
        begins_sentence = index == 0 or ends_sentence(words[index - 1].marks)
        has_capital = owes_capital or (begins_sentence and word.form != word.read)
        must_stay = not heard and index + 1 == len(words)  # the last word, and all others were deleted
        chance = rng.random()
        if chance < delete and not must_stay:
            if heard:
                last = heard[-1]
                takes_marks = not last.marks or (ends_sentence(word.marks) and not ends_sentence(last.marks))
                marks = word.marks if takes_marks else last.marks
                heard[-1] = replace(last, marks=marks, pause=max(last.pause, word.pause))
            # behind the end of a sentence, its capital and opening mark are gone
            owes_capital = has_capital and not ends_sentence(word.marks)
            owed_opening = "" if ends_sentence(word.marks) else owed_opening or word.opening
            continue
        is_substituted = chance < delete + substitute  # also a word that must stay where it would be deleted
        spoken = replace(draw(), marks=word.marks, pause=word.pause) if is_substituted else word
        spoken = replace(spoken, opening=owed_opening or word.opening)
        heard.append(replace(spoken, form=capitalise(spoken.form)) if has_capital else spoken)
        owes_capital = False
        owed_opening = ""
        if not (word.marks or word.pause) and rng.random() < insert:
            heard.append(replace(draw(), marks="", pause=0, opening=""))
    return heard


@dataclass(frozen=True)
class DisfluencyConfig:
    """Disfluencies that are put into examples, and whether they have their sign."""

    share: float = 0.0  # of all examples, those that get disfluencies; 0: none
    # how likely each kind is at a word of such an example: `repeat`, a word said twice; `filler`, um and others;
    # `phrase`, two or three words said twice; `repair`, words taken back and said otherwise; `restart`, a sentence
    # begun anew
    rates: dict[str, float] = field(default_factory=lambda: {"repeat": 0.02, "filler": 0.02})
    # of all examples, those whose disfluencies have their sign; 0: the model does not learn it.  Below 1, it also
    # learns the marks behind disfluent words, for users who do not ask for the sign
    marked: float = 0.0

    def __post_init__(self) -> None:
        check_range(self, "share", "marked", least=0, most=1, section="data.disfluencies.")
        object.__setattr__(self, "rates", rates_of_all("data.disfluencies.rates", self.rates, KINDS))


def add_disfluencies(
    words: Sequence[ChunkWord],
    config: DisfluencyConfig,
    rng: random.Random,
    other_words: Sequence[ChunkWord] = (),
    sign: str = NO_MARKS,
) -> list[ChunkWord]:
    """Return the words with disfluencies, each word of which has the marks `sign`.  other_words: of another chunk.

    A disfluency stands before a word: the same word, a phrase, a repair or a restart.  Or it is a filler behind a word
    that neither marks nor a silence follow.
    """
    heard: list[ChunkWord] = []
    for index, word in enumerate(words):
        begins_sentence = index == 0 or ends_sentence(words[index - 1].marks)
        before = _disfluency_before(words[index:], begins_sentence, config.rates, rng, other_words)
        # the word would lose its capital to its repetition, so it must be known to be no name
        loses_no_name = word.read == "i" or (config.marked > 0 and word.read in FUNCTION_WORDS)
        can_repeat = not begins_sentence or loses_no_name
        if not before and can_repeat and rng.random() < config.rates["repeat"]:
            before = [word]
        heard += [replace(spoken, marks=sign, pause=0) for spoken in before]
        has_lost_capital = before and begins_sentence and not is_first_person(word.read)
        heard.append(replace(word, form=word.read) if has_lost_capital else word)
        if not (word.marks or word.pause) and rng.random() < config.rates["filler"]:
            heard += [replace(sound, marks=sign) for sound in _as_written(rng.choice(FILLERS))]
    return heard


def _disfluency_before(
    words: Sequence[ChunkWord], begins_sentence: bool, rates: Mapping[str, float], rng: random.Random,
    other_words: Sequence[ChunkWord],
) -> list[ChunkWord]:  # fmt: skip
    """Return the words of a restart, a phrase or a repair before the first of some words; mostly none."""
    first = words[0]
    if first.read not in FUNCTION_WORDS:
        return []
    if begins_sentence:
        has_capital = first.form != first.read  # if not, the chunk begins inside a sentence
        return _false_start(rng, other_words) if has_capital and _happens(rates["restart"], rng) else []
    if not (rates["phrase"] or rates["repair"]):  # no random number is drawn, so that other draws stay the same
        return []
    length = rng.randint(2, _LONGEST_PHRASE)
    phrase = list(words[:length])
    if len(phrase) < length or any(word.marks or word.pause for word in phrase[:-1]):
        return []
    if _happens(rates["phrase"], rng):
        return phrase
    # words that may have been said by mistake in place of the phrase's last one
    mistaken = [word for word in other_words if word.read not in FUNCTION_WORDS and word.read != first.read]
    if mistaken and _happens(rates["repair"], rng):
        return [*phrase[:-1], rng.choice(mistaken), *_as_written(rng.choice(_TAKING_BACK))]
    return []


def _false_start(rng: random.Random, other_words: Sequence[ChunkWord]) -> list[ChunkWord]:
    """Return a filler, or the beginning of another sentence before its first word with marks, with a capital.

    A sentence's first word is taken even if it has marks.
    """
    spoken = _as_written(rng.choice(FILLERS))  # drawn even if it is not used, as the order of draws must not change
    starts = [index for index in range(1, len(other_words)) if ends_sentence(other_words[index - 1].marks)]
    if starts and rng.random() < 0.5:
        start = rng.choice(starts)
        first, *others = other_words[start : start + rng.randint(1, _LONGEST_BEGINNING)]
        spoken = [first] if first.marks else [first, *takewhile(lambda word: not word.marks, others)]
    return [replace(spoken[0], form=capitalise(spoken[0].form)), *spoken[1:]]


def _as_written(words: Sequence[str]) -> list[ChunkWord]:
    return [ChunkWord(word, "I" if word == "i" else word, NO_MARKS) for word in words]


def _happens(rate: float, rng: random.Random) -> bool:
    # a rate of 0 draws no random number, so that other draws stay the same
    return rate > 0 and rng.random() < rate


SOUNDS = frozenset(("um", "uh", "er", "erm", "uhm", "umm", "uhh"))
MARKERS = (("you", "know"), ("i", "mean"), ("like",))
SAID_TWICE_ON_PURPOSE = frozenset(("that", "had", "is", "was", "so", "do", "did", "her", "in", "on", "over"))
_LINKS = frozenset(("and", "or", "by", "to"))  # on and on and on


def sign_natural_disfluencies(words: Sequence[ChunkWord]) -> list[ChunkWord]:
    """Return the words; fillers, repetitions and markers among them have the sign before their marks."""
    left_out = set[int]()  # the indices of those
    for index, word in enumerate(words):
        if word.read in SOUNDS:
            left_out.add(index)
        for n_words in (1, 2):
            if _is_said_twice(words[index : index + 2 * n_words], n_words):
                left_out.update(range(index, index + n_words))
        left_out.update(range(index, index + _count_marker_words(words, index)))
    return [
        replace(word, marks=DISFLUENT + word.marks) if index in left_out else word for index, word in enumerate(words)
    ]


def _is_said_twice(words: Sequence[ChunkWord], n_words: int) -> bool:
    """Return whether `2 * n_words` words are `n_words` words said twice by mistake; False if there are fewer."""
    spoken = [word.read for word in words[:n_words]]
    spoken_again = [word.read for word in words[n_words:]]
    if spoken != spoken_again or any(ends_sentence(word.marks) for word in words[:n_words]):
        return False
    is_on_purpose = spoken[0] in SAID_TWICE_ON_PURPOSE if n_words == 1 else not _LINKS.isdisjoint(spoken)
    return spoken[0] in FUNCTION_WORDS and not is_on_purpose


def _count_marker_words(words: Sequence[ChunkWord], index: int) -> int:
    """Return the length of the marker that begins at an index, if marks set it off; 0 if there is none."""
    # what is before a chunk's first word is not known, but a capital shows that a sentence begins
    is_set_off = bool(words[index - 1].marks) if index else words[0].form != words[0].read
    for marker in MARKERS:
        spoken = words[index : index + len(marker)]
        is_marker = tuple(word.read for word in spoken) == marker
        if is_set_off and is_marker and spoken[-1].marks == "," and not any(word.marks for word in spoken[:-1]):
            return len(marker)
    return 0
