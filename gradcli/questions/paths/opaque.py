"""Questions: nodes without a declaration, as formulas: views, and Jacobians at this point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from ...engine.tensors.views import AsStrided, CopySlices, Geometry
from ...named import NamedTuple
from ...symbols.algebra import Algebra, Expr
from .carrier import Symbol, Unsayable, constant
from .several import called

LITERAL = 64  # numbers of a Jacobian that is written out
MOST = 6  # such lines in a formula that is still one

Run = Callable[[Any, dict[int, Any]], Sequence[Any]]


class Place(NamedTuple):
    """Where a view lies in its base, in elements."""

    base: tuple[int, ...]
    base_strides: tuple[int, ...]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    @classmethod
    def of(cls, geometry: Geometry) -> Place:
        """The same as data."""
        return cls(tuple(geometry.base_shape), tuple(geometry.base_strides),
                   tuple(geometry.shape), tuple(geometry.strides), geometry.offset)  # fmt: skip

    def word(self) -> tuple[str, tuple[Any, ...]]:
        """select, slice or nothing where the view is one of these or the whole, else as_strided;
        and what is given to it."""
        steps = _row_major(self.base)
        if not _same(self.base_strides, steps, self.base):
            raise Unsayable("a view of memory that is not in row-major order")
        if self.shape == self.base and not self.offset and _same(self.strides, steps, self.shape):
            return "", ()
        for dim, (size, step) in enumerate(zip(self.base, steps, strict=True)):
            index, rest = divmod(self.offset, step)
            found = self._along(dim, index, steps) if not rest and index < size else None
            if found is not None:
                return found
        if self._overlaps():
            raise Unsayable("a view whose elements overlap")
        return "as_strided", (self.shape, self.strides, self.offset)

    def _along(
        self, dim: int, index: int, steps: tuple[int, ...]
    ) -> tuple[str, tuple[Any, ...]] | None:
        """As one index or one range of a dimension."""
        others = self.base[:dim] + self.base[dim + 1 :]
        if self.shape == others and _same(self.strides, steps[:dim] + steps[dim + 1 :], others):
            return "select", (dim, index)
        if len(self.shape) != len(self.base) or not _same(self.strides, steps, self.shape):
            return None
        length = self.shape[dim]
        fits = self.shape[:dim] + self.shape[dim + 1 :] == others
        return (
            ("slice", (dim, index, length)) if fits and index + length <= self.base[dim] else None
        )

    def _overlaps(self) -> bool:
        places = {self.offset}
        for size, step in zip(self.shape, self.strides, strict=True):
            places = {place + step * at for place in places for at in range(size)}
        return len(places) < prod(self.shape)


def _row_major(shape: Sequence[int]) -> tuple[int, ...]:
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(step)
        step *= max(size, 1)
    return tuple(reversed(steps))


def _same(one: Sequence[int], two: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether steps agree where a dimension has more than one element."""
    return all(a == b for a, b, size in zip(one, two, shape, strict=True) if size > 1)


def through_views(node: Any, grads: dict[int, Any], run: Run) -> Sequence[Any]:
    """What a write through a view, or a view read off its base, makes of a symbol."""
    grad, geometry = grads[0], node.geometry
    place = Place.of(geometry)
    if isinstance(node, AsStrided):
        (value,) = node.apply((grad.value,), False)
        return (scattered(grad, place, value),)
    base = geometry.laid_out(grad.value).copy()
    window = geometry.window(base)
    inner = run(node.node, {0: _window(grad, place, window.copy())})
    below = inner[0]
    if below is None:
        below = Symbol(grad.algebra, grad.algebra.zero, window * 0)
    window[...] = below.value
    first = None if node.edges[0] is None else _placed(grad, below, place, base)
    return (first, *inner[1:])


def _window(grad: Symbol, place: Place, value: Any) -> Symbol:
    """The part of a gradient where a view lies."""
    word, given = place.word()
    if not word or grad.expr.shape == ():
        return Symbol(grad.algebra, grad.expr, value)
    return called(grad, {"slice": "narrow"}.get(word, word), value, *given)


def _placed(grad: Symbol, part: Symbol, place: Place, value: Any) -> Symbol:
    """The gradient with another in that place."""
    word, given = place.word()
    if not word:
        return Symbol(grad.algebra, part.expr, value)
    if part.value.ndim == 0 and part.expr.kind == "number":  # a tensor is wanted there
        text = f"torch.tensor({float(part.expr.data)!r})"
        part = Symbol(grad.algebra, grad.algebra.text((text,), True, ()), part.value)
    if word == "slice":
        dim, start, length = given
        return called(grad, "slice_scatter", value, part, dim, start, start + length)
    return called(grad, f"{word}_scatter", value, part, *given)


