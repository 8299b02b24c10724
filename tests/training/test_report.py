"""What a person sees of a run: its log, its bar and its trackers, the page about it, and the card of its model."""

import json
import logging
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest
from accelerate import tracking
from accelerate.utils import LoggerType
from command import Invoke
from left_by_runs import log_lines

from t5punct import config as settings
from t5punct import model as models
from t5punct.errors import ConfigError, ModelError
from t5punct.evaluation.evaluate import evaluate_file
from t5punct.model import Model
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.training import report as page
from t5punct.training.config import DataConfig, LossConfig, ReportConfig, TrainConfig, ValidationConfig
from t5punct.training.loop.train import train
from t5punct.training.report import compose_card, run_config, write_report


def test_a_new_run_begins_its_log_anew_and_a_resumed_one_goes_on(config: TrainConfig, tmp_path: Path) -> None:
    (tmp_path / "run.log.jsonl").write_text('{"step": 1, "words": 9}\n')
    train(config)
    path = tmp_path / "run.log.jsonl"
    assert [line["step"] for line in log_lines(tmp_path / "run")] == [2, 4]
    path.write_text(path.read_text() + '{"step": 6}\n{"st')  # of steps that no checkpoint has, and half a line
    train(replace(config, resume=True, optim=replace(config.optim, max_steps=7)))
    log = log_lines(tmp_path / "run")
    assert [line["step"] for line in log] == [2, 4, 6, 7]
    assert "text_loss" in log[-1]


