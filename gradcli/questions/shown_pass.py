"""Questions: the pass that a picture shows: its roots, what was computed, what flowed in it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any

from ..diagnostics import Enough
from ..engine.graph.node import Node
from ..opening import UsageError
from ..options import EVERY_PASS
from ..pipeline.request import Ran
from ..recording.collect import Collected, results as unused
from ..recording.facts import FlowFact, Nested, RootFact, ShownPass, nodes_below
from ..recording.holding import Named
from ..recording.numbers import range_of, text_of
from ..recording.passes import Ends, Pass, Passes
from ..recording.recording import Recording
from ..recording.sides import edge_of, mark_of, sides
from ..recording.snapshot import Summary, restored, snapshot, snapshot_text
from ..recording.spectator import Spectator
from .graph import place_reader

Modules = Callable[[Any], str]

AT_EACH_END = 50  # passes at each end of a run, where every pass is requested


def keep(passes: Passes, number: int | None) -> None:
    """A run shall keep the pass with this number, else the last one, or of every pass both ends."""
    if number == EVERY_PASS:
        passes.keep(AT_EACH_END, AT_EACH_END)
    else:
        passes.keep(0, 1, None if number is None else (number,))


class Stop(Spectator):
    """Stops the run behind the pass with this number, or the first pass behind so many nodes: it
    is a second run, of a program that has `count` passes."""

    def __init__(self, number: int | None, count: int, nodes: int = 0) -> None:
        self.number, self.count, self.nodes = number, count, nodes
        self.behind: Pass | None = None  # where it stopped

    @property
    def place(self) -> int | None:
        """The number of the pass, known once it has stopped."""
        return self.number if self.behind is None else self.behind.number

    def over(self, one: Pass, freed: list[Any]) -> None:
        if self.behind is not None or one.failed or one.nodes < self.nodes:
            return
        if self.number in (None, one.number):
            self.behind = one
            raise Enough


def chosen(passes: Passes, number: int | None) -> Pass | None:
    """The pass with this number, else the last one; None where the program has none."""
    if number is None:
        return passes.kept[max(passes.kept)] if passes.kept else None
    if number not in passes.kept:
        raise UsageError(f"--pass {number}: {passes_there(passes.count)}")
    return passes.kept[number]


def chosen_passes(passes: Passes, number: int | None) -> tuple[Pass, ...]:
    """Every pass that is kept, or the one that is chosen."""
    if number == EVERY_PASS:
        return tuple(passes.kept.values())
    one = chosen(passes, number)
    return () if one is None else (one,)


def seeds_of(one: Pass) -> tuple[Nested | None, ...]:
    """The gradients that a pass began with, as numbers; None for a large one."""
    return tuple(snapshot_text(restored(seed), full=True).value for seed in one.seeds)


def passes_there(count: int) -> str:
    """How many passes the program has, as a sentence."""
    if not count:
        return "there is no backward pass"
    return f"there {'is one backward pass' if count == 1 else f'are {count:,} backward passes'}"


def root_nodes(one: Pass | None) -> tuple[tuple[Any, int], ...]:
    """Where a pass began: nodes, and of which output."""
    if one is None:
        return ()
    found = []
    for tensor in one.roots:
        node = edge_of(tensor)
        if node is not None:
            found.append((node, tensor.output_nr))
    return tuple(dict.fromkeys(found))


def roots_of(one: Pass, found: Collected, names: Callable[[Any], str | None]) -> list[RootFact]:
    """The roots of a pass, by the names that they have or had."""
    numbers = found.numbers
    by_place = {
        (fact.node, fact.output_nr): at
        for at, fact in reversed(list(enumerate(found.tensors)))
        if fact.node is not None
    }
    roots = []
    for node, output_nr in root_nodes(one):
        number = numbers[id(node)]
        at = by_place.get((number, output_nr))
        name = found.tensors[at].name if at is not None else names(node) or ""
        roots.append(RootFact(number, output_nr, name, at))
    return roots


def without_a_pass(found: Collected, ends: Ends, roots: list[RootFact]) -> Iterator[RootFact]:
    """Results that nothing else uses and that no pass began at or came through."""
    alive, rooted = found.alive, ends.rooted
    if all(
        fact.grad_fn is None or fact.node is None or mark_of(alive[fact.node]) in rooted
        for fact in found.tensors
    ):
        return  # as in most programs: what follows looks at every node
    inside = set(nodes_below(found.nodes, (root.node for root in roots)))
    for at in unused(found.tensors, found.nodes):
        fact = found.tensors[at]
        assert fact.node is not None
        if fact.node not in inside and mark_of(alive[fact.node]) not in rooted:
            yield RootFact(fact.node, fact.output_nr, fact.name, at)


def flows(
    recording: Recording, one: Pass | None, found: Collected, modules: Modules,
    *, full: bool, below: Container[int] | None = None,
) -> tuple[FlowFact, ...]:  # fmt: skip
    """What was computed at each node (or at those `below` a pass), and what flowed into it in the
    pass; leaves too, by the names that they had."""
    numbers = found.numbers
    facts = []
    entries = {**recording.values.last, **recording.values.first}
    remade = _remade(recording, one, {key: entry.value for key, entry in entries.items()})
    for entry in entries.values():
        number = numbers.get(id(entry.node))
        if number is None or (below is not None and number not in below):
            continue
        key = id(entry.node), entry.output_nr
        grad = snapshot_text(restored(one.flows.get(key)) if one else None, full=full)
        held = remade(entry.node, entry.output_nr) if entry.value is None else restored(entry.value)
        value = snapshot_text(held, full=full)
        shape = grad.shape if held is None else value.shape
        facts.append(FlowFact(
            number, entry.output_nr, shape, value.text, grad.text, value.range, grad.range,
            value.value, grad.value, module=modules(entry.module),
            name=recording.names.called_inside(found.alive[number]),
            dtype=value.dtype or grad.dtype,
        ))  # fmt: skip
    leaves = {id(leaf.tensor): leaf for leaf in found.former}
    ends, numbers = _ends(one, found)
    standing = {fact.node for fact in found.tensors}  # without a pass these say all that is known
    if one is not None:
        known = {(f.node, f.output_nr) for f in facts}
        facts.extend(_without_a_value(one, found, known, remade, full))
        facts.extend(_leaves(recording, one, found, numbers, leaves, full))
        standing = {fact.node for fact in facts}
    facts.extend(_unreached(found, ends, standing, leaves, full))
    return tuple(sorted(facts, key=attrgetter("node", "output_nr")))


def _remade(
    recording: Recording, one: Pass | None, values: Mapping[tuple[int, int], Any]
) -> Callable[[Any, int], Any]:
    """What computes a result of a node of PyTorch's that nobody saw, from those that are known; it
    gives None where it can't."""
    leaves = {} if one is None else {**one.beside, **one.leaves}
    if one is not None:
        roots = {(id(root.grad_fn), root.output_nr): one.began.get(id(root)) for root in one.roots}
        values = {**roots, **values}

    def known(node: Any, output_nr: int) -> Any:
        variable = getattr(node, "variable", None)
        if variable is None:
            held = restored(values.get((id(node), output_nr)))
        else:
            held = restored(leaves.get(id(variable), (None, None))[1])
        return None if isinstance(held, Summary) else held

    def operand(node: Any, place: int) -> Any:
        held = (restored(one.value) for one in recording.constants.of(node) or ()
                if one.edge == place)  # fmt: skip
        return next((value for value in held if not isinstance(value, Summary)), None)

    def remade(node: Any, output_nr: int) -> Any:
        live = None if node.__class__ is Node else sides.live
        if live is None:
            return None
        made = known(node, output_nr)
        if made is None:
            made = live.made_again(node, output_nr, known, operand)
        return None if made is None else restored(snapshot(made))

    return remade


