"""Tests on a CUDA device: every sample of the catalogue gives there what it gives on the CPU."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from conftest import has_cuda
from examine import SEED, tensors, values
from operands import FLOATING, scope

import gradcli
from gradcli.operators import catalogue

pytestmark = pytest.mark.cuda
if not has_cuda():
    pytest.skip("needs a CUDA device and the cuda extra", allow_module_level=True)

CLOSE = 1e-4
# Samples that make operands of their own make them on the CPU, and devices do not mix.
SAMPLES = [
    text
    for row in catalogue.rows.values()
    for text in row.samples
    if not any(word in text for word in ("torch.tensor(", "torch.zeros(", "torch.ones(", "rand"))
]


def result(text: str, device: str) -> list[Any]:
    names = scope(gradcli)
    for name, value in list(names.items()):
        if isinstance(value, gradcli.Tensor):
            grad = value.requires_grad
            names[name] = value.detach().to(device).requires_grad_(grad)
    gradcli.manual_seed(SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(tensors(eval(text, names), gradcli))
        answer = [values(tensor.cpu()) for tensor in found]
        if any(tensor.requires_grad for tensor in found):
            kept = {name: names[name] for name in (*FLOATING, "d")}
            grads = gradients(found, kept)
            answer += [None if grad is None else values(grad.cpu()) for grad in grads]
    return answer


def gradients(found: list[Any], kept: dict[str, Any]) -> list[Any]:
    roots = [tensor for tensor in found if tensor.requires_grad]
    seeds = [gradcli.ones_like(root) for root in roots]
    return list(gradcli.autograd.grad(roots, list(kept.values()), seeds, allow_unused=True))


def far(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, list) and isinstance(ours, list):
        return len(ours) != len(theirs) or any(map(far, ours, theirs))
    if isinstance(theirs, float) and isinstance(ours, float):
        return abs(ours - theirs) > CLOSE * max(1.0, abs(theirs))
    return bool(ours != theirs)


@pytest.mark.parametrize("text", dict.fromkeys(SAMPLES))
def test_same_on_both_devices(text: str) -> None:
    assert not far(result(text, "cuda"), result(text, "cpu"))


def test_a_tensor_says_where_it_is() -> None:
    x = gradcli.tensor([1.0, 2.0], device="cuda", requires_grad=True)
    assert repr(x) == "tensor([1., 2.], device='cuda:0', requires_grad=True)"
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_a_tensor_moves_to_the_device() -> None:
    x = gradcli.tensor([1.0, 2.0], requires_grad=True)
    moved = x.cuda()
    assert (str(moved.device), moved.grad_fn.name()) == ("cuda:0", "ToCopyBackward0")
    (moved * moved).sum().backward()
    assert str(x.grad.device) == "cpu" and x.grad.tolist() == [2.0, 4.0]


def test_random_numbers_are_those_of_the_cpu() -> None:
    gradcli.manual_seed(1)
    here = gradcli.randn(20, device="cuda").cpu().tolist()
    gradcli.manual_seed(1)
    assert here == gradcli.randn(20).tolist()
