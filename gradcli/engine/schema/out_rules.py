"""Engine: PyTorch's rules for the tensors that a caller passes as out=..., by function.

Its kernels differ in when they look at the memory of `out`, in what of it may be shared with an
operand, and in what they say of an element type that they did not expect. What is not listed here
works element by element: see `Memory.ITERATED`, and `CAST` for types.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import cache

from . import dtypes
from .dtypes import DType


class Memory(Enum):
    """What is asked of the memory of `out`, and when."""

    ITERATED = "before all else: no element twice, and an operand all of it or nothing"
    APART = "before all else: no element twice, and nothing of an operand"
    SIZED_APART = "when it has its shape: no element twice, and nothing of an operand"
    SIZED_REST = "when it has its shape: no element twice, and of the first operand only anything"
    JOINED = "when it has its shape: no element twice, and nothing of an operand before or then"
    SIZED_FIRST = "when it has its shape: no element twice, the first operand wholly or not"
    COPIED = "when it has its shape: no element twice"
    UNCHECKED = "nothing"


_MEMORY = {
    Memory.APART: "index_select masked_select take",
    Memory.SIZED_APART: """
        aminmax cross gather kthvalue linalg.cross mode take_along_dim
    """,
    Memory.SIZED_REST: "index_add index_copy index_reduce",
    Memory.JOINED: "cat column_stack concat dstack hstack stack vstack",
    Memory.SIZED_FIRST: """
        addbmm addmm addmv baddbmm cumprod cumsum logcumsumexp msort normal renorm sort
    """,
    Memory.COPIED: """
        arange argsort bernoulli bucketize chain_matmul cholesky cholesky_inverse cholesky_solve
        diag diagonal_copy expand_copy fft.fft fft.fft2 fft.fftn fft.hfft fft.hfft2 fft.hfftn
        fft.ifft2 fft.ifftn fft.ihfft2 fft.ihfftn fft.irfft fft.irfft2 fft.irfftn fft.rfft
        fft.rfft2 fft.rfftfreq fft.rfftn geqrf inner inverse isin kron linalg.cholesky
        linalg.cholesky_ex linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh
        linalg.householder_product linalg.inv linalg.inv_ex linalg.lstsq linalg.lu
        linalg.lu_factor linalg.lu_factor_ex linalg.lu_solve linalg.matmul linalg.matrix_norm
        linalg.matrix_power linalg.multi_dot linalg.pinv linalg.qr linalg.solve linalg.solve_ex
        linalg.solve_triangular linalg.svd linalg.svdvals linalg.tensorinv linalg.tensorsolve
        log_softmax logsumexp lu lu_solve lu_unpack matmul matrix_power mm multinomial mvlgamma
        nanmean nanquantile nn.functional.avg_pool2d nn.functional.linear
        nn.functional.logsigmoid nonzero_static permute_copy qr quantile searchsorted
        slice_scatter softmax special.logsumexp special.multigammaln special.ndtr squeeze_copy
        svd t_copy tensordot topk transpose_copy triangular_solve unsqueeze_copy view_copy
    """,
    Memory.UNCHECKED: """
        all amax amin any argmax argmin bmm cummax cummin dot empty eye full histc
        linalg.cond linalg.det linalg.matrix_rank linalg.norm linalg.slogdet linalg.vecdot
        linalg.vector_norm linspace max mean min mv nansum narrow_copy nn.functional.avg_pool3d
        norm ones prod randn randperm slogdet std sum tril triu var vdot zeros
    """,
}


class Words:
    """When an element type is refused, and PyTorch's words for it."""

    def __init__(
        self,
        fits: Callable[[DType, DType], bool],
        text: str,
        names: str = "",
        error: type[Exception] = RuntimeError,
    ) -> None:
        self.fits, self.text, self.names, self.error = fits, text, names.split(), error

    def refusal(self, name: str, result: DType, given: DType, place: int) -> Exception | None:
        """The error where `given` is not what a result of the type `result` may be written into."""
        if self.fits(result, given):
            return None
        words = {"result": result.word, "given": given.word, "name": name.rpartition(".")[2]}
        words["output"] = "indices" if place else "values"
        words["narrow"] = str(result is dtypes.int32)
        return self.error(self.text.format(c_result=result.c_word, c_given=given.c_word, **words))


