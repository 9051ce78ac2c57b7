"""language: the one door from values to text: str, repr, format, % and f-strings."""

from __future__ import annotations

import re
import sys
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

from ..engine.graph.node import Node
from ..engine.tensors.tensor import Tensor
from ..nn.module import Module
from ..nn.registered import Registered
from ..pattern import pattern
from .adoption import adopt, is_library
from .attributes import get_attribute
from .costs import BIG, SMALL, TEXTS, WALKED, charge_integer, charge_shown, joined
from .libraries import NUMBERS, TENSORS
from .operations import DICTS, VIEWS, get_item, type_handlers, type_name
from .redaction import published
from .session import MAX_DEPTH, session
from .sets import FrozenSet, Set
from .values import (
    Bound,
    Builtin,
    ErrorValue,
    Function,
    Instance,
    Lazy,
    Namespace,
    Plain,
    Type,
    slice_parts,
    stands_for,
)

SHORT = 4  # characters of a format, which can't ask for much
# Methods of a tensor that PyTorch has in Python, and methods that each of its classes defines anew.
IN_PYTHON = frozenset(
    "backward register_hook register_post_accumulate_grad_hook share_memory_ is_shared storage "
    "module_load norm split unique".split()
)
OF_EACH_CLASS = frozenset({"forward", "step"})
_NUMBERS = pattern(r"\d+")


class Texts:
    """How the program's own classes say themselves; their room fills this in."""

    def __init__(self) -> None:
        self.custom: Callable[[Any, str], str | None] = lambda value, method: None
        # the module of an object's class, with a dot behind it
        self.home: Callable[[Any], str] = lambda value: getattr(type(value), "_torch_home", "")


texts = Texts()


def text(value: Any) -> str:
    """str(value)"""
    kind: Any = type(value)
    if kind is str:
        return value
    if kind in PLAIN:
        return quoted(value) if kind is bytes else str(value)
    if kind is Tensor:
        return repr(value)
    if kind is ErrorValue:
        return shown_error(value)
    special = texts.custom(value, "__str__")
    if special is not None:
        return special
    if issubclass(kind, Module):
        return quoted(value)
    if hasattr(kind, "__repr__") and kind not in REPRESENT and kind.__str__ is not object.__str__:
        if not issubclass(kind, (tuple, Node)):
            return published(str(value))  # devices and dtypes have a shorter str
    return quoted(value)


def shown_error(error: ErrorValue) -> str:
    """str(error), as its class says it."""
    special = texts.custom(error, "__str__")
    return error_text(error) if special is None else special


def error_text(error: ErrorValue) -> str:
    """Nothing, the argument, or the tuple of the arguments."""
    if not error.args:
        return ""
    if len(error.args) == 1:
        only = error.args[0]
        return quoted(only) if error.kind.name == "KeyError" else text(only)
    return quoted(error.args)


def quoted(value: Any) -> str:
    """repr(value)"""
    kind: Any = type(value)
    if kind in PLAIN:
        if kind in TEXTS and len(value) > SMALL:
            charge_shown(value)
        return repr(value)
    represent = REPRESENT.get(kind)
    if represent is not None:
        return represent(value)
    nested = NESTED.get(kind)
    if nested is not None or (isinstance(value, tuple) and kind.__repr__ is tuple.__repr__):
        instead = "..." if nested is None else nested[2]
        return session.shown_once(value, instead, lambda: _nested(value, kind))
    special = texts.custom(value, "__repr__")
    if special is not None:
        return special
    return own_text(value)


def own_text(value: Any, represent: Callable[[Any], str] = repr) -> str:
    """repr(value) of an object of the library, whatever its class in the program says."""
    kind: Any = type(value)
    if issubclass(kind, Module):
        _charge_module(value)
    if issubclass(kind, Registered):
        return quoted(adopt(value.copy()))
    if issubclass(kind, Node):
        shown = f"{value._torch_home}{value.name().split('::')[-1]}"
        return f"<{shown} object at {session.address_of(value)}>"
    if kind.__repr__ is object.__repr__ or kind.__repr__ is quoted:
        home = texts.home(value)
        return f"<{home}{type_name(value)} object at {session.address_of(value)}>"
    return published(represent(value))


