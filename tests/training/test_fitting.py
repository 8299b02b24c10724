"""What is fitted on frozen states before the first step: a tagger, and a decoder that copies."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from datasets import load_from_disk

from t5punct.model import Model
from t5punct.training.config import FitConfig, LossConfig, TrainConfig
from t5punct.training.examples.batches import make_collator
from t5punct.training.examples.example import ChunkExamples
from t5punct.training.loop.objective import Losses, Objective
from t5punct.training.loop.train import build
from t5punct.training.start import fitting
from t5punct.training.start.copier import fit_copier
from t5punct.training.start.fitting import fit_heads, fit_tagger


@pytest.fixture
def examples(tiny_model: Model, tiny_data: Path) -> ChunkExamples:
    return ChunkExamples(load_from_disk(str(tiny_data))["train"], tiny_model.tokenizer)


def losses(model: Model, examples: ChunkExamples, config: LossConfig, n_examples: int = 40) -> Losses:
    batch = make_collator(model.tokenizer.pad_id)([examples[index] for index in range(n_examples)])
    with torch.no_grad():
        found: Losses = Objective(model, config)(batch)
    return found


def test_a_fitted_tagger_knows_more_than_the_shares_of_classes(tiny_model: Model, examples: ChunkExamples) -> None:
    before = copy.deepcopy(tiny_model.network.state_dict())
    tagger = fit_tagger(tiny_model, examples, n_words=2000)
    for name, value in tiny_model.network.state_dict().items():
        assert torch.equal(value, before[name]), "the network stays as it is"
    found = losses(replace(tiny_model, tagger=tagger), examples, LossConfig(tagger_weight=1.0), len(examples))
    marks = torch.tensor([mark for index in range(len(examples)) for mark in examples[index].marks])
    shares = torch.bincount(marks).float() / len(marks)
    entropy = -float((shares[shares > 0] * shares[shares > 0].log()).sum())
    assert float(found.tags) < 0.98 * entropy, "where marks stand in this text is drawn by lot"


def test_a_tagger_is_fitted_on_as_many_words_as_are_asked_for(
    tiny_model: Model, examples: ChunkExamples, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words, not tokens; at most one chunk more."""
    seen, fit = list[int](), fitting._fit

    def counted(head: torch.nn.Linear, states: torch.Tensor, classes: torch.Tensor) -> None:
        seen.append(len(states))
        fit(head, states, classes)

    monkeypatch.setattr(fitting, "_fit", counted)
    fit_tagger(tiny_model, examples, n_words=300)
    assert len(seen) == 2, "one head for marks, one for case"
    assert all(300 <= n_words < 300 + 64 for n_words in seen)


def test_a_tagger_that_is_there_is_kept(tiny_model: Model, examples: ChunkExamples) -> None:
    model = fit_heads(tiny_model, examples, FitConfig(tagger_words=500))
    assert model.tagger is not None and tiny_model.tagger is None
    assert fit_heads(model, examples, FitConfig(tagger_words=500)).tagger is model.tagger
    assert fit_heads(tiny_model, examples, FitConfig()) is tiny_model


def test_a_fitted_copier_looks_at_the_token_that_was_written_last(tiny_model: Model, examples: ChunkExamples) -> None:
    """Half of its heads do; what they find there is the next token."""
    model = replace(tiny_model, network=copy.deepcopy(tiny_model.network))
    torch.manual_seed(1)
    fit_copier(model, examples, n_words=2000)
    attention = model.network.get_decoder().block[0].layer[1].EncDecAttention
    ids = torch.tensor([[*dict.fromkeys(examples[0].source[:-1]), model.tokenizer.eos_id]])  # each token once
    heard: dict[str, torch.Tensor] = {}

    def keep(_module: object, inputs: tuple[torch.Tensor, ...], named: dict[str, torch.Tensor]) -> None:
        heard["states"] = inputs[0] if inputs else named["hidden_states"]

    hook = attention.register_forward_pre_hook(keep, with_kwargs=True)
    with torch.no_grad():
        encoded = model.network.get_encoder()(input_ids=ids).last_hidden_state
        model.network.get_decoder()(input_ids=ids, encoder_hidden_states=encoded, use_cache=False)
        hook.remove()

        def heads(rows: torch.Tensor) -> torch.Tensor:
            return rows.unflatten(-1, (attention.n_heads, attention.key_value_proj_dim)).transpose(1, 2)

        looked = (heads(attention.q(heard["states"])) @ heads(attention.k(encoded)).transpose(-1, -2))[0].argmax(-1)
    places = torch.arange(ids.shape[1])
    hits = (looked[attention.n_heads // 2 :] == places).float().mean()
    assert float(hits) > 5 / ids.shape[1], "five times chance"


def test_a_fitted_copier_learns_from_the_first_step(tiny_model: Model, examples: ChunkExamples) -> None:
    first = {}
    for words in (0, 2000):
        model = replace(tiny_model, network=copy.deepcopy(tiny_model.network))
        torch.manual_seed(1)
        model = fit_heads(model, examples, FitConfig(copier_words=words))
        optimiser = torch.optim.AdamW(model.network.parameters(), lr=1e-3)
        objective = Objective(model, LossConfig()).train()
        batch = make_collator(model.tokenizer.pad_id)([examples[index] for index in range(40)])
        for _ in range(15):
            optimiser.zero_grad()
            loss = objective(batch).total
            loss.backward()
            optimiser.step()
        first[words] = float(loss.detach())
    assert first[2000] < first[0]


def test_a_run_fits_before_its_first_step_and_not_when_it_goes_on(config: TrainConfig, tmp_path: Path) -> None:
    config = replace(config, fit=FitConfig(tagger_words=500, copier_words=500))
    run = build(config)
    plain = build(replace(config, fit=FitConfig(), output=str(tmp_path / "plain")))
    for name in ("encoder.block.0.layer.0.SelfAttention.q.weight", "shared.weight"):
        assert torch.equal(run.model.network.state_dict()[name], plain.model.network.state_dict()[name])
    written = "decoder.block.0.layer.1.EncDecAttention.q.weight"
    assert not torch.equal(run.model.network.state_dict()[written], plain.model.network.state_dict()[written])
    assert run.model.tagger is not None and plain.model.tagger is not None
    norms = [float(one.model.tagger.marks.weight.detach().norm()) for one in (run, plain)]
    assert norms[0] != pytest.approx(norms[1])
