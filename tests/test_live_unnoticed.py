"""Tests: what a recording asks of the values of a program, none of them hears."""

from __future__ import annotations

import asyncio
import gc
import json
import signal
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_here import here

torch = pytest.importorskip("torch")

from gradcli import inspect  # noqa: E402
from gradcli.live.defects import Defects  # noqa: E402

HEARD: list[str] = []


def hearing(name: str) -> Callable[..., Any]:
    def method(self: Any, *given: Any) -> Any:
        HEARD.append(name)
        return getattr(super(type(self), self), name)(*given)

    return method


def noisy(base: type) -> type:
    """A class that notes each method that is called."""
    names = "__getattribute__ __iter__ __len__ __getitem__ __contains__ __eq__ items values get"
    table = {name: hearing(name) for name in names.split() if hasattr(base, name)}
    return type(f"Noisy{base.__name__}", (base,), {**table, "__hash__": base.__hash__})


THING, DICT, LIST, TUPLE, TEXT = map(noisy, (object, dict, list, tuple, str))
MODULE = type("Noisy", (torch.nn.Linear,), {
    name: hearing(name) for name in ("named_parameters", "named_modules", "parameters", "children")
} | {"__eq__": hearing("__eq__"), "__hash__": torch.nn.Module.__hash__})  # fmt: skip


@pytest.fixture(autouse=True)
def silence() -> Iterator[None]:
    yield
    HEARD.clear()


@pytest.mark.parametrize("options", [{}, {"reasons": False}, {"steps": True}])
def test_values_hear_nothing(options: dict[str, bool]) -> None:
    x = torch.ones(2, requires_grad=True)
    with inspect.record(**options) as run:
        thing, text = THING(), TEXT("word")
        held = DICT(x=x, thing=thing)
        listed, pair = LIST([x, thing]), TUPLE((thing, held))
        net = MODULE(2, 1)

        def loss(value: Any, kept: Any = pair, **more: Any) -> Any:
            inner = value
            return net(inner).sum()

        result = loss(x, held, thing=listed)
        result.backward()
    assert HEARD == []
    assert x.grad is not None and text is not None
    assert "x" in str(run.trace())
    if "reasons" not in options:
        assert "x.grad" in str(run.why("x"))
        assert run.flow()
    assert run.show().html()
    assert HEARD == []


