"""Files of every format by chance, with marks and capitals of a model: only these may change.

The files are those of tests/fuzz, of words of all scripts, and phrases of some texts with such words among them.
`benchmarks/fuzz.py` decides by chance, which is far faster and finds more; this is the whole way, with the model.

    nice -n 19 python benchmarks/fuzz_model.py --model multi --words 100000 --texts CORPUS/es-*.txt CORPUS/pl-*.txt
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path
from random import Random

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/fuzz")]

import promises  # noqa: E402
from chance import reading, spoken  # noqa: E402
from chosen import Draw, draw  # noqa: E402
from hostile_files import FILES, words  # noqa: E402
from hostile_json import json_files  # noqa: E402

from t5punct.decoding.inputs import DecodingConfig  # noqa: E402
from t5punct.errors import InputError  # noqa: E402
from t5punct.punctuator import Punctuator, PunctuatorConfig  # noqa: E402
from t5punct.text.marks import OPENING  # noqa: E402
from t5punct.text.render import AnnotatedWord  # noqa: E402
from t5punct.transcripts.items import in_file_order  # noqa: E402

ROUND = 60  # files of a room at a time
# in `prose` a slot may have several marks, so that `slots` asks the T5; with one mark the tagger decides alone
DECODERS = {"slots": DecodingConfig("slots", style="prose"), "tagger": DecodingConfig("tagger")}
CUE = "{0}\n00:00:0{0}{1}000 --> 00:00:0{0}{1}900\n{2}\n\n"


def phrases_of(texts: Sequence[Path]) -> Draw:
    """Return the first words of a sentence, every other time of one that asks, without marks; odd words among them."""
    sentences = [
        sentence for path in texts for sentence in re.split(r"(?<=[.?!])\s+", path.read_text(encoding="utf-8"))
    ]
    asking = [sentence for sentence in sentences if "?" in sentence] or sentences

    def phrase(rng: Random) -> str:
        sentence = rng.choice(rng.choice((sentences, asking))).lower()
        said = "".join(char for char in sentence if char.isalnum() or char == " ")
        chosen = [[word, draw(words, rng)] if rng.random() < 0.05 else [word] for word in said.split()[:20]]
        return " ".join(chain.from_iterable(chosen)).replace("\t", " ").replace("-->", "so")

    return phrase


def files_of(phrase: Draw) -> dict[str, Draw]:
    """Files of phrases, by format."""
    return {
        "text": lambda rng: f"{phrase(rng)}\n{phrase(rng)}\n",
        "srt": lambda rng: "".join(CUE.format(number, ",", phrase(rng)) for number in (1, 2, 3)),
        "vtt": lambda rng: "WEBVTT\n\n" + "".join(CUE.format(number, ".", phrase(rng)) for number in (1, 2)),
        "tsv": lambda rng: f"start\tend\ttext\n0\t1\t{phrase(rng)}\n1\t2\t{phrase(rng)}\n",
        "json": lambda rng: json.dumps({"segments": [{"start": 0, "text": phrase(rng)}]}, ensure_ascii=False),
    }


def decide(punctuator: Punctuator, name: str, files: Sequence[str]) -> list[list[AnnotatedWord]]:
    """Return the words of each file as the model writes them; all files are decided together."""
    transcripts = []
    for file in files:
        try:
            transcripts.append(reading(file, name, promises.ALPHABET))
        except InputError:  # `check` says whether it may be refused
            transcripts.append(None)
    known = [transcript for transcript in transcripts if transcript is not None]
    annotated = punctuator.annotate_texts([text for transcript in known for text in transcript.texts])
    written = chain.from_iterable(annotated)
    return [list(islice(written, len(spoken(transcript.items)))) if transcript else [] for transcript in transcripts]


def check_files(punctuator: Punctuator, name: str, files: Sequence[str], counts: Counter[str]) -> None:
    """Count files, words, opening marks, and the files of which more than marks and capitals has changed."""
    for file, decided in zip(files, decide(punctuator, name, files), strict=True):

        def punctuate(text: str, *_: object, decided: list[AnnotatedWord] = decided) -> tuple[str, list[str]]:
            transcript = reading(text, name, promises.ALPHABET)
            words = [*in_file_order(transcript.items, decided)]
            return "".join(transcript.pieces(transcript.with_words(words))), [word.text for word in words]

        counts["files"] += 1
        counts["openings"] += sum(mark in word.text for word in decided for mark in OPENING)
        try:
            counts["words"] += promises.check(name, file, 0, punctuate, is_hostile=True).n_words
        except promises.BrokenPromise as error:
            counts["changed"] += 1
            print(f"{name}: {error}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="multi")
    parser.add_argument("--words", type=int, default=100_000, help="of both decoders together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=10.0, help="the longest it may take")
    parser.add_argument("--texts", type=Path, nargs="*", default=[ROOT / "tests/data/lecture.txt"])
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # files without words are many
    rooms = [*FILES.items(), ("json", json_files), *files_of(phrases_of(options.texts)).items()]
    loaded = Punctuator.from_pretrained(options.model)
    ends, rng = time.monotonic() + 60 * options.minutes, Random(options.seed)
    counts = {decoder: Counter[str]() for decoder in DECODERS}
    while sum(count["words"] for count in counts.values()) < options.words and time.monotonic() < ends:
        for name, file in rooms:
            files = [draw(file, rng) for _ in range(ROUND)]
            for decoder, decoding in DECODERS.items():
                check_files(Punctuator(loaded.model, PunctuatorConfig(decoding=decoding)), name, files, counts[decoder])
    print("| decoder | files | words | opening marks | files changed |\n| --- | --- | --- | --- | --- |")
    for decoder, count in counts.items():
        print(
            f"| `{decoder}` | {count['files']:,} | {count['words']:,} | {count['openings']:,} | {count['changed']:,} |"
        )
    return int(any(count["changed"] for count in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
