"""The page for review in a real browser: pictures, clicks and keys.  Needs chromium (apt-get install chromium)."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import CHROMIUM, Page, browser
from strategies import TRICKY_WORDS

from t5punct.text.marks import Alphabet, Case
from t5punct.text.render import KEEP, MARK, Alternative, AnnotatedWord, Decision, RenderConfig, render_word
from t5punct.text.spelling import takes_capital
from t5punct.text.words import Word, split
from t5punct.transcripts.items import Cue, Kept, Role, SpokenWord, WrittenItem, written_items
from t5punct.transcripts.review import review_page

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium here; on Debian: apt-get install chromium"),
]

# word, as it is written, mark, how sure, other marks
TALK = [
    ("we", "We", "", 1.0, ()), ("know", "know,", ",", 0.55, (Alternative("", 0.3), Alternative(".", 0.14))),
    ("that", "that", "", 0.98, ()),
    ('right?"', 'right?"', "?", 0.62, (Alternative(".", 0.31), Alternative("?!", 0.05))),
    ("yes", "Yes", "", 0.68, (Alternative(",", 0.3),)), ("straße", "straße.", ".", 0.9, (Alternative("", 0.08),)),
]  # fmt: skip


def talk() -> list[WrittenItem]:
    """Words in two cues, the second half a minute after the first."""
    (first, *rest) = split(" ".join(word for word, *_ in TALK)).words
    spoken = [SpokenWord(first, " ", cue=Cue(0, 1000, 2000), start_ms=1000)]
    spoken += [SpokenWord(word, word.space, cue=Cue(0, 1000, 2000)) for word in rest]
    spoken[3] = SpokenWord(split('right?"').words[0], "\n", cue=Cue(0, 1000, 2000))
    spoken[4] = SpokenWord(spoken[4].word, " ", cue=Cue(1, 63_000, 65_000), start_ms=63_000)
    said = (AnnotatedWord(word, text, mark, "capitalised" if text[0].isupper() else "lower", sure, 1.0, others)
            for word, text, mark, sure, others in TALK)  # fmt: skip
    return list(written_items([*spoken[:4], Kept("ANN: ", breaks=True, role=Role.SPEAKER), *spoken[4:]], said))


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("browser")) as page:
        yield page


@pytest.fixture
def page(chromium: Page, tmp_path: Path) -> Iterator[Page]:
    """The talk in a browser; whatever a test does, the page has no error and asks for nothing."""
    yield from opened(chromium, tmp_path, talk())


def opened(chromium: Page, folder: Path, items: list[WrittenItem]) -> Iterator[Page]:
    file = folder / "page.html"
    file.write_text("".join(review_page(items, "talk.srt")), encoding="utf-8", newline="")
    chromium.ask("isSaved = true")  # or the browser asks before it leaves the page
    del chromium.requests[:], chromium.errors[:]
    chromium.open(file)
    yield chromium
    assert chromium.errors == []
    assert [request for request in chromium.requests if not request.startswith("blob:")] == [file.as_uri()]


def text_of(page: Page) -> str:
    return str(page.ask("main.textContent"))


def focused(page: Page) -> str:
    return str(page.ask("document.activeElement.textContent"))


def told(page: Page) -> str:
    return str(page.ask("told.textContent"))


PLAIN = 'We know, that right?"\nANN: Yes straße.'


def test_doubts_are_shown_and_the_keys_jump_from_one_to_the_next(page: Page, tmp_path: Path) -> None:
    assert text_of(page) == PLAIN
    assert told(page) == "3 doubts"
    before = page.picture(tmp_path / "before.png")
    seen = []
    for key in ("n", "n", "n", "n", "p", "p"):
        page.press(key)
        seen.append((focused(page), told(page)))
    first, second, third = (("know,", "Doubt 1 of 3"), ('right?"', "Doubt 2 of 3"), ("Yes", "Doubt 3 of 3"))
    assert seen == [first, second, third, first, third, second]
    assert page.ask("card.hidden") is False
    after = page.picture(tmp_path / "after.png")
    assert before.startswith(b"\x89PNG") and before != after
    page.press("Escape")
    assert page.ask("card.hidden") is True
    assert page.picture(tmp_path / "closed.png") != after


def test_a_mark_is_chosen_by_click_and_by_key(page: Page) -> None:
    page.point("words[1].element", click=True)
    assert page.ask("[...byId('choices').children].map((one) => one.textContent)") == [
        "1 know, 55 %", "2 know 30 %", "3 know. 14 %", "4 know?"
    ]  # fmt: skip
    page.point("byId('choices').children[2]", click=True)
    assert text_of(page) == PLAIN.replace("know, that", "know. That"), "a sentence begins with a capital"
    assert focused(page) == "know."
    assert told(page) == "Doubt 1 of 3, 2 changed"
    page.press("2")
    assert text_of(page) == PLAIN.replace("know,", "know"), "the capital goes with the mark"
    page.press("n", ".")
    assert text_of(page) == PLAIN.replace("know,", "know").replace('right?"', 'right."'), "inside the quotes"
    page.press("u", "p", "u")
    assert (text_of(page), told(page)) == (PLAIN, "Doubt 1 of 3")
    page.press("Backspace")
    assert text_of(page) == PLAIN.replace("know,", "know")


def test_a_mark_can_be_typed_but_no_word(page: Page) -> None:
    page.press("n", "Enter")
    assert page.ask("document.activeElement === byId('choices').firstChild")
    page.point("byId('other')", click=True)
    page.press("n", " ", ";", "2")
    assert page.ask("byId('other').value") == "n ;2", "keys are text there"
    page.press("Enter")
    assert text_of(page) == PLAIN.replace("know,", "know;")
    assert focused(page) == "know;"


def test_the_text_is_saved_as_it_is_changed(page: Page, tmp_path: Path) -> None:
    page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    page.press("n", "3", "s")
    saved, end = tmp_path / "talk.txt", time.monotonic() + 60
    while not saved.is_file() and time.monotonic() < end:
        page.ask("0")
        time.sleep(0.05)
    assert saved.read_bytes() == PLAIN.replace("know, that", "know. That").encode()
    assert page.ask("isSaved") is True


def test_the_page_writes_marks_and_capitals_as_python_does(page: Page) -> None:
    words = [split(word).words[0] for word in TRICKY_WORDS]
    words = [word for word in words if word.has_slot]
    marks = ("", ",", ".", "?!", "...", "-", "?-", "--")
    spellings = [[word, mark, word.with_marks(mark)] for word in words for mark in marks]
    # a mark that would become part of the word is not offered; a person who types it means it
    spellings = [(word, mark, text) for word, mark, text in spellings if not mark or text != word.with_marks("")]
    cases = [(text[: len(text) - word.n_closers], word.text[len(word.text) - word.n_closers :], mark)
             for word, mark, _ in spellings for text in [word.with_marks("")]]  # fmt: skip
    assert page.ask(f"{json.dumps(cases)}.map((one) => spelled(...one))") == [text for _, _, text in spellings]


def lines_of(words: list[Word], disfluent: bool | None = None) -> list[WrittenItem]:
    """A word on each line, as a model writes it that puts no mark and changes no letter."""
    config = RenderConfig(disfluencies=MARK if disfluent else KEEP)
    decision = Decision("", Case.VERBATIM, 0.5, 1.0, disfluent=bool(disfluent))
    said = (AnnotatedWord(word.text, rendered.text, rendered.marks, rendered.case, 0.5, 1.0, disfluent=disfluent)
            for word in words for rendered in [render_word(word, decision, config, Alphabet())])  # fmt: skip
    return list(written_items((SpokenWord(word, "\n") for word in words), said))


def test_capitals_turn_to_what_python_would_write(chromium: Page, tmp_path: Path) -> None:
    texts = (*TRICKY_WORDS, "main.py", '"snake_case"', "3rd", "4k", "კარგი", "straße", '"o\'neil"', "vs.", "vs.?")
    words = [word for word in (split(text).words[0] for text in texts) if word.takes_marks]
    shown = []
    for word in words:
        cases = [case for case in Case if case is not Case.CAPITALISED or takes_capital(word.core)]  # never `3Rd`
        decisions = [Decision("", case, 1.0, 1.0) for case in cases]
        shown.append((word.text, {render_word(word, each, RenderConfig(), Alphabet()).text for each in decisions}))
    for page in opened(chromium, tmp_path, lines_of(words)):
        turned = "words.map((word) => [1, 2, 3, 4].map(() => (turnCase(word), word.element.textContent)))"
        spellings = [(word.text, {*texts}) for word, texts in zip(words, page.ask(turned), strict=True)]
        assert spellings == shown


def test_a_sentence_begins_with_a_capital_only_where_python_writes_one(chromium: Page, tmp_path: Path) -> None:
    texts = ["We", "main.py", "we", "3rd", "we", "iPhone", "we", '"o\'neil"', "we", "კარგი", "we", "so"]
    words = [split(text).words[0] for text in texts]
    for page in opened(chromium, tmp_path, lines_of(words)):
        page.ask("words.filter((_, place) => place % 2 == 0).forEach((word) => put(word, '.'))")
        assert text_of(page).split()[1::2] == ["main.py", "3rd", "iPhone", '"O\'Neil"', "კარგი", "So"]
        page.ask("words.filter((_, place) => place % 2 == 0).forEach((word) => put(word, ''))")
        assert text_of(page).split() == texts
    for page in opened(chromium, tmp_path, lines_of([split(text).words[0] for text in ("we", "README.md", "so")])):
        page.ask("put(words[0], '.')")
        assert text_of(page).split() == ["we.", "README.md", "so"], "a text without capitals gets none"


def test_opening_marks_come_and_go_before_a_word(chromium: Page, tmp_path: Path) -> None:
    words = [split(text).words[0] for text in ("vale", "¿qué", "(¡no", '"hola"', "42", "'tis")]
    for page in opened(chromium, tmp_path, lines_of(words)):
        turned = "words.map((word) => [1, 2, 3].map(() => (turnOpening(word), word.element.textContent)))"
        for word, texts in zip(words, page.ask(turned), strict=True):
            assert {*texts} == {word.with_opening(opening).text for opening in ("", "¿", "¡")}
            assert texts[-1] == word.text, "three times round"
        page.ask("select(words[0])")
        page.press("o", "c", "?")
        assert text_of(page).split()[0] == "¿Vale?"
        page.press("u")
        assert text_of(page).split() == [word.text for word in words]
