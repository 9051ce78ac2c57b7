"""Questions: lines that PyTorch runs without a word, and that do not do what they are there for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..engine.tensors import metadata
from ..pipeline.request import Ran
from ..recording.holding import LOOKED, Inside, modules_first
from ..recording.modules import has_own, is_module
from ..recording.sides import AnyTensor

CLIPS = frozenset({"clip_grad_norm_", "clip_grad_value_"})
METHODS = frozenset("backward step zero_grad requires_grad_ detach_ retain_grad eval train".split())
SWITCHES = frozenset("requires_grad_ retain_grad detach_ zero_grad".split())
HOOKS = frozenset(
    "register_hook register_full_backward_hook register_full_backward_pre_hook".split()
)
MISSPELT = re.compile(r"requires?d?_?grad(s|ient|ients)?")
DROPOUT = re.compile(r"(feature_)?(alpha_)?dropout[1-3]?d?")


class Slip(NamedTuple):
    """A piece of the program, `verdict` in a word or two, and the sentence about it."""

    verdict: str
    node: ast.AST
    sentence: str


def slips(ran: Ran) -> list[Slip]:
    """Those of a program that ran, in the order of its text."""
    if ran.program is None or ran.outcome is None:
        return []
    body = ran.program.body
    nodes = [node for statement in body for node in ast.walk(statement)]
    bindings = ran.recording.names.reached(ran.outcome.bindings)
    found = [*_unread(nodes, bindings), *_clips(body), *_dropouts(nodes), *_hooks(nodes)]
    found += [*_functions(nodes), *_without_hooks(nodes, bindings), *_rebound(nodes)]
    found += [*_late_hooks(body), *_growing(nodes), *_one_layer(nodes)]
    found += _unnoticed(body)
    return sorted(found, key=lambda slip: getattr(slip.node, "lineno", 0))


def _unread(nodes: list[ast.AST], bindings: Any) -> Iterator[Slip]:
    """Methods that are named and not called; attributes that nothing reads."""
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Attribute):
            if (name := node.value.attr) in METHODS:
                yield Slip(
                    "no effect", node.value, f"it names {name} and does not call it: {name}()"
                )
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            target = node.targets[0]
            if target.attr == "requires_grad":
                if is_module(_value_or_module(target.value, bindings)) or _is_set(
                    target, nodes, bindings
                ):
                    owner, value = ast.unparse(target.value), ast.unparse(node.value)
                    meant = f"{owner}.requires_grad_({value})"
                    yield Slip("no effect", node, f"nothing reads this of a module: {meant}")
            elif target.attr in SWITCHES:
                meant = f"{ast.unparse(target)}()"
                yield Slip("no effect", node, f"it sets an attribute and calls nothing: {meant}")
            elif MISSPELT.fullmatch(target.attr) and not _is_read(nodes, target.attr):
                yield Slip(
                    "no effect", node, f"nothing reads {target.attr}: requires_grad is meant"
                )


def _is_read(nodes: list[ast.AST], name: str) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == name
               and type(node.ctx) is ast.Load for node in nodes)  # fmt: skip


def _value_or_module(node: ast.expr, bindings: Any) -> Any:
    """What a name holds, or a module in one."""
    if isinstance(node, ast.Name):
        return bindings.get(node.id)
    owner = _value_or_module(node.value, bindings) if isinstance(node, ast.Attribute) else None
    return owner.__dict__["_modules"].get(node.attr) if is_module(owner) else None  # type: ignore[attr-defined]


def _is_set(target: ast.Attribute, nodes: list[ast.AST], bindings: Any) -> bool:
    """Whether the attribute is found on a module that its owner can be: one of that name for
    self.body, any for the variable of a loop that goes over no parameters."""
    owner = target.value
    names = {
        path.rpartition(".")[2]
        for name, value in modules_first(bindings)
        for path, module in Inside(AnyTensor, LOOKED).modules(name, value)
        if has_own(module, target.attr)
    }
    if isinstance(owner, ast.Attribute) or not names:
        return isinstance(owner, ast.Attribute) and owner.attr in names
    loops = [node for node in nodes if isinstance(node, ast.For)
             and any(part.id == ast.unparse(owner) for part in ast.walk(node.target)
                     if isinstance(part, ast.Name))]  # fmt: skip
    return bool(loops) and not any("parameters" in ast.unparse(loop.iter) for loop in loops)


def _clips(body: Any) -> Iterator[Slip]:
    """Gradients are clipped behind the step that uses them, or before there are any."""
    for block in _blocks(body):
        calls = [[(node, _word(node)) for node in ast.walk(part) if isinstance(node, ast.Call)]
                 for part in block]  # fmt: skip
        kinds = ["".join(sorted({_letter(*call) for call in part})) for part in calls]
        if not all(len(kind) < 2 for kind in kinds) or kinds.count("c") != 1:
            continue
        order = "".join(kinds)
        clip = kinds.index("c")
        node = next(node for node, name in calls[clip] if name in CLIPS)
        said = ""
        if re.fullmatch("b+sc", order):
            said = f"when line {block[kinds.index('s')].lineno} has used them"
        elif re.fullmatch("cb+s", order):
            said = f"before line {block[kinds.index('b')].lineno} computes them"
        if said:
            sentence = f"it clips gradients {said}: between backward() and step()"
            yield Slip("no effect", node, sentence)


def _blocks(body: Any) -> Iterator[list[ast.stmt]]:
    """The program's statements, and the lists of those within loops and functions."""
    yield body
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, (ast.For, ast.While, ast.FunctionDef)):
                yield node.body


