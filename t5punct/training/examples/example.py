"""Training examples: chunks of a prepared data set, encoded on demand.

A row with the source `we know right` and the target `We know, right?` usually becomes just this window.  Some rows get
errors or disfluencies, and some become questions about one slot (see `DataConfig`).  The same index in the same epoch
gives the same example in every process.
"""

from __future__ import annotations

import hashlib
import os
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from torch.utils.data import Dataset

from ...config import check
from ...t5.delay import NOBODY, token_words
from ...t5.tagger import TAGGED_CASES
from ...t5.task import PAUSES, inline_case_of
from ...t5.tokenization import Source, TaskTokenizer
from ...text.marks import DISFLUENT, NO_MARKS, Case, capitalise, ends_sentence
from ...text.spelling import is_first_person
from ...text.words import split
from ..config import DataConfig
from ..labels import WEIGHTS, Labels, WordLabel
from .disfluencies import ChunkWord, add_disfluencies, add_noise, sign_natural_disfluencies

IGNORED = -100  # where nothing is decided, or asked for: losses leave it out
_COUNTED_EXAMPLES = 4000  # to estimate how often slots have no mark
_KEPT_UNMARKED = 0.3  # how often a question stays at a drawn slot without marks; else it moves to a marked slot
_DRAWN_HISTORIES = 0.5  # with a teacher, the share of examples whose decoder reads marks that are drawn from its labels
_SILENCE_KNOWN = 0.5  # how often a question shows the silence after its last word


@dataclass(frozen=True, slots=True)
class Example:
    """One encoded example; IGNORED stands where nothing is decided, or asked for."""

    input_ids: tuple[int, ...]  # tokens of the source
    targets: tuple[int, ...]  # with decoder_ids and next_word_ids: see `History`
    next_word_ids: tuple[int, ...]
    word_ends: tuple[int, ...]  # of each word, the index of its last token in the source
    marks: tuple[int, ...]  # of each word, the class of its first mark: an index in `TaskConfig.mark_classes`
    cases: tuple[int, ...]  # of each word, the index of its case in `TAGGED_CASES`
    token_words: tuple[int, ...]  # of each source token, its word (see `delay`); NOBODY in questions
    decoder_ids: tuple[int, ...]
    openings: tuple[int, ...]  # of each word, the class of its opening mark
    slot_starts: tuple[int, ...]  # see `History`
    teacher_codes: tuple[bytes, ...] = ()  # with a teacher: of each word its code (see `labels`), b"" without a label


