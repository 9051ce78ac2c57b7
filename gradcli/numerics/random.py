"""Numerics: random numbers, the stream of PyTorch's CPU generator bit for bit.

The generator is the Mersenne twister that NumPy has too; what differs is how its 32-bit words
become numbers, and that is written here. Every method returns an array in the carrier type of the
DType asked for. Values are drawn in memory order, on every device.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ..engine.graph.reduced import rounded_to
from ..engine.schema.class_name import NamedInC
from ..engine.schema.dtypes import BOOL, COMPLEX, FLOATING, INTEGER, DType, float32, float64, int64
from ..engine.schema.errors import type_name
from ..engine.schema.mode import state
from ..engine.schema.run_state import run_state
from . import poisson
from .box_muller import fused_double, fused_single, transform_double, transform_single
from .twister import DIGITS, Twister

if TYPE_CHECKING:
    Size = Sequence[int]

_OVERFLOWS = {"float16": 65504}
_PARTS = {"complex64": float32, "complex128": float64}
_C_NAMES = {
    "bool": "bool", "uint8": "unsigned char", "int8": "signed char", "int16": "short int",
    "int32": "int", "int64": "long", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
    "float32": "float", "float64": "double",
}  # fmt: skip
PIECE = 1 << 18  # numbers that are drawn at a time
# From this span on an integer takes two words.
_WIDE_SPAN = 1 << 28


class Draws:
    """How random numbers are drawn: `single` draws doubles as PyTorch draws floats, so that runs
    of one program in two types get the same numbers."""

    __slots__ = ("single",)

    def __init__(self) -> None:
        self.single = False


draws = run_state(Draws())


def _drawn(dtype: DType) -> DType:
    """The type that numbers are drawn in: halves take single precision."""
    return float64 if dtype is float64 and not draws.single else float32


class Generator(Twister, metaclass=NamedInC):
    """torch.Generator; the default seed is PyTorch's, so a fresh one gives PyTorch's numbers."""

    __slots__ = ()
    PUBLIC = (
        "manual_seed", "seed", "initial_seed", "get_state", "set_state", "clone_state", "device",
    )  # fmt: skip
    _torch_name = "torch._C.Generator"

    def clone_state(self) -> Generator:
        """Another generator that goes on from here as this one does."""
        return Generator(self.device).set_state(self.get_state())

    def get_state(self) -> Any:
        """A tensor of bytes that set_state takes, here and in PyTorch."""
        from ..engine.tensors.tensor import from_array

        return from_array(self.packed())

    def set_state(self, new_state: Any) -> Generator:
        if not hasattr(new_state, "numpy"):
            name = type_name(new_state)
            raise TypeError(f"expected a torch.ByteTensor, but got {name}")
        return self.unpack(new_state.detach().numpy())

    # -- continuous distributions ----------------------------------------------------------------

    def rand(self, size: Size, dtype: DType = float32) -> Any:
        """torch.rand: uniform in [0, 1), both parts of a complex number."""
        if dtype.category == COMPLEX:
            return self.rand((*size, 2), _PARTS[dtype.name]).view(dtype.numpy)[..., 0]
        return self.uniform(size, dtype)

    def uniform(self, size: Size, dtype: DType, low: float = 0.0, high: float = 1.0) -> Any:
        """Tensor.uniform_."""
        if dtype.category == COMPLEX:
            plain = self.uniform((*size, 2), _PARTS[dtype.name], low, high)
            return plain.view(dtype.numpy)[..., 0]
        if dtype.category != FLOATING:
            raise _unsupported("check_uniform_bounds", dtype)
        if low > high:
            raise RuntimeError(
                "uniform_ expects to return a [from, to) range, "
                f"but found from={low:g} > to={high:g}"
            )
        # The half types are drawn in float32; what rounds up to the bound becomes the other one.
        kind = _drawn(dtype)
        start, stop = numpy.array([low, high]).astype(kind.numpy)
        fused = fused_double if kind is float64 else fused_single
        values = numpy.empty(math.prod(size), kind.numpy)
        for first in range(0, values.size, PIECE):  # doubles on the way, so not all at once
            piece = self.fractions(min(PIECE, values.size - first), kind)
            if (low, high) != (0.0, 1.0):
                piece = fused(piece, stop - start, start)
            values[first : first + PIECE] = piece
        if kind is not dtype:
            start, stop = rounded(numpy.array([start, stop]), dtype)
            values = rounded(values, dtype)
            values = numpy.where(values >= stop, start, values)
        return values.reshape(size)

    def randn(self, size: Size, dtype: DType = float32) -> Any:
        """torch.randn."""
        return self.normal(size, dtype)

    def normal(
        self,
        size: Size,
        dtype: DType,
        mean: float = 0.0,
        std: float = 1.0,
        contiguous: bool = True,
    ) -> Any:
        """Tensor.normal_; sixteen elements or more in one block of memory go the vector way."""
        _check_spread("normal", "std", std, at_least=True)
        if dtype.category == COMPLEX:
            part = _PARTS[dtype.name]
            plain = self.normal((*size, 2), part, mean, std / math.sqrt(2.0), contiguous)
            return plain.view(dtype.numpy)[..., 0]
        count = math.prod(size)
        if count == 0:
            return numpy.empty(size, dtype.numpy)  # of any type: there is nothing to draw
        if dtype.category != FLOATING:
            raise _unsupported("normal_kernel_cpu", dtype)
        if count < 16 or not contiguous:
            values = self.spread_gaussians(count, mean, std)
        else:
            values = self._normal_blocks(count, dtype, mean, std)
        return rounded(values, dtype).reshape(size)

    def _normal_blocks(self, count: int, dtype: DType, mean: float, std: float) -> Any:
        kind = _drawn(dtype)
        transform = transform_double if kind is float64 else transform_single
        mean, std = numpy.array([mean, std]).astype(kind.numpy).tolist()
        whole = count - count % 16
        # The half types draw block by block; the others fill everything first, so that the
        # uniforms of an incomplete last block are drawn, and then overwritten.
        drawn = count if dtype in (float32, float64) else whole
        uniforms = self.fractions(drawn, kind)
        values = numpy.empty(count, kind.numpy)
        values[:whole] = transform(uniforms[:whole].reshape(-1, 16), mean, std).ravel()
        if count > whole:
            values[-16:] = transform(self.fractions(16, kind), mean, std)
        return values

    def normal_around(self, mean: Any, std: Any, dtype: DType) -> Any:
        """torch.normal with a tensor (array) for the mean, the deviation or both."""
        shape = numpy.broadcast_shapes(numpy.shape(mean), numpy.shape(std))
        if not numpy.ndim(std) and not isinstance(std, numpy.ndarray):
            return rounded(self.normal(shape, dtype, 0.0, std) + mean, dtype)
        if std.size and std.min() < 0:
            raise RuntimeError("normal expects all elements of std >= 0.0")
        scaled = rounded(self.normal(shape, dtype) * std, dtype)
        return rounded(scaled + rounded(numpy.asarray(mean, scaled.dtype), dtype), dtype)

    def log_normal(self, size: Size, dtype: DType, mean: float = 1.0, std: float = 2.0) -> Any:
        """Tensor.log_normal_."""
        _check_spread("log_normal_", "std", std)
        if dtype.category != FLOATING and 0 not in size:
            raise _unsupported("log_normal_cpu", dtype)
        exponents = self.spread_gaussians(math.prod(size), mean, std).tolist()
        values = numpy.array([_exp(exponent) for exponent in exponents], numpy.float64)
        return rounded(values, dtype).reshape(size)

    def exponential(self, size: Size, dtype: DType, rate: float = 1.0) -> Any:
        """Tensor.exponential_."""
        _check_spread("exponential_", "lambda", rate)
        if math.prod(size) == 0:
            return numpy.empty(size, dtype.numpy)
        _check_continuous("Exponential", dtype.word, dtype)
        scale = -1.0 / rate
        uniforms = self.fractions(math.prod(size), float64).tolist()
        values = [scale * math.log1p(-u) for u in uniforms]
        return rounded(numpy.array(values, numpy.float64), dtype).reshape(size)

    def cauchy(self, size: Size, dtype: DType, median: float = 0.0, sigma: float = 1.0) -> Any:
        """Tensor.cauchy_."""
        _check_spread("cauchy_", "sigma", sigma)
        _check_continuous("Cauchy", dtype.c_word, dtype)
        uniforms = self.fractions(math.prod(size), float64).tolist()
        tangents = numpy.array([math.tan(math.pi * (u - 0.5)) for u in uniforms], numpy.float64)
        return rounded(fused_double(tangents, sigma, median), dtype).reshape(size)

    # -- discrete distributions -------------------------------------------------------------------

    def geometric(self, size: Size, dtype: DType, p: float) -> Any:
        """Tensor.geometric_."""
        if not 0 < p < 1:
            raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
        if dtype.category in (BOOL, COMPLEX) and 0 not in size:
            raise _unsupported("geometric_cpu", dtype)
        scale = math.log1p(-p)
        uniforms = self.fractions(math.prod(size), float64).tolist()
        values = [math.ceil(math.log(u) / scale) if u else math.inf for u in uniforms]
        return rounded(numpy.array(values, numpy.float64), dtype).reshape(size)

    def poisson(self, rates: Any, dtype: DType) -> Any:
        """torch.poisson: one number for each rate."""
        if dtype.category != FLOATING:
            raise _unsupported("poisson_cpu", dtype)
        if rates.size and not rates.min() >= 0:
            raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")

        def uniform() -> float:
            return float(self.fractions(1, float64)[0])

        values = [poisson.draw(rate, uniform) for rate in rates.ravel().tolist()]
        return rounded(numpy.array(values, numpy.float64), dtype).reshape(rates.shape)

    def bernoulli(self, size: Size, dtype: DType, p: float) -> Any:
        """Tensor.bernoulli_ with a number; dropout keeps what this gives for 1 - p."""
        if not 0 <= p <= 1:
            raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
        if dtype.category == COMPLEX and 0 not in size:
            raise _unsupported("bernoulli_scalar_cpu_", dtype)
        uniforms = self.fractions(math.prod(size), float64)
        return (uniforms < p).astype(dtype.numpy).reshape(size)

    def bernoulli_each(self, p: Any, p_dtype: DType, dtype: DType) -> Any:
        """Bernoulli with a probability for each element."""
        if p_dtype.category != FLOATING:
            word = "self" if p_dtype.category == COMPLEX else "p"
            raise _unsupported(f"bernoulli_tensor_cpu_{word}_", p_dtype)
        if not ((p >= 0) & (p <= 1)).all():
            raise RuntimeError(
                "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error "
                "message be improved?  If so, please report an enhancement request to PyTorch.)"
            )
        kind = _drawn(p_dtype)
        uniforms = self.fractions(p.size, kind).reshape(p.shape)
        return (uniforms < p).astype(dtype.numpy)

    def randint(self, low: int, high: int, size: Size, dtype: DType = int64) -> Any:
        """torch.randint, Tensor.random_ with both bounds: low <= value < high."""
        _check_integers(low, high, dtype)
        if dtype.category == FLOATING:
            low, high = _representable(low, high, dtype)
        return self._integers(low, high - low, math.prod(size), dtype).reshape(size)

    def random(self, size: Size, dtype: DType, low: int | None = None) -> Any:
        """Tensor.random_ without an upper bound: up to the largest value, or 2**digits."""
        if dtype.category == COMPLEX:
            if math.prod(size):
                raise _unsupported("random_kernel_cpu", dtype)
            return numpy.empty(size, dtype.numpy)
        count = math.prod(size)
        largest = _largest(dtype)
        if low is not None:
            if low == -(2**63):
                values = self.double_words(count).view(numpy.int64)
                return rounded(values, dtype).reshape(size)
            return self.randint(low, largest + 1, size, dtype)
        wide = dtype.name in ("int64", "float64")
        words = self.double_words(count) if wide else self.words(count)
        return rounded(words % numpy.uint64(largest + 1), dtype).reshape(size)

    def _integers(self, low: int, span: int, count: int, dtype: DType) -> Any:
        words = self.double_words(count) if span >= _WIDE_SPAN else self.words(count)
        values = (words % numpy.uint64(span)).view(numpy.int64) + numpy.int64(low)
        return rounded(values, dtype)

    def randperm(self, n: int, dtype: DType = int64) -> Any:
        """torch.randperm."""
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
        if dtype.category == FLOATING and n > _largest(dtype) + 1:
            raise RuntimeError(
                f"n cannot be greater than {_largest(dtype) + 1} for {dtype.word} type."
            )
        order = list(range(n))
        if n > 1:
            steps = self.words(n - 1) % numpy.arange(n, 1, -1, dtype=numpy.uint64)
            for here, step in enumerate(steps.tolist()):
                there = here + step
                order[here], order[there] = order[there], order[here]
        return rounded(numpy.array(order, numpy.int64), dtype)

    def multinomial(self, p: Any, dtype: DType, samples: int, replacement: bool = False) -> Any:
        """torch.multinomial over the last axis of one or two."""
        _check_multinomial(p, dtype, samples, replacement)
        if replacement and samples > 1:
            rows = p.reshape(-1, p.shape[-1])
            drawn = numpy.stack([self._with_replacement(row, samples) for row in rows])
            return drawn.reshape((*p.shape[:-1], samples))
        if not (p.max() < math.inf and p.min() >= 0):
            raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
        if (p.sum(axis=-1) == 0).any():
            raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
        # An exponential race: the smallest arrival times at rates p win, in order.
        race = rounded(p / self.exponential(p.shape, dtype), dtype)
        return numpy.argsort(-race, axis=-1, kind="stable")[..., :samples].astype(numpy.int64)

    def _with_replacement(self, row: Any, samples: int) -> Any:
        if not (row >= 0).all():
            raise RuntimeError(
                "invalid multinomial distribution (encountering probability entry < 0)"
            )
        if not numpy.isfinite(row).all():
            raise RuntimeError(
                "invalid multinomial distribution "
                "(encountering probability entry = infinity or NaN)"
            )
        sums = numpy.cumsum(row, dtype=numpy.promote_types(row.dtype, numpy.float32))
        if not sums[-1] > 0:
            raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
        sums /= sums[-1]
        sums[-1] = 1
        return numpy.searchsorted(sums.astype(numpy.float64), self.fractions(samples, float64))


def rounded(values: Any, dtype: DType) -> Any:
    """Values computed in a wider type, as the type's own (PyTorch goes to halves by float32)."""
    if dtype.is_reduced:
        return rounded_to(dtype.name)(values)
    if dtype.category == BOOL and values.size:
        return (values & values.dtype.type(1)).astype(bool)
    return values.astype(dtype.numpy, copy=False)


