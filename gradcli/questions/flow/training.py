"""Questions: a training run as verdicts read it: leaves by name, optimisers, the text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ...language.classes import is_instance
from ...language.program import Program
from ...pipeline.request import Ran
from ...recording.facts import Place
from ...recording.flow_tracks import Blocked, Track
from ...recording.gradient_flow import GradientFlow
from ...recording.holding import first_name, named_tensors
from ...recording.optimizers import Optimizer, rate_of
from ...recording.sides import AnyTensor, is_leaf, is_parameter, node_of, shape_of
from ..graph import module_names, module_tensors, place_reader


class Leaf(NamedTuple):
    """A leaf with a name; without a track no pass reached it. `owner` is the name that holds it,
    `before` are the optimizers that there were when it was made."""

    name: str
    line: int | None
    shape: tuple[int, ...]
    is_parameter: bool
    track: Track | None
    optimiser: Optimizer | None
    before: list[Optimizer]
    rate: float | None  # with which that one changes it now

    @property
    def owner(self) -> str:
        return first_name(self.name)


class Training:
    """What a run left: `leaves` in the order of their names, `others` without one."""

    def __init__(self, ran: Ran, flow: GradientFlow) -> None:
        assert ran.program is not None
        assert ran.outcome is not None
        self.ran, self.flow = ran, flow
        self.bindings = ran.recording.names.reached(ran.outcome.bindings)
        self.optimizers = ran.recording.optimizers
        self.place: Callable[[Any], Place | None] = place_reader(ran.program)
        self.leaves: list[Leaf] = []
        self._names: dict[int, str] = {}
        self._by_tensor: dict[int, str] = {}
        self._list()
        tracks = (*flow.tracks.values(), *flow.gone)
        self.others = flow.lost + sum(id(track) not in self._names for track in tracks)
        self.read = _gradients_read(ran.program)

    def name_of(self, track: Track) -> str:
        """What a leaf is called."""
        return self._names.get(id(track), "(a tensor without a name)")

    def where(self, blocked: Blocked) -> tuple[str, int | None]:
        """The expression that lets nothing through, in its module, and its line."""
        place, module = self.place(blocked.origin), blocked.module
        if place is None:
            return blocked.name, None
        if module is None or is_instance(module):
            return place.text, place.line
        path = module_names(self.bindings).get(id(module), "")
        return f"{type(module).__name__} {path}".rstrip(), place.line

    # ---- names

    def _list(self) -> None:
        flow, taken = self.flow, dict[str, int]()
        for name, line, tensor in self._named():
            if id(tensor) in self._by_tensor:
                continue
            self._by_tensor[id(tensor)] = name
            _, _, line = flow.names.get(id(tensor), (None, None, line))  # the line that made it
            track = flow.tracks.get(id(tensor)) or self._before(name, tensor)
            self._add(name, line, tensor, track)
            taken[name] = 1
        made = {(leaf.line, leaf.shape) for leaf in self.leaves if leaf.is_parameter}
        for track in sorted((*flow.tracks.values(), *flow.gone), key=_first_pass):
            if id(track) in self._names or self._is_anew(track, made):
                continue
            name, tensor = self._words(track), track.tensor()
            if track.name:
                count = taken[track.name] = taken.get(track.name, 0) + 1
                name = track.name if count == 1 else f"{track.name}#{count}"
                name = (tensor is not None and self._numbered(tensor, track.name)) or name
            if name:
                if tensor is not None:
                    self._by_tensor[id(tensor)] = name
                self._add(name, track.line, tensor, track)

    def _before(self, name: str, tensor: Any) -> Track | None:
        """The leaf that an attribute or an item held before it was given this one."""
        track = self.flow.latest.get((None, name))
        if track is None or id(track) in self._names or track.shape != shape_of(tensor):
            return None
        if is_parameter(tensor) or not is_leaf(tensor):
            return None
        self.flow.renewed(track, tensor)
        return track

    def _is_anew(self, track: Track, made: set[tuple[int | None, tuple[int, ...]]]) -> bool:
        """Whether it is gone, and its line has made another parameter since, one in each turn."""
        place = None if track.made is None else self.place(track.made)
        if place is None or not track.is_parameter or track.tensor() is not None:
            return False
        return (place.line, track.shape) in made

    def _words(self, track: Track) -> str:
        """The expression that made a leaf which never had a name."""
        place = None if track.made is None else self.place(track.made)
        return "" if place is None or place.statement else place.text

    def _numbered(self, tensor: Any, name: str) -> str:
        """`x#1` for what x stood for once, where it stands for another leaf at the end."""
        numbered = self.ran.recording.names.numbered(tensor)
        return numbered if name in self.bindings and numbered.startswith(f"{name}#") else ""

    def _add(self, name: str, line: int | None, tensor: Any, track: Track | None) -> None:
        optimiser = None if tensor is None else self.optimizers.of(tensor)
        shape = shape_of(tensor) if tensor is not None else track.shape if track else ()
        parameter = track.is_parameter if track is not None else is_parameter(tensor)
        if track is not None:
            self._names[id(track)] = name
        before = [] if tensor is None else self.optimizers.before(tensor)[0]
        rate = None if optimiser is None else rate_of(optimiser, tensor)
        self.leaves.append(Leaf(name, line, shape, parameter, track, optimiser, before, rate))

    def _named(self) -> Iterator[tuple[str, int | None, Any]]:
        """Every leaf that has a name at the end: names of loops say least."""
        assert self.ran.outcome is not None
        bindings, lines = self.ran.outcome.bindings, self.ran.outcome.lines
        passing = self.flow.passing
        named = list(named_tensors(bindings, AnyTensor))
        inner = module_tensors(self.bindings, self.ran.recording)

        def is_global(name: str) -> bool:
            return first_name(name) in bindings

        groups = (
            [(name, lines.get(name), t) for name, t in named
             if name not in passing and "[" not in name],
            [(entry.name, entry.line, entry.tensor) for entry in inner if is_global(entry.name)],
            [(entry.name, entry.line, entry.tensor) for entry in inner],
            [(name, lines.get(name.partition("[")[0]), t) for name, t in named],
        )  # fmt: skip
        for group in groups:
            for name, line, tensor in group:
                if tensor.requires_grad and node_of(tensor) is None:
                    yield name, line, tensor


def _first_pass(track: Track) -> int:
    return 0 if track.first_row is None else track.first_row.one.number


def _gradients_read(program: Program) -> frozenset[str]:
    """The names whose `.grad` the program looks at."""
    return frozenset(
        ast.unparse(node.value)
        for statement in program.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute) and node.attr == "grad"
    )
