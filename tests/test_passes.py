"""Tests: what `trace` says of a backward pass, fact by fact, against what PyTorch did in it.

Each program runs as it stands and with PyTorch's usual imports in front: nodes, lines,
expressions, values, gradients, and the names of leaves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import product
from math import isclose, isnan
from pathlib import Path
from typing import Any

import pass_truth  # noqa: F401 - asks
import pytest
from command_here import here
from oracle import oracle
from programs_under import sections

from gradcli.engine.schema.run_state import as_new
from gradcli.pipeline.request import Request
from gradcli.questions import paths
from gradcli.questions.trace import Options, recorded, trace_report
from gradcli.recording.facts import FlowFact, NodeFact, Report
from gradcli.render import paths as paths_page, trace as page
from gradcli.render.text import Look

HERE = Path(__file__).parent
PROGRAMS = sections(HERE / "programs" / "passes.txt")
EXPRESSIONS = {
    path.stem: path.read_text("utf-8")
    for folder in ("chain_rule", "training", "networks")
    for path in sorted((HERE.parent / "expressions" / folder).glob("*.expr"))
}
ALL = {**PROGRAMS, **EXPRESSIONS}
IMPORTS = "import torch\nfrom torch import nn, optim\nimport torch.nn.functional as F\n"


@pytest.mark.parametrize("title", ALL)
def test_a_trace_is_true(title: str) -> None:
    """Behind imports too."""
    told = oracle.ask("passes", ALL[title])
    assert told["error"] is None and told["count"], "the program has no pass to compare"
    for imports, number in product(("", IMPORTS), sorted({1, told["count"]})):
        report = traced(imports + ALL[title], number if number < told["count"] else None)
        theirs = told["last" if told["last"] and number > 1 else "first"]
        wrong = list(differences(report, theirs, ALL[title], imports.count("\n")))
        assert not wrong, f"pass {number}: {len(wrong)} differ:\n" + "\n".join(wrong[:5])


@pytest.mark.parametrize("title", PROGRAMS)
def test_a_page_names_every_leaf_and_cuts_nothing(title: str) -> None:
    with as_new():
        ran = recorded(Request(ALL[title].encode(), "p.expr"), None)
        text = page.text(trace_report(ran), Look(False, True, 60, whole=True), expand=True)
    tree = text[text.index("grad_fn") :].partition("\n\n")[0]
    assert "without a name" not in tree
    assert "… " not in tree and "…\n" not in tree


def traced(text: str, number: int | None) -> Report:
    with as_new():
        ran = recorded(Request(text.encode(), "p.expr"), None, number=number)
        assert ran.error is None, ran.error
        return trace_report(ran, Options(number=number, texts=False))


def differences(report: Report, theirs: Any, text: str, shift: int) -> Iterator[str]:
    """What a report says otherwise; both graphs are walked side by side from their roots."""
    flows = {(flow.node, flow.output_nr): flow for flow in report.flows}
    starts = dict.fromkeys(map(tuple, theirs["roots"]))
    if len(report.roots) < len(starts):
        yield f"{len(report.roots)} roots, PyTorch's pass has {len(starts)}"
    pending = [(root.node, number) for root, (number, _) in zip(report.roots, starts, strict=False)]
    met: set[int] = set()
    while pending:
        mine, number = pending.pop()
        if number in met:
            continue
        met.add(number)
        node, other = report.nodes[mine], theirs["nodes"][number]
        if (node.name, len(node.next)) != (other["name"], len(other["next"])):
            yield f"{node.name}, {len(node.next)} inputs: {other['name']}, {len(other['next'])}"
            continue
        for edge, way in zip(node.next, other["next"], strict=True):
            if (edge is None) != (way is None):
                yield f"{node.name}: an edge is {edge}, PyTorch's is {way}"
            elif edge is not None:
                pending.append((edge[0], way[0]))
        yield from _numbers(node, other, flows)
        if other["place"] is not None:
            yield from _place(node, other, text, shift)


def _numbers(node: NodeFact, other: Any, flows: dict[tuple[int, int], FlowFact]) -> Iterator[str]:
    for what in ("values", "flows"):
        for output_nr, number in other[what].items():
            flow = flows.get((node.id, int(output_nr)))
            mine = None if flow is None else flow.value if what == "values" else flow.grad
            if not close(mine, number):
                yield f"{node.name}: {what} {mine}, PyTorch's are {number}"


def _place(node: NodeFact, other: Any, text: str, shift: int) -> Iterator[str]:
    line, column, end, stop = other["place"]
    if node.place is None or node.place.line != line + shift:
        yield f"{node.name}: {node.place}, PyTorch's is on line {line + shift}"
    elif line == end and not node.place.statement:
        piece = text.encode().split(b"\n")[line - 1][column:stop].decode()
        if not node.place.text.replace(" ", "").endswith(piece.replace(" ", "")):
            yield f"{node.name}: {node.place.text!r}, PyTorch's is {piece!r}"


def close(mine: Any, theirs: Any) -> bool:
    """Equal numbers but for the last digits; of a large tensor PyTorch's side tells the shape."""
    if isinstance(theirs, dict):
        return mine is not None
    if isinstance(theirs, (list, tuple)):
        return (
            isinstance(mine, (list, tuple))
            and len(mine) == len(theirs)
            and all(map(close, mine, theirs))
        )
    if mine is None or isinstance(mine, (list, tuple)):
        return False
    mine, theirs = float(mine), float(theirs)
    return isclose(mine, theirs, rel_tol=1e-4, abs_tol=1e-6) or (isnan(mine) and isnan(theirs))


