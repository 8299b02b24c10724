"""Slot classification: one slot asked about at a time, with little right context (DESIGN, section 4).

In: a window, and one of its slots.  Out: the distribution over the slot's labels.

The source carries T5's first sentinel behind the slot's word; the answer is the sentinel and the label (the [PUNCT]
token of Minixhofer 2021, in T5's own terms).  `talk: we know that<extra_id_0> right` may be answered `<extra_id_0>,`.
An answer has the form of a window of one word, the sentinel, so it is written by slot decoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import ConfigError
from ..marks import Alphabet, Case
from ..model import Model
from ..tokenization import SENTINEL, TaskTokenizer
from ..votes import Distribution
from .candidates import Candidates, Option
from .inputs import DecodingConfig, WindowInput
from .slots import SlotDecoder, Writing


@dataclass(frozen=True, slots=True)
class Question:
    """A window, and the word whose slot is asked about."""

    window: WindowInput
    slot: int


class SlotClassifier:
    """Answers questions with a model that was trained for them."""

    def __init__(self, model: Model, config: DecodingConfig | None = None) -> None:
        """Raises ConfigError for a model that does not know the task."""
        if not model.task.classifies:
            raise ConfigError(
                f"{model.name}, which was not trained to classify slots",
                expected="a model whose t5punct.yaml says classifies: true",
                fix="decide by seq2seq",
            )
        self._model, self._config = model, config or DecodingConfig()
        answers = _Answers(model.tokenizer, self._config.alphabet(model.task))
        self._decoder = SlotDecoder(model, self._config, answers)

    def decode(self, questions: Sequence[Question]) -> list[Distribution]:
        """The distribution over labels of each question's slot, in order."""
        return [solution.votes[0].labels for solution in self._decoder.write([self._writing(one) for one in questions])]

    def _writing(self, question: Question) -> Writing:
        source = question.window.source(self._model.tokenizer, self._config.style, asked=question.slot)
        has_slot = (question.window.has_slot[question.slot],)
        return Writing(WindowInput((SENTINEL,), (SENTINEL,), has_slot), source, (source.word_ends[question.slot],))


class _Answers(Candidates):
    """What may be written in an answer: the sentinel, marks, the end."""

    def __init__(self, tokenizer: TaskTokenizer, alphabet: Alphabet) -> None:
        super().__init__(tokenizer, alphabet)
        self._sentinel = Option((tokenizer.sentinel_id,), case=Case.VERBATIM)

    def _forms(self, word: str, first: bool) -> list[Option]:
        return [self._sentinel]
