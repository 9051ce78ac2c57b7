"""language: classes of a program that derive from dict, list, tuple, set, str, int or float.

An object of such a class is a record like any other, and holds its content: a plain value of the
type beneath. What the type does is a class of its own behind those of the program: a table of
functions that take the object, or a plain value, and work on its content.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from ..arithmetic import BINARY, BITS, COMPARED, METHOD_WORDS, UNARY
from ..attributes import MISSING, STATICS
from ..builtins.prelude import divmod_, hash_, make_float, make_int, round_
from ..builtins.types import OF_LIBRARY, OF_PYTHON, type_of
from ..calls import call
from ..formatting import formatted, quoted, text
from ..members import TABLES, members_of_type
from ..operations import (
    COMPARE,
    check_key,
    contains,
    delete_item,
    extend,
    get_item,
    iterate,
    set_item,
    type_name,
)
from ..sets import Set
from ..values import Builtin, Instance, Lazy, Type, stands_for
from . import BUILTIN_METHODS, ClassValue, is_mixed_in
from .attributes import OF_OBJECTS
from .instances import BUILT_ON, ClassMethod, Property

Method = Callable[..., Any]


def _on_content(work: Method) -> Method:
    """A function of plain values for objects that hold one."""
    return lambda value, *args, **kwargs: work(stands_for(value), *args, **kwargs)


def _of_plain(work: Method) -> Method:
    """The same where other objects of such classes may be its arguments."""
    return lambda *values: work(*map(stands_for, values))


def _compared(word: str) -> Method:
    work = COMPARE[word]

    def run(value: Any, other: Any) -> Any:
        pair = stands_for(value), stands_for(other)
        numbers = all(isinstance(one, int | float) for one in pair)
        tuples = all(isinstance(one, tuple) for one in pair)
        if type(pair[0]) is not type(pair[1]) and not (numbers or tuples):
            return NotImplemented
        return work(*pair)

    return run


def _combined(word: str, reflected: bool = False) -> Method:
    work = BINARY[word]

    def run(value: Any, other: Any) -> Any:
        pair = stands_for(value), stands_for(other)
        if isinstance(pair[1], Instance):
            return NotImplemented
        return work(*pair[::-1]) if reflected else work(*pair)

    return run


def _looked_up(value: Any, key: Any) -> Any:
    """d[key], and __missing__ of the program's class."""
    table = stands_for(value)
    if isinstance(value, Instance) and not contains(table, key):
        absent = value.kind.find("__missing__")
        if absent is not MISSING:
            return call(absent, (value, key), {})
    return get_item(table, key)


def _filled(value: Any, *args: Any, **kwargs: Any) -> None:
    """dict.__init__, list.__init__, set.__init__"""
    content = stands_for(value)
    made = type_of(content).construct(*map(stands_for, args), **kwargs)
    if type(content) is Set:
        content.become(made)
    elif type(content) is list:
        content[:] = made
    else:
        if type(content) is defaultdict:
            content.default_factory = made.default_factory
        content.update(made)


def _hashed(value: Any) -> int:
    """What a program is told."""
    return hash_(stands_for(value))


def _key(value: Any) -> int:
    """What dictionaries ask for: that of the content, which is found under either."""
    content = stands_for(value)
    check_key(content)
    return hash(content)


def _named(value: Any) -> str:
    """An OrderedDict or a set of a program's class, which say the name of the class."""
    shown, name = quoted(stands_for(value)), type_name(value)
    if shown.startswith("{"):
        return f"{name}({shown})" if type(value.content) is Set else shown
    return f"{name}({shown.partition('(')[2]}"


def _joined_in_place(value: Any, other: Any) -> Any:
    content = stands_for(value)
    if type(content) is list:
        extend(content, stands_for(other))
    else:
        content.update(stands_for(other))
    return value


_ORDERED = {name: _compared(word) for name, word in COMPARED.items()}
_EQUAL = {name: _ORDERED[name] for name in ("__eq__", "__ne__")}
_READ: dict[str, Method] = {
    "__len__": _on_content(len), "__getitem__": _on_content(get_item),
    "__contains__": _of_plain(contains), "__repr__": _on_content(quoted),
    "__iter__": lambda value: Lazy("iterator", iterate(stands_for(value))),
}  # fmt: skip
_CHANGED: dict[str, Any] = {
    "__init__": _filled, "__setitem__": _on_content(set_item),
    "__delitem__": _on_content(delete_item), "__hash__": None,
}  # fmt: skip
_SEQUENCE: dict[str, Any] = {
    **_READ, **_ORDERED, "__add__": _combined("Add"),
    "__radd__": _combined("Add", True), "__mul__": _combined("Mult"),
    "__rmul__": _combined("Mult", True),
    "__reversed__": lambda value: Lazy("reversed", reversed(stands_for(value))),
}  # fmt: skip
_HASHED: dict[str, Method] = {"__hash__": _hashed}
_DICT: dict[str, Any] = {
    **_READ, **_EQUAL, **_CHANGED, "__getitem__": _looked_up, "__or__": _combined("BitOr"),
    "__ior__": _joined_in_place,
    "__reversed__": lambda value: Lazy("reversed", reversed(stands_for(value))),
}  # fmt: skip


