"""Counts and latencies of the service, as Prometheus reads them.

In: counts and seconds, as they occur.  Out: a registry, which `prometheus_client` makes text of.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_STREAM_SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
_TEXT_SECONDS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300)


class Metrics:
    """The counts and latencies of one service; seconds are those of a wall clock."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Counter("t5punct_requests", "Requests, by their status.", ["status"], registry=registry)
        self.text_words = Counter("t5punct_text_words", "Words of texts that were punctuated.", registry=registry)
        self.text_seconds = Histogram(
            "t5punct_text_seconds", "From a request to its last word.", buckets=_TEXT_SECONDS, registry=registry
        )
        self.waiting_words = Gauge("t5punct_waiting_words", "Words of texts not decided yet.", registry=registry)
        self.streams = Gauge("t5punct_streams", "Streams that are open.", registry=registry)
        self.streams_opened = Counter("t5punct_streams_opened", "Streams that were opened.", registry=registry)
        self.stream_words = Counter("t5punct_stream_words", "Words of streams.", registry=registry)
        self.stream_seconds = Histogram(
            "t5punct_stream_seconds",
            "From a message to the words that became final by it.",
            buckets=_STREAM_SECONDS,
            registry=registry,
        )
