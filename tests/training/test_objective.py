"""Losses by hand, with a delay too; layers that are computed again going backwards; states of a frozen encoder."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from chunk_rows import batch_of, rows
from left_by_runs import weights
from stepwise import SlotWriter
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from t5punct import model as models
from t5punct.decoding.candidates import Candidates
from t5punct.decoding.inputs import WindowInput
from t5punct.model import Model
from t5punct.t5.delay import Delay, delayed_states
from t5punct.t5.tagger import states_at_words
from t5punct.t5.word_memory import embed_targets
from t5punct.training.config import DataConfig, DelayConfig, LossConfig, TrainConfig
from t5punct.training.examples.batches import Batch
from t5punct.training.examples.example import IGNORED, make_history
from t5punct.training.labels import codes_of, probabilities_of
from t5punct.training.loop import train as loop
from t5punct.training.loop.objective import Objective
from t5punct.training.loop.train import Run, build, train

CHUNKS = (("we know right", "We know, right?!"), ("stop now", "Stop now."))  # no label of which is full
FORMS_AND_LABELS = ((("We", "know", "right"), ("", ",", "?!")), (("Stop", "now"), ("", ".")))


@pytest.fixture
def batch(tiny_model: Model) -> Batch:
    return batch_of(tiny_model, rows(*CHUNKS))


@pytest.fixture
def uncased_model(tiny_model: Model) -> Model:
    """Of a text form in which single tokens decide slots."""
    return tiny_model.with_task(marks=",.?!", cased=False, max_marks=9)


def cross_entropy(logits: list[float], wanted: int) -> float:
    return math.log(sum(math.exp(value) for value in logits)) - logits[wanted]


def logits_of(model: Model, batch: Batch) -> torch.Tensor:
    network: Any = model.network
    outputs = network(input_ids=batch.input_ids, attention_mask=batch.attention_mask, labels=batch.targets)
    return outputs.logits  # type: ignore[no-any-return]


@torch.no_grad()
def test_the_text_loss_is_the_mean_over_target_tokens(tiny_model: Model, batch: Batch) -> None:
    losses, logits = Objective(tiny_model, LossConfig())(batch), logits_of(tiny_model, batch)
    by_hand = [
        cross_entropy(logits[row, place].tolist(), int(token))
        for row, tokens in enumerate(batch.targets)
        for place, token in enumerate(tokens)
        if token != IGNORED
    ]
    assert float(losses.text) == pytest.approx(sum(by_hand) / len(by_hand), rel=1e-5)
    assert float(losses.total) == float(losses.text)
    assert float(losses.tags) == 0.0


@torch.no_grad()
def test_the_loss_of_slots_is_normalised_as_slot_decoding_does_it(uncased_model: Model) -> None:
    """Summed over what step-by-step decoding is offered along the target, where that is a choice."""
    model, batch = uncased_model, batch_of(uncased_model, rows(*CHUNKS))
    losses, logits = Objective(model, LossConfig(text_weight=0.5, slot_weight=3.0))(batch), logits_of(model, batch)
    by_hand = []
    for row, ((source, _), target) in enumerate(zip(CHUNKS, batch.targets.tolist(), strict=True)):
        writer = SlotWriter(WindowInput.of(source.split()), Candidates(model.tokenizer))
        for place, token in enumerate(token for token in target if token != IGNORED):
            allowed = list(writer.allowed)
            if len(allowed) > 1:
                by_hand.append(cross_entropy(logits[row, place][allowed].tolist(), allowed.index(token)))
            writer.take(allowed.index(token), [1.0 / len(allowed)] * len(allowed))
        assert writer.done
    # before the first word there is no slot: it is a choice of its case alone, and this task has none
    first = list(model.tokenizer.deciding_ids or ())
    for row in range(2):
        token = int(batch.targets[row, 0])
        by_hand.append(cross_entropy(logits[row, 0][[*first, token]].tolist(), len(first)))
    assert float(losses.slots) == pytest.approx(sum(by_hand) / len(by_hand), rel=1e-5)
    assert float(losses.total) == pytest.approx(0.5 * float(losses.text) + 3.0 * float(losses.slots), rel=1e-5)


@torch.no_grad()
def test_a_sample_of_pieces_changes_the_loss_of_text_alone(uncased_model: Model) -> None:
    """Deciding tokens and next words are never left out."""
    batch = batch_of(uncased_model, rows(*CHUNKS))
    whole, sampled, least = (
        Objective(uncased_model, LossConfig(slot_weight=1.0, sampled_pieces=n_pieces))(batch)
        for n_pieces in (None, 9, 0)
    )
    assert float(sampled.slots) == pytest.approx(float(whole.slots), rel=1e-5)
    assert float(least.slots) == pytest.approx(float(whole.slots), rel=1e-5)
    assert float(least.text) < float(sampled.text) < float(whole.text), "fewer pieces, fewer wrong ones"


@torch.no_grad()
def test_labels_teach_the_first_token_that_is_written_behind_a_word() -> None:
    """A mark, or none: the next word, with or without a capital.  Words without a code teach nothing."""
    model = models.load("small")
    batch, tokenizer, marks = batch_of(model, rows(*CHUNKS)), model.tokenizer, model.task.slot_marks
    starts = [make_history(tokenizer, forms, marks, [""] * len(forms)).slot_starts for forms, marks in FORMS_AND_LABELS]
    starts[1] = (*starts[1], 0)
    labels = {(0, 0): {",": 0.3}, (0, 2): {"?": 0.6, ".": 0.3}, (1, 0): {".": 0.1, "!": 0.4}}
    taught = torch.zeros(2, 3, len(marks) + 5, dtype=torch.uint8)
    for (row, word), shares in labels.items():
        wanted = [1 - sum(shares.values()), *(shares.get(mark, 0.0) for mark in marks)]
        taught[row, word] = codes_of(torch.tensor([*wanted, 1.0, 0, 0, 0]))
    objective = Objective(model, LossConfig(slot_weight=1.0))
    with_labels = objective(replace(batch, teacher_codes=taught, slot_starts=torch.tensor(starts)))
    logits, by_hand = logits_of(model, batch), 0.0
    mark_ids = [tokenizer.mark_ids[mark][0] for mark in marks]
    case_ids = [ids[0] for ids in tokenizer.case_ids.values() if ids]
    for row, word in labels:
        place = starts[row][word]
        chosen = logits[row, place][[int(batch.next_word_ids[row, place]), *case_ids, *mark_ids]].softmax(0).tolist()
        written = [sum(chosen[: -len(marks)]), *chosen[-len(marks) :]]
        wanted = probabilities_of(taught[row, word, : len(marks) + 1]).tolist()
        by_hand += sum(p * math.log(p / q) for p, q in zip(wanted, written, strict=True))
    assert float(with_labels.teacher) == pytest.approx(by_hand / len(labels), rel=1e-4)
    without = objective(batch)
    assert float(without.teacher) == 0
    assert float(with_labels.total) == pytest.approx(float(without.total) + float(with_labels.teacher), rel=1e-5)


@torch.no_grad()
def test_the_tagger_loss_is_the_mean_over_slots(tiny_model: Model, batch: Batch) -> None:
    torch.manual_seed(2)
    objective = Objective(tiny_model, LossConfig(tagger_weight=0.25))
    losses = objective(batch)
    encoder = tiny_model.network.encoder
    states = encoder(input_ids=batch.input_ids, attention_mask=batch.attention_mask).last_hidden_state
    # classes: none 0, then the marks `,.?!:;-` from 1; the second example has one slot less
    slots = [(0, 0, 0), (0, 1, 1), (0, 2, 3), (1, 0, 0), (1, 1, 2)]
    cases = [1, 0, 0, 1, 0]  # lower 0, capitalised 1: We, Stop
    tags, cased = [], []
    for (row, word, wanted), case in zip(slots, cases, strict=True):
        marks, forms = objective.tagger(states[row, int(batch.word_ends[row, word])])  # type: ignore[misc]
        tags.append(cross_entropy(marks.tolist(), wanted))
        cased.append(cross_entropy(forms.tolist(), case))
    assert float(losses.tags) == pytest.approx(sum(tags) / 5, rel=1e-5)
    assert float(losses.cases) == pytest.approx(sum(cased) / 5, rel=1e-5)
    tagged = float(losses.tags) + 0.5 * float(losses.cases)
    assert float(losses.total) == pytest.approx(float(losses.text) + 0.25 * tagged, rel=1e-6)


def backwards(run: Run, delay: Delay) -> tuple[list[float], dict[str, torch.Tensor], int]:
    """The losses and gradients of the first batch, and how often the encoder's last layer was computed."""
    calls: list[int] = []
    layer: Any = run.model.network.encoder.block[-1].layer[0]
    handle = layer.register_forward_pre_hook(lambda *_: calls.append(1))
    torch.manual_seed(5)  # the dropout of the second computation must be that of the first
    losses = run.objective(next(iter(run.loader)), delay)
    losses.total.backward()
    handle.remove()
    gradients = {name: value.grad for name, value in run.objective.named_parameters() if value.grad is not None}
    return [float(loss.detach()) for loss in (losses.total, losses.text, losses.tags)], gradients, len(calls)


