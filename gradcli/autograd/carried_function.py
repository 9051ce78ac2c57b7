"""Autograd: a user's Function below vmap and in forward mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..engine.schema.carriers import TRANSFORMS
from ..engine.schema.catalogue import catalogue
from ..func.batched import batched, is_batched, split
from ..func.carrier import highest
from ..func.dual import dual, is_dual, primal_of
from ..func.levels import randomness_at
from .function_node import UNSET

_MORE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


class VmapInfo(NamedTuple):
    """The info argument of a Function's vmap."""

    batch_size: int
    randomness: str


def apply(owner: Any, args: Sequence[Any]) -> Any:
    """One application while a transformation is open."""
    if TRANSFORMS.stack and owner.setup_context is UNSET:
        raise RuntimeError(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, "
            f"jacrev, ...), it must override the setup_context staticmethod. {_MORE}"
        )
    top = highest(args)
    if top is None:
        return owner.run(args)[0]
    if is_dual(top, top.level):
        return _pushed(owner, args, top.level)
    return _mapped(owner, args, top.level)


def _pushed(owner: Any, args: Sequence[Any], level: int) -> Any:
    """The function on the primals; its jvp gives the tangents."""
    primals = [primal_of(value, level) for value in args]
    if owner.jvp is UNSET:
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )
    if highest(primals) is not None:
        result, context = apply(owner, primals), None
    else:
        result, context = owner.run(primals)
        context._saved = context._for_forward
        context._versions = tuple(0 if t is None else t._version for t in context._saved)
    tangents = [value.tangent if is_dual(value, level) else None for value in args]
    pushed = owner.jvp(context, *tangents)
    outs = result if isinstance(result, tuple) else (result,)
    given = pushed if isinstance(pushed, tuple) else (pushed,)
    if len(given) != len(outs):
        raise RuntimeError(
            "Function's jvp returned an invalid number of forward gradients (expected "
            f"{len(outs)} but got {len(given)})"
        )
    if not isinstance(result, tuple):
        return result if given[0] is None else dual(result, given[0], level)
    return tuple(
        out if tangent is None else dual(out, tangent, level)
        for out, tangent in zip(result, given, strict=True)
    )


def _mapped(owner: Any, args: Sequence[Any], level: int) -> Any:
    if owner.generate_vmap_rule:
        if owner.vmap is not UNSET:
            raise RuntimeError(
                f"You tried to vmap over {owner.__name__}, but it has both "
                "generate_vmap_rule=True and an overriden vmap staticmethod. Please set "
                f"generate_vmap_rule=False or delete the overriden vmap staticmethod to avoid "
                f"ambiguity. {_MORE}"
            )
        return _one_by_one(owner, args, level)
    if owner.vmap is UNSET:
        raise RuntimeError(
            f"You tried to vmap over {owner.__name__}, but it does not have vmap support. Please "
            f"override and implement the vmap staticmethod or set generate_vmap_rule=True. {_MORE}"
        )
    samples = next(value.samples for value in args if is_batched(value, level))
    info = VmapInfo(samples, randomness_at(level))
    in_dims = tuple(value.place if is_batched(value, level) else None for value in args)
    values = [value.value if is_batched(value, level) else value for value in args]
    result, out_dims = owner.vmap(info, in_dims, *values)
    if not isinstance(result, tuple):
        return result if out_dims is None else batched(result, out_dims, level)
    places = out_dims if isinstance(out_dims, tuple | list) else (out_dims,) * len(result)
    return tuple(
        out if place is None else batched(out, place, level)
        for out, place in zip(result, places, strict=True)
    )


def _one_by_one(owner: Any, args: Sequence[Any], level: int) -> Any:
    columns = [split(value, level) for value in args]
    samples = next(len(column) for column in columns if column is not None)
    results = [
        apply(owner, [v if c is None else c[at] for v, c in zip(args, columns, strict=True)])
        for at in range(samples)
    ]
    stack = catalogue.functions["stack"]
    if isinstance(results[0], tuple):
        return tuple(batched(stack(list(c)), 0, level) for c in zip(*results, strict=True))
    return batched(stack(results), 0, level)
