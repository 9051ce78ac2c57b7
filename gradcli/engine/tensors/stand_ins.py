"""Engine: calls with tensors of other classes: those that a transformation carries, sparse ones.

Every overload takes tensors of exactly the class Tensor, so a call with another one fits none, and
comes here. It is bound by ordinary tensors that stand in for the others, and what runs it is asked
of the class: `run_overload`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..schema.catalogue import Function
from .tensor import Tensor

DEEPEST = 4  # lists in each other that a signature speaks of


def call(function: Function, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A call that no overload takes as it is; without other tensors it is PyTorch's TypeError."""
    stands: dict[int, Tensor] = {}
    arguments = [_stand_in(value, stands) for value in args]
    keywords = {key: _stand_in(value, stands) for key, value in kwargs.items()}
    if stands:
        for overload in function.overloads:
            values = overload.signature.bind(arguments, keywords, function.method)
            if values is not None:
                runs: Any = max(map(type, stands.values()), key=_precedence)
                return runs.run_overload(overload, [_stood_for(value, stands) for value in values])
    raise function.misfit(arguments, keywords)


# Functions of the module: one that called itself by a name of `call` would be a circle, and keep
# carriers and their graphs alive.


def _precedence(kind: Any) -> int:
    return int(kind.precedence)


def _stand_in(value: Any, stands: dict[int, Any], depth: int = DEEPEST) -> Any:
    """The same value with ordinary tensors in place of others; `stands` says which for which.

    A list may hold itself.
    """
    kind = value.__class__
    if kind is not Tensor and hasattr(kind, "stand_in"):
        tensor = value.stand_in()
        stands[id(tensor)] = value
        return tensor
    if depth and kind in (list, tuple):
        return kind([_stand_in(item, stands, depth - 1) for item in value])
    return value


def _stood_for(value: Any, stands: dict[int, Any], depth: int = DEEPEST) -> Any:
    """The same value with the other tensors again."""
    if value.__class__ is Tensor:
        return stands.get(id(value), value)
    if depth and value.__class__ is list:
        return [_stood_for(item, stands, depth - 1) for item in value]
    return value
