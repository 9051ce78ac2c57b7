"""Operators: Bessel functions, their modified and spherical kinds, and Airy's function.

The kernels are the integrals of Bessel and Schlaefli, summed by the trapezoidal rule (which
converges exponentially for periodic and for doubly decaying integrands), power series near zero
and Hankel's expansions far from it; all in double precision.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import cos, exp, pi, sin
from typing import Any

from ...engine.operator import operator
from ..conventions import Late, full_precision, real_only
from ..shape.constants import number_as

where = Late("where.self")
sgn = Late("sgn")
absolute = Late("abs")
reciprocal = Late("reciprocal")

EULER_GAMMA = 0.5772156649015329
_FAR = 25.0  # from here on Hankel's expansions are exact to double precision
_FAR_SCALED = 50.0
_POINTS = 100  # of the integrals over half a period


def _hankel(order: float, terms: int) -> list[float]:
    """The coefficients a_k(order) of Hankel's expansions."""
    found = [1.0]
    for k in range(1, terms):
        found.append(found[-1] * (4 * order * order - (2 * k - 1) ** 2) / (8 * k))
    return found


def _wave(xp: Any, x: Any, order: int) -> tuple[Any, Any]:
    """(J, Y) of an integer order for large x."""
    even, odd = xp.zeros_like(x), xp.zeros_like(x)
    power = xp.ones_like(x)
    for k, coefficient in enumerate(_hankel(order, 24)):
        term = coefficient * power * (-1) ** (k // 2)
        if k % 2:
            odd = odd + term
        else:
            even = even + term
        power = power / x
    angle = x - (order / 2 + 0.25) * pi
    size = xp.sqrt(2 / (pi * x))
    c, s = xp.cos(angle), xp.sin(angle)
    return size * (even * c - odd * s), size * (even * s + odd * c)


def _angles() -> list[tuple[float, float]]:
    """Angles over half a period and the weights of the trapezoidal rule, divided by pi."""
    ends = {0, _POINTS}
    return [(pi * j / _POINTS, (0.5 if j in ends else 1.0) / _POINTS) for j in range(_POINTS + 1)]


def _near_j(xp: Any, x: Any, order: int) -> Any:
    """The integrals for orders 0 and 1; the odd one keeps the last bits near zero."""
    total = xp.zeros_like(x)
    for angle, weight in _angles():
        height = sin(angle)
        if order:
            total = total + (weight * height) * xp.sin(x * height)
        else:
            total = total + weight * xp.cos(x * height)
    return total


@cache
def _even_orders() -> tuple[tuple[float, float], ...]:
    """Sines of the angles and weights that add up all even orders k, each divided by +-k / 2."""
    return tuple(
        (sin(angle), weight * sum((-1) ** k * cos(2 * k * angle) / k for k in range(1, 41)))
        for angle, weight in _angles()
    )


def _near_y(xp: Any, x: Any, order: int) -> Any:
    """Neumann's series over even orders, whose sum stands under one integral."""
    logarithm = xp.log(x / 2) + EULER_GAMMA
    total = xp.zeros_like(x)
    for height, weight in _even_orders():
        if order:
            total = total + (weight * height) * xp.sin(x * height)
        else:
            total = total + weight * xp.cos(x * height)
    own = 2 / pi * logarithm * _near_j(xp, x, order) - 4 / pi * total
    return own - 2 / (pi * x) * _near_j(xp, x, 0) if order else own


def _bessel_j(order: int) -> Callable[..., Any]:
    def kernel(xp: Any, self: Any) -> Any:
        x = self.astype("float64")
        size = xp.abs(x)
        far = xp.where(size > _FAR, size, _FAR)
        near = _near_j(xp, xp.where(size > _FAR, 0.0, size), order)
        value = xp.where(size > _FAR, _wave(xp, far, order)[0], near)
        value = xp.where(xp.isfinite(x), value, xp.nan)
        return (xp.where(x < 0, -value, value) if order else value).astype(self.dtype)

    return kernel


def _bessel_y(order: int) -> Callable[..., Any]:
    def kernel(xp: Any, self: Any) -> Any:
        x = self.astype("float64")
        far = xp.where(x > _FAR, x, _FAR)
        near = _near_y(xp, xp.where((x > 0) & (x <= _FAR), x, 1.0), order)
        value = xp.where(x > _FAR, _wave(xp, far, order)[1], near)
        value = xp.where(x == 0, -xp.inf, value)
        return xp.where((x >= 0) & xp.isfinite(x), value, xp.nan).astype(self.dtype)

    return kernel


# ---- modified functions


def _asymptotic(xp: Any, x: Any, order: float, sign: int) -> Any:
    """sqrt(x) times the scaled I (sign -1) or K (sign 1), up to a constant, for large x."""
    total, power = xp.zeros_like(x), xp.ones_like(x)
    for coefficient in _hankel(order, 22):
        total = total + coefficient * power
        power = power * sign / x
    return total


def _scaled_i(xp: Any, x: Any, order: int) -> Any:
    """exp(-|x|) I(x)"""
    size = xp.abs(x)
    near = xp.where(size > _FAR_SCALED, 0.0, size)
    total = xp.zeros_like(x)
    for angle, weight in _angles():
        height = cos(angle)
        if order:
            total = total + (weight * height) * xp.sinh(near * height)
        else:
            total = total + weight * xp.exp(near * (height - 1))
    if order:
        total = total * xp.exp(-near)
    far = xp.where(size > _FAR_SCALED, size, _FAR_SCALED)
    beyond = _asymptotic(xp, far, order, -1) / xp.sqrt(2 * pi * far)
    value = xp.where(size > _FAR_SCALED, beyond, total)
    value = xp.where(x != x, x, value)
    return xp.where(x < 0, -value, value) if order else value


def _modified_i(order: int, scaled: bool) -> Callable[..., Any]:
    def kernel(xp: Any, self: Any) -> Any:
        x = self.astype("float64")
        value = _scaled_i(xp, x, order)
        if not scaled:
            value = value * xp.exp(xp.abs(x))  # 0 times infinity, NaN, at infinity
        return value.astype(self.dtype)

    return kernel


def _small_k(xp: Any, x: Any, order: int) -> Any:
    """K near zero, by its power series."""
    square, term = x * x / 4, xp.ones_like(x)
    logarithm = xp.log(x / 2)
    total, harmonic = xp.zeros_like(x), -EULER_GAMMA
    for k in range(22):
        if order:
            total = total + (logarithm - harmonic - 0.5 / (k + 1)) * term / (k + 1)
        else:
            total = total + (harmonic - logarithm) * term
        harmonic += 1 / (k + 1)
        term = term * square / (k + 1) ** 2
    return 1 / x + x / 2 * total if order else total


def _integral_k(xp: Any, x: Any, order: float, reach: int) -> Any:
    """exp(x) K(x) by Schlaefli's integral."""
    total = xp.full_like(x, 0.5)
    for place in range(1, reach):
        t = place / 10
        grown = (exp(t) + exp(-t)) / 2
        weight = (exp(order * t) + exp(-order * t)) / 2
        total = total + weight * xp.exp(-x * (grown - 1))
    return total / 10


def _scaled_k(xp: Any, x: Any, order: int) -> Any:
    small = xp.where((x > 0) & (x <= 2), x, 1.0)
    middle = xp.where((x > 2) & (x <= _FAR_SCALED), x, 3.0)
    far = xp.where(x > _FAR_SCALED, x, _FAR_SCALED)
    value = xp.where(
        x <= 2, _small_k(xp, small, order) * xp.exp(small), _integral_k(xp, middle, order, 42)
    )
    beyond = _asymptotic(xp, far, order, 1) * xp.sqrt(pi / (2 * far))
    value = xp.where(x > _FAR_SCALED, beyond, value)
    value = xp.where(x == 0, xp.inf, value)
    return xp.where((x < 0) | (x != x), xp.nan, value)


def _modified_k(order: int, scaled: bool) -> Callable[..., Any]:
    def kernel(xp: Any, self: Any) -> Any:
        x = self.astype("float64")
        value = _scaled_k(xp, x, order)
        return (value if scaled else value * xp.exp(-x)).astype(self.dtype)

    return kernel


# ---- others


def _spherical(xp: Any, self: Any) -> Any:
    x = self.astype("float64")
    safe = xp.where((x == 0) | xp.isinf(x), 1.0, x)
    value = xp.where(x == 0, 1.0, xp.sin(safe) / safe)
    return xp.where(xp.isinf(x), 0.0, value).astype(self.dtype)


_AIRY = (0.3550280538878172, -0.2588194037928068)  # Ai(0), Ai'(0)


def _airy_near(xp: Any, x: Any) -> Any:
    """Taylor steps from 0 along y'' = x y, which loses nothing where Ai oscillates."""
    steps = 16
    value, slope = xp.full_like(x, _AIRY[0]), xp.full_like(x, _AIRY[1])
    width = x / steps
    for step in range(steps):
        start = width * step
        before, here, after = xp.zeros_like(x), value, slope
        power = xp.ones_like(x)
        new_value, new_slope = value, slope
        for n in range(24):
            # here is the coefficient of degree n, after that of degree n + 1
            following = (start * here + before) / ((n + 1) * (n + 2))
            power = power * width
            new_value = new_value + after * power
            new_slope = new_slope + (n + 2) * following * power
            before, here, after = here, after, following
        value, slope = new_value, new_slope
    return value


def _airy_waves(xp: Any, size: Any) -> Any:
    """Far on the negative side."""
    phase = 2 / 3 * size**1.5
    even, odd, coefficient = xp.zeros_like(size), xp.zeros_like(size), 1.0
    power = xp.ones_like(size)
    for k in range(20):
        if k:
            coefficient *= (6 * k - 5) * (6 * k - 3) * (6 * k - 1) / (216 * k * (2 * k - 1))
        term = coefficient * power * (-1) ** (k // 2)
        if k % 2:
            odd = odd + term
        else:
            even = even + term
        power = power / phase
    angle = phase - pi / 4
    return (xp.cos(angle) * even + xp.sin(angle) * odd) / (pi**0.5 * size**0.25)


def _airy(xp: Any, self: Any) -> Any:
    x = self.astype("float64")
    above = xp.where(x > 2, x, 3.0)
    phase = 2 / 3 * above**1.5
    near_phase = xp.where(phase > _FAR_SCALED, _FAR_SCALED, phase)
    far_phase = xp.where(phase > _FAR_SCALED, phase, _FAR_SCALED)
    beyond = _asymptotic(xp, far_phase, 1 / 3, 1) * xp.sqrt(pi / (2 * far_phase))
    scaled = xp.where(phase > _FAR_SCALED, beyond, _integral_k(xp, near_phase, 1 / 3, 42))
    decayed = xp.sqrt(above / 3) / pi * scaled * xp.exp(-phase)
    near = _airy_near(xp, xp.where((x >= -12) & (x <= 2), x, 0.0))
    waves = _airy_waves(xp, xp.where(x < -12, -x, 12.0))
    value = xp.where(x > 2, decayed, xp.where(x < -12, waves, near))
    return xp.where(xp.isinf(x) | (x != x), xp.nan, value).astype(self.dtype)


# ---- declarations

EPSILON = {"float32": 2.0**-23, "float64": 2.0**-52}


def _limited(self: Any, kernel: str) -> tuple[Any, Any]:
    """Where self is not almost 0, and self with the epsilon of its type elsewhere."""
    if getattr(self.dtype, "is_reduced", False):
        error, text = full_precision(kernel)[self.dtype.word]
        raise error(text)
    name = str(getattr(self.dtype, "name", self.dtype)).removeprefix("torch.")
    least = EPSILON.get(name, 2.0**-23)
    clear = absolute(self) > least
    return clear, where(clear, self, number_as(self, least))


def _i1_backward(grad: Any, self: Any, result: Any) -> Any:
    clear, safe = _limited(self, "i1_backward")
    inverse = reciprocal(safe)
    return grad * where(clear, i0(safe) - result * inverse, number_as(self, 0.5))


def _i1e_backward(grad: Any, self: Any, result: Any) -> Any:
    clear, safe = _limited(self, "i1e_backward")
    slope = sgn(safe) + reciprocal(safe)
    return grad * where(clear, i0e(safe) - result * slope, number_as(self, 0.5))


i0 = operator(
    "i0(Tensor self) -> Tensor",
    node="I0Backward0",
    inplace="i0_",
    dtype="promote_float",
    where="torch method special",
    refuse=real_only("i0_vml_cpu"),
    forward=_modified_i(0, False),
    self=lambda grad, self: grad * i1(self),
    doc="The modified Bessel function of the first kind, of order 0.",
    samples=("torch.i0(x)", "x.i0()", "torch.special.i0(i)", "torch.i0(x * 40)"),
)

i0e = operator(
    "i0e(Tensor self) -> Tensor",
    node="SpecialI0EBackward0",
    dtype="promote_float",
    where="special",
    refuse=real_only("i0e_cpu"),
    forward=_modified_i(0, True),
    self=lambda grad, self, result: grad * (i1e(self) - sgn(self) * result),
    doc="i0 times exp(-|x|).",
    computes="exp(-abs(self))*i0(self)",
    corners=("torch.special.i0e(tensor(0.))",),
    samples=("torch.special.i0e(x)", "torch.special.i0e(x.detach() * 40)"),
)

i1 = operator(
    "i1(Tensor self) -> Tensor",
    node="SpecialI1Backward0",
    dtype="promote_float",
    where="special",
    refuse=real_only("i1_cpu"),
    forward=_modified_i(1, False),
    self=lambda grad, self, result: _i1_backward(grad, self, result),
    doc="The modified Bessel function of the first kind, of order 1.",
    corners=("torch.special.i1(tensor(0.))",),
    samples=("torch.special.i1(x)", "torch.special.i1(x * 0)"),
)

i1e = operator(
    "i1e(Tensor self) -> Tensor",
    node="SpecialI1EBackward0",
    dtype="promote_float",
    where="special",
    refuse=real_only("i1e_cpu"),
    forward=_modified_i(1, True),
    self=lambda grad, self, result: _i1e_backward(grad, self, result),
    doc="i1 times exp(-|x|).",
    computes="exp(-abs(self))*i1(self)",
    corners=("torch.special.i1e(tensor(0.))",),
    samples=("torch.special.i1e(x)", "torch.special.i1e(x.detach() * 40)"),
)

for _name, _kernel, _doc in (
    ("bessel_j0", _bessel_j(0), "The Bessel function of the first kind, of order 0"),
    ("bessel_j1", _bessel_j(1), "The Bessel function of the first kind, of order 1"),
    ("bessel_y0", _bessel_y(0), "The Bessel function of the second kind, of order 0"),
    ("bessel_y1", _bessel_y(1), "The Bessel function of the second kind, of order 1"),
    ("modified_bessel_i0", _modified_i(0, False), "The same as special.i0, not differentiable"),
    ("modified_bessel_i1", _modified_i(1, False), "The same as special.i1, not differentiable"),
    ("modified_bessel_k0", _modified_k(0, False), "The modified second kind, of order 0"),
    ("modified_bessel_k1", _modified_k(1, False), "The modified second kind, of order 1"),
    ("scaled_modified_bessel_k0", _modified_k(0, True), "modified_bessel_k0 times exp(x)"),
    ("scaled_modified_bessel_k1", _modified_k(1, True), "modified_bessel_k1 times exp(x)"),
    ("spherical_bessel_j0", _spherical, "sin(x) / x, the spherical kind of order 0"),
    ("airy_ai", _airy, "Airy's function Ai"),
):
    operator(
        f"{_name}(Tensor self) -> Tensor",
        dtype="promote_float",
        where="special",
        refuse=full_precision(f"{_name}_cpu"),
        forward=_kernel,
        doc=f"{_doc}.",
        samples=(f"torch.special.{_name}(p)", f"torch.special.{_name}(q * 20)",
                 f"torch.special.{_name}(x * 6)", f"torch.special.{_name}(i)"),
    )  # fmt: skip
