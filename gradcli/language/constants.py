"""language: why a tensor does not require grad: the leaves it was made of, the line that cut it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from ..engine.tensor import Tensor
from .places import Places

# Functions that make a leaf; it requires grad when requires_grad=True is said.
MAKERS = frozenset(
    "tensor ones zeros full rand randn randint arange linspace logspace eye empty ones_like "
    "zeros_like rand_like randn_like full_like empty_like".split()
)
CUTS = frozenset({"detach", "item", "tolist", "numpy"})
MODES = frozenset({"no_grad", "inference_mode"})
DEEPEST, MOST = 100, 3


class Reason(NamedTuple):
    """A place that explains a missing gradient, and what to do there."""

    node: ast.AST
    text: str
    advice: str | None = None
    is_leaf: bool = False


def reasons(places: Places, value: ast.expr, tensor: Tensor | None) -> list[Reason]:
    """The facts in the text that made an expression's tensor a constant, and no guesses."""
    search = Search(places)
    if isinstance(value, ast.Name) and tensor is not None:
        walk = search.of_name(value.id, tensor, 0)
    else:
        walk = search.of_value(value, None, None, 0)
    return [reason for _, reason in zip(range(MOST), walk, strict=False)]


class Search:
    """One walk back from a tensor through the text; every name is followed once."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.followed: set[str] = set()

    def of_name(self, name: str, tensor: Tensor, depth: int) -> Iterator[Reason]:
        places = self.places
        if name in self.followed or depth > DEEPEST:
            return
        self.followed.add(name)
        if name in places.program.inputs:
            advice = f"run it without --no-grad {name}" if tensor.is_floating_point() else None
            node = places.program.input_nodes[name]
            yield Reason(node, f"the input {name} does not require grad", advice)
            return
        value = places.bound_value(name)
        if value is None:
            return
        block = self.without_grad(value)
        if block is not None:
            yield Reason(
                block, "no graph is made in this block",
                f"move line {places.line(value)} out of this block",
            )  # fmt: skip
            return
        yield from self.of_value(value, name, tensor, depth)

    def without_grad(self, node: ast.expr) -> ast.expr | None:
        """The no_grad block around an expression, if the nearest switch is one."""
        for part in self.places.ancestors(node):
            if isinstance(part, ast.With):
                for item in reversed(part.items):
                    called = self.places.called(item.context_expr)
                    if called is not None and called[0] in MODES and not called[1]:
                        return item.context_expr
                    if called is not None and "grad" in called[0]:
                        return None
            elif isinstance(part, ast.FunctionDef):
                return None
        return None

    def of_value(
        self, value: ast.expr, name: str | None, tensor: Tensor | None, depth: int
    ) -> Iterator[Reason]:
        """What in an expression of the program's text keeps gradients out."""
        places = self.places
        if depth > DEEPEST:
            return
        if isinstance(value, ast.Name):
            held = places.tensor(value)
            if held is not None and not held.requires_grad:
                yield from self.of_name(value.id, held, depth + 1)
            return
        if isinstance(value, ast.Compare):
            if any(places.tensor(part) is not None for part in [value.left, *value.comparators]):
                yield Reason(value, "a comparison has no gradient")
            return
        if isinstance(value, ast.Attribute):
            if value.attr == "data":
                yield Reason(value, ".data is cut off the graph", self._without(value, ".data"))
            return
        called = places.called(value)
        if isinstance(value, ast.Call) and called is not None:
            word = called[0]
            if word in CUTS and called[1] and isinstance(value.func, ast.Attribute):
                text = f".{word}() cuts it off the graph"
                yield Reason(value, text, self._without(value, f".{word}()"))
                return
            if word in MAKERS and self._is_library(value.func):
                yield from self._made(value, name, tensor)
                return
        parts = [value.operand] if isinstance(value, ast.UnaryOp) else places.operands(value)
        for part in parts:
            yield from self.of_value(part, None, None, depth + 1)

    def _is_library(self, function: ast.expr) -> bool:
        """torch.ones or ones, unless the program has a function of that name."""
        if isinstance(function, ast.Attribute):
            return self.places.is_space(function.value)
        return isinstance(function, ast.Name) and function.id not in self.places.program.bindings

    def _without(self, node: ast.expr, word: str) -> str:
        return f"leave out {word} on line {self.places.line(node)}"

    def _made(self, value: ast.Call, name: str | None, tensor: Tensor | None) -> Iterator[Reason]:
        """A leaf made here: what its making would need."""
        given = next((word for word in value.keywords if word.arg == "requires_grad"), None)
        if any(word.arg is None for word in value.keywords):
            return
        if given is not None:
            if isinstance(given.value, ast.Constant) and given.value.value is False:
                yield Reason(value, "made with requires_grad=False")
            return
        line = self.places.line(value)
        if tensor is not None and not tensor.is_floating_point():
            text = f"made as {tensor.dtype.name}; only floating tensors can require grad"
            advice = f"floating numbers on line {line}, and requires_grad=True"
            yield Reason(value, text, advice, is_leaf=True)
            return
        advice = f"requires_grad=True on line {line}"
        code = self.places.text(value)
        if code is not None and name is not None and len(name) + len(code) < 40:
            advice = f"{name} = {with_keyword(code, 'requires_grad=True')} on line {line}"
        yield Reason(value, "made without requires_grad=True", advice, is_leaf=True)


def with_keyword(call: str, keyword: str) -> str:
    """The text of a call with one more keyword argument."""
    inside = call.rstrip()[:-1].rstrip().rstrip(",")
    return f"{inside}{keyword})" if inside.endswith("(") else f"{inside}, {keyword})"
