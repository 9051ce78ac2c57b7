"""namespace: the names of PyTorch that gradcli knows, dotted, without `torch.`, and their places.

The library face and the language read the same table. Looking at the names loads no array library.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from ..engine.run_state import run_state
from .absent import absence
from .deeper_paths import DEEPER, INNER, is_file, package_of

# Where the objects behind names are, by module; `=` stands before a name of its own there. Nothing
# is loaded until a name is used.
_HOMES: dict[str, str] = {
    "engine.tensor": "Tensor",
    "engine.size": "Size",
    "engine.device": (
        "device=Device cuda.is_available=cuda_available cuda.device_count=cuda_count "
        "accelerator.is_available=cuda_available accelerator.device_count=cuda_count "
        "get_default_device=default_device set_default_device"
    ),
    "engine.dtypes": (
        "dtype=DType get_default_dtype=default_dtype set_default_dtype promote_types can_cast "
        "float16 bfloat16 float32 float64 half float double uint8 int8 int16 int32 int64 short int "
        "long complex64 complex128 cfloat cdouble bool=bool_"
    ),
    "numerics.random": (
        "Generator manual_seed seed initial_seed get_rng_state set_rng_state default_generator "
        "random.default_generator random.manual_seed random.seed random.initial_seed "
        "random.get_rng_state random.set_rng_state random.fork_rng"
    ),
    "engine.tensor_type": (
        "strided contiguous_format preserve_format channels_last channels_last_3d"
    ),
    "engine.construct": "tensor as_tensor asarray from_numpy from_dlpack",
    "utils.removed": "symeig eig solve lstsq matrix_rank",
    "engine.limits": "finfo iinfo",
    "engine.promotion": "result_type=result_dtype",
    "engine.repr": "set_printoptions",
    "engine.mode": (
        "no_grad enable_grad set_grad_enabled inference_mode is_grad_enabled "
        "is_inference_mode_enabled is_anomaly_enabled is_anomaly_check_nan_enabled "
        "autograd.no_grad autograd.enable_grad autograd.set_grad_enabled autograd.inference_mode "
        "autograd.detect_anomaly autograd.set_detect_anomaly autograd.grad_mode.no_grad "
        "autograd.grad_mode.enable_grad autograd.grad_mode.set_grad_enabled "
        "autograd.grad_mode.inference_mode"
    ),
    "distributions.drawing": "binomial poisson",
    "engine.errors": "OutOfMemoryError linalg.LinAlgError=_LinAlgError cuda.OutOfMemoryError",
    "engine.cuda": (
        "cuda.manual_seed_all=manual_seed accelerator.current_accelerator cuda.current_device "
        "cuda.set_device cuda.synchronize cuda.get_device_name cuda.get_device_capability "
        "cuda.empty_cache cuda.memory_allocated cuda.max_memory_allocated cuda.memory_reserved "
        "cuda.max_memory_reserved cuda.manual_seed"
    ),
    "utils.compiled": (
        "compile=compile_ compiler.compile=compile_ jit.script jit.ignore jit.unused jit.export "
        "jit.trace"
    ),
    "namespace": (
        "set_num_interop_threads=set_num_threads is_tensor is_storage is_floating_point is_complex "
        "is_nonzero numel set_num_threads get_num_threads broadcast_shapes "
        "use_deterministic_algorithms are_deterministic_algorithms_enabled "
        "set_float32_matmul_precision get_float32_matmul_precision set_default_tensor_type "
        "_assert=assert_"
    ),
    "autograd": "autograd.Variable autograd.backward autograd.grad",
    "func.vectorised": "vmap",
    "autograd.function": (
        "autograd.Function autograd.function.Function autograd.function.once_differentiable"
    ),
    "autograd.gradient_check": "autograd.gradcheck autograd.gradgradcheck",
    "engine.node": "autograd.graph.Node",
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
    "is_same_size": "is_same_size", "get_device": "get_device", "spmm": "spmm",
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


class _Flags:
    """What a program set them to."""

    __slots__ = ("deterministic", "precision", "values")

    def __init__(self) -> None:
        self.values = dict(FLAGS)
        self.deterministic = False
        self.precision = "highest"


flags = run_state(_Flags())


def set_flag(name: str, value: Any) -> None:
    """torch.backends.cudnn.benchmark = True"""
    if name not in FLAGS or not isinstance(value, bool):
        space, _, last = f"torch.{name}".rpartition(".")
        only = " to anything but True and False" if name in FLAGS else ""
        raise AttributeError(f"'{last}' of module '{space}' can't be set{only}")
    flags.values[name] = value


@functools.cache
def names() -> frozenset[str]:
    """All dotted names, the namespaces themselves included."""
    from ..operators import catalogue

    found = set(PLACES) | set(CONSTANTS) | set(catalogue.functions) | set(SPACES)
    found.update(f"{word}Tensor" for word in LEGACY)
    for space, package in PACKAGES.items():
        found.update(f"{space}.{name}" for name in import_module(package).__all__)
    return frozenset(found)


def has(name: str) -> bool:
    """Is it one of `names`? Without listing them all, and without loading what they stand for."""
    from ..operators import catalogue

    if name in PLACES or name in CONSTANTS or name in catalogue.functions or name in SPACES:
        return True
    space, _, last = name.rpartition(".")
    if package_of(space) != space:
        near = f"{package_of(space)}.{last}".lstrip(".")
        return has(near) and not is_space(near)
    if space in PACKAGES:
        return last in import_module(PACKAGES[space]).__all__
    return name.endswith("Tensor") and name.removesuffix("Tensor") in LEGACY


@functools.cache
def is_space(name: str) -> bool:
    """Does anything stand below this name?"""
    from ..operators import catalogue

    below = name + "."
    return (
        name in SPACES
        or name in DEEPER
        or is_file(name)
        or any(path.startswith(below) for known in (PLACES, catalogue.functions) for path in known)
    )


@functools.cache
def _ready() -> None:
    import gc
    import sys

    from ..process.memory import keep_freed

    # Not `from . import`: that asks the package for the name first, and so comes back here.
    import_module("gradcli.operators")
    from ..engine.dunders import install

    install()
    # A graph is many small objects and no cycles: Python's default of a collection every 700
    # allocations doubles the time of building one. Whoever chose a threshold keeps it.
    if gc.get_threshold() == (700, 10, 10):
        gc.set_threshold(50_000, 20, 50)
    if "torch" not in sys.modules:  # whose process it is then
        keep_freed()


@functools.cache
def resolve(name: str) -> Any:
    """The object behind a dotted name; AttributeError in Python's words when there is none."""
    _ready()
    from ..operators import catalogue

    if name in CONSTANTS:
        return CONSTANTS[name]
    if name in PLACES:
        module, _, attribute = PLACES[name].partition(":")
        if module.startswith("gradcli.engine.dtypes"):
            from ..engine.dtypes import BY_NAME

            return BY_NAME[name] if name in BY_NAME else getattr(import_module(module), attribute)
        return getattr(import_module(module), attribute)
    if name in catalogue.functions:
        return catalogue.functions[name]
    if name.endswith("Tensor") and name.removesuffix("Tensor") in LEGACY:
        from ..engine.typed_tensors import typed_tensor

        return typed_tensor(name.removesuffix("Tensor"))
    space, _, last = name.rpartition(".")
    if package_of(space) != space and not is_space(name):
        return resolve(f"{package_of(space)}.{last}".lstrip("."))
    if space in PACKAGES:
        module_ = import_module(PACKAGES[space])
        if last in module_.__all__:
            return getattr(module_, last)
    if is_space(name):
        return Space(name)
    home = f"torch.{space}".rstrip(".")
    raise AttributeError(absence(home, last) or f"module '{home}' has no attribute '{last}'")


