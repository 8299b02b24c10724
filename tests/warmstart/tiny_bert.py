"""Tiny BERTs with random weights, and a WordPiece tokenizer for them."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from transformers import BertConfig, BertModel

_UNUSED = [f"[unused{number}]" for number in range(130)]
_LETTERS = list("abcdefghijklmnopqrstuvwxyz0123456789,.?!:;-'")
_WORDS = "the we know that this is right how are you today go not now she said big house".split()
PIECES = ["[PAD]", *_UNUSED, "[UNK]", "[CLS]", "[SEP]", "[MASK]", *_LETTERS, *(f"##{one}" for one in _LETTERS), *_WORDS]
N_PIECES = len(PIECES)


def tiny_bert(seed: int = 0, gain: float = 0.1, n_layers: int = 3) -> BertModel:
    """Three layers of 32 channels; LayerNorms with gains of 1 and biases of 0, both `gain` apart."""
    config = BertConfig(
        vocab_size=N_PIECES,
        hidden_size=32,
        num_hidden_layers=n_layers,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=256,
        hidden_act="gelu",
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = BertModel(config, add_pooling_layer=False).eval()
        with torch.no_grad():
            for name, parameter in network.named_parameters():
                if "LayerNorm" in name:
                    parameter.add_(gain * torch.randn_like(parameter))
                elif parameter.ndim == 1:
                    parameter.normal_(0.0, 0.1)
                elif "embeddings" not in name:
                    parameter.normal_(0.0, parameter.shape[1] ** -0.5 / 2)
    return network


def save_tiny_bert(folder: Path, **settings: float) -> Path:
    """A folder as a hub has it: network and tokenizer."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    tiny_bert(**settings).save_pretrained(folder)  # type: ignore[arg-type]
    backend = Tokenizer(models.WordPiece({piece: number for number, piece in enumerate(PIECES)}, unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    names = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    special = {f"{name}_token": token for name, token in names.items()}
    PreTrainedTokenizerFast(tokenizer_object=backend, **special).save_pretrained(folder)
    assert json.loads((folder / "config.json").read_text())["model_type"] == "bert"
    return folder