def _largest(dtype: DType) -> int:
    """The largest integer that random_ gives for the type."""
    if dtype.category == BOOL:
        return 1
    if dtype.category == INTEGER:
        return int(numpy.iinfo(dtype.numpy).max)
    return 1 << DIGITS[dtype.name]


def _representable(low: int, high: int, dtype: DType) -> tuple[int, int]:
    """Bounds moved inwards where the type is too coarse to hold the value beside them."""
    digits = DIGITS[dtype.name]
    below, above = rounded(numpy.array([high - 1, low + 1], numpy.float64), dtype).tolist()
    if below >= high:
        high = int(below) - (1 << (abs(high - 1).bit_length() - digits))
    if above < low:
        low = int(above) + (1 << (abs(low + 1).bit_length() - digits))
    return low, high


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _check_spread(name: str, argument: str, value: float, at_least: bool = False) -> None:
    if not (value > 0 or (at_least and value == 0)):
        sign = ">=" if at_least else ">"
        found = f"found {argument} {value:g}" if at_least else f"found {argument}={value:g}"
        raise RuntimeError(f"{name} expects {argument} {sign} 0.0, but {found}")


def _unsupported(kernel: str, dtype: DType) -> NotImplementedError:
    return NotImplementedError(f"\"{kernel}\" not implemented for '{dtype.word}'")


