"""language: inspect, as far as programs ask what a function or a class can be given; numbers."""

from __future__ import annotations

import ast
import inspect
from functools import partial
from typing import Any

from ..adoption import adopt
from ..annotations import Annotation, kind_text
from ..builtins.types import is_class
from ..classes import ClassValue
from ..formatting import quoted
from ..members import members_of_type
from ..noted import noted, of_function
from ..values import Bound, Builtin, Function, Type
from .publishing import classes, functions


def _abstract(module: str, name: str, *host: type) -> Type:
    def construct(*args: Any, **named: Any) -> Any:
        raise TypeError(f"Can't instantiate abstract class {name}")

    return Type(name, host, construct, module)


EMPTY = _abstract("inspect", "_empty")


KINDS = {
    word: Annotation(word)
    for word in "POSITIONAL_ONLY POSITIONAL_OR_KEYWORD VAR_POSITIONAL KEYWORD_ONLY "
    "VAR_KEYWORD".split()
}
PLAIN, ANY_POSITIONAL, ANY_KEYWORDS = (
    KINDS[word] for word in ("POSITIONAL_OR_KEYWORD", "VAR_POSITIONAL", "VAR_KEYWORD")
)
STARS = {ANY_POSITIONAL: "*", ANY_KEYWORDS: "**"}


class Parameter:
    """inspect.Parameter: a name, and the value that it has where none is given."""

    _torch_name = "inspect.Parameter"
    PUBLIC = ("name", "default", "kind", "annotation")
    __slots__ = ("default", "kind", "name", "text")

    def __init__(self, name: str, default: Any, kind: Annotation, text: str = "") -> None:
        self.name, self.default, self.kind, self.text = name, default, kind, text

    @property
    def annotation(self) -> Any:
        return noted(self.text) if self.text else EMPTY

    def __str__(self) -> str:
        text = STARS.get(self.kind, "") + self.name
        if self.text:
            text += f": {_shown(self.annotation)}"
        if self.default is EMPTY:
            return text
        return f"{text} = {quoted(self.default)}" if self.text else f"{text}={quoted(self.default)}"

    def __repr__(self) -> str:
        return f'<Parameter "{self}">'


class Signature:
    """inspect.Signature: the parameters by their names."""

    _torch_name = "inspect.Signature"
    PUBLIC = ("parameters", "return_annotation")
    __slots__ = ("parameters", "text")

    def __init__(self, parameters: list[Parameter], text: str = "") -> None:
        self.parameters = {one.name: one for one in parameters}
        self.text = text

    @property
    def return_annotation(self) -> Any:
        return noted(self.text) if self.text else EMPTY

    def __str__(self) -> str:
        parts: list[str] = []
        alone = False  # what follows is given by its name
        for one in self.parameters.values():
            if one.kind is KINDS["KEYWORD_ONLY"] and not alone:
                parts.append("*")
            alone = alone or one.kind in (ANY_POSITIONAL, KINDS["KEYWORD_ONLY"])
            if one.kind is not KINDS["POSITIONAL_ONLY"] and self._was_only(one):
                parts.append("/")
            parts.append(str(one))
        last = [*self.parameters.values()][-1:]
        if last and last[0].kind is KINDS["POSITIONAL_ONLY"]:
            parts.append("/")
        arrow = f" -> {_shown(self.return_annotation)}" if self.text else ""
        return f"({', '.join(parts)}){arrow}"

    def _was_only(self, one: Parameter) -> bool:
        """Whether the parameter before this one is positional only."""
        every = [*self.parameters.values()]
        place = every.index(one)
        return place > 0 and every[place - 1].kind is KINDS["POSITIONAL_ONLY"]

    def __repr__(self) -> str:
        return f"<Signature {self}>"


def _shown(annotation: Any) -> str:
    """int, torch.Tensor, List[int], and 'a text'"""
    return (
        quoted(annotation)
        if type(annotation) is str
        else kind_text(annotation).replace("typing.", "")
    )


def _of_function(function: Function, *, bound: bool) -> Signature:
    each, texts = function.code.parameters, of_function(function)
    node = None if function.code.scope is None else function.code.scope.node
    only = len(node.args.posonlyargs) if isinstance(node, (ast.FunctionDef, ast.Lambda)) else 0
    first = len(each.names) - len(function.defaults)
    found = [
        Parameter(
            name, EMPTY if place < first else function.defaults[place - first],
            KINDS["POSITIONAL_ONLY"] if place < only else PLAIN, texts.get(name, ""),
        )
        for place, name in enumerate(each.names)
    ]  # fmt: skip
    if bound:
        del found[:1]
    if each.any_positional is not None:
        text = texts.get(each.any_positional, "")
        found.append(Parameter(each.any_positional, EMPTY, ANY_POSITIONAL, text))
    for name in each.keyword_only:
        default = function.keyword_defaults.get(name, EMPTY)
        found.append(Parameter(name, default, KINDS["KEYWORD_ONLY"], texts.get(name, "")))
    if each.any_keywords is not None:
        text = texts.get(each.any_keywords, "")
        found.append(Parameter(each.any_keywords, EMPTY, ANY_KEYWORDS, text))
    return Signature(found, texts.get("return", ""))


def _of_library(kind: type) -> Signature:
    each = inspect.signature(kind).parameters.values()
    given = [EMPTY if one.default is one.empty else adopt(one.default) for one in each]
    return Signature([
        Parameter(one.name, value, KINDS[one.kind.name])
        for one, value in zip(each, given, strict=True)
    ])  # fmt: skip


def signature(obj: Any) -> Signature:
    start = obj.find("__init__") if isinstance(obj, ClassValue) else obj
    if type(start) is Function:
        return _of_function(start, bound=start is not obj)
    if type(obj) is Bound and type(obj.function) is Function:
        return _of_function(obj.function, bound=True)
    if type(obj) is Type and isinstance(obj.host, type) and hasattr(obj.host, "PUBLIC"):
        return _of_library(obj.host)
    if isinstance(obj, ClassValue) and obj.native is None and obj.content is None:
        return Signature([])
    if isinstance(obj, Builtin | Bound | Type | ClassValue):
        raise ValueError(f"no signature found for {quoted(obj)}")
    raise TypeError(f"{quoted(obj)} is not a callable object")


_INSPECT = {
    "signature": signature,
    "isclass": lambda object: is_class(object),
    "isfunction": lambda object: type(object) is Function,
    "ismethod": lambda object: type(object) is Bound and type(object.function) is Function,
}
_NUMBERS = {
    "Number": (int, float, complex), "Complex": (int, float, complex), "Real": (int, float),
    "Rational": (int,), "Integral": (int,),
}  # fmt: skip


def _holds(kind: type, held: dict[str, Any]) -> None:
    """What the class has, and so each of its objects."""
    members = members_of_type(kind)
    members.constants.update(held)
    members.properties.update((word, partial(_given, value)) for word, value in held.items())


def _given(value: Any, owner: Any) -> Any:
    return value


_holds(Parameter, {"empty": EMPTY, **KINDS})
_holds(Signature, {"empty": EMPTY})
MODULES: dict[str, dict[str, Any]] = {
    "inspect": {**functions(_INSPECT), **classes([Signature, Parameter])},
    "numbers": {name: _abstract("numbers", name, *host) for name, host in _NUMBERS.items()},
}
