"""What a corpus holds, counted in one pass before any of it is used: no text stays in memory.

In: a `CorpusConfig`.  Out: a `Survey`.

`survey_corpus(CorpusConfig("talks.txt"), ()).n_words` has one number for each document.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice

from ...text.spaces import is_unspaced
from .corpus import CorpusConfig
from .sources import Document, Sources, find_sources, source_documents

_SAMPLED_CHARACTERS = 1000  # of each document, to tell whether it has marks and capitals
_STREAMED_DOCUMENTS = 200  # of a stream, the first ones: it is not read twice
_MARK = re.compile(r"[.,?!;:…](?=\s|$)")
FEWEST_MARKS = 0.02  # a word; speech and prose have 0.1 to 0.2
_JUDGED_WORDS = 30  # a document with fewer may well have no mark
_NAMED = 3  # files, at most


@dataclass(frozen=True)
class OddDocuments:
    """Documents that are not as they should be: how many, and the first files that hold them."""

    n_documents: int = 0
    sources: tuple[str, ...] = ()

    def including(self, document: Document) -> OddDocuments:
        known = document.source in self.sources or len(self.sources) == _NAMED
        return OddDocuments(self.n_documents + 1, self.sources if known else (*self.sources, document.source))


@dataclass(frozen=True)
class Sample:
    """What the beginnings of documents hold."""

    n_words: int = 0
    n_marks: int = 0
    n_with_capitals: int = 0  # documents with any, as far as they were sampled
    unmarked: OddDocuments = field(default_factory=OddDocuments)  # with hardly a mark
    shouted: OddDocuments = field(default_factory=OddDocuments)  # in capitals throughout, as some subtitles are
    n_unspaced: int = 0  # documents without spaces between words

    def including(self, document: Document) -> Sample:
        text = document.text[:_SAMPLED_CHARACTERS]
        n_words, n_marks = len(text.split()), len(_MARK.findall(text))
        is_judged = n_words >= _JUDGED_WORDS
        is_unmarked, is_shouted = is_judged and n_marks < FEWEST_MARKS * n_words, is_judged and text.isupper()
        return replace(
            self,
            n_words=self.n_words + n_words,
            n_marks=self.n_marks + n_marks,
            n_with_capitals=self.n_with_capitals + (text != text.lower()),
            unmarked=self.unmarked.including(document) if is_unmarked else self.unmarked,
            shouted=self.shouted.including(document) if is_shouted else self.shouted,
            n_unspaced=self.n_unspaced + is_unspaced(text),
        )


@dataclass(frozen=True)
class Survey:
    """Counts of a corpus; of a stream, of its first documents only."""

    n_words: array[int]  # pieces between white space, of each document that is not empty
    n_empty: int = 0
    sample: Sample = field(default_factory=Sample)
    left_out: tuple[str, ...] = ()  # files of a folder that are not read, as endings and counts, and why
    is_stream: bool = False


def survey_corpus(corpus: CorpusConfig, pauses_ms: tuple[int, ...]) -> Survey:
    """Count a corpus; once, as long as its files stay as they are."""
    corpus_sources = find_sources(corpus)
    stats = [path.stat() for path in corpus_sources.files if path.exists()]
    return _survey_sources(corpus, pauses_ms, corpus_sources, tuple((stat.st_size, stat.st_mtime_ns) for stat in stats))


@lru_cache(maxsize=256)
def _survey_sources(
    corpus: CorpusConfig, pauses_ms: tuple[int, ...], corpus_sources: Sources, stamps: tuple[tuple[int, int], ...]
) -> Survey:
    texts: Iterable[Document] = source_documents(corpus, pauses_ms)
    n_words, n_empty, sample = array("q"), 0, Sample()
    for document in islice(texts, _STREAMED_DOCUMENTS) if corpus.streaming else texts:
        if not document.text.strip():
            n_empty += 1
            continue
        n_words.append(len(document.text.split()))
        sample = sample.including(document)
    return Survey(n_words, n_empty, sample, corpus_sources.left_out, corpus.streaming)
