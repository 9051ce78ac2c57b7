"""Func: torch.func's grad, vjp, jvp, jacrev, jacfwd, hessian and linearize."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from ..engine.schema.catalogue import catalogue
from ..engine.schema.mode import disable_saved_tensors_hooks, enable_grad, state
from ..engine.tensors.tensor import Tensor
from .batched import batched, is_batched
from .carrier import run
from .dual import check_tangent, dual, is_dual
from .levels import batches
from .observed_passes import making_graphs, unheard
from .release import Session, asks
from .reverse import alias, gradient, unchosen
from .transformation import Level
from .tree import flatten, mapped, unflatten

F = Callable[..., Any]


# ---- the arguments that count


def _checked(argnums: Any, count: int) -> None:
    if argnums.__class__ is int:
        if not -count <= argnums < count:
            raise RuntimeError(f"Got argnum={argnums}, but only {count} positional inputs")
        return
    if not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if not argnums:
        raise RuntimeError("argnums must be non-empty")
    for number in argnums:
        if number.__class__ is not int:
            raise RuntimeError(f"argnums elements must be int, got {type(number)}")
        if not -count <= number < count:
            raise RuntimeError(f"Got argnum={number}, but only {count} positional inputs")
    if len({number % count for number in argnums}) != len(argnums):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")


def chosen(args: Sequence[Any], argnums: Any) -> Any:
    _checked(argnums, len(args))
    return args[argnums] if argnums.__class__ is int else tuple(args[n] for n in argnums)


def _replaced(args: Sequence[Any], argnums: Any, new: Any) -> list[Any]:
    out = list(args)
    if argnums.__class__ is int:
        out[argnums] = new
    else:
        for number, value in zip(argnums, new, strict=True):
            out[number] = value
    return out


def _tracked(value: Any, session: Session, connected: bool) -> Any:
    """An input that gradients are asked of: below vmap every sample has one of its own."""
    if not isinstance(value, Tensor):
        raise ValueError(f"Thing passed to transform API must be Tensor, got {type(value)}")
    levels = [(level.number, level.samples) for level in batches()]
    value = _for_each_sample(value, levels) if levels else value
    return alias(value, session.pairs, connected)


def _for_each_sample(value: Any, levels: list[tuple[int, int]]) -> Any:
    if not levels:
        return value
    number, samples = levels[-1]
    if value.__class__ is not Tensor and value.level > number:
        level = value.level  # of forward mode, or it would stand among the levels
        if is_dual(value, level):
            return dual(_for_each_sample(value.primal, levels), value.tangent, level)
        return value
    if is_batched(value, number):
        return batched(_for_each_sample(value.in_front(), levels[:-1]), 0, number)
    size = (samples, *value._data.shape)
    whole = run(catalogue.rows["expand"], (value, size, False))
    return batched(_for_each_sample(whole, levels[:-1]), 0, number)


# ---- reverse mode


def grad_and_value(func: F, argnums: Any = 0, has_aux: bool = False) -> F:
    """A function that gives the gradient of func, and what func gave."""

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        session = Session()
        with _unhooked(), Level("grad") as level, enable_grad():
            level.pairs = session.pairs
            leaves, spec = flatten(chosen(args, argnums))
            tracked = [_tracked(leaf, session, False) for leaf in leaves]
            given = _replaced(args, argnums, unflatten(tracked, spec))
            level.arguments = frozenset(map(id, flatten((given, kwargs))[0]))
            output = func(*given, **kwargs)
            aux = None
            if has_aux:
                if not (isinstance(output, tuple) and len(output) == 2):
                    raise RuntimeError(
                        "grad_and_value(f)(*args): output of function f should be a tuple: "
                        "(output, aux) if has_aux is True"
                    )
                output, aux = output
            _one_number(output)
            _only_tensors_beside(aux, has_aux)
            create = session.needs_graph(output)
            seed = catalogue.functions["ones_like"](output)
            with making_graphs():
                found = gradient([output], tracked, [seed], create)
        zeros = catalogue.functions["zeros_like"]
        results = [
            zeros(leaf) if value is None else value
            for leaf, value in zip(leaves, found, strict=True)
        ]
        gradients, value, aux = session.released((results, output, aux), create)
        answer = unflatten(gradients, spec)
        return (answer, (value, aux)) if has_aux else (answer, value)

    return wrapper


def _one_number(output: Any) -> None:
    if not isinstance(output, Tensor):
        raise RuntimeError(
            f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)}"
        )
    if output._data.ndim:
        raise RuntimeError(
            "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor "
            f"with {output._data.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs "
            "instead?"
        )


def grad(func: F, argnums: Any = 0, has_aux: bool = False) -> F:
    """A function that gives the gradient of func with respect to the chosen arguments."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return wrapper


