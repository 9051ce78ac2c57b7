"""Autograd: torch.autograd.Function: an operation whose backward the user writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..engine.catalogue import catalogue
from ..engine.causes import Freed
from ..engine.mode import state
from ..engine.node import CustomNode
from ..engine.row import CARRIERS
from ..engine.saved import check_given, freed
from ..engine.tensor import Tensor, edge_of, plain
from ..engine.views import rebase

_UNSET: Any = object()


class FunctionContext:
    """What forward leaves for backward: saved tensors, flags, anything the user sets on it."""

    def __init__(self) -> None:
        self.needs_input_grad: tuple[bool, ...] = ()
        self.materialize_grads = True
        self._saved: tuple[Any, ...] | Freed = ()
        self._node: FunctionNode | None = None
        self._versions: tuple[int, ...] = ()
        self._origin: object = None
        self._for_forward: tuple[Any, ...] = ()
        self._undifferentiable: tuple[Tensor, ...] = ()
        self._dirty: tuple[Tensor, ...] = ()

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        for value in tensors:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    "save_for_backward can only save variables, but argument "
                    f"{tensors.index(value)} is of type {type(value).__name__}"
                )
        self._saved = tensors
        self._versions = tuple(0 if t is None else t._version for t in tensors)
        self._origin = state.origin

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        if isinstance(self._saved, Freed):
            freed(self._node, self._saved)  # type: ignore[arg-type]  # freed by its node's release
        for value, version in zip(self._saved, self._versions, strict=True):
            if value is not None and not value.is_inference():
                check_given(value, version, self._origin)
        return self._saved

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """What jvp finds in saved_tensors."""
        for value in tensors:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    "save_for_forward can only save tensors, but argument "
                    f"{tensors.index(value)} is of type {type(value).__name__}"
                )
        self._for_forward = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        self._undifferentiable = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        self._dirty = tensors

    def set_materialize_grads(self, value: bool) -> None:
        self.materialize_grads = value


class FunctionNode(CustomNode):
    """The graph node of one application of a user's Function."""

    is_users = True
    __slots__ = ("context", "owner", "count", "kinds", "given")

    def __init__(
        self, owner: type[Function], context: FunctionContext, tensors: Sequence[Any]
    ) -> None:
        inputs = [t for t in tensors if isinstance(t, Tensor)]  # other arguments have no edge
        edges = tuple(map(edge_of, inputs))
        numbers = tuple(
            t._output_nr if e is not None else 0 for t, e in zip(inputs, edges, strict=True)
        )
        super().__init__(owner.__name__ + "Backward", edges, numbers if any(numbers) else None)
        self.owner, self.context, self.count = owner, context, 1
        self.kinds: list[Any] = []
        self.given = [(t._data.shape, t._kind) if isinstance(t, Tensor) else None for t in tensors]

    @property
    def outputs(self) -> int:
        return self.count

    @property
    def freed(self) -> bool:
        return self.context._saved.__class__ is Freed

    def kept(self) -> tuple[tuple[str, Any], ...]:
        saved = self.context._saved
        if isinstance(saved, Freed):
            return ()
        return tuple(("saved_tensors", value._data) for value in saved if value is not None)

    def release(self, mark: Freed) -> None:
        if self.context._saved:
            self.context._saved, self.context._node = mark, self

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        return self.context.saved_tensors

    def apply(self, grads: tuple[Any, ...], tensors: bool) -> tuple[Any, ...]:
        given = [
            self._given(grads[place] if place < len(grads) else None, kind, shape)
            for place, (kind, shape) in enumerate(self.kinds)
        ]
        before = state.grad_enabled
        state.grad_enabled = before and tensors  # tensors come without a graph too
        try:
            results = self.owner.backward(self.context, *given)
        finally:
            state.grad_enabled = before
        if not isinstance(results, tuple):
            results = (results,)
        expected = len(self.given)
        if len(results) < expected or any(result is not None for result in results[expected:]):
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected "
                f"{expected}, got {len(results)})"
            )
        found: list[Any] = []
        for place, result in enumerate(results[:expected]):
            if self.given[place] is not None:
                wanted = result is not None and self.edges[len(found)] is not None
                found.append(self._fitted(result, place, tensors) if wanted else None)
            elif result is not None:
                raise RuntimeError(
                    f"function {self.name()} returned a gradient different than None at position "
                    f"{place + 1}, but the corresponding forward input was not a Variable"
                )
        return tuple(found)

    def _fitted(self, value: Any, place: int, tensors: bool) -> Any:
        """A gradient that backward returned, brought to its input's shape and type."""
        if not isinstance(value, Tensor):
            raise RuntimeError(f"expected Variable or None (got {type(value).__name__})")
        given = self.given[place]
        assert given is not None  # it has an edge
        shape, kind = given
        if value._data.shape != shape:
            lead = value._data.ndim - len(shape)
            if lead < 0 or any(
                size not in (1, found)
                for size, found in zip(shape, value._data.shape[lead:], strict=True)
            ):
                raise RuntimeError(
                    f"Function {self.name()} returned an invalid gradient at index {place} - got "
                    f"{list(value._data.shape)} but expected shape compatible with {list(shape)}"
                )
            value = catalogue.methods["sum_to_size"](value, shape)
        if value._kind is not kind:
            value = catalogue.methods["to"](value, kind.dtype)
        return value if tensors else value._data

    def _given(self, grad: Any, kind: Any, shape: tuple[int, ...]) -> Tensor | None:
        if grad is None:
            if not self.context.materialize_grads:
                return None
            return plain(kind.xp.zeros(shape, dtype=kind.array_dtype), kind)
        return grad if isinstance(grad, Tensor) else plain(kind.xp.asarray(grad), kind)


