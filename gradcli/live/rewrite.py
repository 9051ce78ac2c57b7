"""Live: a program's tree with calls that report what its names are bound to.

Lines and columns stay as they are, so tracebacks and places are those of the text.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ..diagnostics import Enough
from ..engine.schema.mode import state
from ..language.tracing import Inner
from ..recording.sides import AnyTensor

if TYPE_CHECKING:
    from .expectations import Expecting
    from .text import Text

STORED, GIVEN, CAUGHT, CALLED, OVER = "stored", "given", "caught", "called", "over"


class Globals:
    """The names of the program, as the spectators of an interpreted one know them."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values
        self.nodes: dict[str, ast.AST] = {}


class Listeners:
    """The spectators of the run, which are told of names."""

    globals: Globals
    recorder: Any

    def __init__(self) -> None:
        self.on_bind: Callable[[str, Any], None] | None = None
        self.on_local: Callable[[Any, str, Any], None] | None = None
        self.listener: Any = None
        self.teller: Any = None
        self.calls: Any = None  # is told when functions of the program begin and end

    def listen(self, listener: Any) -> None:
        """From here on every expression is reported."""
        self.listener = listener
        self.recorder.tells(listener)
        self.recorder.on_operation = self.operation

    def operation(
        self, node: Any, args: Any, kwargs: Any, result: Any, inner: Inner | None = None
    ) -> None:
        """A call of PyTorch that no rewritten code reports: its operands and what it gave."""
        if node is not None:
            heard(self.listener, node, (*args, *kwargs.values()), result, inner)


def heard(
    listener: Any, node: ast.AST, operands: tuple[Any, ...], result: Any, inner: Inner | None = None
) -> None:
    """An expression is reported as a whole, with what it was computed from."""
    listener.begin()
    listener.enter()
    for value in operands:
        listener.given(value)
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        listener.written(node, operands[0], operands[-1])
    if inner is None:
        listener.leave(node, result)
    else:
        listener.lost(node, result, inner)
    listener.drop()


def planted_call(name: str, place: ast.AST, *arguments: ast.expr) -> ast.Call:
    """A call of what is planted under this name, at the place of a piece of the program."""
    made = ast.Call(ast.Constant(f"gradcli: {name}"), list(arguments), [])
    ast.copy_location(made.func, place)
    for argument in arguments:
        if not hasattr(argument, "lineno"):
            ast.copy_location(argument, place)
    return ast.copy_location(made, place)


