"""language: why a tensor does not require grad: the leaves it was made of, the line that cut it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..engine.tensor import Tensor
from .places import Places

# Functions that make a leaf; it requires grad when requires_grad=True is said.
MAKERS = frozenset(
    "tensor ones zeros full rand randn randint arange linspace logspace eye empty ones_like "
    "zeros_like rand_like randn_like full_like empty_like".split()
)
CUTS = frozenset({"detach", "item", "tolist", "numpy"})
MODES = frozenset({"no_grad", "inference_mode"})
DEEPEST, MOST = 20, 3


class Reason(NamedTuple):
    """A place that explains a missing gradient, and what to do there."""

    node: ast.AST
    text: str
    advice: str | None = None


def reasons(places: Places, tensor: Any, name: str | None) -> list[Reason]:
    """The facts in the text that made this tensor a constant; none where that would be a guess."""
    if name is None:
        return []
    found: dict[int, Reason] = {}
    for reason in _of_name(places, name, tensor, 0):
        found.setdefault(id(reason.node), reason)
        if len(found) == MOST:
            break
    return list(found.values())


def _of_name(places: Places, name: str, tensor: Any, depth: int) -> Iterator[Reason]:
    if name in places.program.inputs:
        advice = f"run it without --no-grad {name}" if tensor.is_floating_point() else None
        node = places.program.input_nodes[name]
        yield Reason(node, f"the input {name} does not require grad", advice)
        return
    value = places.bound_value(name)
    if value is None or depth > DEEPEST:
        return
    block = _without_grad(places, value)
    if block is not None:
        line = places.line(value)
        advice = None if line is None else f"move line {line} out of this block"
        yield Reason(block, "no graph is made in this block", advice)
        return
    yield from reasons_of_value(places, value, name, tensor, depth)


def _without_grad(places: Places, node: ast.expr) -> ast.expr | None:
    """The no_grad block around an expression, if the nearest switch is one."""
    for part in places.ancestors(node):
        if isinstance(part, ast.With):
            for item in reversed(part.items):
                called = places.called(item.context_expr)
                if called is not None and called[0] in MODES and not called[1]:
                    return item.context_expr
                if called is not None and "grad" in called[0]:
                    return None
        elif isinstance(part, ast.FunctionDef):
            return None
    return None


def reasons_of_value(
    places: Places, value: ast.expr, name: str | None, tensor: Tensor | None, depth: int
) -> Iterator[Reason]:
    """What in an expression of the program's text keeps gradients out."""
    if depth > DEEPEST:
        return
    if isinstance(value, ast.Name):
        held = places.tensor(value)
        if held is not None and not held.requires_grad:
            yield from _of_name(places, value.id, held, depth + 1)
        return
    if isinstance(value, ast.Compare):
        if any(places.tensor(part) is not None for part in [value.left, *value.comparators]):
            yield Reason(value, "a comparison has no gradient")
        return
    if isinstance(value, ast.Attribute) and value.attr == "data":
        yield Reason(value, ".data is cut off the graph", _without(places, value, ".data"))
        return
    called = places.called(value)
    if called is None:
        parts: list[ast.expr] = places.operands(value)
        if isinstance(value, ast.UnaryOp):
            parts = [value.operand]
        elif isinstance(value, ast.Subscript):
            parts = [value.value]
    else:
        word, parts = called
        if word in CUTS and parts and isinstance(value.func, ast.Attribute):  # type: ignore[attr-defined]
            text = f".{word}() cuts it off the graph"
            yield Reason(value, text, _without(places, value, f".{word}()"))
            return
        if word in MAKERS:
            yield from _made(places, value, name, tensor)
            return
    for part in parts:
        yield from reasons_of_value(places, part, None, None, depth + 1)


def _without(places: Places, node: ast.expr, word: str) -> str | None:
    return f"leave out {word} on line {places.line(node)}"


def _made(
    places: Places, value: ast.expr, name: str | None, tensor: Tensor | None
) -> Iterator[Reason]:
    """A leaf made here: what its making would need."""
    assert isinstance(value, ast.Call)
    given = next((word for word in value.keywords if word.arg == "requires_grad"), None)
    if any(word.arg is None for word in value.keywords):
        return
    if given is not None:
        if isinstance(given.value, ast.Constant) and given.value.value is False:
            yield Reason(value, "made with requires_grad=False", None)
        return
    if tensor is not None and not tensor.is_floating_point():
        kind = tensor.dtype.name
        yield Reason(value, f"made as {kind}; only floating tensors can require grad")
        return
    text = places.text(value, most=40)
    advice = None
    if text is not None and name is not None:
        advice = f"{name} = {with_keyword(text, 'requires_grad=True')} on line {places.line(value)}"
    yield Reason(value, "made without requires_grad=True", advice)


def with_keyword(call: str, keyword: str) -> str:
    """The text of a call with one more keyword argument."""
    inside = call.rstrip()[:-1].rstrip().rstrip(",")
    return f"{inside}{keyword})" if inside.endswith("(") else f"{inside}, {keyword})"
