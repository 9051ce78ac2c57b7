"""language: classes of the program that build on torch.autograd.Function, and their contexts."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...autograd.function import Function as HostFunction, FunctionContext, FunctionNode
from ..adoption import VALUES
from ..attributes import KEPT_BYTES, MISSING, SPECIAL, SPECIAL_SET, get_attribute, missing
from ..calls import call
from ..members import TABLES, Members
from ..session import session
from ..values import Bound, Function
from . import FUNCTIONS, ClassValue
from .instances import ClassMethod, StaticMethod


class _Adapter:
    """What autograd.Function.apply needs of a class: its name and its functions."""

    def __init__(self, kind: ClassValue) -> None:
        self.__name__ = kind.name
        for name in ("forward", "backward", "setup_context", "vjp", "jvp", "vmap"):
            found = kind.find(name)
            plain = found.function if type(found) is StaticMethod else found
            if type(found) is ClassMethod:
                plain = Bound(name, kind, found.function)
            setattr(self, name, getattr(HostFunction, name) if found is MISSING else _Called(plain))
        rule = kind.find("generate_vmap_rule")
        self.generate_vmap_rule = rule is not MISSING and bool(rule)
        self.run = functools.partial(HostFunction.run.__func__, self)  # type: ignore[attr-defined]

    def bound(self, function: Any, args: Any, kwargs: Any) -> tuple[Any, ...]:
        return (*args, *_defaults(function.function, len(args), kwargs))


def _defaults(function: Any, count: int, kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """What is in the places behind the first `count` positional arguments."""
    if type(function) is not Function:
        return tuple(kwargs.values())
    names = function.code.parameters.names
    given = dict(zip(names[len(names) - len(function.defaults) :], function.defaults, strict=True))
    given.update(kwargs)
    return tuple(given[name] for name in names[count:] if name in given)


class _Called:
    """A function of the program for the host to call."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return call(self.function, args, kwargs)


def _applied(kind: ClassValue) -> Callable[..., Any]:
    apply: Any = HostFunction.apply
    return lambda *args, **kwargs: apply.__func__(_Adapter(kind), *args, **kwargs)


def _context_attribute(value: FunctionContext, name: str) -> Any:
    if name in value.kept:
        return value.kept[name]
    raise missing(value, name)


def _node_attribute(value: FunctionNode, name: str) -> Any:
    """A node that a program's function made is its context too."""
    if name == "saved_tensors":
        return value.saved_tensors
    return get_attribute(value.context, name)


def _set_context(value: FunctionContext, name: str, new: Any) -> None:
    if name.startswith("__") or name in _READ_ONLY:
        raise AttributeError(f"'{name}' belongs to the context")
    session.budget.charge_bytes(KEPT_BYTES)
    value.kept[name] = new


FUNCTIONS[HostFunction] = _applied
SPECIAL[FunctionContext] = _context_attribute
SPECIAL[FunctionNode] = _node_attribute
SPECIAL_SET[FunctionContext] = _set_context
TABLES[FunctionContext] = Members(
    {name: getattr(FunctionContext, name) for name in (
        "save_for_backward", "save_for_forward", "mark_non_differentiable", "mark_dirty",
        "set_materialize_grads")},
    {"saved_tensors": lambda context: context.saved_tensors,
     "needs_input_grad": lambda context: context.needs_input_grad,
     "materialize_grads": lambda context: context.materialize_grads},
    {"materialize_grads": lambda context, value: context.set_materialize_grads(bool(value))},
)  # fmt: skip
_READ_ONLY = {*TABLES[FunctionContext].methods, *TABLES[FunctionContext].properties}
VALUES.add(FunctionContext)
