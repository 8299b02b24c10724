"""Words that are removed from files: the white space that they leave, and what stays of cues, segments and lines."""

import json

import pytest
from chance import reading, spoken
from hypothesis import given
from hypothesis import strategies as st

from t5punct.errors import InputError
from t5punct.text.marks import Alphabet, Case
from t5punct.text.render import AnnotatedWord, Decision, RenderConfig, render_word
from t5punct.transcripts.writers import WriterConfig, check_writable, written_pieces

FILLERS = ("um", "uh")
SRT = (
    "1\n00:00:01,000 --> 00:00:02,000\num we know\nuh this <i>um</i> now\n\n"
    "2\n00:00:03,000 --> 00:00:04,000\num\n\n3\n00:00:05,000 --> 00:00:06,000\num\nyes\n"
)


def _without(text: str, name: str = "text", to: str | None = None) -> str:
    """The file without its fillers."""
    transcript, words = reading(text, name), list[AnnotatedWord]()
    for word in (item.word for item in spoken(transcript.items)):
        decision = Decision("", Case.VERBATIM, 1.0, 1.0, disfluent=word.text in FILLERS)
        words.append(render_word(word, decision, RenderConfig(disfluencies="remove"), Alphabet()))
    return "".join(written_pieces(transcript, transcript.with_words(words), WriterConfig(to), "talk"))


@pytest.mark.parametrize(("text", "left"), [
    ("we um know", "we know"), ("um we know um", "we know"), ("we um\nknow", "we\nknow"), ("we\num know", "we\nknow"),
    ("we\num\nknow\n", "we\nknow\n"), ("we um uh know\n", "we know\n"), ("we\n\num\n\nknow", "we\n\n\nknow"),
    ("um", ""), ("JOHN: um yes\n", "JOHN: yes\n"), ("so um [laughs] yes", "so [laughs] yes"), ("we know", "we know"),
])  # fmt: skip
def test_white_space_is_joined(text: str, left: str) -> None:
    assert _without(text) == left


CUE, VTT_CUE = "1\n00:00:01,000 --> 00:00:02,000\n", "WEBVTT\n\n00:01.000 --> 00:02.000\n"


@pytest.mark.parametrize(("name", "text", "to", "left"), [
    ("lines", "hi\num\nyes um\n", None, "hi\n\nyes\n"),  # lines of their own stay lines
    ("srt", f"{CUE}um <i>we know</i>\n", None, f"{CUE}<i>we know</i>\n"),
    ("vtt", f"{VTT_CUE}um<00:01.500><c> know</c>\n", None, f"{VTT_CUE}<00:01.500><c>know</c>\n"),
    # tags are not shown in another format
    ("text", "JOHN: um <i>yes</i>\n", "text", "JOHN: <i>yes</i>\n"),
    ("srt", f"{CUE}JOHN: um <i>we know</i>\n", "text", "JOHN: we know\n"),
    ("vtt", f"{VTT_CUE}[laughs] um <00:01.500><c>so</c>\n", "text", "[laughs] so\n"),
])  # fmt: skip
def test_lines_and_tags_of_a_removed_word_stay(name: str, text: str, to: str | None, left: str) -> None:
    assert _without(text, name, to) == left


def test_cues_keep_their_times_and_numbers_and_a_recognisers_json_its_places() -> None:
    assert _without(SRT, "srt") == (
        "1\n00:00:01,000 --> 00:00:02,000\nwe know\nthis <i></i>now\n\n"
        "2\n00:00:03,000 --> 00:00:04,000\n\n"
        "3\n00:00:05,000 --> 00:00:06,000\nyes\n"
    )
    assert "um" not in _without(SRT, "srt", "vtt")
    segment = {"text": " so um yes", "words": [{"word": " so"}, {"word": " um"}]}
    value = json.loads(_without(json.dumps({"text": "so um yes", "segments": [segment]}), "json"))
    assert value["text"] == "so yes"
    assert value["segments"][0]["text"] == " so yes"
    assert [word["word"].strip() for word in value["segments"][0]["words"]] == ["so", ""]


def test_words_as_json_list_what_was_removed_and_tables_are_written_anew_or_not() -> None:
    value = json.loads(_without(SRT, "srt", "json"))
    assert [word["word"] for word in value["removed"]] == ["um", "uh", "um", "um", "um"]
    assert value["removed"][0] == {"word": "um", "start": 1.0}
    own = _without(SRT, "srt")
    assert [own[word["start_char"] : word["end_char"]] for word in value["words"]] == "we know this now yes".split()
    assert "removed" not in json.loads(_without("we know", "text", "json"))
    lines = "talk 1 0.0 0.5 um\ntalk 1 0.5 0.5 yes\n"
    with pytest.raises(InputError, match="talk: words to be removed from a ctm, whose other columns stay; expected"):
        check_writable(reading(lines, "ctm"), WriterConfig(), "talk", removes=True)
    check_writable(reading(lines, "ctm"), WriterConfig("ctm"), "talk", removes=True)
    assert _without(lines, "ctm", "ctm") == "talk 1 0.500 0.500 yes\n"


@given(st.lists(st.sampled_from(["um", "uh", "we", "know"]), max_size=8), st.data())
def test_all_but_the_removed_words_stays_in_order(words: list[str], data: st.DataObject) -> None:
    spaces = [data.draw(st.sampled_from([" ", "\n", "  ", "\n\n"])) for _ in words]
    text = "".join(word + space for word, space in zip(words, spaces, strict=True))
    left = _without(text)
    assert left.split() == [word for word in words if word not in FILLERS]
    assert set(left) <= set(text)
    if not set(words) & {*FILLERS}:
        assert left == text
