"""Library: parameters and buffers whose size is known at a module's first call only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine.tensors.tensor import METHODS, Tensor, plain
from ..operators import catalogue
from .create import empty
from .parameter import Parameter

_SHAPE = (
    "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
    "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. "
    "Call `forward` to initialize the parameters before accessing their attributes."
)
_USED = (
    "Attempted to use an uninitialized parameter in <method '{}' of 'torch._C.TensorBase' "
    "objects>. This error happens when you are using a `LazyModule` or explicitly manipulating "
    "`torch.nn.parameter.UninitializedParameter` objects. When using LazyModules Call `forward` "
    "with a dummy batch to initialize the parameters before calling torch functions"
)


class Uninitialized(Tensor):
    """Becomes an ordinary tensor, and stays the same object, when its size is known."""

    __slots__ = ()

    @property
    def shape(self) -> Any:
        raise RuntimeError(_SHAPE)

    def detach(self) -> Tensor:
        return self

    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        changed = catalogue.methods["to"](plain(self._data, self._kind), *args, **kwargs)
        changed.__class__ = Uninitialized
        return changed

    def materialize(self, shape: Sequence[int]) -> None:
        self.__class__ = Tensor
        self.data = empty(tuple(shape), self.device, self.dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        make = parameter if self.is_parameter else buffer
        made: Tensor = memo.setdefault(id(self), make(self.device, self.dtype))
        return made

    def __repr__(self) -> str:
        return f"<Uninitialized{'Parameter' if self.is_parameter else 'Buffer'}>"


def _refusing(name: str) -> Any:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        raise ValueError(_USED.format(name))

    return method


_ALLOWED = frozenset(
    "detach to is_inference get_device is_floating_point is_complex materialize".split()
)
_REFUSED = {name: name for name in (METHODS | set(catalogue.methods)) - _ALLOWED}
_REFUSED.update({
    f"__{side}{name}__": name
    for name in ("add", "sub", "mul", "truediv", "pow", "matmul") for side in ("", "r")
})  # fmt: skip
_REFUSED.update(__neg__="neg", __getitem__="getitem")
for _place, _name in _REFUSED.items():
    setattr(Uninitialized, _place, _refusing(_name))


def parameter(device: Any, dtype: Any) -> Any:
    made = Parameter(empty((0,), device, dtype))
    made.__class__ = Uninitialized
    return made


def buffer(device: Any, dtype: Any) -> Any:
    made = empty((0,), device, dtype)
    made.__class__ = Uninitialized
    return made
