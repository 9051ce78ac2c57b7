"""Tests of torch.func: transformations of many functions, nested, against PyTorch."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from operands import scope as operand_scope
from oracle import oracle, question
from transformations import close, described, scope as transformation_scope, transformed

import gradcli
from gradcli.engine.schema.operator import Row
from gradcli.func.batching import rule_of
from gradcli.operators import catalogue

FUNCTIONS = {
    "mv": "A @ a", "quadratic": "a @ A @ a", "softmax": "torch.softmax(a, 0)",
    "log_softmax": "F.log_softmax(a, -1)", "norm": "a.norm()", "cumsum": "a.cumsum(0)",
    "prod": "a.prod()", "max": "a.max()", "sort": "a.sort()[0] * torch.arange(3.0)",
    "outer": "torch.outer(a, a)", "relu": "F.relu(a)", "gelu": "F.gelu(a)",
    "slices": "a[1:] * a[:-1]", "stack": "torch.stack([a, a * 2]).sum(0)",
    "cat": "torch.cat([a, a ** 2])", "view": "a.view(3, 1) * a", "std": "a.std()",
    "logsumexp": "torch.logsumexp(a, 0)", "inv": "torch.linalg.inv(A + torch.diag(a))",
    "det": "torch.linalg.det(A + torch.diag(a))", "solve": "torch.linalg.solve(A, a)",
    "einsum": "torch.einsum('i,j->ij', a, a)", "where": "torch.where(a > 0, a, a * 2)",
    "clamp": "a.clamp(-0.2, 0.2)", "pow": "a.abs() ** 1.5", "mse": "F.mse_loss(a, torch.ones(3))",
    "cross_entropy": "F.cross_entropy(a[None], torch.tensor([1]))",
    "layer_norm": "F.layer_norm(a, (3,))", "flip": "a.flip(0) * a", "roll": "a.roll(1) * a",
    "var": "a.var()", "gather": "a.gather(0, torch.tensor([2, 0]))",
    "conv": "F.conv1d(a.view(1, 1, 3), torch.ones(1, 1, 2))",
    "pool": "F.max_pool1d(a.view(1, 1, 3), 2)", "tril": "torch.tril(torch.outer(a, a))",
    "trace": "torch.trace(torch.outer(a, a))", "expand": "a.expand(2, 3).sum(0)",
    "in place": "(a * 1).mul_(a)", "embedding": "F.embedding(torch.tensor([0, 0]), a.view(1, 3))",
    "svd": "torch.linalg.svdvals(A * a)", "eigh": "torch.linalg.eigvalsh(A + torch.diag(a))",
    "cholesky": "torch.linalg.cholesky(A + torch.diag(a))", "atan2": "torch.atan2(a, a + 1)",
    "huber": "F.huber_loss(a, torch.zeros(3))", "masked_fill": "a.masked_fill(a > 0, 1.0)",
    "batch_norm": "F.batch_norm(a.view(3, 1), None, None, training=True)",
    "cosine": "F.cosine_similarity(a, X + 1, dim=0)", "kron": "torch.kron(a, a)",
    "unbind": "a.unbind(0)[1] * a", "lerp": "torch.lerp(a, a * a, 0.3)", "topk": "a.topk(2)[0]",
    "scatter": "torch.zeros(3).scatter(0, torch.tensor([2, 1, 0]), a)",
    "index_add": "torch.zeros(3).index_add(0, torch.tensor([0, 0, 1]), a)",
    "logdet": "torch.logdet(A + torch.diag(a))", "median": "a.median()",
    "matrix_exp": "torch.matrix_exp(torch.outer(a, a))", "cumprod": "a.cumprod(0)",
    "quantile": "torch.quantile(a, 0.3)", "fft": "torch.abs(torch.fft.fft(a))",
    "interpolate": "F.interpolate(a.view(1, 1, 3), 5, mode='linear')",
}  # fmt: skip
WAYS = {
    "jvp": "jvp(lambda a: {f}, (X,), (Y,))",
    "vmap": "vmap(lambda a: {f})(B)",
    "jacrev": "jacrev(lambda a: {f})(X)",
    "jacfwd": "jacfwd(lambda a: {f})(X)",
    "hessian": "hessian(lambda a: ({f}).sin().sum())(X)",
    "vmap of grad": "vmap(grad(lambda a: ({f}).sin().sum()))(B)",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_transformations(name: str, way: str) -> None:
    check(WAYS[way].format(f=FUNCTIONS[name]))


def check(text: str) -> None:
    ours, theirs = transformed(gradcli, text), oracle.ask("transformed", text)
    assert close(ours, theirs), f"{text}\n{ours}\n{theirs}"


EXPRESSIONS = (
    # reverse mode
    "grad(grad(torch.sin))(s)", "grad(grad(grad(lambda a: a ** 4)))(s)", "grad(torch.sin)(sr)",
    "grad(lambda a: (a * sr * 2).sum())(s)", "grad(lambda a, b: a * b, argnums=(0, 1))(s, s)",
    "grad(lambda a, b: a * b, argnums=-1)(s, s)", "grad(lambda a, b: b * 2)(s, s)",
    "grad(lambda p: p['a'] * p['b'][0])({'a': s, 'b': [s]})",
    "grad(lambda a: (a * 2, a * 3), has_aux=True)(s)", "grad_and_value(lambda a: a ** 2)(s)",
    "grad_and_value(lambda a: (a ** 2, a), has_aux=True)(s)",
    "torch.no_grad()(grad(torch.sin))(s)", "grad(lambda a: a * a.item())(s)",
    "grad(lambda x: x * grad(lambda y: x + y)(s))(s)",
    "grad(lambda a: jvp(lambda b: b ** 3, (a,), (torch.tensor(1.0),))[1])(s)",
    "jvp(grad(lambda a: a ** 3), (s,), (torch.tensor(1.0),))",
    "vjp(torch.sin, X)[0]", "vjp(torch.sin, X)[1](torch.ones(3))",
    "vjp(lambda a, b: (a * b, a), X, X)[1]((X, X))",
    "(lambda f: (f(torch.ones(3)), f(X)))(vjp(torch.sin, X)[1])",
    "vjp(lambda a: (a, a), X, has_aux=True)[2]", "vmap(vjp(torch.sin, X)[1])(torch.eye(3))",
    "grad(lambda a: vjp(lambda b: b ** 3, a)[1](torch.tensor(1.0))[0])(s)",
    # forward mode
    "jvp(torch.sin, (X,), (X,))", "jvp(lambda a: (a, a * 2), (X,), (X,))",
    "jvp(lambda a: (a * 2, a), (X,), (X,), has_aux=True)",
    "jvp(lambda a: torch.ones(2), (X,), (X,))",
    "jvp(lambda a: jvp(torch.sin, (a,), (X,))[1], (X,), (X,))", "jvp(torch.sin, (sr,), (s,))",
    "linearize(torch.sin, X)[1](Y)", "linearize(lambda a, b: a * b, X, Y)[1](Y, X)",
    # Jacobians
    "jacrev(lambda a, b: (a * b, a.sum()), argnums=(0, 1))(X, Y)",
    "jacrev(lambda a, b: {'o': a * b}, argnums=1)(X, Y)",
    "jacrev(lambda a: (a * 2, a), has_aux=True)(X)", "jacrev(torch.sin, chunk_size=2)(X)",
    "jacfwd(lambda a, b: (a * b, a.sum()), argnums=(0, 1))(X, Y)",
    "jacfwd(lambda a: (a * 2, a), has_aux=True)(X)", "jacrev(jacrev(torch.sin))(X)",
    "jacfwd(jacfwd(torch.sin))(X)",
    "hessian(lambda a, b: (a ** 3 * b).sum(), argnums=(0, 1))(X, Y)",
    "jacrev(torch.sin)(Xr)", "vmap(jacrev(torch.sin))(B)",
    "vmap(hessian(lambda a: (a ** 3).sum()))(B)",
    # vmap
    "vmap(torch.mul, in_dims=(0, None))(M, X)", "vmap(torch.sin, in_dims=-1)(M)",
    "vmap(torch.sin, in_dims=1, out_dims=1)(M)", "vmap(lambda a: a * 2, out_dims=-1)(M)",
    "vmap(lambda a: (a, a * 2), out_dims=(0, 1))(M)", "vmap(lambda a: {'k': a})(M)",
    "vmap(lambda d: d['a'] * d['b'], in_dims=({'a': 0, 'b': None},))({'a': M, 'b': X})",
    "vmap(lambda a: torch.ones(2))(M)", "vmap(lambda a: torch.ones(2), out_dims=None)(M)",
    "vmap(vmap(lambda a: a * 2))(M)",
    "vmap(vmap(torch.mul, in_dims=(0, None)), in_dims=(None, 0))(X, Y)",
    "vmap(torch.sin, chunk_size=1)(M)", "vmap(lambda a: a.add_(1))(M.clone())",
    "vmap(lambda a: a.clone().fill_(1))(M)", "vmap(lambda a: sum(b for b in a))(M)",
    "vmap(lambda a: a[0])(M)", "vmap(lambda a, i: a[i])(M, torch.tensor([0, 2]))",
    "vmap(lambda i: X[i])(torch.tensor([0, 2]))", "vmap(lambda a: a.unsqueeze(0).squeeze())(M)",
    "vmap(lambda a, b: a * b)(M, torch.ones(2, dtype=torch.float64))",
    "vmap(torch.dot)(M.clone().requires_grad_(), M)",
    "vmap(lambda a: a.sum())(M.clone().requires_grad_())",
    "vmap(lambda a: torch.zeros_like(a).add_(a))(M)", "vmap(lambda a: a.new_zeros(2) + a.sum())(M)",
    "vmap(lambda w, x: F.linear(x, w))(torch.ones(2, 4, 3), M)",
    "vmap(lambda a: F.linear(a, torch.ones(2, 3), torch.ones(2)))(M)",
    "vmap(lambda a, b: torch.addmm(a, b, b))(torch.ones(2, 2), torch.ones(2, 2, 2))",
    "vmap(grad(lambda p, x: (p * x).sum()), in_dims=(None, 0))(X, B)",
    "vmap(lambda a: a.softmax(-1).argmax())(M)", "vmap(lambda a: torch.einsum('i,i->', a, X))(B)",
    # random numbers
    "vmap(lambda a: a * 0 + torch.rand(3), randomness='same')(M)",
    "vmap(lambda a: a * 0 + torch.rand(3), randomness='different')(M)",
    "vmap(lambda a: torch.randn_like(a), randomness='same')(M)",
    "vmap(lambda a: torch.randn_like(a), randomness='different')(M)",
    "vmap(lambda a: F.dropout(a + 1), randomness='different')(M)",
    "vmap(lambda a: F.dropout(a + 1), randomness='same')(M)",
    "vmap(lambda a: torch.randint(0, 9, (3,)), randomness='different')(M)",
    "vmap(lambda a: torch.randperm(4), randomness='different')(M)",
    "vmap(lambda a: (a + 0).normal_(), randomness='same')(M)",
    # modules
    "functional_call(nn.Linear(3, 1), {'weight': torch.ones(1, 3), 'bias': torch.zeros(1)}, (X,))",
    "vmap(grad(lambda p, x: functional_call(nn.Linear(3, 1), p, (x,)).sum()), in_dims=(None, 0), "
    "randomness='same')({'weight': torch.ones(1, 3), 'bias': torch.zeros(1)}, B)",
)  # fmt: skip
ERRORS = (
    "grad(torch.sin)(X)", "grad(torch.sin)(torch.tensor(2))", "grad(lambda a: 3.0)(s)",
    "grad(lambda a: a)(3.0)", "grad(lambda a: a, argnums=1)(s)",
    "grad(lambda a: a, argnums='a')(s)",
    "grad(lambda a, b: a, argnums=(0, 0))(s, s)", "grad(lambda a: a, argnums=())(s)",
    "grad(lambda a: a * 2, has_aux=True)(s)", "grad(lambda a: (a * 2, a))(s)",
    "grad(lambda a: (a ** 2).backward())(s)", "grad(lambda a: a.requires_grad_() ** 2)(s)",
    "vjp(torch.sin, X)[1](torch.ones(2))", "vjp(lambda a, b: (a * b, a), X, X)[1](X)",
    "vjp(lambda a: 3, X)", "jvp(torch.sin, X, X)", "jvp(torch.sin, (X,), X)",
    "jvp(torch.sin, (X,), (torch.ones(2),))", "jvp(torch.sin, (X,), (X, X))",
    "jvp(torch.sin, (), ())", "jvp(lambda a: torch.ones(2), (X,), (X,), strict=True)",
    "jvp(lambda a: 3, (X,), (X,))", "jacrev(lambda a: 3)(X)", "jacrev(torch.sin)(torch.arange(3))",
    "jacrev(torch.sin, chunk_size=0)(X)", "jacfwd(lambda a: a * torch.rand(3))(X)",
    "linearize(torch.sin, X)[1](s)", "vmap(lambda a: a.item())(X)",
    "vmap(lambda a: a if a > 1 else -a)(X)", "vmap(lambda a: float(a))(X)",
    "vmap(lambda a: a.tolist())(X)", "vmap(lambda a: a.numpy())(X)",
    "vmap(lambda a: a.nonzero())(M)", "vmap(lambda a: a.unique())(M)",
    "vmap(lambda a: a[a > 1])(M)",
    "vmap(lambda a: a + torch.rand(3))(M)", "vmap(lambda a: F.dropout(a))(M)",
    "vmap(torch.sin, randomness='foo')(M)", "vmap(torch.mul, in_dims=(0,))(M, M)",
    "vmap(torch.mul, in_dims=(None, None))(M, X)", "vmap(torch.sin, in_dims=2)(M)",
    "vmap(torch.sin)(s)", "vmap(torch.sin, in_dims='a')(s)", "vmap(lambda a: a)(3.0)",
    "vmap(torch.mul)(M, torch.ones(3, 3))", "vmap(lambda: 1)()",
    "vmap(lambda a: a, out_dims=None)(M)", "vmap(lambda a: a * 2, out_dims=3)(M)",
    "vmap(lambda a: (a, a * 2), out_dims=(0,))(M)", "vmap(lambda a: a, out_dims='a')(M)",
    "vmap(lambda a: 3)(M)", "vmap(torch.sin, chunk_size=0)(M)", "vmap(lambda a: X.add_(a))(M)",
    "vmap(lambda a: a.requires_grad_())(M)", "vmap(lambda a: a.data)(M)",
    "vmap(lambda a: f'{a}')(X)", "vmap(lambda a: torch.allclose(a, a))(M)",
    "vmap(lambda a: torch.bernoulli(a * 0 + 0.5), randomness='same')(M)",
    "vmap(lambda a: X.mul_(a))(M)", "vmap(lambda a: X.lerp_(a, 0.5))(M)",
    "vmap(lambda a: X.pow_(a))(M)", "vmap(lambda a: X.scatter_(0, (a * 0).long(), a))(M)",
)  # fmt: skip


PRINTED = (
    "vmap(show)(M)",
    "vmap(show, in_dims=1)(M)",
    "vmap(vmap(show))(M)",
    "grad(show)(s)",
    "grad(grad(show))(s)",
    "grad(lambda a, b: show(a) * show(b))(s, s)",
    "jvp(show, (X,), (X,))",
    "vmap(grad(show))(X)",
    "vmap(grad(lambda a, b: show(a * 2) * show(b)))(X, X)",
    "vjp(show, X)",
    "jvp(grad(lambda a: show(a) ** 2), (s,), (s,))",
    "grad(lambda a: show(a * 2))(s)",
)


@question
def printed_inside(lib: Any, text: str) -> list[str]:
    """How tensors print inside a transformed function."""
    told: list[str] = []
    names = transformation_scope(lib)
    names["show"] = lambda value: told.append(str(value)) or value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        eval(text, names)
    return told


@pytest.mark.parametrize("text", PRINTED)
def test_printed_inside(text: str) -> None:
    assert printed_inside(gradcli, text) == oracle.ask("printed_inside", text)


@pytest.mark.parametrize("text", [*EXPRESSIONS, *ERRORS])
def test_expressions(text: str) -> None:
    check(text)


def samples() -> list[tuple[str, str]]:
    """Samples of rows that can be called as they are: one expression over the operands."""
    return [
        (key, sample)
        for key, row in sorted(catalogue.rows.items())
        if isinstance(row, Row) and row.where != "hidden" and row.formulas
        for sample in row.samples[:2]
        if "grad" not in sample and "_(" not in sample and "rand" not in sample
    ]


def test_views_are_views() -> None:
    """A view for all samples shares their memory: it never goes one by one."""
    rows = [row for row in catalogue.rows.values() if isinstance(row, Row) and row.view]
    assert [repr(row) for row in rows if rule_of(row) is None] == []


def _depends(sample: str) -> str | None:
    """An operand of floating type that the sample is over."""
    import ast

    names = {n.id for n in ast.walk(ast.parse(sample)) if isinstance(n, ast.Name)}
    return next((name for name in "xyvpwuacsbqr" if name in names), None)


@pytest.mark.parametrize(("key", "sample"), samples())
def test_batched_is_one_by_one(key: str, sample: str) -> None:
    """Every row under vmap gives what it gives for one sample after the other."""
    name = _depends(sample)
    if name is None:
        pytest.skip("over no floating operand")
    names = operand_scope(gradcli, True, sample)
    given = names[name].detach()
    many = gradcli.stack([given, given * 0.875 + 0.03125])

    def function(value: object) -> object:
        return eval(sample, {**names, name: value})

    row = catalogue.rows[key]
    if row.acts == "random" or row.name == "masked_select":
        pytest.skip("random numbers, or a size that depends on them")
    try:
        wanted = [function(part.clone()) for part in many]
    except Exception:
        pytest.skip("not for the second operand")
    if not all(isinstance(part, gradcli.Tensor) for part in wanted):
        pytest.skip("several results")
    got = gradcli.func.vmap(function)(many)
    assert close(
        described(got.detach(), gradcli), described(gradcli.stack(wanted).detach(), gradcli)
    )


@pytest.mark.parametrize(("key", "sample"), samples())
def test_forward_is_backward_transposed(key: str, sample: str) -> None:
    """A tangent is the Jacobian of reverse mode times the direction."""
    name = _depends(sample)
    if name is None:
        pytest.skip("over no floating operand")
    names = {
        key: value.detach() if isinstance(value, gradcli.Tensor) else value
        for key, value in operand_scope(gradcli, True, sample).items()
    }
    given = names[name]
    direction = (given * 3).sin()

    def function(value: object) -> object:
        answer = eval(sample, {**names, name: value})
        return answer if isinstance(answer, gradcli.Tensor) else answer[0]

    if not function(given).is_floating_point():
        pytest.skip("no floating result")
    try:
        _, tangent = gradcli.func.jvp(function, (given,), (direction,))
    except NotImplementedError as error:
        pytest.skip(str(error)[:60])
    jacobian = gradcli.autograd.functional.jacobian(function, given)
    wanted = (
        (jacobian * direction).sum(tuple(range(-given.ndim, 0)))
        if given.ndim
        else (jacobian * direction)
    )
    if not bool(wanted.isfinite().all()):
        pytest.skip("at the edge of the domain")
    assert close(described(tangent, gradcli), described(wanted, gradcli))
