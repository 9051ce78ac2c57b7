"""The fuzzer's statements of the language: loops, functions, containers, printing, mistakes."""

from __future__ import annotations

from collections.abc import Callable

from .author import DEEPEST, Author


def some(author: Author, least: int, most: int) -> None:
    """A few statements inside a block; names made there are known behind it."""
    from . import graphs, tensors

    choice = [*tensors.STATEMENTS, (4, shown), (2, graphs.switch), (1, graphs.backward)]
    if author.depth < DEEPEST:
        choice += [(1, branch), (1, graphs.mode)]
    for _ in range(author.draw.randint(least, most)):
        one_of(author, choice)


def one_of(author: Author, choice: list[tuple[int, Callable[[Author], None]]]) -> None:
    """One statement, by weight; its kind is counted."""
    kind = author.draw.choices([kind for _, kind in choice], [weight for weight, _ in choice])[0]
    author.kinds[kind.__name__] += 1
    kind(author)


def inside(author: Author, head: str, least: int = 1, most: int = 3) -> None:
    """A block that may not run: what it binds is not used behind it."""
    known = list(author.values)
    with author.block(head):
        some(author, least, most)
    now = {value.name: value for value in author.values}
    author.values = [now[value.name] for value in known if value.name in now]


def loop(author: Author) -> None:
    """A tensor bound anew, turn by turn."""
    value = author.floating()
    count = author.draw.randint(1, 4)
    name = author.new("acc")
    author.put(f"{name} = {value.name}" + author.one("", " * 1", ".clone()", ".sum()"))
    step = author.one("{n} = {n} * {v}", "{n} = {n}.tanh() + i", "{n} = {n} + {v} * i",
    "{n} = {n}.sin() * 2",
                      "{n} = {n} * 0.5 + {v}.detach()", "{n} += {v}", "{n} = {n} - 0.1 * {n}",
                      "{n} = {n}.detach() * {v}")  # fmt: skip
    head = author.one(
        f"for i in range({count}):",
        f"for i in range({count}):",
        f"for i, row in enumerate([{value.name}] * {count}):",
    )
    if author.chance(0.2):
        author.put("i = 0")
        head = f"while i < {count}:"
    with author.attempt(0.3):
        with author.block(head):
            author.put(step.format(n=name, v=value.name))
            if "while" in head:
                author.put("i += 1")
            if author.chance(0.3):
                author.put(author.one("if i == 1: continue",
                f"if i > 1: break\nprint(i, {name}.shape)",
                                      f"print(i, {name}.sum().item() > 0)",
                                      f"if {name}.sum() > 100: break"))  # fmt: skip
            if author.chance(0.3):
                some(author, 1, 1)
        if author.chance(0.15):
            author.put("else:\n    print('done')")
    author.values.append(value._replace(name=name, leaf=False))


def training(author: Author) -> None:
    """A few steps of descent by hand."""
    leaf = author.leaf(author.one((3,), (2, 3), ()), grad=True)
    rate = author.one("0.1", "0.01", "1")
    with author.block(f"for step in range({author.draw.randint(1, 4)}):"):
        author.put(
            f"cost = (({leaf.name} - {author.one('1', '0.5')}) ** 2).{author.one('sum', 'mean')}()"
        )
        author.put(
            author.one(
                "cost.backward()",
                "cost.backward()",
                "print(f'{step}: {cost.item():.4f}')\ncost.backward()",
            )
        )
        way = author.draw.randrange(3)
        if way == 0:
            author.put(
                f"with torch.no_grad():\n    {leaf.name} -= {rate} * {leaf.name}.grad\n"
                f"    {leaf.name}.grad.zero_()"
            )
        elif way == 1:
            author.put(f"{leaf.name}.data -= {rate} * {leaf.name}.grad\n{leaf.name}.grad = None")
        else:
            author.put(
                f"{leaf.name} = ({leaf.name} - {rate} * {leaf.name}.grad).detach().requires_grad_()"
            )
    author.put(f"print({leaf.name})")


