"""testing: gradients in tests: `assert_gradients` compares them with difference quotients.

    from gradcli.testing import assert_gradients

    def test_softplus():
        x = torch.tensor([0.5, -1.0], requires_grad=True)
        assert_gradients(softplus, x)

The function and its tensors are PyTorch's or gradcli's. A failure names the input, the
element, both numbers, and the operation whose own derivative is wrong.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .questions.check.numeric.points import Tolerance
    from .recording.facts.check import EdgeCheck, LeafCheck

__all__ = ["GradientWarning", "assert_gradients"]


def __getattr__(name: str) -> Any:
    """PyTorch's own names of torch.testing."""
    if name not in ("assert_allclose", "assert_close"):
        raise AttributeError(f"module 'gradcli.testing' has no attribute {name!r}")
    from .utils import closeness

    return vars(closeness)[name]


HIDDEN = "the gradients agree, but only because wrong derivatives make up for each other:"


class GradientWarning(UserWarning):
    """Worth knowing of a gradient that is not wrong: a kink, a precision that spoils it."""


def assert_gradients(
    function: Callable[..., Any], *inputs: Any, rtol: float = 1e-5, atol: float = 1e-7,
    fail_on_kink: bool = False,
) -> None:  # fmt: skip
    """Raises AssertionError unless every gradient agrees with difference quotients.

    `function(*inputs)` returns a tensor, or a tuple, list or dict of them. It is checked in double
    precision, with respect to each input that requires grad. Where there is no derivative, such as
    relu's at 0, a GradientWarning says so; with `fail_on_kink` that fails too.
    """
    from .questions.check.numeric.points import Tolerance

    own = any(_is_ours(value) for value in inputs)
    asked = GradientCheck(function, inputs, _names(function, len(inputs)), Tolerance(rtol, atol))
    if not any(getattr(value, "requires_grad", False) for value in inputs):
        raise AssertionError(f"{asked.name}: no input requires grad: there is no gradient to check")
    shared = _overlapping(asked)
    if shared:
        raise AssertionError(f"{asked.name}: dependent inputs: {shared}")
    leaves, edges = _of_gradcli(asked) if own else _of_torch(asked)
    wrong = [leaf for leaf in leaves if leaf.status == "different"]
    failed = wrong + [leaf for leaf in leaves if leaf.status == "kink" and fail_on_kink]
    for leaf in leaves:
        if leaf.cause and leaf not in failed:
            message = f"{asked.name}, gradient of {leaf.leaf}: {leaf.cause}"
            warnings.warn(message, GradientWarning, stacklevel=2)
    if failed:
        raise AssertionError("\n\n".join(_page(leaf) for leaf in failed))
    hidden = [edge for edge in edges if not edge.cause.startswith("kink")]
    if hidden and not wrong:
        raise AssertionError("\n".join([f"{asked.name}: {HIDDEN}", *map(_edge, hidden)]))


class GradientCheck(NamedTuple):
    """What is checked."""

    function: Callable[..., Any]
    inputs: Sequence[Any]
    names: Sequence[str]
    tolerance: Tolerance

    @property
    def name(self) -> str:
        """What the function is called."""
        return getattr(self.function, "__name__", type(self.function).__name__)


def _is_ours(value: Any) -> bool:
    engine = sys.modules.get("gradcli.engine.tensors.tensor")
    return engine is not None and isinstance(value, engine.Tensor)


def _names(function: Callable[..., Any], count: int) -> list[str]:
    """What the function calls its inputs."""
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        names = []
    return [*names[:count], *(f"input {number + 1}" for number in range(len(names), count))]


def _page(leaf: LeafCheck) -> str:
    """One gradient: which element, both numbers, whose fault, and where that stands."""
    from .questions.check.problems import gradient_problem

    problem = gradient_problem(leaf, f"d{leaf.result}/d{leaf.leaf}")
    lines = [f"gradient: {problem.message}", *(f"  {advice}" for advice in problem.advice)]
    return "\n".join([*lines, *map(_edge, leaf.edges)])


def _edge(edge: EdgeCheck) -> str:
    """An operation that is wrong, and where it was called."""
    from .questions.check.problems import handed

    place = "" if edge.line is None else f"{edge.text}:{edge.line}: "
    return f"  {place}{handed(edge)}"


