"""A T5's weights, read from a folder and checked; their dtype when they are written.

In: a folder.  Out: a network whose weights fit its config and are finite.  Weights are read from safetensors only:
`model.safetensors`, or those of int8 (see `int8`).
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ModelError, first_line
from .folder import ENCODER_T5, int8_files

if TYPE_CHECKING:
    import torch
    from torch import nn

# transformers changes its own classes while it loads a model, which two threads must not do at once
LOADING_LOCK = threading.RLock()
_EXPECTED = "a T5 with model.safetensors"
KINDS = ("t5", "mt5", "umt5", ENCODER_T5)  # as config.json names them; v1.1, flan and byT5 are of the first


def kind_of(folder: Path) -> str:
    """Return the kind of model that a folder holds: its config's `model_type`.

    Raises ModelError if there is none: transformers would look for code to run in the folder.
    """
    try:
        return str(json.loads((folder / "config.json").read_text(encoding="utf-8"))["model_type"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        mistake = f"{folder}/config.json without a model_type"
        raise ModelError(mistake, expected="the config of a T5", fix="copy the folder again") from error


def load_network(folder: Path) -> Any:
    """Return the folder's T5 in float32, whatever the dtype of its files.

    Raises ModelError if weights are missing, do not fit the config or are not finite.
    """
    import torch
    from transformers import AutoModelForSeq2SeqLM

    from . import encoder_t5  # noqa: F401  (transformers learns of its kind)
    from .int8 import read_int8

    # weights of other sizes are in `info`, by name
    settings: dict[str, Any] = {"dtype": torch.float32, "ignore_mismatched_sizes": True}
    try:
        with LOADING_LOCK, quiet_transformers():
            if int8_files(folder):
                network, info = read_int8(folder, settings)
            else:
                settings |= {"trust_remote_code": False, "use_safetensors": True, "output_loading_info": True}
                network, info = AutoModelForSeq2SeqLM.from_pretrained(str(folder), **settings)
    except Exception as error:  # a damaged file raises errors without a common base class
        mistake = f"{folder} cannot be loaded ({first_line(error)})"
        raise ModelError(mistake, expected=_EXPECTED, fix="check the name") from error
    _undo_output_scale(network, folder)  # of a umT5 as it was published
    wrong = [*info["missing_keys"], *(name for name, *_ in info["mismatched_keys"])]
    wrong += [name for name in info["unexpected_keys"] if ".layer." in name]  # the config has fewer layers
    if wrong:
        mistake = f"the weights of {folder} do not fit its config.json ({len(wrong)} of them, such as {min(wrong)})"
        raise ModelError(mistake, expected=_EXPECTED, fix="copy the folder again")
    broken = broken_weights(network)
    if broken:
        mistake = f"weights of {folder} that are not finite ({len(broken)} of them, such as {min(broken)})"
        raise ModelError(mistake, expected="finite weights", fix="take an earlier checkpoint")
    return network


def convert_weights(state: dict[str, torch.Tensor], dtype: torch.dtype | None) -> dict[str, torch.Tensor]:
    """Return the weights in another dtype; tied weights stay tied, so that they are written once."""
    if dtype is None:
        return state
    distinct = {tensor.data_ptr(): tensor.to(dtype) for tensor in state.values()}
    return {name: distinct[tensor.data_ptr()] for name, tensor in state.items()}


def weights_fingerprint(*modules: nn.Module) -> str:
    """Return a hash of the weights of some modules."""
    digest = hashlib.sha256()
    for module in modules:
        for name, weight in sorted(module.state_dict().items()):
            digest.update(name.encode())
            digest.update(weight.detach().float().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


def broken_weights(network: nn.Module) -> list[str]:
    """Return the names of the weights that hold NaN or infinity."""
    # one such value makes the sum NaN or infinite; a sum needs less memory than a test of each value
    return [name for name, weight in network.named_parameters() if not weight.detach().float().sum().isfinite()]


def _undo_output_scale(network: Any, folder: Path) -> None:
    """Multiply the output layer of a umT5 by the inverse of a scale that transformers 5 wrongly applies to its result.

    Published umT5s are not tied, as their config.json says, but transformers 5 reads them as tied.
    """
    published = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("tie_word_embeddings")
    is_tied = network.lm_head.weight is network.shared.weight
    is_scaled = network.config.model_type == "umt5" and network.config.tie_word_embeddings
    if is_scaled and published is False and not is_tied:
        network.lm_head.weight.data.mul_(network.config.d_model**0.5)


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Switch off transformers' progress bars and warnings: what counts is in the loading info that it returns."""
    from transformers.utils import logging

    level = logging.get_verbosity()
    had_bars = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if had_bars:
            logging.enable_progress_bar()
