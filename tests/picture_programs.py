"""Tests: programs whose pictures are measured: one of each kind that pictures have to show."""

from __future__ import annotations

from pathlib import Path

EXPRESSIONS = Path(__file__).parent.parent / "expressions"

MLP = """\
torch.manual_seed(1)
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
x = torch.randn(5, 3)
y = torch.randn(5, 1)
loss = F.mse_loss(net(x), y)
loss.backward()
"""
LENET = """\
torch.manual_seed(1)
class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(256, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)
    def forward(self, x):
        x = F.max_pool2d(torch.relu(self.conv1(x)), 2)
        x = F.max_pool2d(torch.relu(self.conv2(x)), 2)
        x = x.flatten(1)
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.fc3(x)
net = LeNet()
x = torch.randn(2, 1, 28, 28)
target = tensor([3, 7])
loss = F.cross_entropy(net(x), target)
loss.backward()
"""
RNN = """\
Wx = tensor([[0.5], [-0.3]], requires_grad=True)
Wh = tensor([[0.9, 0.1], [-0.2, 0.8]], requires_grad=True)
b = tensor([0.1, -0.1], requires_grad=True)
h = torch.zeros(2)
for t in range(1000):
    x = tensor([1.0 / (t + 1)])
    h = torch.tanh(Wx @ x + Wh @ h + b)
loss = (h ** 2).sum()
loss.backward()
"""
TRANSFORMER = """\
torch.manual_seed(0)
class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)
        self.out = nn.Linear(dim, dim)
    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        scores = q @ k.transpose(-2, -1) / 8 ** 0.5
        return self.out(torch.softmax(scores, dim=-1) @ v)

class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attention = Attention(dim)
        self.norm2 = nn.LayerNorm(dim)
        self.up = nn.Linear(dim, 2 * dim)
        self.down = nn.Linear(2 * dim, dim)
    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x))))

embed = nn.Embedding(10, 8)
blocks = nn.ModuleList([Block(8) for _ in range(2)])
head = nn.Linear(8, 10)
tokens = tensor([1, 4, 7, 2])
x = embed(tokens)
for block in blocks:
    x = block(x)
logits = head(x)
loss = F.cross_entropy(logits[:-1], tokens[1:])
loss.backward()
"""
DOUBLING = """\
x = tensor(1.0, requires_grad=True)
y = x * 1
for _ in range(40):
    y = y + y
y.backward()
"""
TWO_RESULTS = """\
x = tensor([1.0, 2.0], requires_grad=True)
w = tensor(3.0, requires_grad=True)
y = (x * w).sum()
z = (x ** 2).mean() + w
y.backward()
"""
TWO_PASSES = """\
w = tensor(2.0, requires_grad=True)
for step in range(2):
    loss = (w * 3 - 1) ** 2
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
"""
SECOND_ORDER = """\
x = tensor(2.0, requires_grad=True)
y = x ** 3 + torch.sin(x)
(g,) = torch.autograd.grad(y, x, create_graph=True)
g.backward()
"""
NO_VALUES = """\
y = (w * x + b).tanh()
y.backward()
"""
FAILING = """\
x = tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * 2
z = y.exp()
out = z @ torch.ones(4)
"""
FREED = """\
x = tensor(2.0, requires_grad=True)
y = x ** 3
y.backward()
y.backward()
"""
NAN = """\
x = tensor([0.0, 1.0, 4.0], requires_grad=True)
y = torch.sqrt(x)
z = torch.where(x > 0, y * x, 0.0)
loss = z.sum()
loss.backward()
"""
DEAD = """\
x = tensor([-1.0, -2.0], requires_grad=True)
unused = tensor(1.0, requires_grad=True)
y = torch.relu(x)
loss = (y * 3).sum() + unused.detach()
loss.backward()
"""
HOSTILE = """\
names = {}
names["</text><script>alert(1)</script>"] = tensor(1.0, requires_grad=True)
names["a\\u202egnp.exe&<>'\\" \\x00\\x1b[31m"] = tensor(2.0, requires_grad=True)
names["日本語のとても長い名前とても長い名前"] = tensor(3.0, requires_grad=True)
names["]]>--><!--"] = tensor(4.0, requires_grad=True)
total = tensor(0.0)
for key in names:
    total = total + names[key] * len("</g></svg>\\ud800")
total.backward()
"""
CALLS = """\
torch.manual_seed(0)
w = torch.randn(4, 4, requires_grad=True)
def attend(q, k):
    scores = q @ k.T
    return torch.softmax(scores / 2, dim=-1)
def layer(x):
    return torch.relu(attend(x @ w, x) @ x) + x
x = torch.randn(3, 4)
for i in range(3):
    x = layer(x)
loss = x.sum()
loss.backward()
"""
WIDE = """\
parts = [tensor(float(i), requires_grad=True) for i in range(200)]
loss = torch.stack(parts).prod()
loss.backward()
"""
TURN = "y = y.sin()\ny = y * x\ny = y.exp()\ny = y - x\ny = y.tanh()\ny = y + x\ny = y / 3\n"
LONG = "x = tensor(1.5, requires_grad=True)\ny = x\n" + TURN * 60 + "y.backward()\n"
OUTPUTS = """\
x = torch.arange(12.0).reshape(3, 4).requires_grad_()
values, places = x.max(dim=1)
a, b, c = x.unbind(0)
loss = (values * a[0]).sum() + (b * c).sum()
loss.backward()
"""
LSTM = """\
torch.manual_seed(0)
cell = nn.LSTMCell(3, 4)
h, c = torch.zeros(2, 4), torch.zeros(2, 4)
for t in range(6):
    h, c = cell(torch.randn(2, 3), (h, c))
loss = h.pow(2).mean()
loss.backward()
"""
EMPTY = "x = tensor(1.0)\nprint(x * 2)\n"

