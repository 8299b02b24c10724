"""Markdown and HTML in plain text: what of it is no speech.

In: the lines of a text with their ends.  Out: which of them are headings, rules, tables, code and the like; patterns of
tags.

>>> sorted(layout_lines(["# Talk\\n", "so what\\n", "```\\n", "x = 1\\n", "```\\n", "| a | b |\\n", "|---|---|\\n"]))
[0, 2, 3, 4, 5, 6]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+\S")
_RULE = re.compile(r"\s*([-=*_#~])\1{2,}\s*")  # below a heading, or between parts
_TARGET = re.compile(r"\s*\[[^\[\]]+\]:\s+<?(?:\w+://|\S*/|\S+\.\w{2,4}\b)\S*")  # of a link that is named elsewhere
_FENCE = re.compile(r"[\s>]*(?:(`{3,})[^`]*|(~{3,}).*)\s*", re.DOTALL)  # before and behind code, also in a quote
_RULE_OF_TABLE = frozenset("|:- \t")  # the characters of `| --- | :-: |`
_FRONT_MATTER = "---"  # before and behind settings, at the start of a file
_MOST_SETTINGS = 50  # lines of them
_INLINE = (
    "a|abbr|audio|b|big|cite|code|del|em|font|i|iframe|img|ins|kbd|mark|q|s|small|source|span|strong|sub|sup|u|video"
)
_BLOCK = (
    "article|aside|blockquote|body|br|center|dd|details|div|dl|dt|figcaption|figure|footer|h[1-6]|head|header|hr|html"
    "|li|main|nav|ol|p|section|summary|table|tbody|td|th|thead|title|tr|ul"
)
_ATTRIBUTES = r"(?:\s[^<>]*)?/?>"
# the groups are those of `speech.remove_tags`; entities stay words
HTML_TAGS = re.compile(rf"(?P<tag></?(?:{_INLINE}){_ATTRIBUTES}|<!--[^<>]*-->)|(?P<entity>(?!))", re.IGNORECASE)
HTML_BLOCKS = re.compile(rf"((?:</?(?:{_BLOCK}){_ATTRIBUTES}\s*)+)", re.IGNORECASE)  # words part here


def has_html(lines: Iterable[str]) -> bool:
    """Return whether any line has a tag of HTML."""
    return any("<" in line and (HTML_TAGS.search(line) or HTML_BLOCKS.search(line)) for line in lines)


def layout_lines(lines: Sequence[str]) -> frozenset[int]:
    """Return the indices of the lines that are no speech at all.

    They are Markdown's headings, rules, tables, fenced code, targets of links and settings before the text, and HTML's
    comments of several lines.  A fence or a comment that nothing closes is none, so that no speech is lost to it.
    """
    kept = {
        index
        for index, line in enumerate(lines)
        if (_HEADING.match(line) and "\r" not in line.rstrip("\r\n")) or _RULE.fullmatch(line) or _TARGET.match(line)
    }
    kept.update(_settings(lines), _comments(lines), _tables(lines), _code(lines))
    return frozenset(kept)


def _settings(lines: Sequence[str]) -> range:
    """Return the lines of `title: my talk` and so on between two `---`, with which a file may begin."""
    if not lines or lines[0].rstrip() != _FRONT_MATTER:
        return range(0)
    for index, line in enumerate(lines[1:_MOST_SETTINGS], start=1):
        if line.rstrip() == _FRONT_MATTER:
            return range(index + 1)
    return range(0)


def _comments(lines: Sequence[str]) -> set[int]:
    """Return the lines of comments, `<!-- .. -->`, behind which no speech stands."""
    kept = set[int]()
    begin: int | None = None  # of the comment that is open
    for index, line in enumerate(lines):
        if begin is None and line.lstrip().startswith("<!--"):
            begin = index
        if begin is not None and "-->" in line:
            if not line.partition("-->")[2].strip():  # speech may stand behind a comment
                kept.update(range(begin, index + 1))
            begin = None
    return kept


def _tables(lines: Sequence[str]) -> set[int]:
    """Return the rows around each rule, `|---|---|`: all lines with a bar that stand together."""
    kept = set[int]()
    for index, line in enumerate(lines):
        is_rule = {"|", "-"} <= {*line.strip()} <= _RULE_OF_TABLE
        if not is_rule or index in kept:
            continue
        begin = index
        end = index + 1
        while begin and "|" in lines[begin - 1]:
            begin -= 1
        while end < len(lines) and "|" in lines[end]:
            end += 1
        kept.update(range(begin, end))
    return kept


def _code(lines: Sequence[str]) -> set[int]:
    """Return fenced code with its fences; a fence closes one of the same sign that is no longer (CommonMark 4.5)."""
    kept = set[int]()
    begin = 0
    opening = ""  # the fence of the code that is open
    for index, line in enumerate(lines):
        match = _FENCE.fullmatch(line)
        if match is None:
            continue
        fence = match[1] or match[2]
        if not opening:
            begin, opening = index, fence
        elif fence.startswith(opening) and not line.lstrip(" \t>").strip().strip(fence[0]):
            kept.update(range(begin, index + 1))
            opening = ""
    return kept
