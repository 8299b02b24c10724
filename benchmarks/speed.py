"""Whole texts: words a second by model, decoder and precision; the decoders alone; a command on a busy machine.

    python benchmarks/speed.py texts test2011.tsv --ways base,auto,fp32 base,slots,fp32 small,slots,bf16
    python benchmarks/speed.py decoders --windows 64            # make bench
    python benchmarks/speed.py busy --cores 2 --busy 0 1
    python benchmarks/speed.py start --models base small --beside ../before

Whatever is compared takes turns, since others may share the machine.  Compare figures of one run only.

`texts`: a way is a model, a decoder and a precision.  Besides the usual decoders, `encoder` does nothing but encode the
windows.  The first turn is to warm up, and is not counted.

`decoders`: windows side by side, beside greedy generation and a bare tagger (encoder and one linear layer: the limit of
any model that reads the words first); and whether `slots` equals the step-by-step reference.

`start`: seconds and processor seconds of whole processes that print the version or the help, or punctuate four words.
`--beside` is the root of an earlier revision, run by the same Python.

`busy`: seconds of a command beside so many processes that compute without end, on the same processors.  Every text is
paired with one word, whose seconds are the start and are taken off.  `asleep` is what commands do: threads sleep while
they wait for each other; `spinning` is what OpenMP does by itself.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import torch

from t5punct import DecodingConfig, Punctuator, PunctuatorConfig
from t5punct.cli.process import use_threads
from t5punct.decoding.generate import generate_texts
from t5punct.decoding.inputs import WindowInput, batch_by_length, encoder_input
from t5punct.decoding.slots import SlotDecoder
from t5punct.model import Model, load, with_precision
from t5punct.text.words import words_of
from t5punct.windows.plan import iter_pools, views_of
from t5punct.windows.votes import most_probable

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from stepwise import decode_stepwise, noting_passes

LECTURE = Path(__file__).parents[1] / "tests" / "data" / "lecture.txt"
_POOL_TOKENS = 8192  # windows with about so many words are sorted by length together
_BUSY = "import os; parent = os.getppid()\nwhile os.getppid() == parent: sum(range(10**5))"  # ends when we do
_SPINNING = {"GOMP_SPINCOUNT": "300000"}  # libgomp's own number, where nothing is set
_CHOSEN = ("OMP_NUM_THREADS", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")

Key = TypeVar("Key")
Decoder = Callable[[Sequence[WindowInput]], float | None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    studies = parser.add_subparsers(required=True)
    texts = studies.add_parser("texts")
    texts.add_argument("data", type=Path, help="text, or IWSLT word TAB label")
    texts.add_argument("--words", type=int, default=9000)
    texts.add_argument("--ways", nargs="+", required=True, metavar="MODEL,DECODER,PRECISION")
    texts.add_argument("--threads", type=int, default=2)
    texts.add_argument("--turns", type=int, default=3, help="and one to warm up")
    texts.set_defaults(study=compare_texts)
    decoders = studies.add_parser("decoders")
    decoders.add_argument("--model", default=None)
    decoders.add_argument("--data", type=Path, default=LECTURE, help="text, or IWSLT word TAB label")
    decoders.add_argument("--words", type=int, default=4096)
    decoders.add_argument("--windows", type=int, nargs="+", default=[64, 128])
    decoders.add_argument("--batch-tokens", type=int, nargs="+", default=[512, 2048, 8192])
    decoders.add_argument("--precisions", nargs="+", default=["bf16", "int8"], help="beside fp32, for slots")
    decoders.add_argument("--turns", type=int, default=3, help="each decoder's best time counts")
    decoders.add_argument("--no-beams", action="store_true", help="leave out beam search, the slowest")
    decoders.set_defaults(study=compare_decoders)
    busy = studies.add_parser("busy")
    busy.add_argument("--model", default=None)
    busy.add_argument("--words", type=int, default=9000, help="of the text; a stream gets a tenth of them")
    busy.add_argument("--commands", nargs="+", default=["punctuate", "stream"])
    busy.add_argument("--cores", type=int, default=2, help="processors that the command and the load share")
    busy.add_argument("--busy", type=int, nargs="+", default=[0, 1], help="processes that compute beside the command")
    busy.add_argument("--turns", type=int, default=3, help="the median of so many counts")
    busy.set_defaults(study=compare_busy)
    start = studies.add_parser("start")
    start.add_argument("--models", nargs="+", default=["base", "small"])
    start.add_argument("--turns", type=int, default=9, help="the median of so many counts; one more is to warm up")
    start.add_argument("--beside", type=Path, default=None, help="an earlier revision's root")
    start.set_defaults(study=compare_starts)
    options = parser.parse_args()
    options.study(options)


def take_turns(works: Mapping[Key, Callable[[], object]], n_turns: int) -> dict[Key, list[float]]:
    """Return the seconds of each work, one after the other in each turn; nothing is left out."""
    seconds: dict[Key, list[float]] = {key: [] for key in works}
    for _ in range(n_turns):
        for key, work in works.items():
            began = time.perf_counter()
            work()
            seconds[key].append(time.perf_counter() - began)
    return seconds


def show(*rows: Sequence[object]) -> None:
    """Print a table in Markdown, the heads first."""
    heads, *others = [f"| {' | '.join(map(str, row))} |" for row in rows]
    print(heads, f"|{' --- |' * len(rows[0])}", *others, sep="\n")


def read_words(path: Path, n_words: int) -> list[str]:
    """Return a file's words without their labels, repeated as often as needed."""
    lines = path.read_text(encoding="utf-8").splitlines()
    words = [word for line in lines for word in line.partition("\t")[0].split()]
    return (words * (n_words // len(words) + 1))[:n_words]


def compare_texts(options: argparse.Namespace) -> None:
    """Words a second of each way to read a whole text: the median of its turns."""
    use_threads(options.threads)
    text = " ".join(read_words(options.data, options.words))
    readers = {way: partial(_reader(way), text) for way in options.ways}
    seconds = take_turns(readers, options.turns + 1)
    speeds = {way: options.words / statistics.median(times[1:]) for way, times in seconds.items()}
    first = speeds[options.ways[0]]
    rows = [(*way.split(","), f"{speed:,.0f}", f"{speed / first:.2f}") for way, speed in speeds.items()]
    show(("model", "decoder", "precision", "words/s", f"times {options.ways[0]}"), *rows)


def compare_starts(options: argparse.Namespace) -> None:
    """Seconds of cold processes: the median of the turns."""
    models = [str(Path(model).resolve()) if Path(model).is_dir() else model for model in options.models]
    commands = [["--version"], ["--help"], *(["punctuate", "--model", model] for model in models)]
    roots = [Path(__file__).parents[1], *[options.beside] * bool(options.beside)]
    spent: dict[tuple[str, Path], list[tuple[float, float]]] = {}
    for _ in range(options.turns + 1):
        for command in commands:
            for root in roots:
                spent.setdefault((" ".join(command), root), []).append(_spend(command, root))
    rows = []
    for (line, root), counts in spent.items():
        medians = [statistics.median(seconds) for seconds in zip(*counts[1:], strict=True)]
        rows.append((line, root.name, *(f"{seconds:.2f}" for seconds in medians)))
    show(("command", "revision", "seconds", "processor seconds"), *rows)


def _spend(command: Sequence[str], root: Path) -> tuple[float, float]:
    """Seconds, and processor seconds, of one process with four words on its standard input."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    whole = [sys.executable, "-m", "t5punct", *command]
    subprocess.run(whole, input=b"how are you today", stdout=subprocess.DEVNULL, cwd=root, check=True)  # noqa: S603
    passed, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return passed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _reader(way: str) -> Callable[[str], object]:
    """Return a function that punctuates a whole text in a given way."""
    model, decoder, precision = way.split(",")
    config = DecodingConfig({"encoder": "tagger"}.get(decoder, decoder), precision=precision)
    punctuator = Punctuator.from_pretrained(model, PunctuatorConfig(decoding=config))
    return partial(_encode, punctuator) if decoder == "encoder" else punctuator.punctuate


@torch.inference_mode()
def _encode(punctuator: Punctuator, text: str) -> None:
    """One encoder pass over the windows that `punctuate` would read, in batches as large."""
    model, config = punctuator.model, punctuator.config
    for seen in iter_pools(views_of([*words_of(text)], config.windows), _POOL_TOKENS, lambda view: len(view.words)):
        windows = [punctuator.window_input(view.words) for view in seen]
        sources = [window.source(model.tokenizer, config.decoding.style) for window in windows]
        for batch in batch_by_length([len(source.ids) for source in sources], config.decoding.batch_tokens):
            model.encode(*encoder_input([sources[index] for index in batch], model))


def compare_decoders(options: argparse.Namespace) -> None:
    """Words a second of every decoder on windows side by side, for each size of windows and of batches."""
    model, rows, same = load(options.model), [], []
    precise = {"fp32": model} | {name: with_precision(model, name) for name in options.precisions}
    for size in options.windows:
        words = read_words(options.data, options.words + options.words // 2)
        inputs = [WindowInput.of(words[start : start + size]) for start in range(0, len(words), size)]
        n_windows = -(-options.words // size)
        windows, warm_up = inputs[:n_windows], inputs[n_windows:]
        n_words = sum(len(window.words) for window in windows)
        same.append(_equals_stepwise(model, windows))
        for batch_tokens in options.batch_tokens:
            makers = _makers(precise, batch_tokens, beams=not options.no_beams)
            seconds: dict[str, list[float]] = {name: [] for name in makers}
            passes: dict[str, float | None] = {}
            for name in list(makers) * options.turns:
                decode = makers[name]()  # begins anew, and is measured in the middle of a text
                decode(warm_up)
                began = time.perf_counter()
                passes[name] = decode(windows)
                seconds[name].append(time.perf_counter() - began)
            speeds = {name: n_words / min(times) for name, times in seconds.items()}
            for name, speed in speeds.items():
                ratios = [f"{speed / speeds[base]:.2f}" for base in ("generate, greedy", "encoder and a linear layer")]
                rows.append((size, batch_tokens, name, f"{speed:,.0f}", *ratios, passes[name] or ""))
    show(("window", "batch tokens", "decoder", "words/s", "x greedy", "x encoder", "passes a window"), *rows)
    print(f"\nslots equals the step-by-step reference on every window: {all(same)}")


def _makers(precise: dict[str, Model], batch_tokens: int, *, beams: bool) -> dict[str, Callable[[], Decoder]]:
    """For each way, what makes a new decoder; those of slots give the passes of a window."""
    model, config = precise["fp32"], DecodingConfig(batch_tokens=batch_tokens)
    wide = DecodingConfig("generate", beams=4, batch_tokens=batch_tokens)

    def slots(precise_model: Model) -> Decoder:
        return partial(_decode_slots, SlotDecoder(precise_model, config))

    return {
        "encoder and a linear layer": lambda: partial(_tag, model, batch_tokens),
        "generate, greedy": lambda: partial(_generate, model, config),
        "slots, step by step": lambda: partial(_decode_stepwise, model, batch_tokens),
        **{f"slots, {name}": partial(slots, precise_model) for name, precise_model in precise.items()},
        **({"generate, beam 4": lambda: partial(_generate, model, wide)} if beams else {}),
    }


def _decode_slots(decoder: SlotDecoder, windows: Sequence[WindowInput]) -> float:
    with noting_passes() as passes:
        decoder.votes(windows)
    return round(len(passes) / len(windows), 2)


def _generate(model: Model, config: DecodingConfig, windows: Sequence[WindowInput]) -> None:
    generate_texts(model, windows, config)


def _decode_stepwise(model: Model, batch_tokens: int, windows: Sequence[WindowInput]) -> None:
    for batch in batch_by_length([len(window.source(model.tokenizer).ids) for window in windows], batch_tokens):
        decode_stepwise(model, [windows[index] for index in batch])


def _equals_stepwise(model: Model, windows: Sequence[WindowInput]) -> bool:
    """Return whether slots and reference choose the same label and case everywhere."""
    starts = range(0, len(windows), 32)
    wanted = [votes for start in starts for votes in decode_stepwise(model, windows[start : start + 32])]
    return all(
        (most_probable(vote.marks), most_probable(vote.cases))
        == (most_probable(wanted_vote.marks), most_probable(wanted_vote.cases))
        for votes, wanted_votes in zip(SlotDecoder(model).votes(windows), wanted, strict=True)
        for vote, wanted_vote in zip(votes, wanted_votes, strict=True)
    )


@torch.inference_mode()
def _tag(model: Model, batch_tokens: int, windows: Sequence[WindowInput]) -> None:
    """What a tagger does: one encoder pass, one linear layer on each word's last state, the best class."""
    sources = [window.source(model.tokenizer) for window in windows]
    layer = torch.nn.Linear(model.network.config.d_model, 32)  # 8 labels x 4 cases
    for batch in batch_by_length([len(source.ids) for source in sources], batch_tokens):
        chosen = [sources[index] for index in batch]
        input_ids, attention_mask = encoder_input(chosen, model)
        encoder = model.network.encoder
        states = encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        rows = [row for row, source in enumerate(chosen) for _ in source.word_ends]
        layer(states[rows, [end for source in chosen for end in source.word_ends]]).argmax(-1).tolist()


def compare_busy(options: argparse.Namespace) -> None:
    """Seconds of commands with one thread and several, alone and beside others that compute."""
    cores = sorted(os.sched_getaffinity(0))[: options.cores]
    os.sched_setaffinity(0, cores)  # which all processes that are started from here on have as well
    several = [f"threads={len(cores)}"]
    ways: dict[str, tuple[list[str], dict[str, str]]] = {  # options of the command, variables of its environment
        "default": ([], {}),
        "1 thread": (["threads=1"], {}),
        f"{len(cores)} threads, asleep": (several, {}),
        f"{len(cores)} threads, spinning": (several, _SPINNING),
    }
    rows: list[Sequence[object]] = []
    for command in options.commands:
        words = read_words(LECTURE, max(1, options.words // (10 if command == "stream" else 1)))
        texts = {"start": words[0], "whole": " ".join(words)}
        for n_busy in options.busy:
            works = {
                (name, size): partial(_run_command, [command, *way[0]], options.model, way[1], text)
                for name, way in ways.items()
                for size, text in texts.items()
            }
            with _load(n_busy):
                seconds = take_turns(works, options.turns)
            typical = {}
            for name in ways:
                pairs = zip(seconds[name, "start"], seconds[name, "whole"], strict=True)
                typical[name] = max(0.01, statistics.median(whole - start for start, whole in pairs))
            for name, time_taken in typical.items():
                start, ratio = statistics.median(seconds[name, "start"]), time_taken / typical["1 thread"]
                speed = len(words) / time_taken
                rows.append((command, n_busy, name, *(f"{x:.2f}" for x in (start, time_taken, speed, ratio))))
    show(("command", "busy beside", "way", "start, s", "seconds", "words/s", "x one thread"), *rows)


@contextmanager
def _load(n_processes: int) -> Iterator[None]:
    """Processes that compute without end, for as long as the block takes."""
    with ExitStack() as stack:
        for _ in range(n_processes):
            process = subprocess.Popen([sys.executable, "-c", _BUSY])  # noqa: S603
            stack.callback(process.wait)
            stack.callback(process.kill)
        yield


def _run_command(arguments: list[str], model: str | None, chosen: dict[str, str], text: str) -> None:
    """Call the command on a text, from its start to its end."""
    named = ["--model", model] if model else []
    variables = {name: value for name, value in os.environ.items() if name not in _CHOSEN} | chosen
    command = [sys.executable, "-m", "t5punct", *arguments, *named]
    subprocess.run(command, input=text.encode(), stdout=subprocess.DEVNULL, env=variables, check=True)  # noqa: S603


if __name__ == "__main__":
    main()
