"""What a data set holds: documents and what became of them, labels, case, lengths, examples, and what looks wrong.

In: the documents of corpora, and the split `train`.  Out: a `PrepareReport`, its text for `report.md`, and for
`report.json` what a model's card says of the corpora.

`PrepareReport.warnings` may hold "talks.txt: 2 marks in 10,000 words, ...": nobody can learn marks from that.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from ...text.marks import case_of
from ...text.spaces import is_unspaced, unspaced
from ...text.words import split
from .chunks import Chunk
from .corpora import Documents, Piece

REPORT = "report.md"  # in the folder of a data set
_COUNTED_WORDS = 500_000  # of the training chunks, which are shuffled
_EXAMPLES = 3  # of each style
_SHOWN_CHARACTERS = 200  # of an example
_LENGTH_BINS = (4, 8, 16, 32, 64, 128, 256)  # words: the upper ends of a chunk's
_SAMPLED_CHARACTERS = 1000  # of each document, to tell whether it has marks and capitals
_MARK = re.compile(r"[.,?!;:…](?=\s|$)")
_FEWEST_MARKS = 0.02  # a word; speech and prose have 0.1 to 0.2
_JUDGED_WORDS = 30  # a document with fewer may well have no mark
_NAMED = 3  # files, at most
_FEW_DOCUMENTS = 0.02  # of a corpus: so many may be odd without a word of it


@dataclass(frozen=True)
class CorpusCount:
    """What became of a corpus's documents."""

    name: str
    style: str
    documents: int
    held_out: int
    words: int  # between white space, of what was taken for training
    dropped_short: int  # with fewer words than a window has at least, stretches of a budget too
    dropped_empty: int
    notes: tuple[str, ...]


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
    documents: Documents, taken: Iterable[Piece], held_out: Iterable[Piece], min_words: int
) -> CorpusCount:
    """Count what is taken of a corpus to train on, what is held out, and what is left."""
    lengths, n_held_out = [piece.n_words for piece in taken], sum(len(piece.documents) for piece in held_out)
    is_single = len(documents.numbers) == 1 and n_held_out
    return CorpusCount(
        documents.corpus.title,
        documents.corpus.style,
        documents=len(documents.numbers),
        held_out=n_held_out,
        words=sum(lengths),
        dropped_short=sum(n_words < min_words for n_words in lengths),
        dropped_empty=documents.n_empty,
        notes=(*documents.left_out, *["one document, whose end is held out"] * bool(is_single)),
    )


def explain_left_out(corpora: Sequence[CorpusCount], train_words: int, min_words: int) -> str:
    """Say how many words that were taken are in no chunk, and why; nothing where there are none.

    >>> corpus = CorpusCount("a", "talk", 1, 0, words=1000, dropped_short=0, dropped_empty=0, notes=())
    >>> explain_left_out([corpus], 950, 8)[:42]
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


def check_text(documents: Documents, *, cased: bool) -> list[str]:
    """Return warnings about a corpus that is probably not as it should be, a line each.

    Raises InputError if most of it is in languages without spaces between words.
    """
    n_words = n_marks = n_with_capitals = n_unspaced = 0
    unmarked, shouted = list[str](), list[str]()  # the files of such documents
    for row in documents.rows:
        text = row["text"][:_SAMPLED_CHARACTERS]
        n_text, n_found = len(text.split()), len(_MARK.findall(text))
        n_words, n_marks = n_words + n_text, n_marks + n_found
        n_with_capitals += text != text.lower()
        n_unspaced += is_unspaced(text)
        if n_text >= _JUDGED_WORDS and n_found < _FEWEST_MARKS * n_text:
            unmarked.append(row["source"])
        if n_text >= _JUDGED_WORDS and cased and text.isupper():
            shouted.append(row["source"])
    title, n_documents = documents.corpus.title, len(documents.numbers)
    if 2 * n_unspaced > n_documents:
        raise unspaced(title)
    if n_marks < _FEWEST_MARKS * n_words:
        return [
            f"{title}: {n_marks} marks in {n_words:,} words of samples; expected punctuated text, about one mark in "
            "eight words; leave it out, or check corpora.column"
        ]
    if cased and not n_with_capitals:
        return [f"{title}: no capitals; expected text with its own case; leave it out, or set cased=false"]
    return [
        f"{title}: {len(files):,} of {n_documents:,} documents ({_name_files(files)}) have {what}"
        for files, what in (
            (unmarked, "hardly a mark; expected punctuated text; leave them out"),
            (shouted, "nothing but capitals; expected text with its own case; leave them out, or set cased=false"),
        )
        if len(files) > _FEW_DOCUMENTS * n_documents
    ]


def _name_files(files: Sequence[str]) -> str:
    """The first files of some documents, and dots where there are more documents."""
    named = [Path(file).name for file in list(dict.fromkeys(files))[:_NAMED]]
    return ", ".join([*named, *["..."] * (len(files) > len(named))])


def iter_summary(report: PrepareReport) -> Iterator[str]:
    """Yield the report in a few lines, for a terminal."""
    content = report.content
    n_short = sum(corpus.dropped_short for corpus in report.corpora)
    n_empty = sum(corpus.dropped_empty for corpus in report.corpora)
    if n_short or n_empty:
        yield f"dropped: {n_short:,} documents with too few words for a window, {n_empty:,} empty rows"
    marks = [f"{label} {1000 * n / content.n_words:.1f}" for label, n in content.labels.items() if label][:8]
    yield f"marks of 1,000 words: {', '.join(marks) or 'none'}"
    yield from _notes(report)
    yield f"more in {report.output}/{REPORT}"


def _notes(report: PrepareReport) -> Iterator[str]:
    if report.left_out:
        yield f"left out: {report.left_out}"
    for corpus in report.corpora:
        yield from (f"{corpus.name}: {note}" for note in corpus.notes)


def as_json(report: PrepareReport) -> str:
    """Return the counts of each corpus as json, in the settings' order."""
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
        *(f"- warning: {warning}" for warning in report.warnings),
        *(f"- {note}" for note in _notes(report)),
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
    shown = {key: "none" if not key else key if key[0].isalnum() else f"`{key}`" for key in counts}
    rows = [f"| {shown[key]} | {n:,} | {1000 * n / max(1, total):.1f} |" for key, n in counts.items()]
    return [f"| {name} | count | of 1,000 |", "| --- | --- | --- |", *rows, ""]


def _by_frequency(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _range(place: int) -> str:
    low = _LENGTH_BINS[place - 1] + 1 if place else 1
    return f"{low} to {_LENGTH_BINS[place]}" if place < len(_LENGTH_BINS) else f"{low} and more"
