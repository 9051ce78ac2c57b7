"""language: what dotted names of torch and of other modules refer to."""

from __future__ import annotations

import functools
from importlib import import_module
from typing import Any

from numpy import ndarray

from ...namespace.absent import absence
from ...namespace.deeper_paths import HIDDEN
from ...namespace.functions import flags, set_flag
from ...namespace.table import FLAGS
from .. import modules
from ..adoption import FAMILIES
from ..attributes import SPECIAL, SPECIAL_SET, missing
from ..libraries import Library, libraries
from ..names import known_paths
from ..values import Namespace
from .types import library_value


def resolve_path(path: str) -> Any:
    """The value behind a full dotted name: "torch.nn.Linear", "math.pi", "torch.nn"."""
    return _resolved(path, libraries.current)


@functools.cache
def _resolved(path: str, library: Library) -> Any:
    if modules.is_drawing(path):
        return published("standard.drawing")["drawing"](path)
    values, spaces = known_paths()
    if path in spaces and path.removeprefix("torch.") not in HIDDEN:
        return Namespace(path)
    home, _, name = path.rpartition(".")
    if path not in values:
        raise AttributeError(f"module '{home}' has no attribute '{name}'")
    if modules.has(path):
        return published(modules.MODULES[home].home)[home][name]
    rest = path.removeprefix("torch.")
    return library_value(rest, library.resolve(rest))


def published(home: str) -> Any:
    """What a file of the language gives to modules: name of the module -> name -> value."""
    return import_module(f"gradcli.language.{home}").MODULES


def _array(value: Any) -> Any:
    """What .numpy() gives: the value that numpy has for an array."""
    return import_module("gradcli.language.standard.arrays").array_value(value)


FAMILIES.append((ndarray, _array))


class MissingPart(ImportError):
    """An import of something that a module has elsewhere; `advice` says what to do."""

    def __init__(self, message: str, *advice: str) -> None:
        super().__init__(message)
        self.advice = advice


class MissingModule(MissingPart, ModuleNotFoundError):
    """The same of a whole module."""


def imported(home: str, name: str | None) -> Any:
    """What `import home`, or `from home import name`, binds."""
    values, spaces = known_paths()
    if home not in spaces:
        raise MissingModule(*modules.refusal(home))
    path = home if name is None else f"{home}.{name}"
    if path not in values and path not in spaces:
        absent = absence(home, name or "")
        if absent is not None:
            raise MissingPart(absent, f"help: {modules.REAL}")
        raise ImportError(f"cannot import name '{name}' from '{home}'")
    return resolve_path(path)


# Modules of PyTorch that import it, and so have it as an attribute.
WITH_TORCH = frozenset({"torch"}) | frozenset(
    f"torch.{name}"
    for name in (
        "nn.functional nn.init nn.parameter nn.utils.rnn nn.utils.clip_grad nn.utils.prune "
        "nn.utils.parametrize nn.utils.parametrizations nn.modules.activation nn.modules.linear "
        "nn.modules.conv nn.modules.rnn nn.modules.module autograd autograd.function "
        "autograd.functional distributions.utils distributions.kl distributions.normal sparse "
        "functional utils.checkpoint fft special cuda random jit backends"
    ).split()
)


def _namespace_attribute(value: Namespace, name: str) -> Any:
    values, spaces = known_paths()
    path = f"{value.path}.{name}"
    if path.removeprefix("torch.") in FLAGS:
        return flags.values[path.removeprefix("torch.")]
    if path in values or path in spaces:
        return resolve_path(path)
    if name == "__name__":
        return value.path
    if name == "torch" and value.path in WITH_TORCH:
        return resolve_path("torch")
    raise missing(value, name)


def _set_flag(value: Namespace, name: str, new: Any) -> None:
    if value.path.partition(".")[0] != "torch":
        raise AttributeError(f"'{name}' of module '{value.path}' can't be set")
    set_flag(f"{value.path}.{name}".removeprefix("torch."), new)


SPECIAL[Namespace] = _namespace_attribute
SPECIAL_SET[Namespace] = _set_flag
