"""Questions: what operators compute, as formulas of simpler ones; a test evaluates each of them.

A formula is an expression over the arguments of the signature. `self` is the first argument,
whatever the signature calls it. What the name or the description says already is not repeated:
there is no formula for sin, and none for what only moves elements.
"""

from __future__ import annotations

import re
from typing import Any

ELEMENTWISE = {
    "abs": "where(self < 0, -self, self)",
    "acosh": "log(self + sqrt(self**2 - 1))",
    "add": "self + alpha*other",
    "addcdiv": "self + value*tensor1/tensor2",
    "addcmul": "self + value*tensor1*tensor2",
    "asinh": "log(self + sqrt(self**2 + 1))",
    "atanh": "log((1 + self)/(1 - self))/2",
    "celu": "where(self > 0, self, alpha*(exp(self/alpha) - 1))",
    "clamp": "minimum(maximum(self, min), max)",
    "clamp_max": "minimum(self, max)",
    "clamp_min": "maximum(self, min)",
    "copysign": "where(signbit(other), -abs(self), abs(self))",
    "cosh": "(exp(self) + exp(-self))/2",
    "deg2rad": "self*pi/180",
    "div": "self/other",
    "div.Tensor_mode": "",
    "div.Number_mode": "",
    "elu": "where(self > 0, self, alpha*(exp(self) - 1))",
    "entr": "where(self > 0, -self*log(self), where(self == 0, 0, -inf))",
    "erfc": "1 - erf(self)",
    "erfcx": "exp(self**2)*erfc(self)",
    "exp2": "2**self",
    "expit": "1/(1 + exp(-self))",
    "expm1": "exp(self) - 1",
    "fmod": "self - other*trunc(self/other)",
    "frac": "self - trunc(self)",
    "gelu": "self*(1 + erf(self/sqrt(2)))/2",
    "hardshrink": "where(abs(self) > lambd, self, 0)",
    "hardsigmoid": "clamp(self + 3, 0, 6)/6",
    "hardswish": "self*clamp(self + 3, 0, 6)/6",
    "hardtanh": "clamp(self, min_val, max_val)",
    "heaviside": "where(self < 0, 0, where(self > 0, 1, values))",
    "hypot": "sqrt(self**2 + other**2)",
    "i0e": "exp(-abs(self))*i0(self)",
    "i1e": "exp(-abs(self))*i1(self)",
    "ldexp": "self*2**other",
    "leaky_relu": "where(self > 0, self, negative_slope*self)",
    "lerp": "self + weight*(end - self)",
    "log10": "log(self)/log(10)",
    "log1p": "log(1 + self)",
    "log2": "log(self)/log(2)",
    "log_ndtr": "log(ndtr(self))",
    "logaddexp": "log(exp(self) + exp(other))",
    "logaddexp2": "log2(2**self + 2**other)",
    "logit": "log(self/(1 - self))",
    "logsigmoid": "-log(1 + exp(-self))",
    "maximum": "where(self > other, self, other)",
    "minimum": "where(self < other, self, other)",
    "mish": "self*tanh(log(1 + exp(self)))",
    "mul": "self*other",
    "ndtr": "(1 + erf(self/sqrt(2)))/2",
    "neg": "-self",
    "pow": "self**exponent",
    "prelu": "where(self > 0, self, weight*self)",
    "rad2deg": "self*180/pi",
    "reciprocal": "1/self",
    "relu": "maximum(self, 0)",
    "relu6": "clamp(self, 0, 6)",
    "remainder": "self - other*floor(self/other)",
    "rsqrt": "1/sqrt(self)",
    "rsub": "other - alpha*self",
    "selu": "1.05070098*where(self > 0, self, 1.67326324*(exp(self) - 1))",
    "sigmoid": "1/(1 + exp(-self))",
    "silu": "self/(1 + exp(-self))",
    "sinc": "sin(pi*self)/(pi*self)",
    "sinh": "(exp(self) - exp(-self))/2",
    "softplus": "where(beta*self > threshold, self, log(1 + exp(beta*self))/beta)",
    "softshrink": "where(abs(self) > lambd, self - lambd*sign(self), 0)",
    "softsign": "self/(1 + abs(self))",
    "sqrt": "self**0.5",
    "square": "self**2",
    "sub": "self - alpha*other",
    "tan": "sin(self)/cos(self)",
    "tanh": "(exp(self) - exp(-self))/(exp(self) + exp(-self))",
    "tanhshrink": "self - tanh(self)",
    "threshold": "where(self > threshold, self, value)",
    "true_divide": "self/other",
    "xlog1py": "self*log(1 + other)",
    "xlogy": "self*log(other)",
}

