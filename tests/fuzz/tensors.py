"""The fuzzer's statements on tensors: made, computed with, looked at, changed in place."""

from __future__ import annotations

import math
from collections.abc import Callable

from .author import RANK, Author, Shape, Value, broadcast, nested, together

POINTWISE = (
    "sin", "cos", "tanh", "sigmoid", "abs", "neg", "square", "relu", "exp", "sign", "floor", "ceil",
    "round", "trunc", "frac", "erf", "atan", "sinh", "reciprocal", "expm1", "clone", "positive",
    "detach", "rsqrt", "log1p", "sqrt", "log", "asinh", "sgn", "logit", "erfc", "exp2", "tan",
)  # fmt: skip
BOTH_SPELLINGS = frozenset(POINTWISE) - {"detach"}
FUNCTIONAL = (
    "F.relu({a})", "F.softplus({a})", "F.gelu({a})", "F.silu({a})", "F.elu({a})", "F.selu({a})",
    "F.leaky_relu({a}, 0.2)", "F.hardtanh({a})", "F.mish({a})", "F.logsigmoid({a})",
    "F.softsign({a})", "F.tanhshrink({a})", "F.hardswish({a})", "F.relu6({a})", "F.celu({a})",
    "F.threshold({a}, 0.1, 20.0)", "F.hardsigmoid({a})", "F.gelu({a}, approximate='tanh')",
    "F.softshrink({a})", "F.dropout({a}, 0.3)", "F.dropout({a}, 0.5, training=False)",
    "torch.clamp({a}, -1, 1)", "{a}.clamp(min=0)", "{a}.clip(max=0.5)",
    "{a}.masked_fill({a} > 0, {n})",
    "torch.where({a} > 0, {a}, {a} * 0.1)", "torch.where({a} > 0, {a}, 0.0)", "{a}.nan_to_num()",
    "{a} ** 2", "{a} ** 3", "2 ** {a}", "{a}.abs() ** 0.5", "{a} * {n}", "{n} - {a}", "{a} / 4",
    "1 / ({a} * {a} + 1)", "-{a}", "+{a}", "abs({a})", "{a} % 2", "{a} // 2", "torch.pow({a}, 2)",
    "{a}.pow(3)", "torch.lerp({a}, {a} * 2, 0.3)", "{a}.mul({n})", "{a}.add({n}, alpha=2)",
    "torch.rsub({a}, {n})", "{a}.detach() * {a}", "{a}.data * 2", "{a}.clone().detach()",
    "{a}.contiguous()", "torch.zeros_like({a})", "torch.ones_like({a}) * {a}", "{a}.type_as({a})",
    "torch.full_like({a}, {n})", "{a}.new_tensor(2.0) * {a}", "({a} > 0).float() * {a}",
    "{a}.to(torch.float32)", "torch.heaviside({a}, {a}.detach())", "{a}.copysign(-1)",
    "torch.rand_like({a}) + {a}", "{a}.new_zeros({s}) + {a}",
    "torch.addcmul({a}, {a}, {a}, value=2)",
    "torch.special.expit({a})", "torch.xlogy({a}, {a}.abs() + 1)", "{a}.fmod(1.5)",
    "{a}.remainder(2)",
    "torch.hypot({a}, {a})", "torch.logaddexp({a}, {a})", "torch.nan_to_num({a}, nan=0.5)",
)  # fmt: skip
ALONG = (
    "{a}.softmax({d})", "F.softmax({a}, dim={d})", "F.log_softmax({a}, {d})", "{a}.cumsum({d})",
    "{a}.cumprod(dim={d})", "{a}.flip({d})", "{a}.roll(1, {d})", "{a}.sort({d})[0]",
    "{a}.sort(dim={d}, descending=True).values", "torch.cat([{a}, {a}], {d})[...] * 2",
    "{a}.logcumsumexp({d})", "F.normalize({a}, dim={d})", "{a} - {a}.mean({d}, keepdim=True)",
    "{a} / ({a}.abs().sum({d}, keepdim=True) + 1)", "{a}.cummax({d}).values", "F.softmin({a}, {d})",
    "{a} - {a}.amax({d}, keepdim=True)", "torch.renorm({a}, 2, 0, 1.0)",
)  # fmt: skip
BINARY = (
    "{a} + {b}", "{a} - {b}", "{a} * {b}", "{a} / {b}", "{a} / ({b} * {b} + 1)", "{a} * {b} + {a}",
    "torch.maximum({a}, {b})", "torch.minimum({a}, {b})", "torch.add({a}, {b}, alpha=2)",
    "{a}.mul({b})", "torch.atan2({a}, {b})", "torch.where({a} > {b}, {a}, {b})", "{a}.sub({b})",
    "torch.sub({a}, {b}, alpha=0.5)", "({a}.abs() + 0.5) ** {b}", "torch.lerp({a}, {b}, 0.25)",
    "{a}.addcmul({b}, {b}, value=0.5)", "torch.addcdiv({a}, {b}, {b} * {b} + 1)", "{a}.div({b})",
    "torch.true_divide({a}, {b})", "torch.hypot({a}, {b})", "torch.logaddexp({a}, {b})",
    "torch.fmax({a}, {b})", "torch.copysign({a}, {b})", "{a} * {b}.detach()", "{a} + {b}.sum()",
    "{a} * {b}.mean()", "{a} * ({b} > 0)", "torch.clamp({a}, {b}, {b} + 1)", "{a} * 2 - {b}",
    "torch.div({a}, {b}, rounding_mode='floor')", "torch.remainder({a}, {b})", "{a} @ {b}",
    "{a} % {b}", "torch.fmin({a}, {b})", "torch.xlogy({a}, {b})",
)  # fmt: skip
WHOLE = (
    "sum", "sum", "mean", "prod", "max", "min", "norm", "std", "var", "amax", "amin", "argmax",
    "argmin", "any", "all", "median", "logsumexp", "count_nonzero", "numel", "nansum",
)  # fmt: skip
INTEGERS = (
    "{a}.float() * 0.5", "{a} + 1", "{a} // 2", "{a} % 3", "{a} * {a}", "{a}.double()", "{a} > 1",
    "{a} == {a}", "~({a} > 0)", "{a}.to(torch.float64)", "{a}.clamp(0, 2)", "{a} / 2", "{a}.abs()",
    "{a}.bool()", "{a} & 3", "{a} | 1", "{a} ^ 2", "{a} << 1", "{a}.int()", "-{a}", "{a}.sum()",
    "F.one_hot({a}.abs() % 4, 4)", "{a}.cumsum(0)", "{a}.unique()", "{a}.float().requires_grad_()",
    "{a}.type(torch.int32)", "torch.bincount({a}.flatten().abs())", "{a} ** 2", "{a}.short()",
)  # fmt: skip


