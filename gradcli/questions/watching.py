"""Questions: what is done to tensors when a name is bound: hooks, retained gradients, leaves."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from math import inf
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, ref

from ..engine.mode import state
from ..engine.tensor import Tensor, from_array, plain
from ..language.interpreter import Machine
from ..opening import UsageError
from ..pipeline.request import current_line
from ..recording.collect import NESTING, Named, tensors_in
from ..recording.hook_log import Registration, name_of_hook
from ..recording.modules import attributes, is_module
from ..recording.sides import AnyTensor, is_live, mark_of, memory, node_of, sides
from ..recording.snapshot import LARGEST, Summary
from ..recording.spectator import Spectator
from ..recording.watch import LEAVES, Watch

WORDS = {
    "print": "lambda grad: print({name!r}, grad)",
    "norm": "lambda grad: print({name!r}, 'norm', grad.norm().item())",
}
KEPT = 1000  # tensors that one asked-for name was bound to
PLAIN = frozenset({int, float, bool, str, type(None), range})
CONTAINERS = frozenset({list, tuple, dict})
LEAVING = frozenset({"detach", "detach_"})  # methods that take a tensor out of the graph
ITEMS = 100  # of a container of a function that is looked through


class Wishes(NamedTuple):
    """What is done to the tensors that names are bound to: --hook, --retain-grad, --wrt."""

    hooks: tuple[str, ...] = ()
    retain_grad: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()  # gradients are asked for with respect to these


NO_WISHES = Wishes()


class Held(NamedTuple):
    """What a tensor was called when a name was bound to it, in a function or not, and where."""

    tensor: ref[Any]
    name: str
    line: int | None
    inside: bool
    reason: str = ""  # why it does not require grad, where that is known


class Binder(Spectator):
    """Hears of every global name that a program binds."""

    def __init__(self, wishes: Wishes, watch: Watch) -> None:
        self.hooks = dict(map(_split_hook, wishes.hooks))
        self.served: set[str] = set()
        self.kept: set[str] = set()  # names of tensors that may have a gradient
        self.is_hooking = False
        self.wrt = frozenset(wishes.leaves)
        self.history: dict[str, list[AnyTensor]] = {}
        # What a node's result was called, and how many of that name there were: y#2, the second y.
        self.names: WeakKeyDictionary[Any, tuple[str, int]] = WeakKeyDictionary()
        self.counts: dict[str, int] = {}
        self.words: dict[int, str] = {}
        self.functions: list[Any] = []
        self.machine: Machine | None = None
        self.complaint: UsageError | None = None
        self.held: dict[int, Held] = {}  # tensors without a grad_fn, by their identity
        self.inner: dict[str, Any] = {}  # modules and objects that only functions know
        self.watch = watch
        watch.hooks.words = self.hook_words
        watch.hooks.name_of = self.name_of
        watch.hooks.registration = self._registration
        every = "all" in wishes.retain_grad
        self.retained = None if every else frozenset(wishes.retain_grad)

    def begin(self, machine: Machine) -> None:
        """The program is about to run; its inputs are bound already."""
        self.machine = machine
        for name, value in machine.globals.values.items():
            self.bound(name, value)

    def bound(self, name: str, value: Any) -> None:
        """A global name was bound."""
        if type(value) is not Tensor and not isinstance(value, AnyTensor):
            self._contained(name, value, inside=False)
            return
        if name in self.wrt:
            self._wanted(name, value)
        self._leaf(name, value, inside=False)
        if not value.requires_grad:
            return
        self.kept.add(name)
        node = value.grad_fn
        if node is not None:
            count = self.counts[name] = self.counts.get(name, 0) + 1
            self.names[mark_of(node)] = name, count
            if self.retained is None or name in self.retained:
                value.retain_grad()
        if name in self.hooks:
            self._hook(name, value)

    def bound_inside(self, scope: Any, name: str, value: Any) -> None:
        """A name of a function was bound: what it calls a leaf or a module is remembered."""
        if isinstance(value, AnyTensor):
            self._leaf(name, value, inside=True)
        elif type(value) in CONTAINERS:
            self._contained(name, value, inside=True)
        elif type(value) in PLAIN or name.startswith("_"):
            return
        elif len(self.inner) < KEPT and (is_module(value) or attributes(value)):
            self.inner.setdefault(name, value)

    def _contained(self, name: str, value: Any, *, inside: bool) -> None:
        """The tensors of a list or a dict that a name was bound to."""
        if type(value) in CONTAINERS and len(value) <= ITEMS and not name.startswith("_"):
            for path, tensor in tensors_in(name, value, AnyTensor, NESTING - 1):
                self._leaf(path, tensor, inside=inside)

    def _leaf(self, name: str, tensor: AnyTensor, *, inside: bool) -> None:
        """Remembers what a leaf, or what may become one, was called; a global name wins."""
        if node_of(tensor) is not None or name.startswith("_"):
            return
        known = self.held.get(id(tensor))
        line = current_line()
        if known is not None and known.tensor() is tensor:
            if inside or not known.inside:
                return
            line = known.line
        if len(self.held) < LEAVES:
            why = "" if tensor.requires_grad else _why_not(tensor)
            self.held[id(tensor)] = Held(ref(tensor), name, line, inside, why)

    def why_not(self, tensor: Any) -> str:
        """Why a tensor that a name was bound to does not require grad; empty where nobody knows."""
        known = self.held.get(id(tensor))
        return known.reason if known is not None and known.tensor() is tensor else ""

    @property
    def leaves(self) -> list[Named]:
        """Leaves by the names that they had, in the order of their first binding."""
        found = []
        for entry in self.held.values():
            tensor = entry.tensor()
            if tensor is not None and tensor.requires_grad and node_of(tensor) is None:
                found.append(Named(entry.name, entry.line, tensor, "parameter"))
        return found

    def reached(self, bindings: Mapping[str, Any]) -> dict[str, Any]:
        """Names at the end of the run, then those that functions had; `self` says least."""
        inner = {name: value for name, value in self.inner.items() if name not in bindings}
        own = {"self": inner.pop("self")} if "self" in inner else {}
        return {**bindings, **inner, **own}

    def _wanted(self, name: str, value: AnyTensor) -> None:
        """Gradients are asked for with respect to it, so it requires grad from here on."""
        held = self.history.setdefault(name, [])
        if not value.requires_grad and value.is_floating_point() and not value.is_inference():
            value.requires_grad_()
        if len(held) < KEPT and not (held and held[-1] is value):
            held.append(value)

    def _hook(self, name: str, value: AnyTensor) -> None:
        assert self.machine is not None
        text = self.hooks[name]
        source = WORDS[text].format(name=name) if text in WORDS else text
        function = self.machine.evaluate(source, f"--hook {name}")
        if not callable(function):
            advice = f"--hook '{name}=lambda g: g * 2'"
            self.complaint = UsageError(f"--hook {name}={text}: not a function", advice)
            return
        self.functions.append(function)  # its identity must stay its own
        self.words[id(function)] = text
        self.served.add(name)
        self.is_hooking = True
        value.register_hook(function)
        self.is_hooking = False

    def name_of(self, node: Any) -> str | None:
        known = self.names.get(mark_of(node)) if hasattr(node, "next_functions") else None
        return None if known is None else known[0]

    def _registration(self) -> Registration:
        """Where a hook is being registered, and the text of the lambda in that call."""
        if self.is_hooking:
            return Registration(None)  # an option's hook stands on no line
        origin: Any = state.origin
        if not isinstance(origin, ast.Call) or self.machine is None:
            return Registration(current_line())
        source = self.machine.program.source
        words = next(
            (source.text_of(source.span_of(argument))
             for argument in origin.args if isinstance(argument, ast.Lambda)),
            "",
        )  # fmt: skip
        return Registration(origin.lineno, words)

    def hook_words(self, hook: Any) -> str:
        """How a hook is called: the words of the option, or its name in the program."""
        return self.words.get(id(hook)) or name_of_hook(hook)

    def text_of(self, file: str) -> str | None:
        """The function of a --hook."""
        return self.hooks.get(file.removeprefix("--hook "))

    def complain(self) -> None:
        """Raises what is wrong with the hooks that were asked for, once the program has run."""
        if self.complaint is not None:
            raise self.complaint
        for name in self.hooks:
            if name not in self.served:
                raise UsageError(f"--hook {name}: no tensor that requires grad was bound to {name}")
        for name in self.retained or ():
            if name not in self.kept:
                words = f"no tensor that requires grad was bound to {name}"
                raise UsageError(f"--retain-grad {name}: {words}")


def _why_not(tensor: AnyTensor) -> str:
    """Why a tensor that a name is being bound to does not require grad."""
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return "no floating numbers"
    origin: Any = state.origin
    line = current_line()
    where = "" if line is None else f", line {line}"
    if isinstance(origin, ast.Call) and getattr(origin.func, "attr", "") in LEAVING:
        return f"{origin.func.attr}(){where}"  # type: ignore[attr-defined]
    return "" if state.grad_enabled else f"inside no_grad{where}"


def watching(wishes: Wishes = NO_WISHES, *, values: bool = False) -> tuple[Binder, Watch]:
    """The spectators that tell what hooks, gradients and backward calls did, of everything with
    `values`."""
    watch = Watch(current_line, snapshot, memory=memory, values=values)
    watch.origin = lambda: state.origin
    return Binder(wishes, watch), watch


def whole(value: Any) -> Any:
    """The same, however large it is."""
    return snapshot(value, inf)


class Number:
    """A number on its own; most are never looked at."""

    __slots__ = ("data", "kind")

    def __init__(self, data: Any, kind: Any) -> None:
        self.data, self.kind = data, kind


def restored(snapshot: Any) -> Any:
    """A snapshot as the tensor that it was; a summary stays one, None too."""
    if snapshot.__class__ is Number:
        return plain(snapshot.data, snapshot.kind)
    return snapshot.restored() if hasattr(snapshot, "restored") else snapshot


def snapshot(value: Any, largest: float = LARGEST) -> Any:
    """A tensor, or a gradient that the engine holds as an array, as it is now."""
    if value.__class__ is not Tensor and is_live(value):
        assert sides.live is not None
        return sides.live.snapshot(value, largest)
    tensor = value if value.__class__ is Tensor else as_tensor(value)
    data = tensor._data
    if not hasattr(data, "__setitem__"):
        return Number(data, tensor._kind)  # it can't change
    if data.size <= largest:
        return plain(data.copy(), tensor._kind)
    low, high = data.min(), data.max()
    ordered = data.dtype.kind in "fiu" and low == low and high == high
    return Summary(data.shape, (float(low), float(high)) if ordered else None)


def _split_hook(text: str) -> tuple[str, str]:
    name, equals, function = text.partition("=")
    if not equals or not name.strip().isidentifier() or not function.strip():
        raise UsageError(
            f"--hook {text}: expected NAME=FUNCTION",
            "--hook b=print, --hook b=norm, --hook 'b=lambda g: g * 2'",
        )
    return name.strip(), function.strip()


def as_tensor(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value
    import numpy

    return from_array(value if hasattr(value, "strides") else numpy.asarray(value))
