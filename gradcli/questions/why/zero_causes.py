"""Questions: what a node did that made zeros of a gradient: its declaration, and what it saved."""

from __future__ import annotations

import ast
from typing import Any

from ...recording.sides import array_of, edges_of, is_end, origin_of, row_of
from ..declared import acts_of, zero_of
from ..provenance.values import name_of
from .case import Case
from .gradients import Share, is_zero, node_name, saved_value
from .size import underflows, vanishes

# The verdicts on what declarations say of a gradient that ends.
VERDICTS = {
    "flat": "flat", "saturates": "flat", "clamps": "flat", "rectifies": "dead-relu",
    "leaks": "dead-relu", "mask": "masked",
}  # fmt: skip


def verdict_at(case: Case, share: Share, element: Any) -> str:
    """By what the declaration says of the node at which something came in and zeros went out."""
    node = share.applied.node
    zero, acts = zero_of(node), acts_of(node)
    if node_name(node) == "BackwardHookFunctionBackward":  # its origin is unknown
        return "hook"
    if "dropout" in name_of(origin_of(node)):
        return "masked"
    if zero in VERDICTS:
        if acts == "along" and _even(share) and not _hard(share):  # softmax
            return "cancelled"
        if zero == "saturates" and vanishes(share):
            return "tiny"
        if zero == "clamps":
            return "dead-relu" if _is_relu(share) else VERDICTS[zero]
        return "flat" if _has_other_bound(share) else VERDICTS[zero]
    factor = factor_of(share)
    if (factor is None or not _is_zero_factor(factor, element)) and underflows(share, factor):
        return "tiny"
    if factor is not None and (
        _is_zero_factor(factor, element) or (acts == "pointwise" and _product_dies(share, factor))
    ):
        return "masked" if _is_mask(case, share) else "zero-factor"
    weight = saved_value(share.applied, "weight")  # of a normalisation
    if zero == "cancels" and hasattr(weight, "shape") and weight.size and not weight.any():
        return "zero-factor"
    came = [array_of(g) for g in share.applied.grads if g is not None]
    smaller = any(g.size > share.value.size for g in came)
    return "cancelled" if zero == "cancels" or (acts == "pointwise" and smaller) else "zero-factor"


def overwriting(case: Case, share: Share, words: str) -> ast.AST | None:
    """The statement or call that writes other numbers in place of those that a gradient goes to."""
    node = share.applied.node
    origin = origin_of(node)
    if words != "masked" and not (words == "zero-factor" and acts_of(node) == "random"):
        return None
    if not case.is_here(origin):
        return None
    if isinstance(origin, ast.Call):
        return origin if name_of(origin).endswith("_") else None
    is_written = isinstance(getattr(origin, "ctx", None), ast.Store)
    return case.statement(origin) if is_written else None


def factor_of(share: Share) -> Any:
    """What a product multiplies the gradient of one operand by: the other operand."""
    name = _other(share)
    return saved_value(share.applied, name) if name else None


def _other(share: Share) -> str:
    """Its name."""
    row = row_of(share.applied.node)
    if row is None or not (row.acts == "product" or row.symbol == "*"):
        return ""
    names = [parameter.name for parameter in row.tensors]
    own = names[share.place] if share.place < len(names) else ""
    needs = next((formula.needs for formula in row.formulas if own in formula.inputs), ())
    others = [name for name in needs if name in names and name != own]
    return others[0] if len(others) == 1 else ""


def always_zero(share: Share) -> str:
    """Why a slope is 0 whatever the numbers are; "" where they decide."""
    row = row_of(share.applied.node)
    if row is None or zero_of(share.applied.node) not in VERDICTS:
        return ""
    if share.place > 0 and is_slope(share.applied.node):
        return "constant"  # the gradient of a gradient, with respect to what the slope belongs to
    dim, result = saved_value(share.applied, "dim"), saved_value(share.applied, "result")
    if row.acts == "along" and isinstance(dim, int) and hasattr(result, "shape"):
        return "alone" if result.ndim == 0 or result.shape[dim] == 1 else ""
    return ""


def looked_up(share: Share, element: Any) -> str:
    """Why a table that is read by whole numbers got nothing: the row that stands for nothing, or
    rows that were not read; "" for anything else."""
    padding, rows = saved_value(share.applied, "padding_idx"), saved_value(share.applied, "indices")
    if not isinstance(padding, int) or not hasattr(rows, "shape"):
        return ""
    if padding >= 0 and (element[0] == padding if element else bool((rows == padding).all())):
        return "padding"
    return "rows" if element and not bool((rows == element[0]).any()) else ""


def is_at_bound(case: Case, share: Share) -> bool:
    """Whether all that came to a relu is 0, where PyTorch's slope is 0 too."""
    origin = origin_of(share.applied.node)
    step = next((one for one in reversed(case.steps) if one.node is origin), None)
    tensor = None if step is None or len(step.live) != 1 else case.flow.alive(step.live[0])
    if tensor is None or case.passes.leaf_values.is_updated(tensor):
        return False
    return not (tensor._version and tensor.grad_fn) and not array_of(tensor).any()


