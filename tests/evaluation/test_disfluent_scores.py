"""Scores of disfluent words: their own, and nothing of them in the scores of marks."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from t5punct.errors import ConfigError
from t5punct.evaluation.counts import ClassCounts, Counts, Slot, count
from t5punct.evaluation.evaluate import evaluate_file
from t5punct.evaluation.references import read_references
from t5punct.evaluation.score_table import as_json
from t5punct.evaluation.text import compare
from t5punct.model import Model
from t5punct.punctuator import Punctuator
from t5punct.text.io.iwslt import TO_BE_LEFT_OUT, read_rows
from t5punct.text.marks import Alphabet
from t5punct.text.render import AnnotatedWord, RenderConfig

BY_HAND = Path(__file__).parents[1] / "data" / "disfluencies.tsv"


def test_the_sign_is_no_mark() -> None:
    with_sign = compare("We um~, I~ I know~.", "We um~ I I~ know,", alphabet=Alphabet().signed)
    without = compare("We um, I I know.", "We um I I know,")
    assert with_sign.disfluent == ClassCounts(correct=1, predicted=2, reference=3)
    assert without.disfluent == ClassCounts()
    assert with_sign + Counts() == Counts.of_row(with_sign.row())
    assert without == replace(with_sign, disfluent=ClassCounts())
    assert count([Slot.of("~?!")], [Slot("?!", disfluent=True)]).multiple_exact == 1


def test_rows_that_are_to_be_left_out(tmp_path: Path) -> None:
    file = tmp_path / "said.tsv"
    file.write_text("um\tDISFLUENT\ndo\tDISFLUENT\nn't\tDISFLUENT\ndo\tO\nn't\tPERIOD\n")
    (reference,) = read_references(file, Alphabet().signed)
    assert [word.text for word in reference.words] == ["um", "don't", "don't"]
    words = [("um~", "", True), ("don't~,", ",", True), ("don't.", ".", False)]
    annotated = [
        AnnotatedWord(text.strip("~,."), text, label, "lower", 1, 1, disfluent=one) for text, label, one in words
    ]
    (counts,) = reference.counts(annotated)
    assert counts.disfluent == ClassCounts(3, 3, 3)
    assert counts.classes["PERIOD"] == ClassCounts(1, 1, 1)
    assert counts.words_changed == counts.words_inserted == counts.words_dropped == 0


def test_they_are_scored_where_they_are_marked(signing_model: Model, tmp_path: Path) -> None:
    file = tmp_path / "said.txt"
    file.write_text("We know um~, that~ that is it.\n" * 20)
    kept = Punctuator(signing_model)
    report = as_json(evaluate_file(file, kept))
    assert "disfluent" not in report
    assert "disfluencies" not in str(report["signature"])
    marking = kept.with_config(render=RenderConfig(disfluencies="mark"))
    report = as_json(evaluate_file(file, marking))
    assert report["disfluent"]["reference"] == 40
    assert report["words_changed"] == 0
    assert "|disfluencies:mark|" in str(report["signature"])
    assert json.dumps(report)
    with pytest.raises(ConfigError, match="whose disfluencies are removed; expected keep or mark"):
        evaluate_file(file, kept.with_config(render=RenderConfig(disfluencies="remove")))


def test_the_file_written_by_hand_has_what_it_promises() -> None:
    rows = read_rows(BY_HAND)
    flags = [row.label_class == TO_BE_LEFT_OUT for row in rows]
    n_places = sum(flag and not before for before, flag in zip([False, *flags], flags, strict=False))
    assert n_places > 250
    assert len(rows) > 1900
    said = Counter((row.word, row.label_class == TO_BE_LEFT_OUT) for row in rows)
    for word in ("like", "know", "mean", "that", "the"):
        assert said[word, True] and said[word, False], f"{word} is to be left out in some places only"
