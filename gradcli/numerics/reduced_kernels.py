"""Numerics: kernels that PyTorch wrote in float16 and bfloat16 themselves, rounding every step.

Each is given the kind, whose `settle` rounds. Most kernels compute in single precision and round
once; they need nothing here.
"""

from __future__ import annotations

from math import log as logarithm, pi
from typing import Any

from ..engine.tensors.conversion import MEAN, NONE
from .rounding import multiply_add, precise

VECTOR = 32  # elements that vector code takes at once, fusing a * b + c; the rest goes one by one


def number(kind: Any, value: Any) -> Any:
    """A Python number as the type holds it."""
    return kind.settle(kind.xp.float32(value))


# ---- bits


def bits_of(kind: Any, self: Any) -> Any:
    """An array whose bytes are those of the type itself, which float32 carries here."""
    if kind.dtype.name == "float16":
        return self.astype("float16")
    return (kind.xp.ascontiguousarray(self).view("uint32") >> 16).astype("uint16")


def read_as(bits: Any, dtype: Any) -> Any:
    """Bytes as the numbers of an element type."""
    if not dtype.is_reduced:
        return bits.view(dtype.numpy)
    if dtype.name == "float16":
        return bits.view("float16").astype("float32")
    return (bits.view("uint16").astype("uint32") << 16).view("float32")


# ---- arithmetic


def plus_scaled(kind: Any, self: Any, other: Any, alpha: Any) -> Any:
    """self + alpha * other; either of the two may be a number."""
    self, other = (_of_kind(kind, value) for value in (self, other))
    if alpha == 1:
        return self + other
    alpha = number(kind, alpha)
    return by_vectors(multiply_add(other, alpha, self), self + kind.settle(alpha * other))


def _of_kind(kind: Any, value: Any) -> Any:
    return value if hasattr(value, "dtype") else number(kind, value)


def minus_scaled(kind: Any, self: Any, other: Any, alpha: Any) -> Any:
    return plus_scaled(kind, self, _of_kind(kind, other), -alpha)


def _scaled(kind: Any, self: Any, factor: Any) -> Any:
    return kind.settle(number(kind, factor) * self) if factor else kind.xp.zeros_like(self)


def added_vector(kind: Any, self: Any, mat: Any, vec: Any, beta: Any, alpha: Any) -> Any:
    """addmv."""
    return _scaled(kind, self, beta) + number(kind, alpha) * (mat @ vec)


def added_batches(kind: Any, self: Any, batch1: Any, batch2: Any, beta: Any, alpha: Any) -> Any:
    """addbmm, one product after the other."""
    result = self * number(kind, beta) if beta else kind.xp.zeros_like(self)
    for first, second in zip(batch1, batch2, strict=True):
        result = kind.settle(result + number(kind, alpha) * (first @ second))
    return result


def added_outer(kind: Any, self: Any, vec1: Any, vec2: Any, beta: Any, alpha: Any) -> Any:
    """addr."""
    outer = kind.settle(kind.xp.outer(_scaled(kind, vec1, alpha), vec2))
    return _scaled(kind, self, beta) + outer


def inverse_root(kind: Any, self: Any) -> Any:
    """rsqrt; vector code rounds once, what is left over twice."""
    root = kind.xp.sqrt(self)
    return by_vectors(1 / root, 1 / kind.settle(root))


def by_vectors(whole: Any, rest: Any) -> Any:
    """What vector code computes, and from the last whole vector on what goes one by one."""
    cut = whole.size - whole.size % VECTOR
    if not cut:
        return rest
    result = whole.reshape(-1).copy()
    result[cut:] = rest.reshape(-1)[cut:]
    return result.reshape(whole.shape)


