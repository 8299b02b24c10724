"""Many texts: each comes out as it would alone, and windows of several are decoded together, some batches at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import texts

from t5punct.batch.work import punctuate_files
from t5punct.decoding.inputs import DecodingConfig, WindowInput
from t5punct.errors import InputError
from t5punct.model import Model
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.text.words import Word
from t5punct.windows.combine import WindowVotes
from t5punct.windows.plan import View, WindowConfig

PLAN = WindowConfig(6, mask_left=2, mask_right=1)
DECODERS = ["slots", "tagger", "generate"]
SHORT = ["we know that", "", "how are you", "  ", "so it goes", "and then"]


@settings(max_examples=40)
@given(st.lists(texts, max_size=5), st.sampled_from([1, 60, 4096]), st.booleans(), st.sampled_from(DECODERS))
def test_each_text_is_punctuated_as_if_it_were_alone(
    tagged_model: Model, several: list[str], batch_tokens: int, fragment: bool, decoder: str
) -> None:
    config = PunctuatorConfig(PLAN, decoding=DecodingConfig(decoder, batch_tokens=batch_tokens), fragment=fragment)
    punctuator = Punctuator(tagged_model, config)
    assert punctuator.punctuate_many(several) == [punctuator.punctuate(text) for text in several]


def test_a_single_text_is_no_row_of_texts(tagged_model: Model, tmp_path: Path) -> None:
    punctuator = Punctuator(tagged_model)
    with pytest.raises(InputError, match="one text; expected several"):
        punctuator.punctuate_many("we know")
    told = r"a (list|tuple) of texts; expected one text; use punctuate_many\(texts\)"
    for several in (["we know"], ("we", "know")):
        with pytest.raises(InputError, match=told):
            punctuator.punctuate(several)  # type: ignore[arg-type]
    many = punctuator.iter_punctuate(["we know", None])  # type: ignore[list-item]
    with pytest.raises(InputError, match="a text of type NoneType; expected a str"):
        list(many)
    with pytest.raises(InputError, match="one input, talks; expected several"):
        punctuate_files(punctuator, "talks", tmp_path / "out")
    with pytest.raises(InputError, match="one str of terms; expected several lines"):
        punctuate_files(punctuator, ["talks"], tmp_path / "out", terms="PyTorch")


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many windows were given to the decoder at each call."""
    seen: list[int] = []
    votes = Punctuator.window_votes

    def counted(self: Punctuator, views: Sequence[View[Word]]) -> list[WindowVotes]:
        seen.append(len(views))
        return votes(self, views)

    monkeypatch.setattr(Punctuator, "window_votes", counted)
    return seen


def test_a_batch_holds_windows_of_several_texts(lively_model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[int] = []
    generate = "t5punct.decoding.generate.generate_texts"

    def written(model: Model, windows: Sequence[WindowInput], config: DecodingConfig) -> list[str]:
        batches.append(len(windows))
        return [" ".join(window.words) for window in windows]

    monkeypatch.setattr(generate, written)
    punctuator = Punctuator(lively_model, PunctuatorConfig(decoding=DecodingConfig("generate")))
    assert len(punctuator.punctuate_many(SHORT * 2)) == 12
    assert batches == [8]


def test_texts_are_read_as_they_are_needed(lively_model: Model, calls: list[int]) -> None:
    """Some batches ahead, whatever the number of texts: memory is bounded."""
    n_read, config = 0, PunctuatorConfig(decoding=DecodingConfig(batch_tokens=30))

    def endless() -> Iterator[str]:
        nonlocal n_read
        while True:
            n_read += 1
            yield "we know that this is right"

    many = Punctuator(lively_model, config).iter_punctuate(endless())
    assert n_read == 0
    first = next(many)
    assert n_read == 2, "a sixteenth of four batches of thirty tokens, so that the first comes soon"
    assert next(many) == first
    assert n_read == 2
    next(many)
    assert n_read == 5
    assert [next(many) for _ in range(50)] == [first] * 50
    assert calls == [2, 3, 5, 10, 20, 20], "each group is twice the one before, up to four batches"


def test_the_counts_of_generated_words_are_the_same(lively_model: Model) -> None:
    config = PunctuatorConfig(PLAN, decoding=DecodingConfig("generate"))
    together, alone = Punctuator(lively_model, config), Punctuator(lively_model, replace(config))
    together.punctuate_many(SHORT)
    for text in SHORT:
        alone.punctuate(text)
    assert together.alignment == alone.alignment
