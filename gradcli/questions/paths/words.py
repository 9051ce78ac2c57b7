"""Questions: tensors in the words of the program: a name, or the expression that made them."""

from __future__ import annotations

import ast
from typing import Any

from ...engine.compile.formula import edge_places
from ...engine.tensors.saved import unpack
from ...engine.tensors.tensor import Tensor
from ...named import NamedTuple
from ...recording.holding import first_name
from ...symbols.algebra import Algebra, Expr, Shape
from ..graph import grad_fn_of
from .calls import ARITHMETIC, operate
from .carrier import Symbol, Unsayable
from .expressions import Expressions
from .graph import Position, Ways
from .labels import Labels, Spot, indexed

LITERAL = 64  # elements of a tensor that is written out
DEEP = 40  # expressions within expressions


class Definition(NamedTuple):
    """A line that the formula needs: what a name stood for once."""

    name: str
    expr: Expr
    clock: float


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
        self.depth = 0
        self.users: dict[int, list[int]] | None = None
        self.expressions = Expressions(self)

    def _current(self) -> dict[Any, str]:
        """For everything that a name holds at the end: the text that reaches it."""
        found: dict[Any, str] = {}
        for spot in self.labels.spots:
            name = first_name(spot.name)
            if spot.scope is not None or name not in self.globals:
                continue
            value = self.globals[name]
            if spot.name != name or not isinstance(value, Tensor):
                continue
            found.setdefault((id(grad_fn_of(value) or value), value.output_nr), spot.name)
        for spot in self.labels.spots:
            if spot.scope is None and not spot.name.isidentifier() and spot.key not in found:
                text = indexed(spot.name)
                held = self._evaluated(text)
                if isinstance(held, Tensor) and (
                    id(grad_fn_of(held) or held), held.output_nr) == spot.key:  # fmt: skip
                    found[spot.key] = text
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
            position = self.ways.leaf(tensor)
        expr = self.constant(tensor) if position is None else self.position(position, tensor)
        return Symbol(self.algebra, expr, tensor._data)

    def operand(self, node: Any, key: str, tensor: Tensor) -> Symbol:
        """The symbol of a tensor that a node saved under this name: one without a gradient and
        without a name is written as the operand that it was in the program's expression."""
        if not tensor.requires_grad and ("constant", id(tensor)) not in self.known and not any(
            held is tensor for held in self.globals.values()
        ):  # fmt: skip
            part = _operand(getattr(node, "origin", None), node.row, key)
            if part is not None and not isinstance(part, ast.Constant):
                try:
                    expr = self.expressions.formula(part, node.sequence)
                except Unsayable:
                    return self.tensor(tensor)
                if expr.shape is None:  # the text does not show it, the tensor does
                    whole = expr.kind in ("call", "name", "text")
                    expr = self.algebra.text((expr,), whole, tuple(tensor.shape))
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

    def numbers(self, label: str, made: Expr) -> str:
        """A line of numbers under a name like this; what the name is."""
        own, count = self.fresh(label), 1
        while own.endswith("_"):  # the second of its kind
            count += 1
            own = self.fresh(f"{label}_{count}")
        self.definitions[own] = Definition(own, made, 0)
        return own

    def constant(self, tensor: Tensor) -> Expr:
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
                made = self.expressions.formula(origin, node.sequence)
                row = getattr(node, "row", None)
                if row is None or (row.output_count == 1 and not row.listed):
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
        """For each node those that use what it made."""
        if self.users is None:
            self.users = {}
            for number, inputs in enumerate(self.ways.graph.next):
                for edge in inputs:
                    if edge is not None:
                        self.users.setdefault(edge[0], []).append(number)
        return self.users

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
        return operate(row, args)

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
