"""Live: a file that Python runs with PyTorch: its text, its names, and how it ends."""

from __future__ import annotations

import ast
import builtins
import contextlib
import gc
import os
import random
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any

from ..diagnostics import Diagnostic, Enough, ProgramError, Span
from ..language.expectations import Log, woven
from ..language.interpreter import Outcome
from ..language.notebook import count_within_cells, mark_echoes
from ..language.program import Program, SourceLimits, parse
from ..language.source import Source
from ..numerics.twister import DEFAULT_SEED
from ..process.ending import run_python
from ..process.interrupts import interruptible, silent
from .code import compiled
from .failures import TRIGGERED, diagnostic_of
from .imported import ImportedFiles
from .packages import start_of
from .printed import settle_printing
from .recorder import Recorder
from .rewrite import Globals, Listeners
from .text import Text, parsed

PREAMBLE = """import math
import torch
from torch import *
import torch.nn.functional as F
from torch import autograd, nn, optim
from torch.autograd import Variable
"""
SILENT = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
MODULE = "__main__"
TRACED = re.compile(r'^  File "(.*)", line (\d+), in ', re.M)


def live_program(source: Source, *, is_expr: bool, expectations: bool = False) -> Program:
    """A text that is Python; of an .expr file with the analysis of the language and its inputs."""
    if is_expr:
        try:
            return parse(source, SourceLimits(expectations=expectations))
        except ProgramError as refused:
            if refused.diagnostic.type == "SyntaxError" and not _is_python(source):
                raise
    tree = parsed(source)
    if expectations and "expect:" in source.text:
        tree.body = woven(source, tree.body)
    if source.cells:
        mark_echoes(tree.body, source.text, source.cells)
    if source.is_notebook:
        count_within_cells(tree.body, source.text, source.cells)
        tree.body.sort(key=lambda node: not _is_future(node))  # each cell may begin with them
    names = dict.fromkeys(
        node.id for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )  # fmt: skip
    scope: Any = None  # names are not resolved here: Python does that
    return Program(
        source, tuple(tree.body), scope, {}, (), tuple(names), {}, {}, {}, {}, frozenset()
    )


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _is_python(source: Source) -> bool:
    with contextlib.suppress(ProgramError):
        parsed(source)
        return True
    return False


STEPS_OF_A_NODE = 100  # what a node and its operation cost, in steps of the interpreter


