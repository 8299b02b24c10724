"""Tables: the column of words is known or the table is refused, and marks that have rows of their own are marks."""

import csv
import json

import pytest
from chance import reading, rewritten, spoken
from converting import converted

from t5punct.errors import InputError
from t5punct.transcripts.items import SpokenWord
from t5punct.transcripts.writers import WriterConfig


def words_of(text: str, name: str) -> list[SpokenWord]:
    return spoken(reading(text, name).items)


@pytest.mark.parametrize(("text", "times"), [
    pytest.param("so\t0.1\t0.5\n1953\t1\t2\n", [(100, 500), (1000, 2000)], id="words before their times"),
    pytest.param("so\t0.1\t0.5\n1953\tNA\t2\n", [(100, 500), (None, 2000)], id="a time is missing"),
    pytest.param("so\n1953\n", [(None, None), (None, None)], id="one column"),
    pytest.param("Token\nso\n1953\n", [(None, None), (None, None)], id="one column with a header"),
    pytest.param("word\tstart\nso\n1953\n", [(None, None), (None, None)], id="a header of more columns"),
    pytest.param("0.1\t0.5\tso 1953\n\n2\t2\t\n", [(100, None), (None, 500)], id="Audacity's labels"),
    pytest.param("00:01\t0:00:05.5\tso 1953\n", [(1000, None), (None, 5500)], id="times of a clock"),
    pytest.param("Start_Time\tEnd Time\tDialogue\n0,1\t0,5\tso 1953\n", [(100, None), (None, 500)], id="commas"),
    pytest.param("7\tso\n8\t1953\n", [(None, None), (None, None)], id="numbers of rows"),
    pytest.param('"start"\t"word"\n"1"\t0.1\t"so"\n"2"\t1\t"1953"\n', [(100, None), (1000, None)], id="R's"),
])  # fmt: skip
def test_the_column_of_words_is_found(text: str, times: list[tuple[int | None, int | None]]) -> None:
    assert [(item.raw, item.start_ms, item.end_ms) for item in words_of(text, "tsv")] == [
        (word, *time) for word, time in zip(("so", "1953"), times, strict=True)
    ]
    assert rewritten(text, "tsv", ["So,", "1953."]) == text.replace("so", "So,").replace("1953", "1953.")


@pytest.mark.parametrize(("text", "columns"), [
    ("onset\toffset\torthography\n0.1\t0.2\tso\n", "onset, offset, orthography"),
    ("so\tADV\n", "so, ADV"), ("0.1\t0.2\n", "0.1, 0.2"), ("time\n00:01\n1:00:02.5\n", "time"), ("00:01\n", "00:01"),
    ("time\tsaid\n00:01\tso\n", "time, said"), ('"id"\t"said"\n1\t"so"\n', "id, said"),
])  # fmt: skip
def test_a_table_is_refused_where_it_is_not_clear_which_column_holds_words(text: str, columns: str) -> None:
    told = f"^columns {columns}: it is not clear which of them holds words; expected a h"
    with pytest.raises(InputError, match=told):
        reading(text, "tsv")
    if "\t" in text:  # with bars between them, too, as in the tables of LJSpeech
        with pytest.raises(InputError, match=told):
            reading(text.replace("\t", "|"), "csv")


CTM = "a 1 0 1 so 0.9\na 1 1 0 , 0.5\na 1 1 1 etc\na 1 2 0 . 0.5\na 1 2 0 ?\na 1 3 1 what\n"
TSV = "word\tstart\nso\t0\n,\t1\netc\t1\n.\t2\n?\t2\nwhat\t3\n"


@pytest.mark.parametrize(("name", "text"), [("ctm", CTM), ("tsv", TSV)])
def test_a_mark_in_a_row_of_its_own_is_the_mark_of_the_word_before_it(name: str, text: str) -> None:
    given_marks = [(item.word.text, item.word.given) for item in words_of(text, name)]
    assert given_marks == [("so", ","), ("etc", "?"), ("what", "")]
    assert rewritten(text, name, ["so,", "etc.?", "what"]) == text
    new = rewritten(text, name, ["So", "etc.", "What."])
    expected = text.replace("so", "So").replace("what", "What.").splitlines(keepends=True)
    rows = [row for row in expected if "," not in row and "?" not in row]
    assert new == "".join(rows)
    begun = slice(2 + (name == "tsv"))  # the header, a word and its mark
    dashed = rewritten(text, name, ["so -", "etc.", "what"]).splitlines()
    assert dashed[begun] == text.replace(",", "-").splitlines()[begun]


