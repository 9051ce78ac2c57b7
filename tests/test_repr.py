"""Tests of the engine: printed text, character for character as PyTorch prints it."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import numpy
import pytest
from command_here import here
from oracle import oracle, question

import gradcli
from gradcli.engine.memory.repr import (
    PrintOptions,
    get_printoptions,
    printoptions,
    set_printoptions,
    tensor_text,
)
from gradcli.engine.schema import dtypes

BLOCK = 25
SHAPES = [
    (), (1,), (2,), (3,), (7,), (30,), (2, 3), (3, 1), (4, 13), (2, 2, 3), (1, 2, 1, 3), (0,),
    (2, 0), (0, 3), (1000,), (1001,), (40, 40), (2, 600), (600, 2), (7, 7, 30), (1001, 1),
]  # fmt: skip
FLOATING = ("float32", "float32", "float32", "float64", "float16", "bfloat16")
SPECIAL = (0.0, -0.0, math.inf, -math.inf, math.nan)


def _real(draw: random.Random, count: int) -> list[float]:
    style = draw.randrange(7)
    scale = 10.0 ** draw.randint(-8, 9)
    makers = (
        lambda: draw.gauss(0, 1),
        lambda: float(round(draw.gauss(0, 1) * scale)),
        lambda: draw.gauss(0, 1) * 10.0 ** draw.randint(-6, 6),
        lambda: draw.gauss(0, 1) * scale,
        lambda: round(draw.gauss(0, 4)) / 4,
        lambda: draw.choice((-1, 1)) * 10.0 ** draw.randint(-5, 9),
        lambda: draw.choice(SPECIAL),
    )
    values = [makers[style]() for _ in range(count)]
    if values and draw.random() < 0.3:
        values[draw.randrange(count)] = draw.choice(SPECIAL)
    return values


def case(seed: int) -> tuple[Any, str, dict[str, Any], dict[str, Any]]:
    """An array, the name of its type, its tensor's flags and the print options."""
    draw = random.Random(seed)
    shape = draw.choice(SHAPES)
    count = math.prod(shape)
    dtype = draw.choice((*FLOATING, *FLOATING, "int64", "uint8", "bool", "int32", "complex64"))
    if dtype in ("int64", "int32"):
        array = numpy.array([draw.randint(-(10 ** draw.randint(0, 9)), 99) for _ in range(count)])
    elif dtype in ("uint8", "bool"):
        array = numpy.array([draw.randint(0, 255 if dtype == "uint8" else 1) for _ in range(count)])
    elif dtype == "complex64":
        parts = zip(_real(draw, count), _real(draw, count), strict=True)
        array = numpy.array([complex(a, b) for a, b in parts])
    else:
        array = numpy.array(_real(draw, count), numpy.float64)
    carrier = dtypes.BY_NAME[dtype].numpy
    with numpy.errstate(all="ignore"):
        array = array.reshape(shape).astype(carrier)
    if dtype == "float16":  # values that the type holds
        with numpy.errstate(all="ignore"):
            array = numpy.asarray(array.astype("float16").astype(carrier))
    if dtype == "bfloat16":
        words = numpy.atleast_1d(array).view(numpy.uint32) & numpy.uint32(0xFFFF0000)
        array = words.view(numpy.float32).reshape(shape)
    options = {} if draw.random() < 0.7 else _options(draw)
    differentiable = dtype in (*FLOATING, "complex64")
    flags = {"requires_grad": differentiable and draw.random() < 0.3}
    if flags["requires_grad"] and draw.random() < 0.5:
        flags["grad_fn"] = "CloneBackward0"
    return array, dtype, flags, options


def _options(draw: random.Random) -> dict[str, Any]:
    every = {
        "precision": (0, 1, 2, 6, 8),
        "threshold": (0, 5, 20, 100),
        "edgeitems": (0, 1, 2, 4),
        "linewidth": (1, 20, 40, 79, 120),
        "sci_mode": (True, False),
        "profile": ("default", "short", "full"),
    }
    return {name: draw.choice(values) for name, values in every.items() if draw.random() < 0.4}


@question
def printed(torch: Any, first: int) -> list[str]:
    """repr() of the tensors of one block of cases."""
    texts = []
    for seed in range(first, first + BLOCK):
        array, dtype, flags, options = case(seed)
        tensor = torch.from_numpy(array).to(getattr(torch, dtype))
        if flags["requires_grad"]:
            tensor.requires_grad_()
        if "grad_fn" in flags:
            tensor = tensor.clone()
        torch.set_printoptions(profile="default")
        torch.set_printoptions(**options)
        texts.append(repr(tensor))
    torch.set_printoptions(profile="default")
    return texts


