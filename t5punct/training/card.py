"""The card of a model that is shared out: what it is, its parents and their licences, its data, its scores, its use.

In: the folder of a run, and a name.  Out: `README.md` in Markdown, with the metadata that the hub reads.

`compose_card(Path("runs/mine"), task, "someone/mine")` tells what the run's own files tell, and no path of this
machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from .. import __version__
from .. import config as settings
from ..errors import T5PunctError
from ..evaluation.score_table import score_text
from ..model import bundled_names
from ..t5.task import TaskConfig
from .checkpoint import TRAIN_FILE
from .config import VALUES, TrainConfig
from .data.prepare import COUNTS, SETTINGS, PrepareConfig
from .data.readers import CorpusConfig

CARD = "README.md"
_MADE = "<!-- written by t5punct export; a card without this line is kept -->"
_MOST_PARENTS = 20
Settings = TypeVar("Settings")
_HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")


@dataclass(frozen=True)
class Parent:
    """A model that another began with."""

    name: str  # a hub id, or the name of a folder
    licence: str | None  # as its own card says


def may_write(path: Path) -> bool:
    """Return whether a card may be written there: a person's own is kept."""
    return not path.is_file() or _MADE in path.read_text(encoding="utf-8")


def compose_card(
    source: Path,
    task: TaskConfig,
    name: str,
    *,
    licence: str | None = None,
    own_form: str | None = None,
) -> str:
    """Return the card of a run's model; `name`: what loads it.

    `own_form`: what transformers alone cannot read of it, in words.
    """
    from huggingface_hub import ModelCardData

    runs = tuple(_runs(source))
    origins = [str(run.init_from) for run in runs if run.init_from is not None]
    parents = [
        _parent(origin) for origin in origins or ([] if source.is_dir() else [str(source)])
    ]  # of the hub, or bundled
    hub_ids = [parent.name for parent in parents if "/" in parent.name]
    data = ModelCardData(
        language=None,
        license=licence,
        library_name="t5punct",
        tags=["punctuation-restoration", "truecasing", "t5"],
        base_model=hub_ids[-1] if hub_ids else None,
    )
    lines = [
        *("---", data.to_yaml(), "---", _MADE, f"# {name.rpartition('/')[2]}", ""),
        f"A T5 that puts marks and capitals into transcripts; no word is changed. For t5punct {__version__} and later.",
        "",
        *_use(name, task, runs[0].loss.decoder if runs else "slots"),
        *(iter_use_of_network(name, own_form) if own_form else ()),
        *_parents(parents, licence),
        *_data(runs),
        *_scores(source),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"


def _use(name: str, task: TaskConfig, decoder: str) -> Iterator[str]:
    """With the decoder that was trained, which has a name of its own where it is not the default."""
    if decoder == "slots":
        option, imported, construction = "", "Punctuator", f'Punctuator.from_pretrained("{name}")'
    else:
        option, imported = f" --decoder {decoder}", "DecodingConfig, Punctuator, PunctuatorConfig"
        config = f'PunctuatorConfig(decoding=DecodingConfig("{decoder}"))'
        construction = f'Punctuator.from_pretrained("{name}", {config})'
    yield from ("## Use", "", "```sh", f"t5punct punctuate talk.txt --model {name}{option}", "```", "")
    yield from ("```python", f"from t5punct import {imported}", "")
    yield from (f'print({construction}.punctuate("how are you today"))', "```", "")
    case = "capitals too" if task.cased else "no capitals: it writes lower case"
    yield f"Marks `{' '.join(task.marks)}`, {case}. Styles: {', '.join(task.styles)} (default: {task.default_style})."
    yield ""


def iter_use_of_network(name: str, own_form: str) -> Iterator[str]:
    """Yield the lines of a card that say how a network is used which transformers alone cannot read, and why."""
    yield from (f"transformers alone cannot read {own_form}. This gives its network as one of transformers:", "")
    yield from ("```python", "from t5punct import model", "", f'network = model.load("{name}").network', "```", "")


def _parents(parents: list[Parent], licence: str | None) -> Iterator[str]:
    yield from ("## Parents", "")
    if parents:
        yield from ("| model | licence |", "| --- | --- |")
        yield from (f"| {parent.name} | {parent.licence or 'not known'} |" for parent in parents)
    else:
        yield "None that its files name: it began with random weights, or they do not say."
    yield from ("", f"Licence of this model: {licence or 'not stated'}.", "")


def _data(runs: tuple[TrainConfig, ...]) -> Iterator[str]:
    """The corpora of the run and of its parents, newest first."""
    yield from ("## Data", "")
    rows = list(dict.fromkeys(row for run in runs for row in _corpora(run)))
    if rows:
        yield from ("| corpus | style | words |", "| --- | --- | --- |", *rows)
    else:
        yield "Not known here."
    yield ""


def _corpora(run: TrainConfig) -> Iterator[str]:
    """The corpora of one run's data set, if its folder is still there, with the words that were taken of each.

    A data set of an older version does not say these, and a stream does not count them: there it is the budget.
    """
    folder = Path(run.data.path)
    prepared = _settings(PrepareConfig, folder / SETTINGS) if run.data.path else None
    if prepared is None:
        return
    counts = _values(folder / COUNTS).get("corpora") or [{} for _ in prepared.corpora]
    for corpus, counted in zip(prepared.corpora, counts, strict=False):
        words = counted.get("words") or corpus.words
        yield f"| {_corpus_name(corpus, prepared.root)} | {corpus.style} | {f'{words:,}' if words else 'all'} |"


def _corpus_name(corpus: CorpusConfig, root: str) -> str:
    """A hub id, or of a path the last part: `.` is the folder that all paths are relative to."""
    if corpus.dataset is not None and _HUB_ID.fullmatch(corpus.dataset):
        return corpus.dataset
    return Path(root, corpus.dataset or corpus.path).name or "a folder"


def _scores(source: Path) -> Iterator[str]:
    """What `t5punct report` has found."""
    yield from ("## Scores", "")
    scores = _values(source / VALUES).get("scores")
    if not scores:
        yield "None yet."
        return
    spread = scores["micro_f1_interval"]
    between = f" ({spread[0]:.1f} to {spread[1]:.1f})" if spread else ""
    yield from (f"On {scores['words']:,} words of {Path(scores['data']).name}:", "")
    yield from ("| class | precision | recall | F1 (95 %) |", "| --- | --- | --- | --- |")
    for name, values in scores["per_class"].items():
        numbers = (score_text(values[column]) for column in ("precision", "recall", "f1"))
        yield f"| {name} | {' | '.join(numbers)} |"
    micro = (score_text(scores[name]) for name in ("micro_precision", "micro_recall", "micro_f1"))
    yield f"| micro | {' | '.join(micro)}{between} |"
    yield from ("", f"Settings: `{re.sub(r'[|]model:[^|]*', '', scores['signature'])}`")


def _runs(source: Path) -> Iterator[TrainConfig]:
    """The settings of a run, of the run it began with, and so on, as far as their folders are here."""
    for _ in range(_MOST_PARENTS):
        config = _settings(TrainConfig, source / TRAIN_FILE)
        if config is None:
            return
        yield config
        if config.init_from is None:
            return
        source = Path(config.init_from).expanduser()


def _settings(kind: type[Settings], file: Path) -> Settings | None:
    """The settings in a file; None if there are none, or those of another version."""
    try:
        return settings.load_plain(kind, file)
    except T5PunctError:
        return None


def _parent(source: str) -> Parent:
    """A parent by the name that may be told to others, with the licence that its card states."""
    from huggingface_hub import ModelCard, try_to_load_from_cache

    folder = Path(source).expanduser()
    is_here = folder.is_dir()
    if source in bundled_names() and not is_here:
        return Parent(f"{source}, which ships with t5punct {__version__}", None)
    path = folder / CARD if is_here else try_to_load_from_cache(source, CARD)
    licence = None
    if path and Path(str(path)).is_file():
        try:
            licence = ModelCard.load(str(path)).data.license
        except Exception:  # a card without metadata, or with some that cannot be read
            licence = None
    return Parent(folder.name if is_here else source, licence)


def _values(path: Path) -> Mapping[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}
