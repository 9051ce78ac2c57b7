"""Questions: a function of PyTorch against difference quotients: whole, then call by call.

PyTorch runs the function in double precision; its results are passed on as arrays, and the
quotients are those of the other checks. A function mode notes the calls on the way, so that the one
whose derivative is wrong can be named.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from ...engine.tensors.construct import from_numpy
from ...engine.tensors.tensor import Tensor
from ...recording.facts.check import EdgeCheck
from .numeric.operation import Directions, Finding, Operation, cause
from .numeric.points import Tolerance, all_elements, kink, one_element, slope_along

MOST_ELEMENTS = 64  # of one operand, each perturbed by itself
MOST_CALLS = 2000
CLEAR = 1e-3  # so far apart are the slopes on the two sides of a kink; less may be rounding


class Call(NamedTuple):
    """A call as it was: `tensors` are its tensors, copied; `again` makes it with others."""

    name: str
    library: str | None  # whose derivative it is; None for a function of the program's own
    again: Callable[[Sequence[Any]], Any]
    tensors: tuple[Any, ...]
    needs: tuple[bool, ...]  # which of the tensors gradients are asked of
    random: Any
    file: str
    line: int

    def run(self, torch: Any, double: bool, tensors: Sequence[Any] | None = None) -> list[Any]:
        """The results, with these tensors or copies of its own; random numbers are as they were."""
        if tensors is None:
            tensors = [
                (widened(torch, tensor) if double else tensor.detach().clone()).requires_grad_(need)
                for tensor, need in zip(self.tensors, self.needs, strict=True)
            ]
        before = torch.get_rng_state()
        torch.set_rng_state(self.random)
        try:
            return list(_flat(torch, self.again(tensors)))
        finally:
            torch.set_rng_state(before)


class Calls:
    """Observes the calls that a function makes while it runs."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.made: list[Call] = []

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Within it they are noted: through a mode, and functions of autograd, which go past it,
        through their forward: who calls them may have kept their `apply` long before."""
        note = self._noted

        class Mode(self.torch.overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
            """Hands every call on."""

            def __torch_function__(
                self, function: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                return note(function, args, kwargs or {})

        kinds = [kind for kind in _below(self.torch.autograd.Function) if "forward" in vars(kind)]
        kept = [(kind, vars(kind)["forward"]) for kind in kinds]
        for kind in kinds:
            kind.forward = staticmethod(self._forward(kind, kind.forward))
        try:
            with Mode():
                yield
        finally:
            for kind, forward in kept:
                kind.forward = forward

    def _forward(self, kind: Any, forward: Any) -> Any:
        has_context = kind.setup_context is self.torch.autograd.Function.setup_context

        def noting(*args: Any, **kwargs: Any) -> Any:
            tensors: list[Any] = []
            given = _parted(self.torch, (args[has_context:], kwargs), tensors)
            needs = tuple(tensor.requires_grad for tensor in tensors)
            if any(needs) and len(self.made) < MOST_CALLS:
                copies = [tensor.detach().clone() for tensor in tensors]
                random = self.torch.get_rng_state()
                node = f"{kind.__name__}Backward"
                self._keep(node, None, kind.apply, given, copies, needs, random)
            return forward(*args, **kwargs)

        return noting

    def _noted(self, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        name = getattr(function, "__name__", "")
        if name.startswith("__get") or len(self.made) >= MOST_CALLS:
            return function(*args, **kwargs)
        tensors: list[Any] = []
        given = _parted(self.torch, (args, kwargs), tensors)
        needs = tuple(tensor.requires_grad for tensor in tensors)
        copies = [tensor.detach().clone() for tensor in tensors] if any(needs) else []
        random = self.torch.get_rng_state()
        result = function(*args, **kwargs)
        nodes = [out.grad_fn for out in _flat(self.torch, result) if out.grad_fn is not None]
        if nodes and copies:
            self._keep(nodes[0].name(), name, function, given, copies, needs, random)
        return result

    def _keep(
        self, node: str, library: str | None, function: Any, given: Any, tensors: Sequence[Any],
        needs: tuple[bool, ...], random: Any,
    ) -> None:  # fmt: skip
        def again(tensors: Sequence[Any]) -> Any:
            args, kwargs = _joined(self.torch, given, tensors)
            return function(*args, **kwargs)

        frame = _caller(sys._getframe(2))
        self.made.append(Call(node, library, again, tuple(tensors), needs, random,
                              frame.f_code.co_filename, frame.f_lineno))  # fmt: skip


def _below(kind: Any) -> Iterator[Any]:
    """The classes that are derived of one."""
    for one in kind.__subclasses__():
        yield one
        yield from _below(one)


def _caller(frame: Any) -> Any:
    """The nearest frame that is neither PyTorch's nor ours."""
    while frame.f_back is not None:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] != "torch" and module != __name__:
            return frame
        frame = frame.f_back
    return frame


class _Place(NamedTuple):
    """The place of a tensor among the arguments."""

    number: int


def _parted(torch: Any, value: Any, tensors: list[Any]) -> Any:
    """The arguments with numbers in the place of tensors, which are collected."""
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return _Place(len(tensors) - 1)
    if type(value) in (list, tuple):
        return type(value)([_parted(torch, item, tensors) for item in value])
    if type(value) is dict:
        return {key: _parted(torch, item, tensors) for key, item in value.items()}
    return value


