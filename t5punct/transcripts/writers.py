"""A punctuated transcript as a file: in its own format, or in any other that can hold it.

In: a transcript and its words as they are written now.  Out: the file, in pieces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest
from pathlib import Path

from ..config import check
from ..errors import ConfigError, InputError
from ..text.marks import ends_sentence
from ..text.spelling import precedes_name
from .formats import FORMATS, INPUTS, OLD_LINE_END, OTHER_SUFFIXES, OUTPUTS, Transcript
from .items import Kept, Role, SpokenWord, WrittenItem, WrittenWord, leave_out_removed, shown_items, texts_together
from .resegment import ResegmentConfig, sentence_cues
from .subtitles import own_cues


def format_named_by(output: Path | None) -> str | None:
    """Return the format that an output's name shows; None if it shows none.

    Raises InputError if the name shows a format that is not written.
    """
    suffix = "" if output is None else output.suffix.lower()
    named = next((format.name for format in FORMATS.values() if suffix in format.suffixes), None)
    other = OTHER_SUFFIXES.get(suffix, "data")
    if named is None and other != "data":  # an unknown suffix, or `.yaml`, shows no format of transcripts
        raise InputError(
            f"output {output}, whose name says that it is {other} ({suffix})",
            expected=f"one of {', '.join(OUTPUTS)}",
            fix="name it by the format that it is to have, such as .txt",
        )
    return named


@dataclass(frozen=True)
class WriterConfig:
    """How a transcript is written."""

    format: str | None = None  # one of OUTPUTS; None: that of the input
    paragraphs: ParagraphConfig | None = None  # of text; None: those of the input
    resegment: ResegmentConfig | None = None  # new cues for subtitles; None: those of the input, if it has any

    def __post_init__(self) -> None:
        if self.format not in (None, *OUTPUTS):
            raise ConfigError(f"format {self.format!r}", expected=f"one of {', '.join(OUTPUTS)}", fix="check --to")


def written_pieces(
    transcript: Transcript, written: Sequence[WrittenItem], config: WriterConfig, name: str
) -> Iterable[str]:
    """Return the pieces of a transcript's file; a line of text, or of the input's format, ends as in the input.

    name: of the input.  Raises InputError if the format needs times that the transcript does not have.
    """
    format = config.format  # None: only words change
    is_subtitle = bool(FORMATS[transcript.format].cue_writer)
    if is_subtitle and format == transcript.format and not config.resegment:
        format = None  # so tags, positions and labels stay
    if format is None and config.paragraphs and not transcript.is_plain:  # an empty line would end a cue
        raise ConfigError("paragraphs in a file of another format", expected="text", fix="add --to text")
    stays_json = format is None and transcript.json is not None
    if format != "json" and not stays_json:  # json lists words that are removed
        written = leave_out_removed(written)
    if format in ("text", "html") and not transcript.is_plain:  # plain text keeps its white space
        written = running_text(texts_together(written))
    if format in (None, "text", "html") and config.paragraphs:
        written = add_paragraphs(written, config.paragraphs, transcript.line_end if transcript.is_plain else "\n")
    if format is None:
        pieces: Iterable[str] = transcript.pieces(written)
    elif writer := FORMATS[format].writer:
        pieces = writer(written, name)
    else:
        resegment = config.resegment or (ResegmentConfig() if _needs_new_cues(transcript) else None)
        cues = sentence_cues(texts_together(written), resegment) if resegment else own_cues(written, name)
        cue_writer = FORMATS[format].cue_writer
        pieces = [cue_writer(cues)] if cue_writer else []
    # plain text has its own line ends as white space; but in the items of an old Mac's they are `\n`
    has_line_ends = transcript.is_plain and transcript.line_end != OLD_LINE_END
    is_like_input = format in ("text", transcript.format)  # not None: then the items have the line ends
    if is_like_input and not has_line_ends:
        return (piece.replace("\n", transcript.line_end) for piece in pieces)
    return pieces


def _needs_new_cues(transcript: Transcript) -> bool:
    """Return whether words have times but no cues that could be subtitles: no cue has times, or each is one word."""
    words = [item for item in transcript.items if isinstance(item, SpokenWord)]
    if FORMATS[transcript.format].cue_writer or not any(word.start_ms is not None for word in words):
        return False
    has_timed_cues = any(word.cue and word.cue.has_times for word in words)
    are_words = all(word.cue is None or word.cue != following.cue for word, following in pairwise(words))
    return not has_timed_cues or are_words


def check_writable(transcript: Transcript, config: WriterConfig, name: str, *, removes: bool) -> None:
    """Raise InputError if a transcript cannot be written as `config` says.

    Words may not be removed (`removes`) from a table that keeps its other columns.  A file of another format must show
    something.
    """
    if removes and config.format is None and FORMATS[transcript.format].is_table:
        raise InputError(
            f"{name}: words to be removed from a {transcript.format}, whose other columns stay",
            expected=f"{', '.join(name for name in INPUTS if not FORMATS[name].is_table)}, or another --to",
            fix=f"add --to {transcript.format}, which writes the table anew",
        )
    if config.format in (None, "json", transcript.format):  # json can hold a transcript without words
        return
    is_table = FORMATS[config.format].is_table
    is_subtitle = bool(FORMATS[config.format].cue_writer)
    for item in transcript.items:
        if isinstance(item, SpokenWord):
            return
        has_place = not is_subtitle or (item.cue is not None and item.cue.has_times)
        # a label or a direction such as `[Music]` fills a text or a cue, but no row of a table
        if item.shown and not is_table and has_place:
            return
    raise InputError(
        f"{name}, in which nothing was said",
        expected=f"words to write as {config.format}",
        fix="leave it out, or leave out --to",
    )


@dataclass(frozen=True)
class ParagraphConfig:
    """When a paragraph ends behind a sentence; None: never for this reason."""

    sentences: int | None = None  # when the paragraph has so many
    pause_ms: int | None = None  # when so long a silence follows

    def __post_init__(self) -> None:
        for name, value in {"paragraphs": self.sentences, "paragraph_pause_ms": self.pause_ms}.items():
            check(value is None or value > 0, f"{name} {value}", expected="1 or more", fix=f"raise {name}")


def running_text(written: Iterable[WrittenItem]) -> list[WrittenItem]:
    """Return what is shown of a transcript, with a space between items; each speaker and each text begins a line."""
    shown = shown_items(written)
    text = list[WrittenItem]()
    for (item, hidden), next_item in zip_longest(shown, [item for item, _ in shown[1:]]):
        between = [*hidden, next_item] if isinstance(next_item, Kept) else hidden
        breaks = any(kept.role is Role.SPEAKER or (kept.breaks and kept.role is not Role.DIRECTION) for kept in between)
        is_before_speaker = isinstance(next_item, Kept) and next_item.role is Role.SPEAKER
        # a label and a direction stay on the line of what follows them
        ends_line = breaks and (isinstance(item, WrittenWord) or is_before_speaker)
        text.append(_with_space(item, "\n" if ends_line or next_item is None else " "))
    return text


def add_paragraphs(written: Iterable[WrittenItem], config: ParagraphConfig, line_end: str = "\n") -> list[WrittenItem]:
    """Return the items with an empty line behind the last word of each paragraph.

    Paragraphs that the items have already stay: one begins behind a line's end or an empty line.  Another one begins
    with each new speaker.
    """
    text = list[WrittenItem]()
    n_sentences = 0  # of the paragraph so far
    word: WrittenWord | None = None  # the last word of the paragraph; None: it has none yet
    word_index = 0  # in the text
    said_index: int | None = None  # of the last word, or of a direction behind it; None: nothing was said yet
    for item in written:
        if isinstance(item, Kept):
            is_direction = item.role is Role.DIRECTION  # `[laughs]` on a line of its own may stand in a paragraph
            begins_paragraph = item.text.count("\n") > 1 if is_direction else item.breaks or "\n" in item.text
            if begins_paragraph:
                word = None
                n_sentences = 0
            if item.role is Role.SPEAKER and item.breaks and said_index is not None:
                _end_line_of_speaker(text, said_index, line_end)
            elif is_direction and said_index is not None:
                said_index = len(text)
        else:
            if word is not None:
                n_sentences += ends_sentence(word.separator)
                if _ends_paragraph(word, item, n_sentences, config):
                    text[word_index] = _with_empty_line(word, line_end)
                    n_sentences = 0
            word = item
            word_index = said_index = len(text)
        text.append(item)
    return text


def _end_line_of_speaker(text: list[WrittenItem], said_index: int, line_end: str) -> None:
    """Put an empty line behind the line on which the last item of a speaker stands, if there is none.

    What follows that line, as a time above a label, is the next speaker's.
    """
    behind = [*map(_behind, text[said_index:])]
    if any(not line.strip() for line in "".join(behind).split("\n")[1:-1]):
        return
    with_line_end = (index for index, space in enumerate(behind, start=said_index) if "\n" in space)
    index = next(with_line_end, said_index)
    text[index] = _with_empty_line(text[index], line_end)


def _behind(item: WrittenItem) -> str:
    """Return what the file has behind a word, or all that it has for another item."""
    return item.text if isinstance(item, Kept) else item.spoken.after


def _with_empty_line(item: WrittenItem, line_end: str) -> WrittenItem:
    """Return an item with an empty line behind it: at the first line's end, or in place of white space.

    Tags stay where they are: `</i>` before the empty line, `<i>` behind it.
    """
    behind = _behind(item)
    if "\n" in behind:
        behind = behind.replace("\n", f"\n{line_end}", 1)
    elif behind[:1].isspace():
        behind = 2 * line_end + behind.lstrip()
    else:
        behind = behind.rstrip() + 2 * line_end
    if isinstance(item, Kept):
        return replace(item, text=behind)
    return replace(item, spoken=replace(item.spoken, after=behind))


def _ends_paragraph(word: WrittenWord, following: WrittenWord, n_sentences: int, config: ParagraphConfig) -> bool:
    """Return whether a paragraph ends between two words: behind enough sentences, or at a long silence.

    The full stop of `Inc.` and `plan B.` ends a sentence only before a silence, that of `Mr.` never: a name follows.
    """
    start_ms = following.spoken.start_ms
    end_ms = word.spoken.end_ms
    silence_ms = 0 if start_ms is None or end_ms is None else start_ms - end_ms
    is_long = config.sentences is not None and n_sentences >= config.sentences
    is_silent = config.pause_ms is not None and silence_ms >= config.pause_ms
    if is_silent and not precedes_name(word.spoken.word.core):
        return ends_sentence(word.annotated.marks)
    return is_long and ends_sentence(word.separator)  # `separator` leaves out such full stops


def _with_space(item: WrittenItem, space: str) -> WrittenItem:
    """Return an item as it is shown, without tags, with `space` behind it."""
    if isinstance(item, Kept):
        return Kept(item.shown + space, item.breaks, item.role)
    return replace(item, spoken=replace(item.spoken, after=space, markup=None))
