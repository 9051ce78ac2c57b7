"""Library: the hooks of a module: before and after forward, and around backward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..autograd.function_node import FunctionContext
from ..engine.compile.results import make_view
from ..engine.graph.leaf import edge_of
from ..engine.graph.node import CustomNode
from ..engine.passes.hook_calls import name_of
from ..engine.schema.carriers import RUNTIME
from ..engine.schema.class_name import name_in_messages
from ..engine.schema.errors import type_name
from ..engine.schema.mode import state
from ..engine.tensors.tensor import Tensor, plain

if TYPE_CHECKING:
    from .module import Module


class BackwardHookNode(CustomNode):
    """Passes gradients through unchanged, so that hooks have a place to stand."""

    __slots__ = ("count",)

    is_users = True
    _torch_home = FunctionContext._torch_home  # PyTorch's node is that of a Function

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
        if tensor.__class__ is RUNTIME.sparse:
            tensor.view(tensor.shape)  # type: ignore[attr-defined]  # refused, as by PyTorch
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
                what = "Backward pre hook returned an invalid number of grad_output"
                self.grad_outputs = _counted(answer, self.outputs, what)
        if self.input_places is None:
            state.warn(_NO_INPUT_REQUIRES_GRAD)
            for number, hook in self.hooks.items():
                nothing = (None,) * self.inputs
                answer = self._call_hook("module", hook, number, nothing, self.grad_outputs)
                if answer is not None and not (
                    isinstance(answer, tuple) and all(value is None for value in answer)
                ):
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
            if new is not None:
                what = "Backward hook returned an invalid number of grad_input"
                given = answer = _counted(new, self.inputs, what)
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
    _before.__name__ = _after.__name__ = "hook"  # as PyTorch's complaints call them


def _spread(places: list[int], values: Any, count: int) -> tuple[Any, ...]:
    out: list[Any] = [None] * count
    for place, value in zip(places, values, strict=True):
        out[place] = value
    return tuple(out)


def _counted(answer: Any, count: int, what: str) -> Any:
    """What a hook returned for the gradients, as many as there are."""
    if not isinstance(answer, (tuple, list, dict, set, str, Tensor)):
        raise TypeError(f"object of type '{type_name(answer)}' has no len()")
    if len(answer) != count:
        raise RuntimeError(f"{what}, got {len(answer)}, but expected {count}")
    return answer


class NodeHook:
    """A hook of register_backward_hook: it is at the node that made the result."""

    def __init__(self, hook: Any, module: Module) -> None:
        self.stands_for, self.module = hook, module
        self.__name__ = name_of(hook)

    def __call__(self, grad_inputs: Any, grad_outputs: Any) -> Any:
        return self.stands_for(self.module, grad_inputs, grad_outputs)


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
                args, kwargs = _both(module, answer)
        else:
            answer = hook(module, args)
            if answer is not None:
                args = _tuple(answer)
    around = None
    hooks = module._backward_hooks if module._is_full_backward_hook else {}
    if hooks or module._backward_pre_hooks:
        around = BackwardHook(module, hooks, module._backward_pre_hooks)
        args = around.enter(args)
    result = module.forward(*args, **kwargs)
    for hook, with_kwargs in list(module._forward_hooks.values()):
        answer = hook(module, args, kwargs, result) if with_kwargs else hook(module, args, result)
        if answer is not None:
            result = answer
    if around is not None:
        result = around.leave(result)
    if module._backward_hooks and not module._is_full_backward_hook:
        _at_the_node(module, args, result)
    return result


def _both(module: Module, answer: Any) -> tuple[Any, Any]:
    """The arguments and the keywords that a hook returned."""
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise RuntimeError(
            "forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got "
            f"{answer}."
        )
    if not isinstance(answer[1], dict):
        raise TypeError(
            f"{name_in_messages(type(module))}.forward() argument after ** must be a mapping, not "
            f"{type_name(answer[1])}"
        )
    return answer


def _at_the_node(module: Module, args: tuple[Any, ...], result: Any) -> None:
    """The hooks of register_backward_hook, and PyTorch's warning of what they will miss."""
    first = result
    while not isinstance(first, Tensor):
        if isinstance(first, dict):
            first = next(value for value in first.values() if isinstance(value, Tensor))
        else:
            first = first[0]
    node = first.grad_fn
    if node is None:
        return
    for hook in module._backward_hooks.values():
        node.register_hook(NodeHook(hook, module))
    missed = _missed(args, result if isinstance(result, tuple) else (result,), node)
    if missed:
        state.warn(missed, FutureWarning)


def _missed(args: tuple[Any, ...], results: tuple[Any, ...], node: Any) -> str:
    """What a hook at this node does not see of a module, in PyTorch's words."""
    using, fate = "Using non-full backward hooks on a Module", "will be removed in future versions."
    please = "Please use register_full_backward_hook to get the documented behavior."
    if not all(isinstance(value, Tensor) for value in results):
        return (
            f"{using} that does not return a single Tensor or a tuple of Tensors is deprecated and "
            f"{fate} This hook will be missing some of the grad_output. {please}"
        )
    if not all(isinstance(value, Tensor) for value in args):
        return (
            f"{using} that does not take as input a single Tensor or a tuple of Tensors is "
            f"deprecated and {fate} This hook will be missing some of the grad_input. {please}"
        )
    using = "Using a non-full backward hook when"
    made = {value.grad_fn for value in results if value.grad_fn is not None}
    if made == {node}:
        inputs = {value.grad_fn for value in args if value.grad_fn is not None}
        if inputs == {edge for edge, _ in node.next_functions}:
            return ""
        return (
            f"{using} the forward contains multiple autograd Nodes is deprecated and {fate} This "
            f"hook will be missing some grad_input. {please}"
        )
    if len(made) > 1:
        return (
            f"{using} outputs are generated by different autograd Nodes is deprecated and {fate} "
            f"This hook will be missing some grad_output. {please}"
        )
    return (
        f"{using} outputs are nested in python data structure is deprecated and {fate} This hook "
        "will be missing some grad_output."
    )
