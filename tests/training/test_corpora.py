"""Where documents come from, in which formats, which are for training, and how much of each is taken."""

import gzip
import json
import os
import random
import tempfile
import textwrap
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset, DatasetDict
from tiny import tiny_text

from t5punct.errors import ConfigError, InputError
from t5punct.t5.task import PAUSES
from t5punct.training.data.corpora import (
    CorpusConfig,
    find_sources,
    is_wrapped,
    plan_pieces,
    read_documents,
    source_documents,
)

# the first words are no ids of lines, which would be left out
TALKS = [" ".join(["Talk", *(f"t{talk}w{word}" for word in range(1, 10 + talk))]) + "." for talk in range(40)]
TEXTS = ["Hello, there.\nAre you well?", "NA", None, " ", "Well: so it goes.", "Yes!"]
KEPT = [text for text in TEXTS if text and text.strip()]


def iter_documents(
    corpus: CorpusConfig, split: str, *, seed: int = 1, holdout_percent: float = 1.0, pauses_ms: tuple[int, ...] = ()
) -> Iterator[str]:
    """The documents of a split, or the stretches that a budget takes of them."""
    with tempfile.TemporaryDirectory() as cache:
        read = read_documents(corpus, pauses_ms, cache, holdout_percent)
        yield from (read.text_of(piece) for piece in plan_pieces(read, split, seed) if piece.n_words)


def documents(corpus: CorpusConfig | str, split: str = "train", **options: Any) -> list[str]:
    return list(iter_documents(CorpusConfig(corpus) if isinstance(corpus, str) else corpus, split, **options))


def of_both(path: object, **options: Any) -> list[str]:
    """The documents of both splits."""
    corpus = CorpusConfig("" if path is None else str(path), **options)
    return documents(corpus) + documents(corpus, "validation")


@pytest.fixture
def talks(tmp_path: Path) -> str:
    path = tmp_path / "talks.txt"
    path.write_text("\n".join(TALKS) + "\n\n  \n")
    return str(path)


def test_an_iwslt_file_is_one_document_with_its_clitics_joined() -> None:
    rows = str(Path(__file__).parents[1] / "data" / "hand-counted.tsv")
    assert documents(rows) == ["i'm, well don't stop. what is it? we, know right."]
    assert documents(rows, "validation") == []  # one document cannot be shared out


def test_the_last_documents_are_for_validation_and_no_document_is_in_both(talks: str) -> None:
    for percent, n_learned in ((0.0, 40), (1.0, 39), (10.0, 36)):
        assert documents(talks, "validation", holdout_percent=percent) == TALKS[n_learned:]
        assert documents(talks, holdout_percent=percent) == TALKS[:n_learned]


def test_of_a_single_document_the_end_is_for_validation(tmp_path: Path) -> None:
    whole = [f"w{number}" for number in range(200)]
    (tmp_path / "talk.txt").write_text(" ".join(whole))
    for words in (0, 50):
        corpus = CorpusConfig(str(tmp_path / "talk.txt"), words=words)
        (learned,), (held_out,) = (
            [text.split() for text in documents(corpus, split, holdout_percent=10)] for split in ("train", "validation")
        )
        assert set(learned) <= set(whole[:180]) and set(held_out) <= set(whole[180:])
        assert (len(learned), len(held_out)) == ((50, 5) if words else (180, 20))


def test_every_so_many_documents_may_be_for_validation(talks: str) -> None:
    corpus = CorpusConfig(talks, holdout_every=5)
    assert documents(corpus, "validation") == TALKS[4::5]
    assert documents(corpus) == [talk for talk in TALKS if talk not in TALKS[4::5]]
    stretches = documents(replace(corpus, words=600), "validation")
    assert 110 <= sum(len(text.split()) for text in stretches) <= 120, "a fifth of the budget"
    assert documents(replace(corpus, holdout_every=41), "validation") == TALKS[-1:], "too few"


def test_short_documents_may_be_put_together_at_random(talks: str) -> None:
    corpus = CorpusConfig(talks, join=3, holdout_every=4)
    joined = documents(corpus)
    alone = [text for text in TALKS if text not in TALKS[3::4]]
    assert len(joined) == len(alone) // 3
    assert sorted(" ".join(joined).split()) == sorted(" ".join(alone).split())
    assert " ".join(joined) != " ".join(alone)
    assert joined == documents(corpus) != documents(corpus, seed=2)


