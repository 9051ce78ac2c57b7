"""Library: torch.nn.functional: every name comes from the catalogue of operators."""

from __future__ import annotations

from typing import Any

from ..operators import catalogue
from . import _reduction as _Reduction  # noqa: F401  # losses of other libraries ask it


def __getattr__(name: str) -> Any:
    try:
        function = catalogue.functions["nn.functional." + name]
    except KeyError:
        raise AttributeError(f"module 'torch.nn.functional' has no attribute '{name}'") from None
    globals()[name] = function  # the next look-up comes no more through here
    return function
