"""Free generation: what is written ends, and has no more marks in a row than a slot may have."""

import re
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import torch

from t5punct.decoding.generate import MarkCap, generate_texts
from t5punct.decoding.inputs import DecodingConfig, WindowInput
from t5punct.model import bundled_folder, load


def test_marks_are_held_back_behind_as_many_as_a_slot_may_have() -> None:
    written = torch.tensor([[9, 5, 6], [9, 9, 5], [5, 9, 9]])
    scores = MarkCap([5, 6], most=2)(written, torch.zeros(3, 10))
    assert torch.isinf(scores).nonzero().tolist() == [[0, 5], [0, 6]]


@pytest.mark.parametrize(("style", "most"), [("talk", 1), ("chat", 3)])
def test_a_decoder_that_would_write_only_stops_goes_on(style: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model, written = load(bundled_folder("small")), list[list[int]]()
    stop = model.tokenizer.mark_ids["."][0]

    def prefer_stops(_: Any, __: Any, logits: torch.Tensor) -> torch.Tensor:
        logits[..., stop] += 1000.0
        logits[..., model.tokenizer.eos_id] -= 1000.0
        return logits

    def decode(ids: list[int]) -> str:
        written.append(ids)
        return ""

    model.network.lm_head.register_forward_hook(prefer_stops)
    monkeypatch.setattr(model.tokenizer, "decode", decode)
    generate_texts(model, [WindowInput.of("so i said yes".split())], DecodingConfig("generate", style=style))
    runs = [len(list(run)) for is_stop, run in groupby(written[0], lambda number: number == stop) if is_stop]
    assert len(runs) > 2
    assert max(runs) == most


def test_the_default_model_writes_the_words_of_a_lecture() -> None:
    path = Path(__file__).parents[1] / "data" / "lecture.txt"
    words = re.findall(r"[a-z']+", path.read_text(encoding="utf-8").lower())[:90]
    text = generate_texts(load(bundled_folder("large")), [WindowInput.of(words)], DecodingConfig("generate"))[0]
    assert re.findall(r"[a-z']+", text.lower()) == words
