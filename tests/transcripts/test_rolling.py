"""Rolling captions: words are read once, and written wherever they are shown."""

from __future__ import annotations

import io
import random
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from t5punct.text.marks import NO_LABEL, Alphabet, Case
from t5punct.text.render import AnnotatedWord, Decision, RenderConfig, render_word
from t5punct.transcripts.formats import transcript_of
from t5punct.transcripts.items import Item, Kept, SpokenWord, iter_pieces, texts_of, written_items
from t5punct.transcripts.writers import WriterConfig, written_pieces

YOUTUBE = (Path(__file__).parents[1] / "data/rolling.vtt").read_text()


def as_srt(text: str) -> str:
    """The same as yt-dlp converts it: no times of words, no settings."""
    cues = re.sub(r"<[^>]*>| align:.*", "", text).split("\n\n")[1:]
    lines = ([line for line in cue.replace(".", ",").split("\n") if line.strip()] for cue in cues)
    return "".join(f"{n}\n" + "\n".join(cue) + "\n\n" for n, cue in enumerate(filter(None, lines), start=1))


def items_of(text: str, name: str = "vtt") -> list[Item]:
    return list(transcript_of(io.StringIO(text, newline="\n"), name).items)


def words_of(text: str, name: str = "vtt") -> list[str]:
    return [item.raw for item in items_of(text, name) if isinstance(item, SpokenWord)]


def annotated(items: list[Item], seed: int) -> list[AnnotatedWord]:
    rng, annotated_words = random.Random(seed), []
    for word in (item.word for item in items if isinstance(item, SpokenWord)):
        decision = Decision(rng.choice(["", ",", ".", "?"]), rng.choice(list(Case)), 1.0, 1.0)
        written = render_word(word, decision, RenderConfig(), Alphabet())
        annotated_words.append(AnnotatedWord(word.text, written.text, written.label, written.case.value, 1.0, 1.0))
    return annotated_words


SAID = "hi everyone my name is luke no no no no".split()


def test_words_are_read_once_and_know_their_times() -> None:
    assert words_of(YOUTUBE) == SAID
    spoken = [item for item in items_of(YOUTUBE) if isinstance(item, SpokenWord)]
    assert [item.start_ms for item in spoken] == [240, 400, 800, 1920, 2100, 2500, 6010, 6400, 7010, 7300]
    assert [item.end_ms for item in spoken] == [
        None, None, 1910, None, None, 4550, None, 7000, None, 9000,
    ]  # fmt: skip
    assert [" ".join(word.text for word in text) for text in texts_of(items_of(YOUTUBE))] == [
        "hi everyone my name is luke",
        "no no no no",
    ]
    assert words_of(as_srt(YOUTUBE), "srt") == SAID


@pytest.mark.parametrize("name", ["vtt", "srt"])
@settings(max_examples=20)
@given(st.integers(0, 2**16))
def test_a_line_has_the_same_marks_wherever_it_is_shown(name: str, seed: int) -> None:
    text = YOUTUBE if name == "vtt" else as_srt(YOUTUBE)
    items = items_of(text, name)
    assert "".join(item.text if isinstance(item, Kept) else item.raw + item.after for item in items) == text
    words = annotated(items, seed)
    new = "".join(iter_pieces(written_items(items, iter(words))))
    bare = "".join(
        item.text.lower() if isinstance(item, Kept) else item.written(item.word.written(NO_LABEL)).lower()
        for item in items_of(new, name)
    )
    marks = str.maketrans("", "", ",.?")
    assert bare.translate(marks) == text.lower().translate(marks), "nothing but marks and case"
    lines = [line for line in new.split("\n") if line.strip() and "-->" not in line]
    by_hand = " ".join(word.text for word in words[:3])
    assert sum(line == by_hand for line in lines) >= 2
    assert words_of(new, name) == [word.text for word in words], "and it rolls as before"


def test_other_formats_have_each_word_once() -> None:
    transcript = transcript_of(io.StringIO(YOUTUBE), "vtt")
    items = list(transcript.items)
    same = [
        AnnotatedWord(item.raw, item.raw, "", "verbatim", 1.0, 1.0) for item in items if isinstance(item, SpokenWord)
    ]
    for to in ("text", "srt"):
        text = "".join(written_pieces(transcript, transcript.with_words(same), WriterConfig(to), "talk"))
        shown = [line for line in text.split("\n") if "-->" not in line and not line.isdecimal()]
        assert " ".join(" ".join(shown).split()) == " ".join([*SAID[:6], "[Music]", *SAID[6:]])
    stamps = [line.split(" --> ") for line in text.split("\n") if "-->" in line]
    assert all(earlier[1] <= later[0] for earlier, later in pairwise(stamps)), "no cue overlaps the next"


def test_what_is_said_twice_is_read_twice() -> None:
    cues = "00:01.000 --> 00:02.000\nno no\n\n00:02.000 --> 00:03.000\nno no\n\n00:03.000 --> 00:04.000\nno no\nyes\n"
    assert words_of(f"WEBVTT\n\n{cues}") == "no no no no no no yes".split()


def test_a_line_of_spaces_ends_no_cue_and_a_note_is_no_speech() -> None:
    first = "WEBVTT\n\n00:01.000 --> 00:02.000\n \nso what\n \n\nNOTE\nno words\n\n"
    text = first + "00:02.000 --> 00:03.000\nnow\n \nNOTE\nnone\n"
    assert words_of(text) == ["so", "what", "now"]
