"""Before the first step: whether data, tokenizer and model suit each other.

In: a model, and the examples of a data set, encoded with its tokenizer.  Out: warnings, a line each; an error for what
could never be learned.

Of Russian text and T5's own vocabulary, which has no Cyrillic, a warning is "t5-small: 97.3 % of the different words do
not survive the tokenizer's round trip (да, как, ...) and are read as unknown ones; ...".  A mark that is lost can never
be written.  A word that is lost still comes out as it went in, since a model only writes what stands between words; but
it is read as an unknown word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ... import model as models
from ...errors import ConfigError, ModelError
from ...t5.task import PAUSES, TaskConfig, mark_token
from ...t5.tokenization import TaskTokenizer
from ..config import TrainConfig
from ..data.prepare import PrepareConfig
from ..examples.example import ChunkExamples

_SAMPLED_CHUNKS = 300  # `prepare` has shuffled them
_SAID_FROM = 0.01  # of the different words: names and emoji of any text are lost to some vocabularies
_NAMED = 5  # words, at most
_LONG_FROM = 0.01  # of the chunks
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


def check_suitable(examples: ChunkExamples, name: str) -> tuple[str, ...]:
    """Return warnings for a model called `name` that is to be trained on some examples.

    Raises ModelError if a mark or the capitals of its task are lost in its tokenizer.
    """
    sources = examples.rows[: min(_SAMPLED_CHUNKS, len(examples.rows))]["source"]
    words = (word for source in sources for word in source.split() if word not in PAUSES)
    result = round_trip(examples.tokenizer, words)
    check_marks(result, name)
    return (*_lost_words(result, name), *_long_chunks(examples))


def check_tokenizer(config: TrainConfig, model: models.Model) -> None:
    """Refuse another tokenizer beside `init_from`, for which its embeddings would mean nothing."""
    if config.tokenizer is None:
        return
    if not models.same_tokenizer(model.tokenizer, models.load_tokenizer(config.tokenizer, model.task)):
        raise ConfigError(
            f"tokenizer {config.tokenizer}, which is not that of init_from {config.init_from}",
            expected="the tokenizer that the model was trained with",
            fix="drop tokenizer: it is for random weights",
        )


def check_case(path: str, prepared: PrepareConfig | None, task: TaskConfig) -> None:
    """Refuse data without capitals for a model that writes them; data with capitals serves every model."""
    if task.cased and prepared and not prepared.cased:
        raise ConfigError(
            f"{path} prepared without capitals, for a task with them",
            expected="both with or both without",
            fix="set task.cased=false or prepare with cased=true",
        )


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


def _lost_words(result: RoundTrip, name: str) -> Iterator[str]:
    if result.lost_share < _SAID_FROM:
        return
    named = ", ".join([*result.lost_words[:_NAMED], *["..."] * (len(result.lost_words) > _NAMED)])
    yield (
        f"{name}: {100 * result.lost_share:.1f} % of the different words do not survive the tokenizer's round trip "
        f"({named}): they come out as they go in, but the model reads unknown ones; expected a tokenizer for this "
        "language; take an mT5, umT5 or byT5 if these are many"
    )


def _long_chunks(examples: ChunkExamples) -> Iterator[str]:
    limit = examples.tokenizer.task.max_tokens
    n_long = sum(length > limit for length in examples.lengths)
    if n_long > _LONG_FROM * len(examples):
        yield (
            f"{100 * n_long / len(examples):.1f} % of the chunks have more than {limit} tokens, the most that a model "
            "reads at once; prepare with tokenizer=MODEL, or with a smaller chunks.max_words"
        )
