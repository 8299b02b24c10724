"""Json in the layouts of recognisers, from their public documentation, punctuated by chance.

It is valid json of the same layout, all of its lists say the same, and nothing but marks and capitals has changed.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chance import by_chance, reading, spoken
from promises import check

from t5punct.text.marks import Alphabet

FILES = sorted((Path(__file__).parent / "layouts").iterdir())
FEWEST_PLACES = {"aws": 3, "assemblyai": 4, "deepgram": 6, "whisper": 3, "whisperx": 3}  # that say it all; of others 2


def strings_in(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """All strings with their paths, in the order of the file."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield from strings_in(member, f"{path}.{name}" if isinstance(name, str) else path)
    if isinstance(value, str):
        yield path, value


def said_in(text: str) -> dict[str, str]:
    """What each path of a file says, without white space and what nobody says."""
    said = dict[str, str]()
    for path, string in strings_in(json.loads(text)):
        said[path] = said.get(path, "") + re.sub(r"Speaker \d:|\[_\w+\]|\s", "", string)
    return said


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_all_lists_of_a_recognisers_file_say_the_same(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    whole = "".join(item.raw for item in spoken(reading(text, "json").items))
    places = {name: len(said) // len(whole) for name, said in said_in(text).items() if said in (whole, 2 * whole)}
    assert len(places) >= FEWEST_PLACES.get(path.stem, 2), "the file itself"
    for seed in range(25):
        check("json", text, seed)
        new, words = by_chance(text, "json", seed, Alphabet())
        now = "".join(words).replace(" ", "")
        said = said_in(new)
        assert {name: said[name] for name in places} == {name: times * now for name, times in places.items()}
        assert new.count("\n") == text.count("\n") or path.stem == "aws", "the same layout"
        if path.stem == "aws":
            results = json.loads(new)["results"]
            listed = [number for segment in results["audio_segments"] for number in segment["items"]]
            assert listed == [item["id"] for item in results["items"]]
            assert len({*listed}) == len(listed), "each has a number of its own"
