"""The first promise: words are never changed, lost or invented, whatever stands between them."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from proportion import is_linear
from strategies import SPACES, TRICKY_WORDS, alphabets, decisions, spaced_texts, texts

from t5punct.errors import InputError
from t5punct.text.marks import Alphabet, Case
from t5punct.text.render import Decision, RenderConfig, render_word
from t5punct.text.words import Word, checked_text, forbids_dash, opening_apart, readable, split

# characters that nobody sees, and such as belong to the letter or emoji before them
UNSEEN = "\u00ad\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
SHAPES = "\u180e\u200c\u200d\ufe0e\ufe0f"
thorough = settings(max_examples=100, deadline=None)


def joined(text: str, alphabet: Alphabet | None = None) -> str:
    """A text as it is split and written with the marks that it has."""
    parts = split(text, alphabet)
    words = (word.with_marks(word.marks, alphabet=alphabet) + word.space for word in parts.words)
    return parts.lead + "".join(words)


def bare(text: str, alphabet: Alphabet) -> str:
    """The characters of a text that are neither marks nor white space."""
    return "".join(char for char in text if char not in alphabet.characters and not char.isspace())


@thorough
@example("U.S...", Alphabet())
@example("a –- b", Alphabet())
@example("♪ !", Alphabet("!♪"))
@given(texts, alphabets | st.just(Alphabet()))
def test_splitting_keeps_every_character_and_what_is_written_is_a_fixed_point(text: str, alphabet: Alphabet) -> None:
    transcript = split(text, alphabet)
    assert transcript.lead + "".join(word.raw + word.space for word in transcript.words) == text
    assert bare("".join(word.text for word in transcript.words), alphabet) == bare(text, alphabet)
    once = joined(text, alphabet)
    assert bare(once, alphabet) == bare(text, alphabet)
    assert joined(once, alphabet) == once
    plain = "".join(char for char in text if char not in alphabet.characters)
    assert joined(plain, alphabet) == plain, "a text without marks"
    assert [word.text for word in split(plain, alphabet).words] == plain.split()


@settings(max_examples=100, deadline=None)
@given(st.data(), spaced_texts() | texts, alphabets | st.just(Alphabet()))
def test_words_survive_any_labels_of_any_alphabet(data: st.DataObject, text: str, alphabet: Alphabet) -> None:
    before = split(text, alphabet)
    chosen = [data.draw(decisions(alphabet)) for _ in before.words]
    pairs = zip(before.words, chosen, strict=True)
    written = [render_word(word, choice, RenderConfig(), alphabet).text + word.space for word, choice in pairs]
    after = split(before.lead + "".join(written), alphabet)
    assert [word.text.lower() for word in after.words] == [word.text.lower() for word in before.words]
    assert [len(word.text) for word in after.words] == [len(word.text) for word in before.words]
    assert [word.space for word in after.words] == [word.space for word in before.words]
    assert after.lead == before.lead


SIGNS = "thanks:D ;-P (: so:-) XD B) O:) A* :tada: &amp; &#39; house&hellip; می\u200c ക്\u200d ❤\ufe0e".split()


@pytest.mark.parametrize("text", [*TRICKY_WORDS, *SPACES, *SIGNS, "", "U.S they", "we ። "])
def test_tricky_words_keep_their_spelling_under_every_mark_and_case(text: str) -> None:
    before = split(text)
    for label in ("", *Alphabet().marks, "...", "?!", "?-", "-,", "--"):
        for case in Case:
            written = before.lead + "".join(word.with_marks(label, case) + word.space for word in before.words)
            after = split(written)
            assert [word.text.lower() for word in after.words] == [word.text.lower() for word in before.words]
            assert [word.space for word in after.words] == [word.space for word in before.words]


@pytest.mark.parametrize(("text", "found"), [
    ("3.5 10,000 4:30 OS.X", [("3.5", ""), ("10,000", ""), ("4:30", ""), ("OS.X", "")]),
    ("http://a.b/c?d=e. C++!", [("http://a.b/c?d=e", "."), ("C++", "!")]),
    ("U.S. e.g., U.S... (U.S.).", [("U.S.", ""), ("e.g.", ","), ("U.S.", "..."), ("(U.S.)", ".")]),
    ("well - yes -- no—maybe — so", [("well", "-"), ("yes", "-"), ("no—maybe", "-"), ("so", "")]),
    ('"go!" (now.) \'em', [('"go"', "!"), ("(now)", "."), ("'em", "")]),
    ("wait … what ?! why---, so?--", [("wait", "..."), ("what", "?!"), ("why", "-,"), ("so", "?-")]),
    ("pre- and e-mail", [("pre-", ""), ("and", ""), ("e-mail", "")]),
    ("... and", [("...", ""), ("and", "")]),
    ("thanks:) right?:) yes:). so:D", [("thanks:)", ""), ("right:)", "?"), ("yes:)", "."), ("so:D", "")]),
    ("http://a.b/c? http://a.b. on C:", [("http://a.b/c?", ""), ("http://a.b", "."), ("on", ""), ("C:", "")]),
    ("so .\u200f yes!\ufe0f 👍\ufe0f.", [("so\u200f", "."), ("yes\ufe0f", "!"), ("👍\ufe0f", ".")]),
    (":tada: (:+1:) :wave::wave:! note:", [(":tada:", ""), ("(:+1:)", ""), (":wave::wave:", "!"), ("note", ":")]),
    ("www.a.b? (t.co/x?) 1.5/2? B)?", [("www.a.b", "?"), ("(t.co/x?)", ""), ("1.5/2", "?"), ("B)", "?")]),
    ("5 - 10 or $5 – $7 but 6 - no", [
        *((text, "") for text in ("5", "-", "10", "or", "$5", "–", "$7", "but")), ("6", "-"), ("no", "")]),
    ("- hi\n- you", [("-", ""), ("hi", ""), ("-", ""), ("you", "")]),  # a dash that opens a line is of that line
    ("", []), (" \t\n", []),
])  # fmt: skip
def test_marks_are_told_from_spelling_as_people_would(text: str, found: list[tuple[str, str]]) -> None:
    assert [(word.text, word.marks) for word in split(text).words] == found


def test_a_mark_outside_the_alphabet_is_spelling_and_no_mark_follows_it() -> None:
    text = "wow! no — yes… a--"
    assert joined(text, Alphabet(",?")) == text
    texts = ("wow!", '"wow!"', "你好。", "so?", "U.S.", "pre-", ":)", ":so:")
    assert [text for text in texts if split(text, Alphabet(",.?")).words[0].takes_marks] == [
        "so?",
        "U.S.",
        "pre-",
        ":so:",
    ]
    assert Word("end.").with_marks("!", alphabet=Alphabet("!")) == "end.!"


@pytest.mark.parametrize("char", UNSEEN[::5] + SHAPES[::2])
def test_a_mark_before_a_character_that_nobody_sees_is_seen(char: str) -> None:
    for text in (f"so{char}?", f'"so?{char}"', f"so ?{char}", f"{char}so?{char}{char}"):
        (word,) = split(text).words
        assert (word.marks, word.core) == ("?", "so")
        for label in ("", ".", "?!", "-"):
            written = word.with_marks(label)
            assert [(again.marks, again.text) for again in split(written).words] == [(label, word.text)]
            assert [unseen for unseen in written if unseen == char] == [unseen for unseen in text if unseen == char]
    (apart,) = split(f"so .{char}{char}").words
    assert (apart.text, apart.n_closers) == (f"so{char}{char}", 2)
    (bare,) = split(char).words
    assert not bare.has_slot
    marked = f"so{char}?" if char in SHAPES else f"so?{char}"  # of the letter before it
    assert split(f"so{char}").words[0].with_marks("?") == marked


@pytest.mark.parametrize(("text", "core"), [
    ("(right)", "right"), ("'em", "'em"), ("'Tis", "'Tis"), ("'Hello", "Hello"), ("dogs'", "dogs'"),
    ("thanks:)", "thanks"), ("\ufeff'yes'\u200f", "yes"), ("\u200f", "\u200f"), ("...and", "and"), ("…XL", "XL"),
    ("U.S.", "U.S."), (":)", ":)"), ("(?)", "(?)"), ("'", "'"), ("C++", "C++"),
])  # fmt: skip
def test_the_model_reads_words_without_quotes_and_brackets(text: str, core: str) -> None:
    assert split(text).words[0].core == core


@thorough
@given(texts)
def test_what_the_model_reads_is_never_empty_stands_in_the_word_and_is_split_as_it_is(text: str) -> None:
    words = split(text).words
    assert all(word.core and word.core in word.text and word.normal == word.core.lower() for word in words)
    bare_words = [Word(word.core) for word in split(text.replace("\n", " ")).words]
    again = split(" ".join(word.text.lower() for word in bare_words)).words
    assert [word.normal for word in again] == [word.normal for word in bare_words], "or a score would count them"


@pytest.mark.parametrize(("text", "label", "written"), [
    ("U.S", ".", "U.S"), ("U.S", "?", "U.S?"),  # a mark that the word would swallow is not written
    (":)", "?", ":)"), ("...", "?", "..."), ('"', "?", '"'),  # nor is one behind marks alone, which have no slot
    # marks stand inside closing quotes where they stood there, and dashes outside
    ('"what?"', "?-", '"what?" -'), ('"what"', "!", '"what"!'),
])  # fmt: skip
def test_a_mark_stands_where_it_can_be_read_again(text: str, label: str, written: str) -> None:
    (word,) = split(text).words
    assert word.with_marks(label) == written
    assert word.has_slot == any(map(str.isalpha, text))


@pytest.mark.parametrize("run", ["-", ".", "'", "(", "--.", "'-", "a.", "a-", "/", " ."])
@pytest.mark.parametrize("end", ["", "a.", '"'])
def test_long_runs_of_marks_take_time_in_proportion_to_their_length(run: str, end: str) -> None:
    assert is_linear(lambda text: [word.with_marks("?", Case.UPPER) for word in split(text + end).words], run)


def test_the_full_stop_of_a_list_s_number_and_of_an_abbreviation_is_no_given_mark() -> None:
    dotted = [word.text for word in split("1. we had 12. and\n2. they\n 3. it was 1953.").words if word.dotted]
    assert dotted == ["1", "2", "3"]
    given_marks = {word.raw: word.given for word in split("etc. etc., vs? etc... so. etc. - (vs.)").words}
    assert given_marks == {
        "etc.": "", "etc.,": ",", "vs?": "?", "etc...": "...", "so.": ".", "etc. -": "-", "(vs.)": "",
    }  # fmt: skip


def test_opening_marks_are_taken_from_a_word_as_it_is_written() -> None:
    parts = [opening_apart(text) for text in ("so", "(so", '"¿Qué', '¿"¡qué')]
    assert parts == [("so", ""), ("(so", ""), ('"Qué', "¿"), ('"qué', "¿¡")]


def test_a_sentence_ends_where_a_reader_sees_it_end() -> None:
    ends = {
        raw: split(raw).words[0].ends_sentence(".")
        for raw in ("so", "Etc.", "st", "J", "Mr", "vs.", "U.S.", "(U.S.?)", "U.S", ":)", '"so"')
    }
    assert [raw for raw, is_end in ends.items() if is_end is False] == ["U.S", ":)"]
    assert [raw for raw, is_end in ends.items() if is_end is None] == ["Etc.", "st", "Mr", "vs."]
    assert split("etc.").words[0].ends_sentence("!")
    assert split("Mr.").words[0].ends_sentence("?"), "as in `Mr. who?`, of which `who` was lost"
    assert not split("so").words[0].ends_sentence(",")
    assert Word("end.").ends_sentence("!", Alphabet("!"))
    assert not Word("end.").ends_sentence("!"), "`end.!` would be read as the word `end`"
    words = ("so", "Mr", "ms", "St", "inc.", "J", "f", "I", "U.S.")
    assert [word for word in words if not Word(word).separator(".")] == ["Mr", "ms", "St", "J", "f"]
    assert [word for word in ("p.m.", "A.M", "e.g.", "U.S.") if Word(word).separator(".")] == ["U.S."]
    assert Word("Inc").separator(",") == ","
    assert Word("Inc").separator("?") == "?"


@pytest.mark.parametrize(("text", "is_abbreviated"), [
    ("a 3. emeleten lakik", True), ("1956. október 23", True), ("na 3. piętrze", True), ("a 3. október", True),
    ("die 3. mannschaft spielt", True), ("am 3 oktober kommt er", True), ("we were 31. august came", True),
    ("in 2010. december", False), ("március 15. után", True),
    ("augusztus 20. ünnep", True), ("a 3. augusztus", True), ("2023. augusztus", True), ("3. 10. 1990", True),
    ("seite 3. danach", False), ("he had 3. then he went", False), ("der 3", False),
    ("im 1953. jahr", False),
])  # fmt: skip
def test_the_full_stop_of_an_ordinal_ends_no_sentence_and_stays(text: str, is_abbreviated: bool) -> None:
    word = next(word for word in split(text).words if word.text.isdecimal())
    assert word.is_abbreviated == is_abbreviated
    assert word.ends_sentence(".") is (None if is_abbreviated else True), "the case of the next word is the model's"
    assert word.separator(".") == ("" if is_abbreviated else ".")
    if is_abbreviated and "." in text:
        assert word.with_marks("") == word.text + "." == word.with_marks("."), "it is the word's own"
        assert word.given == ""
    assert joined(text) == text


def test_bytes_that_are_no_utf_8_may_be_let_through_and_are_readable() -> None:
    text = b"caf\xe9".decode("utf-8", "surrogateescape")
    assert checked_text(text, may_hold_bytes=True) == text
    assert readable(text) == "caf\ufffd"
    with pytest.raises(InputError, match="lone surrogate"):
        checked_text("\ud800", may_hold_bytes=True)


def test_letters_with_full_stops_keep_them_and_their_case_and_end_no_sentence() -> None:
    text = "so ist z. B. das, d. h. es ist i. d. R. gut"
    phrases = [word for word in split(text).words if word.is_abbreviated]
    assert [word.text for word in phrases] == ["z", "B", "d", "h", "i", "d", "R"]
    assert {word.ends_sentence(".") for word in phrases} == {False}
    upper = Decision("", Case.UPPER, 1.0, 1.0)
    written = [render_word(word, upper, RenderConfig(), Alphabet()).text for word in phrases]
    assert written == ["z.", "B.", "d.", "h.", "i.", "d.", "R."]
    assert joined(text) == text


@pytest.mark.parametrize(("text", "abbreviated"), [
    ("that is plan b. then we go. a man came", ""), ("type r. a man", ""),
    ("w 1945 r. w polsce, de v. chr. tijd, 5 p. m. llegamos, los EE. UU. han", "r v chr p m EE UU"),
    ("5,3 Mio. euro, prof. dr hab. Jan; il mio. was ich hab. Und", "Mio prof hab"),
    ("am 3. 10. 1990 war es, seite 3. 1990 auch", "3 10"),  # both numbers of a date
    ("am 24.12. in wien, a XX. században, it was 3.5. then world war II. then we left", "24.12 XX"),
    ("Königin Anna II. Und wir 3. Und lo que vi. Mal. Vi. Mal", ""),
    # initials apart are no phrase, and p before a number is one
    ("j. k. rowling, p. 45, fig. 3, p. ej. aquí, ad es. a roma, and that is his p. then 3", "p fig p ej es"),
])  # fmt: skip
def test_a_full_stop_that_belongs_to_a_date_a_number_or_an_abbreviation_is_told(text: str, abbreviated: str) -> None:
    words = split(text).words
    assert [word.text for word in words if word.is_abbreviated or word.dotted] == abbreviated.split()


def test_a_phrase_that_may_end_a_sentence_does_so_if_the_next_word_shows_it_and_may_have_a_comma() -> None:
    text = "w 1945 r. Potem, 5 p. m., luego, u. a., aber"
    phrases = {word.text: word for word in split(text).words if word.is_abbreviated}
    assert [(text, word.given, word.ends_sentence(".")) for text, word in phrases.items()] == [
        ("r", "", None), ("p", "", False), ("m", ",", None), ("u", "", False), ("a", ",", False),
    ]  # fmt: skip


def test_quotes_close_at_the_end_and_stand_behind_marks_if_asked() -> None:
    assert [text for text in ('you"', 'a"b', '"so', '"', "x”") if Word(text).closes_quote] == ['you"', "x”"]
    assert [Word(text).with_quotes_behind().with_marks("?") for text in ('you"', "so")] == ['you?"', "so?"]


@pytest.mark.parametrize(("word", "following", "is_forbidden"), [
    (Word("5"), "10", True), (Word("5"), "$10", True), (Word("5"), "-", True), (Word("5"), "(10", True),
    (Word("5", space="\n"), "10", False), (Word("we"), "10", False), (Word("5"), "we", False),
])  # fmt: skip
def test_no_dash_comes_between_two_numbers(word: Word, following: str, is_forbidden: bool) -> None:
    assert forbids_dash(word, Word(following)) is is_forbidden
