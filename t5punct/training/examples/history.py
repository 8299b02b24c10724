"""What the decoder has written before, as it may be when nobody corrects it.

In: the words of an example, with a teacher's labels.  Out: the tokens that the decoder reads, and those asked for.

A decoder that reads nothing but right marks in training leans on them, and later on wrong ones of its own (Bengio 2015,
scheduled sampling).  So in some examples it reads marks that are drawn from what a teacher says of each slot, whose
labels are on the disk already.  At the first token behind a word it is asked for the text's own mark all the same.
Behind a mark that the text does not have, nothing is asked until the next word is written.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from ...t5.task import inline_case_of
from ...t5.tokenization import TaskTokenizer
from ...text.marks import DISFLUENT, NO_MARKS, Case, capitalise, ends_sentence
from ..labels import probabilities_of

IGNORED = -100  # target positions that the loss leaves out


@dataclass(frozen=True, slots=True)
class History:
    """A target's tokens: `written` are read, one behind the other, and at each place `target` is asked for.

    next_word_ids, slot_starts: as in an `Example`, of the places in `written`.
    """

    written: tuple[int, ...]
    target: tuple[int, ...]
    next_word_ids: tuple[int, ...]
    slot_starts: tuple[int, ...]


def make_history(
    tokenizer: TaskTokenizer,
    forms: Sequence[str],
    labels: Sequence[str],
    openings: Sequence[str],
    drawn: Sequence[str] | None = None,
) -> History:
    """Return the tokens of words and labels; `drawn`: the labels that are read, None if those of the text are."""
    drawn = labels if drawn is None else drawn
    read = _follow(forms, labels, drawn)
    written = tokenizer.target(read, drawn, openings)
    starts = tokenizer.slot_starts(read, drawn, openings)
    ids = tokenizer.next_word_ids(read, drawn, openings)
    next_word_ids = [IGNORED if token is None else token for token in ids]
    target = list(written)
    for index, start in enumerate(starts):
        is_last = index + 1 == len(forms)
        if drawn[index] == labels[index] and (is_last or read[index + 1] == forms[index + 1]):
            continue
        following = (
            (tokenizer.eos_id,) if is_last else tokenizer.form_ids(forms[index + 1], opening=openings[index + 1])
        )
        target[start] = tokenizer.mark_ids[labels[index][0]][0] if labels[index] else following[0]
        begins = len(written) - 1 if is_last else starts[index + 1] - len(tokenizer.word_ids(read[index + 1].lower()))
        for place in range(start + 1, begins + 1):
            target[place] = next_word_ids[place] = IGNORED
    return History(written, tuple(target), tuple(next_word_ids), starts)


def draw_labels(labels: Sequence[str], codes: Sequence[bytes], marks: str, rng: random.Random) -> list[str]:
    """Return a label for each word, drawn from its teacher's code; the text's own where it has none.

    `marks`: those of the codes' classes, in order.  A label of several marks stays where its first is drawn.
    """
    drawn = []
    for label, code in zip(labels, codes, strict=True):
        if not code or DISFLUENT in label:
            drawn.append(label)
            continue
        shares = probabilities_of(torch.frombuffer(bytearray(code[: len(marks) + 1]), dtype=torch.uint8)).tolist()
        mark = rng.choices((NO_MARKS, *marks), shares)[0]
        drawn.append(label if mark and label.startswith(mark) else mark)
    return drawn


def _follow(forms: Sequence[str], labels: Sequence[str], drawn: Sequence[str]) -> list[str]:
    """Return the words with the capitals that sentences have which end where the drawn labels say."""
    read = [*forms[:1]]
    for form, label, other in zip(forms[1:], labels, drawn, strict=False):
        if ends_sentence(other) == ends_sentence(label):
            read.append(form)
        elif ends_sentence(other):
            read.append(capitalise(form))
        else:
            is_name = inline_case_of(form) is not Case.CAPITALISED or form == "I" or form.startswith(("I'", "I’"))
            read.append(form if is_name else form.lower())
    return read
