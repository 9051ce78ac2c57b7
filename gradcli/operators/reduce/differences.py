"""Operators: differences of neighbours, slopes and integrals of sampled functions.

PyTorch's C++ evaluates the right operand of `a - b` first. Where both are made of one tensor, that
decides the order in which its gradients are added, so these bodies name their operands in it.
"""

from __future__ import annotations

from typing import Any

from ...engine.schema import dtypes
from ...engine.schema.operator import composite
from ..conventions import Late, native, size_at, wrap_dim
from ..shape.constants import zeros_as, zeros_of
from ..shape.select import slice_
from .cumulative import cumsum

cat = Late("cat")
logical_xor = Late("logical_xor")

# ---- differences


def _diff(self: Any, n: int, dim: int, prepend: Any, append: Any) -> Any:
    if not self.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    dim = wrap_dim(dim, self.ndim)
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    ends = [value for value in (prepend, append) if value is not None]
    for value in ends:
        if value.ndim != self.ndim:
            raise RuntimeError("diff expects prepend or append to be the same dimension as input")
        for place in range(self.ndim):
            if place != dim and value.shape[place] != self.shape[place]:
                raise RuntimeError(
                    "diff expects the shape of tensor to prepend or append to match that of input "
                    "except along the differencing dimension; input.size("
                    f"{place}) = {self.shape[place]}, but got tensor.size({place}) = "
                    f"{value.shape[place]}"
                )
    if ends and n:
        parts = [value for value in (prepend, self, append) if value is not None]
        self = cat(parts, dim)
    for _ in range(min(n, self.shape[dim])):
        length = self.shape[dim]
        lower = slice_.run(self, dim, 0, max(length - 1, 0), 1)
        upper = slice_.run(self, dim, min(1, length), length, 1)
        self = logical_xor(upper, lower) if self.dtype.category == dtypes.BOOL else upper - lower
    return self if n else zeros_as.run(self).copy_(self)


diff = composite(
    "diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
    _diff,
    doc="Differences of neighbours along a dimension, n times.",
    samples=("x.diff()", "torch.diff(x, n=2)", "torch.diff(x, dim=0)", "torch.diff(x, prepend=y)",
             "i.diff()", "k.diff()", "torch.diff(x, prepend=z[:, :1].expand(2, 1), append=y)"),
    errors=("s.diff()", "x.diff(-1)", "x.diff(1, 3)", "x.diff(prepend=v)"),
)  # fmt: skip

# ---- integrals


def _trapezoid_of(y: Any, dx: Any, dim: int) -> Any:
    """The mean of neighbours, times their distance."""
    upper = slice_.run(y, dim, 1, None, 1)
    lower = slice_.run(y, dim, 0, -1, 1)
    return (lower + upper) * dx


def _check_integral(name: str, y: Any, x: Any) -> None:
    if y.dtype.category == dtypes.BOOL:
        raise RuntimeError(f"{name}: received a bool input for `y`, but bool is not supported")
    if x is not None and x.dtype.category == dtypes.BOOL:
        raise RuntimeError(f"{name}: received a bool input for `x`, but bool is not supported")


def _widths(x: Any, y: Any, dim: int) -> Any:
    """The distances of the places x, along dim of y."""
    if x.ndim == 1:
        x = x.view(tuple(-1 if d == dim else 1 for d in range(y.ndim)))
    elif x.ndim < y.ndim:
        x = x.view((1,) * (y.ndim - x.ndim) + tuple(x.shape))
    lower = slice_.run(x, dim, 0, -1, 1)
    return slice_.run(x, dim, 1, None, 1) - lower


def _zeros_without(y: Any, dim: int) -> Any:
    size = tuple(n for d, n in enumerate(y.shape) if d != dim)
    return zeros_of.run(y, size)


def _trapezoid(y: Any, x: Any, dim: int) -> Any:
    _check_integral("trapezoid", y, x)
    size, dim = size_at(y, dim), wrap_dim(dim, y.ndim)
    if size == 0:
        return _zeros_without(y, dim)
    _check_places("trapezoid", y, x, dim)
    return (_trapezoid_of(y, _widths(x, y, dim), dim)).sum(dim) / 2.0


