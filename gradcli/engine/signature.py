"""Engine: PyTorch's schema language: a call's arguments, and the words when they don't fit."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from .dtypes import BY_NAME, DType

REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "required"})()

_PYTHON_WORD = {  # how PyTorch's error texts name a schema type
    "Tensor": "Tensor", "Tensor[]": "tuple of Tensors", "Scalar": "Number", "int": "int",
    "float": "float", "bool": "bool", "str": "str", "int[]": "tuple of ints",
    "float[]": "tuple of floats", "ScalarType": "torch.dtype", "Device": "torch.device",
    "Generator": "torch.Generator", "Layout": "torch.layout", "any": "any",
    "bool[]": "tuple of bools",
}  # fmt: skip


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
        self.default = _default(default.strip()) if default else REQUIRED
        self.number = False  # set by the row: a Python number may stand for this tensor

    @property
    def is_tensor(self) -> bool:
        return self.kind in ("Tensor", "Tensor[]")


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

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any] | None:
        """The values of all parameters in order, or None when the call does not fit."""
        parameters = self.parameters
        if len(args) > len(parameters) or len(args) > self._positional():
            gathered = self._gathered(args)
            if gathered is None:
                return None
            args = gathered
        values: list[Any] = []
        used = 0
        for place, parameter in enumerate(parameters):
            if place < len(args):
                value = args[place]
                if parameter.name in kwargs:
                    return None
            elif kwargs and parameter.name in kwargs:
                value = kwargs[parameter.name]
                used += 1
            elif kwargs and place == 0 and parameter.name == "self" and "input" in kwargs:
                value = kwargs["input"]
                used += 1
            elif kwargs and (other := _NUMPY_NAMES.get(parameter.name)) and other in kwargs:
                value = kwargs[other]
                used += 1
            elif parameter.default is not REQUIRED:
                values.append(parameter.default)
                continue
            else:
                return None
            fits, value = coerce(parameter, value)
            if not fits:
                if place >= len(args) or parameter.kind != "int[]":
                    return None
                gathered = self._gathered(args)
                return self.bind(gathered, kwargs) if gathered is not None else None
            values.append(value)
        return values if used == len(kwargs) else None

    @property
    def least(self) -> int:
        """How many arguments a call gives at least."""
        return sum(p.default is REQUIRED for p in self.parameters)

    def _positional(self) -> int:
        return sum(not p.keyword_only for p in self.parameters)

    def _gathered(self, args: Sequence[Any]) -> Sequence[Any] | None:
        """`x.view(2, 3)`: trailing integers become the one int[] that may take them."""
        for place, parameter in enumerate(self.parameters):
            if parameter.kind == "int[]" and parameter.size is None and not parameter.keyword_only:
                rest = args[place:]
                if rest and all(_is_int(value) for value in rest):
                    return [*args[:place], tuple(rest)]
                return None
            if parameter.kind == "Tensor[]" and not parameter.keyword_only:
                rest = args[place:]
                if rest and all(_is_tensor(value) for value in rest):
                    return [*args[:place], list(rest)]
                return None
            if place >= 1:
                return None
        return None


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


@functools.cache
def _tensor_class() -> Any:
    from .tensor import Tensor

    return Tensor


def _is_tensor(value: Any) -> bool:
    return value.__class__ is _tensor_class()


def _is_int(value: Any) -> bool:
    if value.__class__ is int:
        return True
    if value.__class__ is _tensor_class():
        return bool(value.ndim == 0 and value.dtype.category == 1)
    return hasattr(value, "__index__") and not isinstance(value, bool)


def _as_int(value: Any) -> int:
    return int(value.item()) if _is_tensor(value) else int(value.__index__())


def coerce(parameter: Parameter, value: Any) -> tuple[bool, Any]:
    """(does it fit, the value as the operator takes it)"""
    kind = parameter.kind
    if value is None:
        return parameter.optional or kind == "any", None
    if kind == "Tensor":
        if _is_tensor(value):
            return True, value
        return parameter.number and _is_number(value), value
    if kind == "int":
        if value.__class__ is int:
            return True, value
        return (True, _as_int(value)) if _is_int(value) else (False, value)
    if kind == "Scalar":
        if _is_number(value):
            return True, value
        if _is_tensor(value) and value.ndim == 0 and not value.requires_grad:
            return True, value.item()
        return False, value
    if kind == "float":
        if value.__class__ is float:
            return True, value
        if _is_number(value) and not isinstance(value, complex):
            return True, float(value)
        if _is_tensor(value) and value.ndim == 0 and not value.requires_grad:
            return True, float(value.item())
        return False, value
    if kind == "bool":
        return value.__class__ is bool, value
    if kind == "int[]":
        if isinstance(value, tuple | list):
            if all(_is_int(item) for item in value):
                return True, tuple(_as_int(item) for item in value)
            return False, value
        if parameter.size is not None and _is_int(value):
            return True, (_as_int(value),) * parameter.size
        return False, value
    return _COERCIONS[kind](value)


def _is_number(value: Any) -> bool:
    kind = value.__class__
    if kind is float or kind is int or kind is bool or kind is complex:
        return True
    return (
        getattr(kind, "__module__", "") == "numpy"
        and getattr(value, "shape", None) == ()
        and not hasattr(value, "__setitem__")
    )


def _tensors(value: Any) -> tuple[bool, Any]:
    if isinstance(value, tuple | list) and all(_is_tensor(item) for item in value):
        return True, list(value)
    return False, value


def _floats(value: Any) -> tuple[bool, Any]:
    if isinstance(value, tuple | list) and all(_is_number(item) for item in value):
        return True, tuple(float(item) for item in value)
    return (True, (float(value),)) if _is_number(value) else (False, value)


def _dtype(value: Any) -> tuple[bool, Any]:
    python = {float: "default", int: "int64", bool: "bool", complex: "complex"}
    if value in python if isinstance(value, type) else False:
        from . import dtypes

        word = python[value]
        if word == "default":
            return True, dtypes.default_dtype()
        return True, dtypes.default_complex() if word == "complex" else BY_NAME[word]
    return isinstance(value, DType), value


def _device(value: Any) -> tuple[bool, Any]:
    from .device import Device, as_device

    fits = isinstance(value, str | Device) or value.__class__ is int
    return fits, as_device(value) if fits else value


_COERCIONS: dict[str, Callable[[Any], tuple[bool, Any]]] = {
    "Tensor[]": _tensors,
    "float[]": _floats,
    "bool[]": lambda value: (isinstance(value, tuple | list), value),
    "str": lambda value: (isinstance(value, str), value),
    "ScalarType": _dtype,
    "Device": _device,
    "Generator": lambda value: (type(value).__name__ == "Generator", value),
    "Layout": lambda value: (True, value),
    "any": lambda value: (True, value),
}


# ---- PyTorch's words for a call that fits nothing


def type_word(value: Any) -> str:
    """The type of a value as PyTorch's argument errors name it."""
    if _is_tensor(value):
        return "Parameter" if value.is_parameter else "Tensor"
    if value is None:
        return "NoneType"
    if isinstance(value, tuple | list) and value and not hasattr(value, "numel"):
        word = "tuple" if isinstance(value, tuple) else "list"
        return word
    if isinstance(value, DType):
        return "torch.dtype"
    return getattr(value, "type_name", None) or type(value).__name__


