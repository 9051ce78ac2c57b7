"""language: what the forward of a Function computes for its backward, outside of every graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from .places import Places

SIZES = frozenset("shape size len dim numel ndim dtype device item int float".split())


class Intermediate(NamedTuple):
    """`ctx.half = x / 2`: gradients of second order miss the way through it."""

    owner: str
    text: str
    node: ast.AST

    @property
    def reason(self) -> str:
        return f"{self.owner}.forward computes {self.text} outside of every graph"

    @property
    def advice(self) -> str:
        return f"save the inputs instead, and compute {self.text} again in {self.owner}.backward"


def intermediates(places: Places, owner: str | None = None) -> Iterator[Intermediate]:
    """Those of the Functions of a program, or of the one of that name, which backward reads."""
    for part in ast.walk(places.program.tree):
        if isinstance(part, ast.ClassDef) and owner in (None, part.name):
            methods = {one.name: one for one in part.body if isinstance(one, ast.FunctionDef)}
            forward, backward = methods.get("forward"), methods.get("backward")
            if forward is not None and backward is not None and forward.args.args:
                yield from _stored_on_context(part.name, forward, backward)


def _stored_on_context(
    owner: str, forward: ast.FunctionDef, backward: ast.FunctionDef
) -> Iterator[Intermediate]:
    context, *inputs = [argument.arg for argument in forward.args.args]
    ends = [part.value for part in ast.walk(forward) if isinstance(part, ast.Return)]
    returned = {
        getattr(value, "id", None)
        for end in ends for value in (end.elts if isinstance(end, ast.Tuple) else [end])
    }  # fmt: skip
    computed = {
        target.id: part.value
        for part in ast.walk(forward) if isinstance(part, ast.Assign)
        for target in part.targets if isinstance(target, ast.Name)
    }  # fmt: skip
    read = {part.attr for part in ast.walk(backward) if isinstance(part, ast.Attribute)}
    for part in ast.walk(forward):
        if not isinstance(part, ast.Assign):
            continue
        for target in part.targets:
            if not isinstance(target, ast.Attribute) or target.attr not in read:
                continue
            if ast.unparse(target.value) != context:
                continue
            value = part.value
            if isinstance(value, ast.Name):
                value = computed.get(value.id, value) if value.id not in returned else value
            if not isinstance(value, ast.Name) and _is_of(value, {*inputs, *computed}):
                yield Intermediate(owner, ast.unparse(target), part)


def _is_of(value: ast.expr, names: set[str]) -> bool:
    """Whether it is computed from the numbers of these, and not from sizes alone."""
    words = {getattr(part, "attr", getattr(part, "id", "")) for part in ast.walk(value)}
    return not words.isdisjoint(names) and words.isdisjoint(SIZES)
