"""Engine: wrappers of NumPy's arrays and numbers: what programs hold instead of them."""

from __future__ import annotations

from typing import Any


class Wrapped:
    """A value of a program that holds an array, a number or an element type of NumPy's."""

    __slots__ = ("array",)

    array: Any


class WrappedNumber(Wrapped):
    """One of NumPy's numbers: where PyTorch takes a number, it takes this one."""

    __slots__ = ()
    is_python = False  # np.float64 is a float, np.complex128 a complex

    def item(self) -> Any:
        return self.array.item()


# Types of tensors of other libraries that a program may hold: `.numpy()` gives their values.
WITH_NUMPY: set[type] = set()


def unwrapped(value: Any) -> Any:
    """What is in it, or the value itself."""
    return value.array if isinstance(value, Wrapped) else value
