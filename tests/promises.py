"""What is promised of every file, whatever is in it: checked with marks and case by chance."""

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from chance import PunctuatorByChance, bare, by_chance, reading, spoken, unchanged

from t5punct.errors import InputError
from t5punct.punctuator import PunctuatorConfig
from t5punct.text.marks import DISFLUENT, OPENING, OTHER_SCRIPTS, Alphabet
from t5punct.text.words import Word, words_of
from t5punct.transcripts.items import Item, Role, SpokenWord
from t5punct.transcripts.speech import read_plain

Punctuate = Callable[[str, str, int, Alphabet], tuple[str, list[str]]]
_MARKS_AND_SPACES = re.compile(rf"(?:&nbsp;?|[\s,.?!:;…–—―{''.join((*OTHER_SCRIPTS, *OPENING))}-])+", re.IGNORECASE)
_LABEL_TIME = re.compile(r"\[\d\d:\d\d\]\s*$")  # a word in capitals before a time may become a label: `THAT [00:01]`
_CELL_ENDS = {"ctm": r"\s+", "tsv": r"\t"}
_WORD_KEYS = ("text", "transcript", "word", "punctuated_word", "content")
ALPHABET = Alphabet()  # a file is read with the marks that the model knows


class BrokenPromise(AssertionError):
    """Something else than marks and capitals has changed."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A file that was checked: how many words it has; of one that was refused none."""

    n_words: int = 0
    is_refused: bool = False


def check(name: str, text: str, seed: int, punctuate: Punctuate = by_chance, *, is_hostile: bool = False) -> Checked:
    """Raises BrokenPromise; `is_hostile`: whether the output need not be read as the input is."""
    try:
        before = spoken(reading(text, name, ALPHABET).items)
    except InputError:
        _demand(name in ("json", "tsv", "csv"), "no file is refused", name, text)
        return Checked(is_refused=True)
    lines = text if "\n" in text else text.replace("\r", "\n")  # as old Macs ended them
    _demand(name == "json" or unchanged(reading(text, name, ALPHABET)) == lines, "all is read", name, text)
    new, written = punctuate(text, name, seed, ALPHABET)
    _demand(len(written) == len(before), "every word is written", text, new)
    _check_letters(name, text, new)
    if not is_hostile:
        after = reading(new, name, ALPHABET).items
        _demand(_shown(after) == _shown(reading(text, name, ALPHABET).items), "words are read again", text, new)
        again = punctuate(new, name, seed, ALPHABET)[0]
        if len(spoken(after)) < len(before):  # `so C:` became a label, `So. C:`: what is behind it has other decisions
            _check_letters(name, new, again)
            return Checked(len(before))
        said, now = (_without_quotes(bare(file, name, ALPHABET), name) for file in (text, new))
        _demand(name == "json" or now == said, "nothing moves", text, new)
        _demand(_settled(again) == _settled(new), "the same decisions give the same file", text, new)
    return Checked(len(before))


def check_annotate(given: tuple[str, PunctuatorConfig], seed: int) -> Checked:
    """The same of a text that goes the whole way, with windows and votes."""
    text, config = given
    punctuator = PunctuatorByChance(config, seed)
    words, new = punctuator.annotate(text), punctuator.punctuate(text)
    read = _spoken_in(text)
    _demand([word.word for word in words] == read, "every word is annotated", text, new)
    said, now = letters(text), letters(new)
    match config.render.disfluencies:
        case "keep":
            _demand(now == said, "marks and capitals alone change", text, new)
            # kept, or `so C:` became a label, or in a window of one word a dash came between two numbers
            if config.render.keep_marks or len(_spoken_in(new)) != len(read):
                return Checked(len(words))
            _demand(
                _settled(punctuator.punctuate(new)) == _settled(new), "the same decisions give the same text", text, new
            )
        case "mark":
            _demand(now.replace(DISFLUENT, "") == said.replace(DISFLUENT, ""), "signs alone are added", text, new)
        case _:
            rest = iter(said)
            _demand(all(letter in rest for letter in now), "words alone are removed", text, new)
    return Checked(len(words))


