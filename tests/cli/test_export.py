"""`t5punct export`: a trained folder in, the folder that is shared out."""

import errno
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from command import Invoke
from safetensors.torch import load_file
from tiny_encoders import save_tiny_encoder
from transformers import AutoModelForSeq2SeqLM, T5ForConditionalGeneration

from t5punct import model as models
from t5punct.model import Model
from t5punct.t5 import onnx
from t5punct.t5.folder import ONNX_FILES
from t5punct.t5.onnx import write_encoder
from t5punct.training.report import iter_use_of_network
from t5punct.training.start.from_encoder import FreshDecoderConfig, from_encoder


@pytest.fixture(scope="module")
def run_folder(tagged_model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with a tagger, and a file that only training needs."""
    folder = tmp_path_factory.mktemp("run")
    models.save(tagged_model.with_task(max_marks=2), folder)
    (folder / "optimiser.safetensors").write_bytes(b"moments")
    return folder


def test_weights_are_halved_and_the_task_changed_where_asked(run_folder: Path, tmp_path: Path, invoke: Invoke) -> None:
    (tmp_path / "task.yaml").write_text('mark_odds: {",": 2.5}\ndefault_style: meeting\n')
    output = tmp_path / "made"
    assert invoke("export", run_folder, "-o", output, "--task", tmp_path / "task.yaml", "default_style=chat")[0] == 0
    exported, trained = models.load(output), models.load(run_folder)
    assert exported.task == replace(trained.task, mark_odds={",": 2.5}, default_style="chat")
    assert exported.task.max_marks == 2, "what the model was trained with stays"
    assert {tensor.dtype for tensor in load_file(output / "model.safetensors").values()} == {torch.bfloat16}
    assert exported.tagger is not None
    assert not (output / "optimiser.safetensors").exists()


def test_an_earlier_model_in_the_folder_is_replaced_whole_or_stays_whole(
    run_folder: Path, tiny_model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invoke: Invoke
) -> None:
    output, plain = tmp_path / "made", tmp_path / "plain"
    assert invoke("export", run_folder, "-o", output)[0] == 0
    (output / "notes.txt").write_text("mine")
    before = {path.name: path.read_bytes() for path in output.iterdir()}
    models.save(tiny_model, plain)

    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(models.settings, "save", no_room)  # the weights are written by then
        assert invoke("export", plain, "-o", output)[0] == 2
    assert {path.name: path.read_bytes() for path in output.iterdir()} == before
    assert invoke("export", plain, "-o", output)[0] == 0
    assert models.load(output).tagger is None, "that of the earlier model is gone"
    assert (output / "notes.txt").read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"made", "plain"}


def test_a_bundled_model_keeps_its_card(tmp_path: Path, invoke: Invoke) -> None:
    card = (models.bundled_folder("small") / "README.md").read_text(encoding="utf-8")
    for dtype in ("int8", "bfloat16"):
        assert invoke("export", "small", "-o", tmp_path / dtype, "--dtype", dtype)[0] == 0
    assert (tmp_path / "int8" / "README.md").read_text(encoding="utf-8") == card
    said, is_told, note = (tmp_path / "bfloat16" / "README.md").read_text(encoding="utf-8").partition("## This export")
    assert said.strip() == card.strip() and is_told
    assert "transformers alone cannot read an encoder of another kind under a T5 decoder" in note
    assert AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "bfloat16"), "with t5punct it can"


@pytest.mark.parametrize("name", models.bundled_names())
def test_the_card_of_a_bundled_model_has_the_line_that_gives_its_network(name: str) -> None:
    card = (models.bundled_folder(name) / "README.md").read_text(encoding="utf-8")
    assert "\n".join(iter_use_of_network(name, "weights in int8 with a scale for each row")) in card


@pytest.mark.parametrize("dtype", ["int8", "bfloat16"])
def test_what_transformers_cannot_read_has_a_line_in_its_card_that_can(
    run_folder: Path, tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch, dtype: str
) -> None:
    assert invoke("export", run_folder, "-o", tmp_path / "made", "--dtype", dtype)[0] == 0
    card = (tmp_path / "made" / "README.md").read_text(encoding="utf-8")
    codes = re.findall(r"```python\n(from t5punct import model\n.*?)```", card, flags=re.DOTALL)
    assert bool(codes) == ("transformers alone cannot read weights in int8" in card) == (dtype == "int8")
    monkeypatch.chdir(tmp_path)
    for code in codes:
        names: dict[str, object] = {}
        exec(code, names)  # noqa: S102
        assert isinstance(names["network"], T5ForConditionalGeneration)


def test_a_folder_with_a_card_alone_may_become_a_model(run_folder: Path, tmp_path: Path, invoke: Invoke) -> None:
    (tmp_path / "README.md").write_text("my card")
    assert [invoke("export", run_folder, "-o", tmp_path)[0] for _ in range(2)] == [0, 0]


def onnx_error(model: Model, folder: Path, kind: str) -> torch.Tensor:
    """How far the states of an encoder in ONNX are from a model's, at most; and how large those are."""
    onnxruntime = pytest.importorskip("onnxruntime")
    ids = torch.randint(5, 50, (3, 9), generator=torch.Generator().manual_seed(1))
    mask = (torch.arange(9) < torch.tensor([9, 5, 7])[:, None]).long()
    ids[mask == 0] = model.tokenizer.pad_id
    session = onnxruntime.InferenceSession(folder / ONNX_FILES[kind], providers=["CPUExecutionProvider"])
    (states,) = session.run(None, {"ids": ids.numpy(), "mask": mask.numpy()})
    with torch.inference_mode():
        wanted = model.encode(ids, mask)[mask.bool()]
    return torch.stack([(torch.from_numpy(states)[mask.bool()] - wanted).abs().max(), wanted.abs().max()])


def test_an_encoder_in_onnx_gives_the_states_of_the_written_weights(
    run_folder: Path, tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are rounded to bfloat16 on the way.  What takes long, the export in fp32, is done once for both kinds."""
    pytest.importorskip("onnxruntime")
    for kind in ("fp32", "int8"):
        output = tmp_path / kind
        code, out, err = invoke("export", run_folder, "-o", output, "--onnx", kind)
        assert (code, err) == (0, "") and out.startswith(str(output)), "the exporter is silent"
        error, largest = onnx_error(models.load(output), output, kind)
        assert error < 1e-4 if kind == "fp32" else 1e-4 < error < 0.3 * largest
        written = tmp_path / "fp32" / ONNX_FILES["fp32"]
        monkeypatch.setattr(onnx, "_export", lambda _network, file, written=written: shutil.copy(written, file))


def test_an_encoder_of_another_family_is_written_in_onnx(tmp_path: Path) -> None:
    """Here, and not beside what else is tested of families, as loading ONNX takes longer than all of it."""
    pytest.importorskip("onnxruntime")
    begun = from_encoder(save_tiny_encoder(tmp_path / "encoder", "mpnet"), FreshDecoderConfig(), None)
    models.save(begun, tmp_path / "model")
    write_encoder(begun.network, tmp_path / "model", "fp32")
    assert onnx_error(models.load(tmp_path / "model"), tmp_path / "model", "fp32")[0] < 1e-4
