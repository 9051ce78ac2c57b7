"""Tests: random programs of scalars with names bound again, functions, loops and lists."""

from __future__ import annotations

import random

ONE = (
    "{x}.sin()", "torch.cos({x})", "{x}.tanh()", "-{x}", "{x} * 2", "3 - {x}", "{x} / 4",
    "1 / ({x} * {x} + 1)", "{x} ** 2", "({x} ** 2 + 1).sqrt()", "({x} * {x} + 1).log()",
    "exp(-{x} * {x})", "{x}.sigmoid()", "torch.relu({x})", "{x} * scale", "2 ** {x}",
    "F.softplus({x})", "torch.where({x} > 0, {x}, {x} * 0.1)", "{x}.abs() + 1",
    "{x}.detach() * {x}",
)  # fmt: skip
TWO = (
    "{x} + {y}", "{x} - {y}", "{x} * {y}", "{x} / ({y} * {y} + 1)", "{x} * {y} + {x}",
    "({x} * {x} + 1) ** {y}", "torch.maximum({x}, {y})", "torch.sin({x} * {y})", "mix({x}, {y})",
    "{x} * {y}.detach()", "torch.atan2({x}, {y} + 3)", "({x} - {y}) ** 2",
    "torch.add({x}, {y}, alpha=0.5)", "torch.stack([{x}, {y}]).sum()",
)  # fmt: skip
FUNCTION = """\
def mix(u, v):
    part = u * v
    part = part.tanh() - u
    return part * scale
"""


def program(seed: int) -> str:
    """Three leaves, some ten names, and L at the end."""
    draw = random.Random(seed)
    lines = [f"scale = {draw.choice((0.5, 1.5, 2.0))}", FUNCTION.rstrip()]
    lines += [f"{name} = tensor({round(draw.uniform(-1.5, 1.5), 2)}, requires_grad=True)"
              for name in ("a", "b", "c")]  # fmt: skip
    lines.append("ws = [a * 0.5, b + c]")
    known = ["a", "b", "c", "ws[0]", "ws[1]"]

    def expression() -> str:
        x, y = draw.choice(known), draw.choice(known[-4:])
        return draw.choice(TWO if draw.random() < 0.6 else ONE).format(x=x, y=y)

    for place in range(draw.randint(3, 7)):
        kind = draw.random()
        if kind < 0.15 and "y" in known:
            lines += [f"for i in range({draw.randint(1, 3)}):",
                      f"    y = y * {draw.choice(known)} + i"]  # fmt: skip
        elif kind < 0.4:
            lines.append(f"y = {expression()}")
            known = [name for name in known if name != "y"] + ["y"]
        else:
            lines.append(f"t{place} = {expression()}")
            known.append(f"t{place}")
    used = draw.sample(known, min(3, len(known)))
    lines.append("L = " + " + ".join([f"{known[-1]} * {used[0]}", *used[1:]]))
    return "\n".join(lines) + "\n"
