"""Live: the hooks of a program, and the spies that stand for them while a pass runs."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from weakref import ref

from ..engine.graph.hooks import muted
from ..engine.schema.mode import state
from .labels import hook_of_program
from .registered import KINDS, OF_NODES, OF_TABLES, TABLES, Registered

if TYPE_CHECKING:
    from .recorder import Recorder

HOOKS = 100_000  # that are remembered
LATEST = 8


class ProgramHooks:
    """All that are known."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.all: list[Registered] = []
        self.standing: list[tuple[Any, int, Any, Any]] = []  # spies for the whole recording

    def give_back(self) -> None:
        """The recording is over: the hooks stand where they stood."""
        for table, number, spy, hook in self.standing:
            held = table()
            if held is not None and held.get(number) is spy:
                held[number] = hook

    def registered(self, name: str, args: tuple[Any, ...], handle: Any) -> None:
        """The program registered a hook on a tensor."""
        recorder, kind = self.recorder, KINDS.get(name)
        table = getattr(handle, "hooks_dict_ref", None)
        if kind is None or table is None or len(args) < 2:
            return
        recorder.observer.registered(handle.id, args[1])
        node = recorder.side.node(args[0])
        mark = None if node is None else ref(recorder.side.mark(node))
        self.all = [known for known in self.all if known.table() is not None][-HOOKS:]
        self.all.append(Registered(kind, table, handle.id, ref(args[0]), mark))

    def noticed(self, place: Any, handle: Any, node: Any) -> None:
        """A call of the program gave a handle: of a hook on a node, maybe."""
        word = getattr(getattr(place, "func", None), "attr", "")
        table, kind = getattr(handle, "hooks_dict_ref", None), OF_NODES.get(word)
        held = None if table is None else table()
        if kind is None or table is None or held is None or handle.id not in held or node is None:
            return
        if any(known.number == handle.id for known in self.all[-LATEST:]):
            return  # a tensor's, which was reported
        state.origin = place
        self.recorder.observer.registered(handle.id, held[handle.id])
        leaf = getattr(node, "variable", None)
        tensor = None if leaf is None else ref(leaf)
        mark = ref(self.recorder.side.mark(node)) if leaf is None else None
        self.all.append(Registered(kind, table, handle.id, tensor, mark))

    def of_module(self, kind: str, handle: Any) -> None:
        """The program registered a hook on a module, which copies its hooks when it is called."""
        hook = self._stand_for(kind, handle.hooks_dict_ref, handle.id)
        self.recorder.observer.registered(handle.id, hook)

    def _stand_for(self, kind: str, table: Any, number: int) -> Any:
        """A spy in the place of a hook, until the recording ends."""
        held = table()
        hook = held[number]
        held[number] = spy = self._spy(kind, None, hook, number)
        self.standing.append((table, number, spy, hook))
        return hook

    def found(self, nodes: list[Any]) -> None:
        """Hooks of leaves that were there before the recording."""
        known = {one.number for one in self.all}
        for node in nodes:
            leaf = getattr(node, "variable", None)
            if leaf is None:
                continue
            for kind, name in TABLES:
                table = getattr(leaf, name)
                for number in table or ():
                    if number not in known:
                        self.all.append(Registered(kind, ref(table), number, ref(leaf), None))

    def of_modules(self, modules: Iterable[Any]) -> None:
        """Hooks of modules that were there before the recording."""
        for module in modules:
            for kind, name in OF_TABLES:
                table = getattr(module, name)
                for number in list(table):
                    self._stand_for(kind, ref(table), number)

    def spies(self, nodes: list[Any]) -> Iterator[tuple[Any, int, Any, Any]]:
        """Replaces each hook by one that reports; the hooks come back when the pass is over."""
        side, mark = self.recorder.side, self.recorder.side.mark
        by_mark = {id(mark(node)): node for node in nodes if not hasattr(node, "variable")}
        leaves = leaves_of(nodes)
        for kind, known, number, tensor, marked in self.all:
            table = known()
            hook = None if table is None else table.get(number)
            if table is not None and hook is not None:
                node = None
                if marked is not None:
                    node = by_mark.get(id(marked()))
                elif tensor is not None and (leaf := tensor()) is not None:
                    # A checkpoint's own pass comes to leaves that this one does not come to.
                    node = leaves.get(id(leaf)) or side.edge(leaf)
                if node is None:
                    continue
                spy = self._spy(kind, node, hook, number)
                table[number] = spy
                yield table, number, spy, hook

    def take_back(self, spies: list[tuple[Any, int, Any, Any]]) -> None:
        """The pass is over; what a hook has removed or replaced since stays so."""
        for table, number, spy, hook in spies:
            if table.get(number) is spy:
                table[number] = hook

    def _heard(self, hook: Any, given: Any) -> Any:
        """Calls a hook so that it is heard when it sets .grad: within a call of PyTorch no mode
        is on."""
        with self.recorder.operations.mode():
            return hook(*given)

    def _spy(self, kind: str, node: Any, hook: Any, number: int) -> Any:
        """A hook around a hook. What a tensor's goes on with is the gradient that it was given."""
        observer, side = self.recorder.observer, self.recorder.side
        of_module, told = kind.startswith("module"), hook_of_program(hook)
        called = self._heard if kind == "post accumulate" else plainly

        def spy(*given: Any) -> Any:
            if muted.on:
                return None
            owner, value = (given[0], given[1]) if of_module else (node, given[0])
            with self.recorder.telling():
                observer.hooking(kind, owner, told, number, value)
            found = called(hook, given)
            goes_on = found is None and kind in KINDS.values()
            after = value if goes_on or kind == "post accumulate" else found
            with self.recorder.telling():
                observer.hooked(kind, owner, told, number, value, after)
                if of_module and side.about_to_run[0] is not None:  # the node that it is at
                    observer.hooked("node", side.about_to_run[0], told, number, value, after)
            return found

        if not hasattr(hook, "__name__"):
            return functools.partial(spy)
        spy.__name__ = hook.__name__  # PyTorch's errors print it
        return spy


def leaves_of(nodes: Iterable[Any]) -> dict[int, Any]:
    """Where gradients for leaves go, by the identity of the leaf."""
    return {id(node.variable): node for node in nodes if hasattr(node, "variable")}


def plainly(function: Any, args: Any, kwargs: Any = MappingProxyType({})) -> Any:
    """Calls it."""
    return function(*args, **kwargs)
