"""Operators: contractions over dimensions named by letters."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

from ...engine.schema.operator import composite
from ..reduce.sums import sum_dims
from ..shape.diagonals import diagonal
from ..shape.shape import reshape, view
from ..shape.squeeze import unsqueeze
from ..shape.transposed import movedim, permute
from .product import bmm, product_of

# ---- two operands whose dimensions are in one order


def _pair(left: Any, right: Any, dims: Sequence[int]) -> Any:
    """Products summed over some dimensions, as one batched matrix product; sizes 1 stay."""
    if not dims:
        return left * right
    both, mine, theirs, sums = [], [], [], 1
    for dim in range(left.ndim):
        wide = left.shape[dim] != 1, right.shape[dim] != 1
        if dim in dims:
            if all(wide):
                sums *= left.shape[dim]
            elif wide[0]:
                left = sum_dims(left, (dim,), True)
            elif wide[1]:
                right = sum_dims(right, (dim,), True)
        else:
            (both if all(wide) else mine if wide[0] else theirs).append(dim)
    if mine and theirs and theirs[-1] < mine[0]:  # saves turning the result around
        return _pair_of(right, left, both, theirs, mine, dims, sums)
    return _pair_of(left, right, both, mine, theirs, dims, sums)


def _pair_of(
    left: Any,
    right: Any,
    both: Sequence[int],
    mine: Sequence[int],
    theirs: Sequence[int],
    dims: Sequence[int],
    sums: int,
) -> Any:
    order = [*both, *mine, *dims, *theirs]
    size = [left.shape[dim] for dim in (*both, *mine)]
    size += [1] * len(dims) + [right.shape[dim] for dim in theirs]
    batch = product_of([left.shape[dim] for dim in both])
    rows = product_of([left.shape[dim] for dim in mine])
    columns = product_of([right.shape[dim] for dim in theirs])
    left = reshape(permute(left, tuple(order)), (batch, rows, sums))
    right = reshape(permute(right, (*both, *dims, *theirs, *mine)), (batch, sums, columns))
    result = view(bmm(left, right), tuple(size))
    return permute(result, tuple(order.index(dim) for dim in range(len(order))))


# ---- einsum

_ELLIPSIS = "..."


def _subscripts(text: str, operand: int | None) -> list[str]:
    """The labels of one term."""
    labels: list[str] = []
    place = 0
    while place < len(text):
        character = text[place]
        if character == " ":
            pass
        elif character == ".":
            where = "the output" if operand is None else f"operand {operand}"
            if _ELLIPSIS in labels:
                raise RuntimeError(
                    f"einsum(): found '.' for {where} for which an ellipsis was already found"
                )
            if text[place : place + 3] != _ELLIPSIS:
                raise RuntimeError(
                    f"einsum(): found '.' for {where} that is not part of any ellipsis"
                )
            labels.append(_ELLIPSIS)
            place += 2
        elif character in string.ascii_letters:
            labels.append(character)
        else:
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {place} in the equation string, "
                "subscripts must be in [a-zA-Z]"
            )
        place += 1
    return labels


def _terms(equation: str, count: int) -> tuple[list[list[str]], list[str] | None]:
    inputs, arrow, output = equation.partition("->")
    terms = inputs.split(",")
    labels = [_subscripts(term, place) for place, term in enumerate(terms)]
    if len(terms) > count:
        raise RuntimeError("einsum(): fewer operands were provided than specified in the equation")
    if len(terms) < count:
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    return labels, _subscripts(output, None) if arrow else None


def _ellipsis_width(labels: Sequence[Sequence[str]], operands: Sequence[Any]) -> int:
    """How many dimensions the ellipsis stands for; every operand's rank is checked on the way."""
    width = 0
    for place, (term, operand) in enumerate(zip(labels, operands, strict=True)):
        named = len(term) - (_ELLIPSIS in term)
        if _ELLIPSIS in term:
            if named > operand.ndim:
                raise RuntimeError(
                    f"einsum(): the number of subscripts in the equation ({named}) is more than "
                    f"the number of dimensions ({operand.ndim}) for operand {place}"
                )
            width = max(width, operand.ndim - named)
        elif named != operand.ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({named}) does not match the "
                f"number of dimensions ({operand.ndim}) for operand {place} and no ellipsis was "
                "given"
            )
    return width


