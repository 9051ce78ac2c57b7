"""Numerics: how sums are added up: in PyTorch's order, so that the last bits agree.

Floating-point sums depend on the order of additions. PyTorch's CPU kernel takes eight numbers at a
time (or four in double precision), four such vectors side by side, and keeps partial sums of
sixteen rounds on four levels. A sum written that
way equals PyTorch's bit for bit, which shows wherever a program prints a loss with all its digits.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

from .in_turn import adds_in_turn, multiplied_as_one_sum
from .thresholds import BATCH, IN_LANES, ONE_BY_ONE, SUMMED

BYTES = 32  # of a vector
SQUARE = 64  # columns that are multiplied at once for a diagonal
SIDE_BY_SIDE, ROUNDS, LEVELS = 4, 16, 4  # vectors; rounds of a partial sum, and levels of those


def sum_of(xp: Any, self: Any, axis: tuple[int, ...] | None, keepdim: bool, dtype: Any) -> Any:
    """The sum over axes in the type asked for; integers add up as int64."""
    if dtype is not None:
        self = self.astype(dtype.numpy, copy=False)
    if self.dtype.char in "fd":
        whole = axis is None or len(axis) == self.ndim
        if whole and not keepdim and 5 <= self.size <= SUMMED:
            if self.flags.c_contiguous and xp.__name__ == "numpy":
                return _line(xp, self if self.ndim == 1 else self.reshape(-1))
        if axis == (0,) and self.ndim == 2 and not keepdim and 5 <= self.size <= SUMMED:
            if self.shape[1] > 1 and self.flags.c_contiguous and xp.__name__ == "numpy":
                return _columns(xp, self)
        return _floating(xp, self, axis, keepdim)
    if self.dtype.kind in "biu":
        wide = "int64" if dtype is None else self.dtype
        return xp.add.reduce(self, axis=axis, keepdims=keepdim, dtype=wide)
    return xp.add.reduce(self, axis=axis, keepdims=keepdim)


def mean_of(xp: Any, self: Any, axis: tuple[int, ...] | None, keepdim: bool, dtype: Any) -> Any:
    """The sum divided by the count, in the type asked for."""
    total = sum_of(xp, self, axis, keepdim, dtype)
    return total / (self.size // total.size if total.size else 0)


def _floating(xp: Any, self: Any, axis: tuple[int, ...] | None, keepdim: bool) -> Any:
    """Adjacent dimensions in memory order; anything else as the array library adds."""
    found = _in_memory(xp, self, axis) if self.size >= 5 else None
    if found is None:
        if axis is not None and 1 in self.shape:  # such dimensions are in nobody's way
            wide = [dim for dim, size in enumerate(self.shape) if size != 1]
            left = tuple([place for place, dim in enumerate(wide) if dim in axis])
            total = _floating(xp, self.reshape([self.shape[dim] for dim in wide]), left, False)
            return _shaped(total, self, axis, keepdim)
        if axis is not None and (shape := _around(xp, self, axis)):
            parts = self.reshape(shape)
            if shape[-1] == 1:
                lines = _floating(xp, parts[..., 0], (3,), False)
            else:  # what is kept lies behind as well
                lines = _four_sums(xp, parts.transpose(3, 0, 1, 2, 4))
            return _shaped(xp.add.accumulate(lines, axis=1)[:, -1], self, axis, keepdim)
        if order := _order_in_memory(xp, self):
            lain = self.transpose(order)
            if axis is None or len(axis) == self.ndim:
                return _floating(xp, lain, axis, keepdim)
            there = tuple([place for place, dim in enumerate(order) if dim in axis])
            total = _floating(xp, lain, there, True)
            total = total.transpose([order.index(dim) for dim in range(self.ndim)])
            return total if keepdim else total.squeeze(axis)
        return xp.add.reduce(self, axis=axis, keepdims=keepdim)
    lines, values = found
    return _shaped(_line(xp, values) if lines else _columns(xp, values), self, axis, keepdim)


def sum_one_by_one(xp: Any, self: Any, axis: tuple[int, ...], keepdim: bool) -> Any:
    """The sum of singles over axes, one after another, as PyTorch's kernels for most norms add."""
    if self.dtype.char != "f" or not 0 < self.size <= SUMMED or xp.__name__ != "numpy" or not axis:
        return sum_of(xp, self, axis, keepdim, None)
    kept = [size for dim, size in enumerate(self.shape) if dim not in axis]
    lain = xp.moveaxis(self, axis, range(len(axis))).reshape(-1, *kept)
    return _shaped(xp.add.accumulate(lain, axis=0)[-1], self, axis, keepdim)