def _ends(one: Pass | None, found: Collected) -> tuple[list[int], Mapping[int, int]]:
    """Every node that ends in a leaf, and by the identities of leaves those of the pass: after
    net.double() later graphs end in others."""
    alive, numbers = found.alive, found.leaves
    ends = [fact.id for fact in found.nodes
            if not fact.next and hasattr(alive[fact.id], "variable")]  # fmt: skip
    if len(ends) > len(numbers):
        roots = (
            found.numbers[id(node)] for node, _ in root_nodes(one) if id(node) in found.numbers
        )
        inside = set(nodes_below(found.nodes, roots))
        numbers = {**numbers, **{id(alive[end].variable): end for end in ends if end in inside}}
    return ends, numbers


def _without_a_value(
    one: Pass, found: Collected, known: set[tuple[int, int]], remade: Callable[[Any, int], Any],
    full: bool,
) -> Iterator[FlowFact]:  # fmt: skip
    """What flowed at nodes whose results were not seen."""
    named = {(fact.node, fact.output_nr): fact for fact in found.tensors if not fact.is_leaf}
    for (identity, output_nr), gradient in one.flows.items():
        number = found.numbers.get(identity)
        if number is not None and (number, output_nr) not in known:
            grad, fact = (
                snapshot_text(restored(gradient), full=full),
                named.get((number, output_nr)),
            )
            text, span, value = (fact.text, fact.range, fact.value) if fact else ("", None, None)
            held = None if fact else remade(found.alive[number], output_nr)
            if held is not None:
                _, text, span, value, _ = snapshot_text(held, full=full)
            yield FlowFact(number, output_nr, grad.shape, text, grad.text, span, grad.range,
                           value, grad.value, dtype=grad.dtype)  # fmt: skip


