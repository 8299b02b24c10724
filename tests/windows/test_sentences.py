"""One rule of capitals: what begins a sentence has one, and nothing else has one for that reason."""

from t5punct.text.marks import Case
from t5punct.text.words import Word, split
from t5punct.windows.votes import Vote, apply_sentence_position, begins_next, most_probable, normalise

SAYS_LOWER = Vote(normalise({".": 0.6, "": 0.4}), normalise({"lower": 0.8, "capitalised": 0.2}))
SHOUTED = Vote({"": 1.0}, {"upper": 1.0})
AFTER_AN_END = Vote({"": 1.0}, {"capitalised": 1.0}, inside={"lower": 1.0})


def case_of_vote(text: str, vote: Vote, begins: bool | None) -> str:
    (word,) = split(text).words
    return most_probable(apply_sentence_position(vote, word, begins).cases)


def test_a_word_has_a_capital_where_it_begins_a_sentence_and_none_that_an_end_before_it_explains() -> None:
    assert case_of_vote("how", SAYS_LOWER, True) == Case.CAPITALISED
    assert case_of_vote("how", SAYS_LOWER, False) == Case.LOWER
    assert case_of_vote("how", SAYS_LOWER, None) == Case.LOWER
    assert case_of_vote("how", AFTER_AN_END, False) == Case.LOWER
    assert case_of_vote("how", AFTER_AN_END, None) == Case.CAPITALISED
    assert case_of_vote("how", AFTER_AN_END, True) == Case.CAPITALISED
    assert [case_of_vote(text, AFTER_AN_END, False) for text in ('"how', "“how", "(how", "how")] == [
        "capitalised", "capitalised", "lower", "lower"
    ]  # fmt: skip


def test_some_words_begin_a_sentence_as_they_are_and_one_is_shouted_only_where_it_can_be_an_acronym() -> None:
    for text in ("iPhone", "foo.com", "3rd", "$5m", "42"):
        assert case_of_vote(text, SAYS_LOWER, True) == Case.LOWER
    shouted = [case_of_vote(text, SHOUTED, True) for text in ("nasa", "minimizer", "o'neil")]
    assert shouted == ["upper", "capitalised", "capitalised"]


def test_sentences_go_on_behind_dashes_emoji_and_abbreviations() -> None:
    for text in ("-", "🙂", "♪", '"'):
        assert begins_next(True, Word(text), "")
        assert not begins_next(False, Word(text), "")
    assert not begins_next(True, Word("3"), "")
    assert begins_next(None, Word("🙂"), "") is None
    for word in ("Mr", "inc", "st"):
        assert [begins_next(False, Word(word), label) for label in ("", ",", ".", "?")] == [False, False, None, True]
    assert begins_next(False, Word("f"), "."), "`John F. Kennedy` has a capital in any case"


def test_abbreviations_in_lower_case_have_a_capital_only_at_the_start() -> None:
    capital = Vote({"": 1.0}, normalise({"capitalised": 0.9, "lower": 0.1}))
    assert [case_of_vote("i.e.", capital, begins) for begins in (True, False)] == [Case.CAPITALISED, Case.LOWER]
    assert [case_of_vote("a.m.", vote, False) for vote in (AFTER_AN_END, capital)] == [Case.LOWER] * 2
    doubtful = Vote({"": 1.0}, normalise({"lower": 0.2, "upper": 0.3, "capitalised": 0.5}))
    (word,) = split("i.e.").words
    assert apply_sentence_position(doubtful, word, False).cases == {"lower": 1.0}
    lower = Vote({"": 1.0}, {"lower": 1.0})
    assert apply_sentence_position(lower, word, False).cases == lower.cases
    small = [case_of_vote(text, SHOUTED, False) for text in ("a.m.", "p.m", "e.g.", "vs", "vs.", "etc.")]
    assert small == [Case.LOWER] * 6
    assert case_of_vote("a.m.", SHOUTED, True) == Case.CAPITALISED
    assert [case_of_vote(text, SHOUTED, False) for text in ("u.s.", "mr")] == [Case.UPPER] * 2
    assert case_of_vote("ph.d.", capital, False) == Case.CAPITALISED


def test_a_sentence_ends_once() -> None:
    assert most_probable(apply_sentence_position(SAYS_LOWER, Word("🙂"), True).marks) == ""
    assert most_probable(apply_sentence_position(SAYS_LOWER, Word("🙂"), False).marks) == "."
    stop = Vote({".": 1.0}, SAYS_LOWER.cases)
    assert apply_sentence_position(stop, Word("🙂"), True).marks == {"": 1.0}
    comma = Vote({",": 0.9, "": 0.1}, SAYS_LOWER.cases)
    assert most_probable(apply_sentence_position(comma, Word("🙂"), True).marks) == "", "a capital follows"
    assert begins_next(False, Word("🙂"), "."), "the sentence that an emoji ends"
