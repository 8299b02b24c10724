"""Jobs -> outputs: files are read in groups, the words of a group are decided together, and each file is written alone.

In: jobs and a punctuator.  Out: files, whole or not at all; how many were written, and what failed.

An error of one file is a failure of that file, and the others are done.  From Python,
`punctuate_files(punctuator, ["lectures"], "out")` is `t5punct punctuate lectures --output-dir out`.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from pathlib import Path

from ..errors import InputError, T5PunctError, first_line
from ..model import language_warning, unknown_language
from ..punctuator import Punctuator
from ..text.io.files import STANDARD, named_place, open_writer
from ..text.render import REMOVE, AnnotatedWord
from ..text.words import Word
from ..transcripts.formats import Transcript
from ..transcripts.terms import Terms
from ..transcripts.writers import WriterConfig
from ..windows.plan import iter_pools
from .jobs import Failure, Freshness, Job, Outcome, OutputConfig, model_state, plan_jobs, settings_fingerprint

_GROUP_WORDS = 50_000  # words of files that are decided together: so many that all batches are full
_log = logging.getLogger(__name__)

StrPath = str | Path


@dataclass(slots=True)
class _File:
    """A job's transcript, or the error of reading it, and its words."""

    job: Job
    transcript: Transcript | Exception
    texts: Sequence[Sequence[Word]] = ()  # its words as they were read; empty if it could not be read
    n_words: int = 0  # of all texts
    words: Iterable[AnnotatedWord] = ()  # the same words once they are decided


class Work:
    """Punctuates files.

    on_progress: called from time to time with the bytes of the inputs and the words that are done; may be set.
    """

    def __init__(self, punctuator: Punctuator, config: WriterConfig | None = None, terms: Terms | None = None) -> None:
        self._punctuator = punctuator
        self._config = config or WriterConfig()
        self._terms = terms
        self.on_progress: Callable[[int, int], None] = lambda n_bytes, n_words: None
        self._n_words = 0  # that are decided
        self._n_bytes = 0  # of the inputs that are done
        self._removed: Counter[str] = Counter()
        self._warned = set[str]()  # languages that the user was warned of
        self._model_error: Exception | None = None  # which concerns all files

    def run(self, jobs: Iterable[Job]) -> Outcome:
        """Punctuate the files, in order; consecutive jobs of one target share its file.

        A file's error is in the outcome; an error of the model is raised.
        """
        n_written = 0
        failures = list[Failure]()
        for target, files in groupby(self._decide(jobs), key=lambda file: file.job.target):
            n_files, failed = self._write(target, files)
            n_written += n_files
            failures += failed
        return Outcome(n_written, self._n_words, tuple(failures), dict(self._removed))

    def _decide(self, jobs: Iterable[Job]) -> Iterator[_File]:
        """Yield files with their words, decided in groups of `_GROUP_WORDS`.

        The words of a group of one file, which may be large, are decided only as they are written.
        """
        for group in iter_pools(map(self._read, jobs), _GROUP_WORDS, lambda file: file.n_words):
            if len(group) == 1:
                group[0].words = chain.from_iterable(words for _, words in self._parts(group))
            else:
                words_of_texts = list[list[AnnotatedWord]]()  # of each text of the group: the words of its file
                for file in group:
                    words_of_file = list[AnnotatedWord]()
                    file.words = words_of_file
                    words_of_texts += [words_of_file] * len(file.texts)
                for number, words in self._parts(group):
                    words_of_texts[number] += words
            yield from group
            self._n_bytes += sum(file.job.n_bytes for file in group)
            self.on_progress(self._n_bytes, self._n_words)

    def _read(self, job: Job) -> _File:
        """Read a job's file; log a warning once for each language that the model does not know."""
        try:
            transcript = self._punctuator.read_file(job.source, job.format, self._config, self._terms)
            texts = transcript.texts
            model_name = self._punctuator.model.name
            language = unknown_language(model_name, transcript.normal_words)
            if language is not None and language not in self._warned:
                self._warned.add(language)
                source = "the text" if job.source == STANDARD else job.source
                _log.warning("%s", language_warning(model_name, language, source))
        except Exception as error:  # of any kind: it must not stop the other files
            return _File(job, error)
        return _File(job, transcript, texts, sum(map(len, texts)))

    def _parts(self, group: Sequence[_File]) -> Iterator[tuple[int, list[AnnotatedWord]]]:
        """Yield the words of files as they are decided, and call `on_progress`.

        Each part is the index of a text and some of its words; the texts of all files are numbered through, from 0.
        """
        n_bytes = sum(file.job.n_bytes for file in group)
        n_words = sum(file.n_words for file in group)
        n_decided = 0  # of these words
        removes = self._punctuator.config.render.disfluencies == REMOVE
        try:
            for number, words in self._punctuator.iter_parts(text for file in group for text in file.texts):
                n_decided += len(words)
                self._n_words += len(words)
                if removes:
                    self._removed.update(word.word.lower() for word in words if word.is_removed)
                yield number, words
                n_bytes_decided = n_bytes * n_decided // n_words  # about
                self.on_progress(self._n_bytes + n_bytes_decided, self._n_words)
        except Exception as error:
            self._model_error = error
            raise

    def _write(self, target: Path | None, files: Iterable[_File]) -> tuple[int, list[Failure]]:
        """Write the files of one target; return how many are complete, and the failures.

        target: None for standard output, which goes on with the next file after a failure.  A target of several files
        is then not written.
        """
        n_files = 0
        failures = list[Failure]()
        source = str(target)  # which a failure names: the target while it is opened, then the last file
        try:
            with open_writer(target) as put:
                for file in files:
                    source = file.job.source
                    try:
                        self._put(file, put)
                        n_files += 1
                    except Exception as error:  # of any kind: it must not stop the other files
                        if target is not None:
                            raise
                        failures.append(self._failure(error, source, target))
        except Exception as error:  # `open_writer` has dropped what was written of the target
            return 0, [*failures, self._failure(error, source, target)]
        return n_files, failures

    def _failure(self, error: Exception, source: str, target: Path | None) -> Failure:
        """Return the failure of a file.  Raises an error that concerns all files: of a closed output, or of the model.

        An OSError without a file name (a full disk) gets the target's.  An error of another library, or a defect of
        ours, becomes an InputError that names its type.
        """
        if isinstance(error, BrokenPipeError) or error is self._model_error:
            raise error
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(target or "standard output")
        if isinstance(error, T5PunctError | OSError):
            return Failure(source, error)
        _log.debug("%s", source, exc_info=error)
        named = InputError(
            f"{source}: {type(error).__name__}: {first_line(error)}",
            expected="a file that t5punct can read and write",
            fix="report this line, with the file, where t5punct is from",
        )
        named.__cause__ = error
        return Failure(source, named)

    def _put(self, file: _File, put: Callable[[Iterable[str]], None]) -> None:
        """Write one file, and its page for review.  Raises the error of reading it, if there was one."""
        if isinstance(file.transcript, Exception):
            raise file.transcript
        page = file.job.review
        config = self._config
        words = file.words if page is None else [*file.words]  # of two outputs each takes all words
        if page is not None and config.format is None and not file.transcript.is_plain:  # only the page has paragraphs
            config = replace(config, paragraphs=None)
        put(self._punctuator.file_pieces(file.transcript, words, config, file.job.source))
        if page is not None:
            page_config = WriterConfig("html", self._config.paragraphs)
            with open_writer(page) as put_page:
                put_page(self._punctuator.file_pieces(file.transcript, words, page_config, file.job.source))


