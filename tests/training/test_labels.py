"""A smaller model learns from a larger one, or from its labels: computed once, a dozen bytes a word, and as good."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from chunk_rows import batch_of
from command import Invoke
from datasets import load_from_disk
from hypothesis import given
from hypothesis import strategies as st
from left_by_runs import log_lines
from tiny import TINY_SHAPE
from transformers import T5ForConditionalGeneration, UMT5ForConditionalGeneration

from t5punct import model as models
from t5punct.errors import ConfigError, InputError
from t5punct.model import Model
from t5punct.t5.delay import Delay
from t5punct.t5.tagger import Tagger, states_at_words
from t5punct.training.config import DataConfig, LossConfig, TeacherConfig, TrainConfig
from t5punct.training.examples.batches import Batch, make_collator
from t5punct.training.examples.example import ChunkExamples
from t5punct.training.examples.noise import NoiseConfig
from t5punct.training.loop.objective import Losses, Objective
from t5punct.training.loop.train import train
from t5punct.training.start.starting_model import with_encoder_layers
from t5punct.training.teacher import labelling
from t5punct.training.teacher.labelling import LabelConfig, label
from t5punct.training.teacher.labels import LABELS_FILE, Labels, codes_of, part_name, probabilities_of
from t5punct.training.teacher.teacher import LabelTeacher, Teacher


@pytest.fixture(scope="module")
def teacher(tagged_model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "teacher"
    models.save(tagged_model, folder)
    return folder


@pytest.fixture(scope="module")
def labels(teacher: Path, tiny_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("labels") / "labels"
    return label(LabelConfig(str(tiny_data), str(teacher), str(output), precision="fp32"))


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


def test_labels_are_what_the_tagger_says_of_each_chunk_alone(teacher: Path, tiny_data: Path, labels: Path) -> None:
    model, stored = models.load(teacher), Labels(labels)
    rows = rows_of(tiny_data)
    assert model.tagger is not None
    for row in (0, 7, len(rows) - 1):
        batch = batch_of(model, rows, row)
        states = model.encode(batch.input_ids, batch.attention_mask)
        marks, cases = model.tagger(states_at_words(states, batch.word_ends))
        wanted = torch.cat([codes_of(head[0].softmax(-1)) for head in (marks, cases)], -1)
        read = torch.tensor([list(code) for code in stored.of_row(row)])
        assert torch.all((read - wanted).abs() <= 1)  # a batch adds in another order


def test_it_goes_on_where_it_was_stopped(
    teacher: Path, tiny_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labelling, "ROWS_IN_PART", 50)
    config = LabelConfig(str(tiny_data), str(teacher), str(tmp_path / "labels"))
    whole = label(replace(config, output=str(tmp_path / "whole")))
    write, files = labelling._write, list[str]()

    def fill_disk(file: Path, codes: Any) -> None:
        if len(files) == 1:
            raise OSError("no space left")
        files.append(file.name)
        write(file, codes)

    with monkeypatch.context() as patch, pytest.raises(OSError, match="no space"):
        patch.setattr(labelling, "_write", fill_disk)
        label(config)
    with pytest.raises(InputError, match=r"no labels in .*; expected a folder with labels.yaml"):
        Labels(tmp_path / "labels")
    progress: list[tuple[int, int]] = []
    label(config, lambda *words: progress.append(words))
    n_words = sum(rows_of(tiny_data)["n_words"])
    assert progress[-1] == (n_words, n_words)
    parts = sorted(path.name for path in whole.glob("part-*"))
    assert len(parts) > 1
    for name in (*parts, LABELS_FILE):
        assert (tmp_path / "labels" / name).read_bytes() == (whole / name).read_bytes()


def test_learning_from_labels_is_learning_from_the_teacher(teacher: Path, tiny_data: Path, labels: Path) -> None:
    model = models.load(teacher)
    examples = ChunkExamples(rows_of(tiny_data), model.tokenizer, labels=Labels(labels))
    batch = make_collator(model.tokenizer.pad_id)([examples[row] for row in range(4)])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(8)
        pupil = replace(model, tagger=Tagger(TINY_SHAPE.d_model, model.task.marks))
    config = TeacherConfig(str(teacher), states_weight=0.0)
    with torch.no_grad():
        by_teacher = Objective(pupil, LossConfig(tagger_weight=1), Teacher(config, pupil))(batch).teacher
        by_labels = Objective(pupil, LossConfig(tagger_weight=1), LabelTeacher(config))(batch).teacher
        itself = Objective(model, LossConfig(tagger_weight=1), LabelTeacher(config))(batch).teacher
    assert float(by_labels) == pytest.approx(float(by_teacher), rel=0.02)
    assert float(itself) < 1e-3 < float(by_labels)


def test_of_words_that_noise_has_changed_the_teacher_says_nothing(teacher: Path, tiny_data: Path, labels: Path) -> None:
    model = models.load(teacher)
    config = DataConfig(noise=NoiseConfig(share=1, substitute=0.5, delete=0, insert=0.3))
    plain = ChunkExamples(rows_of(tiny_data), model.tokenizer, labels=Labels(labels))
    noisy = ChunkExamples(rows_of(tiny_data), model.tokenizer, config, labels=Labels(labels))
    assert all(plain[row].taught == tuple(Labels(labels).of_row(row)) for row in range(5))
    taught = [bool(code) for row in range(20) for code in noisy[row].taught]
    assert 0.1 < sum(taught) / len(taught) < 0.7
    for row in range(20):
        known = set(Labels(labels).of_row(row))
        assert all(code in known for code in noisy[row].taught if code)


def test_a_run_learns_from_labels(config: TrainConfig, teacher: Path, labels: Path) -> None:
    config = replace(config, loss=LossConfig(text_weight=0, tagger_weight=1))
    run = train(replace(config, teacher=TeacherConfig(str(labels))))
    assert all(line["teacher_loss"] > 0 for line in log_lines(run))


def test_labels_of_other_data_or_marks_are_refused(
    teacher: Path, tiny_data: Path, labels: Path, tmp_path: Path
) -> None:
    stored = Labels(labels)
    with pytest.raises(ConfigError, match=r"labels .* of another data set; expected those of data.path"):
        stored.check("0123", stored.info.rows, tuple(stored.info.classes))
    with pytest.raises(ConfigError, match=r"labels .* of marks .*; expected the pupil's"):
        stored.check(stored.info.data, stored.info.rows, ("", ",", "."))
    other = tmp_path / "other"
    models.save(models.load(teacher).with_task(max_tokens=77), other)
    weights = models.load(other)
    with torch.no_grad():
        weights.network.get_input_embeddings().weight.add_(0.1)
    models.save(weights, other)
    with pytest.raises(ConfigError, match="which holds labels of another model or data set"):
        label(LabelConfig(str(tiny_data), str(other), str(labels)))


def test_the_command_labels_beside_the_data_set(teacher: Path, tiny_data: Path, tmp_path: Path, invoke: Invoke) -> None:
    output = tmp_path / "said"
    code, out, _ = invoke("label", tiny_data, "--model", teacher, "-o", output)
    assert code == 0 and f"{output}: labelled" in out
    assert LabelConfig("prepared/base", "runs/large").folder == Path("prepared/base/labels-large")
    assert (output / part_name(0)).is_file()


@pytest.fixture
def batch(tiny_model: Model, tiny_data: Path) -> Batch:
    return batch_of(tiny_model, rows_of(tiny_data), 0, 1, 2)


def losses(model: Model, config: TeacherConfig, batch: Batch) -> Losses:
    with torch.no_grad():
        measured: Losses = Objective(model, LossConfig(tagger_weight=1.0), Teacher(config, model))(batch)
    return measured


def test_a_pupil_that_is_its_teacher_has_nothing_to_learn(tagged_model: Model, teacher: Path, batch: Batch) -> None:
    assert float(losses(tagged_model, TeacherConfig(str(teacher)), batch).teacher) == pytest.approx(0.0, abs=1e-5)
    other = replace(tagged_model, tagger=Tagger(tagged_model.network.config.d_model, tagged_model.task.marks))
    assert float(losses(other, TeacherConfig(str(teacher)), batch).teacher) > 0.01
    states_alone = TeacherConfig(str(teacher), labels_weight=0.0)
    assert float(losses(other, states_alone, batch).teacher) == pytest.approx(0.0, abs=1e-5)


def test_fewer_layers_have_other_states(tagged_model: Model, teacher: Path, batch: Batch) -> None:
    fewer = with_encoder_layers(tagged_model, [1])
    config = TeacherConfig(str(teacher), states_weight=2.0, labels_weight=0.0)
    measured = losses(fewer, config, batch)
    ids, mask = batch.input_ids, batch.attention_mask
    with torch.no_grad():
        states, wanted = (
            model.network.get_encoder()(input_ids=ids, attention_mask=mask).last_hidden_state
            for model in (fewer, tagged_model)
        )
    apart = 1 - torch.cosine_similarity(states, wanted, dim=-1)[mask.bool()].mean()
    assert float(measured.teacher) == pytest.approx(2.0 * float(apart), rel=1e-4)
    assert float(measured.total) == pytest.approx(
        float(measured.text) + float(measured.tags) + 0.5 * float(measured.cases) + float(measured.teacher), rel=1e-5
    )


def test_layers_that_are_kept_are_copies_and_a_tagger_stays_with_the_layer_that_it_reads(tagged_model: Model) -> None:
    shallow = with_encoder_layers(tagged_model, [1])
    assert shallow.network.config.num_layers == 1 and tagged_model.network.config.num_layers == 2
    name = "layer.0.SelfAttention.q.weight"
    state, whole = shallow.network.encoder.block[0].state_dict(), tagged_model.network.encoder.block[1].state_dict()
    assert torch.equal(state[name], whole[name])
    assert shallow.tagger is tagged_model.tagger and with_encoder_layers(tagged_model, [0]).tagger is None
    for layers in ([2], [1, 0], [0, 0], [-1]):
        with pytest.raises(ConfigError, match="some of 0 to 1"):
            with_encoder_layers(tagged_model, layers)


@pytest.mark.parametrize("kind", [T5ForConditionalGeneration, UMT5ForConditionalGeneration])
def test_a_model_without_its_first_layer_keeps_its_positions(tagged_model: Model, tmp_path: Path, kind: Any) -> None:
    """Of a T5 only the first layer has position biases; an umT5 has some in each."""
    shape = {**asdict(TINY_SHAPE), "num_layers": 3, "vocab_size": tagged_model.network.config.vocab_size}
    torch.manual_seed(2)
    network = kind(kind.config_class(**shape, pad_token_id=0)).eval()
    shallow = with_encoder_layers(replace(tagged_model, network=network, tagger=None), [1, 2])
    index = 0 if kind is T5ForConditionalGeneration else 1
    wanted = network.encoder.block[index].layer[0].SelfAttention.relative_attention_bias.weight
    assert torch.equal(shallow.network.encoder.block[0].layer[0].SelfAttention.relative_attention_bias.weight, wanted)
    models.save(shallow, tmp_path)
    ids = torch.tensor([[5, 6, 7, 8, 5, 6, 1]])
    states = [model.encode(ids, torch.ones_like(ids)) for model in (shallow, models.load(tmp_path))]
    assert torch.allclose(states[0], states[1], atol=1e-6)


def test_layers_that_are_kept_do_not_look_ahead_as_the_old_ones_did(tagged_model: Model) -> None:
    """A delay of layer 1 would be nobody's in an encoder of one layer, and its words would never be seen."""
    delayed = tagged_model.with_task(delay_left_words=32, delay_layers=[1, 0])
    task = with_encoder_layers(delayed, [0]).task
    assert (task.delay_left_words, task.delay_layers) == (None, [])
    assert sum(Delay.of_task(4, task).look_aheads(1)) == 4


def test_a_small_model_is_trained_without_its_teacher_in_it(config: TrainConfig, teacher: Path) -> None:
    config = replace(config, tokenizer=None, init_from=str(teacher), encoder_layers=[0])
    trained = models.load(train(replace(config, teacher=TeacherConfig(str(teacher)))))
    assert trained.network.config.num_layers == 1
    assert not any("teacher" in name for name in trained.network.state_dict())


def test_a_teacher_of_other_tokens_or_without_a_tagger_is_refused(
    tiny_model: Model, tiny_data: Path, tmp_path: Path
) -> None:
    models.save(tiny_model, tmp_path / "plain")
    for source in (tmp_path / "plain", models.bundled_folder()):
        with pytest.raises(ConfigError, match="a model with a tagger, and the tokenizer"):
            Teacher(TeacherConfig(str(source)), tiny_model)
    with pytest.raises(ConfigError, match="without a tagger"):
        label(LabelConfig(str(tiny_data), str(tmp_path / "plain")))
