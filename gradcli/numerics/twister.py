"""Numerics: the Mersenne twister as PyTorch's CPU generator keeps it: seeds, state, raw numbers.

The 32-bit words are NumPy's; how they become uniform and normal numbers is PyTorch's.
"""

from __future__ import annotations

import math
import struct
from typing import Any, Self

import numpy

from ..engine.memory.device import as_device
from ..engine.schema.dtypes import DType, float64
from ..named import NamedTuple
from .box_muller import fused_double

DEFAULT_SEED = 67280421310721
_WORDS = 624
_STATE = struct.Struct(f"<QiiQ{_WORDS}Qdddi4xf?3x")
# Bits of the significand, hidden one included: how fine a uniform number of the type is.
DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}


class Mark(NamedTuple):
    """A place in the stream of a generator; without bits it is the start."""

    seed: int
    fresh: bool
    cached_normal: float | None
    bits: Any


class Twister:
    """The part of torch.Generator that knows no distributions but the two it is made of."""

    __slots__ = ("_bits", "_cached_normal", "_fresh", "_seed", "device")

    def __init__(self, device: Any = "cpu") -> None:
        self.device = as_device(device)
        self._bits: Any = None  # made at the first draw: numpy.random takes a while to import
        self._restart(DEFAULT_SEED)

    # -- seeds and state ------------------------------------------------------------------------

    def manual_seed(self, seed: int) -> Self:
        seed = int(seed)
        if not -(2**63) <= seed < 2**64:
            raise ValueError("Overflow when unpacking long long")
        self._restart(seed % 2**64)
        return self

    def seed(self) -> int:
        """PyTorch asks the operating system here; a program's output must not depend on that."""
        self._restart(DEFAULT_SEED)
        return DEFAULT_SEED

    def initial_seed(self) -> int:
        return self._seed

    def _restart(self, seed: int) -> None:
        self._seed = seed
        self._cached_normal: float | None = None
        self._fresh = True
        if self._bits is not None:
            self._seed_bits()

    def _seed_bits(self) -> None:
        numpy.random.RandomState(self._bits).seed(self._seed & 0xFFFFFFFF)

    def _source(self) -> Any:
        if self._bits is None:
            self._bits = numpy.random.MT19937(0)
            self._seed_bits()
        return self._bits

    def packed(self) -> Any:
        """The state as PyTorch's 5056 bytes, in an array of uint8."""
        inner = self._source().state["state"]
        position = int(inner["pos"])
        packed = _STATE.pack(
            self._seed,
            1 if self._fresh else _WORDS + 1 - position,
            1,
            0 if self._fresh else position,
            *inner["key"].tolist(),
            0.0,
            0.0 if self._cached_normal is None else self._cached_normal,
            0.0,
            self._cached_normal is not None,
            0.0,
            False,
        )
        return numpy.frombuffer(packed, numpy.uint8).copy()

    def unpack(self, array: Any) -> Self:
        if array.dtype != numpy.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if array.size != _STATE.size:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {_STATE.size} "
                f"but found the input RNG state size to be {array.size}"
            )
        seed, left, seeded, following, *rest = _STATE.unpack(array.tobytes())
        if not (seeded and 0 < left <= _WORDS and following <= _WORDS):
            raise RuntimeError("Invalid mt19937 state")  # NumPy would read beyond the words
        words, (_, cached, _, valid, _, _) = rest[:_WORDS], rest[_WORDS:]
        self._seed, self._fresh = seed, following == 0
        self._cached_normal = cached if valid else None
        self._source().state = {
            "bit_generator": "MT19937",
            "state": {
                "key": numpy.array(words, numpy.uint64).astype(numpy.uint32),
                "pos": _WORDS if left == 1 else following,
            },
        }
        return self

    def mark(self) -> Mark:
        """Where the stream is, to return to: cheap, and nothing is made that was not drawn from."""
        bits = None if self._bits is None else self._bits.state
        return Mark(self._seed, self._fresh, self._cached_normal, bits)

    def return_to(self, mark: Mark) -> None:
        """Goes on from where the stream was."""
        self._seed, self._fresh, self._cached_normal, bits = mark
        if bits is not None:
            self._source().state = bits
        elif self._bits is not None:
            self._seed_bits()

    # -- words ----------------------------------------------------------------------------------

    def words(self, count: int) -> Any:
        self._fresh = self._fresh and not count
        return self._source().random_raw(count)

    def double_words(self, count: int) -> Any:
        words = self.words(2 * count)
        return (words[0::2] << numpy.uint64(32)) | words[1::2]  # the high half comes first

    def fractions(self, count: int, dtype: DType) -> Any:
        """Uniforms in [0, 1) as fine as the type, float32 for the types below it."""
        digits = DIGITS[dtype.name]
        words = self.double_words(count) if digits > 32 else self.words(count)
        carrier = numpy.float64 if digits > 32 else numpy.float32
        return (words & numpy.uint64(2**digits - 1)).astype(carrier) * carrier(2.0**-digits)

    def gaussians(self, count: int) -> list[float]:
        """Normals one by one, in double; the second of a pair waits for the next call."""
        values = []
        if count and self._cached_normal is not None:
            values.append(self._cached_normal)
            self._cached_normal = None
        pairs = (count - len(values) + 1) // 2
        if pairs > 0:
            uniforms = iter(self.fractions(2 * pairs, float64).tolist())
            for first, second in zip(uniforms, uniforms, strict=True):
                radius = math.sqrt(-2.0 * math.log1p(-second))
                angle = 2.0 * math.pi * first
                values.append(radius * math.cos(angle))
                values.append(radius * math.sin(angle))
        if len(values) > count:
            self._cached_normal = values.pop()
        return values

    def spread_gaussians(self, count: int, mean: float, std: float) -> Any:
        values = numpy.array(self.gaussians(count), numpy.float64)
        return values if (mean, std) == (0.0, 1.0) else fused_double(values, std, mean)
