"""Disfluencies at run time: kept they change nothing, marked they change no word, removed they are what was marked."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from command import Invoke
from stepwise import assert_same_votes, decode_stepwise
from strategies import chunked

from t5punct import model as models
from t5punct.decoding.inputs import DecodingConfig, WindowInput
from t5punct.decoding.slots import SlotDecoder
from t5punct.errors import ConfigError
from t5punct.model import Model
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.streaming import StreamConfig, StreamingPunctuator, StreamState
from t5punct.t5.task import TaskConfig
from t5punct.text.marks import DISFLUENT, Alphabet, Case, capitalise
from t5punct.text.render import Decision, RenderConfig, move_marks_of_removed_words, render_word
from t5punct.text.words import Word, split
from t5punct.windows.plan import WindowConfig
from t5punct.windows.votes import Vote, most_probable

WORDS = "we know that this is right what how are you today well i think it's time to go don't stop now".split()
TEXT = " ".join(random.Random(4).choices(WORDS, k=70))
PLAN = WindowConfig(window=16, mask_left=3, mask_right=3)


def _punctuator(model: Model, disfluencies: str, decoder: str = "slots", **changes: object) -> Punctuator:
    config = PunctuatorConfig(
        PLAN, decoding=DecodingConfig(decoder, **changes), render=RenderConfig(disfluencies=disfluencies)
    )
    return Punctuator(model, config)


def _without_the_sign(model: Model) -> Model:
    """The same weights for a task that knows no disfluencies."""
    from t5punct.t5.tagger import Tagger

    assert model.tagger is not None
    tagger = Tagger(model.tagger.marks.in_features, model.task.marks)
    tagger.load_state_dict({name: value[: len(own)] for (name, value), own in zip(
        model.tagger.state_dict().items(), tagger.state_dict().values(), strict=True)})  # fmt: skip
    return replace(model.with_task(disfluencies=False), tagger=tagger)


@pytest.mark.parametrize("decoder", ["slots", "tagger", "generate"])
def test_kept_they_are_as_if_nobody_knew_them(signing_model: Model, decoder: str) -> None:
    kept = _punctuator(signing_model, "keep", decoder).annotate(TEXT)
    if decoder == "generate":  # it may write the sign, which no text shows
        assert not any(DISFLUENT in word.text for word in kept)
        return
    assert kept == _punctuator(_without_the_sign(signing_model), "keep", decoder).annotate(TEXT)
    assert all("disfluent" not in word.as_dict() for word in kept)


@pytest.mark.parametrize("decoder", ["slots", "tagger"])
def test_some_words_are_marked_and_the_same_are_removed(signing_model: Model, decoder: str) -> None:
    marked = _punctuator(signing_model, "mark", decoder).annotate(TEXT)
    removed = _punctuator(signing_model, "remove", decoder).annotate(TEXT)
    assert 5 < sum(bool(word.disfluent) for word in marked) < 60
    assert [word.disfluent for word in marked] == [word.disfluent for word in removed]
    assert [word.is_removed for word in removed] == [bool(word.disfluent) for word in marked]
    assert [word.as_dict()["disfluent"] for word in marked] == [word.disfluent for word in marked]
    assert all((DISFLUENT in word.text) == word.disfluent and DISFLUENT not in word.marks for word in marked)
    punctuator = _punctuator(signing_model, "remove", decoder)
    wanted = " ".join(word.text for word in removed if not word.is_removed)
    assert punctuator.punctuate(TEXT) == wanted
    assert list(punctuator.punctuate_many([TEXT, "we", TEXT]))[::2] == [wanted, wanted]


def test_what_is_left_begins_with_capitals_and_odds_mark_more_or_fewer(signing_model: Model) -> None:
    words = [word for word in _punctuator(signing_model, "remove").annotate(TEXT) if not word.is_removed]
    ends = [True, *(any(mark in ".?!" for mark in word.marks) for word in words)]
    first = [word.text for word, begins in zip(words, ends, strict=False) if begins]
    assert len(first) > 1
    assert first == [capitalise(text) for text in first]

    def n_marked(odds: float) -> int:
        words = _punctuator(signing_model, "mark", mark_odds={DISFLUENT: odds}).annotate(TEXT)
        return sum(bool(word.disfluent) for word in words)

    assert n_marked(1e-6) == 0 < n_marked(1.0) < n_marked(1e6) == len(TEXT.split())


@pytest.mark.parametrize(("policy", "mode"), [("fixed", "remove"), ("delay", "mark"), ("entropy", "mark")])
def test_any_chunking_of_a_stream_is_the_whole(signing_model: Model, mode: str, policy: str) -> None:
    config = StreamConfig(policy, window=12, lookahead=2, l_min=0, l_max=4, thresholds=[1.0])
    decoder, words = "tagger" if policy == "delay" else "slots", TEXT.split()[:10]
    punctuator = _punctuator(signing_model, mode, decoder)
    whole = StreamingPunctuator(punctuator, config)
    said = [*whole.push(words), *whole.finish()]
    assert any(word.annotated.disfluent for word in said)
    assert [word.annotated.word for word in said] == words
    stream = StreamingPunctuator(punctuator, config)
    streamed = []
    for chunk in chunked(words, random.Random(0)):
        streamed += stream.push(chunk)
        if policy != "delay":
            stream = StreamingPunctuator(punctuator, config, StreamState.from_json(stream.state.to_json()))
    assert [word.annotated for word in (*streamed, *stream.finish())] == [word.annotated for word in said]


def test_parallel_equals_step_by_step(signing_model: Model) -> None:
    odds = {DISFLUENT: 2.0, ",": 3.0}
    config = DecodingConfig(marks=signing_model.task.slot_marks, style="prose", mark_odds=odds)
    windows = [WindowInput.of(TEXT.split()[start : start + 15]) for start in range(0, 45, 15)]
    wanted = decode_stepwise(signing_model, windows, config)
    assert any(most_probable(vote.marks).startswith(DISFLUENT) for votes in wanted for vote in votes)
    assert_same_votes(SlotDecoder(signing_model, config).votes(windows), wanted)


def test_only_a_model_that_knows_them_is_asked_for_them(tagged_model: Model, signing_model: Model) -> None:
    for changes in ({"marks": ",.~"}, {"mark_odds": {"~": 2.0}}):
        with pytest.raises(ConfigError, match=r"'~', the sign of disfluent words, .*; add that, or leave it out"):
            _punctuator(signing_model, "keep", **changes)
        _punctuator(signing_model, "mark", **changes)
    with pytest.raises(ConfigError, match=r"'mark' with fresh, which does not know them; expected a model that was tr"):
        _punctuator(tagged_model, "mark")
    with pytest.raises(ConfigError, match="'remove' with the decoder generate; expected slots or tagger"):
        _punctuator(signing_model, "remove", "generate")
    with pytest.raises(ConfigError, match="disfluencies 'drop'; expected one of keep, mark, remove"):
        RenderConfig(disfluencies="drop")
    with pytest.raises(ConfigError, match="marks ',~'; expected marks without ~, the sign of disfluent words"):
        TaskConfig(marks=",~")
    with pytest.raises(ConfigError, match="drop --keep-marks or --disfluencies"):
        RenderConfig(disfluencies="mark", keep_marks=True)


def test_they_are_removed_on_the_command_line_only_if_asked(
    signing_model: Model, tmp_path: Path, invoke: Invoke
) -> None:
    models.save(signing_model, tmp_path / "model")
    (tmp_path / "said.txt").write_text(TEXT, encoding="utf-8")

    def punctuated(*options: str) -> tuple[str, str]:
        command = ("punctuate", tmp_path / "said.txt", "--model", tmp_path / "model", "--decoder", "tagger", *options)
        code, out, err = invoke(*command)
        assert code == 0, err
        return out, err

    kept, said_of_kept = punctuated()
    assert [word.text.lower() for word in split(kept).words] == TEXT.split()
    assert said_of_kept == ""
    removed, summary = punctuated("--disfluencies", "remove")
    n_removed = len(TEXT.split()) - len(split(removed).words)
    assert n_removed > 10
    assert summary.startswith(f"t5punct: {n_removed} of {len(TEXT.split())} words removed: ")
    assert punctuated("--disfluencies", "mark")[0].count("~") == n_removed


@pytest.mark.parametrize(("labels", "left"), [
    ([",", "~."], ["."]), (["?", "~.", "~!"], ["?"]), (["", "~", "~-", ""], ["-", ""]),
    (["", "~,"], [""]),  # the comma set the filler off
    (["~.", ""], [""]),  # nothing is before it
    (["", "~;", "~?", ",", "~"], ["?", ","]),
])  # fmt: skip
def test_marks_behind_what_is_removed(labels: list[str], left: list[str]) -> None:
    decisions = [Decision(label.replace("~", ""), Case.LOWER, 0.5, 1.0, disfluent="~" in label) for label in labels]
    moved = list(move_marks_of_removed_words(decisions))
    assert len(moved) == len(decisions)
    assert [decision.marks for decision in moved if not decision.disfluent] == left


@pytest.mark.parametrize(("text", "label", "marked"), [
    ("um", ",", "um~,"), ('"um"', ".", '"um~."'), ("um", "-", "um~ -"), ("um", "", "um~"), ("(um)", "", "(um~)"),
])  # fmt: skip
def test_the_sign_stands_behind_the_word(text: str, label: str, marked: str) -> None:
    (word,) = split(f"{text[:-1]}.{text[-1]}" if text[-1] in '")' else text).words
    decision = Decision(label, Case.LOWER, 0.5, 1.0, disfluent=True)
    rendered = render_word(word, decision, RenderConfig(disfluencies="mark"), Alphabet())
    assert (rendered.text, rendered.marks) == (marked, label)
    assert render_word(word, decision, RenderConfig(disfluencies="remove"), Alphabet()).text == ""


def test_what_nobody_says_is_not_disfluent(signing_model: Model) -> None:
    punctuator = _punctuator(signing_model, "mark")
    words = [Word(text) for text in ("um", "-", "😀", ":)")]
    vote = Vote({DISFLUENT: 1.0}, {"lower": 1.0})
    decisions, _ = punctuator.decide_words(words, [[vote]] * len(words), punctuator.first_sentence)
    assert [decision.disfluent for decision in decisions] == [True, False, False, False]
    assert {decision.marks for decision in decisions} == {""}
