"""commands: one file for each: what it takes (COMMAND), and what it does, down to its exit code."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

# In the order in which help lists them.
NAMES = (
    "run", "trace", "show", "grad", "paths", "why", "step", "flow", "check", "diff", "ops",
    "examples", "schema",
)  # fmt: skip


def module_of(name: str) -> ModuleType:
    """The file of a command; no other is loaded."""
    return import_module(f"{__name__}.{name}")
