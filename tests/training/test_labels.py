"""Labels that a larger model writes for a data set, and a smaller one learns from."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from command import Invoke
from datasets import Dataset, DatasetDict, load_from_disk
from hypothesis import given
from hypothesis import strategies as st
from left_by_runs import log_lines
from tiny import TINY_SHAPE
from torch.nn.functional import kl_div

from t5punct import model as models
from t5punct.errors import ConfigError, InputError
from t5punct.model import Model
from t5punct.t5.tagger import Tagger, states_at_words
from t5punct.training import labelling
from t5punct.training import labels as labels_module
from t5punct.training.config import DataConfig, LossConfig, TrainConfig
from t5punct.training.examples.batches import make_collator
from t5punct.training.examples.disfluencies import NoiseConfig
from t5punct.training.examples.example import IGNORED, ChunkExamples
from t5punct.training.labelling import label
from t5punct.training.labels import LABELS_FILE, Labels, WordLabel, codes_of, probabilities_of
from t5punct.training.loop.objective import Objective
from t5punct.training.loop.train import train


@pytest.fixture(scope="module")
def teacher(tagged_model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "teacher"
    models.save(tagged_model, folder)
    return folder


@pytest.fixture(scope="module")
def labels(teacher: Path, tiny_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("labels") / "labels"
    return label(str(tiny_data), str(teacher), str(output), precision="fp32")


def rows_of(data: Path) -> Any:
    return load_from_disk(str(data))["train"]


@given(st.lists(st.floats(1e-6, 1), min_size=2, max_size=12))
def test_a_code_is_wrong_by_two_percent_at_most(weights: list[float]) -> None:
    wanted = torch.tensor(weights) / sum(weights)
    read = torch.exp2(codes_of(wanted).float() / -16)  # before they are made to sum to 1
    seen = wanted > 2**-15
    assert torch.allclose(read[seen], wanted[seen], rtol=0.022)
    assert torch.all(read[~seen] < 2**-14.9)
    assert float(probabilities_of(codes_of(wanted)).sum()) == pytest.approx(1)


def test_it_goes_on_where_it_was_stopped(
    teacher: Path, tiny_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (labelling, labels_module):
        monkeypatch.setattr(module, "ROWS_IN_PART", 50)
    names = str(tiny_data), str(teacher), str(tmp_path / "labels")
    whole = label(*names[:2], str(tmp_path / "whole"))
    save, files = labelling.save_file, list[Path]()

    def fill_disk(codes: Any, file: Path) -> None:
        if len(files) == 1:
            raise OSError("no space left")
        files.append(file)
        save(codes, file)

    with monkeypatch.context() as patch, pytest.raises(OSError, match="no space"):
        patch.setattr(labelling, "save_file", fill_disk)
        label(*names)
    refusal = r"no labels in .*, or not all; expected a folder with labels.yaml and all parts"
    for folder in ("labels", "none"):
        with pytest.raises(InputError, match=refusal):
            Labels(tmp_path / folder)
    progress: list[tuple[int, int]] = []
    label(*names, tell=lambda *words: progress.append(words))
    n_words = sum(rows_of(tiny_data)["n_words"])
    assert progress[-1] == (n_words, n_words)
    parts = sorted(path.name for path in whole.glob("part-*"))
    assert len(parts) > 1
    for name in (*parts, LABELS_FILE):
        assert (tmp_path / "labels" / name).read_bytes() == (whole / name).read_bytes()


def test_label_loss__divergence_from_the_teachers_tagger(teacher: Path, tiny_data: Path, labels: Path) -> None:
    model = models.load(teacher)
    examples = ChunkExamples(rows_of(tiny_data), model.tokenizer, labels=Labels(labels))
    batch = make_collator(model.tokenizer.pad_id)([examples[row] for row in (0, 7, 50, len(examples) - 1)])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(8)
        pupil = Tagger(TINY_SHAPE.d_model, model.task.marks)
    slots = batch.marks != IGNORED
    with torch.no_grad():
        states = states_at_words(model.encode(batch.input_ids, batch.attention_mask), batch.word_ends)
        by_teacher, by_pupil = ([head[slots] for head in tagger(states)] for tagger in (model.tagger, pupil))
        expected = sum(
            kl_div(own.log_softmax(-1), wanted.softmax(-1), reduction="batchmean")
            for own, wanted in zip(by_pupil, by_teacher, strict=True)
        )
        objective = Objective(replace(model, tagger=pupil), LossConfig(tagger_weight=1))
        assert float(objective(batch).teacher) == pytest.approx(float(expected), rel=0.02)
        assert float(Objective(model, LossConfig(tagger_weight=1))(batch).teacher) < 1e-3


def test_of_words_that_noise_has_changed_the_teacher_says_nothing(teacher: Path, tiny_data: Path, labels: Path) -> None:
    model = models.load(teacher)
    config = DataConfig(noise=NoiseConfig(1, {"substitute": 0.5, "insert": 0.3}))
    plain = ChunkExamples(rows_of(tiny_data), model.tokenizer, labels=Labels(labels))
    noisy = ChunkExamples(rows_of(tiny_data), model.tokenizer, config, labels=Labels(labels))
    assert all(plain[row].teacher_codes == tuple(Labels(labels).of_chunk(row)) for row in range(5))
    taught = [bool(code) for row in range(20) for code in noisy[row].teacher_codes]
    assert 0.1 < sum(taught) / len(taught) < 0.7
    for row in range(20):
        known = set(Labels(labels).of_chunk(row))
        assert all(code in known for code in noisy[row].teacher_codes if code)
    word = WordLabel(b"a", "we", ",")
    assert [word.code_of(*now) for now in (("we", ","), ("We", ","), ("we", "."))] == [b"a", b"", b""]


def test_a_run_learns_from_labels(config: TrainConfig, teacher: Path, labels: Path) -> None:
    config = replace(config, loss=LossConfig(text_weight=0, tagger_weight=1))
    run = train(replace(config, data=replace(config.data, labels=str(labels))))
    assert all(line["teacher_loss"] > 0 for line in log_lines(run))


def test_labels_of_other_data_are_refused(teacher: Path, tiny_data: Path, labels: Path, tmp_path: Path) -> None:
    stored = Labels(labels)
    with pytest.raises(ConfigError, match=r"labels .* of another data set; expected those of data.path"):
        stored.check_data("0123", stored.info.rows)
    with pytest.raises(ConfigError, match=r"labels .* of marks .*; expected the pupil's"):
        Labels(labels, ("", ",", "…"))
    other = models.load(teacher)
    with torch.no_grad():
        other.network.shared.weight.add_(0.1)
    models.save(other, tmp_path / "other")
    with pytest.raises(ConfigError, match="which holds labels of another model or data set"):
        label(str(tiny_data), str(tmp_path / "other"), str(labels))
    models.save(replace(other, tagger=None), tmp_path / "plain")
    with pytest.raises(ConfigError, match="without a tagger"):
        label(str(tiny_data), str(tmp_path / "plain"))


def test_a_pupil_with_fewer_marks_reads_their_columns(labels: Path) -> None:
    whole, part = Labels(labels), Labels(labels, ("", "?"))
    classes = whole.info.classes
    columns = [0, classes.index("?"), *range(len(classes), len(classes) + 3)]
    wanted = [bytes(code[column] for column in columns) for code in whole.of_chunk(3)]
    assert part.of_chunk(3) == wanted and len(classes) > 2


def test_a_bundled_teacher_says_nothing_of_other_languages(tmp_path: Path, invoke: Invoke) -> None:
    german = "wie geht es dir heute und was machst du mit dem wagen"
    texts = ["how are you today and what do you do with the car", german]
    rows = [{"source": text, "target": text, "style": "talk", "n_words": len(text.split())} for text in texts]
    DatasetDict({"train": Dataset.from_list(rows)}).save_to_disk(str(tmp_path))
    code, out, _ = invoke("label", tmp_path, "--model", "small")
    assert (code, out) == (0, f"{tmp_path}/labels-small: labelled\n"), "beside the data set"
    stored = Labels(tmp_path / "labels-small")
    english, german = stored.of_chunk(0), stored.of_chunk(1)
    assert all(english) and len(english) == 12
    assert german == [b""] * 12
