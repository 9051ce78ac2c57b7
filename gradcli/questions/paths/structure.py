"""Questions: what kind of matrix a local derivative is, from the nodes between its ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod
from typing import Any

from ...engine.tensors.saved import unpack
from ...recording.collect import short_name
from ...recording.sides import row_of, users_class

# Nodes of the engine's own.
_WITHOUT_ROW = {"CopySlices": "placement", "AsStridedBackward": "selection"}
_OF_ACTS = {
    "pointwise": "diagonal", "random": "diagonal", "product": "matmul", "selects": "selection",
    "spreads": "broadcast sum",
}  # fmt: skip
MOST = 3  # words for one edge
REDUCED = ("diagonal", "mean", "sum")  # of a loss, by its reduction: none, mean, sum
POINTWISE = frozenset({"diagonal", "identity", "minus identity"})


def structure(
    pairs: Sequence[tuple[Any, int]], before: tuple[int, ...], after: tuple[int, ...]
) -> str:
    """The words for one edge. `pairs` are the nodes on it, each with the input that leads on; the
    gradient's shape is `before`, then `after`."""
    words: list[str] = []
    for node, place in pairs:
        word = _word(node, place)
        if word == "identity" and words:
            continue
        if words and words[-1] == "identity":
            words.pop()
        if not words or words[-1] != word:
            words.append(word)
    counted = Counter(id(node) for node, _ in pairs)
    several = {number for number, count in counted.items() if count > 1}
    if several and POINTWISE.issuperset(words):
        words = ["diagonal"]
    elif several - {id(pairs[-1][0])}:  # they part before the last node, and meet again
        words = ["several ways"]
    if not words:
        words = ["identity"]
    if prod(after) < prod(before) and words[-1] in POINTWISE:
        words = ["broadcast sum"] if words == ["identity"] else [*words, "broadcast sum"]
    if len(words) > MOST:
        return f"{len(words)} operations"
    return " · ".join(words)


def _word(node: Any, place: int) -> str:
    name, row = short_name(node), getattr(node, "row", None)
    if row is None:
        row = _foreign(node)
    if row is None:
        return _WITHOUT_ROW.get(name.rstrip("0123456789"), "user function")
    if row.jacobian == "mean" and "reduction" in row.saved_keys:
        return REDUCED[_saved(node, row, "reduction")]
    if row.jacobian:
        return str(row.jacobian)
    if row.name in ("add", "sub") and row.symbol:
        if place and "alpha" in row.saved_keys and _saved(node, row, "alpha") != 1:
            return "diagonal"
        return "minus identity" if place and row.name == "sub" else "identity"
    if name in ("NegBackward0", "RsubBackward1"):
        return "minus identity"
    return _OF_ACTS.get(row.acts, "view" if row.view else "dense")


def _foreign(node: Any) -> Any:
    """The declaration of a node of PyTorch's that computes by itself."""
    foreign = getattr(node, "foreign", None)
    return None if foreign is None or users_class(foreign) else row_of(foreign)


def _saved(node: Any, row: Any, key: str) -> Any:
    """An argument that the node saved."""
    foreign = getattr(node, "foreign", None)
    if foreign is not None:
        return getattr(foreign, f"_saved_{key}")
    return unpack(node, row.saved_keys.index(key))