def _same(result: DType, given: DType) -> bool:
    return given is result


def _is_complex(result: DType, given: DType) -> bool:
    return given.is_complex


def _is_floating(result: DType, given: DType) -> bool:
    return given.is_floating_point


CAST = Words(
    dtypes.can_cast, "result type {result} can't be cast to the desired output type {given}"
)
_SAFELY = (
    "Expected result to be safely castable from {result} dtype, but got result with dtype {given}"
)
_CASTABLE = (
    "Expected {} to be safely castable from {{result}} dtype, but got {} with dtype {{given}}"
)
_WORDS = (
    Words(
        _same,
        "Expected out tensor to have dtype {c_result}, but got {c_given} instead",
        """
        addmm addmv aminmax argmax argmin argsort baddbmm bmm cross diag diagonal_copy
        expand_copy gather max.dim min.dim index_add index_copy index_reduce inverse isin
        linalg.cholesky linalg.cholesky_ex linalg.cross linalg.det linalg.eigh linalg.eigvalsh
        linalg.inv linalg.inv_ex linalg.lu linalg.lu_factor linalg.lu_factor_ex linalg.lu_solve
        linalg.matmul linalg.qr linalg.slogdet linalg.solve linalg.solve_ex linalg.svd
        linalg.svdvals linalg.vector_norm log_softmax lu_solve lu_unpack matmul mm msort
        nn.functional.avg_pool2d nn.functional.avg_pool3d nn.functional.linear norm permute_copy
        qr renorm scatter scatter_add scatter_reduce slice_scatter slogdet softmax sort
        squeeze_copy svd t_copy take_along_dim topk transpose_copy triangular_solve tril triu
        unsqueeze_copy view_copy
    """,
    ),
    Words(
        _same,
        "Found dtype {given} but expected {result}",
        """
        abs absolute bitwise_not ceil clamp. clamp_max. clamp_min. clip. conj_physical
        fft.ihfftn fix floor frac hardshrink lerp.Tensor neg negative nn.functional.gelu
        nn.functional.hardshrink nn.functional.softplus nn.functional.softshrink round sgn sign
        special.round trunc
    """,
    ),
    Words(
        _same,
        "dtype {result} does not match dtype of out parameter ({given})",
        """
        arange empty eye full linspace logspace ones rand randint randn randperm range zeros
    """,
    ),
    Words(
        _same,
        "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or "
        "Long(int64) depending on whether out_int32 flag is True, but we got output tensor's dtype "
        "{given} and out_int32 flag is {narrow}",
        "bucketize searchsorted",
    ),
    Words(
        dtypes.can_cast,
        "torch.cat(): input types can't be cast to the desired output type {given}",
        "cat column_stack concat dstack hstack stack vstack",
        TypeError,
    ),
    Words(
        _is_complex,
        "{name} expects a complex output tensor, but got {given}",
        "fft.fft fft.ifft fft.rfft fft.ihfft fft.fftn fft.rfftn",
    ),
    Words(
        _is_complex,
        "fftn expects a complex output tensor, but got {given}",
        "fft.fft2 fft.ifft2 fft.ifftn",
    ),
    Words(_is_complex, "rfftn expects a complex output tensor, but got {given}", "fft.rfft2"),
    Words(_is_complex, "ihfftn expects a complex output tensor, but got {given}", "fft.ihfft2"),
    Words(
        _is_floating,
        "{name} expects a floating point output tensor, but got {given}",
        "fft.hfft fft.irfft fft.hfftn fft.irfftn",
    ),
    Words(
        _is_floating, "hfftn expects a floating point output tensor, but got {given}", "fft.hfft2"
    ),
    Words(
        _is_floating, "irfftn expects a floating point output tensor, but got {given}", "fft.irfft2"
    ),
    Words(lambda _, given: True, "", "nansum prod sum"),
    Words(
        lambda _, given: given in (dtypes.bool_, dtypes.uint8),
        "{name} only supports bool tensor for result, got: {given}",
        "all any",
    ),
    Words(_same, "expected scalar type '{result}' but got '{given}' for {output} output", "mode"),
    Words(_same, "output {output} must be of same type as input", "kthvalue"),
    Words(
        lambda _, given: given is not dtypes.bool_,
        "\"{name}_out_cpu\" not implemented for '{given}'",
        "cumprod cumsum",
        NotImplementedError,
    ),
    Words(_same, "expected scalar_type {result} but found {given}", "cummax cummin logcumsumexp"),
    Words(_same, "result dtype {given} does not match input dtype {result}", "dot vdot"),
    Words(
        _same,
        "Expected the dtype for input and out to match, but got {result} for input's dtype "
        "and {given} for out's dtype.",
        "amax amin",
    ),
    Words(
        _same,
        "multi_dot(): expected out tensor to have dtype {c_result} but got {c_given}",
        "chain_matmul linalg.multi_dot",
    ),
    Words(
        _same,
        "Expected object of scalar type {result} but got scalar type {given} for argument 'out'",
        "complex polar",
    ),
    Words(
        _same,
        "torch.histogram: input tensor and hist tensor should have the same dtype, but got "
        "input {c_result} and hist {c_given}",
        "histc histogram",
    ),
    Words(
        _same,
        "tensordot: Expected the output tensor to have dtype {result}, but got an output "
        "tensor with dtype {given}",
        "inner tensordot",
    ),
    Words(
        _same,
        "expected scalar type {result} but found {given}",
        "linalg.solve_triangular nn.functional.logsigmoid",
    ),
    Words(
        lambda _, given: given.category >= dtypes.FLOATING,
        "{name}(): Expected floating point type for result tensor, but got: {given}",
        "logsumexp special.logsumexp",
    ),
    Words(
        _same,
        "quantile() out tensor must be same dtype as the input tensor",
        "nanquantile quantile",
    ),
    Words(_same, "self and mat2 must have the same dtype, but got {result} and {given}", "addbmm"),
    Words(
        dtypes.can_cast,
        f"{{name}}: {_SAFELY}",
        """
        cholesky cholesky_inverse cholesky_solve matrix_power linalg.matrix_power
        linalg.tensorinv linalg.tensorsolve
    """,
    ),
    Words(dtypes.can_cast, f"linalg.{{name}}: {_SAFELY}", "linalg.cond linalg.pinv"),
    Words(
        dtypes.can_cast,
        f"torch.linalg.{{name}}: {_SAFELY}",
        "linalg.householder_product linalg.matrix_rank",
    ),
    Words(
        dtypes.can_cast,
        f"torch.linalg.{{name}}: {_CASTABLE.format(*['eigenvalues'] * 2)}",
        "linalg.eig linalg.eigvals",
    ),
    Words(
        dtypes.can_cast,
        f"torch.linalg.lstsq: {_CASTABLE.format(*['solution'] * 2)}",
        "linalg.lstsq",
    ),
    Words(dtypes.can_cast, f"torch.geqrf: {_CASTABLE.format('a', 'a')}", "geqrf"),
    Words(
        dtypes.can_cast,
        "mvlgamma: result type {result} can't be cast to the desired output type {given}",
        "mvlgamma special.multigammaln",
    ),
    Words(
        dtypes.can_cast,
        "mean.dtype_out(): input types can't be cast to the desired output type {given}",
        "mean.",
    ),
    Words(dtypes.can_cast, "ldexp can't be cast to the desired output type {given}", "ldexp"),
    Words(
        dtypes.can_cast,
        "Expected canCast( typeMetaToScalarType(self.dtype()), typeMetaToScalarType("
        "out.dtype())) to be true, but got false.  (Could this error message be improved?  If so, "
        "please report an enhancement request to PyTorch.)",
        "max. min.",
    ),
    Words(
        _same,
        "the output given to float_power has dtype {given} but the operation's result "
        "requires dtype {result}",
        "float_power",
    ),
    Words(
        _same,
        "{name}(): self and result must have the same scalar type",
        "index_select masked_select",
    ),
    Words(_same, "{name} does not support non-boolean outputs.", "isneginf isposinf signbit"),
    Words(
        _same, "heaviside is not yet implemented for tensors with different dtypes.", "heaviside"
    ),
    Words(
        _same,
        "linalg.{name} expected out tensor dtype {result} but got: {given}",
        "linalg.matrix_norm linalg.norm",
    ),
    Words(_same, "linalg.vecdot: Expected out of dtype{result} but found {given}", "linalg.vecdot"),
    Words(_same, "multinomial expects {result} tensor out, got: {given}", "multinomial"),
    Words(
        _same, "nan_to_num: dtype of out: {given} should be same as input: {result}", "nan_to_num"
    ),
    Words(
        _same,
        "{name}: Expected out tensor to have scalar type {result} but got scalar type{given}",
        "nonzero nonzero_static",
    ),
    Words(
        _same,
        "take(): self and out expected to have the same dtype, but got self.dtype = {result} "
        "and out.dtype = {given}",
        "take",
    ),
    Words(_same, "Expected out type to be {result} but got {given}", "where"),
    Words(
        _same,
        "addmv input tensors must have the same dtype, but got {given}, {result}, and {result}",
        "mv",
    ),
)

