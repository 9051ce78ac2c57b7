"""The fuzzer's statements on graphs: backward, grad, hooks, modes, functions of one's own."""

from __future__ import annotations

from collections.abc import Callable

from .author import Author, Value

SCALARS = (
    "{a}.sum()", "{a}.mean()", "({a} * {a}).sum()", "{a}.norm()", "{a}.pow(2).mean()",
    "{a}.sum() * 2", "{a}.tanh().sum()", "({a} ** 3).mean()", "{a}.abs().sum()",
)  # fmt: skip
KEEP = ("", "", "", "retain_graph=True", "retain_graph=True", "create_graph=True")


def scalar_of(author: Author) -> str:
    """A number that depends on something that requires grad, mostly."""
    value = author.pick(lambda known: known.grad and known.floating) or author.floating()
    text: str = author.one(*SCALARS).format(a=value.name)
    if author.chance(0.3):
        other = author.pick(lambda known: known.grad and known.floating) or value
        text += " + " + author.one(*SCALARS).format(a=other.name)
    return text


def loss(author: Author) -> Value:
    """A number with a name."""
    text = scalar_of(author)
    name = author.new("loss")
    author.put(f"{name} = {text}")
    value = Value(name, (), "float32", author.recording)
    author.values.append(value)
    return value


def backward(author: Author) -> None:
    """backward() of a number or of a tensor, with all that it takes."""
    with author.attempt(0.5):
        way = author.draw.random()
        if way < 0.45:
            value = loss(author)
            author.put(f"{value.name}.backward({author.one(*KEEP)})")
        elif way < 0.6:
            value = author.pick(lambda known: known.grad and known.floating) or loss(author)
            seed = author.one(f"torch.ones_like({value.name})",
            f"torch.full_like({value.name}, 0.5)",
                              f"{value.name}.detach()", "torch.tensor(1.0)",
                              f"torch.ones({value.shape!r})")  # fmt: skip
            more = author.one(*KEEP)
            author.put(
                f"{value.name}.backward({author.one('', 'gradient=')}{seed}{more and ', ' + more})"
            )
        elif way < 0.7:
            leaf = author.pick(lambda known: known.grad) or author.leaf(grad=True)
            value = loss(author)
            more = author.one(*KEEP)
            inputs = author.one(leaf.name, f"[{leaf.name}]", f"[{leaf.name}, {value.name}]")
            author.put(f"{value.name}.backward(inputs={inputs}{more and ', ' + more})")
        elif way < 0.8:
            first, second = loss(author), loss(author)
            seeds = author.one(
                "", "", ", [torch.tensor(2.0), None]", ", (torch.tensor(1.0), torch.tensor(0.5))"
            )
            author.put(f"torch.autograd.backward([{first.name}, {second.name}]{seeds})")
        elif way < 0.9:
            old = author.pick(lambda known: known.shape == ()) or loss(author)
            author.put(f"{old.name}.backward()")
        else:
            value = loss(author)
            author.put(f"{value.name}.backward(retain_graph=True)\n{value.name}.backward()")
    if author.chance(0.5):
        shown = author.pick(lambda known: known.grad) or author.leaf()
        author.put(f"print({shown.name}.grad)")


