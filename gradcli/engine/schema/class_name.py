"""Engine: classes that print themselves as PyTorch's: <class 'torch.Tensor'>."""

from __future__ import annotations

from abc import ABCMeta
from typing import Any

_NAME = type.__dict__["__name__"]


class Named(type):
    """The type of a class whose `_torch_name` says where PyTorch keeps it.

    A class that is derived from it has a name of its own.
    """

    def __repr__(cls) -> str:
        called = cls.__dict__.get("_torch_name")
        return super().__repr__() if called is None else f"<class '{called}'>"


class NamedInTorch(Named, ABCMeta):
    """The type of a class that PyTorch keeps in a module of its own: `module_names` knows which.

    A program may derive abstract classes from it, as from PyTorch's.
    """

    __instancecheck__ = type.__instancecheck__  # abstract classes look further, and take longer
    __subclasscheck__ = type.__subclasscheck__

    def __repr__(cls) -> str:
        room = cls.__module__
        if "_torch_name" in cls.__dict__ or not room.startswith("gradcli."):
            return super().__repr__()
        from .module_names import torch_module_of

        module = torch_module_of(room.removeprefix("gradcli."), cls.__name__)
        return f"<class '{module}.{cls.__name__}'>"


class NamedInC(Named):
    """The type of a class that PyTorch writes in C.

    Python's own messages show the whole name of such a class ("unsupported operand type(s) for +:
    'torch.device' and 'int'"), and its `__name__` is the last part.
    """

    def __init__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> None:
        super().__init__(name, bases, body)
        _NAME.__set__(cls, body.get("_torch_name", name))

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        return name_in_messages(cls).rpartition(".")[2]


def name_in_messages(kind: type) -> str:
    """The name of a class in Python's own messages: whole for a class that is written in C."""
    name: str = _NAME.__get__(kind)
    return name
