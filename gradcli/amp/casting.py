"""Amp: in which types operations run under autocast on the CPU, and the casts in front of them.

The lists are PyTorch's (aten/src/ATen/autocast_mode.h). What is in none of them runs in the types
of its operands.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..engine.compile.call import specialise
from ..engine.schema.dtypes import FLOATING, DType, float32, float64
from ..engine.schema.row import Composite
from ..engine.schema.run_state import run_state
from ..engine.tensors.tensor import Tensor
from ..operators import catalogue

IN_FAST = (
    "addbmm addmm baddbmm bmm linalg.vecdot matmul linalg.matmul mm nn.functional.linear "
    "nn.functional.scaled_dot_product_attention"
)
IN_SINGLE = (
    "cdist cholesky cholesky_inverse cholesky_solve geqrf grid_sampler inverse lu_solve "
    "nanquantile pinverse polar prod qr quantile stft svd trace triangular_solve view_as_complex "
    "linalg.cholesky linalg.cholesky_ex linalg.cond linalg.eig linalg.eigh linalg.eigvals "
    "linalg.eigvalsh linalg.householder_product linalg.inv linalg.inv_ex linalg.lstsq "
    "linalg.matrix_rank linalg.qr linalg.solve linalg.svd linalg.svdvals linalg.tensorinv "
    "linalg.tensorsolve fft.fft fft.fft2 fft.fftn fft.hfft fft.ifft fft.ifft2 fft.ifftn fft.ihfft "
    "fft.irfft fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftn"
)
# The same below torch.nn.functional and below torch, or one of them.
IN_FAST_OF_LAYERS = "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d prelu"
IN_SINGLE_OF_LAYERS = (
    "adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d binary_cross_entropy "
    "binary_cross_entropy_with_logits cosine_embedding_loss cross_entropy ctc_loss "
    "fractional_max_pool2d fractional_max_pool3d grid_sample hinge_embedding_loss huber_loss "
    "kl_div l1_loss margin_ranking_loss max_pool3d max_unpool2d max_unpool3d mse_loss "
    "multi_margin_loss multilabel_margin_loss nll_loss poisson_nll_loss smooth_l1_loss "
    "soft_margin_loss triplet_margin_loss"
)
PADDINGS = "reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d replication_pad3d"
WIDEST = "cat stack index_copy"


class _Casting:
    """The type that autocast chooses on the CPU, None where it is off; copies of parameters."""

    __slots__ = ("copies", "dtype", "keeps", "nesting")

    def __init__(self) -> None:
        self.dtype: DType | None = None
        self.nesting = 0  # of autocast on any device
        self.keeps = True
        self.copies: dict[int, tuple[Tensor, Tensor]] = {}


casting = run_state(_Casting())


def _fast(args: Any) -> DType | None:
    return casting.dtype


def _single(args: Any) -> DType | None:
    return float32


def _widest(args: Any) -> DType | None:
    """Single precision, where an operand has it."""
    chosen = casting.dtype
    for one in (part for arg in args for part in (arg if isinstance(arg, list | tuple) else [arg])):
        if not isinstance(one, Tensor) or one.dtype.category != FLOATING or one.dtype is float64:
            continue
        if float32 in (chosen, one.dtype):
            chosen = float32
        elif one.dtype is not chosen:
            raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
    return chosen


@functools.cache
def install() -> None:
    """Puts the casts in front of the operations: off as long as `casting` is."""
    faces = (catalogue.functions, catalogue.methods)
    for paths, layers, chosen in (
        (IN_FAST, IN_FAST_OF_LAYERS, _fast), (IN_SINGLE, IN_SINGLE_OF_LAYERS, _single),
        (WIDEST, "", _widest),
    ):  # fmt: skip
        below = [f"nn.functional.{name}" for name in layers.split()]
        every = (*paths.split(), *layers.split(), *below)
        found = [face[path] for face in faces for path in every if path in face]
        for declared in {id(o): o for function in found for o in function.overloads}.values():
            _cast_before(declared, chosen)
    for name in PADDINGS.split():
        for row in catalogue.rows.named(name):
            _cast_before(row, _single)
    _cast_before(catalogue.rows["mkldnn_rnn_layer"], _fast)
    for face in faces:
        for function in dict.values(face):
            function.settle()


class _Cast:
    """The function of a row with the casts in front of it; without `found` it is written anew."""

    __slots__ = ("declared", "chosen", "found")

    def __init__(self, declared: Any, chosen: Callable[[Any], DType | None], found: Any) -> None:
        self.declared, self.chosen, self.found = declared, chosen, found

    def __call__(self, *args: Any) -> Any:
        if self.found is None:
            self.found = specialise(self.declared)
        fast = casting.dtype
        if fast is None:
            return self.found(*args)
        chosen = self.chosen(args)
        args = tuple([cast(arg, chosen) for arg in reversed(args)])[::-1]  # the last one first
        casting.dtype = None  # what it is composed of runs in these types
        try:
            return self.found(*args)
        finally:
            casting.dtype = fast


def _cast_before(declared: Any, chosen: Callable[[Any], DType | None]) -> None:
    run = declared.run
    if isinstance(declared, Composite):
        declared.body = _Cast(declared, chosen, run)
    elif hasattr(run, "straight"):  # transformations look for their carriers before
        run.found = _Cast(declared, chosen, run.found)
    else:
        declared.run = _Cast(declared, chosen, run)


def cast(value: Any, dtype: Any) -> Any:
    """Floating tensors in containers, but for those of double precision; parameters once."""
    if type(value) in (list, tuple):
        return type(value)([cast(item, dtype) for item in value])
    if type(value) is dict:
        return {key: cast(item, dtype) for key, item in value.items()}
    if not isinstance(value, Tensor):
        return value
    own = value.dtype
    if own is dtype or own is float64 or own.category != FLOATING or not value.is_cpu:
        return value
    if (
        dtype is not casting.dtype or own is not float32 or not casting.keeps
        or not value.requires_grad or not value.is_leaf or value._is_view()
    ):  # fmt: skip
        return catalogue.methods["to"](value, dtype)
    if id(value) not in casting.copies:
        casting.copies[id(value)] = value, catalogue.methods["to"](value, dtype)
    return casting.copies[id(value)][1]
