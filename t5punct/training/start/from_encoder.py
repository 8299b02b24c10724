"""A pre-trained encoder becomes the encoder of a T5, weight for weight, ready to be trained (Rothe 2020).

In: the folder or hub id of an encoder-only model of transformers (BERT, MiniLM, MPNet, RoBERTa, XLM-R, E5, ..).  Out: a
`Model` with the task's tokens and fresh decoder layers of the encoder's width.

`from_encoder("bert-base-uncased", FreshDecoderConfig(), None)` reads what that BERT reads, and has to learn to write.

The text form is the one with tokens of their own for styles, marks and case.  The tokens are added behind the
vocabulary; a style stands where the encoder has its opening token (`[CLS]`, `<s>`), whose embedding it begins with.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from ...config import check_range
from ...errors import ConfigError, ModelError, first_line
from ...model import Model, find
from ...t5.task import CASE_TOKENS, ENCODER_TASK, PAUSES, SENTINEL, TaskConfig, mark_token, style_token
from ...t5.tokenization import TaskTokenizer
from ...t5.weights import LOADING, broken_weights, kind_of, without_advice, without_bars
from ...text.marks import DISFLUENT

_NOISE = 0.3  # of a new token's embedding, relative to the spread of all, so that those with one model differ
_SPARE_POSITIONS = 2  # RoBERTa and MPNet begin to count there
_DROPOUTS = ("hidden_dropout_prob", "attention_probs_dropout_prob")  # as BERT and its kin call them
_EXPECTED = "an encoder such as a BERT, with model.safetensors and its tokenizer"


@dataclass(frozen=True)
class FreshDecoderConfig:
    """The decoder that is put on a pre-trained encoder; it is as wide as the encoder, with as many heads."""

    layers: int = 1  # the encoder runs once, the decoder several times (Kasai 2021)
    d_ff: int | None = None  # null: twice the encoder's width
    dropout_rate: float = 0.0  # of the encoder too; for texts that are seen more than once, 0.1

    def __post_init__(self) -> None:
        check_range(self, "decoder.", 1, "layers", "d_ff")
        check_range(self, "decoder.", 0, "dropout_rate", below=1)


def from_encoder(
    source: str | Path,
    decoder: FreshDecoderConfig,
    task: TaskConfig | None,
) -> Model:
    """Return a model with a folder's or hub id's encoder; seed torch first for the same decoder twice.

    Raises ModelError for anything but an encoder whose embeddings are as wide as its states, or for one without a
    tokenizer that has an end and an opening token; ConfigError for a task in which the encoder cannot be used.
    """
    folder = find(source)
    task = task or ENCODER_TASK
    if not task.inline_case or task.prefix != ENCODER_TASK.prefix:
        raise ConfigError(
            f"a task with inline_case {task.inline_case} and prefix {task.prefix!r} for an encoder",
            expected=f"inline_case true and prefix {ENCODER_TASK.prefix!r}",
            fix="set task.inline_case and task.prefix",
        )
    encoder = read_encoder(folder, decoder.dropout_rate)
    longest = encoder.config.max_position_embeddings - _SPARE_POSITIONS
    task = replace(task, max_tokens=min(task.max_tokens, longest))
    own = own_tokenizer(folder)
    tokenizer = with_task_tokens(own, own.backend_tokenizer, task)
    network = _decoded(encoder, tokenizer, decoder)
    return Model(network.eval(), tokenizer, str(source), folder=folder)


def read_encoder(folder: Path, dropout_rate: float) -> Any:
    """Return a folder's encoder in float32, without the pooling layer that some have.

    Raises ModelError for anything else, and for damaged weights.
    """
    kind = kind_of(folder)  # raises ModelError where none is stated
    from transformers import AutoConfig, AutoModel

    read: dict[str, Any] = {"trust_remote_code": False, "use_safetensors": True, "dtype": torch.float32}
    try:
        config = AutoConfig.from_pretrained(str(folder), trust_remote_code=False)
        _check_encoder(config, folder)
        for name in _DROPOUTS:
            setattr(config, name, dropout_rate)
        read["config"] = config
        with LOADING, without_bars(), without_advice():
            try:
                encoder, info = AutoModel.from_pretrained(
                    str(folder), add_pooling_layer=False, output_loading_info=True, **read
                )
            except TypeError:  # this family has none
                encoder, info = AutoModel.from_pretrained(str(folder), output_loading_info=True, **read)
    except ModelError:
        raise
    except Exception as error:  # a damaged file raises errors without a common base class
        raise ModelError(
            f"{folder} cannot be loaded ({first_line(error)})", expected=_EXPECTED, fix="check init_from"
        ) from error
    missing = [*info["missing_keys"], *broken_weights(encoder)]
    if missing:
        raise ModelError(
            f"{folder}: a {kind} of which {len(missing)} weights are missing or not finite, such as {min(missing)}",
            expected=_EXPECTED,
            fix="copy the folder again",
        )
    words = encoder.get_input_embeddings().weight
    if words.shape[1] != config.hidden_size:
        raise ModelError(
            f"{folder}: embeddings of {words.shape[1]} channels, states of {config.hidden_size}",
            expected="an encoder with one width, since the decoder writes with its embeddings",
            fix="name another encoder",
        )
    return encoder


def _check_encoder(config: Any, folder: Path) -> None:
    """Raise ModelError unless the model is a masked language model."""
    from transformers import MODEL_FOR_MASKED_LM_MAPPING

    if config.is_encoder_decoder or type(config) not in MODEL_FOR_MASKED_LM_MAPPING:
        raise ModelError(
            f"{folder} holds a {config.model_type}",
            expected="a T5, mT5, umT5 or byT5, or an encoder such as a BERT",
            fix="name another model",
        )


def own_tokenizer(folder: Path) -> Any:
    """Return the tokenizer of a folder as transformers has it.  Raises ModelError if it cannot be used here."""
    from transformers import AutoTokenizer

    try:
        own = AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False)
        own.backend_tokenizer  # noqa: B018  (some have none)
    except Exception as error:  # what a damaged file raises has no common base
        raise ModelError(
            f"no tokenizer in {folder} ({first_line(error)})", expected=_EXPECTED, fix="copy its files into the folder"
        ) from error
    if None in (*_ends(own), own.pad_token):
        raise ModelError(
            f"{folder}: a tokenizer without opening, end or pad token", expected=_EXPECTED, fix="name another encoder"
        )
    return own


def _ends(own: Any) -> tuple[str | None, str | None]:
    """What stands before a text, and what behind it."""
    return own.cls_token or own.bos_token, own.eos_token or own.sep_token


def with_task_tokens(own: Any, backend: Any, task: TaskConfig) -> TaskTokenizer:
    """Return a tokenizer's pieces, whole or cut, and the task's tokens behind them."""
    from tokenizers import AddedToken
    from transformers import PreTrainedTokenizerFast

    opening, end = _ends(own)
    backend.no_padding()
    backend.no_truncation()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend,
        cls_token=opening,
        pad_token=own.pad_token,
        eos_token=end,
        unk_token=own.unk_token,
        model_max_length=task.max_tokens,
    )
    tokenizer.add_tokens([AddedToken(token, normalized=False) for token, _ in _task_tokens(task)])
    sentinels = [AddedToken(token, normalized=False) for token in (SENTINEL, *PAUSES)]
    tokenizer.add_special_tokens({"additional_special_tokens": sentinels})
    return TaskTokenizer(tokenizer, task)


def _task_tokens(task: TaskConfig) -> Iterator[tuple[str, str]]:
    """The task's own tokens, each with the text whose embedding it begins with; "" for the opening token."""
    yield from ((style_token(style), "") for style in task.styles)
    # the sign is there, if it is ever learned
    yield from ((mark_token(mark), mark) for mark in task.marks + DISFLUENT + task.opening)
    yield from ((token, "the") for token in CASE_TOKENS.values())


