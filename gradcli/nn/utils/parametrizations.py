"""Library: torch.nn.utils.parametrizations: weight_norm and spectral_norm as modules."""

from __future__ import annotations

from typing import Any

from ...engine.mode import no_grad
from ...operators import catalogue
from ..module import Module
from .computed import held_tensor
from .parametrize import register_parametrization
from .spectral_normalised import as_matrix, dim_of_outputs, first_vectors, unit

__all__ = ["spectral_norm", "weight_norm"]

FIRST_STEPS = 15  # in which the singular vectors are looked for before anything is computed


class _WeightNorm(Module):
    PUBLIC = ("dim", "right_inverse")

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return catalogue.functions["_weight_norm"](weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Any) -> tuple[Any, Any]:
        return catalogue.functions["norm_except_dim"](weight, 2, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(Module):
    PUBLIC = ("dim", "eps", "n_power_iterations", "right_inverse", "_u", "_v")

    def __init__(self, weight: Any, steps: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(
                "Dimension out of range (expected to be in range of "
                f"[-{ndim}, {ndim - 1}] but got {dim})"
            )
        if steps <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={steps}"
            )
        self.dim, self.eps = dim % ndim, eps
        if ndim > 1:
            self.n_power_iterations = steps
            matrix = as_matrix(weight, self.dim)
            for name, vector in zip(("_u", "_v"), first_vectors(matrix, eps), strict=True):
                self.register_buffer(name, vector)
            self._improve(matrix, FIRST_STEPS)

    def _improve(self, matrix: Any, steps: int) -> None:
        left, right = self._buffers["_u"], self._buffers["_v"]
        with no_grad():
            for _ in range(steps):
                left.copy_(unit(matrix.mv(right), self.eps))
                right.copy_(unit(matrix.mH.mv(left), self.eps))

    def forward(self, weight: Any) -> Any:
        if weight.ndim == 1:
            return unit(weight, self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._improve(matrix, self.n_power_iterations)
        left, right = self._buffers["_u"].clone(), self._buffers["_v"].clone()
        return weight / left.vdot(matrix.mv(right))

    def right_inverse(self, value: Any) -> Any:
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
    dim: int | None = None,
) -> Module:  # fmt: skip
    weight = held_tensor(module, name)
    if weight is None:
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    dim = dim_of_outputs(module) if dim is None else dim
    made = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return register_parametrization(module, name, made)