class Function:
    """Base class of user functions: static forward(ctx, ...) or forward(...) with setup_context."""

    forward: Callable[..., Any] = _UNSET
    backward: Callable[..., Any] = _UNSET
    setup_context: Callable[..., Any] = _UNSET
    jvp: Callable[..., Any] = _UNSET
    vmap: Callable[..., Any] = _UNSET
    generate_vmap_rule: bool = False

    @classmethod
    def apply(cls, *args: Any) -> Any:
        if cls.forward is _UNSET:
            raise RuntimeError(
                "You must implement the forward function for custom autograd.Function."
            )
        if CARRIERS.levels:
            from .carried_function import apply

            return apply(cls, args)
        return cls.run(args)[0]

    @classmethod
    def run(cls, args: Sequence[Any]) -> tuple[Any, FunctionContext]:
        """One application to ordinary tensors; what forward left for jvp comes beside it."""
        context = FunctionContext()
        context.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        tracked = state.grad_enabled and any(context.needs_input_grad)
        node = FunctionNode(cls, context, args) if tracked else None
        before = state.grad_enabled
        state.grad_enabled = False
        try:
            if cls.setup_context is _UNSET:
                result = cls.forward(context, *args)
            else:
                result = cls.forward(*args)
                cls.setup_context(context, args, result)
        finally:
            state.grad_enabled = before
        outs = result if isinstance(result, tuple) else (result,)
        wrapped = tuple(
            cls._output(out, place, node, context, args) for place, out in enumerate(outs)
        )
        if node is not None:
            node.count = len(wrapped)
            node.kinds = [
                (o._kind, o._data.shape) if isinstance(o, Tensor) else (None, ()) for o in wrapped
            ]
            if len(wrapped) > 1:
                node.extra = list(node.kinds)
            if state.recorder is not None:
                state.recorder.operation(node, wrapped, args, None)
        return (wrapped if isinstance(result, tuple) else wrapped[0]), context

    @classmethod
    def _output(
        cls,
        out: Any,
        place: int,
        node: FunctionNode | None,
        context: FunctionContext,
        args: Sequence[Any],
    ) -> Any:
        if node is None or not isinstance(out, Tensor) or not out._kind.differentiable:
            return out
        if any(out is t for t in context._undifferentiable):
            return out
        if any(out is t for t in context._dirty):
            out._bump()
            rebase(out, node)
            return out
        if any(out is a for a in args):
            out = plain(out._need_array(), out._kind)
        out._requires_grad, out._grad_fn, out._output_nr = True, node, place
        out._form = None
        return out


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a backward that builds no graph of its own."""

    def run(context: FunctionContext, *grads: Any) -> Any:
        before = state.grad_enabled
        state.grad_enabled = False
        try:
            return function(context, *grads)
        finally:
            state.grad_enabled = before

    return run
