"""The pages about a finished run: its report, and the card of a model that is shared out.

The report is `report.md` in the run's folder, with `report.png` (with matplotlib, the extra `report`) and `report.json`
beside it.  The card is a README.md with the metadata that the hub reads.  It states what the run's own files state, and
contains no path of this machine.
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
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
from ..evaluation.references import count_words
from ..evaluation.score_table import as_json, comparison_json, difference_cells, score_text
from ..evaluation.significance import interval
from ..extras import way_to_install
from ..model import bundled_names, read_task
from ..punctuator import Punctuator, PunctuatorConfig
from ..t5.task import TaskConfig
from ..text.io.files import whole_file, writing
from .checkpoint import PAGE, PICTURE, TRAIN_FILE, VALUES
from .config import TrainConfig
from .data.prepare import COUNTS, SETTINGS, PrepareConfig, markdown_table
from .loop.progress import log_of

_PACKAGES = ("torch", "transformers", "accelerate", "datasets", "tokenizers")
_TRIED_WORDS = 300  # of the text, to see how fast a model is; at least so many are scored
_MAX_SECONDS = 600  # of scoring, for all models together
_LOSSES = {  # names in the log, and what a picture calls them
    "text_loss": "text loss",
    "tag_loss": "tagger loss",
    "validation_loss": "validation, text loss",
    "validation_tag_loss": "validation, tagger loss",
}
CARD = "README.md"
_MADE = "<!-- written by t5punct export; a card without this line is kept -->"
_HUB_ID = re.compile(r"\w[\w.-]*(/[\w.-]+)?")
Settings = TypeVar("Settings")
OnWords = Callable[[int, int], None]  # called with how many words are scored so far, and how many there are


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a log, in order; none without a log.  A loss of 0, which was not trained, is left out."""
    lines = list[dict[str, Any]]()
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        with suppress(ValueError):  # half a line, of a run that was killed
            lines.append({name: value for name, value in json.loads(line).items() if value or name not in _LOSSES})
    return lines


def run_config(run: Path) -> TrainConfig:
    """Return the settings of a finished run.  Raises ModelError if the folder has none."""
    if not (run / TRAIN_FILE).is_file():
        raise ModelError(f"no {TRAIN_FILE} in {run}", expected="the folder of a training run", fix="check the name")
    return settings.load_plain(TrainConfig, run / TRAIN_FILE)


def write_report(run: Path, config: TrainConfig, on_progress: OnWords = lambda n_done, n_words: None) -> Path:
    """Score a run, write its page with a picture and its values beside it, and return the path of the page.

    Raises InputError for a text that cannot be read, and ModelError for a run without a model.
    """
    import torch

    log = read_log(log_of(run))
    report, comparison, notes = _score(run, config, on_progress)
    lines = [f"# {run.name}", ""]
    seconds = 0.0  # of training, without validation and saving
    words = 0
    for line in log:
        if line.get("words_per_second"):
            seconds += (line["words"] - words) / line["words_per_second"]
            words = line["words"]
    if seconds:
        lines.append(
            f"- {log[-1]['step']:,} steps on {words:,} words in {seconds / 60:,.1f} minutes, without validation and "
            f"saving: {words / seconds:,.0f} words a second."
        )
    lines += [*(f"- {note}" for note in notes), ""]
    if draw_curves(log, run / PICTURE):
        lines += [f"![losses and scores]({PICTURE})", ""]
    elif log:
        lines += [f"No picture: matplotlib is missing ({way_to_install('report')}).", ""]
    if report is not None:
        lines += _lines_of_scores(report, comparison, config.report.against)
    versions = [f"Python {platform.python_version()}", f"t5punct {__version__}"]
    versions += [f"{name} {metadata.version(name)}" for name in _PACKAGES if find_spec(name) is not None]
    devices = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    machine = f"{platform.system()} on {platform.machine()}, {os.cpu_count()} processors"
    machine += f", accelerators: {', '.join(devices) or 'none'} (where this page was written)"
    lines += ["## Environment", "", f"- {', '.join(versions)}", f"- {machine}", ""]
    lines += ["## Settings", "", "```yaml", settings.as_yaml(config).rstrip("\n"), "```"]
    scores = {"scores": report and as_json(report), "comparison": comparison and comparison_json(comparison)}
    for name, text in ((VALUES, json.dumps(scores, ensure_ascii=False, indent=2)), (PAGE, "\n".join(lines))):
        with writing(run / name) as handle:
            handle.write(text + "\n")
    return run / PAGE