def _output_order(labels: Sequence[Sequence[str]], output: list[str] | None) -> list[str]:
    """The labels of the result; without an arrow those that occur once, in order."""
    seen = [label for term in labels for label in term]
    if output is None:
        once = sorted(x for x in set(seen) if x != _ELLIPSIS and seen.count(x) == 1)
        return ([_ELLIPSIS] if _ELLIPSIS in seen else []) + once
    for place, label in enumerate(output):
        if label == _ELLIPSIS:
            continue
        if label in output[:place]:
            raise RuntimeError(
                f"einsum(): output subscript {label} appears more than once in the output"
            )
        if label not in seen:
            raise RuntimeError(
                f"einsum(): output subscript {label} does not appear in the equation for any input "
                "operand"
            )
    return output


def _places(
    labels: Sequence[Sequence[str]], output: list[str], width: int
) -> tuple[dict[str, int], int, int]:
    """Where each label stands: those of the result, then those that are summed. Then how many
    dimensions the result has, and where the ellipsis begins."""
    places: dict[str, int] = {}
    at = start = 0
    for label in output:
        if label == _ELLIPSIS:
            start, at = at, at + width
        else:
            places[label], at = at, at + 1
    kept = at
    if _ELLIPSIS not in output and width:
        start, at = at, at + width
    for label in sorted({x for term in labels for x in term} - {_ELLIPSIS} - set(output)):
        places[label], at = at, at + 1
    return places, kept, start


def _aligned(
    operand: Any,
    term: Sequence[str],
    number: int,
    places: dict[str, int],
    total: int,
    start: int,
    width: int,
) -> Any:
    """An operand with every dimension of the contraction in its place."""
    order = [-1] * total
    where: dict[str, int] = {}
    at = 0
    rank = operand.ndim
    for label in term:
        if label == _ELLIPSIS:
            for _ in range(width - (rank - (len(term) - 1))):
                operand = unsqueeze(operand, at)
            for place in range(width):
                order[start + place], at = at, at + 1
        elif label in where:
            dim = where[label]
            if operand.shape[at] != operand.shape[dim]:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for operand {number} but the sizes "
                    f"don't match, {operand.shape[at]} != {operand.shape[dim]}"
                )
            operand = movedim(diagonal(operand, 0, dim, at), -1, dim)
        else:
            where[label], order[places[label]] = at, at
            at += 1
    for place, dim in enumerate(order):
        if dim == -1:
            operand, order[place] = unsqueeze(operand, -1), at
            at += 1
    return permute(operand, tuple(order))


def _check_sizes(operands: Sequence[Any], places: dict[str, int]) -> None:
    names = {place: label for label, place in places.items()}
    sizes = [1] * (operands[0].ndim if operands else 0)
    for number, operand in enumerate(operands):
        for dim, length in enumerate(operand.shape):
            if length != 1 and sizes[dim] not in (1, length):
                label = names.get(dim, "...")
                raise RuntimeError(
                    f"einsum(): subscript {label} has size {length} for operand {number} which "
                    f"does not broadcast with previously seen size {sizes[dim]}"
                )
            sizes[dim] = length if sizes[dim] == 1 else sizes[dim]


def _contracted(operands: list[Any], kept: int, total: int) -> Any:
    """Two at a time from the left; a dimension is summed as soon as only one operand has it."""
    counts = [sum(x.shape[dim] != 1 for x in operands) for dim in range(total)]
    several = len(operands) > 1
    while len(operands) > 1:
        a, b = operands[0], operands[1]
        shared, of_a, of_b = [], [], []
        for dim in range(kept, total):
            wide = a.shape[dim] != 1, b.shape[dim] != 1
            if all(wide):
                counts[dim] -= 1
                if counts[dim] == 1:
                    shared.append(dim)
                    counts[dim] = 0
            elif counts[dim] == 1 and any(wide):
                (of_a if wide[0] else of_b).append(dim)
                counts[dim] = 0
        a = sum_dims(a, of_a, True) if of_a else a
        b = sum_dims(b, of_b, True) if of_b else b
        operands[:2] = [_pair(a, b, shared)]
    result = operands[0]
    if total == kept:
        return result
    if several:
        return view(result, tuple(result.shape[:kept]))
    return sum_dims(result, tuple(range(kept, total)), False)


def einsum_of(equation: str, operands: Sequence[Any]) -> Any:
    if not operands:
        raise RuntimeError("einsum(): must provide at least one operand")
    labels, output = _terms(equation, len(operands))
    width = _ellipsis_width(labels, operands)
    ordered = _output_order(labels, output)
    places, kept, start = _places(labels, ordered, width)
    total = len(places) + width
    aligned = [
        _aligned(operand, term, number, places, total, start, width)
        for number, (operand, term) in enumerate(zip(operands, labels, strict=True))
    ]
    _check_sizes(aligned, places)
    return _contracted(aligned, kept, total)


