"""Live: results that nobody saw, computed again from what led to them.

An operation may make several nodes: `x[0, 1:]` selects and slices. What lies between is gone. Where
a node says what it did, and what it did that to is known, it is done once more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

DEEPEST = 20  # results on the way to one
Known = Callable[[Any, int], Any]  # the value of an output of a node; None where it is unknown
# Under which names nodes save their inputs, in the order of these.
OPERANDS = {
    "MulBackward0": ("self", "other"), "DivBackward0": ("self", "other"),
    "MmBackward0": ("self", "mat2"), "BmmBackward0": ("self", "mat2"),
    "MvBackward0": ("self", "vec"), "DotBackward0": ("self", "tensor"),
    "AddmmBackward0": ("self", "mat1", "mat2"),
}  # fmt: skip


def _divergence(
    torch: Any, input: Any, target: Any, *how: Any, log_target: bool = False, **named: Any
) -> dict[str, list[Any]]:
    if log_target:
        return {"SubBackward0": [target - input]}
    return {"SubBackward0": [torch.special.xlogy(target, target) - target * input]}


def _hinge(
    torch: Any, input: Any, target: Any, margin: float = 1.0, *how: Any, **named: Any
) -> dict[str, list[Any]]:
    beyond = (margin - input).clamp_min(0).where(target != 1, 0)
    return {"WhereBackward0": [beyond, input.where(target != -1, 0)]}


# What operations compute on their way with constants that no node saves: by the name of the
# operation, of nodes of a name, in the order of their making.
LOST: dict[str, Callable[..., dict[str, list[Any]]]] = {
    "kl_div": _divergence, "hinge_embedding_loss": _hinge,
}  # fmt: skip


def operands(node: Any, kept: Callable[[Any], Iterable[tuple[str, Any]]]) -> list[Any]:
    """What the graph does not lead to and a node has saved, in the order of its inputs; empty where
    it has saved none."""
    names = OPERANDS.get(node.name(), ())
    saved = dict(kept(node)) if names else {}
    found = [saved.get(name) if child is None else None
             for name, (child, _) in zip(names, node.next_functions, strict=False)]  # fmt: skip
    return found if any(one is not None for one in found) else []


def _signed(number: int) -> int:
    """PyTorch shows what a node has saved without its sign."""
    return number - 2**64 if number > 2**63 - 1 else number


def _scaled(torch: Any, n: Any, a: Any, b: Any, sign: int = 1) -> Any:
    return torch.add(a, b, alpha=sign * n._saved_alpha)


# By the name of the node: what it made of its inputs.
RECIPES: dict[str, Callable[..., Any]] = {
    "AddBackward0": _scaled,
    "SubBackward0": lambda torch, n, a, b: _scaled(torch, n, a, b, -1),
    "MulBackward0": lambda torch, n, a, b: a * b,
    "MulBackward1": lambda torch, n, a: a * n._saved_other,
    "DivBackward0": lambda torch, n, a, b: a / b,
    "NegBackward0": lambda torch, n, a: -a,
    "PowBackward0": lambda torch, n, a: a.pow(n._saved_exponent),
    "ExpBackward0": lambda torch, n, a: a.exp(),
    "LogBackward0": lambda torch, n, a: a.log(),
    "SinBackward0": lambda torch, n, a: a.sin(),
    "CosBackward0": lambda torch, n, a: a.cos(),
    "MmBackward0": lambda torch, n, a, b: a @ b,
    "BmmBackward0": lambda torch, n, a, b: a @ b,
    "MvBackward0": lambda torch, n, a, b: a @ b,
    "DotBackward0": lambda torch, n, a, b: a @ b,
    "AddmmBackward0": lambda torch, n, a, b, c: torch.addmm(
        a, b, c, beta=n._saved_beta, alpha=n._saved_alpha
    ),
    "LinalgSlogdetBackward0": lambda torch, n, a: torch.slogdet(a),
    "ClampMinBackward0": lambda torch, n, a: a.clamp_min(n._saved_min),
    "SumBackward0": lambda torch, n, a: a.sum(),
    "SumBackward1": lambda torch, n, a: a.sum(
        tuple(map(_signed, n._saved_dim)), keepdim=n._saved_keepdim
    ),
    "CumsumBackward0": lambda torch, n, a: a.cumsum(_signed(n._saved_dim)),
    "FlipBackward0": lambda torch, n, a: a.flip(tuple(map(_signed, n._saved_dims))),
    "CloneBackward0": lambda torch, n, a: a.clone(),
    "SelectBackward0": lambda torch, n, a: a.select(_signed(n._saved_dim), _signed(n._saved_index)),
    "SliceBackward0": lambda torch, n, a: a[
        (slice(None),) * (_signed(n._saved_dim) % a.dim())
        + (slice(_signed(n._saved_start), _signed(n._saved_end), n._saved_step),)
    ],
    "UnsqueezeBackward0": lambda torch, n, a: a.unsqueeze(_signed(n._saved_dim)),
    "TransposeBackward0": lambda torch, n, a: a.transpose(
        _signed(n._saved_dim0), _signed(n._saved_dim1)
    ),
    "PermuteBackward0": lambda torch, n, a: a.permute(tuple(map(_signed, n._saved_dims))),
    "TBackward0": lambda torch, n, a: a.t(),
    "ViewBackward0": lambda torch, n, a: a.reshape(n._input_metadata[0].shape),
    "UnsafeViewBackward0": lambda torch, n, a: a.reshape(n._input_metadata[0].shape),
    "ReshapeAliasBackward0": lambda torch, n, a: a.reshape(n._input_metadata[0].shape),
    "AsStridedBackward0": lambda torch, n, a: a.as_strided(
        n._saved_size, n._saved_stride, n._saved_storage_offset
    ),
    "ExpandBackward0": lambda torch, n, a: a.expand(n._input_metadata[0].shape),
    "AliasBackward0": lambda torch, n, a: a,
    "SqueezeBackward0": lambda torch, n, a: a.squeeze(),
    "SqueezeBackward1": lambda torch, n, a: a.squeeze(_signed(n._saved_dim)),
    "SqueezeBackward2": lambda torch, n, a: a.squeeze(tuple(map(_signed, n._saved_dim))),
    "UnfoldBackward0": lambda torch, n, a: a.unfold(
        _signed(n._saved_dimension), n._saved_size, n._saved_step
    ),
    "DiagonalBackward0": lambda torch, n, a: a.diagonal(
        _signed(n._saved_offset), _signed(n._saved_dim1), _signed(n._saved_dim2)
    ),
    "RepeatBackward0": lambda torch, n, a: a.repeat(n._saved_repeats),
    "SplitBackward0": lambda torch, n, a: a.split(n._saved_split_size, _signed(n._saved_dim)),
    "UnsafeSplitBackward0": lambda torch, n, a: a.split(n._saved_split_size, _signed(n._saved_dim)),
    "SplitWithSizesBackward0": lambda torch, n, a: a.split(
        n._saved_split_sizes, _signed(n._saved_dim)
    ),
    "UnbindBackward0": lambda torch, n, a: a.unbind(_signed(n._saved_dim)),
    "CatBackward0": lambda torch, n, *a: torch.cat(a, _signed(n._saved_dim)),
    "StackBackward0": lambda torch, n, *a: torch.stack(a, _signed(n._saved_dim)),
    "ViewAsRealBackward0": lambda torch, n, a: torch.view_as_real(a),
    "ViewAsComplexBackward0": lambda torch, n, a: torch.view_as_complex(a),
    "ConjBackward0": lambda torch, n, a: a.conj(),
    "ToCopyBackward0": lambda torch, n, a: a.to(n._input_metadata[0].dtype),
    "MeanBackward0": lambda torch, n, a: a.mean(),
    "MeanBackward1": lambda torch, n, a: a.mean(
        tuple(map(_signed, n._saved_dim)), keepdim=n._saved_keepdim
    ),
    "AbsBackward0": lambda torch, n, a: a.abs(),
    "MaximumBackward0": lambda torch, n, a, b: torch.maximum(a, b),
    "MinimumBackward0": lambda torch, n, a, b: torch.minimum(a, b),
    "WhereBackward0": lambda torch, n, a, b: torch.where(n._saved_condition, a, b),
    "BaddbmmBackward0": lambda torch, n, a, b, c: torch.baddbmm(
        a, b, c, beta=n._saved_beta, alpha=n._saved_alpha
    ),
}


def made_again(
    torch: Any, node: Any, output_nr: int, known: Known, operand: Known, room: int = DEEPEST
) -> Any:
    """An output of a node; None where its inputs, or what it did, are not known. `operand` gives an
    input that the graph does not lead to, by its place."""
    recipe = RECIPES.get(node.name())
    inputs = node.next_functions if recipe is not None and room else ()
    found: list[Any] = []
    for place, (child, number) in enumerate(inputs):
        value = operand(node, place) if child is None else known(child, number)
        if value is None and child is not None:
            value = made_again(torch, child, number, known, operand, room - 1)
        if value is None:
            return None
        found.append(value)
    if recipe is None or not found:
        return None
    try:
        made, about = recipe(torch, node, *found), node._input_metadata[output_nr]
        made = made[output_nr] if isinstance(made, tuple) else made
    except (RuntimeError, AttributeError, TypeError):  # given up, or kept in another way
        return None
    is_it = (tuple(made.shape), made.dtype) == (tuple(about.shape), about.dtype)
    return made if is_it else None


def by_formulas(
    row: Any, edges: Iterable[Any], saved: dict[str, Any], came: Any, other: Any
) -> list[Any] | None:
    """What a node whose saved values PyTorch freed makes of another gradient than came: by the
    declaration, from the values as they were. None where they don't go by its names."""
    try:
        wanted = dict(zip((one.name for one in row.tensors), edges, strict=True))
        found = row.gradients({**saved, "grad": other.astype(came.dtype)}, wanted)
    except Exception:
        return None
    made = map(found.get, wanted)
    return [None if one is None else one.astype(came.dtype) for one in made]
