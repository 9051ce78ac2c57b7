"""Recording: observes training: a row for each pass, a track for each leaf.

What it keeps does not grow with the number of passes: of their rows it holds the first and the
last, of each leaf sums, a curve of fixed length, and two copies of its numbers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import takewhile
from math import inf, sqrt
from typing import Any
from weakref import WeakKeyDictionary, ref

from ..engine.graph.observer import OfNodes
from ..engine.schema.origin import current_line
from ..engine.tensors.tensor import Tensor
from .captured_pass import CapturedPass
from .flow_tracks import Blocked, Key, Row, Track
from .holding import NESTING, tensors_in
from .measures import Measure, bytes_of, is_blank, measured, norm_of, unchanged, weight_of
from .names import loop_names
from .passes import Pass
from .recording import Recording
from .sides import (
    AnyTensor,
    has_numbers,
    is_leaf,
    is_parameter,
    mark_of,
    origin_of,
    shape_of,
    with_one_shape,
)
from .spectator import Spectator

ENDS = 1000  # passes that are held at each end
TRACKS = 10_000  # leaves that are followed
GONE = 1000  # leaves that no longer exist
NAMES = 100_000
ITEMS = 100  # of a container that is looked through
COPIES = 256 * 2**20  # bytes of leaves that are copied
SMALL, QUIET = 1e-4, 1e-3  # of the largest gradient of a pass, and of what came to operators
NEAR = 10  # nodes between a layer and the relu in front of it
CONTAINERS = frozenset({list, tuple, dict})


class Running:
    """A pass while it runs."""

    __slots__ = ("row", "sizes", "users", "blocked", "blockers", "beside", "live", "found",
                 "captured_pass")  # fmt: skip

    def __init__(self, row: Row) -> None:
        self.row = row
        self.sizes: dict[int, float] = {}  # what came to the operator that uses a leaf
        self.users: dict[int, Any] = {}  # where that operator stands
        self.blocked: dict[int, Blocked | None] = {}  # by whose work nothing but zeros comes
        self.blockers: dict[int, Blocked] = {}  # by the identity of their nodes
        self.beside: dict[int, tuple[Any, ...]] = {}  # nodes whose values such a node had, by it
        self.live: set[int] = set()
        self.found: dict[int, tuple[Track, Measure, int]] = {}  # the nearest to the root first
        self.captured_pass: CapturedPass | None = None  # nothing of it was read yet


class GradientFlow(Spectator):
    """Tracks and rows."""

    def __init__(self, recording: Recording) -> None:
        self.modules, self.optimizers = recording.modules, recording.optimizers
        self.births, self.leaf_names = recording.names, recording.leaf_names
        self.passing: frozenset[str] = frozenset()  # they mean one thing after the other
        self.wanted: int | None = None
        self.lost = 0
        self.first: list[Row] = []
        self.last: deque[Row] = deque(maxlen=ENDS)
        self.bad: Row | None = None  # the first with a NaN or an infinity
        self.running: list[Running] = []
        self.tracks: dict[int, Track] = {}  # by the identity of the leaf
        self.gone: list[Track] = []
        self.room = COPIES
        self.names: dict[int, tuple[Any, Key, int | None]] = {}
        self.latest: dict[Key, Track] = {}  # of a leaf that a name stands for, or stood for last
        self.scopes: dict[str, Any] = {}  # where a name was heard last
        self.made_in: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        self.one: dict[int, tuple[Measure, float]] = {}  # of the pass that is wanted, by the track
        self.one_row: Row | None = None
        self.one_changes: dict[int, float | None] = {}

    # ---- names

    def begin(self, machine: Any) -> None:
        self.passing = loop_names(machine.program.body, inner=True)
        for name, value in machine.globals.values.items():
            self._heard(None, name, value)

    def bound(self, name: str, value: Any) -> None:
        self._heard(None, name, value)

    def bound_inside(self, scope: Any, name: str, value: Any) -> None:
        self._heard(scope, name, value)

    def _heard(self, scope: Any, name: str, value: Any) -> None:
        if isinstance(value, AnyTensor):
            self._leaf(scope, name, value)
        elif type(value) in CONTAINERS and len(value) <= ITEMS:
            for path, tensor in tensors_in(name, value, AnyTensor, NESTING - 1):
                self._leaf(scope, path, tensor)

    def _leaf(self, scope: Any, name: str, tensor: Any) -> None:
        if not tensor.requires_grad or not is_leaf(tensor) or name in self.passing:
            return
        identity, key = id(tensor), (scope, name)
        if identity in self.names or len(self.names) >= NAMES:
            return
        known = ref(tensor, lambda _: self.names.pop(identity, None))
        self.names[identity] = known, key, current_line()
        track = self.latest.get(key)
        if track is None or identity in self.tracks or track.shape != shape_of(tensor):
            return
        if not (track.is_parameter or is_parameter(tensor)):
            self.renewed(track, tensor)

    def renewed(self, track: Track, tensor: Any) -> None:
        """`w = (w - 0.1 * g).detach().requires_grad_()`: the same leaf in the reader's eyes."""
        old = track.tensor()
        if old is not None:
            self.tracks.pop(id(old), None)
        elif track in self.gone:
            self.gone.remove(track)
        track.standing = None
        self._look(track, tensor)
        track.tensor = self._followed(tensor, track)

    # ---- leaves

    def _followed(self, tensor: Any, track: Track) -> Any:
        """From here on it is this leaf; when it goes, the track stays."""
        identity = id(tensor)

        def over(_: Any) -> None:
            if self.tracks.get(identity) is track:
                del self.tracks[identity]
                self._forget(track)

        self.tracks[identity] = track
        return ref(tensor, over)

    def _forget(self, track: Track) -> None:
        if track.known and self.latest.get(track.key) is not track:
            self.room += _room(track.start)
            track.known, track.start, track.before = False, None, None
        if len(self.gone) < GONE:
            self.gone.append(track)
        else:
            self.lost += 1

    def _track(self, tensor: Any) -> Track | None:
        if id(tensor) not in self.tracks and id(tensor) not in self.names:
            if not is_parameter(tensor) and (name := self.leaf_names.name_now(tensor)):
                # It came into a list or an object unheard.
                self._leaf(self.scopes.get(name), name, tensor)
        track = self.tracks.get(id(tensor))
        if track is None:
            if len(self.tracks) >= TRACKS:
                self.lost += 1
                return None
            _, key, line = self.names.get(id(tensor), (None, (None, ""), None))
            track = Track(tensor, key, line or self.births.of_birth(tensor))
            if not key[1]:
                track.made = self.births.made_by(tensor)
            track.tensor = self._followed(tensor, track)
            if key[1]:
                self.latest[key], self.scopes[key[1]] = track, key[0]
            room = _room(tensor)
            track.known = track.was_known = room <= self.room
            self.room -= room if track.known else 0
        return track

    def _look(self, track: Track, tensor: Any) -> bool:
        """Notes whether a leaf has changed since the last look."""
        ratio = track.look(tensor)
        if ratio != 0 and track.last_row is not None:
            track.last_row.moved(track, ratio)
            if track.last_row is self.one_row:
                self.one_changes[id(track)] = ratio
        return ratio != 0

    def changed(self, tensor: Any) -> None:
        track = self.tracks.get(id(tensor))
        if track is not None:
            track.changed_line = current_line()

    # ---- modules

    def made(self, tensor: Any) -> None:
        running = self.modules.running
        if running and type(tensor) is Tensor and tensor.grad_fn is not None:
            self.made_in[tensor.grad_fn] = running[-1]  # of other nodes their marks know it

    # ---- passes

    def began(self, one: Pass) -> None:
        row = Row(one)
        root = one.roots[0]
        row.root = None if root.grad_fn is None else origin_of(root.grad_fn)
        loss = with_one_shape(root)
        if loss.numel() == 1 and not loss.is_complex():
            row.loss = float(loss.detach().item())
        if len(self.first) < ENDS:
            self.first.append(row)
        else:
            self.last.append(row)
        self.running.append(Running(row))

    def applied(self, node: Any, grads: tuple[Any, ...], results: Sequence[Any]) -> None:
        """Follows zeros to where they were born, and what came to the operators of leaves."""
        if self.running:
            self._follow(self.running[-1], node, grads, results)

    def _follow(
        self, now: Running, node: Any, grads: tuple[Any, ...], results: Sequence[Any]
    ) -> None:
        size = now.sizes.pop(id(node), None)
        dead = now.blocked.pop(id(node), None)
        silent: bool | None = None
        for (child, _), result in zip(node.next_functions, results, strict=False):
            if child is None or result is None:
                continue
            leaf = getattr(child, "variable", None)
            key = id(child) if leaf is None else id(leaf)
            if not is_blank(result):
                now.live.add(key)
            elif key not in now.blocked:
                if silent is None:
                    silent = all(grad is None or is_blank(grad) for grad in grads)
                now.blocked[key] = dead if silent else self._blocked(now, node, grads)
            if leaf is not None or _moves(child):
                size = weight_of(grads) if size is None else size
                now.sizes[key] = max(size, now.sizes.get(key, 0.0))
                now.users[key] = origin_of(node)

    def of_nodes(self, *, at_once: bool = False) -> OfNodes:
        """Where zeros were born is looked for only where some have come."""
        if at_once and self.running:
            return OfNodes([], [], [], [self._read_captured], hands=True)
        return super().of_nodes()

    def _read_captured(self, captured: CapturedPass) -> None:
        now = self.running[-1]
        now.captured_pass = captured
        for node, _, leaf in captured.before_leaves():
            now.users[id(leaf)] = origin_of(node)

    def _looked_into(self, now: Running) -> None:
        """From here on what came to each node is known."""
        if now.captured_pass is not None:
            captured, now.captured_pass = now.captured_pass, None
            for node, grads, results in captured.steps():
                self._follow(now, node, grads, results)

    def _blocked(self, now: Running, node: Any, grads: tuple[Any, ...]) -> Blocked:
        found = now.blockers.get(id(node))
        if found is None:
            mark = mark_of(node)
            module = self.made_in.get(node) if mark is node else mark.module
            found = Blocked(node, module, weight_of(grads))
            now.blockers[id(node)] = found
            now.beside[id(found)] = tuple(child for child, _ in node.next_functions)
        return found

    def accumulated(self, variable: Any, grad: Any) -> None:
        if variable.is_leaf:
            self._reached(variable, grad, captured=False)

    def captured(self, node: Any, place: int, grad: Any) -> None:
        variable = getattr(node, "variable", None)
        if variable is not None:
            self._reached(variable, grad, captured=True)

    def _reached(self, variable: Any, grad: Any, *, captured: bool) -> None:
        track = self._track(variable)
        if track is None or not self.running:
            return
        now = self.running[-1]
        key = id(variable)
        changed = self._look(track, variable)
        if captured:
            track.captured = True
        else:
            track.adds(variable, now.row, changed)
        track.origin = now.users.get(key)
        track.is_root = any(root is variable for root in now.row.one.roots)
        is_wanted = now.row.one.number == self.wanted
        found = measured(grad, largest=is_wanted)
        if found.zeros == found.size:
            self._looked_into(now)
        if not track.passes:
            track.size = norm_of(variable)
        track.arrived(now.row, found, None if key in now.live else now.blocked.get(key))
        now.row.reached(track, found.norm)
        now.found[key] = track, found, key
        if found.bad and self.bad is None:
            self.bad = now.row
        if is_wanted:
            self.one_row = now.row
            self.one[id(track)] = found, norm_of(variable)

    def over(self, one: Pass, freed: list[Any]) -> None:
        over = self.running.pop()
        if one.failed:
            return
        self._compare(over)
        for track, *_ in over.found.values():
            if track.blocked is not None:
                track.blocked = _behind(track.blocked, over)

    def _compare(self, over: Running) -> None:
        """Which leaves were small beside the others of this pass, nearer to the root or farther?"""
        levels = [
            (track, one.norm / sqrt(one.size or 1), key)
            for track, one, key in over.found.values()
            if self._is_trained(track)
        ]
        if len(levels) < 2:
            return
        loudest = max(level for _, level, _ in levels)
        if not any(0 < level < SMALL * loudest for _, level, _ in levels):
            return
        if not any(0 <= levels[end][1] < SMALL * loudest for end in (0, -1)):
            return  # one that is small between others is small by its own doing
        sizes = over.sizes if over.captured_pass is None else _sizes(over.captured_pass)
        found = [(track, level, sizes.get(key, 0.0)) for track, level, key in levels]
        its_place = max(range(len(found)), key=lambda place: found[place][1])
        louder, largest, _ = found[its_place]
        most = max(size for _, _, size in found)
        if not largest < inf:
            return

        def small(entry: tuple[Track, float, float]) -> bool:
            return entry[1] < SMALL * largest and entry[2] < QUIET * most

        for track, level, *_ in takewhile(small, reversed(found[its_place + 1 :])):
            if level:
                track.louder = louder
                track.faint += 1
                track.faint_first |= track.passes == 1
        for track, level, *_ in takewhile(small, found[:its_place]):
            if level:
                track.louder = louder
                track.under += 1
                track.under_first |= track.passes == 1

    def _is_trained(self, track: Track) -> bool:
        """What is changed from pass to pass; of the first one it is unknown yet."""
        if track.is_parameter or track.updates or track.passes == 1:
            return True
        tensor = track.tensor()
        return tensor is not None and self.optimizers.of(tensor) is not None

    # ---- the end

    def finished(self) -> None:
        """The program has run: what has changed since the last pass?"""
        for track in list(self.tracks.values()):
            tensor = track.tensor()
            if tensor is None or not track.known or track.start is None:
                continue
            self._look(track, tensor)
            if track.start.size and has_numbers(tensor):
                track.unchanged = unchanged(track.start, tensor) / track.start.size


def _moves(node: Any) -> bool:
    """Whether it only lays its gradient out anew, as the transpose of a weight does."""
    row = getattr(node, "row", None)
    return row is not None and bool(row.view)


def _sizes(captured: CapturedPass) -> dict[int, float]:
    """What came to the operators that use the leaves."""
    found: dict[int, float] = {}
    sizes: dict[int, float] = {}
    for node, place, leaf in captured.before_leaves():
        following = node.next_functions
        if captured.passed(node, following)[place] is not None:
            if id(node) not in sizes:
                sizes[id(node)] = weight_of(captured.given(node))
            found[id(leaf)] = max(sizes[id(node)], found.get(id(leaf), 0.0))
    return found


def _behind(blocked: Blocked, over: Running) -> Blocked:
    """A product is blocked where its other factor is 0; if that is because nothing passes through
    there either, that is where to look: the relu in front of a layer."""
    for node in over.beside.get(id(blocked), ()):
        for _ in range(NEAR):
            if node is None:
                break
            if id(node) in over.blockers:
                return over.blockers[id(node)]
            edges = node.next_functions
            node = edges[0][0] if len(edges) == 1 else None
    return blocked


def _room(value: Any) -> int:
    """Bytes of two copies."""
    return 2 * bytes_of(value)
