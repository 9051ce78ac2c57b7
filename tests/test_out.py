"""Tests of out=...: what PyTorch refuses to write into, what it writes, and in which type.

Each call runs with every kind of `out`, under PyTorch and here.
"""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from oracle import oracle, question

import gradcli

CALLS = """
torch.add(x, y)
torch.sub(x, 2)
torch.div(i, 2)
torch.exp(x)
torch.abs(x)
torch.absolute(x)
torch.floor(x)
torch.round(x)
torch.bitwise_and(i, 3)
torch.maximum(x, y)
torch.clamp(x, -0.5, 0.5)
torch.clamp(x, min=y)
torch.lerp(x, y, 0.5)
torch.where(x > 0, x, y)
torch.pow(x, 2)
torch.eq(x, y)
torch.logical_not(x)
torch.isposinf(x)
torch.nan_to_num(x)
torch.complex(x, y)
torch.cat([x, y])
torch.stack([x, y])
torch.hstack([x, y])
torch.gather(x, 1, i)
torch.index_select(x, 1, i[0])
torch.masked_select(x, x > 0)
torch.take(x, i)
torch.scatter(x, 1, i, y)
torch.cumsum(x, 1)
torch.cumprod(x, 0)
torch.logcumsumexp(x, 1)
torch.cummax(x, 1)
torch.sort(x)
torch.topk(x, 2)
torch.mode(x)
torch.aminmax(x, dim=1)
torch.max(x)
torch.max(x, 1)
torch.amax(x, 1)
torch.argmax(x, 1)
torch.mean(x, 1)
torch.sum(x)
torch.sum(x, 1)
torch.prod(x)
torch.prod(x, 1)
torch.median(x)
torch.var(x, 1)
torch.logsumexp(x, 1)
torch.all(i)
torch.count_nonzero(x)
torch.norm(x)
torch.mm(x, y)
torch.addmm(x, y, y)
torch.bmm(x[None], y[None])
torch.mv(x, y[0])
torch.dot(x[0], y[0])
torch.inner(x, y)
torch.outer(x[0], y[0])
torch.tensordot(x, y, 1)
torch.linalg.inv(x)
torch.linalg.det(x)
torch.linalg.solve(x, y)
torch.linalg.multi_dot([x, y, x])
torch.linalg.vector_norm(x)
torch.linalg.matrix_norm(x)
torch.fft.fft(x)
torch.fft.fft2(x)
torch.fft.irfft(x)
torch.tril(x)
torch.diag(x)
torch.softmax(x, 1)
torch.quantile(x, 0.5)
torch.histc(x)
torch.argsort(x)
torch.argsort(x, stable=True)
torch.sin(2.0)
torch.relu(x)
torch.squeeze(x, 0)
torch.zeros(2, 2)
torch.zeros_like(x)
torch.full((2, 2), 1.5)
torch.hann_window(4)
torch.special.expit(x)
torch.special.i0(x)
""".split("\n")[1:-1]

OUTS = {
    "empty": "torch.empty(0, dtype=kind)",
    "of its shape": "torch.zeros(shape, dtype=kind)",
    "of another shape": "torch.zeros(3, 3, dtype=kind)",
    "bool": "torch.zeros(shape, dtype=torch.bool)",
    "int64": "torch.zeros(shape, dtype=torch.int64)",
    "float64": "torch.zeros(shape, dtype=torch.float64)",
    "float16": "torch.zeros(shape, dtype=torch.float16)",
    "one element many times": "torch.zeros((), dtype=kind).expand(shape)",
    "requires grad": "torch.zeros(shape, requires_grad=True)",
    "an operand": "x",
    "an operand's memory": "x.detach()",
    "an operand, transposed": "x.t()",
    "a list": "[torch.zeros(shape)]",
    "a text": "'x'",
    "nothing": "None",
}


def _operands(torch: Any) -> dict[str, Any]:
    return {
        "torch": torch,
        "x": torch.tensor([[2.0, 0.5], [0.25, 1.5]]),
        "y": torch.tensor([[1.25, -0.5], [0.75, 2.0]]),
        "i": torch.tensor([[1, 0], [0, 1]]),
    }


def _told(torch: Any, value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_told(torch, item) for item in value]
    shown = value.detach().to(torch.complex128)
    numbers = [[round(n.real, 4), round(n.imag, 4)] for n in shown.flatten().tolist()]
    return [str(value.dtype), list(value.shape), numbers, value._version]


def _one(torch: Any, call: str, out: str) -> Any:
    names = _operands(torch)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            plain = eval(call, names)
            first = plain[0] if isinstance(plain, tuple) else plain
            names |= {"shape": tuple(first.shape), "kind": first.dtype}
        except Exception:
            names |= {"shape": (2, 2), "kind": torch.float32}
            first = plain = names["x"]
        if "x" in out and names["shape"] != (2, 2) and out != "'x'":
            return None  # an operand keeps its shape
        names["out"] = eval(out, names)
        if isinstance(plain, tuple) and "'" not in out and out != "None" and "[" not in out:
            names["out"] = (names["out"], torch.zeros(names["shape"], dtype=plain[1].dtype))
        try:
            result = eval(f"{call[:-1]}, out=out)", names)
        except (RuntimeError, TypeError, NotImplementedError) as error:
            return f"{type(error).__name__}: {str(error).split(chr(10))[0]}"
    resized = any("was resized" in str(warning.message) for warning in caught)
    return [_told(torch, result), resized]


@question
def written(torch: Any, call: str) -> Any:
    answers = {kind: _one(torch, call, out) for kind, out in OUTS.items()}
    return {kind: answer for kind, answer in answers.items() if answer is not None}


KNOWN = {  # differences that stay, and why
    ("torch.linalg.inv(x)", "an operand, transposed"): "PyTorch reads what it has written",
    ("torch.tril(x)", "an operand, transposed"): "the same",
    ("torch.fft.fft(x)", "requires grad"): "wrong in two ways: PyTorch looks at the type first",
    ("torch.fft.fft2(x)", "requires grad"): "the same",
    ("torch.diag(x)", "requires grad"): "PyTorch names the kernel below it",
    ("torch.isposinf(x)", "an operand, transposed"): "the same",
    ("torch.complex(x, y)", "an operand, transposed"): "the same",
    ("torch.topk(x, 2)", "an operand, transposed"): "PyTorch reads what it has written",
    ("torch.cummax(x, 1)", "an operand, transposed"): "PyTorch reads what it has written",
    ("torch.bitwise_and(i, 3)", "requires grad"): "PyTorch names the kernel in full",
    ("torch.sum(x)", "nothing"): "PyTorch refuses out=None as well",
    ("torch.prod(x)", "nothing"): "the same",
    ("torch.norm(x)", "a list"): "PyTorch's Python code asks its kernel",
    ("torch.norm(x)", "a text"): "the same",
    ("torch.tensordot(x, y, 1)", "a list"): "the same",
    ("torch.tensordot(x, y, 1)", "a text"): "the same",
}


PRODUCTS = "torch.mm(x, y)", "torch.linalg.multi_dot([x, y, x])"


@pytest.mark.parametrize("call", CALLS)
def test_what_is_refused_and_what_is_written(call: str) -> None:
    ours, theirs = written(gradcli, call), oracle.ask(written.__name__, call)
    apart = {kind for kind in theirs if ours[kind] != theirs[kind]}
    if call in PRODUCTS:  # some processors' routines read what they have written
        apart -= {"an operand", "an operand's memory", "an operand, transposed"}
    assert apart == {kind for name, kind in KNOWN if name == call}
