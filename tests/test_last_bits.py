"""Tests of numbers that agree with PyTorch's to the last bit, where its kernels are known."""

from __future__ import annotations

from functools import cache, partial
from math import prod
from typing import Any

import numpy
import pytest
from oracle import oracle, question

import gradcli
from gradcli.numerics.fused_matmul import fuses
from gradcli.numerics.packed_matmul import packed_product
from gradcli.operators.index.adding import add_rows

PROGRAMS = {
    "a scaled sum": "torch.sub(torch.add(x, b(1000), alpha=-0.01), a(1000), alpha=0.3)",
    "gelu": "F.gelu(x)",
    "gelu of a part": "F.gelu(x[200:231])",
    "gelu of whole numbers": "F.gelu(torch.arange(-8.0, 8.0, 0.5))",
    "gelu's slope": "torch.autograd.grad(F.gelu(x).sum(), x)[0]",
    "gelu's pass back": "torch.autograd.grad(F.gelu(x), x, torch.cos(x * 0) + 0.5 * x)[0]",
    "tanh's pass back": "back(torch.tanh, x[:30])",
    "tanh far out": "back(torch.tanh, torch.arange(-12.0, 12.0, requires_grad=True))",
    "sigmoid": "torch.sigmoid(x[:31])",
    "sigmoid far out": "back(torch.sigmoid, torch.arange(-20.0, 20.0, 2.0, requires_grad=True))",
    "sigmoid of many": "back(torch.sigmoid, x[:77])",
    "silu": "back(F.silu, x[:30])",
    "sigmoid of one": "torch.stack([torch.sigmoid(n) for n in x[:60]])",
    "sigmoid of parts of rows": (
        "[f(x[:960].view(20, 48)[:, a:b]).flatten() for a, b in ((0, 16), (5, 45)) "
        "for f in (torch.sigmoid, F.silu)]"
    ),
    "binary_cross_entropy": (
        "F.binary_cross_entropy(torch.cat([torch.sigmoid(3 * x), torch.tensor([0., 1., 1e-45])]), "
        "torch.ones(1003) * 0.3, reduction='none')"
    ),
    "logsigmoid": "F.logsigmoid(x[:500])",
    "sqrt": "x.abs().sqrt()",
    "sqrt of many": "[(x.abs().repeat(3) * s).sqrt() for s in (0.0, 1e-12, 1e-36, 1e-44, 3e38)]",
    "sqrt of one": "torch.stack([n.abs().sqrt() for n in x[:60]] + [n.abs() ** 0.5 for n in x])",
    "sin and cos": "[torch.sin(x), torch.cos(x), torch.sin(40 * x), torch.cos(40 * x), x[3].sin()]",
    "steps of Adam": "adam(x[:300])",
    "steps of SGD": ("(1 - x[:400].repeat(500, 1)).add_(x[400:800].repeat(500, 1), alpha=-0.3)[0]"),
    "losses of logits": (
        "F.binary_cross_entropy_with_logits(x[:300], (x[300:600] > 0).float(), reduction='none')"
    ),
    "slopes of elu and softplus": (
        "[back(f, x[:77]) for f in (F.elu, F.selu, F.celu, F.softplus)] "
        "+ [back(F.glu, x[:640].view(5, 128)).flatten()]"
    ),
    "silu of many": "back(F.silu, x[:77])",
    "tanh of many": "back(torch.tanh, x[:77])",
    "slopes of powers": (
        "[back(lambda x: (x.abs() + 0.1) ** e, x[:30]) for e in (-0.5, -1, -2.5, 0.7, 4, 5)] "
        "+ [back(lambda x: (x.abs() + 0.1).rsqrt(), x[:300])]"
    ),
    "norms": (
        "[torch.linalg.vector_norm(x[:960].view(8, 5, 24), p, dim).flatten() for p in (1, 3) "
        "for dim in (None, (0, 2))]"
    ),
    "sums scaled": "torch.add(x[:20], x[20:40], alpha=0.3) - x[:20].sub(x[20:40], alpha=0.7)",
    "addcmul": "torch.addcmul(x[:20], x[20:40], x[40:60], value=0.3)",
    "lerp": "torch.lerp(x[:20], x[20:40], 0.3) + torch.lerp(x[:20], x[20:40], 0.9)",
    "std of equal numbers": (
        "torch.stack([torch.full((n,), 0.80613935).std() for n in range(2, 12)])"
    ),
    "var of equal numbers": "torch.stack([torch.full((1, n), 1.41).var(1) for n in range(2, 12)])",
    "sums around what is kept": (
        "[x[:960].view(4, 5, 6, 8).sum((0, 2, 3)), x[:960].view(4, 1, 5, 48).mean((0, 1, 3)), "
        "x[:960].view(1, 30, 4, 8).sum((0, 2, 3)), x[:960].view(4, 5, 6, 8).sum((0, 2)), "
        "x[:960].view(4, 5, 6, 8).sum((1, 3))]"
    ),
    "sums of what was permuted": (
        "[f(x[:960].view(4, 5, 6, 8).permute(0, 2, 3, 1)).flatten() for f in (lambda y: y.sum(), "
        "lambda y: y.sum((0, 1, 2)), lambda y: (y * 3).mean((1, 3)), lambda y: y.sum(3, True))]"
    ),
    "softmax of few": "back(lambda x: torch.softmax(x, 1), x[:12].view(3, 4))",
    "softmax of many": "back(lambda x: torch.softmax(x, 1), x[:120].view(3, 40))",
    "softmax of a batch": "back(lambda x: torch.softmax(x, 1), x.view(100, 10))",
    "log_softmax of a batch": "back(lambda x: torch.log_softmax(x, 1), x.view(100, 10))",
    "softmax down": (
        "[back(lambda x: f(x, 0), x[: 3 * n].view(3, n)).flatten() for n in (4, 16, 21) "
        "for f in (torch.softmax, torch.log_softmax)]"
    ),
    "cross_entropy of pictures": (
        "[back(lambda x: F.cross_entropy(x, torch.arange(100).view(2, 5, 10) % 5), "
        "x[:500].view(2, 5, 5, 10)), F.nll_loss(x[:500].view(2, 5, 5, 10), "
        "torch.arange(100).view(2, 5, 10) % 5)]"
    ),
    "a row that adds up to one": "flat(lambda x: torch.softmax(x, -1), x[:50].view(5, 10))",
    "log_softmax, flat": "flat(lambda x: torch.log_softmax(x, -1), x[:30].view(3, 10))",
    "layer_norm": "back(lambda x: F.layer_norm(x, (10,)), x[:40].view(4, 10))",
    "layer_norm scaled": "back(lambda x: F.layer_norm(x, (6,), x[0], x[1]), x[:24].view(4, 6))",
    "layer_norm of many": (
        "torch.cat([back(lambda x: F.layer_norm(x, x.shape[1:], x[0], x[1]), "
        "x[: m * n].view(m, n)).view(-1) for m, n in ((25, 40), (3, 300))])"
    ),
    "group_norm": (
        "[g.reshape(-1) for c in (4, 12, 22) for v in [x[:220].view(2, 22, 5)[:, :c].contiguous()] "
        "for w in [x[500 : 500 + c].detach().requires_grad_()] "
        "for g in torch.autograd.grad(F.group_norm(v, 2, w, w), (x, w), a(2, c, 5))]"
    ),
    "layer_norm, flat": "flat(lambda x: F.layer_norm(x, (5,)), x[:20].view(4, 5))",
    "batch_norm": "back(lambda x: F.batch_norm(x, None, None, training=True), x[:20].view(5, 4))",
    "batch_norm of many": (
        "torch.cat([back(lambda x: F.batch_norm(x, None, None, training=True), "
        "x.detach().repeat(4)[:m].view(s)).view(-1) "
        "for m, s in ((1280, (64, 20)), (1040, (130, 8)), (396, (3, 4, 33)), (588, (4, 3, 7, 7)))])"
    ),
    "batch_norm, flat": (
        "flat(lambda x: F.batch_norm(x, *2 * [None], training=True), x[:20].view(5, 4))"
    ),
    "gradients of numbers that were spread": (
        "torch.cat([torch.autograd.grad((w * x[:k].view(s)).sum(), w)[0].reshape(-1) "
        "for k, s, t in ((500, (500,), ()), (990, (990, 1), (1,)), (900, (90, 10), (10,)), "
        "(900, (30, 30), (30, 1))) for w in [torch.ones(t, requires_grad=True)]])"
    ),
    "gradients of wide layers": (
        "[g for m, n in ((4, 250), (20, 500), (250, 40)) for w in [torch.ones(n).requires_grad_()] "
        "for y in [torch.zeros(m, n) + w] for g in torch.autograd.grad("
        "y, w, x.detach().repeat(12)[: m * n].view(m, n))]"
    ),
    "mse_loss": "F.mse_loss(x[:21], x[21:42])",
    "smooth_l1_loss": "F.smooth_l1_loss(x[:21], x[21:42])",
    "nll_loss": "F.nll_loss(x[:160].view(40, 4), torch.arange(40) % 4)",
    "nll_loss of many": "F.nll_loss(x.repeat(4).view(1000, 4), torch.arange(1000) % 4)",
    "sums on three levels": (
        "torch.cat([x.repeat(50).sum().view(1), x.repeat(9)[:8209].mean().view(1), "
        "x.repeat(50).view(5000, 10).sum(0), x.repeat(50).view(2, 2500, 10).mean(1).view(-1)])"
    ),
    "sums of many rows": (
        "torch.cat([x.repeat(20).view(k, -1).sum(1) for k in (4, 50, 400, 2000)])"
    ),
    "a bias of a large batch": (
        "torch.autograd.grad(torch.zeros(500, 20) + (w := torch.ones(20).requires_grad_()), w, "
        "x.detach().repeat(10).view(500, 20))[0]"
    ),
    "a squared difference": "((x[:50] - x[50:100]) ** 2).mean()",
    "avg_pool2d": "F.avg_pool2d(x[:144].view(1, 4, 6, 6), 3)",
    "adaptive_avg_pool2d": "F.adaptive_avg_pool2d(x[:50].view(1, 2, 5, 5), 2)",
    "sum in double": "torch.stack([d[:n].sum() for n in (5, 12, 33, 70, 300)])",
    "sum of rows in double": "d[:200].view(20, 10).sum(1)",
    "sum of columns in double": "d[:200].view(10, 20).sum(0)",
    "sums on three levels in double": "d.repeat(200)[:60000].view(6000, 10).sum(0)",
}
# What the library of matrices does that PyTorch runs on the processors these were measured on.
# `a` and `b` give matrices with memory of their own, whose size they are told.
PRODUCTS = {
    "dot": "[a(n) @ b(n) for n in range(1, 40)]",
    "matrix times vector": "[a(m, k) @ b(k) for m in range(1, 8) for k in (2, 5, 9, 13, 24)]",
    "matrix times matrix": (
        "[a(m, k) @ b(k, n) "
        "for m in (1, 3, 5) for k in (2, 4, 7, 9, 16) for n in (1, 2, 4, 5, 7, 10)]"
    ),
    "transposed matrix times matrix": (
        "[a(k, m).t() @ b(k, n) for m in (1, 3, 5) for k in (2, 4, 7, 9) for n in (1, 3, 5, 8)]"
    ),
    "linear": (
        "[F.linear(a(m, k), b(n, k), a(n)) "
        "for m in (1, 2, 5) for k in (1, 3, 4, 6, 9, 12) for n in (1, 3, 4, 6, 8)]"
    ),
    "a layer with few outputs": (
        "[F.linear(a(m, k), b(n, k), a(n)) "
        "for m, k, n in ((25, 40, 10), (32, 31, 9), (9, 99, 8), (24, 40, 1), (40, 24, 5))]"
    ),
    "a layer in rows and columns": (
        "[f(a(m, k), b(k, n)) for f in (torch.mm, lambda x, y: torch.mm(x.t().clone().t(), y)) "
        "for m, k, n in ((30, 33, 10), (20, 50, 9), (31, 32, 8), (90, 11, 7), (3, 70, 14))]"
        "+ [F.linear(a(m, 90), b(n, 90), a(n)) for m, n in ((1, 11), (11, 1))]"
    ),
    "matrices of heads": (
        "[f(a(4, 25, 10), b(4, 10, n)) for n in (7, 8, 10) for f in (torch.bmm, lambda x, y: "
        "torch.bmm(x, y.mT.clone().mT), lambda x, y: torch.bmm(x.mT.clone().mT, y))]"
    ),
    "addmm": "[torch.addmm(a(n), a(m, 9), b(9, n)) for m in (1, 2, 4, 5) for n in (1, 3, 5, 7)]",
    "addmm scaled": (
        "[torch.addmm(a(n), a(m, 5), b(5, n), alpha=0.3, beta=c) "
        "for m in (2, 5) for n in (3, 5, 7) for c in (0, 0.7, 1)]"
    ),
    "addmv": (
        "[torch.addmv(a(m), o, b(9), alpha=c, beta=d) for m in (4, 5) "
        "for o in (a(m, 9), a(9, m).t()) for c in (0, 1) for d in (0, 0.7, 1)]"
    ),
    "addbmm": "[torch.addbmm(a(4), b(3, m, 5), b(3, 5, 4)) for m in (1, 2, 5)]",
    "zeros added to zeros": (
        "(lambda zeros: [1 / f(-zeros(3), zeros(*s, m, k), -b(*s, k, 3).abs(), alpha=c) "
        "for f, s in ((torch.addmm, ()), (torch.addbmm, (2,)), (torch.baddbmm, (2,))) "
        "for m in (1, 2, 5) for k in (1, 2, 5) for c in (-1, 0, 1, 2)]"
        "+ [1 / torch.addmv(-zeros(3), o, -b(5).abs(), alpha=c) "
        "for o in (zeros(3, 5), zeros(5, 3).t()) for c in (-1, 0, 1)]"
        "+ [1 / F.linear(zeros(*s, k), -b(n, k).abs(), -zeros(n)) "
        "for s in ((), (2,), (2, 2)) for k in (1, 5) for n in (2, 4)]"
        ")(lambda *s: a(*s).abs() * 0)"
    ),
    "batches": "[torch.bmm(a(3, m, 5), b(3, 5, m)) for m in (1, 4, 9)]",
    "determinants": (
        "[f(m(a(n, n))) for f in (torch.det, lambda x: torch.linalg.lu_factor(x)[0]) "
        "for m in (torch.clone, torch.t) for n in range(1, 17)] + [torch.det(b(3, 4, 4))]"
    ),
    "inverses": "[torch.linalg.inv(a(n, n)) for n in range(1, 9)] + [torch.inverse(b(2, 3, 3))]",
    "linear systems": (
        "[torch.linalg.solve(a(n, n), b(n)) for n in range(1, 17)] "
        "+ [torch.linalg.solve(a(2, n, n), b(n, k)) for n in (2, 5, 8) for k in (1, 2, 8)] "
        "+ [torch.linalg.lu_solve(*torch.linalg.lu_factor(a(4, 4)), b(3, 4, 2))]"
    ),
    "linear's pass back": "[back(lambda w: F.linear(a(5, n), w), b(4, n)) for n in (2, 6, 9)]",
}

