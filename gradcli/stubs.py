"""stubs: type stubs of the library face, written from the declarations.

`python -m gradcli.stubs` writes the .pyi files of the package; a test says when they are stale.
"""

from __future__ import annotations

import inspect
import keyword
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from .engine.schema.catalogue import Function
from .engine.schema.signature import REQUIRED, Parameter, Signature
from .namespace import resolve
from .namespace.table import PLACES
from .operators import catalogue

HERE = Path(__file__).parent
HEAD = """\
# Written by `python -m gradcli.stubs` from the declarations of the operators; not by hand.
# mypy: disable-error-code="overload-overlap,overload-cannot-match,override,misc,type-arg"
# ruff: noqa
from builtins import bool as _bool, complex as _complex, float as _float, int as _int
"""
KINDS = {
    "Tensor": "_Tensor", "Tensor[]": "Sequence[_Tensor]", "Scalar": "_Number", "bool": "_bool",
    "int": "_int", "int[]": "_int | Sequence[_int]", "float": "_float",
    "float[]": "Sequence[_float]",
    "str": "str", "ScalarType": "_dtype", "Device": "_device | str", "Layout": "Any",
    "MemoryFormat": "Any", "Generator": "Any", "any": "Any",
}  # fmt: skip
RETURNS = {"Tensor": "Tensor", "Tensor[]": "tuple[Tensor, ...]", "bool": "_bool"}
REST = "*args: Any, **kwargs: Any"
SPACES = ("linalg", "special", "fft")  # namespaces that are objects and no modules
HIDDEN = ("__getitem__", "__setitem__")  # they have Python's own signs


# ---------------------------------------------------------------- operators


def _kind(parameter: Parameter) -> str:
    kind = KINDS.get(parameter.kind, "Any")
    if parameter.number:
        kind += " | _Number"
    optional = parameter.optional or parameter.default is None
    return f"{kind} | None" if optional and kind != "Any" else kind


def _parameters(signature: Signature, method: bool, *, varargs: bool, out: bool) -> str | None:
    """The parameters of one overload; None where a name of one is a word of Python's."""
    texts, named_only = ["self"] if method else [], False
    given = [p for p in signature.parameters if not (method and p.name == "self")]
    if any(keyword.iskeyword(p.python_name) for p in given):
        return None
    for place, parameter in enumerate(given):
        default = "" if parameter.default is REQUIRED else " = ..."
        if varargs and place == 0:
            texts.append(f"*{parameter.python_name}: _int")
            named_only = True
            continue
        if parameter.keyword_only and not named_only:
            texts.append("*")
            named_only = True
        texts.append(f"{parameter.python_name}: {_kind(parameter)}{default}")
    if out and all(p.name != "out" for p in given):
        texts += ["out: Any = ..."] if named_only else ["*", "out: Any = ..."]
    return ", ".join(texts)


def _gathers(signature: Signature, method: bool) -> bool:
    """Whether integers may stand one by one: x.view(2, 3), torch.ones(2, 3)."""
    given = [p for p in signature.parameters if not (method and p.name == "self")]
    return bool(given) and given[0].kind == "int[]" and given[0].size is None and not (
        given[0].keyword_only or any(not p.keyword_only for p in given[1:])
    )  # fmt: skip


class Results:
    """Named tuples that operators return, each written once."""

    def __init__(self) -> None:
        self.fields: dict[str, tuple[str, ...]] = {}

    def of(self, returns: str) -> str:
        if returns in RETURNS:
            return RETURNS[returns]
        parts = [part.split() for part in returns.strip("()").split(",")]
        if any(len(part) < 2 or part[0] != "Tensor" for part in parts):
            return f"tuple[{', '.join('Tensor' if p[0] == 'Tensor' else 'Any' for p in parts)}]"
        names = tuple(part[1] for part in parts)
        self.fields["_" + "_".join(names)] = names
        return "_" + "_".join(names)

    def written(self) -> Iterator[str]:
        for name, fields in sorted(self.fields.items()):
            yield f"class {name}(NamedTuple):"
            yield from (f"    {field}: Tensor" for field in fields)


