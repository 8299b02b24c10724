"""A data set from end to end: vocabulary, windows and their lengths; what is said about it, and what is refused."""

import json
import random
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command import Invoke
from datasets import load_from_disk
from hypothesis import given
from hypothesis import strategies as st
from left_by_runs import full_disk
from tiny import tiny_text

from t5punct import config as settings
from t5punct.errors import ConfigError
from t5punct.model import Model, load_tokenizer
from t5punct.t5.task import TaskConfig
from t5punct.t5.tokenization import TaskTokenizer
from t5punct.text.spelling_table import read_table
from t5punct.text.words import split
from t5punct.training.data import prepare as module
from t5punct.training.data.chunks import Chunk, ChunkConfig, cut_into_chunks
from t5punct.training.data.corpora import CorpusConfig
from t5punct.training.data.prepare import PrepareConfig, PrepareReport, as_text, prepare
from t5punct.training.examples.example import count_tokens

TALKS = [" ".join(tiny_text(10, seed)) for seed in range(20)]


@pytest.fixture
def config(tmp_path: Path, tiny_tokenizer_folder: Path) -> PrepareConfig:
    """Two corpora: talks and chats."""
    (tmp_path / "talks.txt").write_text("\n".join(TALKS))
    chats = [json.dumps({"text": " ".join(tiny_text(5, seed))}) for seed in range(10)]
    (tmp_path / "chats.jsonl").write_text("\n".join(chats))
    corpora = [CorpusConfig("talks.txt", "talk"), CorpusConfig("chats.jsonl", "chat", words=150)]
    return PrepareConfig(
        str(tmp_path / "made"), str(tmp_path), corpora, ChunkConfig(4, 12, max_tokens=24), holdout_percent=10.0, seed=3,
        tokenizer=str(tiny_tokenizer_folder),
    )  # fmt: skip


@pytest.fixture
def talks_only(config: PrepareConfig, tmp_path: Path) -> PrepareConfig:
    (tmp_path / "talks.txt").write_text("\n".join([*TALKS, "Too short."]))
    return replace(config, corpora=config.corpora[:1], tokenizer=None)


def prepared(config: PrepareConfig, name: str, **changes: Any) -> PrepareReport:
    """The report of a data set of another name, beside that of the config."""
    return prepare(replace(config, output=str(Path(config.output).with_name(name)), **changes))


def test_a_data_set_from_end_to_end(config: PrepareConfig) -> None:
    report = prepare(config)
    folder = Path(config.output)
    data = load_from_disk(str(folder))
    assert set(data) == {"train", "validation"}
    assert report.train_chunks == len(data["train"]) > report.validation_chunks == len(data["validation"]) > 0
    assert report.train_words == sum(data["train"]["n_words"])
    assert set(data["train"].column_names) == {"source", "target", "style", "n_words"}
    assert set(data["train"]["style"]) == {"talk", "chat"}
    assert not list(folder.glob(".cache*"))
    assert settings.load(PrepareConfig, folder / "prepare.yaml") == config
    tokenizer = load_tokenizer(config.tokenizer, TaskConfig())
    for row in data["train"]:
        words = split(row["target"]).words
        assert row["source"].split() == [word.normal for word in words]
        assert row["n_words"] == len(words)
        assert len(tokenizer.source(row["source"].split(), row["style"]).ids) <= 24
        assert len(tokenizer.encode_target(row["target"])) <= 24
    targets = " ".join(data["train"]["target"][:])
    assert {",", ".", "?", "!", "...", "-"} <= {word.marks for word in split(targets).words}
    assert targets != targets.lower()


def test_a_seed_gives_the_same_data_with_any_number_of_workers_and_another_seed_others(config: PrepareConfig) -> None:
    def chunks(name: str, **changes: Any) -> list[str]:
        data = load_from_disk(prepared(config, name, tokenizer=None, **changes).output)
        return [f"{split_name} {row}" for split_name in data for row in data[split_name]]

    first = chunks("first")
    assert first == chunks("again") != chunks("other", seed=4)
    assert first == chunks("by-eleven", workers=11), "of 20 and 10 documents"


