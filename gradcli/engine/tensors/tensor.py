"""Engine: the tensor: an array, what its elements are, and its place in the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ..graph.leaf import NON_LEAF_GRAD, check_new_grad, mark_inference
from ..graph.node import DetachedVersion, Node, SavedOutput, Storage
from ..schema.carriers import RUNTIME, TRANSFORMS
from ..schema.class_name import Named
from ..schema.errors import type_name
from ..schema.mode import as_bool, state
from . import metadata
from .autograd_meta import AutogradMeta, mark_of_base, set_mark
from .tensor_type import Array, FastShape, TensorType, form_of, kind_of_array
from .values import Values


class Tensor(Values, metadata.Metadata, metaclass=Named):
    """PyTorch's tensor. `assembly` adds the operators, and the methods that are only named here."""

    _torch_name = "torch.Tensor"

    __slots__ = (
        "_data",
        "_kind",
        "_form",
        "_requires_grad",
        "_grad_fn",
        "_output_nr",
        "_storage",
        "_meta",
        "__weakref__",
    )

    _data: Array
    _kind: TensorType
    _form: FastShape | bool | None  # None: not asked yet, see `formed`
    # A view in no graph has its base's mark here, which is true once the base is in one.
    _requires_grad: bool | list[bool]
    _grad_fn: Node | None
    _output_nr: int
    _storage: Storage | None
    _meta: AutogradMeta | None

    # See `assembly`.
    backward: Callable[..., None]
    register_hook: Callable[..., Any]
    register_post_accumulate_grad_hook: Callable[..., Any]
    retain_grad: Callable[[], None]
    _resize: Callable[[Sequence[int]], Tensor]
    _refresh: Callable[[], None]
    _kept: Callable[[], SavedOutput | None]

    @property
    def is_parameter(self) -> bool:
        return self._meta is not None and self._meta.is_parameter

    @property
    def requires_grad(self) -> bool:
        return bool(self._requires_grad)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if type(value) is not bool:
            raise RuntimeError("requires_grad must be a bool")
        if value and self._grad_fn is not None:  # of a view, as it was when it was last looked at
            raise RuntimeError("you can only change requires_grad flags of leaf variables.")
        self._track(value, "floating point and complex dtype")

    def _track(self, value: bool, differentiable: str) -> None:
        if self._grad_fn is not None and not value:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a "
                "computed variable in a subgraph that doesn't require differentiation use "
                "var_no_grad = var.detach()."
            )
        if value and not self._kind.differentiable:
            raise RuntimeError(f"only Tensors of {differentiable} can require gradients")
        if value:
            self._refuse_inference()
        if self._grad_fn is None:
            if self._meta is not None:
                set_mark(self, value)
            self._requires_grad = value or mark_of_base(self)
            if value and state.observer is not None:
                state.observer.required(self)

    def _refuse_inference(self) -> None:
        if self.is_inference() and not state.inference:
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not "
                "allowed."
            )

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        if TRANSFORMS.forbid is not None:
            TRANSFORMS.forbid("requires_grad_")
        as_bool(requires_grad, "requires_grad_", "requires_grad", 1)
        if requires_grad:
            self._refuse_inference()
        self._track(requires_grad, "floating point dtype")
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
        return self._meta is not None and self._meta.retains_grad

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

    @property
    def grad(self) -> Tensor | None:
        meta = self._meta
        grad = None if meta is None else meta.grad
        if grad is None and self._grad_fn is not None and not self.retains_grad:
            state.warn(NON_LEAF_GRAD)
        return grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            check_new_grad(self, value)
        if state.observer is not None:
            state.observer.assigned(self, value)
        self._need_meta().grad = value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    _grad = grad  # PyTorch's own name for it, which programs of several processes write to

    @property
    def data(self) -> Tensor:
        """The same memory outside the graph, with a version counter of its own."""
        out = plain(self._need_array(), self._kind)
        if self.is_inference():
            mark_inference(out)
        else:
            out._meta = out._storage = None
            if state.inside:
                state.inside(out, self)
        return out

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type_name(value)}")
        if (value.__class__ is RUNTIME.sparse) is not (self.__class__ is RUNTIME.sparse):
            raise RuntimeError(
                "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have "
                "incompatible tensor type."
            )
        if self.requires_grad and not value._kind.differentiable:
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or complex "
                "dtype"
            )
        if value._kind is not self._kind and self._meta is not None:
            self._meta.accumulator = None  # graphs of another type end in a node of their own
        self._data, self._kind, self._form = value._data, value._kind, None
        if state.observer is not None:
            state.observer.changed(self)

    def detach(self) -> Tensor:
        """The same memory and version counter outside the graph."""
        out = plain(self._need_array(), self._kind)
        if self.is_inference():
            mark_inference(out)
        else:
            out._meta, out._storage = None, self._need_storage()
            if state.inside:
                state.inside(out, self)
        return out

    def detach_(self) -> Tensor:
        if state.inference or self.is_inference():
            return self  # the graph is out of sight
        if self._base is not None:
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using "
                "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set "
                "as True, gradients are views of DDP buckets, and hence detach_() cannot be called "
                "on these gradients. To fix this error, please refer to the "
                "Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
            )
        if self._grad_fn is not None:
            storage = self._need_storage()  # the node that saved it has the same
            storage.version = DetachedVersion(storage.version)
        self._grad_fn, self._requires_grad, self._output_nr = None, False, 0
        if self._meta is not None:
            set_mark(self, False)
        return self

    def _need_meta(self) -> AutogradMeta:
        if self._meta is None:
            self._meta = AutogradMeta()
        return self._meta

    def _need_array(self) -> Array:
        """The array itself, for code that shares its memory; see `plain` on scalars."""
        if not isinstance(self._data, numpy.generic):
            return self._data
        self._data = numpy.asarray(self._data)
        kept = self._kept()
        if kept is not None:  # the node that saved it shares its memory from now on
            kept.data = self._data
        return self._data

    def _need_storage(self) -> Storage:
        """The version counter. A node that saved this result has it too: they must be one."""
        if self._storage is None:
            self._storage = self._kept() or Storage()
        return self._storage

    def _bump(self) -> None:
        storage = self._need_storage()
        storage.version += 1
        storage.changed_at = state.origin
        if state.watched and state.observer is not None:
            state.observer.changed(self)

    __hash__ = object.__hash__

    def __format__(self, spec: str) -> str:
        if self.is_parameter:  # of a class of its own in PyTorch
            if spec:
                raise TypeError("unsupported format string passed to Parameter.__format__")
            return str(self)
        if self._data.ndim == 0:
            return format(self._data.item(), spec)
        return object.__format__(self, spec)

    def __copy__(self) -> Tensor:
        """A leaf around the same memory, which counts versions of its own and has no gradient."""
        if self.__class__ is not Tensor:
            return self.clone()  # type: ignore[attr-defined]
        return self._as_leaf(plain(self._need_array(), self._kind))

    def _as_leaf(self, out: Tensor) -> Tensor:
        """Makes a copy a leaf as far as this tensor requires grad, and a parameter is one."""
        out._requires_grad = self.requires_grad
        if self.is_parameter:
            out._need_meta().is_parameter = True
        else:
            out._need_storage().version = 1  # PyTorch puts the memory into a new tensor by set_
        if self._meta is not None and self._meta.persistent is not None:
            out._need_meta().persistent = self._meta.persistent
        if out._requires_grad and state.observer is not None:
            state.observer.required(out)
        return out

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                "protocol at the moment.  If you were attempting to deepcopy a module, this may be "
                "because of a torch.nn.utils.weight_norm usage, see "
                "https://github.com/pytorch/pytorch/pull/103001"
            )
        out = self._as_leaf(plain(self._data.copy(), self._kind))
        if self._meta is not None and self._meta.grad is not None and not self.is_parameter:
            out._need_meta().grad = self._meta.grad.__deepcopy__(memo)
        return out