def rounded_quotient(kind: Any, self: Any, other: Any, rounding_mode: str | None) -> Any:
    xp, settle = kind.xp, kind.settle
    if rounding_mode == "trunc":
        self, other = settle(_of_kind(kind, self)), settle(_of_kind(kind, other))
    if rounding_mode != "floor":
        quotient = settle(xp.true_divide(self, other))
        return quotient if rounding_mode is None else xp.trunc(quotient)
    rest = xp.fmod(self, other)
    whole = settle(settle(self - rest) / other)
    whole = xp.where((rest != 0) & ((other < 0) != (rest < 0)), settle(whole - 1), whole)
    down = xp.floor(whole)
    down = xp.where(whole - down > 0.5, settle(down + 1), down)
    down = xp.where(whole != 0, down, xp.copysign(xp.zeros_like(down), self / other))
    return xp.where(xp.equal(other, 0), xp.true_divide(self, other), down)


def power(kind: Any, self: Any, exponent: Any) -> Any:
    """bfloat16 has short cuts for some exponents, which float16 lacks."""
    xp, settle = kind.xp, kind.settle
    whole = exponent if exponent.__class__ in (int, float) else None
    if kind.dtype.name == "bfloat16":
        if whole in (0.5, -0.5):
            return xp.sqrt(self) if whole > 0 else 1 / xp.sqrt(self)
        if whole in (2, 3, -2):
            square = settle(self * self)
            return square if whole == 2 else square * self if whole == 3 else 1 / square
    if whole is not None:
        exponent = number(kind, exponent)
    return xp.power(self, exponent, dtype="float64").astype("float32")


def times_logarithm(kind: Any, self: Any, other: Any, shifted: bool) -> Any:
    """xlogy, xlog1py."""
    xp = kind.xp
    self, other = (_of_kind(kind, value) for value in (self, other))
    inner = kind.settle(precise(xp.log1p if shifted else xp.log, other))
    value = xp.where((self == 0) & (other == other), 0, self * inner)
    return value.astype("float32")


def entropy(kind: Any, self: Any) -> Any:
    xp = kind.xp
    value = -self * kind.settle(precise(xp.log, xp.where(self > 0, self, 1).astype("float32")))
    return xp.where(
        self > 0, value, xp.where(self == 0, 0.0, xp.where(self != self, self, -xp.inf))
    )


def sigmoid_slope(kind: Any, grad: Any, output: Any) -> Any:
    if kind.dtype.name != "float16":
        return grad * (1 - output) * output
    return kind.settle(grad * kind.settle(1 - output)) * output


def odds(kind: Any, self: Any, eps: float | None) -> Any:
    """logit."""
    xp, settle = kind.xp, kind.settle
    if eps is not None:
        low, high = number(kind, eps), settle(1 - number(kind, eps))
        self = xp.where(self < low, low, xp.where(self > high, high, self))
    return precise(xp.log, settle(self / settle(1 - self)))


def product(kind: Any, self: Any, axis: int | None, keepdim: bool) -> Any:
    """One factor after the other."""
    values = self.reshape(-1) if axis is None else kind.xp.moveaxis(self, axis, 0)
    result = kind.xp.ones(values.shape[1:], dtype="float32")
    for factor in values:
        result = kind.settle(result * factor)
    if keepdim and axis is not None:
        result = kind.xp.expand_dims(result, axis)
    return result


def times_power_of_two(kind: Any, self: Any, other: Any) -> Any:
    """ldexp."""
    return self * kind.settle(kind.xp.exp2(other, dtype="float64"))


def next_after(kind: Any, self: Any, other: Any) -> Any:
    """The number whose bits are the next ones."""
    xp, shift = kind.xp, 16 if kind.dtype.name == "bfloat16" else 0
    if not shift:
        return xp.nextafter(self.astype("float16"), other.astype("float16")).astype("float32")
    self, other = xp.broadcast_arrays(self, other)
    bits = xp.ascontiguousarray(self).view("int32") >> shift
    away = xp.where((other > self) == (self > 0), bits + 1, bits - 1)
    least = xp.where(other > 0, 1, -0x7FFF)
    bits = xp.where(self == 0, least, away).astype("int32") << shift
    moved = bits.view("float32").reshape(self.shape)
    same = xp.where(self == other, other, moved)
    return xp.where((self != self) | (other != other), xp.nan, same)


