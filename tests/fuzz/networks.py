"""The fuzzer's statements on networks: layers, modules of one's own, losses, optimisers."""

from __future__ import annotations

from collections.abc import Callable

from .author import Author, Shape, Value
from .graphs import HOOKS

ACTIVATIONS = (
    "nn.ReLU()", "nn.Tanh()", "nn.Sigmoid()", "nn.GELU()", "nn.LeakyReLU(0.2)", "nn.ELU()",
    "nn.SiLU()",
    "nn.Softplus()", "nn.Identity()", "nn.Dropout(0.4)", "nn.Hardtanh()", "nn.PReLU()",
    "nn.Softmax(dim=1)",
    "nn.LogSoftmax(-1)", "nn.ReLU(inplace=True)", "nn.Mish()", "nn.SELU()", "nn.Softsign()",
    "nn.ReLU6()",
)  # fmt: skip


SWITCHES = (
    "eval()", "train()", "train(False)", "zero_grad()", "requires_grad_(False)", "double()",
    "float()",
)  # fmt: skip
INITIAL = ("ones_", "zeros_", "normal_", "uniform_")
# What hooks of a module do.
BEFORE = ("None", "(i[0] * 2,)")
AFTER = ("None", "o * 2", "print(type(m).__name__, o.shape)")
ON_THE_WAY = (
    "None", "print(len(gi), go[0].shape)", "(gi[0] * 2,) if gi[0] is not None else None"
)  # fmt: skip


def sequence(author: Author, wide: int) -> tuple[list[str], int]:
    """Layers one after another, from a width to another."""
    layers = []
    for _ in range(author.draw.randint(1, 3)):
        out = author.draw.randint(1, 4)
        layers.append(f"nn.Linear({wide}, {out}{author.one('', '', ', bias=False')})")
        wide = out
        if author.chance(0.6):
            layers.append(author.one(*ACTIVATIONS))
        if author.chance(0.25):
            layers.append(author.one(
                f"nn.LayerNorm({wide})", f"nn.BatchNorm1d({wide})", f"nn.GroupNorm(1, {wide})",
                f"nn.RMSNorm({wide})",
                f"nn.BatchNorm1d({wide}, affine=False)",
                f"nn.LayerNorm({wide}, elementwise_affine=False)",
                f"nn.BatchNorm1d({wide}, track_running_stats=False)",
                f"nn.BatchNorm1d({wide}, momentum=None)",
            ))  # fmt: skip
    return layers, wide


def network(author: Author) -> str:
    """A module with a name, made by a class or by Sequential; it takes rows of three numbers."""
    layers, wide = sequence(author, 3)
    name = author.new("net")
    if author.chance(0.5):
        author.put(f"{name} = nn.Sequential({', '.join(layers)})")
    else:
        own_class(author, name, layers, wide)
    author.modules.append((name, (4, 3), (4, wide)))
    return name


def own_class(author: Author, name: str, layers: list[str], wide: int) -> None:
    """A class on nn.Module, and one object of it."""
    kind = author.new("Net")
    with author.block(f"class {kind}(nn.Module):"):
        with author.block(f"def __init__(self{author.one('', ', k=2.0')}):"):
            author.put(
                author.one(
                    "super().__init__()", "super().__init__()", f"super({kind}, self).__init__()"
                )
            )
            for place, layer in enumerate(layers):
                author.put(f"self.l{place} = {layer}")
            extra = author.one(
                "", "", "self.scale = nn.Parameter(torch.ones(1))", "self.twin = self.l0",
                "self.register_buffer('seen', torch.zeros(1))", "self.note = 'text'",
                f"self.tail = nn.ModuleList([nn.Linear({wide}, {wide})])",
                f"self.table = nn.ModuleDict({{'a': nn.Linear({wide}, {wide})}})",
                "self.ps = nn.ParameterList([nn.Parameter(torch.ones(1))])",
            )  # fmt: skip
            if extra:
                author.put(extra)
        with author.block("def forward(self, x):"):
            for place in range(len(layers)):
                author.put(
                    f"x = self.l{place}(x)"
                    + author.one("", "", ".tanh()" if author.chance(0.3) else "")
                )
            use = {"self.sca": "x = x * self.scale", "self.reg": "self.seen += 1",
            "self.tai": "for l in self.tail: x = l(x)",
                   "self.tab": "x = self.table['a'](x)",
                   "self.ps ": "x = x + self.ps[0]"}.get(extra[:8])  # fmt: skip
            if use:
                author.put(use)
            author.put("return x")
    author.put(f"{name} = {kind}()")