def grad(author: Author) -> None:
    """torch.autograd.grad with its options, of first and second order."""
    one = author.pick(lambda known: known.grad) or author.leaf(grad=True)
    other = author.pick(lambda known: known.grad) or one
    inputs = author.one(
        one.name, f"[{one.name}]", f"({one.name}, {other.name})", f"[{one.name}, {other.name}]"
    )
    more = author.one("", ", create_graph=True", ", retain_graph=True", ", allow_unused=True",
                      ", allow_unused=True, create_graph=True",
                      ", allow_unused=True, materialize_grads=True")  # fmt: skip
    name = author.new("g")
    with author.attempt(0.8):
        if author.chance(0.6):
            value = loss(author)
            author.put(f"{name} = torch.autograd.grad({value.name}, {inputs}{more})")
            if "create_graph" in more and author.chance(0.7):
                again = author.one(
                    "sum().backward()",
                    "pow(2).sum().backward()",
                    "sum().backward(retain_graph=True)",
                )
                author.put(f"{name}[0].{again}")
        elif author.chance(0.7):
            value = author.pick(lambda known: known.grad and known.floating) or loss(author)
            seeds = author.one(f"torch.ones_like({value.name})", f"[torch.ones_like({value.name})]",
                               f"torch.randn({value.shape!r})")  # fmt: skip
            author.put(
                f"{name} = torch.autograd.grad({value.name}, {inputs}, "
                f"{author.one('', 'grad_outputs=')}{seeds}{more})"
            )
        else:
            value = author.pick(lambda known: known.grad and known.floating) or loss(author)
            seeds = author.one(
                f"torch.stack([torch.ones_like({value.name}), {value.name}.detach()])",
                               f"torch.randn({(3, *value.shape)!r})")  # fmt: skip
            author.put(
                f"{name} = torch.autograd.grad({value.name}, {inputs}, {seeds}, "
                f"is_grads_batched=True{more})"
            )
        author.put(f"print({name})")


def whole_functional(author: Author) -> None:
    """jacobian, hessian and their kin."""
    value = author.floating(lambda known: known.count <= 6 and known.count > 0)
    word = author.one("jacobian", "hessian", "vjp", "jvp", "vhp", "hvp")
    inner = author.one("v.tanh().sum()", "(v ** 3).sum()", "v.exp().sum()") if word in ("hessian",
    "vhp", "hvp") else (
        author.one("v.tanh()", "v * v", "v.sum()", "v.flatten()[:1] * v"))  # fmt: skip
    seed = (
        f", torch.ones_like({value.name})"
        if word in ("jvp", "vhp", "hvp") or (word == "vjp" and inner == "v.tanh()")
        else ""
    )
    more = (
        author.one("", "", ", create_graph=True", ", strict=True")
        if word in ("jacobian", "hessian")
        else ""
    )
    with author.attempt(0.6):
        author.put(
            f"print(torch.autograd.functional.{word}(lambda v: {inner}, "
            f"{value.name}.detach(){seed}{more}))"
        )


def of_func(author: Author) -> None:
    """torch.func's transformations."""
    value = author.floating(lambda known: 0 < known.count <= 6)
    a = value.name
    with author.attempt(0.6):
        author.put(author.one(
            f"print(torch.func.grad(lambda v: (v * v).sum())({a}))",
            f"print(torch.func.vmap(lambda v: v * 2 + 1)({a}))",
            f"print(torch.func.jacrev(torch.sin)({a}))",
            f"print(torch.func.jacfwd(lambda v: v ** 2)({a}))",
            f"print(torch.func.vmap(torch.sum)({a}))",
            f"print(torch.func.hessian(lambda v: v.sin().sum())({a}))",
            f"print(torch.func.grad_and_value(lambda v: v.exp().mean())({a}))",
            f"print(torch.func.vmap(torch.func.grad(lambda v: v.tanh().sum()))({a}))",
            f"print(torch.func.jvp(torch.tanh, ({a},), (torch.ones_like({a}),)))",
            f"print(torch.func.vjp(torch.exp, {a})[1](torch.ones_like({a})))",
        ))  # fmt: skip


HOOKS = (
    "lambda g: g * 2", "lambda g: None", "lambda g: print('hook', g.shape)",
    "lambda g: g.clamp(-1, 1)",
    "lambda g: g + 1", "lambda g: print(g)", "lambda g: torch.zeros_like(g)", "lambda g: -g",
    "lambda g: g.sum()", "lambda g: seen.append(g.sum().item())", "lambda g: g.mul_(0.5)", "print",
)  # fmt: skip