def branch(author: Author) -> None:
    """if, on a number, a flag or a tensor."""
    value = author.pick() or author.leaf()
    test = author.one(f"{value.name}.sum() > 0", f"{value.name}.requires_grad",
    f"{value.name}.numel() > 2", "True",
                      f"{value.name}.dim() == 2 and not {value.name}.is_leaf",
                      f"{value.name}.grad is None", f"{value.name}.any()")  # fmt: skip
    inside(author, f"if {test}:", 1, 2)
    if author.chance(0.4):
        inside(author, "else:", 1, 2)


def attempt(author: Author) -> None:
    """try, with except, else and finally."""
    known = list(author.values)
    with author.block("try:"):
        some(author, 1, 3)
    author.values = [
        value for value in author.values if value.name in {other.name for other in known}
    ]
    kind = author.one(
        "RuntimeError", "Exception", "(ValueError, IndexError, RuntimeError)", "Exception"
    )
    author.put(f"except {kind} as e:\n    print(type(e).__name__, str(e).split('\\n')[0])")
    if author.chance(0.3):
        author.put("else:\n    print('fine')")
    if author.chance(0.3):
        author.put("finally:\n    print('finally')")


BODIES = (
    "v * {n}", "v.tanh()", "v + v.sum()", "v.sin() * v", "v.pow(2)", "v.clone()", "v.detach()",
    "v - v.mean()", "v if v.numel() > 2 else v * 2", "v.flatten().sum() * v", "torch.relu(v)",
)  # fmt: skip


def function(author: Author) -> None:
    """A function of the program, defined and called."""
    value = author.floating(lambda known: known.count > 0)
    name = author.new("f")
    decorator = author.one(
        "", "", "", "", "@torch.no_grad()", "@torch.enable_grad()", "@torch.inference_mode()"
    )
    if decorator:
        author.put(decorator)
    body = author.one(*BODIES).format(n=author.number())
    head = author.one(
        "(v)",
        "(v, k=2.0)",
        "(v, *rest)",
        "(v, **more)",
        "(v, /, k=1)",
        "(v: torch.Tensor) -> torch.Tensor",
    )
    way = author.draw.randrange(6)
    if way == 0 and not decorator:
        author.put(f"{name} = lambda v: {body}")
        head = "(v)"
    elif way == 1:
        author.put(
            f"def {name}{head}:\n    def inner(u):\n        return u * 2 + v\n"
            f"    return inner({body})"
        )
    elif way == 2:
        author.put(
            f"def {name}{head}:\n    if v.sum() > 0:\n        return {body}\n    return v * 3"
        )
    elif way == 3:
        author.put(
            f"def {name}(v, depth=2):\n    return v if depth == 0 else {name}({body}, depth - 1)"
        )
        head = "(v, depth=2)"
    elif way == 4:
        author.put(
            f"def make_{name}():\n    count = 0\n    def step(v):\n        nonlocal count\n"
            "        count += 1\n        return v * count\n    return step\n"
            f"{name} = make_{name}()"
        )
        head = "(v)"
    else:
        author.put(f"def {name}{head}:\n    return {body}")
    call = f"{name}({value.name}" + (author.one("", ", 0.5", ", k=3") if "k=" in head else "") + ")"
    author.bind(
        call, value, grad=value.grad and "no_grad" not in decorator and "inference" not in decorator
    )
    author.functions.append((name, 1))


def generator(author: Author) -> None:
    """A function that yields, decorated or not, and a walk through what it gives."""
    value = author.floating()
    name, item = author.new("f"), author.new("g")
    decorator = author.one("", *DECORATORS)
    if decorator:
        author.put(decorator)
    body = author.one(*BODIES).format(n=author.number())
    author.put(
        f"def {name}(v):\n    for i in range(2):\n        print(torch.is_grad_enabled())\n"
        f"        yield {body}\n    yield v * 2"
    )
    if author.chance(0.3):
        author.put(f"print([{item}.requires_grad for {item} in {name}({value.name})])")
        return
    with author.block(f"for {item} in {name}({value.name}):"):
        author.put(f"print({item}.requires_grad, {item}.is_inference(), torch.is_grad_enabled())")
        if author.chance(0.4):
            author.put(f"{value.name} = {value.name} + 1")


