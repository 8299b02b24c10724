"""Where documents come from: a file, a folder of files, a pattern such as `talks/*.txt`, or a data set.

In: a `CorpusConfig`.  Out: the files of it, and their documents in order; "" for an empty row.

Each format is one entry of `READERS`, by the ending of a file's name.  A folder gives all files that have one of these
endings, in the order of their paths: `find_sources(CorpusConfig("talks"))` may be `talks/a.csv` and `talks/b.txt.xz`.
Of one recording in several formats, `a.json`, `a.srt` and `a.txt`, it gives one.
"""

from __future__ import annotations

import glob
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import ConfigError, InputError
from ...text.io.files import check_source, read_lines, unpacked_name
from ...text.io.iwslt import LABEL_OF_CLASS, is_iwslt, join_clitics, read_rows
from ...text.marks import Alphabet
from .corpus import CorpusConfig
from .paragraphs import text_documents
from .tables import hub_documents, is_saved, saved_documents, table_documents
from .transcripts import (
    ENDINGS,
    PREFERRED,
    Turn,
    document_of,
    is_json_lines,
    is_table_of_words,
    transcript_documents,
    turn_of,
)


@dataclass(frozen=True)
class Sources:
    """The files of a corpus, in order, and what a folder holds besides: the ending, how often, and why it is left."""

    files: tuple[Path, ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A document, "" for an empty row of a table, and the file or data set that it stands in."""

    text: str
    source: str


Reader = Callable[[Path, CorpusConfig, tuple[int, ...]], Iterator[str]]


def source_documents(corpus: CorpusConfig, pauses_ms: tuple[int, ...]) -> Iterator[Document]:
    """Yield all documents of a corpus."""
    if corpus.dataset is not None:
        yield from (Document(text, corpus.dataset) for text in hub_documents(corpus))
        return
    for path in find_sources(corpus).files:
        if is_saved(path):
            texts = saved_documents(path, corpus)
        else:
            texts = READERS.get(_ending(path), _read_text)(path, corpus, pauses_ms)
        yield from (Document(text, str(path)) for text in texts)


def find_sources(corpus: CorpusConfig) -> Sources:
    """Return the files that a corpus names; one that is named itself is text if its ending is unknown."""
    if corpus.dataset is not None:
        return Sources(())
    if not corpus.path:
        raise ConfigError("a corpus without a path", expected="corpora: [{path: FILE}]", fix="name a file")
    path = Path(corpus.path)
    if path.is_dir() and not is_saved(path):
        return _of_folder(path)
    if path.exists() or not glob.has_magic(corpus.path):
        if not path.is_dir():
            check_source(path)
        return Sources((path,))
    paths = sorted(Path(name) for name in glob.glob(corpus.path, recursive=True) if Path(name).is_file())  # noqa: PTH207
    if not paths:
        raise InputError(f"no file {corpus.path}", expected="a pattern that files fit", fix="check the path")
    return _read_once(paths)


def _of_folder(folder: Path) -> Sources:
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not _is_hidden(path.relative_to(folder)))
    readable = tuple(path for path in paths if _ending(path) in READERS)
    if not readable:
        raise InputError(
            f"folder {folder} holds no text", expected=f"files that end with {', '.join(READERS)}", fix="name the files"
        )
    unknown = Counter(_ending(path) or path.name for path in paths if _ending(path) not in READERS)
    return _read_once(
        readable, [f"{number} x {ending} left out: no reader for it" for ending, number in sorted(unknown.items())]
    )


def _read_once(paths: Sequence[Path], left_out: Sequence[str] = ()) -> Sources:
    """The files, but for those that say what another says."""
    again = _again(paths)
    twice = Counter(_ending(path) for path in again)
    notes = [
        f"{number} x {ending} left out: another format of a file that is read"
        for ending, number in sorted(twice.items())
    ]
    return Sources(tuple(path for path in paths if path not in again), (*left_out, *notes))


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _again(paths: Sequence[Path]) -> set[Path]:
    """The files that say what another says, as Whisper writes each recording in five formats.

    Read twice, a recording could be learned from and scored with at the same time.
    """
    best: dict[Path, Path] = {}
    again: set[Path] = set()
    for path in sorted(
        (path for path in paths if _ending(path) in PREFERRED), key=lambda path: PREFERRED.index(_ending(path))
    ):
        name = path.with_name(Path(unpacked_name(path)).stem)
        if best.setdefault(name, path) is not path:
            again.add(path)
    return again


def _ending(path: Path) -> str:
    return Path(unpacked_name(path)).suffix.lower()


def _read_text(path: Path, corpus: CorpusConfig, pauses_ms: tuple[int, ...]) -> Iterator[str]:
    if is_iwslt(path):
        yield from _read_iwslt(path, corpus, pauses_ms)
    else:
        yield from text_documents(path, corpus.document)


def _read_transcript(path: Path, corpus: CorpusConfig, pauses_ms: tuple[int, ...]) -> Iterator[str]:
    yield from transcript_documents(path, pauses_ms)


def _read_json(path: Path, corpus: CorpusConfig, pauses_ms: tuple[int, ...]) -> Iterator[str]:
    read = _read_jsonl if is_json_lines(path, corpus.column) else _read_transcript
    yield from read(path, corpus, pauses_ms)


def _read_tsv(path: Path, corpus: CorpusConfig, pauses_ms: tuple[int, ...]) -> Iterator[str]:
    read = _read_transcript if is_table_of_words(path) else _read_iwslt
    yield from read(path, corpus, pauses_ms)


def _read_jsonl(path: Path, corpus: CorpusConfig, pauses_ms: tuple[int, ...]) -> Iterator[str]:
    """Yield a document a line, or a meeting of several lines."""
    turns: list[Turn] = []  # of one meeting, until another begins
    for line in _parsed_lines(path, corpus):
        goes_on = isinstance(line, Turn) and turns and line.meeting is not None and line.meeting == turns[-1].meeting
        if turns and not goes_on:
            yield document_of(turns, pauses_ms)
            turns = []
        if isinstance(line, Turn):
            turns.append(line)
        else:
            yield line
    if turns:
        yield document_of(turns, pauses_ms)


def _parsed_lines(path: Path, corpus: CorpusConfig) -> Iterator[Turn | str]:
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
            parsed = turn_of(values) if "words" in values else _text(values[corpus.column])
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise InputError(
                f"{path} line {number}: {line[:40]!r}",
                expected=f'{{"{corpus.column}": "..."}} or '
                '{"words": [{"word": "...", "start": 0.1, "end": 0.4}, ...]}',
                fix="correct the line" if corpus.column in line else "correct the line, or set corpora.column",
            ) from error
        yield parsed


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _read_iwslt(path: Path, corpus: CorpusConfig, pauses_ms: tuple[int, ...]) -> Iterator[str]:
    """The whole file as one punctuated (lower-cased) document."""
    rows = read_rows(path)
    joined = join_clitics(rows)
    alphabet = Alphabet()
    yield " ".join(
        alphabet.spell(word, LABEL_OF_CLASS[rows[last].label_class])
        for word, last in zip(joined.words, joined.last_rows, strict=True)
    )


READERS: dict[str, Reader] = {  # by ending, packed or not
    ".txt": _read_text,
    ".jsonl": _read_jsonl,
    **dict.fromkeys(ENDINGS, _read_transcript),
    ".json": _read_json,
    ".tsv": _read_tsv,
    ".csv": lambda path, corpus, _: table_documents("csv", path, corpus.column),
    ".parquet": lambda path, corpus, _: table_documents("parquet", path, corpus.column),
}
