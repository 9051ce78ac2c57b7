"""Questions: PyTorch itself, made known to the language: its objects behind the names of a program.

What a program may reach of PyTorch is what it may reach of gradcli: the same closed lists of names.
"""

from __future__ import annotations

import copy
import functools
import types
from collections.abc import Callable
from importlib import import_module
from inspect import getattr_static
from operator import attrgetter
from typing import Any

from ... import namespace
from ...engine.schema.numpy_wrappers import WITH_NUMPY, unwrapped
from ...engine.tensors import typed_storage
from ...engine.tensors.invented_names import KEPT as KEPT_BESIDE
from ...engine.tensors.tensor import METHODS, PROPERTIES
from ...language import classes, library_protocols
from ...language.adoption import ADOPTERS, KNOWN, adopt, adopting
from ...language.attributes import MISSING, REGISTRARS, SPECIAL, SPECIAL_SET, missing
from ...language.calls import call
from ...language.classes import instances
from ...language.grammar import OPERATOR_METHODS
from ...language.libraries import (
    HOMES,
    PUBLISHED,
    TENSORS,
    TWINS,
    Library,
    published,
    publishes,
)  # fmt: skip
from ...language.members import BUILDERS, TABLES, Members
from ...language.values import Builtin, Type, stands_for
from ...live.library import require_torch
from ...operators import catalogue

FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)
# What would change the process and not the answer stays gradcli's.
OURS = ("__version__", "set_num_threads", "get_num_threads")


@functools.cache
def torch_library() -> Library:
    """PyTorch as a library of the language."""
    torch = require_torch("--against torch")
    torch.set_num_threads(1)
    HOMES.append("torch.")
    TENSORS.update((torch.Tensor, torch.nn.Parameter))
    WITH_NUMPY.update((torch.Tensor, torch.nn.Parameter))
    members = _tensor_members(torch.Tensor)
    TABLES[torch.Tensor] = TABLES[torch.nn.Parameter] = members
    TABLES[torch.dtype] = Members(
        {}, {name: attrgetter(name) for name in
             ("is_floating_point", "itemsize", "is_complex", "is_signed")},
    )  # fmt: skip
    of_sizes = TABLES[namespace.resolve("Size")].methods
    TABLES[torch.Size] = Members({n: functools.partial(_method, n) for n in of_sizes})
    TABLES[torch.memory_format] = TABLES[torch.layout] = Members()
    TABLES[torch.device] = Members({}, {name: attrgetter(name) for name in ("type", "index")})
    TABLES[torch.utils.hooks.RemovableHandle] = Members(
        {"remove": torch.utils.hooks.RemovableHandle.remove}, {"id": attrgetter("id")}
    )
    TABLES[torch._C._autograd.SavedTensor] = Members(
        {"register_hooks": functools.partial(_method, "register_hooks")}
    )
    TENSORS.update(
        kinds := (torch.nn.parameter.UninitializedParameter, torch.nn.parameter.UninitializedBuffer)
    )
    TABLES.update(dict.fromkeys(kinds, members))
    BUILDERS.append(functools.partial(_members, torch))
    REGISTRARS[torch.nn.Module] = functools.partial(_registered, torch)
    KNOWN.append(lambda kind: kind in TABLES or _members(torch, kind) is not None)
    _know_classes(torch)
    return Library("torch", functools.partial(_resolve, torch))


def _resolve(torch: Any, path: str) -> Any:
    """The object of a name; a class publishes what ours of this name does."""
    if path in OURS:
        return namespace.resolve(path)
    try:
        found = attrgetter(path)(torch)
    except AttributeError:
        home, _, name = path.rpartition(".")
        found = getattr(import_module(f"torch.{home}"), name)
    if path == "utils.data.DataLoader":
        found = _here(torch.utils.data)
    kind, twin = _class_of(found), _class_of(namespace.resolve(path))
    _publish(kind, twin)
    if getattr(twin, "EXTENSIBLE", False) and kind not in instances.BASES:
        instances.BASES.append(kind)
    return _plainly(found) if isinstance(found, FUNCTIONS) else found


def _plainly(function: Any) -> Any:
    """A function of PyTorch, called with NumPy's and Python's own objects."""

    def run(*args: Any, **kwargs: Any) -> Any:
        return function(*map(_bare, args), **{name: _bare(kwargs[name]) for name in kwargs})

    run.__name__ = run.__qualname__ = getattr(function, "__name__", "function")
    return run


def _bare(value: Any) -> Any:
    """What stands behind the values that a program holds: arrays, numbers and types."""
    value = stands_for(value)  # of a class that builds on int, list or their like
    if type(value) in (list, tuple):
        return type(value)([_bare(item) for item in value])
    if type(value) is Type and isinstance(value.host, type):
        return value.host
    return unwrapped(value)


