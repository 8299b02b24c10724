"""Put a fresh decoder on a model's encoder that copies words before it is trained.

In: the settings of a run, as `train.py` takes them.  Out: in `output`, the model of `init_from` with such a decoder;
`init_from` of the run names it then.

    python recipes/copier.py --config configs/large-2-write.yaml init_from=runs/large-tag output=runs/large-copier

A decoder with random weights would spend what it learns first on guessing words.  One layer of cross-attention copies,
since the decoder's input says how many words' tokens are written (`t5/word_memory`): some heads look up the source
token with this number and write its embedding; others read the states there and at the token before it, as a tagger
does.

Embeddings are whitened first, as frequent pieces share directions and would be taken for each other.  Words and
positions have dimensions of their own, orthogonal to those in which states vary most and in which the tagger reads
them.  T5's attention has no scale, so the size of its queries is the temperature.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from fit_tagger import first_examples
from from_encoder import decoder_shape, start_decoder

from t5punct import model as models
from t5punct.config import check, load
from t5punct.decoding.cached_decoder import output_scale
from t5punct.decoding.inputs import batch_by_length
from t5punct.errors import T5PunctError
from t5punct.model import Model
from t5punct.t5.encoder_t5 import EncoderT5, EncoderT5Config
from t5punct.t5.folder import ENCODER_T5
from t5punct.t5.task import PAUSES, SENTINEL, task_token
from t5punct.t5.word_memory import D_POSITION, embed_targets, frequencies
from t5punct.text.marks import DISFLUENT
from t5punct.training.config import TrainConfig
from t5punct.training.examples.batches import load_data, make_collator
from t5punct.training.examples.example import ChunkExamples
from t5punct.training.starting_model import make_starting_model, with_mark_tokens

_Tensors = tuple[torch.Tensor, ...]
_COPYING, _BEHIND, _HERE = range(3), range(3, 8), range(8, 12)  # heads of cross-attention
_SIZE = 1.5  # of a word's part of the memory and of a position's, in standard deviations of the states
_SURE = 30.0  # logit of cross-attention at the position looked for; others have a third of it at most
_PLACED = 2.5  # size of a position in the decoder's input, relative to an embedding
_COPIED = 2.5  # product of the last state with the copied word's embedding, relative to an embedding's with itself
_STEADY = 5.0  # norm of a part of the last state that is the same for all tokens, relative to an embedding's
_COPIED_LOGIT = 10.0
_KEPT = (
    "vocab_size", "d_kv", "num_heads", "num_layers", "pad_token_id", "eos_token_id", "decoder_start_token_id",
)  # fmt: skip
_BATCH_TOKENS, _WORDS_COUNTED = 2048, 10  # so many times as many words are counted as are encoded


def with_copier(
    model: Model, examples: ChunkExamples, n_words: int, *, layers: int = 1, dropout_rate: float = 0.0
) -> Model:
    """Return a model with the same encoder and tagger under a fresh decoder that copies; seed torch for the same twice.

    The states of the first examples that hold `n_words` words say where words can be written.  layers, dropout_rate: of
    the decoder.  Raises ConfigError for
    a T5 or mT5, a network of fewer than 12 heads, or one whose marks take several tokens.
    """
    deciding = model.tokenizer.deciding_ids
    old = model.network.config
    check(
        old.model_type in (ENCODER_T5, "umt5") and deciding is not None and old.num_heads >= _HERE.stop,
        f"a decoder that copies for {model.name}",
        expected=f"a umT5 or an encoder such as a BERT, of {_HERE.stop} heads, and marks of one token",
        fix="train the decoder that it has",
    )
    config = EncoderT5Config(
        **decoder_shape(layers, dropout_rate, old.d_model),
        **{name: getattr(old, name) for name in _KEPT},
        encoder=old.encoder if old.model_type == ENCODER_T5 else old.to_dict(),
        d_code=len(_COPYING) * old.d_kv,
        silent_ids=_silent_ids(model),
    )
    network: Any = EncoderT5(config)
    network.shared = model.network.shared
    start_decoder(network, float(network.shared.weight.detach().std()))
    network.encoder = model.network.encoder
    network.tie_weights()
    states, counts = _states(model, examples, n_words)
    tagger = None if model.tagger is None else torch.cat([model.tagger.marks.weight, model.tagger.cases.weight])
    fresh = replace(model, network=network.eval())
    with torch.no_grad():
        even, root = torch.ones_like(counts), counts.sqrt()  # rare tokens count little, and yet they do
        weights = 0.3 * even / even.sum() + 0.5 * root / root.sum() + 0.2 * counts / counts.sum()
        _start(network, states, weights, tagger)
        _set_copied_logit(fresh, examples)
    return fresh


def _silent_ids(model: Model) -> list[int]:
    """Return the tokens that are no words: the start, styles, silences, the question, marks and case."""
    tokenizer: Any = model.tokenizer.tokenizer
    marks = map(task_token, model.task.slot_marks + DISFLUENT)
    tokens = (*map(task_token, model.task.styles), SENTINEL, *PAUSES, *marks)
    ids = {tokenizer.convert_tokens_to_ids(token) for token in tokens} | {*(model.tokenizer.deciding_ids or ())}
    return sorted({model.start_id, *ids} - {tokenizer.unk_token_id})


def _start(network: Any, states: torch.Tensor, weights: torch.Tensor, tagger: torch.Tensor | None) -> None:
    """Set the weights of memory and decoder; states: (n_tokens, d_model), tagger: (n_classes, d_model)."""
    embeddings, d_code = network.shared.weight.detach().float(), network.config.d_code
    (read, write, spare), memory = _whiten(embeddings, weights, d_code), network.memory
    clean, free = _split_directions(states, tagger, d_code + D_POSITION + 1)
    word, position, constant = torch.split(free, [d_code, D_POSITION, 1])
    memory.scale.copy_(1.0 / states.std(0))
    memory.shift.copy_(constant[0] - states.mean(0) / states.std(0))
    memory.code.weight.copy_(read)
    memory.code.bias.zero_()
    memory.words.weight.copy_(_SIZE * word.T)
    memory.source_positions.weight.copy_(_SIZE * position.T)
    spread = float(embeddings.pow(2).mean().sqrt())
    # a position's code has a root mean square of half a square root
    length = _PLACED * spread * network.config.d_model**0.5
    memory.target_positions.weight.copy_(length / (D_POSITION / 2) ** 0.5 * spare.T)
    for block in network.decoder.block:
        attention, feeding = block.layer[0].SelfAttention, block.layer[-1].DenseReluDense
        for layer in (attention.q, attention.k, attention.v, feeding.wi):
            layer.weight -= layer.weight @ spare.T @ spare
    attention = network.decoder.block[0].layer[1].EncDecAttention
    _look_up(attention, (write, spare), (word, position, constant), clean, embeddings)


def _whiten(embeddings: torch.Tensor, weights: torch.Tensor, n_code: int) -> _Tensors:
    """Return codes of embeddings (n_vocabulary, d_model), which have weights (n_vocabulary,) that sum to 1.

    `read` (n_code, d_model) maps an embedding to its code, of unit variance, and `write` (d_model, n_code) maps it back
    so that its product with an embedding tells this one from others; `spare` (D_POSITION, d_model) are directions in
    which embeddings hardly vary.
    """
    mean, n_kept = weights @ embeddings, 2 * embeddings.shape[1] // 3
    values, axes = torch.linalg.eigh((embeddings - mean).T * weights @ (embeddings - mean))
    values, axes = values.flip(0), axes.flip(1)
    white = axes[:, :n_kept].T / values[:n_kept, None].sqrt()  # (n_kept, d_model)
    # orthogonal to the mean of all, which would add the same to each code
    turned = _orthonormal(n_code, (white @ mean)[None])
    return turned @ white, white.T @ turned.T, axes[:, n_kept : n_kept + D_POSITION].T


def _split_directions(states: torch.Tensor, tagger: torch.Tensor | None, n_free: int) -> _Tensors:
    """Return orthonormal directions of standardised states: those of tagger and most variance, and n_free others."""
    d_model, std = states.shape[1], states.std(0)
    spread = torch.cov(((states - states.mean(0)) / std).T)
    first = spread.new_zeros(0, d_model)
    if tagger is not None:
        _, sizes, directions = torch.linalg.svd((tagger - tagger.mean(0)) * std, full_matrices=False)
        first = directions[sizes > 1e-4 * sizes[0]]
    apart = torch.eye(d_model) - first.T @ first
    axes = torch.linalg.eigh(apart @ spread @ apart)[1].flip(1).T
    clean = torch.cat([first, axes[: d_model - n_free - len(first)]])
    return clean, _orthonormal(n_free, clean)


def _look_up(attention: Any, codes: _Tensors, parts: _Tensors, clean: torch.Tensor, embeddings: torch.Tensor) -> None:
    """Copy the source's next word, and read the states there and at the token before it."""
    (write, spare), (word, position, constant) = codes, parts
    d_kv, d_model = attention.key_value_proj_dim, embeddings.shape[1]
    # as the layer reads it, a position in the decoder's input has nearly the norm of all
    asked = d_model**0.5 * _PLACED / (1 + _PLACED**2) ** 0.5 / (D_POSITION / 2) ** 0.5  # of each code's channel
    waves = torch.arange(D_POSITION).view(2, -1)[:, :: max(1, D_POSITION // d_kv)].flatten()  # that a head has room for
    sure = _SURE / asked / _SIZE / (len(waves) / 2)
    size = float(embeddings.pow(2).sum(1).mean())  # of an embedding, squared
    copied = _COPIED * size * write / len(word) / _SIZE
    (cosines, sines), angles = spare.chunk(2), frequencies()[:, None]
    cos, sin = angles.cos(), angles.sin()
    for head in range(_HERE.stop):
        own, rest = head * d_kv, (head + 1) * d_kv
        # turned, the directions in which a position's code is read as that of the one before
        looked_for = torch.cat([cos * cosines + sin * sines, cos * sines - sin * cosines]) if head in _BEHIND else spare
        attention.q.weight[own:rest] = attention.k.weight[own:rest] = 0.0
        attention.q.weight[own : own + len(waves)] = sure * looked_for[waves]
        attention.k.weight[own : own + len(waves)] = position[waves]
        attention.v.weight[own:rest] = 0.0
        if head in _COPYING:
            attention.v.weight[own:rest] = word[own:rest]
            attention.o.weight[:, own:rest] = copied[:, own:rest]
        else:
            first = (head - (_BEHIND.start if head in _BEHIND else _HERE.start)) * d_kv
            read = clean[first : first + d_kv]
            attention.v.weight[own : own + len(read)] = read
    steady = _BEHIND.stop * d_kv - 1
    attention.v.weight[steady] = constant[0]
    attention.o.weight[:, steady] = _STEADY * size**0.5 * _neutral_direction(embeddings)


def _set_copied_logit(model: Model, examples: ChunkExamples) -> None:
    """Scale the last norm so that the right word's logit is `_COPIED_LOGIT` on an average."""
    network, some = model.network, first_examples(examples, 1000)
    batch = make_collator(model.tokenizer.pad_id)(some)
    network.decoder.final_layer_norm.weight.fill_(1.0)
    memory = model.remember(
        network.encoder(input_ids=batch.input_ids, attention_mask=batch.attention_mask).last_hidden_state,
        batch.input_ids,
    )
    written = network.decoder(
        inputs_embeds=embed_targets(network, network._shift_right(batch.decoder_ids)),
        encoder_hidden_states=memory,
        encoder_attention_mask=batch.attention_mask,
        use_cache=False,
    ).last_hidden_state
    deciding = torch.tensor(model.tokenizer.deciding_ids)
    words = (batch.targets >= 0) & ~torch.isin(batch.targets, deciding)
    logits = (written[words] * network.shared.weight[batch.targets[words]]).sum(-1) * output_scale(model)
    network.decoder.final_layer_norm.weight.fill_(_COPIED_LOGIT / float(logits.mean()))


def _neutral_direction(embeddings: torch.Tensor) -> torch.Tensor:
    """Return the direction (d_model,) whose largest product with any embedding is small."""
    weights, direction = torch.ones(len(embeddings)), embeddings[0]
    for _ in range(20):  # reweighted least squares: those that stand out count more each time
        direction = torch.linalg.eigh(embeddings.T * weights @ embeddings / weights.sum()).eigenvectors[:, 0]
        products = (embeddings @ direction).abs()
        weights *= 1 + 3 * (products / products.max()) ** 2
        weights /= weights.mean()
    return direction


def _orthonormal(n_rows: int, against: torch.Tensor) -> torch.Tensor:
    """Return random orthonormal rows (n_rows, d) that are orthogonal to all rows of `against`, (n, d)."""
    rows = torch.randn(n_rows, against.shape[1])
    basis = torch.linalg.qr(against.T).Q
    turned: torch.Tensor = torch.linalg.qr((rows - rows @ basis @ basis.T).T).Q.T
    return turned


@torch.no_grad()
def _states(model: Model, examples: ChunkExamples, n_words: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return states of source tokens (n_tokens, d_model), and how often each token stands in more of the text."""
    some, make = first_examples(examples, n_words), make_collator(model.tokenizer.pad_id)
    states = []
    for places in batch_by_length([len(example.input_ids) for example in some], _BATCH_TOKENS):
        batch = make([some[place] for place in places])
        encoded = model.encode(batch.input_ids, batch.attention_mask)
        states.append(encoded[batch.attention_mask.bool()].float())
    counted = [number for example in first_examples(examples, _WORDS_COUNTED * n_words) for number in example.input_ids]
    return torch.cat(states), torch.bincount(torch.tensor(counted), minlength=len(model.network.shared.weight)).float()


def with_opening_tokens(model: Model) -> Model:
    """Return the model with a token for each opening mark of its task, for a new decoder that shall write them."""
    vocabulary = model.tokenizer.tokenizer.get_vocab()
    marks = [mark for mark in model.task.opening if task_token(mark) not in vocabulary]
    return with_mark_tokens(model, model.task, marks)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and write the model."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--words", type=int, default=15_000, help="how many words' states are read, from the first on")
    parser.add_argument("--layers", type=int, default=1, help="of the decoder")
    parser.add_argument("--dropout-rate", type=float, default=0.0, help="for texts that are read more than once, 0.1")
    parser.add_argument("overrides", nargs="*", help="settings, key=value")
    options = parser.parse_args(arguments)
    config = load(TrainConfig, options.config, options.overrides)
    torch.manual_seed(config.seed)
    model = with_opening_tokens(make_starting_model(config))
    _, loader = load_data(config, model, 1)
    shape = {"layers": options.layers, "dropout_rate": options.dropout_rate}
    models.save(with_copier(model, loader.dataset, options.words, **shape), config.output)  # type: ignore[arg-type]


if __name__ == "__main__":
    try:
        main()
    except T5PunctError as error:
        raise SystemExit(str(error)) from None
