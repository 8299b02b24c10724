"""What `/openapi.json` says of `POST /v1/punctuate`, which reads raw bodies and forms.

In: the fields of a request, as json schemas.  Out: a value for FastAPI's `openapi_extra`.
"""

from __future__ import annotations

from typing import Any

from .texts import FORMAT_OF_TYPE

_ERROR = {
    "type": "object",
    "properties": {
        "error": {"type": "object", "properties": {name: {"type": "string"} for name in ("found", "expected", "fix")}}
    },
    "required": ["error"],
}


def _error(description: str) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": _ERROR}}}


def punctuate_schema(fields: dict[str, Any]) -> dict[str, Any]:
    """Return what is said of the address; `fields`: json schemas of the request's fields, by their names."""
    form = {
        "type": "object",
        "properties": {
            "file": {"type": "string", "format": "binary", "description": "A transcript; its name tells its format."},
            "text": {"type": "string", "description": "Or a text."},
            **fields,
        },
    }
    parameters = [
        {"name": name, "in": "query", "required": False, "schema": schema, "description": schema.get("description", "")}
        for name, schema in fields.items()
    ]
    return {"parameters": parameters, "requestBody": _body(form), "responses": _RESPONSES}


def _body(form: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {kind: {"schema": {"type": "string"}} for kind in FORMAT_OF_TYPE}
    content["text/plain"]["example"] = "how are you today"
    content["application/json"] = {"schema": {}, "example": {"text": "how are you", "words": [{"word": "how"}]}}
    content["multipart/form-data"] = {"schema": form, "example": {"text": "how are you today", "to": "json"}}
    return {"required": True, "content": content}


_RESPONSES = {
    "200": {
        "description": "The same with marks and capitals, as `t5punct punctuate` writes it.",
        "content": {"text/plain": {"schema": {"type": "string"}, "example": "How are you today?"}},
    },
    "400": _error("A body that cannot be read, or fields that do not agree."),
    "401": _error("No token, or a wrong one."),
    "403": _error("A page of another site."),
    "413": _error("More bytes or words than the service takes."),
    "421": _error("A name that the service does not have."),
    "422": _error("A field that is unknown or has no such value."),
    "503": _error("More work than the service takes; Retry-After says when to come again."),
}
