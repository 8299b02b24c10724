"""One model for many clients: what arrives while it works is decided together.

In: texts and streams' words, from any thread.  Out: annotated words, as they are decided; streams' next states.

One thread works with the model, in rounds.  It makes the steps of all waiting streams, begins the texts of equal
settings as one group, and decides one slice of each group.  So a stream waits for a slice of each group at most, and a
short text never for the end of a long one, which is a group of its own.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, TypeVar

import torch

from ..errors import T5PunctError
from ..punctuator import Punctuator, PunctuatorConfig
from ..streaming import Streams, StreamState, TimedWord
from ..text.render import AnnotatedWord
from ..text.words import Word
from .requests import StreamSettings

Value = TypeVar("Value")

_GROUP_WORDS = 4_000  # of texts that are begun together
_MOST_SETTINGS = 64  # for which a punctuator is kept


@dataclass(frozen=True, slots=True)
class _StreamCall:
    """One step of a stream: action is `push`, `flush`, `finish` or `provisional`, its result goes into `answer`."""

    settings: StreamSettings
    action: str
    state: StreamState
    words: Sequence[TimedWord]
    answer: Future[Any] = field(default_factory=Future)


class _TextCall:
    """The texts of a request, and a queue of their words, part by part as they are decided, or of an error."""

    def __init__(self, texts: Sequence[Sequence[Word]], punctuator: Punctuator) -> None:
        self.texts = texts
        self.punctuator = punctuator
        self.n_words = sum(map(len, texts))
        self.n_waiting = self.n_words  # that are not decided yet
        self.decided: queue.SimpleQueue[Sequence[AnnotatedWord] | Exception] = queue.SimpleQueue()
        self.is_dropped = False


class _TextGroup:
    """Texts of several requests, which are decided together."""

    def __init__(self, calls: Sequence[_TextCall]) -> None:
        self.calls = calls
        self.call_of_text = list[_TextCall]()  # by the text's number; only of texts that were begun
        self.parts = calls[0].punctuator.iter_parts(self._texts())
        self.is_long = sum(call.n_words for call in calls) > _GROUP_WORDS

    def _texts(self) -> Iterator[Sequence[Word]]:
        """Yield the texts of each call that is not dropped before its turn, and note the call of each text."""
        for call in self.calls:
            if not call.is_dropped:
                self.call_of_text += [call] * len(call.texts)
                yield from call.texts


class Engine:
    """A model, and the one thread that works with it."""

    def __init__(self, punctuator: Punctuator) -> None:
        self.model = punctuator.model
        self._n_threads = torch.get_num_threads()
        self._calls: queue.SimpleQueue[_StreamCall | _TextCall | None] = queue.SimpleQueue()
        self._punctuators = dict[str, Punctuator]()
        self._streams = dict[str, Streams]()
        self._thread = threading.Thread(target=self._run, name="t5punct-model", daemon=True)
        self._lock = threading.Lock()
        self._open_calls = set[_TextCall]()  # somebody waits for their words
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    @property
    def n_waiting_words(self) -> int:
        """How many words of texts are not decided yet."""
        return sum(call.n_waiting for call in tuple(self._open_calls))

    def annotate(self, texts: Sequence[Sequence[Word]], config: PunctuatorConfig) -> Iterator[AnnotatedWord]:
        """Yield the words of texts, decided together with those of other requests.  It blocks: call it in a thread."""
        call = _TextCall(texts, self.punctuator(config))
        self._open_calls.add(call)
        self._calls.put(call)
        n_received = 0
        try:
            while n_received < call.n_words:
                part = call.decided.get()
                if isinstance(part, Exception):
                    raise part
                n_received += len(part)
                yield from part
        finally:
            call.is_dropped = True  # the client has left, or has all words
            self._open_calls.discard(call)

    async def step(
        self, settings: StreamSettings, action: str, state: StreamState, words: Sequence[TimedWord] = ()
    ) -> Any:
        """Call `push`, `flush`, `finish` or `provisional` of `Streams` for one stream; raises what they raise."""
        call = _StreamCall(settings, action, state, words)
        self._calls.put(call)
        return await asyncio.wrap_future(call.answer)

    def punctuator(self, config: PunctuatorConfig) -> Punctuator:
        """Return the model with these settings.  Raises ConfigError for what it cannot do."""
        with self._lock:
            return _cached(self._punctuators, repr(config), lambda: Punctuator(self.model, config))

    def streams(self, settings: StreamSettings) -> Streams:
        """Return the streams of these settings.  Raises ConfigError for what the model cannot do."""
        punctuator = self.punctuator(settings.config)
        with self._lock:
            return _cached(self._streams, repr(settings), lambda: Streams(punctuator, settings.stream))

    def close(self) -> None:
        """Let the thread end when it has done what was asked before."""
        self._calls.put(None)

    def _run(self) -> None:
        """Serve calls until closed, in rounds."""
        torch.set_num_threads(self._n_threads)  # a new thread begins with the number that any thread has set last
        groups = list[_TextGroup]()
        waiting = list[_TextCall]()
        is_open = True
        while is_open or groups or waiting:
            calls = self._arrived(block=not groups and not waiting)
            is_open = is_open and None not in calls  # None: by `close`
            waiting += [call for call in calls if isinstance(call, _TextCall)]
            stream_calls = list[_StreamCall]()
            for call in calls:
                if isinstance(call, _StreamCall) and call.answer.set_running_or_notify_cancel():  # False: nobody waits
                    stream_calls.append(call)
            if stream_calls:
                with one_thread():
                    for alike in _by_kind(stream_calls, lambda call: repr((call.settings, call.action))):
                        self._step_streams(alike)
            # while short texts are decided, others wait, to be the next group together; a long one keeps nobody waiting
            if all(group.is_long for group in groups):
                beginning = waiting
            else:
                beginning = [call for call in waiting if call.n_words > _GROUP_WORDS]
            waiting = [call for call in waiting if call not in beginning]
            groups += self._begin(beginning)
            groups = [group for group in groups if self._advance(group)]  # in turns

    def _arrived(self, *, block: bool) -> list[_StreamCall | _TextCall | None]:
        """Return the calls that have come since the last round.  block: wait for one, if none has."""
        calls = [self._calls.get()] if block else []
        with suppress(queue.Empty):
            while True:
                calls.append(self._calls.get_nowait())
        return calls

    def _step_streams(self, calls: Sequence[_StreamCall]) -> None:
        """Make one step of several streams together; all calls have the same settings and action."""
        action = calls[0].action
        arguments: list[Any] = [[call.state for call in calls]]
        if action == "push":
            arguments.append([call.words for call in calls])
        try:
            steps = getattr(self.streams(calls[0].settings), action)(*arguments)
        except T5PunctError as mistake:  # of one stream: the others go on
            if len(calls) == 1:
                calls[0].answer.set_exception(mistake)
            else:
                for call in calls:
                    self._step_streams([call])
        except Exception as error:
            for call in calls:
                call.answer.set_exception(error)
        else:
            for call, step in zip(calls, steps, strict=True):
                call.answer.set_result(step)

    def _begin(self, calls: Sequence[_TextCall]) -> list[_TextGroup]:
        """Return groups of equal settings and at most `_GROUP_WORDS` words; a longer call is a group alone."""
        groups = list[_TextGroup]()
        for alike in _by_kind(calls, lambda call: id(call.punctuator)):
            calls_of_group = list[_TextCall]()
            n_words = 0
            for call in alike:
                n_words += call.n_words
                if calls_of_group and n_words > _GROUP_WORDS:
                    groups.append(_TextGroup(calls_of_group))
                    calls_of_group = []
                    n_words = call.n_words
                calls_of_group.append(call)
            groups.append(_TextGroup(calls_of_group))
        return groups

    def _advance(self, group: _TextGroup) -> bool:
        """Decide the next slice of a group, and hand it to its call; return whether more may come."""
        try:
            part = None if all(call.is_dropped for call in group.calls) else next(group.parts, None)
        except Exception as error:
            for call in group.calls:
                call.decided.put(error)
            return False
        if part is None:
            return False
        number, words = part  # the number of the text
        call = group.call_of_text[number]
        call.n_waiting -= len(words)
        call.decided.put(words)
        return True


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute in this thread alone: a step of streams is too small to share, and clients need processors too."""
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(n_threads)


def _by_kind(calls: Iterable[Value], kind: Callable[[Value], Any]) -> Iterator[list[Value]]:
    """Yield the calls of each kind as a list, in the order in which they came."""
    for _, alike in groupby(sorted(calls, key=kind), key=kind):
        yield list(alike)


def _cached(values: dict[str, Value], key: str, make: Callable[[], Value]) -> Value:
    """Return the value of a key, made if it is not there.  The least recently used one is dropped if they are many."""
    value = values.pop(key) if key in values else make()
    values[key] = value  # the most recently used one is the last
    if len(values) > _MOST_SETTINGS:
        del values[next(iter(values))]
    return value
