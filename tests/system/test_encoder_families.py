"""Every family of encoders, from a folder as the hub has it: put under a T5 decoder, trained, saved, loaded, used."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from from_encoder import ENCODER_TASK, from_encoder
from from_encoder import main as make_model
from stepwise import assert_same_votes, decode_stepwise
from tiny import tiny_text
from tiny_encoders import FAMILIES, SHAPE, save_tiny_encoder
from transformers import ElectraConfig, ElectraModel

from t5punct import config as settings
from t5punct import model as models
from t5punct.decoding.inputs import DecodingConfig, WindowInput
from t5punct.decoding.slots import SlotDecoder
from t5punct.errors import ConfigError, ModelError
from t5punct.model import with_precision
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.streaming import StreamConfig, StreamingPunctuator
from t5punct.text.words import split
from t5punct.training.config import DataConfig, DelayConfig, LossConfig, OptimConfig, TrainConfig, ValidationConfig
from t5punct.training.data.prepare import PrepareConfig, prepare
from t5punct.training.data.readers import CorpusConfig
from t5punct.training.loop.train import train

CONFIGS = Path(__file__).parents[2] / "configs"
TEXT = "we know {x} naïve iPhone o'clock 42 that\nthis is  right isn't it NASA said how are you today"
WINDOWS = [
    WindowInput.of(text.split()) for text in ("we know that right", "hello", "this is iPhone 3.5 no no no 🙂 ok")
]


@pytest.fixture(scope="module", params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def folder(family: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_encoder(tmp_path_factory.mktemp("hub") / family, family)


@pytest.fixture(scope="module")
def trained(family: str, folder: Path, tiny_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three steps that learns all that there is, delays too where the family can have them."""
    output = tmp_path_factory.mktemp("run") / family
    delays = DelayConfig(words=[2, None] if FAMILIES[family].has_delay else [])
    data = DataConfig(str(tiny_data), batch_tokens=900, delays=delays)
    optim = OptimConfig(lr=1e-3, warmup_steps=0, max_steps=4)
    loss = LossConfig(tagger_weight=0.5, slot_weight=1, sampled_pieces=50)
    models.save(from_encoder(folder), output.with_name("start"))
    return train(
        TrainConfig(
            output=str(output), init_from=str(output.with_name("start")), data=data, optim=optim, loss=loss,
            validation=ValidationConfig(every_steps=0), checkpoint_every_steps=0,
        )
    )  # fmt: skip


def test_the_encoder_stays_what_it_is_weight_for_weight(family: str, folder: Path) -> None:
    begun = from_encoder(folder, layers=2)
    network: Any = begun.network
    own = FAMILIES[family].network.from_pretrained(folder)  # type: ignore[attr-defined]
    weights = network.encoder.state_dict()
    kept = {name: value for name, value in own.state_dict().items() if "pooler" not in name}
    assert kept.keys() == weights.keys()
    for name, value in kept.items():
        assert torch.equal(weights[name][: len(value)], value), name  # the words' embeddings have new rows behind
    words = begun.tokenizer.tokenizer.encode("we know")
    with torch.no_grad():
        expected = own.eval()(input_ids=torch.tensor([words])).last_hidden_state
        mine = begun.encode(torch.tensor([words]), torch.ones(1, len(words), dtype=torch.long))
    assert torch.allclose(mine, expected, atol=1e-5)
    assert len(network.decoder.block) == 2
    assert network.config.d_ff == 64
    assert network.lm_head.weight is network.encoder.get_input_embeddings().weight


def test_what_is_learned_is_saved_and_decoded_step_by_step(family: str, folder: Path, trained: Path) -> None:
    begun, learned = from_encoder(folder), models.load(trained)
    ids = torch.tensor([[5, 6, 7, 8]])
    mask = torch.ones_like(ids)
    assert not torch.allclose(begun.encode(ids, mask), learned.encode(ids, mask), atol=1e-3)
    again = trained.with_name(f"again-{family}")
    models.save(learned, again)
    assert torch.equal(models.load(again).encode(ids, mask), learned.encode(ids, mask))
    model = models.load(trained)
    decoder = SlotDecoder(model)
    together = decoder.votes(WINDOWS)
    assert_same_votes(together, decode_stepwise(model, WINDOWS))
    assert_same_votes(together, [decoder.votes([window])[0] for window in WINDOWS])


