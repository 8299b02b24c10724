"""Disfluencies for training: words said twice and fillers, which people say and training transcripts leave out.

In: the words of a chunk as they are read and written.  Out: the same with disfluencies, which have no marks.

>>> words = [Written("i", "I", ""), Written("see", "see", ".")]
>>> heard = disfluent(words, DisfluencyConfig(share=1.0, repeat=1.0, filler=0.0), random.Random(1))
>>> [word.form + word.label for word in heard]
['I', 'I', 'see', 'see.']
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..errors import ConfigError
from ..text.marks import ends_sentence
from .noise import Written

FILLERS = (("um",), ("uh",), ("er",), ("like",), ("you", "know"), ("i", "mean"))


@dataclass(frozen=True)
class DisfluencyConfig:
    """How many examples get disfluencies, and how likely each kind is after a word of such an example."""

    share: float = 0.0  # of all examples; 0 has none
    repeat: float = 0.02
    filler: float = 0.02

    def __post_init__(self) -> None:
        values = (self.share, self.repeat, self.filler)
        if not all(0 <= value <= 1 for value in values):
            raise ConfigError(
                f"disfluencies with the values {', '.join(map(str, values))}",
                expected="share, repeat, filler of 0 to 1",
                fix="check data.disfluencies",
            )


def disfluent(words: Sequence[Written], config: DisfluencyConfig, rng: random.Random) -> list[Written]:
    """The words with disfluencies.

    If a word is said twice, the second one gets the marks.  The first word of a sentence is not repeated (except `I`):
    we do not know whether it is a name, and so how to write it again.  Fillers come after words without marks.
    """
    heard: list[Written] = []
    for index, word in enumerate(words):
        begins = index == 0 or ends_sentence(words[index - 1].label)
        if (not begins or word.read == "i") and rng.random() < config.repeat:
            heard.append(replace(word, label="", pause=False))
        heard.append(word)
        if not (word.label or word.pause) and rng.random() < config.filler:
            heard += [Written(one, "I" if one == "i" else one, "") for one in rng.choice(FILLERS)]
    return heard
