"""Texts -> texts with marks and capitals: the way in and out of the package.

In: a text of any length, or many; a file.  Out: the same words with marks and capitals.

>>> Punctuator().punctuate("how are you today")  # doctest: +SKIP
'How are you today?'
"""

from __future__ import annotations

import io
import logging
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from .annotator import Annotator, PunctuatorConfig
from .decoding.inputs import DecodingConfig
from .decoding.precision import computes_in_int8, on_device, with_precision
from .errors import InputError
from .model import Model, load
from .text.render import REMOVE, AnnotatedWord
from .text.spaces import check_spaced
from .text.words import Word, checked_text
from .transcripts.formats import Transcript, read_transcript, transcript_of
from .transcripts.items import (
    Item,
    SpokenWord,
    add_pauses,
    in_file_order,
    iter_pieces,
    leave_out_removed,
    texts_of,
    written_items,
)
from .transcripts.speech import read_plain
from .transcripts.terms import Terms, apply_terms
from .transcripts.writers import WriterConfig, check_writable, written_pieces
from .windows.combine import WindowVotes
from .windows.plan import View, iter_views

__all__ = ["Punctuator", "PunctuatorConfig"]
_log = logging.getLogger(__name__)


class Punctuator(Annotator):
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
        """Take a model, or load one: the default (None), one that ships, a folder or a hub id.

        `style` and so on replace the config's.  Where neither says so, a model that is loaded here computes on a GPU if
        there is one, in what `auto` takes, and a model that is given in what it does.  Raises ConfigError for what the
        model cannot do, and ModelError where there is none.
        """
        config = config or PunctuatorConfig()
        named = {"style": style, "precision": precision, "device": device}
        chosen: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
        config = replace(config, decoding=replace(config.decoding, **chosen)) if chosen else config
        super().__init__(model if isinstance(model, Model) else _load(model, config.decoding, revision), config)

    @classmethod
    def from_pretrained(
        cls, source: str | Path | None = None, config: PunctuatorConfig | None = None, **named: Any
    ) -> Punctuator:
        """Load a model by its name, as `Punctuator(source)` does."""
        return cls(source, config, **named)

    def __reduce__(self) -> tuple[type[Punctuator], tuple[Model, PunctuatorConfig]]:
        """What is pickled, for worker processes: model and settings; what was kept of words is found anew."""
        return type(self), (self.model, self.config)

    def with_config(self, **changes: object) -> Punctuator:
        """Return a punctuator of the same model with other settings."""
        return Punctuator(self.model, replace(self.config, **changes))  # type: ignore[arg-type]

    def punctuate(self, text: str) -> str:
        """Return the text with marks and capitals; its words and white space as they were.  So does a call.

        Speaker labels (`JOHN:`) and stage directions (`[laughs]`) stay, and no sentence goes on over them.
        Raises InputError for anything but a string, and for one with lone surrogates.
        """
        if isinstance(text, list | tuple):
            raise InputError(f"a {type(text).__name__} of texts", expected="one text", fix="use punctuate_many(texts)")
        return "".join(self.pieces(text))

    __call__ = punctuate

    def punctuate_many(self, texts: Iterable[str]) -> list[str]:
        """Return `punctuate` of each text, in order; windows of several are decoded together, which suits short ones.

        Raises InputError as `punctuate` does, and for a str.
        """
        return list(self.iter_punctuate(texts))

    def punctuate_file(
        self, source: str | Path, *, format: str | None = None, writer: WriterConfig | None = None
    ) -> str:
        """Return a transcript of any format with marks and capitals, in its own format or in that of `writer`.

        `format`: what the file is; None: its name tells.  Raises InputError for a file that cannot be read or written
        so.
        """
        writer = writer or WriterConfig()
        transcript = self.read_file(str(source), format, writer)
        return "".join(self.file_pieces(transcript, self.annotate_texts(transcript.texts), writer, str(source)))

    def iter_punctuate(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield what `punctuate_many` returns; texts are read some batches ahead of what is yielded."""
        if isinstance(texts, str):  # whose letters would be the texts
            raise InputError("one text", expected="several, such as a list of them", fix="use punctuate(text)")
        waiting, decided = deque[tuple[list[Item], int]](), list[AnnotatedWord]()

        def read() -> Iterator[list[Word]]:
            for text in texts:
                items = self._read_items(text)
                waiting.append((items, sum(isinstance(item, SpokenWord) for item in items)))
                yield from texts_of(items)

        for word in self.annotate_texts(read()):
            decided.append(word)
            while waiting and len(decided) >= waiting[0][1]:
                items, n_words = waiting.popleft()
                yield "".join(self._write_items(items, decided[:n_words]))
                del decided[:n_words]
        for items, _ in waiting:  # the last texts, if they have no words
            yield "".join(self._write_items(items, ()))

    def pieces(self, text: str) -> Iterator[str]:
        """Return the output in pieces, as words are decided.  Raises InputError as `punctuate` does."""
        items = self._read_items(text)
        return self._write_items(items, self.annotate_texts(texts_of(items)))

    def annotate(self, text: str) -> tuple[AnnotatedWord, ...]:
        """Return each word with label, case and confidence.  Raises InputError as `punctuate` does."""
        return tuple(self.iter_annotate(text))

    def iter_annotate(self, text: str) -> Iterator[AnnotatedWord]:
        """Yield the words of `annotate` as they are decided."""
        return self.annotate_texts(texts_of(self._read_items(text)))

    def annotate_texts(self, texts: Iterable[Sequence[Word]]) -> Iterator[AnnotatedWord]:
        """Yield the words of all texts, one after the other; each text begins and ends with a sentence.

        The windows of several texts are decoded together, some batches ahead of what is yielded.
        """
        waiting = deque[Sequence[Word]]()

        def views() -> Iterator[View[Word]]:
            for text in texts:
                if text:  # else it has no window
                    waiting.append(text)
                    yield from iter_views(text, self.config.windows)

        windows = self.window_votes(views())
        for first in windows:
            words = waiting.popleft()
            decided = self.decide_words(words, _take_to_last(chain([first], windows)), self.config.combine)
            yield from self.write_words(words, decided)

    def read_file(
        self,
        source: str,
        format: str | None,
        writer: WriterConfig,
        terms: Terms | None = None,
        lines: Iterable[str] | None = None,
    ) -> Transcript:
        """Return a transcript whose words know of pauses if the model does, and of the user's terms.

        `lines`: what is read in the place of the file `source`.  Raises InputError for a language without spaces, and
        where the transcript cannot be written so.
        """
        task = self.model.task
        if lines is None:
            transcript = read_transcript(source, format=format, alphabet=task.alphabet)
        else:
            transcript = transcript_of(lines, format, task.alphabet, source)
        check_spaced((item.word.text for item in transcript.items if isinstance(item, SpokenWord)), source)
        check_writable(transcript, writer, source, removes=self._removes)
        if pauses_ms := task.pauses_ms:
            transcript = replace(transcript, items=add_pauses(transcript.items, pauses_ms))
        return replace(transcript, items=apply_terms(transcript.items, terms)) if terms else transcript

    def file_pieces(
        self, transcript: Transcript, words: Iterable[AnnotatedWord], writer: WriterConfig, source: str
    ) -> Iterable[str]:
        """Return the file that is to be written: as its words come, if nothing else is to change.

        Raises InputError where the format needs times that the transcript does not have.
        """
        words = in_file_order(transcript.items, words)
        if writer.format is None and not writer.paragraphs and not self._removes and not transcript.json:
            return transcript.written(written_items(transcript.items, words))
        return written_pieces(transcript, transcript.with_words(words), writer, source)

    @property
    def _removes(self) -> bool:
        return self.config.render.disfluencies == REMOVE

    def _read_items(self, text: object) -> list[Item]:
        return list(read_plain(io.StringIO(checked_text(text), newline="\n"), self.model.task.alphabet))

    def _write_items(self, items: Iterable[Item], words: Iterable[AnnotatedWord]) -> Iterator[str]:
        written = written_items(items, words)
        return iter_pieces(leave_out_removed(written) if self._removes else written)


def _load(source: str | Path | None, decoding: DecodingConfig, revision: str | None) -> Model:
    """A model by its name, on its device and in its precision."""
    in_int8 = computes_in_int8(decoding.precision, decoding.device)
    model = load(source, revision=revision, to_infer=True, in_int8=in_int8)
    if not model.tuned:
        _log.warning("%s has no t5punct.yaml; a T5 that was never trained to punctuate writes nonsense", model.name)
    model = on_device(model, decoding.device or "auto")
    return model if decoding.precision else with_precision(model, "auto")


def _take_to_last(windows: Iterator[WindowVotes]) -> Iterator[WindowVotes]:
    """The windows up to the one that ends a text; those of the next text are left where they are."""
    for window_votes in windows:
        yield window_votes
        if window_votes.view.is_last:
            return
