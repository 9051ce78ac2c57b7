"""Tests of recordings: gradients, losses and random numbers are the same bits with and without.

They stand apart, since what a recording reads is the file that it is in.
"""

from __future__ import annotations

from typing import Any

import pytest
from oracle import oracle, torch

from gradcli import inspect

pytestmark = pytest.mark.skipif(not oracle.has_torch, reason="PyTorch is not installed")


def losses() -> dict[str, Any]:
    """Small programs of many kinds: each gives the tensors whose gradients are compared."""
    nn, F = torch.nn, torch.nn.functional
    from torch.utils.checkpoint import checkpoint

    def lstm() -> Any:
        net = nn.LSTM(3, 4, batch_first=True)
        net(torch.randn(2, 5, 3))[0].sum().backward()
        return list(net.parameters())

    def transformer() -> Any:
        net = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        net(torch.randn(2, 3, 8)).pow(2).sum().backward()
        net.eval()
        with torch.no_grad():
            net(torch.randn(2, 3, 8))
        return list(net.parameters())

    def residual() -> Any:
        conv, norm, end = nn.Conv2d(3, 3, 3, padding=1), nn.BatchNorm2d(3), nn.LazyLinear(2)
        x = torch.randn(2, 3, 6, 6)
        end(torch.relu(norm(conv(x)) + x).flatten(1)).sum().backward()
        return [*conv.parameters(), *norm.parameters(), *end.parameters()]

    def gan() -> Any:
        g, d = nn.Linear(2, 3), nn.Linear(3, 1)
        of_d, of_g = torch.optim.Adam(d.parameters()), torch.optim.SGD(g.parameters(), lr=0.1)
        for _ in range(2):
            of_d.zero_grad()
            (d(g(torch.randn(4, 2)).detach()).mean() - d(torch.randn(4, 3)).mean()).backward()
            of_d.step()
            of_g.zero_grad()
            d(g(torch.randn(4, 2))).mean().neg().backward()
            of_g.step()
        return [*g.parameters(), *d.parameters()]

    def vae() -> Any:
        enc, dec = nn.Linear(4, 4), nn.Linear(2, 4)
        x = torch.rand(3, 4)
        mean, spread = enc(x).chunk(2, -1)
        z = mean + torch.randn_like(mean) * (spread / 2).exp()
        F.binary_cross_entropy_with_logits(dec(z), x).backward()
        return [*enc.parameters(), *dec.parameters()]

    def checkpointed() -> Any:
        net = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
        for again in (False, True):
            x = torch.randn(3, 2, requires_grad=True)
            checkpoint(net, x, use_reentrant=again).sum().backward()
        return list(net.parameters())

    def tied() -> Any:
        first, last = nn.Embedding(4, 3), nn.Linear(3, 4, bias=False)
        last.weight = first.weight
        F.cross_entropy(last(first(torch.tensor([1, 2]))), torch.tensor([0, 3])).backward()
        return [first.weight]

    def custom() -> Any:
        class Double(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return x * 2

            @staticmethod
            def backward(ctx: Any, grad: Any) -> Any:
                return grad * 2

        x = torch.randn(3, requires_grad=True)
        Double.apply(x).pow(2).sum().backward()
        return [x]

    def maml() -> Any:
        w = torch.randn(3, requires_grad=True)
        (grad,) = torch.autograd.grad((w**2).sum(), w, create_graph=True)
        ((w - 0.1 * grad) ** 3).sum().backward()
        return [w]

    def penalty() -> Any:
        net, x = nn.Linear(3, 1), torch.randn(4, 3, requires_grad=True)
        (grad,) = torch.autograd.grad(net(x).tanh().sum(), x, create_graph=True)
        (grad.norm(dim=1) - 1).pow(2).mean().backward()
        return list(net.parameters())

    def in_place() -> Any:
        w = torch.randn(4, requires_grad=True)
        y = w * 2
        y[1:3] *= 3
        y.add_(1).relu_()
        y.sum().backward()
        return [w]

    def loader() -> Any:
        data = torch.utils.data.TensorDataset(torch.randn(6, 2), torch.randn(6, 1))
        net = nn.Linear(2, 1)
        opt = torch.optim.AdamW(net.parameters())
        for x, y in torch.utils.data.DataLoader(data, batch_size=2, shuffle=True):
            opt.zero_grad()
            F.mse_loss(net(x), y).backward()
            opt.step()
        return list(net.parameters())

    def broken() -> Any:
        first, last = (torch.randn(3, requires_grad=True) for _ in range(2))
        saved = first.exp()
        loss = (last * 2).sum() + saved.sum()  # PyTorch stores last's gradient, then it fails
        saved.add_(1)
        with pytest.raises(RuntimeError, match="inplace"):
            loss.backward()
        return [last]

    def parts() -> Any:
        w, v = torch.randn(1, 6, requires_grad=True), torch.randn(3, 2).t().requires_grad_()
        for again in (True, False):
            a, b, c = (w * 2).chunk(3, -1)
            one, _ = torch.unbind(v, 0)
            loss = (a * b).sum() + (one * one).logsumexp(0) + torch.cat([a, c]).prod()
            loss.backward(retain_graph=again)
            if again:
                (loss * 1).backward()
        return [w, v]

    def roots() -> Any:
        a, b = (torch.randn(3, requires_grad=True) for _ in range(2))
        h = a * b
        first, second = h.exp(), (h + a).sum()
        torch.autograd.backward([first, second, a], [torch.ones(3) * 2, None, torch.ones(3)])
        inner = a - b
        torch.autograd.backward([(inner * inner).sum(), inner], [None, torch.ones(3)])
        (a * 2).sum().expand(4).backward(torch.arange(4.0))
        return [a, b]

    def anomaly() -> Any:
        w, v = torch.zeros(2, requires_grad=True), torch.ones(2, requires_grad=True)
        with torch.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="nan values"):
            (w.sqrt() * 0 + v * 2).sum().backward()
        return [v]

    return {name: value for name, value in locals().items() if name in KINDS}


