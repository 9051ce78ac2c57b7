"""Programs that train: what is wrong with each was put there, or nothing is."""

from __future__ import annotations

DATA = """\
torch.manual_seed(0)
X = torch.randn(32, 4)
Y = X.sum(1, keepdim=True)
"""
NET = DATA + "net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))\n"
LOOP = """\
for i in range({turns}):
    opt.zero_grad()
    loss = ((net(X) - Y)**2).mean()
    loss.backward()
    opt.step()
"""
FIT = """\
x = tensor([1., 2., 3.])
y = tensor([3., 5., 7.])
w = tensor(0.5, requires_grad=True)
b = tensor(0.1, requires_grad=True)
"""
DEEP = (
    DATA
    + """\
layers = [nn.Linear(4, 8)]
for i in range({depth}):
    layers.append(nn.Linear(8, 8))
    layers.append(nn.{act}())
net = nn.Sequential(*layers, nn.Linear(8, 1))
opt = optim.SGD(net.parameters(), lr=0.01)
"""
)


def sgd(net: str = NET, lr: str = "0.05", turns: int = 20, given: str = "net.parameters()") -> str:
    return f"{net}opt = optim.SGD({given}, lr={lr})\n{LOOP.format(turns=turns)}"


ALL = ("net.0.weight", "net.0.bias", "net.2.weight", "net.2.bias")
CLASSES = (
    DATA
    + """\
net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.Linear(8, 3))
opt = optim.SGD(net.parameters(), lr=0.05)
for i in range(8):
    net.train()
    opt.zero_grad()
    loss = F.{loss}({scores}, torch.arange(32) % 3)
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    net.eval()
    with torch.no_grad():
        net(X)
"""
)
DROPOUT = (
    DATA
    + """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 8), nn.Linear(8, 1)
    def forward(self, x):
        return self.two(F.dropout(self.one(x), 0.1{training}))
net = Net()
opt = optim.SGD(net.parameters(), lr=0.05)
for i in range(5):
    net.train()
    opt.zero_grad()
    loss = ((net(X) - Y)**2).mean()
    loss.backward()
    opt.step()
    net.eval()
"""
)


def clipped(order: str) -> str:
    """A loop whose lines come in the order of their first letters."""
    lines = {
        "z": "opt.zero_grad()", "l": "loss = ((net(X) - Y)**2).mean()", "b": "loss.backward()",
        "c": "nn.utils.clip_grad_norm_(net.parameters(), 1.0)", "s": "opt.step()",
    }  # fmt: skip
    loop = "".join(f"    {lines[letter]}\n" for letter in order)
    return f"{NET}opt = optim.SGD(net.parameters(), lr=0.05)\nfor i in range(5):\n{loop}"


