"""Engine: PyTorch's words for a call that fits none of a function's overloads.

Most functions of PyTorch read their arguments by one parser, which goes through the overloads in
order and words what fails; some are written in Python, and Python words it. Read when a call fails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .carriers import RUNTIME
from .errors import type_name, unbound
from .mode import state
from .overloads import (
    CHOOSING,
    COMPARED,
    COMPILED,
    FIRST_ASKED,
    HANDED_TO,
    HIDDEN,
    NUMBERS,
    OWN_ARGUMENTS,
    OWN_NAMES,
    OWN_WORDS,
    ROWS_WITHOUT_OUT,
    WITHOUT_OUT,
    WRITTEN_IN_PYTHON,
    overloads,
)
from .signature import REQUIRED, Parameter, Signature, coerce, is_int, is_number, is_tensor

_WORDS = {  # how PyTorch's error texts name a schema type
    "Tensor": "Tensor", "Tensor[]": "tuple of Tensors", "Scalar": "Number", "int": "int",
    "float": "float", "bool": "bool", "truth": "bool", "str": "str", "int[]": "tuple of ints",
    "float[]": "tuple of floats", "ScalarType": "torch.dtype", "Device": "torch.device",
    "Generator": "torch.Generator", "Layout": "torch.layout", "any": "any",
    "bool[]": "tuple of bools", "MemoryFormat": "torch.memory_format",
}  # fmt: skip
_OTHER_NAMES = {  # what NumPy calls an argument is taken too
    "dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",),
}  # fmt: skip


def misfit(
    path: str,
    name: str,
    signatures: Sequence[Signature],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    method: bool,
) -> Exception:
    """The error of a call that none of the signatures takes."""
    if method and args and not isinstance(args[0], RUNTIME.tensor):
        return TypeError(unbound(name, args[0]))
    if in_python(path, method):
        several = [s for s in signatures if any(p.kind == "Tensor[]" for p in s.parameters)]
        return _of_python(path, name, (several or signatures)[0], args, kwargs, method)
    name = {"logsigmoid": "log_sigmoid"}.get(name, name)
    readings, hidden = _readings(path, name, signatures, method)
    given = args[1:] if method else args
    if len(readings) == 1 and not hidden:
        return TypeError(readings[0].fault(given, kwargs))
    for reading in readings:
        if reading.read(given, kwargs) is None:  # it took them: what is in a list does not fit
            return TypeError(reading.fault(given, kwargs))
    count = len(given) + len(kwargs)
    plausible = [r for r in readings if r.least <= count <= r.most]
    if len(plausible) == 1:
        return TypeError(plausible[0].fault(given, kwargs))
    return TypeError(
        f"{name}() received an invalid combination of arguments - "
        f"{_combination(readings, given, kwargs)}"
    )


def _combination(
    readings: Sequence[Reading], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> str:
    """What was given and what there is. Keywords come last first, as they lie in C++'s table."""
    keys = list(kwargs)[::-1]
    shown = [f"({reading.shown()})" for reading in readings]
    if len(shown) == 1 and keys:  # known ones too: so it is in PyTorch
        return f"got unrecognized keyword arguments: {', '.join(keys)}"
    words = [type_word(value) for value in args]
    words += [f"{key}={type_word(kwargs[key])}" for key in keys]
    if kwargs and not args:
        words.append("")  # so it is in PyTorch: "(min=str, )"
    if len(shown) == 1:
        return f"got ({', '.join(words)}), but expected {shown[0]}"
    lines = "".join(f" * {text}\n{mismatch(text, args, kwargs)}" for text in shown)
    return f"got ({', '.join(words)}), but expected one of:\n{lines}"


