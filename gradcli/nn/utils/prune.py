"""Library: torch.nn.utils.prune: masks that set parts of a parameter to zero."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...engine.schema.mode import state
from ...engine.schema.settable import Takes
from ...operators import catalogue
from ..derived import show
from ..module import Module
from .computed import add_hook, hook_of, named_tensor, needs_module, put_back
from .gradients import parameters_to_vector

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured",
    "PruningContainer", "RandomStructured", "RandomUnstructured", "custom_from_mask",
    "global_unstructured", "identity", "is_pruned", "l1_unstructured", "ln_structured",
    "random_structured", "random_unstructured", "remove",
]  # fmt: skip


def _run(name: str, *arguments: Any, **options: Any) -> Any:
    return catalogue.functions[name](*arguments, **options)


class BasePruningMethod:
    """Puts mask * original under the parameter's name before each call of the module."""

    EXTENSIBLE = True
    TAKES: Mapping[str, Takes] = {"PRUNING_TYPE": Takes.VALUE}
    PUBLIC: tuple[str, ...] = (
        "PRUNING_TYPE",
        "apply",
        "compute_mask",
        "apply_mask",
        "prune",
        "remove",
        "_tensor_name",
    )
    PRUNING_TYPE = "unstructured"
    name: str | None = None

    @property
    def _tensor_name(self) -> str | None:
        return self.name

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        return _applied(cls, *args, **kwargs)

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        raise NotImplementedError

    def apply_mask(self, module: Module) -> Any:
        mask, orig = module._buffers[f"{self.name}_mask"], module._parameters[f"{self.name}_orig"]
        return mask.to(dtype=orig.dtype) * orig

    def __call__(self, module: Module, inputs: Any) -> None:
        show(module, str(self.name), self.apply_mask(module))

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        scores = t if importance_scores is None else importance_scores
        _check_scores(scores, t, "tensor t")
        mask = _run("ones_like", t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=mask)

    def remove(self, module: Module) -> None:
        """The pruned values stay for good."""
        name = str(self.name)
        weight = self.apply_mask(module)
        orig = module._parameters.pop(name + "_orig")
        del module._buffers[name + "_mask"]
        orig.data = weight.data
        put_back(module, name, orig)


def _method(given: Any) -> Any:
    if not isinstance(given, BasePruningMethod):
        raise TypeError(f"{type(given)} is not a BasePruningMethod subclass")
    return given


def _check_scores(scores: Any, values: Any, what: str) -> None:
    if scores.shape != values.shape:
        raise AssertionError(
            f"importance_scores should have the same shape as {what}, "
            f"got {scores.shape} vs {values.shape}"
        )


def _apply(method: Any, module: Module, name: str, importance_scores: Any = None) -> Any:
    """Masks a parameter, or what an earlier mask left of it."""
    needs_module(module, "_forward_pre_hooks")
    orig = named_tensor(module, name)
    scores = orig if importance_scores is None else importance_scores
    _check_scores(scores, orig, f"parameter {name} of {module}")
    before = hook_of(module, BasePruningMethod, name, take=True)
    method.name = name
    if before is None:
        module.register_parameter(name + "_orig", orig)
        del module._parameters[name]
        mask = _run("ones_like", orig)
    else:
        container = before if isinstance(before, PruningContainer) else PruningContainer(before)
        container.add_pruning_method(method)
        method = container
        mask = module._buffers[name + "_mask"].detach().clone()
    try:
        module.register_buffer(name + "_mask", method.compute_mask(scores, default_mask=mask))
    except Exception:
        if before is None:
            module.register_parameter(name, module._parameters.pop(name + "_orig"))
        raise
    show(module, name, method.apply_mask(module))
    add_hook(module, method)
    return method


def _applied(
    make: Any, module: Module, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any
) -> Any:
    """A class of the program is applied by its own __init__ and compute_mask."""
    return _apply(make(*args, **kwargs), module, name, importance_scores)


class PruningContainer(BasePruningMethod):
    """Several masks of one parameter, one after another."""

    PUBLIC = ("add_pruning_method",)

    def __init__(self, *args: Any) -> None:
        self.methods: tuple[Any, ...] = ()
        self.name = _method(args[0]).name if len(args) == 1 else None
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        _method(method)
        if self.name != method.name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self.name}' to "
                f"PruningContainer {self}. Found '{method.name}'"
            )
        self.methods += (method,)

    def __len__(self) -> int:
        return len(self.methods)

    def __iter__(self) -> Any:
        return iter(self.methods)

    def __getitem__(self, idx: Any) -> Any:
        return self.methods[idx]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The last method's mask, of what the earlier ones left."""
        method, mask = self.methods[-1], default_mask.to(dtype=t.dtype)
        left: Any
        if method.PRUNING_TYPE == "unstructured":
            left = default_mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = method.dim % t.ndim
            others = [place for place in range(t.ndim) if place != dim]
            left = (*(slice(None),) * dim, default_mask.sum(dim=others) != 0)
        else:
            left = ()
        mask[left] = method.compute_mask(t[left], default_mask=default_mask[left]).to(mask.dtype)
        return mask


