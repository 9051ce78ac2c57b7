"""Tests of how results lie in memory: every text over operands of every order, beside PyTorch."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from oracle import oracle, question

import gradcli
from gradcli.engine.memory.layout import empty

# A tensor of three dimensions, seen otherwise; each is of size 4, 3, 2.
ORDERS = {
    "row-major": "torch.randn(4, 3, 2)",
    "reversed": "torch.randn(2, 3, 4).permute(2, 1, 0)",
    "transposed": "torch.randn(4, 2, 3).mT",
    "first last": "torch.randn(3, 2, 4).permute(2, 0, 1)",
    "with holes": "torch.randn(4, 3, 6)[..., ::3]",
    "reversed with holes": "torch.randn(6, 3, 4).permute(2, 1, 0)[..., ::3]",
    "expanded": "torch.randn(4, 1, 2).expand(4, 3, 2)",
    "expanded and transposed": "torch.randn(2, 1, 4).permute(2, 1, 0).expand(4, 3, 2)",
    "a matrix expanded": "torch.randn(2, 3).t().expand(4, 3, 2)",
}
# The first of one size, and one that has dimensions of size 1.
THIN = {
    "column": "torch.randn(4, 1)",
    "row": "torch.randn(1, 4)",
    "row turned": "torch.randn(1, 4).t()",
    "column turned": "torch.randn(4, 1).t()",
    "part of a column": "torch.randn(4, 3)[:, :1]",
    "part of a row": "torch.randn(3, 4).t()[:, 1:2]",
    "one": "torch.randn(3, 3)[1:2, 1:2]",
    "part of an expanded row": "torch.randn(4).expand(2, -1)[1:]",
}
ONE = (
    "x * 2",
    "-x",
    "x.exp()",
    "x ** 2",
    "x.clamp(0, 1)",
    "x > 0",
    "x.double()",
    "x.to(torch.int64)",
    "x.clone()",
    "x.contiguous()",
    "torch.zeros_like(x)",
    "torch.randn_like(x)",
    "x.abs() + x[0]",
    "x.sum(1)",
    "x.mean(0, keepdim=True)",
    "x.max(-1).values",
    "x.argmin(0)",
    "x.var(1)",
    "x.softmax(1)",
    "x.cumsum(0)",
    "x.prod(0)",
    "x.norm(dim=1)",
    "x.logsumexp(0)",
    "x.median(0)[0]",
    "x.sort(0)[0]",
    "x.topk(1, 0)[0]",
    "x.flip(0)",
    "x.roll(1, 0)",
    "x.tril()",
    "x.repeat(1, 1, 2)",
    "x[[0, 0]]",
    "x[:, [0]]",
    "x[..., [0]]",
    "x[[0, 0], :, [0, 0]]",
    "x[x > 0]",
    "x[None]",
    "x[:, None]",
    "x.unsqueeze(-1)",
    "x.reshape(-1)",
    "x.flatten(1)",
    "torch.cat([x, x])",
    "torch.stack([x, x], -1)",
    "x.gather(0, torch.zeros(1, 1, 1, dtype=torch.int64))",
    "x.masked_fill(x > 0, 1.0)",
    "torch.where(x > 0, x, 0.5)",
    "F.relu(x)",
    "F.gelu(x)",
    "F.pad(x, (1, 1))",
    "F.one_hot(x.long() * 0)",
    "torch.fft.fft(x, dim=1)",
    "torch.fft.rfft(x, dim=0)",
    "torch.fft.irfft(x, dim=1)",
    "torch.fft.fft2(x)",
    "x @ x.mT",
    "x.mT @ x[0]",
    "torch.linalg.svd(x)[0]",
    "torch.linalg.qr(x)[0]",
    "torch.linalg.inv(x @ x.mT + 9 * torch.eye(3))",
    "x.float(memory_format=torch.contiguous_format)",
    "torch.empty_like(x, memory_format=torch.contiguous_format)",
    "F.avg_pool1d(x, 2)",
    "F.conv1d(x, torch.ones(2, 3, 1))",
    "F.conv1d(torch.ones(1, 3, 5), x)",
    "x.rot90()",
)
GRADIENTS = (
    "graded(x, lambda w: (w * 2).sum(), False)",
    "graded(x, lambda w: (w * w).sum(), True)",
    "graded(x, lambda w: (w.mT @ w).sum(), False)",
    "graded(x, lambda w: w.exp().sum(), True)",
)
TWO = (
    "x + y",
    "x * y[0]",
    "y / x",
    "torch.maximum(x, y)",
    "torch.where(x > 0, y, x)",
    "x < y",
    "torch.lerp(x, y, 0.5)",
    "torch.addcmul(x, y, y[0])",
    "torch.atan2(x, y.double())",
    "F.mse_loss(x, y, reduction='none')",
    "torch.cat([x, y], 1)",
    "x - y.long()",
)
FLAT = (
    "x * 2",
    "x + x",
    "x.sin()",
    "x + torch.ones(4, 4)",
    "x * torch.ones(4)",
    "x.clone()",
    "x.double()",
    "x.sum(0, keepdim=True)",
    "x @ x.t()",
    "x.t() @ x",
    "x.unsqueeze(0)",
    "x[None]",
    "x.squeeze()",
    "x.view(-1)",
    "x.expand(4, 4) if 1 in x.shape else x.expand(2, *x.shape)",
    "x.t().contiguous()",
    "x.unsqueeze(1)",
    "x[:, None, :]",
    "x.view_as(x)",
    "x[..., ::2]",
    "x[9::3]",
    "x[..., 0]",
    "x.narrow(0, 0, min(1, len(x)))",
    "x.tensor_split(2)[1]",
    "x.diagonal()",
    "torch.autograd.grad((x.requires_grad_() @ x.t()).sum(), x, create_graph=True)[0]",
)


def graded(x: Any, function: Any, create_graph: bool) -> Any:
    """What backward() leaves in .grad."""
    x = x.detach().requires_grad_()
    function(x).backward(create_graph=create_graph)
    return x.grad


@question
def strides(torch: Any, text: str, first: str, second: str) -> list[Any]:
    """Strides of what `text` makes of x and y, and whether it counts as contiguous."""
    space = {"torch": torch, "F": torch.nn.functional, "graded": graded}
    space |= {"x": eval(first, space), "y": eval(second, space)}
    result = eval(text, space)
    return [list(result.stride()), result.is_contiguous(), getattr(result.grad_fn, "name", str)()]


@question
def all_strides(torch: Any, text: str, table: str) -> list[Any]:
    """The same for all orders of a table; of x and y where the text has both."""
    orders = {"orders": ORDERS, "thin": THIN}[table]
    others = list(orders.values()) if table == "orders" and "y" in text else ["None"]
    return [strides(torch, text, first, second) for first in orders.values() for second in others]


@pytest.mark.parametrize("text", [*ONE, *TWO, *GRADIENTS])
def test_results_lie_as_in_pytorch(text: str) -> None:
    assert all_strides(gradcli, text, "orders") == oracle.ask("all_strides", text, "orders")


@pytest.mark.parametrize("text", FLAT)
def test_dimensions_of_size_one_have_the_strides_of_pytorch(text: str) -> None:
    assert all_strides(gradcli, text, "thin") == oracle.ask("all_strides", text, "thin")


@pytest.mark.parametrize("text", ("x", "x[None]", "x.t()", "x[:, ::2]", "x[9::3]", "x[:1]"))
def test_views_of_no_elements_have_the_strides_of_pytorch(text: str) -> None:
    for first in (
        "torch.zeros(0, 4)", "torch.zeros(0, 4).t()", "torch.zeros(0, 4)[:, :1]",
        "torch.randn(4).expand(2, -1)[:0]", "torch.zeros(0).expand(2, -1)",
    ):  # fmt: skip
        assert strides(gradcli, text, first, "None") == oracle.ask("strides", text, first, "None")


def test_a_solution_lies_in_the_memory_of_the_right_hand_side() -> None:
    text = "torch.linalg.lstsq(x, x[..., :1]).solution"
    for first in ("torch.ones(4, 3, 2)", "torch.ones(4, 3)"):
        asked = (text, first, "None")
        assert strides(gradcli, *asked) == oracle.ask("strides", *asked)


def test_memory_is_as_large_as_its_strides_reach() -> None:
    """A result whose strides reach further would be written beyond its memory."""
    with pytest.raises(ValueError, match="reach beyond 3 elements"):
        empty(numpy, (3,), (3,), "float32")
