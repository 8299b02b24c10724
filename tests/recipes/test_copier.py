"""A fresh decoder that copies words before it is trained."""

import random
import re
from pathlib import Path
from typing import Any

import copier as recipe
import pytest
import torch
import transformers
from chunk_rows import rows
from copier import with_copier
from from_encoder import from_encoder
from from_encoder import main as make_model
from tiny_encoders import save_tiny_encoder

from t5punct import model as models
from t5punct.decoding.generate import generate_texts
from t5punct.decoding.inputs import WindowInput
from t5punct.errors import ConfigError
from t5punct.model import Model
from t5punct.training.examples.batches import make_collator
from t5punct.training.examples.example import IGNORED, ChunkExamples

CONFIGS = Path(__file__).parents[2] / "configs"
WIDE = {"hidden_size": 768, "num_hidden_layers": 1, "num_attention_heads": 12, "intermediate_size": 32}
N_WORDS = 2500


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Model:
    """An encoder as wide as MPNet, with a piece for each of many words and random weights, not trained."""
    folder = tmp_path_factory.mktemp("hub") / "encoder"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *",.?!:;-", *(f"w{number}" for number in range(N_WORDS))]
    (folder.parent / "vocab.txt").write_text("\n".join(pieces))
    transformers.BertTokenizer(str(folder.parent / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(1)
    transformers.BertModel(transformers.BertConfig(**WIDE, vocab_size=len(pieces))).save_pretrained(folder)
    return from_encoder(folder)


@pytest.fixture(scope="module")
def examples(begun: Model) -> ChunkExamples:
    """Windows of random words, some of them often, with marks and capitals by chance."""
    rng, chunks = random.Random(4), []
    for _ in range(60):
        words = [f"w{min(rng.randrange(N_WORDS), rng.randrange(N_WORDS))}" for _ in range(40)]
        forms = [word.upper() if rng.random() < 0.1 else word for word in words]
        written = [form + (rng.choice(",.?") if rng.random() < 0.15 else "") for form in forms]
        chunks.append((" ".join(words), " ".join(written)))
    return ChunkExamples(rows(*chunks), begun.tokenizer)


def share_copied(model: Model, examples: ChunkExamples) -> float:
    """How many of the target's words the decoder writes, of all tokens, when the right ones stand before."""
    network: Any = model.network
    batch = make_collator(model.tokenizer.pad_id)([examples[place] for place in range(20)])
    with torch.no_grad():
        logits = network(input_ids=batch.input_ids, attention_mask=batch.attention_mask, labels=batch.targets).logits
    deciding = torch.tensor(model.tokenizer.deciding_ids)
    words = (batch.targets != IGNORED) & ~torch.isin(batch.targets, deciding)
    return float((logits.argmax(-1) == batch.targets)[words].float().mean())


@pytest.fixture(scope="module")
def copier(begun: Model, examples: ChunkExamples) -> Model:
    torch.manual_seed(2)
    return with_copier(begun, examples, 1000)


def test_it_copies_before_training_repeated_words_too(begun: Model, copier: Model, examples: ChunkExamples) -> None:
    assert share_copied(begun, examples) < 0.02, "a fresh decoder guesses"
    assert share_copied(copier, examples) > 0.8
    words = "w7 w8 w7 w9 w7 w8 w7 w8 w10".split()
    written = generate_texts(copier, [WindowInput.of(words)])[0].lower()
    assert re.sub(r"[^w0-9 ]", "", written).split() == words


def test_encoder_and_embeddings_stay_and_what_is_saved_copies(
    begun: Model, copier: Model, examples: ChunkExamples, tmp_path: Path
) -> None:
    network: Any = copier.network
    old: Any = begun.network
    assert network.encoder is old.encoder
    assert network.shared.weight is old.shared.weight is network.lm_head.weight is network.decoder.embed_tokens.weight
    models.save(copier, tmp_path / "model")
    assert share_copied(models.load(tmp_path / "model"), examples) == share_copied(copier, examples)


def test_a_t5_of_its_own_kind_is_refused(tiny_model: Model, examples: ChunkExamples) -> None:
    refusal = "a decoder that copies for .*; expected a umT5 or an encoder such as a BERT, of 12 heads"
    with pytest.raises(ConfigError, match=refusal):
        with_copier(tiny_model, examples, 100)


def test_main__run_goes_on_from_a_trained_tagger(tiny_data: Path, tmp_path: Path) -> None:
    """As the stages of docs/usage.md: an encoder, a model of it, a decoder that copies."""
    shape = transformers.BertConfig(**{**WIDE, "hidden_size": 384}, vocab_size=300)
    save_tiny_encoder(tmp_path / "encoder", "bert")
    transformers.BertModel(shape).save_pretrained(tmp_path / "encoder")
    make_model(
        [str(tmp_path / "encoder"), str(tmp_path / "model"), "default_style=chat", "opening=¿¡", "--layers", "2"]
    )
    model = models.load(tmp_path / "model")
    assert (model.task.default_style, len(model.network.decoder.block)) == ("chat", 2)
    settings = [f"init_from={tmp_path / 'model'}", f"data.path={tiny_data}", f"output={tmp_path / 'copier'}"]
    recipe.main(["--config", str(CONFIGS / "from-encoder-2-write.yaml"), "--words", "300", *settings])
    assert models.load(tmp_path / "copier").tokenizer.opening_ids.keys() == {"¿", "¡"}
