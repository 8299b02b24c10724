"""A fresh decoder that copies, in closed form, before the first step of training.

In: a network with a memory of words (`t5/word_memory`), states of its encoder on some text, and how often each token
stands in it.  Out: a network whose decoder writes the next word of its source five times in six.

A decoder with random weights learns what words are likely long before it learns to look them up, and what it learns
from its first words on is spent on guessing.  One layer can look a word up in two steps:

- Self-attention brings the code of the last word written, skipping marks and case tokens, to every place, and the codes
  of the words before it, fading, beside it.  T5's relative position biases say how far each head looks back.
- Cross-attention looks for the source token behind that word (B and C of the memory), and writes the embedding of what
  stands there (A).  Other heads look for the word itself, and read the encoder's state there, as a tagger does.

Embeddings are whitened first: frequent pieces share directions, and would be taken for each other.  All dimensions that
words are written to are orthogonal to those in which states vary most, and in which the tagger reads them.  T5's
attention has no scale, so the size of its queries is the temperature.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.nn.functional import rms_norm

from ...decoding.batching import batch_by_length
from ...decoding.cached_decoder import output_scale
from ...errors import ConfigError
from ...model import Model
from ...t5.encoder_t5 import EncoderT5, EncoderT5Config, start_decoder
from ...t5.task import PAUSES, SENTINEL, style_token
from ..examples.batches import make_collator
from ..examples.example import ChunkExamples
from .from_encoder import FreshDecoderConfig

_LEAST_HEADS = 12
_COPYING, _BEHIND, _REPEATING, _HERE = range(3), range(3, 5), range(5, 8), range(8, 12)  # heads of cross-attention
_LAST_WORD, _WORDS_BEFORE = range(2), range(2, 4)  # heads of self-attention
_SIZE = 1.5  # of a word's part of the memory, in standard deviations of the states
_SURE_OF_WORD, _SURE_OF_CONTEXT = 32.0, 14.0  # logits of cross-attention
_SKIPPED, _STEP, _FADES = 50.0, 10.0, 0.8  # logits of self-attention: of marks, of each token back
_CARRIED = 2.5  # size of what self-attention brings, relative to an embedding
_COPIED, _NOT_REPEATED = 10.0, 6.0  # product of the last state with the copied word's embedding, with the last one's
_STEADY = 0.4  # root mean square of a part of the last state that is the same for all tokens, so its norm hardly varies
_COPIED_LOGIT = 10.0
_BATCH_TOKENS, _WORDS_COUNTED = 2048, 10  # so many times as many words are counted as are encoded


@dataclass(frozen=True, slots=True)
class Codes:
    """Whitened embeddings: `read` (n_code, d_model) maps an embedding to its code, of unit variance, and `write`
    (d_model, n_code) maps it back so that its product with an embedding tells this one from others; `spare` (n_spare,
    d_model) are directions in which embeddings hardly vary.
    """

    read: torch.Tensor
    write: torch.Tensor
    spare: torch.Tensor

    @classmethod
    def of(cls, embeddings: torch.Tensor, weights: torch.Tensor, n_code: int) -> Codes:
        """Return codes; embeddings: (n_vocabulary, d_model); weights: (n_vocabulary,), which sum to 1."""
        mean, n_kept = weights @ embeddings, 2 * embeddings.shape[1] // 3
        spread = (embeddings - mean).T * weights @ (embeddings - mean)
        values, axes = torch.linalg.eigh(spread)
        values, axes = values.flip(0), axes.flip(1)
        white = axes[:, :n_kept].T / values[:n_kept, None].sqrt()  # (n_kept, d_model)
        # orthogonal to the mean of all, which would add the same to each code
        turned = _orthonormal(n_code, (white @ mean)[None])
        return cls(turned @ white, white.T @ turned.T, axes[:, n_kept:].T)


def with_copier(model: Model, examples: ChunkExamples, shape: FreshDecoderConfig, n_words: int) -> Model:
    """Return a model with the same encoder and tagger under a fresh decoder that copies; seed torch for the same twice.

    The states of the first examples that hold `n_words` words say where words can be written.  Raises ConfigError for
    a network whose encoder is not of another family, has fewer than 12 heads, or whose marks take several tokens.
    """
    deciding = model.tokenizer.deciding_ids
    if not isinstance(model.network, EncoderT5) or deciding is None or model.network.config.num_heads < _LEAST_HEADS:
        raise ConfigError(
            f"fit.copier_words for {model.name}",
            expected=f"an encoder such as a BERT, of {_LEAST_HEADS} heads, and marks of one token",
            fix="set fit.copier_words=0",
        )
    network = _with_fresh_decoder(model, shape)
    network.encoder = model.network.encoder
    network.tie_weights()
    states, counts = _states(model, examples, n_words)
    tagger = None if model.tagger is None else torch.cat([model.tagger.marks.weight, model.tagger.cases.weight])
    fresh = replace(model, network=network.eval())
    with torch.no_grad():
        _start(network, states, _weights(counts), torch.tensor(deciding), tagger)
        _set_copied_logit(fresh, examples)
    return fresh


def _with_fresh_decoder(model: Model, shape: FreshDecoderConfig) -> Any:
    """A network with this one's embeddings, a memory and fresh decoder layers; its encoder is to be put in."""
    old = model.network.config
    values = {name: value for name, value in old.to_dict().items() if name not in ("architectures", "model_type")}
    convert = model.tokenizer.tokenizer.convert_tokens_to_ids
    silent = [convert(token) for token in (*map(style_token, model.task.styles), SENTINEL, *PAUSES)]
    values |= {
        "num_decoder_layers": shape.layers,
        "d_ff": shape.d_ff or 2 * old.d_model,
        "dropout_rate": shape.dropout_rate,
        "d_code": 3 * old.d_kv + old.d_model // 8,
        "silent_ids": sorted({number for number in silent if number != model.tokenizer.tokenizer.unk_token_id}),
    }
    network = EncoderT5(EncoderT5Config(**values))
    network.shared = model.network.shared
    start_decoder(network, float(network.shared.weight.detach().std()))
    return network


