"""Tables of texts: dicts of lists and arrays, and pandas frames, with a column more."""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from t5punct import BatchPunctuator, Punctuator
from t5punct.errors import InputError

TEXTS = ["we know that right", "", "how are you\nthey said"]


@pytest.fixture(scope="module")
def expected(lively_folder: str) -> list[str]:
    punctuated = list(map(Punctuator.from_pretrained(lively_folder).punctuate, TEXTS))
    assert punctuated != TEXTS
    return punctuated


def test_arrays_stay_arrays_and_frames_keep_index_and_columns(lively_folder: str, expected: list[str]) -> None:
    punctuate = BatchPunctuator(lively_folder)
    for kind in (np.array, lambda texts: np.array(texts, dtype=object)):
        batch = {"id": np.arange(3), "text": kind(TEXTS)}
        punctuated = punctuate(batch)
        assert list(punctuated) == ["id", "text", "punctuated"]
        assert list(batch) == ["id", "text"], "the batch itself is left alone"
        assert (punctuated["punctuated"].dtype, punctuated["punctuated"].tolist()) == (object, expected)
    assert punctuate({"text": TEXTS}) == {"text": TEXTS, "punctuated": expected}
    assert punctuate({"text": np.array([], dtype=object)})["punctuated"].shape == (0,)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"said": TEXTS, "id": [7, 8, 9]}, index=[3, 1, 2])
    punctuate = BatchPunctuator(lively_folder, column="said", output_column="written")

    def frames() -> Iterator[object]:
        yield frame
        yield frame.head(1)

    whole, first = punctuate.frames(frames())
    assert list(whole.columns) == ["said", "id", "written"]
    assert (list(whole.index), list(whole["written"])) == ([3, 1, 2], expected)
    assert list(first["written"]) == expected[:1]


def test_a_mistake_is_said(lively_folder: str) -> None:
    for batch, told in (({"text": TEXTS[0]}, "one text as column text"), (TEXTS[0], "a batch of type str"), (7, "int")):
        with pytest.raises(InputError, match=told):
            BatchPunctuator("no/where")(batch)  # type: ignore[call-overload]
    punctuate = BatchPunctuator(lively_folder, style="meeting", device="cpu", precision="fp32")
    assert punctuate.punctuator.config.decoding.style == "meeting", "settings are those of from_pretrained"
    with pytest.raises(InputError, match="columns id, said; expected one named text; set column="):
        punctuate({"id": [1], "said": ["a"]})
    with pytest.raises(InputError):
        punctuate({"text": [7]})


def test_a_data_set_is_mapped_and_a_missing_text_stays_missing(lively_folder: str, expected: list[str]) -> None:
    datasets = pytest.importorskip("datasets")
    table = datasets.Dataset.from_dict({"text": TEXTS}).map(BatchPunctuator(lively_folder), batched=True, batch_size=2)
    assert list(table["punctuated"]) == expected
    pandas = pytest.importorskip("pandas")
    texts = [None, TEXTS[0], float("nan"), pandas.NA, TEXTS[2]]
    punctuated = BatchPunctuator(lively_folder)({"text": texts})["punctuated"]
    assert [punctuated[1], punctuated[4]] == [expected[0], expected[2]]
    assert all(punctuated[place] is texts[place] for place in (0, 2, 3))


def test_what_is_sent_to_workers_holds_no_model(lively_folder: str, expected: list[str]) -> None:
    punctuate = BatchPunctuator(lively_folder)
    punctuate({"text": TEXTS})
    sent = pickle.dumps(punctuate)
    assert len(sent) < 2000
    assert pickle.loads(sent)({"text": TEXTS})["punctuated"] == expected  # noqa: S301
    assert punctuate._loaded is not None, "the one that was sent keeps its model"


def test_forked_processes_punctuate_after_their_parent_has() -> None:
    """OpenMP's threads do not survive a fork, and who waits for them waits for ever."""
    command = [sys.executable, str(Path(__file__).with_name("forked.py")), "small"]
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            out, errors = process.communicate(timeout=300)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # its own session: those that hang
    assert (out, process.returncode) == ("8\n", 0), errors
