"""Engine: the vocabulary of a declaration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .carriers import Body, one
from .catalogue import Function, catalogue
from .mode import state
from .row import Acts, Composite, Domain, Factory, Formula, Reduced, Role, Row, Tangent, Zero

__all__ = [
    "Composite", "Domain", "Factory", "Function", "Reduced", "Row", "catalogue", "composite",
    "factory", "one", "operator", "warn",
]  # fmt: skip


def operator(
    signature: str,
    *,
    forward: Body,
    node: str = "",
    dtype: Any = "same",
    inplace: str | None = None,
    inplace_node: str | None = None,
    numbers: str = "",
    view: bool | str = False,
    shares: bool = False,
    joint: Mapping[tuple[str, ...], Body] | None = None,
    check: Body | None = None,
    check_mixed: Body | None = None,
    refuse: Mapping[str, Any] | None = None,
    cost: Body | None = None,
    symbol: str = "",
    exact: bool = False,
    cast_words: str = "",
    holomorphic: bool = True,
    tangent: Tangent = "",
    layout: str = "",
    overlap: str = "",
    outputs_named: str | None = None,
    undifferentiable: str = "",
    kinded: bool = False,
    reduced: Reduced = Reduced(),  # noqa: B008
    where: str = "torch method",
    aliases: Sequence[str] = (),
    acts: Acts | None = None,
    zero: Zero | None = None,
    domain: Domain | None = None,
    smooth: str = "",
    logarithm: str = "",
    role: Role = "",
    jacobian: str = "",
    doc: str = "",
    computes: str | None = None,
    corners: tuple[str, ...] | None = None,
    samples: Sequence[str] = (),
    errors: Sequence[str] = (),
    **derivatives: Body,
) -> Row:
    """Declares one overload; docs/architecture.md explains each word.

    `overlap`: "allowed" where the in-place twin writes into expanded tensors, or the words of a
    warning that comes with it; "copied" where what is read may lie in the same memory.
    `shares`: its result has the memory and the version counter of the first tensor, and is no view.
    `kinded`: forward is given the kind of the first tensor in the place of the array library, which
    is `kind.xp`: what depends on the element type, and not on the arrays that carry it.
    `tangent`: "linear" where the tangent of a result is the operator of the tensors' tangents and
    not what the transpose of its backward gives (an element that is written twice keeps the last,
    a row at padding_idx is looked up); "none" where PyTorch has no forward derivative.
    `acts`: how it acts on elements; `zero`: where a gradient ends (`row.Acts`, `row.Zero`).
    `domain`: where value and slope are finite. `smooth`: the relative that has a slope, in the
    names of the signature. `logarithm`: what log() of the result is in one piece, which stays
    finite where the result rounds to 0. `role`: its part in a loss (`row.Role`). `alone`, of a
    composite: what has a slope where its dimension has one element. `jacobian`: what the matrix of
    its derivative is called.
    `computes`: what it computes, in simpler operators and the names of its signature, where neither
    name nor description says it. `corners`: calls at ties, zeros and bounds; every `tensor(...)` of
    floats in them requires grad.
    """
    formulas = [Formula((name,), function, False) for name, function in derivatives.items()]
    formulas += [Formula(names, function, True) for names, function in (joint or {}).items()]
    if len(formulas) > 1:
        # PyTorch's generated code runs them in the alphabetical order of the arguments' names, and
        # with create_graph that order shows in the sequence numbers of the nodes they make.
        formulas.sort(key=lambda formula: ", ".join(formula.inputs))
    row = Row(
        signature, node, forward, formulas=tuple(formulas), dtype=dtype, inplace=inplace,
        inplace_node=inplace_node, view=view, shares=shares, check=check, check_mixed=check_mixed,
        refuse=refuse or {}, cost=cost, symbol=symbol, exact=exact, holomorphic=holomorphic,
        tangent=tangent, cast_words=cast_words, layout=layout, overlap=overlap,
        outputs_named=outputs_named, kinded=kinded, reduced=reduced,
        where=where, aliases=tuple(aliases), acts=acts, zero=zero, domain=domain,
        smooth=smooth, logarithm=logarithm, role=role, jacobian=jacobian, doc=doc,
        computes=computes, corners=corners,
        samples=tuple(samples), errors=tuple(errors),
        undifferentiable=[n.strip() for n in undifferentiable.split(",") if n.strip()],
        numbers=[name.strip() for name in numbers.split(",") if name.strip()],
    )  # fmt: skip
    catalogue.add(row)
    return row


def composite(
    signature: str,
    body: Body,
    *,
    numbers: str = "",
    where: str = "torch method",
    aliases: Sequence[str] = (),
    doc: str = "",
    domain: Domain | None = None,
    smooth: str = "",
    logarithm: str = "",
    alone: str = "",
    computes: str | None = None,
    corners: tuple[str, ...] | None = None,
    samples: Sequence[str] = (),
    errors: Sequence[str] = (),
) -> Composite:
    """Declares an operator that PyTorch itself composes of others."""
    row = Composite(
        signature, body, where=where, aliases=tuple(aliases), domain=domain, smooth=smooth,
        logarithm=logarithm, alone=alone, doc=doc, computes=computes, corners=corners,
        samples=tuple(samples), errors=tuple(errors),
        numbers=[n.strip() for n in numbers.split(",") if n.strip()],
    )  # fmt: skip
    catalogue.add(row)
    return row


def factory(
    signature: str,
    forward: Body,
    *,
    dtype: Any = "default",
    cost: Body | None = None,
    kinded: bool = False,
    where: str = "torch",
    aliases: Sequence[str] = (),
    doc: str = "",
    samples: Sequence[str] = (),
    errors: Sequence[str] = (),
) -> Factory:
    """Declares a creation function. `dtype` says what an absent dtype argument means: "default",
    "like" (that of the first tensor argument), a DType's name, or a function of the arguments.
    `kinded`: forward is given the result's kind in the place of the array library."""
    row = Factory(
        signature, forward, dtype=dtype, cost=cost, kinded=kinded, where=where,
        aliases=tuple(aliases), doc=doc, samples=tuple(samples), errors=tuple(errors),
    )  # fmt: skip
    catalogue.add(row)
    return row


def warn(message: str) -> None:
    """A warning in PyTorch's words, from a declaration."""
    state.warn(message)
