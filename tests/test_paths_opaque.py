"""Tests of `gradcli paths` through writes into views, functions of the program, normalisation and
convolution: sums, formulas, and the numbers that stand where there is no formula."""

from __future__ import annotations

import random
from typing import Any

import pytest
from oracle import oracle
from test_paths import close, gradient_and_formula, report  # noqa: F401 - the question asked below

SQUARE = """\
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return 2 * grad * x

"""


def formula_of(text: str, wrt: str = "x") -> Any:
    """The report, whose formula is right under PyTorch and whose sum is reverse mode's."""
    found = report(text, wrt, "L", formula=True)
    assert found.error is None, found.error
    assert found.equal, text
    if found.formula is not None:
        lines = found.formula.program.split("\n")
        theirs, ours = oracle.ask("gradient_and_formula", text, "L", wrt, lines)
        assert close(theirs, ours), f"{text}{found.formula.program}"
    return found


X = "x = tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)\n"
IMAGE = (
    "x = (torch.arange(16.0).view(1, 1, 4, 4) * 0.1).requires_grad_()\n"
    "w = tensor([[[[1.0, -0.5], [0.25, 2.0]]]], requires_grad=True)\n"
    "b = ones(1, requires_grad=True)\n"
)


@pytest.mark.parametrize(
    ("text", "wrt", "formula"),
    [
        (X + "y = x * 2\ny[0] = x[1] * 5\nL = (y ** 2).sum()", "x",
         "zeros(4).select_scatter(5*(2*y).select(0, 0), 0, 1) + "
         "2*(2*y).select_scatter(torch.tensor(0.0), 0, 0)"),
        (X + "y = x * 2\ny[1:3] = 0\nL = (y ** 2).sum()", "x",
         "2*(2*y).slice_scatter(zeros(2), 0, 1, 3)"),
        (X + "y = x.as_strided((2, 2), (1, 2))\nL = (y * y).sum()", "x",
         "zeros(4).as_strided_scatter(2*y, (2, 2), (1, 2), 0)"),
        (SQUARE + "a = tensor(3.0, requires_grad=True)\nb = Square.apply(a)\nL = b * a", "a",
         "b + a*slope_of_Square"),
        (SQUARE + X + "y = Square.apply(x)\nL = (y * y).sum()", "x", "2*y*jacobian_of_Square"),
        (IMAGE + "h = F.conv2d(x, w)\nL = (h ** 2).sum()", "x", "F.conv_transpose2d(2*h, w)"),
        (IMAGE + "h = F.conv2d(x, w)\nL = (h ** 2).sum()", "w",
         "F.conv2d(x.transpose(0, 1), (2*h).transpose(0, 1)).transpose(0, 1)"),
        (IMAGE + "h = F.conv2d(x, w, b)\nL = (h ** 2).sum()", "b", "(2*h).sum((0, 2, 3))"),
    ],
)  # fmt: skip
def test_formulas(text: str, wrt: str, formula: str) -> None:
    found = formula_of(text + "\n", wrt)
    assert found.formula is not None, found.no_formula
    assert found.formula.text == formula


@pytest.mark.parametrize("wrt", ["x", "w"])
@pytest.mark.parametrize("settings", [
    "stride=2", "padding=1", "dilation=2", "stride=2, padding=1", "padding=(1, 0)",
])  # fmt: skip
def test_convolutions(settings: str, wrt: str) -> None:
    found = formula_of(IMAGE + f"h = F.conv2d(x, w, {settings})\nL = (h * h).sum()\n", wrt)
    assert found.formula is not None, found.no_formula
    found = formula_of(
        IMAGE + f"h = F.conv_transpose2d(x, w, {settings})\nL = h.cos().sum()\n", wrt
    )
    assert found.formula is not None, found.no_formula