@functools.cache
def _here(data: Any) -> Any:
    """PyTorch's DataLoader, which loads in this process: a program starts no other."""

    class DataLoader(data.DataLoader):  # type: ignore[misc]
        def _get_iterator(self) -> Any:
            asked = {name: self.__dict__[name] for name in ("num_workers", "timeout")}
            self.__dict__.update(num_workers=0, timeout=0)
            try:
                return super()._get_iterator()
            finally:
                self.__dict__.update(asked)

        def __iter__(self) -> Any:
            return self._get_iterator()

    DataLoader.__module__, DataLoader.__qualname__ = data.DataLoader.__module__, "DataLoader"
    return DataLoader


def _class_of(found: Any) -> type:
    return found if isinstance(found, type) else type(found)


def _tensor_members(kind: Any) -> Members:
    """The methods and properties that our own tensors have."""
    own = TABLES[_own_tensor()]
    methods: dict[str, Callable[..., Any]] = {}
    for name in METHODS | set(catalogue.methods):
        found = getattr(kind, name, None)
        if callable(found) and not name.startswith("__"):
            methods[name] = _plainly(found)
    for name in OPERATOR_METHODS & own.methods.keys():
        methods[name] = _plainly(getattr(kind, name))
    methods["data_ptr"] = own.methods["data_ptr"]
    methods["numpy"] = lambda *args, **kwargs: adopt(kind.numpy(*args, **kwargs))
    methods["__len__"] = len
    properties = {name: attrgetter(name) for name in PROPERTIES | set(catalogue.properties)}
    return Members(methods, dict(properties), own.settable)


def _own_tensor() -> Any:
    return namespace.resolve("Tensor")


def _members(torch: Any, kind: type) -> Members | None:
    """The table of a type that PyTorch makes by itself: nodes, several results, contexts."""
    if not kind.__module__.startswith("torch") and kind.__module__ != "builtins":
        return None if not _is_context(torch, kind) else _context(kind)
    if _is_context(torch, kind):
        return _context(kind)
    if kind.__module__ == "torch.return_types":
        names = getattr(kind, "__match_args__", ())
        return Members(dict(TABLES[tuple].methods), {name: attrgetter(name) for name in names})
    if _is_node(torch, kind):
        return _node(kind)
    _publish(kind, _twin_of(kind))
    return _published(kind) if publishes(kind) else None


def _publish(kind: Any, twin: Any) -> None:
    """A class offers what our own of its name does."""
    if kind not in TABLES and kind not in PUBLISHED and publishes(twin):
        PUBLISHED[kind], TWINS[kind] = frozenset(published(twin)), twin


def _twin_of(kind: Any) -> type:
    """Our own class of this name: torch.utils.data.dataset.Subset is utils.data.Subset."""
    home = kind.__module__.split(".")[1:]
    for depth in range(len(home), -1, -1):
        try:
            return _class_of(namespace.resolve(".".join([*home[:depth], kind.__name__])))
        except AttributeError:
            continue
    return object


def _is_node(torch: Any, kind: type) -> bool:
    return kind.__name__ in ("AccumulateGrad", "Node") or bool(
        issubclass(kind, torch.autograd.graph.Node)
    )


def _node(kind: type) -> Members:
    methods: dict[str, Callable[..., Any]] = {
        name: functools.partial(_method, name)
        for name in ("name", "register_hook", "register_prehook")
    }
    properties: dict[str, Any] = {
        name: attrgetter(name) for name in ("next_functions", "metadata", "variable")
        if name != "variable" or hasattr(kind, "variable")
    }  # fmt: skip
    for name in dir(kind):
        if name.startswith(("_saved_", "_raw_saved_")):
            properties[name] = attrgetter(name)
    return Members(methods, properties)


def _published(kind: type) -> Members:
    """Methods are asked of the object: an optimiser's own may have been wrapped by a scheduler."""
    names = sorted(published(kind))
    methods = [name for name in names if callable(getattr(kind, name, None))]
    data = [name for name in names if name not in methods]
    properties: dict[str, Any] = {name: adopting(attrgetter(name)) for name in data}
    if issubclass(kind, tuple(REGISTRARS)):  # modules
        properties["__dict__"] = _contents
    found = Members(
        {name: functools.partial(_method, name) for name in methods},
        properties,
        {name: functools.partial(_put, name) for name in data},
        keeps=bool(kind.__dictoffset__),
    )
    free = (staticmethod, classmethod)
    for name in methods:
        if isinstance(getattr_static(kind, name), free):
            found.statics[name] = adopting(_plainly(getattr(kind, name)))
    return found


def _contents(module: Any) -> dict[str, Any]:
    """What a module's __dict__ holds, to be read: its tables are copies."""
    held = {name: copy.copy(part) if isinstance(part, dict | set) else part
            for name, part in module.__dict__.items() if name not in HIDDEN}  # fmt: skip
    return {name: adopt(part) for name, part in held.items()}


HIDDEN = frozenset({KEPT_BESIDE, "_program_class"})


