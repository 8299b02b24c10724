"""The page for review: it holds the text, whatever is in it; it needs nothing from outside; the commands."""

import base64
import hashlib
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from itertools import cycle, islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import labels, texts

from t5punct.batch.jobs import OutputConfig, plan_jobs
from t5punct.batch.work import Work
from t5punct.model import Model
from t5punct.punctuator import Punctuator
from t5punct.text.marks import Alphabet, Case
from t5punct.text.render import MARK, Alternative, AnnotatedWord, Decision, RenderConfig, render_word
from t5punct.text.words import Word
from t5punct.transcripts.items import Cue, Item, Kept, SpokenWord, WrittenItem, WrittenWord, iter_pieces, written_items
from t5punct.transcripts.review import review_page
from t5punct.transcripts.speech import read_plain
from t5punct.transcripts.writers import WriterConfig

ALL_MARKS = Alphabet()
SRT = "1\n00:00:01,000 --> 00:00:02,000\nwe know that\n\n2\n00:00:02,500 --> 00:00:04,000\n[laughs] is it R&D\n"
annotations = st.tuples(
    labels(ALL_MARKS), st.sampled_from(list(Case)), st.floats(0, 1),
    st.lists(st.builds(Alternative, labels(ALL_MARKS), st.floats(0, 1)), max_size=3).map(tuple),
)  # fmt: skip
hostile = st.sampled_from(["</script><script>alert(1)</script>", "<!--", "&amp;", '"><b>', "{{text}}", "\r\n", "&#13"])
hostile_texts = st.lists(texts | hostile, max_size=4).map(" ".join)


