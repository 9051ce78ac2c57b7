"""Render: JSON documents. One line for each tensor and node; written in time linear in both.

JSON knows no infinity and no NaN: these stand as the strings "nan", "inf", "-inf".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from ...recording.facts import (
    EffectFact,
    EffectValue,
    Elsewhere,
    ErrorFact,
    EventFact,
    FlowFact,
    GradientFact,
    GradReport,
    NodeFact,
    PassFact,
    Report,
    RootFact,
    SavedFact,
    Spread,
    TensorFact,
)
from ..escape import Terminal
from ..table import ranged
from .derivatives import derivatives
from .edges import numbers, seed_row, which_pass
from .encoding import encoded, source
from .ledger import ledger_row
from .orders import FORWARD, holder, making
from .profile import profile
from .stats import stats
from .views import views

TRACE = "gradcli.trace/1"
GRAD = "gradcli.grad/1"
RUN = "gradcli.run/1"
BATCH = 512


def trace(report: Report) -> Iterator[Terminal]:
    """The document of `gradcli trace`, in pieces."""
    from .detail import constants, frames

    yield from document(of_run(TRACE, report, {
        "results": [root_name(root, report) for root in report.roots],
        "pass": which_pass(report.shown),
        "passes": map(pass_row, report.passes),
        "tensors": map(_tensor, report.tensors),
        "nodes": _nodes(report),
        "frames": frames(report),
        "constants": constants(report),
        "backward": [_backward(report, i) for i in range(len(report.backwards))],
        "hooks": list(map(event_row, report.events)),
        "left_out": list(report.left_out),
        "hook_effects": list(map(effect_row, report.effects)),
        "missing": list(report.missing),
        "profile": profile(report.profile),
        "ledger": ledger_row(report.ledger),
        "views": views(report.views),
        "stats": stats(report.stats),
        "holders": list(map(holder, report.holders)),
    }))  # fmt: skip


def grad(report: GradReport) -> Iterator[Terminal]:
    """The document of `gradcli grad`, in pieces."""
    yield from document(of_run(GRAD, report, {
        "of": None if report.of is None else _tensor(report.of),
        "pass": which_pass(report.shown),
        "seeds": list(map(seed_row, report.seeds)),
        "gradients": map(_gradient, report.gradients),
        "derivatives": derivatives(report.derivatives),
        "hooks": list(map(event_row, report.events)),
        "left_out": list(report.left_out),
    }))  # fmt: skip


def run(report: Report) -> Iterator[Terminal]:
    """The document of `gradcli run`."""
    yield from document(of_run(RUN, report, {}))


def of_run(schema: str, report: Any, fields: dict[str, Any]) -> dict[str, Any]:
    """A document about a run: what ran, the answer, what the program said."""
    return {
        "schema": schema, "file": report.file, "device": report.device,
        **fields,
        "output": report.output, "warnings": list(report.warnings),
        "error": error_row(report.error),
    }  # fmt: skip


def document(fields: dict[str, Any]) -> Iterator[Terminal]:
    """Keys one under the other; what is neither plain nor a list is written row by row."""
    before = "{"
    for key, value in fields.items():
        yield Terminal(f'{before}"{key}": ')
        before = ",\n "
        if isinstance(value, (str, int, float, list, dict)) or value is None:
            yield Terminal(encoded(value))
        else:
            yield from rows_of(value)
    yield Terminal("}\n")


def rows_of(rows: Iterable[dict[str, Any] | str], indent: str = "\n  ") -> Iterator[Terminal]:
    """A list of dictionaries, or of texts that stand for one each, some hundreds at once."""
    texts = (row if isinstance(row, str) else encoded(row) for row in rows)
    before, between = "[" + indent, "," + indent
    while batch := list(islice(texts, BATCH)):
        yield Terminal(before + between.join(batch))
        before = between
    yield Terminal("[]" if before != between else "]")


def _tensor(fact: TensorFact) -> dict[str, Any]:
    row = {
        "name": fact.name,
        # A leaf that only a function knew, or nobody by name, is no name of the program's end.
        "kind": "parameter" if fact.kind == "leaf" else fact.kind,
        "shape": fact.shape,
        "dtype": fact.dtype,
        "device": fact.device,
        "requires_grad": fact.requires_grad,
        **({"why_not": fact.why_not} if fact.why_not else {}),
        "is_leaf": fact.is_leaf,
        "retains_grad": fact.retains_grad,
        "grad_fn": fact.grad_fn,
        "node": fact.node,
        "line": fact.line,
        "value": numbers(fact.value, fact.dtype),
        "grad": numbers(fact.grad, fact.dtype),
    }
    if fact.grad_fn is not None:
        row["output_nr"] = fact.output_nr
    if fact.layout != "strided":
        row["layout"] = fact.layout
    return row


def _nodes(report: Report) -> Iterator[str]:
    """The rows of all nodes. Most of them have only the place where they were created: nodes of
    one place have all of that in common but their number and their edges."""
    from .detail import node_detail

    detail, made = node_detail(report), making(report)
    flows: dict[int, list[FlowFact]] = {}
    for flow in report.flows:
        flows.setdefault(flow.node, []).append(flow)
    saved: dict[int, list[SavedFact]] = {}
    for fact in report.saved:
        saved.setdefault(fact.node, []).append(fact)
    elsewhere = dict(report.elsewhere)
    told: Any = {*flows, *saved, *made, *elsewhere}
    if report.detail is not None:
        told = range(len(report.nodes))
    alike: dict[tuple[int, str], tuple[str, str]] = {}
    for node in report.nodes:
        number, name, edges, place = node
        if number not in told:
            key = id(place), name
            if key not in alike:
                rest = {**_node(node, None, None, None), **FORWARD}
                del rest["id"], rest["name"], rest["next"]
                alike[key] = f', "name": {encoded(name)}, "next": [', f"], {encoded(rest)[1:]}"
            before, after = alike[key]
            ways = ""
            for edge in edges:
                ways += ", null" if edge is None else f", [{edge[0]}, {edge[1]}]"
            yield f'{{"id": {number}{before}{ways[2:]}{after}'
        else:
            more, ends = detail(number)
            inner = elsewhere.get(number)
            row = _node(node, inner, flows.get(number), saved.get(number))
            text = encoded({**row, **made.get(number, FORWARD), **more})
            yield text if ends is None else f'{text[:-1]}, "edges": [{", ".join(ends)}]}}'


def _node(
    node: NodeFact, elsewhere: Elsewhere | None, flows: list[FlowFact] | None,
    saved: list[SavedFact] | None,
) -> dict[str, Any]:  # fmt: skip
    row: dict[str, Any] = {"id": node.id, "name": node.name, "next": node.next}
    place = node.place
    if place is None:
        row["line"] = None
    else:
        row["line"], row["column"] = place.line, place.column
        row["end_line"], row["end_column"] = place.end_line, place.end_column
        row["source"] = source(place.text)
    if elsewhere is not None:
        row["elsewhere"] = elsewhere_row(elsewhere)
    if flows is not None:
        row["flow"] = [
            {"output_nr": flow.output_nr, "value": flow.value, "grad": flow.grad,
             **spread(flow.range), **spread(flow.grad_range, "grad_")}
            for flow in flows
        ]  # fmt: skip
    if saved is not None:
        row["saved"] = [
            {"name": fact.name, "shape": fact.shape, "holder": fact.holder,
             "version": fact.version, "bytes": fact.bytes, "freed": fact.freed,
             "freed_by": fact.freed_by, "changed": fact.changed, "packed": fact.packed}
            for fact in saved
        ]  # fmt: skip
    return row


def elsewhere_row(place: Elsewhere) -> dict[str, Any]:
    row = {"file": place.file, "line": place.line, "source": place.source}
    return {**row, "target": place.target} if place.target else row


def pass_row(fact: PassFact) -> dict[str, Any]:
    """A backward pass, with the values and the gradients of its nodes and leaves."""
    which = fact.shown
    return {
        "number": which.number,
        "line": which.line,
        "source": source(which.source),
        "roots": [[root.node, root.output_nr] for root in fact.roots],
        "seeds": fact.seeds,
        "nodes": [
            {"id": flow.node, "output_nr": flow.output_nr, "shape": flow.shape,
             "value": flow.value, "grad": flow.grad, "changed": flow.changed,
             **spread(flow.range), **spread(flow.grad_range, "grad_")}
            for flow in fact.flows
        ],
    }  # fmt: skip


def root_name(root: RootFact, report: Report) -> str:
    """The name of a root, else the expression that made it."""
    place = report.nodes[root.node].place
    return root.name or ("" if place is None else source(place.text))


def _backward(report: Report, i: int) -> dict[str, Any]:
    call = report.backwards[i]
    return {"line": call.line, "retain_graph": call.retained, "create_graph": call.created}


def event_row(event: EventFact) -> dict[str, Any]:
    return event._asdict()


def effect_row(effect: EffectFact) -> dict[str, Any]:
    """Gradients as PyTorch prints them; where that leaves numbers out, from where to where they go
    too."""

    def told(value: EffectValue | None) -> str | None:
        if value is None or (value.text and "..." not in value.text):
            return value and value.text
        return ", ".join(part for part in (value.text, ranged(value.shape, value.range)) if part)

    return {"name": effect.name, "without": told(effect.without), "now": told(effect.now)}


def _gradient(fact: GradientFact) -> dict[str, Any]:
    return {
        "name": fact.name,
        "line": fact.line,
        "shape": fact.shape,
        "dtype": fact.dtype,
        "grad": numbers(fact.value, fact.dtype),
        "reason": fact.reason,
        **spread(fact.range),
    }


def spread(span: Spread | None, prefix: str = "") -> dict[str, float]:
    """Mean and norm of more numbers than anyone reads one by one."""
    if span is None or span.mean is None or span.norm is None:
        return {}
    return {f"{prefix}mean": span.mean, f"{prefix}norm": span.norm}


def error_row(error: ErrorFact | None) -> dict[str, Any] | None:
    if error is None:
        return None
    row = error._asdict()
    row["labels"] = [label._asdict() for label in error.labels]
    return row
