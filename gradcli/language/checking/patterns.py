"""language: what the checker does with `match`, in the words of Python's compiler."""

from __future__ import annotations

import ast
from typing import Any

from ..names import Scope
from .checker import Checker

Bound = dict[str, None]  # names that a pattern binds


def match_(checker: Checker, node: ast.Match, scope: Scope, depth: int) -> None:
    checker.visit(node.subject, scope, depth)
    with checker.perhaps(scope):
        for case in node.cases:
            open_end = case.guard is not None or case is node.cases[-1]
            pattern(checker, case.pattern, scope, depth, {}, open_end)
            if case.guard is not None:
                checker.visit(case.guard, scope, depth)
            checker.block(case.body, scope, depth)


def pattern(
    checker: Checker, node: Any, scope: Scope, depth: int, bound: Bound, may_fit_all: bool = True
) -> None:
    """What a `case` compares with, and the names that it binds."""
    if depth > checker.max_nesting:
        words = f"the limit of {checker.max_nesting} levels of nesting is reached"
        raise checker.source.too_deep(words, checker.source.span_of(node))
    if type(node) is ast.MatchOr:
        alternatives(checker, node, scope, depth, bound, may_fit_all)
        return
    if type(node) is ast.MatchAs and node.pattern is None and not may_fit_all:
        what = "wildcard" if node.name is None else f"name capture '{node.name}'"
        raise checker.refuse(node, f"{what} makes remaining patterns unreachable")
    _refuse_repeated(checker, node)
    for field, value in ast.iter_fields(node):
        if field in ("name", "rest") and value is not None:
            bind(checker, value, node, bound)
            checker.bind(value, node, scope)
        for part in value if type(value) is list else [value]:
            if isinstance(part, ast.pattern):
                inner = type(node) is not ast.MatchAs or may_fit_all
                pattern(checker, part, scope, depth + 1, bound, inner)
            elif isinstance(part, ast.expr):
                checker.visit(part, scope, depth + 1)


def bind(checker: Checker, name: str, node: ast.AST, bound: Bound) -> None:
    if name in bound:
        raise checker.refuse(node, f"multiple assignments to name '{name}' in pattern")
    bound[name] = None


def alternatives(
    checker: Checker, node: ast.MatchOr, scope: Scope, depth: int, bound: Bound, may_fit_all: bool
) -> None:
    """Each binds the same names, and only the last may fit everything."""
    each: list[Bound] = []
    for part in node.patterns:
        names: Bound = {}
        last = part is node.patterns[-1]
        pattern(checker, part, scope, depth + 1, names, may_fit_all and last)
        each.append(names)
    if any(names.keys() != each[0].keys() for names in each):
        raise checker.refuse(node, "alternative patterns bind different names")
    for name in each[0]:
        bind(checker, name, node, bound)


def _refuse_repeated(checker: Checker, node: Any) -> None:
    if type(node) is ast.MatchSequence:
        if sum(type(part) is ast.MatchStar for part in node.patterns) > 1:
            raise checker.refuse(node, "multiple starred names in sequence pattern")
    elif type(node) is ast.MatchMapping:
        seen: set[Any] = set()
        for key in node.keys:
            if type(key) is ast.Constant:
                if key.value in seen:
                    words = f"mapping pattern checks duplicate key ({key.value!r})"
                    raise checker.refuse(node, words)
                seen.add(key.value)
    elif type(node) is ast.MatchClass:
        for place, name in enumerate(node.kwd_attrs):
            if name in node.kwd_attrs[:place]:
                words = f"attribute name repeated in class pattern: {name}"
                raise checker.refuse(node.kwd_patterns[place], words)