def _storage(kind: type) -> Members:
    """To be read, never set; its address is a stable one."""
    found = _published(kind)
    address = {"data_ptr": TABLES[_own_tensor()].methods["data_ptr"]}
    return Members({**found.methods, **address}, found.properties)


def _put(name: str, value: Any, new: Any) -> None:
    setattr(value, name, new)


def _registered(torch: Any, value: Any, members: Members, name: str, new: Any) -> bool:
    """What PyTorch's module puts into a table of its own."""
    nn = torch.nn
    if "_parameters" not in value.__dict__:  # which PyTorch says, where it matters
        setattr(value, name, new)
        return True
    held = (value._parameters, value._buffers, value._modules)
    part = isinstance(new, (nn.Module, nn.Parameter, nn.Buffer))
    if part or any(name in table for table in held):
        setattr(value, name, new)
        return True
    return False


def _method(name: str, value: Any, *args: Any, **kwargs: Any) -> Any:
    """Of an object of the program's class: what PyTorch has above it, which super() asks for."""
    is_own = isinstance(value, classes.ProgramModule)
    owner = super(classes.ProgramModule, value) if is_own else value
    return adopt(_plainly(getattr(owner, name))(*args, **kwargs))


def _is_context(torch: Any, kind: type) -> bool:
    return issubclass(kind, torch.autograd.function.BackwardCFunction)


KEPT = "what the program keeps"  # no name that PyTorch or a program could write
_CONTEXT = (
    "save_for_backward", "mark_non_differentiable", "mark_dirty", "set_materialize_grads",
)  # fmt: skip


def _context(kind: Any) -> Members:
    """The context of a function: what the program keeps there is where PyTorch never looks."""
    names = ("saved_tensors", "needs_input_grad", "next_functions", "metadata")

    def attributes_of(value: Any) -> dict[str, Any]:
        found: dict[str, Any] = value.__dict__.setdefault(KEPT, {})
        return found

    def read(value: Any, name: str) -> Any:
        if name in attributes_of(value):
            return attributes_of(value)[name]
        raise missing(value, name)

    def write(value: Any, name: str, new: Any) -> None:
        if name.startswith("_") or name in _CONTEXT or name in names:
            raise AttributeError(f"'{name}' belongs to the context")
        attributes_of(value)[name] = new

    SPECIAL[kind], SPECIAL_SET[kind] = read, write
    methods: dict[str, Callable[..., Any]] = {n: functools.partial(_method, n) for n in _CONTEXT}
    methods |= {n: functools.partial(_method, n)
                for n in ("name", "register_hook", "register_prehook")}  # fmt: skip
    return Members(methods, {name: attrgetter(name) for name in names})


def _know_classes(torch: Any) -> None:
    """What programs build on, and what functions give before a program has named its class."""
    PUBLISHED[torch.nn.Module] = frozenset(published(namespace.resolve("nn.Module")))
    for path in ("constraints.Constraint", "Transform", "Distribution"):
        path = f"distributions.{path}"
        _publish(attrgetter(path)(torch), namespace.resolve(path))
    ADOPTERS[functools.partial] = lambda made: Builtin("partial", adopting(made))
    PUBLISHED[torch.utils.hooks.RemovableHandle] = frozenset({"remove", "id"})
    PUBLISHED[torch.Generator] = frozenset(published(namespace.resolve("Generator")))
    for name in ("TypedStorage", "UntypedStorage"):
        kind = getattr(torch.storage, name)
        library_protocols.HOST_NAMES[kind] = f"torch.storage.{name}"
        PUBLISHED[kind] = frozenset(published(getattr(typed_storage, name)))
        TABLES[kind] = _storage(kind)
    # A warning of the process, not of the program: PyTorch gives it to the first one only.
    torch.storage._warn_typed_storage_removal.has_warned = True
    instances.BASES.extend((torch.nn.Module, torch.optim.Optimizer))
    classes.FUNCTIONS[torch.autograd.Function] = functools.partial(_applied, torch)


def _applied(torch: Any, kind: classes.ClassValue) -> Callable[..., Any]:
    """The apply of a real class with the program's functions."""
    made: Any = _MADE.get(kind)
    if made is None:
        body: dict[str, Any] = {}
        for name in ("forward", "backward", "setup_context"):
            found = kind.find(name)
            if found is not MISSING:
                plain = getattr(found, "function", found)
                body[name] = staticmethod(functools.partial(_called, plain))
        made = types.new_class(
            kind.name, (torch.autograd.Function,), exec_body=lambda space: space.update(body)
        )
        made._backward_cls._torch_home = "torch.autograd.function."  # in front of it in texts
        _MADE[kind] = made
    apply: Callable[..., Any] = made.apply
    return apply


def _called(function: Any, *args: Any) -> Any:
    return call(function, args, {})


_MADE: dict[Any, Any] = {}
