"""The pages about a finished run: its report, and the card of a model that is shared out.

`write_report(Path("runs/mine"), config)` is what `t5punct train` does at the end, and `t5punct report runs/mine` later:
`report.md` in the run's folder, with curves, scores, what changed, speed, environment and settings, `report.png` (with
matplotlib, the extra `report`) and `report.json`.  How many words are scored depends on how fast the models are, so
that it ends in time.

`compose_card(Path("runs/mine"), task, "someone/mine")` is a README.md with the metadata that the hub reads: what the
model is, its parents and their licences, its data, its scores, its use.  It tells what the run's own files tell, and no
path of this machine.
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from .. import __version__
from .. import config as settings
from ..decoding.inputs import DecodingConfig
from ..errors import ModelError, T5PunctError
from ..evaluation.comparison import CAPITALS, Comparison, compare_file, f1_of, score_of
from ..evaluation.evaluate import Report, evaluate_file
from ..evaluation.plots import save as save_figure
from ..evaluation.references import count_words
from ..evaluation.score_table import as_json, comparison_json, difference_cells, score_text
from ..evaluation.significance import interval
from ..extras import way_to_install
from ..model import bundled_names
from ..punctuator import Punctuator, PunctuatorConfig
from ..t5.task import TaskConfig
from ..text.io.files import writing
from .checkpoint import TRAIN_FILE
from .config import PAGE, PICTURE, VALUES, TrainConfig
from .data.prepare import COUNTS, SETTINGS, PrepareConfig, markdown_table

_PACKAGES = ("torch", "transformers", "accelerate", "datasets", "tokenizers")
_TRIED_WORDS = 300  # of the text, to see how fast a model is; at least so many are scored
_MAX_SECONDS = 600  # of scoring, for all models together
_LOSSES = {  # by field, and what a picture calls them
    "text_loss": "text loss",
    "tag_loss": "tagger loss",
    "validation_loss": "validation, text loss",
    "validation_tag_loss": "validation, tagger loss",
}
CARD = "README.md"
_MADE = "<!-- written by t5punct export; a card without this line is kept -->"
_MOST_PARENTS = 20
_HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")
Settings = TypeVar("Settings")
Tell = Callable[[int, int], None]  # how many words are decided, and of how many


def log_of(run: Path) -> Path:
    """Return the path of a run's log: beside its folder, which checkpoints replace."""
    run = run.absolute()  # `.` has no name
    return run.with_name(run.name + ".log.jsonl")


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a log, in order; none without a log.  Losses are means in nats, scores are in percent.

    A loss of 0 is one that was not trained, and is left out.
    """
    lines = list[dict[str, Any]]()
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        with suppress(ValueError):  # half a line, of a run that was killed
            lines.append({name: value for name, value in json.loads(line).items() if value or name not in _LOSSES})
    return lines


def run_config(run: Path) -> TrainConfig:
    """Return the settings of a finished run.  Raises ModelError if the folder is none."""
    if not (run / TRAIN_FILE).is_file():
        raise ModelError(f"no {TRAIN_FILE} in {run}", expected="the folder of a training run", fix="check the name")
    return settings.load_plain(TrainConfig, run / TRAIN_FILE)


def write_report(run: Path, config: TrainConfig, on_progress: Tell | None = None) -> Path:
    """Score the run, write its page with a picture and its values beside it, and return where the page is.

    Each file is written whole or not at all.  Raises InputError for a text that cannot be read, ModelError for a run
    without a model.
    """
    log = read_log(log_of(run))
    scores, comparison, notes = _score(run, config, on_progress)
    lines = [f"# {run.name}", ""]
    seconds = seconds_of(log)
    if seconds:
        words = log[-1]["words"]
        lines.append(
            f"- {log[-1]['step']:,} steps on {words:,} words in {seconds / 3600:.1f} hours ({seconds / 60:.1f} "
            f"minutes), without validation and saving: {words / seconds:,.0f} words a second."
        )
    lines += [*(f"- {note}" for note in notes), ""]
    if draw_curves(log, run / PICTURE):
        lines += [f"![losses and scores]({PICTURE})", ""]
    elif log:
        lines += [f"No picture: matplotlib is missing ({way_to_install('report')}).", ""]
    if scores is not None:
        lines += _lines_of_scores(scores, comparison, config)
    lines += ["## Environment", "", *_iter_environment(), ""]
    lines += ["## Settings", "", "```yaml", settings.as_yaml(config).rstrip("\n"), "```"]
    values = {"scores": scores and as_json(scores), "comparison": comparison and comparison_json(comparison)}
    for name, text in ((VALUES, json.dumps(values, ensure_ascii=False, indent=2)), (PAGE, "\n".join(lines))):
        with writing(run / name) as handle:
            handle.write(text + "\n")
    return run / PAGE


def _lines_of_scores(report: Report, comparison: Comparison | None, config: TrainConfig) -> list[str]:
    """Return the lines about a run's scores, and about what changed against another model, if there is one."""
    scores = report.scores
    columns = ["score", "precision", "recall", "F1 (95 %)", "in the text"]
    rows: dict[str, list[object]] = {}
    for name, row in scores.by_name.items():
        f1 = score_text(score_of(scores, name))
        spread = interval(report.counts, f1_of(name))
        if spread is not None:  # a single document has none
            f1 += f" ({spread.low:.1f} to {spread.high:.1f})"
        rows[name] = [name, score_text(row.precision), score_text(row.recall), f1, row.reference]
    rows[CAPITALS] = [CAPITALS, "", "", score_text(scores.cased_accuracy), ""]
    if comparison is not None:
        columns += [Path(config.report.against).name if config.report.against else "at the start", "gain", "95 %", "p"]
        for difference in comparison.differences:
            first, _, *gain = difference_cells(difference)
            rows[difference.name] += [first, *gain]
    signature = re.sub(r"[|]model:[^|]*", "", report.signature)  # a card has no path of this machine
    return [
        *(f"## Scores on {Path(report.data).name}", "", f"Of {scores.words:,} words.", ""),
        *markdown_table(columns, rows.values()),
        f"Macro F1 {score_text(scores.macro_f1)}, slot error rate {score_text(scores.slot_error_rate)} (percent). "
        "`boundary`: sentence ends; `capitals`: how many are written right. Intervals are those of a bootstrap over "
        f"{len(report.counts)} documents (of IWSLT rows: stretches of 500 words), a gain's of a paired one; with fewer "
        "than about ten they say little. p: how often chance alone gives as large a difference (approximate "
        "randomisation, two-sided).",
        *("", f"Settings of the scores: `{signature}`", ""),
    ]