def batch(author: Author, shape: Shape) -> str:
    """Rows for a network."""
    found = author.pick(
        lambda value: (
            value.dtype == "float32" and value.shape[-1:] == shape[-1:] and len(value.shape) == 2
        )
    )
    if found is not None and author.chance(0.5) and 0 not in found.shape:
        return found.name
    return author.leaf(shape, grad=author.chance(0.3)).name


def called(author: Author) -> None:
    """A network on some rows; its parameters, its printed form, its modes."""
    if not author.modules or author.chance(0.5):
        network(author)
    name, takes, gives = author.draw.choice(author.modules)
    with author.attempt(0.2):
        if author.chance(0.25):
            author.put(f"{name}.{author.one(*SWITCHES)}")
        if author.chance(0.15):
            author.put(author.one(
                f"{name}.register_forward_hook(lambda m, i, o: {author.one(*AFTER)})",
                f"{name}.register_forward_pre_hook(lambda m, i: {author.one(*BEFORE)})",
                f"{name}.register_full_backward_hook(lambda m, gi, go: {author.one(*ON_THE_WAY)})",
                f"for p in {name}.parameters():\n    p.register_hook({author.one(*HOOKS[:8])})",
            ))  # fmt: skip
        if author.chance(0.35):
            author.put(author.one(
                f"print({name})", f"print(sum(p.numel() for p in {name}.parameters()))",
                f"print([n for n, _ in {name}.named_parameters()])",
                f"print(list({name}.state_dict().keys()))", f"print({name}.training)",
                f"print([type(m).__name__ for m in {name}.modules()])",
                f"for n, p in {name}.named_parameters():\n    print(n, p.shape, p.requires_grad)",
                f"{name}.load_state_dict({name}.state_dict())",
                f"print(len(list({name}.children())), {name}.state_dict())",
                f"with torch.no_grad():\n    for p in {name}.parameters():\n"
                f"        p.{author.one('fill_(0.5)', 'mul_(2)', 'zero_()', 'copy_(p + 1)')}",
                f"for p in {name}.parameters():\n    p.requires_grad = False",
                f"nn.init.{author.one(*INITIAL)}(next({name}.parameters()))",
                f"nn.utils.clip_grad_norm_({name}.parameters(), 1.0)",
                f"print(nn.utils.parameters_to_vector({name}.parameters()).shape)",
            ))  # fmt: skip
    author.bind(f"{name}({batch(author, takes)})", Value("", gives, "float32", True), gives)


LOSSES = (
    "F.mse_loss({a}, {b})", "F.l1_loss({a}, {b})", "F.smooth_l1_loss({a}, {b})",
    "F.huber_loss({a}, {b})",
    "nn.MSELoss()({a}, {b})", "nn.L1Loss(reduction='sum')({a}, {b})",
    "nn.MSELoss(reduction='none')({a}, {b}).sum()",
    "F.binary_cross_entropy_with_logits({a}, {b}.sigmoid().detach())",
    "F.kl_div({a}, {b}.softmax(-1), reduction='batchmean')",
    "F.binary_cross_entropy({a}.sigmoid(), {b}.sigmoid().detach())",
    "F.cosine_similarity({a}, {b}, dim=-1).sum()",
    "F.soft_margin_loss({a}, {b}.sign())", "nn.HuberLoss(delta=0.5)({a}, {b})",
    "nn.SmoothL1Loss(beta=0.5)({a}, {b})",
    "F.gaussian_nll_loss({a}, {b}, torch.ones_like({a}))", "F.poisson_nll_loss({a}, {b}.abs())",
    "F.pairwise_distance({a}, {b}).sum()",
    "(({a} - {b}) ** 2).mean()", "F.hinge_embedding_loss({a}, {b}.sign())",
    "F.triplet_margin_loss({a}, {b}, {a} * 2)",
)  # fmt: skip
CLASSES = (
    "F.cross_entropy({a}, {k})", "nn.CrossEntropyLoss()({a}, {k})",
    "F.nll_loss(F.log_softmax({a}, 1), {k})",
    "nn.CrossEntropyLoss(label_smoothing=0.1)({a}, {k})",
    "F.cross_entropy({a}, {k}, reduction='sum')",
    "F.cross_entropy({a}, {a}.softmax(1).detach())", "F.multi_margin_loss({a}, {k})",
    "F.cross_entropy({a}, {k}, ignore_index=0)",
    "F.cross_entropy({a}, {k}, weight=torch.ones({w}))",
)  # fmt: skip


