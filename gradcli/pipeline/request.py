"""Pipeline: a request, and what a run leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..diagnostics import Diagnostic
from ..named import NamedTuple

if TYPE_CHECKING:
    from ..language.interpreter import Outcome
    from ..language.program import Program
    from ..recording.recording import Recording


class Limits(NamedTuple):
    """What a run may use."""

    timeout: float = 60.0
    max_steps: int = 100_000_000
    max_nodes: int = 10_000_000
    max_memory: int = 4 * 2**30
    max_output: int = 16 * 2**20
    max_source: int = 8 * 2**20
    max_depth: int = 1000
    max_asked: int = 2**63  # bytes of large arrays, those that are free again counted too


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
    wrt: tuple[str, ...] = ()  # of the program's numbers, these become leaves
    retain_graph: bool = False  # the program's backward calls keep their buffers
    holds_graph: bool = False  # what they free is there again when the program has ended
    create_graph: bool = False
    placeholders: bool = False  # the program runs although inputs have no value
    engine: str = "own"  # "torch": Python and PyTorch run the program
    arguments: tuple[str, ...] = ()  # of the program that Python runs
    expectations: bool = False  # `# expect:` comments are evaluated, and logged
    folder: str | None = None  # where data sets lie that the program names

    @property
    def given(self) -> frozenset[str]:
        """The names that --set gives a value to."""
        return frozenset(text.partition("=")[0].strip() for text in self.sets)


class Ran(NamedTuple):
    """A program that ran, to its end or to an error, or that could not start."""

    request: Request
    program: Program | None
    text: str
    outcome: Outcome | None
    printed: list[str]
    warnings: tuple[str, ...]
    error: Diagnostic | None
    missing: tuple[str, ...] = ()
    heard: Recording | None = None
    # Where the warnings came from, and the names of their categories.
    warning_places: tuple[tuple[int | None, str], ...] = ()
    notes: tuple[str, ...] = ()  # what the program asked for and did not get, such as plots
    held_before: int = 0  # bytes that the process held when the program began

    @property
    def recording(self) -> Recording:
        """The recording of the run; an empty one unless the request has one."""
        from ..recording.recording import Recording

        return self.heard or Recording()

    @property
    def output(self) -> str:
        """What the program printed so far: hooks may print after its end."""
        return "".join(self.printed)

    @property
    def error_text(self) -> str | None:
        """The text that the error's places count in: the program's, or an option's."""
        if self.error is None or self.error.file == self.request.name:
            return self.text or None
        spectators = () if self.heard is None else self.heard.spectators
        texts = (one.text_of(self.error.file) for one in spectators)
        return next((text for text in texts if text is not None), None)