def test_words_stay_with_every_decoder(trained: Path) -> None:
    for decoder in ("tagger", "generate"):
        config = replace(PunctuatorConfig(), decoding=DecodingConfig(decoder))
        written = Punctuator.from_pretrained(trained, config).punctuate(TEXT)
        assert [word.normal for word in split(written).words] == [word.normal for word in split(TEXT).words]
        assert written.count("\n") == 1
    tokenizer = models.load(trained).tokenizer
    generated = tokenizer.target(["We", "know", "NASA", "isn't", "right"], [",", "", "?!", "", "."])
    assert tokenizer.decode(generated) == "We, know NASA?! isn't right."


def test_only_with_relative_positions_a_delay_is_learned_and_used(
    family: str, folder: Path, trained: Path, tiny_data: Path, tmp_path: Path
) -> None:
    punctuator, config = Punctuator.from_pretrained(trained), StreamConfig(policy="delay", lookahead=2)
    if FAMILIES[family].has_delay:  # that its streams equal the whole text: tests/streaming/test_delay_policy.py
        stream = StreamingPunctuator(punctuator, config)
        written = [*stream.push(TEXT.split()), *stream.finish()]
        said = split(" ".join(word.annotated.text for word in written))
        assert [word.normal for word in said.words] == [word.normal for word in split(TEXT).words]
        return
    with pytest.raises(ModelError, match="delay"):
        StreamingPunctuator(punctuator, config)
    models.save(from_encoder(folder), tmp_path / "start")
    data, loss = DataConfig(str(tiny_data), delays=DelayConfig(words=[2])), LossConfig(tagger_weight=1)
    with pytest.raises(ModelError, match="delay"):
        train(TrainConfig(output=str(tmp_path / "run"), init_from=str(tmp_path / "start"), data=data, loss=loss))


def test_an_encoder_that_was_never_trained_or_with_another_text_form_is_refused(family: str, folder: Path) -> None:
    with pytest.raises(ModelError, match=f"holds a {family}; expected .* make a model of it first"):
        models.load(folder)
    with pytest.raises(ConfigError, match="inline_case False"):
        from_encoder(folder, replace(ENCODER_TASK, inline_case=False))


def test_embeddings_narrower_than_the_states_are_refused(tmp_path: Path) -> None:
    folder = save_tiny_encoder(tmp_path / "electra", "electra")
    ElectraModel(ElectraConfig(vocab_size=90, embedding_size=16, **SHAPE)).save_pretrained(folder)
    with pytest.raises(ModelError, match="embeddings of 16 channels, states of 32"):
        from_encoder(folder)


@pytest.mark.parametrize("precision", ["int8", "bf16"])
def test_it_computes_in_other_precisions(trained: Path, precision: str) -> None:
    model = models.load(trained)
    ids = torch.randint(5, 50, (3, 9), generator=torch.Generator().manual_seed(1))
    mask = (torch.arange(9) < torch.tensor([9, 5, 7])[:, None]).long()
    states, other = (
        network.encode(ids, mask)[mask.bool()].float() for network in (model, with_precision(model, precision))
    )
    assert 0 < float((states - other).detach().abs().max()) < 0.5


def test_the_stages_of_the_guide_go_from_text_to_marks(tmp_path: Path) -> None:
    """As docs/usage.md has them: a model of the encoder, prepare with its tokenizer, the tagger, then the decoder."""
    encoder = tmp_path / "encoder"
    make_model([str(save_tiny_encoder(tmp_path / "hub", "roberta")), str(encoder)])
    for seed in range(8):
        (tmp_path / f"talk{seed}.txt").write_text(" ".join(tiny_text(30, seed)) + "\n")
    corpora = [CorpusConfig(str(tmp_path / "talk*.txt"))]
    prepare(PrepareConfig(str(tmp_path / "data"), corpora=corpora, tokenizer=str(encoder), holdout_percent=20))
    short = ["data.batch_tokens=900", f"data.path={tmp_path / 'data'}", "optim.max_steps=2"]
    first = [f"init_from={encoder}", f"output={tmp_path / 'tag'}", *short]
    train(settings.load(TrainConfig, CONFIGS / "from-encoder-1-tag.yaml", first))
    second = [f"init_from={tmp_path / 'tag'}", f"output={tmp_path / 'write'}", *short]
    train(settings.load(TrainConfig, CONFIGS / "from-encoder-2-write.yaml", second))
    tagged, written = (models.load(tmp_path / name) for name in ("tag", "write"))
    ids = torch.tensor([[5, 6, 7, 8]])
    encoded = [model.encode(ids, torch.ones_like(ids)) for model in (tagged, written)]
    assert torch.equal(*encoded), "the second stage leaves the encoder as it is"
    assert Punctuator(written).punctuate(TEXT).count("\n") == 1
