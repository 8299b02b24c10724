"""What a decoder is given, and its settings.

In: words of a window.  Out: `WindowInput`s, batches of about equal lengths, padded tensors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import torch

from ..config import check, check_choice, check_range
from ..model import PRECISIONS, Model
from ..t5.delay import MOST_WORDS
from ..t5.task import TaskConfig, check_odds
from ..t5.tokenization import Source, TaskTokenizer
from ..text.marks import DISFLUENT, NO_MARKS, Alphabet
from ..text.render import KEEP
from ..text.spelling import LONGEST_WORD

DECODERS = ("auto", "slots", "tagger", "generate")
MOST_BEAMS = 64  # each holds all windows of a batch in memory once more
_BLOB_LETTERS = 12  # how many letters the model sees of a word with more than `LONGEST_WORD`


@dataclass(frozen=True)
class DecodingConfig:
    """How windows are decoded."""

    decoder: str = "auto"  # `auto`: slots, or the tagger in the task's `tagged_styles`
    beams: int = 1  # `generate` only; 1 is greedy
    # source tokens of the windows decoded together, padding included; in fp32 a matter of speed alone, see `precision`
    batch_tokens: int = 1024
    style: str | None = None  # None takes the model's default
    marks: str | None = None  # of the task's marks, those that may be written; None: all
    max_marks: int | None = None  # of a slot at most; None: the style's
    # `slots`, `tagger`: factors of a mark's odds against no mark; None: those of the task; {}: 1 for all marks
    mark_odds: dict[str, float] | None = None
    delay_words: int | None = None  # `tagger`: no decision depends on later words than this many; None: all count
    precision: str | None = None  # see `precision`; None: that of the model; `auto` if it is loaded by name
    device: str | None = None  # None: where the model is; a model loaded by name goes to a GPU if there is one

    def __post_init__(self) -> None:
        check_choice(self, "decoder", DECODERS)
        check_range(self, "beams", least=1, most=MOST_BEAMS)
        check_range(self, "batch_tokens", least=1)
        check(
            self.delay_words is None or (self.decoder == "tagger" and 0 <= self.delay_words <= MOST_WORDS),
            f"a delay of {self.delay_words} words with the decoder {self.decoder}",
            expected=f"0 to {MOST_WORDS}, and the decoder tagger", fix="add --decoder tagger or drop delay_words",
        )  # fmt: skip
        check_choice(self, "precision", PRECISIONS)
        # only marks that may be written have odds; whether the sign of disfluent words may be is decided elsewhere
        allowed = None if self.marks is None else self.marks + DISFLUENT
        check_odds(self.mark_odds or {}, allowed)

    def alphabet(self, task: TaskConfig) -> Alphabet:
        """Return the marks to decide among: all of the task, and the sign of disfluent words if `marks` has it.

        Marks that may not be written are among them, and are replaced later (docs/design.md).  Raises ConfigError for
        marks that the task does not have.
        """
        asked = "".join((self.marks or NO_MARKS).split())
        unknown = set(asked) - set(task.slot_marks) - set(task.opening)  # `¿` comes with `?`
        mistake = f"marks {''.join(sorted(unknown))!r}"
        check(not unknown, mistake, expected=f"some of {task.marks!r}", fix="check --marks")
        max_marks = self.max_marks
        if max_marks is None:
            max_marks = task.style_max_marks.get(task.style_or_default(self.style), task.max_marks)
        mistake = f"{max_marks} marks in a slot"
        check(max_marks <= task.max_marks, mistake, expected=f"at most {task.max_marks}", fix="lower max_marks")
        return Alphabet(task.marks + DISFLUENT if DISFLUENT in asked else task.marks, max_marks)

    def odds(self, task: TaskConfig) -> dict[str, float]:
        """Return the factor of each mark's probability.  Raises ConfigError for marks that the task does not have."""
        check_odds(self.mark_odds or {}, task.slot_marks)
        return {} if self.mark_odds == {} else task.mark_odds | (self.mark_odds or {})

    def decoder_for(self, model: Model) -> str:
        """Return the decoder that runs.  `auto` is the tagger in `tagged_styles`, if one mark a slot is enough."""
        if self.decoder != "auto":
            return self.decoder
        is_tagged = model.task.style_or_default(self.style) in model.task.tagged_styles
        return "tagger" if is_tagged and model.tagger is not None and (self.max_marks or 1) == 1 else "slots"


