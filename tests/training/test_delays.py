"""Training with a delay: what is drawn, what the losses read, and that nothing changes without one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from chunk_rows import batch_of, rows
from left_by_runs import weights

from t5punct import model as models
from t5punct.errors import ConfigError
from t5punct.model import Model
from t5punct.t5.delay import NOBODY, PREFIX, Delay, delayed_states
from t5punct.t5.tagger import states_at_words
from t5punct.training.config import DelayConfig, LossConfig, TrainConfig
from t5punct.training.examples.batches import Batch
from t5punct.training.loop.objective import Objective
from t5punct.training.loop.train import train

DELAYS = [0, 1, 4, None]


@pytest.fixture
def delayed(config: TrainConfig) -> TrainConfig:
    data = replace(config.data, delays=DelayConfig(DELAYS, layers=[1]))
    return replace(config, data=data, loss=LossConfig(text_weight=0, tagger_weight=1.0))


@pytest.fixture
def batch(tiny_model: Model) -> Batch:
    texts = ("we know that is right and so", "stop now please")
    return batch_of(tiny_model, rows(*((text, f"{text}.") for text in texts)))


def test_a_place_in_the_run_draws_its_delay_and_all_of_the_list_come() -> None:
    config = DelayConfig([0, 4, None, None], layers=[1, 0])
    drawn = [config.draw(1, epoch, place, 0) for epoch in range(2) for place in range(400)]
    assert drawn == [config.draw(1, epoch, place, 0) for epoch in range(2) for place in range(400)]
    counts = Counter(drawn)
    assert counts.keys() == {Delay(0, layers=(1, 0)), Delay(4, layers=(1, 0)), None}
    assert 340 < counts[None] < 460, "what stands twice comes twice as often"
    assert drawn[:400] != drawn[400:] != [config.draw(2, 1, place, 0) for place in range(400)]
    assert drawn[:400] != [config.draw(1, 0, place, 1) for place in range(400)], "processes draw their own"


def test_layers_that_the_encoder_lacks_are_refused(delayed: TrainConfig) -> None:
    with pytest.raises(ConfigError, match=r"look-ahead in layers \[2\] of an encoder with 2; expected some of 0 to 1"):
        train(replace(delayed, data=replace(delayed.data, delays=DelayConfig([1], layers=[2]))))


def test_examples_say_which_word_each_token_belongs_to(batch: Batch, tiny_model: Model) -> None:
    prefix = len(tiny_model.tokenizer.source([]).ids) - 1
    for row, n_words in enumerate((7, 3)):
        words = batch.token_words[row]
        assert words[:prefix].tolist() == [PREFIX] * prefix
        assert [int(words[end]) for end in batch.word_ends[row, :n_words]] == list(range(n_words))
        assert int(words[int(batch.word_ends[row, n_words - 1]) + 1]) == NOBODY, "the end of text"


def test_the_taggers_loss_reads_delayed_states_and_the_text_loss_those_of_the_whole_context(
    tiny_model: Model, batch: Batch
) -> None:
    torch.manual_seed(2)
    objective, delay = Objective(tiny_model, LossConfig(tagger_weight=1.0)), Delay(1, 2)
    with torch.no_grad():
        whole, with_delay = objective(batch), objective(batch, delay)
        states = delayed_states(tiny_model.network.get_encoder(), batch.input_ids, batch.token_words, delay)
        assert objective.tagger is not None
        marks, _ = objective.tagger(states_at_words(states, batch.word_ends))
    wanted = torch.nn.functional.cross_entropy(marks.flatten(0, 1), batch.marks.flatten())
    assert float(with_delay.tags) == pytest.approx(float(wanted), rel=1e-5)
    assert float(with_delay.tags) != float(whole.tags)
    assert float(with_delay.text) == float(whole.text)


def test_a_run_with_delays_leaves_a_model_that_says_so(delayed: TrainConfig) -> None:
    folder = train(delayed)
    task = models.load(folder).task
    assert (task.delay_left_words, task.delay_layers) == (32, [1])
    assert Delay.of_task(5, task) == Delay(5, layers=(1,))


def test_an_interrupted_run_draws_the_same_delays(
    delayed: TrainConfig, cut_short: Callable[[TrainConfig], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Delay | None] = []

    draw = DelayConfig.draw

    def note(config: DelayConfig, *place: int) -> Delay | None:
        drawn.append(draw(config, *place))
        return drawn[-1]

    monkeypatch.setattr(DelayConfig, "draw", note)
    delayed = replace(delayed, optim=replace(delayed.optim, max_steps=6), checkpoint_every_steps=3)
    whole = train(replace(delayed, output=str(tmp_path / "whole")))
    at_once = drawn.copy()
    drawn.clear()
    cut_short(delayed)
    parted = train(replace(delayed, resume=True))
    assert drawn == at_once and len({*drawn}) > 1
    assert weights(whole) == weights(parted)


def test_without_delays_training_is_what_it_was(config: TrainConfig, tmp_path: Path) -> None:
    """A list of nulls is no delay: the same weights, byte for byte, as without the list; a delay changes them."""
    folders = [
        train(replace(config, output=str(tmp_path / str(n)), data=replace(config.data, delays=DelayConfig(words))))
        for n, words in enumerate(([], [None], [1]))
    ]
    plain, nulls, delayed = map(weights, folders)
    assert plain == nulls != delayed
    assert "delay_left_words: null" in (folders[1] / "t5punct.yaml").read_text()
