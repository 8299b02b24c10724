"""Slot classification: one slot asked about at a time, with little right context (docs/design.md).

In: a window, and one of its slots.  Out: the distribution over the slot's marks.

The source has T5's first sentinel after the slot's word (the [PUNCT] token of Minixhofer 2021, in T5's own terms).
`talk: we know that<extra_id_0> right` may be answered `<extra_id_0>,`.  An answer has the form of a window of one
word, the sentinel, so it is written by slot decoding.

Training asks less often about slots without marks than texts have them (they are down-sampled, Minixhofer thesis 2021,
section 4.8), so the model answers with marks too often.  Bayes' rule corrects this: the probability of no mark is
multiplied by `TaskConfig.unmarked_odds` (Saerens 2002, equation 4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..config import check
from ..model import Model
from ..t5.task import SENTINEL
from ..t5.tokenization import TaskTokenizer
from ..text.marks import NO_MARKS, Alphabet, Case
from ..windows.votes import Distribution, normalise
from .candidates import Candidates, Option
from .inputs import DecodingConfig, WindowInput
from .slots import SlotDecoder, SlotRequest


@dataclass(frozen=True, slots=True)
class Question:
    """A window, and the word whose slot is asked about."""

    window: WindowInput
    slot: int


class SlotClassifier:
    """Answers questions with a model that was trained for them."""

    def __init__(self, model: Model, config: DecodingConfig | None = None) -> None:
        """Raises ConfigError for a model that does not know the task."""
        check(
            model.task.classifies, f"{model.name}, which was not trained to classify slots",
            expected="a model whose t5punct.yaml says classifies: true", fix="decide by seq2seq",
        )  # fmt: skip
        self._model = model
        self._config = config or DecodingConfig()
        answers = _Answers(model.tokenizer, self._config.alphabet(model.task), self._config.odds(model.task))
        self._decoder = SlotDecoder(model, self._config, answers)

    def decode(self, questions: Sequence[Question]) -> list[Distribution]:
        """Return the distribution over the marks of each question's slot, in order."""
        requests = list[SlotRequest]()
        for question in questions:
            window = question.window
            source = self._model.tokenizer.source(window.words, self._config.style, question.slot, window.pauses)
            answer = WindowInput((SENTINEL,), (SENTINEL,), has_slot=(window.has_slot[question.slot],))
            requests.append(SlotRequest(answer, source, guessed_at=(source.word_ends[question.slot],)))
        distributions = list[Distribution]()
        for votes in self._decoder.solve(requests):
            marks = dict(votes[0].marks)  # of the slot behind the answer's only word, the sentinel
            if NO_MARKS in marks:  # slots have no mark more often in texts than in questions
                marks[NO_MARKS] *= self._model.task.unmarked_odds
            distributions.append(normalise(marks))
        return distributions


class _Answers(Candidates):
    """What may be written in an answer: the sentinel, marks, the end."""

    def __init__(self, tokenizer: TaskTokenizer, alphabet: Alphabet, mark_odds: Mapping[str, float]) -> None:
        super().__init__(tokenizer, alphabet, mark_odds)
        self._sentinel = Option((tokenizer.sentinel_id,), case=Case.VERBATIM)

    def _forms(self, word: str, first: bool) -> list[Option]:
        return [self._sentinel]
