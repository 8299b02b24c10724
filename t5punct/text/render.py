"""A word as it is written, with the case and marks that were decided.

In: a word of the input, and its `Decision`.  Out: an `AnnotatedWord`; without text if it is disfluent and removed.

>>> from .words import split
>>> (word,) = split("right").words
>>> render_word(word, Decision("?", Case.CAPITALISED, 1.0, 1.0), RenderConfig(), Alphabet()).text
'Right?'
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..config import check, check_range
from .marks import (
    DASH,
    DISFLUENT,
    NO_MARKS,
    OPENING,
    OTHER_SCRIPTS,
    Alphabet,
    Case,
    apply_case,
    case_of,
    ends_sentence,
)
from .spelling import is_spoken, keeps_letters
from .spelling_table import NO_SPELLINGS, SpellingTable
from .words import Word

KEEP, MARK, REMOVE = DISFLUENCIES = ("keep", "mark", "remove")
_OF_NAMES = (Case.LOWER, Case.CAPITALISED)
# chosen on 22,257 words of talk and prose as `small` writes them: 12 become right, 6 wrong
_SURE, _SURE_BEHIND_UNSURE = 0.8, 0.72  # chances of a case
_LINKS = ";:-"  # marks that are stronger than a comma and end no sentence


@dataclass(frozen=True)
class RenderConfig:
    """What is written, and what of the input is kept."""

    case: bool = True  # False leaves the input's capitals and small letters unchanged
    keep_case: bool = False  # True leaves the letters of words that have capitals in the input
    keep_marks: bool = False  # True keeps the marks of the input, and adds others in empty slots
    alternatives: int = 0  # how many other marks of a slot are named beside the best
    # disfluent words, which a careful editor leaves out: `keep` them, `mark` them with a sign, or `remove` them
    disfluencies: str = KEEP
    marks: bool = True  # False writes capitals only, and no marks but those that are kept

    def __post_init__(self) -> None:
        fix = "drop --no-case or --marks"
        check(self.marks or self.case, "neither marks nor capitals", expected="one of them", fix=fix)
        check_range(self, "alternatives", least=0)
        named = f"disfluencies {self.disfluencies!r}"
        choices = ", ".join(DISFLUENCIES)
        check(self.disfluencies in DISFLUENCIES, named, expected=f"one of {choices}", fix="check --disfluencies")
        check(
            self.disfluencies == KEEP or not self.keep_marks, f"{named} with the marks of the input kept",
            expected="marks that are decided anew", fix="drop --keep-marks or --disfluencies",
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Alternative:
    """Marks of a slot that were not chosen, and their probability."""

    marks: str
    probability: float


@dataclass(frozen=True, slots=True)
class Decision:
    """The marks of a slot and the case of its word, with the probability given to each."""

    marks: str
    case: Case
    confidence: float
    case_confidence: float
    alternatives: tuple[Alternative, ...] = ()  # if they are asked for; the most probable first
    disfluent: bool = False  # whether a careful editor leaves the word out
    opening: str | None = None  # the mark before the word: `¿`, `¡` or empty; None: the input's opening mark stays
    ends_quote: bool = False  # whether the quotes at the word's end close a whole sentence; its marks stand inside them


def fit_opening(decision: Decision, opened: str, *, ends: bool) -> Decision:
    """Return a decision that fits an opened sentence: it is opened once, and `¿` is closed by `?`.

    opened: the mark that opened it at an earlier word, or that the input has before this one.  ends: whether the
    sentence ends with the word.
    """
    opening = decision.opening
    if opened and opening:
        opening = NO_MARKS
    closing = OPENING.get(opened or opening or NO_MARKS)  # what the sentence has to end in; None: it is not opened
    marks = decision.marks
    if closing and ends and ends_sentence(marks) and closing not in marks:
        last_end = max(index for index, mark in enumerate(marks) if ends_sentence(mark))
        marks = marks[:last_end] + closing + marks[last_end + 1 :]
    return replace(decision, marks=marks, opening=opening)


def unsure_case(decision: Decision) -> Case | None:
    """Return the case of a word if another was nearly as likely and no mark stands behind it, else None."""
    is_unsure = decision.case in _OF_NAMES and decision.case_confidence < _SURE and not decision.marks
    return decision.case if is_unsure else None


def agree_with_unsure(decision: Decision, before: Case | None) -> Decision:
    """Return a decision that takes the case of the word before it, `before`, if both cases are unsure.

    They are one name or none: neither `town Hall` nor `Town hall`.
    """
    if before is None or before is decision.case or decision.case not in _OF_NAMES:
        return decision
    if decision.case_confidence >= _SURE_BEHIND_UNSURE:
        return decision
    return replace(decision, case=before, case_confidence=1.0 - decision.case_confidence)


def write_only(decision: Decision, allowed: str) -> Decision:
    """Return a decision without marks that may not be written; `¿` needs `?` to be `allowed`.

    Where no mark is left, an end of a sentence becomes a full stop, and other marks a comma, if these may be written.

    >>> [write_only(Decision(marks, Case.LOWER, 1.0, 1.0), ",.?").marks for marks in ("?!", "!", ";")]
    ['?', '.', ',']
    """
    marks = "".join(mark for mark in decision.marks if mark in allowed)
    if decision.marks and not marks:
        plain = "." if ends_sentence(decision.marks) else ","
        marks = next((mark for mark in allowed if OTHER_SCRIPTS.get(mark, mark) == plain), NO_MARKS)
    opening = decision.opening
    if opening and OPENING[opening] not in allowed:
        opening = NO_MARKS
    rivals = tuple(rival for rival in decision.alternatives if {*rival.marks} <= {*allowed})
    return replace(decision, marks=marks, opening=opening, alternatives=rivals)


@dataclass(frozen=True, slots=True)
class AnnotatedWord:
    """A word of the input and what was decided of it."""

    word: str  # as the input spells it, without marks
    text: str  # as the output writes it, with case and marks
    marks: str  # those in its slot; json calls them its label
    case: str  # a `Case` value
    confidence: float  # the probability of the marks
    case_confidence: float
    alternatives: tuple[Alternative, ...] = ()  # if they are asked for
    disfluent: bool | None = None  # None if nobody asked; one that was removed has no text

    @property
    def is_removed(self) -> bool:
        return not self.text

    def as_dict(self) -> dict[str, object]:
        """Return the json of the word; alternatives only if there are some, disfluencies only if they are asked for."""
        values: dict[str, object] = {
            "word": self.word,
            "text": self.text,
            "label": self.marks,
            "case": self.case,
            "confidence": self.confidence,
            "case_confidence": self.case_confidence,
        }
        if self.alternatives:
            rivals = [{"label": rival.marks, "probability": rival.probability} for rival in self.alternatives]
            values["alternatives"] = rivals
        if self.disfluent is not None:
            values["disfluent"] = self.disfluent
        return values


def render_word(
    word: Word,
    decision: Decision,
    config: RenderConfig,
    alphabet: Alphabet,
    spellings: SpellingTable = NO_SPELLINGS,
) -> AnnotatedWord:
    """Return one word with its marks, without the space after it.

    A disfluent word has its sign before the marks (`um~,`), or is empty if such words are removed.
    """
    text, marks, case = _written(word, decision, config, alphabet, spellings)
    is_kept = config.keep_marks and bool(word.given)
    alternatives = list[Alternative]()
    if word.takes_marks and not is_kept:
        for rival in decision.alternatives:
            _, rival_marks, _ = _written(word, replace(decision, marks=rival.marks), config, alphabet, spellings)
            if rival_marks == rival.marks:  # else they cannot be written after the word
                alternatives.append(rival)
    return AnnotatedWord(
        word.text,
        text,
        marks,
        case.value,
        confidence=1.0 if is_kept else decision.confidence,
        case_confidence=1.0 if case is Case.VERBATIM else decision.case_confidence,
        alternatives=tuple(alternatives),
        disfluent=None if config.disfluencies == KEEP else decision.disfluent,
    )


def _written(
    word: Word, decision: Decision, config: RenderConfig, alphabet: Alphabet, spellings: SpellingTable
) -> tuple[str, str, Case]:
    """Return the word as it is written, and its marks and case there."""
    if decision.disfluent and config.disfluencies == REMOVE:
        return "", NO_MARKS, Case.VERBATIM
    keeps_opening = config.keep_marks and word.opening
    if decision.opening is not None and word.takes_marks and not keeps_opening:
        opened = word.with_opening(decision.opening if config.marks else NO_MARKS)
        word = replace(opened, raw=opened.text[: opened.n_stem] + word.raw[word.n_stem :])  # marks that it keeps stay
    core = word.core
    is_phrase = word.is_abbreviated and word.dotted  # `z. B.`
    keeps_capitals = config.keep_case and core != word.normal
    case = Case.VERBATIM
    if config.case and not (keeps_letters(core) or is_phrase or word.spelled or keeps_capitals):
        case = decision.case
        is_mixed = case_of(core) is Case.VERBATIM and core[1:] != core[1:].lower()
        if spellings.forms and not is_mixed:  # mixed case of the input stays; `O'neil` has a capital at its begin
            cased = apply_case(core, case)
            form = spellings.spell(cased)
            if form != cased:
                start = word.text.find(core)
                word = replace(word, text=word.text[:start] + form + word.text[start + len(core) :])
                case = case_of(form)
    if config.keep_marks and word.given:
        stem = word.stem(case)
        tail = word.raw[word.n_stem :]  # marks and closing quotes
        has_mark_twice = word.spelled and tail and (word.dotted or stem.endswith(tail[0]))
        if has_mark_twice:  # what a user spells is the whole word, with a mark of its own
            tail = tail[1:]
        return stem + tail, word.given, case
    sign = DISFLUENT if decision.disfluent and config.disfluencies == MARK else ""
    marks = sign + (decision.marks if config.marks else NO_MARKS)
    # no dash behind a dash (`wh- - what`), nor behind a symbol: at the start of a line, `# -` would be a heading
    has_dash_too_many = DASH in marks and (word.text.endswith(("-", "–", "—")) or not is_spoken(word.text))
    if not word.takes_marks or has_dash_too_many:
        marks = NO_MARKS
    if decision.ends_quote:
        word = word.with_quotes_behind()
    without_marks = word.with_marks(NO_MARKS, case)
    if not marks:
        return without_marks, NO_MARKS, case
    text = word.with_marks(marks, case, alphabet.signed if sign else alphabet)
    # marks that cannot be written leave the word as it is; but the first full stop may be the word's own
    is_shown = text != without_marks or (word.dotted and marks.startswith("."))
    return text, marks.removeprefix(sign) if is_shown else NO_MARKS, case


def move_marks_of_removed_words(decisions: Iterable[Decision]) -> list[Decision]:
    """Move the marks of disfluent words, which will be removed, to the last word that stays, if they are stronger.

    A comma is removed with its word, which it set off: `the, um, house`.
    """
    moved = list[Decision]()
    last: int | None = None  # the index of the last word that stays
    for decision in decisions:
        if not decision.disfluent:
            last = len(moved)
        elif last is not None and _strength(decision.marks) > _strength(moved[last].marks):  # not a comma
            moved[last] = replace(moved[last], marks=decision.marks, confidence=decision.confidence)
        moved.append(decision)
    return moved


def _strength(marks: str) -> int:
    """Return how much marks separate: a comma no more than nothing, then `;:-`, then the ends of sentences."""
    return 2 if ends_sentence(marks) else int(any(mark in _LINKS for mark in marks))
