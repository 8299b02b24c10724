"""The guides: every command in them is one that the command line takes, and those of the fifteen minutes run."""

import lzma
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from command import Invoke, pipe_of
from datasets.utils.logging import disable_progress_bar
from safetensors.torch import load_file
from tiny import tiny_text

from t5punct import config as settings
from t5punct.cli import app
from t5punct.model import bundled_folder, load
from t5punct.t5.task import TaskConfig
from t5punct.training.config import TrainConfig
from t5punct.training.data.prepare import PrepareConfig

disable_progress_bar()
ROOT = Path(__file__).parents[1]
GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "docs" / "usage.md", *GUIDES]
OTHERS = ("less", "python", "apt-get", "pip", "make", "git")  # programs
LAUNCHERS = {"torchrun": ("--nproc_per_node",), "accelerate": ("--num_processes",)}  # and options that take a value
SCHEMAS = {"prepare": PrepareConfig, "train": TrainConfig}
COMMAND: Any = typer.main.get_command(app)


def commented_commands(page: Path) -> list[tuple[str, str]]:
    """The lines of a page's shell blocks, each with its comment."""
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", "").splitlines() if line.strip()]
    return [(command.rstrip(), comment) for command, _, comment in (line.partition(" # ") for line in lines)]


def commands(page: Path) -> list[str]:
    """The lines of a page's shell blocks, without comments."""
    return [command for command, _ in commented_commands(page)]


def arguments(line: str) -> list[str] | None:
    """What t5punct is given by a line of a shell; None for a command of another program."""
    *_, line = line.split(" | ")
    words = shlex.split(line.partition(" > ")[0])
    while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        words.pop(0)  # the environment
    if words[0] == "t5punct":
        return words[1:]
    if "train.py" in words and words[0] in ("python", *LAUNCHERS):
        return ["train", *words[words.index("train.py") + 1 :]]
    return None


def check(line: str) -> None:
    """Raise for a line that could not run: an unknown command, option or setting, a config that is not there."""
    given = arguments(line)
    if given is None:
        program, *rest = shlex.split(line)
        assert program in OTHERS, line
        if program == "python":
            source = (ROOT / rest[0]).read_text(encoding="utf-8")
            assert all(f'"{word}"' in source for word in rest if word.startswith("--") and len(word) > 2), line
        return
    name, *rest = given
    parsed = COMMAND.commands[name].make_context(name, rest)  # raises a usage error for what it does not take
    overrides = list(parsed.params.get("overrides") or ())
    if name in SCHEMAS:
        settings.load(SCHEMAS[name], ROOT / parsed.params["config"], overrides)
    elif name == "export":
        settings.load(TaskConfig, None, overrides)


@pytest.mark.parametrize(("page", "line"), [(page, line) for page in PAGES for line in commands(page)])
def test_a_command_of_a_page_can_run(page: Path, line: str) -> None:
    check(line)


DESK = {  # what the pages' commands read
    "talk.txt": "i i think um that is it\n",
    **dict.fromkeys(("new.txt", "lectures/one.txt"), "how are you today\n"),
    "talk.srt": "1\n00:00:01,000 --> 00:00:02,000\nhow are you today\n",
    "rede.srt": "1\n00:00:01,000 --> 00:00:02,000\nwie geht es dir heute\n",
    "whisper.json": '{"segments": [{"start": 0, "end": 2, "text": "how are you today"}]}',
    "terms.txt": "pytorch=PyTorch\nASR\nnew york=New York\n",
    **dict.fromkeys(("dev.tsv", "test2011.tsv"), "how\tO\nare\tO\nyou\tQUESTION\nwell\tPERIOD\n"),
    **dict.fromkeys(("good.txt", "kept-out.txt", "czech/heldout.txt"), "How are you today? I am well, thank you.\n"),
}  # fmt: skip
TRAINED = ("own-text", "finetuned", "blend", "czech")  # what the pages call models that they have trained
RUN = ("punctuate", "stream", "evaluate", "models", "presets", "export")  # training: in a test below
ELSEWHERE = ("ray=", "--push-to-hub")


