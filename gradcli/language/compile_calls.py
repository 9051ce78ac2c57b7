"""language: calls, functions and comprehensions to closures."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from ..engine.mode import state
from ..engine.tensor import Tensor
from .attributes import TABLES, get_attribute
from .calls import call, invoke
from .compile_names import NOTHING, NameCompiler, Store
from .names import Scope
from .operations import check_key, iterate, type_name
from .session import session
from .values import (
    UNBOUND, Builtin, Closure, Code, Function, Lazy, Parameters, Set, Type, stepwise,
)  # fmt: skip

KEPT_CALLS = 10_000
_BACKWARD_PATHS = frozenset({"grad", "backward"})


class StarredError(TypeError):
    """A value after a star that is not iterable; a call says it with its own name."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"Value after * must be an iterable, not {kind}")
        self.kind = kind


class CallCompiler(NameCompiler):
    """Calls of functions, methods and the library; what `def`, `lambda` and comprehensions make."""

    expression: Callable[[Any, Scope], Closure]
    items: Callable[[list[Any], Scope], Callable[[list[Any]], list[Any]]]
    block: Callable[[list[ast.stmt], Scope], Closure]
    target: Callable[[Any, Scope], Store]
    super_call: Callable[[ast.Call, Scope], Closure]

    # ------------------------------------------------------------ calls

    def call(self, node: ast.Call, scope: Scope) -> Closure:
        function = node.func
        if type(function) is ast.Name and function.id == "super" and not node.args:
            return self.super_call(node, scope)
        known = self.static(function, scope)
        plain = not node.keywords and not any(type(item) is ast.Starred for item in node.args)
        if type(known) is Builtin or type(known) is Type:
            target = known.function if type(known) is Builtin else known.construct
            target = self.logged(target, known, function, node)
            if plain:
                return _direct(target, [self.expression(item, scope) for item in node.args], node)
            return self.full_call(lambda frame: known, target, node, scope)
        if type(function) is ast.Attribute and known is NOTHING:
            return self.method(function, node, scope, plain)
        if known is NOTHING:
            function_of = self.expression(function, scope)
        else:
            function_of = lambda frame: known  # noqa: E731
        if plain:
            return _dynamic(function_of, self.items(node.args, scope), node)
        return self.full_call(function_of, None, node, scope)

    def logged(self, target: Any, known: Any, function: Any, node: ast.Call) -> Any:
        """torch.autograd.grad and backward leave a note of the line for the report."""
        if type(known) is not Builtin or known.name not in _BACKWARD_PATHS:
            return target

        def run(*args: Any, **kwargs: Any) -> Any:
            _note(node, args[0] if args else kwargs.get("outputs", kwargs.get("tensors")))
            return target(*args, **kwargs)

        return run

    def full_call(
        self, function_of: Closure, target: Any, node: ast.Call, scope: Scope
    ) -> Closure:
        """A call with keywords or stars; `target` is what runs where that is known already."""
        items = self.items(node.args, scope)
        keywords = [(item.arg, self.expression(item.value, scope)) for item in node.keywords]

        def run(frame: list[Any]) -> Any:
            function = function_of(frame)
            try:
                args = items(frame)
            except StarredError as error:
                raise TypeError(
                    f"{_call_name(function)} argument after * must be an iterable, not {error.kind}"
                ) from None
            kwargs: dict[str, Any] = {}
            for name, value_of in keywords:
                if name is None:
                    _unpack_keywords(kwargs, value_of(frame), function)
                elif name in kwargs:
                    raise TypeError(
                        f"{_call_name(function)} got multiple values for keyword argument '{name}'"
                    )
                else:
                    kwargs[name] = value_of(frame)
            state.origin = node
            if target is not None:
                return target(*args, **kwargs)
            return call(function, tuple(args), kwargs)

        return run

    def method(self, function: ast.Attribute, node: ast.Call, scope: Scope, plain: bool) -> Closure:
        """value.name(...): the method is found in the table of the value's type and called."""
        value_of = self.expression(function.value, scope)
        name = function.attr
        if not plain:
            place = function

            def function_of(frame: list[Any]) -> Any:
                value = value_of(frame)
                node = place
                state.origin = node
                if name == "backward":
                    _note(outer, value)
                return get_attribute(value, name)

            outer = node
            return self.full_call(function_of, None, node, scope)
        parts = [self.expression(item, scope) for item in node.args]
        if name == "backward":
            return _backward(value_of, parts, node)
        if len(parts) == 0:
            return _method_0(value_of, name, node)
        if len(parts) == 1:
            return _method_1(value_of, name, parts[0], node)
        return _method_n(value_of, name, parts, node)

    # ------------------------------------------------------------ functions

    def parameters(self, args: ast.arguments) -> Parameters:
        return Parameters(
            names=tuple([arg.arg for arg in (*args.posonlyargs, *args.args)]),
            positional_only=len(args.posonlyargs),
            any_positional=args.vararg.arg if args.vararg else None,
            keyword_only=tuple([arg.arg for arg in args.kwonlyargs]),
            any_keywords=args.kwarg.arg if args.kwarg else None,
        )

    def lay_out(self, scope: Scope, first: list[str]) -> tuple[int, ...]:
        """Slots: what calls fill, the boxes from outside, the other names. Gives the boxed ones."""
        names = [*first, *scope.free]
        names.extend(name for name in scope.bound if name not in first and scope.kind != "class")
        base = 1 if scope.kind == "class" else 0
        scope.slots = {name: place + base for place, name in enumerate(names)}
        self.sizes[scope] = len(names) + base
        return tuple([slot for name, slot in scope.slots.items() if name in scope.cells])

    def outer_boxes(self, inner: Scope, scope: Scope) -> list[int]:
        """Where the boxes lie that a new function takes along."""
        return [self.find(name, scope)[1] for name in inner.free]

    def function(
        self, node: Any, scope: Scope, name: str, doc: str | None
    ) -> Callable[[list[Any]], Function]:
        """The closure that makes the function when its `def` or `lambda` is reached."""
        inner = self.program.scopes[node]
        parameters = self.parameters(node.args)
        first = [*parameters.names, *parameters.keyword_only]
        first += [word for word in (parameters.any_positional, parameters.any_keywords) if word]
        code = Code(name, qualified_name(scope, name), parameters, doc)
        code.boxed = self.lay_out(inner, first)
        if len(first) == len(parameters.names):
            code.plain = len(first)
        if type(node) is ast.Lambda:
            code.value = self.expression(node.body, inner)
        else:
            body = node.body[1:] if doc is not None else node.body
            if len(body) == 1 and type(body[0]) is ast.Return and body[0].value is not None:
                code.value = self.expression(body[0].value, inner)
            else:
                code.block = self.block(body, inner)
        boxes = self.outer_boxes(inner, scope)
        code.locals = self.sizes[inner] - len(first) - len(boxes)
        defaults = [self.expression(item, scope) for item in node.args.defaults]
        keyword_defaults = [
            (arg.arg, self.expression(item, scope))
            for arg, item in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            if item is not None
        ]

        def make(frame: list[Any]) -> Function:
            return Function(
                code,
                tuple([default(frame) for default in defaults]),
                {key: default(frame) for key, default in keyword_defaults},
                [frame[slot] for slot in boxes],
            )

        return make

    def lambda_(self, node: ast.Lambda, scope: Scope) -> Closure:
        return self.function(node, scope, "<lambda>", None)

    # ------------------------------------------------------------ comprehensions

    def list_comprehension(self, node: ast.ListComp, scope: Scope) -> Closure:
        inner, fresh = self.comprehension_scope(node, scope)
        simple = self.simple_list(node, scope, inner, fresh)
        if simple is not None:
            return simple
        walk = self.levels(node, scope, inner, self.element_to(node.elt, inner, list.append))
        return _gathered(walk, list, fresh, node)

    def set_comprehension(self, node: ast.SetComp, scope: Scope) -> Closure:
        inner, fresh = self.comprehension_scope(node, scope)

        def add(out: Set, item: Any) -> None:
            check_key(item)
            out.add(item)

        walk = self.levels(node, scope, inner, self.element_to(node.elt, inner, add))
        return _gathered(walk, Set, fresh, node)

    def dict_comprehension(self, node: ast.DictComp, scope: Scope) -> Closure:
        inner, fresh = self.comprehension_scope(node, scope)
        key_of, value_of = self.expression(node.key, inner), self.expression(node.value, inner)

        def put(frame: list[Any], out: dict[Any, Any]) -> None:
            key = key_of(frame)
            check_key(key)
            out[key] = value_of(frame)

        return _gathered(self.levels(node, scope, inner, put), dict, fresh, node)

    def comprehension_scope(self, node: Any, scope: Scope) -> tuple[Scope, list[int]]:
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
        if len(node.generators) > 1 or generator.ifs or fresh or type(generator.target) is not ast.Name:
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
        size = self.sizes

        def walk(frame: list[Any], place: int, items: Iterator[Any]) -> Iterator[Any]:
            _, store, conditions = levels[place]
            budget = session.budget
            inner_items: Iterator[Any] = iter(())
            value: Any = None
            for item in stepwise(items):
                budget.enter()  # the element may ask another generator, and that one the next
                try:
                    store(frame, item)
                    if conditions and not all([test(frame) for test in conditions]):
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
            return Lazy("generator", walk(own, 0, iterate(first)))

        return run


