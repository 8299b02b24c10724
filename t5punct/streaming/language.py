"""Which language a stream seems to be in: a warning, once, while its first words are heard.

In: words as they arrive.  Out: a warning if the model does not know their language; InputError for a text without
spaces between words, which `t5punct punctuate` refuses too.

>>> german = LanguageWatch("large")
>>> german.hear("wie geht es dir") is None  # too little
True
>>> german.end()[:69]
'the text seems to be in German, which the model large does not know, '
>>> german.hear("so " * 100) is None  # it is said once
True
"""

from __future__ import annotations

from ..model import language_warning, unknown_language
from ..text.languages import check_spaced

_LOOK_EVERY = 20  # words
_SPACED_AFTER = 4  # words, from which on missing spaces are noticed: a single long word may be a name
_MOST_HEARD = 200  # words, after which no warning comes any more


class LanguageWatch:
    """Hears the first words of a stream."""

    def __init__(self, model_name: str) -> None:
        self._model_name = model_name
        self._heard = list[str]()
        self._is_over = False

    def hear(self, text: str) -> str | None:
        """Take more words; return a warning if there is one by now.  Raises InputError for words without spaces."""
        if self._is_over:
            return None
        is_unchecked = len(self._heard) < _LOOK_EVERY
        n_looks = len(self._heard) // _LOOK_EVERY
        self._heard += text.split()
        if is_unchecked and len(self._heard) >= _SPACED_AFTER:
            check_spaced(self._heard, "the text")
        is_time = len(self._heard) // _LOOK_EVERY > n_looks
        return self._look() if is_time else None

    def end(self) -> str | None:
        """Return a warning about all that was heard, if none was returned before.  Raises InputError as `hear` does."""
        check_spaced(self._heard, "the text")
        return None if self._is_over else self._look()

    def _look(self) -> str | None:
        language = unknown_language(self._model_name, self._heard)
        self._is_over = language is not None or len(self._heard) >= _MOST_HEARD
        return None if language is None else language_warning(self._model_name, language)
