"""Tests: a headless browser, and what it measures of pictures and pages.

One start of the browser measures many documents: they are put into frames of one page, whose script
writes what it found into the document, which the browser prints.
"""

from __future__ import annotations

import html
import json
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--virtual-time-budget=60000",
)  # fmt: skip
MEASURE = (Path(__file__).parent / "measure.js").read_text("utf-8")


def chromium() -> str:
    """The browser; where there is none the test is skipped, and says so."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found is not None:
            return found
    warnings.warn("no Chromium here: pictures were not measured", stacklevel=1)
    pytest.skip("no Chromium here: apt-get install chromium")


def printed(page: str, folder: Path, *flags: str) -> str:
    """The document that a page became after its scripts ran."""
    path = folder / "page.html"
    path.write_text(page, "utf-8")
    command = [chromium(), *FLAGS, *flags, f"--user-data-dir={folder / 'profile'}", "--dump-dom",
               path.as_uri()]  # fmt: skip
    done = subprocess.run(command, capture_output=True, timeout=300, check=True)
    return done.stdout.decode("utf-8", "replace")


def measured(pictures: dict[str, str], folder: Path, *flags: str) -> dict[str, list[str]]:
    """For each SVG what is wrong with it, in words."""
    parts = "".join(
        f'<section data-name="{html.escape(name)}">{text.partition("?>")[2]}</section>'
        for name, text in pictures.items()
    )
    page = f"<!doctype html><meta charset=utf-8><body>{parts}<script>{MEASURE}</script>"
    text = printed(page, folder, *flags)
    found = text.partition('<pre id="found">')[2].partition("</pre>")[0]
    answer: dict[str, Any] = json.loads(html.unescape(found))
    return answer
