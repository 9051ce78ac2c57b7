"""Func: batching: how one operator is run for all samples at once.

What a row declares decides: a row whose operands broadcast is run on the whole values, once their
dimensions are aligned; a row that names dimensions is run with those counted from the sample. Where
no rule fits, the row runs sample by sample and the results are stacked: slower, and always right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..engine.compile.results import refused
from ..engine.schema.carriers import RUNTIME, TRANSFORMS
from ..engine.schema.catalogue import catalogue
from ..engine.schema.mode import state
from ..engine.schema.operator import Factory, Row
from ..engine.schema.returns import Named
from ..engine.schema.row import Inplace
from ..engine.tensors.factories import manufacture as ordinary
from ..engine.tensors.promotion import result_dtype
from ..engine.tensors.tensor import Tensor, plain
from ..engine.tensors.tensor_type import wrap_dim
from . import batching_rules
from .batched import Batched, alike, batched, become_batched, is_batched, split
from .batched_call import Call
from .carrier import highest, run, same, standing
from .dual import is_view_of, mirror, unwrapped
from .levels import randomness_at

Rule = Callable[[Call], Any]


def operate(overload: Any, values: Sequence[Any], level: int) -> Any:
    """Runs a row, or its in-place twin, for all samples of the batched arguments."""
    row = overload.row if isinstance(overload, Inplace) else overload
    if row.check is not None or row.refuse:
        _checked(row, [standing(value) for value in values])
    if isinstance(overload, Inplace):
        return _in_place(overload, values, level)
    if row.acts == "constant":
        return row.run(_shaped_like(values[0]), *values[1:])
    rule = rule_of(row)
    if rule is not None and all(p.kind != "Tensor[]" or rule in LISTED for p in row.tensors):
        answer = rule(Call(row, values, level))
        if answer is not NotImplemented:
            out = wrapped(answer, level)
            if row.view and is_batched(values[0], level):
                is_view_of(out, values[0])
            return out
    return one_by_one(row, values, level)


def _checked(row: Row, stands: Sequence[Any]) -> None:
    """What the engine asks before a kernel runs, asked of one sample."""
    if row.refuse and not row.broadcasts:
        first = stands[row.signature.names.index(row.tensors[0].name)]
        if isinstance(first, Tensor) and first._kind.dtype.word in row.refuse:
            refused(row, first._kind)
    if row.check is not None:
        row.check(*stands)


def wrapped(answer: Any, level: int) -> Any:
    """Results that hold all samples in front, as seen by one sample."""
    if isinstance(answer, Tensor):
        return batched(answer, 0, level)
    if isinstance(answer, Named):
        return type(answer)([wrapped(item, level) for item in answer])
    if isinstance(answer, tuple | list):
        return type(answer)([wrapped(item, level) for item in answer])
    return answer


def one_by_one(row: Row, values: Sequence[Any], level: int) -> Any:
    """Each sample for itself; the results are stacked."""
    if row.name == "index" and _masked(values, level):
        raise RuntimeError(
            "vmap: We do not support batching operators that can support dynamic shape. Attempting "
            "to batch over indexing with a boolean mask."
        )
    if row.acts == "dynamic" or (row.name == "masked_select" and is_batched(values[1], level)):
        raise RuntimeError(
            "vmap: We do not support batching operators that can output dynamic shape. Attempted "
            f"to vmap over aten::{row.name}. Please file an issue at "
            "https://github.com/pytorch/pytorch/issues if you need this feature."
        )
    results = [run(row, given) for given in _samples(values, level)]
    return _stacked(results, level) if results else _of_none(row, values, level)


def _of_none(row: Row, values: Sequence[Any], level: int) -> Any:
    """The result for no samples: a sample of zeros gives the shapes."""

    def zeros(value: Any) -> Any:
        if value.__class__ is list:
            return [zeros(item) for item in value]
        if not is_batched(value, level):
            return value
        front, functions = value.in_front(), catalogue.functions
        one = functions["zeros"]((1, *value.shape), dtype=value.dtype)
        return functions["select"](functions["cat"]([front, one]), 0, 0)

    def without(answer: Any) -> Any:
        if isinstance(answer, Tensor):
            whole = catalogue.functions["unsqueeze"](answer, 0)
            return batched(catalogue.functions["narrow"](whole, 0, 0, 0), 0, level)
        if isinstance(answer, tuple | list):
            return type(answer)([without(item) for item in answer])
        return answer

    return without(run(row, [zeros(value) for value in values]))


def _masked(values: Sequence[Any], level: int) -> bool:
    return any(
        is_batched(item, level) and item._kind.dtype.category == 0
        for value in values
        if value.__class__ is list
        for item in value
    )


def _samples(values: Sequence[Any], level: int) -> list[list[Any]]:
    columns = []
    count = 0
    for value in values:
        if value.__class__ is list and any(is_batched(item, level) for item in value):
            parts = [split(item, level) for item in value]
            count = next(len(part) for part in parts if part is not None)
            columns.append(
                [
                    [
                        item if part is None else part[at]
                        for item, part in zip(value, parts, strict=True)
                    ]
                    for at in range(count)
                ]
            )
            continue
        part = split(value, level)
        count = count if part is None else len(part)
        columns.append(part if part is not None else value)
    return [
        [
            column[at] if _is_column(value, level) else column
            for value, column in zip(values, columns, strict=True)
        ]
        for at in range(count)
    ]


def _is_column(value: Any, level: int) -> bool:
    if value.__class__ is list:
        return any(is_batched(item, level) for item in value)
    return is_batched(value, level)


def _stacked(results: Sequence[Any], level: int) -> Any:
    first = results[0]
    if first.__class__ is RUNTIME.sparse and first is not None:
        raise NotImplementedError("vmap has no batches of sparse tensors: use .to_dense() before")
    if isinstance(first, Tensor):
        return batched(catalogue.functions["stack"](list(results)), 0, level)
    if isinstance(first, tuple | list):
        columns = [_stacked(column, level) for column in zip(*results, strict=True)]
        return type(first)(columns)
    return first


# ---- changed in place


def _in_place(twin: Inplace, values: Sequence[Any], level: int) -> Any:
    """x.add_(y) and its like: on the whole value where the operands align, else in each sample."""
    row = twin.row
    target = values[0]
    if not is_batched(target, level):
        inner = any(above.kind == "grad" for above in TRANSFORMS.stack[level:])
        if not inner or not all(alike(v.in_front()) for v in values if is_batched(v, level)):
            raise _too_small(row, target, values, level)
        if not state.grad_enabled:
            return run(twin, _samples(values, level)[0])
        _turn(target, level, next(v.samples for v in values if is_batched(v, level)))
    if row.acts == "random":
        return _drawn_in_place(twin, values, level)
    if row.view:
        target._data = operate(row, values, level)._data
        target._data.origin = None
        return target
    call = Call(row, values, level)
    tensors = [p.name for p in row.tensors]
    if row.name == "copy" or (row.acts == "pointwise" and row.name != "masked_fill"):
        rank = call.ranks[tensors[0]]
        aligned = {name: _aligned(call, name, rank) for name in tensors if name in call.ranks}
        run(twin, list((call.values | aligned).values()))
        return target
    if row.name == "fill" and not any(call.whole.get(name) for name in tensors[1:]):
        run(twin, list(call.values.values()))
        return target
    for given in _samples(values, level):
        run(twin, given)
    return target


def _turn(tensor: Any, level: int, samples: int) -> None:
    """A tensor that all samples share becomes one of its own for each, for all its holders."""
    base, around = unwrapped(tensor, level)
    if base is None:
        shape = (samples, *tensor._data.shape)
        whole = catalogue.functions["clone"](catalogue.methods["expand"](same(tensor), shape))
        become_batched(tensor, whole, level)
        return
    place = (tuple(tensor._data.shape), tensor.stride(), tensor.storage_offset())
    if not is_batched(base, level):
        _turn(base, level, samples)
    become_batched(tensor, run(catalogue.rows["as_strided"], (base, *place)).in_front(), level)
    for dual in around:
        mirror(dual)


def _drawn_in_place(twin: Inplace, values: Sequence[Any], level: int) -> Any:
    """x.normal_() and its like: for each sample its own numbers, or once for all of them."""
    target = values[0]
    if randomness_at(level) == "different":
        run(twin, list(Call(twin.row, values, level).values.values()))
        return target
    if any(is_batched(value, level) for value in values[1:]):
        raise RuntimeError(batching_rules.SAME_RANDOMNESS)
    drawn = run(twin, [catalogue.functions["zeros_like"](_shaped_like(target)), *values[1:]])
    catalogue.methods["copy_"](target, drawn)
    return target


def _too_small(row: Row, target: Any, values: Sequence[Any], level: int) -> RuntimeError:
    """A tensor that all samples share cannot take each sample's own result. PyTorch has rules for
    the changes of Python's operators, of bounds and logic, and for some that put in numbers, and
    none for x += y and for bits.
    """
    unrecorded = row.broadcasts and not row.inplace_node  # of bits, of logic
    if (row.broadcasts and row.symbol == "+") or (unrecorded and row.dtype != "compare"):
        shapes = [value.in_front()._data.shape for value in values if is_batched(value, level)]
        return RuntimeError(
            f"output with shape {list(target.shape)} doesn't match the broadcast shape "
            f"{list(shapes[0])}"
        )
    name, where = str(row.inplace), "in a vmap"
    bounded = row.zero == "clamps" and len(row.tensors) == 2
    if row.symbol or unrecorded or bounded or row.name in ("copy", "masked_fill"):
        name = "inplace arithmetic"
    elif row.broadcasts or row.acts == "product" or row.name in ("scatter", "index_copy"):
        name, where = f"aten::{name}", f"at level {level}"
        state.warn(
            "There is a performance drop because we have not yet implemented the batching rule for "
            f"aten::{Inplace(row).full_name}. Please file us an issue on GitHub so that we can "
            "prioritize its implementation."
        )
    return RuntimeError(
        f"vmap: {name}(self, *extra_args) is not possible because there exists a Tensor "
        "`other` in extra_args that has more elements than `self`. This happened due to `other` "
        f"being vmapped over but `self` not being vmapped over {where}. Please try to use "
        f"out-of-place operators instead of {name}. If said operator is being called inside "
        "the PyTorch framework, please file a bug report instead."
    )


# ---- the rules


def _aligned(call: Call, name: str, rank: int) -> Any:
    """A whole value with as many dimensions behind the samples as the widest operand has."""
    value = call.values[name]
    if value is None or not call.whole.get(name):
        return value
    missing = rank - call.ranks[name]
    if missing <= 0:
        return value
    shape = value._data.shape
    return catalogue.functions["reshape"](value, (shape[0], *(1,) * missing, *shape[1:]))


def pointwise(call: Call) -> Any:
    """Operands that broadcast: aligned, so that samples meet samples."""
    names = [p.name for p in call.row.tensors if p.name in call.ranks]
    rank = max(call.ranks[name] for name in names)
    if not call.row.broadcasts:
        for name in names:
            call.values[name], call.whole[name] = call.spread_out(name), True
    changed = {name: _aligned(call, name, rank) for name in names}
    if not call.row.broadcasts:
        return call.run(**changed)
    if len(names) > 1:
        changed |= _promoted(call, names, changed)
    return call.run(**changed)


def _promoted(call: Call, names: Sequence[str], given: dict[str, Any]) -> dict[str, Any]:
    """A sample without dimensions counts less in type promotion; the whole value would not."""
    names = [name for name in names if name != "condition"]
    kinds = {call.values[name]._kind for name in names}
    if len(kinds) < 2 or call.row.dtype == "compare":
        return {}
    stands = []
    for name in names:
        shape = (1,) * call.ranks[name]
        kind = call.values[name]._kind
        stands.append(plain(kind.xp.zeros(shape, kind.array_dtype), kind))
    wanted = result_dtype(*stands)
    return {
        name: catalogue.methods["to"](given[name], wanted)
        for name in names
        if call.whole[name] and not call.ranks[name] and given[name].dtype is not wanted
    }


DIM_NAMES = ("dim", "dims", "dim0", "dim1", "dim2", "dimension")


def along(call: Call) -> Any:
    """Dimensions that the call names count one further; none named means all of a sample's."""
    first = call.row.tensors[0].name
    rank = call.ranks[first]
    if rank == 0:
        return NotImplemented
    changed: dict[str, Any] = {}
    for p in call.row.signature.parameters:
        if p.name in DIM_NAMES:
            dims = call.values[p.name]
            if dims is None and p.kind == "int":
                return NotImplemented  # of all elements, which differ by sample
            if dims == () and call.row.name == "roll":
                return NotImplemented  # rolled as one line
            changed[p.name] = _shifted(dims, rank)
    if not changed:
        return NotImplemented
    if len(call.ranks) > 1:
        changed |= {name: call.spread_out(name) for name in call.ranks}
    elif not call.whole[first]:
        return NotImplemented
    return call.run(**changed)


