"""Json lines as documents: a text each, or words with their times, also the turns of a recording's speakers.

In: lines such as `{"words": [{"word": "so", "start": 0.1, "end": 0.4, "marks": ","}, ..]}`, times in seconds.  Out:
documents, in which a token stands at every silence of some lengths.

Lines that follow each other and name the same `meeting` are one document, so that windows go over turns.  Of a word,
`marks` stand behind it, and `est_end`, where an aligner has estimated when it was over, is better than `end`.

>>> word = {"word": "so", "start": 0.1, "end": 2.0, "est_end": 0.4, "marks": ","}
>>> turns = [turn_of({"words": [word]}), turn_of({"words": [{"word": "yes", "start": 0.9, "end": 1.2}]})]
>>> document_of(turns, (280,))
'so, <extra_id_1> yes'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ...t5.task import silence_tokens
from ...text.io.live import TimedWord, timed_word
from ...transcripts.pauses import pause_of


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
