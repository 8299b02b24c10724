"""The folder of a data set: made beside its place, and moved there when it is whole.

In: an output folder.  Out: a folder to write to, whose files appear in the output folder if nothing fails.

`with make_data_folder(Path("prepared/mine")) as folder: ...` writes to `prepared/mine.partial`, which the
next run removes if this one is killed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...errors import ConfigError, OutputError, refused_by_system
from ...text.io.files import move, partial_folder
from ...text.spelling_table import TABLE_FILE
from ..checkpoint.lock import check_own, lock_folder

SPLITS = ("train", "validation")
LAST = "dataset_dict.json"  # what `datasets` looks for: the last file to appear
REPORT, PICTURE, COUNTS, SETTINGS = "report.md", "report.png", "report.json", "prepare.yaml"
_MADE = (LAST, SETTINGS, REPORT, PICTURE, COUNTS, TABLE_FILE, "tokenizer", *SPLITS)  # what a data set's folder holds


@contextmanager
def make_data_folder(folder: Path) -> Iterator[Path]:
    """Give a folder to make a data set in.  What others laid into the output folder stays.

    Raises ConfigError if a data set would be overwritten or this is no folder of its own, and OutputError if there is
    no room for one.
    """
    check_own(folder)
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"output {folder} is a file", expected="a folder", fix="choose another output")
    for name in _MADE:
        if (folder / name).exists():
            raise ConfigError(
                f"output {folder} holds {name} already",
                expected="a folder without a data set",
                fix="remove it or choose another output",
            )
    with lock_folder(folder), partial_folder(folder) as beside:
        try:
            beside.mkdir()
            yield beside
            move(beside, folder, last=LAST)
        except Exception as error:
            at = getattr(error, "filename", None)  # an input that cannot be read has one, in another folder
            if not refused_by_system(error) or (at and not Path(str(at)).is_relative_to(beside)):
                raise
            raise OutputError(
                f"{folder} cannot be written ({error})", expected="a folder with room", fix="free some space"
            ) from error
