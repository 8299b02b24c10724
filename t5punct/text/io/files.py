"""Reading text safely, and writing files and folders whole or not at all.

In: a path (plain, .gz or .xz), a pipe, or `-` for standard input.  Out: decoded text, whole or line by line.  Or a path
as the user gives it for output, checked before any work is done, and a way to write to it.

>>> with writing("out.txt") as handle:  # doctest: +SKIP
...     handle.write("appears only if the block ends without an error")
>>> with partial_folder(Path("models/mine")) as folder:  # doctest: +SKIP
...     write_all(folder)  # to models/mine.partial, which is gone at the end of the block
...     move(folder, Path("models/mine"))
"""

from __future__ import annotations

import codecs
import errno
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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any, TextIO

from ...errors import InputError
from ..words import readable

_PARTIAL = ".t5punct"
_SUFFIX_CHARS = 8
_ANY_MODE = 0o666  # of a file that anybody may read and write, before the umask
_ANY_WRITES = 0o222
STANDARD = "-"  # standard input or output, in the place of a path
PACKED = (".gz", ".xz")
_FLUSHED_PIECES = 64  # a reader of standard output sees what was decided at the latest after so many more
_DOCUMENTS = {  # which begin as no text does, whatever their names are
    b"%PDF-": "a PDF",
    b"PK\3\4": "a zip file, as .docx, .odt and .epub are",
    b"{\\rtf": "a document in RTF",
    b"\xd0\xcf\x11\xe0": "a document of Word's old kind (.doc)",
    b"\xff\xfe\0\0": "text in UTF-32",
    b"\0\0\xfe\xff": "text in UTF-32",
}
SAVE_TEXT = "save its text as .txt in the program that opens it"
BOM = "\ufeff"  # a byte order mark, which some editors write at the start of a file


def read_lines(path: str | Path) -> Iterator[str]:
    """Yield lines of a UTF-8 text file without line ends.  Raises InputError if it is missing or not text."""
    if _is_special(Path(path)):
        raise InputError(f"{path} is a pipe", expected="a file, which can be read again", fix="save it to one first")
    for line in source_lines_with_ends(path):
        yield line.removesuffix("\n")


def source_lines(source: str | Path) -> Iterator[str]:
    """Yield lines, without line ends, of anything that can be read once: a file, a pipe, or `-` for standard input."""
    for line in source_lines_with_ends(source):
        yield line.removesuffix("\n")


def source_lines_with_ends(source: str | Path, *, keep_bom: bool = False) -> Iterator[str]:
    """Yield the lines of a file, a pipe, or `-` (standard input), with their ends.  Raises InputError as `decode`."""
    if str(source) == STANDARD:
        if sys.stdin is None:
            raise InputError("standard input is closed", expected="text on it", fix="name a file")
        yield from decode(sys.stdin.buffer, "standard input", keep_bom=keep_bom)
        return
    check_source(source)
    openers: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open}
    with openers.get(Path(source).suffix, open)(source, "rb") as handle:
        yield from decode(handle, str(source), keep_bom=keep_bom)


def check_source(source: str | Path) -> None:
    """Raise InputError if there is nothing to read; to be called before a model is loaded."""
    path = Path(source)
    if str(source) == STANDARD:
        return
    if path.is_dir():
        raise InputError(f"{path} is a folder", expected="a text file", fix="name the files in it")
    if not path.exists():
        raise no_file(str(source), "an existing text file")


def no_file(name: str, expected: str) -> InputError:
    """Return the error for a name of no file; for several words it says how a text is given, and not a file's name."""
    if len(name.split()) > 1:
        return InputError(f"no file {name!r}", expected=expected, fix=f"give a text so: echo {name!r} | t5punct ..")
    is_address = "://" in name
    return InputError(
        f"no file {name}", expected=expected, fix="save it to a file first" if is_address else "check the path"
    )


def decode(handle: IO[bytes], name: str, *, keep_bom: bool = False) -> Iterator[str]:
    """Yield lines of a binary stream as UTF-8 text, or as UTF-16 where it begins with the mark of that.

    Raises InputError at bytes that are not such text.  `keep_bom`: whether UTF-8's mark at the start is given, too.
    """
    number = 0
    try:
        first = handle.readline()
        for begin, kind in _DOCUMENTS.items():
            if first.startswith(begin):
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
        raise InputError(
            f"{name} cannot be unpacked ({error})", expected="a complete file", fix="copy it again"
        ) from error


