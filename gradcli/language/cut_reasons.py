"""language: why a tensor does not require grad: its leaves, and the line that cut the graph."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from ..autograd.function_node import FunctionNode
from ..diagnostics import UNASKED, Edit
from ..distributions.distribution import Distribution
from ..engine.tensors.tensor import Tensor
from ..operators import catalogue
from ..recording.below import nodes_below
from .explanation import is_alone, replaced, with_argument
from .intermediates import intermediates
from .places import Places

# Functions that make a leaf; it requires grad when requires_grad=True is said.
MAKERS = frozenset(
    "tensor ones zeros full rand randn randint arange linspace logspace eye empty ones_like "
    "zeros_like rand_like randn_like full_like empty_like".split()
)
CUTS = frozenset({"detach", "item", "tolist", "numpy"})
INTEGERS = frozenset({"long", "int", "short", "byte", "char", "bool"})
CHOICES = frozenset(
    "argmax argmin argsort nonzero count_nonzero searchsorted bucketize eq ne lt le gt ge isclose "
    "isnan isinf isfinite signbit logical_and logical_or logical_not logical_xor one_hot".split()
)
MODES = frozenset({"no_grad", "inference_mode"})
SMOOTH = "a smooth function such as sigmoid instead of the comparison"
CHOSEN = "compute with what was chosen, or with softmax weights: an index has no slope"
DEEPEST, MOST = 100, 3
MOST_FOUND = 50  # reasons among which those are looked for
MOST_NODES = 10_000


class Reason(NamedTuple):
    """A place that explains a missing gradient, and what to do there."""

    node: ast.AST
    text: str
    advice: str | None = None
    is_leaf: bool = False
    edits: list[Edit] | None = None
    is_linear: bool = False  # a gradient that depends on nothing
    is_choice: bool = False  # an index or a comparison: it has no slope, with or without a graph


def reasons(places: Places, value: ast.expr, tensor: Tensor | None) -> list[Reason]:
    """The facts in the text that made an expression's tensor a constant, and no guesses."""
    search = Search(places)
    if isinstance(value, ast.Name) and tensor is not None:
        walk = search.of_name(value.id, tensor, 0)
    else:
        walk = search.of_value(value, None, None, 0)
    found = list(islice(walk, MOST_FOUND))
    return sorted(found, key=lambda reason: reason.is_leaf)[:MOST]  # what cuts comes first


