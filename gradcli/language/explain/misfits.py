"""language: inputs that do not fit a layer or a loss, recognised by the error message."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

from ...engine.tensors.tensor import Tensor
from ..explanation import Explanation, replaced, suffixed
from .layers import constructor_call, layers, module_name

_BEYOND = re.compile(r"^Target (-?\d{1,20}) is out of bounds")
_HIDDEN = re.compile(r"^Expected hidden(?:\[\d\])? size \((\d+(?:, \d+)*)\), got")


def misfits(out: Explanation, error: BaseException) -> None:
    """A target of classes in a column, an index beyond the rows, a state of another batch."""
    message = error.args[0] if error.args and isinstance(error.args[0], str) else ""
    hidden = _HIDDEN.match(message)
    if hidden is not None:
        batch = "drop_last=True of a DataLoader leaves a smaller last batch out"
        out.advise(f"a state of the shape [{hidden[1]}], by the size of this batch; {batch}")
        return
    for start, tell in _TOLD.items():
        if message.startswith(start):
            tell(out, error)


def _classes(out: Explanation, error: BaseException) -> None:
    """cross_entropy of a target of the shape [N, 1]."""
    given = _arguments(out)
    target = given[1] if len(given) > 1 else None
    value = None if target is None else out.places.value_of(target)
    if target is None or not isinstance(value, Tensor) or value.dim() != 2 or value.shape[1] != 1:
        return
    code = out.places.text(target)
    out.put(target, f"shape {list(value.shape)}")
    out.advise(f"{code}.squeeze(1) on line {out.places.line(target)}: one class for each row",
               suffixed(out.places, target, ".squeeze(1)"))  # fmt: skip


def _arguments(out: Explanation) -> list[ast.expr]:
    call = out.place
    return [*call.args, *(k.value for k in call.keywords)] if isinstance(call, ast.Call) else []


def _chosen(out: Explanation, error: BaseException) -> None:
    """cross_entropy of the classes that argmax chose, and not of the scores."""
    given = _arguments(out)
    value = out.places.value_of(given[0]) if given else None
    if not isinstance(value, Tensor) or value.is_floating_point():
        return
    node = given[0]
    out.put(node, "the class of each row, and no scores")
    made = out.places.bound_value(node.id) if isinstance(node, ast.Name) else node
    called = None if made is None else out.places.called(made)
    if called is not None and called[0] == "argmax" and called[1]:
        scores = out.places.text(called[1][0])
        if scores is not None:
            edits = replaced(out.places, node, scores)
            out.advise(
                f"{scores} on line {out.places.line(node)}: the scores of all classes", edits
            )


def _rows(out: Explanation, error: BaseException) -> None:
    """Which index an Embedding does not have."""
    called = layers(error.__traceback__)
    layer, given = called[-1] if called else (None, ())
    rows = getattr(layer, "num_embeddings", None)
    if layer is None or type(rows) is not int or not given or not isinstance(given[0], Tensor):
        return
    indices: Any = given[0]
    least, most = int(indices.min().item()), int(indices.max().item())
    out.primary = f"the indices go from {least} to {most}, and there are {rows} rows"
    if least < 0:
        return
    made = constructor_call(out, module_name(out, layer) or "", layer)
    if made is None and isinstance(out.place, ast.Call) and isinstance(out.place.func, ast.Call):
        made = out.place.func
    first = made.args[0] if isinstance(made, ast.Call) and made.args else None
    where = "" if first is None else f" on line {out.places.line(first)}"
    edits = None if first is None else replaced(out.places, first, str(most + 1))
    out.advise(f"num_embeddings={most + 1}{where}, one row for each index from 0", edits)


def _inferred(out: Explanation, error: BaseException) -> None:
    """A tensor of inference_mode that a graph would have to save."""
    for node in out.places.operands(out.place):
        value = out.places.value_of(node)
        if isinstance(node, ast.Name) and isinstance(value, Tensor) and value.is_inference():
            out.put(node, f"{node.id} was made in inference mode")
            out.advise(f"{node.id}.clone() on line {out.places.line(node)}",
                       suffixed(out.places, node, ".clone()"))  # fmt: skip


def _beyond(out: Explanation, error: BaseException) -> None:
    """A class that no score stands for."""
    found = _BEYOND.match(str(error.args[0]))
    if found is None:
        return
    number = int(found[1])
    if number >= 0:
        out.advise(f"class {number} needs at least {number + 1} scores: classes begin at 0")
    else:
        out.advise("classes begin at 0; ignore_index names one that counts for nothing")


def _single(out: Explanation, error: BaseException) -> None:
    """Batch statistics of one sample."""
    out.advise("a larger batch, or eval() of the network: one value has no variance")


def _singular(out: Explanation, error: BaseException) -> None:
    """A little more on the diagonal moves a matrix away from what has no inverse and no root."""
    called = out.places.called(out.place)
    matrix = called[1][0] if called is not None and called[1] else None
    text = None if matrix is None else out.places.text(matrix)
    value = None if matrix is None else out.places.value_of(matrix)
    if matrix is None or text is None or not isinstance(value, Tensor) or value.dim() < 2:
        return
    whole = f"{text} + 1e-4 * torch.eye({value.shape[-1]})"
    out.advise(f"{whole}, if it is singular by rounding only", replaced(out.places, matrix, whole))


def _complex_root(out: Explanation, error: BaseException) -> None:
    """A gradient goes back from real numbers."""
    call = out.place
    root = (
        call.func.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        else None
    )
    text = None if root is None else out.places.text(root)
    if root is not None and text is not None:
        edits = suffixed(out.places, root, ".abs()")
        out.advise(f"{text}.abs(), .real or another real number of it before backward()", edits)


_TOLD: dict[str, Callable[[Explanation, BaseException], None]] = {
    "0D or 1D target tensor expected, multi-target not supported": _classes,
    "Expected floating point type for target with class probabilities": _chosen,
    "index out of range in self": _rows,
    "Inference tensors cannot be saved for backward": _inferred,
    "Expected more than 1 value per channel when training": _single,
    "grad can be implicitly created only for real scalar outputs": _complex_root,
    "linalg.inv: ": _singular,
    "linalg.cholesky: ": _singular,
    "Target ": _beyond,  # 3 is out of bounds.
}