OTHER_FLOATS = ("float16", "bfloat16", "float64")


def make(author: Author) -> None:
    """A tensor from numbers, from a function, of any type."""
    draw = author.draw
    if author.chance(0.5):
        author.leaf()
        return
    shape: Shape = draw.choice([(2, 3), (3,), (), (2, 2), (4,)])
    dtype = author.one("float32", "int64", "float64", "int32", "bool", "uint8", "float16")
    name = author.new("c")
    text = author.one(
        f"torch.ones({shape!r})", f"torch.zeros({shape!r}, dtype=torch.{dtype})",
        f"torch.full({shape!r}, {author.number()})",
        f"torch.arange({math.prod(shape)}.0).view({shape!r})",
        f"torch.tensor({nested(draw, shape, whole=True)})", f"torch.eye({draw.randint(1, 3)})",
        f"torch.tensor({nested(draw, shape, whole=True)}, dtype=torch.{dtype})",
        f"torch.linspace(-1, 1, {draw.randint(2, 4)})", "torch.tensor(2.5)", "torch.tensor(3)",
        f"torch.randint(0, 5, {shape!r})", "torch.tensor([True, False, True])",
        f"torch.randperm({draw.randint(2, 5)})", f"torch.arange({draw.randint(1, 5)})",
        f"torch.normal(0.0, 1.0, {shape!r})", f"torch.empty({shape!r}).uniform_(-1, 1)",
        f"torch.zeros({shape!r}).normal_()", f"torch.bernoulli(torch.full({shape!r}, 0.5))",
        f"torch.tensor({nested(draw, shape)}, dtype=torch.{author.one(*OTHER_FLOATS)})",
        f"torch.nn.Parameter(torch.randn({shape!r}))", f"torch.ones({shape!r}).requires_grad_()",
    )  # fmt: skip
    author.put(f"{name} = {text}")
    known = Value(name, shape, dtype_of(text), "requires" in text or "Param" in text, True)
    if text.startswith(("torch.eye", "torch.lin", "torch.tensor([T", "torch.randperm")):
        return  # its shape is another: used by nothing but what follows in text
    if text.startswith("torch.arange(") and "view" not in text:
        return
    if text in ("torch.tensor(2.5)", "torch.tensor(3)"):
        known = known._replace(shape=())
    author.values.append(known)


