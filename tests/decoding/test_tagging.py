"""The tagger as a decoder equals its heads by hand, whatever shares its batch; its classes in another order."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from t5punct.decoding.inputs import DecodingConfig, WindowInput
from t5punct.decoding.tagging import TagDecoder, doubled_ends
from t5punct.errors import ConfigError, ModelError
from t5punct.model import Model, load
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.streaming import StreamConfig, StreamingPunctuator, Streams
from t5punct.streaming.state import StreamState
from t5punct.t5.tagger import Tagger
from t5punct.text.spelling_table import SpellingTable
from t5punct.windows.combine import CombineConfig, decide
from t5punct.windows.votes import Vote, most_probable

WINDOWS = [
    WindowInput.of(words.split())
    for words in ("we know that right", "hello", "i saw iPhone users in the U.S. pay 3.5 dollars", "NASA said no no no")
]


@torch.inference_mode()
def _logits(model: Model, window: WindowInput, word: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Both heads' at a word of one window by itself."""
    source = model.tokenizer.source(window.words)
    states = model.network.encoder(input_ids=torch.tensor([source.ids])).last_hidden_state
    return model.tagger(states[0, source.word_ends[word]])  # type: ignore[misc]


def test_votes_are_the_heads_probabilities_with_odds(tagged_model: Model) -> None:
    odds = {",": 3.0, "?": 0.5}
    tagged = TagDecoder(tagged_model, DecodingConfig("tagger", mark_odds=odds, batch_tokens=40)).votes(WINDOWS)
    for window, votes in zip(WINDOWS, tagged, strict=True):
        assert len(votes) == len(window.words)
        for word, vote in enumerate(votes):
            marks, cases = _logits(tagged_model, window, word)
            classes = ("", *tagged_model.task.marks)
            wanted = (marks + torch.tensor([odds.get(mark, 1.0) for mark in classes]).log()).softmax(0)
            assert tuple(vote.marks) == classes
            assert tuple(vote.marks.values()) == pytest.approx(wanted.tolist(), abs=1e-4)
            if window.words[word] == "said":
                assert tuple(vote.cases.values()) == pytest.approx(cases.softmax(0).tolist(), abs=1e-4)
            assert (vote.left_words, vote.right_words) == (word, len(votes) - 1 - word)


def test_words_without_a_slot_get_no_marks(tagged_model: Model) -> None:
    window = WindowInput.of(["so", "iPhone", "now"], [True, False, True])
    votes = TagDecoder(tagged_model).votes([window])[0]
    assert tuple(votes[1].marks) == ("",)
    assert tuple(votes[1].cases) == ("verbatim",)


def test_only_the_slots_that_are_asked_for_are_decided(tagged_model: Model) -> None:
    decoder = TagDecoder(tagged_model)
    whole, part = decoder.votes(WINDOWS), decoder.votes(WINDOWS, [2, 0, 5, 3])
    assert [len(votes) for votes in part] == [2, 0, 5, 3]
    for some, every in zip(part, whole, strict=True):
        assert [decided(vote) for vote in some] == [decided(vote) for vote in every[: len(some)]]


def decided(vote: Vote) -> tuple[str, str]:
    decision = decide([vote], CombineConfig())
    return decision.marks, decision.case.value


def _by_hand(tagged_model: Model, stop: float, capital: float) -> Model:
    """Every slot a full stop with the one probability, every word a capital with the other."""
    model = replace(tagged_model, tagger=type(tagged_model.tagger)(32, tagged_model.task.marks))
    marks, cases = model.tagger.marks, model.tagger.cases  # type: ignore[union-attr]
    with torch.no_grad():
        for head in (marks, cases):
            head.weight.zero_()
            head.bias.fill_(-30.0)
        marks.bias[[0, 2]] = torch.tensor([math.log(1.0 - stop), math.log(stop)])
        cases.bias[:2] = torch.tensor([math.log(1.0 - capital), math.log(capital)])
    return model


def test_a_capital_that_a_sentence_end_explains_is_taken_back_without_one(tagged_model: Model) -> None:
    model = _by_hand(tagged_model, stop=0.8, capital=0.9)
    first, second = TagDecoder(model).votes([WindowInput.of(["so", "now"])])[0]
    assert first.inside is None
    assert most_probable(second.marks) == "."
    assert tuple(second.cases) == ("lower", "capitalised", "upper")
    assert tuple(second.cases.values()) == pytest.approx((0.1, 0.9, 0.0), abs=1e-5)
    assert second.inside is not None and tuple(second.inside.values()) == pytest.approx((0.5, 0.5, 0.0), abs=1e-5)


@pytest.mark.parametrize(("mark", "text", "expected"), [
    (",", "so turn", "lower"), (",", "so turn's", "lower"), ("-", "so turn", "lower"), (";", "so turn", "lower"),
    (",", "so maria", "capitalised"), ("", "so turn", "capitalised"), (":", "so turn", "capitalised"),
])  # fmt: skip
def test_behind_a_comma_a_small_word_has_no_capital(tagged_model: Model, mark: str, text: str, expected: str) -> None:
    model = replace(_by_hand(tagged_model, stop=0.3, capital=0.9), spellings=SpellingTable(("turn",)))
    with torch.no_grad():
        model.tagger.marks.bias[model.tagger.mark_classes.index(mark)] = 1.0
    (votes,) = TagDecoder(model).votes([WindowInput.of(text.split())])
    assert votes[1].inside is not None and most_probable(votes[1].inside) == expected
    assert most_probable(votes[1].cases) == "capitalised", "where a sentence begins"


