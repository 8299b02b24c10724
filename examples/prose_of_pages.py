"""Take the prose out of Markdown pages: text to fine-tune with for who has none at hand (`make finetune-demo`).

    python examples/prose_of_pages.py README.md docs/*.md --output build/finetune-demo

Writes `learn/pages.txt` and, of one paragraph in eight, `held-out.txt`, a paragraph a line.  Left out are tables,
blocks of code, headings, pictures, and sentences with code in them that is more than a word.
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

EVERY = 8  # of so many paragraphs one is held out
WANTED_WORDS = 20_000
LEAST_WORDS = 8  # of a paragraph
# blocks of code, comments, rows of tables, headings, rulers; all end a paragraph
NO_PROSE = r"```.*?```|<!--.*?-->|^[ ]*(?:\||#|!\[|---|===).*?$"
BULLET = r"^[ ]*(?:[-*+]|\d+\.)[ ]+"


def iter_paragraphs(page: str) -> Iterator[str]:
    """Yield the paragraphs and list items of a Markdown page as plain sentences."""
    page = re.sub(NO_PROSE, "\n\n", page, flags=re.DOTALL | re.MULTILINE)
    page = re.sub(BULLET, "\n", page, flags=re.MULTILINE)
    for paragraph in re.split(r"\n[ ]*\n", page):
        text = " ".join(paragraph.split())
        text = re.sub(r" \(\[[^\]]*\]\([^)]*\)\)", "", text)  # links in brackets
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)  # links
        text = re.sub(r" \((?:[^()`]*`[^`]*`)+[^()]*\)", "", text)  # code in brackets
        text = re.sub(r"`([\w.'-]+)`", r"\1", text).replace("**", "")
        sentences = [part for part in re.split(r"(?<=[.?!:]) ", text) if not re.search(r"[`|<>{}=*]", part)]
        if sum(len(sentence.split()) for sentence in sentences) >= LEAST_WORDS:
            yield " ".join(sentences)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path, nargs="+")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    paragraphs = [text for page in options.pages for text in iter_paragraphs(page.read_text(encoding="utf-8"))]
    held_out = paragraphs[EVERY - 1 :: EVERY]
    learned = [text for number, text in enumerate(paragraphs, start=1) if number % EVERY]
    (options.output / "learn").mkdir(parents=True, exist_ok=True)
    for path, texts in (("learn/pages.txt", learned), ("held-out.txt", held_out)):
        (options.output / path).write_text("\n".join(texts) + "\n", encoding="utf-8")
    n_learned, n_held_out = (sum(len(text.split()) for text in texts) for texts in (learned, held_out))
    few = f", fewer than the {WANTED_WORDS:,} that were wanted" if n_learned < WANTED_WORDS else ""
    print(f"{n_learned:,} words to learn from{few}, {n_held_out:,} held out, of {len(options.pages)} pages")


if __name__ == "__main__":
    main()
