"""Utils: torch.utils.data: examples put together to a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...engine.schema.dtypes import float64
from ...engine.schema.numpy_wrappers import WrappedNumber
from ...engine.tensors.construct import as_tensor, is_array, tensor
from ...engine.tensors.tensor import Tensor
from ...operators import catalogue


def default_collate(batch: Any) -> Any:
    """A list of examples as one of their kind: tensors stacked, numbers as a tensor.

    Raises TypeError for examples of another type, RuntimeError for tuples of different lengths.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return catalogue.functions["stack"](list(batch), 0)
    if is_array(first):
        return catalogue.functions["stack"]([as_tensor(item) for item in batch], 0)
    if isinstance(first, WrappedNumber):
        return as_tensor(list(batch))
    if isinstance(first, float):
        return tensor(list(batch), dtype=float64)
    if isinstance(first, int):
        return tensor(list(batch))
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return {key: default_collate([item[key] for item in batch]) for key in first}
    if isinstance(first, Sequence):
        if any(len(item) != len(first) for item in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return _alike(first, zip(*batch, strict=True), default_collate)
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
        f"{type(first)}"
    )


def default_convert(data: Any) -> Any:
    """An example whose arrays have become tensors, at any depth."""
    if is_array(data) or isinstance(data, WrappedNumber):
        return as_tensor(data)
    if isinstance(data, Mapping):
        return {key: default_convert(data[key]) for key in data}
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return _alike(data, data, default_convert)
    return data


def _alike(example: Any, parts: Iterable[Any], convert: Callable[[Any], Any]) -> Any:
    """A named tuple of the converted parts where the example is one, else a list."""
    made = [convert(part) for part in parts]
    return type(example)(*made) if hasattr(example, "_fields") else made
