"""The fields of a request, and the messages of a stream's client.

In: names and values of a query, a form or a json; text messages.  Out: a `TextRequest` or `StreamSettings`; a
`Message`.  Fields are the options of `t5punct/options.py`, but for those that hold for the whole service (the model,
precision, threads) and those that would name a file.

>>> message_of('{"words": [{"word": "so", "start": 0.1, "end": 0.4}]}').words
(TimedWord(word='so', start_ms=100, end_ms=400),)
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, make_dataclass
from typing import Annotated, Any, TypeVar, get_type_hints

from pydantic import Field, TypeAdapter, ValidationError

from ..config import check, nearest_keys
from ..errors import InputError, T5PunctError
from ..options import ModelOptions, StreamOptions, TranscriptOptions, check_needs, defaults_of, help_of, options_of
from ..punctuator import PunctuatorConfig
from ..streaming import StreamConfig, StreamState, TimedWord
from ..text.io.live import JSON_BEGINS, timed_word
from ..transcripts.items import seconds
from ..transcripts.terms import Terms
from ..transcripts.writers import WriterConfig
from ..windows.presets import PRESET_SUFFIXES

Options = TypeVar("Options", bound=ModelOptions)
# flush: a silence, all words so far become final; clear: watchers hide the captions so far; end: the stream ends
ORDERS = ("flush", "clear", "end")
FLUSH = '{"flush": true}'
END = '{"end": true}'


class FieldError(InputError):
    """A field that is unknown, or has no such value."""


@dataclass(frozen=True)
class TextRequest:
    """How a text is decided, read and written.  format: None: its name or content type says it."""

    config: PunctuatorConfig = field(default_factory=PunctuatorConfig)
    writer: WriterConfig = field(default_factory=WriterConfig)
    terms: Terms | None = None
    format: str | None = None


@dataclass(frozen=True)
class StreamSettings:
    """The settings by which a stream is decided; streams of equal settings are decided together."""

    stream: StreamConfig = field(default_factory=StreamConfig)
    config: PunctuatorConfig = field(default_factory=PunctuatorConfig)


@dataclass(frozen=True)
class StreamFields(StreamOptions):
    """The options of a stream, and which events its client gets beside its words."""

    provisional: Annotated[bool, "Also the words that may still change, after each message."] = False
    state_every: Annotated[
        int, "Tell the stream's state after so many words: a client can go on from it.", Field(ge=0)
    ] = 0
    show: Annotated[str, "A name under which others may watch it, at /v1/watch.", Field(max_length=64)] = ""


# the largest values that a request may have: one client must not stop the others
_MOST = {
    "beams": 8,
    "alternatives": 20,
    **dict.fromkeys(("window", "stride", "mask_left", "mask_right", "lead_in"), 512),
}
_KINDS = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "string": "text"}
_TERMS = "Your own spellings, one a line: pytorch=PyTorch, ASR, gonna=going to."


def _reader_of(kind: type[ModelOptions]) -> TypeAdapter[Any]:
    """Return what reads the fields of a request: a class with the options of `kind`, but for those of the model."""
    hints = get_type_hints(kind, include_extras=True)
    descriptions = {**help_of(kind), "terms": _TERMS}  # a request holds its terms, where the command names a file
    fields = [
        (name, Annotated[hints[name], Field(description=descriptions[name], le=_MOST.get(name))], default)
        for name, default in defaults_of(kind).items()
        if name not in defaults_of(ModelOptions)
    ]
    return TypeAdapter(make_dataclass(kind.__name__, fields))


_READERS: dict[type[Any], TypeAdapter[Any]] = {kind: _reader_of(kind) for kind in (TranscriptOptions, StreamFields)}
# the fields of a text, as json schemas by their names
TEXT_FIELDS: dict[str, Any] = _READERS[TranscriptOptions].json_schema()["properties"]


_FIELDS = {*defaults_of(TranscriptOptions), *defaults_of(StreamFields)} - {*defaults_of(ModelOptions)}
_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)(?: (?!(?:or|and|if|with|in)\b)([a-z]+))?")  # and its value


def as_client_reads(error: T5PunctError) -> dict[str, str]:
    """Return what an error says, with the fields of a request in the place of a command's options.

    >>> error = T5PunctError("text has srt", expected="text", fix="use --format srt, or drop --no-case or --model")
    >>> as_client_reads(error)["fix"]
    'use format=srt, or drop no_case or --model'
    """

    def field_of(option: re.Match[str]) -> str:
        name = option[1].replace("-", "_")
        if name not in _FIELDS:
            return option[0]
        return name if option[2] is None else f"{name}={option[2]}"

    texts = {"found": error.found, "expected": error.expected, "fix": error.fix}
    return {part: _OPTION.sub(field_of, text) for part, text in texts.items()}


def _values_of(schema: Mapping[str, Any]) -> str:
    """Return in words which values a json schema allows.

    >>> _values_of({"anyOf": [{"type": "integer", "minimum": 1, "maximum": 8}, {"type": "null"}]})
    'a whole number, 1 or more, 8 at most'
    """
    value = schema.get("anyOf", [schema])[0]
    limits = [f", {value['minimum']} or more"] if "minimum" in value else []
    limits += [f", {value['maximum']} at most"] if "maximum" in value else []
    limits += [f", {value['maxLength']} characters at most"] if "maxLength" in value else []
    return _KINDS[value["type"]] + "".join(limits)


def text_request(values: Mapping[str, Any], service: ModelOptions) -> TextRequest:
    """Return what the fields of a text ask for.  service: the model's options.

    Raises FieldError or ConfigError for fields, and InputError for `terms` that cannot be read.
    """
    terms = str(values.get("terms", ""))
    others = {name: value for name, value in values.items() if name != "terms"}
    options = _read_options(TranscriptOptions, others, service)
    is_name = not options.preset.lower().endswith(PRESET_SUFFIXES)
    expected = "a name of `t5punct presets`"
    check(is_name, f"preset {options.preset!r}, a file", expected=expected, fix="give window and so on")
    spellings = Terms.of(terms.splitlines()) if terms.strip() else None
    writer = options.writer()
    render = options.render(for_review=writer.format == "html")
    return TextRequest(options.config(render), writer, spellings, options.input_format)


def stream_request(values: Mapping[str, Any], service: ModelOptions) -> tuple[StreamSettings, StreamFields]:
    """Return a stream's settings, and all its fields.  Raises FieldError or ConfigError."""
    fields = _read_options(StreamFields, values, service)
    return StreamSettings(fields.stream(), fields.config(fields.render())), fields


