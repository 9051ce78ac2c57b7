"""Autograd: grad() with is_grads_batched: many gradients of the outputs in one pass back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine.passes.backward import grad as ordinary, materialized
from ..engine.schema.catalogue import catalogue
from ..engine.schema.mode import state
from ..engine.schema.size import Size
from ..engine.tensors.tensor import Tensor
from ..func.batched import batched, is_batched
from ..func.carrier import run
from ..func.reverse import at_once
from ..func.transformation import Level


def batched_grads(
    outputs: Any, inputs: Any, grad_outputs: Any, create_graph: bool, **options: Any
) -> tuple[Tensor | None, ...]:
    """The leading dimension of each grad_output counts the passes; so does that of the results."""
    roots = [outputs] if isinstance(outputs, Tensor) else state.taken(outputs)
    wanted = [inputs] if isinstance(inputs, Tensor) else state.taken(inputs)
    given = [grad_outputs] if isinstance(grad_outputs, Tensor) else state.taken(grad_outputs)
    for place, (root, gradient) in enumerate(zip(roots, given, strict=False)):
        if gradient.shape[1:] != root.shape:
            rest = Size(tuple(gradient.shape[2:]))  # so PyTorch counts
            raise RuntimeError(_MISMATCH.format(place=place, found=rest, of=root.shape))
    asking = all(tensor.requires_grad for tensor in (*roots, *wanted))
    if asking and all(tensor.__class__ is Tensor for tensor in (*roots, *wanted, *given)):
        keep = options["retain_graph"]
        found = _in_one_pass(roots, wanted, given, create_graph, keep)
        if found is not None:
            return _completed(found, wanted, create_graph, options)
    return ordinary(
        outputs, inputs, grad_outputs, create_graph=create_graph, is_grads_batched=True, **options
    )


_MISMATCH = (
    "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
    "dimension. The sizes of the remaining dimensions are expected to match the shape of "
    "corresponding output, but a mismatch was detected: grad_output[{place}] has a shape of "
    "{found} and output[{place}] has a shape of {of}. If you only want some tensors in "
    "`grad_output` to be considered batched, consider using vmap."
)


def _in_one_pass(
    roots: Sequence[Tensor], wanted: Sequence[Tensor], given: Sequence[Tensor], create: bool,
    keep: bool | None,
) -> list[Any] | None:  # fmt: skip
    passes = given[0]._data.shape[0]
    kept = create if keep is None else keep
    with Level("vmap", passes, "error") as level:
        seeds = [batched(g, 0, level.number) for g in given]
        found = at_once(roots, wanted, seeds, create, kept)
    if found is None:
        return None
    expand = catalogue.rows["expand"]
    return [
        None
        if value is None
        else value.in_front()
        if is_batched(value, level.number)
        else run(expand, (value, (passes, *value._data.shape), False))
        for value in found
    ]


def _completed(
    found: Sequence[Any], wanted: Sequence[Tensor], create_graph: bool, options: dict[str, Any]
) -> tuple[Any, ...]:
    """What no gradient came to is an error, zeros, or None, as for a single pass."""
    zeros = options["materialize_grads"]
    if not (zeros or options["allow_unused"]):
        for place, value in enumerate(found):
            if value is None:
                raise RuntimeError(
                    f"The differentiated Tensor at index {place} appears to not have been used in "
                    "the graph. Set allow_unused=True if this is the desired behavior."
                )
    return tuple(materialized(found, wanted, create_graph) if zeros else found)