def mismatch(shown: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """The line below an overload of as many arguments as the call has.

    PyTorch takes it apart again at its commas: a default stands for the name there, the star for an
    argument, and a type for all before the last word.
    """
    parts = [part.rpartition(" ") for part in shown[1:-1].split(", ")]
    if len(parts) != len(args) + len(kwargs):
        return ""
    behind = [name for *_, name in parts[len(args) :]]
    unknown = [key for key in list(kwargs)[::-1] if key not in behind]
    start = "      didn't match because some of the"
    if unknown:
        return f"{start} keywords were incorrect: {', '.join(unknown)}\n"
    given = [("", value) for value in args] + [(f"{name}=", kwargs[name]) for name in behind]
    words = []
    for (kind, _, _), (name, value) in zip(parts, given, strict=True):
        word = type_word(value)
        fits = word == kind or (kind == "float" and word == "int")
        if isinstance(value, tuple | list):
            state.charge(len(value))
            inner = ", ".join(map(type_word, value))
            last = "," if len(value) == 1 and isinstance(value, tuple) else ""
            word += f" of ({inner}{last})" if isinstance(value, tuple) else f" of [{inner}]"
        words.append(f"{name}{word}" if fits else f"!{name}{word}!")
    text = ", ".join([*words, *(() if args else ("",))])  # so it is in PyTorch
    return f"{start} arguments have invalid types: ({text})\n"


def in_python(path: str, method: bool) -> bool:
    """Is it one of the functions that PyTorch wrote in Python?"""
    room, _, name = path.rpartition(".")
    if room == "nn.functional":
        return name not in COMPILED
    return room == "signal.windows" or (f"Tensor.{path}" if method else path) in WRITTEN_IN_PYTHON


def takes_out(path: str, method: bool) -> bool:
    """Does PyTorch's function take out=...?"""
    if method or path.endswith("_"):
        return False
    if path in ("norm", "tensordot"):
        return True
    own = path.removeprefix("nn.functional.")
    return not in_python(path, False) and path not in WITHOUT_OUT and own not in WITHOUT_OUT


def reads_out(path: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Is there an overload for these arguments that takes out=... as well?"""
    if path not in overloads():
        return True
    readings, hidden = _readings(path, path.rpartition(".")[2], (), False)
    return hidden or any(reading.read(args, kwargs) is None for reading in readings)


def undifferentiable(name: str) -> RuntimeError:
    """A result that is written somewhere hides what was computed from what."""
    return RuntimeError(
        f"{name}(): functions with out=... arguments don't support automatic differentiation, "
        "but one of the arguments requires grad."
    )


def _readings(
    path: str, name: str, signatures: Sequence[Signature], method: bool
) -> tuple[list[Reading], bool]:
    """What PyTorch's parser tries, in order; and is there one that it never shows?"""
    known = overloads()
    twin = path.removesuffix("_")
    texts = next(
        (known[key] for key in ((f"Tensor.{path}", f"Tensor.{twin}") if method else (path,))
         if key in known), None,
    )  # fmt: skip
    drop = method and texts is None
    if texts is None:
        texts = next((known[key] for key in (path, twin) if key in known), None)
    if texts is None:
        rows = [s for s in signatures if not s.overload.startswith("Number")]
        out = takes_out(path, method)
        return [Reading(name, _of_row(row, method, out)) for row in rows or signatures], False
    lists = []
    for text in texts:
        parameters = list(Signature(f"{name}({text}) -> Tensor").parameters)
        if drop or path.endswith("_"):
            parameters = [p for p in parameters if p.name != "out"]
        if drop:
            if not any(p.name == "input" for p in parameters):
                continue
            parameters = [p for p in parameters if p.name != "input"]
        lists.append([(p, p.name) for p in parameters])
    shown = [Reading(name, each) for each, text in zip(lists, texts, strict=False)]
    return [r for r in shown if r.names != (HIDDEN,)], HIDDEN in texts


def _of_row(signature: Signature, method: bool, out: bool) -> list[tuple[Parameter, str]]:
    named = [
        (p, "input" if place == 0 and p.name == "self" else p.name)
        for place, p in enumerate(signature.parameters)
    ]
    if not out:
        named = [(p, shown) for p, shown in named if shown != "out"]
    elif "out" not in signature.names and (
        f"{signature.name}.{signature.overload}" not in ROWS_WITHOUT_OUT
    ):
        kind = "Tensor[]" if len(signature.outputs) > 1 else "Tensor"
        named.append((Parameter(f"{kind} out=None", True), "out"))
    return named[1:] if method else named


class Reading:
    """One overload, as PyTorch's parser reads a call: until the first thing that does not fit."""

    def __init__(self, name: str, parameters: Sequence[tuple[Parameter, str]]) -> None:
        self.name = name
        self.parameters = [p for p, _ in parameters]
        self.names = tuple(shown for _, shown in parameters)
        self.positional = sum(not p.keyword_only for p in self.parameters)
        self.least = sum(p.default is REQUIRED for p in self.parameters)
        self.most = len(self.parameters)

    def shown(self) -> str:
        parts, star = [], False
        for p, name in zip(self.parameters, self.names, strict=True):
            if p.keyword_only and not star:
                parts.append("*")
                star = True
            text = f"{_WORDS.get(p.kind, p.kind)} {name}"
            default = f'"{p.default}"' if p.kind == "str" and p.default else p.default
            parts.append(text if p.default is REQUIRED else f"{text} = {default}")
        return ", ".join(parts)

    def fault(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        """What is wrong with the call, in lists too, which the parser unpacks later."""
        told = self.read(args, kwargs) or _mixed(self, args, kwargs)
        return told or f"{self.name}(): invalid arguments"

    def read(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
        """What is wrong with the call; None when the parser takes it."""
        spread = self._spread(args)
        if len(args) > self.positional and not spread:
            return self._too_many(len(args))
        used = place = 0
        for at, (p, name) in enumerate(zip(self.parameters, self.names, strict=True)):
            keyword = place >= len(args)
            if keyword:
                key = next((k for k in (name, *_OTHER_NAMES.get(name, ())) if k in kwargs), None)
                if key is None:
                    if p.default is REQUIRED:
                        return self._missing(at)
                    continue
                value, used = kwargs[key], used + 1
            elif p.keyword_only:
                return self._too_many(len(args))
            else:
                value = args[place]
            optional = p.optional or p.default is None
            if value is None and optional:
                pass
            elif spread and not at and not self._takes(p, value):
                place = len(args)
                continue
            elif not self._takes(p, value):
                return self._unfit(p, name, value, None if keyword else place, at)
            place += not keyword
        return None if used == len(kwargs) else self._unknown(kwargs, len(args))

    def _takes(self, p: Parameter, value: Any) -> bool:
        """Does the parser take the value? Of a list of integers it looks at the first."""
        if p.kind == "int[]" and isinstance(value, tuple | list):
            return not value or is_int(value[0])
        if p.kind == "Tensor" and self.name.removesuffix("_") in NUMBERS and is_number(value):
            return True
        return coerce(p, value)[0]

    def _spread(self, args: Sequence[Any]) -> bool:
        """`x.view(2, 3)`: all positional arguments are the one list of integers."""
        first = self.parameters[0] if self.parameters else None
        lists = first is not None and first.kind == "int[]" and not first.keyword_only
        return lists and self.positional == 1 and len(args) > 0 and is_int(args[0])

    def _too_many(self, given: int) -> str:
        most, least = self.positional, self.least
        if not self.parameters:
            return f"TensorBase.{self.name}() takes no arguments ({given} given)"
        if least != most:
            return (
                f"{self.name}() takes from {least} to {most} positional arguments but {given} were "
                "given"
            )
        noun = "argument" if most == 1 else "arguments"
        verb = "was" if given == 1 else "were"
        return f"{self.name}() takes {most} positional {noun} but {given} {verb} given"

    def _missing(self, at: int) -> str:
        rest = zip(self.parameters[at:], self.names[at:], strict=True)
        missing = [f'"{name}"' for p, name in rest if p.default is REQUIRED]
        plural = "s" if len(missing) == 1 else ""  # so it is in PyTorch
        return (
            f"{self.name}() missing {len(missing)} required positional argument{plural}: "
            f"{', '.join(missing)}"
        )

    def _unfit(self, p: Parameter, name: str, value: Any, place: int | None, at: int) -> str:
        if p.kind == "Tensor[]" and isinstance(value, tuple | list) and value:
            wrong = next(i for i, item in enumerate(value) if not is_tensor(item))
            return (
                f"expected Tensor as element {wrong} in argument {at}, but got "
                f"{type_word(value[wrong])}"
            )
        word = _WORDS.get(p.kind, p.kind)
        if place is None:
            return f"{self.name}(): argument '{name}' must be {word}, not {type_word(value)}"
        start = f"{self.name}(): argument '{name}' (position {place + 1}) must be {word}, "
        if p.kind == "int[]" and isinstance(value, tuple | list) and value:
            return f"{start}but found element of type {type_word(value[0])} at pos 0"
        return f"{start}not {type_word(value)}"

    def _unknown(self, kwargs: Mapping[str, Any], given: int) -> str:
        if not self.parameters:
            return f"TensorBase.{self.name}() takes no keyword arguments"
        for key in kwargs:  # not what NumPy calls it: so it is in PyTorch
            if key not in self.names:
                return f"{self.name}() got an unexpected keyword argument '{key}'"
            if self.names.index(key) < given:
                return f"{self.name}() got multiple values for argument '{key}'"
        return "invalid keyword arguments"


def _mixed(reading: Reading, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
    """PyTorch's words for a list of integers with something else behind the first."""
    spread = reading._spread(args)
    for at, (p, name) in enumerate(zip(reading.parameters, reading.names, strict=True)):
        value = args[at] if at < len(args) else kwargs.get(name)
        if spread and not at and not isinstance(value, tuple | list):
            value = args
        if p.kind == "int[]" and isinstance(value, tuple | list):
            wrong = next((i for i, item in enumerate(value) if not _unpacks(item)), None)
            if wrong is not None:
                return (
                    f"{reading.name}(): argument '{name}' failed to unpack the object at pos "
                    f'{wrong + 1} with error "type must be tuple of ints,but got '
                    f'{type_word(value[wrong])}"'
                )
    return None


def _unpacks(item: Any) -> bool:
    return is_int(item) or item.__class__ is bool


def type_word(value: Any) -> str:
    """The type of a value as PyTorch's argument errors name it."""
    if is_tensor(value):
        return "Parameter" if value.is_parameter else "Tensor"
    if value is None:
        return "NoneType"
    return type_name(value)


# ---- what Python says of a function that is written in it


def _of_python(
    path: str,
    name: str,
    signature: Signature,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    method: bool,
) -> Exception:
    parameters = signature.parameters
    names = ["input" if p.name == "self" and not method else p.name for p in parameters]
    if not method:
        names[: len(OWN_ARGUMENTS.get(name, ()))] = OWN_ARGUMENTS.get(name, ())
    called = f"Tensor.{name}" if method else _chosen(name, names, args, kwargs)
    for key in kwargs:
        if key not in names:
            return TypeError(f"{called}() got an unexpected keyword argument '{key}'")
        if key in names[: len(args)]:
            return TypeError(f"{called}() got multiple values for argument '{key}'")
    positional = [p for p in parameters if not p.keyword_only]
    listed = next((at for at, p in enumerate(positional) if p.kind == "Tensor[]"), None)
    if listed is not None:
        if (told := _of_elements(name, listed, args[listed:])) is not None:
            return TypeError(told)
    elif len(args) > len(positional):
        return TypeError(_python_counts(called, positional, len(args)))
    missing = [
        f"'{shown}'"
        for place, (p, shown) in enumerate(zip(parameters, names, strict=True))
        if place >= len(args) and p.default is REQUIRED and shown not in kwargs
    ]
    if missing:
        return _missing(called, missing)
    bound = dict(zip(names, args, strict=False)) | dict(kwargs)
    for p, shown in zip(parameters, names, strict=True):
        if shown not in bound or coerce(p, bound[shown])[0]:
            continue
        value = bound[shown]
        if shown == "reduction":
            return ValueError(f"{value} is not a valid value for reduction")
        compared = COMPARED.get("p training" if shown == "p" and "training" in names else shown)
        if compared is not None and not is_number(value):
            return _no_order(value, *compared.split())
        if p.kind == "Tensor" and (asked := _asked(name, p, shown, bound)) is not None:
            return AttributeError(f"'{type_word(value)}' object has no attribute '{asked}'")
    if path.startswith("nn.functional.") or name in HANDED_TO:
        told = _handed(name, dict(zip(names, parameters, strict=True)), bound)
        if told is not None:
            return TypeError(told)
    return TypeError(Reading(name, _of_row(signature, False, False)).fault(args, kwargs))


def _of_elements(name: str, at: int, given: Sequence[Any]) -> str | None:
    """Tensors that stand for a list, or one list of them; `at` is the argument's place."""
    wrong = next((i for i, t in enumerate(given) if not is_tensor(t)), None)
    if wrong is None or (len(given) == 1 and isinstance(given[0], list | tuple)):
        return None
    word = type_word(given[wrong])
    if name.startswith("atleast") and len(given) == 1:
        return (
            f"{name}() received an invalid combination of arguments - got ({word}), but expected "
            "one of:\n * (Tensor input)\n * (tuple of Tensors tensors)\n"
        )
    return f"expected Tensor as element {wrong} in argument {at}, but got {word}"


def _missing(called: str, missing: Sequence[str]) -> TypeError:
    last = ("," if len(missing) > 2 else "") + " and "
    shown = last.join([", ".join(missing[:-1]), missing[-1]]) if missing[1:] else missing[0]
    plural = "s" if missing[1:] else ""
    return TypeError(
        f"{called}() missing {len(missing)} required positional argument{plural}: {shown}"
    )


def _no_order(value: Any, sign: str, other: str) -> Exception:
    """What Python says of a value that a function compares with a number, before all else."""
    if is_tensor(value):
        try:
            bool(value < 0)
        except Exception as error:
            return error
    return TypeError(
        f"'{sign}' not supported between instances of '{type_word(value)}' and '{other}'"
    )


def _handed(name: str, parameters: Mapping[str, Parameter], bound: Mapping[str, Any]) -> str | None:
    """The words of the compiled function that gets the arguments, in its order; None where it
    takes them."""
    inner, order = HANDED_TO.get(name, (name, " ".join(parameters)))
    first, _, rest = order.partition(" * ")
    named, given, by_name = list[tuple[Parameter, str]](), list[Any](), dict[str, Any]()
    for word in (*first.split(), *rest.split()):
        own = OWN_WORDS.get((name, word), word)
        p = parameters.get(own) or Parameter("any word=None", False)
        named.append((p, "train" if word == "training" and "p" in parameters else word))
        if word in first.split():
            given.append(bound.get(own, p.default))
        elif own in bound:
            by_name[word] = bound[own]
    twin = "_" if bound.get("inplace") is True else ""
    reading = Reading(inner + twin, named)
    return reading.read(given, by_name) or _mixed(reading, given, by_name)


def _chosen(name: str, names: list[str], args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """The function whose binding fails: some names only choose between functions."""
    bound = dict(zip(names, args, strict=False)) | dict(kwargs)
    if name in CHOOSING:
        return f"{name}_with_indices" if bound.get("return_indices") else f"_{name}"
    if name in ("unique", "unique_consecutive"):
        asked = [word for word in ("inverse", "counts") if bound.get(f"return_{word}")]
        start = "_consecutive_return_" if "_" in name else "_return_"
        return start + ("_and_".join(asked) or "output")
    return OWN_NAMES.get(name, name)


def _asked(name: str, p: Parameter, shown: str, bound: Mapping[str, Any]) -> str | None:
    """What such a function asks of the value in a tensor's place before it hands it on."""
    asked = FIRST_ASKED.get(name)
    if asked in ("softmax", "log_softmax") and bound.get("dim") is None:
        asked = "dim"
    return asked if p.default is REQUIRED and not shown.startswith("running") else None


def _python_counts(called: str, positional: Sequence[Parameter], given: int) -> str:
    most = len(positional)
    least = sum(p.default is REQUIRED for p in positional)
    span = f"{most}" if least == most else f"from {least} to {most}"
    noun = "argument" if most == 1 and least == most else "arguments"
    verb = "was" if given == 1 else "were"
    return f"{called}() takes {span} positional {noun} but {given} {verb} given"