def _function(name: str, function: Function, results: Results, head: str = "") -> Iterator[str]:
    """The declarations of one operator under one name, an overload each."""
    from .engine.schema.call_errors import takes_out

    out = takes_out(function.path, function.method)
    written: dict[str, tuple[str, str]] = {}
    for overload in function.overloads:
        signature: Signature = overload.signature
        returns = results.of(signature.text.rpartition("->")[2].strip() or "Tensor")
        if name.endswith("_") and not name.startswith("_"):
            returns = "Tensor"
        for varargs in (False, True) if _gathers(signature, function.method) else (False,):
            given = _parameters(signature, function.method, varargs=varargs, out=out)
            given = given or (f"self, {REST}" if function.method else REST)
            written.setdefault(given, (returns, overload.doc))
    several = len(written) > 1
    for given, (returns, doc) in written.items():
        if several:
            yield f"{head}@overload"
        if not function.method and head:
            yield f"{head}@staticmethod"
        body = _quoted(doc) if doc else "..."
        yield f"{head}def {name}({given}) -> {returns}: {body}"


def _quoted(doc: str) -> str:
    plain = " ".join(doc.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"""{plain}"""'


# ---------------------------------------------------------------- Python's own functions


def _annotation(value: Any) -> str:
    """What a stub says of an annotation of ours: plain types, and Any for the rest."""
    text = value if isinstance(value, str) else getattr(value, "__name__", "Any")
    plain = {"int", "float", "bool", "str", "None", "int | None", "float | None", "bool | None",
             "str | None", "Tensor", "Tensor | None", "Module"}  # fmt: skip
    return re.sub(r"\b(int|float|bool)\b", r"_\1", text) if text in plain else "Any"


def _python(name: str, function: Any, head: str = "", drop: int = 0) -> str:
    """A function or method that is written in Python."""
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return f"{head}def {name}({REST}) -> Any: ..."
    texts, starred = [], False
    for place, one in enumerate(list(found.parameters.values())[drop:]):
        if one.kind is one.VAR_POSITIONAL or one.kind is one.VAR_KEYWORD:
            stars = "*" if one.kind is one.VAR_POSITIONAL else "**"
            texts.append(f"{stars}{one.name}: Any")
            starred = starred or one.kind is one.VAR_POSITIONAL
            continue
        if one.kind is one.KEYWORD_ONLY and not starred:
            texts.append("*")
            starred = True
        if head and not drop and not place and one.name == "self":
            texts.append("self")
            continue
        default = "" if one.default is one.empty else " = ..."
        texts.append(f"{one.name}: {_annotation(one.annotation)}{default}")
    returns = "Any" if found.return_annotation is found.empty else _annotation(
        found.return_annotation
    )  # fmt: skip
    return f"{head}def {name}({', '.join(texts)}) -> {returns}: ..."


def _members(kind: type, known: set[str]) -> Iterator[str]:
    """The public methods and properties that a class has in Python's own words."""
    for owner in reversed(kind.__mro__):
        if not owner.__module__.startswith("gradcli."):
            continue
        for name, value in vars(owner).items():
            public = not name.startswith("_") or name in SPECIAL
            if not public or name in known:
                continue
            known.add(name)
            if isinstance(value, bool):
                yield f"    {name}: _bool"
            elif isinstance(value, property):
                yield f"    {name}: Any"
            elif inspect.isfunction(value):
                yield _python(name, value, "    ")


SPECIAL = {"__init__", "__call__", "__enter__", "__exit__", "__len__", "__iter__"}


def _tensor(results: Results) -> Iterator[str]:
    """class Tensor: Python's signs, its properties, the methods of the catalogue."""
    yield "class Tensor(_Tensor):"
    yield "    shape: Size\n    dtype: _dtype\n    device: _device"
    yield "    ndim: _int\n    requires_grad: _bool\n    is_leaf: _bool\n    retains_grad: _bool"
    yield "    grad: Tensor | None\n    data: Tensor\n    grad_fn: Any"
    yield f"    def __init__(self, {REST}) -> None: ..."
    for name in "add sub mul truediv pow floordiv mod and or xor lshift rshift".split():
        for word in (name, f"r{name}"):
            yield f"    def __{word}__(self, other: _Tensor | _Number) -> Tensor: ..."
    yield "    def __matmul__(self, other: _Tensor) -> Tensor: ..."
    for name in ("neg", "pos", "abs", "invert"):
        yield f"    def __{name}__(self) -> Tensor: ..."
    for name in ("lt", "le", "gt", "ge"):
        yield f"    def __{name}__(self, other: _Tensor | _Number) -> Tensor: ..."
    for name in ("eq", "ne"):
        yield f"    def __{name}__(self, other: object) -> Tensor: ..."
    yield "    def __hash__(self) -> _int: ..."
    yield "    def __getitem__(self, index: Any) -> Tensor: ..."
    yield "    def __setitem__(self, index: Any, value: Any) -> None: ..."
    yield "    def __iter__(self) -> Iterator[Tensor]: ..."
    for name, kind in (("float", "float"), ("int", "int"), ("bool", "bool"), ("len", "int")):
        yield f"    def __{name}__(self) -> _{kind}: ..."
    known = {"shape", "dtype", "device", "ndim", "requires_grad", "is_leaf", "retains_grad", "grad",
             "data", "grad_fn", "__init__", "__len__", "__iter__", *HIDDEN}  # fmt: skip
    for name, function in sorted(catalogue.methods.items()):
        if name not in known and name.isidentifier() and not keyword.iskeyword(name):
            known.add(name)
            yield from _function(name, function, results, "    ")
    for name in sorted(catalogue.properties):
        if name not in known:
            known.add(name)
            yield f"    {name}: Tensor"
    from .engine.tensors.tensor import Tensor

    yield from _members(Tensor, known)


# ---------------------------------------------------------------- the files


def _face() -> Iterator[str]:
    """gradcli/__init__.pyi: `import gradcli as torch`."""
    results = Results()
    body = [*_tensor(results)]
    yield "from collections.abc import Iterator, Sequence"
    yield "from typing import Any, NamedTuple, overload\n"
    yield "from . import autograd as autograd, func as func, nn as nn, optim as optim"
    yield "from . import utils as utils"
    yield "from .engine.tensors.tensor import Tensor as _Tensor"
    yield "from .engine.memory.device import Device as _device"
    yield "from .engine.schema.dtypes import DType as _dtype"
    yield "from .engine.schema.size import Size as Size\n"
    yield "_Number = _int | _float | _bool | _complex"
    yield "__version__: str"
    yield "device = _device\ndtype = _dtype"
    flat = {name: f for name, f in sorted(catalogue.functions.items()) if "." not in name}
    for name, function in flat.items():
        if name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_"):
            body += _function(name, function, results)
    for space in SPACES:
        body.append(f"class {space}:")
        for name, function in sorted(catalogue.functions.items()):
            head, _, last = name.rpartition(".")
            if head == space:
                body += _function(last, function, results, "    ")
        body.append("    LinAlgError: type[RuntimeError]" if space == "linalg" else "")
    from .engine.schema.dtypes import BY_NAME

    body += [f"{name}: _dtype" for name in sorted(BY_NAME) if name.isidentifier()]
    body += ["pi: _float", "e: _float", "inf: _float", "nan: _float", "newaxis: None"]
    body += _plain(PLACES, {*flat, *BY_NAME, "Tensor", "Size", "device", "dtype"})
    body.append("def __getattr__(name: str) -> Any: ...")
    yield from results.written()
    yield from (line for line in body if line)


def _plain(names: Iterable[str], known: set[str]) -> Iterator[str]:
    """What the face has beside operators: functions and classes that are written in Python."""
    for name in sorted(names):
        if "." in name or name in known:
            continue
        value = resolve(name)
        if inspect.isclass(value):
            yield from _class(name, value, "")
        elif inspect.isfunction(value):
            yield _python(name, value)
        else:
            yield f"{name}: Any"


def _constructor(kind: type) -> Any:
    """What takes the arguments of a call; Python's releases differ in which they look at first."""
    for base in kind.__mro__:
        for name in ("__init__", "__new__"):
            if name in vars(base):
                return getattr(base, name)
    raise AssertionError("object has both")


def _class(name: str, kind: type, base: str) -> Iterator[str]:
    yield f"class {name}{f'({base})' if base else ''}:"
    init = _python("__init__", _constructor(kind), "    ", drop=1)
    given = init.removeprefix("    def __init__(").rpartition(")")[0]
    yield f"    def __init__({', '.join(['self', *([given] if given else [])])}) -> None: ..."
    if hasattr(kind, "__enter__"):
        yield "    def __enter__(self) -> Any: ..."
        yield "    def __exit__(self, *args: Any) -> None: ..."
    if "__call__" in vars(kind) and not base:
        yield f"    def __call__(self, {REST}) -> Any: ..."
    yield "    def __getattr__(self, name: str) -> Any: ..."


def _modules() -> Iterator[str]:
    """gradcli/nn/__init__.pyi: the layers, with the arguments that they take."""
    yield "from typing import Any\n"
    yield "from gradcli import Tensor"
    yield "from . import functional as functional, init as init, utils as utils"
    yield "from .module import Module as Module\n"
    yield "class Parameter(Tensor):"
    yield "    def __init__(self, data: Any = ..., requires_grad: _bool = ...) -> None: ..."
    yield from _classes(import_module("gradcli.nn"), {"Module", "Parameter"})


def _optimizers() -> Iterator[str]:
    yield "from typing import Any\n"
    yield "from . import lr_scheduler as lr_scheduler"
    yield "from .optimizer import Optimizer as Optimizer\n"
    yield from _classes(import_module("gradcli.optim"), {"Optimizer"})


def _classes(package: Any, known: set[str]) -> Iterator[str]:
    """The classes of a package, those that others are derived from first."""
    kinds = {name: getattr(package, name) for name in package.__all__ if name not in known}
    for name, kind in sorted(kinds.items(), key=lambda item: (len(item[1].__mro__), item[0])):
        bases = [b.__name__ for b in kind.__mro__[1:] if b.__name__ in kinds or b.__name__ in known]
        yield from _class(name, kind, bases[0] if bases else "")


def _functional() -> Iterator[str]:
    """gradcli/nn/functional.pyi"""
    results = Results()
    body: list[str] = []
    for path, function in sorted(catalogue.functions.items()):
        space, _, name = path.rpartition(".")
        if space == "nn.functional" and name.isidentifier() and not name.startswith("_"):
            body += _function(name, function, results)
    yield "from collections.abc import Sequence"
    yield "from typing import Any, NamedTuple, overload\n"
    yield "from gradcli import Tensor"
    yield "from gradcli.engine.memory.device import Device as _device"
    yield "from gradcli.engine.schema.dtypes import DType as _dtype"
    yield "from gradcli.engine.tensors.tensor import Tensor as _Tensor\n"
    yield "_Number = _int | _float | _bool | _complex"
    yield from results.written()
    yield from body
    yield "def __getattr__(name: str) -> Any: ..."


FILES: Mapping[str, Callable[[], Iterator[str]]] = {
    "__init__.pyi": _face,
    "nn/__init__.pyi": _modules,
    "nn/functional.pyi": _functional,
    "optim/__init__.pyi": _optimizers,
}


def written() -> dict[str, str]:
    """The text of every stub file, by its path in the package."""
    import_module("gradcli.namespace").resolve("Tensor")
    return {path: HEAD + "\n".join(lines()) + "\n" for path, lines in FILES.items()}


if __name__ == "__main__":
    for path, text in written().items():
        (HERE / path).write_text(text, encoding="utf-8")
        sys.stdout.write(f"gradcli/{path}\n")
