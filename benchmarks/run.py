"""Benchmarks: what gradcli costs beside PyTorch, measured in the same turn.

    python benchmarks/run.py [--only W1,W2] [--turns 5] [--quick]
    python benchmarks/run.py --growth

Every figure comes from a process of its own; the libraries take turns, a ratio is formed within
each turn, and the table shows the median of the ratios (below 1 is faster than PyTorch). `floor` is
NumPy by hand, where that means something. PyTorch must be installed beside gradcli, and torchviz
for W9. One thread each. --growth shows how gradcli's own cost grows from one size to the double.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import networks  # noqa: E402
import programs  # noqa: E402
import work  # noqa: E402
from commands import COMPARED, Compared, written  # noqa: E402

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# The checkout beside this file is measured, installed or not.
SEARCHED = os.pathsep.join([str(HERE.parent), *sys.path[2:]])
ENVIRONMENT = {**os.environ, **dict.fromkeys(THREADS, "1"), "PYTHONPATH": SEARCHED}
# Who uses a tool has its bytecode, and leaves the choice of routines to NumPy's library.
for name in ("PYTHONDONTWRITEBYTECODE", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    ENVIRONMENT.pop(name, None)


MISTAKE = 3  # the exit code of a program with an error


class Row(NamedTuple):
    """A kind of work: a program's text, or a function of a library; the sizes that are measured."""

    text: Callable[[int], str] | None
    inside: Callable[[Any, int], dict[str, float]] | None
    sizes: tuple[int, ...]
    what: str
    floor: str | None = None


ROWS: dict[str, Row] = {
    "W1": Row(programs.two_paths, None, (1,), "four leaves, backward; the whole process"),
    "W2": Row(None, work.chain, (1_000, 10_000, 100_000), "y = y * a + b, for each operation"),
    "W2prog": Row(programs.loop, None, (1_000, 100_000), "the same loop as a process"),
    "W3": Row(None, work.regression, (200,), "linear regression, 120 points, for each epoch",
              "regression"),
    "W3prog": Row(programs.regression, None, (200,), "the same as a program; the whole process"),
    "W4": Row(None, work.network, (40,), "one step of a 784-512-512-10 network, batch 64",
              "network"),
    "W5": Row(None, work.elementwise, (10_000_000,), "ten million numbers, both ways",
              "elementwise"),
    "W6": Row(programs.straight_line, None, (100, 1_000, 10_000, 100_000),
              "a program of so many statements; the whole process"),
    "W7": Row(None, work.fan_out, (10_000,), "random graph, vectors of 64, for each operation",
              "fan_out"),
    "W8": Row(None, work.hessian, (100,), "Hessian of the Rosenbrock function, in double"),
    "W9": Row(None, None, (1_000, 10_000), "text of a graph's picture, for each node"),
    "W13": Row(None, networks.steps, (7,), "one training step of small networks"),
}  # fmt: skip


# ---- one measurement, in a process of its own


def process_seconds(command: list[str]) -> dict[str, float]:
    """Seconds by the clock, seconds of the processor, which a busy machine does not stretch, and
    the most memory, in bytes."""
    start = time.perf_counter()
    child = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT
    )
    _, status, used = os.wait4(child.pid, 0)
    end = time.perf_counter()
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, MISTAKE):
        raise SystemExit(f"{' '.join(command)} ended with {child.returncode}")
    processor = used.ru_utime + used.ru_stime
    return {"clock": end - start, "processor": processor, "peak": used.ru_maxrss * 1024.0}


def command_for(library: str, path: Path, verb: str = "run", *more: str) -> list[str]:
    if library == "torch":
        return [sys.executable, str(path)]
    return [sys.executable, "-m", "gradcli", verb, str(path), *more]


def inside_seconds(who: str, row: str, size: int) -> dict[str, float]:
    """The same file, called with --measure, does the work and prints its figures."""
    command = [sys.executable, __file__, "--measure", who, row, str(size)]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    if done.returncode:
        if who == "torch" and importlib.util.find_spec("torchviz") is None:
            return {}
        raise SystemExit(done.stderr)
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


def picture(who: str, size: int) -> dict[str, float]:
    """A graph as DOT: torchviz for PyTorch, a walk over next_functions for ours; beside it the
    whole page of `gradcli trace`, which has values and gradients too."""
    text = programs.tree(size)
    if who == "torch":
        from torchviz import make_dot

        scope: dict[str, Any] = {}
        exec(text, scope)
        start = time.process_time()
        make_dot(scope["out"])
        return {"dot": (time.process_time() - start) / size}
    scope = {}
    exec(text.replace("import torch", "import gradcli as torch"), scope)
    start = time.process_time()
    work.dot(scope["out"].grad_fn)
    figures = {"dot": (time.process_time() - start) / size}
    from gradcli.pipeline.request import Request
    from gradcli.questions.trace import recorded, trace_report
    from gradcli.render import trace
    from gradcli.render.text import Look

    ran = recorded(Request(text.encode(), "tree.expr"), None)
    start = time.process_time()
    trace.text(trace_report(ran), Look(False, True, 80), expand=True)
    return figures | {"page": (time.process_time() - start) / size}


def measure(who: str, row: str, size: int) -> dict[str, float]:
    if row == "W9":
        return picture(who, size)
    if who == "floor":
        answer: dict[str, float] = getattr(import_module("floors"), ROWS[row].floor or "")(size)
        return answer
    inside = ROWS[row].inside
    assert inside is not None
    return inside(import_module(who), size)


# ---- tables


