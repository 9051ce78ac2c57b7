"""language: the explanation of an error: its labels, its advice, the changes that can be tried."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from ..diagnostics import Cure, Edit, Label, Span
from .places import Places

ENCLOSED = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.BoolOp, ast.Lambda)

SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign)  # statements that share a line
COMPOUND = ("if ", "with ", "for ")


class Explanation:
    """Collects the words for one error; `place` is the expression or statement that failed."""

    def __init__(self, places: Places, place: ast.AST) -> None:
        self.places, self.place = places, place
        self.primary = ""
        self.words = ""  # of the error, where what is said depends on them
        self.span: Span | None = None  # a part of the place, where that is what failed
        self.labels: list[Label] = []
        self.notes: list[str] = []
        self.cures: list[Cure] = []

    def put(self, origin: object, text: str) -> None:
        """A label at the place of an origin, if that is in the program's text."""
        span = self.places.place(origin)
        if span is not None:
            self.labels.append(Label(span, text))

    def note(self, text: str) -> None:
        self.notes.append(f"note: {text}")

    def advise(self, text: str, edits: Sequence[Edit] | None = None, added: str = "") -> None:
        """What to do; with `edits` it can be tried."""
        note = f"help: {text}"
        self.notes.append(note)
        if edits:
            self.cures.append(Cure(note, tuple(edits), added))

    def or_else(self, text: str, edits: Sequence[Edit] | None) -> None:
        """What may help where nothing else does; it is shown only if a trial shows that."""
        if edits:
            self.cures.append(Cure(f"help: {text}", tuple(edits), last_resort=True))

    def merge(self) -> None:
        """One label for each place; what concerns the failing place is said there."""
        failing = self.span or self.places.span(self.place)
        texts: dict[Span, list[str]] = {}
        for label in self.labels:
            if label.text not in texts.setdefault(label.span, []):
                texts[label.span].append(label.text)
        if failing is not None and failing in texts:
            said = [*texts.pop(failing), *([self.primary] if self.primary else [])]
            self.primary = "; ".join(said)
        self.labels = [Label(span, "; ".join(said)) for span, said in texts.items()]


def node_words(places: Places, node: Any) -> str:
    """MulBackward0 (w4 * c, line 5)"""
    name = node.name().split("::")[-1]
    line = places.line(node.origin)
    if line is None:
        return name
    text = places.text(node.origin)
    return f"{name} (line {line})" if text is None else f"{name} ({text}, line {line})"


# ---------------------------------------------------------------- changes of the text


def replaced(places: Places, node: object, text: str) -> list[Edit] | None:
    """Another text in the place of a node's."""
    span = places.span(node)
    return None if span is None else [Edit(span, text)]


def suffixed(places: Places, node: ast.expr, text: str) -> list[Edit] | None:
    """Text such as `.sum()` behind an expression, which is enclosed where it has to be."""
    span = places.span(node)
    if span is None:
        return None
    if not isinstance(node, ENCLOSED):
        return [Edit(span.end, text)]
    if _has_brackets(places, span):
        return [Edit(span._replace(end_column=span.end_column + 1).end, text)]
    return [Edit(span.start, "("), Edit(span.end, ")" + text)]


def _has_brackets(places: Places, span: Span) -> bool:
    """Whether an expression is in brackets of its own, which are not those of a call."""
    before = places.source.line(span.line)[: span.column - 1]
    behind = places.source.line(span.end_line)[span.end_column - 1 :]
    if not before.endswith("(") or not behind.startswith(")"):
        return False
    return not (before[-2:-1].isalnum() or before[-2:-1] in ("_", ")", "]"))


def with_argument(places: Places, call: object, text: str) -> list[Edit] | None:
    """One more keyword argument at the end of a call."""
    span = places.span(call)
    if span is None or not isinstance(call, ast.Call):
        return None
    inside = places.source.text_of(span)[:-1].rstrip()
    comma = "" if inside.endswith(("(", ",")) else ", "
    return [Edit(span.tail(1).start, comma + text)]


def is_alone(places: Places, statement: ast.stmt | None) -> bool:
    """Whether a statement has its lines for itself, so that lines can be put around it."""
    span = places.span(statement)
    if span is None:
        return False
    before = places.source.line(span.line)[: span.column - 1]
    behind = places.source.line(span.end_line)[span.end_column - 1 :].strip()
    return not before.strip() and (not behind or behind.startswith("#"))


def line_before(places: Places, statement: ast.stmt | None, text: str) -> list[Edit] | None:
    """A statement of its own in front of another one."""
    return _own_line(places, statement, text, behind=False)


def line_after(places: Places, statement: ast.stmt | None, text: str) -> list[Edit] | None:
    """A statement of its own behind another one."""
    return _own_line(places, statement, text, behind=True)


def _own_line(
    places: Places, statement: ast.stmt | None, text: str, *, behind: bool
) -> list[Edit] | None:
    span = places.span(statement)
    if span is not None and not is_alone(places, statement):
        if not isinstance(statement, SIMPLE) or text.startswith(COMPOUND):
            return None
        return [Edit(span.end, f"; {text}") if behind else Edit(span.start, f"{text}; ")]
    if span is None:
        return None
    indent = places.source.line(span.line)[: span.column - 1]
    if behind:
        return [Edit(span.end, f"\n{indent}{text}")]
    return [Edit(span.start, f"{text}\n{indent}")]


def is_simple(statement: ast.stmt | None) -> bool:
    """Whether a statement can be written down a second time."""
    return isinstance(statement, (ast.Assign, ast.AnnAssign))


def again(places: Places, statements: Sequence[ast.stmt]) -> str | None:
    """The text of simple statements, to be run once more."""
    spans = [places.span(statement) for statement in statements]
    if not all(map(is_simple, statements)) or None in spans:
        return None
    return "; ".join(places.source.text_of(span) for span in spans if span is not None)
