"""The data of a run: the chunks of a prepared data set, in resumable batches.

`sampler, loader = load_data(config, model, 2)`; `sampler.set_position(epoch=1, start_batch=40)` goes on there.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import config as settings
from ... import model as models
from ...config import check
from ...errors import InputError
from ...text.marks import NO_MARKS
from ..config import TrainConfig
from ..data.chunks import stored_lengths
from ..data.prepare import SETTINGS, PrepareConfig
from ..labels import Labels
from .batches import BatchSampler, make_collator
from .example import ChunkExamples

if TYPE_CHECKING:
    import torch

_HASHED_CHUNKS = 1000  # about so many, evenly spread: to read all of a large data set takes a while


def load_data(
    config: TrainConfig, model: models.Model, n_processes: int
) -> tuple[BatchSampler, torch.utils.data.DataLoader[Any]]:
    """Return the sampler of a run's batches, and the loader that reads them."""
    import torch

    path, prepared = config.data.path, read_prepare_config(config.data.path)
    check(  # data with capitals serves every model
        not model.task.cased or prepared is None or prepared.cased,
        f"{path} prepared without capitals, for a task with them",
        expected="both with or both without",
        fix="set task.cased=false or prepare with cased=true",
    )
    rows = load_split(path, "train")
    if rows is None:
        raise InputError(f"no examples in {path}", expected="a split `train` with chunks", fix="prepare more text")
    labels = None if config.data.labels is None else Labels(config.data.labels, (NO_MARKS, *model.task.slot_marks))
    lengths = stored_lengths(Path(path), rows, model.tokenizer, config.data.workers)
    examples = ChunkExamples(rows, model.tokenizer, config.data, config.seed, labels, lengths)
    if labels is not None:
        labels.check(chunks_fingerprint(examples), len(rows))
    sampler = BatchSampler(examples.lengths, config.data.batch_tokens, config.seed, n_processes)
    loader = torch.utils.data.DataLoader(
        examples,
        batch_sampler=sampler,
        collate_fn=make_collator(model.tokenizer.pad_id),
        num_workers=config.data.workers,
        generator=torch.Generator(),  # its own: after a resume, a restarted epoch must not change dropout's numbers
    )
    return sampler, loader


def read_prepare_config(path: str) -> PrepareConfig | None:
    """Return the settings that a data set was made with, if its folder has them."""
    file = Path(path) / SETTINGS
    return settings.load_plain(PrepareConfig, file) if path and file.is_file() else None


def chunks_fingerprint(examples: ChunkExamples) -> str:
    """Return a data set's fingerprint: a hash of some of its chunks and of their number; one made anew has another."""
    rows = examples.rows
    some = rows[:: max(1, len(rows) // _HASHED_CHUNKS)]
    return hashlib.sha256(json.dumps([len(rows), some], sort_keys=True).encode()).hexdigest()[:16]


def load_split(path: str, split: str) -> Any:
    """Load the chunks of one split; None if there are none."""
    from datasets import load_from_disk

    if not (Path(path) / "dataset_dict.json").is_file():
        raise InputError(f"no data set in {path}", expected="a folder made by `t5punct prepare`", fix="prepare first")
    folder = Path(path) / split  # alone: with one empty split `datasets` does not load the other
    if not folder.is_dir():
        return None
    try:
        rows = load_from_disk(str(folder))
    except IndexError:  # what `datasets` raises for a split without rows
        return None
    return rows if len(rows) else None
