"""Questions: a recording to ask, and what options do to tensors when names are bound to them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..language.interpreter import Machine
from ..named import NamedTuple
from ..opening import UsageError
from ..recording.collect import parameters, tensors_in
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


# b, net.0.weight, weights[1], params['slope']
PATH = re.compile(r"[^\W\d]\w*(\.\w+|\[-?\d+\]|\['[^'=]*'\])*")


class Setting(NamedTuple):
    """A gradient that the user replaces while stepping through a pass: of which name (`y`, or
    `y#2`, its second tensor), in which pass, by which expression."""

    name: str
    number: int
    text: str


class Interventions(NamedTuple):
    """What is done to the tensors that names are bound to: --hook, --retain-grad, --wrt."""

    hooks: tuple[str, ...] = ()
    retain_grad: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()  # gradients are asked for with respect to these
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
    """Does what was wished, whenever a global name is bound."""

    def __init__(self, interventions: Interventions, log: HookLog) -> None:
        self.settings: dict[str, list[Setting]] = {}
        for one in interventions.settings:
            self.settings.setdefault(one.name.partition("#")[0], []).append(one)
        self.counts: dict[str, int] = {}  # of the tensors that such a name was bound to
        self.hooks = dict(map(_split_hook, interventions.hooks))
        self.served: set[str] = set()
        self._with_hook: dict[tuple[str, int, int], Any] = {}  # what has the hook of a name already
        asked = (*self.hooks, *self.settings)
        self.is_looking = any(not name.isidentifier() or name == EVERY for name in asked)
        self.kept: set[str] = set()  # names of tensors that may have a gradient
        self.wrt = frozenset(interventions.leaves)
        self.log = log
        self.functions: list[Any] = []
        self.machine: Machine | None = None
        self.complaint: UsageError | None = None
        every = "all" in interventions.retain_grad
        self.retained = None if every else frozenset(interventions.retain_grad)

    def begin(self, machine: Machine) -> None:
        """The program is about to run; its inputs are bound already."""
        self.machine = machine
        for name, value in machine.globals.values.items():
            self.bound(name, value)

    def bound(self, name: str, value: Any) -> None:
        """A global name was bound."""
        if type(value) in PLAIN:
            return
        if not isinstance(value, AnyTensor):
            if self.is_looking and not name.startswith("_"):
                self._within(name, value)
            return
        if name in self.wrt and not value.requires_grad:
            if value.is_floating_point() and not value.is_inference():
                value.requires_grad_()
        if not value.requires_grad:
            return
        self.kept.add(name)
        if (self.retained is None or name in self.retained) and value.grad_fn is not None:
            value.retain_grad()
        self._hooks_of(name, value)

    def _within(self, name: str, value: Any) -> None:
        """Hooks on what a list, a module or an object holds: `weights[0]`, `net.0.weight`."""
        for path, tensor in tensors_in(name, value, AnyTensor):
            if tensor.requires_grad:
                self._hooks_of(path, tensor)
        for path, tensor in parameters({name: value}, AnyTensor):
            if tensor.requires_grad:
                self._hooks_of(path, tensor)

    def _hooks_of(self, name: str, value: AnyTensor) -> None:
        """What --hook says of a name, and who steps through a pass."""
        if name in self.settings:
            self._set(name, value)
        for asked in (name, EVERY) if EVERY in self.hooks else (name,):
            if asked in self.hooks and self._is_new(asked, value):
                self._hook(asked, name, value)

    def _set(self, name: str, value: AnyTensor) -> None:
        """Its gradient becomes another one, in one pass."""
        self.counts[name] = count = self.counts.get(name, 0) + (value.grad_fn is not None)
        for setting in self.settings[name]:
            _, sign, number = setting.name.partition("#")
            if not sign or number == str(count):
                function = self._replacing(setting)
                self.functions.append(function)
                self.log.options[id(function)] = f"set {setting.name} {setting.text}"
                value.register_hook(function)

    def _replacing(self, setting: Setting) -> Callable[[Any], Any]:
        machine, passes = self.machine, self.log.passes
        assert machine is not None

        def replace(grad: Any) -> Any:
            if passes.count != setting.number:
                return grad
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
        value.register_hook(function)

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
        for name in self.retained or ():
            if name not in self.kept:
                words = f"no tensor that requires grad was bound to {name}"
                raise UsageError(f"--retain-grad {name}: {words}")


def watching(interventions: Interventions = NO_INTERVENTIONS, *, values: bool = False) -> Recording:
    """A recording of what hooks, gradients and backward calls do, of everything with `values`;
    interventions come true before it hears of a name."""
    recording = Recording()
    if interventions != NO_INTERVENTIONS:
        recording.hears(Binder(interventions, recording.hooks))
    if interventions.leaves:
        recording.hears(AskedNames(interventions.leaves))
    recording.hears_of_graph()
    if values:
        recording.hears_of_values()
    return recording


def hear(recording: Recording, tables: Tables) -> None:
    """What these tables need is heard too."""
    if tables.buffers:
        recording.hears(recording.buffers)
    if tables.saved:
        recording.hears(Frees())
    if tables.views:
        from ..recording.writes import Writes

        recording.hears(Writes())
    if tables.stats:
        from ..recording.weights import Weights

        recording.hears(Weights(recording.passes))


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
