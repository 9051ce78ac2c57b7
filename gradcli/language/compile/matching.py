"""language: `match`: a subject is compared with patterns, which bind names on the way."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ...engine.mode import state
from ..attributes import get_attribute
from ..builtins.types import is_instance
from ..names import Scope
from ..operations import DICTS, equal, get_item
from ..session import session
from ..values import Closure
from .expressions import truth
from .flow import empty

# Does a value fit? Names are bound in the frame.
Fits = Callable[[list[Any], Any], bool]


def match(compiler: Any, node: ast.Match, scope: Scope) -> Closure:
    """The statement, as one closure."""
    subject_of = compiler.expression(node.subject, scope)
    cases = [
        (
            pattern(compiler, case.pattern, scope),
            None if case.guard is None else compiler.expression(case.guard, scope),
            compiler.block(case.body, scope) if case.body else empty,
        )
        for case in node.cases
    ]

    def run(frame: list[Any]) -> Any:
        subject = subject_of(frame)
        for fits, guard, body in cases:
            state.origin = node
            session.budget.charge(1)
            if fits(frame, subject) and (guard is None or truth(guard(frame), node)):
                return body(frame)
        return None

    return run


def pattern(compiler: Any, node: Any, scope: Scope) -> Fits:
    return PATTERNS[type(node)](compiler, node, scope)


def value_pattern(compiler: Any, node: ast.MatchValue, scope: Scope) -> Fits:
    value_of = compiler.expression(node.value, scope)
    return lambda frame, subject: bool(equal(subject, value_of(frame)))


def singleton(compiler: Any, node: ast.MatchSingleton, scope: Scope) -> Fits:
    return lambda frame, subject: subject is node.value


def either(compiler: Any, node: ast.MatchOr, scope: Scope) -> Fits:
    parts = [pattern(compiler, part, scope) for part in node.patterns]
    return lambda frame, subject: any(fits(frame, subject) for fits in parts)


def named(compiler: Any, node: ast.MatchAs, scope: Scope) -> Fits:
    inner = None if node.pattern is None else pattern(compiler, node.pattern, scope)
    store = None if node.name is None else compiler.store(node.name, scope, node)

    def fits(frame: list[Any], subject: Any) -> bool:
        if inner is not None and not inner(frame, subject):
            return False
        if store is not None:
            store(frame, subject)
        return True

    return fits


def sequence(compiler: Any, node: ast.MatchSequence, scope: Scope) -> Fits:
    star = next((i for i, p in enumerate(node.patterns) if type(p) is ast.MatchStar), None)
    parts = [pattern(compiler, p, scope) for p in node.patterns if type(p) is not ast.MatchStar]
    rest: Any = None if star is None else node.patterns[star]
    store = compiler.store(rest.name, scope, rest) if rest is not None and rest.name else None

    def fits(frame: list[Any], subject: Any) -> bool:
        if type(subject) is not list and not isinstance(subject, tuple):
            return False
        if len(subject) != len(parts) and (star is None or len(subject) < len(parts)):
            return False
        session.budget.charge(len(subject))
        front = len(parts) if star is None else star
        behind = len(subject) - (len(parts) - front)
        items = [*subject[:front], *subject[behind:]]
        if not all(fit(frame, item) for fit, item in zip(parts, items, strict=True)):
            return False
        if store is not None:
            store(frame, list(subject[front:behind]))
        return True

    return fits


def mapping(compiler: Any, node: ast.MatchMapping, scope: Scope) -> Fits:
    keys = [compiler.expression(key, scope) for key in node.keys]
    parts = [pattern(compiler, part, scope) for part in node.patterns]
    store = compiler.store(node.rest, scope, node) if node.rest else None

    def fits(frame: list[Any], subject: Any) -> bool:
        if type(subject) not in DICTS:
            return False
        found = [key(frame) for key in keys]
        for key, fit in zip(found, parts, strict=True):
            if key not in subject or not fit(frame, get_item(subject, key)):
                return False
        if store is not None:
            session.budget.charge(len(subject))
            store(frame, {k: v for k, v in subject.items() if k not in found})
        return True

    return fits


def class_pattern(compiler: Any, node: ast.MatchClass, scope: Scope) -> Fits:
    kind_of = compiler.expression(node.cls, scope)
    places = [pattern(compiler, part, scope) for part in node.patterns]
    named = [
        (name, pattern(compiler, part, scope))
        for name, part in zip(node.kwd_attrs, node.kwd_patterns, strict=True)
    ]

    def fits(frame: list[Any], subject: Any) -> bool:
        kind = kind_of(frame)
        if not is_instance(subject, kind):
            return False
        names = getattr(kind, "fields", ()) if places else ()
        if places and not names:  # int(x): the value itself
            return len(places) == 1 and places[0](frame, subject)
        pairs = [*zip(names, places, strict=False), *named]
        return all(_has(subject, name, fit, frame) for name, fit in pairs)

    return fits


def _has(subject: Any, name: str, fits: Fits, frame: list[Any]) -> bool:
    try:
        value = get_attribute(subject, name)
    except AttributeError:
        return False
    return fits(frame, value)


PATTERNS: dict[type[ast.AST], Callable[[Any, Any, Scope], Fits]] = {
    ast.MatchValue: value_pattern, ast.MatchSingleton: singleton,
    ast.MatchSequence: sequence, ast.MatchMapping: mapping,
    ast.MatchClass: class_pattern, ast.MatchAs: named,
    ast.MatchOr: either,
}  # fmt: skip
