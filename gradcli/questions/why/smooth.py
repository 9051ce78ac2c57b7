"""Questions: smooth replacements for operations that have no gradient."""

from __future__ import annotations

import ast
from typing import Any

from ...diagnostics import Edit
from ..declared import declarations, filled
from ..provenance.values import Step, name_of
from .case import Case, Trial
from .edits import advised, operand, replace, with_keyword

SPACES = ("torch", "F", "nn")

CHOOSING = ast.Compare, ast.Subscript  # what is done with a place that has to be a whole number


def operands(node: ast.Call) -> list[ast.expr]:
    """x and 1 of torch.argmax(x, 1) and of x.argmax(1)."""
    function = node.func
    if isinstance(function, ast.Attribute):
        root: ast.expr = function.value
        while isinstance(root, ast.Attribute):
            root = root.value
        if not (isinstance(root, ast.Name) and root.id in SPACES):
            return [function.value, *node.args]
    return list(node.args)


def argument(node: ast.Call, place: int, name: str) -> ast.expr | None:
    """An argument of a call, by its place or its name."""
    for keyword in node.keywords:
        if keyword.arg == name:
            return keyword.value
    given = operands(node)
    return given[place] if place < len(given) else None


# ---------------------------------------------------------------- the place of the largest


def soft_place(case: Case, step: Step) -> list[Edit]:
    """argmax with a slope: the mean of the places, or of what stands there, under softmax."""
    node = step.node
    template = _weights(node)
    if not isinstance(node, ast.Call) or not template:
        return []
    given, dim = operands(node), argument(node, 1, "dim")
    if not given or any(keyword.arg != "dim" for keyword in node.keywords):
        return []
    values = case.whole(given[0])
    along = "-1" if dim is None else case.whole(dim)
    if dim is None and not _one_dimension(case, step):
        values = f"{operand(values)}.flatten()"
    weights = filled(template, {"self": values, "dim": along})
    outer = case.parents.get(id(node))
    if isinstance(outer, ast.Subscript) and outer.slice is node:
        return [replace(case, outer, f"({weights} * {case.whole(outer.value)}).sum({along})")]
    if isinstance(outer, ast.Call) and name_of(outer) == "one_hot" and outer.args[:1] == [node]:
        return [replace(case, outer, weights)]
    users = case.users.get(step.out, ())
    if along not in ("-1", "0") or any(isinstance(one.node, CHOOSING) for one in users):
        return []
    places = f"torch.arange(float({values}.shape[{along}]))"
    return [replace(case, node, f"({weights} * {places}).sum({along})")]


def _weights(node: ast.AST) -> str:
    """The smooth relative of a function that gives places: a weight for each of them."""
    rows = declarations(name_of(node))
    return next((row.smooth for row in rows if row.smooth and _is_place(row)), "")


def _is_place(row: Any) -> bool:
    return getattr(row, "dtype", None) == "int64"


def _one_dimension(case: Case, step: Step) -> bool:
    for source in (*step.dead, *step.live):
        reference = case.flow.value(source).tensor
        tensor = None if reference is None else reference()
        if tensor is not None:
            return bool(tensor.dim() == 1)
    return False


# ---------------------------------------------------------------- one element takes all


def shared_out(case: Case, origin: Any) -> list[Trial]:
    """A maximum that every element has a part in; no dropout."""
    if not isinstance(origin, ast.Call):
        return []
    word, given = name_of(origin), operands(origin)
    if "dropout" in word:
        edits = with_keyword(case, origin, "training", "False")
        return [Trial(f"without dropout: {advised(case, origin, edits)}", tuple(edits), "nonzero")]
    text = relative(case, word, given) if not origin.keywords else ""
    if not text:
        return []
    edits = [replace(case, origin, text)]
    return [Trial(f"a share for all: {advised(case, origin, edits)}", tuple(edits), "nonzero")]


def relative(case: Case, word: str, given: list[ast.expr]) -> str:
    """The call of a relative with a slope, from the declaration of this name, if it has one."""
    for row in declarations(word):
        parameters = row.signature.parameters[: len(given)]
        fits = len(parameters) == len(given) and not any(
            p.is_tensor and _number(part) for p, part in zip(parameters, given, strict=True)
        )
        template = getattr(row, "smooth", "")
        if not template or not fits or not all(p.name in template for p in parameters):
            continue
        texts = {p.name: case.whole(part) for p, part in zip(parameters, given, strict=True)}
        if "dim" in template and "dim" not in texts:  # over all elements
            template = template.replace("(self)", "self")
            texts = {"self": f"{operand(texts['self'])}.flatten()", "dim": "0"}
        return filled(template, texts)
    return ""


def _number(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant)
