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
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.streaming import StreamConfig, StreamingPunctuator
from t5punct.text.words import split
from t5punct.training.config import DataConfig, DelayConfig, LossConfig, OptimConfig, TrainConfig, ValidationConfig
from t5punct.training.data.corpora import CorpusConfig
from t5punct.training.data.prepare import PrepareConfig, prepare
from t5punct.training.loop.train import train

CONFIGS = Path(__file__).parents[2] / "configs"
TEXT = "we know {x} naïve iPhone o'clock 42 that\nthis is  right isn't it NASA said how are you today"
WINDOWS = [
    WindowInput.of(text.split()) for text in ("we know that right", "hello", "this is iPhone 3.5 no no no 🙂 ok")
]


# where the same code runs another family: their layers are RoBERTa's, whose states tests/t5/test_inference.py compares
LONG = ("bert", "electra", "xlm-roberta")
PARAMS = [pytest.param(name, marks=pytest.mark.long) if name in LONG else name for name in FAMILIES]


@pytest.fixture(scope="module", params=PARAMS)
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
    assert len(network.decoder.block) == 2
    assert network.config.d_ff == 64
    assert network.lm_head.weight is network.encoder.get_input_embeddings().weight


def test_what_is_learned_is_decoded_step_by_step_and_words_stay_with_every_decoder(folder: Path, trained: Path) -> None:
    begun, learned = from_encoder(folder), models.load(trained)
    ids = torch.tensor([[5, 6, 7, 8]])
    mask = torch.ones_like(ids)
    assert not torch.allclose(begun.encode(ids, mask), learned.encode(ids, mask), atol=1e-3)
    decoder = SlotDecoder(learned)
    together = decoder.votes(WINDOWS)
    assert_same_votes(together, decode_stepwise(learned, WINDOWS))
    assert_same_votes(together, [decoder.votes([window])[0] for window in WINDOWS])
    for name in ("tagger", "generate"):
        written = Punctuator(learned, PunctuatorConfig(decoding=DecodingConfig(name))).punctuate(TEXT)
        assert [word.normal for word in split(written).words] == [word.normal for word in split(TEXT).words]
        assert written.count("\n") == 1
    generated = learned.tokenizer.target(["We", "know", "NASA", "isn't", "right"], [",", "", "?!", "", "."])
    assert learned.tokenizer.decode(generated) == "We, know NASA?! isn't right."


def test_which_families_learn_delays(family: str, folder: Path, trained: Path, tiny_data: Path, tmp_path: Path) -> None:
    config = StreamConfig(policy="delay", lookahead=2)
    if FAMILIES[family].has_delay:  # that its streams equal the whole text: tests/streaming/test_delay_policy.py
        stream = StreamingPunctuator(Punctuator.from_pretrained(trained), config)
        written = [*stream.push(TEXT.split()), *stream.finish()]
        assert [word.annotated.word for word in written] == TEXT.split()
        return
    with pytest.raises(ModelError, match="delay"):
        StreamingPunctuator(Punctuator.from_pretrained(trained), config)
    models.save(from_encoder(folder), tmp_path / "start")
    data, loss = DataConfig(str(tiny_data), delays=DelayConfig(words=[2])), LossConfig(tagger_weight=1)
    with pytest.raises(ModelError, match="delay"):
        train(TrainConfig(output=str(tmp_path / "run"), init_from=str(tmp_path / "start"), data=data, loss=loss))


def test_an_encoder_that_is_no_model_yet_or_cannot_become_one_is_refused(tmp_path: Path) -> None:
    folder = save_tiny_encoder(tmp_path / "electra", "electra")
    with pytest.raises(ModelError, match=r"holds a electra; expected .* make a model of it first"):
        models.load(folder)
    with pytest.raises(ConfigError, match="inline_case False"):
        from_encoder(folder, replace(ENCODER_TASK, inline_case=False))
    ElectraModel(ElectraConfig(vocab_size=90, embedding_size=16, **SHAPE)).save_pretrained(folder)
    with pytest.raises(ModelError, match="embeddings of 16 channels, states of 32"):
        from_encoder(folder)


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
