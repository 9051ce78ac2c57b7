"""language: Python's operators over a program's values, each charged before it works."""

from __future__ import annotations

import operator
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from ..engine.tensor import Tensor
from .session import session
from .values import UNBOUND, FrozenSet, Instance, Lazy, Set

# Exact types whose operators cost no more than a look at a word: no guard before them.
LIGHT = frozenset({float, Tensor, bool, complex, type(None)})
SEQUENCES = frozenset({str, list, tuple})
# state_dict() and the state of an optimiser are dicts of these kinds.
DICTS = frozenset({dict, OrderedDict, defaultdict})
CONTAINERS = DICTS | {list, tuple}
MUTABLE = DICTS | {list}
BIG = 1 << 15  # bits above which integer work is charged
KEYS_DEPTH = 200


# ---------------------------------------------------------------- arithmetic


def charge_integer(bits: int) -> None:
    """Charge for an integer of so many bits: its bytes, and steps as multiplication takes them."""
    session.budget.charge_bytes(bits >> 3)
    session.budget.charge(int((bits / 30) ** 1.58 / 30) + 1)


def _repetition(sequence: Any, count: Any) -> None:
    if count > 0:
        width = 1 if type(sequence) is str else 8
        session.budget.charge_bytes(len(sequence) * count * width)


def multiply(a: Any, b: Any) -> Any:
    kind, other = type(a), type(b)
    if kind is int and other is int:
        bits = a.bit_length() + b.bit_length()
        if bits > BIG:
            charge_integer(bits)
    elif kind in SEQUENCES and (other is int or other is bool):
        _repetition(a, b)
    elif other in SEQUENCES and (kind is int or kind is bool):
        _repetition(b, a)
    return a * b


def add(a: Any, b: Any) -> Any:
    kind = type(a)
    if kind in SEQUENCES and type(b) is kind:
        session.budget.charge_bytes((len(a) + len(b)) * (1 if kind is str else 8))
    return a + b


def power(a: Any, b: Any) -> Any:
    if type(a) is int and type(b) is int and b > 0:
        bits = a.bit_length() * b
        if bits > BIG and a not in (0, 1, -1):
            charge_integer(bits)
    return a**b


def shift_left(a: Any, b: Any) -> Any:
    if type(a) is int and type(b) is int and b > BIG and a:
        charge_integer(a.bit_length() + b)
    return a << b


