"""Engine: PyTorch's overloads where declarations here have others: its errors speak of these.

A row may take a number where PyTorch has one more overload for it, and what is hidden or deprecated
there is no row at all. How many overloads there are, and how long they are, decides PyTorch's words
when a call fits none. Names without an entry have the overloads that their rows have; a method has
those of its function without the first argument. Read when such an error is made.
"""

from __future__ import annotations

import functools

HIDDEN = "hidden"  # one more that is never shown: a deprecated order of arguments
_SHORT = {
    "OPTIONS": "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=False, bool? requires_grad=False",
    "OUT": "Tensor out=None",
}


@functools.cache
def overloads() -> dict[str, tuple[str, ...]]:
    """Name -> the arguments of each overload."""
    found: dict[str, tuple[str, ...]] = {}
    names: list[str] = []
    named = False
    for line in _TABLE.replace("\n        ", " ").splitlines():
        if not line.startswith(" "):
            names = [*(names if named else ()), *line.split()]
            named = True
            continue
        named = False
        for short, text in _SHORT.items():
            line = line.replace(short, text)
        for name in names:
            found[name] = (*found.get(name, ()), line.strip())
    return found


_TABLE = """\
rrelu nn.functional.rrelu_
    Tensor input, Scalar lower=0.125, Scalar upper=0.333333, bool training=False, Generator?
        generator=None
Tensor.view
    ScalarType dtype
    int[] size
arange
    Scalar end, *, OUT, OPTIONS
    Scalar start, Scalar end, *, OPTIONS
    Scalar start, Scalar end, Scalar step=1, *, OUT, OPTIONS
eye
    int n, *, OUT, OPTIONS
    int n, int m, *, OUT, OPTIONS
all any
    Tensor input, *, OUT
    Tensor input, int[]? dim=None, bool keepdim=False, *, OUT
    Tensor input, int dim, bool keepdim=False, *, OUT
clamp_max
    Tensor input, Tensor max, *, OUT
    Tensor input, Scalar max, *, OUT
clamp_min
    Tensor input, Tensor min, *, OUT
    Tensor input, Scalar min, *, OUT
masked_fill
    Tensor input, Tensor mask, Tensor value
    Tensor input, Tensor mask, Scalar value
index_fill
    Tensor input, int dim, Tensor index, Tensor value
    Tensor input, int dim, Tensor index, Scalar value
scatter
    Tensor input, int dim, Tensor index, Tensor src, *, OUT
    Tensor input, int dim, Tensor index, Tensor src, *, str reduce, OUT
    Tensor input, int dim, Tensor index, Scalar value, *, OUT
    Tensor input, int dim, Tensor index, Scalar value, *, str reduce, OUT
quantile nanquantile
    Tensor input, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear", OUT
    Tensor input, float q, int? dim=None, bool keepdim=False, *, str interpolation="linear", OUT
repeat_interleave
    Tensor input, Tensor repeats, int? dim=None, *, int? output_size=None
    Tensor repeats, *, int? output_size=None
    Tensor input, int repeats, int? dim=None, *, int? output_size=None
Tensor.copy_
    Tensor other, bool non_blocking=False
    hidden
gru rnn_tanh rnn_relu
    Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers,
        float dropout, bool train, bool bidirectional
    Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout,
        bool train, bool bidirectional, bool batch_first
lstm
    Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers,
        float dropout, bool train, bool bidirectional
    Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout,
        bool train, bool bidirectional, bool batch_first
normal
    Tensor mean, Tensor std, *, Generator? generator=None, OUT
    Tensor mean, float std=1, *, Generator? generator=None, OUT
    float mean, Tensor std, *, Generator? generator=None, OUT
    float mean, float std, int[] size, *, Generator? generator=None, OUT, OPTIONS
special.softmax
    Tensor input, int dim, ScalarType? dtype=None
special.log_softmax
    Tensor input, int dim, *, ScalarType? dtype=None
zero_
    Tensor input
nn.functional.elu_
    Tensor input, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1
Tensor.normal_
    float mean=0, float std=1, *, Generator? generator=None
median nanmedian
    Tensor input
    Tensor input, int dim, bool keepdim=False, *, Tensor[] out=None
argsort
    Tensor input, *, bool stable, int dim=-1, bool descending=False, OUT
    Tensor input, int dim=-1, bool descending=False
swapaxes
    Tensor input, int axis0, int axis1
mm bmm
    Tensor input, Tensor mat2, *, OUT
    Tensor input, Tensor mat2, ScalarType out_dtype, *, OUT
addmm
    Tensor input, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, OUT
    Tensor input, Tensor mat1, Tensor mat2, ScalarType out_dtype, *, Scalar beta=1, Scalar alpha=1,
        OUT
    hidden
addmv
    Tensor input, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1, OUT
    hidden
addbmm
    Tensor input, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1, OUT
    hidden
baddbmm
    Tensor input, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1, OUT
    Tensor input, Tensor batch1, Tensor batch2, ScalarType out_dtype, *, Scalar beta=1, Scalar
        alpha=1, OUT
    hidden
addr
    Tensor input, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1, OUT
    hidden
add sub
    Tensor input, Tensor other, *, Scalar alpha=1, OUT
    hidden
subtract
    Tensor input, Tensor other, *, Scalar alpha=1, OUT
    Tensor input, Scalar other, Scalar alpha=1
multiply true_divide floor_divide
    Tensor input, Tensor other, *, OUT
    Tensor input, Scalar other
addcmul addcdiv
    Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1, OUT
    hidden
special.scaled_modified_bessel_k0 special.scaled_modified_bessel_k1 special.spherical_bessel_j0
special.airy_ai
    Tensor x, *, OUT
narrow
    Tensor input, int dim, Tensor start, int length
    Tensor input, int dim, int start, int length
div
    Tensor input, Tensor other, *, OUT
    Tensor input, Tensor other, *, str? rounding_mode, OUT
    Tensor input, Scalar other, *, str? rounding_mode
divide
    Tensor input, Tensor other, *, OUT
    Tensor input, Tensor other, *, str? rounding_mode, OUT
    Tensor input, Scalar other
    Tensor input, Scalar other, *, str? rounding_mode
remainder bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift
    Tensor input, Tensor other, *, OUT
    Scalar self, Tensor other
    Tensor input, Scalar other, *, OUT
pow float_power
    Tensor input, Tensor exponent, *, OUT
    Scalar self, Tensor exponent, *, OUT
    Tensor input, Scalar exponent, *, OUT
eq ne not_equal lt less le less_equal gt greater ge greater_equal
    Tensor input, Tensor other, *, OUT
    Tensor input, Scalar other, *, OUT
linspace
    Tensor start, Tensor end, int steps, *, OUT, OPTIONS
    Scalar start, Tensor end, int steps, *, OUT, OPTIONS
    Tensor start, Scalar end, int steps, *, OUT, OPTIONS
    Scalar start, Scalar end, int steps, *, OUT, OPTIONS
logspace
    Tensor start, Tensor end, int steps, float base=10.0, *, OUT, OPTIONS
    Scalar start, Tensor end, int steps, float base=10.0, *, OUT, OPTIONS
    Tensor start, Scalar end, int steps, float base=10.0, *, OUT, OPTIONS
    Scalar start, Scalar end, int steps, float base=10.0, *, OUT, OPTIONS
where
    Tensor condition
    Tensor condition, Tensor input, Tensor other, *, OUT
    Tensor condition, Scalar self, Tensor other
    Tensor condition, Tensor input, Scalar other
    Tensor condition, Scalar self, Scalar other
conv1d nn.functional.conv1d
    Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, int[1]
        dilation=1, int groups=1
    Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, str padding='valid', int[1]
        dilation=1, int groups=1
conv2d nn.functional.conv2d
    Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2]
        dilation=1, int groups=1
    Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, str padding='valid', int[2]
        dilation=1, int groups=1
conv3d nn.functional.conv3d
    Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, int[3]
        dilation=1, int groups=1
    Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, str padding='valid', int[3]
        dilation=1, int groups=1
ctc_loss
    Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, int
        reduction=1, bool zero_infinity=False
    Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, int
        reduction=1, bool zero_infinity=False
det logdet
    Tensor input
slogdet linalg.eig
    Tensor input, *, Tensor[] out=None
rot90
    Tensor input, int k=1, int[] dims=[0, 1]
linalg.eigh
    Tensor input, str UPLO='L', *, Tensor[] out=None
linalg.eigvalsh
    Tensor input, str UPLO='L', *, OUT
trapz
    Tensor y, *, float dx=1, int dim=-1
    Tensor y, Tensor x, *, int dim=-1
gradient
    Tensor input, *, int[] dim, int edge_order=1
    Tensor input, *, Scalar spacing, int[] dim, int edge_order=1
    Tensor input, *, Scalar? spacing=None, int? dim=None, int edge_order=1
    Tensor input, *, any spacing, int? dim=None, int edge_order=1
    Tensor input, *, any spacing, int[] dim, int edge_order=1
    Tensor input, *, Tensor[] spacing, int? dim=None, int edge_order=1
    Tensor input, *, Tensor[] spacing, int[] dim, int edge_order=1
searchsorted
    Tensor sorted_sequence, Tensor input, *, bool out_int32=False, bool right=False, str? side=None,
        Tensor? sorter=None, OUT
    Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str? side=None,
        Tensor? sorter=None, OUT
bucketize
    Tensor input, Tensor boundaries, *, bool out_int32=False, bool right=False, OUT
    Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False
linalg.eigvals
    Tensor input, *, OUT
fft.fft2 fft.ifft2 fft.rfft2 fft.irfft2 fft.hfft2 fft.ihfft2
    Tensor input, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None, *, OUT
xlogy special.xlogy special.xlog1py special.zeta
    Tensor input, Tensor other, *, OUT
    Scalar self, Tensor other, *, OUT
    Tensor input, Scalar other, *, OUT
polygamma special.polygamma
    int n, Tensor input, *, OUT
histogramdd
    Tensor input, int bins, float[]? range=None, Tensor? weight=None, bool density=False
    Tensor input, int[] bins, float[]? range=None, Tensor? weight=None, bool density=False
    Tensor input, Tensor[] bins, float[]? range=None, Tensor? weight=None, bool density=False
special.chebyshev_polynomial_t special.shifted_chebyshev_polynomial_t special.chebyshev_polynomial_u
special.shifted_chebyshev_polynomial_u special.chebyshev_polynomial_v
special.shifted_chebyshev_polynomial_v special.chebyshev_polynomial_w
special.shifted_chebyshev_polynomial_w special.hermite_polynomial_h special.hermite_polynomial_he
special.laguerre_polynomial_l special.legendre_polynomial_p
    Tensor x, Tensor n, *, OUT
    Scalar x, Tensor n, *, OUT
    Tensor x, Scalar n, *, OUT
adaptive_avg_pool1d nn.functional.adaptive_avg_pool1d
    Tensor input, int[1] output_size
linalg.pinv
    Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False, OUT
    Tensor input, *, float? atol=None, float? rtol=None, bool hermitian=False, OUT
    Tensor input, Tensor rcond, bool hermitian=False, *, OUT
    Tensor input, float rcond, bool hermitian=False, *, OUT
linalg.matrix_rank
    Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False, OUT
    Tensor input, *, float? atol=None, float? rtol=None, bool hermitian=False, OUT
    Tensor input, Tensor tol, bool hermitian=False, *, OUT
    Tensor input, float tol, bool hermitian=False, *, OUT
linalg.cond
    Tensor input, Scalar? p=None, *, OUT
    Tensor input, str p, *, OUT
linalg.tensorinv
    Tensor input, int ind=2, *, OUT
linalg.tensorsolve
    Tensor input, Tensor other, int[]? dims=None, *, OUT
rand randn
    int[] size, *, Generator? generator, OUT, OPTIONS
    int[] size, *, OUT, OPTIONS
randint
    int high, int[] size, *, Generator? generator, OUT, OPTIONS
    int high, int[] size, *, OUT, OPTIONS
    int low, int high, int[] size, *, Generator? generator, OUT, OPTIONS
    int low, int high, int[] size, *, OUT, OPTIONS
randperm
    int n, *, Generator? generator, OUT, OPTIONS
    int n, *, OUT, OPTIONS
rand_like randn_like
    Tensor input, *, Generator? generator, MemoryFormat? memory_format=None, OPTIONS
    Tensor input, *, MemoryFormat? memory_format=None, OPTIONS
randint_like
    Tensor input, int low, int high, *, Generator? generator, MemoryFormat? memory_format=None,
        OPTIONS
    Tensor input, int low, int high, *, MemoryFormat? memory_format=None, OPTIONS
    Tensor input, Tensor high, *, Generator? generator, MemoryFormat? memory_format=None, OPTIONS
    Tensor input, Tensor high, *, MemoryFormat? memory_format=None, OPTIONS
    Tensor input, int high, *, Generator? generator, MemoryFormat? memory_format=None, OPTIONS
    Tensor input, int high, *, MemoryFormat? memory_format=None, OPTIONS
hann_window blackman_window bartlett_window
    int window_length, *, OPTIONS
    int window_length, bool periodic, *, OPTIONS
hamming_window
    int window_length, *, OPTIONS
    int window_length, bool periodic, *, OPTIONS
    int window_length, bool periodic, float alpha, *, OPTIONS
    int window_length, bool periodic, float alpha, float beta, *, OPTIONS
kaiser_window
    int window_length, *, OPTIONS
    int window_length, bool periodic, *, OPTIONS
    int window_length, bool periodic, float beta, *, OPTIONS
linalg.matrix_norm
    Tensor input, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None, OUT
    Tensor input, str ord='fro', int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None,
        OUT
Tensor.addmm Tensor.addmm_
    Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1
    hidden
Tensor.baddbmm Tensor.baddbmm_
    Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1
    hidden
Tensor.rot90
    int k=1, int[] dims=[0, 1]
Tensor.uniform_
    float from=0, float to=1, *, Generator? generator=None
Tensor.random_
    *, Generator? generator=None
    int from, int? to, *, Generator? generator=None
    int to, *, Generator? generator=None
Tensor.mm Tensor.bmm
    Tensor mat2
xlogy_
    Tensor input, Tensor other
    Tensor input, Scalar other
"""

