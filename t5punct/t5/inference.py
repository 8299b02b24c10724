"""Networks and tokenizers for inference, without transformers, whose import takes longer than loading both.

In: a model's folder.  Out: an `InferenceT5` and a `PieceTokenizer`, or None for what this module cannot read: then
transformers reads the folder, or says what is wrong with it (`weights.load_network`).

A network's modules have the names that transformers gives them, such as `.encoder.block[0].layer[0].SelfAttention.q`.
`encoder` and `decoding/cached_decoder` call them one by one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import nn

from .encoder import blocks_of
from .folder import ENCODER_T5, FLOAT_FILE, int8_files
from .int8 import Int8Rows, read_stored
from .int8_linear import Int8Linear, linear_layers
from .weights import broken_weights
from .word_memory import memory_of

ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    "relu": nn.ReLU,
    "gelu": nn.GELU,
    "gelu_new": partial(nn.GELU, approximate="tanh"),
    "silu": nn.SiLU,
}
_OUTPUT = "lm_head.weight"
Parts = nn.ModuleDict  # modules by the names under which transformers has them
FILE, CONFIG_FILE = "tokenizer.json", "tokenizer_config.json"
# classes of transformers that take the file as it is; others build a tokenizer from its vocabulary
_PLAIN_CLASSES = ("TokenizersBackend", "PreTrainedTokenizerFast")
_ROLES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
_MORE = ("extra_special_tokens", "additional_special_tokens")


def read_network(folder: Path, *, in_int8: bool = False) -> InferenceT5 | None:
    """Return a folder's network, on the CPU, in float32; None if it cannot be read here.

    With `in_int8` it multiplies in int8, by the rows on disk; None if there are none.
    """
    try:
        config = SimpleNamespace(**json.loads((folder / "config.json").read_text(encoding="utf-8")))
        weights: dict[str, Any] = read_stored(folder) if int8_files(folder) else load_file(folder / FLOAT_FILE)
        scales = [weight.scales for weight in weights.values() if isinstance(weight, Int8Rows)]
        if not all(scale.isfinite().all() for scale in scales) or (in_int8 and not scales):
            return None
        if config.model_type == "umt5" and getattr(config, "tie_word_embeddings", None) is False:
            return None  # as published, its output must be scaled, as `weights.load_network` does
        is_tied = _OUTPUT not in weights
        with torch.device("meta"):  # no memory yet: the weights come from the file
            network = InferenceT5(config)
        if is_tied:
            network.lm_head.weight = network.shared.weight
        shapes = {name: weight.shape for name, weight in network.named_parameters()}  # tied ones under their first name
        tensors = {name: getattr(weight, "integers", weight) for name, weight in weights.items()}
        if blocks_of(network.encoder) is None or shapes != {name: tensor.shape for name, tensor in tensors.items()}:
            return None
        if in_int8:
            for name, layer in linear_layers(network).items():
                network.set_submodule(name, Int8Linear(weights.pop(f"{name}.weight"), layer.bias))
        network.load_state_dict({name: weight.float() for name, weight in weights.items()}, strict=False, assign=True)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RuntimeError, SafetensorError):
        return None
    if is_tied:
        network.lm_head.weight = network.shared.weight
    return None if broken_weights(network) else network.eval().requires_grad_(False)


class InferenceT5(nn.Module):
    """A T5, umT5 or mT5, or another encoder under umT5's decoder, without a forward, dropout or initialised weights.

    output_scale: what the decoder's last states are multiplied by before `lm_head`.  Raises AttributeError, KeyError or
    TypeError for a config that lacks a setting, or has an unknown one.
    """

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        # whether states are scaled before `lm_head`, as in transformers 5: a umT5's are, a mT5's are not, and for a T5
        # `scale_decoder_outputs` says so; without that setting they are scaled if the embeddings are tied
        is_tied = getattr(config, "tie_word_embeddings", None) is not False
        is_t5_scaled = getattr(config, "scale_decoder_outputs", is_tied)
        is_scaled = {"t5": is_t5_scaled, "mt5": False, "umt5": True, ENCODER_T5: True}[config.model_type]
        self.output_scale = float(config.d_model**-0.5) if is_scaled else 1.0
        self.shared = _table(config.vocab_size, config.d_model)
        encoder_config = SimpleNamespace(**config.encoder) if config.model_type == ENCODER_T5 else config
        is_bert = hasattr(encoder_config, "num_hidden_layers")  # a T5 has `num_layers`
        if is_bert:
            self.encoder: nn.Module = _bert(encoder_config, self.shared)
        else:
            self.encoder = _t5_stack(encoder_config, self.shared, encoder_config.num_layers)
        self.decoder = _t5_stack(config, self.shared, config.num_decoder_layers, is_decoder=True)
        self.memory = memory_of(config)  # what the decoder reads beside the encoder's states
        self.lm_head = nn.Linear(config.d_model, config.vocab_size, bias=False)


def _table(n_rows: int, n_channels: int, padding_idx: int | None = None) -> nn.Embedding:
    """Return an embedding that is not initialised: on the device `meta` that costs a second of imports."""
    make: Callable[..., nn.Embedding] = nn.Embedding.from_pretrained
    return make(torch.empty(n_rows, n_channels), padding_idx=padding_idx)


def _t5_stack(config: Any, words: nn.Embedding, n_layers: int, *, is_decoder: bool = False) -> nn.Module:
    """Return an encoder or a decoder; T5 has one position bias, the first layer's, and umT5 one a layer."""
    has_all = config.model_type in ("umt5", ENCODER_T5)
    blocks = nn.ModuleList()
    for index in range(n_layers):
        sublayers: list[dict[str, nn.Module]] = [{"SelfAttention": T5Attention(config, has_bias=has_all or not index)}]
        if is_decoder:
            sublayers.append({"EncDecAttention": T5Attention(config, has_bias=False)})
        sublayers.append({"DenseReluDense": T5Feed(config)})
        for parts in sublayers:
            parts |= {"layer_norm": ScaleNorm(config.d_model, config.layer_norm_epsilon), "dropout": nn.Identity()}
        blocks.append(Parts({"layer": nn.ModuleList(map(Parts, sublayers))}))
    norm = ScaleNorm(config.d_model, config.layer_norm_epsilon)
    return Parts({"embed_tokens": words, "block": blocks, "final_layer_norm": norm, "dropout": nn.Identity()})


