"""Tests of recordings: what is left in PyTorch and in memory when they are over, and tensors whose
memory is given back while they last."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import pytest
import warm

torch = pytest.importorskip("torch")

from gradcli import inspect  # noqa: E402

LOADED_WITHIN = """
import gc, weakref
import torch
from gradcli import inspect

def train():
    with inspect.record() as run:
        net = torch.nn.Linear(4, 3)
        optimizer = torch.optim.RMSprop(net.parameters())
        net(torch.ones(2, 4)).sum().backward()
        optimizer.step()
    return weakref.ref(net.weight), weakref.ref(run)

assert "torch._dynamo" not in __import__("sys").modules
known = train()
with inspect.record():
    pass
gc.collect()
print([one() is None for one in known])
rules = torch._dynamo.trace_rules.get_torch_obj_rule_map()
print(torch.compile in rules, any("gradcli" in str(getattr(one, "__code__", "")) for one in rules))
"""


def test_a_compiler_that_is_loaded_within_a_recording_knows_nothing_of_it(tmp_path: Path) -> None:
    """An optimizer loads it, which notes its rules by function, and registers operators."""
    file = tmp_path / "p.py"
    file.write_text(LOADED_WITHIN, "utf-8")
    assert warm.python(file).stdout == "[True, True]\nTrue False\n"


class Square(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return 2 * ctx.saved_tensors[0] * grad


def test_what_a_program_keeps_of_pytorch_is_pytorchs_afterwards() -> None:
    def one() -> tuple[Any, ...]:
        module = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(module.parameters())
        with inspect.record() as run:
            kept = Square.apply, module.register_full_backward_hook, optimizer.add_param_group
            w = torch.ones(2, requires_grad=True)
            kept[0](w).sum().backward()
        return weakref.ref(run._session), kept

    (known, (square, hooked, adding)), w = one(), torch.full((2,), 3.0, requires_grad=True)
    with inspect.record():
        pass
    gc.collect()
    assert known() is None
    result = square(w)
    assert "gradcli" not in result.grad_fn.metadata
    hooked(lambda module, given, grads: None).remove()
    adding({"params": [w]})
    result.sum().backward()
    assert w.grad.tolist() == [6, 6]


def test_a_program_may_resize_what_was_shown() -> None:
    """NumPy's view of a tensor would keep it from that."""
    with inspect.record() as run:
        w = torch.arange(40.0, requires_grad=True)
        small, empty = torch.ones(3), torch.empty(0)
        loss = (w * w).sum()
        loss.backward()
        torch.mul(w.detach(), 2, out=empty)
    run.trace()
    run.why("w")
    run.flow()
    run.paths("loss", "w")
    for tensor in (w, w.grad, small, empty):
        tensor.untyped_storage().resize_(0)
        tensor.untyped_storage().resize_(400)


def test_tensors_whose_memory_was_given_back() -> None:
    """FSDP does it with the weights of a layer while others are at work."""
    with inspect.record() as run:
        w = torch.ones(3, 2, requires_grad=True)
        y = torch.nn.functional.linear(torch.ones(4, 2), w)
        memory = w.untyped_storage()
        memory.resize_(0)
        z = y.sum() * 2
        memory.resize_(24)
        w.detach().fill_(1)
        z.backward()
        memory.resize_(0)
        total = z + 1
    traced, told = run.trace().to_dict(), str(run.flow())
    memory.resize_(24)
    assert not run._session.recorder.defects
    assert {row["name"]: row["value"] for row in traced["tensors"]}["w"] is None
    assert "w" in told and w.grad.tolist() == [[8, 8]] * 3 and total.item() == 49


def test_no_copies_of_leaves_outlive_them() -> None:
    def one() -> None:
        with inspect.record() as run:
            net = torch.nn.Linear(100, 7)
            net(torch.ones(2, 100)).sum().backward()
        assert run.trace() and run.why()

    one()
    with inspect.record():
        pass
    gc.collect()
    assert not [one for one in gc.get_objects()
                if type(one) is torch.Tensor and one.shape in ((7, 100), (7,))]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
def test_element_types_that_numpy_does_not_have() -> None:
    with inspect.record() as run:
        w = torch.ones(3, requires_grad=True)
        quantized = torch.quantize_per_tensor(torch.ones(2, 2), 0.5, 0, torch.qint8)
        eighth = torch.full((2,), 2.0).to(torch.float8_e4m3fn)
        stored = torch.empty(2, dtype=torch.uint4)  # noqa: F841
        loss = (w * quantized.dequantize().sum()).sum() + eighth.float().sum()
        loss.backward()
    tensors = {row["name"]: row for row in run.trace().to_dict()["tensors"]}
    assert tensors["quantized"]["value"] == [[1, 1], [1, 1]]
    assert tensors["eighth"]["value"] == [2, 2]
    assert tensors["stored"]["value"] is None and tensors["stored"]["dtype"] == "uint4"
    assert run.why("w").verdict == "fine"


def test_paths_beside_tensors_without_numbers() -> None:
    """They are in the same frame, and no path goes through them."""
    with inspect.record() as run:
        w = torch.ones(2, requires_grad=True)
        away = torch.ones(2, device="meta", requires_grad=True)
        loss = (w * 3).sum()
        loss.backward()
    assert "tensor([3., 3.])" in str(run.paths("loss", "w"))
    with pytest.raises(Exception, match="the device meta has no numbers"):
        run.paths("loss", "away")
    assert away.grad is None
