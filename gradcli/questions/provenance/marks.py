"""Questions: requires_grad_, retain_grad and detach_ of tensors, in the order of the run."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any
from weakref import ref

from ...recording.modules import is_module, named_parameters
from ...recording.sides import AnyTensor, is_tensor
from .values import MARKS, Mark, name_of

if TYPE_CHECKING:
    from .flow import Flow

MOST = 2_000_000


class Marks:
    """Whose they are is asked at the end."""

    __slots__ = ("flow", "all", "noted")

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.all: list[Mark] = []
        self.noted: set[tuple[str, int, int, bool, int]] = set()

    def called(self, node: ast.Call, value: Any, children: list[Any]) -> None:
        """A call has this value; the first of its parts is the owner of its method."""
        word = name_of(node)
        owner = children[0] if children else None
        if word == "setattr" and any(_is_switch(part) for part in node.args):
            tensor = self._tensor(owner)
            if tensor is not None:
                self.note("requires_grad_", node, tensor, on=tensor.requires_grad)
        if word not in MARKS:
            return
        on = not any(type(a) is ast.Constant and a.value is False for a in
                     (*node.args, *(k.value for k in node.keywords)))  # fmt: skip
        if is_module(owner):
            for _, parameter in named_parameters(owner):
                self.note(word, node, parameter, on=parameter.requires_grad)
        elif is_tensor(value):
            self.note(word, node, value, on=value.requires_grad)
        else:
            tensor = self._tensor(owner)
            if tensor is not None:
                self.note(word, node, tensor, on=on)

    def _tensor(self, part: Any) -> Any:
        """The tensor that a part of an expression is."""
        reference = self.flow.value(part).tensor if type(part) is int else None
        return None if reference is None else reference()

    def note(self, kind: str, node: ast.AST, tensor: AnyTensor, *, on: bool) -> None:
        """One of them. The recorder and the text may both report it: it counts once."""
        passes, steps = self.flow.passes.numbers.count, len(self.flow.values)
        key = kind, id(node), id(tensor), on, passes
        if len(self.all) < MOST and key not in self.noted:
            self.noted.add(key)
            self.all.append(Mark(kind, node, ref(tensor), on, passes, steps))


def _is_switch(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value == "requires_grad"