DECORATORS = (
    "@torch.no_grad()", "@torch.enable_grad()", "@torch.inference_mode()", "@torch.no_grad",
    "@torch.set_grad_enabled(False)", "@torch.inference_mode",
)  # fmt: skip


def copied(author: Author) -> None:
    """A copy by Python's module."""
    value = author.floating()
    name = author.new("c")
    with author.attempt(0.9):
        author.put(f"import copy\n{name} = copy.{author.one('copy', 'deepcopy')}({value.name})")
        author.put(f"print({name}.is_leaf, {name}.requires_grad, {name}.grad)")


def container(author: Author) -> None:
    """Lists, dictionaries and tuples of tensors, and what is done with them."""
    first, second = author.floating(), author.floating()
    a, b = first.name, second.name
    name = author.new("box")
    with author.attempt(0.25):
        author.put(author.one(
            f"{name} = [{a}, {b} * 2]", f"{name} = {{'a': {a}, 'b': {b}}}", f"{name} = ({a}, {b})",
            f"{name} = [{a} * k for k in range(3)]", f"{name} = {{k: {a} + k for k in range(2)}}",
            f"{name} = list({a})", f"{name} = [t.sum() for t in ({a}, {b})]",
            f"{name} = [{a}]\n{name}.append({b})",
            f"{name} = {{'x': {a}}}\n{name}['y'] = {name}['x'] * 2",
            f"{name} = [v.item() for v in {a}.flatten()]",
            f"{name} = dict(p={a}, q=[{b}])",
            f"{name} = []\nfor k in range(2):\n    {name}.append({a} ** k)",
            f"{name} = {a}.tolist()", f"{name} = sum([{a}, {a} * 2])",
            f"{name} = list(zip([{a}], [{b}]))",
            f"{name} = max([1.5, {a}.sum().item()])", f"{name} = {{**{{'k': {a}}}, 'z': 1}}",
            f"{name} = [*{a}.shape, {a}.dim()]",
            f"first, *rest = [{a}, {b}, 3]\n{name} = rest",
            f"{name} = {a}.shape\nprint({name}, len({name}), {name}[-1:] )",
            f"{name} = torch.stack([{a}.sum(), {b}.sum()])",
            f"{name} = sorted([3, 1, 2], key=lambda k: -k)",
            f"{name} = any(t.requires_grad for t in [{a}, {b}])",
            f"{name} = [{a} is {b}, {a} is {a}]",
            f"{name} = {{id({a}): 1}}\nprint(len({name}), {a} in [{a}])\n{name} = 0",
        ))  # fmt: skip


def shown(author: Author) -> None:
    """print, in many ways."""
    value = author.pick() or author.leaf()
    a = value.name
    number = f"{a}.{author.one('sum()', 'mean()', 'flatten()[0]', 'max()')}.item()"
    text = author.one(
        f"print({a})", f"print({a})", f"print({a}.grad)", f"print({a}.shape, {a}.dtype)",
        f"print('{a}', {a})",
        f"print({a}.grad_fn)", f"print({a}.requires_grad, {a}.is_leaf)", f"print(f'{{{a}}}')",
        f"print({a}.size(), {a}.dim())",
        f"print(f'{{{number}:.3f}}')", f"print('%.4f' % {number})",
        f"print('{{:>10.2f}}'.format({number}))",
        f"print({a}.tolist())", f"print([{a}, 1])", f"print({{'k': {a}}})", f"print(({a},))",
        f"print(repr({a}))",
        f"print(str({a}.detach()))", f"print(round({number}, 2))", f"print({a}.detach().numpy())",
        f"print({a} > 0)",
        f"print({a}.sum(), {a}.mean() if {a}.is_floating_point() else None, sep=' | ')",
        f"print({a}.long())",
        f"print(type({a}).__name__, {a}.type())", f"print({a}.stride(), {a}.is_contiguous())",
        f"print(len({a}))",
        f"print(f'{{{a}.shape}} {{{a}.dtype!r:>20}}')", f"print({a}.data)", f"print({a} * 1e6)",
        f"print({a} / 1e5)",
        f"print({a}.double())", f"print({a}.to(torch.bfloat16))",
        f"print(bool({a}.sum() > 0), float({a}.sum()))",
        f"print({a}.numel(), {a}.element_size(), {a}.nelement())",
        f"print({a}.equal({a}), torch.allclose({a}, {a}))",
    )  # fmt: skip
    with author.attempt(0.3):
        author.put(text)


