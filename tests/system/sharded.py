"""train.py with FSDP on processors, for `test_several_processes.py`.

accelerate offers FSDP on accelerators only.  Torch has it on processors too, so that all else can be tested there: the
shards, their moments, whole checkpoints of them, and the way back: the run stops at `STOP` steps, and is resumed.
"""

import sys

from accelerate import Accelerator, FullyShardedDataParallelPlugin, PartialState
from accelerate.utils import DistributedType

from t5punct import config as settings
from t5punct.cli.launchers import leave_group
from t5punct.training.config import TrainConfig
from t5punct.training.loop import run
from t5punct.training.loop.train import train

STOP = 3
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
    run._accelerator = _sharded
    _, file, *overrides = sys.argv[1:]  # as train.py takes them
    for change in (f"optim.max_steps={STOP}", "resume=true"):
        train(settings.load(TrainConfig, file, [*overrides, change]))
    leave_group()
