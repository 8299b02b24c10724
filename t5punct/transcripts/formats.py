"""Which format a file has, and how it is read.

In: a file's name, or a format's.  Out: its `Transcript`.

>>> format_of("talk.en.vtt.gz"), format_of("talk.md"), format_of("-")
('vtt', 'text', 'text')
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Protocol

from ..errors import ConfigError, InputError
from ..text.formats.files import BOM, STANDARD, source_lines_with_ends, unpacked_name
from ..text.marks import Alphabet
from .items import Item, Kept, SpokenWord, WrittenItem, WrittenWord, in_place
from .lines import ctm, plain, table, utterances
from .recogniser_json import RecogniserJson
from .subtitles import TIMING, ass, srt, vtt

_READERS: dict[str, Callable[[Iterable[str], Alphabet | None], Iterator[Item]]] = {
    "text": plain,
    "lines": utterances,
    "srt": srt,
    "vtt": vtt,
    "ass": ass,
    "ctm": ctm,
    "tsv": table,
}
FORMATS = (*_READERS, "json")
_FREE = ("text", "lines")  # a file of which anything can be the text
SUFFIXES = {".txt": "text", ".text": "text", **{f".{name}": name for name in FORMATS[2:]}, ".ssa": "ass"}
_BEGIN_SO = {  # and are no texts, though their names do not show it
    "vtt": re.compile(r"WEBVTT\b"),
    "srt": re.compile(rf"(\d+\s*\n)?{TIMING.pattern}[ \t]*(\r|\n|$|\w+:)"),  # `position:50%`
    "ass": re.compile(r"\[Script Info\]", re.IGNORECASE),
    "json": re.compile(r'[{\[][{\[\s]*"[^"\n]+"\s*:\s*(["{\[\d-]|(true|false|null)\b|$)'),
}
_OPENS = re.compile(r"[\s{\[]*|\d+\s*")  # a line that tells nothing yet
_MAX_OPENING_LINES = 20
_log = logging.getLogger(__name__)


class Transcript(Protocol):
    """A file as items, and as it is written in its own format."""

    def items(self) -> Iterator[Item]:
        """Its words and what stands between them; can be asked for once."""

    def written(self, written: Iterable[WrittenItem]) -> Iterator[str]:
        """The file in pieces, with its words as they are written now."""


@dataclass(frozen=True, slots=True)
class LineTranscript:
    """A file that is its items, one after the other."""

    lines: Iterable[str]
    format: str = "text"
    alphabet: Alphabet | None = None
    name: str = "the file"

    def items(self) -> Iterator[Item]:
        lines, has_words, has_text = iter(self.lines), False, False
        first = next(lines, "")
        if first.startswith(BOM):
            yield Kept(BOM)
        for item in _READERS[self.format](chain([first.removeprefix(BOM)] * bool(first), lines), self.alphabet):
            has_words = has_words or isinstance(item, SpokenWord)
            has_text = has_text or (isinstance(item, Kept) and not item.text.isspace())
            yield item
        if has_text and not has_words and self.format not in _FREE:  # a text named talk.srt, say
            _log.warning("%s: no words were found in it as %s; it comes out as it is", self.name, self.format)

    def written(self, written: Iterable[WrittenItem]) -> Iterator[str]:
        return in_place(written)


@dataclass(slots=True)
class JsonTranscript:
    """A recogniser's json, which is read to its end before its first word is known, and written after its last."""

    lines: Iterable[str]
    alphabet: Alphabet | None = None
    name: str = "the file"
    bom: str = ""
    found: RecogniserJson | None = None

    def items(self) -> Iterator[Item]:
        lines = iter(self.lines)
        first = next(lines, "")
        self.bom = BOM * first.startswith(BOM)
        self.found = RecogniserJson(chain([first.removeprefix(BOM)], lines), self.alphabet, self.name)
        yield from self.found.items()

    def written(self, written: Iterable[WrittenItem]) -> Iterator[str]:
        words = ((item.spoken.word.normal, item.annotated.text) for item in written if isinstance(item, WrittenWord))
        first = next(words, None)  # now the file is open
        if self.found is not None and first is not None:
            yield self.bom
            yield from self.found.written(chain([first], words))


def format_of(source: str | Path) -> str:
    """The format that a file's name shows; plain text where it shows none."""
    return SUFFIXES.get(Path(unpacked_name(source)).suffix.lower(), "text")


def read_transcript(source: str | Path, *, format: str | None = None, alphabet: Alphabet | None = None) -> Transcript:
    """A file, a pipe or standard input (`-`); nothing is read yet.

    Raises ConfigError for an unknown format; its items raise InputError if no format is given, the name shows text or
    nothing, and the first lines are of subtitles or json.
    """
    name = format or format_of(source)
    if name not in FORMATS:
        raise ConfigError(f"format {name!r}", expected=f"one of {', '.join(FORMATS)}", fix="check --format")
    lines = source_lines_with_ends(source, keep_bom=True)
    if format is None and name == "text":
        lines = _that_are_text(lines, str(source))
    return transcript_of(lines, name, alphabet, str(source))


def transcript_of(
    lines: Iterable[str], format: str = "text", alphabet: Alphabet | None = None, name: str = "the file"
) -> Transcript:
    """The same of lines with their ends."""
    if format == "json":
        return JsonTranscript(lines, alphabet, name)
    return LineTranscript(lines, format, alphabet, name)


def _that_are_text(lines: Iterable[str], name: str) -> Iterator[str]:
    """The lines; raises InputError for those of another format, whose names and times would be written as words."""
    lines, first = iter(lines), list[str]()
    for line in islice(lines, _MAX_OPENING_LINES):
        first.append(line)
        if not _OPENS.fullmatch(line.removeprefix(BOM)):
            break
    begun = "".join(first).removeprefix(BOM).lstrip()
    for other, so in _BEGIN_SO.items():
        if so.match(begun):
            raise InputError(
                f"{other} in {'standard input' if name == STANDARD else name}",
                expected="text",
                fix=f"use --format {other}, or --format text if it is one all the same",
            )
    yield from chain(first, lines)
