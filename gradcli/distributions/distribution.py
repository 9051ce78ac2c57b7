"""Distributions: what all share: shapes, samples, checks of parameters and values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from inspect import getattr_static
from typing import Any

from ..engine.schema.mode import no_grad, state
from ..engine.schema.run_state import run_state
from ..engine.schema.settable import Takes
from ..engine.schema.size import Size
from ..engine.tensors.invented_names import KEPT, kept_on
from ..engine.tensors.tensor import Tensor
from .constraints import Constraint
from .operations import expanded


class _Validation:
    """Whether distributions check what they get, where they are not told."""

    __slots__ = ("default",)

    def __init__(self) -> None:
        self.default = True


validation = run_state(_Validation())


class Distribution:
    """What all distributions share: a shape of their own, samples, and checks of values.

    A class says what its parameters must be in `arg_constraints`, and which values it can have in
    `support`.
    """

    PUBLIC: tuple[str, ...] = (
        "batch_shape", "event_shape", "has_rsample", "has_enumerate_support", "arg_constraints",
        "support", "mean", "mode", "variance", "stddev", "sample", "rsample", "log_prob", "cdf",
        "icdf", "entropy", "sample_n", "perplexity", "enumerate_support", "expand", "_batch_shape",
        "_event_shape", "_validate_args", "_validate_sample", "_extended_shape",
        "set_default_validate_args",
    )  # fmt: skip
    TAKES: Mapping[str, Takes] = {"*": Takes.PLAIN}
    EXTENSIBLE = True
    FROM_CLASS: tuple[str, ...] = (
        "has_rsample", "has_enumerate_support", "arg_constraints", "support", "mean", "mode",
        "variance", "stddev", "batch_shape", "event_shape",
    )  # fmt: skip
    _torch_name = "torch.distributions.distribution.Distribution"
    has_rsample: Any = False
    has_enumerate_support = False

    def __init__(
        self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        self._validate_args = validation.default if validate_args is None else validate_args
        if self._validate_args:
            self._check_parameters()

    def _check_parameters(self) -> None:
        try:
            parameters = [*self._parameters(computed=True)]
        except NotImplementedError:
            state.warn(
                f"{_class_text(self)} does not define `arg_constraints`. Please set "
                "`arg_constraints = {}` or initialize the distribution with `validate_args=False` "
                "to turn off validation."
            )
            return
        for name, value in parameters:
            constraint = self.arg_constraints[name]
            if not bool(constraint.check(value).all()):
                raise ValueError(
                    f"Expected parameter {name} (Tensor of shape {tuple(value.shape)}) of "
                    f"distribution {self!r} to satisfy the constraint {constraint}, but found "
                    f"invalid values:\n{parameter_text(value)}"
                )

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        if value not in (True, False):
            raise ValueError
        validation.default = bool(value)

    @property
    def batch_shape(self) -> Any:
        return self._batch_shape

    @property
    def event_shape(self) -> Any:
        return self._event_shape

    @property
    def arg_constraints(self) -> Any:
        raise NotImplementedError

    @property
    def support(self) -> Any:
        raise NotImplementedError

    def _parameters(self, computed: bool = False) -> Iterator[tuple[str, Any]]:
        """The parameters that an object holds, and on demand those that it computes of others."""
        held = {**kept_on(self), **self.__dict__}
        for name in self.arg_constraints:
            value = held.get(name)
            entry = getattr_static(type(self), name, None)
            if value is None and computed and isinstance(entry, property) and entry.fget:
                value = entry.fget(self)
            if isinstance(value, Tensor):
                yield name, value

    def _validate_sample(self, value: Any) -> None:
        if not self._validate_args:
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
        try:
            support: Constraint = self.support
        except NotImplementedError:
            state.warn(
                f"{_class_text(self)} does not define `support` to enable sample validation. "
                "Please initialize the distribution with `validate_args=False` to turn off "
                "validation."
            )
            return
        if not bool(support.check(value).all()):
            raise ValueError(
                f"Expected value argument (Tensor of shape {tuple(value.shape)}) to be within the "
                f"support ({support}) of the distribution {self!r}, but found invalid "
                f"values:\n{parameter_text(value)}"
            )

    def _extended_shape(self, sample_shape: Any = ()) -> Any:
        return Size((*sample_shape, *self.batch_shape, *self.event_shape))

    def expand(self, batch_shape: Any) -> Any:
        """The same distribution for a larger batch: its parameters are views."""
        self._refuse_own_start()
        return self._expanded(batch_shape)

    def _refuse_own_start(self) -> None:
        kind = type(self)
        if not kind.__module__.startswith(HOME):
            above = next(base for base in kind.__mro__ if base.__module__.startswith(HOME))
            if above is Distribution:
                raise NotImplementedError
            raise NotImplementedError(
                f"Subclass {kind.__name__} of {above.__name__} that defines a custom __init__ "
                "method must also define a custom .expand() method."
            )

    def _expanded(self, batch_shape: Any, **parts: Any) -> Any:
        """A copy; tensors are expanded, their last dimensions apart, unless `parts` names them."""
        own, size = len(self.batch_shape), Size(batch_shape)
        new = object.__new__(type(self))
        for name, value in self.__dict__.items():
            if isinstance(value, Tensor) and name not in parts:
                value = expanded(value, (*size, *value.shape[own:]))
            elif isinstance(value, Distribution) and name not in parts:
                value = value.expand(size)
            new.__dict__[name] = value
        new.__dict__.update(parts)
        new.__dict__.pop(KEPT, None)
        new._batch_shape = size
        return new

    @property
    def mean(self) -> Any:
        raise NotImplementedError

    @property
    def variance(self) -> Any:
        raise NotImplementedError

    @property
    def stddev(self) -> Any:
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            return self.rsample(sample_shape)

    def sample_n(self, n: int) -> Any:
        state.warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning)
        return self.sample(Size((n,)))

    def rsample(self, sample_shape: Any = ()) -> Any:
        raise NotImplementedError

    @property
    def mode(self) -> Any:
        raise NotImplementedError(f"{type(self)} does not implement mode")

    def log_prob(self, value: Any) -> Any:
        raise NotImplementedError

    def cdf(self, value: Any) -> Any:
        raise NotImplementedError

    def icdf(self, value: Any) -> Any:
        raise NotImplementedError

    def entropy(self) -> Any:
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Any:
        raise NotImplementedError

    def perplexity(self) -> Any:
        return self.entropy().exp()

    def __repr__(self) -> str:
        parts = [
            f"{name}: {value if value.numel() == 1 else value.size()}"
            for name, value in self._parameters()
        ]
        return f"{type(self).__name__}({', '.join(parts)})"


HOME = __name__.rpartition(".")[0] + "."


def _class_text(value: Distribution) -> str:
    """A class as print shows it, under PyTorch's name."""
    kind = type(value)
    return f"<class '{kind._torch_name}'>" if "_torch_name" in kind.__dict__ else str(kind)


def parameter_text(value: Any) -> str:
    return format(value, "") if value.ndim == 0 else repr(value)
