"""inspect: a run as questions read it: of a recording, or of a graph that is there already."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import wraps
from types import FrameType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from ..pipeline.request import Ran


Given = ParamSpec("Given")
Found = TypeVar("Found")


def quietly(ask: Callable[Given, Found]) -> Callable[Given, Found]:
    """While it answers, no mode and no tensor class of the program observes an operation."""

    @wraps(ask)
    def unobserved(*args: Given.args, **kwargs: Given.kwargs) -> Found:
        from ..recording.sides import sides

        if sides.live is None:
            return ask(*args, **kwargs)
        with sides.live.hands_off():
            return ask(*args, **kwargs)

    return unobserved


def ran_of(program: Any, outcome: Any, error: Any, recording: Any) -> Ran:
    """What questions read."""
    from ..pipeline.request import Ran, Request

    source = program.source
    request = Request(source.text.encode(), source.name, engine="torch")
    return Ran(request, program, source.text, outcome, [], (), error, heard=recording)


@quietly
def run_of(frame: FrameType, tensors: Any, model: Any, named: dict[str, Any]) -> Ran:
    """What is there, by the words of the call."""
    from ..language.interpreter import Outcome
    from ..live.session import program_of
    from ..live.text import Text
    from ..questions.picture import drawing
    from ..recording.leaf_names import other_leaves
    from ..recording.sides import AnyTensor

    program = program_of(frame)
    tree = program.tree
    call = Text(program.source, tree, frame.f_code.co_filename).spot(frame).node
    words = [ast.unparse(part) for part in call.args] if isinstance(call, ast.Call) else []
    given = {k.arg: ast.unparse(k.value) for k in getattr(call, "keywords", ()) if k.arg}
    if len(words) != len(tensors) + (not tensors and model is not None and "model" not in given):
        words = [f"tensor_{place}" for place in range(len(tensors))]
    bindings = dict(zip(words, tensors, strict=False))
    if model is not None:
        make_known(model)
        bindings[given.get("model", words[-1] if words and not tensors else "model")] = model
    bindings.update(named)
    for value in bindings.values():
        make_known(value)
    for one in tensors:
        if not isinstance(one, AnyTensor):
            raise TypeError(f"expected a tensor, not {type(one)}")
    bindings |= other_leaves(tensors, bindings, {**frame.f_globals, **frame.f_locals})
    outcome = Outcome(program, bindings, [], None, 0, {})
    return ran_of(program, outcome, None, drawing())


def make_known(value: Any) -> None:
    """PyTorch's tensors count as tensors once one is asked about."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, (torch.Tensor, torch.nn.Module)):
        from ..live.side import torch_side

        torch_side(torch)


def named_in(bindings: Any) -> list[tuple[str, Any]]:
    """The tensors that names lead to, each by the best of its names first."""
    from ..recording import holding
    from ..recording.sides import AnyTensor

    named = dict(holding.named_tensors(bindings, AnyTensor))
    plain = {name: tensor for name, tensor in named.items() if "[" not in name}
    return list((plain | dict(holding.parameters(bindings, AnyTensor)) | named).items())
