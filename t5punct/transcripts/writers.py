"""A punctuated transcript as a file: in its own format, or in any other that can hold it.

In: a transcript and its words as they are written now.  Out: the file, in pieces.

An SRT file comes out as an SRT file in which nothing but marks and capitals has changed; as `text` it is its words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..errors import ConfigError, InputError
from ..text.render import AnnotatedWord
from .cues import SUBTITLES, own_cues, subtitles
from .formats import Transcript
from .items import Kept, SpokenWord, WrittenItem, iter_pieces, leave_out_removed, written_items
from .paragraphs import ParagraphConfig, add_paragraphs, running_text
from .resegment import ResegmentConfig, sentence_cues
from .review import review_page
from .words_out import write_ctm, write_json, write_tsv

# what any transcript can be written as, if it has what they need
OUTPUTS = ("text", *SUBTITLES, "json", "ctm", "tsv", "html")
_TABLES = ("ctm", "tsv")  # of words alone; one that goes would leave half a line


@dataclass(frozen=True)
class WriterConfig:
    """What becomes of the words between reading and writing."""

    format: str | None = None  # one of OUTPUTS; None: that of the input
    paragraphs: ParagraphConfig | None = None  # of text
    resegment: ResegmentConfig | None = None  # of subtitles: new cues; None: those of the input

    def __post_init__(self) -> None:
        if self.format not in (None, *OUTPUTS):
            raise ConfigError(f"format {self.format!r}", expected=f"one of {', '.join(OUTPUTS)}", fix="check --to")


def pieces_of(
    transcript: Transcript, words: Iterable[AnnotatedWord], config: WriterConfig, name: str, *, removes: bool
) -> Iterable[str]:
    """Return the file, with its words as they are written now; as these come, if nothing else is to change.

    `name`: of the input, for formats that say it; `removes`: whether words may have been removed.  Raises InputError
    where the format needs times that the transcript does not have.
    """
    if config.format is None and not config.paragraphs and not removes and not transcript.json:
        return transcript.written(written_items(transcript.items, words))
    return written_pieces(transcript, transcript.with_words(words), config, name)


def written_pieces(
    transcript: Transcript, written: Sequence[WrittenItem], config: WriterConfig, name: str
) -> Iterable[str]:
    """Return a file's pieces, once all words are known.  Lines of text and of the input's format end as the input's."""
    pieces = _pieces(transcript, written, config, name)
    if transcript.is_plain or config.format not in ("text", transcript.format):
        return pieces
    return (piece.replace("\n", transcript.line_end) for piece in pieces)


def _pieces(transcript: Transcript, written: Sequence[WrittenItem], config: WriterConfig, name: str) -> Iterable[str]:
    if config.format != "json" and not (config.format is None and transcript.json):
        written = leave_out_removed(written)  # json has a place for them
    match config.format:
        case None:
            _check_paragraphs(transcript, config)
            return transcript.written(_parted(transcript, written, config.paragraphs))
        case "text":
            return iter_pieces(_as_text(transcript, written, config.paragraphs))
        case "html":
            return review_page(_as_text(transcript, written, config.paragraphs), name)
        case "json" | "ctm":
            return write_json(written, name) if config.format == "json" else write_ctm(written, name)
        case "tsv":
            return write_tsv(written)
        case _:
            cues = sentence_cues(written, config.resegment) if config.resegment else own_cues(written)
            return [subtitles(cues, config.format)]


def beside_a_page(transcript: Transcript, config: WriterConfig) -> WriterConfig:
    """Return the settings of an output beside a page for review; only the page may have paragraphs where both could."""
    return config if config.format is not None or transcript.is_plain else replace(config, paragraphs=None)


def check_said(transcript: Transcript, config: WriterConfig, name: str) -> None:
    """Raise InputError where a file of another format would be empty: nothing was said, and nothing else is shown."""
    if config.format in (None, "json", transcript.format):  # json says that there are no words
        return
    needs_times = config.format in SUBTITLES
    for item in transcript.items:
        has_times = isinstance(item, Kept) and item.cue is not None and item.cue.has_times
        if isinstance(item, SpokenWord) or (
            item.shown and config.format not in _TABLES and (has_times or not needs_times)
        ):
            return
    raise InputError(
        f"{name}, in which nothing was said",
        expected=f"words to write as {config.format}",
        fix="leave it out, or leave out --to",
    )


def check_removal(transcript: Transcript, config: WriterConfig, name: str) -> None:
    """Raise InputError where words cannot be removed from a transcript as it is to be written."""
    if config.format is None and transcript.format in _TABLES:
        raise InputError(
            f"{name}: words to be removed from a {transcript.format}, whose other columns stay",
            expected="text, lines, srt, vtt, ass or json, or another --to",
            fix=f"add --to {transcript.format}, which writes the table anew",
        )


def _as_text(
    transcript: Transcript, written: Sequence[WrittenItem], config: ParagraphConfig | None
) -> Sequence[WrittenItem]:
    """The items as a text: one that is plain already keeps its white space."""
    return _parted(transcript, written if transcript.is_plain else running_text(written), config)


def _parted(
    transcript: Transcript, text: Sequence[WrittenItem], config: ParagraphConfig | None
) -> Sequence[WrittenItem]:
    """The text with paragraphs, if they are asked for; lines end as those of a file of text do."""
    return add_paragraphs(text, config, transcript.line_end if transcript.is_plain else "\n") if config else text


def _check_paragraphs(transcript: Transcript, config: WriterConfig) -> None:
    if config.paragraphs and not transcript.is_plain:  # an empty line would end a cue
        raise ConfigError("paragraphs in a file of another format", expected="text", fix="add --to text")
