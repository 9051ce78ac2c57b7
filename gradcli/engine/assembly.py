"""Engine: attaches methods that need a higher floor than their class's.

No floor knows one above it. A class only names such a method, and this table attaches it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Any

from .compile import arrays, call, formula
from .graph.hooks import register_post_accumulate_hook, register_tensor_hook, retain_grad
from .graph.node import Node, SparseNode
from .graph.reduced import ReducedNode
from .passes.backward import backward_of_tensor
from .schema.carriers import RUNTIME, Body
from .schema.row import SPARSE, Factory, Inplace, Row
from .tensors.construct import new, new_alike
from .tensors.factories import run_factory
from .tensors.mapped import apply, map_other, map_others
from .tensors.saved import kept, kept_result
from .tensors.tensor import Tensor
from .tensors.text import text_of
from .tensors.views import refresh


def _run_in_place(twin: Inplace) -> Body:
    from .compile.inplace import run_of

    return run_of(twin)


def run_of_row(row: Row) -> Body:
    """The function that runs a row."""
    if row.layout == SPARSE:
        from .compile.sparse_call import specialise

        return specialise(row)
    return call.specialise(row)


def _resize(tensor: Tensor, sizes: Sequence[int]) -> Tensor:
    from .tensors.resize import resize

    return resize(tensor, sizes)


def _call_into(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    from .tensors.out_arguments import call_into

    return call_into(function, args, kwargs)


def _storage(tensor: Tensor) -> Any:
    from .tensors.typed_storage import storage_of

    return storage_of(tensor)


def _untyped_storage(tensor: Tensor) -> Any:
    return _storage(tensor).untyped()


def _share_memory(tensor: Tensor) -> Tensor:
    """With other processes, of which there are none."""
    return tensor


def _call_node(node: Node, *grads: Any, **named: Any) -> Any:
    from .passes.called import call_node

    return call_node(node, *grads, **named)


def _is_nonzero(tensor: Tensor) -> bool:
    return bool(tensor)


METHODS: tuple[tuple[type, str, Any], ...] = (
    (Tensor, "__new__", new),
    (Tensor, "new", new_alike),
    (Tensor, "__repr__", text_of),
    (Tensor, "backward", backward_of_tensor),
    (Tensor, "register_hook", register_tensor_hook),
    (Tensor, "register_post_accumulate_grad_hook", register_post_accumulate_hook),
    (Tensor, "retain_grad", retain_grad),
    (Tensor, "share_memory_", _share_memory),
    (Tensor, "is_nonzero", _is_nonzero),
    (Tensor, "apply_", apply),
    (Tensor, "map_", map_other),
    (Tensor, "map2_", map_others),
    (Tensor, "_resize", _resize),
    (Tensor, "storage", _storage),
    (Tensor, "untyped_storage", _untyped_storage),
    (Tensor, "_refresh", refresh),
    (Tensor, "_kept", kept_result),
    (Node, "__call__", _call_node),
    (Node, "kept", kept),
    (Node, "apply", formula.apply),
    (ReducedNode, "apply", formula.apply_reduced),
    (SparseNode, "apply", formula.apply_sparse),
    (Factory, "run", run_factory),
)
# Functions that are written from a declaration when they are first asked for.
WRITTEN: tuple[tuple[type, str, Any], ...] = (
    (Row, "run", run_of_row),
    (Row, "on_arrays", arrays.kernel_of),
    (Row, "written_backward", formula.specialise),
    (Row, "written_step", formula.specialise_step),
    (Inplace, "run", _run_in_place),
)


@cache
def assemble() -> None:
    """Makes the classes whole, before anybody looks at them."""
    RUNTIME.into = _call_into
    for owner, name, function in METHODS:
        function.__name__, function.__qualname__ = name, f"{owner.__name__}.{name}"
        setattr(owner, name, function)
    for owner, name, function in WRITTEN:
        written = cached_property(function)
        written.__set_name__(owner, name)
        setattr(owner, name, written)
