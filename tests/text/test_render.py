"""Rendering puts marks and case on words, and keeps what it is told to keep."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import decisions, texts

from t5punct.text.marks import Alphabet, Case
from t5punct.text.render import Decision, RenderConfig, render_word
from t5punct.text.words import Word, split


def decided(label: str, case: Case = Case.LOWER) -> Decision:
    return Decision(label, case, 1.0, 1.0)


def rendered(text: str, choices: list[Decision], config: RenderConfig | None = None) -> str:
    transcript, config = split(text), config or RenderConfig()
    pairs = zip(transcript.words, choices, strict=True)
    written = [render_word(word, choice, config, Alphabet()).text + word.space for word, choice in pairs]
    return transcript.lead + "".join(written)


LOWER, CAPITAL, UPPER, AS_GIVEN = Case.LOWER, Case.CAPITALISED, Case.UPPER, Case.VERBATIM
KEEP = RenderConfig(keep_marks=True)


@pytest.mark.parametrize(("text", "choices", "config", "written"), [
    ("\twe  know\nthat ", [("", CAPITAL), (",", LOWER), ("?!", UPPER)], None, "\tWe  know,\nTHAT?! "),
    ("We know; that!", [("", AS_GIVEN), ("", AS_GIVEN), (".", LOWER)], None, "We know that."),
    ("we KNOW", [("", CAPITAL), (".", LOWER)], RenderConfig(case=False), "we KNOW."),
    ("wh- # what", [("-", LOWER), ("-", LOWER), (",-", LOWER)], None, "wh- # what, -"),
    ("we NASA", [("", CAPITAL), ("", LOWER)], None, "We nasa"),
    ("we NASA", [("", CAPITAL), ("", LOWER)], RenderConfig(keep_case=True), "We NASA"),
    # marks are kept: empty slots alone are filled
    ('so "we," she  … said', [(",", CAPITAL), ("!", LOWER), ("?", CAPITAL), (".", LOWER)], KEEP,
     'So, "we," She  … said.'),
    # the full stop of an abbreviation stays, and is no mark of the slot
    ("vs. a", [("?", LOWER)] * 2, KEEP, "vs.? a?"), ("vs., a", [("?", LOWER)] * 2, KEEP, "vs., a?"),
    ("vs., a", [("?", LOWER)] * 2, None, "vs.? a?"),
])  # fmt: skip
def test_decided_marks_and_case_are_put_on_and_white_space_stays(
    text: str, choices: list[tuple[str, Case]], config: RenderConfig | None, written: str
) -> None:
    assert rendered(text, [decided(*choice) for choice in choices], config) == written


@given(st.data(), texts)
def test_kept_marks_stand_exactly_as_the_input_wrote_them(data: st.DataObject, text: str) -> None:
    transcript = split(text)
    choices = [data.draw(decisions(Alphabet())) for _ in transcript.words]
    for word, choice in zip(transcript.words, choices, strict=True):
        written = render_word(word, choice, KEEP, Alphabet())
        if word.given:
            assert written.text.lower() == word.raw.lower()
            assert written.marks == word.given
    assert rendered(text, [decided("", Case.VERBATIM)] * len(choices), KEEP) == text, "with nothing to add"


@given(st.data(), texts, st.sampled_from(["going to", "PyTorch-X", "Inc.", "Yahoo!", "C++", "a"]), st.booleans())
def test_a_spelling_of_the_users_is_written_whole_between_what_stood_around_it(
    data: st.DataObject, text: str, spelling: str, keep_marks: bool
) -> None:
    for word in split(text).words:
        choice, mine = data.draw(decisions(Alphabet())), replace(word, spelled=spelling)
        written = render_word(mine, choice, RenderConfig(keep_marks=keep_marks), Alphabet())
        before, after = word.stem().split(word.core, 1)
        assert written.text.startswith(before + spelling + after)
        if keep_marks and word.given:
            tail = word.raw[word.n_stem :]
            has_own = word.dotted or (not after and tail[0] == spelling[-1])
            assert written.text == before + spelling + after + tail[has_own:]


@pytest.mark.parametrize(("spelling", "label", "expected", "ends"), [
    ("Inc.", ",", "Inc.,", False), ("Inc.", ".", "Inc.", True), ("Inc.", "?", "Inc.?", True),
    ("Yahoo!", "", "Yahoo!", False), ("Yahoo!", "?!", "Yahoo!", True), ("Who?", ",", "Who?,", False),
])  # fmt: skip
def test_a_spelling_that_ends_in_a_mark_takes_others_but_no_second_end(
    spelling: str, label: str, expected: str, ends: bool
) -> None:
    word = Word("name", spelled=spelling)
    assert word.with_marks(label) == expected
    assert word.ends_sentence(label) is ends


def test_a_mark_that_is_kept_is_not_doubled_by_a_spelling_or_lost_to_an_alphabet_with_labels_of_one() -> None:
    for text, spelling in (("us.", "U.S."), ("yahoo!", "Yahoo!")):
        (word,) = (replace(plain, spelled=spelling) for plain in split(text).words)
        shown = render_word(word, decided(""), KEEP, Alphabet())
        assert (shown.text, shown.marks) == (spelling, text[-1])
    (word,) = split("vs.,", Alphabet(max_marks=1)).words
    assert render_word(word, decided(""), KEEP, Alphabet(max_marks=1)).text == "vs.,"


def test_the_label_that_is_told_is_the_one_that_was_written() -> None:
    for text, label, written, told in (
        *(("etc.", ".", "etc.", "."), ("etc.", "", "etc.", "")),  # its own full stop may end a sentence too
        *((":)", "?", ":)", ""), ("yes", "?", "yes?", "?")),  # a mark that was not written is not reported
    ):
        word = render_word(split(text).words[0], decided(label), RenderConfig(), Alphabet())
        assert (word.text, word.marks) == (written, told)


@pytest.mark.parametrize(("text", "opening", "written"), [
    ("qué", "¿", "¿qué"), ("¿qué", "", "qué"), ("¿qué", "¿", "¿qué"), ("¡¿qué", "¿", "¿qué"),
    ("…¿qué", "¿", "…¿qué"), ("'¿Qué'", "¿", "'¿qué'"), ("'¿qué", "¿", "'¿qué"), ('"(¡qué', "¿", '"(¿qué'),
    ('¿"qué"', "¿", '"¿qué"'), ("¿qué", None, "¿qué"), ("42", "¿", "¿42"), ("¿", "¡", "¿"), (":)", "¿", ":)"),
])  # fmt: skip
def test_an_opening_mark_stands_before_the_core(text: str, opening: str | None, written: str) -> None:
    (word,) = split(text).words
    decision = Decision("", Case.LOWER, 1.0, 1.0, opening=opening)  # None: of a model that knows none
    assert render_word(word, decision, RenderConfig(), Alphabet()).text == written
    assert word.with_opening(opening or "").core == word.core


@pytest.mark.parametrize(("text", "kept"), [
    ("¿qué", "¿qué."), ("qué", "¡qué."), ("qué?", "¡qué?"), ('"¿qué,"', '"¿qué,"'), ("qué!!)", "¡qué!!)"),
])  # fmt: skip
def test_of_kept_marks_the_opening_one_stays_and_others_are_added(text: str, kept: str) -> None:
    assert rendered(text, [replace(decided("."), opening="¡")], KEEP) == kept
