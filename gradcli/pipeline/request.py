"""pipeline: what is asked, and what a run leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..diagnostics import Diagnostic
from ..engine.mode import state

if TYPE_CHECKING:
    from ..language.interpreter import Outcome
    from ..language.program import Program
    from ..report.profile import Profile
    from .paths.names import Naming
    from .steps.replay import Pause
    from .watching import Binder


class Limits(NamedTuple):
    """What a run may use."""

    timeout: float = 60.0
    max_steps: int = 100_000_000
    max_nodes: int = 10_000_000
    max_memory: int = 4 * 2**30
    max_output: int = 16 * 2**20
    max_source: int = 8 * 2**20
    max_depth: int = 1000


class Request(NamedTuple):
    """One program and what is wanted of it."""

    data: bytes
    name: str
    path: str | None = None
    sets: tuple[str, ...] = ()
    no_grad: tuple[str, ...] = ()
    device: str = "cpu"
    dtype: str | None = None
    limits: Limits = Limits()
    of: tuple[str, ...] = ()
    wrt: tuple[str, ...] = ()
    retain_graph: bool = False
    create_graph: bool = False
    retain_grad: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    all: bool = False
    saved: bool = False
    grad_output: str | None = None
    drawn: bool = False  # a graph may be drawn although inputs have no value
    differentiated: bool = False  # gradients are asked for after the run
    watched: bool = False  # hooks and backward calls are told
    values: bool = False  # so are the values and gradients of everything without a name
    stepped: bool = False  # every node that a backward pass runs is kept
    only: int | None = None  # of these passes, the one with this number
    pause: Pause | None = None  # where in such a pass the run stops
    named: bool = False  # which names stood for which tensors is kept, local names too
    profiled: bool = False  # every line is timed


class Ran(NamedTuple):
    """A program that ran, to its end or to an error, or that could not start."""

    request: Request
    program: Program | None
    text: str
    outcome: Outcome | None
    printed: list[str]
    warnings: tuple[str, ...]
    error: Diagnostic | None
    binder: Binder | None = None
    missing: tuple[str, ...] = ()
    naming: Naming | None = None
    profile: Profile | None = None

    @property
    def output(self) -> str:
        """What the program printed so far: hooks may print after its end."""
        return "".join(self.printed)

    @property
    def error_text(self) -> str | None:
        """The text that the error's places count in: the program's, or an option's."""
        if self.error is None or self.error.file == self.request.name:
            return self.text or None
        name = self.error.file.removeprefix("--hook ")
        return self.binder.hooks.get(name) if self.binder is not None else None


def current_line() -> int | None:
    """The line that the program in progress is on."""
    line: Any = getattr(state.origin, "lineno", None)
    return line if isinstance(line, int) else None


def current_place() -> tuple[int, int] | None:
    """The line and the column that the program in progress is at."""
    origin: Any = state.origin
    line = getattr(origin, "lineno", None)
    return (line, origin.col_offset + 1) if isinstance(line, int) else None
