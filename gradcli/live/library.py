"""Live: PyTorch as a module, imported on demand, and how its observers are put aside."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from ..opening import DeviceMissing

INSTALL = "pip install torch==2.13.0 --index-url https://download.pytorch.org/whl/cpu"


def require_torch(asked: str) -> Any:
    """PyTorch's module; DeviceMissing says how it is installed. `asked` is the option that asks."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return import_module("torch")
    except ImportError:
        raise DeviceMissing(f"{asked}: PyTorch is not installed", INSTALL) from None


@contextmanager
def unobserved(torch: Any) -> Iterator[None]:
    """Within it no mode of a program hears of operations."""
    modes = import_module("torch.utils._python_dispatch")
    with torch._C.DisableTorchFunction(), modes._disable_current_modes():
        yield
