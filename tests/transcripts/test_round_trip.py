"""Every format: a file read and written without changes is the same file; with marks, it differs in marks and case."""

import io
import json
import re
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from chance import bare, by_chance, punctuated, reading, said, spoken, unchanged
from hypothesis import example, given, settings
from hypothesis import strategies as st
from promises import letters
from proportion import peak_bytes

from t5punct.errors import InputError
from t5punct.text.render import AnnotatedWord
from t5punct.transcripts.formats import read_transcript, transcript_of
from t5punct.transcripts.recogniser.values import parse_json, written_json
from t5punct.transcripts.writers import WriterConfig, written_pieces

SRT = (
    "1\n00:00:01,000 --> 00:00:02,500 X1:5\n<i>how are</i> you\n- fine &amp; well\n\n"
    "2\n00:00:03,000 --> 00:00:04,000\n{a}\n"
)
PLAIN = SRT.format(a="and you")
DAMAGED: dict[str, Callable[[str], str]] = {  # of the second cue's times and number, what a careless hand or tool makes
    "spaces in times": lambda text: text.replace("00:00:03,000", "00: 00: 03,000"),
    "a letter in times": lambda text: text.replace("00:00:03,000", "00:00:0l,000"),
    "an empty line behind the number": lambda text: text.replace("2\n00:00:03", "2\n\n00:00:03"),
    "no empty line before the number": lambda text: text.replace("\n\n2\n", "\n2\n\n"),
    "the number twice": lambda text: text.replace("2\n00:00:03", "2\n2\n00:00:03"),
    **{arrow: partial(re.sub, "(?<=3,000) -->", f" {arrow}") for arrow in ("->", "–", "--〉")},
    "negative times": lambda text: text.replace("00:00:03,000", "-00:00:00,500"),
    "no time at all": lambda text: text.replace("00:00:03,000 --> 00:00:04,000", "-->"),
}


@pytest.mark.parametrize("name", ["text", "srt"])
def test_a_large_file_comes_back_as_it_was_and_is_held_once(name: str, tmp_path: Path) -> None:
    """Most of it is white space, so that it is read at once."""
    n_lines, space = 100, " " * 100_000
    line = f"so what{space}\n" if name == "text" else f"1\n00:00:01,000 --> 00:00:02,000\nso what{space}\n\n"
    (tmp_path / "large").write_text(line * n_lines, encoding="utf-8")

    def read_and_write() -> None:
        transcript = read_transcript(tmp_path / "large", format=name)
        words = (item.raw for item in spoken(transcript.items))
        said = [AnnotatedWord(word, word, "", "verbatim", 1.0, 1.0) for word in words]
        assert all(piece in line for piece in transcript.pieces(transcript.with_words(said)))

    assert peak_bytes(read_and_write) < 1.2 * n_lines * len(line)
    assert unchanged(read_transcript(tmp_path / "large", format=name)) == line * n_lines


@pytest.mark.parametrize(("text", "new", "expected"), [
    ('"<i>hello.</i>"', '"Hello?"', '"<i>Hello?</i>"'), ('"<i>hello</i>"', '"Hello".', '"<i>Hello</i>".'),
    ('<i>"hello"</i>', '"Hello."', '<i>"Hello."</i>'), ("<i>hello</i>,", "Hello,", "<i>Hello</i>,"),
    ("<i>hello,</i>", "Hello -", "<i>Hello -</i>"), ("(<b>hello</b>).", "(Hello)", "(<b>Hello</b>)"),
    ("hello.&#39;&quot;", "Hello?'\" -", "Hello?&#39;&quot; -"),
])  # fmt: skip
def test_a_closing_quote_stays_where_it_stood_among_the_tags(text: str, new: str, expected: str) -> None:
    source = f"1\n00:00:01,000 --> 00:00:02,000\n{text}\n"
    (word,) = spoken(reading(source, "srt").items)
    before = "<i>" if text.startswith("<i>") else ""
    assert before + word.with_text(new) == expected + "\n"