def _decoded(encoder: Any, tokenizer: TaskTokenizer, decoder: FreshDecoderConfig) -> Any:
    """The encoder, its vocabulary grown by the task's tokens, under fresh decoder layers."""
    from ...t5.encoder_t5 import EncoderT5, EncoderT5Config, start_decoder

    config = encoder.config
    n_pieces = max(len(tokenizer.tokenizer), encoder.get_input_embeddings().num_embeddings)
    encoder.resize_token_embeddings(n_pieces, mean_resizing=False)
    _start_rows(encoder.get_input_embeddings().weight.data, tokenizer)
    d_model, n_heads = config.hidden_size, config.num_attention_heads
    spread = float(encoder.get_input_embeddings().weight.detach().std())
    network = EncoderT5(
        EncoderT5Config(
            encoder=config.to_dict(),
            vocab_size=n_pieces,
            d_model=d_model,
            d_kv=d_model // n_heads,
            num_heads=n_heads,
            d_ff=decoder.d_ff or 2 * d_model,
            num_layers=config.num_hidden_layers,
            num_decoder_layers=decoder.layers,
            feed_forward_proj="gelu",
            dropout_rate=decoder.dropout_rate,
            pad_token_id=tokenizer.pad_id,
            eos_token_id=tokenizer.eos_id,
            decoder_start_token_id=tokenizer.pad_id,
        )
    )
    network.encoder.load_state_dict(encoder.state_dict())
    start_decoder(network, spread)
    return network


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
