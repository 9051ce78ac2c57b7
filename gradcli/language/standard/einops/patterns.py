"""language: patterns of einops: axes by name, and what is done to a tensor of a given shape."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, TypeAlias

from ....arrays.payment import pay
from ....engine.tensors.tensor import Tensor
from ....named import NamedTuple
from ...operations import type_name

LARGEST = 1 << 63  # a size is less
REDUCTIONS = ("min", "max", "sum", "mean", "prod", "any", "all")
ELLIPSIS = "…"
MOST_DIMENSIONS = 8  # that an ellipsis of a layer may stand for, and one more


class EinopsError(RuntimeError):
    _torch_name = "einops.EinopsError"


class Length:
    """An axis that has a length in place of a name. Each is its own."""

    def __init__(self, word: str) -> None:
        self.value = int(word)
        if self.value < 1:
            raise EinopsError(f"Anonymous axis should have positive length, not {self.value}")

    def __repr__(self) -> str:
        return f"{self.value}-axis"


Axis: TypeAlias = "str | Length"
Group: TypeAlias = "list[Axis]"
OPEN: Group = [ELLIPSIS]  # an ellipsis that stands in no bracket, known by its identity


def _set(axes: Iterable[Axis]) -> str:
    """As Python prints a set, in the order of the names."""
    return f"{{{', '.join(sorted(map(repr, axes)))}}}"


def is_open(groups: list[Group]) -> bool:
    return any(group is OPEN for group in groups)


def text_of(pattern: Any) -> str:
    if not isinstance(pattern, str):
        raise AttributeError(f"'{type_name(pattern)}' object has no attribute 'split'")
    return pattern


def groups_of(side: str, *, anonymous: bool = False, repeated: bool = False) -> list[Group]:
    """The axes of one side of a pattern; those of a bracket are together.

    `anonymous` lets _ stand for an axis without a name, `repeated` a name stand twice.
    """
    pay(len(side))
    if "." in side:
        if "..." not in side:
            raise EinopsError("Expression may contain dots only inside ellipsis (...)")
        if side.count("...") != 1 or side.count(".") != 3:
            raise EinopsError(
                "Expression may contain dots only inside ellipsis (...); only one ellipsis for "
                "tensor "
            )
        side = side.replace("...", ELLIPSIS)
    groups: list[Group] = []
    inner: Group | None = None
    seen: set[str] = set()
    for word, mark in re.findall(rf"([\w{ELLIPSIS}]+)|([^ ])", side):
        if mark == "(":
            if inner is not None:
                raise EinopsError(
                    "Axis composition is one-level (brackets inside brackets not allowed)"
                )
            groups.append(inner := [])
        elif mark == ")":
            if inner is None:
                raise EinopsError("Brackets are not balanced")
            inner = None
        elif mark:
            raise EinopsError(f"Unknown character '{mark}'")
        else:
            if word in seen and not repeated and not (anonymous and word == "_"):
                raise EinopsError(f'Indexing expression contains duplicate dimension "{word}"')
            axis = _axis(word, anonymous)
            if isinstance(axis, str):
                seen.add(axis)
            alone = [] if axis is None else OPEN if axis == ELLIPSIS else [axis]
            (groups.append if inner is None else inner.extend)(alone)
    if inner is not None:
        raise EinopsError(f'Imbalanced parentheses in expression: "{side}"')
    return groups


def _axis(word: str, anonymous: bool) -> Axis | None:
    """None for 1, which is an axis of no elements of its own."""
    if word == ELLIPSIS or (anonymous and word == "_"):
        return word
    if word.isdecimal():
        return None if int(word) == 1 else Length(word)
    check_name(word)
    return word


def check_name(word: str) -> None:
    reason = (
        "not a valid python identifier" if not word.isidentifier() else
        "axis name should should not start or end with underscore"
        if word.startswith("_") or word.endswith("_") else ""
    )  # fmt: skip
    if reason:
        raise EinopsError(f"Invalid axis identifier: {word}\n{reason}")


def sides_of(pattern: str, operation: Any, given: Iterable[str]) -> tuple[list[Group], list[Group]]:
    """Both sides of a pattern, which fit together and the operation."""
    left_text, right_text = text_of(pattern).split("->")
    left, right = groups_of(left_text), groups_of(right_text)
    before, after = set(chain(*left)), set(chain(*right))
    if ELLIPSIS in after and ELLIPSIS not in before:
        raise EinopsError(f"Ellipsis found in right side, but not left side of a pattern {pattern}")
    if ELLIPSIS in before and not is_open(left):
        raise EinopsError(f"Ellipsis inside parenthesis in the left side is not allowed: {pattern}")
    if operation == "rearrange":
        if any(isinstance(axis, Length) for axis in before | after):
            raise EinopsError(
                "Non-unitary anonymous axes are not supported in rearrange (exception is length 1)"
            )
        if before != after:
            raise EinopsError(
                f"Identifiers only on one side of expression (should be on both): "
                f"{_set(before ^ after)}"
            )
    elif operation == "repeat":
        if before - after:
            raise EinopsError(
                f"Unexpected identifiers on the left side of repeat: {_set(before - after)}"
            )
        unknown = {axis for axis in after - before - set(given) if isinstance(axis, str)}
        if unknown:
            raise EinopsError(f"Specify sizes for new axes in repeat: {_set(unknown)}")
    elif isinstance(operation, str) and operation not in REDUCTIONS:
        raise EinopsError(f"Unknown reduction {operation}. Expect one of {REDUCTIONS}.")
    elif after - before:
        raise EinopsError(
            f"Unexpected identifiers on the right side of reduce {operation}: "
            f"{_set(after - before)}"
        )
    return left, right


class Plan(NamedTuple):
    """What is done one after another; None and nothing for what is left out."""

    split: list[int] | None
    order: list[int] | None
    reduced: tuple[int, ...]
    added: dict[int, int]
    dimensions: int  # with the added ones
    joined: list[int] | None


def opened(groups: list[Group], axes: list[Axis]) -> list[Group]:
    """With the axes that the ellipsis stands for in its place."""
    found: list[Group] = []
    for group in groups:
        if group is OPEN:
            found += [[axis] for axis in axes]
        else:
            found.append([a for axis in group for a in (axes if axis == ELLIPSIS else [axis])])
    return found


def named(pattern: str, operation: Any, given: dict[str, Any], dimensions: int) -> Any:
    """Both sides for so many dimensions, and the lengths that are known of their axes."""
    left, right = sides_of(pattern, operation, given)
    rest = dimensions - len(left)
    if is_open(left):
        if rest < -1:
            raise EinopsError(
                f"Wrong shape: expected >={len(left) - 1} dims. Received {dimensions}-dim tensor."
            )
        axes: list[Axis] = [f"{ELLIPSIS}{place}" for place in range(rest + 1)]
        left, right = opened(left, axes), opened(right, axes)
    elif rest:
        raise EinopsError(
            f"Wrong shape: expected {len(left)} dims. Received {dimensions}-dim tensor."
        )
    lengths: dict[Axis, Any] = {
        axis: getattr(axis, "value", None) for axis in chain(*left, *right)
    }  # fmt: skip
    for name, length in given.items():
        if name not in lengths:
            raise EinopsError(f"Axis {name} is not used in transform")
        lengths[name] = length_of(length)
    for group in left:
        unknown = [axis for axis in group if lengths[axis] is None]
        if len(unknown) > 1:
            raise EinopsError(f"Could not infer sizes for {_set(unknown)}")
    return left, right, lengths


def length_of(given: Any) -> Any:
    """A number; what is not whole fails where a tensor is reshaped."""
    if isinstance(given, int | float):
        return given
    if not isinstance(given, Tensor):
        raise TypeError(f"the length of an axis must be an int, not {type_name(given)}")
    return given.__index__()


def product(lengths: Iterable[Any]) -> Any:
    """Of the lengths of axes that are one. What has more digits than a size is refused on the way:
    a program can name very many axes."""
    whole: Any = 1
    for length in lengths:
        whole *= length
        if not -LARGEST <= whole < LARGEST:
            raise OverflowError("Python int too large to convert to C long")
    return whole


def plan_of(pattern: str, operation: Any, given: dict[str, Any], shape: Sequence[int]) -> Plan:
    left, right, lengths = named(pattern, operation, given, len(shape))
    for group, size in zip(left, shape, strict=True):
        unknown = [axis for axis in group if lengths[axis] is None]
        known = product(lengths[axis] for axis in group if lengths[axis] is not None)
        if not unknown and size != known:
            raise EinopsError(f"Shape mismatch, {size} != {known}")
        for axis in unknown:
            if size % known:
                raise EinopsError(
                    f"Shape mismatch, can't divide axis of length {size} in chunks of {known}"
                )
            lengths[axis] = size // known
    before: Group = list(chain(*left))
    after: Group = list(chain(*right))
    places = {axis: place for place, axis in enumerate(before)}
    order = [places[axis] for axis in after if axis in places]
    kept = len(order)
    stays = set(after)
    order += [place for axis, place in places.items() if axis not in stays]
    return Plan(
        [lengths[axis] for axis in before] if any(len(group) != 1 for group in left) else None,
        None if order == sorted(order) else order,
        tuple(range(kept, len(order))),
        {place: lengths[axis] for place, axis in enumerate(after) if axis not in places},
        len(after),
        [product(lengths[axis] for axis in group) for group in right]
        if any(len(group) != 1 for group in right) else None,
    )  # fmt: skip
