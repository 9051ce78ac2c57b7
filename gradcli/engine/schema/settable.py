"""Engine: which attributes of a library class a program may set, and to which values."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum


class Takes(Enum):
    """One of these is in a class's TAKES for a name of its PUBLIC; "*" is for all others.

    A name without any is read only. What is put there is read by the library's own code, which
    computes with it, calls it or passes it on, and never looks up a name by it.
    """

    PLAIN = "numbers, words, tensors, and lists of them"
    CALLABLE = "something that can be called"
    VALUE = "anything"


def takes(kind: type, name: str) -> Takes | None:
    """What a class lets a program put under a published name."""
    for word in (name, "*"):
        for base in kind.__mro__:
            table: Mapping[str, Takes] = base.__dict__.get("TAKES", {})
            if word in table:
                return table[word]
    return None
