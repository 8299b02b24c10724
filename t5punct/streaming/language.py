"""A warning, once for each stream, if its first words are in a language that the model does not know.

In: words as they arrive.  Out: a warning, or None.  Text without spaces between words is refused by an InputError.

>>> german = LanguageWatch("large")
>>> german.hear("wie geht es dir") is None  # too little
True
>>> german.end()[:69]
'the text seems to be in German, which the model large does not know, '
"""

from __future__ import annotations

from ..model import language_warning, unknown_language
from ..text.languages import check_spaced

_GUESS_EVERY = 20  # words
_SPACED_AFTER = 4  # words; of fewer, a long one may be a name, not a text without spaces
_MOST_HEARD = 200  # words, after which no warning comes any more


class LanguageWatch:
    """Hears the first words of a stream, and guesses their language from time to time."""

    def __init__(self, model_name: str) -> None:
        self._model_name = model_name
        self._heard = list[str]()
        self._is_over = False

    def hear(self, text: str) -> str | None:
        """Take more words; return a warning if there is one by now.  Raises InputError for words without spaces."""
        if self._is_over:
            return None
        is_unchecked = len(self._heard) < _GUESS_EVERY
        n_guesses = len(self._heard) // _GUESS_EVERY
        self._heard += text.split()
        if is_unchecked and len(self._heard) >= _SPACED_AFTER:
            check_spaced(self._heard, "the text")
        is_time = len(self._heard) // _GUESS_EVERY > n_guesses
        return self._guess() if is_time else None

    def end(self) -> str | None:
        """Return a warning about all words; None after 200 of them or an earlier one.  Raises InputError as `hear`."""
        check_spaced(self._heard, "the text")
        return None if self._is_over else self._guess()

    def _guess(self) -> str | None:
        language = unknown_language(self._model_name, self._heard)
        self._is_over = language is not None or len(self._heard) >= _MOST_HEARD
        return None if language is None else language_warning(self._model_name, language)
