"""`t5punct evaluate`: a data file and a punctuator -> scores.

In: an IWSLT file or any punctuated text (one document a line).  Out: a `Report`, which `report` shows.

The reference's marks and capitals are taken off, the punctuator puts its own on, and the two are compared.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import __version__
from .errors import InputError
from .evaluation.counts import CLASS_MARKS, Counts, Slot, count
from .evaluation.scores import Scores, scores_of
from .evaluation.significance import Interval, interval
from .evaluation.text import compare_words
from .formats.files import read_lines
from .formats.iwslt import LABEL_OF_CLASS, JoinedWords, Row, is_iwslt, join_clitics, read_rows
from .punctuator import AlignmentCounts, Punctuator
from .words import Word, split

_IWSLT_DOCUMENT_WORDS = 500  # an IWSLT file marks no talks; stretches of this length are drawn for intervals


@dataclass(frozen=True)
class Report:
    """Scores of one file, with the settings that gave them."""

    data: str
    scores: Scores
    micro_interval: Interval
    counts: tuple[Counts, ...]  # one for each document
    seconds: float
    generated: AlignmentCounts | None  # what free generation did to the words, before alignment
    signature: str


def evaluate_file(path: str | Path, punctuator: Punctuator, *, max_words: int | None = None) -> Report:
    """Punctuate a file's words anew and score the result."""
    started = time.perf_counter()
    before = punctuator.alignment
    iwslt = is_iwslt(path)
    if iwslt:
        documents = list(_iwslt_counts(read_rows(path)[:max_words], punctuator))
    else:
        documents = list(_text_counts(path, punctuator, max_words))
    if not documents:
        raise InputError(f"{path} holds no words", expected="punctuated text", fix="check the file")
    used_generate = punctuator.config.decoding.decoder == "generate"
    total = sum(documents, Counts())
    return Report(
        data=str(path),
        scores=scores_of(total),
        micro_interval=interval(documents),
        counts=tuple(documents),
        seconds=time.perf_counter() - started,
        generated=_since(punctuator.alignment, before) if used_generate else None,
        signature=_signature(punctuator, iwslt),
    )


def _iwslt_counts(rows: tuple[Row, ...], punctuator: Punctuator) -> Iterator[Counts]:
    """Counts over the file's own rows, in stretches; the slot inside a joined word is O."""
    joined = join_clitics(rows)
    words = [Word(word) for word in joined.words]
    decided = list(punctuator.decisions(words))
    output = [word.written(decision.label) for word, decision in zip(words, decided, strict=True)]
    kept = compare_words(split(" ".join(joined.words)).words, split(" ".join(output)).words, case=False)
    changes = Counts(
        words_changed=kept.words_changed, words_inserted=kept.words_inserted, words_dropped=kept.words_dropped
    )
    labels = _row_labels(joined, [decision.label for decision in decided], len(rows))
    for start in range(0, len(rows), _IWSLT_DOCUMENT_WORDS):
        stretch = slice(start, start + _IWSLT_DOCUMENT_WORDS)
        reference = [Slot(LABEL_OF_CLASS[row.label_class]) for row in rows[stretch]]
        scored = count(reference, [Slot(label) for label in labels[stretch]])
        yield scored + Counts(words=len(reference)) + changes
        changes = Counts()  # counted for the whole file, and borne by its first stretch


def _row_labels(joined: JoinedWords, labels: list[str], n_rows: int) -> list[str]:
    found = [""] * n_rows
    for last, label in zip(joined.last_rows, labels, strict=True):
        found[last] = label
    return found


def _text_counts(path: str | Path, punctuator: Punctuator, max_words: int | None) -> Iterator[Counts]:
    left = max_words
    for line in read_lines(path):
        reference = split(line, punctuator.model.task.alphabet).words[:left]
        if reference:
            bare = " ".join(word.normal for word in reference)
            output = split(punctuator.punctuate(bare), punctuator.model.task.alphabet).words
            yield compare_words(reference, output, case=punctuator.config.render.case)
        if left is not None:
            left -= len(reference)
            if left <= 0:
                return


def _since(now: AlignmentCounts, before: AlignmentCounts) -> AlignmentCounts:
    return AlignmentCounts(
        now.words - before.words,
        now.inserted - before.inserted,
        now.dropped - before.dropped,
        now.changed - before.changed,
    )


def _signature(punctuator: Punctuator, iwslt: bool) -> str:
    """The settings behind a score, so that two numbers can be told apart."""
    config = punctuator.config
    windows = config.windows
    decoder = config.decoding.decoder + (f"{config.decoding.beams}" if config.decoding.decoder == "generate" else "")
    return "|".join(
        (
            "classes:" + ";".join(f"{name}={marks}" for name, marks in CLASS_MARKS.items()),
            f"words:{'iwslt-rows' if iwslt else 'text'}",
            f"decoder:{decoder}",
            f"style:{config.decoding.style or punctuator.model.task.default_style}",
            f"w:{windows.window}|s:{windows.stride_words}|ml:{windows.mask_left}|mr:{windows.mask_right}",
            f"combine:{config.combine.method}",
            f"model:{Path(punctuator.model.name).name}",
            f"version:{__version__}",
        )
    )