class Search:
    """One walk back from a tensor through the text; every name is followed once."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.followed: set[str] = set()

    def of_name(self, name: str, tensor: Tensor, depth: int) -> Iterator[Reason]:
        places = self.places
        if name in self.followed or depth > DEEPEST:
            return
        self.followed.add(name)
        if name in places.program.inputs:
            advice = f"run it without --no-grad {name}" if tensor.is_floating_point() else None
            node = places.program.input_nodes[name]
            yield Reason(node, f"the input {name} does not require grad", advice)
            return
        value = places.bound_value(name) or self.answer(name)
        if value is None:
            return
        yield from self.of_binding(value, name, tensor, depth)

    def of_binding(
        self, value: ast.expr, name: str | None, tensor: Tensor | None, depth: int
    ) -> Iterator[Reason]:
        """What an assignment gave a name."""
        places = self.places
        block = self.without_grad(value)
        if block is not None:
            yield Reason(
                block, "no graph is made in this block",
                f"move line {places.line(value)} out of this block",
                edits=self._moved_out(value, block),
            )  # fmt: skip
            return
        yield from self.of_value(value, name, tensor, depth)

    def answer(self, name: str) -> ast.expr | None:
        """The call of autograd.grad whose answer is unpacked into the name."""
        statement = self.places.statement(self.places.bound_by.get(name))
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            called = self.places.called(statement.value)
            if called is not None and called[0] == "grad":
                return statement.value
        return None

    def _moved_out(self, value: ast.expr, block: ast.expr) -> list[Edit] | None:
        """The only statement of a `with` block in the block's place."""
        for part in self.places.ancestors(value):
            if isinstance(part, ast.With) and is_alone(self.places, part):
                inside = self.places.span(part.body[0])
                if len(part.body) == len(part.items) == 1 and inside is not None:
                    text = self.places.source.text_of(inside)
                    return replaced(self.places, part, text) if "\n" not in text else None
                return None
        return None

    def without_grad(self, node: ast.expr) -> ast.expr | None:
        """The no_grad block around an expression, if the nearest switch is one."""
        for part in self.places.ancestors(node):
            if isinstance(part, ast.With):
                for item in reversed(part.items):
                    called = self.places.called(item.context_expr)
                    if called is not None and called[0] in MODES and not called[1]:
                        return item.context_expr
                    if called is not None and "grad" in called[0]:
                        return None
            elif isinstance(part, ast.FunctionDef):
                return None
        return None

    def of_value(
        self, value: ast.expr, name: str | None, tensor: Tensor | None, depth: int
    ) -> Iterator[Reason]:
        """What in an expression of the program's text keeps gradients out."""
        places = self.places
        if depth > DEEPEST:
            return
        if isinstance(value, ast.Name):
            held = places.tensor(value)
            if held is not None:
                if not held.requires_grad:
                    yield from self.of_name(value.id, held, depth + 1)
            elif (made := places.value_before(value)) is not None:
                key = f"{value.id} of line {made.lineno}"
                if key not in self.followed:
                    self.followed.add(key)
                    yield from self.of_binding(made, None, None, depth + 1)
            return
        if isinstance(value, ast.Compare):
            if any(places.tensor(part) is not None for part in ast.walk(value)):
                yield Reason(value, "a comparison has no gradient", SMOOTH, is_choice=True)
            return
        if self._is_place(value):
            yield Reason(value, "an index has no gradient", CHOSEN, is_choice=True)
            return
        if isinstance(value, ast.Attribute):
            if value.attr == "data":
                yield self._without(value, ".data", ".data is cut off the graph")
            elif value.attr == "grad":
                yield self._of_backward(value)
            elif not places.is_space(value):  # of x.T and x.real
                yield from self.of_value(value.value, None, None, depth + 1)
            return
        called = places.called(value)
        if isinstance(value, ast.Call) and called is not None:
            known = self._of_call(value, *called, name, tensor)
            if known is not None:
                yield from known
                return
        if called is not None and called[0] in places.program.bindings:
            yield from self._of_function(called[0], depth)
            return
        parts = [value.operand] if isinstance(value, ast.UnaryOp) else places.operands(value)
        if isinstance(value, (ast.ListComp, ast.GeneratorExp)):
            parts = [value.elt]
        if isinstance(value, (ast.List, ast.Tuple)):
            parts = value.elts
        if isinstance(value, ast.Call):
            parts = [*parts, *(word.value for word in value.keywords)]
        if isinstance(value, ast.Subscript):
            parts = [*parts, *self._bounds(value.slice)]
        for part in parts:
            yield from self.of_value(part, None, None, depth + 1)

    def _bounds(self, index: ast.expr) -> list[ast.expr]:
        """What an index is computed from."""
        if isinstance(index, ast.Tuple):
            return [part for one in index.elts for part in self._bounds(one)]
        bounds = [index.lower, index.upper, index.step] if isinstance(index, ast.Slice) else [index]
        return [part for part in bounds if part is not None]

    def _of_call(
        self, value: ast.Call, word: str, given: Sequence[ast.expr], name: str | None,
        tensor: Tensor | None,
    ) -> Iterable[Reason] | None:  # fmt: skip
        """What a call of the library keeps out by itself; None where its operands have to be
        looked at."""
        is_method = isinstance(value.func, ast.Attribute)
        if word in CUTS and given and is_method:
            return [self._without(value, f".{word}()", f".{word}() cuts it off the graph")]
        if isinstance(value.func, ast.Name) and len(given) == 1:
            if (is_float := word == "float") or word in INTEGERS:
                return self._number(value, given[0], is_float)
        if word == "sample" and is_method and self._distribution(given[:1]) is not None:
            return [self._drawn(value, self._distribution(given[:1]))]
        if word in CHOICES or (word in INTEGERS and is_method):
            what = f"{word} has no gradient" if word in CHOICES else f".{word}() has no gradient"
            advice = CHOSEN if word.startswith("arg") else None
            return [Reason(value, what, advice, is_choice=True)]
        if word == "grad" and self._is_library(value.func):
            return self._differentiated(value)
        if word in MAKERS and self._is_library(value.func):
            copied = self._copied(value) if word == "tensor" else []
            return copied or self._leaf_reasons(value, name, tensor)
        return None

    def _number(self, value: ast.Call, given: ast.expr, is_float: bool) -> Iterator[Reason]:
        """float(x) of what requires grad, or of what is computed from it."""
        text, word = self.places.text(given), ast.unparse(value.func)
        held = [self.places.tensor(node) for node in ast.walk(given)]
        if text is None or not any(one is not None and one.requires_grad for one in held):
            return
        line, says = self.places.line(value), f"{word}() makes a number, which has no graph"
        if is_float:
            edits = replaced(self.places, value, text)
            yield Reason(value, says, f"{text} itself on line {line}", edits=edits)
        else:
            yield Reason(value, says, "a computation of tensors in its place", is_choice=True)

    def _distribution(self, given: Sequence[ast.expr]) -> Any:
        """The distribution that a name holds."""
        held = [self.places.values.get(one.id) for one in given if isinstance(one, ast.Name)]
        return next((one for one in held if isinstance(one, Distribution)), None)

    def _drawn(self, value: ast.Call, distribution: Any) -> Reason:
        """x.sample(), which a loss of log_prob() or x.rsample() would do better."""
        says, text = "draws numbers outside of the graph", self.places.text(value.func)
        if not distribution.has_rsample or text is None:
            return Reason(value, says, "log_prob() of what was drawn in the loss", is_choice=True)
        again = text.removesuffix("sample") + "rsample"
        return Reason(value, says, f"{again}() on line {self.places.line(value)}", is_choice=True,
                      edits=replaced(self.places, value.func, again))  # fmt: skip

    def _is_place(self, value: ast.expr) -> bool:
        """x.max(1)[1], and x.max(1).indices."""
        if isinstance(value, ast.Subscript):
            if not isinstance(value.slice, ast.Constant) or value.slice.value != 1:
                return False
        elif not isinstance(value, ast.Attribute) or value.attr != "indices":
            return False
        called = self.places.called(value.value)
        method = None if called is None else catalogue.methods.get(called[0])
        overloads = () if method is None else method.overloads
        outputs = [getattr(one, "row", one).signature.outputs for one in overloads]
        return any("indices" in names[1:2] for names in outputs)

    def _of_function(self, name: str, depth: int) -> Iterator[Reason]:
        """A function of the program: what its text alone shows of its result."""
        function = self.places.bound_by.get(name)
        if not isinstance(function, ast.FunctionDef) or name in self.followed:
            return
        self.followed.add(name)
        for item in function.decorator_list:
            called = self.places.called(item)
            word = called[0] if called is not None else getattr(item, "attr", "")
            if word in MODES:
                yield Reason(item, f"no graph is made in {name}",
                             f"leave out the decorator on line {self.places.line(item)}",
                             edits=self._without_decorator(item))  # fmt: skip
                return
        last = function.body[-1]
        if isinstance(last, ast.Return) and last.value is not None:
            yield from self.of_binding(last.value, None, None, depth + 1)

    def _without_decorator(self, item: ast.expr) -> list[Edit] | None:
        span = self.places.span(item)
        if span is None or span.line != span.end_line:
            return None
        return [Edit(span._replace(column=span.column - 1), "")]

    def _is_library(self, function: ast.expr) -> bool:
        """torch.ones or ones, unless the program has a function of that name."""
        if isinstance(function, ast.Attribute):
            return self.places.is_space(function.value)
        return isinstance(function, ast.Name) and function.id not in self.places.program.bindings

    def _without(self, node: ast.expr, word: str, text: str) -> Reason:
        """`node` ends in what cuts it off."""
        span = self.places.span(node)
        edits: list[Edit] | None = None
        if span is not None and self.places.source.text_of(span).endswith(word):
            edits = [Edit(span.tail(len(word)), "")]
        advice = f"leave out {word} on line {self.places.line(node)}"
        return Reason(node, text, advice, edits=edits)

    def _of_backward(self, value: ast.Attribute) -> Reason:
        """x.grad, where one backward call of the text may have made it."""
        calls = [
            node
            for statement in self.places.program.body
            for node in ast.walk(statement)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            and node.func.attr == "backward" and node.lineno < value.lineno
        ]  # fmt: skip
        where = f"the call on line {calls[0].lineno}" if len(calls) == 1 else "the backward call"
        edits = None
        if len(calls) == 1 and not {"create_graph", None} & {w.arg for w in calls[0].keywords}:
            edits = with_argument(self.places, calls[0], "create_graph=True")
        return Reason(
            value, "a .grad has a graph only with create_graph=True",
            f"create_graph=True in {where} that made it", edits=edits,
        )  # fmt: skip

    def _differentiated(self, value: ast.Call) -> Iterator[Reason]:
        """Gradients are constants unless create_graph=True was said."""
        if not {"create_graph", None} & {word.arg for word in value.keywords}:
            yield Reason(
                value, "gradients have a graph only with create_graph=True",
                f"create_graph=True in the call on line {self.places.line(value)}",
                edits=with_argument(self.places, value, "create_graph=True"),
            )  # fmt: skip
            return
        for owner in self._functions(value.args[0]) if value.args else ():
            cut = next(self._without_second(owner), None)
            if cut is not None:
                yield cut
                return
            for one in intermediates(self.places, owner):
                yield Reason(one.node, one.reason, one.advice)
                return
        text = "this gradient is a constant: what it is the gradient of is linear"
        yield Reason(value, text, is_linear=True)

    def _without_second(self, owner: str) -> Iterator[Reason]:
        """What in the backward of a Function leaves its own graph."""
        for method in ast.walk(self.places.program.tree):
            above = self.places.parents.get(id(method))
            if not isinstance(method, ast.FunctionDef) or method.name != "backward":
                continue
            if not isinstance(above, ast.ClassDef) or above.name != owner:
                continue
            for item in method.decorator_list:
                if ast.unparse(item).endswith("once_differentiable"):
                    edits, line = self._without_decorator(item), self.places.line(item)
                    advice = f"leave out the decorator on line {line}"
                    yield Reason(item, f"{owner}.backward makes no graph", advice, edits=edits)
            for part in ast.walk(method):
                if isinstance(part, ast.Attribute) and part.attr in (*CUTS, "data"):
                    yield Reason(part, f"leaves the graph in {owner}.backward")

    def _functions(self, root: ast.expr) -> Iterator[str]:
        """The names of the Functions that a root is computed by: in its graph, else in its text."""
        tensor = self.places.tensor(root)
        if tensor is not None and tensor.grad_fn is not None:
            for node in nodes_below([tensor.grad_fn], MOST_NODES):
                if isinstance(node, FunctionNode):
                    yield node.owner.__name__
        for part in ast.walk(root):
            if isinstance(part, ast.Attribute) and part.attr == "apply":
                yield ast.unparse(part.value)

    def _copied(self, value: ast.Call) -> list[Reason]:
        """torch.tensor(x) of a tensor that has a graph."""
        places = self.places
        inside = [node for item in value.args[:1] for node in ast.walk(item)]
        for node in inside:
            held = places.tensor(node)
            if (held is not None and held.requires_grad) or self._inner(node):
                text = "torch.tensor copies the numbers and leaves the graph behind"
                code = places.text(value.args[0])
                if code is not None and not isinstance(value.args[0], (ast.List, ast.Tuple)):
                    advice = f"{code} itself on line {places.line(value)}"
                    return [Reason(value, text, advice, edits=replaced(places, value, code))]
                if isinstance(value.args[0], ast.List) and len(value.args) == 1:
                    advice = f"torch.stack in the place of torch.tensor on line {value.lineno}"
                    return [Reason(value, text, advice, edits=self._stacked(value))]
                return [Reason(value, text)]
        return self._collected(value)

    def _stacked(self, value: ast.Call) -> list[Edit]:
        """torch.stack for torch.tensor, and for each list in its list."""
        edits = replaced(self.places, value.func, "torch.stack") or []
        for row in getattr(value.args[0], "elts", ()):
            span = self.places.span(row)
            if isinstance(row, ast.List) and span is not None:
                edits += [Edit(span.start, "torch.stack("), Edit(span.end, ")")]
        return edits

    def _inner(self, node: ast.AST) -> bool:
        """Whether it is the variable of a comprehension over tensors of a list with a graph."""
        if not isinstance(node, ast.Name):
            return False
        places = self.places
        loops = [
            loop for part in places.ancestors(node) for loop in getattr(part, "generators", ())
            if isinstance(loop.target, ast.Name) and loop.target.id == node.id
        ]  # fmt: skip
        held = places.value_of(loops[0].iter) if loops else None
        parts = held if isinstance(held, (list, tuple)) else ()
        return any(isinstance(one, Tensor) and one.requires_grad for one in parts)

    def _collected(self, value: ast.Call) -> list[Reason]:
        """torch.tensor(losses) of a list that the program filled with losses.append(x.item())."""
        places = self.places
        given = value.args[0] if len(value.args) == 1 else None
        if not isinstance(given, ast.Name):
            return []
        for node in places.parents.values():
            called = places.called(node) if isinstance(node, ast.Call) else None
            if called is None or called[0] != "append" or len(called[1]) != 2:
                continue
            filled, item = called[1]
            cut = places.called(item)
            if not isinstance(filled, ast.Name) or filled.id != given.id or cut is None:
                continue
            if cut[0] == "item":
                reason = self._without(item, ".item()", ".item() cuts it off the graph")
                advice = f"{reason.advice}, and torch.stack on line {places.line(value)}"
                stacked = replaced(places, value.func, "torch.stack") or []
                return [reason._replace(advice=advice, edits=[*(reason.edits or []), *stacked])]
        return []

    def _leaf_reasons(
        self, value: ast.Call, name: str | None, tensor: Tensor | None
    ) -> Iterator[Reason]:
        """A leaf made here: what its making would need."""
        given = next((word for word in value.keywords if word.arg == "requires_grad"), None)
        if any(word.arg is None for word in value.keywords):
            return
        if given is not None:
            if isinstance(given.value, ast.Constant) and given.value.value is False:
                yield Reason(value, "made with requires_grad=False")
            return
        line = self.places.line(value)
        if tensor is not None and not tensor.is_floating_point():
            text = f"made as {tensor.dtype.name}; only floating tensors can require grad"
            advice = f"floating numbers on line {line}, and requires_grad=True"
            asked = with_argument(self.places, value, "requires_grad=True") or []
            edits: list[Edit] = [*self._floating(value), *asked]
            yield Reason(value, text, advice, is_leaf=True, edits=edits)
            return
        edits = with_argument(self.places, value, "requires_grad=True") or []
        advice = f"requires_grad=True on line {line}"
        code = self.places.text(value)
        if code is not None and name is not None and len(name) + len(code) < 40:
            advice = f"{name} = {with_keyword(code, 'requires_grad=True')} on line {line}"
        yield Reason(value, UNASKED, advice, True, edits)

    def _floating(self, value: ast.Call) -> Iterator[Edit]:
        """The whole numbers of a call, written as floating ones."""
        for item in value.args[:1]:
            for node in ast.walk(item):
                if isinstance(node, ast.Constant) and type(node.value) is int:
                    span = self.places.span(node)
                    if span is not None:
                        yield Edit(span.end, ".0")


def with_keyword(call: str, keyword: str) -> str:
    """The text of a call with one more keyword argument."""
    inside = call.rstrip()[:-1].rstrip().rstrip(",")
    return f"{inside}{keyword})" if inside.endswith("(") else f"{inside}, {keyword})"
