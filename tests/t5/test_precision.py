"""Precisions and devices: what is converted, what is refused, what the hardware is asked."""

import logging
from dataclasses import replace

import pytest
import torch

from t5punct import model as models
from t5punct.errors import ConfigError
from t5punct.model import PRECISIONS, Model, find_device, multiplies_bf16, on_device, with_precision
from t5punct.punctuator import Punctuator
from t5punct.t5.tagger import Tagger


def test_bf16_converts_network_and_tagger_which_go_to_the_device_that_is_named(tiny_model: Model) -> None:
    converted = with_precision(replace(tiny_model, tagger=Tagger(32, ",.?!:;-")), "bf16")
    assert {parameter.dtype for parameter in converted.network.parameters()} == {torch.bfloat16}
    assert converted.tagger.marks.weight.dtype is torch.bfloat16
    assert converted.precision == "bf16"
    assert on_device(tiny_model, find_device("cpu")).device.type == "cpu"
    expected = "cuda" if torch.cuda.is_available() else "cpu"
    assert on_device(tiny_model, find_device("auto")).device.type == expected


@pytest.mark.parametrize(
    ("capability", "expected"), [("AVX2", "int8"), ("AVX512", "int8"), ("DEFAULT", "fp32"), ("SVE256", "fp32")]
)
def test_auto_takes_int8_on_a_cpu_that_multiplies_it_fast(
    tiny_model: Model, monkeypatch: pytest.MonkeyPatch, capability: str, expected: str
) -> None:
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    assert with_precision(tiny_model, "auto").precision == expected, "what a score is signed with"


def test_a_loaded_model_has_what_auto_takes(tiny_model: Model, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")
    assert Punctuator.from_pretrained(folder, device="cpu").model.precision == "int8"
    assert Punctuator(tiny_model).model.precision == "fp32", "a given model has its own"


@pytest.mark.parametrize(("capabilities", "expected"), [
    ({"avx512_bf16": True}, True), ({"amx_bf16": True}, True), ({"avx512_bf16": False, "avx2": True}, False),
    ({}, False),
])  # fmt: skip
def test_processors_are_asked(monkeypatch: pytest.MonkeyPatch, capabilities: dict[str, bool], expected: bool) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities, raising=False)
    assert multiplies_bf16(torch.device("cpu")) is expected
    monkeypatch.delattr(torch.cpu, "get_capabilities")
    assert multiplies_bf16(torch.device("cpu")) is False


def test_an_unknown_precision_and_a_device_that_is_not_there_are_refused(tiny_model: Model) -> None:
    with pytest.raises(ConfigError, match=f"precision 'fp16'; expected one of {', '.join(PRECISIONS)}"):
        with_precision(tiny_model, "fp16")
    for name in ("tpu9", "", "meta", *([] if torch.cuda.is_available() else ["cuda"])):
        with pytest.raises(ConfigError, match=r"device .*; expected cpu, or a GPU that torch sees; check --device"):
            find_device(name)


def test_a_converted_model_is_not_converted_again(tiny_model: Model) -> None:
    converted = with_precision(tiny_model, "int8")
    assert with_precision(converted, "int8") is converted
    assert with_precision(converted, "auto") is converted
    for name in ("fp32", "bf16"):
        with pytest.raises(ConfigError, match=f"{name} of a model in int8; expected a model in fp32; load it again"):
            with_precision(converted, name)


def test_bf16_gives_one_warning_where_it_is_slow(
    tiny_model: Model, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for is_fast in (True, False):
        monkeypatch.setattr(models, "multiplies_bf16", lambda device, is_fast=is_fast: is_fast)
        converted = with_precision(tiny_model, "bf16")
        with_precision(converted, "bf16")  # as a punctuator with other settings does
        warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
        assert len(warnings) == (not is_fast)
    assert "--precision auto" in warnings[0]
