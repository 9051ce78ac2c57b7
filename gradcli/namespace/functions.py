"""namespace: functions of torch that are no operators, and the switches that programs set."""

from __future__ import annotations

from typing import Any

from ..engine.schema.run_state import run_state
from .table import FLAGS


class _Flags:
    """What a program set them to."""

    __slots__ = ("deterministic", "precision", "values")

    def __init__(self) -> None:
        self.values = dict(FLAGS)
        self.deterministic = False
        self.precision = "highest"


flags = run_state(_Flags())


def set_flag(name: str, value: Any) -> None:
    """torch.backends.cudnn.benchmark = True"""
    if name not in FLAGS or not isinstance(value, bool):
        space, _, last = f"torch.{name}".rpartition(".")
        only = " to anything but True and False" if name in FLAGS else ""
        raise AttributeError(f"'{last}' of module '{space}' can't be set{only}")
    flags.values[name] = value


def is_tensor(value: Any) -> bool:
    from ..engine.tensors.tensor import Tensor

    return isinstance(value, Tensor)


def is_storage(obj: Any) -> bool:
    from ..engine.tensors.typed_storage import UntypedStorage

    return isinstance(obj, UntypedStorage)


def _must_be_tensor(name: str, input: Any) -> None:
    from ..engine.schema.errors import type_name

    if not is_tensor(input):
        took = f"{name}(): argument 'input' (position 1) must be Tensor"
        raise TypeError(f"{took}, not {type_name(input)}")


def is_floating_point(input: Any) -> bool:
    _must_be_tensor("is_floating_point", input)
    return bool(input.is_floating_point())


def is_complex(input: Any) -> bool:
    _must_be_tensor("is_complex", input)
    return bool(input.is_complex())


def assert_(condition: Any, message: Any) -> None:
    """torch._assert: an assert that is a call."""
    if not condition:
        raise AssertionError(message)


def is_nonzero(input: Any) -> bool:
    return bool(input)


def numel(input: Any) -> int:
    _must_be_tensor("numel", input)
    return int(input.numel())


def broadcast_shapes(*shapes: Any) -> Any:
    """torch.broadcast_shapes: the shape that several shapes broadcast to."""
    from ..engine.schema.size import Size

    given = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    width = max((len(s) for s in given), default=0)
    out = [1] * width
    for shape in given:
        for place, size in enumerate(shape, width - len(shape)):
            if size != 1 and out[place] not in (1, size):
                raise RuntimeError(
                    "Shape mismatch: objects cannot be broadcast to a single shape. Mismatch is "
                    f"between arg with shape {list(out)} and arg with shape {list(shape)}."
                )
            if size != 1:
                out[place] = size
    return Size(out)


class _Threads:
    """torch.get_num_threads"""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 1


_threads = run_state(_Threads())


def set_num_threads(count: int) -> None:
    """Accepted for PyTorch's sake; the array library has its own threads."""
    _threads.count = int(count)


def get_num_threads() -> int:
    return _threads.count


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Everything here is deterministic."""
    flags.deterministic = bool(mode)


def are_deterministic_algorithms_enabled() -> bool:
    return flags.deterministic


def set_float32_matmul_precision(precision: str) -> None:
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(
            f"'{precision}' is not one of 'highest', 'high', 'medium' for the float32 precision"
        )
    flags.precision = precision


def get_float32_matmul_precision() -> str:
    return flags.precision


def set_default_tensor_type(t: Any) -> None:
    """torch.set_default_tensor_type: by its name or by the type itself."""
    from ..engine.schema.dtypes import BY_NAME, set_default_dtype

    # the language hands a value of its own over, which has the name as well
    word = t if isinstance(t, str) else str(getattr(t, "name", getattr(t, "__name__", "")))
    dtypes = {"FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16",
              "BFloat16Tensor": "bfloat16"}  # fmt: skip
    found = dtypes.get(word.rpartition(".")[2])
    if found is None:
        raise TypeError(f"invalid type object: only floating-point types are supported, got {word}")
    set_default_dtype(BY_NAME[found])
