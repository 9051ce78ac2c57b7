"""Tests of `gradcli grad --order` and `--mode`: Jacobians and Hessians against PyTorch's."""

from __future__ import annotations

import json
from typing import Any

import numpy
import pytest
from oracle import oracle, question
from schemas import fits
from test_cli import answer, gradcli, refused

from gradcli.pipeline.request import Request
from gradcli.questions.derivatives import Options, derivatives_report, recorded
from gradcli.questions.interventions import Interventions
from gradcli.recording.facts import GradReport
from gradcli.render import grad as page, json as documents
from gradcli.render.text import Look

# Inputs, what is computed from them, and the result.
Case = tuple[dict[str, Any], str, str]
CASES: dict[str, Case] = {
    "a number of a number": ({"x": 2.0}, "y = x ** 3 + x.sin()", "y"),
    "a number of vectors": (
        {"x": [1.0, 2.0], "w": 3.0}, "L = (w * x ** 3).sum() + w ** 2", "L"),
    "a vector of a vector": ({"x": [0.5, 1.0, 2.0]}, "y = x.exp() * x.sum()", "y"),
    "a matrix of two matrices": (
        {"A": [[1.0, 2.0], [3.0, 4.0]], "B": [[0.5, 1.0, -1.0], [2.0, 0.0, 1.0]]},
        "C = (A @ B).tanh()", "C"),
    "rosenbrock": (
        {"x": [-1.2, 1.0]}, "f = 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2", "f"),
    "linear": ({"x": [1.0, 2.0]}, "y = 3 * x + 1", "y"),
    "one that does not matter": ({"x": [1.0, 2.0], "u": 4.0}, "y = x * x", "y"),
    "changed in place": (
        {"x": [1.0, 2.0]}, "z = x * 2\nz[0] *= x[1]\nz += x ** 2\ny = z.prod()", "y"),
    "views and joins": (
        {"x": [[1.0, 2.0], [3.0, 4.0]]}, "y = torch.cat([x.T[0] ** 2, x.reshape(-1)[1:].cos()])",
        "y"),
    "a softmax": ({"x": [1.0, 2.0, 0.5]}, "y = torch.log_softmax(x, 0)", "y"),
    "a loss": (
        {"W": [[0.1, -0.2], [0.3, 0.4]], "b": [0.0, 0.1]},
        "x = torch.tensor([[1., 2.], [3., -1.]])\nh = torch.sigmoid(x @ W.T + b)\n"
        "L = F.mse_loss(h, torch.ones(2, 2))", "L"),
    "cut off": ({"x": [1.0, 2.0]}, "y = x * x.detach() + x ** 2", "y"),
    "a norm": ({"x": [3.0, 4.0]}, "y = x.norm()", "y"),
    "not smooth": ({"x": [-1.0, 0.0, 2.0]}, "y = torch.relu(x) * x.abs()", "y"),
    "a branch": ({"x": [1.0, -2.0]}, "y = torch.where(x > 0, x ** 2, x.exp())", "y"),
}  # fmt: skip
PRELUDE = "import torch\nimport torch.nn.functional as F\n"


@question
def derivatives(torch: Any, inputs: dict[str, Any], body: str, result: str) -> list[Any]:
    """The Jacobian and the second derivatives, block by block, and the Jacobian in forward mode."""
    jacobian = torch.autograd.functional.jacobian

    def function(*given: Any) -> Any:
        names: dict[str, Any] = dict(zip(inputs, given, strict=True))
        exec(PRELUDE + body, names)
        return names[result]

    def slopes(*given: Any) -> Any:
        return jacobian(function, given, create_graph=True)

    values = tuple(torch.tensor(value) for value in inputs.values())
    forward = torch.func.jacfwd(function, argnums=tuple(range(len(values))))
    return [
        [block.tolist() for block in jacobian(function, values)],
        [[part.tolist() for part in row] for row in jacobian(slopes, values)],
        [block.tolist() for block in forward(*values)],
    ]


def program(case: Case) -> str:
    inputs, body, _ = case
    leaves = "".join(
        f"{name} = torch.tensor({value!r}, requires_grad=True)\n" for name, value in inputs.items()
    )
    return leaves + body + "\n"


def told(text: str, **options: Any) -> GradReport:
    options = {"order": 2, "mode": "both", **options}
    chosen = Options(**options)
    done = recorded(
        Request(text.encode(), "p.expr", retain_graph=True), None, Interventions(), chosen
    )
    assert done.ran.error is None, done.ran.error
    return derivatives_report(done, chosen)[1]