class Space:
    """A namespace of PyTorch: attributes are looked up in the table, nothing else is reachable."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        object.__setattr__(self, "path", path)

    def __getattr__(self, name: str) -> Any:
        full = f"{self.path}.{name}" if self.path else name
        if name.startswith("__") and full not in CONSTANTS:
            raise AttributeError(name)
        return flags.values[full] if full in FLAGS else resolve(full)

    def __setattr__(self, name: str, value: Any) -> None:
        set_flag(f"{self.path}.{name}", value)

    def __dir__(self) -> list[str]:
        head = self.path + "." if self.path else ""
        return sorted(
            {n.removeprefix(head).partition(".")[0] for n in names() if n.startswith(head)}
        )

    def __repr__(self) -> str:
        return f"<module 'torch{'.' + self.path if self.path else ''}'>"


def is_tensor(value: Any) -> bool:
    from ..engine.tensor import Tensor

    return isinstance(value, Tensor)


def is_storage(obj: Any) -> bool:
    from ..engine.typed_storage import UntypedStorage

    return isinstance(obj, UntypedStorage)


def is_floating_point(input: Any) -> bool:
    return bool(input.is_floating_point())


def is_complex(input: Any) -> bool:
    return bool(input.is_complex())


def assert_(condition: Any, message: Any) -> None:
    """torch._assert: an assert that is a call."""
    if not condition:
        raise AssertionError(message)


def is_nonzero(input: Any) -> bool:
    return bool(input)


def numel(input: Any) -> int:
    return int(input.numel())


def broadcast_shapes(*shapes: Any) -> Any:
    """torch.broadcast_shapes: the shape that several shapes broadcast to."""
    from ..engine.size import Size

    given = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    width = max((len(s) for s in given), default=0)
    out = [1] * width
    for shape in given:
        for place, size in enumerate(shape, width - len(shape)):
            if size != 1 and out[place] not in (1, size):
                raise RuntimeError(
                    "Shape mismatch: objects cannot be broadcast to a single shape. Mismatch is "
                    f"between arg with shape {list(out)} and arg with shape {list(shape)}."
                )
            if size != 1:
                out[place] = size
    return Size(out)


class _Threads:
    """torch.get_num_threads"""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 1


_threads = run_state(_Threads())


def set_num_threads(count: int) -> None:
    """Accepted for PyTorch's sake; the array library has its own threads."""
    _threads.count = int(count)


def get_num_threads() -> int:
    return _threads.count


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Everything here is deterministic."""
    flags.deterministic = bool(mode)


def are_deterministic_algorithms_enabled() -> bool:
    return flags.deterministic


def set_float32_matmul_precision(precision: str) -> None:
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(
            f"'{precision}' is not one of 'highest', 'high', 'medium' for the float32 precision"
        )
    flags.precision = precision


def get_float32_matmul_precision() -> str:
    return flags.precision


def set_default_tensor_type(t: Any) -> None:
    """torch.set_default_tensor_type: by its name or by the type itself."""
    from ..engine.dtypes import set_default_dtype

    # the language hands a value of its own over, which has the name as well
    word = t if isinstance(t, str) else str(getattr(t, "name", getattr(t, "__name__", "")))
    dtypes = {"FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16",
              "BFloat16Tensor": "bfloat16"}  # fmt: skip
    found = dtypes.get(word.rpartition(".")[2])
    if found is None:
        raise TypeError(f"invalid type object: only floating-point types are supported, got {word}")
    set_default_dtype(resolve(found))
