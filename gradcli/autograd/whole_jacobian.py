"""Autograd: Jacobians with all rows, or all columns, in one pass over batched gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..engine.schema.catalogue import catalogue
from ..engine.tensors.tensor import Tensor, plain
from ..func.batched import batched, is_batched
from ..func.jacobians import basis_of
from ..func.reverse import at_once, nodes_below
from ..func.transformation import Level
from ..func.transforms import grad, pushed_forward
from ..func.vectorised import vmapped

LARGEST = 1 << 22  # elements that one pass may hold for each tensor of the graph


def all_rows(
    output: Tensor, inputs: Sequence[Tensor], create_graph: bool, keep: bool
) -> tuple[Any, ...] | None:
    """d output / d inputs, many rows by one backward pass; None where the graph does not allow it.
    `keep` says whether the graph is needed afterwards."""
    if any(value.__class__ is not Tensor for value in (output, *inputs)):
        return None
    count = output.numel()
    at_a_time = max(1, LARGEST // _widest(output, inputs))
    chunks: list[list[Any]] = []
    kind, shape = output._kind, output._data.shape
    for start in range(0, count, at_a_time):
        rows = min(at_a_time, count - start)
        seeds = kind.xp.zeros((rows, count), dtype=kind.array_dtype)
        at = kind.xp.arange(rows)
        seeds[at, at + start] = 1
        basis, kept = plain(seeds.reshape((rows, *shape)), kind), keep or start + rows < count
        found = _rows(output, inputs, basis, create_graph, kept)
        if found is None:
            return None
        chunks.append(found)
    # A product's rows may lie across: what is no view is copied.
    cat, view = catalogue.functions["cat"], catalogue.methods["reshape"]
    columns = [
        parts[0] if len(parts) == 1 else cat(list(parts), 0) for parts in zip(*chunks, strict=True)
    ]
    return tuple(
        view(column, (*shape, *given._data.shape))
        for column, given in zip(columns, inputs, strict=True)
    )


def _widest(output: Tensor, inputs: Sequence[Tensor]) -> int:
    sizes = [tensor.numel() for tensor in (output, *inputs)]
    for node in nodes_below([output]):
        for value in node.saved if isinstance(node.saved, tuple) else ():
            if value.__class__ is Tensor:
                sizes.append(value.numel())
    return max(*sizes, 1)


def _rows(
    output: Tensor, inputs: Sequence[Tensor], seeds: Tensor, create_graph: bool, keep: bool
) -> list[Any] | None:
    rows = seeds._data.shape[0]
    with Level("vmap", rows, "same") as level:
        basis = [batched(seeds, 0, level.number)]
        found = at_once([output], inputs, basis, create_graph, keep)
    if found is None:
        return None
    whole = []
    for value, given in zip(found, inputs, strict=True):
        if value is None:
            value = given.detach().new_zeros((rows, *given.shape))  # type: ignore[attr-defined]
        elif is_batched(value, level.number):
            value = value.in_front()
        else:  # the same for all rows
            value = value.expand((rows, *given.shape)).contiguous()
        whole.append(value)
    return whole


def forward_jacobian(func: Callable[..., Any], inputs: Any, strict: bool, vectorize: bool) -> Any:
    """Column by column, all at once."""
    if strict:
        raise RuntimeError(
            'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are '
            "not supported together (yet). Please either set `strict=False` or "
            '`strategy="reverse-mode"`.'
        )
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly "
            "implemented for `vectorize=True`."
        )
    several = isinstance(inputs, tuple)
    given = inputs if several else (inputs,)
    seen: dict[str, Any] = {}

    def push(*directions: Any) -> tuple[Any, ...]:
        outputs, tangents = pushed_forward(func, given, directions)
        seen["several"] = isinstance(outputs, tuple)
        return tangents if seen["several"] else (tangents,)

    count = sum(tensor.numel() for tensor in given)
    columns = vmapped(push, 0, 0, "error", None, tuple(basis_of(given, count)), {})
    split = catalogue.methods["split_with_sizes"]
    sizes = tuple(tensor.numel() for tensor in given)
    rows: Any = [
        [_turned(part, tensor) for part, tensor in zip(split(whole, sizes, 0), given, strict=True)]
        for whole in columns
    ]
    if not several:
        rows = tuple(row[0] for row in rows)
    return rows if seen["several"] else rows[0]


def _turned(part: Any, tensor: Any) -> Any:
    """Directions come last in a Jacobian."""
    rank = part._data.ndim
    moved = catalogue.functions["permute"](part, (*range(1, rank), 0))
    return catalogue.rows["_reshape_alias"](
        catalogue.methods["contiguous"](moved), (*moved.shape[:-1], *tensor.shape)
    )


def forward_hessian(
    func: Callable[..., Any], inputs: tuple[Any, ...], several: bool, strict: bool, vectorize: bool
) -> Any:
    """Forward mode over reverse mode; as in PyTorch the results stay in the inputs' graph."""
    tracked = tuple(tensor.detach().requires_grad_(True) for tensor in inputs)

    def slopes(*arguments: Any) -> Any:
        return grad(func, argnums=tuple(range(len(arguments))))(*arguments)

    rows = forward_jacobian(slopes, tracked, strict, vectorize)
    return [list(row) for row in rows] if several else rows[0][0]