def unpacked_name(path: str | Path) -> str:
    """Return a file's name without .gz or .xz."""
    path = Path(path)
    return path.stem if path.suffix in PACKED else path.name


def writable(path: str | Path) -> Path:
    """Return the file that a path leads to, links followed.  Raises InputError if it cannot be written."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder", expected="a file to write", fix="name a file in it")
    if _is_special(path):
        return path
    path = Path(os.path.realpath(path))
    if path.is_symlink():  # what cannot be followed to its end
        raise InputError(f"{path} is a link to itself", expected="a file to write", fix="name another")
    if not path.parent.is_dir():
        raise InputError(f"no folder {path.parent}", expected="an existing folder", fix="create it first")
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"folder {path.parent} is read-only", expected="one to write in", fix="name another folder")
    return path


def check_replaceable(path: Path) -> None:
    """Raise InputError for a file that may not be written: who protects one does not want another in its place."""
    if not path.is_file():
        return
    if not (os.access(path, os.W_OK) and path.stat().st_mode & _ANY_WRITES):  # root may write what nobody may
        raise InputError(
            f"{path} is read-only", expected="a file that may be written", fix="allow it by chmod u+w, or name another"
        )


@contextmanager
def writing(path: str | Path) -> Iterator[TextIO]:
    """Open a file for writing; it appears under `path` only if the block ends without an error."""
    path = writable(path)
    if _is_special(path):  # /dev/null, a pipe: written to, never replaced
        with path.open("w", encoding="utf-8", newline="") as handle:
            yield handle
        return
    with whole_file(path) as partial, partial.open("w", encoding="utf-8", newline="") as handle:
        yield handle


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give an empty file beside `path`, with its suffix; it takes that place if the block ends without an error."""
    check_replaceable(path)
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    suffix = path.suffix if len(path.suffix) <= _SUFFIX_CHARS else ""  # what follows `Vol.` in a title may be long
    try:
        partial = _new_file(path.parent, suffix, _ANY_MODE if mode is None else mode)
    except OSError as error:  # which names the new file
        mistake = f"{path} cannot be written ({error.strerror})"
        raise InputError(mistake, expected="a place that takes new files", fix="name another") from error
    try:
        yield partial
        take_place(partial, path, mode)
    except BaseException:
        partial.unlink(missing_ok=True)  # a signal may come when it has taken its place
        raise


@contextmanager
def partial_folder(folder: Path) -> Iterator[Path]:
    """Give a path that nothing stands at, beside the folder; what was written to it is removed if it was not moved."""
    place = folder.absolute()
    beside = place.with_name(place.name + ".partial")
    shutil.rmtree(beside, ignore_errors=True)  # of a run that was killed
    try:
        yield beside
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def move(whole: Path, folder: Path, *, last: str = "") -> None:
    """Move a folder to its place in one step; or its files one by one, into a folder that is there already.

    `last`: the file by which others know that the folder is whole.
    """
    if not folder.exists():
        take_place(whole, folder)
        return
    for path in sorted(whole.iterdir(), key=lambda path: path.name == last):
        take_place(path, folder / path.name)


def take_place(whole: Path, place: Path, mode: int | None = None) -> None:
    """Move a file or a folder to its place for good: after a power cut it is there whole, or it is not there.

    `mode`: the permissions that a file is to have there; None: those that it has.
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
    if is_windows and path.is_dir():  # which opens no folders
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
    """Return a new and empty file of this process, with the permissions that the user's umask leaves of `mode`."""
    while True:
        # of this machine, since folders may be shared
        path = folder / f"{_PARTIAL}-{platform.node()}-{os.getpid()}-{secrets.token_hex(4)}{suffix}"
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode | stat.S_IWUSR))
        except FileExistsError:
            continue
        return path


def remove_leftovers(folder: Path) -> None:
    """Remove what `whole_file` left below a folder in processes of this machine that were killed."""
    for path in folder.rglob(f"{_PARTIAL}-{platform.node()}-*"):
        number = path.name.removeprefix(f"{_PARTIAL}-{platform.node()}-").partition("-")[0]
        if number.isdecimal() and not _is_running(int(number)):
            path.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):  # a number that no process can have is no reason to stop
        return False
    except PermissionError:  # another user's
        return True
    return True


