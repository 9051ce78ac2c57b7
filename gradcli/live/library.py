"""Live: PyTorch as a module, imported on demand, and how its observers are put aside."""

from __future__ import annotations

import os
import sys
import sysconfig
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from ..numerics.twister import DEFAULT_SEED
from ..opening import DeviceMissing

PYTHONS = sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")
OURS = os.path.dirname(os.path.dirname(__file__))
METADATA = "_input_metadata"  # of a node: what its outputs were, which an old PyTorch does not say
INSTALL = "pip install torch==2.13.0 --index-url https://download.pytorch.org/whl/cpu"


def require_torch(asked: str) -> Any:
    """PyTorch's module; DeviceMissing says how it is installed. `asked` is the option that asks."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch = import_module("torch")
    except ImportError:
        raise DeviceMissing(f"{asked}: PyTorch is not installed", INSTALL) from None
    if not hasattr(torch._C._FunctionBase, METADATA):
        version = torch.__version__.partition("+")[0]
        raise DeviceMissing(f"{asked}: PyTorch {version} is too old; it needs 2.6", INSTALL)
    return torch


def seed_torch() -> None:
    """PyTorch's random numbers start as those of the own engine do."""
    require_torch("--engine torch").manual_seed(DEFAULT_SEED)


class Homes:
    """The modules that are the program's own: those that texts in question are, and others that
    were not installed."""

    def __init__(self) -> None:
        self.texts = {"__main__"}
        self.known: dict[str, bool] = {}  # of other modules

    def __contains__(self, name: str) -> bool:
        if name in self.texts:
            return True
        found = self.known.get(name)
        if found is None:
            file = getattr(sys.modules.get(name), "__file__", None)
            found = self.known[name] = file is not None and not is_installed(file)
        return found


def is_installed(file: str) -> bool:
    """Whether a file is of Python, of a package, or of gradcli: none that a user writes."""
    packages = "site-packages" in file or "dist-packages" in file or file.startswith("<")
    return packages or file.startswith((*PYTHONS, OURS))


@contextmanager
def unobserved(torch: Any) -> Iterator[None]:
    """Within it no mode of a program hears of operations, and no transformation."""
    modes = import_module("torch.utils._python_dispatch")
    no_functions, no_transform = torch._C.DisableTorchFunction(), torch._C._DisableFuncTorch()
    with no_functions, no_transform, modes._disable_current_modes():
        yield
