"""The pieces of a large vocabulary that a data set needs: a sentencepiece model of many languages, cut to a few.

In: a Unigram tokenizer (XLM-R's, multilingual E5's), and how often each word of a text occurs.  Out: the same tokenizer
with fewer pieces, and the rows of the embeddings that go with them.  For another text, pieces can come back.

A model reads words in lower case.  So pieces with capitals go, but where `▁Haus` has no piece `▁haus` beside it, it
becomes that piece: the word was learned there.  All letters stay (all characters but those of East Asia and emoji), so
that no word of an alphabet is unknown, whatever it is.

`cut_pieces(tokenizer, Counter(text.split()), 32000).rows[7]` is the old place of the eighth piece.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokenizers import Tokenizer

from ...errors import ConfigError

_FIRST_EAST_ASIAN = "\u2e80"  # ideographs, kana and hangul begin here; emoji come later
_WORDS_AT_ONCE = 10_000


@dataclass(frozen=True)
class CutVocabulary:
    """A smaller tokenizer; `rows`: of each of its pieces, or of those that came back, the place in the whole one;
    `report`: what that costs."""

    tokenizer: Tokenizer
    rows: tuple[int, ...]
    report: str


@dataclass(frozen=True)
class _Piece:
    row: int  # in the whole vocabulary
    score: float  # a logarithm of how likely it is


def cut_pieces(whole: Tokenizer, words: Mapping[str, int], n_pieces: int) -> CutVocabulary:
    """Return the tokenizer with all letters and the most frequent pieces of the words, n_pieces in all at most.

    Raises ConfigError for other tokenizers than Unigram ones, and for too few pieces.
    """
    described = _describe(whole)
    named = [token["content"] for token in described["added_tokens"]]
    lower = _in_lower_case(described["model"]["vocab"], named)
    used, n_before, _ = _count_pieces(_with_pieces(described, lower), words)
    kept = dict.fromkeys([*named, *filter(_is_letter, lower)])
    if n_pieces < len(kept):
        raise ConfigError(
            f"pieces {n_pieces}", expected=f"{len(kept)} or more: all letters and special tokens", fix="set pieces"
        )
    frequent = _most_frequent(lower, used)
    kept.update(dict.fromkeys(piece for piece in frequent if piece not in kept))
    chosen = set(list(kept)[:n_pieces])
    pieces = {piece: place for piece, place in lower.items() if piece in chosen}
    tokenizer = _with_pieces(described, pieces)
    _, n_after, n_unknown = _count_pieces(tokenizer, words)
    n_words = max(1, sum(words.values()))
    covered = sum(count for piece, count in used.items() if piece in chosen) / max(1, n_before)
    report = (
        f"{len(pieces):,} of {len(described['model']['vocab']):,} pieces; they are {100 * covered:.1f} % of those that "
        f"the whole vocabulary writes the text with; {n_after / n_words:.3f} pieces a word ({n_before / n_words:.3f} "
        f"with all), {n_unknown:,} of {n_words:,} words with an unknown piece"
    )
    return CutVocabulary(tokenizer, tuple(place.row for place in pieces.values()), report)


def add_pieces(cut: Tokenizer, whole: Tokenizer, words: Mapping[str, int], n_pieces: int) -> CutVocabulary:
    """Return a tokenizer that was cut from the whole one with n_pieces more at most, those that other words need most.

    `rows` are those of the new pieces, which stand behind the old ones in this order.
    Raises ConfigError for other tokenizers than Unigram ones, and where the whole one lacks a special token.
    """
    described = _describe(whole)
    old = {piece: _Piece(row, score) for row, (piece, score) in enumerate(_describe(cut)["model"]["vocab"])}
    named = [token["content"] for token in described["added_tokens"]]
    if lacking := [token for token in named if token not in old]:
        raise ConfigError(
            f"a vocabulary without {lacking[0]}",
            expected="one that was cut from that of pieces_of",
            fix="set pieces_of",
        )
    lower = _in_lower_case(described["model"]["vocab"], named)
    _, n_before, _ = _count_pieces(_with_pieces(described, old), words)
    used, n_with_all, _ = _count_pieces(_with_pieces(described, lower | old), words)
    new = {piece: lower[piece] for piece in _most_frequent(lower, used) if piece not in old}
    new = {piece: new[piece] for piece in list(new)[:n_pieces]}
    tokenizer = _with_pieces(described, old | new)
    _, n_after, n_unknown = _count_pieces(tokenizer, words)
    n_words = max(1, sum(words.values()))
    report = (
        f"{len(old):,} pieces and {len(new):,} more; {n_after / n_words:.3f} pieces a word ({n_before / n_words:.3f} "
        f"before, {n_with_all / n_words:.3f} with all), {n_unknown:,} of {n_words:,} words with an unknown piece"
    )
    return CutVocabulary(tokenizer, tuple(piece.row for piece in new.values()), report)


def _describe(tokenizer: Tokenizer) -> dict[str, Any]:
    """What a Unigram tokenizer is made of.  Raises ConfigError for another kind."""
    described: dict[str, Any] = json.loads(tokenizer.to_str())
    if described["model"]["type"] != "Unigram":
        raise ConfigError(
            f"pieces with a tokenizer of the kind {described['model']['type']}",
            expected="an encoder with a Unigram (sentencepiece) tokenizer, such as an XLM-R",
            fix="drop pieces",
        )
    return described


def _most_frequent(pieces: Mapping[str, _Piece], used: Mapping[str, int]) -> list[str]:
    """The pieces that a text uses, the most frequent first."""
    return sorted(used.keys() & pieces.keys(), key=lambda piece: (-used[piece], pieces[piece].row))


def _in_lower_case(vocabulary: Sequence[tuple[str, float]], named: Sequence[str]) -> dict[str, _Piece]:
    """The pieces in lower case, in the old order; one with capitals only where no other has its lower-case form."""
    own = {piece for piece, _ in vocabulary}
    pieces: dict[str, _Piece] = {}
    for row, (piece, score) in enumerate(vocabulary):
        form = piece if piece in named else piece.lower()
        if form != piece and (form in own or (form in pieces and pieces[form].score >= score)):
            continue
        pieces[form] = _Piece(row, score)
    return dict(sorted(pieces.items(), key=lambda item: item[1].row))


def _is_letter(piece: str) -> bool:
    return len(piece) == 1 and piece < _FIRST_EAST_ASIAN


def _with_pieces(described: Mapping[str, Any], pieces: Mapping[str, _Piece]) -> Tokenizer:
    """The tokenizer of some pieces; it reads everything in lower case."""
    places = {piece: place for place, piece in enumerate(pieces)}
    unknown = described["model"]["vocab"][described["model"]["unk_id"]][0]
    steps = [step for step in (described["normalizer"], {"type": "Lowercase"}) if step]
    vocabulary = [(piece, place.score) for piece, place in pieces.items()]
    return Tokenizer.from_str(
        json.dumps(
            {
                **described,
                "normalizer": {"type": "Sequence", "normalizers": steps},
                "post_processor": None,  # which names pieces by their places; the task has its own beginning and end
                "added_tokens": [{**token, "id": places[token["content"]]} for token in described["added_tokens"]],
                "model": {**described["model"], "unk_id": places[unknown], "vocab": vocabulary},
            }
        )
    )


def _count_pieces(tokenizer: Tokenizer, words: Mapping[str, int]) -> tuple[Counter[str], int, int]:
    """How often each piece occurs in words, how many they are, and how many words have an unknown piece."""
    counts: Counter[str] = Counter()
    n_unknown = 0
    unknown = json.loads(tokenizer.to_str())["model"]["unk_id"]
    for group in _groups(list(words)):
        for word, encoded in zip(group, tokenizer.encode_batch(group, add_special_tokens=False), strict=True):
            for piece in encoded.tokens:
                counts[piece] += words[word]
            n_unknown += words[word] * (unknown in encoded.ids)
    return counts, sum(counts.values()), n_unknown


def _groups(words: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(words), _WORDS_AT_ONCE):
        yield words[start : start + _WORDS_AT_ONCE]
