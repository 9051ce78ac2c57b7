"""Questions: matrices of derivatives: rows and columns by the names of elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy

from ...engine.memory.repr import element_texts
from ...recording.facts.derivatives import BlockFact, MatrixFact
from ...recording.numbers import frozen

WHOLE = 1000  # elements of a matrix that is printed in full: as many as PyTorch prints
EDGE = 3  # of a larger one, rows and columns at each end
LARGEST = 200  # rows of a Hessian whose eigenvalues are found
SYMMETRIC = 1e-3  # of the largest element


class Axis(NamedTuple):
    """A tensor whose elements are rows or columns."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many elements it has."""
        return prod(self.shape)

    def elements(self) -> Iterator[str]:
        """`x` of a single number, else `x[0,1]`."""
        for place in product(*map(range, self.shape)):
            yield f"{self.name}[{','.join(map(str, place))}]" if self.shape else self.name


def elements_of(axes: Sequence[Axis]) -> tuple[str, ...]:
    """The names of all elements of several tensors."""
    return tuple(name for axis in axes for name in axis.elements())


def jacobian_of(first: Sequence[Any], of: Axis, axes: Sequence[Axis], *, texts: bool) -> MatrixFact:
    """One row for each element of the result."""
    whole = beside(first, of.size, axes)
    return _matrix(of.name, tuple(of.elements()), elements_of(axes), whole, texts)


def beside(parts: Sequence[Any], rows: int, axes: Sequence[Axis]) -> Any:
    """The blocks of one row of tensors, as a matrix."""
    flat = [part.reshape(rows, axis.size) for part, axis in zip(parts, axes, strict=True)]
    return numpy.concatenate(flat, 1) if flat else numpy.zeros((rows, 0))


def hessians(
    second: Sequence[Sequence[Any]], of: Axis, axes: Sequence[Axis], *, texts: bool
) -> tuple[MatrixFact, ...]:
    """One matrix for each element of the result."""
    names = elements_of(axes)
    found = []
    for place, name in enumerate(of.elements()):
        whole = hessian_at(second, place, of, axes)
        fact = _matrix(name, names, names, whole, texts)
        found.append(_described(fact, whole))
    return tuple(found)


def hessian_at(second: Sequence[Sequence[Any]], place: int, of: Axis, axes: Sequence[Axis]) -> Any:
    """That of one element of the result."""
    rows = [
        beside([part.reshape((of.size, -1))[place] for part in row], axis.size, axes)
        for row, axis in zip(second, axes, strict=True)
    ]
    return numpy.concatenate(rows, 0) if rows else numpy.zeros((0, 0))


def _described(fact: MatrixFact, whole: Any) -> MatrixFact:
    """Its eigenvalues, or where it is not symmetric."""
    if not whole.size or not numpy.isfinite(whole).all():
        return fact
    gap = abs(whole - whole.T)
    if gap.max() > SYMMETRIC * abs(whole).max():
        i, j = map(int, numpy.unravel_index(int(gap.argmax()), gap.shape))
        return fact._replace(
            unequal=(fact.rows[i], fact.columns[j], float(whole[i, j]), float(whole[j, i]))
        )
    if len(whole) > LARGEST or len(whole) < 2:
        return fact
    found = numpy.linalg.eigvalsh(whole.astype("float64"))
    return fact._replace(eigenvalues=(float(found[0]), float(found[-1])))


def _matrix(
    of: str, rows: tuple[str, ...], columns: tuple[str, ...], whole: Any, texts: bool
) -> MatrixFact:
    fact = MatrixFact(of, rows, columns, frozen(whole.tolist()))  # type: ignore[arg-type]
    if not texts or not whole.size:
        return fact
    large = whole.size > WHOLE
    at, across = _places(len(rows), large), _places(len(columns), large)
    part = whole[numpy.ix_(at, across)]
    told = iter(element_texts(part.reshape(-1), str(whole.dtype)))
    lines = tuple(tuple(next(told) for _ in across) for _ in at)
    return fact._replace(texts=lines, row_places=at, column_places=across)


def _places(count: int, large: bool) -> tuple[int, ...]:
    """All of them, or those at the ends."""
    if not large or count <= 2 * EDGE:
        return tuple(range(count))
    return (*range(EDGE), *range(count - EDGE, count))


def blocks(parts: Sequence[Any], axes: Sequence[Axis], first: str = "") -> tuple[BlockFact, ...]:
    """Each tensor's own part, in the shape that PyTorch gives it."""
    names = (first,) if first else ()
    return tuple(
        BlockFact((*names, axis.name), tuple(part.shape), frozen(part.tolist()))
        for part, axis in zip(parts, axes, strict=True)
    )
