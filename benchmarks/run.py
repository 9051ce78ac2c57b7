"""Benchmarks: what gradcli costs beside PyTorch, measured in the same turn.

    python benchmarks/run.py [--only W1,W2] [--turns 5] [--quick]

Every figure comes from a process of its own; the two libraries take turns, a ratio is formed within
each turn, and the table shows the median of the ratios (below 1 is faster than PyTorch). PyTorch
must be installed beside gradcli. One thread each.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

LIBRARIES = ("torch", "gradcli")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# The checkout beside this file is measured, installed or not.
SEARCHED = os.pathsep.join([str(Path(__file__).parent.parent), *sys.path[1:]])
ENVIRONMENT = {**os.environ, **dict.fromkeys(THREADS, "1"), "PYTHONPATH": SEARCHED}

# -- programs, run as whole processes ------------------------------------------------------------


def two_paths(size: int) -> str:
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
                f"torch.sin({left}) + {right}",
                f"{left} - 0.5 * {right}",
            )
        )
        lines.append(f"t{i} = {step}")
        names.append(f"t{i}")
    lines += [f"{names[-1]}.backward()", "print(w7.grad.item())"]
    return "\n".join(lines) + "\n"


# -- work inside a process: seconds per unit ------------------------------------------------------


def chain(lib: Any, size: int) -> dict[str, float]:
    """y = y * a + b: 2 * size operations on scalars, forward and backward."""
    a = lib.tensor(0.999, requires_grad=True)
    b = lib.tensor(0.001, requires_grad=True)

    def forward() -> Any:
        y = lib.tensor(0.5)
        for _ in range(size):
            y = y * a + b
        return y

    forward().backward()
    start = time.process_time()
    y = forward()
    middle = time.process_time()
    y.backward()
    end = time.process_time()
    return {"forward": (middle - start) / (2 * size), "backward": (end - middle) / (2 * size)}


def regression(lib: Any, size: int) -> dict[str, float]:
    """One epoch of gradient descent on 120 points."""
    x = lib.sin(lib.arange(120, dtype=lib.float32) * 1.7) * 1.5
    target = 2 * x + 3
    w = lib.tensor([-0.7], requires_grad=True)
    b = lib.tensor([0.3], requires_grad=True)

    def epoch() -> None:
        loss = ((target - (b + w * x)) ** 2).mean()
        loss.backward()
        with lib.no_grad():
            b.sub_(0.1 * b.grad)
            w.sub_(0.1 * w.grad)
        b.grad.zero_()
        w.grad.zero_()

    for _ in range(5):
        epoch()
    start = time.process_time()
    for _ in range(size):
        epoch()
    return {"epoch": (time.process_time() - start) / size}


def fan_out(lib: Any, size: int) -> dict[str, float]:
    """A random graph of `size` operations on vectors of 64, results used several times."""
    draw = random.Random(1)
    plan = [(draw.randrange(4), draw.randrange(40), draw.randrange(40)) for _ in range(size)]
    leaves = [lib.linspace(0.1, 1.0, 64).requires_grad_() for _ in range(8)]

    def forward() -> Any:
        made = list(leaves)
        for kind, first, second in plan:
            x, y = made[-1 - first % len(made)], made[-1 - second % len(made)]
            if kind == 0:
                made.append(x * 0.5 + y)
            elif kind == 1:
                made.append(lib.tanh(x) * 0.9)
            elif kind == 2:
                made.append(x * y)
            else:
                made.append(lib.sin(x) - y * 0.1)
        return made[-1].sum()

    forward().backward()
    start = time.process_time()
    root = forward()
    middle = time.process_time()
    root.backward()
    return {
        "forward": (middle - start) / size,
        "backward": (time.process_time() - middle) / size,
    }


PROGRAMS: dict[str, tuple[Callable[[int], str], tuple[int, ...], str]] = {
    "W1": (two_paths, (1,), "four leaves, backward, as a process"),
    "W2prog": (loop, (1_000, 100_000), "y = y * a + b in a loop, as a process"),
    "W6": (straight_line, (100, 1_000, 10_000), "straight-line program, as a process"),
}
WORK: dict[str, tuple[Callable[[Any, int], dict[str, float]], tuple[int, ...], str]] = {
    "W2": (chain, (1_000, 100_000), "y = y * a + b, for each operation"),
    "W3": (regression, (200,), "linear regression, 120 points, for each epoch"),
    "W7": (fan_out, (5_000,), "random graph, vectors of 64, for each step"),
}
ROWS = ("W1", "W2", "W2prog", "W3", "W6", "W7")


def process_seconds(library: str, path: str) -> dict[str, float]:
    command = [sys.executable, path]
    if library == "gradcli":
        command = [sys.executable, "-m", "gradcli", "run", path]
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
    return {"wall": time.perf_counter() - start}


def work_seconds(library: str, row: str, size: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", library, row, str(size)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=ENVIRONMENT)
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


def turns(row: str, size: int, count: int) -> list[dict[str, dict[str, float]]]:
    """Measurements of both libraries, one dictionary a turn."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.py"
        if row in PROGRAMS:
            path.write_text(PROGRAMS[row][0](size), encoding="utf-8")

        def once(library: str) -> dict[str, float]:
            if row in PROGRAMS:
                return process_seconds(library, str(path))
            return work_seconds(library, row, size)

        if row in PROGRAMS:  # fills the file cache
            for library in LIBRARIES:
                once(library)
        return [{library: once(library) for library in LIBRARIES} for _ in range(count)]


def table(rows: list[str], count: int, quick: bool) -> Iterator[str]:
    yield f"{'row':<8}{'size':>8}  {'part':<9}{'torch':>11}{'gradcli':>11}{'ratio':>8}"
    for row in rows:
        _, sizes, what = {**PROGRAMS, **WORK}[row]
        yield f"{row}: {what}"
        for size in sizes[:1] if quick else sizes:
            measured = turns(row, size, count)
            for part in measured[0]["torch"]:
                torch = statistics.median(turn["torch"][part] for turn in measured)
                ours = statistics.median(turn["gradcli"][part] for turn in measured)
                ratio = statistics.median(
                    turn["gradcli"][part] / turn["torch"][part] for turn in measured
                )
                cells = f"{duration(torch):>11}{duration(ours):>11}{ratio:>8.3f}"
                yield f"{'':<8}{size:>8}  {part:<9}{cells}"


def duration(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.2f} us"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(ROWS), help="rows, with commas between them")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one turn, smallest sizes")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.measure:
        library, row, size = chosen.measure
        print(json.dumps(WORK[row][0](import_module(library), int(size))))
        return
    for line in table(chosen.only.split(","), 1 if chosen.quick else chosen.turns, chosen.quick):
        print(line, flush=True)


if __name__ == "__main__":
    main()
