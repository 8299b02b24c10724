"""Json in the layouts of recognisers, from their public documentation, punctuated by chance.

It is valid json of the same layout, all of its lists say the same, and nothing but marks and capitals has changed.
"""

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from chance import by_chance
from promises import check

from t5punct.text.marks import Alphabet

FILES = sorted((Path(__file__).parent / "layouts").iterdir())
Said = dict[str, str]  # what a file says, by where it says it


_DEEPGRAM, _UTTERANCES = "results.channels.alternatives", "results.utterances"
PATHS = {  # where a layout says it, in lists on the way to the strings
    "assemblyai": ("text", "words.text", "utterances.text", "utterances.words.text"),
    "deepgram": (f"{_DEEPGRAM}.transcript", f"{_DEEPGRAM}.words.punctuated_word", f"{_UTTERANCES}.transcript",
                 f"{_UTTERANCES}.words.punctuated_word", f"{_DEEPGRAM}.paragraphs.transcript",
                 f"{_DEEPGRAM}.paragraphs.paragraphs.sentences.text"),
    "whisper": ("text", "segments.text", "segments.words.word"),
    "whisper-cpp": ("transcription.text", "transcription.tokens.text"),
    "whisperx": ("segments.text", "segments.words.word", "word_segments.word"),
}  # fmt: skip
PATHS["whisper-cpp-initialism"] = PATHS["whisper-cpp"]


def strings_at(value: Any, path: str) -> list[str]:
    """The strings at a path; of lists those of all members."""
    if isinstance(value, list):
        return [text for member in value for text in strings_at(member, path)]
    name, _, rest = path.partition(".")
    return strings_at(value[name], rest) if name else [value]


def _by_paths(paths: tuple[str, ...], value: Any) -> Said:
    said = {path: [re.sub(r"Speaker \d: ", "", text) for text in strings_at(value, path)] for path in paths}
    pieces = {path: [text for text in texts if not text.startswith("[_")] for path, texts in said.items()}
    return {path: ("" if "tokens" in path else " ").join(texts) for path, texts in pieces.items()}


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


def _google(value: Any) -> Said:
    best = [result["alternatives"][0] for result in value["results"]]
    with_text, again = ([one for one in best if ("transcript" in one) == has_text] for has_text in (True, False))
    said = {
        "transcripts": " ".join(strings_at(with_text, "transcript")),
        "words": " ".join(strings_at(with_text, "words.word")),
    }
    return said | ({"words with speakers": " ".join(strings_at(again, "words.word"))} if again else {})


SAID: dict[str, Callable[[Any], Said]] = {
    "aws": _aws, **dict.fromkeys(("google", "google-repeated", "google-v2"), _google),
    **{name: partial(_by_paths, paths) for name, paths in PATHS.items()},
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
