"""Files from Python: one file, or as many as there are.

In: a punctuator and paths.  Out: files, or the text of one.

`punctuate_files(punctuator, ["lectures"], "out")` is `t5punct punctuate lectures --output-dir out`, with what failed in
its outcome.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import InputError
from ..punctuator import Punctuator
from ..text.io.outputs import named_place
from ..transcripts.terms import Terms
from ..transcripts.writers import WriterConfig
from .current import Current, fingerprint, model_state
from .jobs import OutputConfig, plan_jobs
from .work import Outcome, Work

StrPath = str | Path


def punctuate_file(
    punctuator: Punctuator, source: StrPath, *, format: str | None = None, writer: WriterConfig | None = None
) -> str:
    """Return a transcript of any format with marks and capitals, in its own format or in that of `writer`.

    `format`: what the file is; None: its name tells.  Raises InputError for a file that cannot be read or written so.
    """
    work = Work(punctuator, writer)
    transcript = work.read(str(source), format)
    return "".join(work.pieces(transcript, punctuator.annotate_texts(transcript.texts), str(source)))


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
    lines of a file of terms.  Raises InputError if nothing can be done; what fails later is in the outcome.
    """
    if isinstance(inputs, str | Path):  # whose letters would be the inputs
        raise InputError(
            f"one input, {inputs}", expected="several, such as a list of them", fix=f"write [{str(inputs)!r}]"
        )
    writer, spellings = writer or WriterConfig(), Terms.of(terms)
    reads = () if punctuator.model.folder is None else (str(punctuator.model.folder),)
    places = OutputConfig(folder=named_place(folder), format=writer.format, reads=reads)
    planned = plan_jobs([str(source) for source in inputs], places, format)
    model = (punctuator.model.name, model_state(punctuator.model.folder))
    settings = (model, punctuator.config, writer, spellings, format)
    current = Current.of(Path(folder), fingerprint(settings))
    outcome = Work(punctuator, writer, spellings if spellings.longest else None).run(
        [job for job in planned.jobs if overwrite or not current.has(job)]
    )
    return replace(outcome, failures=(*planned.failures, *outcome.failures))
