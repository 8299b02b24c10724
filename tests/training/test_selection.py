"""What a run is validated with; the best score, and stopping when nothing better comes."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from chunk_rows import batch_of
from datasets import load_from_disk
from hypothesis import given
from hypothesis import strategies as st
from left_by_runs import log_lines, weights
from tiny import tiny_text

from t5punct import model as models
from t5punct.decoding.slots import SlotDecoder
from t5punct.errors import ConfigError, InputError
from t5punct.evaluation.evaluate import evaluate_file
from t5punct.punctuator import Punctuator
from t5punct.training.checkpoint import TrainState, read_state
from t5punct.training.config import DataConfig, LossConfig, TrainConfig, ValidationConfig
from t5punct.training.data.chunks import ChunkConfig
from t5punct.training.data.corpora import CorpusConfig
from t5punct.training.data.prepare import PrepareConfig, prepare
from t5punct.training.loop import train as loop
from t5punct.training.loop.train import build, train
from t5punct.training.loop.validation import Validator, deciding_score, is_stale, update_best

ROWS = str(Path(__file__).parents[1] / "data" / "hand-counted.tsv")


@pytest.fixture
def watched(config: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> TrainConfig:
    """Nine steps, each with a validation that finds a given loss."""
    losses = {1: 5.0, 2: 3.0, 3: 4.0, 4: 3.5, 5: 3.6, 6: 1.0}
    monkeypatch.setattr(
        Validator, "measure", lambda _self, _model, step: {"step": step, "validation_loss": losses.get(step, 9.0)}
    )
    validation = ValidationConfig(every_steps=1, patience=3)
    return replace(config, optim=replace(config.optim, max_steps=9), validation=validation, checkpoint_every_steps=2)


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


def test_a_resumed_run_stops_where_an_unbroken_one_does(
    watched: TrainConfig, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    whole = train(watched)
    parted = replace(watched, output=str(tmp_path / "parted"))
    validate = loop.validate

    def cut(run: loop.Run, progress: object) -> bool:
        if run.state.step == 5:
            raise KeyboardInterrupt
        return validate(run, progress)  # type: ignore[arg-type]

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(loop, "validate", cut)
        train(parted)
    assert read_state(tmp_path / "parted").stale == 2
    for _ in range(2):  # it has stopped for good
        assert read_state(train(replace(parted, resume=True))) == read_state(whole)
    state = read_state(whole)
    assert (state.step, state.best, state.best_step, state.stale) == (5, 3.0, 2, 3)
    more = train(replace(parted, resume=True, validation=ValidationConfig(every_steps=1, patience=5)))
    assert read_state(more).step > 5, "unless it is given more patience"


def test_what_decides_follows_from_what_is_measured(config: TrainConfig) -> None:
    file = ValidationConfig("dev.tsv", every_steps=1)
    assert deciding_score(config) == "loss"
    assert deciding_score(replace(config, validation=file)) == "micro_f1"
    assert deciding_score(replace(config, validation=replace(file, score="macro_f1"))) == "macro_f1"
    assert deciding_score(replace(config, loss=LossConfig(text_weight=0, tagger_weight=1))) == "tag_loss"
    for impossible in (ValidationConfig(ROWS, 1, score="loss"), ValidationConfig(every_steps=1, score="micro_f1")):
        with pytest.raises(ConfigError, match=rf"validation by {impossible.score} without a text for it; .*holdout"):
            Validator(replace(config, validation=impossible), None)


def test_validation_does_not_change_the_training(config: TrainConfig, dropout_folder: str, tmp_path: Path) -> None:
    dropout = replace(config, init_from=dropout_folder)
    validated = replace(dropout, output=str(tmp_path / "validated"), validation=ValidationConfig(ROWS, every_steps=1))
    assert weights(train(dropout)) == weights(train(validated))


def test_a_file_is_scored_with_the_models_default_decoder(config: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Users run that one: with another the best model of a run may not be the best for them."""
    monkeypatch.delattr(SlotDecoder, "votes")  # it cannot run
    validation = ValidationConfig(ROWS, every_steps=4)
    folder = train(replace(config, task={"tagged_styles": ["talk"]}, validation=validation))
    scores = evaluate_file(ROWS, Punctuator(models.load(folder))).scores
    assert log_lines(folder)[-1]["micro_f1"] == pytest.approx(scores.micro.f1, abs=0.01)


def test_the_held_out_loss_is_the_mean_over_target_tokens(config: TrainConfig, tiny_data: Path) -> None:
    run = build(replace(config, validation=ValidationConfig(every_steps=1)))
    with torch.no_grad():
        losses = run.objective(batch_of(run.model, load_from_disk(str(tiny_data))["validation"]))
    line = run.validator.measure(run.model, 7)
    assert list(line) == ["step", "validation_loss", "validation_tag_loss"]
    assert line["step"] == 7
    assert line["validation_loss"] == pytest.approx(float(losses.text), abs=1e-4)
    assert line["validation_tag_loss"] == pytest.approx(float(losses.tags), abs=1e-4)
    assert run.model.network.training


def test_a_set_without_validation_chunks_can_be_trained_on(config: TrainConfig, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text(" ".join(tiny_text(40, seed=1)))
    corpora = [CorpusConfig("one.txt")]
    prepare(PrepareConfig(str(tmp_path / "data"), str(tmp_path), corpora, ChunkConfig(4, 12)))
    config = replace(config, data=DataConfig(str(tmp_path / "data")))
    train(config)
    refusal = r"validation by loss without a text for it; .*; name a file"
    with pytest.raises(ConfigError, match=refusal):
        build(replace(config, output=str(tmp_path / "other"), validation=ValidationConfig(every_steps=5)))


def test_a_wrong_validation_is_refused_before_training(config: TrainConfig, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n")
    (tmp_path / "bad.tsv").write_text("we\tO\nknow\tCOMA\n")
    reasons = {"no.txt": "no file .*no.txt", "empty.txt": "holds no words", "bad.tsv": "line 2", "a.srt": "whose times"}
    for name, reason in reasons.items():
        with pytest.raises(InputError, match=reason):
            build(replace(config, validation=ValidationConfig(str(tmp_path / name), every_steps=1000)))
