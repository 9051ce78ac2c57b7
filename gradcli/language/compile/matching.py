"""language: `match`: a subject is compared with patterns, which bind names on the way."""

from __future__ import annotations

import ast
from collections.abc import Callable, MutableSequence
from typing import Any

from ...engine.schema.mode import state
from ..annotations import Annotation
from ..attributes import get_attribute
from ..builtins.types import is_instance
from ..names import Scope
from ..operations import DICTS, collect, contains, equal, get_item, type_name
from ..session import session
from ..sets import Set
from ..values import Closure, stands_for
from .expressions import truth
from .flow import empty

# Names with their values, in order: they are bound when the whole pattern fits, and not before.
Bound = list[tuple[Any, Any]]
# Does a value fit? What is to be bound is added to the list.
Fits = Callable[[list[Any], Any, Bound], bool]
# Objects of these types and of classes on top of them are their own only part: `case int(x)`.
PLAIN = (int, float, str, bytes, dict, list, tuple, Set)


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
            bound: Bound = []
            if not fits(frame, subject, bound):
                continue
            for store, value in bound:
                store(frame, value)
            if guard is None or truth(guard(frame), node):
                return body(frame)
        return None

    return run


def pattern(compiler: Any, node: Any, scope: Scope) -> Fits:
    return PATTERNS[type(node)](compiler, node, scope)


def value_pattern(compiler: Any, node: ast.MatchValue, scope: Scope) -> Fits:
    value_of = compiler.expression(node.value, scope)
    return lambda frame, subject, bound: truth(equal(subject, value_of(frame)), node)


def singleton(compiler: Any, node: ast.MatchSingleton, scope: Scope) -> Fits:
    return lambda frame, subject, bound: subject is node.value


def either(compiler: Any, node: ast.MatchOr, scope: Scope) -> Fits:
    parts = [pattern(compiler, part, scope) for part in node.patterns]

    def fits(frame: list[Any], subject: Any, bound: Bound) -> bool:
        before = len(bound)
        for part in parts:
            if part(frame, subject, bound):
                return True
            del bound[before:]
        return False

    return fits


def named(compiler: Any, node: ast.MatchAs, scope: Scope) -> Fits:
    inner = None if node.pattern is None else pattern(compiler, node.pattern, scope)
    store = None if node.name is None else compiler.store(node.name, scope, node)

    def fits(frame: list[Any], subject: Any, bound: Bound) -> bool:
        if inner is not None and not inner(frame, subject, bound):
            return False
        if store is not None:
            bound.append((store, subject))
        return True

    return fits


def sequence(compiler: Any, node: ast.MatchSequence, scope: Scope) -> Fits:
    star = next((i for i, p in enumerate(node.patterns) if type(p) is ast.MatchStar), None)
    parts = [pattern(compiler, p, scope) for p in node.patterns if type(p) is not ast.MatchStar]
    rest: Any = None if star is None else node.patterns[star]
    store = compiler.store(rest.name, scope, rest) if rest is not None and rest.name else None

    def fits(frame: list[Any], subject: Any, bound: Bound) -> bool:
        plain = stands_for(subject)
        if not isinstance(plain, (MutableSequence, tuple, range)):
            return False
        if len(plain) != len(parts) and (star is None or len(plain) < len(parts)):
            return False
        items = collect(plain)
        front = len(parts) if star is None else star
        behind = len(items) - (len(parts) - front)
        ends = [*items[:front], *items[behind:]]
        if not all(fit(frame, item, bound) for fit, item in zip(parts, ends, strict=True)):
            return False
        if store is not None:
            bound.append((store, items[front:behind]))
        return True

    return fits


def mapping(compiler: Any, node: ast.MatchMapping, scope: Scope) -> Fits:
    keys = [compiler.expression(key, scope) for key in node.keys]
    parts = [pattern(compiler, part, scope) for part in node.patterns]
    store = compiler.store(node.rest, scope, node) if node.rest else None

    def fits(frame: list[Any], subject: Any, bound: Bound) -> bool:
        plain = stands_for(subject)
        if type(plain) not in DICTS:
            return False
        found = [key(frame) for key in keys]
        for key, fit in zip(found, parts, strict=True):
            if not contains(plain, key) or not fit(frame, get_item(plain, key), bound):
                return False
        if store is not None:
            session.budget.charge(len(plain))
            rest = dict(plain)
            for key in found:
                del rest[key]
            bound.append((store, rest))
        return True

    return fits


def class_pattern(compiler: Any, node: ast.MatchClass, scope: Scope) -> Fits:
    kind_of = compiler.expression(node.cls, scope)
    count, named = len(node.patterns), tuple(node.kwd_attrs)
    parts = [pattern(compiler, p, scope) for p in (*node.patterns, *node.kwd_patterns)]

    def fits(frame: list[Any], subject: Any, bound: Bound) -> bool:
        kind = kind_of(frame)
        if not hasattr(kind, "name") or isinstance(kind, Annotation):
            raise TypeError("called match pattern must be a class")
        if not is_instance(subject, kind):
            return False
        names = _names(kind, count) if count else ()
        itself = [subject] if names is None else []
        found = _attributes(subject, kind, (*(names or ())[:count], *named))
        if found is None:
            return False
        values = [*itself, *found]
        return all(fit(frame, value, bound) for fit, value in zip(parts, values, strict=True))

    return fits


def _names(kind: Any, count: int) -> tuple[Any, ...] | None:
    """What patterns without a name stand for; None where one stands for the object itself."""
    try:
        names = get_attribute(kind, "__match_args__")
    except AttributeError:
        plain = getattr(getattr(kind, "enumeration", None), "plain", None)
        host = (plain or getattr(kind, "content", None) or kind).host
        names = getattr(host, "_fields", ())  # a named tuple has them
        if not names and isinstance(host, type) and issubclass(host, PLAIN):
            if count == 1:
                return None
            raise TypeError(_too_many(kind, 1, count)) from None
    if type(names) is not tuple:
        words = f"{kind.name}.__match_args__ must be a tuple (got {type_name(names)})"
        raise TypeError(words)
    if len(names) < count:
        raise TypeError(_too_many(kind, len(names), count))
    return names


def _too_many(kind: Any, most: int, count: int) -> str:
    parts = f"{most} positional sub-pattern{'' if most == 1 else 's'}"
    return f"{kind.name}() accepts {parts} ({count} given)"


def _attributes(subject: Any, kind: Any, names: tuple[Any, ...]) -> list[Any] | None:
    """The values of these attributes, read before any is compared; None where one is missing."""
    found: dict[str, Any] = {}
    for name in names:
        if type(name) is not str:
            raise TypeError(f"__match_args__ elements must be strings (got {type_name(name)})")
        if name in found:
            raise TypeError(f"{kind.name}() got multiple sub-patterns for attribute {name!r}")
        try:
            found[name] = get_attribute(subject, name)
        except AttributeError:
            return None
    return list(found.values())


PATTERNS: dict[type[ast.AST], Callable[[Any, Any, Scope], Fits]] = {
    ast.MatchValue: value_pattern, ast.MatchSingleton: singleton,
    ast.MatchSequence: sequence, ast.MatchMapping: mapping,
    ast.MatchClass: class_pattern, ast.MatchAs: named,
    ast.MatchOr: either,
}  # fmt: skip
