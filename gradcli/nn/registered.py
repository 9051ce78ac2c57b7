"""Library: the parameters, buffers and modules in a module: how each kind is registered."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..engine.schema.class_name import NamedInC, name_in_messages
from ..engine.schema.errors import declared, type_name
from ..engine.tensors.invented_names import KEPT, kept_on
from ..engine.tensors.tensor import Tensor
from .derived import DERIVED, is_derived

if TYPE_CHECKING:
    from .module import Module

TABLES = ("_parameters", "_buffers", "_modules")  # what a module holds by name
# What PyTorch keeps under these names is beside the module here: a program can't replace it.
RESERVED = frozenset(
    "_parameters _buffers _modules _non_persistent_buffers_set _forward_hooks _forward_pre_hooks "
    "_backward_hooks _backward_pre_hooks _state_dict_hooks _load_state_dict_pre_hooks "
    "_load_state_dict_post_hooks _is_full_backward_hook _derived _computes _call_impl "
    "_wrapped_call_impl _slow_forward".split()
)
# What programs look at to see which hooks a module has, and clear to take them out.
HOOKS = ("_forward_pre_hooks", "_forward_hooks")

# What PyTorch keeps between a module's buffers and its modules, most of it empty.
HOOK_TABLES = (
    "_backward_pre_hooks _backward_hooks _is_full_backward_hook _forward_hooks "
    "_forward_hooks_with_kwargs _forward_hooks_always_called _forward_pre_hooks "
    "_forward_pre_hooks_with_kwargs _state_dict_hooks _state_dict_pre_hooks "
    "_load_state_dict_pre_hooks _load_state_dict_post_hooks".split()
)


def contents(module: Module) -> dict[str, Any]:
    """What vars(module) shows, in PyTorch's order: a copy."""
    own = module.__dict__
    hooks = {name: OrderedDict[Any, Any]() for name in HOOK_TABLES}
    return {
        "training": module.training,
        "_parameters": dict(own["_parameters"]), "_buffers": dict(own["_buffers"]),
        "_non_persistent_buffers_set": set(own["_transient"]),
        **hooks, "_is_full_backward_hook": module._is_full_backward_hook,
        "_modules": dict(own["_modules"]),
        **{name: value for name, value in own.items()
           if name != "training" and not name.startswith("_")},
        **kept_on(module),
    }  # fmt: skip


def only_none(value: Any, what: str, name: str, expected: str) -> None:
    if value is not None:
        raise TypeError(
            f"cannot assign '{typename(value)}' as {what} '{name}' ({expected} expected)"
        )


def has(module: Module, name: str) -> bool:
    """hasattr(module, name), by the names alone."""
    own = module.__dict__
    tables = (own, kept_on(module), *(own.get(kind) or () for kind in TABLES))
    return (
        any(name in table for table in tables)
        or is_derived(module, name)
        or any(name in part.__dict__ for part in type(module).__mro__)
    )


def unlike(module: Module, name: str, what: str) -> AttributeError:
    """The error of a path whose name leads to nothing, or to another kind of thing."""
    if not has(module, name):
        return AttributeError(f"{type(module).__name__} has no attribute `{name}`")
    article = "a" if what == "buffer" else "an"
    return AttributeError(f"`{name}` is not {article} {what}")


def missing_attribute(module: object, name: str) -> AttributeError:
    return AttributeError(f"'{type(module).__name__}' object has no attribute '{name}'")


def table_of(module: Module, kind: str) -> dict[str, Any]:
    """One of a module's tables; there is none before Module.__init__."""
    if kind not in module.__dict__:
        raise missing_attribute(module, kind)
    return module.__dict__[kind]


def ready(module: Module, what: str) -> None:
    if "_parameters" not in module.__dict__:
        raise AttributeError(f"cannot assign {what} before Module.__init__() call")


def remove_elsewhere(own: dict[str, Any], name: str, keep: str) -> None:
    """A name is in one place only: kept, or as a parameter, a buffer or a module."""
    own.get(KEPT, {}).pop(name, None)
    own.get(DERIVED, {}).pop(name, None)
    for kind in TABLES:
        if kind != keep and own.get(kind):
            own[kind].pop(name, None)


def check_name(module: Module, name: Any, what: str, kind: str) -> None:
    if not isinstance(name, str):
        raise TypeError(f"{what} name should be a string. Got {typename(name)}")
    if "." in name:
        got = f", got: {name}" if what == "module" else ""
        raise KeyError(f'{what} name can\'t contain "."{got}')
    if name == "":
        raise KeyError(f'{what} name can\'t be empty string ""')
    if has(module, name) and name not in module.__dict__[kind]:
        raise KeyError(f"attribute '{name}' already exists")


