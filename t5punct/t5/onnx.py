"""The encoder in ONNX: a file beside a model's weights, which onnxruntime computes faster on a CPU than torch does.

In: a network and its folder.  Out: `encoder.onnx` or `encoder-int8.onnx` in it; or what computes the states by it.

`write_encoder(network, folder, "onnx-int8")`; then `OnnxEncoder.of(network, folder, "onnx-int8")(ids, mask)`.

In int8 each output channel of a linear layer has a scale of its own (torch's dynamic quantisation has one for all of
them), so less is lost; inputs are scaled by the largest value of a batch.  The embeddings stay in float32.  The decoder
stays in torch: slot decoding caches it in a way of its own (`decoding/cached_decoder.py`).
"""

from __future__ import annotations

import copy
import logging
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ..errors import ModelError, first_line
from ..extras import need
from ..text.formats.files import take_place
from .folder import ONNX_FILES
from .weights import weights_fingerprint

_WEIGHTS = "t5punct_weights"  # in the file: of which weights it was made


class OnnxEncoder:
    """A file, ready to be run; it can be pickled, and opens the file anew where it is unpickled."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @classmethod
    def of(cls, network: Any, folder: Path | None, precision: str) -> OnnxEncoder:
        """A folder's encoder.  Raises ModelError if there is none, or one that was made of other weights."""
        need("onnx", "onnxruntime")
        name = ONNX_FILES[precision]
        export = f"export it: t5punct export MODEL -o FOLDER --onnx {'int8' if precision.endswith('int8') else 'fp32'}"
        if folder is None or not (folder / name).is_file():
            raise ModelError(
                f"no {name} in {folder or 'a model that was not loaded'}",
                expected=f"one for precision {precision}",
                fix=export,
            )
        made = cls(folder / name)
        if made.weights != weights_fingerprint(network.encoder):
            raise ModelError(f"{name} of {folder} was made of other weights", expected="those beside it", fix=export)
        return made

    def __call__(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Token ids and mask, both (n_batch, n_source) int64 -> states (n_batch, n_source, d_model) float32."""
        inputs = {"ids": input_ids.numpy(), "mask": attention_mask.to(torch.int64).numpy()}
        return torch.from_numpy(self._session.run(None, inputs)[0])

    def __getstate__(self) -> dict[str, Any]:
        return {"_file": self._file}

    @property
    def weights(self) -> str:
        """The fingerprint of the weights that the file was made of."""
        return str(self._session.get_modelmeta().custom_metadata_map.get(_WEIGHTS, ""))

    @cached_property
    def _session(self) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        try:
            return onnxruntime.InferenceSession(str(self._file), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # a damaged file raises errors without a common base class
            raise ModelError(
                f"{self._file} cannot be loaded ({first_line(error)})", expected="an encoder in ONNX", fix="export anew"
            ) from error


class _Encoder(nn.Module):
    """An encoder that computes its mask itself: what transformers does for it, torch cannot export."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        network = copy.deepcopy(network).eval()
        for config in (network.config, network.encoder.config):
            config._attn_implementation = "eager"  # the layout of the other's results depends on the machine
        self.encoder = network.encoder

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """(n_batch, n_source), (n_batch, n_source) -> (n_batch, n_source, d_model)."""
        hidden = (1.0 - mask[:, None, None].float()) * torch.finfo(torch.float32).min
        states: torch.Tensor = self.encoder(
            input_ids=ids, attention_mask=hidden.expand(-1, 1, mask.shape[1], -1)
        ).last_hidden_state
        return states


def write_encoder(network: Any, folder: Path, precision: str) -> None:
    """Write a T5's encoder into a folder, in ONNX.  The network, in float32 on a CPU, stays as it is."""
    need("onnx")
    import onnx

    with _quietly(), tempfile.TemporaryDirectory(dir=folder) as scratch:
        file = Path(scratch) / "whole.onnx"
        _export(network, file)
        if precision.endswith("int8"):
            file = _quantised(file)
        made = onnx.load(str(file))
        onnx.helper.set_model_props(made, {_WEIGHTS: weights_fingerprint(network.encoder)})
        onnx.save(made, str(file))
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


def _quantised(file: Path) -> Path:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    made = file.with_name("int8.onnx")
    kind = QuantType.QInt8
    quantize_dynamic(str(file), str(made), op_types_to_quantize=["MatMul"], per_channel=True, weight_type=kind)
    return made


@contextmanager
def _quietly() -> Iterator[None]:
    """Silence the exporter, which tells of its steps and of what it could have used."""
    disabled = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)
