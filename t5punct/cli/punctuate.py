"""`t5punct punctuate`: transcripts in, the same with marks and capitals out.

In: files of any format, folders, patterns, or standard input.  Out: text or json on standard output or in files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import ConfigError
from ..extras import need
from ..options import TranscriptOptions
from ..text.render import REMOVE
from ..windows.presets import DEFAULT_PRESET
from . import parameters as shared
from .parameters import is_setting, load_punctuator, place, read_options
from .process import available_processors, ending_in_order, let_threads_sleep
from .progress import note, note_how_to_end, output_is_file, progress_bar, summarise_removed

if TYPE_CHECKING:
    from ..batch.distributed import RayWork
    from ..batch.jobs import Failure
    from ..punctuator import Punctuator, PunctuatorConfig
    from ..transcripts.terms import Terms
    from ..transcripts.writers import WriterConfig


@dataclass(frozen=True)
class BatchOptions(TranscriptOptions):
    """The options of transcripts, and the Ray workers that do them."""

    ray: Annotated[
        str | None,
        "With --output-dir: share the files out to Ray workers, each with a model of its own and `threads` processors "
        "(1); local, or the address of a cluster whose machines see the same files at the same paths.",
    ] = None
    ray_workers: Annotated[int | None, "With ray: how many workers; else as many as there are processors for."] = None


Inputs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="INPUT | KEY=VALUE",
        show_default="standard input",
        help="Transcripts in UTF-8 or UTF-16, gzip or xz too: text, subtitles (.srt, .vtt, .ass), a recogniser's "
        ".json (of Whisper, Deepgram, AWS, rev.ai, YouTube and others), .jsonl, .ctm, .tsv, .csv.  A folder: all such "
        "files in it.  A pattern in quotes: 'talks/*.srt'.  `-`: standard input.  Marks that are there are replaced; "
        "see --keep-marks.  KEY=VALUE: a setting of the list below.",
    ),
]
Output = Annotated[
    Path | None,
    place("-o", "--output", show_default="standard output", help="Write to this file; `-`: standard output."),
]
OutputDir = Annotated[
    Path | None,
    place(
        show_default="none",
        help="Write a file for each INPUT into this folder, in the same subfolders.  What is up to date is skipped.",
    ),
]
Html = Annotated[
    Path | None,
    place(
        show_default="none",
        help="Write a page for review, too, which any browser opens: the text with its doubtful marks, what else they "
        "may be, and ways to change them.  For many INPUTs see --to html.",
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="With --output-dir: write all files again, also those that are up to date.")
]


def punctuate(
    context: typer.Context,
    inputs: Inputs = None,
    output: Output = None,
    output_dir: OutputDir = None,
    html: Html = None,
    overwrite: Overwrite = False,
    model: shared.Model = None,
    language: shared.Language = None,
    style: shared.Style = None,
    decoder: shared.Decoder = "auto",
    marks: shared.Marks = None,
    mark_odds: shared.MarkOdds = None,
    precision: shared.Precision = "auto",
    device: shared.Device = "auto",
    preset: shared.PresetName = DEFAULT_PRESET,
    format: shared.Format = None,
    to: shared.To = None,
    json: shared.Json = False,
    lines: shared.Lines = False,
    keep_marks: shared.KeepMarks = False,
    no_case: shared.NoCase = False,
    keep_case: shared.KeepCase = False,
    disfluencies: shared.Disfluencies = "keep",
    terms: shared.Terms = None,
    paragraphs: shared.Paragraphs = None,
    resegment: shared.Resegment = False,
    quiet: shared.Quiet = False,
) -> None:
    """Put marks and capitals into transcripts; no word is changed.

    All else in a file stays as it is: white space, times, tags, notes, speaker labels (`JOHN:`) and stage directions
    (`[laughs]`).
    """
    from ..batch.jobs import Freshness, OutputConfig, plan_jobs
    from ..transcripts.terms import Terms

    settings = [word for word in inputs or () if is_setting(word)]
    files = [word for word in inputs or () if not is_setting(word)]
    options = read_options(BatchOptions, context, settings)
    writer = options.writer(output)
    config = options.config(options.render(for_review=html is not None or writer.format == "html"))
    spellings = None if options.terms is None else Terms.from_file(options.terms)
    places = OutputConfig(output, output_dir, writer.format, html, options.reads)
    planned = plan_jobs(files or ["-"], places, options.input_format)
    formats = {"text" if job.input_format == "lines" else job.input_format for job in planned.jobs}
    is_input_format = formats == {writer.format}  # it was asked for by name, or by the output's name
    may_stay = len(planned.jobs) == 1 or writer.format == "text"  # of several files, only texts may
    if is_input_format and may_stay and not options.resegment:
        writer = options.writer()  # without a format: only marks and capitals change
    if options.paragraph_pause_ms is not None and formats <= {"text"}:
        mistake = "paragraph_pause_ms for plain text, which has no times"
        raise ConfigError(mistake, expected="subtitles or a recogniser's file", fix="begin paragraphs by --paragraphs")
    fingerprint = "" if output_dir is None else _fingerprint(options, config, writer, spellings)
    freshness = Freshness(None) if output_dir is None else Freshness.read(output_dir, fingerprint)
    waiting = [job for job in planned.jobs if overwrite or not freshness.is_current(job)]
    failures = planned.failures
    if waiting:
        note_how_to_end([job.source for job in waiting])
        from ..batch.work import Work  # loads torch

        if options.ray is not None and output_dir is not None:
            work: Work | RayWork = _ray_work(options, config, writer, spellings, output_dir)
        else:
            work = Work(load_punctuator(options, config), writer, spellings)
        if output_dir is not None:
            Freshness.start(output_dir, fingerprint)  # only now, when the model has accepted the settings
        is_hidden = any(job.target is None for job in waiting) and not output_is_file()
        n_bytes = float(sum(job.n_bytes for job in waiting)) or None
        with progress_bar("punctuating", n_bytes, is_hidden=is_hidden) as advance, ending_in_order():
            work.on_progress = lambda n_bytes, n_words: advance(n_bytes, n_words=n_words)
            outcome = work.run(waiting)
        if options.disfluencies == REMOVE:
            note(summarise_removed(outcome.removed, outcome.n_words))
        failures += outcome.failures
    if failures:
        _report(failures, len(planned.jobs) + len(planned.failures), output)
    n_current = len(planned.jobs) - len(waiting)
    if n_current:
        note(f"{n_current} of {len(planned.jobs)} files were up to date")


def _fingerprint(options: BatchOptions, config: PunctuatorConfig, writer: WriterConfig, terms: Terms | None) -> str:
    """Return a hash of all that an output depends on but its input; the model's files are part of it."""
    from ..batch.jobs import model_state, settings_fingerprint
    from ..model import find

    state = model_state(find(options.model, revision=options.revision))
    return settings_fingerprint((options.model, state, config, writer, terms, options.input_format))


