"""Live: tensors of torch.func, which stand for others while a function is transformed.

`grad` wraps a tensor for its level, `vmap` one that holds all samples, and what is wrapped may be
wrapped again. Each level of `grad` has its own graph: an operation makes a node in each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Transformed:
    """What is below such tensors, also when their level is over."""

    def __init__(self, torch: Any) -> None:
        self.torch, functorch = torch, torch._C._functorch
        self.is_one, self.below = functorch.is_functorch_wrapped_tensor, functorch.get_unwrapped
        self.batch = functorch.maybe_get_bdim
        self.is_several = functorch.is_legacy_batchedtensor
        self.no_functions, self.off = torch._C.DisableTorchFunction, torch._C._DisableFuncTorch

    def levels(self, tensor: Any) -> Iterator[Any]:
        """A value, and what it stands for, down to an ordinary tensor."""
        yield tensor
        if not isinstance(tensor, self.torch.Tensor):
            return
        while self.is_one(tensor):
            tensor = self.below(tensor)
            yield tensor
        if self.is_several(tensor):
            yield self._all(tensor)

    def bare(self, tensor: Any) -> Any:
        """The ordinary tensor; the samples lie in front, those of the outer vmap first."""
        if not self.is_one(tensor):
            return self._all(tensor) if self.is_several(tensor) else tensor
        dims, samples = list(range(tensor.dim())), 0
        *wrapped, found = self.levels(tensor)
        for place in map(self.batch, wrapped):
            if place >= 0:
                samples -= 1
                dims.insert(place, samples)
        if not samples:
            return found
        with self.no_functions(), self.off():
            return found.detach().permute(sorted(range(len(dims)), key=dims.__getitem__))

    def _all(self, gradient: Any) -> Any:
        """All gradients of a pass with is_grads_batched, of which this one shows a single one."""
        mode = self.torch._C
        level = mode._vmapmode_increment_nesting() - 1
        mode._vmapmode_decrement_nesting()
        with self.no_functions(), self.torch.no_grad():
            return self.torch._remove_batch_dim(gradient, max(level, 1), 1, 0)