def test_commands_of_the_pages_run_as_they_stand_and_print_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invoke: Invoke
) -> None:
    """In this process, each model being loaded once; a comment that is a sentence is what a command prints."""
    for name, text in DESK.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "talk.txt.xz").write_bytes(lzma.compress(DESK["talk.txt"].encode()))
    (tmp_path / "runs").mkdir()
    for name in TRAINED:
        (tmp_path / "runs" / name).symlink_to(bundled_folder("small"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("t5punct.punctuator.load", cache(load))
    printed = dict[str, str]()
    for line, comment in dict.fromkeys(pair for page in PAGES for pair in commented_commands(page)):
        given = arguments(line) or [""]
        if given[0] not in RUN or any(word.startswith(ELSEWHERE) for word in given):
            continue
        source, _, _ = line.replace("recogniser", "cat talk.txt").rpartition(" | ")
        piped = subprocess.run(["bash", "-c", source], capture_output=True, check=True).stdout
        with pipe_of(piped) as path, Path(path).open() as pipe:
            monkeypatch.setattr(sys, "stdin", pipe)
            code, printed[line], error = invoke(*given)
        assert code == 0, (line, error)
        if target := line.partition(" > ")[2]:
            Path(target).write_text(printed[line])
        elif re.fullmatch(r"[A-Z].*[.?!]", comment):
            assert printed[line].strip() == comment
        elif not {"-o", "--output-dir"} & {*given}:
            assert printed[line].strip(), line
    assert len(printed) > 40
    assert (tmp_path / "out" / "one.txt").read_text() == "How are you today?\n"
    assert "Wie geht es dir heute?" in printed["t5punct punctuate rede.srt --language de"]


def test_the_demo_of_fine_tuning_runs_to_its_scores(tmp_path: Path) -> None:
    """The target as it stands, two processes and all; of fewer pages and steps."""
    short = "optim.max_steps=1 data.batch_tokens=256 report.max_words=60 validation.every_steps=0"
    ready = [f"--assume-old={sys.prefix}/{name}" for name in (".ready", ".ready-demo")]  # this environment is set up
    command = ["make", *ready, f"VENV={sys.prefix}", f"DEMO={tmp_path}/demo", f"DEMO_SETTINGS={short}"]
    command += ["DEMO_PAGES=README.md docs/design.md", "finetune-demo"]
    demo = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=500, check=False)
    assert demo.returncode == 0, demo.stderr
    assert "| in the text | at the start | gain | 95 % | p |" in demo.stdout
    assert re.search(r"^\| PERIOD \| \d+\.\d \| \d+\.\d \|", demo.stdout, flags=re.MULTILINE)
    assert load_file(tmp_path / "demo" / "run" / "model.safetensors")


def test_every_guide_is_linked_to() -> None:
    index = (ROOT / "docs" / "usage.md").read_text(encoding="utf-8")
    assert [page.name for page in GUIDES if f"(guides/{page.name})" not in index] == []


def test_the_fifteen_minutes_run_to_the_last_command_and_so_do_the_trainings_of_other_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invoke: Invoke
) -> None:
    (tmp_path / "lectures").mkdir()
    for seed in range(24):
        (tmp_path / "lectures" / f"talk{seed}.txt").write_text(" ".join(tiny_text(12, seed)) + "\n")
    (tmp_path / "kept-out.txt").write_text("Hello there. How are you? Well, I am fine.\n")
    (tmp_path / "new.txt").write_text("how are you today\n")
    shutil.copytree(ROOT / "configs", tmp_path / "configs")
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "guides" / "fifteen-minutes.md"
    lines = [line for line in commands(page) if "torchrun" not in line]  # instead of the line before it
    ran = []
    for line in lines:
        given = arguments(line)
        if given is None:
            assert (tmp_path / shlex.split(line)[1]).is_file(), line
            continue
        shorter = ["init_from=small", "optim.max_steps=2", "data.batch_tokens=300", "validation.every_steps=2"]
        code, printed, error = invoke(*given, *(shorter if given[0] == "train" else []))
        assert code == 0, error
        ran.append(given[0])
    assert ran == ["prepare", "evaluate", "train", "export", "evaluate", "punctuate"]
    assert re.fullmatch(r"how are you today\W?\n", printed, flags=re.IGNORECASE)
    assert {path.name for path in (tmp_path / "my-model").iterdir()} >= {"model.safetensors", "t5punct.yaml"}
    # what other pages say of this data set and this run, and of a model and labels that they have made elsewhere
    for source, name in (("prepared/own-text", "prepared/mine"), ("runs/own-text", "runs/finetuned")):
        shutil.copytree(source, name)
    (tmp_path / "runs" / "large").symlink_to(bundled_folder("small"))
    shutil.copy("kept-out.txt", "dev.txt")
    others = dict.fromkeys(line for page in PAGES for line in commands(page) if line not in lines)
    for number, line in enumerate(others):
        given = arguments(line) or [""]
        is_of_hub = any("google/" in word or "roberta" in word or "czech" in word or "arabic" in word for word in given)
        is_launched = any(word in LAUNCHERS for word in line.split())
        if given[0] not in ("train", "label", "report") or is_launched or is_of_hub:
            continue
        new_run = [*shorter, "validation.every_steps=0", f"output=runs/{number}"]
        code, _, error = invoke(*given, *(new_run if given[0] == "train" else []))
        assert code == 0, (line, error)
        ran.append(given[0])
    assert ran[6:] == ["train", "label", "train", "report", "report", "train"]
