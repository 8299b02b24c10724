"""Words of a recogniser's json that stand there whole and in pieces."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t5punct.text.marks import Case, apply_case
from t5punct.transcripts.items import SpokenWord
from t5punct.transcripts.json_aligned import TimedWords, WrittenWords
from t5punct.transcripts.recogniser_json import RecogniserJson

WORDS = ["so", "1,000", "well-known", "don't", "50%", "é"]
JSON = (
    '{"segments": [{"text": " it costs 1,000 well-known u.s.", "words": ['
    '{"word": " it", "start": 0, "end": 0.5}, {"word": " costs", "start": 0.5, "end": 1},'
    ' {"word": " 1", "start": 1, "end": 1.5}, {"word": ",000", "start": 1.5, "end": 2.5},'
    ' {"word": " well", "start": 3, "end": 3.5}, {"word": "-known", "start": 3.5, "end": 4},'
    ' {"word": " u", "start": 4, "end": 4.5}, {"word": ".s.", "start": 4.5, "end": 5}]}]}'
)


def test_words_in_pieces_have_times_and_get_marks() -> None:
    found = RecogniserJson([JSON])
    words = [item for item in found.items() if isinstance(item, SpokenWord)]
    assert [(word.raw, word.start_ms, word.end_ms) for word in words][2:] == [
        *(("1,000", 1000, 2500), ("well-known", 3000, 4000), ("u.s.", 4000, 5000))
    ]
    new = ["It", "costs", "1,000.", "Well-known,", "U.S."]
    value = json.loads("".join(found.written((word.word.normal, text) for word, text in zip(words, new, strict=True))))
    (segment,) = value["segments"]
    assert segment["text"] == " It costs 1,000. Well-known, U.S."
    assert [word["word"] for word in segment["words"]] == [
        *(" It", " costs", " 1", ",000.", " Well", "-known,", " U", ".S.")
    ]


@st.composite
def cut(draw: st.DrawFn) -> tuple[list[str], list[str], list[str]]:
    """Words of which no piece is a word, how they are written, and all of them in pieces."""
    words = [f"{draw(st.sampled_from(WORDS))}{number}z" for number in range(100, draw(st.integers(101, 130)))]
    written, pieces = list[str](), list[str]()
    for word in words:
        case = draw(st.sampled_from([Case.LOWER, Case.CAPITALISED, Case.UPPER]))
        written.append(apply_case(word, case) + draw(st.sampled_from(["", ",", "?!"])))
        places = sorted(draw(st.sets(st.integers(1, len(word) - 1), max_size=2)))
        pieces += [word[begin:end] for begin, end in zip([0, *places], [*places, len(word)], strict=True)]
    return words, written, pieces


@given(cut())
def test_pieces_make_up_the_written_words(found: tuple[list[str], list[str], list[str]]) -> None:
    words, written, pieces = found
    texts = WrittenWords(iter(zip(words, written, strict=True))).found(pieces)
    assert "".join(map(str, texts)) == "".join(written)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(
            '{"text": "so we", "words": ['
            '{"text": "so", "start": 100, "end": 300}, {"text": "we", "start": 300, "end": 900}]}',
            [("so", 100, 300), ("we", 300, 900)],
            id="AssemblyAI: milliseconds",
        ),
        pytest.param(
            '{"words": [{"word": "so", "start": 1, "end": 3}, {"word": "we", "start": 3, "end": 9}]}',
            [("so", 1000, 3000), ("we", 3000, 9000)],
            id="whole seconds",
        ),
        pytest.param(
            '{"transcription": [{"offsets": {"from": 40, "to": 3000}, "text": " so we"}]}',
            [("so", 40, None), ("we", None, 3000)],
            id="whisper.cpp",
        ),
        pytest.param(
            '{"results": [{"alternatives": [{"transcript": "so we", "words": ['
            '{"startOffset": "0.100s", "endOffset": "0.400s", "word": "so"}, {"startOffset": "1s", "word": "we"}]}]}]}',
            [("so", 100, 400), ("we", 1000, None)],
            id="Google v2",
        ),
        pytest.param(
            '{"results": [{"alternatives": [{"transcript": "so we", "words": [{"startTime": "1s", "word": "so"},'
            ' {"startTime": "2s", "word": "we"}]}]}, {"alternatives": [{"words": ['
            '{"startTime": "1s", "word": "so", "speakerTag": 1},'
            ' {"startTime": "2s", "word": "we", "speakerTag": 2}]}]}]}',
            [("so", 1000, None), ("we", 2000, None)],
            id="Google's words once more, with speakers",
        ),
        pytest.param(
            '{"words": [{"word": "at"}, {"word": "10:30"}]}',
            [("at", None, None), ("10:30", None, None)],
            id="a time that is said",
        ),
        pytest.param('{"text": "", "segments": [], "language": "en"}', [], id="nothing was said"),
    ],
)
def test_words_have_the_times_that_recognisers_give(
    source: str, expected: list[tuple[str, int | None, int | None]]
) -> None:
    found = RecogniserJson([source])
    words = [item for item in found.items() if isinstance(item, SpokenWord)]
    assert [(word.raw, word.start_ms, word.end_ms) for word in words] == expected
    assert "".join(found.written((word.word.normal, word.raw) for word in words)) == source


def test_what_is_said_elsewhere_is_not_forced() -> None:
    written = WrittenWords(iter([("so", "So"), ("1,000", "1,000."), ("ab", "Ab"), ("c", "C,"), ("it", "It")]))
    assert written.found(["so", "1", "000", "a", "bc", "it"]) == ["So", None, None, None, None, "It"]
    spelled = WrittenWords(iter([("gonna", "going to"), ("it", "It")]))
    assert spelled.found(["gon", "na", "it"]) == [None, None, "It"]
    removed = WrittenWords(iter([("uh-huh", ""), ("it", "It")]))
    assert removed.found(["uh", "-huh", "it"]) == ["", "", "It"]
    pieces = WrittenWords(iter([("un", "un,"), ("til", "til."), ("it", "It")]))
    assert pieces.found(["until", "it"]) == [None, "It"]


def test_a_whole_word_gives_its_times_to_its_first_and_last_piece() -> None:
    from t5punct.text.words import Word

    whole = SpokenWord(Word("until"), start_ms=1, end_ms=9)
    found = TimedWords(iter([("until", whole), ("it", whole)])).found(["un", "ti", "l", "it"])
    assert [one and (one.start_ms, one.end_ms) for one in found] == [(1, None), (None, None), (None, 9), (1, 9)]
