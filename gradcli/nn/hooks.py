"""Library: the hooks of a module: before and after forward, and around backward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..autograd.function_node import FunctionContext
from ..engine.mode import state
from ..engine.node import CustomNode
from ..engine.results import make_view
from ..engine.tensor import Tensor, edge_of, plain

if TYPE_CHECKING:
    from .module import Module


class BackwardHookNode(CustomNode):
    """Passes gradients through unchanged, so that hooks have a place to stand."""

    __slots__ = ("count",)

    is_users = True
    home = FunctionContext.home  # PyTorch's node is that of a Function

    count: int

    def apply(self, grads: tuple[Any, ...], tensors: bool) -> tuple[Any, ...]:
        """The gradients; zeros where none came, as a Function of PyTorch materializes them."""
        return tuple(
            self._zeros(place, tensors) if grad is None else grad
            for place, grad in enumerate(grads)
        )

    def _zeros(self, place: int, tensors: bool) -> Any:
        shape, kind = self.extra[place]
        zeros = kind.xp.zeros(shape, dtype=kind.array_dtype)
        return plain(zeros, kind) if tensors else zeros

    @property
    def outputs(self) -> int:
        return self.count


def through(tensors: list[Tensor]) -> tuple[list[Tensor], BackwardHookNode | None]:
    """The tensors again, as outputs of one node whose inputs they are."""
    asking = [t for t in tensors if t.requires_grad]
    if not asking:
        return tensors, None
    edges = tuple(edge_of(t) if t.requires_grad else None for t in tensors)
    numbers = tuple(t.output_nr if t.requires_grad else 0 for t in tensors)
    node = BackwardHookNode(
        "BackwardHookFunctionBackward", edges, numbers if any(numbers) else None
    )
    node.count = len(tensors)
    node.extra = [(t._data.shape, t._kind) for t in tensors]
    out = []
    for place, tensor in enumerate(tensors):
        new = plain(tensor._data, tensor._kind)
        new._storage, new._meta = None, None
        make_view(new, tensor, "function")  # as of a Function that returns its input
        if tensor.requires_grad:
            new._requires_grad, new._grad_fn, new._output_nr = True, node, place
        out.append(new)
    if state.observer is not None:
        for tensor in out:
            state.observer.made(tensor)
    if state.recorder is not None:
        state.recorder.operation(node, out, tensors, None)
    return out, node


_NO_INPUT_REQUIRES_GRAD = (
    "Full backward hook is firing when gradients are computed with respect to module outputs since "
    "no inputs require gradients. See "
    "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
    "#torch.nn.Module.register_full_backward_hook for more details."
)


class BackwardHook:
    """One call of a module whose backward pass the user's hooks want to see."""

    def __init__(self, module: Module, hooks: dict[int, Any], pre_hooks: dict[int, Any]) -> None:
        self.module, self.hooks, self.pre_hooks = module, dict(hooks), dict(pre_hooks)
        self.grad_outputs: Any = None
        self.inputs = self.outputs = 0
        self.input_places: list[int] | None = None
        self.output_places: list[int] = []

    def _around(self, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any, list[int]]:
        places = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
        new, node = through([values[i] for i in places])
        if node is None:
            return values, None, places
        changed = list(values)
        for place, tensor in zip(places, new, strict=True):
            changed[place] = tensor
        return tuple(changed), node, places

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        self.inputs = len(args)
        args, node, places = self._around(args)
        if node is not None:
            self.input_places = places
            node.register_hook(self._after)
        return args

    def leave(self, result: Any) -> Any:
        values = result if isinstance(result, tuple) else (result,)
        self.outputs = len(values)
        values, node, self.output_places = self._around(values)
        if node is not None:
            node.register_hook(self._before)
        return values if isinstance(result, tuple) else values[0]

    def _before(self, _: Any, grads: Any) -> Any:
        """At the output: remembers the incoming gradients, lets the pre-hooks change them."""
        self.grad_outputs = _spread(self.output_places, grads, self.outputs)
        for number, hook in self.pre_hooks.items():
            answer = self._call_hook("module pre", hook, number, self.grad_outputs)
            if answer is not None:
                self.grad_outputs = _tuple(answer)
        if self.input_places is None:
            state.warn(_NO_INPUT_REQUIRES_GRAD)
            for number, hook in self.hooks.items():
                nothing = (None,) * self.inputs
                answer = self._call_hook("module", hook, number, nothing, self.grad_outputs)
                if answer is not None and any(value is not None for value in _tuple(answer)):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always "
                        "return None or None for all gradients."
                    )
            grads_now, self.grad_outputs = self.grad_outputs, None
        else:
            grads_now = self.grad_outputs
        return tuple(grads_now[i] for i in self.output_places)  # None where none came

    def _after(self, grad_inputs: Any, _: Any) -> Any:
        if self.grad_outputs is None or self.input_places is None:
            return None
        given = _spread(self.input_places, grad_inputs, self.inputs)
        answer = None
        for number, hook in self.hooks.items():
            new = self._call_hook("module", hook, number, given, self.grad_outputs)
            if new is None:
                continue
            new = _tuple(new)
            if len(new) != len(given):
                raise RuntimeError(
                    "Backward hook returned an invalid number of grad_input, "
                    f"got {len(new)}, but expected {len(given)}"
                )
            given = answer = new
        self.grad_outputs = None
        return None if answer is None else tuple(answer[i] for i in self.input_places)

    def _call_hook(self, kind: str, hook: Any, number: int, given: Any, *more: Any) -> Any:
        """Calls one hook of the user's; the observer is told."""
        observer = state.observer
        if observer is None:
            return hook(self.module, given, *more)
        observer.hooking(kind, self.module, hook, number, given)
        answer = hook(self.module, given, *more)
        observer.hooked(kind, self.module, hook, number, given, answer)
        return answer

    # The nodes' hooks only call the module's, which are reported themselves.
    _before.stands_for = _after.stands_for = None  # type: ignore[attr-defined]


def _spread(places: list[int], values: Any, count: int) -> tuple[Any, ...]:
    out: list[Any] = [None] * count
    for place, value in zip(places, values, strict=True):
        out[place] = value
    return tuple(out)


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def call(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Runs forward with every registered hook, and notifies the observer."""
    observer = state.observer
    if observer is None:
        return _call(module, args, kwargs)
    observer.entering(module)
    try:
        return _call(module, args, kwargs)
    finally:
        observer.leaving(module)


def _call(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The hooks in PyTorch's order."""
    for hook, with_kwargs in list(module._forward_pre_hooks.values()):
        if with_kwargs:
            answer = hook(module, args, kwargs)
            if answer is not None:
                args, kwargs = answer
        else:
            answer = hook(module, args)
            if answer is not None:
                args = _tuple(answer)
    around = None
    if module._backward_hooks or module._backward_pre_hooks:
        around = BackwardHook(module, module._backward_hooks, module._backward_pre_hooks)
        args = around.enter(args)
    result = module.forward(*args, **kwargs)
    for hook, with_kwargs in list(module._forward_hooks.values()):
        answer = hook(module, args, kwargs, result) if with_kwargs else hook(module, args, result)
        if answer is not None:
            result = answer
    return result if around is None else around.leave(result)
