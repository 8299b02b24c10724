"""What the decoder has written before, as it may be when nobody corrects it.

A decoder that reads nothing but right marks in training leans on them, and later on wrong ones of its own (Bengio 2015,
scheduled sampling).  So in some examples it reads marks that are drawn from a teacher's labels.  At the first token
behind a word it is asked for the text's own mark all the same.  Behind a mark that the text does not have, nothing is
asked until the next word is written.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from ...t5.task import inline_case_of
from ...t5.tokenization import TaskTokenizer
from ...text.marks import DISFLUENT, NO_MARKS, Case, capitalise, ends_sentence
from ..labels import WEIGHTS

IGNORED = -100  # target positions that the loss leaves out


@dataclass(frozen=True, slots=True)
class History:
    """A target's tokens: `written` are read, one behind the other, and at each place `target` is asked for.

    next_word_ids: what would end the slot at each place, the next word in lower case or the end; IGNORED where nothing
    is decided: inside of a word or a mark, and after a case token.  slot_starts: the place behind each word.
    """

    written: tuple[int, ...]
    target: tuple[int, ...]
    next_word_ids: tuple[int, ...]
    slot_starts: tuple[int, ...]


def make_history(
    tokenizer: TaskTokenizer,
    forms: Sequence[str],
    marks: Sequence[str],
    openings: Sequence[str],
    drawn: Sequence[str] | None = None,
) -> History:
    """Return the tokens of words and the marks behind them; `drawn`: the marks that are read, if not the text's."""
    drawn = marks if drawn is None else drawn
    read = _follow(forms, marks, drawn)
    # the first token of each word in lower case, and of the end
    next_words = [tokenizer.word_ids(form.lower(), first=index == 0)[0] for index, form in enumerate(read)]
    next_words.append(tokenizer.eos_id)
    written = list[int]()
    next_word_ids = list[int]()
    word_starts = list[int]()  # the place at which a word's tokens begin, behind its opening mark and case
    slot_starts = list[int]()
    for index, form in enumerate(read):
        ids = tokenizer.form_ids(form, index == 0, openings[index])
        n_deciding = 2 if openings[index] in tokenizer.opening_ids else 1  # an opening mark or none, a case or none
        next_word_ids += [next_words[index]] * n_deciding + [IGNORED] * (len(ids) - n_deciding)
        written += ids
        word_starts.append(len(written) - len(tokenizer.word_ids(form.lower(), first=index == 0)))
        slot_starts.append(len(written))
        for mark in drawn[index]:
            ids = tokenizer.mark_ids[mark]
            next_word_ids += [next_words[index + 1]] + [IGNORED] * (len(ids) - 1)
            written += ids
    word_starts.append(len(written))
    written.append(tokenizer.eos_id)
    next_word_ids.append(tokenizer.eos_id)
    target = list(written)
    for index, start in enumerate(slot_starts):
        is_last = index + 1 == len(forms)
        if drawn[index] == marks[index] and (is_last or read[index + 1] == forms[index + 1]):
            continue
        # behind the word, what the text has is asked for; then nothing, until the next word is written
        if marks[index]:
            target[start] = tokenizer.mark_ids[marks[index][0]][0]
        elif is_last:
            target[start] = tokenizer.eos_id
        else:
            target[start] = tokenizer.form_ids(forms[index + 1], opening=openings[index + 1])[0]
        for place in range(start + 1, word_starts[index + 1] + 1):
            target[place] = next_word_ids[place] = IGNORED
    return History(tuple(written), tuple(target), tuple(next_word_ids), tuple(slot_starts))


def draw_marks(marks_of_words: Sequence[str], codes: Sequence[bytes], classes: str, rng: random.Random) -> list[str]:
    """Draw the marks of each word as its teacher finds them likely; a word without a code keeps the text's own.

    codes: of each word a byte for each class, whose weight is `WEIGHTS[byte]`; classes: the mark of each class, in
    order.  Where the mark drawn is the first of the text's own (`.` of `...`), all of these stay.
    """
    options = (NO_MARKS, *classes)
    drawn = list[str]()
    for marks, code in zip(marks_of_words, codes, strict=True):
        mark = marks
        if code and DISFLUENT not in marks:
            (mark,) = rng.choices(options, [WEIGHTS[number] for number in code[: len(options)]])
        drawn.append(marks if mark and marks.startswith(mark) else mark)
    return drawn


def _follow(forms: Sequence[str], marks_of_words: Sequence[str], drawn: Sequence[str]) -> list[str]:
    """Return the words with the capitals of sentences that end where the drawn marks say."""
    read = [*forms[:1]]
    for form, marks, other in zip(forms[1:], marks_of_words, drawn, strict=False):
        if ends_sentence(other) == ends_sentence(marks):
            read.append(form)
        elif ends_sentence(other):
            read.append(capitalise(form))
        else:
            is_name = inline_case_of(form) is not Case.CAPITALISED or form == "I" or form.startswith(("I'", "I’"))
            read.append(form if is_name else form.lower())
    return read
