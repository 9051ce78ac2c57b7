"""language: runs a program statement by statement, and gives errors a place."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cached_property
from types import CodeType, TracebackType
from typing import TYPE_CHECKING, Any

from ..diagnostics import (
    CALLED_FROM,
    Cure,
    Diagnostic,
    ExitStatus,
    Label,
    LimitReached,
    ProgramError,
    Span,
)
from ..engine.memory.repr import settle_printoptions
from ..engine.schema.errors import DeviceMissing
from ..engine.schema.mode import state
from ..named import NamedTuple
from . import names
from .attributes import MissingAttribute
from .budget import Budget
from .builtins.errors import Raised, is_exit, message_of, name_of
from .builtins.paths import MissingPart
from .calls import invoke
from .compile.names import Globals, MissingName
from .compile.statements import StatementCompiler
from .generator_errors import end_generators, heard
from .operations import taken
from .own_errors import ROOM, is_defect
from .program import Program, parse_expression
from .running import running
from .session import session
from .stack import room_for_calls
from .syntax_warnings import syntax_warnings
from .values import stands_for

if TYPE_CHECKING:
    from weakref import ref

    from ..engine.tensors.tensor import Tensor
    from ..recording.side import Side
    from .expectations import Log

SHOWN_CALLS = 4
MOST_NAMES = 8  # of inputs without a value that are listed one by one


class BackwardCall(NamedTuple):
    """A call of backward or grad: where, and of which tensor, held weakly, where that is known."""

    span: Span
    text: str
    tensor: ref[Tensor] | None


class Outcome:
    """What a run leaves: the names it bound, what it was asked on the way, and its error."""

    def __init__(
        self,
        program: Program,
        bindings: dict[str, Any],
        backward_calls: list[BackwardCall],
        error: Diagnostic | None,
        steps: int,
        nodes: dict[str, ast.AST],
        machine: Machine | None = None,
        asked: int = 0,
    ) -> None:
        self.program, self.machine = program, machine
        self.bindings, self.nodes, self.backward_calls = bindings, nodes, backward_calls
        self.error, self.steps = error, steps
        self.asked = asked  # bytes of large arrays, in all

    def with_bindings(
        self, more: dict[str, Any], nodes: Mapping[str, ast.AST] | None = None
    ) -> Outcome:
        """The same with more names, and where in the text they were bound."""
        return Outcome(
            self.program, {**self.bindings, **more}, self.backward_calls, self.error, self.steps,
            {**self.nodes, **(nodes or {})}, self.machine, self.asked,
        )  # fmt: skip

    @cached_property
    def lines(self) -> dict[str, int]:
        """The line that bound a name last."""
        return {name: node.lineno for name, node in self.nodes.items()}  # type: ignore[attr-defined]

    def span_of(self, origin: object) -> Span | None:
        """The place of an origin, the opaque mark that every node of the graph carries."""
        return self.program.source.span_of(origin) if hasattr(origin, "lineno") else None

    def text_of(self, origin: object) -> str | None:
        """The text of the expression that an origin stands for."""
        span = self.span_of(origin)
        return None if span is None else self.program.source.text_of(span)

    def evaluate(self, text: str, name: str = "<option>") -> Any:
        """The value of one more expression in the program's names, such as an option's."""
        assert self.machine is not None
        return self.machine.evaluate(text, name)

    def again(self, *, silently: bool = False) -> AbstractContextManager[None]:
        """Within it functions of the program may run once more."""
        return nullcontext() if self.machine is None else self.machine.again(silently)


def run(
    program: Program,
    inputs: Mapping[str, Any],
    *,
    budget: Budget | None = None,
    write: Callable[[str], object] = sys.stdout.write,
    overrides: Mapping[str, Any] | None = None,
) -> Outcome:
    """Run a program to its end or its first error; the outcome has what was bound in either case.

    `inputs` are values for names that the program uses and never binds; `overrides` replace the
    literal that the program gives a name first.
    """
    machine = Machine(program, inputs, overrides or {})
    return machine.run(budget or Budget(), write)


class Machine:
    """One program with its global names."""

    def __init__(
        self,
        program: Program,
        inputs: Mapping[str, Any],
        overrides: Mapping[str, Any],
    ) -> None:
        self.program = program
        self.mark: Callable[[int, int], None] | None = None  # told where each statement begins
        self.globals = Globals()
        self.overrides: dict[int, Any] = {}
        for name, value in overrides.items():
            if name in program.literals:
                self.overrides[id(program.literals[name])] = value
            else:
                self.globals.values[name] = value
        for name, value in inputs.items():
            self.globals.values[name] = value
            if name in program.input_nodes:
                self.globals.nodes[name] = program.input_nodes[name]
        self.compiler = StatementCompiler(program, self.globals, self.overrides)
        self.compiler.dynamic.update(self.globals.values)
        self.log: Log | None = None
        if program.source.expectations:
            from .expectations import Log

            self.log = self.compiler.log = Log(program.source.expectations)

    def rewind(self) -> None:
        """The random numbers are those that the program began with; `as_new` sees to it."""

    def holding(self) -> Iterator[Mapping[str, Any]]:
        """What names hold now: the global ones, then those of the functions that are running,
        from the outermost inwards."""
        yield self.globals.values
        yield from reversed(list(running()))

    def intervene(self, method: Callable[..., Any], *given: Any) -> None:
        """An option calls this method of a tensor."""
        method(*given)

    def listen(self, listener: Any) -> None:
        """From here on the closures report every expression."""
        from .tracing import TracingCompiler

        compiler = TracingCompiler(self.program, self.globals, self.overrides, listener)
        compiler.dynamic.update(self.globals.values)
        compiler.log = self.log
        self.compiler = compiler

    @property
    def side(self) -> Side:
        """Whose tensors the program makes."""
        from ..recording.sides import OWN

        return OWN

    def run(self, budget: Budget, write: Callable[[str], object]) -> Outcome:
        missing = [name for name in self.program.inputs if name not in self.globals.values]
        # A script's name fails where it is read.
        if not (self.program.source.is_python or self.program.required.isdisjoint(missing)):
            return self.outcome(missing_inputs(self.program, missing), budget)
        error: Diagnostic | None = None
        if session.budget.has_generators:
            end_generators(session.budget)
        budget.start()
        session.reset(budget, write)
        session.failing, session.names = self.program.failing, self.globals.values
        session.aliases = self.program.aliases
        with _prepared(budget):
            if self.program.doubtful:
                for text in syntax_warnings(self.program.doubtful):
                    state.warn(text)
            try:
                try:
                    self.statements(budget)
                finally:
                    session.names = {}  # what they hold ends with this program
                    settle_printoptions()
            except BaseException as raised:
                if self.log is not None:
                    self.log.over(raised)
                if not is_exit(raised):
                    error = diagnose(self.program, raised, self.globals)
                    if error is None:
                        raise
        return self.outcome(error, budget)

    def statements(self, budget: Budget) -> None:
        """A top-level statement runs once: its closures are made just before and dropped after."""
        compiler, frame, mark = self.compiler, self.compiler.frame, self.mark
        module, source = self.program.module, self.program.source
        for node in self.program.body:
            if mark is not None:
                mark(*source.start_of(node))
            budget.fuel -= 1
            if budget.fuel < 0:
                budget.refill()
            closure = compiler.statement(node, module)
            if closure is not None:
                closure(frame)
        budget.look_at_missed()
        budget.look_at_nodes()

    def evaluate(self, text: str, name: str) -> Any:
        inner = parse_expression(text, name, self.globals.values)
        unknown = [word for word in inner.inputs if word not in self.globals.values]
        if unknown:
            span = inner.input_span(unknown[0])
            raise inner.source.error("NameError", f"name '{unknown[0]}' is not defined", span)
        for node in ast.walk(inner.body[0]):
            node.of_option = True  # type: ignore[attr-defined]  # no place in the program's text
        compiler = StatementCompiler(inner, self.globals, {})
        compiler.dynamic.update(self.globals.values)
        statement: Any = inner.body[0]
        with _prepared(session.budget):
            try:
                return compiler.expression(statement.value, inner.module)(compiler.frame)
            except BaseException as raised:
                error = diagnose(inner, raised)
                if error is None:
                    raise
                place = Label(inner.source.span_of(statement), "", primary=True)
                raise ProgramError(error._replace(labels=(place,))) from None

    @contextmanager
    def again(self, silently: bool) -> Iterator[None]:
        """Functions of the program (hooks, say) may run after its end, within what is left.

        What goes wrong in them is a ProgramError with its place.
        """
        asked = state.reserve, state.charge, session.write
        state.reserve, state.charge = session.budget.charge_bytes, session.budget.charge
        if silently:
            session.write = lambda text: None
        with _prepared(session.budget):
            try:
                yield
                session.budget.look_at_missed()
            except BaseException as raised:
                if not isinstance(raised, LimitReached) and _trail(raised.__traceback__)[0] is None:
                    raise  # nothing of the program was running
                error = diagnose(self.program, raised, self.globals)
                if error is None:
                    raise
                raise ProgramError(error) from None
            finally:
                state.reserve, state.charge, session.write = asked

    def outcome(self, error: Diagnostic | None, budget: Budget) -> Outcome:
        source, store = self.program.source, self.globals
        calls = []
        for node, tensor in session.backward_calls:
            span = source.span_of(node)
            calls.append(BackwardCall(span, source.text_of(span), tensor))  # type: ignore[arg-type]
        return Outcome(
            program=self.program,
            bindings=dict(store.values),
            backward_calls=calls,
            error=error,
            steps=budget.steps,
            nodes=dict(store.nodes),
            machine=self,
            asked=budget.asked_in_all,
        )


@contextmanager
def _prepared(budget: Budget) -> Iterator[None]:
    """Room for the calls that the budget allows; the engine's place and modes as they were."""
    before = (state.origin, state.grad_enabled, state.inference, state.taken, state.plain)
    state.taken, state.plain = taken, stands_for
    with room_for_calls(budget.max_depth), heard(budget):
        try:
            yield
        finally:
            state.origin, state.grad_enabled, state.inference, state.taken, state.plain = before


