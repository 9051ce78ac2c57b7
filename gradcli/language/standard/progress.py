"""language: tqdm: a bar that is not drawn; items pass through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..attributes import STATICS
from ..builtins.prelude import print_
from ..operations import iterate, length
from .publishing import classes, functions


class tqdm:
    """tqdm(items): the items; tqdm(total=n): a count that `update` raises."""

    _torch_name = "tqdm.std.tqdm"
    PUBLIC = ("update", "set_description", "set_description_str", "set_postfix",
              "set_postfix_str", "write", "close", "refresh", "reset", "clear", "display",
              "n", "total", "desc")  # fmt: skip

    __slots__ = ("_items", "desc", "n", "total", "__weakref__")

    def __init__(
        self, iterable: Any = None, desc: Any = None, total: Any = None, *args: Any, **options: Any
    ) -> None:
        self._items = iterable
        self.desc = desc
        self.n = options.get("initial", 0)
        self.total = total
        if total is None and iterable is not None:
            try:
                self.total = length(iterable)
            except TypeError:
                self.total = None

    def __iter__(self) -> Iterator[Any]:
        for item in iterate(self._items):
            yield item
            self.n += 1

    def __len__(self) -> int:
        return self.total if self._items is None else length(self._items)

    def __enter__(self) -> tqdm:
        return self

    def __exit__(self, *error: object) -> None:
        """with tqdm(total=10) as bar:"""

    def update(self, n: Any = 1) -> None:
        self.n += n

    def set_description(self, desc: Any = None, refresh: Any = True) -> None:
        self.desc = desc

    set_description_str = set_description

    def set_postfix(self, ordered_dict: Any = None, refresh: Any = True, **named: Any) -> None:
        """Numbers behind a bar that is not drawn."""

    def set_postfix_str(self, s: Any = "", refresh: Any = True) -> None:
        """The same for a text."""

    def write(self, s: Any, file: Any = None, end: str = "\n", nolock: Any = False) -> None:
        print_(s, file=file, end=end)

    def close(self) -> None:
        """The bar is done."""

    def reset(self, total: Any = None) -> None:
        self.n = 0
        self.total = self.total if total is None else total

    refresh = clear = display = close


def _range(*args: Any, **options: Any) -> tqdm:
    return tqdm(range(*args), **options)


_BAR = {**classes([tqdm]), **functions({"trange": _range})}
STATICS["tqdm", "write"] = lambda s, file=None, end="\n", nolock=False: print_(
    s, file=file, end=end
)
MODULES = dict.fromkeys(
    ("tqdm", "tqdm.auto", "tqdm.notebook", "tqdm.autonotebook", "tqdm.std"), _BAR
)
