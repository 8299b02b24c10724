"""`t5punct punctuate`: transcripts in, the same with marks and capitals out.

In: files of any format, folders, patterns, or standard input.  Out: text or json on standard output or in files.

`echo "how are you today" | t5punct punctuate` prints `How are you today?`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

import typer

from ..errors import ConfigError
from ..extras import need
from ..text.render import RenderConfig
from .options import (
    Disfluencies,
    Json,
    KeepMarks,
    NoCase,
    StrategyOptions,
    expert,
    options_of,
    place,
    with_model_options,
)
from .process import available_processors, ending_in_order, wait_asleep
from .progress import note, note_waiting, prints_as_it_works, progress_bar, report_removed

if TYPE_CHECKING:
    from ..batch.distributed import RayWork
    from ..batch.jobs import Failure, Job
    from ..batch.work import Work
    from ..punctuator import Punctuator
    from ..transcripts.terms import Terms
    from ..transcripts.writers import WriterConfig

_REVIEW_ALTERNATIVES = 3


@dataclass(frozen=True)
class TranscriptOptions(StrategyOptions):
    """The model, the windows, and what is read and written."""

    format: Annotated[
        str | None,
        typer.Option(
            show_default="by its name", help="What INPUT is: text, lines, srt, vtt, ass, json, ctm, tsv or csv."
        ),
    ] = None
    to: Annotated[
        str | None,
        typer.Option(
            show_default="by the name of -o; else that of the input",
            help="Write as text, srt, vtt, ass, json (words with confidence, times and places), ctm, tsv, csv or html "
            "(a page for review).",
        ),
    ] = None
    as_json: Json = False
    lines: Annotated[bool, typer.Option("--lines", help="Each line is a text of its own, as in a chat.")] = False
    keep_marks: KeepMarks = False
    no_case: NoCase = False
    disfluencies: Disfluencies = "keep"
    keep_case: Annotated[bool, typer.Option("--keep-case", help="Keep the capitals that INPUT has.")] = False
    terms: Annotated[
        Path | None,
        typer.Option(
            show_default="none", help="A file of your own spellings, one a line: pytorch=PyTorch, ASR, gonna=going to."
        ),
    ] = None
    paragraphs: Annotated[
        int | None,
        typer.Option(
            min=1, show_default="none", help="Text and pages for review: begin a paragraph after so many sentences."
        ),
    ] = None
    paragraph_pause_ms: Annotated[
        int | None,
        typer.Option(
            min=1,
            show_default="none",
            help="The same: begin one after a silence of this length behind a sentence, if INPUT has times.",
        ),
    ] = None
    alternatives: Annotated[
        int | None,
        typer.Option(
            min=0,
            show_default=f"0; of pages for review {_REVIEW_ALTERNATIVES}",
            help="With --json and pages for review: name so many other marks of each place, the most probable first.",
        ),
    ] = None
    resegment: Annotated[
        bool, typer.Option("--resegment", help="With --to srt, vtt or ass: new cues, which hold sentences.")
    ] = False
    max_chars: Annotated[int, expert(min=1, help="With --resegment: characters of a cue.")] = 84
    max_lines: Annotated[int, expert(min=1, help="With --resegment: lines of a cue.")] = 2
    max_duration_ms: Annotated[int, expert(min=1, help="With --resegment: how long a cue is shown at most.")] = 7000
    min_duration_ms: Annotated[
        int, expert(min=0, help="With --resegment: how long a cue is shown at least, where there is time.")
    ] = 833
    max_chars_per_second: Annotated[
        float,
        expert(min=1, help="With --resegment: show a cue so long that nobody must read faster, where there is time."),
    ] = 20.0
    max_words_per_minute: Annotated[float, expert(min=1, help="With --resegment: the same in words a minute.")] = 180.0

    @property
    def reads(self) -> tuple[str, ...]:
        """What the options of the model name, and the file of terms."""
        return super().reads if self.terms is None else (*super().reads, str(self.terms))

    @property
    def input_format(self) -> str | None:
        """The format of all inputs; None: their names tell.  Raises ConfigError for two of them."""
        if self.lines and self.format not in (None, "text", "lines"):
            raise ConfigError(f"--lines and --format {self.format}", expected="one of them", fix="drop one")
        return "lines" if self.lines else self.format

    def written_to(self, output: Path | None) -> Self:
        """Return options that write the format which the output's name shows.

        Raises ConfigError where another one is asked for.
        """
        from ..transcripts.writers import format_named_by

        named, asked = format_named_by(output), "json" if self.as_json else self.to
        if named is None:
            return self
        if asked not in (None, named):
            raise ConfigError(
                f"{'--json' if self.as_json else f'--to {self.to}'} and -o {output}, whose name says {named}",
                expected="one format",
                fix="drop the option, or name the output otherwise",
            )
        return replace(self, to=named)

    def writer(self) -> WriterConfig:
        """Return the writer's settings.  Raises ConfigError for an unknown format, and options that do not agree."""
        from ..transcripts.paragraphs import ParagraphConfig
        from ..transcripts.resegment import ResegmentConfig
        from ..transcripts.writers import WriterConfig

        if self.as_json and self.to not in (None, "json"):
            raise ConfigError(f"--json and --to {self.to}", expected="one of them", fix="drop one")
        is_parted = self.paragraphs is not None or self.paragraph_pause_ms is not None
        return WriterConfig(
            "json" if self.as_json else self.to,
            ParagraphConfig(self.paragraphs, self.paragraph_pause_ms) if is_parted else None,
            ResegmentConfig(**options_of(ResegmentConfig, self)) if self.resegment else None,
        )

    def spellings(self) -> Terms | None:
        """Return the user's terms.  Raises InputError for a file that is none."""
        from ..transcripts.terms import Terms

        return None if self.terms is None else Terms.from_file(self.terms)

    def render(self, *, for_review: bool = False) -> RenderConfig:
        """Return how words are written; `for_review`: for a page for review, which shows alternatives."""
        alternatives = self.alternatives
        if alternatives is None:
            alternatives = _REVIEW_ALTERNATIVES if for_review or self.to == "html" else 0
        return RenderConfig(not self.no_case, self.keep_case, self.keep_marks, alternatives, self.disfluencies)