# ---------------------------------------------------------------- errors with places

_INVOKE: CodeType = invoke.__code__


def _trail(trace: TracebackType | None) -> tuple[ast.AST | None, list[ast.AST]]:
    """The innermost place of an error, and the calls of functions that led there."""
    place: ast.AST | None = None
    calls: list[ast.AST] = []
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_code is _INVOKE:
            if place is not None:
                calls.append(place)
        elif frame.f_code.co_filename.startswith(ROOM):
            node = frame.f_locals.get("node")
            if node is not None and hasattr(node, "lineno") and not hasattr(node, "of_option"):
                place = node
        trace = trace.tb_next
    return place, calls


def diagnose(
    program: Program, error: BaseException, store: Globals | None = None
) -> Diagnostic | None:
    """The diagnostic of what stopped a run; None for what is not the program's: an interrupt, a
    mistake of gradcli's own.

    With the names of the run, other places that matter are labelled too. The words of an error may
    be the program's own code: an error there is reported at its place.
    """
    if isinstance(error, ProgramError):
        return error.diagnostic
    if not isinstance(error, (Exception, LimitReached)) or is_defect(error):
        return None
    try:
        return _diagnosis(program, error, store, _words(error))
    except _WordsFailed as failed:
        own, place = failed.error, _trail(error.__traceback__)[0]
    state.origin = place or state.origin
    try:
        words = _words(own)
    except _WordsFailed:
        words = (name_of(own), "<exception str() failed>")
    return _diagnosis(program, own, store, words)


