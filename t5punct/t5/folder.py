"""The folder of a model: where it is, here or on the hub, the names of its files, and how it is written.

In: a folder, or a hub id and its revision.  Out: a folder with all files, downloaded if needed; or one to write to.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path

from ..config import check
from ..errors import ModelError, OutputError, first_line, refused_by_system
from ..text.io.files import move, new_file_mode, partial_folder

FLOAT_FILE, INT8_FILE, TAGGER_FILE = "model.safetensors", "model-int8.safetensors", "tagger.safetensors"
SHARED_FILE = "shared-weights.json"  # which weights another model's folder holds (`int8`)
ENCODER_T5 = "encoder-t5"  # as config.json names an encoder of another family under a T5 decoder (`encoder_t5`)
ONNX_FILES = {"fp32": "encoder.onnx", "int8": "encoder-int8.onnx"}  # by the precision that they compute in
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")  # OWNER/NAME; the hub is not asked for other names
_SMALL_FILES = ["*.json", "*.yaml", "*.model", "*.txt", "README.md"]
_BELOW = ["*/*"]  # subfolders, which hold the weights in other forms
_WEIGHTS = ["*.safetensors", *ONNX_FILES.values()]


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Give a folder to write a model in; its files are moved to `folder` once all are written, or none is.

    All weights of an earlier model in `folder` are removed; its other files stay.
    """
    with partial_folder(folder) as beside:
        yield beside
        with writing_folder(folder):
            remove_weights(folder)
            move(beside, folder)


def remove_weights(folder: Path) -> None:
    """Remove all weights of a model, before another one is written to its folder."""
    names = (FLOAT_FILE, SHARED_FILE, TAGGER_FILE, *ONNX_FILES.values())
    for path in (*int8_files(folder), *(folder / name for name in names)):
        path.unlink(missing_ok=True)


def int8_files(folder: Path) -> list[Path]:
    """Return the files of a folder's weights in int8: one, or shards in order."""
    return sorted(folder.glob(INT8_FILE.replace(".safetensors", "*.safetensors")))


@contextmanager
def writing_folder(folder: Path) -> Iterator[None]:
    """Let a block write a model's folder.  Raises OutputError if there is no room.

    Safetensors lets only the owner read its files, so at the end they get the permissions of any new file.
    """
    try:
        yield
        for path in folder.glob("*.safetensors"):
            path.chmod(new_file_mode(folder))
    except Exception as error:
        if not refused_by_system(error):
            raise
        mistake, expected = f"{folder} cannot be written ({first_line(error)})", "a folder with room for a model"
        raise OutputError(mistake, expected=expected, fix="free some space or choose another output") from error


def locate(source: str | Path, kind: str, revision: str | None, *, known: Sequence[str]) -> Path:
    """Return the folder of a model, or of a tokenizer (`kind`), downloaded if `source` is a hub id.

    known: other names, which the error suggests if one of them is like `source`.  Raises ModelError for what is neither
    a folder nor a hub id.
    """
    expected = f"a T5 folder or hub id (OWNER/NAME), or one of {', '.join(known)}"
    folder = Path(os.path.expanduser(source))  # noqa: PTH111  (pathlib's raises for an unknown ~user)
    if folder.is_dir():
        if revision is not None:
            raise ModelError(f"revision {revision} of the folder {source}", expected="a hub id", fix="drop revision")
        return folder
    is_path_here = Path(folder.parts[0]).exists() if folder.parts else False  # a mistyped path, and no hub id
    if isinstance(source, str) and _HUB_ID.fullmatch(source) and not is_path_here:
        from huggingface_hub import snapshot_download

        wanted = _SMALL_FILES if kind == "tokenizer" else _SMALL_FILES + _WEIGHTS
        try:
            return Path(snapshot_download(source, revision=revision, allow_patterns=wanted, ignore_patterns=_BELOW))
        except Exception as error:  # no network, no such name or revision, no permission: no common base class
            named = f"{source} in revision {revision}" if revision else source
            mistake = f"no {kind} {named} on the hub ({first_line(error)})"
            raise ModelError(mistake, expected=expected, fix="check the name and the network") from error
    candidates = known if str(source).isalpha() else ()  # `t5-small` is another model than `small`
    nearest = get_close_matches(str(source).lower(), candidates, n=1, cutoff=0.65)
    fix = f"did you mean {nearest[0]}?" if nearest else "check the name"
    raise ModelError(f"no {kind} folder {source}", expected=expected, fix=fix)


def check_push(hub_id: str) -> None:
    """Raise OutputError for what is known before a model is sent: a wrong name, no network, no login."""
    from huggingface_hub import get_token, is_offline_mode
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]  # documented, and not in a list

    try:
        validate_repo_id(hub_id)
    except HFValidationError as error:
        raise OutputError(f"hub id {hub_id!r}", expected="OWNER/NAME", fix="check --push-to-hub") from error
    mistake = f"no way to push to {hub_id}: HF_HUB_OFFLINE is set"
    check(not is_offline_mode(), mistake, expected="a network", fix="unset HF_HUB_OFFLINE", kind=OutputError)
    mistake, fix = f"no login to push to {hub_id} with", "run `hf auth login`, or set HF_TOKEN"
    check(get_token() is not None, mistake, expected="a token that may write", fix=fix, kind=OutputError)


def push(folder: Path, hub_id: str, *, private: bool = False) -> str:
    """Send a folder's files to the hub, and return the address of the commit.

    A repository that is not there is made: private if asked for, else by its owner's default.  Nothing else
    ever leaves the machine.  Raises OutputError if the hub refuses, or cannot be reached.
    """
    from huggingface_hub import HfApi

    try:
        api = HfApi()
        api.create_repo(hub_id, private=private or None, exist_ok=True)
        sent = api.upload_folder(repo_id=hub_id, folder_path=folder, commit_message="t5punct export")
    except Exception as error:  # no network, no permission, no room: no common base class
        mistake = f"{folder} is written, but not pushed to {hub_id} ({first_line(error)})"
        fix = "check the name, the login (`hf auth whoami`) and the network"
        raise OutputError(mistake, expected="a hub id that you may write to, and a network", fix=fix) from error
    return str(sent.commit_url)
