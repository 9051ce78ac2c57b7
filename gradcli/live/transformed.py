"""Live: tensors of torch.func, which stand for others while a function is transformed.

`grad` wraps a tensor for its level, `vmap` one that holds all samples, and what is wrapped may be
wrapped again. Each level of `grad` has its own graph: an operation makes a node in each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


class Transformed:
    """What is below such tensors, also when their level is over."""

    def __init__(self, torch: Any) -> None:
        self.torch, functorch = torch, torch._C._functorch
        self.is_one, self.below = functorch.is_functorch_wrapped_tensor, functorch.get_unwrapped
        self.batch, self.level = functorch.maybe_get_bdim, functorch.maybe_get_level
        self.add, self.wrap = functorch._add_batch_dim, functorch._wrap_for_grad
        self.is_several = functorch.is_legacy_batchedtensor
        keys, of_one = torch._C.DispatchKey, torch._C.DispatchKeySet
        self.keys = of_one(keys.FuncTorchDynamicLayerFrontMode) | of_one(
            keys.FuncTorchDynamicLayerBackMode
        )
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

    def samples(self, tensor: Any = None) -> tuple[int, ...]:
        """How many samples a tensor has, those of the outer vmap first."""
        count = sum(
            self.batch(one) >= 0 if self.is_one(one) else self.is_several(one)
            for one in self.levels(tensor)
            if isinstance(one, self.torch.Tensor)
        )
        return tuple(self.bare(tensor).shape[:count]) if count else ()

    def all_bare(self, gradients: Sequence[Any]) -> tuple[Any, ...]:
        """The same of what a node is given, or gives on."""
        return tuple([None if one is None else self.bare(one) for one in gradients])

    def on(self) -> Any:
        """Within it operations are transformed again, where they are put aside."""
        here = self.torch._C
        off = here._dispatch_tls_local_exclude_set() - self.keys
        return here._ForceDispatchKeyGuard(here._dispatch_tls_local_include_set(), off)

    def dressed(self, found: Any, like: Any) -> Any:
        """An ordinary tensor, all samples in front, as another one stands for such a tensor."""
        wrapped = [] if like is None else [one for one in self.levels(like) if self.is_one(one)]
        for one in reversed(wrapped):
            is_batched, level = self.batch(one) >= 0, self.level(one)
            found = self.add(found, 0, level) if is_batched else self.wrap(found, level)
        return found

    def _all(self, gradient: Any) -> Any:
        """All gradients of a pass with is_grads_batched, of which this one shows a single one."""
        mode = self.torch._C
        level = mode._vmapmode_increment_nesting() - 1
        mode._vmapmode_decrement_nesting()
        with self.no_functions(), self.torch.no_grad():
            return self.torch._remove_batch_dim(gradient, max(level, 1), 1, 0)
