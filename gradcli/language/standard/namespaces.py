"""language: objects with the names that a program gives them: of argparse, and of types."""

from __future__ import annotations

from typing import Any

from ..attributes import KEPT_BYTES, SPECIAL, SPECIAL_DELETE, SPECIAL_SET, missing
from ..formatting import quoted
from ..operations import equal
from ..session import session
from .publishing import called, classes


class Namespace:
    """argparse.Namespace"""

    _torch_name = "argparse.Namespace"
    PUBLIC = ()
    __slots__ = ("open", "table")
    kind = None  # with a table, as objects of a program's classes: its tensors have names
    shown_as = "Namespace"

    def __init__(self, **named: Any) -> None:
        self.table = named
        self.open = False  # is it being shown?

    def __contains__(self, key: Any) -> bool:
        return key in self.table

    def __eq__(self, other: object) -> Any:
        return type(other) is type(self) and equal(self.table, other.table)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if self.open:  # inside itself
            return f"{self.shown_as}(...)"
        self.open = True
        try:
            shown = [f"{name}={quoted(value)}" for name, value in self.table.items()]
        finally:
            self.open = False
        return f"{self.shown_as}({', '.join(shown)})"


@called("types.SimpleNamespace")  # Python's messages name it so
class SimpleNamespace(Namespace):
    """types.SimpleNamespace"""

    _torch_name = "types.SimpleNamespace"
    __slots__ = ()
    shown_as = "namespace"


def _named(value: Namespace, name: str) -> Any:
    if name == "__dict__":
        return value.table
    if name in value.table:
        return value.table[name]
    raise missing(value, name)


def _name(value: Namespace, name: str, new: Any) -> None:
    session.budget.charge_bytes(KEPT_BYTES)
    value.table[name] = new


def _unname(value: Namespace, name: str) -> None:
    if name not in value.table:
        raise missing(value, name)
    del value.table[name]


for _kind in (Namespace, SimpleNamespace):
    SPECIAL[_kind], SPECIAL_SET[_kind], SPECIAL_DELETE[_kind] = _named, _name, _unname
MODULES: dict[str, dict[str, Any]] = {
    "types": {"SimpleNamespace": classes([SimpleNamespace])[SimpleNamespace.__name__]},
}
