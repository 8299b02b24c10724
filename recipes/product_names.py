"""Give a model of several languages the names of products that another model's spelling table has.

In: a model's folder, the folder of a model with more names, and texts in the first one's languages, packed or not.
Out: `spellings.txt` in the first folder, with forms such as `iPhone` and `YouTube` from the second.

A name is a word of four letters or more with a capital inside.  Those that the texts have in small letters more than
twice as often are left out, as they may be words there (`LLaMA`), and so are names of people (`DuPont`).

    python recipes/product_names.py t5punct/models/multi t5punct/models/large CORPUS/de-*.txt.xz CORPUS/fr-*.txt.xz
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from t5punct.text.io.files import lines_of_file
from t5punct.text.spelling_table import SpellingTable, read_table, write_table

_PRODUCT = re.compile(r"(?!(?:Da|De|Di|Du|La|Le|Saint|Van|Von)[A-Z])[^\W\d_]*[a-z][A-Z][^\W\d_]*")
_SHORTEST = 4  # letters
_WORD = re.compile(r"\b[^\W\d_]+\b")


def product_names(table: SpellingTable, lines: Iterable[str]) -> SpellingTable:
    """Return the names of products in a table, but for those that lines of text have as words in small letters.

    >>> product_names(SpellingTable(("DuPont", "NASA", "YouTube", "goTo", "LLaMA")), ["se llama YouTube"]).forms
    ('YouTube',)
    """
    names = [form for form in table.forms if len(form) >= _SHORTEST and _PRODUCT.fullmatch(form)]
    wanted = {*names, *map(str.lower, names)}
    counts = Counter(word for line in lines for word in _WORD.findall(line) if word in wanted)
    return SpellingTable(tuple(name for name in names if counts[name.lower()] <= 2 * counts[name]))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(f"usage: python {sys.argv[0]} MODEL OTHER TEXT ..\n\n{__doc__}")
    folder, other, *paths = sys.argv[1:]
    names = product_names(read_table(Path(other)), chain.from_iterable(map(lines_of_file, paths)))
    write_table(names.including(read_table(Path(folder))), Path(folder))
