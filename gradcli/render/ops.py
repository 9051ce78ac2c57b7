"""Render: the page of `gradcli ops`: the list of operators, or one in detail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..recording.facts.operators import CatalogueFact, EdgeFact, OperatorFact, OverloadFact
from .escape import Terminal
from .text import BLANK, Cell, Line, Look, cell, counted, listed, paint, rows_in_columns, wrap

HEADINGS = {
    "torch": "torch", "method": "methods of tensors", "functional": "torch.nn.functional",
    "linalg": "torch.linalg", "special": "torch.special", "fft": "torch.fft",
    "signal.windows": "torch.signal.windows", "sparse": "torch.sparse", "numpy": "numpy",
    "hidden": "steps of derivatives",
}  # fmt: skip

ROOMY = 100  # columns
READABLE = 600  # characters of a formula

MEMORY = {
    "new": "a new tensor", "view": "a view of its input", "self": "the tensor itself",
    "written": "its input, written over",
}  # fmt: skip
ORDERS = {
    "linear": "first; the second is 0",
    "first": "first; the second is not implemented, as in PyTorch",
    "none": "none: backward raises, as in PyTorch",
}
KINDS = {
    "float32": "floats", "float64": "floats", "int64": "integers", "bool": "bools",
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
    faces = list(dict.fromkeys(fact.face for fact in operators))
    operators = sorted(operators, key=lambda fact: faces.index(fact.face))
    roomy = look.width >= ROOMY  # on a narrow page the description counts for more than the node
    for fact in operators:
        node = cell(_nodes(fact) if roomy else "", "node")
        rows.append((cell(fact.name, "name"), node, cell(fact.doc)))
    giving = (((2, 48),), ((0, 14),), ((2, 24),), ((1, 12),))
    each = rows_in_columns(rows, look, giving=giving, kept="name")
    out: list[Line] = []
    face = ""
    for fact, lines in zip(operators, each, strict=True):
        if fact.face != face:
            out += [BLANK] if out else []
            out.append((Cell(HEADINGS[fact.face], "head"),))
            face = fact.face
        out += lines
    told = f"{counted(len(operators), 'operator')}; gradcli ops NAME describes one"
    return [*out, BLANK, (Cell(told, "dim"),)]


def _nodes(fact: OperatorFact) -> str:
    """Its nodes in a few words."""
    nodes = fact.nodes
    if not nodes:
        return "creation" if fact.overloads[0].kind == "creation" else "composed"
    return nodes[0] if len(nodes) == 1 else f"{nodes[0]} +{len(nodes) - 1}"


# ---- everything about one


def _whole(fact: OperatorFact, look: Look) -> list[Line]:
    lines = list(_wrapped("", ", ".join(fact.calls), look, "name", 2))
    if fact.face == "hidden":
        lines = [
            (cell(fact.name, "name"), Cell("  a step of derivatives; not to be called", "dim"))
        ]
    shown = ""
    for overload in fact.overloads:
        lines.append(BLANK)
        if overload.doc != shown:
            lines += [*_wrapped("", overload.doc, look, "", 0), BLANK]
            shown = overload.doc
        lines += _overload(overload, look, fact.face == "hidden")
    return lines


def _overload(overload: OverloadFact, look: Look, hidden: bool) -> list[Line]:
    lines = list(_wrapped("  ", overload.signature, look, "", 6))
    told = list(_overload_rows(overload))
    if not hidden:
        told += _conduct(overload)
    wide = max(14, *(len(word) for word, _ in told)) + 2
    for word, value in told:
        lines += _row(word, value, wide, look)
    if overload.edges:
        lines.append((Cell("    at the edges", "dim"),))
        lines += _edges(overload.edges, look)
    if overload.example is not None:
        lines.append((Cell("    example", "dim"),))
        for line in overload.example.program.splitlines():
            lines += _wrapped("        ", line, look, "", 4)
        for line in overload.example.output.splitlines():
            lines.append((Cell("        "), cell(line, "dim")))
    return lines


def _overload_rows(overload: OverloadFact) -> Iterator[tuple[str, str]]:
    """What is computed and recorded: (word, text)."""
    if overload.computes:
        yield "computes", overload.computes
    told = {name for derivative in overload.derivatives for name in derivative.inputs}
    for derivative in overload.derivatives:
        of = ", ".join(derivative.inputs)
        yield f"grad of {of}", _formula(derivative.formula)
    for name in overload.arguments:
        if overload.derivatives and name not in told:
            yield f"grad of {name}", "computed by its own kernel"
    yield "grad_fn", _grad_fn(overload)
    parts = overload.conduct.parts
    if parts:
        yield "made of", ", ".join(counted_words([f"{name} ({node})" if name else node
                                             for name, node in parts]))  # fmt: skip
    if overload.saved:
        yield "saves", ", ".join(overload.saved)


def _formula(text: str) -> str:
    """As it is where it can be read."""
    if len(text) > READABLE:
        return f"a formula of {len(text):,} characters; --format json shows it"
    return text or "computed by its own kernel"


def _grad_fn(overload: OverloadFact) -> str:
    if overload.kind == "creation":
        return "none: it makes a new tensor"
    if overload.kind == "arrays":
        return "none: arrays have no graph"
    if overload.kind == "composed":
        made = overload.made_of
        if made:
            return made[-1]
        return "none: its result requires no grad"
    if overload.grad_fn == "NotImplemented":
        return "NotImplemented: there is no derivative, and backward says so"
    return overload.grad_fn or "none: its result requires no grad"


def counted_words(words: Sequence[str]) -> Iterator[str]:
    """Equal neighbours once, with their number."""
    at = 0
    while at < len(words):
        end = at
        while end < len(words) and words[end] == words[at]:
            end += 1
        yield words[at] if end - at == 1 else f"{end - at} times {words[at]}"
        at = end


def _conduct(overload: OverloadFact) -> Iterator[tuple[str, str]]:
    """How it behaves: (word, text)."""
    conduct = overload.conduct
    if conduct.orders:
        yield "derivatives", ORDERS.get(conduct.orders, conduct.orders)
    types = type_rule(overload)
    if types:
        yield "types", types
    if conduct.memory:
        yield "memory", " or ".join(MEMORY[word] for word in conduct.memory)
    if overload.inplace:
        node = f" ({overload.inplace_grad_fn})" if overload.inplace_grad_fn else ""
        yield "in place", f"Tensor.{overload.inplace}{node}"


def type_rule(overload: OverloadFact) -> str:
    """The result's type for that of the operands, in words."""
    groups: dict[str, dict[str, None]] = {}
    for name, kind in overload.conduct.types:
        said = "stay as they are" if kind == name else f"give {kind}" if kind else "are refused"
        groups.setdefault(said, {})[KINDS[name]] = None
    if not groups:
        return ""
    if len(groups) == 1:
        (said,) = groups
        return {"stay as they are": "that of the operands"}.get(said, said.replace("give ", ""))
    told = [f"{listed(list(kinds))} {said}" for said, kinds in groups.items()]
    shared = "operands are promoted together; " if overload.promotes else ""
    return shared + "; ".join(told)


