"""What stands in a checkpoint's folder beside the checkpoint: the best model, earlier checkpoints, people's own files.

In: the folder of the last checkpoint, and a new one that is about to take its place.  Out: the new folder, with all of
it.  As the new folder then takes the old one's place by a rename, there is no moment without any of them.

    runs/mine/model.safetensors ..     the newest checkpoint: a model, and what resuming needs
    runs/mine/best/                    the model of the best validation so far, and score.json
    runs/mine/checkpoint-1500/         with keep: 3, the two checkpoints before the newest
    runs/mine/checkpoint-1000/

Folders of checkpoints are linked, not copied: large weights are written once.  The old folder's links go with it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

from ...t5.folder import TAGGER_FILE
from ..config import PAGE, PICTURE, VALUES

BEST, SCORE_FILE = "best", "score.json"
_OUTDATED = (TAGGER_FILE, PAGE, PICTURE, VALUES)  # of a folder, for its successor: other weights have other scores


def copy_best(folder: Path, score: dict[str, float]) -> None:
    """Copy the model in a folder, in which nothing else stands yet, to its `best`, with the score that it got.

    A copy and no link: who changes the best model's settings by hand does not change the run's.
    """
    files = [path for path in folder.iterdir() if path.is_file()]
    (folder / BEST).mkdir()
    for path in files:
        shutil.copy2(path, folder / BEST / path.name)
    (folder / BEST / SCORE_FILE).write_text(json.dumps(score) + "\n", encoding="utf-8")


def keep_earlier(folder: Path, successor: Path, step: int, next_step: int, keep: int) -> None:
    """Link into the successor the checkpoint of a folder, and earlier ones there, so that `keep` are kept with it."""
    if keep > 1 and step != next_step:
        earlier = successor / f"checkpoint-{step}"
        earlier.mkdir()
        for path in folder.iterdir():
            if path.is_file() and (path.name == TAGGER_FILE or (successor / path.name).is_file()):
                _link(path, earlier / path.name)
    room = keep - 1 - len(_checkpoints(successor))
    for path in _checkpoints(folder)[:room] if room > 0 else ():
        if not (successor / path.name).exists() and path.name != f"checkpoint-{next_step}":
            shutil.copytree(path, successor / path.name, copy_function=_link)


def carry_over(folder: Path, successor: Path) -> None:
    """Link the best model of a folder into its successor, and copy what is no part of a checkpoint: cards, notes.

    The run's report stays behind: it is about the weights that are replaced.
    """
    earlier = {path.name for path in _checkpoints(folder)}
    for path in folder.iterdir():
        if path.name in _OUTDATED or path.name in earlier or (successor / path.name).exists():
            continue
        if path.is_dir():
            shutil.copytree(path, successor / path.name, copy_function=_link if path.name == BEST else shutil.copy2)
        else:
            shutil.copy2(path, successor / path.name)


def _checkpoints(folder: Path) -> list[Path]:
    """The earlier checkpoints in a folder, the last one first."""
    checkpoints = [path for path in folder.iterdir() if re.fullmatch(r"checkpoint-\d+", path.name)]
    return sorted(checkpoints, key=lambda path: int(path.name.rpartition("-")[2]), reverse=True)


def _link(source: str | Path, target: str | Path) -> None:
    """A second name for a file; a copy where the file system has no such names."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
