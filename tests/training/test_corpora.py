from __future__ import annotations

import gzip
import json
import lzma
import random
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from tiny import tiny_text

from t5punct.errors import ConfigError, InputError
from t5punct.training.data.corpora import CorpusConfig, iter_documents
from t5punct.training.data.readers import is_wrapped, join_paragraphs, read_text

TALKS = [" ".join(f"t{talk}w{word}" for word in range(10 + talk)) + "." for talk in range(40)]


def write_plain(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def write_gz(path: Path, text: str) -> None:
    path.write_bytes(gzip.compress(text.encode()))


def write_xz(path: Path, text: str) -> None:
    path.write_bytes(lzma.compress(text.encode()))


@pytest.fixture
def talks(tmp_path: Path) -> str:
    path = tmp_path / "talks.txt"
    write_plain(path, "\n".join(TALKS) + "\n\n  \n")
    return str(path)


@pytest.mark.parametrize(("ending", "write"), [("", write_plain), (".gz", write_gz), (".xz", write_xz)])
def test_text_and_jsonl_are_read_plain_and_packed(
    tmp_path: Path, ending: str, write: Callable[[Path, str], None]
) -> None:
    wanted = ["Well, we know.", "Äh, naïve?", "So it goes..."]
    write(tmp_path / f"a.txt{ending}", "\n".join(wanted))
    lines = [json.dumps({"text": text, "id": 1}) for text in wanted]
    write(tmp_path / f"a.jsonl{ending}", "\n\n".join([*lines, json.dumps({"text": " "})]))
    for name in ("a.txt", "a.jsonl"):
        corpus = CorpusConfig(str(tmp_path / (name + ending)))
        documents = [text for split in ("train", "validation") for text in iter_documents(corpus, split, seed=1)]
        assert documents == wanted


@pytest.mark.parametrize("streaming", [False, True])
def test_nothing_is_held_out_where_that_is_asked_for(talks: str, streaming: bool) -> None:
    corpus = CorpusConfig(talks, streaming=streaming)
    kept = [list(iter_documents(corpus, split, seed=1, holdout_percent=0.0)) for split in ("train", "validation")]
    assert (sorted(kept[0]), kept[1]) == (sorted(TALKS), [])


def test_an_iwslt_file_is_one_document_with_its_clitics_joined() -> None:
    corpus = CorpusConfig(str(Path(__file__).parents[1] / "data" / "hand-counted.tsv"))
    assert list(iter_documents(corpus, "train", seed=1)) == ["i'm, well don't stop. what is it? we, know right."]
    assert list(iter_documents(corpus, "validation", seed=1)) == []  # one document cannot be shared out


@pytest.mark.parametrize(("percent", "n_heldout"), [(1.0, 1), (10.0, 4), (50.0, 20)])
def test_the_last_documents_are_for_validation_and_no_document_is_in_both(
    talks: str, percent: float, n_heldout: int
) -> None:
    corpus = CorpusConfig(talks)
    train = list(iter_documents(corpus, "train", seed=1, holdout_percent=percent))
    validation = list(iter_documents(corpus, "validation", seed=1, holdout_percent=percent))
    assert validation == TALKS[-n_heldout:]
    assert train + validation == TALKS


def test_every_so_many_documents_may_be_for_validation(talks: str) -> None:
    corpus = CorpusConfig(talks, words=600, holdout_every=5)
    train, validation = (list(iter_documents(corpus, split, seed=1)) for split in ("train", "validation"))
    kept = TALKS[4::5]
    assert all(any(stretch in talk for talk in kept) for stretch in validation)
    assert not any(stretch in talk for talk in kept for stretch in train)
    assert len(train) == 32
    assert 110 <= sum(len(text.split()) for text in validation) <= 120  # a fifth of the budget
    assert list(iter_documents(CorpusConfig(talks, holdout_every=41), "validation", seed=1)) == TALKS[-1:]  # too few


def test_short_documents_may_be_put_together_at_random(talks: str) -> None:
    corpus = CorpusConfig(talks, join=3, holdout_every=4)
    joined = list(iter_documents(corpus, "train", seed=1))
    kept = TALKS[3::4]
    alone = [text for text in TALKS if text not in kept]
    assert len(joined) == len(alone) // 3
    assert sorted(" ".join(joined).split()) == sorted(" ".join(alone).split())
    assert " ".join(joined) != " ".join(alone)
    assert joined == list(iter_documents(corpus, "train", seed=1)) != list(iter_documents(corpus, "train", seed=2))


def test_a_budget_takes_a_stretch_of_every_document_in_proportion(talks: str) -> None:
    corpus = CorpusConfig(talks, words=600)
    stretches = list(iter_documents(corpus, "train", seed=1, holdout_percent=10.0))
    total = sum(len(text.split()) for text in TALKS[:36])  # 990 words
    assert 590 <= sum(len(text.split()) for text in stretches) <= 600
    assert len(stretches) == 36
    for stretch, talk in zip(stretches, TALKS, strict=False):
        assert stretch in talk
        assert abs(len(stretch.split()) - len(talk.split()) * 600 / total) <= 1.0
    assert any(not talk.startswith(stretch) for stretch, talk in zip(stretches, TALKS, strict=False))
    heldout = list(iter_documents(corpus, "validation", seed=1, holdout_percent=10.0))
    assert 55 <= sum(len(text.split()) for text in heldout) <= 60  # 10 % of the budget
    assert all(any(stretch in talk for talk in TALKS[36:]) for stretch in heldout)


def test_a_budget_above_what_there_is_takes_all(talks: str) -> None:
    assert list(iter_documents(CorpusConfig(talks, words=10**6), "train", seed=1)) == TALKS[:-1]


def test_the_same_seed_gives_the_same_stretches_and_another_gives_others(talks: str) -> None:
    corpus = CorpusConfig(talks, words=200)
    first, same, other = (list(iter_documents(corpus, "train", seed=seed)) for seed in (1, 1, 2))
    assert first == same != other


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="a corpus without a path"):
        list(iter_documents(CorpusConfig(), "train", seed=1))
    with pytest.raises(InputError, match=r"no file .*missing.txt; expected an existing text file"):
        list(iter_documents(CorpusConfig(str(tmp_path / "missing.txt")), "train", seed=1))
    for line in ("not json", '{"body": "x"}', '["text"]'):
        path = tmp_path / "bad.jsonl"
        path.write_text('{"text": "fine"}\n' + line + "\n")
        with pytest.raises(InputError, match=r'bad.jsonl line 2: .*expected {"text": "..."} or .*correct the line'):
            list(iter_documents(CorpusConfig(str(path)), "train", seed=1))