# Functions of torch, torch.linalg and torch.fft that take no out=...; in-place ones take none
# either, nor do methods.
WITHOUT_OUT = frozenset(
    """
    relu celu selu prelu rrelu clone reshape flatten ravel unflatten squeeze unsqueeze
    broadcast_to view_as_real view_as_complex real imag conj resolve_conj resolve_neg permute
    transpose swapaxes swapdims t adjoint movedim moveaxis rsub positive dropout feature_dropout
    alpha_dropout feature_alpha_dropout index_put select narrow diagonal linalg.diagonal
    diag_embed select_scatter diagonal_scatter fill detach isnan isinf isfinite isreal isclose
    allclose equal argwhere masked_fill masked_scatter index_fill trace conv1d conv_transpose1d
    conv2d conv_transpose2d conv3d conv_transpose3d cov corrcoef linalg.vander ctc_loss
    count_nonzero vander det logdet tile repeat_interleave flip fliplr flipud roll rot90
    diagflat trapezoid trapz cumulative_trapezoid gradient pairwise_distance cosine_similarity
    constant_pad_nd fft.fftshift fft.ifftshift combinations grid_sampler_2d grid_sampler_3d
    grid_sampler affine_grid_generator bincount histogramdd bilinear embedding native_layer_norm
    layer_norm group_norm rms_norm pixel_shuffle pixel_unshuffle channel_shuffle max_pool1d
    max_pool2d max_pool3d avg_pool1d adaptive_avg_pool1d pinverse matrix_exp linalg.matrix_exp
    pdist split_with_sizes chunk unsafe_split unsafe_split_with_sizes unsafe_chunk unbind
    tensor_split hsplit vsplit dsplit std_mean var_mean as_strided as_strided_scatter put dist
    argwhere batch_norm binary_cross_entropy_with_logits cosine_embedding_loss empty_like
    empty_strided full_like gru_cell hinge_embedding_loss instance_norm istft kl_div lstm_cell
    margin_ranking_loss one_hot scaled_dot_product_attention norm_except_dim ones_like
    poisson_nll_loss rnn_relu_cell rnn_tanh_cell scalar_tensor special.log_softmax special.softmax
    tril_indices triplet_margin_loss triu_indices zeros_like rand_like randn_like randint_like
    bartlett_window blackman_window hamming_window hann_window kaiser_window gru lstm rnn_relu
    rnn_tanh _dirichlet_grad _pack_padded_sequence _pad_packed_sequence _sample_dirichlet
    _standard_gamma _standard_gamma_grad _weight_norm _weight_norm_interface
    """.split()
)
# Overloads of others that take one: those of all elements.
ROWS_WITHOUT_OUT = frozenset({"prod.", "sum."})  # overloads of others: those of all elements

