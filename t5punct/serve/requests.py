"""What a client asks for, and what it and its stream say to each other.

In: names and values of a query, a form or a json; text messages.  Out: a `TextRequest` or `StreamSettings`;
`Message`s: words, an order, or where an earlier stream was.  Events go the other way; those of words are the ones of
`t5punct stream --json` (`streaming/streams.py`).

Fields are the options of `t5punct/options.py`.  What a service decides for all (the model, precision, threads), and
whatever would name a file, is no field.

>>> text_request({"to": "vtt", "resegment": "true"}, ModelOptions()).writer.format
'vtt'
>>> message_of("how are you").words
(TimedWord(word='how are you', start_ms=None, end_ms=None),)
>>> message_of('{"words": [{"word": "so", "start": 0.1, "end": 0.4}]}').words
(TimedWord(word='so', start_ms=100, end_ms=400),)
>>> message_of('{"end": true}').order
'end'
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from difflib import get_close_matches
from typing import Annotated, Any, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from ..config import check
from ..errors import InputError, T5PunctError
from ..options import ModelOptions, StreamOptions, TranscriptOptions, check_needs, help_of, names_of, options_of
from ..punctuator import PunctuatorConfig
from ..streaming import StreamConfig, StreamState, TimedWord
from ..text.io.live import timed_word
from ..transcripts.items import seconds
from ..transcripts.terms import Terms
from ..transcripts.writers import WriterConfig
from ..windows.presets import PRESET_SUFFIXES

Options = TypeVar("Options", bound=ModelOptions)
# a silence: all that was heard becomes final; captions that were told are shown no more; the end of the stream
ORDERS = ("flush", "clear", "end")
FLUSH, END = ('{"flush": true}', '{"end": true}')  # a client's messages that say so


class FieldError(InputError):
    """A field that is unknown, or has no such value."""


@dataclass(frozen=True)
class TextRequest:
    """How a text is decided, read (None: as its name or content type tells) and written."""

    config: PunctuatorConfig = field(default_factory=PunctuatorConfig)
    writer: WriterConfig = field(default_factory=WriterConfig)
    terms: Terms | None = None
    format: str | None = None


@dataclass(frozen=True)
class StreamSettings:
    """What a stream is decided by."""

    stream: StreamConfig = field(default_factory=StreamConfig)
    config: PunctuatorConfig = field(default_factory=PunctuatorConfig)


@dataclass(frozen=True)
class StreamFields(StreamOptions):
    """The options of a stream, and what its client is told beside its words."""

    provisional: Annotated[bool, "Also the words that may still change, after each message."] = False
    state_every: Annotated[
        int, "Tell the stream's state after so many words: a client can go on from it.", Field(ge=0)
    ] = 0
    show: Annotated[str, "A name under which others may watch it, at /v1/watch.", Field(max_length=64)] = ""


_MOST = {  # what a request may ask for: one client's wish must not stop the others
    "beams": 8,
    "alternatives": 20,
    "window": 512,
    "stride": 512,
    "mask_left": 512,
    "mask_right": 512,
    "lead_in": 512,
}
_READERS: dict[type[Any], TypeAdapter[Any]] = {kind: TypeAdapter(kind) for kind in (TranscriptOptions, StreamFields)}
_TERMS = "Your own spellings, one a line: pytorch=PyTorch, ASR, gonna=going to."


def schema_of(kind: type[ModelOptions]) -> dict[str, Any]:
    """Return the fields of a request, as json schemas by their names; `kind`: TranscriptOptions or StreamFields.

    Options of the model are none: the service decides them for all.
    """
    properties = _READERS[kind].json_schema()["properties"]
    descriptions = {**help_of(kind), "terms": _TERMS}  # a request holds its terms, where the command names a file
    fields = {}
    for name in names_of(kind):
        if name not in names_of(ModelOptions):
            fields[name] = {**properties[name], "description": descriptions[name]}
            if name in _MOST:
                fields[name]["maximum"] = _MOST[name]
    return fields


def text_request(values: Mapping[str, Any], service: ModelOptions) -> TextRequest:
    """Return what a text asks for.  Raises FieldError or ConfigError, or InputError for terms that are none."""
    terms = str(values.get("terms", ""))
    asked = {name: value for name, value in values.items() if name != "terms"}
    options = _read(TranscriptOptions, asked, service, {"html": None, "output_dir": None, "ray": None})
    is_name = not options.preset.lower().endswith(PRESET_SUFFIXES)
    expected = "a name of `t5punct presets`"
    check(is_name, f"preset {options.preset!r}, a file", expected=expected, fix="give window and so on")
    spellings = Terms.of(terms.splitlines()) if terms.strip() else None
    return TextRequest(options.config(options.render()), options.writer(), spellings, options.input_format)


def stream_request(values: Mapping[str, Any], service: ModelOptions) -> tuple[StreamSettings, StreamFields]:
    """Return what a stream is decided by, and all that it asks for.  Raises FieldError or ConfigError."""
    fields = _read(StreamFields, values, service, {"json": True})
    return StreamSettings(fields.stream(), fields.config(fields.render())), fields


def _read(kind: type[Options], values: Mapping[str, Any], service: ModelOptions, more: Mapping[str, Any]) -> Options:
    """Read the fields of a request, and set the options that the service decides.

    `more`: values of options of the command line that are no fields.  Raises FieldError for a field that is unknown or
    has no such value, ConfigError for one that does nothing.
    """
    known = schema_of(kind)
    unknown = [name for name in values if name not in known]
    if unknown and unknown[0] in names_of(ModelOptions):
        fix = f"give it to t5punct serve: {unknown[0]} holds for all its clients"
        raise FieldError(f"a field {unknown[0]}", expected="what a client can choose", fix=fix)
    if unknown:
        nearest = ", ".join(get_close_matches(unknown[0], known, n=5, cutoff=0))
        raise FieldError(f"an unknown field {unknown[0]}", expected=f"one like {nearest}", fix="see /docs for all")
    try:
        options: Options = _READERS[kind].validate_python(dict(values))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        mistake = f"the field {'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise FieldError(mistake, expected="a value of its kind", fix="see /openapi.json for it") from None
    for name, most in _MOST.items():
        value = getattr(options, name, None)
        is_possible = name not in values or value is None or value <= most
        check(is_possible, f"the field {name}: {value}", expected=f"at most {most}", fix="lower it", kind=FieldError)
    # as a user of the command types options, of which some do nothing without others
    typed = {name: name for name in values if getattr(options, name) not in (None, False, "")}
    check_needs(typed, {**more, **asdict(options)})
    return replace(options, **options_of(ModelOptions, service))


@dataclass(frozen=True, slots=True)
class Message:
    """What a client says: words, an order, or, first of all, where its stream was before."""

    words: tuple[TimedWord, ...] = ()
    order: str | None = None
    saved: tuple[StreamState, int] | None = None  # and the characters of the text of all committed words


def message_of(text: str) -> Message:
    """Return what a client has said.  Raises InputError for what is no message."""
    if not text.lstrip().startswith("{"):
        return Message((TimedWord(text),))
    try:
        values = json.loads(text)
        if "state" in values:
            n_chars = values.get("n_chars", 0)
            if type(n_chars) is not int or n_chars < 0:
                raise ValueError(n_chars)
            return Message(saved=(StreamState.from_json(json.dumps(values["state"])), n_chars))
        [(name, value)] = values.items()  # raises ValueError for more than one
        if name in ORDERS and value is True:
            return Message(order=name)
        if name == "words" and isinstance(value, str):
            return Message((TimedWord(value),))
        if name == "words":
            return Message(tuple(timed_word(word) for word in value))
        raise ValueError(name)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError, T5PunctError):
        raise InputError(
            f"a message that reads {text[:40]!r}",
            expected='words, {"words": [{"word": "so", "start": 0.1, "end": 0.4}]}, {"flush": true} or {"end": true}',
            fix="correct the client",
        ) from None


def words_message(words: Sequence[TimedWord]) -> str:
    """Return a client's message that says words.

    >>> words_message([TimedWord("so", 100, 400), TimedWord("we")])
    '{"words": [{"word": "so", "start": 0.1, "end": 0.4}, {"word": "we"}]}'
    """
    return json.dumps({"words": [{"word": word.word, **seconds(word.start_ms, word.end_ms)} for word in words]})
