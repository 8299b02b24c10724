"""A transcript in one format, written in another, with the marks that it has."""

from __future__ import annotations

import io
from collections.abc import Iterator

from t5punct.text.marks import Alphabet, Case
from t5punct.text.render import AnnotatedWord, Decision, RenderConfig, render_word
from t5punct.transcripts.formats import transcript_of
from t5punct.transcripts.items import (
    Item,
    SpokenWord,
)
from t5punct.transcripts.writers import WriterConfig, written_pieces

SRT = (
    "1\n00:00:01,000 --> 00:00:02,000\n<i>so what.</i>\n- fine [laughs]\n\n"
    "2\n00:00:04,000 --> 00:00:06,000\nand &amp; you?\n"
)


def kept(items: list[Item]) -> Iterator[AnnotatedWord]:
    """The words with the marks that they have."""
    for item in items:
        if isinstance(item, SpokenWord):
            rendered = render_word(
                item.word, Decision(item.word.label, Case.VERBATIM, 1.0, 1.0), RenderConfig(), Alphabet()
            )
            yield AnnotatedWord(item.word.text, rendered.text, rendered.label, rendered.case.value, 1.0, 1.0)


def converted(text: str, name: str, config: WriterConfig) -> str:
    transcript = transcript_of(io.StringIO(text, newline="\n"), name)
    items = list(transcript.items)
    return "".join(written_pieces(transcript, transcript.with_words(kept(items)), config, "talks/one.srt"))