NEURONS = """\
class Neuron:
    def __init__(self, inputs):
        self.w = [tensor(0.1 * i - 0.3, requires_grad=True) for i in range(inputs)]
        self.b = tensor(0.0, requires_grad=True)
    def __call__(self, x):
        return sum((wi * xi for wi, xi in zip(self.w, x)), self.b).tanh()
class Layer:
    def __init__(self, inputs, outputs):
        self.neurons = [Neuron(inputs) for _ in range(outputs)]
    def __call__(self, x):
        return [neuron(x) for neuron in self.neurons]
class MLP:
    def __init__(self, sizes):
        self.layers = [Layer(a, b) for a, b in zip(sizes, sizes[1:])]
    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x[0]
net = MLP([3, 4, 4, 1])
xs = [[2.0, 3.0, -1.0], [3.0, -1.0, 0.5], [0.5, 1.0, 1.0], [1.0, 1.0, -1.0]]
loss = sum((net(x) - y) ** 2 for x, y in zip(xs, [1.0, -1.0, -1.0, 1.0]))
loss.backward()
"""
TRAINING = """\
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.05)
x = tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
y = tensor([[0.0], [1.0], [1.0], [0.0]])
for epoch in range(40):
    opt.zero_grad()
    loss = F.binary_cross_entropy_with_logits(net(x), y)
    loss.backward()
    opt.step()
"""
PROGRAMS = {
    "mlp": MLP, "lenet": LENET, "rnn": RNN, "transformer": TRANSFORMER, "doubling": DOUBLING,
    "two_results": TWO_RESULTS, "two_passes": TWO_PASSES, "second_order": SECOND_ORDER,
    "no_values": NO_VALUES, "failing": FAILING, "freed": FREED, "nan": NAN, "dead": DEAD,
    "hostile": HOSTILE, "calls": CALLS, "wide": WIDE, "long": LONG, "outputs": OUTPUTS,
    "empty": EMPTY, "lstm": LSTM, "neurons": NEURONS, "training": TRAINING,
}  # fmt: skip


def every() -> dict[str, str]:
    """These, and the programs of the house."""
    own = {path.stem: path.read_text("utf-8") for path in sorted(EXPRESSIONS.rglob("*.expr"))}
    return {**own, **PROGRAMS}
