"""Tiny encoders with random weights, one of each family that is tested, in folders as a hub has them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers
from tiny import tiny_text
from tokenizers import Tokenizer, decoders, normalizers, pre_tokenizers, processors, trainers
from tokenizers import models as kinds

N_PIECES = 300
SHAPE: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 64,
    "max_position_embeddings": 130,
}  # fmt: skip
BERT_NAMES = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
ROBERTA_NAMES = {"bos": "<s>", "pad": "<pad>", "eos": "</s>", "unk": "<unk>", "cls": "<s>", "sep": "</s>"}


@dataclass(frozen=True)
class Family:
    """How a family's encoder and tokenizer are made."""

    network: Callable[..., Any]
    config: Callable[..., Any]
    tokenizer: Callable[[], Tokenizer]
    names: dict[str, str]
    has_delay: bool = False
    has_layers: bool = True  # that we run ourselves

    def shape(self, **values: int) -> Any:
        """Return the config of a tiny encoder."""
        width = {"embedding_size": SHAPE["hidden_size"]} if self.config is transformers.ElectraConfig else {}
        return self.config(**SHAPE, **width, **values)


def wordpiece(names: Sequence[str] = tuple(BERT_NAMES.values())) -> Tokenizer:
    """Return BERT's kind: pieces inside of words begin with ##; MPNet's have RoBERTa's names."""
    tokenizer = Tokenizer(kinds.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return _trained(tokenizer, trainers.WordPieceTrainer(vocab_size=N_PIECES, special_tokens=[*names]))


def byte_pieces() -> Tokenizer:
    """Return RoBERTa's kind: pairs of bytes."""
    tokenizer = Tokenizer(kinds.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    names = ["<s>", "<pad>", "</s>", "<unk>"]
    return _trained(
        tokenizer, trainers.BpeTrainer(vocab_size=N_PIECES, special_tokens=names, initial_alphabet=alphabet)
    )


def unigrams() -> Tokenizer:
    """Return XLM-R's kind: sentencepiece."""
    tokenizer = Tokenizer(kinds.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    names = ["<s>", "<pad>", "</s>", "<unk>"]
    alphabet = [*"abcdefghijklmnopqrstuvwxyz0123456789,.?!:;-'"]
    trainer = trainers.UnigramTrainer(
        vocab_size=N_PIECES, special_tokens=names, unk_token="<unk>", initial_alphabet=alphabet
    )
    return _trained(tokenizer, trainer)


_MPNET_NAMES = {**ROBERTA_NAMES, "unk": "[UNK]"}
_mpnet_wordpiece = partial(wordpiece, ("<s>", "<pad>", "</s>", "<unk>", "[UNK]"))
_BERT, _ROBERTA = (wordpiece, BERT_NAMES), (byte_pieces, ROBERTA_NAMES)
FAMILIES = {
    "bert": Family(transformers.BertModel, transformers.BertConfig, *_BERT),
    "electra": Family(transformers.ElectraModel, transformers.ElectraConfig, *_BERT),
    "mpnet": Family(transformers.MPNetModel, transformers.MPNetConfig, _mpnet_wordpiece, _MPNET_NAMES, has_delay=True),
    "roberta": Family(transformers.RobertaModel, transformers.RobertaConfig, *_ROBERTA),
    "xlm-roberta": Family(transformers.XLMRobertaModel, transformers.XLMRobertaConfig, unigrams, ROBERTA_NAMES),
    "distilbert": Family(transformers.DistilBertModel, transformers.DistilBertConfig, *_BERT, has_layers=False),
}


def save_tiny_encoder(folder: Path, name: str) -> Path:
    """Write a family's folder: config, weights, tokenizer."""
    family = FAMILIES[name]
    backend = family.tokenizer()
    special = {f"{role}_token": token for role, token in family.names.items()}
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=backend, **special)
    tokenizer.save_pretrained(folder)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        network = family.network(family.shape(vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id)).eval()
        for parameter in network.parameters():
            parameter.data.add_(0.2 * torch.randn_like(parameter))
    network.save_pretrained(folder)
    return folder


def _trained(tokenizer: Tokenizer, trainer: Any) -> Tokenizer:
    sentences = tiny_text(400, seed=1)
    tokenizer.train_from_iterator([*sentences, *(sentence.lower() for sentence in sentences)], trainer)
    first, last = ("[CLS]", "[SEP]") if tokenizer.token_to_id("[CLS]") is not None else ("<s>", "</s>")
    pairs = [(token, tokenizer.token_to_id(token)) for token in (first, last)]
    tokenizer.post_processor = processors.TemplateProcessing(single=f"{first} $A {last}", special_tokens=pairs)
    return tokenizer
