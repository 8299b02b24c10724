"""Make a text for training and one for scores from LibreOffice's help in a language: an example of a folder of text.

In: the folder that Debian's package is unpacked in (MPL 2.0; packages of some fifty languages).  Out: `text/help.txt`
and `heldout.txt`, a page of the help in each line, one page of twenty held out.

    apt-get download libreoffice-help-cs && dpkg-deb -x libreoffice-help-cs_*.deb pages
    python recipes/read_help_pages.py pages czech

A page whose sentences are mostly headings and names of menus gives nothing: paragraphs that end as sentences do stay.
"""

from __future__ import annotations

import sys
import zlib
from html.parser import HTMLParser
from pathlib import Path

_ENDS = (".", "?", "!", ":")
_LEAST_WORDS = 40  # of a page
_HELD_OUT_OF = 20  # pages


class Paragraphs(HTMLParser):
    """The text of a page's paragraphs."""

    def __init__(self) -> None:
        super().__init__()
        self.paragraphs: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a paragraph."""
        if tag == "p" and "paragraph" in (dict(attrs).get("class") or ""):
            self._inside = True
            self.paragraphs.append("")

    def handle_endtag(self, tag: str) -> None:
        """End a paragraph."""
        self._inside = self._inside and tag != "p"

    def handle_data(self, data: str) -> None:
        """Add to a paragraph."""
        if self._inside:
            self.paragraphs[-1] += data


def read_page(path: Path) -> str:
    """Return a page's sentences in one line."""
    parser = Paragraphs()
    parser.feed(path.read_text(encoding="utf-8"))
    lines = (" ".join(paragraph.split()) for paragraph in parser.paragraphs)
    return " ".join(line for line in lines if line.endswith(_ENDS))


def main(source: Path, target: Path) -> None:
    """Write both files; a page that stands in the help twice is written once."""
    pages = dict.fromkeys(map(read_page, sorted(source.rglob("*.html"))))
    held_out, kept = list[str](), list[str]()
    for page in pages:
        if len(page.split()) >= _LEAST_WORDS:
            (kept if zlib.crc32(page.encode()) % _HELD_OUT_OF else held_out).append(page)
    (target / "text").mkdir(parents=True, exist_ok=True)
    (target / "text" / "help.txt").write_text("\n".join(kept) + "\n", encoding="utf-8")
    (target / "heldout.txt").write_text("\n".join(held_out) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f"usage: python {sys.argv[0]} IN OUT\n\n{__doc__}")
    main(Path(sys.argv[1]), Path(sys.argv[2]))
