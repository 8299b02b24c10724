"""`t5punct warmstart`: a pre-trained BERT in, a model folder to train from out.

In: a folder or hub id of a BERT, and text.  Out: a folder whose encoder is that BERT's, with one fresh decoder layer.

`t5punct warmstart bert-base-uncased -o runs/warm --text talks.txt`, then `train.py ... init_from=runs/warm`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import place, silence_bars
from .process import ending_in_order

Source = Annotated[str, typer.Argument(help="A BERT or MiniLM: a folder, or a hub id.")]
Output = Annotated[Path, place("--output", "-o", help="The model folder to make.")]
Text = Annotated[str, typer.Option(help="Running text, one document a line, to take the states' scales on.")]
Layers = Annotated[
    int | None, typer.Option(min=1, show_default="all", help="Keep only so many of its layers, the first ones.")
]
DecoderLayers = Annotated[int, typer.Option(min=1, help="Fresh decoder layers; one is fastest.")]
Config = Annotated[
    Path | None,
    typer.Option(
        show_default="the bundled models' marks and styles", help="A YAML file of the task: marks, styles and so on."
    ),
]


@ending_in_order()
def warmstart(
    source: Source,
    output: Output,
    text: Text,
    layers: Layers = None,
    decoder_layers: DecoderLayers = 1,
    task: Config = None,
) -> None:
    """Turn a pre-trained BERT into a T5 whose encoder has read; train it next."""
    from ..config import as_yaml, load
    from ..errors import ConfigError
    from ..model import save
    from ..t5.folder import whole_folder
    from ..t5.task import ENCODER_TASK, TaskConfig
    from ..warmstart.warmstart import WarmStartConfig, warm_start

    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise ConfigError(f"output {output} is there already", expected="a new folder", fix="choose another output")
    silence_bars()
    config = WarmStartConfig(source, text, layers=layers, decoder_layers=decoder_layers)
    with whole_folder(output) as partial:
        save(warm_start(config, load(TaskConfig, task, current=as_yaml(ENCODER_TASK))), partial)
    typer.echo(f"{output}: made from {source}")
