"""Hypothesis strategies for files of every format: as tools write them, as careless hands leave them, and garbage."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from strategies import TRICKY_WORDS, texts

_ODD_WORDS = (
    *("so", "we", "know", "that", "etc.", "Mr.", "J.", "1984", "2", "10:30", "well-known", "don’t", "é", "ÉTÉ", "C#"),
    *("so,", "what?", "yes.", "no!", "wait...", "oh -", "(so)", '"so"', "“so”", "so:", "שלום", "\u200fעולם", "سلام؟"),
    *("नमस्ते।", "好。", "&", "AT&amp;T", "&lt;b&gt;", "&nbsp;", "a&b;", "<", ">", "{", "}", "\\", "|", "#", "*", "_"),
    *("\x0b", "\x1c", "\x85", "->", "\\N", "a\\Nb", "{\\i1}", "<i>", "</i>so", "<i>so</i>,", "<c.x>", "<00:00:01.500>"),
)
words = st.sampled_from([*_ODD_WORDS, *TRICKY_WORDS])
_LABELS = ("", "", "", "JOHN: ", "- ", "-", ">> ", ">> ANN: ", "Speaker 1: ", "[SPEAKER_00]: ", "Dr. Doe: ")
_DIRECTIONS = ("", "", "", "", " [Music]", " (applause)", " [laughs] so", " ♪", " [00:01]", " [inaudible] we", " [")
_END = ("\n", "\n", "\n", "\r\n")


def joined(*parts: Any) -> st.SearchStrategy[str]:
    """Texts one after the other; of a tuple, one of its texts."""
    kinds = {str: st.just, tuple: st.sampled_from}
    drawn = [kinds.get(type(part), lambda strategy: strategy)(part) for part in parts]
    return st.tuples(*drawn).map("".join)


def repeated(part: st.SearchStrategy[str], most: int, between: str = "") -> st.SearchStrategy[str]:
    return st.lists(part, max_size=most).map(between.join)


_speech = st.lists(joined(words, (" ", " ", " ", "  ", "\t", "\u00a0")), min_size=1, max_size=6).map("".join)
_line = joined(_LABELS, _speech.map(str.rstrip), _DIRECTIONS)
_shown = _line.filter(lambda line: "-->" not in line)  # a line with an arrow is one of times

_clock = st.integers(0, 90_000_000).map(
    lambda ms: f"{ms // 3_600_000:02}:{ms // 60_000 % 60:02}:{ms // 1000 % 60:02},{ms % 1000:03}"
)
_times = joined(_clock, (" --> ", " --> ", "-->"), _clock, ("", "", " line:0", " align:start position:0%", " X1:10"))
_DAMAGED = ("--> 00:00:02,000", "-->", "00: 00: 02,000 --> 00:00:03,000", "00:00:0l,000 --> 00:00:03,000")
_any_times = st.one_of(_times, _times, _times, st.sampled_from(_DAMAGED))


def _cues(numbers: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Cues, now and then without a number, times that can be read, or an empty line."""
    gap = ("\n", "\n", "\n", "\n\n", " \n", "")
    return repeated(joined(numbers, _any_times, "\n", repeated(joined(_shown, "\n"), 3), gap), 4)


_srt = _cues(("1\n", "2\n", "7\n", "", "2\n\n"))
_vtt_note = st.sampled_from(["NOTE so, what\n\n", "STYLE\n::cue(b) {color: red}\n\n", "REGION\nid:a\n\n"])
_vtt = joined(
    ("WEBVTT\n\n", "WEBVTT so\nKind: captions\n\n", "WEBVTT\n"),
    repeated(_vtt_note | _cues(("a-1\n", "1\n", "", "")).map(lambda cues: cues.replace(",", ".")), 3),
)
_FORMAT = "Format: Layer, Start, End, Style, Name, Text\n"
_dialogue = joined(
    ("Dialogue: ", "Dialogue: ", "Comment: ", "Dialogue:"),
    ("0,0:00:01.00,0:00:02.50,Default,", "0,bad,,,"),
    ("Ann,", "Bob,", ","),
    repeated(joined(("", "", " {\\i1}", " {\\an8\\pos(1,2)}", "\\N", "\\h", " {so}", " {"), _line, "\\N"), 3),
    "\n",
)
_ass = joined(("[Script Info]\nTitle: so, what\n[Events]\n", ""), (_FORMAT, _FORMAT, ""), repeated(_dialogue, 5))

_MARKS = (",", ".", "?", "-", "…", "")
_field = words.filter(lambda word: len(word.split()) == 1)
_ctm = repeated(joined(
    ("a 1 0.1 0.2 ", "a 1 0.1 0.2 ", "b A 0 1 ", "a 1 x 1 ", " a\t1 2 .5  ", ";; ", "a 1 "),
    st.one_of(_field, _field, _field, st.sampled_from([*_MARKS, "[noise]", "<unk>"])),
    ("", "", " 0.9", " 1.0 lex", "\t0.5 "), "\n",
), 8)  # fmt: skip

_cell = _field.filter(lambda word: '"' not in word)
_word_rows = repeated(
    joined(st.one_of(_cell, _cell, st.sampled_from(_MARKS)), ("\t0.1\t0.5", "\tNA\t2", "\t", ""), "\n"), 6
)
_segment_rows = repeated(
    joined(("0\t1200\t", "1200\t2400\t", "0.5\t2\t"), _line.map(lambda line: line.replace("\t", " ")), "\n"), 5
)
_tsv = st.one_of(
    joined(("word\tstart\tend\n", "Token\tstart\tend\n", '"word"\t"start"\t"end"\n'), _word_rows),
    joined(("start\tend\ttext\n", "start\tend\tTEXT\n", ""), _segment_rows),
    _word_rows,
)
_text = repeated(joined(_line | st.sampled_from(["", "", "0:12", "# so", "-->"]), _END), 8)
_READERS = {"text": _text, "lines": _text, "srt": _srt, "vtt": _vtt, "ass": _ass, "ctm": _ctm, "tsv": _tsv}
_HANDS = {  # what they do to a file
    "nothing": lambda text: text,
    "windows line ends": lambda text: text.replace("\n", "\r\n"),
    "a byte order mark": lambda text: "\ufeff" + text,
    "no last line end": lambda text: text.rstrip("\n"),
}
_hand = st.sampled_from(["nothing"] * 4 + list(_HANDS))

# files of a format, and anything that is said to be one
FILES = {name: st.tuples(_hand, file).map(lambda pair: _HANDS[pair[0]](pair[1])) for name, file in _READERS.items()}
_anything = st.one_of(texts, *_READERS.values())
ANYTHING = {name: st.lists(st.one_of(file, _anything), max_size=4).map("".join) for name, file in _READERS.items()}
any_texts = texts | _text