class _WordsFailed(Exception):
    """The message of an error could not be made."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


def _words(error: BaseException) -> tuple[str, str]:
    """The type and the message of an error."""
    limit = _limit_of(error)
    if limit is not None:
        return "LimitReached", str(limit)
    try:
        return name_of(error), message_of(error)
    except (Exception, LimitReached) as own:
        raise _WordsFailed(own) from None


def _diagnosis(
    program: Program, error: BaseException, store: Globals | None, words: tuple[str, str]
) -> Diagnostic:
    """Words, place, labels, advice."""
    source = program.source
    place, calls = _trail(error.__traceback__)
    origin: Any = state.origin
    if place is None and hasattr(origin, "lineno") and not hasattr(origin, "of_option"):
        place = origin
    if isinstance(error, (MissingAttribute, MissingName)) and isinstance(place, ast.Call):
        place = place.func  # what is called is not there
    labels: list[Label] = []
    cures: tuple[Cure, ...] = ()
    notes, status = _advice(program, error)
    if place is not None:
        text, span = "", source.place_of(place)
        if store is not None and status is ExitStatus.PROGRAM_ERROR:
            from .explain import explain

            with suppress(Raised, LimitReached, RecursionError, MemoryError):
                # What is shown may be the program's own `extra_repr`: without it, less is shown.
                found = explain(program, store.values, store.nodes, error, place)
                text, labels, notes = found.primary, found.labels, (*notes, *found.notes)
                cures, span = tuple(found.cures), found.span or span
        labels.insert(0, Label(span, text, primary=True))
        labels.extend(_call_labels(program, place, calls))
    return Diagnostic(*words, tuple(labels), notes, source.name, status, cures)


def _limit_of(error: BaseException) -> LimitReached | None:
    """The limit that stopped the run, where it was one; the host has two of its own."""
    if isinstance(error, LimitReached):
        return error
    if isinstance(error, MemoryError):
        return session.budget.memory_refused()
    if isinstance(error, RecursionError):
        return session.budget.stack_reached()
    return None


def _advice(program: Program, error: BaseException) -> tuple[tuple[str, ...], ExitStatus]:
    """What to do, and how the command ends."""
    if _limit_of(error) is not None:
        return (), ExitStatus.LIMIT_REACHED
    if isinstance(error, DeviceMissing):
        return (), ExitStatus.MISSING_DEVICE
    return _near(program, error), ExitStatus.PROGRAM_ERROR


def _near(program: Program, error: BaseException) -> tuple[str, ...]:
    if isinstance(error, MissingAttribute) and error.instead is not None:
        return (error.instead,)
    if isinstance(error, MissingAttribute) and error.near is not None:
        return (f"help: did you mean {_quoted(error.near)}?",)
    if isinstance(error, MissingPart):
        return error.advice
    if isinstance(error, MissingName) and error.word in names.NOT_AVAILABLE:
        return ("help: run the file by real Python with --engine torch, which trusts it",)
    if isinstance(error, MissingName) and error.word not in program.bindings:
        pool = set(program.bindings) | names.BUILTIN_NAMES | set(names.ROOTS)
        pool.update(word for word in names.torch_names() if "." not in word)
        for scope in program.scopes.values():
            pool.update(scope.bound)
        near = names.suggestion(error.word, sorted(pool))
        near = near or names.suggest_member("torch", error.word)
        settable = error.word in program.inputs and not error.word.endswith(_ERRORS)
        given = (f"help: --set {error.word}=1.0",) if settable else ()
        return (*given, f"help: did you mean {_quoted(near)}?") if near else given
    return ()


def _quoted(near: str) -> str:
    return near if "." in near else f"'{near}'"


def _call_labels(program: Program, place: ast.AST, calls: list[ast.AST]) -> Iterator[Label]:
    """The lines of the calls, the nearest and the outermost when there are many."""
    seen = {place.lineno}  # type: ignore[attr-defined]
    spans = []
    for node in reversed(calls):
        line = node.lineno  # type: ignore[attr-defined]
        if line not in seen:
            seen.add(line)
            spans.append(program.source.place_of(node))
    if len(spans) > SHOWN_CALLS:
        spans = spans[: SHOWN_CALLS - 1] + spans[-1:]
    for span in spans:
        yield Label(span, CALLED_FROM)


def missing_inputs(program: Program, missing: list[str]) -> Diagnostic:
    """Names the inputs without a value and shows the command that sets them."""
    source = program.source
    first, left = missing[:MOST_NAMES], len(missing[MOST_NAMES:])
    more = f" and {left:,} more" if left else ""
    labels = [
        Label(program.input_span(name), "never assigned", primary=place == 0)
        for place, name in enumerate(first)
    ]
    listed = ", ".join(f"'{name}'" for name in first)
    plural, have = ("inputs", "have") if len(missing) > 1 else ("input", "has")
    settings = " ".join(f"--set {name}=1.0" for name in first)
    # A type of errors is no input.
    notes = [] if all(name.endswith(_ERRORS) for name in first) else [f"help: {settings}{more}"]
    local = {word for scope in program.scopes.values() for word in scope.bound}
    known = set(program.bindings) | set(program.inputs) - set(missing) | local
    pool = sorted(known | names.BUILTIN_NAMES)
    for name in first:
        near = names.suggestion(name, pool)
        if near and near != name and (not _is_short(name) or near.lower() == name.lower()):
            notes.append(f"help: {'or ' * bool(notes)}did you mean '{near}' instead of '{name}'?")
    message = f"the {plural} {listed}{more} {have} no value"
    return Diagnostic("NameError", message, tuple(labels), tuple(notes), source.name)


_ERRORS = ("Error", "Exception", "Warning")


def _is_short(name: str) -> bool:
    """Letters such as w1 and x resemble every other name."""
    return len(name) < 4