@dataclass(frozen=True)
class BatchOptions(TranscriptOptions):
    """What is done, and who does it."""

    ray: Annotated[
        str | None,
        expert(
            metavar="ADDRESS",
            show_default="none",
            help="With --output-dir: share the files out to Ray workers, each with a model of its own and --threads "
            "processors (1); local, or the address of a cluster whose machines see the same files at the same paths.",
        ),
    ] = None
    ray_workers: Annotated[
        int | None, expert(min=1, show_default="as many as there are processors for", help="With --ray: workers.")
    ] = None

    @property
    def done(self) -> BatchOptions:
        """What is done, whoever does it, and by however many threads."""
        return replace(self, ray=None, ray_workers=None, threads=None)

    def work(
        self, writer: WriterConfig, terms: Terms | None, output_dir: Path | None, *, for_review: bool = False
    ) -> Work | RayWork:
        """Make the worker on files; the model is loaded at once here, and later in Ray's workers."""
        if self.ray is not None:
            need("ray")
        if self.ray is None or output_dir is None:
            from ..batch.work import Work

            return Work(_punctuator(self, for_review), writer, terms)
        from ..batch.distributed import LOCAL, RayConfig, RayWork

        self.config()  # a mistake is said before anything is started
        n_cpus, n_workers = self.threads or 1, self.ray_workers
        if self.ray == LOCAL:
            n_workers = n_workers or max(1, available_processors() // n_cpus)
        config = RayConfig(self.ray, n_workers, n_cpus, n_gpus=int(self.device.startswith("cuda")))
        return RayWork(
            partial(_punctuator, replace(self, threads=n_cpus), for_review), output_dir, config, writer, terms
        )


@with_model_options
def punctuate(
    options: BatchOptions,
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="INPUT",
            show_default="standard input",
            help="Transcripts in UTF-8, gzip or xz too: text, subtitles (.srt, .vtt, .ass), a recogniser's .json (of "
            "Whisper, Deepgram, AWS, rev.ai, YouTube and others), .jsonl, .ctm, .tsv, .csv.  A folder: all such files "
            "in it.  A pattern in quotes: 'talks/*.srt'.  `-`: standard input.  Marks that are there are replaced; see "
            "--keep-marks.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        place("-o", "--output", show_default="standard output", help="Write to this file; `-`: standard output."),
    ] = None,
    output_dir: Annotated[
        Path | None,
        place(
            show_default="none",
            help="Write a file for each INPUT here, in the same tree.  What is done and up to date is skipped.",
        ),
    ] = None,
    html: Annotated[
        Path | None,
        place(
            show_default="none",
            help="Write a page for review, too, which any browser opens: the text with its doubtful marks, what else "
            "they may be, and ways to change them.  For many INPUTs see --to html.",
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="With --output-dir: do again what is done and up to date.")
    ] = False,
) -> None:
    """Put marks and capitals into transcripts; no word is changed.

    All else in a file stays as it is: white space, times, tags, notes, speaker labels (`JOHN:`) and stage directions
    (`[laughs]`).
    """
    from ..batch.jobs import Current, OutputConfig, plan_jobs

    asked, options = options, options.written_to(output)
    options.render()  # a mistake is said before a model is loaded
    writer, terms = options.writer(), options.spellings()
    places = OutputConfig(output, output_dir, writer.format, html, options.reads)
    planned = plan_jobs(inputs or ["-"], places, options.input_format)
    writer = _own_or_named(asked, writer, planned.jobs)
    _check_pauses(planned.jobs, options)
    settings = "" if output_dir is None else _settings(options, terms)
    current = Current.read(output_dir, settings) if output_dir is not None else Current(None)
    waiting, failures = [job for job in planned.jobs if overwrite or not current.has(job)], planned.failures
    if waiting:
        note_waiting([job.source for job in waiting])
        work = options.work(writer, terms, output_dir, for_review=html is not None)
        failures += _run(work, waiting, options, settings, output_dir)
    _report(failures, n_files=len(planned.jobs) + len(planned.failures))
    if len(waiting) < len(planned.jobs):
        note(f"{len(planned.jobs) - len(waiting)} of {len(planned.jobs)} files were up to date")


