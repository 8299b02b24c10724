"""The table of formats: their names, how they are read and written; and which of them a file has.

In: a file's lines and its name, or a format's.  Out: its `Transcript`, of which `writers` makes a file again.  What a
new format needs is in CONTRIBUTING.md.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from ..errors import ConfigError, InputError
from ..text.io.files import BOM, SAVE_TEXT, STANDARD, source_lines_with_ends, take_each, unpacked_name
from ..text.marks import Alphabet
from ..text.render import AnnotatedWord
from ..text.words import Word
from .heads import Heads, label_of
from .items import Item, Kept, SpokenWord, WrittenItem, WrittenWord, iter_pieces, numbered_texts, written_items
from .recogniser.recording import RecogniserJson
from .review import review_page
from .speech import join_same_speakers, read_plain, read_utterances
from .subtitles import TIMING, WrittenCue, read_ass, read_srt, read_vtt, write_ass, write_srt, write_vtt
from .tables import are_ctm, read_csv, read_ctm, read_table, write_cells, write_csv, write_ctm, write_json, write_tsv

_SRT_OPENING = re.compile(rf"(\d+\s*\n)?{TIMING.pattern}[ \t]*(\r|\n|$|\w+:)")  # `position:50%`
_ASS_OPENING = re.compile(r"\[Script Info\]", re.IGNORECASE)
_JSON_OPENING = re.compile(r'[{\[][{\[\s]*"[^"\n]+"\s*:\s*(["{\[\d-]|(true|false|null)\b|$)')

Reader = Callable[[Iterable[str], Alphabet | None], Iterable[Item]]
Writer = Callable[[Sequence[WrittenItem], str], Iterable[str]]


@dataclass(frozen=True)
class Format:
    """A kind of file.

    suffixes: of its files' names.  mimes: its content types; the first one is written.  reader: of lines; json has
    none, as it is read as a whole.  writer: of any transcript's items, with the name of its file; cue_writer: of cues.
    rewriter: of the items of a file of this format.  opening: matches the begin of its files, by which they are known
    if their name says that they are text.
    """

    name: str
    suffixes: tuple[str, ...]
    mimes: tuple[str, ...]
    reader: Reader | None = None
    writer: Writer | None = None
    opening: re.Pattern[str] | None = None
    cue_writer: Callable[[Sequence[WrittenCue]], str] | None = None
    rewriter: Callable[[Iterable[WrittenItem]], Iterator[str]] = iter_pieces
    is_plain: bool = False  # a text, without times and tags
    is_table: bool = False  # a line for each word: a removed word would leave the rest of its line


_JSON = (".json", ".jsonl", ".ndjson", ".json3")
FORMATS = {
    format.name: format
    for format in (
        Format(
            "text",
            (".txt", ".text", ".stm"),
            ("text/plain",),
            read_plain,
            lambda written, _: iter_pieces(written),
            is_plain=True,
        ),
        Format("lines", (), ("text/plain",), read_utterances, is_plain=True),
        Format("srt", (".srt",), ("application/x-subrip", "text/srt"), read_srt, None, _SRT_OPENING, write_srt),
        Format("vtt", (".vtt",), ("text/vtt",), read_vtt, None, re.compile(r"WEBVTT\b"), write_vtt),
        Format("ass", (".ass", ".ssa"), ("text/x-ssa",), read_ass, None, _ASS_OPENING, write_ass),
        Format("ctm", (".ctm",), ("text/plain",), read_ctm, write_ctm, is_table=True),
        Format("tsv", (".tsv",), ("text/tab-separated-values",), read_table, write_tsv, is_table=True),
        Format("csv", (".csv",), ("text/csv",), read_csv, write_csv, rewriter=write_cells, is_table=True),
        Format("json", _JSON, ("application/json",), None, write_json, _JSON_OPENING),
        Format("html", (".html", ".htm"), ("text/html",), None, review_page),
    )
}
_LINE_READERS = {format.name: format.reader for format in FORMATS.values() if format.reader}
INPUTS = (*_LINE_READERS, "json")
OUTPUTS = tuple(format.name for format in FORMATS.values() if format.writer or format.cue_writer)
SUFFIXES = {suffix: name for name in INPUTS for suffix in FORMATS[name].suffixes}
RECORDINGS = (
    ".mp3", ".wav", ".m4a", ".flac", ".ogg", ".opus", ".aac", ".wma", ".aiff", ".amr",
    ".mp4", ".mkv", ".mov", ".webm", ".avi", ".mpg", ".mpeg", ".wmv",
)  # fmt: skip
_DOCUMENT = "a document with layout"
OTHER_SUFFIXES = {  # of formats that are not read: if they were read as text, their structure would be changed
    **dict.fromkeys((".xlsx", ".ods"), "a table"),
    **dict.fromkeys(
        (".sbv", ".ttml", ".dfxp", ".smi", ".sami", ".sub", ".scc", ".stl", ".lrc", ".cap", ".idx"), "subtitles"
    ),
    **dict.fromkeys((".textgrid", ".eaf", ".trs", ".rttm", ".lab", ".cha"), "a transcript with times"),
    **dict.fromkeys((".xml", ".html", ".htm", ".xhtml", ".tex"), "markup"),
    **dict.fromkeys((".yaml", ".yml"), "data"),
    ".edl": "an edit list",
    **dict.fromkeys(RECORDINGS, "a recording"),
    **dict.fromkeys((".docx", ".doc", ".odt", ".rtf", ".pdf", ".pptx", ".epub"), _DOCUMENT),
}
_EDL = re.compile(r"(?:TITLE:.*\s+)?(?:FCM:|\d{3,6}\s+\w+\s+\w+\s+[CDWK]\b.*\d\d:\d\d:\d\d[:;]\d\d)")  # CMX 3600
_OTHER_OPENINGS = {  # how files that are named as text must not begin -> what they are
    re.compile(r"@(?:UTF8|Begin|Loc:|Window:|Font:)"): "CHAT, whose codes stand inside words",
    _EDL: "an edit list (EDL)",
    re.compile(r'File type = "ooTextFile'): "a TextGrid of Praat",
    re.compile(r"(?:<\?xml|<tt\b|<SAMI\b)", re.IGNORECASE): "XML",
    re.compile(r"\{\d+\}\{\d+\}"): "MicroDVD, whose times are frames",
}
_TELLS_NOTHING = re.compile(r"[\s{\[]*|\d+\s*")  # a line that several formats may begin with
OLD_LINE_END = "\r"  # of old Macs
_MAX_OPENING_LINES = 20
_FEWEST_ROWS = 2  # of a table
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Transcript:
    """A file as a value: its words and what stands between them.

    json: where the words of a recogniser's file stand; None: the file is its items, one after the other.  line_end: of
    the file; of old Macs' (`\\r`) the items have `\\n` in its place.
    """

    items: Sequence[Item]
    format: str = "text"
    json: RecogniserJson | None = None
    line_end: str = "\n"

    @property
    def texts(self) -> list[list[Word]]:
        """Its words as texts: no sentence goes on from one text to the next."""
        return [[item.word for _, item in text] for text in numbered_texts(self.items)]

    @property
    def normal_words(self) -> Iterator[str]:
        return (item.word.normal for item in self.items if isinstance(item, SpokenWord))

    @property
    def is_plain(self) -> bool:
        return FORMATS[self.format].is_plain

    def with_words(self, words: Iterable[AnnotatedWord]) -> list[WrittenItem]:
        """Return its items, with its words as they are written now; `words` are in file order."""
        return list(written_items(self.items, words))

    def pieces(self, written: Iterable[WrittenItem]) -> Iterator[str]:
        """Yield the pieces of the file in its own format; `written` are its items."""
        if self.json is not None:
            return self.json.pieces(item for item in written if isinstance(item, WrittenWord))
        pieces = FORMATS[self.format].rewriter(written)
        if self.line_end == OLD_LINE_END:
            return (piece.replace("\n", OLD_LINE_END) for piece in pieces)
        return pieces


def format_of(source: str | Path) -> str:
    """Return the format that a file's name shows; plain text if it shows none.

    Raises InputError if the name shows a format that is not read.
    """
    suffix = Path(unpacked_name(source)).suffix
    if suffix.lower() in SUFFIXES:
        return SUFFIXES[suffix.lower()]
    if suffix.lower() in RECORDINGS:
        raise InputError(
            f"{source}, which is a recording",
            expected="a transcript of it: t5punct reads words, not sound",
            fix="transcribe it first by a speech recogniser, such as Whisper, and give its .json or .srt",
        )
    if kind := OTHER_SUFFIXES.get(suffix.lower()):
        fix = "save it as one of them; or, if it is text all the same, say --format text, or rename it to .txt"
        raise InputError(
            f"{source}, whose name says that it is {kind} ({suffix})",
            expected=f"one of {', '.join(INPUTS)}",
            fix=SAVE_TEXT if kind == _DOCUMENT else fix,
        )
    return "text"


def read_transcript(source: str | Path, *, format: str | None = None, alphabet: Alphabet | None = None) -> Transcript:
    """Read a file, a pipe or standard input (`-`).  Raises ConfigError and InputError as `transcript_of` does."""
    return transcript_of(source_lines_with_ends(source, keep_bom=True), format, alphabet, str(source))


def transcript_of(
    lines: Iterable[str], format: str | None = None, alphabet: Alphabet | None = None, name: str = "the file"
) -> Transcript:
    """Read a transcript from lines with their ends.

    Without a format, the name of the file shows it; of a text, the lines show whether it is a table.  Raises
    ConfigError for an unknown format.  Raises InputError as `format_of` does, for lines that cannot be read in the
    format, and for a file that is named as text but begins as another format does.
    """
    is_guess = format is None
    format = format_of(name) if format is None else format
    if format not in INPUTS:
        raise ConfigError(f"format {format!r}", expected=f"one of {', '.join(INPUTS)}", fix="check --format")
    lines = [*lines]
    if format == "json":
        json = RecogniserJson.read("".join(lines), alphabet, name)
        transcript = Transcript([*join_same_speakers(json.items)], format, json)
        has_content = True
    else:
        line_end = "\n"
        if lines and lines[0].endswith("\r\n"):
            line_end = "\r\n"
        elif lines and OLD_LINE_END in lines[0] and not lines[0].endswith("\n"):  # on an old Mac it is the whole file
            line_end = OLD_LINE_END
            lines[:1] = StringIO(lines[0], newline=None)  # None: its lines end in `\n`
        if is_guess and format == "text":
            format = _format_of_text(lines, name)
        items = list[Item]()
        if lines and lines[0].startswith(BOM):
            items.append(Kept(BOM))
            lines[0] = lines[0].removeprefix(BOM)
        items += join_same_speakers(_LINE_READERS[format](take_each(lines), alphabet))
        transcript = Transcript(items, format, line_end=line_end)
        has_content = any(isinstance(item, Kept) and item.text != BOM and not item.text.isspace() for item in items)
    has_words = any(isinstance(item, SpokenWord) for item in transcript.items)
    if has_content and not has_words and not transcript.is_plain:
        _log.warning("%s: no words were found in it as %s", name, format)
    return transcript


def _format_of_text(lines: Sequence[str], name: str) -> str:
    """Return `ctm` or `tsv` for a file that is named as text but has rows, else `text`; refuse other formats."""
    if mistake := opening_mistake(lines, "standard input" if name == STANDARD else name):
        raise mistake
    if are_ctm(lines):
        return "ctm"
    return "tsv" if _are_table(lines) else "text"


def _are_table(lines: Sequence[str]) -> bool:
    """Return whether lines are rows of cells, with equally many tabs.

    A tab only behind a head or a label makes no cells: `utt-01<tab>so what` is a line of text.
    """
    rows = [line.rstrip("\r\n") for line in lines if not line.isspace()]
    if len(rows) < _FEWEST_ROWS or "\t" not in rows[0] or len({row.count("\t") for row in rows}) > 1:
        return False
    heads = Heads.of(rows)
    for row in rows:
        behind_head = row[heads.head_of(row).n_chars :]
        label = label_of(behind_head, heads.labels)
        speech = behind_head[label.end() :] if label else behind_head
        if "\t" not in speech.strip():
            return False
    return True


def opening_mistake(lines: Sequence[str], source: str) -> InputError | None:
    """Return the error for lines of a text that begin as those of another format do; None if they do not."""
    n_lines = 0  # up to the first line that shows a format
    for line in lines[:_MAX_OPENING_LINES]:
        n_lines += 1
        if not _TELLS_NOTHING.fullmatch(line.removeprefix(BOM)):
            break
    opening = "".join(lines[:n_lines]).removeprefix(BOM).lstrip()
    if opening.startswith("TITLE:"):  # of a speech, or an edit list: see `_EDL`
        opening += "".join(lines[n_lines : n_lines + 2])
    openings = [(pattern, what, "export its words, as text or SRT") for pattern, what in _OTHER_OPENINGS.items()]
    for format in FORMATS.values():
        if format.opening:
            openings.append((format.opening, format.name, f"use --format {format.name}"))
    for pattern, what, fix in openings:
        if pattern.match(opening):
            all_the_same = "or --format text if it is text all the same"
            return InputError(f"{source} holds {what}", expected="text", fix=f"{fix}, {all_the_same}")
    return None
