"""Tests of devices: where tensors are, how they move, what is said where they do not meet."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from command_here import here as gradcli_here
from cuda_here import STAND_IN, on, standing_in
from oracle import torch

import gradcli
from gradcli.engine.memory import device as devices

F = gradcli.nn.functional
ROOT = Path(__file__).parent.parent
APART = "Expected all tensors to be on the same device, but found at least two devices, "
GOT = "Expected all tensors to be on the same device, but got {} is on {}, different from other "
GOT += "tensors on {} (when checking argument in method wrapper_CUDA_{})"


def there(*shape: int, grad: bool = False) -> Any:
    return gradcli.ones(shape, device="cuda", requires_grad=grad)


def here(*shape: int, grad: bool = False) -> Any:
    return gradcli.ones(shape, requires_grad=grad)


def said(text: str) -> str:
    names = {"torch": gradcli, "F": F, "there": there, "here": here}
    with pytest.raises((RuntimeError, TypeError)) as caught:
        eval(text, names)
    return str(caught.value)


def given(text: str) -> Any:
    return eval(text, {"torch": gradcli, "F": F, "there": there, "here": here})


# ---- where tensors are


def test_a_tensor_says_where_it_is(cuda: float) -> None:
    x = gradcli.tensor([1.0, 2.0], device="cuda", requires_grad=True)
    assert repr(x) == "tensor([1., 2.], device='cuda:0', requires_grad=True)"
    assert repr(x.detach().long()) == "tensor([1, 2], device='cuda:0')"
    assert repr(x * 2) == "tensor([2., 4.], device='cuda:0', grad_fn=<MulBackward0>)"
    assert (x.is_cuda, x.is_cpu, x.get_device(), x.type()) == (
        True, False, 0, "torch.cuda.FloatTensor",
    )  # fmt: skip
    (x * x).sum().backward()
    assert str(x.grad.device) == "cuda:0" and x.grad.tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    "text",
    [
        "there(2).to('cuda')", "here(2).cuda()", "here(2).cuda(0)", "here(2).to(there(1))",
        "here(2).type_as(there(1))", "torch.zeros_like(there(2))", "there(2).new_zeros(3)",
        "there(2).new_tensor([1.0])", "torch.rand_like(there(2))", "there(2).double()",
        "torch.tensor(there(2).sum())", "torch.as_tensor(there(2))", "there(3)[[0, 1]]",
        "torch.arange(3, device='cuda:0')", "torch.eye(2, device=torch.device('cuda', 0))",
        "torch.nn.Linear(2, 2, device='cuda').weight", "torch.nn.Linear(2, 2).cuda().weight",
        "torch.nn.Linear(2, 2).to('cuda')(there(1, 2))", "torch.linspace(0, 1, 3, device='cuda')",
        "torch.full((2,), 1.5, device=0)", "there(2).unbind()[0]", "there(2, 2).T",
    ],
)  # fmt: skip
def test_on_the_gpu(cuda: float, text: str) -> None:
    assert str(given(text).device) == "cuda:0"


@pytest.mark.parametrize(
    "text", ["there(2).cpu()", "there(2).to('cpu')", "there(2).to(here(1))", "here(2).to('cpu')",
             "torch.tensor([there(1)[0], 2.0])", "torch.zeros(2)",
             "torch.rand_like(there(2), device='cpu')", "torch.zeros_like(there(2), device='cpu')"],
)  # fmt: skip
def test_on_the_cpu(cuda: float, text: str) -> None:
    assert str(given(text).device) == "cpu"


def test_moving_is_a_node_and_the_gradient_comes_home(cuda: float) -> None:
    x = gradcli.tensor([1.0, 2.0], requires_grad=True)
    moved = x.cuda()
    assert (str(moved.device), moved.grad_fn.name()) == ("cuda:0", "ToCopyBackward0")
    assert moved.to("cuda") is moved and not moved.is_leaf
    (moved * moved).sum().backward()
    assert str(x.grad.device) == "cpu" and x.grad.tolist() == [2.0, 4.0]
    y = gradcli.tensor([3.0], device="cuda", requires_grad=True)
    (grad,) = gradcli.autograd.grad((y.cpu().double() ** 2).sum(), y, create_graph=True)
    assert (str(grad.device), grad.dtype, grad.tolist()) == ("cuda:0", gradcli.float32, [6.0])
    (second,) = gradcli.autograd.grad(grad.sum(), y)
    assert (str(second.device), second.tolist()) == ("cuda:0", [2.0])


def test_copying_crosses_devices(cuda: float) -> None:
    x = gradcli.tensor([1.0, 2.0], device="cuda", requires_grad=True)
    kept = here(2).copy_(x * 3)
    assert str(kept.device) == "cpu" and kept.tolist() == [3.0, 6.0]
    kept.sum().backward()
    assert str(x.grad.device) == "cuda:0" and x.grad.tolist() == [3.0, 3.0]
    row = there(2, 2)
    row[0] = gradcli.tensor([5.0, 6.0])
    assert row.tolist() == [[5.0, 6.0], [1.0, 1.0]]


# ---- where they meet


def test_numbers_of_the_cpu_come_along(cuda: float) -> None:
    scale = gradcli.tensor(3.0, requires_grad=True)
    x = there(2, grad=True)
    y = x * scale + gradcli.tensor(1.0)
    assert (str(y.device), y.tolist()) == ("cuda:0", [4.0, 4.0])
    y.sum().backward()
    assert (str(scale.grad.device), scale.grad.item()) == ("cpu", 2.0)
    assert str(x.grad.device) == "cuda:0" and x.grad.tolist() == [3.0, 3.0]
    twice = scale * 2
    (grad,) = gradcli.autograd.grad((x * twice * scale).sum(), scale, create_graph=True)
    assert (str(grad.device), grad.item()) == ("cpu", 24.0)
    assert gradcli.autograd.grad(grad, scale)[0].item() == 8.0
    assert str((gradcli.tensor(2.0) * there()).device) == "cuda:0"
    assert there(2).masked_fill(there(2) > 0, gradcli.tensor(3.0)).tolist() == [3.0, 3.0]
    assert gradcli.where(there(2) > 0, there(2), gradcli.tensor(0.0)).tolist() == [1.0, 1.0]


def test_indices_of_the_cpu_come_along(cuda: float) -> None:
    x = there(3, grad=True)
    y = x[gradcli.tensor([0, 2, 2])] * 2
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 0.0, 4.0]
    assert there(3)[gradcli.tensor([True, False, True])].tolist() == [1.0, 1.0]
    written = there(3)
    written[gradcli.tensor([1])] = 7.0
    assert written.tolist() == [1.0, 7.0, 1.0]
    assert said("here(3)[torch.tensor([0], device='cuda')]") == (
        "indices should be either on cpu or on the same device as the indexed tensor (cpu)"
    )


@pytest.mark.parametrize(
    "text",
    [
        "there(2) + here(2)", "here(2) + there(2)", "there(2) > here(2)", "there(2).add_(here(2))",
        "here(2).add_(there(2))", "here().add_(there())", "torch.maximum(there(2), here(2))",
        "torch.where(there(2) > 0, there(2), here(2))",
        "torch.addcmul(there(2), here(2), there(2))", "torch.lerp(there(2), here(2), 0.5)",
        "F.mse_loss(there(2), here(2))",
        "torch.masked_fill(there(2), here(2) > 0, 1.0)", "torch.allclose(there(2), here(2))",
    ],
)  # fmt: skip
def test_two_devices(cuda: float, text: str) -> None:
    assert said(text) == APART + "cuda:0 and cpu!"


@pytest.mark.parametrize(
    ("text", "name", "method"),
    [
        ("there(2, 2) @ here(2, 2)", "mat2", "mm"),
        ("there(2, 2) @ here(2)", "vec", "_mv"),
        ("torch.bmm(there(1, 2, 2), here(1, 2, 2))", "mat2", "bmm"),
        ("F.linear(here(1, 2), there(2, 2), there(2))", "mat1", "addmm"),
        ("torch.cat([there(2), here(2)])", "tensors", "cat"),
        ("torch.gather(there(3), 0, torch.tensor([0]))", "index", "gather"),
        ("torch.index_select(there(3), 0, torch.tensor([0]))", "index", "_index_select"),
        ("F.embedding(torch.tensor([0]), there(3, 2))", "index", "_index_select"),
        ("F.cross_entropy(there(2, 3), torch.tensor([0, 1]))", "target", "nll_loss_forward"),
        ("F.layer_norm(there(2, 3), (3,), here(3))", "weight", "_native_layer_norm"),
        ("torch.dot(there(2), here(2))", "tensor", "_dot"),
        ("torch.equal(there(2), here(2))", "other", "_equal"),
    ],
)
def test_an_argument_that_is_elsewhere(cuda: float, text: str, name: str, method: str) -> None:
    assert said(text) == GOT.format(name, "cpu", "cuda:0", method)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "F.conv2d(there(1, 1, 3, 3), here(1, 1, 2, 2))",
            "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the "
            "same",
        ),
        (
            "F.conv2d(here(1, 1, 3, 3), there(1, 1, 2, 2))",
            "Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the "
            "same or input should be a MKLDNN tensor and weight is a dense tensor",
        ),
        (
            "there(2).numpy()",
            "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor "
            "to host memory first.",
        ),
        (
            "(there(2, grad=True) * 2).backward(here(2))",
            "invalid gradient at index 0 - expected device cuda:0 but got cpu",
        ),
        (
            "setattr(there(2, grad=True), 'grad', here(2))",
            "attempting to assign a gradient with device type 'cpu' to a tensor with device type "
            "'cuda'. Please ensure that the gradient and the tensor are on the same device",
        ),
        (
            "torch.zeros(1, device='cuda:7')",
            "CUDA error: invalid device ordinal\n"
            "GPU device may be out of range, do you have enough GPUs?",
        ),
    ],
)
def test_other_words(cuda: float, text: str, message: str) -> None:
    assert said(text) == message


# ---- torch.cuda and the default device


def test_the_default_device(cuda: float) -> None:
    with gradcli.device("cuda"):
        assert str(gradcli.ones(1).device) == "cuda:0"
        with gradcli.device("cpu"):
            assert str(gradcli.ones(1).device) == "cpu"
    assert str(gradcli.ones(1).device) == "cpu" == str(gradcli.get_default_device())
    gradcli.set_default_device("cuda")
    try:
        assert str(gradcli.tensor([1.0]).device) == "cuda:0" == str(gradcli.get_default_device())
    finally:
        gradcli.set_default_device(None)
    assert str(gradcli.ones(1).device) == "cpu"


def test_questions_about_the_gpu(cuda: float) -> None:
    assert gradcli.cuda.is_available() and gradcli.accelerator.is_available()
    assert gradcli.cuda.device_count() >= 1 and gradcli.cuda.current_device() == 0
    assert gradcli.accelerator.current_accelerator() == gradcli.device("cuda")
    assert gradcli.cuda.get_device_name(0) and gradcli.cuda.memory_allocated() >= 0
    gradcli.cuda.synchronize()
    gradcli.cuda.empty_cache()
    gradcli.cuda.manual_seed_all(1)


def test_questions_where_no_gpu_is() -> None:
    if devices.cuda_available():
        pytest.skip("a GPU is here")
    assert (gradcli.cuda.is_available(), gradcli.cuda.device_count()) == (False, 0)
    assert gradcli.accelerator.current_accelerator() is None
    assert gradcli.cuda.memory_allocated() == 0 and gradcli.cuda.empty_cache() is None
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        gradcli.cuda.current_device()


def test_several_gpus() -> None:
    with standing_in(2), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, second = gradcli.ones(2, device="cuda:0"), gradcli.ones(2, device="cuda:1")
        assert repr(second * 2) == "tensor([2., 2.], device='cuda:1')"
        assert said_of(lambda: first + second) == APART + "cuda:0 and cuda:1!"
        assert (first.to("cuda:1") + second).tolist() == [2.0, 2.0]
        assert on("cuda:1", lambda: str(gradcli.zeros(1).device)) == "cuda:1"


def said_of(call: Any) -> str:
    with pytest.raises(RuntimeError) as caught:
        call()
    return str(caught.value)


# ---- what is missing


def run(tmp_path: Path, text: str, *options: str, **more: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, with what `more` adds to its environment."""
    file = tmp_path / "program.expr"
    file.write_text(text)
    path = os.pathsep.join([str(ROOT), more.pop("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "gradcli", "run", str(file), *options],
        env={**os.environ, **more, "PYTHONPATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("text", ["print(torch.ones(2))", "print(torch.ones(2).cuda())"])
def test_cupy_is_missing(tmp_path: Path, text: str) -> None:
    (tmp_path / "cupy.py").write_text("raise ImportError('not here')")
    options = [] if "cuda" in text else ["--device", "cuda"]
    done = run(tmp_path, text, *options, PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (5, "")
    assert "CuPy, which is not installed" in done.stderr
    assert "pip install 'gradcli[cuda]'" in done.stderr


@pytest.mark.parametrize("text", ["print(torch.ones(2))", "print(torch.ones(2).cuda())"])
def test_no_gpu(tmp_path: Path, text: str) -> None:
    options = [] if "cuda" in text else ["--device", "cuda"]
    done = run(tmp_path, text, *options, PYTHONPATH=str(STAND_IN), STAND_IN_DEVICES="0")
    assert (done.returncode, done.stdout) == (5, "")
    assert "is installed but no usable GPU was found; run with --device cpu" in done.stderr


def test_no_such_gpu(tmp_path: Path) -> None:
    for text, options in (("print(1)", ["--device", "cuda:7"]), ("torch.ones(1).cuda(7)", [])):
        done = run(tmp_path, text, *options, PYTHONPATH=str(STAND_IN))
        assert (done.returncode, done.stdout) == (5, "")
        assert "CUDA error: invalid device ordinal" in done.stderr


def test_the_command_on_the_stand_in(tmp_path: Path) -> None:
    text = "x = torch.ones(2, requires_grad=True)\nx.tanh().sum().backward()\nprint(x.grad)"
    done = run(tmp_path, text, "--device", "cuda", PYTHONPATH=str(STAND_IN))
    assert (done.returncode, done.stdout) == (0, "tensor([0.4200, 0.4200], device='cuda:0')\n")


def test_pytorch_without_cuda(tmp_path: Path) -> None:
    if torch is None or torch.cuda.is_available():
        pytest.skip("needs a PyTorch without CUDA")
    file = tmp_path / "program.expr"
    file.write_text("x = torch.ones(2, requires_grad=True)\ny = (x * x).sum()\n")
    with standing_in():
        done = gradcli_here("check", str(file), "--against", "torch", "--device", "cuda")
    assert done.returncode == 5
    assert "this PyTorch has no CUDA device" in done.stdout + done.stderr
