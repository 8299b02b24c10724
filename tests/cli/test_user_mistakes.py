"""A user's mistake: one clear line, exit code 2, and no half of an output; also an option that would do nothing."""

import gzip
import shlex
from pathlib import Path

import pytest
from command import Invoke

GIANT = 10**19
MISTAKES = (
    ("punctuate nowhere.txt", "no file nowhere.txt; expected an existing text file"),
    ("punctuate {tmp}/bare", "no transcript in {tmp}/bare; expected files that"),
    ("punctuate {text} --style poem --model {model}", "expected one of talk"),
    ("punctuate {text} {tmp}/talk.txt.gz --output-dir {tmp}/out",
     "two inputs for {tmp}/out/talk.txt; expected inputs of different names"),
    ("punctuate {text} --to doc", "format 'doc'; expected one of text, srt, vtt, ass, ctm, tsv, csv, json, html"),
    ("punctuate {text} --to srt --model {model}", "words in no cue with times in {text}, the first of them"),
    ("punctuate {text} --terms {terms}", "terms line 2: 'a b=c'"),
    ("punctuate {text} {terms} --html {tmp}/x.html", "expected one file; write pages by --to html --output-dir DIR"),
    ("punctuate {tmp}/broken.json --model {model}", "broken.json is no json"),
    ("punctuate {text} -o {tmp} --model nowhere", "{tmp} is a folder"),
    (f"punctuate {'x' * 300}", "xxx: File name too long"),
    ("punctuate {text} -o /dev/full --model {model}", "/dev/full: No space left"),
    ("evaluate {text} --max-words 0", "Invalid value for '--max-words'"),
    ("punctuate {text} --model {tmp}", "holds no config.json; expected a T5 folder; check the name"),
    ("punctuate how are you", "no file 'how are you'; expected existing files; give a text so: echo 'how are you' | t"),
    ("-q punctuate {text}", "-q before a command; expected the command first; say: t5punct punctuate -q .., or see "),
    ("punctuate {text} beems=4", "unknown setting 'beems'; expected one like beams, "),
    ("punctuate {text} beams=many", "setting 'beams': Value 'many' of type 'str' could not be converted to Integer"),
    ("punctuate {text} beams=2 beams=3", "beams twice; expected one value; drop beams=3"),
    ("punctuate {text} --beams 4", "--beams, which is a setting; write beams=VALUE. See t5punct punctuate --help."),
    ("punctuate {text} --fragment", "--fragment, which is a setting; write fragment=true. See t5punct"),
    ("punctuate {text} paragraph_pause_ms=300", "paragraph_pause_ms for plain text, which has no times; expected sub"),
    ("punctuate ''", "an input without a name"),
    ("punctuate {text} --model {model} --marks *", "marks '*'; expected some of"),
    ("punctuate {text} --model {model} --mark-odds comma=2", "mark odds 'comma=2'; expected a number for each mark"),
    ("punctuate {text} --model no/where --marks ,. --mark-odds ',=2 ?=5'",
     "t5punct: mark odds '?': 5.0; expected marks of ',.~', each with a number above 0"),
    ("evaluate {text} --compare {model} {model} --model {model}",
     "t5punct: --compare with --model, revision or --disfluencies; expected two models after --compare; drop"),
    ("evaluate {text} --compare {model} nowhere/none", "no model nowhere/none on the hub"),
    ("export {model} -o {model}", "is the source as well"),
    ("export {model} -o {tmp}", "which holds something else; expected a new or empty folder"),
    # a page does not take the place of the output, whatever the two are called
    ("punctuate {text} -o {tmp}/link.txt --html {tmp}/out.txt --model no/where",
     "--html {tmp}/out.txt, which is the output, too; expected two files; write only the page by --to html"),
    # what people try first
    ("talk.txt", "no command 'talk.txt'; expected one before a text or a file; say: t5punct punctuate talk.txt"),
    ("{tmp}/bare --no-case", "say: t5punct punctuate {tmp}/bare --no-case"),
    ("'how are you'", "expected one before a text or a file; say: echo 'how are you' | t5punct punctuate"),
    ("punctuat x", "No such command 'punctuat'. Did you mean 'punctuate'? See t5punct --help."),
    ("how are you", "no command 'how'; expected one before a text or a file; say: echo 'how are you' | t5punct"),
    ("--loud --help", "No such option: --loud. See t5punct --help."),
    ("--port 80", "--port before a command; expected the command first; say: t5punct serve --port .., or see t5punct"),
    ("models --loud", "No such option: --loud. See t5punct models --help."),
    ("evaluate 'How are you?'", "no file 'How are you?'; expected an existing text file; give a text so: echo"),
    ("punctuate {tmp}/talk.mp3", "talk.mp3, which is a recording; expected a transcript of it: t5punct reads words"),
    ("punctuate {text} --language xx", "language 'xx', which no bundled model knows; expected one of en, de, fr,"),
    ("punctuate {text} --language de --model base", "--language de with --model base, which knows English alone; "),
    ("punctuate {text} --marks '' --no-case", "neither marks nor capitals; expected one of them; drop --no-case"),
    ("stream talk.txt --lookahead 2",
     "talk.txt behind t5punct stream; expected options and KEY=VALUE alone; say: t5punct stream < talk.txt"),
    ("punctuate https://a.org/b.txt", "no file https://a.org/b.txt; expected an existing text file; save it to a file"),
    ("stream --language de --server ws://127.0.0.1:9", "--language with --server; expected the service's own"),
    # the name of an output says another format
    ("punctuate {text} --to text -o {tmp}/out.srt", "--to text and -o {tmp}/out.srt, whose name says srt; expected"),
    ("punctuate {text} -o {tmp}/out.docx", "out.docx, whose name says that it is a document with layout (.docx)"),
    # values beyond all measure
    (f"punctuate {{text}} --decoder tagger delay_words={GIANT}", "expected 0 to 100000, and the decoder tagger"),
    ("stream --policy entropy threshold=low", "threshold 'low'; expected a number, or several with commas; use 0.5"),
    (f"stream threads={GIANT}", "threads"),
)  # fmt: skip


