"""language: compiles calls, functions and comprehensions to closures."""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from weakref import ref

from ...engine.schema.mode import state
from ...engine.tensors.tensor import Tensor
from ..attributes import get_attribute
from ..builtins.containers import as_mapping
from ..builtins.prelude import PRELUDE
from ..calls import call, invoke
from ..members import TABLES
from ..names import CLASS, Scope
from ..operations import type_name
from ..program import is_global
from ..session import session
from ..values import (
    Builtin,
    Closure,
    Code,
    Function,
    Parameters,
    Type,
    stands_for,
)  # fmt: skip
from .names import NOTHING, NameCompiler, Store

KEPT_CALLS = 10_000
NAMESPACES = frozenset({"globals", "locals", "vars", "dir"})
NAMELESS = (ast.ClassDef, ast.GeneratorExp)  # blocks whose names these functions don't give
OF_MODULES = ("__name__", "__doc__", "__file__")  # what Python puts into a module
NAME_BYTES = 100  # what a name takes in a dictionary
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
    generator_function: Callable[[list[ast.stmt], Scope, str], Closure]

    # ------------------------------------------------------------ calls

    def call(self, node: ast.Call, scope: Scope) -> Closure:
        function = node.func
        if type(function) is ast.Name and function.id == "super" and not node.args:
            return self.super_call(node, scope)
        if type(function) is ast.Name and function.id in NAMESPACES:
            names = self.names_of(function.id, node, scope)
            if names is not None:
                return names
        known = self.static(function, scope)
        plain = not node.keywords and not any(type(item) is ast.Starred for item in node.args)
        if type(known) is Builtin or type(known) is Type:
            target = known.construct if isinstance(known, Type) else known.function
            target = self.logged(target, known, node)
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

    def names_of(self, function: str, node: ast.Call, scope: Scope) -> Closure | None:
        """globals(), locals(), vars() or dir(): a new dictionary, or list, of names; None for
        another call."""
        own = function in self.dynamic or not is_global(scope, function)
        within = self.module if function == "globals" else scope.host
        if own or node.args or node.keywords or isinstance(within.node, NAMELESS):
            return None
        table_of = self.globals_of if within is self.module else self.locals_of(node, within)
        return table_of if function != "dir" else lambda frame: sorted(table_of(frame))

    def globals_of(self, frame: list[Any]) -> dict[str, Any]:
        """A new dictionary of the names of the module, and of what Python puts there."""
        values = self.globals.values
        session.budget.charge(len(values) + len(OF_MODULES))
        session.budget.charge_bytes(NAME_BYTES * (len(values) + len(OF_MODULES)))
        return {name: PRELUDE[name] for name in OF_MODULES} | values

    def locals_of(self, node: ast.AST, scope: Scope) -> Closure:
        """locals() in a function: a new dictionary of what its names stand for, in Python's order:
        parameters, names that only it uses, those that functions inside use, those from around."""
        given: ast.arguments = scope.node.args  # type: ignore[attr-defined]
        starred = [star for star in (given.vararg, given.kwarg) if star is not None]
        every = (*given.posonlyargs, *given.args, *given.kwonlyargs, *starred)
        own = sorted(scope.bound, key=lambda name: name in scope.cells)
        names = dict.fromkeys((*[item.arg for item in every], *own, *scope.free))
        read = [(name, self.load(name, scope, node)) for name in names]

        def run(frame: list[Any]) -> dict[str, Any]:
            session.budget.charge(len(read))
            session.budget.charge_bytes(NAME_BYTES * len(read))
            found = {}
            for name, value_of in read:
                with suppress(NameError):  # not bound yet
                    found[name] = value_of(frame)
            return found

        return run

    def logged(self, target: Any, known: Any, node: ast.Call) -> Any:
        """torch.autograd.grad and backward leave a note of the line for the report."""
        if type(known) is not Builtin or known.name not in _BACKWARD_PATHS:
            return target

        def run(*args: Any, **kwargs: Any) -> Any:
            _note(node, args[0] if args else kwargs.get("outputs", kwargs.get("tensors")))
            return target(*args, **kwargs)

        return run

    def full_call(self, function_of: Closure, target: Any, node: ast.Call, scope: Scope) -> Closure:
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
        if scope.kind != "class":
            filled = frozenset(first)
            names.extend([name for name in scope.bound if name not in filled])
        elif CLASS in scope.cells:
            names.append(CLASS)
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
        code.boxed, code.scope = self.lay_out(inner, first), inner
        if len(first) == len(parameters.names):
            code.plain = len(first)
        if type(node) is ast.Lambda:
            code.value = self.expression(node.body, inner)
        else:
            body = node.body[1:] if doc is not None else node.body
            if inner.yields:
                code.block = self.generator_function(body, inner, code.qualified)
            elif len(body) == 1 and type(body[0]) is ast.Return and body[0].value is not None:
                code.value = self.expression(body[0].value, inner)
            else:
                code.block = self.block(body, inner)
        if self.globals.on_local is not None:
            _tell_arguments(code, inner, self.globals.on_local)
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


