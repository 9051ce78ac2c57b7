"""language: finds things in the tree of a program: the statement, block or name at a place."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import Any

from ..diagnostics import Span
from ..engine.tensors.tensor import Tensor
from ..nn.module import Module
from ..recording.modules import named_parameters
from . import names
from .program import Program

LARGEST = 1_000_000  # characters of source up to which a failed program's tree is walked for advice
MOST_VALUES, DEEPEST = 10_000, 4  # values in containers that are looked through for a tensor
SHORT = 32  # characters of an operand that is shown by its text
Bindings = Mapping[str, ast.AST]
_REPEATED = (
    ast.For, ast.While, ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.ListComp, ast.SetComp,
    ast.DictComp, ast.GeneratorExp,
)  # fmt: skip


class Enclosing(ABC):
    """What contains a node of a program's tree."""

    @property
    @abstractmethod
    def parents(self) -> dict[int, ast.AST]:
        """The node that contains a node, by the latter's id."""

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The node, what contains it, and so on up to its top-level statement."""
        current: ast.AST | None = node
        while current is not None:
            yield current
            current = self.parents.get(id(current))

    def statement(self, node: object) -> ast.stmt | None:
        """The statement that a node is in."""
        if not isinstance(node, ast.AST):
            return None
        return next((part for part in self.ancestors(node) if isinstance(part, ast.stmt)), None)


class Places(Enclosing):
    """What stands where in a program that failed, and what its names hold at that moment."""

    def __init__(self, program: Program, values: Mapping[str, Any], bound_by: Bindings) -> None:
        self.program, self.source = program, program.source
        self.values, self.bound_by = values, bound_by
        self.local: Mapping[str, Any] = {}  # the names of the function that failed
        self.is_walked = len(program.source.text) <= LARGEST

    @property
    def parents(self) -> dict[int, ast.AST]:
        return self._index[0]

    @property
    def bindings(self) -> dict[str, list[ast.Name]]:
        """The places of the text that bind a name."""
        return self._index[1]

    @cached_property
    def _index(self) -> tuple[dict[int, ast.AST], dict[str, list[ast.Name]], set[str]]:
        """One walk over the tree, when an explanation asks for it."""
        parents: dict[int, ast.AST] = {}
        bindings: dict[str, list[ast.Name]] = {}
        changed: set[str] = set()
        pending: list[ast.AST] = list(self.program.body) if self.is_walked else []
        for node in pending:
            if isinstance(node, ast.Name) and type(node.ctx) is not ast.Load:
                bindings.setdefault(node.id, []).append(node)
            for child in ast.iter_child_nodes(node):
                parents[id(child)] = node
                pending.append(child)
            if isinstance(node, ast.Attribute) or (
                isinstance(node, ast.Subscript) and type(node.ctx) is not ast.Load
            ):
                if isinstance(node.value, ast.Name):
                    changed.add(node.value.id)
        return parents, bindings, changed

    # ------------------------------------------------------------ names

    def value_of(self, node: ast.AST | None) -> Any:
        """The value of a name when the program failed; None for anything else."""
        if not isinstance(node, ast.Name):
            return None
        return (self.local if node.id in self.local else self.values).get(node.id)

    def is_bound(self, node: ast.Name) -> bool:
        """Whether it is a name of the program."""
        return node.id in self.local or node.id in self.values

    # ------------------------------------------------------------ places

    def span(self, origin: object) -> Span | None:
        """The place of an origin; None for what is not in this program's text."""
        if not hasattr(origin, "lineno") or hasattr(origin, "of_option"):
            return None
        return self.source.span_of(origin)

    def place(self, origin: object) -> Span | None:
        """The same for people: a method on a line of its own begins there."""
        return None if self.span(origin) is None else self.source.place_of(origin)

    def line(self, origin: object) -> int | None:
        span = self.place(origin)
        return None if span is None else span.line

    def text(self, node: object, most: int = SHORT) -> str | None:
        """The text of a piece of one line that is no longer than so many characters."""
        span = self.span(node)
        if span is None or span.line != span.end_line:
            return None
        text = self.source.text_of(span)
        return text if len(text) <= most else None

    def runs_once(self, node: object) -> bool:
        """Whether a place is run at most once: in no loop, function or comprehension."""
        if not isinstance(node, ast.AST) or not self.is_walked:
            return False
        return not any(isinstance(part, _REPEATED) for part in self.ancestors(node))

    def loop_around(self, node: ast.AST) -> ast.For | ast.While | None:
        """The innermost loop around a place, within its function."""
        around = (part for part in self.ancestors(node) if isinstance(part, _REPEATED))
        inner = next(around, None)
        return inner if isinstance(inner, (ast.For, ast.While)) else None

    def share_a_loop(self, one: object, other: ast.AST) -> bool:
        """Whether the innermost loop around a place has the other place in it too."""
        if not isinstance(one, ast.AST):
            return False
        inner = self.loop_around(other)
        return inner is not None and inner in self.ancestors(one)

    # ------------------------------------------------------------ names

    def name_of(self, tensor: Any) -> str | None:
        """The name that holds this very tensor: a local or global one, or `weights[1]`."""
        for table in (self.local, self.values):
            for name, value in table.items():
                if value is tensor:
                    return name
        return self._inner_names.get(id(tensor))

    @cached_property
    def _inner_names(self) -> dict[int, str]:
        """What lists, dicts and modules of global names hold, by identity."""
        found: dict[int, str] = {}
        pending: list[tuple[str, Any, int]] = [(n, v, 0) for n, v in self.values.items()]
        for name, value, depth in pending:
            parts: Iterator[tuple[str, Any]] = iter(())
            if isinstance(value, Tensor):
                found.setdefault(id(value), name)
            elif len(pending) > MOST_VALUES or depth == DEEPEST:
                continue
            elif isinstance(value, (list, tuple)):
                parts = ((f"{name}[{place}]", item) for place, item in enumerate(value))
            elif isinstance(value, dict):
                parts = ((f"{name}[{key!r}]", item) for key, item in value.items())
            elif isinstance(value, Module):
                parts = ((f"{name}.{inner}", held) for inner, held in named_parameters(value))
            pending.extend((inner, item, depth + 1) for inner, item in islice(parts, MOST_VALUES))
        return found

    def bound_value(self, name: str) -> ast.expr | None:
        """The expression that gave a name its value, where one statement did that alone.

        For `weights[1]` it is the item of the list that was written down.
        """
        name, bracket, rest = name.partition("[")
        if bracket:
            value, place = self.bound_value(name), rest[:-1]
            if not isinstance(value, (ast.List, ast.Tuple)) or not place.isdecimal():
                return value
            if name in self._index[2] or any(isinstance(i, ast.Starred) for i in value.elts):
                return None
            return value.elts[int(place)] if int(place) < len(value.elts) else None
        return self.value_at(self.bound_by.get(name), name)

    def value_at(self, node: object, name: str) -> ast.expr | None:
        """The same for one of the places that bind a name."""
        statement = self.statement(node)
        if isinstance(statement, ast.AnnAssign):
            return statement.value
        if not isinstance(statement, ast.Assign):
            return None
        value = statement.value
        for target in statement.targets:
            if isinstance(target, ast.Name) and target.id == name:
                return value
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                for part, item in zip(target.elts, value.elts, strict=False):
                    if isinstance(part, ast.Starred) or isinstance(item, ast.Starred):
                        break
                    if isinstance(part, ast.Name) and part.id == name:
                        return item
        return None

    def value_before(self, node: ast.Name) -> ast.expr | None:
        """The expression that a name stands for at a place, where all run once, in their order."""
        places = self.bindings.get(node.id, [])
        if node.id in self.program.inputs or not all(map(self.runs_once, (node, *places))):
            return None
        if any(isinstance(part, (ast.If, ast.Try)) for p in places for part in self.ancestors(p)):
            return None
        before = [place for place in places if place.lineno < node.lineno]
        return self.value_at(max(before, key=_position), node.id) if before else None

    def tensor(self, node: object) -> Tensor | None:
        """The tensor that a global name holds and always held; the name is in no function."""
        if not isinstance(node, ast.Name) or not self.runs_once(node):
            return None
        if node.id not in self.program.inputs:
            if len(self.bindings.get(node.id, ())) != 1 or not self.runs_once(
                self.bound_by.get(node.id)
            ):
                return None
        value = self.values.get(node.id)
        return value if isinstance(value, Tensor) else None

    def is_space(self, node: ast.expr) -> bool:
        """Whether a dotted name such as torch.nn.functional is a namespace, by its first word."""
        while isinstance(node, ast.Attribute):
            node = node.value
        if not isinstance(node, ast.Name):
            return False
        name = node.id
        return name in self.program.aliases or (
            name in names.ROOTS and name not in self.bindings and name not in self.program.inputs
        )

    def called(self, node: object) -> tuple[str, list[ast.expr]] | None:
        """(name, operands with the owner of a method first) of a call without star-arguments."""
        if not isinstance(node, ast.Call):
            return None
        if any(isinstance(item, ast.Starred) for item in node.args):
            return None
        function = node.func
        if isinstance(function, ast.Attribute):
            owner = [] if self.is_space(function.value) else [function.value]
            return function.attr, [*owner, *node.args]
        if isinstance(function, ast.Name):
            return function.id, list(node.args)
        return None

    def operands(self, node: object) -> list[ast.expr]:
        """The operands of an operation in its text, in their order."""
        if isinstance(node, ast.BinOp):
            return [node.left, node.right]
        if isinstance(node, ast.AugAssign):
            return [node.target, node.value]
        if isinstance(node, ast.Subscript):
            return [node.value]
        called = self.called(node)
        return [] if called is None else called[1]


