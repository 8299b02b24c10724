"""Reading text safely, and writing files and folders whole or not at all.

In: a path (plain, .gz or .xz), a pipe, or `-` for standard input.  Out: lines of text.
In: the path of an output, which is checked before any work is done.  Out: a handle or a function to write with.

>>> with writing("out.txt") as handle:  # doctest: +SKIP
...     handle.write("appears only if the block ends without an error")
"""

from __future__ import annotations

import codecs
import errno
import glob
import gzip
import io
import lzma
import os
import platform
import secrets
import shutil
import stat
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import chain
from pathlib import Path
from typing import IO, Any, TextIO

from ...errors import InputError
from ..words import readable

_PARTIAL = ".t5punct"  # how the names of files begin that are not whole yet
_LONGEST_SUFFIX = 8  # characters
_ANY_MODE = 0o666  # of a file that anybody may read and write, before the umask
_ANY_WRITES = 0o222  # bits, of which a read-only file has none
STANDARD = "-"  # standard input or output, in the place of a path
PACKED = (".gz", ".xz")
MARKDOWN = (".md", ".markdown")  # read as text in folders, too
_NO_TRANSCRIPTS = ("readme.md", "readme.markdown")
_FLUSH_EVERY = 64  # pieces of text; a reader of standard output waits for no more
_FIRST_BYTES = {  # of files that are not text, whatever their names are
    b"%PDF-": "a PDF",
    b"PK\3\4": "a zip file, as .docx, .odt and .epub are",
    b"{\\rtf": "a document in RTF",
    b"\xd0\xcf\x11\xe0": "a document of Word's old kind (.doc)",
    b"\xff\xfe\0\0": "text in UTF-32",
    b"\0\0\xfe\xff": "text in UTF-32",
}
SAVE_TEXT = "save its text as .txt in the program that opens it"
BOM = "\ufeff"  # the byte order mark that some editors write at the start of a file


def lines_of_file(path: str | Path) -> Iterator[str]:
    """Yield the lines without their ends.  Raises InputError for a pipe, as callers read twice, and as `decode`."""
    if _is_special(Path(path)):
        raise InputError(f"{path} is a pipe", expected="a file, which can be read again", fix="save it to one first")
    yield from source_lines(path)


def source_lines(source: str | Path) -> Iterator[str]:
    """Yield the lines without their ends."""
    for line in source_lines_with_ends(source):
        yield line.removesuffix("\n")


def source_lines_with_ends(source: str | Path, *, keep_bom: bool = False) -> Iterator[str]:
    """Yield the lines with their ends.  Raises InputError for what does not exist, and as `decode` does."""
    if str(source) == STANDARD:
        if sys.stdin is None:
            raise InputError("standard input is closed", expected="text on it", fix="name a file")
        yield from decode(sys.stdin.buffer, "standard input", keep_bom=keep_bom)
        return
    check_source(source)
    openers: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open}
    with openers.get(Path(source).suffix, open)(source, "rb") as handle:
        yield from decode(handle, str(source), keep_bom=keep_bom)


def take_each(lines: list[str]) -> Iterator[str]:
    """Yield the lines of a list, and take them off it, so that a large file is not held twice while it is read."""
    lines.reverse()
    while lines:
        yield lines.pop()


def check_source(source: str | Path) -> None:
    """Raise InputError if a file does not exist.  Commands call this before they load a model."""
    path = Path(source)
    if str(source) == STANDARD:
        return
    if path.is_dir():
        raise InputError(f"{path} is a folder", expected="a text file", fix="name the files in it")
    if not path.exists():
        raise no_file_error(str(source), "an existing text file")


