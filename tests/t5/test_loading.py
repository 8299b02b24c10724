"""A model folder runs no code, asks nobody, and can be loaded in several threads at once."""

import io
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from command import Invoke
from tiny_encoders import save_tiny_encoder
from transformers import PreTrainedModel

from t5punct import model as models
from t5punct.errors import ModelError
from t5punct.model import Model
from t5punct.training.start.from_encoder import FreshDecoderConfig, from_encoder

CODE = "import pathlib\npathlib.Path('{mark}').write_text('it ran')\nraise SystemExit\n"


@pytest.fixture(params=["code.Anything", "evil/repository--code.Anything"])
def harmful(tiny_model: Model, tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Path, Path]:
    """A folder whose config names code, beside it or of another repository, and the file that the code would write."""
    folder, mark = tmp_path / "model", tmp_path / "mark"
    models.save(tiny_model, folder)
    config = json.loads((folder / "config.json").read_text())
    del config["model_type"]
    kinds = ("AutoConfig", "AutoModel", "AutoModelForSeq2SeqLM")
    config["auto_map"] = dict.fromkeys(kinds, request.param)
    (folder / "config.json").write_text(json.dumps(config))
    tokenizer = json.loads((folder / "tokenizer_config.json").read_text())
    tokenizer["auto_map"] = {"AutoTokenizer": [request.param, None]}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    (folder / "code.py").write_text(CODE.format(mark=mark))
    return folder, mark


def test_a_folder_without_a_model_type_is_refused_and_runs_no_code(harmful: tuple[Path, Path]) -> None:
    folder, mark = harmful
    with pytest.raises(ModelError, match=r"config.json without a model_type; expected the config of a T5"):
        models.load(folder)
    with pytest.raises(ModelError, match=r"config.json without a model_type"):
        from_encoder(folder, FreshDecoderConfig(), None)
    assert not mark.exists()


def test_a_cues_number_is_no_yes(harmful: tuple[Path, Path], invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    """transformers would ask on standard input whether to run the code, and read `1`."""
    folder, mark = harmful
    subtitles = io.BytesIO(b"1\n00:00:00,000 --> 00:00:02,000\nhow are you today\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(subtitles))
    code, out, err = invoke("punctuate", "--format", "srt", "--model", folder, "-")
    assert (code, out) == (2, "")
    assert "without a model_type" in err
    assert not mark.exists()


def test_a_model_type_with_code_is_loaded_by_transformers(harmful: tuple[Path, Path], tiny_model: Model) -> None:
    folder, mark = harmful
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "t5"}))
    ids = torch.tensor([[5, 6, 1]])
    loaded = models.load(folder)
    assert torch.equal(loaded.encode(ids, torch.ones_like(ids)), tiny_model.encode(ids, torch.ones_like(ids)))
    assert not mark.exists()


def test_models_are_loaded_in_threads(tiny_model: Model, tmp_path: Path) -> None:
    models.save(tiny_model, tmp_path / "t5")
    save_tiny_encoder(tmp_path / "mpnet", "mpnet")
    ties = PreTrainedModel.tie_weights
    ids = torch.tensor([[5, 6, 1]])
    wanted = tiny_model.encode(ids, torch.ones_like(ids))

    def load(number: int) -> bool:
        if number % 2:
            return from_encoder(tmp_path / "mpnet", FreshDecoderConfig(), None).task.inline_case
        return torch.equal(models.load(tmp_path / "t5").encode(ids, torch.ones_like(ids)), wanted)

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(load, range(24)))
    assert PreTrainedModel.tie_weights is ties
