"""`t5punct export`: a trained folder in, the folder that is shared out; and what is sent to a hub, without a network.

A stand-in takes the place of the hub's client and puts what it is sent into a cache of the hub's layout, from which
models are loaded as if they had been downloaded.
"""

import errno
import re
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest
import torch
from command import Invoke
from huggingface_hub import constants
from safetensors.torch import load_file
from transformers import AutoModelForSeq2SeqLM, T5ForConditionalGeneration

from t5punct import config as settings
from t5punct import model as models
from t5punct.model import Model
from t5punct.punctuator import Punctuator
from t5punct.t5 import onnx
from t5punct.t5.folder import ONNX_FILES
from t5punct.training.config import DataConfig, TrainConfig
from t5punct.training.data.corpora import CorpusConfig
from t5punct.training.data.prepare import PrepareConfig
from t5punct.training.report import compose_card, iter_use_of_network


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
    copied, title, note = (tmp_path / "bfloat16" / "README.md").read_text(encoding="utf-8").partition("## This export")
    assert copied.strip() == card.strip() and title
    assert "transformers alone cannot read an encoder of another kind under a T5 decoder" in note
    assert AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "bfloat16"), "with t5punct it can"
    for name in models.bundled_names():
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


@pytest.mark.long  # loading the exporter takes longer than most rooms
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


# -- to a hub


HUB_ID, COMMIT = "someone/punct", "1" * 40
TEXT = "we know that this is right what how are you today well i think it is time"


