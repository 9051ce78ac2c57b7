"""Engine: tensors of a sparse layout.

A class of its own below the tensor, with a payload in the place of the array: every fast path asks
for exactly the class Tensor, so sparse tensors fall through to the end of the slow way
(`stand_ins`), where `sparse_call` waits, and ordinary ones are asked nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy

from ..graph.leaf import mark_inference
from ..memory.repr import PARAMETER
from ..memory.sparse_array import SparsePayload
from ..schema.carriers import RUNTIME
from ..schema.catalogue import catalogue
from ..schema.mode import state
from .tensor import Tensor, plain
from .tensor_type import Layout, TensorType, sparse_coo, sparse_csr, wrap_dim
from .text import sparse_text_of

NO_STORAGE = "Cannot access data pointer of Tensor that doesn't have storage"
_LAYOUTS = {layout.name: layout for layout in (sparse_coo, sparse_csr)}


class SparseTensor(Tensor):
    """A tensor that keeps only some of its elements; all others are zero."""

    __slots__ = ()

    _torch_name = "torch.Tensor"
    precedence = 0
    run_overload: Callable[..., Any]  # see `sparse_call`

    def stand_in(self) -> Tensor:
        """An ordinary tensor of the same shape and type, for code that needs no more than that."""
        element = numpy.zeros((), self._kind.array_dtype)
        return plain(numpy.broadcast_to(element, self._data.shape), self._kind)

    @property
    def layout(self) -> Layout:
        return _LAYOUTS[self._data.layout]

    @property
    def is_sparse(self) -> bool:  # type: ignore[override]
        return self._data.layout == sparse_coo.name

    @property
    def is_sparse_csr(self) -> bool:  # type: ignore[override]
        return self._data.layout == sparse_csr.name

    @property
    def nbytes(self) -> int:
        raise RuntimeError(
            "nbytes is not defined for sparse tensors.  If you want the size of the constituent "
            "tensors, add the nbytes of the indices and values.  If you want the size of the  "
            "equivalent dense tensor, multiply numel() by element_size()"
        )

    def stride(self, dim: int | None = None) -> Any:
        if not self.is_sparse:
            raise RuntimeError("Sparse CSR tensors do not have strides")
        return (0,) * self.ndim if dim is None else 0 * wrap_dim(dim, self.ndim)

    def storage_offset(self) -> int:
        return 0

    def is_contiguous(self, *, memory_format: Any = None) -> bool:
        return False

    def data_ptr(self) -> int:
        raise RuntimeError(NO_STORAGE)

    def untyped_storage(self) -> Any:
        raise NotImplementedError("Cannot access storage of SparseTensorImpl")

    storage = untyped_storage

    # ---- its elements

    def indices(self) -> Any:
        if not self.is_sparse:
            raise RuntimeError(
                f"indices expected sparse coordinate tensor layout but got {self._data.word}"
            )
        self._need_coalesced("indices")
        return catalogue.rows["_indices"].run(self)

    def values(self) -> Any:
        if self.is_sparse:
            self._need_coalesced("values")
        return catalogue.rows["sparse_values"].run(self)

    def _need_coalesced(self, name: str) -> None:
        if not self._data.is_coalesced:
            raise RuntimeError(
                f"Cannot get {name} on an uncoalesced tensor, please call .coalesce() first"
            )

    def item(self) -> Any:
        if self._data.size != 1:
            return super().item()
        return self._data.dense().item()

    def _only(self) -> Any:
        if self._data.size != 1:
            return super()._only()
        return self.item()

    def __bool__(self) -> bool:
        return bool(self.item()) if self._data.size == 1 else super().__bool__()

    def tolist(self) -> Any:
        raise RuntimeError(NO_STORAGE)

    def numpy(self, *, force: bool = False) -> Any:
        raise TypeError(
            f"can't convert {self._data.word} layout tensor to numpy. Use Tensor.to_dense() first."
        )

    def __dlpack__(self, **options: Any) -> Any:
        raise BufferError("Can't export tensors with layout other than torch.strided")

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of a 0-d tensor")
        return int(self._data.shape[0])

    def __iter__(self) -> Iterator[Tensor]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))  # type: ignore[attr-defined]

    def __getitem__(self, index: Any) -> Any:
        """Numbers, whole dimensions and new ones; PyTorch has no kernel for others."""
        out: Any = self
        place = 0
        given = index if index.__class__ is tuple else (index,)
        count = sum(item is not None and item is not ... for item in given)
        for item in given:
            if item is None:
                out, place = out.unsqueeze(place), place + 1
            elif item is ...:
                place += self.ndim - count
            elif item.__class__ is int:
                out = out.select(place, item)
            elif item.__class__ is slice:
                if item != slice(None):
                    raise _no_kernel("as_strided")
                place += 1
            else:
                raise _no_kernel("index.Tensor")
        return out

    def __setitem__(self, index: Any, value: Any) -> None:
        raise _no_kernel("as_strided")

    def __repr__(self) -> str:
        text = sparse_text_of(self)
        return PARAMETER + text if self.is_parameter else text

    def __format__(self, spec: str) -> str:
        return object.__format__(self, spec)

    # ---- the same outside the graph

    @property
    def data(self) -> Tensor:
        return sparse_tensor(self._data, self._kind)

    @data.setter
    def data(self, value: Tensor) -> None:
        Tensor.data.__set__(self, value)  # type: ignore[attr-defined]

    def detach(self) -> Tensor:
        out = sparse_tensor(self._data, self._kind)
        if not self.is_inference():
            out._storage = self._need_storage()
        return out

    def __copy__(self) -> Tensor:
        return sparse_tensor(self._data, self._kind)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if not self.is_leaf:
            return super().__deepcopy__(memo)
        out = sparse_tensor(self._data.copy(), self._kind)
        out._requires_grad = self.requires_grad
        if self._meta is not None and self._meta.grad is not None:
            out._need_meta().grad = self._meta.grad.__deepcopy__(memo)
        return out


SparseTensor.__name__ = Tensor.__name__  # PyTorch has one class, and messages name it


def _no_kernel(name: str) -> NotImplementedError:
    return NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the 'SparseCPU' backend."
    )


def sparse_tensor(data: SparsePayload, kind: TensorType) -> SparseTensor:
    """A sparse tensor outside any graph around a payload of the kind's element type."""
    out: SparseTensor = object.__new__(SparseTensor)
    out._data, out._kind = data, kind
    out._requires_grad, out._grad_fn, out._output_nr = False, None, 0
    out._form, out._storage, out._meta = False, None, None
    if state.inference:
        mark_inference(out)
    state.on_tensors = True
    return out


def around(data: Any, kind: TensorType) -> Tensor:
    """A tensor around what a kernel made, whether array or payload."""
    if isinstance(data, SparsePayload):
        return sparse_tensor(data, kind)
    data = kind.xp.asarray(data)
    return plain(data if data.dtype is kind.settled else kind.settle(data), kind)


RUNTIME.sparse, RUNTIME.payload = SparseTensor, SparsePayload
RUNTIME.tensors.add(SparseTensor)
RUNTIME.around = around
