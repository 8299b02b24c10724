"""`t5punct evaluate`: a data file and a punctuator -> scores.

In: IWSLT rows or any punctuated text (one document a line).  Out: a `Report`, which `report` shows.

The reference's marks and capitals are taken off, the punctuator puts on its own, and the two are compared.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from .. import __version__
from ..decoding.align import AlignmentCounts
from ..punctuator import Punctuator
from ..windows.presets import Preset
from .counts import CLASS_MARKS, Counts
from .references import references
from .scores import Scores, scores_of
from .significance import Interval, interval


@dataclass(frozen=True)
class Report:
    """Scores of one file, with the settings that gave them."""

    data: str
    scores: Scores
    micro_interval: Interval | None  # None for a single document, or where there is no score
    counts: tuple[Counts, ...]  # one for each document
    seconds: float
    generated: AlignmentCounts | None  # what free generation did to the words, before alignment
    signature: str


def evaluate_file(path: str | Path, punctuator: Punctuator, *, max_words: int | None = None) -> Report:
    """Punctuate a file's words again and score the result; `path` may be a pipe, or `-` for standard input."""
    started = time.perf_counter()
    strategy = Preset(punctuator.config.windows, punctuator.config.combine)
    before, documents, units = punctuator.alignment, list[Counts](), "text"
    alphabet, case = punctuator.model.task.alphabet, punctuator.config.render.case
    for reference in references(path, alphabet, case=case, max_words=max_words):
        decided = punctuator.decisions(reference.words)
        documents += reference.counts(punctuator.written(reference.words, decided))
        units = reference.units
    seconds = time.perf_counter() - started  # the rest is not timed
    scores = scores_of(sum(documents, Counts()))
    return Report(
        data=str(path),
        scores=scores,
        micro_interval=None if scores.micro.f1 is None else interval(documents),
        counts=tuple(documents),
        seconds=seconds,
        generated=punctuator.alignment - before if punctuator.config.decoding.decoder == "generate" else None,
        signature=f"{signature(punctuator, units, max_words)}|{strategy_signature(strategy)}",
    )


def signature(punctuator: Punctuator, units: str, max_words: int | None) -> str:
    """The settings behind a score, so that scores can be compared; most settings are left out if they are defaults."""
    config, task, decoding = punctuator.config, punctuator.model.task, punctuator.config.decoding
    generates = decoding.decoder == "generate"
    odds = {} if generates else decoding.odds(task)
    longest, precision = decoding.alphabet(task).max_marks, punctuator.model.precision
    parts = [
        "classes:" + ";".join(f"{name}={marks}" for name, marks in CLASS_MARKS.items()),
        f"words:{units}",
        f"max-words:{max_words}" if max_words is not None else "",
        f"decoder:{decoding.decoder}" + (f"{decoding.beams}|trust:{config.align.min_quality}" if generates else ""),
        f"delay:{decoding.delay_words}" if decoding.delay_words is not None else "",
        f"style:{decoding.style or task.default_style}",
        f"marks:{decoding.marks}" if decoding.marks is not None else "",
        f"max-marks:{longest}" if longest != task.max_marks else "",
        "mark-odds:" + " ".join(f"{mark}={value:g}" for mark, value in odds.items()) if odds else "",
        # what shares a batch counts as well where numbers are rough, see `precision`
        f"precision:{precision}|batch-tokens:{decoding.batch_tokens}" if precision != "fp32" else "",
        "fragment" if config.fragment else "",
        f"model:{punctuator.model.name}",
        f"version:{__version__}",
    ]
    return "|".join(part for part in parts if part)


def strategy_signature(strategy: Preset) -> str:
    """The settings of a window strategy."""
    windows, combine = strategy.windows, strategy.combine
    parts = [
        f"w:{windows.window}|s:{windows.stride_words}|ml:{windows.mask_left}|mr:{windows.mask_right}",
        f"lead-in:{windows.lead_in}" if windows.lead_in else "",
        f"combine:{combine.method}" + (f">{combine.threshold}" if combine.method == "vote" else ""),
    ]
    return "|".join(part for part in parts if part)
