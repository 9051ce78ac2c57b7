"""Func: torch.func's jacrev, jacfwd and hessian: whole Jacobians by vmapped products with one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..engine.schema.catalogue import catalogue
from ..engine.tensors.tensor import Tensor, plain
from .transforms import chosen, pulled_back, pushed_forward
from .tree import Spec, flatten, unflatten
from .vectorised import vmapped

F = Callable[..., Any]


def jacrev(
    func: F,
    argnums: Any = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> F:
    """A function that gives the Jacobian of func, row by row, in reverse mode."""
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        _only_real("jacrev", "inputs", args)
        answer = pulled_back(func, args, argnums, has_aux)
        output, pull = answer[:2]
        outs, out_spec = flatten(output)
        _only_real("jacrev", "outputs", outs)
        inputs = chosen(args, argnums)
        leaves, spec = flatten(inputs)
        columns = _pulled(pull, outs, out_spec, chunk_size)
        jacobian = unflatten(
            [
                unflatten(
                    [
                        _shaped(part, (*out.shape, *leaf.shape))
                        for part, leaf in zip(row, leaves, strict=True)
                    ],
                    spec,
                )
                for out, row in zip(outs, columns, strict=True)
            ],
            out_spec,
        )
        return (jacobian, answer[2]) if has_aux else jacobian

    return wrapper


def _only_real(name: str, what: str, values: Any) -> None:
    """A Jacobian of complex numbers has two conventions: PyTorch leaves them out."""
    for place, value in enumerate(flatten(values)[0]):
        if isinstance(value, Tensor) and value.is_complex():
            raise RuntimeError(
                f"{name}: Expected all {what} to be real but received complex tensor at flattened "
                f"input idx: {place}"
            )


def _pulled(
    pull: F, outs: Sequence[Any], out_spec: Spec, chunk_size: int | None
) -> list[list[Any]]:
    """For each output the gradients of its elements, along a new first dimension."""
    count = sum(out.numel() for out in outs)
    basis = basis_of(outs, count)

    def product(*seeds: Any) -> Any:
        return tuple(flatten(pull(unflatten(list(seeds), out_spec)))[0])

    stacked = vmapped(product, 0, 0, "error", chunk_size, tuple(basis), {})
    split = catalogue.methods["split_with_sizes"]
    sizes = tuple(out.numel() for out in outs)
    parts = [split(whole, sizes, 0) for whole in stacked]
    return [list(row) for row in zip(*parts, strict=True)]


def basis_of(tensors: Sequence[Any], count: int) -> list[Any]:
    """For each tensor the part of the identity that meets its elements, samples in front."""
    found, offset = [], 0
    for tensor in tensors:
        kind = tensor._kind
        size = tensor.numel()
        part = kind.xp.zeros((count, size), dtype=kind.array_dtype)
        at = kind.xp.arange(size)
        part[at + offset, at] = 1
        found.append(plain(part.reshape((count, *tensor._data.shape)), kind))
        offset += size
    return found


def _shaped(tensor: Any, shape: tuple[int, ...]) -> Any:
    return catalogue.methods["view"](tensor, shape)


def jacfwd(func: F, argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error") -> F:
    """A function that gives the Jacobian of func, column by column, in forward mode."""

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        _only_real("jacfwd", "inputs", args)
        inputs = chosen(args, argnums)
        several = isinstance(argnums, tuple)
        leaves, spec = flatten(inputs if several else (inputs,))
        kept: dict[str, Any] = {}

        def push(*basis: Any) -> Any:
            answer = pushed_forward(
                func, args, unflatten(list(basis), spec), argnums, False, has_aux
            )
            _only_real("jacfwd", "outputs", answer[0])
            outs, kept["spec"] = flatten(answer[1])
            kept["aux"] = answer[2] if has_aux else None
            kept["outs"] = flatten(answer[0])[0]
            return tuple(outs)

        count = sum(leaf.numel() for leaf in leaves)
        pushed = vmapped(push, 0, 0, randomness, None, tuple(basis_of(leaves, count)), {})
        split = catalogue.methods["split_with_sizes"]
        sizes = tuple(leaf.numel() for leaf in leaves)
        rows = []
        for whole in pushed:
            parts = split(catalogue.functions["movedim"](whole, 0, -1), sizes, -1)
            rows.append(
                unflatten(
                    [_column(part, leaf) for part, leaf in zip(parts, leaves, strict=True)], spec
                )
            )
        answer = unflatten([row if several else row[0] for row in rows], kept["spec"])
        return (answer, kept["aux"]) if has_aux else answer

    return wrapper


def _column(part: Tensor, leaf: Tensor) -> Tensor:
    """A part of the last dimension in the shape of the leaf that it belongs to."""
    if not leaf.ndim:
        return catalogue.methods["squeeze"](part, -1)
    return catalogue.methods["unflatten"](part, -1, tuple(leaf.shape))


def hessian(func: F, argnums: Any = 0) -> F:
    """A function that gives the second derivatives of func: forward mode over reverse mode."""
    return jacfwd(jacrev(func, argnums), argnums)
