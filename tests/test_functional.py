"""Tests of autograd.functional, autograd.graph and checkpoints, against PyTorch."""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from importlib import import_module
from typing import Any

import pytest
from oracle import oracle, question
from transformations import close, transformed

import gradcli

SINGLE = "jacobian hessian vjp jvp hvp vhp".split()
BODIES = {
    "constant": "lambda a: torch.ones(())", "linear": "lambda a: (a * 2).sum()",
    "square": "lambda a: (a * a).sum()", "cube": "lambda a: (a ** 3).sum()",
    "vector": "lambda a: a * 2", "two": "lambda a: (a.sum(), a.sum())", "number": "lambda a: 3.0",
}  # fmt: skip


def calls() -> list[str]:
    """Every function over every body, strict or not, with and without a graph."""
    out = []
    for name in SINGLE:
        vector = "" if name in ("jacobian", "hessian", "vjp") else ", torch.ones(3)"
        for body in BODIES.values():
            for strict in (False, True):
                for create in (False, True):
                    out.append(
                        f"af.{name}({body}, X{vector}, strict={strict}, create_graph={create})"
                    )
        out += [
            f"af.{name}(lambda a: a.sum(), 3.0)", f"af.{name}(lambda a, b: a.sum(), (X, 3.0))",
            f"af.{name}(lambda a: a.sum(), [X])",
            f"af.{name}(lambda a: (a ** 3).sum(), Xr{vector})",
        ]  # fmt: skip
        if name not in ("jacobian", "hessian"):
            out += [
                f"af.{name}(lambda a: a.sum(), X, torch.ones(2))",
                f"af.{name}(lambda a: a.sum(), X, (torch.ones(3), torch.ones(3)))",
                f"af.{name}(lambda a, b: (a * b).sum(), (X, X), (torch.ones(3), torch.ones(2)))",
                f"af.{name}(lambda a: a * a, s)",
            ]
    for name, option in (("jacobian", "strategy"), ("hessian", "outer_jacobian_strategy")):
        body = "lambda a: (a ** 3).sum()"
        out += [
            f"af.{name}({body}, X, vectorize=True)",
            f"af.{name}({body}, X, {option}='foo')",
            f"af.{name}({body}, X, vectorize=True, strict=True)",
            f"af.{name}({body}, X, vectorize=True, {option}='forward-mode')",
            f"af.{name}({body}, X, {option}='forward-mode')",
            f"af.{name}(lambda a, b: (a ** 3 * b).sum(), (X, X), vectorize=True, "
            f"{option}='forward-mode')",
            f"af.{name}({body}, Xr, create_graph=True, vectorize=True, {option}='forward-mode')",
        ]
    return [
        *out, "af.jacobian(lambda a: a[:0], X)", "af.jacobian(lambda a: (a @ A).sin(), B)",
        "af.jacobian(lambda a, b: (a * b, a.sum()), (X, s))", "af.jacobian(torch.sin, B)",
        "torch.no_grad()(lambda: af.jacobian(lambda a: a ** 2, X))()",
        "af.hessian(lambda a: (100 * (a[1:] - a[:-1] ** 2) ** 2 + (1 - a[:-1]) ** 2).sum(), X)",
        "af.hessian(lambda a, b: (a * b).sum() + (a ** 3).sum(), (X, Y))",
        "af.jacobian(lambda a: F.softmax(a @ A, -1), B)", "af.jacobian(torch.cumsum, (X, s))",
        "af.jacobian(lambda a: (lambda b: (b.mul_(a), b)[1])(a * 1), X)",
        "af.jacobian(lambda a: a.as_strided((2, 2), (1, 1)), X)",
        "af.jacobian(lambda a: a * 2, torch.arange(3))",
    ]  # fmt: skip


@pytest.mark.parametrize("text", calls())
def test_functional(text: str) -> None:
    ours, theirs = transformed(gradcli, text), oracle.ask("transformed", text)
    assert close(ours, theirs), f"{text}\n{ours}\n{theirs}"


def test_hooks_are_called_for_every_row() -> None:
    seen = []

    def function(x: Any) -> Any:
        y = x * 2
        y.register_hook(lambda grad: seen.append(grad.tolist()))
        return y

    gradcli.autograd.functional.jacobian(function, gradcli.ones(2))
    assert seen == [[1.0, 0.0], [0.0, 1.0]]