def punctuate_files(
    punctuator: Punctuator,
    inputs: Sequence[StrPath],
    folder: StrPath,
    *,
    format: str | None = None,
    writer: WriterConfig | None = None,
    terms: Iterable[str] = (),
    overwrite: bool = False,
) -> Outcome:
    """Punctuate files, folders and patterns, each written into `folder`, in the same tree, as soon as it is done.

    Outputs that are up to date and were made with the same settings are skipped, unless `overwrite` is set.  `terms`:
    lines of a file of terms.  Raises InputError if no file can be punctuated; later failures are in the outcome.
    """
    if isinstance(inputs, str | Path):  # each letter of a str would be an input
        raise InputError(
            f"one input, {inputs}", expected="several, such as a list of them", fix=f"write [{str(inputs)!r}]"
        )
    writer = writer or WriterConfig()
    spellings = Terms.of(terms)
    # no output may overwrite what the punctuator reads
    reads = () if punctuator.model.folder is None else (str(punctuator.model.folder),)
    places = OutputConfig(folder=named_place(folder), format=writer.format, reads=reads)
    planned = plan_jobs([str(source) for source in inputs], places, format)
    model = (punctuator.model.name, model_state(punctuator.model.folder))
    settings = (model, punctuator.config, writer, spellings, format)  # all that an output depends on, but its input
    freshness = Freshness.start(Path(folder), settings_fingerprint(settings))
    jobs = [job for job in planned.jobs if overwrite or not freshness.is_current(job)]
    outcome = Work(punctuator, writer, spellings if spellings.spellings else None).run(jobs)
    return replace(outcome, failures=(*planned.failures, *outcome.failures))
