"""language: modules that draw, such as matplotlib: any name can be called and draws nothing.

A `Drawing` can be called, read, set, subscripted, entered, unpacked, walked and computed with, to
any depth, and gives another one. What `subplots(2, 3)` gives knows its shape, so that a loop over
it takes as many turns as in Python.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from ...engine.tensors.tensor import Tensor
from ..attributes import SPECIAL, SPECIAL_DELETE, SPECIAL_SET
from ..modules import PROFILERS
from ..operations import type_handlers
from ..session import session
from ..values import Function
from .artists import shown_of

# Of things whose number is unknown: the bars of a histogram, the colours of a cycle.
USUAL = 10
MOST = 10_000  # axes in one figure
# Those that take tensors which require grad.
TAKES_GRAPHS = ("torchviz", "tensorboardX", "torch.utils.tensorboard")
FLAT = frozenset({"flat", "ravel", "flatten", "tolist", "reshape"})


class Drawing:
    """Something of a module that draws: a module, a function, a figure, axes, a line."""

    PUBLIC = ()
    SILENT = True  # a cell shows of it what `shown` says
    __slots__ = ("name", "shape", "shown", "__weakref__")

    def __init__(self, name: str, shape: tuple[int, ...] | None = None, shown: Any = None) -> None:
        self.name = name
        self.shape = shape
        self.shown = shown

    def __deepcopy__(self, memo: Any) -> Drawing:
        return self

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.name.startswith(PROFILERS):
            session.notes.setdefault("nothing is profiled: `gradcli trace --profile` does that")
            return args[0] if len(args) == 1 and type(args[0]) is Function else Drawing(self.name)
        session.notes.setdefault("plots are not drawn")
        for value in () if self.name.startswith(TAKES_GRAPHS) else args:
            if type(value) is Tensor and value.requires_grad:
                value.numpy()  # what draws asks for an array, and PyTorch refuses
        last = self.name.rpartition(".")[2]
        if last == "subplots":
            shape = tuple(_size(args, kwargs, place) for place in (0, 1))
            axes = Drawing(f"{self.name}.axes", tuple(size for size in shape if size != 1))
            return axes if self.name.startswith("figure") else (Drawing("figure"), axes)
        if last in FLAT and self.shape is not None:
            return self._flat()
        made = "figure" if last in ("figure", "gcf") else self.name
        return Drawing(made, self.shape, shown_of(self.name, args, kwargs))

    def _flat(self) -> Drawing:
        size = 1
        for part in self.shape or ():
            size *= part
        return Drawing(self.name, (size,))

    def _part(self) -> Drawing:
        return Drawing(self.name, self.shape[1:] if self.shape else None)

    def __iter__(self) -> Iterator[Any]:
        return iter([self._part()] * len(self))

    def __len__(self) -> int:
        return self.shape[0] if self.shape else USUAL

    def __getitem__(self, index: Any) -> Any:
        if self.shape is None:
            return self._part()
        rest = list(self.shape)
        kept: list[int] = []
        for part in index if type(index) is tuple else (index,):
            size = rest.pop(0) if rest else 0
            if type(part) is slice:
                kept.append(len(range(*part.indices(size))))
            elif type(part) is int and not -size <= part < size:
                raise IndexError(f"index {part} is out of bounds for axis 0 with size {size}")
        return Drawing(self.name, (*kept, *rest))

    def __setitem__(self, index: Any, value: Any) -> None:
        """plt.rcParams["figure.figsize"] = (8, 4)"""

    def __contains__(self, item: Any) -> bool:
        return False

    def __enter__(self) -> Drawing:
        return self

    def __exit__(self, *error: object) -> None:
        """with plt.style.context("dark"):"""

    def __float__(self) -> float:
        return 0.0

    def __lt__(self, other: Any) -> bool:
        return False

    __le__ = __gt__ = __ge__ = __lt__


def _size(args: tuple[Any, ...], kwargs: dict[str, Any], place: int) -> int:
    """The number of rows or columns of axes."""
    value = args[place] if len(args) > place else kwargs.get(("nrows", "ncols")[place], 1)
    size = operator.index(value)
    if not 0 < size <= MOST:
        raise ValueError(f"Number of rows and columns must be a positive integer, not {size}")
    return size


def _computed(self: Drawing, *others: Any) -> Drawing:
    return Drawing(self.name)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"):
    for _side in ("", "r"):
        setattr(Drawing, f"__{_side}{_name}__", _computed)
for _name in ("__neg__", "__pos__", "__abs__"):
    setattr(Drawing, _name, _computed)


def _attribute(value: Drawing, name: str) -> Any:
    if name == "__version__":
        return "0"
    if name == "shape" and value.shape is not None:
        return value.shape
    if name == "size" and value.shape is not None:
        return value._flat().__len__()
    if name in ("flat", "T") and value.shape is not None:
        return value._flat() if name == "flat" else Drawing(value.name, value.shape[::-1])
    start = "figure" if value.name == "figure" else value.name
    return Drawing(f"{start}.{name}", value.shape if name in FLAT else None)


def _forget(value: Drawing, name: str, new: Any = None) -> None:
    """ax.title = "loss" """


def _endless(value: Any) -> Any:
    """What each target gets where a drawing of unknown shape is unpacked."""
    return value._part() if type(value) is Drawing and not value.shape else None


SPECIAL[Drawing] = _attribute
SPECIAL_SET[Drawing] = _forget
SPECIAL_DELETE[Drawing] = _forget
type_handlers.endless = _endless
MODULES: dict[str, Any] = {"drawing": Drawing}
