"""Make a model of a pre-trained encoder: its weights as they are, under a fresh T5 decoder (Rothe 2020).

In: an encoder-only model of transformers (BERT, MiniLM, MPNet, RoBERTa, XLM-R, E5, ..), a folder or a hub id.  Out: a
model's folder, ready to be trained, which `init_from` and `prepare`'s `tokenizer` name.

    python recipes/from_encoder.py roberta-base runs/encoder
    python recipes/from_encoder.py runs/parent/e5-10 runs/e5 default_style=meeting opening=¿¡

The tokenizer gets a token for each style, mark and case; what is behind the folders changes the task.  The decoder is
as wide as the encoder, with as many heads, and has random weights: `copier.py` makes one that copies words.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from t5punct import model as models
from t5punct.config import check, load
from t5punct.errors import ModelError, T5PunctError, first_line
from t5punct.model import Model, prepare_process
from t5punct.t5.encoder_t5 import EncoderT5, EncoderT5Config
from t5punct.t5.task import CASE_TOKENS, PAUSES, SENTINEL, TaskConfig, task_token
from t5punct.t5.tokenization import TaskTokenizer
from t5punct.t5.weights import LOADING_LOCK, broken_weights, kind_of, quiet_transformers
from t5punct.text.marks import DISFLUENT

_NOISE = 0.3  # of a new token's embedding, relative to the spread of all, so that those with one model differ
_SPARE_POSITIONS = 2  # RoBERTa and MPNet begin to count there
_DROPOUTS = ("hidden_dropout_prob", "attention_probs_dropout_prob")  # as BERT and its kin call them
_WRITTEN_LOGIT = 16.0  # of a decoder state that points straight at a word's embedding, at the start
# the text form of a model that begins with an encoder: tokens of their own for styles, marks and case
ENCODER_TASK = TaskConfig(inline_case=True, prefix="<{style}>", default_style="meeting")
_EXPECTED = "an encoder such as a BERT, with model.safetensors and its tokenizer"


def from_encoder(
    source: str | Path, task: TaskConfig = ENCODER_TASK, *, layers: int = 1, dropout_rate: float = 0.0
) -> Model:
    """Return a model with a folder's or hub id's encoder; seed torch first for the same decoder twice.

    layers: of the decoder; the encoder runs once, the decoder several times (Kasai 2021).  dropout_rate: of both.
    Raises ModelError for anything but an encoder whose embeddings are as wide as its states, or for one without a
    tokenizer that has an end and an opening token; ConfigError for a task in which the encoder cannot be used.
    """
    folder = models.find(source)
    check(
        task.inline_case and task.prefix == ENCODER_TASK.prefix,
        f"a task with inline_case {task.inline_case} and prefix {task.prefix!r} for an encoder",
        expected=f"inline_case true and prefix {ENCODER_TASK.prefix!r}", fix="leave them as they are",
    )  # fmt: skip
    encoder = read_encoder(folder, dropout_rate)
    longest = encoder.config.max_position_embeddings - _SPARE_POSITIONS
    task = replace(task, max_tokens=min(task.max_tokens, longest))
    own = own_tokenizer(folder)
    tokenizer = with_task_tokens(own, own.backend_tokenizer, task)
    network = _decoded(encoder, tokenizer, decoder_shape(layers, dropout_rate, encoder.config.hidden_size))
    prepare_process()
    return Model(network.eval(), tokenizer, str(source), folder=folder)


def read_encoder(folder: Path, dropout_rate: float) -> Any:
    """Return a folder's encoder in float32, without the pooling layer that some have.

    Raises ModelError for anything else, and for damaged weights.
    """
    kind = kind_of(folder)  # raises ModelError where none is stated
    from transformers import MODEL_FOR_MASKED_LM_MAPPING, AutoConfig, AutoModel

    read: dict[str, Any] = {"trust_remote_code": False, "use_safetensors": True, "dtype": torch.float32}
    try:
        config = AutoConfig.from_pretrained(str(folder), trust_remote_code=False)
        if config.is_encoder_decoder or type(config) not in MODEL_FOR_MASKED_LM_MAPPING:
            expected = "a T5, mT5, umT5 or byT5, or an encoder such as a BERT"
            raise ModelError(f"{folder} holds a {config.model_type}", expected=expected, fix="name another model")
        for name in _DROPOUTS:
            setattr(config, name, dropout_rate)
        read["config"] = config
        with LOADING_LOCK, quiet_transformers():
            try:
                encoder, info = AutoModel.from_pretrained(
                    str(folder), add_pooling_layer=False, output_loading_info=True, **read
                )
            except TypeError:  # this family has none
                encoder, info = AutoModel.from_pretrained(str(folder), output_loading_info=True, **read)
    except ModelError:
        raise
    except Exception as error:  # a damaged file raises errors without a common base class
        mistake = f"{folder} cannot be loaded ({first_line(error)})"
        raise ModelError(mistake, expected=_EXPECTED, fix="check its name") from error
    missing = [*info["missing_keys"], *broken_weights(encoder)]
    if missing:
        mistake = (
            f"{folder}: a {kind} of which {len(missing)} weights are missing or not finite, such as {min(missing)}"
        )
        raise ModelError(mistake, expected=_EXPECTED, fix="copy the folder again")
    width = encoder.get_input_embeddings().weight.shape[1]
    mistake = f"{folder}: embeddings of {width} channels, states of {config.hidden_size}"
    expected = "an encoder with one width, since the decoder writes with its embeddings"
    check(width == config.hidden_size, mistake, expected=expected, fix="name another encoder", kind=ModelError)
    return encoder


def own_tokenizer(folder: Path) -> Any:
    """Return the tokenizer of a folder as transformers has it.  Raises ModelError if it cannot be used here."""
    from transformers import AutoTokenizer

    try:
        own = AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False)
        own.backend_tokenizer  # noqa: B018  (some have none)
    except Exception as error:  # what a damaged file raises has no common base
        mistake = f"no tokenizer in {folder} ({first_line(error)})"
        raise ModelError(mistake, expected=_EXPECTED, fix="copy its files into the folder") from error
    is_whole = None not in (*_ends(own), own.pad_token)
    mistake = f"{folder}: a tokenizer without opening, end or pad token"
    check(is_whole, mistake, expected=_EXPECTED, fix="name another encoder", kind=ModelError)
    return own


def _ends(own: Any) -> tuple[str | None, str | None]:
    """Return the tokens before and behind a text."""
    return own.cls_token or own.bos_token, own.eos_token or own.sep_token


def with_task_tokens(own: Any, backend: Any, task: TaskConfig) -> TaskTokenizer:
    """Return a tokenizer's pieces, whole or cut, and the task's tokens behind them."""
    from tokenizers import AddedToken
    from transformers import PreTrainedTokenizerFast

    opening, end = _ends(own)
    backend.no_padding()
    backend.no_truncation()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, model_max_length=task.max_tokens,
        cls_token=opening, pad_token=own.pad_token, eos_token=end, unk_token=own.unk_token,
    )  # fmt: skip
    tokenizer.add_tokens([AddedToken(token, normalized=False) for token, _ in _task_tokens(task)])
    sentinels = [AddedToken(token, normalized=False) for token in (SENTINEL, *PAUSES)]
    tokenizer.add_special_tokens({"additional_special_tokens": sentinels})
    return TaskTokenizer(tokenizer, task)


def _task_tokens(task: TaskConfig) -> Iterator[tuple[str, str]]:
    """Yield the task's own tokens, each with the text whose embedding it begins with; "" for the opening token."""
    yield from ((task_token(style), "") for style in task.styles)
    # the sign is there, if it is ever learned
    yield from ((task_token(mark), mark) for mark in task.marks + DISFLUENT + task.opening)
    yield from ((token, "the") for token in CASE_TOKENS.values())


