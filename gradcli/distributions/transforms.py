"""Distributions: invertible functions of samples, and those that are made of others."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping, Sequence
from typing import Any

from ..engine.schema.settable import Takes
from ..engine.schema.size import Size
from ..engine.tensors.invented_names import KEPT
from . import constraints
from .constraints import Constraint
from .operations import run, sum_rightmost


class Transform:
    """A function from `domain` to `codomain`; a program's own classes may build on it.

    Such a class writes `_call`, `_inverse` and `log_abs_det_jacobian`. With `cache_size=1` the last
    pair of input and output is kept, so that the way back is exact.
    """

    PUBLIC: tuple[str, ...] = (
        "bijective", "domain", "codomain", "event_dim", "inv", "sign", "with_cache", "_call",
        "_inverse", "log_abs_det_jacobian", "forward_shape", "inverse_shape", "_cache_size",
    )  # fmt: skip
    TAKES: Mapping[str, Takes] = {
        "domain": Takes.VALUE, "codomain": Takes.VALUE, "*": Takes.PLAIN,
    }  # fmt: skip
    EXTENSIBLE = True
    FROM_CLASS = ("bijective", "domain", "codomain", "event_dim", "sign")
    ASKED = ("__call__",)
    _torch_name = "torch.distributions.transforms.Transform"
    bijective: Any = False
    domain: Any
    codomain: Any

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._cached_x_y: Any = (None, None)
        self._inv: Transform | None = None

    @property
    def event_dim(self) -> Any:
        events: int = self.domain.event_dim
        if events == self.codomain.event_dim:
            return events
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Transform:
        if self._inv is None:
            self._inv = _InverseTransform(self)
        return self._inv

    @property
    def sign(self) -> Any:
        raise NotImplementedError

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The same transform with another cache."""
        if self._cache_size == cache_size:
            return self
        if not type(self).__module__.startswith(HOME) and not self._starts_as(Transform):
            raise NotImplementedError(f"{type(self)}.with_cache is not implemented")
        new: Transform = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new.__dict__.pop(KEPT, None)
        new._cache_size, new._cached_x_y, new._inv = cache_size, (None, None), None
        return new

    @classmethod
    def _starts_as(cls, kind: type) -> bool:
        return bool(cls.__init__ is kind.__init__)  # type: ignore[misc]

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, x: Any) -> Any:
        if self._cache_size:
            known, answer = self._cached_x_y
            if known is x:
                return answer
        y = self._call(x)
        if self._cache_size:
            self._cached_x_y = x, y
        return y

    def _inv_call(self, y: Any) -> Any:
        if self._cache_size:
            answer, known = self._cached_x_y
            if known is y:
                return answer
        x = self._inverse(y)
        if self._cache_size:
            self._cached_x_y = x, y
        return x

    def _call(self, x: Any) -> Any:
        raise NotImplementedError

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        raise NotImplementedError

    def forward_shape(self, shape: Any) -> Any:
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


HOME = __name__.rpartition(".")[0] + "."


class _InverseTransform(Transform):
    """The way back of a transform, which answers for it."""

    _torch_name = "torch.distributions.transforms._InverseTransform"

    def __init__(self, transform: Transform) -> None:
        super().__init__(transform._cache_size)
        self._forth = self._inv = transform

    @property
    def domain(self) -> Any:
        return self._forth.codomain

    @property
    def codomain(self) -> Any:
        return self._forth.domain

    @property
    def bijective(self) -> Any:
        return self._forth.bijective

    @property
    def sign(self) -> Any:
        return self._forth.sign

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self._forth.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and bool(self._forth == other._forth)

    def __call__(self, x: Any) -> Any:
        return self._forth._inv_call(x)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._forth.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._forth.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._forth.forward_shape(shape)

    def __repr__(self) -> str:
        return f"_InverseTransform({self._forth!r})"


def _widened(constraint: Constraint, events: int) -> Constraint:
    more = events - constraint.event_dim
    return constraints.independent(constraint, more) if more else constraint


