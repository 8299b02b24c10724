"""Where documents come from: folders, patterns, tables, saved data sets; a corpus larger than the memory."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path

import datasets
import pytest
from datasets import Dataset, DatasetDict

from t5punct.errors import InputError
from t5punct.training.data.corpora import find_sources, iter_documents, read_documents
from t5punct.training.data.readers import CorpusConfig

TEXTS = ["Hello, there.\nAre you well?", "NA", None, "", "Well: so it goes.", "Yes!"]
KEPT = [text for text in TEXTS if text]


def texts_of(corpus: CorpusConfig, **options: float) -> list[str]:
    return [text for split in ("train", "validation") for text in iter_documents(corpus, split, seed=1, **options)]  # type: ignore[arg-type]


@pytest.fixture
def rows() -> Dataset:
    return Dataset.from_dict({"id": list(range(len(TEXTS))), "said": TEXTS})


@pytest.fixture(params=["a.csv", "a.csv.gz", "a.parquet", "saved", "splits"])
def table(request: pytest.FixtureRequest, rows: Dataset, tmp_path: Path) -> Path:
    """The same rows as a table of each kind."""
    path = tmp_path / str(request.param)
    if path.name == "saved":
        rows.save_to_disk(str(path))
    elif path.name == "splits":
        DatasetDict(train=rows, test=rows.select([0])).save_to_disk(str(path))
    elif path.suffix == ".parquet":
        rows.to_parquet(str(path))
    else:
        rows.to_csv(str(tmp_path / "plain.csv"), index=False)
        plain = (tmp_path / "plain.csv").read_bytes()
        path.write_bytes(gzip.compress(plain) if path.suffix == ".gz" else plain)
    return path


def test_a_table_gives_the_texts_of_a_column_and_counts_empty_rows(table: Path) -> None:
    corpus = CorpusConfig(str(table), column="said")
    assert texts_of(corpus) == KEPT
    documents = read_documents(corpus, (), str(table.parent / "cache"), 1.0)
    assert documents.n_words == [len(text.split()) for text in KEPT]
    assert documents.n_empty == 2


def test_a_column_that_is_missing_or_no_text_is_named(table: Path) -> None:
    with pytest.raises(InputError, match=r"no column 'text' in .*; expected one of id, said; set corpora.column"):
        texts_of(CorpusConfig(str(table)))
    with pytest.raises(InputError, match=r"row 1: '0' under 'id'; expected text; set corpora.column"):
        texts_of(CorpusConfig(str(table), column="id"))


def test_of_a_saved_data_set_one_split_is_read(rows: Dataset, tmp_path: Path) -> None:
    DatasetDict(train=rows, test=rows.select([0, 5])).save_to_disk(str(tmp_path / "saved"))
    corpus = CorpusConfig(str(tmp_path / "saved"), column="said", split="test")
    assert texts_of(corpus) == [TEXTS[0], TEXTS[5]]
    with pytest.raises(InputError, match=r"no split 'dev' in .*saved; expected one of train, test; set corpora.split"):
        texts_of(CorpusConfig(str(tmp_path / "saved"), column="said", split="dev"))


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
@pytest.mark.parametrize("text", ["", 'id,text\n1,"never closed\n'])
def test_a_missing_or_broken_table_is_one_line(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(InputError, match=rf"no file .*{name}; expected an existing"):
        texts_of(CorpusConfig(str(tmp_path / name)))
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=rf"{name} cannot be read \(.*\); expected a \w+ file"):
        texts_of(CorpusConfig(str(tmp_path / name)))


def test_jsonl_has_a_column_too(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps({"said": text}) for text in TEXTS))
    assert texts_of(CorpusConfig(str(tmp_path / "a.jsonl"), column="said")) == KEPT
    with pytest.raises(InputError, match=r'a.jsonl line 1: .*expected {"text": "..."} or .*, or set corpora.column'):
        texts_of(CorpusConfig(str(tmp_path / "a.jsonl")))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Texts of several formats, in two folders, and what no reader knows."""
    (tmp_path / "talks" / "new").mkdir(parents=True)
    (tmp_path / "talks" / "b.txt").write_text("B one.\nB two.\n")
    (tmp_path / "talks" / "a.csv").write_text("text\nA one.\n")
    (tmp_path / "talks" / "new" / "c.txt.gz").write_bytes(gzip.compress(b"C one.\n"))
    (tmp_path / "talks" / ".cache").mkdir()
    for name in ("x.pdf", "y.pdf", ".hidden.txt", "Makefile", ".cache/hidden.txt"):
        (tmp_path / "talks" / name).write_text("None of this.")
    return tmp_path / "talks"


