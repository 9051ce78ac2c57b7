"""Library: parameters: leaf tensors that a module trains."""

from __future__ import annotations

from typing import Any

from ..engine.schema.mode import as_bool, state
from ..engine.tensors.tensor import Tensor, plain


class _ParameterType(type):
    """A parameter is a tensor with a flag, so that the engine meets one class only."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor) and value.is_parameter


class Parameter(metaclass=_ParameterType):
    """A leaf that shares the data's memory and requires a gradient."""

    PUBLIC: tuple[str, ...] = ()
    BENEATH = Tensor  # the class that its objects are of

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        if data is None:
            data = _empty()
        if not isinstance(data, Tensor):
            word = type(data).__name__
            raise AttributeError(f"'{word}' object has no attribute 'detach'")
        as_bool(requires_grad, "_make_subclass", "require_grad", 3)
        parameter = plain(data._data, data._kind) if data.__class__ is Tensor else data.detach()
        parameter._need_meta().is_parameter = True
        if requires_grad:
            if not data._kind.differentiable:
                raise RuntimeError(
                    "Only Tensors of floating point and complex dtype can require gradients"
                )
            parameter._requires_grad = True
        if state.observer is not None:
            state.observer.parameter(parameter)
        return parameter


def _empty() -> Tensor:
    from ..engine.tensors.construct import tensor

    return tensor([])


class _BufferType(type):
    """A buffer is a tensor with a flag, too."""

    def __instancecheck__(cls, value: Any) -> bool:
        return persistence(value) is not None


class Buffer(metaclass=_BufferType):
    """A tensor that belongs to a module's state and is not trained; it shares the data's memory."""

    PUBLIC: tuple[str, ...] = ()

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        data = _empty() if data is None else data
        buffer = data.detach()
        buffer.requires_grad_(data.requires_grad)
        buffer._need_meta().persistent = persistent
        return buffer


def persistence(value: Any) -> bool | None:
    """Whether a state_dict has a buffer; None for other values."""
    return value._meta.persistent if isinstance(value, Tensor) and value._meta else None
