"""Func: gradients of carriers: reverse mode below vmap and forward mode.

The engine's one graph serves all levels of reverse mode: a transformed function runs on aliases of
its inputs, and the backward pass stops at them. A dual's gradient is a dual: its tangent is the
gradient of the tangent. A batched gradient is the gradient of the whole value, whose samples do not
mix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..engine.graph.leaf import edge_of
from ..engine.graph.node import AccumulateGrad, CustomNode, Node
from ..engine.schema.catalogue import catalogue
from ..engine.schema.mode import no_grad, state
from ..engine.tensors.tensor import Tensor, plain
from .batched import Batched, batched, is_batched
from .carrier import highest, run
from .dual import dual, forward, is_dual
from .observed_passes import unheard, with_all_samples


class Identity(CustomNode):
    """Hands gradients on: where a transformed function's input hangs on the tensor that was given,
    and where the primal of a dual hangs on what it was."""

    __slots__ = ()

    def __init__(self, tensor: Tensor, name: str = "AliasBackward0") -> None:
        number = tensor._output_nr
        super().__init__(name, (edge_of(tensor),), (number,) if number else None)

    def apply(self, grads: tuple[Any, ...], tensors: bool) -> tuple[Any, ...]:
        return grads


def alias(value: Any, pairs: list[tuple[Tensor, Tensor]], connected: bool) -> Any:
    """The same tensor as an input that gradients can be asked of, whatever carries it.

    `pairs` takes down which tensor stands for which. A connected alias hangs on the tensor that was
    given, for a pull that may come back at any time; the others are leaves.
    """
    if value.__class__ is Tensor:
        if not value._kind.differentiable:
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        out = plain(value._need_array(), value._kind)
        out._storage = value._need_storage()
        if connected and value.requires_grad:
            out._grad_fn = Identity(value)
        out._requires_grad = True
        pairs.append((out, value))
        return out
    level = value.level
    if is_dual(value, level):
        return dual(alias(value.primal, pairs, connected), value.tangent, level)
    return batched(alias(value.in_front(), pairs, connected), 0, level)


UNCHOSEN = "unchosen"  # how these leaves were made: their gradient is internal


def unchosen(out: Any) -> Any:
    """A gradient for a result, to be differentiated by: ones that require grad.

    Its value does not count where a formula is linear step by step. Some are so only as a whole
    (logcumsumexp takes logarithms), and there zeros would not do.
    """
    if out.__class__ is Tensor:
        kind = out._kind
        one = plain(kind.xp.ones(out._data.shape, dtype=kind.array_dtype), kind)
        one._requires_grad = True
        one._need_meta().creation = UNCHOSEN
        return one
    level = out.level
    if is_dual(out, level):
        return unchosen(out.primal)
    return batched(unchosen(out.in_front()), 0, level)


def gradient(
    outputs: Sequence[Any], inputs: Sequence[Any], given: Sequence[Any], create: bool
) -> list[Any]:
    """The gradients of inputs, None where an output does not depend on one; nothing is freed."""
    top = highest([*outputs, *inputs, *given])
    if top is None:
        return _ordinary(outputs, inputs, given, create)
    level = top.level
    if is_dual(top, level):
        return _of_duals(outputs, inputs, given, create, level)
    return _of_batched(outputs, inputs, given, create, level)


def gradients_of_carriers(
    outputs: Sequence[Any], inputs: Sequence[Any], given: Sequence[Any], create: bool, keep: bool
) -> list[Any] | None:
    """autograd.grad where a tangent takes part, whose gradients have one too, or where the seeds
    are samples of a vmap around it; None where it is an ordinary call."""
    level = forward.level
    if any(is_dual(value, level) for value in (*outputs, *inputs, *given)):
        return _detached_duals(gradient(outputs, inputs, given, True), create, level)
    top = highest(given)
    if not isinstance(top, Batched):
        return None
    found = at_once(outputs, inputs, given, create, keep)
    return found or _each(outputs, inputs, given, create, top.level, top.samples)


def _detached_duals(found: list[Any], create: bool, level: int) -> list[Any]:
    if create:
        return found
    with no_grad():
        return [
            None
            if value is None
            else dual(value.primal.detach(), value.tangent.detach(), level)
            if is_dual(value, level)
            else value.detach()
            for value in found
        ]


def _ordinary(
    outputs: Sequence[Any], inputs: Sequence[Any], given: Sequence[Any], create: bool
) -> list[Any]:
    pairs = [(o, g) for o, g in zip(outputs, given, strict=True) if o.requires_grad]
    if not pairs:
        return [None] * len(inputs)
    from ..engine.passes.backward import grad

    before = state.grad_enabled
    try:
        return list(grad([o for o, _ in pairs], inputs, [g for _, g in pairs], True, create, True))
    finally:
        state.grad_enabled = before


def _of_duals(
    outputs: Sequence[Any], inputs: Sequence[Any], given: Sequence[Any], create: bool, level: int
) -> list[Any]:
    """Gradient and tangent of the gradient, which is the gradient of the tangent."""

    def primal(value: Any) -> Any:
        return value.primal if is_dual(value, level) else value

    below = [primal(value) for value in inputs]
    gradients = gradient([primal(o) for o in outputs], below, [primal(g) for g in given], create)
    roots, seeds = [], []
    for output, seed in zip(outputs, given, strict=True):
        if is_dual(output, level):
            roots.append(output.tangent)
            seeds.append(primal(seed))
        if is_dual(seed, level):
            roots.append(primal(output))
            seeds.append(seed.tangent)
    tangents: list[Any] = [None] * len(below)
    if roots:
        with unheard():
            tangents = gradient(roots, below, seeds, create)
    zeros = catalogue.functions["zeros_like"]
    return [
        None
        if value is None and tangent is None
        else dual(
            zeros(place) if value is None else value,
            zeros(place) if tangent is None else tangent,
            level,
        )
        for place, value, tangent in zip(below, gradients, tangents, strict=True)
    ]


def _of_batched(
    outputs: Sequence[Any], inputs: Sequence[Any], given: Sequence[Any], create: bool, level: int
) -> list[Any]:
    if all(is_batched(value, level) for value in inputs):
        return _whole(outputs, inputs, given, create, level)
    samples = next(
        value.samples for value in (*outputs, *inputs, *given) if is_batched(value, level)
    )
    shared = not any(is_batched(value, level) for value in (*outputs, *inputs))
    if shared and all(value.__class__ is Tensor for value in (*outputs, *inputs)):
        found = at_once(outputs, inputs, given, create)
        if found is not None:
            return found
    return _each(outputs, inputs, given, create, level, samples)


def _whole(
    outputs: Sequence[Any], inputs: Sequence[Any], given: Sequence[Any], create: bool, level: int
) -> list[Any]:
    """Inputs that hold all samples: one gradient of the whole values."""
    pairs = [
        (output.in_front(), _spread(seed, output, level))
        for output, seed in zip(outputs, given, strict=True)
        if is_batched(output, level)
    ]
    found = gradient(
        [o for o, _ in pairs], [value.value for value in inputs], [g for _, g in pairs], create
    )
    return [None if value is None else batched(value, 0, level) for value in found]


def _spread(seed: Any, output: Any, level: int) -> Any:
    if is_batched(seed, level):
        return seed.in_front()
    size = (output.samples, *seed._data.shape)
    return run(catalogue.rows["expand"], (seed, size, False))


def _each(
    outputs: Sequence[Any], inputs: Sequence[Any], given: Sequence[Any], create: bool, level: int,
    samples: int,
) -> list[Any]:  # fmt: skip
    """Sample by sample."""
    select = catalogue.rows["select.int"]

    def sample(value: Any, at: int) -> Any:
        return run(select, (value.in_front(), 0, at)) if is_batched(value, level) else value

    passes = []
    for at in range(samples):
        passes.append(
            gradient(
                [sample(o, at) for o in outputs], [sample(i, at) for i in inputs],
                [sample(g, at) for g in given], create,
            )
        )  # fmt: skip
    stack, zeros = catalogue.functions["stack"], catalogue.functions["zeros_like"]
    results: list[Any] = []
    for place, column in enumerate(zip(*passes, strict=True)):
        if all(value is None for value in column):
            results.append(None)
            continue
        filled = [zeros(inputs[place]) if value is None else value for value in column]
        results.append(batched(stack(filled), 0, level))
    return results


def at_once(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    given: Sequence[Any],
    create: bool,
    keep: bool = True,
) -> list[Any] | None:
    """One backward pass with batched gradients through an ordinary graph; None where a node of it
    does not take them: what users wrote, hooks, views changed in place."""
    pairs = [(o, g) for o, g in zip(outputs, given, strict=True) if o.requires_grad]
    if not pairs:
        return [None] * len(inputs)
    if state.anomaly or not _is_plain([o for o, _ in pairs]):
        return None
    from ..engine.passes.backward import run_backward

    with with_all_samples():
        roots, seeds = [o for o, _ in pairs], [g for _, g in pairs]
        return run_backward(roots, seeds, keep, create, inputs, capture=True, tensors=True)


def _is_plain(outputs: Sequence[Tensor]) -> bool:
    for node in nodes_below(outputs):
        if node.hooks is not None or node.__class__ not in (Node, Identity, AccumulateGrad):
            return False
        if node.__class__ is AccumulateGrad and _watched_leaf(node):
            return False
    return True


def _watched_leaf(node: Any) -> bool:
    meta = node.variable._meta
    return meta is not None and bool(meta.hooks or meta.post_hooks)


def nodes_below(outputs: Sequence[Tensor]) -> Iterator[Node]:
    """Every node that outputs were made by, each once."""
    stack = [node for node in map(edge_of, outputs) if node is not None]
    seen = set(stack)
    while stack:
        node = stack.pop()
        yield node
        for edge in node.edges:
            if edge is not None and edge not in seen:
                seen.add(edge)
                stack.append(edge)
