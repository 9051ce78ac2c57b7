"""Numerics: how a drawn gamma or beta number moves with its parameter, as PyTorch approximates.

The slope is -(dF/da) / f, with the distribution function F and the density f at that number: M.
Jankowiak and F. Obermeyer, "Pathwise derivatives beyond the reparameterization trick", 2018. Which
expansion holds where, and the coefficients of the rational ones, are PyTorch's.
"""

from __future__ import annotations

from typing import Any

import numpy

from .special import special

Array = Any
SMALL = 0.8  # below it the series of a gamma number
LARGE = 8.0  # concentrations above it take the saddle point

# Rows are powers of log(x / a); columns the numerator's powers of log(a), then the denominator's.
_GAMMA = (
    (0.16009398, -0.094634809, 0.025146376, -0.0030648343,
     1.0, 0.32668115, 0.10406089, 0.0014179084),
    (0.53487893, 0.1298071, 0.065735949, -0.0015649758,
     0.16639465, 0.020070113, -0.0035938915, -0.00058392623),
    (0.040121004, -0.0065914022, -0.0026286047, -0.0013441777,
     0.017050642, -0.0021309326, 0.00085092367, -1.5247877e-07),
)  # fmt: skip
# Of a beta number: numerator and denominator, by powers of log(x), of log(a / x) and of the rest.
_BETA = (
    (((1.003668233, -0.01061107488, -0.0657888334, 0.01201642863),
      (0.6336835991, -0.3557432599, 0.05486251648, -0.001465281033),
      (-0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013)),
     ((0.221950385, -0.3187676331, 0.01799915743, 0.01074823814),
      (-0.2951249643, 0.06219954479, 0.01535556598, 0.001550077057),
      (0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05)),
     ((-0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565),
      (0.02911413504, 0.01400243777, -0.002721828457, 0.000751041181),
      (0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05))),
    (((1.0, -0.02924021934, -0.04438342661, 0.007285809825),
      (0.6357567472, -0.3473456711, 0.05454656494, -0.002407477521),
      (-0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149)),
     ((0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273),
      (0.1014815858, -0.06589186703, 0.01272886114, -0.0007316646956),
      (-0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05)),
     ((0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05),
      (0.001925008108, -0.002869809258, 0.0008000589141, -6.063713228e-05),
      (-0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06))),
)  # fmt: skip


# Of digamma's asymptotic series, by falling powers of 1 / x^2.
_ASYMPTOTIC = (1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12)


def _digamma(x: Array) -> Array:
    """Of single numbers with PyTorch's roundings, which the series below magnify."""
    if x.dtype != numpy.float32:
        return special(numpy).psi(x)
    result, x = numpy.zeros(x.shape), x.copy()
    while (low := x < 10).any():
        result[low] -= 1 / x[low]
        x[low] += 1
    z = 1.0 / (x * x).astype(numpy.float64)
    series = numpy.polyval(_ASYMPTOTIC, z) * z
    return (result + numpy.log(x) - 0.5 / x - series).astype(numpy.float32)


def _chosen(parts: list[tuple[Array, Any]], *given: Array) -> Array:
    """Each element by the first rule whose condition it meets."""
    out = numpy.zeros(given[0].shape)
    left = numpy.ones(given[0].shape, bool)
    with numpy.errstate(all="ignore"):
        for condition, rule in parts:
            here = left & condition
            if here.any():
                out[here] = rule(*(value[here] for value in given))
            left &= ~condition
    return out


# ---------------------------------------------------------------- gamma numbers


def gamma_slope(alpha: Array, x: Array) -> Array:
    """Of numbers drawn with concentrations; in double, returned in the numbers' type."""
    wide_alpha, wide_x = alpha.astype(numpy.float64), x.astype(numpy.float64)
    near = (0.9 * wide_alpha <= wide_x) & (wide_x <= 1.1 * wide_alpha)
    large = wide_alpha > LARGE
    rules = [(wide_x < numpy.float32(SMALL), _gamma_series), (large & near, _gamma_near),
             (large, _gamma_saddle), (numpy.ones(x.shape, bool), _gamma_rational)]  # fmt: skip
    return _chosen(rules, wide_alpha, wide_x).astype(x.dtype)


def _gamma_series(alpha: Array, x: Array) -> Array:
    """Taylor's series of the distribution function at zero."""
    term, below = numpy.ones_like(x), alpha.copy()
    first, second = term / below, term / below**2
    for place in range(1, 6):
        term = term * (-x / place)
        below = below + 1
        first, second = first + term / below, second + term / below**2
    power = x**alpha
    density = x ** (alpha - 1) * numpy.exp(-x)
    moved = (numpy.log(x) - _digamma(alpha)) * (power * first) - power * second
    return numpy.nan_to_num(-moved / density, nan=0.0, posinf=numpy.inf, neginf=-numpy.inf)


def _gamma_near(alpha: Array, x: Array) -> Array:
    """At the saddle point itself, where the expansion below is 0 / 0."""
    first = 1 + 24 * alpha * (1 + 12 * alpha)
    second = 1440 * alpha**2 + 6 * x * (53 - 120 * x)
    second = second - 65 * x**2 / alpha + alpha * (107 + 3600 * x)
    return first * second / (1244160 * alpha**4)


