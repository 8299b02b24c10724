"""Where a model's files are: in a folder, or on the hub.

In: a folder, or a hub id and a revision of it.  Out: a folder that holds all the files, downloaded if need be.

`locate("runs/mine", "model")` is that folder; `locate("someone/punct", "model", "v2")` is its copy in the hub's cache.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from ..errors import ModelError, first_line

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
# a model's own folder; below it lie other forms of its weights
_SMALL_FILES, _WEIGHTS, _BELOW = ["*.json", "*.yaml", "*.model", "*.txt"], ["*.safetensors"], ["*/*"]


def locate(source: str | Path, kind: str, revision: str | None = None) -> Path:
    """The folder of a model, or of a tokenizer (`kind`), which is looked up on the hub if a hub id is named.

    Raises ModelError for what looks like a path and is no folder: a typing error must not be asked of the network.
    """
    folder = Path(os.path.expanduser(source))  # noqa: PTH111  (pathlib's raises for an unknown ~user)
    if folder.is_dir():
        if revision is not None:
            raise ModelError(f"revision {revision} of the folder {source}", expected="a hub id", fix="drop --revision")
        return folder
    if isinstance(source, str) and _HUB_ID.fullmatch(source) and not Path(folder.parts[0]).exists():
        return _snapshot(source, kind, revision)
    raise ModelError(f"no {kind} folder {source}", expected="a T5 folder or hub id", fix="check the name")


def _snapshot(hub_id: str, kind: str, revision: str | None) -> Path:
    """All files together, the task's and the tagger's as well, which no library of the hub's knows of."""
    from huggingface_hub import snapshot_download

    wanted = _SMALL_FILES if kind == "tokenizer" else _SMALL_FILES + _WEIGHTS
    try:
        return Path(snapshot_download(hub_id, revision=revision, allow_patterns=wanted, ignore_patterns=_BELOW))
    except Exception as error:  # no network, no such name or revision, no permission: they have no common base
        named = f"{hub_id} in revision {revision}" if revision else hub_id
        raise ModelError(
            f"no {kind} {named} on the hub ({first_line(error)})",
            expected="a T5 folder or hub id",
            fix="check the name and the network",
        ) from error
