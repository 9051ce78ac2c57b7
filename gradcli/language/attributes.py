"""language: the one door to an attribute: tables by exact type, never getattr.

Reading: a name is in the table of its type, or the program itself put it there. Writing goes
through the same tables; a name that the program invents is kept beside the object, where no code of
the library looks. So what the library reads of its own objects is what the library wrote, but for
the names that a class publishes in TAKES.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..engine.graph.node import Node
from ..engine.tensors.invented_names import keep, kept_on
from ..engine.tensors.tensor import Tensor
from ..namespace.absent import absence
from ..nn.derived import derived
from ..nn.module import Module, is_part
from ..nn.registered import HOOKS, RESERVED, TABLES as PARTS, Contents, Hooks, Registered
from .adoption import adopt
from .builtins.types import type_of
from .grammar import OF_OWN_CLASSES, is_foreign, is_invented
from .libraries import TENSORS, publishes
from .members import TABLES, Members, members_of, members_of_type
from .modules import REAL, refused_name
from .names import suggest_member, suggestion
from .operations import (
    DICTS,
    SUBSCRIPTABLE,
    contains,
    get_item,
    length,
    set_item,
    type_handlers,
    type_name,
)
from .session import session
from .values import Bound, Builtin, Function, Namespace, Type, stands_for

KEPT_BYTES = 256
MISSING: Any = object()


class MissingAttribute(AttributeError):
    """An AttributeError that knows the nearest attribute that is there.

    Most are caught, so it looks for that when it is asked.
    """

    look: Callable[[], str | None] | None = None
    instead: str | None = None  # the advice for a name that is left out on purpose

    @property
    def near(self) -> str | None:
        return None if self.look is None else self.look()


def missing(value: Any, name: str, message: str | None = None) -> MissingAttribute:
    """The error of an attribute that is in no table, in Python's words."""
    if is_foreign(name) or name in OF_OWN_CLASSES:
        return MissingAttribute(f"the attribute {name!r} is not part of the language")
    home = value.path if type(value) is Namespace else ""
    absent = absence("torch.Tensor" if _is_tensor(value) else home, name)
    error = MissingAttribute(absent or message or _no_attribute(value, name))
    if absent is not None:
        error.instead = f"help: {REAL}"
    elif home:
        error.instead = refused_name(home, name)
        error.look = partial(suggest_member, home, name)
    else:
        error.look = partial(_near_member, members_of(value), name)
    return error


def _is_tensor(value: Any) -> bool:
    """Also one of PyTorch, where a program runs against it."""
    return isinstance(value, Tensor) or any(
        (kind.__module__, kind.__name__) == ("torch", "Tensor") for kind in type(value).__mro__
    )


def _near_member(members: Members, name: str) -> str | None:
    return suggestion(name, sorted({*members.methods, *members.properties}))


def _no_attribute(value: Any, name: str) -> str:
    if type(value) is Type:
        return f"type object '{value.in_messages}' has no attribute '{name}'"
    if type(value) is Namespace:
        return f"module '{value.path}' has no attribute '{name}'"
    owner = value.name().split("::")[-1] if isinstance(value, Node) else type_name(value)
    return f"'{owner}' object has no attribute '{name}'"


# ---------------------------------------------------------------- reading


def get_attribute(value: Any, name: str) -> Any:
    """value.name"""
    members = TABLES.get(type(value)) or members_of(value)
    read = members.properties.get(name)
    if read is not None:
        return read(value)
    if members.keeps and name in (kept := kept_on(value)):
        return kept[name]
    method = members.methods.get(name)
    if method is not None:
        if type(value) in TENSORS and name in kept_on(value):  # `x.requires_grad_ = True`
            return kept_on(value)[name]
        return Bound(name, value, method) if name not in members.statics else Builtin(name, method)
    special = SPECIAL.get(type(value))
    if special is not None:
        return special(value, name)
    if isinstance(value, Node):
        return _saved(value, name)
    if members.keeps:
        part = part_of(value, name)
        if part is not MISSING:
            return part
    elif type(value) in TENSORS and name in kept_on(value):
        return kept_on(value)[name]
    return _universal(value, name)


def part_of(value: Any, name: str) -> Any:
    """A parameter, buffer or module that a module of nn has registered, or computes of them."""
    own = value.__dict__
    for table in PARTS:
        if name in (own.get(table) or ()):
            return own[table][name]
    if name in PARTS and own.get(name) is not None:
        return Registered(value, name)
    if name in HOOKS:
        return Hooks(value, name)
    computed = derived(value, name)
    return MISSING if computed is None else adopt(computed)


