"""Json of recognisers: as Whisper and AWS Transcribe write it, read, and written with other words."""

import json
from collections.abc import Sequence
from typing import Any

import chance

from t5punct.text.marks import Alphabet
from t5punct.transcripts.items import SpokenWord


def words_of(text: str) -> list[SpokenWord]:
    return chance.spoken(chance.reading(text, "json").items)


def written(text: str, new: Sequence[str] | None = None) -> str:
    """The json with its words written as `new`, or as they are."""
    return chance.rewritten(text, "json", new)


def by_chance(text: str, seed: int, alphabet: Alphabet | None = None) -> tuple[str, list[str]]:
    """The json with marks and case by chance, and its words as they are written."""
    return chance.by_chance(text, "json", seed, alphabet)


def whisper(segments: list[list[str]]) -> dict[str, Any]:
    times = [{"start": 1.5 * n, "end": 1.5 * n + 1} for n in range(len(segments))]
    return {
        "text": " " + " ".join(" ".join(words) for words in segments),
        "segments": [
            {"id": n, **time, "text": " " + " ".join(words), "words": [{"word": f" {word}", **time} for word in words]}
            for n, (words, time) in enumerate(zip(segments, times, strict=True))
        ],
    }


def aws(words: list[tuple[str, str]], **options: Any) -> str:
    """Json as AWS Transcribe writes it, of words and the marks behind them."""
    items: list[dict[str, Any]] = []
    for number, (word, mark) in enumerate(words):
        guess = [{"confidence": "0.99", "content": word}, {"confidence": "0.1", "content": "other"}]
        times = {"start_time": str(number), "end_time": f"{number}.5"}
        items.append({"id": len(items), "type": "pronunciation", "alternatives": guess, **times})
        if mark:
            guess = [{"confidence": "0.0", "content": mark}]
            items.append({"id": len(items), "type": "punctuation", "alternatives": guess})
    text = " ".join(word + mark for word, mark in words)
    segment = {"id": 0, "transcript": text, "items": [item["id"] for item in items]}
    results = {"transcripts": [{"transcript": text}], "items": items, "audio_segments": [segment]}
    return json.dumps({"jobName": "talk", "results": results, "status": "COMPLETED"}, **options)
