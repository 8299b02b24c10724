"""The settings of a training run: a `TrainConfig` from YAML and dotted overrides, saved beside every checkpoint.

`python train.py --config configs/finetune.yaml optim.lr=2e-4` changes one of them.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from .. import config as settings
from ..config import check, check_choice, check_range
from ..t5.delay import Delay
from ..t5.task import TaskConfig
from .examples.disfluencies import DisfluencyConfig, NoiseConfig

# of transformers' get_scheduler those that need no more than a warm-up and a length
SCHEDULES = (
    "linear", "cosine", "cosine_with_restarts", "polynomial", "constant", "constant_with_warmup", "inverse_sqrt",
)  # fmt: skip
SCORES = ("micro_f1", "macro_f1", "loss", "tag_loss")  # of validation
PAGE, PICTURE, VALUES = "report.md", "report.png", "report.json"  # in the run's folder


@dataclass(frozen=True)
class QuestionConfig:
    """Examples of the sentinel task among the others: one slot asked about, with little right context."""

    share: float = 0.0  # of all examples; 0 has none
    l_max: int = 8  # words behind the slot that the model sees, at most; drawn evenly from 0 on

    def __post_init__(self) -> None:
        check_range(self, "data.questions.", 0, "share", most=1)
        check_range(self, "data.questions.", 0, "l_max")


@dataclass(frozen=True)
class DelayConfig:
    """The delays of a run (Chen 2020); layers are saved with the model, which must be used as it was trained."""

    # one is drawn for each batch (null: the whole context); what stands here twice comes twice as often
    words: list[int | None] = field(default_factory=list)
    layers: list[int] = field(default_factory=list)  # those that look ahead, in turn, from 0; empty: all, evenly

    def __post_init__(self) -> None:
        for words in self.words:
            Delay(words or 0, layers=tuple(self.layers))  # raises ConfigError if they are wrong

    @property
    def any(self) -> bool:
        """Return whether some batches have a delay."""
        return any(words is not None for words in self.words)

    def draw(self, *place: int) -> Delay | None:
        """Draw the delay of a batch; None for the whole context.  A resumed run draws the same at the same place."""
        if not self.any:
            return None
        words = random.Random(" ".join(map(str, ("delay", *place)))).choice(self.words)
        return None if words is None else Delay(words, layers=tuple(self.layers))


@dataclass(frozen=True)
class DataConfig:
    """What to train on, and how much at a time."""

    path: str = ""  # a folder made by `t5punct prepare`
    batch_tokens: int = 3072  # source tokens of one batch on one process, padding included
    labels: str | None = None  # of data.path, by a larger model that a tagger learns from too (`t5punct label`)
    workers: int = 0  # processes that make batches; 0: the training itself does
    questions: QuestionConfig = field(default_factory=QuestionConfig)
    noise: NoiseConfig = field(default_factory=NoiseConfig)
    disfluencies: DisfluencyConfig = field(default_factory=DisfluencyConfig)
    # of the examples with silences, how many hide them, so that texts without times lose nothing
    silent_share: float = 0.0
    # how often a style's chunks come in an epoch, else once; of a fraction, the same chunks every time
    styles: dict[str, float] = field(default_factory=dict)
    delays: DelayConfig = field(default_factory=DelayConfig)

    def __post_init__(self) -> None:
        check_range(self, "data.", 1, "batch_tokens")
        check_range(self, "data.", 0, "workers", "silent_share")
        for style, times in self.styles.items():
            check(0 <= times < math.inf, f"style {style} {times} times", expected="0 or more", fix="set data.styles")


@dataclass(frozen=True)
class OptimConfig:
    """The optimiser, AdamW, and the schedule of its learning rate."""

    lr: float = 1e-3  # the learning rate after the warm-up
    # times `lr`, for parameters with this part in their names: {decoder.: 4} for a fresh decoder; the first that fits
    factors: dict[str, float] = field(default_factory=dict)
    # parameters that stay: parts of their names, or `words`, the embeddings of whatever model: [words, decoder]
    frozen: list[str] = field(default_factory=list)
    embeddings: str = "all"  # `task`: of the embeddings only those of styles, marks, case and sentinels learn
    schedule: str = "linear"  # of the rate, as transformers has them: linear, cosine, constant_with_warmup, ..
    warmup_steps: int = 200  # over which the rate rises from 0 to `lr`
    max_steps: int = 0  # the length of the run; 0: as many steps as `epochs` need
    epochs: int = 1  # how often the data are read
    accumulation_steps: int = 1  # batches of a step; each weighs the same, however many words it has

    def __post_init__(self) -> None:
        check_choice(self, "optim.", "embeddings", ("all", "task"))
        check_choice(self, "optim.", "schedule", SCHEDULES)
        check_range(self, "optim.", 0, "lr", "warmup_steps", "max_steps")
        check_range(self, "optim.", 1, "epochs", "accumulation_steps")
        for part, factor in self.factors.items():
            mistake = f"a rate of {factor} times lr for {part}"
            check(0 < factor < math.inf, mistake, expected="above 0", fix="set optim.factors")


@dataclass(frozen=True)
class LoraConfig:
    """The adapters, in the words of peft's LoraConfig; the tagger is trained as a whole beside them."""

    r: int = 0  # their rank; 0 has no adapters and trains all weights
    # the linear layers that get one, by the last part of their names: attention's and the feed-forward's
    target_modules: list[str] = field(default_factory=lambda: ["q", "k", "v", "o", "wi", "wi_0", "wi_1", "wo"])

    def __post_init__(self) -> None:
        check_range(self, "lora.", 0, "r")


