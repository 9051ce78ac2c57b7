"""Distributions: what all share: constraints on values, shapes, samples, checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..engine.construct import tensor
from ..engine.dtypes import default_dtype
from ..engine.mode import no_grad
from ..engine.size import Size
from ..engine.tensor import Tensor
from ..operators import catalogue


class Constraint(NamedTuple):
    """What values must be, in PyTorch's words, and which of them are."""

    text: str
    holds: Callable[[Any], Any]


def _bound(value: Any) -> Any:
    return value.item() if value.numel() == 1 else value


def interval(low: Any, high: Any, kind: str = "Interval") -> Constraint:
    text = f"{kind}(lower_bound={low}, upper_bound={high})"
    if kind == "IntegerInterval":
        return Constraint(text, lambda x: (x % 1 == 0) & (low <= x) & (x <= high))
    return Constraint(text, lambda x: (low <= x) & (x <= high))


REAL = Constraint("Real()", lambda x: x == x)
REALS = Constraint("IndependentConstraint(Real(), 1)", lambda x: (x == x).all(-1))
POSITIVE = Constraint("GreaterThan(lower_bound=0.0)", lambda x: x > 0)
UNIT = interval(0.0, 1.0)
BOOLEAN = Constraint("Boolean()", lambda x: (x == 0) | (x == 1))
NOT_NEGATIVE = Constraint("GreaterThanEq(lower_bound=0.0)", lambda x: x >= 0)
COUNT = Constraint("IntegerGreaterThan(lower_bound=0)", lambda x: (x % 1 == 0) & (x >= 0))
EACH_POSITIVE = Constraint(
    "IndependentConstraint(GreaterThan(lower_bound=0.0), 1)", lambda x: (x > 0).all(-1)
)
SIMPLEX = Constraint("Simplex()", lambda x: (x >= 0).all(-1) & ((x.sum(-1) - 1).abs() < 1e-6))


def run(name: str, *arguments: Any, **options: Any) -> Any:
    return catalogue.functions[name](*arguments, **options)


def together(*values: Any) -> Any:
    """Tensors of one size; numbers become tensors of the first tensor's type."""
    first = next((value for value in values if isinstance(value, Tensor)), None)
    dtype, device = (default_dtype(), None) if first is None else (first.dtype, first.device)
    made = [v if isinstance(v, Tensor) else tensor(v, dtype=dtype, device=device) for v in values]
    return run("broadcast_tensors", *made)


class Distribution:
    """What all distributions share: a shape of their own, samples, and checks of values."""

    PUBLIC: tuple[str, ...] = (
        "batch_shape", "event_shape", "has_rsample", "mean", "mode", "variance", "stddev",
        "sample", "rsample", "log_prob", "entropy",
    )  # fmt: skip
    has_rsample = False
    event_shape: Size
    batch_shape: Size
    mean: Any
    variance: Any

    def _settle(self, shape: Any, validate_args: bool | None, event: Any = ()) -> None:
        self.batch_shape, self.event_shape = Size(shape), Size(event)
        self._checks = validate_args is None or bool(validate_args)
        for name, value, constraint in self._constrained() if self._checks else ():
            if not bool(constraint.holds(value).all()):
                raise ValueError(
                    f"Expected parameter {name} (Tensor of shape {tuple(value.shape)}) of "
                    f"distribution {self!r} to satisfy the constraint {constraint.text}, but found "
                    f"invalid values:\n{parameter_text(value)}"
                )

    def _constrained(self) -> Iterator[tuple[str, Any, Constraint]]:
        """The parameters that the program gave, with what they must be."""
        raise NotImplementedError

    def _support(self) -> Constraint:
        return REAL

    def _check(self, value: Any) -> None:
        if not self._checks:
            return
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        ending = Size(value.shape[max(value.ndim - len(self.event_shape), 0) :])
        if ending != self.event_shape:
            raise ValueError(
                "The right-most size of value must match event_shape: "
                f"{value.shape} vs {self.event_shape}."
            )
        expected = Size((*self.batch_shape, *self.event_shape))
        sizes = zip(reversed(value.shape), reversed(expected), strict=False)
        if any(have not in (1, own) and own != 1 for have, own in sizes):
            raise ValueError(
                "Value is not broadcastable with batch_shape+event_shape: "
                f"{value.shape} vs {expected}."
            )
        support = self._support()
        if not bool(support.holds(value).all()):
            raise ValueError(
                f"Expected value argument (Tensor of shape {tuple(value.shape)}) to be within the "
                f"support ({support.text}) of the distribution {self!r}, but found invalid "
                f"values:\n{parameter_text(value)}"
            )

    def _shape(self, sample_shape: Any) -> Size:
        return Size((*sample_shape, *self.batch_shape, *self.event_shape))

    @property
    def stddev(self) -> Any:
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        raise NotImplementedError

    @property
    def mode(self) -> Any:
        raise NotImplementedError(f"{type(self)} does not implement mode")

    def log_prob(self, value: Any) -> Any:
        raise NotImplementedError

    def entropy(self) -> Any:
        raise NotImplementedError

    def _listed(self) -> Iterator[tuple[str, Any]]:
        """The parameters that are in the text of the distribution."""
        for name, value, _ in self._constrained():
            yield name, value

    def __repr__(self) -> str:
        parts = [
            f"{name}: {value.item() if value.numel() == 1 else value.size()}"
            for name, value in self._listed()
        ]
        return f"{type(self).__name__}({', '.join(parts)})"


def parameter_text(value: Any) -> str:
    return format(value, "") if value.ndim == 0 else repr(value)
