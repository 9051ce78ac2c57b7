"""Inputs: `name=value` as written after --set or in a comment of the program."""

from __future__ import annotations

import ast
import os
from typing import Any

from ..named import NamedTuple
from .refused import InputError, shortened

LONGEST = 1 << 20  # characters of one value: what is larger belongs into a file
_NUMBERS = {"nan": float("nan"), "inf": float("inf")}
_REFUSED = "is not a value: write a number, a list of numbers, True, 'text', or @FILE"


class Input(NamedTuple):
    """A value for a name of the program.

    `kind` is "leaf" (a float, or lists with a float among their numbers), "plain" (any other
    Python value) or "array" (read from a file).
    """

    name: str
    kind: str
    value: Any


def parse_set(text: str, *, folder: str | None = None, most: int = 1 << 32) -> Input:
    """`name=value`; values that start with @ are read from files below `folder` (None: any)."""
    name, equals, value = text.partition("=")
    name = name.strip()
    if not equals or not name.isidentifier():
        raise InputError(
            f"--set {shortened(text)}: expected NAME=VALUE", "--set a=4.0 or --set x=[1.0,2.0]"
        )
    return parse_value(name, value.strip(), folder=folder, most=most)


def parse_value(name: str, text: str, *, folder: str | None = None, most: int = 1 << 32) -> Input:
    """The value that the text stands for."""
    if text.startswith("@"):
        from .readers import read

        if text == "@":
            raise InputError(f"{name}: @ names no file", f"--set {name}=@data.npy")
        return Input(name, "array", read(*split_path(text[1:]), folder=folder, most=most))
    value = _literal(name, text)
    return Input(name, "leaf" if is_floating(value) else "plain", value)


def default_of(name: str, text: str, file: str | None, most: int) -> Input:
    """The value that a program's own first comments give to a name, data beside the file only."""
    if text.startswith("@") and file is None:
        raise InputError(
            f"{name}={shortened(text)}: a program without a file has no data beside it",
            f"on the command line: --set {name}={shortened(text)}",
        )
    folder = os.path.dirname(os.path.abspath(file)) if file is not None else None
    return parse_value(name, text, folder=folder, most=most)


def is_floating(value: Any) -> bool:
    """A float, or lists of numbers with a float among them."""
    if isinstance(value, list):
        return any(map(is_floating, value)) and all(
            isinstance(item, (int, float, list)) for item in value
        )
    return isinstance(value, float)


def split_path(text: str) -> tuple[str, str]:
    """`file.npz:key` as file and key; a colon that belongs to the path stays there."""
    path, colon, key = text.rpartition(":")
    if colon and path.lower().endswith((".npz", ".safetensors", ".csv")) and "/" not in key:
        return path, key
    return text, ""


def _literal(name: str, text: str) -> Any:
    if len(text) > LONGEST:
        raise InputError(
            f"{name}: the value has {len(text):,} characters, {LONGEST:,} is the limit",
            f"put it into a file: --set {name}=@values.csv",
        )
    try:
        return _value(ast.parse(text.strip(), mode="eval").body)
    except InputError:
        raise
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError, OverflowError):
        raise InputError(f"{name}: '{shortened(text)}' {_REFUSED}", _advice(name, text)) from None


def _advice(name: str, text: str) -> str:
    text = shortened(text)
    if text.replace("_", "").replace("-", "").replace(" ", "").isalnum():
        return f"--set \"{name}='{text}'\" for a text, --set {name}=@{text} for a file"
    if text.startswith(("tensor(", "torch.tensor(")):
        return f"--set {name}=[1.0,2.0]: a list with floats becomes a tensor that requires grad"
    return f"--set {name}=4.0"


def _value(node: ast.expr) -> Any:
    """Numbers, texts, True, False, None, lists, tuples, dicts; also nan and inf."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, (int, float, str, bool, type(None))):
            return node.value
    elif isinstance(node, ast.Name) and node.id in _NUMBERS:
        return _NUMBERS[node.id]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = _value(node.operand) if isinstance(node.operand, (ast.Constant, ast.Name)) else None
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return -value if isinstance(node.op, ast.USub) else value
    elif isinstance(node, ast.List):
        return [_value(item) for item in node.elts]
    elif isinstance(node, ast.Tuple):
        return tuple(_value(item) for item in node.elts)
    elif isinstance(node, ast.Dict) and None not in node.keys:
        return {
            _value(key): _value(value)  # type: ignore[arg-type]
            for key, value in zip(node.keys, node.values, strict=True)
        }
    raise ValueError("not a plain value")