def mistake(author: Author) -> None:
    """Something that PyTorch refuses, or Python."""
    value = author.floating()
    a = value.name
    text = author.one(
        f"{a}.sin_function()", f"{a} @ torch.ones(7, 5)", f"{a}.view(7)", f"{a}[99]",
        "torch.ones(2, 3) + torch.ones(4)",
        f"{a}.sum(9)", f"torch.cat([{a}, torch.ones(1, 1, 1, 1)])", f"{a}.item()", f"bool({a})",
        f"{a}.grad.sum()",
        f"{a}.backward()", "torch.ones(3, dtype=torch.int64).requires_grad_()",
        "torch.tensor([[1.0], [1.0, 2.0]])",
        "torch.randn(2, -1)", f"{a}.reshape(-1, -1)", f"{a}.transpose(0, 5)",
        f"torch.stack([{a}, torch.ones(9)])",
        f"{a} + 'x'", f"{a}.foo = 1\nprint({a}.foo)", f"int({a})", f"{a}.mean(dim='x')",
        "torch.ones(2).mean(dtype=torch.int64)", "torch.arange(4).mean()", "1 / 0", "[1, 2][5]",
        "{'a': 1}['b']",
        f"{a}.squeeze(4)", f"torch.softmax({a})", f"{a}.numpy()", "torch.nn.functional.relu()",
        f"{a}.expand(1)",
        f"torch.matmul({a}, 3)", f"{a}[0, 0, 0, 0, 0]", f"{a}['x']", f"{a}[1.5]",
        f"{a}.add({a}, {a}, {a})",
        f"torch.einsum('ij,jk', {a}, {a})", f"F.cross_entropy({a}, torch.tensor([9]))",
        "nn.Linear(2, 3)(torch.ones(5))",
        f"{a}.to(torch.int64).requires_grad", "torch.zeros(2).log().backward()",
        "raise ValueError('by hand')",
        f"assert {a}.sum() is None, 'no sum'", f"{a}.split(0)", f"{a}.chunk(0)",
        "for q in torch.tensor(1.0): pass",
        "len(torch.tensor(1.0))", f"a, b, c, d, e, f = {a}", "torch.ones(2, 2).inverse().foo",
        f"{a}.permute(0, 0)",
        "torch.tensor('text')", "torch.ones('2')", f"{a}.requires_grad_('yes')",
        f"{a}.register_hook(3)",
        f"torch.autograd.grad({a}, 3)", f"torch.autograd.grad({a}.sum(), {a}.detach())",
        f"{a}.fill_([1])",
        "torch.manual_seed('x')", f"print({a}.grad.grad)", f"{a}.clamp()", f"torch.where({a})",
        f"{a}.unbind(7)",
        f"{a} += torch.ones(9, 9, 9)", "torch.full((2,), 'x')",
        f"{a}.index_select(0, torch.tensor([99]))",
    )  # fmt: skip
    with author.attempt(0.85):
        author.put(text)


STATEMENTS: tuple[tuple[int, Callable[[Author], None]], ...] = (
    (4, loop), (1, training), (3, branch), (2, attempt), (4, function), (4, container), (10, shown),
    (2, mistake), (1, generator), (1, copied),
)  # fmt: skip