def a_loss(author: Author) -> None:
    """A loss of two tensors, or of rows and classes, and perhaps its backward pass."""
    value = author.floating(lambda known: known.count > 0)
    name = author.new("loss")
    if len(value.shape) == 2 and author.chance(0.5):
        classes = [author.draw.randrange(value.shape[1]) for _ in range(value.shape[0])]
        text = author.one(*CLASSES).format(
            a=value.name, k=f"torch.tensor({classes})", w=value.shape[1]
        )
    else:
        other = (
            author.pick(lambda known: known.shape == value.shape and known.dtype == value.dtype)
            or value
        )
        text = author.one(*LOSSES).format(a=value.name, b=other.name)
    with author.attempt(0.5):
        author.put(f"{name} = {text}")
        if author.chance(0.6):
            author.put(f"{name}.backward()")
        author.put(f"print({name})")


OPTIMISERS = (
    "optim.SGD({p}, lr=0.1)", "optim.SGD({p}, lr=0.1, momentum=0.9)", "optim.Adam({p}, lr=0.01)",
    "optim.AdamW({p})",
    "optim.SGD({p}, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01)",
    "optim.RMSprop({p}, lr=0.01)",
    "optim.Adagrad({p}, lr=0.1)", "optim.Adadelta({p})", "optim.Adamax({p})", "optim.NAdam({p})",
    "optim.RAdam({p})",
    "optim.Adam({p}, lr=0.05, amsgrad=True, weight_decay=0.1)", "optim.Rprop({p})",
    "optim.ASGD({p})", "optim.SGD({p}, lr=0.1, maximize=True)",
)  # fmt: skip
SCHEDULES = (
    "optim.lr_scheduler.StepLR(opt, 1, 0.5)", "optim.lr_scheduler.ExponentialLR(opt, 0.9)",
    "optim.lr_scheduler.CosineAnnealingLR(opt, 3)",
    "optim.lr_scheduler.LambdaLR(opt, lambda e: 1 / (e + 1))",
    "optim.lr_scheduler.MultiStepLR(opt, [1, 2])", "optim.lr_scheduler.LinearLR(opt)",
)  # fmt: skip


def trained(author: Author) -> None:
    """A few steps of an optimiser on a network or on leaves."""
    if author.chance(0.6):
        name = (
            author.draw.choice(author.modules)[0]
            if author.modules and author.chance(0.5)
            else network(author)
        )
        parameters, cost = (
            f"{name}.parameters()",
            f"{author.one('', 'torch.tanh', 'F.relu')}({name}(rows)).pow(2).mean()",
        )
        if author.chance(0.5):
            cost = f"F.mse_loss({name}(rows), torch.zeros_like({name}(rows)))"
    else:
        one, other = author.leaf(grad=True), author.leaf(grad=True)
        parameters = author.one(
            f"[{one.name}]",
            f"[{one.name}, {other.name}]",
            f"[{{'params': [{one.name}], 'lr': 0.5}}, {{'params': {other.name}}}]",
        )
        cost = f"({one.name} ** 2).sum() + {other.name}.sin().sum()"
    author.put("rows = torch.randn(4, 3)")
    author.put(f"opt = {author.one(*OPTIMISERS).format(p=parameters)}")
    schedule = author.chance(0.25)
    if schedule:
        author.put(f"sched = {author.one(*SCHEDULES)}")
    with author.attempt(0.3), author.block(f"for step in range({author.draw.randint(1, 3)}):"):
        author.put(
            author.one(
                "opt.zero_grad()", "opt.zero_grad(set_to_none=False)", "opt.zero_grad()", "pass"
            )
        )
        author.put(f"cost = {cost}\ncost.backward()")
        author.put(
            author.one(
                "opt.step()",
                "opt.step()",
                "opt.step()\nprint(step, cost)",
                "print(f'{cost.item():.4f}')\nopt.step()",
            )
        )
        if schedule:
            author.put("sched.step()\nprint(sched.get_last_lr())")
    if author.chance(0.2):
        author.put(
            author.one(
                "print(opt)",
                "print(opt.param_groups[0]['lr'])",
                "print(opt.state_dict()['param_groups'][0]['lr'])",
                "print(len(opt.state))",
            )
        )


