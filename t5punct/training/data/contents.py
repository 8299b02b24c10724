"""What a data set holds: documents and what became of them, labels, case, lengths, examples, and what looks wrong.

In: a `PrepareConfig`, and the split `train`.  Out: a `PrepareReport`, its text for `report.md`, its picture where
matplotlib (the extra `report`) is installed, and for `report.json` what a model's card says of the corpora.

`PrepareReport.warnings` may hold "talks.txt: 2 marks in 10,000 words, ...": nobody can learn marks from that.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

from ...evaluation.plots import save
from ...text.marks import case_of
from ...text.words import split
from .chunks import Chunk
from .corpora import Piece
from .corpus import CorpusConfig
from .folder import REPORT
from .survey import FEWEST_MARKS, OddDocuments, Survey

_COUNTED_WORDS = 500_000  # of the training chunks, which are shuffled
_EXAMPLES = 3  # of each style
_SHOWN_CHARACTERS = 200  # of an example
_FEW_DOCUMENTS = 0.02  # of a corpus: so many may be odd without a word of it
_LENGTH_BINS = (4, 8, 16, 32, 64, 128, 256)  # words: the upper ends of a chunk's


@dataclass(frozen=True)
class CorpusCount:
    """What became of a corpus's documents; of a stream, only the name, the style and the notes are known."""

    name: str
    style: str
    documents: int = 0
    held_out: int = 0
    words: int = 0  # between white space, of what was taken for training
    dropped_short: int = 0  # with fewer words than a window has at least, stretches of a budget too
    dropped_empty: int = 0
    notes: tuple[str, ...] = ()
    lengths: tuple[int, ...] = ()  # words of the documents, or of what was taken of them; at most some thousands


@dataclass(frozen=True)
class Content:
    """Counts of training chunks, all of them or the first ones: how often each label, case and length is."""

    n_words: int
    labels: Mapping[str, int]  # the most frequent first, as cases
    cases: Mapping[str, int]
    lengths: Mapping[str, int]  # chunks by words: `9 to 16`
    examples: tuple[Chunk, ...]


@dataclass(frozen=True)
class PrepareReport:
    """What was made."""

    output: str
    train_chunks: int
    train_words: int
    validation_chunks: int
    corpora: tuple[CorpusCount, ...]
    content: Content
    warnings: tuple[str, ...]
    left_out: str = ""  # how many words are in no chunk, and why