# What is wrong with which leaves. A program has these verdicts and no others.
PLANTED: dict[str, tuple[str, dict[str, tuple[str, ...]]]] = {
    "a head that is newer than the optimiser": (
        sgd().replace("for i", "net[2] = nn.Linear(8, 1)\nfor i"),
        {"not given to the optimiser": ("net.2.weight", "net.2.bias")},
    ),
    "a weight that is made in each turn": (
        sgd(turns=4).replace(
            "    loss", "    net[0].weight = nn.Parameter(net[0].weight.clamp(-1, 1))\n    loss", 1
        ),
        {"not given to the optimiser": ("net.0.weight",)},
    ),
    "a hook that makes zeros": (
        NET + "net[0].weight.register_hook(lambda g: g * 0)\n" + sgd(net=""),
        {"zero": ("net.0.weight",)},
    ),
    "one class": (
        CLASSES.format(loss="cross_entropy", scores="net(X)[:, :1]").replace(
            "torch.arange(32) % 3", "torch.zeros(32, dtype=torch.long)"
        ),
        {"vanishing": ("net.0.weight", "net.0.bias", "net.2.weight", "net.2.bias")},
    ),
    "a row of targets": (
        sgd().replace("keepdim=True", "keepdim=False"), {"broadcast": ("net(X) - Y on line 8",)},
    ),
    "softmax before cross_entropy": (
        CLASSES.format(loss="cross_entropy", scores="F.softmax(net(X), 1)"),
        {"softmax twice": ("F.cross_entropy(F.softmax(net(X), 1), torch.arange(32) % 3) on line 9",)},  # noqa: E501
    ),
    "scores for nll_loss": (
        CLASSES.format(loss="nll_loss", scores="net(X)"),
        {"no logarithm": ("F.nll_loss(net(X), torch.arange(32) % 3) on line 9",)},
    ),
    "eval and no train": (
        CLASSES.format(loss="cross_entropy", scores="net(X)").replace("    net.train()\n", ""),
        {"eval mode": ("loss.backward() on line 9",)},
    ),
    "dropout that never rests": (
        DROPOUT.format(training=""),
        {"always on": ("F.dropout(self.one(x), 0.1) on line 9",)},
    ),
    "clipped behind the step": (
        clipped("zlbsc"),
        {"no effect": ("nn.utils.clip_grad_norm_(net.parameters(), 1.0) on line 11",)},
    ),
    "clipped before there is a gradient": (
        clipped("zlcbs"),
        {"no effect": ("nn.utils.clip_grad_norm_(net.parameters(), 1.0) on line 9",)},
    ),
    "no zero_grad": (sgd().replace("    opt.zero_grad()\n", ""), {"stale": ALL}),
    "zero_grad before the loop": (
        sgd().replace("    opt.zero_grad()\n", "").replace("for i", "opt.zero_grad()\nfor i"),
        {"stale": ALL},
    ),
    "no reset by hand": (
        FIT + """\
for i in range(5):
    loss = ((w * x + b - y)**2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
        b -= 0.01 * b.grad
""",
        {"stale": ("w", "b")},
    ),
    "one of two is reset": (
        FIT + """\
for i in range(5):
    loss = ((w * x + b - y)**2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
        b -= 0.01 * b.grad
    w.grad.zero_()
""",
        {"stale": ("b",)},
    ),
    "no zero_grad in a function": (
        NET + """\
def train(model, steps):
    opt = optim.Adam(model.parameters(), lr=0.01)
    for i in range(steps):
        loss = F.mse_loss(model(X), Y)
        loss.backward()
        opt.step()
train(net, 10)
""",
        {"stale": ALL},
    ),
    "a relu that gets negative numbers": (
        sgd(NET.replace("Tanh", "ReLU") + "with torch.no_grad():\n    net[0].bias.fill_(-100.)\n"),
        {"dead": ALL[:3]},
    ),
    "a relu in a class": (
        DATA + """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.last = nn.Linear(8, 1)
    def forward(self, x):
        h = F.relu(self.first(x) - 50.)
        return self.last(h)
net = Net()
opt = optim.Adam(net.parameters())
""" + LOOP.format(turns=10),
        {"dead": ("net.first.weight", "net.first.bias", "net.last.weight")},
    ),
    "a relu that dies": (
        sgd(NET.replace("Tanh", "ReLU"), turns=20).replace(
            "    opt.step()\n",
            "    opt.step()\n    if i == 4:\n        with torch.no_grad():\n"
            "            net[0].bias.fill_(-100.)\n",
        ),
        {"dead": ALL[:3]},
    ),
    "a clamp": (
        FIT + """\
for i in range(6):
    loss = (((w * x + b).clamp(max=-1.) - y)**2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
        b -= 0.01 * b.grad
    w.grad = None
    b.grad = None
""",
        {"dead": ("w", "b")},
    ),
    "a mask of everything": (
        sgd(turns=5).replace("net(X) - Y", "net(X).masked_fill(X[:, :1] < 100, 0.) - Y"),
        {"dead": ALL},
    ),
    "one pass through a dead relu": (
        FIT + "loss = (torch.relu(-w * x) * b).sum()\nloss = loss + b\nloss.backward()\n",
        {"dead": ("w",)},
    ),
    "round": (
        FIT + """\
opt = optim.SGD([w, b], lr=0.01)
for i in range(5):
    opt.zero_grad()
    loss = ((torch.round(w * x) + b - y)**2).mean()
    loss.backward()
    opt.step()
""",
        {"zero": ("w",)},
    ),
    "times zero": (
        FIT + """\
opt = optim.SGD([w, b], lr=0.01)
for i in range(5):
    opt.zero_grad()
    loss = ((w * x * 0 + b - y)**2).mean()
    loss.backward()
    opt.step()
""",
        {"zero": ("w",)},
    ),
    "twelve sigmoids": (
        DEEP.format(depth=12, act="Sigmoid") + LOOP.format(turns=10),
        {"vanishing": tuple(f"net.{i}.{kind}" for i in (0, 1, 3, 5, 7, 9, 11, 13, 15, 17)
                            for kind in ("weight", "bias"))},
    ),
    "a sigmoid far out": (
        sgd(NET.replace("Tanh", "Sigmoid") + "with torch.no_grad():\n    net[0].bias.fill_(200.)\n",
            turns=5),
        {"vanishing": ALL[:2]},
    ),
    "small weights, many layers": (
        DATA + """\
ws = [(0.01 * torch.randn(4, 4)).requires_grad_() for i in range(6)]
opt = optim.SGD(ws, lr=0.1)
for i in range(5):
    opt.zero_grad()
    h = X
    for w in ws:
        h = torch.tanh(h @ w + h * 0.001)
    loss = (h + ws[5].sum() - Y).pow(2).mean()
    loss.backward()
    opt.step()
""",
        {"vanishing": ("ws[0]", "ws[1]", "ws[2]")},
    ),
    "a hundred sigmoids": (
        DEEP.format(depth=100, act="Sigmoid") + LOOP.format(turns=3),
        {"vanishing": ()},  # nearly all of them
    ),
    "a step that is too large": (
        sgd(lr="2.0", turns=12),
        {"exploding": ALL[2:], "vanishing": ALL[:2]},  # tanh has saturated
    ),
    "until it is NaN": (
        FIT + """\
for i in range(60):
    loss = ((w * x + b - y)**2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 1.5 * w.grad
        b -= 1.5 * b.grad
    w.grad = None
    b.grad = None
""",
        {"exploding": ("w", "b")},
    ),
    "large weights, many layers": (
        DATA + """\
ws = [(4. * torch.randn(4, 4)).requires_grad_() for i in range(14)]
opt = optim.SGD(ws, lr=1e-12)
for i in range(3):
    opt.zero_grad()
    h = X
    for w in ws:
        h = h @ w
    loss = h.mean()
    loss.backward()
    opt.step()
""",
        {"exploding": tuple(f"ws[{i}]" for i in range(14))},
    ),
    "the root of zero": (
        FIT + """\
opt = optim.SGD([w, b], lr=0.01)
for i in range(4):
    opt.zero_grad()
    loss = ((w * x + b - y)**2).mean() + torch.sqrt((w - w.detach())**2)
    loss.backward()
    opt.step()
""",
        {"nan": ("w", "b")},
    ),
    "a head that the optimiser lacks": (
        sgd(NET + "head = nn.Linear(1, 1)\n", turns=10).replace("net(X)", "head(net(X))"),
        {"not given to the optimiser": ("head.weight", "head.bias")},
    ),
    "layers in a list": (
        DATA + """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 4)]
        self.out = nn.Linear(4, 1)
    def forward(self, x):
        return self.out(torch.tanh(self.layers[0](x)))
net = Net()
opt = optim.SGD(net.parameters(), lr=0.1)
""" + LOOP.format(turns=10),
        {"not given to the optimiser": ("net.layers[0].weight", "net.layers[0].bias")},
    ),
    "weights only": (
        sgd(given="[net[0].weight, net[2].weight]", turns=10),
        {"not given to the optimiser": ("net.0.bias", "net.2.bias")},
    ),
    "a leaf that the optimiser lacks": (
        FIT + """\
opt = optim.Adam([w], lr=0.1)
for i in range(5):
    opt.zero_grad()
    loss = ((w * x + b - y)**2).mean()
    loss.backward()
    opt.step()
""",
        {"not given to the optimiser": ("b",)},
    ),
    "copies in the optimiser": (
        sgd(given="[p.detach().clone().requires_grad_() for p in net.parameters()]", turns=10),
        {"not given to the optimiser": ALL},
    ),
    "reset between backward and step": (
        FIT + """\
opt = optim.SGD([w, b], lr=0.1)
for i in range(5):
    loss = ((w * x + b - y)**2).mean()
    loss.backward()
    opt.zero_grad()
    opt.step()
""",
        {"not updated": ("w", "b")},
    ),
    "layers in a plain list": (
        DATA + """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 4) for _ in range(2)]
        self.out = nn.Linear(4, 1)
    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.out(x)
net = Net()
opt = optim.SGD(net.parameters(), lr=0.05)
for i in range(5):
    opt.zero_grad()
    loss = F.mse_loss(net(X), Y)
    loss.backward()
    opt.step()
""",
        {"not given to the optimiser": tuple(
            f"net.layers[{i}].{name}" for i in range(2) for name in ("weight", "bias"))},
    ),
    "the optimiser of an earlier network": (
        sgd().replace("for i", NET.removeprefix(DATA) + "for i"),
        {"not given to the optimiser": ALL},
    ),
    "a layer that nothing uses": (
        DATA + """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.middle = nn.Linear(8, 8)
        self.last = nn.Linear(8, 1)
    def forward(self, x):
        return self.last(torch.tanh(self.first(x)))
net = Net()
opt = optim.SGD(net.parameters(), lr=0.05)
""" + LOOP.format(turns=10),
        {"not reached": ("net.middle.weight", "net.middle.bias")},
    ),
    "an encoder that is cut off": (
        sgd(NET + "head = nn.Linear(1, 1)\n", turns=10,
            given="[*net.parameters(), *head.parameters()]",
            ).replace("net(X)", "head(net(X).detach())"),
        {"not reached": ALL},
    ),
    "a leaf that is not used": (
        FIT + """\
opt = optim.SGD([w, b], lr=0.01)
for i in range(5):
    opt.zero_grad()
    loss = ((w * x - y)**2).mean()
    loss.backward()
    opt.step()
""",
        {"not reached": ("b",)},
    ),
    "no step": (sgd().replace("    opt.step()\n", ""), {"not updated": ALL}),
    "a rate of zero": (sgd(lr="0.0"), {"not updated": ALL}),
    "a rate that a schedule makes too small": (
        sgd().replace("for i", "plan = optim.lr_scheduler.StepLR(opt, 1, gamma=0.1)\nfor i")
        + "    plan.step()\n",
        {"not updated": ALL},
    ),
    "only one is changed": (
        FIT + """\
for i in range(5):
    loss = ((w * x + b - y)**2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
    w.grad = None
""",
        {"not updated": ("b",)},
    ),
    "only weights are changed": (
        NET + """\
for i in range(5):
    net.zero_grad()
    loss = ((net(X) - Y)**2).mean()
    loss.backward()
    with torch.no_grad():
        for name, p in net.named_parameters():
            if 'weight' in name:
                p -= 0.01 * p.grad
""",
        {"not updated": ("net.0.bias", "net.2.bias")},
    ),
    "a group with a rate of zero": (
        sgd(given="[{'params': net[0].parameters()}, {'params': net[2].parameters(), 'lr': 0.0}]"),
        {"not updated": ("net.2.weight", "net.2.bias")},
    ),
}  # fmt: skip