def _start(
    network: Any, states: torch.Tensor, weights: torch.Tensor, deciding: torch.Tensor, tagger: torch.Tensor | None
) -> None:
    """Set the weights of memory and decoder; states: (n_tokens, d_model), tagger: (n_classes, d_model)."""
    embeddings = network.shared.weight.detach().float()
    codes = Codes.of(embeddings, weights, network.config.d_code)
    n_copied = 3 * network.config.d_kv
    n_key = network.config.d_code - n_copied
    clean, free = _split_directions(states, tagger, n_copied + 2 * n_key + 1)
    parts = torch.split(free, [n_copied, n_key, n_key, 1])
    _start_memory(network.memory, states, codes, parts)
    first, spread = network.decoder.block[0], float(embeddings.pow(2).mean().sqrt())
    _look_back(first.layer[0].SelfAttention, codes, embeddings, weights, deciding, spread)
    _look_up(first.layer[1].EncDecAttention, codes, parts, clean, embeddings, spread)


def _split_directions(
    states: torch.Tensor, tagger: torch.Tensor | None, n_free: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Orthonormal directions of standardised states: those of the tagger and of most variance, and n_free others."""
    d_model, std = states.shape[1], states.std(0)
    spread = torch.cov(((states - states.mean(0)) / std).T)
    first = _basis((tagger - tagger.mean(0)) * std) if tagger is not None else spread.new_zeros(0, d_model)
    apart = torch.eye(d_model) - first.T @ first
    axes = torch.linalg.eigh(apart @ spread @ apart)[1].flip(1).T
    clean = torch.cat([first, axes[: d_model - n_free - len(first)]])
    return clean, _orthonormal(n_free, clean)


def _start_memory(memory: Any, states: torch.Tensor, codes: Codes, parts: tuple[torch.Tensor, ...]) -> None:
    """Standardise states, and write each word's code into directions of its own; the last part is constant."""
    here, behind, before, constant = parts
    n_copied, n_key = len(here), len(behind)
    memory.scale.copy_(1.0 / states.std(0))
    memory.shift.copy_(constant[0] - states.mean(0) / states.std(0))
    memory.code.weight.copy_(codes.read)
    memory.code.bias.zero_()
    own, key = torch.split(torch.eye(n_copied + n_key), [n_copied, n_key])
    memory.words.weight.copy_(_SIZE * torch.cat([here.T @ own, behind.T @ key, before.T @ key], 1))


def _look_back(
    attention: Any, codes: Codes, embeddings: torch.Tensor, weights: torch.Tensor, deciding: torch.Tensor, spread: float
) -> None:
    """Bring the keys of the last word, and of those before it, into spare directions; marks and case are skipped."""
    d_kv, n_key = attention.key_value_proj_dim, len(codes.read) - 3 * attention.key_value_proj_dim
    normed = rms_norm(embeddings, embeddings.shape[1:], eps=1e-6)  # as the layer reads them
    square = normed.T * weights @ normed
    square += 1e-4 * torch.eye(len(square))
    inverse, mean = torch.linalg.inv(square), weights @ normed
    constant = inverse @ mean / (mean @ inverse @ mean)  # its product with each embedding is about 1
    chosen = normed[deciding]
    is_mark = torch.linalg.solve(chosen @ inverse @ chosen.T, chosen @ inverse).sum(0)  # 1 of marks and case, else 0
    key = codes.read[-n_key:]
    back = torch.arange(attention.relative_attention_num_buckets).float()  # the first half: tokens back
    farther = (1 - back) * _FADES
    farther[0] = -_SKIPPED  # the token itself
    bias = attention.relative_attention_bias.weight
    for heads, row, slope in ((_LAST_WORD, 0, -_STEP * back), (_WORDS_BEFORE, n_key, farther)):
        for place, head in enumerate(heads):
            own = slice(head * d_kv, (head + 1) * d_kv)
            bias[:, head] = slope
            for layer in (attention.q, attention.k, attention.v):
                layer.weight[own] = 0.0
            attention.o.weight[:, own] = 0.0
            attention.q.weight[own.start] = _SKIPPED**0.5 * constant
            attention.k.weight[own.start] = -(_SKIPPED**0.5) * is_mark
            carried = key[place * d_kv : (place + 1) * d_kv]
            places = slice(own.start, own.start + len(carried))
            first = row + place * d_kv
            attention.v.weight[places] = carried
            attention.o.weight[:, places] = _CARRIED * spread**2 * codes.spare[first : first + len(carried)].T


def _look_up(
    attention: Any,
    codes: Codes,
    parts: tuple[torch.Tensor, ...],
    clean: torch.Tensor,
    embeddings: torch.Tensor,
    spread: float,
) -> None:
    """Find the token behind the last word, and copy it; find the word itself, and read the state there."""
    here, behind, before, constant = parts
    d_kv, n_copied, n_key = attention.key_value_proj_dim, len(here), len(behind)
    half = d_kv // 2
    size = _CARRIED / 1.6  # of a carried code, as the layer reads it: its norm counts the carried codes too
    word, context = (sure / (0.7 * half * _SIZE) for sure in (_SURE_OF_WORD, _SURE_OF_CONTEXT))
    write = codes.write[:, :n_copied] / n_copied / _SIZE
    for head in range(_HERE.stop):
        own, rest = head * d_kv, (head + 1) * d_kv
        some = slice(half * (head % (n_key // half)), half * (head % (n_key // half) + 1))
        looks_here = head in _REPEATING or head in _HERE
        carried, earlier = codes.spare[:n_key][some], codes.spare[n_key : 2 * n_key][some]
        if looks_here:
            attention.q.weight[own : own + half] = word * 1.6 * spread * codes.read[:n_copied][some]
        else:
            attention.q.weight[own : own + half] = word / size * carried
        attention.q.weight[own + half : rest] = context / size * earlier
        attention.k.weight[own : own + half] = (here if looks_here else behind)[some]
        attention.k.weight[own + half : rest] = (behind if looks_here else before)[some]
        place = head - (_REPEATING.start if head in _REPEATING else _COPYING.start)
        if head in _COPYING or head in _REPEATING:
            copied = slice(place * d_kv, (place + 1) * d_kv)
            strength = _COPIED if head in _COPYING else -_NOT_REPEATED
            attention.v.weight[own:rest] = here[copied]
            attention.o.weight[:, own:rest] = strength * write[:, copied]
        else:
            place = head - (_HERE.start if head in _HERE else _BEHIND.start)
            read = clean[place * d_kv : (place + 1) * d_kv]
            attention.v.weight[own : own + len(read)] = read
    steady = (_BEHIND.start + 1) * d_kv - 1
    attention.v.weight[steady] = constant[0]
    attention.o.weight[:, steady] = _STEADY * len(embeddings[0]) ** 0.5 * _neutral_direction(embeddings)


def _set_copied_logit(model: Model, examples: ChunkExamples) -> None:
    """Scale the last norm so that the right word's logit is `_COPIED_LOGIT` on an average."""
    network, some = model.network, examples.first(1000)
    batch = make_collator(model.tokenizer.pad_id)(some)
    network.decoder.final_layer_norm.weight.fill_(1.0)
    memory = model.remember(
        network.encoder(input_ids=batch.input_ids, attention_mask=batch.attention_mask).last_hidden_state,
        batch.input_ids,
    )
    written = network.decoder(
        input_ids=network._shift_right(batch.labels),
        encoder_hidden_states=memory,
        encoder_attention_mask=batch.attention_mask,
        use_cache=False,
    ).last_hidden_state
    deciding = torch.tensor(model.tokenizer.deciding_ids)
    words = (batch.labels >= 0) & ~torch.isin(batch.labels, deciding)
    logits = (written[words] * network.shared.weight[batch.labels[words]]).sum(-1) * output_scale(model)
    network.decoder.final_layer_norm.weight.fill_(_COPIED_LOGIT / float(logits.mean()))


def _neutral_direction(embeddings: torch.Tensor) -> torch.Tensor:
    """The direction (d_model,) whose largest product with any embedding is small."""
    weights, direction = torch.ones(len(embeddings)), embeddings[0]
    for _ in range(20):  # reweighted least squares: those that stand out count more each time
        direction = torch.linalg.eigh(embeddings.T * weights @ embeddings / weights.sum()).eigenvectors[:, 0]
        products = (embeddings @ direction).abs()
        weights *= 1 + 3 * (products / products.max()) ** 2
        weights /= weights.mean()
    return direction


def _weights(counts: torch.Tensor) -> torch.Tensor:
    """How much each token counts, (n_vocabulary,), as are its counts: rare ones count little, and yet they do."""
    even, root = torch.ones_like(counts), counts.sqrt()
    return 0.3 * even / even.sum() + 0.5 * root / root.sum() + 0.2 * counts / counts.sum()


def _basis(rows: torch.Tensor) -> torch.Tensor:
    """Orthonormal rows that span the same; (n_rows, d) -> (rank, d)."""
    _, sizes, axes = torch.linalg.svd(rows, full_matrices=False)
    basis: torch.Tensor = axes[sizes > 1e-4 * sizes[0]]
    return basis


def _orthonormal(n_rows: int, against: torch.Tensor) -> torch.Tensor:
    """Random orthonormal rows (n_rows, d) that are orthogonal to all rows of `against`, (n, d)."""
    rows = torch.randn(n_rows, against.shape[1])
    basis = torch.linalg.qr(against.T).Q
    turned: torch.Tensor = torch.linalg.qr((rows - rows @ basis @ basis.T).T).Q.T
    return turned


@torch.no_grad()
def _states(model: Model, examples: ChunkExamples, n_words: int) -> tuple[torch.Tensor, torch.Tensor]:
    """States of source tokens (n_tokens, d_model), and how often each token stands in more of the text."""
    some, make = examples.first(n_words), make_collator(model.tokenizer.pad_id)
    states = []
    for places in batch_by_length([len(example.source) for example in some], _BATCH_TOKENS):
        batch = make([some[place] for place in places])
        encoded = model.encode(batch.input_ids, batch.attention_mask)
        states.append(encoded[batch.attention_mask.bool()].float())
    counted = [number for example in examples.first(_WORDS_COUNTED * n_words) for number in example.source]
    return torch.cat(states), torch.bincount(torch.tensor(counted), minlength=len(model.network.shared.weight)).float()
