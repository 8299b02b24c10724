"""A recogniser's json: the same words everywhere, whatever else it holds, and nothing else changed."""

from __future__ import annotations

import json
import logging
import random
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recognised import by_chance, whisper, words_of, written

from t5punct.errors import InputError
from t5punct.transcripts.items import texts_of
from t5punct.transcripts.recogniser.recording import RecogniserJson


@settings(max_examples=40)
@given(st.data())
def test_a_file_that_is_cut_is_refused(data: st.DataObject) -> None:
    text = json.dumps(whisper([["how", "are", "you"]] * 6))
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    for wrong in (cut, text + "]"):
        with pytest.raises(InputError, match="talk is no json"):
            RecogniserJson.read(wrong, None, "talk")


def test_other_types_of_words_have_their_marks_where_the_file_has_them() -> None:
    """As Speechmatics writes it: words have the type `word`."""
    result = [{"type": "word", "alternatives": [{"content": "so"}]}]
    with_marks = [*result, {"type": "punctuation", "attaches_to": "previous", "alternatives": [{"content": "."}]}]
    assert json.loads(written(json.dumps({"results": with_marks}), ["So?"])) == {
        "results": [
            {"type": "word", "alternatives": [{"content": "So"}]},
            {"type": "punctuation", "attaches_to": "previous", "alternatives": [{"content": "?"}]},
        ]
    }
    assert json.loads(written(json.dumps({"results": result}), ["So?"])) == {
        "results": [{"type": "word", "alternatives": [{"content": "So?"}]}]
    }


