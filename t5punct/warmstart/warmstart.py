"""`t5punct warmstart`: a pre-trained BERT becomes the encoder of an umT5, which can then be trained.

In: a `WarmStartConfig`.  Out: a `Model` with one or more fresh decoder layers (Rothe 2020: warm start).

`t5punct warmstart bert-base-uncased -o runs/start --text talks.txt` makes one; train it with `init_from=runs/start`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import torch

from ..errors import ConfigError, InputError, ModelError
from ..model import Model
from ..t5.encoder_t5 import start_decoder
from ..t5.task import TaskConfig
from ..t5.tokenization import TaskTokenizer
from ..text.io.files import read_lines
from ..text.words import split
from .bert import Bert
from .calibration import find_scales, fit_relative_biases
from .conversion import ResidualConfig, convert_attention, convert_feed_forward, d_ff, start_level, stream
from .vocabulary import TaskRow, bert_tokenizer, t5_tokenizer

_BATCH_TOKENS = 128  # of one window of calibration text


@dataclass(frozen=True)
class WarmStartConfig:
    """What to convert, and the text on which its scales are measured."""

    source: str = ""
    text: str = ""  # plain text, one document a line
    calibration_tokens: int = 12_000
    layers: int | None = None  # keep the first of the BERT's layers only; null keeps all
    decoder_layers: int = 1
    stream: ResidualConfig = field(default_factory=ResidualConfig)
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("calibration_tokens", "decoder_layers", "layers"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name} {value}", expected="1 or more", fix=f"set {name}")


def warm_start(config: WarmStartConfig, task: TaskConfig) -> Model:
    """Convert a BERT.  Raises ModelError for anything but a BERT, InputError for too little text."""
    bert = Bert.load(config.source)
    if len(bert.positions) < _BATCH_TOKENS:
        raise ModelError(
            f"{config.source}: a BERT of {len(bert.positions)} positions (max_position_embeddings)",
            expected=f"{_BATCH_TOKENS} or more, as windows of the calibration text are so long",
            fix="name another BERT",
        )
    if config.layers is not None:
        bert = bert.first(config.layers)
    read_with = bert_tokenizer(config.source)
    tokenizer, rows = t5_tokenizer(read_with, task)
    windows = calibration_windows(config, read_with)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(config.seed)
        network = _empty(bert, len(tokenizer), TaskTokenizer(tokenizer, task), config)
        convert(bert, network, windows, config.stream)
        _start_rows(network, bert.d_model, rows, tokenizer)
        start_decoder(network, config.stream.start_std)
    return Model(network.eval(), TaskTokenizer(tokenizer, task), "warm start")


def convert(bert: Bert, network: Any, windows: Sequence[torch.Tensor], config: ResidualConfig) -> None:
    """Write a BERT into a network's encoder and embeddings; windows: int64 (n_batch, n_tokens), unpadded."""
    spare = config.spare_channels
    embeddings = bert.embedding_norm(bert.words + bert.mean_position + bert.type_0)
    level = start_level(embeddings, config)
    rows = embeddings[: len(network.shared.weight)]  # a BERT may have more, up to a round number
    network.shared.weight.data[: len(rows)] = stream(rows, level, spare)
    layer_scales = find_scales(bert, windows)
    attention_0 = network.encoder.block[0].layer[0].SelfAttention
    n_buckets = attention_0.relative_attention_num_buckets
    biases = fit_relative_biases(bert, windows, attention_0._relative_position_bucket, n_buckets)
    n_units = network.config.d_ff
    for layer, block, scale, bias in zip(bert.layers, network.encoder.block, layer_scales, biases, strict=True):
        attention, feeding = block.layer[0].SelfAttention, block.layer[1].DenseReluDense
        converted = convert_attention(layer, scale, level, spare)
        for name in ("q", "k", "v", "o"):
            getattr(attention, name).weight.data.copy_(getattr(converted, name))
        attention.relative_attention_bias.weight.data.copy_(bias)
        fed = convert_feed_forward(layer, scale, level, config, n_units)
        feeding.wi.weight.data.copy_(fed.wi)
        feeding.wo.weight.data.copy_(fed.wo)
        level = fed.level
    _start_final_norm(network, windows)


def _empty(bert: Bert, n_vocabulary: int, tokenizer: TaskTokenizer, config: WarmStartConfig) -> Any:
    from transformers import UMT5Config, UMT5ForConditionalGeneration

    return UMT5ForConditionalGeneration(
        UMT5Config(
            vocab_size=n_vocabulary,
            d_model=bert.d_model + config.stream.spare_channels,
            d_kv=bert.layers[0].d_head,
            num_heads=bert.layers[0].n_heads,
            d_ff=d_ff(bert, config.stream),
            num_layers=len(bert.layers),
            num_decoder_layers=config.decoder_layers,
            feed_forward_proj="gelu",
            layer_norm_epsilon=1e-6,
            dropout_rate=0.0,
            tie_word_embeddings=True,
            pad_token_id=tokenizer.pad_id,
            eos_token_id=tokenizer.eos_id,
            decoder_start_token_id=tokenizer.pad_id,
        )
    )


def _start_final_norm(network: Any, windows: Sequence[torch.Tensor]) -> None:
    """Give each channel of the last states a standard deviation of about 1: some are tiny, too small to learn from."""
    encoder = network.encoder
    states = torch.cat([encoder(input_ids=ids).last_hidden_state.flatten(0, 1) for ids in windows])
    std = states.std(0)
    typical = float(std.median())
    encoder.final_layer_norm.weight.data.copy_(1 / std.clamp(min=typical / 20))
    encoder.final_layer_norm.weight.data[std < typical / 1000] = 1.0  # the constant, and channels not used yet


def _start_rows(network: Any, d: int, rows: Sequence[TaskRow], tokenizer: Any) -> None:
    """Let the task's own tokens start from similar tokens, with a little noise; d: the BERT's channels."""
    weight = network.shared.weight.data
    std = float(weight[:, :d].std())
    for row in rows:
        like = tokenizer.convert_tokens_to_ids(row.like)
        weight[row.id] = weight[like]
        weight[row.id, :d] += 0.3 * std * torch.randn(d)


def calibration_windows(config: WarmStartConfig, tokenizer: Any) -> list[torch.Tensor]:
    """Return bare words of the text, as the BERT reads them: [CLS] words [SEP], in windows of one length."""
    if not config.text:
        raise ConfigError("no text to calibrate on", expected="--text FILE", fix="name a file of punctuated text")
    windows: list[torch.Tensor] = []
    n_wanted = -(-config.calibration_tokens // _BATCH_TOKENS)
    for document in islice(filter(str.strip, read_lines(config.text)), 50 * n_wanted):
        words = [word.normal for word in split(document).words if word.has_slot]
        ids = tokenizer(" ".join(words[:_BATCH_TOKENS]), add_special_tokens=False)["input_ids"][: _BATCH_TOKENS - 2]
        if len(ids) == _BATCH_TOKENS - 2:
            windows.append(torch.tensor([[tokenizer.cls_token_id, *ids, tokenizer.sep_token_id]]))
        if len(windows) == n_wanted:
            break
    if not windows:
        raise InputError(
            f"{config.text} has no document of {_BATCH_TOKENS} words", expected="running text", fix="name another file"
        )
    return windows
