"""Autograd: a user's Function below vmap and in forward mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..engine.schema.carriers import TRANSFORMS
from ..engine.schema.catalogue import catalogue
from ..engine.schema.errors import type_name
from ..engine.tensors.tensor import Tensor
from ..func.batched import batched, is_batched, split
from ..func.carrier import highest
from ..func.dual import is_dual, mirror, primal_of
from ..func.levels import randomness_at
from ..func.transforms import made_dual
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
    if highest(primals) is not None:
        result, context = apply(owner, primals), None
    else:
        result, context = owner.run(primals)
    if owner.jvp is UNSET:
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )
    if context is not None:
        context._saved = context._for_forward
        context._versions = tuple(0 if t is None else t._version for t in context._saved)
    fill = context is None or context.materialize_grads
    tangents = [value.tangent if is_dual(value, level) else _none(value, fill) for value in args]
    pushed = owner.jvp(context, *tangents)
    outs = result if isinstance(result, tuple) else (result,)
    given = pushed if isinstance(pushed, tuple) else (pushed,)
    if len(given) != len(outs):
        raise RuntimeError(
            "Function's jvp returned an invalid number of forward gradients (expected "
            f"{len(outs)} but got {len(given)})"
        )
    duals = [value for value in args if is_dual(value, level)]
    made = tuple(
        _with_tangent(out, tangent, place, duals, level)
        for place, (out, tangent) in enumerate(zip(outs, given, strict=True))
    )
    return made if isinstance(result, tuple) else made[0]


def _none(value: Any, fill: bool) -> Any:
    """The tangent that jvp gets of an argument that has none."""
    if fill and isinstance(value, Tensor) and value._kind.differentiable:
        return catalogue.functions["zeros_like"](value)
    return None


def _with_tangent(out: Any, tangent: Any, place: int, duals: Sequence[Any], level: int) -> Any:
    """A result as a dual; that of a change in place is the argument, whose tangent changed too."""
    if tangent is not None and not isinstance(tangent, Tensor):
        raise RuntimeError(
            f"expected Variable or None (got {type_name(tangent)}) for grad output {place}."
        )
    for value in duals:
        if out is value.primal:
            if tangent is not value.tangent:
                raise RuntimeError(_NOT_IN_PLACE)
            mirror(value)
            return value
        if _is_view(out, value) and (tangent is None or tangent._base is not value.tangent):
            raise RuntimeError(_NO_VIEW)
    return out if tangent is None else made_dual(out, tangent, level)


def _is_view(out: Any, value: Any) -> bool:
    """Is a result a view of an argument, which itself is no view of another dual?"""
    primal = value.primal
    if value._meta.origin is not None or not out.__class__ is primal.__class__ is Tensor:
        return False
    return out._need_storage() is primal._need_storage()


_NOT_IN_PLACE = (
    "An inplace custom Function is not modifying the forward mode gradients inplace. If the "
    "forward is modifying an input inplace, then the jvp function must modify the corresponding "
    "gradient inplace."
)
_NO_VIEW = (
    "A custom Function's forward is returning a view (or an input as-is) but the jvp is not "
    "returning a view."
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
