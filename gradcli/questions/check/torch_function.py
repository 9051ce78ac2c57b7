"""Questions: a function of PyTorch, its inputs and parameters: each gradient, and who is wrong."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...recording.facts.check import EdgeCheck, LeafCheck
from .numeric import lost
from .numeric.points import Tolerance, undefined, words_of
from .torch_call import Call, Calls, TorchCall, widened, wrong_calls

NOT_STEADY = (
    "{} is not deterministic: a second call with the same inputs and random numbers gives another "
    "result {}"
)
COARSE = Tolerance(1e-2, 1e-3)  # where a function runs in single precision alone


class Function(NamedTuple):
    """What is checked: a function, its inputs with their names, and how it is called."""

    call: Callable[..., Any]
    name: str
    inputs: Sequence[Any]
    names: Sequence[str]


def gradients(
    torch: Any, function: Function, tolerance: Tolerance
) -> tuple[list[LeafCheck], tuple[EdgeCheck, ...]]:
    """Every gradient of what the function returns, and the calls that are wrong by themselves;
    AssertionError where it can't be checked."""
    tensors, names, again, double = _operands(torch, function)
    if not double:
        tolerance = Tolerance(max(tolerance.rtol, COARSE.rtol), max(tolerance.atol, COARSE.atol))
    needs = tuple(bool(getattr(t, "requires_grad", False)) for t in tensors)
    whole = Call(function.name, None, again, tuple(tensors), needs, torch.get_rng_state(), "", 0)
    calls = Calls(torch)
    with calls.heard():
        results = whole.run(torch, double)
    if not any(result.requires_grad for result in results):
        raise AssertionError(f"{function.name}: no result requires grad")
    for number, (one, other) in enumerate(zip(whole.run(torch, double), results, strict=True)):
        if not torch.allclose(one, other, 0.0, 0.0, equal_nan=True):
            raise AssertionError(NOT_STEADY.format(function.name, number))
    wrong = tuple(wrong_calls(torch, calls.made, tolerance, double))
    leaves = [_leaf(torch, whole, place, names[place], tolerance, wrong, double)
              for place, needed in enumerate(needs) if needed]  # fmt: skip
    return leaves, wrong


def _operands(torch: Any, function: Function) -> tuple[list[Any], list[str], Any, bool]:
    """The tensors, what they are called, the function of them, whether it runs in double."""
    inputs, names = list(function.inputs), list(function.names)
    call: Any = function.call
    places = [i for i, value in enumerate(inputs) if isinstance(value, torch.Tensor)]
    tensors = [inputs[i] for i in places]
    told = [names[i] for i in places]
    module = copy.deepcopy(call) if isinstance(call, torch.nn.Module) else None
    if module is not None:
        module = module.double()
        parameters = dict(call.named_parameters())
        tensors += parameters.values()
        told += parameters

    def again(given: Sequence[Any]) -> Any:
        values = list(inputs)
        for place, tensor in zip(places, given, strict=False):
            values[place] = tensor
        if module is None:
            return call(*values)
        state = dict(zip(parameters, given[len(places) :], strict=True))
        buffers = {name: buffer.clone() for name, buffer in module.named_buffers()}
        return torch.func.functional_call(module, {**state, **buffers}, tuple(values))

    try:
        with torch.no_grad():
            again([widened(torch, tensor) for tensor in tensors])
    except RuntimeError as error:
        if "dtype" not in str(error):
            raise
        return tensors, told, again, False
    return tensors, told, again, True


def _leaf(
    torch: Any, whole: Call, place: int, name: str, tolerance: Tolerance,
    wrong: tuple[EdgeCheck, ...], double: bool,
) -> LeafCheck:  # fmt: skip
    tensor = whole.tensors[place]
    operation = TorchCall(torch, whole, place, double)
    weights = operation.weights()
    gradient = operation.gradient(weights)
    total = int(tensor.numel())
    fact = LeafCheck(
        whole.name, None, name, None, tuple(tensor.shape),
        str(tensor.dtype).removeprefix("torch."), "equal", min(total, operation.most), total,
        int(total > operation.most), None, None, None, "", words=words_of(gradient),
        weighted=sum(weight.size for weight in weights) > 1,
    )  # fmt: skip
    finding = operation.finding(tolerance)
    if finding is None:
        coarse = TorchCall(torch, whole, place, double=False).gradient(weights) if double else None
        return lost(fact, gradient, coarse)
    fact = fact._replace(element=finding.element or None, analytic=finding.slope,
                         numeric=finding.found.value)  # fmt: skip
    if finding.gap <= 1.0:
        return fact._replace(status="undefined", cause=undefined(finding.slope))
    smooth = [edge for edge in wrong if not edge.cause.startswith("kink")]
    if wrong:
        status = "different" if smooth else "kink"
        return fact._replace(status=status, cause=(smooth or wrong)[0].cause, edges=wrong)
    said = "step size: no step gives a stable quotient"
    if finding.is_doubtful or not math.isfinite(finding.found.value):
        return fact._replace(status="unclear", cause=said)
    why = operation.cause(finding, tolerance)
    return fact._replace(status="kink" if why.startswith("kink") else "different", cause=why)
