"""Tests of convolutions, and of networks that learn, that agree with PyTorch's to the last bit."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy
import pytest
import test_last_bits  # noqa: F401 (the question whether the kernels are known)
from oracle import oracle, question

import gradcli
from gradcli.numerics import in_turn
from gradcli.operators.nn import convolution_kernels

CONVOLUTIONS = {
    "few channels": ("conv2d", (2, 3, 9, 9), (5, 3, 3, 3), 5, {"padding": 1}),
    "many channels": ("conv2d", (2, 20, 7, 7), (18, 20, 3, 3), 18, {}),
    "more products than a library adds in turn": ("conv2d", (2, 16, 12, 12), (40, 16, 5, 5), 0, {}),
    "strides that divide the width": (
        "conv2d", (2, 4, 8, 8), (20, 4, 3, 3), 0, {"stride": 2, "padding": 1},
    ),
    "strides that do not": ("conv2d", (2, 4, 9, 9), (20, 4, 3, 3), 0, {"stride": 2, "padding": 1}),
    "strides beyond the kernel": ("conv2d", (2, 3, 11, 11), (5, 3, 2, 2), 5, {"stride": 3}),
    "kernels of one place": ("conv2d", (3, 20, 6, 6), (5, 20, 1, 1), 5, {"stride": 2}),
    "lines": ("conv1d", (3, 4, 20), (6, 4, 3), 6, {"padding": 1}),
    "one large image": ("conv2d", (1, 3, 90, 90), (2, 3, 3, 3), 2, {}),
    "transposed": ("conv_transpose2d", (2, 6, 4, 4), (6, 4, 4, 4), 4, {"stride": 2, "padding": 1}),
    "each channel alone": (
        "conv2d", (2, 18, 8, 8), (18, 1, 3, 3), 18, {"padding": 1, "groups": 18},
    ),
    "each channel alone, strides": (
        "conv2d", (3, 5, 9, 9), (5, 1, 3, 3), 5, {"stride": 2, "groups": 5},
    ),
    "each channel alone, wide": (
        "conv2d", (2, 3, 9, 9), (3, 1, 5, 5), 3, {"padding": 2, "groups": 3},
    ),
    "channels alone, in lines": ("conv1d", (2, 4, 20), (4, 1, 3), 4, {"padding": 1, "groups": 4}),
    "groups of sixteen": ("conv2d", (2, 32, 7, 7), (64, 16, 3, 3), 64, {"padding": 1, "groups": 2}),
    "groups of eight, strides": (
        "conv2d", (2, 24, 8, 8), (48, 8, 3, 3), 48, {"stride": 2, "padding": 1, "groups": 3},
    ),
    "groups of four, dilated": (
        "conv2d", (2, 8, 8, 8), (16, 4, 3, 3), 16, {"dilation": 2, "groups": 2},
    ),
    "groups of three": ("conv2d", (2, 6, 8, 8), (10, 3, 3, 3), 10, {"groups": 2}),
    "many kernels": ("conv2d", (2, 6, 22, 22), (36, 3, 2, 2), 36, {"groups": 2}),
    "few groups of few": ("conv2d", (2, 4, 6, 6), (16, 2, 3, 3), 16, {"groups": 2}),
    "groups of one place": ("conv2d", (3, 6, 4, 4), (9, 2, 1, 1), 9, {"groups": 3}),
    "dilated": ("conv2d", (2, 6, 9, 9), (4, 6, 3, 3), 4, {"dilation": 2}),
    "dilated, strides": ("conv2d", (2, 4, 9, 9), (1, 4, 3, 3), 1, {"dilation": 2, "stride": 2}),
    "planes": ("conv3d", (2, 5, 4, 5, 5), (6, 5, 3, 3, 3), 6, {"padding": 1}),
    "groups transposed": (
        "conv_transpose2d", (2, 6, 5, 5), (6, 2, 3, 3), 4, {"stride": 2, "groups": 2},
    ),
}  # fmt: skip


def numbers_of(torch: Any, *sizes: int) -> Any:
    count = prod(sizes)
    return torch.randn(1000).repeat(-(-count // 1000))[:count].reshape(sizes)


@question
def convolved(torch: Any, name: str) -> list[int]:
    """The bits of some numbers of a convolution and of the gradients."""
    torch.manual_seed(3)
    function, input, weight, bias, settings = CONVOLUTIONS[name]
    x, w = (numbers_of(torch, *sizes).requires_grad_() for sizes in (input, weight))
    b = numbers_of(torch, bias).requires_grad_() if bias else None
    y = getattr(torch.nn.functional, function)(x, w, b, **settings)
    wanted = (x, w) if b is None else (x, w, b)
    grads = torch.autograd.grad(y, wanted, numbers_of(torch, *y.shape))
    every = torch.cat([part.detach().reshape(-1) for part in (y, *grads)])
    return list(torch.cat([every[::11], every[-5:]]).view(torch.int32).tolist())


# The sizes of pictures, and how they are resized.
RESIZED = {
    "small": ((2, 9, 5, 4), {"scale_factor": 2, "mode": "bilinear"}),
    "large": ((1, 2, 9, 8), {"size": (70, 60), "mode": "bilinear"}),
    "shrunk": ((1, 3, 20, 20), {"scale_factor": 0.45, "mode": "bilinear"}),
    "corners kept": ((1, 3, 7, 5), {"size": (10, 13), "mode": "bilinear", "align_corners": True}),
    "cubic": ((1, 3, 7, 9), {"size": (10, 13), "mode": "bicubic"}),
    "lines": ((2, 3, 9), {"size": 20, "mode": "linear"}),
    "bodies": ((1, 2, 4, 5, 6), {"size": (7, 8, 9), "mode": "trilinear"}),
    "neighbours": ((1, 4, 8, 8), {"scale_factor": 3, "mode": "nearest"}),
}


@question
def resized(torch: Any, name: str) -> list[int]:
    """The bits of what resizing gives and passes back."""
    torch.manual_seed(4)
    sizes, settings = RESIZED[name]
    x = numbers_of(torch, *sizes).requires_grad_()
    y = torch.nn.functional.interpolate(x, **settings)
    (grad,) = torch.autograd.grad(y, x, numbers_of(torch, *y.shape))
    every = torch.cat([y.detach().reshape(-1)[::7], grad.reshape(-1)[::3]])
    return list(every.view(torch.int32).tolist())


@question
def neighbours(torch: Any, dtype: str, mode: str) -> list[float]:
    """Which row of so many is taken for each of others."""
    found = []
    for size, outs in ((26, (22, 44, 88)), (30, (26, 58, 86)), (4, (49, 82)), (39, (33, 66))):
        rows = torch.arange(size, dtype=getattr(torch, dtype))
        for out in outs:
            for shape, wanted in (((1, 1, size), out), ((1, 1, size, 1), (out, 1))):
                y = torch.nn.functional.interpolate(rows.view(shape), size=wanted, mode=mode)
                found += y.flatten().tolist()
    return found


# The sizes of queries, of keys and values, and how they meet.
ATTENDED = {
    "few": ((2, 2, 7, 8), (2, 2, 7, 8), {}),
    "vectors of keys": ((1, 2, 8, 8), (1, 2, 36, 8), {}),
    "blocks of rows": ((1, 2, 40, 16), (1, 2, 40, 16), {"is_causal": True}),
    "one row": ((2, 3, 1, 4), (2, 3, 16, 4), {"scale": 0.3}),
}


@question
def attended(torch: Any, name: str) -> list[int]:
    """The bits of what attention gives and passes back."""
    torch.manual_seed(6)
    rows, keys, settings = ATTENDED[name]
    sides = [numbers_of(torch, *sizes).requires_grad_() for sizes in (rows, keys, keys)]
    y = torch.nn.functional.scaled_dot_product_attention(*sides, **settings)
    grads = torch.autograd.grad(y, sides, numbers_of(torch, *y.shape))
    every = torch.cat([part.detach().reshape(-1)[::3] for part in (y, *grads)])
    return list(every.view(torch.int32).tolist())


NETWORKS = {
    "pictures": (
        "nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), "
        "nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 10)",
        (8, 1, 28, 28),
    ),
    "channels alone": (
        "nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU6(), "
        "nn.Conv2d(8, 8, 3, 1, 1, groups=8, bias=False), nn.BatchNorm2d(8), nn.ReLU6(), "
        "nn.Conv2d(8, 16, 1, bias=False), nn.GroupNorm(4, 16), nn.ReLU(), "
        "nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)",
        (8, 3, 16, 16),
    ),
    "attention": (
        "nn.Linear(6, 32), nn.TransformerEncoderLayer(32, 4, 64, 0.1, batch_first=True), "
        "nn.LayerNorm(32), nn.Flatten(), nn.Linear(320, 10)",
        (8, 10, 6),
    ),
}


@question
def trained(torch: Any, name: str) -> list[int]:
    """The bits of the losses of some steps of a small network."""
    torch.manual_seed(0)
    layers, sizes = NETWORKS[name]
    net = torch.nn.Sequential(*eval(layers, {"nn": torch.nn}))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    x, y = torch.randn(sizes), torch.arange(8)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return list(torch.stack(losses).view(torch.int32).tolist())


def skip_without_vectors() -> None:
    if not (oracle.ask("kernels")["convolutions"] and in_turn.adds_in_turn()):
        pytest.skip("one of the two libraries has other routines on this processor")


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_are_added_up_in_the_order_of_onednn(name: str) -> None:
    skip_without_vectors()
    assert convolved(gradcli, name) == oracle.ask("convolved", name)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_learns_to_the_last_bit(name: str) -> None:
    skip_without_vectors()
    assert trained(gradcli, name) == oracle.ask("trained", name)


def test_a_bias_whose_sum_overflows_leaves_the_others_alone() -> None:
    x, w = gradcli.full((2, 1, 80, 80), 1e-30), gradcli.ones(2, 1, 3, 3, requires_grad=True)
    b = gradcli.zeros(2, requires_grad=True)
    grad = gradcli.ones(2, 2, 78, 78)
    grad[:, 0] = 1e38
    gradcli.nn.functional.conv2d(x, w, b).backward(grad)
    assert b.grad.tolist() == [numpy.inf, 2.0 * 78 * 78] and w.grad.isfinite().all()


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_are_the_same_within_rounding(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On processors where NumPy's library adds otherwise, and with numbers that are not finite."""
    function, input, weight, bias, settings = CONVOLUTIONS[name]

    def results(dtype: Any, spoiled: bool) -> list[Any]:
        draw = numpy.random.RandomState(5)
        x, w, b = (draw.standard_normal(sizes) for sizes in (input, weight, (bias,)))
        if spoiled:
            x.flat[7] = numpy.inf
        x, w, b = (gradcli.tensor(part, dtype=dtype, requires_grad=True) for part in (x, w, b))
        y = getattr(gradcli.nn.functional, function)(x, w, b if bias else None, **settings)
        grads = gradcli.autograd.grad(y.sum(), (x, w))
        return [part.detach().numpy() for part in (y, *grads)]

    for spoiled in (False, True):
        exact = results(gradcli.float64, spoiled)
        for one, other in zip(results(gradcli.float32, spoiled), exact, strict=True):
            numpy.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-3)
    monkeypatch.setattr(convolution_kernels, "adds_in_turn", lambda: False)
    for one, other in zip(results(gradcli.float32, False), results(gradcli.float64, False)):
        numpy.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("name", RESIZED)
def test_pictures_are_resized_to_the_last_bit(name: str) -> None:
    if not oracle.ask("kernels")["vectors"]:
        pytest.skip("PyTorch's vectors are others on this processor")
    assert resized(gradcli, name) == oracle.ask("resized", name)


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_same_neighbour_is_taken(dtype: str, mode: str) -> None:
    assert neighbours(gradcli, dtype, mode) == oracle.ask("neighbours", dtype, mode)


@pytest.mark.parametrize("name", ATTENDED)
def test_attention_agrees_to_the_last_bit(name: str) -> None:
    skip_without_vectors()
    assert attended(gradcli, name) == oracle.ask("attended", name)
