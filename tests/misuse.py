"""Tests: calls that fit nothing, made by program out of the catalogue's own samples.

For each name that programs call: nothing given, a string, an unknown keyword, nine more arguments,
an argument less. What a library answers is the class of the error and its first line.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from typing import Any

from examine import refuse
from oracle import question

from gradcli.operators import catalogue


def names() -> list[str]:
    """torch.sin, x.sin, ...: what a call starts with."""
    functions = [f"torch.{name}" for name in catalogue.functions if not name.startswith("_")]
    return sorted([*functions, *(f"x.{name}" for name in catalogue.methods)])


def calls() -> dict[str, str]:
    """A call that is in order for each name that a sample is about."""
    found: dict[str, str] = {}
    for row in catalogue.rows.values():
        for text in row.samples:
            call = ast.parse(text, mode="eval").body
            name = _name(call) if isinstance(call, ast.Call) else None
            if name is not None:
                found.setdefault(name, text)
    return found


def _name(call: ast.Call) -> str | None:
    parts: list[str] = []
    function = call.func
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    if isinstance(function, ast.Name) and function.id in ("torch", "F"):
        room = "nn.functional." if function.id == "F" else ""
        return f"torch.{room}{'.'.join(reversed(parts))}"
    return f"x.{parts[0]}" if parts else None


def misused(name: str, sample: str | None) -> Iterator[str]:
    """Calls of a name that are out of order."""
    yield f"{name}()"
    yield f"{name}('a')"
    if sample is None:
        return
    changes: tuple[Callable[[ast.Call], Any], ...] = (
        lambda call: call.keywords.append(ast.keyword("foo", ast.Constant(1))),
        lambda call: call.args.extend(ast.Constant(1) for _ in range(9)),
        lambda call: call.args and call.args.pop(),
    )
    for change in changes:
        call: Any = copy.deepcopy(ast.parse(sample, mode="eval").body)
        change(call)
        yield ast.unparse(call)


@question
def misuse(lib: Any, texts: list[str]) -> list[str]:
    """What each call raises."""
    return [refuse(lib, text) for text in texts]