def _decoded(encoder: Any, tokenizer: TaskTokenizer, shape: dict[str, Any]) -> Any:
    """Return the encoder, its vocabulary grown by the task's tokens, under fresh decoder layers."""
    config = encoder.config
    n_pieces = max(len(tokenizer.tokenizer), encoder.get_input_embeddings().num_embeddings)
    encoder.resize_token_embeddings(n_pieces, mean_resizing=False)
    _start_rows(encoder.get_input_embeddings().weight.data, tokenizer)
    spread = float(encoder.get_input_embeddings().weight.detach().std())
    network = EncoderT5(
        EncoderT5Config(
            **shape,
            encoder=config.to_dict(),
            vocab_size=n_pieces,
            d_kv=config.hidden_size // config.num_attention_heads,
            num_heads=config.num_attention_heads,
            num_layers=config.num_hidden_layers,
            pad_token_id=tokenizer.pad_id,
            eos_token_id=tokenizer.eos_id,
            decoder_start_token_id=tokenizer.pad_id,
        )
    )
    network.encoder.load_state_dict(encoder.state_dict())
    start_decoder(network, spread)
    return network


def start_decoder(network: Any, spread: float) -> None:
    """Scale fresh decoder layers to the size of the embeddings, and the last norm so that logits can be large.

    transformers draws weights for embeddings of standard deviation 1; the network's have `spread`.
    """
    decoder = network.decoder
    with torch.no_grad():
        for block in decoder.block:
            for out in (
                block.layer[0].SelfAttention.o,
                block.layer[1].EncDecAttention.o,
                block.layer[2].DenseReluDense.wo,
            ):
                out.weight.mul_(spread)
        decoder.final_layer_norm.weight.fill_(_WRITTEN_LOGIT / (spread * network.config.d_model**0.5))


