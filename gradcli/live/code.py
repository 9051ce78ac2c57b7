"""Live: a rewritten program as code, with the functions that it reports to among its constants."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Callable
from threading import get_ident
from types import CodeType
from typing import Any

from ..language.echo import shown
from .expectations import Expecting
from .node_hooks import REGISTERING, NodeHookRewriter
from .reporting import Reporter
from .rewrite import CALLED, CAUGHT, GIVEN, OVER, STORED, Rewriter, planted_call
from .text import Text
from .tracebacks import catching
from .tracing import Tracer

ECHO = "echo"


def echo(value: Any) -> None:
    """What a notebook shows of a cell's last value; nothing for None."""
    if value is not None:
        print(shown(value, repr, lambda count: None))


def calling(machine: Any) -> tuple[Callable[[], None], Callable[..., Any]]:
    """What functions call when they begin and when they end."""
    calls, spot, thread = machine.calls, machine.recorder.text.spot, get_ident()

    def called() -> None:
        frame = sys._getframe(1)
        if get_ident() == thread:
            name = frame.f_code.co_qualname.rpartition("<locals>.")[2]
            calls.called(id(frame), name, spot(frame.f_back).node)

    def over(value: Any = None) -> Any:
        if get_ident() == thread:
            calls.returned_from(id(sys._getframe(1)))
        return value

    return called, over


def rewriter_of(text: Text, machine: Any) -> tuple[Rewriter, dict[str, Any]]:
    """One that reports names, or every expression where a listener is attached."""
    if machine.listener is None:
        rewriter = NodeHookRewriter(text, machine)
        return rewriter, {f"gradcli: {REGISTERING}": rewriter.registering()}
    tracer = Tracer(text, machine)
    recorder = machine.recorder
    teller = Reporter(tracer.nodes, machine.listener, recorder.side, recorder.defects)
    machine.teller = teller
    teller.on_handle = machine.recorder.passes.hooks.noticed
    return tracer, teller.table


def compiled(
    text: Text, machine: Any,
    rewriter_of: Callable[[Text, Any], tuple[Rewriter, dict[str, Any]]] = rewriter_of,
) -> CodeType:  # fmt: skip
    """The program's code with calls in it that lead to the machine.

    What is called stands among the constants of the code, where no program meets it.
    """
    rewriter, more = rewriter_of(text, machine)
    if machine.log is not None:
        rewriter.expecting = Expecting(machine.log)
        more = {**more, **rewriter.expecting.table()}
    module = rewriter.module()
    for statement in module.body:
        if isinstance(statement, ast.Expr) and hasattr(statement, "echo"):
            statement.value = planted_call(ECHO, statement.value, statement.value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # that a text is called: see below
        code = compile(module, text.filename, "exec", dont_inherit=True)
    stored = rewriter.stored()

    def given(number: int, value: Any) -> None:
        stored(number, value)

    planted: dict[str, Any] = {STORED: stored, GIVEN: given, CAUGHT: catching(text), ECHO: echo}
    if machine.calls is not None:
        planted[CALLED], planted[OVER] = calling(machine)
    table = {f"gradcli: {name}": called for name, called in planted.items()}
    return _planted(code, {**table, **rewriter.values, **more})


def _planted(code: CodeType, values: dict[str, Any]) -> CodeType:
    """The code, and that of its functions, with values in place of the texts for them."""
    constants = []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            constant = _planted(constant, values)
        elif type(constant) is str and constant in values:
            constant = values[constant]
        constants.append(constant)
    return code.replace(co_consts=tuple(constants))
