"""Marks that are items of their own in a recogniser's json: they come and go as the words' marks do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from recognised import aws, by_chance, words_of, written

from t5punct.text.marks import Alphabet

HEARD = [("hello", ","), ("world", ""), ("how", "."), ("are", ""), ("you", "?")]


LAYOUTS: list[dict[str, Any]] = [{}, {"indent": 2}, {"separators": (",", ":")}]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_marks_have_items_of_their_own_and_none_stays_that_is_gone(layout: dict[str, Any]) -> None:
    text = aws(HEARD, **layout)
    assert [(word.word.text, word.word.label, word.start_ms) for word in words_of(text)] == [
        ("hello", ",", 0), ("world", "", 1000), ("how", ".", 2000), ("are", "", 3000), ("you", "?", 4000),
    ]  # fmt: skip
    assert written(text) == text
    new = written(text, ["Hello", "world.", "How", "are -", "you!"])
    results = json.loads(new)["results"]
    assert results["transcripts"][0]["transcript"] == "Hello world. How are - you!"
    assert [(item["type"], item["alternatives"][0]["content"]) for item in results["items"]] == [
        ("pronunciation", "Hello"), ("pronunciation", "world"), ("punctuation", "."), ("pronunciation", "How"),
        ("pronunciation", "are"), ("punctuation", "-"), ("pronunciation", "you"), ("punctuation", "!"),
    ]  # fmt: skip
    listed = [item["id"] for item in results["items"]]
    assert results["audio_segments"][0]["items"] == listed, "segments list the items that there are"
    assert len({*listed}) == len(listed)
    assert all("start_time" not in item for item in results["items"] if item["type"] == "punctuation")
    bare = aws([(word, "") for word, _ in HEARD], **layout)
    assert written(text, [word for word, _ in HEARD]).count("\n") == bare.count("\n"), "same layout"
    assert written(bare, [word + mark for word, mark in HEARD]).count("\n") == text.count("\n")


def test_without_ids_the_items_change_and_nothing_else() -> None:
    """Take the items of marks away, and the input is back."""
    text = json.dumps({"items": [{"type": "punctuation", "content": "-"}, *({"type": "pronunciation", "content": word}
        for word in ("so", "what"))]})  # fmt: skip
    new = written(text, ["so,", "what?"])
    assert new == text.replace('"so"}', '"so"}, {"type": "punctuation", "content": ","}').replace(
        '"what"}', '"what"}, {"type": "punctuation", "content": "?"}'
    )
    assert written(new, ["so", "what"]) == text


@pytest.mark.parametrize("key", ["text", "transcript", "word", "punctuated_word", "content"])
def test_a_new_mark_has_an_item_whatever_the_key_of_words_is(key: str) -> None:
    text = json.dumps({"items": [{"type": "pronunciation", key: word, "n": [1, {}]} for word in ("so", "what")]})
    assert json.loads(written(text, ["So,", "what?"]))["items"] == [
        {"type": "pronunciation", key: "So", "n": [1, {}]}, {"type": "punctuation", key: ","},
        {"type": "pronunciation", key: "what", "n": [1, {}]}, {"type": "punctuation", key: "?"},
    ]  # fmt: skip


def test_a_mark_is_not_joined_with_a_word_of_another_list() -> None:
    lists = [["so", "what"], [",", "it"], ["is", "."]]
    items = [[_item(text) for text in texts] for texts in lists]
    new = json.loads(written(json.dumps({"parts": [{"items": part} for part in items]}), ["So", "what?", "It", "is"]))
    assert [[item["content"] for item in part["items"]] for part in new["parts"]] == [
        ["So", "what", "?"], [",", "It"], ["is"],
    ]  # fmt: skip


def _item(text: str) -> dict[str, Any]:
    return {"type": "pronunciation" if text.isalpha() else "punctuation", "content": text}


def test_a_typed_object_in_no_list_has_its_marks_in_its_text() -> None:
    text = '{"first": {"type": "pronunciation", "content": "so"}, "second": {"type": "punctuation", "content": "."}}'
    assert written(text, ["so,"]) == text.replace('"so"', '"so,"')


@pytest.mark.parametrize(("word", "mark"), [("etc", "."), ("J", "."), ("U.S", "."), ("what", "?"), ("3", ".")])
def test_the_letters_of_an_item_stay_where_its_mark_has_its_own(word: str, mark: str) -> None:
    text = aws([("so", ""), (word, mark), ("now", "")])
    assert written(text) == text
    for seed in range(20):
        results = json.loads(by_chance(text, seed)[0])["results"]
        spoken = [item["alternatives"][0]["content"] for item in results["items"] if item["type"] == "pronunciation"]
        assert [text.lower() for text in spoken] == ["so", word.lower(), "now"]


def test_of_two_items_of_marks_none_stays_that_is_gone() -> None:
    items = [_item(text) for text in ("so", "?", "!", "what")]
    text = json.dumps({"items": items})
    assert written(text, ["so?!", "what"]) == text
    assert json.loads(written(text, ["so.", "what"]))["items"] == [_item(text) for text in ("so", ".", "what")]
    assert json.loads(written(text, ["so", "what"]))["items"] == [_item(text) for text in ("so", "what")]


@pytest.mark.parametrize("transcript", [{}, {"transcript": "hola ¿cómo va"}])
@pytest.mark.parametrize("content", ["¿", "%", "(", ")", '"', "word"])
def test_an_item_of_a_mark_that_is_none_stays_and_parts_nothing(content: str, transcript: dict[str, str]) -> None:
    items = [_item("hola"), {"type": "punctuation", "content": content}, *map(_item, (",", "cómo", "va"))]
    new = json.loads(
        written(json.dumps({**transcript, "items": items}), ["Hola.", "¿cómo" if transcript else "cómo", "va?"])
    )
    assert [item["content"] for item in new["items"]] == ["Hola", content, ".", "cómo", "va", "?"]


@pytest.mark.parametrize("alphabet", [None, Alphabet()])
@pytest.mark.parametrize("mark", ["。", "؟", '?"', ".)"])
def test_an_item_of_a_mark_keeps_its_closing_quotes_and_marks_that_the_model_does_not_know(
    mark: str, alphabet: Alphabet | None
) -> None:
    """Then the item says what the text does."""
    items = [_item("so"), {"type": "punctuation", "content": mark}, _item("what")]
    text = json.dumps({"transcript": f"so{mark} what", "items": items}, ensure_ascii=False)
    assert written(text) == text
    for seed in range(9):
        new = json.loads(by_chance(text, seed, alphabet)[0])
        assert new["items"][0]["content"].lower() == "so"
        assert "".join(item["content"] for item in new["items"]).replace(" ", "") == new["transcript"].replace(" ", "")


def test_a_spoken_item_that_is_a_mark_stays() -> None:
    items = [{"type": "pronunciation", "content": word} for word in ("so", "?!", "we")]
    new = json.loads(written(json.dumps({"transcript": "so?! we", "items": items}), ["so -", "we."]))["items"]
    assert [item["content"] for item in new if item["type"] == "pronunciation"] == ["so", "?!", "we"]
