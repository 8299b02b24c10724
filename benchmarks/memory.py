"""What memory does as a long text is punctuated: held by the process, and in use by it.

`python benchmarks/memory.py TEXT --precision fp32` prints, every 10,000 words, the resident memory, what C code has in
use (tensors, kernels), and what the allocator keeps for the next ones, all in MiB.  For Linux with glibc 2.33 or later.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
from pathlib import Path

import psutil
from rich.console import Console

from t5punct.decoding.inputs import DecodingConfig
from t5punct.decoding.precision import PRECISIONS
from t5punct.punctuator import Punctuator, PunctuatorConfig

_FIELDS = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"  # of glibc's mallinfo2


class _Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in _FIELDS.split()]


def main() -> None:
    parser = argparse.ArgumentParser(description="What memory does as a long text is punctuated.")
    parser.add_argument("text", type=Path, help="a text of a paragraph a line")
    parser.add_argument("--model", default="small")
    parser.add_argument("--decoder", default="tagger")
    parser.add_argument("--precision", choices=PRECISIONS, default="fp32")
    parser.add_argument("--every-words", type=int, default=10_000)
    options = parser.parse_args()
    allocator = ctypes.CDLL(None).mallinfo2
    allocator.restype = _Mallinfo2
    config = PunctuatorConfig(decoding=DecodingConfig(options.decoder))
    punctuator = Punctuator.from_pretrained(options.model, config, precision=options.precision)
    console, n_words, said = Console(), 0, 0
    console.print(
        "| words | resident, MiB | in use by C code, MiB | kept for the next, MiB |\n| --- | --- | --- | --- |"
    )
    with options.text.open(encoding="utf-8") as lines:
        for text in punctuator.punctuate_many(lines):
            n_words += len(text.split())
            if n_words < said + options.every_words:
                continue
            said = n_words
            gc.collect()
            in_allocator, resident = allocator(), psutil.Process().memory_info().rss
            sizes = (
                size / 2**20 for size in (resident, in_allocator.uordblks + in_allocator.hblkhd, in_allocator.fordblks)
            )
            console.print(f"| {n_words:,} | {' | '.join(f'{size:.0f}' for size in sizes)} |", soft_wrap=True)


if __name__ == "__main__":
    main()