def test_a_sentence_ends_where_another_speaks() -> None:
    """As Deepgram tells it, in each word."""
    words = [{"word": word, "start": n, "speaker": n // 2} for n, word in enumerate(["hello", "world", "yes"])]
    said = texts_of(RecogniserJson.read(json.dumps({"transcript": "hello world yes", "words": words})).items)
    assert [" ".join(word.text for word in text) for text in said] == ["hello world", "yes"]


def test_a_string_that_says_something_else_stays_as_it_is() -> None:
    text = json.dumps({"text": "so the budget is fine and we go on", "summary": {"text": "All about the budget."}})
    new = "So the budget is fine, and we go on."
    assert written(text, new.split()) == text.replace("so the budget is fine and we go on", new)


def test_half_a_character_is_kept() -> None:
    text = '{"text": "so \\ud83d what é"}'
    assert json.loads(written(text)) == json.loads(text)
    assert json.loads(written(text, ["so", "\ud83d,", "what", "é."]))["text"] == "so \ud83d, what é."


# each of what follows was broken once


VALUES = st.sampled_from(["so", "what", ".", ",", "so,", "JOHN: so", "", None, 1])
KEYS = st.sampled_from("text word content items words alternatives speaker id channel".split())
TYPES = st.sampled_from(["pronunciation", "punctuation", "word"])


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    typed = st.fixed_dictionaries({"type": TYPES, "content": inner})
    return st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4) | typed


@settings(max_examples=100)
@given(st.recursive(VALUES, nested).map(json.dumps), st.integers(0, 100))
def test_whatever_is_read_comes_out_as_json_with_the_same_words(text: str, seed: int) -> None:
    try:
        before = [word.word.normal for word in words_of(text)]
    except InputError:
        return
    new, _ = by_chance(text, seed)
    after = [word.word.normal for word in words_of(new)]
    assert [word.rstrip(".") for word in after] == [word.rstrip(".") for word in before]
    json.loads(new)


def test_channels_are_aligned_by_channel() -> None:
    """As Deepgram writes two channels: one after the other, and once more as utterances in order of time."""
    rng, time = random.Random(1), 0.0
    utterances, channels = list[dict[str, Any]](), [list[dict[str, Any]](), list[dict[str, Any]]()]
    for channel in (0, 1) * 20:
        texts = rng.choices(["yes", "no", "so", "we", "know"], k=rng.randint(1, 6))
        words = [{"word": text, "start": time + n / 4, "end": time + n / 4 + 0.2} for n, text in enumerate(texts)]
        times = {"start": time, "end": words[-1]["end"]}
        utterances.append({**times, "channel": channel, "transcript": " ".join(texts), "words": words})
        channels[channel] += words
        time += len(texts) / 8  # before the other has ended
    best = [{"transcript": " ".join(word["word"] for word in words), "words": words} for words in channels]
    results = {"channels": [{"alternatives": [alternative]} for alternative in best], "utterances": utterances}
    new = json.loads(by_chance(json.dumps({"results": results}), 1)[0])["results"]
    for channel in (0, 1):
        best = new["channels"][channel]["alternatives"][0]
        ours = [utterance for utterance in new["utterances"] if utterance["channel"] == channel]
        shown = [word["word"] for utterance in ours for word in utterance["words"]]
        assert shown == [word["word"] for word in best["words"]]
        assert " ".join(shown) == best["transcript"] == " ".join(utterance["transcript"] for utterance in ours)
        assert sum(word[-1] in ",.?!-" or word[0].isupper() for word in shown) > len(shown) / 2, "all have changed"


@pytest.mark.parametrize("is_by_channel", [False, True])
def test_channels_without_a_text_of_their_own_are_aligned_by_time(is_by_channel: bool) -> None:
    """As AWS writes two channels: the text and all items in order of time, and those of each channel.

    All items may stand in the order of the channels, too.
    """
    rng = random.Random(2)
    said = [(rng.choice(["yes", "no", "so"]), rng.randint(0, 1)) for _ in range(60)]  # words and their channels
    items = [
        {"type": "pronunciation", "start_time": f"{n / 2}", "alternatives": [{"content": word}]}
        for n, (word, _) in enumerate(said)
    ]
    orders = [[n for n, (_, own) in enumerate(said) if own == channel] for channel in (0, 1)]
    order = orders[0] + orders[1] if is_by_channel else [*range(60)]
    results = {
        "transcripts": [{"transcript": " ".join(word for word, _ in said)}],
        "channel_labels": {"channels": [{"items": [items[n] for n in own]} for own in orders]},
        "items": [items[n] for n in order],
    }
    new = json.loads(by_chance(json.dumps({"results": results}), 1)[0])["results"]
    together = [word for _, word in sorted(zip(order, _text_of(new["items"]), strict=True))]
    for own, channel in zip(orders, new["channel_labels"]["channels"], strict=True):
        assert [together[n] for n in own] == _text_of(channel["items"])
    assert " ".join(together) == new["transcripts"][0]["transcript"].replace(" -", "-")


def _text_of(items: list[dict[str, Any]]) -> list[str]:
    """Words with the marks behind them."""
    words = list[str]()
    for item in items:
        content = item["alternatives"][0]["content"]
        if item["type"] == "punctuation":
            words[-1] += content
        else:
            words.append(content)
    return words


def test_words_behind_a_gap_get_their_marks() -> None:
    words = [f"w{n % 700}" for n in range(3000)]
    listed = [{"word": word} for word in words[:900] + words[1500:]]
    new, _ = by_chance(json.dumps({"text": " ".join(words), "words": listed}), 1)
    value = json.loads(new)
    marked = value["text"].replace(" -", "-").split()
    assert [word["word"].replace(" -", "-") for word in value["words"]] == marked[:900] + marked[1500:]


def test_names_and_phrases_that_are_listed_have_no_marks() -> None:
    value = {
        "text": "john smith is here",
        "words": [{"text": word, "start": 100 * n} for n, word in enumerate(["john", "smith", "is", "here"])],
        "entities": [{"entity_type": "person_name", "text": "john smith", "start": 0, "end": 190}],
        "auto_highlights_result": {"results": [{"text": "smith", "count": 1}]},
        "named_entities": [{"text": "john smith"}],
        "detected_entities": {"items": [{"text": "smith"}]},
        "namedEntities": [{"text": "smith"}],
        "search": {"terms": [{"text": "smith is"}]},
        "topics": [{"text": "john smith is here"}],
    }  # fmt: skip
    new = json.loads(written(json.dumps(value), ["John", "Smith,", "is", "here."]))
    assert [word["text"] for word in new["words"]] == ["John", "Smith,", "is", "here."]
    assert [name for name in value if new[name] == value[name]] == [*value][2:]


def test_what_stands_under_a_key_that_comes_again_changes_too() -> None:
    text = (
        '{"text": "so what", "text": "so what", "words": [{"word": "so"}], "words": [{"word": "so"}, {"word": "what"}]}'
    )
    assert written(text, ["So,", "what?"]) == text.replace("so what", "So, what?").replace('"so"', '"So,"').replace(
        '"what"', '"what?"'
    )


@pytest.mark.parametrize(
    "text",
    [
        '{"text": "", "segments": []}',
        '{"text": "[Music]", "segments": [{"text": "[Music]"}]}',
        '{"transcription": [{"offsets": {"from": 0, "to": 10}, "text": " [BLANK_AUDIO]"}]}',
        '{"results": {"transcripts": [{"transcript": ""}], "items": []}}',
        '{"results": {"channels": [{"alternatives": [{"transcript": "", "words": []}]}]}}',
        '{"segments": []}\n',
        '\ufeff{"results": {"channels": []}}',
        '{"text": null}',
    ],
)
def test_a_recording_in_which_nothing_was_said_comes_out_as_it_is(text: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert by_chance(text, 1) == (text, [])
    assert caplog.messages == ["the file: no words were found in it as json"]


@pytest.mark.parametrize("text", ["{}", "[]", '{"name": "so"}', "1"])
def test_json_of_something_else_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"no words in the file(, whose fields are name)?; expected json of a recog"):
        RecogniserJson.read(text)


def test_a_misspelt_field_is_seen_in_the_error() -> None:
    with pytest.raises(InputError, match=r"no words in the file, whose fields are id, txet; expected .*`text`"):
        RecogniserJson.read('[{"id": 1, "txet": "so what"}, {"id": 2, "txet": "yes"}]')


def test_white_space_and_numbers_may_be_long() -> None:
    for text in ('{"text": "so",' + " " * 2**21 + '"n": 1}', '{"text": "so", "id": ' + "1" * 5000 + "}"):
        assert written(text, ["So."]) == re.sub(" +", " ", text).replace('"so"', '"So."')


def test_json_that_is_nested_deeper_than_any_recogniser_nests_is_refused() -> None:
    for n in (520, 200_000):
        with pytest.raises(InputError, match=r"is no json \((brackets 100 deep|maximum recursion)"):
            RecogniserJson.read("[" * n + '{"text": "so"}' + "]" * n)


@pytest.mark.parametrize("more", ['"speaker": {"a": 1}', '"alternatives": null', '"id": {}', '"channel": [0, 1]'])
def test_odd_values_beside_marks_are_no_mistake(more: str) -> None:
    text = f'{{"items": [{{"type": "pronunciation", "content": "so", {more}}}]}}'
    assert json.loads(written(text, ["So."]))["items"][0] == json.loads(text.replace("so", "So"))["items"][0]
