"""Utils: questions and switches of PyTorch's that have one answer here, or change nothing."""

from __future__ import annotations

from typing import Any

from ..engine.tensors.tensor import Tensor
from ..func.tree import flatten, unflatten
from .compiled import decorator


def never(*asked: Any) -> bool:
    return False


def always(*asked: Any) -> bool:
    return True


def nothing(*given: Any, **options: Any) -> None:
    return None


def one() -> int:
    return 1


def annotate(the_type: Any, the_value: Any) -> Any:
    """torch.jit.annotate"""
    return the_value


def disable(fn: Any = None, recursive: bool = True, **options: Any) -> Any:
    """torch.compiler.disable, with and without parentheses: nothing is compiled."""
    return decorator if fn is None else fn


def is_inference(input: Tensor) -> bool:
    return input.is_inference()


def get_device(input: Tensor) -> int:
    return input.get_device()


def tree_map(func: Any, tree: Any, *rests: Any) -> Any:
    """torch.utils._pytree.tree_map: the same containers around what `func` makes of the leaves."""
    leaves, spec = flatten(tree)
    others = [flatten(rest)[0] for rest in rests]
    return unflatten([func(*each) for each in zip(leaves, *others, strict=True)], spec)


def tree_leaves(tree: Any) -> list[Any]:
    return flatten(tree)[0]
