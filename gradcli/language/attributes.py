"""language: what may follow a dot: tables keyed by a value's exact type, never Python's getattr."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any
from weakref import ref

from ..engine.device import Device
from ..engine.dtypes import DType
from ..engine.hooks import RemovableHandle
from ..engine.node import AccumulateGrad, Node
from ..engine.returns import Named
from ..engine.size import Size
from ..engine.tensor import METHODS, PROPERTIES, Tensor
from ..operators import catalogue
from .adoption import ArrayValue, adopt, adopting, array_item, is_library
from .libraries import TENSORS, published, publishes
from .names import suggest_member, suggestion
from .operations import iterate, type_handlers, type_name
from .session import session
from .values import (
    Annotation,
    Bound,
    Builtin,
    ErrorValue,
    Function,
    Lazy,
    Namespace,
    Plain,
    Type,
)

Method = Callable[..., Any]


# What programs keep on tensors, x.label = "x": PyTorch's tensors take every attribute.
# By identity, since tensors compare element by element; gone with the tensor.
KEPT: dict[int, tuple[ref[Tensor], dict[str, Any]]] = {}
KEPT_BYTES = 256


def kept_on(tensor: Tensor) -> dict[str, Any]:
    found = KEPT.get(id(tensor))
    return {} if found is None else found[1]


class Members:
    """What a type offers: methods take the value first, properties are read from it."""

    __slots__ = ("methods", "properties", "settable")

    def __init__(
        self,
        methods: dict[str, Method] | None = None,
        properties: dict[str, Callable[[Any], Any]] | None = None,
        settable: dict[str, Callable[[Any, Any], None]] | None = None,
    ) -> None:
        self.methods = methods or {}
        self.properties = properties or {}
        self.settable = settable or {}


class MissingAttribute(AttributeError):
    """An AttributeError that knows the nearest attribute that is there."""

    near: str | None = None


TABLES: dict[type, Members] = {}


def members_of(value: Any) -> Members:
    return members_of_type(type(value))


def members_of_type(kind: type) -> Members:
    """The table of a type, made at the first question."""
    members = TABLES.get(kind)
    if members is None:
        members = TABLES[kind] = _build(kind)
    return members


def missing(value: Any, name: str, said: str | None = None) -> MissingAttribute:
    """The error of an attribute that is in no table, in Python's words."""
    if said is not None:
        message = said
    elif type(value) is Type:
        message = f"type object '{value.name}' has no attribute '{name}'"
    elif type(value) is Namespace:
        message = f"module '{value.path}' has no attribute '{name}'"
    elif isinstance(value, Node):
        message = f"'{value.name().split('::')[-1]}' object has no attribute '{name}'"
    else:
        message = f"'{type_name(value)}' object has no attribute '{name}'"
    error = MissingAttribute(message)
    members = members_of(value)
    if type(value) is Namespace:
        error.near = suggest_member(value.path, name)
    else:
        error.near = suggestion(name, sorted({*members.methods, *members.properties}))
    return error


def get_attribute(value: Any, name: str) -> Any:
    """value.name"""
    members = TABLES.get(type(value)) or members_of(value)
    read = members.properties.get(name)
    if read is not None:
        return read(value)
    method = members.methods.get(name)
    if method is not None:
        return Bound(name, value, method)
    special = SPECIAL.get(type(value))
    if special is not None:
        return special(value, name)
    if isinstance(value, Node):
        return _saved(value, name)
    found = _library_attribute(value, name)
    if found is not None:
        return found[0]
    if isinstance(value, Tensor) and name in kept_on(value):
        return kept_on(value)[name]
    return _universal(value, name)


def set_attribute(value: Any, name: str, new: Any) -> None:
    """value.name = new"""
    members = members_of(value)
    write = members.settable.get(name)
    if write is not None:
        write(value, new)
        return
    special = SPECIAL_SET.get(type(value))
    if special is not None:
        special(value, name, new)
        return
    if publishes(type(value)) and not name.startswith("_"):
        setattr(value, name, new)  # a module of nn: it registers parameters and modules itself
        return
    if name in members.properties:
        raise AttributeError(
            f"attribute '{name}' of '{_owner_name(value)}' objects is not writable"
        )
    if name in members.methods:
        raise AttributeError(f"'{type_name(value)}' object attribute '{name}' is read-only")
    if not isinstance(value, Tensor) or name.startswith("__"):
        raise missing(value, name)
    session.budget.charge_bytes(KEPT_BYTES)
    number = id(value)
    if number not in KEPT:
        KEPT[number] = (ref(value, lambda _: KEPT.pop(number, None)), {})
    KEPT[number][1][name] = new


def _owner_name(value: Any) -> str:
    return "torch._C.TensorBase" if type(value) in TENSORS else type_name(value)