def new_file_mode(folder: Path) -> int:
    """Return the permissions of a new file in a folder, by a file: to ask for the umask is to change it for all."""
    path = _new_file(folder)
    try:
        return stat.S_IMODE(path.stat().st_mode)
    finally:
        path.unlink()


def _is_special(path: Path) -> bool:
    """Return whether a path is a device or a pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()


def target_of(output: Path | None, sources: Sequence[str]) -> Path | None:
    """Return the target of a path, None for standard output.

    Raises InputError for one that cannot be written or would overwrite an input.
    """
    if output is None or str(output) in (STANDARD, "/dev/stdout"):
        return None
    if output.suffix in PACKED:
        raise InputError(f"output {output}", expected="one that is not packed", fix=f"drop {output.suffix}")
    check_targets([output], sources)
    return output


def check_targets(targets: Iterable[Path], sources: Iterable[str], *, make: bool = False) -> None:
    """Raise InputError for targets that cannot be written, or that are among the sources or in a folder among these.

    `make`: the targets' folders may be missing, and a file that is read-only is for its writer to refuse, since it may
    be up to date.
    """
    read = {_identity(Path(source)): source for source in sources if Path(source).exists()}
    around = dict[Path, str | None]()  # by the folder of targets: the source that it lies in, links followed
    for target in targets:
        path = writable(target) if target.parent.is_dir() or not make else target
        if not make:
            check_replaceable(path)
        if path.is_file() and _identity(path) in read:
            raise InputError(f"{target} is an input", expected="another place to write to", fix="name another")
        if path.parent not in around:
            folders = (path.parent, *path.parent.absolute().parents)
            nearest = next(folder for folder in folders if os.path.lexists(folder))
            if not nearest.is_dir():  # a file, or a link that leads nowhere
                raise InputError(
                    f"{nearest} is no folder", expected="one, or nothing of this name", fix="name another folder"
                )
            if not os.access(nearest, os.W_OK):
                raise InputError(
                    f"folder {nearest} is read-only", expected="one to write in", fix="name another folder"
                )
            place = Path(os.path.realpath(path.parent))
            above = (_identity(folder) for folder in (place, *place.parents) if folder.exists())
            around[path.parent] = next((read[identity] for identity in above if identity in read), None)
        source = around[path.parent]
        if source:
            raise InputError(f"{target} is in {source}, which is read", expected="another folder", fix="name another")


def named_place(name: str | Path) -> Path:
    """Return the path of a name.  Raises InputError for an empty one, such as an unset variable: it is this folder's.

    >>> named_place("out")
    PosixPath('out')
    """
    if not str(name):
        raise InputError("an output without a name", expected="a file or a folder", fix="name one; `.` is this folder")
    return Path(name)


def _identity(path: Path) -> tuple[int, int]:
    """Return a key that is equal for two names of one file."""
    status = path.stat()
    return status.st_dev, status.st_ino


@contextmanager
def open_writer(target: Path | None) -> Iterator[Callable[[Iterable[str]], None]]:
    """Give a function that writes the pieces of a text; each begins on its own line, and only the first with a BOM.

    A file appears when all its texts are complete; standard output has them as they are decided.  Half a character,
    which a json may hold (`"\\ud83d"`) and no file in UTF-8 can, becomes the replacement character.
    """
    last = ""  # the last piece of the text before
    is_first = True  # whether nothing was written yet

    def put(pieces: Iterable[str]) -> None:
        nonlocal last, is_first
        if last and not last.endswith("\n"):
            handle.write("\n")
        last = ""
        for number, piece in enumerate(pieces):
            last = piece or last
            handle.write(readable(piece if is_first or number else piece.removeprefix(BOM)))
            is_first = False
            if target is None and not number % _FLUSHED_PIECES:
                handle.flush()

    if target is None:
        handle = standard_output()
        yield put
        handle.flush()
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with writing(target) as handle:
        yield put


def standard_output(errors: str = "strict") -> TextIO:
    """Return standard output in UTF-8, whatever the locale, with line ends as they are.

    `errors`: the codec's error handler, for surrogates.
    """
    if sys.stdout is None:
        raise InputError("standard output is closed", expected="an open one", fix="name a file with -o")
    sys.stdout.reconfigure(encoding="utf-8", newline="", errors=errors)  # type: ignore[union-attr]
    return sys.stdout
