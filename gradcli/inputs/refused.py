"""Inputs: the error of a value that can't be taken, and how it quotes what was given."""

from __future__ import annotations


class InputError(Exception):
    """A value that can't be taken; `advice` says what to write instead."""

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message)
        self.advice = advice


def shortened(text: str, most: int = 60) -> str:
    """A value as part of a message, which is one line."""
    text = text if len(text) <= most else text[: most - 1] + "…"
    return text if text.isprintable() else "".join(map(_visible, text))


def _visible(letter: str) -> str:
    return letter if letter.isprintable() else repr(letter)[1:-1]
