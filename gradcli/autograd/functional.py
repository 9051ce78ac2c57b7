"""Library: torch.autograd.functional: Jacobians, Hessians and their products with vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine.graph.leaf import edge_of
from ..engine.schema.mode import enable_grad, set_grad_enabled, state
from ..engine.tensors.tensor import Tensor
from ..operators import catalogue
from .whole_jacobian import all_rows, forward_hessian, forward_jacobian

__all__ = ["vjp", "jvp", "vhp", "hvp", "jacobian", "hessian"]


def _tuple(value: Any, role: str, function: str) -> tuple[bool, tuple[Any, ...]]:
    """(was it a tuple, the tensors); PyTorch's TypeError for anything but tensors."""
    several = isinstance(value, tuple)
    values = value if several else (value,)
    for place, item in enumerate(values):
        if not isinstance(item, Tensor):
            which = f"value at index {place}" if several else f"given {role}"
            raise TypeError(
                f"The {role} given to {function} must be either a Tensor or a tuple of Tensors but "
                f"the {which} has type {type(item)}."
            )
    return several, values


_OUTPUTS = "outputs of the user-provided function"


def _tracked(inputs: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
    """The inputs as tensors that require a gradient, of their own or as part of a larger graph."""
    return tuple(
        given.view_as(given)
        if create_graph and given.requires_grad
        else given.detach().requires_grad_(True)
        for given in inputs
    )


def _released(value: Any, create_graph: bool) -> Any:
    """Results leave the graph unless the caller asked for one."""
    if isinstance(value, tuple):
        return tuple(_released(item, create_graph) for item in value)
    return value if create_graph else value.detach()


def _must_require(values: Any, strict: bool, what: str) -> None:
    """In strict mode everything on the way has to depend on the inputs."""
    if not strict:
        return
    for place, value in enumerate(values):
        if value is None:
            raise RuntimeError(_INDEPENDENT["back"].format(place=place))
        if not value.requires_grad:
            raise RuntimeError(_CONSTANT[what].format(place=place))


_CONSTANT = {
    "outputs": (
        "Output {place} of the user-provided function does not require gradients. The outputs must "
        "be computed in a differentiable manner from the input when running in strict mode."
    ),
    "grad_inputs": (
        "The gradient with respect to input {place} is independent of the inputs of the "
        "user-provided function. This is not allowed in strict mode."
    ),
    "jacobian": (
        "While computing the hessian, found that the jacobian of the user-provided function with "
        "respect to input {place} is independent of the input. This is not allowed in strict mode. "
        "You should ensure that your function is twice differentiable and that the jacobian "
        "depends on the inputs (this would be violated by a linear function for example)."
    ),
    "hessian": (
        "The hessian of the user-provided function with respect to input {place} is independent of "
        "the input. This is not allowed in strict mode. You should ensure that your function is "
        "thrice differentiable and that the hessian depends on the inputs."
    ),
}


def _gradients(
    outputs: tuple[Any, ...], inputs: tuple[Any, ...], vectors: tuple[Any, ...],
    create_graph: bool,
) -> list[Any]:  # fmt: skip
    """autograd.grad that takes outputs outside the graph: their part is None."""
    from . import grad

    pairs = [
        (output, vector)
        for output, vector in zip(outputs, vectors, strict=True)
        if output is not None and output.requires_grad
    ]
    if not pairs:
        return [None] * len(inputs)
    return list(
        grad(
            tuple(output for output, _ in pairs),
            inputs,
            tuple(vector for _, vector in pairs),
            allow_unused=True,
            create_graph=create_graph,
        )
    )


def _filled(
    grads: list[Any], like: tuple[Any, ...], strict: bool, stage: str, create_graph: bool = False
) -> tuple[Any, ...]:
    """None becomes zeros, or strict mode's error."""
    out = []
    for place, (grad, given) in enumerate(zip(grads, like, strict=True)):
        if grad is None:
            if strict:
                raise RuntimeError(_INDEPENDENT[stage].format(place=place))
            grad = given.new_zeros(tuple(given.shape))
        elif strict and create_graph and not grad.requires_grad:
            found = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(
                f"The {found} of the user-provided function is independent of input {place}. This "
                "is not allowed in strict mode when create_graph=True."
            )
        out.append(grad)
    return tuple(out)


_INDEPENDENT = {
    "back": (
        "The output of the user-provided function is independent of input {place}. This is not "
        "allowed in strict mode."
    ),
    "back_trick": (
        "The gradient with respect to the input is independent of entry {place} in the "
        "grad_outputs when using the double backward trick to compute forward mode gradients. "
        "This is not "
        "allowed in strict mode."
    ),
    "double_back": (
        "The jacobian of the user-provided function is independent of input {place}. This is not "
        "allowed in strict mode."
    ),
    "double_back_trick": (
        "The hessian of the user-provided function is independent of entry {place} in the "
        "grad_jacobian. This is not allowed in strict mode as it prevents from using the double "
        "backward trick to "
        "replace forward mode AD."
    ),
}


def _vectors(v: Any, like: tuple[Any, ...], several: bool, what: str, name: str) -> Any:
    """The vector(s) given, of the sizes of `like`; ones for a single number."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            reason = (
                "The vector v can only be None if the user-provided function returns a single "
                "Tensor with a single element."
                if what == "output"
                else "The vector v can only be None if the input to the user-provided function is "
                "a single Tensor with a single element."
            )
            raise RuntimeError(reason)
        return tuple(catalogue.functions["ones_like"](item) for item in like)
    _, given = _tuple(v, "v", name)
    if len(given) != len(like):
        if several:
            raise RuntimeError(
                f"v is a tuple of invalid length: should be {len(like)} but got {len(given)}."
            )
        raise RuntimeError("The given v should contain a single Tensor.")
    for place, (vector, item) in enumerate(zip(given, like, strict=True)):
        if tuple(vector.shape) != tuple(item.shape):
            head = f"Entry {place} in " if several else ""
            raise RuntimeError(
                f"{head}v has invalid size: should be {item.shape!r} but got {vector.shape!r}."
            )
    return given


def _called(
    func: Callable[..., Any], inputs: tuple[Any, ...], strict: bool, name: str
) -> tuple[bool, tuple[Any, ...]]:
    """Whether it returns several tensors, and these."""
    several, outputs = _tuple(func(*inputs), _OUTPUTS, name)
    _must_require(outputs, strict, "outputs")
    return several, outputs


def _slopes(outputs: tuple[Any, ...], inputs: tuple[Any, ...], strict: bool) -> tuple[Any, ...]:
    """The gradients of a number, in a graph of their own."""
    ones = tuple(catalogue.functions["ones_like"](output.detach()) for output in outputs)
    slopes = tuple(_gradients(outputs, inputs, ones, True))
    _must_require(slopes, strict, "jacobian")
    return slopes


def _probed(
    outputs: tuple[Any, ...], like: tuple[Any, ...], inputs: tuple[Any, ...], strict: bool,
    what: str,
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:  # fmt: skip
    """Gradients of the outputs, 0 and tracked, and those of the inputs, which are linear in them:
    a pass back from these is the derivative forward. `like` has the sizes of the outputs."""
    zeros = (catalogue.functions["zeros_like"](one.detach()) for one in like)
    probes = tuple(zero.requires_grad_(True) for zero in zeros)
    reached = tuple(_gradients(outputs, inputs, probes, True))
    _must_require(reached, strict, what)
    return probes, reached


def vjp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """(func(inputs), the product of v with the Jacobian)."""
    with enable_grad():
        several, given = _tuple(inputs, "inputs", "vjp")
        tracked = _tracked(given, create_graph)
        several_out, outputs = _called(func, tracked, strict, "vjp")
        vectors = _vectors(v, outputs, several_out, "output", "vjp")
    with _mode(create_graph):
        grads = _gradients(outputs, tracked, vectors, create_graph)
        products = _filled(grads, tracked, strict, "back", create_graph)
    return _answer(outputs, several_out, create_graph), _answer(products, several, create_graph)


def jvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """(func(inputs), the product of the Jacobian with v), by two backward passes."""
    with enable_grad():
        several, given = _tuple(inputs, "inputs", "jvp")
        tracked = _tracked(given, create_graph)
        vectors = _vectors(v, tracked, several, "input", "jvp")
        several_out, outputs = _called(func, tracked, strict, "jvp")
        probes, reached = _probed(outputs, outputs, tracked, strict, "grad_inputs")
    with _mode(create_graph):
        answer = _gradients(reached, probes, vectors, create_graph)
        products = _filled(answer, outputs, strict, "back_trick", create_graph)
    return _answer(outputs, several_out, create_graph), _answer(products, several_out, create_graph)


def _mode(create_graph: bool) -> set_grad_enabled:
    """Recording, where the result shall be part of a graph; as it was otherwise."""
    return set_grad_enabled(bool(create_graph) or state.grad_enabled)


def _answer(values: tuple[Any, ...], several: bool, create_graph: bool) -> Any:
    values = _released(tuple(values), create_graph)
    return values if several else values[0]


def jacobian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The derivative of every output element by every input element."""
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your '
            'function has more outputs than inputs, "forward-mode" tends to be more performant. '
            'Otherwise, prefer to use "reverse-mode".'
        )
    if strict and vectorize:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not "
            "supported together. Please either set `strict=False` or `vectorize=False`."
        )
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                "torch.autograd.functional.jacobian: `create_graph=True` and "
                '`strategy="forward-mode"` are not supported together (yet). Please either set '
                '`create_graph=False` or `strategy="reverse-mode"`.'
            )
        return forward_jacobian(func, inputs, strict, vectorize)
    with enable_grad():
        several, given = _tuple(inputs, "inputs", "jacobian")
        tracked = _tracked(given, create_graph)
        several_out, outputs = _called(func, tracked, strict, "jacobian")
        for output in () if vectorize else outputs:
            if output.requires_grad and output.dtype.is_complex:
                raise RuntimeError(
                    "grad can be implicitly created only for real scalar outputs but got "
                    f"{output.dtype}"
                )
        # Whoever observes is to see that PyTorch goes back row by row.
        whole = not strict and (vectorize or state.observer is None)
        rows = tuple(
            (whole and _whole(output, tracked, create_graph, place + 1 < len(outputs)))
            or _rows(output, place, tracked, create_graph, strict)
            for place, output in enumerate(outputs)
        )
    rows = _released(rows, create_graph)
    if several_out:
        return rows if several else tuple(row[0] for row in rows)
    return rows[0] if several else rows[0][0]


