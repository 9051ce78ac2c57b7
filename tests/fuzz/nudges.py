"""The fuzzer's nudges: a program under PyTorch with other last bits of numbers and roundings."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

DRAWN = ("tensor", "randn", "rand", "normal")
# Operators whose last bits are nobody's promise: sums in some order, and functions of libraries.
# What is exact, or rounded once by IEEE 754, is the same everywhere and is left alone.
ROUNDED = frozenset(
    """
    tanh exp expm1 exp2 log log1p log2 log10 sin cos tan sinh cosh asin acos atan erf sigmoid
    silu mish gelu elu softplus log_sigmoid_forward pow rsqrt _softmax _log_softmax logsumexp mm
    addmm bmm baddbmm mv addmv dot sum mean var std var_mean prod cumsum cumprod norm
    linalg_vector_norm native_group_norm native_layer_norm native_batch_norm
    _native_batch_norm_legit _fused_rms_norm _cdist_forward lerp addcmul addcdiv
    """.split()
)


class _Nudge(ast.NodeTransformer):
    """Moves the numbers that a program starts from by about their last bit."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            if node.func.value.id == "torch" and node.func.attr in DRAWN:
                node.func = ast.Name("nudged_" + node.func.attr, ast.Load())
        return node


def nudged(torch: Any, text: str, seed: int) -> tuple[str, dict[str, Callable[..., Any]]]:
    """The program with other names for what makes its numbers, and what these names stand for."""
    move = _mover(torch, seed)

    def moved(make: Callable[..., Any]) -> Callable[..., Any]:
        def made(*arguments: Any, **named: Any) -> Any:
            found = make(*arguments, **named)
            if found.is_floating_point() and not found.grad_fn:
                found.data = move(found.data)
            return found

        return made

    tree = ast.fix_missing_locations(_Nudge().visit(ast.parse(text)))
    return ast.unparse(tree), {f"nudged_{word}": moved(getattr(torch, word)) for word in DRAWN}


def roundings(torch: Any, seed: int) -> Any:
    """A context in which the operators of ROUNDED, and their derivatives, round otherwise."""
    from torch.utils._python_dispatch import TorchDispatchMode

    move = _mover(torch, seed)

    def other(found: Any) -> Any:
        if isinstance(found, torch.Tensor) and found.is_floating_point():
            return found.copy_(move(found))
        return found

    class Roundings(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(
            self, operator: Any, types: Any, arguments: Any = (), named: Any = None
        ) -> Any:
            found = operator(*arguments, **(named or {}))
            name = operator._schema.name.removeprefix("aten::")
            if name.partition("_backward")[0] in ROUNDED:
                for each in found if isinstance(found, tuple) else (found,):
                    other(each)
            return found

    return Roundings()


def _mover(torch: Any, seed: int) -> Callable[[Any], Any]:
    draw = torch.Generator().manual_seed(seed)

    def move(found: Any) -> Any:
        """Each number moved by up to about two of its last bits."""
        noise = torch.rand(found.shape, generator=draw, dtype=torch.float64) * 2 - 1
        return (found * (1 + 2 * torch.finfo(found.dtype).eps * noise)).to(found.dtype)

    return move
