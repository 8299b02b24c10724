"""One rule of capitals for every policy: after a committed sentence end, and nowhere else for that reason."""

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from t5punct.errors import InputError
from t5punct.model import Model
from t5punct.punctuator import Punctuator, PunctuatorConfig
from t5punct.streaming import StreamConfig, StreamingPunctuator, Streams, StreamState, TimedWord
from t5punct.streaming.deciding import Look
from t5punct.text.render import RenderConfig
from t5punct.windows.votes import Vote

POLICIES = [
    StreamConfig(window=5, lookahead=2), StreamConfig("entropy", window=6, l_min=1, l_max=3, thresholds=[2.2]),
    StreamConfig("sentence", window=6, every=2, after=1), StreamConfig("fixed", "classify", window=5, lookahead=2),
]  # fmt: skip
WORDS = st.lists(st.sampled_from(["we", "know", "that", "no", "how", "-", "🙂"]), min_size=1, max_size=14)


class Fickle:
    """Says of each slot what a script says, and sees a sentence end before the first slot asked for at each look.

    So the case of that word is the one that it would have there.
    """

    def __init__(self, labels: dict[str, str]) -> None:
        self._labels = labels

    def votes(self, looks: Sequence[Look]) -> list[tuple[Vote, ...]]:
        return [tuple(self._vote(look, place) for place in look.slots) for look in looks]

    def _vote(self, look: Look, place: int) -> Vote:
        label = {self._labels.get(look.view.words[place].text, ""): 1.0}
        lower, capital = {"lower": 1.0}, {"capitalised": 1.0}
        return Vote(label, capital, inside=lower) if place == look.slots.start else Vote(label, lower)


class Silent:
    """Says nothing but what is known without a model."""

    def __init__(self, punctuator: Punctuator) -> None:
        self._known = punctuator.apply_known

    def votes(self, looks: Sequence[Look]) -> list[tuple[Vote, ...]]:
        nothing = Vote({"": 1.0}, {"lower": 1.0})
        return [tuple(self._known(look.view, place, nothing) for place in look.slots) for look in looks]


def said_by(streams: Streams, words: Sequence[str | TimedWord]) -> str:
    """What a new stream writes of some words."""
    (step,) = streams.push([StreamState()], [words])
    (last,) = streams.finish([step.state])
    return " ".join(word.text for word in (*step.committed, *last.committed))


@pytest.mark.parametrize("config", POLICIES)
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(WORDS, st.booleans())
def test_after_an_end_is_a_capital(lively_model: Model, config: StreamConfig, words: list[str], silent: bool) -> None:
    stream = StreamingPunctuator(Punctuator(lively_model.with_task(classifies=True)), config)
    first, silence = stream.push(words[:5]), stream.flush() if silent else ()
    committed = [*first, *silence, *stream.push(words[5:]), *stream.finish()]
    begins = True
    for word in committed:
        spoken = word.annotated.word.isalpha()
        if spoken and begins:
            assert word.text[0].isupper()
        if spoken or set(word.annotated.marks) & set(".?!"):
            begins = bool(set(word.annotated.marks) & set(".?!"))


@pytest.mark.parametrize("config", POLICIES[:3])
def test_a_capital_of_a_sentence_beginning_is_not_written_elsewhere(tiny_model: Model, config: StreamConfig) -> None:
    streams = Streams(Punctuator(tiny_model), config, Fickle({"math": "."}))
    said = "portfolios and math we know how it is with them and us now".split()
    assert said_by(streams, said) == "Portfolios and math. We know how it is with them and us now"


def test_a_silence_and_a_kept_full_stop_end_the_sentence_and_that_of_an_abbreviation_does_not(
    tiny_model: Model,
) -> None:
    words = [TimedWord("biology", 0, 200), TimedWord("the", 2000, 2100), TimedWord("next", 2100, 2200)]
    for fragment, text in ((False, "Biology. The next."), (True, "biology the next")):
        punctuator = Punctuator(tiny_model, PunctuatorConfig(fragment=fragment))
        streams = Streams(punctuator, StreamConfig(max_delay_ms=1000), Silent(punctuator))
        assert said_by(streams, words) == text
    keeping = Punctuator(tiny_model, PunctuatorConfig(render=RenderConfig(keep_marks=True)))
    stream = StreamingPunctuator(keeping, StreamConfig(lookahead=1))
    committed = [*stream.push("so. that, vs. them? we 12. of".split()), *stream.finish()]
    starts = [word.text[0].isupper() for word in committed]
    assert (starts[0], starts[1], starts[4]) == (True, True, True)
    assert committed[5].annotated.marks == ".", "no item of a list: it opens no line"


def test_what_is_provisional_may_go_on(lively_model: Model) -> None:
    stream = StreamingPunctuator(Punctuator(lively_model), StreamConfig(lookahead=4))
    stream.push(["we", "know"])
    labels = [word.marks for word in stream.provisional()]
    fragment = StreamingPunctuator(Punctuator(lively_model, PunctuatorConfig(fragment=True)), StreamConfig(lookahead=4))
    fragment.push(["we", "know"])
    assert labels == [word.marks for word in fragment.provisional()]


@pytest.mark.parametrize("words", [None, b"we know", [b"we"], [None], [["we"]], 5, ["\ud800"]])
def test_what_are_no_words_is_refused(tiny_model: Model, words: object) -> None:
    with pytest.raises(InputError, match="expected"):
        StreamingPunctuator(Punctuator(tiny_model)).push(words)  # type: ignore[arg-type]


def test_bytes_that_are_no_utf_8_come_out_as_they_went_in(tiny_model: Model) -> None:
    stream = StreamingPunctuator(Punctuator(tiny_model), StreamConfig(lookahead=1))
    word = b"caf\xe9".decode("utf-8", "surrogateescape")
    stream.push([word])
    resumed = StreamState.from_json(stream.state.to_json().encode().decode())
    assert resumed == stream.state
    assert [slot.annotated.word for slot in [*stream.push(["is"]), *stream.finish()]] == [word, "is"]
