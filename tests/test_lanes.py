"""Tests that the fast ways and the general ones are one: over the whole catalogue, bit for bit.

A call goes through the first lane that fits, a backward pass through `fast_backward` where nobody
can see the difference. Here every sample is run a second time with those ways closed, and nothing
that can be asked may differ: values to the last bit, types, graphs, saved names, gradients of
both orders, error texts.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from examine import examine, inplace_twin, refuse

import gradcli
from gradcli.engine.compile import inplace, lane
from gradcli.engine.passes import backward
from gradcli.engine.schema.mode import state
from gradcli.engine.schema.row import Inplace, Row
from gradcli.engine.tensors.tensor import Tensor
from gradcli.operators import catalogue

ARITHMETIC = (("add", (1,)), ("sub", (1,)), ("mul", ()), ("div", ()))
DUNDERS = {"add": "add", "sub": "sub", "mul": "mul", "div": "truediv"}
# Uninitialised memory, and numbers that NumPy's own sums round in another order by alignment.
APART = ("empty",)


def _forget() -> None:
    """What was written from rows is written anew when it is needed."""
    for row in catalogue.rows.read():
        kept = row.__dict__.get("run") if isinstance(row, Row) else getattr(row, "_run", None)
        if hasattr(kept, "found"):  # a transformation stands in front of it, or autocast
            while hasattr(kept.found, "found"):
                kept = kept.found
            kept.found = None
        elif isinstance(row, Row):
            row.__dict__.pop("run", None)
        elif isinstance(row, Inplace):
            row._run = None
        if isinstance(row, Row):
            row.forget_formulas()
    for functions in (catalogue.functions, catalogue.methods, catalogue.properties):
        for function in functions.values():
            function.settle()


def _operator(key: str, extra: tuple[Any, ...]) -> Any:
    """x + y by the general function of the row alone."""
    row, scalar = catalogue.rows[f"{key}.Tensor"], catalogue.rows[f"{key}.Scalar"]

    def operate(self: Any, other: Any) -> Any:
        if other.__class__ is Tensor:
            return row.run(self, other, *extra)
        if other.__class__ in (float, int, bool, complex):
            return (scalar if state.formula else row).run(self, other, *extra)
        return NotImplemented

    return operate


@contextmanager
def general_ways() -> Iterator[None]:
    """One function for each row, one for each in-place twin, and the walk that can be watched."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lane, "has_lanes", lambda row: False)
        patch.setattr(inplace, "specialise", inplace._general)
        patch.setattr(backward, "is_ordinary", lambda create_graph: False)
        _forget()
        for key, extra in ARITHMETIC:
            patch.setattr(Tensor, f"__{DUNDERS[key]}__", _operator(key, extra))
            if key in ("add", "mul"):
                patch.setattr(Tensor, f"__r{key}__", _operator(key, extra))
        try:
            yield
        finally:
            patch.undo()
            _forget()


def _texts(kind: str) -> dict[str, list[str]]:
    """The samples of the rows, by the folder that declares them."""
    found: dict[str, list[str]] = {}
    for row in catalogue.rows.values():
        body = getattr(row, "forward", None) or getattr(row, "body", None)
        place = ".".join(getattr(body, "__module__", "").split(".")[:3])
        for text in getattr(row, kind):
            if not any(word in text for word in APART):
                found.setdefault(place, []).append(text)
            twin = inplace_twin(text, row.name, row.inplace) if row.inplace else None
            if twin is not None and kind == "samples":
                found[place].append(twin)
    return found


SAMPLES, ERRORS = _texts("samples"), _texts("errors")


@pytest.mark.parametrize("room", sorted(SAMPLES))
def test_samples(room: str) -> None:
    texts = SAMPLES[room]
    _forget()
    fast = [examine(gradcli, text) for text in texts]
    with general_ways():
        general = [examine(gradcli, text) for text in texts]
    for text, one, other in zip(texts, fast, general, strict=True):
        assert one == other, text


@pytest.mark.parametrize("room", sorted(ERRORS))
def test_errors(room: str) -> None:
    texts = ERRORS[room]
    fast = [refuse(gradcli, text) for text in texts]
    with general_ways():
        general = [refuse(gradcli, text) for text in texts]
    assert dict(zip(texts, fast)) == dict(zip(texts, general))


