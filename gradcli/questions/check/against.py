"""Questions: `gradcli check --against torch`: one checked program, on gradcli and on PyTorch.

The program is never Python text for PyTorch either: the same interpreter runs the same checked tree
with PyTorch's objects behind the names. What both leave is read by the same inspector, and compared
line by line of the program.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ...diagnostics import ExitStatus
from ...engine.schema.origin import current_line
from ...engine.tensors.tensor import Tensor
from ...language.budget import Budget
from ...language.interpreter import Machine, Outcome
from ...language.libraries import using
from ...live.library import require_torch
from ...opening import DeviceMissing
from ...pipeline.prepared import Warned
from ...pipeline.request import Ran, Request
from ...pipeline.values import Values, values_of
from ...recording import collect as collecting, holding
from ...recording.facts.check import FileCheck, Problem
from ..diff.compare import Difference, compared, texts
from ..graph import collected
from .against_library import torch_library
from .results import first_line

_TRIGGERED = re.compile(r" \(Triggered internally at .*\)")
MOST_TOLD = 5
ASKED = "--against torch"


class Theirs(NamedTuple):
    """What the program left on PyTorch."""

    outcome: Outcome
    printed: list[tuple[int | None, str]]
    warnings: tuple[str, ...]


def compared_with_torch(fact: FileCheck, ran: Ran, request: Request) -> FileCheck:
    """The differences become a problem that names the first of them, and its line."""
    assert ran.outcome is not None and ran.program is not None
    theirs = _run(ran, request)
    differences = list(_differences(ran, theirs))
    if not differences:
        return fact._replace(against="as PyTorch")
    differences.sort(key=lambda d: (d.line is None, d.line or 0))
    first, *others = differences
    shown = [*first.shown]
    shown += [first_line(f"also: {other.words}") for other in others[:MOST_TOLD]]
    if len(others) > MOST_TOLD:
        left = len(others) - MOST_TOLD
        shown.append(f"... {left} more difference{'s' if left > 1 else ''}")
    problem = Problem("against", first.words, first.line, shown=tuple(shown))
    return fact._replace(
        against="differs from PyTorch", problems=(*fact.problems, problem),
        status="failed" if fact.exit_code <= 1 else fact.status,
        exit_code=max(fact.exit_code, int(ExitStatus.CHECK_FAILED)),
    )  # fmt: skip


def _run(ran: Ran, request: Request) -> Theirs:
    """The same program once more, with PyTorch's objects."""
    library = torch_library()
    torch = require_torch(ASKED)
    assert ran.program is not None
    limits = request.limits
    budget = Budget(
        max_steps=limits.max_steps, max_memory=limits.max_memory, max_output=limits.max_output,
        max_depth=limits.max_depth, max_nodes=limits.max_nodes, timeout=limits.timeout,
    )  # fmt: skip
    printed: list[tuple[int | None, str]] = []
    warned = Warned()
    with using(library), _as_new(torch, request), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values = _translated(torch, values_of(ran.program, request))
        machine = Machine(ran.program, values.inputs, values.overrides)
        outcome = machine.run(budget, lambda text: printed.append((current_line(), text)))
    for warning in caught:
        warned(_TRIGGERED.sub("", str(warning.message)), warning.category)
    return Theirs(outcome, printed, tuple(warned.places))


@contextmanager
def _as_new(torch: Any, request: Request) -> Iterator[None]:
    """PyTorch with its defaults, as a new process has them; and so again afterwards."""
    device = torch.device(request.device)
    dtype = torch.get_default_dtype()
    if device.type == "cuda" and not torch.cuda.is_available():
        raise DeviceMissing(f"--against torch --device {device}: this PyTorch has no CUDA device")
    try:
        torch.manual_seed(torch.Generator().initial_seed())
        torch.set_default_dtype(getattr(torch, request.dtype or "float32"))
        if device.type != "cpu":
            torch.set_default_device(device)
        yield
    finally:
        torch.set_default_device("cpu")
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(True)
        torch.set_printoptions(profile="default")
        torch.set_printoptions(sci_mode=None)
        torch.autograd.set_detect_anomaly(False)


def _translated(torch: Any, values: Values) -> Values:
    """Inputs that are tensors, as PyTorch's."""

    def one(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        dtype = getattr(torch, value.dtype.name)
        made = torch.tensor(value.tolist(), dtype=dtype).reshape(tuple(value.shape))
        return made.requires_grad_(value.requires_grad)

    return Values(
        {name: one(value) for name, value in values.inputs.items()},
        {name: one(value) for name, value in values.overrides.items()},
        values.missing,
    )


def _differences(ran: Ran, theirs: Theirs) -> Iterator[Difference]:
    torch = require_torch(ASKED)
    assert ran.outcome is not None
    ours = collected(_with_parameters(ran.outcome, Tensor), texts=False)
    bindings = _with_parameters(theirs.outcome, torch.Tensor).bindings
    other = collecting.collect(bindings, torch.Tensor, lines=theirs.outcome.lines)
    yield from _errors(ran, theirs)
    yield from _printed(ran, theirs)
    yield from compared(ours.tensors, ours.nodes, other.tensors, other.nodes, "gradcli", "PyTorch")
    mine, others = set(ran.warnings), set(theirs.warnings)
    for text in sorted(mine ^ others):
        who = "only gradcli" if text in mine else "only PyTorch"
        yield Difference(f"{who} warns: {text}", None, ())


def _with_parameters(outcome: Outcome, kind: type) -> Outcome:
    """The parameters of modules as tensors with names of their own: `net.0.weight`."""
    inner = dict(holding.parameters(outcome.bindings, kind))
    return outcome.with_bindings(inner) if inner else outcome


def _errors(ran: Ran, theirs: Theirs) -> Iterator[Difference]:
    ours, other = ran.error, theirs.outcome.error
    said = None if ours is None else f"{ours.type}: {ours.message}"
    heard = None if other is None else f"{other.type}: {_TRIGGERED.sub('', other.message)}"
    if said == heard:
        return
    line = ours.line if ours is not None else other.line if other is not None else None
    shown = tuple(texts(said or "no error", heard or "no error"))
    yield Difference("the error is different", line, shown)


def _printed(ran: Ran, theirs: Theirs) -> Iterator[Difference]:
    """The first printed piece that differs, with the line of the program that printed it."""
    output = "".join(text for _, text in theirs.printed)
    if ran.output == output:
        return
    at = 0
    for line, text in theirs.printed:
        end = at + len(text)
        if ran.output[at:end] != text:
            ours = ran.output[at : max(end, _end_of_line(ran.output, end - 1))]
            yield Difference("the printed text differs", line, tuple(texts(ours, text)))
            return
        at = end
    more = ran.output[at:]
    yield Difference("gradcli prints more", None, tuple(texts(more, "")))


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", max(at, 0))
    return len(text) if end < 0 else end + 1
