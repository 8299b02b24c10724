"""What a file is scored with: its own rows, its lines, its words; disfluent words have scores of their own."""

from dataclasses import replace
from pathlib import Path

import pytest
from command import pipe_of
from rich.console import Console
from scripted import Scripted

from t5punct.decoding.inputs import DecodingConfig
from t5punct.decoding.slots import SlotDecoder
from t5punct.decoding.tagging import TagDecoder
from t5punct.errors import InputError
from t5punct.evaluation.counts import ClassCounts, Counts, compare
from t5punct.evaluation.evaluate import evaluate_file
from t5punct.evaluation.references import read_references
from t5punct.evaluation.score_table import as_json, report_table
from t5punct.model import Model
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.text.marks import Alphabet
from t5punct.text.render import AnnotatedWord, RenderConfig
from t5punct.windows.combine import CombineConfig

DATA = Path(__file__).parents[1] / "data"
CLITICS = DATA / "hand-counted.tsv"


def test_a_model_of_fewer_marks_is_scored_by_the_same_reference(tiny_model: Model, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("Stop! Go! Run! We know.\n")
    for model in (tiny_model, tiny_model.with_task(marks=",.?")):
        system = Scripted(model, "stop. go. run. we know.")
        report = evaluate_file(tmp_path / "text.txt", system)
        assert system.heard == ["stop", "go", "run", "we", "know"]
        assert report.scores.per_class["PERIOD"].f1 == 100.0


def test_an_iwslt_file_is_scored_by_its_own_rows(tiny_model: Model) -> None:
    # row        i  'm  well  do  n't  stop  what  is  it  we  know  right
    # reference     ,                  .               ?   ,         .
    # output            ,              .               !   ,   :     ?
    system = Scripted(tiny_model, "i'm well, don't stop. what is it! we, know: right?")
    report = evaluate_file(CLITICS, system)
    assert system.heard == ["i'm", "well", "don't", "stop", "what", "is", "it", "we", "know", "right"]
    assert report.counts == (
        Counts(
            slots=12,
            classes={
                "COMMA": ClassCounts(correct=1, predicted=3, reference=2),  # we; well we know; 'm we
                "PERIOD": ClassCounts(correct=1, predicted=2, reference=2),  # stop; stop it; stop right
                "QUESTION": ClassCounts(correct=0, predicted=1, reference=1),  # right; it
            },
            substitutions=2,  # it right
            insertions=2,  # well know
            deletions=1,  # 'm
            boundaries=ClassCounts(correct=3, predicted=3, reference=3),  # stop it right
            words=12,
        ),
    )
    assert report.scores.micro.f1 == pytest.approx(100 * 2 * 2 / (6 + 5))
    assert report.scores.slot_error_rate == 100.0
    assert report.scores.case_accuracy is None  # the file has no capitals
    assert report.micro_interval is None  # one document tells no spread


@pytest.mark.parametrize(("name", "content", "output", "n_words"), [
    ("marks of rows.tsv", "dr.\tO\nwho\tPERIOD\n--\tO\nand\tO\ndaughter,\tCOMMA\nu.s.\tPERIOD\n",
     "dr, who. x and daughter, us.", 6),
    ("smileys and odd quotes.txt", 'Well done :) I agree. Really (?) now ;-) so …(3 "\'Tis"!\n',
     "Well done x I agree. Really x now x so 3 Tis!", 12),
    ("an elision with a capital.txt", "'tis true.\n", "'Tis true.", 2),
    ("empty lines before rows.dat", "\n\nwe\tO\nknow\tPERIOD\n", "we know.", 2),
])  # fmt: skip
def test_no_word_of_an_odd_file_is_called_changed(
    tiny_model: Model, tmp_path: Path, name: str, content: str, output: str, n_words: int
) -> None:
    (tmp_path / name).write_text(content)
    scores = evaluate_file(tmp_path / name, Scripted(tiny_model, output)).scores
    assert (scores.words, scores.words_changed) == (n_words, 0)
    assert scores.micro.f1 == 100.0 or name == "marks of rows.tsv"


def test_a_long_iwslt_file_gives_stretches_and_no_empty_document(tiny_model: Model, tmp_path: Path) -> None:
    path = tmp_path / "long.tsv"
    path.write_text("so\tO\nstop\tPERIOD\n" * 300)
    report = evaluate_file(path, Scripted(tiny_model, "so stop. " * 300))
    assert [counts.slots for counts in report.counts] == [500, 100]
    assert report.micro_interval
    assert report.micro_interval.low == report.micro_interval.high == 100.0
    path.write_text("hello\tO\nthere\tO\n--\tPERIOD\n")
    counts = evaluate_file(path, Scripted(tiny_model, "hello there x.")).counts[0]
    assert counts.classes["PERIOD"].predicted == 0, "a mark that the product would not write"


def test_a_text_is_scored_line_by_line(tiny_model: Model) -> None:
    references, outputs = ((DATA / f"hand-counted{name}.txt").read_text() for name in ("", "-output"))
    system = Scripted(tiny_model, outputs)
    report = evaluate_file(DATA / "hand-counted.txt", system)
    # without marks and capitals
    assert system.heard == ["well", "we", "know", "nasa", "went", "really", "stop", "one", "two", "three"]
    # which are counted by hand in test_counts.py
    assert report.counts == tuple(map(compare, references.splitlines(), outputs.splitlines()))
    assert report.micro_interval
    assert report.micro_interval.low <= report.scores.micro.f1 <= report.micro_interval.high  # type: ignore[operator]
    plain = Punctuator(tiny_model, PunctuatorConfig(render=RenderConfig(case=False)))
    assert evaluate_file(DATA / "hand-counted.txt", plain).scores.case_accuracy is None, "it is not written"


def test_words_that_rendering_changes_come_to_light(tiny_model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    written = {"know": "now", "three": "three four", "stop": "stopx"}
    monkeypatch.setattr("t5punct.text.words.apply_case", lambda word, case: written.get(word, word))
    rows, text = (evaluate_file(DATA / f"hand-counted.{kind}", Punctuator(tiny_model)) for kind in ("tsv", "txt"))
    assert (rows.scores.words_changed, as_json(text)["words_changed"]) == (2, 3)


def test_max_words_cuts_both_kinds_of_file_and_a_pipe_of_either_is_scored(tiny_model: Model) -> None:
    rows = evaluate_file(CLITICS, Punctuator(tiny_model), max_words=5)
    text = evaluate_file(DATA / "hand-counted.txt", Punctuator(tiny_model), max_words=8)
    assert (rows.scores.words, text.scores.words) == (5, 8)
    assert [counts.words for counts in text.counts] == [7, 1]
    with pytest.raises(InputError, match="holds no words"):
        evaluate_file(CLITICS, Punctuator(tiny_model), max_words=0)
    for content, words in ((b"i\tO\n'm\tCOMMA\nhere\tPERIOD\n", 3), (b"I'm here. Yes!\nNo.\n", 4)):
        with pipe_of(content) as path:
            assert evaluate_file(path, Punctuator(tiny_model)).scores.words == words


def test_the_report_carries_its_settings(tiny_model: Model) -> None:
    slots = evaluate_file(CLITICS, Punctuator(tiny_model))
    config = PunctuatorConfig(decoding=DecodingConfig("generate", beams=2, style="chat"))
    generated = evaluate_file(CLITICS, Punctuator(tiny_model, config))
    for part in ("classes:COMMA=,:-;PERIOD=.!;;QUESTION=?", "words:iwslt-rows", "decoder:slots", "style:talk"):
        assert part in slots.signature
    for part in ("decoder:generate2", "style:chat", "w:96|s:76|ml:12|mr:8", "combine:mean", "model:fresh"):
        assert part in generated.signature
    for part in ("max-words", "marks:", "mark-odds", "precision", "batch-tokens", "fragment"):
        assert part not in slots.signature
    model = replace(tiny_model, name="runs/short", precision="bf16")
    decoding = DecodingConfig(
        marks=",.", max_marks=1, mark_odds={",": 2.5, ".": 1e-9}, precision="auto", batch_tokens=512
    )
    config = PunctuatorConfig(combine=CombineConfig("vote", 0.4), decoding=decoding, fragment=True)
    narrow = evaluate_file(CLITICS, Punctuator(model, config), max_words=9)
    chosen = "|marks:,.|max-marks:1|mark-odds:,=2.5 .=1e-09|precision:bf16|batch-tokens:512|fragment|"
    for part in ("max-words:9|", chosen, "|w:96|", "|combine:vote>0.4", "|model:runs/short|"):
        assert part in narrow.signature
    assert as_json(slots)["generated_words"] is None
    assert as_json(generated)["generated_words"]["words"] == 10  # joined words


@pytest.mark.parametrize(
    ("tagged", "longest", "runs"), [("talk", None, "tagger"), ("chat", None, "slots"), ("talk", 3, "slots")]
)
def test_the_signature_names_the_decoder_that_ran(
    tagged_model: Model, tagged: str, longest: int | None, runs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`auto` takes the tagger in the styles that the model says, unless several marks are asked for."""
    monkeypatch.delattr(SlotDecoder if runs == "tagger" else TagDecoder, "votes")  # the other one cannot run
    config = PunctuatorConfig(decoding=DecodingConfig("auto", style="talk", max_marks=longest))
    report = evaluate_file(CLITICS, Punctuator(tagged_model.with_task(tagged_styles=[tagged]), config))
    assert f"|decoder:{runs}|" in report.signature


def test_json_has_the_published_keys_and_a_table_ends_with_the_signature(tiny_model: Model) -> None:
    report = evaluate_file(CLITICS, Scripted(tiny_model, "i'm well, don't stop. what is it! we, know: right?"))
    published = as_json(report)
    assert list(published) == [
        "data", "micro_f1", "micro_precision", "micro_recall", "micro_f1_interval", "macro_f1", "per_class",
        "slot_error_rate", "boundary_f1", "multiple_exact", "case_accuracy", "cased_accuracy", "words",
        "words_changed", "generated_words", "seconds", "signature",
    ]  # fmt: skip
    assert published["per_class"]["COMMA"] == {"precision": pytest.approx(100 / 3), "recall": 50.0, "f1": 40.0,
                                           "reference": 2}  # fmt: skip
    assert (published["micro_precision"], published["micro_recall"]) == (pytest.approx(100 / 3), 40.0)
    assert published["boundary_f1"] == 100.0
    assert published["multiple_exact"] is None
    console = Console(width=20)
    with console.capture() as captured:
        console.print(report_table(report), crop=False)
    assert captured.get().splitlines()[-1] == report.signature, "whole, whatever its length"


@pytest.mark.parametrize(("name", "content", "message"), [
    ("missing.txt", None, "no file"),
    ("empty.txt", "\n\n", r"empty.txt holds no words; expected punctuated text"),
    ("bad.tsv", "we\tO\nknow\tDOT\n", r"bad.tsv line 2: .*expected word TAB one of O, COMMA"),
    ("bad.tsv", "we O\nknow PERIOD\n", r"bad.tsv line 1: .*expected word TAB one of O, COMMA"),
    ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nWe know.\n",
     r"a\.srt, whose times .*; make text of the \.srt first: t5punct punctuate"),
])  # fmt: skip
def test_unscorable_is_refused(tiny_model: Model, tmp_path: Path, name: str, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message):
        evaluate_file(tmp_path / name, Punctuator(tiny_model))


def test_the_sign_is_no_mark() -> None:
    with_sign = compare("We um~, I~ I know~.", "We um~ I I~ know,", alphabet=Alphabet().signed)
    without = compare("We um, I I know.", "We um I I know,")
    assert with_sign.disfluent == ClassCounts(correct=1, predicted=2, reference=3)
    assert without.disfluent == ClassCounts()
    assert with_sign + Counts() == Counts.of_row(with_sign.row())
    assert without == replace(with_sign, disfluent=ClassCounts())


def test_rows_that_are_to_be_left_out(tmp_path: Path) -> None:
    file = tmp_path / "said.tsv"
    file.write_text("um\tDISFLUENT\ndo\tDISFLUENT\nn't\tDISFLUENT\ndo\tO\nn't\tPERIOD\n")
    (reference,) = read_references(file, Alphabet().signed)
    assert [word.text for word in reference.words] == ["um", "don't", "don't"]
    words = [("um~", "", True), ("don't~,", ",", True), ("don't.", ".", False)]
    annotated = [
        AnnotatedWord(text.strip("~,."), text, label, "lower", 1, 1, disfluent=disfluent)
        for text, label, disfluent in words
    ]
    (counts,) = reference.counts(annotated)
    assert counts.disfluent == ClassCounts(3, 3, 3)
    assert counts.classes["PERIOD"] == ClassCounts(1, 1, 1)
    assert counts.words_changed == counts.words_inserted == counts.words_dropped == 0


def test_they_are_scored_where_they_are_marked(signing_model: Model, tmp_path: Path) -> None:
    file = tmp_path / "said.txt"
    file.write_text("We know um~, that~ that is it.\n" * 8)
    kept = Punctuator(signing_model)
    report = as_json(evaluate_file(file, kept))
    assert "disfluent" not in report
    assert "disfluencies" not in str(report["signature"])
    marking = kept.with_config(render=RenderConfig(disfluencies="mark"))
    report = as_json(evaluate_file(file, marking))
    assert report["disfluent"]["reference"] == 16
    assert report["words_changed"] == 0
    assert "|disfluencies:mark|" in str(report["signature"])
