"""Words and marks <-> the tokens of a T5, in the same way for training and decoding.

In: normalised words, word forms, marks.  Out: token ids, with the places of words in them.
Each word and each mark is tokenised by itself, and the tokens of a text are those of its parts in a row.

There are two text forms.  In the first, capitals are written: `talk: we know</s>` becomes `We know?!</s>`.  In the
second (`inline_case`; Bérard 2019, Etchegoyhen 2020), a case token stands before the word's lower-case tokens:
`<talk> we know [SEP]` becomes `<^> we know <?> <!> [SEP]`.  Its tokenizer has separate tokens for styles, marks and
case.  An opening mark that has a token stands before its word: `<¿> <^> qué <?> [SEP]`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from ..errors import ModelError
from ..text.marks import DASH, DISFLUENT, NO_MARKS, Case, apply_case
from ..text.words import split
from .task import CASE_TOKENS, N_SENTINELS, PAUSES, SENTINEL, TaskConfig, inline_case_of, task_token

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from .inference import PieceTokenizer

_KEPT_WORDS = 200_000  # bounds memory; far above any document's vocabulary
_CONTINUES = "##"  # what WordPiece writes before a piece that does not begin a word
_GLUE_PIECES = frozenset("'’-./")  # inside words at which WordPiece splits
_SPACES = "▁Ġ"  # how sentencepiece and byte-level BPE write the space before a word
_CARRIER = "a"  # a word that marks are attached to when we ask for their tokens


@dataclass(frozen=True, slots=True)
class Source:
    """An encoder input.  `word_ends[i]` is the index in `ids` of word i's last token; a prefix is before all words."""

    ids: tuple[int, ...]
    word_ends: tuple[int, ...]
    n_prefix: int = 0  # tokens


@dataclass(slots=True)
class _SpelledWord:
    """A word that is read back from tokens: ids of its letters, its case, and the marks around it."""

    ids: list[int]
    case: Case
    opening: str
    marks: str = NO_MARKS