def _divided(a: Any, b: Any) -> None:
    if type(a) is int and type(b) is int and a.bit_length() > BIG:
        words = a.bit_length() // 30
        session.budget.charge(words * (b.bit_length() // 30 + 1) // 100 + 1)


def floor_divide(a: Any, b: Any) -> Any:
    _divided(a, b)
    return a // b


def modulo(a: Any, b: Any) -> Any:
    if type(a) is str:
        from .formatting import percent

        return percent(a, b)
    _divided(a, b)
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
    if type(a) is list and type(b) is int:
        _repetition(a, b)
        a *= b
        return a
    if type(a) in (int, bool) or type(a) in SEQUENCES or type(b) in SEQUENCES:
        return multiply(a, b)
    a *= b
    return a


def _set_in_place(combine: Callable[[Any, Any], Any], otherwise: Callable[[Any, Any], Any]) -> Any:
    def run(a: Any, b: Any) -> Any:
        if type(a) is Set and isinstance(b, Set):
            a.become(combine(a, b))
            return a
        return otherwise(a, b)

    return run


def _of_sets(combine: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """&, |, - and ^, also of a dict's keys() and items(): sets in the order of the dict."""

    def run(a: Any, b: Any) -> Any:
        if type(a) in VIEWS and "values" not in type(a).__name__:
            a, b = _as_set(a), _as_set(b)
        elif type(b) in VIEWS and isinstance(a, Set):
            b = _as_set(b)
        return combine(a, b)

    return run


def _as_set(items: Any) -> Set:
    if isinstance(items, Set):
        return items
    out = Set()
    for item in iterate(items):
        session.budget.charge(1)
        check_key(item)
        out.add(item)
    return out


def _in_place(light: Callable[[Any, Any], Any], guarded: Callable[[Any, Any], Any]) -> Any:
    def run(a: Any, b: Any) -> Any:
        if type(a) is int or type(a) is bool:
            try:
                return guarded(a, b)
            except TypeError:
                pass  # the other says it with the right sign
        return guarded(a, b) if type(a) is str else light(a, b)

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


# ---------------------------------------------------------------- comparison


def equal(a: Any, b: Any) -> Any:
    """a == b. Lists, tuples and dicts are compared here, with a stack and a step for each pair."""
    if not (_is_container(a) and _is_container(b)):
        if type(a) in VIEWS or type(b) in VIEWS:
            return _compared(operator.eq, a, b)
        return a == b
    charge = session.budget.charge
    stack = [iter(((a, b),))]
    while stack:
        for x, y in stack[-1]:
            charge(1)
            if x is y:
                continue
            if _is_container(x) and _is_container(y):
                pairs = _pairs(x, y)
                if pairs is None:
                    return False
                stack.append(pairs)
                break
            if not (x == y):  # noqa: SIM201 - a tensor's != is another question
                return False
        else:
            stack.pop()
    return True


def _is_container(value: Any) -> bool:
    return type(value) in CONTAINERS or isinstance(value, tuple)


def _pairs(a: Any, b: Any) -> Iterator[tuple[Any, Any]] | None:
    """The pairs to compare, or None when the two can't be equal."""
    if len(a) != len(b):
        return None
    if type(a) in DICTS and type(b) in DICTS:
        if any(key not in b for key in a):
            return None
        return iter([(value, b[key]) for key, value in a.items()])
    if type(a) in MUTABLE or type(b) in MUTABLE:
        return zip(a, b, strict=True) if type(a) is type(b) else None
    return zip(a, b, strict=True)


def _compared(compare: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """What keys() and items() give compares with sets as a set does."""
    pair = [_as_set(x) if type(x) in VIEWS else x for x in (a, b)]
    plain = all(isinstance(x, Set) for x in pair) and "dict_values" not in (
        type(a).__name__, type(b).__name__,
    )  # fmt: skip
    return compare(*pair) if plain else compare(a, b)


def not_equal(a: Any, b: Any) -> Any:
    if _is_container(a) and _is_container(b):
        return not equal(a, b)
    if type(a) in VIEWS or type(b) in VIEWS:
        return not equal(a, b)
    return a != b


def _ordered(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def run(a: Any, b: Any) -> Any:
        while (type(a) is list and type(b) is list) or (
            isinstance(a, tuple) and isinstance(b, tuple)
        ):
            session.budget.charge(1)
            for x, y in zip(a, b, strict=False):
                session.budget.charge(1)
                if not (x is y or equal(x, y)):
                    a, b = x, y  # the first difference decides, however deep it lies
                    break
            else:
                return compare(len(a), len(b))
        if type(a) in VIEWS or type(b) in VIEWS:
            return _compared(compare, a, b)
        return compare(a, b)

    return run


less = _ordered(operator.lt)


def contains(container: Any, item: Any) -> Any:
    """item in container, with a step for each comparison."""
    kind = type(container)
    if kind is str:
        if type(item) is str:
            session.budget.charge(len(container) >> 8)
        return item in container
    if kind in DICTS or isinstance(container, Set):
        check_key(item)
        return item in container
    if kind is range and type(item) in (int, bool):
        return item in container
    if kind is range and type(item) is float:
        return item.is_integer() and int(item) in container
    if kind is list or isinstance(container, tuple) or kind is range or kind is Lazy:
        charge = session.budget.charge
        for value in iterate(container):
            charge(1)
            if value is item or equal(value, item):
                return True
        return False
    if kind is Tensor:
        return item in container
    if kind in VIEWS:
        charge = session.budget.charge
        return any(charge(1) or value is item or equal(value, item) for value in container)
    member = type_handlers.contains(container)
    if member is not None:
        return member(container, item)
    walked = type_handlers.iterate(container)
    if walked is None:
        raise TypeError(f"argument of type '{type_name(container)}' is not iterable")
    charge = session.budget.charge
    return any(charge(1) or value is item or equal(value, item) for value in walked)


COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "Eq": equal, "NotEq": not_equal, "Lt": less, "LtE": _ordered(operator.le),
    "Gt": _ordered(operator.gt), "GtE": _ordered(operator.ge), "Is": operator.is_,
    "IsNot": operator.is_not, "In": lambda a, b: contains(b, a),
    "NotIn": lambda a, b: not contains(b, a),
}  # fmt: skip


# ---------------------------------------------------------------- keys, iteration, subscripts

_MADE: tuple[Any, ...] = ({}, OrderedDict())
VIEWS: frozenset[type] = frozenset(
    {type(view) for made in _MADE for view in (made.keys(), made.values(), made.items())}
)


def check_key(value: Any) -> None:
    """Refuse to hash what Python would hash by recursion without a limit."""
    if not isinstance(value, tuple):
        return
    level = [value]
    for _ in range(KEYS_DEPTH):
        level = [item for part in level for item in part if isinstance(item, tuple)]
        if not level:
            return
        session.budget.charge(len(level))
    raise RecursionError("maximum recursion depth exceeded while calculating the hash")


class TypeHandlers:
    """What the attribute tables know about the types of the library; they fill this in."""

    def __init__(self) -> None:
        self.contains: Callable[[Any], Callable[[Any, Any], Any] | None] = lambda value: None
        self.iterate: Callable[[Any], Iterator[Any] | None] = lambda value: None
        self.get_item: Callable[[Any], Callable[[Any, Any], Any] | None] = lambda value: None
        self.set_item: Callable[[Any], Callable[[Any, Any, Any], Any] | None] = lambda value: None
        self.delete_item: Callable[[Any], Callable[[Any, Any], Any] | None] = lambda value: None
        self.length: Callable[[Any], Callable[[Any], int] | None] = lambda value: None
        self.name: Callable[[Any], str | None] = lambda value: None
        self.enter: Callable[[Any], Callable[..., Any] | None] = lambda value: None
        self.leave: Callable[[Any], Callable[..., Any] | None] = lambda value: None
        # value, "__float__": how an object of a program's class answers, or None
        self.special: Callable[[Any, str], Callable[..., Any] | None] = lambda value, name: None
        self.caller: Callable[[Any], Callable[..., Any] | None] = lambda value: None


type_handlers = TypeHandlers()
_OWN: tuple[Any, ...] = (list, tuple, str, range, Set, FrozenSet, Tensor)
PLAIN_ITERABLES = frozenset(_OWN) | VIEWS | DICTS
SUBSCRIPTABLE = frozenset({list, tuple, str, range, Tensor})


def type_name(value: Any) -> str:
    """The name of a value's type in Python's messages."""
    return type_handlers.name(value) or type(value).__name__


def iterate(value: Any) -> Iterator[Any]:
    """iter(value) for the values of a program; the caller counts the steps."""
    kind = type(value)
    if kind in PLAIN_ITERABLES:
        return iter(value)
    if kind is Lazy:
        return value.items  # type: ignore[no-any-return]
    if isinstance(value, tuple):
        return iter(value)
    found = type_handlers.iterate(value)
    if found is None:
        raise TypeError(f"'{type_name(value)}' object is not iterable")
    return found


def collect(value: Any) -> list[Any]:
    """The items of a value as a list, a step each; a known length is charged in front."""
    kind = type(value)
    budget = session.budget
    if kind is list or kind is tuple or kind is dict or kind is range or kind is str:
        size = len(value)
        budget.charge_bytes(8 * size)
        budget.charge(size)
        return list(value)
    out = []
    for item in iterate(value):
        budget.charge(1)
        out.append(item)
    return out


def extend(target: list[Any], value: Any) -> None:
    if type(value) is list or type(value) is tuple:
        session.budget.charge_bytes(8 * len(value))
        target.extend(value)
        return
    for item in iterate(value):
        session.budget.charge(1)
        target.append(item)


def get_item(value: Any, index: Any) -> Any:
    kind = type(value)
    if kind is Tensor:
        return value[index]
    if kind in DICTS:
        if isinstance(index, tuple):
            check_key(index)
        return value[index]
    if kind in SUBSCRIPTABLE or isinstance(value, tuple):
        if type(index) is slice:
            session.budget.charge_bytes(8 * len(value))
        return value[index]
    found = type_handlers.get_item(value)
    if found is None:
        raise TypeError(f"'{type_name(value)}' object is not subscriptable")
    return found(value, index)


def set_item(value: Any, index: Any, new: Any) -> None:
    kind = type(value)
    if kind in DICTS:
        if isinstance(index, tuple):
            check_key(index)
        value[index] = new
    elif kind is list and type(index) is slice:
        value[index] = collect(new)
    elif kind is list or kind is Tensor:
        value[index] = new
    else:
        found = type_handlers.set_item(value)
        if found is None:
            raise TypeError(f"'{type_name(value)}' object does not support item assignment")
        found(value, index, new)


def delete_item(value: Any, index: Any) -> None:
    kind = type(value)
    if kind in DICTS and isinstance(index, tuple):
        check_key(index)
    if kind is Tensor:
        raise TypeError("Tensor does not support deleting items")
    if kind is list or kind in DICTS:
        del value[index]
        return
    found = type_handlers.special(value, "__delitem__")
    if found is not None:
        found(index)
        return
    own = type_handlers.delete_item(value)
    if own is None:
        is_sequence = kind in PLAIN_ITERABLES or isinstance(value, (tuple, Instance))
        word = "doesn't" if is_sequence else "does not"
        raise TypeError(f"'{type_name(value)}' object {word} support item deletion")
    own(value, index)


def length(value: Any) -> int:
    kind = type(value)
    if kind in PLAIN_ITERABLES or isinstance(value, tuple):
        return len(value)
    found = type_handlers.length(value)
    if found is None:
        raise TypeError(f"object of type '{type_name(value)}' has no len()")
    return found(value)


def unbound(name: str) -> UnboundLocalError:
    return UnboundLocalError(
        f"cannot access local variable '{name}' where it is not associated with a value"
    )


def is_unbound(value: Any) -> bool:
    return value is UNBOUND
