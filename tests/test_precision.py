"""Precisions and devices: what is converted, what is refused, what the hardware is asked."""

from __future__ import annotations

import copy

import pytest
import torch

from t5punct import precision
from t5punct.errors import ConfigError
from t5punct.model import Model
from t5punct.precision import PRECISIONS, multiplies_bf16, on_device, with_precision
from t5punct.tagger import Tagger


def test_bf16_converts_network_and_tagger(tiny_model: Model) -> None:
    model = copy.deepcopy(tiny_model)
    object.__setattr__(model, "tagger", Tagger(32, ",.?!:;-"))
    made = with_precision(model, "bf16")
    assert {parameter.dtype for parameter in made.network.parameters()} == {torch.bfloat16}
    assert made.tagger is not None
    assert made.tagger.marks.weight.dtype is torch.bfloat16
    assert made.precision == "bf16"


def test_int8_quantises_the_linear_layers_and_leaves_the_output_layer(tiny_model: Model) -> None:
    made = with_precision(copy.deepcopy(tiny_model), "int8")
    kinds = {type(module).__module__ for module in made.network.decoder.modules() if type(module).__name__ == "Linear"}
    assert kinds == {"torch.ao.nn.quantized.dynamic.modules.linear"}
    assert isinstance(made.network.get_output_embeddings(), torch.nn.Linear)
    assert type(made.network.get_output_embeddings()).__module__ == "torch.nn.modules.linear"


@pytest.mark.parametrize(("fast", "dtype"), [(True, torch.bfloat16), (False, torch.float32)])
def test_auto_takes_bf16_only_where_the_hardware_multiplies_it(
    tiny_model: Model, monkeypatch: pytest.MonkeyPatch, fast: bool, dtype: torch.dtype
) -> None:
    monkeypatch.setattr(precision, "multiplies_bf16", lambda device: fast)
    made = with_precision(copy.deepcopy(tiny_model), "auto")
    assert next(made.network.parameters()).dtype is dtype
    assert made.precision == ("bf16" if fast else "fp32"), "what a score is signed with"


@pytest.mark.parametrize(
    ("capabilities", "expected"),
    [
        ({"avx512_bf16": True}, True),
        ({"amx_bf16": True}, True),
        ({"avx512_bf16": False, "avx2": True}, False),
        ({}, False),
    ],
)
def test_a_processor_is_asked_what_it_can(
    monkeypatch: pytest.MonkeyPatch, capabilities: dict[str, bool], expected: bool
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities, raising=False)
    assert multiplies_bf16(torch.device("cpu")) is expected
    monkeypatch.delattr(torch.cpu, "get_capabilities")
    assert multiplies_bf16(torch.device("cpu")) is False


def test_a_model_goes_to_the_device_that_is_named(tiny_model: Model) -> None:
    assert on_device(tiny_model, "cpu").device.type == "cpu"
    expected = "cuda" if torch.cuda.is_available() else "cpu"
    assert on_device(copy.deepcopy(tiny_model), "auto").device.type == expected


@pytest.mark.parametrize("name", ["tpu9", "", "meta", *([] if torch.cuda.is_available() else ["cuda"])])
def test_a_device_that_is_not_there_is_refused(tiny_model: Model, name: str) -> None:
    with pytest.raises(ConfigError, match=r"device .*; expected cpu, or a GPU that torch sees; check --device"):
        on_device(copy.deepcopy(tiny_model), name)


def test_an_unknown_precision_is_refused(tiny_model: Model) -> None:
    with pytest.raises(ConfigError, match=f"precision 'fp16'; expected one of {', '.join(PRECISIONS)}"):
        with_precision(tiny_model, "fp16")