def find_files(name: str) -> tuple[Path, list[Path]]:
    """Return the folder that a name is, or that its pattern begins with, and the files in it that fit, in order.

    Files and folders whose names begin with a dot are left out.  Raises InputError for an impossible pattern, and for
    a folder on the way that may not be read: its files would be passed over, and nobody would know.
    """
    path = Path(name)
    if path.is_dir():
        base = path
        pattern: tuple[str, ...] = ("**", "*")
    else:  # the folder is what stands before the first part with a `*` or the like
        n_plain = next(n for n, part in enumerate(path.parts) if glob.has_magic(part))
        base = Path(*path.parts[:n_plain])
        pattern = path.parts[n_plain:]
    try:
        _check_folder(base)
        for n_parts in range(1, len(pattern)):
            for folder in base.glob("/".join(pattern[:n_parts])):
                _check_folder(folder)
        files = sorted(file for file in base.glob("/".join(pattern)) if file.is_file())
    except ValueError as error:  # `**` in the midst of a name, say
        raise InputError(f"pattern {name} ({error})", expected="one like talks/*.txt", fix="correct it") from None
    return base, [file for file in files if not any(part.startswith(".") for part in file.relative_to(base).parts)]


def ending_of(path: Path) -> str:
    """Return `.txt` for `talk.TXT.gz`; of `README.md`, which says what a folder holds, and nobody said, the name."""
    name = unpacked_name(path).lower()
    return name if name in _NO_TRANSCRIPTS else Path(name).suffix


def count_endings(files: Iterable[Path]) -> list[str]:
    """Return how many files have each ending, or name if they have none: `3 x .pdf`."""
    counts = Counter(ending_of(file) or file.name for file in files)
    return [f"{number} x {ending}" for ending, number in sorted(counts.items())]


def _check_folder(path: Path) -> None:
    try:
        if path.is_dir():
            os.scandir(path).close()
    except PermissionError as error:
        fix = "allow it by chmod u+rx, or move it elsewhere"
        raise InputError(f"folder {path} may not be read", expected="one that may", fix=fix) from error


def no_file_error(name: str, expected: str) -> InputError:
    """Return the error for a file that does not exist; several words may be a text."""
    if len(name.split()) > 1:
        return InputError(f"no file {name!r}", expected=expected, fix=f"give a text so: echo {name!r} | t5punct ..")
    fix = "save it to a file first" if "://" in name else "check the path"
    return InputError(f"no file {name}", expected=expected, fix=fix)


