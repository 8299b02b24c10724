"""Labels of a teacher (Hinton 2015): what a larger model predicts for every word of a data set, a dozen bytes a word.

A code has a byte for each class of marks, then one for each case: -log2 of the probability in sixteenths of a bit, 255
at most.  So probabilities of 1, 1/2 and 1/1000 are 0, 16 and 159, and none is wrong by more than 2.2 %.

>>> probabilities_of(torch.tensor([[16, 32, 32]], dtype=torch.uint8)).tolist()
[[0.5, 0.25, 0.25]]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import torch
from safetensors import safe_open
from torch.nn.functional import kl_div

from .. import config as settings
from ..config import check
from ..errors import InputError

LABELS_FILE = "labels.yaml"
ROWS_IN_PART = 4096  # chunks of one file
_STEPS_IN_BIT = 16
_HIGHEST_CODE = 255  # of all that is less probable than 2 ** -15.9
WEIGHTS = [2.0 ** (-code / _STEPS_IN_BIT) for code in range(_HIGHEST_CODE + 1)]  # the probability of each code


@dataclass(frozen=True)
class LabelsInfo:
    """Which model and which data set labels belong to; saved beside them."""

    model: str = ""  # the teacher's name
    weights: str = ""  # a fingerprint of the teacher
    data: str = ""  # a fingerprint of the chunks
    rows: int = 0  # chunks
    classes: list[str] = field(default_factory=list)  # of marks; the first, "", is no mark


@dataclass(frozen=True, slots=True)
class WordLabel:
    """A word's code, with form and marks of the word in the data."""

    code: bytes
    form: str
    marks: str

    def code_of(self, form: str, marks: str) -> bytes:
        """Return the code; b"" once noise has changed the word."""
        return self.code if (form, marks) == (self.form, self.marks) else b""


class Labels:
    """A folder of labels, read for a pupil whose classes of marks are `classes` (None: the teacher's)."""

    def __init__(self, folder: str | Path, classes: Sequence[str] | None = None) -> None:
        """Raises InputError if there are no finished labels, and ConfigError if they lack one of the classes."""
        self._folder = Path(folder)
        file = self._folder / LABELS_FILE
        self.info = settings.load_plain(LabelsInfo, file) if file.is_file() else LabelsInfo()
        last_part = self._folder / part_name((self.info.rows - 1) // ROWS_IN_PART)
        is_finished = last_part.is_file()  # parts are written in order
        expected = f"a folder with {LABELS_FILE} and all parts"
        fix = "run `t5punct label` (again)"
        check(is_finished, f"no labels in {folder}, or not all", expected=expected, fix=fix, kind=InputError)
        teacher_classes = self.info.classes
        pupil_classes = teacher_classes if classes is None else list(classes)
        check(
            set(pupil_classes) <= set(teacher_classes), f"labels {folder} of marks {teacher_classes}",
            expected=f"the pupil's, {pupil_classes}",
            fix="label with a teacher of the same marks, or set data.disfluencies.marked as it was trained",
        )  # fmt: skip
        self._mark_columns = [teacher_classes.index(mark) for mark in pupil_classes]  # in a code, of the pupil's marks

    def check_data(self, data: str, n_rows: int) -> None:
        """Raise ConfigError unless the labels belong to the data set with this fingerprint and number of chunks."""
        is_own = (self.info.data, self.info.rows) == (data, n_rows)
        mistake = f"labels {self._folder} of another data set"
        check(is_own, mistake, expected="those of data.path", fix="label it (again)")

    def of_chunk(self, chunk: int) -> list[bytes]:
        """Return the code of each word of a chunk; b"" for a word without a label, which has zeros on disk."""
        part, index = divmod(chunk, ROWS_IN_PART)
        codes, ends = _read_part(self._folder / part_name(part))
        start = int(ends[index - 1]) if index else 0
        case_columns = range(len(self.info.classes), codes.shape[1])
        codes_of_chunk = codes[start : int(ends[index]), [*self._mark_columns, *case_columns]]
        return [bytes(code) if code.any() else b"" for code in codes_of_chunk.numpy()]


def part_name(number: int) -> str:
    return f"part-{number:05d}.safetensors"


def codes_of(probabilities: torch.Tensor) -> torch.Tensor:
    """Return probabilities (.., n_classes) as codes, uint8 of the same shape."""
    bits = -probabilities.clamp(min=2.0 ** (-_HIGHEST_CODE / _STEPS_IN_BIT)).log2()
    return (bits * _STEPS_IN_BIT).round().clamp(0, _HIGHEST_CODE).to(torch.uint8)  # log2 may be off by its last digit


def probabilities_of(codes: torch.Tensor) -> torch.Tensor:
    """Return codes uint8 (.., n_classes) of one distribution as probabilities, float32, that sum to 1."""
    weights = torch.exp2(codes.float() / -_STEPS_IN_BIT)
    return weights / weights.sum(-1, keepdim=True)


def label_loss(codes: torch.Tensor, marks: torch.Tensor, cases: torch.Tensor, slots: torch.Tensor) -> torch.Tensor:
    """Return the divergence of a tagger's logits from the labels, a scalar in nats a word.

    codes: uint8 (n_batch, n_words, n_codes), all 0 where there is no label; marks, cases: logits (n_batch, n_words,
    n_classes); slots: bool (n_batch, n_words), the words that are not padding.
    """
    is_labelled = (codes > 0).any(-1) & slots
    mark_codes, case_codes = codes[is_labelled].tensor_split([marks.shape[-1]], -1)  # (n_labelled, n_classes)
    return divergence(marks[is_labelled], mark_codes) + divergence(cases[is_labelled], case_codes)


def divergence(logits: torch.Tensor, codes: torch.Tensor) -> torch.Tensor:
    """Return the mean Kullback-Leibler divergence of logits from labels, a scalar in nats; 0 for no words.

    logits: (n_words, n_classes); codes: uint8 of the same shape, of one distribution a word.
    """
    target = probabilities_of(codes).log()
    summed = kl_div(logits.float().log_softmax(-1), target, reduction="sum", log_target=True)
    return summed / max(1, len(logits))


@lru_cache(maxsize=8)
def _read_part(file: Path) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a file's codes, uint8 (n_words, n_codes), and how many words end with each chunk, int64 (n_chunks,)."""
    try:
        with safe_open(str(file), framework="pt") as tensors:
            return tensors.get_tensor("codes"), tensors.get_tensor("ends")
    except Exception as error:  # a damaged file raises errors without a common base
        raise InputError(f"labels {file} cannot be read", expected="a whole file", fix="label again") from error