def turns(row: str, size: int, count: int) -> list[dict[str, dict[str, float]]]:
    """Measurements of everybody, one dictionary a turn."""
    kind = ROWS[row]
    everybody = ("torch", "gradcli", *(["floor"] if kind.floor else []))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.py"
        if kind.text is not None:
            path.write_text(kind.text(size), encoding="utf-8")

        def once(who: str) -> dict[str, float]:
            if kind.text is not None:
                return process_seconds(command_for(who, path))
            return inside_seconds(who, row, size)

        if kind.text is not None:  # fills the file cache
            for who in everybody:
                once(who)
        return [{who: once(who) for who in everybody} for _ in range(count)]


def table(rows: list[str], count: int, quick: bool) -> Iterator[str]:
    yield f"{'row':<5}{'size':>9}  {'part':<10}{'torch':>10}{'gradcli':>10}{'ratio':>8}{'floor':>8}"
    for row in rows:
        if row in COMPARED:
            yield f"{row}: {COMPARED[row].what}"
            sizes = COMPARED[row].sizes
            for size in sizes[:1] if quick else sizes:
                yield from compared(COMPARED[row], size, count)
            continue
        yield f"{row}: {ROWS[row].what}"
        for size in ROWS[row].sizes[:1] if quick else ROWS[row].sizes:
            yield from _lines(turns(row, size, count), size)


def compared(row: Compared, size: int, count: int) -> Iterator[str]:
    """Commands that take turns: processor time and peak of each, and the ratio to the first.

    Several jobs at once are compared by the clock.
    """
    part = "clock" if any("jobs" in name for name in row.commands) else "processor"
    with tempfile.TemporaryDirectory() as folder:
        path = written(row, size, Path(folder))
        commands = {name: words(path) for name, words in row.commands.items()}
        if "torchviz" in commands and importlib.util.find_spec("torchviz") is None:
            del commands["torchviz"]
        for command in commands.values():
            process_seconds(command)  # fills the file cache
        measured = [
            {name: process_seconds(command) for name, command in commands.items()}
            for _ in range(count)
        ]
    base = next(iter(commands))
    for name in commands:
        taken = statistics.median(turn[name][part] for turn in measured) / (row.count or 1)
        peak = amount(statistics.median(turn[name]["peak"] for turn in measured))
        line = f"{'':<5}{size:>9}  {name:<14}{duration(taken):>10}{peak:>10}"
        ratio = statistics.median(turn[name][part] / turn[base][part] for turn in measured)
        yield line if name == base else f"{line}{ratio:>8.3f}  beside {base}"


def _lines(measured: list[dict[str, dict[str, float]]], size: int) -> Iterator[str]:
    for part in measured[0]["gradcli"]:
        ours = statistics.median(turn["gradcli"][part] for turn in measured)
        told = amount if part in ("bytes", "peak") else duration
        if part not in measured[0]["torch"]:
            yield f"{'':<5}{size:>9}  {part:<10}{'absent':>10}{told(ours):>10}"
            continue
        torch = statistics.median(turn["torch"][part] for turn in measured)
        ratio = _ratio(measured, "gradcli", part)
        line = f"{'':<5}{size:>9}  {part:<10}{told(torch):>10}{told(ours):>10}{ratio:>8.3f}"
        if part in measured[0].get("floor", {}):
            line += f"{_ratio(measured, 'floor', part):>8.3f}"
        yield line


def _ratio(measured: list[dict[str, dict[str, float]]], who: str, part: str) -> float:
    return statistics.median(turn[who][part] / turn["torch"][part] for turn in measured)


def duration(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.2f} us"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def amount(size: float) -> str:
    return f"{size / 1e6:.0f} MB" if size > 1e5 else f"{size:.0f} B"


# ---- growth

# A text, the command and what stands behind the file, the first size, how many sizes, what grows.
GROWTH: dict[str, tuple[Callable[[int], str], tuple[str, ...], int, int, str]] = {
    "W2prog": (programs.loop, ("run",), 16_000, 7, "steps of a loop"),
    "W6": (programs.straight_line, ("run",), 6_250, 5, "statements"),
    "trace": (programs.loop, ("trace",), 8_000, 7, "steps of a loop, drawn"),
    "json": (programs.loop, ("trace", "--format=json"), 8_000, 7, "the same as JSON"),
    "why": (programs.loop, ("why", "a"), 8_000, 7, "steps of a loop, asked why"),
    "paths": (programs.loop, ("paths", "--of=y", "--wrt=a"), 8_000, 7, "steps, paths added up"),
    "check": (programs.loop, ("check",), 8_000, 7, "steps of a loop, checked"),
}  # fmt: skip


def growth(turns_each: int, only: list[str]) -> Iterator[str]:
    """Each size twice the one before; what remains when the start is taken off must double."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.py"
        for name in only or GROWTH:
            text, words, first, steps, what = GROWTH[name]
            path.write_text(text(1), encoding="utf-8")
            command = command_for("gradcli", path, *words)
            start = min(process_seconds(command)["processor"] for _ in range(turns_each + 1))
            yield f"{name}: {what}; the start alone takes {duration(start)}"
            before = None
            for step in range(steps):
                size = first << step
                path.write_text(text(size), encoding="utf-8")
                runs = [process_seconds(command)["processor"] for _ in range(turns_each)]
                taken = min(runs) - start
                factor = "" if before is None else f"{taken / before:>8.2f} times"
                yield f"{size:>12,}{duration(taken):>12}{factor}"
                before = taken


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="rows, with commas between them")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one turn, smallest sizes")
    parser.add_argument("--growth", action="store_true", help="how the cost grows with the size")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.measure:
        who, row, size = chosen.measure
        print(json.dumps(measure(who, row, int(size))))
        return
    only = chosen.only.split(",") if chosen.only else []
    lines = growth(chosen.turns, only) if chosen.growth else table(
        only or [*ROWS, *COMPARED], 1 if chosen.quick else chosen.turns, chosen.quick
    )  # fmt: skip
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    main()
