"""Models: load, save, make anew, and the one that ships inside the package.

In: a folder, a hub id, or nothing (the bundled model).  Out: a `Model`, a T5 with its tokenizer and task.

`load()` gives the bundled model; `load("runs/mine")` a folder; `load("t5-small")` asks the hub, because a hub id was
named.  Weights are read from safetensors only.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import config as settings
from .errors import ModelError
from .tokenization import TaskConfig, TaskTokenizer

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

TASK_FILE = "t5punct.yaml"
BUNDLED = "base"


@dataclass(frozen=True)
class FreshModelConfig:
    """The shape of a T5 that starts from random weights."""

    d_model: int = 256
    d_kv: int = 32
    num_heads: int = 8
    d_ff: int = 1024
    num_layers: int = 6
    num_decoder_layers: int = 2
    dropout_rate: float = 0.0  # one pass over the data: nothing is seen twice
    feed_forward_proj: str = "relu"


@dataclass(frozen=True)
class Model:
    """A T5 and the text form that it was trained with."""

    network: PreTrainedModel
    tokenizer: TaskTokenizer
    name: str

    @property
    def task(self) -> TaskConfig:
        return self.tokenizer.task

    @property
    def device(self) -> torch.device:
        device: torch.device = self.network.device
        return device

    @property
    def start_id(self) -> int:
        """The token that opens every decoder input."""
        return int(self.network.config.decoder_start_token_id)


def bundled_folder(name: str = BUNDLED) -> Path:
    """The folder of a model that ships with the package.  Raises ModelError if there is none of that name."""
    folder = Path(str(resources.files("t5punct"))) / "models" / name
    if not folder.is_dir():
        raise ModelError(f"no bundled model {name!r}", expected=BUNDLED, fix="name a model folder instead")
    return folder


def load(source: str | Path | None = None, *, task: TaskConfig | None = None) -> Model:
    """Load a model for inference, in float32 on the CPU.

    Raises ModelError if the folder holds no usable T5.  `task` replaces the text form that the folder's
    `t5punct.yaml` states; a folder without one (any T5) has the default form.
    """
    name = str(source) if source is not None else BUNDLED
    source = source if source is not None else bundled_folder()
    path = Path(source)
    if path.is_dir() and not (path / "config.json").is_file():
        raise ModelError(f"{path} holds no config.json", expected="a T5 folder", fix="check --model")
    if not path.is_dir() and (path.is_absolute() or str(source).count("/") > 1 or path.exists()):
        raise ModelError(f"no model folder {path}", expected="a T5 folder or hub id", fix="check --model")
    tokenizer = load_tokenizer(source, task or _read_task(path))
    return Model(_load_network(source).eval(), tokenizer, name)


def load_tokenizer(source: str | Path, task: TaskConfig) -> TaskTokenizer:
    """The tokenizer of a folder or hub id, seen through a task."""
    from transformers import AutoTokenizer

    try:
        return TaskTokenizer(AutoTokenizer.from_pretrained(str(source)), task)
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(
            f"no tokenizer in {source} ({_first_line(error)})", expected="a T5 folder or hub id", fix="check the name"
        ) from error


def fresh(shape: FreshModelConfig, tokenizer: TaskTokenizer) -> Model:
    """A T5 with random weights; seed torch first for the same weights twice."""
    from dataclasses import asdict

    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(
        **asdict(shape),
        vocab_size=len(tokenizer.tokenizer),
        decoder_start_token_id=tokenizer.pad_id,
        pad_token_id=tokenizer.pad_id,
        eos_token_id=tokenizer.eos_id,
    )
    return Model(T5ForConditionalGeneration(config), tokenizer, "fresh")


def save(model: Model, folder: str | Path, *, dtype: torch.dtype | None = None) -> None:
    """Write weights (safetensors), tokenizer and task; `dtype` converts the weights on the way."""
    from . import __version__

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    network: Any = model.network
    network.save_pretrained(str(folder), state_dict=_converted(network.state_dict(), dtype))
    if dtype is not None:
        _record_dtype(folder, str(dtype).removeprefix("torch."))
    model.tokenizer.tokenizer.save_pretrained(str(folder))
    settings.save(model.task, folder / TASK_FILE)
    (folder / "t5punct-version.txt").write_text(__version__ + "\n", encoding="utf-8")


def _converted(state: dict[str, torch.Tensor], dtype: torch.dtype | None) -> dict[str, torch.Tensor]:
    """The weights in another dtype; those that share memory go on sharing it, and are written once."""
    if dtype is None:
        return state
    distinct = {tensor.data_ptr(): tensor.to(dtype) for tensor in state.values()}
    return {name: distinct[tensor.data_ptr()] for name, tensor in state.items()}


def _record_dtype(folder: Path, dtype: str) -> None:
    path = folder / "config.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    values["dtype"] = dtype
    path.write_text(json.dumps(values, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _read_task(folder: Path) -> TaskConfig:
    path = folder / TASK_FILE
    return settings.load(TaskConfig, path) if path.is_file() else TaskConfig()


def _load_network(source: str | Path) -> Any:
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForSeq2SeqLM

    try:
        return AutoModelForSeq2SeqLM.from_pretrained(str(source), use_safetensors=True, dtype=torch.float32)
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise ModelError(
            f"{source} cannot be loaded ({_first_line(error)})",
            expected="a T5 with model.safetensors",
            fix="check --model",
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