def _check_continuous(name: str, word: str, dtype: DType) -> None:
    if dtype.category != FLOATING:
        raise RuntimeError(
            f"{name} distribution is a continuous probability distribution. "
            f"dtype must be a floating point but you specified {word}"
        )


def _check_integers(low: int, high: int, dtype: DType) -> None:
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    if dtype.category == COMPLEX:
        raise RuntimeError(
            "check_random_bounds handles only integral, floating-point and boolean types"
        )
    largest = _largest(dtype)
    for name, value in (("from", low), ("to - 1", high - 1)):
        if dtype.category != FLOATING:
            smallest = int(numpy.iinfo(dtype.numpy).min) if dtype.category == INTEGER else 0
            if not smallest <= value <= largest:
                raise RuntimeError(f"{name} is out of bounds for {_C_NAMES[dtype.name]}")
        elif abs(value) > _OVERFLOWS.get(dtype.name, math.inf):
            raise RuntimeError(f"{name} is out of bounds for {_C_NAMES[dtype.name]}")
        elif not -largest <= value <= largest:
            digits = DIGITS[dtype.name]
            state.warn(
                f"{name} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision "
                f"limitations {_C_NAMES[dtype.name]} can support discrete uniform distribution "
                "only within this range. This warning will become an error in version 1.7 "
                "release, please fix the code in advance"
            )