def test_a_weak_proxy_of_what_is_gone() -> None:
    x = torch.ones(2, requires_grad=True)
    with inspect.record() as run:
        gone = weakref.proxy(THING())
        held = [gone]
        (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    assert len(held) == 1 and "x.grad" in str(run.why("x"))


def test_answers_call_no_tensor_class_of_the_program() -> None:
    class Told(torch.Tensor):  # type: ignore[misc]
        @classmethod
        def __torch_function__(
            cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            HEARD.append(getattr(function, "__name__", ""))
            return super().__torch_function__(function, types, args, kwargs or {})

    x = torch.ones(2).as_subclass(Told).requires_grad_()
    HEARD.clear()
    with inspect.record() as run:
        y = (x * 2).sum()
        y.backward()
    assert HEARD == ["mul", "sum", "backward"]
    for answer in (run.trace(), run.why(), run.flow(), run.paths("y", "x"), run.show()):
        assert str(answer)
    assert run.trace().to_dict()
    assert str(inspect.trace((x * 2).sum()))
    assert HEARD == ["mul", "sum", "backward", "mul", "sum"]


def test_a_trace_function_of_the_recorded_file() -> None:
    lines: list[str] = []

    def trace(frame: Any, event: str, argument: Any) -> Any:
        if frame.f_code.co_name == "traced":
            lines.append(event)
        return trace

    def traced(value: Any) -> Any:
        doubled = value * 2
        return doubled.sum()

    x = torch.ones(2, requires_grad=True)
    before = sys.gettrace()
    with inspect.record() as run:
        sys.settrace(trace)
        try:
            y = traced(x)
        finally:
            sys.settrace(before)
        y.backward()
    assert (lines[0], lines[-1]) == ("call", "return")
    assert "x.grad" in str(run.why("x"))


def test_what_a_signal_raises_is_no_defect() -> None:
    class Late(Exception):
        pass

    def late(*given: object) -> None:
        raise Late

    found, before = Defects(), signal.signal(signal.SIGUSR1, late)
    try:
        with pytest.raises(Late):
            try:
                signal.raise_signal(signal.SIGUSR1)
            except Exception as error:
                found.append(error)
        assert found == []
        try:
            raise KeyError(1)
        except Exception as error:
            found.append(error)
        assert [type(one) for one in found] == [KeyError]
    finally:
        signal.signal(signal.SIGUSR1, before)


def patched() -> list[object]:
    """What a recording puts into PyTorch, and modes."""
    names = ("backward", "compile", "set_grad_enabled")
    return [
        torch.autograd._engine_run_backward, torch.autograd.Function.apply, step.__code__,
        torch.nn.Module.register_full_backward_hook, torch.optim.Optimizer.add_param_group,
        len(torch.nn.modules.module._global_forward_hooks), torch._C._len_torch_function_stack(),
        *(getattr(torch, name, None) for name in names),
    ]  # fmt: skip


def step(factor: float) -> Any:
    x = torch.ones(2, requires_grad=True)
    (x * factor).sum().backward()
    return x.grad.tolist()


def test_recordings_end_in_any_order() -> None:
    before = patched()
    first, second = inspect.record(), inspect.record()
    first.__enter__()
    second.__enter__()
    assert step(2.0) == [2.0, 2.0]
    first.__exit__(None, None, None)
    assert step(3.0) == [3.0, 3.0]
    second.__exit__(None, None, None)
    assert patched() == before
    assert "3" in str(second.trace())

    async def recorded(factor: float) -> Any:
        with inspect.record():
            await asyncio.sleep(0)
            found = step(factor)
            await asyncio.sleep(0)
        return found

    async def several() -> Any:
        return await asyncio.gather(*map(recorded, (1.0, 2.0, 3.0)))

    assert asyncio.run(several()) == [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
    assert patched() == before


def test_a_recording_that_never_began_or_ends_elsewhere() -> None:
    with pytest.raises(RuntimeError, match="nothing was recorded"):
        inspect.record().__exit__(None, None, None)
    found: list[str] = []

    def end() -> None:
        try:
            run.__exit__(None, None, None)
        except RuntimeError as error:
            found.append(str(error))

    with inspect.record() as run:
        thread = threading.Thread(target=end)
        thread.start()
        thread.join()
        step(2.0)
    assert found == ["a recording ends in the thread in which it began"]
    assert "x" in str(run.trace())


def test_a_recording_in_another_thread_is_its_own() -> None:
    """Hooks of modules and the call of PyTorch's engine are those of all threads."""
    runs: list[Any] = []

    def other() -> None:
        with inspect.record() as run:
            net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh())
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            net(torch.ones(1, 2)).sum().backward()
            optimizer.step()
        runs.append(run)

    w = torch.ones(2, requires_grad=True)
    with inspect.record() as run:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        loss = (w * 2).sum()
        loss.backward()
    own, its = run.flow().to_dict(), runs[0].flow().to_dict()
    assert [row["name"] for row in own["leaves"]] == ["w"] and len(own["passes"]) == 1
    assert [row["name"] for row in its["leaves"]] == ["net.0.weight", "net.0.bias"]
    assert len(its["passes"]) == 1


def held_by(tensor: Any) -> Any:
    return (tensor * 2).sum()


def test_recordings_that_are_over_hold_nothing() -> None:
    """Neither those of one name nor those of functions that are over; the last one is known."""
    known: list[weakref.ref[Any]] = []

    def one() -> None:
        with inspect.record() as inner:
            x = torch.ones(300, requires_grad=True)
            known.append(weakref.ref(x))
            held_by(x).backward()
        assert inner.why("x")

    for _ in range(2):
        one()
    for _ in range(2):
        with inspect.record() as run:
            y = torch.ones(300, requires_grad=True)
            known.append(weakref.ref(y))
            held_by(y).backward()
        assert run.trace()
    del y, run
    with inspect.record():
        held_by(torch.ones(2, requires_grad=True)).backward()
    gc.collect()
    assert [ref() is None for ref in known] == [True] * 4


def test_a_mode_of_the_program_observes_no_name_that_is_bound(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        "import torch\nfrom torch.overrides import TorchFunctionMode\nheard = []\n"
        "class Mode(TorchFunctionMode):\n"
        "    def __torch_function__(self, function, kinds, args=(), kwargs=None):\n"
        "        heard.append(function.__name__)\n"
        "        return function(*args, **(kwargs or {}))\n"
        "x = torch.ones(2, requires_grad=True)\n"
        "with Mode():\n    y = x * 2\n    z = y.sum()\nprint(heard)\n", "utf-8",
    )  # fmt: skip
    assert "['mul', 'sum']" in here("trace", str(file), "--engine", "torch").stdout


CHECKPOINTED = """import torch
from torch.utils.checkpoint import checkpoint
torch.manual_seed(0)
net = torch.nn.Linear(2, 2)
net.weight.register_hook(lambda grad: grad * 2)
net.weight.register_post_accumulate_grad_hook(lambda leaf: None)
x = torch.ones(1, 2, requires_grad=True)
checkpoint(net, x, use_reentrant=True).sum().backward()
"""


def test_hooks_of_leaves_that_only_a_checkpoint_comes_to(tmp_path: Path) -> None:
    """The pass that the program began does not come to them; the one within it does."""
    file = tmp_path / "program.py"
    file.write_text(CHECKPOINTED, "utf-8")
    told = json.loads(here("trace", str(file), "--engine", "torch", "--format", "json").stdout)
    assert [(hook["name"], hook["kind"]) for hook in told["hooks"]] == [
        ("net.weight", "tensor"), ("net.weight", "post accumulate")
    ]  # fmt: skip
