"""Benchmarks: one training step of small networks, by a library with PyTorch's face."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy

Loss = Callable[[], Any]
NETWORKS = ("lenet", "residual", "lstm", "rnn cell", "encoder", "embedding")


def _data(lib: Any, *shape: int) -> Any:
    draw = numpy.random.default_rng(13)
    return lib.from_numpy(draw.standard_normal(shape, numpy.float32))


def _classes(lib: Any, top: int, *shape: int) -> Any:
    return lib.from_numpy(numpy.random.default_rng(14).integers(0, top, shape))


def _lenet(lib: Any) -> tuple[Any, Loss]:
    nn = lib.nn
    net = nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84),
        nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip
    x, y = _data(lib, 64, 1, 28, 28), _classes(lib, 10, 64)
    return net, lambda: nn.functional.cross_entropy(net(x), y)


def _residual(lib: Any) -> tuple[Any, Loss]:
    nn, relu = lib.nn, lib.nn.functional.relu

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = (nn.Conv2d(16, 16, 3, padding=1) for _ in range(2))
            self.before, self.after = nn.BatchNorm2d(16), nn.BatchNorm2d(16)

        def forward(self, x: Any) -> Any:
            return relu(x + self.after(self.second(relu(self.before(self.first(x))))))

    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), Block(), Block(), nn.AvgPool2d(8), nn.Flatten(),
        nn.Linear(256, 10),
    )  # fmt: skip
    x, y = _data(lib, 16, 3, 32, 32), _classes(lib, 10, 16)
    return net, lambda: nn.functional.cross_entropy(net(x), y)


def _lstm(lib: Any) -> tuple[Any, Loss]:
    net, x = lib.nn.LSTM(32, 64, batch_first=True), _data(lib, 16, 50, 32)
    return net, lambda: net(x)[0].pow(2).mean()


def _cell(lib: Any) -> tuple[Any, Loss]:
    net, x, start = lib.nn.RNNCell(16, 32), _data(lib, 200, 8, 16), _data(lib, 8, 32)

    def loss() -> Any:
        state = start
        for step in range(200):
            state = net(x[step], state)
        return state.pow(2).sum()

    return net, loss


def _encoder(lib: Any) -> tuple[Any, Loss]:
    net = lib.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, dropout=0.0)
    x = _data(lib, 8, 32, 64)
    return net, lambda: net(x).pow(2).mean()


def _embedding(lib: Any) -> tuple[Any, Loss]:
    nn = lib.nn
    net = nn.Sequential(nn.Embedding(20_000, 64), nn.Flatten(), nn.Linear(64 * 32, 10))
    x, y = _classes(lib, 20_000, 64, 32), _classes(lib, 10, 64)
    return net, lambda: nn.functional.cross_entropy(net(x), y)


MAKERS = dict(zip(NETWORKS, (_lenet, _residual, _lstm, _cell, _encoder, _embedding), strict=True))


def steps(lib: Any, size: int) -> dict[str, float]:
    """Forward, backward and a step of SGD of each network: the least of `size` times."""
    found: dict[str, float] = {}
    for name, make in MAKERS.items():
        lib.manual_seed(0)
        net, loss = make(lib)
        optimizer = lib.optim.SGD(net.parameters(), lr=0.01)
        taken = []
        for _ in range(size + 1):
            start = time.process_time()
            optimizer.zero_grad()
            loss().backward()
            optimizer.step()
            taken.append(time.process_time() - start)
        found[name] = min(taken[1:])
    return found
