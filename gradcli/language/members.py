"""language: tables of what programs may read, call and set on each type of value."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from ..engine.assembly import assemble
from ..engine.graph.hooks import RemovableHandle
from ..engine.graph.node import AccumulateGrad, Node
from ..engine.memory.device import Device
from ..engine.schema.dtypes import DType
from ..engine.schema.returns import Named
from ..engine.schema.settable import Takes, takes
from ..engine.schema.size import Size
from ..engine.tensors.tensor import METHODS, PROPERTIES, Tensor
from ..operators import catalogue
from .adoption import adopting, is_plain
from .annotations import Annotation
from .builtins.arguments import name_inherited
from .calls import is_callable
from .grammar import OPERATOR_METHODS
from .libraries import published, publishes
from .operations import iterate, type_name
from .session import session
from .values import (
    Bound,
    Builtin,
    ErrorValue,
    Function,
    Namespace,
    Plain,
    Type,
    answering_to,
    slice_parts,
)

Method = Callable[..., Any]


class Members:
    """What a type offers: methods take the value first, properties are read from it.

    `settable` writes a name of the table. Where `keeps` says so, any other name that a program
    sets is kept beside the object (`engine.tensors.invented_names`), out of the library's sight;
    it may hide a method, so only `direct` methods are called without a look at the object.
    """

    __slots__ = ("constants", "direct", "keeps", "methods", "properties", "settable", "statics")

    def __init__(
        self,
        methods: dict[str, Method] | None = None,
        properties: dict[str, Callable[[Any], Any]] | None = None,
        settable: dict[str, Callable[[Any, Any], None]] | None = None,
        keeps: bool = False,
    ) -> None:
        self.methods = methods or {}
        for name, method in self.methods.items():
            answering_to(name, method)
        self.direct = {} if keeps else self.methods
        self.properties = properties or {}
        self.settable = settable or {}
        self.keeps = keeps
        self.statics: dict[str, Method] = {}  # what needs no object: Embedding.from_pretrained
        self.constants: dict[str, Any] = {}  # values that the type holds: timezone.utc


TABLES: dict[type, Members] = {}


def members_of(value: Any) -> Members:
    return members_of_type(type(value))


def members_of_type(kind: type) -> Members:
    """The table of a type, made at the first question."""
    members = TABLES.get(kind)
    if members is None:
        members = TABLES[kind] = _build(kind)
    return members


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
    if issubclass(kind, tuple):
        fields = kind.fields if issubclass(kind, Named) else getattr(kind, "_fields", ())
        own = _published(kind)
        own.properties.update((name, attrgetter(name)) for name in fields)
        if hasattr(kind, "_asdict"):
            own.properties["_fields"] = attrgetter("_fields")
            own.methods["_asdict"] = adopting(getattr(kind, "_asdict"))  # noqa: B009
        return Members({**TABLES[tuple].methods, **own.methods}, own.properties)
    return _published(kind)


def _published(kind: type) -> Members:
    """What a class of nn, optim, utils or autograd lists in PUBLIC, and what TAKES lets be set."""
    methods: dict[str, Method] = {}
    properties: dict[str, Callable[[Any], Any]] = {}
    settable: dict[str, Callable[[Any, Any], None]] = {}
    name_inherited(kind, published(kind))  # before its methods are taken from it
    for name in sorted(published(kind)):
        found = getattr(kind, name, None)
        if callable(found):
            methods[name] = adopting(found)
        else:
            properties[name] = adopting(attrgetter(name))
        if name == "data_ptr":
            methods[name] = _stable_address
        taken = None if isinstance(found, property) else takes(kind, name)
        if taken is Takes.CALLABLE or (taken is not None and not callable(found)):
            settable[name] = _writer(name, taken)
    members = Members(methods, properties, settable, keeps=publishes(kind) and bool(settable))
    members.statics = {name: methods[name] for name in methods if _is_static(kind, name)}
    members.direct = {
        name: members.direct[name] for name in members.direct if name not in members.statics
    }
    return members


def _is_static(kind: type, name: str) -> bool:
    owner = next((base for base in kind.__mro__ if name in base.__dict__), object)
    return isinstance(owner.__dict__.get(name), (staticmethod, classmethod))


def _writer(name: str, taken: Takes) -> Callable[[Any, Any], None]:
    def write(value: Any, new: Any) -> None:
        plain = taken is not Takes.PLAIN or is_plain(new)
        if not plain or (taken is Takes.CALLABLE and new is not None and not is_callable(new)):
            raise TypeError(
                f"'{type_name(value)}.{name}' takes {taken.value} here, not '{type_name(new)}'"
            )
        object.__setattr__(value, name, new)

    return write


# ---------------------------------------------------------------- tensors and nodes


def _stable_address(tensor: Any) -> int:
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
    for name in ("numpy", "storage", "untyped_storage"):
        methods[name] = adopting(getattr(kind, name))
    methods["__len__"] = len
    methods |= {name: _special(name) for name in OPERATOR_METHODS}
    properties: dict[str, Callable[[Any], Any]] = {
        name: attrgetter(name) for name in PROPERTIES | set(catalogue.properties)
    }
    settable: dict[str, Callable[[Any, Any], None]] = {
        "requires_grad": lambda tensor, value: setattr(tensor, "requires_grad", value),
        "grad": lambda tensor, value: setattr(tensor, "grad", value),
        "_grad": lambda tensor, value: setattr(tensor, "grad", value),
        "data": lambda tensor, value: setattr(tensor, "data", value),
    }
    return Members(methods, properties, settable)


def _special(name: str) -> Method:
    """x.__add__(y): the class gets its operators later than this table is made."""
    return lambda tensor, *others: getattr(Tensor, name)(tensor, *others)


NODE = Members(
    {"name": lambda node: node.name(), "register_hook": Node.register_hook,
     "register_prehook": Node.register_prehook},
    {"next_functions": attrgetter("next_functions"), "metadata": attrgetter("metadata")},
)  # fmt: skip
ACCUMULATE = Members(NODE.methods, {**NODE.properties, "variable": attrgetter("variable")})


# ---------------------------------------------------------------- the tables


assemble()
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
    slice: Members({}, {
        "start": lambda value: slice_parts(value)[0], "stop": lambda value: slice_parts(value)[1],
        "step": lambda value: slice_parts(value)[2],
    }),
    Namespace: Members(), Type: Members(), Function: Members(), Builtin: Members(),
    Bound: Members(), Plain: Members(), Annotation: Members(),
    type(None): Members(), type(...): Members(),
})  # fmt: skip
