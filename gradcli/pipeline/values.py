"""Pipeline: the values of a program's inputs, from comments and options to tensors."""

from __future__ import annotations

from typing import Any

from ..diagnostics import ProgramError, some
from ..engine.memory import device as devices
from ..engine.schema import dtypes
from ..engine.schema.operator import catalogue
from ..engine.tensors.tensor import Tensor
from ..inputs import Input, InputError, default_of, is_floating, parse_set, parse_value
from ..language.program import Default, Program, refused_default
from ..named import NamedTuple
from ..namespace import resolve
from ..opening import UsageError
from .request import Request

PLACEHOLDER = 1.0  # stands for an input without a value while its graph is drawn


class Values(NamedTuple):
    """`inputs` for names that the program never binds, `overrides` for numbers that it does."""

    inputs: dict[str, Any]
    overrides: dict[str, Any]
    missing: tuple[str, ...]


def values_of(program: Program, request: Request) -> Values:
    """What the program's comments, --set and --wrt give to names."""
    inputs: dict[str, Any] = {}
    overrides: dict[str, Any] = {}
    for name, item in _inputs(program, request).items():
        if name in program.inputs:
            inputs[name] = _value(item, program, request)
        elif name in program.literals:
            overrides[name] = _value(item, program, request)
        else:
            words, advice = f"--set {name}: {_no_input(name, program)}", _near(name, program)
            if name in request.given:
                raise UsageError(words, advice)
            raise _refused(name, program, UsageError(words, advice))
    for name in request.no_grad:
        if name not in program.inputs and name not in overrides and name not in request.wrt:
            words = _no_input(name, program, "only an input is meant")
            raise UsageError(f"--no-grad {name}: {words}")
    for name in request.wrt:
        if name in program.literals and name not in overrides:
            overrides[name] = _leaf(name, program.literal_value(name), True)
    missing = tuple(name for name in program.inputs if name not in inputs)
    if program.required.isdisjoint(missing):
        missing = ()  # what may never be read fails where it is read
    if request.placeholders:
        for name in missing:
            inputs[name] = _leaf(name, PLACEHOLDER, name not in request.no_grad)
    ordered = {name: inputs[name] for name in program.inputs if name in inputs}
    return Values(ordered, overrides, missing)


def _inputs(program: Program, request: Request) -> dict[str, Input]:
    """--set wins over the comments of the program."""
    most = request.limits.max_memory
    given: dict[str, Input] = {}
    for name, default in program.defaults.items():
        if name not in request.given:
            given[name] = _default(default, program, request)
    try:
        for text in request.sets:
            item = parse_set(text, most=most)
            given[item.name] = item
    except InputError as error:
        raise UsageError(str(error), error.advice) from None
    return given


def _default(default: Default, program: Program, request: Request) -> Input:
    """The value that a comment of the program gives; an error points at its line."""
    name, text, line = default
    try:
        return default_of(name, text, request.path, request.limits.max_memory)
    except InputError as error:
        advice = error.advice
        if advice.startswith("--set "):
            advice = "# set: " + advice.removeprefix("--set ")
        raise refused_default(program.source, line, str(error), advice) from None


def _refused(name: str, program: Program, error: UsageError) -> ProgramError:
    """What is wrong with the value that a comment gives, at its line."""
    message, advice = str(error).removeprefix("--set "), error.advice
    return refused_default(program.source, program.defaults[name].line, message, advice)


def _value(item: Input, program: Program, request: Request) -> Any:
    requires_grad = item.name not in request.no_grad
    if item.kind == "array":
        tensor: Tensor = resolve("from_numpy")(item.value)
        if devices.default_device() is not devices.cpu:
            tensor = catalogue.methods["to"](tensor, devices.default_device())
        return tensor.requires_grad_() if requires_grad and tensor.is_floating_point() else tensor
    if item.kind != "leaf" and not (item.name in request.wrt and all_numbers(item.value)):
        return item.value
    try:
        return _leaf(item.name, item.value, requires_grad)
    except UsageError as error:
        if item.name in request.given:
            raise
        raise _refused(item.name, program, error) from None


def all_numbers(value: Any) -> bool:
    """A number, or lists of numbers."""
    if isinstance(value, list):
        return bool(value) and all(map(all_numbers, value))
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _leaf(name: str, value: Any, requires_grad: bool) -> Tensor:
    make = resolve("tensor")
    try:
        if is_floating(value):
            return make(value, requires_grad=requires_grad)
        return make(value, dtype=dtypes.default_dtype(), requires_grad=requires_grad)
    except (ValueError, TypeError, RuntimeError) as error:
        raise UsageError(f"--set {name}: {error}") from None


def grad_output(text: str, result: Tensor) -> Tensor:
    """The value of --grad-output, with the result's type; one number stands for all."""
    try:
        item = parse_value("--grad-output", text)
    except InputError as error:
        raise UsageError(str(error), "--grad-output [1.0,0.0]") from None
    if item.kind == "array":
        return resolve("from_numpy")(item.value)
    if not all_numbers(item.value):
        raise UsageError(f"--grad-output {text}: expected numbers", "--grad-output [1.0,0.0]")
    from ..recording.sides import is_live  # which a run alone does not need

    try:
        dtype, device = result.dtype, result.device
        if is_live(result):  # its values go to PyTorch from here
            dtype, device = resolve(str(dtype).removeprefix("torch.")), devices.cpu
        made: Tensor = resolve("tensor")(item.value, dtype=dtype, device=device)
    except (ValueError, TypeError, RuntimeError) as error:
        raise UsageError(f"--grad-output {text}: {error}") from None
    return catalogue.methods["expand"](made, result.shape) if made.dim() == 0 else made


def _no_input(
    name: str, program: Program, why: str = "only a number or a list of numbers is replaced"
) -> str:
    if name in program.bindings:
        return f"the program computes it itself, and {why}"
    listed = some(program.inputs, 8)
    return "the program has no such input" + (f"; its inputs are {listed}" if listed else "")


def _near(name: str, program: Program) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, [*program.inputs, *program.literals], 1, 0.5)
    return f"did you mean --set {near[0]}=...?" if near else ""
