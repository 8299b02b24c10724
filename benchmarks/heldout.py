"""The model on held-out open text: marks, case, strong and repeated marks, for each corpus in its own style.

`python benchmarks/heldout.py root=CORPUS` writes a page of results.  What is held out is
what `t5punct prepare` with the same corpora keeps for validation.  For a model that was trained on other lines, name
its `runs`: what any of them has seen is left out.  A model that knows silences reads text with times twice, without
them and with them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from rich.console import Console
from seen import Seen
from studies import run

from t5punct import __version__, config
from t5punct.decoding.inputs import DecodingConfig
from t5punct.errors import ConfigError
from t5punct.evaluation.counts import Counts
from t5punct.evaluation.references import TextReference
from t5punct.evaluation.scores import scores_of
from t5punct.model import BUNDLED
from t5punct.punctuator import Punctuator
from t5punct.text.words import Word
from t5punct.training.data.chunks import words_with_silences
from t5punct.training.data.corpora import CorpusConfig, plan_pieces, read_documents
from t5punct.training.data.prepare import PrepareConfig


@dataclass(frozen=True)
class StudyConfig:
    """What is scored."""

    data: str = "configs/large-prepare.yaml"  # whose corpora, styles and held-out documents
    root: str = "../shared/corpus"
    model: str | None = None
    runs: list[str] = field(default_factory=list)  # of the model: what they have seen is left out
    max_words: int = 20_000  # of each corpus
    output: str = "docs/results/heldout.md"


@dataclass(frozen=True)
class ScoredSlots:
    """What two sides say of some slots: the reference's label and the model's."""

    counts: Counts = field(default_factory=Counts)
    labels: tuple[tuple[str, str], ...] = ()

    def __add__(self, more: ScoredSlots) -> ScoredSlots:
        return ScoredSlots(self.counts + more.counts, self.labels + more.labels)

    def detection(self, is_one: Callable[[str], bool]) -> str:
        """Return how well slots of a kind are found: precision, recall and F1 in percent, and how many there are."""
        pairs = [(is_one(wanted), is_one(output)) for wanted, output in self.labels]
        both, wanted, n_output = (sum(map(test, pairs)) for test in (all, lambda pair: pair[0], lambda pair: pair[1]))
        values = [
            both / n_output if n_output else 0.0,
            both / wanted if wanted else 0.0,
            2 * both / max(1, wanted + n_output),
        ]
        return f"{' / '.join(f'{100 * value:.0f}' for value in values)} ({wanted})"


def study(settings: StudyConfig) -> None:
    """Score every corpus, and write the page."""
    data = config.load(PrepareConfig, Path(settings.data))
    if not data.corpora:
        raise ConfigError(f"no corpora in {settings.data}", expected="a config of `t5punct prepare`", fix="set data")
    punctuator = Punctuator.from_pretrained(settings.model)
    corpora = {corpus.path: corpus for corpus in data.corpora}.values()  # one may be listed twice
    located = [replace(corpus, path=str(Path(settings.root) / corpus.path), words=0, join=1) for corpus in corpora]
    texts = [[*held_out(corpus, data)] for corpus in located]  # each corpus is read whole for them, so only once
    seen = Seen.of([Path(run) for run in settings.runs], [text for own in texts for text in own])
    rows: dict[tuple[str, str], ScoredSlots] = {}
    timed: dict[tuple[str, str], ScoredSlots] = {}
    for corpus, own in zip(located, texts, strict=True):
        styled = punctuator.with_config(decoding=DecodingConfig(style=corpus.style))
        name = Path(corpus.path).name.partition(".")[0]
        rows[corpus.style, name] = score_texts(styled, (text for text in own if text not in seen), settings.max_words)
        Console().print(f"{name}: {rows[corpus.style, name].counts.words:,} words")
        if (pauses_ms := punctuator.model.task.pauses_ms) and ".jsonl" in corpus.path:
            with_times = held_out(corpus, data, pauses_ms)
            timed[corpus.style, f"{name}, silences known"] = score_texts(styled, with_times, settings.max_words)
    page = Path(settings.output)
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(_page(settings, rows, timed), encoding="utf-8")


def score_corpus(punctuator: Punctuator, corpus: CorpusConfig, data: PrepareConfig, max_words: int) -> ScoredSlots:
    """Return the model's scores on a corpus's held-out documents."""
    return score_texts(punctuator, held_out(corpus, data), max_words)


def score_texts(punctuator: Punctuator, texts: Iterable[str], max_words: int) -> ScoredSlots:
    """Return the model's scores on the first words of some documents."""
    total = ScoredSlots()
    alphabet = punctuator.model.task.alphabet
    for words in _references(texts, max_words):
        reference = TextReference(words, alphabet, case=True)
        heard = [replace(read, pause=word.pause) for read, word in zip(reference.words, words, strict=True)]
        (annotated,) = punctuator.annotate_texts([heard])
        labels = zip((word.marks for word in words), (word.marks for word in annotated), strict=True)
        total += ScoredSlots(sum(reference.counts(annotated), Counts()), tuple(labels))
    return total