# What oneDNN computes: input, weight, how many numbers of a bias, settings.
# On Intel's processors these go ways that are not known here.
NOT_FUSED = {
    "addmm scaled", "zeros added to zeros", "determinants", "inverses", "linear systems",
    "addmm, packed", "batches, packed",
}  # fmt: skip

# Of singles: what is packed is added by fused operations.
PACKED = {
    "matrix times matrix, packed": (
        "[f(a(m, k), b(k, n)) for f in (torch.mm, lambda x, y: torch.mm(x.t().clone().t(), y)) "
        "for m in (4, 13, 24) for k in (2, 9, 40) for n in (12, 17, 24)]"
    ),
    "linear, packed": "[F.linear(a(m, 20), b(n, 20), a(n)) for m in (4, 30) for n in (12, 33)]",
    "few rows times columns that lie in memory one after another, packed": (
        "[a(m, k) @ b(n, k).t() for m in (4, 9, 11) for k in (40, 76) for n in (12, 13)]"
    ),
    "addmm, packed": (
        "[torch.addmm(a(n), a(m, 9), b(9, n), alpha=0.3, beta=c) "
        "for m in (4, 15) for n in (12, 50) for c in (0, 0.7, 1)]"
    ),
    "batches, packed": (
        "[torch.bmm(a(3, m, 9), b(3, 9, m + 3)) for m in (9, 14)]"
        "+ [f(a(*s, 9, 14), a(3, 9, 9), b(3, 9, 14), alpha=0.3) "
        "for f, s in ((torch.baddbmm, (3,)), (torch.addbmm, ()))]"
    ),
    "a packed product's pass back": "[back(lambda w: a(13, 9) @ w, b(9, n)) for n in (12, 40)]",
}


