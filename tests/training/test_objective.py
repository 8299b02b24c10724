import math

import pytest
import torch

from t5punct.model import Model
from t5punct.training.batches import Batch, collate
from t5punct.training.config import LossConfig
from t5punct.training.examples import IGNORED, ChunkExamples
from t5punct.training.objective import Objective

ROWS = {
    "source": ["we know right", "stop now"],
    "target": ["We know, right?!", "Stop now."],
    "style": ["talk", "chat"],
    "n_words": [3, 2],
}


class Rows(dict):
    """Just enough of a data set: columns by name, rows by number or numbers."""

    def __getitem__(self, key: str | int | list[int]) -> object:
        if isinstance(key, str):
            return super().__getitem__(key)
        several = isinstance(key, list)
        return {name: [values[one] for one in key] if several else values[key] for name, values in self.items()}


@pytest.fixture
def batch(tiny_model: Model) -> Batch:
    examples = ChunkExamples(Rows(ROWS), tiny_model.tokenizer)
    return collate(tiny_model.tokenizer.pad_id)([examples[0], examples[1]])


def cross_entropy(logits: list[float], wanted: int) -> float:
    return math.log(sum(math.exp(value) for value in logits)) - logits[wanted]


@torch.no_grad()
def test_the_text_loss_is_the_mean_over_target_tokens(tiny_model: Model, batch: Batch) -> None:
    losses = Objective(tiny_model, LossConfig())(batch)
    network = tiny_model.network
    logits = network(input_ids=batch.input_ids, attention_mask=batch.attention_mask, labels=batch.labels).logits
    by_hand = [
        cross_entropy(logits[row, place].tolist(), int(token))
        for row, tokens in enumerate(batch.labels)
        for place, token in enumerate(tokens)
        if token != IGNORED
    ]
    assert float(losses.text) == pytest.approx(sum(by_hand) / len(by_hand), rel=1e-5)
    assert float(losses.total) == float(losses.text)
    assert float(losses.tags) == 0.0


@torch.no_grad()
def test_tokens_that_decide_slots_can_count_more(tiny_model: Model, batch: Batch) -> None:
    losses = Objective(tiny_model, LossConfig(slot_weight=5.0))(batch)
    tokenizer, network = tiny_model.tokenizer, tiny_model.network
    logits = network(input_ids=batch.input_ids, attention_mask=batch.attention_mask, labels=batch.labels).logits
    summed = total = 0.0
    for row, pieces in enumerate([["We", "know", ",", "right", "?", "!"], ["Stop", "now", "."]]):
        place = 0
        for index, piece in enumerate(pieces):
            ids = tokenizer.mark_ids.get(piece) or tokenizer.word_ids(piece, first=index == 0)
            for offset, token in enumerate(ids):
                weight = 5.0 if offset == 0 else 1.0
                summed += weight * cross_entropy(logits[row, place].tolist(), token)
                total, place = total + weight, place + 1
        summed += 5.0 * cross_entropy(logits[row, place].tolist(), tokenizer.eos_id)
        total += 5.0
    assert float(losses.total) == pytest.approx(summed / total, rel=1e-5)
    assert float(losses.text) == pytest.approx(float(Objective(tiny_model, LossConfig())(batch).text))
    assert float(losses.text) != pytest.approx(float(losses.total), rel=1e-3)


@torch.no_grad()
def test_the_tagger_loss_is_the_mean_over_slots(tiny_model: Model, batch: Batch) -> None:
    torch.manual_seed(2)
    objective = Objective(tiny_model, LossConfig(tagger_weight=0.25, case_weight=2.0))
    losses = objective(batch)
    encoder = tiny_model.network.get_encoder()
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
    tagged = float(losses.tags) + 2.0 * float(losses.cases)
    assert float(losses.total) == pytest.approx(float(losses.text) + 0.25 * tagged, rel=1e-6)


def test_padding_and_batch_mates_do_not_change_an_example(tiny_model: Model) -> None:
    torch.manual_seed(2)
    objective = Objective(tiny_model, LossConfig(tagger_weight=1.0))
    examples = ChunkExamples(Rows(ROWS), tiny_model.tokenizer)
    pad = collate(tiny_model.tokenizer.pad_id)
    with torch.no_grad():
        both, one, other = (
            objective(pad(chosen)) for chosen in ([examples[0], examples[1]], [examples[0]], [examples[1]])
        )
    assert float(both.tags) == pytest.approx((3 * float(one.tags) + 2 * float(other.tags)) / 5, rel=1e-5)
    n_one, n_other = len(examples[0].target), len(examples[1].target)
    pooled = (n_one * float(one.text) + n_other * float(other.text)) / (n_one + n_other)
    assert float(both.text) == pytest.approx(pooled, rel=1e-5)


def test_no_tagged_slot_gives_no_loss_and_finite_gradients(tiny_model: Model, batch: Batch) -> None:
    objective = Objective(tiny_model, LossConfig(tagger_weight=1.0))
    batch.marks.fill_(IGNORED)
    batch.cases.fill_(IGNORED)
    losses = objective(batch)
    assert float(losses.tags) == float(losses.cases) == 0.0
    gradients = torch.autograd.grad(losses.total, list(objective.tagger.parameters()))  # type: ignore[union-attr]
    assert all(bool((gradient == 0).all()) for gradient in gradients)


def test_the_tagger_teaches_the_encoder(tiny_model: Model, batch: Batch) -> None:
    objective = Objective(tiny_model, LossConfig(tagger_weight=1.0))
    losses = objective(batch)
    assert not losses.text.requires_grad
    weight = tiny_model.network.get_encoder().block[0].layer[0].SelfAttention.q.weight
    (with_tagger,) = torch.autograd.grad(losses.total, weight)
    (without,) = torch.autograd.grad(Objective(tiny_model, LossConfig())(batch).total, weight)
    assert not torch.allclose(with_tagger, without)
