"""language: how a call of a program's class makes an object."""

from __future__ import annotations

from typing import Any

from ...autograd.function import Function as HostFunction
from ..attributes import MISSING
from ..calls import call
from ..operations import type_name
from ..values import Builtin, ErrorValue, stands_for
from . import FUNCTIONS, ClassValue, is_instance, kind_of
from .instances import is_base, not_made


def construct(kind: ClassValue, *args: Any, **kwargs: Any) -> Any:
    """Net(...)"""
    calling = MISSING if kind.meta is None else kind.meta.find("__call__")
    if calling is not MISSING:
        return call(calling, (kind, *args), kwargs)
    return constructed(kind, *args, **kwargs)


def constructed(kind: ClassValue, *args: Any, **kwargs: Any) -> Any:
    """type.__call__(Net, ...)"""
    if kind.make is not None:
        return kind.make(kind, *args, **kwargs)
    if kind.abstract:
        raise TypeError(not_made(kind))
    if kind.native in FUNCTIONS:
        function: Any = HostFunction()  # which only can be applied, as its class can
        function.apply, function.OFFERS = FUNCTIONS[kind.native](kind), ("apply",)
        return Builtin(kind.name, function)
    making = kind.find("__new__")
    if making is MISSING:
        value = made(kind, *args, **kwargs)
    else:
        value = call(getattr(making, "function", making), (kind, *args), kwargs)
        if not is_instance(value) or not kind_of(value).is_below(kind):
            return value
    start = kind.find("__init__")
    if start is not MISSING:
        answer = call(start, (value, *args), kwargs)
        if answer is not None:
            raise TypeError(f"__init__() should return None, not '{type_name(answer)}'")
    elif is_base(kind.native):
        kind.native.__init__(value, *args, **kwargs)
    elif kwargs and kind.kind is not None:
        raise TypeError(f"{kind.name}() takes no keyword arguments")
    elif (args or kwargs) and kind.kind is None and kind.content is None and making is MISSING:
        raise TypeError(f"{kind.name}() takes no arguments")
    return value


def made(kind: ClassValue, *args: Any, **kwargs: Any) -> Any:
    """An object of the class before its __init__ runs: what __new__ returns."""
    if kind.kind is not None:
        return ErrorValue(kind.kind, args)
    assert kind.host is not None
    value: Any = kind.host(kind)
    if kind.content is not None:
        base = kind.order[-1].table
        filled = () if "__init__" in base else (*map(stands_for, args),)
        value.content = kind.content.construct(*filled, **(kwargs if "_fields" in base else {}))
    return value
