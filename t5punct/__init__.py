"""t5punct: punctuation and capitals for speech transcripts, with a T5 that never changes a word.

>>> from t5punct import Punctuator
>>> Punctuator().punctuate("how are you today")  # doctest: +SKIP
'How are you today?'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_NAMES = {  # by the modules that hold them
    ".batch.text_columns": ("BatchPunctuator",),
    ".batch.jobs": ("Outcome",),
    ".batch.work": ("punctuate_files",),
    ".decoding.align": ("AlignConfig",),
    ".decoding.inputs": ("DecodingConfig",),
    ".errors": ("ConfigError", "InputError", "ModelError", "OutputError", "T5PunctError"),
    ".punctuator": ("Punctuator", "PunctuatorConfig"),
    ".streaming": ("Committed", "StreamConfig", "StreamState", "StreamingPunctuator", "Streams", "TimedWord"),
    ".text.render": ("AnnotatedWord", "RenderConfig"),
    ".transcripts.formats": ("Transcript", "read_transcript"),
    ".transcripts.items": ("SpokenWord",),
    ".transcripts.resegment": ("ResegmentConfig",),
    ".transcripts.writers": ("ParagraphConfig", "WriterConfig"),
    ".windows.combine": ("CombineConfig",),
    ".windows.plan": ("WindowConfig",),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}
__all__ = [  # the keys above, once more, for those who read without running
    "AlignConfig",
    "AnnotatedWord",
    "BatchPunctuator",
    "CombineConfig",
    "Committed",
    "ConfigError",
    "DecodingConfig",
    "InputError",
    "ModelError",
    "Outcome",
    "OutputError",
    "ParagraphConfig",
    "Punctuator",
    "PunctuatorConfig",
    "RenderConfig",
    "ResegmentConfig",
    "SpokenWord",
    "StreamConfig",
    "StreamState",
    "StreamingPunctuator",
    "Streams",
    "T5PunctError",
    "TimedWord",
    "Transcript",
    "WindowConfig",
    "WriterConfig",
    "__version__",
    "punctuate_files",
    "read_transcript",
]

if TYPE_CHECKING:
    from .batch.jobs import Outcome
    from .batch.text_columns import BatchPunctuator
    from .batch.work import punctuate_files
    from .decoding.align import AlignConfig
    from .decoding.inputs import DecodingConfig
    from .errors import ConfigError, InputError, ModelError, OutputError, T5PunctError
    from .punctuator import Punctuator, PunctuatorConfig
    from .streaming import Committed, StreamConfig, StreamingPunctuator, Streams, StreamState, TimedWord
    from .text.render import AnnotatedWord, RenderConfig
    from .transcripts.formats import Transcript, read_transcript
    from .transcripts.items import SpokenWord
    from .transcripts.resegment import ResegmentConfig
    from .transcripts.writers import ParagraphConfig, WriterConfig
    from .windows.combine import CombineConfig
    from .windows.plan import WindowConfig


def __dir__() -> list[str]:
    """Return the public names, also before they are imported."""
    return __all__


def __getattr__(name: str) -> Any:
    """Import public names when they are first used, so that `t5punct --help` is instant."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)
