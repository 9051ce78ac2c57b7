"""Operators: orthogonal polynomials of a degree that may differ between elements.

None of them is differentiable in PyTorch, and no node is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.schema.mode import state
from ...engine.schema.operator import operator
from ..conventions import full_precision

AT_ONCE = 256  # degrees after which a kernel asks whether any number is left
CALLS, PER_STEP = 24, 3  # steps of a degree; so many bits of a number of elements are one more
Step = Callable[[Any, Any, Any, int], Any]


def _recurrence(first: Callable[[Any], Any], step: Step) -> Callable[..., Any]:
    """From the polynomials of degree 0 (one) and 1 (`first`) up to the degree of each element.

    `step` makes the polynomial of degree k + 1 of those of degrees k and k - 1.
    """

    def kernel(xp: Any, x: Any, n: Any) -> Any:
        wide = xp.asarray(x, dtype="float64")
        degree = xp.clip(xp.trunc(xp.nan_to_num(xp.asarray(n, dtype="float64"))), -1, 2**31)
        wide, degree = xp.broadcast_arrays(wide, degree)
        before, here = xp.ones_like(wide), first(wide)
        value = xp.where(degree == 0, before, xp.where(degree < 0, 0.0, here))
        for k in range(1, int(degree.max()) if degree.size else 0):
            if not k % AT_ONCE:
                state.charge(AT_ONCE * (CALLS + (wide.size >> PER_STEP)))
            before, here = here, step(wide, here, before, k)
            value = xp.where(degree == k + 1, here, value)
            if not k % AT_ONCE and xp.isnan(here).all():
                return xp.where(degree > k, here, value)  # and so are all that follow
        return value

    return kernel


def _chebyshev(x: Any, here: Any, before: Any, k: int) -> Any:
    return 2 * x * here - before


def _shifted(x: Any, here: Any, before: Any, k: int) -> Any:
    return 2 * (2 * x - 1) * here - before


def _polynomial(name: str, doc: str, kernel: Callable[..., Any]) -> None:
    operator(
        f"{name}(Tensor x, Tensor n) -> Tensor",
        numbers="x, n",
        dtype="promote_float",
        where="special",
        refuse=full_precision(f"{name}_cpu"),
        forward=kernel,
        doc=f"{doc} of degree n.",
        samples=(f"torch.special.{name}(x, j)", f"torch.special.{name}(i, j + 7)",
                 f"torch.special.{name}(x, 3)", f"torch.special.{name}(u, 9)",
                 f"torch.special.{name}(0.5, j)"),
    )  # fmt: skip


for _kind, _word, _first in (
    ("t", "first", lambda x: x),
    ("u", "second", lambda x: 2 * x),
    ("v", "third", lambda x: 2 * x - 1),
    ("w", "fourth", lambda x: 2 * x + 1),
):
    _polynomial(
        f"chebyshev_polynomial_{_kind}",
        f"Chebyshev's polynomial of the {_word} kind,",
        _recurrence(_first, _chebyshev),
    )
    _polynomial(
        f"shifted_chebyshev_polynomial_{_kind}",
        f"Chebyshev's polynomial of the {_word} kind at 2 x - 1,",
        _recurrence(lambda x, _first=_first: _first(2 * x - 1), _shifted),
    )

_polynomial(
    "hermite_polynomial_h",
    "The physicist's Hermite polynomial",
    _recurrence(lambda x: 2 * x, lambda x, here, before, k: 2 * x * here - 2 * k * before),
)
_polynomial(
    "hermite_polynomial_he",
    "The probabilist's Hermite polynomial",
    _recurrence(lambda x: x, lambda x, here, before, k: x * here - k * before),
)
_polynomial(
    "laguerre_polynomial_l",
    "Laguerre's polynomial",
    _recurrence(
        lambda x: 1 - x,
        lambda x, here, before, k: ((2 * k + 1 - x) * here - k * before) / (k + 1),
    ),
)
_polynomial(
    "legendre_polynomial_p",
    "Legendre's polynomial",
    _recurrence(
        lambda x: x, lambda x, here, before, k: ((2 * k + 1) * x * here - k * before) / (k + 1)
    ),
)
