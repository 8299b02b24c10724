"""Disfluencies and recognition errors: what was said is all there, natural ones are found, a model learns the sign."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from t5punct import model as models
from t5punct.model import Model
from t5punct.punctuator import Punctuator
from t5punct.text.marks import DISFLUENT
from t5punct.text.render import RenderConfig
from t5punct.text.words import split
from t5punct.training.config import OptimConfig, TrainConfig
from t5punct.training.examples.disfluencies import (
    KINDS,
    ChunkWord,
    DisfluencyConfig,
    NoiseConfig,
    add_disfluencies,
    add_noise,
    sign_natural_disfluencies,
)
from t5punct.training.loop.train import train
from t5punct.training.starting_model import with_disfluencies

WORDS = [
    ChunkWord("we", "We", ""), ChunkWord("met", "met", ""), ChunkWord("anna", "Anna", ",", pause=1),
    ChunkWord("then", "then", "."), ChunkWord("i", "I", ""), ChunkWord("left", "left", "?!"),
]  # fmt: skip


def words_of(text: str) -> list[ChunkWord]:
    return [ChunkWord(word.normal, word.core, word.marks) for word in split(text).words]


def written(words: list[ChunkWord]) -> str:
    return " ".join(word.form + word.marks + "|" * word.pause for word in words)


def test_they_are_as_frequent_as_asked() -> None:
    words, rng = [ChunkWord("a", "a", "")] * 20_000, random.Random(1)
    heard = add_disfluencies(words, DisfluencyConfig(1.0, {"repeat": 0.03, "filler": 0.02}), rng)
    n_fillers = sum(word.read in ("um", "uh", "er", "like", "you", "i") for word in heard)
    assert 0.025 < sum(word.read == "a" for word in heard) / 20_000 - 1 < 0.035
    assert 0.015 < n_fillers / 20_000 < 0.025
    noisy = add_noise(words, NoiseConfig(1.0), rng, lambda: ChunkWord("b", "b", "!", pause=1))
    assert 0.07 < sum(word.read == "b" for word in noisy) / 20_000 < 0.09, "5 % exchanged, 3 % put in"
    assert 0.91 < sum(word.read == "a" for word in noisy) / 20_000 < 0.93, "5 % exchanged, 3 % lost"


OTHERS = words_of("So. did they see Bob.")


def heard_of(text: str, n_seeds: int, **chances: float) -> set[str]:
    config = DisfluencyConfig(1.0, chances, marked=1.0)
    return {
        written(add_disfluencies(words_of(text), config, random.Random(seed), OTHERS, DISFLUENT))
        for seed in range(n_seeds)
    }


def test_phrases_are_said_twice() -> None:
    heard = heard_of("We went home to the house.", 40, phrase=0.5)
    assert {"We went home to~ the~ to the house.", "We went home to~ the~ house~ to the house."} <= heard
    assert not any("went~" in text or "We~" in text for text in heard)


def test_repairs_begin_with_the_same_words_and_end_with_another() -> None:
    heard = heard_of("We went home to the house.", 300, repair=0.5)
    for taken_back in ("to~ Bob~", "to~ see~ I~ mean~", "to~ the~ Bob~ sorry~"):
        assert f"We went home {taken_back} to the house." in heard


def test_restarts_begin_sentences_which_go_on_in_lower_case() -> None:
    heard = heard_of("The house. I left. Tom left.", 80, restart=1.0)
    assert any(text.startswith("Um~ the house. ") for text in heard)
    assert any(text.startswith("Did~ they~ see~ the house. ") for text in heard)
    assert any("~ I left." in text for text in heard)
    assert all(text.endswith("left. Tom left.") for text in heard), "Tom may be a name"
    assert not any(word in text for text in heard for word in ("~ The", "~ i "))
    config = DisfluencyConfig(1.0, {"restart": 1.0})
    for seed in range(40):
        begun = add_disfluencies(words_of("The house."), config, random.Random(seed), words_of("So. No. We left."))
        assert "no we" not in " ".join(word.read for word in begun), "a beginning ends with its sentence"


@given(st.integers(0, 10_000), st.lists(st.floats(0, 1), min_size=5, max_size=5))
def test_whatever_is_put_in_has_the_sign_alone_and_all_else_is_kept(seed: int, chances: list[float]) -> None:
    config = DisfluencyConfig(1.0, dict(zip(KINDS, chances, strict=True)), marked=1.0)
    heard = add_disfluencies(WORDS, config, random.Random(seed), OTHERS, DISFLUENT)
    said = [replace(word, form="") for word in heard if word.marks != DISFLUENT]
    assert said == [replace(word, form="") for word in WORDS]
    assert not any(word.pause for word in heard if word.marks == DISFLUENT)
    assert all(word.form.lower() == word.read for word in heard)


SENTENCES = words_of("We met Anna, she left. Then why?!")
OF = ChunkWord("of", "of", ",", pause=1)  # its marks and pause stay where it comes from


def errors_of(**values: float) -> NoiseConfig:
    return NoiseConfig(1.0, values)


def test_a_substitute_takes_the_label_and_the_capital_of_a_sentence_but_not_of_a_name() -> None:
    heard = add_noise(SENTENCES, errors_of(substitute=1.0), random.Random(1), lambda: OF)
    assert [word.form for word in heard] == ["Of", "of", "of", "of", "of", "Of", "of"]
    assert [word.marks for word in heard] == [word.marks for word in SENTENCES]
    assert {word.read for word in heard} == {"of"}


def test_an_insertion_stands_behind_a_word_without_marks() -> None:
    heard = add_noise(SENTENCES, errors_of(insert=1.0), random.Random(1), lambda: OF)
    assert written(heard) == "We of met of Anna, she of left. Then of why?!"


class Fate(random.Random):
    """One word is lost: the first draw for each word is its fate, the second its insertion, if it has no label."""

    def __init__(self, lost_at_draw: int) -> None:
        self.draws = iter(range(100))
        self.lost_at_draw = lost_at_draw

    def random(self) -> float:
        return 0.0 if next(self.draws) == self.lost_at_draw else 1.0


@pytest.mark.parametrize(
    ("text", "draw", "heard"),
    [
        ("We met Anna, she left. Then why?!", 0, "Met Anna, she left. Then why?!"),
        ("We met Anna, she left. Then why?!", 4, "We met, she left. Then why?!"),
        ("Well, yes. We go.", 1, "Well. We go."),
    ],
)
def test_a_lost_words_marks_go_to_the_word_before_and_its_capital_to_the_next(text: str, draw: int, heard: str) -> None:
    assert written(add_noise(words_of(text), errors_of(delete=0.5), Fate(draw), lambda: OF)) == heard


@given(st.integers(0, 10_000), st.floats(0, 0.5), st.floats(0, 0.5), st.floats(0, 1))
def test_a_chunk_never_becomes_empty_and_reads_as_it_iswritten(
    seed: int, substitute: float, delete: float, insert: float
) -> None:
    config = NoiseConfig(1.0, {"substitute": substitute, "delete": delete, "insert": insert})
    for words in (SENTENCES, SENTENCES[:1], SENTENCES[:2]):
        heard = add_noise(words, config, random.Random(seed), lambda: OF)
        assert heard
        assert all(word.form.lower() == word.read for word in heard)
        assert not any(word.pause for word in heard)
        assert heard == add_noise(words, config, random.Random(seed), lambda: OF)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("So, um, we went. Uh I left.", ["um", "uh"]),
        ("I I went in the in the house.", ["i", "in", "the"]),
        ("I was, like, tired. You know, it was late. I mean, very late.", ["like", "you", "know", "i", "mean"]),
        ("I like it like that, you know him, and I mean it.", []),
        ("He had had enough. It was very very good. We talked on and on and on.", []),
        ("Is it? It is. I said I. I left.", []),  # a sentence ends between them
        ("like, this chunk begins inside a sentence", []),
        ("and it is and", []),  # the last words of a chunk are no repetition
    ],
)
def test_what_is_found(text: str, found: list[str]) -> None:
    signed = sign_natural_disfluencies(words_of(text))
    assert [word.read for word in signed if word.marks.startswith(DISFLUENT)] == found
    assert [replace(word, marks=word.marks.removeprefix(DISFLUENT)) for word in signed] == words_of(text)


TEXT = "we know that this is right what how are you today well i think it's time to go"


def test_it_decides_as_before_and_comes_back_from_the_disk(tagged_model: Model, tmp_path: Path) -> None:
    signing = with_disfluencies(tagged_model)
    (sign,) = signing.tokenizer.mark_ids[DISFLUENT]
    assert len(signing.network.shared.weight) == sign + 1 and sign in signing.tokenizer.task_ids
    tagger, before = signing.tagger, tagged_model.tagger
    assert tagger is not None and before is not None
    assert torch.equal(tagger.marks.weight[:-1], before.marks.weight)
    assert torch.allclose(tagger.marks.bias[-1], before.marks.bias[1:].mean())
    assert with_disfluencies(signing) is signing
    models.save(signing, tmp_path / "made")
    loaded = models.load(tmp_path / "made")
    assert loaded.task == signing.task
    assert loaded.tagger is not None
    wanted = Punctuator(tagged_model).annotate(TEXT)
    for model in (signing, loaded):
        assert Punctuator(model).annotate(TEXT) == wanted
    marking = Punctuator(loaded).with_config(render=RenderConfig(disfluencies="mark"))
    assert [word.word for word in marking.annotate(TEXT)] == TEXT.split()


def test_training_begins_with_the_new_mark_and_a_model_that_will_forget_it_is_named(
    config: TrainConfig, tagged_model: Model, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    models.save(replace(tagged_model, name="start"), tmp_path / "start")
    disfluencies = DisfluencyConfig(0.5, {"phrase": 0.1, "repair": 0.1, "restart": 0.2}, marked=0.9)
    config = replace(
        config, init_from=str(tmp_path / "start"), optim=OptimConfig(max_steps=2),
        data=replace(config.data, disfluencies=disfluencies),
    )  # fmt: skip
    folder = train(config)
    loaded = models.load(folder)
    assert loaded.task.disfluencies
    assert loaded.tagger is not None
    assert len(loaded.tagger.mark_classes) == 9
    train(replace(config, resume=True, optim=OptimConfig(max_steps=3)))
    assert "forget" not in caplog.text
    forgetting = replace(
        config, init_from=str(folder), output=str(tmp_path / "other"),
        data=replace(config.data, disfluencies=DisfluencyConfig()),
    )  # fmt: skip
    train(forgetting)
    train(replace(forgetting, resume=True, optim=OptimConfig(max_steps=3)))
    assert caplog.text.count("knows disfluencies and will forget them") == 1, "not again when it goes on"
