"""language: one pass over the parsed tree: closed list, nesting, scopes, namespaces."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from typing import Any

from ..diagnostics import ProgramError
from . import grammar, modules, names
from .doubts import is_doubtful
from .names import Scope
from .source import Source

ABSTRACT = frozenset({"ABCMeta", "abc.ABCMeta"})  # the metaclass that classes may name
Handler = Callable[["Checker", Any, Scope, int], None]


def _may_come_first(node: ast.stmt) -> bool:
    """A text that stands alone, or an import from __future__."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


class Checker:
    """Refuses what is not in the language and collects the names of every scope."""

    def __init__(self, source: Source, max_nesting: int) -> None:
        self.source = source
        self.max_nesting = max_nesting
        self.module = Scope("module", ast.Module([], []), None)
        self.scopes: dict[ast.AST, Scope] = {}
        self.imports: dict[str, list[str]] = {}  # name -> full dotted names it was imported as
        self.assigned: set[str] = set()  # global names bound by something else than an import
        self.augmented_only: set[str] = set()  # global names that only `+=` and the like bind
        self.doubtful: list[ast.AST] = []  # what Python's compiler may warn of
        self.futures: list[ast.ImportFrom] = []
        self.loops = 0  # loops around the current statement, within its function
        self.perhaps_used: dict[str, ast.AST] = {}  # global names where code may never run
        self.perhaps_called: dict[str, ast.AST] = {}
        self.owner: str | None = None  # the class around, whose private names are its own
        self.branches = 0  # statements around the current one that decide whether it runs

    # ------------------------------------------------------------ refusals

    def refuse(
        self, node: Any, message: str, *notes: str, type: str = "SyntaxError"
    ) -> ProgramError:
        return self.source.error(type, message, self.source.span_of(node), *notes)

    def refuse_construct(self, node: Any) -> ProgramError:
        said, instead = grammar.words_of(node)
        while not hasattr(node, "lineno"):  # parts such as match_case have no place of their own
            node = next(ast.iter_child_nodes(node))
        return self.refuse(node, f"{said} is not part of the language", f"help: {instead}")

    # ------------------------------------------------------------ walking

    def visit(self, node: Any, scope: Scope, depth: int) -> None:
        handler = HANDLERS.get(type(node))
        if handler is None:
            raise self.refuse_construct(node)
        if depth > self.max_nesting:
            words = f"the limit of {self.max_nesting} levels of nesting is reached"
            raise self.source.too_deep(words, self.source.span_of(node))
        handler(self, node, scope, depth + 1)

    def block(self, body: list[ast.stmt], scope: Scope, depth: int) -> None:
        if depth > self.max_nesting and body:
            self.visit(body[0], scope, depth)  # says so
        handler_of = HANDLERS.get
        inner = depth + 1
        for statement in body:
            handler = handler_of(type(statement))
            if handler is None:
                raise self.refuse_construct(statement)
            handler(self, statement, scope, inner)

    def bind(self, name: str, node: ast.AST, scope: Scope) -> None:
        """A binding that is no import."""
        scope.bind(name, node)
        if name in scope.global_names or name in scope.nonlocal_names:
            scope.early.add(name)
        if scope.kind == "module" or name in scope.global_names:
            self.assigned.add(name)
            self.augmented_only.discard(name)
        if grammar.is_foreign(name) and (scope.kind == "class" or name not in grammar.OF_FILES):
            raise self.refuse(node, f"the name {name!r} is not part of the language")

    def target(self, node: Any, scope: Scope, depth: int) -> None:
        """The left side of an assignment."""
        kind = type(node)
        if kind is ast.Name:
            name = node.id
            if self.owner is not None and name.startswith("__"):
                node.id = name = grammar.mangled(name, self.owner)
            if scope is not self.module or self.augmented_only or name.startswith("__"):
                self.bind(name, node, scope)
            elif name not in self.assigned:
                self.assigned.add(name)
                scope.bound.setdefault(name, node)
        elif kind is ast.Tuple or kind is ast.List:
            if sum(type(item) is ast.Starred for item in node.elts) > 1:
                raise self.refuse(node, "multiple starred expressions in assignment")
            for item in node.elts:
                inner = item.value if type(item) is ast.Starred else item
                self.target(inner, scope, depth + 1)
        elif kind is ast.Starred:
            raise self.refuse(node, "starred assignment target must be in a list or tuple")
        else:
            self.visit(node, scope, depth)

    # ------------------------------------------------------------ expressions

    def generic(self, node: Any, scope: Scope, depth: int) -> None:
        for field in FIELDS[type(node)]:
            child = getattr(node, field)
            if type(child) is list:
                for item in child:
                    if item is not None:
                        self.visit(item, scope, depth)
            elif child is not None:
                self.visit(child, scope, depth)

    def doubted(self, node: Any, scope: Scope, depth: int) -> None:
        self.generic(node, scope, depth)
        if is_doubtful(node):
            self.doubtful.append(node)

    def constant(self, node: ast.Constant, scope: Scope, depth: int) -> None:
        problem = grammar.constant_refusal(node.value)
        if problem is not None:
            raise self.refuse(node, problem)

    def name(self, node: ast.Name, scope: Scope, depth: int) -> None:
        uses = scope.uses
        if self.owner is not None and node.id.startswith("__"):
            node.id = grammar.mangled(node.id, self.owner)
        if node.id not in uses:
            uses[node.id] = node

    def attribute(self, node: ast.Attribute, scope: Scope, depth: int) -> None:
        base: Any = node
        steps = 0
        while type(base) is ast.Attribute:
            if base.attr.startswith("__"):
                self.special_attribute(base, scope)
            steps += 1
            base = base.value
        if type(base) is ast.Name:
            self.name(base, scope, depth)
            return
        self.visit(base, scope, depth + steps)

    def special_attribute(self, node: ast.Attribute, scope: Scope) -> None:
        """`__x__` where it has no meaning fails where it runs; where it surely runs, at once."""
        node.attr = grammar.mangled(node.attr, self.owner)
        if grammar.is_foreign(node.attr) and self.is_certain(scope):
            words = f"the attribute {node.attr!r} is not part of the language"
            raise self.refuse(node, words, type="AttributeError")

    def call(self, node: ast.Call, scope: Scope, depth: int) -> None:
        function = node.func
        if type(function) is ast.Name:
            scope.calls.setdefault(function.id, function)
        else:
            self.visit(function, scope, depth)
            if is_doubtful(node):
                self.doubtful.append(node)
        for argument in node.args:
            self.visit(argument.value if type(argument) is ast.Starred else argument, scope, depth)
        for keyword in node.keywords:
            self.visit(keyword.value, scope, depth)
        given: set[str] = set()
        for keyword in node.keywords:
            if keyword.arg in given:
                raise self.refuse(keyword, f"keyword argument repeated: {keyword.arg}")
            if keyword.arg is not None:
                given.add(keyword.arg)

    def display(self, node: Any, scope: Scope, depth: int) -> None:
        """[...], (...), {...}: the only places, with calls, where a star may stand."""
        for item in node.elts:
            self.visit(item.value if type(item) is ast.Starred else item, scope, depth)

    def starred(self, node: ast.Starred, scope: Scope, depth: int) -> None:
        raise self.refuse(node, "can't use starred expression here")

    def binary(self, node: ast.BinOp, scope: Scope, depth: int) -> None:
        """Most operands are names and numbers, which need no call each."""
        left: Any = node.left
        kind = type(left)
        if depth > self.max_nesting or (kind is ast.BinOp and type(left.left) is ast.BinOp):
            self.spine(node, scope, depth)
            return
        uses = scope.uses
        if kind is ast.Name:
            if left.id not in uses:
                uses[left.id] = left
        elif kind is ast.BinOp:
            self.binary(left, scope, depth)
        elif kind is not ast.Constant or type(left.value) is not float:
            self.visit(left, scope, depth)
        right: Any = node.right
        kind = type(right)
        if kind is ast.Name:
            if right.id not in uses:
                uses[right.id] = right
        elif kind is ast.BinOp:
            self.binary(right, scope, depth + 1)
        elif kind is not ast.Constant or type(right.value) is not float:
            self.visit(right, scope, depth)

    def spine(self, node: ast.BinOp, scope: Scope, depth: int) -> None:
        """A long sum is a deep tree but no deep nesting: its left side is walked in a loop."""
        operands: list[Any] = []
        left: Any = node
        while type(left) is ast.BinOp:
            operands.append(left.right)
            left = left.left
        self.visit(left, scope, depth)
        for operand in reversed(operands):
            self.visit(operand, scope, depth)

    def named(self, node: ast.NamedExpr, scope: Scope, depth: int) -> None:
        self.visit(node.value, scope, depth)
        name, binder = node.target.id, scope.binder()
        current = scope
        while current is not binder:  # generator expressions have frames of their own
            is_global = binder.kind == "module" or name in binder.global_names
            (current.global_names if is_global else current.nonlocal_names).add(name)
            assert current.parent is not None
            current = current.parent
        self.bind(name, node.target, binder)

    def arguments(self, node: ast.arguments, scope: Scope, depth: int) -> None:
        """Defaults belong to the block around the function."""
        for default in (*node.defaults, *node.kw_defaults):
            if default is not None:
                self.visit(default, scope, depth)

    def parameters(self, node: ast.arguments, scope: Scope) -> None:
        every = [*node.posonlyargs, *node.args, *node.kwonlyargs]
        if node.vararg is not None:
            every.append(node.vararg)
        if node.kwarg is not None:
            every.append(node.kwarg)
        for argument in every:
            if argument.arg in scope.bound:
                raise self.refuse(
                    argument, f"duplicate argument '{argument.arg}' in function definition"
                )
            self.bind(argument.arg, argument, scope)

    def function_scope(self, node: Any, scope: Scope) -> Scope:
        inner = Scope("function", node, scope)
        self.scopes[node] = inner
        return inner

    def lambda_(self, node: ast.Lambda, scope: Scope, depth: int) -> None:
        self.arguments(node.args, scope, depth)
        inner = self.function_scope(node, scope)
        self.parameters(node.args, inner)
        self.visit(node.body, inner, depth)

    def comprehension(self, node: Any, scope: Scope, depth: int) -> None:
        first = node.generators[0]
        self.visit(first.iter, scope, depth)
        if type(node) is ast.GeneratorExp:
            inner = self.function_scope(node, scope)
        else:
            inner = Scope("comprehension", node, scope)
            self.scopes[node] = inner
        for generator in node.generators:
            if generator.is_async:
                raise self.refuse(generator.target, "'async for' is not part of the language")
            if generator is not first:
                self.visit(generator.iter, inner, depth)
            self.target(generator.target, inner, depth)
            for condition in generator.ifs:
                self.visit(condition, inner, depth)
        if type(node) is ast.DictComp:
            self.visit(node.key, inner, depth)
            self.visit(node.value, inner, depth)
        else:
            self.visit(node.elt, inner, depth)

    # ------------------------------------------------------------ statements

    @contextmanager
    def perhaps(self, scope: Scope) -> Iterator[None]:
        """Within it stands what may never run."""
        self.branches += 1
        if scope is not self.module:
            yield
        else:
            certain = scope.uses, scope.calls
            scope.uses, scope.calls = self.perhaps_used, self.perhaps_called
            yield
            scope.uses, scope.calls = certain
        self.branches -= 1

    def expression_statement(self, node: ast.Expr, scope: Scope, depth: int) -> None:
        if not self.yielded(node.value, scope, depth):
            self.visit(node.value, scope, depth)

    def yielded(self, node: ast.expr, scope: Scope, depth: int) -> bool:
        """`yield` where a statement is made of it: alone, or on the right of an assignment."""
        if not isinstance(node, ast.Yield | ast.YieldFrom):
            return False
        if scope.kind != "function" or type(scope.node) is not ast.FunctionDef:
            raise self.refuse(node, "'yield' outside function")
        scope.yields = True
        if node.value is not None:
            self.visit(node.value, scope, depth)
        return True

    def yield_(self, node: ast.Yield, scope: Scope, depth: int) -> None:
        raise self.refuse(
            node, "'yield' inside an expression is not part of the language",
            "help: give it a line of its own: received = yield value",
        )  # fmt: skip

    def match(self, node: ast.Match, scope: Scope, depth: int) -> None:
        self.visit(node.subject, scope, depth)
        with self.perhaps(scope):
            for case in node.cases:
                self.pattern(case.pattern, scope, depth)
                if case.guard is not None:
                    self.visit(case.guard, scope, depth)
                self.block(case.body, scope, depth)

    def pattern(self, node: Any, scope: Scope, depth: int) -> None:
        """What a `case` compares with, and the names that it binds."""
        if depth > self.max_nesting:
            words = f"the limit of {self.max_nesting} levels of nesting is reached"
            raise self.source.too_deep(words, self.source.span_of(node))
        for field, value in ast.iter_fields(node):
            if field in ("name", "rest") and value is not None:
                self.bind(value, node, scope)
            for part in value if type(value) is list else [value]:
                if isinstance(part, ast.pattern):
                    self.pattern(part, scope, depth + 1)
                elif isinstance(part, ast.expr):
                    self.visit(part, scope, depth + 1)

    def assign(self, node: ast.Assign, scope: Scope, depth: int) -> None:
        value = node.value
        if self.yielded(value, scope, depth):
            pass
        elif type(value) is ast.BinOp and depth <= self.max_nesting:
            self.binary(value, scope, depth + 1)
        else:
            self.visit(value, scope, depth)
        for target in node.targets:
            self.target(target, scope, depth)

    def annotated(self, node: ast.AnnAssign, scope: Scope, depth: int) -> None:
        if node.value is not None:
            self.visit(node.value, scope, depth)
            self.target(node.target, scope, depth)
        elif scope.kind == "function" and type(node.target) is ast.Name:
            scope.bind(node.target.id, node.target)

    def augmented(self, node: ast.AugAssign, scope: Scope, depth: int) -> None:
        self.visit(node.value, scope, depth)
        if type(node.target) is ast.Name:
            name = node.target.id
            new = scope.kind == "module" and name not in scope.bound
            self.bind(name, node.target, scope)
            if new:  # `w += 1` reads w first: where nothing else binds it, w is an input
                self.augmented_only.add(name)
        else:
            self.visit(node.target, scope, depth)

    def if_(self, node: ast.If, scope: Scope, depth: int) -> None:
        current: Any = node
        while True:  # a chain of elif is a list of branches, not nesting
            self.visit(current.test, scope, depth)
            with self.perhaps(scope):
                self.block(current.body, scope, depth)
            if len(current.orelse) == 1 and type(current.orelse[0]) is ast.If:
                current = current.orelse[0]
                continue
            with self.perhaps(scope):
                self.block(current.orelse, scope, depth)
            return

    def for_(self, node: ast.For, scope: Scope, depth: int) -> None:
        self.visit(node.iter, scope, depth)
        self.target(node.target, scope, depth)
        self.loop_body(node.body, scope, depth)
        self.block(node.orelse, scope, depth)

    def while_(self, node: ast.While, scope: Scope, depth: int) -> None:
        self.visit(node.test, scope, depth)
        with self.perhaps(scope):
            self.loop_body(node.body, scope, depth)
        self.block(node.orelse, scope, depth)

    def loop_body(self, body: list[ast.stmt], scope: Scope, depth: int) -> None:
        self.loops += 1
        self.block(body, scope, depth)
        self.loops -= 1

    def jump(self, node: Any, scope: Scope, depth: int) -> None:
        if not self.loops:
            if type(node) is ast.Break:
                raise self.refuse(node, "'break' outside loop")
            raise self.refuse(node, "'continue' not properly in loop")

    def return_(self, node: ast.Return, scope: Scope, depth: int) -> None:
        if scope.kind != "function":
            raise self.refuse(node, "'return' outside function")
        if node.value is not None:
            self.visit(node.value, scope, depth)

    def with_(self, node: ast.With, scope: Scope, depth: int) -> None:
        for item in node.items:
            self.visit(item.context_expr, scope, depth)
            if item.optional_vars is not None:
                self.target(item.optional_vars, scope, depth)
        self.block(node.body, scope, depth)

    def function(self, node: ast.FunctionDef, scope: Scope, depth: int) -> None:
        if getattr(node, "type_params", None):
            raise self.refuse(node, "a type parameter is not part of the language",
                              "help: leave it out; annotations are not evaluated")  # fmt: skip
        for decorator in node.decorator_list:
            self.visit(decorator, scope, depth)
        self.arguments(node.args, scope, depth)
        node.name = grammar.mangled(node.name, self.owner)
        self.bind(node.name, node, scope)
        inner = self.function_scope(node, scope)
        self.parameters(node.args, inner)
        own = frozenset(inner.bound)
        self.declarations(node.body, inner)
        self.refuse_declared(node.body, own, inner)
        loops, self.loops = self.loops, 0
        self.block(node.body, inner, depth)
        self.loops = loops

    def declarations(self, body: list[ast.stmt], scope: Scope) -> None:
        """global and nonlocal hold for the whole function, so they are read first."""
        pending: list[Any] = list(body)
        for statement in pending:
            kind = type(statement)
            if kind is ast.Global:
                scope.global_names.update(statement.names)
            elif kind is ast.Nonlocal:
                scope.nonlocal_names.update(statement.names)
            elif kind is not ast.FunctionDef and kind is not ast.ClassDef:
                for field in ("body", "orelse", "finalbody", "handlers", "cases"):
                    pending.extend(getattr(statement, field, ()))

    def refuse_declared(self, body: list[ast.stmt], own: frozenset[str], scope: Scope) -> None:
        """A parameter is neither global nor of the function around."""
        wrong = own & (scope.global_names | scope.nonlocal_names)
        if not wrong:
            return
        for statement in (part for item in body for part in ast.walk(item)):
            if isinstance(statement, (ast.Global, ast.Nonlocal)):
                word = "global" if isinstance(statement, ast.Global) else "nonlocal"
                for name in statement.names:
                    if name in wrong:
                        raise self.refuse(statement, f"name '{name}' is parameter and {word}")

    def class_(self, node: ast.ClassDef, scope: Scope, depth: int) -> None:
        for keyword in node.keywords:
            if keyword.arg != "metaclass" or ast.unparse(keyword.value) not in ABSTRACT:
                raise self.refuse(keyword.value, "class arguments such as metaclass are not "
                                  "part of the language", "help: leave them out")  # fmt: skip
        if getattr(node, "type_params", None):
            raise self.refuse(node, "a type parameter is not part of the language")
        for decorator in node.decorator_list:
            self.visit(decorator, scope, depth)
        for base in node.bases:
            self.visit(base, scope, depth)
        self.bind(node.name, node, scope)
        inner = Scope("class", node, scope)
        self.scopes[node] = inner
        before, self.loops, self.owner = (self.loops, self.owner), 0, node.name
        self.block(node.body, inner, depth)
        self.loops, self.owner = before

    def declared(self, node: Any, scope: Scope, depth: int) -> None:
        word = "global" if type(node) is ast.Global else "nonlocal"
        for name in node.names:
            if name in scope.uses or name in scope.calls:
                raise self.refuse(node, f"name '{name}' is used prior to {word} declaration")
            if name in scope.early or (scope.kind == "module" and name in scope.bound):
                raise self.refuse(node, f"name '{name}' is assigned to before {word} declaration")
        if type(node) is ast.Nonlocal and scope.kind == "module":
            raise self.refuse(node, "nonlocal declaration not allowed at module level")
        if type(node) is ast.Nonlocal:
            for name in node.names:
                if not names.nonlocal_is_bound(scope, name):
                    raise self.refuse(node, f"no binding for nonlocal '{name}' found")

    def delete(self, node: ast.Delete, scope: Scope, depth: int) -> None:
        for target in node.targets:
            if type(target) is ast.Name:
                scope.bind(target.id, target)
                if scope.kind == "module":
                    self.assigned.add(target.id)
            else:
                self.target(target, scope, depth)

    def try_(self, node: ast.Try, scope: Scope, depth: int) -> None:
        with self.perhaps(scope):
            self.tried(node, scope, depth)

    def tried(self, node: ast.Try, scope: Scope, depth: int) -> None:
        self.block(node.body, scope, depth)
        for handler in node.handlers[:-1]:
            if handler.type is None:
                raise self.refuse(handler, "default 'except:' must be last")
        for handler in node.handlers:
            if handler.type is not None:
                self.visit(handler.type, scope, depth)
            if handler.name is not None:
                self.bind(handler.name, handler, scope)
            self.block(handler.body, scope, depth)
        self.block(node.orelse, scope, depth)
        self.block(node.finalbody, scope, depth)

    # ------------------------------------------------------------ imports

    def imported(self, name: str, path: str, node: ast.AST, scope: Scope) -> None:
        scope.bind(name, node)
        if scope.kind == "module":
            self.imports.setdefault(name, []).append(path)

    def import_(self, node: ast.Import, scope: Scope, depth: int) -> None:
        _, spaces = names.known_paths()
        for alias in node.names:
            if alias.name not in spaces and self.is_certain(scope):
                raise self.refuse_import(node, alias.name)
            if alias.asname is not None:
                self.imported(alias.asname, alias.name, node, scope)
            else:
                root = alias.name.partition(".")[0]
                self.imported(root, root, node, scope)

    def future(self, node: ast.ImportFrom) -> None:
        """Python's compiler knows these names; its words for others."""
        self.futures.append(node)
        for alias in node.names:
            if alias.name not in names.FUTURES:
                braces = alias.name == "braces"
                words = "not a chance" if braces else f"future feature {alias.name} is not defined"
                raise self.refuse(node, words)

    def late_futures(self, body: list[ast.stmt]) -> None:
        """They stand at the beginning of the file: at most a docstring is in front of them."""
        first = {id(node) for node in takewhile(_may_come_first, body)} if self.futures else ()
        for node in self.futures:
            if id(node) not in first:
                words = "from __future__ imports must occur at the beginning of the file"
                raise self.refuse(node, words)

    def import_from(self, node: ast.ImportFrom, scope: Scope, depth: int) -> None:
        values, spaces = names.known_paths()
        home = node.module or ""
        if home == "__future__":
            self.future(node)
            return
        certain = self.is_certain(scope)
        if node.level:
            words = "attempted relative import with no known parent package"
            raise self.refuse(node, words, type="ImportError")
        if home not in spaces and certain:
            raise self.refuse_import(node, home)
        starred = any(alias.name == "*" for alias in node.names)
        if starred and home == "torch":
            return  # the flat names are there already, and Python's builtins win
        listed = (
            [ast.alias(name) for name in sorted(names.members(home))] if starred else node.names
        )
        for alias in listed:
            path = f"{home}.{alias.name}"
            if certain and path not in values and path not in spaces:
                near = names.suggest_member(home, alias.name)
                notes = (f"help: did you mean {near}?",) if near else ()
                raise self.refuse(
                    node, f"cannot import name '{alias.name}' from '{home}'", *notes,
                    type="ImportError",
                )  # fmt: skip
            self.imported(alias.asname or alias.name, path, node, scope)

    def is_certain(self, scope: Scope) -> bool:
        """Does the statement run in any case? What fails there fails before anything runs."""
        return scope is self.module and not self.branches

    def refuse_import(self, node: ast.AST, name: str) -> ProgramError:
        message, advice = modules.refusal(name)
        return self.refuse(node, message, advice, type="ModuleNotFoundError")


