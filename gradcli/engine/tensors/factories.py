"""Engine: what a creation function runs: memory, then the type, the device, the flag."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..memory.device import as_device, default_device, placed
from ..memory.layout import check_dimensions, formatted
from ..schema import dtypes
from ..schema.carriers import RUNTIME, TRANSFORMS
from ..schema.dtypes import BY_NAME, DType
from ..schema.limits import as_element
from ..schema.mode import state
from ..schema.row import Factory
from .construct import FLOAT_ONLY
from .tensor import Tensor, plain
from .tensor_type import kind_of

NEGATIVE = {"zeros": "zeros: Dimension size must be non-negative."}  # it looks by itself
ELEMENTS = ("fill_value", "s")  # what creation functions call a number that becomes an element


def run_factory(row: Factory, *values: Any) -> Any:
    """Runs a creation function, unless a transformation takes the call."""
    if TRANSFORMS.levels and RUNTIME.factory is not None:
        return RUNTIME.factory(row, values)
    return manufacture(row, values)


def manufacture(row: Factory, values: Sequence[Any]) -> Tensor:
    """Runs a creation function: memory asked for first, then type, device and requires_grad."""
    arguments = dict(zip(row.signature.names, values, strict=True))
    dtype = arguments.get("dtype") or _absent_dtype(row, arguments)
    like = arguments.get("self")
    device = arguments.get("device")
    place = (
        as_device(device)
        if device is not None
        else like.device
        if isinstance(like, Tensor)
        else default_device()
    )
    kind = kind_of(dtype, place)
    if row.cost is not None:
        state.reserve(int(row.cost(*values[: row.given])) * kind.dtype.itemsize)
    elif "size" in arguments:
        count = 1
        check_dimensions(len(arguments["size"]))
        for size in arguments["size"]:
            if size < 0:
                raise RuntimeError(
                    NEGATIVE.get(row.name)
                    or f"Trying to create tensor with negative dimension {size}: "
                    f"{list(arguments['size'])}"
                )
            count *= size
        state.reserve(count * kind.dtype.itemsize)
    requires_grad = bool(arguments.get("requires_grad"))
    if requires_grad and not kind.differentiable:
        raise RuntimeError(FLOAT_ONLY)
    inputs = []
    for name, value in zip(row.signature.names[: row.given], values, strict=False):
        if name in ("device", "requires_grad"):
            continue
        if name == "dtype":
            inputs.append(kind.array_dtype)
        elif isinstance(value, Tensor):
            same = value._kind.xp is kind.xp
            inputs.append(value._data if same else placed(value._data, kind.xp))
        elif name in ELEMENTS:
            inputs.append(as_element(value, kind.dtype))
        else:
            inputs.append(value)
    data = row.forward(kind if row.kinded else kind.xp, *inputs)
    data = kind.xp.asarray(data)
    if data.dtype is not kind.settled:
        data = kind.settle(data)
    if isinstance(like, Tensor) and row.is_like and data.ndim > 1:
        data = formatted(data, like._data, arguments.get("memory_format"))
    out = plain(data, kind)
    out._requires_grad = requires_grad
    if requires_grad and state.observer is not None:
        state.observer.required(out)
    return out


def _absent_dtype(row: Factory, arguments: dict[str, Any]) -> DType:
    policy = row.dtype
    if policy == "default":
        return dtypes.default_dtype()
    if policy == "like":
        first = arguments["self"]
        return first.dtype
    if isinstance(policy, str):
        return BY_NAME[policy]
    return policy(*arguments.values())
