"""What any transcript can be written as: text, and tables of words: json, CTM, TSV, CSV.

In: the written items of a transcript of any format.  Out: the file, in pieces; its words are never held all at once.

>>> from ..text.render import AnnotatedWord
>>> from ..text.words import Word
>>> from .items import *
>>> so = WrittenWord(SpokenWord(Word("so"), start_ms=1500), AnnotatedWord("so", "So.", ".", "capitalised", 1, 1))
>>> "".join(write_tsv([Kept("", breaks=True), so], "talk"))
'word\\tstart\\tend\\nSo.\\t1.500\\t\\n'
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath

from ..errors import InputError
from .items import Kept, WrittenItem, WrittenWord, iter_pieces, leave_out_removed, without_spaces


def write_text(written: Iterable[WrittenItem], source: str) -> Iterator[str]:
    """Return the items as they are, one after the other."""
    return iter_pieces(written)


def write_json(written: Sequence[WrittenItem], source: str) -> Iterator[str]:
    """Yield a line of json.

    start, end: seconds, if the input has times; start_char, end_char: where the word stands in what `punctuate` makes
    of the input in its own format (of json: in its words, with their white space).  Words that were removed are listed
    behind the others, if there are some.
    """
    yield f'{{"source": {json.dumps(source, ensure_ascii=False)}, "words": ['
    place, comma = 0, ""
    for item in leave_out_removed(written):
        if isinstance(item, Kept):
            place += len(item.text)
            continue
        spoken, stop = item.spoken, place + len(item.in_file)
        times = seconds(spoken.start_ms, spoken.end_ms)
        word_values = {**item.annotated.as_dict(), **times, "start_char": place, "end_char": stop - len(spoken.after)}
        yield comma + json.dumps(word_values, ensure_ascii=False)
        place, comma = stop, ", "
    removed = [
        json.dumps(
            {"word": item.annotated.word, **seconds(item.spoken.start_ms, item.spoken.end_ms)}, ensure_ascii=False
        )
        for item in written
        if isinstance(item, WrittenWord) and item.is_removed
    ]
    yield f'], "removed": [{", ".join(removed)}]}}\n' if removed else "]}\n"


def seconds(start_ms: int | None, end_ms: int | None) -> dict[str, float]:
    """Return the times of a word as json has them, those that are known."""
    return {name: ms / 1000 for name, ms in (("start", start_ms), ("end", end_ms)) if ms is not None}


def write_ctm(written: Iterable[WrittenItem], source: str) -> Iterator[str]:
    """Write NIST's CTM.  Raises InputError for a word without times."""
    name = "_".join(PurePath(source).name.split(".")[0].split()) or "-"  # white space would begin another field
    for item in _words(written):
        start_ms, end_ms = item.spoken.start_ms, item.spoken.end_ms
        if start_ms is None or end_ms is None:
            raise InputError(
                f"no time for the word {item.annotated.word!r}",
                expected="words with start and end",
                fix="write another format",
            )
        yield f"{name} 1 {start_ms / 1000:.3f} {(end_ms - start_ms) / 1000:.3f} {without_spaces(item.annotated.text)}\n"


def write_tsv(written: Iterable[WrittenItem], source: str) -> Iterator[str]:
    """Yield a table with the header `word`, `start`, `end`; times in seconds, empty where they are not known."""
    yield "word\tstart\tend\n"
    for item in _words(written):
        times = ("" if ms is None else f"{ms / 1000:.3f}" for ms in (item.spoken.start_ms, item.spoken.end_ms))
        yield "\t".join([item.annotated.text, *times]) + "\n"


def write_csv(written: Iterable[WrittenItem], source: str) -> Iterator[str]:
    """Yield the same table with commas, and quotes where they are needed."""
    for row in write_tsv(written, source):
        cells = row.rstrip("\n").split("\t")
        yield ",".join(f'"{cell}"' if "," in cell else cell for cell in cells) + "\n"


def _words(written: Iterable[WrittenItem]) -> Iterator[WrittenWord]:
    return (item for item in written if isinstance(item, WrittenWord))