def decode(handle: IO[bytes], name: str, *, keep_bom: bool = False) -> Iterator[str]:
    """Yield the lines of a binary stream: of UTF-8, or of UTF-16 if it begins with the byte order mark of that.

    name: the stream's, for errors; keep_bom: whether the first line keeps UTF-8's byte order mark.
    Raises InputError for other bytes, and for a packed file that is damaged.
    """
    number = 0
    try:
        first = handle.readline()
        for first_bytes, kind in _FIRST_BYTES.items():
            if first.startswith(first_bytes):
                raise InputError(f"{name} is {kind}", expected="a text file", fix=SAVE_TEXT)
        if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            yield from io.StringIO((first + handle.read()).decode("utf-16"), newline="\n")
            return
        for number, line in enumerate(chain([first] if first else [], handle), start=1):
            if b"\0" in line:
                raise InputError(
                    f"{name} holds zero bytes",
                    expected="a text file",
                    fix="if it is UTF-16, convert it: iconv -f utf-16le -t utf-8 (or utf-16be); else it is binary",
                )
            yield line.decode("utf-8-sig" if number == 1 and not keep_bom else "utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} line {number} is not UTF-8 ({error.reason})" if number else f"{name} is no whole UTF-16 text",
            expected="UTF-8 text",
            fix="convert it, e.g. with iconv -f latin1 -t utf-8",
        ) from error
    except (lzma.LZMAError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        mistake = f"{name} cannot be unpacked ({error})"
        raise InputError(mistake, expected="a complete file", fix="copy it again") from error


def unpacked_name(path: str | Path) -> str:
    """Return a file's name without .gz or .xz."""
    path = Path(path)
    return path.stem if path.suffix in PACKED else path.name


def writable(path: str | Path, *, make: bool = False) -> Path:
    """Return a path with its links followed.  Raises InputError if it cannot be written.

    make: its folder will be made, if there is none.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder", expected="a file to write", fix="name a file in it")
    if _is_special(path):
        return path
    nearest = next(folder for folder in path.absolute().parents if os.path.lexists(folder))
    if make and not nearest.is_dir():  # a file, or a link that leads nowhere
        raise InputError(f"{nearest} is no folder", expected="one, or nothing of this name", fix="name another folder")
    path = Path(os.path.realpath(path))
    if path.is_symlink():  # realpath cannot follow a circle of links
        raise InputError(f"{path} is a link to itself", expected="a file to write", fix="name another")
    if not make and not path.parent.is_dir():
        raise InputError(f"no folder {path.parent}", expected="an existing folder", fix="create it first")
    folder = path.parent if path.parent.is_dir() else nearest
    if not os.access(folder, os.W_OK):
        raise InputError(f"folder {folder} is read-only", expected="one to write in", fix="name another folder")
    return path


def check_replaceable(path: Path) -> None:
    """Raise InputError for a read-only file: who protects a file does not want another in its place."""
    if not path.is_file():
        return
    if not (os.access(path, os.W_OK) and path.stat().st_mode & _ANY_WRITES):  # root has access to read-only files
        fix = "allow it by chmod u+w, or name another"
        raise InputError(f"{path} is read-only", expected="a file that may be written", fix=fix)


@contextmanager
def writing(path: str | Path) -> Iterator[TextIO]:
    """Open a file for writing.  It appears at `path` only if the block ends without an error."""
    path = writable(path)
    # /dev/null or a pipe cannot be replaced by a file
    place = nullcontext(path) if _is_special(path) else whole_file(path)
    with place as opened, opened.open("w", encoding="utf-8", newline="") as handle:
        yield handle


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give an empty file beside `path`, with its suffix.  It moves to `path` if the block ends without an error."""
    check_replaceable(path)
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    suffix = path.suffix if len(path.suffix) <= _LONGEST_SUFFIX else ""  # what follows `Vol.` in a title is no suffix
    try:
        partial = _new_file(path.parent, suffix, _ANY_MODE if mode is None else mode)
    except OSError as error:  # its own text names the new file, which the user does not know
        mistake = f"{path} cannot be written ({error.strerror})"
        raise InputError(mistake, expected="a place that takes new files", fix="name another") from error
    try:
        yield partial
        take_place(partial, path, mode)
    except BaseException:
        partial.unlink(missing_ok=True)  # missing: a signal came after the move
        raise


@contextmanager
def partial_folder(folder: Path) -> Iterator[Path]:
    """Give a free path beside a folder.  What the block writes there and does not `move` is removed at its end."""
    place = folder.absolute()
    beside = place.with_name(place.name + ".partial")
    shutil.rmtree(beside, ignore_errors=True)  # of a run that was killed
    try:
        yield beside
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def move(whole: Path, folder: Path, *, last: str = "") -> None:
    """Move a folder to its place in one step or, if a folder is there already, move its files there one by one.

    last: the file that moves last, by which readers know that the folder is whole.
    """
    if not folder.exists():
        take_place(whole, folder)
        return
    for path in sorted(whole.iterdir(), key=lambda path: path.name == last):
        take_place(path, folder / path.name)


def take_place(whole: Path, place: Path, mode: int | None = None) -> None:
    """Move a file or a folder so that, after a power cut, it is whole at its place, or not there at all.

    mode: the file's new permissions; None: they stay.
    """
    inside = whole.rglob("*") if whole.is_dir() else ()
    for path in (*inside, whole):
        if not path.is_symlink():
            _sync(path)
    if mode is not None:
        whole.chmod(mode)
    whole.replace(place)
    _sync(place.parent)


def _sync(path: Path) -> None:
    """Wait until the disk has what was written to a file, or the names that were changed in a folder."""
    is_windows = os.name == "nt"
    if is_windows and path.is_dir():  # Windows cannot open folders
        return
    descriptor = os.open(path, os.O_RDWR if is_windows else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some file systems cannot do this for folders
            raise
    finally:
        os.close(descriptor)


def _new_file(folder: Path, suffix: str = "", mode: int = _ANY_MODE) -> Path:
    """Make an empty file with a new name.  It has the permissions of `mode` that the user's umask allows."""
    # with machine and process, for `remove_leftovers`: machines may share a folder
    path = folder / f"{_PARTIAL}-{platform.node()}-{os.getpid()}-{secrets.token_hex(4)}{suffix}"
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode | stat.S_IWUSR))
    return path


