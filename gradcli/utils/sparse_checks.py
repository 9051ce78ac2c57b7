"""Utils: torch.sparse.check_sparse_tensor_invariants: whether PyTorch checks sparse tensors.

gradcli checks them in any case; what a program says of it keeps PyTorch's warning away.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from ..operators.sparse.warnings import checks


class check_sparse_tensor_invariants:
    """As a function's decorator or in a with statement, or by its functions for good."""

    PUBLIC = ("is_enabled", "enable", "disable")

    def __init__(self, enable: bool = True) -> None:
        self.state, self.saved_state = enable, checks.enabled

    @staticmethod
    def is_enabled() -> bool:
        return bool(checks.enabled)

    @staticmethod
    def enable() -> None:
        checks.enabled = True

    @staticmethod
    def disable() -> None:
        checks.enabled = False

    def __enter__(self) -> None:
        self.saved_state, checks.enabled = checks.enabled, self.state

    def __exit__(self, *error: object) -> None:
        checks.enabled = self.saved_state

    def __call__(self, mth: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(mth)
        def checked(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self.state):
                return mth(*args, **kwargs)

        return checked
