"""Questions: expressions of the program as formulas, in the names that its tensors have now."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from ...engine.tensors.tensor import Tensor
from ...language.names import Scope
from ...symbols.algebra import Algebra, Expr, broadcast
from ..graph import grad_fn_of
from .carrier import FUNCTIONS, Unsayable
from .names import Bound

if TYPE_CHECKING:
    from .words import Words


class Expressions:
    """Reads the expression that made a tensor; `clock` says when it ran, so what names meant."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.scopes: dict[int, Scope] | None = None

    def formula(self, node: ast.expr, clock: int) -> Expr:
        algebra = self.words.algebra
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return algebra.number(node.value)  # type: ignore[arg-type]
        if isinstance(node, ast.Name) or self._is_item(node, clock):
            return self._name(node, clock)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return algebra.neg(self.formula(node.operand, clock))
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            one, other = (self.formula(part, clock) for part in (node.left, node.right))
            return _BINARY[type(node.op)](algebra, one, other)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            sides = [("", self.formula(part, clock)) for part in (node.left, node.right)]
            return algebra.call("@", "operator", sides, None)
        if isinstance(node, ast.Call) and not any(isinstance(a, ast.Starred) for a in node.args):
            return self._from_call(node, clock)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARED:
            sides = [("", self.formula(p, clock)) for p in (node.left, node.comparators[0])]
            shape = broadcast(side.shape for _, side in sides)
            return algebra.call(_COMPARED[type(node.ops[0])], "operator", sides, shape)
        return self._pieces(node, clock)

    def _from_call(self, node: ast.Call, clock: int) -> Expr:
        """A call of PyTorch's: a function, or a method of something that has a formula."""
        given: list[tuple[str, Any]] = []
        function, style = ast.unparse(node.func), "function"
        root: Any = node.func
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and self._bound(root, clock) is None:
            if self._is_of_program(root):
                raise Unsayable(f"the name {root.id}")
        elif isinstance(node.func, ast.Attribute):
            function, style = node.func.attr, "method"
            given.append(("", self.formula(node.func.value, clock)))
        else:
            return self._pieces(node, clock)
        for keyword, value in (*(("", a) for a in node.args),
                               *((k.arg or "**", k.value) for k in node.keywords)):  # fmt: skip
            plain = isinstance(value, ast.Constant | ast.Tuple | ast.List)
            given.append((keyword, ast.unparse(value) if plain and not _names(value) else
                          self.formula(value, clock)))  # fmt: skip
        short = function.rpartition(".")[2]
        if short in FUNCTIONS and (style == "method" or function == f"torch.{short}"):
            function, style = short, "function"
        return self.words.algebra.call(function, style, given, None)

    def _is_item(self, node: ast.expr, clock: int) -> bool:
        """ws[0], where the list had this tensor when it was bound."""
        return (
            isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Constant)
            and self._bound(node, clock) is not None
        )

    def _name(self, node: ast.expr, clock: int) -> Expr:
        word = ast.unparse(node)
        bound = self._bound(node, clock)
        if bound is None:
            raise Unsayable(f"the name {word}")
        thing = bound.alive
        if thing is None:
            raise Unsayable(f"what {word} stood for")
        if bound.key is None:
            if bound.scope is None and self.words.globals.get(word) == thing:
                return self.words.algebra.name(word, (), float(thing))
            return self.words.algebra.number(thing)
        if isinstance(thing, Tensor):
            position = (self.words.ways.leaf(thing) if thing.grad_fn is None else
                        self.words.ways.inner(thing.grad_fn, thing.output_nr))  # fmt: skip
            if position is not None:
                return self.words.position(position, thing)
            return self.words.constant(thing)
        held, output_nr = bound.tensor(), bound.output_nr
        now = None if held is None else grad_fn_of(held)
        if held is not None and now is not None and now is not thing and now.sequence <= clock:
            thing, output_nr = now, held.output_nr  # changed in place before this line
        position = self.words.ways.inner(thing, output_nr)
        if position is None:
            raise Unsayable(f"what {word} stood for")
        return self.words.position(position, held)

    def _bound(self, node: ast.expr, clock: int) -> Bound | None:
        """What a name, or an item of it, meant at its place when the expression ran."""
        naming, word = self.words.labels.naming, ast.unparse(node)
        root: Any = node
        while isinstance(root, ast.Subscript):
            root = root.value
        if not isinstance(root, ast.Name):
            return None
        scope: Scope | None = self._scope_of(root)
        while scope is not None and scope.kind != "module":
            if root.id in scope.bound:
                return naming.last(scope, word, clock)
            scope = scope.parent
        return naming.last(None, word, clock)

    def _scope_of(self, node: ast.AST) -> Scope | None:
        if self.scopes is None:
            program = self.words.labels.ran.program
            assert program is not None
            self.scopes = {}
            pending: list[tuple[Any, Scope]] = [(part, program.module) for part in program.body]
            for part, scope in pending:
                self.scopes[id(part)] = scope
                inner = program.scopes.get(part, scope)
                pending.extend((child, inner) for child in ast.iter_child_nodes(part))
        return self.scopes.get(id(node))

    def _pieces(self, node: ast.expr, clock: int) -> Expr:
        """Any other expression: its text, with the names in it as they are reached now."""
        if any(isinstance(part, _REFUSED) for part in ast.walk(node)):
            raise Unsayable("an expression that binds names")
        stands: dict[str, Expr] = {}
        copy = ast.parse(ast.unparse(node), mode="eval").body
        originals = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
        copies = [part for part in ast.walk(copy) if isinstance(part, ast.Name)]
        if len(originals) != len(copies):
            raise Unsayable("an expression")
        for number, (part, twin) in enumerate(zip(originals, copies, strict=True)):
            if self._bound(part, clock) is None:
                if self._is_of_program(part):
                    raise Unsayable(f"the name {part.id}")
                continue
            twin.id = f"_{number}_"
            stands[twin.id] = self._name(part, clock)
        text = ast.unparse(copy)
        pieces: list[Any] = []
        for word in _split(text, stands):
            pieces.append(stands.get(word, word))
        atomic = isinstance(node, ast.Call | ast.Subscript | ast.Attribute)
        return self.words.algebra.text(pieces, atomic, None)

    def _is_of_program(self, node: ast.Name) -> bool:
        """Whether the program binds this name itself: a function of it, a value that is gone; what
        it imports under one name is PyTorch's."""
        program = self.words.labels.ran.program
        assert program is not None
        scope = self._scope_of(node)
        while scope is not None and scope.kind != "module":
            if node.id in scope.bound:
                return True
            scope = scope.parent
        return node.id in program.bindings and node.id not in program.aliases


_REFUSED = (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp, ast.NamedExpr,
            ast.JoinedStr, ast.IfExp, ast.BoolOp)  # fmt: skip


def _names(node: ast.AST) -> bool:
    """Whether an expression has names in it."""
    return any(isinstance(part, ast.Name) for part in ast.walk(node))


_COMPARED: dict[type, str] = {
    ast.Gt: ">", ast.Lt: "<", ast.GtE: ">=", ast.LtE: "<=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_BINARY: dict[type, Any] = {
    ast.Add: Algebra.add,
    ast.Sub: lambda algebra, one, other: algebra.add(one, algebra.neg(other)),
    ast.Mult: Algebra.mul,
    ast.Div: Algebra.div,
    ast.Pow: Algebra.power,
}


def _split(text: str, words: dict[str, Any]) -> list[str]:
    """The text cut before and behind each of the words."""
    if not words:
        return [text]
    return [p for p in re.split("(" + "|".join(map(re.escape, words)) + ")", text) if p]
