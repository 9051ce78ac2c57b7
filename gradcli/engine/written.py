"""Engine: out=...: a result written into tensors that the program has."""

from __future__ import annotations

from typing import Any

from .dtypes import can_cast
from .mode import no_grad, state
from .resize import resize
from .returns import Named, named
from .tensor import Tensor


def into(out: Any, result: Any, name: str) -> Any:
    """The result's numbers in `out`, which takes its shape; one tensor for each result."""
    if isinstance(result, Tensor):
        return _one(out, result)
    for place, value in zip(out, result, strict=True):
        _one(place, value)
    if isinstance(result, Named):
        return named(f"{name}_out", result.fields, tuple(out))
    return tuple(out)


def _one(out: Tensor, result: Tensor) -> Tensor:
    if not can_cast(result.dtype, out.dtype):
        raise RuntimeError(
            f"result type {result.dtype.word} can't be cast to the desired output type "
            f"{out.dtype.word}"
        )
    if out.shape != result.shape:
        if out.numel():
            state.warn(
                "An output with one or more elements was resized since it had shape "
                f"{list(out.shape)}, which does not match the required output shape "
                f"{list(result.shape)}. This behavior is deprecated, and in a future PyTorch "
                "release outputs will not be resized unless they have zero elements. You can "
                "explicitly reuse an out tensor t by resizing it, inplace, to zero elements with "
                "t.resize_(0)."
            )
        resize(out, tuple(result.shape))
    with no_grad():
        out.copy_(result)  # type: ignore[attr-defined]
    return out
