"""Words and decisions -> text.

In: the input's words, a decision for each.  Out: the same words with marks between and case on them.

>>> from .words import split
>>> yes = Decision("?", Case.CAPITALISED, 1.0, 1.0)
>>> render(split("right").words, [yes], RenderConfig())
'Right?'
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .marks import NO_LABEL, Alphabet, Case
from .votes import Decision
from .words import Word


@dataclass(frozen=True)
class RenderConfig:
    """What is written."""

    case: bool = True  # False leaves every letter as the input has it
    keep_marks: bool = False  # True keeps the marks that the input brought, and adds others in empty slots


@dataclass(frozen=True, slots=True)
class RenderedWord:
    """A word as it is written, with the label and case that stand in the output."""

    text: str
    label: str
    case: Case


def render_word(word: Word, decision: Decision, config: RenderConfig, alphabet: Alphabet) -> RenderedWord:
    """One word with its marks, without the space behind it."""
    case = decision.case if config.case else Case.VERBATIM
    if config.keep_marks and word.label:
        cut = len(word.text) - word.n_closers  # what stands before the marks
        return RenderedWord(word.written(NO_LABEL, case)[:cut] + word.raw[cut:], word.label, case)
    label = decision.label if word.has_slot else NO_LABEL
    text = word.written(label, case, alphabet)
    return RenderedWord(text, NO_LABEL if text == word.written(NO_LABEL, case) else label, case)


def pieces(
    words: Iterable[Word], decisions: Iterable[Decision], config: RenderConfig, alphabet: Alphabet | None = None
) -> Iterator[str]:
    """The output text word by word, each with the white space of the input behind it."""
    alphabet = alphabet or Alphabet()
    for word, decision in zip(words, decisions, strict=True):
        yield render_word(word, decision, config, alphabet).text + word.space


def render(
    words: Iterable[Word], decisions: Iterable[Decision], config: RenderConfig, alphabet: Alphabet | None = None
) -> str:
    """The output text."""
    return "".join(pieces(words, decisions, config, alphabet))
