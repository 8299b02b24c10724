"""Speed of the decoders on one text in one run: `make bench`, or `python benchmarks/decoders.py --words 600`.

Prints words per second of step-by-step slot decoding, greedy and beam-4 generation, and of a bare encoder pass
(the limit that a tagger has), each as a ratio to greedy generation; writes the same to build/decoders.json.
Compare numbers within one run only: the machines are noisy.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from t5punct.decoding.generate import generate_texts
from t5punct.decoding.inputs import WindowInput, encoder_input
from t5punct.decoding.slots import decode_slots
from t5punct.model import Model, load

LECTURE = Path(__file__).parents[1] / "tests" / "data" / "lecture.txt"


@dataclass(frozen=True)
class Speed:
    decoder: str
    words_per_second: float
    ratio_to_greedy: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default=None)
    parser.add_argument("--words", type=int, default=2048)
    parser.add_argument("--window", type=int, default=64)
    parser.add_argument("--batch-windows", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=3, help="each decoder's best time counts")
    parser.add_argument("--output", type=Path, default=Path("build/decoders.json"))
    options = parser.parse_args()
    speeds = measure(load(options.model), options)
    for speed in speeds:
        print(f"{speed.decoder:<18}{speed.words_per_second:>10.0f} words/s {speed.ratio_to_greedy:>8.2f} x greedy")
    options.output.parent.mkdir(exist_ok=True)
    options.output.write_text(json.dumps([asdict(speed) for speed in speeds], indent=2) + "\n", encoding="utf-8")


def measure(model: Model, options: argparse.Namespace) -> list[Speed]:
    """Time every decoder on the same windows."""
    words = LECTURE.read_text(encoding="utf-8").split()
    words = (words * (options.words // len(words) + 1))[: options.words]
    windows = [WindowInput.of(words[i : i + options.window]) for i in range(0, len(words), options.window)]
    batches = [windows[i : i + options.batch_windows] for i in range(0, len(windows), options.batch_windows)]
    decoders: dict[str, Callable[[list[WindowInput]], object]] = {
        "generate, greedy": lambda batch: generate_texts(model, batch),
        "generate, beam 4": lambda batch: generate_texts(model, batch, beams=4),
        "slots, reference": lambda batch: decode_slots(model, batch),
        "encoder alone": lambda batch: _encode(model, batch),
    }
    rates = {}
    for name, decode in decoders.items():
        times = []
        for _ in range(options.repeats):
            started = time.perf_counter()
            for batch in batches:
                decode(batch)
            times.append(time.perf_counter() - started)
        rates[name] = len(words) / min(times)
    greedy = rates["generate, greedy"]
    return [Speed(name, rate, rate / greedy) for name, rate in rates.items()]


@torch.inference_mode()
def _encode(model: Model, batch: list[WindowInput]) -> object:
    source = encoder_input(batch, model, None)
    encoder = model.network.get_encoder()
    return encoder(input_ids=source.input_ids, attention_mask=source.attention_mask)


if __name__ == "__main__":
    main()
