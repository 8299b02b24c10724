"""Punctuate in forked processes after this one has punctuated: `forked.py MODEL`, with more than one thread.

Prints how many texts came out as they do here.
"""

import multiprocessing
import sys

import torch
from datasets import Dataset
from datasets.utils.logging import disable_progress_bar

from t5punct import BatchPunctuator, Punctuator

TEXTS = [f"how are you today {n} my name is maria and i teach biology at a small college" for n in range(4)]
disable_progress_bar()


def main(model: str) -> None:
    assert torch.get_num_threads() > 1, "else nothing could hang"
    forks = multiprocessing.get_context("fork")
    table, column = Dataset.from_dict({"text": TEXTS}), BatchPunctuator(model, precision="int8")
    expected = column({"text": TEXTS})["punctuated"]
    mapped = table.map(column, batched=True, batch_size=2, num_proc=2, load_from_cache_file=False)
    n_equal = sum(map(str.__eq__, mapped["punctuated"], expected))
    punctuator = Punctuator.from_pretrained(model, precision="fp32")
    expected = [punctuator.punctuate(text) for text in TEXTS]
    with forks.Pool(2) as pool:
        n_equal += sum(map(str.__eq__, pool.map(punctuator.punctuate, TEXTS, chunksize=2), expected))
    sys.stdout.write(f"{n_equal}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
