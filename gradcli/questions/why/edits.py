"""Questions: edits of a program's text that try a piece of advice, and the line they leave."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

from ...diagnostics import Edit, Span
from ...language.source import on_one_line
from ..cure import edited
from ..declared import makes
from .case import Case

# What needs no brackets anywhere, what needs none as a whole value, and where that is.
ATOMS = (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.Constant)
WHOLES = (*ATOMS, ast.BinOp, ast.UnaryOp, ast.Compare)
VALUES = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Call, ast.keyword)
SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Delete)


def replace(case: Case, node: Any, text: str) -> Edit:
    return Edit(case.span(node), text)


def insert_before(case: Case, node: Any, text: str) -> Edit:
    return Edit(case.span(node).start, text)


def insert_after(case: Case, node: Any, text: str) -> Edit:
    return Edit(case.span(node).end, text)


def wrap(case: Case, node: Any, before: str, after: str) -> list[Edit]:
    """Text around an expression."""
    return [insert_before(case, node, before), insert_after(case, node, after)]


def operand(text: str) -> str:
    """The text of an expression as what precedes a dot or behind a minus."""
    node = ast.parse(f"({text})", mode="eval").body
    return text if isinstance(node, ATOMS) and not isinstance(node, ast.Constant) else f"({text})"


def call_on(case: Case, node: ast.AST, text: str) -> list[Edit]:
    """A method called on an expression, with brackets where it needs them."""
    if isinstance(node, ATOMS) and not isinstance(node, ast.Constant):
        return [insert_after(case, node, text)]
    return wrap(case, node, "(", f"){text}")


def then(case: Case, statement: ast.stmt | None, text: str) -> list[Edit]:
    """A further statement behind a simple one, on the same line."""
    if statement is None or not isinstance(statement, SIMPLE):
        return []
    return [insert_after(case, statement, f"; {text}")]


def first(case: Case, statement: ast.stmt | None, text: str) -> list[Edit]:
    """A further statement in front of a simple one, on the same line."""
    if statement is None or not isinstance(statement, SIMPLE):
        return []
    return [insert_before(case, statement, f"{text}; ")]


def bound_again(case: Case, statement: ast.stmt | None) -> list[Edit]:
    """loss = loss + part, where loss + part stands alone."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(value, ast.BinOp) or not isinstance(value.left, ast.Name):
        return []
    return [replace(case, value, f"{value.left.id} = {case.whole(value)}")]


def without(case: Case, statement: ast.stmt | None) -> list[Edit]:
    """The program without a simple statement."""
    if statement is None or not isinstance(statement, (*SIMPLE, ast.Assert)):
        return []
    return [replace(case, statement, "pass")]


def is_needed(case: Case, statement: ast.stmt | None, node: Any) -> bool:
    """Whether a statement binds what a function made that also did what its text does not say:
    y = lib.scaled(w), where scaled() registers a hook."""
    said = case.whole(node) if case.is_here(node) else ""
    says = any(word in said for word in ("register_", "requires_grad", ".grad", "zero_"))
    return isinstance(statement, ast.Assign) and not says


def without_call(case: Case, node: Any) -> list[Edit]:
    """x for x.detach() and torch.detach(x), x for x.data."""
    if isinstance(node, ast.Attribute):
        return _from_dot(case, node, node)
    if not isinstance(node, ast.Call):
        return []
    function = node.func
    if len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred):
        if not isinstance(function, ast.Attribute) or is_space(case, function.value):
            text = case.whole(node.args[0])
            bare = _is_bare(case, node.args[0], node)
            return [replace(case, node, text if bare else f"({text})")]
    if isinstance(function, ast.Attribute) and not is_space(case, function.value):
        return _from_dot(case, function, node)
    return []


def within_brackets(case: Case, node: ast.AST) -> Span:
    """The place of an expression, with the brackets that group it and nothing else."""
    span = case.span(node)
    before = case.source.line(span.line)[: span.column - 1]
    behind = case.source.line(span.end_line)[span.end_column - 1 :]
    calls = before[-2:-1].isidentifier() or before[-2:-1] in (")", "]")
    if before.endswith("(") and behind.startswith(")") and not calls:
        return span._replace(column=span.column - 1, end_column=span.end_column + 1)
    return span


