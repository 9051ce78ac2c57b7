"""language: the methods of str, each charged by its worst case before it works."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ...pattern import pattern
from ..attributes import STATICS
from ..costs import COPIED, MATCHED, SMALL, TEXTS, WALKED, charge_keys, charge_text, width_of
from ..formatting import format_method
from ..members import TABLES, Members
from ..operations import collect, type_name
from ..session import session
from ..values import stands_for
from .arguments import all_named

PIECE = 88  # bytes of a short text in a list, its place in the list included
CASED = 16  # bytes that a letter beyond ASCII takes while its case changes: it may become three
AT_ONCE = 1 << 16  # characters that are translated before the next look at the budget
WORDS = pattern(r"\S+")
LINE_ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


# ---------------------------------------------------------------- what a method takes
#
# Each gets the text, the arguments, and the sum of all their lengths; it charges bytes itself and
# gives the steps.


def _looked_at(text: str, given: tuple[Any, ...], size: int) -> int:
    return size >> WALKED


def _matched(text: str, given: tuple[Any, ...], size: int) -> int:
    """Every place of the text with every character that is searched for."""
    return (size >> WALKED) + (len(text) * (size - len(text)) >> MATCHED)


def _copied(text: str, given: tuple[Any, ...], size: int) -> int:
    session.budget.charge_bytes(len(text) * width_of(text))
    return size >> WALKED


def _stripped(text: str, given: tuple[Any, ...], size: int) -> int:
    return max(_copied(text, given, size), _matched(text, given, size))


def _cased(text: str, given: tuple[Any, ...], size: int) -> int:
    session.budget.charge_bytes(len(text) * (1 if text.isascii() else CASED))
    return size >> (WALKED - 1)


def _split(text: str, given: tuple[Any, ...], size: int) -> int:
    separator = given[0] if given else None
    if type(separator) in TEXTS and separator:
        pieces = text.count(separator) + 1
    elif not isinstance(text, str):
        pieces = len(text) // 2 + 1
    else:
        pieces = sum(1 for _ in WORDS.finditer(text))
    most = given[1] if len(given) > 1 else -1
    if type(most) is int and 0 <= most < pieces:
        pieces = most + 1
    return _in_pieces(text, pieces) + (size >> WALKED)


def _split_from_right(text: str, given: tuple[Any, ...], size: int) -> int:
    return _split(text, given, size) + _matched(text, given, size)


def _in_lines(text: str, given: tuple[Any, ...], size: int) -> int:
    return _in_pieces(text, sum(map(text.count, LINE_ENDS)) + 1) + (size >> WALKED)


def _in_pieces(text: str, pieces: int) -> int:
    session.budget.charge_bytes(len(text) * width_of(text) + PIECE * pieces)
    return pieces >> 2


def _prices(price: Callable[..., int], names: str) -> dict[str, Callable[..., int]]:
    return dict.fromkeys(names.split(), price)


PRICES: dict[str, Callable[..., int]] = {
    **_prices(_looked_at, "startswith endswith find index count isdigit isalpha isalnum isspace "
              "isupper islower istitle isnumeric isdecimal isidentifier isprintable isascii"),
    **_prices(_matched, "rfind rindex"),
    **_prices(_copied, "partition removeprefix removesuffix"),
    **_prices(_stripped, "strip lstrip rstrip rpartition"),
    **_prices(_cased, "upper lower title capitalize swapcase casefold"),
    "split": _split, "rsplit": _split_from_right, "splitlines": _in_lines,
}  # fmt: skip


def priced(method: Callable[..., Any], price: Callable[..., int]) -> Callable[..., Any]:
    def run(text: str, *args: Any, **kwargs: Any) -> Any:
        size = len(text)
        args = tuple(map(stands_for, args))
        for value in args:
            if type(value) in TEXTS:
                size += len(value)
            elif type(value) is tuple:  # of beginnings or ends
                size += SMALL * len(value)
        if kwargs:
            size += sum([len(value) for value in kwargs.values() if type(value) is str])
        if size > SMALL:
            given = (*args, *([kwargs.get("sep"), kwargs.get("maxsplit", -1)][len(args) :]))
            session.budget.charge(price(text, given, size))
        session.budget.charge(1)
        return method(text, *args, **kwargs)

    return run


# ---------------------------------------------------------------- as wide as the program says


def wide(method: Callable[..., str]) -> Callable[..., str]:
    """ljust, center, zfill"""

    def run(text: str, width: Any, *fill: Any) -> str:
        width = operator.index(width)
        if width > SMALL:
            wide = max([width_of(part) for part in (text, *fill) if type(part) in TEXTS])
            session.budget.charge_bytes(max(width, len(text)) * wide)
            session.budget.charge(width >> COPIED)
        return method(text, width, *fill)

    return run


def _expand_tabs(text: str, tabsize: Any = 8) -> str:
    width = operator.index(tabsize)
    charge_text(text)
    size = len(text) + text.count("\t") * max(width, 0)
    session.budget.charge_bytes(size * width_of(text))
    session.budget.charge(size >> COPIED)
    return text.expandtabs(width)


def replace(text: Any, old: Any, new: Any, count: Any = -1) -> Any:
    if type(old) is type(new) is type(text):
        charge_text(text)
        found = text.count(old)
        if type(count) is int and count >= 0:
            found = min(found, count)
        size = len(text) + found * max(len(new) - len(old), 0)
        session.budget.charge((size >> COPIED) + found // 16 + 1)
        session.budget.charge_bytes(size * max(width_of(text), width_of(new)))
    return text.replace(old, new, count)


def _join(text: str, items: Any) -> str:
    try:
        parts = collect(items)
    except TypeError as error:
        if str(error) == f"'{type_name(items)}' object is not iterable":
            raise TypeError("can only join an iterable") from None
        raise
    size, wide = len(text) * max(len(parts) - 1, 0), width_of(text)
    for place, part in enumerate(parts):
        if type(part) is not str:
            part = parts[place] = stands_for(part)
        if type(part) is not str:
            raise TypeError(
                f"sequence item {place}: expected str instance, {type_name(part)} found"
            )
        size += len(part)
        if wide == 1 and not part.isascii():
            wide = 4
    session.budget.charge_bytes(size * wide)
    session.budget.charge(size >> COPIED)
    return text.join(parts)


def _translate(text: str, table: Any) -> str:
    """In pieces: how long the result gets is known when it is there."""
    if type(table) is not dict:
        raise TypeError(f"'{type_name(table)}' object is not subscriptable")
    session.budget.charge(len(table) + 1)
    longest = max([len(value) for value in table.values() if type(value) is str], default=1)
    step = max(AT_ONCE // max(longest, 1), 1)
    if len(text) <= step:
        session.budget.charge(len(text) >> 3)
        return text.translate(table)
    parts = []
    for place in range(0, len(text), step):
        piece = text[place : place + step]
        session.budget.charge((step >> 3) + 1)
        session.budget.charge_bytes(len(piece) * 4 * max(longest, 1))
        parts.append(piece.translate(table))
    session.budget.charge_bytes(4 * sum(map(len, parts)))
    return "".join(parts)


def _make_table(*given: Any) -> dict[int, Any]:
    for value in given:
        if type(value) is str:
            session.budget.charge(len(value) >> 3)
            session.budget.charge_bytes(8 * len(value))
        elif type(value) is dict:
            charge_keys(value)
    return str.maketrans(*given)


METHODS: dict[str, Callable[..., Any]] = {
    name: priced(getattr(str, name), price) for name, price in PRICES.items()
}
METHODS.update({name: wide(getattr(str, name)) for name in ("ljust", "rjust", "center", "zfill")})
METHODS.update(
    replace=replace,
    join=_join,
    expandtabs=_expand_tabs,
    translate=_translate,
    format=lambda text, /, *args, **kwargs: format_method(text, args, kwargs),
    format_map=lambda text, mapping, /: format_method(text, None, mapping),
)
STATICS["str", "maketrans"] = _make_table
METHODS = all_named("str", METHODS)
TABLES[str] = Members(METHODS)
