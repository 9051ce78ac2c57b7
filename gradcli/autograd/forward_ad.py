"""Autograd: torch.autograd.forward_ad: dual tensors, values with tangents beside them."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..engine.schema.carriers import TRANSFORMS
from ..engine.schema.catalogue import catalogue
from ..engine.schema.mode import state
from ..func import transformation  # noqa: F401 (defines the operations of duals)
from ..func.dual import become_plain, check_tangent, dual, forward, is_dual
from ..func.reverse import Identity, gradients_of_carriers

__all__ = [
    "UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual",
    "unpack_dual",
]  # fmt: skip

LEVEL = 0  # of the duals made here; torch.func's own levels start at 1


class UnpackedDualTensor(NamedTuple):
    """A dual tensor's two parts; an ordinary tensor has no tangent."""

    primal: Any
    tangent: Any


def enter_dual_level() -> int:
    """Opens a level in which dual tensors can be made."""
    if forward.level >= 0:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    forward.level = LEVEL
    TRANSFORMS.levels += 1
    TRANSFORMS.gradients = gradients_of_carriers
    return LEVEL


def exit_dual_level(*, level: int | None = None) -> None:
    """Closes it: the tensors that were dual are their primals from now on."""
    number = forward.level if level is None else level
    if number < 0:
        raise RuntimeError("Dual level must be a positive number.")
    if number != forward.level:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is "
            "not supported."
        )
    forward.level = -1
    TRANSFORMS.levels -= 1
    if not TRANSFORMS.levels:
        TRANSFORMS.gradients = None
    for tensor in list(forward.alive):
        become_plain(tensor)
    forward.alive.clear()


class dual_level:
    """`with dual_level():` the tensors that make_dual makes inside have tangents."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *error: object) -> None:
        exit_dual_level()

    def __call__(self, function: Any) -> Any:
        import functools

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with dual_level():
                return function(*args, **kwargs)

        return run


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """A view of a tensor that comes with a tangent."""
    number = forward.level if level is None else level
    if number < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    for name, value in (("primal", tensor), ("tangent", tangent)):
        if not (value.is_floating_point() or value.is_complex()):
            raise ValueError(
                f"Expected {name} to be floating point or complex, but got: {value.dtype}"
            )
    if is_dual(tensor, number):
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the "
            f"same level {number} is not supported."
        )
    if tensor._data.shape != tangent._data.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor, this is not supported. Tensor is of size {list(tensor._data.shape)} while "
            f"the given forward gradient is of size {list(tangent._data.shape)}."
        )
    check_tangent(tensor, tangent)
    return dual(catalogue.methods["view_as"](tensor, tensor), tangent, number)


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """The primal of a tensor, and its tangent where it has one."""
    number = forward.level if level is None else level
    if number < 0:
        return UnpackedDualTensor(tensor, None)
    if not is_dual(tensor, number):
        return UnpackedDualTensor(tensor, None)
    primal = tensor.primal
    if primal.requires_grad:
        shown = primal.detach()
        shown._grad_fn, shown._requires_grad = Identity(primal, "Identity"), True
        primal = shown
    return UnpackedDualTensor(primal, None if state.inference else tensor.tangent)
