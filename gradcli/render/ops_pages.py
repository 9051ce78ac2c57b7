"""Render: the reference of the operators as Markdown: one page, or an index and a page a group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..recording.facts.operators import CatalogueFact, OperatorFact, OverloadFact
from .escape import Terminal, line
from .ops import HEADINGS, MEMORY, ORDERS, READABLE, counted_words

# The folders of the declarations, as headings of pages.
GROUPS = {
    "elementwise": "Elementwise functions", "reduce": "Reductions, sorting and counting",
    "shape": "Shapes, views and creation", "index": "Indexing and scattering",
    "linalg": "Linear algebra", "nn": "Layers, activations and losses",
    "random": "Random numbers", "fft": "Fourier transforms", "sparse": "Sparse tensors",
}  # fmt: skip
MADE = """\
Made by `gradcli ops --format markdown -o docs/operators` from the declarations in
`gradcli/operators/`.
`gradcli ops NAME` shows the same with types, memory and examples.
"""
LEGEND = """\
| column | what it says |
| --- | --- |
| signature | The arguments, with their types and defaults; what stands behind `*` is given by name. An operator has a row for each overload. |
| grad_fn | The node that its result carries; `composed` and several nodes: it is made of other operators. |
| saved | What the node keeps for backward. |
| gradients | What backward adds for each argument: `grad` is the gradient that comes in, `result` what the operator returned. A number without a name is that of the declaration's first sample; `own kernel`: no formula, a routine of its own. |
| description | What it computes, a formula where it has one, and what is unusual about memory and derivatives. |
"""  # noqa: E501
TABLE = """\
| signature | grad_fn | saved | gradients | description |
| --- | --- | --- | --- | --- |
"""
CORNERS = """\
What functions do at ties, at zeros and at the bounds of their domains. The gradient is that of
the sum of the result, for each `tensor(...)` of the call.

| call | returns | gradients |
| --- | --- | --- |
"""


def markdown(facts: CatalogueFact) -> Iterator[Terminal]:
    """One page: a table for each namespace, then the corners."""
    yield Terminal(f"# Operators\n\n{MADE}\n{LEGEND}")
    yield from _tables(facts.operators)
    corners = list(_corners(facts.operators))
    if corners:
        yield Terminal(f"\n## Corners\n\n{CORNERS}")
        yield from corners


def pages(facts: CatalogueFact) -> dict[str, list[Terminal]]:
    """An index, a page for each group, and one for the corners, by the names of their files."""
    found = {"index.md": list(_index(facts.operators))}
    for group, title in GROUPS.items():
        inside = [fact for fact in facts.operators if fact.group == group]
        head = Terminal(f"# {title}\n\n{MADE}[All operators](index.md), [corners](corners.md).\n\n")
        found[_file(group)] = [head, Terminal(LEGEND), *_tables(inside, anchors=True)]
    head = Terminal(f"# Corners\n\n{MADE}[All operators](index.md).\n\n{CORNERS}")
    found["corners.md"] = [head, *_corners(facts.operators)]
    return found


def _file(group: str) -> str:
    return "indexing.md" if group == "index" else f"{group}.md"  # index.md leads to all of them


def _index(operators: Sequence[OperatorFact]) -> Iterator[Terminal]:
    yield Terminal(f"# Operators\n\n{MADE}")
    yield Terminal("[Corners](corners.md): ties, zeros, and the bounds of domains.\n")
    for group, title in GROUPS.items():
        inside = [fact for fact in operators if fact.group == group]
        yield Terminal(f"\n## [{title}]({_file(group)})\n\n")
        links = (f"[{fact.name}]({_file(group)}#{fact.name})" for fact in inside)
        yield Terminal(line(", ".join(links)) + "\n")


def _tables(operators: Iterable[OperatorFact], *, anchors: bool = False) -> Iterator[Terminal]:
    """A table for each namespace; with anchors for links to an operator."""
    face = ""
    for fact in operators:
        if fact.face != face:
            face = fact.face
            yield Terminal(f"\n## {HEADINGS[face]}\n\n{TABLE}")
        for place, overload in enumerate(fact.overloads):
            anchor = f'<a id="{fact.name}"></a>' if anchors and not place else ""
            yield Terminal(line(f"| {anchor}{' | '.join(_cells(overload))} |") + "\n")


def _corners(operators: Iterable[OperatorFact]) -> Iterator[Terminal]:
    for edge in dict.fromkeys(e for f in operators for o in f.overloads for e in o.edges):
        row = " | ".join((_code(edge.call), edge.result, "; ".join(edge.gradients)))
        yield Terminal(line(f"| {row} |") + "\n")


def _cells(overload: OverloadFact) -> Iterator[str]:
    yield _code(overload.signature)
    words = {"composed": "composed", "creation": ""}
    made = ", ".join(counted_words(overload.made_of))
    node = made or words.get(overload.kind, overload.grad_fn)
    yield node + (f", in place {overload.inplace}" if overload.inplace else "")
    yield ", ".join(overload.saved)
    yield "<br>".join(
        f"{', '.join(d.inputs)}: {_formula_text(d.formula)}" for d in overload.derivatives
    )
    yield "<br>".join(_described(overload))


def _described(overload: OverloadFact) -> Iterator[str]:
    """What it is, what it computes, and what is unusual about it."""
    yield overload.doc.replace("|", "\\|")
    if overload.computes:
        yield _code(overload.computes)
    conduct = overload.conduct
    if set(conduct.memory) - {"new"}:
        yield f"Memory: {' or '.join(MEMORY[word] for word in conduct.memory)}."
    if conduct.orders in ("first", "none"):
        yield f"Derivatives: {ORDERS[conduct.orders]}."


def _formula_text(formula: str) -> str:
    if not formula:
        return "own kernel"
    return _code(formula) if len(formula) <= READABLE else f"{len(formula):,} characters"


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")
