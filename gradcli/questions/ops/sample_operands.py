"""Questions: the operands that the samples of declarations are written over.

Values have no ties and no zeros, and stay away from the edges of the functions' domains and from
round numbers, where piecewise functions have their kinks.
"""

from __future__ import annotations

from typing import Any

# Name: values, all float32 and requiring grad.
FLOATING: dict[str, Any] = {
    "x": [[0.5625, -1.28125, 1.71875], [-0.34375, 0.84375, -1.53125]],
    "y": [[-0.65625, 1.15625, 0.21875], [1.40625, -1.84375, 0.78125]],
    "p": [[0.75, 1.5, 0.625], [1.125, 1.875, 0.875]],
    "q": [[1.25, 0.5625, 1.75], [0.6875, 1.375, 1.0625]],
    "u": [[0.53125, -0.71875, 0.125], [-0.28125, 0.8125, -0.4375]],
    "s": 1.40625,
    "t": -0.71875,
    "v": [0.59375, -1.21875, 1.90625],
    "w": [1.125, 0.375, -0.78125],
    "a": [[2.0, 0.5, -0.25], [0.375, 1.75, 0.625], [-0.5, 0.125, 1.5]],
    "b": [[1.5, -0.375, 0.25], [0.5, 2.25, -0.125], [0.75, -0.625, 1.875]],
    "c": [
        [[2.25, -0.375, 0.5], [0.25, 1.25, -0.75], [0.875, 0.125, 1.625]],
        [[1.75, 0.5, -0.25], [0.125, 1.5, 0.375], [-0.5, 0.625, 2.0]],
    ],
    "r": [[0.25, -0.5, 1.0, 1.5], [-1.75, 0.625, 0.875, -0.125], [1.25, -0.75, 0.375, -1.375]],
    "z": [[0.75, -1.5, 1.25]],
}
DOUBLE: dict[str, Any] = {"d": [[0.875, -0.25, 1.125], [-1.625, 0.4375, 1.3125]]}
FIXED: dict[str, Any] = {
    "i": [[0, 2, 1], [1, 0, 2]],
    "j": [0, 2, 1],
    "k": [[True, False, True], [False, False, True]],
    "n": 2,
}


def statement(name: str) -> str | None:
    """The line of a program that makes an operand; None where no operand has the name."""
    if name in FLOATING:
        return f"{name} = torch.tensor({FLOATING[name]}, requires_grad=True)"
    if name in DOUBLE:
        return f"{name} = torch.tensor({DOUBLE[name]}, dtype=torch.float64, requires_grad=True)"
    return f"{name} = torch.tensor({FIXED[name]})" if name in FIXED else None
