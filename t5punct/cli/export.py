"""`t5punct export`: a training run in, the folder that ships out.

In: a model folder.  Out: its weights in another dtype, its tokenizer and its task, with some of the task's settings
changed; nothing of the training.

`t5punct export runs/mine -o my-model --task odds.yaml default_style=talk`
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .options import Overrides, silence_bars


class Dtype(StrEnum):
    """What the weights are written in."""

    BFLOAT16 = "bfloat16"
    FLOAT32 = "float32"
    INT8 = "int8"


Source = Annotated[str, typer.Argument(help="A model folder, such as a training run.")]
Output = Annotated[Path, typer.Option("--output", "-o", help="The folder to write.")]
Weights = Annotated[
    Dtype,
    typer.Option(
        help="bfloat16 halves the size; int8 makes the linear layers' weights as small again, and --precision int8 "
        "decides with them as it does with the full weights."
    ),
]
Task = Annotated[
    Path | None,
    typer.Option(
        show_default="as the source has them", help="A YAML file of the task's settings: odds of marks, style, .."
    ),
]


def export(
    source: Source, output: Output, dtype: Weights = Dtype.BFLOAT16, task: Task = None, overrides: Overrides = None
) -> None:
    """Write a trained model as it is to be shared."""
    import torch

    from ..config import as_yaml, load
    from ..decoding.precision import int8_weights
    from ..errors import ConfigError
    from ..model import load as load_model
    from ..model import save
    from ..t5.task import TaskConfig

    if output.resolve() == Path(source).resolve():
        raise ConfigError(f"output {output} is the source as well", expected="another folder", fix="choose another")
    silence_bars()
    model = load_model(source)
    settings = load(TaskConfig, task, overrides or (), base=as_yaml(model.task))
    made = model.with_settings(settings)
    if dtype is Dtype.INT8:
        save(made, output, int8=int8_weights(made))
    else:
        save(made, output, dtype=getattr(torch, dtype.value))
    typer.echo(f"{output}: exported from {source}")