def _whole(
    output: Any, inputs: tuple[Any, ...], create_graph: bool, more: bool
) -> tuple[Any, ...] | None:
    """The gradients of all elements of an output in one pass; nothing where it can't be done."""
    if edge_of(output) is None or output.numel() < 2:
        return None
    return all_rows(output, inputs, create_graph, create_graph or more)


def _rows(
    output: Any, number: int, inputs: tuple[Any, ...], create_graph: bool, strict: bool
) -> tuple[Any, ...]:
    """The gradients of all elements of an output, stacked to the Jacobian's shape."""
    pieces: tuple[list[Any], ...] = tuple([] for _ in inputs)
    flat = output.reshape([output.numel()])
    for element in range(output.numel()):
        grads = _element_gradients(flat[element], inputs, create_graph)
        for place, (grad, given) in enumerate(zip(grads, inputs, strict=True)):
            if grad is not None:
                if strict and create_graph and not grad.requires_grad:
                    raise RuntimeError(
                        "The jacobian of the user-provided function is independent of input "
                        f"{place}. This is not allowed in strict mode when create_graph=True."
                    )
                pieces[place].append(grad)
                continue
            if strict:
                raise RuntimeError(
                    f"Output {number} of the user-provided function is independent of input "
                    f"{place}. This is not allowed in strict mode."
                )
            pieces[place].append(given.detach().new_zeros(tuple(given.shape)))
    stack = catalogue.functions["stack"]
    return tuple(
        stack(piece, dim=0).view([*output.shape, *given.shape])
        for piece, given in zip(pieces, inputs, strict=True)
    )


