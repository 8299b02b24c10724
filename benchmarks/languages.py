"""A model of several languages on held-out speech and prose of each, and on files of their own.

`python benchmarks/languages.py root=CORPUS benchmarks=FOLDER` writes a page of results.  What is held out is what
`t5punct prepare` with the same corpora keeps for validation; a corpus's language is the beginning of its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from heldout import ScoredSlots, score_corpus, score_texts, sum_slots
from rich.console import Console
from studies import run

from t5punct import __version__, config
from t5punct.decoding.inputs import DecodingConfig
from t5punct.evaluation.scores import scores_of
from t5punct.punctuator import Punctuator
from t5punct.training.data.corpora import CorpusConfig
from t5punct.training.data.prepare import PrepareConfig

SPOKEN = ("meeting", "talk")
ENGLISH = ("spoken", "written", "timed")  # how the names of English files begin
# files of `benchmarks`, and the style that each is read in
FILES = {
    "hu-ud-szeged": "prose",
    "pl-poleval2021": "prose",
    "pl-europarl-idioms": "meeting",
    "es-europarl": "meeting",
}
MARKS = ".,?!-:;"  # in PolEval's order; `...` is counted by its own


@dataclass(frozen=True)
class StudyConfig:
    """What is scored."""

    data: str = "configs/multi-prepare.yaml"  # whose corpora, styles and held-out documents
    root: str = "../shared/corpus"
    benchmarks: str = "../shared/benchmarks-languages"
    model: str = "multi"
    decoder: str = "auto"
    languages: list[str] = field(default_factory=list)  # only these, such as es; empty: all
    max_words: int = 10_000  # of each corpus
    output: str = "languages.md"  # its tables stand in docs/results/languages.md


@dataclass(frozen=True)
class Scored:
    """The slots of some text of a language; `text` says which."""

    language: str
    text: str
    slots: ScoredSlots


def study(settings: StudyConfig) -> None:
    """Score every corpus and every file, and write the page."""
    data = config.load(PrepareConfig, Path(settings.data))
    punctuator = Punctuator.from_pretrained(settings.model)
    decoding = DecodingConfig(settings.decoder)
    corpora = [replace(corpus, path=str(Path(settings.root) / corpus.path), words=0, join=1) for corpus in data.corpora]
    parts: list[Scored] = []
    for corpus in corpora:
        if settings.languages and language_of(corpus) not in settings.languages:
            continue
        styled = punctuator.with_config(decoding=replace(decoding, style=corpus.style))
        kind = "speech" if corpus.style in SPOKEN else "other"
        slots = score_corpus(styled, corpus, data, settings.max_words)
        Console().print(f"{Path(corpus.path).name}: {slots.counts.words:,} words")
        parts.append(Scored(language_of(corpus), kind, slots))
    files: list[Scored] = []
    for name, style in FILES.items():
        if settings.languages and name[:2] not in settings.languages:
            continue
        styled = punctuator.with_config(decoding=replace(decoding, style=style))
        documents = (Path(settings.benchmarks) / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        files.append(Scored(name[:2], name, score_texts(styled, documents, 10**9)))
    Path(settings.output).write_text("\n".join(page(settings, parts, files)) + "\n", encoding="utf-8")


def language_of(corpus: CorpusConfig) -> str:
    """Return the language of a corpus, by its name."""
    begin = Path(corpus.path).name.partition("-")[0]
    return "en" if begin in ENGLISH else begin


def page(settings: StudyConfig, parts: Sequence[Scored], files: Sequence[Scored]) -> list[str]:
    """Return the lines of the page."""
    lines = [
        f"# Several languages: `{settings.model}`",
        "",
        f"Up to {settings.max_words:,} words of what each corpus of `{settings.data}` keeps for validation, in its own",
        f"style, and whole files that nobody trains on; decoder `{settings.decoder}`, t5punct {__version__}.",
        "Written by `python benchmarks/languages.py`.",
        "",
        "Case: words written right, of those that are not lower case; its F1 counts each wrong word once. `¿`: F1 of",
        "opening marks, beside the classes.",
        "",
    ]
    kinds = dict.fromkeys(part.text for part in parts)
    for kind in kinds:
        rows = {language: sum_slots([part.slots for part in parts if (part.language, part.text) == (language, kind)])
                for language in dict.fromkeys(part.language for part in parts if part.text == kind)}  # fmt: skip
        lines += [f"## Held-out {'speech' if kind == 'speech' else 'prose and chat'}", "", *table("language", rows)]
        lines += mean_row([slots for language, slots in rows.items() if language != "en"])
    lines += ["## Files", "", *table("file", {file.text: file.slots for file in files}), ""]
    lines += ["F1 of each mark, wherever it stands in a slot:", "", *marks_table(files)]
    return lines


def table(head: str, rows: dict[str, ScoredSlots]) -> Iterable[str]:
    """Yield a table of scores."""
    yield f"| {head} | words | micro F1 | macro F1 | comma | period | question | case | case F1 | `¿` |"
    yield "| --- |" + " --- |" * 9
    for name, slots in rows.items():
        yield f"| {name} | {slots.counts.words:,} | {' | '.join(map(percent, values_of(slots)))} |"


def mean_row(rows: Sequence[ScoredSlots]) -> Iterable[str]:
    """Yield a row of the means over languages, and an empty line."""
    columns = zip(*map(values_of, rows), strict=True)
    known = [[value for value in column if value is not None] for column in columns]
    means = [sum(column) / len(column) if column else None for column in known]
    yield f"| **mean without English** | | {' | '.join(map(percent, means))} |"
    yield ""


def values_of(slots: ScoredSlots) -> list[float | None]:
    """Return what a row of the tables says, in percent."""
    scores, counts = scores_of(slots.counts), slots.counts
    wrong = counts.case_words - counts.case_correct
    case_f1 = 200 * counts.cased_correct / (2 * counts.cased_correct + wrong) if counts.cased_words else None
    classes = [class_scores.f1 for class_scores in scores.per_class.values()]
    opening = scores.opening.f1 if scores.opening.reference else None
    return [scores.micro.f1, scores.macro_f1, *classes, scores.cased_accuracy, case_f1, opening]


def marks_table(files: Sequence[Scored]) -> Iterable[str]:
    """Yield the F1 of every mark in every file, as the shared tasks have them, and their mean by how often each is."""
    yield f"| file | {' | '.join(f'`{mark}`' for mark in MARKS)} | `...` | weighted |"
    yield "| --- |" + " --- |" * (len(MARKS) + 2)
    for file in files:
        pairs = [(named_mark(wanted), named_mark(output)) for wanted, output in file.slots.labels]
        scores = [f1_of(pairs, mark) for mark in (*MARKS, "...")]
        weight = sum(n_wanted for _, n_wanted in scores)
        weighted = sum((f1 or 0) * n_wanted for f1, n_wanted in scores) / max(1, weight)
        numbers = [percent(f1) if n_wanted else "" for f1, n_wanted in scores]
        yield f"| {file.text} | {' | '.join(numbers)} | {percent(weighted)} |"


def named_mark(label: str) -> str:
    """Return the one class of a label in the shared tasks: `...`, else its first mark."""
    return "..." if label.startswith("..") else label[:1]


def f1_of(pairs: Sequence[tuple[str, str]], mark: str) -> tuple[float | None, int]:
    """Return a mark's F1 in percent, and how often the reference has it."""
    both = sum(wanted == output == mark for wanted, output in pairs)
    n_wanted, n_output = (sum(side[index] == mark for side in pairs) for index in (0, 1))
    return (200 * both / (n_wanted + n_output) if n_wanted + n_output else None), n_wanted


def percent(value: float | None) -> str:
    """Return a number of a table."""
    return "" if value is None else f"{value:.1f}"


if __name__ == "__main__":
    run(study, StudyConfig, __doc__)
