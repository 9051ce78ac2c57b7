"""Live: a recording of code that is running already: a notebook's cell, a test, a script.

A frame that runs can't be rewritten. Its calls of PyTorch are heard all the same, with its
place; a number that left the graph is known until Python computes with it.
"""

from __future__ import annotations

import ast
import linecache
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, nullcontext
from types import CodeType, FrameType
from typing import Any

from ..diagnostics import ProgramError
from ..engine.graph.observer import Observer
from ..engine.schema.mode import state
from ..language.interpreter import Outcome
from ..language.program import Program
from ..language.source import Source
from ..language.tracing import Inner
from ..recording.looking import is_a
from ..recording.modules import named_modules
from .code import compiled
from .functions import Functions
from .labels import NOWHERE
from .own_engine import OwnSide
from .places import makers
from .program import live_program
from .recorder import Recorder
from .rewrite import Globals, heard, names_of
from .side import TorchSide
from .text import Text, cell_of, parsed
from .tracebacks import without

RECORDED = "gradcli.inspect"  # where recordings are made, and their answers
MOST = 100  # texts that are remembered
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


_read: dict[str, Program] = {}  # by the name of the file


def program_of(frame: FrameType) -> Program:
    """The text that a frame runs; an empty one where it is unknown. Each place of it knows that it
    is of this text: nodes of a graph may have been recorded in another one, in another cell."""
    filename = frame.f_code.co_filename
    linecache.checkcache(filename)
    text = "".join(linecache.getlines(filename, frame.f_globals))
    known = _read.get(filename)
    if known is not None and known.source.text == text:
        return known
    name = cell_of(filename) or (
        os.path.relpath(filename) if os.path.isfile(filename) else filename
    )
    try:
        program = live_program(Source(text, name), is_expr=False)
    except ProgramError:
        program = live_program(Source("", name), is_expr=False)
    for place in ast.walk(program.tree):
        place.of_source = program.source  # type: ignore[attr-defined]
    if len(_read) >= MOST:
        _read.clear()
    _read[filename] = program
    return program


