"""Several runs one after the other: `runs.py --config FILE + SETTINGS + SETTINGS`; with `fsdp` among them, in shards.

accelerate offers FSDP on accelerators only.  Torch has it on processors too, so that all else can be tested there: the
shards, their moments, whole checkpoints of them, and the way back.
"""

import sys
from itertools import groupby

from accelerate import Accelerator, FullyShardedDataParallelPlugin, PartialState
from accelerate.utils import DistributedType
from processes import NEXT

from t5punct import config as settings
from t5punct.cli.train import leave_group
from t5punct.training.config import TrainConfig
from t5punct.training.loop import run
from t5punct.training.loop.train import train

_made = run._accelerator


def _sharded(config: TrainConfig) -> Accelerator:
    accelerator: Accelerator = _made(config)
    accelerator.state.distributed_type = DistributedType.FSDP
    PartialState._shared_state["distributed_type"] = DistributedType.FSDP  # as accelerate sets it on accelerators
    accelerator.state.fsdp_plugin = FullyShardedDataParallelPlugin(
        fsdp_version=2, auto_wrap_policy="transformer_based_wrap", reshard_after_forward=True,
        cpu_ram_efficient_loading=False,
    )  # fmt: skip
    return accelerator


if __name__ == "__main__":
    _, file, *words = sys.argv[1:]
    for is_next, changes in groupby(words, key=NEXT.__eq__):
        if not is_next:
            overrides = list(changes)
            if "fsdp" in overrides:  # of the last runs
                overrides.remove("fsdp")
                run._accelerator = _sharded
            train(settings.load(TrainConfig, file, overrides))
    leave_group()
