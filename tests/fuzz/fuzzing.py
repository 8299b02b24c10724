"""What is fuzzed: a room is files of one kind, and what is checked of them; run small by tests and long by a script."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import hypothesis
from hostile_files import ANYTHING, FILES, any_texts
from hostile_json import json_anything, json_files
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from promises import Checked, check, check_annotate

from t5punct.punctuator import PunctuatorConfig
from t5punct.text.render import MARK, REMOVE, RenderConfig
from t5punct.windows.combine import METHODS, CombineConfig
from t5punct.windows.plan import WindowConfig

_renders = st.sampled_from(
    [
        *(RenderConfig(), RenderConfig(case=False), RenderConfig(keep_case=True, alternatives=2)),
        *(RenderConfig(keep_marks=True), RenderConfig(disfluencies=MARK), RenderConfig(disfluencies=REMOVE)),
    ]
)
_plans = st.sampled_from([WindowConfig(1), WindowConfig(4, overlap=2), WindowConfig(9, mask_left=2, mask_right=3)])
_configs = st.builds(
    PunctuatorConfig, _plans, st.sampled_from(METHODS).map(CombineConfig), render=_renders, fragment=st.booleans()
)
ROOMS: dict[str, tuple[st.SearchStrategy[Any], Callable[[Any, int], Checked]]] = {
    **{name: (files, partial(check, name)) for name, files in {**FILES, "json": json_files}.items()},
    **{
        f"{name} of anything": (files, partial(check, name, is_hostile=True))
        for name, files in {**ANYTHING, "json": json_anything}.items()
    },
    "annotate": (st.tuples(any_texts, _configs), check_annotate),
}


@dataclass(slots=True)
class Fuzzed:
    """What became of a room's files.  failed: the smallest one that fails, its seed, and why."""

    n_files: int = 0
    n_refused: int = 0
    n_words: int = 0
    failed: tuple[Any, int] | None = None
    error: Exception | None = None


def fuzz(room: str, n_files: int, seed: int = 0) -> Fuzzed:
    """Check so many files of a room, up to the first that fails, which is made as small as it can be."""
    files, checked = ROOMS[room]
    fuzzed = Fuzzed()

    @hypothesis.seed(seed)
    @settings(
        max_examples=n_files,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[Phase.generate, Phase.shrink],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(files, st.integers(0, 2**16))
    def every_file(file: Any, by_chance: int) -> None:
        fuzzed.failed = file, by_chance  # hypothesis tries the smallest last
        result = checked(file, by_chance)
        fuzzed.failed = None
        fuzzed.n_files, fuzzed.n_words = fuzzed.n_files + 1, fuzzed.n_words + result.n_words
        fuzzed.n_refused += result.is_refused

    try:
        every_file()
    except Exception as error:  # of whatever kind: this is what is looked for
        fuzzed.error = error
    return fuzzed
