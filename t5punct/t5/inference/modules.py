"""The modules of a T5 and of encoders of BERT's kind, without transformers; their weights have the same names there.

In: a config, with the values of `config.json`.  Out: an `InferenceT5`, whose parts `layers`, `kv_cache` and
`cached_decoder` call one by one.  It has no forward of its own, no dropout and no first weights.

    InferenceT5(config)
    .shared                                      embeddings of tokens
    .encoder.block[0].layer[0].SelfAttention.q   or, under a BERT's kind, .encoder.encoder.layer[0].attention ..
    .decoder.block[0].layer[1].EncDecAttention.k
    .lm_head                                     the embeddings again, or weights of its own
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from ..folder import ENCODER_T5
from ..word_memory import memory_of

ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_new": partial(functional.gelu, approximate="tanh"),
    "silu": functional.silu,
}
_FARTHEST = 128  # of MPNet, which has no setting for it
_BUCKETS = 32


class Parts(nn.Module):
    """Modules by the names under which transformers has them."""

    def __init__(self, /, **parts: nn.Module) -> None:
        super().__init__()
        for name, part in parts.items():
            self.add_module(name, part)


class ScaleNorm(nn.Module):
    """T5's norm, which scales and does not shift (root mean square; Zhang 2019)."""

    def __init__(self, n_channels: int, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_channels))
        self._epsilon = epsilon

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        variance = hidden.float().pow(2).mean(-1, keepdim=True)
        return self.weight * (hidden * torch.rsqrt(variance + self._epsilon)).to(self.weight.dtype)


class T5Attention(nn.Module):
    """The maps of a T5's attention, and its position bias."""

    def __init__(self, config: Any, *, has_bias: bool = False, looks_back: bool = False) -> None:
        super().__init__()
        self.n_heads = config.num_heads
        n_inner = config.num_heads * config.d_kv
        self.q, self.k, self.v = (nn.Linear(config.d_model, n_inner, bias=False) for _ in range(3))
        self.o = nn.Linear(n_inner, config.d_model, bias=False)
        self.has_relative_attention_bias = has_bias
        self._looks_back = looks_back
        self.relative_attention_max_distance = config.relative_attention_max_distance
        if has_bias:
            self.relative_attention_bias = _table(config.relative_attention_num_buckets, config.num_heads)

    def compute_bias(self, n_queries: int, n_keys: int) -> torch.Tensor:
        """Return the bias of keys from 0 on for queries from 0 on, (1, n_heads, n_queries, n_keys)."""
        table = self.relative_attention_bias
        device = table.weight.device
        distances = torch.arange(1 - n_queries, n_keys, device=device)  # all that there are
        buckets = position_buckets(
            distances, table.num_embeddings, self.relative_attention_max_distance, looks_back=self._looks_back
        )
        places = torch.arange(n_keys, device=device) - torch.arange(n_queries, device=device)[:, None]
        bias: torch.Tensor = table(buckets)[places + n_queries - 1]
        return bias.permute(2, 0, 1)[None]


class T5Feed(nn.Module):
    """A T5's feed-forward layer, with a gate or without."""

    wi: nn.Module
    wi_0: nn.Module
    wi_1: nn.Module

    def __init__(self, config: Any) -> None:
        super().__init__()
        gate, _, name = config.feed_forward_proj.rpartition("-")
        self._act = ACTIVATIONS["gelu_new" if gate and name == "gelu" else name]
        for map_name in ("wi_0", "wi_1") if gate else ("wi",):
            setattr(self, map_name, nn.Linear(config.d_model, config.d_ff, bias=False))
        self.wo: nn.Module = nn.Linear(config.d_ff, config.d_model, bias=False)
        self._is_gated = bool(gate)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        wide = self._act(self.wi_0(hidden)) * self.wi_1(hidden) if self._is_gated else self._act(self.wi(hidden))
        return self.wo(wide)  # type: ignore[no-any-return]


class BertFeed(nn.Module):
    """The first half of a BERT's feed-forward layer."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.intermediate_size)
        self._act = ACTIVATIONS[config.hidden_act]

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return self._act(self.dense(hidden))


class BertStack(nn.Module):
    """A BERT's layers; MPNet has one position bias for all of them."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.layer = nn.ModuleList(_bert_block(config) for _ in range(config.num_hidden_layers))
        if config.model_type == "mpnet":
            self.relative_attention_bias = _table(config.relative_attention_num_buckets, config.num_attention_heads)

    @staticmethod
    def relative_position_bucket(distances: torch.Tensor) -> torch.Tensor:
        """Return the rows of MPNet's bias for distances; it has 32, whatever its config says."""
        return position_buckets(distances, _BUCKETS, _FARTHEST, looks_back=False)


class InferenceT5(nn.Module):
    """A T5, umT5 or mT5, or another encoder under umT5's decoder; `output_scale`: of its last states, before `lm_head`.

    Raises AttributeError, KeyError or TypeError for a config that lacks what is needed, or has what is not known here.
    """

    def __init__(self, config: Any, *, has_own_output: bool) -> None:
        super().__init__()
        self.config = config
        self.output_scale = _output_scale(config)
        self.shared = _table(config.vocab_size, config.d_model)
        reading = SimpleNamespace(**config.encoder) if config.model_type == ENCODER_T5 else config
        if hasattr(reading, "num_hidden_layers"):
            self.encoder: nn.Module = _bert(reading, self.shared)
        else:
            self.encoder = _t5_stack(reading, self.shared, reading.num_layers)
        self.decoder = _t5_stack(config, self.shared, config.num_decoder_layers, is_decoder=True)
        self.memory = memory_of(config)
        self.lm_head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self._has_own_output = has_own_output
        self.tie()

    def tie(self) -> None:
        """Make the output layer the embeddings, where it is not weights of its own."""
        if not self._has_own_output:
            self.lm_head.weight = self.shared.weight

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return self.shared.weight.device

    def get_encoder(self) -> nn.Module:
        """Return the encoder, as transformers' networks do."""
        return self.encoder

    def get_decoder(self) -> nn.Module:
        """Return the decoder."""
        return self.decoder

    def get_input_embeddings(self) -> nn.Embedding:
        """Return the embeddings of tokens."""
        return self.shared

    def get_output_embeddings(self) -> nn.Linear:
        """Return the output layer."""
        return self.lm_head


