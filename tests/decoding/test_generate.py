"""Free generation: it ends; where it goes wrong in some windows, the words stay, and the others' votes make good."""

import re
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import torch

from t5punct.decoding import generate as module
from t5punct.decoding.align import AlignConfig
from t5punct.decoding.generate import LeastWords, MarkCap, generate_texts
from t5punct.decoding.inputs import DecodingConfig, WindowInput
from t5punct.errors import ConfigError
from t5punct.model import Model, bundled_folder, load
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.t5.word_memory import WordMemory
from t5punct.windows.plan import WindowConfig


def test_marks_are_held_back_behind_as_many_as_a_slot_may_have() -> None:
    written = torch.tensor([[9, 5, 6], [9, 9, 5], [5, 9, 9]])
    scores = MarkCap([5, 6], most_marks=2)(written, torch.zeros(3, 10))
    assert torch.isinf(scores).nonzero().tolist() == [[0, 5], [0, 6]]
    behind_case = MarkCap([5, 6], most_marks=2, case_ids=[8])(torch.tensor([[9, 5, 8], [8, 9, 5]]), torch.zeros(2, 10))
    assert torch.isinf(behind_case).nonzero().tolist() == [[0, 5], [0, 6], [0, 8]], "a word has to follow"


def test_the_end_is_held_back_while_most_words_are_not_written() -> None:
    sources = torch.tensor([[2, *[5] * 12, 1], [2, 5, 5, 1, *[0] * 10]])
    least = LeastWords(WordMemory(8, 4, silent_ids=[0, 1, 2, 9]), sources, end_id=1)
    for n_written, n_beams, held in ((3, 1, [0]), (4, 1, []), (3, 2, [0, 1])):
        written = torch.tensor([[1, 9, *[5] * n_written]] * 2 * n_beams)
        scores = least(written, torch.zeros(2 * n_beams, 10))
        assert torch.isinf(scores).nonzero().tolist() == [[row, 1] for row in held], "of the long source alone"


def test_a_decoder_that_would_end_at_once_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(bundled_folder("small"))
    words = "so i said yes and then we went to the other side of the river where they live".split()

    def prefer_the_end(_: Any, __: Any, logits: torch.Tensor) -> torch.Tensor:
        logits[..., model.tokenizer.eos_id] += 1000.0
        return logits

    model.network.lm_head.register_forward_hook(prefer_the_end)
    text = generate_texts(model, [WindowInput.of(words)], DecodingConfig("generate"))[0]
    said = re.findall(r"[a-z]+", text.lower())
    assert len(words) - 8 <= len(said) < len(words) and said == words[: len(said)]


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


def test_a_model_without_tokens_for_capitals_writes(tiny_model: Model) -> None:
    few_marks = tiny_model.with_task(marks=",.", styles=["song"], default_style="song")  # each is one token
    assert len(generate_texts(few_marks, [WindowInput.of(["we", "know"])])) == 1


def test_the_default_model_writes_the_words_of_a_lecture() -> None:
    path = Path(__file__).parents[1] / "data" / "lecture.txt"
    words = re.findall(r"[a-z']+", path.read_text(encoding="utf-8").lower())[:40]
    text = generate_texts(load(bundled_folder("large")), [WindowInput.of(words)], DecodingConfig("generate"))[0]
    assert re.findall(r"[a-z']+", text.lower()) == words


def test_windows_that_aligned_badly_are_counted_and_lose_their_vote(tiny_model: Model) -> None:
    config = PunctuatorConfig(WindowConfig(4, 2), decoding=DecodingConfig("generate"), align=AlignConfig(0.9))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "generate_texts", lambda model, windows, config: ["rubbish"] * len(windows))
        punctuator = Punctuator(tiny_model, config)
        punctuator.punctuate("we know that right and you")
    assert punctuator.alignment is not None
    assert (punctuator.alignment.windows, punctuator.alignment.distrusted) == (2, 2)
    assert generate_texts(tiny_model, []) == []


DIFFERENT_LENGTHS = [WindowInput.of(words.split()) for words in ("we know that right", "hello", "no no no 🙂 ok")]
SAME_LENGTH = [WindowInput.of(words.split()) for words in ("we know that right", "right that we know")]


@pytest.mark.parametrize(("beams", "windows"), [(1, DIFFERENT_LENGTHS), (3, SAME_LENGTH)])
def test_a_batch_gives_the_texts_of_single_windows(tiny_model: Model, beams: int, windows: list[WindowInput]) -> None:
    config = DecodingConfig("generate", beams)
    together = generate_texts(tiny_model, windows, config)
    assert together == [generate_texts(tiny_model, [window], config)[0] for window in windows]


def test_impossible_settings_are_said() -> None:
    with pytest.raises(ConfigError, match="decoder 'beam'; expected one of auto, slots, tagger, generate"):
        DecodingConfig("beam")
    with pytest.raises(ConfigError, match="beams 0; expected 1 to 64"):
        DecodingConfig(beams=0)
