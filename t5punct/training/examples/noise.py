"""Recognition errors for training: words replaced, deleted and inserted at random (Alam 2020, section 3.3).

In: the words of a chunk as they are read and written.  Out: the same with errors; marks and capitals are as a
transcriber would set them in the faulty text.

>>> nothing_lost = NoiseConfig(share=1.0, rates={"substitute": 1.0})
>>> of = Written("of", "of", "")
>>> words = [Written("we", "We", ""), Written("left", "left", ".")]
>>> [word.form + word.label for word in add_noise(words, nothing_lost, random.Random(1), lambda: of)]
['Of', 'of.']
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...config import check_range
from ...errors import ConfigError
from ...text.marks import capitalise, ends_sentence
from ..labels import Taught

KINDS_OF_NOISE = ("substitute", "delete", "insert")


@dataclass(frozen=True)
class NoiseConfig:
    """Recognition errors that are put into examples."""

    share: float = 0.0  # of all examples, those that get errors; 0 has none
    # how likely each kind is at a word of such an example: another word, no word, a word too many
    rates: dict[str, float] = field(default_factory=lambda: {"substitute": 0.05, "delete": 0.03, "insert": 0.03})

    def __post_init__(self) -> None:
        check_range(self, "data.noise.", 0, "share", most=1)
        object.__setattr__(self, "rates", rates_of_all("data.noise.rates", self.rates, KINDS_OF_NOISE))
        if self.rates["substitute"] + self.rates["delete"] > 1:
            raise ConfigError(
                f"noise that substitutes {self.rates['substitute']} and deletes {self.rates['delete']}",
                expected="at most 1 together",
                fix="check data.noise.rates",
            )


def rates_of_all(name: str, rates: Mapping[str, float], kinds: Sequence[str]) -> dict[str, float]:
    """Return the rate of each kind, 0 where none is given.

    Raises ConfigError for a kind that does not exist, or a rate that is not 0 to 1.
    """
    for kind, rate in rates.items():
        if kind not in kinds:
            raise ConfigError(f"{name}.{kind}", expected=f"one of {', '.join(kinds)}", fix=f"check {name}")
        if not 0 <= rate <= 1:
            raise ConfigError(f"{name}.{kind} {rate}", expected="0 to 1", fix=f"set {name}.{kind}")
    return {kind: rates.get(kind, 0.0) for kind in kinds}


@dataclass(frozen=True, slots=True)
class Written:
    """A word of a chunk: as it is read, as the target writes it, its slot's label, and whether a silence follows."""

    read: str
    form: str
    label: str
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
    opens = False  # whether a sentence lost its first word, and so its capital
    opening = ""  # the mark before a word that was lost
    for index, word in enumerate(words):
        starts = opens or (word.form != word.read and _starts(words, index))
        fate = rng.random()
        if fate < delete and len(words) > 1 and (heard or index + 1 < len(words)):
            if heard:
                last = heard[-1]
                goes_on = not last.label or (ends_sentence(word.label) and not ends_sentence(last.label))
                label = word.label if goes_on else last.label
                heard[-1] = replace(last, label=label, pause=max(last.pause, word.pause))
            opens = starts and not ends_sentence(word.label)
            opening = "" if ends_sentence(word.label) else opening or word.opening
            continue
        is_other = fate < delete + substitute
        said = replace(draw(), label=word.label, pause=word.pause) if is_other else word
        said = replace(said, opening=opening or word.opening)
        heard.append(replace(said, form=capitalise(said.form)) if starts else said)
        opens, opening = False, ""
        if not (word.label or word.pause) and rng.random() < insert:
            heard.append(replace(draw(), label="", pause=0, opening=""))
    return heard


def _starts(words: Sequence[Written], index: int) -> bool:
    return index == 0 or ends_sentence(words[index - 1].label)