def _iter_environment() -> Iterator[str]:
    """Yield versions and the kind of machine; no names of machines, people or places."""
    import torch

    versions = [f"{name} {metadata.version(name)}" for name in _PACKAGES if find_spec(name) is not None]
    yield "- " + ", ".join([f"Python {platform.python_version()}", f"t5punct {__version__}", *versions])
    devices = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    machine = f"{platform.system()} on {platform.machine()}, {os.cpu_count()} processors"
    yield f"- {machine}, accelerators: {', '.join(devices) or 'none'} (where this page was written)"


def _score(
    run: Path, config: TrainConfig, on_progress: Tell | None
) -> tuple[Report | None, Comparison | None, list[str]]:
    """Return the run's scores if there is a text, its rival's if it has one, and notes on what could not be scored."""
    file = config.report.file or config.validation.file
    n_words = config.report.max_words
    if file is None or not n_words:
        why = "no validation text was named" if file is None else "report.max_words is 0"
        return None, None, [f"There are no scores: {why}. `t5punct report {run} file=TEXT` adds them."]
    decoded = PunctuatorConfig(decoding=DecodingConfig(config.loss.decoder))  # with the decoder that was trained
    systems = [Punctuator.from_pretrained(str(run), decoded)]
    notes = list[str]()
    rival = config.report.against
    try:
        systems.insert(0, Punctuator.from_pretrained(rival or config.init_from, decoded))
    except T5PunctError as error:
        named = f"model {rival}" if rival else f"starting model {config.init_from}"
        notes.append(f"The {named} cannot be compared: {error}.")
    n_there = count_words(file, n_words) or n_words
    if n_words > _TRIED_WORDS:  # as many as can be scored in time, after a trial of each model
        tried = [evaluate_file(file, system, max_words=_TRIED_WORDS) for system in systems]
        seconds_per_word = sum(report.seconds / max(1, report.scores.words) for report in tried)
        n_words = max(_TRIED_WORDS, min(n_words, int(_MAX_SECONDS / seconds_per_word)))
    if n_words < n_there:
        notes.append(f"At most {n_words:,} words are scored, to end in {_MAX_SECONDS // 60} minutes.")

    def tell(n_done: int) -> None:
        if on_progress is not None:
            on_progress(n_done, len(systems) * min(n_words, n_there))

    if len(systems) == 1:
        return evaluate_file(file, systems[0], max_words=n_words, on_progress=tell), None, notes
    comparison = compare_file(file, *systems, max_words=n_words, on_progress=tell)
    return comparison.second, comparison, notes