def qualified_name(scope: Scope, name: str) -> str:
    """`outer.<locals>.inner`, as Python's messages have it."""
    parts = [name]
    current: Scope | None = scope
    while current is not None and current.kind != "module":
        if current.kind == "class":
            parts.append(current.node.name)  # type: ignore[attr-defined]
        elif current.kind == "function":
            parts.append("<locals>")
            parts.append(getattr(current.node, "name", "<lambda>"))
        current = current.parent
    return ".".join(reversed(parts))


def _level(items_of: Closure, store: Store, conditions: list[Closure], walk: Any, place: Any) -> Any:
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
            for condition in conditions:
                if not condition(frame):
                    break
            else:
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


# ---------------------------------------------------------------- calls, one closure each


def _direct(function: Callable[..., Any], parts: list[Closure], node: ast.Call) -> Closure:
    """A call of something that no statement can change: no look-up when it runs."""
    if len(parts) == 1:
        (only,) = parts

        def run_1(frame: list[Any]) -> Any:
            a = only(frame)
            state.origin = node
            return function(a)

        return run_1
    if len(parts) == 2:
        first, second = parts

        def run_2(frame: list[Any]) -> Any:
            a = first(frame)
            b = second(frame)
            state.origin = node
            return function(a, b)

        return run_2

    def run(frame: list[Any]) -> Any:
        args = [part(frame) for part in parts]
        state.origin = node
        return function(*args)

    return run