def test_a_sentence_end_that_is_a_titles_or_nearly_written_explains_no_capital(tagged_model: Model) -> None:
    model = _by_hand(tagged_model, stop=0.8, capital=0.9)
    votes = TagDecoder(model).votes([WindowInput.of(["Mr", "who", "so", "inc", "we"])])[0]
    assert [vote.inside is None for vote in votes] == [True, True, False, False, False]
    model = _by_hand(tagged_model, stop=0.45, capital=0.55)
    punctuator = Punctuator(model, PunctuatorConfig(decoding=DecodingConfig("tagger"), fragment=True))
    assert [word.text for word in punctuator.annotate("so we go")][1:] == ["we", "go"]


@pytest.mark.parametrize(("capital", "odds", "expected"), [
    (0.1, 1.0, "We. Inc. is. So."), (0.9, 1.0, "We. Inc. Is. So."), (0.9, 1e-6, "We inc is so."),
])  # fmt: skip
def test_a_capital_behind_an_abbreviation(tagged_model: Model, capital: float, odds: float, expected: str) -> None:
    """In texts, and in streams that are resumed at each word.  Without the full stop no sentence begins."""
    decoding = DecodingConfig("tagger", mark_odds={".": odds})
    punctuator = Punctuator(_by_hand(tagged_model, 0.9, capital), PunctuatorConfig(decoding=decoding))
    assert punctuator.punctuate("we inc is so") == expected
    for policy in ("fixed", "sentence", "delay"):
        config = StreamConfig(policy, window=6, lookahead=1, every=1, after=1)
        state, written = StreamState(), list[str]()
        for word in ("we", "inc", "is", "so"):
            stream = StreamingPunctuator(punctuator, config, StreamState.from_json(state.to_json()))
            written += [committed.text for committed in stream.push([word])]
            state = stream.state
        written += [committed.text for committed in StreamingPunctuator(punctuator, config, state).finish()]
        assert " ".join(written) == expected


def test_a_delay_that_an_encoder_cannot_have_is_refused_without_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    punctuator = Punctuator(load("multi", precision="fp32"))  # whose encoder has absolute positions only
    with pytest.raises(ModelError, match="absolute positions only"):
        Streams(punctuator, StreamConfig("delay", lookahead=2))
    with pytest.raises(ModelError, match="absolute positions only"):
        punctuator.with_config(decoding=DecodingConfig("tagger", delay_words=2)).punctuate("how are you")
    assert not caplog.records


def test_a_tagger_decides_streams_and_answers_no_questions(tagged_model: Model, tiny_model: Model) -> None:
    punctuator = Punctuator(tagged_model, PunctuatorConfig(decoding=DecodingConfig("tagger")))
    assert Streams(punctuator, StreamConfig("entropy"))
    with pytest.raises(ConfigError, match="decide classify with the decoder tagger"):
        Streams(punctuator, StreamConfig(decide="classify"))
    with pytest.raises(ConfigError, match=r"has no tagger.*--decoder slots"):
        Punctuator(tiny_model, punctuator.config)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=12), st.integers(0, 12))
def test_of_ends_that_exclude_each_other_the_likelier_stays(slots: list[tuple[float, bool]], cut: int) -> None:
    chances, is_end = [chance for chance, _ in slots], [is_end for _, is_end in slots]
    cut = min(cut, len(slots))
    windows = [range(cut), range(cut, len(slots))]
    doubled = doubled_ends(chances, is_end, list(map(len, windows)))
    kept = [place for place, end in enumerate(is_end) if end and place not in doubled]

    def excluding(place: int) -> list[int]:
        own = next(window for window in windows if place in window)
        return [rival for rival in kept if rival != place and rival in own and abs(rival - place) <= 3
                and chances[rival] + chances[place] <= 1.1]  # fmt: skip

    assert all(is_end[place] for place in doubled) and len({*doubled}) == len(doubled)
    assert all(any(chances[rival] >= chances[place] for rival in excluding(place)) for place in doubled)
    assert not any(map(excluding, kept))


def test_a_sentence_that_may_end_in_two_places_ends_once_unless_slots_cannot_wait(tagged_model: Model) -> None:
    def marks(stop: float, window: WindowInput, config: DecodingConfig | None = None) -> list[str]:
        (votes,) = TagDecoder(_by_hand(tagged_model, stop, capital=0.9), config).votes([window])
        return [most_probable(vote.marks) for vote in votes]

    window = WindowInput.of("so we go on now you".split())
    assert marks(0.54, window) == [".", "", "", "", ".", ""]
    assert marks(0.7, window) == ["."] * 6, "where it is sure"
    closed = WindowInput.of(window.words, [False, *[True] * 5])
    assert marks(0.54, closed) == ["", ".", "", "", "", "."], "no sentence ends where no mark may stand"
    assert marks(0.54, window, DecodingConfig("tagger", delay_words=2)) == ["."] * 6


def test_its_classes_are_found_by_their_marks_and_one_that_lacks_a_mark_stays() -> None:
    tagger, states = Tagger(4, ",.?!"), torch.randn(3, 4)
    narrowed = tagger.of_marks("?,")
    marks, cases = tagger(states)
    other_marks, other_cases = narrowed(states)
    assert narrowed.mark_classes == ("", "?", ",")
    assert torch.allclose(other_marks, marks[:, [0, 3, 1]], atol=1e-6)
    assert torch.equal(other_cases, cases)
    tagger = Tagger(4, ",.")
    assert tagger.of_marks(",.?") is tagger and tagger.of_marks(",.") is tagger
