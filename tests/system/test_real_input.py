"""The bundled model on what people really give it: words are kept whatever comes, and habits of input do no harm."""

from pathlib import Path

import pytest

from t5punct.punctuator import Punctuator
from t5punct.text.render import RenderConfig
from t5punct.text.words import split

LECTURE = (Path(__file__).parents[1] / "data" / "lecture.txt").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def punctuator() -> Punctuator:
    return Punctuator.from_pretrained("small", precision="fp32")


def _words(text: str) -> list[str]:
    """The words, however they are written."""
    return [word.text.lower() for word in split(text).words]


def _marks(text: str) -> list[str]:
    return [word.marks for word in split(text).words]


def test_capitals_of_the_input_change_nothing_and_marks_are_predicted_anew_or_kept(punctuator: Punctuator) -> None:
    plain = punctuator.punctuate(LECTURE)
    assert punctuator.punctuate(LECTURE.upper()) == plain
    assert punctuator.punctuate(LECTURE.title()) == plain
    assert punctuator.punctuate(plain) == plain
    keeping = punctuator.with_config(render=RenderConfig(keep_marks=True))
    odd = "so we; know that... they left (all of them) and then? we said no"
    kept = keeping.punctuate(odd)
    assert _words(kept) == _words(odd)
    assert all(new == old for old, new in zip(_marks(odd), _marks(kept), strict=True) if old)


def test_a_long_text_has_the_marks_of_its_parts(punctuator: Punctuator) -> None:
    """The lecture four times over, some 1,000 words: inside, each copy is punctuated as the one before."""
    copy = LECTURE.strip() + "\n"
    n_words = len(_words(copy))
    marks = _marks(punctuator.punctuate(4 * copy))
    assert len(marks) == 4 * n_words
    pairs = [(marks[place], marks[place + n_words]) for place in range(2 * n_words)]
    marked = [mark == other for mark, other in pairs if mark or other]
    assert len(marked) > 2 * n_words / 20
    assert sum(marked) > 0.8 * len(marked), "windows fall differently, so some differ"
