"""Train a T5 tokenizer: a sentencepiece unigram vocabulary with byte fallback and T5's sentinels.

After `train_tokenizer(["some lines"], "folder", VocabularyConfig(size=400))`, any text round-trips, byte by byte
where the vocabulary has no piece for it: `AutoTokenizer.from_pretrained("folder")("naïve 🙂")`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...config import check_range
from ...errors import InputError
from ...t5.task import N_SENTINELS

_PAD, _EOS, _UNK = 0, 1, 2  # T5's places


@dataclass(frozen=True)
class VocabularyConfig:
    """Size of a new vocabulary, byte pieces and sentinels included, and how much text it is learned from."""

    size: int = 8192  # pieces
    sample_words: int = 2_000_000  # words of the data set, spread evenly, that it is learned from

    def __post_init__(self) -> None:
        check_range(self, "vocabulary.", 1, "sample_words")


def train_tokenizer(lines: Iterable[str], folder: str | Path, config: VocabularyConfig) -> None:
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
            vocab_size=config.size - N_SENTINELS,
            model_type="unigram", byte_fallback=True, split_digits=True,
            required_chars=",.?!:;-'",  # marks must never fall back to bytes
            pad_id=_PAD, eos_id=_EOS, unk_id=_UNK, bos_id=-1,
            num_threads=1,  # so that the same text gives the same vocabulary
            hard_vocab_limit=False, minloglevel=2,
        )  # fmt: skip
    except RuntimeError as error:  # what sentencepiece raises for too little text or too small a size
        raise InputError(
            f"a vocabulary of {config.size} pieces cannot be learned ({error})",
            expected="enough text, and a size above its characters, 256 bytes and 100 sentinels",
            fix="add text or change vocabulary.size",
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
