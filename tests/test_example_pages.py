"""The pages of examples/, which people copy, give what the package gives; so do the first lines that people write."""

import importlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
import torch

import t5punct
from t5punct import Punctuator, PunctuatorConfig, StreamConfig
from t5punct import model as models
from t5punct.decoding import tagging
from t5punct.decoding.inputs import DecodingConfig
from t5punct.errors import ConfigError
from t5punct.model import Model
from t5punct.options import StreamOptions
from t5punct.streaming import StreamingPunctuator
from t5punct.streaming.streams import STREAM_MODEL
from t5punct.training.config import DataConfig, LossConfig, OptimConfig, TrainConfig
from t5punct.training.loop.train import train
from t5punct.windows.plan import WindowConfig

ROOT = Path(__file__).parent.parent


def example(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "examples")
    return importlib.import_module(name)


def test_the_page_that_punctuates_does_what_the_tagger_does(monkeypatch: pytest.MonkeyPatch) -> None:
    text = " ".join((ROOT / "tests/data/lecture.txt").read_text(encoding="utf-8").split()[:150])
    windows, model = WindowConfig(window=64, stride=32, mask_left=16, mask_right=16), models.load("small")
    config = replace(PunctuatorConfig(windows=windows), decoding=DecodingConfig("tagger"), fragment=True)
    monkeypatch.setattr(tagging, "_NEAR_WORDS", 0)  # what the page leaves out
    written = example("punctuate_minimal", monkeypatch).punctuate(text, model, windows)
    assert written.lower() == Punctuator(model, config).punctuate(text).lower()
    assert sum(map(written.count, ".?,")) > 10


def test_the_page_that_trains_takes_the_steps_of_train(
    tagged_model: Model, tiny_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models.save(tagged_model, tmp_path / "start")
    config = TrainConfig(
        output=str(tmp_path / "run"),
        init_from=str(tmp_path / "start"),
        data=DataConfig(str(tiny_data), batch_tokens=600),
        optim=OptimConfig(lr=3e-3, warmup_steps=2, max_steps=8),  # more than an epoch
        loss=LossConfig(tagger_weight=1.0),
    )
    wanted = models.load(train(config))
    start = models.load(tmp_path / "start")
    tuned = example("train_minimal", monkeypatch).fine_tune(
        start, str(tiny_data), 8, lr=3e-3, warmup_steps=2, batch_tokens=600
    )
    begun = tagged_model.network.state_dict()
    for name, weight in wanted.network.state_dict().items():
        assert torch.allclose(tuned.network.state_dict()[name], weight, atol=1e-5), name
    assert any(not torch.allclose(weight, begun[name]) for name, weight in wanted.network.state_dict().items())
    assert torch.allclose(tuned.tagger.marks.weight, wanted.tagger.marks.weight, atol=1e-5)


# -- first lines


TEXT = "how are you today"


def test_public_names_are_shown_and_what_is_named_holds_for_a_given_model(tiny_model: Model) -> None:
    code = "import t5punct, sys; print(*dir(t5punct)); assert 'torch' not in sys.modules"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.split() == sorted(t5punct.__all__)
    assert repr(Punctuator(tiny_model, style="prose")) == "Punctuator('fresh', precision='fp32', style='prose')"
    assert Punctuator(tiny_model).config == PunctuatorConfig()


def test_a_model_is_named_or_left_out_and_settings_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    small = Punctuator("small", style="chat", precision="fp32")
    assert repr(small) == "Punctuator('small', precision='fp32', style='chat')"
    assert small(TEXT) == small.punctuate(TEXT) == "How are you today?"
    monkeypatch.setattr("t5punct.model.BUNDLED", "small")
    assert repr(Punctuator(style="chat", precision="fp32")) == repr(small)
    with pytest.raises(ConfigError, match="style 'opera'"):
        Punctuator(small.model, style="opera")


def test_a_stream_takes_a_lookahead_and_a_name(tagged_model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    assert StreamOptions().model == STREAM_MODEL
    monkeypatch.setattr("t5punct.streaming.streams.STREAM_MODEL", "small")
    shown = "StreamingPunctuator(Punctuator('small', precision='fp32', style='meeting'), 'fixed', lookahead=2)"
    stream = StreamingPunctuator(lookahead=2)
    assert repr(stream).replace("int8", "fp32") == shown
    committed = [*stream.push(TEXT.split()), *stream.finish()]
    assert " ".join(word.text for word in committed) == "How are you today?"
    assert "'sentence'" in repr(
        StreamingPunctuator(Punctuator(tagged_model), StreamConfig(window=9), policy="sentence")
    )
    with pytest.raises(ConfigError, match="policy 'slow'"):
        StreamingPunctuator("small", policy="slow")
