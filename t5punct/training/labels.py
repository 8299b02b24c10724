"""Labels of a teacher: what a larger model predicts for every word of a data set, on disk, a dozen bytes a word.

In: a folder of labels (`t5punct label`), the number of a chunk.  Out: a code for each of its words, and the loss of a
model that learns from them (Hinton 2015).  Nothing is known of words that noise has put in.

A code is a byte for each class of marks, then one for each case: how many sixteenths of a bit improbable the class is,
255 at most.  So probabilities of 1, 1/2 and 1/1000 are 0, 16 and 159, and none is wrong by more than 2.2 %.

>>> probabilities_of(torch.tensor([[16, 32, 32]], dtype=torch.uint8)).tolist()
[[0.5, 0.25, 0.25]]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch.nn.functional import kl_div

from .. import config as settings
from .. import model as models
from ..config import check
from ..decoding.batching import batch_by_length
from ..errors import ConfigError, InputError
from ..model import Model, with_precision
from ..t5.tagger import states_at_words
from ..t5.weights import weights_fingerprint
from ..text.io.files import take_place, whole_file
from .examples.batches import make_collator
from .examples.example import ChunkExamples, Example
from .examples.loading import chunks_fingerprint, load_split

LABELS_FILE = "labels.yaml"  # it makes a folder one of labels, and is written last
ROWS_IN_PART = 4096  # chunks of one file
_STEPS_IN_BIT = 16
_LEAST = 255  # the code of all that is less probable than 2 ** -15.9


@dataclass(frozen=True)
class LabelsInfo:
    """What labels are of, saved beside them."""

    model: str = ""  # the teacher's name
    weights: str = ""  # a fingerprint of the teacher
    data: str = ""  # a fingerprint of the chunks
    rows: int = 0  # chunks
    classes: list[str] = field(default_factory=list)  # of marks; the first, "", is no mark


@dataclass(frozen=True, slots=True)
class Taught:
    """A word's code, and what the data say of that word: where noise changes it, the teacher has said nothing."""

    code: bytes
    form: str
    label: str


class Labels:
    """A folder of labels, ready to be read.  Raises InputError where there is none, or one that is not finished."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        if not is_labels(folder):
            raise InputError(
                f"no labels in {folder}", expected=f"a folder with {LABELS_FILE}", fix="run `t5punct label` (again)"
            )
        self.info = settings.load_plain(LabelsInfo, self._folder / LABELS_FILE)

    def check(self, data: str, n_rows: int, classes: tuple[str, ...]) -> None:
        """Raise ConfigError for labels of another data set, or of a teacher with other marks than `classes`."""
        if (self.info.data, self.info.rows) != (data, n_rows):
            raise ConfigError(
                f"labels {self._folder} of another data set", expected="those of data.path", fix="label it (again)"
            )
        if tuple(self.info.classes) != classes:
            raise ConfigError(
                f"labels {self._folder} of marks {self.info.classes}",
                expected=f"the pupil's, {list(classes)}",
                fix="label with a teacher of the same marks, or set data.disfluencies.marked as it was trained",
            )

    def of_row(self, row: int) -> list[bytes]:
        """Return the codes of a chunk's words."""
        part, place = divmod(row, ROWS_IN_PART)
        codes, ends = _part(self._folder / part_name(part))
        start = int(ends[place - 1]) if place else 0
        return [bytes(code) for code in codes[start : int(ends[place])].numpy()]


def is_labels(folder: str | Path) -> bool:
    """Return whether a folder holds labels, and not a model."""
    return (Path(folder) / LABELS_FILE).is_file()


def part_name(number: int) -> str:
    """Return the name of a file of labels."""
    return f"part-{number:05d}.safetensors"


def codes_of(probabilities: torch.Tensor) -> torch.Tensor:
    """Return probabilities (.., n_classes) as codes, uint8 of the same shape."""
    bits = -probabilities.clamp(min=2.0 ** (-_LEAST / _STEPS_IN_BIT)).log2()
    return (bits * _STEPS_IN_BIT).round().clamp(0, _LEAST).to(torch.uint8)


def probabilities_of(codes: torch.Tensor) -> torch.Tensor:
    """Return codes uint8 (.., n_classes) of one distribution as probabilities, float32, that sum to 1."""
    weights = torch.exp2(codes.float() / -_STEPS_IN_BIT)
    return weights / weights.sum(-1, keepdim=True)


def label_loss(codes: torch.Tensor, marks: torch.Tensor, cases: torch.Tensor, slots: torch.Tensor) -> torch.Tensor:
    """Return how far a tagger's logits are from the labels, a scalar in nats a word.

    codes: uint8 (n_batch, n_words, n_codes), all 0 where the teacher has no label; marks, cases: logits (n_batch,
    n_words, n_classes); slots: bool (n_batch, n_words), the words that are not padding.
    """
    is_labelled = (codes > 0).any(-1) & slots
    of_marks, of_cases = codes[is_labelled].tensor_split([marks.shape[-1]], -1)  # (n_labelled, n_codes)
    return divergence(marks[is_labelled], of_marks) + divergence(cases[is_labelled], of_cases)


