"""Autograd: what one application of a user's Function leaves in the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..engine.compile.formula import fit_tensor
from ..engine.graph.leaf import edge_of
from ..engine.graph.node import CustomNode
from ..engine.passes.hook_calls import charged
from ..engine.schema.causes import Freed
from ..engine.schema.errors import type_name
from ..engine.schema.mode import state
from ..engine.tensors.saved import freed, keep, kept_array, taken
from ..engine.tensors.tensor import Tensor, plain

if TYPE_CHECKING:
    from .function import Function

UNSET: Any = object()  # what a Function has in the place of what its class does not define
_NO_BACKWARD = (
    "You must implement either the backward or vjp method for your custom autograd.Function to use "
    "it with backward mode AD."
)
_TWO_BACKWARDS = (
    "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
    "implement one of them."
)


class FunctionContext:
    """What forward leaves for backward: saved tensors, flags, anything the user sets on it.

    A name that the user invents, `ctx.scale = 2`, is kept apart from what it reads itself.
    """

    __slots__ = (
        "autocast", "kept", "materialize_grads", "needs_input_grad",
        "_dirty", "_for_forward", "_name", "_node", "_origin", "_saved", "_to_save",
        "_undifferentiable", "_versions",
    )  # fmt: skip

    def __init__(self, name: str = "") -> None:
        self.kept: dict[str, Any] = {}
        self.needs_input_grad: tuple[bool, ...] = ()
        self.materialize_grads = True
        self.autocast: tuple[bool, Any] = (False, None)  # as the forward found it: `amp.custom_fwd`
        self._name = name
        self._to_save: tuple[Any, ...] = ()
        self._saved: tuple[Any, ...] | Freed = ()
        self._node: FunctionNode | None = None
        self._versions: tuple[int, ...] = ()
        self._origin: object = None
        self._for_forward: tuple[Any, ...] = ()
        self._undifferentiable: tuple[Tensor, ...] = ()
        self._dirty: tuple[Tensor, ...] = ()

    _torch_home = "torch.autograd.function."

    def __setattr__(self, name: str, value: Any) -> None:
        if name in FunctionContext.__slots__:
            object.__setattr__(self, name, value)
        else:
            self.kept[name] = value

    def __getattr__(self, name: str) -> Any:
        if name in FunctionContext.__slots__ or name not in self.kept:
            raise AttributeError(f"'{self.type_name}' object has no attribute '{name}'")
        return self.kept[name]

    @property
    def type_name(self) -> str:
        return self._name + "Backward"

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot pickle '{self.type_name}' object")  # nor copied

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        self._to_save, self._origin = tensors, state.origin

    def save(self, node: FunctionNode) -> None:
        """After forward, what it asked to save is saved, as it is by then."""
        for place, value in enumerate(self._to_save):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {place} is of type "
                    f"{type_name(value)}"
                )
        pairs = [(None, 0) if value is None else keep(node, value) for value in self._to_save]
        self._saved, self._versions = tuple(v for v, _ in pairs), tuple(n for _, n in pairs)
        self._to_save, self._node = (), None

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        return self.read(self._node)

    def read(self, node: FunctionNode | None) -> tuple[Any, ...]:
        if isinstance(self._saved, Freed):
            freed(node, self._saved)  # type: ignore[arg-type]  # freed by its node's release
        return tuple(
            None if value is None else taken(node, value, version, self._origin)
            for value, version in zip(self._saved, self._versions, strict=True)
        )

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """What jvp finds in saved_tensors."""
        for value in tensors:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    "save_for_forward can only save tensors, but argument "
                    f"{tensors.index(value)} is of type {type_name(value)}"
                )
        self._for_forward = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        if not all(isinstance(tensor, Tensor) for tensor in tensors):  # PyTorch's words end there
            raise RuntimeError("mark_non_differentiable only accepts variable arguments, but got ")
        self._undifferentiable = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        if not all(isinstance(tensor, Tensor) for tensor in tensors):
            raise RuntimeError("mark_dirty can only accept variables, but argument ")
        self._dirty = tensors

    def set_materialize_grads(self, value: bool) -> None:
        self.materialize_grads = value


FunctionContext.__name__ = FunctionContext.__qualname__ = "FunctionCtx"  # PyTorch's base of them


class FunctionNode(CustomNode):
    """The graph node of one application of a user's Function."""

    is_users = True
    _torch_home = FunctionContext._torch_home
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

    def __getattr__(self, name: str) -> Any:
        """The node is the context too: what forward has set on that can be read here."""
        if name == "needs_input_grad":
            return self.context.needs_input_grad
        if name != "context" and name in self.context.kept:
            return self.context.kept[name]
        raise AttributeError(f"'{self.name()}' object has no attribute '{name}'")

    @property
    def outputs(self) -> int:
        return self.count

    @property
    def freed(self) -> bool:
        return self.context._saved.__class__ is Freed

    def kept(self) -> tuple[tuple[str, Any], ...]:
        saved = self.context._saved
        arrays = () if isinstance(saved, Freed) else map(kept_array, saved)
        return tuple(("saved_tensors", array) for array in arrays if array is not None)

    def release(self, mark: Freed) -> None:
        if self.context._saved:
            self.context._saved, self.context._node = mark, self

    @property
    def held(self) -> Any:
        return self.context._saved, self.context._node

    @held.setter
    def held(self, held: Any) -> None:
        self.context._saved, self.context._node = held

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        return self.context.read(self)

    def apply(self, grads: tuple[Any, ...], tensors: bool) -> tuple[Any, ...]:
        given = [
            self._as_gradient(grads[place] if place < len(grads) else None, kind, shape)
            for place, (kind, shape) in enumerate(self.kinds)
        ]
        before = state.grad_enabled
        state.grad_enabled = before and tensors  # tensors come without a graph too
        self.context._node = self  # while it runs: else the two would hold each other
        try:
            results = self._backward()(self.context, *given)
        finally:
            state.grad_enabled = before
            if not self.freed:
                self.context._node = None
        if not isinstance(results, tuple):
            results = (results,)
        expected = len(self.given)
        if len(results) < expected or any(result is not None for result in results[expected:]):
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected "
                f"{expected}, got {len(results)})"
            )
        return self._checked(results[:expected], tensors)

    def _backward(self) -> Callable[..., Any]:
        owner = self.owner
        if owner.backward is UNSET and owner.vjp is UNSET:
            raise NotImplementedError(_NO_BACKWARD)
        if owner.backward is not UNSET and owner.vjp is not UNSET:
            raise RuntimeError(_TWO_BACKWARDS)
        return owner.vjp if owner.backward is UNSET else owner.backward

    def _checked(self, results: Sequence[Any], tensors: bool) -> tuple[Any, ...]:
        """One gradient or None for each input that is a tensor, converted to its shape and type."""
        found: list[Any] = []
        for place, (result, given) in enumerate(zip(results, self.given, strict=True)):
            if given is None:
                if result is not None:
                    raise RuntimeError(
                        f"function {self.name()} returned a gradient different than None at "
                        f"position {place + 1}, but the corresponding forward input was not a "
                        "Variable"
                    )
                continue
            if result is not None:
                if not isinstance(result, Tensor):
                    raise RuntimeError(f"expected Variable or None (got {type_name(result)})")
                if self.edges[len(found)] is not None:
                    result = fit_tensor(charged(result), self, len(found), *given)
                result = result if tensors else result._data
            found.append(result)
        return tuple(found)

    def _as_gradient(self, grad: Any, kind: Any, shape: tuple[int, ...]) -> Tensor | None:
        if grad is None:
            if not self.context.materialize_grads or kind is None:
                return None
            return plain(kind.xp.zeros(shape, dtype=kind.array_dtype), kind)
        return grad if isinstance(grad, Tensor) else plain(kind.xp.asarray(grad), kind)


class DelayedError(CustomNode):
    """Where the gradients of a backward begin that cannot be differentiated itself."""

    __slots__ = ("message",)

    def __init__(self, message: str, tensors: Sequence[Tensor | None]) -> None:
        edges = tuple(None if t is None else edge_of(t) for t in tensors)
        super().__init__("torch::autograd::Error", edges, None)
        self.message = message

    def apply(self, grads: tuple[Any, ...], tensors: bool) -> tuple[Any, ...]:
        raise RuntimeError(self.message)
