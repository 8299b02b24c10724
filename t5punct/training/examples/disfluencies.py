"""What is put into training text: recognition errors, and disfluencies, beside those that transcribers left in.

Errors (Alam 2020, section 3.3): words replaced, deleted and inserted at random; marks and capitals are as a transcriber
would set them in the faulty text.

Disfluencies (the kinds of Passali 2022, LARD, without its lexicon) have no marks, or the sign `DISFLUENT`:

- filler: `we um left`;
- repeat, phrase: `we we left`, `in the in the end`;
- repair: a phrase begun with another last word, and taken back: `on the car i mean on the bus`;
- restart: a filler, or the beginning of some other sentence, before a sentence: `did they we left`.

Hearings and podcasts keep `um` and `I I`, which get the sign too; else a model would learn that only our own insertions
have one.  The rules are narrow, since a word that is removed wrongly is worse than one that stays.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...config import check, check_range
from ...text.marks import DISFLUENT, NO_MARKS, capitalise, ends_sentence
from ...text.spelling import is_first_person
from ..labels import Taught

KINDS_OF_NOISE = ("substitute", "delete", "insert")
FILLERS = (("um",), ("uh",), ("er",), ("like",), ("you", "know"), ("i", "mean"))
# frequent words that are nobody's name: how they are written inside a sentence is known
_LISTED = """
    a an the this that these those my your his her its our their i you he she it we they who what when where how if and
    but or so because as at by for from in into of on over to with about there is was are were be been am do did does
    have has had can could would should it's that's there's i'm i've i'll you're he's she's we're we've they're not
