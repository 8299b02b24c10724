"""The text form of the task: marks, styles, case, and the tokens that a tokenizer may have for them.

In: YAML and dotted overrides, or a model's `t5punct.yaml`.  Out: a `TaskConfig`.

>>> TaskConfig().prefix_for("chat"), TaskConfig(prefix="<{style}>").prefix_for(None), task_token(",")
('chat: ', '<talk>', '<,>')
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ..config import check, check_choice, check_range
from ..errors import ConfigError
from ..text.marks import DISFLUENT, NO_MARKS, OPENING, Alphabet, Case, capitalise, case_of

SENTINEL = "<extra_id_0>"  # marks the slot that is asked about
N_SENTINELS = 100  # <extra_id_0> ... <extra_id_99> (Raffel 2020, section 3.1.4)
# stand after a word that a silence follows: a short one, or a long one
PAUSES = ("<extra_id_1>", "<extra_id_2>")
# with inline casing, the token before a word's lower-case tokens; a lower-case word has none
CASE_TOKENS = {Case.CAPITALISED: "<^>", Case.UPPER: "<^^>"}


@dataclass(frozen=True)
class TaskConfig:
    """What the model reads and writes; it is saved with every model, as `t5punct.yaml`."""

    marks: str = ",.?!:;-"  # those that may stand in a slot, the place behind a word
    max_marks: int = 3  # of one slot, as in `...`
    # for some styles, the most marks instead of `max_marks`: in lectures nobody wants `...`
    style_max_marks: dict[str, int] = field(default_factory=dict)
    opening: str = ""  # the opening marks, `¿¡`: they stand before a word
    max_tokens: int = 512  # of a window's source, end included (T5's pre-training length); long words are cut to fit
    classifies: bool = False  # whether it can be asked about one slot at a time (`decide=classify`)
    # factors of a mark's odds against no mark: {",": 2} writes more commas; 1 for a mark that is not named
    mark_odds: dict[str, float] = field(default_factory=dict)
    # the styles in which the tagger decides unless a decoder is named, as the T5's own decides no better there
    tagged_styles: list[str] = field(default_factory=list)
    unmarked_odds: float = 1.0  # odds of no mark in texts, divided by those in training's questions
    delay_left_words: int | None = None  # words that a layer sees to the left, if trained with a delay; else null
    delay_layers: list[int] = field(default_factory=list)  # with a delay, those that look ahead
    pause_ms: int | None = None  # the shortest silence that the model is told of, milliseconds; null: of none
    long_pause_ms: int | None = None  # the shortest that it is told of as a long one; null: all are alike
    disfluencies: bool = False  # whether it marks words that a careful editor leaves out
    cased: bool = True  # false: writes everything in lower case
    inline_case: bool = False  # capitals are written as a token before the word; the tokenizer must have it
    # kinds of text; the model is told which one it reads
    styles: list[str] = field(default_factory=lambda: ["talk", "meeting", "prose", "chat"])
    default_style: str = "talk"  # if the user names none
    prefix: str = "{style}: "  # what stands before the words that the model reads; `{style}` is the style

    def __post_init__(self) -> None:
        Alphabet(self.marks, self.max_marks)  # raises ConfigError if they are wrong
        check_range(self, "max_tokens", "delay_left_words", least=1)
        expected = f"marks without {DISFLUENT}, the sign of disfluent words"
        check(DISFLUENT not in self.marks, f"marks {self.marks!r}", expected=expected, fix="set marks")
        are_openings = set(self.opening) <= set(OPENING) and len(set(self.opening)) == len(self.opening)
        expected = f"some of {''.join(OPENING)}"
        check(are_openings, f"opening {self.opening!r}", expected=expected, fix="set opening")
        check_odds(self.mark_odds, self.slot_marks)
        is_odds = 0.0 < self.unmarked_odds < math.inf
        check(is_odds, f"unmarked_odds {self.unmarked_odds}", expected="above 0", fix="set unmarked_odds")
        _ = self.pauses_ms  # raises ConfigError if they are wrong
        check_choice(self, "default_style", self.styles)
        styles = ", ".join(self.styles)
        unknown = {*self.tagged_styles} - {*self.styles}
        mistake = f"tagged_styles {', '.join(sorted(unknown))}"
        check(not unknown, mistake, expected=f"some of {styles}", fix="set tagged_styles")
        for style, longest in self.style_max_marks.items():
            check(
                style in self.styles and 1 <= longest <= self.max_marks, f"style_max_marks {style}: {longest}",
                expected=f"some of {styles}, each with 1 to {self.max_marks}", fix="check style_max_marks",
            )  # fmt: skip
        try:
            self.prefix.format(style=self.default_style)
        except (LookupError, ValueError, AttributeError, TypeError) as error:  # {foo}, a lone brace, {style.foo}
            expected = "text, with or without {style} in it"
            raise ConfigError(f"prefix {self.prefix!r}", expected=expected, fix="correct the prefix") from error

    @cached_property
    def alphabet(self) -> Alphabet:
        return Alphabet(self.marks, self.max_marks)

    @property
    def pauses_ms(self) -> tuple[int, ...]:
        """The shortest silence, in milliseconds, of each token in `PAUSES`; a longer silence has the later token."""
        return checked_pauses(self.pause_ms, self.long_pause_ms)

    @property
    def slot_marks(self) -> str:
        """All that a slot may hold: the marks of texts, and, if the model knows disfluencies, their sign."""
        return self.marks + DISFLUENT * self.disfluencies

    @property
    def mark_classes(self) -> tuple[str, ...]:
        """The classes of a slot, by its first mark: no mark, then each mark, in the tagger's order."""
        return (NO_MARKS, *self.slot_marks)

    def style_or_default(self, style: str | None) -> str:
        """Return a style; None takes the default.  Raises ConfigError for an unknown one."""
        style = style or self.default_style
        expected = f"one of {', '.join(self.styles)}"
        check(style in self.styles, f"style {style!r}", expected=expected, fix="name one of these")
        return style

    def prefix_for(self, style: str | None) -> str:
        """Return the source prefix of a style; None takes the default.  Raises ConfigError for an unknown style."""
        return self.prefix.format(style=self.style_or_default(style))


