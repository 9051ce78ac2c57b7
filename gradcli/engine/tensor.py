"""Engine: the tensor: an array, what its elements are, and its place in the graph."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from .device import Device, array_module, cpu, to_numpy
from .dtypes import FLOATING, OF_ARRAY, DType
from .mode import state
from .node import AccumulateGrad, Node, Storage
from .operator import CARRIERS
from .size import Size

Array = Any  # numpy.ndarray or cupy.ndarray


class Kind:
    """What a tensor's elements are and where they live; one object for each pair, compared by `is`."""

    __slots__ = ("dtype", "device", "xp", "array_dtype", "differentiable")

    _made: dict[tuple[str, str], Kind] = {}

    def __init__(self, dtype: DType, device: Device) -> None:
        self.dtype, self.device = dtype, device
        self.xp = array_module(device)
        self.array_dtype = numpy.dtype(dtype.numpy)
        self.differentiable = dtype.category >= FLOATING

    def of(self, dtype: DType) -> Kind:
        return self if dtype is self.dtype else kind_of(dtype, self.device)


def kind_of(dtype: DType, device: Device = cpu) -> Kind:
    key = (dtype.name, str(device))
    kind = Kind._made.get(key)
    if kind is None:
        kind = Kind._made[key] = Kind(dtype, device)
    return kind


class Meta:
    """What only some tensors have: a gradient, hooks, a base that they are a view of."""

    __slots__ = (
        "grad", "accumulator", "hooks", "post_hooks", "retains_grad", "is_parameter",
        "base", "view_version", "creation", "inference", "tangent",
    )  # fmt: skip

    def __init__(self) -> None:
        self.grad: Tensor | None = None
        self.accumulator: weakref.ref[AccumulateGrad] | None = None
        self.hooks: dict[int, Callable[..., Any]] | None = None
        self.post_hooks: dict[int, Callable[..., Any]] | None = None
        self.retains_grad = False
        self.is_parameter = False
        self.base: Tensor | None = None
        self.view_version = 0
        self.creation = ""  # how a view was made, where that forbids changing it in place
        self.inference = False
        self.tangent: Any = None


