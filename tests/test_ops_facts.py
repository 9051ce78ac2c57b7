"""Tests of what `gradcli ops` tells of every operator: formulas, edges, types, memory, orders.

Formulas are evaluated; what is measured on gradcli is measured on PyTorch as well.
"""

from __future__ import annotations

import ast
import importlib
import math
import warnings
from typing import Any

import pytest
from detailed import without_examples
from examine import tensors
from operands import scope
from oracle import oracle, question

import gradcli
from gradcli.operators import catalogue
from gradcli.questions.ops.corners import measured, program_at, text_of
from gradcli.questions.ops.mathematics import mathematics
from gradcli.questions.ops.rows import operators
from gradcli.questions.ops.samples import Apart, taken_apart

conduct = importlib.import_module("gradcli.questions.ops.behaviour")

KEYS = [o.key for fact in operators() if fact.face != "hidden" for o in fact.overloads]


def ran(lib: Any, lines: list[str]) -> dict[str, Any]:
    """The names of a short program after it ran."""
    names = {"torch": lib, "F": lib.nn.functional, "math": math, "inf": math.inf}
    given = set(names)
    exec("\n".join(lines), names)
    return {name: value for name, value in names.items() if name not in given | {"__builtins__"}}


# ---------------------------------------------------------------- formulas


class Lifted:
    """The functions of a formula; plain numbers become tensors, as mathematics has it."""

    SPACES = ("", "nn.functional.", "special.", "linalg.")

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = {"pi": math.pi, "inf": math.inf, **names}

    def __getitem__(self, name: str) -> Any:
        if name in self.names:
            return self.names[name]
        if name == "solve":
            return gradcli.linalg.solve
        function = next(f for space in self.SPACES if (f := _found(space + name)) is not None)
        if name not in ("sqrt", "log", "maximum", "minimum", "signbit", "abs"):
            return function
        return lambda *given: function(*(
            gradcli.tensor(float(g), dtype=gradcli.float64) if isinstance(g, int | float) else g
            for g in given
        ))  # fmt: skip


def _found(path: str) -> Any:
    value: Any = gradcli
    for part in path.split("."):
        value = getattr(value, part, None)
    return value


def bound(row: Any, apart: Apart) -> tuple[dict[str, Any], Any] | None:
    """The arguments of a sample's call by name, and what it gave; None where it is no call."""
    names = scope(gradcli, double=True)
    for line in apart.operands:
        if line.startswith("operand_"):
            exec(line, names)
    call = ast.parse(apart.call, mode="eval").body
    parts: list[ast.expr]
    keywords: dict[str, Any] = {}
    if isinstance(call, ast.BinOp):
        parts = [call.left, call.right]
    elif isinstance(call, ast.Call):
        parts = list(call.args)
        keywords = {k.arg or "": _valued(k.value, names) for k in call.keywords}
        if not isinstance(call.func, ast.Attribute):
            return None
        if not ast.unparse(call.func.value).startswith(("torch", "F")):
            parts.insert(0, call.func.value)
    else:
        return None
    values = row.signature.bind(tuple(_valued(part, names) for part in parts), keywords)
    if values is None:
        return None
    with gradcli.no_grad():  # before the call: it may write over its operands
        copies = [v.clone() if isinstance(v, gradcli.Tensor) else v for v in values]
    return dict(zip(row.signature.names, copies, strict=True)), eval(apart.call, names)


def _valued(part: ast.expr, names: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(part), "<sample>", "eval"), names)


# Where an order of 0 or without end is a limit of the formula, and numbers leave its range.
LIMITS = {"torch.dist(x, operand_1, 0)", "torch.dist(x, y, math.inf)",
          "torch.linalg.vector_norm(x, 0)", "torch.linalg.vector_norm(x, math.inf, (0, 1))",
          "torch.special.erfcx(operand_1)", "torch.special.log_ndtr(operand_1)",
          "torch.float_power(1.5, i)"}  # fmt: skip


