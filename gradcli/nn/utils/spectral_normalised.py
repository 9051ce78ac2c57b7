"""Library: torch.nn.utils.spectral_norm: a weight divided by its largest singular value."""

from __future__ import annotations

from typing import Any

from ...engine.schema.mode import no_grad
from ...operators import catalogue
from ..convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..derived import show
from ..parameter import Parameter
from .computed import add_hook, hook_of, put_back


def unit(vector: Any, eps: float) -> Any:
    return catalogue.functions["nn.functional.normalize"](vector, dim=0, eps=eps)


def led_by(weight: Any, dim: int) -> Any:
    """The weight with one dimension in front: its slices become the rows of a matrix."""
    if not dim:
        return weight
    return weight.permute(dim, *(d for d in range(weight.ndim) if d != dim))


def as_matrix(weight: Any, dim: int) -> Any:
    """A row for each slice along one dimension."""
    weight = led_by(weight, dim)
    return weight.reshape(weight.shape[0], -1)


def first_vectors(matrix: Any, eps: float) -> tuple[Any, Any]:
    """Where the search for the singular vectors begins."""
    height, width = matrix.shape
    left, right = matrix.new_empty(height).normal_(0, 1), matrix.new_empty(width).normal_(0, 1)
    return unit(left, eps), unit(right, eps)


def dim_of_outputs(module: Any) -> int:
    return int(isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)))


class SpectralNorm:
    """Computes the weight before each call of the module; in training the vectors improve."""

    def __init__(self, name: str, steps: int, dim: int, eps: float) -> None:
        self.name, self.steps, self.dim, self.eps = name, steps, dim, eps

    def weight(self, module: Any, improve: bool) -> Any:
        weight, buffers = module._parameters[self.name + "_orig"], module._buffers
        left, right = buffers[self.name + "_u"], buffers[self.name + "_v"]
        matrix = as_matrix(weight, self.dim)
        if improve:
            with no_grad():
                for _ in range(self.steps):
                    right.copy_(unit(matrix.t().mv(left), self.eps))
                    left.copy_(unit(matrix.mv(right), self.eps))
                if self.steps > 0:
                    left, right = left.clone(), right.clone()
        return weight / left.dot(matrix.mv(right))

    def __call__(self, module: Any, inputs: Any) -> None:
        show(module, self.name, self.weight(module, module.training))


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
    dim: int | None = None,
) -> Any:  # fmt: skip
    if n_power_iterations <= 0:
        raise ValueError(
            "Expected n_power_iterations to be positive, but got "
            f"n_power_iterations={n_power_iterations}"
        )
    if hook_of(module, SpectralNorm, name) is not None:
        raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    dim = dim_of_outputs(module) if dim is None else dim
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    with no_grad():
        left, right = first_vectors(as_matrix(weight, dim), eps)
    del module._parameters[name]
    module.register_parameter(name + "_orig", weight)
    show(module, name, weight.data)
    module.register_buffer(name + "_u", left)
    module.register_buffer(name + "_v", right)
    add_hook(module, SpectralNorm(name, n_power_iterations, dim, eps))
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    found = hook_of(module, SpectralNorm, name, take=True)
    if found is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    with no_grad():
        weight = found.weight(module, False)
    for part in ("_u", "_v"):
        del module._buffers[name + part]
    del module._parameters[name + "_orig"]
    put_back(module, name, Parameter(weight.detach()))
    return module
