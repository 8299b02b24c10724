"""`t5punct stream`: words in as they arrive, words with marks out as soon as they are final.

In: words on standard input, or json events with times.  Out: committed words at once, or one json event a line.

`printf 'how are you today' | t5punct stream --lookahead 2` prints `How are you today?`, the first word when the third
has arrived.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ConfigError, InputError
from ..extras import need
from ..text.io.files import STANDARD
from ..text.io.outputs import standard_output
from ..text.render import RenderConfig
from .options import Disfluencies, Json, KeepMarks, NoCase, StreamOptions, expert, options_of, with_model_options
from .progress import note_waiting, report_removed

if TYPE_CHECKING:
    from ..streaming import StreamConfig
    from ..text.io.live import Arrival, TimedWord

    Say = Callable[[Sequence[TimedWord]], None]  # words as they arrive; none of them: a silence

_log = logging.getLogger(__name__)
_LOOK_EVERY, _MOST_HEARD = 20, 200  # words, of which the language is guessed
SERVICE_OPTIONS = (
    "language",
    "model",
    "revision",
    "precision",
    "device",
    "threads",
    "batch_tokens",
)  # of all clients together


@dataclass(frozen=True)
class LiveOptions(StreamOptions):
    """The model, when slots are decided, and how words are written."""

    policy: Annotated[
        str,
        typer.Option(
            help="When the mark after a word is decided: fixed (--lookahead words later), delay (the same, but each "
            "word is read only once; for models that were trained for it), entropy (as soon as the model is sure) or "
            "sentence (when its sentence has ended)."
        ),
    ] = "fixed"
    lookahead: Annotated[
        int, typer.Option(min=0, help="Policies fixed and delay: decide when this many more words were heard.")
    ] = 4
    max_delay_ms: Annotated[
        int | None,
        typer.Option(min=1, show_default="none", help="Print all that was heard when nothing follows for this long."),
    ] = None
    decide: Annotated[
        str,
        expert(
            help="What the model is asked for: seq2seq (all marks of the last words) or classify (one mark at a time; "
            "for models trained with data.questions)."
        ),
    ] = "seq2seq"
    window: Annotated[int, expert(min=1, help="How many words the model reads at once; not with policy delay.")] = 32
    l_min: Annotated[
        int, expert(min=0, help="Policy entropy: decide when this many more words were heard, at the earliest.")
    ] = 1
    l_max: Annotated[
        int, expert(min=0, help="Policy entropy: decide when this many more words were heard, at the latest.")
    ] = 6
    threshold: Annotated[
        str,
        expert(
            help="Policy entropy: decide as soon as the model is less unsure than this (its entropy, in bits); "
            "0.2,0.4,...: one limit for each further word that was heard."
        ),
    ] = "0.5"
    every: Annotated[
        int, expert(min=1, help="Policy sentence: look for ends of sentences every time this many words were heard.")
    ] = 4
    after: Annotated[
        int, expert(min=0, help="Policy sentence: take an end for certain when this many words follow it.")
    ] = 4
    keep_marks: KeepMarks = False
    no_case: NoCase = False
    disfluencies: Disfluencies = "keep"

    def stream(self) -> StreamConfig:
        """Return when slots are decided.  Raises ConfigError for values that do not agree."""
        from ..streaming import StreamConfig

        return StreamConfig(**options_of(StreamConfig, self), thresholds=_numbers(self.threshold))

    def render(self) -> RenderConfig:
        """Return how words are written."""
        return RenderConfig(case=not self.no_case, keep_marks=self.keep_marks, disfluencies=self.disfluencies)

    def service_fields(self) -> dict[str, object]:
        """Return what differs from the defaults, as the fields of a service's request.

        Raises ConfigError for what a service decides for all its clients.
        """
        values = ((option, getattr(self, option.name)) for option in fields(self))
        asked = {option.name: value for option, value in values if value != option.default}
        for name in SERVICE_OPTIONS:
            if name in asked:
                raise ConfigError(
                    f"--{name} with --server", expected="the service's own", fix=f"give --{name} to t5punct serve"
                )
        return asked


@with_model_options
def stream(
    options: LiveOptions,
    timed: Annotated[
        bool,
        typer.Option("--timed", help='INPUT is lines of {"word": .., "start": .., "end": ..}, in seconds, or of Vosk.'),
    ] = False,
    provisional: Annotated[
        bool, typer.Option("--provisional", help="With --json: also the tail that may still change.")
    ] = False,
    as_json: Json = False,
    server: Annotated[
        str | None,
        typer.Option(
            show_default="none",
            metavar="ADDRESS",
            help="Let a service decide, such as ws://127.0.0.1:8008 of `t5punct serve`; over lost connections no word "
            "is lost or comes twice.  Its token: the variable T5PUNCT_TOKEN.",
        ),
    ] = None,
) -> None:
    """Punctuate words as they arrive; what is printed never changes.

    INPUT is standard input: words with white space between, or, with --timed, lines of json.
    """
    if sys.stdin is None:
        raise InputError("standard input is closed", expected="an open one", fix="give the words through a pipe")
    note_waiting([STANDARD])
    with _Interruptible() as interrupt:  # also while libraries and the model are loaded
        from ..text.io.live import arrivals

        printer = _Printer(as_json)
        options.stream()  # a mistake is said before anything is loaded
        decide = _here if server is None else partial(_at, server)
        with decide(options, printer, provisional) as say:
            source = arrivals(
                sys.stdin.fileno(), timed=timed, silence_ms=options.max_delay_ms, stop=interrupt.descriptor
            )
            n_problems = _say_all(source, say)
        printer.end()
    report_removed(printer.removed, printer.n_words, options.disfluencies)
    if n_problems and not printer.n_words:
        raise typer.Exit(2)
    if interrupt.received:
        raise typer.Exit(128 + interrupt.received[0])


def _say_all(source: Iterable[Arrival], say: Say) -> int:
    """Say words as they arrive, and silences; the number of lines that could not be read."""
    n_problems = 0
    for arrival in source:
        if arrival.problem:  # one bad line is no reason to lose the words after it
            typer.echo(f"t5punct: {arrival.problem}", err=True)
            n_problems += 1
        else:
            say(arrival.words)
    return n_problems


@contextmanager
def _here(options: LiveOptions, printer: _Printer, provisional: bool) -> Iterator[Say]:
    """Decide in this process; gives what words, or a silence, are said to."""
    from ..streaming import Committed, StreamingPunctuator
    from ..streaming.events import committed_events, provisional_event

    punctuator = options.punctuator(options.render())
    live = StreamingPunctuator(punctuator, options.stream())
    warn_of_language = _LanguageWarning(punctuator.model.name)

    def tell(commit: Callable[[], Sequence[Committed]]) -> None:
        started = time.perf_counter()
        words = commit()
        spent_ms = round(1000 * (time.perf_counter() - started), 1)
        for event in committed_events(words, printer.n_chars, spent_ms)[0]:
            printer.put(event)

    def say(words: Sequence[TimedWord]) -> None:
        for word in words:  # each word is printed as soon as it can be
            tell(partial(live.push, [word]))
            warn_of_language.hear(word.word)
        if not words:
            tell(live.flush)
        if provisional:
            printer.put(provisional_event(live.provisional()))

    yield say
    tell(live.finish)
    warn_of_language.look()


class _LanguageWarning:
    """Warns once, while a stream begins, of a language that the model does not know."""

    def __init__(self, model_name: str) -> None:
        self._model_name, self._heard, self._is_told = model_name, list[str](), False

    def hear(self, word: str) -> None:
        """Take a word; look whenever there are some more of the first ones."""
        if len(self._heard) < _MOST_HEARD:
            self._heard.append(word)
            if not len(self._heard) % _LOOK_EVERY:
                self.look()

    def look(self) -> None:
        """Warn if the words so far are in such a language, and nobody was told yet."""
        from ..model import unknown_language

        warning = None if self._is_told else unknown_language(self._model_name, self._heard)
        if warning:
            self._is_told = True
            _log.warning("the words seem to be in %s", warning)


@contextmanager
def _at(server: str, options: LiveOptions, printer: _Printer, provisional: bool) -> Iterator[Say]:
    """Let a service decide."""
    need("serve")
    from ..serve.client import RemoteStream, stream_address
    from ..serve.requests import FLUSH, words_message

    asked = {**options.service_fields(), **({"provisional": True} if provisional else {})}
    token = os.environ.get("T5PUNCT_TOKEN")
    with RemoteStream(stream_address(server, asked), printer.put, token) as remote:
        yield lambda words: remote.say(words_message(words) if words else FLUSH)


class _Interruptible:
    """Makes an interrupt, a termination or a hang-up end the input: what was heard is still worked on.

    The same signal once more ends everything.  `descriptor` can be read from once one has come.
    """

    def __enter__(self) -> _Interruptible:
        self.received: list[int] = []
        self.descriptor, self._told = os.pipe()
        signals = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # under `nohup` it goes on
            signals.append(signal.SIGHUP)
        self._before = {number: signal.signal(number, self._stop) for number in signals}
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self.descriptor)
        os.close(self._told)

    def _stop(self, signal_number: int, frame: object) -> None:
        if signal_number in self.received:
            raise KeyboardInterrupt
        self.received.append(signal_number)
        os.write(self._told, b"!")


class _Printer:
    """Writes what is final, flushed at once."""

    def __init__(self, as_json: bool) -> None:
        # bytes that are no UTF-8 come out as they came in; json names them, \udcff for the byte ff
        errors = "backslashreplace" if as_json else "surrogateescape"
        self._as_json, self._out = as_json, standard_output(errors)
        self.n_chars = self.n_words = 0  # of what is written without --json
        self.removed: Counter[str] = Counter()

    def put(self, event: Mapping[str, Any]) -> None:
        """Print an event, as json or as the text of its word."""
        import json

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


def _numbers(text: str) -> list[float]:
    try:
        return [float(number) for number in text.split(",")]
    except ValueError as error:
        raise ConfigError(f"threshold {text!r}", expected="a number, or several with commas", fix="use 0.5") from error