def _letter(node: ast.Call, name: str) -> str:
    if name in CLIPS:
        return "c"
    if name == "backward":
        return "b"
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    return "s" if name == "step" and "opt" in _word(owner).lower() else ""


def _dropouts(nodes: list[ast.AST]) -> Iterator[Slip]:
    """F.dropout(x) in a module: eval() does not reach it."""
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    if not any(_word(call) == "eval" and not call.args for call in calls):
        return
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    inside = {id(part) for owner in classes for part in ast.walk(owner)}
    for node in calls:
        space = node.func.value if isinstance(node.func, ast.Attribute) else None
        if (
            id(node) in inside
            and DROPOUT.fullmatch(_word(node))
            and _word(space) in ("F", "functional")
        ):
            told = any(keyword.arg in ("training", None) for keyword in node.keywords)
            if len(node.args) < 3 and not told:
                sentence = "it drops elements after eval() too: training=self.training"
                yield Slip("always on", node, sentence)


def _hooks(nodes: list[ast.AST]) -> Iterator[Slip]:
    """A hook that computes another gradient and does not return it."""
    hooks = {
        part.args[0].id for part in nodes
        if isinstance(part, ast.Call) and _word(part) in HOOKS
        and part.args and isinstance(part.args[0], ast.Name)
    }  # fmt: skip
    for node in nodes:
        if not isinstance(node, ast.FunctionDef) or node.name not in hooks:
            continue
        last, given = node.body[-1], {argument.arg for argument in node.args.args}
        names = last.targets if isinstance(last, ast.Assign) else []
        returns = any(isinstance(part, ast.Return) and part.value for part in ast.walk(node))
        if not returns and names and isinstance(names[0], ast.Name) and names[0].id in given:
            sentence = f"the hook {node.name} returns nothing: return {names[0].id}"
            yield Slip("no effect", last, sentence)


def _late_hooks(body: Any) -> Iterator[Slip]:
    """A hook that is registered when no pass comes any more."""
    calls = [(place, node) for place, statement in enumerate(body)
             for node in ast.walk(statement) if isinstance(node, ast.Call)]  # fmt: skip
    passes = [place for place, node in calls if _word(node) in ("backward", "grad")]
    if any(isinstance(part, (ast.FunctionDef, ast.ClassDef)) for part in body) or not passes:
        return
    for place, node in calls:
        if _word(node) in HOOKS and place > passes[-1]:
            line = body[passes[-1]].lineno
            yield Slip("no effect", node, f"no backward comes after it: before line {line}")


