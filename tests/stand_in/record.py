"""Stand-in for CuPy: writes down which names the real CuPy has, and what they take.

    python tests/stand_in/record.py            where CuPy is installed; it needs no GPU
    python tests/stand_in/record.py --check    says what is no longer so

Of each module: the element types of every ufunc, the parameters of every function.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

# The stand-in lies beside this file, which is where Python looks first.
sys.path[:] = [folder for folder in sys.path if Path(folder) != Path(__file__).parent]
import cupy  # noqa: E402

MODULES = (
    "cupy", "cupy.linalg", "cupy.fft", "cupy.lib.stride_tricks", "cupyx", "cupyx.scipy.special"
)  # fmt: skip
RECORD = Path(__file__).parent / "names.json"


def parameters(function: Any) -> str:
    """The parameters of a function, defaults as they are written, annotations left out."""
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return of_text(function.__doc__ or "")
    plain = [
        p.replace(annotation=p.empty, default=p.default if _written(p.default) else None)
        for p in found.parameters.values()
    ]
    return str(found.replace(parameters=plain, return_annotation=found.empty))


def _written(default: Any) -> bool:
    return isinstance(default, int | float | str | tuple) or default is inspect.Parameter.empty


def of_text(text: str) -> str:
    """The same from the first line of a compiled function's documentation."""
    match = re.match(r"[\w.]+\((.*)\)( ->.*)?$", text.partition("\n")[0])
    if match is None:
        return "(*args, **kwargs)"
    given = [re.sub(r"^(int|_ndarray_base|Py_ssize_t) ", "", p) for p in match[1].split(", ")]
    return f"({', '.join(p for p in given if p != 'self')})"


def names_of(module: ModuleType) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {"ufuncs": {}, "functions": {}}
    for name in sorted(dir(module)):
        value = getattr(module, name)
        if name.startswith("_") or isinstance(value, ModuleType | type):
            continue
        if isinstance(value, cupy.ufunc):
            found["ufuncs"][name] = list(value.types)
        elif callable(value):
            found["functions"][name] = parameters(value)
    return found


def array_methods() -> dict[str, Any]:
    methods, attributes = {}, []
    for name in sorted(dir(cupy.ndarray)):
        value = getattr(cupy.ndarray, name)
        if name.startswith("_"):
            continue
        if callable(value):
            methods[name] = of_text(value.__doc__ or "")
        else:
            attributes.append(name)
    return {"methods": methods, "attributes": attributes}


def of_cupy() -> dict[str, Any]:
    record: dict[str, Any] = {"version": cupy.__version__, "ndarray": array_methods()}
    for name in MODULES:
        record[name] = names_of(importlib.import_module(name))
    return record


def gone(written: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """What was written down and is no longer so; what is new does no harm."""
    for module, kinds in written.items():
        for kind, known in kinds.items() if module != "version" else ():
            for name in known:
                found = now[module][kind]
                if name not in found:
                    yield f"{module}.{name} is gone"
                elif kind == "ufuncs" and not set(known[name]) <= set(found[name]):
                    yield f"{module}.{name} takes fewer types"


def main() -> int:
    record = of_cupy()
    if sys.argv[1:] == ["--check"]:
        differences = list(gone(json.loads(RECORD.read_text()), record))
        print("\n".join(differences), end="\n" if differences else "")
        return 1 if differences else 0
    RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
