"""Live: the engine's tensors as PyTorch's, and PyTorch's as the engine's."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy

from ..engine.memory.device import to_numpy
from ..engine.schema import dtypes
from ..engine.tensors.tensor import Tensor, plain
from ..engine.tensors.tensor_type import kind_of
from ..opening import DeviceMissing, UsageError
from ..recording.sides import array_of

Held: TypeAlias = tuple[Any, int, Any]  # a leaf, its version, and the values that it had


def device_of(torch: Any, name: str) -> Any:
    """The device that --device names."""
    try:
        device = torch.device(name)
    except RuntimeError:
        raise UsageError(f"--device {name}: expected cpu, cuda or cuda:N") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise DeviceMissing(f"--device {name}: PyTorch finds no CUDA device here")
    return device


def given_tensors(torch: Any, values: Mapping[str, Any], device: Any) -> dict[str, Any]:
    """Tensors become PyTorch's; other values stay as they are."""
    return {name: _to_torch(torch, value, device) for name, value in values.items()}


def _to_torch(torch: Any, value: Any, device: Any) -> Any:
    if not isinstance(value, Tensor):
        return value
    dtype = getattr(torch, str(value.dtype).removeprefix("torch."))
    made = torch.tensor(to_numpy(value._data), dtype=dtype, device=device)
    return made.requires_grad_() if value.requires_grad else made


def as_held(tensors: Iterable[Any]) -> list[Held]:
    """The leaves among what a node has saved, which an optimizer may change."""
    return [(tensor, tensor._version, tensor.data.clone()) for tensor in tensors
            if tensor.is_leaf and tensor.requires_grad]  # fmt: skip


@contextmanager
def put_back(held: Iterable[Held]) -> Iterator[None]:
    """Within it leaves are what they were, and a node that has saved them can run again."""
    held = list(held)
    now = as_held(tensor for tensor, _, _ in held)
    try:
        _put(held)
        yield
    finally:
        _put(now)


def _put(held: Iterable[Held]) -> None:
    for tensor, version, values in held:
        tensor.data.copy_(values)  # which does not count as a change
        sys.modules["torch"]._C._autograd._unsafe_set_version_counter((tensor,), (version,))


def own_tensor(tensor: Any) -> Tensor:
    """The engine's tensor with the values that one of PyTorch's has now, on the host."""
    kind = kind_of(dtypes.BY_NAME[str(tensor.dtype).removeprefix("torch.")])
    return plain(numpy.array(array_of(tensor), dtype=kind.array_dtype), kind)
