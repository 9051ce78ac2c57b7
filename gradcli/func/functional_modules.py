"""Func: models without state, as functorch makes them: their tensors are given at each call."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from ..engine.schema.catalogue import catalogue
from ..nn.module import Module
from .stateless import functional_call


class FunctionalModuleWithBuffers(Module):
    """func(params, buffers, *args)."""

    PUBLIC: tuple[str, ...] = ("stateless_model", "param_names", "buffer_names")

    def __init__(
        self, stateless_model: Any, places: dict[str, list[str]], param_names: tuple[str, ...],
        buffer_names: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        super().__init__()
        self.stateless_model, self._places = stateless_model, places
        self.param_names, self.buffer_names = param_names, buffer_names

    def forward(
        self, params: Iterable[Any], buffers: Iterable[Any], *args: Any, **kwargs: Any
    ) -> Any:
        names, tensors = self.param_names + self.buffer_names, (*params, *buffers)
        given = {
            place: tensor
            for name, tensor in zip(names, tensors, strict=False)
            for place in self._places[name]
        }
        return functional_call(self.stateless_model, given, args, kwargs, tie_weights=False)


class FunctionalModule(FunctionalModuleWithBuffers):
    """func(params, *args)."""

    PUBLIC = ("stateless_model", "param_names")

    def forward(self, params: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
        return super().forward(params, (), *args, **kwargs)


def _places(model: Any) -> dict[str, list[str]]:
    """All names of each parameter and buffer, by its first."""
    first: dict[int, str] = {}
    found: dict[str, list[str]] = {}
    for named in (model.named_parameters, model.named_buffers):
        for name, tensor in named(remove_duplicate=False):
            found.setdefault(first.setdefault(id(tensor), name), []).append(name)
    return found


def _split(kind: type[Module], model: Any, disable_autograd_tracking: bool) -> tuple[Any, ...]:
    """A copy of the model that is only called with other tensors, and copies of its own.

    PyTorch keeps the model's places with tensors that have no memory.
    """
    stateless, whole = copy.deepcopy(model), copy.deepcopy(model)
    params, buffers = dict(whole.named_parameters()), dict(whole.named_buffers())
    if disable_autograd_tracking:
        for parameter in params.values():
            parameter.requires_grad_(False)
    func = kind(stateless, _places(model), tuple(params), tuple(buffers))
    return func, tuple(params.values()), tuple(buffers.values())


def make_functional(model: Any, disable_autograd_tracking: bool = False) -> tuple[Any, Any]:
    """func, params: func(params, *args) is the model's answer with these parameters."""
    if list(model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use "
            "make_functional_with_buffers(model) instead."
        )
    func, params, _ = _split(FunctionalModule, model, disable_autograd_tracking)
    return func, params


def make_functional_with_buffers(
    model: Any, disable_autograd_tracking: bool = False
) -> tuple[Any, ...]:
    """func, params, buffers: the same of a model with buffers."""
    return _split(FunctionalModuleWithBuffers, model, disable_autograd_tracking)


def combine_state_for_ensemble(models: Sequence[Any]) -> tuple[Any, ...]:
    """func, params, buffers of models of one class, stacked along a new first dimension."""
    if len(models) == 0:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError(
            "combine_state_for_ensemble: Expected all models to have the same training/eval mode."
        )
    if len(set(map(type, models))) > 1:
        raise RuntimeError(
            "combine_state_for_ensemble: Expected all models to be of the same class."
        )
    stack = catalogue.functions["stack"]
    funcs, *states = zip(*map(make_functional_with_buffers, models), strict=True)
    stacked = [
        tuple(stack(list(shards)).detach() for shards in zip(*tensors, strict=True))
        for tensors in states
    ]
    return funcs[0], *stacked
