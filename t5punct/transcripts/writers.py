"""A punctuated transcript as a file: in its own format, or in any other that can hold it.

In: a transcript and its words as they are written now.  Out: the file, in pieces.

An SRT file comes out as an SRT file in which nothing but marks and capitals has changed; as `text` it is its words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from ..errors import ConfigError, InputError
from ..text.marks import ends_sentence
from ..text.spelling import precedes_name
from .formats import FORMATS, OTHER_SUFFIXES, OUTPUTS, Transcript
from .items import Kept, Role, SpokenWord, WrittenItem, WrittenWord, leave_out_removed, texts_together
from .resegment import ResegmentConfig, sentence_cues
from .subtitles import own_cues


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
    resegment: ResegmentConfig | None = None  # of subtitles: new cues; None: those of the input, if it has any

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
    is_subtitle = bool(FORMATS[transcript.format].cue_writer)
    if is_subtitle and config.format == transcript.format and not config.resegment:
        config = replace(config, format=None)  # so tags, positions and labels stay
    if config.format is None and config.paragraphs and not transcript.is_plain:  # an empty line would end a cue
        raise ConfigError("paragraphs in a file of another format", expected="text", fix="add --to text")
    stays_json = config.format is None and transcript.json is not None
    if config.format != "json" and not stays_json:  # json has a place for words that are removed
        written = leave_out_removed(written)
    if config.format in (None, "text", "html"):
        if config.format and not transcript.is_plain:  # one that is plain already keeps its white space
            written = running_text(texts_together(written))
        if config.paragraphs:
            written = add_paragraphs(written, config.paragraphs, transcript.line_end if transcript.is_plain else "\n")
    if config.format is None:
        pieces: Iterable[str] = transcript.pieces(written)
    elif writer := FORMATS[config.format].writer:
        pieces = writer(written, name)
    else:  # cues
        resegment = config.resegment or (ResegmentConfig() if _has_no_lines(transcript) else None)
        cues = sentence_cues(texts_together(written), resegment) if resegment else own_cues(written, name)
        cue_writer = FORMATS[config.format].cue_writer
        pieces = [cue_writer(cues)] if cue_writer else []
    if transcript.is_plain or config.format not in ("text", transcript.format):
        return pieces
    return (piece.replace("\n", transcript.line_end) for piece in pieces)


def _has_no_lines(transcript: Transcript) -> bool:
    """Return whether words alone have times in a file that is no subtitles: no cue has, or each word is a cue."""
    words = [item for item in transcript.items if isinstance(item, SpokenWord)]
    if FORMATS[transcript.format].cue_writer or not any(word.start_ms is not None for word in words):
        return False
    has_times = any(word.cue and word.cue.has_times for word in words)
    return not has_times or all(word.cue is None or word.cue != following.cue for word, following in pairwise(words))


def check_writable(transcript: Transcript, config: WriterConfig, name: str, *, removes: bool) -> None:
    """Raise InputError if a transcript cannot be written as `config` says.

    Words cannot be removed from a table that stays one (`removes`: whether words may go).  Nor is a file of another
    format written if it would be empty: nothing was said, and nothing else is shown.
    """
    if removes and config.format is None and FORMATS[transcript.format].is_table:
        raise InputError(
            f"{name}: words to be removed from a {transcript.format}, whose other columns stay",
            expected="text, lines, srt, vtt, ass or json, or another --to",
            fix=f"add --to {transcript.format}, which writes the table anew",
        )
    if config.format in (None, "json", transcript.format):  # json says that there are no words
        return
    if not any(isinstance(item, SpokenWord) or _shows(config.format, item) for item in transcript.items):
        raise InputError(
            f"{name}, in which nothing was said",
            expected=f"words to write as {config.format}",
            fix="leave it out, or leave out --to",
        )


def _shows(format: str, item: Kept) -> bool:
    """Return whether a format shows what was not said, such as `[Music]`; cues show only what has times."""
    has_place = not FORMATS[format].cue_writer or (item.cue is not None and item.cue.has_times)
    return bool(item.shown) and not FORMATS[format].is_table and has_place


@dataclass(frozen=True)
class ParagraphConfig:
    """Where a paragraph ends: behind a sentence, when one of these is so.  None: never for this reason."""

    sentences: int | None = None  # the paragraph has so many
    pause_ms: int | None = None  # so long a silence follows

    def __post_init__(self) -> None:
        if any(value is not None and value < 1 for value in (self.sentences, self.pause_ms)):
            raise ConfigError(
                f"paragraphs of {self.sentences} sentences, pauses of {self.pause_ms} ms",
                expected="1 or more",
                fix="check --paragraphs",
            )


def running_text(written: Iterable[WrittenItem]) -> list[WrittenItem]:
    """Return words with a space between them; each speaker begins a line, and what is not shown is left out."""
    text = list[WrittenItem]()
    held: WrittenWord | Kept | None = None
    breaks = False
    for item in written:
        if isinstance(item, Kept):
            breaks = breaks or item.role is Role.SPEAKER or (item.breaks and item.role is not Role.DIRECTION)
            if not item.shown:
                continue
        if held is not None:
            begins = isinstance(held, WrittenWord) or (isinstance(item, Kept) and item.role is Role.SPEAKER)
            text.append(_followed_by(held, "\n" if breaks and begins else " "))
        held, breaks = item, False
    if held is not None:
        text.append(_followed_by(held, "\n"))
    return text


def add_paragraphs(written: Iterable[WrittenItem], config: ParagraphConfig, line_end: str = "\n") -> list[WrittenItem]:
    """Return the items with an empty line behind the last word of each paragraph.

    Behind a speaker and an empty line one begins anyway.
    """
    text = list[WrittenItem]()
    n_sentences = 0  # of the paragraph so far
    word: WrittenWord | None = None  # the last one, if no paragraph has begun since
    place = 0  # of that word in the text
    for item in written:
        if isinstance(item, Kept):
            is_direction = item.role is Role.DIRECTION  # `[laughs]` on a line of its own may stand in a paragraph
            begins_paragraph = item.text.count("\n") > 1 if is_direction else item.breaks or "\n" in item.text
            if begins_paragraph:
                word = None
                n_sentences = 0
        else:
            if word is not None:
                n_sentences += ends_sentence(word.separator)
                if _ends_paragraph(word, item, n_sentences, config):
                    text[place] = _followed_by(word, 2 * line_end)
                    n_sentences = 0
            word = item
            place = len(text)
        text.append(item)
    return text


def _ends_paragraph(word: WrittenWord, following: WrittenWord, n_sentences: int, config: ParagraphConfig) -> bool:
    """Return whether a paragraph ends between two words: behind enough sentences, or at a long silence.

    `separator` leaves out the full stop of `Inc.`, which may stand inside a sentence; a silence shows that it ends one.
    """
    start_ms = following.spoken.start_ms
    end_ms = word.spoken.end_ms
    silence_ms = 0 if start_ms is None or end_ms is None else start_ms - end_ms
    is_long = config.sentences is not None and n_sentences >= config.sentences
    is_silent = config.pause_ms is not None and silence_ms >= config.pause_ms
    # then `Inc.` and `plan B.` end a sentence; what a name follows (`Mr.`) does not
    if is_silent and not precedes_name(word.spoken.word.core):
        return ends_sentence(word.annotated.marks)
    return is_long and ends_sentence(word.separator)


def _followed_by(item: WrittenItem, space: str) -> WrittenItem:
    if isinstance(item, Kept):
        return Kept(item.shown + space, item.breaks, item.role)
    return replace(item, spoken=replace(item.spoken, after=space, markup=None))
