"""Questions: the listed paths as facts: derivatives, products, shares; dense matrices too."""

from __future__ import annotations

from math import inf, prod
from typing import Any

from ...autograd import grad as autograd_grad
from ...engine.graph.leaf import asked_for
from ...engine.tensors.tensor import Tensor, from_array, plain
from ...named import NamedTuple
from ...opening import UsageError
from ...pipeline.request import Ran
from ...pipeline.values import grad_output
from ...recording.facts import Nested
from ...recording.facts.paths import PathFact, StepFact
from ...recording.numbers import numbers, range_of
from .chain import Chain, number_of, share_of, size_of
from .graph import Position
from .structure import structure
from .unknown import Unknown

CANDIDATES = 256  # paths of tensors that are worked out before the largest are chosen
WORK = 200_000  # steps of paths that are worked out for that
DENSE = 1_000_000  # elements of a Jacobian that is written out
DENSE_STEP = 10_000
MANY = 64  # numbers of a gradient on the way that are all printed
SHOWN = 6  # steps at each end of a path whose gradients are kept

NOT_SCALAR = "grad can be implicitly created only for scalar outputs"


class Seeds:
    """The gradients that paths start with: one, or one for each row of a Jacobian."""

    def __init__(
        self, of: Tensor, wrt: Tensor, seed: Any, jacobian: bool,
        element: tuple[int, ...] | None,
    ) -> None:  # fmt: skip
        self.kind = of._kind
        self.of, self.wrt = of, wrt
        # Leaves that reverse mode goes to as well: hooks of the program count on all gradients.
        self.others: list[Tensor] = []
        self.jacobian = jacobian
        self.inner: tuple[int, ...] | None = None
        size, shape = of.numel(), tuple(of.shape)
        if jacobian:
            if size * wrt.numel() > DENSE:
                raise UsageError(f"--jacobian: {size:,} x {wrt.numel():,} numbers are too many",
                               "--element takes one of them")  # fmt: skip
            self.arrays = [self._one_hot(place) for place in range(size)]
        elif element is not None:
            outer, self.inner = _split(element, shape, tuple(wrt.shape))
            place = 0
            for index, length in zip(outer, shape, strict=True):
                place = place * length + index
            self.arrays = [self._one_hot(place)]
        elif isinstance(seed, str):
            self.arrays = [grad_output(seed, of)._data]
        elif seed is not None:
            self.arrays = [seed]
        elif size != 1:
            raise RuntimeError(NOT_SCALAR)
        else:
            self.arrays = [self._one_hot(0)]

    def _one_hot(self, place: int) -> Any:
        array = self.kind.xp.zeros(self.of.numel(), dtype=self.kind.array_dtype)
        array[place] = 1
        return array.reshape(tuple(self.of.shape))

    def reverse(self) -> tuple[Nested | None, str]:
        """What reverse mode says, hooks of the program included; None where nothing arrives."""
        with asked_for(self.wrt):
            found = [
                autograd_grad(self.of, [self.wrt, *self.others], plain(array, self.kind),
                              retain_graph=True, allow_unused=True)[0]
                for array in self.arrays
            ]  # fmt: skip
        if all(gradient is None for gradient in found):
            return None, "None"
        return self.shown([None if g is None else g._data for g in found])

    def shown(self, rows: list[Any], few: bool = True) -> tuple[Nested | None, str]:
        """Gradients, one for each seed, as what was requested: numbers (where they are not too
        many in all), and their text."""
        kind = self.wrt._kind
        shape = tuple(self.wrt.shape)
        full = [kind.xp.zeros(shape, dtype=kind.array_dtype) if row is None else row
                for row in rows]  # fmt: skip
        if self.inner is not None:
            value = full[0][self.inner].item()
            return value, f"{value:.6g}" if isinstance(value, float) else str(value)
        if self.jacobian:
            stacked = kind.xp.stack([kind.xp.asarray(row) for row in full])
            whole = from_array(stacked.reshape((*self.of.shape, *shape)))
        else:
            whole = from_array(kind.xp.asarray(full[0]))
        if whole.numel() == 1 and not self.jacobian:
            return whole.item(), repr(whole)
        return numbers(whole) if few else None, repr(whole)


def _rank(size: float) -> float:
    """Sorts the largest first, and what differs in its last bits alone as equals."""
    return -float(f"{size:.6g}") if size == size else -inf


def _tensor_text(tensor: Tensor) -> str:
    """What PyTorch prints; of many numbers their shape and range."""
    if tensor.numel() <= MANY:
        return repr(tensor)
    ends = range_of(tensor)
    of = "" if ends is None else "abs " * (ends.of == "abs")
    told = "" if ends is None else f", {of}{ends.low:.4g} to {ends.high:.4g}"
    return f"shape {list(tensor.shape)}{told}"