def dtype_of(text: str) -> str:
    """The element type that a text asks for."""
    for name in RANK:
        if f"torch.{name}" in text:
            return name
    whole = text.startswith(("torch.randint", "torch.randperm")) or (
        text.startswith("torch.tensor(") and "." not in text.removeprefix("torch.tensor")
    )
    return "int64" if whole else "float32"


def pointwise(author: Author) -> None:
    """One tensor, element by element."""
    value = author.floating()
    if author.chance(0.4):
        word = author.one(*POINTWISE)
        text = f"{value.name}.{word}()"
        if word in BOTH_SPELLINGS and author.chance(0.4):
            text = f"torch.{word}({value.name})"
        author.bind(text, value, grad=value.grad and word != "detach")
        return
    text = author.one(*FUNCTIONAL)
    written = text.format(a=value.name, n=author.number(), s=repr(value.shape))
    cut = ("detach()" in text and "*" not in text) or "data" in text or text[-9:] == "_like({a})"
    author.bind(written, value, grad=value.grad and not cut)


def along(author: Author) -> None:
    """One tensor, along one of its dimensions."""
    value = author.floating(lambda known: bool(known.shape) and known.count > 0)
    if not value.shape:
        return
    text = author.one(*ALONG)
    if "cat(" in text:
        return
    author.bind(text.format(a=value.name, d=author.dim(value)), value)


def binary(author: Author) -> None:
    """Two tensors that broadcast."""
    left = author.floating()
    right = author.partner(left)
    text = author.one(*BINARY)
    if "@" in text:
        matmul(author)
        return
    shape = broadcast(left.shape, right.shape)
    author.bind(
        text.format(a=left.name, b=right.name), left, shape or left.shape,
        dtype=together(left, right), grad=left.grad or right.grad,
    )  # fmt: skip


# By the dimensions of both.
PRODUCTS = {
    (1, 1): ("torch.dot({a}, {b})", "{b} @ {a}", "{a}.inner({b})"),
    (1, 2): ("{a} @ {b} * 2",),
    (2, 1): ("torch.mv({a}, {b})", "{a}.mv({b})"),
    (2, 2): ("torch.mm({a}, {b})", "torch.einsum('ij,jk->ik', {a}, {b})"),
}


def matmul(author: Author) -> None:
    """Products of matrices and vectors."""
    left = author.floating(lambda value: len(value.shape) in (1, 2))
    rank = len(left.shape)
    if rank == 0:
        return
    inner = left.shape[-1]
    right = author.pick(
        lambda value: value.dtype == left.dtype and len(value.shape) in (1, 2)
        and value.shape[0] == inner
    )  # fmt: skip
    if right is None or author.chance(0.2):
        text, right = f"{left.name} @ {left.name}.T", left
        shape = () if rank == 1 else (left.shape[0], left.shape[0])
    else:
        others = PRODUCTS[rank, len(right.shape)]
        text = author.one(*others, "{a} @ {b}", "torch.matmul({a}, {b})", "{a}.matmul({b})")
        text = text.format(a=left.name, b=right.name)
        shape = left.shape[:-1] + right.shape[1:]
    author.bind(text, left, shape, grad=left.grad or right.grad)


