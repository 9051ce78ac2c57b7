"""Pipeline: runs a program with real Python and PyTorch, reported to the same spectators."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from ..diagnostics import ProgramError
from ..engine.graph.observer import Observer
from ..language.budget import memory_in_use
from ..language.program import Program
from ..language.source import Source
from ..live.library import require_torch
from ..live.program import LiveMachine, live_program
from ..live.recorder import Recorder
from ..live.side import torch_side
from ..live.values import device_of, given_tensors
from ..opening import SUFFIX
from .prepared import Warned, prepared, printer
from .request import Ran, Request
from .values import values_of

if TYPE_CHECKING:
    from ..recording.recording import Recording


def execute_live(
    request: Request, write: Callable[[str], None] | None, recording: Recording | None
) -> Ran:
    """bytes -> Program -> run by Python. An error becomes part of what is returned."""
    torch = require_torch("--engine torch")
    is_expr = request.path is None or request.path.endswith(SUFFIX)
    text = ""
    try:
        source = Source.from_bytes(request.data, request.name)
        text = source.text
        program = live_program(source, is_expr=is_expr, expectations=request.expectations)
        machine, missing = _machine(request, program, torch, recording, is_expr=is_expr)
        return _run(request, machine, missing, write, recording)
    except ProgramError as error:
        return Ran(request, None, text, None, [], (), error.diagnostic.bounded(),
                   heard=recording)  # fmt: skip


def _machine(
    request: Request, program: Program, torch: Any, recording: Recording | None, *,
    is_expr: bool,
) -> tuple[LiveMachine, tuple[str, ...]]:  # fmt: skip
    """The program with the values of its inputs, made PyTorch's."""
    with prepared(request._replace(device="cpu")):
        values = values_of(program, request)
    side, device = torch_side(torch), device_of(torch, request.device)
    observer = None if recording is None else recording.observer
    machine = LiveMachine(
        program, lambda text: Recorder(side, text, observer or Observer()),
        inputs=given_tensors(torch, values.inputs, device),
        overrides=given_tensors(torch, values.overrides, device),
        arguments=request.arguments, path=request.path, is_expr=is_expr,
    )  # fmt: skip
    machine.recorder.passes.keep_graph = request.retain_graph
    machine.recorder.passes.holds_graph = request.holds_graph
    machine.recorder.passes.create_graph = request.create_graph
    if recording is not None:
        machine.recorder.passes.is_light = recording.is_light
        machine.on_bind, machine.on_local = recording.on_bind, recording.on_local
    return machine, values.missing


def _run(
    request: Request, machine: LiveMachine, missing: tuple[str, ...],
    write: Callable[[str], None] | None, recording: Recording | None,
) -> Ran:  # fmt: skip
    printed: list[str] = []
    warned = Warned()
    guessed = bool(missing) and request.placeholders

    with ExitStack() as stack:
        stack.enter_context(machine.with_defaults(request.device, request.dtype))
        if recording is not None:
            recording.begin(machine)
        held_before = memory_in_use()[0]
        outcome = machine.run(printer(printed, write, guessed), warned)
    error = None if outcome.error is None else outcome.error.bounded()
    return Ran(request, machine.program, machine.program.source.text, outcome, printed,
               tuple(warned.places), error, missing if guessed else (), recording,
               tuple(warned.places.values()), machine.notes, held_before)  # fmt: skip
