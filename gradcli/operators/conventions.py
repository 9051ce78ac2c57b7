"""Operators: conventions that many declarations share: refused types, dimensions, reductions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine.schema.limits import as_element
from ..engine.schema.mode import state
from ..engine.schema.operator import catalogue
from ..engine.tensors.conversion import MEAN, NONE, SUM
from ..numerics.thresholds import SMALL

INTEGERS = ("Byte", "Char", "Short", "Int", "Long")
REDUCED = ("Half", "BFloat16")
COMPLEX = ("ComplexFloat", "ComplexDouble")


def floating_only(kernel: str) -> dict[str, tuple[type[Exception], str]]:
    """A kernel written for floating types only."""
    return unimplemented(kernel, *INTEGERS, "Bool", *COMPLEX)


def real_only(kernel: str) -> dict[str, tuple[type[Exception], str]]:
    """A kernel that was not written for complex numbers."""
    return unimplemented(kernel, *COMPLEX)


def real_by_rule(
    text: str, error: type[Exception] = RuntimeError
) -> dict[str, tuple[type[Exception], str]]:
    """Complex numbers are refused before any kernel is looked for."""
    return dict.fromkeys(COMPLEX, (error, text))


NO_COMPLEX_LIMITS = real_by_rule("clamp is not supported for complex types", NotImplementedError)


def unimplemented(kernel: str, *words: str) -> dict[str, tuple[type[Exception], str]]:
    """Element types that a kernel was not written for."""
    return {
        word: (NotImplementedError, f"\"{kernel}\" not implemented for '{word}'") for word in words
    }


def full_precision(kernel: str) -> dict[str, tuple[type[Exception], str]]:
    """A kernel that was not written for types of reduced precision, nor for complex numbers."""
    return unimplemented(kernel, *REDUCED, *COMPLEX)


def check_precision(tensor: Any, kernel: str, empty: bool = False) -> None:
    """The same where other checks come first; mostly, what is empty needs no kernel."""
    if tensor.dtype.word in REDUCED and (empty or tensor.numel()):
        error, text = full_precision(kernel)[tensor.dtype.word]
        raise error(text)


def check_floating(tensor: Any, kernel: str) -> None:
    """The same of a kernel that was written for no integers either."""
    if tensor.dtype.category < 2 and tensor.numel():
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{tensor.dtype.word}'")
    check_precision(tensor, kernel)


def check_mixed(input: Any, *parameters: Any) -> None:
    """Statistics are computed in the type of the input; only to one of reduced precision may
    parameters in single precision be given."""
    given = [parameter for parameter in parameters if parameter is not None]
    if all(parameter.dtype is input.dtype for parameter in given):
        return
    if any(parameter.dtype.word != "Float" for parameter in given):
        raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
    if not input.dtype.is_reduced:
        raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")


def not_bool(text: str) -> dict[str, tuple[type[Exception], str]]:
    """A kernel that takes every type but bool."""
    return {"Bool": (RuntimeError, text)}


_BITS = {"f": "int32", "d": "int64"}


def cleared(xp: Any, values: Any, mask: Any) -> Any:
    """Zero where the mask is true, else the values with every bit of theirs.

    On a mask that nothing predicts, choosing takes an array library five times as long as an AND of
    bits does.
    """
    bits = _BITS.get(values.dtype.char)
    if bits is None or not _in_step(mask, values):
        return xp.where(mask, xp.zeros_like(values), values)
    kept = mask.astype(bits)
    kept -= 1
    kept &= values.view(bits)
    return kept.view(values.dtype)


def chosen(xp: Any, mask: Any, values: Any, others: Any) -> Any:
    """The values where the mask is true, else the others: on bits as well."""
    kind = getattr(values, "dtype", None)
    bits = None if kind is None else _BITS.get(kind.char)
    alike = bits is not None and getattr(others, "dtype", None) is kind
    if not alike or not _in_step(mask, values, others):
        return xp.where(mask, values, others)
    kept = mask.astype(bits)
    xp.negative(kept, out=kept)
    kept &= values.view(bits) ^ others.view(bits)
    kept ^= others.view(bits)
    return kept.view(kind)


def _in_step(mask: Any, *operands: Any) -> bool:
    """Are they many, of one shape and in one order, or one number spread over it?"""
    if mask.size <= SMALL or mask.dtype.char != "?" or not mask.flags.c_contiguous:
        return False
    return all(
        operand.shape == mask.shape and (operand.flags.c_contiguous or not any(operand.strides))
        for operand in operands
    )


def constant(function: str, **tensors: Any) -> None:
    """Refuses tensors that ask for gradients where PyTorch knows no derivative."""
    for name, tensor in tensors.items():
        if tensor is not None and tensor.requires_grad and state.grad_enabled:
            raise RuntimeError(
                f"The function '{function}' is not differentiable with respect to argument "
                f"'{name}'. This input cannot have requires_grad True."
            )


def wrap_dim(dim: int, ndim: int) -> int:
    """A dimension counted from the front; PyTorch's IndexError outside."""
    least, most = (-ndim, ndim - 1) if ndim else (-1, 0)
    if not least <= dim <= most:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{least}, {most}], but got {dim})"
        )
    return dim + max(ndim, 1) if dim < 0 else dim


