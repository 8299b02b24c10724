"""t5punct: punctuation and capitals for speech transcripts, with a T5 that never changes a word.

>>> from t5punct import Punctuator
>>> Punctuator.from_pretrained().punctuate("how are you today")  # doctest: +SKIP
'How are you today?'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "AnnotatedWord": ".punctuator",
    "Punctuator": ".punctuator",
    "PunctuatorConfig": ".punctuator",
    "StreamConfig": ".streaming",
    "StreamingPunctuator": ".streaming",
    "T5PunctError": ".errors",
}
__all__ = [
    "AnnotatedWord",
    "Punctuator",
    "PunctuatorConfig",
    "StreamConfig",
    "StreamingPunctuator",
    "T5PunctError",
    "__version__",
]

if TYPE_CHECKING:
    from .errors import T5PunctError
    from .punctuator import AnnotatedWord, Punctuator, PunctuatorConfig
    from .streaming import StreamConfig, StreamingPunctuator


def __getattr__(name: str) -> Any:
    """Import public names when they are first used, so that `t5punct --help` is instant."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)