def scattered(grad: Symbol, place: Place, value: Any) -> Symbol:
    """Zeros of the base's shape with a gradient where the view lies."""
    algebra = grad.algebra
    if grad.expr.kind == "number" and grad.expr.data == 0:
        return Symbol(algebra, algebra.zero, value)
    empty = Symbol(algebra, constant(algebra, "zeros", place.base, value.dtype), value * 0)
    return _placed(empty, grad, place, value)


def is_view(node: Any) -> bool:
    """Whether a node is one of those that `through_views` knows."""
    return isinstance(node, AsStrided | CopySlices)


# ---------------------------------------------------------------- numbers


class Blocks:
    """Jacobians of nodes that no formula opens, each as a line of numbers with a name."""

    def __init__(self, algebra: Algebra, run: Run, define: Callable[[str, Expr], str]) -> None:
        self.algebra, self.run, self.define = algebra, run, define
        self.made: dict[tuple[int, int, int], Expr] = {}

    def of(self, node: Any, grads: dict[int, Any]) -> Sequence[Any]:
        """What a node makes of symbols: each of them times its Jacobian."""
        size = sum(grad.value.size for grad in grads.values())
        if size > LITERAL:
            raise Unsayable(f"a Jacobian of {size} rows")
        totals: list[Symbol | None] = [None] * len(node.edges)
        for nr, grad in grads.items():
            for place, part in enumerate(self._parts(node, nr, grad)):
                if part is not None and place < len(totals):
                    held = totals[place]
                    totals[place] = part if held is None else held + part
        return totals

    def _parts(self, node: Any, nr: int, grad: Symbol) -> list[Symbol | None]:
        import numpy

        rows = []
        for element in range(grad.value.size):
            seed = numpy.zeros(grad.value.size, dtype=grad.value.dtype)
            seed[element] = 1
            seed = seed.reshape(grad.value.shape)
            rows.append(self.run(node, {nr: seed}))
        value = self.run(node, {nr: grad.value})
        parts: list[Symbol | None] = []
        for place in range(len(node.edges)):
            if node.edges[place] is None or place >= len(value) or value[place] is None:
                parts.append(None)
                continue
            columns = [row[place].reshape(-1) for row in rows]
            jacobian = numpy.stack(columns)
            if jacobian.size > LITERAL and not _diagonal(jacobian, grad, value[place]):
                raise Unsayable(f"a Jacobian of {jacobian.size} numbers")
            parts.append(self._product(node, (nr, place), grad, jacobian, value[place]))
        return parts

    def _product(
        self, node: Any, key: tuple[int, int], grad: Symbol, jacobian: Any, value: Any
    ) -> Symbol:
        algebra = self.algebra
        diagonal = _diagonal(jacobian, grad, value)
        block = jacobian.diagonal().reshape(value.shape) if diagonal else jacobian
        known = self.made.get((id(node), *key))
        if known is None:
            known = self.made[(id(node), *key)] = self._line(node, block)
        if diagonal:
            return Symbol(algebra, algebra.mul(grad.expr, known), value)
        row = called(grad, "reshape", grad.value.reshape(-1), -1)
        expr = algebra.call("@", "operator", (("", row.expr), ("", known)), (jacobian.shape[1],))
        flat = Symbol(algebra, expr, value.reshape(-1))
        return called(flat, "reshape", value, *value.shape) if value.ndim != 1 else flat

    def _line(self, node: Any, block: Any) -> Expr:
        """A name for the numbers; a single one is written without a tensor around it."""
        if len(self.made) >= MOST:
            raise Unsayable("a derivative of very many numbers")
        single = block.size == 1 and block.ndim == 0
        numbers = block.item() if single else block.tolist()
        kind = ", dtype=torch.float64" if block.dtype.char == "d" else ""
        text = repr(numbers) if single else f"torch.tensor({numbers!r}{kind})"
        word = node.name().split("::")[-1].removesuffix("0").removesuffix("Backward")
        made = self.algebra.text((text,), True, tuple(block.shape))
        name = self.define(f"{'slope' if single else 'jacobian'}_of_{word}", made)
        value = float(numbers) if single else None
        return self.algebra.name(name, tuple(block.shape), value)


def _diagonal(jacobian: Any, grad: Symbol, value: Any) -> bool:
    """Whether each element of the input belongs to one of the output."""
    if grad.value.shape != value.shape:
        return False
    rest = jacobian.copy()
    rest.reshape(-1)[:: len(jacobian) + 1] = 0
    return not rest.any()
