"""Models on disk: what is saved comes back; what is no usable T5 is said in one line."""

import copy
import json
import platform
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch
from from_scratch import train_tokenizer
from safetensors import SafetensorError
from safetensors.torch import load_file
from tiny import tiny_text
from transformers.utils import logging as transformers_logging

from t5punct import __version__
from t5punct import model as models
from t5punct.decoding.inputs import WindowInput
from t5punct.decoding.slots import SlotDecoder
from t5punct.errors import ConfigError, ModelError, OutputError
from t5punct.model import Model
from t5punct.punctuator import Punctuator
from t5punct.t5.task import TaskConfig
from t5punct.t5.tokenization import TaskTokenizer

WINDOW = WindowInput.of("we know what this is don't we 🙂".split())


def test_a_saved_model_comes_back_whole_and_in_half_as_float32(tiny_model: Model, tmp_path: Path) -> None:
    task = TaskConfig(marks=",.?", max_marks=2, default_style="chat")
    model = Model(tiny_model.network, TaskTokenizer(tiny_model.tokenizer.tokenizer, task), "tiny")
    models.save(model, tmp_path / "saved")
    loaded = models.load(tmp_path / "saved")
    assert loaded.task == task
    assert not loaded.network.training
    for name, tensor in tiny_model.network.state_dict().items():
        assert torch.equal(loaded.network.state_dict()[name], tensor), name
    assert SlotDecoder(loaded).votes([WINDOW]) == SlotDecoder(model).votes([WINDOW])
    assert (tmp_path / "saved/t5punct-version.txt").read_text() == __version__ + "\n"
    assert not list((tmp_path / "saved").glob("*.bin"))
    models.save(tiny_model, tmp_path / "full")
    models.save(tiny_model, tmp_path / "half", dtype=torch.bfloat16)
    full, half = ((tmp_path / name / "model.safetensors").stat().st_size for name in ("full", "half"))
    assert half < 0.6 * full
    loaded = models.load(tmp_path / "half")
    for name, tensor in tiny_model.network.state_dict().items():
        assert torch.equal(loaded.network.state_dict()[name], tensor.bfloat16().float()), name
    assert json.loads((tmp_path / "half/config.json").read_text())["dtype"] == "bfloat16"


def test_a_folder_without_a_task_has_the_default_one_and_one_in_the_home_is_found(
    tiny_model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models.save(tiny_model, tmp_path)
    (tmp_path / models.TASK_FILE).unlink()
    assert models.load(tmp_path).task == TaskConfig()
    models.save(tiny_model, tmp_path / "mine")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert models.load("~/mine").task == TaskConfig()


@pytest.mark.parametrize("name", ["large", "base", "multi", "small"])
def test_a_bundled_model_fits_its_size_has_a_card_and_works_by_its_name(name: str) -> None:
    folder = models.bundled_folder(name)
    most = {"large": 128, "base": 80, "multi": 64, "small": 64}[name]
    assert sum(file.stat().st_size for file in folder.iterdir()) < most * 2**20
    assert all(file.stat().st_size < 50e6 for file in folder.iterdir()), "shards"
    assert (folder / "README.md").read_text(encoding="utf-8").startswith(f"# {name}")
    punctuator = Punctuator.from_pretrained(name)
    assert punctuator.model.tagger is not None and punctuator.model.task.classifies
    assert punctuator.punctuate("how are you today") == "How are you today?"
    if name == "multi":
        for text in ("Señora ministra, ¿qué va a hacer usted?", "Ich danke dem Herrn Minister für die Antwort."):
            assert punctuator.punctuate(re.sub(r"[,.?¿]", "", text).lower()) == text


def test_a_wrong_model_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file.txt").write_text("no model")
    (tmp_path / "empty").mkdir()
    for source in ("nowhere/at/all", "file.txt", "empty"):
        with pytest.raises(ModelError, match="expected a T5 folder") as caught:
            models.load(source)
        assert "\n" not in str(caught.value)
    with pytest.raises(ModelError, match="a model 5; expected a name or a folder"):
        models.load(5)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="no bundled model 'huge'; expected one of base, large, multi, small"):
        models.bundled_folder("huge")


def overwrite(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text + "\n")


def configure(folder: Path, **changes: object) -> None:
    overwrite(folder, "config.json", json.dumps(json.loads((folder / "config.json").read_text()) | changes))


def drop_tokenizer(folder: Path) -> None:
    for path in folder.glob("tokenizer*"):
        path.unlink()


def pickle_weights(folder: Path) -> None:
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


NO_FIT = r"the weights of .* do not fit its config.json \(.*such as "


