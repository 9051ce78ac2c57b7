"""Tests: random programs over tensors, the same text from the same seed."""

from __future__ import annotations

import random

UNARY = (
    "{a}.sin()", "{a}.tanh()", "{a}.exp()", "{a}.sigmoid()", "-{a}", "{a} * 2", "3 - {a}",
    "{a} + 0.5", "{a} / 4", "2 / ({a} * {a} + 1)", "{a} ** 2", "{a} ** 3", "torch.relu({a})",
    "{a}.abs()", "({a} * {a} + 1).sqrt()", "({a} * {a} + 1).log()", "{a}.clamp(-1, 1)",
    "{a}.detach() * {a}", "torch.where({a} > 0, {a}, {a} * 0.1)", "{a}.clone()",
    "torch.cos({a}) - {a}", "{a}.float()", "{a}.double()", "{a}.softmax(-1)", "{a}.log_softmax(-1)",
    "{a}.neg().exp()", "torch.nn.functional.gelu({a})", "torch.nn.functional.softplus({a})",
    "{a}.cumsum(-1)", "{a}.flip(0)", "{a}.masked_fill({a} > 1, 0.0)", "{a}.square()",
    "{a}.reciprocal()",
)  # fmt: skip
SHAPES = (
    "{a}.reshape(3, 2)", "{a}.t()", "{a}.T", "{a}.view(6)", "{a}[0]", "{a}[:, 1:]", "{a}[..., -1]",
    "{a}.unsqueeze(0)", "{a}.flatten()", "{a}.transpose(0, 1)", "{a}.permute(1, 0)",
    "{a}[[0, 1, 0]]", "{a}.expand(2, 2, 3)", "{a}.repeat(2, 1)", "torch.cat([{a}, {a}])",
    "torch.stack([{a}, {a} * 2])", "{a}[{a} > 0]", "{a}.split(2, 1)[0]", "{a}.unbind(0)[1]",
    "{a}.squeeze()", "{a}.diagonal()", "{a}.index_select(1, torch.tensor([2, 0]))",
    "{a}.gather(1, torch.tensor([[0, 2], [1, 1]]))", "{a}.chunk(2)[0]", "{a}.narrow(1, 0, 2)",
    "{a}.roll(1)", "{a}.tril()", "{a}.sort(1)[0]",
)  # fmt: skip
BINARY = (
    "{a} + {b}", "{a} - {b}", "{a} * {b}", "{a} / ({b} * {b} + 1)", "torch.maximum({a}, {b})",
    "torch.minimum({a}, {b})", "{a} @ {b}.t()", "{a} * {b}.sum()", "{a} + {b}[0]", "{a}.mul({b})",
    "torch.add({a}, {b}, alpha=2)", "torch.nn.functional.mse_loss({a}, {b})", "{a} * {b}.mean(0)",
    "torch.atan2({a}, {b} + 3)", "({a} * {a} + 1) ** {b}", "{a} - {b}.max(1, keepdim=True)[0]",
    "torch.where({a} > {b}, {a}, {b})", "{a}.addcmul({b}, {b}, value=0.5)",
)  # fmt: skip
REDUCE = (
    "{a}.sum()", "{a}.mean()", "({a} * {a}).sum()", "{a}.max()", "{a}.norm()", "{a}.sum(0).prod()",
    "{a}.std()", "{a}.var(-1).sum()", "{a}.logsumexp(-1).sum()", "{a}.amax(-1).sum()",
    "{a}.prod(-1).sum()",
)  # fmt: skip
IN_PLACE = (
    "{a} += 1", "{a} *= 2", "{a}.mul_({b})", "{a}[0] = 1.5", "{a}[:, 1] = {b}[:, 0]",
    "{a}.add_({b})", "{a}[1] += 2", "{a}.zero_()", "{a}.clamp_(-1, 1)", "{a}.t()[0] *= 3",
    "{a}.exp_()", "{a}.sigmoid_()",
)  # fmt: skip


def program(seed: int) -> str:
    """A dozen statements on tensors of two rows and three columns, a result, and its gradients."""
    draw = random.Random(seed)
    lines = [f"torch.manual_seed({seed})"]
    matrices = []
    for name in ("p", "q", "r"):
        grad = ", requires_grad=True" if name != "r" or draw.random() < 0.3 else ""
        dtype = ", dtype=torch.float64" if draw.random() < 0.2 else ""
        lines.append(f"{name} = torch.randn(2, 3{dtype}{grad})")
        matrices.append(name)
    others = []
    for place in range(draw.randint(3, 9)):
        a, b = draw.choice(matrices), draw.choice(matrices)
        name = f"t{place}"
        kind = draw.random()
        if kind < 0.4:
            lines.append(f"{name} = {draw.choice(UNARY).format(a=a)}")
            matrices.append(name)
        elif kind < 0.65:
            lines.append(f"{name} = {draw.choice(BINARY[:6] + BINARY[9:11]).format(a=a, b=b)}")
            matrices.append(name)
        elif kind < 0.78:
            lines.append(f"{name} = {draw.choice(BINARY).format(a=a, b=b)}")
            others.append(name)
        elif kind < 0.9:
            lines.append(f"{name} = {draw.choice(SHAPES).format(a=a)}")
            others.append(name)
        elif len(matrices) > 3:
            a = draw.choice(matrices[3:])
            lines.append(draw.choice(IN_PLACE).format(a=a, b=b))
    used = draw.sample(matrices[3:] + others, min(3, len(matrices[3:] + others))) or ["p"]
    total = " + ".join(draw.choice(REDUCE).format(a=name) for name in used)
    lines.append(f"loss = {total}")
    if draw.random() < 0.3:
        lines.append("g, = torch.autograd.grad(loss, p, create_graph=True, allow_unused=True)")
        lines.append("if g is not None and g.requires_grad:")
        lines.append("    g.sum().backward()")
    else:
        lines.append("loss.backward()")
    lines.append("print(loss, p.grad, q.grad)")
    return "\n".join(lines) + "\n"
