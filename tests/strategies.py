"""Hypothesis strategies that several tests share: words as people and machines write them, texts, labels, alphabets."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from t5punct.text.marks import Alphabet, Case
from t5punct.text.render import Decision

if TYPE_CHECKING:
    from t5punct.streaming import Committed, Streams

TRICKY_WORDS = (
    "we", "I", "i", "NASA", "iPhone", "McDonald", "don't", "'em", "'Tis", "dogs'", "e-mail", "pre-", "-5", "3.5",
    "10,000", "4:30", "1st", "U.S.", "U.S", "e.g.", "(U.S.)", '"U.S."', "http://a.b/c?d=e", "name@host.org", "C++",
    ".NET", ":)", "...", "-", "--", "?!", '"that"', '"that', "right)", "[x]", "«oui»", "„ja“", "¿qué", "ok…", "a.",
    "a?\"", "f(x)", "100%", "&", "$", "R&D", "😀", "👩‍👩‍👧", "♪", "ß", "İstanbul", "ﬁn", "ſo", "ΟΔΟΣ", "ǅ", "\u212a",
    "中文", "العربية", "naïve", "o'neil", "e\u0301", "\u200b", "x" * 300,
    "thanks:)", ":D", "C:", "AT&T", "http://a.b/c?", "so.\u200f", "\u202bwe\u202c", "👍\ufe0f", "\ufe0f",
    "</s>", "<pad>", "<extra_id_0>",
)  # fmt: skip
SPACES = (" ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u2028", " \n\n ", "\u3000", "\r")

# a few characters that meet in every way are worth more than all of Unicode meeting rarely
DENSE = "aAb.U,?!:;-–—…\"'”)( \n♪3😀D\u200f\ufe0f"
_dense = st.text(DENSE, max_size=24)
tricky_words = st.sampled_from(TRICKY_WORDS)
any_word = tricky_words | st.text(min_size=1, max_size=8).filter(lambda text: len(text.split()) == 1).map(str.strip)


@st.composite
def spaced_texts(draw: st.DrawFn) -> str:
    """Words with all sorts of white space before, between and after them."""
    spaces = st.sampled_from(SPACES)
    pieces = draw(st.lists(any_word, max_size=10))
    lead = draw(st.sampled_from(["", *SPACES]))
    return lead + "".join(piece + draw(spaces) for piece in pieces)


texts = _dense | spaced_texts() | st.text(max_size=30)

alphabets = st.builds(
    Alphabet,
    st.lists(st.sampled_from(",.?!:;-*~؟،。♪'\"]^\\("), min_size=1, unique=True).map("".join),
    st.integers(1, 4),
)
cases = st.sampled_from(list(Case))


def labels(alphabet: Alphabet) -> st.SearchStrategy[str]:
    """Any labels that a decoder could write: strings over the alphabet's marks."""
    return st.text(alphabet.marks, max_size=alphabet.max_marks)


def decisions(alphabet: Alphabet) -> st.SearchStrategy[Decision]:
    """Any decision for a slot."""
    return st.builds(Decision, labels(alphabet), cases, st.just(0.5), st.just(0.5))


def chunked(words: Sequence[str], rng: random.Random) -> list[list[str]]:
    """Words in chunks of any size, empty ones too, as a stream may get them."""
    chunks: list[list[str]] = [[]]
    for word in words:
        while rng.random() < 0.4:
            chunks.append([])
        chunks[-1].append(word)
    return chunks


def streamed_together(streams: Streams, texts: Sequence[Sequence[str]], rng: random.Random) -> list[list[Committed]]:
    """What many streams that run together commit of each text, in chunks of any size, to their ends."""
    from t5punct.streaming import StreamState

    states = [StreamState() for _ in texts]
    committed: list[list[Committed]] = [[] for _ in texts]
    left = [chunked(words, rng) for words in texts]
    while any(left):
        steps = streams.push(states, [chunks.pop(0) if chunks else [] for chunks in left])
        states = [step.state for step in steps]
        for index, step in enumerate(steps):
            committed[index] += step.committed
    for index, step in enumerate(streams.finish(states)):
        committed[index] += step.committed
        assert step.state.finished
    return committed
