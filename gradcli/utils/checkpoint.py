"""Utils: torch.utils.checkpoint: a function that saves nothing and runs again on the way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from weakref import ref

from ..autograd.function import Function
from ..autograd.graph import saved_tensors_hooks
from ..engine.graph.leaf import refuse_inference
from ..engine.graph.node import Packed
from ..engine.passes.backward import backward
from ..engine.schema.carriers import RUNTIME
from ..engine.schema.errors import type_name
from ..engine.schema.mode import enable_grad, no_grad, state
from ..engine.schema.run_state import run_state
from ..engine.tensors.saved import DETACHED, check_unchanged, keep, taken
from ..engine.tensors.tensor import Tensor, plain
from ..nn.module import Module
from ..numerics.random import get_rng_state, set_rng_state

__all__ = [
    "CheckpointError", "CheckpointFunction", "checkpoint", "checkpoint_sequential",
    "detach_variable", "get_device_states", "noop_context_fn", "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop", "set_device_states",
]  # fmt: skip


class CheckpointError(RuntimeError):
    """What was computed again differs from what was computed first."""

    _torch_name = "torch.utils.checkpoint.CheckpointError"


class _Switches:
    """What the two switches of this module say; None leaves it to the call."""

    __slots__ = ("early_stop", "debug")

    def __init__(self) -> None:
        self.early_stop = True
        self.debug: bool | None = None


_switches = run_state(_Switches())


class _Switch:
    """A with statement that sets one of the switches."""

    switch = ""

    def __init__(self, enabled: bool | None) -> None:
        self.enabled = enabled

    def __enter__(self) -> None:
        kind = type(self)
        self.before = getattr(_switches, kind.switch)
        setattr(_switches, kind.switch, self.enabled)

    def __exit__(self, *error: object) -> None:
        setattr(_switches, type(self).switch, self.before)


class set_checkpoint_early_stop(_Switch):
    """Inside, recomputation goes to the end of the function, or stops once all is there again."""

    switch = "early_stop"


class set_checkpoint_debug_enabled(_Switch):
    """Accepted for PyTorch's sake: errors here say what they know in any case."""

    switch = "debug"


class _Nothing(nullcontext[None]):
    """A with statement that changes nothing."""

    PUBLIC: tuple[str, ...] = ()
    _torch_name = "contextlib.nullcontext"


def noop_context_fn() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
    return _Nothing(), _Nothing()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """function(*args), without its saved tensors: backward runs it a second time."""
    if use_reentrant is None:
        state.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. "
            "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an "
            "exception. use_reentrant=False is recommended, but if you need to preserve the "
            "current default behavior, you can pass use_reentrant=True. Refer to docs for more "
            "details on the differences between the two variants."
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs and use_reentrant:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if use_reentrant:
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError(
                "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
            )
        if not any(isinstance(value, Tensor) and value.requires_grad for value in args):
            state.warn("None of the inputs have requires_grad=True. Gradients will be None")
        return CheckpointFunction.apply(function, preserve, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"determinism_check should be one of ['default', 'none'], but got {determinism_check}"
        )
    stops = early_stop and _switches.early_stop
    first, again = context_fn()
    if not state.grad_enabled:
        return function(*args, **kwargs)
    frame = _Frame(function, args, kwargs, preserve, determinism_check == "default", stops)
    frame.again = again
    with saved_tensors_hooks(frame.pack, frame.unpack), first:
        return function(*args, **kwargs)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """A sequence of modules, all but the last segment of it checkpointed."""
    if use_reentrant is None:
        state.warn(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be "
            "passed explicitly. In version 2.9 we will raise an exception if use_reentrant is not "
            "passed. use_reentrant=False is recommended, but if you need to preserve the current "
            "default behavior, you can pass use_reentrant=True. Refer to docs for more details on "
            "the differences between the two variants."
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    steps = state.taken(functions.children() if isinstance(functions, Module) else functions)
    size, end = len(steps) // segments, -1

    def run(start: int, last: int) -> Callable[..., Any]:
        def forward(value: Any) -> Any:
            for step in steps[start : last + 1]:
                value = step(value)
            return value

        return forward

    for start in range(0, size * (segments - 1), size):
        end = start + size - 1
        input = checkpoint(
            run(start, end), input, use_reentrant=use_reentrant, preserve_rng_state=preserve
        )
    return run(end + 1, len(steps) - 1)(input)


# ---- use_reentrant=False: what is saved is thrown away, and computed when it is unpacked


class _Stop(Exception):
    """All that was saved is there again: the rest of the function is of no interest."""


class _Holder:
    """Stands in a node for a tensor that was not kept."""

    __slots__ = ("place", "__weakref__")

    def __init__(self, place: int) -> None:
        self.place = place


def is_result(value: Any) -> bool:
    return isinstance(value, Tensor) and not value.is_leaf


class _Frame:
    """One checkpointed call: how to run it again, and what its saved tensors looked like."""

    def __init__(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any],
        preserve: bool, check: bool, stops: bool,
    ) -> None:  # fmt: skip
        self.function, self.kwargs, self.origin = function, kwargs, state.origin
        self.check, self.stops = check, stops
        self.again: Any = nullcontext()
        self.random = get_rng_state() if preserve else None
        self.holders: list[ref[_Holder]] = []
        self.seen: list[dict[str, Any]] = []
        self.found: dict[int, Tensor] = {}
        # Each as a node would keep it, with its version; was it a result?
        self.args = [(*self._kept(value), is_result(value)) for value in args]

    def _kept(self, value: Any) -> tuple[Any, int]:
        if not isinstance(value, Tensor):
            return value, 0
        refuse_inference(value._need_storage())
        return keep(None, value)

    def _inputs(self) -> list[Any]:
        """What the function is called with again: what is kept of tensors, unless it changed."""
        found: list[Any] = []
        for value, version, was_result in self.args:
            if isinstance(value, Tensor):
                if was_result and value.is_leaf:
                    raise RuntimeError(DETACHED)
                check_unchanged(value, version)
            elif isinstance(value, Packed):
                value = taken(None, value, version, self.origin)
            found.append(value)
        return found

    def pack(self, tensor: Tensor) -> _Holder:
        holder = _Holder(len(self.holders))
        self.holders.append(ref(holder))
        self.seen.append(_metadata(tensor))
        return holder

    def unpack(self, holder: _Holder) -> Tensor:
        if holder.place not in self.found:
            self._run_again()
        return self.found.pop(holder.place)

    def _run_again(self) -> None:
        inputs = self._inputs()
        found: list[Tensor] = []
        before = get_rng_state()

        def pack(tensor: Tensor) -> Tensor:
            found.append(tensor.detach())
            if self.stops and len(found) == len(self.holders):
                raise _Stop
            return tensor.detach()

        try:
            if self.random is not None:
                set_rng_state(self.random)
            with saved_tensors_hooks(pack, lambda tensor: tensor), enable_grad(), self.again:
                self.function(*inputs, **self.kwargs)
        except _Stop:
            pass
        finally:
            if self.random is not None:
                set_rng_state(before)
        self._compare(found)
        self.found = dict(enumerate(found))

    def _compare(self, found: Sequence[Tensor]) -> None:
        """What was computed again must be as many tensors, and of the same kind."""
        if len(found) != len(self.seen):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation.\nNumber of tensors saved during forward: "
                f"{len(self.seen)}\nNumber of tensors saved during recomputation: {len(found)}."
                f"{_TIP}"
            )
        if not self.check:
            return
        different = [
            f"tensor at position {place}:\nsaved metadata: {before}\nrecomputed metadata: {now}\n"
            for place, (before, now) in enumerate(
                zip(self.seen, map(_metadata, found), strict=True)
            )
            if before != now
        ]
        if different:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have "
                "different metadata than during the forward pass.\n"
                + "".join(different)
                + "."
                + _TIP
            )


