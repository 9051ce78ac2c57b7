"""Library: the modules that mark where a network may be quantised; until then they only compute."""

from __future__ import annotations

from typing import Any

from ..operators import catalogue
from .linear import Identity
from .module import Module


class FloatFunctional(Module):
    """Sums, products and joins as calls of a module, which quantisation would find."""

    _torch_name = "torch.ao.nn.quantized.modules.functional_modules.FloatFunctional"
    PUBLIC = (
        "activation_post_process", "add", "add_scalar", "mul", "mul_scalar", "cat", "add_relu",
        "matmul",
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self.activation_post_process = Identity()

    def forward(self, x: Any) -> Any:
        raise RuntimeError(
            "FloatFunctional is not intended to use the 'forward'. Please use the underlying "
            "operation"
        )

    def _processed(self, name: str, *operands: Any) -> Any:
        return self.activation_post_process(catalogue.functions[name](*operands))

    def add(self, x: Any, y: Any) -> Any:
        return self._processed("add", x, y)

    def add_scalar(self, x: Any, y: float) -> Any:
        return catalogue.functions["add"](x, y)

    def mul(self, x: Any, y: Any) -> Any:
        return self._processed("mul", x, y)

    def mul_scalar(self, x: Any, y: float) -> Any:
        return catalogue.functions["mul"](x, y)

    def cat(self, x: Any, dim: int = 0) -> Any:
        return self._processed("cat", x, dim)

    def add_relu(self, x: Any, y: Any) -> Any:
        return self._processed("relu", catalogue.functions["add"](x, y))

    def matmul(self, x: Any, y: Any) -> Any:
        return self._processed("matmul", x, y)


class _Stub(Module):
    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig is not None:
            raise NotImplementedError("gradcli does not quantise: a stub takes no qconfig here")

    def forward(self, x: Any) -> Any:
        return x


class QuantStub(_Stub):
    _torch_name = "torch.ao.quantization.stubs.QuantStub"


class DeQuantStub(_Stub):
    _torch_name = "torch.ao.quantization.stubs.DeQuantStub"
