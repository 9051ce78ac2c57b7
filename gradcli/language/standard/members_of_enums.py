"""language: attributes and methods of an enumeration member."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..arithmetic import BINARY, BITS, COMPARED, METHOD_WORDS, UNARY
from ..attributes import get_attribute
from ..builtins.prelude import PRELUDE, make_float, make_int
from ..classes import ClassValue
from ..classes.instances import Property
from ..formatting import formatted, quoted, text
from ..operations import COMPARE, contains, get_item, type_name
from ..values import Builtin, Instance, Lazy, stands_for


def stored(member: Any) -> Any:
    """The value of a member; a program may have put anything in its place."""
    return member.table.get("_value_")


def bits(member: Any) -> int:
    """The value of a flag."""
    value = stored(member)
    if type(value) is not int:
        raise TypeError(f"invalid flag value {quoted(value)}")
    return value


def title_of(kind: ClassValue) -> str:
    own = kind.enumeration
    return f"<enum {kind.name!r}>" if own is None else str(own.title(kind))


def name_of(member: Any) -> Any:
    return member.table.get("_name_")


def _qualified(member: Any) -> str:
    return f"{member.kind.name}.{text(name_of(member))}"


def _enum_repr(member: Any) -> str:
    value = quoted(stored(member))
    if name_of(member) is None:
        return f"<{member.kind.name}: {value}>"
    return f"<{_qualified(member)}: {value}>"


def _enum_str(member: Any) -> str:
    if name_of(member) is None:
        return f"{member.kind.name}({quoted(stored(member))})"
    return _qualified(member)


TEXTS: dict[str, Callable[..., Any]] = {
    "__repr__": _enum_repr,
    "__str__": _enum_str,
    "__format__": lambda member, spec: formatted(text(member), spec),
}
# The same where a member is shown as what it stands for: IntEnum, StrEnum, IntFlag.
AS_PLAIN: dict[str, Callable[..., Any]] = {
    "__str__": lambda member: text(stands_for(member)),
    "__format__": lambda member, spec: formatted(stands_for(member), spec),
}


def _binary(word: str, reflected: bool) -> Callable[[Any, Any], Any]:
    work = BINARY[word]

    def run(member: Any, other: Any) -> Any:
        pair = (stands_for(member), stands_for(other))
        try:
            return work(*pair[::-1]) if reflected else work(*pair)
        except TypeError:
            if type(pair[0]) is str or type(pair[1]) not in (str, list, tuple, dict, type(None)):
                raise
            return NotImplemented  # Python says it, of the member's own class

    return run


def _unary(work: Callable[..., Any]) -> Callable[..., Any]:
    return lambda member, *others: work(stands_for(member), *map(stands_for, others))


_OF_ALL: dict[str, Callable[..., Any]] = {
    **{name: _unary(COMPARE[word]) for name, word in COMPARED.items()},
    "__hash__": lambda member: hash(stands_for(member)), "__bool__": _unary(bool),
    "__int__": _unary(make_int), "__float__": _unary(make_float),
    "__getattr__": lambda member, name: get_attribute(stands_for(member), name),
}  # fmt: skip


def _arithmetic(names: Iterable[str]) -> dict[str, Callable[..., Any]]:
    return {
        f"__{side}{name}__": _binary(METHOD_WORDS[name], bool(side))
        for name in names
        for side in ("", "r")
    }


_OF_FLOATS: dict[str, Callable[..., Any]] = {
    **_OF_ALL, **_arithmetic(METHOD_WORDS.keys() - BITS),
    "__neg__": _unary(UNARY["USub"]), "__pos__": _unary(UNARY["UAdd"]), "__abs__": _unary(abs),
    "__round__": _unary(PRELUDE["round"].function),
    "__divmod__": _unary(PRELUDE["divmod"].function),
}  # fmt: skip
OF_PLAIN: dict[str, dict[str, Callable[..., Any]]] = {
    "float": _OF_FLOATS,
    "int": {
        **_OF_FLOATS, **_arithmetic(BITS), "__index__": stands_for,
        "__invert__": _unary(UNARY["Invert"]),
    },
    "str": {
        **_OF_ALL, **_arithmetic(("add", "mul", "mod")), "__len__": _unary(len),
        "__getitem__": _unary(get_item), "__contains__": _unary(contains),
        "__iter__": lambda member: Lazy("str_iterator", iter(stands_for(member))),
    },
}  # fmt: skip


def _combined(word: str) -> Callable[[Any, Any], Any]:
    """a | b of two flags; of an IntFlag and a number too."""

    def run(member: Any, other: Any) -> Any:
        kind = member.kind
        if isinstance(other, Instance) and other.kind is kind:
            other = bits(other)
        elif kind.enumeration.plain is None or type(other) is not int:
            return NotImplemented
        return kind.make(kind, BINARY[word](bits(member), other))

    return run


def _inverted(member: Any) -> Any:
    kind = member.kind
    if kind.enumeration.plain is not None:
        return kind.make(kind, ~bits(member))
    singles = 0
    for one in kind.enumeration.unique():
        singles |= bits(one)
    return kind.make(kind, singles & ~bits(member))


def _within(member: Any, other: Any) -> bool:
    if not (isinstance(other, Instance) and other.kind is member.kind):
        raise TypeError(
            f"unsupported operand type(s) for 'in': {type_name(other)!r} and "
            f"{member.kind.qualified!r}"
        )
    return bits(other) & bits(member) == bits(other)


def _parts(member: Any) -> Lazy:
    own = member.kind.enumeration
    return Lazy("generator", (one for one in own.unique() if bits(one) & bits(member)))


OF_FLAGS: dict[str, Callable[..., Any]] = {
    **{f"__{side}{name}__": _combined(word) for side in ("", "r")
       for name, word in (("or", "BitOr"), ("and", "BitAnd"), ("xor", "BitXor"))},
    "__invert__": _inverted, "__contains__": _within, "__iter__": _parts,
    "__len__": lambda member: bits(member).bit_count(),
    "__bool__": lambda member: bool(bits(member)),
}  # fmt: skip


def read_only(name: str) -> Property:
    def write(member: Any, value: Any) -> None:
        raise AttributeError(f"<enum 'Enum'> cannot set attribute {name!r}")

    read = Builtin(name, lambda member: member.table.get(f"_{name}_"))
    return Property(read, Builtin(name, write))
