"""gradcli as a library: `import gradcli as torch` runs the same programs from Python.

Names are looked up when they are used, so importing gradcli costs next to nothing.
"""

from __future__ import annotations

from os.path import exists
from sys import meta_path

TYPE_CHECKING = False  # without the module typing, which takes longer than the rest of this
if TYPE_CHECKING:
    from typing import Any

OURS, PYTORCH = "0.1.0", "2.13.0"


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext gradcli`: a cell below `%%grad` runs under a recording."""
    from importlib import import_module

    import_module("gradcli.inspect").load(shell)


def __getattr__(name: str) -> Any:
    if name == "testing":  # a file of gradcli's that has PyTorch's names too
        from importlib import import_module

        return import_module("gradcli.testing")
    if name == "__version__":
        return _version()
    # `from . import namespace` asks here first: PyTorch's names need not be loaded to say no.
    if name.startswith("__") or name == "namespace" or exists(f"{__path__[0]}/{name}.py"):
        raise AttributeError(name)
    from .namespace import resolve

    value = resolve(name)
    from .signatures import describe_methods, described

    describe_methods()
    if hasattr(value, "as_function"):
        value = described(value.as_function(), value)
    globals()[name] = value
    return value


def _version() -> str:
    """`gradcli.__version__` is ours. For code that calls this module `torch`, as `import gradcli as
    torch` does, it is the version of PyTorch that the module behaves like."""
    import sys

    code, own = sys._getframe(2), sys.modules[__name__]  # whoever asked `__getattr__`
    names = {**code.f_globals, **code.f_locals}
    return PYTORCH if names.get("torch") is own and names.get("gradcli") is not own else OURS


class _Modules:
    """Finds what is a module in PyTorch and a name here: `import gradcli.linalg as L`."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        if not name.startswith("gradcli."):
            return None
        from importlib.machinery import ModuleSpec

        from .namespace import is_space

        found = is_space(name.removeprefix("gradcli."))
        return ModuleSpec(name, _Modules, is_package=True) if found else None  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: Any) -> Any:
        from .namespace import Space

        return Space(spec.name.removeprefix("gradcli."))

    @staticmethod
    def exec_module(module: Any) -> None:
        """There is nothing to run."""


meta_path.append(_Modules)  # type: ignore[arg-type]  # asked last


def __dir__() -> list[str]:
    from .namespace import Space

    return Space("").__dir__()