def squares_of(xp: Any, self: Any, axis: tuple[int, ...], keepdim: bool) -> Any:
    """The sum of squares, in the order of PyTorch's kernel for the 2-norm."""
    found = _in_memory(xp, self, axis) if self.dtype.char == "f" and self.size > 1 else None
    if found is None or not found[0]:
        return sum_as_given(xp, self * self, axis, keepdim)
    return _shaped(_line_of_squares(xp, found[1]), self, axis, keepdim)


WIDE = 16  # numbers that PyTorch's kernel for softmax takes at a time
SIDE, SHORT = 2048, 64  # NumPy goes faster down the columns of so many numbers in short rows


def sum_in_a_row(xp: Any, x: Any, wide: int = WIDE) -> Any:
    """The sum along the last dimension, which stays: in the order of PyTorch's kernels for rows.

    Fewer than `wide` numbers are added one after another; more in as many lanes, of which the
    second half is then added to the first, again and again.
    """
    if not _is_single(xp, x):
        return x.sum(axis=-1, keepdims=True)
    if x.shape[-1] < wide:
        return xp.add.accumulate(x, axis=-1)[..., -1:]
    return halved(_sum_of_lanes(xp, _in_lanes(xp, x, wide)))


def _sum_of_lanes(xp: Any, lanes: Any) -> Any:
    """One vector after another, of many rows at once."""
    if lanes.size < SIDE:
        return xp.add.reduce(lanes, axis=-2)
    return xp.einsum("...ij->...j", lanes)


def largest_in_a_row(xp: Any, x: Any) -> Any:
    """The maximum along the last dimension, which stays."""
    length = x.shape[-1]
    if x.size < SIDE or length > SHORT or xp.__name__ != "numpy":
        return x.max(axis=-1, keepdims=True)
    line = x.reshape(-1)
    while length % 2 == 0:  # the larger one of each pair, in rows half as long
        line, length = xp.maximum(line[::2], line[1::2]), length // 2
    columns = xp.ascontiguousarray(line.reshape(-1, length).T)
    return columns.max(axis=0).reshape(*x.shape[:-1], 1)


def total_in_a_row(xp: Any, x: Any) -> Any:
    """The sum along the last dimension, which stays, in no order of PyTorch's."""
    if x.size < SIDE or xp.__name__ != "numpy":
        return x.sum(axis=-1, keepdims=True)
    return xp.einsum("...i->...", x)[..., None]


def products_in_a_row(xp: Any, x: Any, y: Any, wide: int = WIDE) -> Any:
    """The sum of x * y along the last dimension, which stays, as PyTorch's compiled code has it.

    Products that fill lanes are rounded, and what is left over is multiplied and added with one
    rounding.
    """
    products = x * y
    count = x.shape[-1]
    left = count % wide
    if not _is_single(xp, x) or count <= wide or not left:
        return sum_in_a_row(xp, products, wide)
    lanes = _sum_of_lanes(xp, _in_lanes(xp, products[..., : count - left], wide))
    rest = xp.multiply(x[..., count - left :], y[..., count - left :], dtype="float64")
    lanes[..., :left] = rest + lanes[..., :left]
    return halved(lanes)