PROGRAM = """\
x = {x}
y = {y}
z = x * y + x / (y * y + 1) - y * 2.5
w = z.tanh() * x.sin() + (1 - z.sigmoid()) ** 2
u = (w - 3 * x).relu() + w.exp().log1p()
v = u.detach().clone()
v *= 0.5
v -= u.detach()
v += 2.0
loss = (u * v).sum()
loss.backward()
answer = [t.tolist() for t in (z, w, u, v, loss, x.grad, y.grad)]
"""
OPERANDS = {
    "numbers": ("T.tensor(0.7, requires_grad=True)", "T.tensor(-1.3, requires_grad=True)"),
    "few": ("T.linspace(-2, 2, 7).requires_grad_()", "T.linspace(1, 3, 7).requires_grad_()"),
    "many": ("T.linspace(-2, 2, 300).requires_grad_()", "T.linspace(1, 3, 300).requires_grad_()"),
    "double": (
        "T.linspace(-2, 2, 50, dtype=T.float64).requires_grad_()",
        "T.linspace(1, 3, 50, dtype=T.float64).requires_grad_()",
    ),
    "broadcast": ("T.linspace(-2, 2, 12).reshape(3, 4).requires_grad_()",
                  "T.linspace(1, 3, 4).requires_grad_()"),
    "types": ("T.linspace(-2, 2, 5).requires_grad_()",
              "T.linspace(1, 3, 5, dtype=T.float64).requires_grad_()"),
    "large": ("T.linspace(-2, 2, 70000).requires_grad_()",
              "T.linspace(1, 3, 70000).requires_grad_()"),
}  # fmt: skip


@pytest.mark.parametrize("kind", OPERANDS)
def test_programs(kind: str) -> None:
    """Sums, products and updates of operands that take different lanes."""
    text = PROGRAM.format(x=OPERANDS[kind][0], y=OPERANDS[kind][1])

    def run() -> Any:
        scope: dict[str, Any] = {"T": gradcli}
        try:
            exec(text.replace("requires_grad_()", "detach().requires_grad_()"), scope)
        except RuntimeError as error:
            return str(error)
        return scope["answer"]

    fast = run()
    with general_ways():
        assert run() == fast


def gradients_of_a_part(seed: int) -> tuple[Any, ...]:
    """Gradients of some tensors of a random graph, and which of its nodes have freed what they
    saved: shared results, several outputs, changes in place, inputs in the middle."""
    T: Any = gradcli
    draw = random.Random(seed)
    x, w = (T.linspace(-1, 1 + one, 3).requires_grad_() for one in range(2))
    made: list[Any] = [x, w, x * w]
    for _ in range(draw.randint(3, 12)):
        a, b = draw.choice(made), draw.choice(made)
        made.append(draw.choice([
            lambda a=a, b=b: a * b, lambda a=a, b=b: a + b, lambda a=a: a.sin(),
            lambda a=a: T.stack(a.unbind(0)) * 2, lambda a=a: a.clone().mul_(3)[:3],
            lambda a=a, b=b: a.detach() * b, lambda a=a: a.max(0)[0] * a,
        ])())  # fmt: skip
    inner = [one for one in made if one.requires_grad]
    roots = draw.sample(inner, draw.randint(1, 2))
    wanted = draw.sample(inner, min(len(inner), draw.randint(1, 3)))
    keep = draw.random() < 0.3
    ends = [root.sum() for root in roots]
    found = T.autograd.grad(ends, wanted, None, keep, allow_unused=True)
    if keep:  # what was not asked for has left nothing behind
        found += T.autograd.grad(ends, (x, w), allow_unused=True)
    nodes = [root.grad_fn for root in roots if root.grad_fn is not None]
    for node in nodes:
        nodes += [edge for edge, _ in node.next_functions if edge not in (None, *nodes)]
    gradients = [None if one is None else (one.tolist(), one._version) for one in found]
    return gradients, [(node.name(), node.freed) for node in nodes]


def test_a_pass_to_some_inputs_is_the_walk() -> None:
    """`grad` over the nodes above its inputs alone."""
    fast = [gradients_of_a_part(seed) for seed in range(150)]
    with general_ways():
        assert [gradients_of_a_part(seed) for seed in range(150)] == fast


def test_attributes_of_nodes_cost_no_other_attribute() -> None:
    """A class with `__getattr__` is read slower by CPython, so `_saved_*` are properties; a node
    shows those of its own operation alone."""
    x = gradcli.ones(1, requires_grad=True)
    y = (x * x).exp()
    node = y.grad_fn
    assert not hasattr(type(node), "__getattr__")
    assert [name for name in dir(node) if name.startswith("_saved_")] == ["_saved_result"]
    assert node._saved_result.item() == y.item()
    assert not hasattr(node, "_saved_self")
