"""The encoder in ONNX, for other runtimes; t5punct itself has no use for it (see `int8_linear`).

In: a network and a folder.  Out: `encoder.onnx` or `encoder-int8.onnx` in it: a graph from `ids` and `mask`, both int64
(windows, tokens), to `states`, float32 (windows, tokens, d_model).  In int8 each output channel of a linear layer has a
scale of its own, and inputs are scaled by the largest value of a batch.
"""

from __future__ import annotations

import copy
import logging
import tempfile
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ..extras import need
from ..text.io.files import take_place
from .folder import ONNX_FILES


class _Encoder(nn.Module):
    """An encoder that computes its mask itself: what transformers does for it, torch cannot export."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        network = copy.deepcopy(network).eval()
        for config in (network.config, network.encoder.config):
            # not `sdpa`: the memory layout of its results differs between machines, and an export fixes one
            config._attn_implementation = "eager"
        self.encoder = network.encoder

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        hidden = (1.0 - mask[:, None, None].float()) * torch.finfo(torch.float32).min
        mask_of_queries = hidden.expand(-1, 1, mask.shape[1], -1)
        return self.encoder(input_ids=ids, attention_mask=mask_of_queries).last_hidden_state


def write_encoder(network: Any, folder: Path, precision: str) -> None:
    """Write a T5's encoder into a folder, in ONNX.  The network, in float32 on a CPU, stays as it is."""
    need("onnx")
    disabled = logging.root.manager.disable
    with warnings.catch_warnings(), tempfile.TemporaryDirectory(dir=folder) as scratch:
        warnings.simplefilter("ignore")  # the exporter tells of its steps, and of what it could have used
        logging.disable(logging.WARNING)
        try:
            file = Path(scratch) / "whole.onnx"
            _export(network, file)
            if precision == "int8":
                from onnxruntime.quantization import QuantType, quantize_dynamic

                whole, file = file, file.with_name("int8.onnx")
                layers, kind = ["MatMul"], QuantType.QInt8
                quantize_dynamic(str(whole), str(file), op_types_to_quantize=layers, per_channel=True, weight_type=kind)
        finally:
            logging.disable(disabled)
        take_place(file, folder / ONNX_FILES[precision])


def _export(network: Any, file: Path) -> None:
    ids = torch.ones(2, 7, dtype=torch.long)
    axes = {0: torch.export.Dim("windows"), 1: torch.export.Dim("tokens")}
    with torch.no_grad():
        torch.onnx.export(
            _Encoder(network),
            (ids, torch.ones_like(ids)),
            str(file),
            input_names=["ids", "mask"],
            output_names=["states"],
            dynamic_shapes={"ids": axes, "mask": axes},
            dynamo=True,
            external_data=False,
            verbose=False,
        )
