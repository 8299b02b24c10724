"""Whether a text is in a language that writes no spaces between words: Chinese, Japanese, Thai, Lao, Burmese, Khmer.

In: a text.  Out: whether what stands between white space are phrases, and so no words that marks could stand behind.
Text of these languages that was cut into words before is a text like any other.

>>> is_unspaced("我们知道这个事情是对的吗 我不知道今天天气"), is_unspaced("我们 知道 这个 事情 " * 9)
(True, False)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from ..errors import InputError

# first and last letter of a script, and how many letters a word has at most on average
_SCRIPTS = (
    ("\u0e00", "\u0eff", 8),  # Thai, Lao
    ("\u1000", "\u109f", 8),  # Burmese
    ("\u1780", "\u17ff", 8),  # Khmer
    ("\u3040", "\u30ff", 4),  # kana
    ("\u3400", "\u9fff", 4),  # ideographs
    ("\U00020000", "\U0003ffff", 4),
)
_ANY_SCRIPT = re.compile(f"[{''.join(f'{first}-{last}' for first, last, _ in _SCRIPTS)}]")
_WORDS = 1000  # of a text, the first ones


def is_unspaced(text: str) -> bool:
    """Return whether most letters of a text's first words are of such scripts, in pieces longer than words are."""
    if not _ANY_SCRIPT.search(text):
        return False
    n_letters = n_unspaced = most = 0
    for word in text.split(maxsplit=_WORDS)[:_WORDS]:
        lengths = [longest for char in word for first, last, longest in _SCRIPTS if first <= char <= last]
        n_letters += sum(map(str.isalpha, word))
        n_unspaced += len(lengths)
        most += max(lengths, default=0)
    return 2 * n_unspaced > n_letters and n_unspaced > most


def check_spaced(words: Iterable[str], source: str) -> None:
    """Raise InputError for a text without spaces between words; `source` names it."""
    if is_unspaced(" ".join(islice(words, _WORDS))):
        raise unspaced(source)


def unspaced(source: str) -> InputError:
    """Return the error of such a text."""
    return InputError(
        f"{source}, whose words have no spaces between them",
        expected="words with white space between, since a word is never cut",
        fix="cut it into words first (jieba, fugashi and PyThaiNLP do), and join them again after",
    )