def _charge_module(module: Module) -> None:
    """A module prints the modules inside, indented again on each level."""
    level: list[Any] = [module]
    for depth in range(MAX_DEPTH):
        if not level:
            return
        session.budget.charge(len(level) * (depth + 1) + 1)
        session.budget.charge_bytes(len(level) * (depth + 1) * 100)
        level = [
            inner
            for outer in level
            for inner in outer.__dict__.get("_modules", {}).values()
            if inner is not None
        ]
    raise RecursionError("maximum recursion depth exceeded while getting the repr of an object")


def _nested(value: Any, kind: type) -> str:
    charge = session.budget.charge
    charge(len(value) + 1)
    if kind in DICTS:
        items = value.items()
        if kind is Counter and set(map(type, value.values())) <= {int, float, bool}:
            charge(len(value) * len(value).bit_length())
            items = value.most_common()
        pairs = [(quoted(key), quoted(item)) for key, item in items]
        if kind in (Counter, OrderedDict) and not pairs:
            return f"{kind.__name__}()"
        if kind is OrderedDict and sys.version_info < (3, 12):  # as the Python at hand shows it
            listed = [f"({key}, {item})" for key, item in pairs]
            return _enclosed("OrderedDict([", listed, "])")
        shown = _enclosed("{", [f"{key}: {item}" for key, item in pairs], "}")
        if kind is defaultdict:
            return f"defaultdict({value.default_factory!r}, {shown})"
        return shown if kind is dict else f"{kind.__name__}({shown})"
    parts = [quoted(item) for item in value]
    if kind is list:
        return _enclosed("[", parts, "]")
    if kind is Set or kind is FrozenSet:
        if not parts:
            return f"{kind.__name__}()"
        return _enclosed("{", parts, "}") if kind is Set else _enclosed("frozenset({", parts, "})")
    if kind in VIEWS:
        return _enclosed(f"{kind.__name__}([", parts, "])")
    return _enclosed("(", parts, ",)" if len(parts) == 1 else ")")


def _enclosed(start: str, parts: list[str], end: str) -> str:
    """The parts with commas between them; the whole is made once."""
    if not parts:
        return start + end
    parts[0] = start + parts[0]
    parts[-1] += end
    return joined(parts, ", ")


def _function(value: Function) -> str:
    name = value.table.get("__qualname__", value.code.qualified)
    return f"<function {name} at {session.address_of(value)}>"


def _builtin(value: Builtin) -> str:
    if value.text.startswith(("<function", "<built-in method")):
        return f"{value.text[:-1]} at {session.address_of(value)}>"
    return value.text


def _bound(value: Bound) -> str:
    owner = type_name(value.owner)
    made = _in_python(value)
    if made:
        return f"<bound method {made}.{value.name} of {quoted(value.owner)}>"
    return f"<built-in method {value.name} of {owner} object at {session.address_of(value.owner)}>"


def _in_python(value: Bound) -> str:
    """The class whose method it is, where PyTorch or the program wrote it in Python; "" for C."""
    kind = type(value.owner)
    if type(value.function) is Function:
        return type_name(value.owner)
    if kind is Tensor:
        return "Tensor" if value.name in IN_PYTHON else ""
    if not is_library(value.owner) or isinstance(value.owner, Node):
        return ""
    if value.name in OF_EACH_CLASS:
        return type_name(value.owner)
    maker = next((part for part in kind.__mro__ if value.name in part.__dict__), kind)
    return "" if maker.__module__ == "builtins" else maker.__name__


def _lazy(value: Lazy) -> str:
    if value.kind in ("generator", "coroutine"):
        return f"<{value.kind} object {value.name} at {session.address_of(value)}>"
    return f"<{value.kind} object at {session.address_of(value)}>"


def _slice(value: slice) -> str:
    return f"slice({', '.join([quoted(part) for part in slice_parts(value)])})"


def _error(value: ErrorValue) -> str:
    special = texts.custom(value, "__repr__")
    return plain_error(value) if special is None else special


def plain_error(value: ErrorValue) -> str:
    inside = joined([quoted(item) for item in value.args], ", ")
    return f"{value.kind.name}({inside})"


