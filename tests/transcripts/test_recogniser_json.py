"""A recogniser's json of any size: the same words and the same file, however small the parts that it is read in."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from t5punct.errors import InputError
from t5punct.text.formats import spool
from t5punct.text.formats.spool import Spool
from t5punct.transcripts import json_parts as json_parts_module
from t5punct.transcripts.items import Item, Kept, SpokenWord, texts_of
from t5punct.transcripts.json_marks import parted
from t5punct.transcripts.json_parts import json_parts
from t5punct.transcripts.recogniser_json import RecogniserJson

WORDS = st.lists(st.sampled_from(["how", "are", "you", "U.S.", "don't", "é", '"so"', "a/b"]), min_size=1, max_size=6)
LABELLED = ("so", "JOHN:", "DR. SMITH:", ">>", ">> JOHN:", "[laughs]", "♪", "-", "1.", "Speaker 1:", "no")
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.text("ab ", min_size=30),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def words_of(found: RecogniserJson) -> list[SpokenWord]:
    return [item for item in found.items() if isinstance(item, SpokenWord)]


def written(found: RecogniserJson, texts: list[str] | None = None) -> str:
    """The json with its words written as `texts`, or as they are."""
    words = words_of(found)
    new = texts or [word.raw for word in words]
    return "".join(found.written(zip([word.word.normal for word in words], new, strict=True)))


def whisper(segments: list[list[str]]) -> dict[str, Any]:
    times = [{"start": 1.5 * n, "end": 1.5 * n + 1} for n in range(len(segments))]
    return {
        "text": " " + " ".join(" ".join(words) for words in segments),
        "segments": [
            {"id": n, **time, "text": " " + " ".join(words), "words": [{"word": f" {word}", **time} for word in words]}
            for n, (words, time) in enumerate(zip(segments, times, strict=True))
        ],
    }


layouts = st.tuples(st.sampled_from([None, 1, "\t"]), st.booleans())


@settings(max_examples=60)
@given(any_json, layouts, st.integers(20, 200))
def test_parts_are_the_file(value: Any, layout: tuple[int | str | None, bool], largest_chars: int) -> None:
    text = json.dumps(value, indent=layout[0], ensure_ascii=layout[1]) + "\n"
    try:
        assert "".join(part.text for part in json_parts(io.StringIO(text), largest_chars)) == text
    except InputError as error:  # a key that is longer than a part
        assert "Expecting property name" in str(error)
        assert len(text) > largest_chars


@settings(max_examples=25)
@given(st.lists(WORDS, min_size=1, max_size=8), layouts, st.integers(150, 600))
def test_a_file_in_parts_has_the_same_words_and_comes_out_the_same(
    segments: list[list[str]], layout: tuple[int | str | None, bool], largest_chars: int
) -> None:
    text = json.dumps(whisper(segments), indent=layout[0], ensure_ascii=layout[1])
    whole, small = RecogniserJson([text]), RecogniserJson([text], largest_chars=largest_chars)
    assert [(word.raw, word.start_ms, word.end_ms) for word in words_of(small)] == [
        (word.raw, word.start_ms, word.end_ms) for word in words_of(whole)
    ]
    assert written(small) == text
    new = [word.raw.upper() + "," for word in words_of(whole)]
    assert written(small, new) == written(whole, new) != text


@settings(max_examples=20)
@given(st.data())
def test_a_file_that_is_cut_is_refused_however_it_is_read(data: st.DataObject) -> None:
    text = json.dumps(whisper([["how", "are", "you"]] * 6))
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    for largest_chars in (80, 300, 10_000):
        with pytest.raises(InputError, match="talk is no json"):
            list(RecogniserJson([cut], None, "talk", largest_chars).items())
        with pytest.raises(InputError, match="talk is no json"):
            list(RecogniserJson([text, "]"], None, "talk", largest_chars).items())


def test_a_long_text_is_not_cut_inside_a_direction_and_has_one_label() -> None:
    text = json.dumps({"text": "JOHN: so what [loud music plays] " + "now, é\n1. then (applause) NOTE: you " * 2000})
    whole, small = RecogniserJson([text]), RecogniserJson([text], largest_chars=200)
    assert [" ".join(word.text for word in one) for one in texts_of(small.items())] == [
        " ".join(word.text for word in one) for one in texts_of(whole.items())
    ]
    assert written(small) == text


@settings(max_examples=100)
@given(st.lists(st.sampled_from([*LABELLED, "\n", "\n", " ", " "]), max_size=60), st.sampled_from([20, 64, 100]))
def test_the_labels_of_a_string_are_the_same_in_pieces(pieces: list[str], largest_chars: int) -> None:
    text = json.dumps({"text": "so " + " ".join(pieces)})
    whole, small = RecogniserJson([text]), RecogniserJson([text], largest_chars=largest_chars)
    assert [_seen(item) for item in small.items()] == [_seen(item) for item in whole.items()]


def _seen(item: Item) -> object:
    return (item.shown, item.breaks) if isinstance(item, Kept) else (item.word.text, item.word.dotted)


def aws(words: list[tuple[str, str]], **options: Any) -> str:
    """Json as AWS Transcribe writes it, of words and the marks behind them."""
    items: list[dict[str, Any]] = []
    for number, (word, mark) in enumerate(words):
        guess = [{"confidence": "0.99", "content": word}, {"confidence": "0.1", "content": "other"}]
        times = {"start_time": str(number), "end_time": f"{number}.5"}
        items.append({"id": len(items), "type": "pronunciation", "alternatives": guess, **times})
        if mark:
            guess = [{"confidence": "0.0", "content": mark}]
            items.append({"id": len(items), "type": "punctuation", "alternatives": guess})
    text = " ".join(word + mark for word, mark in words)
    segment = {"id": 0, "transcript": text, "items": [item["id"] for item in items]}
    results = {"transcripts": [{"transcript": text}], "items": items, "audio_segments": [segment]}
    return json.dumps({"jobName": "talk", "results": results, "status": "COMPLETED"}, **options)


HEARD = [("hello", ","), ("world", ""), ("how", "."), ("are", ""), ("you", "?")]
LAYOUTS: list[dict[str, Any]] = [{}, {"indent": 2}, {"separators": (",", ":")}]


@pytest.mark.parametrize("largest_chars", [500, 100_000])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_marks_have_items_of_their_own_and_none_stays_that_is_gone(layout: dict[str, Any], largest_chars: int) -> None:
    text = aws(HEARD, **layout)
    found = RecogniserJson([text], largest_chars=largest_chars)
    assert [(word.word.text, word.word.label, word.start_ms) for word in words_of(found)] == [
        ("hello", ",", 0), ("world", "", 1000), ("how", ".", 2000), ("are", "", 3000), ("you", "?", 4000),
    ]  # fmt: skip
    assert written(found) == text
    new = written(RecogniserJson([text], largest_chars=largest_chars), ["Hello", "world.", "How", "are -", "you!"])
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
    assert written(RecogniserJson([text]), [word for word, _ in HEARD]).count("\n") == bare.count("\n"), "same layout"
    assert written(RecogniserJson([bare]), [word + mark for word, mark in HEARD]).count("\n") == text.count("\n")


def test_without_ids_the_items_change_and_nothing_else() -> None:
    """Take the items of marks away, and the input is back."""
    text = json.dumps({"items": [{"type": "punctuation", "content": "-"}, *({"type": "pronunciation", "content": word}
        for word in ("so", "what"))]})  # fmt: skip
    new = written(RecogniserJson([text]), ["so,", "what?"])
    assert new == text.replace('"so"}', '"so"}, {"type": "punctuation", "content": ","}').replace(
        '"what"}', '"what"}, {"type": "punctuation", "content": "?"}'
    )
    assert written(RecogniserJson([new]), ["so", "what"]) == text


def test_other_types_of_words_have_their_marks_where_the_file_has_them() -> None:
    """As Speechmatics writes it: words have the type `word`."""
    result = [{"type": "word", "alternatives": [{"content": "so"}]}]
    with_marks = [*result, {"type": "punctuation", "attaches_to": "previous", "alternatives": [{"content": "."}]}]
    assert json.loads(written(RecogniserJson([json.dumps({"results": with_marks})]), ["So?"])) == {
        "results": [
            {"type": "word", "alternatives": [{"content": "So"}]},
            {"type": "punctuation", "attaches_to": "previous", "alternatives": [{"content": "?"}]},
        ]
    }
    assert json.loads(written(RecogniserJson([json.dumps({"results": result})]), ["So?"])) == {
        "results": [{"type": "word", "alternatives": [{"content": "So?"}]}]
    }


def test_deepgram_has_marks_in_the_words_that_it_punctuates() -> None:
    shown = [("hello", "Hello,"), ("world", "world."), ("yes", "Yes.")]
    words = [
        {"word": word, "start": n, "end": n + 1, "punctuated_word": text, "speaker": n // 2}
        for n, (word, text) in enumerate(shown)
    ]
    value = {"results": {"channels": [{"alternatives": [{"transcript": "Hello, world. Yes.", "words": words}]}]}}
    found = RecogniserJson([json.dumps(value)])
    assert [" ".join(word.text for word in one) for one in texts_of(found.items())] == ["Hello world", "Yes"]
    new = json.loads(written(RecogniserJson([json.dumps(value)]), ["hello", "World?", "yes!"]))
    best = new["results"]["channels"][0]["alternatives"][0]
    assert best["transcript"] == "hello World? yes!"
    assert [word["punctuated_word"] for word in best["words"]] == ["hello", "World?", "yes!"]
    assert [word["word"] for word in best["words"]] == ["hello", "world", "yes"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("so", ("so", "")),
        ("so?! ", ("so ", "?!")),
        ("New York.", ("New York", ".")),
        ("Mr.", ("Mr.", "")),
        ('"so,"', ('"so,"', "")),
        (",", (",", "")),
        ("", ("", "")),
    ],
)
def test_marks_are_parted_from_words(text: str, expected: tuple[str, str]) -> None:
    assert parted(text) == expected


def test_words_that_a_recogniser_splits_are_read_where_they_are_whole() -> None:
    """Whisper writes `50%` as `50` and `%`, and whisper.cpp has pieces of words, and tokens that nobody says."""
    said = "profits grew by 50% we are well-known"
    pieces = [" profits", " grew", " by", " 50", "%", " we", " are", " well", "-known"]
    tokens = [
        "[_BEG_]",
        " prof",
        "its",
        " gr",
        "ew",
        " by",
        " 50",
        "%",
        " we",
        " are",
        " well",
        "-",
        "known",
        "[_TT_150]",
    ]
    segment = {"start": 0.0, "end": 3.0, "text": f" {said}", "words": [{"word": one, "start": 0.5} for one in pieces]}
    for more in ({}, {"tokens": [{"text": one, "offset": 1} for one in tokens]}):
        found = RecogniserJson([json.dumps({"text": said, "segments": [segment | more]})])
        words = words_of(found)
        assert [word.raw for word in words] == said.split()
        assert words[0].cue is not None and (words[0].cue.start_ms, words[0].cue.end_ms) == (0, 3000)
        new = "Profits grew by 50%. We are well-known.".split()
        made = json.loads("".join(found.written(zip([word.word.normal for word in words], new, strict=True))))
        assert made["text"] == made["segments"][0]["text"].strip() == " ".join(new)


def test_a_string_that_says_something_else_stays_as_it_is() -> None:
    text = json.dumps({"text": "so the budget is fine and we go on", "summary": {"text": "All about the budget."}})
    assert json.loads(written(RecogniserJson([text]), "So the budget is fine, and we go on.".split())) == {
        "text": "So the budget is fine, and we go on.",
        "summary": {"text": "All about the budget."},
    }


def test_half_a_character_is_kept() -> None:
    text = '{"text": "so \\ud83d what é"}'
    assert written(RecogniserJson([text])) == text
    assert json.loads(written(RecogniserJson([text]), ["so", "\ud83d,", "what", "é."]))["text"] == "so \ud83d, what é."


def test_readers_of_a_spool_do_not_disturb_each_other(tmp_path: Path) -> None:
    lines = [f"{n} é\r\n" for n in range(100_000)]
    made = Spool.of(lines)
    one, two = made.reader(), made.reader()
    assert next(one) == lines[0]
    assert [*two] == lines
    assert [*one] == lines[1:]


def test_memory_does_not_grow_with_json(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_IN_MEMORY_BYTES", "_BLOCK_CHARS"):  # so that a small file is larger than what may be held
        monkeypatch.setattr(spool, name, 2**10)
    monkeypatch.setattr(json_parts_module, "_STRING_CHARS", 2**10)

    def peak(n_segments: int) -> int:
        def pieces() -> Iterator[str]:
            words = '{"word": "we", "start": 0.1, "end": 0.2}, {"word": "know", "start": 0.3, "end": 0.4}'
            yield '{"text": "' + "we know " * n_segments + '", "segments": ['
            for number in range(n_segments):
                yield f'{", " * bool(number)}{{"start": 0, "end": 1, "text": "we know", "words": [{words}]}}'
            yield "]}"

        made = Spool.of(pieces())
        tracemalloc.start()
        try:
            found = RecogniserJson(iter(partial(made.reader().read, 4096), ""), largest_chars=2**10)
            texts = ((item.word.normal, item.raw + ".") for item in found.items() if not isinstance(item, Kept))
            n_chars = sum(map(len, found.written(texts)))
            assert n_chars > 150 * n_segments
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    few, many = peak(400), peak(3_500)
    assert many - few < 2 * 3_100 * 100, "a word that is kept takes hundreds of bytes"
