"""Library: torch.nn.utils.parametrizations: weight_norm, spectral_norm, orthogonal as modules."""

from __future__ import annotations

from typing import Any

from ...engine.schema.limits import finfo
from ...engine.schema.mode import no_grad
from ...operators import catalogue
from ..module import Module
from .computed import held_tensor
from .parametrize import register_parametrization
from .spectral_normalised import dim_of_outputs, first_vectors, led_by, unit

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

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
            matrix = led_by(weight, self.dim).flatten(1)
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
        matrix = led_by(weight, self.dim).flatten(1)
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


# ---------------------------------------------------------------- orthogonal

MAPS = ("matrix_exp", "cayley", "householder")


def _run(name: str, *args: Any, **options: Any) -> Any:
    return catalogue.functions[name](*args, **options)


def _is_orthogonal(matrix: Any) -> bool:
    """As far as rounding lets a matrix be."""
    rows, columns = matrix.shape[-2:]
    eps = 10.0 * rows * finfo(matrix.dtype).eps
    unit_matrix = _run("eye", columns, dtype=matrix.dtype, device=matrix.device)
    return bool(_run("allclose", matrix.mH @ matrix, unit_matrix, atol=eps))


def _orthogonalised(matrix: Any) -> Any:
    """The factor Q of the QR decomposition whose R has a positive diagonal."""
    packed, tau = _run("geqrf", matrix)
    signs = packed.diagonal(0, -2, -1).sgn().unsqueeze(-2)
    return _run("linalg.householder_product", packed, tau).mul_(signs)


class _Orthogonal(Module):
    PUBLIC = ("base", "right_inverse")

    def __init__(self, weight: Any, orthogonal_map: str, use_trivialization: bool) -> None:
        super().__init__()
        if orthogonal_map == "householder" and weight.is_complex():
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.__dict__["_shape"] = weight.shape
        self.__dict__["_map"] = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Any) -> Any:
        wide = X.size(-2) < X.size(-1)
        tall = X.mT if wide else X
        if self._map == "householder":
            below = tall.tril(-1)
            tau = 2.0 / (1.0 + (below * below).sum(-2))
            made = _run("linalg.householder_product", below, tau)
            # Ones and minus ones, which are no part of the derivative.
            made = made * tall.diagonal(0, -2, -1).int().unsqueeze(-2)
        else:
            made = self._of_skew(tall)
        if "base" in self._buffers:
            made = self._buffers["base"] @ made
        return made.mT if wide else made

    def _of_skew(self, tall: Any) -> Any:
        """From the triangle below, a skew-symmetric matrix; from it, an orthogonal one."""
        rows, columns = tall.size(-2), tall.size(-1)
        lower = tall.tril()
        if rows != columns:
            zeros = lower.new_zeros((rows, rows - columns))
            lower = _run("cat", [lower, zeros.expand(*lower.shape[:-2], -1, -1)], -1)
        skew = lower - lower.mH
        if self._map == "matrix_exp":
            made = _run("matrix_exp", skew)
        else:
            one = _run("eye", rows, dtype=skew.dtype, device=skew.device)
            made = _run("linalg.solve", _run("add", one, skew, alpha=-0.5),
                        _run("add", one, skew, alpha=0.5))  # fmt: skip
        return made[..., :columns] if rows != columns else made

    def right_inverse(self, Q: Any) -> Any:
        with no_grad():
            if Q.shape != self._shape:
                raise ValueError(
                    f"Expected a matrix or batch of matrices of shape {self._shape}. Got a tensor "
                    f"of shape {Q.shape}."
                )
            wide = Q.size(-2) < Q.size(-1)
            tall = Q.mT if wide else Q
            if "base" not in self._buffers:
                found = self._reflections(tall)
                return found.mT if wide else found
            self._buffers["base"] = self._completed(tall)
            start = _run("zeros_like", Q)
            start.diagonal(0, -2, -1).fill_(-1.0)
            return start

    def _completed(self, tall: Any) -> Any:
        """The square orthogonal matrix that the parametrization starts from."""
        rows, columns = tall.size(-2), tall.size(-1)
        if rows == columns:
            return tall.clone() if _is_orthogonal(tall) else _orthogonalised(tall)
        like = {"dtype": tall.dtype, "device": tall.device}
        more = _run("randn", *tall.shape[:-2], rows, rows - columns, **like)
        return _orthogonalised(_run("cat", [tall, more], -1))

    def _reflections(self, tall: Any) -> Any:
        if self._map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley "
                "parametrizations when use_trivialization=False."
            )
        packed, tau = _run("geqrf", tall)
        packed.diagonal(0, -2, -1).sign_()
        # LAPACK's tau is zero where it needs no reflection.
        packed.diagonal(0, -2, -1)[tau == 0.0] *= -1
        return packed


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: Any = None, *,
    use_trivialization: bool = True,
) -> Module:  # fmt: skip
    weight = held_tensor(module, name)
    if weight is None:
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1) or weight.is_complex()
        orthogonal_map = "matrix_exp" if square else "householder"
    if orthogonal_map not in MAPS:
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
            f"Got: {orthogonal_map}"
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)
