"""Library: torch.distributions.constraints: what values of parameters and samples must be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..engine.schema.limits import finfo
from .operations import run


class Constraint:
    """What values must be, in PyTorch's words, and which of them are.

    `event_dim` counts the last dimensions that are judged together.
    """

    PUBLIC = (
        "check", "event_dim", "is_discrete", "lower_bound", "upper_bound", "base_constraint",
        "reinterpreted_batch_ndims",
    )  # fmt: skip
    _torch_name = "torch.distributions.constraints.Constraint"
    lower_bound: Any
    upper_bound: Any
    base_constraint: Constraint
    reinterpreted_batch_ndims: int

    def __init__(
        self, text: str, check: Callable[[Any], Any], event_dim: int = 0, is_discrete: bool = False
    ) -> None:
        self._text, self._holds = text, check
        self.kind = text.partition("(")[0]
        self.event_dim, self.is_discrete = event_dim, is_discrete

    def check(self, value: Any) -> Any:
        """One truth value for each event."""
        return self._holds(value)

    def __repr__(self) -> str:
        return self._text


def _bounded(
    kind: str, holds: Callable[[Any], Any], is_discrete: bool = False, **bounds: Any
) -> Constraint:
    text = ", ".join(f"{name}={value}" for name, value in bounds.items())
    made = Constraint(f"{kind}({text})", holds, 0, is_discrete)
    made.__dict__.update(bounds)
    return made


def _whole(value: Any) -> Any:
    return value % 1 == 0


def greater_than(lower_bound: Any) -> Constraint:
    return _bounded("GreaterThan", lambda x: lower_bound < x, lower_bound=lower_bound)


def greater_than_eq(lower_bound: Any) -> Constraint:
    return _bounded("GreaterThanEq", lambda x: lower_bound <= x, lower_bound=lower_bound)


def less_than(upper_bound: Any) -> Constraint:
    return _bounded("LessThan", lambda x: x < upper_bound, upper_bound=upper_bound)


def interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    return _bounded(
        "Interval", lambda x: (lower_bound <= x) & (x <= upper_bound),
        lower_bound=lower_bound, upper_bound=upper_bound,
    )  # fmt: skip


def half_open_interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    return _bounded(
        "HalfOpenInterval", lambda x: (lower_bound <= x) & (x < upper_bound),
        lower_bound=lower_bound, upper_bound=upper_bound,
    )  # fmt: skip


def integer_interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    return _bounded(
        "IntegerInterval", lambda x: _whole(x) & (lower_bound <= x) & (x <= upper_bound), True,
        lower_bound=lower_bound, upper_bound=upper_bound,
    )  # fmt: skip


def _integer_from(lower_bound: int) -> Constraint:
    return _bounded(
        "IntegerGreaterThan", lambda x: _whole(x) & (x >= lower_bound), True,
        lower_bound=lower_bound,
    )  # fmt: skip


def multinomial(upper_bound: Any) -> Constraint:
    return Constraint(
        "Multinomial()", lambda x: (x >= 0).all(-1) & (x.sum(-1) <= upper_bound), 1, True
    )


def independent(base_constraint: Constraint, reinterpreted_batch_ndims: int) -> Constraint:
    """The same, judged for the last dimensions together."""
    count, event_dim = (
        reinterpreted_batch_ndims, base_constraint.event_dim + reinterpreted_batch_ndims,
    )  # fmt: skip

    def check(value: Any) -> Any:
        each = base_constraint.check(value)
        if each.dim() < count:
            raise ValueError(f"Expected value.dim() >= {event_dim} but got {value.dim()}")
        return each.reshape((*each.shape[: each.dim() - count], -1)).all(-1)

    text = f"IndependentConstraint({base_constraint!r}, {count})"
    made = Constraint(text, check, event_dim, base_constraint.is_discrete)
    made.__dict__.update(base_constraint=base_constraint, reinterpreted_batch_ndims=count)
    return made


def cat(
    cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None
) -> Constraint:
    sizes = [1] * len(cseq) if lengths is None else list(lengths)

    def check(value: Any) -> Any:
        parts = value.split(sizes, dim)
        return run("cat", [c.check(v) for c, v in zip(cseq, parts, strict=True)], dim)

    events = max(constraint.event_dim for constraint in cseq)
    return Constraint("Cat()", check, events, any(c.is_discrete for c in cseq))


def stack(cseq: Sequence[Constraint], dim: int = 0) -> Constraint:
    def check(value: Any) -> Any:
        parts = value.unbind(dim)
        return run("stack", [c.check(v) for c, v in zip(cseq, parts, strict=True)], dim)

    events = max(constraint.event_dim for constraint in cseq)
    events += dim + events < 0
    return Constraint("Stack()", check, events, any(c.is_discrete for c in cseq))


def _square(value: Any) -> Any:
    same = value.shape[-1] == value.shape[-2]
    return run("full", value.shape[:-2], same, device=value.device)


def _symmetric(value: Any) -> Any:
    found = _square(value)
    return value.isclose(value.mT, atol=1e-6).all(-2).all(-1) if bool(found.all()) else found


def _positive_semidefinite(value: Any) -> Any:
    found = _symmetric(value)
    return run("linalg.eigvalsh", value).ge(0).all(-1) if bool(found.all()) else found


def _positive_definite(value: Any) -> Any:
    found = _symmetric(value)
    return run("linalg.cholesky_ex", value.detach()).info.eq(0) if bool(found.all()) else found


def _lower_triangular(value: Any) -> Any:
    return (value.tril() == value).flatten(-2).all(-1)


def _lower_cholesky(value: Any) -> Any:
    return _lower_triangular(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


def _corr_cholesky(value: Any) -> Any:
    tolerance = finfo(value.dtype).eps * value.size(-1) * 10
    norms = run("linalg.norm", value.detach(), dim=-1)
    return _lower_cholesky(value) & (norms - 1.0).abs().le(tolerance).all(-1)


def _one_hot(value: Any) -> Any:
    return ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1)


boolean = Constraint("Boolean()", lambda x: (x == 0) | (x == 1), 0, True)
one_hot = Constraint("OneHot()", _one_hot, 1, True)
nonnegative_integer, positive_integer = _integer_from(0), _integer_from(1)
real = Constraint("Real()", lambda x: x == x)
real_vector = independent(real, 1)
positive, nonnegative = greater_than(0.0), greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
simplex = Constraint(
    "Simplex()", lambda x: (x >= 0).all(-1) & ((x.sum(-1) - 1).abs() < 1e-6), 1
)  # fmt: skip
lower_triangular = Constraint("LowerTriangular()", _lower_triangular, 2)
lower_cholesky = Constraint("LowerCholesky()", _lower_cholesky, 2)
corr_cholesky = Constraint("CorrCholesky()", _corr_cholesky, 2)
square = Constraint("Square()", _square, 2)
symmetric = Constraint("Symmetric()", _symmetric, 2)
positive_semidefinite = Constraint("PositiveSemidefinite()", _positive_semidefinite, 2)
positive_definite = Constraint("PositiveDefinite()", _positive_definite, 2)


def dependent_property(
    fn: Any = None, *, is_discrete: bool | None = None, event_dim: int | None = None
) -> Any:
    """A property that says what values must be, from other values of its object."""
    return dependent_property if fn is None else property(fn)


_FUNCTIONS = (
    Constraint, dependent_property, greater_than, greater_than_eq, less_than, interval,
    half_open_interval, integer_interval, multinomial, independent, cat, stack,
)  # fmt: skip
__all__ = [
    *(known.__name__ for known in _FUNCTIONS),
    *(name for name, value in [*globals().items()] if isinstance(value, Constraint)),
]