class Tensor:
    """PyTorch's tensor. Operators are installed as methods when their declarations are imported."""

    __slots__ = ("_data", "_kind", "_requires_grad", "_grad_fn", "_output_nr", "_storage", "_meta", "__weakref__")

    _data: Array
    _kind: Kind
    _requires_grad: bool
    _grad_fn: Node | None
    _output_nr: int
    _storage: Storage | None
    _meta: Meta | None

    def __new__(cls, data: Any = None, *more: Any, **options: Any) -> Tensor:
        from .construct import legacy_tensor

        return legacy_tensor(data, *more, **options)

    # ---- what it is

    @property
    def dtype(self) -> DType:
        return self._kind.dtype

    @property
    def device(self) -> Device:
        return self._kind.device

    @property
    def shape(self) -> Size:
        return Size(self._data.shape)

    def size(self, dim: int | None = None) -> Any:
        return Size(self._data.shape) if dim is None else self._data.shape[wrap_dim(dim, self._data.ndim)]

    @property
    def ndim(self) -> int:
        return int(self._data.ndim)

    def dim(self) -> int:
        return int(self._data.ndim)

    ndimension = dim

    def numel(self) -> int:
        return int(self._data.size)

    nelement = numel

    def stride(self, dim: int | None = None) -> Any:
        item = self._data.itemsize
        strides = tuple(step // item for step in _torch_strides(self._data))
        return strides if dim is None else strides[wrap_dim(dim, len(strides))]

    def storage_offset(self) -> int:
        base = self._base
        return 0 if base is None else offset_in(base._data, self._data)

    @property
    def itemsize(self) -> int:
        return self._kind.dtype.itemsize

    def element_size(self) -> int:
        return self._kind.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.numel() * self.itemsize

    def is_contiguous(self) -> bool:
        return bool(self._data.flags.c_contiguous)

    def is_floating_point(self) -> bool:
        return self._kind.dtype.category == FLOATING

    def is_complex(self) -> bool:
        return self._kind.dtype.category > FLOATING

    def is_signed(self) -> bool:
        return self._kind.dtype.is_signed

    def data_ptr(self) -> int:
        if isinstance(self._need_array(), numpy.ndarray):
            return int(self._data.__array_interface__["data"][0])
        return int(self._data.data.ptr)

    def get_device(self) -> int:
        return -1 if self.device.type == "cpu" else int(self.device.index or 0)

    @property
    def is_cuda(self) -> bool:
        return self.device.type == "cuda"

    @property
    def is_cpu(self) -> bool:
        return self.device.type == "cpu"

    is_sparse = is_quantized = is_mps = is_meta = is_nested = False

    @property
    def layout(self) -> Layout:
        return strided

    @property
    def is_parameter(self) -> bool:
        return self._meta is not None and self._meta.is_parameter

    # ---- its place in the graph

    @property
    def requires_grad(self) -> bool:
        if self._meta is not None and self._meta.base is not None:
            self._refresh()
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if type(value) is not bool:
            raise RuntimeError("requires_grad must be a bool")
        if not self.is_leaf and not value:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a "
                "computed variable in a subgraph that doesn't require differentiation use "
                "var_no_grad = var.detach()."
            )
        if value and not self._kind.differentiable:
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if self._grad_fn is None:
            self._requires_grad = value

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        if self._meta is not None and self._meta.inference and requires_grad and not state.inference:
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
            )
        self.requires_grad = requires_grad
        return self

    @property
    def grad_fn(self) -> Node | None:
        if self._meta is not None and self._meta.base is not None:
            self._refresh()
        return self._grad_fn

    @property
    def output_nr(self) -> int:
        return self._output_nr

    @property
    def is_leaf(self) -> bool:
        return self.grad_fn is None

    @property
    def retains_grad(self) -> bool:
        return self._meta is not None and self._meta.retains_grad and not self.is_leaf

    @property
    def _version(self) -> int:
        if self._meta is not None and self._meta.inference:
            raise RuntimeError("Inference tensors do not track version counter.")
        return 0 if self._storage is None else self._storage.version

    @property
    def _base(self) -> Tensor | None:
        return None if self._meta is None else self._meta.base

    def _is_view(self) -> bool:
        return self._base is not None

    def is_inference(self) -> bool:
        return self._meta is not None and self._meta.inference

    def _refresh(self) -> None:
        """After its base changed in place, a view's history is read off the base anew."""
        from .views import refresh

        refresh(self)

    @property
    def grad(self) -> Tensor | None:
        meta = self._meta
        grad = None if meta is None else meta.grad
        if grad is None and self._requires_grad and not self.is_leaf and not self.retains_grad:
            state.warn(NON_LEAF_GRAD)
        return grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            check_new_grad(self, value)
        self._need_meta().grad = value

    @grad.deleter
    def grad(self) -> None:
        self._need_meta().grad = None

    @property
    def data(self) -> Tensor:
        """The same memory outside the graph, with a version counter of its own."""
        return plain(self._need_array(), self._kind)

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        self._data, self._kind = value._data, value._kind

    def detach(self) -> Tensor:
        """The same memory and version counter outside the graph."""
        out = plain(self._need_array(), self._kind)
        out._storage = self._need_storage()
        return out

    def detach_(self) -> Tensor:
        if self._base is not None:
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using "
                "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set "
                "as True, gradients are views of DDP buckets, and hence detach_() cannot be called "
                "on these gradients. To fix this error, please refer to the "
                "Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
            )
        self._grad_fn, self._requires_grad, self._output_nr = None, False, 0
        if self._meta is not None:
            self._meta.retains_grad = False
        return self

    def _need_meta(self) -> Meta:
        if self._meta is None:
            self._meta = Meta()
        return self._meta

    def _need_array(self) -> Array:
        """The array itself, for whoever shares its memory; see `plain` on scalars."""
        if not isinstance(self._data, numpy.generic):
            return self._data
        self._data = numpy.asarray(self._data)
        return self._data

    def _need_storage(self) -> Storage:
        if self._storage is None:
            self._storage = Storage()
        return self._storage

    def _bump(self) -> None:
        self._need_storage().version += 1

    # ---- gradients

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        from .backward import backward

        backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def register_hook(self, hook: Callable[..., Any]) -> Any:
        from .hooks import register_tensor_hook

        return register_tensor_hook(self, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[..., Any]) -> Any:
        from .hooks import register_post_accumulate_hook

        return register_post_accumulate_hook(self, hook)

    def retain_grad(self) -> None:
        from .hooks import retain_grad

        retain_grad(self)

    # ---- out of the tensor

    def item(self) -> Any:
        if self._data.size != 1:
            raise RuntimeError(
                f"a Tensor with {self._data.size} elements cannot be converted to Scalar"
            )
        return self._data.item()

    def tolist(self) -> Any:
        return to_numpy(self._data).tolist()

    def numpy(self, *, force: bool = False) -> numpy.ndarray[Any, Any]:
        """The values as a NumPy array that shares memory where the tensor is on the CPU."""
        if self.requires_grad and not force:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
            )
        if self.device.type != "cpu" and not force:
            raise TypeError(
                f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to "
                "copy the tensor to host memory first."
            )
        return to_numpy(self._need_array())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray[Any, Any]:
        array = self.numpy()
        if copy:
            return array.astype(dtype or array.dtype, copy=True)
        return array if dtype is None else array.astype(dtype, copy=False)

    def __dlpack__(self, **options: Any) -> Any:
        if self.requires_grad:
            raise BufferError(
                "Can't export tensors that require gradient, use tensor.detach()"
            )
        return self._need_array().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        kind, number = self._need_array().__dlpack_device__()
        return int(kind), int(number)

    def __bool__(self) -> bool:
        if self._data.size != 1:
            many = "no values" if self._data.size == 0 else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {many} is ambiguous")
        return bool(self._data.item())

    def _single(self) -> Any:
        if self._data.size != 1:
            raise RuntimeError(
                f"a Tensor with {self._data.size} elements cannot be converted to Scalar"
            )
        if self.requires_grad:
            state.warn(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected "
                "behavior."
            )
        return self._data.item()

    def __float__(self) -> float:
        return float(self._single())

    def __int__(self) -> int:
        return int(self._single())

    def __complex__(self) -> complex:
        return complex(self._single())

    def __index__(self) -> int:
        if self._data.size != 1 or self._kind.dtype.category > 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._data.item())

    def __len__(self) -> int:
        if self._data.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self._data)

    def __iter__(self) -> Iterator[Tensor]:
        if self._data.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))  # type: ignore[attr-defined]

    def __contains__(self, value: Any) -> bool:
        if isinstance(value, Tensor) or type(value) in (int, float, bool, complex):
            return bool((self == value).any())  # type: ignore[attr-defined]
        raise RuntimeError(
            "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
            f"{type(value)}."
        )

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        from .text import text_of

        return text_of(self)

    def __format__(self, spec: str) -> str:
        if self._data.ndim == 0:
            return format(self._data.item(), spec)
        return format(str(self), spec)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                "protocol at the moment.  If you were attempting to deepcopy a module, this may be "
                "because of a torch.nn.utils.weight_norm usage, see "
                "https://github.com/pytorch/pytorch/pull/103001"
            )
        out = plain(self._data.copy(), self._kind)
        out._requires_grad = self._requires_grad
        if self.is_parameter:
            out._need_meta().is_parameter = True
        if self._meta is not None and self._meta.grad is not None:
            out._need_meta().grad = self._meta.grad.__deepcopy__(memo)
        return out


