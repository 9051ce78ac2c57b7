"""language: types as values, isinstance, and objects of the library as values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.graph.node import Node
from ...engine.memory.device import Device
from ...engine.schema.dtypes import DType
from ...engine.tensors.tensor import Tensor
from ..adoption import FAMILIES, VALUES, adopt, adopting
from ..annotations import Annotation
from ..libraries import libraries, published, publishes
from ..operations import VIEWS, type_name
from ..session import session
from ..sets import FrozenSet, Set
from ..values import Bound, Builtin, ErrorValue, Function, Lazy, Namespace, Plain, Type
from .abstract_types import belongs
from .arguments import name_inherited

CONSTRUCT: dict[str, Callable[..., Any]] = {}  # filled by the rooms that make the values


def _constructor(name: str) -> Callable[..., Any]:
    def construct(*args: Any, **kwargs: Any) -> Any:
        make = CONSTRUCT.get(name)
        if make is None:
            raise TypeError(f"cannot create '{name}' instances")
        return make(*args, **kwargs)

    return construct


def _python(name: str, host: type) -> Type:
    return Type(name, host, _constructor(name))


OF_PYTHON: dict[type, Type] = {
    host: _python(name, host)
    for name, host in {
        "int": int, "float": float, "bool": bool, "complex": complex, "str": str, "bytes": bytes,
        "list": list,
        "tuple": tuple, "dict": dict, "set": Set, "frozenset": FrozenSet, "range": range,
        "slice": slice,
        "NoneType": type(None), "ellipsis": type(...), "function": Function,
        "builtin_function_or_method": Builtin, "method": Bound, "type": Type,
        "module": Namespace, "object": object,
    }.items()
}  # fmt: skip
OF_PYTHON[Plain] = OF_PYTHON[object]
CONSTRUCT["object"] = lambda: Plain()
OF_PYTHON.update({view: _python(view.__name__, view) for view in VIEWS})
OF_LIBRARY: dict[type, Type] = {}
_OF_NODES: dict[str, Type] = {}


def host_type(kind: type) -> Type:
    """The type value of a class of the library; one for each class."""
    known = OF_PYTHON.get(kind) or OF_LIBRARY.get(kind)
    if known is None:
        module, name = _printed(kind)
        name_inherited(kind, published(kind))
        known = OF_LIBRARY[kind] = Type(name, kind, _library_constructor(kind), module)
    return known


def _printed(kind: type) -> tuple[str, str]:
    shown = kind.__dict__.get("_torch_name")  # a class may say where PyTorch keeps it
    if isinstance(shown, str):
        module, _, name = shown.rpartition(".")
        return module, name
    if not kind.__module__.startswith("gradcli."):
        return kind.__module__, kind.__qualname__
    from ...engine.schema.module_names import torch_module_of

    return torch_module_of(kind.__module__.removeprefix("gradcli."), kind.__name__), kind.__name__


def home_in_text(value: Any) -> str:
    """`torch.utils.data.dataset.` of a TensorDataset; "" where an object says it itself."""
    kind: Any = type(value)
    if hasattr(kind, "_torch_home") or not publishes(kind) or "." in type_name(value):
        return getattr(kind, "_torch_home", "")
    return f"{_printed(kind)[0]}."


FAMILIES.append((type, host_type))
# Classes that a program may call: those that a dotted name gives, and what publishes names.
CONSTRUCTIBLE: set[type] = set()
NEVER: frozenset[type] = frozenset({DType, Node})


def _library_constructor(kind: type) -> Callable[..., Any]:
    def construct(*args: Any, **kwargs: Any) -> Any:
        if kind not in CONSTRUCTIBLE and not publishes(kind):
            raise TypeError(f"cannot create '{host_type(kind).in_messages}' instances")
        return adopt(kind(*args, **kwargs))

    return construct


_OF_LAZY: dict[str, Type] = {}
OF_ERRORS: dict[type, Type] = {}  # filled by the errors' room
custom_type: list[Callable[[Any], Type | None]] = []  # classes of the program


def type_of(value: Any) -> Any:
    """type(value)"""
    kind = type(value)
    if kind is Bound and type(value.function) not in (Function, Builtin):
        return OF_PYTHON[Builtin]
    if kind is Builtin and (value.wraps is not None or value.text.startswith("<function")):
        return OF_PYTHON[Function]
    known = OF_PYTHON.get(kind)
    if known is not None:
        return known
    for find in custom_type:
        found = find(value)
        if found is not None:
            return found
    if kind is ErrorValue:
        return value.kind
    if kind is Tensor and value.is_parameter:
        return library_value("nn.Parameter", libraries.current.resolve("nn.Parameter"))
    if kind is Lazy:
        return _OF_LAZY.setdefault(value.kind, Type(value.kind, Lazy, _constructor(value.kind)))
    if isinstance(value, Node):
        name = value.name().split("::")[-1]
        return _OF_NODES.setdefault(name, Type(name, kind, _constructor(name)))
    return host_type(Tensor if isinstance(value, Tensor) else kind)


_GENERICS: dict[str, type] = {
    "typing.Dict": dict, "typing.List": list, "typing.Tuple": tuple, "typing.Set": Set,
    "typing.FrozenSet": FrozenSet, "typing.Type": Type,
}  # fmt: skip
custom_isinstance: list[Callable[[Any, Any], bool | None]] = []


def is_instance(value: Any, kinds: Any, /) -> bool:
    """isinstance(value, kinds)"""
    pending = [kinds]
    for kind in pending:
        session.budget.charge(1)
        if type(kind) is tuple:
            pending.extend(kind)
            continue
        if type(kind) is Annotation and kind.parts:
            if value is None and None in kind.parts:
                return True
            pending.extend(part for part in kind.parts if part is not None)
            continue
        if type(kind) is Annotation and kind.text in _GENERICS:
            kind = OF_PYTHON[_GENERICS[kind.text]]
        answer = next(
            (found for ask in custom_isinstance if (found := ask(value, kind)) is not None), None
        )
        if not answer and type(kind) is Annotation:
            found = belongs(value, kind)
            answer = answer if found is None else found
        if answer is None:
            if type(kind) is not Type:
                raise TypeError("isinstance() arg 2 must be a type, a tuple of types, or a union")
            answer = _is_instance(value, kind)
        if answer:
            return True
    return False


def _is_instance(value: Any, kind: Type) -> bool:
    if kind.name == "object" or kind is type_of(value):
        return True
    if type(value) is ErrorValue:
        hosts = value.kind.host
        return (
            isinstance(kind.host, type) and isinstance(hosts, type) and issubclass(hosts, kind.host)
        )
    if kind.host is Set:
        return type(value) is Set  # the frozen one is another type
    return isinstance(value, kind.host)


# Of a class of the program: itself with its bases, the library's class beneath, and whether a type
# without objects is above; None for what is no such class.
OwnBases = tuple[list[Any], Any, Callable[[Any], bool]]
custom_bases: list[Callable[[Any], OwnBases | None]] = []


def _own(kind: Any) -> OwnBases | None:
    return next((found for ask in custom_bases if (found := ask(kind)) is not None), None)


def is_class(kind: Any) -> bool:
    return type(kind) is Type or _own(kind) is not None


# What a class of the program says of others that come to stand below it; None where it is silent.
claims: list[Callable[[Any, Any], bool | None]] = []


def is_subclass(kind: Any, other: Any) -> bool:
    said = next((found for ask in claims if (found := ask(other, kind)) is not None), None)
    return below(kind, other) if said is None else said


def below(kind: Any, other: Any) -> bool:
    """The same by the bases of a class alone."""
    own = _own(kind)
    if own is None:
        if type(other) is not Type:
            return False
        beneath = getattr(kind.host, "BENEATH", kind.host)
        above = (kind.host, beneath)
        known = other is kind or other.name == "object"
        return known or any(issubclass(host, other.host) for host in above)
    order, native, is_above = own
    if type(other) is not Type:
        return any(base is other for base in order)
    if other.name == "object" or is_above(other):
        return True
    return isinstance(native, type) and issubclass(native, other.host)


def type_call(*args: Any) -> Any:
    if len(args) != 1:
        raise TypeError("type() takes 1 or 3 arguments")
    return type_of(args[0])


CONSTRUCT["type"] = type_call


def library_value(name: str, found: Any) -> Any:
    """An object of the library as a value of the language."""
    if isinstance(found, type):
        if found not in NEVER:
            CONSTRUCTIBLE.add(found)
            VALUES.add(found)
        return host_type(found)
    if found is None or isinstance(found, (int, float, bool, str, tuple, DType, Device)):
        return found
    if callable(found):
        last = name.rpartition(".")[2]
        if "." not in name:
            text, home = f"<built-in method {last} of type object>", "_VariableFunctionsClass."
        else:
            text, home = f"<function {last}>", ""
        return Builtin(last, adopting(found), text, path=f"torch.{home}{name}")
    return adopt(found)