def test_words_with_times_become_text_with_pauses(tmp_path: Path) -> None:
    said = [("We", 0.0, 0.2), ("know,", 0.2, 0.4), ("that", 0.7, 0.9), ("Right?", 0.9, None), ("Yes.", 3.0, 3.2)]
    words = [{"word": word, "start": start, "end": end} for word, start, end in said]
    lines = [json.dumps({"words": words}), json.dumps({"text": "Plain text."})]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    corpus = CorpusConfig(str(tmp_path / "a.jsonl"), holdout_every=9)
    splits = ("train", "validation")
    assert [text for split in splits for text in iter_documents(corpus, split, seed=1, pauses_ms=(280,))] == [
        "We know, <extra_id_1> that Right? Yes.",
        "Plain text.",
    ]
    assert next(iter_documents(corpus, "train", seed=1)) == "We know, that Right? Yes."


PARAGRAPHS = [" ".join(tiny_text(6, seed)) for seed in range(30)]


def wrapped(width: int, between: str = "\n\n") -> str:
    return between.join(textwrap.fill(text, width) for text in PARAGRAPHS)


def text_documents(path: Path, unit: str) -> list[str]:
    return list(read_text(path, CorpusConfig(document=unit), ()))


@pytest.mark.parametrize("width", [50, 70, 78, 100])
def test_a_book_is_read_by_its_paragraphs(tmp_path: Path, width: int) -> None:
    path = tmp_path / "book.txt"
    path.write_text("THE BOOK\n\n\n" + wrapped(width) + "\n", encoding="utf-8")
    assert text_documents(path, "auto") == ["THE BOOK", *PARAGRAPHS]


def test_lines_that_are_documents_stay(tmp_path: Path) -> None:
    path = tmp_path / "talks.txt"
    for lines in (PARAGRAPHS, tiny_text(500, 1), ["yes"] * 50, [f"ok, that is number {n} of it" for n in range(50)]):
        path.write_text("\n".join(lines), encoding="utf-8")
        assert text_documents(path, "auto") == lines
    rng = random.Random(1)
    chat = [
        " ".join(rng.choices("so we go there now or what do you mean".split(), k=rng.randint(1, 20)))
        for _ in range(300)
    ]
    assert not is_wrapped(chat), "messages without marks"
    assert not is_wrapped([f"This is the report of station {n:03}, and all is well there." for n in range(50)])
    assert not is_wrapped([])


def test_the_unit_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text(wrapped(70), encoding="utf-8")
    assert text_documents(path, "line") == [line for line in wrapped(70).split("\n") if line]
    assert text_documents(path, "paragraph") == PARAGRAPHS
    assert text_documents(path, "file") == [" ".join(PARAGRAPHS)]
    path.write_text("\n \n")
    assert text_documents(path, "file") == []


def test_blank_lines_in_any_number_are_between_paragraphs() -> None:
    assert list(join_paragraphs(["", " ", "a", " b ", "\t", "", "c"])) == ["a b", "c"]