def remove_leftovers(folder: Path) -> None:
    """Remove the files below a folder that `whole_file` left there when processes of this machine were killed."""
    begin = f"{_PARTIAL}-{platform.node()}-"
    for path in folder.rglob(f"{begin}*"):
        process = path.name.removeprefix(begin).partition("-")[0]
        try:
            os.kill(int(process), 0)
        except (ProcessLookupError, OverflowError):  # Overflow: a number that no process can have
            path.unlink(missing_ok=True)
        except (ValueError, PermissionError):  # no number; another user's process
            pass


def new_file_mode(folder: Path) -> int:
    """Return the permissions that a new file has in a folder.  A file shows them; `os.umask` would change the umask."""
    path = _new_file(folder)
    try:
        return stat.S_IMODE(path.stat().st_mode)
    finally:
        path.unlink()


def _is_special(path: Path) -> bool:
    """Return whether a path is a device or a pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()


def check_targets(targets: Iterable[Path], sources: Iterable[str], *, make: bool = False) -> None:
    """Raise InputError for a target that cannot be written, is a source, or is in a folder that is a source.

    make: the targets' folders will be made.  Then a read-only target is not refused here: it may be up to date, else
    its writer refuses it.
    """
    real_sources = {Path(source).resolve(): source for source in sources if Path(source).exists()}
    for target in targets:
        if target.suffix in PACKED:
            raise InputError(f"output {target}", expected="one that is not packed", fix=f"drop {target.suffix}")
        real_target = writable(target, make=make)
        if not make:
            check_replaceable(real_target)
        if real_target in real_sources:
            raise InputError(f"{target} is an input", expected="another place to write to", fix="name another")
        for folder in real_target.parents:
            if folder in real_sources:
                mistake = f"{target} is in {real_sources[folder]}, which is read"
                raise InputError(mistake, expected="another folder", fix="name another")


def named_place(name: str | Path) -> Path:
    """Return an output's path.  Raises InputError for an empty name, which an unset variable of the shell gives."""
    if not str(name):
        raise InputError("an output without a name", expected="a file or a folder", fix="name one; `.` is this folder")
    return Path(name)


@contextmanager
def open_writer(target: Path | None) -> Iterator[Callable[[Iterable[str]], None]]:
    """Give a function that writes texts one after the other, each on lines of its own, to a file or standard output.

    It takes the pieces of one text.  A file appears when the block ends; standard output is written piece by piece.  A
    lone surrogate (`"\\ud83d"` in JSON), which UTF-8 cannot hold, becomes the replacement character.
    """
    flushes = target is None  # so that a reader of standard output sees pieces at once
    is_empty = True  # whether nothing was written yet
    ends_line = True  # whether the text before does

    def put(pieces: Iterable[str]) -> None:
        nonlocal is_empty, ends_line
        if not ends_line:
            handle.write("\n")
        ends_line = True
        for index, piece in enumerate(pieces):
            if piece:
                ends_line = piece.endswith("\n")
            begins_later_text = index == 0 and not is_empty  # only an output may begin with a byte order mark
            handle.write(readable(piece.removeprefix(BOM) if begins_later_text else piece))
            is_empty = False
            if flushes and index % _FLUSH_EVERY == 0:
                handle.flush()

    if target is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
    with nullcontext(standard_output()) if target is None else writing(target) as handle:
        yield put
        if flushes:
            handle.flush()


def standard_output(errors: str = "strict") -> TextIO:
    """Return standard output, set to write UTF-8 in any locale, and line ends as they are.

    errors: the name of the codec's error handler, for surrogates.
    """
    if sys.stdout is None:
        raise InputError("standard output is closed", expected="an open one", fix="name a file with -o")
    sys.stdout.reconfigure(encoding="utf-8", newline="", errors=errors)  # type: ignore[union-attr]
    return sys.stdout