# What PyTorch did not write in Python: of torch.nn.functional these,
COMPILED = frozenset(
    """
    adaptive_avg_pool1d avg_pool1d avg_pool2d avg_pool3d bilinear celu_ channel_shuffle conv1d
    conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity elu_ gelu
    hardshrink hardtanh_ leaky_relu_ linear logsigmoid one_hot pairwise_distance pdist
    pixel_shuffle pixel_unshuffle prelu relu_ rrelu_ scaled_dot_product_attention selu_ softplus
    softshrink threshold_
    """.split()
)

# of torch and its tensors all but these.
WRITTEN_IN_PYTHON = frozenset(
    """
    atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod cdist
    chain_matmul einsum lu meshgrid norm split stft tensordot unique unique_consecutive
    unravel_index Tensor.lu Tensor.norm Tensor.split Tensor.stft Tensor.unflatten Tensor.unique
    Tensor.unique_consecutive Tensor.istft Tensor.resize Tensor.resize_as pca_lowrank svd_lowrank
    """.split()
)

# A Python number may stand for any tensor here.
NUMBERS = frozenset("add div divide floor_divide mul multiply sub subtract true_divide".split())

# What functions written in Python ask an argument for first: all that is no tensor fails there.
FIRST_ASKED = {
    name: attribute
    for attribute, names in {
        "size": "adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d "
        "batch_norm binary_cross_entropy binary_cross_entropy_with_logits gaussian_nll_loss "
        "huber_loss l1_loss mse_loss smooth_l1_loss instance_norm",
        "dim": "dropout1d dropout2d dropout3d fractional_max_pool2d fractional_max_pool3d "
        "fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices glu group_norm "
        "interpolate local_response_norm margin_ranking_loss upsample upsample_bilinear "
        "upsample_nearest multi_head_attention_forward "
        "embedding_bag stft tensordot",
        "softmax": "softmax softmin", "log_softmax": "log_softmax", "sigmoid": "sigmoid",
        "tanh": "tanh tanhshrink", "abs": "softsign", "ndim": "triplet_margin_with_distance_loss",
        "norm": "normalize", "is_floating_point": "affine_grid", "layout": "norm",
        "shape": "pca_lowrank svd_lowrank",
        "split": "split", "is_complex": "unravel_index",
    }.items()
    for name in names.split()
}  # fmt: skip