@pytest.mark.parametrize(("damage", "error"), [
    (pickle_weights, r"expected a T5 with model\.safetensors"),
    (partial(overwrite, name="model.safetensors", text="no weights"), "cannot be loaded"),
    *((partial(overwrite, name=f"{name}.json", text=text), "no tokenizer in|cannot be loaded|without a model_type")
      for name in ("config", "tokenizer", "tokenizer_config") for text in ("[]", "null", "{")),
    (partial(configure, num_layers=3), f"{NO_FIT}encoder.block.2"),  # would be random
    (partial(configure, num_layers=1), f"{NO_FIT}encoder.block.1"),  # would be left out
    (partial(configure, d_model=128), f"{NO_FIT}decoder.block.0"),
    (partial(configure, vocab_size=100), f"{NO_FIT}shared.weight"),
    (partial(configure, d_model="wide"), "d_model"),
    (drop_tokenizer, "no tokenizer in .*; expected a T5 folder or hub id; check the name"),
    (partial(overwrite, name=models.TASK_FILE, text="prefix: '{foo}'"), "prefix '{foo}'; expected text, with or w"),
    # a model's task cannot read the environment
    *((partial(overwrite, name=models.TASK_FILE, text=text), r"\$\{...\} in .*t5punct.yaml; expected plain values")
      for text in ("prefix: '${oc.env:HOME}'", 'prefix: "\\x24{oc.env:HOME}"', "mark_odds: {'${a}': 1}")),
])  # fmt: skip
def test_a_damaged_model_is_told(tiny_model: Model, tmp_path: Path, damage: Callable[[Path], None], error: str) -> None:
    models.save(tiny_model, tmp_path)
    damage(tmp_path)
    with pytest.raises((ModelError, ConfigError), match=error) as caught:
        models.load(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused(tiny_model: Model, tmp_path: Path, value: float) -> None:
    network = copy.deepcopy(tiny_model.network)
    with torch.no_grad():
        network.encoder.block[1].layer[0].SelfAttention.q.weight[3, 5] = value
    models.save(replace(tiny_model, network=network), tmp_path)
    told = r"not finite \(1 of them, such as encoder.block.1.*q.weight\); expected finite"
    with pytest.raises(ModelError, match=told):
        models.load(tmp_path)


def test_another_models_tokenizer_is_said(tiny_model: Model, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    models.save(tiny_model, tmp_path)
    models.load(tmp_path)
    assert not caplog.records
    shouted = (sentence.upper() for sentence in tiny_text(400, seed=2))
    train_tokenizer(shouted, tmp_path, 500)
    models.load(tmp_path)
    (record,) = caplog.records
    assert "this tokenizer is not the one that the model was saved with" in record.getMessage()
    larger = models.load_tokenizer(tmp_path, TaskConfig()).tokenizer
    larger.add_tokens([f"word{number}" for number in range(1000 - len(larger))])
    larger.save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=r"a tokenizer of 1000 pieces for a model of .*; expected the tokenizer that"):
        models.load(tmp_path)


def test_loading_and_saving_draw_nothing_and_a_full_disk_is_told(
    tiny_model: Model, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    transformers_logging.enable_progress_bar()
    models.save(tiny_model, tmp_path)
    Punctuator.from_pretrained(tmp_path)
    assert capfd.readouterr() == ("", "")
    assert transformers_logging.is_progress_bar_enabled(), "as it was before"

    def full(*_: object, **__: object) -> None:
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(tiny_model.network, "save_pretrained", full)
    with pytest.raises(OutputError, match=r"saved cannot be written \(.*No space left.*; expected a folder with room"):
        models.save(tiny_model, tmp_path / "saved")


def test_a_tagger_is_saved_with_its_model_and_left_out_with_a_warning_where_it_learned_other_marks(
    tagged_model: Model, tiny_model: Model, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A run that begins with it would otherwise lose, unsaid, what it knows."""
    models.save(tagged_model, tmp_path)
    loaded = models.load(tmp_path).tagger
    assert loaded is not None and tagged_model.tagger is not None
    for name, wanted in tagged_model.tagger.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], wanted)
    assert not caplog.messages
    assert models.load(tmp_path, task=TaskConfig(marks=",.")).tagger is None
    assert "does not fit the marks ',.', and is left out" in caplog.text
    models.save(tiny_model, tmp_path)
    assert models.load(tmp_path).tagger is None, "a model without a tagger leaves none in its folder"


_FILLS_AND_FREES = """
import sys, torch
from pathlib import Path
from t5punct.model import prepare_process

def resident_pages():
    return int(Path("/proc/self/statm").read_text().split()[1])

if sys.argv[1:]:
    prepare_process()
before = resident_pages()
block = torch.ones(6_000_000)
filled = resident_pages()
del block
print((resident_pages() - before) / (filled - before))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries free memory in other ways")
def test_prepare_process__keeps_a_block_that_is_freed() -> None:
    """A block of 24 MB; without it, it is the system's again."""
    command = [sys.executable, "-c", _FILLS_AND_FREES]
    without, kept = (
        float(subprocess.run([*command, *more], capture_output=True, text=True, check=True).stdout)
        for more in ([], ["keep"])
    )
    assert without < 0.5 < kept
