"""Func: batching rules of rows that have one of their own; the others go by how they act.

A test runs every sample of these rows both by its rule and sample by sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine.schema.catalogue import catalogue
from ..engine.tensors.tensor_type import contiguous_format, wrap_dim
from .batched import is_batched
from .batched_call import Call
from .carrier import run
from .levels import randomness_at

SAME_RANDOMNESS = (
    "Vmap does not currently support same randomness with a batched tensor input. Please file an "
    "issue with functorch"
)


def _rows(key: str) -> Any:
    return catalogue.rows[key]


def _front(call: Call) -> tuple[int, ...]:
    return (call.samples,)


def _single(call: Call) -> bool:
    """Is self, the only tensor, batched, and more than a number?"""
    return call.whole[call.row.tensors[0].name]


def resized(call: Call) -> Any:
    """view and its like: the size of a sample, with the samples in front."""
    return call.run(size=(*_front(call), *call.values["size"]))


def expand(call: Call) -> Any:
    value, size = call.values["self"], tuple(call.values["size"])
    missing = len(size) - call.ranks["self"]
    if missing > 0:
        shape = value._data.shape
        value = catalogue.functions["reshape"](value, (shape[0], *(1,) * missing, *shape[1:]))
    return call.run(self=value, size=(call.samples, *size))


def permute(call: Call) -> Any:
    rank = call.ranks["self"]
    return call.run(dims=(0, *(wrap_dim(dim, rank) + 1 for dim in call.values["dims"])))


def transposed(call: Call) -> Any:
    """t: the two dimensions of a sample."""
    value = call.values["self"]
    if call.ranks["self"] < 2:
        return run(_rows("alias"), (value,))
    return run(_rows("transpose.int"), (value, 1, 2))


def squeeze(call: Call) -> Any:
    value = call.values["self"]
    ones = tuple(at for at, size in enumerate(value._data.shape) if size == 1 and at)
    return run(_rows("squeeze.dims"), (value, ones))


def squeeze_dim(call: Call) -> Any:
    rank = call.ranks["self"]
    if rank == 0:
        return run(_rows("alias"), (call.values["self"],))
    dims = call.values["dim"]
    if isinstance(dims, int):
        return call.run(dim=wrap_dim(dims, rank) + 1)
    return call.run(dim=tuple(wrap_dim(dim, rank) + 1 for dim in dims))


def unsqueeze(call: Call) -> Any:
    return call.run(dim=wrap_dim(call.values["dim"], call.ranks["self"] + 1) + 1)


def zeros_of(call: Call) -> Any:
    return call.run(size=(call.samples, *call.values["size"]))


def placed_back(call: Call) -> Any:
    """select_backward and its like: the sizes of the input, dimensions counted by them."""
    sizes = call.values["input_sizes"]
    changed: dict[str, Any] = {"input_sizes": (call.samples, *sizes)}
    for name in ("dim", "dim1", "dim2"):
        if name in call.values:
            changed[name] = wrap_dim(call.values[name], len(sizes)) + 1
    return call.run(**changed)


def full(key: str) -> Any:
    """A reduction of everything: of all dimensions of a sample."""

    def rule(call: Call) -> Any:
        rank = call.ranks["self"]
        if rank == 0:
            return NotImplemented
        values = [call.values["self"], tuple(range(1, rank + 1)), False]
        values += [call.values["dtype"]] if "dtype" in call.values else []
        return run(_rows(key), values)

    return rule


def as_strided(call: Call) -> Any:
    """The geometry of a sample, repeated from sample to sample."""
    value = call.values["self"]
    step = value.stride()[0]
    values = call.values
    return call.run(size=(call.samples, *values["size"]), stride=(step, *values["stride"]))


def dot(call: Call) -> Any:
    first, second = (call.values[name] for name in call.row.signature.names)
    lying = run(_rows("unsqueeze"), (first, -2))
    standing = run(_rows("unsqueeze"), (second, -1))
    out = catalogue.functions["matmul"](lying, standing)
    return run(_rows("squeeze.dim"), (run(_rows("squeeze.dim"), (out, -1)), -1))


def product(call: Call) -> Any:
    """mm, bmm and mv as the matrix product that takes samples in front."""
    first, second = call.row.signature.names[:2]
    a, b = call.values[first], call.values[second]
    matmul = catalogue.functions["matmul"]
    if call.row.name == "mv":
        if not call.whole[second]:
            return matmul(a, b)
        return run(_rows("squeeze.dim"), (matmul(a, run(_rows("unsqueeze"), (b, -1))), -1))
    if call.row.name == "bmm" and not (call.whole[first] and call.whole[second]):
        a, b = call.spread_out(first), call.spread_out(second)
    return matmul(a, b)


def addmm(call: Call) -> Any:
    values = call.values
    matmul = catalogue.functions["matmul"]
    out = matmul(values["mat1"], values["mat2"])
    bias = values["self"]
    if call.whole["self"] and call.ranks["self"] < 2:
        shape = bias._data.shape
        bias = catalogue.functions["reshape"](
            bias, (shape[0], *(1,) * (2 - call.ranks["self"]), *shape[1:])
        )
    if values["alpha"] != 1:
        out = out * values["alpha"]
    return out + (bias if values["beta"] == 1 else bias * values["beta"])


def linear(call: Call) -> Any:
    """Only the input batched: it takes any number of dimensions in front."""
    if call.whole.get("weight") or call.whole.get("bias") or not call.ranks["input"]:
        return NotImplemented
    return call.run()


def cat(call: Call) -> Any:
    return _joined(call, 0)


def stack(call: Call) -> Any:
    return _joined(call, 1)


def _joined(call: Call, more: int) -> Any:
    tensors = call.values["tensors"]
    samples = next(t.samples for t in tensors if is_batched(t, call.level))
    expanded = _rows("expand")
    whole = [
        t.in_front()
        if is_batched(t, call.level)
        else run(expanded, (t, (samples, *t._data.shape), False))
        for t in tensors
    ]
    rank = max(t._data.ndim for t in whole) - 1 + more
    return run(call.row, (whole, wrap_dim(call.values["dim"], rank) + 1))


def index_select(call: Call) -> Any:
    if call.whole["index"] or not call.ranks["self"]:
        return NotImplemented
    return call.run(dim=wrap_dim(call.values["dim"], call.ranks["self"]) + 1)


def embedding(call: Call) -> Any:
    return NotImplemented if call.whole["weight"] else call.run()


def folded(call: Call) -> Any:
    """Kernels over pictures: samples times pictures are more pictures."""
    name = call.row.tensors[0].name
    if not call.whole[name] or any(whole for other, whole in call.whole.items() if other != name):
        return NotImplemented
    value = call.values[name]
    shape = value._data.shape
    reshape = catalogue.functions["reshape"]
    out = call.run(**{name: reshape(value, (shape[0] * shape[1], *shape[2:]))})

    def unfolded(tensor: Any) -> Any:
        return reshape(tensor, (shape[0], shape[1], *tensor._data.shape[1:]))

    return tuple(map(unfolded, out)) if isinstance(out, tuple) else unfolded(out)


def masked_fill(call: Call) -> Any:
    """A number for each sample: chosen by where, which broadcasts."""
    if not call.whole["value"]:
        return call.run(self=call.spread_out("self"), mask=call.spread_out("mask"))
    rank = call.ranks["self"]
    value = call.values["value"]
    value = catalogue.functions["reshape"](value, (call.samples, *(1,) * rank))
    given = (call.spread_out("mask"), value, call.spread_out("self"))
    return run(_rows("where.self"), given)


def random(call: Call) -> Any:
    """Random numbers: different for each sample where vmap was told so."""
    if randomness_at(call.level) == "different":
        return call.run(**{name: call.spread_out(name) for name in call.ranks})
    if call.row.name == "native_dropout":
        return _same_dropout(call)
    raise RuntimeError(SAME_RANDOMNESS)


def _same_dropout(call: Call) -> Sequence[Any]:
    values = call.values
    whole = values["input"]
    one = catalogue.functions["ones"](tuple(whole._data.shape[1:]), dtype=whole.dtype)
    kept, mask = run(call.row, [one, *list(values.values())[1:]])
    mask = run(_rows("expand"), (mask, tuple(whole._data.shape), False))
    return whole * kept, mask


def copying(rule: Any) -> Any:
    """The rule of a view, where the operator gives a copy of it."""
    return lambda call: run(_rows("clone"), (rule(call), contiguous_format))


OWN: dict[str, Any] = {
    "view": resized, "_unsafe_view": resized, "_reshape_alias": resized, "expand": expand,
    "permute": permute, "t": transposed, "squeeze": squeeze, "squeeze.dim": squeeze_dim,
    "squeeze.dims": squeeze_dim, "unsqueeze": unsqueeze, "zeros_of": zeros_of,
    "select_backward": placed_back, "slice_backward": placed_back,
    "diagonal_backward": placed_back, "sum": full("sum.dim_IntList"), "mean": full("mean.dim"),
    "as_strided": as_strided, "dot": dot, "mm": product, "bmm": product,
    "mv": product, "addmm": addmm, "linear": linear, "cat": cat, "stack": stack,
    "index_select": index_select, "embedding.table": embedding, "max_pool2d_with_indices": folded,
    "avg_pool2d.kernel": folded, "_adaptive_avg_pool2d": folded, "convolution": folded,
    "max": full("amax"), "min": full("amin"), "masked_fill.Tensor": masked_fill,
    "all": full("all.dims"), "any": full("any.dims"),
}  # fmt: skip