def decoder_shape(layers: int, dropout_rate: float, d_model: int) -> dict[str, Any]:
    """Return the settings of a fresh decoder, as `EncoderT5Config` names them."""
    return {
        "d_model": d_model, "num_decoder_layers": layers, "d_ff": 2 * d_model,
        "feed_forward_proj": "gelu", "dropout_rate": dropout_rate,
    }  # fmt: skip


def _start_rows(weight: torch.Tensor, tokenizer: TaskTokenizer) -> None:
    """Let the task's tokens begin like similar tokens, with a little noise; weight: (n_vocabulary, d_model)."""
    own: Any = tokenizer.tokenizer
    spread = float(weight.std())
    opening = (own.cls_token_id,)
    rows = [(token, own.encode(like, add_special_tokens=False) if like else opening)
            for token, like in _task_tokens(tokenizer.task)]  # fmt: skip
    for token, like in [*rows, *((token, opening) for token in (SENTINEL, *PAUSES))]:
        row = own.convert_tokens_to_ids(token)
        weight[row] = weight[list(like)].mean(0) + _NOISE * spread * torch.randn(weight.shape[1])


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and write the model."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("encoder", help="a folder or a hub id")
    parser.add_argument("output", help="the folder of the model")
    parser.add_argument("task", nargs="*", help="settings of the task, key=value")
    parser.add_argument("--layers", type=int, default=1, help="of the decoder")
    parser.add_argument("--dropout-rate", type=float, default=0.0, help="for texts that are read more than once, 0.1")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_intermixed_args(arguments)  # tasks behind options, too
    torch.manual_seed(options.seed)
    task = load(TaskConfig, None, options.task, current=asdict(ENCODER_TASK))
    model = from_encoder(options.encoder, task, layers=options.layers, dropout_rate=options.dropout_rate)
    models.save(model, options.output)


if __name__ == "__main__":
    try:
        main()
    except T5PunctError as error:
        raise SystemExit(str(error)) from None