KINDS = (
    "lstm", "transformer", "residual", "gan", "vae", "checkpointed", "tied", "custom", "maml",
    "penalty", "in_place", "loader", "broken", "parts", "roots", "anomaly",
)  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("steps", [False, True])
def test_gradients_are_the_same_bits(kind: str, steps: bool) -> None:
    torch.manual_seed(3)
    plain = losses()[kind]()
    numbers = torch.rand(4)
    torch.manual_seed(3)
    with inspect.record(steps=steps) as run:
        watched = losses()[kind]()
    assert torch.equal(torch.rand(4), numbers)
    for one, other in zip(plain, watched, strict=True):
        assert torch.equal(one, other)
        assert torch.equal(one.grad, other.grad)
    assert not run._session.recorder.defects
    document = run.trace().to_dict()
    assert document["nodes"] and all(node["line"] for node in document["nodes"] if node["next"])
    assert run.why(watched[0]).verdict in ("fine", "tiny", "large")


def views(q: Any, s: Any) -> None:
    """Of nodes that save no tensors some have several outputs, some change shape or type."""
    a, b, c, d = q.unbind(0)
    parts = torch.split(a * 2 + s, [1, 2])
    u = parts[1].unsqueeze(0).expand(2, 2).t().reshape(4) + s
    v = b.view(3, 1) + c.view(1, 3) + s
    w = torch.chunk(v, 3)[1].squeeze().to(torch.complex64).real.half().float()
    h = w + v.flip(0)[0] + torch.cat([u[:1], u[2:]]).roll(1)
    (h.sum() - d.clone().mean() + torch.stack([h, d])[0].sum()).backward()


def test_what_views_pass_on_is_what_hooks_see() -> None:
    torch.manual_seed(0)
    q, s = torch.randn(4, 3, requires_grad=True), torch.randn(1, requires_grad=True)
    came = []
    for steps in (False, True):
        with inspect.record(steps=steps, reasons=False) as run:
            views(q, s)
        (one,) = run._recording.passes.kept.values()
        came.append(list(one.flows.values()))
        q.grad = s.grad = None
    assert len(came[0]) > 20
    assert all(torch.equal(one, other) for one, other in zip(*came, strict=True))
