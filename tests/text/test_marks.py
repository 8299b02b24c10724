"""Labels and case round trip, with default and other alphabets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import alphabets, any_word, cases, labels

from t5punct.errors import ConfigError
from t5punct.text.marks import Alphabet, Case, apply_case, capitalise, case_forms, case_of, ends_sentence
from t5punct.text.words import split


@given(st.data())
def test_a_label_put_on_a_word_is_taken_off_again_with_any_alphabet(data: st.DataObject) -> None:
    alphabet = data.draw(alphabets)
    label = alphabet.marks_in(data.draw(labels(alphabet) | st.text()))
    assert alphabet.marks_in(label) == label
    assert set(label) <= set(alphabet.marks) and len(label) <= alphabet.max_marks
    (word,) = split(alphabet.spell("word", label), alphabet).words
    assert (word.text, word.marks) == ("word", label)


@pytest.mark.parametrize(("raw", "label"), [
    ("", ""), ("…", "..."), ("....", "..."), ("–-", "-"), ('?"', "?"), (" , ", ","), ("?!", "?!"),
])  # fmt: skip
def test_every_spelling_of_a_mark_gives_one_label(raw: str, label: str) -> None:
    assert Alphabet().marks_in(raw) == label


def test_an_alphabet_has_its_own_marks_alone_the_sign_of_disfluent_words_and_those_of_another() -> None:
    assert Alphabet(",?").marks_in("?!,—…") == "?,"
    assert Alphabet(",.", 2).signed == Alphabet(",.~", 3)
    for most, other in ((1, 3), (3, 1)):
        assert Alphabet(",.", most).union(Alphabet(".?", other)) == Alphabet(",.?", 3), "and the longer labels"


def test_an_alphabet_knows_other_spellings_of_its_marks_and_which_of_them_end_a_sentence() -> None:
    assert [Alphabet(marks).characters for marks in (",?", ".-", "؟")] == [",?", ".-–—―…", "؟"]
    assert [label for label in ("", ",;:-،", ".", ",?", "!-", "؟", "।") if not ends_sentence(label)] == ["", ",;:-،"]


def test_marks_touch_the_word_and_a_dash_stands_apart() -> None:
    written = [Alphabet().spell(*pair) for pair in (("yes", "?-"), ("U.S.", "."), ("U.S.", "..."), ("a", ""))]
    assert written == ["yes? -", "U.S.", "U.S...", "a"]


def test_an_impossible_alphabet_is_refused() -> None:
    for marks in ("", "a", "1", ", ", ",,", "…", "–"):
        with pytest.raises(ConfigError, match="expected distinct symbols"):
            Alphabet(marks)
    with pytest.raises(ConfigError, match="max_marks 0; expected 1 or more"):
        Alphabet(max_marks=0)


@given(any_word, cases)
def test_case_can_be_undone_for_every_word_and_applied_twice_changes_nothing_more(word: str, case: Case) -> None:
    there = apply_case(word, case)
    assert apply_case(there, case_of(word)) == word
    assert there.lower() == word.lower()
    assert len(there) == len(word)
    assert apply_case(there, case) == there


def test_a_case_that_could_not_be_undone_or_that_nobody_would_write_leaves_the_word_alone() -> None:
    for word in ("ß", "ﬁn", "iPhone", "McDonald", "\u212a", "İ", "ᾳα"):
        assert apply_case(word, Case.UPPER) == word
    for word in ("iPhone", "O'neil", "foo.com", "U.S.", "U.S.'s", "4K"):
        assert case_forms(word) == {Case.VERBATIM: word}
    for word in ("PH.D", "PH.D.", "M.SC", "3RD", "80S", "'90S", "1980'S", "80’S"):  # where the input has them
        assert case_forms(word)[Case.UPPER] == word


@pytest.mark.parametrize(("lower", "capitalised", "upper"), [
    ("word", "Word", "WORD"), ("i", "I", ""), ("3.5", "", ""), ("'em", "'Em", "'EM"),
    ("'s-hertogenbosch", "'s-Hertogenbosch", "'S-HERTOGENBOSCH"), ("ijsland", "IJsland", "IJSLAND"),
    ("ijaz", "Ijaz", "IJAZ"), ("fiji", "Fiji", "FIJI"), ("o'clock", "O'clock", "O'CLOCK"),
    # a degree has two capitals
    ("ph.d.", "Ph.D.", ""), ("ph.d.'s", "Ph.D.'s", ""), ("m.sc", "M.Sc", ""),
    # letters behind a number are no name, but for some
    ("3rd", "", ""), ("1980's", "", ""), ("80’s", "", ""), ("10am", "", "10AM"), ("20th-century", "", "20TH-CENTURY"),
    ("3d's", "3D's", "3D'S"), ("7-eleven", "7-Eleven", "7-ELEVEN"),
    # a name with an apostrophe has two capitals, other words one
    ("o'shea's", "O'Shea's", "O'SHEA'S"), ("o’neill", "O’Neill", "O’NEILL"), ("d'abord", "D'abord", "D'ABORD"),
    ("don't", "Don't", "DON'T"), ("o'er", "O'er", "O'ER"), ("d'you", "D'you", "D'YOU"), ("y'all", "Y'all", "Y'ALL"),
    # Georgian begins no word with a capital; a letter that is two begins it with the first of them
    ("კარგი", "", "ᲙᲐᲠᲒᲘ"), ("ǆep", "ǅep", "ǄEP"), ("ᾳα", "ᾼα", ""),
])  # fmt: skip
def test_a_word_has_the_forms_that_people_write(lower: str, capitalised: str, upper: str) -> None:
    forms = {Case.LOWER: lower, Case.CAPITALISED: capitalised, Case.UPPER: upper}
    written = {case: form for case, form in forms.items() if form}
    for case, form in written.items():
        assert case_of(form) is case
        assert case_forms(form) == written
        assert {apply_case(any_form, case) for any_form in written.values()} == {form}
    assert capitalise(lower) == capitalise(capitalised or lower) == (capitalised or lower)


def test_a_capital_goes_to_the_first_letter_that_has_a_case() -> None:
    assert [capitalise(word) for word in ("ªb", "中b", "中文", "", "O'neil")] == ["ªb", "中B", "中文", "", "O'neil"]
    words = ("中B", "U.S.", "u.s.", "E.g.", "A.M.")
    assert [case_of(word) for word in words] == ["capitalised", "upper", "lower", "capitalised", "upper"]


@pytest.mark.parametrize(("word", "forms"), [
    ("u.s.", {Case.LOWER: "u.s.", Case.UPPER: "U.S."}),
    ("u.s.'s", {Case.LOWER: "u.s.'s", Case.UPPER: "U.S.'S", Case.CAPITALISED: "U.S.'s"}),
    ("E.g.", {Case.LOWER: "e.g.", Case.UPPER: "E.G.", Case.CAPITALISED: "E.g."}),
])  # fmt: skip
def test_an_initialism_is_in_capitals_or_has_none(word: str, forms: dict[Case, str]) -> None:
    assert case_forms(word) == forms


def test_marks_of_other_scripts_are_marks_where_an_alphabet_has_them() -> None:
    words = split("مرحبا، كيف حالك؟ «нет», ¿qué hora es? ¡hola!").words
    assert [(word.core, word.marks) for word in words] == [
        *(("مرحبا", "،"), ("كيف", ""), ("حالك", "؟"), ("нет", ",")),
        *(("qué", ""), ("hora", ""), ("es", "?"), ("hola", "!")),
    ]
    assert split("مرحبا، شكرا.", Alphabet(".")).words[0].text == "مرحبا،", "spelling, for a task without it"
