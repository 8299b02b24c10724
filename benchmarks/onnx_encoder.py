"""Encoder and tagger in every precision, torch's and ONNX's, on one processor thread.

`python benchmarks/onnx_encoder.py --repeats 5` with `t5punct[onnx]`; prints a table.

Times are processor times, since others may share the machine; the precisions take turns.  Batches are random tokens:
windows of 64 words have about 85.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import torch

from t5punct import model as models
from t5punct.decoding.precision import with_precision
from t5punct.model import Model
from t5punct.t5.folder import ONNX_FILES
from t5punct.t5.onnx import write_encoder

SHAPES = ((24, 85), (4, 80), (1, 20))  # windows, tokens of each


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default=None)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
        made = in_every_precision(models.load(options.model), Path(folder))
        print(f"| windows x tokens | {' | '.join(made)} |\n| --- {'| --- ' * len(made)}|")
        for shape in SHAPES:
            milliseconds = measured(made, *shape, options.repeats)
            base = milliseconds["fp32"]
            cells = (f"{found:.1f} ms, {base / found:.2f}x" for found in milliseconds.values())
            print(f"| {shape[0]} x {shape[1]} | {' | '.join(cells)} |", flush=True)


def in_every_precision(model: Model, folder: Path) -> dict[str, Model]:
    models.save(model, folder)
    for precision in ONNX_FILES:
        write_encoder(model.network, folder, precision)
    saved = models.load(folder)
    return {name: with_precision(saved, name) for name in ("fp32", "bf16", "int8", *ONNX_FILES)}


def measured(made: dict[str, Model], n_windows: int, n_tokens: int, repeats: int) -> dict[str, float]:
    """The median processor time of each, in milliseconds."""
    n_pieces = made["fp32"].network.config.vocab_size
    ids = torch.randint(200, n_pieces - 10, (n_windows, n_tokens), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    times: dict[str, list[float]] = {name: [] for name in made}
    for turn in range(repeats + 1):
        for name, model in made.items():
            began = time.process_time()
            states = model.encode(ids, mask)
            if model.tagger is not None:
                model.tagger(states)
            if turn:  # the first is to warm up
                times[name].append(1000 * (time.process_time() - began))
    return {name: statistics.median(found) for name, found in times.items()}


if __name__ == "__main__":
    main()