class _Amount(BasePruningMethod):
    """A method that takes the amount to prune as an argument: a count or a fraction."""

    PUBLIC: tuple[str, ...] = ("amount",)

    def __init__(self, amount: Any) -> None:
        if not isinstance(amount, (int, float)):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        whole = isinstance(amount, int)
        if amount < 0 or (not whole and amount > 1):
            raise ValueError(
                f"amount={amount} should either be a float in the range [0, 1] or a non-negative "
                "integer"
            )
        self.amount: Any = amount

    def _count(self, size: int) -> int:
        whole = isinstance(self.amount, int)
        count = int(self.amount) if whole else round(self.amount * size)
        if count > size:
            raise ValueError(
                f"amount={count} should be smaller than the number of parameters to prune={size}"
            )
        return count


class Identity(BasePruningMethod):
    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        return default_mask

    @classmethod
    def apply(cls, module: Module, name: str) -> Any:
        return _apply(cls(), module, name)


class _Elements(_Amount):
    """Takes single elements away: those with the smallest or the largest scores."""

    def _chosen(self, t: Any, count: int) -> Any:
        raise NotImplementedError

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        count = self._count(t.numel())
        mask = default_mask.clone()
        if count:
            mask.view(-1)[self._chosen(t, count)] = 0
        return mask


class RandomUnstructured(_Elements):
    def _chosen(self, t: Any, count: int) -> Any:
        return _run("rand_like", t).view(-1).topk(count).indices

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any) -> Any:
        return _apply(cls(amount), module, name)


class L1Unstructured(_Elements):
    def _chosen(self, t: Any, count: int) -> Any:
        return t.abs().view(-1).topk(count, largest=False).indices

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any, importance_scores: Any = None) -> Any:
        return _apply(cls(amount), module, name, importance_scores)


class _Slices(_Amount):
    """Takes whole slices along a dimension away."""

    PUBLIC: tuple[str, ...] = ("dim",)
    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _remaining(self, t: Any, size: int, count: int) -> Any:
        """Which slices stay, as an index."""
        raise NotImplementedError

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        if t.ndim <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor "
                f"of shape {t.shape} with {t.ndim} dims"
            )
        if self.dim >= t.ndim:
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        size = t.shape[self.dim]
        count = self._count(size)
        kept = self._remaining(t, size, count) if count or isinstance(self, LnStructured) else None
        if not count:
            return default_mask
        mask = _run("zeros_like", t)
        mask[(*(slice(None),) * (self.dim % t.ndim), kept)] = 1
        mask *= default_mask.to(dtype=mask.dtype)
        return mask


class RandomStructured(_Slices):
    def _remaining(self, t: Any, size: int, count: int) -> Any:
        chances = _run("rand", size)
        return chances > chances.kthvalue(count).values

    @classmethod
    def apply(cls, module: Module, name: str, amount: Any, dim: int = -1) -> Any:
        return _apply(cls(amount, dim), module, name)


class LnStructured(_Slices):
    PUBLIC = ("n",)

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _remaining(self, t: Any, size: int, count: int) -> Any:
        others = [place for place in range(t.ndim) if place != self.dim % t.ndim]
        return _run("norm", t, p=self.n, dim=others).topk(size - count, largest=True).indices

    @classmethod
    def apply(
        cls, module: Module, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None
    ) -> Any:
        return _apply(cls(amount, n, dim), module, name, importance_scores)


class CustomFromMask(BasePruningMethod):
    PUBLIC = ("mask",)
    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match "
                f"self.mask shape {self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Module, name: str, mask: Any) -> Any:
        return _apply(cls(mask), module, name)


# ---- the same as functions, which give the module


def identity(module: Module, name: str) -> Module:
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: Any) -> Module:
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: Module, name: str, amount: Any, importance_scores: Any = None
) -> Module:
    L1Unstructured.apply(module, name, amount, importance_scores)
    return module


def random_structured(module: Module, name: str, amount: Any, dim: int) -> Module:
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None
) -> Module:
    LnStructured.apply(module, name, amount, n, dim, importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Any) -> Module:
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any
) -> None:
    """One amount for several parameters together."""
    pairs = [tuple(state.taken(pair)) for pair in state.taken(parameters)]
    if importance_scores is not None and not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    scores = importance_scores or {}
    values = [named_tensor(module, name) for module, name in pairs]
    given = [scores.get(pair, value) for pair, value in zip(pairs, values, strict=True)]
    masks = [
        module._buffers.get(name + "_mask", _run("ones_like", value))
        for (module, name), value in zip(pairs, values, strict=True)
    ]
    method = _method(pruning_method(**kwargs))
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    container = PruningContainer()
    container.add_pruning_method(method)
    whole = container.compute_mask(parameters_to_vector(given), parameters_to_vector(masks))
    start = 0
    for (module, name), value in zip(pairs, values, strict=True):
        mask = whole[start : start + value.numel()].view_as(value)
        custom_from_mask(module, name, mask)
        start += value.numel()


def remove(module: Module, name: str) -> Module:
    found = hook_of(module, BasePruningMethod, name, take=True)
    if found is None:
        raise ValueError(
            f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
        )
    found.remove(module)
    return module


def is_pruned(module: Module) -> bool:
    needs_module(module, "named_modules")
    return any(
        isinstance(hook, BasePruningMethod)
        for inner in module.modules()
        for hook, _ in inner._forward_pre_hooks.values()
    )