def flat(value: Any) -> list[Any]:
    """The numbers of nested tuples."""
    return [n for part in value for n in flat(part)] if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("title", PROGRAMS)
def test_formulas_are_the_same_behind_imports(title: str) -> None:
    """Of the first two leaves, as text and as a whole formula; reverse mode says what flowed."""
    bare, behind = PROGRAMS[title], IMPORTS + PROGRAMS[title]
    report = traced(bare, None)
    flows = {flow.node: flow.grad for flow in report.flows}
    leaves = [fact for fact in report.tensors if fact.is_leaf and fact.node is not None]
    for fact in leaves[:2]:
        page, reverse = formula(bare, fact.name)
        assert page == formula(behind, fact.name)[0]
        if (flow := flows.get(fact.node)) is not None:  # a pass may leave a leaf out
            assert close(flat(reverse), flat(flow)), fact.name


def formula(text: str, name: str) -> tuple[str, Any]:
    """The page of `paths --symbolic` without the lines of the program that it names, and what
    reverse mode says."""
    with as_new():
        wanted = paths.Options(wrt=(name,), formula=True)
        request = Request(text.encode(), "p.expr", retain_graph=True)
        ran = paths.recorded(request, lambda words: None, wanted)
        _, told = paths.paths_report(ran, wanted)
    assert told.error is None, told.error
    page = paths_page.text(told, Look(False, True, 80))
    return re.sub(r"line \d+", "line N", str(page)), told.reverse


SHARED = """\
x = torch.tensor(2.0, requires_grad=True)
(x * 3).backward()
g = x.grad
(x ** 2).backward()
print(x.grad, x.grad is g, g._version)
w = torch.ones(4, requires_grad=True)
for turn in range(3):
    (w.view(2, 2) * 2 + 1).view(4).backward(torch.ones(4))
print(w.grad, w.grad._version)
"""


@pytest.mark.parametrize("command", ["trace", "grad", "why", "step", "flow"])
def test_watching_leaves_the_gradients_as_they_are(command: str, tmp_path: Path) -> None:
    """What a leaf stores without a copy is not what a recording keeps of the pass."""
    file = tmp_path / "program.expr"
    file.write_text(SHARED)
    document = json.loads(here(command, str(file), "--format", "json").stdout)
    assert document["output"] == here("run", str(file)).stdout


def test_steps_keep_what_flowed_in_their_pass(tmp_path: Path) -> None:
    file = tmp_path / "program.expr"
    file.write_text(SHARED)
    passes = json.loads(here("step", str(file), "--format", "json").stdout)["passes"]
    leaves = [one["steps"][-1] for one in passes[2:]]
    assert [one["incoming"][0]["value"] for one in leaves] == [[2.0] * 4] * 3
    assert [one["grad_after"]["value"] for one in leaves] == [[2.0] * 4, [4.0] * 4, [6.0] * 4]


def test_grad_runs_the_program_as_it_is(tmp_path: Path) -> None:
    """Only --retain-graph keeps the graphs that the program goes over."""
    file = tmp_path / "program.expr"
    file.write_text(
        "x = torch.tensor(2.0, requires_grad=True)\ny = x ** 2\ny.backward()\ny.backward()\n"
    )
    for asked in ((), ("--of", "y")):
        failed = here("grad", str(file), *asked)
        assert failed.returncode == 3 and "a second time" in failed.stderr
    assert here("grad", str(file), "--retain-graph").stdout.endswith("dy/dx = tensor(4.)\n")


@pytest.mark.parametrize("command", ["trace", "why", "flow"])
def test_a_view_that_nobody_may_use_is_no_leaf(command: str, tmp_path: Path) -> None:
    file = tmp_path / "program.expr"
    file.write_text(
        "def uses(x):\n    y = x * 1\n    with torch.no_grad():\n        v = y[1:]\n"
        "    y.mul_(3)\n    for t in (v, y):\n        pass\n"
        "uses(torch.ones(4, requires_grad=True))\n"
    )
    assert here(command, str(file)).returncode == 0