def _arithmetic(names: Iterable[str]) -> dict[str, Method]:
    return {
        f"__{side}{name}__": _combined(METHOD_WORDS[name], bool(side))
        for name in names
        for side in ("", "r")
    }


_SHOWN: dict[str, Method] = {
    "__repr__": _on_content(quoted), "__format__": _on_content(formatted),
    "__str__": _on_content(text), "__bool__": _on_content(bool),
}  # fmt: skip
_NUMBER: dict[str, Method] = {
    **_SHOWN, "__str__": quoted, **_ORDERED, **_HASHED, **_arithmetic(METHOD_WORDS.keys() - BITS),
    "__float__": _on_content(make_float),
    "__int__": _on_content(make_int), "__neg__": _on_content(UNARY["USub"]),
    "__pos__": _on_content(UNARY["UAdd"]), "__abs__": _on_content(abs),
    "__round__": _on_content(round_), "__divmod__": _of_plain(divmod_),
}  # fmt: skip
_SPECIAL: dict[type, dict[str, Any]] = {
    dict: _DICT,
    **{host: {**_DICT, "__repr__": _named} for host in (OrderedDict, defaultdict, Counter)},
    list: {**_SEQUENCE, **_CHANGED, "__iadd__": _joined_in_place},
    tuple: {**_SEQUENCE, **_HASHED},
    Set: {**_READ, **_ORDERED, **_CHANGED, **_arithmetic(("and", "or", "xor", "sub")),
          "__repr__": _named},
    str: {**_SEQUENCE, **_SHOWN, **_HASHED, "__mod__": _combined("Mod")},
    float: _NUMBER,
    int: {
        **_NUMBER, **_arithmetic(BITS), "__index__": stands_for,
        "__invert__": _on_content(UNARY["Invert"]),
    },
}  # fmt: skip
del _SPECIAL[Set]["__getitem__"]


def _class_of(kind: Type) -> ClassValue:
    """What is at the end of the bases of a class that builds on a type of Python."""
    known = _CLASSES.get(kind)
    if known is None:
        table: dict[str, Any] = {}
        host: Any = kind.host
        special = _SPECIAL[tuple] if _is_record(host) else _SPECIAL[host]
        for name, work in {**_methods(host), **special}.items():
            table[name] = work if work is None else Builtin(name, work)
            if work is not None:
                BUILTIN_METHODS.add(work)
        if _is_record(host):
            table |= _of_record(host)
        known = _CLASSES[kind] = ClassValue(kind.name, kind.name, (kind,), table, beneath=kind)
        if table.get("__hash__") is not None:
            known.host.__hash__ = _key  # type: ignore[method-assign, assignment]
    return known


def _methods(host: Any) -> dict[str, Method]:
    found = TABLES[host].methods
    return {name: _on_content(work) for name, work in found.items() if name != "fromkeys"}


def _is_record(host: Any) -> bool:
    """Is it the class of a named tuple?"""
    return host not in _SPECIAL and issubclass(host, tuple)


def _refuse(value: Any, new: Any) -> None:
    raise AttributeError("can't set attribute")


_UNCHANGED = Builtin("setter", _refuse)


def _of_record(host: Any) -> dict[str, Any]:
    """What the class of a named tuple has beside what tuples do."""
    members = members_of_type(host)

    def filled(kind: ClassValue, values: Any) -> Instance:
        value = kind.host(kind)  # type: ignore[misc]
        value.content = members.statics["_make"](stands_for(values))
        return value

    def replaced(value: Any, **changes: Any) -> Instance:
        return filled(value.kind, members.methods["_replace"](value.content, **changes))

    BUILTIN_METHODS.update((_named, replaced))
    return {
        **members.constants, "__match_args__": members.constants["_fields"],
        "__repr__": Builtin("__repr__", _named), "_replace": Builtin("_replace", replaced),
        "_make": ClassMethod(Builtin("_make", filled)),
        **{name: Property(Builtin(name, _on_content(read)), _UNCHANGED)
           for name, read in members.properties.items() if name not in members.constants},
    }  # fmt: skip


_CLASSES: dict[Type, ClassValue] = {}


def on_builtins(bases: tuple[Any, ...]) -> tuple[Any, ...]:
    """The bases of a class, each type of Python as the class that stands for it."""
    return tuple([
        _class_of(base) if type(base) is Type and _is_known(base) and not is_mixed_in(base, bases)
        else base for base in bases
    ])  # fmt: skip


def _is_known(base: Type) -> bool:
    host: Any = base.host
    return host in BUILT_ON and base in (OF_PYTHON.get(host), OF_LIBRARY.get(host))


for _host, _words in _SPECIAL.items():
    for _word, _work in (*_words.items(), ("__new__", OF_OBJECTS["__new__"])):
        if _work is not None:
            STATICS[_host.__name__, _word] = _work
