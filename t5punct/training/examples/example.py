"""Training examples: chunks of a prepared data set, encoded on demand.

A row with the source `we know right` and the target `We know, right?` usually becomes just this window.  Some rows get
errors or disfluencies, and some become questions about one slot (see `DataConfig`).  The same index in the same epoch
gives the same example in every process.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from torch.utils.data import Dataset

from ...config import check
from ...t5.delay import NOBODY, token_words
from ...t5.tagger import TAGGED_CASES
from ...t5.task import inline_case_of
from ...t5.tokenization import Source, TaskTokenizer
from ...text.marks import DISFLUENT, NO_MARKS, ends_sentence
from ...text.words import split
from ..config import DataConfig
from ..data.chunks import count_tokens, without_pauses
from ..labels import Labels, WordLabel
from .disfluencies import ChunkWord, add_disfluencies, add_noise, sign_natural_disfluencies
from .history import IGNORED, draw_marks, make_history

_COUNTED_EXAMPLES = 4000  # to estimate how often slots have no mark
_KEPT_UNMARKED = 0.3  # how often a question stays at a drawn slot without marks; else it moves to a marked slot
_DRAWN_HISTORIES = 0.5  # with a teacher, the share of examples whose decoder reads marks that are drawn from its labels
_SILENCE_KNOWN = 0.5  # how often a question shows the silence after its last word


@dataclass(frozen=True, slots=True)
class Example:
    """One encoded example; IGNORED stands where nothing is decided, or asked for."""

    source: tuple[int, ...]  # tokens
    target: tuple[int, ...]  # with decoder_ids and next_word_ids: see `History`
    next_word_ids: tuple[int, ...]
    word_ends: tuple[int, ...]  # of each word, the index of its last token in the source
    marks: tuple[int, ...]  # of each word, the class of its first mark: 0 for none, else 1 + its index in `slot_marks`
    cases: tuple[int, ...]  # of each word, the index of its case in `TAGGED_CASES`
    token_words: tuple[int, ...]  # of each source token, its word (see `delay`); NOBODY in questions
    decoder_ids: tuple[int, ...]
    teacher_codes: tuple[bytes, ...] = ()  # with a teacher: of each word its code (see `labels`), b"" without a label
    openings: tuple[int, ...] = ()  # of each word, the class of its opening mark; empty for a task without any
    slot_starts: tuple[int, ...] = ()  # with a teacher: see `History`


class ChunkExamples(Dataset[Example]):
    """A prepared data set, encoded on demand."""

    def __init__(
        self, rows: Any, tokenizer: TaskTokenizer, config: DataConfig | None = None, seed: int = 1,
        labels: Labels | None = None, lengths: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        """labels: a teacher's, of these rows; lengths: of each row in source tokens, None to count them.

        Raises ConfigError for a style that the task does not have, and if `data.styles` leaves no chunk.
        """
        self.rows = rows
        self.tokenizer = tokenizer
        self.config = config or DataConfig()
        self.seed = seed
        self.labels = labels
        self.epoch = 0  # every epoch has other errors
        styles = rows["style"][:]
        known_styles = tokenizer.task.styles
        for style in sorted({*styles, *self.config.styles}):
            expected = f"one of {', '.join(known_styles)}"
            check(style in known_styles, f"style {style!r}", expected=expected, fix="check the data")
        self.chunks = list[int]()  # the row of each example
        for index, style in enumerate(styles):
            times = self.config.styles.get(style, 1.0)
            fraction = times % 1  # of it, chance decides once for all epochs
            comes_again = fraction and random.Random(f"times {seed} {index}").random() < fraction
            self.chunks += [index] * (int(times) + bool(comes_again))
        mistake = "data.styles that leaves nothing"
        check(self.chunks or not styles, mistake, expected="some style above 0", fix="set data.styles")
        # in tokens before errors and disfluencies; in words, a chunk of long numbers would blow up a batch
        lengths = count_tokens(rows, tokenizer, self.config.workers) if lengths is None else lengths
        n_sentinels = int(bool(self.config.questions.share))  # a question has one
        self.lengths = [lengths[index] + n_sentinels for index in self.chunks]

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: int) -> Example:
        row = self.rows[self.chunks[index]]
        rng = random.Random(f"example {self.seed} {self.epoch} {index}")
        words = self._words(row, None if self.labels is None else self.labels.of_chunk(self.chunks[index]))
        if any(word.pause for word in words) and rng.random() < self.config.silent_share:
            words = [replace(word, pause=0) for word in words]
        if rng.random() < self.config.noise.share:
            others = self._words(self.rows[rng.randrange(len(self.rows))])
            # words that do not begin sentences; in each chunk frequent words come often
            inside = [word for before, word in pairwise(others) if not ends_sentence(before.marks)] or others
            words = add_noise(words, self.config.noise, rng, lambda: rng.choice(inside))
        words = self._with_disfluencies(words, rng)
        words, source = self._fitting(words, row["style"])
        if rng.random() < self.config.questions.share:
            return self._question(words, row["style"], rng)
        task = self.tokenizer.task
        marks = [word.marks for word in words]
        openings = [word.opening for word in words]
        forms = [word.form if task.cased else word.form.lower() for word in words]
        teacher_codes: tuple[bytes, ...] = ()
        if self.labels is not None:
            # none of a word that noise has put in or changed
            teacher_codes = tuple(
                word.label.code
                if word.label and (word.form, word.marks) == (word.label.form, word.label.marks)
                else b""
                for word in words
            )
        read_marks = marks
        if teacher_codes and rng.random() < _DRAWN_HISTORIES:
            read_marks = draw_marks(marks, teacher_codes, task.slot_marks, rng)
        history = make_history(self.tokenizer, forms, marks, openings, read_marks)
        return Example(
            source=source.ids,
            target=history.target,
            next_word_ids=history.next_word_ids,
            word_ends=source.word_ends,
            marks=tuple(1 + task.slot_marks.index(of_word[0]) if of_word else 0 for of_word in marks),
            cases=tuple(TAGGED_CASES.index(inline_case_of(form)) for form in forms),
            token_words=token_words(source),
            decoder_ids=history.decoder_ids,
            teacher_codes=teacher_codes,
            openings=tuple(1 + task.opening.find(mark) if mark else 0 for mark in openings) if task.opening else (),
            slot_starts=history.slot_starts if teacher_codes else (),
        )

    def unmarked_odds(self) -> float:
        """Return an estimate of the odds of no mark in the data, divided by its odds in questions about the data."""
        n_slots = n_unmarked = n_asked = n_asked_unmarked = 0
        for index in self.chunks[:: max(1, len(self) // _COUNTED_EXAMPLES)]:
            words = self._words(self.rows[index])
            question = self._question(words, self.rows[index]["style"], random.Random(f"odds {index}"))
            n_asked += 1
            n_slots += len(words)
            n_unmarked += sum(not word.marks for word in words)
            n_asked_unmarked += question.target == self.tokenizer.answer(NO_MARKS)
        if not 0 < n_unmarked < n_slots or not 0 < n_asked_unmarked < n_asked:
            return 1.0  # the data are too few to tell
        return n_unmarked / (n_slots - n_unmarked) * (n_asked - n_asked_unmarked) / n_asked_unmarked

    def _words(self, row: Any, codes: Sequence[bytes] | None = None) -> list[ChunkWord]:
        """Return the words of a chunk, with the teacher's codes of each if there are any."""
        alphabet = self.tokenizer.task.alphabet  # the data may have more marks than the task
        words, pauses = without_pauses(row["source"])
        chunk_words = list[ChunkWord]()
        for index, (read, word, pause) in enumerate(zip(words, split(row["target"]).words, pauses, strict=True)):
            form = word.with_opening(NO_MARKS).text
            marks = alphabet.marks_in(word.marks)
            label = None if codes is None else WordLabel(codes[index], form, marks)
            chunk_words.append(ChunkWord(read, form, marks, pause, label, word.opening))
        return chunk_words

    def _with_disfluencies(self, words: list[ChunkWord], rng: random.Random) -> list[ChunkWord]:
        """Return a chunk with disfluencies, if chance has it, and with signs, also of natural ones."""
        config = self.config.disfluencies
        sign = NO_MARKS
        if config.marked and rng.random() < config.marked:
            sign = DISFLUENT
            words = sign_natural_disfluencies(words)
        if config.share and rng.random() < config.share:
            needs_others = config.rates["repair"] or config.rates["restart"]
            other_words = self._words(self.rows[rng.randrange(len(self.rows))]) if needs_others else ()
            words = add_disfluencies(words, config, rng, other_words, sign)
        return words

    def _fitting(self, words: list[ChunkWord], style: str) -> tuple[list[ChunkWord], Source]:
        """Return the words that fit into the model, whose positions may be limited, and their source."""
        source = self._source(words, style)
        longest = self.tokenizer.task.max_tokens
        if len(source.ids) + 1 <= longest:  # with the sentinel, if it becomes a question
            return words, source
        # a text up to a word has `end + 1` tokens; behind it may come a sentinel, a silence and the end
        n_fitting = sum(end + 1 + 3 <= longest for end in source.word_ends)
        words = words[: max(1, n_fitting)]
        return words, self._source(words, style)

    def _source(self, words: Sequence[ChunkWord], style: str, slot: int | None = None) -> Source:
        return self.tokenizer.source([word.read for word in words], style, slot, [word.pause for word in words])

    def _question(self, words: Sequence[ChunkWord], style: str, rng: random.Random) -> Example:
        """Return a question about one slot of a chunk, which ends a few words later (Minixhofer 2021, section 3.2)."""
        questions = self.config.questions
        lookahead = min(rng.randint(0, questions.l_max), len(words) - 1)
        slots = range(len(words) - lookahead)
        slot = rng.choice(slots)
        marked = [index for index in slots if words[index].marks]
        if not words[slot].marks and marked and rng.random() >= _KEPT_UNMARKED:
            slot = rng.choice(marked)
        heard = [*words[: slot + lookahead + 1]]
        # a silence is known when the next word begins, or when a stream is flushed during it
        if rng.random() >= _SILENCE_KNOWN:
            heard[-1] = replace(heard[-1], pause=0)
        source = self._source(heard, style, slot)
        ignored = (IGNORED,) * len(source.word_ends)
        answer = self.tokenizer.answer(words[slot].marks)
        return Example(
            source=source.ids,
            target=answer,
            next_word_ids=(IGNORED, *(self.tokenizer.eos_id,) * (len(answer) - 1)),
            word_ends=source.word_ends,
            marks=ignored,
            cases=ignored,
            token_words=(NOBODY,) * len(source.ids),
            decoder_ids=answer,
            openings=ignored if self.tokenizer.task.opening else (),
        )