class T5Attention(nn.Module):
    """The maps of a T5's attention, and its position bias."""

    def __init__(self, config: Any, *, has_bias: bool) -> None:
        super().__init__()
        self.n_heads = config.num_heads
        n_inner = config.num_heads * config.d_kv
        self.q, self.k, self.v = (nn.Linear(config.d_model, n_inner, bias=False) for _ in range(3))
        self.o = nn.Linear(n_inner, config.d_model, bias=False)
        self.has_relative_attention_bias = has_bias
        self.relative_attention_max_distance = config.relative_attention_max_distance
        if has_bias:
            self.relative_attention_bias = _table(config.relative_attention_num_buckets, config.num_heads)


class T5Feed(nn.Module):
    """A T5's feed-forward layer, with a gate or without."""

    wi: nn.Module
    wi_0: nn.Module
    wi_1: nn.Module

    def __init__(self, config: Any) -> None:
        super().__init__()
        gate, _, name = config.feed_forward_proj.rpartition("-")
        self._act = ACTIVATIONS["gelu_new" if gate and name == "gelu" else name]()
        for map_name in ("wi_0", "wi_1") if gate else ("wi",):
            setattr(self, map_name, nn.Linear(config.d_model, config.d_ff, bias=False))
        self.wo: nn.Module = nn.Linear(config.d_ff, config.d_model, bias=False)
        self._is_gated = bool(gate)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        wide = self._act(self.wi_0(hidden)) * self.wi_1(hidden) if self._is_gated else self._act(self.wi(hidden))
        return self.wo(wide)


class ScaleNorm(nn.Module):
    """T5's norm, which scales and does not shift (root mean square; Zhang 2019)."""

    def __init__(self, n_channels: int, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_channels))
        self._epsilon = epsilon

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        variance = hidden.float().pow(2).mean(-1, keepdim=True)
        return self.weight * (hidden * torch.rsqrt(variance + self._epsilon)).to(self.weight.dtype)


