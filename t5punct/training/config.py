"""The settings of a training run.

In: YAML and dotted overrides.  Out: a `TrainConfig`, saved beside every checkpoint.

`python train.py --config configs/train-short.yaml optim.lr=5e-4` changes one of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..errors import ConfigError
from ..model import FreshModelConfig
from ..tokenization import TaskConfig


@dataclass(frozen=True)
class CopyConfig:
    """The copying warm-up: random token sequences to be written as they are read."""

    steps: int = 0  # 0 trains on data.path instead
    n_ids: int = 1000
    min_tokens: int = 6
    max_tokens: int = 24


@dataclass(frozen=True)
class DataConfig:
    """What to train on, and how much at a time."""

    path: str = ""  # a folder made by `t5punct prepare`
    batch_tokens: int = 3072  # source tokens of one batch on one process, padding included
    workers: int = 0
    copying: CopyConfig = field(default_factory=CopyConfig)


@dataclass(frozen=True)
class OptimConfig:
    """The optimiser and its schedule."""

    name: str = "adamw"  # or `muon`, for training from random weights
    lr: float = 1e-3
    embedding_lr: float | None = None  # `muon`: the rate of embeddings and other outer parameters
    schedule: str = "linear"  # a name of transformers' get_scheduler: linear, cosine, constant_with_warmup ...
    warmup_steps: int = 200
    max_steps: int = 0  # 0: as many as `epochs` need
    epochs: int = 1
    weight_decay: float = 0.0
    beta1: float = 0.9
    beta2: float = 0.98
    clip_norm: float = 1.0
    accumulation_steps: int = 1

    def __post_init__(self) -> None:
        if self.name not in ("adamw", "muon"):
            raise ConfigError(f"optimiser {self.name!r}", expected="adamw or muon", fix="check optim.name")


@dataclass(frozen=True)
class LossConfig:
    """The text loss, plus the loss of a throw-away tagger on the encoder."""

    tagger_weight: float = 0.0


@dataclass(frozen=True)
class ValidationConfig:
    """Scores during training, by the project's own evaluation."""

    file: str | None = None  # IWSLT or punctuated text
    every_steps: int = 0
    max_words: int = 4000
    preset: str = "double-overlap"


@dataclass(frozen=True)
class TrainConfig:
    """A training run: where it starts, what it reads, where it ends."""

    output: str = "runs/model"
    init_from: str | None = None  # a folder or hub id; null starts from random weights
    tokenizer: str | None = None  # for random weights: the folder that `prepare` put it in
    fresh: FreshModelConfig = field(default_factory=FreshModelConfig)
    task: TaskConfig | None = None  # null keeps what `init_from` was trained with, or takes the defaults
    data: DataConfig = field(default_factory=DataConfig)
    optim: OptimConfig = field(default_factory=OptimConfig)
    loss: LossConfig = field(default_factory=LossConfig)
    validation: ValidationConfig = field(default_factory=ValidationConfig)
    checkpoint_every_steps: int = 1000
    log_every_steps: int = 50
    mixed_precision: str = "no"  # `bf16` where the processor has it; fp16 overflows in T5
    resume: bool = False  # go on from the last checkpoint in `output`
    seed: int = 1

    def __post_init__(self) -> None:
        if self.mixed_precision not in ("no", "bf16"):
            raise ConfigError(
                f"mixed_precision {self.mixed_precision!r}", expected="no or bf16", fix="T5 overflows in fp16"
            )
        if not self.data.path and not self.data.copying.steps:
            raise ConfigError("no training data", expected="data.path=FOLDER", fix="run `t5punct prepare` first")
        if self.init_from is None and self.tokenizer is None:
            raise ConfigError(
                "neither init_from nor tokenizer", expected="one of them", fix="name a model, or a tokenizer folder"
            )