def held_out(corpus: CorpusConfig, data: PrepareConfig, pauses_ms: tuple[int, ...] = ()) -> Iterator[str]:
    """Yield the documents that are kept for validation; with `pauses_ms` a token stands at each silence."""
    percent = data.holdout_percent
    with tempfile.TemporaryDirectory() as cache:
        documents = read_documents(corpus, pauses_ms, cache, percent)
        pieces = plan_pieces(documents, "validation", data.seed)
        yield from (documents.text_of(piece) for piece in pieces if piece.n_words)


def _references(texts: Iterable[str], max_words: int) -> Iterator[tuple[Word, ...]]:
    left = max_words
    for text in texts:
        spelled = (Word(word.opening + word.core, word.marks, pause=word.pause) for word in words_with_silences(text))
        words = tuple(spelled)[:left]
        if words:
            yield words
        left -= len(words)
        if left <= 0:
            return


def _page(
    settings: StudyConfig, rows: dict[tuple[str, str], ScoredSlots], timed: dict[tuple[str, str], ScoredSlots]
) -> str:
    styles = dict.fromkeys(style for style, _ in rows)
    total = {
        style: sum_slots([score for (row_style, _), score in rows.items() if row_style == style]) for style in styles
    }
    lines = [
        "# Held-out open text",
        "",
        f"Up to {settings.max_words:,} words of what each corpus of `{settings.data}` keeps for validation, in its own",
        f"style; model {settings.model or BUNDLED}, t5punct {__version__}. Written by",
        "`python benchmarks/heldout.py`.",
        *(
            [f"Without documents of which {', '.join(settings.runs)} saw half the runs of six words."]
            if settings.runs
            else []
        ),
        "",
        "Case: words written right, of those that are not lower case. `!`, and labels of two or more marks: precision",
        "/ recall / F1 (how many there are in the text). A style of one mark a slot finds none of these; the sum of",
        "all counts them as missed. Rows with silences known are in no sum.",
        "",
        "| style | corpus | words | micro F1 | comma | period | question | case | `!` | two and more marks |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [_line(style, name, score) for (style, name), score in rows.items()]
    lines += [_line(style, name, score) for (style, name), score in timed.items()]
    lines += [_line(f"**{style}**", "all", score) for style, score in total.items()]
    lines.append(_line("**all**", "", sum_slots(list(total.values()))))
    return "\n".join(lines) + "\n"


def _line(style: str, name: str, slots: ScoredSlots) -> str:
    scores = scores_of(slots.counts)
    values = [scores.micro.f1, *(class_scores.f1 for class_scores in scores.per_class.values()), scores.cased_accuracy]
    numbers = " | ".join("" if value is None else f"{value:.1f}" for value in values)
    strong, multiple = slots.detection(lambda label: "!" in label), slots.detection(lambda label: len(label) > 1)
    return f"| {style} | {name} | {slots.counts.words:,} | {numbers} | {strong} | {multiple} |"


def sum_slots(parts: Sequence[ScoredSlots]) -> ScoredSlots:
    return ScoredSlots(
        sum((part.counts for part in parts), Counts()), tuple(chain.from_iterable(part.labels for part in parts))
    )


if __name__ == "__main__":
    run(study, StudyConfig, __doc__)
