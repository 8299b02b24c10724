"""The configs for people's own data run as they are, with small data in the place of theirs: prepared, then trained."""

import json
import lzma
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from tiny import tiny_text

from t5punct import config as settings
from t5punct import model as models
from t5punct.model import Model
from t5punct.training.config import TrainConfig
from t5punct.training.data.prepare import PrepareConfig, prepare
from t5punct.training.loop.train import train

CONFIGS = Path(__file__).parents[2] / "configs"
SHORT = (
    "data.batch_tokens=300", "data.workers=0", "optim.max_steps=2", "validation.every_steps=2", "log_every_steps=1",
    "mixed_precision='no'",  # one process has one precision, for all its runs
)  # fmt: skip


@dataclass(frozen=True)
class Way:
    """How people prepare and train: two configs, and the settings that a guide adds."""

    prepare: str
    train: str
    settings: tuple[str, ...] = ()  # of the training
    source: str = "txt"  # of 24 files of a talk each; else the name of one file of them all
    start: str | None = None  # null: the config's own


MT5 = ("task.default_style=meeting", "optim={frozen: [shared]}", "loss={sampled_pieces: 400, tagger_weight: 0.2}")
NOISE = ("data.noise.share=0.25", "data.disfluencies.share=0.2")
SMALL = ("init_from=small",)  # in the place of `multi` and `base`, which are larger
WAYS = {
    # of plain text without noise, from `base`: the fifteen minutes of tests/test_guides.py
    "subtitles": Way("prepare-own-text", "finetune-own-text", (*SMALL, *NOISE), source="srt"),
    "iwslt": Way("prepare-iwslt", "iwslt-t5-bundled", ("init_from=base",), "train-ted.txt.xz"),
    "any T5": Way("prepare-own-text", "finetune", MT5, start="tiny-t5"),
    "a language": Way("prepare-own-text", "another-language", (*SMALL, "task.marks=,.?!،؟")),
}


def _subtitles(text: str) -> str:
    words = text.split()
    cues = [" ".join(words[start : start + 6]) for start in range(0, len(words), 6)]
    times = [f"00:{n // 60:02}:{n % 60:02},000 --> 00:{n // 60:02}:{n % 60:02},900" for n in range(len(cues))]
    return "\n\n".join(f"{n}\n{time}\n{cue}" for n, (time, cue) in enumerate(zip(times, cues, strict=True), 1)) + "\n"


def _prepared(way: Way, folder: Path) -> Path:
    """The data set that a way prepares of tiny talks."""
    root, output = folder / "talks", folder / "data"
    root.mkdir()
    talks = [" ".join(tiny_text(15, seed)) for seed in range(24)]
    if way.source.endswith(".xz"):
        (root / way.source).write_bytes(lzma.compress("\n".join(talks).encode()))
    else:
        for number, talk in enumerate(talks):
            text = _subtitles(talk) if way.source == "srt" else talk + "\n"
            (root / f"talk{number}.{way.source}").write_text(text)
    changes = [f"root={root}", f"output={output}"]
    report = prepare(settings.load(PrepareConfig, CONFIGS / f"{way.prepare}.yaml", changes))
    assert report.train_chunks > 0 and report.validation_chunks > 0
    assert report.warnings == ()
    return output


@pytest.mark.parametrize("name", WAYS)
def test_configs_prepare_and_train_unedited_but_for_the_data(name: str, tiny_model: Model, tmp_path: Path) -> None:
    way = WAYS[name]
    data = _prepared(way, tmp_path)
    start: list[str] = []
    if way.start:
        models.save(tiny_model, tmp_path / way.start)
        start = [f"init_from={tmp_path / way.start}"]
    changes = [f"data.path={data}", f"output={tmp_path / 'run'}", *start, *way.settings, *SHORT]
    config = settings.load(TrainConfig, CONFIGS / f"{way.train}.yaml", changes)
    folder = train(config)
    log = [json.loads(line) for line in folder.with_name("run.log.jsonl").read_text().splitlines()]
    assert [line["step"] for line in log if "text_loss" in line] == [1, 2]
    assert "validation_loss" in log[-1]
    model = models.load(folder)
    assert model.task.cased == (name != "iwslt")
    assert model.task.styles == models.load(config.init_from).task.styles
    assert (model.task.marks == ",.?!،؟") == (name == "a language")
    shutil.rmtree(folder)  # the bundled model's run is large


def test_every_training_config_for_peoples_own_data_is_run_here() -> None:
    names = {path.stem for path in CONFIGS.glob("*.yaml") if not path.stem.endswith("-gpu")}  # for `make gpu-kit`
    own_stages = ("large-", "pupils-", "base-", "small-", "multi-", "from-encoder-", "task-", "accelerate-")
    assert {name for name in names if not name.startswith(own_stages)} == {
        name for way in WAYS.values() for name in (way.prepare, way.train)
    }