def add_at(kind: Any, target: Any, places: Any, values: Any, how: str = "add") -> Any:
    """Adds values where places point; those that meet at one place are rounded one by one."""
    xp = kind.xp
    where = xp.arange(target.size).reshape(target.shape)[places]
    added = xp.broadcast_to(values, where.shape).reshape(-1)
    where = where.reshape(-1)
    order = xp.argsort(where, kind="stable")
    ordered = where[order]
    first = xp.searchsorted(ordered, ordered)
    turn = xp.zeros_like(where)
    turn[order] = xp.arange(where.size) - first
    result = target.reshape(-1).copy()
    for number_of_turn in range(int(turn.max()) + 1 if turn.size else 0):
        now = turn == number_of_turn
        result[where[now]] = kind.settle(getattr(xp, how)(result[where[now]], added[now]))
    return result.reshape(target.shape)


# ---- losses


def reduced_loss(kind: Any, loss: Any, reduction: int) -> Any:
    """The mean or the sum, once each element's loss is rounded."""
    loss = kind.settle(loss)
    if reduction == NONE:
        return loss
    return loss.mean(dtype="float64") if reduction == MEAN else loss.sum(dtype="float64")


def share(kind: Any, reduction: int, count: int, factor: float = 1.0) -> Any:
    """What each element's gradient is multiplied with."""
    return number(kind, factor / count if reduction == MEAN and count else factor)


def squared_error(kind: Any, self: Any, target: Any, reduction: int) -> Any:
    apart = kind.settle(self - target)
    return reduced_loss(kind, apart * apart, reduction)


def squared_error_slope(kind: Any, grad: Any, self: Any, target: Any, reduction: int) -> Any:
    settle = kind.settle
    apart = settle(self - target)
    return settle(share(kind, reduction, apart.size, 2.0) * apart) * grad


def _same(value: Any) -> Any:
    return value


def smooth_error(kind: Any, self: Any, target: Any, reduction: int, beta: float) -> Any:
    """smooth_l1_loss; only float16 rounds each step."""
    xp = kind.xp
    settle = kind.settle if kind.dtype.name == "float16" else _same
    apart = xp.abs(settle(self - target))
    half, bound = number(kind, 0.5), number(kind, beta)
    near = settle(settle(settle(half * apart) * apart) / bound) if beta else apart
    return reduced_loss(
        kind, xp.where(apart < bound, near, apart - settle(half * bound)), reduction
    )


def huber(kind: Any, self: Any, target: Any, reduction: int, delta: float) -> Any:
    """Only bfloat16 rounds each step."""
    xp = kind.xp
    half, bound, settle = xp.float32(0.5), xp.float32(delta), _same
    if kind.dtype.name == "bfloat16":
        bound, settle = number(kind, delta), kind.settle
    apart = xp.abs(settle(self - target))
    near = settle(half * apart) * apart
    far = bound * settle(apart - settle(half * bound))
    return reduced_loss(kind, xp.where(apart < bound, near, far), reduction)


def huber_slope(kind: Any, grad: Any, self: Any, target: Any, reduction: int, delta: float) -> Any:
    xp, settle = kind.xp, kind.settle
    apart = settle(self - target)
    norm, bound = share(kind, reduction, apart.size), number(kind, delta)
    grown = settle(norm * grad)
    near = settle(norm * apart) * grad

    def slope(far: Any) -> Any:
        return xp.where(apart <= -bound, -far, xp.where(apart >= bound, far, near))

    return by_vectors(slope(grown * bound), slope(grown * xp.float32(delta)))


def binary_entropy(kind: Any, self: Any, target: Any, weight: Any, reduction: int) -> Any:
    xp, settle = kind.xp, kind.settle
    below = xp.maximum(settle(precise(xp.log1p, -self)), -100)
    above = xp.maximum(settle(precise(xp.log, self)), -100)
    loss = settle(settle(settle(target - 1) * below) - settle(target * above))
    return reduced_loss(kind, loss if weight is None else loss * weight, reduction)


def binary_entropy_slope(
    kind: Any, grad: Any, self: Any, target: Any, weight: Any, reduction: int
) -> Any:
    xp, settle = kind.xp, kind.settle
    spread = xp.maximum(settle(settle(1 - self) * self), number(kind, 1e-12))
    result = settle(settle(grad * settle(self - target)) / spread)
    result = result if weight is None else settle(result * weight)
    return result / self.size if reduction == MEAN else result


