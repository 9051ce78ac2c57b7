"""Utils: torch.compile and torch.jit: compiled functions behave as before."""

from __future__ import annotations

from typing import Any


def decorator(fn: Any) -> Any:
    return fn


def compile_(model: Any = None, **options: Any) -> Any:
    return decorator if model is None else model


def script(obj: Any, **options: Any) -> Any:
    return obj


def export(fn: Any) -> Any:
    return fn


def unused(fn: Any) -> Any:
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """@torch.jit.ignore, or @torch.jit.ignore(drop=True)"""
    if callable(drop):
        return drop
    if not isinstance(drop, bool):
        raise RuntimeError(
            f"Argument to @torch.jit.ignore must be a bool or a function but got {drop}"
        )
    return decorator


def trace(func: Any, example_inputs: Any = None, **options: Any) -> Any:
    return func