class ChunkExamples(Dataset[Example]):
    """A prepared data set, encoded on demand.

    labels: a teacher's, of these rows.  Raises ConfigError for a style that the task does not have, and if
    `data.styles` leaves no chunk.
    """

    def __init__(
        self, rows: Any, tokenizer: TaskTokenizer, config: DataConfig | None = None, seed: int = 1,
        labels: Labels | None = None,
    ) -> None:  # fmt: skip
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
        lengths = count_tokens(rows, tokenizer, self.config.workers)
        n_sentinels = int(bool(self.config.questions.share))  # a question has one
        self.lengths = [lengths[index] + n_sentinels for index in self.chunks]

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: int) -> Example:
        """Return an example as it is in this epoch: chance decides what is changed in its words, and what is asked."""
        row = self.rows[self.chunks[index]]
        rng = random.Random(f"example {self.seed} {self.epoch} {index}")
        labels = None if self.labels is None else self.labels.of_chunk(self.chunks[index])
        words = self._changed_by_chance(self._words(row, labels), rng)
        words, source = self._fitting(words, row["style"])
        if rng.random() < self.config.questions.share:
            return self._question(words, row["style"], rng)
        return self._window(words, source, rng)

    def _window(self, words: Sequence[ChunkWord], source: Source, rng: random.Random) -> Example:
        """Return the example that asks for all marks and cases of a chunk; source: the encoder's input of its words."""
        task = self.tokenizer.task
        mark_classes = task.mark_classes
        marks = [word.marks for word in words]
        openings = [word.opening for word in words]
        forms = [word.form if task.cased else word.form.lower() for word in words]
        teacher_codes = tuple(word.label.code_of(word.form, word.marks) if word.label else b"" for word in words)
        read_marks = marks  # the marks that the decoder reads; it is always asked for the text's
        if self.labels is not None and rng.random() < _DRAWN_HISTORIES:
            read_marks = draw_marks(marks, teacher_codes, mark_classes, rng)
        history = make_history(self.tokenizer, forms, marks, openings, read_marks)
        return Example(
            input_ids=source.ids,
            targets=history.targets,
            next_word_ids=history.next_word_ids,
            word_ends=source.word_ends,
            marks=tuple(mark_classes.index(of_slot[:1]) for of_slot in marks),
            cases=tuple(TAGGED_CASES.index(inline_case_of(form)) for form in forms),
            token_words=token_words(source),
            decoder_ids=history.decoder_ids,
            openings=tuple(1 + task.opening.find(mark) if mark else 0 for mark in openings),
            slot_starts=history.slot_starts,
            teacher_codes=teacher_codes,
        )

    def _changed_by_chance(self, words: list[ChunkWord], rng: random.Random) -> list[ChunkWord]:
        """Return words without their silences, with a recogniser's errors, and with disfluencies, or some of these."""
        if any(word.pause for word in words) and rng.random() < self.config.silent_share:
            words = [replace(word, pause=0) for word in words]
        if rng.random() < self.config.noise.share:
            others = self._words(self.rows[rng.randrange(len(self.rows))])
            # words that do not begin sentences; in each chunk frequent words come often
            inside = [word for before, word in pairwise(others) if not ends_sentence(before.marks)] or others
            words = add_noise(words, self.config.noise, rng, lambda: rng.choice(inside))
        sign = NO_MARKS
        disfluencies = self.config.disfluencies
        if disfluencies.marked and rng.random() < disfluencies.marked:
            sign = DISFLUENT
            words = sign_natural_disfluencies(words)
        if disfluencies.share and rng.random() < disfluencies.share:
            needs_others = disfluencies.rates["repair"] or disfluencies.rates["restart"]
            other_words = self._words(self.rows[rng.randrange(len(self.rows))]) if needs_others else ()
            words = add_disfluencies(words, disfluencies, rng, other_words, sign)
        return words

    def unmarked_odds(self) -> float:
        """Return the odds of no mark in the data, divided by its odds in questions about them, as a sample has both.

        It is 1 if the data are too few to tell.
        """
        slots = Counter[bool]()  # of the sampled chunks, by whether they have marks
        asked = Counter[bool]()  # those that are asked about, one of each chunk
        for index in self.chunks[:: max(1, len(self) // _COUNTED_EXAMPLES)]:
            words = self._words(self.rows[index])
            slots.update(bool(word.marks) for word in words)
            question = self._question(words, self.rows[index]["style"], random.Random(f"odds {index}"))
            asked[question.targets != self.tokenizer.answer(NO_MARKS)] += 1
        if 0 in (slots[True], slots[False], asked[True], asked[False]):
            return 1.0
        return slots[False] / slots[True] * asked[True] / asked[False]

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

    def _fitting(self, words: list[ChunkWord], style: str) -> tuple[list[ChunkWord], Source]:
        """Return the words that fit into the model, whose positions may be limited, and their source."""
        source = self._source(words, style)
        most_tokens = self.tokenizer.task.max_tokens
        if len(source.ids) + 1 <= most_tokens:  # with the sentinel, if it becomes a question
            return words, source
        n_behind = 3  # tokens that may stand behind the last word: a sentinel, a silence and the end
        n_fitting = sum((last_index + 1) + n_behind <= most_tokens for last_index in source.word_ends)
        words = words[: max(1, n_fitting)]  # at least one word, whose tokens may be too many
        return words, self._source(words, style)

    def _source(self, words: Sequence[ChunkWord], style: str, slot: int | None = None) -> Source:
        return self.tokenizer.source([word.read for word in words], style, slot, [word.pause for word in words])

    def _question(self, words: Sequence[ChunkWord], style: str, rng: random.Random) -> Example:
        """Return a question about one slot of a chunk, which ends a few words later (Minixhofer 2021, section 3.2)."""
        questions = self.config.questions
        lookahead = min(rng.randint(0, questions.l_max), len(words) - 1)
        slots = range(len(words) - lookahead)
        slot = rng.choice(slots)
        marked = [index for index in slots if words[index].marks]  # few: most slots have no marks
        if not words[slot].marks and marked and rng.random() >= _KEPT_UNMARKED:
            slot = rng.choice(marked)
        heard = [*words[: slot + lookahead + 1]]
        # a silence is known when the next word begins, or when a stream is flushed during it
        if rng.random() >= _SILENCE_KNOWN:
            heard[-1] = replace(heard[-1], pause=0)
        source = self._source(heard, style, slot)
        ignored = (IGNORED,) * len(source.word_ends)
        answer = self.tokenizer.answer(words[slot].marks)  # a sentinel, the marks and the end
        return Example(
            input_ids=source.ids,
            targets=answer,
            # what follows where no mark does: the end; nothing is asked of the sentinel
            next_word_ids=(IGNORED, *(self.tokenizer.eos_id,) * (len(answer) - 1)),
            word_ends=source.word_ends,
            marks=ignored,
            cases=ignored,
            token_words=(NOBODY,) * len(source.ids),
            decoder_ids=answer,
            openings=ignored,
            slot_starts=(0,) * len(ignored),  # no slot is asked for
        )


def count_tokens(rows: Any, tokenizer: TaskTokenizer, workers: int = 0) -> list[int]:
    """Return the number of source tokens of each chunk, prefix, silences and end included.

    To count them takes a minute for each 40,000 chunks on one core.  So `datasets` keeps the numbers in the folder of
    the rows, if they have one and it can be written.
    """

    def count(chunks: Mapping[str, Sequence[str]]) -> dict[str, list[int]]:
        lengths = []
        for source, style in zip(chunks["source"], chunks["style"], strict=True):
            words, pauses = without_pauses(source)
            lengths.append(len(tokenizer.source(words, style, pauses=pauses).ids))
        return {"length": lengths}

    task = tokenizer.task
    vocabulary = sorted(tokenizer.tokenizer.get_vocab().items())
    is_writable = all(os.access(Path(file["filename"]).parent, os.W_OK) for file in rows.cache_files)
    # all that the lengths depend on
    parts = rows._fingerprint, len(rows), vocabulary, task.prefix, task.pauses_ms, task.inline_case
    counted = rows.map(
        count, batched=True, num_proc=workers or None, remove_columns=rows.column_names,
        new_fingerprint=hashlib.sha256(repr(parts).encode()).hexdigest()[:16],
        keep_in_memory=not is_writable,
    )  # fmt: skip
    return list(counted["length"])


def without_pauses(source: str) -> tuple[list[str], list[int]]:
    """Return the words of a chunk's source, and the silence after each: 0 for none, else 1 + its index in `PAUSES`."""
    words: list[str] = []
    pauses: list[int] = []
    for piece in source.split():
        if piece in PAUSES:
            pauses[-1] = 1 + PAUSES.index(piece)
        else:
            words.append(piece)
            pauses.append(0)
    return words, pauses


@dataclass(frozen=True, slots=True)
class History:
    """The tokens of a target; all but slot_starts have one at each place."""

    decoder_ids: tuple[int, ...]  # what the decoder reads, up to the place before
    targets: tuple[int, ...]  # what it must write at a place; IGNORED: nothing is asked
    # what would end the slot, the first token of the next word in lower case, or the end; IGNORED where nothing is
    # decided: inside a word or a mark, and behind a case token
    next_word_ids: tuple[int, ...]
    slot_starts: tuple[int, ...]  # the place behind each word


def make_history(
    tokenizer: TaskTokenizer,
    forms: Sequence[str],
    marks: Sequence[str],
    openings: Sequence[str],
    drawn: Sequence[str] | None = None,
) -> History:
    """Return what the decoder reads as its own output so far, and which token it must write next.

    drawn: the marks of each word that it reads; None: the text's own.  A decoder that reads only right marks in
    training relies on them, and in use on wrong ones of its own (Bengio 2015, scheduled sampling).  The target at the
    first place behind a word is still the text's own mark.  Behind a mark that the text does not have, there is no
    target until the next word is written.
    """
    drawn = marks if drawn is None else drawn
    read_forms = _with_capitals_after(drawn, marks, forms)
    # the first token of each word in lower case, and the end
    next_words = [tokenizer.word_ids(form.lower(), first=index == 0)[0] for index, form in enumerate(read_forms)]
    next_words.append(tokenizer.eos_id)
    decoder_ids = list[int]()
    next_word_ids = list[int]()
    word_starts = list[int]()  # the place at which a word's tokens begin, behind its opening mark and case
    slot_starts = list[int]()
    for index, form in enumerate(read_forms):
        ids = tokenizer.form_ids(form, index == 0, openings[index])
        # places at which something is decided: an opening mark or none, a case or none
        n_deciding = 2 if openings[index] in tokenizer.opening_ids else 1
        next_word_ids += [next_words[index]] * n_deciding + [IGNORED] * (len(ids) - n_deciding)
        decoder_ids += ids
        word_starts.append(len(decoder_ids) - len(tokenizer.word_ids(form.lower(), first=index == 0)))
        slot_starts.append(len(decoder_ids))
        for mark in drawn[index]:
            ids = tokenizer.mark_ids[mark]
            next_word_ids += [next_words[index + 1]] + [IGNORED] * (len(ids) - 1)
            decoder_ids += ids
    word_starts.append(len(decoder_ids))
    decoder_ids.append(tokenizer.eos_id)
    next_word_ids.append(tokenizer.eos_id)
    target = list(decoder_ids)
    for index, start in enumerate(slot_starts):
        is_last = index + 1 == len(forms)
        if drawn[index] == marks[index] and (is_last or read_forms[index + 1] == forms[index + 1]):
            continue
        # the target behind the word is what the text has there; then there is none until the next word is written
        if marks[index]:
            target[start] = tokenizer.mark_ids[marks[index][0]][0]
        elif is_last:
            target[start] = tokenizer.eos_id
        else:
            target[start] = tokenizer.form_ids(forms[index + 1], opening=openings[index + 1])[0]
        for place in range(start + 1, word_starts[index + 1] + 1):
            target[place] = IGNORED
            next_word_ids[place] = IGNORED
    return History(tuple(decoder_ids), tuple(target), tuple(next_word_ids), tuple(slot_starts))


def draw_marks(
    marks_of_words: Sequence[str], codes: Sequence[bytes], mark_classes: Sequence[str], rng: random.Random
) -> list[str]:
    """Draw the marks of each word with its teacher's probabilities; a word without a label keeps the text's own.

    codes: of each word, first an index in `WEIGHTS` for each mark class; empty without a label.  mark_classes: of the
    task.  If the drawn mark is the first of the text's own (`.` of `...`), all of these stay.
    """
    drawn = list[str]()
    for marks, code in zip(marks_of_words, codes, strict=True):
        mark = marks
        if code and DISFLUENT not in marks:
            (mark,) = rng.choices(mark_classes, [WEIGHTS[number] for number in code[: len(mark_classes)]])
        drawn.append(marks if mark and marks.startswith(mark) else mark)
    return drawn


def _with_capitals_after(drawn: Sequence[str], marks_of_words: Sequence[str], forms: Sequence[str]) -> list[str]:
    """Return the words' forms with the case that suits the drawn marks."""
    changed = [*forms[:1]]
    # each other word's form, and the marks of the text and the drawn ones behind the word before it
    for form, marks, drawn_marks in zip(forms[1:], marks_of_words, drawn, strict=False):
        if ends_sentence(drawn_marks) and not ends_sentence(marks):  # the word begins a sentence now
            changed.append(capitalise(form))
        elif ends_sentence(marks) and not ends_sentence(drawn_marks):  # it begins none any more
            keeps_case = inline_case_of(form) is not Case.CAPITALISED or is_first_person(form)
            changed.append(form if keeps_case else form.lower())
        else:
            changed.append(form)
    return changed
