"""Recording: the names of tensors and modules, noted when they are bound."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from weakref import ref

from ..engine.schema.carriers import TRANSFORMS
from ..engine.schema.origin import current_line, current_origin
from ..engine.tensors.tensor import Tensor
from ..named import NamedTuple
from .holding import NESTING, Inside, Named, first_name, inside as held_by, tensors_in
from .looking import is_a, pairs, size
from .modules import attributes, is_module
from .sides import AnyTensor, is_parameter, mark_of, node_of, side_of, sides
from .spectator import Spectator

LEAVES = 100_000
PRUNED = 100_000  # nodes whose names are held before those that are gone are dropped
INNER = 1000  # modules and objects that only functions know
ITEMS = 100  # of a container that is looked through
SHORT = 10  # items of a container in a container that is looked through
LOOKS = 20_000  # tensors of modules and objects that were looked at when a name was bound to these
PLAIN = frozenset({int, float, bool, str, type(None), range})
CONTAINERS = frozenset({list, tuple, dict})
PARTLESS = frozenset({ast.Name, ast.Constant, ast.Load, ast.Store, str, type(None)})
LEAVING = frozenset({"detach", "detach_"})  # methods that take a tensor out of the graph


class Birth(NamedTuple):
    """A leaf that had no name yet when it was made: params["w"] = ..."""

    tensor: ref[Any]
    line: int | None
    origin: Any  # what was evaluated


class Binding(NamedTuple):
    """What a tensor was called when a name was bound to it, in a function or not, and where."""

    tensor: ref[Any]
    name: str
    line: int | None
    inside: bool
    reason: str = ""  # why it does not require grad, where that is known


class Results:
    """What leaves and the results of nodes were called, in the order of binding; most are never
    asked for, so a binding is noted, and numbered and found by its node on demand.

    Nodes that are gone are dropped when there are `most`.
    """

    def __init__(self) -> None:
        self.marks: list[ref[Any]] = []
        self.names: list[str] = []
        self.most = PRUNED
        self._numbers: list[int] = []  # of the first of these: y#2, the second y
        self._counts: dict[str, int] = {}
        self._places: dict[int, int] = {}  # by the identity of the first `_placed` marks
        self._placed = 0

    def put(self, mark: Any, name: str) -> None:
        """The result of this node has this name now."""
        self.marks.append(ref(mark))
        self.names.append(name)
        if len(self.marks) > self.most:
            self._prune()

    def _prune(self) -> None:
        alive = [at for at, mark in enumerate(self.marks) if mark() is not None]
        self.most = max(PRUNED, 2 * len(alive))
        if len(alive) == len(self.marks):
            return
        numbers = self.numbers
        self.marks = [self.marks[at] for at in alive]
        self.names = [self.names[at] for at in alive]
        self._numbers = [numbers[at] for at in alive]
        self._places, self._placed = {}, 0

    @property
    def numbers(self) -> list[int]:
        """How many of its name there were with each."""
        numbers, counts = self._numbers, self._counts
        for at in range(len(numbers), len(self.names)):
            name = self.names[at]
            count = counts[name] = counts.get(name, 0) + 1
            numbers.append(count)
        return numbers

    @property
    def counts(self) -> dict[str, int]:
        """How often each name was bound to a result."""
        assert len(self.numbers) == len(self.names)
        return self._counts

    def place(self, mark: Any) -> int | None:
        """Where the last name of a node's result stands."""
        places, marks = self._places, self.marks
        if self._placed < len(marks):
            newest = range(self._placed, len(marks))
            places.update(zip([id(marks[at]()) for at in newest], newest, strict=True))
            self._placed = len(marks)
        at = places.get(id(mark))
        return at if at is not None and marks[at]() is mark else None


