"""language: collections.ChainMap: several dictionaries as one, the first of which is written to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..builtins.containers import as_mapping
from ..costs import charge_keys
from ..formatting import quoted
from ..operations import DICTS, check_key, equal, type_name
from ..session import session
from ..values import stepwise

_MISSING: Any = object()


class ChainMap:
    _torch_name = "collections.ChainMap"
    PUBLIC = ("maps", "parents", "new_child", "get", "keys", "values", "items", "pop", "popitem",
              "clear", "copy", "update", "setdefault")  # fmt: skip

    __slots__ = ("maps", "__weakref__")

    def __init__(self, *maps: Any) -> None:
        self.maps: list[Any] = list(maps) or [{}]
        self._looked_at()

    def _looked_at(self) -> Iterator[Any]:
        """The dictionaries, which a program may have put others among."""
        for one in self.maps:
            if type(one) not in DICTS and type(one) is not ChainMap:
                raise TypeError(f"ChainMap takes dictionaries here, not '{type_name(one)}'")
        return iter(list(self.maps))

    @property
    def parents(self) -> ChainMap:
        return ChainMap(*self.maps[1:])

    def new_child(self, m: Any = None, **kwargs: Any) -> ChainMap:
        if m is None:
            m = kwargs
        elif kwargs:
            m.update(kwargs)
        return ChainMap(m, *self.maps)

    def _lookup(self, key: Any) -> Any:
        check_key(key)
        for one in self._looked_at():
            session.budget.charge(1)
            if key in one:
                return one[key]
        return _MISSING

    def get(self, key: Any, default: Any = None) -> Any:
        found = self._lookup(key)
        return default if found is _MISSING else found

    def _whole(self) -> dict[Any, Any]:
        """The keys in the order in which Python goes over them, with what is found first."""
        found: dict[Any, Any] = {}
        for one in reversed(list(self._looked_at())):
            session.budget.charge(1)
            if type(one) in DICTS:
                charge_keys(one)
            found.update(one if type(one) in DICTS else one._whole())
        return found

    def keys(self) -> list[Any]:
        return list(self._whole())

    def values(self) -> list[Any]:
        return list(self._whole().values())

    def items(self) -> list[Any]:
        return list(self._whole().items())

    def pop(self, key: Any, *default: Any) -> Any:
        check_key(key)
        try:
            return self.maps[0].pop(key, *default)
        except KeyError:
            raise KeyError(f"Key not found in the first mapping: {quoted(key)}") from None

    def popitem(self) -> Any:
        try:
            return self.maps[0].popitem()
        except KeyError:
            raise KeyError("No keys found in the first mapping.") from None

    def clear(self) -> None:
        self.maps[0].clear()

    def copy(self) -> ChainMap:
        return ChainMap(self.maps[0].copy(), *self.maps[1:])

    def update(self, *others: Any, **kwargs: Any) -> None:
        for other in (*others, kwargs):
            mapping = as_mapping(other)
            pairs = other if mapping is None else mapping.items()
            for key, value in stepwise(iter(pairs)):
                self[key] = value

    def setdefault(self, key: Any, default: Any = None) -> Any:
        found = self._lookup(key)
        if found is _MISSING:
            self[key] = found = default
        return found

    def __getitem__(self, key: Any) -> Any:
        found = self._lookup(key)
        if found is _MISSING:
            raise KeyError(key)
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        check_key(key)
        self.maps[0][key] = value

    def __delitem__(self, key: Any) -> None:
        self.pop(key)

    def __contains__(self, key: Any) -> bool:
        return self._lookup(key) is not _MISSING

    def __iter__(self) -> Iterator[Any]:
        return iter(self._whole())

    def __len__(self) -> int:
        return len(self._whole())

    def __eq__(self, other: object) -> Any:
        given = other._whole() if isinstance(other, ChainMap) else other
        return equal(self._whole(), given) if type(given) in DICTS else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ChainMap({', '.join(map(quoted, self.maps))})"