def plain(data: Array, kind: TensorType) -> Tensor:
    """A tensor outside any graph around an array of the kind's array type.

    On the CPU a 0-dim tensor holds a NumPy scalar as long as its memory is not shared: an operation
    on scalars costs a fifth of one on 0-dim arrays.
    """
    out: Tensor = object.__new__(Tensor)
    out._data, out._kind = data, kind
    out._requires_grad, out._grad_fn, out._output_nr = False, None, 0
    out._form = out._storage = out._meta = None
    if state.newborn:
        state.newborn(out)
    return out


def formed(*tensors: Tensor) -> bool:
    """Asks for the forms of tensors that were not asked before, and for what two of them give;
    may a call have gained by it?"""
    gained = False
    for tensor in tensors:
        if tensor._form is None:
            form = False if tensor._output_nr else form_of(tensor._data, tensor._kind)
            tensor._form = form
            gained = gained or form is not False
    if len(tensors) == 2:
        first, second = tensors[0]._form, tensors[1]._form
        if first and second and first is not second:
            assert isinstance(first, FastShape) and isinstance(second, FastShape)
            first.meet(second)
            return bool(first.beside[second])
    return gained


def write_into(tensor: Tensor, data: Any) -> None:
    """Gives a tensor's memory new values; an unshared scalar is simply replaced."""
    if tensor._kind.is_reduced:
        data = tensor._kind.settle(getattr(data, "real", data))
    if isinstance(tensor._data, numpy.generic):
        tensor._data = tensor._kind.array_dtype.type(
            data.item() if getattr(data, "ndim", 0) else data
        )
    else:
        tensor._data[...] = data


def wrap(data: Any, kind: TensorType) -> Tensor:
    """The same around whatever a kernel returned (NumPy decays 0-dim results to scalars)."""
    array = kind.xp.asarray(data, dtype=kind.array_dtype)
    return plain(kind.settle(array) if kind.is_reduced else array, kind)


def from_array(array: Array) -> Tensor:
    """A tensor around an array, which is not copied; type and device are the array's own."""
    kind = kind_of_array(array)
    return plain(array.astype(kind.array_dtype, copy=False), kind)


RUNTIME.tensor = Tensor
RUNTIME.tensors.add(Tensor)

PROPERTIES = metadata.ATTRIBUTES | {"grad", "data", "_base", "_grad", "volatile"}
METHODS = metadata.METHODS | frozenset(
    "requires_grad_ detach detach_ backward register_hook register_post_accumulate_grad_hook "
    "retain_grad item tolist _is_view new numpy storage untyped_storage share_memory_ is_nonzero "
    "apply_ map_ map2_ indices values".split()
)
