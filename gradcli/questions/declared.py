"""Questions: what declarations say of a node of the graph, and of a word of a program's text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..engine.schema.operator import Factory
from ..operators import catalogue
from ..recording.sides import row_of

# Whose function a word may be, where it is no method.
_FACES = ("", "nn.functional.", "linalg.", "special.")


def zero_of(node: Any) -> str:
    """Where a node's gradient ends (`row.Zero`)."""
    return zero_in(row_of(node), node.name())


def zero_in(row: Any, name: str) -> str:
    """The same by its declaration and its name; a write through a view masks what was there."""
    if row is None:
        return "mask" if name.endswith("CopySlices") else ""
    return str(row.zero)


def acts_of(node: Any) -> str:
    """How a node acts on elements (`row.Acts`)."""
    row = row_of(node)
    if row is None:
        return "moves" if node.name() == "AsStridedBackward0" else ""
    return str(row.acts)


def declarations(word: str) -> Iterator[Any]:
    """What a word may call: the overloads of the method and of the functions of this name."""
    found = [catalogue.methods.get(word)]
    found += [catalogue.functions.get(face + word) for face in _FACES]
    for function in found:
        for overload in function.overloads if function is not None else ():
            yield getattr(overload, "row", overload)


def makes(word: str) -> bool:
    """Whether a word makes a tensor of numbers, which requires grad when it is said."""
    function = catalogue.functions.get(word)
    return function is not None and any(isinstance(o, Factory) for o in function.overloads)


def domain_of(word: str) -> Any:
    """Where what a word calls is finite, with a finite slope; None where it always is."""
    return next((row.domain for row in declarations(word) if row.domain is not None), None)


def logarithm_of(word: str) -> str:
    """The function that log() of what a word returns is in one piece; "" where there is none."""
    return next((row.logarithm for row in declarations(word) if row.logarithm), "")


def alone_of(word: str) -> str:
    """What has a slope along one element, where the function of this name has none; "" for none."""
    return next((row.alone for row in declarations(word) if row.alone), "")


def filled(template: str, texts: Mapping[str, str]) -> str:
    """A template of a declaration with a program's own words in the place of the names."""
    return re.sub(r"\b[a-z_]\w*\b", lambda name: texts.get(name[0], name[0]), template)
