"""Engine: hooks during a backward pass: their arguments, and what they may return.

`tensors` says whether the pass makes a graph: then gradients are tensors, else arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..graph.node import Node
from ..memory.layout import element_strides, empty_like, is_dense
from ..schema.carriers import RUNTIME
from ..schema.catalogue import catalogue
from ..schema.errors import type_name
from ..schema.mode import state
from ..tensors.tensor import Tensor, plain
from ..tensors.tensor_type import LARGE, kind_of_array


def as_tensor(value: Any) -> Tensor:
    """A gradient as hooks see it: an array's own element type, on its own device."""
    if isinstance(value, Tensor):
        return value
    kind = kind_of_array(value)
    return plain(kind.xp.asarray(value), kind)


def _as_tensors(values: Sequence[Any]) -> tuple[Tensor | None, ...]:
    return tuple(None if value is None else as_tensor(value) for value in values)


def _checked_results(
    hook: Callable[..., Any], before: Sequence[Any], result: Any, tensors: bool
) -> tuple[Any, ...]:
    """What a hook of a node returned, as the pass goes on with it."""
    if not isinstance(result, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type_name(result)}'")
    if len(result) != len(before):
        raise RuntimeError(
            f"hook '{name_of(hook)}' has returned an incorrect number of values (got "
            f"{len(result)}, but expected {len(before)})"
        )
    for given, value in zip(before, result):
        if given is None and value is not None:
            raise RuntimeError(NONE_REPLACED)
        if value is not None:
            checked(hook, given, value)
    return tuple(None if v is None else v if tensors else v._data for v in result)


def call_one(node: Node, hook: Callable[..., Any], number: int, value: Any, tensors: bool) -> Any:
    """A tensor's hook: it may replace the gradient, but not one that is undefined."""
    before = None if value is None else as_tensor(value)
    if state.observer is not None:
        state.observer.hooking("tensor", node, hook, number, before)
    result = hook(before)
    after = before if result is None else result
    if state.observer is not None:
        state.observer.hooked("tensor", node, hook, number, before, after)
    if result is None or result is before:
        return value if before is None or tensors else before._data  # it may have changed in place
    if before is None:
        raise RuntimeError(NONE_REPLACED)
    after = checked(hook, before, result)
    return after if tensors else after._data


NONE_REPLACED = "can't replace a None gradient with a non-None value"


def call_tensor_hooks(node: Node, grads: tuple[Any, ...], tensors: bool) -> tuple[Any, ...]:
    """The hooks of the tensors that the node made, each tensor's on its own gradient."""
    values = list(grads)
    outputs = dict.fromkeys(output_nr for output_nr, _ in node.hooks.tensor.values())
    hooks = list(node.hooks.tensor.items())
    for place in outputs:
        for number, (output_nr, hook) in hooks:
            if output_nr == place:
                values[place] = call_one(node, hook, number, values[place], tensors)
    return tuple(values)


def with_history(node: Node, grads: tuple[Any, ...]) -> int:
    """How many outputs PyTorch's node has: indices beside a maximum are none."""
    row = getattr(node, "row", None)
    if row is None or len(grads) < 2 or len(row.signature.outputs) != len(grads):
        return len(grads)
    made = [entry is None or entry[1].differentiable for entry in node.extra]
    return sum(
        has and name not in row.undifferentiable for has, name in zip(made, row.signature.outputs)
    )


def call_pre_hooks(node: Node, grads: tuple[Any, ...], tensors: bool) -> tuple[Any, ...]:
    """What runs before a node and may replace its gradients."""
    count = with_history(node, grads)
    grads, rest = grads[:count], grads[count:]
    for number, hook in list(node.hooks.pre.items()):
        given = _as_tensors(grads)
        if state.observer is not None:
            state.observer.hooking("node pre", node, hook, number, given)
        result = hook(given)
        if result is not None:
            grads = _checked_results(hook, given, result, tensors)
        elif not tensors:
            grads = tuple(None if value is None else value._data for value in given)
        if state.observer is not None:
            state.observer.hooked("node pre", node, hook, number, given, result)
    return (*grads, *rest)