def reduced(author: Author) -> None:
    """A tensor's sum, its greatest number, and the like: of all of it, or along a dimension."""
    value = author.floating(lambda known: known.count > 0)
    word = author.one(*WHOLE)
    if word == "numel" or not value.shape or author.chance(0.35):
        if word == "logsumexp":
            word = "sum"
        if word == "numel":
            author.put(f"print({value.name}.numel())")
            return
        spelling = author.one(f"{value.name}.{word}()", f"torch.{word}({value.name})")
        real = word not in ("argmax", "argmin", "any", "all", "count_nonzero")
        author.bind(spelling, value, (), dtype=value.dtype if real else "int64")
        return
    dim, keep = author.dim(value), author.chance(0.3)
    more = ", keepdim=True" if keep and word != "count_nonzero" else ""
    at = dim % len(value.shape)
    shape = value.shape[:at] + ((1,) if more else ()) + value.shape[at + 1 :]
    if word in ("max", "min", "median"):
        first, second = author.new("v"), author.new("i")
        author.put(f"{first}, {second} = {value.name}.{word}({dim}{more})")
        author.values.append(
            value._replace(
                name=first, shape=shape, leaf=False, grad=value.grad and author.recording
            )
        )
        author.values.append(Value(second, shape, "int64"))
        return
    if word == "norm":
        dim = f"dim={dim}"  # type: ignore[assignment]
    if word in ("std", "var") and value.shape[at] < 2:
        word = "mean"
    real = word not in ("argmax", "argmin", "any", "all", "count_nonzero")
    text = f"{value.name}.{word}({dim}{more})"
    author.bind(text, value, shape, dtype=value.dtype if real else "int64")


def viewed(author: Author) -> None:
    """Another look at the same memory."""
    value = author.pick() or author.leaf()
    text, shape = a_view(author, value)
    if author.chance(0.05):
        author.put(
            f"print({value.name}.{author.one('stride()', 'is_contiguous()', 'storage_offset()')})"
        )
    if shape is not None:
        author.bind(value.name + text, value, shape)