def test_marks_of_all_scripts_have_rows_and_do_not_change_which_column_holds_words() -> None:
    (item,) = words_of("a 1 0 1 سلام؟\na 1 1 0 ,\na 1 1 0 ؟\n", "ctm")
    assert (item.word.text, item.word.marks) == ("سلام", "؟,؟")
    table = "Token\tstart\nso\t0.1\t0.5\nso\t0.1\t0.5\n"
    first, second = ([item.raw for item in words_of(text, "tsv")] for text in (table, table + ",\t\n"))
    assert first == second
    text = "a 1 0 0 ,\na 1 0 1 so\nb 1 0 0 .\nb 1 0 1 what\n"
    assert [[word.text for word in words] for words in reading(text, "ctm").texts] == [[",", "so"], [".", "what"]]
    assert rewritten(text, "ctm", [",", "So.", ".", "What."]) == text.replace("so", "So.").replace("what", "What.")


@pytest.mark.parametrize(("text", "new", "expected"), [
    ("word,start,end\nso,0.5,0.75\nwhat,0.75,1\n", ["So,", "what?"], 'word,start,end\n"So,",0.5,0.75\nwhat?,0.75,1\n'),
    ("start;end;text\n0;900;so what\n", ["So,", "what;"], 'start;end;text\n0;900;"So, what;"\n'),
    ('start,end,text\r\n0,900,"so, what"\r\n', ["So", "what?"], 'start,end,text\r\n0,900,"So what?"\r\n'),
    ('text,n\n5" wide,1\nso,2\n', ['5"', "Wide", "So."], 'text,n\n5" Wide,1\nSo.,2\n'),
    ("file,sentence\na.wav,so what\n", ["So", "what?"], "file,sentence\na.wav,So what?\n"),
    ("audio_file|text|n\na.wav|so what|1\n", ["So,", "what?"], "audio_file|text|n\na.wav|So, what?|1\n"),
    ('text,note\nso what,"a\nb"\n,c\n', ["So,", "what"], 'text,note\n"So, what","a\nb"\n,c\n'),
])  # fmt: skip
def test_a_cell_of_a_csv_has_quotes_where_it_needs_them(text: str, new: list[str], expected: str) -> None:
    assert rewritten(text, "csv") == text
    assert rewritten(text, "csv", new) == expected


def test_a_quote_of_a_csv_that_is_not_closed_is_refused_and_cells_become_other_formats() -> None:
    for rest in ('text,start\n"so what,0.1\nyes,0.5\n', 'start,text\n0.1,"so what\n0.5,yes\n0.8,"so"\n',
                 'start,text\n0.1,"so what\n0.5,yes\n0.8,"so'):  # fmt: skip
        with pytest.raises(InputError, match=r'^line 2: a " that is not closed; expected quotes around whole cells'):
            reading(rest, "csv")
    source = json.dumps({"words": [{"word": "so,", "start": 1, "end": 2}, {"word": "what", "start": 2, "end": 3}]})
    quoted = 'start,end,text\n1.0,2.0,"so ""what"" it"\n'
    assert converted(quoted, "csv", WriterConfig("text")) == 'so "what" it\n'
    assert converted(quoted.replace(",", "\t"), "tsv", WriterConfig("text")) == 'so "what" it\n'  # Excel's
    assert converted(quoted, "csv", WriterConfig("csv")).splitlines()[2] == '"""what""",,'
    assert converted(quoted, "csv", WriterConfig()) == quoted
    assert converted(source, "json", WriterConfig("csv")) == 'word,start,end\n"so,",1.000,2.000\nwhat,2.000,3.000\n'


