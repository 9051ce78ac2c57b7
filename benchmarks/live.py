"""What a recording of PyTorch costs: a step with it and without it, by turns.

python benchmarks/live.py
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch
from torch import nn

from gradcli import inspect

ROUNDS, WARM, TIMES = 5, 5, 10


class Empty(torch.overrides.TorchFunctionMode):
    """Hears of operations as a recording does, and hands them on."""

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return function(*args, **(kwargs or {}))


def layers() -> tuple[Any, Any]:
    """Two layers on a few samples."""
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64)), torch.randn(32, 64)


def transformer(width: int, heads: int, hidden: int, *batch: int) -> Callable[[], tuple[Any, Any]]:
    """Six layers, some three hundred nodes."""

    def make() -> tuple[Any, Any]:
        layer = [nn.TransformerEncoderLayer(width, heads, hidden, dropout=0.0, batch_first=True)
                 for _ in range(6)]  # fmt: skip
        return nn.Sequential(*layer), torch.randn(*batch, width)

    return make


class Block(nn.Module):
    """The same layer with its attention written out, in a file that is recorded."""

    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.heads = heads
        self.inner = nn.ModuleList(nn.Linear(width, width) for _ in range(4))
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.end = nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))

    def attention(self, x: Any) -> Any:
        q, k, v = (
            layer(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for layer in self.inner[:3]
        )
        weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(-1)
        return self.inner[3]((weights @ v).transpose(1, 2).flatten(-2))

    def forward(self, x: Any) -> Any:
        x = x + self.attention(self.first(x))
        return x + self.end(self.second(x))


def written_out(width: int, heads: int, hidden: int, *batch: int) -> Callable[[], tuple[Any, Any]]:
    """Six of them."""

    def make() -> tuple[Any, Any]:
        layers = [Block(width, heads, hidden) for _ in range(6)]
        return nn.Sequential(*layers), torch.randn(*batch, width)

    return make


MODELS = {
    "two layers, 32 samples": layers,
    "transformer, 64 wide, 4 x 16 tokens": transformer(64, 4, 128, 4, 16),
    "transformer, 64 wide, 32 x 16 tokens": transformer(64, 4, 128, 32, 16),
    "transformer, 128 wide, 8 x 32 tokens": transformer(128, 4, 512, 8, 32),
    "attention written out, 64 wide, 32 x 16": written_out(64, 4, 128, 32, 16),
}
WAYS: dict[str, Callable[[], Any]] = {
    "plain": nullcontext,
    "empty mode": Empty,
    "record(reasons=False)": lambda: inspect.record(reasons=False),
    "record()": inspect.record,
}


def measured(step: Callable[[], Any]) -> dict[str, float]:
    """Milliseconds of processor time of a step, in each way."""
    taken: dict[str, list[float]] = {name: [] for name in WAYS}
    for _ in range(ROUNDS):
        for name, way in WAYS.items():
            with way():
                for turn in range(WARM + TIMES):
                    start = time.process_time()
                    step()
                    if turn >= WARM:
                        taken[name].append(time.process_time() - start)
    return {name: statistics.median(times) * 1000 for name, times in taken.items()}


def main() -> None:
    torch.set_num_threads(1)
    for name, make in MODELS.items():
        net, x = make()
        target = torch.randn_like(net(x))
        optimizer = torch.optim.AdamW(net.parameters())

        def passes(net: Any = net, x: Any = x, target: Any = target) -> Any:
            loss = (net(x) - target).pow(2).mean()
            loss.backward()
            return loss

        def step(passes: Any = passes, optimizer: Any = optimizer) -> None:
            optimizer.zero_grad()
            passes()
            optimizer.step()

        for what, work in (("forward and backward", passes), ("with AdamW", step)):
            times = measured(work)
            plain = times.pop("plain")
            ratios = "  ".join(f"{way} x{taken / plain:.2f}" for way, taken in times.items())
            print(f"{name:39} {what:21} {plain:6.2f} ms  {ratios}", flush=True)
        loss, start = passes(), time.process_time()
        inspect.trace(loss, model=net)
        print(f"{name:39} inspect.trace of a graph that is there "
              f"{(time.process_time() - start) * 1000:.0f} ms")  # fmt: skip


if __name__ == "__main__":
    main()