def _lines_of_scores(report: Report, comparison: Comparison | None, against: str | None) -> list[str]:
    """Return the lines about a run's scores, and its gain over `against` (None: the model that it began with)."""
    scores = report.scores
    columns = ["score", "precision", "recall", "F1 (95 %)", "in the text"]
    rows: dict[str, list[object]] = {}  # by the name of the score
    for name, row in scores.by_name.items():
        f1 = score_text(score_of(scores, name))
        spread = interval(report.counts, f1_of(name))
        if spread is not None:  # a single document has none
            f1 += f" ({spread.low:.1f} to {spread.high:.1f})"
        rows[name] = [name, score_text(row.precision), score_text(row.recall), f1, row.reference]
    rows[CAPITALS] = [CAPITALS, "", "", score_text(scores.cased_accuracy), ""]
    if comparison is not None:
        columns += [Path(against).name if against else "at the start", "gain", "95 %", "p"]
        for difference in comparison.differences:
            rival_score, _own_score, gain, limits, p_value = difference_cells(difference)
            rows[difference.name] += [rival_score, gain, limits, p_value]
    explanation = (
        f"Macro F1 {score_text(scores.macro_f1)}, slot error rate {score_text(scores.slot_error_rate)} (percent). "
        "`boundary`: sentence ends; `capitals`: how many are written right. Intervals are those of a bootstrap over "
        f"{len(report.counts)} documents (of IWSLT rows: stretches of 500 words); with fewer than about ten they say "
        "little. p: how often chance alone gives as large a difference."
    )
    signature = re.sub(r"[|]model:[^|]*", "", report.signature)  # a card has no path of this machine
    lines = [f"## Scores on {Path(report.data).name}", "", f"Of {scores.words:,} words.", ""]
    lines += markdown_table(columns, rows.values())
    return [*lines, explanation, "", f"Settings of the scores: `{signature}`", ""]


def _score(run: Path, config: TrainConfig, on_progress: OnWords) -> tuple[Report | None, Comparison | None, list[str]]:
    """Return the run's scores, how they compare with a rival's, and notes on what could not be scored."""
    file = config.report.file or config.validation.file
    max_words = config.report.max_words
    if file is None or not max_words:
        why = "no validation text was named" if file is None else "report.max_words is 0"
        return None, None, [f"There are no scores: {why}. `t5punct report {run} file=TEXT` adds them."]
    decoding = PunctuatorConfig(decoding=DecodingConfig(config.loss.decoder))
    systems = [Punctuator.from_pretrained(str(run), decoding)]
    notes = list[str]()
    against = config.report.against
    try:
        systems.insert(0, Punctuator.from_pretrained(against or config.init_from, decoding))
    except T5PunctError as error:
        rival = f"model {against}" if against else f"starting model {config.init_from}"
        notes.append(f"The {rival} cannot be compared: {error}")
    n_in_file = count_words(file, max_words) or max_words
    n_words = max_words
    if max_words > _TRIED_WORDS:
        trials = [evaluate_file(file, system, max_words=_TRIED_WORDS) for system in systems]
        seconds_per_word = sum(trial.seconds / max(1, trial.scores.words) for trial in trials)
        n_words = max(_TRIED_WORDS, min(max_words, int(_MAX_SECONDS / seconds_per_word)))
    if n_words < n_in_file:
        notes.append(f"At most {n_words:,} words are scored, to end in {_MAX_SECONDS // 60} minutes.")

    def advance(n_done: int) -> None:
        on_progress(n_done, len(systems) * min(n_words, n_in_file))

    if len(systems) == 1:
        return evaluate_file(file, systems[0], max_words=n_words, on_progress=advance), None, notes
    comparison = compare_file(file, *systems, max_words=n_words, on_progress=advance)
    return comparison.second, comparison, notes


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
    figure.tight_layout()
    with whole_file(path) as partial:
        figure.savefig(partial, dpi=110)
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

{network}## Parent

{parent}

Licence of this model: {licence}.

## Data