def size_at(tensor: Any, dim: int) -> int:
    """`tensor.size(dim)`, with PyTorch's words where there is no such dimension."""
    if not tensor.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return int(tensor.shape[wrap_dim(dim, tensor.ndim)])


class Late:
    """A row by its schema name, found when it is first called: declarations refer in circles."""

    __slots__ = ("key", "row")

    def __init__(self, key: str) -> None:
        self.key = key
        self.row: Any = None

    def __call__(self, *arguments: Any) -> Any:
        if self.row is None:
            self.row = catalogue.row(self.key)
        return self.row(*arguments)


def native(body: Callable[..., Any]) -> Callable[..., Any]:
    """A composition that PyTorch writes in C++, where a number takes the Scalar overload.

    `x + 1` leaves AddBackward0 when Python says it and AddBackward1 when ATen does.
    """

    def run(*args: Any) -> Any:
        before, state.formula = state.formula, True
        try:
            return body(*args)
        finally:
            state.formula = before

    return run


# ---- reductions of losses, as the numbers that PyTorch's nodes save


def reduction_number(
    reduction: str, size_average: bool | None = None, reduce: bool | None = None
) -> int:
    """What `reduction=`, or the two older flags that it replaced, ask for."""
    if size_average is not None or reduce is not None:
        reduction = older_flags(size_average, reduce)
    try:
        return {"none": NONE, "mean": MEAN, "sum": SUM}[reduction]
    except KeyError:
        raise ValueError(f"{reduction} is not a valid value for reduction") from None


def older_flags(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """The reduction that the two older flags ask for."""
    size_average = True if size_average is None else size_average
    reduce = True if reduce is None else reduce
    chosen = "none" if not reduce else "mean" if size_average else "sum"
    if emit_warning:
        state.warn(
            "size_average and reduce args will be deprecated, please use "
            f"reduction='{chosen}' instead."
        )
    return chosen


def reduced(loss: Any, reduction: int) -> Any:
    """The loss of every element, reduced to its mean or sum."""
    if reduction == MEAN:
        return loss.mean()
    return loss.sum() if reduction == SUM else loss


def shape_text(tensor: Any) -> str:
    """A tensor's shape as error texts print it: torch.Size([2, 3])."""
    return f"torch.Size({list(tensor.shape)})"


def check_square(self: Any, name: str) -> None:
    if self.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if self.shape[-1] != self.shape[-2]:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {self.shape[-2]} by "
            f"{self.shape[-1]} matrices"
        )


def underivable(name: str) -> Any:
    """The formula of a derivative that PyTorch lacks."""
    raise NotImplementedError(f"the derivative for '{name}' is not implemented.")


def refuse_complex(name: str, *tensors: Any) -> None:
    """Some functions have no derivative for complex numbers."""
    if state.grad_enabled and any(t.dtype.is_complex and t.requires_grad for t in tensors):
        raise RuntimeError(
            f"{name} does not support automatic differentiation for outputs with complex dtype."
        )


def check_number(value: Any, dtype: Any) -> None:
    """Refuses what an element of the type cannot hold: a number, or one in a 0-dim tensor."""
    if not hasattr(getattr(value, "_data", value), "level"):  # vmap's samples have no number
        as_element(value.item() if hasattr(value, "ndim") else value, dtype)
