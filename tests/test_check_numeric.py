"""Tests of the numeric check: right gradients agree, wrong ones are found and named."""

from __future__ import annotations

import math
import random
from importlib import import_module
from typing import Any

import pytest
from operands import KINDS
from program_generator import program as written

from gradcli import namespace
from gradcli.operators import catalogue
from gradcli.questions.check import check
from gradcli.questions.check.numeric.points import Tolerance
from gradcli.questions.check.numeric.quotient import Sides, quotient
from gradcli.questions.check.options import CheckOptions
from gradcli.questions.ops.sample_operands import DOUBLE, FIXED, FLOATING
from gradcli.recording.facts.check import FileCheck, LeafCheck


def checked(text: str, **options: Any) -> FileCheck:
    return check(None, "program.expr", text.encode(), CheckOptions(**options))


def leaves(text: str) -> dict[str, LeafCheck]:
    fact = checked(text)
    assert fact.error is None, fact.error
    return {leaf.leaf: leaf for leaf in fact.leaves}


# ---------------------------------------------------------------- right gradients agree

X = "x = tensor([0.5, -1.2, 2.0], requires_grad=True)\n"
RIGHT = {
    "elementwise": X + "L = (x.sin() * x.exp() + x.abs().sqrt()).sum()\n",
    "matrix": "w = torch.randn(3, 4, requires_grad=True)\nL = (w @ w.T).logsumexp(0).sum()\n",
    "non-scalar result": X + "y = torch.outer(x, x).softmax(1)\n",
    "branches": X + "L = sum(v * 2 if v > 0 else v**3 for v in x)\n",
    "loop": X + "y = x\nfor i in range(20):\n    y = torch.tanh(y) + x * i\nL = y.mean()\n",
    "detach": X + "L = (x * x.detach()).sum()\n",
    "item": X + "L = (x * x[0].item()).sum() + float(x[1]) * x[2]\n",
    "no_grad": X + "with torch.no_grad():\n    s = x.sum()\nL = (x * s).sum()\n",
    "data": X + "L = (x.data * x).sum()\n",
    "comparison": X + "L = torch.where(x > 0, x**2, -x).sum()\n",
    "argmax": X + "L = x[x.argmax()] * (x * x).max()\n",
    "in place": X + "y = x * 2\ny.mul_(x)\ny += 1\nL = (y**2).sum()\n",
    "in place on a view": X + "y = x * 2\ny[1:] *= 3\ny[0] = x[2]\nL = (y * x).sum()\n",
    "into a constant": X + "b = torch.zeros(3)\nb[0] = x[0] * 2\nb[1:] = x[1:].exp()\n"
                          "L = (b * b).sum()\n",
    "views of views": X + "y = (x * x).reshape(3, 1).expand(3, 2).T\nv = y[0, 1:]\n"
                         "L = v.sum() * y.sum()\n",
    "transposed in place": X + "y = torch.outer(x, x)\ny.t_()\ny[0].add_(x)\nL = (y**3).sum()\n",
    "unbind and split": X + "a, b, c = x.unbind()\nd, e = (x * 2).split([1, 2])\n"
                           "L = a * b + c * e.sum() * d[0]\n",
    "random": X + "L = (F.dropout(x, 0.5) * torch.randn(3) + torch.rand_like(x) * x).sum()\n",
    "second order": X + "L = (x**3).sum()\ng, = autograd.grad(L, x, create_graph=True)\n"
                       "M = (g * x).sum()\nM.backward()\n",
    "gradient as a constant": X + "L = (x**3).sum()\ng, = autograd.grad(L, x)\nM = (g * x).sum()\n"
                                 "M.backward()\n",
    "hooks": X + "x.register_hook(lambda g: g * 5)\nL = (x**2).sum()\nL.backward()\n",
    "training": X + "for i in range(10):\n    L = ((x - 1) ** 2).sum()\n    x.grad = None\n"
                   "    L.backward()\n    with torch.no_grad():\n        x -= 0.1 * x.grad\n",
    "data assigned": X + "for i in range(3):\n    L = ((x - 1) ** 4).sum()\n    x.grad = None\n"
                        "    L.backward()\n    x.data = x.data - 0.01 * x.grad\n",
    "optimiser": "torch.manual_seed(0)\nnet = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), "
                 "nn.Linear(3, 1))\nopt = optim.Adam(net.parameters())\nfor i in range(3):\n"
                 "    loss = net(torch.ones(4, 2)).square().mean()\n    opt.zero_grad()\n"
                 "    loss.backward()\n    opt.step()\n",
    "complex": "z = torch.tensor([1 + 2j, -0.5j], requires_grad=True)\nL = (z * z).abs().sum()\n",
    "half": "x = torch.tensor([0.5, 1.5], dtype=torch.float16, requires_grad=True)\n"
            "L = (x.exp() * x).sum()\n",
    "types meet": X + "d = x.double() * tensor([1, 2, 3])\nL = (d.float() ** 2).sum()\n",
    "cancellation": "x = tensor(3.0, requires_grad=True)\nL = (x * 1e-3 + 1e6) - 1e6\n",
    "tiny values": "x = tensor(1e-6, requires_grad=True)\nL = x.log() + x.sqrt()\n",
    "large values": "x = tensor(1e6, requires_grad=True)\nL = x**2 + x.sqrt()\n",
    "steep": "x = tensor(0.01, requires_grad=True)\nL = torch.sin(1 / x)\n",
    "one leaf twice": X + "y = torch.stack([x, x, x])\nL = (y.T @ y).trace()\n",
    "unused part": X + "u = tensor(2.0, requires_grad=True)\nL = x.sum() + u * 0\n",
    "a right function": X + "class Cube(autograd.Function):\n    @staticmethod\n"
        "    def forward(ctx, x):\n        ctx.save_for_backward(x)\n        return x**3\n"
        "    @staticmethod\n    def backward(ctx, g):\n        x, = ctx.saved_tensors\n"
        "        return g * 3 * x**2\nL = Cube.apply(x).sum()\n",
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right_gradients_agree(name: str) -> None:
    found = leaves(RIGHT[name])
    assert found
    for leaf in found.values():
        assert (leaf.status, leaf.cause) == ("equal", ""), leaf


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_no_false_alarm_in_random_programs(first: int) -> None:
    """In-place operations, views, types that meet, second derivatives: whatever comes up."""
    for seed in range(first, first + 20):
        fact = checked(written(seed))
        for leaf in fact.leaves:
            assert leaf.status in ("equal", "undefined"), (seed, leaf)


# PyTorch's derivatives of these are not the slope: polar of negative lengths, windows of memory.
ODD = ("torch.polar(x, y)", "torch.as_strided_scatter(x, a[:2, :2], (2, 2), (1, 2))",
       "(x / 0).nan_to_num(1.0, 2.0, 3.0)")  # fmt: skip
RESULT = """
parts = [v for v in (out if isinstance(out, (tuple, list)) else [out])
         if isinstance(v, torch.Tensor) and v.requires_grad]
if parts:
    total = sum((abs(v).sum() if v.is_complex() else (v * v + v).sum()) for v in parts)
    total.backward()
"""


def given(lines: list[str]) -> str:
    """The operands of the catalogue's samples, as a program makes them."""
    for name, values in {**FLOATING, **DOUBLE}.items():
        kind = ", dtype=torch.float64" if name in DOUBLE else ""
        lines.append(f"{name} = torch.tensor({values!r}{kind}, requires_grad=True)")
    for name, values in FIXED.items():
        lines.append(f"{name} = torch.tensor({values!r}, dtype=torch.{KINDS[name]})")
    return "\n".join(lines)


def samples() -> list[str]:
    namespace.resolve("tensor")
    rows = catalogue.rows.values()
    found = dict.fromkeys(text for row in rows for text in getattr(row, "samples", ()))
    return [text for text in sorted(found) if text not in ODD]


def test_operators_agree_with_their_quotients() -> None:
    """A part of the catalogue's samples, as programs; a kink is told as one."""
    operands = given([])
    count = 0
    for text in samples()[::9]:
        for leaf in checked(f"{operands}\nout = {text}{RESULT}").leaves:
            count += 1
            assert leaf.status != "different" or leaf.cause.startswith("kink"), (text, leaf)
    assert count > 150


def test_functions_that_print_print_once() -> None:
    text = FUNCTION.format(forward="print('forward') or x * x", backward="g * x")
    fact = checked(text + X + "L = Own.apply(x).sum()\n")
    assert fact.output == "forward\n" and fact.exit_code == 1


def test_large_leaves_are_sampled() -> None:
    found = leaves("w = torch.ones(40, 50, requires_grad=True)\nL = (w.sin() * w).sum()\n")
    leaf = found["w"]
    assert (leaf.elements, leaf.total, leaf.directions) == (16, 2000, 2)
    assert leaf.status == "equal"


def test_a_wrong_element_of_a_large_leaf_is_found() -> None:
    text = FUNCTION.format(forward="x * x", backward="(g * x * 2).index_fill(0, i, 9.0)")
    text = text.replace("def backward(ctx, g):", "def backward(ctx, g):\n        i = tensor([137])")
    found = leaves(f"{text}x = torch.linspace(1.0, 2.0, 500, requires_grad=True)\n"
                   "L = Own.apply(x).sum()\n")  # fmt: skip
    assert found["x"].status == "different"


# ---------------------------------------------------------------- wrong ones are named

FUNCTION = """\
class Own(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return {forward}
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return {backward}
"""
WRONG = {
    "half": ("x * x", "g * x", "it gives 0.5 times the derivative"),
    "sign": ("x.sin()", "-g * x.cos()", "it gives -1 times the derivative"),
    "another function": ("x.exp()", "g * x", "the backward of Own is wrong"),
    "one element": ("x * 2", "g * tensor([2.0, 2.0, 5.0])", "the backward of Own is wrong"),
    "zero": ("x * 2", "g * 0", "the backward of Own is wrong"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_backward(name: str) -> None:
    forward, backward, cause = WRONG[name]
    program = FUNCTION.format(forward=forward, backward=backward)
    program += X + "u = tensor(2.0, requires_grad=True)\n"
    program += "h = (x * 3).exp()\nL = (Own.apply(h) * u).sum() + h.mean()\n"
    found = leaves(program)
    leaf = found["x"]
    assert leaf.status == "different" and cause in leaf.cause
    (edge,) = leaf.edges
    assert (edge.node, edge.text, edge.line) == ("OwnBackward", "Own.apply(h)", 13)
    assert found["u"].status == "equal"  # u comes in behind the function
    if name == "one element":
        assert edge.element == (2,)


def test_a_straight_through_estimator_is_reported() -> None:
    """Right or wrong is the author's to say; that it is no derivative is a fact."""
    found = leaves(FUNCTION.format(forward="x.round()", backward="g") + X +
                   "L = (Own.apply(x) * x).sum()\n")  # fmt: skip
    assert found["x"].status == "different"


KINKS = {
    "relu": "x = tensor([0.0, 1.0], requires_grad=True)\nL = x.relu().sum()\n",
    "two maxima": "x = tensor([2.0, 2.0], requires_grad=True)\nL = x.max(0).values\n",
    "clamp": "x = tensor([1.0], requires_grad=True)\nL = x.clamp(max=1.0).sum()\n",
    "a jump": "x = tensor([2.0], requires_grad=True)\nL = (x.floor() + x).sum()\n",
}


@pytest.mark.parametrize("name", KINKS)
def test_kinks(name: str) -> None:
    fact = checked(KINKS[name])
    assert fact.exit_code == 0
    (leaf,) = fact.leaves
    assert leaf.status == "kink" and len(leaf.edges) == 1
    said = "the value jumps by 1" if name == "a jump" else "the slope is"
    assert leaf.cause.startswith("kink: the slope is") and said in fact.notes[-1]


KINKED = {  # program: the expression that has the kink
    "x.abs()": "abs", "x.relu()": "relu", "torch.max(x, torch.zeros(3))": "max",
    "torch.minimum(x, -x)": "minimum", "torch.where(x > 0, x, -x)": "where",
    "torch.norm(x[:1])": "norm", "torch.sort(x[:2] * 0).values * tensor([1., 3.])": "sort",
    "x.clamp(min=0)": "clamp", "F.hardtanh(x, 0., 5.)": "hardtanh", "F.leaky_relu(x)": "leaky",
    "torch.amax(x[:2] * 0) * 2": "amax", "F.l1_loss(x, torch.zeros(3))": "l1_loss",
    "torch.cdist(x[None, :1], torch.zeros(1, 1))": "cdist", "F.hardswish(x - 3)": "hardswish",
    "torch.where(x > 0, x, 0.)": "where a number", "torch.where(x < 0, 0., x)": "else a number",
    "x.masked_fill(x < 0, 0.) * 2": "masked_fill", "torch.sign(x)": "sign",
    "x % 4.": "remainder",
}  # fmt: skip


@pytest.mark.parametrize("call", KINKED, ids=KINKED.values())
def test_kinks_and_ties_are_reported(call: str) -> None:
    """From both sides, also where the central quotient is the gradient; they fail where asked."""
    text = f"x = tensor([0.0, 1.0, -2.0], requires_grad=True)\ny = {call}\nL = (y * 1.5).sum()\n"
    fact = checked(text)
    assert fact.exit_code == 0 and [edge.line for edge in fact.kinks] == [2]
    assert any(f"line 2: {fact.kinks[0].text} has no derivative here" in n for n in fact.notes)
    failed = checked(text, fail_on=("kink",))
    assert [(p.kind, p.line) for p in failed.problems] == [("kink", 2)]
    assert checked(text, fail_on=("kink",), allow=("kink",)).exit_code == 0
    beside = text.replace("0.0,", "0.5,").replace("x[:2] * 0", "x[:2]").replace("- 3", "- 2.8")
    assert checked(beside, fail_on=("kink",)).exit_code == 0


@pytest.mark.parametrize(
    "call",
    ["torch.where(torch.tensor([True, False, False]), x * 0, 0.)",  # both are flat
     "torch.where(torch.tensor([True, False, True]), x[:1].expand(3), 0.)",  # compares nothing
     "torch.where(x > 0, x.exp() - 1, x)"],
)  # fmt: skip
def test_a_choice_that_is_no_kink(call: str) -> None:
    text = f"x = tensor([0.0, 1.0, -2.0], requires_grad=True)\nL = ({call}).sum()\n"
    assert checked(text).kinks == ()


CANCELLING = """\
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 3
    @staticmethod
    def backward(ctx, grad):
        return grad * 6
class Half(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 3
    @staticmethod
    def backward(ctx, grad):
        return grad * 1.5
x = tensor([0.5, 1.0], requires_grad=True)
loss = Half.apply(Twice.apply(x)).sum()
loss.backward()
"""


def test_wrong_derivatives_that_cancel() -> None:
    fact = checked(CANCELLING)
    assert [leaf.status for leaf in fact.leaves] == ["equal"] and fact.exit_code == 1
    told = [(problem.kind, problem.line, problem.label) for problem in fact.problems]
    assert told == [
        ("gradient", 16, "TwiceBackward passes 6 to x[1], the slope is 3"),
        ("gradient", 16, "HalfBackward passes 1.5 to argument 1[1], the slope is 3"),
    ]


def test_a_wrong_derivative_that_does_not_arrive() -> None:
    fact = checked(CANCELLING.replace("grad * 1.5", "grad * 3").replace(").sum()", ").sum() * 0"))
    (problem,) = fact.problems
    assert problem.message == "TwiceBackward is wrong by itself, although the gradients agree"


@pytest.mark.parametrize("seed", range(60))
def test_nothing_is_reported_about_smooth_programs(seed: int) -> None:
    text = smooth_program(random.Random(seed))
    fact = checked(text, fail_on=("kink",))
    assert (fact.problems, fact.kinks) == ((), ()), text
    assert all(leaf.status in ("equal", "float32") for leaf in fact.leaves), (text, fact.leaves)


SMOOTH = (
    "torch.tanh({a})", "torch.sin({a}) * {b}", "{a} * {b} + 0.5", "torch.sigmoid({a}) - {b}",
    "F.softplus({a})", "{a} / (1 + {b} * {b})", "torch.exp(-{a} * {a})", "{a}.softmax(-1)",
    "F.gelu({a}) + {b}", "torch.logsumexp({a}, 1, keepdim=True) * {b}", "F.silu({a} - {b})",
    "({a} @ {b}.T).cos()[:, :3]", "F.layer_norm({a}, (3,))", "torch.log1p({a} * {a})",
    "({a} ** 3).atan()", "torch.sqrt({a} * {a} + 1e-3)", "torch.where(m > 0, {a}, {b})",
    "F.mse_loss({a}, {b}, reduction='none')", "torch.cat([{a}[:1], {b}[1:]])", "{a}.cumsum(0)",
)  # fmt: skip


def smooth_program(random: random.Random) -> str:
    """Some smooth operations after one another on random numbers."""
    lines = [f"torch.manual_seed({random.randrange(10**6)})",
             "x, w = torch.randn(2, 3, 3).unbind()", "x.requires_grad_(), w.requires_grad_()",
             "m = torch.randn(3, 3)"]  # fmt: skip
    names = ["x", "w"]
    for number in range(random.randrange(3, 9)):
        a, b = random.choice(names), random.choice(names)
        lines.append(f"y{number} = {random.choice(SMOOTH).format(a=a, b=b)}")
        names.append(f"y{number}")
    lines.append(f"L = ({' + '.join(names[-2:])}).sum()\nL.backward()")
    return "\n".join(lines) + "\n"


def test_a_kink_somewhere_else_is_none() -> None:
    near = "x = tensor([1e-3, -1e-3, 0.5], requires_grad=True)\nL = (x.relu() * x.abs()).sum()\n"
    assert leaves(near)["x"].status == "equal"


def test_masked_nan() -> None:
    text = "x = tensor([0.0, 4.0], requires_grad=True)\n"
    fact = checked(f"{text}y = torch.where(x > 0, x.sqrt(), torch.zeros(2)).sum()\ny.backward()\n")
    (leaf,) = fact.leaves
    assert leaf.status == "different" and leaf.words == ("nan",)
    assert [(edge.node, edge.text) for edge in leaf.edges] == [("SqrtBackward0", "x.sqrt()")]


def test_no_slope_is_said_to_be_0_where_nan_is() -> None:
    text = "x = tensor([0.0, 4.0, -1.0], requires_grad=True)\n"
    fact = checked(f"{text}y = torch.where(x > 0, x.sqrt(), torch.zeros(3)).sum()\ny.backward()\n")
    (problem,) = fact.problems
    assert problem.label == "passes nan to x"
    cause = "cause: SqrtBackward0 multiplies 0 by a slope that is infinite or NaN"
    assert problem.advice == (cause,)


def test_what_is_not_finite_is_followed_to_where_it_came_from() -> None:
    text = ("x = tensor([0.0, 1.0, 4.0], requires_grad=True)\n"
            "y = x.log()\nL = y.exp().sum() / 0.0\nL.backward()\n")  # fmt: skip
    told = [(one.message, one.line, one.label) for one in checked(text).problems]
    assert told == [  # log makes an infinity too, which goes into nothing
        ("L is inf", 3, "inf from here on"),
        ("x.grad is nan", 3, "an infinite slope on the way back"),
        ("x.grad is inf", 3, "inf from here on"),
    ]
    text = "b = torch.ones(2)\nw = tensor(0.0, requires_grad=True)\nb[1] = 1 / w\nL = b.sum()\n"
    assert checked(text, fail_on=("inf",)).problems[0].line == 3


def test_what_is_not_finite_is_no_mistake() -> None:
    for text in ("L = x.sqrt()", "L = x.log()", "L = x * 0 / x", "L = (1 / x)"):
        fact = checked(f"x = tensor(0.0, requires_grad=True)\n{text}\n")
        assert (fact.exit_code, fact.leaves[0].status) == (1, "undefined"), text  # it is not finite
        fact = checked(f"# check: allow nan,inf\nx = tensor(0.0, requires_grad=True)\n{text}\n")
        assert (fact.exit_code, fact.leaves[0].status) == (0, "undefined"), text


def test_single_precision_is_noted() -> None:
    text = "x = tensor(0.01, requires_grad=True)\nL = (1 - x.cos()) / x**2\n"
    fact = checked(text)
    assert (fact.exit_code, fact.leaves[0].status) == (0, "float32")
    assert "rounding spoils this gradient" in fact.notes[0]
    assert checked(text, dtype="float64").leaves[0].status == "equal"


def test_what_rounding_hides_is_unclear() -> None:
    """A term of 1e64 beside one of 1: no difference of the sum can show the second."""
    text = "x = torch.tensor([1.0, 1e32], dtype=torch.float64, requires_grad=True)\n"
    fact = checked(text + "L = (x * x.abs()).sum()\n")
    assert (fact.exit_code, fact.leaves[0].status) == (0, "unclear")
    assert leaves(text + "L = (x * x).sum()\n")["x"].status == "equal"  # by a complex step


def test_conventions() -> None:
    """Rows that pad get no gradient; what is drawn at random is a number."""
    text = "w = torch.ones(3, 2, requires_grad=True)\ni = tensor([0, 1, 0, 2])\n"
    fact = checked(text + "L = (F.embedding(i, w, padding_idx=0) ** 2).sum()\n")
    assert fact.exit_code == 0
    fact = checked(
        X + "L = (torch.normal(x, 1.0) * x).sum() + torch.bernoulli(x.sigmoid()).sum()\n"
    )
    assert [leaf.status for leaf in fact.leaves] == ["equal"]


def test_symmetric_matrices() -> None:
    text = "A = tensor([[2.0, 0.5], [0.5, 1.0]], requires_grad=True)\n"
    fact = checked(text + "L = torch.linalg.cholesky(A).sum()\n")
    assert (fact.exit_code, fact.leaves[0].status) == (0, "unclear")


# ---------------------------------------------------------------- what can't be checked


def test_programs_without_leaves() -> None:
    fact = checked("print(torch.ones(2) * 2)\n")
    assert (fact.status, fact.leaves) == ("passed", ())
    assert "no gradient to check: no result requires grad" in fact.notes


def test_damaged_results_are_noted() -> None:
    fact = checked("x = tensor(1.0, requires_grad=True)\ny = x.exp()\ny += 1\n")
    assert fact.status == "passed" and "not checked numerically" in fact.notes[0]


def test_long_programs_are_bounded() -> None:
    text = "x = tensor(1.0, requires_grad=True)\ny = x\nfor _ in range({}):\n    y = y * 1.0001\n"
    assert checked(text.format(3000)).leaves[0].status == "equal"
    fact = checked(text.format(100_001))
    assert fact.status == "passed" and "more than 100,000 operations" in fact.notes[0]


def test_tolerance() -> None:
    wrong = FUNCTION.format(forward="x * x", backward="g * x * 2.0002")
    wrong += X + "L = Own.apply(x).sum()\n"
    assert checked(wrong).exit_code == 1
    assert checked(wrong, tolerance=Tolerance(rtol=1e-3)).exit_code == 0


def test_results_are_what_was_differentiated() -> None:
    fact = checked(X + "a = x.sum()\nb = (x**2).sum()\na.backward()\nb.backward()\nc = x.prod()\n")
    assert [leaf.result for leaf in fact.leaves] == ["a", "b"]
    assert [leaf.result for leaf in checked(X + "a = x.sum()\nb = a * 2\nc = x * 3\n").leaves] == [
        "b", "c",
    ]  # fmt: skip


# ---------------------------------------------------------------- quotients


@pytest.mark.parametrize(
    ("function", "slope"),
    [
        (lambda h: math.sin(1 + h), math.cos(1)),
        (lambda h: (1e8 + h) ** 1, 1.0),
        (lambda h: math.exp(50 * h), 50.0),
        (lambda h: math.log(1e-5 + h) if h > -1e-5 else math.nan, 1e5),
        (lambda h: math.sin(300 * (0.3 + h)), 300 * math.cos(90)),
    ],
)
def test_quotient(function: Any, slope: float) -> None:
    found = quotient(sides_of(function), 1.0, lambda value: 1e-9 * (1 + abs(value)))
    assert found.value == pytest.approx(slope, rel=1e-5)
    assert abs(found.value - slope) <= 10 * found.error + 1e-9 * abs(slope)


def sides_of(function: Any) -> Any:
    middle = function(0.0)
    return lambda step: Sides(
        function(step) - middle, middle - function(-step), abs(function(step))
    )  # fmt: skip


def test_a_quotient_beside_the_domain() -> None:
    found = quotient(sides_of(lambda h: math.nan), 1.0, lambda value: 1e-9)
    assert not found.finite


def test_a_complex_step_where_the_program_allows_it() -> None:
    text = X + "L = (x.sin() * x.exp()).sum()\n"
    assert leaves(text)["x"].by == "complex step"
    assert leaves(text.replace("x.exp()", "x.abs()"))["x"].by == "differences"
    own = FUNCTION.format(forward="x * x", backward="g * 2 * x")
    assert leaves(own + X + "L = Own.apply(x).sum()\n")["x"].by == "differences"


def test_a_complex_step_finds_what_differences_lose() -> None:
    """Numbers that are large and hardly move leave no digits to a difference."""
    text = X + "L = (x * 1e-9 + 1e8).sum() * 1.0\n"
    (leaf,) = leaves(text).values()
    assert (leaf.status, leaf.by) == ("equal", "complex step")
    assert leaf.numeric == pytest.approx(1e-9, rel=1e-12)


def test_runs_that_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    repeated = import_module("gradcli.questions.check.repeated")
    text = X + "y = torch.rand(3) * x\ny.sum().backward()\n"
    assert checked(text, repeat=3).exit_code == 0
    plain = repeated.execute

    def execute(request: Any, write: Any, recording: Any) -> Any:
        changed = request.data.replace(b"rand(3)", b"rand(3, dtype=torch.float64).float()")
        return plain(request._replace(data=changed), write, recording)

    monkeypatch.setattr(repeated, "execute", execute)
    (problem,) = checked(text, repeat=2).problems
    assert (problem.kind, problem.line) == ("repeat", 1)
    assert problem.message.startswith("run 2 of 2 gives other bits than the first: x.grad is ")


def test_a_backward_that_gives_another_gradient_each_time() -> None:
    text = FUNCTION.format(forward="x * x", backward="g * 2 * x * torch.rand(3)")
    fact = checked(text + X + "L = Own.apply(x).sum()\nL.backward()\n")
    (problem,) = fact.problems
    assert problem.advice[0] == "cause: the backward of Own gives another gradient each time"


def test_a_result_is_not_named_by_one_whose_memory_it_took() -> None:
    """Tensors that are gone leave their place to others."""
    text = "x = torch.ones(2, requires_grad=True)\n"
    text += "for i in range(50):\n    try:\n        torch.ones(1).sum().backward()\n"
    text += "    except RuntimeError:\n        pass\n    (x * 2).sum().backward()\n"
    fact = check(None, "p.expr", text.encode(), CheckOptions())
    assert [(leaf.result, leaf.result_line) for leaf in fact.leaves] == [("(x * 2).sum()", 7)]
