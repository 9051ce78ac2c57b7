"""Autograd: torch.autograd.gradcheck: derivatives compared with finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..engine.passes.backward import grad
from ..engine.schema.catalogue import catalogue
from ..engine.schema.dtypes import float64
from ..engine.schema.mode import state
from ..engine.tensors.tensor import Tensor, plain
from . import numerical
from .numerical import Columns

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """A derivative that finite differences contradict."""

    _torch_name = "torch.autograd.gradcheck.GradcheckError"


class Settings(NamedTuple):
    """The arguments of a check."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_undefined_grad: bool
    check_grad_dtypes: bool
    check_batched_grad: bool
    check_batched_forward_grad: bool
    check_forward_ad: bool
    check_backward_ad: bool
    fast_mode: bool


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Are the gradients of func at inputs those that small differences show?"""
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError(
            "Expected at least one of check_forward_ad or check_backward_ad to be True"
        )
    if check_batched_grad and not check_backward_ad:
        raise AssertionError(
            "Setting check_batched_grad=True requires check_backward_ad to be True"
        )
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError(
            "Setting check_batched_forward_grad=True requires check_forward_ad to be True"
        )
    settings = Settings(
        eps, atol, rtol, nondet_tol, check_undefined_grad, check_grad_dtypes, check_batched_grad,
        check_batched_forward_grad, check_forward_ad, check_backward_ad, fast_mode,
    )  # fmt: skip
    try:
        return _checked(func, inputs, settings)
    except GradcheckError:
        if raise_exception:
            raise
        return False


def as_tuple(value: Any) -> tuple[Any, ...]:
    if isinstance(value, tuple):
        return value
    return tuple(value) if isinstance(value, list) else (value,)


def differentiable(value: Any) -> tuple[Any, ...]:
    return tuple(item for item in as_tuple(value) if item.requires_grad)


def _checked(func: Callable[..., Any], given: Any, settings: Settings) -> bool:
    inputs = as_tuple(given)
    _check_inputs(inputs)
    answer = func(*inputs)
    outputs = differentiable(answer)
    if not outputs:
        _expect_zero(func, inputs, answer, settings)
        return True
    for part, run in _parts(func, answer):
        _compare(run, inputs, settings, part)
    if settings.check_forward_ad:
        _compare_forward(func, inputs, as_tuple(answer), settings)
    if not settings.check_backward_ad:
        return True
    if settings.check_batched_grad:
        for place, output in enumerate(outputs):
            _check_batched(inputs, output, place)
    _check_multiplied(outputs, inputs)
    if settings.check_undefined_grad:
        _check_undefined(func, inputs)
    return True


def _check_inputs(inputs: Sequence[Any]) -> None:
    asking = False
    for place, value in enumerate(inputs):
        if not (isinstance(value, Tensor) and value.requires_grad):
            continue
        asking = True
        if not (value.dtype is float64 or value.dtype.name == "complex128"):
            state.warn(
                f"Input #{place} requires gradient and is not a double precision floating point or "
                "complex. This check will likely fail if all the inputs are not of double "
                "precision floating point or complex. "
            )
        steps = zip(value.stride(), value.shape, strict=True)
        if not all(step > 0 or size <= 1 for step, size in steps):
            raise RuntimeError(
                f"The {place}th input has a dimension with stride 0. gradcheck only supports "
                "inputs that are non-overlapping to be able to compute the numerical gradients "
                "correctly. You should call .contiguous on the input before passing it to "
                "gradcheck."
            )
    if not asking:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them "
            "have requires_grad=True."
        )


def _expect_zero(
    func: Callable[..., Any], inputs: Sequence[Any], answer: Any, settings: Settings
) -> None:
    jacobians = numerical.jacobians(func, inputs, as_tuple(answer), settings.eps)
    for output, columns in zip(as_tuple(answer), jacobians, strict=True):
        for jacobian in columns:
            if output._kind.differentiable and bool((abs(jacobian) > 1e-7).any()):
                raise GradcheckError("Numerical gradient for function expected to be zero")


def _parts(func: Callable[..., Any], answer: Any) -> list[tuple[str, Callable[..., Any]]]:
    """The function itself, and of complex outputs the imaginary and the real part apart."""
    if not any(o._kind.dtype.is_complex for o in as_tuple(answer)):
        return [("", func)]

    def part(name: str) -> Callable[..., Any]:
        take = catalogue.functions[name]

        def run(*inputs: Any) -> Any:
            return tuple(
                take(o) if o._kind.dtype.is_complex else o for o in as_tuple(func(*inputs))
            )

        return run

    return [("imaginary", part("imag")), ("real", part("real"))]


def _compare(
    func: Callable[..., Any], inputs: Sequence[Any], settings: Settings, part: str
) -> None:
    if not settings.check_backward_ad:
        return
    answer = as_tuple(func(*inputs))
    slow: Any = None
    if not settings.fast_mode or part:
        slow = numerical.jacobians(func, inputs, answer, settings.eps)
    vectors = None if slow is not None else numerical.Vectors(inputs, answer)
    place = -1
    for at, output in enumerate(answer):
        if not output.requires_grad:
            continue
        place += 1
        if slow is None:
            _fast(func, inputs, answer, at, place, vectors, settings)
            continue
        analytical = _analytical(inputs, output, settings.nondet_tol)
        for number, (ours, theirs) in enumerate(zip(analytical, slow[at], strict=True)):
            if not numerical.close(ours, theirs, settings.rtol, settings.atol):
                raise GradcheckError(_mismatch(place, number, theirs, ours, part))


def _mismatch(
    output: int, number: int, theirs: Any, ours: Any, part: str = "", forward: bool = False
) -> str:
    prefix = ""
    if part:
        element = "inputs" if forward else "outputs"
        prefix = f"While considering the {part} part of complex {element} only, "
    mode = "computed with forward mode " if forward else ""
    return (
        f"{prefix}Jacobian {mode}mismatch for output {output} with respect to input {number},\n"
        f"numerical:{_number_text(theirs)}\nanalytical:{_number_text(ours)}\n"
    )


def _number_text(value: Any) -> str:
    return str(value) if isinstance(value, float | complex) else str(numerical.as_tensor(value))


def _analytical(inputs: Sequence[Any], output: Any, tolerance: float) -> Columns:
    """One backward pass for each element, twice: the second shows whether it is reentrant."""
    first = numerical.backward_jacobian(inputs, output)
    again = numerical.backward_jacobian(inputs, output)
    for a, b in zip(first, again, strict=True):
        if a.size and float(abs(a - b).max()) > tolerance:
            raise GradcheckError(REENTRANT.format(tolerance=tolerance))
    return first


REENTRANT = (
    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple "
    "times gives different values, although analytical gradient matches numerical gradient.The "
    "tolerance for nondeterminism was {tolerance}.\n\n"
    "NOTE: If your op relies on non-deterministic operations i.e., it is listed here:\n"
    "https://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html\n"
    "this failure might be expected.\n\n"
    "If you are adding a new operator, please file an issue and then use one of the\n"
    "workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck.\n"
    "If the test\n"
    "- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck\n"
    "  with `nondet_tol=<tol>` as a keyword argument.\n"
    "- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test\n"
    "  to have `gradcheck_nondet_tol=<tol>`.\n"
    "- is a Module test (e.g., in common_nn.py), then modify the corresponding\n"
    "  module_test entry to have `gradcheck_nondet_tol=<tol>`\n"
)


def _fast(
    func: Callable[..., Any], inputs: Sequence[Any], answer: Sequence[Any], at: int, place: int,
    vectors: Any, settings: Settings,
) -> None:  # fmt: skip
    """One number for each pair: the Jacobian between two random vectors."""
    output = answer[at]
    for number, (ours, theirs, weight) in enumerate(
        vectors.projections(func, inputs, output, at, settings.eps)
    ):
        if abs(ours - theirs) <= settings.atol * weight + settings.rtol * abs(theirs):
            continue
        slow = numerical.jacobians(func, inputs, answer, settings.eps)[at][number]
        analytical = numerical.backward_jacobian(inputs, output)[number]
        raise GradcheckError(
            _mismatch(place, number, theirs, ours)
            + FAST_NOTE.format(
                slow=_number_text(slow),
                analytical=_number_text(analytical),
                worst=float(abs(slow - analytical).max()),
            )
            + (
                SLOW_HOLDS
                if numerical.close(analytical, slow, settings.rtol, settings.atol)
                else ""
            )
        )


FAST_NOTE = (
    "\nThe above quantities relating the numerical and analytical jacobians are computed \n"
    "in fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more background \n"
    "about fast mode. Below, we recompute numerical and analytical jacobians in slow mode:\n\n"
    "Numerical:\n {slow}\nAnalytical:\n{analytical}\n\n"
    "The max per-element difference (slow mode) is: {worst}.\n"
)
SLOW_HOLDS = (
    "\nFast gradcheck failed but element-wise differences are small. This means that the\n"
    "test might've passed in slow_mode!\n\n"
    "If you are adding a new operator, please file an issue and then use one of the\n"
    "workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck:\n\n"
    "If the test\n"
    "- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck\n"
    "  with `fast_mode=False` as a keyword argument.\n"
    "- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test\n"
    "  to have `gradcheck_fast_mode=False`\n"
    "- is a Module test (e.g., in common_nn.py), then modify the corresponding\n"
    "  module_test entry to have `gradcheck_fast_mode=False`\n"
)


def _compare_forward(
    func: Callable[..., Any], inputs: Sequence[Any], answer: Sequence[Any], settings: Settings
) -> None:
    """The Jacobian again, column by column, in forward mode."""
    complex_given = any(isinstance(i, Tensor) and i._kind.dtype.is_complex for i in inputs)
    if complex_given or any(o._kind.dtype.is_complex for o in answer):
        return
    theirs = numerical.jacobians(func, inputs, answer, settings.eps)
    ours = numerical.forward_jacobians(func, inputs, answer)
    for place, output in enumerate(answer):
        if not output._kind.differentiable:
            continue
        for number, (found, wanted) in enumerate(zip(ours[place], theirs[place], strict=True)):
            if not numerical.close(found, wanted, settings.rtol, settings.atol):
                raise GradcheckError(_mismatch(place, number, wanted, found, forward=True))


def _check_batched(inputs: Sequence[Any], output: Any, place: int) -> None:
    """Backward under vmap gives what it gives one by one."""
    tracked = numerical.asking(inputs)
    kind = output._kind
    seeds = plain(
        kind.xp.stack([kind.xp.full(output._data.shape, k, kind.array_dtype) for k in (1, 2)]), kind
    )
    whole = grad(output, tracked, seeds, True, False, True, is_grads_batched=True)
    for number, found in enumerate(whole):
        for at in range(2):
            wanted = grad(output, tracked, seeds[at], True, False, True)[number]  # type: ignore[index]
            if wanted is None or found is None:
                continue
            part = found[at]
            if not numerical.close(part._data, wanted._data, 1e-5, 1e-8):
                raise GradcheckError(
                    f"For output {place} and input {number}:\n\ngradcheck or gradgradcheck failed "
                    "while testing batched gradient computation."
                )


def _check_multiplied(outputs: Sequence[Any], inputs: Sequence[Any]) -> None:
    """A gradient of nothing is nothing."""
    tracked = numerical.asking(inputs)
    zeros = [catalogue.functions["zeros_like"](output) for output in outputs]
    for value, given in zip(grad(outputs, tracked, zeros, True, False, True), tracked, strict=True):
        if value is None:
            continue
        if bool((value._data != 0).any()):
            raise GradcheckError("backward not multiplied by grad_output")
        if value.dtype is not given.dtype or value.device != given.device:
            raise GradcheckError("grad is incorrect type")
        if value.shape != given.shape:
            raise GradcheckError("grad is incorrect size")


def _check_undefined(func: Callable[..., Any], inputs: Sequence[Any]) -> None:
    """Outputs that no gradient comes from leave the others' gradients as zeros would."""
    outputs = differentiable(func(*inputs))
    tracked = numerical.asking(inputs)
    if len(outputs) < 2:
        return
    ones = catalogue.functions["ones_like"]
    zeros = catalogue.functions["zeros_like"]
    for place, output in enumerate(outputs):
        try:
            found = grad([output], tracked, [ones(output)], True, False, True)
        except RuntimeError as error:
            raise GradcheckError(UNDEFINED) from error
        seeds = [ones(o) if at == place else zeros(o) for at, o in enumerate(outputs)]
        wanted = grad(outputs, tracked, seeds, True, False, True)
        for ours, theirs in zip(found, wanted, strict=True):
            nothing = 0 * theirs._data if theirs is not None else 0
            a = nothing if ours is None else ours._data
            b = nothing if theirs is None else theirs._data
            if not numerical.close(a + nothing, b + nothing, 1e-5, 1e-8):
                raise GradcheckError(UNDEFINED)


