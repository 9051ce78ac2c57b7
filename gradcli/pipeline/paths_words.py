"""pipeline: tensors in the words of the program: a name, or the expression that made them."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from ..engine.formula import edge_places
from ..engine.saved import unpack
from ..engine.tensor import Tensor
from ..language.names import Scope
from ..report.paths_graph import Position, Ways
from ..report.symbols import Algebra, Expr, Shape, broadcast
from .paths_carrier import ARITHMETIC, FUNCTIONS, Symbol, Unsayable, operate
from .paths_labels import Labels, Spot, grad_fn_of
from .paths_names import Bound

LITERAL = 64  # elements of a tensor that is written out
DEEP = 40  # expressions within expressions


class Definition(NamedTuple):
    """A line that the formula needs: what a name stood for once."""

    name: str
    expr: Expr
    clock: int


class Words:
    """Finds a formula for a tensor: the reader's names first, else how it was computed."""

    def __init__(self, labels: Labels, ways: Ways, names: dict[Position, str]) -> None:
        self.labels, self.ways, self.names = labels, ways, names
        self.algebra = Algebra()
        self.definitions: dict[str, Definition] = {}
        self.labelled: dict[str, str] = {}  # for a name in the formula the label of its tensor
        assert labels.ran.outcome is not None and labels.ran.outcome.machine is not None
        self.machine = labels.ran.outcome.machine
        self.globals: dict[str, Any] = self.machine.globals.values
        self.known: dict[Any, Expr] = {}
        self.spots: dict[Position, Spot] = {}
        for spot in labels.spots:
            position = spot.position(ways)
            if position is not None:
                self.spots.setdefault(position, spot)
        self.current = self._current()
        self.scopes: dict[int, Scope] | None = None
        self.depth = 0

    def _current(self) -> dict[Any, str]:
        """For everything that a name holds at the end: the text that reaches it."""
        found: dict[Any, str] = {}
        for spot in self.labels.spots:
            name = spot.name.partition("[")[0].partition(".")[0]
            if spot.scope is not None or name not in self.globals:
                continue
            value = self.globals[name]
            if spot.name != name or not isinstance(value, Tensor):
                continue
            found.setdefault((id(grad_fn_of(value) or value), value.output_nr), spot.name)
        for spot in self.labels.spots:
            if spot.scope is None and not spot.name.isidentifier() and spot.key not in found:
                held = self._evaluated(spot.name)
                if isinstance(held, Tensor) and (
                    id(grad_fn_of(held) or held), held.output_nr) == spot.key:  # fmt: skip
                    found[spot.key] = spot.name
        return found

    def _evaluated(self, text: str) -> Any:
        """An item such as ws[0] or net[0].weight, looked up without running anything."""
        try:
            node: Any = ast.parse(text, mode="eval").body
        except SyntaxError:
            return None
        path: list[Any] = []
        while not isinstance(node, ast.Name):
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
                path.append((True, node.slice.value))
            elif isinstance(node, ast.Attribute):
                path.append((False, node.attr))
            else:
                return None
            node = node.value
        value: Any = self.globals.get(node.id)
        for item, key in reversed(path):
            try:
                value = value[key] if item else getattr(value, key)
            except (LookupError, TypeError, AttributeError):
                return None
        return value

    # ---- tensors

    def tensor(self, tensor: Tensor) -> Symbol:
        """The symbol of a tensor that a node saved."""
        node = tensor.grad_fn
        if node is not None:
            position = self.ways.inner(node, tensor.output_nr)
        else:
            position = self.ways.leaf(tensor) if tensor.requires_grad else None
        expr = self._constant(tensor) if position is None else self.position(position, tensor)
        return Symbol(self.algebra, expr, tensor._data)

    def operand(self, node: Any, key: str, tensor: Tensor) -> Symbol:
        """The symbol of a tensor that a node saved under this name: one without a gradient and
        without a name is told as the operand that it was in the program's expression."""
        if not tensor.requires_grad and ("constant", id(tensor)) not in self.known and not any(
            held is tensor for held in self.globals.values()
        ):  # fmt: skip
            part = _operand(getattr(node, "origin", None), node.row, key)
            if part is not None and not isinstance(part, ast.Constant):
                try:
                    expr = self._from_text(part, node.sequence)
                except Unsayable:
                    return self.tensor(tensor)
                return Symbol(self.algebra, expr, tensor._data)
        return self.tensor(tensor)

    def position(self, position: Position, tensor: Tensor | None = None) -> Expr:
        """The formula of what lies at a place of the graph."""
        found = self.known.get(position)
        if found is None:
            self.depth += 1
            if self.depth > DEEP:
                raise Unsayable("an expression of very many steps without names")
            try:
                found = self._position(position, tensor)
            finally:
                self.depth -= 1
            self.known[position] = found
        return found

    def _position(self, position: Position, tensor: Tensor | None) -> Expr:
        label = self.names.get(position)
        if label is None:
            return self._computed(position)
        if position == self.ways.start:  # dL/dx in terms of x, and not of L
            try:
                return self._computed(position)
            except Unsayable:
                pass
        spot = self.spots[position]
        held = spot.tensor if spot.tensor is not None else tensor
        shape: Shape = () if held is None else tuple(held.shape)
        value = held.item() if held is not None and held.numel() == 1 and (
            not held.dtype.is_complex) else None  # fmt: skip
        if self.labels.ran.missing:
            value = None
        own = self.current.get(spot.key)
        if own is None:
            own = self.fresh(label)
            if spot.node is None:
                assert spot.tensor is not None
                made = self.literal(spot.tensor)
            else:
                made = self._computed(position)
            if held is None:
                shape = made.shape
            self.definitions[own] = Definition(own, made, spot.clock)
        self.labelled[own] = label
        return self.algebra.name(own, shape, value)

    def fresh(self, label: str) -> str:
        """An identifier for a name that means something else by now."""
        name = "".join(c if c.isalnum() else "_" for c in label.replace("]", "")).strip("_")
        while name in self.globals or name in self.definitions or not name.isidentifier():
            name += "_"
        return name

    def _constant(self, tensor: Tensor) -> Expr:
        """A tensor without a gradient: its name, if one holds it still, else its numbers."""
        key = ("constant", id(tensor))
        found = self.known.get(key)
        if found is None:
            value = tensor.item() if tensor.numel() == 1 and not tensor.dtype.is_complex else None
            name = next((n for n, held in self.globals.items()
                         if held is tensor and not n.startswith("_")), None)  # fmt: skip
            if name is not None:
                found = self.algebra.name(name, tuple(tensor.shape), value)
            elif value is not None and tensor.dim() == 0 and tensor.dtype.is_floating_point:
                found = self.algebra.number(value)
            else:
                found = self.literal(tensor)
            self.known[key] = found
        return found

    def literal(self, tensor: Tensor) -> Expr:
        if tensor.numel() > LITERAL or not (
            tensor.dtype.is_floating_point or tensor.dtype.name in ("int64", "bool")
        ):
            raise Unsayable("a tensor of many numbers that no name holds any more")
        kind = "" if tensor.dtype.name in ("float32", "int64", "bool") else (
            f", dtype=torch.{tensor.dtype.name}")  # fmt: skip
        text = f"torch.tensor({tensor.detach().tolist()!r}{kind})"
        return self.algebra.text((text,), True, tuple(tensor.shape))

    # ---- how it was computed

    def _computed(self, position: Position) -> Expr:
        """In the program's own expression where it stands for this node, else from its row."""
        node = self.ways.graph.alive[position[0]]
        origin = getattr(node, "origin", None)
        inner = any(
            getattr(child, "origin", None) is origin and self.names.get((number, nr)) is None
            for number, nr in self._inputs(position[0])
            for child in (self.ways.graph.alive[number],)
        )
        if isinstance(origin, ast.expr) and not inner and self._is_last(position, origin):
            try:
                made = self._from_text(origin, node.sequence)
                row = getattr(node, "row", None)
                if row is None or (row.output_count == 1 and row.view != "multi"):
                    return made
                return self.algebra.text((made, f"[{position[1]}]"), True, None)
            except Unsayable:
                pass
        return self._from_row(position, node).expr

    def _inputs(self, number: int) -> list[Position]:
        return [edge for edge in self.ways.graph.next[number] if edge is not None]

    def _is_last(self, position: Position, origin: Any) -> bool:
        """Whether no later part of the same expression was made of it."""
        users = self._users()
        alive = self.ways.graph.alive
        return not any(getattr(alive[user], "origin", None) is origin
                       for user in users.get(position[0], ()))  # fmt: skip

    def _users(self) -> dict[int, list[int]]:
        found = self.known.get("users")
        if found is None:
            users: dict[int, list[int]] = {}
            for number, inputs in enumerate(self.ways.graph.next):
                for edge in inputs:
                    if edge is not None:
                        users.setdefault(edge[0], []).append(number)
            self.known["users"] = found = users  # type: ignore[assignment]
        return found  # type: ignore[return-value]

    def _from_row(self, position: Position, node: Any) -> Symbol:
        """The forward operation with its inputs, where all of them are known."""
        row = getattr(node, "row", None)
        if row is None or position[1] or len(row.signature.outputs) != 1:
            raise Unsayable(f"what {node.name()} made")
        places = edge_places(row)
        args: list[Any] = []
        for parameter in row.signature.parameters:
            name = parameter.name
            if name in places and ":" not in places[name]:
                edge = self.ways.graph.next[position[0]][int(places[name])]
                if edge is not None:
                    args.append(self._stand_in(edge, row.name in ARITHMETIC))
                    continue
            if name in row.saved_keys:
                value = unpack(node, row.saved_keys.index(name), as_tensor=True)
                args.append(self.tensor(value) if isinstance(value, Tensor) else value)
            elif parameter.name == "half_to_float":
                args.append(False)
            elif not parameter.is_tensor and isinstance(
                parameter.default, int | float | bool | None
            ):
                args.append(parameter.default)
            else:
                raise Unsayable(f"what {node.name()} made")
        return operate(row, args)  # type: ignore[no-any-return]

    def _stand_in(self, position: Position, arithmetic: bool) -> Symbol:
        """An input of a forward operation; arithmetic asks nothing of its value."""
        spot = self.spots.get(position)
        if arithmetic:
            return Symbol(self.algebra, self.position(position), 1.0)
        if spot is not None and spot.tensor is not None:
            return Symbol(self.algebra, self.position(position), spot.tensor._data)
        if spot is None:
            return self._from_row(position, self.ways.graph.alive[position[0]])
        raise Unsayable("a value between two operations of one expression")

    # ---- expressions of the program

    def _from_text(self, node: ast.expr, clock: int) -> Expr:
        algebra = self.algebra
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return algebra.number(node.value)  # type: ignore[arg-type]
        if isinstance(node, ast.Name) or self._is_item(node, clock):
            return self._name(node, clock)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return algebra.neg(self._from_text(node.operand, clock))
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            one, other = (self._from_text(part, clock) for part in (node.left, node.right))
            return _BINARY[type(node.op)](algebra, one, other)  # type: ignore[no-any-return]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            sides = [("", self._from_text(part, clock)) for part in (node.left, node.right)]
            return algebra.call("@", "operator", sides, None)
        if isinstance(node, ast.Call) and not any(isinstance(a, ast.Starred) for a in node.args):
            return self._from_call(node, clock)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARED:
            sides = [("", self._from_text(p, clock)) for p in (node.left, node.comparators[0])]
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
            given.append(("", self._from_text(node.func.value, clock)))
        else:
            return self._pieces(node, clock)
        for keyword, value in (*(("", a) for a in node.args),
                               *((k.arg or "**", k.value) for k in node.keywords)):  # fmt: skip
            plain = isinstance(value, ast.Constant | ast.Tuple | ast.List)
            given.append((keyword, ast.unparse(value) if plain and not _names(value) else
                          self._from_text(value, clock)))  # fmt: skip
        short = function.rpartition(".")[2]
        if short in FUNCTIONS and (style == "method" or function == f"torch.{short}"):
            function, style = short, "function"
        return self.algebra.call(function, style, given, None)

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
            if bound.scope is None and self.globals.get(word) == thing:
                return self.algebra.name(word, (), float(thing))
            return self.algebra.number(thing)
        if isinstance(thing, Tensor):
            if thing.requires_grad:
                position = (self.ways.leaf(thing) if thing.grad_fn is None else
                            self.ways.inner(thing.grad_fn, thing.output_nr))  # fmt: skip
                if position is not None:
                    return self.position(position, thing)
            return self._constant(thing)
        held, output_nr = bound.tensor(), bound.output_nr
        now = None if held is None else grad_fn_of(held)
        if held is not None and now is not None and now is not thing and now.sequence <= clock:
            thing, output_nr = now, held.output_nr  # changed in place before this line
        position = self.ways.inner(thing, output_nr)
        if position is None:
            raise Unsayable(f"what {word} stood for")
        return self.position(position, held)

    def _bound(self, node: ast.expr, clock: int) -> Bound | None:
        """What a name, or an item of it, meant at its place when the expression ran."""
        naming, word = self.labels.naming, ast.unparse(node)
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
            program = self.labels.ran.program
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
        return self.algebra.text(pieces, atomic, None)

    def _is_of_program(self, node: ast.Name) -> bool:
        """Whether the program binds this name itself: a function of it, a value that is gone."""
        program = self.labels.ran.program
        assert program is not None
        scope = self._scope_of(node)
        while scope is not None and scope.kind != "module":
            if node.id in scope.bound:
                return True
            scope = scope.parent
        return node.id in program.bindings


_REFUSED = (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp, ast.NamedExpr,
            ast.JoinedStr, ast.IfExp, ast.BoolOp)  # fmt: skip


def _operand(origin: Any, row: Any, key: str) -> ast.expr | None:
    """The piece of an expression that an argument of its operation came from."""
    parts: list[ast.expr]
    names = row.signature.names
    if isinstance(origin, ast.BinOp):
        parts = [origin.left, origin.right]
    elif isinstance(origin, ast.Call) and not any(isinstance(a, ast.Starred) for a in origin.args):
        if ast.unparse(origin.func).rpartition(".")[2] != row.name:
            return None  # an operation that is made of others
        parts = list(origin.args)
        if isinstance(origin.func, ast.Attribute) and len(parts) < len(names):
            root: Any = origin.func
            while isinstance(root, ast.Attribute):
                root = root.value
            if not (isinstance(root, ast.Name) and root.id in ("torch", "F", "nn")):
                parts.insert(0, origin.func.value)
    else:
        return None
    place = names.index(key) if key in names else len(parts)
    return parts[place] if place < len(parts) else None


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
    import re

    if not words:
        return [text]
    return [p for p in re.split("(" + "|".join(map(re.escape, words)) + ")", text) if p]