def back(lib: Any, function: Any, x: Any) -> Any:
    """The gradient under a cotangent without pattern."""
    x = x.detach().requires_grad_()
    y = function(x)
    return lib.autograd.grad(y, x, lib.linspace(-1, 2, y.numel()).view(y.shape))[0]


def adam(lib: Any, x: Any) -> Any:
    """Numbers after some steps towards 1."""
    numbers = x.detach().clone().requires_grad_()
    optimizer = lib.optim.Adam([numbers], lr=0.01)
    for _ in range(5):
        optimizer.zero_grad()
        ((numbers - 1) ** 2).sum().backward()
        optimizer.step()
    return numbers


def flat(lib: Any, function: Any, x: Any) -> Any:
    """The gradient of the sum, which is zero but for roundings."""
    x = x.detach().requires_grad_()
    return lib.autograd.grad(function(x).sum(), x)[0]


@question
def bits(torch: Any, text: str, scale: float, double: bool = False) -> list[int]:
    """The bits of what `text` makes of a thousand normals, singles and doubles, `scale` wide."""
    torch.manual_seed(7)
    x = (torch.randn(1000) * scale).requires_grad_()
    space = {"torch": torch, "F": torch.nn.functional, "x": x}
    space["d"] = d = torch.randn(1000, dtype=torch.float64) * scale
    numbers = d if double else x.detach()
    space["a"] = lambda *sizes: numbers[: prod(sizes)].clone().view(sizes)
    space["b"] = lambda *sizes: numbers[-prod(sizes) :].clone().view(sizes)
    space |= {"back": partial(back, torch), "flat": partial(flat, torch)}
    space["adam"] = partial(adam, torch)
    value = eval(text, space)
    if isinstance(value, list):
        value = torch.cat([part.reshape(-1) for part in value])
    value = value.detach().reshape(-1)
    return list(value.view(torch.int32 if value.dtype == torch.float32 else torch.int64).tolist())