@dataclass(frozen=True)
class LossConfig:
    """What is minimised: the loss of the text, and that of a tagger on the encoder."""

    text_weight: float = 1.0  # of the loss of what the decoder writes; 0 trains encoder and tagger only
    tagger_weight: float = 0.0  # of the tagger's loss; 0 has no tagger
    sampled_pieces: int | None = None  # pieces drawn at random beside the batch's own; null takes the whole vocabulary
    slot_weight: float = 0.0  # of the text loss taken over what slot decoding may write, where that is a choice
    # states of a frozen encoder that each process keeps in memory, in tokens: later epochs do not encode them again
    kept_states: int = 0

    def __post_init__(self) -> None:
        check_range(self, "loss.", 0, "text_weight", "tagger_weight", "slot_weight")
        check_range(self, "loss.", 0, "sampled_pieces", "kept_states")
        check(
            self.text_weight or self.tagger_weight,
            "no loss", expected="a text_weight or tagger_weight above 0", fix="set loss.text_weight",
        )  # fmt: skip
        check(
            self.text_weight or not self.slot_weight,
            "a loss of slots without one of text", expected="a text_weight above 0", fix="set loss.text_weight",
        )  # fmt: skip

    @property
    def decoder(self) -> str:
        """Return the decoder that is trained, which a run is scored with."""
        return "slots" if self.text_weight else "tagger"


@dataclass(frozen=True)
class ValidationConfig:
    """Every so often, the loss on the data set's split `validation`, and the scores of a file."""

    # IWSLT or punctuated text: its first 4,000 words are scored as `t5punct evaluate` does; null takes only the loss
    file: str | None = None
    # null: ten times in a run, and every 1,000 steps of a long one, where there is something to validate with; 0: never
    every_steps: int | None = None
    # which of them tells the best model: micro_f1, macro_f1 (of the file), loss or tag_loss (of the split); null takes
    # micro_f1 where there is a file, else the loss that is trained
    score: str | None = None
    patience: int | None = None  # stop after so many validations in a row without a better score; null never stops

    def __post_init__(self) -> None:
        check_range(self, "validation.", 0, "every_steps")
        check_range(self, "validation.", 1, "patience")
        check_choice(self, "validation.", "score", SCORES)
        check(
            self.file is not None or self.score not in ("micro_f1", "macro_f1"),
            f"validation.score {self.score} without a file",
            expected="a file to score", fix="set validation.file or validation.score=loss",
        )  # fmt: skip
        for name, value in (("patience", self.patience), ("file", self.file)):
            check(
                value is None or self.every_steps != 0, f"validation.{name} {value} without validations",
                expected="validation.every_steps above 0, or null", fix="set validation.every_steps",
            )  # fmt: skip


