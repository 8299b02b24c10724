"""Make the spelling table of a model from whole corpora: `t5punct prepare` makes one of the text that it takes.

In: a model's folder, and texts, one document a line, packed or not.  Out: `spellings.txt` in the folder.

    python recipes/learn_spellings.py t5punct/models/large CORPUS/spoken-*.txt.xz
"""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path

from t5punct.text.io.files import read_lines
from t5punct.text.spelling_table import write_table
from t5punct.training.data.spellings import learn_table

if __name__ == "__main__":
    folder, *paths = sys.argv[1:]
    write_table(learn_table(chain.from_iterable(map(read_lines, paths))), Path(folder))
