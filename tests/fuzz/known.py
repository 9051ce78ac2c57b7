"""The fuzzer's table of differences that stay, each with its reason."""

from __future__ import annotations

import re
from typing import NamedTuple

from .compare import Difference


class Known(NamedTuple):
    """A difference that is explained: its aspect, what its text looks like, and why it is so."""

    aspect: str
    pattern: str
    reason: str
    program: str = ""  # what the program has in it


KNOWN: tuple[Known, ...] = (
    Known(
        "grad version", "",
        "PyTorch counts the writes of its kernels into a new gradient, and its copies by who else "
        "holds the memory; here a new gradient of an ordinary pass starts at 0",
    ),
    Known(
        "output|error", r"Backward\d' object is not callable",
        "a node can't be called: nothing runs one node outside of a pass here",
    ),
    Known("version", r"version of g\d", "the same, of what torch.autograd.grad returns"),
)


def reason_of(difference: Difference, text: str) -> str | None:
    """Why a difference is as it should be; None where it is a finding."""
    told = str(difference)
    for known in KNOWN:
        if (
            re.fullmatch(known.aspect, difference.aspect)
            and re.search(known.pattern, told, re.S)
            and re.search(known.program, text)
        ):
            return known.reason
    return None
