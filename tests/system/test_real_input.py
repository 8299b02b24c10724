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


REAL = {
    "fillers and repetitions": "um so i i think uh that that we you know we should er go no no no",
    "numbers": "in 1953 it cost $3.50 or 10,000 a day that is 20% of 1,234.5 on 3/4 at 10:30 for the 2nd time",
    "names and addresses": "dr. o'neil of the u.s. met jean-luc and j. r. r. tolkien at https://example.org/a?b=c&d=e#f",
    "one word": "yes",
    "Hungarian and German": "jó reggelt kívánok ma az alvásról fogok beszélni guten morgen ich heiße maria straße",
    "Chinese": "大家早上好 我叫玛丽亚 今天我想谈谈睡眠",
    "Arabic": "صباح الخير اسمي ماريا وأريد أن أتحدث اليوم عن النوم",
    "emoji and garbage": "so 🙂🙂 → ™ ½ \u200b ok asdf " + "x" * 3000 + " \u0001\u0002 ]]>]]> {{{ ;;; ,,, -- zxcv",
    "code": "if (a<b) { return a+=b; } else x = y[0];",
}  # fmt: skip


@pytest.mark.parametrize("name", REAL)
def test_words_are_kept_whatever_comes(punctuator: Punctuator, name: str) -> None:
    for text in (REAL[name], REAL[name].upper()):
        assert _words(punctuator.punctuate(text)) == _words(text)
        annotated = punctuator.annotate(text)
        assert [word.word for word in annotated] == [word.text for word in split(text).words]
