"""Jobs -> outputs: all files as one long row of texts, whose windows share batches; each is written once it is decided.

In: jobs and a punctuator.  Out: files, whole or not at all; how many were written, and what failed.

One bad file does not stop the others: its error is kept, and those of its words that were read are passed over.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby, tee
from pathlib import Path

from ..errors import T5PunctError
from ..punctuator import Punctuator
from ..text.formats.outputs import opened
from ..text.render import REMOVE, AnnotatedWord
from ..text.words import Word
from ..transcripts.formats import Transcript, read_transcript
from ..transcripts.items import Item, Kept, WrittenItem, WrittenWord, texts_of, written_items
from ..transcripts.pauses import with_pauses
from ..transcripts.terms import Terms, spelled
from ..transcripts.writers import WriterConfig, beside_a_page, check_removal, pieces_of
from .jobs import Failure, Job

_TOLD_WORDS = 64  # how often progress is told


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of jobs.  `n_written`: inputs whose output is complete; `removed`: removed words, counted."""

    n_written: int
    n_words: int
    failures: tuple[Failure, ...]
    removed: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Progress:
    """What was written by now: all characters of the inputs, and words."""

    n_chars: int
    n_words: int


class Work:
    """Punctuates files.  `told`, which may be set, is called from time to time with the progress made."""

    def __init__(
        self,
        punctuator: Punctuator,
        config: WriterConfig | None = None,
        terms: Terms | None = None,
    ) -> None:
        self._punctuator, self._config, self._terms = punctuator, config or WriterConfig(), terms
        self.told: Callable[[Progress], None] = lambda progress: None
        self._n_words = self._n_chars = 0
        self._removed: Counter[str] = Counter()

    def run(self, jobs: Iterable[Job]) -> Outcome:
        """Punctuate the files, in order; jobs of the same target share one file.

        What goes wrong with a file is in the outcome; what goes wrong with the model is raised.
        """
        files, ahead = tee(_Opened(job, self._punctuator, self._terms) for job in jobs)
        words = _decoded(self._punctuator, (text for one in ahead for text in texts_of(one.for_model)))
        n_written, failures = 0, list[Failure]()
        try:
            for target, group in groupby(files, key=lambda one: one.job.target):
                n_files, failed = self._write(target, group, words)
                n_written += n_files
                failures += failed
        except _DecodingError as error:
            raise error.cause from None
        return Outcome(n_written, self._n_words, tuple(failures), dict(self._removed))

    def _write(
        self, target: Path | None, group: Iterator[_Opened], words: Iterator[AnnotatedWord]
    ) -> tuple[int, list[Failure]]:
        """Write the files of one target; how many are complete, and what failed."""
        n_files, failures, source = 0, list[Failure](), str(target)
        try:
            with opened(target) as put:
                for one in group:
                    source, error = one.job.source, self._put(one, put, words)
                    if error is None:
                        n_files += 1
                    elif target is None:
                        failures.append(Failure(source, _named(error, target)))
                    else:
                        raise error
        except BrokenPipeError:
            raise
        except (T5PunctError, OSError) as error:  # the file does not appear
            for one in group:
                deque(self._written(one, words), maxlen=0)
            return 0, [*failures, Failure(source, _named(error, target))]
        return n_files, failures

    def _put(
        self, one: _Opened, put: Callable[[Iterable[str]], None], words: Iterator[AnnotatedWord]
    ) -> Exception | None:
        """Write one file, and its page for review; gives what went wrong with it."""
        written = self._written(one, words)
        try:
            if self._punctuator.config.render.disfluencies == REMOVE:
                check_removal(one.transcript, self._config, one.job.source)
            page = None if one.job.review is None else tee(written)
            config = beside_a_page(one.transcript, self._config) if page else self._config
            put(pieces_of(one.transcript, page[0] if page else written, config, one.job.source))
            one.check()
            if page:
                self._write_page(one, page[1])
        except BrokenPipeError:
            raise
        except (T5PunctError, OSError) as error:
            deque(written, maxlen=0)  # the words of the next file follow
            return error
        return None

    def _write_page(self, one: _Opened, written: Iterable[WrittenItem]) -> None:
        """The page for review beside the output; an output with a page is held in memory."""
        config = WriterConfig("html", self._config.paragraphs)
        with opened(one.job.review) as put:
            put(pieces_of(one.transcript, written, config, one.job.source))

    def _written(self, one: _Opened, words: Iterator[AnnotatedWord]) -> Iterator[WrittenItem]:
        for item in written_items(one.for_writer, words):
            yield item
            is_word = not isinstance(item, Kept)
            self._n_words += is_word
            if isinstance(item, WrittenWord) and item.is_removed:
                self._removed[item.annotated.word.lower()] += 1
            self._n_chars += len(item.text) if isinstance(item, Kept) else len(item.spoken.raw + item.spoken.after)
            if is_word and not self._n_words % _TOLD_WORDS:
                self.told(Progress(self._n_chars, self._n_words))


def _named(error: Exception, target: Path | None) -> Exception:
    """The error with a file's name; that of a full disk has none."""
    if isinstance(error, OSError) and error.filename is None:
        error.filename = str(target or "standard output")
    return error


class _Opened:
    """A job's file while it is read: its items, for the model and, later, for the writer."""

    def __init__(self, job: Job, punctuator: Punctuator, terms: Terms | None) -> None:
        self.job, self._terms, self._pause_ms = job, terms, punctuator.model.task.pause_ms
        alphabet = punctuator.model.task.alphabet
        self.transcript: Transcript = read_transcript(job.source, format=job.format, alphabet=alphabet)
        self._error: Exception | None = None
        self.for_model, self.for_writer = tee(self._items())

    def check(self) -> None:
        """Raise the error at which reading ended."""
        if self._error:
            raise self._error

    def _items(self) -> Iterator[Item]:
        try:
            yield from items_of(self.transcript, self._pause_ms, self._terms)
        except (T5PunctError, OSError) as error:
            self._error = error


def items_of(found: Transcript, pause_ms: int | None, terms: Terms | None = None) -> Iterator[Item]:
    """A transcript's items, which know of pauses if the model does, and of the user's terms."""
    items = with_pauses(found.items(), pause_ms) if pause_ms else found.items()
    return spelled(items, terms) if terms else items


class _DecodingError(Exception):
    """An error of the model, which concerns all files."""

    def __init__(self, cause: Exception) -> None:
        super().__init__()
        self.cause = cause


def _decoded(punctuator: Punctuator, texts: Iterable[Iterable[Word]]) -> Iterator[AnnotatedWord]:
    try:
        yield from punctuator.annotate_texts(texts)
    except Exception as error:
        raise _DecodingError(error) from error
