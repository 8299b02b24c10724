"""Rendering puts marks and case on words, and keeps what it is told to keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import cases, decisions, texts

from t5punct.text.marks import Alphabet, Case
from t5punct.text.render import Decision, RenderConfig, render_word
from t5punct.text.words import Word, split


def decided(label: str, case: Case = Case.LOWER) -> Decision:
    return Decision(label, case, 1.0, 1.0)


def render(words: Sequence[Word], choices: list[Decision], config: RenderConfig) -> str:
    pairs = zip(words, choices, strict=True)
    return "".join(render_word(word, choice, config, Alphabet()).text + word.space for word, choice in pairs)


def rendered(text: str, choices: list[Decision], config: RenderConfig | None = None) -> str:
    transcript = split(text)
    return transcript.lead + render(transcript.words, choices, config or RenderConfig())


def test_labels_and_case_are_put_on_and_white_space_stays() -> None:
    choices = [decided("", Case.CAPITALISED), decided(","), decided("?!", Case.UPPER)]
    assert rendered("\twe  know\nthat ", choices) == "\tWe  know,\nTHAT?! "


def test_marks_of_the_input_are_replaced_by_the_decided_ones() -> None:
    assert rendered("We know; that!", [decided("", Case.VERBATIM)] * 2 + [decided(".")]) == "We know that."


def test_case_can_be_left_as_the_input_has_it() -> None:
    assert rendered("we KNOW", [decided("", Case.CAPITALISED), decided(".")], RenderConfig(case=False)) == "we KNOW."


@settings(max_examples=200, deadline=None)
@given(st.data(), texts)
def test_kept_marks_stand_exactly_as_the_input_wrote_them(data: st.DataObject, text: str) -> None:
    transcript = split(text)
    choices = [data.draw(decisions(Alphabet())) for _ in transcript.words]
    for word, choice in zip(transcript.words, choices, strict=True):
        written = render_word(word, choice, RenderConfig(keep_marks=True), Alphabet())
        if word.given:
            assert written.text.lower() == word.raw.lower()
            assert written.label == word.given


@settings(max_examples=200, deadline=None)
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


@pytest.mark.parametrize(
    ("spelling", "label", "expected", "ends"),
    [
        ("Inc.", ",", "Inc.,", False), ("Inc.", ".", "Inc.", True), ("Inc.", "?", "Inc.?", True),
        ("Yahoo!", "", "Yahoo!", False), ("Yahoo!", ".", "Yahoo!", True), ("Yahoo!", "?!", "Yahoo!", True),
        ("Yahoo!", ",", "Yahoo!,", False),
    ],
)  # fmt: skip
def test_a_spelling_that_ends_in_a_mark_takes_others_but_no_second_end(
    spelling: str, label: str, expected: str, ends: bool
) -> None:
    word = Word("name", spelled=spelling)
    assert word.written(label) == expected
    assert word.ends_sentence(label) is ends


@settings(max_examples=100, deadline=None)
@given(texts)
def test_keeping_marks_with_nothing_to_add_gives_the_text_byte_for_byte(text: str) -> None:
    transcript = split(text)
    choices = [decided("", Case.VERBATIM)] * len(transcript.words)
    assert transcript.lead + render(transcript.words, choices, RenderConfig(keep_marks=True)) == text


@pytest.mark.parametrize(("text", "spelling", "written"), [("us.", "U.S.", "U.S."), ("yahoo!", "Yahoo!", "Yahoo!")])
def test_a_mark_that_is_kept_is_not_doubled_by_a_spelling(text: str, spelling: str, written: str) -> None:
    (word,) = (replace(plain, spelled=spelling) for plain in split(text).words)
    shown = render_word(word, decided(""), RenderConfig(keep_marks=True), Alphabet())
    assert (shown.text, shown.label) == (written, text[-1])


def test_keeping_marks_fills_only_empty_slots_and_still_sets_case() -> None:
    keep = RenderConfig(keep_marks=True)
    choices = [decided(",", Case.CAPITALISED), decided("!"), decided("?", Case.CAPITALISED), decided(".")]
    assert rendered('so "we," she  … said', choices, keep) == 'So, "we," She  … said.'


@pytest.mark.parametrize(
    "text", ["vs.", "Ph.D.", "(etc.)", '"Inc."', "e.g.", "U.S.", "J.", "1. milk\n2. bread\n\n12. more", "no 1 vs. 2"]
)
def test_a_full_stop_that_belongs_to_the_word_stays(text: str) -> None:
    for label in ("", ",", ".", "?"):
        choices = [decided(label, Case.VERBATIM)] * len(split(text).words)
        written = rendered(text, choices)
        assert written.count(".") >= text.count(".")
        assert [word.text for word in split(written).words] == [word.text for word in split(text).words]
    nothing = [decided("", Case.VERBATIM)] * len(split(text).words)
    assert rendered(text, nothing) == text


def test_a_full_stop_that_belongs_to_the_word_may_end_a_sentence_too() -> None:
    (word,) = split("etc.").words
    shared = render_word(word, decided("."), RenderConfig(), Alphabet())
    assert (shared.text, shared.label) == ("etc.", ".")
    alone = render_word(word, decided(""), RenderConfig(), Alphabet())
    assert (alone.text, alone.label) == ("etc.", "")


def test_marks_behind_an_abbreviation_are_kept_or_replaced_and_its_full_stop_stays() -> None:
    keep = RenderConfig(keep_marks=True)
    assert rendered("vs. a", [decided("?")] * 2, keep) == "vs.? a?", "its own full stop is no mark of the slot"
    assert rendered("vs., a", [decided("?")] * 2, keep) == "vs., a?"
    assert rendered("vs., a", [decided("?")] * 2) == "vs.? a?"
    (one_mark,) = split("vs.,", Alphabet(max_marks=1)).words
    assert render_word(one_mark, decided(""), keep, Alphabet(max_marks=1)).text == "vs.,"


@given(cases, st.sampled_from(["http://foo.com/bar", "name@host.org", "src/main.py", "snake_case", "f(x)", "x" * 99]))
def test_addresses_paths_and_code_keep_every_letter(case: Case, text: str) -> None:
    assert rendered(f"({text})", [decided(",", case)]) == f"({text}),"
    assert rendered(text, [decided("", case)]) == text


def test_a_mark_that_was_not_written_is_not_reported() -> None:
    (smiley,) = split(":)").words
    assert render_word(smiley, decided("?"), RenderConfig(), Alphabet()).label == ""
    assert render_word(split("yes").words[0], decided("?"), RenderConfig(), Alphabet()).label == "?"


@pytest.mark.parametrize(
    ("text", "opening", "written"),
    [
        ("qué", "¿", "¿qué"),
        ("¿qué", "", "qué"),
        ("qué", "", "qué"),
        ("¿qué", "¿", "¿qué"),
        ('"(¡qué', "¿", '"(¿qué'),
        ('"¿', "", '"¿'),
        ("¿qué", "¡", "¡qué"),
        ("¡¿qué", "¿", "¿qué"),
        ('"qué', "¿", '"¿qué'),
        ('¿"qué"', "¿", '"¿qué"'),
        ("(¿qué)", "", "(qué)"),
        ("42", "¿", "¿42"),
        ("¿", "¡", "¿"),
        (":)", "¿", ":)"),
    ],
)
def test_an_opening_mark_stands_before_the_core(text: str, opening: str, written: str) -> None:
    (word,) = split(text).words
    decision = Decision("", Case.LOWER, 1.0, 1.0, opening=opening)
    assert render_word(word, decision, RenderConfig(), Alphabet()).text == written
    assert word.with_opening(opening).core == word.core
