"""Operators: contractions over named dimensions: einsum, tensordot, inner, kron, chains and powers."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

from ..engine.operator import composite, operator
from .constants import zeros_of
from .create import eye
from .geometry import shown, wrap_dim
from .index_dim import index_fill_tensor
from .product import bmm, dot, matmul_of, mm, product_of, vdot
from .select import diagonal
from .shape import clone, movedim, permute, reshape, unsafe_view, unsqueeze, view
from .sums import sum_dims, sum_to

# ---- two operands whose dimensions stand in one order


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
                    f"einsum(): the number of subscripts in the equation ({named}) is more than the "
                    f"number of dimensions ({operand.ndim}) for operand {place}"
                )
            width = max(width, operand.ndim - named)
        elif named != operand.ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({named}) does not match the "
                f"number of dimensions ({operand.ndim}) for operand {place} and no ellipsis was given"
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
                    f"einsum(): subscript {label} has size {length} for operand {number} which does "
                    f"not broadcast with previously seen size {sizes[dim]}"
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


for _count in (2, 3, 4, 5, 6, 7):
    _signature = ", ".join(
        f"{'Tensor' if place % 2 == 0 and place < _count - _count % 2 else 'any'} part{place}"
        for place in range(_count)
    )
    composite(
        f"einsum.sublist{_count}({_signature}) -> Tensor",
        _lettered,
        where="torch",
        doc="einsum with lists of numbers for the letters.",
        samples=("torch.einsum(x, [0, 1], a, [1, 2], [0, 2])", "torch.einsum(x, [0, 1], a, [1, 2])")
        if _count == 5
        else (),
    )

# ---- tensordot, inner


def _dims_of(a: Any, b: Any, dims: Any) -> tuple[list[int], list[int]]:
    if hasattr(dims, "item"):
        dims = int(dims.item()) if dims.numel() == 1 else dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        return list(range(-dims, 0)), list(range(dims))
    left, right = dims
    return (
        list(left) if isinstance(left, list | tuple) else [left],
        list(right) if isinstance(right, list | tuple) else [right],
    )


def tensordot_of(a: Any, b: Any, dims_a: Sequence[int], dims_b: Sequence[int]) -> Any:
    if len(dims_a) != len(dims_b):
        raise RuntimeError(
            f"both dimension lists should have the same length, got {len(dims_a)} and {len(dims_b)}"
        )
    left = [wrap_dim(dim, a.ndim) for dim in dims_a]
    right = [wrap_dim(dim, b.ndim) for dim in dims_b]
    sums = 1
    for place, (i, j) in enumerate(zip(left, right, strict=True)):
        m, n = a.shape[i], b.shape[j]
        if n == 1:
            a = sum_dims(a, (i,), True)
        elif m == 1:
            b = sum_dims(b, (j,), True)
        elif m != n:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {m} in dim "
                f"{dims_a[place]} and second has size {n} in dim {dims_b[place]}"
            )
        else:
            sums *= m
    rest_a = [dim for dim in range(a.ndim) if dim not in left]
    rest_b = [dim for dim in range(b.ndim) if dim not in right]
    size = (*(a.shape[dim] for dim in rest_a), *(b.shape[dim] for dim in rest_b))
    rows = product_of([a.shape[dim] for dim in rest_a])
    columns = product_of([b.shape[dim] for dim in rest_b])
    a = permute(a, (*rest_a, *dims_a))
    b = permute(b, (*dims_b, *rest_b))
    if not rest_a and not rest_b:
        return view(dot(_vector(a, sums), _vector(b, sums)), ())
    return view(mm(reshape(a, (rows, sums)), reshape(b, (sums, columns))), size)


def _vector(self: Any, length: int) -> Any:
    return self if tuple(self.shape) == (length,) and self.ndim == 1 else reshape(self, (length,))


tensordot = composite(
    "tensordot(Tensor a, Tensor b, any dims=2) -> Tensor",
    lambda a, b, dims: tensordot_of(a, b, *_dims_of(a, b, dims)),
    where="torch",
    doc="Products summed over dimensions of two tensors.",
    samples=(
        "torch.tensordot(x, a, 1)", "torch.tensordot(x, y, 2)", "torch.tensordot(x, y, ([0], [0]))",
        "torch.tensordot(c, a, dims=([2], [0]))", "torch.tensordot(v, w, 0)",
    ),
    errors=(
        "torch.tensordot(x, y, 1)", "torch.tensordot(x, y, 3)", "torch.tensordot(x, y, ([0], [1]))",
        "torch.tensordot(x, y, -1)",
    ),
)  # fmt: skip


def _inner(self: Any, other: Any) -> Any:
    if self.ndim == 0 or other.ndim == 0:
        return self * other
    if self.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{shown(self.shape)} and {shown(other.shape)}"
        )
    return tensordot_of(self, other, (-1,), (-1,))


inner = composite(
    "inner(Tensor self, Tensor other) -> Tensor",
    _inner,
    doc="Products summed over the last dimension.",
    samples=("torch.inner(v, w)", "torch.inner(x, a)", "torch.inner(s, x)", "x.inner(y)"),
    errors=("torch.inner(x, r)",),
)

# ---- chains


def _kron(self: Any, other: Any) -> Any:
    """Each operand with sizes of 1 between its dimensions; their product, seen as one matrix."""
    rank = max(self.ndim, other.ndim)
    mine = (1,) * (rank - self.ndim) + tuple(self.shape)
    theirs = (1,) * (rank - other.ndim) + tuple(other.shape)
    left = [n for pair in ((length, 1) for length in mine) for n in pair]
    right = [n for pair in ((1, length) for length in theirs) for n in pair]
    size = tuple(m * n for m, n in zip(mine, theirs, strict=True))
    return unsafe_view(unsafe_view(self, tuple(left)) * unsafe_view(other, tuple(right)), size)


kron = composite(
    "kron(Tensor self, Tensor other) -> Tensor",
    _kron,
    doc="Every element of one tensor times the whole other.",
    samples=("torch.kron(a, b)", "torch.kron(v, a)", "x.kron(y)", "torch.kron(s, v)"),
    errors=("torch.kron(x, 1)",),
)


def _chain_order(sizes: Sequence[int]) -> list[list[int]]:
    """Where to cut each stretch of a chain so that the fewest multiplications are made."""
    count = len(sizes) - 1
    cost = [[0] * count for _ in range(count)]
    cut = [[0] * count for _ in range(count)]
    for width in range(1, count):
        for first in range(count - width):
            last = first + width
            best = None
            for middle in range(first, last):
                total = (
                    cost[first][middle]
                    + cost[middle + 1][last]
                    + sizes[first] * sizes[middle + 1] * sizes[last + 1]
                )
                if best is None or total < best:
                    best, cut[first][last] = total, middle
            cost[first][last] = best or 0
    return cut


def _multiplied_chain(tensors: Sequence[Any], cut: list[list[int]], first: int, last: int) -> Any:
    if first == last:
        return tensors[first]
    middle = cut[first][last]
    return mm(
        _multiplied_chain(tensors, cut, first, middle),
        _multiplied_chain(tensors, cut, middle + 1, last),
    )


def _check_chain(tensors: Sequence[Any]) -> None:
    count = len(tensors)
    if count < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {count}")
    for place, word in ((0, "first"), (count - 1, "last")):
        if tensors[place].ndim not in (1, 2):
            raise RuntimeError(
                f"multi_dot(): the {word} tensor must be 1D or 2D but got {tensors[place].ndim}D"
            )
    for place in range(1, count - 1):
        if tensors[place].ndim != 2:
            raise RuntimeError(
                f"multi_dot(): tensor {place} must be 2D but got {tensors[place].ndim}D"
            )


def _chain(tensors: Sequence[Any]) -> Any:
    _check_chain(tensors)
    given = tensors
    tensors = list(tensors)
    size: list[int] = []
    if tensors[0].ndim == 1:
        tensors[0] = unsqueeze(tensors[0], 0)
    else:
        size.append(tensors[0].shape[0])
    if tensors[-1].ndim == 1:
        tensors[-1] = unsqueeze(tensors[-1], -1)
    else:
        size.append(tensors[-1].shape[1])
    for place, (a, b) in enumerate(zip(tensors, tensors[1:], strict=False)):
        if a.shape[1] != b.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {place} and {place + 1} with shapes "
                f"{shown(given[place].shape)} and {shown(given[place + 1].shape)} cannot be multiplied"
            )
    if len(tensors) == 2:
        return view(mm(tensors[0], tensors[1]), tuple(size))
    if len(tensors) == 3:
        return view(_of_three(*tensors), tuple(size))
    cut = _chain_order([tensors[0].shape[0], *(tensor.shape[1] for tensor in tensors)])
    return view(_multiplied_chain(tensors, cut, 0, len(tensors) - 1), tuple(size))


def _of_three(first: Any, second: Any, third: Any) -> Any:
    a, b, c, e = first.shape[0], second.shape[0], third.shape[0], third.shape[1]
    left = a * c * (b + e)
    right = b * e * (a + c)
    return mm(mm(first, second), third) if left <= right else mm(first, mm(second, third))


multi_dot = composite(
    "multi_dot(Tensor[] tensors) -> Tensor",
    _chain,
    where="linalg",
    doc="A chain of matrix products in the cheapest order.",
    samples=(
        "torch.linalg.multi_dot([a, b, a])", "torch.linalg.multi_dot([v, b, w])",
        "torch.linalg.multi_dot([a, b])", "torch.linalg.multi_dot([x, a, b, b])",
        "torch.linalg.multi_dot([x, a, b, v])",
    ),
    errors=(
        "torch.linalg.multi_dot([a])", "torch.linalg.multi_dot([a, c])",
        "torch.linalg.multi_dot([a, x])",
    ),
)  # fmt: skip

chain_matmul = composite(
    "chain_matmul(Tensor[] matrices) -> Tensor",
    lambda matrices: matrices[0] if len(matrices) == 1 else _chain(matrices),
    where="torch",
    doc="A chain of matrix products in the cheapest order.",
    samples=("torch.chain_matmul(a, b, a)", "torch.chain_matmul(x, a)"),
)


def check_square(self: Any, name: str, argument: str = "A") -> None:
    if self.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {argument} must have at least 2 dimensions.")
    if self.shape[-1] != self.shape[-2]:
        raise RuntimeError(
            f"{name}: {argument} must be batches of square matrices, but they are "
            f"{self.shape[-2]} by {self.shape[-1]} matrices"
        )


def _power(self: Any, n: int) -> Any:
    check_square(self, "linalg.matrix_power")
    if n == 0:
        return clone(self, None).copy_(eye(self.shape[-1], dtype=self.dtype, device=self.device))
    if n == 1:
        return clone(self, None)
    if n < 0:
        from .inverse import inverse_of

        self, n = inverse_of(self, "linalg.inv"), -n
        if n == 1:
            return self
    if n == 2:
        return matmul_of(self, self)
    if n == 3:
        return matmul_of(matmul_of(self, self), self)
    result = square = None
    while n > 0:
        square = self if square is None else matmul_of(square, square)
        if n % 2:
            result = square if result is None else matmul_of(result, square)
        n //= 2
    return result


matrix_power = composite(
    "matrix_power(Tensor self, int n) -> Tensor",
    _power,
    where="torch method linalg",
    doc="A square matrix times itself, so often; its inverse for negative numbers.",
    samples=(
        "torch.linalg.matrix_power(a, 3)", "a.matrix_power(0)", "a.matrix_power(1)",
        "a.matrix_power(2)", "a.matrix_power(5)", "a.matrix_power(-2)", "torch.matrix_power(c, 2)",
    ),
    errors=("torch.linalg.matrix_power(x, 2)",),
)  # fmt: skip

# ---- cross products, traces


def _check_cross(self: Any, other: Any, dim: int) -> None:
    if self.ndim != other.ndim:
        raise RuntimeError(
            f"linalg.cross: inputs must have the same number of dimensions, but got {self.ndim} and {other.ndim}"
        )
    if self.ndim == 0:
        raise RuntimeError("linalg.cross: inputs must be at least 1-dimensional.")
    wrapped = wrap_dim(dim, self.ndim)
    if self.shape[wrapped] != 3 or other.shape[wrapped] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got "
            f"{self.shape[wrapped]} and {other.shape[wrapped]}"
        )


def _crossed(xp: Any, self: Any, other: Any, dim: int) -> Any:
    """Each product rounded before they are subtracted."""
    a, b = xp.broadcast_arrays(xp.moveaxis(self, dim, 0), xp.moveaxis(other, dim, 0))
    parts = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    return xp.stack(parts, dim)


linalg_cross = operator(
    "cross.linalg(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
    node="LinalgCrossBackward0",
    where="linalg",
    check=_check_cross,
    forward=_crossed,
    self=lambda grad, self_shape, other, dim: sum_to_shape(
        linalg_cross(other, grad, dim), self_shape
    ),
    other=lambda grad, self, other_shape, dim: sum_to_shape(
        linalg_cross(grad, self, dim), other_shape
    ),
    doc="The vector product along a dimension of size 3.",
    samples=(
        "torch.linalg.cross(v, w)", "torch.linalg.cross(a, b, dim=0)", "torch.linalg.cross(x, z)",
    ),
    errors=("torch.linalg.cross(v, w[:2])", "torch.linalg.cross(w[:2], w[:2])"),
)  # fmt: skip


def sum_to_shape(grad: Any, shape: Sequence[int]) -> Any:
    return grad if tuple(grad.shape) == tuple(shape) else sum_to(grad, shape)


def _cross(self: Any, other: Any, dim: int | None) -> Any:
    if dim is None:
        found = next((place for place, length in enumerate(self.shape) if length == 3), None)
        if found is None:
            raise RuntimeError("no dimension of size 3 in input")
        dim = found
    return linalg_cross.run(self, other, dim)


cross = composite(
    "cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
    _cross,
    doc="The vector product along a dimension of size 3; without one named, along the first.",
    samples=("torch.cross(a, b)", "torch.cross(a, b, dim=1)", "v.cross(w, 0)", "torch.cross(x, y)"),
    errors=("torch.cross(x.t(), y)", "torch.cross(x, y, 0)"),
)


def _check_trace(self: Any) -> None:
    if self.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {self.ndim}")


def _trace_gradient(grad: Any, sizes: Sequence[int]) -> Any:
    flat = zeros_of(grad, (sizes[0] * sizes[1],))
    places = diagonal_places(flat, sizes[0], sizes[1])
    return view(index_fill_tensor(flat, 0, places, grad), tuple(sizes))


diagonal_places = operator(
    "_diagonal_places(Tensor self, int rows, int columns) -> Tensor",
    where="hidden",
    dtype="int64",
    forward=lambda xp, self, rows, columns: xp.arange(min(rows, columns)) * (columns + 1),
    doc="Where the diagonal of a matrix stands in its memory.",
    samples=("torch.autograd.grad(torch.trace(a), a, create_graph=True)[0]",),
)

trace = operator(
    "trace(Tensor self) -> Tensor",
    node="TraceBackward0",
    check=_check_trace,
    dtype="sum",
    forward=lambda xp, self: self.trace(dtype="int64" if self.dtype.kind in "iub" else None),
    self=lambda grad, self_sym_sizes: _trace_gradient(grad, self_sym_sizes),
    doc="The sum of a matrix's diagonal.",
    samples=("torch.trace(a)", "x.trace()", "i.trace()"),
    errors=("torch.trace(v)",),
)


def _vecdot(x: Any, y: Any, dim: int) -> Any:
    if x.ndim == 1 and y.ndim == 1:
        return vdot(x, y)
    return sum_dims(x * y, (dim,), False)


vecdot = composite(
    "vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
    _vecdot,
    where="linalg",
    doc="Products summed over a dimension.",
    samples=(
        "torch.linalg.vecdot(v, w)", "torch.linalg.vecdot(x, y)",
        "torch.linalg.vecdot(x, y, dim=0)",
    ),
)  # fmt: skip