def test_losses_and_gradients_are_the_same_and_layers_run_twice(config: TrainConfig, dropout_folder: str) -> None:
    config = replace(config, init_from=dropout_folder, loss=LossConfig(tagger_weight=0.5))
    delay = Delay(2, 4)
    losses, gradients, n_calls = backwards(build(config), delay)
    again, gradients_again, n_calls_again = backwards(build(replace(config, gradient_checkpointing=True)), delay)
    assert again == pytest.approx(losses)
    assert gradients.keys() == gradients_again.keys()
    for name, gradient in gradients.items():
        torch.testing.assert_close(gradients_again[name], gradient, rtol=1e-4, atol=1e-6)
    assert n_calls_again == 2 * n_calls


@torch.no_grad()
def test_states_of_a_frozen_encoder_are_computed_once_as_far_as_there_is_room(config: TrainConfig) -> None:
    frozen = replace(config, optim=replace(config.optim, frozen=["words", "encoder"]), loss=LossConfig())
    plain = build(frozen)
    batch = next(iter(plain.loader))
    n_rows, n_tokens = batch.input_ids.shape
    is_token = batch.attention_mask.bool()
    wanted = plain.objective._states(batch)[is_token]
    for n_kept, n_again in ((n_rows * n_tokens, 0), (n_tokens, n_rows - 1)):
        objective = build(replace(frozen, loss=LossConfig(kept_states=n_kept))).objective
        computed = list[int]()  # rows, each time that the encoder is run

        def note(_encoder: Any, _: Any, inputs: dict[str, torch.Tensor], computed: list[int] = computed) -> None:
            computed.append(len(inputs["input_ids"]))

        objective.network.encoder.register_forward_pre_hook(note, with_kwargs=True)
        for _ in range(2):
            torch.testing.assert_close(objective._states(batch)[is_token], wanted, rtol=1e-3, atol=1e-4)
        assert computed[0] == n_rows and bool(computed[1:]) == bool(n_again)
        assert sum(computed[1:]) <= n_again


