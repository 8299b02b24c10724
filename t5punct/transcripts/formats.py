"""The table of formats: their names, how they are read and written; and which of them a file has.

In: a file's name, or a format's.  Out: its `Transcript`, a value; with its words as a punctuator decides them
(`transcript.with_words(words)`), `writers` makes a file of it.  A new format is a file with its reader and writer, and
a row of `FORMATS`; the help of `punctuate` and the page's `accept` name it to people.

>>> format_of("talk.en.vtt.gz"), format_of("talk.md"), format_of("-")
('vtt', 'text', 'text')
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from ..errors import ConfigError, InputError
from ..text.io.files import BOM, SAVE_TEXT, STANDARD, source_lines_with_ends, unpacked_name
from ..text.marks import Alphabet
from ..text.render import AnnotatedWord
from ..text.words import Word
from .heads import Heads, label_of
from .items import Item, Kept, SpokenWord, WrittenItem, WrittenWord, iter_pieces, numbered_texts, written_items
from .recogniser.recording import RecogniserJson, write_json
from .review import review_page
from .speech import join_same_speakers, read_plain, read_utterances
from .subtitles import TIMING, WrittenCue, read_ass, read_srt, read_vtt, write_ass, write_srt, write_vtt
from .tables import are_ctm, read_csv, read_ctm, read_table, write_cells, write_csv, write_ctm, write_tsv

_SRT_BEGINS = re.compile(rf"(\d+\s*\n)?{TIMING.pattern}[ \t]*(\r|\n|$|\w+:)")  # `position:50%`
_ASS_BEGINS = re.compile(r"\[Script Info\]", re.IGNORECASE)
_JSON_BEGINS = re.compile(r'[{\[][{\[\s]*"[^"\n]+"\s*:\s*(["{\[\d-]|(true|false|null)\b|$)')

Reader = Callable[[Iterable[str], Alphabet | None], Iterable[Item]]
Writer = Callable[[Sequence[WrittenItem], str], Iterable[str]]


@dataclass(frozen=True)
class Format:
    """A kind of file.

    suffixes: the ends of its names; mimes: its content types, the first of which is written; reader: of its lines, and
    json_reader: of json, which is read as a whole; writer: of the items of any transcript, with the name of its file,
    and cue_writer: of cues; rewriter: of the items of a file of this format; begins: how it begins, where that is no
    text.
    """

    name: str
    suffixes: tuple[str, ...]
    mimes: tuple[str, ...]
    reader: Reader | None = None
    writer: Writer | None = None
    begins: re.Pattern[str] | None = None
    cue_writer: Callable[[Sequence[WrittenCue]], str] | None = None
    rewriter: Callable[[Iterable[WrittenItem]], Iterator[str]] = iter_pieces
    json_reader: Callable[[str, Alphabet | None, str], RecogniserJson] | None = None
    is_plain: bool = False  # a text already: with no times or tags
    is_table: bool = False  # of words alone; one that goes would leave half a line


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
        Format("srt", (".srt",), ("application/x-subrip", "text/srt"), read_srt, None, _SRT_BEGINS, write_srt),
        Format("vtt", (".vtt",), ("text/vtt",), read_vtt, None, re.compile(r"WEBVTT\b"), write_vtt),
        Format("ass", (".ass", ".ssa"), ("text/x-ssa",), read_ass, None, _ASS_BEGINS, write_ass),
        Format("ctm", (".ctm",), ("text/plain",), read_ctm, write_ctm, is_table=True),
        Format("tsv", (".tsv",), ("text/tab-separated-values",), read_table, write_tsv, is_table=True),
        Format("csv", (".csv",), ("text/csv",), read_csv, write_csv, rewriter=write_cells, is_table=True),
        Format("json", _JSON, ("application/json",), None, write_json, _JSON_BEGINS, json_reader=RecogniserJson.read),
        Format("html", (".html", ".htm"), ("text/html",), None, review_page),
    )
}
_READ = [format for format in FORMATS.values() if format.reader or format.json_reader]
INPUTS = tuple(format.name for format in _READ)
OUTPUTS = tuple(format.name for format in FORMATS.values() if format.writer or format.cue_writer)
SUFFIXES = {suffix: format.name for format in _READ for suffix in format.suffixes}
RECORDINGS = (
    ".mp3", ".wav", ".m4a", ".flac", ".ogg", ".opus", ".aac", ".wma", ".aiff", ".amr",
    ".mp4", ".mkv", ".mov", ".webm", ".avi", ".mpg", ".mpeg", ".wmv",
)  # fmt: skip
_DOCUMENT = "a document with layout"
OTHER_SUFFIXES = {  # formats that are not read, by the ends of their names: as text, their structure would be changed
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
_AS_TEXT = ", or say --format text if it is text all the same"
_OTHER_BEGINS = {  # what a file that is named as text must not begin with -> what it is, and what to do
    re.compile(r"@(?:UTF8|Begin|Loc:|Window:|Font:)"): (
        "CHAT in {}, whose codes stand inside words",
        "export it as plain text (CLAN's flo does)" + _AS_TEXT,
    ),
    _EDL: ("an edit list (EDL) in {}", "export the words, as text or SRT"),
    re.compile(r'File type = "ooTextFile'): (
        "a TextGrid of Praat in {}",
        "export its words, as text or a table" + _AS_TEXT,
    ),
    re.compile(r"(?:<\?xml|<tt\b|<SAMI\b)", re.IGNORECASE): ("XML in {}", "convert subtitles to SRT" + _AS_TEXT),
    re.compile(r"\{\d+\}\{\d+\}"): (
        "MicroDVD subtitles in {}, whose times are frames",
        "convert them to SRT" + _AS_TEXT,
    ),
}
_OPENS = re.compile(r"[\s{\[]*|\d+\s*")  # a line that tells nothing yet
_MAX_OPENING_LINES = 20
_FEWEST_ROWS = 2  # of a table
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Transcript:
    """A file as a value: its words and what stands between them.

    json: of a recogniser's json, where its words stand; other files are their items, one after the other.  line_end:
    how its first line ends.
    """

    items: Sequence[Item]
    format: str = "text"
    json: RecogniserJson | None = None
    line_end: str = "\n"

    @property
    def texts(self) -> list[list[Word]]:
        """Its words, as texts that begin and end with a sentence each."""
        return [[item.word for _, item in text] for text in numbered_texts(self.items)]

    @property
    def normal_words(self) -> Iterator[str]:
        """Its words, normalised."""
        return (item.word.normal for item in self.items if isinstance(item, SpokenWord))

    @property
    def is_plain(self) -> bool:
        """Whether it is a text already, with no times or tags."""
        return FORMATS[self.format].is_plain

    def with_words(self, words: Iterable[AnnotatedWord]) -> list[WrittenItem]:
        """Return its items, with its words as they are written now."""
        return list(written_items(self.items, words))

    def pieces(self, written: Iterable[WrittenItem]) -> Iterator[str]:
        """Return the file in its own format, in pieces."""
        if self.json is None:
            return FORMATS[self.format].rewriter(written)
        return self.json.pieces(item for item in written if isinstance(item, WrittenWord))


def format_of(source: str | Path) -> str:
    """Return the format that a file's name shows; plain text where it shows none.

    Raises InputError for a name that shows one that is not read.
    """
    suffix = Path(unpacked_name(source)).suffix
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
    return SUFFIXES.get(suffix.lower(), "text")


def read_transcript(source: str | Path, *, format: str | None = None, alphabet: Alphabet | None = None) -> Transcript:
    """Read a file, a pipe or standard input (`-`).  Raises ConfigError and InputError as `transcript_of` does."""
    return transcript_of(source_lines_with_ends(source, keep_bom=True), format, alphabet, str(source))


def transcript_of(
    lines: Iterable[str], format: str | None = None, alphabet: Alphabet | None = None, name: str = "the file"
) -> Transcript:
    """Read a transcript from lines with their ends.  `name`: of their file, which shows the format if none is given.

    Raises ConfigError for an unknown format, and InputError for lines that cannot be read as it.  Without a format it
    raises InputError as `format_of` does, and for a file that is named as text and begins as another format does.
    """
    if format is None:
        format = format_of(name)
        if format == "text":  # which a file of any name may be: its lines tell
            lines = [*_that_are_text(lines, name)]
            if are_ctm(lines):
                format = "ctm"
            elif _are_table(lines):
                format = "tsv"
    if format not in INPUTS:
        raise ConfigError(f"format {format!r}", expected=f"one of {', '.join(INPUTS)}", fix="check --format")
    reader, json_reader = FORMATS[format].reader, FORMATS[format].json_reader
    if json_reader:
        json = json_reader("".join(lines), alphabet, name)
        transcript = Transcript([*join_same_speakers(json.items)], format, json)
        has_text = True
    elif reader:
        lines = iter(lines)
        first = next(lines, "")
        body = chain([first.removeprefix(BOM)] if first else [], lines)
        items: list[Item] = [Kept(BOM)] if first.startswith(BOM) else []
        items += join_same_speakers(reader(body, alphabet))
        has_text = any(isinstance(item, Kept) and item.text != BOM and not item.text.isspace() for item in items)
        transcript = Transcript(items, format, line_end="\r\n" if first.endswith("\r\n") else "\n")
    if has_text and not transcript.is_plain and not any(isinstance(item, SpokenWord) for item in transcript.items):
        _log.warning("%s: no words were found in it as %s", name, format)
    return transcript


def _are_table(lines: Sequence[str]) -> bool:
    """Return whether lines are rows with equally many tabs, and these do not follow an id, a time or a label.

    `utt-01<tab>so what` is a line of text with an id.
    """
    rows = [line.rstrip("\r\n") for line in lines if not line.isspace()]
    if len(rows) < _FEWEST_ROWS or "\t" not in rows[0] or len({row.count("\t") for row in rows}) > 1:
        return False
    heads = Heads.of(rows)
    for row in rows:
        rest = row[heads.head_of(row).n_chars :]
        label = label_of(rest, heads.labels)
        said = rest[label.end() :] if label else rest
        if "\t" not in said.strip():
            return False
    return True


def _that_are_text(lines: Iterable[str], name: str) -> Iterator[str]:
    """Yield the lines.  Raises InputError if they begin as another format, whose names and times would become words."""
    lines = iter(lines)
    first = list[str]()  # up to the first one that tells something
    for line in islice(lines, _MAX_OPENING_LINES):
        first.append(line)
        if not _OPENS.fullmatch(line.removeprefix(BOM)):
            break
    begun = "".join(first).removeprefix(BOM).lstrip()
    source = "standard input" if name == STANDARD else name
    if begun.startswith("TITLE:"):  # what tells an edit list from a speech with a title stands behind it
        first += islice(lines, 2)
        begun = "".join(first).removeprefix(BOM).lstrip()
    for pattern, (what, fix) in _OTHER_BEGINS.items():
        if pattern.match(begun):
            raise InputError(what.format(source), expected="text", fix=fix)
    for format in FORMATS.values():
        if format.begins and format.begins.match(begun):
            raise InputError(
                f"{format.name} in {source}",
                expected="text",
                fix=f"use --format {format.name}, or --format text if it is one all the same",
            )
    yield from chain(first, lines)
