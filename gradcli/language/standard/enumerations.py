"""language: enum: classes of a program whose plain values are members, alone or as numbers, texts.

A member is an object of the program's class like any other. One that stands for a number or a text
(`class Mode(str, Enum)`) is no host's `str`: what Python would inherit is asked of that text here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..attributes import MISSING, SPECIAL, SPECIAL_DELETE, SPECIAL_SET, get_attribute
from ..builtins.types import OF_PYTHON
from ..calls import call
from ..classes import EMPTY_BASES, MIXED_IN, ClassValue, from_class
from ..classes.instances import BRIDGED, ClassMethod, Property, StaticMethod, add_special
from ..classes.making import make_class
from ..formatting import quoted
from ..operations import check_key, collect, equal, get_item, type_handlers
from ..session import session
from ..values import Builtin, Function, Instance, Type
from .members_of_enums import (
    AS_PLAIN,
    OF_FLAGS,
    OF_PLAIN,
    TEXTS,
    bits,
    name_of,
    read_only,
    stored,
    title_of,
)
from .publishing import classes


class Enumeration:
    """The state of a class that derives from Enum."""

    __slots__ = ("above", "composed", "flag", "members", "plain")

    def __init__(self, plain: Type | None, flag: bool) -> None:
        self.members: dict[str, Any] = {}  # aliases too
        self.composed: dict[int, Any] = {}  # of a Flag: members without a line of their own
        self.plain = plain  # the type of what its members stand for: int, float, str
        self.flag = flag
        self.above = {ENUM, plain} | ({FLAG} if flag else set())  # what its members are objects of

    def title(self, kind: ClassValue) -> str:
        return f"<{'flag' if self.flag else 'enum'} {kind.name!r}>"

    def unique(self) -> list[Any]:
        """The members in their order, without aliases; of a flag those of a single bit."""
        session.budget.charge(len(self.members))
        kept = {id(member): member for name, member in self.members.items()
                if not self.flag or bits(member).bit_count() == 1}  # fmt: skip
        return list(kept.values())


class auto:
    """enum.auto(), and flags that are combined before they have their values."""

    _torch_name = "enum.auto"
    PUBLIC = ()
    __slots__ = ("combined",)

    def __init__(self) -> None:
        self.combined: tuple[Any, ...] = ()

    def __or__(self, other: Any) -> auto:
        if type(other) not in (int, auto):
            return NotImplemented
        both = auto()
        both.combined = (self, other)
        return both

    __ror__ = __or__


# ---------------------------------------------------------------- making members


def _finish(kind: ClassValue) -> ClassValue:
    """Plain values of the class's body become its members."""
    bases = [base for owner in kind.order for base in owner.bases]
    for base in kind.order[1:]:
        above = base.enumeration
        if above is not None and above.members:
            raise TypeError(f"{title_of(kind)} cannot extend {title_of(base)}")
    types = dict.fromkeys(_STAND_FOR[base] for base in bases if base in _STAND_FOR)
    if len(types) > 1:
        words = ", ".join(f"<class '{kind.name}'>" for kind in types)
        raise TypeError(f"too many data types for {kind.name!r}: {{{words}}}")
    plain = next(iter(types), None)
    own = kind.enumeration = Enumeration(plain, FLAG in bases or INT_FLAG in bases)
    given = [item for item in kind.table.items() if _is_member(*item)]
    _give_methods(kind, own, bases)
    values: dict[int, int] = {}  # of an auto() by its identity: what it became
    last: list[Any] = []
    for name, value in given:
        session.budget.charge(len(own.members) + 1)
        same = _new_member(kind, name, _settled(kind, name, value, last, values))
        last.append(stored(same))
        own.members[name] = kind.table[name] = same
    kind.make = _member_of if own.members else None
    return kind


def _is_member(name: str, value: Any) -> bool:
    helpers = (Function, Builtin, Property, StaticMethod, ClassMethod, ClassValue, Type)
    return not name.startswith("_") and type(value) not in helpers


def _settled(
    kind: ClassValue, name: str, value: Any, last: list[Any], values: dict[int, int]
) -> Any:
    """What auto() stands for, and flags that are combined of such."""
    if type(value) is not auto:
        return value
    if value.combined:
        session.budget.enter()
        try:
            first, second = (
                part if type(part) is int else values.get(id(part))
                or _settled(kind, name, part, last, values) for part in value.combined
            )  # fmt: skip
        finally:
            session.budget.depth -= 1
        return first | second
    own = kind.enumeration
    made = kind.find("_generate_next_value_")
    if made is not MISSING:
        function = made.function if type(made) is StaticMethod else made
        answer = call(function, (name, 1, len(last), list(last)), {})
    elif own.flag:
        answer = 1 << max((one.bit_length() for one in last if type(one) is int), default=0)
    elif STR_ENUM in [base for owner in kind.order for base in owner.bases]:
        answer = name.lower()
    else:
        answer = last[-1] + 1 if last and type(last[-1]) is int else 1
        if last and type(last[-1]) is not int:
            raise TypeError("unable to increment non-numeric values")
    values[id(value)] = answer
    return answer