def test_a_budget_takes_a_stretch_of_every_document_in_proportion(talks: str) -> None:
    corpus = CorpusConfig(talks, words=600)
    stretches = documents(corpus, holdout_percent=10.0)
    total = sum(len(text.split()) for text in TALKS[:36])  # 990 words
    assert 590 <= sum(len(text.split()) for text in stretches) <= 600
    assert len(stretches) == 36
    for stretch, talk in zip(stretches, TALKS, strict=False):
        assert stretch in talk
        assert abs(len(stretch.split()) - len(talk.split()) * 600 / total) <= 1.0
    assert any(not talk.startswith(stretch) for stretch, talk in zip(stretches, TALKS, strict=False))
    heldout = documents(corpus, "validation", holdout_percent=10.0)
    assert 55 <= sum(len(text.split()) for text in heldout) <= 60  # 10 % of the budget
    assert all(any(stretch in talk for talk in TALKS[36:]) for stretch in heldout)
    assert documents(corpus) == documents(corpus) != documents(corpus, seed=2)
    assert documents(CorpusConfig(talks, words=10**6)) == TALKS[:-1], "a budget above what there is takes all"


def test_jsonl_has_a_column_and_lines_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("\n\n".join(json.dumps({"said": text}) for text in TEXTS))
    assert of_both(path, column="said") == KEPT
    with pytest.raises(InputError, match=r'a.jsonl line 1: .*expected {"text": "..."} or .*, or set corpora.column'):
        of_both(path)
    for line in ("not json", '{"body": "x"}', '["text"]', '["words"]'):
        path.write_text('{"text": "fine"}\n' + line + "\n")
        with pytest.raises(InputError, match=r'a.jsonl line 2: .*expected {"text": "..."} or .*correct the line'):
            of_both(path)


def test_words_with_times_become_text_with_pauses_and_a_meeting_is_one_document(tmp_path: Path) -> None:
    said = [("We", 0.0, 0.2), ("know,", 0.2, 0.4), ("that", 0.7, 0.9), ("Right?", 0.9, None), ("Yes.", 3.0, 3.2)]
    words = [{"word": word, "start": start, "end": end} for word, start, end in said]
    turns = [{"words": words[:2], "meeting": 7}, {"words": words[2:], "meeting": 7}, {"text": "Plain text."}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, turns)))
    corpus = CorpusConfig(str(tmp_path / "a.jsonl"), holdout_every=9)
    assert documents(corpus, pauses_ms=(280,)) == ["We know, <extra_id_1> that Right? Yes."]
    assert documents(corpus, "validation", pauses_ms=(280,)) == ["Plain text."]
    assert documents(corpus) == ["We know, that Right? Yes."]


PARAGRAPHS = [" ".join(tiny_text(6, seed)) for seed in range(30)]


def test_who_speaks_and_when_is_not_learned_from_a_transcript_as_text(tmp_path: Path) -> None:
    path = tmp_path / "talk.txt"
    said = "So what? Yes, we know: here it is."
    for text in (
        "Jane Doe: So what?\n\nTom Ray: Yes,\nwe know: here it is.\n",
        "0:03 - Jane Doe\nSo what?\n\n0:08 - Tom Ray\nYes, we know: here it is.\n",
        "talk 1 jane 0.00 5.20 So what?\ntalk 1 tom 5.20 6.00 Yes, we know: here it is.\n",
    ):
        path.write_text(text, encoding="utf-8")
        assert documents(str(path), holdout_percent=0) == [said]
    path.write_text("We know this: it is so.\nAnn: yes.\n1. One\n2. Two\nSo\nwe\nknow\n", encoding="utf-8")
    assert documents(str(path), holdout_percent=0)[:2] == ["We know this: it is so.", "Ann: yes."]


def wrapped(width: int) -> str:
    return "\n\n".join(textwrap.fill(text, width) for text in PARAGRAPHS)


def text_documents(path: Path, text: str, unit: str = "auto") -> list[str]:
    path.write_text(text, encoding="utf-8")
    return texts(path, document=unit)


