"""What the decoder reads in training: the text's own marks, or a teacher's, behind which the text's are asked for."""

from __future__ import annotations

import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_word, labels

from t5punct import model as models
from t5punct.model import Model
from t5punct.t5.tokenization import TaskTokenizer
from t5punct.text.marks import Alphabet
from t5punct.training.examples.example import IGNORED, History, draw_marks, make_history
from t5punct.training.labels import codes_of


@pytest.fixture(scope="module")
def tokenizer() -> TaskTokenizer:
    return models.load_tokenizer("small", models.read_task(models.bundled_folder("small")))


def shown(tokenizer: TaskTokenizer, history: History) -> list[tuple[str, str, str]]:
    """For each place, the token that is read, the one that is asked for, and the next word where there is a choice."""

    def name(number: int) -> str:
        return "-" if number == IGNORED else str(tokenizer.tokenizer.convert_ids_to_tokens(number))

    return [
        (name(read), name(asked), name(next_word))
        for read, asked, next_word in zip(history.decoder_ids, history.target, history.next_word_ids, strict=True)
    ]


def test_behind_a_mark_that_the_text_lacks_nothing_is_asked_until_the_next_word_is_written(
    tokenizer: TaskTokenizer,
) -> None:
    forms, texts, drawn = ["We", "know", "Ann", "right"], ["", ",", "", "?!"], ["", "", ".", "?!"]
    history = make_history(tokenizer, forms, texts, [""] * 4, drawn)
    assert shown(tokenizer, history) == [
        ("<^>", "<^>", "we"),
        ("we", "we", "-"),
        ("know", "know", "know"),
        ("<^>", "<,>", "ann"),  # the text has a comma here, the history a name without one
        ("ann", "-", "-"),
        ("<.>", "right", "right"),
        ("<^>", "-", "-"),  # a sentence begins here in the history, and not in the text
        ("right", "-", "-"),
        ("<?>", "<?>", "[SEP]"),
        ("<!>", "<!>", "[SEP]"),
        ("[SEP]", "[SEP]", "[SEP]"),
    ]
    ending = make_history(tokenizer, ["I", "know"], ["", "."], [""] * 2, ["", ","])
    assert shown(tokenizer, ending)[-2:] == [("<,>", "<.>", "[SEP]"), ("[SEP]", "-", "-")]
    going_on = make_history(tokenizer, ["No", "Then", "I"], [".", "", ""], [""] * 3, ["", ".", ""])
    assert [read for read, _, _ in shown(tokenizer, going_on)] == ["<^>", "no", "then", "<.>", "<^>", "i", "[SEP]"]


@given(st.lists(st.tuples(any_word, labels(Alphabet())), min_size=1, max_size=6))
def test_at_each_mark_the_next_word_may_stand_as_well(tiny_model: Model, parts: list[tuple[str, str]]) -> None:
    tokenizer, wanted = tiny_model.tokenizer, list[tuple[int, int]]()  # the target's token, and the next word's
    assert max(map(len, tokenizer.mark_ids.values())) > 1, "else no mark takes two tokens here"
    forms, marked = zip(*parts, strict=True)
    starts = [tokenizer.word_ids(form.lower(), first=index == 0)[0] for index, form in enumerate(forms)]
    for index, (form, label) in enumerate(parts):
        following = starts[index + 1] if index + 1 < len(parts) else tokenizer.eos_id
        pieces = [tokenizer.form_ids(form, first=index == 0), *(tokenizer.mark_ids[mark] for mark in label)]
        for ids, next_word in zip(pieces, [starts[index], *(following for _ in label)], strict=True):
            wanted += zip(ids, [next_word, *[IGNORED] * (len(ids) - 1)], strict=True)
    wanted.append((tokenizer.eos_id, tokenizer.eos_id))
    history = make_history(tokenizer, forms, marked, [""] * len(forms))
    assert [*zip(history.decoder_ids, history.next_word_ids, strict=True)] == wanted
    assert history.decoder_ids == tokenizer.target(forms, marked)
    for index, start in enumerate(history.slot_starts):
        before = tokenizer.target(forms[: index + 1], (*marked[:index], ""))[:-1]
        assert (start, history.decoder_ids[:start]) == (len(before), before)


@given(st.lists(st.tuples(any_word, labels(Alphabet()), labels(Alphabet())), min_size=1, max_size=6))
def test_what_is_asked_is_the_texts_own(tiny_model: Model, parts: list[tuple[str, str, str]]) -> None:
    """Also where marks and capitals are parts of words, and take several tokens."""
    tokenizer = tiny_model.tokenizer
    forms, texts, drawn = map(list, zip(*parts, strict=True))
    plain = make_history(tokenizer, forms, texts, [""] * len(forms))
    assert plain.decoder_ids == plain.target == tokenizer.target(forms, texts)
    history = make_history(tokenizer, forms, texts, [""] * len(forms), drawn)
    assert len(history.decoder_ids) == len(history.target) == len(history.next_word_ids)
    for index, start in enumerate(history.slot_starts):
        # the text's own token, behind words with other marks
        assert history.target[start] == plain.target[plain.slot_starts[index]]
    if drawn == texts:
        assert history == plain


def test_labels_are_drawn_as_the_teacher_says(tokenizer: TaskTokenizer) -> None:
    marks = tokenizer.task.slot_marks
    shares = [0.5, *(0.3 if mark == "," else 0.2 if mark == "?" else 0.0 for mark in marks), 1.0, 0.0]
    code = bytes(codes_of(torch.tensor(shares)).numpy())
    rng, n_words = random.Random(1), 3000
    drawn = draw_marks(["?!"] * n_words, [code] * n_words, marks, rng)
    assert {label: round(drawn.count(label) / n_words, 1) for label in set(drawn)} == {"": 0.5, ",": 0.3, "?!": 0.2}
    assert draw_marks([".", "~,"], [b"", code], marks, rng) == [".", "~,"], "nothing is known, or a sign"
