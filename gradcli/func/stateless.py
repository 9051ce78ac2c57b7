"""Func: torch.func.functional_call: a module run with other tensors than its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..engine.schema.catalogue import catalogue
from ..engine.tensors.invented_names import kept
from ..engine.tensors.tensor import Tensor
from ..nn.module import Module


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Calls a module whose parameters and buffers are, for this call, those of the dict."""
    given = _joined(parameter_and_buffer_dicts)
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    if not isinstance(module, Module):
        raise AttributeError(
            f"'{type(module).__name__}' object has no attribute 'named_parameters'"
        )
    own = _own(module)
    if strict:
        _compare(type(module).__name__, own, given)
    if tie_weights:
        given = _tied(own, given)
    before: list[tuple[dict[str, Any], str, Any]] = []
    try:
        for name, tensor in given.items():
            if not isinstance(tensor, Tensor):
                raise TypeError(f"{tensor} is not an instance of torch.Tensor")
            table, last = _place(module, name)
            before.append((table, last, table.get(last, _ABSENT)))
            table[last] = tensor
        return module(*arguments, **(kwargs or {}))
    finally:
        for table, last, tensor in reversed(before):
            if tensor is _ABSENT:
                del table[last]
            else:
                table[last] = tensor


_ABSENT: Any = object()


def _joined(dicts: Any) -> dict[str, Any]:
    if isinstance(dicts, Mapping):
        return dict(dicts)
    if not isinstance(dicts, Sequence):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(dicts)}"
        )
    joined: dict[str, Any] = {}
    for part in dicts:
        if not isinstance(part, Mapping):
            raise ValueError(
                "Expected all elements of parameter_and_buffer_dicts to be dictionaries"
            )
        for key, value in part.items():
            if key in joined:
                raise ValueError(
                    f"{key} appears in multiple dictionaries; behavior of functional "
                    "call is ambiguous"
                )
            joined[key] = value
    return joined


def _own(module: Any) -> dict[str, Tensor]:
    found = dict(module.named_parameters(remove_duplicate=False))
    found.update(module.named_buffers(remove_duplicate=False))
    return found


def _compare(name: str, own: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    unexpected = [name for name in given if name not in own]
    missing = [name for name in own if name not in given]
    if unexpected or missing:
        texts = []
        if unexpected:
            texts.append("\n\tUnexpected key(s): " + ", ".join(map(repr, unexpected)) + ".")
        if missing:
            texts.append("\n\tMissing key(s): " + ", ".join(map(repr, missing)) + ".")
        raise RuntimeError(f"Error(s) in reparametrizing for {name}:" + "".join(texts))


def _tied(own: Mapping[str, Tensor], given: dict[str, Any]) -> dict[str, Any]:
    """A tensor that a module has under several names is replaced under all of them."""
    names: dict[int, list[str]] = {}
    for name, tensor in own.items():
        names.setdefault(id(tensor), []).append(name)
    tied = dict(given)
    for name, tensor in given.items():
        if name in own:
            for other in names[id(own[name])]:
                tied.setdefault(other, tensor)
    return tied


def _place(module: Any, name: str) -> tuple[dict[str, Any], str]:
    """The table of a submodule that holds a parameter or buffer, and its name there."""
    *path, last = name.split(".")
    owner = module
    for part in path:
        owner = owner._modules.get(part)
        if owner is None:
            raise AttributeError(f"{type(module).__name__} has no attribute `{part}`")
    for table in (owner._parameters, owner._buffers):
        if last in table:
            return table, last
    return kept(owner), last  # a name of its own, for the time of the call


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and buffers of modules of one class, each stacked, for vmap."""
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or all(not m.training for m in models)):
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    stack = catalogue.functions["stack"]

    def stacked(tables: list[dict[str, Any]]) -> dict[str, Any]:
        out = {}
        for name in tables[0]:
            whole = stack([table[name].detach() for table in tables])
            out[name] = whole.requires_grad_(tables[0][name].requires_grad)
        return out

    return (
        stacked([dict(model.named_parameters()) for model in models]),
        stacked([dict(model.named_buffers()) for model in models]),
    )
