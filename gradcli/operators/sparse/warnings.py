"""Operators: what PyTorch warns of once, when a program begins to use a sparse layout."""

from __future__ import annotations

from ...engine.operator import warn
from ...engine.run_state import run_state

# PyTorch reads and writes beyond its memory then; gradcli checks indices in any case.
UNCHECKED = (
    "Sparse invariant checks are implicitly disabled. Memory errors (e.g. SEGFAULT) will occur "
    "when operating on a sparse tensor which violates the invariants, but checks incur performance "
    "overhead. To silence this warning, explicitly opt in or out. See "
    "`torch.sparse.check_sparse_tensor_invariants.__doc__` for guidance. "
)
BETA = (
    "Sparse CSR tensor support is in beta state. If you miss a functionality in the sparse tensor "
    "support, please submit a feature request to https://github.com/pytorch/pytorch/issues."
)


class _Told:
    """What a run has been warned of."""

    __slots__ = ("messages",)

    def __init__(self) -> None:
        self.messages: frozenset[str] = frozenset()


_told = run_state(_Told())


def warn_once(message: str) -> None:
    """Warns of it unless this run has been warned."""
    if message not in _told.messages:
        _told.messages |= {message}
        warn(message)
