"""Tests of the engine: the random stream, bit for bit PyTorch's CPU stream."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from oracle import oracle, question

from gradcli.engine.schema import dtypes
from gradcli.numerics.random import Generator

SIZES = [(), (1,), (3,), (2, 3), (15,), (16,), (17,), (5, 7), (100,), (4, 4, 4)]
FLOATING = ("float32", "float32", "float64", "float16", "bfloat16")
INTEGERS = ("int64", "int64", "int32", "int16", "uint8", "bool")
SEEDS = (0, 1, 42, 1234, 2**31 + 7, -1, 2**32 + 5, 2**63 + 11)

# A call is (name, type, size, numbers): JSON, made below both by PyTorch and by us.
Call = list[Any]


def _call(draw: random.Random) -> Call:
    name = draw.choice(sorted(OURS))
    size = list(draw.choice(SIZES))
    number = draw.choice((0.0, 1.0, -1.0, 0.5, 3.7, -2.25, draw.uniform(-5, 5)))
    positive = abs(number) + draw.choice((0.1, 1.0))
    chance = draw.uniform(0.05, 0.95)
    floating, integer = draw.choice(FLOATING), draw.choice(INTEGERS)
    span = draw.choice((1, 2, 10, 100))
    wide = draw.choice((span, 2**27, 2**30, 2**40))
    choices: dict[str, tuple[str, list[Any]]] = {
        "rand": (draw.choice((*FLOATING, "complex64")), []),
        "randn": (draw.choice((*FLOATING, "complex64", "complex128")), []),
        "uniform_": (floating, [number, number + positive]),
        "normal_": (floating, [number, positive]),
        "exponential_": (floating, [positive]),
        "cauchy_": (floating, [number, positive]),
        "log_normal_": (floating, [number / 4, positive / 4]),
        "geometric_": (draw.choice((floating, "int64")), [chance]),
        "bernoulli_": (draw.choice((floating, integer)), [chance]),
        "random_": (draw.choice((floating, integer)), []),
        "randint": ("int64", [-5, wide - 5]) if draw.random() < 0.5 else ("float32", [0, span]),
        "randperm": (draw.choice(("int64", "int32", "float32")), [draw.choice((0, 1, 2, 10, 500))]),
        "multinomial": (draw.choice(("float32", "float64")), [draw.choice((1, 2, 5)), False]),
        "multinomial_replaced": ("float64", [draw.choice((1, 2, 30)), True]),
        "bernoulli": (floating, []),
        "normal": (floating, []),
        "poisson": (draw.choice(("float32", "float64")), []),
    }
    dtype, numbers = choices[name]
    return [name, dtype, size, numbers]


def _weights(size: list[int], dtype: str) -> Any:
    """Probabilities that every type holds exactly."""
    count = max(1, math.prod(size))
    row = [(3 + 7 * i % 11) / 16 for i in range(count)]
    return numpy.array(row, dtypes.BY_NAME[dtype].numpy)


def _exact(values: Any) -> list[Any]:
    """Floats as text that keeps every bit."""
    flat = values.reshape(-1)
    if flat.dtype.kind == "c":
        flat = flat.view(flat.real.dtype)
    return [v.hex() if isinstance(v, float) else int(v) for v in flat.tolist()]


def _digest(values: Any) -> list[Any]:
    """A few values and a checksum over all."""
    return [_exact(values.reshape(-1)[:3]), hashlib.sha256(values.tobytes()).hexdigest()]


def _theirs(torch: Any, call: Call) -> list[Any]:
    name, dtype_name, size, numbers = call
    dtype = getattr(torch, dtype_name)
    if name.startswith("multinomial"):
        weights = torch.from_numpy(_weights([len(SIZES)], dtype_name))
        result = torch.multinomial(weights, *numbers)
    elif name == "bernoulli":
        result = torch.bernoulli(torch.from_numpy(_weights(size, dtype_name)).to(dtype))
    elif name == "normal":
        weights = torch.from_numpy(_weights(size, dtype_name)).to(dtype)
        result = torch.normal(weights * 2, weights)
    elif name == "poisson":
        result = torch.poisson(torch.from_numpy(_weights(size, dtype_name)) * 40)
    elif name == "randperm":
        result = torch.randperm(*numbers, dtype=dtype)
    elif name.endswith("_"):
        result = getattr(torch.empty(size, dtype=dtype), name)(*numbers)
    else:
        result = getattr(torch, name)(*numbers, size, dtype=dtype)
    if result.dtype in (torch.float16, torch.bfloat16):  # carried in float32 here
        result = result.float()
    return _digest(result.numpy())


@question
def drawn(torch: Any, seed: int, calls: list[Call]) -> list[Any]:
    """What a row of calls draws, and the generator's state after it."""
    torch.manual_seed(seed)
    values = [_theirs(torch, call) for call in calls]
    return [values, torch.get_rng_state().numpy().tobytes().rstrip(b"\0").hex()[-200:]]