def divergence(logits: torch.Tensor, codes: torch.Tensor) -> torch.Tensor:
    """Return the mean Kullback-Leibler divergence of logits from labels, a scalar in nats; 0 for no words.

    logits: (n_words, n_classes); codes: uint8 of the same shape, of one distribution a word.
    """
    target = probabilities_of(codes).log()
    summed = kl_div(logits.float().log_softmax(-1), target, reduction="sum", log_target=True)
    return summed / max(1, len(logits))


@lru_cache(maxsize=8)
def _part(file: Path) -> tuple[torch.Tensor, torch.Tensor]:
    """The codes of a file's words, uint8 (n_words, n_codes), and where each chunk's end, int64 (n_chunks,)."""
    try:
        with safe_open(str(file), framework="pt") as tensors:
            return tensors.get_tensor("codes"), tensors.get_tensor("ends")
    except Exception as error:  # a damaged file raises errors without a common base
        raise InputError(f"labels {file} cannot be read", expected="a whole file", fix="label again") from error


_BEGUN = "labels-begun.yaml"  # of a folder whose labels are not finished
Tell = Callable[[int, int], None]  # words of which labels are known, of how many


def label(
    data: str, teacher: str, output: str | None = None, *,
    batch_tokens: int = 4096, precision: str = "auto", tell: Tell | None = None,
) -> Path:  # fmt: skip
    """Label the split `train` of a data set, and return the folder: beside the data set, unless `output` names one.

    Raises ConfigError for a model without a tagger, and for labels in the folder that are of something else.
    """
    check(batch_tokens >= 1, f"batch_tokens {batch_tokens}", expected="1 or more", fix="check --batch-tokens")
    folder = Path(output or Path(data) / f"labels-{Path(teacher).name}")
    rows = load_split(data, "train")
    if rows is None:
        raise InputError(f"no examples in {data}", expected="a split `train`", fix="prepare more text")
    model = models.load(teacher)
    if (tagger := model.tagger) is None:
        raise ConfigError(f"{teacher} without a tagger", expected="a model that has one", fix="name another model")
    examples, weights = ChunkExamples(rows, model.tokenizer), weights_fingerprint(model.network.encoder, tagger)
    info = LabelsInfo(teacher, weights, chunks_fingerprint(examples), len(rows), list(tagger.mark_classes))
    model = with_precision(model, precision)
    begun, finished = folder / _BEGUN, folder / LABELS_FILE
    for file in (finished, begun):
        is_own = not file.is_file() or settings.load_plain(LabelsInfo, file) == info
        check(is_own, f"{folder}, which holds labels of another model or data set", expected="its own", fix="remove it")
    folder.mkdir(parents=True, exist_ok=True)
    settings.save(info, begun)
    finished.unlink(missing_ok=True)
    n_words, n_done = sum(rows["n_words"][:]), 0
    for number, first in enumerate(range(0, len(rows), ROWS_IN_PART)):
        chunk_numbers = range(first, min(first + ROWS_IN_PART, len(rows)))
        file = folder / part_name(number)
        if not file.is_file():
            codes = _codes(model, [examples[row] for row in chunk_numbers], batch_tokens)
            ends = torch.tensor([len(words) for words in codes]).cumsum(0)
            with whole_file(file) as partial:
                save_file({"codes": torch.cat(codes), "ends": ends}, partial)
        n_done += sum(rows[chunk_numbers.start : chunk_numbers.stop]["n_words"])
        if tell is not None:
            tell(n_done, n_words)
    take_place(begun, finished)
    return folder


@torch.inference_mode()
def _codes(model: Model, examples: Sequence[Example], batch_tokens: int) -> list[torch.Tensor]:
    """The codes of each example's words, uint8 (n_words, n_codes)."""
    make, tagger = make_collator(model.tokenizer.pad_id), model.tagger
    assert tagger is not None  # noqa: S101  (the caller has checked it)
    codes: dict[int, torch.Tensor] = {}
    for places in batch_by_length([len(example.source) for example in examples], batch_tokens):
        batch = make([examples[place] for place in places]).to(model.device)
        states = model.encode(batch.input_ids, batch.attention_mask)
        logits = tagger(states_at_words(states, batch.word_ends))
        together = torch.cat([codes_of(head.float().softmax(-1)) for head in logits], -1).cpu()
        for place, words in zip(places, together, strict=True):
            codes[place] = words[: len(examples[place].word_ends)].clone()
    return [codes[place] for place in range(len(examples))]