def _check_places(name: str, y: Any, x: Any, dim: int) -> None:
    if x.ndim == 1 and x.shape[0] != y.shape[dim]:
        raise RuntimeError(f"{name}: There must be one `x` value for each sample point")


def _floating(y: Any) -> Any:
    """Integers integrate to the default floating type."""
    return y if y.dtype.category >= dtypes.FLOATING else y.to(dtypes.default_dtype())


def _trapezoid_dx(y: Any, dx: Any, dim: int) -> Any:
    _check_integral("trapezoid", y, None)
    given, size, dim = dim, size_at(y, dim), wrap_dim(dim, y.ndim)
    if size == 0:
        return _zeros_without(y, dim)
    y = _floating(y)
    last = y.select(dim, -1)
    ends = (y.select(dim, 0) + last) * 0.5
    return (y.sum(given) - ends) * float(dx)


def _cumulative_x(y: Any, x: Any, dim: int) -> Any:
    _check_integral("cumulative_trapezoid", y, x)
    dim = wrap_dim(dim, y.ndim)
    _check_places("cumulative_trapezoid", y, x, dim)
    return cumsum.run(_trapezoid_of(y, _widths(x, y, dim), dim), dim, None) / 2.0


def _cumulative_dx(y: Any, dx: Any, dim: int) -> Any:
    _check_integral("cumulative_trapezoid", y, None)
    place = wrap_dim(dim, y.ndim)
    return cumsum.run(_trapezoid_of(_floating(y), dx / 2.0, place), dim, None)


for _name, _alias, _of_x, _of_dx, _doc, _computes in (
    (
        "trapezoid", ("trapz",), _trapezoid, _trapezoid_dx, "The integral by the trapezoidal rule",
        "dx*((y[..., 1:] + y[..., :-1])/2).sum(-1)",
    ),
    (
        "cumulative_trapezoid", (), _cumulative_x, _cumulative_dx, "The integral up to each place",
        "",
    ),
):  # fmt: skip
    composite(
        f"{_name}.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
        native(_of_x),
        where="torch",
        aliases=_alias,
        doc=f"{_doc}, at given places.",
        samples=(f"torch.{_name}(x, y)", f"torch.{_name}(x, v)", f"torch.{_name}(x, v[:2], dim=0)",
                 f"torch.{_name}(c, v, dim=1)"),
        errors=(f"torch.{_name}(x, v[:2])",),
    )  # fmt: skip
    composite(
        f"{_name}.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
        native(_of_dx),
        where="torch",
        aliases=_alias,
        doc=f"{_doc}, at equal distances.",
        computes=_computes,
        samples=(f"torch.{_name}(x)", f"torch.{_name}(x, dx=0.5)", f"torch.{_name}(x, dim=0)"),
        errors=(f"torch.{_name}(k)", f"torch.{_name}(x, dim=2)"),
    )

# ---- slopes


def _part(self: Any, dim: int, start: int, end: int | None) -> Any:
    return slice_.run(self, dim, start, end, 1)


def _even_slope(self: Any, step: Any, dim: int, edge_order: int) -> Any:
    """Central differences at equal distances, one-sided ones at the ends."""
    before = _part(self, dim, 0, -2)
    centre = (_part(self, dim, 2, None) - before) / step
    if edge_order == 1:
        first, last = _rise(self, dim, 0, 2) / step, _rise(self, dim, -2, None) / step
    else:
        third = _part(self, dim, 2, 3) * 0.5
        second = _part(self, dim, 1, 2) * 2
        first = (_part(self, dim, 0, 1) * -1.5 + second - third) / step
        third = _part(self, dim, -1, None) * 1.5
        second = _part(self, dim, -2, -1) * 2
        last = (_part(self, dim, -3, -2) * 0.5 - second + third) / step
    return cat([first, centre / 2, last], dim)


def _rise(self: Any, dim: int, start: int, end: int | None) -> Any:
    """From one element to the next."""
    lower = _part(self, dim, start, start + 1)
    return _part(self, dim, start + 1, end) - lower


