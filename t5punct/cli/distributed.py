"""The options of `t5punct punctuate` that say who does the work: this process, or Ray workers.

In: values of the command line.  Out: a `Work` or a `RayWork`, which are run alike.

`--ray local --ray-workers 2 --output-dir out` is `RayWork(.., Path("out"), RayConfig("local", 2))`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..extras import need
from .options import expert
from .threads import available_processors, wait_asleep
from .transcripts import TranscriptOptions

if TYPE_CHECKING:
    from ..batch.distributed import RayWork
    from ..batch.work import Work
    from ..punctuator import Punctuator
    from ..transcripts.terms import Terms
    from ..transcripts.writers import WriterConfig


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

    def check(self) -> None:
        """Raise ConfigError where Ray is asked for and not installed."""
        if self.ray is not None:
            need("ray")

    @property
    def done(self) -> BatchOptions:
        """What is done, whoever does it, and by however many threads."""
        return replace(self, ray=None, ray_workers=None, threads=None)

    def work(
        self, writer: WriterConfig, terms: Terms | None, output_dir: Path | None, *, for_review: bool = False
    ) -> Work | RayWork:
        """Make the worker on files; the model is loaded at once here, and later in Ray's workers."""
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


def _punctuator(options: TranscriptOptions, for_review: bool) -> Punctuator:
    wait_asleep()  # in a worker nobody has said so yet
    return options.punctuator(options.render(for_review=for_review))
