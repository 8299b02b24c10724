"""Json in the layouts of recognisers, from their public documentation, punctuated by chance.

It is valid json of the same layout, all of its lists say the same, and nothing but marks and capitals has changed.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chance import by_chance
from promises import check

from t5punct.text.marks import Alphabet

FILES = sorted((Path(__file__).parent / "layouts").iterdir())
Said = dict[str, str]  # what a file says, by where it says it


def _whisper(value: Any) -> Said:
    segments = value["segments"]
    said = {
        "segments": "".join(segment["text"] for segment in segments),
        "words": "".join(word["word"] for segment in segments for word in segment["words"]),
    }
    return said | {"text": value["text"]}


def _whisperx(value: Any) -> Said:
    segments = value["segments"]
    return {
        "segments": "".join(segment["text"] for segment in segments),
        "words": " ".join(word["word"] for segment in segments for word in segment["words"]),
        "word_segments": " ".join(word["word"] for word in value["word_segments"]),
    }


def _whisper_cpp(value: Any) -> Said:
    tokens = [token["text"] for segment in value["transcription"] for token in segment["tokens"]]
    return {
        "transcription": "".join(segment["text"] for segment in value["transcription"]),
        "tokens": "".join(token for token in tokens if not token.startswith("[_")),
    }


def _deepgram(value: Any) -> Said:
    (best,), utterances = value["results"]["channels"][0]["alternatives"], value["results"]["utterances"]
    paragraphs = best["paragraphs"]
    sentences = [sentence["text"] for paragraph in paragraphs["paragraphs"] for sentence in paragraph["sentences"]]
    return {
        "transcript": best["transcript"], "words": " ".join(word["punctuated_word"] for word in best["words"]),
        "paragraphs": re.sub(r"Speaker \d: ", "", paragraphs["transcript"]), "sentences": " ".join(sentences),
        "utterances": " ".join(utterance["transcript"] for utterance in utterances),
        "words of utterances": " ".join(word["punctuated_word"] for each in utterances for word in each["words"]),
    }  # fmt: skip


def _aws(value: Any) -> Said:
    results = value["results"]
    contents = {item["id"]: (item["type"], item["alternatives"][0]["content"]) for item in results["items"]}

    def joined(items: list[int]) -> str:
        pieces = (contents[item] for item in items)
        return "".join(" " * (kind == "pronunciation" or content == "-") + content for kind, content in pieces)

    return {
        "transcripts": results["transcripts"][0]["transcript"],
        "items": joined([*contents]),
        "segments": " ".join(segment["transcript"] for segment in results["audio_segments"]),
        "items of segments": "".join(joined(segment["items"]) for segment in results["audio_segments"]),
    }


def _assemblyai(value: Any) -> Said:
    utterances = value["utterances"]
    return {
        "text": value["text"],
        "words": " ".join(word["text"] for word in value["words"]),
        "utterances": " ".join(utterance["text"] for utterance in utterances),
        "words of utterances": " ".join(word["text"] for utterance in utterances for word in utterance["words"]),
    }


def _google(value: Any) -> Said:
    best = [result["alternatives"][0] for result in value["results"]]
    with_text = [alternative for alternative in best if "transcript" in alternative]
    said = {
        "transcripts": " ".join(alternative["transcript"] for alternative in with_text),
        "words": " ".join(word["word"] for alternative in with_text for word in alternative["words"]),
    }
    again = [word["word"] for alternative in best if "transcript" not in alternative for word in alternative["words"]]
    return said | ({"words with speakers": " ".join(again)} if again else {})


SAID: dict[str, Callable[[Any], Said]] = {
    "assemblyai": _assemblyai, "aws": _aws, "deepgram": _deepgram, "google": _google, "google-repeated": _google,
    "google-v2": _google, "whisper": _whisper, "whisper-cpp": _whisper_cpp, "whisper-cpp-initialism": _whisper_cpp,
    "whisperx": _whisperx,
}  # fmt: skip


def said_in(name: str, text: str) -> Said:
    return {place: " ".join(said.split()) for place, said in SAID[name](json.loads(text)).items()}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_all_lists_of_a_recognisers_file_say_the_same(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len({*said_in(path.stem, text).values()}) == 1, "the file itself"
    for seed in range(25):
        check("json", text, seed)
        new, words = by_chance(text, "json", seed, Alphabet())
        said = said_in(path.stem, new)
        assert dict.fromkeys(said, " ".join(" ".join(words).split())) == said
        assert new.count("\n") == text.count("\n") or path.stem == "aws", "the same layout"


def test_every_layout_has_a_file_and_a_list_that_differs_is_found() -> None:
    assert sorted(path.stem for path in FILES) == sorted(SAID)
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert (
            len({*said_in(path.stem, text.replace("talks", "talk", 1)).values()}) > 1 or path.stem == "google-repeated"
        )
