"""Files are read whatever they are wrapped in, or refused in one line, and written whole or not at all; folders too."""

import errno
import gzip
import io
import lzma
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from command import pipe_of

from t5punct.errors import InputError
from t5punct.text.io import files
from t5punct.text.io.iwslt import Row, is_iwslt, join_clitics, read_rows

TEXT = "We know\n\nthat, ünï 😀\u2028right"


@pytest.mark.parametrize(("name", "pack"), [("a.txt", bytes), ("a.gz", gzip.compress), ("a.xz", lzma.compress)])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_packed_text_is_read(tmp_path: Path, name: str, pack: Callable[[bytes], bytes], mark: bytes) -> None:
    (tmp_path / name).write_bytes(pack(mark + TEXT.encode() + b"\n"))
    assert list(files.lines_of_file(tmp_path / name)) == TEXT.split("\n")
    assert "".join(files.source_lines_with_ends(str(tmp_path / name))) == TEXT + "\n"


def test_lines_are_read_one_by_one_and_a_byte_order_mark_counts_only_at_the_very_start(tmp_path: Path) -> None:
    (tmp_path / "late.txt").write_bytes(b"good\n\xff\n")
    lines = files.lines_of_file(tmp_path / "late.txt")
    assert next(lines) == "good"
    with pytest.raises(InputError, match="line 2 is not UTF-8"):
        next(lines)
    assert list(files.decode(io.BytesIO("\ufeffa\n\ufeffb".encode()), "here")) == ["a\n", "\ufeffb"]
    with files.open_writer(tmp_path / "out.txt") as put:
        put(["\ufeff", "so\n"])
        put(["\ufeff", "we\n"])
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == "\ufeffso\nwe\n"


def test_names_may_be_long_and_say_how_a_file_is_packed(tmp_path: Path) -> None:
    for name in ("x" * 255, f"Vol.2 {'a' * 230}"):  # as long as can be, and of a long suffix
        with files.writing(tmp_path / name) as handle:
            handle.write("new")
        assert (tmp_path / name).read_text() == "new"
    packed = {"d/a.txt": "a.txt", "a.txt.gz": "a.txt", "a.xz": "a", ".gz": ".gz", "gz": "gz"}
    assert {path: files.unpacked_name(path) for path in packed} == packed


@pytest.mark.parametrize(("name", "data", "message"), [
    ("latin1.txt", b"ok\ncaf\xe9\n", "line 2 is not UTF-8 .*; expected UTF-8 text; convert it"),
    ("utf16.txt", "hello".encode("utf-16")[:-1], "utf16.txt is no whole UTF-16 text"),
    ("zero.bin", b"ab\0cd", "zero.bin holds zero bytes; expected a text file"),
    ("utf16be.txt", "Söller".encode("utf-16-be"), "if it is UTF-16, convert it: iconv -f utf-16le"),
    ("pdf.txt", b"%PDF-1.7\n%\xe2\xe3\n", "pdf.txt is a PDF; expected a text file; save its text as .txt in"),
    ("docx.txt", b"PK\3\4\x14\0", "docx.txt is a zip file, as .docx, .odt and .epub are; expected a text file"),
    ("not.gz", b"plain text", "not.gz cannot be unpacked"), ("not.xz", b"plain text", "not.xz cannot be unpacked"),
    # without a time, so that all processes that share the tests out give them the same names
    ("cut.gz", gzip.compress("".join(map(chr, range(33, 127))).encode() * 2, mtime=0)[:60],
     "cut.gz cannot be unpacked"),
    ("broken.gz", gzip.compress(b"word " * 99, mtime=0)[:10] + b"\xff" * 40, "broken.gz cannot be unpacked"),
    ("sum.gz", gzip.compress(b"word", mtime=0)[:-8] + b"\0" * 8, "sum.gz cannot be unpacked"),
])  # fmt: skip
def test_what_is_not_text_is_refused_in_one_line(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=message) as caught:
        list(files.source_lines_with_ends(tmp_path / name))
    assert "\n" not in str(caught.value)


