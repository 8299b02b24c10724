"""The settings of a training run: a `TrainConfig` from YAML and dotted overrides, saved beside every checkpoint.

`python train.py --config configs/finetune.yaml optim.lr=2e-4` changes one of them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from .. import config as settings
from ..config import check, check_choice, check_range
from ..t5.delay import Delay
from ..t5.task import TaskConfig
from .examples.disfluencies import DisfluencyConfig, NoiseConfig

# the schedules of transformers' get_scheduler that need no more than a warm-up and a length
SCHEDULES = (
    "linear", "cosine", "cosine_with_restarts", "polynomial", "constant", "constant_with_warmup", "inverse_sqrt",
)  # fmt: skip


@dataclass(frozen=True)
class QuestionConfig:
    """Examples that ask about one slot, marked by a sentinel, with few words behind it."""

    share: float = 0.0  # of all examples, those that become questions; 0: none
    l_max: int = 8  # at most so many words behind the slot are seen; their number is drawn evenly from 0 on

    def __post_init__(self) -> None:
        check_range(self, "share", least=0, most=1, section="data.questions.")
        check_range(self, "l_max", least=0, section="data.questions.")


@dataclass(frozen=True)
class DelayConfig:
    """The delays that a model learns (Chen 2020).  The layers are saved with it, since it must be used as trained."""

    # words that are seen ahead; one is drawn for each batch, null is the whole context: [0, 2, null]
    words: list[int | None] = field(default_factory=list)
    layers: list[int] = field(default_factory=list)  # layers that look ahead, in turn, from 0; empty: all, evenly

    def __post_init__(self) -> None:
        for words in self.words:
            Delay(words or 0, layers=tuple(self.layers))  # raises ConfigError if they are wrong

    @property
    def is_used(self) -> bool:
        return any(words is not None for words in self.words)

    def draw(self, *position: int) -> Delay | None:
        """Draw the delay of a batch; None is the whole context.  The same position in a run gives the same delay."""
        if not self.is_used:
            return None
        words = random.Random(" ".join(map(str, ("delay", *position)))).choice(self.words)
        return None if words is None else Delay(words, layers=tuple(self.layers))


@dataclass(frozen=True)
class DataConfig:
    """What to train on, and how much at a time."""

    path: str = ""  # a folder made by `t5punct prepare`
    batch_tokens: int = 3072  # source tokens of one batch on one process, padding included
    labels: str | None = None  # a folder that `t5punct label` made of data.path: what a larger model says of its words
    workers: int = 0  # processes that make batches; 0: the training makes them itself
    questions: QuestionConfig = field(default_factory=QuestionConfig)
    noise: NoiseConfig = field(default_factory=NoiseConfig)
    disfluencies: DisfluencyConfig = field(default_factory=DisfluencyConfig)
    # of the examples with silences, those that hide them, so that the model also learns texts without times
    silent_share: float = 0.0
    # how often the chunks of a style come in an epoch, if not once; 0.5 takes the same half of them in every epoch
    styles: dict[str, float] = field(default_factory=dict)
    delays: DelayConfig = field(default_factory=DelayConfig)

    def __post_init__(self) -> None:
        check_range(self, "batch_tokens", least=1, section="data.")
        check_range(self, "workers", "silent_share", least=0, section="data.")


@dataclass(frozen=True)
class OptimConfig:
    """The optimiser, AdamW, and the schedule of its learning rate."""

    lr: float = 1e-3  # the learning rate after the warm-up
    # rates of some parameters, by a part of their names: {decoder.: 4} trains the decoder at 4 times `lr`; of several
    # parts that fit, the first counts
    factors: dict[str, float] = field(default_factory=dict)
    # parameters that do not learn, by a part of their names; `words` are the embeddings of any model: [words, decoder]
    frozen: list[str] = field(default_factory=list)
    embeddings: str = "all"  # the embeddings that learn; `task`: only those of styles, marks, case and sentinels
    schedule: str = "linear"  # of the rate, by its name in transformers: linear, cosine, constant_with_warmup, ..
    warmup_steps: int = 200  # over which the rate rises from 0 to `lr`
    max_steps: int = 0  # the length of the run; 0: as many steps as `epochs` need
    epochs: int = 1  # how often the data are read
    accumulation_steps: int = 1  # batches of a step; each weighs the same, however many words it has

    def __post_init__(self) -> None:
        check_choice(self, "embeddings", ("all", "task"), section="optim.")
        check_choice(self, "schedule", SCHEDULES, section="optim.")
        check_range(self, "lr", "warmup_steps", "max_steps", least=0, section="optim.")
        check_range(self, "epochs", "accumulation_steps", least=1, section="optim.")


@dataclass(frozen=True)
class LoraConfig:
    """The adapters, by the names of peft's LoraConfig.  All weights of the tagger are trained beside them."""

    r: int = 0  # the rank of the adapters; 0: no adapters, and all weights are trained
    # the linear layers that get an adapter, by the last part of their names: attention's and the feed-forward's
    target_modules: list[str] = field(default_factory=lambda: ["q", "k", "v", "o", "wi", "wi_0", "wi_1", "wo"])

    def __post_init__(self) -> None:
        check_range(self, "r", least=0, section="lora.")