def typename(value: Any) -> str:
    """torch.typename: a class or a function by its full name, anything else by its type's."""
    if isinstance(value, Tensor):
        return value.type()  # type: ignore[attr-defined]
    if path := declared(value, "path"):
        return str(path)
    if own := getattr(declared(value, "code"), "qualified", ""):
        return f"__main__.{own}"  # a function of the program
    kind = value if isinstance(value, type) else type(value)
    of_error = getattr(declared(value, "kind"), "text", "")  # in the program's hands
    text = declared(value, "text") or of_error or getattr(kind, "_torch_name", "") or repr(kind)
    shown = str(text).removeprefix("<class '").removesuffix("'>")
    if not shown.startswith("gradcli."):
        return shown
    named = "__main__." if issubclass(kind, tuple) else ""  # a named tuple of the program
    name = name_in_messages(kind) if value is kind else type_name(value)
    return f"{getattr(kind, '_torch_home', named)}{name}"


class Registered(metaclass=NamedInC):
    """`module._modules` and its like: one of a module's tables. What is put in is registered."""

    __slots__ = ("_module", "_kind", "__weakref__")
    _torch_name = "dict"
    PUBLIC = ("keys", "values", "items", "get", "pop", "copy")
    __hash__ = None

    def __init__(self, module: Module, kind: str) -> None:
        self._module, self._kind = module, kind

    @property
    def _table(self) -> dict[Any, Any]:
        return self._module.__dict__[self._kind]

    def __getitem__(self, name: str) -> Any:
        return self._table[name]

    def __setitem__(self, name: str, value: Any) -> None:
        module = self._module
        register = {
            "_modules": module.add_module, "_parameters": module.register_parameter,
            "_buffers": module.register_buffer,
        }[self._kind]  # fmt: skip
        register(name, value)

    def __delitem__(self, name: str) -> None:
        del self._table[name]

    def __contains__(self, name: object) -> bool:
        return name in self._table

    def __len__(self) -> int:
        return len(self._table)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._table))

    def keys(self) -> Any:
        return self._table.keys()

    def values(self) -> Any:
        return self._table.values()

    def items(self) -> Any:
        return self._table.items()

    def copy(self) -> dict[Any, Any]:
        return self._table.copy()

    def get(self, key: str, default: Any = None, /) -> Any:
        return self._table.get(key, default)

    def pop(self, key: str, *default: Any) -> Any:
        return self._table.pop(key, *default)


class Contents(Registered):
    """`module.__dict__`: what is put in is an attribute of the module, and registered nowhere."""

    __slots__ = ("_write",)
    _torch_name = "dict"
    PUBLIC = (*Registered.PUBLIC, "update", "setdefault")

    def __init__(self, module: Module, write: Callable[[str, Any], None]) -> None:
        super().__init__(module, "__dict__")
        self._write = write

    @property
    def _table(self) -> dict[Any, Any]:
        module = self._module
        if "_parameters" not in module.__dict__:  # Module.__init__ has not run
            return kept_on(module)
        tables = {name: Registered(module, name) for name in TABLES}
        return contents(module) | tables | {name: Hooks(module, name) for name in HOOKS}

    def __setitem__(self, name: Any, value: Any) -> None:
        module = self._module
        if type(name) is not str:
            raise TypeError("the names of attributes are strings")
        if any(name in (module.__dict__.get(kind) or ()) for kind in TABLES):
            raise AttributeError(f"'{name}' is registered in '{type(module).__name__}'")
        self._write(name, value)

    def __delitem__(self, name: Any) -> None:
        del kept_on(self._module)[name]

    def update(self, other: Any = (), /, **named: Any) -> None:
        for name, value in {**dict(other), **named}.items():
            self[name] = value

    def setdefault(self, name: str, default: Any = None) -> Any:
        if name not in self._table:
            self[name] = default
        return self._table[name]

    def pop(self, key: str, *default: Any) -> Any:
        return kept_on(self._module).pop(key, *default)


class Hooks(Registered):
    """`module._forward_hooks` and its like: by the numbers of the handles, which a program may use
    to take hooks out, or put others in their places."""

    __slots__ = ()
    _torch_name = "collections.OrderedDict"
    PUBLIC = (*Registered.PUBLIC, "clear")

    @property
    def _table(self) -> dict[Any, Any]:
        """What programs see of it: an entry is a hook and whether it takes keyword arguments."""
        return OrderedDict((number, hook) for number, (hook, _) in self._entries.items())

    @property
    def _entries(self) -> dict[Any, Any]:
        return self._module.__dict__[self._kind]

    def __setitem__(self, number: Any, hook: Any) -> None:
        self._entries[number] = (hook, False)

    def __delitem__(self, number: Any) -> None:
        del self._entries[number]

    def pop(self, number: Any, *default: Any) -> Any:
        found = self._table.pop(number, *default)
        self._entries.pop(number, None)
        return found

    def clear(self) -> None:
        self._entries.clear()