def test_a_book_is_read_by_its_paragraphs_and_lines_that_are_documents_stay(tmp_path: Path) -> None:
    for width in (50, 100):
        text = "THE BOOK\n\n\n" + wrapped(width) + "\n \n"
        assert text_documents(tmp_path / "book.txt", text) == ["THE BOOK", *PARAGRAPHS]
    for lines in (PARAGRAPHS, tiny_text(500, 1), ["yes"] * 50, [f"ok, that is number {n} of it" for n in range(50)]):
        assert text_documents(tmp_path / "talks.txt", "\n".join(lines)) == lines
    path, text = tmp_path / "book.txt", wrapped(70)
    assert text_documents(path, text, "line") == [line for line in text.split("\n") if line], "the unit can be named"
    assert text_documents(path, text, "file") == [" ".join(PARAGRAPHS)]
    assert text_documents(path, "\n \n", "file") == []
    rng, words = random.Random(1), "so we go there now or what do you mean".split()
    chat = [" ".join(rng.choices(words, k=rng.randint(1, 20))) for _ in range(300)]
    assert not is_wrapped(chat), "messages without marks"
    assert not is_wrapped([f"This is the report of station {n:03}, and all is well there." for n in range(50)])
    assert not is_wrapped([])


@pytest.fixture
def rows() -> Dataset:
    return Dataset.from_dict({"id": list(range(len(TEXTS))), "said": TEXTS})


@pytest.fixture(params=["a.csv.gz", "a.parquet", "splits"])
def table(request: pytest.FixtureRequest, rows: Dataset, tmp_path: Path) -> Path:
    """The same rows as a table of each kind."""
    path = tmp_path / str(request.param)
    if path.name == "splits":
        DatasetDict(train=rows, test=rows.select([0, 5])).save_to_disk(str(path))
    elif path.suffix == ".parquet":
        rows.to_parquet(str(path))
    else:
        path.write_bytes(gzip.compress(rows.to_pandas().to_csv(index=False).encode()))
    return path


def test_a_table_gives_the_texts_of_a_column_counts_empty_rows_and_names_a_wrong_column(table: Path) -> None:
    assert of_both(table, column="said") == KEPT
    read = read_documents(CorpusConfig(str(table), column="said"), (), str(table.parent / "cache"), 1.0)
    assert [*read.lengths.values()] == [len(text.split()) for text in KEPT]
    assert len(read.rows) - len(read.lengths) == 2, "empty rows"
    with pytest.raises(InputError, match=r"no column 'text' in .*; expected one of id, said; set corpora.column"):
        of_both(table)
    with pytest.raises(InputError, match=r"row 1: '0' under 'id'; expected text; set corpora.column"):
        of_both(table, column="id")
    if table.name == "splits":
        assert of_both(table, column="said", split="test") == [TEXTS[0], TEXTS[5]]
        with pytest.raises(InputError, match=r"no split 'dev' in .*; expected one of train, test; set corpora.split"):
            of_both(table, column="said", split="dev")
    else:
        refusal = r"split 'test' of .*; expected a data set, which has splits; name the file .*, or drop corpora.split"
        with pytest.raises(ConfigError, match=refusal):
            of_both(table, column="said", split="test")


