"""Pipeline: the engine as a new process has it, for programs that follow each other in one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..engine import dtypes, repr
from ..engine.carriers import CARRIERS
from ..engine.mode import state
from ..numerics.random import default_generator
from ..numerics.twister import DEFAULT_SEED


@contextmanager
def as_new() -> Iterator[None]:
    """Within it a program finds PyTorch's defaults, and what it changes ends with it."""
    _reset()
    try:
        yield
    finally:
        _reset()


def _reset() -> None:
    default_generator.manual_seed(DEFAULT_SEED)
    dtypes.set_default_dtype(dtypes.float32)
    repr.reset_printoptions()
    state.grad_enabled, state.inference = True, False
    state.switch_anomaly(False, True)
    state.anomalies.clear()
    state.saved_hooks.clear()
    if CARRIERS.levels:  # a program entered forward mode and never left it
        from ..autograd.forward_ad import exit_dual_level

        exit_dual_level()
