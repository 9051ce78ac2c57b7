"""language: the names that every program starts with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import namespace
from ...nn.module import Module
from ...nn.registered import contents
from ..adoption import adopt
from ..annotations import Annotation
from ..arithmetic import power
from ..attributes import delete_attribute, get_attribute, set_attribute
from ..calls import call
from ..costs import (
    TEXTS,
    charge_division,
    charge_integer,
    charge_number,
    charge_shown,
    charge_text,
    joined,
)  # fmt: skip
from ..formatting import converted, formatted, quoted, text
from ..libraries import NUMBERS, TENSORS
from ..members import members_of
from ..names import BUILTIN_NAMES, FLAT, ROOTS, members
from ..operations import check_key, collect, type_handlers, type_name
from ..session import session
from ..sets import FrozenSet
from ..values import UNBOUND, Builtin, Instance, Namespace, make_slice, stands_for
from .arguments import named
from .errors import ERRORS, Raised, matches
from .iteration import FUNCTIONS, LAZY_TYPES
from .paths import published, resolve_path
from .types import CONSTRUCT, OF_PYTHON, is_class, is_instance, is_subclass


def print_(
    *values: Any, sep: Any = None, end: Any = None, flush: Any = None, file: Any = None,
    **others: Any,
) -> None:  # fmt: skip
    for name in others:
        raise TypeError(f"'{name}' is an invalid keyword argument for print()")
    for name, value in (("sep", sep), ("end", end)):
        if value is not None and type(value) is not str:
            raise TypeError(f"{name} must be None or a string, not {type_name(value)}")
    sep, end = " " if sep is None else sep, "\n" if end is None else end
    if file is not None:
        _print_to(get_attribute(file, "write"), values, sep, end)
        return
    line = joined([text(value) for value in values], sep) + end
    session.budget.charge_output(line)
    session.write(line)


def _print_to(write: Any, values: tuple[Any, ...], sep: str, end: str) -> None:
    """Piece by piece, as Python's print calls `write`."""
    for place, value in enumerate(values):
        if place and sep:
            call(write, (sep,), {})
        call(write, (text(value),), {})
    call(write, (end,), {})


def round_(number: Any, ndigits: Any = None) -> Any:
    value, kind = number, type(number)
    if kind in NUMBERS:
        return round(value, ndigits)
    if kind not in (int, float, bool):
        special = type_handlers.special(value, "__round__")
        if special is not None:
            return special() if ndigits is None else special(ndigits)
        raise TypeError(f"type {type_name(value)} doesn't define __round__ method")
    if kind in (int, bool) and type(ndigits) is int and ndigits < 0:
        if -ndigits > value.bit_length():  # ten to that power is more than twice the number
            return 0
        charge_integer(value.bit_length())
        charge_division(value, value)
    return round(value, ndigits)