@dataclass(frozen=True)
class LossConfig:
    """What is minimised: the loss of the text, and that of a tagger on the encoder."""

    text_weight: float = 1.0  # of the loss of what the decoder writes; 0 trains encoder and tagger only
    tagger_weight: float = 0.0  # of the tagger's loss; 0: there is no tagger
    # the text loss is taken over the batch's own pieces and so many others drawn at random; null: over all pieces
    sampled_pieces: int | None = None
    slot_weight: float = 0.0  # of the text loss among the tokens that slot decoding chooses from, where it has a choice
    # so many tokens' states of a frozen encoder stay in the memory of each process, for later epochs
    kept_states: int = 0

    def __post_init__(self) -> None:
        check_range(self, "text_weight", "tagger_weight", "slot_weight", least=0, section="loss.")
        check_range(self, "sampled_pieces", "kept_states", least=0, section="loss.")
        has_loss = self.text_weight or self.tagger_weight
        check(has_loss, "no loss", expected="a text_weight or tagger_weight above 0", fix="set loss.text_weight")

    @property
    def decoder(self) -> str:
        """Return the name of the decoder that a run is scored with: its model's default, if that is trained."""
        return "auto" if self.text_weight else "tagger"


@dataclass(frozen=True)
class ValidationConfig:
    """Every so often, the loss on the data set's split `validation`, and the scores of a file."""

    # IWSLT or punctuated text: its first 4,000 words are scored as `t5punct evaluate` does; null takes only the loss
    file: str | None = None
    # null: ten times in a run, and every 1,000 steps of a long one, where there is something to validate with; 0: never
    every_steps: int | None = None
    # what decides which model is the best: micro_f1, macro_f1 (of the file), loss or tag_loss (of the split); null:
    # micro_f1 where there is a file, else the loss that is trained
    score: str | None = None
    patience: int | None = None  # stop after so many validations in a row without a better score; null: never

    def __post_init__(self) -> None:
        check_range(self, "every_steps", least=0, section="validation.")
        check_range(self, "patience", least=1, section="validation.")
        check_choice(self, "score", ("micro_f1", "macro_f1", "loss", "tag_loss"), section="validation.")


@dataclass(frozen=True)
class ReportConfig:
    """What report.md compares when a run ends."""

    file: str | None = None  # IWSLT rows or punctuated text to score; null: validation.file
    against: str | None = None  # a model to compare with, a folder or hub id; null: init_from
    # so many first words of the file are scored, or fewer where they would take more than ten minutes; 0: nothing is
    max_words: int = 20000

    def __post_init__(self) -> None:
        check_range(self, "max_words", least=0, section="report.")


@dataclass(frozen=True)
class TrainConfig:
    """A training run: where it starts, what it reads, where it ends."""

    output: str = "runs/model"  # the folder of checkpoints, the last of which is the trained model
    init_from: str = ""  # a folder, a hub id of a T5, or a model that ships with t5punct: `base`, `large`, ..
    revision: str | None = None  # of the hub id: a branch, tag or commit
    task: dict[str, Any] | None = None  # settings of init_from's task that change: {cased: false}; null: none
    data: DataConfig = field(default_factory=DataConfig)
    optim: OptimConfig = field(default_factory=OptimConfig)
    lora: LoraConfig = field(default_factory=LoraConfig)
    loss: LossConfig = field(default_factory=LossConfig)
    validation: ValidationConfig = field(default_factory=ValidationConfig)
    report: ReportConfig = field(default_factory=ReportConfig)
    # null: ten times in a run, and every 1,000 steps of a long one; 0: only at its end.  An interrupt saves too
    checkpoint_every_steps: int | None = None
    log_every_steps: int = 50  # steps that a line of the log is the mean of
    report_to: str | None = None  # trackers of accelerate that get the log too: tensorboard, or tensorboard,wandb
    gradient_checkpointing: bool = False  # less memory, a third slower: the backward pass computes layers again
    mixed_precision: str = "no"  # `bf16` where the processor has it; fp16 overflows in T5
    resume: bool = False  # go on from the last checkpoint in `output`
    seed: int = 1  # of everything that is drawn at random

    def __post_init__(self) -> None:
        if self.mixed_precision == "False":  # YAML reads a bare `no` as false
            object.__setattr__(self, "mixed_precision", "no")
        check_range(self, "checkpoint_every_steps", "seed", least=0)
        check_range(self, "log_every_steps", least=1)
        check_choice(self, "mixed_precision", ("no", "bf16"))
        check(self.data.path, "no training data", expected="data.path=FOLDER", fix="run `t5punct prepare` first")
        check(self.init_from, "no model to start from", expected="init_from=FOLDER or NAME", fix="try init_from=base")
        needs_tagger = self.validation.score == "tag_loss" or self.data.labels is not None or self.data.delays.is_used
        check(
            not needs_tagger or self.loss.tagger_weight > 0,
            "a tag_loss as score, data.labels or data.delays without a tagger's loss",
            expected="loss.tagger_weight above 0", fix="set it, or drop the other",
        )  # fmt: skip


@dataclass(frozen=True)
class _WithTask:
    task: TaskConfig = field(default_factory=TaskConfig)


def change_task(task: TaskConfig, changes: Mapping[str, Any] | None) -> TaskConfig:
    """Return a task with some settings changed.  Mappings are merged as `config.load` does, with its errors."""
    values = asdict(task)
    if changes and "marks" in changes:  # the odds of dropped marks are dropped
        new_marks = str(changes["marks"])  # a mistake if it is no str, which `load` reports
        values["mark_odds"] = {mark: odds for mark, odds in task.mark_odds.items() if mark in new_marks}
    overrides = [f"task={json.dumps(changes)}"] if changes else []
    return settings.load(_WithTask, overrides=overrides, current={"task": values}).task
