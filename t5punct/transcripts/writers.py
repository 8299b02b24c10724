"""A punctuated transcript as a file: in its own format, or in any other that can hold it.

In: a transcript and its written items.  Out: the file, in pieces.

An SRT file comes out as an SRT file in which nothing but marks and capitals has changed; as `text` it is its words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ..errors import ConfigError, InputError
from .cues import SUBTITLES, own_cues, subtitles
from .formats import JsonTranscript, LineTranscript, Transcript
from .items import WrittenItem, in_place, without_removed
from .paragraphs import ParagraphConfig, paragraphs, running_text
from .resegment import ResegmentConfig, sentence_cues
from .review import review_page
from .words_out import ctm, tsv, words_json

# what any transcript can be written as, if it has what they need
OUTPUTS = ("text", *SUBTITLES, "json", "ctm", "tsv", "html")
_ONE_WORD_A_LINE = ("ctm", "tsv")  # where a word that goes would leave half a line


@dataclass(frozen=True)
class WriterConfig:
    """What becomes of the words between reading and writing."""

    format: str | None = None  # one of OUTPUTS; None: that of the input
    paragraphs: ParagraphConfig | None = None  # of text
    resegment: ResegmentConfig | None = None  # of subtitles: new cues; None: those of the input

    def __post_init__(self) -> None:
        if self.format not in (None, *OUTPUTS):
            raise ConfigError(f"format {self.format!r}", expected=f"one of {', '.join(OUTPUTS)}", fix="check --to")


def pieces_of(found: Transcript, written: Iterable[WrittenItem], config: WriterConfig, name: str) -> Iterator[str]:
    """The file.  `name`: of the input, for formats that say where words are from.

    Raises InputError where the format needs times that the transcript does not have.
    """
    if config.format != "json" and not (config.format is None and isinstance(found, JsonTranscript)):
        written = without_removed(written)  # json has a place for them
    match config.format:
        case None:
            _check_paragraphs(found, config)
            return found.written(paragraphs(written, config.paragraphs) if config.paragraphs else written)
        case "text":
            return in_place(_as_text(found, written, config.paragraphs))
        case "html":
            return review_page(_as_text(found, written, config.paragraphs), name)
        case "json" | "ctm":
            return words_json(written, name) if config.format == "json" else ctm(written, name)
        case "tsv":
            return tsv(written)
        case _:
            cues = sentence_cues(written, config.resegment) if config.resegment else own_cues(written)
            return iter([subtitles(cues, config.format)])


def beside_a_page(found: Transcript, config: WriterConfig) -> WriterConfig:
    """The settings of an output that a page for review stands beside, where only the page may have paragraphs."""
    return config if config.format is not None or _is_plain(found) else replace(config, paragraphs=None)


def check_removal(found: Transcript, config: WriterConfig, name: str) -> None:
    """Raise InputError where words cannot be removed from a transcript as it is to be written."""
    if config.format is None and isinstance(found, LineTranscript) and found.format in _ONE_WORD_A_LINE:
        raise InputError(
            f"{name}: words to be removed from a {found.format}, whose other columns stay",
            expected="text, lines, srt, vtt, ass or json, or another --to",
            fix=f"add --to {found.format}, which writes the table anew",
        )


def _as_text(
    found: Transcript, written: Iterable[WrittenItem], config: ParagraphConfig | None
) -> Iterable[WrittenItem]:
    """The items as a text: one that is plain already keeps its white space."""
    text = written if _is_plain(found) else running_text(written)
    return paragraphs(text, config) if config else text


def _is_plain(found: Transcript) -> bool:
    return isinstance(found, LineTranscript) and found.format in ("text", "lines")


def _check_paragraphs(found: Transcript, config: WriterConfig) -> None:
    if config.paragraphs and not _is_plain(found):  # an empty line would end a cue
        raise ConfigError("paragraphs in a file of another format", expected="text", fix="add --to text")
