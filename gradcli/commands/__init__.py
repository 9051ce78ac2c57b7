"""commands: one file for each: what it takes (COMMAND), and what it does, down to its exit code."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

# In the order in which help lists them.
NAMES = (
    "run", "trace", "show", "grad", "paths", "why", "step", "flow", "check", "diff", "ops",
    "examples", "schema", "man",
)  # fmt: skip
EXIT_CODES = {
    0: "success", 1: "a check failed", 2: "wrong usage", 3: "the program has an error",
    4: "a limit was reached", 5: "a device or an extra is missing", 70: "a bug in gradcli",
    130: "interrupted",
}  # fmt: skip


def module_of(name: str) -> ModuleType:
    """The file of a command; no other is loaded."""
    return import_module(f"{__name__}.{name}")
