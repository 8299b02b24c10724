"""Make the spelling table of a model from whole corpora: `t5punct prepare` makes one of the text that it takes.

In: a model's folder, a list of words, one a line (`-`: none), and texts, one document a line, packed or not.
Out: `spellings.txt` in the folder.  Names that the list has in small letters, too (`mayo`), are left out.

    python recipes/learn_spellings.py t5punct/models/large /usr/share/dict/american-english-huge CORPUS/spoken-*.txt.xz
"""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path

from t5punct.text.io.files import lines_of_file
from t5punct.text.spelling_table import write_table
from t5punct.training.data.spellings import learn_table

if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(f"usage: python {sys.argv[0]} MODEL WORDS TEXT ..\n\n{__doc__}")
    folder, word_list, *paths = sys.argv[1:]
    words = [] if word_list == "-" else [line.strip() for line in lines_of_file(word_list)]
    lower_words = {word for word in words if word.islower()}
    write_table(learn_table(chain.from_iterable(map(lines_of_file, paths)), lower_words), Path(folder))