def test_a_mistake_that_a_worker_finds_is_one_clear_line(config: PrepareConfig, tmp_path: Path) -> None:
    letters = "".join(map(chr, range(0x430, 0x450)))  # in a document that no worker begins with
    (tmp_path / "talks.txt").write_text("\n".join([*TALKS[:9], f"{letters} is right, we know that now.", *TALKS[9:]]))
    with pytest.raises(ConfigError, match=r"the word 'абв.*' alone has more than 24 tokens"):
        prepare(replace(config, workers=2))
    assert not Path(config.output).exists()


def test_a_data_set_is_never_overwritten_nor_what_is_left_of_it(talks_only: PrepareConfig, tmp_path: Path) -> None:
    output, again = Path(prepare(talks_only).output), replace(talks_only, seed=9)
    for lost in (None, "dataset_dict.json", "prepare.yaml", "train"):
        if lost is not None:
            (output / lost).rename(tmp_path / lost)
        before = {path: path.read_bytes() for path in output.rglob("*") if path.is_file()}
        with pytest.raises(ConfigError, match=r"output .* holds .* already; expected a folder without a data set; rem"):
            prepare(again)
        assert before == {path: path.read_bytes() for path in output.rglob("*") if path.is_file()}


def test_a_full_disk_is_one_clear_line_and_leaves_nothing(config: PrepareConfig, invoke: Invoke) -> None:
    output = Path(config.output)
    output.mkdir()
    (output / "notes.txt").write_text("mine")
    settings.save(replace(config, workers=2, tokenizer=None), output.with_name("prepare.yaml"))
    with full_disk(2000):
        code, _, err = invoke("prepare", "--config", output.with_name("prepare.yaml"))
    assert code == 2
    assert re.fullmatch(r"t5punct: .*File too large.*\n", err)
    assert [path.name for path in output.glob("*")] == ["notes.txt"]


def test_the_report_counts_documents_and_marks(talks_only: PrepareConfig) -> None:
    report = prepare(talks_only)
    words = [word for row in load_from_disk(talks_only.output)["train"] for word in split(row["target"]).words]
    counts = report.marks
    assert counts == {label: sum(word.marks == label for word in words) for label in counts}
    assert sum(counts.values()) == report.train_words == len(words)
    (corpus,) = report.corpora
    n_words = sum(len(talk.split()) for talk in TALKS[:19])
    assert [*corpus.values()][2:] == [21, 2, n_words, 0, 0]
    assert report.warnings == ()
    page = (Path(talks_only.output) / "report.md").read_text(encoding="utf-8")
    assert page == as_text(report)
    (left_out,) = report.notes
    n_left_out = n_words - report.train_words
    assert left_out.startswith(f"left out: {n_left_out} of {n_words:,} words are in no chunk: ")
    example = report.examples[0].source
    for shown in (left_out, "| `,` |", "| none |", "| 21 | 2 |", example):
        assert shown in page