def _own_or_named(asked: BatchOptions, named: WriterConfig, jobs: Sequence[Job]) -> WriterConfig:
    """The writer of what an output's name says; where that is the inputs' own format, they are kept but for words."""
    kept = {"text" if job.read_as == "lines" else job.read_as for job in jobs}
    is_own = kept == {named.format} and (len(jobs) == 1 or named.format == "text")
    return asked.writer() if is_own and not asked.resegment else named


def _settings(options: BatchOptions, terms: Terms | None) -> str:
    """What outputs depend on beside their inputs; files stand behind the names of models and presets."""
    from ..batch.jobs import model_state, settings_fingerprint
    from ..model import find

    state = options.strategy(), model_state(find(options.model, revision=options.revision))
    return settings_fingerprint((options.done, state, terms))


def _check_pauses(jobs: Sequence[Job], options: BatchOptions) -> None:
    """Raise ConfigError for pauses where no input has times."""
    if options.paragraph_pause_ms is not None and {job.read_as for job in jobs} <= {"text", "lines"}:
        raise ConfigError(
            "--paragraph-pause-ms for plain text, which has no times",
            expected="subtitles or a recogniser's file",
            fix="begin paragraphs by --paragraphs",
        )


def _run(
    work: Work | RayWork, jobs: Sequence[Job], options: BatchOptions, settings: str, output_dir: Path | None
) -> tuple[Failure, ...]:
    """Do the work behind a progress bar, and say which words were removed."""
    from ..batch.jobs import Current

    if output_dir is not None:
        Current.of(output_dir, settings)  # only now, when the model has accepted the settings
    is_hidden = any(job.target is None for job in jobs) and prints_as_it_works()
    n_bytes = float(sum(job.n_bytes for job in jobs)) or None
    with progress_bar("punctuating", n_bytes, is_hidden=is_hidden) as advance, ending_in_order():
        work.on_progress = advance
        outcome = work.run(jobs)
    report_removed(outcome.removed, outcome.n_words, options.disfluencies)
    return outcome.failures


def _report(failures: Sequence[Failure], n_files: int) -> None:
    """Say what failed.  Raises the error of a single file; several give exit code 1, since others are done."""
    if failures and n_files == 1:
        raise failures[0].error
    for failure in failures:
        typer.echo(f"t5punct: {' '.join(str(failure).split())}", err=True)
    if failures:
        typer.echo(f"t5punct: {len(failures)} of {n_files} files failed", err=True)
        raise typer.Exit(1)


def _punctuator(options: TranscriptOptions, for_review: bool) -> Punctuator:
    wait_asleep()  # in a worker nobody has said so yet
    return options.punctuator(options.render(for_review=for_review))
