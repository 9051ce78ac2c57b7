"""Tests: one expression about transformations, evaluated under PyTorch or under gradcli."""

from __future__ import annotations

import warnings
from typing import Any

from examine import first_line, name_of
from oracle import question

NAMES = "grad grad_and_value vjp jvp jacrev jacfwd hessian vmap functional_call linearize".split()

SETUP = """
X = torch.tensor([0.1, 0.5, -0.3])
Y = torch.tensor([1.0, -2.0, 0.5])
A = torch.tensor([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.0]])
B = torch.tensor([[0.4, -0.1, -0.6], [0.2, -0.3, -0.4], [0.1, 0.3, -0.2], [-0.1, -0.2, 0.05]])
M = torch.arange(6.0).reshape(2, 3)
s = torch.tensor(2.0)
sr = torch.tensor(2.0, requires_grad=True)
Xr = X.clone().requires_grad_()
"""


def scope(lib: Any) -> dict[str, Any]:
    """The names of an expression."""
    names: dict[str, Any] = {"torch": lib, "F": lib.nn.functional, "nn": lib.nn}
    names |= {name: getattr(lib.func, name) for name in NAMES}
    names["fw"] = lib.autograd.forward_ad
    names["af"] = lib.autograd.functional
    exec(SETUP, names)  # the setup above, under the one library or the other
    return names


def described(value: Any, lib: Any) -> Any:
    """Numbers, types, whether a graph hangs on them."""
    if isinstance(value, lib.Tensor):
        plain = value.detach()
        numbers = [float(f"{float(item):.5g}") + 0.0 for item in _flat(plain.tolist())]
        node = name_of(value.grad_fn)
        return [str(plain.dtype), list(plain.shape), numbers, node if node == "x" else bool(node)]
    if isinstance(value, dict):
        return {str(key): described(item, lib) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [described(item, lib) for item in value]
    return str(value) if callable(value) is False else "function"


def _flat(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [item for part in value for item in _flat(part)]
    return [value.real, value.imag] if isinstance(value, complex) else [value]


@question
def transformed(lib: Any, text: str) -> Any:
    """What an expression gives, or the first line of its error."""
    lib.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return described(eval(text, scope(lib)), lib)
        except Exception as error:
            return first_line(error)


def close(ours: Any, theirs: Any, tolerance: float = 2e-4) -> bool:
    """The same but for rounding."""
    if isinstance(ours, float) and isinstance(theirs, float | int):
        if ours == theirs or (ours != ours and theirs != theirs):
            return True
        return abs(ours - theirs) <= tolerance * max(1.0, abs(theirs))
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(
            close(a, b, tolerance) for a, b in zip(ours, theirs, strict=True)
        )
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(
            close(value, theirs[key], tolerance) for key, value in ours.items()
        )
    return bool(ours == theirs)
