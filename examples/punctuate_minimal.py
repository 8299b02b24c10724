"""Punctuate a text in one page: load a model, cut windows, read its token-classification head, write the words.

    python examples/punctuate_minimal.py tests/data/lecture.txt

This is `--decoder tagger` without the parts that real text needs (marks that are there already, names, titles, files,
an end of a sentence that is said twice).
"""

import sys
from pathlib import Path

import torch

from t5punct import model as models
from t5punct.model import Model
from t5punct.t5.tagger import TAGGED_CASES, states_at_words
from t5punct.text.marks import Case, ends_sentence
from t5punct.windows.plan import WindowConfig, views_of

WRITE = {Case.LOWER: str, Case.CAPITALISED: str.capitalize, Case.UPPER: str.upper}


@torch.inference_mode()
def labels_of(words: tuple[str, ...], model: Model) -> list[tuple[str, Case]]:
    """Return the mark behind each word of a window, and the word's case."""
    source = model.tokenizer.source(words, None)
    ids, ends = torch.tensor([source.ids]), torch.tensor([source.word_ends])
    states = model.encode(ids, torch.ones_like(ids))  # (1, n_tokens, d_model)
    marks, cases = model.tagger(states_at_words(states, ends))  # (1, n_words, n_marks + 1), (1, n_words, 3)
    marks = marks + model.tagger.log_odds(model.task.mark_odds, model.task.marks)
    best_marks, best_cases = marks[0].argmax(-1).tolist(), cases[0].argmax(-1).tolist()
    return [(model.tagger.mark_classes[m], TAGGED_CASES[c]) for m, c in zip(best_marks, best_cases, strict=True)]


def punctuate(text: str, model: Model, config: WindowConfig) -> str:
    """Return a text of bare words in lower case with marks and capitals; the words stay as they are."""
    labels = list[tuple[str, Case]]()
    for view in views_of(text.split(), config):
        window = view.window
        decided = slice(window.keep_start - window.start, window.keep_stop - window.start)
        labels += labels_of(view.words, model)[decided]
    written, begins = list[str](), True
    for word, (mark, case) in zip(text.split(), labels, strict=True):
        written.append(WRITE[Case.CAPITALISED if begins and case is Case.LOWER else case](word) + mark)
        begins = ends_sentence(mark)
    return " ".join(written)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: python {sys.argv[0]} FILE")
    windows = WindowConfig(window=64, stride=32, mask_left=16, mask_right=16)
    print(punctuate(Path(sys.argv[1]).read_text("utf-8"), models.load(), windows))
