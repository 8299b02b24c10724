"""How far the model bears what real input is like: each change of the same text, and what it costs.

`python benchmarks/robustness.py dev2012.tsv --max-words 20000 --output docs/results/robustness.md` scores the slots of
the file's own words.  What a change puts in (fillers, repetitions) belongs to the word before it: a mark behind either
counts for that word.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from studies import p_text

from t5punct import __version__
from t5punct.errors import T5PunctError
from t5punct.evaluation.counts import Counts
from t5punct.evaluation.references import read_references
from t5punct.evaluation.scores import Scores, scores_of
from t5punct.evaluation.significance import paired_test
from t5punct.model import BUNDLED
from t5punct.punctuator import Punctuator
from t5punct.text.marks import Alphabet
from t5punct.text.render import AnnotatedWord
from t5punct.text.words import Word
from t5punct.training.examples.disfluencies import FILLERS

_SHARE = 0.03  # of the words that something befalls

Heard = list[list[Word]]  # for each word of the text, what is heard of it: itself first, then what was put in


@dataclass(frozen=True)
class Row:
    """A change, and the counts of every stretch of the text."""

    name: str
    counts: tuple[Counts, ...]

    @property
    def scores(self) -> Scores:
        return scores_of(sum(self.counts, Counts()))


def _as_it_is(words: Sequence[Word], rng: random.Random) -> Heard:
    return [[word] for word in words]


def _in_capitals(words: Sequence[Word], rng: random.Random) -> Heard:
    return [[replace(word, text=word.text.upper())] for word in words]


def _capitalised(words: Sequence[Word], rng: random.Random) -> Heard:
    return [[replace(word, text=word.text.capitalize())] for word in words]


def _with_fillers(words: Sequence[Word], rng: random.Random) -> Heard:
    return [[word, *map(Word, rng.choice(FILLERS) if rng.random() < _SHARE else ())] for word in words]


def _with_repetitions(words: Sequence[Word], rng: random.Random) -> Heard:
    return [[word, word] if rng.random() < _SHARE else [word] for word in words]


def _with_wrong_words(words: Sequence[Word], rng: random.Random) -> Heard:
    return [[rng.choice(words) if rng.random() < 2 * _SHARE else word] for word in words]


CHANGES: dict[str, Callable[[Sequence[Word], random.Random], Heard]] = {
    "as it is": _as_it_is,
    "ALL CAPITALS": _in_capitals,
    "Every Word Capitalised": _capitalised,
    "fillers (um, you know) behind 3 % of the words": _with_fillers,
    "3 % of the words said twice": _with_repetitions,
    "6 % of the words wrong": _with_wrong_words,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", type=Path)
    parser.add_argument("--max-words", type=int)
    parser.add_argument("--model")
    parser.add_argument("--output", type=Path, default=Path("docs/results/robustness.md"))
    options = parser.parse_args()
    try:
        punctuator = Punctuator.from_pretrained(options.model)
        rows = [score(punctuator, options.file, name, options.max_words) for name in CHANGES]
    except T5PunctError as error:
        parser.exit(2, f"{error}\n")
    text = page(rows, options.model or BUNDLED, options.file.name, options.max_words)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(text, encoding="utf-8")
    Console().print(text)


def score(punctuator: Punctuator, file: Path, name: str, max_words: int | None) -> Row:
    """Return the counts of a file that was changed."""
    counts: list[Counts] = []
    alphabet = punctuator.model.task.alphabet
    for reference in read_references(file, alphabet, max_words=max_words):
        heard = CHANGES[name](reference.words, random.Random(1))
        words = [word for some in heard for word in some]
        annotated = iter(punctuator.annotate_texts([words])[0])
        folded = [_folded([next(annotated) for _ in some]) for some in heard]
        counts += reference.counts(
            [
                _spelled(annotated_word, word, alphabet)
                for annotated_word, word in zip(folded, reference.words, strict=True)
            ]
        )
    return Row(name, tuple(counts))


def _folded(words: Sequence[AnnotatedWord]) -> AnnotatedWord:
    """Return a word with the first mark behind it, or behind the words that were inserted after it."""
    return replace(words[0], marks=next((word.marks for word in words if word.marks), ""))


def _spelled(decided: AnnotatedWord, word: Word, alphabet: Alphabet) -> AnnotatedWord:
    """Return a decision, on the word that stood there: wrong words are no changed words."""
    return replace(decided, word=word.text, text=word.with_marks(decided.marks, alphabet=alphabet))


def page(rows: Sequence[Row], model: str, file: str, max_words: int | None) -> str:
    lines = [
        "# Robustness",
        "",
        f"Of {model}, on {f'{max_words:,} words of ' if max_words else ''}{file}, changed at random in one way",
        "each: micro F1 on the slots of the file's own words, and the p of a paired test against the text as it is.",
        f"t5punct {__version__}; written by `python benchmarks/robustness.py`.",
        "",
        "| the text | micro F1 | loss (p) | comma | period | question |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    first = rows[0]
    for row in rows:
        loss = (first.scores.micro.f1 or 0.0) - (row.scores.micro.f1 or 0.0)
        p = paired_test(first.counts, row.counts)
        classes = " | ".join(f"{values.f1 or 0.0:.1f}" for values in row.scores.per_class.values())
        lost = f"{loss:.1f} ({p_text(p)})" if row is not first else ""
        lines.append(f"| {row.name} | {row.scores.micro.f1:.1f} | {lost} | {classes} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
