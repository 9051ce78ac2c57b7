"""Library: torch.nn.utils.parametrize: modules that compute a parameter of another module."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from ...engine.schema.mode import no_grad
from ...engine.schema.run_state import run_state
from ...engine.tensors.tensor import Tensor
from ..container import ModuleDict, ModuleList
from ..derived import COMPUTES, parametrizations
from ..module import Module
from ..parameter import Parameter
from .computed import named_tensor, needs_module, take_weight

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization",
    "remove_parametrizations",
]  # fmt: skip


class _Cache:
    """Within `cached()`, what was computed, by the list that did."""

    __slots__ = ("depth", "values")

    def __init__(self) -> None:
        self.depth = 0
        self.values: dict[int, Any] = {}


_cache = run_state(_Cache())


class cached:
    """Within it each parameter is computed once."""

    PUBLIC: tuple[str, ...] = ()
    _torch_name = "contextlib._GeneratorContextManager"

    def __enter__(self) -> None:
        _cache.depth += 1

    def __exit__(self, *error: object) -> None:
        _cache.depth -= 1
        if not _cache.depth:
            _cache.values.clear()


def _inverse(module: Module) -> Any:
    return getattr(module, "right_inverse", None)


def _register(module: Module, name: str, value: Any) -> None:
    if isinstance(value, Parameter):
        module.register_parameter(name, value)
    else:
        module.register_buffer(name, value)


class ParametrizationList(ModuleList):
    """What computes one parameter: `original`, handed through the modules of the list."""

    PUBLIC: tuple[str, ...] = ("unsafe", "is_tensor", "ntensors", "right_inverse")
    _torch_name = "torch.nn.utils.parametrize.ParametrizationList"

    def __init__(self, modules: Sequence[Module], original: Any, unsafe: bool = False) -> None:
        if not len(modules):
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        new: Any = original
        with no_grad():
            for inverse in filter(None, map(_inverse, reversed(list(self)))):
                try:
                    new = inverse(new)
                except NotImplementedError:
                    pass
        self.is_tensor = isinstance(new, Tensor)
        if not self.is_tensor and type(new) not in (list, tuple):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(new).__name__}"
            )
        self.ntensors = 1 if self.is_tensor else len(new)
        shape, dtype = original.shape, original.dtype
        if self.is_tensor:
            self._keep_one(original, new)
        else:
            self._keep_several(original, new)
        if not unsafe:
            self._check(shape, dtype)

    def _keep_one(self, original: Any, new: Any) -> None:
        if original.dtype != new.dtype:
            raise ValueError(
                "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                f"original.dtype: {original.dtype}\n"
                f"right_inverse(original).dtype: {new.dtype}"
            )
        if new is not original:
            original.data = new.detach()
        _register(self, "original", original)

    def _keep_several(self, original: Any, new: Sequence[Any]) -> None:
        for place, value in enumerate(new):
            if not isinstance(value, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors "
                    f"(list, tuple...). Got element {place} of the sequence with type "
                    f"{type(value).__name__}."
                )
            if original.is_parameter:
                value = Parameter(value, original.requires_grad)
            _register(self, f"original{place}", value)

    def _check(self, shape: Any, dtype: Any) -> None:
        made = self()
        if not isinstance(made, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(made).__name__}.")
        rule = (
            "Registering a parametrization may not change the {0} of the tensor, unless `unsafe` "
            "flag is enabled.\nunparametrized {0}: {1}\nparametrized {0}: {2}"
        )
        if made.dtype != dtype:
            raise ValueError(rule.format("dtype", dtype, made.dtype))
        if made.shape != shape:
            raise ValueError(rule.format("shape", shape, made.shape))

    def originals(self) -> list[Any]:
        words = ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]
        return [named_tensor(self, word) for word in words]

    def forward(self) -> Any:
        first, *others = list(self)
        value = first(*self.originals())
        for module in others:
            value = module(value)
        return value

    def value(self) -> Any:
        """What is under the parameter's name."""
        if not _cache.depth:
            return self()
        if id(self) not in _cache.values:
            _cache.values[id(self)] = self()
        return _cache.values[id(self)]

    def right_inverse(self, value: Any) -> None:
        """module.weight = value"""
        with no_grad():
            for module in reversed(list(self)):
                inverse = _inverse(module)
                if inverse is None:
                    raise RuntimeError(
                        f"parametrization {module._get_name()} does not implement right_inverse."
                    )
                value = inverse(value)
            values = [value] if self.is_tensor else list(value)
            if len(values) != self.ntensors:
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors of length "
                    f"{self.ntensors}. Got a sequence of length {len(values)}."
                )
            for original, new in zip(self.originals(), values, strict=True):
                if new.dtype != original.dtype:
                    raise ValueError(
                        f"The tensor returned by `right_inverse` has dtype {new.dtype} "
                        f"while `original` has dtype {original.dtype}"
                    )
                original.data = new.detach()


