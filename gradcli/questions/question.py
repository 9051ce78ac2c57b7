"""Questions: what a question asks for: `x`, `x.grad[1, 0]`, `net.0.weight`, `weights[0].grad`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ..language.attributes import MissingAttribute, get_attribute
from ..language.classes import is_instance
from ..named import NamedTuple
from ..opening import UsageError
from ..recording.facts.basic import grad_name
from ..recording.holding import named_tensors, parameters
from ..recording.modules import attributes, is_module
from ..recording.sides import AnyTensor, sides
from .asked_names import AskedNames
from .graph import nearest_name

_WORD = re.compile(r"\s*([^\W\d]\w*)(?:#(\d{1,9}))?")
_PART = re.compile(r"\s*(?:\.\s*(\w+)|\[\s*([^\]]*?)\s*\])")
_NUMBER = re.compile(r"[+-]?\d+$")


class Computed(UsageError):
    """A name of what code of the program computes whenever it is read."""


class Row(tuple[int, ...]):
    """The first places of an element: a row of a matrix is requested."""


class Question(NamedTuple):
    """A value by its name, and an element of its gradient; `former` is one that the name stood for
    in the last pass, and no longer does."""

    name: str
    value: Any
    element: tuple[int, ...] | None
    former: bool = False


def question_of(
    text: str, bindings: Mapping[str, Any], others: Mapping[str, Any],
    former: AskedNames | None = None,
) -> Question:  # fmt: skip
    """The value that a question names; UsageError says which names there are.

    `others` are names inside functions, which count where no global name is meant; `former` has
    what a name stood for before: x#1.
    """
    match = _WORD.match(text)
    if match is None:
        raise UsageError(f"{text}: not a name", _near(text, bindings, others))
    first, number = match[1], match[2]
    if number is not None and former is not None:
        name = f"{first}#{number}"
        bindings = {name: former.tensors(name)[0]}
        first = name
    if first not in bindings and first not in others:
        raise UsageError(f"{text}: the program has no name {first}", _near(text, bindings, others))
    value = bindings[first] if first in bindings else others[first]
    name, at = first, match.end()
    element: tuple[int, ...] | None = None
    graded = False
    while at < len(text.rstrip()):
        part = _PART.match(text, at)
        if part is None:
            raise UsageError(
                f"{text}: not a name", "gradcli why FILE x, or x.grad[0], net.0.weight"
            )
        at = part.end()
        if isinstance(value, AnyTensor):
            if part[1] == "grad" and not graded:
                graded = True
                continue
            if part[2] is None:
                raise UsageError(f"{text}: {name} is a tensor; ask for {name} or {name}.grad[0]")
            element = (*(element or ()), *_places(part[2], text))
            continue
        value, name = _inner(value, name, part, text, bindings, others)
    if isinstance(value, AnyTensor) and element is not None:
        element = _checked(value, name, element)
    return Question(name, value, element)


def at_path(name: str, bindings: Mapping[str, Any]) -> Any:
    """The tensor at a path that is not its first: a tied weight's, net[0].weight; else None."""
    with suppress(UsageError):
        _, value, element, _ = question_of(name, bindings, {})
        return value if isinstance(value, AnyTensor) and element is None else None
    return None


def _inner(
    value: Any, name: str, part: re.Match[str], text: str, bindings: Mapping[str, Any],
    others: Mapping[str, Any],
) -> tuple[Any, str]:  # fmt: skip
    """One step further: an attribute, a module's child, an item."""
    if part[1] is not None:
        word = part[1]
        if word.isdigit() and is_module(value):
            inner = value._modules.get(word, value._parameters.get(word))
            if inner is not None:
                return inner, f"{name}.{word}"
        elif word.isdigit() and isinstance(value, (list, tuple)) and int(word) < len(value):
            return value[int(word)], f"{name}[{int(word)}]"  # as if the list were a ModuleList
        elif is_module(value) or is_instance(value) or word in attributes(value):
            try:
                return _member(value, word), f"{name}.{word}"
            except (MissingAttribute, AttributeError):
                pass
        if parts := _parametrized(value, word):
            listed = " or ".join(f"{name}.parametrizations.{word}.{part}" for part in parts)
            told = f"{text}: {name} computes {word} of its parameters whenever it is read"
            raise Computed(told, f"ask for {listed}")
        raise UsageError(f"{text}: {name} has no {word}", _near(text, bindings, others))
    key: Any = part[2]
    if _NUMBER.match(key):
        key = int(key)
    elif len(key) > 1 and key[0] == key[-1] and key[0] in "'\"":
        key = key[1:-1]
    shown = f"{name}[{key!r}]"
    try:
        if isinstance(value, (list, tuple, dict)):
            return value[key], shown
        if is_module(value) and isinstance(key, int):
            return list(value)[key], shown
    except (KeyError, IndexError, TypeError):
        pass
    raise UsageError(f"{text}: {name} has no item {part[2]}", _near(text, bindings, others))


def _parametrized(value: Any, word: str) -> list[str]:
    """The parameters that a parametrized module computes one of its tensors of."""
    tables = value._modules.get("parametrizations") if is_module(value) else None
    held = None if tables is None else tables._modules.get(word)
    return [] if held is None else list(held._parameters)


def _member(value: Any, word: str) -> Any:
    """What an object has under a name, read by the side that made it."""
    live = sides.live
    if live is not None and live.objects.is_made(value):
        return live.objects.member(value, word)
    return get_attribute(value, word)


def _places(key: str, text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in key.split(",")]
    if not all(_NUMBER.match(part) for part in parts):
        raise UsageError(f"{text}: an element is asked for by whole numbers", "x.grad[1,0]")
    return tuple(map(int, parts))


def _checked(tensor: AnyTensor, name: str, element: tuple[int, ...]) -> tuple[int, ...]:
    """The place of an element, or of a row, counted from the beginning."""
    shape = tuple(tensor.shape)
    fits = len(element) <= len(shape) and all(
        -size <= place < size for place, size in zip(element, shape, strict=False)
    )
    if not fits:
        raise UsageError(f"{grad_name(name, element)}: the shape of {name} is {list(shape)}")
    places = tuple(place % size for place, size in zip(element, shape, strict=False))
    return places if len(places) == len(shape) else Row(places)


def names_in(bindings: Mapping[str, Any], others: Mapping[str, Any]) -> list[str]:
    """All names of tensors that can be asked for."""
    inner = {name: value for name, value in others.items() if name not in bindings}
    both = (named_tensors, parameters)
    found = [name for held in (bindings, inner) for of in both for name, _ in of(held, AnyTensor)]
    return list(dict.fromkeys(found))


def _near(text: str, bindings: Mapping[str, Any], others: Mapping[str, Any]) -> str:
    return nearest_name(text.partition(".grad")[0], names_in(bindings, others))
