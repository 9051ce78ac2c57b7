"""What a recording of PyTorch costs: forward and backward with it and without it.

python benchmarks/live.py
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from gradcli import inspect

TIMES = 15


def layers() -> tuple[Any, Any]:
    """Two layers on a few samples."""
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64)), torch.randn(32, 64)


def transformer() -> tuple[Any, Any]:
    """Some three hundred nodes."""
    layer = [nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
             for _ in range(6)]  # fmt: skip
    return nn.Sequential(*layer), torch.randn(4, 16, 64)


def step(net: Any, x: Any) -> Any:
    """One forward and one backward pass."""
    loss = net(x).pow(2).mean()
    loss.backward()
    return loss


def median(work: Callable[[], Any]) -> float:
    """Milliseconds of processor time."""
    taken = []
    for _ in range(TIMES):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return statistics.median(taken) * 1000


def recorded(net: Any, x: Any, **kept: bool) -> float:
    with inspect.record(**kept):
        step(net, x)
        return median(lambda: step(net, x))


def main() -> None:
    torch.set_num_threads(1)
    for make in (layers, transformer):
        net, x = make()
        step(net, x)
        plain = median(lambda net=net, x=x: step(net, x))
        loss = step(net, x)
        there = median(lambda net=net, loss=loss: inspect.trace(loss, model=net))
        print(
            f"{make.__name__:12} plain {plain:6.2f} ms   "
            f"record(reasons=False) x{recorded(net, x, reasons=False) / plain:.1f}   "
            f"record() x{recorded(net, x) / plain:.1f}   inspect.trace {there:.0f} ms"
        )


if __name__ == "__main__":
    main()
