"""Tiny encoders with random weights, one of each family that is tested, in folders as a hub has them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers
from tiny import tiny_text

SHAPE: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 64,
    "max_position_embeddings": 130,
}  # fmt: skip
_LETTERS = [*"abcdefghijklmnopqrstuvwxyz0123456789,.?!:;-'"]


@dataclass(frozen=True)
class Family:
    """How a family's encoder and tokenizer are made."""

    network: Callable[..., Any]
    config: Callable[..., Any]
    tokenizer: Callable[[], Any]
    has_delay: bool = False
    has_layers: bool = True  # that we run ourselves

    def shape(self, **values: int) -> Any:
        """Return the config of a tiny encoder."""
        width = {"embedding_size": SHAPE["hidden_size"]} if self.config is transformers.ElectraConfig else {}
        return self.config(**SHAPE, **width, **values)


_FIRST = {"<s>": 0, "<pad>": 1, "</s>": 2}  # whatever its tokenizer says, MPNet takes 1 for its padding
FAMILIES = {
    "bert": Family(transformers.BertModel, transformers.BertConfig, transformers.BertTokenizer),
    "electra": Family(transformers.ElectraModel, transformers.ElectraConfig, transformers.ElectraTokenizer),
    "mpnet": Family(
        transformers.MPNetModel,
        transformers.MPNetConfig,
        partial(transformers.MPNetTokenizer, vocab=_FIRST),
        has_delay=True,
    ),
    "roberta": Family(
        transformers.RobertaModel, transformers.RobertaConfig, partial(transformers.RobertaTokenizer, vocab=_FIRST)
    ),
    "xlm-roberta": Family(
        transformers.XLMRobertaModel, transformers.XLMRobertaConfig, transformers.XLMRobertaTokenizer
    ),
    "distilbert": Family(
        transformers.DistilBertModel, transformers.DistilBertConfig, transformers.DistilBertTokenizer, has_layers=False
    ),
}


def train_tiny_tokenizer(name: str) -> Any:
    """Return a family's tokenizer, with 300 pieces at most."""
    sentences = tiny_text(400, seed=1)
    texts = [*sentences, *(sentence.lower() for sentence in sentences)]
    untrained = FAMILIES[name].tokenizer()
    return untrained.train_new_from_iterator(texts, 300, initial_alphabet=_LETTERS, show_progress=False)


def save_tiny_encoder(folder: Path, name: str) -> Path:
    """Write a family's folder: config, weights, tokenizer."""
    family, tokenizer = FAMILIES[name], train_tiny_tokenizer(name)
    tokenizer.save_pretrained(folder)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        network = family.network(family.shape(vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id)).eval()
        for parameter in network.parameters():
            parameter.data.add_(0.2 * torch.randn_like(parameter))
    network.save_pretrained(folder)
    return folder