def _position(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


# ---------------------------------------------------------------- what a node saved, by its text

_OPERATORS: dict[type, tuple[str, ...]] = {
    ast.Mult: ("mul",), ast.Div: ("div",), ast.Pow: ("pow",), ast.MatMult: ("mm", "mv", "dot"),
    ast.Mod: ("remainder",),
}  # fmt: skip


def saved_text(places: Places, node: Any, key: str) -> str | None:
    """What a saved value is called in the program's text, where that is certain."""
    row = getattr(node, "row", None)
    if row is None:
        return None
    if key in row.signature.outputs:
        return "its result"
    operand = _operands_by_name(places, node).get(key)
    return None if operand is None else places.text(operand)


def input_text(places: Places, node: Any, place: int) -> str | None:
    """What the input of a node at the end of its edge with this number is called in the text."""
    row = getattr(node, "row", None)
    if row is None or any(p.kind == "Tensor[]" for p in row.tensors):
        return None
    ordered = [p.name for p in row.tensors if p.name in row.differentiable]
    operand = _operands_by_name(places, node).get(ordered[place]) if place < len(ordered) else None
    return None if operand is None else places.text(operand)


def _operands_by_name(places: Places, node: Any) -> dict[str, ast.expr]:
    origin, row = node.origin, node.row
    if isinstance(origin, (ast.BinOp, ast.AugAssign)):
        if row.name not in _OPERATORS.get(type(origin.op), ()):
            return {}
        left, right = places.operands(origin)
        swapped = isinstance(origin, ast.BinOp) and _swapped(places, node, left, right)
        if swapped is None:
            return {}
        first, second = row.signature.names[:2]
        return {first: right, second: left} if swapped else {first: left, second: right}
    called = places.called(origin)
    if called is None or called[0].rstrip("_") not in (row.name, *getattr(row, "aliases", ())):
        return {}
    found = dict(zip(row.signature.names, called[1], strict=False))
    found.update({word.arg: word.value for word in origin.keywords if word.arg})
    return found


def _swapped(places: Places, node: Any, left: ast.expr, right: ast.expr) -> bool | None:
    """Whether `2 * x` became mul(x, 2); None where the text does not show it."""
    if len(node.edges) < 2 or all(edge is not None for edge in node.edges[:2]):
        return False  # a number on the left makes pow and div into rows of one edge
    if isinstance(right, ast.Constant):
        return False
    if isinstance(left, ast.Constant):
        return True
    for edge in node.edges[:2]:
        variable = getattr(edge, "variable", None)
        for operand, answer in ((left, edge is node.edges[1]), (right, edge is node.edges[0])):
            tensor = places.tensor(operand)
            if edge is None:
                continue
            if edge.origin is operand and variable is None:
                return answer
            if tensor is not None and (tensor is variable or tensor._grad_fn is edge):
                return answer
    return None