@example('{"a": "\\u00e9\\/", "b" : [1.50, 1e400, "x", true ] }')
@example('\ufeff{\r\n\t"a": [],\r\n\t"a": {}\r\n}\r\n')
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ).map(json.dumps)
)
def test_json_keeps_its_values_keys_and_numbers_as_they_are_written(text: str) -> None:
    new = written_json(*parse_json(text)[0])
    old_value, new_value = (
        json.loads(json_text.removeprefix("\ufeff"), parse_int=str, parse_float=str, object_pairs_hook=list)
        for json_text in (text, new)
    )
    assert new_value == old_value
    assert written_json(*parse_json(new)[0]) == new
    assert (text[0], new.count("\r\n"), new.isascii()) == (new[0], text.count("\r\n"), text.isascii())


LABELLED = [
    (">> so\n>> ANN LEE: what [inaudible] now", "text", "so / what now"),
    ("so [laughs] what [city] now [Applause] we\n(upbeat music)\nyes", "text", "so what now / we / yes"),
    ("Speaker 1: so\nSPEAKER_02: what", "text", "so / what"), ("so\nwhat", "lines", "so / what"),
    ("JOHN & ANN 2: so\nNARRATOR (V.O.): what", "text", "so / what"),
    ("[00:01.123 --> 00:07.000]  how\n[00:07] are you", "text", "how are you"),
    (SRT.format(a="10:30"), "srt", "how are you / fine & well 10:30"), ("10:30", "text", "10:30"),
    ("a 1 0 1 so\na 1 1 1 [noise] 0.9\na 1 2 1 <unk>\na 1 3 1 what", "ctm", "so what"),
    (SRT.format(a="<i>MARY: so</i>"), "srt", "how are you / fine & well / so"),
    (SRT.format(a="x --> y"), "srt", "how are you / fine & well x --> y"),
    (SRT.format(a="-¿Qué?"), "srt", "how are you / fine & well / ¿Qué"),
    (SRT.format(a="<v>so"), "srt", "how are you / fine & well so"),
    ("talk A 0.10 0.20 how 0.9\n\nother 1 0 1 you 1.0 lex\n", "ctm", "how / you"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name", "expected"), LABELLED)
def test_no_sentence_goes_on_over_a_speaker_or_a_direction(text: str, name: str, expected: str) -> None:
    assert said(text, name) == expected


@pytest.mark.parametrize(("format", "text", "warns"), [
    ("srt", "how are you today\n", True), ("vtt", "WEBVTT\n\nhow are you\n", True), ("srt", " \n\n", False),
    ("srt", "1\n00:00:01,000 --> 00:00:02,000\n[Music]\n", True),
    ("text", "...\n", False),
    ("srt", "1\n00:00:01,000 --> 00:00:02,000\nhow are you\n", False),
])  # fmt: skip
def test_a_file_without_words_is_told(format: str, text: str, warns: bool, caplog: pytest.LogCaptureFixture) -> None:
    assert unchanged(transcript_of(io.StringIO(text), format, name="talk")) == text
    assert caplog.messages == [f"talk: no words were found in it as {format}"] * warns


@pytest.mark.parametrize(("format", "text"), [
    *(("srt", start + PLAIN) for start in ("", "\ufeff", "\n\n")),
    ("vtt", "WEBVTT Kind: captions\n\n00:01.000 --> 00:02.000\nhow are you\n"),
    ("ass", "[Script Info]\nTitle: so, what\n[Events]\nFormat: Layer, Text\nDialogue: 0,how are you\n"),
    ("json", '{"text": "how are you"}'), ("json", '[\n\n[\n{\n"start-ms":\n1, "word": "how"}]]'),
    ("json", '{"is_final": true, "text": "how"}\n'),
])  # fmt: skip
def test_what_is_no_text_is_not_read_as_one(format: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "talk.txt"  # or a pipe, which has no name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=f"^.*talk.txt holds {format}; expected text; use --format {format}, or"):
        list(read_transcript(path).items)
    assert unchanged(read_transcript(path, format="text")) == text


@pytest.mark.parametrize("text", [
    *("[Music]\nhow", "[00:01.123 --> 00:07.000]  how", "00:01.123 --> 00:07.000 how", "00:01.123 --> how"),
    *("{\nhow are you", '["how"]', '{"name": is what you write', '"so": 1', "webvtt", "1\n2\nhow", "\n" * 30),
])  # fmt: skip
def test_a_text_that_begins_oddly_is_a_text(text: str, tmp_path: Path) -> None:
    (path := tmp_path / "talk.txt").write_text(text, encoding="utf-8")
    assert unchanged(read_transcript(path)) == text


@pytest.mark.parametrize("damage", DAMAGED)
def test_times_that_cannot_be_read_and_numbers_are_no_speech(damage: str) -> None:
    text = DAMAGED[damage](SRT.format(a="and you\n1984"))
    assert text != SRT.format(a="and you\n1984")
    words = spoken(reading(text, "srt").items)
    assert [item.word.text for item in words] == ["how", "are", "you", "fine", "&", "well", "and", "you", "1984"]
    for seed in range(5):
        lines = punctuated(text, "srt", seed).splitlines()
        assert all(line in lines for line in text.splitlines() if "-->" in line or "00:00:03" in line)
        assert lines.count("2") == text.splitlines().count("2")
    if "spaces" in damage or re.search("3,000 .* 00:00:04,000", text):
        assert words[-3].start_ms == 3000


# -- rolling captions: words are read once, and written wherever they are shown


YOUTUBE = (Path(__file__).parents[1] / "data/rolling.vtt").read_text()


def as_srt(text: str) -> str:
    """The same as yt-dlp converts it: no times of words, no settings."""
    cues = re.sub(r"<[^>]*>| align:.*", "", text).split("\n\n")[1:]
    lines = ([line for line in cue.replace(".", ",").split("\n") if line.strip()] for cue in cues)
    return "".join(f"{n}\n" + "\n".join(cue) + "\n\n" for n, cue in enumerate(filter(None, lines), start=1))


def words_of(text: str, name: str = "vtt") -> list[str]:
    return [item.raw for item in spoken(reading(text, name).items)]


SAID = "hi everyone my name is luke no no no no".split()


def test_rolling_words_are_read_once_know_their_times_and_stand_once_in_other_formats() -> None:
    assert words_of(YOUTUBE) == SAID
    items = reading(YOUTUBE, "vtt").items
    assert [item.start_ms for item in spoken(items)] == [240, 400, 800, 1920, 2100, 2500, 6010, 6400, 7010, 7300]
    assert [item.end_ms for item in spoken(items)] == [*(None, None, 1910, None, None, 4550, None, 7000, None, 9000)]
    assert said(YOUTUBE, "vtt") == "hi everyone my name is luke / no no no no"
    assert words_of(as_srt(YOUTUBE), "srt") == SAID
    transcript = reading(YOUTUBE, "vtt")
    same = [AnnotatedWord(item.raw, item.raw, "", "verbatim", 1.0, 1.0) for item in spoken(transcript.items)]
    for to in ("text", "srt"):
        text = "".join(written_pieces(transcript, transcript.with_words(same), WriterConfig(to), "talk"))
        shown = [line for line in text.split("\n") if "-->" not in line and not line.isdecimal()]
        assert " ".join(" ".join(shown).split()) == " ".join([*SAID[:6], "[Music]", *SAID[6:]])
    stamps = [line.split(" --> ") for line in text.split("\n") if "-->" in line]
    assert all(earlier[1] <= later[0] for earlier, later in pairwise(stamps)), "no cue overlaps the next"
    cues = "00:01.000 --> 00:02.000\nno no\n\n00:02.000 --> 00:03.000\nno no\n\n00:03.000 --> 00:04.000\nno no\nyes\n"
    assert words_of(f"WEBVTT\n\n{cues}") == "no no no no no no yes".split()
    first = "WEBVTT\n\n00:01.000 --> 00:02.000\n \nso what\n \n\nNOTE\nno words\n\n"
    text = first + "00:02.000 --> 00:03.000\nnow\n \nNOTE\nnone\n"
    assert words_of(text) == ["so", "what", "now"]


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
