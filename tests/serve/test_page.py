"""The page at `/` in a browser: a transcript, captions, a page for OBS; no foreign request."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from browser import CHROMIUM, Page, browser
from services import FP32, server

from t5punct.punctuator import Punctuator
from t5punct.serve.engine import Engine
from t5punct.text.words import split

pytestmark = [pytest.mark.long, pytest.mark.skipif(CHROMIUM is None, reason="no chromium")]
TEXT = "how are you today or not"
HOSTILE = "so <img src=x onerror=window.broken=1> <script>window.broken=1</script> & we"


@pytest.fixture(scope="module")
def page(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    if CHROMIUM is None:
        pytest.skip("no chromium")
    with server(engine) as (address, _), browser(tmp_path_factory.mktemp("browser")) as page:
        page.visit(f"http://{address}/")
        yield page
        assert all("400 (Bad Request)" in error for error in page.errors)  # of the mistake
        assert all(request.startswith((f"http://{address}", "blob:", "data:")) for request in page.requests)


def test_a_pasted_text_is_punctuated_and_a_mistake_is_told(page: Page, engine: Engine) -> None:
    alone = Punctuator(engine.model, FP32)
    for text in (TEXT, HOSTILE):
        page.put("input", text)
        page.click("punctuate")
        page.until("document.getElementById('status').textContent.startsWith('About')")
        assert page.text("output") == alone.punctuate(text)
    assert page.ask("window.broken === undefined")
    page.put("input", "so we know")
    page.put("to", "srt")
    page.click("punctuate")
    page.until("document.getElementById('problem').textContent.includes('times')")
    page.put("to", "")


def test_words_become_captions_as_they_are_typed(page: Page) -> None:
    page.click("tab-live")
    page.write("typed", "how are you today or not so we know ")
    page.until("document.getElementById('committed').textContent.toLowerCase().includes('you')")
    assert page.text("provisional") != ""
    assert page.text("latency").startswith("4 words and ")
    page.click("stop")
    page.until("document.getElementById('committed').textContent.toLowerCase().includes('know')")
    assert page.ask("document.getElementById('committed').getAttribute('aria-live')") == "polite"


FRAMES = """
window.frames_seen = [];
new MutationObserver(() => frames_seen.push(document.getElementById("lines").textContent.replace(/\\s+/g, " ").trim()))
  .observe(document.getElementById("lines"), {childList: true, subtree: true, characterData: true}); 0
"""


def test_no_word_stands_there_twice_in_any_frame_and_the_example_ends_with_its_button(page: Page) -> None:
    """The words of the example are all different from their neighbours."""
    page.click("tab-live", "clear")
    assert page.ask("document.getElementById('hint').checkVisibility()")
    page.ask(FRAMES)
    page.click("play")
    page.until("document.getElementById('committed').textContent.split(' ').length > 8")
    page.click("stop")
    page.until("document.getElementById('provisional').textContent === ''")
    seen = page.text("committed")
    page.ask("new Promise((done) => setTimeout(done, 900))")
    assert page.text("committed") == seen, "End ends the example too"
    frames = [[word.text.lower() for word in split(frame).words] for frame in page.ask("frames_seen")]
    assert len(frames) > 16
    assert [frame for frame in frames if any(first == second for first, second in pairwise(frame))] == []
    assert all(" ".join(frame) in " ".join(frames[-1]) or len(frame) > 8 for frame in frames)


def test_captions_are_cleared_saved_and_enlarged(page: Page) -> None:
    page.click("tab-live", "clear")
    page.write("typed", "how are you today ")
    page.click("stop")
    page.until("document.getElementById('committed').textContent.toLowerCase().includes('today')")
    page.ask(
        "window.saved = null, "
        "URL.createObjectURL = (blob) => { blob.text().then((text) => { saved = text; }); return ''; }, 0"
    )
    page.click("save")
    page.until("saved !== null")
    assert page.ask("saved") == page.text("committed") + "\n"
    height = page.ask("document.getElementById('captions').offsetHeight")
    page.put("size", "5")
    assert page.ask("document.getElementById('captions').offsetHeight") > 2 * height
    page.put("size", "1.8")
    assert "/?view=captions&show=" in page.ask("document.getElementById('watch').href")
    assert page.text("about").startswith("model fresh, version ")


def test_in_the_dark_the_box_of_captions_has_a_border_that_is_seen(page: Page) -> None:
    page.click("tab-live")
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    ground = "getComputedStyle(document.body).backgroundColor"
    border = "getComputedStyle(document.getElementById('captions')).borderTopColor"
    light = "{}.match(/\\d+/g).map(Number).reduce((sum, part) => sum + part)"  # of 765
    assert page.ask(light.format(ground)) < 150
    assert page.ask(light.format(border)) - page.ask(light.format(ground)) > 250
    page.call("Emulation.setEmulatedMedia", features=[])


def test_a_page_for_obs_shows_what_another_one_says(engine: Engine, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("watching", "speaking")]
    for folder in folders:
        folder.mkdir()
    with server(engine) as (address, _), browser(folders[0]) as watching, browser(folders[1]) as page:
        watching.visit(f"http://{address}/?view=captions&show=talk&size=3")
        assert watching.ask("getComputedStyle(document.documentElement).backgroundColor") == "rgba(0, 0, 0, 0)"
        assert watching.ask("getComputedStyle(document.body).backgroundColor") == "rgba(0, 0, 0, 0)"
        assert watching.ask("[...document.querySelectorAll('button, header, textarea')].filter((part) => "
                            "part.checkVisibility()).length") == 0  # fmt: skip
        page.visit(f"http://{address}/?show=talk")
        page.click("tab-live")
        page.write("typed", "how are you today or not ")
        page.click("stop")
        shown = "document.getElementById('committed').textContent"
        page.until(f"{shown}.toLowerCase().includes('not')")
        watching.until(f"{shown}.toLowerCase().includes('not')")
        assert watching.ask(shown) == page.ask(shown)
        page.click("clear")
        watching.until(f"{shown} === ''")
        assert watching.errors == page.errors == []