UNDEFINED = (
    'Expected backward function to handle undefined output grads. Please look at "Notes about '
    'undefined output gradients" in "tools/autograd/derivatives.yaml"'
)


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """gradcheck of the gradient: are the second derivatives those that differences show?"""
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError(
            "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
        )
    given = as_tuple(inputs)
    if grad_outputs is None:
        seeds = tuple(
            _drawn(output, gen_non_contig_grad_outputs) for output in differentiable(func(*given))
        )
    else:
        seeds = as_tuple(grad_outputs)
    count = len(seeds)
    wishes = [isinstance(value, Tensor) and value.requires_grad for value in given + seeds]

    def gradients(*values: Any) -> tuple[Any, ...]:
        # In forward mode the values come without the wish for a gradient.
        values = tuple(
            value.requires_grad_() if asks and not value.requires_grad else value
            for value, asks in zip(values, wishes, strict=True)
        )
        arguments, vectors = values[: len(values) - count], values[len(values) - count :]
        outputs = differentiable(func(*arguments))
        found = grad(outputs, numerical.asking(arguments), vectors, None, True, True)
        return tuple(value for value in found if value is not None)

    return gradcheck(
        gradients, given + seeds, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
        nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode, masked=masked,
    )  # fmt: skip


def _drawn(output: Any, apart: bool) -> Any:
    """A random gradient for an output, from the program's own stream, as PyTorch draws it."""
    seed = catalogue.functions["empty_like"](output.detach())
    seed = catalogue.methods["uniform_"](seed, -1.0, 1.0)
    if apart and seed._data.ndim:
        wide = catalogue.functions["repeat_interleave"](seed, 2, -1)
        seed = catalogue.rows["slice.Tensor"](wide, -1, 0, None, 2)
    seed._requires_grad = True
    return seed
