"""Questions: from the names of a program to places in its graph, and back."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from ...engine.graph.leaf import ends_a_graph
from ...engine.schema.mode import next_sequence
from ...engine.tensors.tensor import Tensor
from ...language.names import Scope
from ...named import NamedTuple
from ...opening import UsageError
from ...pipeline.request import Ran
from ...recording.collect import short_name
from ...recording.holding import parameters
from ...recording.sides import AnyTensor
from ..graph import grad_fn_of, leaves_of, nearest_name, places
from ..question import at_path
from .graph import Position, Ways
from .names import Bound, Naming

LONGEST = 30  # characters of an expression that serves as a name


class Spot(NamedTuple):
    """What a name stood for: a leaf, or one output of a node; `tensor` is None when it is gone."""

    name: str
    scope: Scope | None
    number: int
    node: Any
    output_nr: int
    tensor: Tensor | None
    clock: float

    @property
    def key(self) -> tuple[int, int]:
        """The same for the same tensor."""
        return id(self.tensor if self.node is None else self.node), self.output_nr

    def position(self, ways: Ways) -> Position | None:
        """Where it lies in a graph, or None."""
        if self.node is None:
            return ways.leaf(self.tensor)
        return ways.inner(self.node, self.output_nr)


class Labels:
    """The names of a run, in the order in which they were bound."""

    def __init__(self, ran: Ran) -> None:
        naming = ran.recording.find(Naming)
        assert naming is not None and ran.outcome is not None
        self.naming = naming
        self.ran = ran
        bindings = ran.outcome.bindings
        if ran.program is not None:
            for leaf in leaves_of(ran.program, ran.recording):
                if not leaf.name.isidentifier():  # what an object or a list held in the pass
                    self.naming.bound(leaf.name, leaf.tensor)
        for name, value in bindings.items():
            self.naming.bound(name, value)  # what was changed in place, and items of lists
        for name, tensor in parameters(ran.recording.names.reached(bindings), Tensor):
            self.naming.bound(name, tensor)
        self.by_name: dict[str, list[Spot]] = {}
        self.spots: list[Spot] = []
        seen: set[tuple[str, tuple[int, int]]] = set()
        entries = self.naming.entries()
        # Numbers are those of global names first: a name in a function changes none.
        outer = [bound for bound in entries if bound.scope is None]
        for bound in (*outer, *(bound for bound in entries if bound.scope is not None)):
            named = self.by_name.get(bound.name, [])
            spot = _spot(bound, named)
            if spot is not None and (key := (bound.name, spot.key)) not in seen:
                seen.add(key)
                self.by_name[bound.name] = named
                named.append(spot)
                self.spots.append(spot)
        self.spots.sort(key=attrgetter("clock"))
        self._indexed = {indexed(name): spots for name, spots in self.by_name.items()}

    def spot_of(self, tensor: Tensor) -> Spot:
        """A tensor by its first global name, else the last one of a function, else by the words
        that made it."""
        node, output_nr = grad_fn_of(tensor), tensor.output_nr
        key = Spot("", None, 0, node, output_nr, tensor, 0).key
        named = [spot for spot in self.spots if spot.key == key]
        if named:
            outer = [spot for spot in named if spot.scope is None]
            return (outer or named[-1:])[0]._replace(tensor=tensor)
        assert self.ran.program is not None
        place = None if node is None else places(self.ran.program)(node)
        words = "the root" if place is None else place.target or place.text
        return Spot(words, None, 1, node, output_nr, tensor, next_sequence())

    # ---- from a name to a place

    def named(self, text: str, option: str) -> list[Spot]:
        """The tensors with a gradient that a name stood for; `y#2` is the second one."""
        name, mark, number = text.rpartition("#")
        if not mark:
            name, number = text, ""
        found = self.by_name.get(name) or self._indexed.get(name) or self._second(name)
        if not found and option == "--wrt":
            self._refuse_constant(name)
        if not found:
            which = "the tensors that require grad"
            raise UsageError(f"{option} {text}: no tensor that requires grad has this name",
                             nearest_name(name, list(self.by_name), which))  # fmt: skip
        outer = [spot for spot in found if spot.scope is None]
        if not number:
            return outer or found
        wanted = [spot for spot in found if str(spot.number) == number]
        if not wanted:
            first, last = found[0].number, found[-1].number
            known = f"{name}#{first}" + (f" to {name}#{last}" if last > first else "")
            raise UsageError(f"{option} {text}: {name} stood for {last:,} tensors", known)
        return wanted

    def inside(self, name: str) -> list[Spot]:
        """What a name stood for in functions."""
        return [spot for spot in self.by_name.get(name, ()) if spot.scope is not None]

    def _second(self, name: str) -> list[Spot]:
        """One more name of a tensor that is known by its first, such as a tied weight's."""
        assert self.ran.outcome is not None
        value = at_path(name, self.ran.recording.names.reached(self.ran.outcome.bindings))
        if value is None:
            return []
        key = Spot("", None, 0, grad_fn_of(value), value.output_nr, value, 0).key
        return [spot._replace(name=name) for spot in self.spots if spot.key == key][:1]

    def _refuse_constant(self, name: str) -> None:
        assert self.ran.outcome is not None
        bindings = self.ran.recording.names.reached(self.ran.outcome.bindings)
        value = bindings.get(name, at_path(name, bindings))
        if value is None and name not in bindings:
            return
        if isinstance(value, AnyTensor):
            kind = str(value.dtype).removeprefix("torch.")
            raise UsageError(f"--wrt {name}: it does not require grad ({kind})",
                             f"gradcli why FILE {name}")  # fmt: skip
        kind = "an integer" if isinstance(value, int) else f"a {type(value).__name__}"
        raise UsageError(f"--wrt {name}: it is {kind}, and gradients go to tensors of floats")

    # ---- from a place to a name

    def of(self, ways: Ways, own: dict[Position, str]) -> dict[Position, str]:
        """The name of every named position of a graph; `own` are those that the user gave.

        A global name goes before an item of a list, and that before a local name; the first one
        before later ones. Names that stand for several tensors of this graph are numbered.
        """
        chosen: dict[Position, Spot] = {}
        listed: list[tuple[Position, Spot]] = []
        local: list[tuple[Position, Spot]] = []
        stands: dict[str, int] = {}  # for how many tensors of the graph
        for spot in self.spots:
            position = spot.position(ways)
            if position is None:
                continue
            name = spot.name
            stands[name] = stands.get(name, 0) + 1
            if spot.scope is not None:
                local.append((position, spot))
            elif "[" in name:
                listed.append((position, spot))
            elif position not in chosen:
                chosen[position] = spot
        for position, spot in (*listed, *local):
            chosen.setdefault(position, spot)
        several = {name for name, count in stands.items() if count > 1}
        labels = {
            position: label_text(spot, spot.name in several) for position, spot in chosen.items()
        }
        given = set(own.values())
        taken = {label: position for position, label in labels.items() if label in given}
        for position, label in own.items():
            if "#" not in label and taken.get(label, position) != position:
                continue
            if "#" in label or label not in several:
                labels[position] = label
        return labels

    def leaves(self, ways: Ways) -> list[str]:
        """The leaves of a graph by the names that the pass knew them by, in order of binding."""
        assert self.ran.program is not None
        known = leaves_of(self.ran.program, self.ran.recording)
        own = {self.spot_of(leaf.tensor).position(ways): leaf.name for leaf in known}
        ends = {spot.position(ways) for spot in self.spots if spot.node is None}
        named = self.of(ways, {place: name for place, name in own.items() if place is not None})
        return [name for place, name in named.items() if place in ends]

    def texts(self, ways: Ways, named: dict[Position, str]) -> dict[Position, str]:
        """A label for every position on a way: its name, its expression, its node."""
        assert self.ran.program is not None
        place_of = places(self.ran.program)
        alive = ways.graph.alive
        words: dict[Position, str] = {}
        for number in reversed(ways.order):
            for position in sorted(ways.outputs[number]):
                if position in named:
                    continue
                place = place_of(alive[number])
                text = ""
                if place is not None:
                    text = (place.statement and place.target) or place.text
                if not text or len(text) > LONGEST:
                    text = short_name(alive[number])
                words[position] = text
        total: dict[str, int] = {}
        for text in words.values():
            total[text] = total.get(text, 0) + 1
        labels, count = dict(named), dict.fromkeys(total, 0)
        for position, text in words.items():
            count[text] += 1
            if total[text] > 1:
                whole = text if text.isidentifier() or text.endswith(")") else f"({text})"
                text = f"{whole}#{count[text]}"
            labels[position] = text
        return labels


def label_text(spot: Spot, several: bool) -> str:
    """The name, numbered where it stands for several tensors."""
    return f"{spot.name}#{spot.number}" if several else spot.name


def _spot(bound: Bound, earlier: list[Spot]) -> Spot | None:
    """What the binding of a tensor stands for at the end, where a gradient can reach it."""
    name, scope, clock, output_nr, key, held, _, turn = bound
    number = max(turn, earlier[-1].number + 1 if earlier else 1)
    if isinstance(node := key(), Tensor):
        tensor, node = node, grad_fn_of(node)
        if not tensor.requires_grad and not ends_a_graph(tensor):
            return None
        output_nr = tensor.output_nr
    else:
        tensor = held()
        if tensor is not None and grad_fn_of(tensor) is not node:
            tensor = None  # changed in place since
    facts = name, scope, number, node, output_nr, tensor, clock
    return tuple.__new__(Spot, facts)  # one of very many


def indexed(name: str) -> str:
    """`net.0.weight` as a program writes it: net[0].weight."""
    parts = name.split(".")
    return "".join(
        f"[{part}]" if part.isdigit() else f".{part}" if place else part
        for place, part in enumerate(parts)
    )
