"""A request's fields -> the options of `t5punct punctuate` and `t5punct stream`, of which they are: one list, one help.

In: names and values, of a query or a form.  Out: what a service is asked for.

What a service decides for all (the model, precision, threads), and whatever would name a file, is no field.

>>> OptionFields(ModelOptions()).text({"to": "vtt", "resegment": "true"}).writer.format
'vtt'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from ..errors import ConfigError
from ..serve.requests import FieldError, StreamRequest, StreamSettings, TextRequest
from ..transcripts.terms import Terms
from ..windows.presets import PRESET_SUFFIXES
from .command import check_needs
from .options import ModelOptions
from .punctuate import TranscriptOptions
from .stream import SERVICE_OPTIONS, LiveOptions

_MOST = {  # what a request may ask for: one client's wish must not stop the others
    "beams": 8,
    "alternatives": 20,
    "window": 512,
    "stride": 512,
    "mask_left": 512,
    "mask_right": 512,
    "lead_in": 512,
}


def _field(name: str, hint: Any, default: Any) -> tuple[Any, Any]:
    """An option of the command line as a field: its type, and its limits and help."""
    kind, option = get_args(hint)[:2]
    alias = "json" if name == "as_json" else None
    return kind, Field(default, description=option.help, ge=option.min, le=_MOST.get(name, option.max), alias=alias)


def _fields_of(options: type[ModelOptions], **more: tuple[Any, Any]) -> dict[str, Any]:
    hints = get_type_hints(options, include_extras=True)
    own = {
        option.name: _field(option.name, hints[option.name], option.default)
        for option in fields(options)
        if option.name not in (*SERVICE_OPTIONS, "terms")
    }
    return {**own, **more}


class _Closed(BaseModel):
    """Fields, and no others."""

    model_config = ConfigDict(extra="forbid")


TextFields: type[BaseModel] = create_model(
    "TextFields",
    __base__=_Closed,
    **_fields_of(
        TranscriptOptions,
        terms=(str, Field("", description="Your own spellings, one a line: pytorch=PyTorch, ASR, gonna=going to.")),
    ),
)
StreamFields: type[BaseModel] = create_model(
    "StreamFields",
    __base__=_Closed,
    **_fields_of(
        LiveOptions,
        provisional=(bool, Field(False, description="Also the words that may still change, after each message.")),
        state_every=(
            int,
            Field(0, ge=0, description="Tell the stream's state after so many words: a client can go on from it."),
        ),
        show=(str, Field("", max_length=64, description="A name under which others may watch it, at /v1/watch.")),
    ),
)


class OptionFields:
    """Reads requests, for a service of some model."""

    def __init__(self, service: ModelOptions) -> None:
        self._own = {name: getattr(service, name) for name in SERVICE_OPTIONS}

    def text_schema(self) -> dict[str, Any]:
        """Return the fields of a text, as json schemas by their names."""
        properties: dict[str, Any] = TextFields.model_json_schema(by_alias=True)["properties"]
        return properties

    def text(self, values: Mapping[str, str]) -> TextRequest:
        """Return what a text asks for.  Raises FieldError or ConfigError, or InputError for terms that are none."""
        request = _read(TextFields, values)
        asked = request.model_dump(exclude={"terms"})
        if asked["preset"].lower().endswith(PRESET_SUFFIXES):
            raise ConfigError(
                f"preset {asked['preset']!r}, a file",
                expected="a name of `t5punct presets`",
                fix="give window and so on",
            )
        options = TranscriptOptions(**self._own, **asked)
        _check_typed(request, {"html": None, "output_dir": None, "ray": None, **asdict(options)})
        terms: str = getattr(request, "terms")  # noqa: B009  # a field that is made above
        spellings = Terms.of(terms.splitlines()) if terms.strip() else None
        return TextRequest(options.config(options.render()), options.writer(), spellings, options.input_format)

    def stream(self, values: Mapping[str, str]) -> StreamRequest:
        """Return what a stream asks for.  Raises FieldError or ConfigError."""
        request = _read(StreamFields, values)
        asked = request.model_dump()
        more = {name: asked.pop(name) for name in ("provisional", "state_every", "show")}
        options = LiveOptions(**self._own, **asked)
        _check_typed(request, {"as_json": True, **asdict(options)})
        return StreamRequest(StreamSettings(options.stream(), options.config(options.render())), **more)


def _read(kind: type[BaseModel], values: Mapping[str, str]) -> BaseModel:
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        name = ".".join(map(str, first["loc"]))
        if first["type"] == "extra_forbidden":
            names = ", ".join(field.alias or known for known, field in kind.model_fields.items())
            raise FieldError(
                f"an unknown field {name}", expected=f"some of {names}", fix="check its spelling"
            ) from None
        raise FieldError(
            f"the field {name}: {first['msg']}", expected="a value of its kind", fix="see /openapi.json for it"
        ) from None


def _check_typed(request: BaseModel, values: Mapping[str, Any]) -> None:
    """Raise ConfigError for fields that were given and do nothing."""
    typed = {name for name in request.model_fields_set if getattr(request, name) not in (None, False, "")}
    check_needs({name: name for name in typed}, values)
