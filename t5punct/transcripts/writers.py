"""A punctuated transcript as a file: in its own format, or in any other that can hold it.

In: a transcript and its words as they are written now.  Out: the file, in pieces.

An SRT file comes out as an SRT file in which nothing but marks and capitals has changed; as `text` it is its words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import ConfigError, InputError
from .formats import FORMATS, OTHER_SUFFIXES, OUTPUTS, Transcript
from .items import Kept, SpokenWord, WrittenItem, leave_out_removed
from .paragraphs import ParagraphConfig, add_paragraphs, running_text
from .resegment import ResegmentConfig, sentence_cues
from .subtitles import own_cues, write_cues


def format_named_by(output: Path | None) -> str | None:
    """Return the format that an output's name shows; None where it shows none.

    Raises InputError for a name that shows one that is not written.

    >>> format_named_by(Path("talk.srt")), format_named_by(Path("page.html")), format_named_by(Path("talk"))
    ('srt', 'html', None)
    """
    suffix = "" if output is None else output.suffix.lower()
    named = next((format.name for format in FORMATS.values() if suffix in format.suffixes), None)
    if named is None and OTHER_SUFFIXES.get(suffix, "data") != "data":
        raise InputError(
            f"output {output}, whose name says that it is {OTHER_SUFFIXES[suffix]} ({suffix})",
            expected=f"one of {', '.join(OUTPUTS)}",
            fix="name it by the format that it is to have, such as .txt",
        )
    return named


@dataclass(frozen=True)
class WriterConfig:
    """What becomes of the words between reading and writing."""

    format: str | None = None  # one of OUTPUTS; None: that of the input
    paragraphs: ParagraphConfig | None = None  # of text
    resegment: ResegmentConfig | None = None  # of subtitles: new cues; None: those of the input

    def __post_init__(self) -> None:
        if self.format not in (None, *OUTPUTS):
            raise ConfigError(f"format {self.format!r}", expected=f"one of {', '.join(OUTPUTS)}", fix="check --to")


def written_pieces(
    transcript: Transcript, written: Sequence[WrittenItem], config: WriterConfig, name: str
) -> Iterable[str]:
    """Return a file's pieces, once all words are known.  Lines of text and of the input's format end as the input's.

    `name`: of the input, for formats that say it.  Raises InputError where the format needs times that the transcript
    does not have.
    """
    if config.format is None and config.paragraphs and not transcript.is_plain:  # an empty line would end a cue
        raise ConfigError("paragraphs in a file of another format", expected="text", fix="add --to text")
    if config.format != "json" and not (config.format is None and transcript.json):
        written = leave_out_removed(written)  # json has a place for them
    if config.format in (None, "text", "html"):
        if config.format and not transcript.is_plain:  # one that is plain already keeps its white space
            written = running_text(written)
        if config.paragraphs:
            written = add_paragraphs(written, config.paragraphs, transcript.line_end if transcript.is_plain else "\n")
    pieces = _pieces(transcript, written, config, name)
    if transcript.is_plain or config.format not in ("text", transcript.format):
        return pieces
    return (piece.replace("\n", transcript.line_end) for piece in pieces)


def _pieces(transcript: Transcript, written: Sequence[WrittenItem], config: WriterConfig, name: str) -> Iterable[str]:
    if config.format is None:
        return transcript.written(written)
    if writer := FORMATS[config.format].writer:
        return writer(written, name)
    cues = sentence_cues(written, config.resegment) if config.resegment else own_cues(written)
    return [write_cues(cues, config.format)]


def check_writable(transcript: Transcript, config: WriterConfig, name: str, *, removes: bool) -> None:
    """Raise InputError where a transcript cannot be written so.

    That is where words cannot be removed (`removes`: whether they may be), and where a file of another format would be
    empty: nothing was said, and nothing else is shown.
    """
    if removes and config.format is None and FORMATS[transcript.format].is_table:
        raise InputError(
            f"{name}: words to be removed from a {transcript.format}, whose other columns stay",
            expected="text, lines, srt, vtt, ass or json, or another --to",
            fix=f"add --to {transcript.format}, which writes the table anew",
        )
    if config.format not in (None, "json", transcript.format) and not any(  # json says that there are no words
        isinstance(item, SpokenWord) or _shows_without_words(item, config.format) for item in transcript.items
    ):
        raise InputError(
            f"{name}, in which nothing was said",
            expected=f"words to write as {config.format}",
            fix="leave it out, or leave out --to",
        )


def _shows_without_words(item: Kept, format: str) -> bool:
    """Whether a format shows something that was not said, such as `[Music]`."""
    has_place = not FORMATS[format].has_cues or (item.cue is not None and item.cue.has_times)
    return bool(item.shown) and not FORMATS[format].is_table and has_place