# Functions whose results PyTorch writes by operations that it records.
COMPOSED = frozenset(
    """
        inner linalg.cond linalg.matrix_norm linalg.norm linalg.pinv linalg.tensorinv
        linalg.tensorsolve matrix_power nanquantile quantile special.ndtr svd tensordot
    """.split()
)
# Functions with a derivative that PyTorch does not ask for when they write into `out`.
UNRECORDED = frozenset(
    """
        conj_physical diag diagonal_copy expand_copy floor_divide heaviside log_softmax lu
        permute_copy slice_scatter softmax squeeze_copy t_copy transpose_copy unsqueeze_copy
        view_copy geqrf
    """.split()
)

# Functions that compute in the type of `out` where the call names none.
COMPUTED_IN = frozenset("cumprod cumsum nansum prod sum".split())
# Functions that say nothing when they give an `out` with elements another shape.
SILENT = frozenset(
    """
        addbmm bernoulli empty eye full linspace logspace multinomial narrow_copy
        nn.functional.logsigmoid ones rand randint randn randperm range zeros
    """.split()
)
# The kernel that refuses a tensor which requires grad, where it has another name.
_KERNELS = """
    _fft_c2c: fft_fft2 fft_fftn fft_ifft fft_ifft2 fft_ifftn fft_ihfft2 fft_ihfftn
    _fft_c2r: fft_hfft fft_hfft2 fft_hfftn fft_irfft fft_irfft2 fft_irfftn
    _fft_r2c: fft_fft fft_rfft fft_rfft2 fft_rfftn
    _linalg_det: linalg_det
    _linalg_eigh: linalg_eigh linalg_eigvalsh
    _linalg_slogdet: linalg_slogdet slogdet
    _linalg_solve_ex: linalg_solve linalg_solve_ex
    _linalg_svd: linalg_svd linalg_svdvals svd
    abs: absolute
    cat: column_stack concat dstack hstack vstack
    clamp: clip
    digamma: special_digamma special_psi
    div: divide true_divide
    gather: take_along_dim
    i0: special_i0
    igamma: special_gammainc
    igammac: special_gammaincc
    lgamma: special_gammaln
    linalg_cholesky_ex: linalg_cholesky
    linalg_cross: cross
    linalg_inv_ex: inverse linalg_inv
    linalg_lu_factor_ex: linalg_lu_factor
    linalg_lu_solve: lu_solve
    linalg_qr: qr
    linalg_vector_norm: norm
    log_sigmoid_forward: logsigmoid
    logsumexp: special_logsumexp
    matmul: linalg_matmul linalg_matrix_power matrix_power
    mm: linalg_multi_dot
    mul: ger inner kron multiply outer
    mvlgamma: special_multigammaln
    nansum: nanmean
    neg: negative
    polygamma: special_polygamma
    pow: float_power square
    round: special_round
    sigmoid: special_expit
    sort: msort
    sub: diff subtract
    sum: linalg_vecdot
    trunc: fix
    xlogy: special_xlogy
"""


@cache
def kernel_of(name: str) -> str:
    """What PyTorch calls the kernel that a function runs."""
    lines = (line.split() for line in _KERNELS.strip().splitlines())
    return next((kernel[:-1] for kernel, *names in lines if name in names), name)


@cache
def memory_of(name: str) -> Memory:
    """What a function asks of the memory of `out`."""
    return next((m for m, names in _MEMORY.items() if name in names.split()), Memory.ITERATED)


@cache
def words_of(name: str, overload: str) -> Words:
    """When and how an overload refuses the element type of `out`."""
    keys = (f"{name}.{overload}", name)
    return next((words for key in keys for words in _WORDS if key in words.names), CAST)