HEALTHY: dict[str, str] = {
    "a tensor without elements": (
        "e = torch.zeros(0, 3, requires_grad=True)\nx = tensor(2.0, requires_grad=True)\n"
        "(e.sum() + x).backward()\n"
    ),
    "scores for cross_entropy": CLASSES.format(loss="cross_entropy", scores="net(X)"),
    "log_softmax twice": CLASSES.format(loss="cross_entropy", scores="net(X).log_softmax(1)"),
    "log_softmax and nll_loss": CLASSES.format(loss="nll_loss", scores="F.log_softmax(net(X), 1)"),
    "logarithms of attention": CLASSES.format(
        loss="nll_loss", scores="torch.log(net(X).softmax(1) + 1e-9)"
    ),
    "two networks, of which one was looked at in between": (
        DATA + "nets = [nn.Linear(4, 1), nn.Sequential(nn.Linear(4, 1), nn.BatchNorm1d(1))]\n"
        "steps = [optim.SGD(net.parameters(), lr=0.01) for net in nets]\n"
        "for i in range(6):\n"
        "    nets[1].eval()\n    nets[1](X)\n    nets[1].train()\n"
        "    for net, opt in zip(nets, steps):\n"
        "        opt.zero_grad()\n        ((net(X) - Y)**2).mean().backward()\n        opt.step()\n"
    ),
    "dropout that rests": DROPOUT.format(training=", self.training"),
    "clipped between": clipped("zlbcs"),
    "clipped at the end of the turn before": clipped("lbcsz"),
    "pairs of predictions": sgd().replace(
        "((net(X) - Y)**2).mean()",
        "((net(X) - net(X)[:, 0] - (Y - Y[:, 0]))**2).mean()",
    ),
    "distances to as many centres": DATA + """\
centres = torch.randn(32, requires_grad=True)
opt = optim.SGD([centres], lr=0.1)
for i in range(5):
    opt.zero_grad()
    loss = ((Y - centres)**2).min(1).values.mean()
    loss.backward()
    opt.step()
""",
    "a network": sgd(turns=100),
    "a network with Adam": sgd(turns=100).replace("SGD", "Adam"),
    "a line by hand": FIT + """\
for i in range(200):
    loss = ((w * x + b - y)**2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.05 * w.grad
        b -= 0.05 * b.grad
    w.grad.zero_()
    b.grad.zero_()
""",
    "a line with new leaves": FIT + """\
for i in range(50):
    loss = ((w * x + b - y)**2).mean()
    gw, gb = torch.autograd.grad(loss, [w, b])
    w = (w - 0.05 * gw).detach().requires_grad_()
    b = (b - 0.05 * gb).detach().requires_grad_()
""",
    "until the gradient is 0": """\
w = tensor(3., requires_grad=True)
v = tensor(1., requires_grad=True)
for i in range(300):
    loss = (w - 1)**2 + 0.001 * (v - 5)**2
    loss.backward()
    with torch.no_grad():
        w -= 0.3 * w.grad
        v -= 0.3 * v.grad
    w.grad = v.grad = None
""",
    "xor": """\
torch.manual_seed(1)
X = tensor([[0., 0.], [0., 1.], [1., 0.], [1., 1.]])
Y = tensor([[0.], [1.], [1.], [0.]])
net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1), nn.Sigmoid())
opt = optim.Adam(net.parameters(), lr=0.05)
for i in range(200):
    opt.zero_grad()
    loss = F.binary_cross_entropy(net(X), Y)
    loss.backward()
    opt.step()
""",
    "classes": """\
torch.manual_seed(0)
X = torch.randn(60, 5)
labels = X[:, :3].argmax(1)
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3))
opt = optim.SGD(net.parameters(), lr=0.3, momentum=0.9, weight_decay=1e-4)
plan = optim.lr_scheduler.StepLR(opt, 10, 0.5)
for epoch in range(20):
    for at in range(0, 60, 20):
        opt.zero_grad()
        loss = F.cross_entropy(net(X[at:at + 20]), labels[at:at + 20])
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
    plan.step()
""",
    "convolutions and batch norm": """\
torch.manual_seed(0)
X = torch.randn(8, 1, 8, 8)
labels = tensor([0, 1, 0, 1, 0, 1, 0, 1])
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 4, 3),
                    nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                    nn.Linear(4, 2))
opt = optim.Adam(net.parameters(), lr=0.01)
for i in range(15):
    opt.zero_grad()
    loss = F.cross_entropy(net(X), labels)
    loss.backward()
    opt.step()
""",
    "an LSTM": """\
torch.manual_seed(0)
X = torch.sin(torch.linspace(0, 12, 60)).reshape(3, 20, 1)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTM(1, 8, batch_first=True)
        self.out = nn.Linear(8, 1)
    def forward(self, x):
        h, _ = self.cell(x)
        return self.out(h)
net = Net()
opt = optim.Adam(net.parameters(), lr=0.01)
for i in range(10):
    opt.zero_grad()
    loss = F.mse_loss(net(X[:, :-1]), X[:, 1:])
    loss.backward()
    opt.step()
""",
    "a transformer": """\
torch.manual_seed(0)
X = torch.randint(0, 10, (4, 6))
embed = nn.Embedding(10, 16)
encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2)
head = nn.Linear(16, 10)
opt = optim.AdamW([*embed.parameters(), *encoder.parameters(), *head.parameters()], lr=0.003)
for i in range(8):
    opt.zero_grad()
    out = head(encoder(embed(X)))
    loss = F.cross_entropy(out.reshape(-1, 10), X.reshape(-1))
    loss.backward()
    opt.step()
""",
    "attention with small weights": """\
torch.manual_seed(0)
X = torch.randint(0, 10, (4, 6))
class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(n), nn.LayerNorm(n)
        self.q, self.k, self.v, self.o = [nn.Linear(n, n) for _ in range(4)]
        self.up, self.down = nn.Linear(n, 4 * n), nn.Linear(4 * n, n)
    def forward(self, x):
        h = self.norm1(x)
        a = torch.softmax(self.q(h) @ self.k(h).transpose(1, 2) / 4, -1)
        x = x + self.o(a @ self.v(h))
        return x + self.down(F.gelu(self.up(self.norm2(x))))
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 16)
        self.blocks = nn.ModuleList([Block(16) for _ in range(3)])
        self.head = nn.Linear(16, 10)
    def forward(self, t):
        x = self.embed(t)
        for block in self.blocks:
            x = block(x)
        return self.head(x)
model = Model()
for p in model.parameters():
    if p.dim() > 1:
        nn.init.normal_(p, std=0.02)
opt = optim.AdamW(model.parameters(), lr=0.003)
for i in range(8):
    opt.zero_grad()
    loss = F.cross_entropy(model(X).reshape(-1, 10), X.reshape(-1))
    loss.backward()
    opt.step()
""",
    "two networks against each other": """\
torch.manual_seed(0)
real = torch.randn(16, 2) * 0.5 + 2
G = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
D = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
opt_g = optim.Adam(G.parameters(), lr=0.01)
opt_d = optim.Adam(D.parameters(), lr=0.01)
for i in range(15):
    fake = G(torch.randn(16, 2))
    opt_d.zero_grad()
    loss_d = F.softplus(-D(real)).mean() + F.softplus(D(fake.detach())).mean()
    loss_d.backward()
    opt_d.step()
    opt_g.zero_grad()
    loss_g = F.softplus(-D(fake)).mean()
    loss_g.backward()
    opt_g.step()
""",
    "a network and its target": """\
torch.manual_seed(0)
q = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
target = copy.deepcopy(q)
opt = optim.Adam(q.parameters(), lr=0.01)
for i in range(12):
    s, s2, r = torch.randn(10, 3), torch.randn(10, 3), torch.randn(10)
    with torch.no_grad():
        goal = r + 0.9 * target(s2).max(1).values
    loss = F.smooth_l1_loss(q(s)[:, 0], goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if i % 5 == 4:
        target.load_state_dict(q.state_dict())
""".replace("torch.manual", "import copy\ntorch.manual", 1),
    "several batches for a step": NET + """\
opt = optim.SGD(net.parameters(), lr=0.05)
for i in range(10):
    for at in range(0, 32, 8):
        loss = ((net(X[at:at + 8]) - Y[at:at + 8])**2).mean() / 4
        loss.backward()
    opt.step()
    opt.zero_grad()
""",
    "a closure": NET + """\
opt = optim.LBFGS(net.parameters(), lr=0.5, max_iter=5)
def closure():
    opt.zero_grad()
    loss = ((net(X) - Y)**2).mean()
    loss.backward()
    return loss
for i in range(4):
    opt.step(closure)
""",
    "a physical equation": """\
torch.manual_seed(0)
t = torch.linspace(0, 2, 20).reshape(-1, 1).requires_grad_()
net = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1))
opt = optim.Adam(net.parameters(), lr=0.01)
for i in range(10):
    opt.zero_grad()
    u = net(t)
    du, = torch.autograd.grad(u.sum(), t, create_graph=True)
    loss = (du + u).pow(2).mean() + (net(torch.zeros(1, 1)) - 1).pow(2).mean()
    loss.backward()
    opt.step()
""",
    "margins": """\
torch.manual_seed(0)
X = torch.randn(40, 2)
y = torch.sign(X[:, 0] + 0.5 * X[:, 1])
w = torch.zeros(2, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
opt = optim.SGD([w, b], lr=0.1)
for i in range(60):
    opt.zero_grad()
    loss = torch.relu(1 - y * (X @ w + b)).mean() + 0.01 * (w * w).sum()
    loss.backward()
    opt.step()
""",
    "margins that all hold": """\
X = tensor([[2., 2.], [-2., -2.]])
y = tensor([1., -1.])
w = torch.zeros(2, requires_grad=True)
opt = optim.SGD([w], lr=0.5)
for i in range(20):
    opt.zero_grad()
    loss = torch.relu(1 - y * (X @ w)).mean()
    loss.backward()
    opt.step()
""",
    "a network that is not trained": """\
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
x = torch.randn(1, 4, requires_grad=True)
opt = optim.Adam([x], lr=0.1)
for i in range(10):
    opt.zero_grad()
    loss = F.cross_entropy(net(x), tensor([1]))
    loss.backward()
    opt.step()
""",
    "a part that is frozen": NET + """\
for p in net[0].parameters():
    p.requires_grad_(False)
opt = optim.Adam([p for p in net.parameters() if p.requires_grad], lr=0.01)
""" + LOOP.format(turns=10),
    "a class that trains": DATA + """\
class Trainer:
    def __init__(self, model):
        self.model = model
        self.opt = optim.SGD(model.parameters(), lr=0.05)
    def step(self, x, y):
        self.opt.zero_grad(set_to_none=False)
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        self.opt.step()
        return loss.item()
trainer = Trainer(nn.Linear(4, 1))
losses = [trainer.step(X, Y) for i in range(20)]
""",
    "numbers from distributions": """\
torch.manual_seed(0)
X = torch.rand(20, 6)
enc, dec = nn.Linear(6, 4), nn.Linear(2, 6)
opt = optim.Adam([*enc.parameters(), *dec.parameters()], lr=0.01)
for i in range(12):
    opt.zero_grad()
    mu, logvar = enc(X).chunk(2, 1)
    z = mu + torch.exp(0.5 * logvar) * torch.randn(20, 2)
    fit = F.binary_cross_entropy_with_logits(dec(z), X)
    kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).mean()
    loss = fit + 0.1 * kl
    loss.backward()
    opt.step()
""",
    "sensitivity of an input": NET + """\
opt = optim.Adam(net.parameters(), lr=0.01)
""" + LOOP.format(turns=10) + """\
probe = X[:1].clone().requires_grad_()
net(probe).sum().backward()
print(probe.grad)
opt.zero_grad()
""",
    "targets that are large": sgd(turns=15, lr="1e-4").replace("Y)**2", "1e4 * Y)**2"),
    "one pass": FIT + "((w * x + b - y)**2).mean().backward()\n",
    "two passes that add up": FIT + """\
(w * x).sum().backward()
(w * b).backward()
print(w.grad, b.grad)
""",
}  # fmt: skip
