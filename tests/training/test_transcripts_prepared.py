"""Subtitles and the files of recognisers as training text: one document each, without what nobody said."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from datasets import load_from_disk
from datasets.utils.logging import disable_progress_bar
from hypothesis import given
from hypothesis import strategies as st
from tiny import tiny_text

from t5punct.errors import InputError
from t5punct.t5.task import PAUSES
from t5punct.text.words import split
from t5punct.training.data.chunks import ChunkConfig
from t5punct.training.data.corpora import find_sources, iter_documents, source_documents
from t5punct.training.data.prepare import PrepareConfig, prepare
from t5punct.training.data.readers import CorpusConfig

disable_progress_bar()
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
VTT = (
    "WEBVTT\n\nNOTE No word of this.\n\n00:01.000 --> 00:03.000 align:start\n<v Ann>So we went\n\n"
    "00:03.000 --> 00:04.000\n<v Bob>home.\n"
)
WORDS = [("Hello,", 0.0, 0.4), ("there.", 0.5, 0.9), ("So", 1.9, 2.0), ("what?", 2.1, 2.4)]
WHISPERX = {
    "segments": [
        {"start": 0.0, "end": 0.9, "text": " Hello, there.", "words": [], "speaker": "SPEAKER_00"},
        {"start": 1.9, "end": 2.4, "text": " So what?", "words": [], "speaker": "SPEAKER_01"},
    ],
    "word_segments": [{"word": word, "start": start, "end": end, "score": 0.9} for word, start, end in WORDS],
}
WHISPER = {"text": " Hello, there. So what?", "segments": WHISPERX["segments"], "language": "en"}
# the words of OpenAI's own service are without marks
VERBOSE = {"text": "Hello, there. So what?", "words": [{"word": word.strip(",.?")} for word, *_ in WORDS]}
HEARD = "Hello, there. So what?"


def texts(path: Path, pauses_ms: tuple[int, ...] = (), **options: str) -> list[str]:
    return [text for text, _ in source_documents(CorpusConfig(str(path), **options), pauses_ms)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "content", "wanted"),
    [
        ("talk.srt", SRT, SAID), ("talk.vtt", VTT, "So we went home."), ("talk.srt", SRT.replace("\n", "\r\n"), SAID),
        ("whisper.json", json.dumps(WHISPER), HEARD), ("whisper.json", json.dumps(WHISPER, indent=2), HEARD),
        ("whisperx.json", json.dumps(WHISPERX), HEARD), ("verbose.json", json.dumps(VERBOSE), HEARD),
        ("whisper.tsv", "start\tend\ttext\n0\t900\tHello, there.\n1900\t2400\tSo what?\n", HEARD),
        ("words.ctm", "a 1 0.0 0.4 Hello,\na 1 0.5 0.4 there.\n", "Hello, there."),
    ],
)  # fmt: skip
def test_a_transcript_is_one_document_of_what_was_said(tmp_path: Path, name: str, content: str, wanted: str) -> None:
    (tmp_path / name).write_bytes(content.encode())
    assert texts(tmp_path / name) == [wanted]
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(content.encode()))
    assert texts(tmp_path / f"{name}.gz") == [wanted]


@given(st.lists(st.lists(st.sampled_from(["so", "I'm", "here,", "NASA.", "well?!", "no..."]), min_size=1), min_size=1))
def test_the_words_of_all_cues_are_there_in_order_however_they_are_cut(
    tmp_path_factory: pytest.TempPathFactory, cues: list[list[str]]
) -> None:
    path = tmp_path_factory.mktemp("cues") / "talk.srt"
    path.write_text(
        "\n\n".join(f"{number}\n00:00:01,000 --> 00:00:02,000\n{' '.join(cue)}" for number, cue in enumerate(cues, 1))
    )
    assert texts(path) == [" ".join(word for cue in cues for word in cue)]


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
        with pytest.raises(InputError, match=r"^[^\n]*a.json[^\n]*; leave it out, by a pattern for the others[^\n]*$"):
            texts(tmp_path)


def test_of_a_recording_in_several_formats_one_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.srt").write_text(SRT)
    (tmp_path / "a.txt").write_text(SAID + "\n")
    (tmp_path / "a.vtt").write_text(VTT)
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


def cued(text: str) -> str:
    """A text as subtitles of five words each."""
    words = text.split()
    cues = [" ".join(words[start : start + 5]) for start in range(0, len(words), 5)]
    return "\n\n".join(f"{n}\n00:{n:02}:01,000 --> 00:{n:02}:03,000\n{cue}" for n, cue in enumerate(cues, 1)) + "\n"


def test_subtitles_are_prepared_by_document_and_those_without_marks_are_named(tmp_path: Path) -> None:
    (tmp_path / "subs").mkdir()
    for seed in range(10):
        text = " ".join(tiny_text(12, seed))
        if seed in (3, 7):
            text = "".join(char for char in text if char.isalnum() or char in " '").replace("  ", " ")
        (tmp_path / "subs" / f"talk{seed}.srt").write_text(cued(text.upper() if seed == 5 else text))
    corpora, made = [CorpusConfig("subs")], tmp_path / "made"
    report = prepare(PrepareConfig(str(made), str(tmp_path), corpora, ChunkConfig(4, 12), holdout_percent=10.0))
    (corpus,) = report.corpora
    assert (corpus.documents, corpus.held_out) == (10, 1)
    bare, shouted = report.warnings
    assert "subs: 2 of 10 documents (talk3.srt, talk7.srt) have hardly a mark; expected punctuated text" in bare
    assert "subs: 1 of 10 documents (talk5.srt) have nothing but capitals; expected text with its own case" in shouted
    page = (made / "report.md").read_text()
    assert bare in page and shouted in page
    held_out = iter_documents(CorpusConfig(f"{tmp_path}/subs"), "validation", seed=1, holdout_percent=10.0)
    assert list(held_out) == [" ".join(tiny_text(12, 9)).replace("  ", " ")]
    # sentences go on over cues: windows end and begin with neither
    ends = [split(row["target"]).words[-1].label for row in load_from_disk(str(made))["train"]]
    assert ends.count("") > len(ends) / 3


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\n\n", r"no text in .*, 1 empty rows; expected rows with text"),
        ("a.csv", "text,said\n,Hello.\n", r"no text in .*a.csv, 1 empty rows; .*; check corpora.column"),
    ],
)
def test_an_empty_corpus_is_named(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message):
        prepare(PrepareConfig(str(tmp_path / "made"), str(tmp_path), [CorpusConfig(name)]))
