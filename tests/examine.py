"""Tests: one sample of the catalogue, evaluated and described, under PyTorch or under gradcli.

The description is JSON. Both libraries are asked through the same attributes, so that what differs
is what they answer.
"""

from __future__ import annotations

import ast
import math
import operator
import random
import warnings
from collections.abc import Iterator
from typing import Any

from operands import FLOATING, scope
from oracle import question

SEED = 20260101


def evaluate(lib: Any, text: str, double: bool = False) -> tuple[Any, dict[str, Any]]:
    """The value of a sample and the operands it was made from."""
    names = scope(lib, double, f"({text}, x)")  # one at least, where a sample makes its own
    lib.manual_seed(SEED)
    value = eval(compile(text, "<sample>", "eval"), names)
    return value, {name: names[name] for name in (*FLOATING, "d") if name in names}


def tensors(value: Any, lib: Any) -> Iterator[Any]:
    """The tensors in a result, in order."""
    if isinstance(value, lib.Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors(item, lib)


def numbers(value: Any, digits: int = 15) -> Any:
    """Nested lists with NaN and infinities as words, complex numbers as pairs."""
    if isinstance(value, list | tuple):
        return [numbers(item, digits) for item in value]
    if isinstance(value, complex):
        return [numbers(value.real, digits), numbers(value.imag, digits)]
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if math.isfinite(value) else str(value)
    return value if isinstance(value, int) else str(value)


def values(tensor: Any) -> Any:
    """A tensor's numbers, with the digits that its type holds."""
    double = str(tensor.dtype) in ("torch.float64", "torch.complex128")
    # clone gives a symbolic zero its memory
    return numbers(tensor.detach().clone().tolist(), 15 if double else 9)


def name_of(node: Any) -> str | None:
    return None if node is None else node.name().rsplit("::", 1)[-1]


def describe(tensor: Any) -> dict[str, Any]:
    node = tensor.grad_fn
    facts = {
        "dtype": str(tensor.dtype),
        "shape": list(tensor.shape),
        "value": values(tensor),
        "requires_grad": tensor.requires_grad,
        "is_leaf": tensor.is_leaf,
        "grad_fn": name_of(node),
    }
    if node is not None:
        facts["next"] = [[name_of(child), number] for child, number in node.next_functions]
        facts["saved"] = sorted(word for word in dir(node) if word.startswith("_saved_"))
        facts["output_nr"] = tensor.output_nr
    return facts


def cotangent(tensor: Any, lib: Any, seed: int) -> Any:
    """Numbers without pattern, the same everywhere: sums would hide a wrong element."""
    flat = _irregular(math.prod(tensor.shape), seed)
    return lib.tensor(flat, dtype=tensor.dtype).reshape(tuple(tensor.shape))


def _irregular(count: int, seed: int = 0) -> list[float]:
    draw = random.Random(seed)
    return [round(draw.uniform(0.5, 1.5) * draw.choice((-1, 1)), 3) for _ in range(count)]


def gradients(outputs: list[Any], operands: dict[str, Any], lib: Any, create: bool) -> list[Any]:
    roots = [tensor for tensor in outputs if tensor.requires_grad]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(
            lib.autograd.grad(
                roots,
                list(operands.values()),
                [cotangent(tensor, lib, at) for at, tensor in enumerate(roots)],
                create_graph=create,
                allow_unused=True,
            )
        )


def first_line(error: BaseException) -> str:
    lines = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"


def guarded(function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Exception as error:
        return first_line(error)


def _first_order(lib: Any, outputs: list[Any], operands: dict[str, Any]) -> Any:
    found = gradients(outputs, operands, lib, create=False)
    return {
        name: [str(grad.dtype), list(grad.shape), values(grad)]
        for name, grad in zip(operands, found, strict=True)
        if grad is not None
    }


def _second_order(lib: Any, text: str) -> Any:
    """Names of the first gradients under create_graph, and the gradients of them."""
    value, operands = evaluate(lib, text)
    first = gradients(list(tensors(value, lib)), operands, lib, create=True)
    kept = {name: grad for name, grad in zip(operands, first, strict=True) if grad is not None}
    answer: dict[str, Any] = {"grad_fn": {n: name_of(g.grad_fn) for n, g in kept.items()}}
    if any(grad.requires_grad for grad in kept.values()):
        second = gradients(list(kept.values()), operands, lib, create=False)
        answer["second"] = {
            name: values(grad)
            for name, grad in zip(operands, second, strict=True)
            if grad is not None
        }
    return answer


@question
def examine(lib: Any, text: str) -> dict[str, Any]:
    """Value, types, graph and gradients of one sample."""
    return examined(lib, text)[0]


def examined(lib: Any, text: str) -> tuple[dict[str, Any], list[Any]]:
    """These facts, and the tensors of the result."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value, operands = evaluate(lib, text)
        except Exception as error:
            return {"error": first_line(error)}, []
        found = list(tensors(value, lib))
        if not found:
            return {"value": numbers(value)}, []
        facts: dict[str, Any] = {"kind": type(value).__name__}
        facts["tensors"] = [describe(tensor) for tensor in found]
        if any(tensor.requires_grad for tensor in found):
            facts["gradients"] = guarded(_first_order, lib, found, operands)
            facts["again"] = guarded(_second_order, lib, text)
    return facts, found


@question
def refuse(lib: Any, text: str) -> str:
    """Type and first line of what a sample raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            evaluate(lib, text)
        except Exception as error:
            return first_line(error)
    return "nothing was raised"


class _Twin(ast.NodeTransformer):
    """Turns torch.f(x, ...) and x.f(...) into x.clone().f_(...)."""

    def __init__(self, name: str, twin: str) -> None:
        self.name, self.twin = name, twin
        self.found = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not (isinstance(node.func, ast.Attribute) and node.func.attr == self.name):
            return node
        owner, arguments = node.func.value, node.args
        if isinstance(owner, ast.Name) and owner.id in ("torch", "F"):
            if not arguments:
                return node
            owner, *arguments = arguments
        if isinstance(owner, ast.Constant):
            return node
        self.found = True
        copy = ast.Call(ast.Attribute(owner, "clone", ast.Load()), [], [])
        return ast.Call(ast.Attribute(copy, self.twin, ast.Load()), arguments, node.keywords)


def inplace_twin(text: str, name: str, twin: str) -> str | None:
    """The sample with the in-place form, where it calls the operator by name."""
    change = _Twin(name, twin)
    tree = change.visit(ast.parse(text, mode="eval"))
    return ast.unparse(ast.fix_missing_locations(tree)) if change.found else None


NUMERIC = 2e-6
Weights = list[list[Any] | None]  # for each order, what its roots are multiplied with


@question
def slope_fault(lib: Any, text: str) -> str:
    """Where reverse mode, or reverse mode of it, differs from central differences in float64."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found, weights = _reverse(lib, text)
            for name in {**found[0], **found[1]}:
                if fault := _fault(lib, text, name, [grads.get(name) for grads in found], weights):
                    return fault
        except Exception as error:
            return first_line(error)
    return ""


def _reverse(lib: Any, text: str) -> tuple[list[dict[str, Any]], Weights]:
    """For both orders the gradients of each operand that matters, and the weights of the roots."""
    reverse: list[dict[str, Any]] = []
    weights: Weights = []
    for order in range(2):  # evaluated anew, because reverse mode frees the graph
        value, operands = evaluate(lib, text, double=True)
        roots = _differentiable(lib, value, operands)[order]
        if not roots or any(root.dtype not in (lib.float64, lib.complex128) for root in roots):
            reverse.append({})
            weights.append(None)
            continue
        weights.append([cotangent(tensor, lib, at).tolist() for at, tensor in enumerate(roots)])
        grads = zip(operands, gradients(roots, operands, lib, create=False), strict=True)
        reverse.append({name: _listed(g) for name, g in grads if g is not None})
    return reverse, weights


def _fault(lib: Any, text: str, name: str, found: list[Any], weights: Weights) -> str:
    """Along one way, which moves each element; where the slopes differ, element by element."""
    flat = _listed(scope(lib, double=True, text=text)[name])
    along = _irregular(len(flat))
    slopes = _slopes(lib, text, name, weights, [along])
    if all(
        mine is None
        or abs(sum(map(operator.mul, mine, along)) - slope) <= NUMERIC * max(1.0, abs(slope))
        for mine, (slope,) in zip(found, slopes, strict=True)
    ):
        return ""
    each = [[float(at == place) for at in range(len(flat))] for place in range(len(flat))]
    for mine, slopes_of in zip(found, _slopes(lib, text, name, weights, each), strict=True):
        scale = max(1.0, *map(abs, slopes_of))
        for reverse, slope in zip(mine or (), slopes_of):
            if not abs(reverse - slope) <= NUMERIC * scale:
                return f"d/d{name}: {mine}, differences give {slopes_of}"
    return ""


def _listed(tensor: Any) -> list[Any]:
    values: list[Any] = tensor.detach().clone().reshape(-1).tolist()
    return values


def _differentiable(lib: Any, value: Any, operands: dict[str, Any]) -> list[list[Any]]:
    """What slopes are taken of: the tensors of a result, and their gradients."""
    found = list(tensors(value, lib))
    grads = gradients(found, operands, lib, create=True)
    firsts = [grad for grad in grads if grad is not None]
    return [[t for t in roots if t.requires_grad] for roots in (found, firsts)]


def _slopes(
    lib: Any, text: str, name: str, weights: Weights, ways: list[list[float]], step: float = 1e-5
) -> list[list[float]]:
    """Central differences of the weighted sums of both orders, along each way."""
    base = scope(lib, double=True, text=text)[name].detach()
    flat = base.reshape(-1).tolist()

    def weighted(moved: list[float]) -> list[float]:
        names = scope(lib, double=True, text=text)
        tensor = lib.tensor(moved, dtype=lib.float64).reshape(tuple(base.shape))
        names[name] = tensor.requires_grad_()
        lib.manual_seed(SEED)
        value = eval(compile(text, "<sample>", "eval"), names)
        kept = {other: names[other] for other in (*FLOATING, "d") if other in names}
        return [
            sum(
                _dot(root.detach().tolist(), weight)
                for root, weight in zip(roots, own, strict=True)
            )
            if own is not None
            else 0.0
            for roots, own in zip(_differentiable(lib, value, kept), weights, strict=True)
        ]

    slopes: list[list[float]] = [[], []]
    for way in ways:
        up = weighted([here + step * part for here, part in zip(flat, way)])
        down = weighted([here - step * part for here, part in zip(flat, way)])
        for order in range(2):
            slopes[order].append((up[order] - down[order]) / (2 * step))
    return slopes


def _dot(left: Any, right: Any) -> float:
    if isinstance(left, list):
        return sum(_dot(a, b) for a, b in zip(left, right, strict=True))
    product = left * (right.conjugate() if isinstance(right, complex) else right)
    return product.real if isinstance(product, complex) else product