def _read_options(kind: type[Options], values: Mapping[str, Any], service: ModelOptions) -> Options:
    """Return options with the fields of a request, which are checked, and the model's options of the service."""
    known = [name for name in defaults_of(kind) if name not in defaults_of(ModelOptions)]
    unknown = next((name for name in values if name not in known), None)
    if unknown in defaults_of(ModelOptions):
        fix = f"give it to t5punct serve: {unknown} holds for all its clients"
        raise FieldError(f"a field {unknown}", expected="what a client can choose", fix=fix)
    if unknown is not None:
        expected = f"one like {', '.join(nearest_keys(unknown, known))}"
        raise FieldError(f"an unknown field {unknown}", expected=expected, fix="see /docs for all")
    try:
        fields = _READERS[kind].validate_python(dict(values))
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        expected = _values_of(_READERS[kind].json_schema()["properties"][name])
        raise FieldError(f"the field {name}: {values[name]!r:.60}", expected=expected, fix="see /docs for it") from None
    options = kind(**options_of(ModelOptions, service), **asdict(fields))
    # a form sends all of its fields, so an empty one counts as not sent
    sent = [name for name in values if getattr(options, name) not in (None, False, "")]
    check_needs({name: name for name in sent}, asdict(options))
    return options


@dataclass(frozen=True, slots=True)
class Message:
    """What a client says: words, an order, or, at the start, the state of an earlier stream that goes on."""

    words: tuple[TimedWord, ...] = ()
    order: str | None = None
    saved: tuple[StreamState, int] | None = None  # the state, and the characters of the text of its committed words


def message_of(text: str) -> Message:
    """Parse a client's message: a json, or plain words.  Raises InputError for a json that is no message."""
    if not JSON_BEGINS.match(text):
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
    """Return the message by which a client sends words.

    >>> words_message([TimedWord("so", 100, 400), TimedWord("we")])
    '{"words": [{"word": "so", "start": 0.1, "end": 0.4}, {"word": "we"}]}'
    """
    return json.dumps({"words": [{"word": word.word, **seconds(word.start_ms, word.end_ms)} for word in words]})
