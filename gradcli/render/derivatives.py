"""Render: Jacobians and Hessians with named rows and columns, and how the two modes agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..recording.facts.derivatives import AgreementFact, DerivativesFact, MatrixFact
from .text import BLANK, Cell, Line, Look, cell, counted, ellipsis, fitted, pad, width_of

MOST = 6  # Hessians of one result
GAP = 2


def lines(fact: DerivativesFact, look: Look, *, below: bool = False) -> list[Line]:
    """Everything behind the result's own line, or `below` its gradients."""
    found: list[Line] = []
    for matrix, heading in _matrices(fact):
        found.extend((*((BLANK,) if found else ()), (cell(heading, "head"),)))
        found.extend(_matrix(matrix, look))
        found.extend(_described(matrix, look))
    left = len(fact.hessians) - MOST
    if left > 0:
        more = counted(left, "more Hessian")
        found.extend((BLANK, (cell(f"{ellipsis(look)} {more}: --format json has them", "dim"),)))
    if below and not found and (fact.notes or fact.agreement is not None):
        found.append(BLANK)
    for note in (*fact.notes, *_agreement(fact.agreement, fact.order)):
        found.extend((*((BLANK,) if found[-1:] != [BLANK] else ()), fitted((cell(note),), look)))
    return found


def _matrices(fact: DerivativesFact) -> Iterator[tuple[MatrixFact, str]]:
    if fact.jacobian is not None:
        of = fact.jacobian.of
        yield fact.jacobian, f"Jacobian of {of}: d row / d column"
    for hessian in fact.hessians[:MOST]:
        of = hessian.of
        yield hessian, f"Hessian of {of}: second derivatives of {of} by row and column"


def _matrix(fact: MatrixFact, look: Look) -> Iterator[Line]:
    """Columns that do not fit beside each other are in blocks below each other."""
    if not fact.texts:
        rows, columns = counted(len(fact.rows), "row"), counted(len(fact.columns), "column")
        yield (cell(f"  empty: {rows}, {columns}", "dim"),)
        return
    names = [cell(fact.rows[place]).text for place in fact.row_places]
    first = max(map(width_of, names))
    heads = [cell(fact.columns[place]).text for place in fact.column_places]
    widths = [
        max(width_of(head), *(width_of(row[i]) for row in fact.texts))
        for i, head in enumerate(heads)
    ]
    start = 0
    while start < len(heads):
        end = _fitting(widths, start, look.width - first, look)
        if start:
            yield BLANK
        yield from _block(fact, (names, first), (heads, widths), range(start, end), look)
        start = end
    if len(fact.row_places) < len(fact.rows) or len(fact.column_places) < len(fact.columns):
        count = len(fact.rows) * len(fact.columns)
        yield (cell(f"  {ellipsis(look)} of {count:,} elements; --format json has all", "dim"),)


def _fitting(widths: Sequence[int], start: int, room: int, look: Look) -> int:
    """The first column that does not fit any more; at least one does."""
    end = start
    while end < len(widths) and (look.whole or end == start or room >= widths[end] + GAP):
        room -= widths[end] + GAP
        end += 1
    return end


def _block(
    fact: MatrixFact, names: tuple[list[str], int], columns: tuple[list[str], list[int]],
    shown: range, look: Look,
) -> Iterator[Line]:  # fmt: skip
    (rows, first), (heads, widths) = names, columns
    space, mark = " " * GAP, ellipsis(look)
    pieces = [space + pad(heads[i], widths[i], right=True) for i in shown]
    cut = _gap_at(fact.column_places, shown)
    if cut is not None:
        pieces.insert(cut, space + mark)
    yield (Cell(" " * first), Cell("".join(pieces), "dim"))
    before = -1
    for name, place, row in zip(rows, fact.row_places, fact.texts, strict=True):
        if place > before + 1:
            yield (Cell(mark, "dim"),)
        before = place
        pieces = [space + pad(row[i], widths[i], right=True) for i in shown]
        if cut is not None:
            pieces.insert(cut, space + mark)
        yield (Cell(pad(name, first), "leaf"), Cell("".join(pieces)))


def _gap_at(places: Sequence[int], shown: range) -> int | None:
    """Before which of the columns that are shown others are left out."""
    for i in shown:
        if i and places[i] > places[i - 1] + 1:
            return i - shown.start
    return None


def _described(fact: MatrixFact, look: Look) -> Iterator[Line]:
    if fact.unequal is not None:
        row, column, one, other = fact.unequal
        said = f"not symmetric: row {row}, column {column} is {one:.6g}, the other way {other:.6g}"
        yield fitted((cell(said, "error"),), look)
    if fact.eigenvalues is not None:
        low, high = fact.eigenvalues
        ends = f"{low:.4g}", f"{high:.4g}"
        said = "eigenvalues {} to {}" if ends[0] != ends[1] else "every eigenvalue is {}"
        yield fitted((cell(f"{said.format(*ends)}: {_kind(low, high)}", "dim"),), look)


def _kind(low: float, high: float) -> str:
    """What the signs of the eigenvalues say of the point; zeros up to rounding are zeros."""
    zero = 1e-5 * max(abs(low), abs(high))
    if low > zero:
        return "positive definite, a minimum where the gradient is zero"
    if high < -zero:
        return "negative definite, a maximum where the gradient is zero"
    if low < -zero and high > zero:
        return "indefinite, a saddle where the gradient is zero"
    return "singular, flat in some direction"


def _agreement(fact: AgreementFact | None, order: int) -> Iterator[str]:
    if fact is None:
        return
    if fact.equal:
        gap = "exactly" if not fact.difference else f"up to {fact.difference:.2g}"
        what = "first and second derivatives" if order > 1 else "every derivative"
        yield f"forward mode and reverse mode agree {gap}: {what}"
        return
    by = " ".join(f"d{name}" for name in fact.wrt)
    top = f"d{fact.of}" if len(fact.wrt) == 1 else f"d2 {fact.of}"
    numbers = f"{_number(fact.forward)} in forward mode, {_number(fact.reverse)} in reverse mode"
    yield f"forward mode and reverse mode differ: {top} / {by} is {numbers}"


def _number(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, (int, float)) else str(value)