def position_buckets(distances: torch.Tensor, n_buckets: int, farthest: int, *, looks_back: bool) -> torch.Tensor:
    """Return the rows of a position bias for distances from queries to keys, int64 (Raffel 2020, section 2.1).

    Half of the rows are for one distance each, the others for ever wider ranges, up to `farthest` tokens.  Where
    queries only look back, all rows are for keys to the left; else half are.
    """
    rows = torch.zeros_like(distances)
    if looks_back:
        distances = -distances.clamp(max=0)
    else:
        n_buckets //= 2
        rows += (distances > 0).long() * n_buckets
        distances = distances.abs()
    n_exact = n_buckets // 2
    steps = torch.log(distances.float() / n_exact) / math.log(farthest / n_exact) * (n_buckets - n_exact)
    wide = (n_exact + steps.long()).clamp(max=n_buckets - 1)
    return rows + torch.where(distances < n_exact, distances, wide)


def _table(n_rows: int, n_channels: int, padding_idx: int | None = None) -> nn.Embedding:
    """An embedding without first weights, which on the device `meta` cost a second of imports."""
    make: Callable[..., nn.Embedding] = nn.Embedding.from_pretrained
    return make(torch.empty(n_rows, n_channels), padding_idx=padding_idx)


def _output_scale(config: Any) -> float:
    """What transformers 5 multiplies the last states by, by the kind of model and what its config says."""
    scale = float(config.d_model**-0.5)
    if config.model_type == "t5":
        is_scaled = getattr(config, "scale_decoder_outputs", getattr(config, "tie_word_embeddings", None) is not False)
        return scale if is_scaled else 1.0
    return {"mt5": 1.0, "umt5": scale, ENCODER_T5: scale}[config.model_type]


def _t5_stack(config: Any, words: nn.Embedding, n_layers: int, *, is_decoder: bool = False) -> nn.Module:
    """An encoder or a decoder; T5 has one position bias, the first layer's, and umT5 one a layer."""
    has_all = config.model_type in ("umt5", ENCODER_T5)
    return Parts(
        embed_tokens=words,
        block=nn.ModuleList(
            _t5_block(config, has_bias=has_all or not index, is_decoder=is_decoder) for index in range(n_layers)
        ),
        final_layer_norm=_scale_norm(config),
        dropout=nn.Identity(),
    )


def _t5_block(config: Any, *, has_bias: bool, is_decoder: bool) -> nn.Module:
    own = T5Attention(config, has_bias=has_bias, looks_back=is_decoder)
    sublayers: list[dict[str, nn.Module]] = [{"SelfAttention": own}]
    if is_decoder:
        sublayers.append({"EncDecAttention": T5Attention(config)})
    sublayers.append({"DenseReluDense": T5Feed(config)})
    return Parts(
        layer=nn.ModuleList(
            Parts(**parts, layer_norm=_scale_norm(config), dropout=nn.Identity()) for parts in sublayers
        )
    )


def _scale_norm(config: Any) -> ScaleNorm:
    return ScaleNorm(config.d_model, config.layer_norm_epsilon)


def _bert(config: Any, words: nn.Embedding) -> nn.Module:
    """An encoder of BERT's kind; RoBERTa and MPNet count places from behind that of padding."""
    first = {"mpnet": 1, "bert": None, "electra": None}.get(config.model_type, getattr(config, "pad_token_id", None))
    parts: dict[str, nn.Module] = {
        "word_embeddings": words,
        "position_embeddings": _table(config.max_position_embeddings, config.hidden_size, first),
    }
    if config.model_type != "mpnet":
        parts["token_type_embeddings"] = _table(config.type_vocab_size, config.hidden_size)
    embeddings = Parts(**parts, LayerNorm=_layer_norm(config), dropout=nn.Identity())
    encoder = Parts(embeddings=embeddings, encoder=BertStack(config))
    encoder.config = config
    return encoder


def _bert_block(config: Any) -> nn.Module:
    n_channels = config.hidden_size
    names = ("q", "k", "v", "o") if config.model_type == "mpnet" else ("query", "key", "value", "dense")
    *reading, out = ((name, nn.Linear(n_channels, n_channels)) for name in names)
    if config.model_type == "mpnet":
        attention = Parts(attn=Parts(**dict([*reading, out])), **_closing(config))
    else:
        attention = Parts(self=Parts(**dict(reading)), output=Parts(**dict([out]), **_closing(config)))
    output = Parts(dense=nn.Linear(config.intermediate_size, n_channels), **_closing(config))
    return Parts(attention=attention, intermediate=BertFeed(config), output=output)


def _closing(config: Any) -> dict[str, nn.Module]:
    """What follows the last map of a sublayer."""
    return {"LayerNorm": _layer_norm(config), "dropout": nn.Identity()}


def _layer_norm(config: Any) -> nn.LayerNorm:
    return nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
