"""namespace: the table of the names, as data, and the place of what is behind each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .deeper_paths import INNER

# Where the objects behind names are, by module; `=` stands before a name of its own there. Nothing
# is loaded until a name is used.
_HOMES: dict[str, str] = {
    "engine.tensors.tensor": "Tensor",
    "engine.schema.size": "Size",
    "engine.memory.device": (
        "device=Device cuda.is_available=cuda_available cuda.device_count=cuda_count "
        "accelerator.is_available=cuda_available accelerator.device_count=cuda_count "
        "get_default_device=default_device set_default_device"
    ),
    "engine.schema.dtypes": (
        "dtype=DType get_default_dtype=default_dtype set_default_dtype promote_types can_cast "
        "float16 bfloat16 float32 float64 half float double uint8 int8 int16 int32 int64 short int "
        "long complex64 complex128 cfloat cdouble bool=bool_"
    ),
    "numerics.random": (
        "Generator manual_seed seed initial_seed get_rng_state set_rng_state default_generator "
        "random.default_generator random.manual_seed random.seed random.initial_seed "
        "random.get_rng_state random.set_rng_state random.fork_rng"
    ),
    "engine.tensors.tensor_type": (
        "strided sparse_coo sparse_csr contiguous_format preserve_format channels_last "
        "channels_last_3d"
    ),
    "engine.tensors.construct": "tensor as_tensor asarray from_numpy from_dlpack",
    "utils.sparse_checks": "sparse.check_sparse_tensor_invariants",
    "utils.removed": "symeig eig solve lstsq matrix_rank",
    "engine.schema.limits": "finfo iinfo",
    "engine.tensors.promotion": "result_type=result_dtype",
    "engine.memory.repr": "set_printoptions",
    "engine.schema.mode": (
        "no_grad enable_grad set_grad_enabled inference_mode is_grad_enabled "
        "is_inference_mode_enabled is_anomaly_enabled is_anomaly_check_nan_enabled "
        "autograd.no_grad autograd.enable_grad autograd.set_grad_enabled autograd.inference_mode "
        "autograd.detect_anomaly autograd.set_detect_anomaly autograd.grad_mode.no_grad "
        "autograd.grad_mode.enable_grad autograd.grad_mode.set_grad_enabled "
        "autograd.grad_mode.inference_mode"
    ),
    "distributions.drawing": "binomial poisson",
    "engine.schema.errors": (
        "OutOfMemoryError linalg.LinAlgError=_LinAlgError cuda.OutOfMemoryError"
    ),
    "engine.memory.cuda": (
        "cuda.manual_seed_all=manual_seed accelerator.current_accelerator cuda.current_device "
        "cuda.set_device cuda.synchronize cuda.get_device_name cuda.get_device_capability "
        "cuda.empty_cache cuda.memory_allocated cuda.max_memory_allocated cuda.memory_reserved "
        "cuda.max_memory_reserved cuda.manual_seed"
    ),
    "utils.compiled": (
        "compile=compile_ compiler.compile=compile_ jit.script jit.ignore jit.unused jit.export "
        "jit.trace jit.script_method=export jit.script_if_tracing=export"
    ),
    "namespace.functions": (
        "set_num_interop_threads=set_num_threads is_tensor is_storage is_floating_point is_complex "
        "is_nonzero numel set_num_threads get_num_threads broadcast_shapes "
        "use_deterministic_algorithms are_deterministic_algorithms_enabled "
        "set_float32_matmul_precision get_float32_matmul_precision set_default_tensor_type "
        "_assert=assert_"
    ),
    "autograd": "autograd.Variable autograd.backward autograd.grad",
    "func.vectorised": "vmap",
    "autograd.function": (
        "autograd.Function autograd.function.Function autograd.function.once_differentiable "
        "autograd.function.InplaceFunction"
    ),
    "autograd.gradient_check": "autograd.gradcheck autograd.gradgradcheck",
    "engine.graph.node": "autograd.graph.Node",
    "autograd.graph": (
        "autograd.graph.GradientEdge autograd.graph.get_gradient_edge "
        "autograd.graph.saved_tensors_hooks autograd.graph.save_on_cpu "
        "autograd.graph.disable_saved_tensors_hooks autograd.graph.allow_mutation_on_saved_tensors "
        "autograd.graph.increment_version autograd.graph.register_multi_grad_hook"
    ),
    "func.functional_modules": (
        "_functorch.make_functional.make_functional "
        "_functorch.make_functional.make_functional_with_buffers "
        "_functorch.make_functional.combine_state_for_ensemble"
    ),
    "nn.attention": (
        "backends.cuda.sdp_kernel backends.cuda.math_sdp_enabled backends.cuda.flash_sdp_enabled "
        "backends.cuda.mem_efficient_sdp_enabled backends.cuda.cudnn_sdp_enabled "
        "backends.cuda.enable_math_sdp backends.cuda.enable_flash_sdp "
        "backends.cuda.enable_mem_efficient_sdp backends.cuda.enable_cudnn_sdp"
    ),
    "amp.cuda": "cuda.amp.GradScaler cuda.amp.autocast cuda.amp.custom_bwd cuda.amp.custom_fwd",
    "amp": "GradScaler autocast",
    "amp.cpu": "cpu.amp.GradScaler cpu.amp.autocast",
    "amp.autocast_mode": "is_autocast_enabled get_autocast_dtype clear_autocast_cache",
    "utils.closeness": "testing.assert_close testing.assert_allclose",
    "nn.registered": "typename",
    "nn.module": "jit.ScriptModule=Module",
    "nn.quantized": (
        "nn.quantized.FloatFunctional ao.nn.quantized.FloatFunctional "
        "quantization.QuantStub quantization.DeQuantStub "
        "ao.quantization.QuantStub ao.quantization.DeQuantStub"
    ),
    "nn._reduction": " ".join(
        f"nn.{space}.{name}"
        for space in ("_reduction", "functional._Reduction")
        for name in ("get_enum", "legacy_get_string", "legacy_get_enum")
    ),
    "optim.optimizer": "optim.optimizer.required",
}
# Questions about the machine, each with what answers it in utils.answers.
_ANSWERS: dict[str, str] = {
    "never": (
        "backends.mps.is_available backends.mps.is_built backends.cudnn.is_available "
        "backends.cuda.is_built mps.is_available xpu.is_available cuda.is_initialized "
        "cuda.is_bf16_supported jit.is_scripting jit.is_tracing compiler.is_compiling "
        "compiler.is_dynamo_compiling compiler.is_exporting is_distributed is_warn_always_enabled"
    ),
    "always": (
        "backends.mkl.is_available backends.openmp.is_available backends.mkldnn.is_available "
        "cpu.is_available set_flush_denormal"
    ),
    "nothing": (
        "backends.cudnn.version compiler.reset compiler.cudagraph_mark_step_begin cpu.synchronize "
        "cuda.seed cuda.seed_all mps.manual_seed set_warn_always"
    ),
    "disable": "compiler.disable compiler.allow_in_graph compiler.assume_constant_result",
    "annotate": "jit.annotate", "one": "cpu.device_count", "is_inference": "is_inference",
    "get_device": "get_device",
    "tree_map": "utils._pytree.tree_map", "tree_leaves": "utils._pytree.tree_leaves",
}  # fmt: skip
# Modules whose names are listed here, so that looking at a name loads none of them.
LISTED: dict[str, str] = {
    "autograd.forward_ad": (
        "UnpackedDualTensor dual_level enter_dual_level exit_dual_level make_dual unpack_dual"
    ),
    "autograd.functional": "jacobian hessian vjp jvp hvp vhp",
    "utils.checkpoint": (
        "CheckpointError CheckpointFunction checkpoint checkpoint_sequential detach_variable "
        "get_device_states noop_context_fn set_checkpoint_debug_enabled set_checkpoint_early_stop "
        "set_device_states"
    ),
    "utils.data": (
        "BatchSampler ChainDataset ConcatDataset DataLoader Dataset IterableDataset RandomSampler "
        "Sampler SequentialSampler StackDataset Subset SubsetRandomSampler TensorDataset "
        "WeightedRandomSampler default_collate default_convert get_worker_info random_split"
    ),
    "amp": "GradScaler autocast custom_bwd custom_fwd is_autocast_available",
    "nn.attention": "SDPBackend sdpa_kernel",
    "nn.utils.rnn": (
        "PackedSequence invert_permutation pack_padded_sequence pack_sequence pad_packed_sequence "
        "pad_sequence unpack_sequence unpad_sequence"
    ),
    "nn.utils.parametrize": (
        "ParametrizationList cached is_parametrized register_parametrization "
        "remove_parametrizations"
    ),
    "nn.utils.parametrizations": "orthogonal spectral_norm weight_norm",
    "nn.utils.prune": (
        "BasePruningMethod CustomFromMask Identity L1Unstructured LnStructured PruningContainer "
        "RandomStructured RandomUnstructured custom_from_mask global_unstructured identity "
        "is_pruned l1_unstructured ln_structured random_structured random_unstructured remove"
    ),
}


def _places() -> Iterator[tuple[str, str]]:
    for module, words in _HOMES.items():
        for word in words.split():
            name, _, own = word.partition("=")
            yield name, f"gradcli.{module}:{own or name.rpartition('.')[2]}"
    for answer, words in _ANSWERS.items():
        yield from ((name, f"gradcli.utils.answers:{answer}") for name in words.split())
    for space, words in LISTED.items():
        yield from ((f"{space}.{name}", f"gradcli.{space}:{name}") for name in words.split())
    for name, room in INNER.items():
        yield f"nn.{name}", f"gradcli.nn.{room}:{name.rpartition('.')[2]}"


PLACES: dict[str, str] = dict(_places())  # dotted name -> "module:attribute"

CONSTANTS: dict[str, Any] = {
    "pi": 3.141592653589793,
    "e": 2.718281828459045,
    "inf": float("inf"),
    "nan": float("nan"),
    "newaxis": None,
    "__version__": "2.13.0",
    "version.__version__": "2.13.0",
    "version.cuda": None,
    "cuda._initialized": False,
    "version.hip": None,
    "version.debug": False,
    # What older programs ask; the names are deprecated.
    "has_mps": False,
    **dict.fromkeys(("has_mkl", "has_mkldnn", "has_lapack", "has_openmp"), True),
}

LEGACY = ("Float", "Double", "Half", "Byte", "Char", "Short", "Int", "Long", "Bool", "BFloat16")

# Packages whose public names are listed by the package itself.
PACKAGES = {
    space: f"gradcli.{space}"
    for space in (
        "nn nn.init nn.utils optim optim.lr_scheduler optim.swa_utils func distributions "
        "distributions.constraints distributions.utils"
    ).split()
}
SPACES = frozenset(
    "nn.functional autograd autograd.function autograd.graph autograd.grad_mode utils random "
    "linalg special fft signal signal.windows cuda accelerator backends backends.mps "
    "backends.cudnn backends.cuda backends.cuda.matmul backends.mkldnn version jit".split()
).union(LISTED, PACKAGES)

# Switches of PyTorch that programs set, with what they are at first. None changes a number here.
FLAGS: dict[str, Any] = {
    "backends.cudnn.deterministic": False, "backends.cudnn.benchmark": False,
    "backends.cudnn.enabled": True, "backends.cudnn.allow_tf32": True,
    "backends.cuda.matmul.allow_tf32": False, "backends.mkldnn.enabled": True,
}  # fmt: skip
