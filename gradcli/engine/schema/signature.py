"""Engine: PyTorch's schema language, and how the arguments of a call are bound by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from .carriers import RUNTIME
from .class_name import name_in_messages
from .dtypes import BY_NAME, DType
from .errors import declared
from .mode import state
from .numpy_wrappers import WrappedNumber

REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "required"})()


MANY, PER_ITEM = 64, 16  # items of a list that cost nothing more; steps for each of a longer one


# What functions written in Python only ask for its truth: `if inplace:`.
TRUTHS = frozenset("hard inplace return_indices size_average sym".split())


class Parameter:
    """One argument of a schema: `int[1]? dim=None` is kind "int[]", size 1, optional."""

    __slots__ = ("name", "kind", "size", "optional", "default", "keyword_only", "number")

    def __init__(self, text: str, keyword_only: bool) -> None:
        declared, _, default = text.partition("=")
        kind, _, name = declared.strip().rpartition(" ")
        self.name, self.keyword_only = name, keyword_only
        self.optional = kind.endswith("?")
        kind = kind.removesuffix("?")
        base, bracket, size = kind.partition("[")
        size = size.removesuffix("]")
        self.size = int(size) if size else None
        self.kind = base + "[]" if bracket else base
        if kind == "bool" and name in TRUTHS:
            self.kind = "truth"
        self.default = _default(default.strip()) if default else REQUIRED
        self.number = False  # set by the row: a Python number may stand for this tensor

    @property
    def is_tensor(self) -> bool:
        return self.kind in ("Tensor", "Tensor[]")

    @property
    def python_name(self) -> str:
        """What a call says that names its first argument."""
        return "input" if self.name == "self" and self.is_tensor else self.name


def _default(text: str) -> Any:
    constants = {"None": None, "True": True, "False": False, "inf": float("inf")}
    if text in constants:
        return constants[text]
    if text.startswith(("'", '"')):
        return text[1:-1]
    if text.startswith("["):
        inner = text[1:-1].strip()
        return tuple(_default(item.strip()) for item in inner.split(",")) if inner else ()
    if text in BY_NAME:
        return BY_NAME[text]
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


class Signature:
    """A schema, `name.overload(type name=default, *, ...) -> returns`, parsed when it is needed.

    `numbers` are the tensor parameters that take a Python number too; `extra` are more
    keyword-only ones.
    """

    def __init__(self, text: str, numbers: Sequence[str] = (), extra: Sequence[str] = ()) -> None:
        self.text, self._numbers, self._extra = text, numbers, extra
        self.name, _, self.overload = text[: text.index("(")].partition(".")
        self._defaults: dict[int, tuple[Any, ...] | None] = {}  # by the number of arguments before

    def __repr__(self) -> str:
        return self.text

    @cached_property
    def _halves(self) -> tuple[str, str]:
        rest = self.text[self.text.index("(") + 1 :]
        inside, _, returns = rest.rpartition("->") if "->" in rest else (rest, "", "Tensor")
        return inside.strip().removesuffix(")"), returns.strip()

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        keyword_only, parameters = False, []
        for part in _split(self._halves[0]):
            if part == "*":
                keyword_only = True
            else:
                parameters.append(Parameter(part, keyword_only))
        for name in self._numbers:
            next(p for p in parameters if p.name == name).number = True
        known = {p.name for p in parameters}
        more = [Parameter(text, True) for text in self._extra]
        return (*parameters, *(p for p in more if p.name not in known))

    @cached_property
    def declared(self) -> int:
        """How many parameters the text itself names."""
        return sum(part != "*" for part in _split(self._halves[0]))

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.parameters)

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        return _outputs(self._halves[1])

    def bind(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], method: bool = True
    ) -> list[Any] | None:
        """The values of all parameters in order, or None when the call does not fit."""
        if len(args) > self._positional:
            gathered = self._gathered(args, method)
            if gathered is None:
                return None
            args = gathered
        tensor = RUNTIME.tensor
        values: list[Any] = []
        for parameter, value in zip(self.parameters, args):
            if kwargs and parameter.name in kwargs:
                return None
            given, kind = value.__class__, parameter.kind
            if not ((given is tensor and kind == "Tensor") or (given is int and kind == "int")):
                fits, value = _fitted(parameter, value)
                if not fits:
                    gathered = self._gathered(args, method) if kind == "int[]" else None
                    return None if gathered is None else self.bind(gathered, kwargs, method)
            values.append(value)
        if kwargs or not args:
            if not self._add_named(values, kwargs):
                return None
        elif (rest := self._behind(len(values))) is None:
            return None
        else:
            values += rest
        if self._only_numbers and not any(map(is_tensor, values)):
            return None
        return values

    def _add_named(self, values: list[Any], kwargs: Mapping[str, Any]) -> bool:
        """Adds what is given by name, and defaults; does the call fit?"""
        used = 0
        for place in range(len(values), len(self.parameters)):
            parameter = self.parameters[place]
            if (key := parameter.python_name if place == 0 else parameter.name) in kwargs:
                value = kwargs[key]
            elif (other := _NUMPY_NAMES.get(parameter.name)) and other in kwargs:
                value = kwargs[other]
            elif parameter.default is not REQUIRED:
                values.append(parameter.default)
                continue
            elif parameter.kind == "Tensor[]" and place == 0 and self.name in _VARIADIC:
                values.append([])
                continue
            else:
                return False
            used += 1
            fits, value = _fitted(parameter, value)
            if not fits:
                return False
            values.append(value)
        return used == len(kwargs)

    def _behind(self, count: int) -> tuple[Any, ...] | None:
        """The defaults of what follows so many arguments, where all of it has one."""
        if count not in self._defaults:
            defaults = tuple(p.default for p in self.parameters[count:])
            self._defaults[count] = None if REQUIRED in defaults else defaults
        return self._defaults[count]

    @cached_property
    def _only_numbers(self) -> bool:
        """May a number stand for each of its tensors? Not for all at once."""
        tensors = [p for p in self.parameters if p.kind in ("Tensor", "Tensor[]", "Scalar")]
        return bool(self._numbers) and all(p.number for p in tensors)

    @property
    def least(self) -> int:
        """How many arguments a call gives at least."""
        return sum(p.default is REQUIRED for p in self.parameters)

    @cached_property
    def _positional(self) -> int:
        return sum(not p.keyword_only for p in self.parameters)

    def _gathered(self, args: Sequence[Any], method: bool) -> Sequence[Any] | None:
        """`x.view(2, 3)`: trailing integers become the one int[] that may take them."""
        for place, parameter in enumerate(self.parameters):
            if parameter.kind == "int[]" and parameter.size is None and not parameter.keyword_only:
                rest = args[place:]
                charge_many(rest)
                alone = self._positional == place + 1
                if place and not (method and alone):  # torch.permute(x, 0, 1) is none
                    return None
                return [*args[:place], tuple(rest)] if rest and _are_ints(rest) else None
            if parameter.kind == "Tensor[]" and self.name in _VARIADIC:
                rest = args[place:]
                charge_many(rest)
                if rest and all(is_tensor(value) for value in rest):
                    return [*args[:place], list(rest)]
                return None
            if place >= 1:
                return None
        return None


# Functions that PyTorch writes with *tensors.
_VARIADIC = frozenset(
    "atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod chain_matmul "
    "einsum meshgrid".split()
)
_NUMPY_NAMES = {"dim": "axis", "keepdim": "keepdims", "self": "x", "other": "x2"}


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def _outputs(text: str) -> tuple[str, ...]:
    if not text.startswith("("):
        return ("result",)
    names = []
    for place, part in enumerate(_split(text[1:-1])):
        _, _, name = part.rpartition(" ")
        names.append(name if " " in part else f"result{place}")
    return tuple(names)


def is_tensor(value: Any) -> bool:
    return value.__class__ is RUNTIME.tensor


def is_int(value: Any) -> bool:
    if value.__class__ is int:
        return True
    if value.__class__ is RUNTIME.tensor:
        return bool(value.ndim == 0 and value.dtype.category == 1)
    return hasattr(value, "__index__") and not isinstance(value, bool)


def charge_many(values: Sequence[Any]) -> None:
    """Each item of a long list is looked at several times, and is an operand of its own."""
    if len(values) > MANY:
        state.charge(len(values) * PER_ITEM)


INTEGERS = {int}


def _are_ints(values: Sequence[Any]) -> bool:
    """PyTorch looks at the first; behind it True and False pass as 1 and 0."""
    return all(
        is_int(value) or (place > 0 and value.__class__ is bool)
        for place, value in enumerate(values)
    )


def _as_int(value: Any) -> int:
    return int(value.item()) if is_tensor(value) else int(value.__index__())


def _fitted(parameter: Parameter, value: Any) -> tuple[bool, Any]:
    """The same of what may also stand for a number or for a list."""
    fits, value = coerce(parameter, value)
    if not fits and (plain := state.plain(value)) is not value:
        return coerce(parameter, plain)
    return fits, value


def coerce(parameter: Parameter, value: Any) -> tuple[bool, Any]:
    """(does it fit, the value as the operator takes it)"""
    kind = parameter.kind
    if value is None:
        return parameter.optional or kind in ("any", "truth"), None
    if isinstance(value, WrappedNumber):
        value = value.item()
    if kind == "Tensor":
        if is_tensor(value):
            return True, value
        return parameter.number and is_number(value), value
    if kind == "int":
        if value.__class__ is int:
            return True, value
        return (True, _as_int(value)) if is_int(value) else (False, value)
    if kind == "Scalar":
        if is_number(value):
            return True, value
        if is_tensor(value) and value.ndim == 0 and not value.requires_grad:
            return True, value.item()
        return False, value
    if kind == "float":
        if value.__class__ is float:
            return True, value
        if is_number(value) and not isinstance(value, complex):
            return True, float(value)
        if is_tensor(value) and value.ndim == 0 and not value.requires_grad:
            return True, float(value.item())
        return False, value
    if kind == "bool":
        return value.__class__ is bool, value
    if kind == "int[]":
        if isinstance(value, tuple | list):
            charge_many(value)
            if set(map(type, value)) == INTEGERS:
                return True, tuple(value)
            if _are_ints(value):
                return True, tuple(_as_int(item) for item in value)
            return False, value
        if parameter.size is not None and is_int(value):
            return True, (_as_int(value),) * parameter.size
        return False, value
    return COERCIONS[kind](value)


def is_number(value: Any) -> bool:
    kind = value.__class__
    if kind is float or kind is int or kind is bool or kind is complex:
        return True
    return isinstance(value, WrappedNumber) or (
        getattr(kind, "__module__", "") == "numpy"
        and getattr(value, "shape", None) == ()
        and not hasattr(value, "__setitem__")
    )


def _tensors(value: Any) -> tuple[bool, Any]:
    if not isinstance(value, tuple | list):
        return False, value
    charge_many(value)
    return (True, list(value)) if all(map(is_tensor, value)) else (False, value)


def _floats(value: Any) -> tuple[bool, Any]:
    if isinstance(value, tuple | list) and all(is_number(item) for item in value):
        return True, tuple(float(item) for item in value)
    return (True, (float(value),)) if is_number(value) else (False, value)


def python_dtype(value: Any) -> Any:
    """The DType that one of Python's classes stands for, or None."""
    host = value if isinstance(value, type) else declared(value, "host")
    word = _PYTHON.get(host) if isinstance(host, type) else None
    return None if word is None else BY_NAME[word]


_PYTHON = {float: "float64", int: "int64", bool: "bool", complex: "complex128"}


def _dtype(value: Any) -> tuple[bool, Any]:
    if isinstance(value, DType):
        return True, value
    found = python_dtype(value)
    return found is not None, value if found is None else found


COERCIONS: dict[str, Callable[[Any], tuple[bool, Any]]] = {
    "Tensor[]": _tensors,
    "float[]": _floats,
    "bool[]": lambda value: (isinstance(value, tuple | list), value),
    "str": lambda value: (isinstance(value, str), value),
    "MemoryFormat": lambda value: (name_in_messages(type(value)) == "torch.memory_format", value),
    "ScalarType": _dtype,
    "Generator": lambda value: (name_in_messages(type(value)) == "torch._C.Generator", value),
    "Layout": lambda value: (True, value),
    "any": lambda value: (True, value),
    "truth": lambda value: (True, bool(value)),
}
