"""What fine-tuning the bundled model on one new domain gains there, and what it loses elsewhere.

`python benchmarks/finetune.py root=../shared` trains with the recipe of a config
on some whole documents of a corpus that the model has never seen, and blends the outcome with the model that it began
with.  It scores before and after, on other documents of that corpus and on what is held out of the model's own training
text, and writes a page of results.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from datasets.utils.logging import disable_progress_bar
from heldout import ScoredSlots, held_out, score_texts
from rich.console import Console
from studies import run

from t5punct import __version__, config
from t5punct import model as models
from t5punct.decoding.inputs import DecodingConfig
from t5punct.errors import ConfigError
from t5punct.evaluation.scores import scores_of
from t5punct.punctuator import Punctuator
from t5punct.training.config import TrainConfig
from t5punct.training.data.corpora import CorpusConfig, source_documents
from t5punct.training.data.prepare import PrepareConfig, prepare

sys.path.insert(0, str(Path(__file__).parents[1] / "recipes"))
from blend import blend_models

GAIN, LOSS = 4.0, 1.5  # points of micro F1: the bars of the issue
_GOLDEN = (5**0.5 - 1) / 2  # its multiples, of which only the fraction counts, are spread evenly, however many they are
HERE = "**the domain, other documents**"


@dataclass(frozen=True)
class Way:
    """Which of the trained models is used, and how it is decoded: by the decoder that it takes by default."""

    name: str
    title: str
    is_blend: bool
    mark_odds: dict[str, float] | None = None  # None: the model's own

    def config(self, style: str) -> DecodingConfig:
        return DecodingConfig(style=style, mark_odds=self.mark_odds)


WAYS = (
    Way("blend", "A blend of the trained model and the one it began with", is_blend=True),
    Way("trained", "As it was trained, without a blend", is_blend=False),
    Way("even", 'As it was trained, `--mark-odds ""`', is_blend=False, mark_odds={}),
)


@dataclass(frozen=True)
class StudyConfig:
    """What is learned, and what is scored."""

    root: str = "../shared"
    domain: str = "iwslt/train-ted.txt.xz"  # a document a line, none of which the model has seen
    style: str = "meeting"  # of these documents, in training and in scoring
    words: int = 210_000  # of whole documents, to learn from; 5 % of them are held out for validation
    test_words: int = 40_000  # of other documents
    prepared_by: str = "configs/prepare-own-text.yaml"
    recipe: str = "configs/finetune-own-text.yaml"
    # of the recipe, on each of the processes
    overrides: list[str] = field(default_factory=lambda: ["mixed_precision=bf16", "data.batch_tokens=1536"])
    processes: int = 2
    blend_share: float = 0.5  # of the trained model's weights, in recipes/blend.py
    elsewhere: str = "configs/large-prepare.yaml"  # what the model was trained on
    elsewhere_root: str = "corpus"
    elsewhere_words: int = 5_000  # of each corpus
    work: str = "runs/finetune-domain"  # a new folder for data and model
    output: str = "docs/results/finetune.md"


@dataclass(frozen=True)
class Domain:
    """The documents to learn from, and those to score."""

    train: tuple[str, ...]
    test: tuple[str, ...]


@dataclass(frozen=True)
class Sample:
    """Documents to be scored, in their style."""

    title: str
    style: str
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """What a model made of some text."""

    title: str
    way: str
    before: ScoredSlots
    after: ScoredSlots


def study(settings: StudyConfig) -> None:
    """Prepare, train, score, and write the page."""
    work = Path(settings.work)
    if work.exists():
        raise ConfigError(f"{work} is there already", expected="a new folder", fix="remove it or set work")
    domain_texts = domain(Path(settings.root) / settings.domain, settings)
    work.mkdir(parents=True)
    disable_progress_bar()
    for name, texts in (("train", domain_texts.train), ("test", domain_texts.test)):
        (work / f"{name}.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    base = config.load(PrepareConfig, Path(settings.prepared_by))
    lines = CorpusConfig("train.txt", settings.style, document="line")
    report = prepare(replace(base, output=str(work / "data"), root=str(work), corpora=[lines]))
    minutes = train(settings, work)
    blend(settings, work)
    rows = scored(settings, work)
    page = Path(settings.output)
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(_page(settings, report.train_words, minutes, rows), encoding="utf-8")


def domain(path: Path, settings: StudyConfig) -> Domain:
    """Whole documents, spread over all of the corpus; those to score stand between those to learn from."""
    documents = source_documents(CorpusConfig(str(path), document="line"), ())
    texts = [text for text in documents if text.strip()]
    train = taken(texts[0::2], settings.words)
    test = taken(texts[1::2], settings.test_words)
    if not train or not test:
        raise ConfigError(f"{len(texts)} documents in {path}", expected="two and more", fix="set domain")
    return Domain(train, test)


def taken(texts: Sequence[str], n_words: int) -> tuple[str, ...]:
    """Whole documents, spread over all of them, with `n_words` words or a little more; at least one."""
    chosen: list[int] = []
    left = n_words
    for place in sorted(range(len(texts)), key=lambda place: place * _GOLDEN % 1.0):
        if left <= 0:
            break
        chosen.append(place)
        left -= len(texts[place].split())
    return tuple(texts[place] for place in sorted(chosen))


def train(settings: StudyConfig, work: Path) -> float:
    """Train in as many processes as the study says; gives the minutes it took, start-up and last save in them."""
    changes = [f"data.path={work / 'data'}", f"output={work / 'model'}", *settings.overrides]
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(settings.processes)]
    launcher = launcher if settings.processes > 1 else []
    begun = time.perf_counter()
    done = subprocess.run(  # noqa: S603
        [sys.executable, *launcher, "train.py", "--config", settings.recipe, *changes],
        env=_environment(settings.processes),
        check=False,
    )
    if done.returncode:
        raise ConfigError(f"training ended with {done.returncode}", expected="0", fix="see what it says above")
    return (time.perf_counter() - begun) / 60


def start_of(settings: StudyConfig) -> str | None:
    """Return the model that the recipe begins with."""
    return config.load(TrainConfig, Path(settings.recipe), [*settings.overrides, "data.path=data"]).init_from


def blend(settings: StudyConfig, work: Path) -> None:
    """Write the blend of the trained model and the one that it began with."""
    blend = blend_models(models.load(work / "model"), models.load(start_of(settings)), settings.blend_share)
    models.save(blend, work / "blend")


def scored(settings: StudyConfig, work: Path) -> list[Row]:
    """Return the model that it began with and the trained ones, on the domain's other documents and elsewhere."""
    start, trained, half_way = map(Punctuator.from_pretrained, (start_of(settings), work / "model", work / "blend"))
    texts = (work / "test.txt").read_text(encoding="utf-8").splitlines()
    samples = [Sample(HERE, settings.style, tuple(texts)), *elsewhere(settings)]
    rows: list[Row] = []
    for way in WAYS:
        pair = (start, half_way if way.is_blend else trained)
        for sample in samples:
            styled = [punctuator.with_config(decoding=way.config(sample.style)) for punctuator in pair]
            n_words = sum(len(text.split()) for text in sample.texts)
            rows.append(
                Row(sample.title, way.name, *(score_texts(punctuator, sample.texts, n_words) for punctuator in styled))
            )
            Console().print(f"{way.name} {_line(rows[-1])}", soft_wrap=True)
    return rows


