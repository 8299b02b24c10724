"""What `prepare` says about a data set, and what it makes of text that is not as it should be."""

from __future__ import annotations

import shutil
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from datasets import load_from_disk
from datasets.utils.logging import disable_progress_bar
from tiny import tiny_text

from t5punct.cli import main
from t5punct.errors import ConfigError
from t5punct.text.words import split
from t5punct.training.data import contents as report_plot
from t5punct.training.data.chunks import ChunkConfig
from t5punct.training.data.contents import as_text
from t5punct.training.data.corpus import CorpusConfig
from t5punct.training.data.prepare import PrepareConfig, prepare

disable_progress_bar()
TALKS = [" ".join(tiny_text(10, seed)) for seed in range(20)]


@pytest.fixture
def config(tmp_path: Path) -> PrepareConfig:
    (tmp_path / "talks.txt").write_text("\n".join([*TALKS, "Too short."]))
    return PrepareConfig(
        output=str(tmp_path / "made"),
        root=str(tmp_path),
        corpora=[CorpusConfig("talks.txt")],
        chunks=ChunkConfig(4, 12),
        holdout_percent=10.0,
    )


def test_the_report_counts_documents_labels_and_lengths(config: PrepareConfig) -> None:
    report = prepare(config)
    rows = load_from_disk(config.output)["train"]
    words = [word for target in rows["target"] for word in split(target).words]
    found = {one.name: one.count for one in report.content.labels}
    assert found == {label: sum(word.label == label for word in words) for label in found}
    assert sum(found.values()) == report.content.n_words == report.train_words == len(words)
    assert {one.name for one in report.content.cases} == {"lower", "capitalised"}
    assert sum(one.count for one in report.content.lengths) == report.train_chunks
    (corpus,) = report.corpora
    assert (corpus.documents, corpus.held_out, corpus.dropped_short, corpus.dropped_empty) == (21, 2, 0, 0)
    assert corpus.words == sum(len(talk.split()) for talk in TALKS[:19])
    assert report.warnings == ()
    page = (Path(config.output) / "report.md").read_text(encoding="utf-8")
    assert page == as_text(report)
    for shown in ("| `,` |", "| none |", "| lower |", "| 9 to 16 |", "| 21 | 2 |", report.content.examples[0].source):
        assert shown in page
    assert (Path(config.output) / "report.png").read_bytes()[:4] == b"\x89PNG"


def test_documents_that_are_dropped_are_counted_with_the_reason(config: PrepareConfig, tmp_path: Path) -> None:
    texts = [*TALKS, "", "So it goes.", TALKS[0]]
    (tmp_path / "table.csv").write_text("text\n" + "".join(f'"{text}"\n' for text in texts))
    report = prepare(replace(config, corpora=[CorpusConfig("table.csv")]))
    assert (report.corpora[0].dropped_short, report.corpora[0].dropped_empty) == (0, 1)
    scarce = replace(config, corpora=[CorpusConfig("table.csv", words=80)], output=str(tmp_path / "scarce"))
    report = prepare(scarce)
    assert report.corpora[0].dropped_short > 0, "stretches of three and four words"
    assert report.corpora[0].words <= 80


def test_without_matplotlib_there_is_no_picture(config: PrepareConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_plot, "find_spec", lambda name: None)
    prepare(config)
    assert (Path(config.output) / "report.md").is_file()
    assert not (Path(config.output) / "report.png").exists()


def test_the_command_prints_the_report_in_brief(
    config: PrepareConfig, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "more").mkdir()
    bare = [f"we know that {'very ' * (n % 7)}well" for n in range(30)]
    (tmp_path / "more" / "bare.txt").write_text("\n".join(bare))
    (tmp_path / "more" / "talk.vtx").write_text("WEBVTT")
    corpora = "corpora=[{path: talks.txt}, {path: more}]"
    with pytest.raises(SystemExit) as exited:
        main(
            ["prepare", f"output={config.output}", f"root={tmp_path}", corpora, "chunks={min_words: 4, max_words: 12}"]
        )
    assert exited.value.code == 0
    out, errors = capsys.readouterr()
    assert "marks of 1,000 words: . " in out
    assert "more: 1 x .vtx left out: no reader for it" in out
    assert f"more in {config.output}/report.md" in out
    (line,) = errors.splitlines()
    assert line.startswith("t5punct: warning: ")
    assert f"more: 0 marks in {sum(len(text.split()) for text in bare)} words of samples; expected punctuated" in line


def test_text_without_capitals_is_warned_about_where_they_are_wanted(config: PrepareConfig, tmp_path: Path) -> None:
    (tmp_path / "low.txt").write_text("\n".join(TALKS).lower())
    low = replace(config, corpora=[CorpusConfig("low.txt")])
    (warning,) = prepare(low).warnings
    assert "low.txt: no capitals; expected text with its own case" in warning
    assert prepare(replace(low, cased=False, output=str(tmp_path / "uncased"))).warnings == ()


def test_a_validation_that_would_have_nothing_is_warned_about(config: PrepareConfig) -> None:
    (warning,) = prepare(replace(config, holdout_percent=1.0)).warnings  # one document, which is too short
    assert warning.startswith(
        "no chunk to validate with; expected held-out documents of 4 words and more; raise holdout_"
    )


def test_wrapped_text_is_prepared_by_its_paragraphs(config: PrepareConfig, tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text("\n\n".join(textwrap.fill(talk, 70) for talk in TALKS))
    (tmp_path / "lines.txt").write_text("\n".join(TALKS))
    book = replace(config, corpora=[CorpusConfig("book.txt")], chunks=ChunkConfig(20, 100))
    report = prepare(book)
    assert report.corpora[0].documents == len(TALKS)
    assert report.train_chunks > 0
    with pytest.raises(ConfigError, match=r"the longest of \d+ documents has 1\d words\), .* corpora.document"):
        prepare(replace(book, corpora=[CorpusConfig("book.txt", document="line")], output=str(tmp_path / "lines")))


def test_what_a_killed_run_left_is_removed_and_a_data_set_appears_whole(
    config: PrepareConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from t5punct.training.data import prepare as module

    (tmp_path / "made.partial" / "tokenizer").mkdir(parents=True)

    def looked_at(*arguments: object) -> bool:
        assert not Path(config.output).exists(), "not before it is whole"
        assert not (tmp_path / "made.partial" / "tokenizer").exists()
        return False

    monkeypatch.setattr(module, "draw_report", looked_at)
    prepare(config)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made", "talks.txt"]
    shutil.rmtree(config.output)
    Path(config.output).mkdir()
    (Path(config.output) / "notes.txt").write_text("mine")
    monkeypatch.undo()
    prepare(config)
    assert {"notes.txt", "dataset_dict.json", "report.md"} <= {path.name for path in Path(config.output).iterdir()}
    assert not (tmp_path / "made.partial").exists()
