"""Engine: what formulas run on, and who takes the calls of transformations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Body: TypeAlias = Callable[..., Any]  # what a declaration gives: a kernel, a formula, a check


class _Carriers:
    """What a formula may run on. `device` and `tensor` fill this in: naming the classes here would
    load an array library wherever only names are wanted."""

    __slots__ = (
        "tensor",
        "arrays",
        "double",
        "ones",
        "complex",
        "reduced",
        "levels",
        "call",
        "factory",
        "draw",
        "forbid",
        "gradients",
        "text",
        "mixed",
    )

    def __init__(self) -> None:
        self.tensor: Any = None
        self.arrays: dict[type, Any] = {}
        self.double: Any = "float64"
        self.ones: dict[Any, Any] = {}  # by array type: see kernels.one
        # Transformations (torch.func, forward_ad): how many are open, and who takes the calls that
        # no overload takes, the creation functions and the random numbers inside them.
        self.levels = 0
        self.call: Body | None = None
        self.factory: Body | None = None
        self.draw: Body | None = None
        self.forbid: Body | None = None  # raises for what a transformed function must not call
        self.gradients: Body | None = None  # of tensors that have tangents
        self.text: Body | None = None  # how a tensor prints inside
        self.reduced = False  # has a number of reduced precision appeared?
        self.mixed = False  # has a number of the CPU met a tensor of a GPU?
        self.complex = False  # has a complex number appeared? see formula.complex_appears


CARRIERS = _Carriers()
ARRAYS = CARRIERS.arrays
