"""`t5punct evaluate`: a data file and a punctuator -> scores.

In: IWSLT rows or any punctuated text (one document a line), whose words the punctuator gets without marks and capitals.
Out: a `Report`, which `score_table` shows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from .. import __version__
from ..config import check
from ..decoding.align import AlignmentCounts
from ..punctuator import Punctuator
from ..text.marks import Alphabet
from ..text.render import KEEP, MARK, REMOVE, AnnotatedWord
from .counts import CLASS_MARKS, Counts
from .references import Reference, read_references
from .scores import Scores, scores_of
from .significance import Interval, interval

OnProgress = Callable[[int], None]  # called from time to time with the number of words decided so far


@dataclass(frozen=True)
class Report:
    """Scores of one file, with the settings that gave them."""

    data: str
    scores: Scores
    micro_interval: Interval | None  # None for a single document, or if micro F1 is undefined
    counts: tuple[Counts, ...]  # one for each document
    seconds: float
    generated: AlignmentCounts | None  # what the decoder `generate` did to the words, before alignment
    signature: str  # the settings behind the scores


def evaluate_file(
    path: str | Path,
    punctuator: Punctuator,
    *,
    max_words: int | None = None,
    on_progress: OnProgress = lambda n_words: None,
) -> Report:
    """Punctuate the words of a file, a pipe, or `-` for standard input, and score the result."""
    has_case = punctuator.config.render.case
    documents = read_references(path, alphabet_of(punctuator), case=has_case, max_words=max_words)
    return evaluate(documents, punctuator, str(path), max_words=max_words, on_progress=on_progress)


def evaluate(
    references: Iterable[Reference],
    punctuator: Punctuator,
    data: str,
    *,
    max_words: int | None = None,
    on_progress: OnProgress = lambda n_words: None,
) -> Report:
    """Punctuate references and score the result.  data, max_words: what the report says of the references' origin."""
    started = time.perf_counter()
    alignment_before = punctuator.alignment  # of all texts so far; None if the model does not generate
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
        n_words += len(annotated)
    seconds = time.perf_counter() - started  # without the bootstrap below
    alignment = punctuator.alignment
    scores = scores_of(sum(documents, Counts()))
    return Report(
        data=data,
        scores=scores,
        micro_interval=None if scores.micro.f1 is None else interval(documents),
        counts=tuple(documents),
        seconds=seconds,
        generated=None if alignment is None or alignment_before is None else alignment - alignment_before,
        signature=signature(punctuator, units, max_words),
    )


def alphabet_of(punctuator: Punctuator) -> Alphabet:
    """Return the marks that references may have: the default ones, which the model may not know, and the model's.

    The alphabet has the sign of disfluent words if the punctuator marks them.
    Raises ConfigError if the punctuator removes disfluent words: what is gone cannot be scored.
    """
    alphabet = Alphabet().union(punctuator.model.task.alphabet)
    choice = punctuator.config.render.disfluencies
    check(choice != REMOVE, "scores of a text whose disfluencies are removed", expected="keep or mark", fix="mark them")
    return alphabet.signed if choice == MARK else alphabet


def signature(punctuator: Punctuator, units: str, max_words: int | None) -> str:
    """Return the settings behind a score, which scores that are compared must share.  Most defaults are left out."""
    config = punctuator.config
    task = punctuator.model.task
    decoding = config.decoding
    decoder = punctuator.decoding.decoder_for(punctuator.model)  # what `auto` means
    generates = decoder == "generate"
    odds = {} if generates else decoding.odds(task)
    max_marks = decoding.alphabet(task).max_marks
    precision = punctuator.model.precision
    windows = config.windows
    combine = config.combine
    parts = [
        "classes:" + ";".join(f"{name}={marks}" for name, marks in CLASS_MARKS.items()),
        f"words:{units}",
        f"max-words:{max_words}" if max_words is not None else "",
        f"decoder:{decoder}" + (f"{decoding.beams}|trust:{config.align.min_quality}" if generates else ""),
        f"delay:{decoding.delay_words}" if decoding.delay_words is not None else "",
        f"style:{decoding.style or task.default_style}",
        f"marks:{decoding.marks}" if decoding.marks is not None else "",
        f"max-marks:{max_marks}" if max_marks != task.max_marks else "",
        "mark-odds:" + " ".join(f"{mark}={value:g}" for mark, value in odds.items()) if odds else "",
        # in bf16, a result depends on what else is in its batch (`model.py`)
        f"precision:{precision}" if precision != "fp32" else "",
        f"batch-tokens:{decoding.batch_tokens}" if precision == "bf16" else "",
        "fragment" if config.fragment else "",
        f"disfluencies:{config.render.disfluencies}" if config.render.disfluencies != KEEP else "",
        f"model:{punctuator.model.name}",
        f"version:{__version__}",
        f"w:{windows.window}|s:{windows.stride_words}|ml:{windows.mask_left}|mr:{windows.mask_right}",
        f"lead-in:{windows.lead_in}" if windows.lead_in else "",
        f"combine:{combine.method}" + (f">{combine.threshold}" if combine.method == "vote" else ""),
    ]
    return "|".join(part for part in parts if part)
