"""language: Python's arithmetic on a program's values, charged before it runs."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..engine.tensors.tensor import Tensor
from .costs import (
    BIG,
    COPIED,
    SMALL,
    TEXTS,
    charge_division,
    charge_integer,
    charge_keys,
    width_of,
)  # fmt: skip
from .formatting import percent
from .operations import DICTS, VIEWS, as_set, extend
from .session import session
from .sets import Set
from .values import Instance

# Exact types whose operators cost no more than a look at a word: no guard before them.
LIGHT = frozenset({float, Tensor, bool, complex, type(None)})
SEQUENCES = TEXTS | {list, tuple}


def _charge_sequence(size: int, *parts: Any) -> None:
    """A sequence of that many items is made of these."""
    if size > SMALL:
        size *= max([width_of(part) if type(part) in TEXTS else 8 for part in parts])
        session.budget.charge_bytes(size)
        session.budget.charge(size >> COPIED)


def _repeated(sequence: Any, count: Any) -> Any:
    """How often a sequence is repeated, an object with __index__ asked once; charged for."""
    if isinstance(count, Instance) and "__index__" in count.kind.special:
        if "__mul__" in count.kind.special or "__rmul__" in count.kind.special:
            return count
        count = operator.index(count)  # type: ignore[arg-type]
    if type(count) in (int, bool) and count > 0:
        _charge_sequence(len(sequence) * count, sequence)
    return count


def multiply(a: Any, b: Any) -> Any:
    kind, other = type(a), type(b)
    if kind is int and other is int:
        bits = a.bit_length() + b.bit_length()
        if bits > BIG:
            charge_integer(bits)
    elif kind in SEQUENCES:
        b = _repeated(a, b)
    elif other in SEQUENCES:
        a = _repeated(b, a)
    return a * b


def add(a: Any, b: Any) -> Any:
    kind = type(a)
    if kind in SEQUENCES and type(b) is kind:
        _charge_sequence(len(a) + len(b), a, b)
    elif kind in DICTS:  # counters
        _charge_tables(a, b)
    return a + b


def power(a: Any, b: Any) -> Any:
    if type(b) is int and b > 0 and (type(a) is int or type(a) is bool):
        bits = a.bit_length() * b
        if bits > BIG and a not in (0, 1, -1):
            charge_integer(bits)
    return a**b


def shift_left(a: Any, b: Any) -> Any:
    if type(b) is int and b > BIG and type(a) in (int, bool) and a:
        charge_integer(a.bit_length() + b)
    return a << b


def floor_divide(a: Any, b: Any) -> Any:
    charge_division(a, b)
    return a // b


def modulo(a: Any, b: Any) -> Any:
    if type(a) is str:
        return percent(a, b)
    if type(a) is bytes:
        raise TypeError("% of bytes is not part of the language; decode() them first")
    charge_division(a, b)
    return a % b


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": add, "Mult": multiply, "Div": operator.truediv,
    "FloorDiv": floor_divide, "Mod": modulo, "Pow": power, "MatMult": operator.matmul,
    "LShift": shift_left, "RShift": operator.rshift,
}  # fmt: skip


def _concatenate_in_place(a: Any, b: Any) -> Any:
    if type(a) is list:
        extend(a, b)
        return a
    if type(a) in SEQUENCES:
        return add(a, b)
    a += b
    return a


def _repeat_in_place(a: Any, b: Any) -> Any:
    if type(a) is list:
        b = _repeated(a, b)
        a *= b
        return a
    if type(a) in (int, bool) or type(a) in SEQUENCES or type(b) in SEQUENCES:
        return multiply(a, b)
    a *= b
    return a


def _set_in_place(combine: Callable[[Any, Any], Any], otherwise: Callable[[Any, Any], Any]) -> Any:
    def run(a: Any, b: Any) -> Any:
        _charge_tables(a, b)
        if type(a) is Set and isinstance(b, Set):
            a.become(combine(a, b))
            return a
        return otherwise(a, b)

    return run


def _charge_tables(*tables: Any) -> None:
    for table in tables:
        if isinstance(table, Set):
            charge_keys(table.items)
        elif type(table) in DICTS:
            charge_keys(table)


def _of_sets(combine: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """&, |, - and ^, also of a dict's keys() and items(): sets in the order of the dict."""

    def run(a: Any, b: Any) -> Any:
        if type(a) in VIEWS and "values" not in type(a).__name__:
            a, b = as_set(a), as_set(b)
        elif type(b) in VIEWS and isinstance(a, Set):
            b = as_set(b)
        if type(a) is not int:
            _charge_tables(a, b)
        return combine(a, b)

    return run


def _in_place(light: Callable[[Any, Any], Any], guarded: Callable[[Any, Any], Any]) -> Any:
    def run(a: Any, b: Any) -> Any:
        if type(a) is int or type(a) is bool:
            try:
                return guarded(a, b)
            except TypeError:
                pass  # the other says it with the right sign
        return guarded(a, b) if type(a) in TEXTS else light(a, b)

    return run


BINARY.update({
    "Sub": _of_sets(operator.sub), "BitOr": _of_sets(operator.or_),
    "BitXor": _of_sets(operator.xor), "BitAnd": _of_sets(operator.and_),
})  # fmt: skip
IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "Add": _concatenate_in_place, "Mult": _repeat_in_place,
    "Sub": _set_in_place(operator.sub, operator.isub),
    "Div": operator.itruediv, "FloorDiv": _in_place(operator.ifloordiv, floor_divide),
    "Mod": _in_place(operator.imod, modulo), "Pow": _in_place(operator.ipow, power),
    "MatMult": operator.imatmul, "LShift": _in_place(operator.ilshift, shift_left),
    "RShift": operator.irshift, "BitOr": _set_in_place(operator.or_, operator.ior),
    "BitXor": _set_in_place(operator.xor, operator.ixor),
    "BitAnd": _set_in_place(operator.and_, operator.iand),
}  # fmt: skip

UNARY: dict[str, Callable[[Any], Any]] = {
    "USub": operator.neg, "UAdd": operator.pos, "Invert": operator.invert, "Not": operator.not_,
}  # fmt: skip
# Python's words for what these tables call by the names of its syntax.
_WORDS = {"Mult": "mul", "Div": "truediv", "BitAnd": "and", "BitOr": "or", "BitXor": "xor"}
METHOD_WORDS = {_WORDS.get(word, word.lower()): word for word in BINARY if word != "MatMult"}
BITS = {name for name, word in METHOD_WORDS.items() if word.startswith("Bit") or "Shift" in word}
COMPARED = {"__ne__": "NotEq", "__le__": "LtE", "__ge__": "GtE"} | {
    f"__{word.lower()}__": word for word in ("Eq", "Lt", "Gt")
}
