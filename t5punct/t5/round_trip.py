"""Whether words and marks survive a tokenizer: what is read back from their tokens is what was written.

In: a tokenizer, seen through the task, and words of the text that a model is to learn from.  Out: a `RoundTrip`.

T5's own vocabulary has no `{`, mT5's has: `round_trip(t5, ["{x}"]).lost_words` is `("{x}",)`.  A mark that is lost can
never be written.  A word that is lost still comes out as it went in, since a model only writes what stands between
words; but it is read as an unknown word.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import ModelError
from .task import mark_token
from .tokenization import TaskTokenizer

_CASE_WORDS = 50  # so many say whether a tokenizer knows capitals


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """What a tokenizer does not give back."""

    lost_marks: tuple[str, ...]
    loses_case: bool  # the task writes capitals, and the tokenizer has none
    n_words: int  # different ones
    lost_words: tuple[str, ...]

    @property
    def lost_share(self) -> float:
        """Of the different words, those that are lost, 0 to 1."""
        return len(self.lost_words) / max(1, self.n_words)


def round_trip(tokenizer: TaskTokenizer, words: Iterable[str]) -> RoundTrip:
    """Check all marks of the task, its capitals, and these words as a model reads them.

    Raises ModelError for a tokenizer that writes marks and words as one piece.
    """
    known, task = dict.fromkeys(words), tokenizer.task
    lost = tuple(word for word in known if not _gives_word_back(tokenizer, word))
    gone = set(lost)
    kept = [word for word in known if word not in gone and word.capitalize() != word][:_CASE_WORDS]
    writes_case = task.cased and not task.inline_case
    loses_case = writes_case and all(tokenizer.word_ids(word) == tokenizer.word_ids(word.capitalize()) for word in kept)
    return RoundTrip(
        tuple(mark for mark in task.marks if not _gives_mark_back(tokenizer, mark)),
        loses_case and bool(kept),
        len(known),
        lost,
    )


def check_marks(result: RoundTrip, name: str) -> None:
    """Raise ModelError for what a model with this tokenizer could never write."""
    if result.lost_marks:
        raise ModelError(
            f"the tokenizer of {name} has no {' '.join(result.lost_marks)}",
            expected="one that gives back every mark of the task",
            fix="set task.marks to the others, or take an mT5, umT5 or byT5",
        )
    if result.loses_case:
        raise ModelError(
            f"the tokenizer of {name} has no capitals",
            expected="one that has, for a task that writes them",
            fix="set task.cased=false and prepare with cased=false",
        )


def _gives_word_back(tokenizer: TaskTokenizer, word: str) -> bool:
    ids = tokenizer.word_ids(word, first=True)
    return tokenizer.tokenizer.unk_token_id not in ids and tokenizer.decode(ids).strip() == word


def _gives_mark_back(tokenizer: TaskTokenizer, mark: str) -> bool:
    ids = tokenizer.mark_ids[mark]
    if not ids or tokenizer.tokenizer.unk_token_id in ids:
        return False
    return str(tokenizer.tokenizer.decode(list(ids))).strip() in (mark, mark_token(mark))
