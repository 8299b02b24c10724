"""What a word's spelling says: its own full stop, letters that stay, capitals; and a model's table of spellings."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t5punct.errors import ModelError
from t5punct.text import spelling
from t5punct.text.marks import Alphabet, Case, case_forms
from t5punct.text.render import AnnotatedWord, Decision, RenderConfig, render_word
from t5punct.text.spelling import is_first_person, is_spoken, keeps_letters, owns_full_stop, takes_capital
from t5punct.text.spelling_table import SpellingTable, read_table, write_table
from t5punct.text.words import split
from t5punct.training.data.spellings import learn_table

KEPT = (
    "http://foo.com/bar", "www.example.org", "main.py", "name@host.org", "@name", "/usr/bin", "./run.sh", "~/notes",
    "usr/local/bin", "c:\\temp", "snake_case", "x=1", "f(x)", "a[0]", "<b>", "std::vector", "--keep-marks", "$HOME",
    "#metoo", ".bashrc", "x" * 65, "C++", "AT&T", "20°C", ":D", "C:", "-U", "-m",
    "SAVE20", "F-16", "H.264", "1HGCM82", "4-A", "ORD-2024-001",
    ":tada:", ":+1:", ";-P", "XD", "B)", "O:)", "A*", "t.co/x?", "www.a.b/c?",
)  # fmt: skip
PLAIN = (
    "3RD", "10AM", "80S", "7-ELEVEN", "Covid-19",
    "word", "o'neil", "jean-luc", "u.s.", "ph.d", "a.m", "and/or", "at&t", "class(es)", "3rd", "$5m", "10,000", "c++",
    "100%", "end.", "...and", "-hello", "-I", "-a", "大家早上好",
)  # fmt: skip


def test_addresses_paths_and_code_have_one_form_and_plain_words_are_not_taken_for_them() -> None:
    for word in KEPT:
        assert keeps_letters(word) and not takes_capital(word), word
        assert list(case_forms(word).items()) == [(Case.VERBATIM, word)]
    for word in ("U.S.", "U.S", "J.K.", "C.S.'s", "A.M."):
        assert keeps_letters(word) and not takes_capital(word), "an initialism in capitals keeps them"
    assert [word for word in PLAIN if keeps_letters(split(word).words[0].core)] == []


def test_abbreviations_initials_and_numbers_of_lists_own_their_full_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    stems = ("vs", "VS", "Apr", "Dr", "ph.d", "etc", "J", "I", "a", "no", "word", "12", "1953", "3.5")
    assert [stem for stem in stems if owns_full_stop(stem)] == ["vs", "VS", "Apr", "Dr", "ph.d", "etc", "J"]
    assert [stem for stem in ("12", "1953") if owns_full_stop(stem, opens_line=True)] == ["12"], "not a year"
    assert split("abc. a").words[0].given == "."
    monkeypatch.setattr(spelling, "ABBREVIATIONS", {*spelling.ABBREVIATIONS, "abc"})
    assert split("abc. a").words[0].given == ""


def test_what_begins_a_sentence_and_how() -> None:
    words = ("so", "'em", "¿qué", "3rd", "$5m", "🙂", ":D", "-", "-so", "大", "კარგი")
    assert [word for word in words if takes_capital(word)] == ["so", "'em", "¿qué", "-so"]
    assert [word for word in ("so", "3", "🙂", ":D", "-", "♪", "...") if is_spoken(word)] == ["so", "3"]
    assert [word for word in ("i", "I'm", "i’ll", "it", "ii") if is_first_person(word)] == ["i", "I'm", "i’ll"]


TABLE = SpellingTable(("I", "iPhone", "PhD", "Coca-Cola", "Italia", "Jean", "Paul", "al-Qaeda", "NASA", "Mr"))


def rendered(text: str, decided: Case, label: str = "", **config: bool) -> AnnotatedWord:
    (word,) = split(text).words
    decision = Decision(label, decided, 1.0, 1.0)
    return render_word(word, decision, RenderConfig(**config), Alphabet(), TABLE)


def written(text: str, decided: Case, label: str = "", **config: bool) -> str:
    return rendered(text, decided, label, **config).text


@pytest.mark.parametrize(("text", "lower", "capitalised"), [
    ("i", "I", "I"), ("i'm", "I'm", "I'm"), ("I’LL", "I’ll", "I’ll"), ('"i', '"I', '"I'), ("i-i", "I-I", "I-I"),
    ("iphone", "iPhone", "iPhone"), ("iphone's", "iPhone's", "iPhone's"), ("phd", "PhD", "PhD"),
    ("coca-cola", "Coca-Cola", "Coca-Cola"), ("jean-paul", "Jean-Paul", "Jean-Paul"),
    ("l'italia", "l'Italia", "L'Italia"), ("dell’italia", "dell’Italia", "Dell’Italia"),
    ("al-qaeda's", "al-Qaeda's", "Al-Qaeda's"), ("anti-nasa", "anti-NASA", "Anti-NASA"), ("mr.", "Mr.", "Mr."),
    ("in", "in", "In"), ("i.e.", "i.e.", "I.e."), ("iPHone", "iPHone", "iPHone"),
    ("i@nasa.org", "i@nasa.org", "i@nasa.org"),
])  # fmt: skip
def test_what_the_table_has_is_written_so_the_rest_as_it_was_decided(text: str, lower: str, capitalised: str) -> None:
    assert (written(text, Case.LOWER), written(text, Case.CAPITALISED)) == (lower, capitalised)
    assert written(text, Case.LOWER, ",") == lower + ","


def test_case_that_is_kept_is_kept_and_that_of_the_output_is_reported() -> None:
    assert [written(text, Case.LOWER, case=False) for text in ("i", "iphone", "IPHONE")] == ["i", "iphone", "IPHONE"]
    assert [written(text, Case.LOWER, keep_case=True) for text in ("i", "Iphone")] == ["I", "Iphone"]
    assert rendered('"iphone,"', Case.LOWER, keep_marks=True).text == '"iPhone,"'
    cases = [rendered(text, Case.LOWER).case for text in ("i", "nasa", "iphone", "so")]
    assert cases == [Case.CAPITALISED, Case.UPPER, Case.VERBATIM, Case.LOWER]


@given(st.text(st.characters(categories=["L", "N", "P"]), max_size=12))
def test_only_the_case_of_letters_changes(word: str) -> None:
    assert TABLE.spell(word).lower() == word.lower()


def test_a_table_is_learned_inside_sentences_by_parts_and_with_a_list_of_words() -> None:
    texts = [
        "Yes, i think McDonald's has an iPhone and an iphone. Tomorrow we see NASA, l'Italia and dell'Italia",
        "Well, I think that I saw the McDonald and his iPhone today. Tomorrow, no NASA",
    ]
    forms = learn_table(texts * 5).forms
    assert {"McDonald", "iPhone", "NASA", "Italia"} == {*forms}, "neither `I`, which is `i` in half, nor `Tomorrow`"
    assert learn_table(texts * 2).forms == (), "five texts at least"
    careless = ["so i saw what i'm"] * 99
    assert learn_table(["so I saw what I'm"] * 99 + ["So i saw", *careless]).forms == ("I",), "no capital says nothing"
    assert learn_table(["we saw Ann and l'Italia", "we saw l'Italia"] * 9).forms == ("Italia",), "`Ann` needs no table"
    texts = ["so we saw Maria, Mayo and Ann in Chicago, but maria"] + ["so we saw Maria, Mayo and Ann in Chicago"] * 30
    assert learn_table(texts).forms == ()
    assert learn_table(texts, {"mayo", "so", "saw"}).forms == ("Chicago", "Maria"), "`Ann` is too short"
    assert "Mayo" in learn_table(texts, {"so"}).forms
    texts = ["Yes, we turn left. Turn right. It is the Hall and hall. Hall"]
    assert learn_table(texts * 20).forms == ("turn",), "`left` begins no sentence, `hall` has capitals inside"
    assert learn_table(texts * 19).forms == ()
    table = learn_table(texts * 20)
    assert (table.spell("Turn"), table.spell("turn")) == ("Turn", "turn"), "it decides nothing by itself"


def test_letters_with_full_stops_faces_and_words_that_never_have_a_capital_are_known() -> None:
    words = ("U.S.", "C.S", "e.g.", "J.", "Ph.D", "3.5", "A.M.", "Vs", "Kg", "Mr")
    assert [word for word in words if spelling.is_initialism(word)] == ["U.S.", "C.S", "e.g.", "A.M."]
    assert [word for word in words if spelling.is_lower_abbreviation(word)] == ["e.g.", "A.M.", "Vs", "Kg"]
    assert not spelling.is_lower_abbreviation("UL"), "which has capitals in English"
    faces = (":)", ";-P", ":'(", "XD", "O:)", "D", "C:", ":30")
    assert [face for face in faces if spelling.is_emoticon(face)] == [":)", ";-P", ":'(", "XD", "O:)"]
    assert [word for word in ("'t", "’S", "'em", "t") if spelling.is_clitic(word)] == ["'t", "’S"]


def test_a_file_has_a_form_a_line_and_none_is_an_empty_table(tmp_path: Path) -> None:
    assert read_table(tmp_path) == SpellingTable()
    write_table(TABLE, tmp_path)
    assert read_table(tmp_path) == TABLE
    write_table(SpellingTable(), tmp_path)
    assert not [*tmp_path.iterdir()]
    (tmp_path / "spellings.txt").write_text("iPhone\nNew York\n")
    with pytest.raises(ModelError, match=r"spellings\.txt line 2: 'New York'; expected one word a line"):
        read_table(tmp_path)
