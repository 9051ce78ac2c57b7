"""language: which layer of a network refused what it was given, and where it was made."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from ...engine.tensor import Tensor
from ...nn.module import Module
from ...recording.modules import named_modules
from ..classes import ProgramModule
from ..explained import ROOM, Explanation

CALL = Module.__call__.__code__
LONGEST = 80  # characters of a layer's text


def layers(trace: TracebackType | None) -> tuple[list[Module], tuple[Any, ...]]:
    """The modules that were being called, the innermost last, and what that one was given."""
    found: list[Module] = []
    given: tuple[Any, ...] = ()
    while trace is not None:
        if trace.tb_frame.f_code is CALL:
            found.append(trace.tb_frame.f_locals["self"])
            given = trace.tb_frame.f_locals["args"]
        elif trace.tb_frame.f_code.co_filename.startswith(ROOM) and found:
            node = trace.tb_frame.f_locals.get("node")
            if node is not None and hasattr(node, "lineno"):
                found.clear()  # back in the program: a method of its own class went on
        trace = trace.tb_next
    return found, given


def refused(out: Explanation, called: Sequence[Module], given: tuple[Any, ...]) -> None:
    """Which layer refused what it was given."""
    inner = called[-1]
    tensors = [value for value in given if isinstance(value, Tensor)]
    parts = [module for _, module in named_modules(inner)]
    if any(isinstance(part, ProgramModule) for part in parts) or not tensors:
        return  # the program says itself how they are printed
    text = repr(inner)
    name = _module_name(out, inner)
    words = f"{name}, {text}," if name and len(called) > 1 else text
    if "\n" not in text and len(text) <= LONGEST:
        shapes = " and ".join(str(list(tensor.shape)) for tensor in tensors)
        out.primary = f"{words} is given the shape {shapes}"
        made = _made(out, name or "", inner)
        if made is not None:
            out.put(made, f"{name} is made here")


def _made(out: Explanation, name: str, module: Module) -> ast.expr | None:
    """The call that made a layer: an item of a Sequential, or what one name was given."""
    places, kind = out.places, module._get_name()
    item = re.fullmatch(r"(\w+)\[(\d+)\]", name)
    if item is not None:
        value = places.bound_value(item[1])
        parts = value.args if isinstance(value, ast.Call) and not value.keywords else []
        found = parts[int(item[2]) : int(item[2]) + 1]
        if any(isinstance(part, ast.Starred) for part in parts):
            return None
    else:
        word = name.rpartition(".")[2]
        found = [
            node.value
            for node in places.parents.values()
            if isinstance(node, ast.Assign)
            and any(getattr(t, "attr", getattr(t, "id", "")) == word for t in node.targets)
        ]
        found = list({id(value): value for value in found}.values())
    calls = [(value, places.called(value)) for value in found]
    made = [value for value, called in calls if called is not None and called[0] == kind]
    return made[0] if len(made) == 1 == len(found) else None


def _module_name(out: Explanation, wanted: Module) -> str | None:
    """net[2] or self.fc: how the program reaches a module."""
    for table in (out.places.local, out.places.values):
        for name, value in table.items():
            if isinstance(value, Module):
                for inner, module in named_modules(value):
                    if module is wanted:
                        parts = (f"[{p}]" if p.isdecimal() else f".{p}" for p in inner.split("."))
                        return name + ("".join(parts) if inner else "")
    return None
