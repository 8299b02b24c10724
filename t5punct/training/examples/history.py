"""What the decoder reads in training as its own output so far, and which token it must write next.

A decoder that reads only right marks in training relies on them, and when it is used on wrong ones of its own (Bengio
2015, scheduled sampling).  So in some examples it reads marks that are drawn from a teacher's labels.  The target at
the first place behind a word is still the text's own mark.  Behind a mark that the text does not have, there is no
target until the next word is written.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from ...t5.task import inline_case_of
from ...t5.tokenization import TaskTokenizer
from ...text.marks import DISFLUENT, NO_MARKS, Case, capitalise, ends_sentence
from ...text.spelling import is_first_person
from ..labels import WEIGHTS

IGNORED = -100  # target positions that the loss leaves out


@dataclass(frozen=True, slots=True)
class History:
    """The tokens of a target; all but slot_starts have one at each place."""

    decoder_ids: tuple[int, ...]  # what the decoder reads, up to the place before
    target: tuple[int, ...]  # what it must write at a place; IGNORED: nothing is asked
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
    """Return the tokens of words with their marks; `drawn`: the marks that are read, None for the text's own."""
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


def draw_marks(marks_of_words: Sequence[str], codes: Sequence[bytes], classes: str, rng: random.Random) -> list[str]:
    """Draw the marks of each word with its teacher's probabilities; a word without a label keeps the text's own.

    codes: see `labels`; classes: the mark of each class but the first, which is no mark.  If the drawn mark is the
    first of the text's own (`.` of `...`), all of these stay.
    """
    options = (NO_MARKS, *classes)
    drawn = list[str]()
    for marks, code in zip(marks_of_words, codes, strict=True):
        mark = marks
        if code and DISFLUENT not in marks:
            (mark,) = rng.choices(options, [WEIGHTS[number] for number in code[: len(options)]])
        drawn.append(marks if mark and marks.startswith(mark) else mark)
    return drawn


def _with_capitals_after(drawn: Sequence[str], marks_of_words: Sequence[str], forms: Sequence[str]) -> list[str]:
    """Return the words' forms with the case that suits the drawn marks."""
    changed = [*forms[:1]]
    for form, marks, drawn_marks in zip(forms[1:], marks_of_words, drawn, strict=False):
        if ends_sentence(drawn_marks) == ends_sentence(marks):
            changed.append(form)
        elif ends_sentence(drawn_marks):
            changed.append(capitalise(form))
        else:
            keeps_case = inline_case_of(form) is not Case.CAPITALISED or is_first_person(form)
            changed.append(form if keeps_case else form.lower())
    return changed