@pytest.fixture
def places(folder: str, text: Path, tmp_path: Path) -> dict[str, Path | str]:
    """What the commands name."""
    for name, content in {
        "terms": b"PyTorch\na b=c\n", "broken.json": b'{"text": "so', "talk.txt.gz": gzip.compress(b"so"),
        "talk.mp3": b"we know",
    }.items():  # fmt: skip
        (tmp_path / name).write_bytes(content)
    (tmp_path / "bare").mkdir()
    (tmp_path / "link.txt").symlink_to("out.txt")
    return {"text": text, "tmp": tmp_path, "model": folder, "terms": tmp_path / "terms"}


@pytest.mark.parametrize(("command", "message"), MISTAKES)
def test_a_mistake_is_one_clear_line_and_exit_code_2_and_writes_nothing(
    command: str, message: str, invoke: Invoke, places: dict[str, Path | str], tmp_path: Path
) -> None:
    before = sorted(tmp_path.rglob("*"))
    code, out, err = invoke(*shlex.split(command.format_map(places)))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message.format_map(places) in err
    assert err.startswith("t5punct: ")
    assert sorted(tmp_path.rglob("*")) == before


def test_several_files_one_bad(invoke: Invoke, folder: str, text: Path, tmp_path: Path) -> None:
    """The good one is written, the bad ones are listed; the next time there is nothing left to do."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nwe know that\n", encoding="utf-8")
    (tmp_path / "in/b.txt").write_bytes(b"caf\xe9")
    command = ("punctuate", tmp_path / "in", "--output-dir", tmp_path / "out", "--model", folder)
    code, out, err = invoke(*command, tmp_path / "none.txt")
    assert (code, out) == (1, "")
    assert [line.split(";")[0] for line in err.splitlines()] == [
        f"t5punct: no file {tmp_path}/none.txt",
        f"t5punct: {tmp_path}/in/b.txt line 1 is not UTF-8 (unexpected end of data)",
        "t5punct: 2 of 3 files failed",
    ]
    one_output = tmp_path / "all.txt"
    _, _, err = invoke("punctuate", text, tmp_path / "in/b.txt", "-o", one_output, "--model", folder)
    assert f"1 of 2 files failed, so {one_output} is not written" in err and not one_output.exists()
    written = (tmp_path / "out/a.srt").read_text(encoding="utf-8")
    assert written.lower().startswith("1\n00:00:01,000 --> 00:00:02,000\nwe know that")
    (tmp_path / "in/b.txt").unlink()
    assert invoke(*command)[::2] == (0, "t5punct: 1 of 1 files were up to date\n")
    assert invoke(*command, "--style", "nope")[0] == 2
    (tmp_path / "out/a.srt").write_text("old")
    assert invoke(*command)[2].startswith("t5punct: 1 of 1"), "a mistake undoes nothing"
    assert invoke(*command, "--overwrite")[::2] == (0, "")
    assert (tmp_path / "out/a.srt").read_text(encoding="utf-8") == written


# -- options that would do nothing


IN_VAIN = "which does nothing here; expected "
PUNCTUATE, STREAM, EXPORT = ("punctuate", "{text}"), ("stream",), ("export", "nowhere/run", "-o", "{tmp}/made")
# command, option, settings with which it does nothing, settings with which it works; one after the other
CASES = (
    (PUNCTUATE, "beams=4", "--decoder slots", "--decoder generate"),
    (PUNCTUATE, "--mark-odds ,=2", "--decoder generate", "--decoder tagger"),
    (PUNCTUATE, "alternatives=2", "-o {tmp}/out.txt", "--html {tmp}/page.html"),
    (PUNCTUATE, "--paragraphs 2", "--to vtt", "--to text"),
    (PUNCTUATE, "--resegment", "--to text", "--to srt"),
    (PUNCTUATE, "max_chars=84", "--to srt", "-o {tmp}/new.srt --resegment"),
    (PUNCTUATE, "--keep-case", "--no-case", ""),
    (PUNCTUATE, "--overwrite", "-o {tmp}/out.txt", "--output-dir {tmp}/out"),
    (PUNCTUATE, "ray_workers=2 --preset none", "--output-dir {tmp}/out", "--output-dir {tmp}/out ray=local"),
    (("evaluate", "{text}"), "max_marks=2", "--decoder tagger", "--decoder tagger max_marks=1"),
    (STREAM, "--lookahead 4", "--policy entropy", "--policy delay"),
    (STREAM, "threshold=0.5", "--policy sentence", "--policy entropy"), (STREAM, "after=4", "", "--policy sentence"),
    (STREAM, "window=32", "--policy delay", "--policy fixed"),
    (STREAM, "--decoder slots", "--policy delay", "--policy fixed"), (STREAM, "max_marks=2", "--policy delay", ""),
    (STREAM, "--provisional", "", "--json"), (EXPORT, "--private", "", "--push-to-hub nobody"),
)  # fmt: skip


@pytest.mark.parametrize(("command", "option", "alone", "together"), CASES)
def test_an_option_that_would_do_nothing_is_refused(
    invoke: Invoke, places: dict[str, Path | str], command: tuple[str, ...], option: str, alone: str, together: str
) -> None:
    """There is no model, so that a command which takes the option fails a step later."""
    model = () if command is EXPORT else ("--model", "nowhere/no/model")

    def run(settings: str) -> str:
        words = (*command, *option.split(), *settings.split(), *model)
        code, out, err = invoke(*(word.format_map(places) for word in words))
        assert (code, out, err.count("\n")) == (2, "", 1)
        return err

    assert IN_VAIN in run(alone)
    assert IN_VAIN not in run(together)