"""
FUNCTION_WORDS = frozenset(_LISTED.split())
# what people say when they take words back; mostly nothing
_TAKING_BACK = ((), (), (), ("uh",), ("um",), ("i", "mean"), ("no",), ("sorry",), ("uh", "i", "mean"), ("or", "rather"))
_LONGEST_PHRASE = 3
_LONGEST_BEGINNING = 4
KINDS = ("repeat", "filler", "phrase", "repair", "restart")


@dataclass(frozen=True)
class NoiseConfig:
    """Recognition errors that are put into examples."""

    share: float = 0.0  # of all examples, those that get errors; 0 has none
    # how likely each kind is at a word of such an example: another word, no word, a word too many
    rates: dict[str, float] = field(default_factory=lambda: {"substitute": 0.05, "delete": 0.03, "insert": 0.03})

    def __post_init__(self) -> None:
        check_range(self, "data.noise.", 0, "share", most=1)
        object.__setattr__(self, "rates", rates_of_all("data.noise.rates", self.rates, KINDS_OF_NOISE))
        substitute, delete = self.rates["substitute"], self.rates["delete"]
        mistake = f"noise that substitutes {substitute} and deletes {delete}"
        check(substitute + delete <= 1, mistake, expected="at most 1 together", fix="check data.noise.rates")


def rates_of_all(name: str, rates: Mapping[str, float], kinds: Sequence[str]) -> dict[str, float]:
    """Return the rate of each kind, 0 where none is given.  Raises ConfigError for other kinds and impossible rates."""
    for kind, rate in rates.items():
        check(kind in kinds, f"{name}.{kind}", expected=f"one of {', '.join(kinds)}", fix=f"check {name}")
        check(0 <= rate <= 1, f"{name}.{kind} {rate}", expected="0 to 1", fix=f"set {name}.{kind}")
    return {kind: rates.get(kind, 0.0) for kind in kinds}


@dataclass(frozen=True, slots=True)
class Written:
    """A word of a chunk: as it is read, as the target writes it, the marks behind it, and whether a silence follows."""

    read: str
    form: str
    marks: str
    pause: int = 0
    taught: Taught | None = None  # what a teacher says of it
    opening: str = ""  # the mark before it, `¿` or `¡`


def add_noise(
    words: Sequence[Written], config: NoiseConfig, rng: random.Random, draw: Callable[[], Written]
) -> list[Written]:
    """Return the words with errors; at least one word is left.  `draw` gives the words that are put in.

    The marks and the pause of a deleted word go to the word before it.  If that word has marks already, it keeps them,
    unless the deleted word ended a sentence and it does not.  A sentence keeps its capital.
    """
    heard: list[Written] = []
    substitute, delete, insert = (config.rates[kind] for kind in KINDS_OF_NOISE)
    # what deleted words leave to the next word of their sentence
    owes_capital = False
    owed_opening = ""
    for index, word in enumerate(words):
        is_first = index == 0 or ends_sentence(words[index - 1].marks)
        has_capital = owes_capital or (is_first and word.form != word.read)
        is_only_one_left = not heard and index + 1 == len(words)
        fate = rng.random()
        if fate < delete and not is_only_one_left:
            if heard:
                last = heard[-1]
                takes_marks = not last.marks or (ends_sentence(word.marks) and not ends_sentence(last.marks))
                marks = word.marks if takes_marks else last.marks
                heard[-1] = replace(last, marks=marks, pause=max(last.pause, word.pause))
            # a sentence that is deleted to its end leaves nothing
            owes_capital = has_capital and not ends_sentence(word.marks)
            owed_opening = "" if ends_sentence(word.marks) else owed_opening or word.opening
            continue
        is_other = fate < delete + substitute  # so is the only one left, where it would be deleted
        said = replace(draw(), marks=word.marks, pause=word.pause) if is_other else word
        said = replace(said, opening=owed_opening or word.opening)
        heard.append(replace(said, form=capitalise(said.form)) if has_capital else said)
        owes_capital = False
        owed_opening = ""
        if not (word.marks or word.pause) and rng.random() < insert:
            heard.append(replace(draw(), marks="", pause=0, opening=""))
    return heard


@dataclass(frozen=True)
class DisfluencyConfig:
    """Disfluencies that are put into examples, and whether they have their sign."""

    share: float = 0.0  # of all examples, those that get disfluencies; 0 has none
    # how likely each kind is at a word of such an example: `repeat` a word said twice, `filler` um and others, `phrase`
    # two or three words said twice, `repair` words taken back and said otherwise, `restart` a sentence begun anew
    rates: dict[str, float] = field(default_factory=lambda: {"repeat": 0.02, "filler": 0.02})
    # of all examples, those whose disfluencies have their sign; 0: the model does not learn it.  Below 1, it also
    # learns which marks stand behind such words where nobody asks for the sign
    marked: float = 0.0

    def __post_init__(self) -> None:
        check_range(self, "data.disfluencies.", 0, "share", "marked", most=1)
        object.__setattr__(self, "rates", rates_of_all("data.disfluencies.rates", self.rates, KINDS))


def add_disfluencies(
    words: Sequence[Written],
    config: DisfluencyConfig,
    rng: random.Random,
    other_words: Sequence[Written] = (),
    sign: str = NO_MARKS,
) -> list[Written]:
    """Return the words with disfluencies, whose marks are `sign`; of `other_words`, some are said and taken back.

    If words are said twice, the second time has the marks.  The first word of a sentence is not repeated unless it is
    `I`, or one that is nobody's name where such words are known: we do not know how to write it again.  Fillers come
    after words without marks.
    """
    heard: list[Written] = []
    for index, word in enumerate(words):
        begins = index == 0 or ends_sentence(words[index - 1].marks)
        is_known = not begins or word.read == "i" or (config.marked > 0 and word.read in FUNCTION_WORDS)
        before = _before(words[index:], begins, config, rng, other_words)
        if not before and is_known and rng.random() < config.rates["repeat"]:
            before = [word]
        heard += [replace(said, marks=sign, pause=0) for said in before]
        if before and begins and not is_first_person(word.read):  # it stands inside a sentence now
            word = replace(word, form=word.read)  # noqa: PLW2901
        heard.append(word)
        if not (word.marks or word.pause) and rng.random() < config.rates["filler"]:
            heard += [replace(sound, marks=sign) for sound in _said(rng.choice(FILLERS))]
    return heard


def _before(
    words: Sequence[Written], begins: bool, config: DisfluencyConfig, rng: random.Random, other_words: Sequence[Written]
) -> list[Written]:
    """Return what is said and taken back, or said a first time, before the first of some words; mostly nothing."""
    first = words[0]
    rates = config.rates
    if first.read not in FUNCTION_WORDS:
        return []
    if begins:
        has_capital = first.form != first.read  # else the chunk begins inside a sentence
        return _beginning(rng, other_words) if has_capital and _happens(rates["restart"], rng) else []
    length = rng.randint(2, _LONGEST_PHRASE) if rates["phrase"] or rates["repair"] else 0
    phrase = list(words[:length])
    if not phrase or len(phrase) < length or any(word.marks or word.pause for word in phrase[:-1]):
        return []
    if _happens(rates["phrase"], rng):
        return phrase
    contents = [word for word in other_words if word.read not in FUNCTION_WORDS and word.read != first.read]
    if contents and _happens(rates["repair"], rng):
        return [*phrase[:-1], rng.choice(contents), *_said(rng.choice(_TAKING_BACK))]
    return []


def _beginning(rng: random.Random, other_words: Sequence[Written]) -> list[Written]:
    """Return a filler, or the first words of another sentence, as a sentence begins."""
    starts = [index for index in range(1, len(other_words)) if ends_sentence(other_words[index - 1].marks)]
    begun = _said(rng.choice(FILLERS))
    if starts and rng.random() < 0.5:
        start = rng.choice(starts)
        stop = start + rng.randint(1, _LONGEST_BEGINNING)
        begun = [other_words[start]]
        for word in other_words[start + 1 : stop]:
            if begun[0].marks or word.marks:  # it goes up to the first mark
                break
            begun.append(word)
    return [replace(begun[0], form=capitalise(begun[0].form)), *begun[1:]]


def _said(words: Sequence[str]) -> list[Written]:
    return [Written(word, "I" if word == "i" else word, NO_MARKS) for word in words]


def _happens(chance: float, rng: random.Random) -> bool:
    """Return whether an event happens; a rate of 0 draws no random number, so that nothing else changes."""
    return chance > 0 and rng.random() < chance


SOUNDS = frozenset(("um", "uh", "er", "erm", "uhm", "umm", "uhh"))
MARKERS = (("you", "know"), ("i", "mean"), ("like",))
SAID_TWICE_ON_PURPOSE = frozenset(("that", "had", "is", "was", "so", "do", "did", "her", "in", "on", "over"))
_LINKS = frozenset(("and", "or", "by", "to"))  # on and on and on
_LONGEST_REPETITION = 2  # words


def sign_natural_disfluencies(words: Sequence[Written]) -> list[Written]:
    """Return the words; the marks of each word that is to be left out begin with `DISFLUENT`."""
    left_out = set[int]()
    for index, word in enumerate(words):
        if word.read in SOUNDS:
            left_out.add(index)
        for n_words in range(1, _LONGEST_REPETITION + 1):
            if _is_said_twice(words[index : index + 2 * n_words], n_words):
                left_out.update(range(index, index + n_words))
        left_out.update(range(index, index + _count_marker_words(words, index)))
    return [
        replace(word, marks=DISFLUENT + word.marks) if index in left_out else word for index, word in enumerate(words)
    ]


def _is_said_twice(words: Sequence[Written], n_words: int) -> bool:
    """Return whether the first half of some words is a slip of the tongue, which the second half repeats."""
    first = [word.read for word in words[:n_words]]
    second = [word.read for word in words[n_words:]]
    if first != second or any(ends_sentence(word.marks) for word in words[:n_words]):
        return False
    is_on_purpose = first[0] in SAID_TWICE_ON_PURPOSE if n_words == 1 else not _LINKS.isdisjoint(first)
    return first[0] in FUNCTION_WORDS and not is_on_purpose


def _count_marker_words(words: Sequence[Written], index: int) -> int:
    """Return how many words from a place on are a marker that commas set off; 0 if they are none."""
    # a mark stands before it; before a chunk's first word none is known, but a capital shows that a sentence begins
    is_set_off = bool(words[index - 1].marks) if index else words[0].form != words[0].read
    for marker in MARKERS:
        said = words[index : index + len(marker)]
        is_marker = tuple(word.read for word in said) == marker
        if is_set_off and is_marker and said[-1].marks == "," and not any(word.marks for word in said[:-1]):
            return len(marker)
    return 0
