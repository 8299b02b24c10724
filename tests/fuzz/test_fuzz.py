"""Files that nobody would write by hand: every reader and `annotate` keep what is promised, with decisions by chance.

`make fuzz MINUTES=30` runs the same for long, with other files each time."""

import logging
from pathlib import Path

import pytest
from chance import by_chance
from fuzzing import ROOMS, fuzz
from promises import BrokenPromise, check

from t5punct.text.marks import Alphabet
from t5punct.transcripts.formats import format_of

FILES = {
    "srt": "1\n00:00:01,000 --> 00:00:02,000\nhow are you\n",
    "json": '{"text": "how are you", "words": [{"word": "how", "time": "1.5"}], "n": [1, 2]}',
}


@pytest.mark.parametrize("n_files", [15, pytest.param(150, marks=pytest.mark.long)])
@pytest.mark.parametrize("room", ROOMS)
def test_promises_are_kept_whatever_is_in_a_file(room: str, n_files: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)  # files without words are many
    fuzzed = fuzz(room, n_files)
    if fuzzed.error:
        raise AssertionError(f"{room}: {fuzzed.failed}") from fuzzed.error
    assert fuzzed.n_words > 2 * n_files or room == "json of anything"


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(("old", "new"), [("how", "who"), ("you", "you you"), ("", None)])
def test_a_changed_word_is_found(name: str, old: str, new: str | None) -> None:
    def wrong(text: str, format: str, seed: int, alphabet: Alphabet) -> tuple[str, list[str]]:
        written, words = by_chance(text, format, seed, alphabet)
        return written.casefold().replace(old, new) if new else written[:-3], words

    check(name, FILES[name], 1)
    with pytest.raises(BrokenPromise):
        check(name, FILES[name], 1, wrong)


# -- small hostile files, of the page of the issue that they are from


CORPUS = sorted((Path(__file__).parent / "corpus").iterdir())
REFUSED = {
    "04-nested.json", "13-marks-with-times.tsv", "13-numbers-and-marks.tsv", "13-numbers-with-marks.tsv",
    "13-time-and-mark.tsv", "13-unknown-header.tsv",
}  # fmt: skip


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_a_hostile_file_keeps_what_is_promised(path: Path) -> None:
    text = path.read_bytes().decode()
    for seed in range(8):
        assert check(format_of(path), text, seed).is_refused == (path.name in REFUSED)