def test_a_folder_gives_all_files_that_can_be_read_in_the_order_of_their_paths(folder: Path) -> None:
    assert texts_of(CorpusConfig(str(folder))) == ["A one.", "B one.", "B two.", "C one."]
    assert find_sources(CorpusConfig(str(folder))).left_out == (
        "2 x .pdf left out: no reader for it",
        "1 x Makefile left out: no reader for it",
    )


def test_a_pattern_gives_the_files_that_fit_it(folder: Path) -> None:
    assert texts_of(CorpusConfig(f"{folder}/*.txt")) == ["B one.", "B two."]
    assert texts_of(CorpusConfig(f"{folder}/**/*.txt*")) == ["B one.", "B two.", "C one."]
    with pytest.raises(InputError, match=r"no file .*\*.vtt; expected a pattern that files fit; check the path"):
        texts_of(CorpusConfig(f"{folder}/*.vtt"))
    (folder / "talk [1].txt").write_text("One.\n")
    assert texts_of(CorpusConfig(f"{folder}/talk [1].txt")) == ["One."], "a file whose name looks like a pattern"


def test_a_hub_id_is_asked_forplace_like_named(rows: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def load_dataset(*names: str, **options: object) -> Dataset:
        asked.append((names, options))
        return rows

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    corpus = CorpusConfig(dataset="someone/talks", subset="en", split="test", revision="v2", column="said")
    assert texts_of(corpus) == KEPT
    assert set(map(str, asked)) == {
        str((("someone/talks", "en"), {"split": "test", "revision": "v2", "streaming": False}))
    }


def test_a_folder_as_the_hub_has_it_is_streamed(rows: Dataset, tmp_path: Path) -> None:
    (tmp_path / "talks" / "data").mkdir(parents=True)
    rows.to_parquet(str(tmp_path / "talks" / "data" / "train-00000-of-00002.parquet"))
    rows.to_parquet(str(tmp_path / "talks" / "data" / "train-00001-of-00002.parquet"))
    corpus = CorpusConfig(dataset=str(tmp_path / "talks"), column="said", streaming=True, holdout_every=3)
    assert list(iter_documents(corpus, "validation", seed=1)) == [KEPT[2], KEPT[1]]
    assert sorted(texts_of(corpus)) == sorted(KEPT * 2)


def test_a_hub_id_that_cannot_be_read_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def load_dataset(*names: str, **options: object) -> None:
        raise ConnectionError("no network\nat all")

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    with pytest.raises(InputError, match=r"no data set no/body, split train \(no network\); expected the id of a data"):
        texts_of(CorpusConfig(dataset="no/body"))


def test_a_stream_is_read_no_further_than_it_is_used(tmp_path: Path) -> None:
    lines = [json.dumps({"text": f"Document number {number}."}) for number in range(1000)]
    (tmp_path / "a.jsonl").write_text("\n".join([*lines, "the end, which is no json"]))
    some = CorpusConfig(str(tmp_path / "a.jsonl"), streaming=True, words=30)
    texts = list(iter_documents(some, "train", seed=1))
    assert texts == [f"Document number {number}." for number in range(9)], "and one is held out"


@pytest.mark.parametrize("options", [{}, {"words": 10_000}, {"streaming": True}])
def test_a_corpus_is_never_in_memory_as_a_whole(tmp_path: Path, options: dict[str, int]) -> None:
    large = tmp_path / "large.txt"
    large.write_text("".join(f"{number} " + "some more words of it, " * 200 + "\n" for number in range(800)))
    tracemalloc.start()
    n_documents = sum(1 for _ in iter_documents(CorpusConfig(str(large), **options), "train", seed=1))  # type: ignore[arg-type]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert n_documents >= 780
    assert peak < large.stat().st_size / 5
