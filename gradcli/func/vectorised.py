"""Func: torch.func.vmap: a function of one sample becomes one of many."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..engine.schema.catalogue import catalogue
from ..engine.schema.operator import Factory
from ..engine.tensors.factories import manufacture
from ..engine.tensors.tensor import Tensor
from ..engine.tensors.tensor_type import wrap_dim
from .batched import Batched, batched, is_batched
from .carrier import makers, run
from .levels import batches
from .transformation import Level
from .tree import Spec, flatten, spread, unflatten

F = Callable[..., Any]
RANDOMNESS = ("error", "different", "same")


def vmap(
    func: F,
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> F:
    """func for every sample along a dimension of its inputs, all at once."""
    if randomness not in RANDOMNESS:
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}"
        )
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return vmapped(func, in_dims, out_dims, randomness, chunk_size, args, kwargs)

    return wrapper


def vmapped(
    func: F, in_dims: Any, out_dims: Any, randomness: str, chunk_size: int | None,
    args: tuple[Any, ...], kwargs: dict[str, Any],
) -> Any:  # fmt: skip
    """One call of a vmapped function."""
    leaves, dims, spec = _inputs(func, in_dims, args)
    samples = _samples(leaves, dims)
    if chunk_size is None or samples <= chunk_size:
        return _run(func, leaves, dims, spec, samples, out_dims, randomness, kwargs)
    select = catalogue.methods["narrow"]
    parts = []
    for start in range(0, samples, chunk_size):
        length = min(chunk_size, samples - start)
        chunk = [
            leaf if dim is None else select(leaf, dim, start, length)
            for leaf, dim in zip(leaves, dims, strict=True)
        ]
        parts.append(_run(func, chunk, dims, spec, length, out_dims, randomness, kwargs))
    flat = [flatten(part) for part in parts]
    places = spread(out_dims, flat[0][1]) or [0] * len(flat[0][0])
    cat = catalogue.functions["cat"]
    joined = [
        column[0] if dim is None else cat(list(column), dim)
        for column, dim in zip(zip(*(values for values, _ in flat), strict=True), places,
                               strict=True)
    ]  # fmt: skip
    return unflatten(joined, flat[0][1])


def name_of(func: Any) -> str:
    """How error texts call the function."""
    found = getattr(func, "__name__", None) or getattr(func, "name", None)
    return found if isinstance(found, str) else repr(func)


def _inputs(func: F, in_dims: Any, args: tuple[Any, ...]) -> tuple[list[Any], list[Any], Spec]:
    """Flat arguments, and the dimension of each that is mapped over."""
    name = name_of(func)
    if in_dims.__class__ is not int and not isinstance(in_dims, tuple):
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a "
            "(potentially nested) tuple matching the structure of inputs, got: "
            f"{type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are "
            "trying to vmap over a function with no inputs. The latter is unsupported."
        )
    leaves, spec = flatten(args)
    dims = spread(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the "
            f"structure of `inputs`. in_dims has structure {flatten(in_dims)[1]} but inputs has "
            f"structure {spec}."
        )
    for place, (leaf, dim) in enumerate(zip(leaves, dims, strict=True)):
        head = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for "
        if dim is not None and dim.__class__ is not int:
            raise ValueError(
                f"{head}an input but in_dim must be either an integer dimension or None."
            )
        if dim.__class__ is int and not isinstance(leaf, Tensor):
            raise ValueError(
                f"{head}an input but the input is of type {type(leaf)}. We cannot vmap over "
                "non-Tensor arguments, please use None as the respective in_dim"
            )
        if dim is not None:
            rank = leaf._data.ndim
            if not -rank <= dim < rank:
                raise ValueError(
                    f"{head}some input, but that input is a Tensor of dimensionality {rank} so "
                    f"expected in_dim to satisfy -{rank} <= in_dim < {rank}."
                )
            dims[place] = dim % rank
    return leaves, dims, spec


def _samples(leaves: Sequence[Any], dims: Sequence[Any]) -> int:
    sizes = [
        leaf._data.shape[dim] for leaf, dim in zip(leaves, dims, strict=True) if dim is not None
    ]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(size != sizes[0] for size in sizes):
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return int(sizes[0])


def _run(
    func: F, leaves: Sequence[Any], dims: Sequence[Any], spec: Spec, samples: int, out_dims: Any,
    randomness: str, kwargs: dict[str, Any],
) -> Any:  # fmt: skip
    with Level("vmap", samples, randomness) as level:
        given = [
            leaf if dim is None else batched(leaf, dim, level.number)
            for leaf, dim in zip(leaves, dims, strict=True)
        ]
        output = func(*unflatten(given, spec), **kwargs)
    outs, out_spec = flatten(output)
    name = name_of(func)
    places = _places(name, out_dims, out_spec)
    results = [
        _unwrapped(name, out, place, samples, level.number)
        for out, place in zip(outs, places, strict=True)
    ]
    return unflatten(results, out_spec)


def _places(name: str, out_dims: Any, spec: Spec) -> list[Any]:
    if any(dim is not None and dim.__class__ is not int for dim in flatten(out_dims)[0]):
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python "
            "collection of ints representing where in the outputs the vmapped dimension should "
            "appear."
        )
    places = spread(out_dims, spec)
    if places is None and isinstance(out_dims, tuple) and len(out_dims) == 1 and not spec.children:
        return [out_dims[0]]
    if places is None:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with "
            f"the structure of `outputs`. out_dims has structure {flatten(out_dims)[1]} but "
            f"outputs has structure {spec}."
        )
    return places


def _unwrapped(name: str, out: Any, place: Any, samples: int, level: int) -> Any:
    """A result with its samples along the requested dimension."""
    if place is None:
        if is_batched(out, level):
            raise ValueError(
                f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
            )
        return out
    if not isinstance(out, Tensor):
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(out)}. Did you "
            "mean to set out_dims= to None for output?"
        )
    if not is_batched(out, level):
        where = wrap_dim(place, out._data.ndim + 1)
        shape = out._data.shape
        spread_out = run(catalogue.rows["unsqueeze"], (out, where))
        size = (*shape[:where], samples, *shape[where:])
        return run(catalogue.rows["expand"], (spread_out, size, False))
    assert isinstance(out, Batched)
    whole = out.value
    where = wrap_dim(place, whole._data.ndim)
    if where == out.place:
        return whole
    return catalogue.functions["movedim"](whole, out.place, where)


# ---- random numbers


def _each_its_own(factory: Factory, values: Sequence[Any]) -> Any:
    """rand, randn and their like where every sample draws its own numbers."""
    level = next((level for level in reversed(batches()) if level.randomness == "different"), None)
    names = factory.signature.names
    if level is None or "generator" not in names:
        return NotImplemented
    if "size" in names:
        at = names.index("size")
        given = [*values]
        given[at] = (level.samples, *values[at])
        return batched(_drawn(factory, given), 0, level.number)
    stack = catalogue.functions["stack"]
    return batched(stack([_drawn(factory, values) for _ in range(level.samples)]), 0, level.number)


def _drawn(factory: Factory, values: Sequence[Any]) -> Tensor:
    return manufacture(factory, values)


makers.append(_each_its_own)
