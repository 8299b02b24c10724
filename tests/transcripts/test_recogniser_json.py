"""A recogniser's json: the same words everywhere, whole and in pieces, marks as items, and nothing else changed."""

import io
import json
import logging
import random
from collections.abc import Sequence
from typing import Any

import chance
import pytest
from chance import reading, rewritten, spoken
from converting import converted

from t5punct.errors import InputError
from t5punct.text.marks import Alphabet, Case
from t5punct.text.render import Decision
from t5punct.transcripts.formats import Transcript, transcript_of
from t5punct.transcripts.items import SpokenWord
from t5punct.transcripts.recogniser.recording import RecogniserJson
from t5punct.transcripts.resegment import ResegmentConfig
from t5punct.transcripts.writers import WriterConfig


def words_of(text: str) -> list[SpokenWord]:
    return spoken(reading(text, "json").items)


def written(text: str, new: Sequence[str] | None = None) -> str:
    """The json with its words written as `new`, or as they are."""
    return rewritten(text, "json", new)


def said_in(text: str) -> str:
    return chance.said(text, "json")


def by_chance(text: str, seed: int, alphabet: Alphabet | None = None) -> tuple[str, list[str]]:
    return chance.by_chance(text, "json", seed, alphabet)


def test_a_file_that_is_cut_is_refused() -> None:
    text = '{"text": "how are", "segments": [{"id": 1, "text": "how", "words": []}, {"id": 2, "text": "are"}]}'
    for wrong in (*(text[:length] for length in range(len(text))), text + "]"):
        with pytest.raises(InputError, match="talk is no json"):
            RecogniserJson.read(wrong, None, "talk")


def test_other_types_of_words_have_their_marks_where_the_file_has_them() -> None:
    """As Speechmatics writes it: words have the type `word`."""
    result = [{"type": "word", "alternatives": [{"content": "so"}]}]
    with_marks = [*result, {"type": "punctuation", "attaches_to": "previous", "alternatives": [{"content": "."}]}]
    assert json.loads(written(json.dumps({"results": with_marks}), ["So?"]))["results"] == [
        {"type": "word", "alternatives": [{"content": "So"}]},
        {"type": "punctuation", "attaches_to": "previous", "alternatives": [{"content": "?"}]},
    ]
    text = json.dumps({"results": result})
    assert written(text, ["So?"]) == text.replace("so", "So?")


