"""Tests: a headless Chromium, driven through its own protocol over a pipe; no library is needed."""

from __future__ import annotations

import contextlib
import html
import json
import os
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
MEASURE = (Path(__file__).parent / "measure.js").read_text("utf-8")
KEYS = {"Home": 36, "End": 35, "ArrowRight": 39, "ArrowLeft": 37, "ArrowUp": 38, "ArrowDown": 40,
        "Tab": 9, "Enter": 13, "Escape": 27}  # fmt: skip


def chromium() -> str:
    """The browser; where there is none the test is skipped, and says so."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found is not None:
            return found
    warnings.warn("no Chromium here: pictures were not measured", stacklevel=1)
    pytest.skip("no Chromium here: apt-get install chromium")


class Browser:
    """One tab."""

    def __init__(self, into: int, out: int) -> None:
        self.into, self.out = into, out
        self.number = 0
        self.rest = b""
        self.session: str | None = None
        self.messages: list[str] = []  # what the page complained of
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """Sends a command and waits for its answer."""
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.into, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]

    def wait_for(self, event: str) -> None:
        while self._next().get("method") != event:
            pass

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            piece = os.read(self.out, 1 << 20)
            assert piece, "the browser has ended"
            self.rest += piece
        first, _, self.rest = self.rest.partition(b"\0")
        answer: dict[str, Any] = json.loads(first)
        if answer.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown"):
            self.messages.append(json.dumps(answer["params"]))
        return answer

    def open(self, path: Path, width: int = 1300, height: int = 900) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)  # fmt: skip
        self.call("Page.navigate", url=path.as_uri())
        self.wait_for("Page.loadEventFired")

    def ask(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        text = {"Enter": "\r"}.get(key, "")
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=KEYS[key], text=text)  # fmt: skip

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def point(self, selector: str, *, click: bool = False) -> None:
        """Moves the pointer to the middle of an element, and clicks."""
        self.ask(
            f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block:'center'}})"
        )
        at = self.ask(
            "(() => { const b = document.querySelector(" + json.dumps(selector)
            + ").getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )  # fmt: skip
        kinds = ("mouseMoved", "mousePressed", "mouseReleased") if click else ("mouseMoved",)
        for kind in kinds:
            self.call("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], clickCount=1,
                      button="none" if kind == "mouseMoved" else "left")  # fmt: skip

    def scheme(self, value: str) -> None:
        """What the reader's system prefers: light or dark."""
        features = [{"name": "prefers-color-scheme", "value": value}]
        self.call("Emulation.setEmulatedMedia", features=features)


@contextlib.contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """A browser while it is needed."""
    name = chromium()
    theirs_in, ours_in = os.pipe()
    ours_out, theirs_out = os.pipe()

    def arranged() -> None:
        os.dup2(theirs_in, 103)
        os.dup2(theirs_out, 104)
        os.dup2(103, 3)
        os.dup2(104, 4)

    command = [name, *FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"]
    process = subprocess.Popen(
        command, preexec_fn=arranged, close_fds=False, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        yield Browser(ours_in, ours_out)
    finally:
        process.terminate()
        process.wait(30)
        os.close(ours_in)
        os.close(ours_out)


def measured(pictures: dict[str, str], folder: Path) -> dict[str, list[str]]:
    """For each SVG what is wrong with it, in words."""
    parts = "".join(
        f'<section data-name="{html.escape(name)}">{text.partition("?>")[2]}</section>'
        for name, text in pictures.items()
    )
    path = folder / "pictures.html"
    path.write_text(f"<!doctype html><meta charset=utf-8><body>{parts}", "utf-8")
    with browser(folder) as tab:
        tab.open(path)
        found: dict[str, list[str]] = tab.ask(f"{MEASURE}\nfound")
    return found
