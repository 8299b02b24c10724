"""Speed, passes and memory of the decoders in one run: `make bench`, or `python benchmarks/decoding.py --windows 64`.

Prints, for every window size and token budget: words per second, the ratio to greedy generation at its best budget
and to a bare tagger (encoder and one linear layer: the limit of any model that reads the words first), decoder passes
per window, and peak memory; says whether `slots` equals the step-by-step reference; writes the same as json.
Compare numbers within one run only: the machines are noisy.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from t5punct.decoding.batching import batch_by_length
from t5punct.decoding.generate import generate_texts
from t5punct.decoding.inputs import DecodingConfig, WindowInput, encoder_input, sources_of
from t5punct.decoding.precision import with_precision
from t5punct.decoding.slots import SlotDecoder
from t5punct.model import Model, load

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from stepwise import decode_stepwise

LECTURE = Path(__file__).parents[1] / "tests" / "data" / "lecture.txt"


Decoder = Callable[[Sequence[WindowInput]], float | None]


@dataclass(frozen=True)
class Measurement:
    """One decoder on one kind of batch."""

    decoder: str
    window: int
    batch_tokens: int
    words_per_second: float
    passes_per_window: float | None
    peak_mib: float | None


@dataclass(frozen=True)
class Row:
    """A measurement beside the two that it is compared with, at the same window size and their best budgets."""

    measured: Measurement
    to_greedy: float
    to_tagger: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default=None)
    parser.add_argument("--data", type=Path, default=LECTURE, help="text, or IWSLT word TAB label")
    parser.add_argument("--words", type=int, default=4096)
    parser.add_argument("--windows", type=int, nargs="+", default=[64, 128])
    parser.add_argument("--batch-tokens", type=int, nargs="+", default=[512, 2048, 8192])
    parser.add_argument("--precisions", nargs="+", default=["bf16", "int8"], help="beside fp32, for slots")
    parser.add_argument("--repeats", type=int, default=3, help="each decoder's best time counts")
    parser.add_argument("--no-beams", action="store_true", help="leave out beam search, the slowest")
    parser.add_argument("--output", type=Path, default=Path("build/decoding.json"))
    options = parser.parse_args()
    model, rows, same = load(options.model), list[Row](), list[bool]()
    for window in options.windows:
        windows, warm_up = _windows(options.data, options.words, window)
        same.append(_equal(model, windows))
        rows += _compared(list(_measure(model, windows, warm_up, window, options)))
    _show(rows, all(same))
    options.output.parent.mkdir(exist_ok=True)
    report = {"equal_to_stepwise": all(same), "threads": torch.get_num_threads(), "rows": [asdict(row) for row in rows]}
    options.output.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def _windows(path: Path, n_words: int, window: int) -> tuple[list[WindowInput], list[WindowInput]]:
    """The file's words without their labels, repeated as often as needed; and some of those that follow."""
    lines = path.read_text(encoding="utf-8").splitlines()
    words = [word for line in lines for word in line.partition("\t")[0].split()]
    n_all = n_words + n_words // 2
    words = (words * (n_all // len(words) + 1))[:n_all]
    inputs = [WindowInput.of(words[start : start + window]) for start in range(0, len(words), window)]
    n_windows = -(-n_words // window)
    return inputs[:n_windows], inputs[n_windows:]


def _equal(model: Model, windows: Sequence[WindowInput]) -> bool:
    """Whether slots and reference choose the same label and case everywhere."""
    solutions = SlotDecoder(model).decode(windows)
    wanted = [
        votes for start in range(0, len(windows), 32) for votes in decode_stepwise(model, windows[start : start + 32])
    ]
    return all(
        (vote.labels.best, vote.cases.best) == (wanted_vote.labels.best, wanted_vote.cases.best)
        for solution, votes in zip(solutions, wanted, strict=True)
        for vote, wanted_vote in zip(solution.votes, votes, strict=True)
    )


def _measure(
    model: Model,
    windows: Sequence[WindowInput],
    warm_up: Sequence[WindowInput],
    window: int,
    options: argparse.Namespace,
) -> Iterator[Measurement]:
    """Every decoder with every budget; they take turns, so that noise hits all alike.

    Each begins anew every time, and reads `other` windows before it is timed: it is measured in the middle of a text.
    """
    precise = {"fp32": model}
    for name in options.precisions:
        precise[name] = with_precision(model, name)
    for batch_tokens in options.batch_tokens:
        makers = _makers(precise, batch_tokens, beams=not options.no_beams)
        times: dict[str, list[float]] = {name: [] for name in makers}
        passes: dict[str, float | None] = {}
        peaks: dict[str, float | None] = {}
        for _ in range(options.repeats):
            for name, make in makers.items():
                decode = make()
                decode(warm_up)
                _reset_peak()
                started = time.perf_counter()
                passes[name] = decode(windows)
                times[name].append(time.perf_counter() - started)
                peaks[name] = _peak_mib()
        n_words = sum(len(window.words) for window in windows)
        for name in makers:
            speed = n_words / min(times[name])
            yield Measurement(name, window, batch_tokens, round(speed, 1), passes[name], peaks[name])


def _makers(precise: dict[str, Model], batch_tokens: int, *, beams: bool) -> dict[str, Callable[[], Decoder]]:
    """For each decoder, what makes a new one."""
    model, config = precise["fp32"], DecodingConfig(batch_tokens=batch_tokens)
    wide = DecodingConfig("generate", beams=4, batch_tokens=batch_tokens)

    def slots(precise_model: Model) -> Decoder:
        decoder = SlotDecoder(precise_model, config)
        return lambda windows: _slots(decoder, windows)

    decoders: dict[str, Callable[[], Decoder]] = {
        "tagger": lambda: lambda windows: _tag(model, windows, batch_tokens),
        "generate, greedy": lambda: lambda windows: _none(generate_texts(model, windows, config)),
        "slots, step by step": lambda: lambda windows: _stepwise(model, windows, config),
        **{f"slots, {name}": partial(slots, precise_model) for name, precise_model in precise.items()},
    }
    if beams:
        decoders["generate, beam 4"] = lambda: lambda windows: _none(generate_texts(model, windows, wide))
    return decoders


def _slots(decoder: SlotDecoder, windows: Sequence[WindowInput]) -> float:
    solutions = decoder.decode(windows)
    return round(sum(solution.n_passes for solution in solutions) / len(solutions), 2)


def _stepwise(model: Model, windows: Sequence[WindowInput], config: DecodingConfig) -> None:
    lengths = [len(source.ids) for source in sources_of(windows, model)]
    for batch in batch_by_length(lengths, config.batch_tokens):
        decode_stepwise(model, [windows[index] for index in batch])


@torch.inference_mode()
def _tag(model: Model, windows: Sequence[WindowInput], batch_tokens: int) -> None:
    """What a tagger does: one encoder pass, one linear layer on each word's last state, the best class."""
    sources = sources_of(windows, model)
    layer = torch.nn.Linear(model.network.config.d_model, 32)  # 8 labels x 4 cases
    for batch in batch_by_length([len(source.ids) for source in sources], batch_tokens):
        chosen = [sources[index] for index in batch]
        inputs = encoder_input(chosen, model)
        states = model.network.get_encoder()(
            input_ids=inputs.input_ids, attention_mask=inputs.attention_mask
        ).last_hidden_state
        rows = [row for row, source in enumerate(chosen) for _ in source.word_ends]
        ends = [end for source in chosen for end in source.word_ends]
        layer(states[rows, ends]).argmax(-1).tolist()


def _none(_: object) -> None:
    return None


def _compared(measurements: Sequence[Measurement]) -> list[Row]:
    def best(name: str) -> float:
        return max(measurement.words_per_second for measurement in measurements if measurement.decoder == name)

    greedy, tagger = best("generate, greedy"), best("tagger")
    return [
        Row(
            measurement,
            round(measurement.words_per_second / greedy, 2),
            round(measurement.words_per_second / tagger, 2),
        )
        for measurement in measurements
    ]


def _reset_peak() -> None:
    """Linux can forget the largest memory a process has had; elsewhere no peak is reported."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        pass


def _peak_mib() -> float | None:
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    return round(int(status.partition("VmHWM:")[2].split()[0]) / 1024, 1)


def _show(rows: Sequence[Row], equal: bool) -> None:
    table = Table("window", "batch tokens", "decoder", "words/s", "x greedy", "x tagger", "passes", "peak MiB")
    for row in sorted(rows, key=lambda row: (row.measured.window, row.measured.decoder, row.measured.batch_tokens)):
        measured = row.measured
        values = (
            measured.window,
            measured.batch_tokens,
            measured.decoder,
            f"{measured.words_per_second:.0f}",
            row.to_greedy,
            row.to_tagger,
        )
        table.add_row(*map(str, values), str(measured.passes_per_window or "-"), str(measured.peak_mib or "-"))
    console = Console(width=110)
    console.print(table)
    console.print(f"slots equals the step-by-step reference on every window: {equal}")


if __name__ == "__main__":
    main()
