"""Weights in int8 on disk, and read back.

In: a T5, or a folder with `model-int8.safetensors`.  Out: that file, or a T5 in float32.

A layer `...SelfAttention.q` has two tensors there: `...q.weight` (int8), and `...q.weight.scale`, a scale for each row,
its largest value / 127.  Their product is the weight in float32: wrong by 0.4 % of a row's largest value at most.  All
large matrices are stored so, the embeddings too.  Large models come in shards, `model-int8-00001-of-00003.safetensors`.

Models that ship beside each other may have weights in common.  One of them holds these; `shared-weights.json` of the
other names them: {"../large/model-int8-00001-of-00003.safetensors": ["shared.weight", ..]} (recipes/share_weights.py).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from ..config import check
from ..errors import ModelError
from .folder import INT8_FILE, SHARED_FILE, int8_files

_LARGEST = 127  # of int8, so that -127 is as far from 0
_LEAST_ROWS = 64  # what has fewer rows or columns is small, such as position biases
_SHARD_BYTES = 45_000_000  # hosts of repositories warn of files of 50 MB
_SCALE = ".scale"
# mean distances from the next step below which weights are taken for those of a model in int8 that has learned since;
# of other weights it is 0.25
_NEAR_STEPS = 0.22
_ON_STEP = 1e-3  # a weight that has not changed, and was rounded to float32
_ROW_CHANCE, _COLUMN_CHANCE = 0.7548776662, 0.5698402910  # of points that fill a square evenly (Roberts 2018)


@dataclass(frozen=True, slots=True)
class Int8Rows:
    """A matrix as integers, int8 (n_rows, n_columns), and the scale of each row, float32 (n_rows, 1)."""

    integers: torch.Tensor
    scales: torch.Tensor

    @classmethod
    def of(cls, weight: torch.Tensor, largest: torch.Tensor | None = None) -> Int8Rows:
        """Round a matrix; 127 is each row's largest value, or what `largest` gives for it, (n_rows, 1).

        A model that begins with weights in int8 and learns for a short time changes most of them by less than half a
        step.  Rounding to the nearest step would undo that.  So weights that lie near the steps are rounded up or down
        by chance, up the more often the farther up they lie, which keeps a change in the mean (stochastic rounding,
        Gupta 2015).  The chance is the same every time.
        """
        weight = weight.float()
        largest = weight.abs().amax(1, keepdim=True) if largest is None else largest
        scales = largest.clamp(min=torch.finfo(torch.float32).tiny) / _LARGEST
        steps = weight / scales
        nearest = steps.round()
        distances = (steps - nearest).abs()
        if min(weight.shape) >= _LEAST_ROWS and distances.mean() < _NEAR_STEPS:
            n_rows, n_columns = weight.shape
            chances = (torch.arange(n_rows)[:, None] * _ROW_CHANCE + torch.arange(n_columns) * _COLUMN_CHANCE) % 1
            nearest = torch.where(distances < _ON_STEP, nearest, (steps + chances.to(steps)).floor())
        return cls(nearest.clamp(-_LARGEST, _LARGEST).to(torch.int8), scales)

    def float(self) -> torch.Tensor:
        """Return the matrix in float32."""
        return self.integers.float() * self.scales


def write_int8(network: Any, folder: Path) -> None:
    """Write a network: its large matrices in int8, all else in bfloat16 where that loses nothing, else in float32."""
    tensors: dict[str, torch.Tensor] = {}
    written = set[int]()
    for name, weight in network.state_dict().items():
        if weight.data_ptr() in written:  # tied embeddings are one tensor of several names
            continue
        written.add(weight.data_ptr())
        if weight.ndim == 2 and min(weight.shape) >= _LEAST_ROWS:
            rows = Int8Rows.of(weight)
            tensors[name], tensors[name + _SCALE] = rows.integers, rows.scales
        else:
            short = weight.to(torch.bfloat16)
            is_lossless = torch.equal(short.to(weight.dtype), weight)
            tensors[name] = (short if is_lossless else weight).contiguous()
    network.config.save_pretrained(str(folder))
    network.generation_config.save_pretrained(str(folder))
    shards = list[dict[str, torch.Tensor]]()
    room = 0
    for name, tensor in tensors.items():
        if not shards or tensor.nbytes > room:
            shards.append({})
            room = _SHARD_BYTES
        shards[-1][name] = tensor
        room -= tensor.nbytes
    for number, shard in enumerate(shards, start=1):
        ending = f"-{number:05d}-of-{len(shards):05d}" if len(shards) > 1 else ""
        name = INT8_FILE.replace(".safetensors", f"{ending}.safetensors")
        save_file(shard, folder / name, metadata={"format": "pt"})


def read_int8(folder: Path, settings: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return transformers' network in float32, and the names of weights that were missing, unexpected or misshapen.

    settings: others of transformers' `from_pretrained`.
    """
    from transformers import MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING, AutoConfig, GenerationConfig

    config = AutoConfig.from_pretrained(str(folder), trust_remote_code=False)
    weights = {name: weight.float() for name, weight in read_stored(folder).items()}
    model_class = MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING[type(config)]
    settings = {**settings, "config": config, "state_dict": weights, "output_loading_info": True}
    network, info = model_class.from_pretrained(None, **settings)
    network.generation_config = GenerationConfig.from_pretrained(str(folder))  # without a folder it is not read
    return network, info


def read_stored(folder: Path) -> dict[str, torch.Tensor | Int8Rows]:
    """Return the weights of all shards by their names, as they are on disk, with those that another folder holds.

    Raises ModelError if a file is missing, or there are two sets of them.
    """
    files = int8_files(folder)
    counts = {file.stem.rpartition("-of-")[2] if "-of-" in file.stem else "1" for file in files}
    if len(counts) != 1 or int(counts.pop()) != len(files):
        names = ", ".join(file.name for file in files)
        raise ModelError(f"an incomplete set of weights ({names})", expected="all shards", fix="copy the folder again")
    tensors = {name: tensor for file in files for name, tensor in load_file(file).items()}
    index = folder / SHARED_FILE  # what another model's folder holds for this one
    shared = json.loads(index.read_text(encoding="utf-8")) if index.is_file() else {}
    for place, names in shared.items():
        file = folder / place
        check(
            file.is_file(), f"{folder}, which shares weights with {file.parent.name}, without {file}",
            expected="both folders beside each other", kind=ModelError,
            fix=f"copy both, or write one that is whole by `t5punct export {folder.name} -o FOLDER --dtype int8`",
        )  # fmt: skip
        with safe_open(file, framework="pt") as stored:
            tensors |= {name: stored.get_tensor(name) for name in names}
    scaled = [name for name in tensors if name + _SCALE in tensors]  # a parameter may be called scale too
    scales = {name: tensors.pop(name + _SCALE) for name in scaled}
    return {name: Int8Rows(tensor, scales[name]) if name in scales else tensor for name, tensor in tensors.items()}