class Names(Spectator):
    """Observes every name that a program binds."""

    def __init__(self) -> None:
        self.results = Results()
        self.inside = Results()  # of functions
        self.held: dict[int, Binding] = {}  # tensors without a grad_fn, by their identity
        self.born: dict[int, Birth] = {}  # by the identity of the leaf
        self.inner: dict[str, Any] = {}  # modules and objects that only functions know
        self.known: set[int] = set()  # identities of what global names were bound to
        self.modules: dict[int, tuple[ref[Any], str]] = {}  # what modules were called first
        self.looks = LOOKS
        self.loops: frozenset[str] = frozenset()  # names that loops bind
        self.inner_loops: frozenset[str] = frozenset()  # in functions, comprehensions too

    def begin(self, machine: Any) -> None:
        """The program is about to run; its inputs are bound already."""
        parts = parts_of(machine.program.body)
        self.loops = _given_out(parts, ast.For)
        self.inner_loops = _given_out(parts, (ast.For, ast.comprehension))
        for name, value in machine.globals.values.items():
            self.bound(name, value)

    def bound(self, name: str, value: Any) -> None:
        """A global name was bound."""
        if type(value) in PLAIN:
            return
        if type(value) is not Tensor and not isinstance(value, AnyTensor):
            self._contained(name, value, inside=False)
            self.known.add(id(value))
            if self.inner.get("self") is value:
                del self.inner["self"]
            return
        if type(value) is Tensor and value._grad_fn is not None and value._meta is None:
            mark: Any = value._grad_fn  # what most lines bind
        else:
            self._leaf(name, value, inside=False)
            if not value.requires_grad:
                return
            node = node_of(value)
            mark = value if node is None else mark_of(node)
        self.results.put(mark, name)

    def bound_inside(self, scope: Any, name: str, value: Any) -> None:
        """A name of a function was bound: what it calls a leaf or a module is remembered."""
        if type(value) is Tensor and value._grad_fn is not None and value._meta is None:
            self.inside.put(value._grad_fn, name)  # what most lines bind
        elif isinstance(value, AnyTensor):
            for tensor in levels(value):
                node = node_of(tensor)
                if node is not None:
                    self.inside.put(mark_of(node), name)
                else:
                    self._leaf(name, tensor, inside=True)
        elif type(value) in CONTAINERS:
            self._contained(name, value, inside=True)
        elif type(value) in PLAIN or name.startswith("_"):
            return
        elif is_module(value) or attributes(value):
            if name == "self":  # of very many the outermost, until a name is bound to it
                if id(value) not in self.known:
                    self.inner.setdefault(name, value)
                return
            if name in self.inner or len(self.inner) < INNER:
                self.inner[name] = value  # what the function did last is what the last pass used
            self._contained(name, value, inside=True)

    def _contained(self, name: str, value: Any, *, inside: bool) -> None:
        """The leaves of a list, a dict, a module or an object that a name was bound to."""
        kind = type(value)
        if kind in PLAIN or name.startswith("_"):
            return
        if is_a(value, (list, tuple, dict)):
            if size(value) <= ITEMS:
                for path, tensor in tensors_in(name, value, AnyTensor, NESTING - 1):
                    self._leaf(path, tensor, inside=inside)
                self._nested(name, value, inside=inside)
        elif self.looks > 0 and (is_module(value) or attributes(value)):
            for path, module in Inside(AnyTensor, ITEMS).modules(name, value):
                self.looks -= 1
                known = self.modules.get(id(module))
                if known is None or known[0]() is not module:
                    self.modules[id(module)] = ref(module), path
            for path, tensor, what in held_by({name: value}, AnyTensor):
                self.looks -= 1
                if what != "buffer":
                    self._leaf(path, tensor, inside=inside)

    def _nested(self, name: str, value: Any, *, inside: bool) -> None:
        """The leaves of modules, objects and short containers in one: layers[0]["W"]."""
        for key, item in pairs(value):
            if type(item) in PLAIN or isinstance(item, AnyTensor):
                continue
            if type(key) is not int and type(key) is not str:
                continue  # the text of another key may be a method of the program
            if type(item) not in CONTAINERS:
                self._contained(f"{name}[{key!r}]", item, inside=inside)
            elif len(item) <= SHORT and self.looks > 0:
                self.looks -= 1
                for path, tensor in tensors_in(f"{name}[{key!r}]", item, AnyTensor, NESTING - 1):
                    self._leaf(path, tensor, inside=inside)

    def _leaf(self, name: str, tensor: AnyTensor, *, inside: bool) -> None:
        """Remembers what a leaf, or what may become one, was called; a global name wins."""
        if node_of(tensor) is not None or name.startswith("_"):
            return
        known = self.held.get(id(tensor))
        line = self.of_birth(tensor) or current_line()
        if known is not None and known.tensor() is tensor:
            if inside or not known.inside:
                return
            line = known.line
        elif known is not None:
            del self.held[id(tensor)]  # of one that is gone, and came before
        if len(self.held) < LEAVES:
            why = "" if tensor.requires_grad else _why_not(tensor)
            self.held[id(tensor)] = Binding(ref(tensor), name, line, inside, why)

    def rename(self, tensor: AnyTensor, name: str, *, inside: bool) -> None:
        """From here on a leaf is called so."""
        known = self._binding_of(tensor)
        if known is not None:
            self.held[id(tensor)] = known._replace(name=name, inside=inside)
        else:
            self._leaf(name, tensor, inside=inside)

    def required(self, tensor: Any) -> None:
        """A leaf was made, or a tensor was asked to be one."""
        named = self._binding_of(tensor) is not None
        if not named and self.of_birth(tensor) is None and len(self.born) < LEAVES:
            self.born.pop(id(tensor), None)  # of one that is gone, and came before
            self.born[id(tensor)] = Birth(ref(tensor), current_line(), current_origin())

    def parameter(self, tensor: Any) -> None:
        """A parameter was made."""
        if tensor.requires_grad:
            self.required(tensor)

    # ---- what it amounts to

    def _binding_of(self, tensor: Any) -> Binding | None:
        known = self.held.get(id(tensor))
        return known if known is not None and known.tensor() is tensor else None

    def _birth(self, tensor: Any) -> Birth | None:
        known = self.born.get(id(tensor))
        return known if known is not None and known.tensor() is tensor else None

    def of_birth(self, tensor: Any) -> int | None:
        """The line that made a leaf, where it had no name yet."""
        birth = self._birth(tensor)
        return None if birth is None else birth.line

    def made_by(self, tensor: Any) -> Any:
        """What was evaluated when a leaf was made, where it had no name yet."""
        birth = self._birth(tensor)
        return None if birth is None else birth.origin

    def nameless(self) -> Iterator[tuple[Any, int | None, Any]]:
        """Leaves that no name was bound to: the tensor, its line, what was evaluated there."""
        for tensor, line, origin in self.born.values():
            leaf = tensor()
            if leaf is not None and not self.of_leaf(leaf):
                yield leaf, line, origin

    def line_of(self, leaf: Any) -> int | None:
        """The line that made a leaf; an input was made nowhere."""
        known = self._binding_of(leaf)
        line = None if known is None else known.line
        return self.of_birth(leaf) if line is None else line

    def called(self, node: Any) -> tuple[str, int] | None:
        """What the result of a node was called, and the how many-th of that name it was."""
        at = self.results.place(mark_of(node))
        return None if at is None else (self.results.names[at], self.results.numbers[at])

    def called_inside(self, node: Any) -> str:
        """What a function called the result of a node last; empty if it never did."""
        at = self.inside.place(mark_of(node))
        return "" if at is None else self.inside.names[at]

    def numbered(self, tensor: Any) -> str:
        """The last name that a tensor had, and the how many-th of that name it was: x#2."""
        node = node_of(tensor)
        at = self.results.place(tensor if node is None else mark_of(node))
        return "" if at is None else f"{self.results.names[at]}#{self.results.numbers[at]}"

    def of_node(self, node: Any) -> str | None:
        """What the result of a node was called."""
        at = self.results.place(mark_of(node)) if hasattr(node, "next_functions") else None
        return None if at is None else self.results.names[at]

    def of_module(self, module: Any) -> str:
        """The name of a module; empty if unknown."""
        known = self.modules.get(id(module))
        return known[1] if known is not None and known[0]() is module else ""

    def why_not(self, tensor: Any) -> str:
        """Why a tensor that a name was bound to does not require grad; empty if unknown."""
        known = self._binding_of(tensor)
        return "" if known is None else known.reason

    def of_leaf(self, tensor: Any) -> str:
        """The name of a tensor without a grad_fn; empty if unknown."""
        known = self._binding_of(tensor)
        return "" if known is None else known.name

    def lasting(self, name: str, tensor: Any) -> str:
        """This name of a leaf, or the one that it had where this is a loop's of a function."""
        if first_name(name) not in self.inner_loops or first_name(name) not in self.inner:
            return name
        other = self.of_leaf(tensor)
        return other if other and first_name(other) not in self.inner_loops else name

    def is_inner(self, tensor: Any) -> bool:
        """Whether only a function had a name for it."""
        known = self._binding_of(tensor)
        return known is not None and known.inside

    @property
    def leaves(self) -> list[Named]:
        """Leaves by the names that they had, in the order of their first binding."""
        found = []
        for entry in self.held.values():
            tensor = entry.tensor()
            if tensor is not None and tensor.requires_grad and node_of(tensor) is None:
                kind = "parameter" if is_parameter(tensor) else "tensor"
                found.append(Named(entry.name, entry.line, tensor, kind))
        return found

    def reached(self, bindings: Mapping[str, Any]) -> dict[str, Any]:
        """Names at the end of the run, then those that functions had, then those of their loops;
        `self` says least."""
        inner = {name: value for name, value in self.inner.items() if name not in bindings}
        own = {"self": inner.pop("self")} if "self" in inner else {}
        loops = {name: inner.pop(name) for name in self.inner_loops.intersection(inner)}
        return {**bindings, **inner, **dict(sorted(loops.items())), **own}


