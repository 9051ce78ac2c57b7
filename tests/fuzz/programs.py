"""The fuzzer's programs: the same text from the same seed."""

from __future__ import annotations

from collections import Counter

from . import graphs, networks, structure, tensors
from .author import Author

STATEMENTS = [
    *tensors.STATEMENTS, *graphs.STATEMENTS, *structure.STATEMENTS, *networks.STATEMENTS
]  # fmt: skip


def written(seed: int) -> tuple[str, Counter[str]]:
    """A program, and how many statements of each kind it has."""
    author = Author(seed)
    author.put(f"torch.manual_seed({seed % 1000})")
    for _ in range(author.draw.randint(1, 3)):
        author.leaf()
    author.leaf(grad=True)
    for _ in range(author.draw.randint(5, 22)):
        structure.one_of(author, STATEMENTS)
    author.kinds["backward"] += 1
    graphs.backward(author)
    return "\n".join(author.lines) + "\n", author.kinds


def program(seed: int) -> str:
    return written(seed)[0]
