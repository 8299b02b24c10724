"""Small hostile files, of the page of the issue that they are from: nothing but marks and capitals changes in them."""

from pathlib import Path

import pytest
from promises import ALPHABET, check

from t5punct.transcripts.formats import format_of, transcript_of
from t5punct.transcripts.items import Kept

CORPUS = sorted((Path(__file__).parent / "corpus").iterdir())
REFUSED = {
    "04-nested.json", "13-marks-with-times.tsv", "13-numbers-and-marks.tsv", "13-numbers-with-marks.tsv",
    "13-time-and-mark.tsv", "13-unknown-header.tsv",
}  # fmt: skip


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_a_hostile_file_keeps_what_is_promised(path: Path) -> None:
    text = path.read_bytes().decode()
    for seed in range(20):
        assert check(format_of(path), text, seed).is_refused == (path.name in REFUSED)


@pytest.mark.parametrize("path", [path for path in CORPUS if path.name not in REFUSED], ids=lambda path: path.name)
def test_a_hostile_file_that_is_not_changed_comes_out_as_it_was(path: Path) -> None:
    text = path.read_bytes().decode()
    transcript = transcript_of([*text.splitlines(keepends=True)], format_of(path), ALPHABET)
    if transcript.json is None:
        assert (
            "".join(item.text if isinstance(item, Kept) else item.raw + item.after for item in transcript.items) == text
        )
