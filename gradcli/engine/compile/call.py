"""Engine: the forward path: from a row to the straight-line function that a call runs.

A call of an ordinary operator costs about a microsecond, so nothing may be looked up, bound or
looped over that the row already decides. The function is therefore written out as source from the
row, once, at first use. A row whose operands broadcast gets several lanes: one for tensors of one
form or of two that go together (`FastShape`), one for two tensors of one kind, one for a tensor and
a Python number, and a general one, where types and devices meet by PyTorch's rules (`promotion`).
All lanes come from the same lines here; they differ in the questions they leave out. Each is
written when a call needs it.
"""

from __future__ import annotations

import functools
import linecache
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ..graph.leaf import edge_of
from ..graph.node import Node, SavedOutput, SharedOutput, UnimplementedNode, inputs_of
from ..memory.layout import LAYOUTS, element_strides, iterated
from ..schema import dtypes
from ..schema.mode import next_sequence, state
from ..schema.row import Row
from ..tensors.autograd_meta import mark_of_base
from ..tensors.promotion import meet, one_device, shape_error
from ..tensors.saved_attributes import show_saved
from ..tensors.tensor import Tensor, formed
from . import lane
from .fast_path import FastPath
from .lane import ALIKE, GENERAL, NUMBER, OPERATOR, ORDINARY, Lane
from .node_source import derived
from .results import (
    finish,
    guard,
    infer,
    make_view,
    refused,
    share,
    version_of,
    versions_of,
    watch,
    widened,
)


def specialise(row: Row) -> Callable[..., Any]:
    """Writes and compiles the function that runs one overload; arguments come bound, in order."""
    taken = with_defaults(row)
    if not lane.has_lanes(row):
        return compiled(row, "run", FastPath(row, GENERAL).function("run", taken), _names(row))
    next_one = ORDINARY if len(row.tensors) == 2 else GENERAL
    lines = FastPath(row, ALIKE).function("run", taken, f"{next_one}({_given(row)})")
    return compiled(row, "run", lines, lanes(row))


@functools.cache
def lanes(row: Row) -> dict[str, Any]:
    """The names that the lanes of a row share, the lanes themselves among them."""
    given, names = _given(row), _names(row)
    names["run"] = lambda *arguments: row.run(*arguments)
    otherwise = f"{GENERAL}({given})"
    _later(row, GENERAL, "", names)
    if len(row.tensors) == 2:
        if row.tensors[1].number:
            _later(row, NUMBER, otherwise, names)
            second = row.tensors[1].name
            otherwise = f"({NUMBER}({given}) if {second}.__class__ in NUMBERS else {otherwise})"
        _later(row, ORDINARY, otherwise, names)
    return names


def _given(row: Row) -> str:
    return ", ".join(row.signature.names)


def with_defaults(row: Row) -> str:
    """The parameters of the function that runs a row; the last ones with plain defaults."""
    parts: list[str] = []
    plain = True
    for p in reversed(row.signature.parameters):
        plain = plain and p.default.__class__ in (int, float, bool, type(None))
        plain = plain and p.default == p.default not in (float("inf"), -float("inf"))
        parts.append(f"{p.name}={p.default!r}" if plain else p.name)
    return ", ".join(reversed(parts))


def _later(row: Row, name: str, otherwise: str, names: dict[str, Any]) -> None:
    """A lane that is written when the first call comes through it, under its name in `names`."""

    def first(*arguments: Any) -> Any:
        lines = FastPath(row, name).function(name, with_defaults(row), otherwise)
        return compiled(row, name, lines, names)(*arguments)

    names[name] = first


def python_operator(
    row: Row, constants: dict[str, Any], otherwise: Callable[[Any, Any], Any]
) -> Callable[[Any, Any], Any]:
    """The row's first lane as the function behind `x + y`, in front of its other lanes.

    What is no tensor and no number goes to `otherwise`. So do numbers inside a formula: PyTorch's
    C++ takes the Scalar overload where its Python bindings wrap the number.
    """
    names = lanes(row)  # so that a lane is written once
    names.update(constants, otherwise=otherwise)
    x, y = (p.name for p in row.tensors)
    given = _given(row)
    others = (
        f"({ORDINARY}({given}) if {y}.__class__ is Tensor else {NUMBER}({given})"
        f" if {y}.__class__ in NUMBERS and not state.formula else otherwise({x}, {y}))"
    )
    lines = FastPath(row, ALIKE, plain_symbol=True).function(OPERATOR, f"{x}, {y}", others)
    return compiled(row, OPERATOR, lines, names)


def compiled(
    row: Row, name: str, lines: Sequence[str], names: dict[str, Any]
) -> Callable[..., Any]:
    """Compiles generated source; tracebacks show it under <gradcli name of row>."""
    text = "\n".join(lines) + "\n"
    file = f"<gradcli {name} of {row.signature.name}.{row.signature.overload or 'default'}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), names)
    show_saved(row.saved_names)
    result: Callable[..., Any] = names[name]
    return result


@functools.cache
def facts_of(row: Row) -> Callable[..., tuple[Any, ...]]:
    """Writes arguments -> the derived facts that the row saves, None where it saves a value."""
    general = Lane(row, GENERAL)
    known = {*row.signature.names, *row.signature.outputs}
    facts = "".join(
        "None, " if key in known else f"{derived(general, key)}, " for key in row.saved_keys
    )
    lines = [f"def facts({general.given}):", f"    return ({facts})"]
    return compiled(row, "facts", lines, {"Tensor": Tensor, "element_strides": element_strides})


def _names(row: Row) -> dict[str, Any]:
    """What generated source may refer to."""
    ufunc = getattr(row.forward, "ufunc", None)
    return {
        "ufunc": ufunc and getattr(numpy, ufunc),
        "single": numpy.dtype("float32"), "double": numpy.dtype("float64"),
        "Tensor": Tensor, "Node": Node, "new": object.__new__, "state": state, "row": row,
        "UnimplementedNode": UnimplementedNode,
        "kernel": row.forward, "reduced": row.reduced.forward, "numpy": numpy, "edge_of": edge_of,
        "ndarray": numpy.ndarray,
        "SavedOutput": SavedOutput, "SharedOutput": SharedOutput, "next_sequence": next_sequence,
        "meet": meet, "shape_error": shape_error, "versions_of": versions_of, "finish": finish,
        "version_of": version_of, "element_strides": element_strides,
        "refused": refused, "guard": guard, "infer": infer, "one_device": one_device,
        "bool_": dtypes.bool_, "int64": dtypes.int64, "watch": watch,
        "widened": widened, "make_view": make_view, "share": share,
        "mark_of_base": mark_of_base,
        "check": row.check, "check_mixed": row.check_mixed,
        "NUMBERS": frozenset({float, int, bool}), "formed": formed,
        "inputs_of": inputs_of, "iterated": iterated,
        "lay_out": LAYOUTS.get(row.layout),
    }  # fmt: skip
