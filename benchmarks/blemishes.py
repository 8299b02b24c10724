"""What a reader minds most, counted: `!` behind plain lines, ends that no sentence has, capitals behind a comma.

    python benchmarks/blemishes.py TEXT --models large base small

TEXT has marks and capitals; its first words (`--max-words`) are read in lower case without marks, and so are the
lectures in tests/data/lectures.  The plain lines are below; a person would write none of them with `!`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from rich.console import Console

from t5punct.errors import T5PunctError
from t5punct.punctuator import Punctuator
from t5punct.text.marks import ends_sentence
from t5punct.text.render import AnnotatedWord
from t5punct.text.words import Word, split

LECTURES = Path(__file__).parent.parent / "tests" / "data" / "lectures"
PLAIN_LINES = (
    "hi there", "sit down", "this is a test", "the train is late", "i will be there at nine", "please close the door",
    "it is raining", "she works at the library", "we moved last year", "my name is anna", "call me tomorrow",
    "the meeting is at ten", "i do not know", "he went home", "thanks for the report", "see you on monday",
    "take the second street on the left", "there is milk in the fridge", "the file is attached", "i agree",
    "good morning", "let us begin", "turn to page nine", "the shop is closed", "he is my brother", "it costs one euro",
    "we will see", "that is all for today", "you can leave it here", "the answer is seven", "i have two questions",
    "they live in the north", "wait for me", "it was a long day", "this one is mine", "put it on the table",
    "the water is cold", "i think so too", "not yet", "that makes sense",
)  # fmt: skip


@dataclass(frozen=True)
class Blemishes:
    """Counts of one model; `ends`: how many sentence ends it writes, of which `wrong_ends` are none."""

    shouted_lines: int
    wrong_ends: int
    ends: int
    capitals: int
    words: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("text", type=Path)
    parser.add_argument("--models", nargs="+", default=["large", "base", "small"])
    parser.add_argument("--max-words", type=int, default=10_000)
    options = parser.parse_args()
    lines = [
        "| model | plain lines with `!` | wrong ends of 100 in lectures | capitals behind a comma, of 10,000 words |",
        "| --- | --- | --- | --- |",
    ]
    try:
        text = split(options.text.read_text(encoding="utf-8")).words[: options.max_words]
        for model in options.models:
            counts = count_blemishes(Punctuator(model), text)
            wrong = 100 * counts.wrong_ends / max(1, counts.ends)
            capitals = 10_000 * counts.capitals / max(1, counts.words)
            lines.append(
                f"| {model} | {counts.shouted_lines} of {len(PLAIN_LINES)} | {wrong:.1f} "
                f"({counts.wrong_ends} of {counts.ends}) | {capitals:.1f} |"
            )
    except (T5PunctError, OSError) as error:
        parser.exit(2, f"{error}\n")
    Console(soft_wrap=True).print("\n".join(lines))


def count_blemishes(punctuator: Punctuator, text: Sequence[Word]) -> Blemishes:
    """Count what a model writes wrongly in the plain lines, the lectures and a text."""
    shouted = sum("!" in line for line in punctuator.punctuate_many(PLAIN_LINES))
    wrong_ends = ends = 0
    for path in sorted(LECTURES.glob("*.txt")):
        lecture = split(path.read_text(encoding="utf-8")).words
        is_end = [ends_sentence(word.marks) for word in decide(punctuator, lecture)]
        ends += sum(is_end)
        wrong_ends += sum(here and not ends_sentence(word.marks) for here, word in zip(is_end, lecture, strict=True))
    return Blemishes(shouted, wrong_ends, ends, capitals_behind_commas(decide(punctuator, text), text), len(text))


def decide(punctuator: Punctuator, words: Sequence[Word]) -> list[AnnotatedWord]:
    """Return words as a model writes them that has read them in lower case and without marks."""
    (annotated,) = punctuator.annotate_texts([[Word(word.core.lower()) for word in words]])
    return annotated


def capitals_behind_commas(written: Sequence[AnnotatedWord], text: Sequence[Word]) -> int:
    """Count words behind a comma with a capital that the text gives them nowhere inside a sentence."""
    inside = {
        word.core for before, word in pairwise(text) if word.core[:1].isupper() and not ends_sentence(before.marks)
    }
    return sum(
        "," in before.marks and here.text[:1].isupper() and word.core[:1].islower() and word.core.title() not in inside
        for (before, here), word in zip(pairwise(written), text[1:], strict=True)
    )


if __name__ == "__main__":
    main()