def _dynamic(function_of: Closure, items: Callable[[list[Any]], list[Any]], node: ast.Call) -> Closure:
    def run(frame: list[Any]) -> Any:
        function = function_of(frame)
        args = tuple(items(frame))
        state.origin = node
        if type(function) is Function:
            return invoke(function, args, {})
        return call(function, args, {})

    return run


def _method_0(value_of: Closure, name: str, node: ast.Call) -> Closure:
    def run(frame: list[Any]) -> Any:
        value = value_of(frame)
        state.origin = node
        try:
            method = TABLES[type(value)].methods[name]
        except KeyError:
            return call(get_attribute(value, name), (), {})
        return method(value)

    return run


def _method_1(value_of: Closure, name: str, part: Closure, node: ast.Call) -> Closure:
    def run(frame: list[Any]) -> Any:
        value = value_of(frame)
        try:
            method = TABLES[type(value)].methods[name]
        except KeyError:
            function = _found(value, name, node)
            argument = part(frame)
            state.origin = node
            return call(function, (argument,), {})
        argument = part(frame)
        state.origin = node
        return method(value, argument)

    return run


def _method_n(value_of: Closure, name: str, parts: list[Closure], node: ast.Call) -> Closure:
    def run(frame: list[Any]) -> Any:
        value = value_of(frame)
        try:
            method = TABLES[type(value)].methods[name]
        except KeyError:
            function = _found(value, name, node)
            args = tuple([part(frame) for part in parts])
            state.origin = node
            return call(function, args, {})
        args = [part(frame) for part in parts]
        state.origin = node
        return method(value, *args)

    return run


def _backward(value_of: Closure, parts: list[Closure], node: ast.Call) -> Closure:
    def run(frame: list[Any]) -> Any:
        value = value_of(frame)
        function = _found(value, "backward", node)
        args = tuple([part(frame) for part in parts])
        _note(node, value)
        state.origin = node
        return call(function, args, {})

    return run


def _found(value: Any, name: str, node: ast.AST) -> Any:
    state.origin = node
    return get_attribute(value, name)


def _note(node: ast.AST, value: Any) -> None:
    calls = session.backward_calls
    if len(calls) < KEPT_CALLS:
        calls.append((node, id(value) if type(value) is Tensor else None))


def _unpack_keywords(kwargs: dict[str, Any], value: Any, function: Any) -> None:
    if type(value) is not dict:
        raise TypeError(
            f"{_call_name(function)} argument after ** must be a mapping, not {type_name(value)}"
        )
    for key, item in value.items():
        session.budget.charge(1)
        if type(key) is not str:
            raise TypeError("keywords must be strings")
        if key in kwargs:
            raise TypeError(f"{_call_name(function)} got multiple values for keyword argument '{key}'")
        kwargs[key] = item


def _call_name(function: Any) -> str:
    name = function.code.qualified if type(function) is Function else getattr(function, "name", None)
    return f"__main__.{name}()" if type(function) is Function else f"{name or type_name(function)}()"
