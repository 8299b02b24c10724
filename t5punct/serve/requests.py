"""What a request asks for, whoever reads its fields.

In: names and values.  Out: a `TextRequest` or a `StreamRequest`, by a `RequestFields`, which the command line makes of
its own options (`cli/fields.py`), so that a service knows no others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..errors import InputError
from ..punctuator import PunctuatorConfig
from ..streaming import StreamConfig
from ..transcripts.terms import Terms
from ..transcripts.writers import WriterConfig


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
class StreamRequest:
    """How a stream is decided, and what its client is told besides committed words."""

    settings: StreamSettings = field(default_factory=StreamSettings)
    provisional: bool = False  # the words that may still change, after each message
    state_every: int = 0  # the state, after so many committed words; 0: never


class RequestFields(Protocol):
    """Reads requests.  Raises FieldError for fields that are none, ConfigError for values that do not agree."""

    def text_schema(self) -> dict[str, Any]:
        """Return the fields of a text, as json schemas by their names."""

    def text(self, values: Mapping[str, str]) -> TextRequest:
        """Return what the fields of a text ask for."""

    def stream(self, values: Mapping[str, str]) -> StreamRequest:
        """Return what the fields of a stream ask for."""
