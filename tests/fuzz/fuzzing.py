"""What is fuzzed: a room is files of one kind, and what is checked of them; run small by tests and long by a script."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from chosen import Draw, draw
from hostile_files import ANYTHING, FILES, any_texts
from hostile_json import json_anything, json_files
from promises import BrokenPromise, Checked, check, check_annotate

from t5punct.punctuator import PunctuatorConfig
from t5punct.text.render import MARK, REMOVE, RenderConfig
from t5punct.windows.combine import METHODS, CombineConfig
from t5punct.windows.plan import WindowConfig

_RENDERS = (
    *(RenderConfig(), RenderConfig(case=False), RenderConfig(keep_case=True, alternatives=2)),
    *(RenderConfig(keep_marks=True), RenderConfig(disfluencies=MARK), RenderConfig(disfluencies=REMOVE)),
)
_PLANS = (WindowConfig(1), WindowConfig(4, overlap=2), WindowConfig(9, mask_left=2, mask_right=3))


def _text_and_config(rng: Random) -> tuple[str, PunctuatorConfig]:
    combine, is_fragment = CombineConfig(rng.choice(METHODS)), rng.random() < 0.5
    config = PunctuatorConfig(rng.choice(_PLANS), combine, render=rng.choice(_RENDERS), fragment=is_fragment)
    return draw(any_texts, rng), config


ROOMS: dict[str, tuple[Draw, Callable[[Any, int], Checked]]] = {
    **{name: (files, partial(check, name)) for name, files in {**FILES, "json": json_files}.items()},
    **{
        f"{name} of anything": (files, partial(check, name, is_hostile=True))
        for name, files in {**ANYTHING, "json": json_anything}.items()
    },
    "annotate": (_text_and_config, check_annotate),
}


@dataclass(slots=True)
class Fuzzed:
    """What became of a room's files.  failed: the shortest one that fails, and the seed of its decisions."""

    n_files: int = 0
    n_refused: int = 0
    n_words: int = 0
    n_changed: int = 0  # files in which more than marks and capitals changes
    n_tracebacks: int = 0
    seconds: float = 0.0  # of processor time
    failed: tuple[Any, int] | None = None
    error: Exception | None = None


def fuzz(room: str, n_files: int, seed: int = 0) -> Fuzzed:
    """Check so many files of a room."""
    file_of, checked = ROOMS[room]
    fuzzed, rng, begun = Fuzzed(), Random(seed), time.process_time()
    for _ in range(n_files):
        file, by_chance = draw(file_of, rng), rng.randrange(2**16)
        fuzzed.n_files += 1
        try:
            result = checked(file, by_chance)
        except Exception as error:  # of whatever kind: this is what is looked for
            fuzzed.n_changed += isinstance(error, BrokenPromise)
            fuzzed.n_tracebacks += not isinstance(error, BrokenPromise)
            if fuzzed.failed is None or len(str(file)) < len(str(fuzzed.failed[0])):
                fuzzed.failed, fuzzed.error = (file, by_chance), error
            continue
        fuzzed.n_words += result.n_words
        fuzzed.n_refused += result.is_refused
    fuzzed.seconds = time.process_time() - begun
    return fuzzed