def sum_down(xp: Any, x: Any) -> Any:
    """The sum along the first dimension, one row after another, however the array lies."""
    if not _is_single(xp, x):
        return x.sum(axis=0)
    return xp.add.accumulate(x, axis=0)[-1]


def products_down(xp: Any, x: Any, y: Any, dim: int) -> Any:
    """The sum of x * y along a dimension that is not the last, each step rounded once."""
    if _is_single(xp, x) and (x.ndim, dim) == (2, 0) and adds_in_turn():
        return _on_diagonals(xp, x, y)
    if not _is_single(xp, x) or x.shape[dim] > BATCH:
        return (x * y).sum(axis=dim, keepdims=True)
    products = xp.multiply(x, y, dtype="float64").swapaxes(0, dim)
    total = products[0].astype("float32")
    for product in products[1:]:
        total = (total + product).astype("float32")
    return total[None].swapaxes(0, dim)


def _on_diagonals(xp: Any, x: Any, y: Any) -> Any:
    """The same of two matrices by NumPy's library, which adds a row for each pair of columns. Those
    of one place stand on the diagonal; the others cost less than a turn of a loop for each row."""
    total = xp.empty((1, x.shape[1]), x.dtype)
    y = y.copy() if xp.may_share_memory(x, y) else y  # of a matrix with itself it adds otherwise
    for first in range(0, x.shape[1], SQUARE):
        columns = slice(first, first + SQUARE)
        total[0, columns] = multiplied_as_one_sum(xp, x[:, columns].T, y[:, columns]).diagonal()
    return total


def sum_of_cases(xp: Any, loss: Any) -> Any:
    """The sum over cases in the order of PyTorch's nll_loss: levels of sixteen.

    The very first case climbs to the highest level, and the levels are added from the lowest one.
    """
    if not _is_single(xp, loss) or loss.size < 2:
        return loss.sum(dtype=loss.dtype)
    cases = loss.reshape(-1)
    total, level = loss.dtype.type(0), cases[1:]
    while level.size:
        whole = level.size // ROUNDS * ROUNDS
        if whole < level.size:
            total = total + xp.add.accumulate(level[whole:])[-1]
        level = xp.add.accumulate(level[:whole].reshape(-1, ROUNDS), axis=1)[:, -1]
    return total + cases[0]


def sum_of_window(window: Any, ndim: int) -> Any:
    """The sum over the last dimensions, one element after another, as PyTorch's pooling adds."""
    lead = window.ndim - ndim
    count = prod(window.shape[lead:])
    flat = window.reshape((*window.shape[:lead], count))
    if not 0 < count <= ONE_BY_ONE:
        return flat.sum(axis=-1, dtype=window.dtype)
    total = flat[..., 0]
    for place in range(1, count):
        total = total + flat[..., place]
    return total


def _is_single(xp: Any, x: Any) -> bool:
    return x.dtype.char == "f" and 0 < x.size <= IN_LANES and xp.__name__ == "numpy"


def _in_lanes(xp: Any, x: Any, wide: int) -> Any:
    """Rows of lanes, zeros after the last number."""
    missing = -x.shape[-1] % wide
    if missing:
        x = xp.concatenate([x, xp.zeros((*x.shape[:-1], missing), dtype=x.dtype)], axis=-1)
    return x.reshape(*x.shape[:-1], -1, wide)


