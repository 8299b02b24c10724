"""Live words -> committed marks, which never change again (DESIGN, section 7)."""

from .policies import StreamConfig
from .state import StreamState, TimedWord
from .streams import Committed, StreamingPunctuator, Streams

__all__ = ["Committed", "StreamConfig", "StreamState", "StreamingPunctuator", "Streams", "TimedWord"]
