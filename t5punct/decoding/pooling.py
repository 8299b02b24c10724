"""The decoder and the tagger decide a slot's first mark together: a logarithmic opinion pool.

In: the decoder's logits of what may be written, and the tagger's logits of the slot's marks; the votes of both.  Out:
pooled logits, and votes.

Both say how much likelier each mark is than no mark.  The pool takes the weighted mean of these log odds (Genest and
Zidek 1986, logarithmic pools; Hinton 2002, products of experts); the tagger's weight is its share.  What the decoder
says of further marks stays: only it knows what was written before.  So does what it says of case, unless the tagger has
the whole share, and but for words behind `Inc.` and the like: there the decoder writes a capital as behind any full
stop, and the tagger, which sees whether the sentence goes on, decides.  The tagger reads states that the encoder has
computed anyway, so this costs next to nothing.  A mark whose tokens begin as a word's do (a dash, in some tokenizers)
is pooled where they part.

>>> next_word, comma = 0.0, 1.0
>>> pool = OpinionPool.of(torch.tensor([[0.0, 3.0]]), share=0.5)  # one slot: no mark, or the task's first mark
>>> pool.weigh(torch.tensor([[next_word, comma]]), classes=torch.tensor([[0, 1]]), rows=[0])
tensor([[0., 2.]])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from ..text.spelling import is_abbreviation
from ..windows.votes import Vote

NOTHING_SAID = -1  # the row of places of which the tagger says nothing


@dataclass(frozen=True, slots=True)
class OpinionPool:
    """What the tagger says of a batch's slots, and how much that counts.

    log_odds: float32 (n_slots + 1, n_classes), of each mark against none, the first class; shares: (n_slots + 1, 1).
    In the last row nothing is said.
    """

    log_odds: torch.Tensor
    shares: torch.Tensor

    @classmethod
    def of(cls, marks: torch.Tensor, share: float) -> OpinionPool:
        """Return the tagger's logits and its share, 0 to 1; marks: (n_slots, n_classes), of no mark first."""
        odds = marks.float() - marks[:, :1].float()
        nothing = odds.new_zeros(1, odds.shape[1])
        shares = odds.new_full((len(odds) + 1, 1), share)
        shares[NOTHING_SAID] = 0.0
        return cls(torch.cat([odds, nothing]), shares)

    def weigh(self, logits: torch.Tensor, classes: torch.Tensor, rows: Sequence[int]) -> torch.Tensor:
        """Return pooled logits, float32 (n, n_candidates).

        logits: the decoder's, minus infinity where there is no candidate; classes: int64, of the same shape, the mark
        that each candidate begins to write (0: none); rows: n slots, or `NOTHING_SAID`.
        """
        marks = classes > 0
        unmarked = logits.masked_fill(marks, -torch.inf).logsumexp(-1, keepdim=True)
        unmarked = torch.where(unmarked.isfinite(), unmarked, 0.0)  # between marks alone only differences count
        share, said = self.shares[rows], self.log_odds[rows].gather(1, classes)
        return torch.where(marks, unmarked + (1.0 - share) * (logits - unmarked) + share * said, logits)


def take_from_tagger(
    votes: Sequence[Vote], tagged: Sequence[Vote], words: Sequence[str], share: float
) -> tuple[Vote, ...]:
    """Return the decoder's votes on a window's words, with what the tagger's votes decide beside a slot's marks.

    These are the case behind `Inc.` and the like, with the whole share all case and opening marks, and opening marks
    that the decoder does not write.
    """
    taken = list[Vote]()
    for place, (vote, said) in enumerate(zip(votes, tagged, strict=True)):
        cases, inside = vote.cases, vote.inside
        openings = said.openings if share == 1.0 or vote.openings is None else vote.openings
        if share == 1.0:
            cases, inside = said.cases, said.inside
        elif share and place and is_abbreviation(words[place - 1]) and votes[place - 1].labels.best == ".":
            cases = said.cases
        taken.append(replace(vote, cases=cases, inside=inside, openings=openings))
    return tuple(taken)
