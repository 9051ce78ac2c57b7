"""The fuzzer's trees: random syntax trees over all of Python's node types, allowed here or not."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable
from typing import Any

NAMES = (
    "x", "y", "z", "f", "g", "A", "i", "self", "torch", "nn", "F", "optim", "math", "print",
    "range",
    "len", "tensor", "ones", "randn", "list", "dict", "int", "float", "str", "sum", "max", "super",
    "isinstance", "type", "Exception", "ValueError", "__name__", "_", "__class__", "eval", "open",
)  # fmt: skip
ATTRIBUTES = (
    "grad", "sum", "backward", "shape", "dtype", "T", "data", "item", "append", "format", "join",
    "nn",
    "functional", "relu", "Linear", "tensor", "zeros", "no_grad", "__init__", "__call__",
    "__dict__",
    "__class__", "x", "y", "grad_fn", "register_hook", "split", "keys", "items", "detach", "add_",
    "view", "requires_grad", "autograd", "Function", "Module", "args", "real", "numpy", "tolist",
)  # fmt: skip
CONSTANTS: tuple[Any, ...] = (
    0, 1, -1, 2, 3.5, 1e300, float("inf"), True, False, None, "", "a", "%d", "{}", "x=1", ..., 1j,
    b"b",
    10**20, "é", "\n", 255,
)  # fmt: skip
BINARY = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult, ast.LShift,
    ast.RShift, ast.BitOr, ast.BitXor, ast.BitAnd,
)  # fmt: skip
COMPARED = (
    ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Is, ast.IsNot, ast.In, ast.NotIn
)  # fmt: skip


def tree(draw: random.Random) -> ast.Module:
    return ast.Module(Grower(draw).block(draw.randint(1, 6), 4), [])


class Grower:
    """Makes nodes; each level has less room below it."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw

    def one(self, *options: Any) -> Any:
        return self.draw.choice(options)

    def name(self) -> str:
        return self.draw.choice(NAMES)

    def block(self, most: int, room: int) -> list[ast.stmt]:
        return [self.statement(room - 1) for _ in range(self.draw.randint(1, most))]

    def maybe(self, make: Callable[[], Any]) -> Any:
        return make() if self.draw.random() < 0.4 else None

    def several(self, make: Callable[[], Any], least: int = 0, most: int = 3) -> list[Any]:
        return [make() for _ in range(self.draw.randint(least, most))]

    # ------------------------------------------------------------ expressions

    def expression(self, room: int) -> ast.expr:
        if room <= 0 or self.draw.random() < 0.25:
            if self.draw.random() < 0.6:
                return ast.Name(self.name(), ast.Load())
            return ast.Constant(self.draw.choice(CONSTANTS))
        deeper = room - 1

        def e() -> ast.expr:
            return self.expression(deeper)

        made = self.draw.randrange(22)
        if made == 0:
            return ast.BinOp(e(), self.one(*BINARY)(), e())
        if made == 1:
            return ast.UnaryOp(self.one(ast.Not, ast.USub, ast.UAdd, ast.Invert)(), e())
        if made == 2:
            return ast.BoolOp(self.one(ast.And, ast.Or)(), self.several(e, 2))
        if made == 3:
            kinds = self.several(lambda: self.one(*COMPARED)(), 1, 2)
            return ast.Compare(e(), kinds, [e() for _ in kinds])
        if made in (4, 5, 6, 7):
            return ast.Call(
                e(), self.several(e, 0, 2), self.several(lambda: self.keyword(deeper), 0, 1)
            )
        if made in (8, 9):
            return ast.Attribute(e(), self.draw.choice(ATTRIBUTES), ast.Load())
        if made == 10:
            return ast.Subscript(e(), self.index(deeper), ast.Load())
        if made == 11:
            return ast.IfExp(e(), e(), e())
        if made == 12:
            return ast.Lambda(self.arguments(deeper), e())
        if made == 13:
            return ast.Dict(*self.pairs(deeper))
        if made == 14:
            return self.one(ast.List, ast.Tuple)(
                self.several(lambda: self.starred(deeper)), ast.Load()
            )
        if made == 15:
            return ast.Set(self.several(e, 1))
        if made == 16:
            kind = self.one(ast.ListComp, ast.SetComp, ast.GeneratorExp)
            return kind(e(), self.several(lambda: self.comprehension(deeper), 1, 2))  # type: ignore[no-any-return]
        if made == 17:
            return ast.DictComp(e(), e(), [self.comprehension(deeper)])
        if made == 18:
            return ast.NamedExpr(ast.Name(self.name(), ast.Store()), e())
        if made in (19, 20):
            return ast.JoinedStr(self.several(lambda: self.field(deeper), 1))
        return self.one(ast.Await(e()), ast.Yield(self.maybe(e)), ast.YieldFrom(e()))

    def field(self, room: int) -> ast.expr:
        if self.draw.random() < 0.4:
            return ast.Constant(self.one("a", "{", "}", "\n", "'", '"', "é", "{{x}}"))
        specification = self.maybe(
            lambda: ast.JoinedStr([ast.Constant(self.one(">10", ".3f", "d", "x", ""))])
        )
        return ast.FormattedValue(self.expression(room), self.one(-1, 114, 115, 97), specification)

    def starred(self, room: int) -> ast.expr:
        inner = self.expression(room)
        return ast.Starred(inner, ast.Load()) if self.draw.random() < 0.15 else inner

    def keyword(self, room: int) -> ast.keyword:
        name = None if self.draw.random() < 0.2 else self.one("dim", "x", "requires_grad", "key")
        return ast.keyword(name, self.expression(room))

    def pairs(self, room: int) -> tuple[list[Any], list[Any]]:
        keys = self.several(lambda: self.maybe(lambda: self.expression(room)))
        return keys, [self.expression(room) for _ in keys]

    def index(self, room: int) -> ast.expr:
        def part() -> Any:
            return self.maybe(lambda: self.expression(room))

        made = self.draw.randrange(3)
        if made == 0:
            return ast.Slice(part(), part(), part())
        if made == 1:
            return ast.Tuple([ast.Slice(part(), part(), None), self.expression(room)], ast.Load())
        return self.expression(room)

    def comprehension(self, room: int) -> ast.comprehension:
        rooms = self.several(lambda: self.expression(room), 0, 1)
        waits = int(self.draw.random() < 0.05)
        return ast.comprehension(self.target(room), self.expression(room), rooms, waits)

    def arguments(self, room: int) -> ast.arguments:
        def argument() -> ast.arg:
            note = self.maybe(lambda: self.expression(room - 1))
            return ast.arg(self.name(), note)

        plain, only = self.several(argument, 0, 2), self.several(argument, 0, 1)
        defaults = [self.expression(room) for _ in plain[: self.draw.randint(0, len(plain))]]
        filled = [self.maybe(lambda: self.expression(room)) for _ in only]
        first = self.several(argument, 0, 1)
        return ast.arguments(
            first, plain, self.maybe(argument), only, filled, self.maybe(argument), defaults
        )

    # ------------------------------------------------------------ statements

    def target(self, room: int) -> ast.expr:
        made = self.draw.randrange(8)
        if made == 0:
            return ast.Attribute(self.expression(room), self.draw.choice(ATTRIBUTES), ast.Store())
        if made == 1:
            return ast.Subscript(self.expression(room), self.index(room), ast.Store())
        if made == 2 and room > 0:
            return self.one(ast.Tuple, ast.List)(
                self.several(lambda: self.target(room - 1), 1), ast.Store()
            )  # type: ignore[no-any-return]
        if made == 3 and room > 0:
            return ast.Tuple(
                [ast.Starred(self.target(0), ast.Store()), self.target(0)], ast.Store()
            )
        return ast.Name(self.name(), ast.Store())

    def statement(self, room: int) -> ast.stmt:
        def e() -> ast.expr:
            return self.expression(room)

        if room <= 0 or self.draw.random() < 0.35:
            return self.simple(room)
        made = self.draw.randrange(12)
        body, other = self.block(3, room), self.block(2, room) if self.draw.random() < 0.3 else []
        if made == 0:
            return ast.If(e(), body, other)
        if made == 1:
            return ast.For(self.target(room), e(), body, other)
        if made == 2:
            return ast.While(e(), [*body, ast.Break()], other)
        if made in (3, 4):
            notes = self.several(e, 0, 1)
            kind = ast.FunctionDef if self.draw.random() < 0.9 else ast.AsyncFunctionDef
            return self.made(kind, name=self.name(), args=self.arguments(room), body=body,
                             decorator_list=notes, returns=self.maybe(e))  # fmt: skip
        if made == 5:
            return self.made(ast.ClassDef, name=self.name(), bases=self.several(e, 0, 1), body=body,
                             keywords=[], decorator_list=[])  # fmt: skip
        if made in (6, 7):
            handlers = self.several(lambda: self.handler(room), 1, 2)
            kind = ast.Try if self.draw.random() < 0.95 else getattr(ast, "TryStar", ast.Try)
            return kind(
                body, handlers, other, self.block(1, room) if self.draw.random() < 0.3 else []
            )  # type: ignore[no-any-return]
        if made == 8:
            items = [ast.withitem(e(), self.maybe(lambda: self.target(0)))]
            kind = ast.With if self.draw.random() < 0.9 else ast.AsyncWith
            return kind(items, body)  # type: ignore[no-any-return]
        if made == 9:
            return ast.Match(e(), self.several(lambda: self.case(room), 1, 2))
        return self.simple(room)

    def made(self, kind: type[ast.AST], **fields: Any) -> Any:
        """A definition; newer Pythons want type parameters."""
        if "type_params" in kind._fields:
            fields["type_params"] = []
        return kind(**fields)

    def handler(self, room: int) -> ast.ExceptHandler:
        kind = self.maybe(lambda: self.expression(1)) or ast.Name("Exception", ast.Load())
        return ast.ExceptHandler(kind, self.maybe(self.name), self.block(2, room))

    def case(self, room: int) -> Any:
        pattern: Any = self.one(
            ast.MatchAs(None, None), ast.MatchAs(None, "x"), ast.MatchValue(ast.Constant(1)),
            ast.MatchSingleton(None), ast.MatchSequence([ast.MatchStar("x")]),
            ast.MatchOr([ast.MatchValue(ast.Constant(1)), ast.MatchValue(ast.Constant(2))]),
            ast.MatchMapping([ast.Constant("a")], [ast.MatchAs(None, "y")], None),
            ast.MatchClass(ast.Name("A", ast.Load()), [], [], []),
        )  # fmt: skip
        return ast.match_case(pattern, self.maybe(lambda: self.expression(1)), self.block(2, room))

    def simple(self, room: int) -> ast.stmt:
        def e() -> ast.expr:
            return self.expression(room)

        made = self.draw.randrange(16)
        if made in (0, 1, 2, 3):
            return ast.Assign(self.several(lambda: self.target(room), 1, 2), e())
        if made == 4:
            return ast.AugAssign(ast.Name(self.name(), ast.Store()), self.one(*BINARY)(), e())
        if made == 5:
            return ast.AnnAssign(ast.Name(self.name(), ast.Store()), e(), self.maybe(e), 1)
        if made in (6, 7, 8):
            return ast.Expr(e())
        if made == 9:
            return self.one(ast.Return(self.maybe(e)), ast.Break(), ast.Continue(), ast.Pass())
        if made == 10:
            return ast.Assert(e(), self.maybe(e))
        if made == 11:
            raised = self.maybe(e)
            return ast.Raise(raised, self.maybe(e) if raised else None)
        if made == 12:
            return ast.Delete([self.target(room)])
        if made == 13:
            return self.one(ast.Global, ast.Nonlocal)([self.name()])  # type: ignore[no-any-return]
        if made == 14:
            return ast.Import(
                [
                    ast.alias(
                        self.one("torch", "os", "math", "numpy", "torch.nn"), self.maybe(self.name)
                    )
                ]
            )
        return ast.ImportFrom(self.one("torch", "torch.nn", "math", "os", "typing", "__future__"),
                              [ast.alias(self.one("nn", "Linear", "sqrt", "*", "x", "annotations"),
                              None)], 0)  # fmt: skip