@functools.cache
def _parametrized(kind: type) -> type:
    """The class of such modules: of the same kind under another name."""
    name = f"Parametrized{kind.__name__}"
    home = {"_torch_name": f"torch.nn.utils.parametrize.{name}", "__module__": kind.__module__}
    return type(name, (kind,), home)


def _set_class(module: Module, kind: type) -> None:
    """A class of a program's own stays; its printed form has the other name all the same."""
    if "_program_class" not in module.__dict__:
        object.__setattr__(module, "__class__", kind)


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    needs_module(parametrization, "train")
    needs_module(module, "training")
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_next(module, tensor_name, parametrization)
        computes = module.parametrizations[tensor_name]
        computes.append(parametrization)
        computes.unsafe |= unsafe
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    original = named_tensor(module, tensor_name)
    computes = ParametrizationList([parametrization], original, unsafe)
    take_weight(module, tensor_name)
    if not is_parametrized(module):
        kind: Any = type(module)
        _set_class(module, _parametrized(kind))
        module.parametrizations = ModuleDict()
        module.parametrizations.__dict__[COMPUTES] = True
    module.parametrizations[tensor_name] = computes
    return module


def _check_next(module: Module, name: str, parametrization: Module) -> None:
    """A further one gives a tensor of the same type and size, and takes such a one back."""
    before = parametrizations(module)[name].value()
    after = parametrization(before)
    rule = (
        "Registering a parametrization may not change the {0} of the tensor, unless the `unsafe` "
        "flag is enabled.\nmodule.{1}.{0}: {2}\nparametrization(module.{1}).{0}: {3}"
    )
    if not isinstance(after, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(after).__name__}.")
    if after.dtype != before.dtype:
        raise ValueError(rule.format("dtype", name, before.dtype, after.dtype))
    if after.shape != before.shape:
        raise ValueError(rule.format("shape", name, before.shape, after.shape))
    inverse = _inverse(parametrization)
    if inverse is None:
        return
    try:
        back = inverse(after)
    except NotImplementedError:
        return
    rule = (
        "The tensor returned by parametrization.right_inverse must have the same {0} as "
        "module.{1}, unless the `unsafe` flag is enabled.\nmodule.{1}.{0}: {2}\n"
        "returned {0}: {3}"
    )
    if not isinstance(back, Tensor):
        raise ValueError(
            f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}"
        )
    if back.dtype != before.dtype:
        raise ValueError(rule.format("dtype", name, before.dtype, back.dtype))
    if back.shape != before.shape:
        raise ValueError(rule.format("shape", name, before.shape, back.shape))


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    names = parametrizations(module) if isinstance(module, Module) else {}
    return bool(names) if tensor_name is None else tensor_name in names


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    computes = parametrizations(module)[tensor_name]
    if computes.is_tensor:
        (original,) = computes.originals()
        if leave_parametrized:
            with no_grad():
                original.data = computes.value().detach()
    elif leave_parametrized:
        value = computes.value()
        original = Parameter(value) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
    del module.parametrizations[tensor_name]
    if not len(module.parametrizations):
        del module._modules["parametrizations"]
        _set_class(module, type(module).__mro__[1])
    _register(module, tensor_name, original)
    return module