class Layout:
    """torch.strided, the only layout there is here."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "torch.strided"


strided = Layout()

NON_LEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
    "attribute won't be populated during autograd.backward(). If you indeed want the .grad field "
    "to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you "
    "access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead. See "
    "github.com/pytorch/pytorch/pull/30531 for more information."
)

_new = object.__new__


def plain(data: Array, kind: Kind) -> Tensor:
    """A tensor outside any graph around an array of the kind's array type.

    On the CPU a 0-dim tensor holds a NumPy scalar as long as nobody shares its memory: an operation
    on scalars costs a fifth of one on 0-dim arrays.
    """
    out: Tensor = _new(Tensor)
    out._data, out._kind = data, kind
    out._requires_grad, out._grad_fn, out._output_nr = False, None, 0
    out._storage = out._meta = None
    if state.inference:
        mark_inference(out)
    return out


class _InferenceStorage(Storage):
    """Stands where a version counter would: whoever saves the tensor for backward meets it."""

    __slots__ = ()

    def __init__(self) -> None:
        self.version = -1


def mark_inference(tensor: Tensor) -> None:
    """Made in inference mode: no version counter, and no way into a graph."""
    tensor._need_meta().inference = True
    tensor._storage = _InferenceStorage()


def refuse_inference(storage: Storage) -> None:
    if isinstance(storage, _InferenceStorage):
        raise RuntimeError(INFERENCE_SAVED)


INFERENCE_SAVED = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference "
    "mode in computation tracked by autograd. To work around this, you can make a clone to get a "
    "normal tensor and use it in autograd, or use `torch.no_grad()` instead of "
    "`torch.inference_mode()`."
)


def write_into(tensor: Tensor, data: Any) -> None:
    """Gives a tensor's memory new values; an unshared scalar is simply replaced."""
    if isinstance(tensor._data, numpy.generic):
        tensor._data = tensor._kind.array_dtype.type(data.item() if getattr(data, "ndim", 0) else data)
    else:
        tensor._data[...] = data


