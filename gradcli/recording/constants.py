"""Recording: inputs of operations that require no grad, as they were when used."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from weakref import ref

from ..engine.graph.node import Node
from ..engine.tensors.tensor import Tensor
from ..named import NamedTuple
from .collect import Collected
from .facts import ConstantFact, NodeFact
from .names import Names
from .sides import AnyTensor, mark_of
from .snapshot import restored, snapshot, snapshot_text
from .spectator import Spectator
from .values import Values

ENDS = 1000  # nodes at each end of a run whose constants are held
SHARED = 1000  # snapshots that may serve once more: a batch of data is used in every turn


class Operand(NamedTuple):
    """What stood at an edge that leads nowhere: a tensor, or where `value` is None a number."""

    edge: int
    tensor: Any = None  # held weakly, by its name
    value: Any = None


NUMBERS = tuple(Operand(place) for place in range(64))  # Python numbers: nothing has to be kept


class Constants(Spectator):
    """The operands without a gradient of the first and of the last nodes."""

    def __init__(self, values: Values) -> None:
        self.values = values  # which hear late of what operations of PyTorch made on their way
        self._first: list[tuple[Any, list[Operand]]] = []
        self._recent: deque[tuple[Any, list[Operand]]] = deque(maxlen=ENDS)
        # The same by the identity of the mark, which is held and stays its own.
        self._known: dict[int, list[Operand]] = {}
        self._newest: Any = None
        self._shared: dict[int, tuple[ref[Any], int, Any]] = {}
        self._places: dict[Any, tuple[int, ...] | None] = {}  # of a row, if it takes no lists

    def used(self, node: Any, inputs: Sequence[Any], changed: Any) -> None:
        """A node was made of these inputs, in the order of its edges or of its row's arguments."""
        if node.__class__ is not Node:
            self._used(node, inputs, changed)
            return
        row = node.row
        places = self._places.get(row, ())
        if places == ():
            places = self._places[row] = _places(row)
        if places is None:
            self._used(node, inputs, changed)
            return
        found: list[Operand] = []
        for place, edge in enumerate(node.edges):
            if edge is None:
                value = inputs[places[place]]
                if value.__class__ is float or value.__class__ is int:
                    found.append(NUMBERS[place])
                elif value is not changed:
                    found.append(self._operand(place, value))
        self._keep((node, found))

    def _used(self, node: Any, inputs: Sequence[Any], changed: Any) -> None:
        """The same of nodes with lists of inputs, and of another library's."""
        if isinstance(node, Node):
            inputs = tuple(_flat(node.row, inputs))
        edges = [edge for edge, _ in node.next_functions]
        if len(inputs) == len(edges):
            found = [
                self._operand(place, value)
                for place, (edge, value) in enumerate(zip(edges, inputs, strict=True))
                if edge is None and value is not changed
            ]
            self._keep((mark_of(node), found))

    def _keep(self, entry: tuple[Any, list[Operand]]) -> None:
        if len(self._first) < ENDS:
            self._first.append(entry)
        else:
            self._recent.append(entry)

    def _operand(self, place: int, value: Any) -> Operand:
        if value.__class__ is Tensor:
            storage = value._storage
            version = 0 if storage is None else storage.version
        elif isinstance(value, AnyTensor):
            try:
                version = value._version
            except RuntimeError:  # made under inference mode, which counts nothing
                return Operand(place, ref(value), snapshot(value))
        else:
            return Operand(place)
        shared = self._shared
        known = shared.get(id(value))
        if known is None or known[0]() is not value or known[1] != version:
            if len(shared) >= SHARED:
                shared.clear()
            known = shared[id(value)] = ref(value), version, snapshot(value)
        return Operand(place, known[0], known[2])

    def of(self, node: Any) -> Sequence[Operand] | None:
        """The operands of a node; None if they were not kept."""
        self.values.meet()
        newest = (self._recent or self._first or (None,))[-1]
        if newest is not self._newest:
            self._newest = newest
            self._known = {id(mark): found for mark, found in (*self._first, *self._recent)}
        return self._known.get(id(mark_of(node)))


def _with_edges(row: Any) -> Iterator[tuple[int, Any]]:
    """The arguments of a row that nodes have edges for, with their places."""
    for place, parameter in enumerate(row.signature.parameters):
        if parameter.is_tensor and (not row.formulas or parameter.name in row.differentiable):
            yield place, parameter


def _places(row: Any) -> tuple[int, ...] | None:
    """Where these arguments stand; None where one of them is a list."""
    found = tuple(_with_edges(row))
    if any(parameter.kind == "Tensor[]" for _, parameter in found):
        return None
    return tuple(place for place, _ in found)


def _flat(row: Any, arguments: Sequence[Any]) -> Iterator[Any]:
    """These arguments, the tensors of lists one by one."""
    for place, _ in _with_edges(row):
        value = arguments[place]
        if isinstance(value, (list, tuple)):
            yield from value
        else:
            yield value


# ---------------------------------------------------------------- as facts


def constants(
    collected: Collected,
    words_of: Callable[[NodeFact], tuple[str, ...]],
    held: Constants | None = None,
    names: Names | None = None,
    *,
    derived: frozenset[int] = frozenset(),
    most: int = 2000,
) -> tuple[ConstantFact, ...]:
    """Inputs without a gradient, where the program names them: the `a` of `w * a`.

    `derived` are nodes of gradients: their places are those of what was differentiated, whose words
    name other inputs.
    """
    known = {fact.name: fact for fact in collected.tensors}
    found: list[ConstantFact] = []
    for node, alive in zip(collected.nodes, collected.alive, strict=True):
        if None not in node.next:
            continue
        words = () if node.id in derived else words_of(node)
        kept = None if held is None else held.of(alive)
        if kept is not None:
            found.extend(_used(node, words, kept, names))
        else:
            found.extend(
                ConstantFact(node.id, edge, words[edge], None)
                for edge, following in enumerate(node.next)
                if following is None and edge < len(words) and words[edge]
                # a name of no tensor is a Python number's: the expression tells it already
                if words[edge] in known or not words[edge].isidentifier()
            )
        if len(found) >= most:
            break
    return tuple(found)


def _used(
    node: NodeFact, words: tuple[str, ...], kept: Sequence[Operand], names: Names | None
) -> Iterator[ConstantFact]:
    """The tensors that a node was made of, with the values that they had then."""
    for operand in kept:
        if operand.value is None:  # a Python number: the expression tells it already
            continue
        word = words[operand.edge] if operand.edge < len(words) else ""
        tensor = operand.tensor()
        if not word and tensor is not None and names is not None:
            word = names.of_leaf(tensor)
        if word:
            value = snapshot_text(restored(operand.value), full=True)
            yield ConstantFact(
                node.id,
                operand.edge,
                word,
                value.text,
                value.shape,
                value.range,
                value.value,
                value.dtype,
            )
