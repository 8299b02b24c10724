"""Words as they arrive through a pipe, cut anywhere, in the middle of a letter's bytes too."""

import itertools
import json
import os
import threading
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t5punct.text.io.live import Arrival, TimedWord, arrivals


def _piped(chunks: Sequence[bytes]) -> Iterator[int]:
    """The reading end of a pipe into which chunks are written one after the other."""
    reading, writing = os.pipe()

    def write() -> None:
        for chunk in chunks:
            os.write(writing, chunk)
        os.close(writing)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield reading
    finally:
        thread.join()
        os.close(reading)


def _words(chunks: Sequence[bytes], **options: bool) -> list[TimedWord]:
    for descriptor in _piped(chunks):
        return [word for arrival in arrivals(descriptor, **options) for word in arrival.words]  # type: ignore[arg-type]
    raise AssertionError


@given(st.lists(st.sampled_from(["we", "naïve", "🙂", "U.S.", "日本"]), max_size=12), st.lists(st.integers(0, 60)))
def test_words_are_whole_however_their_bytes_arrive(words: list[str], cuts: list[int]) -> None:
    data = (" ".join(words) + "\n").encode()
    places = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    chunks = [data[start:stop] for start, stop in itertools.pairwise(places) if stop > start]
    assert [word.word for word in _words(chunks)] == words


def test_a_word_arrives_before_its_line_ends() -> None:
    reading, writing = os.pipe()
    arrived, source = list[list[str]](), arrivals(reading)
    for chunk in (b"how ar", b"e you", b" "):
        os.write(writing, chunk)
        arrived.append([word.word for word in next(source).words])
    assert arrived == [["how"], ["are"], ["you"]]
    os.close(writing)
    assert list(source) == []
    os.close(reading)


def test_the_last_word_needs_no_space_and_events_have_times() -> None:
    words = [word.word.encode("utf-8", "surrogateescape") for word in _words([b"we kn\xff", b"ow"])]
    assert words == [b"we", b"kn\xffow"]
    assert _words([]) == []
    events = b'{"word": "we", "start": 1.2, "end": 1.5}\n\n{"word": "kn', b'ow", "end": 2}\n{"word": "x"}'
    assert _words(['{"word": "a\u2028"}'.encode()], timed=True) == [TimedWord("a\u2028")], "no end of a line in json"
    assert _words(events, timed=True) == [TimedWord("we", 1200, 1500), TimedWord("know", None, 2000), TimedWord("x")]


@pytest.mark.parametrize("line", [
    b"we know\n", b"[1]\n", b'{"said": "we"}\n', b'{"text": 1}\n', b'{"result": 1}\n', b'{"alternatives": []}\n',
    b'{"word": "we", "end": "soon"}\n', b'{"word": null}\n', b'{"word": "we", "start": 1e400}\n',
    b'{"word": "\\ud800"}\n', b"[" * 60_000 + b"\n",
])  # fmt: skip
def test_a_line_that_is_no_event_is_told_and_ends_nothing(line: bytes) -> None:
    event = b'{"word": "we"}\n'
    for descriptor in _piped([event + line + event]):
        arrived = list(arrivals(descriptor, timed=True))
    assert [arrival.problem is None for arrival in arrived] == [True, False, True]
    assert "an event that reads" in str(arrived[1].problem)
    assert [word.word for arrival in arrived for word in arrival.words] == ["we", "we"]


def test_the_results_of_vosk_are_words_and_its_partial_results_are_none() -> None:
    lines = (
        b'{"partial" : ""}\n{"partial" : "how"}\n'
        b'{"result" : [{"conf": 1.0, "end": 0.6, "start": 0.2, "word": "how"}, '
        b'{"end": 1.0, "start": 0.6, "word": "are"}], '
        b'"text" : "how are"}\n{"text" : ""}\n{"text" : "you so"}\n'
        b'{"alternatives": [{"confidence": 9.5, "result": [{"end": 1.6, "start": 1.2, "word": "what"}], '
        b'"text": " what"}, {"confidence": 9.1, "text": " hot"}]}\n'
    )
    expected = [TimedWord("how", 200, 600), TimedWord("are", 600, 1000), TimedWord("you"), TimedWord("so")]
    expected.append(TimedWord("what", 1200, 1600))
    assert _words([lines], timed=True) == expected
    for descriptor in _piped([b'{"partial" : "how"}\n']):
        assert list(arrivals(descriptor, timed=True)) == [], "a partial result is no silence"


