"""language: functools.singledispatch and partialmethod: functions that a class chooses."""

from __future__ import annotations

import ast
from typing import Any

from ...engine.tensors.tensor import Tensor
from ..builtins.prelude import PRELUDE
from ..builtins.types import host_type, is_class, is_subclass, type_of
from ..calls import call, is_callable
from ..classes.instances import Property
from ..session import session
from ..values import Bound, Builtin, Function
from .callables import FUNCTOOLS, partial
from .publishing import functions


class _Dispatched:
    """A function with others for the classes of its first argument."""

    OFFERS = ("register", "dispatch")

    def __init__(self, function: Any) -> None:
        self.of: dict[Any, Any] = {PRELUDE["object"]: function}
        self.name = function.name if type(function) is Function else "function"

    def register(self, cls: Any, func: Any = None) -> Any:
        if func is None and type(cls) is Function:
            return self.register(_annotated(cls), cls)
        if not is_class(cls):
            raise TypeError("Invalid first argument to `register()`: a class is expected")
        if func is None:
            return Builtin("register", lambda function: self.register(cls, function))
        session.budget.charge_bytes(200)
        self.of[cls] = func
        return func

    def dispatch(self, cls: Any) -> Any:
        """The function of the nearest class above."""
        above = [kind for kind in self.of if is_subclass(cls, kind)]
        session.budget.charge(len(self.of) + len(above) ** 2)
        nearest = next(
            kind for kind in reversed(above)
            if not any(other is not kind and is_subclass(other, kind) for other in above)
        )  # fmt: skip
        return self.of[nearest]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not args:
            raise TypeError(f"{self.name} requires at least 1 positional argument")
        return call(self.dispatch(type_of(args[0])), args, kwargs)


def _annotated(function: Function) -> Any:
    """The class that a function's first parameter is annotated with: of Python, or a tensor."""
    scope = function.code.scope
    node = None if scope is None else scope.node
    given = node.args.args[0].annotation if isinstance(node, ast.FunctionDef) else None
    name = "" if given is None else ast.unparse(given)
    if name in ("Tensor", "torch.Tensor"):
        return host_type(Tensor)
    found = PRELUDE.get(name)
    if not is_class(found):
        raise TypeError(f"register() takes the class here: @{function.name}.register({name})")
    return found


def single_dispatch(func: Any) -> Builtin:
    work = _Dispatched(func)
    wraps = func if type(func) is Function else None
    return Builtin(work.name, work, f"<function {work.name}>", wraps)


def partial_method(func: Any, /, *args: Any, **keywords: Any) -> Property:
    if not is_callable(func):
        raise TypeError(f"{func!r} is not callable or a descriptor")
    return Property(Builtin("partialmethod", lambda owner: partial(
        Bound("partialmethod", owner, func), *args, **keywords)))  # fmt: skip


MODULES: dict[str, dict[str, Any]] = {
    "functools": {
        **FUNCTOOLS, **functions({"singledispatch": single_dispatch}),
        "partialmethod": Builtin("partialmethod", partial_method),
    },
}  # fmt: skip
