"""Tests of `--engine torch`: what torch.func, forward mode and autograd.functional do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command_here import here
from oracle import oracle
from programs_under import sections
from test_live import close, traced

needs_torch = pytest.mark.skipif(not oracle.has_torch, reason="PyTorch is not installed")
PROGRAMS = sections(Path(__file__).parent / "programs" / "live_func.txt")
START = """import torch
from torch.func import *
F = torch.autograd.functional
f = lambda x: (x ** 3).sum()
h = lambda x: x ** 3
x = torch.tensor([1.0, 2.0, 3.0])
v = torch.tensor([1.0, 0.0, 2.0])
"""

# Each with how often PyTorch goes back.
PASSES = {
    "grad(f)(x)": 1, "grad(grad(torch.sin))(x[0])": 2, "vjp(h, x)[1](v)": 1,
    "jvp(h, (x,), (v,))": 0, "jacrev(h)(x)": 1, "jacrev(h, chunk_size=1)(x)": 3, "jacfwd(h)(x)": 0,
    "hessian(f)(x)": 1,
    "jvp(grad(f), (x,), (v,))": 1, "grad(lambda x: jvp(f, (x,), (v,))[1])(x)": 1,
    "linearize(h, x)[1](v)": 0, "jacrev(jacrev(h))(x)": 2, "vmap(grad(torch.sin))(x)": 1,
    "F.jacobian(h, x)": 3, "F.jacobian(h, x, vectorize=True)": 1, "F.hessian(f, x)": 4,
    "F.hessian(f, x, vectorize=True)": 2, "F.vjp(f, x)": 1, "F.jvp(h, x, v)": 2,
    "F.hvp(f, x, v)": 3, "F.vhp(f, x, v)": 2,
}  # fmt: skip


@needs_torch
@pytest.mark.parametrize(("call", "count"), PASSES.items(), ids=list(PASSES))
def test_a_pass_of_a_transformation_is_a_pass(call: str, count: int) -> None:
    own, live = (traced(START + call, engine, "p.py")["backward"] for engine in ("own", "torch"))
    assert own == live and len(live) == count


@needs_torch
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=list(PROGRAMS))
def test_both_engines_report_the_same(text: str) -> None:
    own, live = (traced(text, engine, "p.py") for engine in ("own", "torch"))
    for one in (own, live):  # the command explains it
        one["error"] = one["error"] and [one["error"][key] for key in ("type", "message", "line")]
    assert same(own, live) == []


def same(own: Any, live: Any, path: str = "") -> list[str]:
    """The paths of what differs in two documents."""
    if isinstance(own, dict) and isinstance(live, dict) and own.keys() == live.keys():
        return [one for key in own for one in same(own[key], live[key], f"{path}.{key}")]
    if isinstance(own, list) and isinstance(live, list) and len(own) == len(live):
        pairs = zip(own, live, strict=True)
        return [one for at, (a, b) in enumerate(pairs) for one in same(a, b, f"{path}[{at}]")]
    return [] if close(own, live) else [f"{path}: {own} {live}"]


SEVERAL = {
    "is_grads_batched": "x = torch.ones(2, requires_grad=True)\ny = x ** 2\n"
    "torch.autograd.grad(y, x, torch.eye(2), is_grads_batched=True)\n",
    "jacrev": "torch.func.jacrev(lambda x: x ** 2)(torch.ones(2))\n",
}


@needs_torch
@pytest.mark.parametrize("text", SEVERAL.values(), ids=list(SEVERAL))
@pytest.mark.parametrize("engine", ["own", "torch"])
def test_paths_follow_one_gradient(text: str, engine: str, tmp_path: Path) -> None:
    file = tmp_path / "p.py"
    file.write_text(f"import torch\n{text}", "utf-8")
    done = here("paths", str(file), "--engine", engine)
    assert done.returncode == 2
    assert "pass 1 goes back for several gradients at once" in done.stderr


NESTED = """import torch
from torch.utils.checkpoint import checkpoint
w = torch.ones(2, requires_grad=True)
def block(x):
    return (x * w).sin()
y = checkpoint(block, w * 2, use_reentrant=True)
y.sum().backward()
"""


@needs_torch
def test_a_pass_inside_of_a_pass_is_a_pass() -> None:
    own, live = (traced(NESTED, engine, "p.py") for engine in ("own", "torch"))
    assert own["pass"] == live["pass"] and len(own["backward"]) == len(live["backward"]) == 2
    assert own["passes"] == live["passes"]


@needs_torch
@pytest.mark.parametrize("words", ["step", "flow", "grad"])
@pytest.mark.parametrize("call", [
    "vmap(grad(torch.sin))(x)", "jacrev(h)(x)", "grad(f)(x)",
    "grad(grad(lambda x: x.exp() * x.sin()))(x[0])", "vmap(grad(lambda x: x.sin() * x))(x)",
])  # fmt: skip
def test_other_questions_answer_the_same(words: str, call: str, tmp_path: Path) -> None:
    file = tmp_path / "p.py"
    file.write_text(START + call + "\n", "utf-8")
    own, live = (here(words, str(file), "--engine", engine) for engine in ("own", "torch"))
    assert (own.returncode, own.stdout) == (live.returncode, live.stdout) and not own.returncode