def _growing(nodes: list[ast.AST]) -> Iterator[Slip]:
    """`total += loss` of what went back in the same loop: the graphs of all turns."""
    off = {
        id(part) for node in nodes if isinstance(node, ast.With)
        and any(_word(item.context_expr) in ("no_grad", "inference_mode") for item in node.items)
        for part in ast.walk(node)
    }  # fmt: skip
    loops = [node for node in nodes if isinstance(node, (ast.For, ast.While))]
    told = set[int]()
    for loop in loops:
        inside = [part for statement in loop.body for part in ast.walk(statement)]
        roots = {
            ast.unparse(part.func.value) for part in inside
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute)
            and part.func.attr == "backward"
        }  # fmt: skip
        for node in inside:
            owner, value = _accumulated(node)
            if owner is None or value is None or id(node) in told:
                continue
            if isinstance(node, ast.AugAssign) and id(node) in off:
                continue
            text = ast.unparse(value)
            if text in roots and owner not in roots:
                told.add(id(node))
                sentence = f"{owner} holds the graph of each turn: {text}.item()"
                yield Slip("kept", node, sentence)


def _unnoticed(body: Any) -> Iterator[Slip]:
    """`w.data.mul_(10)` between what was computed of w and the pass: the version stays."""
    for block in _blocks(body):
        for place, statement in enumerate(block):
            name, node = _through_data(statement)
            call = next((one for one in block[place + 1 :] if _goes_back(one)), None)
            if node is None or call is None or any(map(_goes_back, block[:place])):
                continue
            wanted = {part.id for part in ast.walk(call) if isinstance(part, ast.Name)}
            for one in reversed(block[: block.index(call)]):
                if isinstance(one, ast.Assign) and _names(*one.targets) & wanted:
                    wanted |= _names(one.value)
                    if name in _computed(one.value) and block.index(one) < place:
                        said = f"line {one.lineno} was computed from the old ones"
                        takes = f"backward on line {call.lineno} takes the new numbers where"
                        yield Slip("not noticed", node, f"{takes} {said}")
                        break


def _names(*nodes: ast.AST) -> set[str]:
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}


def _computed(node: ast.expr) -> set[str]:
    """The names whose numbers an expression takes, and not only their shape or type."""
    about = {id(part.value) for part in ast.walk(node) if isinstance(part, ast.Attribute)
             and part.attr in metadata.NAMES}  # fmt: skip
    return {part.id for part in ast.walk(node)
            if isinstance(part, ast.Name) and id(part) not in about}  # fmt: skip


def _goes_back(statement: ast.stmt) -> bool:
    calls = (part for part in ast.walk(statement) if isinstance(part, ast.Call))
    return isinstance(statement, ast.Expr) and any(_word(call) == "backward" for call in calls)


def _through_data(statement: ast.stmt) -> tuple[str, ast.AST | None]:
    """The name whose .data a statement changes in place, and the change."""
    node: ast.AST | None = None
    if isinstance(statement, ast.AugAssign):
        node = statement.target
    elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        node = statement.targets[0]
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        if isinstance(function, ast.Attribute) and function.attr.endswith("_"):
            node = function.value
    while isinstance(node, ast.Subscript):
        node = node.value
    owner = node.value if isinstance(node, ast.Attribute) and node.attr == "data" else None
    return (owner.id, statement) if isinstance(owner, ast.Name) else ("", None)


def _one_layer(nodes: list[ast.AST]) -> Iterator[Slip]:
    """`[nn.Linear(3, 3)] * 3`: one layer, that is called three times."""
    for node in nodes:
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
            continue
        one = node.left.elts[0] if isinstance(node.left, ast.List) and node.left.elts else None
        space = getattr(getattr(one, "func", None), "value", None)
        if isinstance(one, ast.Call) and _word(one)[:1].isupper() and _word(space) == "nn":
            text = ast.unparse(one)
            meant = f"[{text} for _ in range({ast.unparse(node.right)})]"
            yield Slip("one layer", node, f"its items share their weights: {meant}")