def _tell_arguments(code: Code, scope: Scope, on_local: Callable[[Scope, str, Any], None]) -> None:
    """A function that says what its parameters are bound to before its body runs."""
    run: Any = code.value or code.block
    parameters = code.parameters
    names = [*parameters.names, *parameters.keyword_only]
    if parameters.any_positional is not None:
        names.append(parameters.any_positional)
    places = [(name, scope.slots[name]) for name in names]

    def told(frame: list[Any]) -> Any:
        for name, slot in places:
            on_local(scope, name, frame[slot][0] if slot in code.boxed else frame[slot])
        return run(frame)

    if code.value is not None:
        code.value = told
    else:
        code.block = told


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


def _dynamic(
    function_of: Closure, items: Callable[[list[Any]], list[Any]], node: ast.Call
) -> Closure:
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
            method = TABLES[type(value)].direct[name]
        except KeyError:
            return call(get_attribute(value, name), (), {})
        return method(value)

    return run


def _method_1(value_of: Closure, name: str, part: Closure, node: ast.Call) -> Closure:
    def run(frame: list[Any]) -> Any:
        value = value_of(frame)
        try:
            method = TABLES[type(value)].direct[name]
        except KeyError:
            function = _method_of(value, name, node)
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
            method = TABLES[type(value)].direct[name]
        except KeyError:
            function = _method_of(value, name, node)
            args = tuple([part(frame) for part in parts])
            state.origin = node
            return call(function, args, {})
        found = [part(frame) for part in parts]
        state.origin = node
        return method(value, *found)

    return run


def _backward(value_of: Closure, parts: list[Closure], node: ast.Call) -> Closure:
    def run(frame: list[Any]) -> Any:
        value = value_of(frame)
        function = _method_of(value, "backward", node)
        args = tuple([part(frame) for part in parts])
        _note(node, value)
        state.origin = node
        return call(function, args, {})

    return run


def _method_of(value: Any, name: str, node: ast.AST) -> Any:
    state.origin = node
    return get_attribute(value, name)


def _note(node: ast.AST, value: Any) -> None:
    calls = session.backward_calls
    if len(calls) < KEPT_CALLS:
        # Weakly: the id of a tensor that is gone would soon be another's.
        calls.append((node, ref(value) if type(value) is Tensor else None))


def _unpack_keywords(kwargs: dict[str, Any], value: Any, function: Any) -> None:
    held = as_mapping(value)
    if held is None:
        kind = type_name(stands_for(value))
        raise TypeError(f"{_call_name(function)} argument after ** must be a mapping, not {kind}")
    for key, item in held.items():
        session.budget.charge(1)
        if type(key) is not str:
            raise TypeError("keywords must be strings")
        if key in kwargs:
            raise TypeError(
                f"{_call_name(function)} got multiple values for keyword argument '{key}'"
            )
        kwargs[key] = item


def _call_name(function: Any) -> str:
    name = (
        function.code.qualified if type(function) is Function else getattr(function, "name", None)
    )
    return (
        f"__main__.{name}()" if type(function) is Function else f"{name or type_name(function)}()"
    )
