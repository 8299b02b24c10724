"""The folder of a model: the names of its weights' files, and how it is written.

In: where a model is to be.  Out: a folder to write to, without weights of an earlier model.

`with whole_folder(Path("models/mine")) as folder: ...` writes beside it, and moves what is written once all is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import OutputError, first_line, refused_by_system
from ..text.io.files import move, new_file_mode, partial_folder

FLOAT_FILE, INT8_FILE, TAGGER_FILE = "model.safetensors", "model-int8.safetensors", "tagger.safetensors"
SHARED_FILE = "shared-weights.json"  # which weights another model's folder holds (`int8`)
ENCODER_T5 = "encoder-t5"  # as config.json names an encoder of another family under a T5 decoder (`encoder_t5`)
ONNX_FILES = {"fp32": "encoder.onnx", "int8": "encoder-int8.onnx"}  # by the precision that they compute in


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Give another folder to write a model in; its files go to `folder` once all are written, or none does.

    Weights of an earlier model in `folder` go, also those that this one does not have; other files stay.
    """
    with partial_folder(folder) as beside:
        yield beside
        with writing_folder(folder):
            remove_weights(folder)
            move(beside, folder)


def remove_weights(folder: Path) -> None:
    """Remove the weights of a model that is to be written anew: of what it lacks now, nothing may stay."""
    names = (FLOAT_FILE, SHARED_FILE, TAGGER_FILE, *ONNX_FILES.values())
    for path in (*int8_files(folder), *(folder / name for name in names)):
        path.unlink(missing_ok=True)


def int8_files(folder: Path) -> list[Path]:
    """Return the files of a folder's weights in int8: one, or shards in order."""
    return sorted(folder.glob(INT8_FILE.replace(".safetensors", "*.safetensors")))


@contextmanager
def writing_folder(folder: Path) -> Iterator[None]:
    """Write a model's folder: raises OutputError if there is no room, and sets the weights' permissions.

    Safetensors lets only the owner read what it writes; at the end the weights have the permissions of any new file.
    """
    try:
        yield
        for path in folder.glob("*.safetensors"):
            path.chmod(new_file_mode(folder))
    except Exception as error:
        if not refused_by_system(error):
            raise
        raise OutputError(
            f"{folder} cannot be written ({first_line(error)})",
            expected="a folder with room for a model",
            fix="free some space or choose another output",
        ) from error
