"""Engine: classes that print themselves as PyTorch's: <class 'torch.Tensor'>."""

from __future__ import annotations

from typing import Any


class Named(type):
    """The type of a class that says where PyTorch keeps it; what is derived from it does not."""

    _called: str | None

    def __new__(
        meta, name: str, bases: tuple[type, ...], body: dict[str, Any], called: str | None = None
    ) -> Named:
        made = super().__new__(meta, name, bases, body)
        made._called = called
        return made

    def __init__(
        cls, name: str, bases: tuple[type, ...], body: dict[str, Any], called: str | None = None
    ) -> None:
        super().__init__(name, bases, body)

    def __repr__(cls) -> str:
        return super().__repr__() if cls._called is None else f"<class '{cls._called}'>"
