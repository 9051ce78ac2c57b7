"""Recording: the optimisers of a run, their tensors, how often each stepped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any
from weakref import ref

from ..engine.schema.origin import current_line, current_origin, line_of
from .measures import is_blank
from .sides import gradient_of, is_parameter
from .spectator import Spectator

MOST = 10_000  # optimisers, and tensors of one


class Optimizer:
    """One of them; it holds its tensors itself."""

    __slots__ = (
        "object", "origin", "held", "steps", "idle", "resting", "cleared_at", "of_modules",
        "frozen",
    )  # fmt: skip

    def __init__(self, optimizer: Any, origin: Any) -> None:
        self.object, self.origin = optimizer, origin
        self.held: dict[int, Any] = {}
        self.steps = self.idle = 0  # and those that found no gradient
        self.resting = 0  # the last steps, in a row, at the learning rate 0
        self.cleared_at: int | None = None  # the line that last set one of its gradients to None
        self.of_modules = False
        self.frozen = set[int]()  # tensors that require no grad and had a gradient at a step

    @property
    def line(self) -> int | None:
        """The line that made it."""
        return line_of(self.origin)

    def has(self, tensor: Any) -> bool:
        """Whether the tensor is one of its own."""
        known = self.held.get(id(tensor))
        return known is not None and known() is tensor

    @property
    def tensors(self) -> Iterator[Any]:
        """Those of its own that still exist."""
        held = (known() for known in list(self.held.values()))
        return (tensor for tensor in held if tensor is not None)


class Optimizers(Spectator):
    """All of them, in the order of their making."""

    def __init__(self) -> None:
        self.known: dict[int, Optimizer] = {}  # by identity
        self.makers: dict[int, Any] = {}  # the calls that make those of an interpreted program
        # Parameters that were made when there were so many optimizers, and where.
        self.late: dict[int, tuple[Any, int, Any]] = {}

    def optimizing(self, optimizer: Any, parameters: Sequence[Any]) -> None:
        """An optimiser was given parameters."""
        one = self.known.get(id(optimizer))
        if one is None:
            if len(self.known) >= MOST:
                return
            origin = self.makers.pop(id(optimizer), None) or current_origin()
            one = self.known[id(optimizer)] = Optimizer(optimizer, origin)
        for parameter in islice(parameters, MOST - len(one.held)):
            one.held[id(parameter)] = ref(parameter)
            one.of_modules = one.of_modules or is_parameter(parameter)

    def parameter(self, tensor: Any) -> None:
        """A parameter of a module was made."""
        if self.known and len(self.late) < MOST:
            self.late[id(tensor)] = ref(tensor), len(self.known), current_origin()

    def before(self, tensor: Any) -> tuple[list[Optimizer], Any]:
        """Those that there were when a parameter was made, and where: they can't have it."""
        known, count, place = self.late.get(id(tensor), (None, 0, None))
        return (self.all[:count], place) if known is not None and known() is tensor else ([], None)

    def stepping(self, optimizer: Any) -> None:
        """An optimiser is about to change them."""
        one = self.known.get(id(optimizer))
        if one is not None:
            one.steps += 1
            pairs = [(tensor, tensor.grad) for tensor in one.tensors]
            one.idle += all(grad is None or is_blank(grad) for _, grad in pairs)
            one.frozen.update(id(tensor) for tensor, grad in pairs
                              if grad is not None and not tensor.requires_grad)  # fmt: skip
            one.resting = one.resting + 1 if _rests(one) else 0

    def bound_inside(self, scope: Any, name: str, value: Any) -> None:
        """A class of an interpreted program does not say where it is made: its __init__ is called
        with its self."""
        called = getattr(getattr(scope, "node", None), "name", "")
        if (
            called == "__init__"
            and hasattr(type(value), "add_param_group")
            and len(self.makers) < MOST
        ):
            self.makers.setdefault(id(value), current_origin())

    def assigned(self, tensor: Any, value: Any) -> None:
        """`tensor.grad` is about to be replaced."""
        if value is None and gradient_of(tensor) is not None:
            for one in self.known.values():
                if one.has(tensor):
                    one.cleared_at = current_line()

    @property
    def all(self) -> list[Optimizer]:
        """In their order."""
        return list(self.known.values())

    def of(self, tensor: Any) -> Optimizer | None:
        """The first one that has the tensor."""
        return next((one for one in self.known.values() if one.has(tensor)), None)


def groups_of(optimizer: Optimizer, tensor: Any) -> list[dict[str, Any]]:
    """Its settings for a tensor, as they are now; all groups where none of them has it."""
    given = getattr(optimizer.object, "param_groups", ())
    groups = [group for group in given if type(group) is dict]
    own = [group for group in groups if any(one is tensor for one in group.get("params", ()))]
    return own or groups


def _rests(optimizer: Optimizer) -> bool:
    """Whether all its learning rates are 0."""
    groups = getattr(optimizer.object, "param_groups", ())
    rates = [group.get("lr") if type(group) is dict else None for group in groups]
    return bool(rates) and all(type(rate) in (int, float) and rate == 0 for rate in rates)


def rate_of(optimizer: Optimizer, tensor: Any) -> float | None:
    """Its largest learning rate for a tensor, as it is now; None where it is no number."""
    rates = [group.get("lr") for group in groups_of(optimizer, tensor)]
    numbers = [float(rate) for rate in rates if type(rate) is int or type(rate) is float]
    return max(numbers) if numbers and len(numbers) == len(rates) else None
