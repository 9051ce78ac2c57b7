"""Tests: the parts of a message: place and lines of the program, the error, advice."""

from __future__ import annotations

import re

_ERROR = re.compile(r"[A-Z][\w.]*(: |:?$)")
_ADVICE = ("help: ", "note: ", "      tried:")


def parts(page: str) -> tuple[str, str]:
    """A message without its error, and the error in one line, as it was before it was wrapped."""
    lines = page.splitlines()
    start = next((i for i, line in enumerate(lines) if _ERROR.match(line)), len(lines))
    end = start + 1
    while end < len(lines) and not lines[end].startswith(_ADVICE):
        end += 1
    error = " ".join(line.strip() for line in lines[start:end])
    return "".join(f"{line}\n" for line in (*lines[:start], *lines[end:])), error


def error_of(page: str) -> str:
    """The error of a message, in one line."""
    return parts(page)[1]
