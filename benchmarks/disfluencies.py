"""How well disfluent words are found: precision, recall and F1, beside a rule that needs no model.

`python benchmarks/disfluencies.py --model base` scores the rule and, with a model, its decoders on
tests/data/disfluencies.tsv, which was written by hand for this.  `--text held-out.txt` adds punctuated text, one
document a line, into which disfluencies are put as in training (configs/large-3-read.yaml).

The rule: a list of fillers, and one or two words that are said twice.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from t5punct import config
from t5punct.decoding.inputs import DecodingConfig
from t5punct.errors import T5PunctError
from t5punct.evaluation.counts import Counts, Slot, count
from t5punct.evaluation.scores import scores_of
from t5punct.evaluation.significance import interval
from t5punct.punctuator import Punctuator
from t5punct.text.io.files import lines_of_file
from t5punct.text.io.iwslt import TO_BE_LEFT_OUT, read_rows
from t5punct.text.marks import DISFLUENT
from t5punct.text.render import RenderConfig
from t5punct.text.words import Word, split
from t5punct.training.config import TrainConfig
from t5punct.training.examples.disfluencies import SOUNDS, ChunkWord, DisfluencyConfig, add_disfluencies

ROOT = Path(__file__).parents[1]
FILLERS = (*((sound,) for sound in sorted(SOUNDS)), ("you", "know"), ("i", "mean"))
ON_PURPOSE = frozenset(("had", "that", "very", "really", "so", "no", "yes", "bye", "is", "long"))
STRETCH_WORDS = 200  # intervals are drawn over these


@dataclass(frozen=True)
class Said:
    """Words without marks, and whether each is to be left out."""

    words: tuple[str, ...]
    disfluent: tuple[bool, ...]


def by_rule(words: Sequence[str]) -> list[bool]:
    """Return the rule's marks for some words."""
    is_disfluent = [False] * len(words)
    for place in range(len(words)):
        for filler in FILLERS:
            if tuple(words[place : place + len(filler)]) == filler:
                is_disfluent[place : place + len(filler)] = [True] * len(filler)
        for n_words in (1, 2):
            once, again = words[place : place + n_words], words[place + n_words : place + 2 * n_words]
            if list(once) == list(again) and once[0] not in ON_PURPOSE and not once[0].isdecimal():
                is_disfluent[place : place + n_words] = [True] * n_words
    return is_disfluent


def by_model(punctuator: Punctuator, words: Sequence[str]) -> list[bool]:
    (annotated,) = punctuator.annotate_texts([[Word(word) for word in words]])
    return [bool(word.disfluent) for word in annotated]


def written_by_hand(path: Path) -> Said:
    rows = read_rows(path)
    return Said(tuple(row.word for row in rows), tuple(row.label_class == TO_BE_LEFT_OUT for row in rows))


def synthetic(path: Path, settings: DisfluencyConfig, max_words: int) -> Said:
    """Return text with disfluencies as in training, those of the next document's words among them."""
    rng = random.Random(1)
    documents = [list(_written(line)) for line in lines_of_file(path) if line.strip()]
    heard = (
        word
        for place, words in enumerate(documents)
        for word in add_disfluencies(words, settings, rng, documents[place - 1], DISFLUENT)
    )
    words = list(islice(heard, max_words))
    return Said(tuple(word.read for word in words), tuple(word.marks == DISFLUENT for word in words))


def _written(line: str) -> Iterator[ChunkWord]:
    return (ChunkWord(word.normal, word.core, word.marks) for word in split(line).words if word.has_slot)


def row(name: str, said: Said, is_disfluent: Sequence[bool]) -> str:
    """Return a line of the table: percent, with the interval of F1."""
    pairs = list(zip(said.disfluent, is_disfluent, strict=True))
    parts = [pairs[start : start + STRETCH_WORDS] for start in range(0, len(pairs), STRETCH_WORDS)]
    counts = [
        count([Slot("", disfluent=a) for a, _ in part], [Slot("", disfluent=b) for _, b in part]) for part in parts
    ]
    scores = scores_of(sum(counts, Counts())).disfluent
    spread = interval(counts, lambda counts: scores_of(counts).disfluent.f1 or 0.0)
    values = (scores.precision, scores.recall, scores.f1)
    shown = " | ".join("-" if value is None else f"{value:.1f}" for value in values)
    between = "-" if spread is None else f"{spread.low:.1f} to {spread.high:.1f}"
    return f"| {name} | {shown} | {between} | {scores.reference} of {len(pairs)} |"


ROWS = ROOT / "tests" / "data" / "disfluencies.tsv"
MAX_WORDS = 20_000  # of a text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", help="one that knows disfluencies; without it, only the rule is scored")
    parser.add_argument("--text", type=Path, help="punctuated text that no model was trained on")
    options = parser.parse_args()
    try:
        texts = {ROWS.name: written_by_hand(ROWS)}
        if options.text is not None:
            settings = config.load(TrainConfig, ROOT / "configs" / "large-3-read.yaml").data.disfluencies
            texts[f"{options.text.name}, synthetic"] = synthetic(options.text, settings, MAX_WORDS)
        print("| text | found by | precision | recall | F1 | F1, 95 % | disfluent words |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for name, said in texts.items():
            print(row(f"{name} | rule", said, by_rule(said.words)), flush=True)
            for decoder in ("slots", "tagger") if options.model else ():
                punctuator = Punctuator.from_pretrained(options.model).with_config(
                    decoding=DecodingConfig(decoder), render=RenderConfig(disfluencies="mark")
                )
                print(row(f"{name} | {decoder}", said, by_model(punctuator, said.words)), flush=True)
    except T5PunctError as error:
        parser.exit(2, f"{error}\n")


if __name__ == "__main__":
    main()
