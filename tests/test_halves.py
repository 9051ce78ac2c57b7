"""Tests of float16 and bfloat16: computed in single precision, rounded as PyTorch rounds."""

from __future__ import annotations

import hashlib
import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy
import pytest
from oracle import oracle, question, torch as pytorch
from programs_under import compare, sections

import gradcli

HALVES = ("float16", "bfloat16")
PROGRAMS = sections(Path(__file__).parent / "programs" / "halves.txt")


@pytest.mark.parametrize("title", PROGRAMS)
def test_program(title: str) -> None:
    compare(PROGRAMS[title])


# ---- functions of every number that the types have


EVERY = (
    "sqrt rsqrt reciprocal exp2 log2 log1p abs neg square round floor trunc frac sign tanh asin "
    "acos acosh atanh erfc erfinv nn.functional.relu nn.functional.elu "
    "nn.functional.celu nn.functional.hardswish nn.functional.hardsigmoid nn.functional.logsigmoid "
    "nn.functional.softsign nn.functional.leaky_relu nn.functional.tanhshrink "
    "nn.functional.hardtanh special.log1p"
).split()


def _named(torch: Any, name: str) -> Any:
    for part in name.split("."):
        torch = getattr(torch, part)
    return torch


def _digest(tensor: Any) -> str:
    """A checksum over all numbers; NaNs are alike, and so are both zeros."""
    values = tensor.detach().float().numpy() + numpy.float32(0)
    values[values != values] = numpy.nan
    return hashlib.sha256(values.tobytes()).hexdigest()


@question
def of_every_number(torch: Any, name: str, kind: str) -> list[str]:
    """Checksums of the function and of its derivative at all numbers of a half type."""
    return list(map(_digest, _every_number(torch, name, kind)))


def _every_number(torch: Any, name: str, kind: str) -> tuple[Any, Any]:
    bits = numpy.arange(65536, dtype=numpy.uint16)
    if kind == "bfloat16":
        values = (bits.astype(numpy.uint32) << 16).view(numpy.float32)
    else:
        values = bits.view(numpy.float16).astype(numpy.float32)
    x = torch.from_numpy(values[values == values]).to(getattr(torch, kind)).requires_grad_()
    y = _named(torch, name)(x)
    y.backward(torch.ones_like(y))
    return y, x.grad


@pytest.mark.parametrize(("name", "kind"), list(itertools.product(EVERY, HALVES)))
def test_every_number(name: str, kind: str) -> None:
    """The same bits; two may differ, since both libraries choose their code by the processor."""
    ours = _every_number(gradcli, name, kind)
    if list(map(_digest, ours)) != oracle.ask("of_every_number", name, kind):
        if pytorch is None:
            pytest.skip(f"{name} differs from the record; only PyTorch can say by how much")
        theirs = _every_number(pytorch, name, kind)
        for one, other in zip(ours, theirs):
            values, expected = one.detach().float().numpy(), other.detach().float().numpy()
            apart = (values != expected) & ~((values != values) & (expected != expected))
            assert apart.sum() <= 2, f"{name} differs from PyTorch in {apart.sum()} numbers"
            numpy.testing.assert_allclose(values[apart], expected[apart], rtol=2**-7)


# ---- where the types meet others


TYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip
NUMBERS = (True, 2, -3, 0.1)
MEETINGS = {
    "add": lambda torch, a, b: a + b,
    "sub": lambda torch, a, b: a - b,
    "mul": lambda torch, a, b: a * b,
    "true_divide": lambda torch, a, b: a / b,
    "floor_divide": lambda torch, a, b: a // b,
    "remainder": lambda torch, a, b: a % b,
    "eq": lambda torch, a, b: a == b,
    "lt": lambda torch, a, b: a < b,
    "where": lambda torch, a, b: torch.where(torch.tensor([True, False]), a, b),
    "maximum": lambda torch, a, b: torch.maximum(a, b),
    "cat": lambda torch, a, b: torch.cat([a.reshape(-1), b.reshape(-1)]),
    "result_type": lambda torch, a, b: torch.result_type(a, b),
    "add_": lambda torch, a, b: a.add_(b),
    "mul_": lambda torch, a, b: a.mul_(b),
    "div_": lambda torch, a, b: a.div_(b),
}


def _operand(torch: Any, given: Any) -> Any:
    if not isinstance(given, list):
        return given
    kind, dimensions = given
    values = [1, 0] if kind == "bool" else [3, 2] if "int" in kind else [3.3, 2.1]
    return torch.tensor(values if dimensions else values[0], dtype=getattr(torch, kind))


@question
def meeting(torch: Any, name: str, half: str) -> list[str]:
    """Type and values of a half tensor with everything else, on either side."""
    # PyTorch alone has complex numbers of half precision, which float16 would meet in.
    kinds = [kind for kind in TYPES if half != "float16" or not kind.startswith("complex")]
    others = [[kind, size] for kind in kinds for size in (0, 1)]
    answers = []
    for size in (0, 1):
        pairs = [([half, size], other) for other in (*others, *NUMBERS)]
        pairs += [(other, [half, size]) for other in others]
        for first, second in pairs:
            try:
                found = MEETINGS[name](torch, _operand(torch, first), _operand(torch, second))
            except Exception as error:
                answers.append(f"{type(error).__name__}: {str(error).splitlines()[0]}")
                continue
            values = found.tolist() if hasattr(found, "tolist") else ""
            answers.append(f"{getattr(found, 'dtype', found)} {values}")
    # In place, shapes are checked before types there.
    return ["" if "output with shape" in answer else answer for answer in answers]


@pytest.mark.parametrize("name", MEETINGS)
@pytest.mark.parametrize("half", HALVES)
def test_meetings(name: str, half: str) -> None:
    theirs = oracle.ask("meeting", name, half)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = meeting(gradcli, name, half)
    assert [a if b else "" for a, b in zip(ours, theirs, strict=True)] == theirs