class ComposeTransform(Transform):
    PUBLIC = ("parts",)
    _torch_name = "torch.distributions.transforms.ComposeTransform"

    def __init__(self, parts: list[Any], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    @property
    def domain(self) -> Any:
        if not self.parts:
            return constraints.real
        events = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            given, made = part.domain.event_dim, part.codomain.event_dim
            events = max(events + given - made, given)
        return _widened(self.parts[0].domain, events)

    @property
    def codomain(self) -> Any:
        if not self.parts:
            return constraints.real
        events = self.parts[0].domain.event_dim
        for part in self.parts:
            given, made = part.domain.event_dim, part.codomain.event_dim
            events = max(events + made - given, made)
        return _widened(self.parts[-1].codomain, events)

    @property
    def bijective(self) -> Any:
        return all(part.bijective for part in self.parts)

    @property
    def sign(self) -> Any:
        return functools.reduce(operator.mul, (part.sign for part in self.parts), 1)

    @property
    def inv(self) -> Transform:
        if self._inv is None:
            self._inv = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv._inv = self
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return ComposeTransform(self.parts, cache_size)

    def __call__(self, x: Any) -> Any:
        return functools.reduce(lambda value, part: part(value), self.parts, x)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if not self.parts:
            return run("zeros_like", x)
        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        values.append(y)
        events, terms = self.domain.event_dim, []
        for place, part in enumerate(self.parts):
            term = part.log_abs_det_jacobian(values[place], values[place + 1])
            terms.append(sum_rightmost(term, events - part.domain.event_dim))
            events += part.codomain.event_dim - part.domain.event_dim
        return functools.reduce(operator.add, terms)

    def forward_shape(self, shape: Any) -> Any:
        return functools.reduce(lambda size, part: part.forward_shape(size), self.parts, shape)

    def inverse_shape(self, shape: Any) -> Any:
        parts = reversed(self.parts)
        return functools.reduce(lambda size, part: part.inverse_shape(size), parts, shape)

    def __repr__(self) -> str:
        return "ComposeTransform(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """Another transform whose last batch dimensions belong to the event."""

    PUBLIC = ("base_transform", "reinterpreted_batch_ndims")
    _torch_name = "torch.distributions.transforms.IndependentTransform"

    def __init__(
        self, base_transform: Any, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        count = self.reinterpreted_batch_ndims
        return IndependentTransform(self.base_transform, count, cache_size)

    @property
    def domain(self) -> Any:
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @property
    def codomain(self) -> Any:
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> Any:
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Any) -> Any:
        if x.dim() < self.domain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        if y.dim() < self.codomain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        found = self.base_transform.log_abs_det_jacobian(x, y)
        return sum_rightmost(found, self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Any) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    PUBLIC = ("in_shape", "out_shape")
    _torch_name = "torch.distributions.transforms.ReshapeTransform"
    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size)

    @property
    def domain(self) -> Any:
        return constraints.independent(constraints.real, len(self.in_shape))

    @property
    def codomain(self) -> Any:
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Any) -> Any:
        return x.reshape((*x.shape[: x.dim() - len(self.in_shape)], *self.out_shape))

    def _inverse(self, y: Any) -> Any:
        return y.reshape((*y.shape[: y.dim() - len(self.out_shape)], *self.in_shape))

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Any) -> Any:
        return _other_ending(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return _other_ending(shape, self.out_shape, self.in_shape)


def _other_ending(shape: Any, old: Any, new: Any) -> Any:
    if len(shape) < len(old):
        raise ValueError("Too few dimensions on input")
    cut = len(shape) - len(old)
    if tuple(shape[cut:]) != tuple(old):
        raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {old}")
    return Size((*shape[:cut], *new))


class _Side(Transform):
    """Transforms side by side along a dimension."""

    PUBLIC = ("transforms", "dim")
    dim: int

    def __init__(self, tseq: Sequence[Any], dim: int, cache_size: int) -> None:
        if not all(isinstance(part, Transform) for part in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    @property
    def bijective(self) -> Any:
        return all(part.bijective for part in self.transforms)

    def _parts(self, value: Any) -> Any:
        """What each transform gets."""
        raise NotImplementedError

    def _joined(self, values: list[Any]) -> Any:
        raise NotImplementedError

    def _call(self, x: Any) -> Any:
        pairs = zip(self.transforms, self._parts(x), strict=False)
        return self._joined([part(value) for part, value in pairs])

    def _inverse(self, y: Any) -> Any:
        pairs = zip(self.transforms, self._parts(y), strict=False)
        return self._joined([part.inv(value) for part, value in pairs])

    def _expect(self, value: Any, size: int, what: str) -> None:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(
                f"dim {self.dim} out of range for tensor with {value.dim()} dimensions"
            )
        if value.size(self.dim) != size:
            raise AssertionError(
                f"x.size({self.dim}) = {value.size(self.dim)} must equal {what} {size}"
            )


class CatTransform(_Side):
    PUBLIC = ("lengths", "length")
    _torch_name = "torch.distributions.transforms.CatTransform"

    def __init__(
        self, tseq: Sequence[Any], dim: int = 0, lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(
                f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})"
            )

    @property
    def event_dim(self) -> Any:
        return max(part.event_dim for part in self.transforms)

    @property
    def length(self) -> int:
        return sum(self.lengths)

    @property
    def domain(self) -> Any:
        return constraints.cat([part.domain for part in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self) -> Any:
        return constraints.cat([part.codomain for part in self.transforms], self.dim, self.lengths)

    def _parts(self, value: Any) -> Any:
        self._expect(value, self.length, "length")
        starts = [sum(self.lengths[:place]) for place in range(len(self.lengths))]
        pairs = zip(starts, self.lengths, strict=True)
        return [value.narrow(self.dim, start, length) for start, length in pairs]

    def _joined(self, values: list[Any]) -> Any:
        return run("cat", values, dim=self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        terms = []
        for part, inner, outer in zip(self.transforms, self._parts(x), self._parts(y), strict=True):
            term = part.log_abs_det_jacobian(inner, outer)
            terms.append(sum_rightmost(term, self.event_dim - part.event_dim))
        dim = self.dim + self.event_dim - (x.dim() if self.dim >= 0 else 0)
        return run("cat", terms, dim=dim) if dim < 0 else sum(terms)


class StackTransform(_Side):
    _torch_name = "torch.distributions.transforms.StackTransform"

    def __init__(self, tseq: Sequence[Any], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    @property
    def domain(self) -> Any:
        return constraints.stack([part.domain for part in self.transforms], self.dim)

    @property
    def codomain(self) -> Any:
        return constraints.stack([part.codomain for part in self.transforms], self.dim)

    def _parts(self, value: Any) -> Any:
        self._expect(value, len(self.transforms), "len(transforms)")
        return [value.select(self.dim, place) for place in range(value.size(self.dim))]

    def _joined(self, values: list[Any]) -> Any:
        return run("stack", values, dim=self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        rows = zip(self.transforms, self._parts(x), self._parts(y), strict=True)
        terms = [part.log_abs_det_jacobian(inner, outer) for part, inner, outer in rows]
        return run("stack", terms, dim=self.dim)