def _gamma_saddle(alpha: Array, x: Array) -> Array:
    """Rice's expansion at the saddle point."""
    below = numpy.sqrt(8 * alpha)
    ratio = numpy.log(x / alpha)
    part = (x - alpha - alpha * ratio) ** -1.5
    both = below / (alpha - x) + numpy.where(x < alpha, -part, part)
    whole = ratio * both - numpy.sqrt(2 / alpha) * (alpha + x) / (alpha - x) ** 2
    stirling = 1 + 1 / (12 * alpha) * (1 + 1 / (24 * alpha))
    return -stirling * x * whole / below


def _gamma_rational(alpha: Array, x: Array) -> Array:
    u, v = numpy.log(x / alpha), numpy.log(alpha)
    rows = [one + u * (two + u * three) for one, two, three in zip(*_GAMMA, strict=True)]
    p, q = (part[0] + v * (part[1] + v * (part[2] + v * part[3])) for part in (rows[:4], rows[4:]))
    return numpy.exp(p / q)


# ---------------------------------------------------------------- beta numbers


def dirichlet_slope(x: Array, alpha: Array, total: Array) -> Array:
    """Of beta numbers with concentrations alpha and total - alpha, divided by 1 - x."""
    beta = total - alpha
    edge = total * x * (1 - x)

    # PyTorch's two series stay in the numbers' own type, the rest is computed in double.
    def wide(rule: Any) -> Any:
        return lambda *given: rule(*(value.astype(numpy.float64) for value in given))

    rules = [
        ((x <= 0.5) & (edge < 2.5), _near_zero),
        ((x >= 0.5) & (edge < 0.75), lambda x, a, b: -_near_zero_by_beta(1 - x, b, a)),
        ((alpha > 6) & (beta > 6), wide(_beta_saddle)),
        (numpy.ones(x.shape, bool), wide(_beta_rational)),
    ]
    return _chosen(rules, x, alpha, beta).astype(x.dtype)


def _near_zero(x: Array, alpha: Array, beta: Array) -> Array:
    """By alpha: Taylor's series at zero."""
    factor = _digamma(alpha) - _digamma(alpha + beta) - numpy.log(x)
    term = numpy.ones_like(x)
    series = term / alpha * (factor + 1 / alpha)
    for place in range(1, 11):
        term = term * ((place - beta) * x / place)
        series = series + term / (alpha + place) * (factor + 1 / (alpha + place))
    return numpy.nan_to_num(x * (1 - x) ** -beta * series, nan=0.0)


def _near_zero_by_beta(x: Array, alpha: Array, beta: Array) -> Array:
    factor = _digamma(alpha + beta) - _digamma(beta)
    term, product, slope = numpy.ones_like(x), numpy.ones_like(x), numpy.zeros_like(x)
    series = factor / alpha
    for place in range(1, 9):
        term = term * (-x / place)
        slope = slope * (beta - place) + product
        product = product * (beta - place)
        series = series + term / (alpha + place) * (slope + factor * product)
    return numpy.nan_to_num(-((1 - x) ** (1 - beta)) * series, nan=0.0)


def _beta_saddle(x: Array, alpha: Array, beta: Array) -> Array:
    total = alpha + beta
    mean = alpha / total
    deviation = numpy.sqrt(alpha * beta / (total + 1)) / total
    near = (mean - 0.1 * deviation <= x) & (x <= mean + 0.1 * deviation)
    return numpy.where(near, _beta_near(x, alpha, beta), _beta_far(x, alpha, beta))


def _beta_near(x: Array, alpha: Array, beta: Array) -> Array:
    total, rest = alpha + beta, 1 - x
    inner = 8 * rest * (135 * beta - 11)
    inner = (453 + 1620 * beta * rest - 455 * x) * beta + alpha * inner
    inner = 3 * (59 + 180 * beta - 90 * x) * beta**2 + alpha * inner
    inner = (43 + 20 * (16 + 27 * beta) * x) * beta**3 + alpha * inner
    inner = 47 * x * beta**4 + alpha * inner
    above = (1 + 12 * alpha) * (1 + 12 * beta) / total**2
    return above / rest * inner / (12960 * alpha**3 * beta**2 * (1 + 12 * total))


def _beta_far(x: Array, alpha: Array, beta: Array) -> Array:
    total = alpha + beta
    stirling = _stirling(alpha) * _stirling(beta) / _stirling(total)
    apart = alpha * (x - 1) + beta * x
    first = 2 * alpha**2 * (x - 1) + alpha * beta * (x - 1) - x * beta**2
    first = first / (numpy.sqrt(2 * alpha / beta) * total**1.5 * apart**2)
    distance = beta * numpy.log(beta / (total * (1 - x))) + alpha * numpy.log(alpha / (total * x))
    far = numpy.where(x < alpha / total, 1.0, -1.0) * distance**-1.5
    second = 0.5 * numpy.log(alpha / (total * x))
    whole = first + second * (numpy.sqrt(8 * alpha * beta / total) / apart + far)
    return stirling * (-x / numpy.sqrt(2 * alpha * beta / total)) * whole


def _stirling(value: Array) -> Array:
    return 1 + 1 / (12 * value) + 1 / (288 * value**2)


def _beta_rational(x: Array, alpha: Array, beta: Array) -> Array:
    total = alpha + beta
    u = numpy.log(x)
    a = numpy.log(alpha) - u
    b = numpy.log(total) - a
    parts = []
    for table in _BETA:
        part: Any = 0.0
        for i, row in enumerate(table):
            for j, (c0, c1, c2, c3) in enumerate(row):
                part = part + u**i * a**j * (c0 + b * (c1 + b * (c2 + b * c3)))
        parts.append(part)
    return parts[0] / parts[1] * (x * (_digamma(total) - _digamma(alpha)) / beta)
