"""Numerics: attention over heads of singles, to the last bit as PyTorch's kernel computes it.

Rows of queries go in blocks. Their scores are exponentiated by vectors of sixteen, in a quick way
when they come and exactly on the way back, and added in lanes; products are those of its library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy

from . import c_library
from .box_muller import fused_single
from .packed_matmul import BY_HAND
from .small_matmul import added_product, multiplied
from .summation import sum_in_a_row
from .thresholds import HEADS, SCORES
from .vector_code import in_pieces, vector_exp

LANES = 16
KEYS = 512  # that are taken at once; more are not worked out here
_single = numpy.float32

# exp(r) on [-ln 2 / 2, ln 2 / 2], highest power first (PyTorch's exp_u20, of 20 units at most).
_POWERS = tuple(
    _single(c) for c in (0.00828929059, 0.0418978221, 0.166676521, 0.499991506, 0.999999701, 1.0)
)
_LOG2_E, _LN2, _HALF = _single(1.44269502), _single(0.693147182), _single(0.5)
_LEAST = _single(-87.3365479)


def is_known(xp: Any, query: Any, key: Any) -> bool:
    """Is attention of so many heads worked out here?"""
    if query.dtype.char != "f" or xp.__name__ != "numpy" or not query.size or not key.size:
        return False
    batch, heads, rows, _ = query.shape
    keys, each = key.shape[2], _block(rows)
    turns = batch * heads * -(-rows // each)
    return keys <= KEYS and turns <= HEADS and batch * heads * rows * keys <= SCORES


def _block(rows: int) -> int:
    """How many rows of queries are taken at once."""
    return 256 if rows >= 768 else 64 if rows >= 192 else 32


def _blocks(query: Any) -> Iterator[tuple[int, int, slice]]:
    rows = query.shape[2]
    step = _block(rows)
    for batch, head in numpy.ndindex(*query.shape[:2]):
        for first in range(0, rows, step):
            yield batch, head, slice(first, first + step)


@in_pieces
def _quick_exp(x: Any) -> Any:
    """exp of what is not positive."""
    kept = numpy.maximum(x, _LEAST)
    whole = numpy.floor(fused_single(kept, _LOG2_E, _HALF))
    rest = fused_single(-whole, _LN2, kept)
    total = fused_single(rest, _POWERS[0], _POWERS[1])
    for power in _POWERS[2:]:
        total = fused_single(rest, total, power)
    return numpy.where(x < _LEAST, _single(0), numpy.ldexp(total, whole.astype(numpy.int32)))


def attended(
    xp: Any, query: Any, key: Any, value: Any, scale: float, bar: Callable[[Any], Any]
) -> tuple[Any, Any]:
    """The output (batch, heads, rows, width), in the query's order in memory, and the logarithms of
    the sums (batch, heads, rows). Scores pass through `bar`, which masks them."""
    scores = _products(xp, query, key.swapaxes(2, 3))
    scores *= _single(scale)
    scores = bar(scores)
    top = scores.max(axis=-1, keepdims=True)
    top = numpy.where(numpy.isneginf(top), _single(0), top)
    scores -= top
    whole = scores.shape[-1] // LANES * LANES
    weights = numpy.empty_like(scores)
    weights[..., :whole] = _quick_exp(numpy.ascontiguousarray(scores[..., :whole]))
    weights[..., whole:] = c_library.exp(numpy.ascontiguousarray(scores[..., whole:]))
    total = numpy.zeros_like(top)
    if whole:
        total = sum_in_a_row(xp, weights[..., :whole], LANES)
    for place in range(whole, scores.shape[-1]):
        total = total + weights[..., place, None]
    total[total == 0] = 1
    output = numpy.empty_like(query)
    numpy.multiply(_products(xp, weights, value), _single(1) / total, out=output)
    return output, (top + c_library.log(total))[..., 0]


def _products(xp: Any, left: Any, right: Any) -> Any:
    """left @ right of all heads, whose blocks of rows do not matter to each other."""
    products = left.shape[2] * left.shape[3] * right.shape[3]
    if left.shape[2] <= _block(left.shape[2]) and products >= BY_HAND:
        a, b = _flat(left), _flat(right)
        return multiplied(xp, a, b).reshape(*left.shape[:3], right.shape[3])
    found = numpy.empty((*left.shape[:3], right.shape[3]), left.dtype)
    for batch, head, rows in _blocks(left):
        product = added_product(xp, None, left[batch, head, rows], right[batch, head], 1)
        found[batch, head, rows] = product
    return found


def _flat(heads: Any) -> Any:
    """Batches and heads as one dimension; matrices that lie by their columns still do."""
    if heads.strides[3] != heads.itemsize:
        turned = heads.swapaxes(2, 3)
        return turned.reshape(-1, *turned.shape[2:]).swapaxes(1, 2)
    return heads.reshape(-1, *heads.shape[2:])


def returned(
    xp: Any, grad: Any, query: Any, key: Any, value: Any, out: Any, logsumexp: Any, scale: float,
    bar: Callable[[Any], Any],
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The gradients of query, key and value."""
    scores = numpy.empty((*query.shape[:3], key.shape[2]), query.dtype)
    for batch, head, rows in _blocks(query):
        of_keys = key[batch, head].T
        scores[batch, head, rows] = added_product(
            xp, None, query[batch, head, rows], of_keys, scale
        )
    scores = bar(scores)
    weights = vector_exp(scores - logsumexp[..., None])
    weights[numpy.isneginf(scores)] = 0
    slopes = _products(xp, grad, value.swapaxes(2, 3))
    slopes -= sum_in_a_row(xp, grad * out, LANES)
    slopes *= weights
    found = [numpy.zeros(part.shape, part.dtype) for part in (query, key, value)]
    for batch, head, rows in _blocks(query):
        place = batch, head
        to_query, to_key, to_value = (part[place] for part in found)
        given, weight = grad[place][rows], weights[place][rows]
        to_value[...] = added_product(xp, to_value, weight.T, given, 1)
        slope = slopes[place][rows]
        to_query[rows] = added_product(xp, to_query[rows], slope, key[place], scale)
        to_key[...] = added_product(xp, to_key, slope.T, query[place][rows], scale)
    return found[0], found[1], found[2]
