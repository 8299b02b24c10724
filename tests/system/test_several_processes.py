"""Training in real processes: two give what one gives with twice the batch, with FSDP too."""

import json
from pathlib import Path

import pytest
from processes import BIN, Output, finish_runs
from safetensors.torch import load_file

from t5punct import config as settings
from t5punct import model as models
from t5punct.training.config import DataConfig, LossConfig, OptimConfig, TrainConfig, ValidationConfig
from t5punct.training.loop.train import train

N_STEPS, EVERY = 9, 3  # within an epoch: at its end two processes leave an odd batch out
# Adam divides by the size of gradients, which two processes sum in another order: near 0 that shows
LOSS_TOLERANCE, WEIGHT_TOLERANCE = 0.002, 0.003
SHARDED = [
    "optim.warmup_steps=2", "optim.schedule=constant_with_warmup", "optim.max_steps=6", "gradient_checkpointing=true",
    "checkpoint_every_steps=0",
]  # fmt: skip

pytestmark = pytest.mark.skipif(not BIN.joinpath("torchrun").exists(), reason="torchrun is not in this environment")


@pytest.fixture(scope="module")
def settings_file(tmp_path_factory: pytest.TempPathFactory, tiny_data: Path, folder: str) -> Path:
    path = tmp_path_factory.mktemp("launched") / "train.yaml"
    config = TrainConfig(
        init_from=folder,  # without dropout, which processes draw alone
        data=DataConfig(str(tiny_data), batch_tokens=300), loss=LossConfig(tagger_weight=0.5),
        optim=OptimConfig(lr=3e-3, warmup_steps=3, max_steps=N_STEPS),
        validation=ValidationConfig(every_steps=EVERY), checkpoint_every_steps=EVERY, log_every_steps=EVERY,
    )  # fmt: skip
    settings.save(config, path)
    return path


@pytest.fixture(scope="module")
def in_two(settings_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what two processes left: `two`; `cut`, which was interrupted; `sharded`; both were resumed."""
    folder = tmp_path_factory.mktemp("two")
    sharded = ["fsdp", *SHARDED, f"output={folder / 'sharded'}"]
    cut = [f"output={folder / 'cut'}", "checkpoint_every_steps=0", "validation.every_steps=0"]
    whole = [f"output={folder / 'two'}"], ["interrupted", *cut], [*cut, "resume=true"]
    runs = *whole, [*sharded, "optim.max_steps=3"], [*sharded, "resume=true"]
    assert "lr_scheduler" not in finish_runs(settings_file, *runs)
    names = {"two", "cut", "sharded"}
    assert {path.name for path in folder.iterdir()} == names | {f"{name}.log.jsonl" for name in names}
    return folder


def in_one(settings_file: Path, output: Path, *changes: str) -> Output:
    """A run of this process with twice the batch: two batches a step."""
    overrides = [*changes, "optim.accumulation_steps=2", f"output={output}"]
    return Output(train(settings.load(TrainConfig, settings_file, overrides)))


def largest_difference(first: Output, second: Output, name: str) -> float:
    wanted, other = (load_file(output.folder / f"{name}.safetensors") for output in (first, second))
    assert wanted.keys() == other.keys()
    return max(float((other[key] - wanted[key]).abs().max()) for key in wanted)


def test_two_processes_give_what_one_does_with_two_batches(settings_file: Path, in_two: Path, tmp_path: Path) -> None:
    one, two = in_one(settings_file, tmp_path / "one"), Output(in_two / "two")
    assert two.validated == pytest.approx(one.validated, abs=LOSS_TOLERANCE)
    assert two.validated[-1] < two.validated[0] - 10 * LOSS_TOLERANCE, "else all would be within the tolerance"
    # of two processes that both write, each would log all the steps
    steps = [line["step"] for line in two.log if "text_loss" in line]
    assert steps == list(range(EVERY, N_STEPS + 1, EVERY))
    states = [json.loads((output.folder / "state.json").read_text()) for output in (one, two)]
    assert [state["step"] for state in states] == [N_STEPS, N_STEPS], "the last save"
    assert largest_difference(one, two, "model") < WEIGHT_TOLERANCE


def test_where_one_of_two_processes_is_interrupted_both_end_and_go_on_as_if_nothing_had_been(in_two: Path) -> None:
    cut = Output(in_two / "cut")
    assert [line["step"] for line in cut.log] == [3, 5, 8, 9], "the interrupt fell into step 5"
    assert largest_difference(cut, Output(in_two / "two"), "model") == 0


def test_two_processes_in_shards_give_what_one_gives(settings_file: Path, in_two: Path, tmp_path: Path) -> None:
    """FSDP: what it trains, saves and resumes."""
    one, two = in_one(settings_file, tmp_path / "one", *SHARDED), Output(in_two / "sharded")
    assert two.validated == pytest.approx(one.validated, abs=WEIGHT_TOLERANCE)
    assert one.validated[-1] < one.validated[0] - 10 * WEIGHT_TOLERANCE, "else all would be within the tolerance"
    for name in ("model", "tagger"):
        assert largest_difference(one, two, name) < WEIGHT_TOLERANCE
    moments = [load_file(output.folder / "optimiser.safetensors") for output in (one, two)]
    assert set(moments[1]) >= {"rng", "rng.1"}
    assert {name: tensor.shape for name, tensor in moments[0].items()} == {
        name: tensor.shape for name, tensor in moments[1].items() if name != "rng.1"
    }
    assert models.load(two.folder / "best").tagger is not None
