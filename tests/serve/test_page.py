"""The page at `/` in a browser: a transcript, captions, the page for review, dark colours, no foreign request."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from browser import CHROMIUM, Page, browser
from services import FP32, GERMAN, GERMAN_WARNING, server

from t5punct.punctuator import Punctuator
from t5punct.serve.engine import Engine
from t5punct.text.words import split

pytestmark = [pytest.mark.long, pytest.mark.skipif(CHROMIUM is None, reason="no chromium")]
AXE = Path(__file__).parents[2] / "node_modules/axe-core/axe.min.js"  # npm install --no-save axe-core
TEXT = "how are you today or not"
HOSTILE = "so <img src=x onerror=window.broken=1> <script>window.broken=1</script> & we"


def contrast(first: str, second: str) -> float:
    """The ratio of WCAG 2.2 between two colours as a browser tells them, `rgb(1, 2, 3)`."""
    luminance = []
    for colour in (first, second):
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        luminance.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    lighter, darker = sorted(luminance, reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


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


def test_the_page_for_review_is_shown_by_its_own_code(page: Page) -> None:
    page.put("input", TEXT)
    page.click("punctuate")
    page.until("document.getElementById('status').textContent.startsWith('About')")
    page.click("open-review")
    page.until("!document.getElementById('review').hidden")
    assert page.ask("document.getElementById('review').getAttribute('sandbox')") == "allow-scripts allow-downloads"
    page.click("open-review")
    page.until("document.getElementById('review').hidden")


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


RECOGNISER = """
window.SpeechRecognition = class {
  start() { window.is_heard = true; }
  stop() { window.is_heard = false; this.onend(); }
};
"""


def test_the_microphone_ends_with_its_button_too(engine: Engine, tmp_path: Path) -> None:
    with server(engine) as (address, _), browser(tmp_path) as page:
        page.call("Page.addScriptToEvaluateOnNewDocument", source=RECOGNISER)
        page.visit(f"http://{address}/")
        page.click("tab-live", "speak")
        assert page.ask("[is_heard, document.getElementById('speak').ariaPressed].join()") == "true,true"
        page.click("stop")
        assert page.ask("[is_heard, document.getElementById('speak').ariaPressed].join()") == "false,false"


def test_captions_fill_the_screen(page: Page) -> None:
    page.click("tab-live", "full")
    page.until("document.fullscreenElement === document.getElementById('captions')")
    page.ask("document.exitFullscreen().then(() => 0)")


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


def test_at_the_start_there_is_an_example(engine: Engine, tmp_path: Path) -> None:
    with server(engine) as (address, _), browser(tmp_path) as other:
        other.visit(f"http://{address}/")
        assert other.ask("document.getElementById('input').value").startswith("good morning everyone")
        other.until("document.getElementById('about').textContent.startsWith('model fresh, version ')")


def test_a_language_that_the_model_does_not_know_is_told(english_engine: Engine, tmp_path: Path) -> None:
    with server(english_engine) as (address, _), browser(tmp_path) as other:
        other.visit(f"http://{address}/")
        other.put("input", GERMAN)
        other.click("punctuate")
        other.until(f"document.getElementById('problem').textContent === {GERMAN_WARNING!r}")
        other.click("tab-live")
        other.write("typed", GERMAN)
        other.click("stop")
        other.until(f"document.getElementById('live-warning').textContent === {GERMAN_WARNING!r}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_can_be_read_and_the_box_of_captions_is_seen(page: Page, scheme: str, tmp_path: Path) -> None:
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    ground = page.ask("getComputedStyle(document.body).backgroundColor")
    for element in ("body", "#status", "#problem", "#latency"):
        ink = page.ask(f"getComputedStyle(document.querySelector('{element}')).color")
        assert contrast(ink, ground) >= 4.5, (element, ink, ground)
    captions = page.ask("getComputedStyle(document.querySelector('#captions')).backgroundColor")
    assert contrast(page.ask("getComputedStyle(document.querySelector('#provisional')).color"), captions) >= 4.5
    assert page.picture(tmp_path / "page.png")
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    ground = page.ask("getComputedStyle(document.body).backgroundColor")
    border = page.ask("getComputedStyle(document.getElementById('captions')).borderTopColor")
    assert contrast(border, ground) >= 3, "as WCAG 2.2 asks of what shows a part of a page"


@pytest.mark.skipif(not AXE.is_file(), reason="no axe-core here; npm install --no-save axe-core")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("tab", ["text", "live"])
def test_axe_has_nothing_to_say(page: Page, tab: str, scheme: str) -> None:
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    page.point(f"document.getElementById('tab-{tab}')", click=True)
    page.ask(AXE.read_text(encoding="utf-8") + "; 0")
    report = page.ask("axe.run().then(({violations, passes}) => ({violations: violations.map(({id, nodes}) => "
                     "`${id}: ${nodes.map(({html}) => html)}`), checked: passes.map(({id}) => id)}))")  # fmt: skip
    assert report["violations"] == []
    assert {"color-contrast", "label", "aria-required-children"} <= set(report["checked"])


def test_the_keyboard_reaches_every_control_in_the_order_in_which_it_is_seen(page: Page) -> None:
    page.click("tab-text")
    seen = page.ask("[...document.querySelectorAll('button, a, input, select, textarea, pre')].filter((control) => "
                    "control.checkVisibility() && control.tabIndex >= 0).map((control) => control.id)")  # fmt: skip
    reached = []
    for _ in range(3 * len(seen)):
        page.press("Tab")
        reached.append(page.ask("document.activeElement.id"))
    assert seen[0] == "tab-text"  # where the keys begin, so it is reached last
    assert [name for name in dict.fromkeys(reached) if name in seen] == [*seen[1:], "tab-text"]


def test_every_control_has_a_name(page: Page) -> None:
    nameless = page.ask(
        "[...document.querySelectorAll('button, input, select, textarea, iframe')].filter((control) => "
        "!(control.labels?.length || control.textContent.trim() || control.title || control.ariaLabel))"
        ".map((control) => control.id)"
    )
    assert nameless == []
