"""Questions: samples of declarations, taken apart: their operands, the call itself, the rest."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from .sample_operands import statement

_SIGNS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Add: ("add",), ast.Sub: ("sub", "rsub"), ast.Mult: ("mul",), ast.Div: ("div",),
    ast.Pow: ("pow", "float_power"), ast.MatMult: ("matmul",), ast.FloorDiv: ("floor_divide",),
    ast.Mod: ("remainder",),
}  # fmt: skip


class Apart(NamedTuple):
    """A sample as lines of a program: what makes the operands, the call alone, the whole with
    `result` in the call's place."""

    operands: tuple[str, ...]
    call: str
    whole: str

    @property
    def lines(self) -> list[str]:
        """Ending in `result = CALL`."""
        return [*self.operands, f"result = {self.call}"]


def program_of(sample: str) -> str:
    """A sample as a program of its own: its operands, the call, what it gives."""
    return "\n".join([*_seeded(sample), *_operands(sample), f"print({sample})"]) + "\n"


def taken_apart(sample: str, row: Any) -> Apart:
    """The call of a row within its sample; operands that are computed get lines of their own."""
    tree = ast.parse(sample, mode="eval").body
    called = _call_of(tree, row) or tree
    made: list[str] = []
    for holder, name, place in _children(called):
        value = getattr(holder, name) if place is None else getattr(holder, name)[place]
        if not _computed(value):
            continue
        operand = ast.Name(f"operand_{len(made) + 1}")
        made.append(f"{operand.id} = {ast.unparse(value)}")
        if place is None:
            setattr(holder, name, operand)
        else:
            getattr(holder, name)[place] = operand
    call = ast.unparse(called)
    whole = "result" if called is tree else ast.unparse(_replaced(tree, called))
    return Apart((*_seeded(sample), *_operands(sample), *made), call, whole)


def _operands(sample: str) -> list[str]:
    used = sorted({n.id for n in ast.walk(ast.parse(sample)) if isinstance(n, ast.Name)})
    return [line for name in used if (line := statement(name)) is not None]


def _seeded(sample: str) -> list[str]:
    drawn = any(word in sample for word in ("generator", "rand", "dropout"))
    return ["torch.manual_seed(0)"] if drawn else []


def _call_of(tree: ast.expr, row: Any) -> ast.expr | None:
    """The outermost expression that calls the row."""
    names = {row.signature.name, row.inplace, *row.aliases}
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.Call) and _last(node.func) in names:
            return node
        if isinstance(node, ast.BinOp) and names.intersection(_SIGNS.get(type(node.op), ())):
            return node
        if isinstance(node, ast.Attribute) and node.attr in names:
            return node
        if not isinstance(node, ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return None


def _last(function: ast.expr) -> str:
    return ast.unparse(function).rpartition(".")[2]


def _children(called: ast.expr) -> Iterator[tuple[Any, str, int | None]]:
    """Where the operands of a call stand: (holder, field, place in a list)."""
    if isinstance(called, ast.Call):
        yield from ((called, "args", at) for at in range(len(called.args)))
        yield from ((keyword, "value", None) for keyword in called.keywords)
        if isinstance(called.func, ast.Attribute):
            yield called.func, "value", None
    elif isinstance(called, ast.BinOp):
        yield from ((called, "left", None), (called, "right", None))
    elif isinstance(called, ast.Attribute):
        yield called, "value", None


def _computed(value: ast.expr) -> bool:
    """Whether an operand is more than names and numbers."""
    if isinstance(value, ast.Starred | ast.Lambda):
        return False
    return any(isinstance(n, ast.Call | ast.BinOp | ast.Subscript) for n in ast.walk(value))


def _replaced(tree: ast.expr, called: ast.expr) -> ast.expr:
    class Put(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            return ast.Name("result") if node is called else self.generic_visit(node)

    return Put().visit(tree)
