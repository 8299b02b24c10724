"""Transcripts as documents: subtitles, and the json and tables of recognisers, read as `t5punct punctuate` reads them.

In: a file.  Out: one document, its words and marks as they stand, without times, tags, speaker labels and stage
directions.  Nothing ends at the end of a cue: sentences go on over cues.

Of the subtitles `<i>So we</i>` and, a cue later, `went home.`, the document is `So we went home.`
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from ...errors import InputError
from ...t5.task import silence_tokens
from ...text.io.files import read_lines
from ...transcripts.formats import SUFFIXES, format_of, read_transcript
from ...transcripts.items import SpokenWord
from ...transcripts.pauses import add_pauses

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
