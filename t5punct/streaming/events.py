"""What a stream tells a program: a line of json for each committed word, and one for the words that may still change.

In: what `push` gives, and how long the text is by then.  Out: events, as values that json can hold.

>>> from .streams import Committed
>>> from ..text.render import AnnotatedWord
>>> so = AnnotatedWord("so", "So,", ",", "capitalised", 0.62, 1)
>>> events, n_chars = committed_events([Committed(so, 4, 100, 300)], 0, decision_ms=1.5)
>>> events[0]["text"], events[0]["start"], events[0]["end_char"], n_chars
('So,', 0.1, 3, 3)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..text.render import AnnotatedWord
from ..transcripts.words_out import seconds
from .streams import Committed


def committed_events(words: Sequence[Committed], n_chars: int, decision_ms: float) -> tuple[list[dict[str, Any]], int]:
    """Return the events of words that became final, and how long the text is with them.

    n_chars: how long it was before, in characters; decision_ms: how long the model took to decide them.
    """
    events = list[dict[str, Any]]()
    for word in words:
        begin = n_chars + bool(n_chars and not word.annotated.is_removed)
        n_chars = begin + len(word.text)
        events.append(
            {
                **word.annotated.as_dict(),
                **seconds(word.start_ms, word.end_ms),
                "start_char": begin,  # in the text of all committed words
                "end_char": n_chars,
                "delay_words": word.delay_words,
                "decision_ms": decision_ms,
            }
        )
    return events, n_chars


def provisional_event(words: Sequence[AnnotatedWord]) -> dict[str, list[str]]:
    """Return the event of the words that are not final yet, as they look now."""
    return {"provisional": [word.text for word in words if not word.is_removed]}