def _joined(torch: Any, value: Any, tensors: Sequence[Any]) -> Any:
    """The arguments again, in double precision."""
    if isinstance(value, _Place):
        return tensors[value.number]
    if type(value) in (list, tuple):
        return type(value)([_joined(torch, item, tensors) for item in value])
    if type(value) is dict:
        return {key: _joined(torch, item, tensors) for key, item in value.items()}
    return torch.float64 if value in _narrow(torch) else value


def _narrow(torch: Any) -> tuple[Any, ...]:
    return (torch.float16, torch.bfloat16, torch.float32)


def _flat(torch: Any, result: Any) -> Iterator[Any]:
    """The tensors of a result that can have gradients."""
    if isinstance(result, torch.Tensor):
        if result.is_floating_point() or result.is_complex():
            yield result
    elif isinstance(result, (tuple, list)):
        for item in result:
            yield from _flat(torch, item)
    elif isinstance(result, dict):
        yield from _flat(torch, list(result.values()))


def widened(torch: Any, tensor: Any) -> Any:
    """A copy in double precision, outside any graph."""
    copy = tensor.detach().clone()
    if copy.is_complex():
        return copy.to(torch.complex128)
    return copy.double() if copy.is_floating_point() else copy


class TorchCall(Operation):
    """A call as a function of one of its tensors, in double precision or in its own."""

    most = MOST_ELEMENTS

    def __init__(self, torch: Any, call: Call, place: int, double: bool = True) -> None:
        self.torch, self.call, self.place, self.double = torch, call, place, double
        self.others = [
            widened(torch, tensor) if double else tensor.detach().clone() for tensor in call.tensors
        ]
        self.leaf = self.others[place].clone().requires_grad_()
        self.results = self._run(self.leaf)
        self.values = [_array(out) for out in self.results]
        self.start = _array(self.leaf)

    def outputs(self, operand: Tensor) -> list[Tensor]:
        moved = self.torch.as_tensor(operand._data).to(self.leaf.dtype)
        with self.torch.no_grad():
            return [_array(out) for out in self._run(moved)]

    def _run(self, operand: Any) -> list[Any]:
        given = [tensor.clone() for tensor in self.others]
        given[self.place] = operand.clone()  # what changes it in place changes no leaf
        return self.call.run(self.torch, self.double, given)

    def gradient(self, weights: list[Any]) -> Any:
        seeds = [self.torch.as_tensor(weight).to(out) for weight, out in
                 zip(weights, self.results, strict=True) if out.requires_grad]  # fmt: skip
        outs = [out for out in self.results if out.requires_grad]
        if not outs:
            return _array(self.torch.zeros_like(self.leaf))._data.reshape(-1)
        (found,) = self.torch.autograd.grad(
            outs, [self.leaf], seeds, retain_graph=True, allow_unused=True
        )
        found = self.torch.zeros_like(self.leaf) if found is None else found
        return _array(found)._data.reshape(-1)

    def finding(self, tolerance: Tolerance) -> Finding | None:
        """Where its gradient differs most from the quotients."""
        along = self.gradient(self.weights())
        sane = all(bool(one.isfinite().all()) for one in self.others)
        return self.worst(self._directions(along), tolerance, sane)

    def cause(self, finding: Finding, tolerance: Tolerance) -> str:
        """Why the two differ, where no call on the way is wrong by itself."""
        left, right = finding.found.left, finding.found.right
        apart = max(tolerance.around(finding.slope), CLEAR * (abs(left) + abs(right)))
        if finding.found.is_kink(apart):
            return kink(finding.found)
        return "not found: each call agrees by itself"

    def _directions(self, along: Any) -> Directions:
        start, total = self.start, int(self.start._data.size)
        units: tuple[complex, ...] = (1.0, 1j) if self.leaf.is_complex() else (1.0,)
        for element in range(min(total, MOST_ELEMENTS)):
            for unit in units:
                direction = one_element(start, element, unit)
                yield element, direction, slope_along(start, along, direction)
        if total > MOST_ELEMENTS:
            direction = all_elements(start, 0)
            yield None, direction, slope_along(start, along, direction)


def _array(tensor: Any) -> Tensor:
    return from_numpy(tensor.detach().resolve_conj().numpy().copy())


def wrong_calls(
    torch: Any, calls: Sequence[Call], tolerance: Tolerance, double: bool
) -> Iterator[EdgeCheck]:
    """The calls whose own derivative is wrong, in the order in which they ran."""
    for call in calls:
        for place in (place for place, needed in enumerate(call.needs) if needed):
            try:
                part = TorchCall(torch, call, place, double)
                finding = part.finding(tolerance)
                steady = finding is None or call.library is not None or part.is_steady()
            except (RuntimeError, TypeError, ValueError):
                continue  # it does not run by itself, or not in double precision
            if finding is not None and finding.gap > 1.0 and not finding.is_doubtful:
                slope, found = finding.slope, finding.found
                why = cause(call.name, call.library, slope, found, tolerance, steady)
                yield EdgeCheck(
                    call.name, f"argument {place + 1}", finding.element, slope, found.value, why,
                    call.file, call.line, None, None, None,
                )  # fmt: skip