SPECIAL: dict[type, Callable[[Any, str], Any]] = {}
SPECIAL_SET: dict[type, Callable[[Any, str, Any], None]] = {}
SPECIAL_DELETE: dict[type, Callable[[Any, str], None]] = {}


def _saved(node: Node, name: str) -> Any:
    """`_saved_self` and the like: the names that the node itself lists."""
    plain = name.removeprefix("_raw").removeprefix("_saved_")
    if name.startswith(("_saved_", "_raw_saved_")):
        listed = node.saved_names()
        if plain in listed or f"_saved_{plain}" in listed:
            return getattr(node, name)
    return _universal(node, name)


# What programs take from containers as functions: `key=lengths.__getitem__`; how a walk begins
# comes from the iterators' room.
PROTOCOLS: dict[str, Callable[..., Any]] = {
    "__getitem__": get_item, "__setitem__": set_item, "__contains__": contains,
    "__len__": length,
}  # fmt: skip


def _universal(value: Any, name: str) -> Any:
    if type(value) is Builtin and value.wraps is not None and name == "__doc__":
        return value.wraps.doc
    if name == "__class__":
        return type_of(value)
    if name == "__dict__" and isinstance(value, Module):
        return contents_of(value, members_of(value))
    if name == "__doc__":
        return value.doc if type(value) is Function else None
    if name in PROTOCOLS and (type(value) in SUBSCRIPTABLE or type(value) in DICTS):
        return Bound(name, value, PROTOCOLS[name])
    method = type_handlers.inherited(value, name)
    if method is not None:
        return Bound(name, value, method)
    raise missing(value, name)


# ---------------------------------------------------------------- writing


def set_attribute(value: Any, name: str, new: Any) -> None:
    """value.name = new"""
    members = members_of(value)
    special = SPECIAL_SET.get(type(value))
    if special is None and members.keeps:
        set_on_library(value, members, name, new)
    elif name in members.settable:
        members.settable[name](value, new)
    elif special is not None:
        special(value, name, new)
    elif name in members.properties:
        owner = "torch._C.TensorBase" if type(value) in TENSORS else type_name(value)
        raise AttributeError(f"attribute '{name}' of '{owner}' objects is not writable")
    elif name in members.methods and type(value) not in TENSORS:
        raise AttributeError(f"'{type_name(value)}' object attribute '{name}' is read-only")
    elif type(value) not in TENSORS or name.startswith("__"):
        raise missing(value, name)
    else:
        _keep(value, name, new)


def set_on_library(value: Any, members: Members, name: str, new: Any) -> None:
    """The same for an object of nn, optim or utils; `members` is the table of its class."""
    if name in RESERVED or (name.startswith("__") and not is_invented(name)):
        raise AttributeError(f"'{name}' belongs to '{type_name(value)}' and can't be set")
    for base, register in REGISTRARS.items():
        if isinstance(value, base) and register(value, members, name, new):
            return
    if name in members.settable:
        members.settable[name](value, new)
    elif name in members.properties:
        raise AttributeError(f"property '{name}' of '{type_name(value)}' object has no setter")
    else:
        _keep(value, name, new)


def _register(value: Module, members: Members, name: str, new: Any) -> bool:
    """Parameters, buffers and modules go into the tables of a module; False for other values."""
    if is_part(new):
        if name in value.__dict__ and name not in members.settable:
            raise AttributeError(f"'{name}' belongs to '{type_name(value)}' and can't be set")
        value.__dict__.pop(name, None)  # from now on it is in a table
    return type(value)._registered(value, name, new)


# Whose objects hold other objects in tables, and how one gets there.
REGISTRARS: dict[type, Callable[[Any, Members, str, Any], bool]] = {Module: _register}


def contents_of(value: Module, members: Members) -> Contents:
    """value.__dict__: no parameter or module is registered by it, all else is set as ever."""

    def write(name: str, new: Any) -> None:
        if name in value.__dict__ and name not in members.settable:
            raise AttributeError(f"'{name}' belongs to '{type_name(value)}' and can't be set")
        if is_part(new):
            _keep(value, name, new)
        else:
            set_on_library(value, members, name, new)

    return Contents(value, write)


def _keep(value: Any, name: str, new: Any) -> None:
    session.budget.charge_bytes(KEPT_BYTES)
    keep(value, name, new)


def delete_attribute(value: Any, name: str) -> None:
    """del value.name"""
    special = SPECIAL_DELETE.get(type(value))
    if special is not None:
        special(value, name)
    elif type(value) in TENSORS and name == "grad":
        value.grad = None
    elif (type(value) in TENSORS or members_of(value).keeps) and name in kept_on(value):
        del kept_on(value)[name]
    elif members_of(value).keeps:
        delete_from_library(value, members_of(value), name)
    else:
        raise missing(value, name)


