"""Engine: out=...: a result is written into tensors that the caller passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..schema.call_errors import reads_out, takes_out, undifferentiable
from ..schema.carriers import RUNTIME, TRANSFORMS
from ..schema.catalogue import Function, catalogue
from ..schema.dtypes import bool_
from ..schema.mode import no_grad, state
from ..schema.out_rules import (
    COMPOSED,
    COMPUTED_IN,
    SILENT,
    UNRECORDED,
    Memory,
    kernel_of,
    memory_of,
    words_of,
)
from ..schema.overloads import ROWS_WITHOUT_OUT
from ..schema.returns import Named, named
from ..schema.row import Factory, Row
from .overlap import is_expanded, refuse_doubled, refuse_shared
from .resize import resized
from .tensor import Tensor, plain


def call_into(function: Function, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A call with out=...: its results in these tensors, which take their shapes.

    Raises what PyTorch raises for a function without `out`, for tensors that share memory with
    operands, for element types that can't hold the results, and where a gradient would be lost.
    """
    if not takes_out(function.path, function.method):
        raise function.misfit(args, kwargs)
    rest = {key: value for key, value in kwargs.items() if key != "out"}
    out = kwargs["out"]
    if not reads_out(function.path, args, kwargs):
        raise function.misfit(args, kwargs)
    if out is None:
        return function(*args, **rest)
    outs: list[Tensor] = list(out) if isinstance(out, list | tuple) else [out]
    if not all(value.__class__ is Tensor for value in outs):
        raise function.misfit(args, kwargs)
    typed = isinstance(function.overloads[0], Factory) or (
        function.path in COMPUTED_IN and outs[0].dtype is not bool_
    )
    if typed and "dtype" not in rest:
        rest["dtype"] = outs[0].dtype
    overload, values = _bound(function, args, rest)
    carried = any(map(_is_carrier, (*args, *rest.values())))
    if overload is None and carried and RUNTIME.call is not None:
        return _into(function, out, outs, RUNTIME.call(function, args, rest), CALLED, [])
    count = 0 if overload is None else len(overload.signature.outputs)
    if not count or (count > 1) != isinstance(out, list | tuple):
        raise function.misfit(args, kwargs)
    if count != len(outs):
        raise TypeError(f"expected tuple of {count} elements but got {len(outs)}")
    operands = [
        operand
        for value in values
        for operand in (value if isinstance(value, list | tuple) else [value])
        if operand.__class__ is Tensor
    ]
    if state.grad_enabled:
        _check_gradients(function, overload, operands, outs)
    memory = memory_of(function.path)
    if memory in (Memory.ITERATED, Memory.APART):
        _check_memory(memory, outs, operands)
    result = overload.run(*values)
    written = _into(function, out, outs, result, overload.signature.overload, operands)
    if rest.get("requires_grad"):  # asked of a factory
        outs[0].requires_grad_()
    return written


def _bound(
    function: Function, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Any, Sequence[Any]]:
    """The overload that takes the other arguments, and their values in order."""
    for overload in function.overloads:
        values = overload.signature.bind(args, kwargs, False)
        if values is not None:
            key = f"{function.path}.{overload.signature.overload}"
            return (None if key in ROWS_WITHOUT_OUT else overload), values
    return None, ()


def _is_carrier(value: Any) -> bool:
    """Is it a tensor inside of a transformation, which overloads do not take?"""
    return isinstance(value, Tensor) and value.__class__ is not Tensor


CALLED = ""  # the overload of a call that a transformation takes


def _check_gradients(
    function: Function, overload: Any, operands: Sequence[Tensor], outs: Sequence[Tensor]
) -> None:
    """Raises where a gradient would be lost: of an operand, or of what `out` was."""
    if function.path in UNRECORDED or isinstance(overload, Factory):
        if any(out.requires_grad for out in outs):
            raise undifferentiable(f"aten::{kernel_of(function.name)}")
        return
    numbers = ("compare", "bool", "int64")
    if isinstance(overload, Row) and (not overload.formulas or overload.dtype in numbers):
        return
    asked = operands if function.path in COMPOSED else [*operands, *outs]
    if any(tensor.requires_grad for tensor in asked):
        raise undifferentiable(kernel_of(function.name))


