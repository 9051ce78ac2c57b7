"""Autograd: torch.autograd.Function: an operation whose backward the user writes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ..engine.schema.carriers import RUNTIME, TRANSFORMS
from ..engine.schema.catalogue import catalogue
from ..engine.schema.class_name import NamedInTorch
from ..engine.schema.mode import state
from ..engine.tensors.autograd_meta import set_mark
from ..engine.tensors.tensor import Tensor, plain
from ..engine.tensors.views import rebase
from .function_node import UNSET, DelayedError, FunctionContext, FunctionNode

__all__ = ["Function", "FunctionContext", "FunctionNode", "once_differentiable"]

_LEGACY = (
    "Legacy autograd function with non-static forward method is deprecated. Please use new-style "
    "autograd function with static forward method. (Example: "
    "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
)
_NOT_RETURNED = (
    "Some elements marked as dirty during the forward method were not returned as output. The "
    "inputs that are modified inplace must all be outputs of the Function."
)
_NOT_AN_INPUT = (
    "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been "
    "mutated should be passed to ctx.mark_dirty()."
)
_SAVED_AS_IT_CAME = (
    "An input that has been returned as-is as output is being saved for backward. This is not "
    "supported if you override setup_context. You should return and save a view of the input "
    "instead, e.g. with x.view_as(x) or setup ctx inside the forward function itself."
)
_VIEW_AND_MORE = (
    "If your Function modifies inplace an input that is a view of another Tensor, your Function "
    "cannot return more than one Tensor. This is not supported by the current autograd engine. You "
    "should either make sure the input is not a view (using .clone() for example) or make your "
    "Function only return one Tensor (potentially splitting it into two Functions: one doing the "
    "inplace that returns a single Tensor and a second one that does the other operations). You "
    "can ask on the forum https://discuss.pytorch.org/ if you need help to do this change."
)


class Function(metaclass=NamedInTorch):
    """Base class of user functions: static forward(ctx, ...) or forward(...) with setup_context."""

    forward: Callable[..., Any] = UNSET
    backward: Callable[..., Any] = UNSET
    setup_context: Callable[..., Any] = UNSET
    vjp: Callable[..., Any] = UNSET
    jvp: Callable[..., Any] = UNSET
    vmap: Callable[..., Any] = UNSET
    generate_vmap_rule: bool = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(_LEGACY)

    @staticmethod
    def bound(function: Callable[..., Any], args: Any, kwargs: Any) -> tuple[Any, ...]:
        """The positional arguments of a call, defaults filled in."""
        found = inspect.signature(function).bind(*args, **kwargs)
        found.apply_defaults()
        return found.args

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        if cls.forward is UNSET:
            raise NotImplementedError(
                "You must implement the forward function for custom autograd.Function."
            )
        if cls.setup_context is not UNSET:
            args, kwargs = cls.bound(cls.forward, args, kwargs), {}
        if TRANSFORMS.levels:
            from .carried_function import apply

            return apply(cls, args)
        return cls.run(args, kwargs)[0]

    @classmethod
    def run(
        cls, args: Sequence[Any], kwargs: dict[str, Any] | None = None
    ) -> tuple[Any, FunctionContext]:
        """One application to ordinary tensors; what forward left for jvp comes beside it.

        Only positional arguments are inputs.
        """
        context = FunctionContext(cls.__name__)
        context.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        tracked = state.grad_enabled and any(context.needs_input_grad)
        node = FunctionNode(cls, context, args) if tracked else None
        before, origin = state.grad_enabled, state.origin
        state.grad_enabled = False
        try:
            if cls.setup_context is UNSET:
                result = cls.forward(context, *args, **(kwargs or {}))
            else:
                result = cls.forward(*args)
                cls.setup_context(context, args, result)
        finally:
            state.grad_enabled = before
        state.origin = (
            origin  # what the library does next belongs to the expression that applied it
        )
        outs = result if isinstance(result, tuple) else (result,)
        found = _Outputs(node, context, args, outs)
        if cls.setup_context is not UNSET:
            found.check_saved()
        wrapped = found.all()
        if node is not None:
            context.save(node)
            if state.observer is not None:
                for out in wrapped:
                    if isinstance(out, Tensor):
                        state.observer.made(out)
            if state.recorder is not None:
                state.recorder.operation(node, wrapped, args, None)
        return (wrapped if isinstance(result, tuple) else wrapped[0]), context


InplaceFunction = Function  # what older programs build on


class _Outputs:
    """What forward returned, on its way into the graph."""

    def __init__(
        self, node: FunctionNode | None, context: FunctionContext, args: Sequence[Any], outs: Any
    ) -> None:
        self.node, self.context, self.outs = node, context, outs
        self.inputs = {id(a) for a in args if isinstance(a, Tensor)}
        self.dirty = {id(t) for t in context._dirty}
        self.constant = {id(t) for t in context._undifferentiable}

    def all(self) -> tuple[Any, ...]:
        for tensor in self.context._dirty:
            tensor._bump()
        self._prepare()
        wrapped = tuple(
            self._one(out, place) if isinstance(out, Tensor) else out
            for place, out in enumerate(self.outs)
        )
        if not self.dirty <= {id(out) for out in self.outs}:
            raise RuntimeError(_NOT_RETURNED)
        followed = [out for out in self.outs if self._is_followed(out)]
        if len(followed) > 1:
            for out in wrapped:
                _forbid_changes(out, "multi")
        return wrapped

    def check_saved(self) -> None:
        """Refuses an input that is saved under the name of the output that it is."""
        own = self.inputs - self.dirty - self.constant
        saved = own.intersection(map(id, self.context._to_save))
        if any(id(out) in saved and out._kind.differentiable for out in self.outs):
            raise RuntimeError(_SAVED_AS_IT_CAME)

    def _prepare(self) -> None:
        """What the node records about its outputs."""
        node = self.node
        if node is not None:
            node.count = len(self.outs)
            node.kinds = [
                (o._kind, o._data.shape) if isinstance(o, Tensor) else (None, ()) for o in self.outs
            ]
            if node.count > 1:
                node.extra = list(node.kinds)

    def _is_followed(self, out: Any) -> bool:
        """Does a gradient come back for it?"""
        return (
            self.node is not None
            and isinstance(out, Tensor)
            and out._kind.differentiable
            and id(out) not in self.constant
        )

    def _one(self, out: Tensor, place: int) -> Tensor:
        given, changed = id(out) in self.inputs, id(out) in self.dirty
        if not self._is_followed(out):
            if not out.requires_grad:
                out = _as_view(out) if given and not changed else out
            elif given or out._base is None:
                out = out.detach() if given else out.detach_()
        elif changed:
            self._change(out, place, given)
        else:
            if given:
                out = _as_view(out)
            out._requires_grad, out._grad_fn, out._output_nr = True, self.node, place
            out._form = None
            if out._meta is not None and out._meta.base is not None and out._storage is not None:
                out._meta.view_version = out._storage.version  # as forward has left it
        if not (given and changed):
            _forbid_changes(out, "function")
        return out

    def _change(self, out: Tensor, place: int, given: bool) -> None:
        """An input that forward changed in place has its history here now."""
        node = self.node
        assert node is not None
        if out._grad_fn is None and out._requires_grad is True:
            raise RuntimeError(
                "a leaf Variable that requires grad has been used in an in-place operation."
            )
        if not given:
            state.warn(_NOT_AN_INPUT)
        if out._base is not None:
            if len(self.outs) > 1:
                raise RuntimeError(_VIEW_AND_MORE)
            rebase(out, node)
            return
        if out._meta is not None:
            out._meta.grad = out._meta.hooks = None
        out._requires_grad, out._grad_fn, out._output_nr = True, node, place
        out._form = None
        set_mark(out, True)


def _as_view(tensor: Tensor) -> Tensor:
    """An input that is returned as it came: the same memory, as a tensor of its own."""
    before = state.grad_enabled
    state.grad_enabled = False
    try:
        return catalogue.methods["view_as"](tensor, tensor)
    finally:
        state.grad_enabled = before


def _forbid_changes(out: Any, creation: str) -> None:
    """Views that a Function returns must not change in place: its backward would be passed by."""
    if isinstance(out, Tensor) and out._meta is not None and out._meta.base is not None:
        out._meta.creation = creation


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a backward that builds no graph of its own."""

    @functools.wraps(function)
    def wrapper(ctx: FunctionContext, *grads: Any) -> Any:
        before = state.grad_enabled
        state.grad_enabled = False
        try:
            results = function(ctx, *grads)
        finally:
            state.grad_enabled = before
        if not before or not any(isinstance(g, Tensor) and g.requires_grad for g in grads):
            return results
        results = results if isinstance(results, tuple) else (results,)
        message = (
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )
        node = DelayedError(message, [None if r is None else _leaf(r) for r in results])
        outs = []
        for place, result in enumerate(results):
            if result is not None:
                result = _leaf(result)
                result._requires_grad, result._grad_fn, result._output_nr = True, node, place
            outs.append(result)
        return tuple(outs)

    return wrapper


def _leaf(value: Tensor) -> Tensor:
    make = plain if value.__class__ is not RUNTIME.sparse else RUNTIME.around
    out: Tensor = make(value._need_array(), value._kind)
    out._requires_grad = True
    return out
