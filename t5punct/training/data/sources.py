"""Where documents come from: a file, a folder of files, a pattern such as `talks/*.txt`, or a data set.

In: a `CorpusConfig`.  Out: the files of it, and their documents in order; "" for an empty row.

A folder gives all files that a reader knows by their endings, in the order of their paths:
`find_sources(CorpusConfig("talks"))` may be `talks/a.csv` and `talks/b.txt.xz`.  Of one recording in several formats,
`a.json`, `a.srt` and `a.txt`, it gives one.
"""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import ConfigError, InputError
from ...text.io.files import check_source, unpacked_name
from .corpus import CorpusConfig
from .readers import PREFERRED, READERS, hub_documents, is_saved, read_text, saved_documents


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


def source_documents(corpus: CorpusConfig, pauses_ms: tuple[int, ...]) -> Iterator[Document]:
    """Yield all documents of a corpus."""
    if corpus.dataset is not None:
        yield from (Document(text, corpus.dataset) for text in hub_documents(corpus))
        return
    for path in find_sources(corpus).files:
        if is_saved(path):
            texts = saved_documents(path, corpus)
        else:
            texts = READERS.get(_ending(path), read_text)(path, corpus, pauses_ms)
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
    paths = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    readable = [path for path in paths if _ending(path) in READERS]
    if not readable:
        raise InputError(
            f"folder {folder} holds no text", expected=f"files that end with {', '.join(READERS)}", fix="name the files"
        )
    return _read_once(readable, _notes((path for path in paths if _ending(path) not in READERS), "no reader for it"))


def _read_once(paths: Sequence[Path], notes: Sequence[str] = ()) -> Sources:
    """The files but for those that say what another says, as Whisper writes each recording in five formats.

    Read twice, a recording could be learned from and scored with at the same time.
    """
    transcripts = sorted(
        (path for path in paths if _ending(path) in PREFERRED), key=lambda path: PREFERRED.index(_ending(path))
    )
    best = {path.with_name(Path(unpacked_name(path)).stem): path for path in reversed(transcripts)}
    again = set(transcripts) - set(best.values())
    return Sources(
        tuple(path for path in paths if path not in again),
        (*notes, *_notes(again, "another format of a file that is read")),
    )


def _notes(paths: Iterable[Path], why: str) -> list[str]:
    """What is left out: how many files of each ending, and why."""
    counts = Counter(_ending(path) or path.name for path in paths)
    return [f"{number} x {ending} left out: {why}" for ending, number in sorted(counts.items())]


def _ending(path: Path) -> str:
    return Path(unpacked_name(path)).suffix.lower()
