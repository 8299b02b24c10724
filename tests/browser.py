"""A browser for tests: Debian's chromium without a window, led by the DevTools protocol through two pipes.

In: a file.  Out: what its page answers, and what becomes of it under clicks and keys.  No package is needed.

`with browser(folder) as page: page.open(file); page.press("n"); page.ask("document.title")`
"""

import base64
import json
import os
import select
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_WAIT_S = 120  # an answer takes milliseconds, and on a machine under load much longer
_KEYS = {"Enter": 13, "Escape": 27, "Backspace": 8, "Tab": 9, "ArrowLeft": 37, "ArrowRight": 39}


class Page:
    """A page of the browser.  `requests`: the addresses that it asked for."""

    def __init__(self, to_browser: IO[bytes], from_browser: int) -> None:
        self._to, self._from, self._rest, self._number, self._session = to_browser, from_browser, b"", 0, ""
        self.requests: list[str] = []
        self.errors: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A command of the protocol, and its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        message |= {"sessionId": self._session} if self._session else {}
        self._to.write(json.dumps(message).encode() + b"\0")
        self._to.flush()
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return dict(answer["result"])

    def open(self, file: Path) -> None:
        self.call("Page.navigate", url=file.as_uri())
        self.until("document.readyState == 'complete' && location.protocol == 'file:'")

    def visit(self, address: str) -> None:
        """Open an address of this machine."""
        self.call("Page.navigate", url=address)
        self.until(f"document.readyState == 'complete' && location.href.startsWith({address!r})")

    def ask(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + _WAIT_S
        while not self.ask(expression):
            assert time.monotonic() < end, f"never true: {expression}"
            time.sleep(0.02)

    def press(self, *keys: str) -> None:
        """Press keys, by their names."""
        for key in keys:
            parameters = {"key": key, "windowsVirtualKeyCode": _KEYS.get(key, 0)}
            text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
            self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **parameters)
            self.call("Input.dispatchKeyEvent", type="keyUp", **parameters)

    def point(self, element: str, *, click: bool = False) -> None:
        """Move the mouse to the middle of an element, which is an expression, and click there if asked to."""
        box = self.ask(
            f"(({element}).scrollIntoView({{block: 'nearest'}}), ({element}).getBoundingClientRect().toJSON())"
        )
        place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        self.call("Input.dispatchMouseEvent", type="mouseMoved", **place)
        for kind in ("mousePressed", "mouseReleased") if click else ():
            self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)

    def click(self, *names: str) -> None:
        """Click on elements, by their ids, one after the other."""
        for name in names:
            self.point(f"document.getElementById({name!r})", click=True)

    def text(self, name: str) -> str:
        return str(self.ask(f"document.getElementById({name!r}).textContent"))

    def put(self, name: str, value: str) -> None:
        """Set the value of an input, as one who chooses it."""
        self.ask(f"document.getElementById({name!r}).value = {value!r}")
        self.ask(f"document.getElementById({name!r}).dispatchEvent(new Event('input'))")

    def write(self, name: str, text: str) -> None:
        """Type a text into an input."""
        self.ask(f"document.getElementById({name!r}).focus()")
        self.press(*text)

    def picture(self, file: Path) -> bytes:
        """What is seen of the page, as a PNG file."""
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
        return file.read_bytes()

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], _WAIT_S)
            assert ready, "the browser does not answer"
            piece = os.read(self._from, 1 << 16)
            assert piece, "the browser is gone"
            self._rest += piece
        line, self._rest = self._rest.split(b"\0", 1)
        message: dict[str, Any] = json.loads(line)
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
            case "Runtime.exceptionThrown":
                self.errors.append(str(message["params"]["exceptionDetails"]))
            case "Log.entryAdded" if message["params"]["entry"]["level"] == "error":
                self.errors.append(message["params"]["entry"]["text"])
        return message


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """A new browser, whose files lie in a folder; it ends with the block."""
    assert CHROMIUM
    (read_by_browser, to_browser), (from_browser, written_by_browser) = os.pipe(), os.pipe()
    arguments = [CHROMIUM, "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={folder / 'profile'}"]
    arguments += [
        "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--window-size=1000,800",
    ]  # fmt: skip
    quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (1, 2)]
    # the protocol's pipes are descriptors 3 and 4; first to numbers that none of the four can have
    high = [(os.POSIX_SPAWN_DUP2, read_by_browser, 100), (os.POSIX_SPAWN_DUP2, written_by_browser, 101)]
    low = [(os.POSIX_SPAWN_DUP2, 100, 3), (os.POSIX_SPAWN_DUP2, 101, 4)]
    shut = [(os.POSIX_SPAWN_CLOSE, number) for number in (100, 101)]
    process = os.posix_spawn(
        CHROMIUM, arguments, {**os.environ, "HOME": str(folder)}, file_actions=[*quiet, *high, *low, *shut], setsid=True
    )
    os.close(read_by_browser)
    os.close(written_by_browser)
    try:
        with open(to_browser, "wb") as handle:  # noqa: PTH123
            yield Page(handle, from_browser)
    finally:
        os.killpg(process, signal.SIGKILL)  # the browser and its children, in a session of their own
        os.waitpid(process, 0)
        os.close(from_browser)
