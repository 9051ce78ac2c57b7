"""Operators: random numbers: tensors drawn afresh, and tensors filled in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.memory.layout import empty_like
from ...engine.schema.carriers import TRANSFORMS
from ...engine.schema.operator import factory, operator
from ...engine.tensors.conversion import OF_ARRAY, converted, device_named
from ..geometry import broadcast_sizes
from ..shape.constants import zeros_as, zeros_of
from ..shape.create import OPTIONS

# Values are drawn on the CPU in memory order, on every device: one seed, one stream.


def chosen(given: Any) -> Any:
    """The generator that a random function draws from."""
    if TRANSFORMS.draw is not None:
        TRANSFORMS.draw()  # vmap may forbid it
    if given is not None:
        return given
    from ...numerics.random import default_generator

    return default_generator


def _placed(kind: Any, values: Any) -> Any:
    return kind.xp.asarray(values)


# ---- drawn afresh

DRAWN = "Generator? generator=None, " + OPTIONS

rand = factory(
    f"rand(int[] size, *, {DRAWN}) -> Tensor",
    lambda kind, size, source, dtype: _placed(kind, chosen(source).rand(size, kind.dtype)),
    kinded=True,
    doc="Random numbers, uniform between 0 and 1.",
    samples=(
        "torch.rand(2, 3)", "torch.rand((4,), dtype=torch.float64)",
        "torch.rand(2, requires_grad=True)", "torch.rand(())",
    ),
    errors=("torch.rand('a')",),
)  # fmt: skip

randn = factory(
    f"randn(int[] size, *, {DRAWN}) -> Tensor",
    lambda kind, size, source, dtype: _placed(kind, chosen(source).normal(size, kind.dtype)),
    kinded=True,
    doc="Numbers from the standard normal distribution.",
    samples=(
        "torch.randn(2, 3)", "torch.randn(20)", "torch.randn(4, 5, dtype=torch.float64)",
        "torch.randn(3, requires_grad=True)", "torch.randn(0)",
    ),
    errors=("torch.randn(2, dtype=torch.int64)",),
)  # fmt: skip

randint = factory(
    f"randint(int high, int[] size, *, {DRAWN}) -> Tensor",
    lambda kind, high, size, source, dtype: _placed(
        kind, chosen(source).randint(0, high, size, kind.dtype)
    ),
    dtype="int64",
    kinded=True,
    doc="Random integers from 0 up to but not including a bound.",
    samples=(
        "torch.randint(5, (2, 3))", "torch.randint(high=5, size=(2,))",
        "torch.randint(5, (2,), dtype=torch.float32)",
    ),
    errors=("torch.randint(0, (2,))",),
)  # fmt: skip

factory(
    f"randint.low(int low, int high, int[] size, *, {DRAWN}) -> Tensor",
    lambda kind, low, high, size, source, dtype: _placed(
        kind, chosen(source).randint(low, high, size, kind.dtype)
    ),
    dtype="int64",
    kinded=True,
    doc="Random integers from one bound up to but not including another.",
    samples=("torch.randint(2, 9, (2, 3))", "torch.randint(-5, 5, (4,), dtype=torch.int32)"),
    errors=("torch.randint(5, 1, (2,))",),
)

randperm = factory(
    f"randperm(int n, *, {DRAWN}) -> Tensor",
    lambda kind, n, source, dtype: _placed(kind, chosen(source).randperm(n, kind.dtype)),
    dtype="int64",
    cost=lambda n, *rest: max(n, 0),
    kinded=True,
    doc="A random permutation of the integers below a bound.",
    samples=("torch.randperm(5)", "torch.randperm(0)", "torch.randperm(4, dtype=torch.float32)"),
    errors=("torch.randperm(-1)",),
)

rand_like = factory(
    f"rand_like(Tensor self, *, {DRAWN}) -> Tensor",
    lambda kind, self, source, dtype: _like(
        kind, self, chosen(source).rand(self.shape, kind.dtype)
    ),
    dtype="like",
    kinded=True,
    doc="Uniform numbers in another tensor's size and type.",
    samples=(
        "torch.rand_like(x)", "torch.rand_like(x, dtype=torch.float64)",
        "torch.rand_like(c, requires_grad=True)", "torch.rand_like(c.permute(2, 0, 1))",
    ),
    errors=("torch.rand_like(i)",),
)  # fmt: skip

randn_like = factory(
    f"randn_like(Tensor self, *, {DRAWN}) -> Tensor",
    lambda kind, self, source, dtype: _like(
        kind, self,
        chosen(source).normal(
            self.shape, kind.dtype, contiguous=_in_one_block(empty_like(kind.xp, self, self.dtype))
        ),
    ),
    dtype="like",
    kinded=True,
    doc="Numbers from the standard normal distribution in another tensor's size and type.",
    samples=(
        "torch.randn_like(x)", "torch.randn_like(c)", "torch.randn_like(x, dtype=torch.float64)",
    ),
    errors=("torch.randn_like(i)",),
)  # fmt: skip

randint_like = factory(
    f"randint_like(Tensor self, int high, *, {DRAWN}) -> Tensor",
    lambda kind, self, high, source, dtype: _like(
        kind, self, chosen(source).randint(0, high, self.shape, kind.dtype)
    ),
    dtype="like",
    kinded=True,
    doc="Whole numbers below a bound in another tensor's size and type.",
    samples=("torch.randint_like(x, 5)", "torch.randint_like(i, 5)"),
)

factory(
    f"randint_like.low(Tensor self, int low, int high, *, {DRAWN}) -> Tensor",
    lambda kind, self, low, high, source, dtype: _like(
        kind, self, chosen(source).randint(low, high, self.shape, kind.dtype)
    ),
    dtype="like",
    kinded=True,
    doc="Whole numbers between bounds in another tensor's size and type.",
    samples=("torch.randint_like(x, 2, 9)",),
)


def _in_one_block(array: Any) -> bool:
    """Row by row without gaps: only such memory is filled with normals sixteen at a time."""
    return bool(array.flags.c_contiguous)


def _like(kind: Any, self: Any, values: Any) -> Any:
    """Memory in the order of the tensor that was the model, filled in that order."""
    result = empty_like(kind.xp, self, values.dtype)
    order = sorted(range(result.ndim), key=lambda axis: -result.strides[axis])
    shape = tuple(result.shape[axis] for axis in order)
    result.transpose(order)[...] = _placed(kind, values).reshape(shape)
    return result


# ---- distributions with tensors for parameters


def _zeros(grad: Any, shape: Sequence[int]) -> Any:
    return zeros_of(grad, tuple(shape))


def _around(kind: Any, mean: Any, std: Any, source: Any) -> Any:
    """Values on the CPU; arrays of a device go there and back."""
    host = [
        converted(v, None, device_named("cpu")) if hasattr(v, "dtype") else v for v in (mean, std)
    ]
    return _placed(kind, chosen(source).normal_around(host[0], host[1], kind.dtype))


operator(
    "normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor",
    node="NormalBackward3",
    where="torch",
    check=lambda mean, std, generator: broadcast_sizes(tuple(mean.shape), tuple(std.shape)),
    forward=_around,
    mean=lambda grad, mean_sym_sizes: _zeros(grad, mean_sym_sizes),
    std=lambda grad, std_sym_sizes: _zeros(grad, std_sym_sizes),
    kinded=True,
    acts="random",
    smooth="(mean) + (std) * torch.randn_like(mean)",
    doc="Random numbers of a normal distribution: mean and standard deviation by element.",
    samples=(
        "torch.normal(x, p)", "torch.normal(x.detach(), p.detach())", "torch.normal(c, p[:1, :1])",
    ),
    errors=("torch.normal(x, x)", "torch.normal(x, p[:, :2])"),
)  # fmt: skip

operator(
    "normal.Tensor_float(Tensor mean, float std=1, *, Generator? generator=None) -> Tensor",
    node="NormalBackward1",
    where="torch",
    forward=_around,
    mean=lambda grad, mean_sym_sizes: _zeros(grad, mean_sym_sizes),
    kinded=True,
    acts="random",
    smooth="(mean) + (std) * torch.randn_like(mean)",
    doc="Normal numbers with a mean for each element.",
    samples=("torch.normal(x, 1.0)", "torch.normal(x)", "torch.normal(c, 2.0)"),
    errors=("torch.normal(x, -1.0)",),
)

operator(
    "normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor",
    node="NormalBackward2",
    where="torch",
    forward=_around,
    std=lambda grad, std_sym_sizes: _zeros(grad, std_sym_sizes),
    kinded=True,
    acts="random",
    smooth="(mean) + (std) * torch.randn_like(std)",
    doc="Normal numbers with a deviation for each element.",
    samples=("torch.normal(0.0, p)", "torch.normal(1.5, p)"),
)

factory(
    f"normal.float_float(float mean, float std, int[] size, *, {DRAWN}) -> Tensor",
    lambda kind, mean, std, size, source, dtype: _placed(
        kind, chosen(source).normal(size, kind.dtype, mean, std)
    ),
    kinded=True,
    doc="Normal numbers of one mean and deviation.",
    samples=("torch.normal(0.0, 1.0, (2, 3))", "torch.normal(1, 2, size=(20,))"),
    errors=("torch.normal(0.0, -1.0, (2,))",),
)


def _tossed(kind: Any, p: Any, source: Any) -> Any:
    host = converted(p, None, device_named("cpu"))
    return _placed(kind, chosen(source).bernoulli_each(host, kind.dtype, kind.dtype))


operator(
    "bernoulli(Tensor self, *, Generator? generator=None) -> Tensor",
    node="BernoulliBackward0",
    forward=_tossed,
    self=lambda grad: zeros_as(grad),
    kinded=True,
    acts="random",
    doc="Ones and zeros, each one with its own probability.",
    samples=(
        "torch.bernoulli(p / 2)", "(p / 2).bernoulli()", "torch.bernoulli(torch.full((2, 3), 0.5))",
    ),
    errors=("torch.bernoulli(p + 1)", "i.bernoulli()"),
)  # fmt: skip

operator(
    "bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor",
    node="torch::autograd::NotImplemented",
    forward=lambda kind, self, p, generator: _placed(
        kind, chosen(generator).bernoulli(self.shape, kind.dtype, p)
    ),
    kinded=True,
    acts="random",
    doc="Ones with one probability, else zeros, in another tensor's size.",
    samples=("torch.bernoulli(x.detach(), 0.5)", "i.bernoulli(0.3)"),
    errors=("torch.bernoulli(x, 1.5)",),
)

operator(
    "multinomial(Tensor self, int num_samples, bool replacement=False, *, "
    "Generator? generator=None) -> Tensor",
    dtype="int64",
    # Places of eight bytes, and the fractions and sums that they are found by.
    cost=lambda self, num_samples, replacement, generator: (
        6 * num_samples * (self.shape[0] if self.dim() > 1 else 1) + self.numel()
    ),
    forward=lambda kind, self, num_samples, replacement, generator: _placed(
        kind,
        chosen(generator).multinomial(
            converted(self, None, device_named("cpu")), kind.dtype, num_samples, replacement
        ),
    ),
    kinded=True,
    acts="random",
    doc="Indices drawn with the probabilities of a row.",
    samples=(
        "torch.multinomial(p, 2)", "p.multinomial(4, replacement=True)",
        "torch.multinomial(p[0], 1)",
    ),
    errors=("torch.multinomial(p, 4)", "torch.multinomial(p, 0)", "torch.multinomial(i, 1)"),
)  # fmt: skip


# ---- filled in place


def _declare_filling(
    signature: str,
    node: str,
    draw: Any,
    doc: str,
    samples: tuple[str, ...],
    errors: tuple[str, ...],
) -> None:
    """A distribution that exists as an in-place method only; its gradient is zero."""
    name = signature.partition("(")[0].partition(".")[0]
    operator(
        f"{signature} -> Tensor",
        node=node,
        inplace=name + "_",
        where="inplace",
        forward=draw,
        self=lambda grad: zeros_as(grad),
        kinded=True,
        acts="random",
        doc=doc,
        samples=samples,
        errors=errors,
    )


_declare_filling(
    "uniform(Tensor self, float from_=0, float to=1, *, Generator? generator=None)",
    "UniformBackward0",
    lambda kind, self, low, high, source: _like(
        kind, self, chosen(source).uniform(self.shape, kind.dtype, low, high)
    ),
    "Uniform numbers.",
    ("x.clone().uniform_()", "x.clone().uniform_(-1, 2)", "c.detach().clone().uniform_(2.0, 3.0)"),
    ("x.clone().uniform_(2, 1)", "i.clone().uniform_()"),
)

_declare_filling(
    "normal.fill(Tensor self, float mean=0, float std=1, *, Generator? generator=None)",
    "NormalBackward0",
    lambda kind, self, mean, std, source: _like(
        kind, self, chosen(source).normal(self.shape, kind.dtype, mean, std, _in_one_block(self))
    ),
    "Normal numbers.",
    ("x.clone().normal_()", "x.clone().normal_(1.0, 2.0)", "c.clone().normal_(mean=1)"),
    ("x.clone().normal_(0, -1)", "i.clone().normal_()"),
)

_declare_filling(
    "exponential(Tensor self, float lambd=1, *, Generator? generator=None)",
    "ExponentialBackward0",
    lambda kind, self, rate, source: _like(
        kind, self, chosen(source).exponential(self.shape, kind.dtype, rate)
    ),
    "Numbers from an exponential distribution.",
    ("x.clone().exponential_()", "x.clone().exponential_(2.0)"),
    ("x.clone().exponential_(-1)",),
)

_declare_filling(
    "cauchy(Tensor self, float median=0, float sigma=1, *, Generator? generator=None)",
    "CauchyBackward0",
    lambda kind, self, median, sigma, source: _like(
        kind, self, chosen(source).cauchy(self.shape, kind.dtype, median, sigma)
    ),
    "Numbers from a Cauchy distribution.",
    ("x.clone().cauchy_()", "x.clone().cauchy_(1.0, 2.0)"),
    ("x.clone().cauchy_(0, -1)",),
)

_declare_filling(
    "log_normal(Tensor self, float mean=1, float std=2, *, Generator? generator=None)",
    "LogNormalBackward0",
    lambda kind, self, mean, std, source: _like(
        kind, self, chosen(source).log_normal(self.shape, kind.dtype, mean, std)
    ),
    "Numbers whose logarithm is normal.",
    ("x.clone().log_normal_()", "x.clone().log_normal_(0.0, 1.0)"),
    ("x.clone().log_normal_(0, -1)",),
)

_declare_filling(
    "geometric(Tensor self, float p, *, Generator? generator=None)",
    "GeometricBackward0",
    lambda kind, self, p, source: _like(
        kind, self, chosen(source).geometric(self.shape, kind.dtype, p)
    ),
    "Random number of trials until the first success (geometric distribution).",
    ("x.clone().geometric_(0.5)",),
    ("x.clone().geometric_(1.5)",),
)

_declare_filling(
    "bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None)",
    "BernoulliBackward1",
    lambda kind, self, p, source: _tossed_each(kind, self, p, source),
    "Ones and zeros, each one with its own probability.",
    ("x.detach().clone().bernoulli_(p.detach() / 2)",),
    (),
)

_declare_filling(
    "bernoulli.float(Tensor self, float p=0.5, *, Generator? generator=None)",
    "BernoulliBackward2",
    lambda kind, self, p, source: _like(
        kind, self, chosen(source).bernoulli(self.shape, kind.dtype, p)
    ),
    "Ones with one probability, else zeros.",
    ("x.clone().bernoulli_()", "x.clone().bernoulli_(0.3)"),
    ("x.clone().bernoulli_(1.5)",),
)

for _overload, _bounds, _node, _sample in (
    ("from", "int from_, int? to", "RandomBackward0", "x.clone().random_(2, 9)"),
    ("to", "int to", "RandomBackward1", "i.clone().random_(5)"),
):
    _declare_filling(
        f"random.{_overload}(Tensor self, {_bounds}, *, Generator? generator=None)",
        _node,
        (lambda kind, self, low, high, source: _whole(kind, self, low, high, source))
        if _overload == "from"
        else (lambda kind, self, high, source: _whole(kind, self, 0, high, source)),
        "Whole numbers between bounds.",
        (_sample,),
        ("x.clone().random_(5, 2)",) if _overload == "from" else (),
    )

_declare_filling(
    "random(Tensor self, *, Generator? generator=None)",
    "RandomBackward2",
    lambda kind, self, source: _like(kind, self, chosen(source).random(self.shape, kind.dtype)),
    "Random whole numbers, as large as the type represents exactly.",
    ("x.clone().random_()", "i.clone().random_()", "k.clone().random_()"),
    (),
)


def _tossed_each(kind: Any, self: Any, p: Any, source: Any) -> Any:
    host = converted(kind.xp.broadcast_to(p, self.shape), None, device_named("cpu"))
    drawn = chosen(source).bernoulli_each(host, OF_ARRAY[p.dtype.name], kind.dtype)
    return _placed(kind, drawn)


def _whole(kind: Any, self: Any, low: int, high: int | None, source: Any) -> Any:
    drawn = chosen(source)
    if high is None:
        return _like(kind, self, drawn.random(self.shape, kind.dtype, low))
    return _like(kind, self, drawn.randint(low, high, self.shape, kind.dtype))
