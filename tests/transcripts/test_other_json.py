"""Json of other makers: lines of json, rev.ai's, YouTube's json3, and of shapes that nobody knows."""

from __future__ import annotations

import io
import json

import pytest
from chance import reading, spoken
from converting import converted
from recognised import by_chance, written

from t5punct.errors import InputError
from t5punct.transcripts.formats import transcript_of
from t5punct.transcripts.items import texts_of
from t5punct.transcripts.resegment import ResegmentConfig
from t5punct.transcripts.writers import WriterConfig

NEMO = (
    '{"audio_filepath": "a/1.wav", "duration": 2.5, "text": "so what"}\n'
    '{"audio_filepath": "a/2.wav", "duration": 1.0, "text": "yes it is", "label": "x"}\n'
)
REV = {"monologues": [
    {"speaker": 0, "elements": [
        {"type": "text", "value": "so", "ts": 0.5, "end_ts": 0.75, "confidence": 0.9}, {"type": "punct", "value": " "},
        {"type": "text", "value": "what", "ts": 0.75, "end_ts": 1.25, "confidence": 0.9},
        {"type": "punct", "value": "."},
    ]},
    {"speaker": 1, "elements": [{"type": "text", "value": "yes", "ts": 1.5, "end_ts": 2.0, "confidence": 0.9}]},
]}  # fmt: skip
JSON3 = {"wireMagic": "pb3", "events": [
    {"tStartMs": 0, "dDurationMs": 9000, "id": 1, "wpWinPosId": 1},
    {"tStartMs": 1000, "dDurationMs": 4000, "segs": [
        {"utf8": "so", "acAsrConf": 0}, {"utf8": " what", "tOffsetMs": 500}
    ]},
    {"tStartMs": 2990, "dDurationMs": 10, "aAppend": 1, "segs": [{"utf8": "\n"}]},
    {"tStartMs": 3000, "dDurationMs": 2000, "segs": [{"utf8": "we"}, {"utf8": " know", "tOffsetMs": 480}]},
]}  # fmt: skip
UNKNOWN = [
    {"kind": "asr", "tokens": [{"t": "so", "id": "a1", "lang": "en"}, {"t": "what", "id": "a2", "lang": "en"},
                               {"t": "yes", "id": "a3", "lang": "en"}]},
    {"data": [["so", "what"], ["yes"]], "codes": ["x1", "x2", "x3"]},
    {"rows": [["so", 0.5], ["what", 0.75], ["yes", 1.5]]},
]  # fmt: skip


def said(source: str, format: str = "json") -> list[str]:
    return [" ".join(word.text for word in words) for words in texts_of(reading(source, format).items)]


def test_each_line_of_a_manifest_is_a_recording_of_its_own() -> None:
    assert said(NEMO) == ["so what", "yes it is"]
    assert written(NEMO) == NEMO
    assert written(NEMO, ["So", "what?", "Yes,", "it", "is."]) == NEMO.replace("so what", "So what?").replace(
        "yes it is", "Yes, it is."
    )
    for odd in (NEMO.rstrip("\n"), NEMO.replace("\n", "\r\n"), NEMO.replace("\n", "\n\n"), "\ufeff" + NEMO):
        assert written(odd) == odd and said(odd) == ["so what", "yes it is"]
    assert transcript_of(io.StringIO(NEMO), name="manifest.jsonl").format == "json"
    with pytest.raises(InputError, match="is no json"):
        said(NEMO + '{"text": }\n')


def test_the_elements_of_rev_ai_are_words_marks_and_spaces() -> None:
    source = json.dumps(REV)
    assert said(source) == ["so what", "yes"]
    assert [(item.start_ms, item.end_ms) for item in spoken(reading(source, "json").items)] == [
        (500, 750), (750, 1250), (1500, 2000)
    ]  # fmt: skip
    assert written(source, ["so", "what.", "yes"]) == source
    new = json.loads(written(source, ["So,", "what", "Yes!"]))["monologues"]
    texts = ["".join(element["value"] for element in monologue["elements"]) for monologue in new]
    assert texts == ["So, what", "Yes!"]
    assert {element["type"] for monologue in new for element in monologue["elements"]} == {"text", "punct"}
    assert converted(source, "json", WriterConfig("text")) == "Speaker 0: so what.\nSpeaker 1: yes\n"


def test_the_segments_of_youtubes_json3_have_the_times_of_their_events() -> None:
    source = json.dumps(JSON3)
    assert said(source) == ["so what we know"]
    words = spoken(reading(source, "json").items)
    assert [(word.start_ms, word.end_ms) for word in words] == [(1000, 1500), (1500, 2990), (3000, 3480), (3480, 5000)]
    assert written(source, ["So", "what?", "We", "know."]) == source.replace('"so"', '"So"').replace(
        " what", " what?"
    ).replace('"we"', '"We"').replace(" know", " know.")
    new = converted(source, "json", WriterConfig("srt", resegment=ResegmentConfig()))
    assert new == "1\n00:00:01,000 --> 00:00:05,000\nso what we know\n\n"
    assert transcript_of(io.StringIO(source), name="captions.json3").format == "json"


@pytest.mark.parametrize("value", UNKNOWN)
def test_of_an_unknown_shape_its_lists_of_words_are_read(value: object) -> None:
    source = json.dumps(value)
    assert " ".join(said(source)) == "so what yes"
    assert written(source, ["So", "what?", "Yes."]) == source.replace('"so"', '"So"').replace(
        '"what"', '"what?"'
    ).replace('"yes"', '"Yes."')


@pytest.mark.parametrize(
    "value", [{"ids": ["x1", "x2"]}, {"langs": ["en", "en", "en"]}, {"name": "so"}, ["2024-01-01", "x"], {"n": [1, 2]}]
)
def test_lists_of_something_else_are_refused(value: object) -> None:
    with pytest.raises(InputError, match="no words in"):
        said(json.dumps(value))


@pytest.mark.parametrize("source", [NEMO, json.dumps(REV), json.dumps(JSON3), *map(json.dumps, UNKNOWN)])
def test_marks_and_case_alone_change(source: str) -> None:
    before = [word.word.normal for word in spoken(reading(source, "json").items)]
    for seed in range(5):
        new, _ = by_chance(source, seed)
        assert [word.word.normal for word in spoken(reading(new, "json").items)] == before