def shown(text: str, width: int = 80, **options: Any) -> str:
    return page.text(told(text, **options), Look(False, True, width))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_block_is_pytorchs(case: Case, mode: str) -> None:
    inputs, _, result = case
    first, second, forward = oracle.ask("derivatives", *case)
    fact = told(program(case), of=(result,), wrt=tuple(inputs), mode=mode).derivatives
    assert fact is not None
    blocks = {block.wrt: block for block in (*fact.blocks, *fact.second)}
    for name, expected in zip(inputs, forward if mode == "forward" else first, strict=True):
        same(blocks[name,].value, expected)
    for name, row in zip(inputs, second, strict=True):
        for other, expected in zip(inputs, row, strict=True):
            same(blocks[name, other].value, expected)


def same(found: Any, expected: Any) -> None:
    one, other = numpy.asarray(found, "float64"), numpy.asarray(expected, "float64")
    assert one.size == other.size
    assert numpy.allclose(one.reshape(-1), other.reshape(-1), rtol=2e-5, atol=2e-6, equal_nan=True)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_both_modes_agree(case: Case) -> None:
    inputs, _, result = case
    fact = told(program(case), of=(result,), wrt=tuple(inputs)).derivatives
    assert fact is not None and fact.agreement is not None and fact.agreement.equal


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_documents_fit_their_schema(case: Case) -> None:
    document = json.loads("".join(documents.grad(told(program(case), of=(case[2],)))))
    fits(document, "gradcli.grad-1")


# ---------------------------------------------------------------- what a person reads

VECTORS = program(CASES["a number of vectors"])


def test_rows_and_columns_have_names() -> None:
    assert shown(VECTORS).splitlines()[2:] == [
        "Jacobian of L: d row / d column",
        "   x[0]  x[1]    w",
        "L    9.   36.  15.",
        "",
        "Hessian of L: second derivatives of L by row and column",
        "      x[0]  x[1]    w",
        "x[0]   18.    0.   3.",
        "x[1]    0.   36.  12.",
        "w       3.   12.   2.",
        "eigenvalues -2.214 to 39.85: indefinite, a saddle where the gradient is zero",
        "",
        "forward mode and reverse mode agree exactly: first and second derivatives",
    ]


def test_hooks_are_left_out_and_equal_eigenvalues_are_one() -> None:
    text = "x = torch.tensor([3., -4.], requires_grad=True)\ny = x ** 2\n"
    hook = "y.register_hook(lambda g: g * 0.5)\n"
    for program, is_told in (text + hook, True), (text, False):
        page = shown(f"{program}L = y.sum()\nL.backward()\n")
        assert "L    6.   -8." in page and "every eigenvalue is 2: positive definite" in page
        assert ("the program's hooks are left out" in page) == is_told


def test_a_vector_has_a_hessian_for_each_element() -> None:
    text = shown(program(CASES["a vector of a vector"]), mode=None)
    assert [line.split(":")[0] for line in text.splitlines() if "Hessian" in line] == [
        "Hessian of y[0]", "Hessian of y[1]", "Hessian of y[2]",
    ]  # fmt: skip


def test_without_an_order_gradients_are_printed_as_ever() -> None:
    text = shown(VECTORS, order=None)
    assert text.splitlines()[2:] == [
        "dL/dx = tensor([ 9., 36.])",
        "dL/dw = tensor(15.)",
        "",
        "forward mode and reverse mode agree exactly: every derivative",
    ]


def test_columns_that_do_not_fit_stand_below() -> None:
    text = "x = torch.arange(30.).requires_grad_()\ny = (x ** 2)[:2] * x.sum()\n"
    narrow, wide = shown(text, 60, order=1, mode=None), shown(text, 400, order=1, mode=None)
    assert max(map(len, narrow.splitlines())) <= 60 and "…" not in narrow
    assert narrow.count("\ny[1]") > 1 == wide.count("\ny[1]")
    assert narrow.count("x[29]") == 1


def test_of_a_large_matrix_the_ends_are_shown() -> None:
    text = "x = torch.ones(200, requires_grad=True)\ny = x * x.sum()\n"
    rows = shown(text, 100, order=1, mode=None).splitlines()
    assert [row.split()[0] for row in rows[-8:-1]] == [
        "y[0]", "y[1]", "y[2]", "…", "y[197]", "y[198]", "y[199]",
    ]  # fmt: skip
    assert rows[-1] == "  … of 40,000 elements; --format json has all"


def test_what_is_too_large_is_refused() -> None:
    text = "x = torch.ones(2000, requires_grad=True)\nL = (x ** 2).sum()\n"
    said = refused(2, "grad", "--order", "2", stdin=text)
    assert "the Hessian of L has 4,000,000 elements, more than 1,000,000" in said
    assert "--wrt NAMES asks for fewer" in said