@pytest.mark.parametrize(("name", "content"), [
    ("comma.csv", 'id,Text\n1,"Yes; or no, or so."\n'), ("semicolon.csv", 'id;TEXT\n1;"Yes; or no, or so."\n'),
    ("quoted.csv", '"of, it";"Text"\n1;"Yes; or no, or so."\n'), ("bar.csv", "id|text\n1|Yes; or no, or so.\n"),
    ("one.csv", 'Text\n"Yes; or no, or so."\n'), ("lines.jsonl", '{"Text": "Yes; or no, or so."}\n'),
    ("array.json", '[{"id": 1, "Text": "Yes; or no, or so."}]'),
])  # fmt: skip
def test_a_column_is_known_whatever_its_capitals_and_the_delimiter_are(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    assert texts(tmp_path / name) == ["Yes; or no, or so."]


def test_of_two_columns_that_differ_in_capitals_none_is_chosen(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Text;TEXT\nYes.;No.\n")
    with pytest.raises(InputError, match=r"no column 'text' in .*; expected one of Text, TEXT; set corpora.column"):
        texts(tmp_path / "a.csv")
    assert texts(tmp_path / "a.csv", column="TEXT") == ["No."]


def test_a_folder_and_a_pattern_give_all_files_that_can_be_read_in_the_order_of_their_paths(tmp_path: Path) -> None:
    folder = tmp_path / "talks"
    (folder / "new").mkdir(parents=True)
    (folder / ".cache").mkdir()
    (folder / "b.txt").write_text("B one.\nB two.\n")
    (folder / "a.csv").write_text("text\nA one.\n")
    (folder / "b.md").write_text("Another format of a file that is read.\n")
    (folder / "d.Markdown").write_text("D one.\n")
    (folder / "new" / "c.txt.gz").write_bytes(gzip.compress(b"C one.\n"))
    for name in ("x.pdf", "y.pdf", ".hidden.txt", "Makefile", "README.md", ".cache/hidden.txt"):
        (folder / name).write_text("None of this.")
    assert sorted(of_both(folder)) == ["A one.", "B one.", "B two.", "C one.", "D one."]
    _, left_out = find_sources(CorpusConfig(str(folder)))
    unread = ("2 x .pdf", "1 x Makefile", "1 x readme.md")
    assert left_out[:-1] == [f"{counted} left out: no reader for it" for counted in unread]
    assert left_out[-1] == "1 x .md left out: another format of a file that is read"
    assert of_both(f"{folder}/*.txt") == ["B one.", "B two."]
    assert of_both(f"{folder}/**/*.txt*") == ["B one.", "B two.", "C one."]
    with pytest.raises(InputError, match=r"no file .*\*.vtt; expected a pattern that files fit; check the path"):
        of_both(f"{folder}/*.vtt")
    (folder / "talk [1].txt").write_text("One.\n")
    assert of_both(f"{folder}/talk [1].txt") == ["One."], "a file whose name looks like a pattern"


def test_a_folder_that_may_not_be_read_is_not_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "talks" / "closed").mkdir(parents=True)
    (tmp_path / "talks" / "a.txt").write_text("One.\n")
    scandir = os.scandir

    def denied(path: str | Path | int) -> object:
        if str(path).endswith("closed"):  # the tests may run as root, who may read anything
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", denied)
    assert of_both(f"{tmp_path}/talks/*.txt") == ["One."]
    for name in ("talks", "talks/**/*.txt", "*/*/*.txt"):
        with pytest.raises(InputError, match=r"folder .*/talks/closed may not be read; expected one that may"):
            of_both(f"{tmp_path}/{name}")


def test_a_folder_as_the_hub_has_it_is_streamed_and_a_wrong_id_is_one_line(rows: Dataset, tmp_path: Path) -> None:
    (tmp_path / "talks" / "data").mkdir(parents=True)
    for number in range(2):
        rows.to_parquet(str(tmp_path / "talks" / "data" / f"train-0000{number}-of-00002.parquet"))
    corpus = CorpusConfig(dataset=str(tmp_path / "talks"), column="said", streaming=True, holdout_every=3)
    assert documents(corpus, "validation") == [KEPT[2], KEPT[1]]
    assert sorted(documents(corpus) + documents(corpus, "validation")) == sorted(KEPT * 2)
    with pytest.raises(InputError, match=r"no/body cannot be read \(.*\); .*; check corpora.dataset, .* and the net"):
        of_both(None, dataset="no/body")


def test_a_stream_is_read_no_further_than_it_is_used(tmp_path: Path) -> None:
    lines = [json.dumps({"text": f"Document number {number}."}) for number in range(1000)]
    (tmp_path / "a.jsonl").write_text("\n".join([*lines, "the end, which is no json"]))
    texts = documents(CorpusConfig(str(tmp_path / "a.jsonl"), streaming=True, words=30))
    assert texts == [f"Document number {number}." for number in range(9)], "and one is held out"


def test_a_corpus_is_never_in_memory_as_a_whole(tmp_path: Path) -> None:
    large = tmp_path / "large.txt"
    large.write_text("".join(f"Line {number} " + "some more words of it, " * 200 + "\n" for number in range(400)))
    tracemalloc.start()
    n_documents = sum(1 for _ in iter_documents(CorpusConfig(str(large), words=10_000), "train"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert n_documents >= 390
    assert peak < large.stat().st_size / 5


SRT = """1
00:00:01,000 --> 00:00:03,000
JOHN: <i>So we went
home,

2
00:00:03,500 --> 00:00:05,000
didn't we?</i> [laughs]

3
00:00:07,000 --> 00:00:08,000
- Yes.
- AT&amp;T - or not...
"""
SAID = "So we went home, didn't we? Yes. AT&T - or not..."
WORDS = [("Hello,", 0.0, 0.4), ("there.", 0.5, 0.9), ("So", 1.9, 2.0), ("what?", 2.1, 2.4)]
WHISPERX = {
    "segments": [
        {"start": 0.0, "end": 0.9, "text": " Hello, there.", "words": [], "speaker": "SPEAKER_00"},
        {"start": 1.9, "end": 2.4, "text": " So what?", "words": [], "speaker": "SPEAKER_01"},
    ],
    "word_segments": [{"word": word, "start": start, "end": end, "score": 0.9} for word, start, end in WORDS],
}
HEARD = "Hello, there. So what?"


def texts(path: Path, pauses_ms: tuple[int, ...] = (), **options: str) -> list[str]:
    return list(source_documents(CorpusConfig(str(path), **options), pauses_ms))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "content", "wanted"),
    [
        ("talk.srt", SRT, SAID), ("whisperx.json", json.dumps(WHISPERX, indent=2), HEARD),
        ("whisper.tsv", "start\tend\ttext\n0\t900\tHello, there.\n1900\t2400\tSo what?\n", HEARD),
        ("words.ctm", "a 1 0.0 0.4 Hello,\na 1 0.5 0.4 there.\n", "Hello, there."),
    ],
)  # fmt: skip
def test_a_transcript_is_one_document_of_what_was_said(tmp_path: Path, name: str, content: str, wanted: str) -> None:
    (tmp_path / name).write_bytes(content.encode())
    assert texts(tmp_path / name) == [wanted]


def test_silences_between_words_and_cues_become_pauses(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps(WHISPERX))
    (tmp_path / "x.srt").write_text(SRT)
    assert texts(tmp_path / "x.json", (500,)) == [f"Hello, there. {PAUSES[0]} So what?"]
    assert texts(tmp_path / "x.srt", (1000,)) == [SAID.replace("we?", f"we? {PAUSES[0]}")]
    assert PAUSES[0] not in texts(tmp_path / "x.srt", (3000,))[0]


def test_json_may_be_lines_or_an_array_of_rows_and_the_parts_of_a_recording_are_no_documents(tmp_path: Path) -> None:
    said, path = ["Hello, there.", "So what?"], tmp_path / "a.json"
    path.write_text("\n".join(json.dumps({"text": text}) for text in said))
    assert texts(path) == said
    path.write_text(json.dumps({"said": "Three.", "text": "Four."}) + "\n")
    assert texts(path, column="said") == ["Three."]
    for array, wanted in (
        (said, said),
        ([{"text": text, "id": number} for number, text in enumerate(said)], said),
        ([{"said": text, "text": ""} for text in said], ["", ""]),
        ([{"text": text, "start": number} for number, text in enumerate(said)], [HEARD]),
        ([{"text": text, "speaker": "A"} for text in said], [HEARD]),
    ):
        for indent in (None, 1):
            path.write_text(json.dumps(array, indent=indent))
            assert texts(path) == wanted
    path.write_text(json.dumps([{"said": text} for text in said]))
    assert texts(path, column="said") == said
    with pytest.raises(InputError, match=r"no column 'text' in .*a.json; expected one of said; set corpora.column"):
        texts(path)
    for content in ('{"title": "A talk"}', "", "{"):
        path.write_text(content)
        with pytest.raises(InputError, match=r"^[^\n]*a.json[^\n]*$"):
            texts(tmp_path)


def test_of_a_recording_in_several_formats_one_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.srt").write_text(SRT)
    (tmp_path / "a.txt").write_text(SAID + "\n")
    (tmp_path / "a.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:03.000\nSo we went home.\n")
    (tmp_path / "b.en.srt.gz").write_bytes(gzip.compress(SRT.encode()))
    (tmp_path / "b.en.txt").write_text("The same.\n")
    (tmp_path / "b.txt").write_text("Another.\n")
    (tmp_path / "c.csv").write_text("text\nA table.\n")
    (tmp_path / "c.txt").write_text("No transcript of it.\n")
    files, left_out = found = find_sources(CorpusConfig(str(tmp_path)))
    assert [path.name for path in files] == ["a.srt", "b.en.srt.gz", "b.txt", "c.csv", "c.txt"]
    again = "left out: another format of a file that is read"
    assert left_out == [f"2 x .txt {again}", f"1 x .vtt {again}"]
    assert find_sources(CorpusConfig(f"{tmp_path}/*")) == found, "of a pattern as well"
    assert [path.name for path in find_sources(CorpusConfig(f"{tmp_path}/a.*t*"))[0]] == ["a.srt"]