def pow_(base: Any, exp: Any, mod: Any = None) -> Any:
    if mod is None:
        return power(base, exp)
    if type(base) is int and type(exp) is int and type(mod) is int:
        words = mod.bit_length() // 30 + 1
        session.budget.charge(exp.bit_length() * words * words // 50 + 1)
        if exp < 0:
            session.budget.charge(words * words)
        charge_division(base, mod)
    return pow(base, exp, mod)


def divmod_(x: Any, y: Any, /) -> Any:
    charge_division(x, y)
    return divmod(x, y)


def make_int(value: Any = 0, /, base: Any = UNBOUND) -> int:
    if type(value) is str:
        charge_text(value)
        session.budget.charge_bytes(len(value))  # of many digits, Python reads powers of two only
    if base is not UNBOUND:
        return int(value, base)
    if type(value) in (int, float, bool, str) or type(value) in TENSORS or type(value) in NUMBERS:
        return int(value)
    if isinstance(value, Instance):
        return int(value)  # type: ignore[call-overload]
    raise TypeError(
        "int() argument must be a string, a bytes-like object or a real number, "
        f"not '{type_name(value)}'"
    )


def make_float(value: Any = 0.0, /) -> float:
    if type(value) is str:
        charge_text(value)
    if type(value) in (int, float, bool, str) or type(value) in TENSORS or type(value) in NUMBERS:
        return float(value)
    if isinstance(value, Instance):
        return float(value)  # type: ignore[arg-type]
    raise TypeError(f"float() argument must be a string or a real number, not '{type_name(value)}'")


def make_complex(real: Any = 0, imag: Any = UNBOUND) -> complex:
    if type(real) is str:
        charge_text(real)
    return complex(real) if imag is UNBOUND else complex(real, imag)


def make_str(object: Any = "") -> str:
    return text(object)


def getattr_(value: Any, name: Any, default: Any = UNBOUND, /) -> Any:
    if type(name) is not str:
        raise TypeError(f"attribute name must be string, not '{type_name(name)}'")
    if default is UNBOUND:
        return get_attribute(value, name)
    try:
        return get_attribute(value, name)
    except (AttributeError, Raised) as error:
        if not matches(error, ERRORS["AttributeError"]):
            raise
        return default


def hasattr_(value: Any, name: Any, /) -> bool:
    if type(name) is not str:
        raise TypeError(f"attribute name must be string, not '{type_name(name)}'")
    return getattr_(value, name, UNBOUND_ATTRIBUTE) is not UNBOUND_ATTRIBUTE


UNBOUND_ATTRIBUTE = object()


def setattr_(value: Any, name: Any, new: Any, /) -> None:
    if type(name) is not str or name.startswith("__"):
        raise TypeError("attribute name must be string without two underscores in front")
    set_attribute(value, name, new)


def delattr_(value: Any, name: Any, /) -> None:
    if type(name) is not str or name.startswith("__"):
        raise TypeError("attribute name must be string without two underscores in front")
    delete_attribute(value, name)


def id_(value: Any, /) -> int:
    if type(value) in (int, float, bool, str, type(None)):
        charge_shown(value)
        shown = hex(value) if type(value) is int else repr(value)
        return session.number_of_pointer(hash((type(value).__name__ == "str", shown))) * 16
    return session.number_of(value) * 16 + 8


def hash_(value: Any, /) -> int:
    kind = type(value)
    if kind in (int, float, bool, complex):
        charge_number(value)
        return hash(value) if value == value else session.number_of(value)  # NaN: by its address
    if kind in TEXTS:
        charge_shown(value)
        from zlib import crc32

        octets = value.encode("utf-8", "surrogatepass") if kind is str else value
        return crc32(octets)  # Python's is salted
    if isinstance(value, tuple):
        check_key(value)
        return hash(tuple([hash_(item) for item in value]))
    if any(type_handlers.special(value, word) for word in ("__hash__", "__eq__")):
        plain = stands_for(value)
        return hash(value) if plain is value else hash_(plain)
    if kind is FrozenSet:
        return hash(frozenset([hash_(item) for item in value]))
    if kind.__hash__ is None:
        raise TypeError(f"unhashable type: '{type_name(value)}'")
    return session.number_of(value)


def _digits(function: Callable[[Any], str]) -> Callable[[Any], str]:
    def run(value: Any, /) -> str:
        charge_number(value)
        charge_number(value)
        return function(value)

    return run


def issubclass_(kind: Any, kinds: Any, /) -> bool:
    options = kinds if type(kinds) is tuple else (kinds,)
    if type(kinds) is Annotation and kinds.parts:
        options = tuple(part for part in kinds.parts if part is not None)
    if not is_class(kind):
        raise TypeError("issubclass() arg 1 must be a class")
    for option in options:
        if not is_class(option):
            words = "issubclass() arg 2 must be a class, a tuple of classes, or a union"
            raise TypeError(words)
    return any(is_subclass(kind, option) for option in options)


def format_(value: Any, spec: Any = "", /) -> str:
    if type(spec) is not str:
        raise TypeError(f"format() argument 2 must be str, not {type_name(spec)}")
    return formatted(value, spec)


def _help(*request: Any) -> None:
    """help(torch.ones_like): a manual, which a run has no screen for."""
    session.notes.setdefault("help() shows nothing; `gradcli ops NAME` describes an operator")


def repr_(value: Any, /) -> str:
    return quoted(value)


def vars_(value: Any = UNBOUND, /) -> dict[str, Any]:
    """The names that an object of the program, or of argparse, has of its own."""
    if value is UNBOUND:
        raise TypeError("vars() needs an object here")
    if isinstance(value, Module):
        return {name: adopt(held) for name, held in contents(value).items()}
    try:
        return get_attribute(value, "__dict__")
    except AttributeError:
        raise TypeError("vars() argument must have __dict__ attribute") from None


def dir_(value: Any = UNBOUND, /) -> list[str]:
    """The names that a value offers after a dot."""
    if value is UNBOUND:
        raise TypeError("dir() needs an object here")
    if type(value) is Namespace:
        return sorted(set(members(value.path)))
    asked = type_handlers.special(value, "__dir__")
    if asked is not None:
        return sorted(collect(asked()))
    table = members_of(value)
    own = value.table if isinstance(value, Instance) else {}
    of_class = value.kind.order if isinstance(value, Instance) else []
    named = [name for kind in of_class for name in kind.table]
    return sorted({*table.methods, *table.properties, *own, *named})


def _unnamed(function: str) -> Callable[..., Any]:
    """globals and locals where they are no call that stands in a function or in the module."""

    def run() -> Any:
        raise TypeError(f"{function}() works only where it is written out, not in a class body")

    return run


def _of_system(name: str) -> Callable[..., Any]:
    """open, input and exit: their file is read when one of them is called."""

    def run(*args: Any, **kwargs: Any) -> Any:
        return published("standard.system")["prelude"][name].function(*args, **kwargs)

    return run


CONSTRUCT.update({
    "int": make_int, "float": make_float, "bool": bool, "str": make_str,
    "slice": make_slice, "complex": make_complex,
})  # fmt: skip
for _name, _make in CONSTRUCT.items():
    CONSTRUCT[_name] = named(_name, _make)
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **FUNCTIONS,
    "print": print_, "abs": abs, "round": round_, "pow": pow_, "divmod": divmod_,
    "repr": repr_, "isinstance": is_instance, "issubclass": issubclass_, "getattr": getattr_,
    "hasattr": hasattr_, "setattr": setattr_, "id": id_, "hash": hash_, "format": format_,
    "chr": chr, "ord": ord, "bin": _digits(bin), "hex": _digits(hex), "oct": _digits(oct),
    "vars": vars_, "dir": dir_, "delattr": delattr_,
    "globals": _unnamed("globals"), "locals": _unnamed("locals"),
    "help": _help, "ascii": lambda obj, /: converted(obj, ord("a")),
}  # fmt: skip
PRELUDE: dict[str, Any] = {
    name: Builtin(name, named(name, function)) for name, function in _FUNCTIONS.items()
}
PRELUDE.update({
    name: Builtin(name, _of_system(name)) for name in ("open", "input", "exit", "quit")
})  # fmt: skip
PRELUDE.update({kind.name: kind for kind in OF_PYTHON.values() if kind.name in BUILTIN_NAMES})
PRELUDE.update(LAZY_TYPES)
PRELUDE.update(ERRORS)
PRELUDE.update(
    {
        "NotImplemented": NotImplemented,
        "Ellipsis": ...,
        "__name__": "__main__",
        "__file__": "/home/user/lessons/code/program.py",
        "__doc__": None,
    }
)


def meaning(name: str) -> Any:
    """The value of a name that the program does not bind; KeyError when it has none."""
    if name in PRELUDE:
        return PRELUDE[name]
    if name in ROOTS:
        return resolve_path(ROOTS[name])
    if name in FLAT:
        return resolve_path(FLAT[name])
    if "." not in name and namespace.has(name):
        return resolve_path(f"torch.{name}")
    raise KeyError(name)
