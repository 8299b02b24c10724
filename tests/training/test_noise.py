import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t5punct.errors import ConfigError
from t5punct.training.examples.noise import NoiseConfig, Written, add_noise

SENTENCES = [
    Written("we", "We", ""),
    Written("met", "met", ""),
    Written("anna", "Anna", ","),
    Written("she", "she", ""),
    Written("left", "left", "."),
    Written("then", "Then", ""),
    Written("why", "why", "?!"),
]
OF = Written("of", "of", ",", pause=1)  # its label and pause stay where it comes from
NEVER = {"share": 1.0, "substitute": 0.0, "delete": 0.0, "insert": 0.0}


def shares(**values: float) -> NoiseConfig:
    return NoiseConfig(**{**NEVER, **values})


def test_without_errors_words_stay() -> None:
    assert add_noise(SENTENCES, shares(), random.Random(1), lambda: OF) == SENTENCES


def test_a_substitute_takes_the_label_and_the_capital_of_a_sentence_but_not_of_a_name() -> None:
    heard = add_noise(SENTENCES, shares(substitute=1.0), random.Random(1), lambda: OF)
    assert [word.form for word in heard] == ["Of", "of", "of", "of", "of", "Of", "of"]
    assert [word.label for word in heard] == [word.label for word in SENTENCES]
    assert {word.read for word in heard} == {"of"}


def test_an_insertion_stands_behind_a_word_without_marks() -> None:
    heard = add_noise(SENTENCES, shares(insert=1.0), random.Random(1), lambda: OF)
    assert " ".join(word.form + word.label for word in heard) == "We of met of Anna, she of left. Then of why?!"


def test_a_lost_words_marks_go_to_the_word_before_and_its_capital_to_the_next() -> None:
    def without(place: int) -> str:
        class Fate(random.Random):
            calls = -1

            def random(self) -> float:  # the first draw for each word is its fate, the second its insertion
                self.calls += 1
                return 0.0 if self.calls == place else 1.0

        heard = add_noise(SENTENCES, shares(delete=0.5), Fate(), lambda: OF)
        return " ".join(word.form + word.label for word in heard)

    assert without(0) == "Met Anna, she left. Then why?!"
    assert without(4) == "We met, she left. Then why?!"  # words with a label draw once only
    assert without(5) == "We met Anna, left. Then why?!"
    assert without(7) == "We met Anna, she. Then why?!"
    assert without(8) == "We met Anna, she left. Why?!"


def test_a_lost_word_takes_no_sentence_end_with_it() -> None:
    words = [
        Written("well", "Well", ","),
        Written("yes", "yes", "."),
        Written("we", "We", ""),
        Written("go", "go", "."),
    ]

    class Fate(random.Random):
        fates = iter((1.0, 0.0, 1.0, 1.0, 1.0))

        def random(self) -> float:
            return next(self.fates)

    heard = add_noise(words, shares(delete=0.5), Fate(), lambda: OF)
    assert " ".join(word.form + word.label for word in heard) == "Well. We go."


@given(st.integers(0, 10_000), st.floats(0, 0.5), st.floats(0, 0.5), st.floats(0, 1))
def test_a_chunk_never_becomes_empty_and_reads_as_it_is_written(
    seed: int, substitute: float, delete: float, insert: float
) -> None:
    config = NoiseConfig(1.0, substitute, delete, insert)
    for words in (SENTENCES, SENTENCES[:1], SENTENCES[:2]):
        heard = add_noise(words, config, random.Random(seed), lambda: OF)
        assert heard
        assert all(word.form.lower() == word.read for word in heard)
        assert not any(word.pause for word in heard)
        assert heard == add_noise(words, config, random.Random(seed), lambda: OF)


def test_errors_are_as_frequent_as_asked() -> None:
    rng, config, counts = random.Random(1), NoiseConfig(1.0, 0.05, 0.03, 0.03), Counter[str]()
    words = [Written("a", "a", "")] * 50
    for _ in range(200):
        heard = add_noise(words, config, rng, lambda: Written("b", "b", "!", pause=1))
        counts["new"] += sum(word.read == "b" for word in heard)
        counts["old"] += sum(word.read == "a" for word in heard)
    assert 0.06 < counts["new"] / 10_000 < 0.10  # 5 % exchanged, 3 % put in
    assert 0.90 < counts["old"] / 10_000 < 0.94  # 5 % exchanged, 3 % lost


@pytest.mark.parametrize("values", [{"share": 1.5}, {"delete": -0.1}, {"substitute": 0.6, "delete": 0.6}])
def test_shares_are_checked(values: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="substitute and delete together"):
        NoiseConfig(**values)
