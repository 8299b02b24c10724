"""Live words -> committed marks, which never change again (docs/design.md)."""

from ..text.io.live import TimedWord
from .policies import StreamConfig
from .state import StreamState
from .streams import Committed, StreamingPunctuator, Streams

__all__ = ["Committed", "StreamConfig", "StreamState", "StreamingPunctuator", "Streams", "TimedWord"]
