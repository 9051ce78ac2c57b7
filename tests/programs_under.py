"""Tests: a Python program run with a torch-like library, and what it left behind, as JSON."""

from __future__ import annotations

import contextlib
import io
import json
import re
import warnings
from pathlib import Path
from typing import Any

from examine import name_of, numbers
from oracle import oracle, question

import gradcli

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
# What PyTorch says once in a process, whoever runs first.
ONCE = ("Sparse invariant checks", "Sparse CS", "torch.sparse.SparseTensor(")
_TRIGGERED = re.compile(r"\s*\(Triggered internally at .*?\)\s*$", re.S)


def sections(path: Path) -> dict[str, str]:
    """The programs of a file, by the titles that stand over them."""
    found: dict[str, str] = {}
    title = ""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("### "):
            title = line[4:]
            found[title] = ""
        elif title:
            found[title] += line + "\n"
    return found


def graph(tensor: Any) -> list[Any]:
    """The graph below a tensor: names and edges, nodes numbered as they are met."""
    order: dict[int, int] = {}
    rows: list[Any] = []
    alive = []
    stack = [tensor.grad_fn]
    while stack:
        node = stack.pop(0)
        if node is None or id(node) in order:
            continue
        order[id(node)] = len(rows)
        alive.append(node)
        rows.append([name_of(node), node.next_functions])
        stack.extend(child for child, _ in node.next_functions)
    return [
        [name, [None if child is None else [order[id(child)], number] for child, number in edges]]
        for name, edges in rows
    ]


def elements(tensor: Any) -> Any:
    """Its numbers; of a sparse one with its layout, and with what it keeps."""
    held = tensor.detach()
    layout = str(held.layout)
    if layout == "torch.strided":
        return numbers(held.tolist())
    return [layout, held._nnz(), numbers(held.to_dense().tolist())]


def described(lib: Any, tensor: Any) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grad = tensor.grad
    return {
        "value": elements(tensor),
        "dtype": str(tensor.dtype),
        "shape": list(tensor.shape),
        "flags": [tensor.requires_grad, tensor.is_leaf, tensor.retains_grad],
        "grad": None if grad is None else [elements(grad), str(grad.dtype), name_of(grad.grad_fn)],
        "graph": graph(tensor),
    }


@question
def program(lib: Any, text: str) -> Any:
    """Everything that two libraries could differ in after a program has run."""
    names: dict[str, Any] = {"torch": lib}
    out = io.StringIO()
    error = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with contextlib.redirect_stdout(out):
            try:
                exec(compile(text, "<program>", "exec"), names)
            except Exception as raised:
                error = f"{type(raised).__name__}: {_TRIGGERED.sub('', str(raised))}"
    lib.set_grad_enabled(True)
    words = [
        _TRIGGERED.sub("", str(w.message)).splitlines()[0]
        for w in caught
        if w.category is UserWarning and not str(w.message).startswith(ONCE)
    ]
    return {
        "output": _ADDRESS.sub("", out.getvalue()),
        "error": error,
        "warnings": sorted(set(words)),
        "tensors": {
            name: described(lib, value)
            for name, value in names.items()
            if isinstance(value, lib.Tensor)
        },
    }


def close(ours: Any, theirs: Any) -> bool:
    """Equal, numbers within the last bits of single precision."""
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(
            close(a, b) for a, b in zip(ours, theirs, strict=True)
        )
    if isinstance(ours, float) and isinstance(theirs, float):
        return abs(ours - theirs) <= 1e-6 + 1e-5 * abs(theirs)
    return type(ours) is type(theirs) and bool(ours == theirs)


def compare(text: str) -> None:
    """Asserts that gradcli leaves behind what PyTorch does, as the name `torch`."""
    assert not re.search(r"^\s*(import|from) torch\b", text, re.MULTILINE), "PyTorch's own"
    theirs = oracle.ask("program", text)
    ours = json.loads(json.dumps(program(gradcli, text)))
    for aspect in ("output", "error", "warnings"):
        assert ours[aspect] == theirs[aspect], aspect
    assert list(ours["tensors"]) == list(theirs["tensors"])
    for name, facts in theirs["tensors"].items():
        mine = ours["tensors"][name]
        for aspect in ("dtype", "shape", "flags", "graph"):
            assert mine[aspect] == facts[aspect], f"{name}: {aspect}"
        assert close(mine["value"], facts["value"]), f"{name}: value"
        assert close(mine["grad"], facts["grad"]), f"{name}: grad"