@pytest.mark.parametrize("wrt", ["x", "w", "b"])
@pytest.mark.parametrize(
    "call",
    ["F.layer_norm(x, (3,), w, b)", "F.layer_norm(x, (3,), w, b, eps=0.001)",
     "F.batch_norm(x, None, None, w, b, True)", "F.layer_norm(x, (3,), b, w) * w + b"],
)  # fmt: skip
def test_normalisation(call: str, wrt: str) -> None:
    text = (
        "torch.manual_seed(1)\nx = torch.randn(4, 3, requires_grad=True)\n"
        "w = tensor([0.5, 1.5, -1.0], requires_grad=True)\nb = zeros(3, requires_grad=True)\n"
        f"h = {call}\nL = (h ** 3).sum()\n"
    )
    found = formula_of(text, wrt)
    assert found.formula is not None, found.no_formula


def test_numbers_are_few() -> None:
    """A diagonal is as long as its tensor; other Jacobians are told while they can be read."""
    text = "x = ones(20, requires_grad=True)\nL = Square.apply(x * 2).sum()\n"
    assert formula_of(SQUARE + text).formula is not None
    text = "x = (torch.arange({n}.0) * ones({n}, {n}) * 0.1).requires_grad_()\n"
    text += "L = torch.matrix_exp(x * 2).sum()\n"
    assert formula_of(text.format(n=2)).formula is not None
    assert formula_of(text.format(n=3)).no_formula.startswith("no formula: ")


# ---------------------------------------------------------------- random programs

WRITES = (
    "{y}[{i}] = {z}[{j}] * 2", "{y}[1:3] *= 1.5", "{y}[{i}] += {z}[{j}]", "{y}[:2] = {z}[2:]",
    "{y}.view(2, 2)[0] = {z}[:2]", "{y}[::2] = 0.5", "{y}.mul_({z}.detach())", "{y}[{i}] = 3.0",
    "{y}.view(2, 2).t()[1] *= 2",
)  # fmt: skip
MAKES = (
    "{y} * {z}", "Square.apply({y})", "Square.apply({y}) + {z}", "F.layer_norm({y}, (4,))",
    "{y}.as_strided((4,), (1,)) * 2", "{y}.as_strided((2, 2), (1, 2)).reshape(4) + {z}",
    "F.conv1d({y}.view(1, 1, 4), {z}.view(1, 1, 4)[:, :, :3], padding=1).view(4)", "{y}.sin()",
    "F.batch_norm({y}.view(4, 1), None, None, training=True).view(4) * {z}",
)  # fmt: skip


def program(seed: int) -> str:
    """Two leaves; names made of them and written into; L at the end."""
    draw = random.Random(seed)
    lines = [SQUARE.rstrip()]
    for name in ("p", "q"):
        numbers = [round(draw.uniform(-1.5, 1.5), 2) for _ in range(4)]
        lines.append(f"{name} = tensor({numbers}, requires_grad=True)")
    lines += ["a = p * q", "b = p + 0.5"]
    known = ["a", "b"]
    for place in range(draw.randint(2, 4)):
        names = {"y": draw.choice(known), "z": draw.choice(["p", "q", *known])}
        if draw.random() < 0.5:
            made = draw.choice(MAKES).format(**names)
            lines.append(f"t{place} = {made} * 1")
            known.append(f"t{place}")
        else:
            fresh = f"u{place}"
            lines.append(f"{fresh} = {names['y']} * 1")
            names |= {"y": fresh, "i": draw.randrange(4), "j": draw.randrange(4)}
            lines.append(draw.choice(WRITES).format(**names))
            known.append(fresh)
    lines.append(f"L = ({known[-1]} * {draw.choice(known)}).sum()")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_random_programs(first: int) -> None:
    told = asked = 0
    for seed in range(first, first + 20):
        text = program(seed)
        for wrt in ("p", "q"):
            found = formula_of(text, wrt)
            assert report(text, wrt, "L", edges=True).equal, text
            if found.path_count:
                asked += 1
                told += found.formula is not None
    assert told >= 0.8 * asked, (told, asked)