{corpora}
{scores}"""


def compose_card(
    source: Path, task: TaskConfig, name: str, *, licence: str | None = None, own_form: str | None = None
) -> str:
    """Return the card of the model of a run in the folder `source`; `name`: what loads the model.

    `own_form` says in words what transformers alone cannot read of the model.
    """
    from huggingface_hub import ModelCardData

    run = _load_settings(TrainConfig, source / TRAIN_FILE)
    parent = None
    about_parent = "Not known here."
    corpora = list[tuple[str, str, str]]()
    option = ""
    imported = "Punctuator"
    arguments = f'"{name}"'
    if run is not None:
        parent, parent_licence = _name_and_licence(run.init_from)
        about_parent = f"{parent} (licence: {parent_licence})"
        corpora += _iter_corpora(Path(run.data.path))
        if run.loss.decoder != "auto":  # the default
            option = f" --decoder {run.loss.decoder}"
            imported = "DecodingConfig, Punctuator, PunctuatorConfig"
            arguments += f', PunctuatorConfig(decoding=DecodingConfig("{run.loss.decoder}"))'
    data = ModelCardData(
        language=None, license=licence, library_name="t5punct",
        base_model=parent if parent and "/" in parent else None,
        tags=["punctuation-restoration", "truecasing", "t5"],
    )  # fmt: skip
    page = (source / PAGE).read_text(encoding="utf-8") if (source / PAGE).is_file() else ""
    scores = re.search(r"^## Scores.*?(?=^## )", page, re.M | re.S)
    changed = [name for name, value in asdict(read_task(source)).items() if value != getattr(task, name)]
    remark = f"Scored before the export changed {', '.join(changed)}." if changed else ""
    card = _CARD.format(
        metadata=data.to_yaml(), made=_MADE, title=name.rpartition("/")[2], version=__version__, name=name,
        option=option, imported=imported, arguments=arguments, marks=" ".join(task.marks),
        case="capitals too" if task.cased else "no capitals: it writes lower case",
        styles=", ".join(task.styles), default_style=task.default_style,
        network="\n".join([*iter_use_of_network(name, own_form), ""]) if own_form else "",
        parent=about_parent,
        licence=licence or "not stated",
        corpora="\n".join(markdown_table(("corpus", "style", "words"), corpora)) if corpora else "Not known here.\n",
        scores=scores[0] + remark if scores else "## Scores\n\nNone yet.",
    )  # fmt: skip
    return card.rstrip("\n") + "\n"


def iter_use_of_network(name: str, own_form: str) -> Iterator[str]:
    """Yield the lines of a card that say how to use a network which transformers alone cannot read."""
    yield from (f"transformers alone cannot read {own_form}. This gives its network as one of transformers:", "")
    yield from ("```python", "from t5punct import model", "", f'network = model.load("{name}").network', "```", "")


def _iter_corpora(data: Path) -> Iterator[tuple[str, str, str]]:
    """Yield name, style and number of words taken of each corpus in a data set; nothing if the folder is gone."""
    prepared = _load_settings(PrepareConfig, data / SETTINGS)
    if prepared is None or not (data / COUNTS).is_file():
        return
    counts = json.loads((data / COUNTS).read_text(encoding="utf-8"))["corpora"]
    for corpus, count in zip(prepared.corpora, counts, strict=False):
        # a path of `.` is the folder that all paths are relative to
        name = _public_name(corpus.dataset) if corpus.dataset else Path(prepared.root, corpus.path).name
        yield name or "a folder", corpus.style, f"{count['words']:,}"


def _public_name(source: str) -> str:
    """Return a hub id as it is, and of a path, which may name people and places, the last part."""
    return source if _HUB_ID.fullmatch(source) else Path(source).name


def _name_and_licence(source: str) -> tuple[str, str]:
    """Return the public name of a model, and the licence that the card in its folder states."""
    from huggingface_hub import ModelCard

    folder = Path(source).expanduser()
    if not folder.is_dir():
        if source in bundled_names():
            return f"{source}, which ships with t5punct {__version__}", "see its card"
        return _public_name(source), "see its card" if _HUB_ID.fullmatch(source) else "not known"
    licence = None
    with suppress(Exception):  # no card, one without metadata, or with some that cannot be read
        licence = ModelCard.load(str(folder / CARD)).data.license if (folder / CARD).is_file() else None
    return folder.name, licence or "not known"


def _load_settings(kind: type[Settings], file: Path) -> Settings | None:
    """Return the settings in a file; None if there are none, or those of another version."""
    with suppress(T5PunctError):
        return settings.load_plain(kind, file)
    return None