def _slope_at(self: Any, places: Any, dim: int, edge_order: int) -> Any:
    """The same at the places that a tensor gives."""
    before = _part(places, 0, 0, -1)
    steps = _part(places, 0, 1, None) - before
    shape = tuple(-1 if d == dim else 1 for d in range(self.ndim))
    near, far = _part(steps, 0, 0, -1), _part(steps, 0, 1, None)
    both = near + far
    left = (-far / (near * both)).reshape(shape)
    middle = ((far - near) / (near * far)).reshape(shape)
    right = (near / (far * both)).reshape(shape)
    above = right * _part(self, dim, 2, None)
    here = middle * _part(self, dim, 1, -1)
    centre = left * _part(self, dim, 0, -2) + here + above
    if edge_order == 1:
        width = steps.select(0, 0)
        first = _rise(self, dim, 0, 2) / width
        width = steps.select(0, -1)
        last = _rise(self, dim, -2, None) / width
    else:
        first, last = _slope_of_ends(self, steps, dim)
    return cat([first, centre, last], dim)


def _slope_of_ends(self: Any, steps: Any, dim: int) -> tuple[Any, Any]:
    # PyTorch's compiler evaluates the last term first.
    near, far = steps.select(0, 0), steps.select(0, 1)
    third = (-near / (far * (near + far))) * _part(self, dim, 2, 3)
    second = ((near + far) / (near * far)) * _part(self, dim, 1, 2)
    first = (-(2.0 * near + far) / (near * (near + far))) * _part(self, dim, 0, 1) + second + third
    near, far = steps.select(0, -2), steps.select(0, -1)
    third = ((2.0 * far + near) / (far * (near + far))) * _part(self, dim, -1, None)
    second = (-(far + near) / (near * far)) * _part(self, dim, -2, -1)
    last = (far / (near * (near + far))) * _part(self, dim, -3, -2) + second + third
    return first, last


def _gradient(self: Any, spacing: Any, dim: Any, edge_order: int) -> tuple[Any, ...]:
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if self.dtype.word == "Byte":
        raise RuntimeError("torch.gradient does not support uint8 input.")
    given = range(self.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    dims = [wrap_dim(d, self.ndim) for d in given]
    again = next((place for at, place in enumerate(dims) if place in dims[:at]), None)
    one = 1 if spacing is None else spacing
    steps = spacing if isinstance(spacing, list | tuple) else [one] * len(dims)
    if len(steps) != len(dims):
        _wrong_spacing(self, len(steps), None if dim is None else len(dims))
    for step in steps:
        if getattr(step, "ndim", 0) > 1:
            raise RuntimeError(
                "torch.gradient expected each element of spacing to have one dimension, but got "
                f"an element with {step.ndim} dimensions!"
            )
    if again is not None:
        raise RuntimeError(f"dim {again} appears multiple times in the list of dims")
    for place in dims:
        if self.shape[place] < edge_order + 1:
            raise RuntimeError(
                "torch.gradient expected each dimension size to be at least edge_order+1"
            )
    steps = [s.item() if hasattr(s, "ndim") and not s.ndim else s for s in steps]
    return tuple(
        (_slope_at if hasattr(step, "ndim") else _even_slope)(self, step, place, edge_order)
        for place, step in zip(dims, steps, strict=True)
    )


def _wrong_spacing(self: Any, count: int, dims: int | None) -> None:
    if dims is None:
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length "
            f"equal to 'self.dim() = {self.ndim}', since dim argument was not given, but got a "
            f"list of length {count}"
        )
    raise RuntimeError(
        "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim "
        f"arguments to have the same length, but got a spacing argument of length {count} and a "
        f"dim argument of length {dims}."
    )


composite(
    "gradient(Tensor self, *, any spacing=None, any dim=None, int edge_order=1) -> Tensor[]",
    native(_gradient),
    where="torch",
    doc="Numerical gradient of a sampled function along each dimension.",
    samples=("torch.gradient(c[:, :, :2], dim=1)", "torch.gradient(x, dim=1, spacing=2.0)",
             "torch.gradient(a)", "torch.gradient(v, edge_order=2)",
             "torch.gradient(a, spacing=[2.0, 0.5])", "torch.gradient(v, spacing=(p[0],))",
             "torch.gradient(v, spacing=(p[0],), edge_order=2)",
             "torch.gradient(a, spacing=[v, p[0]])"),
    errors=("torch.gradient(v, edge_order=3)", "torch.gradient(x, edge_order=2)"),
)  # fmt: skip
