"""Engine: what stands in a sparse tensor where others have an array: its elements and their places.

The payloads of the two layouts that there are: coordinates (`torch.sparse_coo`), and compressed
rows (`torch.sparse_csr`). They are never changed: an operation in place gives its tensor another.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from .device import module_of
from .layout import check_dimensions

MOST_ELEMENTS = 1 << 59  # their bytes can be counted
SHOWN = 1 << 24  # elements of a sparse tensor that is shown with all its zeros


class NoArray(NotImplementedError):
    """Code for arrays met what is none."""


NoArray.__name__ = NotImplementedError.__name__  # what a program's error is called


def _refused(self: SparsePayload, *others: Any) -> Any:
    raise NoArray(
        "this looks at all elements of a sparse tensor, which keeps some: use .to_dense()"
    )


def check_size(shape: Sequence[int]) -> None:
    """Sizes that a tensor can have, however few elements it keeps."""
    check_dimensions(len(shape))
    if any(size < 0 for size in shape):
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {min(shape)}: {list(shape)}"
        )
    if prod(shape) >= MOST_ELEMENTS:
        raise RuntimeError("numel: integer multiplication overflow")


class SparsePayload:
    """The facts that every tensor asks its array for, and the elements as a dense array.

    It takes part in nothing that arrays do: a kernel for arrays fails on it, and never answers.
    """

    __slots__ = ("values", "shape")

    __array_ufunc__ = None
    __array__ = __iter__ = __len__ = __getitem__ = __bool__ = _refused
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refused
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refused
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _refused
    __neg__ = __pos__ = __abs__ = _refused
    __hash__ = object.__hash__

    layout = ""
    word = ""  # what PyTorch's complaints call the layout

    values: Any
    shape: tuple[int, ...]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def dtype(self) -> Any:
        return self.values.dtype

    @property
    def itemsize(self) -> int:
        return int(self.values.dtype.itemsize)

    @property
    def nnz(self) -> int:
        return len(self.values)

    @property
    def nbytes(self) -> int:
        """Of its values and of their places."""
        return int(self.values.nbytes) + sum(int(array.nbytes) for _, array in self.parts())

    def parts(self) -> tuple[tuple[str, Any], ...]:
        """What says where the elements are, by PyTorch's names."""
        raise NotImplementedError

    def with_values(self, values: Any) -> Any:
        """Other elements at the same places."""
        raise NotImplementedError

    def coordinates(self) -> CoordinateArray:
        raise NotImplementedError

    def dense(self) -> Any:
        """All elements. Whoever calls it has asked for the memory."""
        held = self.coordinates()
        xp = module_of(held.values)
        out = xp.zeros(self.shape, dtype=self.dtype)
        if held.nnz:
            held = held.coalesced()
            out[tuple(held.indices)] = held.values
        return out

    def copy(self) -> Any:
        return self.with_values(self.values.copy())

    def astype(self, dtype: Any) -> Any:
        return self.with_values(self.values.astype(dtype))

    def get(self) -> Any:
        """What is to be shown, on the host: all elements, or of very many those that are kept.

        It is called as the method of a GPU's array that does this.
        """
        shown = self.dense() if self.size <= SHOWN else self.coordinates().coalesced().values
        return shown.get() if hasattr(shown, "get") else shown


class CoordinateArray(SparsePayload):
    """Elements by their coordinates: `indices` has a column for each of `values`, whose further
    dimensions are dense. One place may be named several times until `coalesced`."""

    __slots__ = ("indices", "is_coalesced")

    layout, word = "sparse_coo", "Sparse"

    def __init__(
        self, indices: Any, values: Any, shape: tuple[int, ...], is_coalesced: bool = False
    ) -> None:
        check_size(shape)
        self.indices, self.values, self.shape = indices, values, tuple(shape)
        self.is_coalesced = is_coalesced or len(values) < 2

    @property
    def sparse_dim(self) -> int:
        return len(self.indices)

    @property
    def dense_dim(self) -> int:
        return len(self.shape) - len(self.indices)

    def parts(self) -> tuple[tuple[str, Any], ...]:
        return (("indices", self.indices),)

    def with_values(self, values: Any, is_coalesced: bool | None = None) -> CoordinateArray:
        kept = self.is_coalesced if is_coalesced is None else is_coalesced
        indices = module_of(values).ascontiguousarray(self.indices)
        return CoordinateArray(indices, values, self.shape, kept)

    @property
    def is_packed(self) -> bool:
        return bool(self.indices.flags.c_contiguous)

    def copy(self) -> CoordinateArray:
        held = self.with_values(self.values.copy())
        held.indices = self.indices.copy()
        return held

    def coordinates(self) -> CoordinateArray:
        return self

    def coalesced(self) -> CoordinateArray:
        """In row-major order, elements of one place added up in the order in which they stand."""
        if self.is_coalesced:
            return self
        xp = module_of(self.values)
        order = xp.lexsort(self.indices[::-1]) if self.sparse_dim else xp.arange(self.nnz)
        indices, values = self.indices[:, order], self.values[order]
        first = xp.ones(self.nnz, dtype=bool)
        first[1:] = (indices[:, 1:] != indices[:, :-1]).any(axis=0)
        if not first.all():
            places, sums = xp.cumsum(first) - 1, values[first]
            xp.add.at(sums, places[~first], values[~first])
            kept = xp.empty_like(indices)[:, : len(sums)]  # a part, as PyTorch keeps it: what is
            kept[...] = indices[:, first]  # not contiguous is copied where a leaf takes it
            indices, values = kept, sums
        return CoordinateArray(indices, values, self.shape, True)

    def places(self) -> Any:
        """The row-major number of each place, over its sparse dimensions."""
        xp, sizes = module_of(self.values), self.shape[: self.sparse_dim]
        found = xp.zeros(self.nnz, dtype="int64")
        for row, size in zip(self.indices, sizes, strict=True):
            found = found * size + row
        return found


class CompressedArray(SparsePayload):
    """A matrix by its rows: those of row r stand from `rows[r]` to `rows[r + 1]`."""

    __slots__ = ("rows", "columns")

    layout, word = "sparse_csr", "SparseCsr"

    def __init__(self, rows: Any, columns: Any, values: Any, shape: tuple[int, ...]) -> None:
        self.rows, self.columns, self.values, self.shape = rows, columns, values, tuple(shape)

    def parts(self) -> tuple[tuple[str, Any], ...]:
        return ("crow_indices", self.rows), ("col_indices", self.columns)

    def with_values(self, values: Any) -> CompressedArray:
        return CompressedArray(self.rows, self.columns, values, self.shape)

    def coordinates(self) -> CoordinateArray:
        xp = module_of(self.values)
        counts = self.rows[1:] - self.rows[:-1]
        rows = xp.repeat(xp.arange(len(counts)), counts)
        indices = xp.stack([rows, self.columns]).astype("int64")
        return CoordinateArray(indices, self.values, self.shape, True)


def compressed(held: CoordinateArray) -> CompressedArray:
    """A matrix of coordinates by its rows."""
    held = held.coalesced()
    xp = module_of(held.values)
    counts = xp.bincount(held.indices[0], minlength=held.shape[0])
    rows = xp.concatenate([xp.zeros(1, dtype="int64"), xp.cumsum(counts)]).astype("int64")
    return CompressedArray(rows, held.indices[1], held.values, held.shape)
