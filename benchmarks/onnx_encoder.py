"""Encoder and tagger in torch and in ONNX, on one processor thread: what an export to ONNX would be worth.

`python benchmarks/onnx_encoder.py --repeats 5` after `pip install onnx onnxruntime onnxscript`; prints a table.

Times are processor times, since others may share the machine; the variants take turns.  Batches are random tokens:
windows of 64 words have about 85.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnxruntime
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic

from t5punct import model as models
from t5punct.decoding.precision import with_precision

SHAPES = ((24, 85), (4, 80), (1, 20))  # windows, tokens of each
Run = Callable[[torch.Tensor, torch.Tensor], Any]


class EncoderTagger(torch.nn.Module):
    """Tokens in, logits of marks and case out."""

    def __init__(self, model: models.Model) -> None:
        super().__init__()
        self.encoder, self.tagger = model.network.get_encoder(), model.tagger

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> Any:
        return self.tagger(self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default=None)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    model = models.load(options.model)
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
        runs = variants(model, Path(folder))
        print(f"| windows x tokens | {' | '.join(runs)} |\n| --- {'| --- ' * len(runs)}|")
        for shape in SHAPES:
            milliseconds = measured(runs, *shape, model.network.config.vocab_size, options.repeats)
            base = milliseconds["torch fp32"]
            cells = (f"{found:.1f} ms, {base / found:.2f}x" for found in milliseconds.values())
            print(f"| {shape[0]} x {shape[1]} | {' | '.join(cells)} |", flush=True)


def variants(model: models.Model, folder: Path) -> dict[str, Run]:
    """The same network in torch's precisions and in ONNX."""
    whole, short = folder / "tagger.onnx", folder / "tagger-int8.onnx"
    network = EncoderTagger(model).eval()
    axes = {"ids": {0: "windows", 1: "tokens"}, "mask": {0: "windows", 1: "tokens"}}
    example = torch.randint(200, 400, (3, 17)), torch.ones(3, 17, dtype=torch.long)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the older exporter: torch 2.13's newer one cannot decompose the graph
        torch.onnx.export(
            network, example, str(whole), input_names=["ids", "mask"], dynamic_axes=axes, opset_version=17, dynamo=False
        )
    quantize_dynamic(str(whole), str(short), weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul"])
    found: dict[str, Run] = {"torch fp32": network}
    for name in ("bf16", "int8"):
        found[f"torch {name}"] = EncoderTagger(with_precision(model, name)).eval()
    return found | {"onnx fp32": session(whole), "onnx int8": session(short)}


def session(file: Path) -> Run:
    """A file, ready to run in onnxruntime on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    ready = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    return lambda ids, mask: ready.run(None, {"ids": ids.numpy(), "mask": mask.numpy()})


def measured(runs: dict[str, Run], n_windows: int, n_tokens: int, n_pieces: int, repeats: int) -> dict[str, float]:
    """The median processor time of each, in milliseconds."""
    ids = torch.randint(200, n_pieces - 10, (n_windows, n_tokens), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    times: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(repeats + 1):
        for name, run in runs.items():
            began = time.process_time()
            run(ids, mask)
            if turn:  # the first is to warm up
                times[name].append(1000 * (time.process_time() - began))
    return {name: statistics.median(found) for name, found in times.items()}


if __name__ == "__main__":
    main()
