"""Questions: data flow: which value was computed from which, tensors and numbers alike.

Each value has a number, and a new one after an operation in place. A step tells which expression
made a value from which: along the graph (`live`), or outside it (`dead`), where gradients stop.
"""

from __future__ import annotations

import ast
from bisect import insort
from collections import deque
from typing import TYPE_CHECKING, Any
from weakref import ref

from ...engine.graph.node import Node
from ...engine.schema.mode import state
from ...engine.tensors.tensor import Tensor
from ...language.names import Scope
from ...language.tracing import Inner
from ...recording.looking import is_a
from ...recording.modules import is_distribution, is_module, named_parameters, tensors_of
from ...recording.names import PLAIN
from ...recording.sides import AnyTensor, is_leaf, is_tensor, node_of, nonfinite, word_of
from .marks import Marks
from .numbered import HELD, Numbered
from .values import (
    CALLED,
    FILLING,
    LAZY,
    NUMBERS,
    Chosen,
    Sources,
    callee,
    copied_from,
    is_held,
    is_index,
    is_owner,
    is_shape,
    items,
    may_be_named_in,
    name_of,
    owner_of,
)

if TYPE_CHECKING:
    from .passes import Passes

KEPT = 64  # tensors that one name was bound to


class Flow(Numbered):
    """Observes every expression while a program runs."""

    __slots__ = (
        "shadow", "last", "last_child", "enabled", "pending", "marks", "bindings",
        "locals", "bound_inside", "aliases", "passes", "last_return", "refused", "inner", "chosen",
        "overwritten",
    )  # fmt: skip
    passes: Passes

    def __init__(self) -> None:
        super().__init__()
        self.shadow: dict[str, int | None] = {}  # what stands for the numbers that names hold
        self.chosen: dict[str, Chosen] = {}  # the same of modules that numbers picked out
        self.last: Any = None  # what was evaluated last, and what stands for it
        self.last_child: Any = None
        self.enabled = True
        self.pending: list[AnyTensor] = []
        self.marks = Marks(self)
        self.bindings: dict[str, list[tuple[int, ast.AST, AnyTensor]]] = {}
        self.locals: dict[str, AnyTensor] = {}
        self.bound_inside: dict[str, deque[tuple[int, ast.AST, bool]]] = {}  # whether a leaf
        self.inner: dict[str, Any] = {}  # modules, objects and lists that only functions know
        self.aliases: dict[int, tuple[Any, Any]] = {}
        self.last_return: ast.Return | None = None
        self.refused: list[tuple[ast.AST, Any, str]] = []
        # Leaves that were given other numbers: where, which, of what, whether with gradients on.
        self.overwritten: deque[tuple[ast.AST, int, list[int], bool]] = deque(maxlen=KEPT)

    # ------------------------------------------------------------ events of the compiler

    def leave(self, node: ast.AST, value: Any) -> None:
        children = self.stack.pop() or []
        if self.passes.running:
            return
        enabled = state.grad_enabled if type(value) is Tensor else self.grad_enabled()
        if enabled is not self.enabled:
            self.enabled = enabled
            self.switch = None if self.enabled else self._here(node)
        call = node if type(node) is ast.Call else None
        if call is not None and children and is_owner(children[0]):
            children[0] = callee(call, children[0])
        if type(value) is Tensor and type(node) is ast.BinOp:  # what is left most often
            made_by: Any = value._grad_fn
            is_new = made_by.__class__ is Node and made_by.sequence not in self.nodes.firsts
            child = None if is_new else self._known_as(value)
            if child is None:
                child = self._record(node, value, self.flat(children))
        else:
            child = self._result(node, value, children)
        if self.pending:
            self._changed(node, children)
            if is_tensor(value):
                child = self.value_of(value)
        if call is not None and self._here(call) is call:
            self.marks.called(call, value, children)
        if self.whole.is_any and id(node) in self.whole.names:
            self.shadow.update(self.whole.gone_through(node, child))
        self.last, self.last_child = value, child
        if (stack := self.stack) and (inside := stack[-1]) is not None:
            inside.append(child)

    def given(self, value: Any) -> None:
        """An operand of the expression in progress, whose parts were not reported."""
        if type(value) is slice:
            value = value.start, value.stop, value.step
        if isinstance(value, (list, tuple)):
            for item in value:
                self.given(item)
        elif self.stack and (inside := self.stack[-1]) is not None:
            inside.append(self.child_of(value))

    def refused_pass(self, node: ast.AST, root: AnyTensor, *, shaped: bool) -> None:
        """A call could not begin its pass: its root requires no grad, or is no scalar."""
        self.passes.refuse(node, root, shaped)

    def switched(self, node: Any, tensor: AnyTensor, on: bool) -> None:
        """requires_grad was set, by whatever words."""
        if isinstance(node, ast.AST):
            self.marks.note("requires_grad_", node, tensor, on=on)

    def has_cut(self, operands: tuple[Any, ...], result: Any) -> bool:
        """Whether an operation lost the graph, or goes on with something that had lost it."""
        if not self.cut and getattr(result, "requires_grad", False):  # as of most
            for one in operands:
                if not getattr(one, "requires_grad", type(one) in PLAIN):
                    break
            else:
                return False
        given = list(items(operands))
        tensors = [one for one in given if is_tensor(one)]
        leaves = isinstance(result, HELD) or (
            is_tensor(result) and node_of(result) is None and all(result is not t for t in tensors)
        )
        if leaves and any(t.requires_grad for t in tensors):
            return True
        if self.cut:
            held = [self.floats[id(one)][1] for one in given if id(one) in self.floats]
            if not self.cut.isdisjoint([*held, *map(self._known_as, tensors)]):
                return True
        numbers = [self._known_as(t) for t in tensors if not t.requires_grad]
        steps = [self.step(number) for number in numbers if number is not None]
        return any(step is not None and step.dead + step.live for step in steps)

    def lost(self, node: ast.AST, value: Any, inner: Inner) -> None:
        self.within = inner
        self.leave(node, value)
        self.within = None
        if type(self.last_child) is int:
            self.cut.add(self.last_child)

    def fail(self, node: ast.AST, error: BaseException) -> None:
        self.stack.pop()
        self.pending.clear()
        causes = getattr(error, "causes", ())
        if type(node) is ast.Call and not (self.refused and self.refused[-1][1] is error):
            for cause in causes:
                if cause.kind in ("constant", "root") and not cause.detail.get("wanted"):
                    self.refused.append((node, error, ""))
                    self.passes.refuse(node, cause.detail["tensor"], cause.kind == "root")
                    break

    def end(self) -> None:
        self.stack.pop()
        self.pending.clear()

    drop = end

    def loaded(self, node: ast.AST, name: str, scope: Scope, value: Any) -> None:
        if self.passes.running:
            return
        child: Any
        kind = type(value)
        if kind is Tensor:
            # As `value_of` finds most: the first output of a node, which nothing has changed.
            made_by, child = value._grad_fn, None
            if made_by.__class__ is Node:
                child = self.nodes.firsts.get(made_by.sequence)
            if child is None or self.values[child][0]() is not value or value._output_nr:
                child = self.value_of(value)
        else:
            child = self.shadow.get(name) if kind in NUMBERS else self.chosen.get(name)
            if kind not in NUMBERS and (child is None or child.module is not value):
                child = self.child_of(value)
        if self.whole.is_any and id(node) in self.whole.names:
            self.shadow.update(self.whole.gone_through(node, child))
        self.last, self.last_child = value, child
        if (stack := self.stack) and (inside := stack[-1]) is not None:
            inside.append(child)

    def stored(self, node: ast.AST, name: str, scope: Scope | None, value: Any) -> None:
        kind = type(value)
        child = self.last_child if self.last is value else None
        if kind in NUMBERS:
            self.shadow[name] = child if type(child) is int else self.whole.turns.get(id(node))
        elif type(child) is Chosen:
            self.chosen[name] = child
        elif (kind is Tensor or is_tensor(value)) and not self.passes.running:
            if (kind is not Tensor or value._grad_fn is None) and node_of(value) is None:
                if value._base is not None and self._known_as(value) is None:
                    self._record(node, value, (self.value_of(value._base),))  # a part, unpacked
            number = self.last_child
            if self.last is not value or type(number) is not int:
                number = self.value_of(value)
            if scope is None:
                held = self.bindings.setdefault(name, [])
                if not held or held[-1][2] is not value or held[-1][0] != number:
                    held.append((number, node, value))
                if len(held) > KEPT:
                    del held[1]
            else:
                self.locals[name] = value
                is_leaf = value.requires_grad and node_of(value) is None
                inner = self.bound_inside.setdefault(name, deque(maxlen=KEPT))
                inner.append((number, self._here(node), is_leaf))
        elif scope is not None and may_be_named_in(value):
            self.inner[name] = value

    def holds(self, name: str, value: Any) -> None:
        if is_tensor(value):
            self.locals[name] = value
        elif may_be_named_in(value):
            self.inner[name] = value
            self.locals.pop(name, None)

    def made_before(self, node: ast.AST, value: Any, *, is_set: bool = True) -> None:
        """A leaf that was not reported; `is_set` is False where its numbers are still to come."""
        if not is_tensor(value) or hasattr(type(value), "materialize"):
            return  # a lazy module's parameter is nothing yet
        if is_leaf(value) and self._known_as(value) is None:
            number = self._record(node, value, ())
            if not is_set:
                self.unset.add(number)
                self.values[number] = self.value(number)._replace(nonfinite=0)

    def made_somewhere(self, node: ast.AST, value: Any) -> None:
        """A leaf that was met in the run, and that was not reported when it was created."""
        known = self.known.get(id(value))
        if known is None or self.alive(known) is not value:
            self.made_before(node, value)
        elif is_leaf(value) and self.step(known) is None:
            facts = word_of(value), value.requires_grad, None, True, nonfinite(value), None, None
            self.values[known] = (self.values[known][0], node, known, (), (), *facts)
            if known < self.looked:
                insort(self.held, known)

    def inside(self) -> dict[str, Any]:
        """What the names in functions held last."""
        return {**self.inner, **self.locals}

    def written(self, node: ast.AST, owner: Any, value: Any) -> None:
        if self.passes.running:
            return
        if type(node) is ast.Attribute and node.attr == "requires_grad" and is_tensor(owner):
            self.marks.note("requires_grad_", node, owner, on=bool(value))
        children = [self.child_of(value)]
        if type(node) is ast.Subscript and is_a(owner, HELD) and children[0] is not None:
            self._number(node, owner, [self.child_of(owner), *children])  # an array that is filled
        if type(node) is ast.Subscript and self.pending:  # its places count as much as the value
            held = (self.bindings.get(part.id) for part in ast.walk(node.slice)
                    if type(part) is ast.Name)  # fmt: skip
            children += [known[-1][0] for known in held if known]
        self._changed(node, children)

    def replaced(self, node: ast.AST, old: Any, operand: Any, new: Any) -> None:
        if self.passes.running:
            return
        children = [self.child_of(old), self.child_of(operand)]
        child = self._result(node, new, children)
        self._changed(node, children)
        self.last, self.last_child = new, self.value_of(new) if is_tensor(new) else child

    def returned(self, node: ast.Return, value: Any) -> None:
        """What called the function may make something of what it returned: a batch of examples."""
        self.last_return = node
        found = [one for one in items((value,)) if is_tensor(one)]
        inside = next((one for one in reversed(self.stack) if one is not None), None)
        if inside is not None and found and not self.passes.running:
            inside.extend(map(self.value_of, found))

    def drawn(self, node: ast.AST, value: Any) -> None:
        children = self.stack.pop()
        is_made = is_tensor(value) or isinstance(value, (tuple, list, dict))
        if children and is_made and not self.passes.running:
            self._result(node, value, children)

    def entered(self, node: ast.AST, before: bool) -> None:
        self.withs.append((node, before, self.grad_enabled()))

    def left(self) -> None:
        self.withs.pop()

    # ------------------------------------------------------------ expressions

    def _here(self, node: ast.AST) -> ast.AST:
        """An expression as the program's text has it: what called it, of one of another file."""
        within = self.within
        return node if within is None or within.call is None else within.call

    def _result(self, node: ast.AST, value: Any, children: list[Any]) -> Any:
        """Notes what an expression made; what stands for its value in the one around."""
        kind = type(value)
        shape = (named := type(node) in CALLED) and is_shape(node)  # an operator has no name
        if kind is Tensor or is_tensor(value):
            known = self._known_as(value)
            called = owner_of(children) if named else None
            if known is not None and not any(type(child) is Chosen for child in children):
                self._add_numbers(node, known, children)
                left = self._left_in(node) if self.cut and called is not None else ()
                return self._record(node, value, [known, *left]) if left else known
            if type(node) is ast.Attribute and children and is_held(children[0], node.attr, value):
                return self.value_of(value)  # made where nothing was reported
            sources = self._filling(node, children) if shape else self.flat(children)
            number = self._record(node, value, sources, called)
            if named and not shape:
                self._alias(node, value)
            return number
        if shape:
            return None
        if is_a(value, HELD):
            held = self.floats.get(id(value))
            if held is not None and held[0] is value:
                return held[1]
            return self._number(node, value, children)
        if kind in NUMBERS:
            return self._number(node, value, children)
        if is_a(value, (tuple, list, dict)):
            self._container(node, value, children)
            if type(node) is ast.Tuple and id(node) in self.whole.names:
                self.whole.given_out(node, children)
            return Sources(self.flat(children)) if is_index(node, value) else value
        if is_module(value):
            if type(node) is ast.Call:
                for name, parameter in named_parameters(value):
                    if self._known_as(parameter) is None:
                        copied = copied_from(name, parameter, children)
                        self._record(node, parameter, map(self.value_of, copied))
            by = tuple(self._numbers(children[1:])) if type(node) is ast.Subscript else ()
            return Chosen(value, by) if by else value
        if kind in LAZY and type(node) is ast.Call:
            return Sources(self.flat(children))
        if is_distribution(value):
            if type(node) is ast.Call:
                self._made_within(node, value, children)
            return self.child_of(value)
        return None  # the values of a generator expression are reported by its consumer

    def _made_within(self, node: ast.AST, distribution: Any, children: list[Any]) -> None:
        """What a distribution makes of its arguments outside of the graph: probabilities that add
        up to 1, or of the shape that all have."""
        # What has a graph would have given it one.
        bare = [number for number in self.flat(children) if not self.value(number).tracked]
        for part in filter(is_tensor, tensors_of(distribution)) if bare else ():
            if self._known_as(part) is None and node_of(part) is None:
                self._record(node, part, bare)

    def _add_numbers(self, node: ast.AST, known: int, children: list[Any]) -> None:
        """Numbers of Python are no operands that PyTorch's side hears of."""
        if self.values[known][1] is node:
            dead = self.values[known][4]
            more = [one for one in self.flat(children)
                    if self.values[one][0] is None and one not in dead]  # fmt: skip
            if more:
                self.values[known] = self.value(known)._replace(dead=(*dead, *more))

    def _filling(self, node: ast.AST, children: list[Any]) -> list[int]:
        """The number in full_like(x, number) and x.new_full(size, number): of x only the shape."""
        return list(self.flat(children))[1:] if name_of(node) in FILLING else []

    def _container(self, node: ast.AST, value: Any, children: list[Any]) -> None:
        """New tensors in a list or tuple; the numbers of tolist()."""
        fresh: list[Any] = []
        if self.whole.is_new(node, value, children):
            number = self._number(node, None, children)
            if number is not None:
                self.whole.put(value, number)
            return
        for item in items(value):
            if is_tensor(item) and self._known_as(item) is None:
                fresh.append(item)
            elif type(item) is float and type(node) is ast.Call and id(item) not in self.floats:
                fresh.append(item)
        if not fresh:
            return
        sources = list(dict.fromkeys(self.flat(children)))
        others = sources  # of what is outside of the graph beside a result that is in it
        if name_of(node) != "apply" and any(is_tensor(i) and i.requires_grad for i in items(value)):
            others = [source for source in sources if not self.value(source).tracked]
        owner = owner_of(children) if type(node) is ast.Call else None
        for item in fresh:
            if is_tensor(item):
                is_apart = not item.requires_grad and word_of(item) == "tensor"
                self._record(node, item, others if is_apart else sources, owner)
            elif sources:
                self._number(node, item, sources)

    # ------------------------------------------------------------ changes in place

    def changed(self, tensor: AnyTensor) -> None:
        """The engine gave a tensor new values; the expression that did is in progress."""
        self.pending.append(tensor)

    def _changed(self, node: ast.AST, children: list[Any]) -> None:
        if not self.pending:
            return
        tensors, self.pending = self.pending, []
        sources = list(self.flat(children))
        for tensor in tensors:
            whole = (tensor, tensor._base)
            for one in (*whole, *map(self._shared, whole)):
                if one is None:
                    continue
                if not (one.requires_grad and node_of(one) is None):
                    self._renew(node, one, sources)
                    continue
                # A leaf stays one, whatever its numbers.
                number = self.value_of(one)
                if given := [source for source in sources if source != number]:
                    self.overwritten.append((self._here(node), number, given, self.enabled))
                if one is tensor:
                    break

    def _shared(self, tensor: AnyTensor | None) -> AnyTensor | None:
        """What has the memory of x.data or x.detach()."""
        alias = self.aliases.get(id(tensor))
        return alias[1]() if alias is not None and alias[0]() is tensor else None

    def _renew(self, node: ast.AST, tensor: AnyTensor, sources: list[int]) -> None:
        known = self.known.get(id(tensor))
        old = [known] if known is not None and self.alive(known) is tensor else []
        self._record(node, tensor, [*old, *sources])

    def _alias(self, node: ast.AST, tensor: AnyTensor) -> None:
        """x.data and x.detach() share memory with x."""
        word = name_of(node)
        if word in ("data", "detach"):
            dead = self.value(self.value_of(tensor)).dead
            source = self.values[dead[0]][0] if len(dead) == 1 else None
            if source is not None:
                base = getattr(source(), "_base", None)  # a view may be gone by the change
                shared = source if base is None else ref(base)
                self.aliases[id(tensor)] = (ref(tensor), shared)