class Session:
    """What spectators know as the machine: here a frame of another program."""

    def __init__(
        self, frame: FrameType, side: TorchSide | OwnSide, observer: Observer,
        recorder: Callable[..., Any] = Recorder,
    ) -> None:  # fmt: skip
        self.frame: FrameType | None = frame
        self.side = side
        self.program = program_of(frame)
        tree = self.program.tree
        self.text = Text(self.program.source, tree, frame.f_code.co_filename)
        self.recorder = recorder(side, self.text, observer)
        self.recorder.on_operation = self._operation
        self.recorder.on_pass = self._passing
        self.recorder.elsewhere = NOWHERE
        self.globals = Globals(_values(frame))
        self.before = dict(self.globals.values)
        self.on_bind: Callable[[str, Any], None] | None = None
        self.on_local: Callable[[Any, str, Any], None] | None = None
        self.listener: Any = None
        self.targets = _targets(tree)
        self.given: dict[int, Any] = {}  # no option of the command line changes a running text
        self.teller: Any = None
        self.calls: Any = None
        self.log = None  # expectations are not read here
        self.functions = Functions(self.text, self.globals.values)
        self.is_whole = False  # whether all of the text runs rewritten
        self.stack = ExitStack()
        side.homes.texts.add(str(frame.f_globals.get("__name__", "")))

    # ------------------------------------------------------------ what spectators ask for

    def listen(self, listener: Any) -> None:
        """From here on the origin of every value is reported."""
        self.listener = listener
        self.recorder.tells(listener)

    def evaluate(self, text: str, name: str = "<option>") -> Any:
        """The value of one more expression in the program's names."""
        return eval(compile(text.strip(), name, "eval"), dict(self.globals.values))

    def again(self, silently: bool) -> nullcontext[None]:
        """Within it functions of the program may run once more."""
        return nullcontext()

    def rewind(self) -> None:
        """Nothing of it runs again."""

    def holding(self) -> Iterator[Mapping[str, Any]]:
        """What names hold now: those of the frame and its module, then those of the functions
        that it has called."""
        yield self.globals.values if self.frame is None else _values(self.frame)
        frames = [one for one in self.text.frames(sys._getframe(1)) if one is not self.frame]
        yield from (one.f_locals for one in reversed(frames) if one.f_code.co_name != "<module>")

    # ------------------------------------------------------------ the recording

    def begin(self) -> None:
        """Everything is reported from here on."""
        if self.listener is not None and self.frame is not None:
            with self.recorder.telling():
                self._made_before(self.frame.f_lineno)
            self.recorder.on_parameter = self._registered
            self.functions.rewrite(self)
            if any(isinstance(part, DEFINITIONS) and part.lineno > self.frame.f_lineno
                   for part in ast.walk(self.text.tree)):  # fmt: skip
                self.text.on_place = self._defined
        self.stack.callback(self.functions.restore)
        self.stack.enter_context(self.recorder.recording())

    def _defined(self, frame: FrameType) -> None:
        """Functions may have come up since: what they are called for next is told in full."""
        with self.recorder.telling():
            self.functions.names = _values(frame)
            self.functions.rewrite(self)

    def code(self) -> CodeType:
        """Of a text that does not run yet: everything is reported."""
        self.is_whole = True
        code = compiled(self.text, self)
        self.text.tells(code)
        return code

    def end(self, error: BaseException | None) -> None:
        """Nothing any more; the names are those that the frame has now."""
        self.stack.close()
        if self.frame is not None:
            self.globals.values = _values(self.frame)
            if not self.is_whole:
                with self.recorder.telling():
                    self._rebound()
                    self._made_within(self.frame.f_lineno)
        self.frame = None
        if error is not None:
            error.__traceback__ = without(error.__traceback__, self.text)
        self.text.forget()
        if self.teller is not None:
            self.teller.forget()

    def _rebound(self) -> None:
        """Names that mean other tensors now than when the recording began."""
        for name, value in self.globals.values.items():
            target = self.targets.last.get(name)
            changed = is_a(value, self.side.tensor) and self.before.get(name) is not value
            if changed and target is not None and self.listener is not None:
                self.listener.stored(target, name, None, value)
        self.before = {}

    def outcome(self) -> Outcome:
        """The names of the frame, those of its module behind them."""
        bindings = self.side.bindings(self.globals.values)
        nodes = {name: self.targets.last[name] for name in bindings if name in self.targets.last}
        return Outcome(self.program, bindings, [], None, 0, nodes, self)  # type: ignore[arg-type]

    def _made_before(self, line: int) -> None:
        """What is there already: leaves, optimizers, hooks of modules."""
        values = self.globals.values
        for value, place in makers(self.text.tree, values, line):
            state.origin = place
            self.listener.made_before(place, value)
            if is_a(value, self.recorder.optimizer):
                for group in value.param_groups:
                    self.recorder.optimizing(value, group["params"])
        self.recorder.passes.hooks.of_modules(
            module for root in values.values() for _, module in named_modules(root)
        )

    def _made_within(self, line: int) -> None:
        """Leaves that were not reported, such as those of a copied module."""
        blocks = (part for part in ast.walk(self.text.tree) if isinstance(part, ast.With))
        ends = (part.end_lineno or line for part in blocks if part.lineno == line)
        if self.listener is not None:
            for value, place in makers(
                self.text.tree, self.globals.values, max(ends, default=line) + 1
            ):
                self.listener.made_somewhere(place, value)

    def _registered(self, parameter: Any) -> None:
        """A module is made, and was given this parameter."""
        if isinstance(state.origin, ast.AST):
            self.listener.made_before(state.origin, parameter, is_set=False)

    def _passing(self, frame: FrameType) -> None:
        """A pass begins: what do the functions that call it hold?"""
        if self.listener is not None:
            for one in self.text.frames(frame):
                if one is self.frame:
                    return
                if one.f_code.co_name != "<module>":
                    for name, value in one.f_locals.items():
                        self.listener.holds(name, value)

    # ------------------------------------------------------------ operations

    def _operation(
        self, node: Any, args: Any, kwargs: Any, result: Any, inner: Inner | None = None
    ) -> None:
        """A call of PyTorch, or of what writes to a tensor, with its parts and what it gave."""
        if self.listener is not None and node is not None:
            heard(self.listener, node, (*args, *kwargs.values()), result, inner)
        target = self.targets.of.get(id(node))
        if target is not None and isinstance(result, self.side.tensor) and not _constructs(node):
            self._bound(target, result)

    def _bound(self, target: ast.Name, value: Any) -> None:
        """An assignment is about to give its name this value."""
        inside = id(target) in self.targets.inside
        if self.listener is not None:
            self.listener.stored(target, target.id, self if inside else None, value)
        if inside:
            if self.on_local is not None:
                self.on_local(self, target.id, value)
        elif self.on_bind is not None:
            self.on_bind(target.id, value)


def _constructs(node: Any) -> bool:
    """Whether an expression makes an object of a class, and what it computes is a part of that."""
    function = getattr(node, "func", None)
    return str(getattr(function, "attr", getattr(function, "id", ""))).lstrip("_")[:1].isupper()


def _values(frame: FrameType) -> dict[str, Any]:
    """The names of a frame, then those of its module; no recordings and their answers: each would
    hold the one before it, and with it all that this one has kept."""
    names = {**frame.f_globals, **frame.f_locals}
    return {name: value for name, value in names.items() if not _is_recorded(value)}


def _is_recorded(value: Any) -> bool:
    home = getattr(type(value), "__module__", None)
    return type(home) is str and home.startswith(RECORDED)


class _Targets:
    """Which name an expression's value goes to, and which statement bound a name last."""

    def __init__(self) -> None:
        self.of: dict[int, ast.Name] = {}
        self.inside: set[int] = set()
        self.last: dict[str, ast.AST] = {}


def _targets(tree: ast.Module) -> _Targets:
    found = _Targets()
    pending: list[tuple[ast.AST, bool]] = [(tree, False)]
    for node, inside in pending:
        for child in ast.iter_child_nodes(node):
            pending.append((child, inside or isinstance(node, FUNCTIONS)))
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            target = node.targets[0]
            found.of[id(node.value)] = target
            found.last[target.id] = target
            if inside:
                found.inside.add(id(target))
        elif isinstance(node, (ast.Assign, ast.For)):
            for part in node.targets if isinstance(node, ast.Assign) else (node.target,):
                found.last.update((name.id, name) for name in names_of(part))
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.of[id(node)] = node.target
            if inside:
                found.inside.add(id(node.target))
    return found


__all__ = ["Session", "parsed", "program_of"]