# ---------------------------------------------------------------- dependent inputs


def _overlapping(asked: GradientCheck) -> str:
    """Inputs that can't be perturbed one by one, since they share memory; nothing if there are
    none. The same tensor twice is one input."""
    found = {id(v): (n, v) for n, v in zip(asked.names, asked.inputs, strict=True)
             if getattr(v, "requires_grad", False)}  # fmt: skip
    spans: list[tuple[int, int, str]] = []
    for name, value in found.values():
        if any(step == 0 and size > 1 for size, step in zip(value.shape, value.stride())):
            return f"elements of {name} share memory (expand); give it a copy"
        first = value.data_ptr()
        last = sum((size - 1) * step for size, step in zip(value.shape, value.stride()))
        spans.append((first, first + (last + 1) * value.element_size(), name))
    spans.sort()
    for (_, end, one), (begin, _, other) in pairwise(spans):
        if begin < end:
            return f"{one} and {other} share memory; give one of them a copy"
    return ""


# ---------------------------------------------------------------- functions of gradcli


class _Place(NamedTuple):
    """Where an operation was called."""

    text: str
    line: int
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None


def _of_gradcli(asked: GradientCheck) -> tuple[list[LeafCheck], Sequence[EdgeCheck]]:
    from .questions.check.numeric import checked, points
    from .questions.check.numeric.repeat import undisturbed
    from .questions.check.numeric.tape import Tape, Unrepeatable, recording
    from .questions.check.torch_function import NOT_STEADY

    places: dict[int, _Place] = {}

    class PlacedTape(Tape):
        """Notes who called an operation too."""

        def operation(self, node: Any, outs: Any, arguments: Any, before: Any) -> None:
            frame = _outside(sys._getframe(1))
            places[id(node)] = _Place(frame.f_code.co_filename, frame.f_lineno)
            super().operation(node, outs, arguments, before)

    tape = PlacedTape()
    with undisturbed(grad=True):
        before = _tensors(asked.function(*asked.inputs))
    with recording(tape):
        results = _tensors(asked.function(*asked.inputs))
    for number, (one, other) in enumerate(zip(before, results, strict=True)):
        if not _same(one.detach(), other.detach()):
            raise AssertionError(NOT_STEADY.format(asked.name, number))
    named = {id(value): name for name, value in zip(asked.names, asked.inputs, strict=True)}
    several = len(results) > 1
    leaves: list[LeafCheck] = []
    for number, result in enumerate(results):
        if not result.requires_grad:
            continue
        wanted = points.Result(
            result, f"{asked.name}[{number}]" if several else asked.name, None,
            lambda leaf: (named.get(id(leaf), f"a tensor of shape {list(leaf.shape)}"), None),
            lambda node: places.get(id(node)), asked.tolerance, lambda: None,
        )  # fmt: skip
        try:
            leaves += checked(tape, wanted)
        except Unrepeatable as error:
            raise AssertionError(f"{wanted.name} can't be checked: {error}") from error
    if not leaves:
        raise AssertionError(f"{asked.name}: no result requires grad")
    return leaves, ()


def _same(one: Any, other: Any) -> bool:
    return bool(((one == other) | ((one != one) & (other != other))).all())


def _outside(frame: Any) -> Any:
    """The nearest frame that is not gradcli's."""
    while frame.f_back is not None:
        if not frame.f_globals.get("__name__", "").startswith("gradcli."):
            return frame
        frame = frame.f_back
    return frame


def _tensors(result: Any) -> list[Any]:
    if isinstance(result, dict):
        return _tensors(list(result.values()))
    if isinstance(result, (tuple, list)):
        return [tensor for item in result for tensor in _tensors(item)]
    return [result] if hasattr(result, "grad_fn") else []


# ---------------------------------------------------------------- functions of PyTorch


def _of_torch(asked: GradientCheck) -> tuple[list[LeafCheck], Sequence[EdgeCheck]]:
    from .live.library import require_torch
    from .questions.check.torch_function import Function, gradients

    torch = require_torch("assert_gradients")
    function = Function(asked.function, asked.name, asked.inputs, asked.names)
    return gradients(torch, function, asked.tolerance)
