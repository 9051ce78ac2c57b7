"""language: annotations: types of typing, unions, generic types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

LONGEST = 1000  # characters of an annotation


class Joined:
    """What `|` makes a union of: int | None."""

    __slots__ = ()

    def __or__(self, other: Any) -> Any:
        return _union(self, other)

    def __ror__(self, other: Any) -> Any:
        return _union(other, self)


def _union(*kinds: Any) -> Any:
    if not all(kind is None or isinstance(kind, Joined) for kind in kinds):
        return NotImplemented
    parts = [part for kind in kinds for part in (getattr(kind, "parts", ()) or (kind,))]
    parts = list(dict.fromkeys(parts))
    return parts[0] if len(parts) == 1 else Annotation(" | ".join(map(kind_text, parts)), parts)


def kind_text(kind: Any) -> str:
    """A type within an annotation: int, torch.Tensor, list[int]."""
    if isinstance(kind, Joined) and not isinstance(kind, Annotation):
        return str(kind.text).removeprefix("<class '").removesuffix("'>")  # type: ignore[attr-defined]
    if type(kind) is list:  # the arguments of a Callable
        return f"[{', '.join(map(kind_text, kind))}]"
    return "..." if kind is ... else str(kind)


class Annotation(Joined):
    """What is imported from typing: List, and List[int] too; of a union, what it joins."""

    __slots__ = ("parts", "text")

    def __init__(self, text: str, parts: Iterable[Any] = ()) -> None:
        self.text, self.parts = text, tuple(parts)

    def __repr__(self) -> str:
        return self.text


def within(name: str, inner: Any) -> Annotation:
    """A type with others inside: list[int]."""
    parts = inner if type(inner) is tuple else (inner,)
    joined = {"typing.Union": parts, "typing.Optional": (*parts, None)}.get(name, ())
    shown = map(repr, parts) if name == "typing.Literal" else map(kind_text, parts)
    return Annotation(f"{name}[{', '.join(shown)}]"[:LONGEST], joined)
