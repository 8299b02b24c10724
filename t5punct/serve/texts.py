"""A request's body -> its transcript, and the answer in pieces, with the bytes that `t5punct punctuate` would write.

In: bytes, their content type or file name, and what is asked for.  Out: an `Answer`.
"""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from ..config import check
from ..errors import InputError
from ..model import language_warning, unknown_language
from ..text.io.files import BOM, decode
from ..text.words import checked_text
from ..transcripts.formats import FORMATS, INPUTS, Transcript, opening_mistake
from .engine import Engine
from .requests import FieldError, TextRequest

# a content type -> the name of the format that a body of it is read as
FORMAT_OF_TYPE = {mime: name for name in reversed(INPUTS) for mime in FORMATS[name].mimes}
WRITTEN_TYPES = {format.mimes[0] for format in FORMATS.values()}

_OPENING_BYTES = 1000  # of a body, which tell whether it is json
_MOST_READS = 16  # of each word: what one client asks for, the others wait for


class TooLongError(InputError):
    """A text with more words than the service takes."""


@dataclass(frozen=True)
class Body:
    """What a client has sent.

    name: of the file, if it has one.  texts: what `data`, a json, asks for, as `text` if it `is_one`, else as `texts`;
    None: `data` is a text or a file itself.
    """

    data: bytes
    content_type: str = "text/plain"
    name: str = ""
    texts: tuple[str, ...] | None = None
    is_one: bool = False


def with_json_texts(body: Body, field_names: Collection[str]) -> tuple[Body, dict[str, Any]]:
    """Return a body with the texts of its json, such as `{"texts": [..], "style": ".."}`, and the fields beside them.

    It may have one `text`, too.  Any other body is returned as it is, such as a json of a recogniser: beside its text
    stand lists or objects that are no fields of ours.  Raises FieldError for `texts` that are no list of strings.

    >>> body, fields = with_json_texts(Body(b'{"texts": ["so"], "style": "talk"}', "application/json"), ["style"])
    >>> body.texts, fields
    (('so',), {'style': 'talk'})
    >>> with_json_texts(Body(b'{"text": "so", "segments": []}', "application/json"), ["style"])[0].texts is None
    True
    """
    if not body.content_type.startswith("application/json"):
        return body, {}
    try:
        values = json.loads(body.data)
    except (ValueError, RecursionError):  # the reader of a recogniser's json raises an error that says where
        return body, {}
    if not isinstance(values, dict):
        return body, {}
    if "texts" not in values:
        text = values.pop("text", None)
        has_lists = any(isinstance(value, list | dict) for name, value in values.items() if name not in field_names)
        is_one = isinstance(text, str) and not has_lists
        return (replace(body, texts=(text,), is_one=True), values) if is_one else (body, {})
    check("text" not in values, "text and texts", expected="one of them", fix="drop the other", kind=FieldError)
    texts = values.pop("texts")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        expected = '{"texts": ["how are you", "so"]}'
        raise FieldError("texts that are no list of strings", expected=expected, fix="send it so")
    return replace(body, texts=tuple(texts)), values


@dataclass(frozen=True)
class Answer:
    """What a client gets.

    pieces: the body, of which the first piece waits for the model.  n_words: of all texts.  warnings: of languages that
    the model does not know.
    """

    pieces: Iterator[str]
    content_type: str
    n_words: int
    warnings: tuple[str, ...] = ()