def layered(author: Author) -> None:
    """One layer of another kind on a tensor that fits it."""
    text, shape = author.one(
        ("nn.Embedding(5, 3)(torch.tensor([1, 0, 4]))", (3, 3)),
        ("nn.Embedding(4, 2, padding_idx=0)(torch.tensor([[0, 1], [2, 0]]))", (2, 2, 2)),
        ("nn.Conv1d(2, 3, 2)(torch.randn(1, 2, 5))", (1, 3, 4)),
        ("nn.Conv2d(1, 2, 3, padding=1)(torch.randn(1, 1, 4, 4))", (1, 2, 4, 4)),
        ("nn.MaxPool2d(2)(torch.randn(1, 1, 4, 4, requires_grad=True))", (1, 1, 2, 2)),
        ("nn.AvgPool1d(2)(torch.randn(1, 2, 4))", (1, 2, 2)),
        ("nn.Bilinear(2, 3, 2)(torch.randn(2, 2), torch.randn(2, 3))", (2, 2)),
        ("nn.RNN(3, 2)(torch.randn(4, 1, 3))[0]", (4, 1, 2)),
        ("nn.LSTM(3, 2, batch_first=True)(torch.randn(2, 3, 3))[0]", (2, 3, 2)),
        ("nn.GRUCell(3, 2)(torch.randn(2, 3))", (2, 2)),
        ("nn.Flatten()(torch.randn(2, 3, 2))", (2, 6)),
        ("nn.MultiheadAttention(4, 2)(*[torch.randn(3, 1, 4)] * 3)[0]", (3, 1, 4)),
        ("nn.BatchNorm2d(2)(torch.randn(2, 2, 2, 2))", (2, 2, 2, 2)),
        ("nn.LayerNorm((2, 3))(torch.randn(2, 3))", (2, 3)),
        ("nn.ConvTranspose1d(2, 1, 2)(torch.randn(1, 2, 3))", (1, 1, 4)),
        ("nn.Upsample(scale_factor=2)(torch.randn(1, 1, 2))", (1, 1, 4)),
        ("F.conv1d(torch.randn(1, 1, 5), torch.ones(1, 1, 2))", (1, 1, 4)),
        ("F.linear(torch.randn(2, 3), torch.randn(4, 3))", (2, 4)),
        ("F.embedding(torch.tensor([1, 1]), torch.randn(3, 2, requires_grad=True))", (2, 2)),
        ("nn.Dropout(0.5)(torch.ones(2, 3))", (2, 3)),
        ("F.layer_norm(torch.randn(2, 3), (3,))", (2, 3)),
        ("F.scaled_dot_product_attention(*[torch.randn(1, 2, 3)] * 3)", (1, 2, 3)),
        ("F.unfold(torch.randn(1, 1, 3, 3), 2)", (1, 4, 4)),
        ("nn.InstanceNorm1d(2)(torch.randn(1, 2, 3))", (1, 2, 3)),
        ("F.interpolate(torch.randn(1, 1, 3), size=5)", (1, 1, 5)),
        ("nn.PixelShuffle(2)(torch.randn(1, 4, 1, 1))", (1, 1, 2, 2)),
    )  # fmt: skip
    author.bind(text, Value("", shape, "float32", True), shape)


STATEMENTS: tuple[tuple[int, Callable[[Author], None]], ...] = (
    (3, called), (3, a_loss), (2, trained), (2, layered),
)  # fmt: skip
