"""Whole texts: words a second by model, decoder and precision, in one run.

`python benchmarks/speed.py test2011.tsv --ways base,slots,fp32 base,encoder,fp32 small,slots,bf16`; prints a table.

A way is a model, a decoder and a precision.  Besides the usual decoders, `decoder` is `slots` without the tagger's
share, and `encoder` does nothing but encode the windows.

The ways take turns, since others may share the machine; the first turn is to warm up, and is not counted.  Compare
figures of one run only.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from t5punct import DecodingConfig, Punctuator
from t5punct.cli.process import keep_freed_memory, keep_objects
from t5punct.cli.threads import use_threads
from t5punct.decoding.batching import batch_by_length
from t5punct.decoding.inputs import encoder_input, sources_of
from t5punct.text.words import words_of
from t5punct.windows.plan import iter_pools, iter_views

_POOL_TOKENS = 8192  # windows with about so many words are sorted by length together


@dataclass(frozen=True)
class Way:
    """How a text is read: a bundled model's name or a folder, a decoder, a precision."""

    model: str
    decoder: str
    precision: str

    @classmethod
    def of(cls, text: str) -> Way:
        model, decoder, precision = text.split(",")
        return cls(model, decoder, precision)

    def reader(self) -> Callable[[str], object]:
        """What reads a whole text in this way."""
        name = {"decoder": "slots", "encoder": "tagger"}.get(self.decoder, self.decoder)
        config = DecodingConfig(name, precision=self.precision)
        if self.decoder == "decoder":
            config = replace(config, tagger_share=0.0)
        punctuator = Punctuator.from_pretrained(self.model).with_config(decoding=config)
        return (lambda text: _encode(punctuator, text)) if self.decoder == "encoder" else punctuator.punctuate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path, help="text, or IWSLT word TAB label")
    parser.add_argument("--words", type=int, default=9000)
    parser.add_argument("--ways", type=Way.of, nargs="+", required=True, metavar="MODEL,DECODER,PRECISION")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=3, help="and one to warm up")
    options = parser.parse_args()
    use_threads(options.threads)
    keep_freed_memory()  # as the command does
    lines = options.data.read_text(encoding="utf-8").splitlines()
    words = [word for line in lines for word in line.partition("\t")[0].split()][: options.words]
    speeds = measured(options.ways, " ".join(words), options.turns)
    print(f"| model | decoder | precision | words/s | times {', '.join(vars(options.ways[0]).values())} |")
    print("| --- | --- | --- | --- | --- |")
    for way, speed in speeds.items():
        ratio = speed / speeds[options.ways[0]]
        print(f"| {way.model} | {way.decoder} | {way.precision} | {speed:,.0f} | {ratio:.2f} |")


def measured(ways: list[Way], text: str, n_turns: int) -> dict[Way, float]:
    """Words a second of each way: the median of its turns."""
    readers = {way: way.reader() for way in ways}
    keep_objects()
    seconds: dict[Way, list[float]] = {way: [] for way in ways}
    for turn in range(n_turns + 1):
        for way, read in readers.items():
            began = time.perf_counter()
            read(text)
            if turn:
                seconds[way].append(time.perf_counter() - began)
    return {way: len(text.split()) / statistics.median(times) for way, times in seconds.items()}


@torch.inference_mode()
def _encode(punctuator: Punctuator, text: str) -> None:
    """One encoder pass over the windows that `punctuate` would read, in batches as large."""
    model, config = punctuator.model, punctuator.config
    for seen in iter_pools(iter_views(words_of(text), config.windows), _POOL_TOKENS):
        sources = sources_of([punctuator.window_input(view.words) for view in seen], model, config.decoding.style)
        for batch in batch_by_length([len(source.ids) for source in sources], config.decoding.batch_tokens):
            inputs = encoder_input([sources[index] for index in batch], model)
            model.encode(inputs.input_ids, inputs.attention_mask)


if __name__ == "__main__":
    main()