@dataclass(frozen=True)
class ReportConfig:
    """What report.md compares when a run ends."""

    file: str | None = None  # IWSLT rows or punctuated text to score; null takes validation.file
    against: str | None = None  # a model to compare with, folder or hub id; null takes init_from
    # of the file, the first ones; 0 scores nothing.  Fewer are scored where all would take more than ten minutes
    max_words: int = 20000

    def __post_init__(self) -> None:
        check_range(self, "report.", 0, "max_words")


@dataclass(frozen=True)
class TrainConfig:
    """A training run: where it starts, what it reads, where it ends."""

    output: str = "runs/model"  # the folder of checkpoints, the last of which is the trained model
    init_from: str = ""  # a folder, a hub id of a T5, or a model that ships with t5punct: `base`, `large`, ..
    revision: str | None = None  # of the hub id: a branch, tag or commit
    task: dict[str, Any] | None = None  # what changes in the task of `init_from`: {cased: false}; null keeps it
    data: DataConfig = field(default_factory=DataConfig)
    optim: OptimConfig = field(default_factory=OptimConfig)
    lora: LoraConfig = field(default_factory=LoraConfig)
    loss: LossConfig = field(default_factory=LossConfig)
    validation: ValidationConfig = field(default_factory=ValidationConfig)
    report: ReportConfig = field(default_factory=ReportConfig)
    # null: ten times in a run, and every 1,000 steps of a long one; 0: only at its end.  An interrupt saves as well
    checkpoint_every_steps: int | None = None
    log_every_steps: int = 50  # steps that a line of the log is the mean of
    report_to: str | None = None  # trackers of accelerate that get the log as well: tensorboard, or tensorboard,wandb
    gradient_checkpointing: bool = False  # less memory and a third slower: layers are computed again going backwards
    mixed_precision: str = "no"  # `bf16` where the processor has it; fp16 overflows in T5
    resume: bool = False  # go on from the last checkpoint in `output`
    seed: int = 1  # of everything that is drawn at random

    def __post_init__(self) -> None:
        unknown = [name for name in self.task or {} if name not in settings.valid_keys(TaskConfig)]
        if unknown:
            change_task(TaskConfig(), dict.fromkeys(unknown))  # raises ConfigError with the nearest name
        if self.mixed_precision == "False":  # YAML reads a bare `no` as false
            object.__setattr__(self, "mixed_precision", "no")
        check_range(self, "", 0, "checkpoint_every_steps", "seed")
        check_range(self, "", 1, "log_every_steps")
        mistake = f"mixed_precision {self.mixed_precision!r}"
        check(self.mixed_precision in ("no", "bf16"), mistake, expected="no or bf16", fix="T5 overflows in fp16")
        check(self.data.path, "no training data", expected="data.path=FOLDER", fix="run `t5punct prepare` first")
        for name, is_set, fix in (
            ("validation.score tag_loss", self.validation.score == "tag_loss", "set validation.score=loss"),
            ("data.labels", self.data.labels is not None, "set it"),
            ("data.delays", self.data.delays.any, "set it"),
        ):
            is_possible = self.loss.tagger_weight > 0 or not is_set
            check(is_possible, f"{name} without a tagger's loss", expected="loss.tagger_weight above 0", fix=fix)
        check(self.init_from, "no model to start from", expected="init_from=FOLDER or NAME", fix="try init_from=base")
        mistake = "lora.r with optim.embeddings=task"
        fits = not self.lora.r or self.optim.embeddings == "all"
        check(fits, mistake, expected="adapters and a tagger that learn alone", fix="set optim.embeddings=all")


@dataclass(frozen=True)
class _WithTask:
    task: TaskConfig = field(default_factory=TaskConfig)


def change_task(task: TaskConfig, changes: Mapping[str, Any] | None) -> TaskConfig:
    """Return a task with some settings changed; mappings are merged, an empty one empties.  Odds go with marks.

    Raises ConfigError as `config.load` does.
    """
    values = asdict(task)
    if changes and "marks" in changes:
        values["mark_odds"] = {mark: odds for mark, odds in task.mark_odds.items() if mark in str(changes["marks"])}
    overrides = [f"task={json.dumps(changes)}"] if changes else []
    return settings.load(_WithTask, overrides=overrides, current={"task": values}).task
