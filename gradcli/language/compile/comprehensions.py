"""language: compiles comprehensions and generator expressions to closures."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from ...engine.schema.mode import state
from ..names import Scope
from ..operations import check_key, iterate
from ..session import session
from ..sets import Set
from ..values import UNBOUND, Closure, Lazy, stepwise
from .calls import CallCompiler, qualified_name
from .names import Store


class ComprehensionCompiler(CallCompiler):
    """[...], {...} and (...) with `for` inside."""

    target: Callable[[Any, Scope], Store]

    def list_comprehension(self, node: ast.ListComp, scope: Scope) -> Closure:
        inner, fresh = self.comprehension_scope(node)
        simple = self.simple_list(node, scope, inner, fresh)
        if simple is not None:
            return simple
        walk = self.levels(node, scope, inner, self.element_to(node.elt, inner, list.append))
        return _gathered(walk, list, fresh, node)

    def set_comprehension(self, node: ast.SetComp, scope: Scope) -> Closure:
        inner, fresh = self.comprehension_scope(node)

        def add(out: Set, item: Any) -> None:
            check_key(item)
            out.add(item)

        walk = self.levels(node, scope, inner, self.element_to(node.elt, inner, add))
        return _gathered(walk, Set, fresh, node)

    def dict_comprehension(self, node: ast.DictComp, scope: Scope) -> Closure:
        inner, fresh = self.comprehension_scope(node)
        key_of, value_of = self.expression(node.key, inner), self.expression(node.value, inner)

        def put(frame: list[Any], out: dict[Any, Any]) -> None:
            key = key_of(frame)
            check_key(key)
            out[key] = value_of(frame)

        return _gathered(self.levels(node, scope, inner, put), dict, fresh, node)

    def comprehension_scope(self, node: Any) -> tuple[Scope, list[int]]:
        """Slots for the comprehension's names in the frame around it; those to box each time."""
        inner = self.program.scopes[node]
        inner.slots = {name: self.new_slot(inner) for name in inner.bound}
        return inner, [inner.slots[name] for name in inner.cells]

    def element_to(self, element: Any, inner: Scope, put: Callable[[Any, Any], None]) -> Any:
        element_of = self.expression(element, inner)
        return lambda frame, out: put(out, element_of(frame))

    def simple_list(
        self, node: ast.ListComp, scope: Scope, inner: Scope, fresh: list[int]
    ) -> Closure | None:
        """[f(x) for x in items]: one loop in one closure."""
        generator = node.generators[0]
        if (
            len(node.generators) > 1
            or generator.ifs
            or fresh
            or type(generator.target) is not ast.Name
        ):
            return None
        items_of = self.expression(generator.iter, scope)
        slot = inner.slots[generator.target.id]
        element_of = self.expression(node.elt, inner)

        def run(frame: list[Any]) -> list[Any]:
            out = []
            budget = session.budget
            items = items_of(frame)
            state.origin = node
            for item in iterate(items):
                budget.fuel -= 1
                if budget.fuel < 0:
                    budget.refill()
                frame[slot] = item
                out.append(element_of(frame))
            return out

        return run

    def levels(self, node: Any, scope: Scope, inner: Scope, innermost: Any) -> Any:
        """The `for ... if ...` parts from the inside out: walk(frame, out)."""
        walk = innermost
        for place in range(len(node.generators) - 1, -1, -1):
            generator = node.generators[place]
            where = scope if place == 0 else inner
            items_of = self.expression(generator.iter, where)
            conditions = [self.expression(condition, inner) for condition in generator.ifs]
            store = self.target(generator.target, inner)
            walk = _level(items_of, store, conditions, walk, generator.iter)
        return walk

    def generator(self, node: ast.GeneratorExp, scope: Scope) -> Closure:
        """A generator expression has a frame of its own and takes items one by one."""
        inner = self.program.scopes[node]
        boxed = self.lay_out(inner, [])
        first_of = self.expression(node.generators[0].iter, scope)
        levels = []
        for place, generator in enumerate(node.generators):
            items_of = first_of if place == 0 else self.expression(generator.iter, inner)
            conditions = [self.expression(condition, inner) for condition in generator.ifs]
            levels.append((items_of, self.target(generator.target, inner), conditions))
        element_of = self.expression(node.elt, inner)
        boxes = self.outer_boxes(inner, scope)
        size, name = self.sizes, qualified_name(scope, "<genexpr>")

        def walk(frame: list[Any], place: int, items: Iterator[Any]) -> Iterator[Any]:
            _, store, conditions = levels[place]
            budget = session.budget
            inner_items: Iterator[Any] = iter(())
            value: Any = None
            for item in stepwise(items):
                budget.enter()  # the element may ask another generator, and that one the next
                try:
                    store(frame, item)
                    if conditions and not _all_hold(conditions, frame):
                        continue
                    if place + 1 == len(levels):
                        value = element_of(frame)
                    else:
                        state.origin = node
                        inner_items = iterate(levels[place + 1][0](frame))
                finally:
                    budget.depth -= 1
                if place + 1 == len(levels):
                    yield value
                else:
                    yield from walk(frame, place + 1, inner_items)

        def run(frame: list[Any]) -> Lazy:
            first = first_of(frame)
            state.origin = node
            own = [frame[slot] for slot in boxes]
            own += [UNBOUND] * (size[inner] - len(own))
            for slot in boxed:
                own[slot] = [own[slot]]
            return Lazy("generator", walk(own, 0, iterate(first)), name)

        return run


def _all_hold(conditions: list[Closure], frame: list[Any]) -> bool:
    for condition in conditions:  # noqa: SIM110 - a generator here would cost more than the loop
        if not condition(frame):
            return False
    return True


def _level(
    items_of: Closure, store: Store, conditions: list[Closure], walk: Any, place: Any
) -> Any:
    def level(frame: list[Any], out: Any) -> None:
        budget = session.budget
        node = place
        items = items_of(frame)
        state.origin = node
        for item in iterate(items):
            budget.fuel -= 1
            if budget.fuel < 0:
                budget.refill()
            store(frame, item)
            if not conditions or _all_hold(conditions, frame):
                walk(frame, out)

    return level


def _gathered(walk: Any, make: Callable[[], Any], fresh: list[int], node: ast.AST) -> Closure:
    def run(frame: list[Any]) -> Any:
        out = make()
        for slot in fresh:
            frame[slot] = [UNBOUND]
        walk(frame, out)
        if node is None:
            return None
        return out

    return run
