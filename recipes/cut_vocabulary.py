"""Cut the vocabulary of many languages to the pieces that a data set needs, or give a cut one more pieces.

In: an encoder with a Unigram (sentencepiece) tokenizer (XLM-R, multilingual E5), and a data set of `t5punct prepare`.
Out: the encoder with fewer pieces, for `from_encoder.py`; or, with --model, a model that was made of such an encoder,
with more of its pieces, which `init_from` names.

    python recipes/cut_vocabulary.py runs/parent/e5 prepared/multi runs/parent/e5-cut --pieces 32000
    python recipes/cut_vocabulary.py runs/parent/e5 prepared/czech runs/czech-start --pieces 6000 --model multi

A model reads words in lower case.  So pieces with capitals go, but where `▁Haus` has no piece `▁haus` beside it, it
becomes that piece: the word was learned there.  All letters stay (all characters but those of East Asia and emoji), so
that no letter of an alphabet is unknown.  A piece that comes back has the encoder's own row of embeddings.  The rows
fit if training left the embeddings as they were (`optim.frozen: [words]`).
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from from_encoder import own_tokenizer, read_encoder, with_task_tokens
from tokenizers import Tokenizer

from t5punct import model as models
from t5punct.config import check
from t5punct.errors import T5PunctError
from t5punct.model import Model
from t5punct.t5.task import PAUSES
from t5punct.training.examples.batches import load_split
from t5punct.training.starting_model import with_tokenizer

_CHUNKS_AT_ONCE = 10_000
_FIRST_EAST_ASIAN = "\u2e80"  # ideographs, kana and hangul begin here; emoji come later
_WORDS_AT_ONCE = 10_000
_COMPARED = 1000  # pieces that both have, at most
_SAME = 0.9  # the least mean cosine of their rows


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
    letters = [piece for piece in lower if len(piece) == 1 and piece < _FIRST_EAST_ASIAN]
    kept = dict.fromkeys([*named, *letters])
    expected = f"{len(kept)} or more: all letters and special tokens"
    check(n_pieces >= len(kept), f"pieces {n_pieces}", expected=expected, fix="raise --pieces")
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
    for token in named:
        mistake, fix = f"a vocabulary without {token}", "name the encoder that it was cut from"
        check(token in old, mistake, expected="one that was cut from the encoder's", fix=fix)
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
    """Return the parts of a Unigram tokenizer.  Raises ConfigError for another kind."""
    described: dict[str, Any] = json.loads(tokenizer.to_str())
    kind, expected = described["model"]["type"], "an encoder with a Unigram (sentencepiece) tokenizer, such as an XLM-R"
    check(kind == "Unigram", f"a tokenizer of the kind {kind}", expected=expected, fix="name another encoder")
    return described


def _most_frequent(pieces: Mapping[str, _Piece], used: Mapping[str, int]) -> list[str]:
    """Return the pieces that a text uses, the most frequent first."""
    return sorted(used.keys() & pieces.keys(), key=lambda piece: (-used[piece], pieces[piece].row))


def _in_lower_case(vocabulary: Sequence[tuple[str, float]], named: Sequence[str]) -> dict[str, _Piece]:
    """Return the pieces in lower case, in the old order; drop a capitalised piece if its lower-case form exists."""
    own = {piece for piece, _ in vocabulary}
    pieces: dict[str, _Piece] = {}
    for row, (piece, score) in enumerate(vocabulary):
        form = piece if piece in named else piece.lower()
        if form != piece and (form in own or (form in pieces and pieces[form].score >= score)):
            continue
        pieces[form] = _Piece(row, score)
    return dict(sorted(pieces.items(), key=lambda item: item[1].row))


def _with_pieces(described: Mapping[str, Any], pieces: Mapping[str, _Piece]) -> Tokenizer:
    """Return the tokenizer of some pieces; it reads everything in lower case."""
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
    """Return how often each piece occurs in words, how many they are, and how many words have an unknown piece."""
    counts: Counter[str] = Counter()
    n_unknown = 0
    unknown = json.loads(tokenizer.to_str())["model"]["unk_id"]
    listed = list(words)
    for start in range(0, len(listed), _WORDS_AT_ONCE):
        group = listed[start : start + _WORDS_AT_ONCE]
        for word, encoded in zip(group, tokenizer.encode_batch(group, add_special_tokens=False), strict=True):
            for piece in encoded.tokens:
                counts[piece] += words[word]
            n_unknown += words[word] * (unknown in encoded.ids)
    return counts, sum(counts.values()), n_unknown


def count_chunk_words(data: str) -> Counter[str]:
    """Return how often each word occurs in the training chunks of a data set, as a model reads them."""
    rows, counts = load_split(data, "train"), Counter[str]()
    for batch in [] if rows is None else rows.select_columns("source").iter(_CHUNKS_AT_ONCE):
        for source in batch["source"]:
            counts.update(source.split())
    for pause in PAUSES:
        del counts[pause]
    return counts


def cut_encoder(source: str | Path, words: Mapping[str, int], n_pieces: int, output: Path) -> None:
    """Write an encoder with the pieces that the counted words need most."""
    from transformers import PreTrainedTokenizerFast

    folder = models.find(source)
    encoder, own = read_encoder(folder, 0.0), own_tokenizer(folder)
    vocabulary = cut_pieces(own.backend_tokenizer, words, n_pieces)
    embeddings: Any = encoder.get_input_embeddings()
    embeddings.weight = torch.nn.Parameter(embeddings.weight.data[list(vocabulary.rows)])
    embeddings.num_embeddings = encoder.config.vocab_size = len(vocabulary.rows)
    encoder.save_pretrained(str(output))
    PreTrainedTokenizerFast(tokenizer_object=vocabulary.tokenizer, **own.special_tokens_map).save_pretrained(
        str(output)
    )
    print(vocabulary.report)


def with_more_pieces(model: Model, source: str | Path, words: Mapping[str, int], n_pieces: int) -> Model:
    """Return the model with n_pieces more at most, those of the encoder `source` that the counted words need most.

    Raises ConfigError if the model's vocabulary was not cut from that of the encoder.
    """
    folder = models.find(source)
    parent: torch.Tensor = read_encoder(folder, 0.0).get_input_embeddings().weight.detach()  # (n_whole, d_model)
    own, whole = model.tokenizer.tokenizer, own_tokenizer(folder)
    _check_same(model, whole, parent, source)
    vocabulary = add_pieces(own.backend_tokenizer, whole.backend_tokenizer, words, n_pieces)
    tokenizer = with_task_tokens(own, vocabulary.tokenizer, model.task)
    old: torch.Tensor = model.network.shared.weight.detach()  # (n_pieces_before, d_model)
    old_places: dict[str, int] = own.get_vocab()
    places: dict[str, int] = tokenizer.tokenizer.get_vocab()
    kept = sorted(places.keys() & old_places.keys())
    new = sorted(places.keys() - old_places.keys(), key=places.__getitem__)

    def take_rows(weight: torch.Tensor) -> None:
        weight[[places[piece] for piece in kept]] = old[[old_places[piece] for piece in kept]]
        weight[[places[piece] for piece in new]] = parent[list(vocabulary.rows)].to(weight.dtype)

    print(vocabulary.report)
    return with_tokenizer(model, tokenizer, take_rows)


def _check_same(model: Model, whole: Any, parent: torch.Tensor, source: str | Path) -> None:
    """Raise ConfigError unless the rows of pieces that both have point the same way."""
    mine: torch.Tensor = model.network.shared.weight.detach().float()
    places, theirs = model.tokenizer.tokenizer.get_vocab(), whole.get_vocab()
    shared = sorted(piece for piece in places.keys() & theirs.keys() if piece not in whole.all_special_tokens)
    shared = shared[:: max(1, len(shared) // _COMPARED)]
    alike = mine.shape[1] == parent.shape[1] and bool(shared)
    if alike:
        rows = mine[[places[piece] for piece in shared]], parent[[theirs[piece] for piece in shared]]
        alike = float(torch.nn.functional.cosine_similarity(*rows).mean()) > _SAME
    mistake = f"{source}, whose embeddings are not those of {model.name}"
    check(alike, mistake, expected="the encoder that its vocabulary was cut from", fix="name that encoder")


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and write the folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("encoder", help="a folder or hub id")
    parser.add_argument("data", help="a folder made by `t5punct prepare`")
    parser.add_argument("output", type=Path)
    parser.add_argument("--pieces", type=int, required=True, help="how many stay, or how many more there are at most")
    parser.add_argument("--model", help="a model that was made of the encoder with fewer pieces")
    options = parser.parse_args(arguments)
    words = count_chunk_words(options.data)
    if options.model is None:
        cut_encoder(options.encoder, words, options.pieces, options.output)
    else:
        models.save(
            with_more_pieces(models.load(options.model), options.encoder, words, options.pieces), options.output
        )


if __name__ == "__main__":
    try:
        main()
    except T5PunctError as error:
        raise SystemExit(str(error)) from None
