"""Engine: torch.autograd.backward and grad: where a backward pass starts, and what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..graph.aside import hold
from ..graph.leaf import edge_of
from ..graph.node import Node
from ..graph.observer import NOBODY
from ..graph.reduced import is_met
from ..schema.carriers import TRANSFORMS
from ..schema.catalogue import catalogue
from ..schema.causes import Cause, Freed, because
from ..schema.errors import type_name
from ..schema.mode import state
from ..tensors.tensor import Tensor, plain
from .fast_backward import fast_backward, fast_grad, is_ordinary
from .hook_calls import charged

CREATE_GRAPH_WARNING = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter "
    "and its gradient which can cause a memory leak. We recommend using autograd.grad when "
    "creating the graph to avoid this. If you have to use this function, make sure to reset the "
    ".grad fields of your parameters to None after use to break the cycle and avoid the leak."
)


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """torch.autograd.backward: accumulates into the .grad of leaves (or of `inputs`)."""
    if TRANSFORMS.forbid is not None:
        TRANSFORMS.forbid("backward")
    roots = [tensors] if tensors.__class__ is Tensor else _listed(tensors)
    if grad_variables is not None:
        grad_tensors = _renamed(grad_tensors, grad_variables)
    if inputs is not None:
        inputs = _listed(inputs)
        if not inputs:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    gradients = _root_gradients(roots, _grads_of(roots, grad_tensors))
    if inputs is not None:
        for tensor in inputs:
            _check_input(tensor)
            tensor.retain_grad()
    if create_graph:
        state.warn(CREATE_GRAPH_WARNING)
    create_graph = create_graph or state.create_graph
    retain_graph = state.keep_graph or (create_graph if retain_graph is None else retain_graph)
    run_backward(roots, gradients, retain_graph, create_graph, inputs, capture=False)


def backward_of_tensor(
    tensor: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Tensor.backward"""
    backward(tensor, gradient, retain_graph, create_graph, inputs=inputs)


def _renamed(grad_tensors: Any, grad_variables: Any) -> Any:
    """The name that grad_tensors had once."""
    state.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning)
    if grad_tensors is not None:
        raise RuntimeError(
            "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
            "`backward()`. Please only use `grad_tensors`."
        )
    return grad_variables


def _check_input(tensor: Any) -> None:
    if not isinstance(tensor, Tensor):
        raise RuntimeError(
            "all inputs have to be Tensors or GradientEdges, but got " + type_name(tensor)
        )


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """torch.autograd.grad: gradients of outputs with respect to inputs; .grad stays as it is."""
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    roots, wanted = _listed(outputs), _listed(inputs)
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    if is_grads_batched:
        return _batched(
            roots, wanted, grad_outputs, retain_graph, create_graph, allow_unused, materialize_grads
        )
    gradients = _root_gradients(roots, _grads_of(roots, grad_outputs))
    for tensor in wanted:
        _check_input(tensor)
        if not tensor.requires_grad:
            message = "One of the differentiated Tensors does not require grad"
            raise _constant(message, tensor, wanted=True)
    create_graph = create_graph or state.create_graph
    retain_graph = state.keep_graph or (create_graph if retain_graph is None else retain_graph)
    results = None
    if TRANSFORMS.gradients is not None:
        results = TRANSFORMS.gradients(roots, wanted, gradients, create_graph, retain_graph)
    if results is None:
        results = run_backward(roots, gradients, retain_graph, create_graph, wanted, capture=True)
    for place, result in enumerate(results):
        if result is None and not allow_unused:
            message = (
                f"The differentiated Tensor at index {place} appears to not have been used in the "
                "graph. Set allow_unused=True if this is the desired behavior."
            )
            cause = Cause("unused", tensor=wanted[place], index=place)
            raise because(RuntimeError(message), cause)
    if materialize_grads:
        results = materialized(results, wanted, create_graph)
    if type(inputs) is dict:
        return dict(zip(inputs, results, strict=True))
    return tuple(results)


def _batched(
    roots: list[Tensor], wanted: list[Tensor], grad_outputs: Any, retain_graph: bool | None,
    create_graph: bool, allow_unused: bool, materialize_grads: bool,
) -> tuple[Tensor | None, ...]:  # fmt: skip
    """is_grads_batched: one ordinary pass per entry of the leading dimension, stacked."""
    gradients = _listed(grad_outputs)
    count = gradients[0].shape[0]
    retain_graph = create_graph if retain_graph is None else retain_graph
    passes = [
        grad(roots, wanted, [g[i] for g in gradients], retain_graph or i < count - 1, create_graph,
             allow_unused)
        for i in range(count)
    ]  # fmt: skip
    stack = catalogue.functions["stack"]
    results = [
        None if column[0] is None else stack(list(column)) for column in zip(*passes, strict=True)
    ]
    return tuple(materialized(results, wanted, create_graph) if materialize_grads else results)


def materialized(
    results: Sequence[Any], wanted: Sequence[Tensor], create_graph: bool
) -> list[Tensor]:
    """Zeros where no gradient came; those of a batched pass have no batch either."""
    zeros = catalogue.functions["zeros_like"]
    return [
        zeros(tensor, requires_grad=create_graph) if value is None else value
        for value, tensor in zip(results, wanted, strict=True)
    ]


