"""Texts -> texts with marks and capitals: the way in and out of the package.

In: a text of any length, or many; a file; words.  Out: the same words with marks and capitals.  Whole texts, streams
and evaluation take the same steps:

    window_votes    views of words -> the votes of each window
    decide_words    words, and the votes on their slots -> decisions
    write_words     words and decisions -> annotated words

>>> Punctuator().punctuate("how are you today")  # doctest: +SKIP
'How are you today?'
"""

from __future__ import annotations

import io
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from .config import check
from .decoding.align import AlignConfig, AlignmentCounts
from .decoding.generate import GeneratingDecoder
from .decoding.inputs import DecodingConfig, WindowInput, allow_disfluency_sign
from .decoding.slots import SlotDecoder
from .decoding.tagging import TagDecoder
from .errors import InputError
from .model import Model, find_device, load, on_device, with_precision, with_transformers
from .text.io.files import source_lines_with_ends
from .text.languages import check_spaced, is_unspaced, unspaced_error
from .text.marks import DASH, DISFLUENT, NO_MARKS, OPENING, Case
from .text.render import (
    REMOVE,
    AnnotatedWord,
    Decision,
    RenderConfig,
    agree_with_unsure,
    fit_opening,
    move_marks_of_removed_words,
    render_word,
    unsure_case,
    write_only,
)
from .text.spelling import is_spelled_out, is_spoken
from .text.words import CLOSERS, Word, checked_text, forbids_dash, readable
from .transcripts.formats import Transcript, opening_mistake, transcript_of
from .transcripts.items import SpokenWord, add_pauses, in_file_order, written_items
from .transcripts.speech import read_plain
from .transcripts.terms import Terms, apply_terms
from .transcripts.writers import WriterConfig, check_writable, written_pieces
from .windows.combine import CombineConfig, add_votes, decide
from .windows.plan import View, WindowConfig, iter_pools, views_of
from .windows.presets import DEFAULT_PRESET, load_preset
from .windows.votes import Vote, apply_sentence_position, begins_next, end_sentence, normalise

__all__ = ["Punctuator", "PunctuatorConfig"]
_TIMES_OF_DAY = {"am", "pm"}
_MOST_LETTERS = 5  # of `h t m l`, before and behind one
_POOL_BATCHES = 4  # windows with the words of about this many batches are sorted by length together
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PunctuatorConfig:
    """Everything that can be chosen at run time."""

    windows: WindowConfig = field(default_factory=lambda: load_preset(DEFAULT_PRESET).windows)
    combine: CombineConfig = field(default_factory=lambda: load_preset(DEFAULT_PRESET).combine)
    decoding: DecodingConfig = field(default_factory=DecodingConfig)
    render: RenderConfig = field(default_factory=RenderConfig)
    fragment: bool = False  # True: the text may begin and end inside a sentence
    align: AlignConfig = field(default_factory=AlignConfig)  # `generate` only


class SentencePosition(NamedTuple):
    """Where a word stands in its sentence.

    begins: whether a sentence begins with it; None: that is not known, as at the start of a fragment and behind `Inc.`.
    opened: the mark that opened the sentence, `¿`; the sentence's end must fit it.
    quoted: whether the word is in a quotation that began with a sentence.
    unsure_case: the case of the word before, if another was nearly as likely and no mark stands between the two.
    """

    begins: bool | None
    opened: str = NO_MARKS
    quoted: bool = False
    unsure_case: Case | None = None