def retain(node: Node, grads: tuple[Any, ...], tensors: bool) -> None:
    """The tensors that a node made keep their gradients, if asked to."""
    for output_nr, reference in list(node.hooks.retain.items()):
        tensor = reference()
        if tensor is not None and grads[output_nr] is not None:
            if state.observer is not None:
                state.observer.retaining(node)
            _retain(tensor, as_tensor(grads[output_nr]), tensors)


def call_post_hooks(
    node: Node, results: Sequence[Any], grads: tuple[Any, ...], tensors: bool
) -> Sequence[Any]:
    """What runs after a node and may replace its results."""
    for number, hook in list(node.hooks.post.items()):
        inputs = _as_tensors(results)
        if state.observer is not None:
            state.observer.hooking("node", node, hook, number, inputs)
        result = hook(inputs, _as_tensors(grads[: with_history(node, grads)]))
        if state.observer is not None:
            state.observer.hooked("node", node, hook, number, inputs, result)
        if result is not None:
            results = _checked_results(hook, inputs, result, tensors)
    return results


def call_leaf_hooks(node: Node, grads: tuple[Any, ...]) -> None:
    """The post hooks of an AccumulateGrad, which has no results."""
    for number, hook in list(node.hooks.post.items()):
        if state.observer is not None:
            state.observer.hooking("node", node, hook, number, ())
        result = hook((), _as_tensors(grads))
        if state.observer is not None:
            state.observer.hooked("node", node, hook, number, (), None)
        if result is not None:
            _checked_results(hook, (), result, True)


def call_post_accumulate_hooks(node: Node, variable: Tensor) -> None:
    """What runs on a leaf after its .grad has been added to."""
    hooks = variable._need_meta().post_hooks or {}
    given = variable  # PyTorch passes a result to the next hook, and complains at the end
    for number, hook in list(hooks.items()):
        if state.observer is not None:
            state.observer.hooking("post accumulate", node, hook, number, variable)
        result = hook(given)
        if state.observer is not None:
            state.observer.hooked("post accumulate", node, hook, number, variable, variable)
        if result is not None and result is not given:
            given = checked(hook, given, result)
    if given is not variable:
        raise RuntimeError("Tensor post accumulate grad hooks should return None.")


def _retain(tensor: Tensor, new: Tensor, tensors: bool) -> None:
    meta = tensor._need_meta()
    held: Any = meta.grad
    if state.observer is not None:
        state.observer.accumulated(tensor, new)
    if held is not None:
        meta.grad = held + new
    elif tensors and new._grad_fn is not None:
        meta.grad = catalogue.functions["clone"](new)
    else:
        meta.grad = copied(new, tensor)
    if state.observer is not None:
        state.observer.stored(tensor)


def copied(new: Tensor, like: Tensor) -> Tensor:
    """A gradient of its own memory, laid out as the tensor is; of the type that the tensor had when
    it was used, which `.data` may have changed since."""
    kind = new._kind
    if new.__class__ is not Tensor:
        return RUNTIME.around(new._data.copy(), kind)
    own = like._data
    if not own.flags.c_contiguous and is_dense(own.shape, element_strides(own)):
        data = empty_like(kind.xp, own, kind.array_dtype)
        data[...] = new._data
        return plain(data, kind)
    return plain(kind.xp.array(new._data, dtype=kind.array_dtype, order="C"), kind)


# ---- what a tensor's hook may return


def charged(gradient: Tensor) -> Tensor:
    """What a program hands to a pass, which looks at each element: it may be a view of one."""
    if gradient._data.size > LARGE:
        state.reserve(gradient._data.nbytes)
    return gradient


def name_of(hook: Any) -> str:
    """A hook's name for PyTorch's complaints about what it returned."""
    return getattr(hook, "__name__", None) or getattr(hook, "name", None) or type(hook).__name__


def checked(hook: Any, before: Tensor, result: Any) -> Tensor:
    """A hook's replacement for a gradient must be a tensor of the same type and size."""
    if not isinstance(result, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type_name(result)}'")
    if result.dtype is not before.dtype or result.device != before.device:
        raise RuntimeError(
            f"hook '{name_of(hook)}' has changed the type of value (was {before._kind.old_name} "
            f"got {result._kind.old_name})"
        )
    if result.shape != before.shape:
        raise RuntimeError(f"hook '{name_of(hook)}' has changed the size of value")
    return result
