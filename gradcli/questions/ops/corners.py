"""Questions: what operators give at their corners: ties, zeros, bounds, the edges of their domains.

The calls are in the declarations; what they give, and which gradients, is measured when somebody
asks, and compared with PyTorch by a test. Every `tensor(...)` of floats in a call requires grad,
and the gradient is that of the sum of what the call gives.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ...operators import catalogue
from ...pipeline.request import Request
from ...pipeline.run import execute
from ...recording.facts.operators import EdgeFact

# An overload of this name is the same function under another roof.
_ROOFS = frozenset({"", "functional", "torch", "linalg", "special", "method", "kernel"})


def edges_of(row: Any) -> tuple[str, ...]:
    """The calls at the edges of a row: its own, else those of the same function elsewhere."""
    if row.corners is None and row.signature.overload in _ROOFS:
        same = catalogue.rows.named(row.signature.name)
        row = next((r for r in same if r.corners and r.signature.overload in _ROOFS), row)
    return row.corners or ()


def measured(row: Any) -> tuple[EdgeFact, ...]:
    """What a row gives at its edges, with the gradients."""
    return tuple(_measured(call) for call in edges_of(row))


def program_at(call: str) -> tuple[str, list[str]]:
    """A program that makes the tensors of a call, and `result`; the names of those that require
    grad."""
    tree = ast.parse(call, mode="eval").body
    leaves: list[str] = []
    lines: list[str] = []

    class Name(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> Any:
            if isinstance(node.func, ast.Name) and node.func.id == "tensor":
                name = f"leaf_{len(lines) + 1}"
                text = ast.unparse(node.args[0])
                floating = _floats(node.args[0])
                asked = ", requires_grad=True" if floating else ""
                lines.append(f"{name} = torch.tensor({text}{asked})")
                if floating:
                    leaves.append(name)
                return ast.Name(name)
            return self.generic_visit(node)

    changed = Name().visit(tree)
    lines.append(f"result = {ast.unparse(changed)}")
    return "\n".join(lines) + "\n", leaves


def _floats(value: ast.expr) -> bool:
    return all(isinstance(n.value, float) for n in ast.walk(value) if isinstance(n, ast.Constant))


def _measured(call: str) -> EdgeFact:
    program, leaves = program_at(call)
    ran = execute(Request(program.encode(), "<edge>"), None)
    if ran.error is not None:
        return EdgeFact(call, f"raises {ran.error.type}", ())
    assert ran.outcome is not None and ran.outcome.machine is not None
    values = ran.outcome.machine.globals.values
    result = values["result"]
    first = result[0] if isinstance(result, tuple) else result
    told = text_of(first.tolist())
    if isinstance(result, tuple) and len(result) > 1 and not result[1].requires_grad:
        told += f" at {text_of(result[1].tolist())}"
    if not first.requires_grad:
        return EdgeFact(call, told, ())
    try:
        first.sum().backward()
    except RuntimeError:
        return EdgeFact(call, told, ("backward raises",))
    return EdgeFact(call, told, tuple(_gradients(values, leaves)))


def _gradients(values: dict[str, Any], leaves: list[str]) -> Iterator[str]:
    for name in leaves:
        gradient = values[name].grad
        if gradient is not None:
            yield text_of((gradient + 0).tolist())  # the sign of a zero says nothing there


def text_of(value: Any) -> str:
    """Numbers as short as they can be said."""
    if isinstance(value, list):
        return f"[{', '.join(text_of(item) for item in value)}]"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)