def _new_member(kind: ClassValue, name: str, value: Any) -> Any:
    """The member of a value, which is another one's where both have the same."""
    own = kind.enumeration
    arguments = value if type(value) is tuple else (value,)
    making = kind.find("__new__")
    if making is not MISSING:
        member = call(getattr(making, "function", making), (kind, *arguments), {})
        if not isinstance(member, Instance) or member.kind is not kind:
            raise TypeError(f"__new__() of {title_of(kind)} makes no member of it")
    else:
        assert kind.host is not None
        member = kind.host(kind)
    if "_value_" not in member.table:
        known = value if own.plain is None else call(own.plain, arguments, {})
        member.table["_value_"] = known
    member.table["_name_"] = name
    start = kind.find("__init__")
    if start is not MISSING:
        call(start, (member, *arguments), {})
    value = stored(member)
    if own.flag:
        bits(member)
    for other in own.members.values():
        if equal(stored(other), value):
            return other
    return member


def _member_of(kind: ClassValue, value: Any) -> Any:
    """Color(1)"""
    own = kind.enumeration
    if isinstance(value, Instance) and value.kind is kind:
        return value
    for member in own.members.values():
        session.budget.charge(1)
        if equal(stored(member), value):
            return member
    if own.flag and type(value) is int:
        return _composed(kind, value)
    asked = kind.find("_missing_")
    if asked is not MISSING:
        answer = call(from_class(None, kind, asked), (value,), {})
        if isinstance(answer, Instance) and answer.kind is kind:
            return answer
    raise ValueError(f"{quoted(value)} is not a valid {kind.qualified}")


def _mask(own: Enumeration) -> int:
    mask = 0
    for member in own.members.values():
        mask |= bits(member)
    return mask


