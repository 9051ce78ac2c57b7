"""language: compiles class statements to closures."""

from __future__ import annotations

import ast
from typing import Any

from ...engine.schema.mode import state
from ..calls import call
from ..classes import (
    function_classes,  # noqa: F401 - lets classes build on torch.autograd.Function
    protocols,  # noqa: F401 - what objects of these classes answer
)
from ..classes.making import Parts, above, made_class
from ..classes.superclasses import Super
from ..names import CLASS, Scope
from ..values import UNBOUND, Closure
from .calls import CallCompiler, qualified_name


class ClassCompiler(CallCompiler):
    """`class Net(nn.Module)` and plain classes."""

    def class_statement(self, node: ast.ClassDef, scope: Scope) -> Closure:
        inner = self.program.scopes[node]
        bases = self.items(list(node.bases), scope)
        given = [(part.arg, self.expression(part.value, scope)) for part in node.keywords]
        store = self.store(node.name, scope, node)
        self.lay_out(inner, [])
        boxes = self.outer_boxes(inner, scope)
        cell = inner.slots.get(CLASS)  # what super() asks for: the class that this run makes
        doc = ast.get_docstring(node, clean=False)
        body = self.block(node.body[1:] if doc is not None else node.body, inner)
        qualified = qualified_name(scope, node.name)
        sizes = self.sizes
        fields = _fields(node)
        decorators = [(self.expression(item, scope), item) for item in node.decorator_list]

        def run(frame: list[Any]) -> None:
            wrapping = [(decorator(frame), item) for decorator, item in decorators]
            found = above(bases(frame))
            named: dict[str, Any] = {}
            for word, value_of in given:
                named.update(value_of(frame) if word is None else {word: value_of(frame)})
            own: list[Any] = [{}, *[frame[slot] for slot in boxes]]
            own += [UNBOUND] * (sizes[inner] - len(own))
            made: list[Any] = [UNBOUND]
            if cell is not None:
                own[cell] = made
            body(own)
            state.origin = node
            value = made_class(Parts(node.name, qualified, found, own[0], doc, fields, made), named)
            for decorator, item in reversed(wrapping):
                state.origin = item
                value = call(decorator, (value,), {})
            store(frame, value)

        return run

    def super_call(self, node: ast.Call, scope: Scope) -> Closure:
        """super() without arguments: the class around the method, and its first argument."""
        function = scope
        while function.kind == "comprehension" and function.parent is not None:
            function = function.parent
        around = function.parent
        if function.kind != "function" or around is None or around.kind != "class":
            return self.expression_of_error(node)
        class_of = self.load(CLASS, scope, node)
        boxed = _first_parameter(function) in function.cells

        def run(frame: list[Any]) -> Super:
            state.origin = node
            first = frame[0]
            return Super(class_of(frame), first[0] if boxed else first)

        return run

    def expression_of_error(self, node: ast.Call) -> Closure:
        def run(frame: list[Any]) -> Any:
            state.origin = node
            raise RuntimeError("super(): no arguments")

        return run


def _fields(node: ast.ClassDef) -> dict[str, str]:
    """The names that the body annotates, and how: what dataclasses and named tuples are made of."""
    return {
        item.target.id: ast.unparse(item.annotation)
        for item in node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    }


def _first_parameter(scope: Scope) -> str:
    return next(iter(scope.slots), "")