def _report(failures: Sequence[Failure], n_files: int, output: Path | None) -> None:
    """Print the failures and end with exit code 1; of a single file its error is raised, which gives 2.

    output: that of all files, which is not written if one of them failed.
    """
    if n_files == 1:
        raise failures[0].error
    for failure in failures:
        typer.echo(f"t5punct: {' '.join(str(failure).split())}", err=True)
    ending = f", so {output} is not written; leave them out, or name a folder by --output-dir" if output else ""
    typer.echo(f"t5punct: {len(failures)} of {n_files} files failed{ending}", err=True)
    raise typer.Exit(1)


def _ray_work(
    options: BatchOptions, config: PunctuatorConfig, writer: WriterConfig, terms: Terms | None, output_dir: Path
) -> RayWork:
    need("ray")
    from ..batch.distributed import LOCAL, PartWorker, RayConfig, RayWork

    n_cpus = options.threads or 1
    n_workers = options.ray_workers
    if options.ray == LOCAL:
        n_workers = n_workers or max(1, available_processors() // n_cpus)
    shares = RayConfig(options.ray or LOCAL, n_workers, n_cpus, n_gpus=int(options.device.startswith("cuda")))
    load = partial(_load_in_worker, replace(options, threads=n_cpus), config)
    return RayWork(PartWorker(load, output_dir, writer, terms), shares)


def _load_in_worker(options: BatchOptions, config: PunctuatorConfig) -> Punctuator:
    let_threads_sleep()  # in a worker no command has called it
    return load_punctuator(options, config)
