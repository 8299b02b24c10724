"""A punctuator that decides what it was told to."""

from collections.abc import Iterable
from itertools import cycle

from t5punct.model import Model
from t5punct.punctuator import Punctuator, PunctuatorConfig, SentencePosition
from t5punct.text.marks import case_of
from t5punct.text.render import Decision
from t5punct.text.words import Word, split


class Scripted(Punctuator):
    """Decides as in a text, word after word, again from its beginning; `heard` are the words it was asked about."""

    def __init__(self, model: Model, output: str, config: PunctuatorConfig | None = None) -> None:
        super().__init__(model, config)
        self.script = cycle(split(output).words)
        self.heard: list[str] = []

    def decide_words(
        self, words: Iterable[Word], votes_of_slots: object, sentence: SentencePosition
    ) -> tuple[list[Decision], SentencePosition]:
        decisions = []
        for word in words:
            self.heard.append(word.text)
            told = next(self.script)
            decisions.append(Decision(told.marks, case_of(told.text), 1.0, 1.0))
        return decisions, sentence
