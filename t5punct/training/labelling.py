"""`t5punct label`: a teacher reads a data set once, and what it says of every word is stored (`labels`).

In: a data set of `t5punct prepare`, a model with a tagger.  Out: a folder of labels; `data.labels` of a config
names it.

`label("prepared/pupils", "large")` writes `prepared/pupils/labels-large`.  Labelling that was
stopped goes on where it was: a file of labels is written whole or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file

from .. import config as settings
from .. import model as models
from ..decoding.batching import batch_by_length
from ..decoding.precision import with_precision
from ..errors import ConfigError, InputError
from ..model import Model
from ..t5.tagger import states_at_words
from ..t5.weights import weights_fingerprint
from ..text.io.files import take_place
from .examples.batches import make_collator
from .examples.example import ChunkExamples, Example
from .examples.loading import chunks_fingerprint, load_split
from .labels import LABELS_FILE, ROWS_IN_PART, LabelsInfo, codes_of, is_labels, part_name

_BEGUN = "labels-begun.yaml"  # of a folder whose labels are not finished
Tell = Callable[[int, int], None]  # words of which labels are known, of how many


def label(
    data: str,
    teacher: str,
    output: str | None = None,
    *,
    batch_tokens: int = 4096,
    precision: str = "auto",
    tell: Tell | None = None,
) -> Path:
    """Label the split `train` of a data set, and return the folder: beside the data set, unless `output` names one.

    Raises ConfigError for a model without a tagger, and for labels in the folder that are of something else.
    """
    if batch_tokens < 1:
        raise ConfigError(f"batch_tokens {batch_tokens}", expected="1 or more", fix="check --batch-tokens")
    folder = Path(output or Path(data) / f"labels-{Path(teacher).name}")
    rows = load_split(data, "train")
    if rows is None:
        raise InputError(f"no examples in {data}", expected="a split `train`", fix="prepare more text")
    model = models.load(teacher)
    if model.tagger is None:
        raise ConfigError(f"{teacher} without a tagger", expected="a model that has one", fix="name another model")
    examples, classes = ChunkExamples(rows, model.tokenizer), list(model.tagger.mark_classes)
    info = LabelsInfo(
        teacher,
        weights_fingerprint(model.network.encoder, model.tagger),
        chunks_fingerprint(examples),
        len(rows),
        classes,
    )
    model = with_precision(model, precision)
    _begin(folder, info)
    n_words, n_done = sum(rows["n_words"][:]), 0
    for number, first in enumerate(range(0, len(rows), ROWS_IN_PART)):
        chunk_numbers = range(first, min(first + ROWS_IN_PART, len(rows)))
        file = folder / part_name(number)
        if not file.is_file():
            _write(file, _codes(model, [examples[row] for row in chunk_numbers], batch_tokens))
        n_done += sum(rows[chunk_numbers.start : chunk_numbers.stop]["n_words"])
        if tell is not None:
            tell(n_done, n_words)
    take_place(folder / _BEGUN, folder / LABELS_FILE)
    return folder


def _begin(folder: Path, info: LabelsInfo) -> None:
    """Note in the folder what its labels will be of, or check that those which are there are of the same."""
    for name in (LABELS_FILE, _BEGUN):
        if (folder / name).is_file() and settings.load_plain(LabelsInfo, folder / name) != info:
            raise ConfigError(
                f"{folder}, which holds labels of another model or data set", expected="its own", fix="remove it"
            )
    folder.mkdir(parents=True, exist_ok=True)
    if not is_labels(folder):
        settings.save(info, folder / _BEGUN)
    else:
        (folder / LABELS_FILE).replace(folder / _BEGUN)


def _write(file: Path, codes: Sequence[torch.Tensor]) -> None:
    ends = torch.tensor([len(words) for words in codes]).cumsum(0)
    beside = file.with_suffix(".partial")
    save_file({"codes": torch.cat(list(codes)), "ends": ends}, beside)
    take_place(beside, file)


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