def _shifted(dims: Any, rank: int) -> Any:
    if dims is None or dims == ():
        return tuple(range(1, rank + 1))
    if isinstance(dims, tuple | list):
        return tuple(wrap_dim(dim, rank) + 1 for dim in dims)
    return wrap_dim(dims, rank) + 1


def leading(call: Call) -> Any:
    """Kernels that take any number of dimensions in front: those of the samples too."""
    return call.run(**{name: call.spread_out(name) for name in call.ranks})


LISTED: frozenset[Any] = frozenset({batching_rules.cat, batching_rules.stack})
_RULES: dict[Row, Rule | None] = {}


_BY_ACTS: dict[str, Rule] = {
    "pointwise": pointwise, "leading": leading, "random": batching_rules.random,
    **dict.fromkeys(("along", "selects", "moves", "spreads"), along),
}  # fmt: skip


def rule_of(row: Row) -> Rule | None:
    if row not in _RULES:
        _RULES[row] = _rule(row)
    return _RULES[row]


def _rule(row: Row) -> Rule | None:
    key = row.signature.name + ("." + row.signature.overload if row.signature.overload else "")
    if key in batching_rules.OWN:
        return batching_rules.OWN[key]
    if row.copies_view and (own := batching_rules.OWN.get(key.replace("_copy", "", 1))):
        return batching_rules.copying(own)
    return _BY_ACTS.get(row.acts)