def _edges(edges: Sequence[EdgeFact], look: Look) -> Iterator[Line]:
    """Each call with what it gives and which gradient, on one line where that fits."""
    room = max(len(edge.call) for edge in edges)
    wide = max((len(edge.result) for edge in edges), default=0)
    for edge in edges:
        gradients = "; ".join(edge.gradients)
        word = "gradient" if len(edge.gradients) == 1 else "gradients"
        told = "" if not gradients else f"{word} {gradients}"
        if gradients.startswith("backward"):
            told = gradients
        whole = f"{edge.call:<{room}}   {edge.result:<{wide}}   {told}".rstrip()
        if len(whole) + 8 <= look.width:
            yield (Cell("        "), cell(whole))
        else:
            yield (Cell("        "), cell(edge.call))
            yield (Cell("            "), cell(f"{edge.result}   {told}".rstrip(), "dim"))


def _row(word: str, value: str, wide: int, look: Look) -> Iterator[Line]:
    head = Cell(f"    {word:<{wide}}", "dim")
    room = max(24, look.width - wide - 4)
    for at, part in enumerate(_parts(value, room)):
        yield (head if at == 0 else Cell(" " * (wide + 4)), cell(part))


def _wrapped(indent: str, value: str, look: Look, style: str, hang: int) -> Iterator[Line]:
    for at, part in enumerate(_parts(value, look.width - len(indent) - hang)):
        yield (Cell(indent if at == 0 else indent + " " * hang), cell(part, style))


def _parts(value: str, room: int) -> list[str]:
    """The text in lines that fit; only spaces are broken at, so code stays code."""
    if len(value) <= room:
        return [value]
    return wrap(value, room, break_long_words=False, break_on_hyphens=False)


# ---- the reference
