"""Options that would do nothing, and values beyond all measure: each is refused, in one line and before any work."""

from pathlib import Path

import pytest
from command import Invoke

from t5punct.options import NEEDS

IN_VAIN = "which does nothing here; expected "
PUNCTUATE, STREAM, EXPORT = ("punctuate", "{text}"), ("stream",), ("export", "nowhere/run", "-o", "{tmp}/made")
# command, option, settings with which it does nothing, settings with which it works; one after the other
CASES = (
    (PUNCTUATE, "beams=4", "--decoder slots", "--decoder generate"),
    (PUNCTUATE, "min_alignment=0.9", "--decoder tagger", "--decoder generate"),
    (PUNCTUATE, "--mark-odds ,=2", "--decoder generate", "--decoder tagger"),
    (PUNCTUATE, "alternatives=2", "", "--json"), (PUNCTUATE, "alternatives=2", "--to text", "--to json"),
    (PUNCTUATE, "alternatives=2", "--to vtt", "--to html"),
    (PUNCTUATE, "alternatives=2", "-o {tmp}/out.txt", "--html {tmp}/page.html"),
    (PUNCTUATE, "--paragraphs 2", "--json", ""), (PUNCTUATE, "--paragraphs 2", "--to vtt", "--to text"),
    (PUNCTUATE, "paragraph_pause_ms=500 --format srt", "--to json", "--json --html {tmp}/page.html"),
    (PUNCTUATE, "--resegment", "--to text", "--to srt"),
    (PUNCTUATE, "max_chars=84", "--to srt", "--to srt --resegment"),
    (PUNCTUATE, "max_lines=2", "--to ass", "--to ass --resegment"),
    (PUNCTUATE, "max_duration_ms=900", "--to vtt", "--to vtt --resegment"),
    (PUNCTUATE, "min_duration_ms=900", "--to vtt", "--to vtt --resegment"),
    (PUNCTUATE, "max_chars_per_second=17", "--to srt", "--to srt --resegment"),
    (PUNCTUATE, "max_words_per_minute=160", "--to srt", "-o {tmp}/new.srt --resegment"),
    (PUNCTUATE, "--keep-case", "--no-case", ""),
    (PUNCTUATE, "--overwrite", "-o {tmp}/out.txt", "--output-dir {tmp}/out"),
    (PUNCTUATE, "ray=local --preset none", "-o {tmp}/out.txt", "--output-dir {tmp}/out"),
    (PUNCTUATE, "ray_workers=2 --preset none", "--output-dir {tmp}/out", "--output-dir {tmp}/out ray=local"),
    (("evaluate", "{text}"), "beams=1", "", "--decoder generate"),
    (("tune", "{text}"), "max_marks=3", "--decoder tagger", ""),
    (("tune", "{text}"), "max_marks=2", "--decoder tagger", "--decoder tagger max_marks=1"),
    (STREAM, "--lookahead 4", "--policy entropy", "--policy delay"),
    (STREAM, "l_min=1", "--policy delay", "--policy entropy"), (STREAM, "l_max=6", "", "--policy entropy"),
    (STREAM, "threshold=0.5", "--policy sentence", "--policy entropy"),
    (STREAM, "every=4", "--policy entropy", "--policy sentence"), (STREAM, "after=4", "", "--policy sentence"),
    (STREAM, "window=32", "--policy delay", "--policy fixed"),
    (STREAM, "--decoder slots", "--policy delay", "--policy fixed"), (STREAM, "max_marks=2", "--policy delay", ""),
    (STREAM, "--provisional", "", "--json"), (EXPORT, "--private", "", "--push-to-hub nobody"),
)  # fmt: skip


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    (tmp_path / "talk.txt").write_text("we know that\n", encoding="utf-8")
    return {"text": tmp_path / "talk.txt", "tmp": tmp_path}


@pytest.mark.parametrize(("command", "option", "alone", "together"), CASES)
def test_an_option_that_would_do_nothing_is_refused(
    invoke: Invoke, places: dict[str, Path], command: tuple[str, ...], option: str, alone: str, together: str
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


def test_every_need_has_a_case() -> None:
    words = [option.split()[0].partition("=")[0] for _, option, _, _ in CASES]
    tried = {word.removeprefix("--").replace("-", "_") for word in words}
    assert tried == {name for names, _, _ in NEEDS for name in names.split()}


def test_plain_text_has_no_pauses(invoke: Invoke, places: dict[str, Path]) -> None:
    text, subtitles = places["text"], places["tmp"] / "talk.srt"
    subtitles.write_text("1\n00:00:01,000 --> 00:00:02,000\nwe know\n", encoding="utf-8")
    options = ("--to", "text", "paragraph_pause_ms=500", "--output-dir", places["tmp"] / "out", "--model", "no/no/x")
    told = "paragraph_pause_ms for plain text, which has no times"
    assert told in invoke("punctuate", text, *options)[2]
    assert told not in invoke("punctuate", subtitles, *options)[2]
    (places["tmp"] / "talk.srt").rename(places["tmp"] / "other.srt")
    both = (text, places["tmp"] / "other.srt")
    assert told not in invoke("punctuate", *both, *options)[2], "one of them has times"


@pytest.mark.parametrize("folder", ["run", "made"])
def test_a_licence_is_not_stated_in_a_card_that_stays(invoke: Invoke, tmp_path: Path, folder: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder / "README.md").write_text("# By hand\n", encoding="utf-8")
    command = ("export", tmp_path / "run", "-o", tmp_path / "made", "--license", "mit")
    told = f"t5punct: --license and the card {tmp_path}/{folder}/README.md, which stays; expected one of them; drop one"
    assert invoke(*command)[::2] == (2, told + "\n")


GIANT = 10**19


@pytest.mark.parametrize("option", ["batch_tokens", "alternatives", "paragraphs", "paragraph_pause_ms"])
def test_one_more_than_there_can_be_does_no_harm(invoke: Invoke, folder: str, tmp_path: Path, option: str) -> None:
    (tmp_path / "a.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nwe know\n", encoding="utf-8")
    code, _, err = invoke("punctuate", tmp_path / "a.srt", "--to", "html", f"{option}={GIANT}", "--model", folder)
    assert (code, err) == (0, "")