def halved(lanes: Any) -> Any:
    """Lanes become one, the second half added to the first, again and again."""
    columns = lanes.reshape(-1, lanes.shape[-1]).T.copy()  # of all rows at once
    while (half := len(columns) // 2) > 0:
        columns = columns[:half] + columns[half:]
    return columns.reshape(*lanes.shape[:-1], 1)


def sum_as_given(xp: Any, self: Any, axis: tuple[int, ...], keepdim: bool) -> Any:
    """One after another where the reduced dimension is not the last one."""
    return xp.add.reduce(self, axis=axis, keepdims=keepdim)


def _in_memory(xp: Any, self: Any, axis: tuple[int, ...] | None) -> tuple[bool, Any] | None:
    """(do reduced elements lie side by side, the elements with what is reduced first)."""
    if self.size > SUMMED or xp.__name__ != "numpy":
        return None
    flags, ndim = self.flags, self.ndim
    if axis is None or len(axis) == ndim:
        if not flags.c_contiguous and not flags.f_contiguous:
            return None
        return True, self.reshape(-1) if flags.c_contiguous else self.T.reshape(-1)
    first, last = min(axis, default=0), max(axis, default=-1)
    if not flags.c_contiguous or not axis or last - first + 1 != len(axis) or not self.size:
        return None
    outer, inner = prod(self.shape[:first]), prod(self.shape[last + 1 :])
    if outer == 1 and inner > 1:
        return False, self.reshape(-1, inner)
    if inner == 1:
        lines = self.reshape(outer, -1).T
        short = len(lines) <= ONE_BY_ONE  # they are added side by side
        return True, xp.ascontiguousarray(lines) if short else lines
    return False, self.reshape(outer, -1, inner).swapaxes(0, 1)


def _order_in_memory(xp: Any, self: Any) -> list[int] | None:
    """The dimensions as they lie in memory without gaps, which is how PyTorch adds them; None where
    they lie as they are."""
    if not 0 < self.size <= SUMMED or self.flags.c_contiguous or xp.__name__ != "numpy":
        return None
    order = sorted(range(self.ndim), key=lambda dim: -self.strides[dim])
    return order if self.transpose(order).flags.c_contiguous else None


def _around(xp: Any, self: Any, axis: tuple[int, ...]) -> list[int] | None:
    """The sizes of what is kept, reduced, kept, reduced and kept, where these take turns in memory:
    each of the first reduced ones has a sum of its own. The outer ones that are kept may be 1."""
    if not 0 < self.size <= SUMMED or not self.flags.c_contiguous or xp.__name__ != "numpy":
        return None
    runs = [1]
    for dim, size in enumerate(self.shape):
        if (dim in axis) == (len(runs) % 2 == 0):
            runs[-1] *= size
        else:
            runs.append(size)
    runs += [1] * (len(runs) == 4)
    return runs if len(runs) == 5 and min(runs[1:4]) > 1 else None


def _shaped(total: Any, self: Any, axis: tuple[int, ...] | None, keepdim: bool) -> Any:
    """A sum in the shape that the reduction leaves."""
    gone = range(self.ndim) if axis is None else axis
    if len(gone) == self.ndim:
        return total.reshape((1,) * self.ndim) if keepdim else total
    shape = enumerate(self.shape)
    if keepdim:
        return total.reshape([1 if d in gone else n for d, n in shape])
    return total.reshape([n for d, n in shape if d not in gone])


def _line_of_squares(xp: Any, line: Any) -> Any:
    """Eight sums side by side, then fours, then the last few in one rounding each."""
    count = line.shape[0]
    vectors, even = count // 8 * 8, count // 4 * 4
    squares = line * line
    total = line.dtype.type(0)
    if vectors:
        lanes = squares[:vectors].reshape(-1, 8, *line.shape[1:])
        for value in xp.add.reduce(lanes, axis=0):
            total = total + value
    for value in squares[vectors:even]:
        total = total + value
    for value in line[even:].astype("float64"):
        total = (total + value * value).astype("float32")
    return total


def _rounds(xp: Any, rows: Any) -> Any:
    """Rows added one after another, sixteen of them making one partial sum, sixteen of these one
    of the next level; what is left over on each level is added from the lowest one up."""
    add, count = xp.add.reduce, rows.shape[0]
    if count < ROUNDS:
        return add(rows, 0)
    step = max(ROUNDS, 1 << (count - 1).bit_length() // LEVELS)
    total = None
    for _ in range(LEVELS - 1):
        whole = rows.shape[0] // step
        rest = add(rows[whole * step :], axis=0)
        total = rest if total is None else total + rest
        if not whole:
            return total
        blocks = rows[: whole * step].reshape(whole, step, *rows.shape[1:])
        if blocks.size > SIDE and blocks.shape[-1] > 1:  # the same additions, of many rows at once
            rows = xp.einsum("ij...->i...", blocks)
        else:
            rows = add(blocks, axis=1)
    return total + add(rows, axis=0)


def _four_sums(xp: Any, rows: Any) -> Any:
    """Four partial sums side by side become one, after what is left over went to the first."""
    count = rows.shape[0]
    if count < SIDE_BY_SIDE:
        return xp.add.reduce(rows, axis=0)
    whole = count // SIDE_BY_SIDE
    blocks = rows[: whole * SIDE_BY_SIDE].reshape(whole, SIDE_BY_SIDE, *rows.shape[1:])
    partial = blocks[0] if whole == 1 else _rounds(xp, blocks)
    if count % SIDE_BY_SIDE:
        partial = partial.copy() if whole == 1 else partial
        first = partial[0, ...]  # a view, of a single number too
        for value in rows[whole * SIDE_BY_SIDE :]:
            xp.add(first, value, first)
    return xp.add.reduce(partial, axis=0)


def _columns(xp: Any, rows: Any) -> Any:
    """Sums down the columns: whole groups of columns in one way, the remaining ones in fours."""
    width, lanes = rows.shape[-1], BYTES // rows.itemsize
    group = lanes * SIDE_BY_SIDE if width >= lanes else SIDE_BY_SIDE
    whole = width // group * group
    if not whole:
        return _four_sums(xp, rows)
    if whole == width:
        return _rounds(xp, rows)
    grouped = _rounds(xp, rows[..., :whole])
    return xp.concatenate([grouped, _four_sums(xp, rows[..., whole:])], axis=-1)


@lru_cache(maxsize=256)
def _cut(xp: Any, count: int, dtype: Any) -> tuple[int, tuple[int, ...] | None, Any]:
    """Of a line: where its vectors end; the shape of rows of four, if that is few of them; and
    where the vectors behind them have rows of their own, filled up with zeros, how many numbers
    these are and the places of those of the line."""
    lanes = BYTES // dtype.itemsize
    whole, left = divmod(count // lanes, SIDE_BY_SIDE)
    main, stop = whole * SIDE_BY_SIDE * lanes, count // lanes * lanes
    shape = (-1, SIDE_BY_SIDE, lanes) if 0 < whole < ROUNDS else None
    if not left or shape is None:
        return stop, shape, None
    places = xp.arange(stop)
    places[main:] += (SIDE_BY_SIDE - 1) * lanes * xp.arange(left).repeat(lanes)
    return stop, shape, ((whole + left) * SIDE_BY_SIDE * lanes, places)


def _line(xp: Any, line: Any) -> Any:
    """The sum along the first dimension, whose elements lie side by side in memory."""
    count, dtype = line.shape[0], line.dtype
    stop, shape, filled = _cut(xp, count, dtype)
    if shape is not None and line.ndim == 1:  # as of most losses
        rows = line if stop == count else line[:stop]
        if filled is not None:
            size, places = filled
            rows, numbers = xp.zeros(size, dtype), rows
            rows[places] = numbers
        add = xp.add
        sums = add.reduce(add.reduce(rows.reshape(shape), 0), 0)
        if stop == count:
            return add.accumulate(sums)[-1]  # strictly one after another
    elif stop:
        lanes = BYTES // line.itemsize
        sums = _four_sums(xp, line[:stop].reshape(stop // lanes, lanes, *line.shape[1:]))
    else:
        return _four_sums(xp, line)
    if stop < count:
        sums = xp.concatenate([line[stop:], sums])
    if sums.ndim == 1:
        return xp.add.accumulate(sums)[-1]
    total = sums[0]
    for value in sums[1:]:
        total = total + value
    return total