def _is_bare(case: Case, inner: ast.expr, node: ast.AST) -> bool:
    """Whether an expression needs no brackets in the place of a node."""
    if isinstance(inner, ATOMS):
        return True
    span = case.span(inner)
    free = isinstance(case.parents.get(id(node)), VALUES)
    return free and isinstance(inner, WHOLES) and span.line == span.end_line


def is_space(case: Case, node: ast.AST) -> bool:
    """Whether functions of a module are called by this word: `torch.nn` of torch.nn.relu."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and (
        node.id in ("torch", "F", "nn", "math", "np") or node.id in case.modules
    )


def _from_dot(case: Case, attribute: ast.Attribute, node: ast.AST) -> list[Edit]:
    """Removes what begins at the dot of an attribute and ends with a node, and the brackets that
    stood around the rest for the dot's sake."""
    end, whole = case.span(attribute), case.span(node)
    text = case.source.line(end.end_line)
    start = end.end_column - len(attribute.attr)
    while start > 1 and text[start - 2 : start - 1] != ".":
        start -= 1
    start = max(start - 1, 1)
    edits: list[Edit] = []
    inner = case.span(attribute.value)
    left, right = case.source.line(inner.line), text[inner.end_column - 1 : start - 1]
    opened = left[: inner.column - 1].endswith("(")
    if opened and right == ")" and inner.end_line == end.end_line and (
        _is_bare(case, attribute.value, node)
    ):  # fmt: skip
        edits.append(Edit(inner._replace(column=inner.column - 1).head(1), ""))
        start -= 1
    return [*edits, Edit(Span(end.end_line, start, whole.end_line, whole.end_column), "")]


def with_keyword(case: Case, node: ast.Call, name: str, text: str) -> list[Edit]:
    """A call with a keyword argument, in place of the one that is there."""
    for keyword in node.keywords:
        if keyword.arg == name:
            return [replace(case, keyword.value, text)]
    span = case.span(node)
    before = case.whole(node)[:-1].rstrip()
    comma = "" if before.endswith("(") else " " if before.endswith(",") else ", "
    return [Edit(span.tail(1).start, f"{comma}{name}={text}")]


def floating(case: Case, node: ast.Call) -> list[Edit]:
    """tensor([1, 2]) with floats."""
    return [
        replace(case, part, f"{case.whole(part)}.0")
        for argument in node.args
        for part in ast.walk(argument)
        if isinstance(part, ast.Constant) and type(part.value) is int
    ]


def requiring(case: Case, node: ast.AST, differentiable: bool) -> list[Edit]:
    """An expression that makes a leaf, so that the leaf requires grad."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        text = case.whole(node)
        dot = ".0" if type(node.value) is int else ""
        return [replace(case, node, f"torch.tensor({text}{dot}, requires_grad=True)")]
    if isinstance(node, ast.Call):
        function = node.func
        word = function.attr if isinstance(function, ast.Attribute) else ""
        word = function.id if isinstance(function, ast.Name) else word
        if word == "from_pretrained":  # of an embedding, whose freeze is True by default
            return with_keyword(case, node, "freeze", "False")
        has = any(keyword.arg == "requires_grad" for keyword in node.keywords)
        if (makes(word) or word in ("tensor", "Parameter")) or has:
            if not differentiable and any(k.arg == "dtype" for k in node.keywords):
                return []
            edits = with_keyword(case, node, "requires_grad", "True")
            return edits if differentiable else [*floating(case, node), *edits]
    if not differentiable or not isinstance(node, ast.expr):
        return []
    return call_on(case, node, ".requires_grad_()")


def rewritten(case: Case, node: Any, edits: Iterable[Edit]) -> str:
    """The text of a piece of the program after edits within it."""
    own, span = list(edits), case.span(node)
    text = edited(case.source, own)
    if text is None:
        return case.whole(node)
    starts = case.source.line_starts
    start = starts[span.line - 1] + span.column - 1
    end = starts[span.end_line - 1] + span.end_column - 1
    return text[start : end + len(text) - len(case.source.text)]


def advised(case: Case, node: Any, edits: Sequence[Edit]) -> str:
    """The statement around a node, with the edits done, on one line."""
    statement = case.statement(node)
    target: Any = statement if isinstance(statement, (*SIMPLE, ast.Assert)) else node
    text = on_one_line(rewritten(case, target, edits))
    if isinstance(target, ast.Assign) and len(set(text.split(" = "))) == 1:  # x = x
        return f"leave out: {on_one_line(case.whole(target))}"
    return text
