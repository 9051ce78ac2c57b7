"""Benchmarks: what each trick of the engine and of the start is worth: the same work without it.

    python benchmarks/machinery.py [--turns 5] [--only lanes,index]

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
PROGRAM = HERE.parent / "expressions" / "chain_rule" / "two_paths.expr"
LENGTH, TIMES = 100, 300  # operations of a chain, and how often it is walked: the least time counts


def _no_plain_formulas() -> None:
    import gradcli.engine.compile.formula as formula

    formula.plain_expression = lambda one: None


def _no_kernels_in_formulas() -> None:
    import gradcli.engine.compile.formula as formula

    formula.on_arrays = lambda one: one.function


def _no_ordinary_pass() -> None:
    import gradcli.engine.passes.backward as backward

    backward.is_ordinary = lambda tensors: False


def _no_lanes() -> None:
    import gradcli.engine.compile.lane as lane

    lane.has_lanes = lambda row: False


def _no_index() -> None:
    import gradcli.engine.schema.declaration_index as index

    index._read = lambda place, stamp: None
    index._write = lambda place, table: None


def _no_reader() -> None:
    import gradcli.command_line as reading

    reading.read = lambda words: None


def _no_finder() -> None:
    from gradcli.process.modules import Finder

    Finder.find_spec = staticmethod(lambda name, path=None, target=None: None)


def forward(chain: str) -> float:
    """Microseconds for each operation of a chain."""
    return _walked(chain)[0]


def backward(chain: str) -> float:
    """Microseconds for each operation of a chain, walked back."""
    return _walked(chain)[1]


def _walked(chain: str) -> tuple[float, float]:
    import gradcli as lib

    a, b = (lib.tensor(value, requires_grad=True) for value in (1.0003, 0.1))
    least = [float("inf")] * 2
    for _ in range(TIMES):
        y: Any = lib.tensor(0.5, requires_grad=True)
        begin = time.perf_counter()
        for _ in range(LENGTH):
            y = CHAINS[chain](lib, y, a, b)
        middle = time.perf_counter()
        y.backward()
        times = middle - begin, time.perf_counter() - middle
        least = [min(pair) for pair in zip(least, times, strict=True)]
    forth, back = (one * 1e6 / LENGTH for one in least)
    return forth, back


def whole(command: str) -> float:
    """Milliseconds of processor time that a command takes in a process."""
    from gradcli.door import main
    from gradcli.process.ending import begin

    begin()
    sys.argv = ["gradcli", command, str(PROGRAM)]
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the process ends
    try:
        main()
    except SystemExit:
        pass
    sys.stdout = sys.__stdout__
    return time.process_time() * 1e3


class Trick(NamedTuple):
    """How it is taken away, what shows it, and on which chains or commands."""

    what: str
    without: Callable[[], None]
    measure: Callable[[str], float]
    cases: tuple[str, ...]


CHAINS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "y * a + b": lambda lib, y, a, b: y * a + b,
    "tanh(y)": lambda lib, y, a, b: lib.tanh(y),
    "sin(y)": lambda lib, y, a, b: lib.sin(y),
    "hypot(y, a)": lambda lib, y, a, b: lib.hypot(y, a),
}
TRICKS: dict[str, Trick] = {
    "lanes": Trick("engine/compile/lane: an operation on tensors of one form asks nothing",
                   _no_lanes, forward, ("sin(y)", "hypot(y, a)")),
    "ordinary": Trick("engine/passes/fast_backward: a pass that nobody watches",
                      _no_ordinary_pass, backward, ("y * a + b", "tanh(y)")),
    "plain": Trick("engine/compile/arrays: plain formulas stand in the function of the way back",
                   _no_plain_formulas, backward, ("y * a + b",)),
    "kernels": Trick("engine/compile/arrays: formulas call kernels of arrays, not rows",
                     _no_kernels_in_formulas, backward, ("tanh(y)", "sin(y)")),
    "index": Trick("engine/schema/declaration_index: a program reads the declarations that it uses",
                   _no_index, whole, ("run", "trace")),
    "reader": Trick("command_line: a command line that is in order is read without typer",
                    _no_reader, whole, ("run", "trace")),
    "finder": Trick("process/modules: the package's own modules are found by their names",
                    _no_finder, whole, ("run", "trace")),
}  # fmt: skip


def measured(trick: str, case: str, *, without: bool) -> float:
    """One figure, in a process of its own."""
    command = [sys.executable, __file__, "--trick", trick, "--case", case]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return float(subprocess.run(command + ["--without"] * without, env=environment,
                                capture_output=True, text=True, check=True).stdout)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--only", default=",".join(TRICKS))
    parser.add_argument("--trick", help=argparse.SUPPRESS)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--without", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.trick:
        trick = TRICKS[asked.trick]
        if asked.without:
            trick.without()
        print(trick.measure(asked.case))
        return
    for name in asked.only.split(","):
        trick = TRICKS[name]
        unit = "ms" if trick.measure is whole else "us"
        print(f"{trick.what} ({trick.measure.__name__})")
        for case in trick.cases:
            pairs = [tuple(measured(name, case, without=off) for off in (False, True))
                     for _ in range(asked.turns)]  # fmt: skip
            one, other = (statistics.median(side) for side in zip(*pairs, strict=True))
            ratio = statistics.median(off / on for on, off in pairs)
            print(f"  {case:11} {one:7.2f} {unit} with   {other:7.2f} {unit} without   "
                  f"ratio {ratio:.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