@pytest.mark.parametrize(("event", "words"), [
    ('{"text": "how", "is_final": false}', []), ('{"word": "how", "final": false}', []),
    ('{"message_type": "PartialTranscript", "text": "how"}', []), ('{"type": "partial_transcript", "text": "how"}', []),
    ('{"is_final": false, "alternatives": [{"text": "how"}]}', []), ('{"text": "how", "partial": true}', []),
    ('{"text": "how", "is_final": true, "partial": false, "type": "FinalTranscript"}', [TimedWord("how")]),
    ('{"text": "How?", "words": [{"word": "how", "start": 0.2, "end": 0.6}]}', [TimedWord("how", 200, 600)]),
    ('{"text": "how", "words": [{"text": "how", "start": 200, "end": 600}]}', [TimedWord("how")]),
    ('{"text": "how", "words": []}', [TimedWord("how")]), ('{"text": "how", "words": ["word"]}', [TimedWord("how")]),
])  # fmt: skip
def test_partial_results_of_others_are_none_and_words_with_times_come_first(event: str, words: list[TimedWord]) -> None:
    assert _words([event.encode()], timed=True) == words


def test_who_sends_json_is_not_advised_to_drop_timed() -> None:
    for line, fix in ((b'{"said": "we"}', "correct the source"), (b"we know", "correct the source, or drop --timed")):
        for descriptor in _piped([line]):
            (arrival,) = arrivals(descriptor, timed=True)
        assert arrival.problem is not None and arrival.problem.fix == fix


def test_a_result_of_vosk_may_be_printed_over_several_lines() -> None:
    event = {"result": [{"conf": 1.0, "end": 0.6, "start": 0.2, "word": "how"}], "text": "how"}
    printed = (
        f'{{"word": "so"}}\n{json.dumps(event, indent=2)}\n{{"text": "are"}}\r\n{json.dumps(event, indent=1)}'.encode()
    )
    how = TimedWord("how", 200, 600)
    for size in (1, 2, 3, 7, 50, 1000):
        chunks = [printed[start : start + size] for start in range(0, len(printed), size)]
        assert _words(chunks, timed=True) == [TimedWord("so"), how, TimedWord("are"), how]
    assert _words([b'{\n  "word": "so",\n{"word": "we"}\n'], timed=True) == [TimedWord("we")], "one that never closes"


def test_a_silence_is_told_once_and_cuts_no_word() -> None:
    reading, writing = os.pipe()
    arrived, source = list[Arrival](), arrivals(reading, silence_ms=100)
    for chunk, n_arrivals in ((b"how ar", 2), (b"e you ", 2)):
        os.write(writing, chunk)
        arrived += itertools.islice(source, n_arrivals)
    os.close(writing)
    assert list(source) == []
    os.close(reading)
    texts = [[word.word for word in arrival.words] for arrival in arrived]
    assert texts == [["how"], [], ["are", "you"], []]
    assert arrived[1] == Arrival()


@pytest.mark.parametrize(("before", "after", "timed", "rest"), [
    (b"how ar", b"e you i", False, ["are", "you", "i"]),
    (b"how yo", b"", False, ["yo"]),  # what was read is whole
    (b'{"word": "how"}\n{"wo', b'rd": "are"}\n{"word": "you"}\n{"word"', True, ["are", "you"]),
    (b'{"word": "how"}\n{"word": "a', b"", True, []),  # an event that is not whole is no mistake
])  # fmt: skip
def test_what_has_arrived_is_read_to_the_end(before: bytes, after: bytes, timed: bool, rest: list[str]) -> None:
    told, tell = os.pipe()
    reading, writing = os.pipe()
    os.write(writing, before)
    source = arrivals(reading, timed=timed, stop=told)
    assert [word.word for word in next(source).words] == ["how"]
    os.write(writing, after)
    os.write(tell, b"!")
    arrived = list(source)
    assert [word.word for arrival in arrived for word in arrival.words] == rest
    assert all(arrival.problem is None for arrival in arrived)
    for descriptor in (told, tell, reading, writing):
        os.close(descriptor)


@pytest.mark.parametrize("timed", [False, True])
def test_a_byte_order_mark_is_no_word(timed: bool) -> None:
    words = _words([b'\xef\xbb\xbf{"word":"how"}\n'], timed=timed)
    assert [word.word for word in words] == (["how"] if timed else ['{"word":"how"}'])