OVER_DIMENSIONS = {
    "cdist": "vector_norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1)",
    "count_nonzero": "(self != 0).sum()",
    "dist": "(abs(self - other)**p).sum()**(1/p)",
    "log_softmax": "self - logsumexp(self, dim, True)",
    "logcumsumexp": "log(exp(self).cumsum(dim))",
    "logsumexp": "log(exp(self).sum(dim, keepdim))",
    "mean": "self.sum()/self.numel()",
    "mean.dim": "",
    "nanmean": "nansum(self)/(self == self).sum()",
    "nansum": "where(isnan(self), 0, self).sum()",
    "normalize": "self/clamp(vector_norm(self, p, dim, True), min=eps)",
    "pairwise_distance": "vector_norm(x1 - x2 + eps, p, -1, keepdim)",
    "softmax": "exp(self)/exp(self).sum(dim, True)",
    "softmin": "exp(-self)/exp(-self).sum(dim, True)",
    "std.correction": "sqrt(var(self, dim, correction=correction, keepdim=keepdim))",
    "std": "sqrt(((self - self.mean())**2).sum()/(self.numel() - 1))",
    "std.dim": "",
    "trace": "self.diagonal().sum()",
    "trapezoid.dx": "dx*((self[..., 1:] + self[..., :-1])/2).sum(-1)",
    "var": "((self - self.mean())**2).sum()/(self.numel() - 1)",
    "var.correction": "",
    "var.dim": "",
    "vector_norm": "(abs(self)**ord).sum(dim, keepdim)**(1/ord)",
}

PRODUCTS = {
    "addbmm": "beta*self + alpha*(batch1 @ batch2).sum(0)",
    "addmm": "beta*self + alpha*(mat1 @ mat2)",
    "addmv": "beta*self + alpha*(mat @ vec)",
    "addr": "beta*self + alpha*outer(vec1, vec2)",
    "baddbmm": "beta*self + alpha*(batch1 @ batch2)",
    "bmm": "self @ mat2",
    "cholesky_inverse": "inverse(self @ self.mT)",
    "cholesky_solve": "solve(input2 @ input2.mT, self)",
    "dot": "(self*tensor).sum()",
    "linear": "self @ weight.T + bias",
    "logdet": "log(det(self))",
    "mm": "self @ mat2",
    "mv": "self @ vec",
    "outer": "self.unsqueeze(1)*vec2",
    "solve": "inverse(A) @ B",
    "vdot": "(conj(self)*other).sum()",
    "vecdot": "(conj(x)*y).sum(dim)",
}

LOSSES = {
    "binary_cross_entropy": "-(target*log(self) + (1 - target)*log(1 - self)).mean()",
    "binary_cross_entropy_with_logits":
        "-(target*log(sigmoid(self)) + (1 - target)*log(1 - sigmoid(self))).mean()",
    "cosine_similarity": "(x1*x2).sum(dim)/(vector_norm(x1, 2, dim)*vector_norm(x2, 2, dim))",
    "cross_entropy": "-log_softmax(self, 1).gather(1, target.unsqueeze(1)).mean()",
    "gaussian_nll_loss": "((log(var) + (self - target)**2/var)/2).mean()",
    "hinge_embedding_loss": "where(target == 1, self, clamp(margin - self, min=0)).mean()",
    "huber_loss": "where(abs(self - target) < delta, (self - target)**2/2,"
        " delta*(abs(self - target) - delta/2)).mean()",
    "kl_div": "(target*(log(target) - self)).mean()",
    "l1_loss": "abs(self - target).mean()",
    "margin_ranking_loss": "clamp(margin - target*(input1 - input2), min=0).mean()",
    "mse_loss": "((self - target)**2).mean()",
    "nll_loss": "-self.gather(1, target.unsqueeze(1)).mean()",
    "poisson_nll_loss": "(exp(self) - target*self).mean()",
    "smooth_l1_loss": "where(abs(self - target) < beta, (self - target)**2/(2*beta),"
        " abs(self - target) - beta/2).mean()",
    "soft_margin_loss": "log(1 + exp(-target*self)).mean()",
    "triplet_margin_loss": "clamp(pairwise_distance(anchor, positive, p, eps)"
        " - pairwise_distance(anchor, negative, p, eps) + margin, min=0).mean()",
}  # fmt: skip

NETWORKS = {
    "glu": "self.chunk(2, dim)[0]*sigmoid(self.chunk(2, dim)[1])",
    "layer_norm": "(self - self.mean(-1, True))"
        "/sqrt(self.var(-1, correction=0, keepdim=True) + eps)*weight + bias",
    "scaled_dot_product_attention": "softmax(query @ key.mT/sqrt(query.shape[-1]), -1) @ value",
    "embedding": "weight[self]",
    "embedding.table": "weight[indices]",
    "embedding.torch": "weight[indices]",
}  # fmt: skip

KNOWN = ELEMENTWISE | OVER_DIMENSIONS | PRODUCTS | LOSSES | NETWORKS


# A name that is no function, no attribute and no keyword: an argument, or a constant.
_ARGUMENT = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?!\w)(?!\s*\()(?!=[^=])")
_CONSTANTS = frozenset({"pi", "inf", "True", "False"})


def mathematics(row: Any) -> str:
    """What a row computes, in the names of its signature; empty where its description says it."""
    signature = row.signature
    key = f"{signature.name}.{signature.overload}" if signature.overload else signature.name
    text = KNOWN.get(key, KNOWN.get(signature.name, ""))
    names = signature.names
    if names and "self" not in names:
        text = re.sub(r"\bself\b", names[0], text)
    for factor in {"alpha", "beta"} - set(names):
        text = text.replace(f"{factor}*", "")  # an overload that does not scale
    reduction = next((p for p in signature.parameters if p.name == "reduction"), None)
    if reduction is not None and reduction.default == 0:  # torch's own losses: each element's
        text = text.removesuffix(".mean()")
    spoken_of = set(_ARGUMENT.findall(text)) - _CONSTANTS
    return text if spoken_of <= set(names) else ""