def count_corpus(
    corpus: CorpusConfig, survey: Survey, taken: Iterable[Piece], held_out: Iterable[Piece], min_words: int
) -> CorpusCount:
    """Count what is taken of a corpus to train on, what is held out, and what is left."""
    if survey.is_stream:
        notes = (*survey.left_out, "a stream: its documents are not counted")
        return CorpusCount(corpus.title, corpus.style, notes=notes)
    lengths, n_held_out = [piece.n_words for piece in taken], sum(len(piece.documents) for piece in held_out)
    notes = survey.left_out
    if len(survey.n_words) == 1 and n_held_out:
        notes = (*notes, "one document, whose end is held out")
    return CorpusCount(
        corpus.title,
        corpus.style,
        documents=len(survey.n_words),
        held_out=n_held_out,
        words=sum(lengths),
        dropped_short=sum(n_words < min_words for n_words in lengths),
        dropped_empty=survey.n_empty,
        notes=notes,
        lengths=tuple(lengths[:: 1 + len(lengths) // 5000]),
    )


def explain_left_out(corpora: Sequence[CorpusCount], train_words: int, min_words: int) -> str:
    """Say how many words that were taken are in no chunk, and why; nothing where there are none.

    >>> explain_left_out([CorpusCount("a", "talk", words=1000)], 950, 8)[:42]
    '50 of 1,000 words are in no chunk: those b'
    """
    n_taken = sum(corpus.words for corpus in corpora)
    if n_taken <= train_words:
        return ""
    return (
        f"{n_taken - train_words:,} of {n_taken:,} words are in no chunk: those before the first, which begins "
        "anywhere in a document so that windows begin inside sentences too; rests of fewer than "
        f"{min_words} words (chunks.min_words); signs that stand alone"
    )


def count_content(rows: Iterable[Chunk]) -> Content:
    """Return labels, case and lengths of chunks, as far as they are counted."""
    labels: Counter[str] = Counter()
    cases: Counter[str] = Counter()
    lengths: Counter[int] = Counter()
    shown: dict[str, list[Chunk]] = {}
    n_words = 0
    for chunk in rows:
        words = split(chunk.target).words
        labels.update(word.label for word in words)
        cases.update(case_of(word.core).value for word in words)
        lengths[bisect_left(_LENGTH_BINS, chunk.n_words)] += 1
        n_words += len(words)
        if len(shown.setdefault(chunk.style, [])) < _EXAMPLES:
            shown[chunk.style].append(chunk)
        if n_words >= _COUNTED_WORDS:
            break
    ranges = {_range(place): lengths[place] for place in sorted(lengths)}
    return Content(n_words, _by_frequency(labels), _by_frequency(cases), ranges, tuple(chain(*shown.values())))


def iter_warnings(corpora: Iterable[CorpusConfig], surveys: Iterable[Survey], *, cased: bool) -> Iterator[str]:
    """Yield warnings about corpora that are probably not as they should be, a line each."""
    for corpus, survey in zip(corpora, surveys, strict=True):
        sample = survey.sample
        if sample.n_words and sample.n_marks < FEWEST_MARKS * sample.n_words:
            yield (
                f"{corpus.title}: {sample.n_marks} marks in {sample.n_words:,} words of samples; expected "
                "punctuated text, about one mark in eight words; leave it out, or check corpora.column"
            )
            continue
        if cased and sample.n_words and not sample.n_with_capitals:
            yield f"{corpus.title}: no capitals; expected text with its own case; leave it out, or set cased=false"
        shouted = sample.shouted if cased else OddDocuments()
        for odd, what in (
            (sample.unmarked, "hardly a mark; expected punctuated text; leave them out"),
            (shouted, "nothing but capitals; expected text with its own case; leave them out, or set cased=false"),
        ):
            if odd.n_documents > _FEW_DOCUMENTS * len(survey.n_words):
                more = ["..."] * (odd.n_documents > len(odd.sources))
                names = ", ".join([*(Path(source).name for source in odd.sources), *more])
                yield f"{corpus.title}: {odd.n_documents:,} of {len(survey.n_words):,} documents ({names}) have {what}"


def iter_summary(report: PrepareReport) -> Iterator[str]:
    """Yield the report in a few lines, for a terminal."""
    content = report.content
    n_short, n_empty = (
        sum(getattr(corpus, name) for corpus in report.corpora) for name in ("dropped_short", "dropped_empty")
    )
    if n_short or n_empty:
        yield f"dropped: {n_short:,} documents with too few words for a window, {n_empty:,} empty rows"
    marks = [f"{label} {1000 * n / content.n_words:.1f}" for label, n in content.labels.items() if label][:8]
    yield f"marks of 1,000 words: {', '.join(marks) or 'none'}"
    if report.left_out:
        yield f"left out: {report.left_out}"
    for corpus in report.corpora:
        yield from (f"{corpus.name}: {note}" for note in corpus.notes)
    yield f"more in {report.output}/{REPORT}"


def as_json(report: PrepareReport) -> str:
    """Return the counts of each corpus as json, in the settings' order; 0 for a stream, which is not counted."""
    corpora = [
        {"style": corpus.style, "documents": corpus.documents, "words": corpus.words} for corpus in report.corpora
    ]
    return json.dumps({"train_words": report.train_words, "corpora": corpora}, indent=2) + "\n"


def as_text(report: PrepareReport) -> str:
    """Return the report as a page."""
    content = report.content
    counted = "all" if content.n_words >= report.train_words else f"a sample of {content.n_words:,}"
    rows = [
        f"| {corpus.name} | {corpus.style} | {corpus.documents:,} | {corpus.held_out:,} | {corpus.words:,} | "
        f"{corpus.dropped_short:,} | {corpus.dropped_empty:,} |"
        for corpus in report.corpora
    ]
    lines = [
        "# Data set",
        "",
        f"{report.train_chunks:,} chunks of {report.train_words:,} words to train on, {report.validation_chunks:,} "
        "chunks to validate with.",
        "",
        *([f"- left out: {report.left_out}"] if report.left_out else []),
        *(f"- warning: {warning}" for warning in report.warnings),
        *(f"- {corpus.name}: {note}" for corpus in report.corpora for note in corpus.notes),
        "",
        "## Documents",
        "",
        "Too short: fewer words than a window has at least, of the whole document or of the stretch that was taken.",
        "",
        "| corpus | style | documents | held out | words taken | too short | empty |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *rows,
        "",
        f"## Labels, case and lengths of {counted} words",
        "",
        *_table("label", content.labels, content.n_words),
        *_table("case", content.cases, content.n_words),
        *_table("words of a chunk", content.lengths, sum(content.lengths.values())),
        "## Examples",
        "",
    ]
    for chunk in content.examples:
        source, target = (text[:_SHOWN_CHARACTERS] for text in (chunk.source, chunk.target))
        lines += [f"- {chunk.style}", f"  - `{source}`", f"  - `{target}`"]
    return "\n".join(lines) + "\n"


def _table(name: str, counts: Mapping[str, int], total: int) -> list[str]:
    rows = [f"| {_shown(row)} | {n:,} | {1000 * n / max(1, total):.1f} |" for row, n in counts.items()]
    return [f"| {name} | count | of 1,000 |", "| --- | --- | --- |", *rows, ""]


def _shown(name: str) -> str:
    return f"`{name}`" if name and not name[0].isalnum() else name or "none"


def _by_frequency(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _range(place: int) -> str:
    low = _LENGTH_BINS[place - 1] + 1 if place else 1
    return f"{low} to {_LENGTH_BINS[place]}" if place < len(_LENGTH_BINS) else f"{low} and more"


_BARS = 10  # labels, at most


def draw_report(report: PrepareReport, path: Path) -> bool:
    """Draw the report; False without matplotlib."""
    if find_spec("matplotlib") is None:
        return False
    from matplotlib.figure import Figure

    content = report.content
    figure = Figure(figsize=(12, 3.8))
    labels, documents, chunks = figure.subplots(1, 3)
    marked = [label for label in content.labels if label][:_BARS]
    labels.bar(
        [f" {label} " for label in marked], [1000 * content.labels[label] / max(1, content.n_words) for label in marked]
    )
    labels.set(title="labels of 1,000 words", xlabel="label")
    lengths = [[max(1, words) for words in corpus.lengths] for corpus in report.corpora if corpus.lengths]
    if lengths:
        documents.hist(lengths, bins=[2.0**power for power in range(0, 20)], stacked=True)
    documents.set(title="documents, by corpus", xlabel="words of a document", xscale="log")
    chunks.bar(list(content.lengths), list(content.lengths.values()))
    chunks.set(title="chunks", xlabel="words of a chunk")
    chunks.tick_params(axis="x", labelrotation=30)
    save(figure, path)
    return True