def delete_attribute(value: Any, name: str) -> None:
    special = SPECIAL_DELETE.get(type(value))
    if special is not None:
        special(value, name)
    elif type(value) in TENSORS and name == "grad":
        value.grad = None
    elif isinstance(value, Tensor) and name in kept_on(value):
        del kept_on(value)[name]
    else:
        raise missing(value, name)


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


def _universal(value: Any, name: str) -> Any:
    from .builtins.types import type_of

    if type(value) is Builtin and value.wraps is not None and name == "__doc__":
        return value.wraps.doc
    if name == "__class__":
        return type_of(value)
    if name == "__doc__":
        return value.doc if type(value) is Function else None
    raise missing(value, name)


# ---------------------------------------------------------------- types of the library


# How other libraries' types say what they offer; None for a type that is not theirs.
BUILDERS: list[Callable[[type], Members | None]] = []


def _build(kind: type) -> Members:
    """The table of a type of the library: of a node, a named tuple, or what its class publishes."""
    if issubclass(kind, Node):
        return NODE if kind is not AccumulateGrad else ACCUMULATE
    for build in BUILDERS:
        built = build(kind)
        if built is not None:
            return built
    if issubclass(kind, Tensor):
        return _tensor_members(kind)  # one that a transformation of torch.func carries
    if issubclass(kind, Named):
        base = dict(TABLES[tuple].methods)
        return Members(base, {name: attrgetter(name) for name in kind.fields})
    if issubclass(kind, tuple):
        fields = getattr(kind, "_fields", ())
        return Members(dict(TABLES[tuple].methods), {name: attrgetter(name) for name in fields})
    methods: dict[str, Method] = {}
    properties: dict[str, Callable[[Any], Any]] = {}
    for name in sorted(published(kind)):
        found = getattr(kind, name, None)
        if callable(found):
            methods[name] = adopting(found)
        else:
            properties[name] = attrgetter(name)
    return Members(methods, properties)


def _library_attribute(value: Any, name: str) -> tuple[Any] | None:
    """A parameter, buffer, submodule or own attribute of a module of nn."""
    if name.startswith("_") or not publishes(type(value)):
        return None
    own = getattr(value, "__dict__", {})
    for table in ("_parameters", "_buffers", "_modules"):
        if name in own.get(table, ()):
            return (own[table][name],)
    return (adopt(own[name]),) if name in own else None


# ---------------------------------------------------------------- tensors


def _stable_address(tensor: Tensor) -> int:
    """data_ptr(): equal for tensors on the same memory, the same on every run."""
    pointer = tensor.data_ptr()
    return 4096 * session.number_of_pointer(pointer)


def _tensor_members(kind: type = Tensor) -> Members:
    methods: dict[str, Method] = {}
    # The names that are looked up come from closed lists.
    for name in METHODS | set(catalogue.methods):
        found = getattr(kind, name, None) or catalogue.methods.get(name)
        if found is not None and not name.startswith("__"):
            methods[name] = found
    methods["data_ptr"] = _stable_address
    methods["numpy"] = adopting(kind.numpy)  # type: ignore[attr-defined]
    methods["__len__"] = len
    properties: dict[str, Callable[[Any], Any]] = {
        name: attrgetter(name) for name in PROPERTIES | set(catalogue.properties)
    }
    settable: dict[str, Callable[[Any, Any], None]] = {
        "requires_grad": lambda tensor, value: setattr(tensor, "requires_grad", value),
        "grad": lambda tensor, value: setattr(tensor, "grad", value),
        "data": lambda tensor, value: setattr(tensor, "data", value),
    }
    return Members(methods, properties, settable)


NODE = Members(
    {"name": lambda node: node.name(), "register_hook": Node.register_hook,
     "register_prehook": Node.register_prehook},
    {"next_functions": attrgetter("next_functions"), "metadata": attrgetter("metadata")},
)  # fmt: skip
ACCUMULATE = Members(NODE.methods, {**NODE.properties, "variable": attrgetter("variable")})


def _namespace_attribute(value: Namespace, name: str) -> Any:
    from .builtins.types import resolve_path
    from .names import known_paths

    values, spaces = known_paths()
    path = f"{value.path}.{name}"
    if path in values or path in spaces:
        return resolve_path(path)
    if name == "__name__":
        return value.path
    raise missing(value, name)


SPECIAL[Namespace] = _namespace_attribute


def _type_attribute(value: Type, name: str) -> Any:
    """`torch.Tensor.exp`, `int.__name__`, `dict.fromkeys`"""
    if name in ("__name__", "__qualname__"):
        return value.name
    static = STATICS.get((value.name, name))
    if static is not None:
        return Builtin(name, static)
    hosts = value.host if isinstance(value.host, tuple) else (value.host,)
    members = TABLES.get(hosts[0])
    if members is None and publishes(hosts[0]):
        members = _build(hosts[0])
    if members is not None and name in members.methods:
        return Builtin(name, members.methods[name], f"<method '{name}' of '{value.name}' objects>")
    return _universal(value, name)