def wrap(data: Any, kind: Kind) -> Tensor:
    """The same around whatever a kernel returned (NumPy decays 0-dim results to scalars)."""
    return plain(kind.xp.asarray(data, dtype=kind.array_dtype), kind)


def from_array(array: Array, device: Device = cpu) -> Tensor:
    """A tensor around an array, which is not copied; its element type decides the tensor's."""
    return plain(array, kind_of(OF_ARRAY[array.dtype.name], device))


def wrap_dim(dim: int, ndim: int) -> int:
    """A dimension counted from the front; IndexError in PyTorch's words."""
    span = max(ndim, 1)
    if not -span <= dim < span:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], but got {dim})"
        )
    return dim + span if dim < 0 else dim


def _torch_strides(array: Array) -> tuple[int, ...]:
    """Strides in bytes as PyTorch would have them: NumPy leaves those of size-1 axes arbitrary."""
    if array.flags.c_contiguous:
        strides, step = [], array.itemsize
        for size in reversed(array.shape):
            strides.append(step)
            step *= max(size, 1)
        return tuple(reversed(strides))
    return tuple(array.strides)


def offset_in(base: Array, view: Array) -> int:
    """Where a view begins in its base, in elements."""
    if isinstance(base, numpy.ndarray):
        apart = view.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    else:
        apart = view.data.ptr - base.data.ptr
    return int(apart // base.itemsize)


def edge_of(tensor: Tensor) -> Node | None:
    """The node that a gradient for this tensor goes to."""
    meta = tensor._meta
    if meta is not None and meta.base is not None:
        tensor._refresh()
    if tensor._grad_fn is not None:
        return tensor._grad_fn
    if not tensor._requires_grad:
        return None
    if meta is None:
        meta = tensor._need_meta()
    if meta.inference:
        raise RuntimeError(INFERENCE_SAVED)
    node = None if meta.accumulator is None else meta.accumulator()
    if node is None:
        node = AccumulateGrad(tensor)
        meta.accumulator = weakref.ref(node)
    return node


def check_new_grad(tensor: Tensor, value: Any) -> None:
    """What may be assigned to .grad, in PyTorch's words."""
    if not isinstance(value, Tensor):
        raise TypeError(
            "assigned grad expected to be a Tensor or None but got grad of type "
            f"{type(value).__name__}"
        )
    if value is tensor:
        raise RuntimeError("can't assign Variable as its own grad")
    if value.dtype is not tensor.dtype:
        raise RuntimeError(
            "attempting to assign a gradient with dtype "
            f"'{value.dtype.word.lower()}' to a tensor with grad_dtype '{tensor.dtype.word}'. "
            "The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). "
            "You can set the tensor's grad_dtype attribute with a specific dtype, or None to "
            "allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and "
            "its gradient may break downstream systems that assume they match."
        )
    if value.shape != tensor.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size "
            f"'{list(tensor.shape)}'. Please ensure that the gradient and the tensor are the same size"
        )


CARRIERS.tensor = Tensor
CARRIERS.double = numpy.float64
CARRIERS.arrays.update(
    {kind: numpy for kind in (numpy.ndarray, *(numpy.dtype(d.numpy).type for d in OF_ARRAY.values()))}
)

PROPERTIES = frozenset(
    "dtype device shape ndim requires_grad grad_fn output_nr is_leaf retains_grad grad data layout "
    "itemsize nbytes is_cuda is_cpu is_sparse is_quantized is_mps is_meta is_nested _version _base".split()
)
METHODS = frozenset(
    "size dim ndimension numel nelement stride storage_offset element_size is_contiguous "
    "is_floating_point is_complex is_signed data_ptr get_device requires_grad_ detach detach_ "
    "backward register_hook register_post_accumulate_grad_hook retain_grad item tolist _is_view "
    "is_inference numpy".split()
)