def _element_gradients(element: Any, inputs: tuple[Any, ...], create_graph: bool) -> Any:
    if not element.requires_grad:
        return (None,) * len(inputs)
    from . import grad

    return grad(element, inputs, retain_graph=True, create_graph=create_graph, allow_unused=True)


def _check_scalar(output: Any, several: bool, name: str) -> None:
    if several:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if output.numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {name} should contain a single element"
        )


def hessian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The second derivatives of a function that returns one number."""
    several, given = _tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def single(*arguments: Any) -> Any:
        several_out, outputs = _called(func, arguments, strict, "hessian")
        _check_scalar(outputs[0], several_out, "hessian")
        return outputs[0].squeeze()

    def first(*arguments: Any) -> Any:
        rows = jacobian(single, arguments, create_graph=True)
        _must_require(rows, strict, "jacobian")
        return rows

    if outer_jacobian_strategy == "forward-mode":
        if create_graph:
            return jacobian(first, given, True, strict, vectorize, outer_jacobian_strategy)
        return forward_hessian(single, given, several, strict, vectorize)
    answer = jacobian(first, given, create_graph, strict, vectorize)
    return answer if several else answer[0][0]


def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """(func(inputs), the product of the Hessian with v), by the double backward trick."""
    with enable_grad():
        several, given = _tuple(inputs, "inputs", "hvp")
        tracked = _tracked(given, create_graph)
        vectors = _vectors(v, tracked, several, "input", "hvp")
        several_out, outputs = _called(func, tracked, strict, "hvp")
        _check_scalar(outputs[0], several_out, "hvp")
        slopes = _slopes(outputs, tracked, strict)
        probes, reached = _probed(slopes, tracked, tracked, strict, "hessian")
    with _mode(create_graph):
        answer = _gradients(reached, probes, vectors, create_graph)
        products = _filled(answer, tracked, strict, "double_back_trick", create_graph)
    return _answer(outputs, several_out, create_graph), _answer(products, several, create_graph)


def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """(func(inputs), the product of v with the Hessian)."""
    with enable_grad():
        several, given = _tuple(inputs, "inputs", "vhp")
        tracked = _tracked(given, create_graph)
        vectors = _vectors(v, tracked, several, "input", "vhp")
        several_out, outputs = _called(func, tracked, strict, "vhp")
        _check_scalar(outputs[0], several_out, "vhp")
        slopes = _slopes(outputs, tracked, strict)
    with _mode(create_graph):
        answer = _gradients(slopes, tracked, vectors, create_graph)
        products = _filled(answer, tracked, strict, "double_back", create_graph)
    return _answer(outputs, several_out, create_graph), _answer(products, several, create_graph)