PLAIN = frozenset({int, float, bool, str, bytes, complex, type(None), type(...), range})
REPRESENT: dict[type, Callable[[Any], str]] = {
    Tensor: repr,
    Function: _function,
    Builtin: _builtin,
    Bound: _bound,
    Type: lambda value: value.text,
    Namespace: lambda value: f"<module '{value.path}'>",
    Lazy: _lazy,
    ErrorValue: _error,
    slice: _slice,
    type(NotImplemented): repr,
}
# How a container that contains itself is shown inside itself.
NESTED: dict[type, tuple[str, str, str]] = {
    list: ("[", "]", "[...]"),
    tuple: ("(", ")", "(...)"),
    **dict.fromkeys(DICTS, ("{", "}", "{...}")),
    Set: ("{", "}", "set(...)"),
    FrozenSet: ("{", "}", "frozenset(...)"),
    **dict.fromkeys(VIEWS, ("", "", "...")),
}


# ---------------------------------------------------------------- format specs

# How a type of another room answers to a format that is not empty.
SPECS: dict[type, Callable[[Any, str], str]] = {}
_SCALARS = frozenset({int, float, bool, str, complex})


def formatted(value: Any, spec: str) -> str:
    """format(value, spec); a tensor or an array of no dimension is formatted as its number, also
    without a spec: with all digits of a float32."""
    kind: Any = type(value)
    if not spec and kind not in TENSORS and not (kind in NUMBERS and not value.array.shape):
        special = type_handlers.special(value, "__format__")
        return text(value) if special is None else text(special(spec))
    if len(spec) > SHORT:
        _charge_widths(spec)
    if kind in SPECS:
        return SPECS[kind](value, spec)
    if kind in _SCALARS or kind in TENSORS or kind in NUMBERS:
        if kind is int or kind is str:
            _charge_digits(value)
        return format(value, spec)
    special = type_handlers.special(value, "__format__")
    if special is not None:
        return text(special(spec))
    raise TypeError(f"unsupported format string passed to {type_name(value)}.__format__")


def _charge_widths(spec: str) -> None:
    session.budget.charge(len(spec) >> WALKED)
    for number in _NUMBERS.findall(spec):
        size = int(number) if len(number) < 19 else 1 << 62
        session.budget.charge_bytes(4 * size)
        session.budget.charge(size >> WALKED)


def _charge_digits(value: Any) -> None:
    if type(value) is int and value.bit_length() > BIG:
        charge_integer(value.bit_length())
    else:
        charge_shown(value)


def converted(value: Any, conversion: int) -> Any:
    """!r, !s and !a of a replacement field; -1 for none."""
    if conversion == ord("r"):
        return quoted(value)
    if conversion == ord("s"):
        return text(value)
    if conversion == ord("a"):
        shown = quoted(value)
        charge_shown(shown)
        return shown.encode("ascii", "backslashreplace").decode("ascii")
    return value


# ---------------------------------------------------------------- str.format

_FIRST = pattern(r"[^.\[]*")
_STEP = pattern(r"\.([^.\[]+)|\[([^\]]+)\]")


def format_method(pattern: str, args: tuple[Any, ...] | None, kwargs: Any) -> str:
    """pattern.format(*args, **kwargs); fields are looked up in the language's own tables.

    Without args it is pattern.format_map(kwargs), whose mapping may be of any kind.
    """
    return _fill(pattern, args, kwargs, [0], 2)


def _fill(
    pattern: str, args: tuple[Any, ...] | None, kwargs: Any, counter: list[int], depth: int
) -> str:
    if depth == 0:
        raise ValueError("Max string recursion exceeded")
    parts: list[str] = []
    session.budget.charge(len(pattern) >> WALKED)
    from string import Formatter  # which few programs need

    for literal, field, spec, conversion in Formatter().parse(pattern):
        session.budget.charge(1)
        parts.append(literal)
        if field is None:
            continue
        value = _field(field, args, kwargs, counter)
        if conversion:
            if conversion not in ("r", "s", "a"):
                raise ValueError(f"Unknown conversion specifier {conversion}")
            value = converted(value, ord(conversion))
        if spec:
            spec = _fill(spec, args, kwargs, counter, depth - 1)
        parts.append(formatted(value, spec or ""))
    return joined(parts)


