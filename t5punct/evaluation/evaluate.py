"""`t5punct evaluate`: a data file and a punctuator -> scores.

In: IWSLT rows or any punctuated text (one document a line).  Out: a `Report`, which `score_table` shows.

The reference's marks and capitals are taken off, the punctuator puts on its own, and the two are compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .. import __version__
from ..config import check
from ..decoding.align import AlignmentCounts
from ..punctuator import Punctuator
from ..text.marks import Alphabet
from ..text.render import KEEP, MARK, REMOVE, AnnotatedWord
from ..windows.presets import Preset
from .counts import CLASS_MARKS, Counts
from .references import Reference, read_references
from .scores import Scores, scores_of
from .significance import Interval, interval

OnProgress = Callable[[int], None]  # called from time to time with how many words are decided by now


def ignore(n_words: int) -> None:
    """Tell nobody how many words are decided."""


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


def evaluate_file(
    path: str | Path, punctuator: Punctuator, *, max_words: int | None = None, on_progress: OnProgress = ignore
) -> Report:
    """Punctuate a file's words again and score the result; `path` may be a pipe, or `-` for standard input."""
    documents = references_for(punctuator, path, max_words)
    return evaluate(documents, punctuator, str(path), max_words=max_words, on_progress=on_progress)


def references_for(punctuator: Punctuator, path: str | Path, max_words: int | None) -> Iterator[Reference]:
    """Return the references of a file for what a punctuator writes: with the sign of disfluent words, without case."""
    return read_references(path, alphabet_of(punctuator), case=punctuator.config.render.case, max_words=max_words)


def evaluate(
    references: Iterable[Reference],
    punctuator: Punctuator,
    data: str,
    *,
    max_words: int | None = None,
    on_progress: OnProgress = ignore,
) -> Report:
    """Score references, one by one; `data` and `max_words` say where they are from."""
    started = time.perf_counter()
    strategy = Preset(punctuator.config.windows, punctuator.config.combine)
    before = punctuator.alignment
    documents = list[Counts]()
    units = "text"
    n_words = 0
    for reference in references:
        annotated = list[AnnotatedWord]()
        for _, words in punctuator.iter_parts([reference.words]):
            annotated += words
            on_progress(n_words + len(annotated))
        documents += reference.counts(annotated)
        units = reference.units
        n_words = n_words + len(annotated)
    seconds = time.perf_counter() - started  # the rest is not timed
    after = punctuator.alignment
    scores = scores_of(sum(documents, Counts()))
    return Report(
        data=data,
        scores=scores,
        micro_interval=None if scores.micro.f1 is None else interval(documents),
        counts=tuple(documents),
        seconds=seconds,
        generated=None if after is None or before is None else after - before,
        signature=f"{signature(punctuator, units, max_words)}|{strategy_signature(strategy)}",
    )


def alphabet_of(punctuator: Punctuator) -> Alphabet:
    """Return the marks of references: all of them, also those that the model does not know, and misses.

    With the sign of disfluent words if these are marked, as in the output.
    Raises ConfigError where they would be removed: what is gone cannot be scored.
    """
    alphabet = Alphabet().union(punctuator.model.task.alphabet)
    asked = punctuator.config.render.disfluencies
    check(asked != REMOVE, "scores of a text whose disfluencies are removed", expected="keep or mark", fix="mark them")
    return alphabet.signed if asked == MARK else alphabet


def signature(punctuator: Punctuator, units: str, max_words: int | None) -> str:
    """Return the settings behind a score, so that scores can be compared; most defaults are left out."""
    config = punctuator.config
    task = punctuator.model.task
    decoding = punctuator.config.decoding
    decoder = punctuator.decoding.decoder_for(punctuator.model)
    generates = decoder == "generate"
    odds = {} if generates else decoding.odds(task)
    longest = decoding.alphabet(task).max_marks
    precision = punctuator.model.precision
    parts = [
        "classes:" + ";".join(f"{name}={marks}" for name, marks in CLASS_MARKS.items()),
        f"words:{units}",
        f"max-words:{max_words}" if max_words is not None else "",
        f"decoder:{decoder}" + (f"{decoding.beams}|trust:{config.align.min_quality}" if generates else ""),
        f"delay:{decoding.delay_words}" if decoding.delay_words is not None else "",
        f"style:{decoding.style or task.default_style}",
        f"marks:{decoding.marks}" if decoding.marks is not None else "",
        f"max-marks:{longest}" if longest != task.max_marks else "",
        "mark-odds:" + " ".join(f"{mark}={value:g}" for mark, value in odds.items()) if odds else "",
        # what shares a batch counts as well where numbers are rough, see `precision`
        f"precision:{precision}" if precision != "fp32" else "",
        f"batch-tokens:{decoding.batch_tokens}" if precision == "bf16" else "",
        "fragment" if config.fragment else "",
        f"disfluencies:{config.render.disfluencies}" if config.render.disfluencies != KEEP else "",
        f"model:{punctuator.model.name}",
        f"version:{__version__}",
    ]
    return "|".join(part for part in parts if part)


def strategy_signature(strategy: Preset) -> str:
    """Return the settings of a window strategy."""
    windows, combine = strategy.windows, strategy.combine
    parts = [
        f"w:{windows.window}|s:{windows.stride_words}|ml:{windows.mask_left}|mr:{windows.mask_right}",
        f"lead-in:{windows.lead_in}" if windows.lead_in else "",
        f"combine:{combine.method}" + (f">{combine.threshold}" if combine.method == "vote" else ""),
    ]
    return "|".join(part for part in parts if part)