FIELDS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Slice: ("lower", "upper", "step"),
    ast.UnaryOp: ("operand",),
    ast.BoolOp: ("values",),
    ast.IfExp: ("test", "body", "orelse"),
    ast.Dict: ("keys", "values"),
    ast.JoinedStr: ("values",),
    ast.FormattedValue: ("value", "format_spec"),
    ast.Raise: ("exc", "cause"),
    ast.Pass: (),
}
HANDLERS: dict[type[ast.AST], Handler] = dict.fromkeys(FIELDS, Checker.generic)
FIELDS.update({
    ast.Subscript: ("value", "slice"), ast.Compare: ("left", "comparators"),
    ast.Assert: ("test", "msg"),
})  # fmt: skip
HANDLERS.update(
    {
        ast.Constant: Checker.constant,
        ast.Name: Checker.name,
        ast.Attribute: Checker.attribute,
        ast.Call: Checker.call,
        ast.Subscript: Checker.doubted,
        ast.Compare: Checker.doubted,
        ast.Assert: Checker.doubted,
        ast.BinOp: Checker.binary,
        ast.NamedExpr: Checker.named,
        ast.Lambda: Checker.lambda_,
        ast.List: Checker.display,
        ast.Tuple: Checker.display,
        ast.Set: Checker.display,
        ast.Starred: Checker.starred,
        ast.ListComp: Checker.comprehension,
        ast.SetComp: Checker.comprehension,
        ast.DictComp: Checker.comprehension,
        ast.GeneratorExp: Checker.comprehension,
        ast.Assign: Checker.assign,
        ast.AnnAssign: Checker.annotated,
        ast.AugAssign: Checker.augmented,
        ast.If: Checker.if_,
        ast.For: Checker.for_,
        ast.While: Checker.while_,
        ast.Break: Checker.jump,
        ast.Continue: Checker.jump,
        ast.Return: Checker.return_,
        ast.With: Checker.with_,
        ast.FunctionDef: Checker.function,
        ast.ClassDef: Checker.class_,
        ast.Global: Checker.declared,
        ast.Nonlocal: Checker.declared,
        ast.Delete: Checker.delete,
        ast.Try: Checker.try_,
        ast.Match: Checker.match,
        ast.Expr: Checker.expression_statement,
        ast.Yield: Checker.yield_,
        ast.YieldFrom: Checker.yield_,
        ast.Import: Checker.import_,
        ast.ImportFrom: Checker.import_from,
    }
)
