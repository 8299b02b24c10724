"""Words of a recogniser's json that stand there whole and in pieces."""

from __future__ import annotations

import json

import pytest
from recognised import words_of, written


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        # AssemblyAI: milliseconds
        ('{"text": "so we", "words": [{"text": "so", "start": 100, "end": 300},'
         ' {"text": "we", "start": 300, "end": 900}]}', [("so", 100, 300), ("we", 300, 900)]),
        # whole seconds
        ('{"words": [{"word": "so", "start": 1, "end": 3}, {"word": "we", "start": 3, "end": 9}]}',
         [("so", 1000, 3000), ("we", 3000, 9000)]),
        # whisper.cpp
        ('{"transcription": [{"offsets": {"from": 40, "to": 3000}, "text": " so we"}]}',
         [("so", 40, None), ("we", None, 3000)]),
        # Google v2
        ('{"results": [{"alternatives": [{"transcript": "so we", "words": [{"startOffset": "0.100s",'
         ' "endOffset": "0.400s", "word": "so"}, {"startOffset": "1s", "word": "we"}]}]}]}',
         [("so", 100, 400), ("we", 1000, None)]),
        # Google's words once more, with speakers
        ('{"results": [{"alternatives": [{"transcript": "so we", "words": [{"startTime": "1s", "word": "so"},'
         ' {"startTime": "2s", "word": "we"}]}]}, {"alternatives": [{"words": [{"startTime": "1s", "word": "so",'
         ' "speakerTag": 1}, {"startTime": "2s", "word": "we", "speakerTag": 2}]}]}]}',
         [("so", 1000, None), ("we", 2000, None)]),
        # a time that is said
        ('{"words": [{"word": "at"}, {"word": "10:30"}]}', [("at", None, None), ("10:30", None, None)]),
        # a word in pieces
        ('{"text": "so 1,000", "words": [{"word": " so", "start": 0, "end": 0.5}, {"word": " 1", "start": 1,'
         ' "end": 1.5}, {"word": ",000", "start": 1.5, "end": 2.5}]}', [("so", 0, 500), ("1,000", 1000, 2500)]),
    ],
)  # fmt: skip
def test_words_have_the_times_that_recognisers_give(
    source: str, expected: list[tuple[str, int | None, int | None]]
) -> None:
    assert [(word.raw, word.start_ms, word.end_ms) for word in words_of(source)] == expected
    assert written(source) == source


@pytest.mark.parametrize(
    ("said", "pieces", "new", "expected"),  # words and pieces, with | between them
    [
        # words in pieces, as tokens of Whisper, a space before which says that a word begins
        ("it costs 1,000 u.s.", " it| costs| 1|,000| u|.s.", "It|costs|1,000.|U.S.", " It| costs| 1|,000.| U|.S."),
        ("so 1,000", " so| 1|,|000", "So|1,000,", " So| 1|,|000,"),
        ("so 1,000 we", " so| 1|,|000| we", "So|1,000,|we", " So| 1|,|000,| we"),
        ("so 10:30 we", " so| 10|:|30| we", "So|10:30,|we", " So| 10|:|30,| we"),
        ("so C++", " so| C|++", "So|C++,", " So| C|++,"),
        ("by 50% we", " by| 50|%| we", "By|50%.|We", " By| 50|%.| We"),
        ("by 50%", " by| 50|%", "By|50%.", " By| 50|%."),
        ("so http://a.b/c?d we", " so| http|://|a|.b|/c|?|d| we", "So|http://a.b/c?d,|we",
         " So| http|://|a|.b|/c|?|d,| we"),
        ("the U.S. at a.b.com", " the| U|.|S|.| at| a|.b|.|com", "The|U.S.,|at|a.b.com?",
         " The| U|.|S|.,| at| a|.b|.|com?"),
        ("in İstanbul", "in|İs|tan|bul", "In|İstanbul.", "In|İs|tan|bul."),  # whose lower case is longer
        # nothing is forced where words are cut in other places
        ("so 1,000 ab c it", "so|1|000|a|bc|it", "So|1,000.|Ab|C,|It", "So|1|000|a|bc|It"),
        # quotes and brackets belong to each place
        ('he said "hello"', "he|said|hello", 'He|said|"Hello",', "He|said|Hello,"),
        ("he said hello.", 'he|said|("hello.")', "He|said -|hello!", 'He|said -|("hello!")'),
        ('a "b" c', ' a| "|b|"| c', 'A|"B",|c.', ' A| "|B,|"| c.'),
        ('he "hello"', 'he| "|hel|lo|"', 'He|"Hello",', 'He| "|Hel|lo,|"'),
        ("he 'hello'", "he| '|hel|lo|'", "He|'Hello',", "He| '|Hel|lo,|'"),
        ("he (hello)", "he| (|hel|lo|)", "He|(Hello),", "He| (|Hel|lo,|)"),
        ("'quote me'", "quote| me", "'Quote|me'.", "Quote| me."),
        ("'quote me'", " '|quo|te| me|'", "'Quote|me'.", " '|Quo|te| me.|'"),
        ("quote me", " '|quo|te| me|'", "Quote|me.", " '|Quo|te| me.|'"),
        ("'quote me'", "quo|te| me", "'Quote|me'.", "Quo|te| me."),
        ("o'clock dogs'", "o|'|clock| dogs", "O'clock|dogs'.", "O|'|clock| dogs."),
        # a mark with a place of its own is no word
        ("so, what -", "so|,|what| -", "so?|what", "so|?|what|"),
        ("so, what -", "so|,|what| -", "so|what!", "so||what|!"),
        ("so, what -", "so|,|what| -", "so -|what, -", "so| -|what|, -"),
        ("so-. we", "so|-|.|we", "So-|we", "So|-||we"),
        ("so-. we", "so|-|.|we", "So- -|we", "So|-| -|we"),
        ("so-. we", "so|-|.|we", "So-?|we", "So|-|?|we"),
    ],
)  # fmt: skip
def test_pieces_quoted_words_and_places_of_marks_get_their_marks(
    said: str, pieces: str, new: str, expected: str
) -> None:
    text = json.dumps({"text": said, "words": [{"word": piece} for piece in pieces.split("|")]})
    assert written(text) == text
    new_text = written(text, new.split("|"))
    assert json.loads(new_text) == {
        "text": new.replace("|", " "), "words": [{"word": piece} for piece in expected.split("|")]
    }  # fmt: skip
    assert written(new_text, new.split("|")) == new_text


def test_a_full_stop_that_begins_a_list_is_no_piece_of_the_word_behind_it() -> None:
    lists = [{"words": [{"word": word} for word in words]} for words in (["so"], [".", "it", "is"])]
    value = json.loads(written(json.dumps({"text": "so. it is", "segments": lists}), ["So.", "It,", "is?"]))
    assert [word["word"] for segment in value["segments"] for word in segment["words"]] == ["So.", ".", "It,", "is?"]
