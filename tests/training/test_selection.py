"""The best score, and stopping when nothing better comes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t5punct.errors import ConfigError
from t5punct.training.checkpoint.checkpoint import TrainState
from t5punct.training.config import LossConfig, TrainConfig, ValidationConfig
from t5punct.training.loop import train as loop
from t5punct.training.loop.train import train
from t5punct.training.loop.validation import Validator, is_stale, score_of, update_best

Scores = dict[int, float]  # by step


@pytest.fixture
def scored(monkeypatch: pytest.MonkeyPatch) -> Callable[[Scores], None]:
    """Makes validation find given losses."""

    def script(losses: Scores) -> None:
        monkeypatch.setattr(
            Validator, "line", lambda _self, _model, step: {"step": step, "validation_loss": losses.get(step, 9.0)}
        )

    return script


@pytest.fixture
def watched(config: TrainConfig) -> TrainConfig:
    return replace(
        config,
        optim=replace(config.optim, max_steps=9),
        validation=ValidationConfig(every_steps=1, patience=2),
        checkpoint_every_steps=0,
    )


def state_of(folder: Path) -> TrainState:
    return TrainState(**json.loads((folder / "state.json").read_text()))


@given(values=st.lists(st.integers(0, 5), min_size=1), score=st.sampled_from(["micro_f1", "loss"]))
def test_the_best_is_the_first_of_the_best_scores_and_the_others_are_counted(values: list[int], score: str) -> None:
    state = TrainState()
    for step, value in enumerate(values, start=1):
        state = update_best(replace(state, step=step), {"micro_f1": value, "validation_loss": value}, score)
    best = min(values) if score == "loss" else max(values)
    assert (state.best, state.best_step, state.score) == (best, values.index(best) + 1, score)
    assert state.stale == len(values) - state.best_step
    assert is_stale(state, state.stale) and not is_stale(state, state.stale + 1) and not is_stale(state, None)


def test_another_score_begins_anew() -> None:
    state = TrainState(step=3, score="loss", best=0.1, best_step=2, stale=1)
    assert update_best(state, {"micro_f1": 7.0}, "micro_f1") == TrainState(3, score="micro_f1", best=7.0, best_step=3)


def test_a_run_stops_when_nothing_better_comes(watched: TrainConfig, scored: Callable[[Scores], None]) -> None:
    scored({1: 5.0, 2: 3.0, 3: 4.0, 4: 3.0, 5: 1.0})
    state = state_of(train(watched))
    assert (state.step, state.best, state.best_step, state.stale) == (4, 3.0, 2, 2)


def test_a_run_without_patience_goes_to_its_end(watched: TrainConfig, scored: Callable[[Scores], None]) -> None:
    scored(dict.fromkeys(range(1, 10), 5.0))
    state = state_of(train(replace(watched, validation=ValidationConfig(every_steps=1))))
    assert (state.step, state.best_step, state.stale) == (9, 1, 8)


def test_a_resumed_run_stops_where_an_unbroken_one_does(
    watched: TrainConfig, scored: Callable[[Scores], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scored({1: 5.0, 2: 3.0, 3: 4.0, 4: 3.5, 5: 3.6, 6: 1.0})
    watched = replace(watched, validation=ValidationConfig(every_steps=1, patience=3), checkpoint_every_steps=2)
    whole = train(watched)
    parted = replace(watched, output=str(tmp_path / "parted"))
    validate = loop._validate

    def cut(run: loop.Run, progress: object) -> bool:
        if run.state.step == 5:
            raise KeyboardInterrupt
        return validate(run, progress)  # type: ignore[arg-type]

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(loop, "_validate", cut)
        train(parted)
    assert state_of(tmp_path / "parted").stale == 2
    resumed = train(replace(parted, resume=True))
    assert state_of(resumed) == state_of(whole) != state_of(whole).after_batch(0)
    assert state_of(whole).step == 5
    assert (resumed / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
    again = train(replace(parted, resume=True))
    assert state_of(again).step == 5, "it has stopped for good"
    more = train(replace(parted, resume=True, validation=ValidationConfig(every_steps=1, patience=5)))
    assert state_of(more).step > 5, "unless it is given more patience"


def test_what_decides_follows_from_what_is_measured(config: TrainConfig) -> None:
    file = ValidationConfig("dev.tsv", every_steps=1)
    assert score_of(config) == "loss"
    assert score_of(replace(config, validation=file)) == "micro_f1"
    assert score_of(replace(config, validation=replace(file, score="macro_f1"))) == "macro_f1"
    assert score_of(replace(config, loss=LossConfig(text_weight=0, tagger_weight=1))) == "tag_loss"


def test_scores_that_cannot_be_had_are_refused(config: TrainConfig) -> None:
    with pytest.raises(ConfigError, match=r"validation.score 'f1'; expected one of micro_f1, macro_f1, loss, tag_loss"):
        ValidationConfig(score="f1")
    with pytest.raises(ConfigError, match=r"score micro_f1 without a file; .*; set validation.file"):
        ValidationConfig(every_steps=1, score="micro_f1")
    with pytest.raises(ConfigError, match=r"patience 3 without validations; .*; set validation.every_steps"):
        ValidationConfig(patience=3)
    with pytest.raises(ConfigError, match=r"score tag_loss without a tagger's loss"):
        replace(config, loss=LossConfig(), validation=ValidationConfig(every_steps=1, score="tag_loss"))
    with pytest.raises(ConfigError, match=r"score loss without a split `validation`; .*holdout"):
        Validator(ValidationConfig(str(Path(__file__).parents[1] / "data" / "hand-counted.tsv"), 1), None, 100)