PROGRAMS = {
    "checkpoint": """
        def f(a):
            print("run")
            return (a * 2).sin().cos()
        for reentrant in (False, True):
            y = cp.checkpoint(f, x, use_reentrant=reentrant)
            print(y, y.grad_fn.name())
            y.sum().backward(retain_graph=True)
            y.sum().backward()
            print(x.grad)
    """,
    "what was freed": """
        y = cp.checkpoint(torch.sin, x, use_reentrant=False).sum()
        y.backward()
        y.backward()
    """,
    "second order": """
        y = cp.checkpoint(lambda a: a.sin().cos(), x, use_reentrant=False)
        g, = torch.autograd.grad(y.sum(), x, create_graph=True)
        print(g, torch.autograd.grad(g.sum(), x))
    """,
    "early stop": """
        def f(a):
            print("a"); b = a.sin(); print("b"); c = b.cos(); print("c"); return c * 2
        cp.checkpoint(f, x, use_reentrant=False).sum().backward()
        with cp.set_checkpoint_early_stop(False):
            y = cp.checkpoint(f, x, use_reentrant=False).sum()
        y.backward()
    """,
    "random numbers": """
        torch.manual_seed(0)
        y = cp.checkpoint(lambda a: F.dropout(a * torch.ones(6, 2)), x, use_reentrant=False)
        print(y)
        y.sum().backward()
        print(x.grad, torch.rand(1))
    """,
    "no grad for .grad()": """
        torch.autograd.grad(cp.checkpoint(torch.sin, x, use_reentrant=True).sum(), x)
    """,
    "other sizes": """
        count = []
        def f(a):
            count.append(1)
            return (a * torch.ones(2)).sin() if len(count) == 1 else a.sum().sin()
        cp.checkpoint(f, x, use_reentrant=False).sum().backward()
    """,
    "fewer tensors": """
        count = []
        def f(a):
            count.append(1)
            return a.sin().cos() if len(count) == 1 else a.sin()
        cp.checkpoint(f, x, use_reentrant=False).sum().backward()
    """,
    "arguments": """
        for kwargs in ({}, {"use_reentrant": True, "b": 1}, {"use_reentrant": False, "foo": 1},
                       {"use_reentrant": False, "determinism_check": "x"},
                       {"use_reentrant": True, "debug": True}):
            try:
                print(cp.checkpoint(torch.sin, x, **kwargs))
            except Exception as error:
                print(type(error).__name__, error)
        print(cp.checkpoint(torch.sin, x.detach(), use_reentrant=True))
        cp.checkpoint(lambda a: a.detach(), x, use_reentrant=True).sum().backward()
    """,
    "sequential": """
        steps = [torch.sin, torch.cos, torch.exp, torch.tanh]
        y = cp.checkpoint_sequential(steps, 2, x, use_reentrant=False)
        print(y)
        y.sum().backward()
        print(x.grad)
        cp.checkpoint_sequential(steps, 2, x, use_reentrant=False, foo=1)
    """,
    "hooks on what is saved": """
        with graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t / 2):
            y = (x.sin() * x.exp()).tanh()
        print(y.grad_fn._saved_result, y.grad_fn.next_functions[0][0]._saved_self)
        g, = torch.autograd.grad(y.sum(), x, create_graph=True)
        print(g, torch.autograd.grad(g.sum(), x))
    """,
    "hooks forbidden": """
        with graph.disable_saved_tensors_hooks("not here"):
            try:
                graph.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__()
            except RuntimeError as error:
                print(error)
        with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            with graph.disable_saved_tensors_hooks("not here"):
                pass
    """,
    "mutation allowed": """
        with graph.allow_mutation_on_saved_tensors():
            b = x.clone()
            out = (b ** 2).sum()
            b.sin_()
            out.backward()
            print(x.grad)
            try:
                graph.allow_mutation_on_saved_tensors().__enter__()
            except RuntimeError as error:
                print(error)
            late = (x ** 2).sum()
        late.backward()
    """,
    "edges": """
        y = (x * 3).sum()
        edge = graph.get_gradient_edge(x)
        print(edge.node.name(), edge.output_nr)
        print(torch.autograd.grad(y, edge, retain_graph=True))
        torch.autograd.backward(graph.get_gradient_edge(y), torch.tensor(1.0))
        print(x.grad)
        graph.get_gradient_edge(torch.ones(2))
    """,
    "several gradients": """
        a = torch.ones(2, requires_grad=True)
        b = torch.ones(2, requires_grad=True)
        c = torch.ones(2, requires_grad=True)
        handle = graph.register_multi_grad_hook([a, b, c], lambda grads: print("all", grads))
        graph.register_multi_grad_hook([a, b], lambda grad: print("any", grad), mode="any")
        (a * b).sum().backward()
        (a * b * c).sum().backward()
        handle.remove()
        (a * b).sum().backward()
        graph.register_multi_grad_hook([a], print, mode="foo")
    """,
    "versions": """
        graph.increment_version([x, x])
        print(x._version)
        graph.increment_version(3)
    """,
}


@question
def told(lib: Any, name: str) -> str:
    """What a program prints; its error and its warnings."""
    names: dict[str, Any] = {
        "torch": lib, "F": lib.nn.functional,
        "cp": import_module(lib.__name__ + ".utils.checkpoint"),
        "graph": lib.autograd.graph, "x": lib.tensor([0.5, -1.0], requires_grad=True),
    }  # fmt: skip
    lines = PROGRAMS[name].strip("\n").split("\n")
    text = "\n".join(line[8:] for line in lines)
    out = io.StringIO()
    with warnings.catch_warnings(record=True) as seen, contextlib.redirect_stdout(out):
        warnings.simplefilter("always")
        try:
            exec(text, names)
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    for warning in seen:
        out.write(f"UserWarning: {warning.message}\n")
    return re.sub(r" at 0x[0-9a-f]+", "", out.getvalue())


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    assert told(gradcli, name) == oracle.ask("told", name)
