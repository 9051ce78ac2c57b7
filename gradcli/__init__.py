"""gradcli as a library: `import gradcli as torch` runs the same programs from Python.

Names are looked up when they are used, so importing gradcli costs next to nothing.
"""

from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    from .namespace import resolve

    value = resolve(name)
    if hasattr(value, "as_function"):
        value = value.as_function()
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    from .namespace import Space

    return Space("").__dir__()