def _split(
    element: tuple[int, ...], of: tuple[int, ...], wrt: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """An index of the Jacobian, whose shape is the result's and the tensor's one after the other;
    a result of one element needs no index."""
    if prod(of) == 1 and len(element) == len(wrt):
        element = (*(0 for _ in of), *element)
    shape = (*of, *wrt)
    given = ",".join(map(str, element))
    if len(element) != len(shape):
        needs = f"the Jacobian has shape {list(shape)}"
        raise UsageError(f"--element {given}: expected {len(shape)} numbers, since {needs}")
    for index, length in zip(element, shape, strict=True):
        if not -length <= index < length:
            raise UsageError(
                f"--element {given}: out of range for a Jacobian of shape {list(shape)}"
            )
    positive = tuple(i % n for i, n in zip(element, shape, strict=True))
    return positive[: len(of)], positive[len(of) :]


class ListedPaths(NamedTuple):
    """The listed paths, and what holds for all of them; `scale` is how large its parts are."""

    single: bool
    paths: tuple[PathFact, ...]
    total: Nested | None
    total_text: str
    scale: float
    by_estimate: bool = False
    unknown: bool = False
    raw: Any = None  # the sum as the array it is


class Facts:
    """Turns the paths of a chain into facts."""

    def __init__(
        self, chain: Chain, words: dict[Position, str], seeds: Seeds, ran: Ran, top: int
    ) -> None:
        self.chain, self.seeds, self.top = chain, seeds, top
        self.words = [words[position] for position in chain.stops]
        self.unknown = Unknown(ran, chain.ways) if ran.missing else None
        self.structures: dict[tuple[int, int], str] = {}

    def all(self) -> ListedPaths:
        """The listed paths and the sum of all."""
        if self.chain.single and not self.seeds.jacobian:
            return self._single()
        if self.unknown is not None:
            return ListedPaths(False, (), None, "?", 0.0, unknown=True)
        return self._tensors()

    # ---- numbers

    def _single(self) -> ListedPaths:
        chain = self.chain
        seed = number_of(self.seeds.arrays[0])
        total, scale = chain.total
        total, scale = total * seed, scale * abs(seed)
        paths = chain.best(chain.factors, self.top)
        unknown = self.unknown
        facts = []
        for path in paths:
            stops = chain.stops_of(path)
            steps = []
            for stop, place in zip(stops, path, strict=False):
                known = unknown is None or self._known(stop, place)
                factor = chain.factors[stop][place]
                steps.append(StepFact(factor if known else None, known))
            names = tuple(self.words[stop] for stop in stops)
            if all(step.known for step in steps):
                product = seed * prod(step.derivative or 0.0 for step in steps)
                share = share_of(product, total) if unknown is None else None
                against = product * total < 0 or (not total and product != 0)
                facts.append(PathFact(names, tuple(steps), product, share, against))
            else:
                facts.append(PathFact(names, tuple(steps), None, None))
        if unknown is not None and any(path.product is None for path in facts):
            return ListedPaths(True, tuple(facts), None, "?", 0.0, unknown=True)
        facts.sort(key=lambda fact: _rank(abs(fact.product)))  # type: ignore[arg-type]
        return ListedPaths(True, tuple(facts), total, f"{total:.6g}", scale)

    def _known(self, stop: int, place: int) -> bool:
        """Whether an edge's derivative is the same whatever the missing inputs are."""
        assert self.unknown is not None
        chain = self.chain
        start, end = chain.stops[stop], chain.stops[chain.edges[stop][place]]
        if chain.by_edges:
            return not self.unknown.of(start[0], chain.input_of(stop, place))
        return all(not self.unknown.of(number, at) for number, at in self._between(start, end))

    # ---- tensors

    def _tensors(self) -> ListedPaths:
        chain, seeds = self.chain, self.seeds
        rows, gains = [], [[0.0] * len(edges) for edges in chain.edges]
        for array in seeds.arrays:
            total, gained = chain.flow(array)
            rows.append(total)
            for sums, row in zip(gains, gained, strict=True):
                for place, gain in enumerate(row):
                    sums[place] += gain
        count, longest = chain.extent
        most = max(self.top, min(CANDIDATES, WORK // max(1, longest * len(rows))))
        paths = chain.best(gains, most) if self.top else []
        carried = [chain.carried(paths, array) for array in seeds.arrays]
        square = sum(self._product(row, row) for row in rows)
        sized = []
        for number in range(len(paths)):
            ends = [walk[number][-1] for walk in carried]
            size = sum(self._product(end, end) for end in ends)
            along = sum(self._product(end, row) for end, row in zip(ends, rows, strict=True))
            sized.append((_rank(size), paths[number], size, number, along))
        sized.sort()
        facts = []
        few = len(sized[: self.top]) * len(rows) * seeds.wrt.numel() <= DENSE
        for _, _, size, number, along in sized[: self.top]:
            ends = [walk[number][-1] for walk in carried]
            facts.append(PathFact(
                tuple(self.words[stop] for stop in chain.stops_of(paths[number])),
                self._steps(paths[number], carried[0][number]), seeds.shown(ends, few)[0],
                share_of(along, square), along < 0 or (not square and size != 0),
            ))  # fmt: skip
        value, text = seeds.shown(rows)
        scale = self._scale(gains)
        return ListedPaths(
            False, tuple(facts), value, text, scale, count > len(paths) > 0, raw=rows[0]
        )

    def _product(self, one: Any, other: Any) -> float:
        """The inner product of two gradients, or of what they have at the element asked for."""
        if one is None or other is None:
            return 0.0
        if self.seeds.inner is not None:
            return float((one[self.seeds.inner] * other[self.seeds.inner].conj()).real)
        kind = "complex128" if one.dtype.kind == "c" else "float64"
        flat = one.reshape(-1).astype(kind) * other.reshape(-1).astype(kind).conj()
        return float(flat.sum().real)

    def _scale(self, gains: list[list[float]]) -> float:
        """How large the parts of the sum may be before they cancel."""
        chain = self.chain
        sizes = [0.0] * len(chain.stops)
        sizes[0] = sum(size_of(array) for array in self.seeds.arrays)
        for stop, edges in enumerate(chain.edges):
            for to, gain in zip(edges, gains[stop], strict=True):
                sizes[to] += sizes[stop] * gain
        return sizes[-1]

    def _steps(self, path: list[int], grads: list[Any]) -> tuple[StepFact, ...]:
        chain = self.chain
        stops = chain.stops_of(path)
        steps = []
        for number, (stop, place) in enumerate(zip(stops, path, strict=False)):
            before, after = chain.models[stop], chain.models[stops[number + 1]]
            shape = (before.size, after.size) if before is not None and after is not None else None
            near = number < SHOWN or number >= len(path) - SHOWN
            grad = grads[number] if near and not self.seeds.jacobian else None
            held = None if grad is None else from_array(self.seeds.kind.xp.asarray(grad))
            few = held is not None and held.numel() <= DENSE_STEP
            dense = self._dense(stop, place, shape) if self.seeds.jacobian and near else None
            single = shape == (1, 1) and chain.models[stop].dtype.kind == "f"
            steps.append(StepFact(
                self._number(stop, place) if single else None, True, self._structure(stop, place),
                shape, numbers(held) if few else None,
                "" if held is None else _tensor_text(held),
                None if dense is None else numbers(dense), "" if dense is None else repr(dense),
            ))  # fmt: skip
        return tuple(steps)

    def _number(self, stop: int, place: int) -> float:
        chain = self.chain
        return number_of(chain.through(stop, chain.one(chain.models[stop]))[place])

    def _dense(self, stop: int, place: int, shape: tuple[int, int] | None) -> Tensor | None:
        """The Jacobian of one edge: a row for each element above, a column for each one below."""
        chain = self.chain
        if shape is None or shape[0] * shape[1] > DENSE_STEP:
            return None
        before, after = chain.models[stop], chain.models[chain.edges[stop][place]]
        xp = self.seeds.kind.xp
        rows = []
        for i in range(shape[0]):
            seed = xp.zeros(shape[0], dtype=before.dtype)
            seed[i] = 1
            row = chain.through(stop, seed.reshape(before.shape))[place]
            rows.append(xp.zeros(after.shape, dtype=after.dtype) if row is None else row)
        return from_array(xp.stack(rows).reshape(shape))

    # ---- the nodes of an edge

    def _structure(self, stop: int, place: int) -> str:
        known = self.structures.get((stop, place))
        if known is not None:
            return known
        chain = self.chain
        to = chain.edges[stop][place]
        start, end = chain.stops[stop], chain.stops[to]
        if chain.by_edges:
            pairs = [(start[0], chain.input_of(stop, place))]
        else:
            pairs = self._between(start, end)
        alive = chain.ways.graph.alive
        before, after = chain.models[stop], chain.models[to]
        shapes = [() if model is None else tuple(model.shape) for model in (before, after)]
        on_edge = [(alive[number], at) for number, at in pairs]
        words = structure(on_edge, shapes[0], shapes[1])
        self.structures[stop, place] = words
        return words

    def _between(self, start: Position, end: Position) -> list[tuple[int, int]]:
        """(node, input) of everything that lies on an edge, from the result on."""
        chain = self.chain
        ways, stops = chain.ways, chain.number
        users: dict[Position, list[tuple[int, int]]] = {}
        pending, seen = [start[0]], {start[0]}
        for number in pending:
            for place in ways.inputs[number]:
                edge = ways.graph.next[number][place]
                assert edge is not None
                users.setdefault(edge if edge in stops else (edge[0], -1), []).append(
                    (number, place)
                )
                if edge not in stops and edge[0] not in seen:
                    seen.add(edge[0])
                    pending.append(edge[0])
        found = list(users.get(end, ()))
        met = set(found)
        for number, _ in found:
            for user in users.get((number, -1), ()):
                if user not in met:
                    met.add(user)
                    found.append(user)
        return sorted(found, key=lambda user: (ways.rank[user[0]], user[1]))