def logits_entropy(
    kind: Any, self: Any, target: Any, weight: Any, pos_weight: Any, reduction: int
) -> Any:
    """binary_cross_entropy_with_logits, as the operations that PyTorch makes it of."""
    xp, settle = kind.xp, kind.settle
    decay = precise(xp.log1p, precise(xp.exp, -xp.abs(self)))
    likely = settle(xp.minimum(self, 0) - decay)
    if pos_weight is not None:
        likely = settle(likely * settle(settle(settle(pos_weight - 1) * target) + 1))
    loss = settle(settle(settle(1 - target) * self) - likely)
    return reduced_loss(kind, loss if weight is None else loss * weight, reduction)


def soft_margin(kind: Any, self: Any, target: Any, reduction: int) -> Any:
    xp, settle = kind.xp, kind.settle
    size = settle(precise(xp.exp, settle(-self * target)))
    return reduced_loss(kind, precise(xp.log1p, size), reduction)


def soft_margin_slope(kind: Any, grad: Any, self: Any, target: Any, reduction: int) -> Any:
    xp, settle = kind.xp, kind.settle
    size = settle(precise(xp.exp, settle(-target * self)))
    norm = 1.0 / self.size if reduction == MEAN else 1.0
    slope = settle(settle(target * size) * xp.float32(-norm))
    return settle(slope / settle(size + 1)) * grad


LEVELS, ROUNDS = 8, 16  # of partial sums, each of that many of the level below


def sum_of_losses(kind: Any, losses: Any) -> Any:
    """One after the other, in a cascade of partial sums, each rounded: nll_loss."""
    settle, zero = kind.settle, kind.xp.float32(0)
    parts = [zero] * LEVELS
    for place, loss in enumerate(losses.reshape(-1)):
        parts[0] = settle(parts[0] + loss)
        for level in range(LEVELS - 1):
            if place // ROUNDS**level % ROUNDS:
                break
            parts[level + 1] = settle(parts[level + 1] + parts[level])
            parts[level] = zero
    total = zero
    for part in parts:
        total = settle(total + part)
    return total


# ---- sums of exponentials


def log_softmax(kind: Any, self: Any, dim: int, half_to_float: bool) -> Any:
    """Along the last dimension the sum of exponentials is rounded, and its logarithm again."""
    xp, settle = kind.xp, kind.settle
    if not self.ndim or not self.size:
        return self - self
    shifted = self - self.max(axis=dim, keepdims=True)
    total = xp.exp(shifted, dtype="float64").sum(axis=dim, keepdims=True)
    if dim not in (-1, self.ndim - 1):
        return shifted - xp.log(total)
    return shifted - settle(xp.log(settle(total)))


def log_sum_exp(kind: Any, self: Any, axis: Any, keepdim: bool) -> Any:
    """As the operations that PyTorch makes it of."""
    xp, settle = kind.xp, kind.settle
    shape = [n for d, n in enumerate(self.shape) if d not in axis]
    if not self.size:
        return xp.log(xp.exp(self).sum(axis=axis, keepdims=keepdim))
    high = self.max(axis=axis, keepdims=True)
    known = xp.where(xp.isinf(high), 0, high)
    sizes = settle(precise(xp.exp, settle(self - high)))
    total = settle(xp.asarray(sizes.sum(axis=axis, keepdims=True, dtype="float64")))
    result = settle(precise(xp.log, total)) + known
    return result if keepdim else result.reshape(shape)


def log_gamma_many(kind: Any, log_gamma: Any, self: Any, p: int) -> Any:
    """mvlgamma: a sum of log-gammas in steps of one half."""
    xp, settle = kind.xp, kind.settle
    steps = xp.arange(1 - p, 1, dtype="float32") / 2
    inner = settle(log_gamma(xp, settle(self[..., None] + steps)))
    total = settle(inner.sum(axis=-1, dtype="float64"))
    return total + number(kind, p * (p - 1) * logarithm(pi) / 4)
