"""What a corpus holds, counted in one pass before any of it is used: no text stays in memory.

In: a `CorpusConfig`.  Out: a `Survey`.

`survey(CorpusConfig("talks.txt"), None).n_words` has one number for each document.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from .corpus import CorpusConfig
from .sources import Sources, source_documents, sources

_SAMPLED_CHARACTERS = 1000  # of each document, to tell whether it has marks and capitals
_STREAMED_DOCUMENTS = 200  # of a stream, the first ones: it is not read twice
_MARK = re.compile(r"[.,?!;:…](?=\s|$)")


@dataclass(frozen=True)
class Survey:
    """Counts of a corpus; of a stream, of its first documents only."""

    n_words: array[int]  # pieces between white space, of each document that is not empty
    n_empty: int = 0
    sampled_words: int = 0
    sampled_marks: int = 0
    sampled_capitals: int = 0  # documents with any, as far as they were sampled
    n_files: int = 0
    left_out: tuple[str, ...] = ()  # files of a folder that no reader knows, as endings and counts
    is_stream: bool = False


def survey(corpus: CorpusConfig, pause_ms: int | None) -> Survey:
    """Count a corpus; once, as long as its files stay as they are."""
    found = sources(corpus)
    stats = [path.stat() for path in found.files if path.exists()]
    return _survey(corpus, pause_ms, found, tuple((stat.st_size, stat.st_mtime_ns) for stat in stats))


@lru_cache(maxsize=256)
def _survey(corpus: CorpusConfig, pause_ms: int | None, found: Sources, stamps: tuple[tuple[int, int], ...]) -> Survey:
    texts: Iterable[str] = source_documents(corpus, pause_ms)
    n_words, n_empty, n_sampled, n_marks, n_capitals = array("q"), 0, 0, 0, 0
    for text in islice(texts, _STREAMED_DOCUMENTS) if corpus.streaming else texts:
        if not text.strip():
            n_empty += 1
            continue
        n_words.append(len(text.split()))
        sample = text[:_SAMPLED_CHARACTERS]
        n_sampled += len(sample.split())
        n_marks += len(_MARK.findall(sample))
        n_capitals += sample != sample.lower()
    return Survey(n_words, n_empty, n_sampled, n_marks, n_capitals, len(found.files), found.left_out, corpus.streaming)