def test_what_is_left_out_is_counted_with_silences_too(talks_only: PrepareConfig, tmp_path: Path) -> None:
    starts = [number + number // 5 for number in range(60)]  # seconds: of silence one, after each five words
    words = [{"word": f"w{number}", "start": start, "end": start + 1} for number, start in enumerate(starts)]
    (tmp_path / "talk.jsonl").write_text(json.dumps({"words": words}))
    corpora = [CorpusConfig("talk.jsonl")]
    report = prepared(talks_only, "heard", corpora=corpora, pause_ms=280, holdout_percent=0.0)
    rows = load_from_disk(tmp_path / "heard/train")
    n_silences = sum(source.count("<extra_id_1>") for source in rows["source"])
    assert report.train_words < 60 and n_silences > 0
    n_left_out = 71 - report.train_words - n_silences
    assert report.notes[0].startswith(f"left out: {n_left_out} of 71 words and silences are in no chunk: ")


def test_a_data_set_has_the_spellings_of_its_text(talks_only: PrepareConfig, tmp_path: Path) -> None:
    prepare(talks_only)
    assert not (Path(talks_only.output) / "spellings.txt").exists(), "`I` is `i` in these talks"
    told = "We know what I'm, an iPhone, and she said that PyTorch is from Coca-Cola, not from iphone."
    talks = "\n".join([" ".join([told] * 3), *TALKS] * 8)
    (tmp_path / "talks.txt").write_text(re.sub(r"\bi\b", "I", talks))
    for output, cased in (("cased", True), ("uncased", False)):
        prepared(talks_only, output, cased=cased)
    forms = read_table(tmp_path / "cased").forms
    assert [form for form in forms if not form.islower()] == ["Coca", "Cola", "I", "PyTorch"]
    assert "and" in forms, "it begins sentences, too"
    assert not (tmp_path / "uncased/spellings.txt").exists()


def test_documents_that_are_dropped_are_counted_with_the_reason(talks_only: PrepareConfig, tmp_path: Path) -> None:
    texts = [*TALKS, "", "So it goes.", TALKS[0]]
    (tmp_path / "table.csv").write_text("text\n" + "".join(f'"{text}"\n' for text in texts))
    (corpus,) = prepared(talks_only, "whole", corpora=[CorpusConfig("table.csv")]).corpora
    assert (corpus["too short"], corpus["empty"]) == (0, 1)
    (scarce,) = prepared(talks_only, "scarce", corpora=[CorpusConfig("table.csv", words=80)]).corpora
    assert scarce["too short"] > 0, "stretches of three and four words"
    assert scarce["words"] <= 80


def test_the_command_prints_the_report_in_brief(talks_only: PrepareConfig, tmp_path: Path, invoke: Invoke) -> None:
    (tmp_path / "more").mkdir()
    bare = [f"we know that {'very ' * (n % 7)}well" for n in range(30)]
    (tmp_path / "more" / "bare.txt").write_text("\n".join(bare))
    (tmp_path / "more" / "talk.vtx").write_text("WEBVTT")
    chosen = ("corpora=[{path: talks.txt}, {path: more}]", "chunks={min_words: 4, max_words: 12}")
    code, out, errors = invoke("prepare", f"output={talks_only.output}", f"root={tmp_path}", *chosen)
    assert code == 0
    assert "left out: " in out
    assert "more: 1 x .vtx left out: no reader for it" in out
    assert f"more in {talks_only.output}/report.md" in out
    bare_text, low_text = errors.splitlines()
    n_words = sum(len(text.split()) for text in bare)
    assert bare_text.startswith("t5punct: warning: ")
    assert f"more: 0 marks in {n_words} words of samples; expected punctuated text" in bare_text
    assert "more: no capitals, or nothing else; expected text with its own case" in low_text
    low = ("prepare", f"root={tmp_path}", *chosen, "cased=false")
    assert invoke(*low, f"output={tmp_path}/low")[2].count("\n") == 1
    assert invoke(*low, f"output={tmp_path}/quiet", "-q")[::2] == (0, "")


def test_single_files_without_marks_or_capitals_are_named(talks_only: PrepareConfig, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    good, bare = "\n".join(TALKS), "We know that it is so " * 40
    contents = {"a": good, "bare": bare, "b": good, "loud": good.upper(), "few": "we know"}
    for name, content in contents.items():
        (tmp_path / "more" / f"{name}.txt").write_text(content)
    warnings = prepared(talks_only, "one", corpora=[CorpusConfig("more")]).warnings
    more = f"{tmp_path}/more"
    assert warnings == (
        f"{more}: hardly a mark in {more}/bare.txt; expected punctuated text; leave such files out",
        f"{more}: no capitals, or nothing else, in {more}/loud.txt; expected text with its own case; leave such files "
        "out",
    )
    for number in range(6):
        (tmp_path / "more" / f"bare{number}.txt").write_text(bare)
    uncased = prepared(talks_only, "two", corpora=[CorpusConfig("more")], cased=False).warnings
    assert [text.partition(" and ")[2].partition(";")[0] for text in uncased] == ["2 others"]


def test_of_several_files_one_that_is_no_text_is_left_out_with_a_note(
    talks_only: PrepareConfig, tmp_path: Path, invoke: Invoke
) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more/a.txt").write_text("\n".join(TALKS))
    (tmp_path / "more/b.txt").write_bytes("Not this line.\nOlé.\n".encode("latin-1"))
    (tmp_path / "more/c.txt").write_bytes(b"%PDF-1.4\n")
    report = prepared(talks_only, "all", corpora=[CorpusConfig("more")])
    assert [note.partition(f"{tmp_path}/more: {tmp_path}/more/")[2] for note in report.notes[-2:]] == [
        "b.txt line 2 is not UTF-8 (invalid continuation byte), left out; convert it, e.g. with iconv -f latin1 -t "
        "utf-8",
        "c.txt is a PDF, left out; save its text as .txt in the program that opens it",
    ]
    assert report.corpora[0]["documents"] == len(TALKS), "not a line of it"
    command = ("prepare", f"root={tmp_path}", f"output={tmp_path}/none")
    code, _, error = invoke(*command, "corpora=[{path: 'more/[bc].txt'}]")
    assert code == 2 and "c.txt is a PDF; expected a text file" in error, "nothing is left"


def test_what_a_killed_run_left_is_removed_and_a_data_set_appears_whole(
    talks_only: PrepareConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "made.partial" / "tokenizer").mkdir(parents=True)
    made = Path(talks_only.output)

    def check_folders(report: PrepareReport) -> str:
        assert not made.exists(), "not before it is whole"
        assert not (tmp_path / "made.partial" / "tokenizer").exists()
        return as_text(report)

    with monkeypatch.context() as patch:
        patch.setattr(module, "as_text", check_folders)
        prepare(talks_only)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chats.jsonl", "made", "talks.txt"]
    shutil.rmtree(made)
    made.mkdir()
    (made / "notes.txt").write_text("mine")
    prepare(talks_only)
    assert {"notes.txt", "dataset_dict.json", "report.md"} <= {path.name for path in made.iterdir()}
    assert not (tmp_path / "made.partial").exists()


PREPARE = {
    "corpora=[{path: empty.txt}]": r"no text in .*empty.txt; expected a file with text; check the path",
    "corpora=[{path: talk.txt}]": r"no file .*talk.txt; expected an existing text file; check the path",
    "corpora=[{path: folder}]": r"folder .*folder holds no text; expected files that end with .*; name the files",
    "corpora=[{path: latin.srt}]": r"latin.srt line 3 is not UTF-8 .*; convert it, e.g. with iconv",
    "corpora=[{path: talks.txt, style: song}]": r"style 'song'; expected one of talk, .*, chat; name one of these$",
    "corpora=[{path: .}]": r"output .*made lies in the corpus .*; expected another folder; choose another output",
    "chunks.min_words=500 chunks.max_words=600": r"no chunk to train on: .*, the longest with \d+ words; .*min_words",
    "holdout_percent=300": r"holdout_percent 300.0; expected 0 to 99; set holdout_percent",
    "corpora=[{path: a.txt, document: page}]": r"corpora.document 'page'; expected one of auto, .*; check corpora",
    "corpora=[{path: a, dataset: b}]": r"path a and dataset b; expected one of them; drop one",
    "corpora=[{path: a, subset: b}]": r"subset b, revision None of path a; expected them with a data set of the hub",
    "pause_ms=-5": r"pause_ms -5 and long_pause_ms None; .*",
    "corpora=[{style: talk}]": r"a corpus without a path; expected corpora: \[{path: FILE}\]; name a file",
    "chunks.min_words=9 chunks.max_words=8": r"windows of 9 to 8 words; expected 1 <= min_words <= max_words; .*",
    "chunks.max_tokens=3": r"the word '.*' alone has more than 3 tokens; .*; raise chunks.max_tokens or clean the text",
}


@pytest.mark.parametrize("overrides", PREPARE)
def test_a_mistake_is_one_line(overrides: str, tmp_path: Path, tiny_tokenizer_folder: Path, invoke: Invoke) -> None:
    (tmp_path / "talks.txt").write_text("\n".join(TALKS[:10]))
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "slides.pdf").write_text("no text")
    (tmp_path / "latin.srt").write_bytes("1\n00:00:01,000 --> 00:00:02,000\nOlé.\n".encode("latin-1"))
    words = re.findall(r"\S+?=(?:\[.*\]|\S+)", overrides)
    given = [f"root={tmp_path}", f"output={tmp_path / 'made'}", f"tokenizer={tiny_tokenizer_folder}"]
    corpora = [] if any(word.startswith("corpora=") for word in words) else ["corpora=[{path: talks.txt}]"]
    code, _, errors = invoke("prepare", *given, *corpora, *words)
    (message,) = errors.splitlines()
    assert code == 2 and re.match(f"t5punct: .*{PREPARE[overrides]}", message), message
    assert not (tmp_path / "made").exists()


NUMBERED = [f"w{number}" for number in range(500)]


@st.composite
def configs(draw: st.DrawFn) -> ChunkConfig:
    least = draw(st.integers(1, 12))
    return ChunkConfig(least, least + draw(st.integers(0, 20)), max_tokens=draw(st.integers(3, 40)))


def cut(text: str, config: ChunkConfig, seed: int, **options: Any) -> list[Chunk]:
    return list(cut_into_chunks(text, config, random.Random(seed), style="talk", **options))


def places(chunks: list[Chunk]) -> list[int]:
    """The numbers of the words, in the order of the chunks."""
    return [int(word[1:]) for chunk in chunks for word in chunk.source.split()]


def test_an_example_is_what_the_model_reads_and_writes() -> None:
    silence = "<extra_id_1>"
    text = f"{silence} So, \"IBM\" {silence} (yes) said - {silence} U.S. law; 'Tis dogs' 2,000? wait?! «Oui»? e.g. :)"
    (chunk,), (uncased,) = (cut(text, ChunkConfig(12, 12), seed=1, cased=cased) for cased in (True, False))
    assert chunk.source == f"so ibm {silence} yes said {silence} u.s. law 'tis dogs' 2,000 wait oui e.g."
    assert chunk.target == "So, IBM yes said - U.S. law; 'Tis dogs' 2,000? wait?! Oui? e.g."
    assert (chunk.style, chunk.n_words) == ("talk", 12)
    assert uncased == replace(chunk, target=chunk.target.lower())


@given(st.integers(0, 200), configs(), st.integers(0, 99), st.sampled_from([0, 3]))
def test_every_word_stands_in_one_chunk(n_words: int, config: ChunkConfig, seed: int, tokens_of_a_word: int) -> None:
    chunks = cut(" ".join(NUMBERED[:n_words]), config, seed, n_tokens=lambda chunk: tokens_of_a_word * chunk.n_words)
    used = places(chunks)
    assert used == list(range(used[0], used[-1] + 1)) if used else n_words < config.min_words + config.max_words
    assert not used or (used[0] < config.max_words and n_words - 1 - used[-1] < config.min_words)
    assert all(chunk.n_words == len(chunk.source.split()) and chunk.style == "talk" for chunk in chunks)
    assert all(chunk.n_words <= config.max_words for chunk in chunks)
    assert all(tokens_of_a_word * chunk.n_words <= config.max_tokens for chunk in chunks)
    assert tokens_of_a_word or all(chunk.n_words >= config.min_words for chunk in chunks)


def test_tokens_are_counted_once_for_each_tokenizer_and_each_data_set(
    tiny_model: Model, tiny_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(tiny_data, tmp_path / "data", ignore=shutil.ignore_patterns("cache-*"))
    rows, tokenizer = load_from_disk(str(tmp_path / "data"))["train"], tiny_model.tokenizer
    source, counted = TaskTokenizer.source, list[str]()

    def note_and_encode(tokenizer: TaskTokenizer, words: list[str], *arguments: Any, **more: Any) -> Any:
        counted.append(" ".join(words))
        return source(tokenizer, words, *arguments, **more)

    monkeypatch.setattr(TaskTokenizer, "source", note_and_encode)
    expected = [len(source(tokenizer, row["source"].split(), row["style"]).ids) for row in rows]
    assert count_tokens(rows, tokenizer) == count_tokens(rows, tokenizer) == expected
    assert counted == rows["source"][:]
    longer = count_tokens(rows, tiny_model.with_task(prefix="in the style {style}: ").tokenizer)
    assert min(longer) > min(expected), "another prefix has other tokens"
    assert count_tokens(rows.select(range(5)), tokenizer) == expected[:5]
    assert len(counted) == 2 * len(rows) + 5