def _unreached(
    found: Collected, ends: Iterable[int], known: Container[int | None],
    leaves: Mapping[int, Named], full: bool,
) -> Iterator[FlowFact]:  # fmt: skip
    """Leaves of the graph to which the pass brought nothing, with the values that they have."""
    for number in ends:
        if number not in known:
            variable = found.alive[number].variable
            value = snapshot_text(restored(snapshot(variable)), full=full)
            yield FlowFact(number, 0, value.shape, value.text, None, value.range, value=value.value,
                           dtype=value.dtype, **_called(leaves.get(id(variable))))  # fmt: skip


def _leaves(
    recording: Recording, one: Pass, found: Collected, numbers: Mapping[int, int],
    leaves: Mapping[int, Named], full: bool,
) -> Iterator[FlowFact]:  # fmt: skip
    standing = {fact.name: at for at, fact in reversed(list(enumerate(found.tensors)))}
    beside = {
        identity: (variable, before, None) for identity, (variable, before) in one.beside.items()
    }
    for identity, (variable, before, gradient) in {**beside, **one.leaves}.items():
        number = numbers.get(identity)
        if number is None:
            continue
        before, now = restored(before), restored(snapshot(variable))
        value, grad = snapshot_text(before, full=full), snapshot_text(restored(gradient), full=full)
        line = recording.lines.of_change(variable)
        stood = identity in leaves and identity in one.leaves and identity not in one.astray
        if stood and not recording.names.is_inner(variable):
            at = standing.get(leaves[identity].name)
            if at is not None and found.held[at] is not variable:
                again = restored(snapshot(found.held[at]))
                if again.shape == before.shape:  # the name was bound again
                    now, line = again, found.tensors[at].line
        later = later_range = None
        if _differs(before, now):
            later, later_range = ("", now.range) if isinstance(now, Summary) else (
                text_of(now), range_of(now))  # fmt: skip
        else:
            line = None
        yield FlowFact(
            number, 0, value.shape, value.text, grad.text, value.range, grad.range,
            value.value, grad.value, later, later_range, line, **_called(leaves.get(identity)),
            dtype=value.dtype,
        )  # fmt: skip


def _called(leaf: Named | None) -> dict[str, Any]:
    """What a leaf was called, and the line that made it."""
    return {} if leaf is None else {"name": leaf.name, "line": leaf.line}


def _differs(before: Any, now: Any) -> bool:
    if isinstance(before, Summary) or isinstance(now, Summary):
        return bool(before != now)
    if before.shape != now.shape:
        return True
    alike = before.dtype == now.dtype and before.device == now.device
    if alike and before.numel() == 1 and (number := before.item()) and number == now.item():
        return False  # a number other than zero, whose text needs not be written to be compared
    return text_of(before) != text_of(now)


def shown(ran: Ran, one: Pass | None) -> ShownPass | None:
    """Which pass it is, by the words of the call that ran it; where none is told about, the one
    behind which the run stopped."""
    stop = ran.recording.find(Stop)
    which = stop.behind if one is None and stop is not None else one
    if which is None or ran.program is None:
        return None
    place = place_reader(ran.program)(which.origin)
    line, text = (None, "") if place is None else (place.line, place.text)
    count = ran.recording.passes.count if stop is None else stop.count
    return ShownPass(which.number, count, line, text, which.failed, one is None)
