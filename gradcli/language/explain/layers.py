"""language: which layer of a network rejected its input, and where it was made."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from math import prod
from types import TracebackType
from typing import Any

from ...diagnostics import Edit
from ...engine.tensors.tensor import Tensor
from ...nn.module import Module
from ...recording.modules import named_modules
from ..classes import ProgramModule
from ..explanation import Explanation, replaced, suffixed
from ..own_errors import ROOM

CALL = Module.__call__.__code__
LONGEST = 80  # characters of a layer's text
# What a layer was made for: its first argument, and the dimension of the input that has to be it.
MADE_FOR = {
    "Linear": ("in_features", -1), "RNN": ("input_size", -1), "LSTM": ("input_size", -1),
    "GRU": ("input_size", -1), "RNNCell": ("input_size", -1), "LSTMCell": ("input_size", -1),
    "GRUCell": ("input_size", -1), "Conv1d": ("in_channels", -2), "Conv2d": ("in_channels", -3),
    "Conv3d": ("in_channels", -4), "BatchNorm1d": ("num_features", 1),
    "BatchNorm2d": ("num_features", 1), "BatchNorm3d": ("num_features", 1),
}  # fmt: skip


Called = tuple[Module, tuple[Any, ...]]  # a module and what it was given


def layers(trace: TracebackType | None) -> list[Called]:
    """The modules that were being called, the innermost last."""
    found: list[Called] = []
    while trace is not None:
        if trace.tb_frame.f_code is CALL:
            found.append((trace.tb_frame.f_locals["self"], trace.tb_frame.f_locals["args"]))
        elif trace.tb_frame.f_code.co_filename.startswith(ROOM) and found:
            node = trace.tb_frame.f_locals.get("node")
            if node is not None and hasattr(node, "lineno"):
                found.clear()  # back in the program: a method of its own class went on
        trace = trace.tb_next
    return found


def refused(out: Explanation, called: Sequence[Called]) -> None:
    """Which layer refused what it was given."""
    inner, given = called[-1]
    tensors = [value for value in given if isinstance(value, Tensor)]
    parts = [module for _, module in named_modules(inner)]
    if any(isinstance(part, ProgramModule) for part in parts) or not tensors:
        return  # the program says itself how they are printed
    text = repr(inner)
    name = module_name(out, inner)
    words = f"{name}, {text}," if name and len(called) > 1 else text
    if "\n" not in text and len(text) <= LONGEST:
        shapes = " and ".join(str(list(tensor.shape)) for tensor in tensors)
        out.primary = f"{words} is given the shape {shapes}"
        made = constructor_call(out, name or "", inner)
        if made is not None:
            out.put(made, f"{name} is made here")
        if len(tensors) == 1:
            is_same = called[0][1][0] is given[0]
            _sizes(out, inner, tensors[0], made, name or "", is_same=is_same)
        elif inner._get_name() == "LSTM" and isinstance(given[1], Tensor):
            _one_state(out)


def _one_state(out: Explanation) -> None:
    """An LSTM has two states, of which it is given one."""
    call = out.place
    state = call.args[1] if isinstance(call, ast.Call) and len(call.args) > 1 else None
    text = None if state is None else out.places.text(state)
    if text is not None:
        pair = f"({text}, torch.zeros_like({text}))"
        out.advise(f"{pair}: an LSTM has two states", replaced(out.places, state, pair))


def _flattened(out: Explanation, name: str, made: ast.expr | None, wanted: int) -> None:
    """A Flatten before a layer of a Sequential, whose input has several dimensions."""
    span = out.places.span(made)
    if span is not None and isinstance(made, ast.Call):
        space = ast.unparse(made.func).rpartition(".")[0]
        layer = f"{space}.Flatten()" if space else "Flatten()"
        out.advise(f"{layer} before {name}, which makes rows of {wanted} numbers",
                   [Edit(span.start, f"{layer}, ")])  # fmt: skip


def _sizes(
    out: Explanation, layer: Module, given: Tensor, made: ast.expr | None, name: str, *,
    is_same: bool,
) -> None:  # fmt: skip
    """A layer that was made for another size than it is given."""
    word, dim = MADE_FOR.get(layer._get_name(), ("", 0))
    shape = tuple(given.shape)
    wanted = getattr(layer, word, None) if word else None
    if type(wanted) is not int or not -len(shape) <= dim < len(shape) or shape[dim] == wanted:
        return
    call = out.place if isinstance(out.place, ast.Call) else None
    if dim == -1 and len(shape) > 2 and prod(shape[1:]) == wanted:
        node = call.args[0] if call is not None and len(call.args) == 1 else None
        if is_same and node is not None and (text := out.places.text(node)) is not None:
            out.advise(f"{text}.flatten(1), which makes rows of {wanted} numbers",
                       suffixed(out.places, node, ".flatten(1)"))  # fmt: skip
        elif name.endswith("]"):
            _flattened(out, name, made, wanted)
        return
    first = None
    if isinstance(made, ast.Call):
        named = [key.value for key in made.keywords if key.arg == word]
        first = next(iter((*named, *made.args)), None)
    if first is not None and not isinstance(first, ast.Starred):
        line = out.places.line(first)
        size, kind = shape[dim], layer._get_name()
        out.advise(f"{word}={size} on line {line}: the input of {kind} has {size}",
                   replaced(out.places, first, str(size)))  # fmt: skip


def constructor_call(out: Explanation, name: str, module: Module) -> ast.expr | None:
    """The call that made a layer: an item of a Sequential, or what one name was given."""
    places, kind = out.places, module._get_name()
    item = re.fullmatch(r"(\w+)\[(\d+)\]", name)
    if item is not None:
        value = places.bound_value(item[1])
        parts = value.args if isinstance(value, ast.Call) and not value.keywords else []
        found = parts[int(item[2]) : int(item[2]) + 1]
        if any(isinstance(part, ast.Starred) for part in parts):
            return None
    else:
        word = name.rpartition(".")[2]
        found = [
            node.value
            for node in places.parents.values()
            if isinstance(node, ast.Assign)
            and any(getattr(t, "attr", getattr(t, "id", "")) == word for t in node.targets)
        ]
        found = list({id(value): value for value in found}.values())
    calls = [(value, places.called(value)) for value in found]
    made = [value for value, called in calls if called is not None and called[0] == kind]
    return made[0] if len(made) == 1 == len(found) else None


def module_name(out: Explanation, wanted: Module) -> str | None:
    """net[2] or self.fc: how the program reaches a module."""
    for table in (out.places.local, out.places.values):
        for name, value in table.items():
            if isinstance(value, Module):
                for inner, module in named_modules(value):
                    if module is wanted:
                        parts = (f"[{p}]" if p.isdecimal() else f".{p}" for p in inner.split("."))
                        return name + ("".join(parts) if inner else "")
    return None