SPECIAL[Type] = _type_attribute
STATICS: dict[tuple[str, str], Callable[..., Any]] = {}


def _named(value: Any, name: str) -> Any:
    if name in ("__name__", "__qualname__"):
        if name == "__qualname__" and type(value) is Function:
            return value.code.qualified
        return value.name
    if type(value) is Function and name in value.table:
        return value.table[name]
    return _universal(value, name)


def _set_on_function(value: Function, name: str, new: Any) -> None:
    if name.startswith("__"):
        raise missing(value, name)
    session.budget.charge_bytes(KEPT_BYTES)
    value.table = {**value.table, name: new}


SPECIAL_SET[Function] = _set_on_function
SPECIAL[Function] = SPECIAL[Builtin] = SPECIAL[Bound] = _named

TABLES.update({
    Tensor: _tensor_members(),
    Size: Members(),  # filled with tuple's methods by the builtins
    DType: Members(
        {}, {name: attrgetter(name) for name in ("is_floating_point", "itemsize")}
        | {"is_complex": lambda dtype: dtype.category == 3,
           "is_signed": lambda dtype: dtype.name not in ("uint8", "bool")},
    ),
    Device: Members({}, {"type": attrgetter("type"), "index": attrgetter("index")}),
    RemovableHandle: Members({"remove": RemovableHandle.remove}, {"id": attrgetter("id")}),
    ErrorValue: Members(
        {},
        {"args": attrgetter("args"), "__cause__": attrgetter("cause")},
        {"args": lambda error, args: setattr(error, "args", tuple(iterate(args)))},
    ),
    ArrayValue: Members(
        {"tolist": lambda value: value.array.tolist(), "item": lambda value: value.array.item(),
         "copy": lambda value: ArrayValue(value.array.copy())},
        {"shape": lambda value: tuple(value.array.shape), "ndim": lambda value: value.array.ndim,
         "size": lambda value: int(value.array.size),
         "dtype": lambda value: str(value.array.dtype)},
    ),
    slice: Members({}, {name: attrgetter(name) for name in ("start", "stop", "step")}),
    range: Members({}, {name: attrgetter(name) for name in ("start", "stop", "step")}),
    Namespace: Members(), Type: Members(), Function: Members(), Builtin: Members(),
    Bound: Members(), Lazy: Members(), Plain: Members(), Annotation: Members(),
    type(None): Members(), type(...): Members(),
})  # fmt: skip
del TABLES[range]  # the builtins give range its methods too


# ---------------------------------------------------------------- for the operations


def _library_method(value: Any, name: str) -> Any:
    """A special method of a class of the library, such as __len__; the names are ours alone."""
    if not is_library(value):
        return None
    kind = type(value)  # the class of the class has methods too, __call__ among them
    return next((getattr(kind, name) for part in kind.__mro__ if name in part.__dict__), None)


def _iterate(value: Any) -> Iterator[Any] | None:
    if type(value) is ArrayValue:
        return iter([array_item(value, place) for place in range(len(value))])
    method = _library_method(value, "__iter__")
    return None if method is None else map(adopt, method(value))


def _subscripted(value: Type, inner: Any) -> Any:
    if value.name not in GENERIC:
        raise TypeError(f"type '{value.name}' is not subscriptable")
    return Annotation(value.name)  # list[int], for annotations


GENERIC = frozenset({"list", "dict", "tuple", "set", "frozenset", "type"})


def _get_item(value: Any) -> Any:
    if type(value) is ArrayValue:
        return array_item
    if type(value) is Annotation:
        return lambda annotation, inner: annotation
    if type(value) is Type:
        return _subscripted
    method = _library_method(value, "__getitem__")
    return None if method is None else adopting(method)


def _host_name(value: Any) -> str | None:
    if type(value) is ErrorValue:
        return value.kind.name
    if type(value) is Lazy:
        return value.kind
    if type(value) is Bound:
        own = type(value.function) is Function or getattr(value.function, "wraps", None)
        return "method" if own else "builtin_function_or_method"
    if isinstance(value, Node):
        return value.name().split("::")[-1]
    if isinstance(value, Tensor):
        return "Tensor"
    return {Device: "torch.device", DType: "torch.dtype", Size: "torch.Size"}.get(type(value))


def _caller(value: Any) -> Callable[..., Any] | None:
    method = _library_method(value, "__call__")
    return None if method is None else adopting(method)


type_handlers.caller = _caller
type_handlers.iterate = _iterate
type_handlers.get_item = _get_item
type_handlers.set_item = lambda value: _library_method(value, "__setitem__")
type_handlers.delete_item = lambda value: _library_method(value, "__delitem__")
type_handlers.contains = lambda value: _library_method(value, "__contains__")
type_handlers.length = lambda value: (
    len if type(value) is ArrayValue else _library_method(value, "__len__")
)
type_handlers.name = _host_name
