"""Benchmarks: work inside a process, by a library with PyTorch's face; seconds for each unit."""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

Figures = dict[str, float]


def _peak() -> int:
    """The most memory that this process has held, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _least(run: Callable[[], Figures], times: int) -> Figures:
    """Of several runs the quickest, part by part."""
    runs = [run() for _ in range(times)]
    return {part: min(figures[part] for figures in runs) for part in runs[0]}


def chain(lib: Any, size: int) -> Figures:
    """y = y * a + b: 2 * size operations on scalars, forward and backward; bytes for each node."""
    a = lib.tensor(0.999, requires_grad=True)
    b = lib.tensor(0.001, requires_grad=True)

    def once() -> Figures:
        start = time.process_time()
        y = lib.tensor(0.5)
        for _ in range(size):
            y = y * a + b
        middle = time.process_time()
        y.backward()
        end = time.process_time()
        return {"forward": (middle - start) / (2 * size), "backward": (end - middle) / (2 * size)}

    before = _peak()
    figures = once()
    grown = (_peak() - before) / (2 * size)
    figures = _least(once, 3)
    figures["total"] = figures["forward"] + figures["backward"]
    if size >= 100_000:
        figures["bytes"] = grown
    return figures


def regression(lib: Any, size: int) -> Figures:
    """One epoch of gradient descent on 120 points."""
    x = lib.sin(lib.arange(120, dtype=lib.float32) * 1.7) * 1.5
    target = 2 * x + 3
    w = lib.tensor([-0.7], requires_grad=True)
    b = lib.tensor([0.3], requires_grad=True)

    def epoch() -> None:
        nonlocal w, b
        loss = ((target - (b + w * x)) ** 2).mean()
        loss.backward()
        with lib.no_grad():
            b -= 0.1 * b.grad
            w -= 0.1 * w.grad
        b.grad.zero_()
        w.grad.zero_()

    def once() -> Figures:
        start = time.process_time()
        for _ in range(size):
            epoch()
        return {"epoch": (time.process_time() - start) / size}

    return _least(once, 5)


def network(lib: Any, size: int) -> Figures:
    """One step of gradient descent of a 784-512-512-10 network, batch 64, cross entropy."""
    lib.manual_seed(0)
    widths = (784, 512, 512, 10)
    weights = [(lib.randn(m, n) / m**0.5).requires_grad_() for m, n in pairwise(widths)]
    biases = [lib.zeros(n, requires_grad=True) for n in widths[1:]]
    x, y = lib.randn(64, 784), lib.randint(0, 10, (64,))
    loss_of = lib.nn.functional.cross_entropy

    def step() -> Figures:
        start = time.process_time()
        h = lib.relu(x @ weights[0] + biases[0])
        h = lib.relu(h @ weights[1] + biases[1])
        loss = loss_of(h @ weights[2] + biases[2], y)
        middle = time.process_time()
        loss.backward()
        end = time.process_time()
        with lib.no_grad():
            for p in weights + biases:
                p -= 1e-3 * p.grad
                p.grad = None
        last = time.process_time()
        return {"forward": middle - start, "backward": end - middle, "step": last - start}

    return _least(step, size)


def elementwise(lib: Any, size: int) -> Figures:
    """(sin(x) * exp(-x * x) + tanh(x) / (1 + x * x)).mean() of `size` numbers, both ways."""
    x = lib.linspace(-3.0, 3.0, size).requires_grad_()

    def once() -> Figures:
        x.grad = None
        start = time.process_time()
        y = (lib.sin(x) * lib.exp(-x * x) + lib.tanh(x) / (1 + x * x)).mean()
        y.backward()
        return {"both ways": time.process_time() - start}

    return {**_least(once, 3), "peak": float(_peak())}


def fan_out(lib: Any, size: int) -> Figures:
    """A random graph of `size` operations on vectors of 64, results used several times."""
    draw = random.Random(1)
    kinds = ("add", "mul", "sub", "tanh", "sin")
    plan = [(draw.choice(kinds), draw.randrange(32), draw.randrange(32)) for _ in range(size)]
    leaves = [lib.linspace(0.1, 0.9 + i / 100, 64).requires_grad_() for i in range(8)]
    tanh, sin = lib.tanh, lib.sin

    def once() -> Figures:
        start = time.process_time()
        made = list(leaves)
        for kind, first, second in plan:
            x = made[-1 - first % len(made)]
            if kind == "tanh":
                made.append(tanh(x))
            elif kind == "sin":
                made.append(sin(x))
            else:
                y = made[-1 - second % len(made)]
                made.append(x + y if kind == "add" else x * y if kind == "mul" else x - y)
        root = tanh(made[-1]).sum()
        middle = time.process_time()
        root.backward()
        end = time.process_time()
        return {"forward": (middle - start) / size, "backward": (end - middle) / size}

    figures = _least(once, 5)
    return {**figures, "total": figures["forward"] + figures["backward"]}


def hessian(lib: Any, size: int) -> Figures:
    """The Hessian of the Rosenbrock function of `size` variables, in double precision."""
    x = lib.linspace(-1.0, 1.0, size, dtype=lib.float64)

    def rosenbrock(x: Any) -> Any:
        return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

    def once() -> Figures:
        start = time.process_time()
        lib.autograd.functional.hessian(rosenbrock, x)
        return {"hessian": time.process_time() - start}

    return _least(once, 5)


def dot(root: Any) -> str:
    """The graph below a node in the DOT language, by its public attributes."""
    numbers = {root: 0}
    lines = ["digraph {"]
    pending = [root]
    for node in pending:
        lines.append(f'  n{numbers[node]} [label="{node.name()}"]')
        for child, _ in node.next_functions:
            if child is None:
                continue
            if child not in numbers:
                numbers[child] = len(numbers)
                pending.append(child)
            lines.append(f"  n{numbers[child]} -> n{numbers[node]}")
    return "\n".join([*lines, "}"])