einsum = composite(
    "einsum(str equation, Tensor[] tensors) -> Tensor",
    einsum_of,
    where="torch",
    doc="Products summed over the dimensions whose letters the result leaves out.",
    samples=(
        "torch.einsum('ij,jk->ik', x, a)", "torch.einsum('ij->ji', x)", "torch.einsum('ii', a)",
        "torch.einsum('ii->i', a)", "torch.einsum('i,i', v, w)", "torch.einsum('i,j->ij', v, w)",
        "torch.einsum('bij,bjk->bik', c, c)", "torch.einsum('ij->', x)", "torch.einsum('ij->i', x)",
        "torch.einsum('...ij->...ji', c)", "torch.einsum('ij,j', x, v)",
        "torch.einsum('ij,ij->ij', x, y)", "torch.einsum('ij,ij->', x, y)",
        "torch.einsum('bij,jk,kl->bil', c, a, b)", "torch.einsum('i,ij,j->', v, a, w)",
        "torch.einsum('i,ij,j', [v, a, w])", "torch.einsum('ij,ik->jk', x, y)",
        "torch.einsum('ij,kj->ik', x, y)", "torch.einsum('...j,j->...', c, v)",
        "torch.einsum('ij,jk->ki', x, a)", "torch.einsum('i,ij', v, a)",
        "torch.einsum('bi,bj->bij', x, y)", "torch.einsum('j,ij->ij', v, x)",
        "torch.einsum('ij->...', x)", "torch.einsum('bij,bj->bi', c, x)",
        "torch.einsum('bij,bij->b', c, c)", "torch.einsum('ij,jk->', x, a)",
        "torch.einsum('abc,cd->abd', c, a)", "torch.einsum('nij,nkj->nik', c, c)",
        "torch.einsum('i->', v)", "torch.einsum('bij->bji', c)", "torch.einsum('iij->j', c[:, :2])",
    ),
    errors=(
        "torch.einsum('ij,jk', x, y)", "torch.einsum('ij', x, y)", "torch.einsum('ijk', x)",
        "torch.einsum('i1', x)", "torch.einsum('ij->k', x)", "torch.einsum('ij->ii', x)",
        "torch.einsum('ii', x)", "torch.einsum('ij,ik,il', x, y)", "torch.einsum('->', x)",
    ),
)  # fmt: skip


composite(
    "einsum.one(str equation, Tensor operand) -> Tensor",
    lambda equation, operand: einsum_of(equation, [operand]),
    where="torch",
    doc="einsum of one operand.",
    samples=("torch.einsum('ij->j', x)",),
)


def _lettered(*given: Any) -> Any:
    """einsum(x, [0, 1], y, [1, 2], [0, 2]): numbers for letters."""
    operands = list(given[0 : len(given) - len(given) % 2 : 2])
    lists = list(given[1 : len(given) : 2])
    terms = [_letters(numbers) for numbers in lists]
    equation = ",".join(terms)
    if len(given) % 2:
        equation += "->" + _letters(given[-1])
    return einsum_of(equation, operands)


def _letters(numbers: Sequence[Any]) -> str:
    letters = string.ascii_uppercase + string.ascii_lowercase
    return "".join(_ELLIPSIS if number is ... else letters[number] for number in numbers)


_SUBLISTS = {
    2: "torch.einsum(x, [0, 1])",
    3: "torch.einsum(x, [0, 1], [1, 0])",
    4: "torch.einsum(x, [0, 1], a, [1, 2])",
    5: "torch.einsum(x, [0, 1], a, [1, 2], [0, 2])",
    6: "torch.einsum(x, [0, 1], a, [1, 2], b, [2, 3])",
    7: "torch.einsum(x, [0, 1], a, [1, 2], b, [2, 3], [3, 0])",
}
for _count in _SUBLISTS:
    _signature = ", ".join(
        f"{'Tensor' if place % 2 == 0 and place < _count - _count % 2 else 'any'} part{place}"
        for place in range(_count)
    )
    composite(
        f"einsum.sublist{_count}({_signature}) -> Tensor",
        _lettered,
        where="torch",
        doc="einsum with lists of numbers for the letters.",
        samples=(_SUBLISTS[_count],),
    )
