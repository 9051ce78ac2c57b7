"""commands: what `ops`, `examples`, `schema` and `man` share: how their answers are shown."""

from __future__ import annotations

from ..options import Shared
from ..process.memory import standard


def as_shared(
    out: str | None,
    format: str = "text",
    quiet: int = 0,
    color: str = "never",
    wide: bool = True,
    no_pager: bool = True,
) -> Shared:
    """Their options in the place of those of a program. The limits are those of a long page."""
    return Shared(
        file=None, sets=[], no_grad=[], device="cpu", dtype=None, format=format, out=out,
        quiet=quiet, color=color, wide=wide, timeout=600.0, max_steps=10**8, max_nodes=10**7,
        max_memory=standard(), max_output=16 << 20, max_source=8 << 20, max_depth=1000,
        no_pager=no_pager,
    )  # fmt: skip