def seconds_of(log: Sequence[Mapping[str, Any]]) -> float:
    """Return the seconds of training, without validation and saving: words by words a second, line by line."""
    seconds = before = 0.0
    for line in log:
        if line.get("words_per_second"):
            seconds += (line["words"] - before) / line["words_per_second"]
            before = float(line["words"])
    return seconds


def draw_curves(log: Sequence[Mapping[str, Any]], path: Path) -> bool:
    """Draw losses, and scores where there are any, by million words; False, and nothing drawn, without matplotlib."""
    if find_spec("matplotlib") is None or not log:
        return False
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4))
    losses, scores = figure.subplots(1, 2)
    for axes, labels in ((losses, _LOSSES), (scores, {"micro_f1": "micro F1 while training"})):
        for name, label in labels.items():
            points = [(line["words"] / 1e6, line[name]) for line in log if line.get(name) is not None]
            if points:
                axes.plot(*zip(*points, strict=True), ".-", label=label)
        if axes.lines:
            axes.legend()
    losses.set(xlabel="million words", ylabel="mean cross-entropy, nats")
    scores.set(xlabel="million words", ylabel="percent")
    if not scores.lines:
        scores.remove()
    save_figure(figure, path)
    return True


def may_write(path: Path) -> bool:
    """Return whether a card may be written there: a person's own is kept."""
    return not path.is_file() or _MADE in path.read_text(encoding="utf-8")


_CARD = """---
{metadata}
---
{made}
# {title}

A T5 that puts marks and capitals into transcripts; no word is changed. For t5punct {version} and later.

## Use

```sh
t5punct punctuate talk.txt --model {name}{option}
```

```python
from t5punct import {imported}

print(Punctuator.from_pretrained({arguments}).punctuate("how are you today"))
```

Marks `{marks}`, {case}. Styles: {styles} (default: {default_style}).

{network}## Parents

{parents}
Licence of this model: {licence}.

## Data

{corpora}
{scores}"""