def agrees(row: Any, text: str, sample: str) -> bool | None:
    """Whether a formula gives what the operator gives; None where it does not speak of this call:
    a setting that the formula leaves out, or an operand that is not there."""
    if "grad(" in sample:
        return None
    apart = taken_apart(sample, row)
    found = bound(row, apart) if apart.call not in LIMITS else None
    if found is None or not isinstance(found[1], gradcli.Tensor):
        return None
    names, result = found
    spoken = {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
    for parameter in row.signature.parameters:
        value = names[parameter.name]
        if parameter.name in spoken:
            if value is None:
                return None
        elif parameter.kind != "Tensor" and value != parameter.default and (
            parameter.name not in ("dtype", "inplace", "_stacklevel", "normalized_shape")
        ):  # fmt: skip
            return None
        elif parameter.kind == "Tensor" and value is not None and parameter.name != "input":
            return None
    if "gather(1, target" in text and names["target"].is_floating_point():
        return None  # probabilities in place of classes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = eval(text, {}, Lifted(names))
    kind = gradcli.complex128 if result.is_complex() else gradcli.float64
    ours, formula = (gradcli.as_tensor(t).detach().to(kind) for t in (result, given))
    return tuple(ours.shape) == tuple(formula.shape) and gradcli.allclose(
        ours, formula, rtol=1e-5, atol=1e-6, equal_nan=True
    )


@pytest.mark.parametrize("key", [key for key in KEYS if mathematics(catalogue.rows[key])])
def test_what_it_computes(key: str) -> None:
    row = catalogue.rows[key]
    text = mathematics(row)
    answers = {sample: agrees(row, text, sample) for sample in row.samples}
    assert [sample for sample, answer in answers.items() if answer is False] == []


def test_every_formula_is_evaluated() -> None:
    spoken = {}
    for key in KEYS:
        row = catalogue.rows[key]
        text = mathematics(row)
        if text:
            held = any(agrees(row, text, sample) for sample in row.samples)
            spoken[row.signature.name] = spoken.get(row.signature.name, False) or held
    assert [name for name, held in spoken.items() if not held] == []


# ---------------------------------------------------------------- edges


@question
def at_the_edge(lib: Any, call: str) -> Any:
    """What a call gives, and the gradients, as the page writes them."""
    program, leaves = program_at(call)
    try:
        names = ran(lib, program.splitlines())
    except Exception as error:
        return [f"raises {type(error).__name__}", []]
    result = names["result"]
    first = result[0] if isinstance(result, tuple) else result
    told = text_of(first.tolist())
    if isinstance(result, tuple) and len(result) > 1 and not result[1].requires_grad:
        told += f" at {text_of(result[1].tolist())}"
    if not first.requires_grad:
        return [told, []]
    try:
        first.sum().backward()
    except RuntimeError:
        return [told, ["backward raises"]]
    grads = [names[leaf].grad for leaf in leaves]
    return [told, [text_of((grad + 0).tolist()) for grad in grads if grad is not None]]


def test_edges() -> None:
    differ = []
    for key in KEYS:
        for fact in measured(catalogue.rows[key]):
            theirs = oracle.ask("at_the_edge", fact.call)
            if [fact.result, list(fact.gradients)] != theirs:
                differ.append((fact, theirs))
    assert differ == []


def test_where_a_derivative_chooses_the_edge_is_reported() -> None:
    """A formula that compares, divides by a norm, or takes the sign has corners."""
    silent = []
    for fact in without_examples().operators:
        for overload in fact.overloads:
            formulas = " ".join(d.formula for d in overload.derivatives)
            corners = ("where(", "sgn(", "masked_fill(self ==", "log(", "rsqrt(", "indices")
            if any(word in formulas for word in corners) and not overload.edges:
                silent.append(overload.key)
    smooth = {"logcumsumexp", "index_put", "put", "exp2", "asinh", "index_fill.int_Tensor"}
    assert set(silent) <= smooth, set(silent) - smooth


# ---------------------------------------------------------------- conduct


@question
def conduct_of(lib: Any, key: str, programs: list[list[str]]) -> Any:
    """For each program: whose memory the result has, and how often it can be differentiated."""
    return [_conduct(lib, lines) for lines in programs]


def _conduct(lib: Any, lines: list[str]) -> list[str]:
    names = ran(lib, lines)
    return [_memory(names, lib), _orders(names, lib)]


def _memory(names: dict[str, Any], lib: Any) -> str:
    results = list(tensors(names["result"], lib))
    operands = [t for name, value in names.items() if name != "result" for t in tensors(value, lib)]
    for operand in operands if results else ():
        if operand is results[0]:
            return "written" if operand._version else "self"
        if results[0].numel() and _same_storage(operand, results[0]):
            return "view"
    return "new" if results else ""


def _same_storage(one: Any, other: Any) -> bool:
    try:
        return bool(one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr())
    except (RuntimeError, NotImplementedError):
        return False


def _orders(names: dict[str, Any], lib: Any) -> str:
    roots = [t for t in tensors(names["result"], lib) if t.requires_grad]
    roots = [t for t in roots if t.layout is lib.strided]  # others have no ones to begin with
    operands = [
        t for name, value in names.items() if name != "result"
        for t in tensors(value, lib) if t.requires_grad and t.is_leaf
    ]  # fmt: skip

    def slopes(of: list[Any]) -> Any:
        ones = [lib.ones_like(t) for t in of]
        return lib.autograd.grad(of, operands, ones, create_graph=True, allow_unused=True)

    if not roots or not operands:
        return ""
    try:
        again = [t for t in slopes(roots) if t is not None and t.requires_grad]
    except (RuntimeError, NotImplementedError):
        return "none"
    try:
        second = slopes(again) if again else []
    except (RuntimeError, NotImplementedError):
        return "first"
    return "first and second" if any(t is not None for t in second) else "linear"


# PyTorch conjugates late, in a view; it keeps the pieces of an "unsafe" split in the memory of the
# whole without watching them, which no program sees that leaves them as they are. Half types have
# no bytes of their own here, so what reads them as another type is a copy.
OTHER_MEMORY = {
    "conj",
    "view.dtype",
    "unsafe_chunk",
    "unsafe_split.Tensor",
    "unsafe_split_with_sizes",
}


@pytest.mark.parametrize("key", KEYS)
def test_memory_and_orders(key: str) -> None:
    row = catalogue.rows[key]
    if key == "cuda":
        pytest.skip("needs a device")
    aparts = [taken_apart(sample, row) for sample in row.samples if "grad(" not in sample]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = oracle.ask("conduct_of", key, [apart.lines for apart in aparts])
        ours = []
        for apart in aparts:
            call = conduct.called(row, apart)
            assert call is not None, apart
            ours.append([next(conduct.memory_of(call), ""), conduct.orders_of(call)])
    if key in OTHER_MEMORY:
        ours, theirs = [[orders for _, orders in facts] for facts in (ours, theirs)]
    assert ours == theirs
