"""Tests of `gradcli paths` over tensors: Jacobians edge by edge, elements, structures."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest
from program_generator import program as tensor_program
from test_paths import LAYER, parsed, printed, report

from gradcli.opening import UsageError
from gradcli.render import json as documents  # noqa: F401  (the package loads without the engine)


def test_tensors_edge_by_edge() -> None:
    found = report(LAYER, "W", "L")
    steps = found.paths[0].steps
    assert [step.structure for step in steps] == ["sum", "diagonal", "matrix-vector product"]
    assert [step.shape for step in steps] == [(1, 2), (2, 2), (2, 4)]
    assert found.equal and not found.single and found.path_count == 2
    total = sum(path.share for path in found.paths)  # type: ignore[misc]
    assert math.isclose(total, 1, rel_tol=1e-6)
    parsed(found)


def test_a_long_expression_does_not_hide_which_edge_a_row_is() -> None:
    text = "x = torch.ones(2, requires_grad=True)\nout = x * 3\n((out - 1) ** 2).sum().backward()"
    shown = printed(report(text, "x"))
    assert "  d(…)/dout" in shown and "dout/dx" in shown


@pytest.mark.parametrize("width", [40, 60, 80])
def test_the_leaf_is_named_in_full_on_a_narrow_terminal(width: int) -> None:
    name = "net.a_block_with_a_name.another_parameter_of_it"
    text = (
        "net = nn.Module()\nnet.a_block_with_a_name = nn.Linear(2, 3)\n"
        "net.a_block_with_a_name.another_parameter_of_it = nn.Parameter(torch.ones(3))\n"
        f"hidden = torch.tanh({name} * 2)\n(hidden * hidden).sum().backward()\n"
    )
    found = report(text, name, formula=True)
    shown = printed(found, width).splitlines()
    assert max(map(len, shown)) <= width
    joined = "".join(line.strip() for line in shown)
    assert joined.count(name) >= 3 and "another_parameter_of_it…" not in joined
    assert not any("net.a_block" in word and word.endswith("…") for word in joined.split())


def test_a_part_of_the_gradient_is_not_called_the_gradient() -> None:
    name = "a_parameter_that_has_a_long_name"
    text = f"{name} = torch.ones(3, requires_grad=True)\nh = {name}.exp()\n"
    text += f"L = ({name} * h).sum()\nL.backward()\n"
    shown = printed(report(text, name), 80)
    assert "the sum of 2 paths" in shown
    assert "its part =" in shown and "gradient =" not in shown


def test_one_element() -> None:
    whole: Any = report(LAYER, "W", "L").sum
    found = report(LAYER, "W", "L", element=(1, 0))
    assert found.sum == whole[1][0] and found.equal
    assert printed(found).startswith("dL/dW[1,0] = 1.6264, the sum of 2 paths\n")
    products = [path.product for path in found.paths]
    assert math.isclose(sum(products), whole[1][0], rel_tol=1e-6)  # type: ignore[arg-type]
    deeper = report(LAYER, "W", "y", element=(1, 1, 0))
    assert deeper.sum == whole[1][0]


def test_dense_jacobians() -> None:
    found = report(LAYER, "W", "y", jacobian=True)
    jacobian: Any = found.sum
    assert [[len(row) for row in block] for block in jacobian] == [[2, 2], [2, 2]]
    assert found.paths[0].steps[0].jacobian is not None and found.equal
    assert jacobian[0][1] == (0, 0) and jacobian[1][0] == (0, 0)
    parsed(found)


def test_a_result_of_several_numbers_needs_a_gradient() -> None:
    found = report(LAYER, "W", "y")
    assert found.error is not None
    assert "scalar outputs" in found.error.message
    assert report(LAYER, "W", "y", seed="[1.0,1.0]").sum == report(LAYER, "W", "L").sum


@pytest.mark.parametrize("index", [(2, 0), (0,), (0, 0, 0, 0)])
def test_elements_that_are_not_there(index: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="--element"):
        report(LAYER, "W", "L", element=index)


def test_several_outputs_of_one_node() -> None:
    text = "x = tensor([1.0, 2.0, 3.0], requires_grad=True)\na, b, c = x.unbind()\n"
    found = report(text + "m, i = torch.max(x, 0)\nL = a * b + c * m\n", "x")
    assert found.sum == (2, 1, 6) and found.path_count == 4 and found.equal


def fits(word: str, matrix: Any) -> bool:
    """Whether a matrix is what its name says; names that say little are believed."""
    square = matrix.shape[0] == matrix.shape[1]
    used = matrix != 0
    if word in ("identity", "minus identity"):
        sign = -1 if word == "minus identity" else 1
        return bool(square and numpy.allclose(matrix, sign * numpy.eye(len(matrix))))
    if word == "diagonal":
        return bool(square and not (used & ~numpy.eye(len(matrix), dtype=bool)).any())
    if word in ("permutation", "transposition", "reshape"):
        return bool(square and (used.sum(0) == 1).all() and (used.sum(1) == 1).all())
    if word == "sum":
        return bool(((matrix == 0) | (matrix == 1)).all())
    return word not in ("placement", "broadcast sum") or bool((used.sum(1) <= 1).all())


@pytest.mark.parametrize("first", range(0, 30, 10))
def test_structures_are_what_they_are_called(first: int) -> None:
    seen: set[str] = set()
    for seed in range(first, first + 10):
        text = tensor_program(seed).split("loss.backward()")[0].split("g, = torch")[0]
        for edges in (False, True):
            try:
                found = report(text, "p", "loss", jacobian=True, edges=edges)
            except UsageError:
                continue
            for step in (step for path in found.paths for step in path.steps):
                if step.jacobian is not None:
                    seen.add(step.structure)
                    assert fits(step.structure, numpy.array(step.jacobian, dtype=float)), (
                        f"{step.structure}: {step.jacobian_text}\n{text}"
                    )
    assert {"identity", "diagonal"} <= seen


@pytest.mark.parametrize(("call", "word"), [
    ("x.abs()", "diagonal"), ("x.clamp(0, 1.5)", "diagonal"), ("torch.triu(x)", "diagonal"),
    ("F.mse_loss(x, s)", "mean"), ("F.mse_loss(x, s, reduction='sum')", "sum"),
    ("F.mse_loss(x, s, reduction='none')", "diagonal"),
    ("F.binary_cross_entropy_with_logits(x, s, reduction='sum')", "sum"),
    ("x.logcumsumexp(0)", "dense"), ("torch.matrix_exp(x)", "dense"), ("F.glu(x, 1)", "dense"),
    ("torch.diag_embed(x)", "placement"),
])  # fmt: skip
def test_a_local_derivative_is_what_it_is_called(call: str, word: str) -> None:
    text = "x = tensor([[0.5, -1.0], [2.0, 1.0]], requires_grad=True)\ns = torch.ones(2, 2)\n"
    text += f"y = {call}\n"
    found = report(text, "x", "y", jacobian=True, edges=True)
    (step,) = found.paths[0].steps
    assert step.structure == word
    assert word in ("mean", "sum") or fits(word, numpy.array(step.jacobian, dtype=float))


def test_a_matrix_of_several_ways() -> None:
    text = "x = tensor([1.0, 2.0], requires_grad=True)\nL = (x * x.sum() + 2 * x).sum()\n"
    (path,) = report(text, "x", "L").paths
    assert [step.structure for step in path.steps] == ["several ways"]
    text = "W = ones(2, 2, requires_grad=True)\nL = (W @ W).sum()\n"
    (path,) = report(text, "W", "L").paths
    assert [step.structure for step in path.steps] == ["sum · matmul"]


def test_large_tensors_are_reported_by_shape_and_range() -> None:
    text = "x = ones(50, 40, requires_grad=True)\nh = x * 3\nL = h.sum()\n"
    found = report(text, "x", "L")
    assert "shape [50, 40], 3 to 3" in printed(found)
    assert parsed(found)["paths"][0]["derivatives"][1]["shape"] == [2000, 2000]


def test_a_single_number_has_the_dimensions_of_its_tensor() -> None:
    text = "w = ones(1, 1, requires_grad=True)\nL = (w * 3).sum()\n"
    found = parsed(report(text, "w", "L"))
    assert (found["reverse"], found["sum"], found["paths"][0]["product"]) == ([[3]],) * 3


def test_slopes_are_formulas() -> None:
    """Also where a kernel computes them: no slope_of_Tanh."""
    text = "x = tensor(0.5, requires_grad=True)\nL = x.tanh() + x.sigmoid() + x.exp()\n"
    formula = report(text, "x", "L").formula
    assert formula is not None and "slope_of" not in formula.text and not formula.lines