_TIP = (
    "\n\nTip: To see a more detailed error message, either pass `debug=True` to\n"
    "`torch.utils.checkpoint.checkpoint(...)` or wrap the code block\n"
    "with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to\n"
    "enable checkpoint\u2011debug mode globally.\n\n"
    "If this error occurs under torch.compile with automatic_dynamic_shapes enabled,\n"
    "it may be because the recomputation selected a different compiled graph than the\n"
    "forward pass (e.g., a dynamic graph instead of the original static graph).\n"
    "To fix this, either:\n"
    "  - Use torch._dynamo.mark_dynamic() to explicitly mark varying dimensions as\n"
    "    dynamic upfront, avoiding the static-to-dynamic transition.\n"
    "  - Call torch._C._dynamo.eval_frame._set_lru_cache(False) to disable LRU cache\n"
    "    reordering, which can change which graph is checked first between forward\n"
    "    and recompute.\n"
    "See https://github.com/pytorch/pytorch/issues/166926 for more details and\n"
    "workaround examples.\n"
)


def _metadata(tensor: Tensor) -> dict[str, Any]:
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


# ---- use_reentrant=True: one node that calls backward inside backward


class CheckpointFunction(Function):
    """Runs without a graph; its backward builds the graph, goes back through it, and forgets it."""

    @staticmethod
    def forward(ctx: Any, function: Any, preserve: bool, *args: Any) -> Any:
        ctx.function, ctx.preserve = function, preserve
        ctx.random = get_rng_state() if preserve else None
        ctx.inputs = [None if isinstance(value, Tensor) else value for value in args]
        ctx.places = [at for at, value in enumerate(args) if isinstance(value, Tensor)]
        ctx.save_for_backward(*(args[at] for at in ctx.places))
        with no_grad():
            return function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if state.full_backward is not None and state.full_backward.inputs is not None:
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the `inputs` "
                "argument."
            )
        inputs = list(ctx.inputs)
        for at, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            make = plain if tensor.__class__ is not RUNTIME.sparse else RUNTIME.around
            again = make(tensor._need_array(), tensor._kind)
            again._requires_grad = tensor.requires_grad
            inputs[at] = again
        before = get_rng_state()
        if ctx.random is not None:
            set_rng_state(ctx.random)
        with enable_grad():
            outputs = ctx.function(*inputs)
        if ctx.random is not None:
            set_rng_state(before)
        results = outputs if isinstance(outputs, tuple) else (outputs,)
        pairs = [
            (out, grad)
            for out, grad in zip(results, grads, strict=False)
            if isinstance(out, Tensor) and out.requires_grad
        ]
        if not pairs:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        with enable_grad():
            backward([out for out, _ in pairs], [grad for _, grad in pairs])
        given = tuple(value.grad if isinstance(value, Tensor) else None for value in inputs)
        return (None, None, *given)


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The random states of the devices that tensors are on; all draw from that of the CPU here."""
    return [], []


def set_device_states(
    devices: Sequence[int], states: Sequence[Tensor], *, device_type: str | None = None
) -> None:
    """Takes what get_device_states returned."""


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Leaves in the place of tensors, which require grad where these did."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            "Only tuple of tensors is supported. Got Unsupported input type: " + type_name(inputs)
        )
    return tuple(
        value.detach().requires_grad_(value.requires_grad) if isinstance(value, Tensor) else value
        for value in inputs
    )