def test_nothing_and_nan() -> None:
    for text in ("y = (x * 2).sum()", "y = (x * 2).sum() + w ** 2", "y = x * w"):
        empty = program(({"x": [], "w": 3.0}, text, "y"))
        assert "agree exactly" in shown(empty)
    assert "  empty: 0 rows, 1 column" in shown(empty)
    text = "x = torch.tensor([0., 1.], requires_grad=True)\ny = (x * 0 / x).sqrt()\n"
    out = shown(text, order=1)
    assert "nan" in out and "agree exactly" in out
    document = json.loads("".join(documents.grad(told(text, order=1))))
    assert document["derivatives"]["jacobian"]["values"][0] == ["nan", 0.0] or (
        document["derivatives"]["jacobian"]["values"][0][0] == "nan"
    )
    assert "no result" in refused(3, "grad", "--order", "2", stdin="a = 3\n")


def test_names_of_a_program_do_no_harm() -> None:
    text = "d = {'\\x1b[31m': torch.tensor(2.0, requires_grad=True)}\ny = d['\\x1b[31m'] ** 2\n"
    out = shown(text)
    assert "\x1b" not in out and "\nd['\\x1b[31m']" in out


def test_intermediate_values_and_weights() -> None:
    text = "x = torch.tensor(2., requires_grad=True)\nb = x ** 2\nL = b ** 3\n"
    assert shown(text, wrt=("b",)).splitlines()[7:9] == ["     b", "b  24."]
    weighted = shown("x = torch.tensor([1., 2.], requires_grad=True)\ny = x ** 2\n",
                     grad_output="[1.0,10.0]")  # fmt: skip
    assert "Hessian of ([1.0,10.0] * y).sum()" in weighted and "x[1]    0.   20." in weighted


def test_what_does_not_depend_is_reported() -> None:
    text = program(CASES["one that does not matter"])
    assert ": its derivatives are zeros" in shown(text, wrt=("u",), of=("y",))


def test_a_pass_of_a_training_loop_is_differentiated_as_it_was() -> None:
    text = (
        "w = torch.tensor(2., requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\n"
        "for i in range(3):\n    opt.zero_grad()\n    loss = w ** 3\n    loss.backward()\n"
        "    opt.step()\n"
    )
    first = told(text, number=1).derivatives
    assert first is not None and first.jacobian is not None
    assert first.jacobian.values == ((12.0,),) and first.hessians[0].values == ((12.0,),)


WRONG = """\
class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x ** 2
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.save_for_forward(inputs[0])
    @staticmethod
    def backward(ctx, g):
        return g * 3 * ctx.saved_tensors[0]
    @staticmethod
    def jvp(ctx, t):
        return t * 2 * ctx.saved_tensors[0]
x = torch.tensor([1., 2.], requires_grad=True)
y = Wrong.apply(x).sum()
"""


def test_a_wrong_backward_is_found_by_the_other_mode() -> None:
    done = gradcli("grad", "--mode", "both", stdin=WRONG)
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines()[-1] == (
        "forward mode and reverse mode differ: dy / dx[1] is 4 in forward mode, 6 in reverse mode"
    )


def test_the_words_of_the_command() -> None:
    assert "Hessian of L" in answer("grad", "--order", "2", stdin=VECTORS)
    assert "'3' is not an order: 1 and 2 are" in refused(2, "grad", "--order", "3", stdin=VECTORS)
    assert "--mode" in refused(2, "grad", "--mode", "sideways", stdin=VECTORS)
    printing = VECTORS + "print('once')\nx.register_hook(lambda g: print('never'))\n"
    assert answer("grad", "--order", "2", "--mode", "both", stdin=printing).count("once") == 1
    assert "never" not in answer("grad", "--order", "2", stdin=printing)


def test_pytorch_itself_gives_the_same_page(tmp_path: Any) -> None:
    if not oracle.has_torch:
        pytest.skip("PyTorch is not installed")
    for name in ("a number of vectors", "a vector of a vector"):
        (tmp_path / "p.py").write_text("import torch\n" + program(CASES[name]))
        file = str(tmp_path / "p.py")
        own, live = (answer("grad", file, "--order", "2", "--engine", engine)
                     for engine in ("own", "torch"))  # fmt: skip
        assert own == live
    said = refused(2, "grad", str(tmp_path / "p.py"), "--mode", "both", "--engine", "torch")
    assert "PyTorch's own graph can only be walked back" in said


FAR = """\
a = torch.tensor(2., requires_grad=True)
w = torch.tensor(3., requires_grad=True)
u = torch.tensor(4., requires_grad=True)
b = a * 2
c = b + 1
L = w * c.detach()
"""


@pytest.mark.parametrize("ending", ["", "L.backward()\n"], ids=["computed", "of a pass"])
def test_how_far_a_tensor_came(ending: str) -> None:
    page = answer("grad", "--wrt", "a,u", stdin=FAR + ending)
    assert "dL/da = None   L does not depend on a; a came as far as c, line 5\n" in page
    assert "dL/du = None   L does not depend on u, and nothing with a name does\n" in page
