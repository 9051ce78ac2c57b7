"""Utils: torch.utils.data: the base of data sets and samplers."""

from __future__ import annotations

from collections.abc import Mapping

from ...engine.schema.class_name import NamedInTorch
from ...engine.schema.settable import Takes


class Extensible(metaclass=NamedInTorch):
    """A class that a program's own classes may derive from."""

    EXTENSIBLE = True
    TAKES: Mapping[str, Takes] = {"*": Takes.VALUE}
    PUBLIC: tuple[str, ...] = ("__len__", "__getitem__", "__iter__")

    def __init__(self) -> None:
        """Nothing to keep; programs call it all the same."""