def _composed(kind: ClassValue, value: int) -> Any:
    """A flag of several bits, or of none."""
    own = kind.enumeration
    mask = _mask(own)
    every = (1 << mask.bit_length()) - 1
    if not ~every <= value <= every or value & (every ^ mask):
        if own.plain is None:
            raise ValueError(_beyond(kind, value, mask))
        if value < 0:
            value += max(every + 1, 1 << value.bit_length())
    if value < 0:
        value += every + 1
    for member in own.members.values():
        if stored(member) == value:
            return member
    if value not in own.composed:
        session.budget.charge_bytes(200 + value.bit_length() // 8)
        parts = [member for member in own.unique() if bits(member) & value]
        rest = value & ~mask
        words = [member.table["_name_"] for member in parts] + [str(rest)] * bool(parts and rest)
        assert kind.host is not None
        made = own.composed[value] = kind.host(kind)
        made.table.update({"_name_": "|".join(words) if words else None, "_value_": value})
    return own.composed[value]


def _beyond(kind: ClassValue, value: int, mask: int) -> str:
    width = max(value.bit_length(), mask.bit_length())

    def binary(number: int) -> str:
        sign = "1" if number < 0 else "0"
        return f"0b{sign} " + f"{number & ((1 << width) - 1):b}".rjust(width, "0")

    head = f"{title_of(kind)} invalid value {value}"
    return f"{head}\n    given {binary(value)}\n  allowed {binary(mask)}"


def _give_methods(kind: ClassValue, own: Enumeration, bases: list[Any]) -> None:
    """The methods that Enum and the type beside it have, where the class has none of its own."""
    methods = dict(TEXTS)
    if own.plain is not None:
        methods.update(OF_PLAIN[own.plain.name])
        if not {INT_ENUM, STR_ENUM, INT_FLAG}.isdisjoint(bases):
            methods.update(AS_PLAIN)
    if own.flag:
        methods.update(OF_FLAGS)
    for name, method in methods.items():
        if kind.find(name) is MISSING:
            kind.table[name] = Builtin(name, method)
            add_special(kind, name)
    kind.special |= BRIDGED & methods.keys()
    for name in ("name", "value"):
        if kind.find(name) is MISSING:
            kind.table[name] = read_only(name)
    if own.plain is None and kind.host is not None and kind.host.__hash__ is None:
        kind.host.__hash__ = object.__hash__


# ---------------------------------------------------------------- the classes themselves


def _members_of(value: Any) -> Enumeration | None:
    return value.enumeration if isinstance(value, ClassValue) else None


def _contains(own: Enumeration, item: Any) -> bool:
    """Color.RED in Color, 1 in Color"""
    for member in own.members.values():
        session.budget.charge(1)
        if member is item or equal(stored(member), item):
            return True
    return any(member is item for member in own.composed.values())


def _extend_type_handlers() -> None:
    """A class of this kind can be walked, measured, searched and subscripted."""
    before = (
        type_handlers.iterate, type_handlers.length, type_handlers.get_item, type_handlers.contains
    )  # fmt: skip

    def walk(value: Any) -> Iterator[Any] | None:
        own = _members_of(value)
        return before[0](value) if own is None else iter(own.unique())

    def measure(value: Any) -> Any:
        own = _members_of(value)
        return before[1](value) if own is None else lambda kind: len(own.unique())

    def subscript(value: Any) -> Any:
        own = _members_of(value)
        return before[2](value) if own is None else lambda kind, name: get_item(own.members, name)

    def search(value: Any) -> Any:
        own = _members_of(value)
        return before[3](value) if own is None else lambda kind, item: _contains(own, item)

    type_handlers.iterate, type_handlers.length = walk, measure
    type_handlers.get_item, type_handlers.contains = subscript, search


def _by_value(own: Enumeration) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for member in own.members.values():
        value = stored(member)
        check_key(value)
        if type(value) not in (list, dict):
            found.setdefault(value, member)
    return found


# What is read of a class with members: made anew, so that nothing is changed through it.
_OF_CLASSES: dict[str, Callable[[Enumeration], Any]] = {
    "__members__": lambda own: dict(own.members),
    "_member_map_": lambda own: dict(own.members),
    "_member_names_": lambda own: [name_of(member) for member in own.unique()],
    "_value2member_map_": _by_value,
}


def _class_attribute(read: Callable[..., Any]) -> Callable[[ClassValue, str], Any]:
    def run(value: ClassValue, name: str) -> Any:
        own = value.enumeration
        if own is not None and name in _OF_CLASSES:
            session.budget.charge_bytes(100 * len(own.members))
            session.budget.charge(len(own.members))
            return _OF_CLASSES[name](own)
        return read(value, name)

    return run


def _refusing_members(change: Callable[..., None], word: str) -> Callable[..., None]:
    """A class's members stay what they are."""

    def run(value: ClassValue, name: str, *new: Any) -> None:
        own = value.enumeration
        if own is not None and name in own.members:
            raise AttributeError(f"{title_of(value)} cannot {word} member {name!r}")
        change(value, name, *new)

    return run


def _unique(kind: Any) -> Any:
    """Decorator: refuses two names for one value."""
    own = _members_of(kind)
    if own is None:
        raise TypeError("unique() needs an enumeration")
    aliases = [f"{name} -> {name_of(member)}" for name, member in own.members.items()
               if name != name_of(member)]  # fmt: skip
    if aliases:
        raise ValueError(f"duplicate values found in {title_of(kind)}: {', '.join(aliases)}")
    return kind


def _base(name: str) -> Type:
    def construct(made: Any = MISSING, names: Any = MISSING, **options: Any) -> Any:
        """Enum("Color", "RED GREEN"): names alone, or names with values."""
        if type(made) is not str or names is MISSING:
            raise TypeError(f"{name}() takes a name and the names of its members")
        if type(names) is str:
            given = collect(call(get_attribute(names.replace(",", " "), "split"), (), {}))
        else:
            given = collect(names)
        table: dict[str, Any] = {}
        for place, item in enumerate(given):
            if type(names) is dict:
                table[item] = names[item]
            elif type(item) in (tuple, list) and len(item) == 2:
                table[item[0]] = item[1]
            else:
                table[item] = auto() if name != "Enum" else place + 1
        for word in table:
            if type(word) is not str or word.startswith("_"):
                raise TypeError(f"{quoted(word)} is no name for a member")
        return make_class(made, made, (base,), table, None)

    construct.__qualname__ = name
    base = Type(name, Instance, construct, "enum")
    EMPTY_BASES[base] = _finish
    return base


ENUM, INT_ENUM, STR_ENUM, FLAG, INT_FLAG = map(
    _base, ("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag")
)
_INT, _STR, _FLOAT = (OF_PYTHON[kind] for kind in (int, str, float))
_STAND_FOR = {
    INT_ENUM: _INT, INT_FLAG: _INT, STR_ENUM: _STR, _INT: _INT, _STR: _STR, _FLOAT: _FLOAT
}  # fmt: skip
for _kind in (ENUM, FLAG):
    MIXED_IN[_kind] = frozenset({_INT, _STR, _FLOAT})
_extend_type_handlers()
SPECIAL[ClassValue] = _class_attribute(SPECIAL[ClassValue])
SPECIAL_SET[ClassValue] = _refusing_members(SPECIAL_SET[ClassValue], "reassign")
SPECIAL_DELETE[ClassValue] = _refusing_members(SPECIAL_DELETE[ClassValue], "delete")
MODULES: dict[str, dict[str, Any]] = {
    "enum": {
        "Enum": ENUM, "IntEnum": INT_ENUM, "StrEnum": STR_ENUM, "Flag": FLAG, "IntFlag": INT_FLAG,
        **classes([auto]), "unique": Builtin("unique", _unique),
    },
}  # fmt: skip
