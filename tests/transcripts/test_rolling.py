"""Rolling captions: words are read once, and written wherever they are shown."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from chance import bare, by_chance, reading, spoken, unchanged
from hypothesis import given, settings
from hypothesis import strategies as st
from promises import letters

from t5punct.text.render import AnnotatedWord
from t5punct.transcripts.formats import Transcript
from t5punct.transcripts.writers import WriterConfig, written_pieces

YOUTUBE = (Path(__file__).parents[1] / "data/rolling.vtt").read_text()


def as_srt(text: str) -> str:
    """The same as yt-dlp converts it: no times of words, no settings."""
    cues = re.sub(r"<[^>]*>| align:.*", "", text).split("\n\n")[1:]
    lines = ([line for line in cue.replace(".", ",").split("\n") if line.strip()] for cue in cues)
    return "".join(f"{n}\n" + "\n".join(cue) + "\n\n" for n, cue in enumerate(filter(None, lines), start=1))


def words_of(text: str, name: str = "vtt") -> list[str]:
    return [item.raw for item in spoken(reading(text, name).items)]


SAID = "hi everyone my name is luke no no no no".split()


def test_words_are_read_once_and_know_their_times() -> None:
    assert words_of(YOUTUBE) == SAID
    items = reading(YOUTUBE, "vtt").items
    assert [item.start_ms for item in spoken(items)] == [240, 400, 800, 1920, 2100, 2500, 6010, 6400, 7010, 7300]
    assert [item.end_ms for item in spoken(items)] == [*(None, None, 1910, None, None, 4550, None, 7000, None, 9000)]
    assert [" ".join(word.text for word in text) for text in Transcript(items).texts] == [
        *("hi everyone my name is luke", "no no no no")
    ]
    assert words_of(as_srt(YOUTUBE), "srt") == SAID


@pytest.mark.parametrize("name", ["vtt", "srt"])
@settings(max_examples=20)
@given(st.integers(0, 2**16))
def test_a_line_has_the_same_marks_wherever_it_is_shown(name: str, seed: int) -> None:
    text = YOUTUBE if name == "vtt" else as_srt(YOUTUBE)
    assert unchanged(reading(text, name)) == text
    new, words = by_chance(text, name, seed)
    assert bare(new, name) == bare(text, name)
    assert letters(new) == letters(text), "nothing but marks and case"
    lines = [line for line in new.split("\n") if line.strip() and "-->" not in line]
    assert lines.count(" ".join(words[:3])) >= 2
    assert words_of(new, name) == words, "and it rolls as before"


def test_other_formats_have_each_word_once() -> None:
    transcript = reading(YOUTUBE, "vtt")
    same = [AnnotatedWord(item.raw, item.raw, "", "verbatim", 1.0, 1.0) for item in spoken(transcript.items)]
    for to in ("text", "srt"):
        text = "".join(written_pieces(transcript, transcript.with_words(same), WriterConfig(to), "talk"))
        shown = [line for line in text.split("\n") if "-->" not in line and not line.isdecimal()]
        assert " ".join(" ".join(shown).split()) == " ".join([*SAID[:6], "[Music]", *SAID[6:]])
    stamps = [line.split(" --> ") for line in text.split("\n") if "-->" in line]
    assert all(earlier[1] <= later[0] for earlier, later in pairwise(stamps)), "no cue overlaps the next"


def test_what_is_said_twice_is_read_twice_and_a_line_of_spaces_ends_no_cue() -> None:
    cues = "00:01.000 --> 00:02.000\nno no\n\n00:02.000 --> 00:03.000\nno no\n\n00:03.000 --> 00:04.000\nno no\nyes\n"
    assert words_of(f"WEBVTT\n\n{cues}") == "no no no no no no yes".split()
    first = "WEBVTT\n\n00:01.000 --> 00:02.000\n \nso what\n \n\nNOTE\nno words\n\n"
    text = first + "00:02.000 --> 00:03.000\nnow\n \nNOTE\nnone\n"
    assert words_of(text) == ["so", "what", "now"]
