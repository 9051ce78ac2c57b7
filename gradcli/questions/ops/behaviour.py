"""Questions: how operators behave, measured on their samples: types, memory, orders, parts."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ...autograd import grad
from ...engine.graph.node import Node
from ...engine.schema.mode import state
from ...engine.schema.operator import Row
from ...engine.tensors.tensor import Tensor
from ...engine.tensors.tensor_type import strided
from ...namespace import resolve
from ...pipeline.request import Ran, Request
from ...pipeline.run import execute
from ...recording.facts.operators import ConductFact
from .formulas import Application
from .sample_operands import FLOATING, statement
from .samples import Apart

MOST = 12  # parts of a composed operator that are listed
TYPES = ("float64", "int64", "bool")


class Call(NamedTuple):
    """One sample that ran: the operands and the result by name, and what entered the graph."""

    values: dict[str, Any]
    nodes: list[tuple[str, str]]  # (operator, node) of the call alone
    made: Application | None  # the first node that the row made

    @property
    def results(self) -> list[Tensor]:
        return list(_tensors(self.values["result"]))


class Nodes:
    """The engine reports every node: kept are the first that a row made, and all of one line."""

    def __init__(self, row: Any, line: int) -> None:
        self.row, self.line = row, line
        self.made: Application | None = None
        self.nodes: list[tuple[str, str]] = []

    def operation(self, node: Node, outs: Any, arguments: Any, before: Any) -> None:
        row = getattr(node, "row", None)
        if self.made is None and row is self.row:
            self.made = Application(node, tuple(outs), tuple(arguments))
        if getattr(node.origin, "lineno", None) == self.line:
            name = row.name.lstrip("_") if row is not None else ""
            self.nodes.append((name, node.name().split("::")[-1]))


def called(row: Any, apart: Apart) -> Call | None:
    """Runs the lines of a sample; None where it fails."""
    nodes = Nodes(row, len(apart.lines))
    before, state.recorder = state.recorder, nodes
    try:
        ran = executed(apart.lines)
    finally:
        state.recorder = before
    if ran is None:
        return None
    return Call(ran, nodes.nodes, nodes.made)


def executed(lines: Iterable[str]) -> dict[str, Any] | None:
    """The global names of a short program after it ran; None where it fails."""
    ran: Ran = execute(Request("\n".join(lines).encode(), "<example>", retain_graph=True), None)
    if ran.error is not None or ran.outcome is None or ran.outcome.machine is None:
        return None
    return dict(ran.outcome.machine.globals.values)


def conduct(row: Any, aparts: Sequence[Apart], calls: Sequence[Call]) -> ConductFact:
    """The facts of a row, of its samples and of what they gave."""
    memory = dict.fromkeys(word for call in calls for word in memory_of(call))
    parts: tuple[tuple[str, str], ...] = ()
    if not isinstance(row, Row):
        parts = next((tuple(call.nodes[:MOST]) for call in calls if call.nodes), ())
    orders = next((told for call in calls if (told := orders_of(call))), "")
    return ConductFact(
        _types(aparts), tuple(memory), orders, parts,
        any(t.requires_grad for call in calls for t in call.results),
    )  # fmt: skip


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _tensors(item)


# ---------------------------------------------------------------- memory


def memory_of(call: Call) -> Iterator[str]:
    """Of the first result: an operand itself, written or not, memory of one, or its own."""
    results = call.results
    if not results:
        return
    operands = [value for name, value in call.values.items() if name != "result"]
    first = results[0]
    for operand in (t for value in operands for t in _tensors(value)):
        if operand is first:
            yield "written" if operand._version > 0 else "self"
            return
        if first.numel() and _shared(first, operand):
            yield "view"
            return
    yield "new"


def _shared(one: Tensor, other: Tensor) -> bool:
    import numpy

    if one.layout is not strided or other.layout is not strided:
        return False  # what a sparse tensor keeps is no view
    return bool(numpy.may_share_memory(one._data, other._data))


# ---------------------------------------------------------------- types


def _types(aparts: Sequence[Apart]) -> tuple[tuple[str, str], ...]:
    """For each type of the operands that of the first result; refused where all samples are."""
    fitting = [apart for apart in aparts if any(_operand(line) for line in apart.operands)]
    if not fitting:
        return ()
    apart = min(fitting, key=lambda apart: _particular(apart.call))
    lines: list[str] = []
    for name in ("float32", *TYPES):
        lines += ["try:", *(f"    {line}" for line in of_type(apart, name))]
        lines += [f"    of_{name} = result", "except Exception:", f"    of_{name} = None"]
    values = executed(lines) or {}
    return tuple((name, _type_of(values.get(f"of_{name}"))) for name in ("float32", *TYPES))


def _type_of(value: Any) -> str:
    """The type of the first tensor in a result; empty where there is none."""
    first = next(_tensors(value), None)
    return "" if first is None else str(first.dtype).removeprefix("torch.")


def _particular(call: str) -> int:
    """How much a call says about types itself: a float among the arguments, a type by its name."""
    constants = (n.value for n in ast.walk(ast.parse(call)) if isinstance(n, ast.Constant))
    return 2 * ("dtype" in call) + any(isinstance(value, float) for value in constants)


def _operand(line: str) -> str | None:
    """The floating operand that a line makes."""
    name = line.partition(" = ")[0]
    return name if name in FLOATING and line == statement(name) else None


def of_type(apart: Apart, name: str) -> list[str]:
    """The sample with all its floating operands in another type."""
    lines = []
    for line in apart.lines:
        operand = _operand(line)
        if operand is not None:
            values = _converted(FLOATING[operand], name)
            line = f"{operand} = torch.tensor({values}, dtype=torch.{name})"
        lines.append(line)
    return lines


def _converted(value: Any, name: str) -> Any:
    if isinstance(value, list):
        return [_converted(item, name) for item in value]
    if name == "int64":
        return round(value * 8)  # far enough apart, and no zero among them
    return value > 0 if name == "bool" else value


# ---------------------------------------------------------------- orders


def orders_of(call: Call) -> str:
    """How often what the call gave can be differentiated; empty where nothing requires grad."""
    roots = [t for t in call.results if t.requires_grad and t.layout is strided]
    operands = [t for name, value in call.values.items() if name != "result"
                for t in _tensors(value) if t.requires_grad and t.is_leaf]  # fmt: skip
    if not roots or not operands:
        return ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            first = _slopes(roots, operands)
        except (RuntimeError, NotImplementedError):
            return "none"
        again = [t for t in first if t is not None and t.requires_grad]
        try:
            second = _slopes(again, operands) if again else []
        except (RuntimeError, NotImplementedError):
            return "first"
    return "first and second" if any(t is not None for t in second) else "linear"


def _slopes(roots: Sequence[Tensor], operands: Sequence[Tensor]) -> Sequence[Tensor | None]:
    ones = [resolve("ones_like")(root) for root in roots]
    found = grad(roots, operands, ones, create_graph=True, allow_unused=True)
    return found