def manufacture(factory: Factory, values: Sequence[Any], level: int) -> Any:
    """zeros_like(x), x.new_empty(2) and their like: memory for each sample."""
    names = factory.signature.names
    first = values[0]
    if not is_batched(first, level):
        return factory.run(*values)
    given = [*values]
    if "generator" in names and randomness_at(level) != "different":
        given[0] = _shaped_like(first)
        drawn = _batched_factory(factory, given)
        size = (first.samples, *drawn._data.shape)
        whole = run(catalogue.rows["expand"], (drawn, size, False))
        return batched(catalogue.functions["clone"](whole), 0, level)
    if "size" not in names and not factory.name.endswith("_like"):
        return factory.run(_shaped_like(first), *values[1:])
    given[0] = first.in_front()
    if "size" in names:
        at = names.index("size")
        given[at] = (first.samples, *values[at])
    return batched(_batched_factory(factory, given), 0, level)


def _batched_factory(factory: Factory, values: Sequence[Any]) -> Any:
    if highest(values) is not None:
        return run(factory, values)
    return ordinary(factory, values)


def _shaped_like(sample: Batched) -> Tensor:
    """An ordinary tensor of a sample's shape and type; creation functions ask for no more."""
    kind = sample._kind
    empty = kind.xp.broadcast_to(kind.xp.zeros((), dtype=kind.array_dtype), sample._data.shape)
    return plain(empty, kind)
