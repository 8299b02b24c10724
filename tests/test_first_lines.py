"""The first lines of Python that people write: what they name is there, and a mistake says what to write."""

import subprocess
import sys
from pathlib import Path

import pytest

import t5punct
from t5punct import PunctuatorConfig, StreamConfig, WriterConfig, punctuate_file
from t5punct.errors import ConfigError
from t5punct.model import Model
from t5punct.options import StreamOptions
from t5punct.punctuator import Punctuator
from t5punct.streaming import StreamingPunctuator
from t5punct.streaming.streams import STREAM_MODEL

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
    assert repr(Punctuator.from_pretrained("small", style="chat", precision="fp32")) == repr(small)
    monkeypatch.setattr("t5punct.model.BUNDLED", "small")
    assert repr(Punctuator(style="chat", precision="fp32")) == repr(small)
    with pytest.raises(ConfigError, match="style 'opera'"):
        Punctuator("small", style="opera")


def test_a_file_is_punctuated_in_its_own_format_or_another(tagged_model: Model, tmp_path: Path) -> None:
    file = tmp_path / "talk.srt"
    file.write_text("1\n00:00:01,000 --> 00:00:03,000\nwe know that\n")
    punctuator = Punctuator(tagged_model)
    own = punctuator.punctuate_file(file)
    assert own.startswith("1\n00:00:01,000 --> 00:00:03,000\n") and own.lower().count("know") == 1
    other = punctuator.punctuate_file(str(file), writer=WriterConfig("vtt"))
    assert other.startswith("WEBVTT\n")
    assert punctuate_file(punctuator, file, writer=WriterConfig("vtt")) == other


def test_a_stream_takes_a_lookahead_and_a_name(tagged_model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    assert StreamOptions().model == STREAM_MODEL
    monkeypatch.setattr("t5punct.streaming.streams.STREAM_MODEL", "small")
    shown = "StreamingPunctuator(Punctuator('small', precision='fp32', style='meeting'), 'fixed', lookahead=2)"
    assert repr(StreamingPunctuator("small", lookahead=2)).replace("int8", "fp32") == shown
    stream = StreamingPunctuator(lookahead=2)
    assert repr(stream).replace("int8", "fp32") == shown
    committed = [*stream.push(TEXT.split()), *stream.finish()]
    assert " ".join(word.text for word in committed) == "How are you today?"
    given = StreamingPunctuator(Punctuator(tagged_model), StreamConfig(window=9), policy="sentence")
    assert given.push([]) == ()
    assert "'sentence'" in repr(given)
    with pytest.raises(ConfigError, match="policy 'slow'"):
        StreamingPunctuator("small", policy="slow")
