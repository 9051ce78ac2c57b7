"""Engine: deprecated argument orders that PyTorch still accepts: x.add_(0.1, y).

A number was in front of what it scales: `alpha` and `value` before the tensors, `beta` before the
tensor that is added to. Read when a call fits no overload.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .carriers import RUNTIME
from .mode import state
from .overloads import overloads
from .run_state import run_state
from .signature import Signature

SCALES = ({"alpha"}, {"value"}, {"beta", "alpha"})
NEVER = frozenset({"rsub", "subtract"})  # they came when the order had been dropped


class _Warned:
    """PyTorch warns of the first such call only."""

    __slots__ = ("once",)

    def __init__(self) -> None:
        self.once = False


_told = run_state(_Warned())


def as_today(
    name: str, signature: Signature, args: Sequence[Any], method: bool
) -> tuple[list[Any], dict[str, Any]] | None:
    """The arguments in today's order, where they are in the older one."""
    named = {p.name for p in signature.parameters if p.keyword_only and p.name != "out"}
    if named not in SCALES or name.removesuffix("_") in NEVER:
        return None
    tensors = [p.name for p in signature.parameters if not p.keyword_only]
    tensors[0] = "input"
    is_tensor = [value.__class__ is RUNTIME.tensor for value in args]
    numbers = [value for value in args if type(value) in (int, float, bool)]
    words = ["beta", "alpha"][: len(numbers)] if "beta" in named else list(named)
    first = 0 if "beta" in named and not method else 1  # where the first number stands
    places = [first, 2] if len(words) == 2 else [first]
    shape = [place not in places for place in range(len(tensors) + len(words))]
    if not numbers or len(words) != len(numbers) or is_tensor != shape:
        return None
    if not _told.once:
        _told.once = True
        state.warn(_words(name, tensors, words, sorted(named, reverse=True), shape, method))
    given = [value for value, tensor in zip(args, is_tensor, strict=True) if tensor]
    return given, dict(zip(words, numbers, strict=True))


def _words(
    name: str, tensors: list[str], words: list[str], named: list[str], shape: list[bool],
    method: bool,
) -> str:  # fmt: skip
    """PyTorch's warning, with both signatures."""
    names, scales = iter(tensors), iter(words)
    older = [f"Tensor {next(names)}" if tensor else f"Number {next(scales)}" for tensor in shape]
    today = [f"Tensor {word}" for word in tensors]
    keyword = [f"Number {word} = 1" for word in named]
    if method:
        older.remove(f"Tensor {tensors[0]}")
        del today[0]
        out = []
    else:
        out = ["Tensor out = None"]
    before = ", ".join([*older, *(["*", *out] if out else [])])
    now = ", ".join([*today, "*", *keyword, *out])
    lines = [now]
    if not method and any("out_dtype" in text for text in overloads().get(name, ())):
        lines.append(", ".join([*today, "torch.dtype out_dtype", "*", *keyword, *out]))
    listed = "\n\t".join(f"{name}({line})" for line in lines)
    return (
        f"This overload of {name} is deprecated:\n\t{name}({before})\n"
        f"Consider using one of the following signatures instead:\n\t{listed}"
    )