def a_view(author: Author, value: Value) -> tuple[str, Shape | None]:
    """What stands behind the name, and the shape that it gives."""
    draw, shape, rank = author.draw, value.shape, len(value.shape)
    flat = (math.prod(shape),)
    options: list[tuple[str, Shape]] = [
        (".view(-1)", flat), (".flatten()", flat), (".reshape(-1)", flat), ("[None]", (1, *shape)),
        (".unsqueeze(0)", (1, *shape)), (".detach()", shape), (".squeeze()", squeezed(shape)),
        (".view_as(" + value.name + ")", shape), ("[...]", shape), (".ravel()", flat),
        (f".expand(2, {', '.join(['-1'] * rank)})" if rank else ".expand(2)", (2, *shape)),
        (f".view({shape!r})", shape), (".unsqueeze(-1)", (*shape, 1)), ("[..., None]", (*shape, 1)),
    ]  # fmt: skip
    if rank >= 1:
        size = shape[0]
        options += [
            (f"[{draw.randrange(size)}]", shape[1:]) if size else ("[:]", shape),
            (f".select(0, {draw.randrange(size)})", shape[1:]) if size else ("[:]", shape),
            ("[1:]", (max(size - 1, 0), *shape[1:])), ("[::2]", ((size + 1) // 2, *shape[1:])),
            ("[:-1]", (max(size - 1, 0), *shape[1:])), (f".narrow(0, 0, {size})", shape),
            ("[..., -1]", shape[:-1]) if shape[-1] else ("[...]", shape),
            (f".unfold(0, {max(size, 1)}, 1)" if size else "[:]",
            (1, *shape[1:], size) if size else shape),
            (f".chunk({max(size, 1)})[0]", (1, *shape[1:])) if size else ("[:]", shape),
            (f".tensor_split({max(size, 1)})[0]", (1, *shape[1:])) if size else ("[:]", shape),
            (".movedim(0, -1)", (*shape[1:], size)),
        ]  # fmt: skip
    if rank >= 2:
        swapped = (shape[1], shape[0], *shape[2:])
        options += [
            (".transpose(0, 1)", swapped), (".swapaxes(0, 1)", swapped),
            (".mT", (*shape[:-2], shape[-1], shape[-2])),
            ("[:, 0]", (shape[0], *shape[2:])) if shape[1] else ("[:]", shape),
            ("[:, 1:]", (shape[0], max(shape[1] - 1, 0), *shape[2:])),
            (".unbind(1)[0]", (shape[0], *shape[2:])) if shape[1] else ("[:]", shape),
            (".flatten(0, 1)", (shape[0] * shape[1], *shape[2:])),
            (".transpose(-2, -1)", (*shape[:-2], shape[-1], shape[-2])),
            (f".permute({', '.join(str(n) for n in reversed(range(rank)))})", shape[::-1]),
        ]  # fmt: skip
    if rank == 2:
        options += [
            (".t()", shape[::-1]), (".T", shape[::-1]), (".diagonal()", (min(shape),)),
            (".diagonal(1)", (min(shape[0], shape[1] - 1),)) if shape[1] > 1 else (".T",
            shape[::-1]),
        ]  # fmt: skip
        if flat[0] == 6:
            options += [
                (".view(3, 2)", (3, 2)),
                (".reshape(6, 1)", (6, 1)),
                (".view(2, -1)", (2, 3)),
            ]
    return draw.choice(options)


def squeezed(shape: Shape) -> Shape:
    return tuple(size for size in shape if size != 1)


def several(author: Author) -> None:
    """Views that come in several: unbind, chunk, split."""
    value = author.pick(lambda known: bool(known.shape) and 2 <= known.shape[0] <= 3)
    if value is None:
        return
    count, rest = value.shape[0], value.shape[1:]
    word, shape = author.one(
        (".unbind()", rest), (f".chunk({count})", (1, *rest)), (".split(1)", (1, *rest)),
        (".unbind(0)", rest), ("", rest), (f".tensor_split({count})", (1, *rest)),
        (f".split([{', '.join(['1'] * count)}])", (1, *rest)),
    )  # fmt: skip
    names = [author.new("p") for _ in range(count)]
    author.put(f"{', '.join(names)} = {value.name}{word}")
    grad = value.grad and author.recording
    author.values += [value._replace(name=n, shape=shape, leaf=False, grad=grad) for n in names]


def indexed(author: Author) -> None:
    """What an index, a mask or a gather takes out: a copy."""
    value = author.floating(lambda known: len(known.shape) >= 1 and known.count > 0)
    if not value.count or not value.shape:
        return
    a, size, rest = value.name, value.shape[0], value.shape[1:]
    row = author.draw.randrange(size)
    options: list[tuple[str, Shape | None]] = [
        (f"{a}[[0, {row}, 0]]", (3, *rest)), (f"{a}[torch.tensor([{row}, 0])]", (2, *rest)),
        (f"{a}[{a} > 0]", None), (f"{a}.index_select(0, torch.tensor([{row}]))", (1, *rest)),
        (f"torch.cat([{a}, {a}])", (size * 2, *rest)),
        (f"torch.stack([{a}, {a} * 2])", (2, *value.shape)),
        (f"{a}.repeat({', '.join(['2'] + ['1'] * len(rest))})", (size * 2, *rest)),
        (f"torch.masked_select({a}, {a} > 0)", None),
        (f"{a}.repeat_interleave(2, 0)", (size * 2, *rest)),
        (f"{a}.topk(1, 0)[0]", (1, *rest)), (f"{a}[[{row}]] * {a}", value.shape),
        (f"torch.take({a}, torch.tensor([0, {row}]))", (2,)), (f"torch.hstack([{a}, {a}])", None),
        (f"torch.vstack([{a}, {a}])", None), (f"torch.outer({a}.flatten(), {a}.flatten())", None),
        (f"{a}.gather(0, torch.zeros({value.shape!r}, dtype=torch.int64))", value.shape),
        (f"torch.stack([{a}, {a}], -1)", (*value.shape, 2)),
        (f"torch.tril({a})", value.shape) if rest else
        (f"torch.diag({a})", (size, size)),
        (f"{a}.scatter(0, torch.zeros({value.shape!r}, dtype=torch.long), 1.0)", value.shape),
        (f"{a}.index_fill(0, torch.tensor([0]), 2.0)", value.shape), (f"F.pad({a}, (1, 1))", None),
        (f"{a}.index_add(0, torch.tensor([{row}]), {a}[:1])", value.shape),
        (f"torch.dstack([{a}, {a}])", None),
        (f"torch.block_diag({a}, {a})" if len(rest) < 2 else f"{a}[:1]", None),
        (f"{a}[..., torch.tensor([0])]", (*value.shape[:-1], 1)),
        (f"{a}[None, :, ..., None]", (1, *value.shape, 1)),
    ]  # fmt: skip
    text, shape = author.draw.choice(options)
    if shape is None:  # no name keeps it: its shape depends on the numbers
        name = author.new("m")
        author.put(f"{name} = {text}")
        author.put(f"print({name}.shape)" if author.chance(0.3) else f"{name}_s = {name}.sum()")
        if f"{name}_s" in author.lines[-1]:
            author.values.append(
                Value(f"{name}_s", (), value.dtype, value.grad and author.recording)
            )
        return
    author.bind(text, value, shape)


def whole_numbers(author: Author) -> None:
    """Arithmetic of integers and booleans, and the ways back to floats."""
    value = author.pick(lambda known: not known.floating)
    if value is None:
        value = Value(author.new("k"), (3,), "int64")
        author.put(f"{value.name} = torch.tensor({nested(author.draw, (3,), whole=True)})")
        author.values.append(value)
    text = author.one(*INTEGERS).format(a=value.name)
    floating = any(word in text for word in ("float", "double", "/ 2"))
    if any(word in text for word in ("one_hot", "unique", "bincount", "sum")):
        author.put(f"{author.new('k')} = {text}")
        return
    author.bind(text, value, dtype="float32" if floating and "//" not in text else "int64")


IN_PLACE: tuple[str, ...] = (
    "{a} += {n}", "{a} -= {n}", "{a} *= {n}", "{a} /= 2", "{a}.add_({n})", "{a}.mul_({n})",
    "{a}.sub_({n})", "{a}.div_(2)", "{a}.zero_()", "{a}.fill_({n})", "{a}.clamp_(-1, 1)",
    "{a}.exp_()", "{a}.sigmoid_()", "{a}.tanh_()", "{a}.relu_()", "{a}.neg_()", "{a}.square_()",
    "{a}.abs_()", "{a}.sin_()", "F.relu({a}, inplace=True)", "{a}.pow_(2)", "{a}.copy_({b})",
    "{a}.add_({b})", "{a} *= {b}", "{a} += {b}", "{a}.mul_({b}).add_(1)",
    "{a}.masked_fill_({a} > 0, 0.5)",
    "{a}[0] = {n}", "{a}[0] *= 2", "{a}[...] = {n}", "{a}[{a} > 0] = 0.0", "{a}[:1] += {n}",
    "{a}.detach_()", "{a}.t_()", "{a}.unsqueeze_(0)", "{a}.squeeze_()", "{a}.data.add_(1)",
    "{a}.data = {a}.data * 2", "{a}.detach().mul_(2)", "{a}.requires_grad_()", "{a}[-1] = {b}[-1]",
    "{a}.uniform_(0, 1)", "{a}.lerp_({b}, 0.5)", "{a}.addcmul_({b}, {b})", "{a}.round_()",
    "{a} **= 2",
    "{a}.view(-1)[0] = {n}", "{a}.flatten().mul_(2)", "{a}.T.mul_(2)", "{a}.transpose_(0, 1)",
    "{a}.clamp_(min=0).mul_({n})", "{a}.index_fill_(0, torch.tensor([0]), {n})", "torch.sin_({a})",
    "{a}.normal_()", "{a}.swapaxes(0, 1)[0].add_(1)", "{a}.diagonal().zero_()", "{a}.cumsum_(0)",
    "{a}.index_add_(0, torch.tensor([0]), {b}[:1])", "{a}.where({a} > 0, {b}).mul_(2)", "{a} //= 2",
    "{a}.scatter_(0, torch.zeros_like({a}, dtype=torch.int64), 0.5)", "{a}.floor_()", "{a} %= 2",
    "{a}.masked_scatter_({a} > 0, {b}.clone())", "{a}.tril_()",
)  # fmt: skip
RESHAPING = ("t_()", "unsqueeze_", "squeeze_", "transpose_", "data = ")


def in_place(author: Author) -> None:
    """A tensor is changed where it lies; what came of it before may notice."""
    value = author.floating()
    other = author.pick(lambda known: known.shape == value.shape and known.floating) or value
    text = author.one(*IN_PLACE).format(a=value.name, b=other.name, n=author.number())
    protected = value.leaf and value.grad and author.recording
    if protected and author.chance(0.5):
        with author.block("with torch.no_grad():"):
            author.put(text)
        return
    plain = not protected and not any(word in text for word in ("[0]", "T.", "swap", "diag", "uns"))
    with author.attempt(0.15 if plain else 0.9):
        author.put(text)
    if any(word in text for word in RESHAPING) and value in author.values:
        author.values.remove(value)
    elif value in author.values and not value.leaf and other.grad and "{b}" in text:
        author.values[author.values.index(value)] = value._replace(grad=True)


STATEMENTS: tuple[tuple[int, Callable[[Author], None]], ...] = (
    (4, make), (10, pointwise), (4, along), (9, binary), (3, matmul), (6, reduced), (8, viewed),
    (3, several), (5, indexed), (2, whole_numbers), (9, in_place),
)  # fmt: skip
