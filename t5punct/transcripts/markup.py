"""Markdown and HTML in plain text: what of it is no speech.

In: the lines of a text with their ends.  Out: which of them are headings, tables and code; patterns of tags.

>>> sorted(markdown_lines(["# Talk\\n", "so what\\n", "```\\n", "x = 1\\n", "```\\n", "| a | b |\\n", "|---|---|\\n"]))
[0, 2, 3, 4, 5, 6]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+\S")
_FENCE = re.compile(r"\s*(```|~~~)")
_ROW = re.compile(r"\s*\|")
_RULE_OF_TABLE = re.compile(r"\s*\|?\s*:?-{3,}:?\s*(?:\|\s*:?-{3,}:?\s*)*\|?\s*")
_INLINE = "a|abbr|b|big|cite|code|em|font|i|mark|s|small|span|strong|sub|sup|u"
_BLOCK = "blockquote|body|br|dd|div|dl|dt|h[1-6]|head|hr|html|li|ol|p|section|table|tbody|td|th|thead|title|tr|ul"
_ATTRIBUTES = r"(?:\s[^<>]*)?/?>"
# the groups are those of `speech.remove_tags`; entities stay words
HTML_TAGS = re.compile(rf"(?P<tag></?(?:{_INLINE}){_ATTRIBUTES})|(?P<entity>(?!))", re.IGNORECASE)
HTML_BLOCKS = re.compile(rf"(\s*(?:</?(?:{_BLOCK}){_ATTRIBUTES}\s*)+)", re.IGNORECASE)  # words part here


def has_html(lines: Iterable[str]) -> bool:
    """Return whether any line has a tag of HTML."""
    return any("<" in line and (HTML_TAGS.search(line) or HTML_BLOCKS.search(line)) for line in lines)


def markdown_lines(lines: Sequence[str]) -> frozenset[int]:
    """Return the indices of the lines that are Markdown's headings, tables and fenced code."""
    kept = {index for index, line in enumerate(lines) if _HEADING.match(line)}
    fences = [index for index, line in enumerate(lines) if _FENCE.match(line)]
    for begin, end in zip(fences[::2], fences[1::2], strict=False):  # the first opens code, the second closes it, ..
        kept.update(range(begin, end + 1))
    for index, line in enumerate(lines):
        if not ("|" in line and _RULE_OF_TABLE.fullmatch(line)):
            continue
        begin = index  # the table goes on above its rule and below it
        end = index + 1
        while begin and _ROW.match(lines[begin - 1]):
            begin -= 1
        while end < len(lines) and _ROW.match(lines[end]):
            end += 1
        kept.update(range(begin, end))
    return frozenset(kept)