def answer_of(body: Body, request: TextRequest, engine: Engine, max_words: int) -> Answer:
    """Return the answer to a request; texts of a json are answered as json, in their order.

    Raises ConfigError for settings that the model cannot have, InputError for a text that cannot be read or written,
    FieldError for several texts in another format than text, and TooLongError for too many words.
    """
    windows = request.config.windows
    check(
        windows.window <= _MOST_READS * windows.stride_words,
        f"windows of {windows.window} words, {windows.stride_words} apart",
        expected=f"each word read at most {_MOST_READS} times",
        fix="raise stride, or take another preset",
    )
    is_text = request.format in (None, "text", "lines") and request.writer.format in (None, "text")
    if body.texts is not None and not is_text:
        mistake = "texts with another format"
        check(body.is_one, mistake, expected="format and to of text", fix="send them one by one", kind=FieldError)
        body = Body(body.texts[0].encode(errors="surrogatepass"))  # one text is answered as that of a form
    punctuator = engine.punctuator(request.config)  # a mistake is said before anything waits
    transcripts = [  # each with the name of its text
        (name, punctuator.read_file(name, format, request.writer, request.terms, lines))
        for name, format, lines in _inputs(body, request)
    ]
    texts = [text for _, transcript in transcripts for text in transcript.texts]
    lengths = [sum(map(len, transcript.texts)) for _, transcript in transcripts]
    n_words = sum(lengths)
    is_short = n_words <= max_words
    check(is_short, f"{n_words} words", expected=f"at most {max_words}", fix="send it in parts", kind=TooLongError)
    words = engine.annotate(texts, request.config)  # of all texts, one after the other
    unnamed_texts = () if request.format else body.texts or ()  # they may be of a format that the request does not name
    warnings = _warnings(punctuator.model.name, transcripts, unnamed_texts)
    if body.texts is None:
        [(name, transcript)] = transcripts
        pieces = iter(punctuator.file_pieces(transcript, words, request.writer, name))
        content_type = FORMATS[request.writer.format or transcript.format].mimes[0]
    else:
        written = (  # lazily: each text takes the next of the words
            "".join(punctuator.file_pieces(transcript, islice(words, length), request.writer, name))
            for (name, transcript), length in zip(transcripts, lengths, strict=True)
        )
        pieces = _json_pieces(written, warnings, is_one=body.is_one)
        content_type = "application/json"
    return Answer(pieces, f"{content_type}; charset=utf-8", n_words, warnings)


def _inputs(body: Body, request: TextRequest) -> Iterator[tuple[str, str | None, Iterable[str]]]:
    """Yield the name, the format (None: as the name says) and the lines of each text."""
    if body.texts is None:
        name = body.name or "the text"
        media_type = body.content_type.partition(";")[0].strip().lower()
        format_of_type = FORMAT_OF_TYPE.get(media_type)
        # clients send any file as text/plain: then, and for an unknown type, the file's name decides
        format = request.format or (None if format_of_type == "text" else format_of_type)
        json_opening = FORMATS["json"].opening
        if json_opening and format is None and not body.name:  # nothing says what it is: a json would be read as text
            beginning = body.data[:_OPENING_BYTES].decode(errors="replace").removeprefix(BOM).lstrip()
            is_json = json_opening.match(beginning)
            fix = "send that header, or ?format=text if it is text all the same"
            check(not is_json, "json", expected="the header content-type: application/json", fix=fix, kind=InputError)
        yield name, format, decode(io.BytesIO(body.data), name, keep_bom=True)
        return
    for number, text in enumerate(body.texts, start=1):
        yield f"text {number}", request.format or "text", io.StringIO(checked_text(text), newline="\n")


def _json_pieces(texts: Iterable[str], warnings: Sequence[str], *, is_one: bool) -> Iterator[str]:
    """Yield `{"texts": [..]}`, or `{"text": ".."}` for one text, piece by piece as the texts are decided."""
    yield '{"text": ' if is_one else '{"texts": ['
    for number, text in enumerate(texts):
        if number:
            yield ", "
        yield json.dumps(text, ensure_ascii=False)
    yield "" if is_one else "]"
    yield f', "warnings": {json.dumps(warnings)}}}\n' if warnings else "}\n"


def _warnings(model: str, transcripts: Sequence[tuple[str, Transcript]], texts: Sequence[str]) -> tuple[str, ...]:
    """Return a warning of each language that the model does not know, and of each of `texts` that is a file.

    That of a language names the first text in it.  texts: those of json whose format nobody named.
    """
    warnings = dict[str, str]()  # by language
    for name, transcript in transcripts:
        language = unknown_language(model, transcript.normal_words)
        if language is not None and language not in warnings:
            warnings[language] = language_warning(model, language, "the text" if len(transcripts) == 1 else name)
    mistakes = (
        opening_mistake(text.splitlines(keepends=True), f"text {number}") for number, text in enumerate(texts, start=1)
    )
    files = [f"{mistake.found}; its times and names become words: send it as a file" for mistake in mistakes if mistake]
    return (*warnings.values(), *files)