def _accumulated(node: ast.AST) -> tuple[str | None, ast.expr | None]:
    """The name that gets more in each turn, and what it gets."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return node.target.id, node.value
    if isinstance(node, ast.Call) and _word(node) == "append" and len(node.args) == 1:
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        return (owner.id, node.args[0]) if isinstance(owner, ast.Name) else (None, None)
    return None, None


def _rebound(nodes: list[ast.AST]) -> Iterator[Slip]:
    """`for p in net.parameters(): p = p - 0.1 * p.grad` gives a name, and no parameter, a value."""
    for loop in nodes:
        if not isinstance(loop, ast.For) or ".parameters()" not in ast.unparse(loop.iter):
            continue
        names = {part.id for part in ast.walk(loop.target) if isinstance(part, ast.Name)}
        for at, node in enumerate(loop.body):
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            if not isinstance(target, ast.Name) or target.id not in names:
                continue
            later = (part for one in loop.body[at + 1 :] for part in ast.walk(one))
            if not any(isinstance(part, ast.Name) and part.id == target.id for part in later):
                meant = f"within torch.no_grad(), {target.id}.copy_(...)"
                value = getattr(node, "value", None)
                what = "another" if isinstance(value, ast.Name) else "a new"
                yield Slip("no effect", node, f"it binds {target.id} to {what} tensor: {meant}")


def _functions(nodes: list[ast.AST]) -> Iterator[Slip]:
    """A backward that leaves out the gradient that comes to it; forward without its backward."""
    for owner in nodes:
        if not isinstance(owner, ast.ClassDef) or "Function" not in map(_word, owner.bases):
            continue
        for method in owner.body:
            if isinstance(method, ast.FunctionDef) and method.name == "backward":
                yield from _unused_gradient(owner.name, method)
        inside = {id(part) for part in ast.walk(owner)}
        for node in nodes:
            if isinstance(node, ast.Call) and id(node) not in inside:
                if ast.unparse(node.func) == f"{owner.name}.forward":
                    sentence = f"{owner.name}.backward has no part in it: {owner.name}.apply(...)"
                    yield Slip("a plain call", node, sentence)


def _unused_gradient(owner: str, method: ast.FunctionDef) -> Iterator[Slip]:
    given = method.args.args[1:]
    read = {part.id for part in ast.walk(method) if isinstance(part, ast.Name)}
    ends = [part.value for part in ast.walk(method) if isinstance(part, ast.Return)]
    values = [one for end in ends for one in (end.elts if isinstance(end, ast.Tuple) else [end])]
    computes = any(one is not None and not isinstance(one, ast.Constant) for one in values)
    if given and computes and method.args.vararg is None:
        if read.isdisjoint(argument.arg for argument in given):
            sentence = f"{owner}.backward returns a derivative that is not multiplied by it"
            yield Slip("never read", given[0], sentence)


def _without_hooks(nodes: list[ast.AST], bindings: Any) -> Iterator[Slip]:
    """model.forward(x) in a program whose modules have hooks."""
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    if any(_word(call).startswith("register_") and _word(call).endswith("_hook")
           and _word(call) != "register_hook" for call in calls):  # fmt: skip
        for call in calls:
            owner = call.func.value if isinstance(call.func, ast.Attribute) else None
            if (
                owner is not None
                and _word(call) == "forward"
                and is_module(_value_or_module(owner, bindings))
            ):
                yield Slip("a plain call", call, f"it runs no hooks: {ast.unparse(owner)}(...)")


def _word(node: ast.AST | None) -> str:
    """The last word of a name, or of what a call calls."""
    node = node.func if isinstance(node, ast.Call) else node
    return str(getattr(node, "attr", getattr(node, "id", "")))