class Hub:
    """The client's methods that pushing uses."""

    calls: list[tuple[str, object]]

    def create_repo(self, repo_id: str, *, private: bool | None, exist_ok: bool) -> None:
        self.calls.append((repo_id, private))
        assert exist_ok

    def upload_folder(self, *, repo_id: str, folder_path: Path, commit_message: str) -> SimpleNamespace:
        self.calls.append((repo_id, sorted(path.name for path in folder_path.iterdir())))
        repository = Path(constants.HF_HUB_CACHE) / "models--someone--punct"
        shutil.copytree(folder_path, repository / "snapshots" / COMMIT)
        (repository / "refs").mkdir()
        (repository / "refs" / "main").write_text(COMMIT)
        return SimpleNamespace(commit_url=f"https://hub/{repo_id}/commit/{COMMIT}")


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, object]]:
    """What the stand-in is asked, with a login and a network."""
    Hub.calls = []
    monkeypatch.setattr(huggingface_hub, "HfApi", Hub)
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: "hf_x")
    monkeypatch.setattr(huggingface_hub, "is_offline_mode", lambda: False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return Hub.calls


@pytest.fixture
def run(tagged_model: Model, lively_model: Model, tmp_path: Path) -> Path:
    """A run that began with a model whose card states a licence, on a data set that is still there."""
    run, parent, data = tmp_path / "secret" / "run", tmp_path / "secret" / "parent", tmp_path / "secret" / "data"
    models.save(replace(lively_model, tagger=tagged_model.tagger).with_task(default_style="chat"), run)
    parent.mkdir()
    (parent / "README.md").write_text("---\nlicense: mit\n---\n# A parent\n")
    data.mkdir()
    settings.save(PrepareConfig(corpora=[CorpusConfig("talks/mine.txt", "talk", 5000)]), data / "prepare.yaml")
    (data / "report.json").write_text('{"corpora": [{"words": 5000}]}')
    settings.save(TrainConfig(output=str(run), init_from=str(parent), data=DataConfig(str(data))), run / "train.yaml")
    (run / "optimiser.safetensors").write_bytes(b"moments")
    table = "## Scores on dev.txt\n\nOf 900 words.\n\n| micro | 60.0 | 62.6 | 61.3 (60.0 to 62.5) |\n"
    (run / "report.md").write_text(f"# run\n\n- in /secret/run\n\n{table}\n## Settings\n\noutput: /secret/run\n")
    return run


def test_what_is_pushed_loads_as_it_was_with_equal_outputs(
    run: Path, tmp_path: Path, calls: list[tuple[str, object]], invoke: Invoke
) -> None:
    output = tmp_path / "out"
    code, out, err = invoke("export", run, "-o", output, "--push-to-hub", HUB_ID, "--private", "--dtype", "float32")
    assert (code, err) == (0, "")
    assert out.splitlines() == [f"{output}: exported from {run}", f"https://hub/{HUB_ID}/commit/{COMMIT}: pushed"]
    (created, private), (sent_to, names) = calls
    assert (created, private, sent_to) == (HUB_ID, True, HUB_ID)
    assert isinstance(names, list)
    assert {"README.md", "config.json", "model.safetensors", "t5punct.yaml", "tagger.safetensors"} <= set(names)
    assert not {"optimiser.safetensors", "train.yaml", "report.md"} & set(names)
    before, after = models.load(run), models.load(HUB_ID)
    assert after.task == before.task
    for name, value in before.network.state_dict().items():
        assert torch.equal(after.network.state_dict()[name], value)
    assert Punctuator(after).annotate(TEXT) == Punctuator(before).annotate(TEXT)
    assert after.tagger is not None and before.tagger is not None
    assert torch.equal(after.tagger.marks.weight, before.tagger.marks.weight)


def test_the_card_tells_parent_licences_data_scores_and_use_and_no_path(run: Path) -> None:
    text = compose_card(run, models.read_task(run), HUB_ID, licence="apache-2.0")
    metadata = text.split("---")[1]
    assert "license: apache-2.0" in metadata and "library_name: t5punct" in metadata and "base_model" not in metadata
    for part in (
        f"t5punct punctuate talk.txt --model {HUB_ID}", "parent (licence: mit)", "| mine.txt | talk | 5,000 |",
        "| micro | 60.0 | 62.6 | 61.3 (60.0 to 62.5) |", "(default: chat)", "Licence of this model: apache-2.0",
    ):  # fmt: skip
        assert part in text, part
    assert "secret" not in text and "Scored before" not in text
    changed = compose_card(run, replace(models.read_task(run), default_style="talk", mark_odds={}), HUB_ID)
    assert changed.endswith("\nScored before the export changed default_style.\n"), "the card's command gives others"
    hub_parent = TrainConfig(init_from="google/flan-t5-small", data=DataConfig("gone"))
    settings.save(hub_parent, run / "train.yaml")
    text = compose_card(run, models.read_task(run), HUB_ID)
    assert "google/flan-t5-small (licence: see its card)" in text and "base_model: google/flan-t5-small" in text


def test_nothing_is_sent_unasked(run: Path, tmp_path: Path, calls: list[tuple[str, object]], invoke: Invoke) -> None:
    output = tmp_path / "out"
    assert invoke("export", run, "-o", output)[0] == 0
    assert "# out\n" in (output / "README.md").read_text(encoding="utf-8")
    # a card that a person wrote is kept, there or in the source; one that export wrote is written anew
    assert invoke("export", run, "-o", output, "--license", "mit")[0] == 0
    assert "license: mit" in (output / "README.md").read_text(encoding="utf-8")
    (run / "README.md").write_text("# By hand\n")
    assert invoke("export", run, "-o", output)[0] == 0
    assert (output / "README.md").read_text(encoding="utf-8") == "# By hand\n"
    code, _, err = invoke("export", run, "-o", output, "--push-to-hub", HUB_ID)
    assert (code, err.count("\n")) == (2, 1)
    assert "which holds something else; expected a new or empty folder, as all of it is sent" in err
    assert calls == []


@pytest.mark.usefixtures("calls")
def test_what_cannot_be_pushed_is_said_in_one_line_before_the_work(
    run: Path, tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(hub_id: str = HUB_ID) -> str:
        code, out, err = invoke("export", run, "-o", tmp_path / "out", "--push-to-hub", hub_id)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert not (tmp_path / "out").exists()
        return err

    assert refused("some one/x").startswith("t5punct: hub id 'some one/x'; expected OWNER/NAME; check --push-to-hub")
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: None)
    assert refused() == (
        f"t5punct: no login to push to {HUB_ID} with; expected a token that may write; run `hf auth login`, or set "
        "HF_TOKEN\n"
    )
    monkeypatch.setattr(huggingface_hub, "is_offline_mode", lambda: True)
    assert "HF_HUB_OFFLINE is set; expected a network; unset HF_HUB_OFFLINE" in refused()


@pytest.mark.usefixtures("calls")
def test_a_refusal_of_the_hub_is_one_line_and_the_folder_stays(
    run: Path, tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ConnectionError("Could not reach the hub\n  at all")

    monkeypatch.setattr(Hub, "create_repo", broken)
    output = tmp_path / "out"
    code, _, err = invoke("export", run, "-o", output, "--push-to-hub", HUB_ID)
    assert (code, err.count("\n")) == (2, 1)
    assert f"{output} is written, but not pushed to {HUB_ID} (Could not reach the hub); expected" in err
    assert models.load(output).tuned
