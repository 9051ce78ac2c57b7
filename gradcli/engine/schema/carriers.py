"""Engine: the classes that formulas run on, and the functions of transformations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from .run_state import run_state

Body: TypeAlias = Callable[..., Any]  # what a declaration gives: a kernel, a formula, a check


def _nowhere(*given: Any) -> Any:
    raise AssertionError("the engine is not assembled")


class _Runtime:
    """The classes that a formula may run on, and what has appeared so far. `device` and `tensor`
    fill it in: naming the classes here would load an array library where only names are needed."""

    __slots__ = (
        "tensor",
        "arrays",
        "double",
        "ones",
        "complex",
        "many",
        "call",
        "factory",
        "into",
        "mixed",
        "sparse",
        "around",
        "payload",
        "tensors",
        "run_sparse",
    )

    def __init__(self) -> None:
        self.tensor: Any = None
        self.arrays: dict[type, Any] = {}
        self.double: Any = "float64"
        self.ones: dict[Any, Any] = {}  # by array type: see `one`
        # Who takes calls that no overload takes: there are tensors of other classes; and, inside
        # transformations, creation functions.
        self.call: Body | None = None
        self.factory: Body | None = None
        # The class of sparse tensors once there is one, what makes one around a payload, and what
        # runs a row of which an operand may be sparse.
        self.sparse: Any = None
        self.payload: Any = ()
        self.tensors: set[type] = set()  # the classes of tensors that there are by now
        self.around: Body = _nowhere
        self.run_sparse: Body | None = None
        self.into: Body = _nowhere  # a call with out=...; `assembly` puts it there
        self.mixed = False  # has a number of the CPU met a tensor of a GPU?
        self.complex = False  # has a complex number appeared? see kind.kind_of
        self.many = False  # has a result had so many elements that blocks pay? see blocks


RUNTIME = _Runtime()
ARRAYS = RUNTIME.arrays


class _Transformations:
    """Which transformations (torch.func, forward_ad) are open, and what that changes."""

    __slots__ = ("levels", "stack", "draw", "forbid", "gradients", "text", "opened", "change")

    def __init__(self) -> None:
        self.levels = 0  # how many are open
        self.stack: list[Any] = []  # those of torch.func, innermost last
        self.change: Body | None = None  # told of operations in place
        self.opened = 0  # how many of torch.func were ever opened
        self.draw: Body | None = None  # notified of random numbers
        self.forbid: Body | None = None  # raises for what a transformed function must not call
        self.gradients: Body | None = None  # by seeds or tensors that are carriers
        self.text: Body | None = None  # how a tensor prints inside

    @contextmanager
    def unasked(self) -> Iterator[None]:
        """What is written in here is no operation in place to torch.func."""
        change, self.change = self.change, None
        try:
            yield
        finally:
            self.change = change


TRANSFORMS = run_state(_Transformations())

# Elements up to which an elementwise result is rounded as PyTorch rounds it, a gradient summed as
# PyTorch sums it, and a scaled sum rounded once: what the engine itself asks of the table in
# numerics/thresholds.py.
SMALL = 32
NOTICED = 1 << 18
FUSED = 1 << 17
UPDATED = 1 << 19


def one(array: Any) -> Any:
    """The number 1 as an operand for `array`. A 0-dim array of its type costs NumPy half of what a
    Python number does."""
    made = RUNTIME.ones.get(array.dtype)
    return 1 if made is None or not array.ndim else made
