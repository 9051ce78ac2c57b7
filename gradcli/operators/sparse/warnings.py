"""Operators: what PyTorch warns of once, when a program begins to use a sparse layout."""

from __future__ import annotations

from ...engine.schema.operator import warn
from ...engine.schema.run_state import run_state

# PyTorch reads and writes beyond its memory then; gradcli checks indices in any case.
UNCHECKED = (
    "Sparse invariant checks are implicitly disabled. Memory errors (e.g. SEGFAULT) will occur "
    "when operating on a sparse tensor which violates the invariants, but checks incur performance "
    "overhead. To silence this warning, explicitly opt in or out. See "
    "`torch.sparse.check_sparse_tensor_invariants.__doc__` for guidance."
)
BETA = (
    "Sparse CSR tensor support is in beta state. If you miss a functionality in the sparse tensor "
    "support, please submit a feature request to https://github.com/pytorch/pytorch/issues."
)


class _Checks:
    """Whether the program wants its sparse tensors checked, None where it did not say, and what it
    has been warned of."""

    __slots__ = ("enabled", "told")

    def __init__(self) -> None:
        self.enabled: bool | None = None
        self.told: frozenset[str] = frozenset()


checks = run_state(_Checks())


def warn_once(message: str) -> None:
    """Warns of it unless this run has been warned."""
    if message not in checks.told:
        checks.told |= {message}
        warn(message)


def warn_unchecked(check_invariants: bool | None) -> None:
    """Of a tensor that PyTorch does not check, and nobody said that it should not."""
    if check_invariants is None and checks.enabled is None:
        warn_once(UNCHECKED)
