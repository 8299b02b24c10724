"""Recognisers' json by chance: three layouts with odd words, in every spelling of json, and garbage."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

Words = list[str]
_WORDS = (
    *("so", "we", "know", "that", "right", "no", "no", "I", "NASA", "iPhone", "don't", "é", "1984", "3.5", "10:30"),
    *("U.S.", "well-known", "etc.", "Mr.", "so,", "what?", "wait...", '"so"', '"so', 'we"', "(so)", "a/b", "AT&T"),
    *("http://a.b/c?d=e", "C++", "İstanbul", "profits"),
    *("understood", "שלום", "好", "😀", "<unk>", "\u2028", "\\", "x" * 70),
)  # fmt: skip
_MARKS = (",", ".", "?", "!", "-")
# not `C:`: with capitals, `so C:` is the label of a speaker (corpus/17-drive-or-label.json)
_TOKENS = (*_MARKS, "%", "50%")
_SPOKEN = (*_WORDS, *_WORDS, *_TOKENS)


def _timed(words: Words, begin: float = 0.0, **more: Any) -> list[dict[str, Any]]:
    times = ((word, begin + n / 2) for n, word in enumerate(words))
    return [{"word": word, "start": start, "end": start + 0.4, **more} for word, start in times]


def _pieces(words: Words) -> list[str]:
    """Return tokens of at most five letters, and marks that have tokens of their own."""
    cuts = [min(5, len(word.rstrip("-,.?"))) or len(word) for word in words]
    return [piece for word, cut in zip(words, cuts, strict=True) for piece in (f" {word[:cut]}", word[cut:]) if piece]


def whisper_cpp(parts: list[Words]) -> Any:
    """Words of more than five letters are two tokens."""
    segments = []
    for n, words in enumerate(parts):
        tokens = [{"text": text, "id": 7, "p": 0.9} for text in ("[_BEG_]", *_pieces(words))]
        times = {"timestamps": {"from": "00:00:00,000"}, "offsets": {"from": 4000 * n, "to": 4000 * n + 3000}}
        segments.append({**times, "text": " " + " ".join(words), "tokens": tokens})
    return {"systeminfo": "AVX = 1", "model": {"type": "base"}, "transcription": segments}


def deepgram(parts: list[Words]) -> Any:
    words = [
        [{**word, "punctuated_word": word["word"], "speaker": n % 2} for word in _timed(said, 5.0 * n)]
        for n, said in enumerate(parts)
    ]
    every = [word for said in words for word in said]
    best = {"transcript": " ".join(word["word"] for word in every), "confidence": 0.9, "words": every}
    utterances = [
        {"start": 0, "channel": 0, "transcript": " ".join(part), "words": said}
        for part, said in zip(parts, words, strict=True)
    ]
    results = {"channels": [{"alternatives": [best]}], "utterances": utterances}
    return {"metadata": {"duration": 9.5}, "results": results}


def aws(parts: list[Words]) -> Any:
    items, text = list[dict[str, Any]](), ""
    for number, word in enumerate(word for words in parts for word in words):
        stem = word.rstrip(",.?!-%") or "so"
        kinds = [("pronunciation", stem), *(("punctuation", mark) for mark in word[len(stem) :])]
        for kind, content in kinds:
            times = {"start_time": f"{number}.0", "end_time": f"{number}.5"} if kind == "pronunciation" else {}
            items.append({"id": len(items), "type": kind, "alternatives": [{"content": content}], **times})
        text += " " + stem + word[len(stem) :]
    segment = {"id": 0, "transcript": text.strip(), "items": [item["id"] for item in items]}
    results = {"transcripts": [{"transcript": text.strip()}], "items": items, "audio_segments": [segment]}
    return {"jobName": "talk", "results": results}


LAYOUTS: tuple[Callable[[list[Words]], Any], ...] = (whisper_cpp, deepgram, aws)
_KEYS = (
    *("text", "word", "words", "segments", "transcript", "items", "type", "content", "alternatives", "start"),
    *("channel", "id", "n"),
)
_LEAVES = ("so", "what", ".", ",", "so,", "JOHN: so", "", "[Music]", None, 1, 0.5, True, "pronunciation")


def _file_of_words(rng: Random) -> Any:
    parts = [rng.choices(_SPOKEN, k=rng.randint(1, 8)) for _ in range(rng.randint(1, 4))]
    return rng.choice(LAYOUTS)(parts)


def _garbage(rng: Random, depth: int = 0) -> Any:
    match rng.randrange(3) if depth < 4 else 0:
        case 1:
            return [_garbage(rng, depth + 1) for _ in range(rng.randint(0, 4))]
        case 2:
            return {rng.choice(_KEYS): _garbage(rng, depth + 1) for _ in range(rng.randint(0, 4))}
        case _:
            return rng.choice(_LEAVES)


def _spelled(value: Any, rng: Random) -> str:
    indent, end = rng.choice((None, 1, "\t")), rng.choice(("", "\n"))
    return json.dumps(value, indent=indent, ensure_ascii=rng.random() < 0.5) + end


def json_files(rng: Random) -> str:
    return _spelled(_file_of_words(rng), rng)


def json_anything(rng: Random) -> str:
    return _spelled(_garbage(rng), rng)