def delete_from_library(value: Any, members: Members, name: str) -> None:
    """A part of a module, or a setting of any object of the library."""
    own = value.__dict__
    for table in (own.get(part) for part in PARTS):
        if table and name in table:
            del table[name]
            return
    if name not in members.settable or name not in own:
        raise missing(value, name)
    del own[name]


# ---------------------------------------------------------------- namespaces, types, functions


def _type_attribute(value: Type, name: str) -> Any:
    """`torch.Tensor.exp`, `int.__name__`, `dict.fromkeys`"""
    if name in ("__name__", "__qualname__"):
        return value.name
    if name == "__module__":
        return value.module or "builtins"
    static = STATICS.get((value.name, name))
    if static is not None:
        return Builtin(name, static)
    hosts = value.host if isinstance(value.host, tuple) else (value.host,)
    members = TABLES.get(hosts[0])
    if members is None and publishes(hosts[0]):
        members = members_of_type(hosts[0])
    if members is not None and name in members.constants:
        return members.constants[name]
    if members is not None and name in members.statics:
        return Builtin(name, members.statics[name])
    if members is not None and name in members.methods:
        method = members.methods[name]
        text = _text_of_method(value, hosts[0], name)
        run = _of_its_type(value, name, method) if members.keeps else _of_content(method)
        return Builtin(name, run, text)
    above = type_handlers.inherited_from(hosts[0], name) if publishes(hosts[0]) else None
    if above is not None:
        return Builtin(name, _of_its_type(value, name, above))
    return _universal(value, name)


def _text_of_method(value: Type, host: Any, name: str) -> str:
    """PyTorch has most methods of a tensor in C, and those of modules in Python."""
    if host is Tensor:
        return f"<method '{name}' of 'torch._C.TensorBase' objects>"
    if isinstance(host, type) and issubclass(host, Module):
        maker = next((part for part in host.__mro__ if name in part.__dict__), host)
        return f"<function {maker.__name__}.{name}>"
    return f"<method '{name}' of '{value.name}' objects>"


def _of_content(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method taken from dict and its like: an object of a class beneath it is what it holds."""
    return lambda *args, **kwargs: method(*map(stands_for, args[:1]), *args[1:], **kwargs)


def _of_its_type(owner: Type, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """A method taken from a class of the library: the object it is called on is of that class."""

    def run(*args: Any, **kwargs: Any) -> Any:
        if args and not isinstance(args[0], owner.host):
            raise TypeError(
                f"descriptor '{name}' for '{owner.name}' objects doesn't apply to a "
                f"'{type_name(args[0])}' object"
            )
        return method(*args, **kwargs)

    return run


STATICS: dict[tuple[str, str], Callable[..., Any]] = {}


def _named(value: Any, name: str) -> Any:
    if type(value) is Function and name in value.table:
        return value.table[name]
    if name in ("__name__", "__qualname__"):
        if name == "__qualname__" and type(value) is Function:
            return value.code.qualified
        return value.name
    if type(value) is Function and name in OF_FUNCTIONS:
        return OF_FUNCTIONS[name](value)
    if type(value) is Bound and type(value.function) is Function:
        if name in ("__self__", "__func__"):
            return value.owner if name == "__self__" else value.function
    if type(value) is Builtin and name == "__wrapped__" and value.wraps is not None:
        return value.wraps
    if type(value) is Builtin and name in getattr(value.function, "OFFERS", ()):
        return Builtin(name, getattr(value.function, name))
    return _universal(value, name)


OF_FUNCTIONS: dict[str, Callable[[Function], Any]] = {
    "__defaults__": lambda function: tuple(function.defaults) or None,
    "__kwdefaults__": lambda function: dict(function.keyword_defaults) or None,
    "__module__": lambda function: "__main__",
    "__get__": lambda function: Builtin("__get__", partial(_bound, function)),
}


def _bound(function: Function, instance: Any, owner: Any = None, /) -> Any:
    """function.__get__(instance): its method"""
    return function if instance is None else Bound(function.name, instance, function)


def _set_on_function(value: Function, name: str, new: Any) -> None:
    if name in ("__name__", "__qualname__"):
        if type(new) is not str:
            raise TypeError(f"{name} must be set to a string object")
    elif name.startswith("__") and name not in ("__doc__", "__wrapped__"):
        raise missing(value, name)
    session.budget.charge_bytes(KEPT_BYTES)
    value.keep(name, new)


SPECIAL[Type] = _type_attribute
SPECIAL[Function] = SPECIAL[Builtin] = SPECIAL[Bound] = _named
SPECIAL_SET[Function] = _set_on_function