def task_token(name: str) -> str:
    """Return the token of a mark or a style, in a tokenizer that has one: `<,>`, `<talk>`."""
    return f"<{name}>"


def inline_case_of(form: str) -> Case:
    """Return the case of a word form with inline casing, which has three cases.

    >>> [inline_case_of(form).value for form in ("I", "NASA", "McDonald", "iPhone", "3dB")]
    ['capitalised', 'upper', 'capitalised', 'lower', 'lower']
    """
    case = case_of(form)
    if case is not Case.VERBATIM:
        return case
    begins_small = next((char.islower() for char in form if char.lower() != char.upper()), True)
    return Case.LOWER if begins_small or capitalise(form) != form else Case.CAPITALISED


def checked_pauses(pause_ms: int | None, long_pause_ms: int | None) -> tuple[int, ...]:
    """Return the silences that have tokens: of (280, 900) both, of (None, None) none.  Raises ConfigError."""
    lengths_ms = tuple(length_ms for length_ms in (pause_ms, long_pause_ms) if length_ms is not None)
    is_possible = list(lengths_ms) == sorted({*lengths_ms}) and (pause_ms is not None or long_pause_ms is None)
    check(
        is_possible and min(lengths_ms, default=1) >= 1, f"pause_ms {pause_ms} and long_pause_ms {long_pause_ms}",
        expected="1 <= pause_ms < long_pause_ms, or null for none", fix="set pause_ms and long_pause_ms",
    )  # fmt: skip
    return lengths_ms


def silence_tokens(pause: int) -> tuple[str, ...]:
    """Return the tokens that stand in a text for a silence: one, or none for 0."""
    return PAUSES[:pause][-1:]


def check_odds(odds: Mapping[str, float], marks: str | None = None) -> None:
    """Raise ConfigError for odds that are not positive numbers, or for something that is not a mark."""
    expected = f"marks of {marks!r}" if marks else "marks"
    for mark, value in odds.items():
        check(
            0.0 < value < math.inf and (marks is None or mark in set(marks)), f"mark odds {mark!r}: {value}",
            expected=f"{expected}, each with a number above 0", fix="check the mark odds",
        )  # fmt: skip
