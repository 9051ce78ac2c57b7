"""Questions: where operators have corners: ties, zeros, bounds, the edges of their domains.

What stands here are calls; what they give, and which gradients, is measured when somebody asks,
and compared with PyTorch by a test. Every `tensor(...)` of floats in a call requires grad, and the
gradient is that of the sum of what the call gives.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ...pipeline.request import Request
from ...pipeline.run import execute
from ...recording.facts.operators import EdgeFact

_TIES = "tensor([3., 3., 1.])"
_NAN = "tensor([1., math.nan])"
_NONE = "tensor([-math.inf, -math.inf])"

ELEMENTWISE: dict[str, tuple[str, ...]] = {
    "abs": ("tensor([0., -0.]).abs()",),
    "acos": ("tensor([-1., 1., 2.]).acos()",),
    "acosh": ("tensor([1., 0.5]).acosh()",),
    "angle": ("tensor([0., -0., -1.]).angle()",),
    "asin": ("tensor([-1., 1., 2.]).asin()",),
    "atan2": ("tensor(0.).atan2(tensor(0.))", "tensor(0.).atan2(tensor(-1.))"),
    "atanh": ("tensor([-1., 1., 2.]).atanh()",),
    "ceil": ("tensor([1., 1.5]).ceil()",),
    "celu": ("F.celu(tensor(0.), 2.)",),
    "clamp": ("tensor([-1., 1.]).clamp(-1, 1)", "tensor(0.).clamp(2, 1)", _NAN + ".clamp(0, 1)"),
    "clamp.Tensor": (
        "tensor(1.).clamp(tensor(1.), tensor(2.))", "tensor(2.).clamp(tensor(1.), tensor(2.))",
        "tensor(0.).clamp(tensor(2.), tensor(1.))",
    ),
    "clamp_max": ("tensor([1., 2.]).clamp_max(1)",),
    "clamp_max.Tensor": ("tensor(1.).clamp_max(tensor(1.))",),
    "clamp_min": ("tensor([1., 0.]).clamp_min(1)",),
    "clamp_min.Tensor": ("tensor(1.).clamp_min(tensor(1.))",),
    "copysign.Tensor": ("tensor(0.).copysign(tensor(-1.))", "tensor(2.).copysign(tensor(-0.))"),
    "copysign.Scalar": ("tensor([0., 2.]).copysign(-1)",),
    "digamma": ("tensor([0., -1.]).digamma()",),
    "div.Tensor": ("tensor(1.) / tensor(0.)", "tensor(0.) / tensor(0.)"),
    "div.Tensor_mode": ("tensor(-7.).div(tensor(2.), rounding_mode='floor')",
                        "tensor(-7.).div(tensor(2.), rounding_mode='trunc')"),
    "elu": ("F.elu(tensor(0.), 2.)",),
    "entr": ("torch.special.entr(tensor([0., -1.]))",),
    "erfinv": ("tensor([-1., 1., 2.]).erfinv()",),
    "floor": ("tensor([1., 1.5]).floor()",),
    "floor_divide": ("tensor([7., -7., 7.]) // 0",),
    "fmax": ("tensor(3.).fmax(tensor(3.))", "tensor(math.nan).fmax(tensor(1.))"),
    "fmin": ("tensor(3.).fmin(tensor(3.))", "tensor(math.nan).fmin(tensor(1.))"),
    "fmod.Scalar": ("tensor([4., -3., 3.]).fmod(2)", "tensor(1.).fmod(0)"),
    "fmod.Tensor": ("tensor(-3.).fmod(tensor(2.))",),
    "frac": ("tensor([1., -1.5]).frac()",),
    "gelu": ("F.gelu(tensor(0.))",),
    "hardshrink": ("F.hardshrink(tensor([-0.5, 0.5, 0.75]))",),
    "hardsigmoid": ("F.hardsigmoid(tensor([-3., 3.]))",),
    "hardswish": ("F.hardswish(tensor([-3., 3.]))",),
    "hardtanh": ("F.hardtanh(tensor([-1., 1.]))",),
    "heaviside": ("torch.heaviside(tensor([-1., 0., 1.]).detach(), tensor(0.5).detach())",),
    "hypot": ("tensor(0.).hypot(tensor(0.))",),
    "i0e": ("torch.special.i0e(tensor(0.))",),
    "i1": ("torch.special.i1(tensor(0.))",),
    "i1e": ("torch.special.i1e(tensor(0.))",),
    "leaky_relu": ("F.leaky_relu(tensor(0.), 0.25)",),
    "lgamma": ("tensor([0., -1.]).lgamma()",),
    "log": ("tensor([0., -1.]).log()",),
    "log10": ("tensor([0., -1.]).log10()",),
    "log1p": ("tensor([-1., -2.]).log1p()",),
    "log2": ("tensor([0., -1.]).log2()",),
    "logaddexp": ("tensor(-math.inf).logaddexp(tensor(-math.inf))",),
    "logaddexp2": ("tensor(-math.inf).logaddexp2(tensor(-math.inf))",),
    "logit": ("tensor([0., 1., 2.]).logit()", "tensor([0., 1.]).logit(eps=0.25)"),
    "maximum": ("torch.maximum(tensor(3.), tensor(3.))",
                "torch.maximum(tensor(math.nan), tensor(1.))"),
    "max.other": ("torch.max(tensor(3.), tensor(3.))",),
    "minimum": ("torch.minimum(tensor(3.), tensor(3.))",
                "torch.minimum(tensor(math.nan), tensor(1.))"),
    "min.other": ("torch.min(tensor(3.), tensor(3.))",),
    "nan_to_num": ("tensor([math.nan, math.inf, 1.]).nan_to_num()",),
    "ndtri": ("torch.special.ndtri(tensor([0., 1., 2.]))",),
    "nextafter": ("tensor(1.).nextafter(tensor(1.))",),
    "polygamma": ("torch.polygamma(1, tensor([0., -1.]))",),
    "pow.Scalar": ("torch.pow(0., tensor([0., 1., -1.]))", "torch.pow(-2., tensor(2.))"),
    "pow.Tensor_Scalar": (
        "tensor(0.) ** 0", "tensor(0.) ** 1", "tensor(0.) ** 0.5", "tensor(0.) ** -1",
        "tensor(-8.) ** 0.5",
    ),
    "pow.Tensor_Tensor": (
        "tensor(0.) ** tensor(0.)", "tensor(0.) ** tensor(2.)", "tensor(0.) ** tensor(-1.)",
        "tensor(-2.) ** tensor(2.)",
    ),
    "prelu": ("F.prelu(tensor([0., -1.]), tensor(0.25))",),
    "reciprocal": ("tensor([0., -0.]).reciprocal()",),
    "relu": ("tensor([0., math.nan]).relu()",),
    "relu6": ("F.relu6(tensor([0., 6.]))",),
    "remainder.Scalar": ("tensor([4., -3., 3.]).remainder(2)", "tensor(1.).remainder(0)"),
    "remainder.Tensor": ("tensor(-3.).remainder(tensor(2.))",),
    "round": ("tensor([0.5, 1.5, 2.5, -0.5]).round()",),
    "rsqrt": ("tensor([0., -1.]).rsqrt()",),
    "selu": ("F.selu(tensor(0.))",),
    "sgn": ("tensor([0., -2.]).sgn()",),
    "sign": ("tensor([0., -0., math.nan]).sign()",),
    "sinc": ("tensor(0.).sinc()",),
    "softplus": ("F.softplus(tensor([20., 21.]))",),
    "softshrink": ("F.softshrink(tensor([-0.5, 0.5, 0.75]))",),
    "softsign": ("F.softsign(tensor(0.))",),
    "sqrt": ("tensor([0., -0., -1.]).sqrt()",),
    "threshold": ("F.threshold(tensor([1., 2.]), 1., 5.)",),
    "trunc": ("tensor([-1.5, 1.5]).trunc()",),
    "where.self": (
        "torch.where(tensor([True, False]), tensor([1., 2.]), tensor([3., 4.]))",
        "torch.where(tensor([False]), tensor([0.]).sqrt(), tensor([1.]))",
    ),
    "xlog1py": ("torch.special.xlog1py(tensor(0.), tensor(-1.))",),
    "xlog1py.Scalar_Other": ("torch.special.xlog1py(tensor(0.), -1)",),
    "xlogy.Scalar_Other": ("torch.xlogy(tensor(0.), 0)",),
    "xlogy.Scalar_Self": ("torch.xlogy(0, tensor(0.))", "torch.xlogy(2, tensor(0.))"),
    "xlogy.Tensor": ("tensor(0.).xlogy(tensor(0.))", "tensor(2.).xlogy(tensor(0.))"),
    "true_divide": ("torch.true_divide(tensor(0.), tensor(0.))",),
    "zeta": ("torch.special.zeta(tensor(2.).detach(), tensor(0.))",),
    "igamma": ("torch.igamma(tensor(1.).detach(), tensor(0.))",),
    "igammac": ("torch.igammac(tensor(1.).detach(), tensor(0.))",),
    "ldexp.Tensor": ("torch.ldexp(tensor(0.), tensor(3.))",),
    "float_power": ("tensor(0.).float_power(0.5)",),
}  # fmt: skip

CHOOSING: dict[str, tuple[str, ...]] = {
    "amax": (_TIES + ".amax(0)", _NAN + ".amax(0)"),
    "amin": ("tensor([1., 1., 3.]).amin(0)", _NAN + ".amin(0)"),
    "aminmax": ("torch.aminmax(tensor([3., 3.]))",),
    "argmax": (_TIES + ".argmax()", _NAN + ".argmax()"),
    "argmin": ("tensor([1., 1., 3.]).argmin()",),
    "cummax": (_TIES + ".cummax(0)",),
    "cummin": ("tensor([1., 1., 3.]).cummin(0)",),
    "kthvalue": ("tensor([1., 3., 3., 2.]).kthvalue(3)",),
    "max": (_TIES + ".max()", _NAN + ".max()"),
    "max.dim": (_TIES + ".max(0)", _NAN + ".max(0)"),
    "median": ("tensor([1., 4., 2., 3.]).median()", _TIES + ".median()", _NAN + ".median()"),
    "median.dim": ("tensor([1., 4., 2., 3.]).median(0)", _TIES + ".median(0)"),
    "min": ("tensor([1., 1., 3.]).min()", _NAN + ".min()"),
    "min.dim": ("tensor([1., 1., 3.]).min(0)",),
    "mode": ("tensor([1., 3., 3., 2.]).mode()",),
    "nanmedian": (_NAN + ".nanmedian()", _TIES + ".nanmedian()"),
    "nanmedian.dim": (_NAN + ".nanmedian(0)",),
    "sort": ("tensor([2., 1., 2.]).sort()", "tensor([math.nan, 1.]).sort()"),
    "sort.stable": ("tensor([2., 1., 2.]).sort(stable=True, descending=True)",),
    "topk": ("tensor([1., 2., 2.]).topk(1)",),
    "msort": ("tensor([2., 1., 2.]).msort()",),
    "argsort": ("tensor([2., 1., 2.]).argsort(stable=True)",),
    "max_pool1d": ("F.max_pool1d(tensor([[3., 3., 1.]]), 3)",),
    "max_pool2d": ("F.max_pool2d(tensor([[[3., 3.], [3., 1.]]]), 2)",),
    "max_pool3d": ("F.max_pool3d(tensor([[[[3., 3.], [3., 1.]]]]), (1, 2, 2))",),
    "adaptive_max_pool1d": ("F.adaptive_max_pool1d(tensor([[3., 3., 1.]]), 1)",),
    "adaptive_max_pool2d": ("F.adaptive_max_pool2d(tensor([[[3., 3.], [3., 1.]]]), 1)",),
    "adaptive_max_pool3d": ("F.adaptive_max_pool3d(tensor([[[[3., 3.], [3., 1.]]]]), 1)",),
    "quantile": ("torch.quantile(tensor([1., 2., 2., 4.]), tensor(0.5).detach())",),
    "quantile.scalar": ("torch.quantile(tensor([1., 2., 2., 4.]), 0.5)",),
    "gather": ("tensor([1., 2.]).gather(0, tensor([0, 0, 1]))",),
    "index_select": ("tensor([1., 2.]).index_select(0, tensor([0, 0, 1]))",),
    "take": ("tensor([1., 2.]).take(tensor([0, 0, 1]))",),
}

OVER_DIMENSIONS: dict[str, tuple[str, ...]] = {
    "cdist": ("torch.cdist(tensor([[1., 2.]]), tensor([[1., 2.]]))",),
    "cosine_similarity": ("torch.cosine_similarity(tensor([0., 0.]), tensor([1., 1.]), 0)",),
    "cumprod": ("tensor([2., 0., 3.]).cumprod(0)",),
    "det": ("torch.det(tensor([[1., 2.], [2., 4.]]))",),
    "dist": ("tensor([1., 2.]).dist(tensor([1., 2.]))",),
    "inverse": ("torch.inverse(tensor([[1., 2.], [2., 4.]]))",),
    "inv": ("torch.linalg.inv(tensor([[1., 2.], [2., 4.]]))",),
    "logdet": ("torch.logdet(tensor([[1., 0.], [0., -1.]]))",),
    "slogdet": ("torch.slogdet(tensor([[1., 2.], [2., 4.]]).detach())",),
    "log_softmax": (_NONE + ".log_softmax(0)",),
    "logcumsumexp": (_NONE + ".logcumsumexp(0)",),
    "logsumexp": (_NONE + ".logsumexp(0)",),
    "mean": ("torch.mean(tensor([]))",),
    "nanmean": (_NAN + ".nanmean()",),
    "nansum": (_NAN + ".nansum()",),
    "norm": ("tensor([0., 0.]).norm()", "tensor([0., 0.]).norm(1)",
             "tensor([3., -3.]).norm(math.inf)", "tensor([0., 2.]).norm(0)"),
    "norm.linalg": ("torch.linalg.norm(tensor([0., 0.]))",),
    "normalize": ("F.normalize(tensor([0., 0.]), dim=0)",),
    "pairwise_distance": ("F.pairwise_distance(tensor([[1., 2.]]), tensor([[1., 2.]]))",),
    "pdist": ("F.pdist(tensor([[1., 2.], [1., 2.]]))",),
    "prod": ("tensor([2., 0., 3.]).prod()", "tensor([0., 0., 3.]).prod()"),
    "prod.dim_int": ("tensor([2., 0., 3.]).prod(0)",),
    "renorm": ("tensor([[0., 0.], [3., 4.]]).renorm(2, 0, 1)",),
    "softmax": (_NONE + ".softmax(0)",),
    "solve": ("torch.linalg.solve(tensor([[1., 2.], [2., 4.]]), tensor([1., 1.]))",),
    "std": ("tensor([5.]).std()", "tensor([2., 2.]).std()"),
    "std.correction": ("tensor([2., 2.]).std(correction=1)",),
    "std_mean": ("torch.std_mean(tensor([2., 2.]))",),
    "std_mean.correction": ("torch.std_mean(tensor([2., 2.]), correction=1)",),
    "sum": ("torch.sum(tensor([]))",),
    "var": ("tensor([5.]).var()", "tensor([2., 2.]).var()"),
    "var.correction": ("tensor([5.]).var(correction=1)",),
    "vector_norm": (
        "torch.linalg.vector_norm(tensor([0., 0.]))",
        "torch.linalg.vector_norm(tensor([0., 0.]), 1)",
        "torch.linalg.vector_norm(tensor([3., -3.]), math.inf)",
    ),
    "eigh": ("torch.linalg.eigh(tensor([[2., 0.], [0., 2.]]))[0]",),
    "svdvals": ("torch.linalg.svdvals(tensor([[2., 0.], [0., 2.]]))",),
    "index_reduce": ("torch.index_reduce(tensor([3.]), 0, tensor([0]), tensor([3.]), 'amax')",),
    "scatter_reduce.two": (
        "torch.scatter_reduce(tensor([3.]), 0, tensor([0]), tensor([3.]), 'amax')",
        "torch.scatter_reduce(tensor([2.]), 0, tensor([0, 0]), tensor([0., 3.]), 'prod')",
    ),
}  # fmt: skip

LOSSES: dict[str, tuple[str, ...]] = {
    "binary_cross_entropy":
        ("F.binary_cross_entropy(tensor([0., 1.]), tensor([1., 1.]).detach())",),
    "cross_entropy": ("F.cross_entropy(tensor([[1., 2.]]), tensor([-100]))",),
    "embedding": ("F.embedding(tensor([0, 0, 1]), tensor([[1.], [2.]]), padding_idx=1)",),
    "hinge_embedding_loss": ("F.hinge_embedding_loss(tensor([1.]), tensor([-1.]).detach())",),
    "huber_loss": ("F.huber_loss(tensor([1., -1.]), tensor([0., 0.]).detach(), 'sum')",),
    "kl_div": ("F.kl_div(tensor([-1.]), tensor([0.]), reduction='sum')",),
    "l1_loss": ("F.l1_loss(tensor([1.]), tensor([1.]))",),
    "margin_ranking_loss":
        ("F.margin_ranking_loss(tensor([1.]), tensor([1.]), tensor([1.]).detach())",),
    "multi_margin_loss": ("F.multi_margin_loss(tensor([[1., 0.]]), tensor([0]))",),
    "nll_loss": ("F.nll_loss(tensor([[-1., -2.]]), tensor([-100]))",),
    "smooth_l1_loss":
        ("F.smooth_l1_loss(tensor([1., -1.]), tensor([0., 0.]).detach(), reduction='sum')",),
    "triplet_margin_loss":
        ("F.triplet_margin_loss(tensor([[1.]]), tensor([[1.]]), tensor([[1.]]))",),
    "cosine_embedding_loss": (
        "F.cosine_embedding_loss(tensor([[1., 0.]]), tensor([[0., 1.]]), tensor([-1.]).detach())",
    ),
}  # fmt: skip

EDGES = ELEMENTWISE | CHOOSING | OVER_DIMENSIONS | LOSSES
# An overload of this name is the same function under another roof.
_ROOFS = frozenset({"functional", "torch", "linalg", "special", "method", "kernel"})


def edges_of(row: Any) -> tuple[str, ...]:
    """The calls at the edges of a row."""
    signature = row.signature
    if not signature.overload or signature.overload in _ROOFS:
        own = f"{signature.name}.{signature.overload}" if signature.overload else signature.name
        return EDGES.get(own, EDGES.get(signature.name, ()))
    return EDGES.get(f"{signature.name}.{signature.overload}", ())


def measured(row: Any) -> tuple[EdgeFact, ...]:
    """What a row gives at its edges, with the gradients."""
    return tuple(_measured(call) for call in edges_of(row))


def program_at(call: str) -> tuple[str, list[str]]:
    """A program that makes the tensors of a call, and `result`; the names of those that require
    grad."""
    tree = ast.parse(call, mode="eval").body
    leaves: list[str] = []
    lines: list[str] = []

    class Name(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> Any:
            if isinstance(node.func, ast.Name) and node.func.id == "tensor":
                name = f"leaf_{len(lines) + 1}"
                text = ast.unparse(node.args[0])
                floating = _floats(node.args[0])
                asked = ", requires_grad=True" if floating else ""
                lines.append(f"{name} = torch.tensor({text}{asked})")
                if floating:
                    leaves.append(name)
                return ast.Name(name)
            return self.generic_visit(node)

    changed = Name().visit(tree)
    lines.append(f"result = {ast.unparse(changed)}")
    return "\n".join(lines) + "\n", leaves


def _floats(value: ast.expr) -> bool:
    return all(isinstance(n.value, float) for n in ast.walk(value) if isinstance(n, ast.Constant))


def _measured(call: str) -> EdgeFact:
    program, leaves = program_at(call)
    ran = execute(Request(program.encode(), "<edge>"), None)
    if ran.error is not None:
        return EdgeFact(call, f"raises {ran.error.type}", ())
    assert ran.outcome is not None and ran.outcome.machine is not None
    values = ran.outcome.machine.globals.values
    result = values["result"]
    first = result[0] if isinstance(result, tuple) else result
    told = text_of(first.tolist())
    if isinstance(result, tuple) and len(result) > 1 and not result[1].requires_grad:
        told += f" at {text_of(result[1].tolist())}"
    if not first.requires_grad:
        return EdgeFact(call, told, ())
    try:
        first.sum().backward()
    except RuntimeError:
        return EdgeFact(call, told, ("backward raises",))
    return EdgeFact(call, told, tuple(_gradients(values, leaves)))


def _gradients(values: dict[str, Any], leaves: list[str]) -> Iterator[str]:
    for name in leaves:
        gradient = values[name].grad
        if gradient is not None:
            yield text_of((gradient + 0).tolist())  # the sign of a zero says nothing there


def text_of(value: Any) -> str:
    """Numbers as short as they can be said."""
    if isinstance(value, list):
        return f"[{', '.join(text_of(item) for item in value)}]"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)