def compose_card(
    source: Path, task: TaskConfig, name: str, *, licence: str | None = None, own_form: str | None = None
) -> str:
    """Return the card of a run's model; `name`: what loads it.

    `own_form`: what transformers alone cannot read of it, in words.
    """
    from huggingface_hub import ModelCardData

    runs = tuple(_iter_runs(source))
    origins = [run.init_from for run in runs]
    if not runs and not source.is_dir():  # a model of the hub, or a bundled one
        origins = [str(source)]
    parents = [_parent(origin) for origin in origins]
    hub_ids = [parent for parent, _ in parents if "/" in parent]
    data = ModelCardData(
        language=None, license=licence, library_name="t5punct", base_model=hub_ids[-1] if hub_ids else None,
        tags=["punctuation-restoration", "truecasing", "t5"],
    )  # fmt: skip
    corpora = dict.fromkeys(row for run in runs for row in _iter_corpora(run))  # newest first, those of parents too
    option = ""
    imported = "Punctuator"
    arguments = f'"{name}"'
    decoder = runs[0].loss.decoder if runs else "slots"
    if decoder != "slots":  # the default
        option = f" --decoder {decoder}"
        imported = "DecodingConfig, Punctuator, PunctuatorConfig"
        arguments += f', PunctuatorConfig(decoding=DecodingConfig("{decoder}"))'
    page = (source / PAGE).read_text(encoding="utf-8") if (source / PAGE).is_file() else ""
    scores = re.search(r"^## Scores.*?(?=^## )", page, re.M | re.S)
    card = _CARD.format(
        metadata=data.to_yaml(), made=_MADE, title=name.rpartition("/")[2], version=__version__, name=name,
        option=option, imported=imported, arguments=arguments, marks=" ".join(task.marks),
        case="capitals too" if task.cased else "no capitals: it writes lower case",
        styles=", ".join(task.styles), default_style=task.default_style,
        network="\n".join([*iter_use_of_network(name, own_form), ""]) if own_form else "",
        parents="\n".join(markdown_table(("model", "licence"), parents)) if parents else "Not known here.\n",
        licence=licence or "not stated",
        corpora="\n".join(markdown_table(("corpus", "style", "words"), corpora)) if corpora else "Not known here.\n",
        scores=scores[0] if scores else "## Scores\n\nNone yet.",
    )  # fmt: skip
    return card.rstrip("\n") + "\n"


def iter_use_of_network(name: str, own_form: str) -> Iterator[str]:
    """Yield the lines of a card that say how a network is used which transformers alone cannot read, and why."""
    yield from (f"transformers alone cannot read {own_form}. This gives its network as one of transformers:", "")
    yield from ("```python", "from t5punct import model", "", f'network = model.load("{name}").network', "```", "")


def _iter_corpora(run: TrainConfig) -> Iterator[tuple[str, ...]]:
    """Yield the corpora of one run's data set, if its folder is still there, with the words that were taken of each.

    The name is a hub id, or of a path the last part: `.` is the folder that all paths are relative to.
    """
    folder = Path(run.data.path)
    prepared = _settings(PrepareConfig, folder / SETTINGS)
    if prepared is None or not (folder / COUNTS).is_file():
        return
    counts = json.loads((folder / COUNTS).read_text(encoding="utf-8"))["corpora"]
    for corpus, count in zip(prepared.corpora, counts, strict=False):
        name = corpus.dataset or corpus.path
        if corpus.dataset is None or not _HUB_ID.fullmatch(corpus.dataset):
            name = Path(prepared.root, name).name or "a folder"
        yield name, corpus.style, f"{count['words']:,}"


def _iter_runs(source: Path) -> Iterator[TrainConfig]:
    """Yield the settings of a run, of the run it began with, and so on, as far as their folders are here."""
    for _ in range(_MOST_PARENTS):
        config = _settings(TrainConfig, source / TRAIN_FILE)
        if config is None:
            return
        yield config
        source = Path(config.init_from).expanduser()


def _parent(source: str) -> tuple[str, str]:
    """Return the public name of a parent, and the licence that its card states."""
    from huggingface_hub import ModelCard, try_to_load_from_cache

    folder = Path(source).expanduser()
    if folder.is_dir():
        name, path = folder.name, folder / CARD
    elif source in bundled_names():
        return f"{source}, which ships with t5punct {__version__}", "not known"
    else:
        name, path = source, Path(str(try_to_load_from_cache(source, CARD)))
    licence = None
    with suppress(Exception):  # no card, one without metadata, or with some that cannot be read
        licence = ModelCard.load(str(path)).data.license if path.is_file() else None
    return name, licence or "not known"


def _settings(kind: type[Settings], file: Path) -> Settings | None:
    """Return the settings in a file; None if there are none, or those of another version."""
    with suppress(T5PunctError):
        return settings.load_plain(kind, file)
    return None
