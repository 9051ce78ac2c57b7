"""Questions: a pass of PyTorch whose gradients are in a graph, made again with its whole graph."""

from __future__ import annotations

from typing import Any

import numpy

from ....engine.tensors.tensor import Tensor
from ....recording.sides import sides
from .live_call import PASS
from .tape import Key, Operand, Step, Unrepeatable


class PassAgain:
    """torch.autograd.grad as a function of the leaves, and of the gradients that it begins with."""

    __name__ = PASS

    def __init__(
        self, steps: list[Step], leaves: list[Tensor], outputs: list[Key | None],
        inputs: list[Key | int],
    ) -> None:  # fmt: skip
        assert sides.live is not None
        self.torch: Any = sides.live.torch  # type: ignore[attr-defined]
        self.steps, self.leaves = steps, leaves
        self.outputs, self.inputs = outputs, inputs

    def __call__(self, *tensors: Any) -> Any:
        count, torch = len(self.leaves), self.torch
        create = torch.is_grad_enabled()
        with torch.enable_grad():
            given = [one if one.requires_grad else one.detach().requires_grad_()
                     for one in tensors[:count]]  # fmt: skip
            known: dict[Any, Any] = dict(zip(map(id, self.leaves), given, strict=True))
            for step in self.steps:
                assert step.call is not None
                made = step.call.made([self._operand(one, known, given) for one in step.arguments])
                known.update((key, one) for (_, key), one in zip(step.outs, made, strict=True))
            return torch.autograd.grad(
                [known[key] for key in self.outputs], [known[key] for key in self.inputs],
                tensors[count:] or None, create_graph=create, allow_unused=True,
            )  # fmt: skip

    def _operand(self, operand: Operand, known: dict[Any, Any], given: list[Any]) -> Any:
        if operand.is_leaf or operand.key is not None:
            found = known.get(id(operand.tensor) if operand.is_leaf else operand.key)
            if found is None:
                raise Unrepeatable("a tensor came into the graph in a way that is not recorded")
            return found
        made = self.torch.from_numpy(numpy.array(operand.data))
        wide = any(one.dtype == self.torch.float64 for one in given)
        return made.double() if wide and made.is_floating_point() else made