def hook(author: Author) -> None:
    """A hook on a tensor or a node, kept or removed again."""
    value = author.pick(lambda known: known.grad and known.floating) or author.leaf(grad=True)
    way = author.draw.random()
    handle = author.new("h")
    if "seen = []" not in author.lines:
        author.lines.insert(0, "seen = []")
    with author.attempt(0.4):
        if way < 0.55:
            author.put(f"{handle} = {value.name}.register_hook({author.one(*HOOKS)})")
        elif way < 0.7:
            made = "lambda gi, go: " + author.one(
                "None",
                "print(len(gi), len(go))",
                "tuple(g * 2 if g is not None else None for g in gi)",
            )
            author.put(f"{handle} = {value.name}.grad_fn.register_hook({made})")
        elif way < 0.8:
            made = "lambda go: " + author.one(
                "None", "print('pre', len(go))", "tuple(g * 3 for g in go)"
            )
            author.put(f"{handle} = {value.name}.grad_fn.register_prehook({made})")
        elif way < 0.9:
            leaf = author.pick(lambda known: known.leaf and known.grad) or author.leaf(grad=True)
            made = "lambda p: " + author.one(
                "print('post', p.grad)", "p.grad.zero_()", "None", "p.grad.mul_(2)"
            )
            author.put(f"{handle} = {leaf.name}.register_post_accumulate_grad_hook({made})")
        else:
            with author.block("def changed(g):"):
                author.put(author.one("seen.append(1)\nreturn g * len(seen)",
                "if g.sum() > 0:\n    return g * 0.5",
                                      "print('in', g.requires_grad, g.dtype)",
                                      "g = g + 1\nreturn g"))  # fmt: skip
            author.put(f"{handle} = {value.name}.register_hook(changed)")
    if author.depth == 0 and author.chance(0.25):
        backward(author)
        author.put(f"{handle}.remove()" if author.lines[-1] else "pass")


def switch(author: Author) -> None:
    """requires_grad, retain_grad, grad = None, detach."""
    value = author.floating()
    a = value.name
    with author.attempt(0.6):
        text = author.one(
            f"{a}.requires_grad_()", f"{a}.requires_grad_(False)", f"{a}.requires_grad = True",
            f"{a}.retain_grad()",
            f"{a}.retain_grad()", f"{a}.retain_grad()", f"{a}.grad = None", f"{a}.grad.zero_()",
            f"{a}.detach_()",
            f"{a}.requires_grad = False", f"{a}.grad = torch.ones_like({a})",
            f"{a}.data = torch.ones_like({a})",
            f"{a}.grad *= 2", f"{a}.grad.add_(1)", f"{a}.grad = {a}.detach() * 2",
            f"print({a}.is_leaf, {a}.requires_grad)",
            f"{a}.grad = torch.ones(7)", f"{a}.data.fill_(0.5)", f"print({a}.grad_fn)",
            f"print({a}._version)",
            f"del {a}.grad",
        )  # fmt: skip
        author.put(text)
    if value in author.values and "requires_grad" in text and "print" not in text:
        wanted = "False" not in text
        author.values[author.values.index(value)] = value._replace(grad=wanted)


MODES = (
    "torch.no_grad()", "torch.no_grad()", "torch.enable_grad()", "torch.inference_mode()",
    "torch.set_grad_enabled(False)", "torch.set_grad_enabled(True)",
    "torch.autograd.set_grad_enabled(False)",
    "torch.inference_mode(False)", "torch.autograd.detect_anomaly()",
    "torch.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t)",
    "torch.autograd.graph.save_on_cpu()",
    "torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t)",
)  # fmt: skip


def mode(author: Author) -> None:
    """A few statements with gradients off or on."""
    head = author.one(*MODES)
    before = author.recording
    if "enable" in head and "False" not in head:
        author.recording = True
    elif "no_grad" in head or "inference_mode()" in head or "False)" in head:
        author.recording = False
    from .structure import some

    with author.block(f"with {head}:"):
        some(author, 1, 3)
    author.recording = before


def nodes(author: Author) -> None:
    """What a node tells of itself."""
    value = author.pick(lambda known: known.grad and not known.leaf)
    if value is None:
        return
    a = value.name
    with author.attempt(0.8):
        author.put(author.one(
            f"print({a}.grad_fn.name(), len({a}.grad_fn.next_functions))",
            f"print({a}.grad_fn.next_functions[0][0])",
            f"print([(n and n.name(), i) for n, i in {a}.grad_fn.next_functions])",
            f"print({a}.grad_fn._saved_self)", f"print({a}.grad_fn._saved_result)",
            f"print({a}.grad_fn._saved_other)",
            f"print({a}.output_nr, {a}.grad_fn.metadata)",
            f"print({a}.grad_fn(torch.ones_like({a})))",
            f"print({a}.grad_fn.next_functions[0][0].variable is None)",
            f"print(hasattr({a}.grad_fn, 'variable'))",
        ))  # fmt: skip


