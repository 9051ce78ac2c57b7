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
from .expressions import ExpressionCompiler, truth
from .flow import empty

# Does a value fit? Names are bound in the frame.
Fits = Callable[[list[Any], Any], bool]


class MatchCompiler(ExpressionCompiler):
    """The statement and its patterns."""

    block: Callable[[list[ast.stmt], Scope], Closure]

    def match(self, node: ast.Match, scope: Scope) -> Closure:
        subject_of = self.expression(node.subject, scope)
        cases = [
            (
                self.pattern(case.pattern, scope),
                None if case.guard is None else self.expression(case.guard, scope),
                self.block(case.body, scope) if case.body else empty,
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

    def pattern(self, node: Any, scope: Scope) -> Fits:
        return PATTERNS[type(node)](self, node, scope)

    def value_pattern(self, node: ast.MatchValue, scope: Scope) -> Fits:
        value_of = self.expression(node.value, scope)
        return lambda frame, subject: bool(equal(subject, value_of(frame)))

    def singleton(self, node: ast.MatchSingleton, scope: Scope) -> Fits:
        return lambda frame, subject: subject is node.value

    def either(self, node: ast.MatchOr, scope: Scope) -> Fits:
        parts = [self.pattern(part, scope) for part in node.patterns]
        return lambda frame, subject: any(fits(frame, subject) for fits in parts)

    def named(self, node: ast.MatchAs, scope: Scope) -> Fits:  # type: ignore[override]
        inner = None if node.pattern is None else self.pattern(node.pattern, scope)
        store = None if node.name is None else self.store(node.name, scope, node)

        def fits(frame: list[Any], subject: Any) -> bool:
            if inner is not None and not inner(frame, subject):
                return False
            if store is not None:
                store(frame, subject)
            return True

        return fits

    def sequence(self, node: ast.MatchSequence, scope: Scope) -> Fits:
        star = next((i for i, p in enumerate(node.patterns) if type(p) is ast.MatchStar), None)
        parts = [self.pattern(p, scope) for p in node.patterns if type(p) is not ast.MatchStar]
        rest: Any = None if star is None else node.patterns[star]
        store = self.store(rest.name, scope, rest) if rest is not None and rest.name else None

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

    def mapping(self, node: ast.MatchMapping, scope: Scope) -> Fits:
        keys = [self.expression(key, scope) for key in node.keys]
        parts = [self.pattern(part, scope) for part in node.patterns]
        store = self.store(node.rest, scope, node) if node.rest else None

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

    def class_pattern(self, node: ast.MatchClass, scope: Scope) -> Fits:
        kind_of = self.expression(node.cls, scope)
        places = [self.pattern(part, scope) for part in node.patterns]
        named = [
            (name, self.pattern(part, scope))
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
    ast.MatchValue: MatchCompiler.value_pattern, ast.MatchSingleton: MatchCompiler.singleton,
    ast.MatchSequence: MatchCompiler.sequence, ast.MatchMapping: MatchCompiler.mapping,
    ast.MatchClass: MatchCompiler.class_pattern, ast.MatchAs: MatchCompiler.named,
    ast.MatchOr: MatchCompiler.either,
}  # fmt: skip