# Those that choose between two functions, with and without indices; errors name the one chosen.
CHOOSING = frozenset(
    "max_pool1d max_pool2d max_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d "
    "fractional_max_pool2d fractional_max_pool3d".split()
)

# Other words of functions written in Python: their own name, the names of their arguments.
OWN_NAMES = {"threshold": "_threshold"}
OWN_ARGUMENTS = {"split": ("tensor", "split_size_or_sections")}

# Arguments that they compare first: by which sign, with a number of which kind. A window's length
# is M, and what is dropped in training is p.
COMPARED = {"M": "< int", "p training": "< float", "padding_idx": "> int"}

# Which compiled function one written in Python hands its arguments to, and in which order, where
# these are not its own; behind the star by name.
HANDED_TO = {
    "batch_norm": (
        "batch_norm", "input weight bias running_mean running_var training momentum eps",
    ),
    "binary_cross_entropy": ("binary_cross_entropy", "input target weight"),
    "binary_cross_entropy_with_logits": (
        "binary_cross_entropy_with_logits", "input target weight pos_weight",
    ),
    "cross_entropy": (
        "cross_entropy_loss", "input target weight reduction ignore_index label_smoothing",
    ),
    **{f"dropout{n}d": ("feature_dropout", "input p training") for n in (1, 2, 3)},
    "embedding": ("embedding", "weight indices padding_idx scale_grad_by_freq sparse"),
    "fold": ("col2im", "input output_size kernel_size dilation padding stride"),
    **{
        f"fractional_max_pool{n}d_with_indices": (
            f"fractional_max_pool{n}d", "input kernel_size output_size _random_samples",
        )
        for n in (2, 3)
    },
    "grid_sample": ("grid_sampler", "input grid interpolation padding align_corners"),
    "gumbel_softmax": ("empty_like", "input"),
    "instance_norm": (
        "instance_norm", "input weight bias running_mean running_var use_input_stats momentum eps",
    ),
    "kl_div": ("kl_div", "input target * log_target"),
    "layer_norm": ("layer_norm", "input normalized_shape weight bias eps"),
    "log_softmax": ("log_softmax", "dim * dtype"),
    "lu": ("_lu_with_info", "input * pivot"),
    "multilabel_soft_margin_loss": ("log_sigmoid", "input"),
    "nll_loss": ("nll_loss_nd", "input target weight reduction ignore_index"),
    "softmax": ("softmax", "dim * dtype"),
    "unflatten": ("unflatten", "dim sizes"),
    "unfold": ("im2col", "input kernel_size dilation padding stride"),
    "unique": ("_unique2", "input * sorted return_inverse return_counts"),
}  # fmt: skip
# Their arguments that have another name there.
OWN_WORDS = {("embedding", "indices"): "input", ("gumbel_softmax", "input"): "logits"}
