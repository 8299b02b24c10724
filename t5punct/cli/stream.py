"""`t5punct stream`: words in as they arrive, words with marks out as soon as they are final.

In: words on standard input, or json events with times.  Out: committed words at once, or one json event a line.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ConfigError, InputError
from ..extras import need
from ..options import ModelOptions, StreamOptions, defaults_of
from ..text.io.files import STANDARD, standard_output
from ..text.render import REMOVE
from . import parameters as shared
from .parameters import load_punctuator, read_options
from .process import calling_at_signals
from .progress import note, note_how_to_end, summarise_removed

if TYPE_CHECKING:
    from ..text.io.live import TimedWord

    Say = Callable[[Sequence[TimedWord]], None]  # takes words as they arrive; no words: a silence

_MESSAGE_WORDS = 16  # words in one message, as a service limits a message's length
_log = logging.getLogger(__name__)


def stream(
    context: typer.Context,
    settings: shared.Settings = None,
    model: shared.StreamModel = "base",
    language: shared.Language = None,
    style: shared.Style = None,
    decoder: shared.Decoder = "auto",
    marks: shared.Marks = None,
    mark_odds: shared.MarkOdds = None,
    precision: shared.Precision = "auto",
    device: shared.Device = "auto",
    policy: shared.Policy = "fixed",
    lookahead: shared.Lookahead = 4,
    max_delay_ms: shared.MaxDelayMs = None,
    keep_marks: shared.KeepMarks = False,
    no_case: shared.NoCase = False,
    disfluencies: shared.Disfluencies = "keep",
    timed: Annotated[
        bool,
        typer.Option(
            "--timed",
            help='INPUT is lines of {"word": .., "start": .., "end": ..}, in seconds, or as Vosk writes them.',
        ),
    ] = False,
    provisional: Annotated[
        bool,
        typer.Option("--provisional", help="With --json: print the last words, too, whose marks may still change."),
    ] = False,
    json: shared.Json = False,
    server: Annotated[
        str | None,
        typer.Option(
            show_default="none",
            metavar="ADDRESS",
            help="Let a service decide, such as ws://127.0.0.1:8008 of `t5punct serve`; over lost connections no word "
            "is lost or comes twice.  Its token: the variable T5PUNCT_TOKEN.",
        ),
    ] = None,
    quiet: shared.Quiet = False,
) -> None:
    """Punctuate words as they arrive; what is printed never changes.

    INPUT is standard input: words with white space between, or, with --timed, lines of json.
    """
    options = read_options(StreamOptions, context, settings)
    if sys.stdin is None:
        raise InputError("standard input is closed", expected="an open one", fix="give the words through a pipe")
    note_how_to_end([STANDARD])
    with _interruptible() as (stop_descriptor, signals):  # also while libraries and the model are loaded
        from ..text.io.live import JSON_BEGINS, arrivals

        printer = _Printer(json)
        options.stream()  # fails for wrong values before anything is loaded
        open_stream = _local_stream if server is None else partial(_remote_stream, server)
        with open_stream(options, printer, provisional) as say:
            n_problems = 0
            heard = arrivals(sys.stdin.fileno(), timed=timed, silence_ms=options.max_delay_ms, stop=stop_descriptor)
            is_first = not timed
            for arrival in heard:
                if is_first and arrival.words:
                    is_first = False
                    if JSON_BEGINS.match(" ".join(word.word for word in arrival.words[:2])):
                        note("warning: words that look like json, and are read as words; to read events, add --timed")
                if arrival.problem:  # one bad line is no reason to lose the words after it
                    typer.echo(f"t5punct: {arrival.problem}", err=True)
                    n_problems += 1
                else:
                    say(arrival.words)
        printer.end()
    if options.disfluencies == REMOVE:
        note(summarise_removed(printer.removed, printer.n_words))
    if n_problems and printer.n_words == 0:  # nothing but bad lines
        raise typer.Exit(2)
    if signals:
        raise typer.Exit(128 + signals[0])  # as the shell reports a process that a signal ended


@contextmanager
def _local_stream(options: StreamOptions, printer: _Printer, provisional: bool) -> Iterator[Say]:
    """Punctuate in this process; yield the function that takes words."""
    from ..streaming import Committed, StreamingPunctuator
    from ..streaming.streams import LanguageWatch, committed_events, provisional_event

    punctuator = load_punctuator(options, options.config(options.render()))
    live = StreamingPunctuator(punctuator, options.stream())
    language = LanguageWatch(punctuator.model.name)

    def print_committed(commit: Callable[[], Sequence[Committed]]) -> None:
        started = time.perf_counter()
        words = commit()
        spent_ms = round(1000 * (time.perf_counter() - started), 1)
        events, _ = committed_events(words, printer.n_chars, spent_ms)  # the printer counts characters itself
        for event in events:
            printer.put(event)

    def say(words: Sequence[TimedWord]) -> None:
        for word in words:  # each word is printed as soon as it can be
            warning = language.hear(word.word)
            print_committed(partial(live.push, [word]))
            if warning is not None:
                _log.warning("%s", warning)
        if not words:
            print_committed(live.flush)
        if provisional:
            printer.put(provisional_event(live.provisional()))

    yield say
    warning = language.end()
    print_committed(live.finish)
    if warning is not None:
        _log.warning("%s", warning)


@contextmanager
def _remote_stream(server: str, options: StreamOptions, printer: _Printer, provisional: bool) -> Iterator[Say]:
    """Let a service punctuate; yield the function that takes words."""
    need("serve")
    from ..serve.client import RemoteStream, stream_address
    from ..serve.requests import FLUSH, words_message

    defaults = defaults_of(StreamOptions)
    fields = {name: value for name, value in vars(options).items() if value != defaults[name]}
    # sorted: a language comes before the model that it has chosen
    of_service = sorted(fields.keys() & defaults_of(ModelOptions))
    if of_service:
        fix = f"give --{of_service[0]} to t5punct serve"
        raise ConfigError(f"--{of_service[0]} with --server", expected="the service's own", fix=fix)
    if provisional:
        fields["provisional"] = True
    token = os.environ.get("T5PUNCT_TOKEN")
    with RemoteStream(stream_address(server, fields), printer.put, token) as remote:

        def say(words: Sequence[TimedWord]) -> None:
            for start in range(0, len(words), _MESSAGE_WORDS):
                remote.say(words_message(words[start : start + _MESSAGE_WORDS]))
            if not words:  # a silence
                remote.say(FLUSH)

        yield say


@contextmanager
def _interruptible() -> Iterator[tuple[int, list[int]]]:
    """Let SIGINT, SIGTERM or SIGHUP end the input, so that the words before it are still decided and printed.

    The same signal once more ends everything.  Yields a file descriptor that becomes readable at the first signal, and
    the list of the signals so far.
    """
    signals = list[int]()
    descriptor, writing_end = os.pipe()

    def stop(number: int, frame: object) -> None:
        if number in signals:
            raise KeyboardInterrupt
        signals.append(number)
        os.write(writing_end, b"!")

    try:
        with calling_at_signals(stop, "SIGINT", "SIGTERM", "SIGHUP"):
            yield descriptor, signals
    finally:
        os.close(descriptor)
        os.close(writing_end)


class _Printer:
    """Writes committed words, flushed at once, as text or as json events; counts them."""

    def __init__(self, as_json: bool) -> None:
        # bytes that are no UTF-8 come out as they came in; json names them, \udcff for the byte ff
        errors = "backslashreplace" if as_json else "surrogateescape"
        self._as_json = as_json
        self._out = standard_output(errors)
        self.n_chars = self.n_words = 0  # of what is written without --json
        self.removed: Counter[str] = Counter()

    def put(self, event: Mapping[str, Any]) -> None:
        """Print an event, as json or as the text of its word; a service's warning goes to standard error."""
        import json

        if "warning" in event:
            _log.warning("%s", event["warning"])
            return
        if "provisional" not in event:
            self.n_words += 1
            if not event["text"]:
                self.removed[event["word"].lower()] += 1
            space = " " * (event["start_char"] - self.n_chars)
            self.n_chars = event["end_char"]
            if not self._as_json:
                self._write(space + event["text"])
        if self._as_json:
            self._write(json.dumps(event, ensure_ascii=False) + "\n")

    def end(self) -> None:
        if self.n_chars and not self._as_json:
            self._write("\n")

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()
