"""Markdown and HTML in plain text: lines and tags that are no speech.

In: the lines of a text with their ends.  Out: the indices of headings, rules, tables, code and the like.
`HTML_TAGS` and `HTML_BLOCKS` match tags.

>>> sorted(layout_lines(["# Talk\\n", "so what\\n", "```\\n", "x = 1\\n", "```\\n", "| a | b |\\n", "|---|---|\\n"]))
[0, 2, 3, 4, 5, 6]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+\S")
_RULE = re.compile(r"\s*([-=*_#~])\1{2,}\s*")  # below a heading, or between parts
_FRAMED = re.compile(r"\s*([-=*#~])\1{2,}[ \t]+\S.{0,60}[ \t]\1{3,}\s*")  # `--- MUSIC ---`
# `[1]: https://.. "title"`; more words behind it are speech, as in `[Ann]: and/or what`
_LINK_TARGET = re.compile(
    r'\s*\[[^\[\]]+\]:\s+(?!</)<?(?![¿¡])(?=\w+://|[^\s<>]*/|[^\s<>]+\.\w{2,4}\b)[^\s<>]++>?(?:\s+"[^"]*")?\s*'
)
_FENCE = re.compile(r"[\s>]*(?:(`{3,})[^`]*|(~{3,}).*)\s*", re.DOTALL)  # before and behind code, also in a quote
_TABLE_RULE_CHARS = frozenset("|:- \t")  # of `| --- | :-: |`
_FRONT_MATTER = "---"  # before and behind settings, at the start of a file
_MOST_SETTINGS = 50  # lines of settings
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
HTML_BLOCKS = re.compile(rf"((?:</?(?:{_BLOCK}){_ATTRIBUTES}\s*)+)", re.IGNORECASE)  # no word goes on over these


def has_html(lines: Iterable[str]) -> bool:
    return any("<" in line and (HTML_TAGS.search(line) or HTML_BLOCKS.search(line)) for line in lines)


def layout_lines(lines: Sequence[str]) -> frozenset[int]:
    """Return the indices of the lines that are no speech at all.

    A fence or a comment that is not closed does not count, so that no speech is lost.
    """
    layout = set[int]()
    for index, line in enumerate(lines):
        is_heading = _HEADING.match(line) and "\r" not in line.rstrip("\r\n")
        is_rule = _RULE.fullmatch(line) or _FRAMED.fullmatch(line)
        if is_heading or is_rule or _LINK_TARGET.fullmatch(line):
            layout.add(index)
    layout.update(_settings(lines), _comments(lines), _tables(lines), _code(lines))
    return frozenset(layout)


def _settings(lines: Sequence[str]) -> range:
    """Return the indices of settings, such as `title: my talk`, and of the two `---` around them."""
    if not lines or lines[0].rstrip() != _FRONT_MATTER:
        return range(0)
    for index, line in enumerate(lines[1:_MOST_SETTINGS], start=1):
        if line.rstrip() == _FRONT_MATTER:
            return range(index + 1)
    return range(0)


def _comments(lines: Sequence[str]) -> set[int]:
    """Return the indices of comments, `<!-- .. -->`, behind which no speech stands on the last line."""
    comments = set[int]()
    begin: int | None = None  # of the comment that is open
    for index, line in enumerate(lines):
        if begin is None and line.lstrip().startswith("<!--"):
            begin = index
        if begin is not None and "-->" in line:
            if not line.partition("-->")[2].strip():
                comments.update(range(begin, index + 1))
            begin = None
    return comments


def _tables(lines: Sequence[str]) -> set[int]:
    """Return the indices of tables: the lines with `|` around each rule, `|---|---|`."""
    tables = set[int]()
    for index, line in enumerate(lines):
        is_rule = {"|", "-"} <= {*line.strip()} <= _TABLE_RULE_CHARS
        if not is_rule or index in tables:
            continue
        begin = index
        end = index + 1
        while begin and "|" in lines[begin - 1]:
            begin -= 1
        while end < len(lines) and "|" in lines[end]:
            end += 1
        tables.update(range(begin, end))
    return tables


def _code(lines: Sequence[str]) -> set[int]:
    """Return the indices of fenced code and its fences.

    The closing fence has the same characters as the opening one, and is at least as long (CommonMark 4.5).
    """
    code = set[int]()
    begin = 0
    opening = ""  # the fence of the code that is open; empty: none is
    for index, line in enumerate(lines):
        match = _FENCE.fullmatch(line)
        if match is None:
            continue
        fence = match[1] or match[2]
        is_bare = not line.lstrip(" \t>").strip().strip(fence[0])  # nothing else stands on its line
        if not opening:
            opening = fence
            begin = index
        elif fence.startswith(opening) and is_bare:
            code.update(range(begin, index + 1))
            opening = ""
    return code