def misfit(
    name: str,
    signatures: Sequence[Signature],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    method: bool,
) -> TypeError:
    """The TypeError of a call that none of the signatures takes."""
    signatures = [s for s in signatures if not s.overload.startswith("Number")]  # no overload there
    if len(signatures) == 1 and not _twice(name, signatures[0], len(args) + len(kwargs)):
        return TypeError(_one(name, signatures[0], args, kwargs, method))
    for signature in signatures:
        if mixed := _mixed(name, signature, args):
            return TypeError(mixed)
    count = len(args) + len(kwargs)
    plausible = [s for s in signatures if s.least <= count <= len(s.parameters)]
    if len(plausible) == 1 and name not in _ALSO_NUMBERS:
        return TypeError(_one(name, plausible[0], args, kwargs, method))
    given = args[1:] if method else args
    words = [type_word(value) for value in given]
    words += [f"{key}={type_word(kwargs[key])}" for key in sorted(kwargs)]
    if kwargs and not given:
        words.append("")  # so it stands in PyTorch: "(min=str, )"
    expected = "".join(f" * ({_shown(signature, method)})\n" for signature in signatures)
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({', '.join(words)}), "
        f"but expected one of:\n{expected}"
    )


def _twice(name: str, signature: Signature, count: int) -> bool:
    """Has PyTorch one more overload than there are rows, and do both have as many arguments?"""
    if name in _ALSO_LONGER:
        return not signature.least <= count <= signature._positional()
    return name in _ALSO_NUMBERS


_ALSO_NUMBERS = frozenset("eq ge gt le lt ne where".split())
_ALSO_LONGER = frozenset("mm bmm rand randn".split())


def _mixed(name: str, signature: Signature, args: Sequence[Any]) -> str | None:
    """PyTorch's words for a list of integers with something else behind the first."""
    for place, parameter in enumerate(signature.parameters[: len(args)]):
        value = args[place]
        if parameter.kind == "int[]" and parameter.size is None and _is_int(value):
            value = args[place:]
        listed = parameter.kind == "int[]" and isinstance(value, tuple | list) and len(value) > 1
        if listed and _is_int(value[0]):
            wrong = next((at for at, item in enumerate(value) if not _is_int(item)), None)
            if wrong is not None:
                return (
                    f"{name}(): argument '{parameter.name}' failed to unpack the object at pos "
                    f'{wrong + 1} with error "type must be tuple of ints,but got '
                    f'{type_word(value[wrong])}"'
                )
    return None