FUNCTIONS = (
    ("ctx.save_for_backward(x)\nreturn x * x", "x, = ctx.saved_tensors\nreturn 2 * x * g"),
    ("ctx.save_for_backward(x)\nreturn x.clamp(min=0)",
    "x, = ctx.saved_tensors\ng = g.clone()\ng[x < 0] = 0\nreturn g"),
    ("y = x.exp()\nctx.save_for_backward(y)\nreturn y", "y, = ctx.saved_tensors\nreturn g * y"),
    ("ctx.k = 3\nreturn x * 3", "return g * ctx.k"),
    ("return x.view_as(x)", "print('back', ctx.needs_input_grad)\nreturn -g"),
    ("return x.clone()", "return None"),
    ("return x * 2", "return g * 2, g"),
    ("return x.sum()", "return g"),
    ("ctx.mark_dirty(x)\nreturn x.mul_(2)", "return g * 2"),
    ("ctx.set_materialize_grads(False)\nreturn x * 1", "return g"),
    ("y = (x > 0).float()\nctx.mark_non_differentiable(y)\nreturn y", "return g"),
    ("return x", "return g * 5"),
)  # fmt: skip


def function_class(author: Author) -> None:
    """An autograd.Function of the program, applied."""
    forward, back = author.one(*FUNCTIONS)
    name = author.new("Fn")
    with author.block(f"class {name}(torch.autograd.Function):"):
        author.put("@staticmethod")
        with author.block("def forward(ctx, x):"):
            author.put(forward)
        author.put("@staticmethod")
        if author.chance(0.1):
            author.put("@torch.autograd.function.once_differentiable")
        with author.block("def backward(ctx, g):"):
            author.put(back)
    value = author.floating()
    with author.attempt(0.4):
        made = author.new()
        author.put(f"{made} = {name}.apply({value.name})")
        author.put(
            f"{made}.{author.one('sum()', 'sum()', 'mean()')}"
            f".backward({author.one('', '', 'create_graph=True')})"
        )
    if author.chance(0.3):
        author.bind(f"{name}.apply({value.name} * 2)", value, () if "x.sum" in forward else None)


def checkpointed(author: Author) -> None:
    """A piece that is computed again in the backward pass."""
    value = author.floating()
    use = author.one("False", "False", "True")
    author.bind(
        "torch.utils.checkpoint.checkpoint(lambda v: "
        f"{author.one('v.tanh() * 2', 'v * v', 'v.sin().exp()')}, "
        f"{value.name}, use_reentrant={use})", value,
    )  # fmt: skip


def dual(author: Author) -> None:
    """A piece in forward mode."""
    value = author.floating(lambda known: known.count > 0)
    ones = author.one("ones_like", "zeros_like", "ones_like")
    body = author.one("d.sin() * d", "d.exp().sum()", "d / 2 - d", "d.abs().relu()", "d.mean() * d")
    with author.attempt(), author.block("with torch.autograd.forward_ad.dual_level():"):
        author.put(
            f"d = torch.autograd.forward_ad.make_dual({value.name}.detach(), "
            f"torch.{ones}({value.name}))"
        )
        if author.chance(0.3):
            author.put(author.one("d = d.clone().mul_(2)", "d = d.clone()\nd[..., :1] = 0.5"))
        if author.chance(0.2):
            author.put("with torch.inference_mode():\n    print(d, d * 2)")
        author.put(f"d = {body}\nprint(d, torch.autograd.forward_ad.unpack_dual(d).tangent)")


STATEMENTS: tuple[tuple[int, Callable[[Author], None]], ...] = (
    (8, backward), (4, grad), (1, whole_functional), (1, of_func), (5, hook), (5, switch),
    (4, mode), (2, nodes), (2, function_class), (1, checkpointed), (1, dual),
)  # fmt: skip
