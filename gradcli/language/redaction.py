"""language: removes our class names and host addresses from text that host code has written.

A module prints the arguments that it was given, and an error names the class of what does not fit:
with a value of the program among them, Python would say which class of ours it is, and where it
lies in memory. PyTorch's name stands there instead, and no address: the same bytes on every run.
"""

from __future__ import annotations

import sys

from ..pattern import pattern

_OURS = pattern(r"(<(?:class ')?)(gradcli\.[\w.]+)")
_ADDRESS = pattern(r" at 0x0*[1-9a-f][0-9a-f]{6,}\b")  # numbers of the session are smaller
NOWHERE = " at 0x000000000000"


def published(said: str) -> str:
    """The same text as it may be shown."""
    if "gradcli." in said:
        said = _OURS.sub(lambda found: found[1] + _name_of(found[2]), said)
    return _ADDRESS.sub(NOWHERE, said) if " at 0x" in said else said


def _name_of(path: str) -> str:
    """PyTorch's name of the class with this path; without one the part behind its module."""
    from .builtins.types import host_type

    home, rest = path, ""
    while home and home not in sys.modules:
        home, _, last = home.rpartition(".")
        rest = f"{last}.{rest}" if rest else last
    kind = sys.modules[home].__dict__.get(rest) if home else None
    return repr(host_type(kind))[8:-2] if isinstance(kind, type) else rest
