"""`t5punct stream`: words in as they arrive, words with marks out as soon as they are final.

In: words on standard input, or json events with times.  Out: committed words at once, or one json event a line.

`printf 'how are you today' | t5punct stream --lookahead 2` prints `How are you today?`, the first word when the third
has arrived.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from .options import Disfluencies, Json, KeepMarks, NoCase, StreamOptions, expert, with_model_options
from .removed import report_removed

if TYPE_CHECKING:
    from ..streaming import Committed, StreamingPunctuator
    from ..text.io.live import Arrival
    from ..text.render import AnnotatedWord


Policy = Annotated[
    str,
    typer.Option(
        help="When a slot is decided: fixed (after --lookahead words), delay (the same, by a tagger that reads each "
        "word once, with models that were trained so), entropy (as soon as the model is sure) or sentence (once a "
        "sentence's end is followed by some words)."
    ),
]
Decide = Annotated[
    str, expert(help="seq2seq (the window is written), or classify (a slot is asked about; for models trained so).")
]


@with_model_options
def stream(
    options: StreamOptions,
    policy: Policy = "fixed",
    lookahead: Annotated[int, typer.Option(min=0, help="Policies fixed and delay: words that must follow a slot.")] = 4,
    max_delay_ms: Annotated[
        int | None,
        typer.Option(min=1, show_default="none", help="A silence of this length commits everything that was heard."),
    ] = None,
    timed: Annotated[
        bool, typer.Option("--timed", help='INPUT is lines of {"word": .., "start": .., "end": ..}, in seconds.')
    ] = False,
    provisional: Annotated[
        bool, typer.Option("--provisional", help="With --json: also the tail that may still change.")
    ] = False,
    decide: Decide = "seq2seq",
    window: Annotated[int, expert(min=1, help="Words the model sees at once; not with policy delay.")] = 32,
    l_min: Annotated[int, expert(min=0, help="Policy entropy: the fewest words that must follow.")] = 1,
    l_max: Annotated[int, expert(min=0, help="Policy entropy: the most that are waited for.")] = 6,
    threshold: Annotated[
        str,
        expert(help="Policy entropy: decide at so many bits or fewer; or a number for each lookahead, 0.2,0.4,..."),
    ] = "0.5",
    every: Annotated[int, expert(min=1, help="Policy sentence: look once in so many words.")] = 4,
    after: Annotated[int, expert(min=0, help="Policy sentence: words that must follow a sentence's end.")] = 4,
    keep_marks: KeepMarks = False,
    no_case: NoCase = False,
    disfluencies: Disfluencies = "keep",
    as_json: Json = False,
) -> None:
    """Punctuate words as they arrive; what is printed never changes.

    INPUT is standard input: words with white space between, or, with --timed, lines of json.
    """
    from ..errors import InputError

    if sys.stdin is None:
        raise InputError("standard input is closed", expected="an open one", fix="give the words through a pipe")
    with _Interruptible() as interrupt:  # also while libraries and the model are loaded
        from ..streaming import StreamConfig, StreamingPunctuator
        from ..text.io.live import arrivals
        from ..text.render import RenderConfig

        thresholds = _numbers(threshold)
        config = StreamConfig(
            policy, decide, window, lookahead, l_min, l_max, thresholds, every, after, max_delay_ms=max_delay_ms
        )
        render = RenderConfig(case=not no_case, keep_marks=keep_marks, disfluencies=disfluencies)
        live = StreamingPunctuator(options.punctuator(render), config)
        printer = _Printer(as_json)
        source = arrivals(sys.stdin.fileno(), timed=timed, silence_ms=max_delay_ms, stop=interrupt.descriptor)
        n_problems = _print_all(source, live, printer, provisional)
    report_removed(printer.removed, live.state.n_committed, disfluencies)
    if n_problems and not live.state.n_seen:
        raise typer.Exit(2)
    if interrupt.received:
        raise typer.Exit(128 + interrupt.received[0])


def _print_all(source: Iterable[Arrival], live: StreamingPunctuator, printer: _Printer, provisional: bool) -> int:
    """Print words as they become final, to the last; the number of lines that could not be read."""
    n_problems = 0
    for arrival in source:
        if arrival.problem:  # one bad line is no reason to lose the words after it
            typer.echo(f"t5punct: {arrival.problem}", err=True)
            n_problems += 1
            continue
        for words in [[word] for word in arrival.words] or [[]]:  # each word is printed as soon as it can be
            started = time.perf_counter()
            printer.commit(live.push(words) if words else live.flush(), started)
        if provisional:
            printer.tail(live.provisional())
    started = time.perf_counter()
    printer.commit(live.finish(), started)
    printer.end()
    return n_problems


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
        from ..text.io.outputs import standard_output

        # bytes that are no UTF-8 come out as they came in; json names them, \udcff for the byte ff
        errors = "backslashreplace" if as_json else "surrogateescape"
        self._as_json, self._n_chars, self._out = as_json, 0, standard_output(errors)
        self.removed: Counter[str] = Counter()

    def commit(self, words: Sequence[Committed], started: float) -> None:
        """Print words; `started`: when the work on them began, by `time.perf_counter`."""
        import json

        from ..transcripts.words_out import seconds

        spent_ms = round(1000 * (time.perf_counter() - started), 1)
        for word in words:
            is_removed = word.annotated.is_removed
            if is_removed:
                self.removed[word.annotated.word.lower()] += 1
            space = " " * bool(self._n_chars and not is_removed)
            begin, end = self._n_chars + len(space), self._n_chars + len(space) + len(word.text)
            if self._as_json:
                event = {
                    **word.annotated.as_dict(),
                    **seconds(word.start_ms, word.end_ms),
                    "start_char": begin,  # in what is written without --json
                    "end_char": end,
                    "delay_words": word.delay_words,
                    "decision_ms": spent_ms,
                }
                self._write(json.dumps(event, ensure_ascii=False) + "\n")
            else:
                self._write(space + word.text)
            self._n_chars = end

    def tail(self, words: Sequence[AnnotatedWord]) -> None:
        import json

        texts = [word.text for word in words if not word.is_removed]
        self._write(json.dumps({"provisional": texts}, ensure_ascii=False) + "\n")

    def end(self) -> None:
        if self._n_chars and not self._as_json:
            self._write("\n")

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


def _numbers(text: str) -> list[float]:
    from ..errors import ConfigError

    try:
        return [float(number) for number in text.split(",")]
    except ValueError as error:
        raise ConfigError(f"threshold {text!r}", expected="a number, or several with commas", fix="use 0.5") from error
