"""What a cut vocabulary costs: pieces a word by language, for several numbers of pieces (recipes/cut_vocabulary.py).

python benchmarks/vocabulary.py runs/parent/e5 prepared/multi ../shared/corpus 16000 24000 32000 40000
"""

from __future__ import annotations

import lzma
import sys
from collections import Counter
from pathlib import Path

from tokenizers import Tokenizer

from t5punct.text.words import split

sys.path.insert(0, str(Path(__file__).parents[1] / "recipes"))
from cut_vocabulary import count_chunk_words, cut_pieces

N_WORDS = 300_000  # of each file, the first ones
ENGLISH = ("spoken", "written")  # how the names of English files begin


def words_by_language(corpus: Path) -> dict[str, Counter[str]]:
    """Return how often each word occurs in the files of a language, as a model reads them."""
    languages: dict[str, Counter[str]] = {}
    for path in sorted(corpus.glob("*.txt.xz")):
        begin = path.name.split("-")[0]
        counts = languages.setdefault("en" if begin in ENGLISH else begin, Counter())
        n_words = 0
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                words = [word.normal for word in split(line).words]
                counts.update(words)
                n_words += len(words)
                if n_words > N_WORDS:
                    break
    return languages


def pieces_a_word(tokenizer: Tokenizer, words: Counter[str]) -> float:
    """Return the mean over all words of a text."""
    encoded = tokenizer.encode_batch(list(words), add_special_tokens=False)
    n_pieces = sum(len(pieces.ids) * count for pieces, count in zip(encoded, words.values(), strict=True))
    return n_pieces / sum(words.values())


def main(parent: Path, data: str, corpus: Path, sizes: list[int]) -> None:
    """Print a row for each number of pieces."""
    languages, needed = words_by_language(corpus), count_chunk_words(data)
    whole = Tokenizer.from_file(str(parent / "tokenizer.json"))
    print("| pieces |", " | ".join(languages), "|")
    print("| --- |", " --- |" * len(languages))
    cuts = [(f"{size:,}", cut_pieces(whole, needed, size)) for size in sizes]
    for name, tokenizer in [("all, with capitals", whole), *((name, cut.tokenizer) for name, cut in cuts)]:
        print(f"| {name} |", " | ".join(f"{pieces_a_word(tokenizer, words):.2f}" for words in languages.values()), "|")
    for _, cut in cuts:
        print(cut.report)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), [int(size) for size in sys.argv[4:]])