class Punctuator:
    """Puts marks and capitals into texts; never changes a word, and removes one only if that is asked for."""

    def __init__(
        self,
        model: Model | str | Path | None = None,
        config: PunctuatorConfig | None = None,
        *,
        style: str | None = None,
        precision: str | None = None,
        device: str | None = None,
        revision: str | None = None,
    ) -> None:
        """Take a `Model`, or load one: the default (None), a bundled name, a folder or a hub id.

        `style`, `precision` and `device` replace the config's.  If neither names a device or a precision, a model that
        is loaded takes what `auto` takes (a GPU if there is one), and a `Model` stays as it is.  Raises ConfigError for
        what the model cannot do, and ModelError if there is none.
        """
        config = PunctuatorConfig() if config is None else config
        mistake, fix = f"a config that is {config!r}", "name settings, such as style='talk'"
        check(isinstance(config, PunctuatorConfig), mistake, expected="a PunctuatorConfig", fix=fix)
        named = {"style": style, "precision": precision, "device": device}
        chosen: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
        config = replace(config, decoding=replace(config.decoding, **chosen)) if chosen else config
        device = config.decoding.device
        precision = config.decoding.precision
        generates = config.decoding.decoder == "generate"  # only networks of transformers do, which are in float32
        if isinstance(model, Model):
            if generates:
                model = with_precision(with_transformers(model), model.precision)
        else:
            device = device or "auto"
            precision = precision or "auto"
            loaded_for = (None, None) if generates else (device, precision)  # None: float32 on the CPU, changed below
            model = load(model, *loaded_for, revision=revision)
            if not model.tuned:
                message = "%s has no t5punct.yaml; a T5 that was never trained to punctuate writes nonsense"
                _log.warning(message, model.name)
        if device is not None:
            model = on_device(model, find_device(device))
        if precision is not None:
            model = with_precision(model, precision)
        self.config = config
        self.model = model
        self.decoding = allow_disfluency_sign(config.decoding, model, config.render.disfluencies)
        model.task.prefix_for(config.decoding.style)  # raises ConfigError for an unknown style, before the first text
        self._alphabet = self.decoding.alphabet(model.task)
        decoder = self.decoding.decoder_for(model)
        self._decoder: GeneratingDecoder | TagDecoder | SlotDecoder
        if decoder == "generate":
            self._decoder = GeneratingDecoder(model, self.decoding, config.align)
        elif decoder == "tagger":
            self._decoder = TagDecoder(model, self.decoding)
        else:
            self._decoder = SlotDecoder(model, self.decoding)
        self._removes = config.render.disfluencies == REMOVE
        self._pool_words = _POOL_BATCHES * config.decoding.batch_tokens
        self.first_sentence = SentencePosition(begins=None if config.fragment else True)

    def __repr__(self) -> str:
        style = self.model.task.style_or_default(self.config.decoding.style)
        return f"{type(self).__name__}({self.model.name!r}, precision={self.model.precision!r}, style={style!r})"

    @classmethod
    def from_pretrained(
        cls, source: str | Path | None = None, config: PunctuatorConfig | None = None, **named: Any
    ) -> Punctuator:
        """Load a model by its name, as `Punctuator(source)` does."""
        return cls(source, config, **named)

    def __reduce__(self) -> tuple[type[Punctuator], tuple[Model, PunctuatorConfig]]:
        """Pickle the model and the settings, for worker processes; the decoder is made anew."""
        return type(self), (self.model, self.config)

    def with_config(self, **changes: object) -> Punctuator:
        """Return a punctuator of the same model with other settings."""
        return Punctuator(self.model, replace(self.config, **changes))  # type: ignore[arg-type]

    def punctuate(self, text: str) -> str:
        """Return the text with marks and capitals; words and white space stay.  `punctuator(text)` does the same.

        Speaker labels (`JOHN:`) and stage directions (`[laughs]`) stay.  Raises InputError for what is no text.
        """
        if isinstance(text, list | tuple):
            raise InputError(f"a {type(text).__name__} of texts", expected="one text", fix="use punctuate_many(texts)")
        return self.punctuate_many([text])[0]

    __call__ = punctuate

    def punctuate_many(self, texts: Iterable[str]) -> list[str]:
        """Return `punctuate` of each text, in order; windows of several are decoded together."""
        return list(self.iter_punctuate(texts))

    def punctuate_file(
        self, source: str | Path, *, format: str | None = None, writer: WriterConfig | None = None
    ) -> str:
        """Return a transcript of any format with marks and capitals, in its own format or in that of `writer`.

        `format`: that of the file; None: its name tells.  Raises InputError for a file that cannot be read or written.
        """
        writer = WriterConfig() if writer is None else writer
        fix = "import it: from t5punct import WriterConfig"
        check(isinstance(writer, WriterConfig), f"writer {writer!r}", expected='a WriterConfig("text")', fix=fix)
        transcript = self.read_file(str(source), format, writer)
        words = chain.from_iterable(self.annotate_texts(transcript.texts))
        return "".join(self.file_pieces(transcript, words, writer, str(source)))

    def iter_punctuate(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield what `punctuate_many` returns; texts are read some batches ahead of what is yielded."""
        if isinstance(texts, str):  # whose letters would be the texts
            raise InputError("one text", expected="several, such as a list of them", fix="use punctuate(text)")
        transcripts = map(self._read_text, texts)
        # each with its own texts, lists of words: a transcript makes them anew whenever it is asked
        with_texts = ((transcript, transcript.texts) for transcript in transcripts)
        for group in iter_pools(with_texts, self._pool_words, lambda item: sum(map(len, item[1]))):
            annotated = iter(self.annotate_texts(chain.from_iterable(word_lists for _, word_lists in group)))
            for transcript, word_lists in group:
                words = chain.from_iterable(islice(annotated, len(word_lists)))
                yield "".join(self.file_pieces(transcript, words))

    def annotate(self, text: str) -> tuple[AnnotatedWord, ...]:
        """Return each word with marks, case and confidence.  Raises InputError as `punctuate` does."""
        return tuple(word for _, words in self.iter_parts(self._read_text(text).texts) for word in words)

    def annotate_texts(self, texts: Iterable[Sequence[Word]]) -> list[list[AnnotatedWord]]:
        """Return the words of each text, in order; each text begins and ends with a sentence."""
        texts = [*texts]
        annotated = [list[AnnotatedWord]() for _ in texts]
        for number, words in self.iter_parts(texts, is_hurried=False):
            annotated[number] += words
        return annotated

    def iter_parts(
        self, texts: Iterable[Sequence[Word]], *, is_hurried: bool = True
    ) -> Iterator[tuple[int, list[AnnotatedWord]]]:
        """Yield the words of texts in order, as they are decided: the number of a text, and its next words.

        `is_hurried`: the first batches are smaller, so that the first words come soon.
        """
        views = [(number, view) for number, text in enumerate(texts) for view in views_of(text, self.config.windows)]
        waiting = dict[int, list[Vote]]()
        sentence = self.first_sentence
        words = list[Word]()  # decided, but not yielded yet
        decisions = list[Decision]()
        for pool in iter_pools(views, self._pool_words, lambda item: len(item[1].words), is_growing=is_hurried):
            for (number, view), votes in zip(pool, self.window_votes([view for _, view in pool]), strict=True):
                settled_votes = add_votes(waiting, view, votes)  # of slots on which no later window votes
                settled = [view.words[slot - view.window.start] for slot in settled_votes]
                decided, sentence = self.decide_words(settled, settled_votes.values(), sentence)
                words += settled
                decisions += decided
                if view.is_last or not self._removes:  # the marks of removed words go to words before them
                    yield number, self.write_words(words, decisions)
                    words = []
                    decisions = []
                if view.is_last:
                    sentence = self.first_sentence

    def window_input(self, words: Sequence[Word]) -> WindowInput:
        """Return words as the model reads them: long ones are shortened where it could not read so many tokens."""
        pauses = [word.pause for word in words] if self.model.task.pause_ms else []
        kept_marks = [word.given for word in words] if self.config.render.keep_marks else []
        cores = [readable(word.core) for word in words]
        window = WindowInput.of(cores, [word.takes_marks for word in words], pauses, kept_marks)
        return window.fit_to_model(self.model.tokenizer, self.config.decoding.style)

    def window_votes(self, views: Sequence[View[Word]]) -> list[tuple[Vote, ...]]:
        """Return the votes of each window on its slots but the masked ones at its right end, which saves time."""
        windows = [self.window_input(view.words) for view in views]
        n_slots = [view.window.keep_stop - view.window.start for view in views]
        return [
            tuple(self.apply_known(view, index, vote) for index, vote in enumerate(votes))
            for view, votes in zip(views, self._decoder.votes(windows, n_slots), strict=True)
        ]

    def apply_known(self, view: View[Word], index: int, vote: Vote) -> Vote:
        """Return the vote on a window's slot, changed by what is known without the model.

        That is: capitals, and no marks between, of letters that are an abbreviation; marks of the input that are kept;
        an end of a sentence where the text ends; no dash between two numbers.
        """
        letters = self._letters_around(view.words, index)
        if letters:
            abbreviation = "".join(view.words[place].normal for place in letters)
            case = Case.LOWER if abbreviation in _TIMES_OF_DAY else Case.UPPER
            has_letter_behind = index + 1 in letters
            marks = {NO_MARKS: 1.0} if has_letter_behind else vote.marks
            vote = replace(vote, marks=marks, cases={case.value: 1.0}, inside=None)
        kept_marks = view.words[index].given if self.config.render.keep_marks else NO_MARKS
        if kept_marks:
            return replace(vote, marks={kept_marks: 1.0})
        sees_next = index + 1 < len(view.words) and self.config.decoding.delay_words != 0
        if sees_next and forbids_dash(view.words[index], view.words[index + 1]):
            others = {marks: probability for marks, probability in vote.marks.items() if DASH not in marks}
            has_said_dash = not view.words[index + 1].has_slot  # `5 - 10`, which no mark cuts
            vote = replace(vote, marks={NO_MARKS: 1.0} if has_said_dash or not others else normalise(others))
        # behind the last word only quotes or brackets that stand apart may follow
        is_last_word = view.is_last and not any(word.text.strip(CLOSERS) for word in view.words[index + 1 :])
        if is_last_word and not self.config.fragment:
            return end_sentence(vote, self._alphabet.marks)
        return vote

    def _letters_around(self, words: Sequence[Word], index: int) -> range:
        """Return the indices of the letters of an abbreviation that a word is one of, `u s a`; empty if it is none.

        Only English texts have such, and no chat, which has `u r`.  With a delay, letters farther ahead do not count.
        """
        if not _is_letter(words[index]):  # nearly always
            return range(0)
        is_english = self.model.spellings.spell("i") == "I"
        if not is_english or self.model.task.style_or_default(self.decoding.style) == "chat":
            return range(0)
        earliest = max(0, index - _MOST_LETTERS)
        begin = index
        while begin > earliest and _is_letter(words[begin - 1]) and not words[begin - 1].marks:
            begin -= 1
        n_ahead = _MOST_LETTERS if self.decoding.delay_words is None else self.decoding.delay_words
        latest_stop = min(len(words), index + 1 + n_ahead)
        stop = index + 1
        while stop < latest_stop and _is_letter(words[stop]) and not words[stop - 1].marks:
            stop += 1
        letters = "".join(word.normal for word in words[begin:stop])
        if letters in _TIMES_OF_DAY:
            return range(begin, stop)
        if letters.startswith("a"):  # the article: `a d v d`
            if index == begin:  # it is the word itself
                return range(0)
            begin += 1
            letters = letters[1:]
        return range(begin, stop) if is_spelled_out(letters) else range(0)

    @property
    def alignment(self) -> AlignmentCounts | None:
        """How well all texts generated so far match their words; None for a decoder that does not generate."""
        return self._decoder.alignment if isinstance(self._decoder, GeneratingDecoder) else None

    def decide_words(
        self, words: Iterable[Word], votes_of_slots: Iterable[Sequence[Vote]], sentence: SentencePosition
    ) -> tuple[list[Decision], SentencePosition]:
        """Decide words in order, the first one at `sentence`; return the decisions, and where the next word stands."""
        render = self.config.render
        alphabet = self.model.task.alphabet
        decisions = list[Decision]()
        for word, votes in zip(words, votes_of_slots, strict=True):
            # marks and case
            positioned_votes = [apply_sentence_position(vote, word, sentence.begins) for vote in votes]
            decision = decide(positioned_votes, self.config.combine, render.alternatives)
            if decision.alternatives:
                rivals = tuple(rival for rival in decision.alternatives if DISFLUENT not in rival.marks)
                decision = replace(decision, alternatives=rivals)
            if DISFLUENT in decision.marks:  # what nobody says, a dash or an emoji, is not disfluent
                marks = decision.marks.replace(DISFLUENT, NO_MARKS)
                decision = replace(decision, marks=marks, disfluent=is_spoken(word.text))
            # where it was nearly even whether a sentence ends before the word, its capital says
            decision = agree_with_unsure(decision, sentence.unsure_case)
            kept_marks = word.given if render.keep_marks else NO_MARKS
            next_begins = begins_next(sentence.begins, word, kept_marks or decision.marks, alphabet)
            ends_here = next_begins is True  # None: whether the next word begins a sentence, that word will show

            # the opening mark: the one that is decided, or that of the input
            if decision.opening and not is_spoken(word.text):  # an emoji opens no sentence
                decision = replace(decision, opening=NO_MARKS)
            knows_none = decision.opening is None  # the model
            keeps_opening = knows_none or render.keep_marks or not word.has_slot
            kept_opening = word.opening if keeps_opening else NO_MARKS
            opened_before = sentence.opened or kept_opening
            if opened_before or decision.opening:
                decision = fit_opening(decision, opened_before, ends=ends_here)
            is_over = ends_here and word.text not in OPENING  # behind `¿` that stands apart, the sentence still begins
            next_opened = NO_MARKS if is_over else opened_before or decision.opening or NO_MARKS

            # a quotation of whole sentences
            begins_here = bool(sentence.begins or kept_opening or decision.opening)
            next_quoted = sentence.quoted or (word.opens_quote and begins_here)
            if next_quoted and word.closes_quote:
                next_quoted = False
                decision = replace(decision, ends_quote=ends_here)

            if self.config.decoding.marks is not None:  # where no end may be written, a reader sees none
                decision = write_only(decision, self.config.decoding.marks)
                next_begins = begins_next(sentence.begins, word, kept_marks or decision.marks, alphabet)
            if decision.disfluent and self._removes and not next_begins:  # the sentence begins with the next word
                next_begins = sentence.begins
            decisions.append(decision)
            next_unsure = None if kept_marks else unsure_case(decision)
            sentence = SentencePosition(next_begins, next_opened, next_quoted, next_unsure)
        return decisions, sentence

    def write_words(self, words: Iterable[Word], decisions: Iterable[Decision]) -> list[AnnotatedWord]:
        """Return decided words as they are written; the marks of a removed word go to the word before it."""
        task = self.model.task
        config = self.config.render if task.cased else replace(self.config.render, case=False)
        if self._removes:
            decisions = move_marks_of_removed_words(decisions)
        return [
            render_word(word, decision, config, task.alphabet, self.model.spellings)
            for word, decision in zip(words, decisions, strict=True)
        ]

    def read_file(
        self,
        source: str,
        format: str | None,
        writer: WriterConfig,
        terms: Terms | None = None,
        lines: Iterable[str] | None = None,
    ) -> Transcript:
        """Return a transcript, its words with the pauses behind them if the model knows pauses, and the user's terms.

        `lines`: read instead of the file `source`.  Raises InputError for what cannot be read, or written by `writer`.
        """
        task = self.model.task
        if lines is None:
            lines = source_lines_with_ends(source, keep_bom=True)
        transcript = transcript_of(lines, format, task.alphabet, source)
        check_spaced((item.word.text for item in transcript.items if isinstance(item, SpokenWord)), source)
        check_writable(transcript, writer, source, removes=self._removes)
        if task.pauses_ms:
            transcript = replace(transcript, items=add_pauses(transcript.items, task.pauses_ms))
        if terms:
            transcript = replace(transcript, items=apply_terms(transcript.items, terms))
        return transcript

    def file_pieces(
        self,
        transcript: Transcript,
        words: Iterable[AnnotatedWord],
        writer: WriterConfig | None = None,
        source: str = "the text",
    ) -> Iterable[str]:
        """Return the pieces of the file to be written.  They come as the words do, if nothing but words changes.

        `words`: those of its texts, one text after the other.  Raises InputError if the format needs times.
        """
        writer = writer or WriterConfig()
        words = in_file_order(transcript.items, words)
        if writer.format is None and not writer.paragraphs and not self._removes and not transcript.json:
            return transcript.pieces(written_items(transcript.items, words))
        return written_pieces(transcript, transcript.with_words(words), writer, source)

    def _read_text(self, text: object) -> Transcript:
        text = checked_text(text)
        if is_unspaced(text):  # a file is refused; one of many texts stops no others
            _log.warning("%s", unspaced_error(f"{text[:20]!r}"))
        mistake = opening_mistake(text.splitlines(keepends=True), f"{text[:20]!r}")  # it begins as a subtitle file does
        if mistake:
            _log.warning("%s; its times and names become words: use punctuate_file", mistake.found)
        return Transcript([*read_plain(io.StringIO(text, newline="\n"), self.model.task.alphabet)])


def _is_letter(word: Word) -> bool:
    """Return whether a word is a letter, as recognisers write those of abbreviations; marks follow the last one."""
    return len(word.text) == 1 and word.text.isascii() and word.text.isalpha()