def _field(field: str, args: tuple[Any, ...] | None, kwargs: Any, counter: list[int]) -> Any:
    first = _FIRST.match(field)
    assert first is not None
    key = first.group()
    if key == "":
        if counter[0] < 0:
            raise ValueError(
                "cannot switch from manual field specification to automatic field numbering"
            )
        key = str(counter[0])
        counter[0] += 1
    elif key.isdigit():
        if counter[0] > 0:
            raise ValueError(
                "cannot switch from automatic field numbering to manual field specification"
            )
        counter[0] = -1
    if key.isdigit():
        if args is None:
            raise ValueError("Format string contains positional fields")
        if len(key) > 9 or int(key) >= len(args):
            raise IndexError(f"Replacement index {key} out of range for positional args tuple")
        value = args[int(key)]
    else:
        value = get_item(kwargs, key)
    rest = field[first.end() :]
    place = 0
    while place < len(rest):
        session.budget.charge(1)
        step = _STEP.match(rest, place)
        if step is None:
            raise ValueError("Empty attribute in format string")
        if step[1] is not None:
            value = get_attribute(value, step[1])
        else:
            value = get_item(value, int(step[2]) if step[2].isdecimal() else step[2])
        place = step.end()
    return value


# ---------------------------------------------------------------- percent

# Nothing is tried twice (*+, ++): a pattern of a million zeros is read once.
_PERCENT = pattern(
    r"%(?:\(([^)]*+)(\)|\Z))?([#0\- +]*+)(\*|\d++)?(?:\.(\*|\d++))?[hlL]?(.|\Z)", re.DOTALL
)


def percent(pattern: str, values: Any) -> str:
    """pattern % values"""
    held = stands_for(values)
    items = list(held) if isinstance(held, tuple) else [values]
    mapping = held if isinstance(held, dict) else None
    used = 0

    def take() -> Any:
        nonlocal used
        if used >= len(items):
            raise TypeError("not enough arguments for format string")
        used += 1
        return items[used - 1]

    parts: list[str] = []
    place = 0
    session.budget.charge(len(pattern) >> WALKED)
    for match in _PERCENT.finditer(pattern):
        session.budget.charge(1)
        parts.append(pattern[place : match.start()])
        place = match.end()
        name, closed, flags, width, precision, letter = match.groups()
        if name is not None and not closed:
            raise ValueError("incomplete format key")
        if not letter:
            raise ValueError("incomplete format")
        if letter == "%":
            parts.append("%")
            continue
        if name is not None:
            if mapping is None:
                raise TypeError("format requires a mapping")
            used = 1
        width = _star(take()) if width == "*" else width or ""
        precision = _star(take()) if precision == "*" else precision
        value = mapping[name] if name is not None and mapping is not None else take()
        spec = f"%{flags}{width}" + (f".{precision}" if precision is not None else "")
        if len(spec) > SHORT:
            _charge_widths(spec)
        parts.append(_percent_one(spec, letter, value, match.start(6)))
    parts.append(pattern[place:])
    if used < len(items) and mapping is None:
        raise TypeError("not all arguments converted during string formatting")
    return joined(parts)


def _star(value: Any) -> str:
    if type(value) is not int:
        raise TypeError("* wants int")
    return str(value)


def _percent_one(spec: str, letter: str, value: Any, place: int) -> str:
    if letter == "s":
        return _padded(spec, text(value))
    if letter == "r" or letter == "a":
        return _padded(spec, converted(value, ord(letter)))
    if letter not in "diouxXeEfFgGc":
        shown = letter if letter.isprintable() else "?"
        raise ValueError(
            f"unsupported format character '{shown}' (0x{ord(letter):x}) at index {place}"
        )
    value = stands_for(value)
    if (type(value) in TENSORS or type(value) in NUMBERS) and letter != "c":
        value = float(value) if letter in "eEfFgG" else int(value)
    elif type(value) not in (int, float, bool, str):
        if letter in "eEfFgG":
            raise TypeError(f"must be real number, not {type_name(value)}")
        if letter != "c":
            raise TypeError(f"%{letter} format: a real number is required, not {type_name(value)}")
    if type(value) is int:
        _charge_digits(value)
    result: str = (spec + letter) % value
    return result


def _padded(spec: str, shown: str) -> str:
    return shown if spec == "%" else (spec + "s") % shown


# The library's own messages show a value of the program with !r or as a part of a text.
for _record in (Function, Builtin, Bound, Type, Namespace, Lazy, ErrorValue, Instance, Plain):
    _record.__repr__ = quoted  # type: ignore[method-assign]
Instance.__str__ = ErrorValue.__str__ = text  # type: ignore[method-assign]
