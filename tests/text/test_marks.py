"""Labels and case round trip, with default and other alphabets."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import alphabets, any_word, cases, labels

from t5punct.errors import ConfigError
from t5punct.text.marks import Alphabet, Case, apply_case, capitalise, case_forms, case_of, ends_sentence
from t5punct.text.words import split

quick = settings(max_examples=150, deadline=None)


@quick
@given(st.data())
def test_a_label_put_on_a_word_is_taken_off_again_with_any_alphabet(data: st.DataObject) -> None:
    alphabet = data.draw(alphabets)
    label = alphabet.label(data.draw(labels(alphabet)))
    (word,) = split(alphabet.spell("word", label), alphabet).words
    assert (word.text, word.label) == ("word", label)


@quick
@given(alphabets, st.text())
def test_a_label_is_canonical_and_holds_only_marks_of_the_alphabet(alphabet: Alphabet, raw: str) -> None:
    label = alphabet.label(raw)
    assert alphabet.label(label) == label
    assert set(label) <= set(alphabet.marks)
    assert len(label) <= alphabet.max_marks


@pytest.mark.parametrize(
    ("raw", "label"),
    [
        ("", ""), ("…", "..."), ("....", "..."), ("—", "-"), ("--", "-"), ("–-", "-"), ('?"', "?"), (" , ", ","),
        ("?!", "?!"),
    ],
)  # fmt: skip
def test_every_spelling_of_a_mark_gives_one_label(raw: str, label: str) -> None:
    assert Alphabet().label(raw) == label


def test_marks_outside_the_alphabet_are_left_out_of_labels() -> None:
    assert Alphabet(",?").label("?!,—…") == "?,"


@pytest.mark.parametrize(
    ("marks", "characters"), [(",?", ",?"), ("-,", "-,–—―"), (".", ".…"), (".-", ".-–—―…"), ("؟", "؟")]
)
def test_an_alphabet_knows_the_other_spellings_of_its_marks(marks: str, characters: str) -> None:
    assert Alphabet(marks).characters == characters


def test_the_sign_of_disfluent_words_is_a_mark_more() -> None:
    assert Alphabet(",.", 2).signed == Alphabet(",.~", 3)


@pytest.mark.parametrize("most", [(1, 3), (3, 1)])
def test_two_alphabets_together_have_the_marks_of_both_and_the_longer_labels(most: tuple[int, int]) -> None:
    assert Alphabet(",.", most[0]).union(Alphabet(".?", most[1])) == Alphabet(",.?", 3)


@pytest.mark.parametrize(("label", "ends"), [("", False), (",;:-", False), (".", True), (",?", True), ("!-", True)])
def test_a_label_with_a_full_stop_a_question_or_an_exclamation_mark_ends_a_sentence(label: str, ends: bool) -> None:
    assert ends_sentence(label) is ends


@pytest.mark.parametrize(
    ("word", "label", "written"),
    [("yes", "-", "yes -"), ("yes", "?-", "yes? -"), ("U.S.", ".", "U.S."), ("U.S.", "...", "U.S..."), ("a", "", "a")],
)
def test_marks_touch_the_word_and_a_dash_stands_apart(word: str, label: str, written: str) -> None:
    assert Alphabet().spell(word, label) == written


@pytest.mark.parametrize("marks", ["", "a", "1", ", ", ",,", "…", "–"])
def test_an_impossible_alphabet_is_refused(marks: str) -> None:
    with pytest.raises(ConfigError, match="expected distinct symbols"):
        Alphabet(marks)


def test_a_label_length_below_one_is_refused() -> None:
    with pytest.raises(ConfigError, match="max_marks 0; expected 1 or more"):
        Alphabet(max_marks=0)


@pytest.mark.parametrize(
    ("word", "case"),
    [
        ("word", Case.LOWER), ("3.5", Case.LOWER), ("😀", Case.LOWER), ("Word", Case.CAPITALISED),

        ("I", Case.CAPITALISED), ("'Em", Case.CAPITALISED), ("NASA", Case.UPPER), ("O'CLOCK", Case.UPPER),
        ("iPhone", Case.VERBATIM),
    ],
)  # fmt: skip
def test_the_case_of_a_word_is_named_as_people_would(word: str, case: Case) -> None:
    assert case_of(word) is case


@quick
@given(any_word, cases)
def test_case_can_be_undone_for_every_word(word: str, case: Case) -> None:
    there = apply_case(word, case)
    assert apply_case(there, case_of(word)) == word
    assert there.lower() == word.lower()
    assert len(there) == len(word)


@quick
@given(any_word, cases)
def test_applying_a_case_twice_changes_nothing_more(word: str, case: Case) -> None:
    once = apply_case(word, case)
    assert apply_case(once, case) == once


@pytest.mark.parametrize("word", ["ß", "ﬁn", "iPhone", "McDonald", "\u212a", "İ"])
def test_a_case_that_could_not_be_undone_leaves_the_word_alone(word: str) -> None:
    assert apply_case(word, Case.UPPER) == word


@quick
@given(any_word)
def test_case_forms_are_distinct_hold_the_word_itself_and_differ_in_case_alone(word: str) -> None:
    forms = list(case_forms(word).values())
    assert word in forms
    assert len(set(forms)) == len(forms)
    assert all(form.lower() == word.lower() for form in forms)


def test_a_word_in_mixed_case_has_one_form() -> None:
    assert case_forms("iPhone") == {Case.VERBATIM: "iPhone"}
    assert case_forms("nasa") == {Case.LOWER: "nasa", Case.CAPITALISED: "Nasa", Case.UPPER: "NASA"}
    assert case_forms("NASA") == case_forms("Nasa") == case_forms("nasa")
    assert case_forms("i") == {Case.LOWER: "i", Case.CAPITALISED: "I"}
    assert case_forms("foo.com") == {Case.VERBATIM: "foo.com"}, "an address"
    assert case_forms("3.5") == {Case.LOWER: "3.5"}


@pytest.mark.parametrize("word", ["Ph.D", "Ph.D.", "Ph.D.'s", "M.Sc"])
def test_a_degree_has_two_capitals(word: str) -> None:
    assert apply_case(word.lower(), Case.CAPITALISED) == word
    assert case_of(word) is Case.CAPITALISED
    assert case_forms(word.lower()) == case_forms(word) == {Case.LOWER: word.lower(), Case.CAPITALISED: word}
    assert case_forms(word.upper())[Case.UPPER] == word.upper(), "what the input has can stay"


@pytest.mark.parametrize("word", ["3rd", "80s", "'90s", "10am", "20th-century", "1980's", "80’s"])
def test_letters_behind_a_number_are_no_name(word: str) -> None:
    upper = {Case.UPPER: word.upper()} if word in ("10am", "20th-century") else {}
    assert case_forms(word) == {Case.LOWER: word, **upper}
    assert case_forms(word.upper())[Case.UPPER] == word.upper(), "what the input has can stay"


@pytest.mark.parametrize(("word", "name"), [("4k", "4K"), ("3d's", "3D's"), ("3-d", "3-D"), ("7-eleven", "7-Eleven")])
def test_names_that_begin_with_a_number_have_a_capital(word: str, name: str) -> None:
    assert case_forms(word)[Case.CAPITALISED] == name


@pytest.mark.parametrize("word", ["O'Neil", "O'Shea's", "O’Neill", "D'Angelo", "D'Youville"])
def test_a_name_with_an_apostrophe_has_two_capitals(word: str) -> None:
    assert apply_case(word.lower(), Case.CAPITALISED) == apply_case(word.upper(), Case.CAPITALISED) == word
    assert case_of(word) is Case.CAPITALISED


@pytest.mark.parametrize("word", ["Don't", "I'm", "It's", "O'clock", "O'er", "D'you", "D'oh", "Y'all", "C'mon"])
def test_other_words_with_an_apostrophe_have_one(word: str) -> None:
    assert apply_case(word.lower(), Case.CAPITALISED) == apply_case(word.upper(), Case.CAPITALISED) == word


def test_a_name_with_an_apostrophe_that_the_input_writes_with_one_capital_is_left_alone() -> None:
    assert case_forms("O'neil") == {Case.VERBATIM: "O'neil"}
    assert capitalise("O'neil") == "O'neil"


def test_a_capital_goes_to_the_first_letter_that_has_a_case() -> None:
    assert (capitalise("'em"), capitalise("中文"), capitalise("")) == ("'Em", "中文", "")
    assert capitalise("中b") == "中B", "a letter without case before one with"
    assert (capitalise("ªb"), capitalise("1st")) == ("ªb", "1st")
    assert case_of("中B") is Case.CAPITALISED


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("u.s.", {Case.LOWER: "u.s.", Case.UPPER: "U.S."}),
        ("c.s", {Case.LOWER: "c.s", Case.UPPER: "C.S"}),
        ("u.s.'s", {Case.LOWER: "u.s.'s", Case.UPPER: "U.S.'S", Case.CAPITALISED: "U.S.'s"}),
        ("e.g.", {Case.LOWER: "e.g.", Case.UPPER: "E.G.", Case.CAPITALISED: "E.g."}),
        ("E.g.", {Case.LOWER: "e.g.", Case.UPPER: "E.G.", Case.CAPITALISED: "E.g."}),
        ("U.S.", {Case.VERBATIM: "U.S."}),
        ("U.S.'s", {Case.VERBATIM: "U.S.'s"}),
    ],
)
def test_an_initialism_is_in_capitals_or_has_none(word: str, forms: dict[Case, str]) -> None:
    assert case_forms(word) == forms


def test_the_case_of_an_initialism_is_upper() -> None:
    assert [case_of(word) for word in ("U.S.", "u.s.", "E.g.", "A.M.")] == [
        *(Case.UPPER, Case.LOWER, Case.CAPITALISED, Case.UPPER)
    ]
    assert (capitalise("u.s."), capitalise("e.g.")) == ("U.S.", "E.g.")


def test_georgian_has_no_capital_at_the_start_of_a_word() -> None:
    """It has capitals (Mtavruli), for words that are written in capitals throughout."""
    assert capitalise("კარგი") == "კარგი"
    assert case_forms("კარგი") == {Case.LOWER: "კარგი", Case.UPPER: "ᲙᲐᲠᲒᲘ"} == case_forms("ᲙᲐᲠᲒᲘ")
    assert (case_of("კარგი"), case_of("ᲙᲐᲠᲒᲘ")) == (Case.LOWER, Case.UPPER)


@pytest.mark.parametrize(
    ("word", "titled", "upper"), [("ǆep", "ǅep", "ǄEP"), ("ǌegoš", "ǋegoš", "ǊEGOŠ"), ("ᾳα", "ᾼα", "ᾳα")]
)
def test_a_letter_that_is_two_begins_a_word_with_one_capital(word: str, titled: str, upper: str) -> None:
    assert apply_case(word, Case.CAPITALISED) == capitalise(titled) == titled
    assert apply_case(word, Case.UPPER) == upper
    assert apply_case(titled, Case.LOWER) == word
    assert case_of(titled) is Case.CAPITALISED


def test_marks_of_other_scripts_are_marks_where_an_alphabet_has_them() -> None:
    words = split("مرحبا، كيف حالك؟ «нет», ¿qué hora es? ¡hola!").words
    assert [(word.core, word.label) for word in words] == [
        *(("مرحبا", "،"), ("كيف", ""), ("حالك", "؟"), ("нет", ",")),
        *(("qué", ""), ("hora", ""), ("es", "?"), ("hola", "!")),
    ]
    assert ends_sentence("؟") and ends_sentence("।") and not ends_sentence("،")
    assert split("مرحبا، شكرا.", Alphabet(".")).words[0].text == "مرحبا،", "spelling, for a task without it"
    assert Alphabet(",؟").spell("حالك", "؟") == "حالك؟"
