"""Benchmarks: what each trick of the engine is worth: the same work with it and without it.

    python benchmarks/machinery.py [--turns 5]

The ratio is the time without the trick over the time with it, in processes of their own that take
turns; above 1 the trick pays. A trick that shows none of it should go.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
LENGTH, TIMES = 100, 300  # operations of a chain, and how often it is walked: the least time counts


def _no_plain_formulas() -> None:
    import gradcli.engine.formula as formula

    formula.plain_expression = lambda one: None


def _no_kernels_in_formulas() -> None:
    import gradcli.engine.formula as formula

    formula.on_arrays = lambda one: one.function


def _no_ordinary_pass() -> None:
    import gradcli.engine.backward as backward

    backward.is_ordinary = lambda tensors, inputs: False


class Trick(NamedTuple):
    """How it is taken away, and the chains whose backward pass shows it."""

    what: str
    without: Callable[[], None]
    chains: tuple[str, ...]


CHAINS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "y * a + b": lambda lib, y, a, b: y * a + b,
    "tanh(y)": lambda lib, y, a, b: lib.tanh(y),
    "sin(y)": lambda lib, y, a, b: lib.sin(y),
}
TRICKS: dict[str, Trick] = {
    "plain": Trick("engine/arrays: plain formulas stand in the function of the way back",
                   _no_plain_formulas, ("y * a + b",)),
    "kernels": Trick("engine/arrays: formulas call kernels of arrays, not rows",
                     _no_kernels_in_formulas, ("tanh(y)", "sin(y)")),
    "ordinary": Trick("engine/fast_backward: a pass that nobody watches",
                      _no_ordinary_pass, ("y * a + b", "tanh(y)")),
}  # fmt: skip


def backward_time(chain: str, without: str) -> float:
    """Microseconds for each operation of a chain, walked back."""
    if without:
        TRICKS[without].without()
    import gradcli as lib

    a, b = (lib.tensor(value, requires_grad=True) for value in (1.0003, 0.1))
    least = float("inf")
    for _ in range(TIMES):
        y: Any = lib.tensor(0.5, requires_grad=True)
        for _ in range(LENGTH):
            y = CHAINS[chain](lib, y, a, b)
        begin = time.perf_counter()
        y.backward()
        least = min(least, time.perf_counter() - begin)
    return least * 1e6 / LENGTH


def measured(chain: str, without: str) -> float:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--chain", chain, "--without", without]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return float(subprocess.run(command, env=environment, capture_output=True, text=True,
                                check=True).stdout)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--chain")
    parser.add_argument("--without", default="")
    asked = parser.parse_args()
    if asked.chain:
        print(backward_time(asked.chain, asked.without))
        return
    for name, trick in TRICKS.items():
        print(trick.what)
        for chain in trick.chains:
            pairs = [(measured(chain, ""), measured(chain, name)) for _ in range(asked.turns)]
            one, other = (statistics.median(side) for side in zip(*pairs, strict=True))
            ratio = statistics.median(off / on for on, off in pairs)
            print(f"  {chain:10} {one:6.2f} us with   {other:6.2f} us without   ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
