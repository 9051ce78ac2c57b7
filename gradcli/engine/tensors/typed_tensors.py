"""Engine: torch.FloatTensor and its kin: the name of an element type on a device, as a class."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..memory.device import cpu
from ..schema.catalogue import catalogue
from ..schema.dtypes import ALL, DType
from ..schema.mode import state
from .construct import legacy_tensor
from .tensor import Tensor


class _TypedTensorType(type):
    """A tensor is an instance of its element type's class; no object is made of one."""

    dtype: DType

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor) and value.dtype is cls.dtype and value.device is cpu

    def __call__(cls, data: Any = None, *more: Any) -> Tensor:
        return legacy_tensor(data, *more, dtype=cls.dtype)


class _SparseTensorType(_TypedTensorType):
    """The same of sparse tensors: torch.sparse.FloatTensor."""

    def __instancecheck__(cls, value: Any) -> bool:
        return super().__instancecheck__(value) and bool(value.is_sparse)

    def __call__(cls, *given: Any) -> Tensor:
        parts = "shape"
        if given and isinstance(given[0], Tensor):
            parts = "indices, values, shape" if len(given) > 2 else "indices, values"
        elif given and all(size.__class__ is int for size in given):
            given = (given,)
        state.warn(
            f"torch.sparse.SparseTensor({parts}, *, device=) is deprecated.  Please use "
            f"torch.sparse_coo_tensor({parts}, dtype=, device=)."
        )
        make = catalogue.functions["sparse_coo_tensor"]
        return make(*given, dtype=cls.dtype, check_invariants=False)


@cache
def sparse_typed_tensor(word: str) -> type:
    """The class of a word: "Float" for torch.sparse.FloatTensor."""
    name = f"{word}Tensor"
    dtype = next(dtype for dtype in ALL if dtype.word == word)
    return _SparseTensorType(name, (), {"dtype": dtype, "_torch_name": f"torch.sparse.{name}"})


@cache
def typed_tensor(word: str) -> type:
    """The class of a word: "Float" for torch.FloatTensor."""
    name = f"{word}Tensor"
    dtype = next(dtype for dtype in ALL if dtype.word == word)
    return _TypedTensorType(name, (), {"dtype": dtype, "_torch_name": f"torch.{name}"})