@question
def kernels(torch: Any) -> dict[str, bool]:
    """Are PyTorch's kernels here those that were measured? Others round in other places."""
    sums = torch.dot(torch.tensor([1e8, 1.0, -1e8, 1.0]), torch.ones(4)).item()
    wide = not hasattr(torch, "backends") or torch.backends.cpu.get_cpu_capability() == "AVX512"
    x = torch.full((40,), 1.0048217)
    tanh = torch.tanh(x)[0].item() == torch.tanh(x.double()).float()[0].item()
    root = (
        torch.sqrt(torch.tensor(1.0169999599456787)).item()
        < torch.tensor(1.0169999599456787).double().sqrt().float().item()
    )
    # Added one after another, products would be 1.
    return {
        "vectors": wide, "products": sums == 2.0, "tanh": tanh, "roots": root,
        "convolutions": swallowed(torch) == [36.0, 36.0, 0.0, 40.0],
    }  # fmt: skip


def swallowed(torch: Any) -> list[float]:
    """What is left of the ones that a convolution adds to 2 ** 24, which swallows each that is
    added to it alone: forward, to the input, to the weight, to the input with a stride."""
    most, conv = 2.0**24, torch.nn.functional.conv2d
    x, weight = torch.ones(2, 20, 5, 5), torch.ones(20, 20, 3, 3)
    x[:, 0, 0, 0] = most
    found = [conv(x, weight)[0, 0, 0, 0]]
    x = torch.ones(2, 20, 5, 5, requires_grad=True)
    grad = torch.ones(2, 20, 3, 3)
    grad[:, 0, 2, 2] = most
    found.append(torch.autograd.grad(conv(x, weight), x, grad)[0][0, 0, 2, 2])
    weight.requires_grad_()
    grad = torch.ones(2, 20, 3, 3)
    grad[0, :, 0, 0] = most
    found.append(torch.autograd.grad(conv(x, weight), weight, grad)[0][0, 0, 0, 0])
    x = torch.ones(2, 20, 6, 6, requires_grad=True)
    grad = torch.ones(2, 20, 3, 3)
    grad[:, 0, 1, 1] = most
    y = conv(x, weight, stride=2, padding=1)
    found.append(torch.autograd.grad(y, x, grad)[0][0, 0, 1, 1])
    return [(number - most).item() for number in found]


