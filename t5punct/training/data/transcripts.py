"""Words with times as documents: subtitles, the json and tables of recognisers, and json lines of turns.

In: a file, or lines such as `{"words": [{"word": "so", "start": 0.1, "end": 0.4, "marks": ","}, ..]}`, times in
seconds.  Out: documents, words and marks as they stand, without times, tags, speaker labels and stage directions, in
which a token stands at every silence of some lengths.

A file is one document, in which nothing ends at the end of a cue: sentences go on over cues.  Of the subtitles
`<i>So we</i>` and, a cue later, `went home.`, it is `So we went home.`

Lines that follow each other and name the same `meeting` are one document, so that windows go over turns.  Of a word,
`marks` stand behind it, and `est_end`, where an aligner has estimated when it was over, is better than `end`.

>>> word = {"word": "so", "start": 0.1, "end": 2.0, "est_end": 0.4, "marks": ","}
>>> turns = [turn_of({"words": [word]}), turn_of({"words": [{"word": "yes", "start": 0.9, "end": 1.2}]})]
>>> document_of(turns, (280,))
'so, <extra_id_1> yes'
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...t5.task import silence_tokens
from ...text.io.files import read_lines
from ...text.io.live import TimedWord, timed_word
from ...transcripts.formats import SUFFIXES, format_of, read_transcript
from ...transcripts.items import SpokenWord, add_pauses, pause_of

ENDINGS = (".json", *(ending for ending, name in SUFFIXES.items() if name in ("vtt", "srt", "ass", "ctm")))
# of one recording in several of these, the first is read: it knows most of the times
PREFERRED = (*ENDINGS, ".tsv", ".txt")


def transcript_documents(path: Path, pauses_ms: tuple[int, ...]) -> Iterator[str]:
    """Yield the file as one document; a token stands at every silence of one of these lengths."""
    try:
        items = read_transcript(path).items
    except InputError as error:
        if format_of(path) != "json":
            raise
        raise InputError(
            error.found, expected=error.expected, fix="leave it out, by a pattern for the others: path: 'talks/*.srt'"
        ) from error
    timed = add_pauses(items, pauses_ms) if pauses_ms else items
    words = (item.word for item in timed if isinstance(item, SpokenWord))
    yield " ".join(piece for word in words for piece in (word.raw, *silence_tokens(word.pause)))


def is_table_of_words(path: Path) -> bool:
    """Return whether a .tsv is a recogniser's table, which has a header, and not IWSLT rows."""
    header = next(read_lines(path), "").lower().split("\t")
    return len(header) > 1 and bool({"start", "end"} & {*header}) and bool({"text", "word", "token"} & {*header})


def is_json_lines(path: Path, column: str) -> bool:
    """Return whether a .json file holds a line of json for each document, and not one recording."""
    lines = list(islice((line for line in read_lines(path) if line.strip()), 2))
    try:
        value = json.loads(lines[0]) if lines else None
    except ValueError:  # a recording over several lines, most likely
        return False
    return isinstance(value, dict) and (len(lines) > 1 or (column != "text" and column in value))


@dataclass(frozen=True, slots=True)
class Turn:
    """Words that follow each other, and the recording that they are of, if it is named."""

    words: tuple[TimedWord, ...]
    meeting: str | None = None


def turn_of(values: Mapping[str, Any]) -> Turn:
    """Return the words of a line.  Raises InputError, KeyError, TypeError or ValueError for what is no such line."""
    meeting = values.get("meeting")
    return Turn(tuple(_word(word) for word in values["words"]), None if meeting is None else str(meeting))


def document_of(turns: Sequence[Turn], pauses_ms: Sequence[int]) -> str:
    """Return the words of some turns, and the tokens of the silences between them."""
    words = [word for turn in turns for word in turn.words]
    silences_ms = [following.silence_ms(word.end_ms) for word, following in pairwise(words)]
    pieces: list[str] = []
    for word, silence_ms in zip(words, [*silences_ms, 0], strict=False):
        pieces += [word.word, *silence_tokens(pause_of(silence_ms, pauses_ms))]
    return " ".join(pieces)


def _word(values: Mapping[str, Any]) -> TimedWord:
    end = values.get("est_end", values.get("end"))
    return timed_word({"word": values["word"] + values.get("marks", ""), "start": values.get("start"), "end": end})
