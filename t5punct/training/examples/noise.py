"""Recognition errors for training: words replaced, deleted and inserted at random (Alam 2020, section 3.3).

In: the words of a chunk as they are read and written.  Out: the same with errors; marks and capitals are as a
transcriber would set them in the faulty text.

>>> nothing_lost = NoiseConfig(share=1.0, substitute=1.0, delete=0.0, insert=0.0)
>>> of = Written("of", "of", "")
>>> words = [Written("we", "We", ""), Written("left", "left", ".")]
>>> [word.form + word.label for word in add_noise(words, nothing_lost, random.Random(1), lambda: of)]
['Of', 'of.']
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

from ...config import check_range
from ...errors import ConfigError
from ...text.marks import capitalise, ends_sentence
from ..labels import Taught


@dataclass(frozen=True)
class NoiseConfig:
    """How many examples get errors, and how likely each kind is at a word of such an example."""

    share: float = 0.0  # of all examples; 0 has none
    substitute: float = 0.05  # another word in its place
    delete: float = 0.03  # the word is missing
    insert: float = 0.03  # a word too many

    def __post_init__(self) -> None:
        check_range(self, "data.noise.", 0, *(field.name for field in fields(self)), most=1)
        if self.substitute + self.delete > 1:
            raise ConfigError(
                f"noise that substitutes {self.substitute} and deletes {self.delete}",
                expected="at most 1 together",
                fix="check data.noise",
            )


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
    opens = False  # whether a sentence lost its first word, and so its capital
    opening = ""  # the mark before a word that was lost
    for index, word in enumerate(words):
        starts = opens or (word.form != word.read and _starts(words, index))
        fate = rng.random()
        if fate < config.delete and len(words) > 1 and (heard or index + 1 < len(words)):
            if heard:
                last = heard[-1]
                goes_on = not last.label or (ends_sentence(word.label) and not ends_sentence(last.label))
                label = word.label if goes_on else last.label
                heard[-1] = replace(last, label=label, pause=max(last.pause, word.pause))
            opens = starts and not ends_sentence(word.label)
            opening = "" if ends_sentence(word.label) else opening or word.opening
            continue
        is_other = fate < config.delete + config.substitute
        said = replace(draw(), label=word.label, pause=word.pause) if is_other else word
        said = replace(said, opening=opening or word.opening)
        heard.append(replace(said, form=capitalise(said.form)) if starts else said)
        opens, opening = False, ""
        if not (word.label or word.pause) and rng.random() < config.insert:
            heard.append(replace(draw(), label="", pause=0, opening=""))
    return heard


def _starts(words: Sequence[Written], index: int) -> bool:
    return index == 0 or ends_sentence(words[index - 1].label)