def _listed(value: Any) -> list[Any]:
    if isinstance(value, Tensor) or hasattr(type(value), "standing"):
        value = [value]
    if type(value) is dict:
        value = value.values()
    if not isinstance(value, list | tuple):
        value = state.taken(value)
    # an edge of the graph stands for the tensor that it was taken from
    return [item.standing() if hasattr(type(item), "standing") else item for item in value]


def _grads_of(roots: Sequence[Tensor], given: Any) -> list[Any]:
    if given is None:
        return [None] * len(roots)
    return [given] if isinstance(given, Tensor) else state.taken(given)


def _root_gradients(roots: Sequence[Tensor], given: Sequence[Any]) -> list[Tensor]:
    """The gradients that the pass starts from, made or checked as PyTorch does."""
    out: list[Tensor] = []
    for place, (root, gradient) in enumerate(zip(roots, given)):
        if not isinstance(root, Tensor):
            raise AssertionError("Expected output to be a torch.Tensor")
        if gradient is None:
            kind = root._kind
            if root._requires_grad:
                if root._data.size != 1:
                    message = "grad can be implicitly created only for scalar outputs"
                    raise because(RuntimeError(message), Cause("root", tensor=root))
                if not kind.is_plain and not kind.dtype.is_floating_point:
                    raise RuntimeError(
                        "grad can be implicitly created only for real scalar outputs but got "
                        f"{root.dtype}"
                    )
            shape = root._data.shape
            whole = shape or not kind.is_plain
            # A number of its own: nodes that save it have that memory.
            one = kind.xp.ones(shape, dtype=kind.array_dtype) if whole else +kind.unit
            out.append(plain(one, kind))
            continue
        if not isinstance(gradient, Tensor):
            raise TypeError(
                f"gradients can be either Tensors or None, but got {type_name(gradient)}"
            )
        elif gradient.shape != root.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{place}] has a shape of {gradient.shape} and "
                f"output[{place}] has a shape of {root.shape}."
            )
        elif gradient._kind.dtype.is_complex != root._kind.dtype.is_complex:
            raise RuntimeError(
                "For complex Tensors, both grad_output and output are required to have the same "
                f"dtype. Mismatch in dtype: grad_output[{place}] has a dtype of {gradient.dtype} "
                f"and output[{place}] has a dtype of {root.dtype}."
            )
        elif gradient._kind.device is not root._kind.device and gradient.device != root.device:
            if gradient._data.ndim:
                raise RuntimeError(
                    f"invalid gradient at index {place} - expected device {root.device} but got "
                    f"{gradient.device}"
                )
            gradient = gradient.to(root.device)  # type: ignore[attr-defined]
        out.append(charged(gradient))
    if len(out) < len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(out)} gradients")
    for place, root in enumerate(roots):
        if not root._requires_grad or edge_of(root) is None:
            message = (
                f"element {place} of tensors does not require grad and does not have a grad_fn"
            )
            raise _constant(message, root)
    return out


def _constant(message: str, tensor: Tensor, *, wanted: bool = False) -> RuntimeError:
    """A root without a graph, or what a gradient is `wanted` for."""
    return because(RuntimeError(message), Cause("constant", tensor=tensor, wanted=wanted))


def run_backward(
    roots: Sequence[Tensor],
    gradients: Sequence[Tensor],
    retain_graph: bool,
    create_graph: bool,
    inputs: Sequence[Tensor] | None,
    capture: bool,
    tensors: bool = False,
) -> list[Any]:
    """Runs a pass with grad mode as create_graph asks for it; all is put back afterwards. With
    `tensors` gradients without a graph are tensors too."""
    if state.inference:
        state.hooked = True  # what is stored now can't be added to later: a pass ends at its leaf
    before = state.grad_enabled, state.inference
    origin, outer = state.origin, state.full_backward
    state.grad_enabled = create_graph
    tensors = tensors or create_graph
    tensors = tensors or (state.on_tensors and is_met([edge_of(root) for root in roots]))
    if state.aside is not None and not retain_graph:
        hold(map(edge_of, roots))
    listeners, observer = NOBODY, state.observer
    freed: list[Node] = []
    if observer is not None:
        observer.started(roots, gradients, retain_graph, create_graph, inputs, capture)
        listeners = observer.of_nodes()
    results = None
    try:
        if (listeners is NOBODY or listeners.is_free) and is_ordinary(tensors):
            if inputs is None:
                mark = Freed(origin)
                results = fast_backward(roots, gradients, retain_graph, mark, listeners, freed)
            elif capture and observer is None:
                results = fast_grad(inputs, roots, gradients, retain_graph, Freed(origin))
        if results is None:
            from .full_backward import FullBackward  # which most programs do without

            one = FullBackward(
                retain_graph=retain_graph, create_graph=create_graph, inputs=inputs,
                capture=capture, tensors=tensors, listeners=listeners, freed=freed,
            )  # fmt: skip
            state.full_backward = one
            results = one.run(roots, gradients)
    except BaseException:
        if observer is not None:
            observer.failed(freed)
        raise
    finally:
        state.grad_enabled, state.inference = before
        state.origin, state.full_backward = origin, outer
    if observer is not None:
        observer.walked(freed, retain_graph, create_graph)
    return results