@pytest.mark.parametrize("scale", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_last_bit_is_pytorchs(name: str, scale: float) -> None:
    kernels = oracle.ask("kernels")
    known = not name.startswith("tanh") or kernels["tanh"]
    known &= not name.startswith(("sqrt", "sin and", "steps of Adam")) or kernels["roots"]
    if not kernels["vectors"] or not known:
        pytest.skip("PyTorch's vectors are others on this processor")
    text = PROGRAMS[name]
    assert bits(gradcli, text, scale) == oracle.ask("bits", text, scale)


@pytest.mark.parametrize("double", [False, True], ids=["single", "double"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_are_added_up_in_pytorchs_order(name: str, double: bool) -> None:
    if oracle.ask("kernels")["products"] == fuses() or (fuses() and (double or name in NOT_FUSED)):
        pytest.skip("PyTorch's products are added up in another order on this processor")
    text = PRODUCTS[name]
    assert bits(gradcli, text, 1.0, double) == oracle.ask("bits", text, 1.0, double)


LONG = "(lambda x, y: [x @ y, y.t() @ x.t(), F.linear(x, y.t().clone())])"
ROWS = (
    "(a(1000).repeat(160)[: 784 * {n}].view({n}, 784), "
    "b(1000).repeat(160)[: 156800].view(784, 200))"
)


@pytest.mark.parametrize("rows", [16, 200])
def test_long_products_go_in_blocks(rows: int) -> None:
    """On Intel's processors, whose blocks depend on how wide the result is."""
    if not fuses() or oracle.ask("kernels")["products"]:
        pytest.skip("not measured on this processor")
    text = f"[part[:3] for part in {LONG}{ROWS.format(n=rows)}]"
    assert bits(gradcli, text, 1.0) == oracle.ask("bits", text, 1.0)


@cache
def adds_in_turn() -> bool:
    """Does NumPy's library have the tiles that were measured? Then no order shows here."""
    draw = numpy.random.RandomState(0)
    a, b = draw.rand(30, 50).astype("float32"), draw.rand(50, 330).astype("float32")
    total = numpy.zeros((30, 330), "float32")
    for k in range(50):  # products of singles are exact in double precision
        total = (total + a[:, k, None].astype("float64") * b[k]).astype("float32")
    return bool((packed_product(numpy, a, b) == total).all())


@pytest.mark.parametrize("name", PACKED)
def test_packed_products_are_added_up_in_pytorchs_order(name: str) -> None:
    fused = fuses()
    known = name not in NOT_FUSED if fused else adds_in_turn()
    if oracle.ask("kernels")["products"] == fused or not known:
        pytest.skip("one of the two libraries has other routines on this processor")
    assert bits(gradcli, PACKED[name], 1.0) == oracle.ask("bits", PACKED[name], 1.0)


@pytest.mark.parametrize(
    ("count", "named", "width"), [(7, 50, 3), (2, 300, 4), (90, 64, 5), (3, 0, 2)]
)
def test_rows_named_several_times_are_added_in_their_order(
    count: int, named: int, width: int
) -> None:
    """Turn by turn, or by NumPy's add.at where one row is named very often: the same bits."""
    draw = numpy.random.RandomState(count)
    places, rows = draw.randint(0, count, named), draw.standard_normal((named, width))
    one = numpy.zeros((count, width), "float32")
    other = one.copy()
    numpy.add.at(one, places, rows.astype("float32"))
    add_rows(numpy, other, places, rows.astype("float32"))
    assert one.tobytes() == other.tobytes()
