"""Words of a recogniser's json that stand there whole and in pieces."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t5punct.text.marks import Case, apply_case
from t5punct.text.render import AnnotatedWord
from t5punct.transcripts.items import SpokenWord, WrittenWord
from t5punct.transcripts.recogniser.alignment import HeardWord, Match, align_words
from t5punct.transcripts.recogniser.recording import RecogniserJson
from t5punct.transcripts.recogniser.spelling import Spelling

WORDS = ["so", "1,000", "well-known", "don't", "50%", "é"]
JSON = (
    '{"segments": [{"text": " it costs 1,000 well-known u.s.", "words": ['
    '{"word": " it", "start": 0, "end": 0.5}, {"word": " costs", "start": 0.5, "end": 1},'
    ' {"word": " 1", "start": 1, "end": 1.5}, {"word": ",000", "start": 1.5, "end": 2.5},'
    ' {"word": " well", "start": 3, "end": 3.5}, {"word": "-known", "start": 3.5, "end": 4},'
    ' {"word": " u", "start": 4, "end": 4.5}, {"word": ".s.", "start": 4.5, "end": 5}]}]}'
)


def words_of(recognised: RecogniserJson) -> list[SpokenWord]:
    return [item for item in recognised.items if isinstance(item, SpokenWord)]


def written(recognised: RecogniserJson, new: list[str]) -> str:
    words = zip(words_of(recognised), new, strict=True)
    return recognised.written(
        WrittenWord(word, AnnotatedWord(word.word.text, text, "", "lower", 1.0, 1.0)) for word, text in words
    )


def found_in(theirs: str, ours: dict[str, Spelling]) -> list[str | None]:
    """How the words of a list are written now, given other words and their spellings."""
    pieces = theirs.split()
    spellings: list[Spelling | None] = [None] * len(pieces)
    for match in align_words([HeardWord(word) for word in ours], [HeardWord(word) for word in pieces]):
        if len(match.ours) == 1:
            cut = [*ours.values()][match.ours[0]].cut([pieces[place] for place in match.theirs])
            for place, spelling in zip(match.theirs, cut, strict=True):
                spellings[place] = spelling
    return [None if spelling is None else spelling.letters + spelling.marks for spelling in spellings]


def test_words_in_pieces_have_times_and_get_marks() -> None:
    recognised = RecogniserJson.read(JSON)
    words = words_of(recognised)
    assert [(word.raw, word.start_ms, word.end_ms) for word in words][2:] == [
        *(("1,000", 1000, 2500), ("well-known", 3000, 4000), ("u.s.", 4000, 5000))
    ]
    new = ["It", "costs", "1,000.", "Well-known,", "U.S."]
    value = json.loads(written(recognised, new))
    (segment,) = value["segments"]
    assert segment["text"] == " It costs 1,000. Well-known, U.S."
    assert [word["word"] for word in segment["words"]] == [
        *(" It", " costs", " 1", ",000.", " Well", "-known,", " U", ".S.")
    ]


@st.composite
def cut(draw: st.DrawFn) -> tuple[dict[str, Spelling], list[str]]:
    """Words of which no piece is a word, with how they are written, and all of them in pieces."""
    words = [f"{draw(st.sampled_from(WORDS))}{number}z" for number in range(100, draw(st.integers(101, 130)))]
    spellings, pieces = dict[str, Spelling](), list[str]()
    for word in words:
        case = draw(st.sampled_from([Case.LOWER, Case.CAPITALISED, Case.UPPER]))
        spellings[word] = Spelling(apply_case(word, case), draw(st.sampled_from(["", ",", "?!"])))
        places = sorted(draw(st.sets(st.integers(1, len(word) - 1), max_size=2)))
        pieces += [word[begin:end] for begin, end in zip([0, *places], [*places, len(word)], strict=True)]
    return spellings, pieces


@given(cut())
def test_pieces_make_up_the_written_words(spelled_pieces: tuple[dict[str, Spelling], list[str]]) -> None:
    spellings, pieces = spelled_pieces
    texts = found_in(" ".join(pieces), spellings)
    assert "".join(map(str, texts)) == "".join(new.letters + new.marks for new in spellings.values())


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(
            '{"text": "so we", "words": ['
            '{"text": "so", "start": 100, "end": 300}, {"text": "we", "start": 300, "end": 900}]}',
            [("so", 100, 300), ("we", 300, 900)],
            id="AssemblyAI: milliseconds",
        ),
        pytest.param(
            '{"words": [{"word": "so", "start": 1, "end": 3}, {"word": "we", "start": 3, "end": 9}]}',
            [("so", 1000, 3000), ("we", 3000, 9000)],
            id="whole seconds",
        ),
        pytest.param(
            '{"transcription": [{"offsets": {"from": 40, "to": 3000}, "text": " so we"}]}',
            [("so", 40, None), ("we", None, 3000)],
            id="whisper.cpp",
        ),
        pytest.param(
            '{"results": [{"alternatives": [{"transcript": "so we", "words": ['
            '{"startOffset": "0.100s", "endOffset": "0.400s", "word": "so"}, {"startOffset": "1s", "word": "we"}]}]}]}',
            [("so", 100, 400), ("we", 1000, None)],
            id="Google v2",
        ),
        pytest.param(
            '{"results": [{"alternatives": [{"transcript": "so we", "words": [{"startTime": "1s", "word": "so"},'
            ' {"startTime": "2s", "word": "we"}]}]}, {"alternatives": [{"words": ['
            '{"startTime": "1s", "word": "so", "speakerTag": 1},'
            ' {"startTime": "2s", "word": "we", "speakerTag": 2}]}]}]}',
            [("so", 1000, None), ("we", 2000, None)],
            id="Google's words once more, with speakers",
        ),
        pytest.param(
            '{"words": [{"word": "at"}, {"word": "10:30"}]}',
            [("at", None, None), ("10:30", None, None)],
            id="a time that is said",
        ),
        pytest.param('{"text": "", "segments": [], "language": "en"}', [], id="nothing was said"),
    ],
)
def test_words_have_the_times_that_recognisers_give(
    source: str, expected: list[tuple[str, int | None, int | None]]
) -> None:
    recognised = RecogniserJson.read(source)
    words = words_of(recognised)
    assert [(word.raw, word.start_ms, word.end_ms) for word in words] == expected
    assert written(recognised, [word.raw for word in words]) == source


def test_what_is_said_elsewhere_is_not_forced() -> None:
    new = {"so": "So", "1,000": "1,000.", "ab": "Ab", "c": "C,", "it": "It"}
    spellings = {word: Spelling(text.rstrip(",."), text[len(word) :]) for word, text in new.items()}
    assert found_in("so 1 000 a bc it", spellings) == ["So", None, None, None, None, "It"]
    it = {"it": Spelling("It")}
    assert found_in("gon na it", {"gonna": Spelling("going to")} | it) == [None, None, "It"]
    assert found_in("uh -huh it", {"uh-huh": Spelling("", is_removed=True)} | it) == ["", "", "It"]
    assert found_in("until it", {"un": Spelling("un", ","), "til": Spelling("til", ".")} | it) == [None, "It"]


def test_of_the_orders_the_one_in_which_most_is_found_counts() -> None:
    ours = [HeardWord("so", "0", 0), HeardWord("we", "0", 900), HeardWord("so", "1", 500)]
    theirs = [HeardWord("so", "0", 0), HeardWord("so", "1", 500), HeardWord("we", "0", 900)]
    expected = [Match((0,), (0,)), Match((1,), (2,)), Match((2,), (1,))]
    assert sorted(align_words(ours, theirs), key=lambda match: match.ours) == expected
    by_time = [HeardWord(word.normal, "", word.order_ms) for word in theirs]
    assert sorted(align_words(ours, by_time), key=lambda match: match.ours) == expected
    wrong_times = [HeardWord("so", "", 9), HeardWord("we", "", 5), HeardWord("so", "", 0)]
    assert align_words([HeardWord(word.normal) for word in wrong_times], wrong_times) == [
        Match((n,), (n,)) for n in range(3)
    ]


@pytest.mark.parametrize("marks", ["", " -", ".", "?"])
def test_a_mark_behind_a_hyphen_with_a_token_of_its_own_goes(marks: str) -> None:
    recognised = RecogniserJson.read(
        '{"text": "so-. we", "words": [{"word": "so"}, {"word": "-"}, {"word": "."}, {"word": "we"}]}'
    )
    value = json.loads(written(recognised, [f"So-{marks}", "we"]))
    assert value["text"] == f"So-{marks} we"
    assert "".join(word["word"] for word in value["words"]) == f"So-{marks}we"


@pytest.mark.parametrize(
    "pieces",
    [[" 1", ",", "000"], [" 10", ":", "30"], [" C", "++"], [" 50", "%"], [" http", "://", "a", ".b", "/c", "?", "d"]],
)
@pytest.mark.parametrize("behind", [[], [" we"]])
def test_marks_and_signs_inside_a_word_are_pieces_of_it(pieces: list[str], behind: list[str]) -> None:
    """As tokens of Whisper, a space before which says that a word begins."""
    tokens = [" so", *pieces, *behind]
    word = "".join(pieces).strip()
    recognised = RecogniserJson.read(
        json.dumps({"text": "".join(tokens), "tokens": [{"text": token} for token in tokens]})
    )
    value = json.loads(written(recognised, ["So", f"{word},", *(text.strip() for text in behind)]))
    assert [token["text"] for token in value["tokens"]] == [" So", *pieces[:-1], f"{pieces[-1]},", *behind]
    assert value["text"] == "".join(token["text"] for token in value["tokens"])


def test_a_full_stop_that_begins_a_list_is_no_piece_of_the_word_behind_it() -> None:
    lists = [{"words": [{"word": word} for word in words]} for words in (["so"], [".", "it", "is"])]
    recognised = RecogniserJson.read(json.dumps({"text": "so. it is", "segments": lists}))
    value = json.loads(written(recognised, ["So.", "It,", "is?"]))
    assert [word["word"] for segment in value["segments"] for word in segment["words"]] == ["So.", ".", "It,", "is?"]