def elsewhere(settings: StudyConfig) -> Iterator[Sample]:
    """Yield the first held-out words of each corpus that the model was trained on; each is read once."""
    recipe = config.load(PrepareConfig, Path(settings.elsewhere))
    root = Path(settings.root) / settings.elsewhere_root
    for corpus in {corpus.path: corpus for corpus in recipe.corpora}.values():  # one may be listed twice
        located, texts, left = (
            replace(corpus, path=str(root / corpus.path), words=0, join=1),
            [],
            settings.elsewhere_words,
        )
        for text in held_out(located, recipe):
            words = text.split()[:left]
            texts.append(" ".join(words))
            left -= len(words)
            if left <= 0:
                break
        yield Sample(Path(corpus.path).name.partition(".")[0], corpus.style, tuple(texts))


def _environment(processes: int) -> dict[str, str]:
    """Return one thread for each of several processes."""
    return dict(os.environ) | ({"OMP_NUM_THREADS": "1"} if processes > 1 else {})


def _page(settings: StudyConfig, n_words: int, minutes: float, rows: Sequence[Row]) -> str:
    command = "python benchmarks/finetune.py"
    lines = [
        "# Fine-tuning on a new domain",
        "",
        f"`{start_of(settings)}` (t5punct {__version__}), trained with `{settings.recipe}` on {n_words:,} words of",
        f"`{settings.domain}`, which it has never seen, for {minutes:.1f} minutes in {settings.processes} processes,",
        f"start-up and last save in them{_changes(settings)};",
        f"then blended with it as it was, the trained one's share {settings.blend_share:g} (`recipes/blend.py",
        f"--share {settings.blend_share:g}`).",
        "Scored before and after, on other documents of the same corpus and on the documents that",
        f"`{settings.elsewhere}` holds out of its own training. Written by `{command}`.",
        "",
        f"Micro F1 of comma, period and question. Bars: in the domain at least {GAIN} points more, elsewhere less than",
        f"{LOSS} lost.",
        "",
    ]
    for way in WAYS:
        mine = [row for row in rows if row.way == way.name]
        elsewhere = [row for row in mine if row.title != HERE]
        before, after = (
            sum(side, ScoredSlots()) for side in zip(*((row.before, row.after) for row in elsewhere), strict=True)
        )
        total = Row("**elsewhere, all**", way.name, before, after)
        gain, lost = _gain(mine[0]), 0.0 - round(_gain(total), 1)
        lines += [
            f"## {way.title}",
            "",
            f"In the domain {gain:.1f} gained ({_met(gain >= GAIN)}), elsewhere {lost:.1f} lost ({_met(lost < LOSS)}).",
            "",
            "| text | words | before | after | gained | comma | period | question | case |",
            "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
            *(_line(row) for row in (*mine, total)),
            "",
        ]
    return "\n".join(lines)


def _line(row: Row) -> str:
    before, after = scores_of(row.before.counts), scores_of(row.after.counts)
    classes = [_pair(before.per_class[name].f1, after.per_class[name].f1) for name in before.per_class]
    pairs = [*classes, _pair(before.cased_accuracy, after.cased_accuracy)]
    values = f"{_f1(row.before):.1f} | {_f1(row.after):.1f} | {_gain(row):+.1f} | {' | '.join(pairs)}"
    return f"| {row.title} | {row.before.counts.words:,} | {values} |"


def _pair(before: float | None, after: float | None) -> str:
    """Percent; a dash where the text has no such mark."""
    return " to ".join("–" if value is None else f"{value:.1f}" for value in (before, after))


def _f1(slots: ScoredSlots) -> float:
    return scores_of(slots.counts).micro.f1 or 0.0


def _gain(row: Row) -> float:
    return _f1(row.after) - _f1(row.before)


def _met(is_met: bool) -> str:
    return "bar met" if is_met else "bar missed"


def _changes(settings: StudyConfig) -> str:
    return f" (`{' '.join(settings.overrides)}`)" if settings.overrides else ""


if __name__ == "__main__":
    run(study, StudyConfig, __doc__)
