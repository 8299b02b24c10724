"""A small model that learns a made-up language: prepared with its own vocabulary, trained from random weights."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from from_scratch import Shape
from from_scratch import main as make_start

from t5punct.training.config import DataConfig, LossConfig, OptimConfig, TrainConfig, ValidationConfig
from t5punct.training.data.chunks import ChunkConfig
from t5punct.training.data.corpora import CorpusConfig
from t5punct.training.data.prepare import PrepareConfig, prepare
from t5punct.training.loop.train import train
from t5punct.windows.plan import WindowConfig

PLAN = WindowConfig(window=16, mask_left=2, mask_right=2)  # as the chunks that are learned from
SHAPE = Shape(d_model=64, d_kv=16, num_heads=4, d_ff=128, num_layers=2, num_decoder_layers=1)


def learn(
    folder: Path,
    texts: dict[str, str],
    *,
    n_pieces: int,
    max_steps: int,
    pause_ms: int | None = None,
    loss: LossConfig | None = None,
    **data: Any,
) -> Path:
    """Return the run that learned some texts, written into the folder by their names; `data`: of its `DataConfig`."""
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    prepared = str(folder / "prepared")
    prepare(
        PrepareConfig(
            prepared, str(folder), [CorpusConfig(name) for name in texts], ChunkConfig(4, 16), pause_ms=pause_ms,
        )
    )  # fmt: skip
    shape = [f"{name}={value}" for name, value in asdict(SHAPE).items()]
    make_start([prepared, str(folder / "start"), "--pieces", str(n_pieces), *shape])
    # from random weights, what stands outside of the matrices between states has to learn faster
    factors = dict.fromkeys(("shared", "layer_norm", "attention_bias"), 5.0)
    optim = OptimConfig(lr=2e-3, factors=factors, warmup_steps=20, max_steps=max_steps)
    return train(
        TrainConfig(
            output=str(folder / "run"), init_from=str(folder / "start"),
            data=DataConfig(prepared, **data), optim=optim, loss=loss or LossConfig(),
            validation=ValidationConfig(every_steps=0), checkpoint_every_steps=0,
        )
    )  # fmt: skip
