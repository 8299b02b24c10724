"""What a word's spelling says: its own full stop, letters that are left alone, capitals that it can take."""

from __future__ import annotations

import pytest

from t5punct.text import spelling
from t5punct.text.marks import Case, case_forms
from t5punct.text.spelling import (
    can_be_acronym,
    is_first_person,
    is_spoken,
    keeps_letters,
    owns_full_stop,
    takes_capital,
)
from t5punct.text.words import split

KEPT = (
    "http://foo.com/bar", "https://a.b/c?d=e", "www.example.org", "example.org", "name@host.org", "@name", "/usr/bin",
    "./run.sh", "../src", "~/notes", "usr/local/bin", "c:\\temp", "main.py", "os.path.join", "snake_case", "__init__",
    "x=1", "f(x)", "print()", "a[0]", "<b>", "std::vector", "--keep-marks", "$HOME", "#metoo", ".bashrc", "x" * 65,
    "C++", "C#", "AT&T", "R&D", "20°C", ":D", ";-P", ":)", "C:",
)  # fmt: skip
PLAIN = (
    "word", "o'neil", "jean-luc", "u.s.", "u.s.a", "e.g.", "ph.d", "b.sc", "a.m", "and/or", "at&t", "r&d", "word(s)",
    "class(es)", "3rd", "mp3", "$5m", "10,000", "3.5", "c++", "100%", "end.", "...and", "-hello", "naïve", "大家早上好",
)  # fmt: skip


@pytest.mark.parametrize("word", KEPT)
def test_addresses_paths_and_code_have_one_form(word: str) -> None:
    assert keeps_letters(word)
    assert list(case_forms(word).items()) == [(Case.VERBATIM, word)]
    assert not takes_capital(word)


@pytest.mark.parametrize("word", PLAIN)
def test_plain_words_are_not_taken_for_code(word: str) -> None:
    assert not keeps_letters(split(word).words[0].core)


def test_abbreviations_and_initials_own_their_full_stop_and_a_number_where_a_line_begins() -> None:
    stems = ("vs", "VS", "Dr", "ph.d", "etc", "J", "I", "a", "no", "word", "12", "1953", "3.5")
    assert [stem for stem in stems if owns_full_stop(stem)] == ["vs", "VS", "Dr", "ph.d", "etc", "J"]
    assert [stem for stem in ("12", "1953") if owns_full_stop(stem, opens_line=True)] == ["12"], "not a year"


def test_the_list_can_be_added_to(monkeypatch: pytest.MonkeyPatch) -> None:
    assert split("bzw. a").words[0].given == "."
    monkeypatch.setattr(spelling, "ABBREVIATIONS", {*spelling.ABBREVIATIONS, "bzw"})
    assert split("bzw. a").words[0].given == ""


def test_what_begins_a_sentence_and_how() -> None:
    words = ("so", "'em", "¿qué", "3rd", "$5m", "🙂", ":D", "-", "-so", "大", "კარგი")
    assert [word for word in words if takes_capital(word)] == ["so", "'em", "¿qué", "-so"]
    assert [word for word in ("so", "3", "🙂", ":D", "-", "♪", "...") if is_spoken(word)] == ["so", "3"]
    assert [word for word in ("nasa", "unesco", "minimizer", "o'neil") if can_be_acronym(word)] == ["nasa", "unesco"]
    assert [word for word in ("i", "I'm", "i’ll", "it", "ii") if is_first_person(word)] == ["i", "I'm", "i’ll"]


@pytest.mark.parametrize("word", ["U.S.", "U.S", "J.K.", "C.S.'s", "A.M."])
def test_an_initialism_in_capitals_keeps_them(word: str) -> None:
    assert keeps_letters(word)
    assert not takes_capital(word)
