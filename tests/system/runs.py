"""Several runs one after the other: `runs.py --config FILE + SETTINGS + SETTINGS`; with `fsdp` among them, in shards.

With `interrupted` among them the last process of a run is interrupted in its fifth step.

accelerate offers FSDP on accelerators only.  Torch has it on processors too, so that all else can be tested there: the
shards, their moments, whole checkpoints of them, and the way back.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from itertools import groupby

from accelerate import Accelerator, FullyShardedDataParallelPlugin, PartialState
from accelerate.utils import DistributedType
from processes import NEXT

from t5punct import config as settings
from t5punct.cli.process import end_at_once
from t5punct.cli.train import leave_group
from t5punct.training.config import TrainConfig
from t5punct.training.loop import train as loop

_made = loop._accelerator


def _sharded(config: TrainConfig) -> Accelerator:
    accelerator: Accelerator = _made(config)
    accelerator.state.distributed_type = DistributedType.FSDP
    PartialState._shared_state["distributed_type"] = DistributedType.FSDP  # as accelerate sets it on accelerators
    accelerator.state.fsdp_plugin = FullyShardedDataParallelPlugin(
        fsdp_version=2, auto_wrap_policy="transformer_based_wrap", reshard_after_forward=True,
        cpu_ram_efficient_loading=False,
    )  # fmt: skip
    return accelerator


@contextmanager
def _interrupted() -> Iterator[None]:
    take = loop.take_step

    def interrupt_and_take(state: loop.Run, batch: object) -> object:
        if state.state.step == 4 and state.accelerator.is_last_process:
            os.kill(os.getpid(), signal.SIGINT)
        return take(state, batch)

    loop.take_step = interrupt_and_take
    try:
        yield
    except KeyboardInterrupt:
        loop.take_step = take
    else:
        sys.exit("the run was not interrupted")


if __name__ == "__main__":
    _, file, *words = sys.argv[1:]
    for is_next, changes in groupby(words, key=NEXT.__eq__):
        if not is_next:
            overrides = list(changes)
            if "fsdp" in overrides:  # of the last runs
                overrides.remove("fsdp")
                loop._accelerator = _sharded
            is_interrupted = "interrupted" in overrides
            overrides = [override for override in overrides if override != "interrupted"]
            with _interrupted() if is_interrupted else nullcontext():
                loop.train(settings.load(TrainConfig, file, overrides))
    leave_group()
    end_at_once()
