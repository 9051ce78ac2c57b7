"""language: errors of operands that do not fit: tables of shapes, element types."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, NamedTuple

from ...columns import pad, width_of
from ...engine.schema.catalogue import catalogue
from ...engine.tensors.tensor import Tensor
from ..explanation import (
    ENCLOSED,
    Explanation,
    node_words,
    replaced,
    suffixed,
    with_argument,
)
from ..own_errors import ROOM
from ..values import Namespace
from .layers import CALL, layers, refused

_ABOUT_SHAPES = re.compile(
    r"\b(?:sizes?|shapes?|dimensions?|dim|numel|elements|index|ambiguous|out of (?:range|bounds))"
    r"\b",
    re.IGNORECASE,
)
_ABOUT_TYPES = re.compile(
    r"dtype|scalar type|data ?type|result type|not implemented for '|\b(?:Float|Double|Long|Int|"
    r"Half|Bool|ByteTensor|FloatTensor)\b|floating point"
)
_CONDITION = "Boolean value of Tensor"
_BROADCAST = "The size of tensor a ("
_TARGET = "Using a target size ("
_PRODUCTS = frozenset({"matmul", "mm", "mv", "dot", "bmm"})
_CASTS = {".long()": "int64", ".float()": "float32", ".double()": "float64"}
LONGEST = 40


class Operand(NamedTuple):
    """An operand in the text and the tensor that it was."""

    node: ast.expr
    tensor: Tensor


def operands(out: Explanation, error: BaseException) -> None:
    """What the operands of the failing operation were."""
    message = str(error)
    if not isinstance(error, (RuntimeError, ValueError, IndexError, TypeError)):
        return
    special = next((tell for start, tell in _SPECIAL.items() if message.startswith(start)), None)
    if special is not None:
        out.words = message
        special(out)
        return
    about_types = _ABOUT_TYPES.search(message) and "shape" not in message
    if not about_types and not _ABOUT_SHAPES.search(message):
        return
    called_layers = layers(error.__traceback__)
    if called_layers:
        refused(out, called_layers)
    called = out.places.called(out.place)
    if called is not None and called[0] in ("backward", "grad"):
        _seed(out, message, called[1])
        return
    found = _operands(out, error)
    shown = [operand for operand in found if out.places.span(operand.node) is not None]
    for node, tensor in shown:
        kind = tensor.dtype.name if about_types else f"shape {list(tensor.shape)}"
        out.put(node, kind)
    if about_types:
        _types(out, shown)
    elif message.startswith(_CONDITION):
        code = out.places.text(out.place)
        if code is not None:
            code = f"({code})" if isinstance(out.place, ENCLOSED) else code
            if not _where(out, "element") and not _is_made(out.place):
                out.advise(f"{code}.any() or {code}.all()")
    elif isinstance(out.place, ast.Subscript):
        _index(out, out.place.slice)
    elif len(shown) == 2:
        if message.startswith(_BROADCAST):
            _broadcast(out, shown[0], shown[1])
        elif message.startswith(_TARGET):
            _fitting(out, shown[0], shown[1], lambda x, y: x == y)
        elif _is_product(out, called):
            _product(out, shown[0], shown[1])


def _operands(out: Explanation, error: BaseException) -> list[Operand]:
    """The tensors among the operands, where text and call surely belong together."""
    places, place = out.places, out.place
    values, is_object = arguments(error.__traceback__)
    nodes = places.operands(place)
    if is_object and isinstance(place, ast.Call):
        nodes = list(place.args)
    if str(error).startswith(_CONDITION) and isinstance(place, ast.expr):
        nodes = [place]
    pairs = [
        pair
        for node, value in zip(nodes, values, strict=False)
        for pair in (
            zip(node.elts, value, strict=False)
            if isinstance(node, (ast.List, ast.Tuple)) and isinstance(value, (list, tuple))
            else [(node, value)]
        )
    ]
    told = [shape for cause in getattr(error, "causes", ()) for shape in cause.detail["shapes"]]
    if isinstance(place, ast.Call) and told:  # an inner layer failed: its input says nothing
        if not any(isinstance(v, Tensor) and tuple(v.shape) in told for _, v in pairs):
            return []
    for operand, value in pairs:  # a call that was made in another way than the text says
        known = out.places.value_of(operand)
        if isinstance(value, Tensor) and isinstance(operand, ast.Constant):
            return []
        if known is not None and known is not value:
            return []
    return [Operand(node, value) for node, value in pairs if isinstance(value, Tensor)]


def _types(out: Explanation, shown: Sequence[Operand]) -> None:
    """A cast of one operand may be all that is missing."""
    if isinstance(out.place, (ast.BinOp, ast.AugAssign)) and isinstance(out.place.op, ast.BitXor):
        out.advise("** in the place of ^, if a power was meant")
        return
    for node, tensor in reversed(shown):
        for word in _CASTS:
            if tensor.dtype.name != _CASTS[word]:
                code = out.places.text(node)
                edits = suffixed(out.places, node, word)
                if code is not None and edits:
                    shape = f"({code})" if isinstance(node, ENCLOSED) else code
                    out.or_else(f"{shape}{word} on line {out.places.line(node)}", edits)


def _is_made(place: ast.AST) -> bool:
    """Whether an object of a class is made there."""
    word = getattr(getattr(place, "func", None), "attr", "")
    return str(word)[:1].isupper()


def _index(out: Explanation, index: ast.expr) -> None:
    """What a name that stands as an index held."""
    value = out.places.value_of(index)
    if isinstance(value, int) and isinstance(index, ast.Name):
        out.put(index, str(value))


def arguments(trace: TracebackType | None) -> tuple[list[Any], bool]:
    """What the innermost operation of the program was called with, from the engine's own frame.

    And whether that was a call of an object, whose name is no operand.
    """
    inner: TracebackType | None = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith(ROOM):
            inner = trace.tb_next
        trace = trace.tb_next
    if inner is None:
        return [], False
    frame = inner.tb_frame
    code = frame.f_code
    found = [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount]]
    if code.co_flags & 0x04:  # *arguments
        rest = frame.f_locals.get(code.co_varnames[code.co_argcount + code.co_kwonlyargcount])
        found.extend(rest if isinstance(rest, tuple) else ())
    return (found[1:] if code.co_name == "__call__" else found), code is CALL


def _seed(out: Explanation, message: str, nodes: Sequence[ast.expr]) -> None:
    """The gradient that a backward call starts from has another shape than the root."""
    told = re.findall(r"torch\.Size\((\[[0-9, ]*\])\)", message)
    if message.startswith("Mismatch in shape: grad_output") and len(told) == 2 and nodes:
        out.put(nodes[0], f"shape {told[1]}")
        if len(nodes) == 2 and out.places.called(out.place)[0] == "backward":  # type: ignore[index]
            out.put(nodes[1], f"shape {told[0]}")
            out.advise(f"a gradient of the shape {told[1]}, such as torch.ones({told[1]})",
                       replaced(out.places, nodes[1], f"torch.ones({told[1]})"))  # fmt: skip


# ---------------------------------------------------------------- tables of shapes


def _words(out: Explanation, first: Operand, second: Operand) -> tuple[str, str]:
    one, two = (out.places.text(operand.node, 24) for operand in (first, second))
    if one is None or two is None or one == two:
        return "left", "right"
    return one, two


def table(
    rows: Sequence[tuple[str, Sequence[int]]], marked: Sequence[int], head: int = 0
) -> list[str]:
    """Shapes one under the other, aligned at the right, and marks under the columns in question;
    the names before them take `head` columns or more."""
    width = max(len(sizes) for _, sizes in rows)
    cells = [[""] * (width - len(sizes)) + [str(size) for size in sizes] for _, sizes in rows]
    wide = [max(len(row[i]) for row in cells) for i in range(width)]
    head = max(head, *(width_of(name) for name, _ in rows))
    lines = [
        pad(name, head + 3) + "  ".join(f"{c:>{w}}" for c, w in zip(row, wide, strict=True))
        for (name, _), row in zip(rows, cells, strict=True)
    ]
    marks = ["^" if i in marked else " " for i in range(width)]
    under = "  ".join(f"{mark:>{w}}" for mark, w in zip(marks, wide, strict=True))
    return [line.rstrip() for line in [*lines, f"{'':<{head}}   {under}"]]


def _broadcast(out: Explanation, first: Operand, second: Operand) -> None:
    left, right = tuple(first.tensor.shape), tuple(second.tensor.shape)
    width = max(len(left), len(right))
    one = (1,) * (width - len(left)) + left
    two = (1,) * (width - len(right)) + right
    bad = [i for i in range(width) if one[i] != two[i] and 1 not in (one[i], two[i])]
    if not bad:
        return
    words = _words(out, first, second)
    *lines, marks = table([(words[0], left), (words[1], right)], bad)
    a, b = one[bad[-1]], two[bad[-1]]
    lines.append(f"{marks} {a} and {b}: neither equal nor 1")
    out.note("\n      ".join(["shapes are compared from the right", *lines]))
    _fitting(out, first, second, lambda x, y: _meet(x, y) in (left, right))


def _meet(left: Sequence[int], right: Sequence[int]) -> tuple[int, ...] | None:
    """The shape in which two shapes meet; None where they do not fit."""
    width = max(len(left), len(right))
    one = (1,) * (width - len(left)) + tuple(left)
    two = (1,) * (width - len(right)) + tuple(right)
    if any(a != b and 1 not in (a, b) for a, b in zip(one, two, strict=True)):
        return None
    return tuple(b if a == 1 else a for a, b in zip(one, two, strict=True))


def _changes(shape: tuple[int, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """What a tensor can become without losing its numbers: the words, and the shape."""
    if len(shape) == 2 and shape[0] != shape[1]:
        yield ".T", shape[::-1]
    elif len(shape) > 2 and shape[-1] != shape[-2]:
        yield ".mT", (*shape[:-2], shape[-1], shape[-2])
    for place in range(1, len(shape) + 1):
        yield f".unsqueeze({place})", (*shape[:place], 1, *shape[place:])


def _fitting(out: Explanation, first: Operand, second: Operand, fits: Any) -> None:
    """What would make the shapes fit, where there is one way to do it."""
    one, two = tuple(first.tensor.shape), tuple(second.tensor.shape)
    ways = [(second, word, shape) for word, shape in _changes(two) if fits(one, shape)]
    ways = ways or [(first, word, shape) for word, shape in _changes(one) if fits(shape, two)]
    if len(ways) != 1:
        return
    operand, word, shape = ways[0]
    code = out.places.text(operand.node)
    edits = suffixed(out.places, operand.node, word)
    if code is not None and edits:
        enclosed = f"({code})" if isinstance(operand.node, ENCLOSED) else code
        line = out.places.line(operand.node)
        out.advise(f"{enclosed}{word} on line {line} fits, with the shape {list(shape)}", edits)


def _is_product(out: Explanation, called: tuple[str, list[ast.expr]] | None) -> bool:
    place = out.place
    if isinstance(place, (ast.BinOp, ast.AugAssign)):
        return isinstance(place.op, ast.MatMult)
    return called is not None and called[0] in _PRODUCTS


def _product(out: Explanation, first: Operand, second: Operand) -> None:
    """Matrices: the inner sizes have to be equal."""
    left, right = tuple(first.tensor.shape), tuple(second.tensor.shape)
    if not left or not right:
        return
    inner = len(right) - 2 if len(right) > 1 else 0
    a, b = left[-1], right[inner]
    if a == b:
        return
    one, two = _words(out, first, second)
    head = max(width_of(one), width_of(two))
    lines = [*table([(one, left)], [len(left) - 1], head), *table([(two, right)], [inner], head)]
    lines[-1] += f" {a} and {b} have to be equal"
    out.note("\n      ".join(["a product of matrices adds up over the inner sizes", *lines]))
    if len(left) == len(right) > 1:
        rank = len(left)
        _fitting(
            out, first, second,
            lambda x, y: len(x) == len(y) == rank and x[-1] == y[-2] and x[:-2] == y[:-2],
        )  # fmt: skip


# ---------------------------------------------------------------- errors of one message


def _needs_floats(out: Explanation) -> None:
    """requires_grad=True for whole numbers."""
    place = out.place
    if isinstance(place, ast.Call) and any(word.arg == "requires_grad" for word in place.keywords):
        edits = with_argument(out.places, place, "dtype=torch.float32")
        line = out.places.line(place)
        out.advise(f"dtype=torch.float32 in the call on line {line}, or numbers with a dot", edits)


def _numpy(out: Explanation) -> None:
    """x.numpy() of what requires grad, and np.mean(losses)."""
    function = out.place.func if isinstance(out.place, ast.Call) else None
    owner = out.places.value_of(function.value) if isinstance(function, ast.Attribute) else None
    if isinstance(function, ast.Attribute) and isinstance(owner, Namespace):
        _of_tensors(out, function.attr)
        return
    if isinstance(out.place, ast.Call) and out.place.args and owner is not None:
        if not isinstance(owner, Tensor):
            _drawn(out, out.place)
            return
    called = out.places.called(out.place)
    if called is not None and called[1]:
        line = out.places.line(out.place)
        edits = suffixed(out.places, called[1][0], ".detach()")
        out.advise(f".detach().numpy() on line {line}", edits)


def _of_tensors(out: Explanation, word: str) -> None:
    """PyTorch's function of the name of numpy's; a list of tensors is stacked first."""
    place = out.place
    if not isinstance(place, ast.Call) or len(place.args) != 1 or place.keywords:
        return
    value, text = out.places.value_of(place.args[0]), out.places.text(place.args[0])
    if isinstance(value, (list, tuple)) and text is not None and word not in catalogue.functions:
        _appended(out, text, value)
    if text is None or word not in catalogue.functions:
        return
    given = f"torch.stack({text})" if isinstance(value, (list, tuple)) else text
    whole = f"torch.{word}({given})"
    out.advise(f"{whole}, which keeps the graph", replaced(out.places, place, whole))


def _drawn(out: Explanation, call: ast.Call) -> None:
    """plt.plot(x, y) of what requires grad."""
    given = [node for node in call.args if any(
        isinstance(value := out.places.value_of(part), Tensor) and value.requires_grad
        for part in ast.walk(node))]  # fmt: skip
    edits = [edit for node in given for edit in suffixed(out.places, node, ".detach()") or ()]
    texts = [f"({ast.unparse(node)})" if isinstance(node, ENCLOSED) else ast.unparse(node)
             for node in given]  # fmt: skip
    if given:
        said = " and ".join(f"{text}.detach()" for text in texts)
        out.advise(f"{said} on line {out.places.line(call)}", edits)


def _appended(out: Explanation, text: str, values: Sequence[Any]) -> None:
    """np.array(losses) of what the program put into the list with its graph."""
    single = all(isinstance(one, Tensor) and one.numel() == 1 for one in values)
    word = ".item()" if single else ".detach()"
    for node in {id(part): part for part in out.places.parents.values()}.values():
        called = out.places.called(node)
        if called is not None and called[0] == "append" and len(called[1]) == 2:
            if ast.unparse(called[1][0]) == text:
                out.put(node, f"{text} gets it with its graph")
                code, edits = ast.unparse(called[1][1]), suffixed(out.places, called[1][1], word)
                out.advise(f"{code}{word} on line {out.places.line(node)}", edits)


def _float_index(out: Explanation) -> None:
    """x[i] with floats in i."""
    index = out.place.slice if isinstance(out.place, ast.Subscript) else None
    tensor = None if index is None else out.places.value_of(index)
    if index is not None and isinstance(tensor, Tensor):
        out.put(index, tensor.dtype.name)
        line, code = out.places.line(index), out.places.text(index)
        out.advise(f"{code}.long() on line {line}", suffixed(out.places, index, ".long()"))


def _flag(out: Explanation) -> None:
    """requires_grad of a result."""
    node: ast.AST | None = None
    if isinstance(out.place, ast.Attribute):
        node = out.place.value
    elif (called := out.places.called(out.place)) is not None and called[1]:
        node = called[1][0]
    tensor = None if node is None else out.places.value_of(node)
    if isinstance(tensor, Tensor) and tensor.grad_fn is not None:
        out.primary = f"{node_words(out.places, tensor.grad_fn)} computed it: it is not a leaf"
        statement, text = out.places.statement(out.place), out.places.text(node)
        if isinstance(node, ast.Name) and isinstance(statement, (ast.Assign, ast.Expr)):
            whole = f"{text} = {text}.detach()"
            out.advise(f"{whole}, which is out of the graph",
                       replaced(out.places, statement, whole))  # fmt: skip


def _probabilities(out: Explanation) -> None:
    """A binary cross entropy of numbers that are no probabilities."""
    given = out.place.args if isinstance(out.place, ast.Call) else []
    code = out.places.text(given[0]) if given else None
    value = out.places.value_of(given[0]) if given else None
    if isinstance(value, Tensor) and value.numel():
        numbers = value._need_array()
        out.put(given[0], f"{numbers.min():.4g} to {numbers.max():.4g}: no probabilities")
    if code is not None:
        line = out.places.line(out.place)
        edits = replaced(out.places, given[0], f"torch.sigmoid({code})")
        out.advise(f"torch.sigmoid({code}) on line {line}, or BCEWithLogitsLoss without it", edits)


def _chosen(out: Explanation) -> None:
    """`if x.sum() > 0` in a function of vmap: a tensor holds the answers of all samples."""
    out.primary = "differs from sample to sample, and an if goes one way"
    if not _where(out, "sample"):
        out.advise("torch.where, which chooses for each sample")


def _where(out: Explanation, of_each: str) -> bool:
    """torch.where for an if whose branches return, or give one name a value."""
    places, condition = out.places, out.places.text(out.place)
    branch = places.parents.get(id(out.place))
    if not isinstance(branch, ast.If) or condition is None:
        return False
    body = list(getattr(places.parents.get(id(branch)), "body", places.program.body))
    later: list[ast.stmt] = body[body.index(branch) + 1 :] if branch in body else []
    one, other = branch.body, branch.orelse
    if isinstance(one[0], ast.Return):
        other, start = other or later[:1], "return"
    else:
        targets = {ast.unparse(part.targets[0]) if isinstance(part, ast.Assign) else ""
                   for part in (*one, *other)}  # fmt: skip
        start = f"{targets.pop()} =" if len(targets) == 1 else "="
    if len(one) != 1 or len(other) != 1 or start == "=" or type(one[0]) is not type(other[0]):
        return False
    values = [places.text(getattr(part[0], "value", None), 80) for part in (one, other)]
    if None in values:
        return False
    whole = f"{start} torch.where({condition}, {values[0]}, {values[1]})"
    out.advise(f"{whole}, which chooses for each {of_each}", replaced(places, branch, whole))
    return True


def _gradient(out: Explanation) -> None:
    """w.grad = g of another shape, or of another type."""
    statement = out.places.statement(out.place)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Attribute) or not isinstance(statement, ast.Assign):
        return
    owner, value = out.places.text(target.value), statement.value
    text, held = out.places.text(value, 80), out.places.value_of(value)
    if owner is not None and text is not None:
        if isinstance(held, Tensor):
            out.put(value, f"shape {list(held.shape)}, {held.dtype.name}")
        word = f".to({owner}.dtype)" if "dtype" in out.words else f".view_as({owner})"
        edits = suffixed(out.places, value, word)
        shown = f"({text})" if isinstance(value, ENCLOSED) else text
        out.advise(f"{shown}{word} on line {out.places.line(value)}", edits)


def _several(out: Explanation) -> None:
    """torch.func.grad of a function with several results: its Jacobian."""
    made = out.place.func if isinstance(out.place, ast.Call) else None
    if isinstance(made, ast.Call) and made.args and (text := out.places.text(made.args[0])):
        edits = replaced(out.places, made.func, "torch.func.jacrev")
        out.advise(f"torch.func.jacrev({text}), or a sum in {text}", edits)


def _whole_numbers(out: Explanation) -> None:
    """torch.func.grad at whole numbers."""
    given = out.place.args if isinstance(out.place, ast.Call) else []
    function, statement = getattr(out.place, "func", None), out.places.statement(out.place)
    if not given and isinstance(function, ast.Attribute) and isinstance(statement, ast.Expr):
        if isinstance(function.value, ast.Name) and function.attr == "requires_grad_":
            whole = f"{function.value.id} = {function.value.id}.float().requires_grad_()"
            out.advise(whole, replaced(out.places, statement, whole))
    if len(given) == 1 and (text := out.places.text(given[0])):
        out.advise(f"{text}.float() on line {out.places.line(given[0])}",
                   suffixed(out.places, given[0], ".float()"))  # fmt: skip


_SPECIAL: dict[str, Callable[[Explanation], None]] = {
    "all elements of input should be between 0 and 1": _probabilities,
    "Only Tensors of floating point and complex dtype can require gradients": _needs_floats,
    "Can't call numpy() on Tensor that requires grad": _numpy,
    "tensors used as indices must be": _float_index,
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent": _chosen,
    "attempting to assign a gradient ": _gradient,
    "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor": _several,
    "only Tensors of floating point dtype can require gradients": _whole_numbers,
    "you can only change requires_grad flags of leaf variables": _flag,
}