class Found(HTMLParser):
    """What a reader of HTML finds: the text of `main`, tags with their attributes in it and outside, the title."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.in_main: list[tuple[str, dict[str, str | None]]] = []
        self.outside: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text, self.title, self.is_nested = "", "", True
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        (self.in_main if "main" in self.open else self.outside).append((tag, dict(attrs)))
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.is_nested &= self.open[-1:] == [tag]
        del self.open[-1:]

    def handle_data(self, data: str) -> None:
        self.text += data if "main" in self.open else ""
        self.title += data if self.open[-1:] == ["title"] else ""


def written_of(
    items: list[Item], said: Iterator[tuple[str, Case, float, tuple[Alternative, ...]]]
) -> list[WrittenItem]:
    """Items, and what is said of each word."""

    def words() -> Iterator[AnnotatedWord]:
        for item in items:
            if isinstance(item, SpokenWord):
                label, case, sure, others = next(said)
                rendered = render_word(item.word, Decision(label, case, sure, sure), RenderConfig(), ALL_MARKS)
                yield replace(rendered, confidence=sure, case_confidence=sure, alternatives=others)

    return list(written_items(items, words()))


@cache
def empty_page() -> Found:
    return Found("".join(review_page([], "talk.txt")))


def holds(text: str, page: str) -> bool:
    """Whether the text of a page is that text, and nothing in it is anything but words."""
    parsed = Found(page)
    is_tame = {tag for tag, _ in parsed.in_main} <= {"p", "span", "b"}
    is_tame &= all(name == "dir" or name.startswith("data-") for _, given in parsed.in_main for name in given)
    is_same = parsed.text == text.replace("\0", "\ufffd")  # HTML has no zero byte
    return is_same and is_tame and parsed.is_nested and parsed.outside == empty_page().outside


@given(hostile_texts, st.lists(annotations, min_size=1, max_size=5))
def test_the_page_holds_the_text_whole(text: str, said: list[tuple[str, Case, float, tuple[Alternative, ...]]]) -> None:
    items = written_of(list(read_plain(io.StringIO(text, newline="\n"))), cycle(said))
    page = "".join(review_page(items, "talk.txt"))
    assert holds("".join(iter_pieces(items)), page)
    assert "\r" not in page and "\0" not in page, "a browser reads these as other characters"


@pytest.mark.parametrize("name", ['a"><script>x.srt', "{{text}}.txt", "R&D.txt.gz", "-", "a/b/talk.en.vtt"])
def test_the_name_of_the_input_is_the_title_and_names_the_saved_text(name: str) -> None:
    parsed = Found("".join(review_page([], name)))
    title = {"-": "standard input"}.get(name, Path(name).name)
    assert parsed.title == f"{title} – review of marks"
    (attributes,) = [given for tag, given in parsed.outside if tag == "main"]
    stems = {"-": "transcript", "R&D.txt.gz": "R&D", "a/b/talk.en.vtt": "talk.en"}
    assert attributes["data-save"] == stems.get(name, title.rpartition(".")[0]) + ".txt"


def test_the_page_needs_nothing_from_outside_and_runs_only_its_own_script() -> None:
    page = "".join(review_page([], "x"))
    assert not re.search(r"https?:|\bsrc=|\bhref=|url\(|@import|<link|fetch\(|\bimport\b", page)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    for kind in ("style", "script"):
        (content,) = re.findall(f"<{kind}>(.*?)</{kind}>", page, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert len(page) < 25_000


def test_a_word_has_what_the_model_said_of_it() -> None:
    said = AnnotatedWord("x", 'He,"', ",", "capitalised", 0.618, 0.9, (Alternative("", 0.3), Alternative('"', 0.001)))
    word = WrittenWord(SpokenWord(Word('he"', n_closers=1), " ", start_ms=61_250), said)
    certain = WrittenWord(SpokenWord(Word("so"), ""), AnnotatedWord("so", "so", "", "lower", 0.999, 1.0))
    dash = WrittenWord(SpokenWord(Word("-"), " "), AnnotatedWord("-", "-", "", "lower", 0.1, 0.1))
    assert main_of([word, dash, certain]) == (
        '<p dir="auto">'
        '<span data-p="62" data-k="90" data-l="," data-s="He" data-f="he He HE" data-c="&quot;" data-a="30" '
        'data-t="61.25">He,&quot;</span> - <span data-f="so So SO">so</span></p>'
    )


def main_of(items: Iterable[WrittenItem]) -> str:
    """The text of a page as its HTML has it."""
    (text,) = re.findall("<main[^>]*>(.*)</main>", "".join(review_page(items, "x")), flags=re.DOTALL)
    return str(text)


def attributes_of(word: Word, said: AnnotatedWord) -> dict[str, str | None]:
    """What the page says of a word."""
    _, (_, attributes) = Found("".join(review_page([WrittenWord(SpokenWord(word), said)], "x"))).in_main
    return attributes


@pytest.mark.parametrize(("word", "forms"), [
    (Word("so"), "so So SO"), (Word("NASA"), "nasa Nasa NASA"), (Word('"o\'neil'), '"o\'neil "O\'Neil "O\'NEIL'),
    (Word("vs", ".", dotted=True), "vs. Vs. VS."), (Word("3rd"), "3rd 3rd 3RD"), (Word("4k"), "4k 4k 4K"),
    (Word("iPhone"), None), (Word("asr", spelled="ASR"), None), (Word("42"), None),
])  # fmt: skip
def test_a_page_offers_the_capitals_that_are_written_elsewhere(word: Word, forms: str | None) -> None:
    said = AnnotatedWord(word.text, word.with_marks(""), "", "verbatim", 1.0, 1.0)
    assert attributes_of(word, said).get("data-f") == forms
    known = AnnotatedWord("iphone", "iPhone,", ",", "verbatim", 0.5, 1.0)
    assert attributes_of(Word("iphone"), known)["data-s"] == "iPhone", "it stays when its mark changes"


def test_the_sign_of_a_disfluent_word_stays_whatever_its_mark() -> None:
    word = Word('e.g."', n_closers=1)
    decision = Decision(",", Case.LOWER, 1.0, 1.0, disfluent=True)
    said = render_word(word, decision, RenderConfig(disfluencies=MARK), ALL_MARKS)
    attributes = attributes_of(word, said)
    assert (attributes["data-s"], attributes["data-f"]) == ("e.g.~", "e.g.~ E.g.~ E.G.~")


def test_lines_are_paragraphs_long_ones_have_parts_and_all_is_written_as_words_come() -> None:
    certain = cycle([("", Case.LOWER, 1.0, ())])
    page = main_of(written_of(list(read_plain(["JOHN: so\n", "\n", "  we go"])), certain))
    assert re.sub(r"</?span[^>]*>", "", page) == (
        '<p dir="auto"><b>JOHN: </b>so\n</p\n><p dir="auto">\n</p\n><p dir="auto">  we go</p>'
    )
    spoken = [SpokenWord(Word("so"), cue=Cue(number, 10_000 * number)) for number in range(5)]
    ends = cycle([(label, Case.LOWER, 1.0, ()) for label in (".", "", "", ".", "")])
    parts = main_of(written_of([Kept(""), *spoken], ends)).split("<p")
    assert [part.count("<span") for part in parts[1:]] == [4, 1], "a part ends with a sentence"
    said = AnnotatedWord("so", "so", "", "lower", 0.5, 1.0)
    endless = cycle([WrittenWord(SpokenWord(Word("so"), " "), said)])
    assert "".join(islice(review_page(endless, "x"), 500)).count("<span") > 400


@pytest.fixture
def punctuator(lively_model: Model) -> Punctuator:
    return Punctuator(lively_model).with_config(render=RenderConfig(alternatives=2))


def test_a_page_beside_the_output_and_alone(punctuator: Punctuator, tmp_path: Path) -> None:
    (tmp_path / "talk.srt").write_text(SRT)
    source = str(tmp_path / "talk.srt")
    both = OutputConfig(tmp_path / "out.srt", review=tmp_path / "page.html")
    assert Work(punctuator).run(plan_jobs([source], both).jobs).n_written == 1
    alone = plan_jobs([source], OutputConfig(folder=tmp_path / "pages", format="html")).jobs
    assert [job.target for job in alone] == [tmp_path / "pages" / "talk.html"]
    assert Work(punctuator, WriterConfig("html")).run(alone).failures == ()
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert (tmp_path / "pages" / "talk.html").read_text(encoding="utf-8") == page
    as_text = plan_jobs([source], OutputConfig(tmp_path / "out.txt", format="text")).jobs
    Work(punctuator, WriterConfig("text")).run(as_text)
    assert Found(page).text == (tmp_path / "out.txt").read_text(encoding="utf-8"), "what is saved is the text"
    assert re.sub(r"[^\n\w:>&\[\] -]", "", (tmp_path / "out.srt").read_text()).lower().count("r&d") == 1
    assert "data-a=" in page
