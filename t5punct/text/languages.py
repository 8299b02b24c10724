"""Which language a text seems to be in, and whether it has spaces between words.

In: words.  Out: a language, `German`, or an alphabet, `Cyrillic letters`; None if the text is too short or unclear.
The guess is made from a text's alphabet, its letters, and its small words, which are frequent in any text.

Chinese, Japanese, Thai, Lao, Burmese and Khmer are written without spaces, and must be cut into words first.

>>> guess_language("wie geht es dir heute und was machst du".split())
'German'
>>> guess_language("how are you today and what do you do".split()), guess_language(["hola"])
('English', None)
>>> is_unspaced("我们知道这个事情是对的吗 我不知道今天天气"), is_unspaced("我们 知道 这个 事情 " * 9)
(True, False)
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from ..errors import InputError

LANGUAGES = {
    "en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian", "pt": "Portuguese",
    "nl": "Dutch", "pl": "Polish", "hu": "Hungarian",
}  # fmt: skip
# letters that only one of these languages has
_OWN_LETTERS = {
    "German": "ß", "Spanish": "ñ", "Portuguese": "ãõ", "Polish": "ąęłśźż", "Hungarian": "őű", "Czech": "ěřů",
    "Slovak": "ľĺŕ", "Romanian": "ățșţ", "Turkish": "ğı",
    "Vietnamese": "ơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ",
}  # fmt: skip
# the most frequent words of the training corpora, without titles, names and topics; languages share some, but a text
# has more of its own language's
_BLOCKS = Path(__file__).with_name("small_words.txt").read_text(encoding="utf-8").split("\n\n")
SMALL_WORDS = {name: frozenset(words.split()) for name, words in (block.split(":\n") for block in _BLOCKS)}
_WORDS = 1000  # how many first words of a text are read
_FEWEST = 3  # words of a language: in a shorter text, the language is not clear
_LEAST_SHARE = 0.15  # of a language's words among all words; a text in the language has a third or more
# first and last letter of a script, and the letters of a long word
_SCRIPTS = (
    ("\u0e00", "\u0eff", 8),  # Thai, Lao
    ("\u1000", "\u109f", 8),  # Burmese
    ("\u1780", "\u17ff", 8),  # Khmer
    ("\u3040", "\u30ff", 4),  # kana
    ("\u3400", "\u9fff", 3),  # ideographs
    ("\U00020000", "\U0003ffff", 3),
)
_ANY_SCRIPT = re.compile(f"[{''.join(f'{first}-{last}' for first, last, _ in _SCRIPTS)}]")


def guess_language(words: Iterable[str]) -> str | None:
    """Return the language of a text's first words, or their alphabet if it is not Latin; None if it is not clear."""
    first_words = [word.lower().strip(".,?!:;\"'()[]") for word in islice(words, _WORDS)]
    letters = Counter(filter(str.isalpha, "".join(first_words)))
    alphabets = Counter[str]()  # how many letters of the text are of each
    for letter, n_times in letters.items():
        alphabet = unicodedata.name(letter, "").partition(" ")[0].capitalize()  # of `LATIN SMALL LETTER A`, `Latin`
        alphabets[alphabet] += n_times
    del alphabets[""]  # letters without a name
    if not alphabets:
        return None
    [(alphabet, _)] = alphabets.most_common(1)
    if alphabet != "Latin":
        return "Chinese characters" if alphabet == "Cjk" else f"{alphabet} letters"
    counts = Counter[str]()  # of each language, its small words, and words with letters that only it has
    for language, small_words in SMALL_WORDS.items():
        letters_of_its_own = {*_OWN_LETTERS.get(language, "")}
        counts[language] = sum(word in small_words or not letters_of_its_own.isdisjoint(word) for word in first_words)
    [(language, most), (_, second_most)] = counts.most_common(2)
    is_clear = most > second_most and most >= max(_FEWEST, _LEAST_SHARE * len(first_words))
    return language if is_clear else None


def is_unspaced(text: str) -> bool:
    """Return whether a text's first words are mostly of a script without spaces, and longer than words of it are."""
    if not _ANY_SCRIPT.search(text):
        return False
    n_letters = 0
    n_unspaced = 0  # letters of scripts without spaces
    n_as_words = 0  # how many of these letters there would be if each piece were a long word
    for piece in text.split(maxsplit=_WORDS)[:_WORDS]:
        lengths = [longest for char in piece for first, last, longest in _SCRIPTS if first <= char <= last]
        n_letters += sum(map(str.isalpha, piece))
        n_unspaced += len(lengths)
        n_as_words += max(lengths, default=0)
    return 2 * n_unspaced > n_letters and n_unspaced > n_as_words


def check_spaced(words: Iterable[str], source: str) -> None:
    """Raise InputError for a text without spaces between words.  source: the text's name, for the error."""
    if is_unspaced(" ".join(islice(words, _WORDS))):
        raise unspaced_error(source)


def unspaced_error(source: str) -> InputError:
    """Return the error for a text without spaces between words.  source: the text's name."""
    return InputError(
        f"{source}, whose words have no spaces between them",
        expected="words with white space between, since a word is never cut",
        fix="cut it into words first (jieba, fugashi and PyThaiNLP do), and join them again after",
    )