def _check_multinomial(p: Any, dtype: DType, samples: int, replacement: bool) -> None:
    if p.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if dtype.category != FLOATING:
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {dtype.word}"
        )
    if p.shape[-1] > 2**24:
        raise RuntimeError("number of categories cannot exceed 2^24")
    if samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and samples > p.shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )


default_generator = run_state(Generator())


def manual_seed(seed: Any) -> Generator:
    """torch.manual_seed: takes what int() takes."""
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """torch.seed, without its surprise: the default seed again."""
    return default_generator.seed()


def initial_seed() -> int:
    """torch.initial_seed."""
    return default_generator.initial_seed()


def get_rng_state() -> Any:
    """torch.get_rng_state."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """torch.set_rng_state."""
    default_generator.set_state(new_state)


class fork_rng:
    """torch.random.fork_rng: inside it numbers are drawn that the stream outside never misses."""

    _torch_name = "torch.random.fork_rng"

    def __init__(
        self, devices: Any = None, enabled: bool = True, _caller: str = "fork_rng",
        _devices_kw: str = "devices", device_type: str = "cuda",
    ) -> None:  # fmt: skip
        self.enabled = enabled
        self._before: Any = None

    def __enter__(self) -> None:
        if self.enabled:
            self._before = default_generator.packed()

    def __exit__(self, *error: object) -> None:
        if self.enabled:
            default_generator.unpack(self._before)
