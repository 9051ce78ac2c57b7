"""Pipeline: bytes -> program -> run. Errors in the text are reported before NumPy is loaded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..diagnostics import Label, LimitReached, ProgramError
from ..language.program import Program, SourceLimits, parse, place_reached
from ..language.source import Source, is_notebook
from ..process.deadline import reading
from ..process.memory import reached
from ..render.escape import line
from .request import Ran, Request

if TYPE_CHECKING:
    from ..recording.recording import Recording


def execute(
    request: Request, write: Callable[[str], None] | None, recording: Recording | None = None
) -> Ran:
    """bytes -> Program -> run. Prints go to `write`; an error becomes part of what is returned.

    A recording observes the run. Without one only its end is kept.
    """
    if request.engine == "torch":
        from .live import execute_live

        return execute_live(request, write, recording)
    try:
        program = program_of(request)
    except ProgramError as error:
        if request.device != "cpu":
            from .prepared import prepared

            with prepared(request):  # a missing device is reported first
                pass
        return _refused(request, error, recording)
    from .prepared import prepared
    from .running import running
    from .values import values_of

    with prepared(request):
        try:
            values = values_of(program, request)
        except ProgramError as error:
            return _refused(request, error, recording)
        return running(request, program, values, write, recording)


def _refused(request: Request, error: ProgramError, recording: Recording | None) -> Ran:
    """A program that can't start."""
    return Ran(request, None, _quotable(request), None, [], (), error.diagnostic.bounded(),
               heard=recording)  # fmt: skip


def _quotable(request: Request) -> str:
    """The text that an error may quote; nothing of a file that is no text."""
    most = None if is_notebook(request.name) else request.limits.max_source
    try:
        return Source.from_bytes(request.data[:most], request.name).text
    except ProgramError:
        return ""


def program_of(request: Request) -> Program:
    """bytes -> Source -> Program; ProgramError says what is wrong."""
    most = request.limits.max_source
    if len(request.data) > most and ".ipynb" not in request.name:
        limit = LimitReached(f"limit of {most:,} bytes of source", "--max-source")
        raise ProgramError(limit.as_diagnostic(request.name))
    limits = SourceLimits(max_source=most, expectations=request.expectations)
    mark = reading(line(request.name))  # a notebook's JSON is read by C, which listens to nobody
    source = Source.from_bytes(request.data, request.name)
    source.mark = mark
    try:
        return parse(source, limits, request.given)
    except (LimitReached, MemoryError) as error:
        limit = reached(request.limits.max_memory)
        if isinstance(error, LimitReached):
            limit = LimitReached(error.limit, error.option)
        place = Label(place_reached(source, error), "", primary=True)
    del source  # frees the parsed text: reporting the limit needs some memory
    raise ProgramError(limit.as_diagnostic(request.name, place))
