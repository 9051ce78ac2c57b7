"""Recording: everything that is kept of a run, each kind of fact in one part.

A question attaches parts before the run and reads them afterwards; a part that was not attached is
empty. Parts that only one question needs belong to it, and are found by their class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..engine.graph.observer import Observer
from .buffers import BufferLog
from .constants import Constants
from .hook_log import HookLog
from .leaf_names import LeafNames
from .ledger import Ledger
from .lines import Lines, Modules
from .losses import Losses
from .names import Names
from .optimizers import Optimizers
from .orders import Orders
from .passes import Ends, Passes
from .spectator import Spectator, listeners, observer_of, together
from .values import Values

Part = TypeVar("Part", bound=Spectator)


class Recording:
    """What a run is given so that it is recorded."""

    def __init__(self) -> None:
        self.spectators: list[Spectator] = []  # in the order in which they are told
        self.names = Names()
        self.leaf_names = LeafNames(self.names)
        self.modules = Modules()
        self.lines = Lines()
        self.passes = Passes(self.lines, self.spectators)
        self.ends = Ends()
        self.values = Values(self.passes, self.modules)
        self.constants = Constants(self.values)
        self.hooks = HookLog(self.names, self.passes)
        self.ledger = Ledger(self.passes)
        self.buffers = BufferLog(self.passes)
        self.orders = Orders()
        self.optimizers = Optimizers()
        self.losses = Losses(self.modules)

    def attach(self, *parts: Spectator) -> None:
        """Parts observe the run, each once, behind those that were attached before."""
        self.spectators.extend(part for part in parts if part not in self.spectators)

    def attach_graph(self) -> None:
        """The parts that most questions read."""
        self.attach(self.names, self.leaf_names, self.lines, self.passes, self.ends, self.hooks,
                   self.orders, self.ledger)  # fmt: skip

    def attach_values(self) -> None:
        """The values of results, and what flowed in the passes that are kept."""
        self.attach(self.modules, self.values, self.constants)

    def find(self, kind: type[Part]) -> Part | None:
        """The attached part of this kind."""
        return next((one for one in self.spectators if isinstance(one, kind)), None)

    # ---- what the interpreter asks for

    def begin(self, machine: Any) -> None:
        """The program is about to run."""
        for one in self.spectators:
            one.begin(machine)

    @property
    def observer(self) -> Observer | None:
        """The observer of the engine."""
        observer = observer_of(tuple(self.spectators))
        for one in self.spectators:
            if observer is not None:
                observer = one.around(observer)
        return observer

    @property
    def is_light(self) -> bool:
        """Whether nobody has to hear of nodes at once."""
        return not any(one.is_prompt for one in self.spectators)

    @property
    def on_bind(self) -> Callable[[str, Any], None] | None:
        """What is called when a global name is bound."""
        return together(listeners(tuple(self.spectators), "bound"), "bound")

    @property
    def on_bind_of(self) -> Callable[[str], Callable[[str, Any], None] | None]:
        """The same for each name: those who wish to hear of it."""
        told = [one for one in self.spectators if listeners((one,), "bound")]

        def of(name: str) -> Callable[[str, Any], None] | None:
            wishing = [one.bound for one in told if one.wished is None or name in one.wished]
            return together(wishing, "bound")

        return of

    @property
    def on_local(self) -> Callable[[Any, str, Any], None] | None:
        """What is called when a local name is bound."""
        return together(listeners(tuple(self.spectators), "bound_inside"), "bound_inside")
