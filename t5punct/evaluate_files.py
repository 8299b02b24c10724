"""`t5punct evaluate`: a data file and a punctuator -> scores.

In: IWSLT rows or any punctuated text (one document a line).  Out: a `Report`, which `report` shows.

The reference's marks and capitals are taken off, the punctuator puts its own on, and the two are compared.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import __version__
from .errors import InputError
from .evaluation.counts import CLASS_MARKS, Counts, Slot, count
from .evaluation.scores import Scores, scores_of
from .evaluation.significance import Interval, interval
from .evaluation.text import compare_words
from .formats.files import source_lines
from .formats.iwslt import LABEL_OF_CLASS, JoinedWords, Row, is_named_iwslt, is_row, join_clitics, rows_of
from .punctuator import AlignmentCounts, Punctuator
from .votes import Decision
from .words import Word, split

_IWSLT_DOCUMENT_WORDS = 500  # an IWSLT file marks no talks; stretches of this length are drawn for intervals


@dataclass(frozen=True)
class Report:
    """Scores of one file, with the settings that gave them."""

    data: str
    scores: Scores
    micro_interval: Interval | None  # None where nothing is known of the spread
    counts: tuple[Counts, ...]  # one for each document
    seconds: float
    generated: AlignmentCounts | None  # what free generation did to the words, before alignment
    signature: str


def evaluate_file(path: str | Path, punctuator: Punctuator, *, max_words: int | None = None) -> Report:
    """Punctuate a file's words anew and score the result; a pipe will do, and `-` is standard input."""
    started = time.perf_counter()
    before = punctuator.alignment
    lines = source_lines(path)
    first = next(lines, "")
    lines = itertools.chain((first,), lines)  # a pipe is read once
    iwslt = is_named_iwslt(path) or is_row(first)
    if iwslt:
        documents = list(_iwslt_counts(rows_of(lines, str(path))[:max_words], punctuator))
    else:
        documents = list(_text_counts(lines, punctuator, max_words))
    if not documents:
        raise InputError(f"{path} holds no words", expected="punctuated text", fix="check the file")
    used_generate = punctuator.config.decoding.decoder == "generate"
    seconds = time.perf_counter() - started  # what follows is no part of the work that is timed
    scores = scores_of(sum(documents, Counts()))
    return Report(
        data=str(path),
        scores=scores,
        micro_interval=None if scores.micro.f1 is None else interval(documents),
        counts=tuple(documents),
        seconds=seconds,
        generated=punctuator.alignment - before if used_generate else None,
        signature=_signature(punctuator, iwslt, max_words),
    )


def _iwslt_counts(rows: tuple[Row, ...], punctuator: Punctuator) -> Iterator[Counts]:
    """Counts over the file's own rows, in stretches; the slot inside a joined word is O."""
    joined = join_clitics(rows)
    words = [Word(word) for word in joined.words]
    decided = list(punctuator.decisions(words))
    changes = _changes(words, decided, punctuator)
    labels = _row_labels(joined, [decision.label for decision in decided], len(rows))
    for start in range(0, len(rows), _IWSLT_DOCUMENT_WORDS):
        stretch = slice(start, start + _IWSLT_DOCUMENT_WORDS)
        reference = [Slot(LABEL_OF_CLASS[row.label_class]) for row in rows[stretch]]
        scored = count(reference, [Slot(label) for label in labels[stretch]])
        yield scored + Counts(words=len(reference)) + changes
        changes = Counts()  # counted for the whole file, and borne by its first stretch


def _changes(words: Sequence[Word], decided: Sequence[Decision], punctuator: Punctuator) -> Counts:
    """How the words differ in the text that the product would write."""
    alphabet = punctuator.model.task.alphabet
    pairs = zip(words, decided, strict=True)
    output = " ".join(punctuator.annotate_word(word, decision).text for word, decision in pairs)
    before = split(" ".join(word.text for word in words), alphabet).words
    kept = compare_words(before, split(output, alphabet).words, case=False)
    return Counts(
        words_changed=kept.words_changed, words_inserted=kept.words_inserted, words_dropped=kept.words_dropped
    )


def _row_labels(joined: JoinedWords, labels: list[str], n_rows: int) -> list[str]:
    found = [""] * n_rows
    for last, label in zip(joined.last_rows, labels, strict=True):
        found[last] = label
    return found


def _text_counts(lines: Iterable[str], punctuator: Punctuator, max_words: int | None) -> Iterator[Counts]:
    left = max_words
    for line in lines:
        found = split(line, punctuator.model.task.alphabet).words[:left]
        reference = [Word(word.core, word.label) for word in found]  # quotes and brackets are taken off as well
        if reference:
            bare = " ".join(word.text.lower() for word in reference)
            output = split(punctuator.punctuate(bare), punctuator.model.task.alphabet).words
            yield compare_words(reference, output, case=punctuator.config.render.case)
        if left is not None:
            left -= len(reference)
            if left <= 0:
                return


def _signature(punctuator: Punctuator, iwslt: bool, max_words: int | None) -> str:
    """The settings behind a score, so that two numbers can be told apart; what has its usual value is left out."""
    config, task = punctuator.config, punctuator.model.task
    windows, combine, decoding = config.windows, config.combine, config.decoding
    generates = decoding.decoder == "generate"
    parts = [
        "classes:" + ";".join(f"{name}={marks}" for name, marks in CLASS_MARKS.items()),
        f"words:{'iwslt-rows' if iwslt else 'text'}",
        f"max-words:{max_words}" if max_words is not None else "",
        f"decoder:{decoding.decoder}" + (f"{decoding.beams}|trust:{config.align.min_quality}" if generates else ""),
        f"style:{decoding.style or task.default_style}",
        f"marks:{decoding.marks}" if decoding.marks is not None else "",
        f"max-marks:{decoding.max_marks}" if decoding.max_marks is not None else "",
        f"precision:{decoding.precision}" if decoding.precision != "fp32" else "",
        "fragment" if config.fragment else "",
        f"w:{windows.window}|s:{windows.stride_words}|ml:{windows.mask_left}|mr:{windows.mask_right}",
        f"lead-in:{windows.lead_in}" if windows.lead_in else "",
        f"combine:{combine.method}" + (f">{combine.threshold}" if combine.method == "vote" else ""),
        f"model:{punctuator.model.name}",
        f"version:{__version__}",
    ]
    return "|".join(part for part in parts if part)
