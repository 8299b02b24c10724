"""The configs for people's own data run as they are, with small data in the place of theirs: prepared, then trained."""

from __future__ import annotations

import json
import lzma
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from datasets.utils.logging import disable_progress_bar
from tiny import tiny_text

from t5punct import config as settings
from t5punct import model as models
from t5punct.model import Model
from t5punct.training.config import TrainConfig
from t5punct.training.data.prepare import PrepareConfig, prepare
from t5punct.training.loop.train import train

disable_progress_bar()
CONFIGS = Path(__file__).parents[2] / "configs"
BUNDLED = {  # begin with the bundled model, which is small enough
    "finetune-own-text",
    "finetune-subtitles",
    "iwslt-t5-bundled",
}
FRESH = {"tiny-cpu", "hungarian"}  # begin with random weights and a vocabulary of their own
XZ = {"prepare-iwslt": "train-ted.txt.xz", "prepare-hungarian": "hu-eltec.txt.xz"}  # prepare one file, not a folder
PREPARED_BY = {  # each config for training, and the one that prepares for it
    "finetune-own-text": "prepare-own-text",
    "finetune-subtitles": "prepare-subtitles",
    "tiny-cpu": "prepare-tiny",
    "iwslt-t5": "prepare-iwslt",
    "iwslt-t5-bundled": "prepare-iwslt",
    "hungarian": "prepare-hungarian",
    "multilingual-mt5": "prepare-multilingual",
}
N_STEPS = 2


def _talk(seed: int) -> str:
    return " ".join(tiny_text(30, seed))


def _subtitles(text: str) -> str:
    words = text.split()
    cues = [" ".join(words[start : start + 6]) for start in range(0, len(words), 6)]
    times = [f"00:{n // 60:02}:{n % 60:02},000 --> 00:{n // 60:02}:{n % 60:02},900" for n in range(len(cues))]
    return "\n\n".join(f"{n}\n{time}\n{cue}" for n, (time, cue) in enumerate(zip(times, cues, strict=True), 1)) + "\n"


@pytest.fixture(scope="module")
def data_of(tmp_path_factory: pytest.TempPathFactory, tiny_model: Model) -> Callable[[str], Path]:
    """The data set that a config prepares, made once, of a folder with what its path names."""
    made: dict[str, Path] = {}
    models.save(tiny_model, tmp_path_factory.getbasetemp() / "tiny-t5")

    def prepared(name: str) -> Path:
        if name not in made:
            root = tmp_path_factory.mktemp(name)
            for seed in range(24):
                if name == "prepare-subtitles":
                    (root / f"talk{seed}.srt").write_text(_subtitles(_talk(seed)))
                elif name not in XZ:
                    (root / f"talk{seed}.txt").write_text(_talk(seed) + "\n")
            if name in XZ:
                (root / XZ[name]).write_bytes(lzma.compress("\n".join(map(_talk, range(24))).encode()))
            small = (
                ["vocabulary={size: 460, sample_words: 10000}"] if name in {"prepare-tiny", "prepare-hungarian"} else []
            )
            output = root.with_name(f"{root.name}-made")
            changes = [f"root={root}", f"output={output}", *small]
            report = prepare(settings.load(PrepareConfig, CONFIGS / f"{name}.yaml", changes))
            assert report.train_chunks > 0 and report.validation_chunks > 0
            assert report.warnings == ()
            made[name] = output
        return made[name]

    return prepared


@pytest.mark.parametrize("name", PREPARED_BY)
def test_a_config_prepares_and_trains_unedited_but_for_its_data(
    name: str, data_of: Callable[[str], Path], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = data_of(PREPARED_BY[name])
    begins = [] if name in BUNDLED | FRESH else [f"init_from={tmp_path_factory.getbasetemp() / 'tiny-t5'}"]
    vocabulary = [f"tokenizer={data / 'tokenizer'}"] if name in FRESH else []
    changes = [f"data.path={data}", f"output={tmp_path / 'run'}", *begins, *vocabulary]
    whole = settings.load(TrainConfig, CONFIGS / f"{name}.yaml", changes)
    config = replace(
        whole,
        data=replace(whole.data, batch_tokens=300, workers=0),
        optim=replace(whole.optim, max_steps=N_STEPS, accumulation_steps=1),
        validation=replace(whole.validation, every_steps=N_STEPS),
        log_every_steps=1,
        mixed_precision="no",  # one process has one precision, for all its runs
    )
    folder = train(config)
    log = [json.loads(line) for line in folder.with_name("run.log.jsonl").read_text().splitlines()]
    assert [line["step"] for line in log if "text_loss" in line] == [1, 2]
    assert "validation_loss" in log[-1]
    model = models.load(folder)
    assert model.task.cased == (not name.startswith("iwslt"))
    shutil.rmtree(folder)  # the bundled model's run is large


def test_every_training_config_for_peoples_own_data_is_run_here() -> None:
    names = {path.stem for path in CONFIGS.glob("*.yaml")}
    assert {
        name for name in names if name.startswith(("finetune-", "iwslt-", "multilingual-", "tiny-", "hungarian"))
    } - set(PREPARED_BY) == {"finetune-domain"}  # a benchmark's own
    assert set(PREPARED_BY.values()) | {"prepare", "prepare-large"} == {
        name for name in names if name.startswith("prepare")
    }
