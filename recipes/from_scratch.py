"""Make a T5 with random weights, and a vocabulary that is learned from a data set's text.

In: a folder made by `t5punct prepare`.  Out: a model's folder, which `init_from` names; it needs far more text than one
that knows a language already.

    python recipes/from_scratch.py prepared/czech runs/start --pieces 8192 d_model=512 num_layers=8

The vocabulary is a sentencepiece unigram model (Kudo 2018) with byte fallback and T5's sentinels: any text comes back,
byte by byte where the vocabulary has no piece for it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from t5punct import model as models
from t5punct.config import check_choice, check_range, load
from t5punct.errors import InputError, T5PunctError
from t5punct.model import Model
from t5punct.t5.task import N_SENTINELS, TaskConfig
from t5punct.t5.tokenization import TaskTokenizer
from t5punct.training.examples.batches import load_split

_PAD, _EOS, _UNK = 0, 1, 2  # T5's places
_ACTIVATIONS = ("relu", "gelu", "silu", "gated-relu", "gated-gelu", "gated-silu")


@dataclass(frozen=True)
class Shape:
    """The shape of a T5."""

    d_model: int = 256  # the width of states
    d_kv: int = 32  # the width of a head
    num_heads: int = 8  # of attention
    d_ff: int = 1024  # the width of feed-forward layers
    num_layers: int = 6  # of the encoder
    num_decoder_layers: int = 2  # of the decoder
    dropout_rate: float = 0.0  # of states, in training; 0.1 where the data are read more than once
    feed_forward_proj: str = "relu"  # the activation: relu, gelu, silu, gated-relu, ..

    def __post_init__(self) -> None:
        check_range(self, "d_model", "d_kv", "num_heads", "d_ff", "num_layers", "num_decoder_layers", least=1)
        check_range(self, "dropout_rate", least=0, most=0.99)
        check_choice(self, "feed_forward_proj", _ACTIVATIONS)


def fresh(shape: Shape, tokenizer: TaskTokenizer) -> Model:
    """Return a T5 with random weights; seed torch first for the same weights twice."""
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(
        **asdict(shape), vocab_size=len(tokenizer.tokenizer), decoder_start_token_id=tokenizer.pad_id,
        pad_token_id=tokenizer.pad_id, eos_token_id=tokenizer.eos_id,
    )  # fmt: skip
    models.prepare_process()
    return Model(T5ForConditionalGeneration(config), tokenizer, "fresh")


def train_tokenizer(lines: Iterable[str], folder: str | Path, n_pieces: int = 8192) -> None:
    """Learn a vocabulary (unigram model, Kudo 2018) from lines of text and save it as a T5 tokenizer.

    T5's own class has no byte fallback (transformers 5 rebuilds it without), so the folder names the generic
    fast-tokenizer class and carries the whole pipeline in tokenizer.json.
    """
    import sentencepiece as spm

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        spm.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_prefix=str(folder / "spiece"),
            vocab_size=n_pieces - N_SENTINELS,
            model_type="unigram", byte_fallback=True, split_digits=True,
            required_chars=",.?!:;-'",  # marks must never fall back to bytes
            pad_id=_PAD, eos_id=_EOS, unk_id=_UNK, bos_id=-1,
            num_threads=1,  # so that the same text gives the same vocabulary
            hard_vocab_limit=False, minloglevel=2,
        )  # fmt: skip
    except RuntimeError as error:  # what sentencepiece raises for too little text or too small a size
        raise InputError(
            f"a vocabulary of {n_pieces} pieces cannot be learned ({error})",
            expected="enough text, and a size above its characters, 256 bytes and 100 sentinels",
            fix="add text or change --pieces",
        ) from error
    (folder / "spiece.vocab").unlink()
    _build_tokenizer(folder / "spiece.model").save_pretrained(str(folder))
    described = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    described["tokenizer_class"] = "PreTrainedTokenizerFast"
    text = json.dumps(described, indent=2, ensure_ascii=False) + "\n"
    (folder / "tokenizer_config.json").write_text(text, encoding="utf-8")


def _build_tokenizer(spiece: Path) -> Any:
    """Return the fast tokenizer of a sentencepiece model file: T5's form, with byte fallback."""
    from sentencepiece import sentencepiece_model_pb2 as schema
    from tokenizers import Tokenizer, decoders, normalizers, pre_tokenizers, processors
    from tokenizers.models import Unigram
    from transformers import PreTrainedTokenizerFast

    proto = schema.ModelProto()
    proto.ParseFromString(spiece.read_bytes())
    sentinels = [f"<extra_id_{index}>" for index in range(N_SENTINELS - 1, -1, -1)]
    pieces = [(piece.piece, piece.score) for piece in proto.pieces] + [(name, 0.0) for name in sentinels]
    backend = Tokenizer(Unigram(pieces, unk_id=_UNK, byte_fallback=True))
    backend.normalizer = normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap)
    spaces: dict[str, Any] = {"replacement": "▁", "prepend_scheme": "always", "split": True}
    steps = [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(**spaces)]
    backend.pre_tokenizer = pre_tokenizers.Sequence(steps)
    # bytes to characters, then ▁ to spaces
    backend.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(**spaces)])
    backend.post_processor = processors.TemplateProcessing(
        single=["$A", "</s>"], pair=["$A", "</s>", "$B", "</s>"], special_tokens=[("</s>", _EOS)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token="<pad>", eos_token="</s>", unk_token="<unk>",
        additional_special_tokens=sentinels[::-1],
    )  # fmt: skip


def iter_lines(rows: Any, n_words: int) -> Iterator[str]:
    """Yield sources and targets of the first chunks in turn, of so many words; `prepare` has shuffled them."""
    for number, row in enumerate(rows):
        if n_words <= 0:
            return
        n_words -= row["n_words"]
        yield row["source" if number % 2 else "target"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and write the model."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", help="a folder made by `t5punct prepare`")
    parser.add_argument("output", help="the folder of the model")
    parser.add_argument("shape", nargs="*", help="settings of the shape, key=value")
    parser.add_argument("--pieces", type=int, default=8192, help="of the vocabulary, bytes and sentinels included")
    parser.add_argument("--words", type=int, default=2_000_000, help="how many words the vocabulary is learned from")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_intermixed_args(arguments)  # shapes behind options, too
    shape = load(Shape, None, options.shape)
    rows = load_split(options.data, "train") or []
    train_tokenizer(iter_lines(rows, options.words), options.output, options.pieces)
    torch.manual_seed(options.seed)
    models.save(fresh(shape, models.load_tokenizer(options.output, TaskConfig())), options.output)


if __name__ == "__main__":
    try:
        main()
    except T5PunctError as error:
        raise SystemExit(str(error)) from None