def _multinomial(generator: Generator, size: list[int], dtype: Any, *numbers: Any) -> Any:
    return generator.multinomial(_weights([len(SIZES)], dtype.name), dtype, *numbers)


OURS: dict[str, Callable[..., Any]] = {
    "rand": lambda g, size, dtype: g.rand(size, dtype),
    "randn": lambda g, size, dtype: g.randn(size, dtype),
    "uniform_": lambda g, size, dtype, low, high: g.uniform(size, dtype, low, high),
    "normal_": lambda g, size, dtype, mean, std: g.normal(size, dtype, mean, std),
    "exponential_": lambda g, size, dtype, rate: g.exponential(size, dtype, rate),
    "cauchy_": lambda g, size, dtype, median, sigma: g.cauchy(size, dtype, median, sigma),
    "log_normal_": lambda g, size, dtype, mean, std: g.log_normal(size, dtype, mean, std),
    "geometric_": lambda g, size, dtype, p: g.geometric(size, dtype, p),
    "bernoulli_": lambda g, size, dtype, p: g.bernoulli(size, dtype, p),
    "random_": lambda g, size, dtype: g.random(size, dtype),
    "randint": lambda g, size, dtype, low, high: g.randint(low, high, size, dtype),
    "randperm": lambda g, size, dtype, n: g.randperm(n, dtype),
    "multinomial": _multinomial,
    "multinomial_replaced": _multinomial,
    "poisson": lambda g, size, dtype: g.poisson(_weights(size, dtype.name) * 40, dtype),
    "bernoulli": lambda g, size, dtype: g.bernoulli_each(
        _weights(size, dtype.name).astype(dtype.numpy), dtype, dtype
    ),
    "normal": lambda g, size, dtype: g.normal_around(
        _weights(size, dtype.name) * 2, _weights(size, dtype.name), dtype
    ),
}


@question
def draws_for_a_coin(torch: Any) -> int:
    """Words that bernoulli_ takes: 2, or 1 where Intel's library draws on an Intel processor."""
    generator = torch.Generator().manual_seed(1)
    torch.empty(1).bernoulli_(0.5, generator=generator)
    following = torch.rand(1, generator=generator)
    plain = torch.rand(3, generator=generator.manual_seed(1))
    return int((plain == following).nonzero()[0])


VENDOR_STREAM = ("bernoulli_", "exponential_", "multinomial", "multinomial_replaced")


@pytest.mark.parametrize("number", range(120))
def test_rows_of_calls(number: int) -> None:
    draw = random.Random(number)
    seed = draw.choice(SEEDS)
    calls = [_call(draw) for _ in range(draw.randint(1, 10))]
    if oracle.ask("draws_for_a_coin") == 1:
        calls = [call for call in calls if call[0] not in VENDOR_STREAM]
    expected, state = oracle.ask("drawn", seed, calls)
    generator = Generator().manual_seed(seed)
    for (name, dtype, size, numbers), answer in zip(calls, expected, strict=True):
        ours = OURS[name](generator, size, dtypes.BY_NAME[dtype], *numbers)
        assert _digest(ours) == answer, (seed, name, dtype, size, numbers)
    assert generator.packed().tobytes().rstrip(b"\0").hex()[-200:] == state


@question
def digest(torch: Any, name: str, seed: int, dtype: str, count: int) -> list[Any]:
    """Many values at once."""
    torch.manual_seed(seed)
    if name == "randperm":
        values = torch.randperm(count).numpy()
    else:
        values = getattr(torch, name)(count, dtype=getattr(torch, dtype)).numpy()
    return _digest(values)