def test_a_file_appears_whole_a_link_stays_a_link_and_a_file_keeps_its_mode(tmp_path: Path) -> None:
    path, link, loose = tmp_path / "out.txt", tmp_path / "link", tmp_path / "loose"
    path.write_text("old")
    path.chmod(0o600)
    with files.writing(path) as handle:
        handle.write("new\r\nünï\n")
        handle.flush()
        assert path.read_text() == "old"
        modes = {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
        assert modes == {0o600}, "what replaces a private file is private from the start"
    assert path.read_bytes() == "new\r\nünï\n".encode()
    assert list(tmp_path.iterdir()) == [path]
    link.symlink_to(path)
    loose.symlink_to("new.txt")
    for target in (link, loose):
        with files.writing(target) as handle:
            handle.write("new")
        assert target.is_symlink()
    assert path.read_text() == (tmp_path / "new.txt").read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_pipe_is_read_once_and_refused_where_it_would_be_read_again() -> None:
    with pipe_of(b"we\nknow") as pipe:
        with pytest.raises(InputError, match="is a pipe; expected a file, which can be read again"):
            next(files.lines_of_file(pipe))
        assert list(files.source_lines(pipe)) == ["we", "know"]


def test_what_comes_when_a_file_is_in_its_place_is_raised_and_a_bad_disk_leaves_the_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Path.replace

    def interrupted(path: Path, target: Path) -> None:
        replace(path, target)
        raise SystemExit(143)  # as a signal's handler does

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(SystemExit), files.writing(tmp_path / "out.txt") as handle:
        handle.write("so")
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == "so"

    def failed(descriptor: int) -> None:
        raise OSError(errno.EIO, "no disk")

    (tmp_path / "out.txt").write_text("old")
    monkeypatch.setattr(os, "fsync", failed)
    with pytest.raises(OSError, match="no disk"), files.writing(tmp_path / "out.txt") as handle:
        handle.write("new")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_a_folder_that_takes_no_new_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", "a name that nobody gave")

    monkeypatch.setattr(os, "open", refused)
    message = r"out.txt cannot be written \(Read-only file system\); expected a place"
    with pytest.raises(InputError, match=message), files.writing(tmp_path / "out.txt"):
        raise AssertionError
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # the tests may run as root, who may write anywhere
    with pytest.raises(InputError, match="is read-only; expected one to write in"):
        files.writable(tmp_path / "out.txt")


def test_a_file_and_its_name_are_on_the_disk_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a power cut would leave of an output that was not: a whole name, and an empty file."""
    steps = list[str]()
    replace, fsync = Path.replace, os.fsync

    def noted(descriptor: int) -> None:
        name = Path(f"/proc/self/fd/{descriptor}").readlink()
        steps.append("folder" if name.is_dir() else f"{name.stat().st_size} bytes")
        fsync(descriptor)

    def moved(path: Path, target: Path) -> Path:
        steps.append("rename")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", noted)
    monkeypatch.setattr(Path, "replace", moved)
    with files.writing(tmp_path / "out.txt") as handle:
        handle.write("whole")
    assert steps == ["5 bytes", "rename", "folder"]
    steps.clear()
    with files.partial_folder(tmp_path / "model") as beside:
        (beside / "deep").mkdir(parents=True)
        (beside / "deep" / "a").write_text("ab")
        (beside / "b").write_text("abc")
        assert not (tmp_path / "model").exists()
        files.move(beside, tmp_path / "model")
    assert {path.name for path in (tmp_path / "model").rglob("*")} == {"b", "deep", "a"}
    assert sorted(steps[:4]) == ["2 bytes", "3 bytes", "folder", "folder"]
    assert steps[4:] == ["rename", "folder"]


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o027, 0o077])
def test_permissions_are_found_without_the_umask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, umask: int) -> None:
    """It is the whole process's: what another thread makes in that moment, anybody may write."""
    before = os.umask(umask)
    with monkeypatch.context() as patch:
        patch.setattr(os, "umask", lambda mask: pytest.fail("the umask was changed"))
        with files.writing(tmp_path / "new.txt") as handle:
            handle.write("so")
        mode = files.new_file_mode(tmp_path)
    os.umask(before)
    assert mode == stat.S_IMODE((tmp_path / "new.txt").stat().st_mode) == 0o666 & ~umask
    assert [path.name for path in tmp_path.iterdir()] == ["new.txt"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_error_leaves_nothing_behind_and_the_old_file_alone(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(error), files.writing(path) as handle:
        handle.write("half")
        raise error
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_device_or_pipe_is_written_to_and_never_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with files.writing(pipe) as handle:
        handle.write("through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def _written(folder: Path, *names: str) -> None:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text(name, encoding="utf-8")


def test_the_last_file_is_the_last_to_come_to_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _written(tmp_path / "mine", "a", "other")
    moved, replace = [], Path.replace

    def noted(path: Path, target: Path) -> Path:
        moved.append(path.name)
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", noted)
    with files.partial_folder(tmp_path / "mine") as beside:
        _written(beside, "a", "b", "c")
        files.move(beside, tmp_path / "mine", last="b")
    assert moved[-1] == "b"
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == ["a", "b", "c", "other"]
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_nothing_appears_after_an_error_and_leftovers_of_a_killed_run_go(tmp_path: Path) -> None:
    _written(tmp_path / "mine.partial", "old")
    with pytest.raises(ValueError, match="no"), files.partial_folder(tmp_path / "mine") as beside:
        assert not beside.exists()
        _written(beside, "a")
        raise ValueError("no")
    assert list(tmp_path.iterdir()) == []


# -- IWSLT files: rows as they stand, and clitics joined to the word before them


@pytest.mark.parametrize(("words", "joined", "last_rows"), [
    (("i", "'m", "here"), ("i'm", "here"), (1, 2)),
    (("we", "should", "n't", "'ve"), ("we", "shouldn't've"), (0, 3)),
    (("get", "'em", "'the", "he", "’LL"), ("get", "'em", "'the", "he’LL"), (0, 1, 2, 4)),
    *((("'s", "go"), ("'s", "go"), (0, 1)), (("n't",), ("n't",), (0,)), ((), (), ())),
    *((("a", "", "b"), ("a", "b"), (1, 2)), (("", "b"), ("?", "b"), (0, 1))),
])  # fmt: skip
def test_clitics_are_joined(words: tuple[str, ...], joined: tuple[str, ...], last_rows: tuple[int, ...]) -> None:
    whole = join_clitics([Row(word, "O") for word in words])
    assert (whole.words, whole.last_rows) == (joined, last_rows)


def test_rows_are_read_with_any_line_end_and_blank_lines_skipped(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(b"i\tO\r\n'm\tCOMMA\n\nright \tQUESTION\n\tPERIOD\n")
    assert is_iwslt(path)
    assert read_rows(path) == (Row("i", "O"), Row("'m", "COMMA"), Row("right", "QUESTION"), Row("", "PERIOD"))


@pytest.mark.parametrize("line", ["word", "word COMMA", "word\tcomma", "word\tCOMMA\t1"])
def test_a_line_that_is_not_word_and_class_is_refused_with_its_number(tmp_path: Path, line: str) -> None:
    path = tmp_path / "bad.tsv"
    path.write_text(f"i\tO\n{line}\n")
    with pytest.raises(InputError, match=r"bad\.tsv line 2: .*; expected word TAB one of O, COMMA, PERIOD, QUESTION"):
        read_rows(path)


@pytest.mark.parametrize("text", ["", "We know that.\n", "COMMA\n", "a\tb\n"])
def test_ordinary_text_is_not_taken_for_an_iwslt_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "plain.txt"
    path.write_text(text)
    assert not is_iwslt(path)


@pytest.mark.parametrize("name", ["test.tsv", "test.tsv.gz"])
def test_a_name_in_tsv_promises_rows(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    content = b"Word\tLabel\nwe\tO\n"
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert is_iwslt(path)
    with pytest.raises(InputError, match=r"line 1: .*Label.*; expected word TAB one of O"):
        read_rows(path)