def _in_python(signature: Signature) -> bool:
    """Is it one of the functions that PyTorch wrote in Python? Python words their errors."""
    return signature.overload == "functional" or signature.name in _PYTHON


_PYTHON = frozenset(
    "mse_loss l1_loss smooth_l1_loss huber_loss kl_div binary_cross_entropy cross_entropy nll_loss "
    "binary_cross_entropy_with_logits batch_norm norm".split()
)


def _shown(signature: Signature, method: bool) -> str:
    parts, star = [], False
    for place, parameter in enumerate(signature.parameters):
        if method and place == 0:
            continue
        if parameter.keyword_only and not star:
            parts.append("*")
            star = True
        text = (
            f"{_PYTHON_WORD.get(parameter.kind, parameter.kind)} {_python_name(parameter, place)}"
        )
        if parameter.default is not REQUIRED:
            text += f" = {parameter.default}"
        parts.append(text)
    return ", ".join(parts)


def _python_name(parameter: Parameter, place: int) -> str:
    return "input" if place == 0 and parameter.name == "self" else parameter.name


def _one(
    name: str, signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any], method: bool
) -> str:
    parameters = signature.parameters
    positional = [p for p in parameters if not p.keyword_only]
    skip = 1 if method else 0
    if method and len(parameters) == 1 and len(args) > 1:
        return f"TensorBase.{name}() takes no arguments ({len(args) - 1} given)"
    if mixed := _mixed(name, signature, args):
        return mixed
    if len(args) > len(positional):
        gathered = signature._gathered(args)
        if gathered is None:
            most, given = len(positional) - skip, len(args) - skip
            least = sum(p.default is REQUIRED for p in positional) - skip
            span = f"{most}" if least == most else f"from {least} to {most}"
            noun = "argument" if most == 1 and least == most else "arguments"
            verb = "was" if given == 1 else "were"
            return f"{name}() takes {span} positional {noun} but {given} {verb} given"
        args = gathered
    elif parameters and parameters[0].kind == "int[]":
        gathered = signature._gathered(args)
        rest = parameters[len(gathered) :] if gathered is not None else ()
        if gathered is not None and all(
            p.default is not REQUIRED or p.name in kwargs for p in rest
        ):
            args = gathered
    missing = [
        _python_name(p, i)
        for i, p in enumerate(parameters)
        if i >= len(args) and p.default is REQUIRED
        and not ({p.name, _python_name(p, i), _NUMPY_NAMES.get(p.name, p.name)} & set(kwargs))
    ]  # fmt: skip
    for place, parameter in enumerate(parameters):
        if place < len(args):
            value = args[place]
        elif parameter.name in kwargs:
            value = kwargs[parameter.name]
        else:
            continue
        fits, _ = coerce(parameter, value)
        if not fits:
            shown = _python_name(parameter, place)
            where = f" (position {place + 1 - skip})" if place < len(args) else ""
            word = _PYTHON_WORD.get(parameter.kind, parameter.kind)
            if parameter.kind == "int[]" and isinstance(value, tuple | list) and value:
                wrong = next(i for i, item in enumerate(value) if not _is_int(item))
                return (
                    f"{name}(): argument '{shown}'{where} must be tuple of ints, but found "
                    f"element of type {type_word(value[wrong])} at pos {wrong}"
                )
            if parameter.kind == "Tensor[]" and isinstance(value, tuple | list) and value:
                wrong = next(i for i, item in enumerate(value) if not _is_tensor(item))
                return (
                    f"expected Tensor as element {wrong} in argument {place - skip}, but got "
                    f"{type_word(value[wrong])}"
                )
            return f"{name}(): argument '{shown}'{where} must be {word}, not {type_word(value)}"
    if missing and _in_python(signature):
        texts = [f"'{item}'" for item in missing]
        last = ("," if len(texts) > 2 else "") + " and "
        listed = last.join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else texts[0]
        plural = "s" if len(texts) > 1 else ""
        return f"{name}() missing {len(texts)} required positional argument{plural}: {listed}"
    if missing:
        quoted = ", ".join(f'"{item}"' for item in missing)
        plural = "s" if len(missing) == 1 else ""  # so it stands in PyTorch
        return f"{name}() missing {len(missing)} required positional argument{plural}: {quoted}"
    known = {p.name for p in parameters} | {"input"}
    for key in kwargs:
        if key not in known:
            return f"{name}() got an unexpected keyword argument '{key}'"
        if key in signature.names[: len(args)]:
            return f"{name}() got multiple values for argument '{key}'"
    return f"{name}() received an invalid combination of arguments"