def test_a_place_in_the_run_draws_its_delay_and_all_of_the_list_come() -> None:
    config = DelayConfig([0, 4, None, None], layers=[1, 0])
    drawn = [config.draw(1, epoch, place, 0) for epoch in range(2) for place in range(400)]
    assert drawn == [config.draw(1, epoch, place, 0) for epoch in range(2) for place in range(400)]
    counts = Counter(drawn)
    assert counts.keys() == {Delay(0, layers=(1, 0)), Delay(4, layers=(1, 0)), None}
    assert 340 < counts[None] < 460, "what stands twice comes twice as often"
    assert drawn[:400] != drawn[400:] != [config.draw(2, 1, place, 0) for place in range(400)]
    assert drawn[:400] != [config.draw(1, 0, place, 1) for place in range(400)], "processes draw their own"


def test_the_taggers_loss_reads_delayed_states_and_the_text_loss_those_of_the_whole_context(
    tiny_model: Model, batch: Batch
) -> None:
    torch.manual_seed(2)
    objective, delay = Objective(tiny_model, LossConfig(tagger_weight=1.0)), Delay(1, 2)
    with torch.no_grad():
        whole, with_delay = objective(batch), objective(batch, delay)
        states = delayed_states(tiny_model.network.encoder, batch.input_ids, batch.token_words, delay)
        assert objective.tagger is not None
        marks, _ = objective.tagger(states_at_words(states, batch.word_ends))
    wanted = torch.nn.functional.cross_entropy(marks.flatten(0, 1), batch.marks.flatten())
    assert float(with_delay.tags) == pytest.approx(float(wanted), rel=1e-5)
    assert float(with_delay.tags) != float(whole.tags)
    assert float(with_delay.text) == float(whole.text)


def test_without_delays_training_is_what_it_was(config: TrainConfig, tmp_path: Path) -> None:
    """A list of nulls is no delay: the same weights, byte for byte, as without the list; a delay changes them."""
    folders = [
        train(replace(config, output=str(tmp_path / str(n)), data=replace(config.data, delays=DelayConfig(words))))
        for n, words in enumerate(([], [None], [1]))
    ]
    plain, nulls, delayed = map(weights, folders)
    assert plain == nulls != delayed
    assert "delay_left_words: null" in (folders[1] / "t5punct.yaml").read_text()


def test_no_decoder_reads_the_tokens_that_it_shall_write(tiny_model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU, transformers 5.17 gave a T5's decoder all targets: it learned to copy them, and the loss fell."""
    fused = ALL_ATTENTION_FUNCTIONS["sdpa"]

    def see_all(module: Any, query: Any, key: Any, value: Any, mask: Any, **settings: Any) -> Any:
        return fused(module, query, key, value, None, **settings | {"is_causal": False})

    monkeypatch.setitem(ALL_ATTENTION_FUNCTIONS, "sdpa", see_all)
    monkeypatch.setattr(loop, "check_suitable", lambda *_: [])
    gpu: Any = SimpleNamespace(device=torch.device("cuda"), is_main_process=True)
    for model in (tiny_model, models.load("small"), models.load("base")):
        batch = batch_of(model, rows(*CHUNKS))
        examples: Any = SimpleNamespace(rows=rows(*CHUNKS), tokenizer=model.tokenizer)
        ready = loop._ready_model(TrainConfig(data=DataConfig("unread"), init_from="small"), model, examples, gpu)
        objective = Objective(ready, LossConfig()).eval()
        changed = replace(batch, decoder_ids=batch.decoder_ids.clone())
        changed.decoder_ids[:, 3:] = changed.decoder_ids[:, 3:].flip(1)
        read = [
            objective.network.decoder(
                inputs_embeds=embed_targets(ready.network, ready.network._shift_right(each.decoder_ids)),
                encoder_hidden_states=torch.ones(2, 1, ready.network.config.d_model),
                use_cache=False,
            ).last_hidden_state
            for each in (batch, changed)
        ]
        assert torch.equal(read[0][:, :4], read[1][:, :4])
        assert not torch.equal(read[0][:, 4:], read[1][:, 4:])