@pytest.mark.parametrize(
    ("name", "dtype", "count"),
    [
        ("rand", "float32", 10**6),
        ("randn", "float32", 10**6 + 3),
        ("randn", "float64", 10**5),
        ("randperm", "int64", 10**5),
    ],
)
def test_large_draws(name: str, dtype: str, count: int) -> None:
    generator = Generator().manual_seed(7)
    if name == "randperm":
        ours = generator.randperm(count)
    else:
        ours = getattr(generator, name)((count,), dtypes.BY_NAME[dtype])
    assert _digest(ours) == oracle.ask("digest", name, 7, dtype, count)


@question
def fresh_generator(torch: Any) -> list[Any]:
    generator = torch.Generator()
    return [generator.initial_seed(), _exact(torch.rand(3, generator=generator).numpy())]


def test_a_fresh_generator_has_pytorchs_seed() -> None:
    generator = Generator()
    ours = [generator.initial_seed(), _exact(generator.rand((3,)))]
    assert ours == oracle.ask("fresh_generator")


def test_state_goes_round() -> None:
    generator = Generator().manual_seed(3)
    generator.randn((1,))  # leaves the second normal of the pair behind
    generator.rand((700,))
    state = generator.packed()
    first = generator.randn((5,)).tolist()
    assert generator.unpack(state).randn((5,)).tolist() == first
    assert Generator().unpack(state).randn((5,)).tolist() == first
    assert generator.initial_seed() == 3


def test_seed_is_the_same_every_time() -> None:
    generator = Generator().manual_seed(1)
    assert generator.seed() == Generator().initial_seed()


@question
def refusal(torch: Any, text: str) -> str:
    try:
        eval(text, {"torch": torch, "t": torch.empty(3)})
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return ""


_float = dtypes.float32


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("t.uniform_(2, 1)", lambda g: g.uniform((3,), _float, 2, 1)),
        ("t.normal_(0, -1.5)", lambda g: g.normal((3,), _float, 0, -1.5)),
        ("t.exponential_(-1.25)", lambda g: g.exponential((3,), _float, -1.25)),
        ("t.cauchy_(0, -1)", lambda g: g.cauchy((3,), _float, 0, -1)),
        ("t.log_normal_(0, -1)", lambda g: g.log_normal((3,), _float, 0, -1)),
        ("t.geometric_(2)", lambda g: g.geometric((3,), _float, 2)),
        ("t.bernoulli_(2)", lambda g: g.bernoulli((3,), _float, 2)),
        ("torch.randint(3, 3, (2,))", lambda g: g.randint(3, 3, (2,))),
        (
            "torch.randint(0, 300, (2,), dtype=torch.uint8)",
            lambda g: g.randint(0, 300, (2,), dtypes.uint8),
        ),
        ("torch.rand(3, dtype=torch.int64)", lambda g: g.rand((3,), dtypes.int64)),
        ("torch.randn(3, dtype=torch.int64)", lambda g: g.randn((3,), dtypes.int64)),
        (
            "torch.empty(3, dtype=torch.int64).exponential_()",
            lambda g: g.exponential((3,), dtypes.int64),
        ),
        (
            "torch.multinomial(torch.ones(3), 4)",
            lambda g: g.multinomial(numpy.ones(3, "float32"), _float, 4),
        ),
        (
            "torch.multinomial(torch.zeros(3), 1)",
            lambda g: g.multinomial(numpy.zeros(3, "float32"), _float, 1),
        ),
        (
            "torch.multinomial(torch.tensor([-1., 1]), 2, True)",
            lambda g: g.multinomial(numpy.array([-1, 1], "float32"), _float, 2, True),
        ),
        ("torch.manual_seed(2**64)", lambda g: g.manual_seed(2**64)),
        ("torch.randperm(-1)", lambda g: g.randperm(-1)),
    ],
)
def test_refusals(theirs: str, ours: Callable[[Generator], Any]) -> None:
    expected = oracle.ask("refusal", theirs)
    with pytest.raises(Exception) as caught:
        ours(Generator())
    assert f"{caught.type.__name__}: {caught.value}" == expected
