"""Policy `delay` beside `fixed` and `entropy`: F1 at the same delay, and what a word costs.

`python benchmarks/delay.py iwslt/test2011.tsv --model runs/delay` prints a table; ratios are of one run on one machine.
All three decide by the tagger of the same model; `--slots` adds `fixed` by slots, the default of a stream.

entropy: of some thresholds the one whose mean delay is nearest, with up to twice as many words waited for.  Time is
this process's processor time on one thread; multiply-adds are those of matrix products.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from stream_quality import Listened, Listener
from torch.utils.flop_counter import FlopCounterMode

from t5punct.decoding.inputs import DecodingConfig
from t5punct.evaluation.counts import Counts
from t5punct.evaluation.references import read_references
from t5punct.evaluation.scores import scores_of
from t5punct.model import load
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.streaming import StreamConfig, StreamingPunctuator

THRESHOLDS = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.3)  # bits
WINDOW = 32
WARM_WORDS = 64  # read before anything is timed, so that windows and caches are full
_INT8_PRODUCTS = (torch.ops.aten._int_mm, torch.ops.onednn.qlinear_pointwise)  # which one depends on the processor


@dataclass(frozen=True)
class Cost:
    """Of one word, on average."""

    cpu_ms: float
    mega_multiply_adds: float


@dataclass(frozen=True)
class Row:
    """A policy with one delay; without a cost where it was not measured."""

    name: str
    mean_delay: float
    f1: float | None
    cost: Cost | None


def quality(name: str, listened: Listened, cost: Cost | None) -> Row:
    return Row(name, listened.mean_delay, scores_of(sum(listened.counts, Counts())).micro.f1, cost)


def cost(punctuator: Punctuator, config: StreamConfig, words: Sequence[str]) -> Cost:
    """Word by word: once timed, once counted."""
    stream = StreamingPunctuator(punctuator, config)
    stream.push(words[:WARM_WORDS])
    state, timed = stream.state, words[WARM_WORDS:]
    started = time.process_time()
    for word in timed:
        stream.push([word])
    cpu_ms = 1000 * (time.process_time() - started) / len(timed)
    counted = timed[: max(1, len(timed) // 4)]
    # torch does not count products of int8 by itself
    counter = FlopCounterMode(display=False, custom_mapping=dict.fromkeys(_INT8_PRODUCTS, _int8_operations))
    again = StreamingPunctuator(punctuator, config, state)
    with counter:
        for word in counted:
            again.push([word])
    return Cost(cpu_ms, counter.get_total_flops() / 2e6 / len(counted))


def _int8_operations(left: Sequence[int], *_: object, out_shape: Sequence[int], **__: object) -> int:
    """Of a product of int8, by the shapes of its left side and of what comes out: as many as of one in float32."""
    return 2 * left[0] * left[1] * out_shape[1]


def rows(
    file: Path, model: str | None, lookaheads: Sequence[int], max_words: int, words: Sequence[str], slots: bool
) -> Iterator[Row]:
    """Yield all policies, one lookahead after the other; `words` are those that are timed, the first ones warm up."""
    tagger = Punctuator.from_pretrained(model, PunctuatorConfig(decoding=DecodingConfig("tagger")), device="cpu")
    listener = Listener(tagger, file, max_words)
    listener.read(WINDOW, 2 * max(lookaheads) + 1)
    for lookahead in lookaheads:
        fixed = StreamConfig(window=WINDOW, lookahead=lookahead)
        if slots:
            writer = tagger.with_config(decoding=DecodingConfig("slots"))
            yield quality("fixed, slots", Listener(writer, file, max_words).hear(fixed), cost(writer, fixed, words))
        for config in (fixed, replace(fixed, policy="delay")):
            yield quality(config.policy, listener.hear(config), cost(tagger, config, words))
        if lookahead:
            yield quality("entropy", _entropy(listener, lookahead), None)


def _entropy(listener: Listener, lookahead: int) -> Listened:
    heard = [
        listener.hear(StreamConfig("entropy", window=WINDOW, l_min=0, l_max=2 * lookahead, thresholds=[threshold]))
        for threshold in THRESHOLDS
    ]
    return min(heard, key=lambda measured: abs(measured.mean_delay - lookahead))


def main() -> None:
    parser = argparse.ArgumentParser(description="F1 against delay, and the cost of a word.")
    parser.add_argument("file", type=Path, help="IWSLT rows or punctuated text")
    parser.add_argument("--model", help="a model trained with data.delays; the bundled one without")
    parser.add_argument("--lookaheads", type=int, nargs="+", default=[0, 1, 2, 4, 8], help="words")
    parser.add_argument("--max-words", type=int, default=10_000, help="how much of the file is scored")
    parser.add_argument("--timed-words", type=int, default=200)
    parser.add_argument("--slots", action="store_true", help="also `fixed` with the decoder slots")
    options = parser.parse_args()
    alphabet = load(options.model).task.alphabet
    text = next(read_references(options.file, alphabet, max_words=WARM_WORDS + options.timed_words))
    words = [word.text for word in text.words]
    torch.set_num_threads(1)
    print("| policy | mean delay | micro F1 | ms a word | million multiply-adds a word | times less than fixed |")
    print("| --- | --- | --- | --- | --- | --- |")
    fixed = None
    for row in rows(options.file, options.model, options.lookaheads, options.max_words, words, options.slots):
        fixed = row if row.name == "fixed" else fixed
        f1 = "-" if row.f1 is None else f"{row.f1:.1f}"
        line = f"| {row.name} | {row.mean_delay:.2f} | {f1} |"
        if row.cost is not None:
            line += f" {row.cost.cpu_ms:.1f} | {row.cost.mega_multiply_adds:.0f} |"
            if fixed is not None and fixed.cost is not None and row.name == "delay":
                less = fixed.cost.cpu_ms / row.cost.cpu_ms
                line += f" {less:.1f} in time, {fixed.cost.mega_multiply_adds / row.cost.mega_multiply_adds:.1f} |"
        print(line, flush=True)


if __name__ == "__main__":
    main()
