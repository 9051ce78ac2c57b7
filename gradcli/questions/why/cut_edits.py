"""Questions: what left the graph as it would be within it, where that can be written."""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import islice

from ...diagnostics import Edit, Span
from ...language.cut_reasons import CUTS
from ..provenance.values import Step, name_of
from .captured import is_of_graph
from .case import Case
from .edits import ATOMS, operand, replace, rewritten, with_keyword, within_brackets, without_call
from .smooth import soft_place

ITEMS = frozenset("item tolist numpy float int round complex bool".split())
SMOOTH = {ast.Gt: (0, 1), ast.GtE: (0, 1), ast.Lt: (1, 0), ast.LtE: (1, 0)}


def is_elsewhere(step: Step) -> bool:
    """Whether a line of another file made it: only the text in question is changed."""
    return step.inner is not None and bool(step.inner.place)


def within_graph(case: Case, verdict: str, step: Step) -> list[Edit]:
    """The step as it would be within the graph, where that can be written."""
    edits = EDITS.get(verdict)
    return [] if edits is None or is_elsewhere(step) else edits(case, step)


def _without_item(case: Case, step: Step) -> list[Edit]:
    """x for x.item(), and torch.sqrt(x) for math.sqrt(x)."""
    node = step.node
    if not isinstance(node, ast.Call) or name_of(node) in ITEMS:
        return _without_cut(case, step)
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    return [replace(case, owner, "torch")] if isinstance(owner, ast.Name) else []


def _without_cut(case: Case, step: Step) -> list[Edit]:
    """x for x.detach(), x.data and Variable(x.data)."""
    node, outer = step.node, case.parents.get(id(step.node))
    if _is_array(case, node):
        return []  # it would still be outside
    whole = node.func if isinstance(node, ast.Call) else node
    written = whole.value if isinstance(whole, (ast.Attribute, ast.Subscript)) else None
    if written is not None and name_of(written) in ("data", "detach"):
        return without_call(case, written)  # x.data.copy_(y), x.data[0] = y
    if name_of(node) == "checkpoint" and isinstance(node, ast.Call):
        return with_keyword(case, node, "use_reentrant", "False")
    if isinstance(outer, ast.Call) and name_of(outer) == "Variable" and node in outer.args:
        left = without_call(case, node)
        return [replace(case, outer, rewritten(case, node, left))] if left else []
    if isinstance(node, ast.Call) and name_of(node).rstrip("_") not in ITEMS | CUTS:
        return []  # a call of the program's, or of a module: what it is given is not its result
    return without_call(case, node)


def _resampled(case: Case, step: Step) -> list[Edit]:
    """p.rsample() for p.sample()."""
    node = step.node
    if not isinstance(node, ast.Call):
        return []
    text = case.whole(node)
    place = len(case.whole(node.func)) - len(name_of(node))
    return [replace(case, node, f"{text[:place]}r{text[place:]}")]


def _uncast(case: Case, step: Step) -> list[Edit]:
    """x for x.long(), and softmax weights for an argmax."""
    casts = ("long", "int", "short", "byte", "char", "to", "type", "bool")
    return without_call(case, step.node) if name_of(step.node) in casts else soft_place(case, step)


def _stacked(case: Case, step: Step) -> list[Edit]:
    """torch.stack([x, y]) for torch.tensor([x, y]), and x for torch.tensor(x)."""
    node = step.node
    if not isinstance(node, ast.Call) or not node.args:
        return []
    inner = node.args[0]
    made = {id(one.node): one.node for one in map(case.step_of, step.dead) if one is not None}
    whole = [name_of(node) for node in made.values()] == ["tolist"]  # all of one tensor
    several = len(step.dead) > 1 and not whole
    if several or isinstance(inner, (ast.List, ast.Tuple, ast.ListComp)):
        rows = [inner.elt] if isinstance(inner, ast.ListComp) else getattr(inner, "elts", ())
        stacked = [
            edit for row in rows if isinstance(row, (ast.List, ast.ListComp))
            for edit in _around(case, row, row, "torch.stack(", ")")
        ]  # fmt: skip
        listed = "list(" * isinstance(inner, ast.Tuple)
        return [*_around(case, node, inner, f"torch.stack({listed}", ")"), *stacked]
    return _around(case, node, inner, *(("", "") if isinstance(inner, ATOMS) else "()"))


def _smoothed(case: Case, step: Step) -> list[Edit]:
    """A sigmoid for a comparison, and torch.lerp for the where that asks it."""
    node = step.node
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return []
    order = SMOOTH.get(type(node.ops[0]))
    if order is None:
        return []
    sides = node.left, node.comparators[0]
    text = _above(case, sides[order[0]], sides[order[1]])
    outer = case.parents.get(id(node))
    if isinstance(outer, ast.Call) and name_of(outer) == "where" and len(outer.args) == 3:
        one, other = case.whole(outer.args[1]), case.whole(outer.args[2])
        mixed = f"torch.lerp({other}, {one}, {text})"
        if any(isinstance(side, (ast.Constant, ast.UnaryOp)) for side in outer.args[1:]):
            mixed = f"({operand(other)} + ({one} - {operand(other)}) * {text})"  # of a number
        if [ast.unparse(side) for side in outer.args[1:]] in (["1", "0"], ["1.0", "0.0"]):
            mixed = text
        return [replace(case, outer, mixed)]
    if isinstance(outer, ast.Subscript) and outer.slice is node:  # each with its weight
        return [replace(case, outer, f"({operand(case.whole(outer.value))} * {text})")]
    return [Edit(within_brackets(case, node), text)]


def _with_graph(case: Case, step: Step) -> list[Edit]:
    """grad(y, x, create_graph=True)"""
    return with_keyword(case, step.node, "create_graph", "True") if is_of_graph(step.node) else []


EDITS: dict[str, Callable[[Case, Step], list[Edit]]] = {
    "grad-call": _with_graph,
    "detached": _without_cut,
    "data": _without_cut,
    "item": _without_item,
    "sampled": _resampled,
    "integer": _uncast,
    "copied": _stacked,
    "comparison": _smoothed,
}


def _is_array(case: Case, node: ast.AST) -> bool:
    """Whether an array is made of a value at once: x.cpu().numpy(), np.array(x.detach())"""
    for part in islice(case.ancestors(node), 1, None):
        if isinstance(part, ast.Call) and node in part.args:
            owner = getattr(part.func, "value", None)
            return isinstance(owner, ast.Name) and owner.id in ("np", "numpy")
        if isinstance(part, ast.Attribute) and part.attr == "numpy":
            return True
        if not isinstance(part, ast.Attribute) and getattr(part, "func", None) is not node:
            return False
        node = part
    return False


def _above(case: Case, one: ast.expr, other: ast.expr) -> str:
    """How far one is above the other, between 0 and 1."""
    if isinstance(other, ast.Constant) and other.value == 0:
        return f"{operand(case.whole(one))}.sigmoid()"
    return f"({operand(case.whole(one))} - {operand(case.whole(other))}).sigmoid()"


def _around(case: Case, node: ast.expr, inner: ast.expr, before: str, after: str) -> list[Edit]:
    """Other words around a part of an expression, which itself may be edited too."""
    outer, own = case.span(node), case.span(inner)
    start = Span(outer.line, outer.column, own.line, own.column)
    end = Span(own.end_line, own.end_column, outer.end_line, outer.end_column)
    return [Edit(start, before), Edit(end, after + ")" * (before.count("(") - 1))]
