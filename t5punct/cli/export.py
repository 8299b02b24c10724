"""`t5punct export`: a training run in, the folder that ships out, and on request sent to the hub.

In: a model folder.  Out: its weights in another dtype, its tokenizer, its task with some settings changed, and a card
that says where it comes from; no other file of the training.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..config import check, load
from ..extras import need
from ..options import check_needs
from ..text.io.files import writing
from . import parameters as shared
from .parameters import place, silence_bars, typed_options
from .process import ending_in_order

if TYPE_CHECKING:
    from ..t5.task import TaskConfig


Dtype = StrEnum("Dtype", "BFLOAT16 FLOAT32 INT8")  # what the weights are written in
OnnxWeights = StrEnum("OnnxWeights", "FP32 INT8")  # what an encoder in ONNX computes in
Weights = Annotated[
    Dtype,
    typer.Option(help="How exact the weights are: float32 takes all the room, bfloat16 half of it, int8 a quarter."),
]
TaskSettings = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="KEY=VALUE",
        help="What the model does unless asked otherwise, such as default_style=talk: the settings that "
        "docs/settings.md lists under `task`.",
        show_default=False,
    ),
]


@ending_in_order()
def export(
    context: typer.Context,
    source: Annotated[str, typer.Argument(help="A model folder, such as a training run.")],
    output: Annotated[Path, place("--output", "-o", help="The folder to write.")],
    dtype: Weights = Dtype.BFLOAT16,
    task: Annotated[
        Path | None,
        typer.Option(
            show_default="as the source has them",
            help="A YAML file of what the model does unless asked otherwise: marks, their odds, style.",
        ),
    ] = None,
    onnx: Annotated[
        OnnxWeights | None,
        typer.Option(
            show_default="none is written",
            help="Also write the encoder in ONNX, for other runtimes; t5punct has no use for it.  Needs t5punct[onnx].",
        ),
    ] = None,
    push_to_hub: Annotated[
        str | None,
        typer.Option(
            show_default="nothing is sent",
            help="Also send the folder to the hub under this id, OWNER/NAME; log in with `hf auth login` first.",
        ),
    ] = None,
    private: Annotated[
        bool, typer.Option("--private", help="With --push-to-hub: a new repository that others do not see.")
    ] = False,
    licence: Annotated[
        str | None,
        typer.Option(
            "--license", show_default="not stated", help="The licence that the card states, such as apache-2.0."
        ),
    ] = None,
    overrides: TaskSettings = None,
    quiet: shared.Quiet = False,
) -> None:
    """Write a trained model into a folder that can be shared.

    A page about it, the model card, is written too.  With --push-to-hub it is sent to the hub, too.
    """
    import torch

    from ..model import find, save
    from ..model import load as load_model
    from ..t5.folder import check_push, push, whole_folder, writing_folder
    from ..t5.task import TaskConfig
    from ..training.report import CARD, may_write

    check_needs(typed_options(context), context.params)
    folder = find(source)
    # a card that a person wrote stays: that of the output, else that of the source
    own_card = next((card for card in (output / CARD, folder / CARD) if not may_write(card)), None)
    _check_output(output, folder, task, is_pushed=push_to_hub is not None)
    mistake = f"--license and the card {own_card}, which stays"
    check(licence is None or own_card is None, mistake, expected="one of them", fix="drop one")
    if onnx is not None:
        need("onnx")
    if push_to_hub is not None:
        check_push(push_to_hub)
    silence_bars()
    model = load_model(source)
    settings = load(TaskConfig, task, overrides or (), current=asdict(model.task))
    is_int8 = dtype is Dtype.INT8
    with whole_folder(output) as partial:
        rounded = None if is_int8 else getattr(torch, dtype.value)
        save(model.with_settings(settings), partial, dtype=rounded, int8=is_int8)
        if onnx is not None:
            from ..t5.onnx import write_encoder

            with writing_folder(partial):  # a full disk is an OutputError here, too
                rounded_network = load_model(partial).network  # with the weights as they were written
                write_encoder(rounded_network, partial, onnx.value)
    _write_card(own_card, folder, output, settings, push_to_hub or output.name, licence)
    typer.echo(f"{output}: exported from {source}")
    if push_to_hub is not None:
        typer.echo(f"{push(output, push_to_hub, private=private)}: pushed")


def _check_output(output: Path, source: Path, task: Path | None, *, is_pushed: bool) -> None:
    """Raise ConfigError for an output that would overwrite what is read, or files of something else than a model.

    A card and hidden files may be there already.  With `--push-to-hub` the folder must be empty, as all of it is sent.
    """
    from ..model import TASK_FILE
    from ..training.report import CARD

    for name, read, written in (("the source", source, output), ("--task", task, output / TASK_FILE)):
        is_apart = read is None or os.path.realpath(read) != os.path.realpath(written)
        mistake = f"output {written} is {name} as well"
        check(is_apart, mistake, expected="another folder", fix="choose another")
    is_file = output.exists() and not output.is_dir()
    names = {path.name for path in output.iterdir()} if output.is_dir() else set()
    others = [name for name in names if name != CARD and not name.startswith(".")]
    if is_pushed:
        may_be_replaced = not names
        expected = "a new or empty folder, as all of it is sent"
    else:
        may_be_replaced = TASK_FILE in names or not others
        expected = "a new or empty folder, or an earlier export"
    mistake = f"output {output}, which holds something else"
    check(may_be_replaced and not is_file, mistake, expected=expected, fix="choose another output")


def _write_card(
    own_card: Path | None, source: Path, output: Path, task: TaskConfig, name: str, licence: str | None
) -> None:
    """Write the card of an export: a copy of the source's, if a person wrote that, or one about the run.

    own_card: the card that a person wrote; one of the output is left as it is.  If transformers alone cannot read the
    output, the card says how it is read.
    """
    from ..t5.folder import ENCODER_T5, int8_files
    from ..t5.weights import kind_of
    from ..training.report import CARD, compose_card, iter_use_of_network

    if own_card == output / CARD:
        return
    own_form = None  # what transformers alone cannot read
    if int8_files(output):
        own_form = "weights in int8 with a scale for each row"
    elif kind_of(output) == ENCODER_T5:
        own_form = "an encoder of another kind under a T5 decoder"
    if own_card is None:
        text = compose_card(source, task, name, licence=licence, own_form=own_form)
    else:
        text = own_card.read_text(encoding="utf-8")
        if own_form and own_form not in text:
            lines = [text.rstrip(), "", "## This export", "", *iter_use_of_network(name, own_form)]
            text = "\n".join(lines).rstrip() + "\n"
    with writing(output / CARD) as handle:
        handle.write(text)
