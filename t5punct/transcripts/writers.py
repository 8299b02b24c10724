"""A punctuated transcript as a file: in its own format, or in any other that can hold it.

In: a transcript and its words as they are written now.  Out: the file, in pieces.

An SRT file comes out as an SRT file in which nothing but marks and capitals has changed; as `text` it is its words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import ConfigError, InputError
from .cues import SUBTITLES, own_cues, subtitles
from .formats import OTHER_SUFFIXES, SUFFIXES, Transcript
from .items import Kept, SpokenWord, WrittenItem, iter_pieces, leave_out_removed
from .paragraphs import ParagraphConfig, add_paragraphs, running_text
from .resegment import ResegmentConfig, sentence_cues
from .review import review_page
from .words_out import write_csv, write_ctm, write_json, write_tsv

# what any transcript can be written as, if it has what they need
OUTPUTS = ("text", *SUBTITLES, "json", "ctm", "tsv", "csv", "html")
_PAGES = (".html", ".htm")
_TABLES = ("ctm", "tsv", "csv")  # of words alone; one that goes would leave half a line


def format_named_by(output: Path | None) -> str | None:
    """Return the format that an output's name shows; None where it shows none.

    Raises InputError for a name that shows one that is not written.

    >>> format_named_by(Path("talk.srt")), format_named_by(Path("page.html")), format_named_by(Path("talk"))
    ('srt', 'html', None)
    """
    suffix = "" if output is None else output.suffix.lower()
    if OTHER_SUFFIXES.get(suffix, "data") != "data" and suffix not in _PAGES:  # lines of json may be .jsonl
        raise InputError(
            f"output {output}, whose name says that it is {OTHER_SUFFIXES[suffix]} ({suffix})",
            expected=f"one of {', '.join(OUTPUTS)}",
            fix="name it by the format that it is to have, such as .txt",
        )
    return "html" if suffix in _PAGES else SUFFIXES.get(suffix)


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
    match config.format:
        case None:
            return transcript.written(written)
        case "text":
            return iter_pieces(written)
        case "html":
            return review_page(written, name)
        case "json" | "ctm":
            return write_json(written, name) if config.format == "json" else write_ctm(written, name)
        case "tsv" | "csv":
            return write_tsv(written) if config.format == "tsv" else write_csv(written)
        case _:
            cues = sentence_cues(written, config.resegment) if config.resegment else own_cues(written)
            return [subtitles(cues, config.format)]


def check_writable(transcript: Transcript, config: WriterConfig, name: str, *, removes: bool) -> None:
    """Raise InputError where a transcript cannot be written so.

    That is where words cannot be removed (`removes`: whether they may be), and where a file of another format would be
    empty: nothing was said, and nothing else is shown.
    """
    if removes and config.format is None and transcript.format in _TABLES:
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
    has_place = format not in SUBTITLES or (item.cue is not None and item.cue.has_times)
    return bool(item.shown) and format not in _TABLES and has_place
