"""Benchmarks: program texts, each of them PyTorch and gradcli at once; `size` sets the work."""

from __future__ import annotations

import random


def two_paths(size: int) -> str:
    """Four leaves and one backward call."""
    return """\
import torch
a = torch.tensor([4.0])
weights = [torch.tensor([i], requires_grad=True) for i in (2.0, 5.0, 9.0, 7.0)]
w1, w2, w3, w4 = weights
L = 10 - (w3 * (w1 * a) + w4 * (w2 * a))
L.backward()
for weight in weights:
    print(weight.grad)
"""


def loop(size: int) -> str:
    """y = y * a + b, `size` times."""
    return f"""\
import torch
a = torch.tensor(0.999, requires_grad=True)
b = torch.tensor(0.001, requires_grad=True)
y = torch.tensor(0.5)
for i in range({size}):
    y = y * a + b
y.backward()
print(a.grad.item(), b.grad.item())
"""


def regression(size: int) -> str:
    """`size` epochs of gradient descent on 120 points."""
    return f"""\
import torch
x = torch.sin(torch.arange(120, dtype=torch.float32) * 1.7) * 1.5
target = 2 * x + 3
w = torch.tensor([-0.7], requires_grad=True)
b = torch.tensor([0.3], requires_grad=True)
for epoch in range({size}):
    loss = ((target - (b + w * x)) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        b -= 0.1 * b.grad
        w -= 0.1 * w.grad
    b.grad.zero_()
    w.grad.zero_()
print(w.item(), b.item())
"""


def straight_line(size: int) -> str:
    """A program of `size` statements, each on one or two earlier results."""
    draw = random.Random(size)
    lines = ["import torch"]
    lines += [f"w{i} = torch.tensor({0.1 * i + 0.1:.1f}, requires_grad=True)" for i in range(8)]
    names = [f"w{i}" for i in range(8)]
    for i in range(size):
        left, right = names[-1], draw.choice(names[-40:])
        step = draw.choice(
            (
                f"{left} * 0.9 + {right} * 0.1",
                f"{right} * {left} + w3",
                f"{left} - 0.5 * {right}",
            )
        )
        lines.append(f"t{i} = {step}")
        names.append(f"t{i}")
    lines += [f"{names[-1]}.backward()", "print(w7.grad.item())"]
    return "\n".join(lines) + "\n"


def tree(size: int) -> str:
    """A graph of about `size` nodes to draw: pairs of products added up."""
    return f"""\
import torch
level = [torch.tensor(0.5, requires_grad=True) * 2 for i in range({max(2, size // 4)})]
while len(level) > 1:
    rest = level[len(level) - len(level) % 2:]
    level = [level[i] + level[i + 1] for i in range(0, len(level) - 1, 2)] + rest
out = level[0]
"""
