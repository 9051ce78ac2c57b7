"""Render: the page of `gradcli ops`: the list of operators, and everything about one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..report.model.operators import CatalogueFact, OperatorFact, OverloadFact
from .escape import Terminal
from .text import BLANK, Cell, Line, Look, cell, columns, paint

HEADINGS = {
    "torch": "torch", "method": "methods of tensors", "functional": "torch.nn.functional",
    "linalg": "torch.linalg", "special": "torch.special", "fft": "torch.fft",
    "signal.windows": "torch.signal.windows",
    "hidden": "steps that derivatives are made of",
}  # fmt: skip


def text(facts: CatalogueFact, look: Look) -> Iterator[Terminal]:
    """The page."""
    if not facts.detailed:
        yield paint(_list(facts.operators, look), look)
        return
    for number, fact in enumerate(facts.operators):
        if number:
            yield Terminal("\n")
        yield paint(_whole(fact, look), look)


# ---- the list


def _list(operators: Sequence[OperatorFact], look: Look) -> list[Line]:
    rows: list[Sequence[Cell]] = []
    for fact in operators:
        rows.append((cell(fact.name, "name"), cell(_nodes(fact), "node"), cell(fact.doc)))
    lines = columns(rows, look, flexible=(((2, 24),), ((1, 12),)))
    out: list[Line] = []
    face = ""
    for fact, line in zip(operators, lines, strict=True):
        if fact.face != face:
            out += [BLANK] if out else []
            out.append((Cell(HEADINGS[fact.face], "head"),))
            face = fact.face
        out.append(line)
    count = len(operators)
    plural = "operator" if count == 1 else "operators"
    return [*out, BLANK, (Cell(f"{count} {plural}; gradcli ops NAME tells all about one", "dim"),)]


def _nodes(fact: OperatorFact) -> str:
    """Its nodes in a few words."""
    nodes = fact.nodes
    if not nodes:
        return "creation" if fact.overloads[0].kind == "creation" else "composed"
    return nodes[0] if len(nodes) == 1 else f"{nodes[0]} +{len(nodes) - 1}"


# ---- everything about one


def _whole(fact: OperatorFact, look: Look) -> list[Line]:
    head = fact.calls or (fact.name,)
    lines: list[Line] = [(cell(", ".join(head), "name"),)]
    if fact.face == "hidden":
        lines = [
            (cell(fact.name, "name"), Cell("  a step of derivatives; not to be called", "dim"))
        ]
    shown = ""
    for overload in fact.overloads:
        lines.append(BLANK)
        if overload.doc != shown:
            lines += [(cell(overload.doc),), BLANK]
            shown = overload.doc
        lines += _overload(overload)
    return lines


def _overload(overload: OverloadFact) -> list[Line]:
    lines: list[Line] = [(Cell("  "), cell(overload.signature))]
    told = list(_told(overload))
    wide = max(14, *(len(word) for word, _ in told)) + 2
    lines += [_row(word, value, wide) for word, value in told]
    if overload.example is not None:
        lines.append(_row("example", "", wide))
        for line in overload.example.program.splitlines():
            lines.append((Cell("        "), cell(line)))
        for line in overload.example.output.splitlines():
            lines.append((Cell("        "), cell(line, "dim")))
    return lines


def _told(overload: OverloadFact) -> Iterator[tuple[str, str]]:
    """What is known of an overload: (word, text)."""
    if overload.kind == "composed":
        made = overload.made_of
        yield "grad_fn", made[-1] if made else "that of the operators it is made of"
        if len(made) > 1:
            yield "made of", ", ".join(made)
    elif overload.kind == "creation":
        yield "grad_fn", "none: it makes a new tensor"
    elif overload.grad_fn == "NotImplemented":
        yield "grad_fn", "NotImplemented: there is no derivative, and backward says so"
    elif overload.grad_fn:
        yield "grad_fn", overload.grad_fn
    else:
        yield "grad_fn", "none: its result requires no grad"
    if overload.saved:
        yield "saves", ", ".join(overload.saved)
    told = {name for derivative in overload.derivatives for name in derivative.inputs}
    for derivative in overload.derivatives:
        of = ", ".join(derivative.inputs)
        yield f"grad of {of}", derivative.formula or "computed by its own kernel"
    for name in overload.arguments:
        if overload.derivatives and name not in told:
            yield f"grad of {name}", "computed by its own kernel"
    if overload.inplace:
        node = f" ({overload.inplace_grad_fn})" if overload.inplace_grad_fn else ""
        yield "in place", f"Tensor.{overload.inplace}{node}"
    if overload.view:
        yield "memory", "a view: it shares its input's"


def _row(word: str, value: str, wide: int) -> Line:
    return (Cell("    "), Cell(f"{word:<{wide}}", "dim"), cell(value))


# ---- the reference


def markdown(facts: CatalogueFact) -> Iterator[Terminal]:
    """The page for the repository: a table for each face."""
    from .escape import line

    yield Terminal(
        "# Operators\n\nMade by `gradcli ops --format markdown` from the declarations in "
        "`gradcli/operators/`.\nThe gradient of an argument is what backward adds for it; `grad` "
        "is the gradient that\ncomes in, `result` what the operator gave. Sizes in formulas are "
        "those of the\ndeclaration's first sample. `gradcli ops NAME` shows the same with "
        "examples.\n"
    )
    face = ""
    for fact in facts.operators:
        if fact.face != face:
            face = fact.face
            yield Terminal(
                f"\n## {HEADINGS[face]}\n\n| signature | grad_fn | saved | gradients | |\n"
                "| --- | --- | --- | --- | --- |\n"
            )
        for overload in fact.overloads:
            row = " | ".join(_cells(overload))
            yield Terminal(line(f"| {row} |") + "\n")


def _cells(overload: OverloadFact) -> Iterator[str]:
    yield _code(overload.signature)
    words = {"composed": "composed", "creation": ""}
    node = ", ".join(overload.made_of) or words.get(overload.kind, overload.grad_fn)
    yield node + (f", in place {overload.inplace}" if overload.inplace else "")
    yield ", ".join(overload.saved)
    yield "<br>".join(
        f"{', '.join(d.inputs)}: {_code(d.formula) if d.formula else 'own kernel'}"
        for d in overload.derivatives
    )
    yield overload.doc.replace("|", "\\|")


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")
