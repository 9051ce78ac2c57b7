"""Live: a program's tree in which every expression that may produce a value reports it.

`value` becomes `leave(number, enter(number) or value)`: order and laziness of Python stay as they
are, and so do lines and columns. What is called stands among the constants of the code.
"""

from __future__ import annotations

import ast
from typing import Any

from .reporting import Reporter
from .rewrite import Rewriter, planted_call

TOLD = (
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Call, ast.IfExp, ast.Attribute,
    ast.Subscript, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp,
)  # fmt: skip


class Tracer(Rewriter):
    """Reports to a Reporter, in addition to what a Rewriter reports."""

    teller: Reporter

    def begin(self) -> None:
        """Which names hold values at all: not modules, not functions."""
        self.bound = {
            node.id for node in ast.walk(self.tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }  # fmt: skip
        self.bound |= {node.arg for node in ast.walk(self.tree) if isinstance(node, ast.arg)}

    # ------------------------------------------------------------ expressions

    def visit(self, node: Any) -> Any:
        if isinstance(node, TOLD) and isinstance(
            getattr(node, "ctx", None), (ast.Load, type(None))
        ):
            if self.is_fixed(node):
                return node
            return self.reported(node)
        return super().visit(node)

    def reported(self, node: Any) -> ast.expr:
        """The expression between its beginning and its end."""
        number = self.number(node)
        self.inner(node)
        begin = planted_call("enter", node, ast.Constant(number))
        both = ast.copy_location(ast.BoolOp(ast.Or(), [begin, node]), node)
        return planted_call("leave", node, ast.Constant(number), both)

    def inner(self, node: Any) -> None:
        """Its parts. A method's owner is reported, the method itself is not."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if not self.is_fixed(node.func):
                node.func.value = self.visit(node.func.value)
            node.args = [self.visit(part) for part in node.args]
            node.keywords = [self.visit(part) for part in node.keywords]
        else:
            self.generic_visit(node)

    def is_fixed(self, node: Any) -> bool:
        """torch.nn.functional: a way through modules brings forth no value."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id not in self.bound

    def visit_Name(self, node: ast.Name) -> Any:
        if not isinstance(node.ctx, ast.Load) or node.id not in self.bound:
            return node
        return planted_call("loaded", node, ast.Constant(self.number(node)), node)

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        for part in node.body:
            if isinstance(part, (ast.Assign, ast.AnnAssign)) and part.value is not None:
                part.value = self.visit(part.value)
        return super().visit_ClassDef(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        """Only names in it are told: other places are those of the whole text."""
        for part in ast.walk(node):
            if isinstance(part, ast.FormattedValue) and isinstance(part.value, ast.Name):
                part.value = self.visit(part.value)
        return node

    def within_lambda(self, body: ast.expr) -> ast.expr:
        made: ast.expr = self.visit(body)
        return made

    # ------------------------------------------------------------ stores

    def visit_Assign(self, node: ast.Assign) -> Any:
        node.value = self.visit(node.value)
        wrote = self.written(node, node.targets, "value")
        for target in node.targets:
            if isinstance(target, (ast.Tuple, ast.List)):
                self.generic_visit(target)
        return [node, *wrote, *self.calls(*node.targets)]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is None:
            return node
        node.value = self.visit(node.value)
        return [node, *self.written(node, [node.target], "value"), *self.calls(node.target)]

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        target, number = node.target, self.number(node)
        node.value = self.visit(node.value)
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            return [node, *self.added(node, target)]
        operand = self.kept(node, "value")
        before = planted_call("before", target, ast.Constant(number), _load(target))
        after = planted_call("replaced", target, ast.Constant(number), ast.Constant(operand),
                             _load(target))  # fmt: skip
        return [_statement(before), node, _statement(after), *self.calls(target)]

    def written(self, node: Any, targets: list[Any], field: str) -> list[ast.stmt]:
        """The calls behind a statement that writes to attributes and items."""
        found: list[ast.stmt] = []
        for target in targets:
            if isinstance(target, (ast.Attribute, ast.Subscript)):
                place = self.number(target)
                value = self.kept(node, field)
                target.value = self.visit(target.value)
                if isinstance(target, ast.Subscript):
                    target.slice = self.visit(target.slice)
                owner = self.kept(target, "value")
                call = planted_call("written", target, *map(ast.Constant, (place, owner, value)))
                found.append(_statement(call))
        return found

    def added(self, node: ast.AugAssign, target: Any) -> list[ast.stmt]:
        """`owner[i] += value`: what was there is read when the operand is known."""
        place, number = self.number(target), self.number(node)
        operand = node.value
        target.value = self.visit(target.value)
        if isinstance(target, ast.Subscript):
            target.slice = self.visit(target.slice)
            item: Any = ast.Constant(self.kept(target, "slice"))
        else:
            item = ast.Constant(target.attr)
        owner, value = self.kept(target, "value"), self.spare()
        facts = map(ast.Constant, (value, owner))
        node.value = planted_call("operand", operand, *facts, item, operand)
        facts = map(ast.Constant, (place, number, owner, value))
        again = ast.copy_location(ast.Constant(item.value), target)
        return [_statement(planted_call("added", target, *facts, again))]

    def kept(self, node: Any, field: str) -> int:
        """The number under which a part is kept until the statement is done."""
        number = self.spare()
        part = getattr(node, field)
        setattr(node, field, planted_call("keep", part, ast.Constant(number), part))
        return number

    # ------------------------------------------------------------ flow

    def visit_Return(self, node: ast.Return) -> Any:
        if node.value is not None:
            value, number = self.visit(node.value), self.number(node)
            node.value = planted_call("returned", node, ast.Constant(number), value)
        return node

    def visit_With(self, node: ast.With) -> Any:
        body: list[ast.stmt] = []
        for part in node.body:
            made = self.visit(part)
            body.extend(made if isinstance(made, list) else [made])
        calls = self.calls(*(item.optional_vars for item in node.items))
        for item in reversed(node.items):
            number, manager = self.number(item.context_expr), item.context_expr
            first = planted_call("managing", manager, ast.Constant(number))
            made = self.visit(manager)
            item.context_expr = ast.copy_location(ast.BoolOp(ast.Or(), [first, made]), manager)
            entered = _statement(planted_call("entered", manager, ast.Constant(number)))
            left = _statement(planted_call("left", manager))
            body = [entered, ast.copy_location(ast.Try([*calls, *body], [], [], [left]), node)]
            calls = []
        node.body = body
        return node


def _load(name: ast.Name) -> ast.expr:
    return ast.copy_location(ast.Name(name.id, ast.Load()), name)


def _statement(call: ast.expr) -> ast.stmt:
    return ast.copy_location(ast.Expr(call), call)
