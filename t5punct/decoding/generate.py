"""Free generation, as in the papers: greedy or beam search; the model may write any text.

In: windows of words.  Out: one generated text a window, and votes: `align` projects the text onto the words.

`generate_texts(model, [WindowInput.of(["we", "know"])])` might give `["We know."]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..model import Model
from ..t5.word_memory import WordMemory
from ..windows.votes import Vote
from .align import AlignConfig, AlignmentCounts, align, votes
from .inputs import DecodingConfig, WindowInput, batch_by_length, encoder_input

_ROOM = 1.5  # how much longer than its source a target may grow; marks and capitals cost tokens
_ROOM_TOKENS = 16
_SPARED_TOKENS = 8  # tokens of words that a text may leave out, as a decoder now and then does within it


class GeneratingDecoder:
    """Writes windows freely, and votes for the marks and the case of the words that it wrote."""

    def __init__(self, model: Model, config: DecodingConfig, align_config: AlignConfig) -> None:
        self._model = model
        self._config = config
        self._align_config = align_config
        self._alphabet = config.alphabet(model.task)
        self.alignment = AlignmentCounts()  # of everything written so far

    def votes(self, windows: Sequence[WindowInput], n_slots: Sequence[int] | None = None) -> list[tuple[Vote, ...]]:
        """Return votes on all slots of each window, in order; a text is written to its end whatever `n_slots` says."""
        texts = generate_texts(self._model, windows, self._config)
        has_openings = bool(self._model.tokenizer.opening_ids)
        votes_of_windows = list[tuple[Vote, ...]]()
        for window, text in zip(windows, texts, strict=True):
            alignment = align(window.words, text, self._model.task.alphabet)
            self.alignment += AlignmentCounts.of(alignment, self._align_config)
            votes_of_windows.append(votes(alignment, self._alphabet, self._align_config, has_openings=has_openings))
        return votes_of_windows


@torch.inference_mode()
def generate_texts(model: Model, windows: Sequence[WindowInput], config: DecodingConfig | None = None) -> list[str]:
    """Return the text a model writes for each window (Melamud 2021: T5, source words to punctuated words)."""
    from transformers.modeling_outputs import BaseModelOutput

    config = config or DecodingConfig("generate")
    network: Any = model.network
    tokenizer = model.tokenizer
    mark_ids = [tokenizer.mark_ids[mark] for mark in model.task.marks]
    processors = list[MarkCap]()
    if all(len(ids) == 1 for ids in mark_ids):  # marks can be counted by their tokens
        case_ids = [number for ids in tokenizer.case_ids.values() for number in ids] if model.task.inline_case else []
        processors = [MarkCap([ids[0] for ids in mark_ids], config.alphabet(model.task).max_marks, case_ids)]
    sources = [window.source(tokenizer, config.style) for window in windows]
    texts: dict[int, str] = {}
    for batch in batch_by_length([len(source.ids) for source in sources], config.batch_tokens):
        input_ids, attention_mask = encoder_input([sources[index] for index in batch], model)
        memory = model.remember(model.encode(input_ids, attention_mask), input_ids)
        copies = getattr(network, "memory", None) is not None
        # a network that copies may not end before it has written as many words as it has read
        least_words = [LeastWords(network.memory, input_ids, tokenizer.eos_id)] if copies else []
        limits = [int(_ROOM * len(sources[index].ids)) + _ROOM_TOKENS for index in batch]
        written = network.generate(
            encoder_outputs=BaseModelOutput(last_hidden_state=memory),
            attention_mask=attention_mask,
            num_beams=config.beams,
            logits_processor=[*processors, *least_words],
            do_sample=False,
            max_new_tokens=max(limits),
        )
        # each row has its own limit, so that an endless greedy text does not depend on its neighbours in the batch
        for index, row, limit in zip(batch, written.tolist(), limits, strict=True):
            texts[index] = tokenizer.decode(row[: limit + 1])  # the decoder's start token comes first
    return [texts[index] for index in range(len(windows))]


class MarkCap:
    """A logits processor of transformers: a slot has at most `most_marks`, and behind a capital's sign stands a word.

    Some decoders would write no end of marks and signs: `. ^ . ^ ^ ^`.
    """

    def __init__(self, mark_ids: Sequence[int], most_marks: int, case_ids: Sequence[int] = ()) -> None:
        """mark_ids: tokens of marks; case_ids: the signs of capitals."""
        self._mark_ids = mark_ids
        self._most_marks = most_marks
        self._case_ids = case_ids

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return the scores of the next token, float32 (n_rows, n_vocabulary), minus infinity for forbidden ones.

        input_ids: what is written, int64 (n_rows, n_tokens).
        """
        last = input_ids[:, -self._most_marks :]
        n_marks = torch.isin(last, last.new_tensor(self._mark_ids)).sum(1)
        is_slot_full = n_marks == self._most_marks
        needs_word = torch.isin(last[:, -1], last.new_tensor(self._case_ids))  # (n_rows,)
        is_forbidden = torch.zeros_like(scores, dtype=torch.bool)
        is_forbidden[:, list(self._mark_ids)] = (is_slot_full | needs_word)[:, None]
        is_forbidden[:, list(self._case_ids)] = needs_word[:, None]
        return scores.masked_fill(is_forbidden, -torch.inf)


class LeastWords:
    """Holds the end of a text back while most of its words are not written: now and then a decoder ends in the middle.

    It is a logits processor of transformers, for a decoder that copies: its text has the words of its source, token for
    token (`word_memory`).
    """

    def __init__(self, memory: WordMemory, input_ids: torch.Tensor, end_id: int) -> None:
        """input_ids: the source's tokens, int64 (n_rows, n_source)."""
        self._memory, self._end_id = memory, end_id
        self._n_least = memory.are_words(input_ids).sum(1) - _SPARED_TOKENS

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return the scores of the next token, minus infinity for an end that is too early; shapes as in `MarkCap`."""
        n_beams = len(input_ids) // len(self._n_least)  # rows of each source, one after the other
        n_least = self._n_least.repeat_interleave(n_beams)
        n_written = self._memory.are_words(input_ids).sum(1)
        is_forbidden = torch.zeros_like(scores, dtype=torch.bool)
        is_forbidden[:, self._end_id] = n_written < n_least
        return scores.masked_fill(is_forbidden, -torch.inf)