@pytest.mark.parametrize("first", range(0, 500, BLOCK))
def test_text_of_random_tensors(first: int) -> None:
    answers = oracle.ask("printed", first)
    for seed, expected in zip(range(first, first + BLOCK), answers, strict=True):
        array, dtype, flags, options = case(seed)
        set_printoptions(profile="default")
        set_printoptions(**options)
        assert tensor_text(array, dtype=dtype, **flags) == expected, (seed, options)


def text(values: Any, dtype: str = "float32", **facts: Any) -> str:
    carrier = dtypes.BY_NAME[dtype].numpy
    return tensor_text(numpy.array(values, dtype=carrier), dtype=dtype, **facts)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (2, "tensor(2.)"),
        ([1, 0.5], "tensor([1.0000, 0.5000])"),
        ([-1, 0.5], "tensor([-1.0000,  0.5000])"),
        ([1e8], "tensor([100000000.])"),
        ([1e9], "tensor([1.0000e+09])"),
        ([1000, 1], "tensor([1000.,    1.])"),
        ([1001, 1], "tensor([1.0010e+03, 1.0000e+00])"),
        ([math.nan, 1], "tensor([nan, 1.])"),
        ([], "tensor([])"),
    ],
)
def test_known_texts(values: Any, expected: str) -> None:
    assert text(values) == expected


def test_suffixes() -> None:
    assert text(1, grad_fn="SinBackward0") == "tensor(1., grad_fn=<SinBackward0>)"
    assert text(1, "float64") == "tensor(1., dtype=torch.float64)"
    assert text([1.0], requires_grad=True, device="cuda:0") == (
        "tensor([1.], device='cuda:0', requires_grad=True)"
    )
    assert text([1.0], requires_grad=True, parameter=True) == (
        "Parameter containing:\ntensor([1.], requires_grad=True)"
    )


def test_summary_of_a_long_tensor_reads_only_its_ends() -> None:
    values = numpy.zeros(10**7, numpy.float32)
    values[5000] = 1e-30  # not shown, so it must not turn the format scientific
    assert tensor_text(values, dtype="float32") == "tensor([0., 0., 0.,  ..., 0., 0., 0.])"


def test_default_dtype_is_not_told() -> None:
    dtypes.set_default_dtype(dtypes.float64)
    assert text(1, "float64") == "tensor(1.)"
    assert text(1) == "tensor(1., dtype=torch.float32)"


def test_options() -> None:
    with printoptions(precision=2):
        assert text(math.pi) == "tensor(3.14)"
        assert get_printoptions()["precision"] == 2
    assert text(math.pi) == "tensor(3.1416)"
    assert text(math.pi, options=PrintOptions(precision=1)) == "tensor(3.1)"
    narrow = PrintOptions(linewidth=20)
    assert tensor_text(numpy.arange(4.0), dtype="float64", options=narrow).count("\n") == 2


@pytest.mark.parametrize(
    "options", [{}, {"precision": 2}, {"sci_mode": True}, {"sci_mode": False}, {"edgeitems": 0}]
)
def test_one_number_has_the_text_of_its_array(options: dict[str, Any]) -> None:
    numbers = [1e-4, 9.9999e-5, 1e8, 1.00000001e8, 123456.0, 0.1, -3.0, 2.5e-38]
    with printoptions(**options):
        for number in (*numbers, *SPECIAL):
            for dtype in (gradcli.float32, gradcli.float64, gradcli.bfloat16):
                tensor = gradcli.tensor(number, dtype=dtype)
                assert repr(tensor) == tensor_text(tensor._data, dtype=dtype)


@pytest.mark.parametrize(
    "option",
    ["precision=''", "precision=-1", "precision=True", "precision='1f}{'", "edgeitems='a'",
     "threshold=[1]", "linewidth='a'", "linewidth=75.5"],
)  # fmt: skip
def test_options_that_print_nothing_spoil_no_report(tmp_path: Path, option: str) -> None:
    """The program's own print fails, as PyTorch's does; what commands show is printed."""
    program = tmp_path / "p.expr"
    text = f"torch.set_printoptions({option})\nx = torch.tensor([1.5, 2.5], requires_grad=True)\n"
    program.write_text(f"{text}(x * 2.5).sum().backward()\n")
    for words in (("trace",), ("grad", "--wrt", "x"), ("step",)):
        done = here(*words, str(program))
        assert done.returncode == 0 and "2.5" in done.stdout, done
    if oracle.has_torch:
        done = here("grad", "--wrt", "x", str(program), "--engine", "torch")
        assert done.returncode == 0 and "2.5" in done.stdout, done
    program.write_text(f"{text}assert (x == 3).all()\n")
    assert here("run", str(program)).stderr.endswith("AssertionError\n")