class LiveMachine(Listeners):
    """One program that Python runs, and its listeners."""

    def __init__(
        self, program: Program, recorder: Callable[[Text], Recorder], *,
        inputs: Mapping[str, Any], overrides: Mapping[str, Any], arguments: tuple[str, ...],
        path: str | None, is_expr: bool,
    ) -> None:  # fmt: skip
        super().__init__()
        self.program, self.arguments, self.path = program, arguments, path
        tree = program.tree
        self.filename = os.path.abspath(path) if path is not None else program.source.name
        self.start = start_of(os.path.abspath(self.filename), tree)
        self.text = Text(program.source, tree, self.filename, self.start.folder)
        self.recorder = recorder(self.text)
        self.side = self.recorder.side
        self.module = types.ModuleType(MODULE)
        self.globals = Globals(self.module.__dict__)
        self.hidden = set(self.globals.values)
        self.first_node = 0
        expected = program.source.expectations
        self.log = Log(expected) if expected else None
        self._begun(inputs, overrides, is_expr=is_expr)

    def _begun(
        self, inputs: Mapping[str, Any], overrides: Mapping[str, Any], *, is_expr: bool
    ) -> None:
        values = self.globals.values
        if is_expr:
            names: dict[str, Any] = {}
            exec(PREAMBLE, names)
            names["torch"].manual_seed(DEFAULT_SEED)  # the same random numbers in every run
            # Kept where Python looks last: globals hold what the program binds, in that order.
            values["__builtins__"] = {**names, **vars(builtins)}
        else:
            values["__builtins__"] = builtins
        values["__file__"] = self.filename
        values["__annotations__"], values["__cached__"] = {}, None
        if self.start.spec is not None:
            values["__spec__"], values["__package__"] = self.start.spec, self.start.spec.parent
        self.given = {id(self.program.literals[name]): value for name, value in overrides.items()}
        self.hidden.update(values)
        for name, value in inputs.items():
            values[name] = value
            self.globals.nodes[name] = self.program.input_nodes[name]

    # ------------------------------------------------------------ what spectators ask for

    def evaluate(self, text: str, name: str = "<option>") -> Any:
        """The value of one more expression in the program's names, such as an option's."""
        source = Source(text.strip(), name)
        try:
            code = compile(source.text, name, "eval")
        except SyntaxError as error:
            raise source.error("SyntaxError", error.msg, source.span_at(0)) from None
        try:
            return eval(code, self.globals.values)
        except Exception as error:
            raise source.error(type(error).__name__, str(error), source.span_at(0)) from None

    def again(self, silently: bool) -> contextlib.AbstractContextManager[None]:
        """Within it functions of the program may run once more."""
        return contextlib.nullcontext()

    def holding(self) -> Iterator[Mapping[str, Any]]:
        """What names hold now: the global ones, then those of the functions that are running,
        from the outermost inwards."""
        yield {name: held for name, held in self.globals.values.items() if name not in self.hidden}
        frames = list(self.text.frames(sys._getframe(1)))
        yield from (one.f_locals for one in reversed(frames) if one.f_code.co_name != "<module>")

    def intervene(self, method: Any, *given: Any) -> None:
        """An option calls this method of a tensor: no call of the program reports it."""
        tensor, found = method.__self__, method(*given)
        if found is None:
            self.recorder.labels.retain(tensor)
        else:
            self.recorder.passes.hooks.registered("register_hook", (tensor, *given), found)

    # ------------------------------------------------------------ the run

    def run(self, write: Callable[[str], None], warned: Callable[..., None]) -> Outcome:
        """Runs the program to its end or its first error."""
        error: Diagnostic | None = None
        self.random = random_state(self.recorder.torch)
        self.first_node = _nodes_so_far(self.recorder.torch)
        try:
            code = compiled(self.text, self)
            self.text.tells(code)
        except SyntaxError as wrong:
            span = Span(wrong.lineno or 1, wrong.offset or 1, wrong.lineno or 1,
                        (wrong.offset or 1) + 1)  # fmt: skip
            raise self.program.source.error("SyntaxError", wrong.msg, span) from None
        run_python()
        with ExitStack() as stack:
            if interruptible():
                stack.callback(silent)
            stack.enter_context(self._at_home())
            stack.enter_context(_printing(write))
            # Lines of a notebook count in its cells, which the origin of an operation knows.
            own = "" if self.program.source.cells else self.text.filename
            stack.enter_context(_warning(warned, own))
            stack.enter_context(_collecting())
            stack.enter_context(ImportedFiles(self).importing())
            stack.enter_context(self.recorder.recording())
            try:
                if self.start.spec is not None and self.start.spec.parent:
                    import_module(self.start.spec.parent)
                exec(code, self.globals.values)
            except Enough:
                pass
            except SystemExit as end:
                error = self._left(end)
            except KeyboardInterrupt:
                raise
            except BaseException as raised:
                if self.log is not None:
                    self.log.over(raised)
                error = diagnostic_of(raised, self.text, self.recorder.explained(raised))
        settle_printing(self.recorder.torch)
        if self.recorder.defects:
            raise self.recorder.defects[0]
        return self.outcome(error)

    @contextmanager
    def with_defaults(self, device: str, dtype: str | None) -> Iterator[None]:
        """--device and --dtype: what PyTorch makes when a program says neither."""
        torch = self.recorder.torch
        before = torch.get_default_dtype()
        with ExitStack() as stack:
            if dtype is not None:
                stack.callback(torch.set_default_dtype, before)
                torch.set_default_dtype(getattr(torch, dtype))
            if device != "cpu":
                stack.enter_context(torch.device(device))
            yield

    def rewind(self) -> None:
        """The random numbers are those that the program began with."""
        for put, state_then in self.random:
            put(state_then)

    def outcome(self, error: Diagnostic | None) -> Outcome:
        """The names that it bound, modules and functions aside."""
        bindings = self.side.bindings(self.globals.values, self.hidden)
        nodes = {name: node for name, node in self.globals.nodes.items() if name in bindings}
        steps = STEPS_OF_A_NODE * (_nodes_so_far(self.recorder.torch) - self.first_node)
        return Outcome(self.program, bindings, [], error, steps, nodes, self)  # type: ignore[arg-type]

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not known of the run."""
        count = self.recorder.passes.unfollowed
        passes = "backward pass" if count == 1 else "backward passes"
        told = f"{count} {passes} over tensors that have no numbers: nothing of it is shown"
        return (told,) if count else ()

    def _left(self, end: SystemExit) -> Diagnostic | None:
        """sys.exit(): 0 and nothing are an end like others."""
        if end.code in (None, 0):
            return None
        return diagnostic_of(end, self.text)

    @contextmanager
    def _at_home(self) -> Iterator[None]:
        """As Python runs a script: its arguments, its folder first in the path, its module."""
        before = sys.argv, list(sys.path), sys.modules.get(MODULE)
        whole = self.start.spec is not None and self.filename
        sys.argv = [whole or self.path or "-", *self.arguments]
        sys.path.insert(0, self.start.folder if self.path is not None else "")
        sys.modules[MODULE] = self.module
        try:
            yield
        finally:
            sys.argv, sys.path[:] = before[0], before[1]
            if before[2] is not None:
                sys.modules[MODULE] = before[2]


def _nodes_so_far(torch: Any) -> int:
    """How many nodes PyTorch has made in this thread: each takes a number."""
    with torch.inference_mode(False), torch.enable_grad():
        leaf = torch.ones((), device="cpu", requires_grad=True)
        return int(leaf.view(()).grad_fn._sequence_nr())


def random_state(torch: Any) -> list[tuple[Callable[[Any], Any], Any]]:
    """Where random numbers come from, and how each goes on from here."""
    found: list[tuple[Callable[[Any], Any], Any]] = [
        (torch.set_rng_state, torch.get_rng_state()), (random.setstate, random.getstate()),
    ]  # fmt: skip
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        found.append((numpy.random.set_state, numpy.random.get_state()))
    return found


class _Printer:
    """Stands for standard output while a program runs."""

    def __init__(self, stream: Any, write: Callable[[str], None]) -> None:
        self._stream, self._write = stream, write

    def write(self, text: str) -> int:
        with contextlib.redirect_stdout(self._stream):  # listeners may print
            self._write(text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _printing(write: Callable[[str], None]) -> Iterator[None]:
    with contextlib.redirect_stdout(_Printer(sys.stdout, write)):
        yield


@contextmanager
def _collecting() -> Iterator[None]:
    """A command collects no garbage, since it ends soon; a training run needs it."""
    before = gc.isenabled()
    gc.enable()
    try:
        yield
    finally:
        if not before:
            gc.disable()


@contextmanager
def _warning(warned: Callable[..., None], program: str) -> Iterator[None]:
    """Warnings that Python would print are reported at the end, each once."""

    def show(
        message: Any, category: type[Warning], filename: str, lineno: int,
        file: Any = None, line: Any = None,
    ) -> None:  # fmt: skip
        if not issubclass(category, SILENT):
            words = TRIGGERED.sub("", str(message))
            # Anomaly mode shows the calls that made the node.
            told = [int(at) for file, at in TRACED.findall(str(message)) if file == program]
            told = told or ([lineno] if filename == program else [])
            warned(words, category, told[-1] if told else None)

    with warnings.catch_warnings():
        warnings.simplefilter("default")  # the command line has silenced those of our own files
        warnings.showwarning = show
        yield