class TaskTokenizer:
    """A T5 tokenizer seen through the task: words, marks, styles."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase | PieceTokenizer, task: TaskConfig) -> None:
        self.tokenizer: Any = tokenizer
        self.task = task
        pad_id, eos_id = tokenizer.pad_token_id, tokenizer.eos_token_id
        if pad_id is None or eos_id is None:
            raise ModelError("a tokenizer without pad or end token", expected="a T5 tokenizer", fix="pick a T5 folder")
        self.pad_id, self.eos_id = int(pad_id), int(eos_id)
        self._words: dict[str, tuple[int, ...]] = {}
        self._encode: Callable[[str], list[int]] = partial(self.tokenizer.encode, add_special_tokens=False)
        # a mark is tokenised as one behind a word: `a?` is encoded, and the tokens of `a` are removed
        self._carrier = self._encode(_CARRIER)
        self._reserved = frozenset((*tokenizer.all_special_ids, *self.task_ids))  # ids that no word's text may become

    @cached_property
    def mark_ids(self) -> dict[str, tuple[int, ...]]:
        """The tokens of each mark when it follows a word; those of the dash include its space."""
        marks: dict[str, tuple[int, ...]] = {}
        if self.task.disfluencies:  # as a character it may be unknown, or part of words
            marks[DISFLUENT] = (self._special(task_token(DISFLUENT)),)
        for mark in self.task.marks:
            row = self._row(task_token(mark))
            if row is not None:
                marks[mark] = (row,)
                continue
            written = f"{_CARRIER} {DASH}" if mark == DASH else _CARRIER + mark
            marks[mark] = self._behind_carrier(written)
        return marks

    def word_ids(self, word: str, first: bool = False) -> tuple[int, ...]:
        """Return the tokens of a word form, at least one; `first`: whether it begins the text, with no space before."""
        key = word if first else " " + word
        ids = self._words.get(key)
        if ids is None:
            pieces = self._encode(word) if first else self._behind_carrier(_CARRIER + key)
            # a tokenizer may drop a word, or read it as a special token: then it becomes the unknown token
            unknown = self.eos_id if self.tokenizer.unk_token_id is None else int(self.tokenizer.unk_token_id)
            ids = tuple(unknown if piece in self._reserved else piece for piece in pieces) or (unknown,)
            if len(self._words) >= _KEPT_WORDS:
                self._words.clear()
            self._words[key] = ids
        return ids

    @cached_property
    def case_ids(self) -> dict[Case, tuple[int, ...]]:
        """With inline casing, the tokens before a word in each case.  Raises ModelError if the tokenizer has none."""
        return {Case.LOWER: ()} | {case: (self._special(token),) for case, token in CASE_TOKENS.items()}

    @cached_property
    def opening_ids(self) -> dict[str, int]:
        """The token of each opening mark; empty if the tokenizer lacks one: then the decoder writes none of them."""
        rows = {mark: self._row(task_token(mark)) for mark in self.task.opening}
        known = {mark: row for mark, row in rows.items() if row is not None}
        return known if len(known) == len(rows) else {}

    def form_ids(self, form: str, first: bool = False, opening: str = NO_MARKS) -> tuple[int, ...]:
        """Return the tokens that write a word form, behind its opening mark if the decoder writes those."""
        before = (self.opening_ids[opening],) if opening in self.opening_ids else ()
        if not self.task.inline_case:
            return before + self.word_ids(form, first)
        return before + self.case_ids[inline_case_of(form)] + self.word_ids(form.lower(), first)

    @cached_property
    def sentinel_id(self) -> int:
        """The token `SENTINEL`.  Raises ModelError if there is none."""
        return self._special(SENTINEL)

    @cached_property
    def task_ids(self) -> tuple[int, ...]:
        """The task's own tokens that the tokenizer has: styles, marks, case, sentinels."""
        marks = self.task.slot_marks + self.task.opening
        names = (*map(task_token, self.task.styles), *map(task_token, marks), *CASE_TOKENS.values())
        sentinels = (f"<extra_id_{number}>" for number in range(N_SENTINELS))
        rows = {self._row(name) for name in (*names, *sentinels)}
        return tuple(sorted(row for row in rows if row is not None))

    @cached_property
    def deciding_ids(self) -> tuple[int, ...] | None:
        """The tokens of marks, opening marks and case: wherever one of them is possible, the next word is as well.

        None for a task in which capitals are written in the words, or a mark has several tokens.
        """
        marks = self.mark_ids.values()
        if (self.task.cased and not self.task.inline_case) or any(len(ids) > 1 for ids in marks):
            return None
        cases = self.case_ids.values() if self.task.cased else ()
        return (*(number for ids in (*marks, *cases) for number in ids), *self.opening_ids.values())

    @cached_property
    def pause_ids(self) -> tuple[int, ...]:
        """The tokens of silences that the task has, the shortest first.  Raises ModelError for a missing token."""
        return tuple(self._special(token) for token, _ in zip(PAUSES, self.task.pauses_ms, strict=False))

    def source(
        self, words: Sequence[str], style: str | None = None, asked: int | None = None, pauses: Sequence[int] = ()
    ) -> Source:
        """Return the encoder input of a window: prefix, words, end.

        asked: the index of the word behind which the sentinel stands.  pauses: for each word, how many lengths of
        `task.pauses_ms` the silence behind it reaches, 0 for none; the token of the longest of them is added.
        """
        ids = [*self._encode(self.task.prefix_for(style).strip())]
        n_prefix = len(ids)
        ends = []
        for index, word in enumerate(words):
            ids += self.word_ids(word, first=not ids)
            ends.append(len(ids) - 1)
            if index == asked:
                ids.append(self.sentinel_id)
            if pauses and pauses[index] and self.pause_ids:
                n_reached = min(pauses[index], len(self.pause_ids))
                ids.append(self.pause_ids[n_reached - 1])
        return Source((*ids, self.eos_id), tuple(ends), n_prefix)

    def target(self, forms: Sequence[str], marks: Sequence[str], openings: Sequence[str] = ()) -> tuple[int, ...]:
        """Return the decoder output of a window: each word form followed by its marks, then end.

        In training `make_history` (`training/examples/example.py`) builds the same, with marks that the model may read.
        openings: the opening mark before each word, or none; left out if the decoder writes no opening marks.
        """
        ids: list[int] = []
        for index, form in enumerate(forms):
            ids += self.form_ids(form, index == 0, openings[index] if openings else NO_MARKS)
            for mark in marks[index]:
                ids += self.mark_ids[mark]
        return (*ids, self.eos_id)

    def answer(self, marks: str) -> tuple[int, ...]:
        """Return the decoder output of a window with a sentinel: the sentinel, the marks of its slot, end."""
        return (self.sentinel_id, *(token for mark in marks for token in self.mark_ids[mark]), self.eos_id)

    def encode_target(self, text: str) -> tuple[int, ...]:
        """Return the decoder output of a canonical target text, such as a data set holds."""
        words = split(text, self.task.alphabet).words
        forms = [word.with_opening(NO_MARKS).text for word in words]
        return self.target(forms, [word.marks for word in words], [word.opening for word in words])

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of generated ids; special tokens and the sign of disfluent words are left out."""
        if self.task.disfluencies:
            sign = self.mark_ids[DISFLUENT]
            ids = [number for number in ids if number not in sign]
        has_mark_tokens = self._row(task_token(self.task.marks[0])) is not None  # for all marks, or for none
        if not has_mark_tokens:
            return str(self.tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False))
        return self._spell(ids)

    def _spell(self, ids: Sequence[int]) -> str:
        """Return the text of ids where marks and case have their own tokens: join pieces, set case, add marks."""
        marks = {row[0]: mark for mark, row in self.mark_ids.items()}
        openings = {row: mark for mark, row in self.opening_ids.items()}
        cases = {row[0]: case for case, row in self.case_ids.items() if row} if self.task.inline_case else {}
        special = set(self.tokenizer.all_special_ids)
        words = list[_SpelledWord]()
        next_case = Case.LOWER  # of the next word
        next_opening = NO_MARKS  # before it
        last_piece = ""  # of the current word; empty if the word has one piece
        second_word = self._behind_carrier(f"{_CARRIER} {_CARRIER}")  # its pieces, behind another word
        space = str(self.tokenizer.convert_ids_to_tokens(second_word[:1])[0])[0]
        begins_words = space in _SPACES  # else WordPiece marks the other pieces of a word: `##`
        for number, piece in zip(ids, self.tokenizer.convert_ids_to_tokens(list(ids)), strict=True):
            if begins_words:
                goes_on = not piece.startswith(space)
            else:
                goes_on = last_piece in _GLUE_PIECES or piece.startswith(_CONTINUES) or piece in _GLUE_PIECES
            if number in special:
                continue
            if number in marks:
                if words:
                    words[-1].marks += marks[number]
            elif number in openings:
                next_opening = openings[number]
            elif number in cases:
                next_case = cases[number]
            elif goes_on and words and not (words[-1].marks or next_opening):  # behind marks there is a new word
                words[-1].ids.append(number)
                last_piece = piece
            else:
                words.append(_SpelledWord([number], next_case, next_opening))
                next_case = Case.LOWER
                next_opening = NO_MARKS
                last_piece = ""  # nothing is glued behind a word's first piece
        written = list[str]()
        for word in words:
            if begins_words:
                text = str(self.tokenizer.decode(word.ids, clean_up_tokenization_spaces=False)).strip()
            else:  # `decode` of a WordPiece tokenizer would write `don ' t`
                pieces = self.tokenizer.convert_ids_to_tokens(word.ids)
                text = "".join(piece.removeprefix(_CONTINUES) for piece in pieces)
            written.append(self.task.alphabet.spell(word.opening + apply_case(text, word.case), word.marks))
        return " ".join(written)

    def _row(self, token: str) -> int | None:
        """Return the id of a token, if the tokenizer has it."""
        number = self.tokenizer.convert_tokens_to_ids(token)
        return None if number is None or number == self.tokenizer.unk_token_id else int(number)

    def _special(self, token: str) -> int:
        number = self._row(token)
        if number is None:
            raise ModelError(f"a tokenizer without {token}", expected="a T5 tokenizer", fix="pick a T5 folder")
        return number

    def _behind_carrier(self, text: str) -> tuple[int, ...]:
        """Return the tokens of a text that begins with the carrier word, without those of the carrier.

        Raises ModelError if the tokenizer joins the carrier with what follows.
        """
        ids = self._encode(text)
        if ids[: len(self._carrier)] != self._carrier:
            mistake = f"a tokenizer that writes {text!r} as one piece"
            expected = "words and marks in pieces of their own"
            raise ModelError(mistake, expected=expected, fix="use a T5, mT5, umT5 or byT5 tokenizer")
        return tuple(ids[len(self._carrier) :])