def test_a_tracker_gets_settings_and_all_lines_of_the_log(config: TrainConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = Mock(requires_logging_directory=False)  # in the place of TensorBoard's
    monkeypatch.setattr(tracking, "_available_trackers", [LoggerType.TENSORBOARD])
    monkeypatch.setitem(tracking.LOGGER_TYPE_TO_CLASS, "tensorboard", kind)
    config = replace(config, report_to="tensorboard", validation=ValidationConfig(every_steps=4))
    log = log_lines(train(config))
    tracker = kind.return_value
    (stored,) = tracker.store_init_configuration.call_args.args
    assert (stored["optim.lr"], stored["init_from"]) == (config.optim.lr, config.init_from)
    assert [logged.args[0] | {"step": logged.kwargs["step"]} for logged in tracker.log.call_args_list] == log
    assert "validation_loss" in log[-1]
    tracker.finish.assert_called_once_with()
    with pytest.raises(ConfigError, match=r"report_to tensorbord; expected trackers of .* installed: tensorboard;"):
        train(replace(config, output=f"{config.output}2", report_to="tensorbord"))


LOG = """{"step": 2, "words": 600, "text_loss": 6.0, "tag_loss": 0.0, "lr": 0.001, "words_per_second": 100.0, "x": 1}
{"step": 2, "words": 600, "validation_loss": 5.5, "micro_f1": 20.0}
{"step": 4, "words": 1200, "text_loss": 5.0, "tag_loss": 0.0, "lr": 0.001, "words_per_second": 300.0}
{"step": 4, "words": 1200, "validation_loss": 4.5, "micro_f1": 30.0}
{"st"""


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "dev.txt"
    path.write_text("We know, that. Right?\nYes! So it goes, on and on.\nWhat now?\n", encoding="utf-8")
    return path


@pytest.fixture
def run(tiny_model: Model, lively_model: Model, tmp_path: Path, text: Path) -> Path:
    """A finished run, which began with another model."""
    folder, start = tmp_path / "run", tmp_path / "start"
    models.save(tiny_model, start)
    models.save(lively_model, folder)
    config = TrainConfig(
        output=str(folder), init_from=str(start), data=DataConfig("prepared"), report=ReportConfig(str(text))
    )
    settings.save(config, folder / "train.yaml")
    (tmp_path / "run.log.jsonl").write_text(LOG, encoding="utf-8")
    return folder


def test_the_page_has_scores_and_course(run: Path, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = run_config(run)
    heard: list[tuple[int, int]] = []
    path = write_report(run, config, lambda done, total: heard.append((done, total)))
    shown, values = path.read_text(encoding="utf-8"), json.loads((run / "report.json").read_text(encoding="utf-8"))
    alone = evaluate_file(text, Punctuator(models.load(run), PunctuatorConfig())).scores
    assert values["scores"]["micro_f1"] == alone.micro.f1
    assert values["comparison"]["reports"][0]["signature"].count(f"model:{tmp_path / 'start'}")
    assert f"| COMMA | {alone.per_class['COMMA'].precision:.1f} |" in shown
    gain = values["comparison"]["differences"]["micro"]
    assert f"| {gain['gain']:+.1f} | {gain['gain_interval'][0]:+.1f} to" in shown
    assert f"model:{run}" in values["scores"]["signature"] and f"model:{run}" not in shown.partition("## Settings")[0]
    for part in (
        "# run\n", "![losses and scores](report.png)", "4 steps on 1,200 words in 0.1 minutes",
        "150 words a second", "## Scores on dev.txt", "| at the start | gain |", "torch ", "processors",
        "report:\n  file:",
    ):  # fmt: skip
        assert part in shown, part
    assert (run / "report.png").read_bytes().startswith(b"\x89PNG")
    assert heard == [(done, 2 * 13) for done in (4, 11, 13, 17, 24, 26)], "of both models"


def page_of(run: Path, **changes: object) -> str:
    """The page of a run with other settings."""
    return write_report(run, replace(run_config(run), **changes)).read_text(encoding="utf-8")  # type: ignore[arg-type]


def test_without_a_validation_text_the_page_says_so(run: Path) -> None:
    shown = page_of(run, report=ReportConfig())
    assert "There are no scores: no validation text was named. `t5punct report" in shown
    assert "## Scores" not in shown and "## Settings" in shown
    assert json.loads((run / "report.json").read_text()) == {"scores": None, "comparison": None}
    assert "report.max_words is 0" in page_of(run, report=ReportConfig("dev.txt", max_words=0))


def test_a_run_from_a_lost_model_is_scored_alone(run: Path) -> None:
    shown = page_of(run, init_from="./gone")
    assert "The starting model ./gone cannot be compared: no model folder ./gone; expected" in shown
    assert "## Scores on dev.txt" in shown and "at the start" not in shown


def test_the_page_of_a_slow_model_is_of_fewer_words(run: Path, text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text.write_text("We know, that. Right?\n" * 20, encoding="utf-8")
    monkeypatch.setattr(page, "_TRIED_WORDS", 8)
    now = [0.0]  # of a clock that only the model moves
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    class Slow(Punctuator):
        def window_votes(self, views):  # type: ignore[no-untyped-def]
            now[0] += 0.05  # for each line of four words
            return super().window_votes(views)

    monkeypatch.setattr(page, "Punctuator", Slow)
    for seconds, n_words in ((600, 80), (1, 40)):  # 1 / (2 * 0.05 / 4)
        monkeypatch.setattr(page, "_MAX_SECONDS", seconds)
        shown = page_of(run, report=ReportConfig(str(text)))
        assert f"\nOf {n_words} words.\n" in shown
        assert ("At most 40 words are scored, to end in 0 minutes." in shown) == (n_words == 40)


def test_what_only_the_tagger_learned_is_scored_with_the_tagger(run: Path, tagged_model: Model) -> None:
    models.save(tagged_model, run)
    shown = page_of(run, loss=LossConfig(text_weight=0.0, tagger_weight=1.0))
    assert "decoder:tagger" in shown
    assert "which has no tagger" in shown, "the starting model"


def test_a_page_has_the_scores_of_the_decoder_that_the_cards_command_takes(run: Path, tagged_model: Model) -> None:
    models.save(tagged_model.with_task(tagged_styles=["talk"]), run)
    assert "decoder:tagger" in page_of(run, loss=LossConfig(tagger_weight=1.0))
    card = compose_card(run, models.read_task(run), "someone/model")
    assert "t5punct punctuate talk.txt --model someone/model\n" in card and "decoder:tagger" in card


def test_the_command_writes_it_anew(run: Path, text: Path, invoke: Invoke) -> None:
    assert invoke("report", run, "max_words=4") == (0, f"{run}/report.md\n", "")
    assert "\nOf 4 words.\n" in (run / "report.md").read_text(encoding="utf-8")
    assert invoke("report", text.parent)[0] == 2
    code, _, err = invoke("report", run, "file=none.txt")
    assert (code, err) == (2, "t5punct: no file none.txt; expected an existing text file; check the path\n")
    assert "unknown setting 'fiel'" in invoke("report", run, "fiel=x")[2]
    assert "did you mean base?" in invoke("report", run, "against=bse")[2]
    with pytest.raises(ModelError, match=r"no train.yaml in .*; expected the folder of a training run"):
        run_config(text.parent)


def test_training_ends_with_a_page(config: TrainConfig, text: Path, tmp_path: Path, invoke: Invoke) -> None:
    settings.save(config, tmp_path / "mine.yaml")
    train = partial(invoke, "train", "--config", tmp_path / "mine.yaml")
    code, out, err = train(f"report.file={text}")
    assert (code, out) == (0, f"{config.output}: trained\n{config.output}/report.md\n")
    lines = err.splitlines()  # standard error is no terminal here: the progress comes as plain lines
    assert [line.split(",")[0] for line in lines] == ["step 2 of 4", "step 4 of 4"]
    assert not logging.getLogger("t5punct.training").handlers
    shown = Path(config.output, "report.md").read_text(encoding="utf-8")
    assert "4 steps on" in shown and "at the start" in shown
    # a text that cannot be scored is said before the training begins, or is a warning: the model is there
    assert train("report.file=none.txt", "output=other")[0] == 2
    text.write_text("\n")
    assert train(f"report.file={text}", "resume=true", "optim.max_steps=5", "-q")[::2] == (0, "")
    code, _, err = train(f"report.file={text}", "resume=true", "optim.max_steps=6")
    assert code == 0
    assert f"t5punct: warning: no report of {config.output}: {text} holds no words" in " ".join(err.split())