class Rewriter(ast.NodeTransformer):
    def __init__(self, text: Text, machine: Any) -> None:
        self.machine = machine
        self.nodes: list[ast.AST] = [ast.Pass()]  # numbers start with 1: the sign is the scope
        self.values: dict[str, Any] = {}
        self.spares = 0
        self.depth = 0
        self.globals: list[set[str]] = []
        self.tree = text.tree
        self.twins: dict[int, ast.AST] = {}
        self.is_imported = False  # no name of it is a global one of the program
        self.expecting: Expecting | None = None  # where the text has expectations

    def module(self) -> ast.Module:
        memo: dict[int, Any] = {}
        tree = copy.deepcopy(self.tree, memo)
        self.twins = {id(memo[id(node)]): node for node in ast.walk(self.tree) if id(node) in memo}
        for original, value in self.machine.given.items():
            self.given_name(memo[original], value)
        self.begin()
        made: ast.Module = self.visit(tree)
        return ast.fix_missing_locations(made)

    def begin(self) -> None:
        """The tree is about to be visited."""

    def number(self, node: ast.AST) -> int:
        """The number of a place in the text."""
        self.nodes.append(self.twins[id(node)])
        return len(self.nodes) - 1

    def spare(self) -> int:
        """A number that stands for no place."""
        self.spares -= 1
        return self.spares

    def given_name(self, literal: Any, value: Any) -> None:
        """The option's value in place of the first literal that a name is set to."""
        name = f"gradcli: value {len(self.values)}"
        self.values[name] = value
        literal.__class__ = ast.Constant
        literal.value, literal.kind = name, None

    # ------------------------------------------------------------ what is reported

    def stored(self) -> Callable[[int, Any], Any]:
        """What a program calls with the number of a place and the value of its name, which it
        returns."""
        nodes, machine = self.nodes, self.machine
        places = machine.globals.nodes
        bind, local, teller = machine.on_bind, machine.on_local, machine.teller
        is_apart, defects = machine.recorder.is_apart, machine.recorder.defects
        off, is_leaf = machine.recorder.side.hands_off, machine.recorder.side.is_new_leaf

        def tell(number: int, value: Any) -> None:
            node: Any = nodes[number]
            places[node.id] = node
            if isinstance(value, AnyTensor) and is_leaf(value):
                state.origin = node
            if teller is not None:
                teller.stored(node, node.id, value, inside=False)
            if bind is not None:
                with off():  # what is looked at is no step of the program
                    bind(node.id, value)

        def tell_inside(number: int, value: Any) -> None:
            node: Any = nodes[-number]
            name = getattr(node, "id", "") or node.arg
            if teller is not None:
                teller.stored(node, name, value, inside=True)
            if local is not None:
                with off():
                    local(node, name, value)

        def telling(number: int, value: Any) -> Any:
            if not is_apart():
                try:
                    (tell if number >= 0 else tell_inside)(number, value)
                except Enough:
                    raise
                except Exception as error:  # our defect: the program goes on
                    defects.append(error)
            return value

        return telling

    def call(self, target: Any) -> ast.stmt:
        """The call that reports a name just bound, or the arguments of a function."""
        name = target.arg if isinstance(target, ast.arg) else target.id
        read = ast.copy_location(ast.Name(name, ast.Load()), target)
        return ast.copy_location(ast.Expr(self.reporting(target, name, read)), target)

    def reporting(self, target: Any, name: str, value: ast.expr) -> ast.Call:
        """The same as an expression, which is what was bound."""
        number = self.number(target)
        is_inside = self.is_imported or isinstance(target, ast.arg)
        if is_inside or (self.depth and name not in self.globals[-1]):
            number = -number
        return planted_call(STORED, target, ast.Constant(number), value)

    def calls(self, *targets: Any) -> list[ast.stmt]:
        """For every name in these targets."""
        return [self.call(name) for target in targets for name in names_of(target)]

    # ------------------------------------------------------------ statements

    def visit_Expr(self, node: ast.Expr) -> Any:
        if self.expecting is not None and hasattr(node, "expectation_step"):
            return self.expecting.statement(node)
        return self.generic_visit(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Any:
        node.value = self.visit(node.value)
        return self.reporting(node.target, node.target.id, node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        node.value = self.visit(node.value)
        return [node, *self.calls(*node.targets)]

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        node.value = self.visit(node.value)
        return [node, *self.calls(node.target)]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        node.value = node.value and self.visit(node.value)
        return [node, *(self.calls(node.target) if node.value is not None else ())]

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        node.body[:0] = self.calls(node.target)
        return node

    def visit_With(self, node: ast.With) -> Any:
        self.generic_visit(node)
        node.body[:0] = self.calls(*(item.optional_vars for item in node.items))
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        self.generic_visit(node)
        call = planted_call(CAUGHT, node.body[0])
        node.body.insert(0, ast.copy_location(ast.Expr(call), call))
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self.depth += 1
        self.globals.append({
            name for part in ast.walk(node) if isinstance(part, ast.Global) for name in part.names
        })  # fmt: skip
        self.generic_visit(node)
        given = node.args
        told = [self.call(one) for one in
                (*given.posonlyargs, *given.args, *given.kwonlyargs)]  # fmt: skip
        place = int(ast.get_docstring(node, clean=False) is not None)
        node.body[place:place] = told
        if self.machine.calls is not None and not _is_suspended(node):
            node.body[place:] = self.framed(node, node.body[place:])
        self.globals.pop()
        self.depth -= 1
        return node

    def framed(self, node: Any, body: list[ast.stmt]) -> list[ast.stmt]:
        """A function's body between its beginning and its end."""
        begin, end = (ast.copy_location(ast.Expr(planted_call(name, body[0])), body[0])
                      for name in (CALLED, OVER))  # fmt: skip
        return [begin, ast.copy_location(ast.Try(body, [], [], [end]), body[0])]

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        self.depth += 1
        self.globals.append(set())
        for place, part in enumerate(node.body):
            if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                node.body[place] = self.visit(part)
        self.globals.pop()
        self.depth -= 1
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        """Its arguments are reported in front of its value."""
        self.depth += 1
        self.globals.append(set())
        node.body = self.within_lambda(node.body)
        given = node.args
        told: list[ast.expr] = [
            planted_call(GIVEN, one, ast.Constant(-self.number(one)),
                         ast.copy_location(ast.Name(one.arg, ast.Load()), one))
            for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)
        ]  # fmt: skip
        if self.machine.calls is not None:
            told.insert(0, planted_call(CALLED, node.body))
        if told:
            node.body = ast.copy_location(ast.BoolOp(ast.Or(), [*told, node.body]), node.body)
        if self.machine.calls is not None:
            node.body = planted_call(OVER, node.body, node.body)
        self.globals.pop()
        self.depth -= 1
        return node

    def within_lambda(self, body: ast.expr) -> ast.expr:
        """Its expression, as it is."""
        return body


def _is_suspended(function: Any) -> bool:
    """Whether other code runs between the beginning of a function and its end."""
    pending: list[ast.AST] = list(function.body)
    for node in pending:
        if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            pending.extend(ast.iter_child_nodes(node))
    return False


def names_of(target: Any) -> Iterable[ast.Name]:
    """The names that a target binds."""
    if isinstance(target, ast.Name):
        yield target
    elif isinstance(target, ast.Starred):
        yield from names_of(target.value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from names_of(part)