def _spoken_in(text: str) -> list[str]:
    return [word.word.text for word in spoken(read_plain(io.StringIO(text, newline="\n"), ALPHABET))]


def letters(text: str) -> str:
    """A text without marks, white space and capitals."""
    return _MARKS_AND_SPACES.sub("", text).casefold()


def _settled(text: str) -> str:
    """A text without what may change a second time.

    The full stop of `J.` is no more its own where the letter is small, and `so;)` would be a face where `so);` is none.
    """
    return re.sub("[.:;]", "", text)


def _without_quotes(text: str, name: str) -> str:
    """A csv without quotes: a cell gets them where a comma comes into it."""
    return text.replace('"', "") if name == "csv" else text


def _without_mark_rows(text: str, cell_ends: str | None) -> str:
    """A table without the rows of marks, which come and go; other files as they are."""
    if cell_ends is None:
        return text
    rows = ((row, re.split(cell_ends, row)) for row in re.split(r"[\r\n]", text))
    return "\n".join(row for row, cells in rows if all(letters(cell) or not cell.strip() for cell in cells))


def _shown(items: Iterable[Item]) -> list[str]:
    """The words of a file and of its labels, as they are read."""
    words = list[Word]()
    for item in items:
        if isinstance(item, SpokenWord):
            words.append(item.word)
        elif item.role is Role.SPEAKER:
            words += words_of(_LABEL_TIME.sub("", item.shown), ALPHABET)
    return [_read(word) for word in words]


def _read(word: Word) -> str:
    return word.with_opening("").text.casefold().rstrip(".")


def _check_letters(name: str, text: str, new: str) -> None:
    if name == "json":
        _check_json(text, new)
        return
    files = (_without_quotes(file, name) for file in (text, new))
    said, now = (_without_mark_rows(file, _CELL_ENDS.get(name)) for file in files)
    _demand(letters(now) == letters(said), "marks and capitals alone change", text, new)


def _check_json(text: str, new: str) -> None:
    try:
        pairs = zip(_strings(_loaded(text)), _strings(_loaded(new)), strict=True)
        is_known = any(
            _holds_words(path) and value[:1] == '"' for path, value in _strings(_loaded(text), is_quoted=True)
        )
        same = [
            path == other and (said == now or ((_holds_words(path) or not is_known) and letters(said) == letters(now)))
            for (path, said), (other, now) in pairs
        ]
    except ValueError as error:
        raise BrokenPromise(f"json stays json of the same layout: {error}\n{text}\n{new}") from error
    _demand(all(same), "the letters of all strings stay", text, new)


def _holds_words(path: str) -> bool:
    """Whether a key holds words, or a list of texts; where none of a file does, its lists of words may."""
    return path.rpartition(".")[2] in (*_WORD_KEYS, "text[]", "transcript[]")


def _loaded(text: str) -> Any:
    # an integer may have thousands of digits; as a tuple it is no string
    return json.loads(text.removeprefix("\ufeff"), parse_int=lambda digits: (digits,))


def _strings(value: Any, path: str = "", *, is_quoted: bool = False) -> Iterator[tuple[str, str]]:
    """All values with their paths, strings as they are or quoted.

    Not the items of marks, which come and go, nor what refers to them.
    """
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _strings(member, f"{path}.{key}", is_quoted=is_quoted)
    elif isinstance(value, list):
        for element in value:
            if (
                not (isinstance(element, dict) and element.get("type") == "punctuation")
                and path != ".results.audio_segments[].items"
            ):
                yield from _strings(element, f"{path}[]", is_quoted=is_quoted)
    else:
        yield path, value if isinstance(value, str) and not is_quoted else json.dumps(value)


def _demand(is_kept: bool, promise: str, text: str, new: str) -> None:
    if not is_kept:
        raise BrokenPromise(f"{promise}\n{text!r}\n{new!r}")
