"""Pipeline: runs a program with real Python and real PyTorch, told to the same spectators."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from ..diagnostics import ProgramError
from ..engine.observer import Observer
from ..language.program import Program
from ..language.source import Source
from ..live.library import require_torch
from ..live.program import LiveMachine, live_program
from ..live.recorder import Recorder
from ..live.side import torch_side
from ..live.values import device_of, given_tensors
from ..opening import SUFFIX
from .prepared import Warned, prepared
from .request import Ran, Request
from .values import values_of

if TYPE_CHECKING:
    from ..recording.spectator import Spectator


def execute_live(
    request: Request, write: Callable[[str], None] | None, spectators: tuple[Spectator, ...]
) -> Ran:
    """bytes -> Program -> run by Python. An error becomes part of what is returned."""
    torch = require_torch("--engine torch")
    is_expr = request.path is None or request.path.endswith(SUFFIX)
    program: Program | None = None
    try:
        source = Source.from_bytes(request.data, request.name)
        program = live_program(source, is_expr=is_expr)
        machine, missing = _machine(request, program, torch, spectators, is_expr=is_expr)
        return _run(request, machine, missing, write, spectators)
    except ProgramError as error:
        text = "" if program is None else program.source.text
        return Ran(request, None, text, None, [], (), error.diagnostic.bounded())


def _machine(
    request: Request, program: Program, torch: Any, spectators: tuple[Spectator, ...], *,
    is_expr: bool,
) -> tuple[LiveMachine, tuple[str, ...]]:  # fmt: skip
    """The program with the values of its inputs, made PyTorch's."""
    from ..recording.spectator import listeners, observer_of, together

    with prepared(request._replace(device="cpu")):
        values = values_of(program, request)
    side, device = torch_side(torch), device_of(torch, request.device)
    observer = observer_of(spectators) or Observer()
    machine = LiveMachine(
        program, lambda text: Recorder(side, text, observer),
        inputs=given_tensors(torch, values.inputs, device),
        overrides=given_tensors(torch, values.overrides, device),
        arguments=request.arguments, path=request.path, is_expr=is_expr,
    )  # fmt: skip
    machine.recorder.passes.keep_graph = request.retain_graph
    machine.recorder.passes.create_graph = request.create_graph
    machine.on_bind = together(listeners(spectators, "bound"))
    machine.on_local = together(listeners(spectators, "bound_inside"))
    return machine, values.missing


def _run(
    request: Request, machine: LiveMachine, missing: tuple[str, ...],
    write: Callable[[str], None] | None, spectators: tuple[Spectator, ...],
) -> Ran:  # fmt: skip
    printed: list[str] = []
    warned = Warned()
    guessed = bool(missing) and request.placeholders

    def put(text: str) -> None:
        if guessed:
            return  # it would tell numbers that nobody gave
        printed.append(text)
        if write is not None:
            write(text)

    with ExitStack() as stack:
        stack.enter_context(machine.as_asked(request.device, request.dtype))
        for one in spectators:
            one.begin(machine)
        outcome = machine.run(put, warned)
    error = None if outcome.error is None else outcome.error.bounded()
    return Ran(request, machine.program, machine.program.source.text, outcome, printed,
               tuple(warned.lines), error, missing if guessed else (), spectators,
               tuple(warned.lines.values()))  # fmt: skip
