"""language: the methods of str, their results charged before they are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..attributes import STATICS
from ..formatting import format_method
from ..members import TABLES, Members
from ..operations import collect, type_name
from ..session import session
from .arguments import all_named

CHEAP = (
    "upper lower strip lstrip rstrip startswith endswith find rfind index rindex count title "
    "capitalize swapcase casefold isdigit isalpha isalnum isspace isupper islower istitle "
    "isnumeric isdecimal isidentifier isprintable isascii partition rpartition removeprefix "
    "removesuffix split rsplit splitlines"
).split()


def _cheap(method: Callable[..., Any]) -> Callable[..., Any]:
    def run(text: str, *args: Any, **kwargs: Any) -> Any:
        session.budget.charge((len(text) >> 10) + 1)
        session.budget.charge_bytes(len(text))
        return method(text, *args, **kwargs)

    return run


def _wide(method: Callable[..., str]) -> Callable[..., str]:
    """ljust, center, zfill ...: as wide as the program says."""

    def run(text: str, width: Any, *fill: Any) -> str:
        if type(width) is int:
            session.budget.charge_bytes(max(width, 0))
        return method(text, width, *fill)

    return run


def _replace(text: str, old: Any, new: Any, count: int = -1) -> str:
    if type(old) is str and type(new) is str:
        found = text.count(old)
        session.budget.charge((len(text) >> 8) + found // 64 + 1)
        session.budget.charge_bytes(len(text) + found * len(new))
    return text.replace(old, new, count)


def _join(text: str, items: Any) -> str:
    try:
        parts = collect(items)
    except TypeError as error:
        if str(error) == f"'{type_name(items)}' object is not iterable":
            raise TypeError("can only join an iterable") from None
        raise
    size = 0
    for place, part in enumerate(parts):
        if type(part) is not str:
            raise TypeError(
                f"sequence item {place}: expected str instance, {type_name(part)} found"
            )
        size += len(part) + len(text)
    session.budget.charge_bytes(size)
    return text.join(parts)


def _expand_tabs(text: str, tabsize: Any = 8) -> str:
    if type(tabsize) is int:
        session.budget.charge_bytes(text.count("\t") * max(tabsize, 0))
    return text.expandtabs(tabsize)


METHODS: dict[str, Callable[..., Any]] = {name: _cheap(getattr(str, name)) for name in CHEAP}
METHODS.update({name: _wide(getattr(str, name)) for name in ("ljust", "rjust", "center", "zfill")})
METHODS.update(
    replace=_replace,
    join=_join,
    expandtabs=_expand_tabs,
    format=lambda text, *args, **kwargs: format_method(text, args, kwargs),
)


def _translate(text: str, table: Any) -> str:
    session.budget.charge((len(text) >> 6) + 1)
    if type(table) is not dict:
        raise TypeError(f"'{type_name(table)}' object is not subscriptable")
    out = text.translate(table)
    session.budget.charge_bytes(len(out))
    return out


METHODS["translate"] = _translate
STATICS["str", "maketrans"] = str.maketrans
METHODS = all_named("str", METHODS)
TABLES[str] = Members(METHODS)
