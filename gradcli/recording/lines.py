"""Recording: active modules, lines that made parameters, lines that changed tensors in place."""

from __future__ import annotations

from typing import Any
from weakref import ref

from ..engine.schema.origin import current_line
from .spectator import Spectator

MOST = 100_000  # tensors whose line is kept


class Modules(Spectator):
    """The modules that are running, the outermost first."""

    __slots__ = ("running",)

    def __init__(self) -> None:
        self.running: list[Any] = []

    def entering(self, module: Any) -> None:
        self.running.append(module)

    def leaving(self, module: Any) -> None:
        self.running.pop()

    @property
    def innermost(self) -> Any:
        """The one that is running; None outside of all."""
        return self.running[-1] if self.running else None


class Lines(Spectator):
    """The line that made each parameter, and the line that changed each tensor in place last."""

    __slots__ = ("born", "changed_at", "changes")

    def __init__(self) -> None:
        self.born: dict[int, tuple[Any, int | None]] = {}  # by a tensor's identity
        self.changed_at: dict[int, tuple[Any, int | None]] = {}
        self.changes = 0

    def parameter(self, tensor: Any) -> None:
        if len(self.born) < MOST:
            self.born[id(tensor)] = ref(tensor), current_line()

    def changed(self, tensor: Any) -> None:
        self.changes += 1
        if len(self.changed_at) < MOST:  # whether it is a leaf, a view may not be asked
            self.changed_at[id(tensor)] = ref(tensor), current_line()

    def of_birth(self, tensor: Any) -> int | None:
        """The line that made a parameter."""
        return _known(self.born, tensor)

    def of_change(self, tensor: Any) -> int | None:
        """The line that changed a tensor in place last."""
        return _known(self.changed_at, tensor)


def _known(lines: dict[int, tuple[Any, int | None]], tensor: Any) -> int | None:
    """The line of this tensor; an identity may have been another tensor's before."""
    known, line = lines.get(id(tensor), (None, None))
    return line if known is not None and known() is tensor else None
