"""Files of every format by chance: as tools write them, as careless hands leave them, and garbage."""

from collections.abc import Callable
from random import Random

from chosen import Draw, changed, draw, joined, repeated, texts
from strategies import TRICKY_WORDS

_ODD_WORDS = (
    *("so", "we", "know", "that", "etc.", "Mr.", "J.", "1984", "2", "10:30", "well-known", "don’t", "é", "ÉTÉ", "C#"),
    *("so,", "what?", "yes.", "no!", "wait...", "oh -", "(so)", '"so"', "“so”", "so:", "שלום", "\u200fעולם", "سلام؟"),
    *("नमस्ते।", "好。", "&", "AT&amp;T", "&lt;b&gt;", "&nbsp;", "a&b;", "<", ">", "{", "}", "\\", "|", "#", "*", "_"),
    *("\x0b", "\x1c", "\x85", "->", "\\N", "a\\Nb", "{\\i1}", "<i>", "</i>so", "<i>so</i>,", "<c.x>", "<00:00:01.500>"),
    *("<v Ann>", "<v.x Bob>so", "</v>,"),
)
words = (*_ODD_WORDS, *TRICKY_WORDS)
_one_piece = tuple(word for word in words if len(word.split()) == 1)
_LABELS = ("", "", "", "JOHN: ", "- ", "-", ">> ", ">> ANN: ", "Speaker 1: ", "[SPEAKER_00]: ", "Dr. Doe: ")
_DIRECTIONS = ("", "", "", "", " [Music]", " (applause)", " [laughs] so", " ♪", " [00:01]", " [inaudible] we", " [")
_END = ("\n", "\n", "\n", "\r\n")

_speech = repeated(joined(words, (" ", " ", " ", "  ", "\t", "\u00a0")), 6, least=1)
_line = joined(_LABELS, changed(_speech, str.rstrip), _DIRECTIONS)
_shown = changed(_line, lambda line: line.replace("-->", "so"))  # a line with an arrow is one of times


def _clock(rng: Random) -> str:
    ms = rng.randrange(90_000_000)
    return f"{ms // 3_600_000:02}:{ms // 60_000 % 60:02}:{ms // 1000 % 60:02},{ms % 1000:03}"


_times = joined(_clock, (" --> ", " --> ", "-->"), _clock, ("", "", " line:0", " align:start position:0%", " X1:10"))
_DAMAGED = ("--> 00:00:02,000", "-->", "00: 00: 02,000 --> 00:00:03,000", "00:00:0l,000 --> 00:00:03,000")
_any_times = (_times, _times, _times, _DAMAGED)


def _cues(numbers: tuple[str, ...]) -> Draw:
    """Cues, now and then without a number, times that can be read, or an empty line."""
    gap = ("\n", "\n", "\n", "\n\n", " \n", "")
    return repeated(joined(numbers, _any_times, "\n", repeated(joined(_shown, "\n"), 3), gap), 4)


_srt = _cues(("1\n", "2\n", "7\n", "", "2\n\n"))
_vtt_note = ("NOTE so, what\n\n", "STYLE\n::cue(b) {color: red}\n\n", "REGION\nid:a\n\n")
_vtt = joined(
    ("WEBVTT\n\n", "WEBVTT so\nKind: captions\n\n", "WEBVTT\n"),
    repeated((_vtt_note, changed(_cues(("a-1\n", "1\n", "", "")), lambda cues: cues.replace(",", "."))), 3),
)
_FORMAT = "Format: Layer, Start, End, Style, Name, Text\n"
_CODES = ("", "", " {\\i1}", " {\\an8\\pos(1,2)}", "\\N", "\\h", " {so}", " {", "{\\p1}m 0{\\p0}")
_dialogue = joined(
    ("Dialogue: ", "Dialogue: ", "Comment: ", "Dialogue:"), ("0,0:00:01.00,0:00:02.50,Default,", "0,bad,,,"),
    ("Ann,", "Bob,", ","),
    repeated(joined(_CODES, _line, "\\N"), 3), "\n",
)  # fmt: skip
_ass = joined(("[Script Info]\nTitle: so, what\n[Events]\n", ""), (_FORMAT, _FORMAT, ""), repeated(_dialogue, 5))

_MARKS = (",", ".", "?", "-", "…", "")
_ctm = repeated(joined(
    ("a 1 0.1 0.2 ", "a 1 0.1 0.2 ", "b A 0 1 ", "a 1 x 1 ", " a\t1 2 .5  ", ";; ", "a 1 "),
    (_one_piece, _one_piece, _one_piece, (*_MARKS, "[noise]", "<unk>")),
    ("", "", " 0.9", " 1.0 lex", "\t0.5 "), "\n",
), 16)  # fmt: skip

_cell = tuple(word for word in _one_piece if '"' not in word)
_word_rows = repeated(joined((_cell, _cell, _MARKS), ("\t0.1\t0.5", "\tNA\t2", "\t", ""), "\n"), 12)
_segment_rows = repeated(
    joined(("0\t1200\t", "1200\t2400\t", "0.5\t2\t"), changed(_line, lambda line: line.replace("\t", " ")), "\n"), 5
)
_tsv = (
    joined(("word\tstart\tend\n", "Token\tstart\tend\n", '"word"\t"start"\t"end"\n'), _word_rows),
    joined(("start\tend\ttext\n", "start\tend\tTEXT\n", ""), _segment_rows),
    _word_rows,
)
_quoted_cell = changed(_line, lambda line: '"' + line.replace('"', '""') + '"')
_bare_cell = changed(_line, lambda line: line.translate({ord(char): " " for char in ',;"'}))
_csv = joined(
    ("start,end,text\n", "start,end,Text\n", "id,Start Time,transcript\n"),
    repeated(joined(("0,1200,", "1.5,2.5,", ",,"), (_quoted_cell, _bare_cell), "\n"), 8),
)
_text = repeated(joined((_line, _line, ("", "", "0:12", "# so", "-->")), _END), 8)
_READERS = {
    "text": _text, "lines": _text, "srt": _srt, "vtt": _vtt, "ass": _ass, "ctm": _ctm, "tsv": _tsv, "csv": _csv,
}  # fmt: skip


_HANDS: tuple[Callable[[str], str], ...] = (  # a file as what wrote it last leaves it
    *(str, str, str),
    lambda text: text.replace("\n", "\r\n"),
    lambda text: text.replace("\n", "\r"),
    lambda text: "\ufeff" + text,
    lambda text: text.rstrip("\n"),
)


def _left(file: Draw) -> Draw:
    return lambda rng: rng.choice(_HANDS)(draw(file, rng))


# files of a format, and anything that is said to be one
FILES = {name: _left(file) for name, file in _READERS.items()}
_anything = (texts, *_READERS.values())
ANYTHING = {name: repeated((file, _anything), 4) for name, file in _READERS.items()}
any_texts = (texts, _text)