def loop_names(body: Iterable[ast.stmt], *, inner: bool = False) -> frozenset[str]:
    """`p` of `for p in net.parameters()`: it never hides a parameter's name; with `inner` those of
    comprehensions too, which are names of their own."""
    return _given_out(parts_of(body), (ast.For, ast.comprehension) if inner else ast.For)


def _given_out(parts: Iterable[ast.AST], kinds: Any) -> frozenset[str]:
    return frozenset(
        word.id
        for node in parts
        if isinstance(node, kinds)
        for word in ast.walk(node.target)
        if isinstance(word, ast.Name)
    )


def parts_of(body: Iterable[ast.AST]) -> list[ast.AST]:
    """The nodes of a program but names and constants: `ast.walk` takes three times as long."""
    found = list(body)
    for node in found:  # it grows meanwhile
        for field in node._fields:
            part = getattr(node, field, None)
            if part.__class__ is list:
                found += [one for one in part if one.__class__ not in PARTLESS]
            elif part.__class__ not in PARTLESS and isinstance(part, ast.AST) and part._fields:
                found.append(part)
    return found


def levels(tensor: Any) -> Iterable[Any]:
    """A tensor, and what it stands for within a transformation."""
    live = sides.live
    if live is not None and isinstance(tensor, live.tensor):
        return live.levels(tensor)
    aliases = {id(alias): one for level in TRANSFORMS.stack for alias, one in level.pairs}
    found = [tensor]
    while (below := getattr(found[-1], "below", aliases.get(id(found[-1])))) is not None:
        found.append(below)
    return found


def _why_not(tensor: AnyTensor) -> str:
    """Why a tensor that a name is being bound to does not require grad."""
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return "no floating numbers"
    origin = current_origin()
    line = current_line()
    where = "" if line is None else f", line {line}"
    if isinstance(origin, ast.Call) and getattr(origin.func, "attr", "") in LEAVING:
        return f"{origin.func.attr}(){where}"  # type: ignore[attr-defined]
    return "" if side_of(tensor).grad_enabled() else f"inside no_grad{where}"