def rests_at_zero(share: Share) -> bool:
    """Whether a function of all elements, such as a norm, was given zeros only."""
    row, given = row_of(share.applied.node), saved_value(share.applied, "self")
    if row is None or row.acts != "along" or not hasattr(given, "shape"):
        return False
    return bool(given.size) and not given.any()


def is_given_zeros(share: Share) -> bool:
    """Whether a function of each element, such as a square, was given zeros only."""
    node, given = share.applied.node, saved_value(share.applied, "self")
    if acts_of(node) != "pointwise" or factor_of(share) is not None:
        return False
    return hasattr(given, "shape") and bool(given.size) and not given.any()


def compares_equals(share: Share) -> bool:
    """Whether a loss was given a prediction that is its target."""
    row = row_of(share.applied.node)
    one, other = saved_value(share.applied, "self"), saved_value(share.applied, "target")
    if row is None or row.role != "compares" or not hasattr(one, "shape"):
        return False
    return hasattr(other, "shape") and one.size > 0 and bool((one == other).all())


def is_slope(node: Any) -> bool:
    """Whether it goes back through what a pass that made a graph computed: a slope times what came
    to it."""
    row = row_of(node)
    names = [] if row is None else [parameter.name for parameter in row.tensors]
    return row is not None and row.where == "hidden" and names[:1] == ["grad_output"]


def zero_leaf(case: Case, share: Share) -> Any:
    """The leaf with a name that a product multiplies by, as it is or turned around, if it was 0."""
    factor, edges = factor_of(share), edges_of(share.applied.node)
    if factor is None or not _is_zero_factor(factor, None):
        return None
    other = _other(share)
    for parameter, edge in zip(row_of(share.applied.node).tensors, edges, strict=False):
        if edge is None or parameter.name != other:
            continue
        while not is_end(edge) and acts_of(edge) == "moves" and len(edges_of(edge)) == 1:
            edge = edges_of(edge)[0]
        leaf = getattr(edge, "variable", None)
        return leaf if id(leaf) in case.names else None
    return None


def zeros_made(case: Case, share: Share) -> Any:
    """The expression that first made zeros of what a product multiplies by; None where it isn't
    known, or is the product itself."""
    factor, origin = factor_of(share), origin_of(share.applied.node)
    if factor is None and acts_of(share.applied.node) == "pointwise":
        factor = saved_value(share.applied, "self")  # x of x**2
    found = None
    if hasattr(factor, "shape") and _is_zero_factor(factor, None):
        step = next((one for one in reversed(case.steps) if one.node is origin), None)
        while step is not None:
            zeros = [value for value in (*step.live, *step.dead) if _is_all_zero(case, value)]
            step = case.step_of(zeros[0]) if len(zeros) == 1 else None
            found = found if step is None else step.node
    return found


def _is_all_zero(case: Case, value: int) -> bool:
    """Whether a value that is still there, and was never changed, has no other number."""
    tensor = case.flow.alive(value)
    try:
        array = None if tensor is None or tensor._version else array_of(tensor)
    except RuntimeError:  # made in inference mode: changes are not counted
        return False
    return array is not None and array.size > 0 and not array.any()


def _even(share: Share) -> bool:
    """Whether softmax was given the same gradient everywhere: its outputs add up to 1."""
    grad = array_of(share.applied.grads[0])
    return grad is not None and grad.size > 0 and bool((grad == grad.reshape(-1)[0]).all())


def _hard(share: Share) -> bool:
    """Whether softmax gave nothing but 0 and 1: of one element, or far out."""
    result = saved_value(share.applied, "result")
    return hasattr(result, "shape") and bool(((result == 0) | (result == 1)).all())


def _is_relu(share: Share) -> bool:
    """clamp(min=0)"""
    least, most = saved_value(share.applied, "min"), saved_value(share.applied, "max")
    return not hasattr(least, "shape") and least == 0 and most is None


def _has_other_bound(share: Share) -> bool:
    """hardtanh, whose lower bound is not 0 as that of relu6 is, and threshold(x, 3, 0); or what
    came to relu6 is beyond the upper one"""
    bounds = (saved_value(share.applied, name) for name in ("min_val", "threshold"))
    if any(bound is not None and not hasattr(bound, "shape") and bound != 0 for bound in bounds):
        return True
    given = saved_value(share.applied, "self")
    return saved_value(share.applied, "max_val") is not None and bool((given > 0).any())


def _is_zero_factor(factor: Any, element: Any) -> bool:
    if not hasattr(factor, "shape"):
        return bool(factor == 0)
    return is_zero(factor, element)


def _product_dies(share: Share, factor: Any) -> bool:
    """Whether 0 meets every part of the gradient, element by element."""
    grad = array_of(share.applied.grads[0])
    try:
        return not bool((grad * factor != 0).any())
    except (ValueError, TypeError):
        return False


def _is_mask(case: Case, share: Share) -> bool:
    """Whether a factor was made by a comparison: a mask."""
    return any(made.kind == "bool" for made in case.outside(origin_of(share.applied.node)))