def test_a_sentence_ends_where_another_speaks_and_marks_follow_a_gap() -> None:
    """As Deepgram tells it, in each word."""
    words = [{"word": word, "start": n, "speaker": n // 2} for n, word in enumerate(["hello", "world", "yes"])]
    said = Transcript(RecogniserJson.read(json.dumps({"transcript": "hello world yes", "words": words})).items).texts
    assert [" ".join(word.text for word in text) for text in said] == ["hello world", "yes"]
    words = [f"w{n % 700}" for n in range(3000)]
    listed = [{"word": word} for word in words[:900] + words[1500:]]
    new, _ = by_chance(json.dumps({"text": " ".join(words), "words": listed}), 1)
    value = json.loads(new)
    marked = value["text"].replace(" -", "-").split()
    assert [word["word"].replace(" -", "-") for word in value["words"]] == marked[:900] + marked[1500:]


def test_a_string_that_says_something_else_and_half_a_character_stay_as_they_are() -> None:
    others = {"summary": {"text": "All about the budget."}, "headline": {"text": "budget"}}
    text = json.dumps({"text": "so the budget is fine and we go on", **others})
    new = "So the budget, is fine, and we go on."
    assert written(text, new.split()) == text.replace("so the budget is fine and we go on", new)
    text = '{"text": "so \\ud83d what é"}'
    assert json.loads(written(text)) == json.loads(text)
    assert json.loads(written(text, ["so", "\ud83d,", "what", "é."]))["text"] == "so \ud83d, what é."


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


def test_names_and_phrases_that_are_listed_have_no_marks() -> None:
    value = {
        "text": "john smith is here",
        "words": [{"text": word, "start": 100 * n} for n, word in enumerate(["john", "smith", "is", "here"])],
        "entities": [{"entity_type": "person_name", "text": "john smith", "start": 0, "end": 190}],
        "auto_highlights_result": {"results": [{"text": "smith", "count": 1}]},
        "search": {"terms": [{"text": "smith is"}]},
        "topics": [{"text": "john smith is here"}],
    }  # fmt: skip
    new = json.loads(written(json.dumps(value), ["John", "Smith,", "is", "here."]))
    assert [word["text"] for word in new["words"]] == ["John", "Smith,", "is", "here."]
    assert [name for name in value if new[name] == value[name]] == [*value][2:]


def test_keys_that_come_again_and_lists_that_begin_with_a_full_stop() -> None:
    text = '{"text": "so it", "text": "so it", "words": [{"word": "so"}], "words": [{"word": "so"}, {"word": "it"}]}'
    new = text.replace("so it", "So, it?").replace('"so"', '"So,"').replace('"it"', '"it?"')
    assert written(text, ["So,", "it?"]) == new
    lists = [{"words": [{"word": word} for word in words]} for words in (["so"], [".", "it", "is"])]
    value = json.loads(written(json.dumps({"text": "so. it is", "segments": lists}), ["So.", "It,", "is?"]))
    assert [word["word"] for segment in value["segments"] for word in segment["words"]] == ["So.", ".", "It,", "is?"]


@pytest.mark.parametrize("text", [
    '{"text": "", "segments": []}', '{"text": "[Music]", "segments": [{"text": "[Music]"}]}',
    '{"transcription": [{"offsets": {"from": 0, "to": 10}, "text": " [BLANK_AUDIO]"}]}',
    '{"results": {"channels": [{"alternatives": [{"transcript": "", "words": []}]}]}}',
    '\ufeff{"results": {"channels": []}}', '{"text": null}',
])  # fmt: skip
def test_a_recording_in_which_nothing_was_said_comes_out_as_it_is(text: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert by_chance(text, 1) == (text, [])
    assert caplog.messages == ["the file: no words were found in it as json"]


def test_json_of_something_else_or_nested_deeper_than_any_recogniser_nests_is_refused() -> None:
    for text in ("{}", "[]", '{"name": "so"}', '{"body": "so what"}', "1"):
        told = r"no words in the file(, whose fields are (name|body))?; expected json of a recog"
        with pytest.raises(InputError, match=told):
            RecogniserJson.read(text)
    for value in ({"ids": ["x1", "x2"]}, {"langs": ["en", "en", "en"]}, ["2024-01-01", "x"], {"n": [1, 2]}):
        with pytest.raises(InputError, match="no words in"):
            said_in(json.dumps(value))
    with pytest.raises(InputError, match=r"no words in the file, whose fields are id, txet; expected .*`text`"):
        RecogniserJson.read('[{"id": 1, "txet": "so what"}, {"id": 2, "txet": "yes"}]')
    with pytest.raises(InputError, match=r"is no json \((brackets 100 deep|maximum recursion)"):
        RecogniserJson.read("[" * 520 + '{"text": "so"}' + "]" * 520)


@pytest.mark.parametrize(("source", "expected"), [
    # AssemblyAI: milliseconds; whole seconds; whisper.cpp; Google v2
    ('[{"text": "so", "start": 100, "end": 300}, {"text": "we", "start": 300}]', [("so", 100, 300), ("we", 300, None)]),
    ('[{"word": "so", "start": 1, "end": 3}, {"word": "we", "start": 3}]', [("so", 1000, 3000), ("we", 3000, None)]),
    ('[{"offsets": {"from": 40, "to": 3000}, "text": " so we"}]', [("so", 40, None), ("we", None, 3000)]),
    ('[{"startOffset": "0.100s", "endOffset": "0.400s", "word": "so"}, {"startOffset": "1s", "word": "we"}]',
     [("so", 100, 400), ("we", 1000, None)]),
    # transformers' pipelines, of segments and of words; Azure; services that name the unit
    ('{"chunks": [{"text": " so we", "timestamp": [0.1, null]}]}', [("so", 100, None), ("we", None, None)]),
    ('{"text": " so we", "chunks": [{"text": " so", "timestamp": [0.1, 0.3]}, {"text": " we", "timestamp": [1, 2]}]}',
     [("so", 100, 300), ("we", 1000, 2000)]),
    ('{"phrases": [{"offsetMilliseconds": 100, "durationMilliseconds": 400, "text": "so we", "words": ['
     '{"text": "so", "offsetMilliseconds": 100, "durationMilliseconds": 200},'
     ' {"text": "we", "offsetMilliseconds": 300, "durationMilliseconds": 200}]}]}',
     [("so", 100, 300), ("we", 300, 500)]),
    ('[{"text": "so", "start_ms": 600, "end_ms": 760}]', [("so", 600, 760)]),
    # Podcasting 2.0, recall.ai and Amazon Connect
    ('[{"startTime": 0.5, "endTime": 2, "body": "so we"}]', [("so", 500, None), ("we", None, 2000)]),
    ('[{"text": "so", "start_timestamp": {"relative": 0.1, "absolute": "2024-05-01T00:00:00Z"}, '
     '"end_timestamp": {"relative": 0.3}}]', [("so", 100, 300)]),
    ('[{"Content": "so", "BeginOffsetMillis": 100, "EndOffsetMillis": 300}]', [("so", 100, 300)]),
    # durations in the place of ends, as youtube-transcript-api has them (a caption stays while the next one is spoken)
    ('[{"text": "so", "start": 0.5, "duration": 2.5}, {"text": "we know", "start": 2.0, "duration": 1.5}]',
     [("so", 500, 2000), ("we", 2000, None), ("know", None, 3500)]),
    # ticks of 100 ns, of Azure's batches and SDK; events of AWS's streams
    ('[{"word": "so", "offset": "PT0.1S", "offsetInTicks": 1e6, "durationInTicks": 2500000.0}]', [("so", 100, 350)]),
    ('[{"word": "so", "Offset": 1000000, "Duration": 2500000}]', [("so", 100, 350)]),
    ('[{"Content": "so", "StartTime": 0.5, "EndTime": 0.75}]', [("so", 500, 750)]),
    # clocks, of Zoom's timelines and of Teams
    ('[{"text": "so we", "start_time": "00:00:16.240", "end_time": "01:00:17.500"}]',
     [("so", 16_240, None), ("we", None, 3_617_500)]),
    ('[{"text": "so", "startOffset": "00:00:03.2966899", "endOffset": "00:00:04"}]', [("so", 3297, 4000)]),
    # a word in pieces
    ('{"text": "so 1,000", "words": [{"word": " so", "start": 0, "end": 0.5}, {"word": " 1", "start": 1,'
     ' "end": 1.5}, {"word": ",000", "start": 1.5, "end": 2.5}]}', [("so", 0, 500), ("1,000", 1000, 2500)]),
])  # fmt: skip
def test_words_have_recognisers_times(source: str, expected: list[tuple[str, int | None, int | None]]) -> None:
    assert [(word.raw, word.start_ms, word.end_ms) for word in words_of(source)] == expected
    assert written(source) == source


@pytest.mark.parametrize(("said", "pieces", "new", "expected"), [
    # words in pieces, as tokens of Whisper, a space before which says that a word begins
    ("it costs 1,000 u.s.", " it| costs| 1|,000| u|.s.", "It|costs|1,000.|U.S.", " It| costs| 1|,000.| U|.S."),
    ("by 50% we", " by| 50|%| we", "By|50%.|We", " By| 50|%.| We"),
    ("the U.S. at a.b.com", " the| U|.|S|.| at| a|.b|.|com", "The|U.S.,|at|a.b.com?",
     " The| U|.|S|.,| at| a|.b|.|com?"),
    ("in İstanbul", " in| İs|tan|bul", "In|İstanbul.", " In| İs|tan|bul."),  # whose lower case is longer
    # nothing is forced where no space says what is a word, or words are cut in other places
    ("so 1,000 ab c it", "so|1|000|a|bc|it", "So|1,000.|Ab|C,|It", "So|1|000|a|bc|It"),
    # quotes and brackets belong to each place
    ('he said "hello"', "he|said|hello", 'He|said|"Hello",', "He|said|Hello,"),
    ("he said hello.", 'he|said|("hello.")', "He|said -|hello!", 'He|said -|("hello!")'),
    ("'quote me'", " '|quo|te| me|'", "'Quote|me'.", " '|Quo|te| me|'."),
    ("o'clock dogs'", "o|'|clock| dogs", "O'clock|dogs'.", "O|'|clock| dogs."),
    ('he ("so.") we', ' he| ("|so|.|"|)| we', 'He|("So?")|we', ' He| ("|So|?|"|)| we'),
    ('he said "so"', 'he|said|("so"', 'He|said|"So?"', 'He|said|("So?"'),
    ("the U.S we", "the|U.S.|we", "The|U.S,|we", "The|U.S.,|we"),
    # tokens that nobody says are no pieces
    ("so what", "[_BEG_]|so| what|[_TT_50]", "So|what?", "[_BEG_]|So| what?|[_TT_50]"),
    # a mark with a place of its own is no word
    ("so, what -", "so|,|what| -", "so?|what", "so|?|what|"), ("so, what -", "so|,|what| -", "so|what!", "so||what|!"),
    ("so, what -", "so|,|what| -", "so -|what, -", "so| -|what|, -"),
    ("so-. we", " so|-|.| we", "So-|we", " So|-|| we"), ("so-. we", " so|-|.| we", "So- -|we", " So|-| -| we"),
    ("so-. we", " so|-|.| we", "So-?|we", " So|-|?| we"), ("etc.! so", "etc.|!|so", "etc.?!|so", "etc.|?!|so"),
])  # fmt: skip
def test_pieces_quotes_and_places_of_marks_get_their_marks(said: str, pieces: str, new: str, expected: str) -> None:
    text = json.dumps({"text": said, "words": [{"word": piece} for piece in pieces.split("|")]})
    assert written(text) == text
    new_text = written(text, new.split("|"))
    assert json.loads(new_text) == {
        "text": new.replace("|", " "), "words": [{"word": piece} for piece in expected.split("|")]
    }  # fmt: skip
    assert written(new_text, new.split("|")) == new_text


def test_where_the_case_stays_each_place_keeps_its_own_letters() -> None:
    text = json.dumps({"text": "nasa is", "words": [{"word": "NASA"}, {"word": "is"}]})
    new, _ = chance.decided(text, "json", lambda: Decision(",", Case.VERBATIM, 1.0, 1.0))
    assert json.loads(new) == {"text": "nasa, is,", "words": [{"word": "NASA,"}, {"word": "is,"}]}


def test_a_mark_is_not_joined_with_a_word_of_another_list_or_an_object_in_none() -> None:
    lists = [["so", "what"], [",", "it"], ["is", "."]]
    items = [[_item(text) for text in texts] for texts in lists]
    new = json.loads(written(json.dumps({"parts": [{"items": part} for part in items]}), ["So", "what?", "It", "is"]))
    assert [[item["content"] for item in part["items"]] for part in new["parts"]] == [
        ["So", "what", "?"], [",", "It"], ["is"],
    ]  # fmt: skip
    text = '{"first": {"type": "pronunciation", "content": "so"}, "second": {"type": "punctuation", "content": "."}}'
    assert written(text, ["so,"]) == text.replace('"so"', '"so,"')


def _item(text: str) -> dict[str, Any]:
    return {"type": "pronunciation" if text.isalpha() else "punctuation", "content": text}


def test_of_two_items_of_marks_none_stays_that_is_gone_and_a_spoken_one_stays() -> None:
    items = [_item(text) for text in ("so", "?", "!", "what")]
    text = json.dumps({"items": items})
    assert written(text, ["so?!", "what"]) == text
    assert json.loads(written(text, ["so.", "what"]))["items"] == [_item(text) for text in ("so", ".", "what")]
    assert json.loads(written(text, ["so", "what"]))["items"] == [_item(text) for text in ("so", "what")]
    items = [{"type": "pronunciation", "content": word} for word in ("so", "?!", "we")]
    new = json.loads(written(json.dumps({"transcript": "so?! we", "items": items}), ["so -", "we."]))["items"]
    assert [item["content"] for item in new if item["type"] == "pronunciation"] == ["so", "?!", "we"]


@pytest.mark.parametrize("transcript", [{}, {"transcript": "hola ¿cómo va"}])
@pytest.mark.parametrize("content", ["¿", ")", "word"])
def test_an_item_of_a_mark_that_is_none_stays_and_parts_nothing(content: str, transcript: dict[str, str]) -> None:
    items = [_item("hola"), {"type": "punctuation", "content": content}, *map(_item, (",", "cómo", "va"))]
    words = ["Hola.", "¿cómo" if transcript else "cómo", "va?"]
    new = json.loads(written(json.dumps({**transcript, "items": items}), words))
    assert [item["content"] for item in new["items"]] == ["Hola", content, ".", "cómo", "va", "?"]


@pytest.mark.parametrize("mark", ["。", "؟", '?"', ".)"])
def test_an_item_of_a_mark_keeps_closing_quotes_and_unknown_marks(mark: str) -> None:
    """Then the item says what the text does."""
    items = [_item("so"), {"type": "punctuation", "content": mark}, _item("what")]
    text = json.dumps({"transcript": f"so{mark} what", "items": items}, ensure_ascii=False)
    assert written(text) == text
    for seed in range(9):
        new = json.loads(by_chance(text, seed, Alphabet())[0])
        assert new["items"][0]["content"].lower().lstrip("¿¡") == "so"
        assert "".join(item["content"] for item in new["items"]).replace(" ", "") == new["transcript"].replace(" ", "")


NEMO = (
    '{"audio_filepath": "a/1.wav", "duration": 2.5, "text": "so what"}\n'
    '{"audio_filepath": "a/2.wav", "duration": 1.0, "text": "yes it is", "label": "x"}\n'
)
REV = {"monologues": [
    {"speaker": 0, "elements": [
        {"type": "text", "value": "so", "ts": 0.5, "end_ts": 0.75, "confidence": 0.9}, {"type": "punct", "value": " "},
        {"type": "text", "value": "what", "ts": 0.75, "end_ts": 1.25, "confidence": 0.9},
        {"type": "punct", "value": "."},
    ]},
    {"speaker": 1, "elements": [{"type": "text", "value": "yes", "ts": 1.5, "end_ts": 2.0, "confidence": 0.9}]},
]}  # fmt: skip
JSON3 = {"wireMagic": "pb3", "events": [
    {"tStartMs": 0, "dDurationMs": 9000, "id": 1, "wpWinPosId": 1},
    {"tStartMs": 1000, "dDurationMs": 4000, "segs": [
        {"utf8": "so", "acAsrConf": 0}, {"utf8": " what", "tOffsetMs": 500}
    ]},
    {"tStartMs": 2990, "dDurationMs": 10, "aAppend": 1, "segs": [{"utf8": "\n"}]},
    {"tStartMs": 3000, "dDurationMs": 2000, "segs": [{"utf8": "we"}, {"utf8": " know", "tOffsetMs": 480}]},
]}  # fmt: skip
UNKNOWN = [
    {"kind": "asr", "tokens": [{"t": "so", "id": "a1", "lang": "en"}, {"t": "what", "id": "a2", "lang": "en"},
                               {"t": "yes", "id": "a3", "lang": "en"}]},
    {"data": [["so", "what"], ["yes"]], "codes": ["x1", "x2", "x3"]},
]  # fmt: skip


def test_lines_of_a_manifest_and_strings_of_a_list_are_recordings_of_their_own() -> None:
    assert said_in(NEMO) == "so what / yes it is"
    assert written(NEMO) == NEMO
    new = NEMO.replace("so what", "So what?").replace("yes it is", "Yes, it is.")
    assert written(NEMO, ["So", "what?", "Yes,", "it", "is."]) == new
    for odd in (NEMO.rstrip("\n"), NEMO.replace("\n", "\r\n"), NEMO.replace("\n", "\n\n"), "\ufeff" + NEMO):
        assert written(odd) == odd and said_in(odd) == "so what / yes it is"
    assert transcript_of(io.StringIO(NEMO), name="manifest.jsonl").format == "json"
    with pytest.raises(InputError, match="is no json"):
        said_in(NEMO + '{"text": }\n')
    with pytest.raises(InputError, match="line 3 is no json"):
        said_in('{"text": "so"}\n\nno json\n{"text": "what"}\n')
    source = '["so what", "Ann: yes we know", "yes", ""]'
    assert said_in(source) == "so what / yes we know / yes"
    new = '["So what?", "Ann: Yes, we know.", "Yes.", ""]'
    assert written(source, ["So", "what?", "Yes,", "we", "know.", "Yes."]) == new
    assert said_in('["so"]') == "so"


def test_objects_of_several_lines_that_follow_each_other_are_recordings_of_their_own() -> None:
    """As a stream of Vosk's writes them; what looks like two inside a string is one."""
    texts = ('{\n  "text": "so what"\n}\n', '{\n  "partial": "ye"\n}\n\n', '{\n  "text": "yes"\n}')
    for source in ("".join(texts), "".join(texts).replace("\n", "\r\n")):
        assert said_in(source) == "so what / yes"
        assert written(source) == source
        new = source.replace("so what", "So what?").replace("yes", "Yes.")
        assert written(source, ["So", "what?", "Yes."]) == new
    assert said_in('{"text": "so\n}\n{ what"}') == "so } { what"
    with pytest.raises(InputError, match="the file object 2 is no json"):
        said_in(texts[0] + texts[0] + "}")


def test_the_elements_of_rev_ai_are_words_marks_and_spaces() -> None:
    source = json.dumps(REV)
    assert said_in(source) == "so what / yes"
    assert [(item.start_ms, item.end_ms) for item in spoken(reading(source, "json").items)] == [
        (500, 750), (750, 1250), (1500, 2000)
    ]  # fmt: skip
    assert written(source, ["so", "what.", "yes"]) == source
    new = json.loads(written(source, ["So,", "what", "Yes!"]))["monologues"]
    texts = ["".join(element["value"] for element in monologue["elements"]) for monologue in new]
    assert texts == ["So, what", "Yes!"]
    assert {element["type"] for monologue in new for element in monologue["elements"]} == {"text", "punct"}
    assert converted(source, "json", WriterConfig("text")) == "Speaker 0: so what.\nSpeaker 1: yes\n"


def test_the_segments_of_youtubes_json3_have_the_times_of_their_events() -> None:
    source = json.dumps(JSON3)
    assert said_in(source) == "so what we know"
    words = spoken(reading(source, "json").items)
    assert [(word.start_ms, word.end_ms) for word in words] == [(1000, 1500), (1500, 2990), (3000, 3480), (3480, 5000)]
    new = source.replace('"so"', '"So"').replace(" what", " what?").replace('"we"', '"We"').replace(" know", " know.")
    assert written(source, ["So", "what?", "We", "know."]) == new
    new = converted(source, "json", WriterConfig("srt", resegment=ResegmentConfig()))
    assert new == "1\n00:00:01,000 --> 00:00:05,000\nso what we know\n\n"
    assert transcript_of(io.StringIO(source), name="captions.json3").format == "json"


@pytest.mark.parametrize("value", UNKNOWN)
def test_of_an_unknown_shape_its_lists_of_words_are_read(value: object) -> None:
    source = json.dumps(value)
    assert said_in(source).replace(" /", "") == "so what yes"
    new = source.replace('"so"', '"So"').replace('"what"', '"what?"').replace('"yes"', '"Yes."')
    assert written(source, ["So", "what?", "Yes."]) == new


def test_a_list_of_texts_is_read_beside_names_that_are_none() -> None:
    """As Label Studio has what a person wrote, and Telegram a message with a link."""
    source = json.dumps([
        {"from_name": "transcription", "type": "textarea", "value": {"start": 0.5, "end": 2.5, "text": ["so what"]}},
        {"from_name": "labels", "type": "labels", "value": {"start": 0.5, "end": 2.5, "labels": ["Ann"]}},
    ])  # fmt: skip
    assert said_in(source) == "so what"
    assert written(source, ["So", "what?"]) == source.replace("so what", "So what?")
    assert converted(source, "json", WriterConfig("srt")) == "1\n00:00:00,500 --> 00:00:02,500\nso what\n\n"
    link = {"type": "link", "text": "a.org"}
    assert said_in(json.dumps([{"text": ["so what ", link, " we know"]}, {"text": "yes"}])) == "so what we know yes"


@pytest.mark.parametrize("key", ["display", "DisplayText", "full_transcript", "raw_text", "segment"])
def test_what_services_show_beside_the_words_has_their_marks(key: str) -> None:
    source = json.dumps({"lexical": "so what", key: "so what", "words": [{"word": "so"}, {"word": "what"}]})
    new = json.loads(written(source, ["So", "what?"]))
    assert (new[key], new["lexical"]) == ("So what?", "so what")
    assert [word["word"] for word in new["words"]] == ["So", "what?"]


def test_a_long_list_of_words_has_few_that_differ() -> None:
    words = [word * n for n in range(1, 20) for word in ("so", "what", "yes")] * 9
    assert said_in(json.dumps([{"t": word, "kind": "word"} for word in words])) == " ".join(words)


def test_names_of_files_are_no_words_beside_what_nemo_heard() -> None:
    manifest = "".join(f'{{"audio_filepath": "{name}.wav", "pred_text": "{name} so"}}\n' for name in "ab")
    assert said_in(manifest) == "a so / b so"
    with pytest.raises(InputError, match="no words in"):
        said_in(manifest.replace("pred_text", "prediction"))