@pytest.mark.parametrize(("rows", "times"), [
    (["0.0,2.5", "2.5,4"], ["00:00:00,000 --> 00:00:02,500", "00:00:02,500 --> 00:00:04,000"]),
    (["0,2500", "2500,4000"], ["00:00:00,000 --> 00:00:02,500", "00:00:02,500 --> 00:00:04,000"]),
    (["00:00,00:02.5", "00:02.5,00:04"], ["00:00:00,000 --> 00:00:02,500", "00:00:02,500 --> 00:00:04,000"]),
])  # fmt: skip
@pytest.mark.parametrize(("name", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_segments_have_times_and_who_speaks(rows: list[str], times: list[str], name: str, delimiter: str) -> None:
    said = ["ann,so what", "tom,yes"]
    lines = (f"{row},{words}" for row, words in zip(rows, said, strict=True))
    source = "\n".join(["start,end,speaker,text", *lines, ""]).replace(",", delimiter)
    assert rewritten(source, name) == source
    first, second = times
    assert converted(source, name, WriterConfig("srt")) == (f"1\n{first}\nann: so what\n\n2\n{second}\ntom: yes\n\n")
    assert converted(source, name, WriterConfig("text")) == "ann: so what\ntom: yes\n"
    for header in ("Start Time,End Time,Speaker Name,Text", "startTime,endTime,speakerName,sentence"):
        renamed = "\n".join([header.replace(",", delimiter), *source.splitlines()[1:], ""])
        assert converted(renamed, name, WriterConfig("srt")) == converted(source, name, WriterConfig("srt"))


def test_a_word_without_a_time_has_one_between_its_neighbours_in_a_ctm() -> None:
    """As whisperX writes numbers, in a segment or in a list of words."""
    said = [("so", 0, 1), ("50", None, None), ("of", 2, 3), ("7", None, None)]
    words = [{"word": word, **({} if start is None else {"start": start, "end": end})} for word, start, end in said]
    segment = {"start": 0, "end": 4, "text": "so 50 of 7", "words": words}
    begun = "one 1 0.000 1.000 so\none 1 1.000 1.000 50\none 1 2.000 1.000 of\none 1 3.000 "
    for value, duration in ({"segments": [segment]}, 1), ({"words": words}, 0):
        assert converted(json.dumps(value), "json", WriterConfig("ctm")) == f"{begun}{duration}.000 7\n"
    cue = "1\n00:00:01,000 --> 00:00:02,000\nso what\n"
    assert converted(cue, "srt", WriterConfig("ctm")) == "one 1 1.000 0.375 so\none 1 1.375 0.625 what\n"


def test_a_ctm_names_the_recordings_and_channels_of_its_input() -> None:
    rows = "a A 0.100 0.200 so\na B 0.100 0.200 what\nb A 0.100 0.200 yes\n"
    assert converted(rows, "ctm", WriterConfig("ctm")) == rows
    said = [[{"word": word, "start": 1, "end": 2}] for word in ("so", "yes")]
    channels = [{"alternatives": [{"transcript": words[0]["word"], "words": words}]} for words in said]
    for stereo, expected in ((1, "one 1 1.000 1.000 so\n"), (2, "one 0 1.000 1.000 so\none 1 1.000 1.000 yes\n")):
        assert converted(json.dumps({"channels": channels[:stereo]}), "json", WriterConfig("ctm")) == expected
    lines = "".join(json.dumps({"words": words}) + "\n" for words in said)
    assert converted(lines, "json", WriterConfig("ctm")) == "one 1 1.000 1.000 so\none 1 1.000 1.000 yes\n"


@pytest.mark.parametrize(("name", "source", "speakers"), [
    ("srt", "1\n00:00:01,000 --> 00:00:02,000\n>> ANN LEE: so\n- what\nTOM: yes\n", ["ANN LEE", "", "TOM"]),
    ("json", '{"segments": [{"text": "so", "speaker": 1}, {"text": "what"}, {"text": "yes", "speaker": "Tom"}]}',
     ["Speaker 1", "", "Tom"]),
    ("text", "[Ann Lee] 10:02:11\nso\n>> what\n[10:31 AM, 1/2/2024] Tom: yes\n", ["Ann Lee", "", "Tom"]),
    ("lines", "Ann, PhD: so\nwhat\nTom: yes\n", ["Ann, PhD", "Ann, PhD", "Tom"]),
    ("ass", "Dialogue: 0,0:0:1.0,0:0:3.0,A,Ann,0,0,0,,so\nDialogue: 0,0:0:1.5,0:0:2.5,B,,0,0,0,,what\n"
     "Dialogue: 0,0:0:3.0,0:0:4.0,A,Ann,0,0,0,,yes\n", ["Ann", "", "Ann"]),
])  # fmt: skip
def test_a_table_names_the_speakers_of_its_input(name: str, source: str, speakers: list[str]) -> None:
    rows = converted(source, name, WriterConfig("tsv")).splitlines()
    assert [row.split("\t")[::3] for row in rows] == [
        ["word", "speaker"], *([word, speaker] for word, speaker in zip(("so", "what", "yes"), speakers, strict=True))
    ]  # fmt: skip
    cells = csv.reader(converted(source, name, WriterConfig("csv")).splitlines())
    assert [row[3] for row in cells] == ["speaker", *speakers]
