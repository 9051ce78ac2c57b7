"""language: torch.save and torch.load: a copy of a value, in memory, for one run."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from ...engine.memory.device import Device
from ...engine.schema.dtypes import DType
from ...engine.schema.size import Size
from ...engine.tensors.tensor import Tensor
from ...nn.module import Module
from ..builtins.modules import deeply_copied
from ..builtins.types import type_of
from ..calls import call
from ..libraries import TENSORS
from ..operations import DICTS
from ..session import session
from ..values import Function
from .files import Content, MemoryFile, content_of, new_file, stored
from .publishing import functions

# Types that torch.load takes without asking: what state_dict() and an optimiser's state hold.
TRUSTED = frozenset({
    int, float, bool, complex, str, type(None), list, tuple, dict, OrderedDict, Size, DType,
    Device,
}) | DICTS  # fmt: skip
DEEPEST = 400


class PickleError(Exception):
    _torch_name = "_pickle.PickleError"


class PicklingError(PickleError):
    _torch_name = "_pickle.PicklingError"


class UnpicklingError(PickleError):
    _torch_name = "_pickle.UnpicklingError"


def _content(f: Any, fresh: bool) -> Content:
    if isinstance(f, MemoryFile):
        return f.content
    return new_file(f) if fresh else content_of(f)


def _stored(value: Any, seen: dict[int, Any]) -> Any:
    """A tensor of a graph is saved without it, and still requires grad when it is loaded."""
    if type(value) in TENSORS and value.grad_fn is not None:
        if id(value) not in seen:
            seen[id(value)] = value.detach().clone().requires_grad_(value.requires_grad)
        return seen[id(value)]
    if type(value) is list or type(value) is tuple:
        return type(value)([_stored(item, seen) for item in value])
    if type(value) is dict or type(value) is OrderedDict:
        made = type(value)((key, _stored(item, seen)) for key, item in value.items())
        if hasattr(value, "_metadata"):  # the state of a module, which knows its version
            made._metadata = value._metadata  # type: ignore[attr-defined]
        return made
    return value


def kept_copy(value: Any) -> Any:
    """What a file keeps of a value; a function inside another is none of it."""
    foreign = next(_untrusted(value, 0, code=True), None)
    if type(foreign) is Function:
        name = foreign.code.qualified
        raise AttributeError(f"Can't get local object '{name}'")
    return deeply_copied(_stored(value, {}), asking=False)


def _save(obj: Any, f: Any, *more: Any, **options: Any) -> None:
    copied = kept_copy(obj)
    content = _content(f, True)
    content.saved = copied
    content.size = _size(content.saved)


def _size(value: Any) -> int:
    """About as many bytes as PyTorch's file has."""
    if isinstance(value, Tensor):
        return value.numel() * value.element_size() + 200
    if type(value) in DICTS:
        return sum(_size(item) for item in value.values()) + 400
    if type(value) in (list, tuple):
        return sum(_size(item) for item in value) + 400
    if isinstance(value, Module):
        return _size(list(value.state_dict().values()))
    return 100


def _untrusted(value: Any, depth: int, code: bool = False) -> Any:
    """What is in a value besides tensors and plain data."""
    if depth > DEEPEST:
        raise RecursionError("maximum recursion depth exceeded")
    session.budget.charge(1)
    kind = type(value)
    if kind in DICTS:
        for key, item in value.items():
            yield from _untrusted(key, depth + 1, code)
            yield from _untrusted(item, depth + 1, code)
    elif kind in (list, tuple, Size):
        for item in value:
            yield from _untrusted(item, depth + 1, code)
    elif code:
        if kind is Function and "<locals>" in value.code.qualified:
            yield value
    elif kind not in TRUSTED and kind not in TENSORS:
        yield value


def _load(
    f: Any, map_location: Any = None, pickle_module: Any = None, *,
    weights_only: Any = True, mmap: Any = None, encoding: Any = "utf-8",
) -> Any:  # fmt: skip
    content = _content(f, False)
    if content.saved is None:
        content.saved = stored.values.get(content.text.encode("utf-8", "surrogateescape"))
    if content.saved is None and not content.size:
        raise EOFError("Ran out of input")
    if content.saved is None and content.length:
        raise _foreign(content.text)
    foreign = next(_untrusted(content.saved, 0), None) if weights_only is not False else None
    if foreign is not None:
        raise UnpicklingError(_refusal(foreign))
    loaded = deeply_copied(content.saved)
    return loaded if map_location is None else _moved(loaded, map_location)


def _foreign(text: str) -> Exception:
    """The error for a file that torch.save did not write."""
    if text.startswith("PK\x03\x04"):
        words = "PytorchStreamReader failed reading zip archive: failed finding central directory"
        return RuntimeError(words)
    return UnpicklingError(f"invalid load key, {text[0]!r}.")


def _moved(value: Any, where: Any) -> Any:
    """To a device, where the file had another one."""
    if isinstance(value, Tensor):
        if isinstance(where, (str, Device)):
            device = where
        elif type(where) in DICTS:
            device = where.get(str(value.device), value.device)
        else:
            return call(where, (value, str(value.device)), {}) if where is not None else value
        return value if str(device) == str(value.device) else value.to(device)  # type: ignore[attr-defined]
    if type(value) in DICTS:
        for key, item in list(value.items()):
            value[key] = _moved(item, where)
        return value
    if type(value) in (list, tuple):
        return type(value)([_moved(item, where) for item in value])
    if isinstance(value, Module) and isinstance(where, (str, Device)):
        return value.to(where)
    return value


def _refusal(value: Any) -> str:
    """PyTorch's words for what only weights_only=False loads."""
    kind = type_of(value)
    module = getattr(kind, "module", "") or "__main__"
    name = f"{module}.{kind.name}"
    asked = f"`torch.serialization.add_safe_globals([{kind.name}])`"
    return (
        "Weights only load failed. This file can still be loaded, to do so you have two options, "
        "\x1b[1mdo those steps only if you trust the source of the checkpoint\x1b[0m. \n\t(1) In "
        "PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` "
        "from `False` to `True`. Re-running `torch.load` with `weights_only` set to `False` will "
        "likely succeed, but it can result in arbitrary code execution. Do it only if you got the "
        "file from a trusted source.\n\t(2) Alternatively, to load with `weights_only=True` "
        "please check the recommended steps in the following error message.\n\tWeightsUnpickler "
        f"error: Unsupported global: GLOBAL {name} was not an allowed global by default. Please "
        f"use {asked} or the `torch.serialization.safe_globals([{kind.name}])` context manager to "
        "allowlist this global if you trust this class/function.\n\nCheck the documentation of "
        "torch.load to learn more about types accepted by default with weights_only "
        "https://pytorch.org/docs/stable/generated/torch.load.html."
    )


def _load_script(f: Any, map_location: Any = None, **options: Any) -> Any:
    """torch.jit.load: what was traced or scripted is the module itself here."""
    return _load(f, map_location, weights_only=False)


MODULES = {
    "torch": functions({"save": _save, "load": _load}),
    "torch.jit": functions({"save": _save, "load": _load_script}),
}
