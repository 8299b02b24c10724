"""Speaker labels and stage directions of a line, also behind and inside tags."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

import pytest
from chance import reading, unchanged
from hypothesis import given
from hypothesis import strategies as st

from t5punct.transcripts.formats import Transcript
from t5punct.transcripts.items import Item, Kept
from t5punct.transcripts.speech import OVERRIDES, TAGS, read_line

PIECES = ["<i>", "</i>", "{\\an8}", "&gt;", "&amp;", ">>", "JOHN:", "- ", "so", "[laughs]", "♪", " ", "\n", "it's", "<"]


def _shown(items: Iterable[Item]) -> list[str]:
    shown = ((f"[{item.shown}]" if item.shown else "") if isinstance(item, Kept) else item.word.text for item in items)
    return [text for text in shown if text]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("<i>MARY: so</i> it is", "[MARY:] so it is"), ("<i>MARY:</i> so", "[MARY:] so"),
        ("<b>MA</b>RY: so", "[MARY:] so"), ("{\\an8}JOHN: so", "[JOHN:] so"), ("&gt;&gt; so", "[>>] so"),
        ("&gt;&gt;so", "[>>] so"), (">>JOHN: so", "[>>JOHN:] so"), (">>so", "[>>] so"), ("<i>- no</i>", "[-] no"),
        ("yes <i>[laughs]</i> no", "yes [[laughs]] no"), ("<i>[door opens]</i>", "[[door opens]]"),
        ("{\\an8}♪ so it goes ♪", "[♪] so it goes [♪]"), ("a <i>MARY: so</i>", "a MARY so"),
    ],
)  # fmt: skip
def test_labels_and_directions_are_seen_behind_tags(line: str, shown: str) -> None:
    assert " ".join(_shown(read_line(line, markup=TAGS, dashes=True))) == shown


@given(st.lists(st.sampled_from(PIECES), max_size=12), st.sampled_from([TAGS, OVERRIDES, None]))
def test_items_are_the_line_whatever_tags_it_has(pieces: list[str], markup: re.Pattern[str] | None) -> None:
    line = "".join(pieces)
    assert unchanged(Transcript([*read_line(line, markup=markup, dashes=True)])) == line


def test_labels_are_seen_in_each_line_of_a_json_string() -> None:
    source = json.dumps({"text": "JOHN: so what\nMARY: it is\nnothing"})
    assert " ".join(_shown(reading(source, "json").items)) == "[JOHN:] so what [MARY:] it is nothing"