def vjp(func: F, *primals: Any, has_aux: bool = False) -> Any:
    """What func gives, and a function from cotangents to their products with the Jacobian."""
    return pulled_back(func, primals, None, has_aux)


def pulled_back(func: F, primals: Sequence[Any], argnums: Any, has_aux: bool) -> Any:
    with _unhooked():
        return recorded(func, primals, argnums, has_aux)


def _unhooked() -> disable_saved_tensors_hooks:
    return disable_saved_tensors_hooks(
        "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open "
        "an issue with your use case."
    )


def recorded(func: F, primals: Sequence[Any], argnums: Any, has_aux: bool) -> Any:
    session = Session()
    with Level("grad") as level, enable_grad():
        level.pairs = session.pairs
        leaves, spec = flatten(tuple(primals) if argnums is None else chosen(primals, argnums))
        tracked = [_tracked(leaf, session, True) for leaf in leaves]
        inputs = unflatten(tracked, spec)
        given = inputs if argnums is None else _replaced(primals, argnums, inputs)
        level.arguments = frozenset(map(id, flatten(given)[0]))
        output = func(*given)
        aux = None
        if has_aux:
            if not (isinstance(output, tuple) and len(output) == 2):
                raise RuntimeError(
                    "vjp(f, *primals): output of function f should be a tuple: (output, aux) if "
                    "has_aux is True"
                )
            output, aux = output
        outs, out_spec = flatten(output)
        _only_tensors(outs, "vjp(f, *primals)")
        _only_floating(outs)
        _only_tensors_beside(aux, has_aux)
        create = session.needs_graph(outs)
    shown, aux = session.kept((outs, aux), create)

    def pull(cotangents: Any, retain_graph: bool = True, create_graph: Any = None) -> Any:
        """The products of cotangents with the Jacobian."""
        seeds, seed_spec = flatten(cotangents)
        if seed_spec != out_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of "
                f"outputs to the function. cotangents: {seed_spec.pretty}, primal output: "
                f"{out_spec.pretty}"
            )
        record = state.grad_enabled and (create or asks(seeds))
        _same_shapes(outs, seeds)
        makes = state.grad_enabled if create_graph is None else create_graph
        with making_graphs() if makes else nullcontext():
            found = gradient(outs, tracked, seeds, record)
        zeros = catalogue.functions["zeros_like"]
        results = [
            zeros(leaf) if item is None else item for leaf, item in zip(leaves, found, strict=True)
        ]
        return unflatten(session.kept(results, record), spec)

    answer = unflatten(shown, out_spec)
    return (answer, pull, aux) if has_aux else (answer, pull)


def _same_shapes(outs: Sequence[Any], seeds: Sequence[Any]) -> None:
    for place, (out, seed) in enumerate(zip(outs, seeds, strict=True)):
        if isinstance(seed, Tensor) and seed.shape != out.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{place}] has a shape of {seed.shape} and "
                f"output[{place}] has a shape of {out.shape}."
            )


def _only_tensors(outs: Sequence[Any], what: str) -> None:
    if not outs or (len(outs) == 1 and outs[0] is None):
        raise RuntimeError(
            f"{what}: Expected f to be a function that has non-empty output (got output = {outs})"
        )
    for out in outs:
        if not isinstance(out, Tensor):
            raise RuntimeError(
                f"{what}: expected f(*primals) to return only tensors, got unsupported type "
                f"{type(out)}"
            )


def _only_floating(outs: Sequence[Any]) -> None:
    for out in outs:
        if not out._kind.differentiable:
            raise RuntimeError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got "
                f"Tensor with dtype {out.dtype}"
            )


def _only_tensors_beside(aux: Any, has_aux: bool) -> None:
    for value in flatten(aux)[0] if has_aux else ():
        if not isinstance(value, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(value)}")


# ---- forward mode


def jvp(
    func: F, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> Any:
    """What func gives, and the product of its Jacobian with the tangents."""
    if not isinstance(primals, tuple):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to "
            "call f(*primals)."
        )
    return pushed_forward(func, primals, tangents, None, strict, has_aux)