def allow_disfluency_sign(config: DecodingConfig, model: Model, disfluencies: str) -> DecodingConfig:
    """Return a config whose slots may hold the sign of disfluent words; the config itself if such words are only kept.

    Raises ConfigError where the model or the decoder cannot mark them, or the sign is named though they are kept.
    """
    if disfluencies == KEEP:
        check(
            DISFLUENT not in (config.marks or "") and DISFLUENT not in (config.mark_odds or {}),
            f"{DISFLUENT!r}, the sign of disfluent words, among marks or their odds",
            expected="it with --disfluencies mark or remove", fix="add that, or leave it out",
        )  # fmt: skip
        return config
    check(
        model.task.disfluencies, f"disfluencies {disfluencies!r} with {model.name}, which does not know them",
        expected="a model that was trained for them",
        fix="use --model base, train one (data.disfluencies.marked), or drop --disfluencies",
    )  # fmt: skip
    mistake = f"disfluencies {disfluencies!r} with the decoder generate"
    check(config.decoder != "generate", mistake, expected="slots or tagger", fix="drop --decoder")
    marks = model.task.marks if config.marks is None else config.marks
    return replace(config, marks=marks.replace(DISFLUENT, "") + DISFLUENT)


@dataclass(frozen=True, slots=True)
class WindowInput:
    """The words of one window.

    words: as the model reads them; spellings: as the input has them; has_slot: whether marks may follow each; pauses:
    how long a silence follows each, as in `TaskTokenizer.source` (empty: none does); given: the marks that are kept in
    each slot (empty: none are); read: the encoder's input, once `fit_to_model` has made it.
    """

    words: tuple[str, ...]
    spellings: tuple[str, ...]
    has_slot: tuple[bool, ...]
    pauses: tuple[int, ...] = ()
    given: tuple[str, ...] = ()
    read: Source | None = field(default=None, compare=False)

    @classmethod
    def of(
        cls,
        spellings: Sequence[str],
        has_slot: Sequence[bool] | None = None,
        pauses: Sequence[int] = (),
        given: Sequence[str] = (),
    ) -> WindowInput:
        slots = (True,) * len(spellings) if has_slot is None else tuple(has_slot)
        return cls(tuple(word.lower() for word in spellings), tuple(spellings), slots, tuple(pauses), tuple(given))

    def source(self, tokenizer: TaskTokenizer, style: str | None = None) -> Source:
        """Return the encoder's input."""
        return self.read or tokenizer.source(self.words, style, None, self.pauses)

    def fit_to_model(self, tokenizer: TaskTokenizer, style: str | None = None) -> WindowInput:
        """Return the window with its longest words shortened until the model can read it; no word is left out.

        Raises ConfigError for more words than the model has tokens.
        """
        most_tokens = tokenizer.task.max_tokens
        if tokenizer.task.classifies:
            most_tokens -= 1  # for the sentinel of a question about a slot
        longest = LONGEST_WORD
        fitted = self._with_words_cut(longest, _BLOB_LETTERS)
        while True:
            source = tokenizer.source(fitted.words, style, None, fitted.pauses)
            if len(source.ids) <= most_tokens:
                return replace(fitted, read=source)
            mistake = f"a window of {len(self.words)} words for a model that reads {tokenizer.task.max_tokens} tokens"
            check(longest > 1, mistake, expected="a shorter window", fix="lower window")
            longest //= 2
            fitted = fitted._with_words_cut(longest, longest)

    def _with_words_cut(self, longest: int, n_letters: int) -> WindowInput:
        """Return the window with only the first `n_letters` of each word that has more than `longest`."""
        if all(len(word) <= longest for word in self.spellings):  # nearly always
            return self
        cut = tuple(word[:n_letters] if len(word) > longest else word for word in self.spellings)
        return replace(self, spellings=cut, words=tuple(word.lower() for word in cut))


def encoder_input(sources: Sequence[Source], model: Model) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the ids of a batch, padded on the right, and their attention mask: both int64 (n_batch, n_source)."""
    lengths = torch.tensor([len(source.ids) for source in sources], device=model.device)
    width = int(lengths.max())
    pad = model.tokenizer.pad_id
    rows = [[*source.ids, *(pad,) * (width - len(source.ids))] for source in sources]
    attention_mask = (torch.arange(width, device=model.device) < lengths[:, None]).long()
    return torch.tensor(rows, device=model.device), attention_mask


def batch_by_length(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Yield batches of indices, from short to long: each holds at most `batch_tokens`, as padded, or a single sequence.

    >>> list(batch_by_length([9, 2, 8, 3], batch_tokens=18))
    [[1, 3], [2, 0]]
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and lengths[index] * (len(batch) + 1) > batch_tokens:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