def _bert(config: Any, words: nn.Embedding) -> nn.Module:
    """Return an encoder of BERT's kind; MPNet has one position bias for all of its layers."""
    n_channels = config.hidden_size
    is_mpnet = config.model_type == "mpnet"
    make_norm = partial(nn.LayerNorm, n_channels, eps=config.layer_norm_eps)
    layers = nn.ModuleList()
    for _ in range(config.num_hidden_layers):
        maps = [nn.Linear(n_channels, n_channels) for _ in range(4)]
        closing = {"LayerNorm": make_norm(), "dropout": nn.Identity()}
        if is_mpnet:
            attention = Parts({"attn": Parts(dict(zip("qkvo", maps, strict=True))), **closing})
        else:
            inputs = Parts(dict(zip(("query", "key", "value"), maps, strict=False)))
            attention = Parts({"self": inputs, "output": Parts({"dense": maps[-1], **closing})})
        wide = nn.Linear(n_channels, config.intermediate_size)
        narrow = nn.Linear(config.intermediate_size, n_channels)
        between = Parts({"dense": wide, "intermediate_act_fn": ACTIVATIONS[config.hidden_act]()})
        output = Parts({"dense": narrow, "LayerNorm": make_norm(), "dropout": nn.Identity()})
        layers.append(Parts({"attention": attention, "intermediate": between, "output": output}))
    # the place of padding, from behind which RoBERTa and MPNet count the others
    known_places = {"mpnet": 1, "bert": None, "electra": None}
    padding_idx = known_places.get(config.model_type, getattr(config, "pad_token_id", None))
    positions = _table(config.max_position_embeddings, n_channels, padding_idx)
    embeddings = Parts({"word_embeddings": words, "position_embeddings": positions})
    if not is_mpnet:
        embeddings["token_type_embeddings"] = _table(config.type_vocab_size, n_channels)
    embeddings.update({"LayerNorm": make_norm(), "dropout": nn.Identity()})
    stack = Parts({"layer": layers})
    if is_mpnet:
        stack["relative_attention_bias"] = _table(config.relative_attention_num_buckets, config.num_attention_heads)
    encoder = Parts({"embeddings": embeddings, "encoder": stack})
    encoder.config = config
    return encoder


class PieceTokenizer:
    """The pieces of a vocabulary."""

    def __init__(self, pieces: Tokenizer, special: Mapping[str, str], more: Iterable[str] = ()) -> None:
        """Take a vocabulary; special: tokens by their roles; more: further tokens that stand for no text.

        Raises KeyError for a token that the vocabulary does not have.
        """
        self._pieces = pieces
        tokens = dict.fromkeys([*special.values(), *more])
        ids = {token: pieces.token_to_id(token) for token in tokens}
        if None in ids.values():
            raise KeyError([token for token, number in ids.items() if number is None])
        self.pad_token_id, self.eos_token_id, self.unk_token_id = (
            ids.get(special.get(role, "")) for role in ("pad_token", "eos_token", "unk_token")
        )
        self.all_special_ids = list(dict.fromkeys(ids.values()))

    def __len__(self) -> int:
        return int(self._pieces.get_vocab_size(with_added_tokens=True))

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return list(self._pieces.encode(text, add_special_tokens=add_special_tokens).ids)

    def decode(
        self, ids: Sequence[int], *, skip_special_tokens: bool = False, clean_up_tokenization_spaces: bool = False
    ) -> str:
        """Return the text of ids; spaces are never cleaned up."""
        return str(self._pieces.decode(list(ids), skip_special_tokens=skip_special_tokens))

    def convert_tokens_to_ids(self, token: str) -> int | None:
        """Return the id of a piece; that of the unknown piece, or None, if there is no such piece."""
        number = self._pieces.token_to_id(token)
        return self.unk_token_id if number is None else int(number)

    def convert_ids_to_tokens(self, ids: Sequence[int]) -> list[str]:
        return [str(self._pieces.id_to_token(number)) for number in ids]

    def get_vocab(self) -> dict[str, int]:
        return dict(self._pieces.get_vocab(with_added_tokens=True))


def read_tokenizer(folder: Path) -> PieceTokenizer | None:
    """Return a folder's tokenizer; None where transformers has to read it, or to say what is wrong with it."""
    try:
        config = json.loads((folder / CONFIG_FILE).read_text(encoding="utf-8"))
        if config["tokenizer_class"] not in _PLAIN_CLASSES or config.get("add_prefix_space"):
            return None
        special = {role: config[role] for role in _ROLES if config.get(role)}
        more = [token for name in _MORE for token in config.get(name) or ()]
        # a config has a token by itself or with its properties
        special = {role: token if isinstance(token, str) else str(token["content"]) for role, token in special.items()}
        more = [token if isinstance(token, str) else str(token["content"]) for token in more]
        pieces = Tokenizer.from_file(str(folder / FILE))
        if pieces.truncation or pieces.padding:
            return None
        return PieceTokenizer(pieces, special, more)
    except Exception:  # tokenizers has no class of its own for damaged files
        return None
