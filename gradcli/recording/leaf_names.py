"""Recording: the names of the leaves of a pass, by the bindings at its end.

A leaf comes into a list, a dictionary or an attribute unheard, and a name that it once had may
stand for another tensor by now.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import ref

from .below import leaves_below
from .holding import inside as held_by, named_tensors
from .looking import base_of, is_a, size
from .modules import attributes, is_module
from .names import Names
from .sides import AnyTensor, is_parameter
from .spectator import Spectator

if TYPE_CHECKING:
    from .passes import Pass

Parts = tuple[str, tuple[str | int, ...]]  # the first word; the attributes and keys behind it

LOOKS = 200_000  # tensors that are looked at in a run, in search of leaves
_FIRST = re.compile(r"\w+")
_STEP = re.compile(r"""\[(\d+)\]|\['([^'\\]*)'\]|\["([^"\\]*)"\]|\.(\w+)""")


class LeafNames(Spectator):
    """Corrects the names of leaves, pass by pass."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.holding: Callable[[], Iterator[Mapping[str, Any]]] = lambda: iter(())
        self.came: dict[int, Any] = {}  # leaves that the running pass came to
        self.last: list[Any] = []  # those of the last pass
        self.sought: dict[int, ref[Any]] = {}  # without success
        self.left = LOOKS
        self.parts: dict[str, Parts] = {}  # of the names of leaves

    def begin(self, machine: Any) -> None:
        """The program is about to run."""
        self.holding = machine.holding

    def accumulated(self, variable: Any, grad: Any) -> None:
        """A tensor is about to be given a gradient."""
        self.came[id(variable)] = variable

    def gathered(self, came: Sequence[tuple[Any, Any]]) -> None:
        """The same of many."""
        self.came.update((id(variable), variable) for variable, _ in came)

    def withheld(self, variable: Any, grad: Any) -> None:
        """A gradient that came to a tensor which keeps none."""
        self.accumulated(variable, grad)

    def captured(self, node: Any, place: int, grad: Any) -> None:
        """A gradient that the pass returns."""
        variable = getattr(node, "variable", None)
        if variable is not None:
            self.accumulated(variable, grad)

    def over(self, one: Pass, freed: list[Any]) -> None:
        """A pass has ended."""
        came, self.came = self.came, {}
        self.last = list(came.values())
        if not came or self.left <= 0:
            return
        tables: list[Mapping[str, Any]] = []
        astray: dict[int, Any] = {}
        for identity, leaf in came.items():
            name = self.names.of_leaf(leaf)
            if "." in name and is_parameter(leaf):
                continue  # what a module holds, it goes on holding
            if not tables:
                tables = list(self.holding())
            parts = self._parts(name)
            passing = parts[0] in self.names.loops
            if passing or not any(_find(parts, table) is leaf for table in tables):
                astray[identity] = leaf
        if any(self._is_new(leaf) for leaf in astray.values()):
            self._look(astray, tables)
        one.astray = frozenset(astray)

    def _is_new(self, leaf: Any) -> bool:
        """Whether it was not looked for before."""
        sought = self.sought.get(id(leaf))
        return sought is None or sought() is not leaf

    def name_now(self, tensor: Any) -> str:
        """What leads to a leaf at this moment; others without a name are given theirs too."""
        if not self._lasts(tensor) and self.left > 0 and self._is_new(tensor):
            for place, table in enumerate(self.holding()):
                for name, held in self._within(table):
                    self.left -= 1
                    if held.requires_grad and not self._lasts(held):
                        self.names.rename(held, name, inside=place > 0)
            if not self._lasts(tensor):
                self.sought[id(tensor)] = ref(tensor)
        return self.names.of_leaf(tensor)

    def _lasts(self, leaf: Any) -> bool:
        """Whether it has a name, and none that a loop gives to the next one."""
        name = self.names.of_leaf(leaf)
        return bool(name) and self._parts(name)[0] not in self.names.loops

    def _parts(self, name: str) -> Parts:
        found = self.parts.get(name)
        if found is None:
            found = self.parts[name] = _parts(name)
        return found

    def _look(self, astray: dict[int, Any], tables: list[Mapping[str, Any]]) -> None:
        """Names these leaves by what leads to them."""
        for place, table in enumerate(tables):
            for name, tensor in self._within(table):
                self.left -= 1
                if id(tensor) in astray:
                    self.names.rename(astray.pop(id(tensor)), name, inside=place > 0)
                if not astray or self.left <= 0:
                    return
        self.sought.update((identity, ref(leaf)) for identity, leaf in astray.items())

    def _within(self, table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """The tensors that names lead to; what a loop goes over has other names first."""
        loops = self.names.loops
        first = {name: value for name, value in table.items() if name not in loops}
        last = {name: value for name, value in table.items() if name in loops}
        for part in (first, last):
            yield from named_tensors(part, AnyTensor)
            yield from ((name, tensor) for name, tensor, _ in held_by(part, AnyTensor))


def other_leaves(
    roots: Iterable[Any], known: Mapping[str, Any], values: Mapping[str, Any]
) -> dict[str, Any]:
    """The leaves behind some tensors that `known` has no name for, by what leads to them."""
    leaves = {id(leaf): leaf for leaf in leaves_below(root.grad_fn for root in roots)}
    for table in (named_tensors, held_by):
        for _, leaf, *_ in table(known, AnyTensor):
            leaves.pop(id(leaf), None)
    found: dict[str, Any] = {}
    for table in (named_tensors, held_by) if leaves else ():
        for name, tensor, *_ in table(values, AnyTensor):
            if leaves.pop(id(tensor), None) is not None:
                found[name] = tensor
    return found


def _find(parts: Parts, table: Mapping[str, Any]) -> Any:
    """What a name leads to now; None where it leads nowhere."""
    first, steps = parts
    value: Any = table.get(first)
    for step in steps:
        if is_a(value, dict):
            value = dict.get(value, step)
        elif is_a(value, (list, tuple)):
            base: Any = base_of(value)
            inside = isinstance(step, int) and step < size(value)
            value = base.__getitem__(value, step) if inside else None
        else:
            value = None if is_module(value) else attributes(value).get(str(step))
        if value is None:
            break
    return value


def _parts(name: str) -> Parts:
    """Of params['w'], of trainer.layers[0]."""
    first = _FIRST.match(name)
    if first is None:
        return "", ()
    steps: list[str | int] = []
    at = first.end()
    while at < len(name):
        step = _STEP.match(name, at)
        if step is None:
            return "", ()
        number, *words = step.groups()
        steps.append(int(number) if number else next(w for w in words if w is not None))
        at = step.end()
    return first[0], tuple(steps)
