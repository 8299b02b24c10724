"""`t5punct export`: a training run in, the folder that ships out, and on request sent to the hub.

In: a model folder.  Out: its weights in another dtype, its tokenizer, its task with some settings changed, and a card
that tells where it comes from; nothing else of the training.

`t5punct export runs/mine -o my-model --onnx int8 --task odds.yaml default_style=talk`
"""

from __future__ import annotations

import os
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..config import load
from ..errors import ConfigError
from ..extras import need
from ..options import check_needs
from ..text.io.files import writing
from . import parameters as shared
from .parameters import place, silence_bars, typed_options
from .process import ending_in_order

if TYPE_CHECKING:
    from ..model import Model
    from ..t5.task import TaskConfig


class Dtype(StrEnum):
    """What the weights are written in."""

    BFLOAT16 = "bfloat16"
    FLOAT32 = "float32"
    INT8 = "int8"


class OnnxWeights(StrEnum):
    """What an encoder in ONNX computes in."""

    FP32 = "fp32"
    INT8 = "int8"


Source = Annotated[str, typer.Argument(help="A model folder, such as a training run.")]
Output = Annotated[Path, place("--output", "-o", help="The folder to write.")]
Weights = Annotated[
    Dtype,
    typer.Option(
        help="bfloat16 halves the size, int8 halves it again: matrices are rounded, each row with a scale of its own."
    ),
]
Task = Annotated[
    Path | None,
    typer.Option(
        show_default="as the source has them", help="A YAML file of the task's settings: odds of marks, style, .."
    ),
]
Onnx = Annotated[
    OnnxWeights | None,
    typer.Option(
        show_default="none is written",
        help="Also write the encoder in ONNX, for other runtimes; t5punct has no use for it.  Needs t5punct[onnx].",
    ),
]
Push = Annotated[
    str | None,
    typer.Option(
        show_default="nothing is sent",
        help="Also send the folder to the hub under this id, OWNER/NAME; log in with `hf auth login` first.",
    ),
]
Private = Annotated[
    bool, typer.Option("--private", help="With --push-to-hub: a new repository that others do not see.")
]
Licence = Annotated[
    str | None,
    typer.Option("--license", show_default="not stated", help="The licence that the card states, such as apache-2.0."),
]


@ending_in_order()
def export(
    context: typer.Context,
    source: Source,
    output: Output,
    dtype: Weights = Dtype.BFLOAT16,
    task: Task = None,
    onnx: Onnx = None,
    push_to_hub: Push = None,
    private: Private = False,
    licence: Licence = None,
    overrides: shared.Overrides = None,
    quiet: shared.Quiet = False,
) -> None:
    """Write a trained model as it is shared, with a card.

    With --push-to-hub it is sent to the hub, too.
    """
    from ..model import find
    from ..model import load as load_model
    from ..t5.folder import whole_folder
    from ..t5.hub import check_push, push
    from ..t5.task import TaskConfig

    check_needs(typed_options(context), context.params)
    folder = find(source)
    _check_apart(output, folder, task)
    if licence is not None and (kept := _kept_card(folder, output)):
        raise ConfigError(f"--license and the card {kept}, which stays", expected="one of them", fix="drop one")
    if onnx is not None:
        need("onnx")
    if push_to_hub is not None:
        check_push(push_to_hub)
        _check_empty(output)
    _check_output(output)
    silence_bars()
    model = load_model(source)
    settings = load(TaskConfig, task, overrides or (), current=asdict(model.task))
    with whole_folder(output) as partial:
        _write(model.with_settings(settings), partial, dtype)
        if onnx is not None:
            _write_onnx(partial, onnx.value)
    _write_card(folder, output, settings, push_to_hub or output.name, licence, own_form=_own_form(output))
    typer.echo(f"{output}: exported from {source}")
    if push_to_hub is not None:
        typer.echo(f"{push(output, push_to_hub, private=private)}: pushed")


def _check_apart(output: Path, source: Path, task: Path | None) -> None:
    """Refuse an output folder whose files would take the place of what is read."""
    from ..model import TASK_FILE

    read = {"the source": (source, output), "--task": (task, output / TASK_FILE)}
    for name, (source_path, written) in read.items():
        if source_path is not None and os.path.realpath(source_path) == os.path.realpath(written):
            raise ConfigError(f"output {written} is {name} as well", expected="another folder", fix="choose another")


def _check_output(output: Path) -> None:
    """Refuse a folder that holds other things than a model: its files might be replaced.  A card may be there."""
    from ..model import TASK_FILE
    from ..training.report import CARD

    if output.exists() and not output.is_dir():
        raise ConfigError(f"output {output}, which is a file", expected="a folder", fix="choose another output")
    names = {path.name for path in output.iterdir() if not path.name.startswith(".")} if output.is_dir() else set()
    if names - {CARD} and TASK_FILE not in names:
        raise ConfigError(
            f"output {output}, which holds files and no model",
            expected="a new or empty folder, or an earlier export",
            fix="choose another output",
        )


def _check_empty(output: Path) -> None:
    """Refuse to send a folder with files that nobody meant to send."""
    if output.is_dir() and any(output.iterdir()):
        raise ConfigError(
            f"output {output} holds files, and all of it would be sent",
            expected="a new or empty folder with --push-to-hub",
            fix="choose another output",
        )


def _write(model: Model, output: Path, dtype: Dtype) -> None:
    import torch

    from ..model import save

    if dtype is Dtype.INT8:
        save(model, output, int8=True)
    else:
        save(model, output, dtype=getattr(torch, dtype.value))


def _own_form(output: Path) -> str | None:
    """What transformers alone cannot read of a written model, in words."""
    from ..t5.folder import ENCODER_T5, int8_files
    from ..t5.weights import kind_of

    if int8_files(output):
        return "weights in int8 with a scale for each row"
    return "an encoder of another kind under a T5 decoder" if kind_of(output) == ENCODER_T5 else None


def _write_onnx(output: Path, precision: str) -> None:
    """Write the encoder of the folder's own weights, which may have been rounded on the way."""
    from ..model import load
    from ..t5.folder import writing_folder
    from ..t5.onnx import write_encoder

    with writing_folder(output):
        write_encoder(load(output).network, output, precision)


def _write_card(
    source: Path,
    output: Path,
    task: TaskConfig,
    name: str,
    licence: str | None,
    *,
    own_form: str | None,
) -> None:
    """The source's own card, or one about the run; a person's card that is there already is kept.

    `own_form`: what transformers cannot read of the output.  Where the source's differs, its card has a note.
    """
    from ..training.report import CARD, compose_card, iter_use_of_network

    kept = _kept_card(source, output)
    if kept == output / CARD:
        return
    text = kept.read_text(encoding="utf-8") if kept else None
    if text and own_form != _own_form(source):
        use = iter_use_of_network(name, own_form) if own_form else ["transformers reads this folder by itself."]
        note = "What is said above of the form of the weights is true of the model that was exported."
        text = "\n".join([text.rstrip(), "", "## This export", "", note, *use]).rstrip() + "\n"
    with writing(output / CARD) as handle:
        handle.write(text or compose_card(source, task, name, licence=licence, own_form=own_form))


def _kept_card(source: Path, output: Path) -> Path | None:
    """The card that a person wrote and that stays: that of the output, else that of the source."""
    from ..training.report import CARD, may_write

    return next((card for card in (output / CARD, source / CARD) if not may_write(card)), None)
