"""A request's body -> its transcript, and the answer in pieces, with the bytes that `t5punct punctuate` would write.

In: bytes, their content type or file name, and what is asked for.  Out: an `Answer`.

    answer = answer_of(Body(b"how are you"), TextRequest(), engine, max_words=1000)
    "".join(answer.pieces)       # 'How are you?'
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass

from ..batch.work import Work
from ..errors import ConfigError, InputError
from ..text.io.files import decode
from .engine import Engine
from .requests import TextRequest

FORMAT_OF_TYPE = {  # content types, and what they are read as
    "text/plain": "text",
    "text/vtt": "vtt",
    "application/x-subrip": "srt",
    "text/srt": "srt",
    "text/x-ssa": "ass",
    "application/json": "json",
    "text/tab-separated-values": "tsv",
    "text/csv": "csv",
}
TYPE_OF_FORMAT = {
    **{name: kind for kind, name in reversed(FORMAT_OF_TYPE.items())},
    "lines": "text/plain",
    "html": "text/html",
    "ctm": "text/plain",
}

_MOST_READS = 16  # of each word: what one client asks for, the others wait for


class TooLongError(InputError):
    """A text with more words than the service takes."""


@dataclass(frozen=True)
class Body:
    """What a client has sent.  name: of the file, if it has one."""

    data: bytes
    content_type: str = "text/plain"
    name: str = ""


@dataclass(frozen=True)
class Answer:
    """What a client gets: pieces of text, of which the first waits for the model; and how many words they hold."""

    pieces: Iterator[str]
    content_type: str
    n_words: int


def answer_of(body: Body, request: TextRequest, engine: Engine, max_words: int) -> Answer:
    """Return the answer to a request.

    Raises ConfigError or InputError for what cannot be, TooLongError for too many words.
    """
    windows = request.config.windows
    if windows.window > _MOST_READS * windows.stride_words:
        raise ConfigError(
            f"windows of {windows.window} words, {windows.stride_words} apart",
            expected=f"each word read at most {_MOST_READS} times",
            fix="raise stride, or take another preset",
        )
    asked = engine.punctuator(request.config)  # a mistake is said before anything waits
    work, name = Work(asked, request.writer, request.terms), body.name or "the text"
    lines = decode(io.BytesIO(body.data), name, keep_bom=True)
    format = request.format or _shown(body)
    transcript = work.read(name, format, lines)
    texts = transcript.texts
    if (n_words := sum(map(len, texts))) > max_words:
        raise TooLongError(f"{n_words} words", expected=f"at most {max_words}", fix="send it in parts")
    pieces = iter(work.pieces(transcript, engine.annotate(texts, request.config), name))
    return Answer(pieces, f"{TYPE_OF_FORMAT[request.writer.format or transcript.format]}; charset=utf-8", n_words)


def _shown(body: Body) -> str | None:
    """The format that the content type tells; None: the name tells, and what is no text is refused as one."""
    format = FORMAT_OF_TYPE.get(body.content_type.partition(";")[0].strip().lower())
    return None if format == "text" else format
