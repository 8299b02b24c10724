"""A word and a decision -> the word as it is written.

In: a word of the input, and what was decided for it.  Out: the same word with its case and marks.

>>> from .words import split
>>> (word,) = split("right").words
>>> render_word(word, Decision("?", Case.CAPITALISED, 1.0, 1.0), RenderConfig(), Alphabet()).text
'Right?'
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from .marks import NO_LABEL, Alphabet, Case
from .spelling import keeps_letters
from .words import Word


@dataclass(frozen=True)
class RenderConfig:
    """What is written."""

    case: bool = True  # False leaves every letter as the input has it
    keep_case: bool = False  # True leaves the letters of words that have capitals in the input
    keep_marks: bool = False  # True keeps the marks of the input, and adds others in empty slots
    alternatives: int = 0  # how many other labels of a slot are named beside the best


@dataclass(frozen=True, slots=True)
class Alternative:
    """A label that was not chosen, and its probability."""

    label: str
    probability: float


@dataclass(frozen=True, slots=True)
class Decision:
    """The label of a slot and the case of its word, with the probability given to each."""

    label: str
    case: Case
    label_confidence: float
    case_confidence: float
    n_votes: int = 1
    alternatives: tuple[Alternative, ...] = ()  # if they are asked for; the most probable first


@dataclass(frozen=True, slots=True)
class RenderedWord:
    """A word as it is written, with its label and case in the output."""

    text: str
    label: str
    case: Case


@dataclass(frozen=True, slots=True)
class AnnotatedWord:
    """A word of the input and what was decided of it."""

    word: str  # as the input spells it, without marks
    text: str  # as the output writes it, with case and marks
    label: str  # the marks in its slot
    case: str  # a `Case` value
    confidence: float  # the probability of the label
    case_confidence: float
    alternatives: tuple[Alternative, ...] = ()  # if they are asked for

    def as_dict(self) -> dict[str, object]:
        """As json has it; alternatives only if there are some."""
        values = asdict(self)
        return values if self.alternatives else {name: values[name] for name in values if name != "alternatives"}


def render_word(word: Word, decision: Decision, config: RenderConfig, alphabet: Alphabet) -> RenderedWord:
    """One word with its marks, without the space after it."""
    is_kept = keeps_letters(word.core) or word.spelled or (config.keep_case and word.core != word.normal)
    case = decision.case if config.case and not is_kept else Case.VERBATIM
    if config.keep_marks and word.given:
        cut = len(word.text) - word.n_closers  # what stands before the marks
        return RenderedWord(word.written(NO_LABEL, case)[:cut] + word.raw[cut:], word.given, case)
    label = decision.label if word.has_slot else NO_LABEL
    if not label:
        return RenderedWord(word.written(NO_LABEL, case), NO_LABEL, case)
    text = word.written(label, case, alphabet)
    is_shown = text != word.written(NO_LABEL, case) or (word.dotted and label.startswith("."))
    return RenderedWord(text, label if is_shown else NO_LABEL, case)


def written_alternatives(
    word: Word, decision: Decision, config: RenderConfig, alphabet: Alphabet
) -> tuple[Alternative, ...]:
    """The alternatives that can be written after the word; none where its marks are kept."""
    if not decision.alternatives or not word.has_slot or (config.keep_marks and word.given):
        return ()
    found = ((one, replace(decision, label=one.label)) for one in decision.alternatives)
    return tuple(one for one, other in found if render_word(word, other, config, alphabet).label == one.label)