def _check_memory(memory: Memory, outs: Sequence[Tensor], operands: Sequence[Tensor]) -> None:
    for out in outs:
        if memory is not Memory.UNCHECKED:
            refuse_doubled(out)
        for operand in operands:
            refuse_shared(out, operand, memory not in (Memory.ITERATED, Memory.SIZED_FIRST))


def _looked_at(
    memory: Memory, operands: Sequence[Tensor], out: Tensor, result: Tensor
) -> list[Tensor]:
    """The operands whose memory is asked about when `out` has its shape."""
    if memory is Memory.SIZED_FIRST:
        return [t for t in operands[:1] if t.shape == out.shape == result.shape]
    if memory is Memory.SIZED_REST:
        return list(operands[1:])
    return list(operands) if memory in (Memory.SIZED_APART, Memory.JOINED) else []


def _into(
    function: Function,
    out: Any,
    outs: Sequence[Tensor],
    result: Any,
    overload: str,
    operands: Sequence[Tensor],
) -> Any:
    """The results written; PyTorch looks at all element types before it writes any."""
    results = [result] if isinstance(result, Tensor) else list(result)
    words, memory = words_of(function.path, overload), memory_of(function.path)
    for at, (place, value) in enumerate(zip(outs, results, strict=True)):
        refusal = words.refusal(function.path, value.dtype, place.dtype, at)
        if memory is Memory.ITERATED:
            _check_own_shape(place, value, operands)
        if refusal is not None:
            raise refusal
    for place, value in zip(outs, results, strict=True):
        looked_at = _looked_at(memory, operands, place, value)
        # Memory that grows is another one here, and PyTorch's is still the operand's.
        before = plain(place._data, place._kind)
        _take_shape(place, value, function)
        if memory is Memory.JOINED:
            for operand in looked_at:
                refuse_shared(before, operand, True)
        if memory not in (Memory.ITERATED, Memory.APART):
            _check_memory(memory, [place], looked_at)
    with TRANSFORMS.unasked():
        for place, value in zip(outs, results, strict=True):
            _write(place, value, memory, function)
    if isinstance(result, Tensor):
        return out
    if isinstance(result, Named):
        return named(f"{function.name}_out", result.fields, tuple(out))
    return tuple(out)


def _write(place: Tensor, value: Tensor, memory: Memory, function: Function) -> None:
    copy = catalogue.methods["copy_"]
    if memory is Memory.UNCHECKED and is_expanded(place._data):
        place._data[...] = value._data  # the last one stays
        place._bump()
    elif function.path in COMPOSED or function.path in UNRECORDED:
        copy(place, value)
    else:
        with no_grad():
            copy(place, value)


def _check_own_shape(out: Tensor, result: Tensor, operands: Sequence[Tensor]) -> None:
    """An operand that is written into keeps its shape."""
    if out.shape != result.shape and any(operand is out for operand in operands):
        raise RuntimeError(
            f"output with shape {list(out.shape)} doesn't match the broadcast shape "
            f"{list(result.shape)}"
        )


def _take_shape(out: Tensor, result: Tensor, function: Function) -> None:
    if out.shape == result.shape:
        return
    told = out.numel() and function.path not in SILENT
    if told and isinstance(function.overloads[0], Factory):
        state.warn(
            f"The number of elements in the out tensor of shape {list(out.shape)} is {out.numel()} "
            f"which does not match the computed number of elements {result.numel()}. Note that "
            "this may occur as a result of rounding error. The out tensor will be resized to a "
            f"tensor of shape ({result.numel()},)."
        )
    elif told:
        state.warn(
            "An output with one or more elements was resized since it had shape "
            f"{list(out.shape)}, which does not match the required output shape "
            f"{list(result.shape)}. This behavior is deprecated, and in a future PyTorch "
            "release outputs will not be resized unless they have zero elements. You can "
            "explicitly reuse an out tensor t by resizing it, inplace, to zero elements with "
            "t.resize_(0)."
        )
    resized(out, tuple(result.shape))
