"""language: the state of one run: its budget, its output, its numbers for addresses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..diagnostics import Diagnostic
from ..engine.schema.origin import current_line
from .budget import Budget

MAX_DEPTH = 500  # levels of containers in a repr


class Session:
    """The state of the run in progress; there is one at a time."""

    __slots__ = (
        "aliases",
        "backward_calls",
        "budget",
        "failing",
        "folder",
        "handling",
        "kept",
        "names",
        "notes",
        "numbers",
        "pointers",
        "shown",
        "write",
        "write_error",
    )

    def __init__(self) -> None:
        self.budget = Budget()
        self.failing: Mapping[str, Diagnostic] = {}  # imported names of what is not here
        self.folder: str | None = None  # where data sets lie that the program names
        self.write: Callable[[str], object] = lambda text: None
        self.write_error: Callable[[str], None] | None = None  # to a file of the program
        self.names: dict[str, Any] = {}  # what the program's module has bound
        self.aliases: Mapping[str, str] = {}  # its imported names
        self.numbers: dict[int, int] = {}
        self.pointers: dict[int, int] = {}
        self.kept: list[object] = []
        self.backward_calls: list[tuple[object, object]] = []
        self.handling: list[BaseException] = []  # errors that `except` blocks are busy with
        self.notes: dict[str, None] = {}  # notes that are shown once, on standard error
        self.shown: set[int] = set()  # the containers whose repr is being made

    def reset(self, budget: Budget, write: Callable[[str], object]) -> None:
        self.budget = budget
        self.write, self.write_error = write, None
        self.numbers = {}
        self.pointers = {}
        self.kept = []
        self.backward_calls = []
        self.notes = {}
        self.handling.clear()
        self.shown = set()

    def handle(self, error: BaseException) -> None:
        """An `except` block begins: it is busy with the error of the line that ran last."""
        self.handling.append(error)
        if not hasattr(error, "line_here"):
            error.line_here = current_line()  # type: ignore[attr-defined]

    def shown_once(self, value: object, instead: str, make: Callable[[], str]) -> str:
        """The repr of what holds others; `instead` where it is being made already."""
        if id(value) in self.shown:
            return instead
        if len(self.shown) >= MAX_DEPTH:
            raise RecursionError(
                "maximum recursion depth exceeded while getting the repr of an object"
            )
        self.shown.add(id(value))
        try:
            return make()
        finally:
            self.shown.discard(id(value))

    def number_of(self, value: object) -> int:
        """A small number for an object, given at its first printing: the same on every run."""
        number = self.numbers.get(id(value))
        if number is None:
            number = self.numbers[id(value)] = len(self.numbers) + 1
            self.kept.append(value)  # its identity must not be given to another object
        return number

    def number_of_pointer(self, pointer: int) -> int:
        """A small number for a place in memory; equal places have equal numbers."""
        return self.pointers.setdefault(pointer, len(self.pointers) + 1)

    def address_of(self, value: object) -> str:
        """What stands where Python prints an address."""
        return f"0x{self.number_of(value):012x}"


session = Session()
