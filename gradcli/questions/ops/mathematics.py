"""Questions: what an operator computes, as an expression of simpler ones.

The formula is in a declaration; the other overloads of the name have it from there.
"""

from __future__ import annotations

import re
from typing import Any

from ...operators import catalogue

# A name that is no function, no attribute and no keyword: an argument, or a constant.
_ARGUMENT = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?!\w)(?!\s*\()(?!=[^=])")
_CONSTANTS = frozenset({"pi", "inf", "True", "False"})


def mathematics(row: Any) -> str:
    """What a row computes, in the names of its signature; empty where its description says it."""
    if row.computes is not None:
        return str(row.computes)
    owner = next((r for r in catalogue.rows.named(row.signature.name) if r.computes), None)
    return "" if owner is None else _in_the_names_of(row.signature, owner)


def _in_the_names_of(signature: Any, owner: Any) -> str:
    """Another overload's formula; empty where it speaks of what this one has not."""
    names, text = signature.names, owner.computes
    if names:
        text = re.sub(rf"\b{owner.signature.names[0]}\b", names[0], text)
    for factor in {"alpha", "beta"} - set(names):
        text = text.replace(f"{factor}*", "")  # an overload that does not scale
    reduction = next((p for p in signature.parameters if p.name == "reduction"), None)
    if reduction is not None and reduction.default == 0:  # torch's own losses: each element's
        text = text.removesuffix(".mean()")
    spoken_of = set(_ARGUMENT.findall(text)) - _CONSTANTS
    return text if spoken_of <= set(names) else ""