def pushed_forward(
    func: F,
    primals: Sequence[Any],
    tangents: Any,
    argnums: Any = None,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """jvp with respect to the chosen arguments, or to all of them."""
    differing = tuple(primals) if argnums is None else chosen(primals, argnums)
    if argnums is not None and not isinstance(argnums, tuple):
        differing = (differing,)
    leaves, spec = flatten(differing)
    directions, given_spec = flatten(tangents)
    if spec != given_spec:
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python "
            "structure. For example, if primals is a tuple of 3 tensors, tangents also must be. "
            f"Got primals with structure {spec} and tangents with structure {given_spec}"
        )
    for name, values in (("primals", leaves), ("tangents", directions)):
        if not values:
            raise RuntimeError(
                f"jvp(f, primals, tangents): Expected {name} to contain at least one Tensor."
            )
        for value in values:
            if not isinstance(value, Tensor):
                raise RuntimeError(
                    f"jvp(f, primals, tangents): Expected {name} to be Tensors, got unsupported "
                    f"type {type(value)}"
                )
    with Level("jvp") as level:
        duals = [made_dual(p, t, level.number) for p, t in zip(leaves, directions, strict=True)]
        inputs = unflatten(duals, spec)
        if argnums is not None:
            inputs = _replaced(
                primals, argnums, inputs if isinstance(argnums, tuple) else inputs[0]
            )
        output = func(*inputs)
        aux = None
        if has_aux:
            if not (isinstance(output, tuple) and len(output) == 2):
                raise RuntimeError(
                    "jvp(f, primals, tangents): output of function f should be a tuple: (output, "
                    "aux) if has_aux is True"
                )
            output, aux = output
            _only_tensors_beside(aux, has_aux)
            aux = mapped(lambda value: _primal(value, level.number), aux)
        outs, out_spec = flatten(output)
        _only_tensors(outs, "jvp(f, primals, tangents)")
        pushed = [_tangent(out, level.number, strict) for out in outs]
    shown = [_primal(out, level.number) for out in outs]
    answer = unflatten(shown, out_spec), unflatten(pushed, out_spec)
    return (*answer, aux) if has_aux else answer


def made_dual(primal: Any, tangent: Any, level: int) -> Any:
    """A dual of a tensor and a tangent of its shape."""
    if not primal._kind.differentiable:
        raise ValueError(
            f"Expected primal to be floating point or complex, but got: {primal.dtype}"
        )
    if primal._data.shape != tangent._data.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor, this is not supported. Tensor is of size {list(primal._data.shape)} while "
            f"the given forward gradient is of size {list(tangent._data.shape)}."
        )
    check_tangent(primal, tangent)
    return dual(primal, tangent, level)


def _primal(value: Any, level: int) -> Any:
    if not is_dual(value, level):
        return value
    primal = value.primal
    if state.grad_enabled and primal.__class__ is Tensor and primal.requires_grad:
        return catalogue.rows["alias"](primal)
    return primal


def _tangent(out: Any, level: int, strict: bool) -> Any:
    if is_dual(out, level):
        return out.tangent
    if strict:
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. "
            "This is not allowed with strict=True."
        )
    return catalogue.functions["zeros_like"](out)


def linearize(func: F, *primals: Any) -> Any:
    """What func gives, and its derivative at primals, a linear function of tangents."""
    output, pull = recorded(func, primals, None, False)
    outs, out_spec = flatten(output)
    leaves, spec = flatten(tuple(primals))
    for leaf in leaves:
        check_tangent(leaf, None)

    def jvp_fn(*tangents: Any) -> Any:
        directions, given = flatten(tuple(tangents))
        if given != spec:
            raise RuntimeError(
                "Expected the tangents to have the same pytree structure as the primals, but got "
                f"{given} and {spec}"
            )
        for place, (leaf, direction) in enumerate(zip(leaves, directions, strict=True)):
            if leaf.shape != direction.shape:
                raise RuntimeError(
                    f"tangent:{place} with shape {direction.shape} in flattened pytree doesn't "
                    f"match the shape {leaf.shape} of the corresponding primal."
                )
            if leaf.dtype is not direction.dtype:
                raise RuntimeError(
                    f"tangent:{place} with dtype {direction.dtype} in flattened pytree doesn't "
                    f"match the dtype {leaf.dtype} of the corresponding primal."
                )
        chosen = [unchosen(out) for out in outs]
        with unheard():
            with enable_grad():
                seeds = unflatten(chosen, out_spec)
                backs, _ = flatten(pull(seeds))
            found = gradient(backs, chosen, directions, state.grad_enabled)
        zeros = catalogue.functions["zeros_like"]
        pushed = [
            zeros(out) if value is None else value.detach()
            for out, value in zip(outs, found, strict=True)
        ]
        return unflatten(pushed, out_spec)

    return output, jvp_fn
