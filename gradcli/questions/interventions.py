"""Questions: --hook, --retain-grad and --wrt: applied to tensors when names are bound to them."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain
from typing import Any
from weakref import ref

from ..language.interpreter import Machine
from ..named import NamedTuple
from ..opening import UsageError
from ..recording.holding import parameters, tensors_in
from ..recording.hook_log import HookLog
from ..recording.names import PLAIN
from ..recording.passes import Frees
from ..recording.recording import Recording
from ..recording.sides import AnyTensor
from ..recording.spectator import Spectator
from .asked_names import AskedNames

WORDS = {
    "print": "lambda grad: print({name!r}, grad)",
    "norm": "lambda grad: print({name!r}, 'norm', grad.norm().item())",
    "zero": "lambda grad: grad.new_zeros(grad.shape)",
}
EVERY = "all"  # in the place of a name: every tensor that requires grad
HOOKED = 100_000  # tensors that have a hook of an option


# b, b#2, net.0.weight, weights[1], params['slope']
PATH = re.compile(r"[^\W\d]\w*(\.\w+|\[-?\d+\]|\['[^'=]*'\])*(#\d+)?")


class Setting(NamedTuple):
    """A gradient that the user replaces while stepping through a pass: of which name, in which
    pass, by which expression."""

    name: str
    number: int
    text: str


class Interventions(NamedTuple):
    """What is done to the tensors that names are bound to: --hook, --retain-grad, --wrt."""

    hooks: tuple[str, ...] = ()
    retain_grad: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()  # gradients are asked for with respect to these
    results: tuple[str, ...] = ()  # of these
    settings: tuple[Setting, ...] = ()


NO_INTERVENTIONS = Interventions()


class Tables(NamedTuple):
    """What is reported beside the graph and its tensors."""

    views: bool = False
    stats: bool = False
    saved: bool = False  # tensors, for backward
    buffers: bool = False  # how many bytes each pass freed or kept


NO_TABLES = Tables()


class Binder(Spectator):
    """Does what was wished, whenever a name is bound: `y`, or `y#2`, its second tensor."""

    def __init__(self, interventions: Interventions, log: HookLog) -> None:
        self.settings: dict[str, list[Setting]] = {}
        for one in interventions.settings:
            self.settings.setdefault(one.name, []).append(one)
        self.hooks = dict(map(_split_hook, interventions.hooks))
        self.served: set[str | Setting] = set()
        self._with_hook: dict[tuple[str, int, int], Any] = {}  # what has the hook of a name already
        asked = (*self.hooks, *self.settings, *interventions.retain_grad)
        self.is_looking = any(not name.isidentifier() or name == EVERY for name in asked)
        self.is_counting = any("#" in name for name in asked)
        # Tensors that do not require grad, and their names, by their identity.
        self.waiting: dict[int, tuple[ref[Any], str]] = {}
        self.kept: set[str] = set()  # names of tensors that may have a gradient
        self.wrt = frozenset(interventions.leaves)
        self.log = log
        self.functions: list[Any] = []
        self.machine: Machine | None = None
        self.complaint: UsageError | None = None
        every = EVERY in interventions.retain_grad
        self.retained = None if every else frozenset(interventions.retain_grad)
        is_any = self.is_looking or self.is_counting
        self.wished = None if is_any else self.wrt.union(asked)

    def begin(self, machine: Machine) -> None:
        """The program is about to run; its inputs are bound already."""
        self.machine = machine
        for name, value in machine.globals.values.items():
            self.bound(name, value)

    def bound(self, name: str, value: Any) -> None:
        """A global name was bound."""
        if type(value) in PLAIN or (self.wished is not None and name not in self.wished):
            return
        if not isinstance(value, AnyTensor):
            if self.is_looking and not name.startswith("_"):
                self._within(name, value)
            return
        if name in self.wrt and not value.requires_grad:
            if value.is_floating_point() and not value.is_inference():
                value.requires_grad_()
        if not value.requires_grad:
            self.waiting[id(value)] = ref(value), name
            return
        if self.retained is None and value.grad_fn is not None:
            self._retain(value)
        self._met(name, name, value)
        if self.is_counting:  # the names observe it later
            count = self.log.names.results.counts.get(name, 0) + 1
            self._met(f"{name}#{count}", name, value)
        if EVERY in self.hooks:
            self._hook(EVERY, name, value)

    def bound_inside(self, scope: Any, name: str, value: Any) -> None:
        """A name of a function."""
        if self.wished is not None and name not in self.wished:
            return
        if not isinstance(value, AnyTensor):
            if self.is_looking and type(value) not in PLAIN and not name.startswith("_"):
                self._within(name, value)
        elif value.requires_grad:
            self._met(name, name, value, inside=True)

    def required(self, tensor: Any) -> None:
        """A tensor that has a name already is asked to require grad."""
        waits, name = self.waiting.pop(id(tensor), (None, ""))
        if waits is not None and waits() is tensor:
            self.bound(name, tensor)

    def made(self, tensor: Any) -> None:
        """It was changed in place, and is a result now."""
        if id(tensor) in self.waiting:
            self.required(tensor)

    def _within(self, name: str, value: Any) -> None:
        """What a list, a module or an object holds: `weights[0]`, `net.0.weight`."""
        inner = (
            *tensors_in(name, value, AnyTensor),
            *parameters({name: value}, AnyTensor),
        )
        for path, tensor in inner:
            if tensor.requires_grad:
                self._met(path, path, tensor)
                if EVERY in self.hooks:
                    self._hook(EVERY, path, tensor)

    def _met(self, asked: str, name: str, value: AnyTensor, *, inside: bool = False) -> None:
        """What is wished for this name comes true."""
        self.kept.add(asked)
        if self.retained and asked in self.retained and value.grad_fn is not None:
            self._retain(value)
        for setting in self.settings.get(asked, ()):
            self._set(setting, value, inside=inside)
        if asked in self.hooks:
            self._hook(asked, name, value)

    def _retain(self, value: AnyTensor) -> None:
        assert self.machine is not None
        self.machine.intervene(value.retain_grad)

    def _set(self, setting: Setting, value: AnyTensor, *, inside: bool) -> None:
        """Its gradient becomes another one, in one pass."""
        function = self._replacing(setting, value.grad_fn if inside else None)
        self.functions.append(function)
        self.log.options[id(function)] = f"set {setting.name} {setting.text}"
        assert self.machine is not None
        self.machine.intervene(value.register_hook, function)

    def _replacing(self, setting: Setting, inner: Any) -> Callable[[Any], Any]:
        """A hook for that; what a function made may get a global name later, and that is shown."""
        machine, passes, names = self.machine, self.log.passes, self.log.names
        assert machine is not None

        def replace(grad: Any) -> Any:
            named = inner is not None and names.of_node(inner) is not None
            if passes.count != setting.number or named:
                return grad
            self.served.add(setting)
            value = machine.evaluate(setting.text, "set")
            if not isinstance(value, AnyTensor):
                value = grad.new_tensor(value)
            return grad.new_zeros(grad.shape) + value

        return replace

    def _is_new(self, asked: str, value: AnyTensor) -> bool:
        """Whether a tensor has not got this hook by another of its names."""
        node = value.grad_fn
        key = asked, id(value if node is None else node), value.output_nr
        if key in self._with_hook or len(self._with_hook) >= HOOKED:
            return False
        self._with_hook[key] = value if node is None else node  # its identity must stay its own
        return True

    def _hook(self, asked: str, name: str, value: AnyTensor) -> None:
        if not self._is_new(asked, value):
            return
        assert self.machine is not None
        text = self.hooks[asked]
        source = WORDS[text].format(name=name) if text in WORDS else text
        function = self.machine.evaluate(source, f"--hook {asked}")
        if not callable(function):
            advice = f"--hook '{asked}=lambda g: g * 2'"
            self.complaint = UsageError(f"--hook {asked}={text}: not a function", advice)
            return
        self.functions.append(function)  # its identity must stay its own
        self.log.options[id(function)] = text
        self.served.add(asked)
        self.machine.intervene(value.register_hook, function)

    def text_of(self, file: str) -> str | None:
        """The function of a --hook."""
        return self.hooks.get(file.removeprefix("--hook "))

    def complain(self) -> None:
        """Raises what is wrong with the requested hooks, once the program has run."""
        if self.complaint is not None:
            raise self.complaint
        for name in self.hooks:
            if name not in self.served:
                where = "any name" if name == EVERY else name
                raise UsageError(
                    f"--hook {name}: no tensor that requires grad was bound to {where}"
                )
        for setting in chain.from_iterable(self.settings.values()):
            if setting not in self.served:
                words = f"set {setting.name}: no name of the program leads to this gradient"
                raise UsageError(words, "only what has a name of its own can be set")
        for name in self.retained or ():
            if name not in self.kept:
                words = f"no tensor that requires grad was bound to {name}"
                raise UsageError(f"--retain-grad {name}: {words}")


def watching(interventions: Interventions = NO_INTERVENTIONS, *, values: bool = False) -> Recording:
    """A recording of hooks, gradients and backward calls, and with `values` of everything.

    Interventions apply before the recording learns of a name.
    """
    recording = Recording()
    if interventions != NO_INTERVENTIONS:
        recording.attach(Binder(interventions, recording.hooks))
    if asked := interventions.leaves + interventions.results:
        recording.attach(AskedNames(asked))
    recording.attach_graph()
    if values:
        recording.attach_values()
        recording.attach(Frees())
    return recording


def attach_tables(recording: Recording, tables: Tables) -> None:
    """Attaches the parts that these tables need."""
    if tables.buffers:
        recording.attach(recording.buffers)
    if tables.views:
        from ..recording.writes import Writes

        recording.attach(Writes())
    if tables.stats or tables.saved:
        from ..recording.saved_sizes import SavedSizes

        recording.attach(SavedSizes(recording.passes))


def complain(recording: Recording) -> None:
    """Raises what is wrong with the interventions, once the program has run."""
    binder = recording.find(Binder)
    if binder is not None:
        binder.complain()


def _split_hook(text: str) -> tuple[str, str]:
    name, equals, function = text.partition("=")
    if not equals or not PATH.fullmatch(name.strip()) or not function.strip():
        raise UsageError(
            f"--hook {text}: expected NAME=FUNCTION",
            "--hook b=print, --hook all=norm, --hook net.0.weight=zero, --hook 'b=lambda g: g * 2'",
        )
    return name.strip(), function.strip()
